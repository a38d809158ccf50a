"""Noisy projected gradient descent on all records, accounted for exactly: the yardstick of the papers' algorithms.

A step moves by the gradient of the mean risk, of which one record is 1/n. The bound on the risk of the last iterate is
that of Zamani and Glineur (2023) and of Liu and Zhou (2024), whose recursion is evaluated at the steps that are made:
with steps that fall linearly to 0 it loses no logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from dpverify.algorithms.conditions import admitted, check_lipschitz, normalized_start, reach, too_small
from dpverify.algorithms.contract import Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import Count, Epsilon, NotNegative, Positive, Proper
from dpverify.algorithms.promises import StatedQueries, StatedRisk, words
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import FloatArray, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, ApproxDP
from dpverify.privacy.mixtures import smallest_noise_multiplier
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness, StatedStep, StatedStructure
from dpverify.running.foresight import CALL_LIMIT, USUAL_CALL
from dpverify.running.progress import told
from dpverify.running.randomness import Array

_FEWEST_STEPS, _MOST_STEPS = 16, 4096
_WORTH_IT = 0.99
"""Twice as many steps are taken as long as the bound on the risk falls to this part of itself."""


@dataclass(frozen=True)
class FullBatchDescent(Weakenable):
    """T times w <- Proj(w - eta_t (grad F(w) + N(0, sigma^2 I))), F being the mean risk; the last point is released.

    The noise is the least with which T Gaussian steps are (epsilon, delta)-DP together, sigma = sqrt(T) s / (n mu) with
    the gradient sensitivity s of the loss. The steps fall linearly, eta_t ~ T + 1 - t; their sum is `stretch` times the
    one at which the bound on the risk is least, but no step is above half of 1 / beta for beta-smooth losses. All of
    this follows from n, the dimension, epsilon, delta and the constants of the problem.

    Guarantee (replace-one, both directions): mu-GDP, by composition of Gaussian steps, which is exact; every state may
    be released.

    Assumptions: L-Lipschitz losses for records in the unit ball, a bounded set; for the risk, convexity.

    Attributes:
        problem: loss and constraint set.
        epsilon: in nats, above 0.
        delta: in (0, 1).
        steps: T; None: a power of two, at most 4096, from which on twice as many lower the bound by less than 1 %, and
            with which no step has to be shortened; fewer where n and the dimension let foresee that a run with as many
            would be refused by default.
        stretch: of the sum of the steps, dimensionless. Bounds expect the farthest minimizer in the worst direction, so
            that longer steps do better than bounds say: 1.5 costs a twelfth of the bound.
        noise_multiplier: noise over L2 sensitivity of the T steps together; None: the least.
        start: w_1 in the constraint set, d numbers; the set's center if None.
        withdraw_guarantee: run even if the guarantee does not hold; there is then none, and `withdrawn` says why.

    Examples:
        >>> from dpverify.algorithms.yardstick import FullBatchDescent
        >>> from dpverify.problems import Ball, Logistic, Problem, load
        >>> from dpverify.running import run
        >>> data = load("breast-cancer")
        >>> descent = FullBatchDescent(Problem(Logistic(), Ball(30, 1.0)), epsilon=1.0, delta=1e-5)
        >>> stated = descent.guarantees(data.n)
        >>> print(stated.headline, round(stated.sharpest.guarantee.mu, 3))
        (1, 1e-05)-DP (replace-one) 0.268
        >>> print(descent.risk_bound(data.n))
        expected excess mean empirical risk at most 0.0787
        >>> run(descent, data, runs=5, seed=0).points.shape
        (5, 30)
    """

    problem: Problem
    epsilon: Epsilon
    delta: Proper
    steps: Count | None = None
    stretch: Positive = 1.5
    noise_multiplier: NotNegative | None = None
    start: Sequence[float] | None = None
    withdraw_guarantee: bool = False

    id = "yardstick.full-batch"

    @property
    def seconds_a_call(self) -> float:
        """Of one record in a pass over all of them."""
        return 2e-8 + 2e-9 * self.problem.constraint.dimension

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 1.0, 1e-5, steps=3),
            "asked": lambda: cls(at.curved, at.epsilon, at.delta),
        }

    def __post_init__(self) -> None:
        """Refuse a problem without a Lipschitz constant or a diameter."""
        super().__post_init__()
        check_lipschitz(self.problem)
        if not math.isfinite(self.problem.constraint.diameter):
            raise InvalidArgumentError("problem", self.problem, "a bounded constraint set")
        object.__setattr__(self, "start", normalized_start(self.start, self.problem.constraint))

    @property
    def least_multiplier(self) -> float:
        """Noise over L2 sensitivity from which on one Gaussian step is (epsilon, delta)-DP."""
        return _least_multiplier(self.epsilon, self.delta)

    @property
    def multiplier(self) -> float:
        """In use."""
        return self.least_multiplier if self.noise_multiplier is None else self.noise_multiplier

    def step_count(self, n: int) -> int:
        """T for n records."""
        n = whole_number("n", n)
        if self.steps is not None:
            return self.steps
        steps = _FEWEST_STEPS
        bound = self._bound(n, steps)
        most = min(_MOST_STEPS, CALL_LIMIT * USUAL_CALL / (n * self.seconds_a_call))
        while 2 * steps <= most:
            better = self._bound(n, 2 * steps)
            if better > _WORTH_IT * bound and self._first(n, steps) <= self._longest:
                break
            steps, bound = 2 * steps, better
        return steps

    def noise_stddev(self, n: int) -> float:
        """sigma, of each coordinate of the noise that is added to the mean gradient, in loss over length."""
        return self._stddev(n, self.step_count(n))

    def rates(self, n: int) -> FloatArray:
        """The steps eta_1 to eta_T in length^2 over loss, shape (T,)."""
        steps = self.step_count(n)
        return self._rate(n, steps) * np.arange(steps, 0.0, -1.0)

    def _stddev(self, n: int, steps: int) -> float:
        return math.sqrt(steps) * self.multiplier * self.problem.constants.gradient_sensitivity / n

    def _rate(self, n: int, steps: int) -> float:
        """The last step, which the first one is T times."""
        return min(self._first(n, steps), self._longest) / steps

    def _first(self, n: int, steps: int) -> float:
        """The first step, before it is shortened."""
        total = (
            self.stretch
            * reach(self.start, self.problem.constraint)
            * math.sqrt(steps)
            / (2 * math.sqrt(self._moment(n, steps)))
        )
        return 2 * total / (steps + 1)

    @property
    def _longest(self) -> float:
        smoothness = self.problem.constants.smoothness
        return 0.5 / smoothness if 0 < smoothness < math.inf else math.inf

    def _moment(self, n: int, steps: int) -> float:
        """What takes the place of a second moment of the noise where steps are short, in loss^2 over length^2."""
        known, noise = self.problem.constants, self._stddev(n, steps) * math.sqrt(self._dimension)
        if math.isfinite(known.smoothness) and noise > 0:
            return noise**2
        return (2 * known.lipschitz_constant + noise) ** 2

    @property
    def _dimension(self) -> int:
        return self.problem.constraint.dimension

    def _bound(self, n: int, steps: int) -> float:
        """On the expected excess mean risk of the last point, in units of the loss."""
        known, rate = self.problem.constants, self._rate(n, steps)
        rates, sums = rate * np.arange(steps, 0.0, -1.0), rate * _comparison(steps)
        noise = self._stddev(n, steps) * math.sqrt(self._dimension)
        moments = np.full(steps, (2 * known.lipschitz_constant + noise) ** 2)
        if rates[0] * known.smoothness < 1:
            moments = np.minimum(moments, noise**2 / (1 - known.smoothness * rates))
        return float(
            reach(self.start, self.problem.constraint) ** 2 / (2 * sums[0])
            + np.sum(rates**2 * moments / sums) / 2
        )

    def risk_bound(self, n: int) -> StatedRisk:
        """The bound on the last point, for any convex losses.

        One step brings the next point q_(t+1) closer to any u of the set than the last one was: eta_t times its
        excess over u is at most half of the fall of the squared distance, plus eta_t^2 V_t / 2. With u the average z_t
        of the minimizer and the points so far, with weights v_1 <= v_2 <= ..., and each step counted v_t^2 times, the
        distances telescope, since w_t - z_t is v_(t-1) / v_t times w_t - z_(t-1). The v_t = 1 / A_t leave the last
        point alone on the left.
        """
        n = whole_number("n", n)
        most = self.problem.constants.lipschitz_constant * self.problem.constraint.diameter
        found = min(self._bound(n, self.step_count(n)), most)
        return StatedRisk(found, total=False, **words("yardstick.full-batch/risk"))

    def stability(self, n: int) -> float | None:
        """A step on the mean of smooth convex losses expands nothing, and its n-th part is the replaced record's."""
        constants, rates = self.problem.constants, self.rates(n)
        if not float(rates[0]) * constants.smoothness <= 2:
            return None
        return constants.gradient_sensitivity * float(np.sum(rates)) / n

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """All records' gradients and a projection a step."""
        n, steps = whole_number("n", n), self.step_count(n)
        gradients = words("yardstick.full-batch/queries", steps=steps, n=n)
        projections = words("yardstick.full-batch/projections", steps=steps)
        return (
            StatedQueries("gradient", n * steps, **gradients),
            StatedQueries("projection", steps, **projections),
        )

    def _voids(self, n: int) -> tuple[str, ...]:
        return too_small(
            "the noise multiplier",
            self.noise_multiplier,
            self.least_multiplier,
            ", the smallest that is proved",
        )

    def _guaranteed(self, n: int) -> Guarantees:
        """(epsilon, delta)-DP, and the GDP behind it."""
        claim = ApproxDP(self.epsilon, self.delta)
        stated = (
            promised("yardstick.full-batch/privacy", one, conditions=self.problem.conditions, claim=claim)
            for one in (claim, GDP(1 / self.multiplier))
        )
        headline, sharpest = stated
        return Guarantees(headline, sharpest=sharpest)

    def structure(self, data: Dataset) -> StatedStructure | None:
        """The steps, which draw nothing but their noise; None without noise."""
        data = admitted(self, data)
        stddev, problem = self.noise_stddev(data.n), self.problem
        if stddev == 0:
            return None

        def step(rate: float) -> StatedStep:
            def move(states: Array, rng: np.random.Generator) -> Array:
                return states - rate * problem.mean_gradient(states, data)

            # a gradient step on a convex function moves no two points apart
            known = 1.0 if rate * problem.constants.smoothness <= 2 else math.inf
            return StatedStep(move, rate * stddev, known)

        assert self.start is not None
        return StatedStructure(self.start, tuple(map(step, self.rates(data.n).tolist())), problem.constraint)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        data = admitted(self, data)
        data.check_features(self._dimension)
        data, constraint = data.as_namespace(rng.xp), self.problem.constraint
        stddev, rates = self.noise_stddev(data.n), self.rates(data.n)
        shape = (runs, self._dimension)
        points = rng.xp.zeros(shape, dtype=rng.xp.float64) + rng.xp.asarray(self.start)[None, :]
        for rate in told(rates.tolist()):
            moved = self.problem.mean_gradient(points, data)
            moved += stddev * rng.normal(shape, "noise")
            points = constraint.project(points - rate * moved, overwrite=True)
        steps = len(rates)
        return Output(points, gradient_queries=steps * data.n, projections=steps)


@cache
def _least_multiplier(epsilon: float, delta: float) -> float:
    return smallest_noise_multiplier(epsilon, delta)


@cache
def _comparison(steps: int) -> FloatArray:
    """A_t^2 for the steps T, T - 1, ..., 1, shape (T,): A_T = 1, and A_t (A_t - A_(t+1)) is the step."""
    last = 1.0
    found = [last]
    for size in range(2, steps + 1):
        last = (last + math.sqrt(last * last + 4 * size)) / 2
        found.append(last)
    squares: FloatArray = np.square(found[::-1])
    squares.flags.writeable = False
    return squares
