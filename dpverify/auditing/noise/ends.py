"""What an end of the noise costs: from one release to many, and from there into claims and accountants.

Where noise ends, a release has outputs that the neighbor never gives: those within the distance of the two answers from
the end. Their probability q is lost in one release, and in T releases, adaptive or not, in each of which the record
takes part with probability p on its own, 1 - (1 - p q)^T: no epsilon makes delta smaller.

From above: on outputs that both sides can give, densities of noise that is cut off have the ratio of those of noise
that is not, and are larger by 1/(1 - o), where o is the probability that noise without end exceeds the end in any
release. So delta(epsilon) of the noise that ends is at most what is lost, plus 1/(1 - o) times that of the noise that
does not. Where records are sampled, what is lost counts for this as if the record were in each release: an output near
the end, if not impossible without the record, is less likely than noise without end would make it. Of noise that is
clipped to its ends, o counts as 0 and the atoms at both ends as lost; elsewhere densities are as they were. All of that
is real arithmetic: what rounding leaks is the matter of `--low-bits`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpverify import checks
from dpverify.auditing.accountants.references import NoisyReleases
from dpverify.checks import FloatArray
from dpverify.ledger.records import Interval
from dpverify.privacy import Guarantee, quantities

_DOWN = 1 - 2.0**-48


def lost_in_steps(lost: float, steps: int = 1, *, sampling_probability: float = 1.0) -> float:
    """The probability that one of several releases at least is an output that the neighbor never gives, rounded down.

    Args:
        lost: that probability in one release in which the record takes part, in [0, 1].
        steps: how many releases, at least 1.
        sampling_probability: with which the record takes part in each, on its own, in (0, 1].

    Raises `InvalidArgumentError` for anything outside of these ranges.

    Examples:
        >>> from dpverify.auditing.noise import lost_in_steps
        >>> f"{lost_in_steps(1.2e-5, 10_000, sampling_probability=0.01):.3g}"
        '0.0012'
    """
    lost = checks.number("lost", lost, at_least=0, at_most=1)
    steps = checks.whole_number("steps", steps, at_most=None)
    part = checks.number("sampling_probability", sampling_probability, above=0, at_most=1)
    each = part * lost
    if each in (0.0, 1.0) or (steps == 1 and part == 1):
        return each
    return -math.expm1(steps * math.log1p(-each)) * _DOWN


@dataclass(frozen=True)
class CutNoise(Guarantee):
    """A guarantee that was proved for noise without end, for noise of the same law that is cut off at an end.

    Attributes:
        guarantee: of all releases, with noise that never ends.
        lost: probability of outputs that the neighbor never gives, in all releases together, as if the record took
            part in each: `lost_in_steps` without sampling.
        outside: probability that noise without end exceeds the end in any release; 0 where it is clipped to its
            ends, whose atoms then count as lost.

    Raises `InvalidArgumentError` for a guarantee that is none, `lost` outside [0, 1] or `outside` outside [0, 1).

    Examples:
        >>> from dpverify.auditing.noise import CutNoise
        >>> from dpverify.privacy import GDP
        >>> CutNoise(GDP(1.0), 1.2e-5).epsilon_at(1e-5)
        inf
    """

    guarantee: Guarantee
    lost: float
    outside: float = 0.0

    def __post_init__(self) -> None:
        checks.of_kind("guarantee", self.guarantee, Guarantee, "a guarantee, such as GDP(1.0)")
        checks.number_field(self, "lost", at_least=0, at_most=1)
        checks.number_field(self, "outside", at_least=0, below=1)

    def __str__(self) -> str:
        return f"{self.guarantee}, with noise that ends and loses delta {self.lost:.3g}"

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        without_end = np.asarray(self.guarantee.privacy_profile(epsilon))
        return np.asarray(np.minimum(without_end / (1 - self.outside) / _DOWN + self.lost / _DOWN**2, 1.0))


@dataclass(frozen=True)
class CutReleases:
    """Releases whose noise ends, for `audit_epsilon`: below what is lost, no epsilon is enough.

    Attributes:
        releases: with noise that never ends.
        lost: probability of outputs that the neighbor never gives, in one release in which the record takes part.
        outside: as of `CutNoise`.

    Raises `InvalidArgumentError` as `CutNoise`.

    Examples:
        >>> from dpverify.auditing.accountants import NoisyReleases, audit_epsilon
        >>> from dpverify.auditing.noise import CutReleases
        >>> audit_epsilon(5.0, CutReleases(NoisyReleases("gaussian", 1.0), 1.2e-5), delta=1e-5).verdict.value
        'violated'
    """

    releases: NoisyReleases
    lost: float
    outside: float = 0.0

    def __post_init__(self) -> None:
        checks.of_kind("releases", self.releases, NoisyReleases, "NoisyReleases")
        checks.number_field(self, "lost", at_least=0, at_most=1)
        checks.number_field(self, "outside", at_least=0, below=1)

    def __str__(self) -> str:
        return f"{self.releases}, whose noise ends and loses delta {self.lost_in_all:.3g}"

    @property
    def lost_in_all(self) -> float:
        """The probability that one release at least is an output that the neighbor never gives."""
        part = self.releases.sampling_probability
        return lost_in_steps(self.lost, self.releases.steps, sampling_probability=part)

    def smallest_epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon at delta lies, nats: infinite below what is lost, else at most what is enough.

        Raises as `NoisyReleases.smallest_epsilon`.
        """
        delta = quantities.delta(delta)
        if delta < self.lost_in_all:
            return Interval(lower=math.inf, upper=math.inf)
        if not (self.lost or self.outside):
            return self.releases.smallest_epsilon(delta)
        rest = (delta - lost_in_steps(self.lost, self.releases.steps) / _DOWN**2) * (1 - self.outside) * _DOWN
        if rest <= 0:
            return Interval(lower=0.0, upper=math.inf)
        return Interval(lower=0.0, upper=self.releases.smallest_epsilon(rest).upper)
