"""The alternating sampler (Gopi, Lee, Liu, 2022, Algorithm 1) with explicit constants.

It samples a strongly log-concave density through value queries of single records' losses alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from dpverify.algorithms.conditions import admitted, refuse_or_withdraw
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.gll22.regularized_density import RegularizedDensity
from dpverify.algorithms.gll22.rejection_inner_step import (
    DensitySampler,
    InnerKernel,
    inner_queries,
    inner_spread,
    step_size_for,
    truncation_error,
)
from dpverify.algorithms.parameters import Count, Positive, Proper
from dpverify.algorithms.promises import StatedQueries, reasons
from dpverify.checks import whole_number
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness
from dpverify.running.foresight import foresee

_SPREADS = (1e-3, 2.0)
_LONGEST_STEP = 1e300
"""As good as an infinite one, and a double."""


class SamplingSchedule(NamedTuple):
    """Step size eta (length^2), number of steps T, and the proven total variation after them.

    `mixing` is what is left of the starting point, `truncation` what the inner steps add.
    """

    step_size: float
    steps: int
    mixing: float
    truncation: float

    @property
    def total_variation(self) -> float:
        """The sum of both, at most 1."""
        return min(1.0, self.mixing + self.truncation)


def mixing_error(density: RegularizedDensity, step_size: float, steps: int) -> float:
    """Bound on the total variation after exact steps from the anchor, for every data set.

    Synchronously coupled, y - y' = x - x'. The inner law is (kappa + 1/eta)-strongly log-concave, and another y
    adds a ||y - y'|| / eta-Lipschitz function to its potential, so the W2 distance after the step is at most
    ||y - y'|| / (1 + eta kappa) (gll22, Corollary 4.3 with Theorem 6.5, as in the proof of Theorem 6.7). After T - 1
    steps W2 is at most W_0 / (1 + eta kappa)^(T - 1), and the next Gaussian turns it into total variation: N(x, eta I)
    and N(x', eta I) are at most ||x - x'|| / sqrt(2 pi eta) apart. W_0^2 is E ||x - c||^2 under the target. This is
    gll22, Theorem 5.2, with its constants; it does not need eta <= 1 / kappa.
    """
    decay = (steps - 1) * math.log1p(step_size * density.strong_convexity)
    start = math.log(density.root_mean_square_distance) - 0.5 * math.log(2 * math.pi * step_size)
    return math.exp(min(0.0, start - decay))


def steps_needed(density: RegularizedDensity, step_size: float, mixing: float) -> int:
    """The smallest T for which `mixing_error` is at most `mixing`, a number above 0."""
    start = math.log(density.root_mean_square_distance) - 0.5 * math.log(2 * math.pi * step_size)
    excess = start - math.log(mixing)
    return max(1, 1 + math.ceil(excess / math.log1p(step_size * density.strong_convexity)))


@cache
def schedule(density: RegularizedDensity, accuracy: float) -> SamplingSchedule:
    """The longest step whose T truncation errors take half of the accuracy; mixing has the other half."""

    def plan(spread: float) -> SamplingSchedule:
        step_size = step_size_for(density, spread)
        # where psi alone is steep enough, a step so long that the first one mixes
        # not squared before it is divided: the accuracy may be tiny
        relative = density.root_mean_square_distance / (accuracy / 2)
        longest = min(relative * relative / (2 * math.pi), _LONGEST_STEP)
        step_size = min(step_size, max(longest, 1 / density.strong_convexity))
        steps = steps_needed(density, step_size, accuracy / 2)
        truncation = steps * truncation_error(min(spread, inner_spread(density, step_size)))
        return SamplingSchedule(step_size, steps, mixing_error(density, step_size, steps), truncation)

    low, high = _SPREADS
    if plan(high).truncation <= accuracy / 2:
        return plan(high)
    while plan(low).truncation > accuracy / 2:
        low /= 2
    while high - low > 1e-4 * high:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if plan(middle).truncation <= accuracy / 2 else (low, middle)
    return plan(low)


@dataclass(frozen=True)
class AlternatingSampler(DensitySampler):
    """gll22, Algorithm 1: T times y <- x + sqrt(eta) N(0, I), x ~ exp(-V(x) - ||x - y||^2 / (2 eta)) on K.

    V = k (F(x) + (mu / 2) ||x - c||^2), F the mean loss. The inner sample is Algorithm 2's, so each step costs O(1)
    values of single records' losses in expectation, whatever n and d. Runs do not wait for one another: in a
    round every run makes one attempt at its current step. The start is the anchor, which depends on no data.

    No guarantee of privacy of its own; `RegularizedExponentialMechanism` states what follows from the density and
    the sampling error.

    The paper hides constants in Theorems 5.2 and 5.6; here step size and T are those for which `mixing_error` and T
    times `truncation_error` prove the accuracy, for every data set of records in the unit ball.

    Assumptions: convex losses that are Lipschitz on K (a ridge aside), records in the unit ball; V strongly convex.

    Attributes:
        problem: losses on a ball, box, simplex or all space.
        inverse_temperature: k, one over loss.
        regularization: mu, loss over length^2.
        accuracy: total variation that must not be exceeded, in (0, 1).
        anchor: c in K; the set's center if None.
        step_size: eta, length^2; None: chosen for the accuracy.
        steps: T; None: as many as the accuracy needs at that step size.
        withdraw_guarantee: run even if the accuracy is not proved.
        expanded: sample a linear and quadratic part of the losses with the Gaussian (see `regularized_density`): the
            same density to the same accuracy, by longer and fewer steps, for one gradient of every record.
    """

    problem: Problem
    inverse_temperature: float
    regularization: float
    accuracy: Proper = 1e-3
    anchor: Sequence[float] | None = None
    step_size: Positive | None = None
    steps: Count | None = None
    withdraw_guarantee: bool = False
    expanded: bool = False

    id = "gll22.alg1"
    statements = ("gll22.thm5.2", "gll22.lem5.5", "gll22.thm5.6", "gll22.cor4.3", "gll22.figure1")
    unstated = reasons("gll22.alg1")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.curved, 2.0, 1.0, 0.3),
            "asked": lambda: cls(at.curved, at.epsilon, 1.0, at.delta, expanded=True),
        }

    def __post_init__(self) -> None:
        """Refuse a step size and a number of steps that do not give the accuracy."""
        super().__post_init__()
        refuse_or_withdraw(self.id, self._voids(1), self.withdraw_guarantee)

    @cached_property
    def schedule(self) -> SamplingSchedule:
        """Step size, steps and proven errors, with what the user overrode."""
        density = self.density
        chosen = schedule(density, self.accuracy)
        if self.step_size is None and self.steps is None:
            return chosen
        step_size = chosen.step_size if self.step_size is None else self.step_size
        steps = steps_needed(density, step_size, self.accuracy / 2) if self.steps is None else self.steps
        spread = inner_spread(density, step_size)
        each = truncation_error(spread) if spread <= _SPREADS[1] else 1.0
        mixing = mixing_error(density, step_size, steps)
        return SamplingSchedule(step_size, steps, mixing, min(1.0, steps * each))

    def _voids(self, n: int) -> tuple[str, ...]:
        found = self.schedule
        if found.total_variation <= self.accuracy * (1 + 1e-12):
            return ()
        return (
            f"{found.steps} steps of size {found.step_size:.4g} prove a total variation of "
            f"{found.mixing:.3g} + {found.truncation:.3g} only, above {self.accuracy:g}",
        )

    @property
    def total_variation(self) -> float:
        """Theorems 5.2 and 5.6 with explicit constants: bound on the distance from the right law."""
        return self.schedule.total_variation

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """T times 4 e / (1 - error of a step) value queries, in expectation; whatever n.

        Where losses are expanded, the gradient of each record at 0 besides.
        """
        whole_number("n", n)
        found = self.schedule
        bound = found.steps * inner_queries(min(1.0, found.truncation / found.steps))
        return self._values(bound, n, steps=found.steps)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d).

        Raises:
            InvalidArgumentError: if the data do not fit the problem.
            TooCostlyError: if it would make more value queries than `running.call_limit` allows.
        """
        data = admitted(self, data)
        # a bound on the expectation, and within a factor 4 e of it: each step asks at least once
        foresee(max(one.count for one in self.queries(data.n)), f"{self.id} on {data.n} records")
        xp, density, (step_size, steps, *_) = rng.xp, self.density, self.schedule
        kernel = InnerKernel(density, step_size, data, xp)
        start = xp.asarray(density.anchor_point, dtype=xp.float64)[None, :]
        y = start + math.sqrt(step_size) * rng.normal((runs, start.shape[1]), "forward noise")
        return kernel.sample(y, steps, rng)
