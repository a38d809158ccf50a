"""The grid walk on a cube (Bassily, Smith, Thakurta, 2014, Lemma 6.1), and what all samplers that walk have in common.

Losses are summed over the records in this paper.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
import scipy

from dpverify.algorithms.conditions import admitted, never_refused, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees, given_up, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import CountOrZero, Positive
from dpverify.algorithms.promises import (
    StatedQueries,
    StatedRisk,
    StatedSamplingError,
    missed,
    reasons,
    words,
)
from dpverify.algorithms.samplers.cell_walks import COUNTED
from dpverify.algorithms.samplers.cube_sampling import CubeDensity, CubeSampler, Simulation, Tuning, counted
from dpverify.algorithms.samplers.grid_steps import GridPlan, Proof
from dpverify.algorithms.samplers.sampling_regions import Region, fixed_region, is_cube
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import budget, whole_number
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import Condition, PureDP
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness


def check_steep(problem: object) -> None:
    """Refuse a loss without a finite Lipschitz constant above 0, on which no sampler of this family can run."""
    if not isinstance(problem, Problem):
        raise InvalidArgumentError("problem", problem, "a dpverify.problems.Problem")
    if not 0 < problem.constants.lipschitz_constant < math.inf:
        raise InvalidArgumentError("problem", problem, "a loss with a finite Lipschitz constant above 0")


def expected_excess(dimension: int, scale: float, distance: float) -> StatedRisk:
    """Expected excess of a density within a log-ratio `distance` of exp(-scale * total risk), in units of the loss.

    For the exact density, scale times the excess is stochastically at most Gamma(p, 1) (see `ExponentialMechanism`).
    The worst density within the distance has e^distance times as much where the excess is largest, with the probability
    1 / (e^distance + 1), and e^-distance times as much elsewhere. `theorem` is e^distance p / scale.
    """
    from scipy import stats

    if not distance < 700:
        return StatedRisk(math.inf, total=True, sources=("bst14.thm3.4.2",))
    more, less = math.exp(distance), math.exp(-distance)
    least = stats.gamma.isf(1 / (more + 1), dimension)  # of the largest ones
    of_mean = less + (more - less) * float(stats.gamma.sf(least, dimension + 1))
    found, printed = (part * dimension / scale for part in (of_mean, more))
    return StatedRisk(found, total=True, theorem=printed, sources=("bst14.thm3.4.2",))


class WalkingSampler:
    """Draws from nearly exp(-scale * sum of losses) on C, by walks on a grid in the cube of a region.

    Log-densities are within `distance` of the right ones. Subclasses are dataclasses with these fields.
    """

    lemma: ClassVar[str]
    """The statement that says how near the law is."""

    problem: Problem
    steps: int | None
    simulation: Simulation
    withdraw_guarantee: bool
    extension: Literal["projection", "loss"] = "loss"
    inner_radius: float | None = None
    if TYPE_CHECKING:  # a field in some, a property in others

        @property
        def scale(self) -> float: ...
        @property
        def distance(self) -> float: ...

    @property
    def region(self) -> Region:
        """C, its cube, its inner ball."""
        return fixed_region(self.problem.constraint, self.inner_radius)

    @abstractmethod
    def tuning(self, n: int, region: Region | None = None) -> Tuning:
        """What n records are walked with, on the region or on a given one, which may be one for each run."""

    def plan(self, n: int) -> GridPlan:
        """Each walk's grid for n records."""
        return self.tuning(n).plan

    def repeats(self, n: int) -> int:
        """The largest number of walks a run."""
        return 1

    def step_count(self, n: int) -> int:
        """Steps of one walk; the proved number unless `steps` is set.

        Raises:
            NotGuaranteedError: if no number is proved on this grid and none was given.
        """
        if self.steps is not None:
            return self.steps
        plan, name = self.plan(n), getattr(self, "id", "bst14.alg7")
        refuse_or_withdraw(name, plan.withdrawn(math.inf), False)
        if not math.isfinite(plan.steps):
            raise NotGuaranteedError(
                f"{name} proves no number of steps here that floats hold; ask for a smaller epsilon."
            )
        return int(plan.steps)

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why the guarantee does not hold for n records; empty if it does."""
        return (*self._voids(n), *given_up(self))

    def _voids(self, n: int) -> tuple[str, ...]:
        return self.plan(n).withdrawn(math.inf if self.steps is None else self.steps)

    @property
    def _loss_itself(self) -> bool:
        """Whether the weights are the loss's own, without a Lipschitz extension."""
        return self.region.is_cube or self.extension == "loss"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Of the guarantee: what the problem takes on trust, and that no extension is refused where one is needed."""
        refused = "a Lipschitz extension that is not proved accurately enough is refused"
        return (*(() if self._loss_itself else never_refused(refused)), *self.problem.conditions)

    @property
    def _reached(self) -> float:
        """What is proved of epsilon, nats."""
        size = self.problem.constants.lipschitz_constant * self.problem.constraint.diameter
        return 2 * self.scale * size + 2 * self.distance

    def guarantees(self, n: int) -> Guarantees:
        """Pure differential privacy for n records; none if the steps are too few."""
        if self.withdrawn(n):
            return Guarantees()
        claim, name = PureDP(self._reached), f"{getattr(self, 'id', 'bst14.alg7')}/privacy"
        return Guarantees(promised(name, claim, conditions=self.conditions, claim=claim))

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """A log-density within `distance` of the right one; None if the steps are too few."""
        if self.withdrawn(n):
            return None
        row = words("bst14.walks/sampling error", lemma=self.lemma)
        return StatedSamplingError("multiplicative", self.distance, **row)

    def _has_no_bound(self, n: int) -> bool:
        """Whether the steps are too few."""
        return bool(self.withdrawn(n))

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Of what the walk samples; None if the steps are too few."""
        if self._has_no_bound(n):
            return None
        return expected_excess(self.problem.constraint.dimension, self.scale, self.distance)

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """Gamma(p, 1) over the scale has a larger excess with e^distance times less probability; None as above.

        So beta e^-distance is spent on the tail of the exact law, as in `ExponentialSampling`, and a law within that
        log-ratio has at most beta there. Assumes convex losses on C, and as many steps as are proved.
        """
        beta = missed(probability) * math.exp(-self.distance)
        if self._has_no_bound(n) or not beta > 0:
            return None
        found = float(scipy.special.gammainccinv(self.problem.constraint.dimension, beta)) / self.scale
        return StatedRisk(
            found, total=True, probability=probability, **words("bst14.walks/quantile", lemma=self.lemma)
        )

    def gradient_query_count(self, n: int) -> int | None:
        """0 if no extension is needed; else None, since it depends on the run."""
        whole_number("n", n)
        return 0 if self._loss_itself else None

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Each step that is not lazy evaluates its proposal, n values, if that is in the cube; so does the start.

        What an extension takes has no stated bound.
        """
        whole_number("n", n)
        if not self._loss_itself:
            return ()
        steps = self.step_count(n)
        count = self.repeats(n) * float(n * (steps + 1))
        return (StatedQueries("value", count, exact=False, **words("bst14.walks/queries", steps=steps)),)

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with the exponent and the walk's distance times the factor, so that the grid stays what it is."""
        changed = {"scale": factor * self.scale, "distance": factor * self.distance}
        return dataclasses.replace(self, **changed)  # type: ignore[type-var]

    def sampler(self, data: Dataset, region: Region, runs: int) -> CubeSampler:
        """Algorithm 5's, which draws points of the cube."""
        tuning = self.tuning(data.n, region)
        density = CubeDensity(self.problem, data, tuning, self.withdraw_guarantee)
        return CubeSampler(density, self.step_count(data.n), self.simulation, runs)

    def run_on(self, data: Dataset, region: Region, rng: Randomness, runs: int) -> Output:
        """Run on a region, which may be one for each run."""
        sampler = self.sampler(data.as_namespace(rng.xp), region, runs)
        return boosted(sampler, region, self.repeats(data.n), rng, runs)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, p) and are in C."""
        return self.run_on(admitted(self, data), self.region, rng, runs)


def boosted(sampler: CubeSampler, region: Region, most: int, rng: Randomness, runs: int) -> Output:
    """Algorithm 6's loop: a limited number of samples until one is in C, then a point of the inner ball."""
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
class GridWalk(WalkingSampler, Weakenable):
    """bst14, Lemma 6.1: a point of a cube from nearly the density exp(-scale * sum of losses).

    The lazy grid walk of Applegate and Kannan on cells of side at most distance / (2 eta sqrt(p)), from the central
    cell, then a uniform point of the cell. eta = scale n L. Corrected against the paper: the spacing divides the edge,
    the smallest mass of a cell has exp(-eta tau sqrt(p)), and the walk's relative error is 1 - exp(-mixing); see
    `grid_steps` for the proof of the number of steps.

    Sampling error: log-density within `distance` of the right one, on both sides, if enough steps are taken.

    Guarantee (replace-one, both directions): PureDP(2 scale L ||C|| + 2 distance), by Theorem 3.1 and Lemma 6.6,
    under the same condition. Withdrawn where fewer steps are taken than proved.

    Assumptions: convex, L-Lipschitz losses for records in the unit ball; C is a cube (or an interval). Rounding in
    floating-point arithmetic is not part of the claim.

    Attributes:
        problem: loss and cube.
        scale: inverse temperature, 1 over loss.
        distance: epsilon~, dimensionless.
        steps: of the walk; None: the proven number.
        cells: on an edge; None: as the lemma says.
        proof: which proof of the number of steps, see `GridPlan`.
        simulation: `steps` takes them one by one; `law` computes the law that they have and draws from it;
            `auto` does that where cells are few.
        withdraw_guarantee: run even if the steps are too few; there is then no guarantee, and `withdrawn` says why.
    """

    problem: Problem
    scale: Positive
    distance: Positive
    steps: CountOrZero | None = None
    cells: int | None = None
    proof: Proof = "conductance"
    simulation: Simulation = "auto"
    withdraw_guarantee: bool = False

    id = "bst14.alg-cube"
    lemma: ClassVar[str] = "bst14.lem6.1"
    statements = ("bst14.lem6.1", "bst14.lem6.6", "bst14.thm3.1")
    unstated = reasons("bst14.alg-cube")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls.for_privacy(at.cube, epsilon=1.0),
            "asked": lambda: cls.for_privacy(at.cube, epsilon=at.epsilon),
        }

    def __post_init__(self) -> None:
        """Refuse a set that is not a cube."""
        super().__post_init__()
        check_steep(self.problem)
        if not is_cube(self.problem.constraint):
            raise InvalidArgumentError("problem", self.problem, "a constraint set that is a cube")
        self.plan(1)

    @classmethod
    def for_privacy(cls, problem: Problem, *, epsilon: float) -> Self:
        """For epsilon-DP, split as in Algorithm 7: scale epsilon / (6 L ||C||) and distance epsilon / 3.

        Where C is a cube this is all that Algorithm 7 has to do, and its own distance is eight times smaller.
        """
        budget("epsilon", epsilon)
        check_steep(problem)
        size = problem.constants.lipschitz_constant * problem.constraint.diameter
        if not size > 0:
            raise InvalidArgumentError("problem", problem, "a set of more than one point")
        return cls(problem, epsilon / (6 * size), epsilon / 3)

    def tuning(self, n: int, region: Region | None = None) -> Tuning:
        """The grid for n records."""
        eta = self.scale * whole_number("n", n) * self.problem.constants.lipschitz_constant
        cube, distance = region or self.region, self.distance
        plan = GridPlan(cube.dimension, cube.edge, eta, distance, cells=self.cells, proof=self.proof)
        return Tuning(cube, self.scale, distance, eta, 0.0, plan)
