"""Noisy stochastic gradient descent with random records (Bassily, Smith, Thakurta, 2014, Algorithm 1).

Losses are summed over the records in this paper, so a step's gradient is n times one random record's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpverify.algorithms.conditions import admitted, check_lipschitz, normalized_start, reach, too_small
from dpverify.algorithms.contract import Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.on_device import DeviceIterates
from dpverify.algorithms.parameters import Count, Epsilon, NotNegative, Positive, Proper
from dpverify.algorithms.promises import StatedQueries, StatedRisk, words
from dpverify.algorithms.steps.last_iterate import falling_rates, strongly_convex_rates
from dpverify.algorithms.steps.power_sums import power_sums
from dpverify.algorithms.steps.projected_steps import Iterates, begin, records
from dpverify.algorithms.steps.single_run import seconds_alone
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import ApproxDP
from dpverify.privacy.subsampling import subsampled_gaussian, subsampled_gaussian_noise
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness, StatedStep, StatedStructure
from dpverify.running.randomness import Array

_DRAWN_TOGETHER = 4096
"""Steps whose rates are made together, and, for few runs, whose records are drawn in one call."""


@dataclass(frozen=True)
class NoisyGradientDescent(Weakenable):
    """bst14, Algorithm 1: n^2 - 1 times theta <- Proj(theta - eta(t) (n grad l(theta; d_t) + N(0, sigma^2 I))).

    d_t is uniform on the records, drawn with replacement, anew in every step and run. The noise variance is
    sigma^2 = c L^2 n^2 ln(n/delta) ln(1/delta) / epsilon^2, where the paper leaves the constant c open.

    Guarantee (replace-one, both directions): Theorem 2.1, (epsilon, delta)-DP, for every c at least
    `provable_constant(n)`.

    Assumptions: L-Lipschitz losses for records in the unit ball; neither smoothness nor convexity.

    Attributes:
        problem: loss and constraint set; the set must be bounded for the Lipschitz rule.
        epsilon: in nats, above 0.
        delta: in (0, 1).
        step_size: `lipschitz` for eta(t) = ||C|| / sqrt(t (n^2 L^2 + p sigma^2)), ||C|| being the diameter
            and p the dimension; `strongly-convex` for eta(t) = 1 / (Delta n t), Delta being the strong
            convexity of a loss.
        noise_constant: c, dimensionless; None: the smallest that the accountant can prove for the n at hand.
        steps: how many updates; n^2 - 1 if None.
        start: theta_1 in the constraint set, p numbers; the set's center if None.
        withdraw_guarantee: run even if the guarantee does not hold; there is then none, and `withdrawn` says
            why.
        rate_factor: of all rates of the Lipschitz rule; 1 as printed. `best_rate_factor(n)` makes what is proved of the
            risk smallest, and leaves the guarantee as it is.

    Examples:
        >>> from dpverify.algorithms.bst14 import NoisyGradientDescent
        >>> from dpverify.problems import Ball, Logistic, Problem, load
        >>> from dpverify.running import run
        >>> data = load("breast-cancer", n=10, d=2)
        >>> descent = NoisyGradientDescent(Problem(Logistic(), Ball(2, 1.0)), epsilon=1.0, delta=1e-5)
        >>> print(descent.guarantees(data.n).headline)
        (1, 1e-05)-DP (replace-one)
        >>> outputs = run(descent, data, runs=5, seed=0)
        >>> outputs.points.shape, int(outputs.gradient_queries[0])  # n^2 points, one random record between two
        ((5, 2), 99)
    """

    problem: Problem
    epsilon: Epsilon
    delta: Proper
    step_size: Literal["lipschitz", "strongly-convex"] = "lipschitz"
    noise_constant: NotNegative | None = None
    steps: Count | None = None
    start: Sequence[float] | None = None
    withdraw_guarantee: bool = False
    rate_factor: Positive = 1.0

    id = "bst14.alg1"
    seconds_a_call = property(seconds_alone)
    hands_over = "all runs"
    statements = (
        "bst14.thm2.1",
        "bst14.thm2.4.1",
        "bst14.thm2.4.2",
        "bst14.lem2.2",
        "bst14.lem2.3",
        "bst14.eq2",
        "bst14.lem2.5",
        "bst14.lem2.6",
    )

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 1.0, 1e-5, steps=3),
            "logistic": lambda: cls(at.curved, 1.0, 1e-5, steps=3),
            "strongly convex": lambda: cls(at.mean, 1.0, 1e-5, "strongly-convex", steps=3),
            "asked": lambda: cls(at.mean, at.epsilon, at.delta),
        }

    def __post_init__(self) -> None:
        """Refuse a step-size rule that does not fit the problem."""
        super().__post_init__()
        constraint = self.problem.constraint
        check_lipschitz(self.problem)
        if self.step_size == "lipschitz" and not math.isfinite(constraint.diameter):
            raise InvalidArgumentError(
                "problem", self.problem, "a bounded constraint set, for the Lipschitz rule"
            )
        if self.step_size == "strongly-convex" and not self.problem.constants.strong_convexity > 0:
            raise InvalidArgumentError("problem", self.problem, "a strongly convex loss, for that rule")
        if self.step_size == "strongly-convex" and self.rate_factor != 1:
            raise InvalidArgumentError("rate_factor", self.rate_factor, "1, for the strongly convex rule")
        object.__setattr__(self, "start", normalized_start(self.start, constraint))

    def step_count(self, n: int) -> int:
        """n^2 - 1, as the loop is printed, unless `steps` is set."""
        return whole_number("n", n, at_least=2) ** 2 - 1 if self.steps is None else self.steps

    def scale(self, n: int) -> float:
        """L^2 n^2 ln(n/delta) ln(1/delta) / epsilon^2: the noise variance for c = 1, loss^2 over length^2."""
        lipschitz = self.problem.constants.lipschitz_constant
        logarithms = math.log(n / self.delta) * math.log(1 / self.delta)
        return (lipschitz * n / self.epsilon) ** 2 * logarithms

    def provable_constant(self, n: int) -> float:
        """The smallest c for which accounting proves (epsilon, delta)-DP at this n and number of steps."""
        multiplier = subsampled_gaussian_noise(n, self.step_count(n), self.epsilon, self.delta)
        # one replaced record moves n times a gradient by at most 2 n L
        return (2 * multiplier * n * self.problem.constants.lipschitz_constant) ** 2 / self.scale(n)

    def noise_stddev(self, n: int) -> float:
        """sigma, of each coordinate of the noise added to n times a gradient, in loss over length."""
        constant = self.provable_constant(n) if self.noise_constant is None else self.noise_constant
        return math.sqrt(constant * self.scale(n))

    def rate(self, n: int, t: int) -> float:
        """eta(t) for t from 1, in length^2 over loss."""
        if self.step_size == "strongly-convex":
            return 1 / (self.problem.constants.strong_convexity * n * t)
        return self.rate_factor * self.problem.constraint.diameter / math.sqrt(t * self._second_moment(n))

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """A gradient and a projection a step."""
        whole_number("n", n)
        steps = self.step_count(n)
        row = words(f"bst14.alg1/queries{'' if self.steps is None else ' of set steps'}", steps=steps)
        return (StatedQueries("gradient", steps, **row), StatedQueries("projection", steps, **row))

    def best_rate_factor(self, n: int) -> float:
        """The `rate_factor` with the smallest bound on the risk, from public quantities alone, dimensionless."""
        constraint, norm = self.problem.constraint, math.sqrt(self._second_moment(n))
        schedule, lipschitz = (
            falling_rates(self.step_count(n) + 1),
            n * self.problem.constants.lipschitz_constant,
        )
        best = schedule.best_factor(distance=reach(self.start, constraint), norm=norm, lipschitz=lipschitz)
        return best * norm / constraint.diameter

    def risk_bound(self, n: int) -> StatedRisk:
        """The expected excess risk of the last of T = `step_count(n)` + 1 points (see `steps.last_iterate`).

        `theorem` has what Lemmas 2.5 and 2.6 print, G^2 being n^2 L^2 + p sigma^2: 2 ||C|| G (2 + ln T) / sqrt(T) for
        the Lipschitz rule with the factor 1, and 17 G^2 (1 + ln T) / (n Delta T) for strongly convex losses.
        """
        whole_number("n", n, at_least=2)
        points, moment = self.step_count(n) + 1, self._second_moment(n)
        diameter, distance = self.problem.constraint.diameter, reach(self.start, self.problem.constraint)
        if self.step_size == "lipschitz":
            bound, printed = self.risk_on(n, diameter, distance), self.theorem_on(n, diameter)
        else:
            convexity = n * self.problem.constants.strong_convexity
            bound = strongly_convex_rates(points).last(
                1 / convexity,
                distance=distance,
                diameter=diameter,
                norm=math.sqrt(moment),
                lipschitz=n * self.problem.constants.lipschitz_constant,
            )
            printed = 17 * moment * (1 + math.log(points)) / (convexity * points)
        theorem = printed if self.rate_factor == 1 else None
        return StatedRisk(bound, total=True, theorem=theorem, **words(f"bst14.alg1/{self.step_size} risk"))

    def stability(self, n: int) -> float | None:
        """The sum of the rates times the gradient sensitivity; None if a step is longer than 2 / beta.

        Each step draws the replaced record with probability 1/n, and steps on smooth convex losses are no expansions
        (Hardt, Recht and Singer 2016).
        """
        constants = self.problem.constants
        if not n * self.rate(n, 1) * constants.smoothness <= 2:
            return None
        rates = power_sums(1, self.step_count(n), 0.5 if self.step_size == "lipschitz" else 1.0)
        return constants.gradient_sensitivity * self.rate(n, 1) * float(rates)

    def risk_on(self, n: int, diameter: float, distance: float) -> float:
        """The same for the Lipschitz rule on a set of a given diameter, in units of total loss.

        No point of the set is farther than `distance` from the start.
        """
        norm, lipschitz = math.sqrt(self._second_moment(n)), n * self.problem.constants.lipschitz_constant
        factor = self.rate_factor * diameter / norm
        schedule = falling_rates(self.step_count(n) + 1)
        return schedule.last(factor, distance=distance, diameter=diameter, norm=norm, lipschitz=lipschitz)

    def theorem_on(self, n: int, diameter: float) -> float:
        """What Lemma 2.5 prints for the Lipschitz rule on such a set, for the factor 1, in units of total loss."""
        points = self.step_count(n) + 1
        return 2 * diameter * math.sqrt(self._second_moment(n)) * (2 + math.log(points)) / math.sqrt(points)

    def _second_moment(self, n: int) -> float:
        """G^2 = n^2 L^2 + p sigma^2, (2), in loss^2 over length^2."""
        dimension = self.problem.constraint.dimension
        return (n * self.problem.constants.lipschitz_constant) ** 2 + dimension * self.noise_stddev(n) ** 2

    def _voids(self, n: int) -> tuple[str, ...]:
        if self.noise_constant is None:
            return ()
        least, words = self.provable_constant(n), ", the smallest that is proved"
        return too_small("the noise constant", self.noise_constant, least, words)

    def _guaranteed(self, n: int) -> Guarantees:
        """Theorem 2.1 for n records and the accountant's whole profile; none if the noise is too small."""
        claim, conditions = ApproxDP(self.epsilon, self.delta), self.problem.conditions
        multiplier = self.noise_stddev(n) / (n * self.problem.constants.gradient_sensitivity)
        profile = subsampled_gaussian(n, self.step_count(n), multiplier)
        sharpest = promised("bst14.alg1/profile", profile, conditions=conditions, claim=claim)
        theorem = replace(sharpest, guarantee=claim, origin=None)
        return Guarantees(theorem, sharpest=sharpest, as_printed=theorem)

    def structure(self, data: Dataset) -> StatedStructure | None:
        """The steps, each on a record that is drawn anew; None without noise."""
        data = admitted(self, data)
        n = data.n
        stddev = self.noise_stddev(n)
        if stddev == 0:
            return None
        features, labels = records(data, self.problem, np)
        gradient = self.problem.loss.gradient

        def step(rate: float) -> StatedStep:
            def move(states: Array, rng: np.random.Generator) -> Array:
                drawn = rng.integers(0, n, len(states))
                return states - rate * n * gradient(states, features[drawn], labels[drawn])

            return StatedStep(move, rate * stddev, draws=True)

        steps = tuple(step(self.rate(n, t)) for t in range(1, self.step_count(n) + 1))
        assert self.start is not None
        return StatedStructure(self.start, steps, self.problem.constraint)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n >= 2 records; points have shape (runs, p)."""
        data = admitted(self, data)
        iterates = begin(self.problem, rng.xp.asarray(self.start), runs, rng)
        return self.descend(iterates, data, rng=rng)

    def descend(
        self,
        iterates: Iterates | DeviceIterates,
        data: Dataset,
        *,
        rng: Randomness,
        diameter: float | None = None,
    ) -> Output:
        """Take all steps from given iterates, which know what they are projected onto: sets of the given diameter."""
        n = data.n
        features, labels = records(data, self.problem, rng.xp)
        stddev = self.noise_stddev(n)
        first_rate = self.rate(n, 1)
        if diameter is not None and self.step_size == "lipschitz":
            first_rate *= diameter / self.problem.constraint.diameter
        steps = self.step_count(n)
        iterates.expect(steps)
        for first in range(0, steps, _DRAWN_TOGETHER):
            numbers = np.arange(first + 1.0, min(first + _DRAWN_TOGETHER, steps) + 1)
            rates = first_rate / (np.sqrt(numbers) if self.step_size == "lipschitz" else numbers)
            iterates.walk_on_drawn(features, labels, rates=rates, noise_stddev=stddev, scale=n)
        return iterates.output()
