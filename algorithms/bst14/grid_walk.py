"""The grid walk on a cube (Bassily, Smith, Thakurta, 2014, Lemma 6.1), and how many steps it needs.

Losses are summed over the records in this paper.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from dpverify.algorithms.conditions import admitted, given_up, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import CountOrZero, Positive
from dpverify.algorithms.promises import SEARCHED_STEPS, StatedQueries, StatedRisk, StatedSamplingError
from dpverify.algorithms.samplers.cube_sampling import CubeDensity, CubeSampler, Simulation, counted
from dpverify.algorithms.samplers.grid_steps import GridPlan, Proof
from dpverify.algorithms.samplers.sampling_regions import fixed_region, is_cube
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import budget, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.privacy import Condition, PureDP, StatedGuarantee
from dpverify.problems import Box, Dataset, Linear, Problem
from dpverify.running import Output, Randomness


def check_steep(problem: object) -> None:
    """Refuse a problem on which no sampler of this family can run.

    Raises:
        InvalidArgumentError: if it is not a `Problem`, or its loss has no Lipschitz constant above 0.
    """
    if not isinstance(problem, Problem):
        raise InvalidArgumentError("problem", problem, "a dpverify.problems.Problem")
    lipschitz = problem.constants.lipschitz_constant
    if not 0 < lipschitz < math.inf:
        raise InvalidArgumentError("problem", problem, "a loss with a finite Lipschitz constant above 0")


def walk_privacy(epsilon: float, *sources: str, conditions: tuple[Condition, ...]) -> StatedGuarantee:
    """Pure differential privacy of a walk, by the statements with these ids, the first of which prints it."""
    claim = PureDP(epsilon)
    origin = AsPrinted(sources[0], f"{claim}", "every epsilon, with the proven number of steps")
    return replace_one(claim, *sources, conditions=conditions, origin=origin)


def walk_error(distance: float, source: str, conditions: str = "") -> StatedSamplingError:
    """How near a walk of the proven number of steps is to its target."""
    return StatedSamplingError(
        "multiplicative",
        distance,
        (source,),
        conditions,
        formula="log-density within epsilon~ of exp(-scale * risk)",
        origin=Corrected(
            source,
            "log-density within epsilon~, after O( ) steps",
            "the number of steps is the proven one, with its constant",
            "every n",
        ),
    )


def walk_queries(values: float, steps: int) -> StatedQueries:
    """The evaluations of a walk, at most."""
    return StatedQueries(
        "value",
        values,
        exact=False,
        sources=("bst14.lem6.1",),
        formula=f"n (T + 1), T = {steps:,} steps",
        origin=Corrected(
            "bst14.lem6.1", "O( ) steps", "the proven number of steps, with its constant", "every n"
        ),
    )


def expected_excess(dimension: int, scale: float, distance: float, source: str) -> StatedRisk:
    """Expected excess of a density within a log-ratio `distance` of exp(-scale * total risk): e^distance p / scale.

    For the exact density, t^p times the integral of exp(-t (risk - minimum)) over a convex set grows with t (shrink
    the set towards a minimizer), and its logarithm's derivative is p / t minus the expected excess.
    """
    factor = math.exp(distance) if distance < 700 else math.inf
    return StatedRisk(factor * dimension / scale, total=True, sources=(source,))


def largest_true(holds: Callable[[int], bool], highest: int) -> int:
    """The largest n in [0, highest] for which a monotone predicate holds, 0 if none."""
    low, high = 0, 1
    while high <= highest and holds(high):
        low, high = high, 2 * high
    high = min(high, highest + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


@dataclass(frozen=True)
class GridWalk(Weakenable):
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

    id: ClassVar[str] = "bst14.alg-cube"
    statements: ClassVar[tuple[str, ...]] = ("bst14.lem6.1", "bst14.lem6.6", "bst14.thm3.1")
    unstated: ClassVar[Mapping[str, str]] = {"parameters": SEARCHED_STEPS}

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
        fixed_region(self.problem.constraint)
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

    def plan(self, n: int) -> GridPlan:
        """The grid for n records."""
        lipschitz = self.scale * whole_number("n", n, at_least=1) * self.problem.constants.lipschitz_constant
        region = fixed_region(self.problem.constraint)
        return GridPlan(
            region.dimension, region.edge, lipschitz, self.distance, cells=self.cells, proof=self.proof
        )

    def step_count(self, n: int) -> int:
        """How many steps a run takes; the proved number unless `steps` is set.

        Raises:
            NotGuaranteedError: if no number is proved on this grid and none was given.
        """
        plan = self.plan(n)
        if self.steps is not None:
            return self.steps
        refuse_or_withdraw(self.id, plan.withdrawn(math.inf), False)
        return int(plan.steps)

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why the guarantee does not hold for n records; empty if it does."""
        reasons = self.plan(n).withdrawn(math.inf if self.steps is None else self.steps)
        return (*reasons, *given_up(self.withdraw_guarantee))

    def guarantees(self, n: int) -> Guarantees:
        """Pure differential privacy for n records; none if the steps are too few."""
        if self.withdrawn(n):
            return Guarantees()
        size = self.problem.constants.lipschitz_constant * self.problem.constraint.diameter
        epsilon = 2 * self.scale * size + 2 * self.distance
        sources = ("bst14.thm3.1", "bst14.lem6.6", "bst14.lem6.1")
        return Guarantees(walk_privacy(epsilon, *sources, conditions=self.problem.conditions))

    def gradient_query_count(self, n: int) -> int:
        """0: the walk needs values only."""
        return 0 * whole_number("n", n, at_least=1)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Each step that is not lazy evaluates its proposal, n values, if that is in the cube; so does the start."""
        values = n * (self.step_count(n) + 1)
        return (walk_queries(values, self.step_count(n)),)

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """Lemma 6.1; None if the steps are too few."""
        if self.withdrawn(n):
            return None
        return walk_error(self.distance, "bst14.lem6.1")

    def risk_bound(self, n: int) -> StatedRisk | None:
        """e^distance p / scale; None if the steps are too few."""
        if self.withdrawn(n):
            return None
        return expected_excess(self.problem.constraint.dimension, self.scale, self.distance, "bst14.thm3.4.2")

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with the exponent and the walk's distance times the factor, so that the grid stays what it is."""
        return dataclasses.replace(self, scale=factor * self.scale, distance=factor * self.distance)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, p)."""
        data = admitted(self, data)
        plan, region = self.plan(data.n), fixed_region(self.problem.constraint)
        density = CubeDensity(
            self.problem, data.as_namespace(rng.xp), region, self.scale, 0.0, plan.lipschitz, 0.0
        )
        sampler = CubeSampler(density, plan, self.step_count(data.n), self.simulation, runs)
        points, calls = sampler.draw(rng, region, runs)
        # a point of the last cell may round to a hair outside
        return counted(region.project(points), calls)


def proven_steps_table(
    records: Iterable[int], dimensions: Iterable[int], *, epsilon: float = 1.0
) -> list[tuple[int, int, int, int]]:
    """(n, p, cells on an edge, proved steps) of `GridWalk.for_privacy`, on cubes.

    The table depends neither on the cube's size nor on the loss: scale * L * ||C|| is epsilon / 6.
    """
    rows = []
    for p in dimensions:
        walk = GridWalk.for_privacy(Problem(Linear(), Box.cube(p, 1.0)), epsilon=epsilon)
        for n in records:
            plan = walk.plan(n)
            rows.append((n, p, plan.cells_per_side, int(plan.steps)))
    return rows


def largest_feasible(dimension: int, steps: float, *, epsilon: float = 1.0, highest: int = 10**6) -> int:
    """The largest n for which `GridWalk.for_privacy` needs no more than a number of steps; 0 if there is none."""
    walk = GridWalk.for_privacy(Problem(Linear(), Box.cube(dimension, 1.0)), epsilon=epsilon)
    return largest_true(lambda n: walk.plan(n).steps <= steps, highest)
