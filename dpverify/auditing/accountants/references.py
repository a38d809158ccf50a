"""Two-sided values of the smallest epsilon at a delta, against which accountants are held.

One Gaussian or Laplace release, and any number of unsampled Gaussian ones, have closed forms: they are evaluated in
balls (Arb) until two neighboring floats are on either side. Sampled Gaussian ones are enclosed in whole numbers
(`enclosure`). All else is a privacy loss distribution of dp-accounting, rounded once against and once in favor of
privacy; its Fourier transforms are floats, for which an allowance is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from flint import arb, ctx, fmpq

from dpverify import checks
from dpverify.auditing.accountants.enclosure import CELLS, FEWEST_CELLS, MOST_CELLS, SampledGaussianReleases
from dpverify.errors import InvalidArgumentError
from dpverify.extras import require_module
from dpverify.ledger.records import Interval
from dpverify.privacy import GDP, Adjacency, Guarantee, composition, quantities

_PRECISIONS = (128, 256, 512, 1024, 4096)
_TRUNCATED = 1e-13
"""Probability that dp-accounting may cut off in its tails, counted against both bounds."""
_LARGEST_LOSS = 500.0
_FEWEST_CELLS, _MOST_CELLS = 5_000, 100_000
"""Cells of one release's loss distribution."""
_WIDEST = 1e-2
"""Sum over all releases of a cell's width, which bounds what rounding in favor of privacy takes; nats."""


@dataclass(frozen=True)
class NoisyReleases:
    """Adaptive releases of a sum or mean with noise, each of all records or of a Poisson sample.

    Attributes:
        noise: its law. The Laplace mechanism releases one number.
        noise_multiplier: its standard deviation (Gaussian) or scale (Laplace) over the sensitivity, L2 or L1, of a
            release under the adjacency.
        steps: how many releases.
        sampling_probability: with which each record is in a release, independently (Poisson); 1 for all records, at
            least 1e-9 with Gaussian noise.
        adjacency: which data sets are neighbors; add-or-remove-one where records are sampled.
        cells: of the loss of a sampled Gaussian release, at most; more cost time and narrow the interval.

    Raises `InvalidArgumentError` for anything outside of these ranges.
    """

    noise: Literal["gaussian", "laplace"]
    noise_multiplier: float
    steps: int = 1
    sampling_probability: float = 1.0
    adjacency: Adjacency = Adjacency.ADD_REMOVE_ONE
    cells: int = CELLS

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not isinstance(self.noise, str) or self.noise not in ("gaussian", "laplace"):
            raise InvalidArgumentError("noise", self.noise, "gaussian or laplace")
        checks.number_field(self, "noise_multiplier", at_least=0.01, at_most=1e6)
        checks.whole_field(self, "steps", at_most=10**6)
        least = 1e-9 if self.noise == "gaussian" else math.ulp(0.0)
        checks.number_field(self, "sampling_probability", at_least=least, at_most=1)
        checks.of_kind("adjacency", self.adjacency, Adjacency, "a member of Adjacency")
        if self.sampling_probability < 1 and self.adjacency is not Adjacency.ADD_REMOVE_ONE:
            raise InvalidArgumentError(
                "adjacency", self.adjacency.value, f"{Adjacency.ADD_REMOVE_ONE}, where records are sampled"
            )
        checks.whole_field(self, "cells", at_least=FEWEST_CELLS, at_most=MOST_CELLS)

    def __str__(self) -> str:
        sampled = (
            "" if self.sampling_probability == 1 else f", Poisson sampling {self.sampling_probability:g}"
        )
        count = f"{self.steps} releases" if self.steps > 1 else "one release"
        return f"{self.noise.capitalize()} noise {self.noise_multiplier:g}, {count}{sampled}"

    def smallest_epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon at delta lies, nats; rigorous but for Laplace noise sampled or composed.

        Between neighboring floats where there is a closed form: it is above `lower` unless both are equal, and at most
        `upper`. Raises `InvalidArgumentError` for a delta outside [0, 1), and 0 where no epsilon is finite.
        """
        delta = quantities.delta(delta)
        checks.require(delta < 1, "delta", delta, "a number in [0, 1)")
        if delta == 0 and self.noise == "gaussian":
            raise InvalidArgumentError(
                "delta",
                delta,
                "a number above 0: at delta 0, Gaussian noise is private for no finite epsilon",
            )
        p = self.sampling_probability

        def excess(epsilon: float) -> arb:
            scale = exact(self.noise_multiplier)
            if self.noise == "gaussian":
                return gaussian_excess(arb(self.steps).sqrt() / scale, epsilon, delta)
            if p == 1:
                # the loss steps / scale + 2 log(1 - delta), the second term for one release only
                lost = 2 * (1 - exact(delta)).log() if delta else 0
                return arb(self.steps) / scale + lost - exact(epsilon)
            # the loss steps log(1 + p (e^(1/scale) - 1)), attained by the loss of a record that is added
            gain = (1 / scale).exp() - 1
            return self.steps * (1 + exact(p) * gain).log() - exact(epsilon)

        if delta == 0 or (p == 1 and (self.noise == "gaussian" or self.steps == 1)):
            return between_floats(excess)
        if self.noise == "gaussian":
            sampled = SampledGaussianReleases(self.noise_multiplier, p, self.steps, self.cells)
            return sampled.smallest_epsilon(delta)
        return two_sided(lambda pessimistic: _composed(self, pessimistic=pessimistic), delta, self.steps)

    def guarantee(self) -> Guarantee:
        """The upper bound on the whole privacy profile; GDP where noise is Gaussian and each release has all records.

        Examples:
            >>> from dpverify.auditing.accountants import NoisyReleases
            >>> str(NoisyReleases("gaussian", 2.0, steps=4).guarantee())
            '1-GDP'
        """
        if self.sampling_probability == 1 and self.noise == "gaussian":
            return GDP(math.nextafter(math.sqrt(self.steps) / self.noise_multiplier, math.inf))
        require_module("The guarantee of sampled or Laplace releases", "dp_accounting")
        from dp_accounting.pld import privacy_loss_distribution as pld

        scale = self.noise_multiplier
        laplace = self.noise == "laplace"
        # a release's losses reach about this far
        reach = min(1 / scale if laplace else 10 / scale + 0.5 / scale**2, _LARGEST_LOSS)
        make = pld.from_laplace_mechanism if laplace else pld.from_gaussian_mechanism
        single = make(
            scale,
            pessimistic_estimate=True,
            sampling_prob=self.sampling_probability,
            value_discretization_interval=max(min(1e-4, reach / _FEWEST_CELLS), reach / _MOST_CELLS),
        )
        return composition.profile_of(single.self_compose(self.steps), releases=self.steps, label=str(self))


def exact(value: float) -> arb:
    """A float as a ball of no width."""
    return arb(fmpq(*value.as_integer_ratio()))


def gaussian_excess(mu: arb, epsilon: float, delta: float) -> arb:
    """The profile of N(0, 1) against N(mu, 1) at epsilon, minus delta: Balle and Wang 2018, Theorem 8."""
    e, root2 = exact(epsilon), arb(2).sqrt()
    near, far = (e / mu - mu / 2) / root2, (e / mu + mu / 2) / root2
    return (near.erfc() - e.exp() * far.erfc()) / 2 - exact(delta)


def between_floats(excess: Callable[[float], arb]) -> Interval:
    """Neighboring floats around the zero of a falling function; 0 if it is not positive there."""
    if not _positive(excess, 0.0):
        return Interval(lower=0.0, upper=0.0, rigorous=True)
    low, high = 0.0, 1.0
    while _positive(excess, high):
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _positive(excess, middle) else (low, middle)
    return Interval(lower=low, upper=high, rigorous=True)


def _positive(excess: Callable[[float], arb], at: float) -> bool:
    """Whether it is above 0, decided by balls; a zero that no precision tells from 0 is none."""
    for precision in _PRECISIONS:
        with ctx.workprec(precision):
            value = excess(at)
        if value > 0 or value <= 0:
            return bool(value > 0)
    return False


def two_sided(single: Callable[[bool], Any], delta: float, steps: int) -> Interval:
    """The smallest epsilon at `delta` of one release's loss distribution, composed `steps` times, from both sides.

    `single` makes it, rounded against privacy where its argument is True, in favor of it otherwise.
    """
    found = []
    for pessimistic in (False, True):
        distribution = single(pessimistic)
        distribution = distribution.self_compose(steps) if steps > 1 else distribution
        slack = composition.allowance(distribution, steps) + _TRUNCATED
        at = delta - slack if pessimistic else min(delta + slack, 1 - 1e-12)
        found.append(float(distribution.get_epsilon_for_delta(at)) if at > 0 else math.inf)
    return Interval(lower=max(found[0], 0.0), upper=max(found[1], found[0]))


def _composed(releases: NoisyReleases, *, pessimistic: bool) -> Any:
    require_module("The epsilon of sampled Laplace releases", "dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution as pld

    scale, p = releases.noise_multiplier, releases.sampling_probability
    # a release's losses reach about this far
    reach = math.log1p(p * math.expm1(min(1 / scale, _LARGEST_LOSS)))
    width = max(min(reach / _FEWEST_CELLS, _WIDEST / releases.steps), reach / _MOST_CELLS)
    return pld.from_laplace_mechanism(
        scale,
        pessimistic_estimate=pessimistic,
        use_connect_dots=pessimistic,
        sampling_prob=p,
        value_discretization_interval=width,
    )
