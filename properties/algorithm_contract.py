"""Checks of the contract of `dpverify.algorithms.contract.Algorithm`, for the papers' algorithms and a user's own.

Plain functions without a test framework. Each raises AssertionError and says which part of the contract is broken,
for which number.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.promises import StatedQueries
from dpverify.checks import checked_seed, items, whole_number
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import StatedGuarantee
from dpverify.running import Executor, Randomness, Runs, fingerprint, run

_EPSILONS = np.linspace(0.0, 8.0, 33)
_ROUNDING = 1e-9  # relative and absolute allowance for the rounding of two profiles that are compared
_NOT_A_NUMBER_OF_RECORDS = (0, -1, 1.5, math.nan, True, "3", None)

_SEEDS = 6
"""Other seeds to try before concluding that bits do not depend on the seed: there may be few outputs."""
_NO_RANDOMNESS = "different seeds give the same bits: it does not use `rng`"

_COUNTERS = {
    "gradient": "gradient_queries",
    "value": "value_queries",
    "projection": "projections",
    "linear minimization": "linear_minimizations",
}


def check_algorithm(
    algorithm: Any,
    data: Any,
    *,
    n: int | None = None,
    runs: int = 11,
    seed: int = 0,
    block_size: int = 4,
    executors: Sequence[Executor | str] = ("threads=2",),
    refused: Sequence[Any] = (),
) -> None:
    """Check the whole contract: form, guarantees, arguments, refusals, bits, counts, pickling, fingerprint.

    Args:
        algorithm: a frozen dataclass, as `dpverify.algorithms.contract.Algorithm` says.
        data: on which it can run.
        n: how many records these are, at least 1; their `n` if None.
        runs: independent runs; more than two blocks, so that there are chunks.
        seed: of all runs.
        block_size: runs that the algorithm is asked for at once.
        executors: on which the bits have to be those of the serial one, besides.
        refused: data sets that the algorithm has to refuse.

    Raises:
        AssertionError: naming what is broken.
        InvalidArgumentError: if there are no two whole blocks of runs, or n is not known.

    Examples:
        >>> from dpverify.algorithms.fmtt18 import PNSGD
        >>> from dpverify.problems import Ball, Logistic, Problem, load
        >>> from dpverify.properties import check_algorithm
        >>> data = load("breast-cancer", n=8, d=2)
        >>> algorithm = PNSGD(Problem(Logistic(), Ball(2, 1.0)), rate=0.5, noise_stddev=0.5)
        >>> check_algorithm(algorithm, data, executors=())
    """
    if n is None:
        n = getattr(data, "n", None)
    n = whole_number("n", n)
    items("executors", executors, (Executor, str), "executors, or their names", least=0)
    items("refused", refused, object, "data sets", least=0)
    checked_seed(seed)
    whole_number("runs", runs, at_least=2 * whole_number("block_size", block_size) + 1)
    check_form(algorithm, n)
    check_stated_guarantees(algorithm, n)
    check_withdrawal(algorithm, n)
    check_arguments(algorithm, n)
    check_refusals(algorithm, refused)
    check_pickling(algorithm, data, n, seed=seed, block_size=block_size)
    check_fingerprint(algorithm)
    found = check_bits(algorithm, data, runs=runs, seed=seed, block_size=block_size, executors=executors)
    check_queries(algorithm, found, n)


def _require(algorithm: Any, holds: bool, says: str) -> None:
    if not holds:
        raise AssertionError(f"{getattr(algorithm, 'id', type(algorithm).__name__)}: {says}.")


def check_form(algorithm: Any, n: int) -> None:
    """Check the id, the statement ids, and the types of answers."""
    must = partial(_require, algorithm)
    frozen = dataclasses.is_dataclass(algorithm) and not isinstance(algorithm, type)
    frozen = frozen and bool(type(algorithm).__dataclass_params__.frozen)
    must(frozen, "it is not an instance of a frozen dataclass")
    must(callable(algorithm), "it cannot be called as (data, *, rng, runs)")
    id_ = getattr(algorithm, "id", None)
    must(isinstance(id_, str) and bool(id_), f"its id is {id_!r}, not a nonempty string")
    statements = getattr(algorithm, "statements", None)
    listed = isinstance(statements, tuple) and all(isinstance(one, str) for one in statements)
    must(listed, f"its statements are {statements!r}, no tuple of ids")
    for name, kind in (("withdrawn", str), ("queries", StatedQueries)):
        method: Any = getattr(algorithm, name, None)
        must(callable(method), f"it has no method {name}(n)")
        answer = method(n)
        listed = isinstance(answer, tuple) and all(isinstance(one, kind) for one in answer)
        must(listed, f"{name}({n}) is {answer!r}, no tuple of {kind.__name__}")
    for name in ("guarantees", "guarantee_at"):
        must(callable(getattr(algorithm, name, None)), f"it has no method {name}")
    answer = algorithm.guarantees(n)
    must(isinstance(answer, Guarantees), f"guarantees({n}) is a {type(answer).__name__}")


def check_stated_guarantees(algorithm: Any, n: int) -> None:
    """Each profile lies in [0, 1] and falls with epsilon; the sharpest exceeds no other; no record has a worse one."""
    must = partial(_require, algorithm)
    stated = algorithm.guarantees(n)
    for one in stated:
        profile = np.asarray(one.guarantee.privacy_profile(_EPSILONS))
        within = np.all((profile >= 0) & (profile <= 1))
        must(bool(within), f"the privacy profile of {one} leaves [0, 1]")
        falls = np.diff(profile) <= _ROUNDING * profile[:-1]
        must(bool(np.all(falls)), f"the privacy profile of {one} rises with epsilon")
    if not stated:
        for index in (1, n):
            found = algorithm.guarantee_at(n, index)
            must(found is None, f"guarantee_at({n}, {index}) is {found}, though none is stated")
        return
    for name, other in (("headline", stated.headline), ("guarantee as printed", stated.as_printed)):
        if other is not None and not other.local:
            _require_below(algorithm, stated.sharpest, other, f"the sharpest guarantee is above the {name}")
    for index in sorted({1, (n + 1) // 2, n}):
        found = algorithm.guarantee_at(n, index)
        if found is None:
            protects = not stated.headline.local and stated.headline.protects(index, n)
            must(not protects, f"record {index} of {n} is protected, but by no guarantee of its own")
            continue
        must(isinstance(found, StatedGuarantee), f"guarantee_at({n}, {index}) is {found!r}")
        if stated.headline.protects(index, n) and not stated.headline.local:
            says = f"record {index} of {n} has a guarantee above the one for all records"
            _require_below(algorithm, found, stated.headline, says)


def _require_below(algorithm: Any, lower: StatedGuarantee, upper: StatedGuarantee, says: str) -> None:
    if lower is upper:
        return
    below = np.asarray(lower.guarantee.privacy_profile(_EPSILONS))
    above = np.asarray(upper.guarantee.privacy_profile(_EPSILONS))
    wrong = below > above * (1 + _ROUNDING) + _ROUNDING
    if np.any(wrong):
        at = int(np.argmax(wrong))
        numbers = f"{below[at]:.6g} > {above[at]:.6g} at epsilon = {_EPSILONS[at]:g}"
        _require(algorithm, False, f"{says}: delta {numbers}")


def check_withdrawal(algorithm: Any, n: int) -> None:
    """No method states a withdrawn guarantee, and the algorithm gives the reason."""
    must = partial(_require, algorithm)
    stated = algorithm.guarantees(n)
    reasons = algorithm.withdrawn(n)
    must(not (stated and reasons), f"it states guarantees, and says that it has none: {reasons}")
    fields = {field.name for field in dataclasses.fields(algorithm) if field.init}
    if "withdraw_guarantee" not in fields:
        return
    without = dataclasses.replace(algorithm, withdraw_guarantee=True)
    must(not without.guarantees(n), "it states guarantees that were withdrawn")
    must(without.guarantee_at(n, 1) is None, "it states a guarantee at index 1 that was withdrawn")
    must(bool(without.withdrawn(n)) or not stated, "it gives no reason after its guarantee was withdrawn")


def check_arguments(algorithm: Any, n: int) -> None:
    """Invalid numbers of records, and invalid indices, are refused."""
    for method in (algorithm.guarantees, algorithm.queries, algorithm.withdrawn):
        for bad in _NOT_A_NUMBER_OF_RECORDS:
            _require_refusal(algorithm, f"{method.__name__}({bad!r})", method, bad)
    for index in (0, n + 1, *_NOT_A_NUMBER_OF_RECORDS):
        _require_refusal(algorithm, f"guarantee_at({n}, {index!r})", algorithm.guarantee_at, n, index)


def _require_refusal(algorithm: Any, what: str, call: Any, *arguments: Any) -> None:
    try:
        call(*arguments)
    except InvalidArgumentError:
        return
    except Exception as error:
        says = f"{what} raises {type(error).__name__} instead of an InvalidArgumentError"
        raise AssertionError(f"{algorithm.id}: {says}.") from error
    _require(algorithm, False, f"{what} is not refused")


def check_refusals(algorithm: Any, refused: Sequence[Any]) -> None:
    """The data sets are refused with a message, not by a crash."""
    for number, data in enumerate(refused, 1):
        try:
            algorithm(data, rng=Randomness(0), runs=1)
        except (InvalidArgumentError, InvalidDataError, NotGuaranteedError):
            continue
        except Exception as error:
            says = f"on data set {number} to be refused it ends in {type(error).__name__}: {error}"
            raise AssertionError(f"{algorithm.id}: {says}") from error
        _require(algorithm, False, f"it takes data set {number} of those to be refused")


def check_pickling(algorithm: Any, data: Any, n: int, *, seed: int = 0, block_size: int = 4) -> None:
    """A pickled copy has the same fingerprint, guarantees and bits."""
    must = partial(_require, algorithm)
    try:
        copied = pickle.loads(pickle.dumps(algorithm))
    except Exception as error:
        raise AssertionError(f"{algorithm.id}: it cannot be pickled: {error}") from error
    must(fingerprint(copied) == fingerprint(algorithm), "a pickled copy has a different fingerprint")
    ours, theirs = ([str(one) for one in each.guarantees(n)] for each in (algorithm, copied))
    must(ours == theirs, f"a pickled copy states {theirs} instead of {ours}")
    first, second = (
        run(each, data, runs=block_size, seed=seed, block_size=block_size) for each in (algorithm, copied)
    )
    must(_same(first, second), "a pickled copy has different bits")


def check_fingerprint(algorithm: Any) -> None:
    """A copy has the same fingerprint; a parameter that is a little larger, as far as that is taken, has another."""
    must = partial(_require, algorithm)
    ours = fingerprint(algorithm)
    must(fingerprint(copy.deepcopy(algorithm)) == ours, "a copy has a different fingerprint")
    for field in dataclasses.fields(algorithm):
        value = getattr(algorithm, field.name)
        if not field.init or not isinstance(value, int | float) or isinstance(value, bool):
            continue
        larger = value + 1 if isinstance(value, int) else 1.01 * value + 0.01
        try:
            other = dataclasses.replace(algorithm, **{field.name: larger})
        except (InvalidArgumentError, NotGuaranteedError):
            continue
        must(fingerprint(other) != ours, f"the fingerprint does not change with {field.name}")


def check_bits(
    algorithm: Any,
    data: Any,
    *,
    runs: int = 11,
    seed: int = 0,
    block_size: int = 4,
    executors: Sequence[Executor | str] = ("threads=2",),
) -> Runs:
    """The same bits on every executor, for every chunk size, for any subset of blocks, and when run again."""
    must = partial(_require, algorithm)

    def of(**options: Any) -> Runs:
        return run(algorithm, data, **{"runs": runs, "seed": seed, "block_size": block_size, **options})

    before = fingerprint(algorithm)
    serial = of()
    must(_same(serial, of()), "the same seed gives different bits the second time")
    others = (of(seed=seed + k) for k in range(1, _SEEDS + 1))
    must(not all(_same(serial, one) for one in others), _NO_RANDOMNESS)
    whole = runs - runs % block_size
    fewer = of(runs=whole)
    must(_same(serial, fewer, whole), "whole blocks have different bits when fewer runs are asked for")
    for executor in executors:
        for memory_limit in (2**29, 1):
            chunks = "one block at a time" if memory_limit == 1 else "many blocks at a time"
            there = of(executor=executor, memory_limit=memory_limit)
            must(_same(serial, there), f"it has different bits on {executor}, {chunks}")
    must(fingerprint(algorithm) == before, "a run changes its fingerprint")
    return serial


def _same(left: Runs, right: Runs, runs: int | None = None) -> bool:
    names = ("points", *_COUNTERS.values())
    return all(getattr(left, k)[:runs].tobytes() == getattr(right, k)[:runs].tobytes() for k in names)


def check_queries(algorithm: Any, found: Runs, n: int) -> None:
    """Runs make as many oracle calls as stated.

    A bound on the expectation is held against the mean of the runs, which may be up to twice as large, or lie six
    standard errors above it: so few runs show no more.
    """
    must = partial(_require, algorithm)
    stated = algorithm.queries(n)
    for one in stated:
        counted = getattr(found, _COUNTERS[one.oracle])
        least, most = int(counted.min()), int(counted.max())
        says = f"it states {one}, and makes {least} to {most}"
        if one.expected:
            error = float(np.std(counted)) / math.sqrt(len(counted))
            must(float(np.mean(counted)) <= one.count + max(6 * error, one.count), says)
        elif one.exact:
            must(least == most == one.count, says)
        else:
            must(most <= one.count * (1 + _ROUNDING), says)
