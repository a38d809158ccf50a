"""Efficient exponential sampling on convex sets (Bassily, Smith, Thakurta, 2014, Algorithms 5, 6 and 7).

Losses are summed over the records in this paper. For localization, each run can sample from its own part of C:
`EfficientExponentialSampling.localized(problem, epsilon=, radius=, shape=)` in this module makes a sampler that is
called as `(data, centers, *, rng, runs)`, see `localized_sampling`.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from dpverify.algorithms.bst14.grid_walk import (
    check_steep,
    expected_excess,
    walk_error,
    walk_privacy,
    walk_queries,
)
from dpverify.algorithms.conditions import admitted, given_up, never_refused, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import Count, CountOrZero, Epsilon, NotNegative, Positive
from dpverify.algorithms.promises import SEARCHED_STEPS, StatedQueries, StatedRisk, StatedSamplingError
from dpverify.algorithms.samplers.cell_walks import COUNTED
from dpverify.algorithms.samplers.cube_sampling import CubeSampler, Simulation, counted
from dpverify.algorithms.samplers.gauge_tuning import (
    GaugeTuning,
    check_extension,
    printed_alpha,
    repeats,
    tune,
)
from dpverify.algorithms.samplers.grid_steps import GridPlan
from dpverify.algorithms.samplers.sampling_regions import Region, fixed_region
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.ledger.origins import Corrected
from dpverify.privacy import Condition
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness

if TYPE_CHECKING:
    from dpverify.algorithms.bst14.localized_sampling import LocalizedSampling


@dataclass(frozen=True)
class _Sampler(Weakenable, ABC):
    """What Algorithms 5 and 6 have in common.

    Attributes:
        problem: a convex loss on a bounded convex set with interior.
        scale: inverse temperature; the density is exp(-scale * sum of losses). 1 over loss.
        distance: epsilon~, dimensionless.
        steps: of each walk; None: the proven number.
        cells: on an edge of the cube; None: as Lemma 6.1 says.
        alpha: of the gauge penalty; None: as printed. The guarantee needs that much.
        extension: `projection` extends the risk from C to the cube by Lemma 6.3; `loss` takes the loss itself there,
            for losses that are convex and L-Lipschitz on all of the cube.
        inner_radius: of a ball about the set's center inside C; needed unless C is a ball or a box.
        simulation: of the walk, see `GridWalk`.
        withdraw_guarantee: run even if the guarantee does not hold; there is then none, and `withdrawn` says why.
    """

    problem: Problem
    scale: Positive
    distance: Positive
    steps: CountOrZero | None = None
    cells: Count | None = None
    alpha: NotNegative | None = None
    extension: Literal["projection", "loss"] = "projection"
    inner_radius: float | None = None
    simulation: Simulation = "auto"
    withdraw_guarantee: bool = False

    id: ClassVar[str]
    statements: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_steep(self.problem)
        check_extension(self.problem, self.region, self.extension)

    @property
    def region(self) -> Region:
        """C, its cube, its inner ball."""
        return fixed_region(self.problem.constraint, self.inner_radius)

    @abstractmethod
    def _inner_distance(self) -> float:
        """epsilon~ of Algorithm 5."""

    def tuning(self, n: int) -> GaugeTuning:
        """Algorithm 5's parameters for n records."""
        return tune(
            self.problem,
            self.region,
            whole_number("n", n, at_least=1),
            self.scale,
            self._inner_distance(),
            alpha=self.alpha,
            cells=self.cells,
            extension=self.extension,
        )

    def plan(self, n: int) -> GridPlan:
        """The walk's grid for n records."""
        return self.tuning(n).plan

    def step_count(self, n: int) -> int:
        """Steps of one walk; the proved number unless `steps` is set."""
        if self.steps is not None:
            return self.steps
        plan = self.plan(n)
        refuse_or_withdraw(self.id, plan.withdrawn(math.inf), False)
        if not math.isfinite(plan.steps):
            raise NotGuaranteedError(
                f"{self.id} proves no number of steps here that floats hold; ask for a smaller epsilon."
            )
        return int(plan.steps)

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why the guarantee does not hold for n records; empty if it does."""
        tuning = self.tuning(n)
        reasons = list(tuning.plan.withdrawn(math.inf if self.steps is None else self.steps))
        least = (
            0.0 if tuning.region.is_cube else printed_alpha(tuning.region, tuning.lipschitz, tuning.distance)
        )
        if self.alpha is not None and not self.alpha >= least * (1 - 1e-12):
            reasons.append(f"alpha = {self.alpha:g} is below {least:g}, which keeps half of the samples in C")
        return (*reasons, *given_up(self.withdraw_guarantee))

    def gradient_query_count(self, n: int) -> int | None:
        """0 if no extension is needed; else None, since it depends on the run."""
        whole_number("n", n, at_least=1)
        return 0 if self.region.is_cube or self.extension == "loss" else None

    def _sampler(self, data: Dataset, rng: Randomness, runs: int) -> tuple[GaugeTuning, CubeSampler]:
        data = admitted(self, data)
        tuning = self.tuning(data.n)
        density = tuning.density(self.problem, data.as_namespace(rng.xp), self.withdraw_guarantee)
        return tuning, CubeSampler(density, tuning.plan, self.step_count(data.n), self.simulation, runs)

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with the exponent and the walk's distance times the factor, so that the grid stays what it is."""
        return dataclasses.replace(self, scale=factor * self.scale, distance=factor * self.distance)

    def _value_queries(self, n: int, walks: int) -> tuple[StatedQueries, ...]:
        """An evaluation takes n values of the loss itself; what the extension takes has no stated bound."""
        if not (self.region.is_cube or self.extension == "loss"):
            return ()
        count = float(walks) * n * (self.step_count(n) + 1)
        return (walk_queries(count, self.step_count(n)),)


@dataclass(frozen=True)
class SamplingInConvexSet(_Sampler):
    """bst14, Algorithm 5: a point of a cube about C, in C with probability at least 1/2.

    The grid walk, at distance epsilon~/2, on exp(-f^ - alpha max(0, gauge - 1)): f^ is the convex Lipschitz extension
    of f = scale * risk, alpha = 3 exp(2 epsilon~) (eta ||C|| + p), and log F is (eta + alpha / r)-Lipschitz.

    Sampling error: given that the point is in C, its log-density is within epsilon~ of that of exp(-f) on C, if enough
    steps are taken (Lemma 6.4).

    Guarantee: none; the paper states no privacy for this step alone.

    Assumptions: convex, L-Lipschitz losses for records in the unit ball, smooth ones for the extension through
    projection; C bounded, with a ball of radius r about its center.
    """

    id: ClassVar[str] = "bst14.alg5"
    statements: ClassVar[tuple[str, ...]] = ("bst14.lem6.4", "bst14.lem6.3", "bst14.lem6.1")
    unstated: ClassVar[Mapping[str, str]] = {
        "risk": "a run may end without a point of C, and has no risk then",
        "parameters": SEARCHED_STEPS,
    }

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.cube, 0.1, 0.5),
            "asked": lambda: cls(at.cube, at.epsilon, 0.5),
        }

    def _inner_distance(self) -> float:
        return self.distance

    def guarantees(self, n: int) -> Guarantees:
        """Empty: the paper states no privacy for this step alone."""
        whole_number("n", n, at_least=1)
        return Guarantees()

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """Lemma 6.4, for the law given that the point is in C; None if it was withdrawn."""
        if self.withdrawn(n):
            return None
        return walk_error(self.distance, "bst14.lem6.4", "given that the point is in C")

    def inside_probability(self, n: int) -> float | None:
        """The point is in C with at least this probability; None if the guarantee was withdrawn."""
        if self.withdrawn(n):
            return None
        return 1.0 if self.region.is_cube else 0.5

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """The queries of one walk."""
        whole_number("n", n, at_least=1)
        return self._value_queries(n, 1)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, p) and may be outside of C."""
        tuning, sampler = self._sampler(data, rng, runs)
        return counted(*sampler.draw(rng, tuning.region, runs))


@dataclass(frozen=True)
class BoostedSampling(_Sampler):
    """bst14, Algorithm 6: Algorithm 5 with epsilon~/4 until its point is in C, at most m times.

    If all m points are outside, the output is uniform on a ball inside C. Its density there is at most a fraction
    exp(epsilon~) - exp(epsilon~/4) of the right one, because 2^-m times the ratio of volumes is so small: so the
    fallback keeps the multiplicative distance. See `repeats` for m, whose logarithms must have base 2.

    Sampling error: log-density within epsilon~ of that of exp(-scale * risk) on C (Lemma 6.5).

    Guarantee (replace-one, both directions): PureDP(2 scale L ||C|| + 2 epsilon~), by Theorem 3.1 and Lemma 6.6.

    Assumptions: those of `SamplingInConvexSet`.
    """

    id: ClassVar[str] = "bst14.alg6"
    statements: ClassVar[tuple[str, ...]] = (
        "bst14.lem6.5",
        "bst14.lem6.4",
        "bst14.lem6.3",
        "bst14.lem6.1",
        "bst14.lem6.6",
    )
    unstated: ClassVar[Mapping[str, str]] = {"parameters": SEARCHED_STEPS}

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.cube, 0.1, 0.5),
            "asked": lambda: cls(at.cube, at.epsilon, 0.5),
        }

    def _inner_distance(self) -> float:
        return self.distance / 4

    def repeats(self, n: int) -> int:
        """m, the largest number of walks."""
        return repeats(self.region, self.tuning(n).lipschitz, self.distance)

    def guarantees(self, n: int) -> Guarantees:
        """Pure differential privacy for n records; none if it was withdrawn."""
        if self.withdrawn(n):
            return Guarantees()
        size = self.problem.constants.lipschitz_constant * self.region.diameter
        epsilon = 2 * self.scale * size + 2 * self.distance
        sources = ("bst14.thm3.1", "bst14.lem6.6", "bst14.lem6.5")
        return Guarantees(walk_privacy(epsilon, *sources, conditions=self.conditions))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Of the guarantee: what the problem takes on trust, and that no extension is refused where one is needed."""
        return *conditions_of_extension(self.region.is_cube, self.extension), *self.problem.conditions

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """Lemma 6.5; None if it was withdrawn."""
        if self.withdrawn(n):
            return None
        return walk_error(self.distance, "bst14.lem6.5")

    def risk_bound(self, n: int) -> StatedRisk | None:
        """e^distance p / scale; None if it was withdrawn."""
        if self.withdrawn(n):
            return None
        return expected_excess(self.region.dimension, self.scale, self.distance, "bst14.thm3.4.2")

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """The queries of at most m walks."""
        return self._value_queries(n, self.repeats(n))

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, p) and are in C."""
        tuning, sampler = self._sampler(data, rng, runs)
        return boosted(sampler, tuning.region, self.repeats(data.n), rng, runs)


def conditions_of_extension(is_cube: bool, extension: str) -> tuple[Condition, ...]:
    """The conditions of a guarantee that rests on a Lipschitz extension from C to a cube about it."""
    if is_cube or extension == "loss":
        return ()
    return never_refused("a Lipschitz extension that is not proved accurately enough is refused")


def boosted(sampler: CubeSampler, region: Region, most: int, rng: Randomness, runs: int) -> Output:
    """Algorithm 6's loop: a limited number of samples until one is in C, then the fallback."""
    xp = rng.xp
    points = np.zeros((runs, region.dimension))
    total = np.zeros((runs, COUNTED), dtype=np.int64)
    left = np.arange(runs)
    for _ in range(most):
        if left.size == 0:
            break
        here = region if region.select is None else region.select(xp.asarray(left))
        drawn, calls = sampler.draw(rng, here, left.size)
        inside = np.asarray(here.contains(drawn))
        if here.is_cube:
            # a point of the last cell may round to a hair outside
            drawn = here.project(drawn)
        points[left[inside]] = np.asarray(drawn)[inside]
        total[left] += np.asarray(calls)
        left = left[~inside]
    if left.size:
        here = region if region.select is None else region.select(xp.asarray(left))
        points[left] = np.asarray(here.uniform_in_inner_ball(rng, left.size))
    return counted(xp.asarray(points), total)


@dataclass(frozen=True)
class EfficientExponentialSampling(Weakenable):
    """bst14, Algorithm 7: Algorithm 6 with scale epsilon / (6 L ||C||) and epsilon~ = epsilon / 3.

    Guarantee (replace-one, both directions): Theorem 3.4 (1), epsilon-DP: the exponential mechanism with a third of
    epsilon, and twice a third for the sampler's distance. Only if each walk takes as many steps as are proved enough;
    else it is refused or withdrawn. On cubes that number grows as n^2 log n at first and n^3 later, with p^3 and p^2;
    on other sets it is some thousand times larger, since the gauge penalty makes log F steep.

    Risk: within exp(epsilon/3) 6 p L ||C|| / epsilon of the minimum in expectation, see `grid_walk.expected_excess`.

    Assumptions: see `SamplingInConvexSet`. C need not be in isotropic position: the radius of an inner ball takes the
    place of 1.

    Attributes:
        problem: a convex loss on a bounded convex set with interior.
        epsilon: in nats.
        steps: of each walk; None: the proven number.
        cells: on an edge of the cube; None: as Lemma 6.1 says.
        extension: `projection`, or `loss` for losses that are convex and L-Lipschitz on all of the cube.
        inner_radius: of a ball about the set's center inside C; needed unless C is a ball or a box.
        simulation: of the walk, see `GridWalk`.
        withdraw_guarantee: run even if the guarantee does not hold; there is then none, and `withdrawn` says why.
    """

    problem: Problem
    epsilon: Epsilon
    steps: CountOrZero | None = None
    cells: Count | None = None
    extension: Literal["projection", "loss"] = "projection"
    inner_radius: float | None = None
    simulation: Simulation = "auto"
    withdraw_guarantee: bool = False

    id: ClassVar[str] = "bst14.alg7"
    statements: ClassVar[tuple[str, ...]] = (
        "bst14.thm3.4.1",
        "bst14.thm3.4.2",
        "bst14.thm3.4.3",
        "bst14.alg7-budget",
        "bst14.lem6.6",
        "bst14.lem6.5",
    )
    unstated: ClassVar[Mapping[str, str]] = {"parameters": SEARCHED_STEPS}

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.cube, 1.0),
            "asked": lambda: cls(at.cube, at.epsilon),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        fixed_region(self.problem.constraint, self.inner_radius)
        _ = self.boosted

    @property
    def boosted(self) -> BoostedSampling:
        """Algorithm 6 with its parameters."""
        lipschitz = self.problem.constants.lipschitz_constant
        if not 0 < lipschitz < math.inf:
            raise InvalidArgumentError(
                "problem", self.problem, "a loss with a finite Lipschitz constant above 0"
            )
        return BoostedSampling(
            self.problem,
            self.epsilon / (6 * lipschitz * self.problem.constraint.diameter),
            self.epsilon / 3,
            self.steps,
            self.cells,
            None,
            self.extension,
            self.inner_radius,
            self.simulation,
            self.withdraw_guarantee,
        )

    @staticmethod
    def localized(
        problem: Problem,
        *,
        epsilon: float,
        radius: float,
        shape: Literal["ball", "cube"] = "cube",
        steps: int | None = None,
        extension: Literal["projection", "loss"] = "projection",
        inner_radius: float | None = None,
        simulation: Simulation = "auto",
        withdraw_guarantee: bool = False,
    ) -> LocalizedSampling:
        """Algorithm 7 on each run's own part of C, for Algorithm 4; see `LocalizedSampling`."""
        from dpverify.algorithms.bst14.localized_sampling import LocalizedSampling

        return LocalizedSampling(
            problem, epsilon, radius, shape, steps, extension, inner_radius, simulation, withdraw_guarantee
        )

    def plan(self, n: int) -> GridPlan:
        """Each walk's grid for n records."""
        return self.boosted.plan(n)

    def step_count(self, n: int) -> int:
        """Steps of one walk."""
        return self.boosted.step_count(n)

    def repeats(self, n: int) -> int:
        """The largest number of walks."""
        return self.boosted.repeats(n)

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why the guarantee does not hold for n records; empty if it does."""
        return self.boosted.withdrawn(n)

    def guarantees(self, n: int) -> Guarantees:
        """Theorem 3.4 (1) for n records; none if the steps are too few."""
        if self.withdrawn(n):
            return Guarantees()
        sources = ("bst14.thm3.4.1", "bst14.alg7-budget")
        stated = walk_privacy(self.epsilon, *sources, conditions=self.boosted.conditions)
        return Guarantees(stated, as_printed=stated)

    def gradient_query_count(self, n: int) -> int | None:
        """0 if no extension is needed; else None, since it depends on the run."""
        return self.boosted.gradient_query_count(n)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Value queries of at most m walks, where no extension is needed."""
        return self.boosted.queries(n)

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """A third of epsilon from the density of Algorithm 2 with epsilon / 3; None if it was withdrawn."""
        return self.boosted.sampling_error(n)

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Theorem 3.4 (2) with its constant; None if it was withdrawn."""
        stated = self.boosted.risk_bound(n)
        if stated is None:
            return None
        origin = Corrected(
            "bst14.thm3.4.2",
            "O(p L ||C|| / epsilon)",
            "the constant 6 exp(epsilon/3) is proved for every convex loss",
            "every n and epsilon",
        )
        return dataclasses.replace(stated, formula="exp(epsilon/3) 6 p L ||C|| / epsilon", origin=origin)

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with the exponent for n records times the factor."""
        return dataclasses.replace(self, epsilon=factor * self.epsilon)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, p) and are in C."""
        return self.boosted(admitted(self, data), rng=rng, runs=runs)
