"""Checks of a mechanism's randomness: how batches are drawn, what noise is added, what stays hidden.

Each check has a stated probability of a false alarm, at any number of draws: counts are compared with binomial laws,
exactly, and distribution functions by the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import number, probability, whole_number
from dpverify.errors import InvalidArgumentError

Scheme = Literal["poisson", "without-replacement", "with-replacement", "shuffled"]
"""The declared way to draw the batch of a step; `shuffled` is one pass in a uniformly random order."""


def check_batch_sampling(
    sampler: Callable[[np.random.Generator], Any],
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

    Looked at are the batches' form, which records come, alone and in pairs, how large a batch is, and whether the next
    batch depends on the last one.

    Args:
        sampler: from a generator to the indices (0 to n - 1) of one batch; for `shuffled`, of a pass in its order.
        n: records.
        scheme: that is accounted for.
        batch: records in a batch, with and without replacement.
        probability_of_a_record: with which each record comes, for `poisson`.
        draws: batches or passes that are drawn one after another.
        failure_probability: that a sampler as declared is refused.
        seed: of the draws.

    Raises:
        AssertionError: naming what differs, how often it came and how often it should.
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
    n, draws = whole_number("n", n, at_least=2), whole_number("draws", draws, at_least=2)
    level = probability("failure_probability", failure_probability)
    if scheme not in get_args(Scheme):
        raise InvalidArgumentError("scheme", scheme, ", ".join(get_args(Scheme)))
    p = size = None
    if scheme == "poisson":
        p = number("probability_of_a_record", probability_of_a_record, above=0, below=1)
    elif scheme != "shuffled":
        size = whole_number("batch", batch, at_most=n if scheme == "without-replacement" else None)
    rng = np.random.default_rng(whole_number("seed", seed, at_least=0, at_most=None))
    found = [_batch(sampler(rng), n, scheme, size) for _ in range(draws)]
    tests = list(_tests(found, n, scheme, size, p))
    from scipy import stats

    for what, count, tries, chance in tests:
        # two-sided: twice the smaller tail is at most alpha with probability at most alpha
        law = stats.binom(tries, min(max(chance, 0.0), 1.0))
        if 2 * min(law.cdf(count), law.sf(count - 1)) <= level / len(tests):
            raise AssertionError(
                f"The batches are not drawn {scheme}: {what} in {count} of {tries} draws, where {tries * chance:.6g} "
                f"are expected; so far off with probability at most {level:g}, {len(tests)} such counts in all."
            )


def _batch(drawn: Any, n: int, scheme: str, size: int | None) -> NDArray[np.int64]:
    """The indices of one batch, in the form of its scheme."""
    indices = np.asarray(drawn)
    indices = indices.astype(np.int64) if indices.size == 0 else indices
    if indices.ndim != 1 or indices.dtype.kind not in "iu" or np.any((indices < 0) | (indices >= n)):
        raise AssertionError(f"A batch must be a list of indices from 0 to {n - 1}; one was {drawn!r}.")
    distinct = np.unique(indices).size == indices.size
    if scheme == "shuffled" and not (distinct and indices.size == n):
        raise AssertionError(
            f"A shuffled pass must hold each of {n} records once; one was {indices.tolist()}."
        )
    if size is not None and indices.size != size:
        raise AssertionError(f"A batch must hold {size} records; one holds {indices.size}.")
    if scheme in ("poisson", "without-replacement") and not distinct:
        raise AssertionError(
            f"A record is in a batch twice, where the scheme is {scheme}: {indices.tolist()}."
        )
    return indices.astype(np.int64)


def _tests(
    found: list[NDArray[np.int64]], n: int, scheme: str, size: int | None, p: float | None
) -> Iterator[tuple[str, int, int, float]]:
    """What is counted, its count, the number of independent draws, and its probability in one draw."""
    from scipy import stats

    draws = len(found)
    evens = list(zip(found[::2], found[1::2], strict=False))
    if scheme == "shuffled":
        half = n // 2
        early = np.zeros(n, dtype=np.int64)
        for order in found:
            early[order[:half]] += 1
        yield from ((f"record {i} came in the first half", int(early[i]), draws, half / n) for i in range(n))
        for k in range(min(n - 1, 50)):
            follows = sum(bool(np.any((order[:-1] == k) & (order[1:] == k + 1))) for order in found)
            yield f"record {k + 1} came right after record {k}", follows, draws, 1 / n
        none = math.fsum((-1) ** k / math.factorial(k) for k in range(min(n, 30) + 1))
        apart = sum(not np.any(a == b) for a, b in evens)
        yield "no record was in the place that it had in the pass before", apart, len(evens), none
        return
    included = np.zeros((draws, n), dtype=bool)
    for k, indices in enumerate(found):
        included[k, indices] = True
    shared = [int((included[2 * k] & included[2 * k + 1]).sum()) for k in range(len(evens))]
    if scheme == "poisson":
        assert p is not None
        one, both = p, p * p
        sizes: Any = stats.binom(n, p)
        overlap: Any = stats.binom(n, p * p)
        low, high = int(sizes.ppf(0.25)), int(sizes.ppf(0.75))
        counts = included.sum(axis=1)
        inside = int(((counts >= low) & (counts <= high)).sum())
        chance = float(sizes.cdf(high) - sizes.cdf(low - 1))
        yield f"a batch held {low} to {high} records", inside, draws, chance
        middle = int(sizes.ppf(0.5))
        yield f"a batch held at most {middle}", int((counts <= middle).sum()), draws, float(sizes.cdf(middle))
    elif scheme == "without-replacement":
        assert size is not None
        one, both = size / n, size * (size - 1) / (n * (n - 1))
        overlap = stats.hypergeom(n, size, size)
    else:
        assert size is not None
        one = -math.expm1(size * math.log1p(-1 / n))
        both = 1 - 2 * (1 - 1 / n) ** size + (1 - 2 / n) ** size
        overlap = stats.binom(size, 1 / n)
        shared = [int((a == b).sum()) for a, b in evens]
        if size > 1:
            repeated = sum(int(indices[0] == indices[1]) for indices in found)
            yield "the first two records of a batch were the same", repeated, draws, 1 / n
    for i in range(n):
        yield f"record {i} came", int(included[:, i].sum()), draws, one
    for i in range(n - 1):
        together = int((included[:, i] & included[:, i + 1]).sum())
        yield f"records {i} and {i + 1} came together", together, draws, both
    few = int(overlap.ppf(0.5))
    seldom, chance = sum(k <= few for k in shared), float(overlap.cdf(few))
    yield f"a batch shared at most {few} places with the one before", seldom, len(shared), chance


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
    sets = [_records(data) for data in datasets]
    if len(sets) < 2:
        raise InvalidArgumentError("datasets", datasets, "at least two data sets")
    runs = whole_number("runs", runs)
    level = probability("failure_probability", failure_probability)
    rngs = np.random.default_rng(whole_number("seed", seed, at_least=0, at_most=None)).spawn(len(sets))
    noise, sizes = [], []
    for data, rng in zip(sets, rngs, strict=True):
        middle = float(center(data))
        values = np.sort([float(mechanism(data, rng)) - middle for _ in range(runs)])
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
    rng = np.random.default_rng(whole_number("seed", seed, at_least=0, at_most=None))
    carried: set[int] | None = None
    for _ in range(whole_number("runs", runs, at_least=2)):
        output, iterates = run(rng)
        numbers = set(_numbers(output, set()))
        points = [tuple(np.asarray(w, dtype=np.float64).ravel().tolist()) for w in iterates]
        if not points:
            raise InvalidArgumentError(
                "run", run, "a function that returns an output and at least one iterate"
            )
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
