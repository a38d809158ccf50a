"""Noise that depends on earlier noise: at which distance, and of which streams.

Noise that is used twice, a seed that comes again, streams that overlap and antithetic numbers leave each number's law
as it is, so that no look at single numbers finds them; a difference of two releases does. Two looks, at all distances
and all pairings of streams at once:

- **Numbers that are the same, or the same but for the sign**, at one distance. Under a random order of all numbers a
  given pair is one of the T that match with probability T / C(N, 2), and so is each further one of k disjoint pairs,
  among fewer numbers: so k of m disjoint pairs match with probability at most C(m, k) (T / C(N - 2k, 2))^k.
- **Sides and sizes**: whether a number is above the median of its stream, and whether its absolute value is. Numbers
  that lie so far apart agree as often as fair coins do: along a chain of numbers, products of fair signs are
  independent. Half of a stream lies above its own median, no more and no less; given that, probabilities are at most
  those of fair coins over the probability of as many heads, which Chernoff's bound is divided by.

Neither needs to know the law or its scale: what is tested is that every order of the numbers is as likely. Numbers that
are equal are put in order by the auditor's own random numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlogy

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.ledger.verdicts import Verdict

Relation = Literal["equal", "opposite", "sides", "sizes"]

_FEWEST = 100
_MOST_STREAMS = 64
MOST_COMPARED = 2**24
"""Products of streams with one another, at all distances."""
_MOST_MATCHES = 4_000_000
_CLOSE = 64
"""Distances up to this get half of the level of sides and sizes."""
_SHOWN = 4
_STREAM = 0x6C6167  # keeps the auditor's own random numbers apart
_SAYS: dict[Relation, str] = {
    "equal": "are the same",
    "opposite": "are the same but for the sign",
    "sides": "lie on one side of the median",
    "sizes": "are both large or both small",
}


@dataclass(frozen=True)
class Dependence:
    """Numbers that agree too often, or too seldom.

    Attributes:
        relation: in what: equal or opposite numbers, sides of the median, sizes.
        streams: of the first and the second number, from 1.
        lag: the second comes so many numbers later in its stream than the first in its own; may be negative between
            two streams.
        count: pairs that agree.
        pairs: that were compared.
        expected: pairs that agree on average where every order is as likely.
        log_probability: of so many or so few, at most, before it is shared among all looks; natural logarithm.
    """

    relation: Relation
    streams: tuple[int, int]
    lag: int
    count: int
    pairs: int
    expected: float
    log_probability: float

    def summary(self) -> str:
        """In words."""
        one, other = self.streams
        where = f"{abs(self.lag)} apart"
        if one != other:
            place = (
                f"{abs(self.lag)} {'later' if self.lag > 0 else 'earlier'}" if self.lag else "at one place"
            )
            where = f"of streams {one} and {other}, {place} in the second"
        return (
            f"{self.count} of {self.pairs} pairs of numbers {where}, {_SAYS[self.relation]}; "
            f"{self.expected:.6g} would on average"
        )


@dataclass(frozen=True)
class IndependenceAudit:
    """What was found about the order of numbers.

    Attributes:
        verdict: violated where numbers depend on others; else supported.
        reason: in words.
        found: the strongest of each pairing of streams and relation, the least probable first.
        agreement_seen: sides that agree in this part of all pairs, instead of half, would have been found half of the
            time at distances up to 64.
        runs: numbers of each stream.
        streams: how many.
        most_lag: sides and sizes were compared up to this distance; equal numbers at all distances.
        failure_probability: independent numbers of one law are called violated with at most this probability.
    """

    verdict: Verdict
    reason: str
    found: tuple[Dependence, ...]
    agreement_seen: float
    runs: int
    streams: int
    most_lag: int
    failure_probability: float


def audit_independence(
    values: ArrayLike, *, most_lag: int | None = None, failure_probability: float = 1e-6, seed: int = 0
) -> IndependenceAudit:
    """Compare numbers with all that come later, within streams and between them.

    Args:
        values: numbers in the order in which they were made, (runs,), or one stream a column, (runs, streams); at
            least 100 runs, at most 64 streams.
        most_lag: how far apart sides and sizes are compared; half of the runs if None.
        failure_probability: of a false alarm, in [1e-15, 1); a half each for equal numbers and for sides and sizes.
        seed: of the order of numbers that are equal.

    Raises `InvalidArgumentError`, `InvalidDataError` for anything else.

    Examples:
        >>> import numpy as np
        >>> from dpverify.auditing.noise import audit_independence
        >>> noise = np.random.default_rng(0).normal(size=5000)
        >>> audit_independence(noise).verdict.value
        'supported'
        >>> audit_independence(np.concatenate([noise, -noise])).found[0].lag
        5000
    """
    numbers = _checked(values)
    runs, streams = numbers.shape
    lags = runs // 2 if most_lag is None else checks.whole_number("most_lag", most_lag, at_most=runs - 1)
    if (streams * (streams + 1) // 2) * runs > MOST_COMPARED:
        raise InvalidDataError(
            f"{streams} streams of {runs} numbers are too many to compare each with each; allowed: fewer of either."
        )
    level = checks.failure_probability("failure_probability", failure_probability)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM,)))
    matches = _Matches(numbers)
    found = [*matches.beyond(level / 2), *_agreements(numbers, lags, level / 2, rng)]
    found.sort(key=lambda one: one.log_probability)
    needed = _log_level(level / 2, streams, lags, close=True) + _log_halves(runs)
    seen = _agreement_seen(runs - 1, needed)
    if found:
        more = f"; so do {len(found) - _SHOWN} further pairings" if len(found) > _SHOWN else ""
        reason = "; ".join(one.summary() for one in found[:_SHOWN]) + more
    else:
        reason = (
            f"no number depends on one that comes up to {lags} later{' or is of another stream' * (streams > 1)}; "
            f"sides that agree in {seen:.2%} of pairs would show half of the time"
        )
        reason += "; numbers repeat so often that single ones were not matched" if matches.too_many else ""
    return IndependenceAudit(
        verdict=Verdict.VIOLATED if found else Verdict.SUPPORTED,
        reason=reason,
        found=tuple(found),
        agreement_seen=seen,
        runs=runs,
        streams=streams,
        most_lag=lags,
        failure_probability=level,
    )


def _checked(values: ArrayLike) -> FloatArray:
    raw = np.asarray(values)
    numbers = raw[:, None] if raw.ndim == 1 else raw
    good = numbers.ndim == 2 and numbers.shape[0] >= _FEWEST and 1 <= numbers.shape[1] <= _MOST_STREAMS
    if not good or raw.dtype.kind not in "fiu" or not np.all(np.isfinite(numbers)):
        raise InvalidDataError(
            f"The values have shape {raw.shape} and type {raw.dtype}; allowed: finite numbers, (runs,) or "
            f"(runs, streams), at least {_FEWEST} runs of at most {_MOST_STREAMS} streams."
        )
    return np.asarray(numbers, dtype=np.float64)


# ------------------------------------------------------------------------------------------- equal numbers


class _Matches:
    """Pairs of numbers of one absolute value: where they are, as far as they are few enough to be listed."""

    def __init__(self, numbers: FloatArray) -> None:
        self._runs, self._streams = numbers.shape
        flat = numbers.ravel()  # row by row
        sizes = np.abs(flat)
        order = np.argsort(sizes, kind="stable")
        ranked = sizes[order]
        _, counts = np.unique(ranked, return_counts=True)
        self.too_many = bool(np.sum(counts * (counts - 1.0)) / 2 > _MOST_MATCHES)
        one, other = (np.zeros(0, dtype=np.int64),) * 2
        if not self.too_many:
            firsts, seconds = [one], [other]
            live = np.flatnonzero(ranked[1:] == ranked[:-1])
            step = 1
            while live.size:
                firsts.append(order[live])
                seconds.append(order[live + step])
                step += 1
                live = live[live + step < ranked.size]
                live = live[ranked[live + step] == ranked[live]]
            one, other = np.concatenate(firsts), np.concatenate(seconds)
        self._pairs = {
            "equal": tuple(side[flat[one] == flat[other]] for side in (one, other)),
            "opposite": tuple(side[(flat[one] == -flat[other]) & (flat[one] != 0)] for side in (one, other)),
        }

    def beyond(self, level: float) -> Iterator[Dependence]:
        """The least probable distance of each pairing of streams, where that is below the level of all looks."""
        runs, d = self._runs, self._streams
        looks = 2 * (2 * d * (runs - 1) + d * (d - 1) // 2 * (2 * runs - 1))
        log_level = math.log(level / looks)
        relation: Relation
        for relation in ("equal", "opposite"):
            yield from _strongest(self._counted(relation, log_level))

    def _counted(self, relation: Relation, log_level: float) -> Iterator[Dependence]:
        one, other = self._pairs[relation]
        total = one.size
        if not total:
            return
        rows, columns = np.divmod(np.stack([one, other]), self._streams)
        # the lower stream first; within a stream, the earlier number
        swap = (columns[0] > columns[1]) | ((columns[0] == columns[1]) & (rows[0] > rows[1]))
        rows, columns = (np.where(swap, side[::-1], side) for side in (rows, columns))
        lag = rows[1] - rows[0]
        same = columns[0] == columns[1]
        # within a stream, pairs of every other block of that length share no number
        phase = np.where(same, rows[0] // np.maximum(lag, 1) % 2, 0)
        keys, counts = np.unique(np.stack([*columns, lag, phase]), axis=1, return_counts=True)
        for (a, b, apart, turn), count in zip(keys.T.tolist(), counts.tolist(), strict=True):
            pairs = self._runs - abs(apart)
            if a == b:
                even = pairs // (2 * apart) * apart + min(pairs % (2 * apart), apart)
                pairs = pairs - even if turn else even
            chance = _log_matches(count, pairs, total, self._runs * self._streams)
            if chance < log_level:
                expected = total * pairs / math.comb(self._runs * self._streams, 2)
                yield Dependence(relation, (a + 1, b + 1), apart, count, pairs, expected, chance)


def _log_matches(count: int, pairs: int, total: int, numbers: int) -> float:
    """Natural logarithm of a bound on the probability that so many of some disjoint pairs are of those that match."""
    count = min(count, numbers // 4)  # so many at least; with more, too few are left for the bound
    left = numbers - 2 * count
    ways = float(gammaln(pairs + 1) - gammaln(count + 1) - gammaln(pairs - count + 1))
    return min(0.0, ways + count * math.log(min(1.0, 2 * total / (left * (left - 1)))))


def _strongest(found: Iterator[Dependence]) -> Iterator[Dependence]:
    best: dict[tuple[int, int], Dependence] = {}
    for one in found:
        known = best.get(one.streams)
        if known is None or one.log_probability < known.log_probability:
            best[one.streams] = one
    yield from best.values()


# ------------------------------------------------------------------------------------------- sides and sizes


def _agreements(
    numbers: FloatArray, lags: int, level: float, rng: np.random.Generator
) -> Iterator[Dependence]:
    runs, streams = numbers.shape
    levels = np.where(
        np.arange(lags + 1) <= _CLOSE,
        _log_level(level, streams, lags, close=True),
        _log_level(level, streams, lags, close=False),
    )
    levels += _log_halves(runs)
    relation: Relation
    for relation, made in (("sides", numbers), ("sizes", np.abs(numbers))):
        signs = _signs(made, rng)
        length = 1 << (runs + lags).bit_length()
        waves = np.fft.rfft(signs, n=length, axis=0)
        found = itertools.chain.from_iterable(
            _of_pair(relation, (a, b), waves, runs, levels, length)
            for a, b in itertools.combinations_with_replacement(range(streams), 2)
        )
        yield from _strongest(found)


def _of_pair(
    relation: Relation,
    streams: tuple[int, int],
    waves: NDArray[np.complex128],
    runs: int,
    levels: FloatArray,
    length: int,
) -> Iterator[Dependence]:
    a, b = streams
    lags = levels.size - 1
    # sums of products are whole numbers, far below where the transform's rounding would show
    sums = np.rint(np.fft.irfft(np.conj(waves[:, a]) * waves[:, b], n=length))
    for direction in (1,) if a == b else (1, -1):
        apart = np.arange(1 if a == b or direction < 0 else 0, lags + 1)
        pairs = runs - apart
        found = sums[(direction * apart) % length]
        chance = math.log(2) + _log_tail(np.abs(found), pairs)
        excess = chance - levels[apart]
        at = int(np.argmin(excess))
        if excess[at] < 0:
            agree = int(pairs[at] + found[at]) // 2
            lag = int(direction * apart[at])
            yield Dependence(
                relation, (a + 1, b + 1), lag, agree, int(pairs[at]), float(pairs[at] / 2), float(chance[at])
            )


def _signs(made: FloatArray, rng: np.random.Generator) -> FloatArray:
    """1 for the upper half of each column, -1 for the rest, (runs, streams)."""
    runs = made.shape[0]
    signs = np.full(made.shape, -1.0)
    for column in range(made.shape[1]):
        order = np.lexsort(np.stack([rng.random(made.shape[0]), made[:, column]]))
        signs[order[runs // 2 :], column] = 1.0
    return signs


def _log_tail(size: FloatArray, pairs: NDArray[np.int64]) -> FloatArray:
    """Natural logarithm of Chernoff's bound on the sum of so many fair signs being at least this."""
    part = (1 + size / pairs) / 2
    return np.asarray(-pairs * (math.log(2) + xlogy(part, part) + xlogy(1 - part, 1 - part)))


def _log_level(level: float, streams: int, lags: int, *, close: bool) -> float:
    """Natural logarithm of the level of one distance, of one pairing of streams, of sides or of sizes."""
    pairings = streams + streams * (streams - 1)
    of_all = min(_CLOSE, lags) + 1 if close else max(lags - _CLOSE, 1)
    return math.log(level / (2 * 2 * pairings * of_all))


def _log_halves(runs: int) -> float:
    """Natural logarithm of the probability that as many of `runs` fair coins show heads as half of them."""
    half = runs // 2
    return float(gammaln(runs + 1) - gammaln(half + 1) - gammaln(runs - half + 1)) - runs * math.log(2)


def _agreement_seen(pairs: int, log_level: float) -> float:
    low, high = 0.0, float(pairs)
    for _ in range(60):
        middle = (low + high) / 2
        tail = math.log(2) + float(_log_tail(np.asarray(middle), np.asarray(pairs)))
        low, high = (low, middle) if tail < log_level else (middle, high)
    return (1 + high / pairs) / 2
