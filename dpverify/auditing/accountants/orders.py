"""Two-sided values of the smallest epsilon where records come in drawn batches, in an order, or under iteration.

Each is about replacing one record, and about Gaussian noise. What is released is everything, but for `HiddenIterates`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from dpverify import checks
from dpverify.auditing.accountants.references import between_floats, exact, gaussian_excess, two_sided
from dpverify.errors import InvalidArgumentError
from dpverify.extras import require_module
from dpverify.ledger.records import Interval
from dpverify.privacy import quantities
from dpverify.privacy.batch_sampling import SampledBatch, sampled_batches

_TAIL = 1e-15
"""Probability of the numbers of copies that the instance with replacement leaves out, in all its steps."""
_WIDEST = 1e-2
_MIXTURE_CELLS = 1_000  # dp-accounting looks for each by itself


def _above_zero(delta: float) -> float:
    delta = quantities.delta(delta)
    allowed = "a number in (0, 1): at delta 0, Gaussian noise is private for no finite epsilon"
    checks.require(delta != 0, "delta", delta, allowed)
    return delta


def _checked(self: Any, *counts: str) -> None:
    """Check the noise and some counts of releases."""
    checks.number_field(self, "noise_multiplier", at_least=0.05, at_most=1e6)
    for name in counts:
        checks.whole_field(self, name, at_most=10**6)


@dataclass(frozen=True)
class DrawnBatches:
    """Adaptive releases of sums over batches of a fixed size, each drawn anew and uniformly.

    The smallest epsilon over all data and all adaptive choices lies between that of one instance (all other records at
    one end, from dp-accounting's mixtures, rounded in favor of privacy) and the dominating pair (`SampledBatches`).

    Attributes:
        noise_multiplier: standard deviation over the distance by which replacing one drawn record moves a sum.
        n: records.
        batch: records in a batch.
        steps: how many releases.
        replacement: draw each record of a batch anew from all n.

    Raises `InvalidArgumentError` for anything outside of these ranges.
    """

    noise_multiplier: float
    n: int
    batch: int
    steps: int = 1
    replacement: bool = False

    def __post_init__(self) -> None:
        _checked(self, "steps")
        checked = SampledBatch(self.n, self.batch, 1 / self.noise_multiplier, self.replacement)
        object.__setattr__(self, "n", checked.n)
        object.__setattr__(self, "batch", checked.batch)

    def __str__(self) -> str:
        how = "with" if self.replacement else "without"
        count = f"{self.steps} releases" if self.steps > 1 else "one release"
        return (
            f"Gaussian noise {self.noise_multiplier:g}, {count}, "
            f"{self.batch} of {self.n} records drawn {how} replacement"
        )

    def smallest_epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon at delta lies, nats. Raises `InvalidArgumentError` for a delta outside (0, 1)."""
        delta = _above_zero(delta)
        instance = self.instance().smallest_epsilon(delta)
        part = SampledBatch(
            self.n, self.batch, math.nextafter(1 / self.noise_multiplier, math.inf), self.replacement
        )
        bound: Any = part if self.steps == 1 else sampled_batches((part, self.steps))
        upper = float(bound.epsilon_at(delta))
        return Interval(lower=min(instance.lower, upper), upper=upper)

    def instance(self) -> _Instance:
        """The instance alone, as a reference."""
        return _Instance(self)

    def _instance(self, *, pessimistic: bool) -> Any:
        """Sum over k of P[drawn k times] N(k / noise, 1) against N(0, 1); the far tail counts as k = 0."""
        require_module("The epsilon of sampled batches", "dp_accounting")
        from dp_accounting.pld import privacy_loss_distribution as pld
        from scipy import stats

        law = (
            stats.binom(self.batch, 1 / self.n) if self.replacement else stats.bernoulli(self.batch / self.n)
        )
        last = 1
        while self.replacement and last < self.batch and law.sf(last) * self.steps > _TAIL:
            last += 1
        counts = np.arange(1, last + 1)
        chances = [float(law.pmf(k)) for k in counts.tolist()]
        counts, chances = counts[np.array(chances) > 0], [p for p in chances if p > 0]
        if sum(chances) < 1:
            chances, counts = [1 - math.fsum(chances), *chances], np.append(0, counts)
        options = {"pessimistic_estimate": pessimistic, "use_connect_dots": pessimistic}
        if last == 1:
            return pld.from_gaussian_mechanism(
                self.noise_multiplier,
                sampling_prob=float(law.pmf(1)),
                value_discretization_interval=_WIDEST / max(self.steps, 10),
                **options,
            )
        reach = min(10 / self.noise_multiplier + 0.5 / self.noise_multiplier**2, 500.0)
        p = 1 - float(law.pmf(0))
        reach = math.log1p(p * math.expm1(reach))
        return pld.from_mixture_gaussian_mechanism(
            self.noise_multiplier,
            counts.astype(float).tolist(),
            chances,
            value_discretization_interval=max(reach / _MIXTURE_CELLS, _WIDEST / self.steps),
            **options,
        )


@dataclass(frozen=True)
class _Instance:
    """All other records at one end: what no accountant can go below, though it may not be the worst case."""

    drawn: DrawnBatches

    def __str__(self) -> str:
        return f"{self.drawn} (an instance)"

    def smallest_epsilon(self, delta: float) -> Interval:
        """Where its smallest epsilon at a delta in (0, 1) lies, nats."""
        return two_sided(
            lambda pessimistic: self.drawn._instance(pessimistic=pessimistic),
            _above_zero(delta),
            self.drawn.steps,
        )


@dataclass(frozen=True)
class Passes:
    """Passes over n records, one record a step, every step's sum released with noise.

    In a fixed order a record is used once in each pass: a closed form. In an order that is shuffled anew and hidden,
    the fixed order is a bound from above; from below it is the event that any of a pass's n steps is large, for other
    records that do not move the sums.

    Attributes:
        noise_multiplier: standard deviation over the distance by which replacing the record moves its step.
        n: records, and steps in a pass.
        passes: how many; 1 where shuffled.
        shuffled: whether the order is drawn uniformly and hidden.

    Raises `InvalidArgumentError` for anything outside of these ranges.
    """

    noise_multiplier: float
    n: int
    passes: int = 1
    shuffled: bool = False

    def __post_init__(self) -> None:
        _checked(self, "n", "passes")
        if self.shuffled and self.passes != 1:
            raise InvalidArgumentError("passes", self.passes, "1 where the order is shuffled")

    def __str__(self) -> str:
        order = "a shuffled" if self.shuffled else "a fixed"
        count = f"{self.passes} passes" if self.passes > 1 else "one pass"
        return f"Gaussian noise {self.noise_multiplier:g}, {count} over {self.n} records in {order} order"

    def smallest_epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon at delta lies, nats; rigorous.

        Raises `InvalidArgumentError` for a delta outside (0, 1).
        """
        delta = _above_zero(delta)
        noise = self.noise_multiplier
        fixed = between_floats(
            lambda epsilon: gaussian_excess(arb(self.passes).sqrt() / exact(noise), epsilon, delta)
        )
        if not self.shuffled:
            return fixed
        # any threshold gives a valid bound; a bound that falls with epsilon is bisected to neighboring floats
        best = 0.0
        for threshold in np.linspace(0.0, 6.0 + 1 / noise, 61).tolist():
            excess = partial(self._excess, threshold, delta)
            best = max(best, between_floats(excess).lower)
        return Interval(lower=min(best, fixed.lower), upper=fixed.upper, rigorous=True)

    def _excess(self, threshold: float, delta: float, epsilon: float) -> arb:
        """P(S) - e^epsilon Q(S) - delta, S being that some step exceeds a threshold."""
        t, mu = exact(threshold), 1 / exact(self.noise_multiplier)
        below, moved = (1 - (x / arb(2).sqrt()).erfc() / 2 for x in (t, t - mu))
        p, q = 1 - below ** (self.n - 1) * moved, 1 - below**self.n
        return p - exact(epsilon).exp() * q - exact(delta)


@dataclass(frozen=True)
class HiddenIterates:
    """The last of T iterates w <- contraction w + (what a record adds) + noise; the others are hidden.

    With maps that are affine both laws are Gaussian: a closed form, which noisy iteration's bounds cannot go below.

    Attributes:
        noise_multiplier: standard deviation of a step over the distance by which replacing its record moves it.
        steps: T.
        used: the step, from 1, at which the replaced record is used.
        contraction: by which a step multiplies, in (0, 1].

    Raises `InvalidArgumentError` for anything outside of these ranges.
    """

    noise_multiplier: float
    steps: int
    used: int = 1
    contraction: float = 1.0

    def __post_init__(self) -> None:
        _checked(self, "steps")
        checks.whole_field(self, "used", at_most=self.steps)
        checks.number_field(self, "contraction", above=0, at_most=1)

    def __str__(self) -> str:
        return (
            f"Gaussian noise {self.noise_multiplier:g}, last of {self.steps} iterates, record in step {self.used}, "
            f"contraction {self.contraction:g}"
        )

    def smallest_epsilon(self, delta: float) -> Interval:
        """Where the smallest epsilon at delta lies, nats: between neighboring floats.

        Raises `InvalidArgumentError` for a delta outside (0, 1).
        """
        delta = _above_zero(delta)

        def excess(epsilon: float) -> arb:
            c = exact(self.contraction)
            square = c**2
            variance = arb(self.steps) if self.contraction == 1 else (1 - square**self.steps) / (1 - square)
            mu = c ** (self.steps - self.used) / (exact(self.noise_multiplier) * variance.sqrt())
            return gaussian_excess(mu, epsilon, delta)

        return between_floats(excess)
