"""Checks of a mechanism's randomness: how batches are drawn, what noise is added, what stays hidden.

Each check has a stated probability of a false alarm, at any number of draws: counts are compared with binomial laws,
exactly, and distribution functions by the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpverify.auditing.batches import BatchScheme, Scheme, audit_batches, record_batches
from dpverify.checks import (
    checked_seed,
    function,
    items,
    of_kind,
    probability,
    returned,
    returned_number,
    whole_number,
)
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Verdict


def check_batch_sampling(
    sampler: Callable[[np.random.Generator], Any] | Iterable[Any],
    *,
    n: int,
    scheme: Scheme,
    batch: int | None = None,
    probability_of_a_record: float | None = None,
    draws: int = 2000,
    failure_probability: float = 1e-6,
    seed: int = 0,
) -> None:
    """Check that a sampler draws batches as the accounting assumes.

    Looked at are the batches' form, which records come, alone, in pairs and in blocks, the whole law of how large a
    batch is, and whether a batch depends on those before it; see `dpverify.auditing.batches`.

    Args:
        sampler: from a generator to the indices (0 to n - 1) of one batch; for `shuffled`, of a pass in its order. Or
            the batches themselves, in their order: a list, a batch sampler, or a loader of indices.
        n: records.
        scheme: that is accounted for.
        batch: records in a batch, but for `poisson`; for `shuffled`, if not a whole pass.
        probability_of_a_record: with which each record comes, for `poisson`.
        draws: batches that are drawn one after another, or at most so many of those given.
        failure_probability: that a sampler as declared is refused.
        seed: of the draws.

    Raises:
        AssertionError: naming what differs, how often it came and how often it should; for so few draws that nothing
            could be found.
        InvalidArgumentError: for arguments that cannot be used.

    Examples:
        >>> from dpverify.properties import check_batch_sampling
        >>> def batch(rng):
        ...     return rng.choice(20, size=5, replace=False)
        >>> check_batch_sampling(batch, n=20, scheme="without-replacement", batch=5)
        >>> check_batch_sampling(batch, n=20, scheme="poisson", probability_of_a_record=0.25)
        Traceback (most recent call last):
        AssertionError: ...
    """
    draws = whole_number("draws", draws, at_least=2)
    level = probability("failure_probability", failure_probability)
    of_kind("scheme", scheme, str)
    declared = BatchScheme(scheme, n, None if scheme == "poisson" else batch, probability_of_a_record)
    rng = np.random.default_rng(checked_seed(seed))
    drawn = (sampler(rng) for _ in range(draws)) if callable(sampler) else sampler
    found = audit_batches(record_batches(drawn, count=draws), declared, failure_probability=level)
    if found.impossible is not None:
        raise AssertionError(found.impossible)
    if found.verdict is Verdict.VIOLATED:
        raise AssertionError(f"The batches are not drawn {scheme}: {found.reason}.")
    if found.verdict is Verdict.UNDECIDED:
        raise AssertionError(f"Nothing was decided: {found.reason}.")


def check_noise(
    mechanism: Callable[[Any, np.random.Generator], Any],
    datasets: Sequence[Any],
    *,
    center: Callable[[Any], float],
    runs: int = 5000,
    failure_probability: float = 1e-6,
    seed: int = 0,
) -> float:
    """Check that a mechanism's noise has the same law on all data sets, whatever their size.

    Args:
        mechanism: from a data set and a generator to one number.
        datasets: at least two; of different sizes, to see whether the noise depends on how many records there are.
            Lists of numbers are handed over as arrays.
        center: from a data set to the number without noise.
        runs: on each data set.
        failure_probability: that noise of one law is refused.
        seed: of the runs.

    Returns:
        the largest difference of two empirical distribution functions of the noise.

    Raises:
        AssertionError: naming the data sets, by place, and how far apart the laws are at least.
        InvalidArgumentError: for arguments that cannot be used.

    Examples:
        >>> import numpy as np
        >>> from dpverify.properties import check_noise
        >>> datasets = [np.zeros((1, 1)), np.ones((100, 1))]
        >>> found = check_noise(lambda data, rng: data.sum() + rng.laplace(), datasets, center=np.sum, runs=1000)
        >>> check_noise(lambda data, rng: data.sum() + rng.laplace(scale=1 / len(data)), datasets, center=np.sum)
        Traceback (most recent call last):
        AssertionError: ...
    """
    function("mechanism", mechanism)
    function("center", center)
    items("datasets", datasets, object, "at least two data sets", least=2)
    sets = [_records(data) for data in datasets]
    runs = whole_number("runs", runs)
    level = probability("failure_probability", failure_probability)
    rngs = np.random.default_rng(checked_seed(seed)).spawn(len(sets))
    noise, sizes = [], []
    for data, rng in zip(sets, rngs, strict=True):
        middle = returned_number("center", center(data))
        values = np.sort([returned_number("mechanism", mechanism(data, rng)) - middle for _ in range(runs)])
        if not np.isfinite(values).all():
            raise AssertionError("The mechanism's answers are not finite numbers.")
        noise.append(values)
        sizes.append(abs(middle) + float(np.abs(values).max()))
    # each empirical function is within this of its law, all of them but with the failure probability
    radius = math.sqrt(math.log(2 * len(sets) / level) / (2 * runs))
    largest = 0.0
    for j in range(len(sets)):
        for i in range(j):
            # what differs by rounding of the center counts as equal
            size = 1e-9 * max(sizes[i], sizes[j])
            both = np.concatenate([noise[i], noise[j]])
            low, high = (
                np.searchsorted(noise[i], both + way * size, side="right")
                - np.searchsorted(noise[j], both, side="right")
                for way in (-1, 1)
            )
            apart = max(float(low.max()), float(-high.min()), 0.0) / runs
            largest = max(largest, apart)
            if apart > 2 * radius:
                spreads = ", ".join(f"{float(np.std(noise[k])):.6g}" for k in (i, j))
                raise AssertionError(
                    f"The noise depends on the data: on data sets {i} and {j} its laws are at least "
                    f"{apart - 2 * radius:.6g} apart in one probability (standard deviations {spreads}); "
                    f"false with probability at most {level:g}."
                )
    return largest


def _records(data: Any) -> Any:
    """Lists of numbers as an array, as `check_private` hands them to a function; anything else as it is."""
    if not isinstance(data, list | tuple):
        return data
    try:
        array = np.asarray(data)
    except ValueError:
        return data
    return array if array.dtype.kind in "biuf" else data


def check_hidden(
    run: Callable[[np.random.Generator], tuple[Any, Sequence[Any]]], *, runs: int = 3, seed: int = 0
) -> None:
    """Check that an output contains no iterate that its guarantee counts as hidden, number by number.

    Amplification by iteration bounds what the last iterate gives away; an output that holds another one as well, in
    any attribute, entry or array, has lost it. An iterate that is only a function of what is released is not found.

    Args:
        run: from a generator to an output and all iterates of that run, the last one released. Iterates must have noise
            of a continuous law. Of its doubles two agree with a probability below 1e-12; a false alarm takes that all
            coordinates of an iterate agree by chance, in every run.
        runs: which must all carry the iterate.
        seed: of the runs.

    Raises:
        AssertionError: naming the iterates, from 0.
        InvalidArgumentError: for arguments that cannot be used.

    Examples:
        >>> from dpverify.properties import check_hidden
        >>> def run(rng, show=False):
        ...     iterates = list(rng.normal(size=(5, 2)).cumsum(axis=0))
        ...     return (iterates[1:] if show else iterates[-1]), iterates
        >>> check_hidden(run)
        >>> check_hidden(lambda rng: run(rng, show=True))
        Traceback (most recent call last):
        AssertionError: ...
    """
    function("run", run)
    rng = np.random.default_rng(checked_seed(seed))
    carried: set[int] | None = None
    for _ in range(whole_number("runs", runs, at_least=2)):
        made: Any = run(rng)
        output, iterates = made if isinstance(made, tuple | list) and len(made) == 2 else (None, ())
        if not (isinstance(iterates, Sequence) or np.ndim(iterates)) or not len(iterates):
            raise InvalidArgumentError(
                "run", run, "a function that returns an output and at least one iterate"
            )
        numbers = set(_numbers(output, set()))
        points = [tuple(returned("run", w).ravel().tolist()) for w in iterates]
        # the start has no noise, and an iterate may stay where it is
        here = {t for t, w in enumerate(points[:-1]) if t > 0 and w != points[-1] and numbers.issuperset(w)}
        carried = here if carried is None else carried & here
    if carried:
        raise AssertionError(f"The output carries hidden iterates: {sorted(carried)}, number by number.")


def _numbers(value: Any, seen: set[int]) -> Iterator[float]:
    """Every real number in an output, looked for in containers, arrays and attributes."""
    if isinstance(value, (str, bytes)) or value is None or id(value) in seen:
        return
    if isinstance(value, (bool, int, float, np.number)):
        if np.isreal(value):
            yield float(value)
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        yield from value.astype(np.float64).ravel().tolist()
    elif isinstance(value, Mapping):
        for part in (*value.keys(), *value.values()):
            yield from _numbers(part, seen)
    elif isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        for part in value:
            yield from _numbers(part, seen)
    else:
        yield from _numbers(getattr(value, "__dict__", None), seen)
