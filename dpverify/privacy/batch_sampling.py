"""Gaussian noise on something computed from a random batch of the records: mn25 Algorithms 3 and 4.

With probability p the batch holds the record in which two neighboring data sets differ, else both give the same
law. Advanced joint convexity (Balle, Barthe and Gaboardi 2018, Theorems 9 and 10) then bounds a release's
hockey-stick divergence, in both directions and for epsilon >= 0, at log(1 + p (e^epsilon - 1)) by

    sum over k >= 1 of P[the record is drawn k times] delta_k(epsilon),

where delta_k is the profile for batches that differ in k places: Gaussian, k mu. Without replacement k is 0 or 1,
with replacement it is binomial. Where the record is drawn, its batches are compared with batches in which other
records stand in its place, which is why replace-one distances are all that is needed.

Where k may be above 1, that sum takes for each k its own worst event. A second bound has one event for all: with the
other draws fixed, batches without the record give one law N, and a batch that holds it k times one at most k mu from N.
So P(A) - e^epsilon Q(A), from which what Q has of batches with the other record may be left out, is at most

    sum over k >= 1 of P[k times] P_k(A) - (e^epsilon - 1) P[never] N(A),

and the likelihood ratios to N are largest in convex order, and so is their sum, where all P_k lie on one line, k mu
from N, since then they grow together. The smaller of both bounds holds.

Such releases compose adaptively through dominating pairs, as in `subsampling`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import log_ndtr, ndtr

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import composition, quantities
from dpverify.privacy.conversions import profile_to_tradeoff, smallest_epsilon
from dpverify.privacy.gaussian import gaussian_hockey_stick_from_above
from dpverify.privacy.guarantees import Guarantee

_TAIL_MASS = 1e-18
_INNER_ROUNDING = 2.0**-50
_STEPS_PER_STDDEV = 20  # grid points in one standard deviation of a release's privacy loss
_LARGEST_GRID = 8_000
_LARGEST_LOSS = 600.0
_TABLE_SIZE = 2049
_LARGEST_EPSILON = 700.0
_LOWEST_END = -40.0  # no law that is compared has anything below
_NEWTON_STEPS = 40
_WIDENINGS = 80
_EVENT_ROUNDING = 1e-11


@dataclass(frozen=True)
class SampledBatch(Guarantee):
    """One Gaussian release computed from a batch of records that is drawn uniformly and not revealed.

    Guarantee: adjacency replace-one, both directions.

    Attributes:
        n: records, at least 1.
        batch: how many are drawn, at least 1; at most n without replacement.
        mu: distance, in standard deviations of the noise, by which replacing one drawn record moves the release.
        replacement: draw each record of the batch anew from all n, so that one may come several times.

    Raises:
        InvalidArgumentError: for anything outside these ranges.
    """

    n: int
    batch: int
    mu: float
    replacement: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", checks.whole_number("n", self.n, at_least=1))
        if not isinstance(self.replacement, bool):
            raise InvalidArgumentError("replacement", self.replacement, "True or False")
        most = None if self.replacement else self.n
        object.__setattr__(self, "batch", checks.whole_number("batch", self.batch, at_least=1, at_most=most))
        mu = checks.number("mu", self.mu, at_least=0, below=40, allowed="a real number in [0, 40)")
        object.__setattr__(self, "mu", mu)

    def __str__(self) -> str:
        how = "with" if self.replacement else "without"
        return f"{self.mu:g}-GDP on {self.batch} of {self.n} records drawn {how} replacement"

    @property
    def probability(self) -> float:
        """That a given record is in the batch."""
        if self.n == 1:
            return 1.0
        if not self.replacement:
            return self.batch / self.n
        return -math.expm1(self.batch * math.log1p(-1 / self.n))

    @cached_property
    def _copies(self) -> tuple[tuple[int, float], ...]:
        """(k, P[the record is drawn k times]) for k >= 1, without the far tail."""
        from scipy import stats

        if not self.replacement or self.n == 1:
            return ((1 if not self.replacement else self.batch, self.probability),)
        law = stats.binom(self.batch, 1 / self.n)
        last = 1
        while last < self.batch and law.sf(last) > _TAIL_MASS:
            last += 1
        return tuple((k, float(law.pmf(k))) for k in range(1, last + 1))

    @cached_property
    def _tail(self) -> float:
        """P[the record is drawn more often than listed]: counted as lost."""
        from scipy import stats

        if not self.replacement or self.n == 1:
            return 0.0
        return float(stats.binom(self.batch, 1 / self.n).sf(self._copies[-1][0]))

    def epsilon_at(self, delta: float) -> float:
        """Smallest epsilon at which the profile is at most delta; see the base class."""
        # in floats the profile underflows to 0, but it is 0 nowhere
        if quantities.delta(delta) == 0 and self.mu > 0:
            return math.inf
        return super().epsilon_at(delta)

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        p = self.probability
        # log(1 + (e^epsilon - 1) / p), rounded down: as it stands near 0, and with e^epsilon / p taken out beyond 1,
        # where it might leave the floats
        near = np.log1p(np.expm1(np.minimum(epsilon, 1.0)) / p)
        far = epsilon - math.log(p) + np.log1p(-(1 - p) * np.exp(-np.maximum(epsilon, 1.0)))
        inner = np.where(epsilon > 1, far, near) * (1 - _INNER_ROUNDING)
        total = np.full_like(inner, self._tail)
        for k, mass in self._copies:
            total += mass * gaussian_hockey_stick_from_above(inner, k * self.mu)
        if self.replacement and self.mu > 0 and self.probability < 1:
            total = np.minimum(total, self._with_one_event(epsilon))
        bounded: FloatArray = np.where(epsilon == math.inf, 0.0, np.minimum(total, 1.0))
        return bounded

    def _with_one_event(self, epsilon: FloatArray) -> FloatArray:
        """The second bound of the module, from above.

        The best event is a half-line, from the t at which the sum of the likelihood ratios is e^`never`. Newton steps
        lead near it; it is a number below t, and one above, that make the bound hold: what is gained is
        counted from the one on, what is lost from the other.
        """
        copies, mass = (np.array(part, dtype=np.float64)[:, None] for part in zip(*self._copies, strict=True))
        away = copies * self.mu
        finite = np.minimum(np.ravel(epsilon), _LARGEST_EPSILON)
        with np.errstate(divide="ignore"):
            never = finite + math.log1p(-self.probability) + np.log(-np.expm1(-finite))

        def ratios(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            """The logarithm of their sum, and its derivative."""
            terms = np.log(mass) + away * t - away**2 / 2
            largest = terms.max(axis=0)
            shares = np.exp(terms - largest)
            total = shares.sum(axis=0)
            return largest + np.log(total), (shares * away).sum(axis=0) / total

        # the logarithm is convex, so that steps from the right stay there
        t = np.maximum((never - np.log(mass[0]) + away[0] ** 2 / 2) / self.mu, _LOWEST_END)
        for _ in range(_NEWTON_STEPS):
            found, slope = ratios(t)
            nearer = np.maximum(t - np.maximum(found - never, 0.0) / slope, _LOWEST_END)
            done, t = np.all(t - nearer <= _EVENT_ROUNDING * (1 + np.abs(t))), nearer
            if done:
                break
        rounding = _EVENT_ROUNDING * (1 + np.abs(np.maximum(never, -_LARGEST_EPSILON)) + away.max() ** 2)
        width = _EVENT_ROUNDING * (1 + np.abs(t))
        low, high = t, t
        for _ in range(_WIDENINGS):
            low_enough = (low <= _LOWEST_END) | (ratios(low)[0] <= never - rounding)
            high_enough = ratios(high)[0] >= never + rounding
            if np.all(low_enough & high_enough):
                break
            low = np.where(low_enough, low, np.maximum(t - width, _LOWEST_END))
            high = np.where(high_enough, high, t + width)
            width = 2 * width
        low, high = np.where(low_enough, low, _LOWEST_END), np.where(high_enough, high, np.inf)
        gained = (mass * np.where(low <= _LOWEST_END, 1.0, ndtr(away - low))).sum(axis=0)
        lost = np.exp(never + log_ndtr(-high))
        bound = gained * (1 + _EVENT_ROUNDING) - lost * (1 - _EVENT_ROUNDING) + self._tail
        return np.asarray(np.maximum(bound, 0.0).reshape(np.shape(epsilon)), dtype=np.float64)

    @property
    def last_loss(self) -> float:
        """Where the profile is down to about 1e-17, nats."""
        return min(smallest_epsilon(self._profile, 10 * _TAIL_MASS), _LARGEST_LOSS)


@dataclass(frozen=True)
class SampledBatches(Guarantee):
    """Releases of `SampledBatch`, each as often as it says, one after another and adaptively.

    Guarantee: adjacency replace-one, both directions, from the composed privacy loss distribution
    (dp-accounting's Fourier transform) plus `rounding`.

    Attributes:
        parts: pairs (release, how often), at least one.

    Raises:
        InvalidArgumentError: for anything else.
    """

    parts: tuple[tuple[SampledBatch, int], ...]

    def __post_init__(self) -> None:
        allowed = "pairs of a SampledBatch and a positive integer, at least one"
        if not isinstance(self.parts, tuple) or not self.parts:
            raise InvalidArgumentError("parts", self.parts, allowed)
        for part in self.parts:
            if not (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], SampledBatch)):
                raise InvalidArgumentError("parts", self.parts, allowed)
            checks.whole_number("parts", part[1], at_least=1)

    def __str__(self) -> str:
        return "; ".join(f"{count} times {part}" for part, count in self.parts)

    @property
    def releases(self) -> int:
        """How many there are in all."""
        return sum(count for _, count in self.parts)

    @cached_property
    def rounding(self) -> float:
        """Allowance on delta for rounding: see `composition.allowance`."""
        return composition.allowance(self.distribution, self.releases)

    @cached_property
    def distribution(self) -> composition.PrivacyLossDistribution:
        """Privacy loss distribution of all releases."""
        largest = min(max(*(part.last_loss for part, _ in self.parts), 1e-9), _LARGEST_LOSS)
        finest = min(
            part.mu * part.probability / _STEPS_PER_STDDEV * math.sqrt(count) for part, count in self.parts
        )
        step = max(min(finest, largest / 1000), largest / _LARGEST_GRID)
        total = None
        for part, count in self.parts:
            single = composition.loss_distribution(
                part._profile, discretization=step, largest_loss=max(largest, 2 * step)
            )
            powered = composition.repeated(single, count)
            total = powered if total is None else total.compose(powered)
        assert total is not None
        return total

    def at(self, epsilon: float) -> float:
        """The bound at one finite epsilon of at least 0, nats."""
        return min(1.0, max(0.0, float(self.distribution.get_delta_for_epsilon(epsilon))) + self.rounding)

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        """Epsilons from 0 (nats), rising, and the bound there."""
        last = self.distribution.get_epsilon_for_delta(max(self.rounding, 1e-14))
        nodes: FloatArray = np.linspace(0.0, min(max(last, 1e-9), _LARGEST_LOSS), _TABLE_SIZE)
        deltas = np.clip(composition.deltas_of(self.distribution, nodes), 0.0, 1.0) + self.rounding
        falling: FloatArray = np.maximum.accumulate(np.minimum(deltas, 1.0)[::-1])[::-1]
        return nodes, falling

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        """From the table: a profile is convex in e^epsilon, so it lies below its chords."""
        nodes, deltas = self._table
        inside = np.interp(np.exp(np.minimum(epsilon, nodes[-1])), np.exp(nodes), deltas)
        return np.asarray(inside, dtype=np.float64)

    def _tradeoff(self, alpha: FloatArray) -> FloatArray:
        return profile_to_tradeoff(self._profile)(alpha)


@lru_cache(maxsize=64)
def sampled_batches(*parts: tuple[SampledBatch, int]) -> SampledBatches:
    """`SampledBatches`, remembered, because composing takes a fraction of a second."""
    return SampledBatches(parts)
