"""Which methods can fit a model for a budget, and which is chosen: by what is proved, never by the data.

Methods are the papers' algorithms and the yardstick. One applies if it can be made from a problem, n, epsilon and delta
alone, and states a guarantee for all records, under replace-one adjacency, that implies (epsilon, delta)-DP.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from dpverify.algorithms.conditions import claim_or_obstacle
from dpverify.algorithms.listing import algorithms_of
from dpverify.checks import budget, number, of_kind, require, whole_number
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.extras import MissingExtraError
from dpverify.privacy import StatedGuarantee
from dpverify.problems import Hinge, Logistic, Problem, Squared
from dpverify.problems.problem import without_ridge
from dpverify.running.foresight import LongRunWarning, TooCostlyError, allowed, foresee_stated

PAPERS = ("bst14", "fmtt18", "gll22", "mn25")
_FEW = 50
_NO_BOUND = (
    "it states no bound on the expected excess of the mean empirical risk, and is run where it is named"
)
YARDSTICK = "dpverify.algorithms.yardstick.full_batch:FullBatchDescent"


@dataclass(frozen=True)
class FitMethod:
    """A method for a budget: how it would be run, or why it does not apply.

    Attributes:
        id: of the algorithm.
        algorithm: with the parameters of its theorem; None where it does not apply.
        stated: the guarantee that implies (epsilon, delta)-DP; None where it does not apply.
        bound: on the expected excess of the mean empirical risk, in units of the loss; None where none is stated.
        obstacle: why it does not apply, in words; empty where it does.
        costly: whether the obstacle is only that a run is foreseen to make too many oracle calls.
        lacks: whether it is only that a library is not installed.
    """

    id: str
    algorithm: Any = None
    stated: StatedGuarantee | None = None
    bound: float | None = None
    obstacle: str = ""
    costly: bool = False
    lacks: bool = False


def places() -> dict[str, str]:
    """Import paths, `module:Class`, of all methods by id, the yardstick first."""
    papers = (one for key in PAPERS for one in algorithms_of(key))
    return {"yardstick.full-batch": YARDSTICK} | {one.id: one.place for one in papers}


def candidates(
    problem: Problem,
    *,
    n: int,
    epsilon: float,
    delta: float,
    only: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> tuple[FitMethod, ...]:
    """Every method, or one by its id, for a problem with n records and a budget.

    Among all of them, those that state no bound on the risk are not accounted for; their obstacle says so.

    Args:
        problem: loss and constraint set.
        n: records, public under replace-one adjacency.
        epsilon: in nats, above 0.
        delta: in [0, 1).
        only: the id of one method.
        parameters: further ones of that method, by name.

    Raises:
        InvalidArgumentError: for a budget out of range or an unknown id.

    Examples:
        >>> from dpverify.fitting import candidates
        >>> from dpverify.problems import Ball, Logistic, Problem
        >>> problem = Problem(Logistic(), Ball(5, 1.0))
        >>> (one,) = candidates(problem, n=500, epsilon=1.0, delta=1e-5, only="bst14.alg3")
        >>> one.obstacle.partition("; ")[2]
        'allowed: a strongly convex loss with a finite gradient sensitivity.'
    """
    n = whole_number("n", n)
    budget("epsilon", epsilon)
    number("delta", delta, at_least=0, below=1, allowed="a number in [0, 1)")
    known = places()
    if only is not None and not (isinstance(only, str) and only in known):
        raise InvalidArgumentError("method", only, f"auto, or one of {', '.join(known)}")
    of_kind("problem", problem, Problem)
    parameters = {} if parameters is None else parameters
    of_kind("parameters", parameters, Mapping, "further ones of a method, by name")
    taken = sorted(set(parameters) & {"problem", "n", "epsilon", "delta"})
    if parameters and (only is None or taken):
        raise InvalidArgumentError(
            "parameters", taken[0] if taken else list(parameters), "further ones of a method that is named"
        )
    if only is None:
        return _all(problem, n, epsilon, delta, allowed())
    asked = {"problem": problem, "n": n, "epsilon": epsilon, "delta": delta}
    return (_candidate(only, known[only], asked, parameters),)


@lru_cache(maxsize=64)
def _all(problem: Problem, n: int, epsilon: float, delta: float, limit: float) -> tuple[FitMethod, ...]:
    """All methods, once for the same question: a search over parameters asks it for every fold."""
    asked = {"problem": problem, "n": n, "epsilon": epsilon, "delta": delta}
    return tuple(_compared(id_, place, asked) for id_, place in places().items())


def _compared(id_: str, place: str, asked: Mapping[str, Any]) -> FitMethod:
    """One of all methods. What states no bound for a few records has none that is compared: no accounting for many."""
    if asked["n"] > _FEW:
        few = _candidate(id_, place, {**asked, "n": _FEW}, {})
        if few.algorithm is not None and few.bound is None:
            return FitMethod(id_, obstacle=_NO_BOUND)
    found = _candidate(id_, place, asked, {})
    return (
        FitMethod(id_, obstacle=_NO_BOUND) if found.algorithm is not None and found.bound is None else found
    )


def _candidate(id_: str, place: str, asked: Mapping[str, Any], further: Mapping[str, Any]) -> FitMethod:
    module, _, name = place.partition(":")
    kind = getattr(import_module(module), name)
    make = getattr(kind, "for_privacy", kind)
    takes = inspect.signature(make).parameters.values()
    named = {one.name for one in takes}
    given = {name: value for name, value in {**asked, **further}.items() if name in named}
    open_ended = any(one.kind is one.VAR_KEYWORD for one in takes)
    unknown = [] if open_ended else [name for name in further if name not in named]
    if unknown:
        raise InvalidArgumentError("parameters", unknown[0], f"parameters of {id_}")
    if open_ended:
        given |= further
    lacks = [
        one.name
        for one in takes
        if one.default is one.empty and one.name not in given and one.kind is not one.VAR_KEYWORD
    ]
    if not {"problem", "epsilon"} <= named or lacks:
        return FitMethod(id_, obstacle=_not_made(named, lacks))
    try:
        algorithm = make(**given)
        n = asked["n"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LongRunWarning)  # the run of the one that is taken says it
            foresee_stated(algorithm, SimpleNamespace(n=n))
        stated = claim_or_obstacle(id_, algorithm.guarantees(n), n, asked["epsilon"], asked["delta"])
        if isinstance(stated, str):
            return FitMethod(id_, obstacle=stated)
        return FitMethod(id_, algorithm, stated, _bound(algorithm, n))
    except DpverifyError as error:
        missing, costly = (isinstance(error, kind) for kind in (MissingExtraError, TooCostlyError))
        return FitMethod(id_, obstacle=str(error), costly=costly, lacks=missing)


def _not_made(named: set[str], lacks: list[str]) -> str:
    if lacks:
        return f"it needs {', '.join(lacks)} besides problem and budget"
    return f"it takes no {' and no '.join(sorted({'problem', 'epsilon'} - named))}"


def _bound(algorithm: Any, n: int) -> float | None:
    stated = algorithm.risk_bound(n)
    if stated is None or stated.population or stated.probability is not None:
        return None
    return float(stated.bound) / (n if stated.total else 1)


@dataclass(frozen=True)
class MethodChoice:
    """What the method with the smallest bound was chosen from.

    Attributes:
        compared: all methods, those that do not apply included.
        left_out: methods whose library is not installed, those with smaller bounds whose runs were foreseen to make too
            many oracle calls, and the words.
    """

    compared: tuple[FitMethod, ...]
    left_out: tuple[tuple[str, str], ...] = ()


def largest_excess(problem: Problem) -> float:
    """No mean risk on any data is more above its minimum: a bound that is not below this says nothing.

    Both the Lipschitz constant times the diameter, and, for losses of at least 0, the largest loss of a record in the
    unit ball, which a convex link has at an end of what <w, x> can be.
    """
    loss, ridge = without_ridge(problem.loss)
    farthest = problem.constraint.largest_norm
    found = problem.constants.lipschitz_constant * problem.constraint.diameter
    if isinstance(loss, Logistic | Hinge | Squared):
        ends = np.array([-farthest, farthest])
        largest = max(float(np.max(loss.link(ends, np.full(2, label)))) for label in (-1.0, 1.0))
        found = min(found, largest + ridge * farthest**2 / 2)
    return found


def ranked(found: Iterable[FitMethod]) -> list[FitMethod]:
    """The methods that state a bound on the excess of the mean empirical risk, the smallest first.

    Raises:
        InvalidArgumentError: if none does.
    """
    usable = [one for one in found if one.bound is not None and math.isfinite(one.bound)]
    require(usable, "method", "auto", "the id of a method, where none that applies states a bound")
    return sorted(usable, key=lambda one: one.bound or 0.0)
