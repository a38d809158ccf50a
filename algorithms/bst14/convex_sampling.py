"""Efficient exponential sampling on convex sets (Bassily, Smith, Thakurta, 2014, Algorithms 5, 6 and 7).

Losses are summed over the records in this paper. For localization, each run can sample from its own part of C, with
`LocalizedSampling`, which is called as `(data, centers, *, rng, runs)`.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from dpverify.algorithms.bst14.grid_walk import WalkingSampler, check_steep
from dpverify.algorithms.conditions import admitted
from dpverify.algorithms.contract import Algorithm, Guarantees, replace_one
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import (
    Count,
    CountOrZero,
    Epsilon,
    NotNegative,
    Positive,
    check_parameters,
)
from dpverify.algorithms.promises import StatedRisk, StatedSamplingError, reasons, words
from dpverify.algorithms.samplers.cube_sampling import (
    Simulation,
    Tuning,
    check_extension,
    counted,
    printed_alpha,
    repeats,
    tune,
)
from dpverify.algorithms.samplers.sampling_regions import (
    Region,
    fixed_region,
    is_cube,
    local_balls,
    local_cubes,
)
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import positive, require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import Condition, ConditionKind, PureDP
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array


class _GaugeSampler(WalkingSampler):
    """Algorithm 6: Algorithm 5 with epsilon~/4 until its point is in C, at most m times."""

    lemma: ClassVar[str] = "bst14.lem6.5"
    _parts: ClassVar[int] = 4
    """Algorithm 5 gets one of so many parts of epsilon~."""
    cells: int | None = None
    alpha: float | None = None

    def tuning(self, n: int, region: Region | None = None) -> Tuning:
        """Algorithm 5's parameters for n records, whose region may be one for each run."""
        return tune(
            self.problem,
            self.region if region is None else region,
            whole_number("n", n),
            self.scale,
            self.distance / self._parts,
            alpha=self.alpha,
            cells=self.cells,
            extension=self.extension,
        )

    def repeats(self, n: int) -> int:
        """m, the largest number of walks a run."""
        tuning = self.tuning(n)
        return repeats(tuning.region, tuning.lipschitz, self.distance)

    def _voids(self, n: int) -> tuple[str, ...]:
        reasons, tuning = super()._voids(n), self.tuning(n)
        if self.alpha is None or tuning.region.is_cube:
            return reasons
        least = printed_alpha(tuning.region, tuning.lipschitz, tuning.distance)
        if self.alpha >= least * (1 - 1e-12):
            return reasons
        return (*reasons, f"alpha = {self.alpha:g} is below {least:g}, which keeps half of the samples in C")


@dataclass(frozen=True)
class _Sampler(_GaugeSampler, Weakenable):
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

    def __post_init__(self) -> None:
        super().__post_init__()
        check_steep(self.problem)
        check_extension(self.problem, self.region, self.extension)

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {"": lambda: cls(at.cube, 0.1, 0.5), "asked": lambda: cls(at.cube, at.epsilon, 0.5)}


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

    id = "bst14.alg5"
    statements = ("bst14.lem6.4", "bst14.lem6.3", "bst14.lem6.1")
    unstated = reasons("bst14.alg5")
    lemma: ClassVar[str] = "bst14.lem6.4"
    _parts: ClassVar[int] = 1

    def repeats(self, n: int) -> int:
        """One walk."""
        return 1

    # the paper states no privacy for this step alone
    guarantees = Algorithm.guarantees

    def _has_no_bound(self, n: int) -> bool:
        """Nor where the region is not C itself, as a run may end outside of C."""
        return super()._has_no_bound(n) or not self.region.is_cube

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """Lemma 6.4, for the law given that the point is in C; None if it was withdrawn."""
        stated = super().sampling_error(n)
        return stated and dataclasses.replace(stated, conditions="given that the point is in C")

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, p) and may be outside of C."""
        data = admitted(self, data).as_namespace(rng.xp)
        return counted(*self.sampler(data, self.region, runs).draw(rng, self.region, runs))


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

    id = "bst14.alg6"
    statements = ("bst14.lem6.5", "bst14.lem6.4", "bst14.lem6.3", "bst14.lem6.1", "bst14.lem6.6")
    unstated = reasons("bst14.alg6")


class _ThirdOfEpsilon(_GaugeSampler):
    """Algorithm 7: a third of epsilon for the exponent, and twice a third for the sampler's distance."""

    epsilon: float

    @property
    def diameter(self) -> float:
        """||C||, a length."""
        return self.problem.constraint.diameter

    @property
    def scale(self) -> float:
        """Inverse temperature epsilon / (6 L diameter), 1 over loss."""
        return self.epsilon / (6 * self.problem.constants.lipschitz_constant * self.diameter)

    @property
    def distance(self) -> float:
        """epsilon~ = epsilon / 3 of Algorithm 6."""
        return self.epsilon / 3

    @property
    def _reached(self) -> float:
        return self.epsilon


@dataclass(frozen=True)
class EfficientExponentialSampling(_ThirdOfEpsilon, Weakenable):
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

    id = "bst14.alg7"
    statements = (
        "bst14.thm3.4.1",
        "bst14.thm3.4.2",
        "bst14.thm3.4.3",
        "bst14.alg7-budget",
        "bst14.lem6.6",
        "bst14.lem6.5",
    )
    unstated = reasons("bst14.alg7")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {"": lambda: cls(at.cube, 1.0), "asked": lambda: cls(at.cube, at.epsilon)}

    def __post_init__(self) -> None:
        super().__post_init__()
        region = self.region
        check_steep(self.problem)
        positive("scale", self.scale)
        check_extension(self.problem, region, self.extension)

    def guarantees(self, n: int) -> Guarantees:
        """Theorem 3.4 (1) for n records; none if the steps are too few."""
        stated = super().guarantees(n)
        return Guarantees(stated.headline, as_printed=stated.headline) if stated else stated

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Theorem 3.4 (2) with its constant; None if it was withdrawn."""
        stated = super().risk_bound(n)
        return stated and dataclasses.replace(stated, **words("bst14.alg7/risk"))

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with the exponent for n records times the factor."""
        return dataclasses.replace(self, epsilon=factor * self.epsilon)


@dataclass(frozen=True)
class LocalizedSampling(_ThirdOfEpsilon):
    """bst14, Algorithm 7 on C0, the points of C near the run's center, which is released or private itself.

    `ball`: C0 is C cut with the ball of `radius` about the center, as Algorithm 4 has it. `cube`, for C a cube: C0 is
    a cube inside C that holds that intersection, of edge at most 2 radius; Lemma 4.2 asks no more of C0 than to be
    convex, inside C, and to hold the minimizer. In one dimension both are the same interval. On a ball's part the
    proved number of steps is out of reach (billions), on a cube's it is not. C0's diameter D is at most 2 radius
    (times sqrt(p) for a cube), and at most C's; scale = epsilon / (6 L D).

    Guarantee (replace-one, both directions): epsilon-DP for given centers, as in `EfficientExponentialSampling`.

    Assumptions: see there. All steps that the widest C0 needs are taken in every run, whatever its center.
    """

    problem: Problem
    epsilon: Epsilon
    radius: Positive
    shape: Literal["ball", "cube"] = "cube"
    steps: CountOrZero | None = None
    extension: Literal["projection", "loss"] = "projection"
    inner_radius: float | None = None
    simulation: Simulation = "auto"
    withdraw_guarantee: bool = False

    def __post_init__(self) -> None:
        check_parameters(self)
        check_steep(self.problem)
        constraint = self.problem.constraint
        if self.shape == "cube" and not is_cube(constraint):
            raise InvalidArgumentError("shape", self.shape, '"ball", unless the constraint set is a cube')
        check_extension(self.problem, fixed_region(constraint, self.inner_radius), self.extension)

    @property
    def diameter(self) -> float:
        """Bound on the diameter of every C0, a length."""
        p, constraint = self.problem.constraint.dimension, self.problem.constraint
        widest = 2 * self.radius * (math.sqrt(p) if self._as_cube else 1.0)
        return float(min(widest, constraint.diameter))

    @property
    def _as_cube(self) -> bool:
        return self.shape == "cube" or self.problem.constraint.dimension == 1

    @property
    def region(self) -> Region:
        """That of a run whose center is the set's."""
        return self._region(np.asarray(self.problem.constraint.center())[None, :])

    def _region(self, centers: Array) -> Region:
        constraint = self.problem.constraint
        if self._as_cube:
            return local_cubes(constraint, centers, self.radius)
        return local_balls(
            constraint, centers, self.radius, fixed_region(constraint, self.inner_radius).inner_radius
        )

    def guarantees(self, n: int) -> Guarantees:
        """epsilon-DP for given centers; none if the steps are too few."""
        if self.withdrawn(n):
            return Guarantees()
        conditions = (Condition(ConditionKind.GIVEN_INPUT, "the centers"), *self.conditions)
        return Guarantees(
            replace_one(PureDP(self.epsilon), "bst14.thm3.4.1", "bst14.alg7-budget", conditions=conditions)
        )

    def risk_bound(self, n: int) -> StatedRisk | None:
        """Over the minimum on C0; None if the steps are too few."""
        stated = super().risk_bound(n)
        return stated and dataclasses.replace(stated, conditions="over the minimum on C0")

    def __call__(  # type: ignore[override]
        self, data: Dataset, centers: Any, *, rng: Randomness, runs: int
    ) -> Output:
        """Run on a data set with a center in C for each run, shape (runs, p); points have that shape."""
        data = admitted(self, data, name="bst14.alg7")
        constraint, xp = self.problem.constraint, rng.xp
        given = xp.asarray(centers, dtype=xp.float64)
        if given.shape != (runs, constraint.dimension):
            raise InvalidArgumentError("centers", tuple(given.shape), f"shape {(runs, constraint.dimension)}")
        require(bool(xp.all(constraint.contains(given))), "centers", centers, "points of the constraint set")
        # up to rounding, centers are inside now
        return self.run_on(data, self._region(constraint.project(given)), rng, runs)
