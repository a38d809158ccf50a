"""How fine a grid and how many steps Lemma 6.1's walk needs (Bassily, Smith, Thakurta, 2014), as proved numbers.

The walk lives on the k^p cells of a cube with edge tau, cells of side gamma = tau / k. A step stays with probability
1/2; else it proposes one of the 2 p neighboring cells uniformly, stays if that is outside, and moves with
probability min(1, F(proposed) / F(here)). F is log-concave, log F is eta-Lipschitz in the Euclidean norm, and what
the walk evaluates may differ from log F by an error xi. Then, with a = eta gamma sqrt(p):

Conductance. Dyer and Frieze (1991) show for a log-concave measure mu on a convex set, distances being measured in any
norm, that min(mu(S), mu(S^c)) <= (diameter / 2t) mu(between) for sets S, S^c that a shell of width t separates. For a
union S of cells in the maximum norm the shell of width t -> 0 has t times the (p-1)-volume of S's facets, so the
facets weigh at least (2 / tau) min(mu(S), mu(S^c)). A point of a facet is within gamma sqrt(p) / 2 of both centers:
its F exceeds the smaller computed weight by a factor of at most exp(a/2 + xi). A cell's integral of F is at least
gamma^p times its computed weight over exp(a/2 + xi). A pair of neighbors exchanges the smaller weight over 4 p.
Together: conductance >= gamma exp(-a - 2 xi) / (2 p tau). The paper prints half of it (for a = distance / 2).

Steps. The chain is lazy and reversible, so its spectral gap is at least conductance^2 / 2 and |P^t(x, y) / pi(y) - 1|
<= exp(-gap t) / sqrt(pi(x) pi(y)). The start x is the central cell.

Smallest mass. pi(y) >= exp(-largest change of log F - 2 xi) / k^p, and centers are up to sqrt(p) (tau - gamma)
apart. The paper has exp(-eta tau) where the Euclidean norm needs exp(-eta tau sqrt(p)).

Distance. A relative error of 1 - exp(-m) keeps log-ratios within m on both sides; the paper's error m keeps them only
above (log(1 - m) < -m). Cells cost a more, the evaluation 2 xi, so m = distance - a - 2 xi.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dpverify.algorithms.parameters import Count, NotNegative, Positive, check_parameters
from dpverify.checks import require, whole_number

Proof = Literal["conductance", "printed"]

MOST_CELLS_PER_SIDE = 2**53
"""Beyond, a cell's place is no exact number in double precision."""


@dataclass(frozen=True)
class GridPlan:
    """The grid, and the number of steps after which the walk is proved to be within a distance of its density.

    p, tau, eta, the largest |log-ratio| and xi are as above. Without a number of cells an edge has ceil(tau / gamma) of
    them, for the paper's gamma = distance / (2 eta sqrt(p)). The proof is `conductance`, the bound derived above, or
    `printed`, the paper's: half that conductance in Morris and Peres's bound 1 + (4 / conductance^2) ln(1 / (error
    smallest_mass)), with the smallest mass and the error corrected.
    """

    dimension: Count
    edge: Positive
    lipschitz: Positive
    distance: Positive
    evaluation_error: NotNegative = 0.0
    cells: int | None = None
    proof: Proof = "conductance"

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.cells is not None:
            whole_number("cells", self.cells, at_most=MOST_CELLS_PER_SIDE)

    @cached_property
    def cells_per_side(self) -> int:
        """k: enough that cells are no larger than gamma, unless it is set."""
        if self.cells:
            return self.cells
        wanted = 2 * self.lipschitz * math.sqrt(self.dimension) * self.edge / self.distance
        allowed = f"a number for which a grid of {MOST_CELLS_PER_SIDE:g} cells per side is fine enough"
        require(wanted <= MOST_CELLS_PER_SIDE, "distance", self.distance, allowed)
        # a hair below a whole number's worth of cells is rounding
        return max(1, math.ceil(wanted * (1 - 1e-12)))

    @property
    def states(self) -> int:
        """k^p."""
        return int(self.cells_per_side**self.dimension)

    @property
    def spacing(self) -> float:
        """Side of a cell, a length."""
        return self.edge / self.cells_per_side

    @property
    def discretization(self) -> float:
        """The a = eta gamma sqrt(p): what taking F as constant on every cell adds to the distance."""
        return self.lipschitz * self.spacing * math.sqrt(self.dimension)

    @property
    def mixing(self) -> float:
        """What is left of the distance for the walk; not above 0 if the grid is too coarse."""
        return self.distance - self.discretization - 2 * self.evaluation_error

    @property
    def relative_error(self) -> float:
        """Largest |P^t(x, y) / pi(y) - 1| allowed: 1 - exp(-mixing)."""
        return -math.expm1(-self.mixing)

    @property
    def conductance(self) -> float:
        """Lower bound on the walk's conductance, dimensionless."""
        shrunk = math.exp(-self.discretization - 2 * self.evaluation_error)
        bound = shrunk / (2 * self.dimension * self.cells_per_side)
        return bound / 2 if self.proof == "printed" else bound

    def _log_inverse_mass(self, cells_apart: int) -> float:
        """ln(1 / pi(y)) is at most this, if no cell is farther than so many cells, in every coordinate, from y."""
        change = self.lipschitz * math.sqrt(self.dimension) * self.spacing * cells_apart
        return self.dimension * math.log(self.cells_per_side) + change + 2 * self.evaluation_error

    @property
    def log_inverse_smallest_mass(self) -> float:
        """ln(1 / pi_*) is at most this."""
        return self._log_inverse_mass(self.cells_per_side - 1)

    @property
    def steps(self) -> float:
        """The proved number of steps, a whole number; infinite if the grid is too coarse for the distance, or if the
        number is beyond 1e300.
        """
        if not self.mixing > 0:
            return math.inf
        if self.states == 1:
            return 0
        if not self.conductance > 1e-140:
            return math.inf
        log_error = -math.log(self.relative_error)
        smallest = self.log_inverse_smallest_mass
        if self.proof == "printed":
            return math.ceil(1 + 4 / self.conductance**2 * (smallest + log_error))
        start = self._log_inverse_mass(self.cells_per_side // 2)
        return math.ceil(2 / self.conductance**2 * (0.5 * (start + smallest) + log_error))

    def withdrawn(self, steps: float) -> tuple[str, ...]:
        """Why the distance is not proved after a number of steps; empty if it is."""
        if not self.mixing > 0:
            return (
                f"a grid of {self.cells_per_side} cells per side is too coarse for a distance of {self.distance:g}",
            )
        if not steps >= self.steps:
            return (
                f"{steps:g} steps are fewer than {self.steps:g}, the smallest number that is proved enough",
            )
        return ()
