"""What DP-SGD, Phased SGD and Phased ERM share: what their accounting proves, and what they state of it.

B is the constraint set's diameter, L the loss's Lipschitz constant, d the dimension.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

from dpverify.algorithms.conditions import (
    admitted,
    check_lipschitz,
    noise_distance,
    normalized_start,
    reach,
    refuse_or_withdraw,
)
from dpverify.algorithms.contract import Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import Count, Epsilon, NotNegative, Positive, Proper
from dpverify.algorithms.promises import StatedRisk, reasons, words
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import ApproxDP, Guarantee
from dpverify.problems import Dataset, Problem
from dpverify.running import Randomness, StatedStep, StatedStructure
from dpverify.running.randomness import Array

LARGEST_MU = 40.0  # of a release that can be accounted for


class NoisyPhase(Protocol):
    """What all phases have."""

    @property
    def noise_stddev(self) -> float:
        """Of each coordinate of the noise on its point, a length."""


PhaseT = TypeVar("PhaseT", bound=NoisyPhase)
_SEARCH_TOLERANCE = 1e-3  # relative, of the accuracy
_SMALLEST_ACCURACY = 1e-6  # over B L


def check_problem(problem: Problem) -> None:
    """Refuse what the theorems of mn25 do not cover: all but Lipschitz losses that are not flat, on a bounded set."""
    check_lipschitz(problem)
    if not 0 < problem.constraint.diameter < math.inf:
        raise InvalidArgumentError("problem", problem, "a bounded constraint set with more than one point")


class Accounted(Weakenable, ABC):
    """A method with a theorem's (epsilon, delta), of which the accountant proves a whole profile."""

    problem: Problem
    epsilon: float
    delta: float
    start: Sequence[float] | None
    withdraw_guarantee: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        check_problem(self.problem)
        object.__setattr__(self, "start", normalized_start(self.start, self.problem.constraint))

    @property
    def trivial_accuracy(self) -> float:
        """B L: every point of the set is as good as this, in units of the loss."""
        return self.problem.constraint.diameter * self.problem.constants.lipschitz_constant

    def reference_accuracy(self, n: int) -> float:
        """alpha*(epsilon, delta) = B L sqrt(d ln(1/delta)) / (n epsilon), in units of the loss."""
        spread = math.sqrt(self.problem.constraint.dimension * math.log(1 / self.delta))
        return self.trivial_accuracy * spread / (n * self.epsilon)

    @abstractmethod
    def _at_once(self, n: int) -> bool:
        """Whether the starting point is released at once."""

    @abstractmethod
    def _quiet(self, n: int) -> bool:
        """Whether there is no noise."""

    @abstractmethod
    def _proved(self, n: int) -> Guarantee:
        """What the accountant proves, whether the guarantee was withdrawn or not."""

    def _releases(self, n: int) -> str:
        """What is accounted for, in words."""
        return "the phases"

    def _void(self, n: int) -> tuple[str, ...]:
        """Reasons against the guarantee that do not come from accounting."""
        return ()

    def profile(self, n: int) -> Guarantee:
        """All that is proved for n records, with all messages, or the noisy points of all phases, released.

        Refused if there is no noise, or the guarantee was withdrawn.
        """
        quiet = ("the noise is zero",) if self._quiet(n) else ()
        refuse_or_withdraw(self.id, self.withdrawn(n) if self.withdraw_guarantee else quiet, False)
        return self._proved(n)

    def _voids(self, n: int) -> tuple[str, ...]:
        if self._at_once(n):
            return ()
        if self._quiet(n):
            return (*self._void(n), "the noise is zero")
        reached = float(self._proved(n).privacy_profile(self.epsilon))
        if reached <= self.delta * (1 + 1e-9):
            return self._void(n)
        least = f"{self._releases(n)} are proved to be ({self.epsilon:g}, {reached:.3g})-DP only"
        return (*self._void(n), least)

    def _guaranteed(self, n: int) -> Guarantees:
        """The theorem's for n records, and the accountant's whole profile; none if it was withdrawn."""
        name, conditions = f"{self.id}/privacy", self.problem.conditions
        sharpest = promised(name, self._proved(n), conditions=conditions)
        theorem = replace(sharpest, guarantee=ApproxDP(self.epsilon, self.delta), origin=None)
        return Guarantees(theorem, sharpest=sharpest, as_printed=theorem)

    def _stated_risk(self, bound: float, theorem: float) -> StatedRisk:
        """Of convex losses, in expectation; never more than B L."""
        found, printed = min(bound, self.trivial_accuracy), min(theorem, self.trivial_accuracy)
        return StatedRisk(found, total=False, theorem=printed, **words(f"{self.id}/risk"))


@dataclass(frozen=True)
class Phased(Accounted, Generic[PhaseT]):
    """What Phased SGD and Phased ERM have in common.

    Attributes:
        problem: loss and constraint set.
        epsilon: in nats, above 0.
        delta: in (0, 1).
        accuracy: alpha, in units of the loss; None: the smallest for which privacy is proved. From B L on the
            starting point is released at once.
        noise_factor: of all noise standard deviations; 1 as printed.
        phases: R, instead of the algorithm's own.
        start: w_0 in the constraint set, d numbers; the set's center if None.
        withdraw_guarantee: run even if the guarantee does not hold; `withdrawn` then says why.
    """

    problem: Problem
    epsilon: Epsilon
    delta: Proper
    accuracy: Positive | None = None
    noise_factor: NotNegative = 1.0
    phases: Count | None = None
    start: Sequence[float] | None = None
    withdraw_guarantee: bool = False

    unstated = reasons("mn25.phased")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {"": lambda: cls(at.mean, 4.0, 0.2), "asked": lambda: cls(at.curved, at.epsilon, at.delta)}

    def accuracy_in_use(self, n: int) -> float:
        """The accuracy alpha for n records, in units of the loss."""
        n = whole_number("n", n)
        return _smallest_accuracy(self, n) if self.accuracy is None else self.accuracy

    @abstractmethod
    def _proved_at(self, n: int, accuracy: float) -> Guarantee:
        """What is proved with this accuracy."""

    def _least_accuracy(self, n: int) -> float:
        """No smaller alpha is chosen by default, even if it is proved to be private."""
        return _SMALLEST_ACCURACY * self.trivial_accuracy

    def _at_once(self, n: int) -> bool:
        return self.accuracy_in_use(n) >= self.trivial_accuracy

    def _quiet(self, n: int) -> bool:
        return self.noise_factor == 0

    def _proved(self, n: int) -> Guarantee:
        return self._proved_at(n, self.accuracy_in_use(n))

    @abstractmethod
    def _phases_at(self, n: int, accuracy: float) -> tuple[PhaseT, ...]:
        """The phases with this accuracy; none if the starting point is good enough."""

    def schedule(self, n: int) -> tuple[PhaseT, ...]:
        """The phases for n records; none if the starting point is released."""
        return self._phases_at(n, self.accuracy_in_use(n))

    @abstractmethod
    def _pull_and_rest(self, phase: PhaseT) -> tuple[float, float]:
        """C and e: a phase ends at most c ||w - u||^2 + e above any point u, w being where it starts."""

    def _sharper(self, phase: PhaseT) -> tuple[float, float]:
        """What is proved beyond the paper; the same where nothing is."""
        return self._pull_and_rest(phase)

    def risk_bound(self, n: int) -> StatedRisk:
        """The theorem's chain with its constants, and never more than B L.

        Phase r's point is above the last one's by at most the least over s in [0, 1] of c_r s^2 D_r^2 + (1 - s) L D_r
        plus e_r: u lies s of the way from where the phase starts to it. D_1 is the largest distance from w_0, and D_r
        what the last phase's noise moves a point of the set by, once projected, in root mean square. In the end there
        is L D_(R+1). `theorem` has s = 1, sigma_(r-1) sqrt(d) for D_r, and B for D_1. Without phases, the starting
        point's: L D_1.
        """
        lipschitz, far = self.problem.constants.lipschitz_constant, self.problem.constraint.diameter
        printed = 0.0
        for phase in self.schedule(n):
            pull, rest = self._pull_and_rest(phase)
            printed += pull * far**2 + rest
            far = phase.noise_stddev * math.sqrt(self.problem.constraint.dimension)
        found = self._chain(n, lambda stddev: noise_distance(stddev, self.problem.constraint))
        return self._stated_risk(found, printed + lipschitz * far)

    def _chain(self, n: int, moved: Callable[[float], float]) -> float:
        """The sum of all phases' excess, where noise of a standard deviation moves a phase's point by so much."""
        lipschitz, near, found = (
            self.problem.constants.lipschitz_constant, reach(self.start, self.problem.constraint), 0.0,
        )  # fmt: skip
        for phase in self.schedule(n):
            pull, rest = self._sharper(phase)
            share = min(1.0, lipschitz / (2 * pull * near)) if near else 1.0
            found += pull * (share * near) ** 2 + (1 - share) * lipschitz * near + rest
            near = moved(phase.noise_stddev)
        return found + lipschitz * near

    @abstractmethod
    def _stated(self, phase: PhaseT, data: Dataset) -> StatedStep:
        """A phase up to its noise, and the noise."""

    def structure(self, data: Dataset) -> StatedStructure | None:
        """The phases; None without noise."""
        if self.noise_factor == 0:
            return None
        data = admitted(self, data)
        assert self.start is not None
        phases = tuple(self._stated(phase, data) for phase in self.schedule(data.n))
        return StatedStructure(self.start, phases, self.problem.constraint)

    def _hide(self, found: Array, stddev: float, rng: Randomness) -> Array:
        """The phase's point with its noise, projected."""
        runs, d = found.shape
        noise = rng.normal((d, runs), "noise")
        noise *= stddev
        noise += found.T
        return self.problem.constraint.project(noise.T, overwrite=True)


@lru_cache(maxsize=256)
def _smallest_accuracy(algorithm: Phased[Any], n: int) -> float:
    """The smallest alpha that is proved to be (epsilon, delta)-DP, to 1e-3; B L if there is none below it."""
    trivial, least = algorithm.trivial_accuracy, algorithm._least_accuracy(n)
    first = 0.999 * trivial

    def proved(accuracy: float) -> bool:
        profile = algorithm._proved_at(n, accuracy)
        return float(profile.privacy_profile(algorithm.epsilon)) <= algorithm.delta

    if algorithm.noise_factor == 0 or not proved(first):
        return trivial
    if not first > least:
        return first
    if proved(least):
        return least
    high, low = first, max(first / 2, least)
    while proved(low):
        high, low = low, max(low / 2, least)
    while high > low * (1 + _SEARCH_TOLERANCE):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if proved(middle) else (middle, high)
    return high
