"""Gaussian noise on something computed from a random batch of the records: mn25 Algorithms 3 and 4.

Let m_k be the probability that the record in which two neighboring data sets differ is drawn k times: without
replacement k is 0 or 1, with replacement it is binomial. With the other draws fixed, batches without the record give
one law N on both data sets; a batch that holds it k times gives P_k on one data set and Q_k on the other, each of
the three at most k mu from the others. That is why replace-one distances are all that is needed. So

    P(A) - e^epsilon Q(A) = sum over k >= 1 of m_k (P_k(A) - e^epsilon Q_k(A)) - (e^epsilon - 1) m_0 N(A),

and as in advanced joint convexity (Balle, Barthe and Gaboardi 2018, Theorems 2, 9 and 10) what is taken off may be
handed to the terms in any shares c_k >= 0 with sum at most (e^epsilon - 1) m_0. Each is then P_k against a mixture of
Q_k and N, and the release's hockey-stick divergence is, in both directions and for epsilon >= 0, at most

    sum over k >= 1 of m_k delta_k(epsilon_k), where e^epsilon_k = e^epsilon + c_k / m_k,

with delta_k the profile of a Gaussian at distance k mu. Theorem 10 takes shares in proportion to m_k, which gives
every k its own worst event. The best shares give all of them the same: since delta_k falls, as e^epsilon_k grows, at
the rate Phi(-t_k) with epsilon_k = k mu t_k - (k mu)^2 / 2, the sum is smallest where t_k = t is the same for all k
that get a share. If all k get one, it is what one event {x >= t} says of the mixture of N(k mu, 1) with weights m_k
against N(0, 1): an instance, in which all other records are alike, attains it. Without replacement there is one k.

Such releases compose adaptively through dominating pairs, as in `subsampling`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import composition, quantities
from dpverify.privacy.conversions import smallest_epsilon
from dpverify.privacy.gaussian import gaussian_hockey_stick_from_above
from dpverify.privacy.guarantees import Guarantee

_TAIL_MASS = 1e-18
_INNER_ROUNDING = 2.0**-50
_STEPS_PER_STDDEV = 20  # grid points in one standard deviation of a release's privacy loss
_LARGEST_GRID = 8_000
_LARGEST_LOSS = 600.0
_LARGEST_EPSILON = 700.0
_NEWTON_STEPS = 40
_WIDENINGS = 80
_T_ROUNDING = 1e-13
_MASS_ROUNDING = 1e-12  # relative, many times what SciPy's binomial probabilities are off
_SHARE_ROUNDING = 4e-16  # relative, of an exponential for each unit of what its exponent is made of


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
        checks.whole_field(self, "n")
        checks.of_kind("replacement", self.replacement, bool)
        checks.whole_field(self, "batch", at_most=None if self.replacement else self.n)
        checks.number_field(self, "mu", at_least=0, below=40, allowed="a real number in [0, 40)")

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
        """P[the record is drawn more often than listed], which counts as a failure of privacy."""
        from scipy import stats

        if not self.replacement or self.n == 1:
            return 0.0
        return float(stats.binom(self.batch, 1 / self.n).sf(self._copies[-1][0]))

    def epsilon_at(self, delta: float) -> float:
        # in floats the profile underflows to 0, but it is 0 nowhere
        if quantities.delta(delta) == 0 and self.mu > 0:
            return math.inf
        return super().epsilon_at(delta)

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        if len(self._copies) > 1:
            inner = self._of_copies(np.minimum(epsilon, _LARGEST_EPSILON))
        else:
            inner = self._of_one_copy(epsilon)
        total = np.full_like(epsilon, self._tail)
        for (k, mass), own in zip(self._copies, inner, strict=True):
            total += mass * gaussian_hockey_stick_from_above(own * (1 - _INNER_ROUNDING), k * self.mu)
        if self.replacement:
            total *= 1 + _MASS_ROUNDING
        bounded: FloatArray = np.where(epsilon == math.inf, 0.0, np.minimum(total, 1.0))
        return bounded

    def _of_one_copy(self, epsilon: FloatArray) -> FloatArray:
        """The only epsilon_k, log(1 + (e^epsilon - 1) / p): near 0 as it stands, beyond 1 without e^epsilon / p."""
        p = self.probability
        near = np.log1p(np.expm1(np.minimum(epsilon, 1.0)) / p)
        far = epsilon - math.log(p) + np.log1p(-(1 - p) * np.exp(-np.maximum(epsilon, 1.0)))
        return np.where(epsilon > 1, far, near)[None]

    def _of_copies(self, epsilon: FloatArray) -> FloatArray:
        """All epsilon_k, at the largest t for which the shares are surely not more than there is.

        In units of e^epsilon a share is m_k (e^(epsilon_k - epsilon) - 1), and there is (1 - e^-epsilon) m_0. No share
        may be larger than that, which bounds t; from there Newton steps lead down to the root, since the sum of the
        shares is convex in t.
        """
        if self.mu == 0 or self.probability == 1:
            return np.stack([epsilon] * len(self._copies))
        shape = (-1,) + (1,) * epsilon.ndim
        copies, mass = (
            np.array(part, dtype=np.float64).reshape(shape) for part in zip(*self._copies, strict=True)
        )
        away = copies * self.mu
        most = -np.expm1(-epsilon) * (1 - self.probability)
        t = np.min((np.log1p(most / mass) + epsilon + away**2 / 2) / away, axis=0)
        safety = _SHARE_ROUNDING * (1 + epsilon + np.abs(t) * away[-1] + away[-1] ** 2)

        def too_much(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            """By how much the shares are more than there is, rounding counted against us, and the derivative."""
            grown = np.maximum(away * t - away**2 / 2 - epsilon, 0.0)
            likelier = mass * np.where(grown > 0, np.exp(grown), 0.0)
            shares = (1 + _MASS_ROUNDING) * (mass * np.expm1(grown)).sum(axis=0)
            shares += safety * likelier.sum(axis=0)
            return shares - most, (likelier * away).sum(axis=0)

        for _ in range(_NEWTON_STEPS):
            above, slope = too_much(t)
            nearer = t - np.maximum(above, 0.0) / np.where(slope > 0, slope, 1.0)
            done, t = bool(np.all(t - nearer <= _T_ROUNDING * (1 + np.abs(t)))), nearer
            if done:
                break
        width = _T_ROUNDING * (1 + np.abs(t))
        for _ in range(_WIDENINGS):
            beyond = too_much(t)[0] > 0
            if not np.any(beyond):
                break
            t, width = np.where(beyond, t - width, t), 2 * width
        # no shares at all are always allowed
        t = np.where(too_much(t)[0] > 0, -np.inf, t)
        found: FloatArray = np.maximum(away * t - away**2 / 2, epsilon)
        return found

    @property
    def last_loss(self) -> float:
        """Where the profile is down to about 1e-17, nats."""
        return min(smallest_epsilon(self._profile, 10 * _TAIL_MASS), _LARGEST_LOSS)


@dataclass(frozen=True)
class SampledBatches(composition.ComposedReleases):
    """Releases of `SampledBatch`, each as often as it says, one after another and adaptively.

    Guarantee: adjacency replace-one, both directions, from the composed privacy loss distribution
    (dp-accounting's Fourier transform) plus `rounding`.

    Attributes:
        parts: pairs (release, number of repetitions), at least one.

    Raises:
        InvalidArgumentError: for anything else.
    """

    parts: tuple[tuple[SampledBatch, int], ...]

    _NODES: ClassVar[int] = 2049
    _SHORTEST: ClassVar[float] = 1e-9
    _LONGEST: ClassVar[float] = _LARGEST_LOSS

    def __post_init__(self) -> None:
        allowed = "pairs of a SampledBatch and a positive integer, at least one"
        checks.require(isinstance(self.parts, tuple) and self.parts, "parts", self.parts, allowed)
        for part in self.parts:
            if not (isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], SampledBatch)):
                raise InvalidArgumentError("parts", self.parts, allowed)
            checks.whole_number("parts", part[1])

    def __str__(self) -> str:
        return "; ".join(f"{count} times {part}" for part, count in self.parts)

    @property
    def releases(self) -> int:
        return sum(count for _, count in self.parts)

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

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        return self._profile_from_table(epsilon)


@lru_cache(maxsize=64)
def sampled_batches(*parts: tuple[SampledBatch, int]) -> SampledBatches:
    """`SampledBatches`, remembered, because composing takes a fraction of a second."""
    return SampledBatches(parts)
