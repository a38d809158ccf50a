"""Noisy sums divided by the actual size of a Poisson batch: what no accountant of them can go below.

Accountants of Poisson-sampled Gaussian noise assume that a noisy sum is divided by a number that does not depend on the
batch, such as its expected size. Divided by the actual size, a record also moves the average of all others, and
changes the noise's scale. One pair of data sets shows what that costs. In one dimension, with clipping norm C, the
gradients of n records are -C, and that of one more is C; K of the n are in the batch, K ~ Binomial(n, q). The release
is (-C K + s C Z) / K = -C + (s C / K) Z without the other record, and with it, if it is in the batch,
(-C K + C + s C Z) / (K + 1) = -C + (2 C + s C Z) / (K + 1); s is the noise multiplier, Z ~ N(0, 1). Of an empty batch
s C Z is released: the size counts as at least 1. So, with W = release / C + 1, the two laws are

    Q = b_0 N(1, s^2) + sum over k >= 1 of b_k N(0, (s / k)^2),
    P = (1 - q) Q + q sum over k >= 0 of b_k N(2 / (k + 1), (s / (k + 1))^2),

b_k the probabilities of K: the record moves the average by 2 C / (K + 1), twice as far as a sum divided by the same
number. Where that number, the size or 1, is seen as well, the two laws are compared at each. So it is in the limit of
many dimensions: the noise, of standard deviation s C over the number in each coordinate, tells it. What both
data sets give does not depend on earlier releases, so that several are independent.

Each line of outputs is cut into pieces, whose masses under both laws are balls; what is left is a pair of discrete
laws, which `enclosure` composes, rounded down, as it does the losses of sampled Gaussian noise.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import arb, ctx

from dpverify import checks
from dpverify.auditing.accountants.enclosure import Bounds, LossCell, bits_for, bounds_below
from dpverify.checks import FloatArray
from dpverify.ledger.records import Interval

CELLS, FEWEST_CELLS, MOST_CELLS = 512, 64, 2**14
"""Of one release's loss: by default, and the range."""
_FINER = 16
"""Points of the lattice of composed losses in the width of a cell."""
_LEAST = 1e-12
_LEFT_OUT = 1e-20
"""Of delta, in one release: batch sizes of this probability are not told apart."""
_BEYOND = 1e-4
"""Of delta, in one release: outputs of this probability are not told apart."""
_SCALES, _POINTS = 16, 513
"""Of how many batch sizes, and how finely, outputs are looked at before they are cut into pieces."""


@dataclass(frozen=True)
class DividedByBatchSize:
    """One pair of data sets: noisy sums over Poisson batches, divided by the actual size of the batch or 1 if it is 0.

    Guarantee: none is claimed. An epsilon below `smallest_epsilon` is too small for this pair, and so for the mechanism
    under add-or-remove-one; nothing is known from above.

    Attributes:
        noise_multiplier: standard deviation of the noise of a sum over the clipping norm; in [0.05, 1e3].
        sampling_probability: with which each record is in a batch; in [1e-6, 1).
        others: records beside the one that is added, at most a million; the time grows as the root of their expected
            number in a batch.
        steps: how many releases, at most ten thousand.
        size_shown: whether the number by which is divided is seen as well: released, or told by the noise in many
            dimensions.
        cells: of one release's loss, about, 64 to 2^14.

    Raises `InvalidArgumentError` for anything outside of these ranges.
    """

    noise_multiplier: float
    sampling_probability: float
    others: int
    steps: int = 1
    size_shown: bool = False
    cells: int = CELLS

    def __post_init__(self) -> None:
        """Check the numbers."""
        checks.number_field(self, "noise_multiplier", at_least=0.05, at_most=1e3)
        checks.number_field(self, "sampling_probability", at_least=1e-6, below=1)
        checks.whole_field(self, "others", at_most=10**6)
        checks.whole_field(self, "steps", at_most=10**4)
        checks.whole_field(self, "cells", at_least=FEWEST_CELLS, at_most=MOST_CELLS)
        checks.of_kind("size_shown", self.size_shown, bool)

    def __str__(self) -> str:
        count = f"{self.steps} releases" if self.steps > 1 else "one release"
        seen = ", which is seen" if self.size_shown else ""
        return (
            f"Gaussian noise {self.noise_multiplier:g}, {count}, Poisson sampling {self.sampling_probability:g}, "
            f"divided by the actual size of the batch{seen}, {self.others} other records (an instance)"
        )

    def smallest_epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon at delta lies, nats: proven from below, infinite above.

        Raises `InvalidArgumentError` for a delta outside [1e-12, 1).
        """
        delta = checks.number("delta", delta, at_least=_LEAST, below=1, allowed=f"a number in [{_LEAST}, 1)")
        ends = [one.epsilon(delta).lower for one in _bounds(self, delta)]
        return Interval(lower=max(ends), upper=math.inf, rigorous=True)

    def smallest_delta(self, epsilon: float, *, least: float = 1e-9) -> Interval:
        """Where the smallest delta at epsilon lies: proven from below, resolved down to `least`, and at most 1.

        Raises `InvalidArgumentError` for an epsilon below 0, or a `least` outside [1e-12, 1).
        """
        epsilon = checks.not_negative("epsilon", epsilon)
        least = checks.number("least", least, at_least=_LEAST, below=1, allowed=f"a number in [{_LEAST}, 1)")
        ends = [one.delta(epsilon).lower for one in _bounds(self, least)]
        return Interval(lower=max(ends), upper=1.0, rigorous=True)


@dataclass(frozen=True)
class _BatchSizes:
    """Probabilities of the numbers of other records in a batch that are told apart, from `first` on.

    `lost` encloses the probability of all others.
    """

    first: int
    masses: list[arb]
    lost: arb

    @classmethod
    def of(cls, releases: DividedByBatchSize, left_out: float) -> _BatchSizes:
        """All but some of this probability, about."""
        from scipy import stats

        n, q = releases.others, arb(releases.sampling_probability)
        law, counts = stats.binom(n, releases.sampling_probability), np.arange(n + 1)
        first = int(np.argmax(law.cdf(counts) > left_out / 2))
        last = int(np.argmax(law.sf(counts) <= left_out / 2))
        mass = arb.bin_uiui(n, first) * q**first * (1 - q) ** (n - first)
        masses = [mass]
        for k in range(first, last):
            mass = mass * (n - k) / (k + 1) * q / (1 - q)
            masses.append(mass)
        missing = (1 - sum(masses, arb(0))).upper().max(arb(0))
        return cls(first, masses, arb(0).union(missing))


_Part = tuple[arb, arb, arb]
"""Of a mixture of Gaussians: weight, mean, standard deviation."""


@dataclass(frozen=True)
class _Line:
    """Outputs that are told apart by a number: their law without the record, and with it in the batch."""

    without: list[_Part]
    joined: list[_Part]

    def losses(self, q: float, reach: float) -> tuple[FloatArray, FloatArray]:
        """Numbers so many standard deviations far, and the loss at each, about."""
        from scipy.special import logsumexp

        parts = [
            np.array([[float(number) for number in part] for part in law]).reshape(-1, 3, 1)
            for law in (self.without, self.joined)
        ]
        z = np.linspace(-reach, reach, _POINTS)
        near = [
            law[np.unique(np.geomspace(1, len(law), _SCALES).astype(int)) - 1] for law in parts if len(law)
        ]
        x = np.unique(np.concatenate([law[:, 1] + z * law[:, 2] for law in near]))
        plain, moved = (
            logsumexp(np.log(law[:, 0] / law[:, 2]) - ((x - law[:, 1]) / law[:, 2]) ** 2 / 2, axis=0)
            if len(law)
            else np.full(len(x), -np.inf)
            for law in parts
        )
        return x, np.logaddexp(math.log1p(-q), math.log(q) + moved - plain)


def _lines(releases: DividedByBatchSize, sizes: _BatchSizes) -> list[_Line]:
    """One line, or one for each number by which is divided where that is seen."""
    noise = arb(releases.noise_multiplier)
    found: defaultdict[int, _Line] = defaultdict(lambda: _Line([], []))
    for k, mass in enumerate(sizes.masses, sizes.first):
        one, more = (max(k, 1), k + 1) if releases.size_shown else (0, 0)
        found[one].without.append((mass, arb(k == 0), noise / max(k, 1)))
        found[more].joined.append((mass, arb(2) / (k + 1), noise / (k + 1)))
    return [*found.values()]


def _masses(parts: list[_Part], ends: FloatArray, lost: arb) -> list[arb]:
    """Masses of the pieces between the ends, from minus to plus infinity."""
    root = arb(2).sqrt()
    scaled = [(weight / 2, mean, 1 / (root * spread)) for weight, mean, spread in parts]
    below = [arb(0)]
    for end in ends.tolist():
        below.append(sum((half * ((mean - end) * by).erfc() for half, mean, by in scaled), arb(0)))
    below.append(sum((weight for weight, _, _ in parts), arb(0)))
    return [high - low + lost for low, high in pairwise(below)]


@lru_cache(maxsize=8)
def _bounds(releases: DividedByBatchSize, delta: float) -> tuple[Bounds, Bounds]:
    """For a delta of this size or larger: with the record over without it, and the other way."""
    from scipy.special import ndtri

    q, steps = releases.sampling_probability, releases.steps
    reach = -float(ndtri(min(delta * _BEYOND / steps, 0.1)))
    bits = bits_for(delta, _FINER * releases.cells, steps)
    with ctx.workprec(bits + 96):
        sizes = _BatchSizes.of(releases, delta * _LEFT_OUT / steps)
        every_line = _lines(releases, sizes)
        lines = [line for line in every_line if line.without]
        looked_at = [line.losses(q, reach) for line in lines]
        every = np.concatenate([losses for _, losses in looked_at])
        width = max(float(np.ptp(every)) / releases.cells, 1e-9)
        merged: dict[int, tuple[arb, arb]] = {}
        for line, (x, losses) in zip(lines, looked_at, strict=True):
            # where the record hardly counts, the loss is log(1 - q), in the middle of a bin
            bins = np.floor((losses - math.log1p(-q)) / width + 0.5)
            ends = np.flatnonzero(np.diff(bins)) + 1
            places = bins[np.concatenate([[0], ends])].astype(int).tolist()
            masses = (_masses(law, x[ends], sizes.lost) for law in (line.without, line.joined))
            for place, plain, moved in zip(places, *masses, strict=True):
                upper, lower = merged.get(place, (arb(0), arb(0)))
                merged[place] = upper + (1 - arb(q)) * plain + arb(q) * moved, lower + plain
        # the largest size is that of no batch without the record, or hardly any
        certain = sum((part[0] for line in every_line if not line.without for part in line.joined), arb(0))
        merged[max(merged) + 1] = arb(q) * certain + sizes.lost, sizes.lost
        ordered = [merged[place] for place in sorted(merged)]
        # less of the law that is over the other, and more of that, for a smaller bound
        over = [LossCell(0, joined.lower(), plain.upper()) for joined, plain in ordered]
        under = [LossCell(0, plain.lower(), joined.upper()) for joined, plain in reversed(ordered)]
        one, other = (bounds_below(each, width / _FINER, steps, delta, bits) for each in (over, under))
        return one, other
