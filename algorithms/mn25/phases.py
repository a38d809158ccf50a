"""What Phased SGD and Phased ERM share: parameters, the smallest accuracy that is proved, the guarantee, the run."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar

from dpverify.algorithms.conditions import admitted, given_up, normalized_start, refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.mn25.dp_sgd import check_problem
from dpverify.algorithms.mn25.origins import accounted
from dpverify.algorithms.parameters import Count, Epsilon, NotNegative, Positive, Proper
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.privacy import ApproxDP, Guarantee
from dpverify.problems import Dataset, Problem
from dpverify.running import Randomness, StatedStep, StatedStructure
from dpverify.running.randomness import Array

LARGEST_MU = 40.0  # of a release that can be accounted for
PhaseT = TypeVar("PhaseT")
_SEARCH_TOLERANCE = 1e-3  # relative, of the accuracy
_SMALLEST_ACCURACY = 1e-6  # over B L


@dataclass(frozen=True)
class Phased(Weakenable, ABC, Generic[PhaseT]):
    """What both algorithms have in common.

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

    id: ClassVar[str]
    statements: ClassVar[tuple[str, ...]]
    sources: ClassVar[tuple[str, ...]]
    printed: ClassVar[str]
    """The paper's claim of privacy."""

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

    def accuracy_in_use(self, n: int) -> float:
        """The accuracy alpha for n records, in units of the loss."""
        n = whole_number("n", n, at_least=1)
        return _smallest_accuracy(self, n) if self.accuracy is None else self.accuracy

    @abstractmethod
    def _profile_at(self, n: int, accuracy: float) -> Guarantee:
        """What is proved with this accuracy."""

    def _least_accuracy(self, n: int) -> float:
        """No smaller alpha is chosen by default, even if it is proved to be private."""
        return _SMALLEST_ACCURACY * self.trivial_accuracy

    @abstractmethod
    def _void(self, n: int) -> tuple[str, ...]:
        """Reasons against the guarantee that do not come from accounting."""

    def profile(self, n: int) -> Guarantee:
        """All that is proved for n records, the noisy points of all phases released.

        Raises:
            NotGuaranteedError: if there is no noise, or the guarantee was withdrawn.
        """
        quiet = ("the noise is zero",) if self.noise_factor == 0 else ()
        refuse_or_withdraw(self.id, (*quiet, *given_up(self.withdraw_guarantee)), False)
        return self._profile_at(n, self.accuracy_in_use(n))

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why the guarantee does not hold for n records; empty if it does."""
        given = given_up(self.withdraw_guarantee)
        if self.accuracy_in_use(n) >= self.trivial_accuracy:
            return given
        reasons = self._void(n)
        if self.noise_factor == 0:
            return (*reasons, "the noise is zero", *given)
        reached = float(self._profile_at(n, self.accuracy_in_use(n)).privacy_profile(self.epsilon))
        if not reached <= self.delta * (1 + 1e-9):
            least = f"the phases are proved to be ({self.epsilon:g}, {reached:.3g})-DP only"
            return (*reasons, least, *given)
        return (*reasons, *given)

    def guarantees(self, n: int) -> Guarantees:
        """The theorem's for n records, and the accountant's whole profile; none if it was withdrawn."""
        if self.withdrawn(n):
            return Guarantees()
        theorem = replace_one(
            ApproxDP(self.epsilon, self.delta), *self.sources, conditions=self.problem.conditions
        )
        return Guarantees(
            theorem,
            sharpest=replace(
                theorem, guarantee=self.profile(n), origin=accounted(self.sources[0], self.printed)
            ),
            as_printed=theorem,
        )

    @abstractmethod
    def _phases_at(self, n: int, accuracy: float) -> tuple[PhaseT, ...]:
        """The phases with this accuracy; none if the starting point is good enough."""

    def schedule(self, n: int) -> tuple[PhaseT, ...]:
        """The phases for n records; none if the starting point is released."""
        return self._phases_at(n, self.accuracy_in_use(n))

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
    trivial = algorithm.trivial_accuracy
    if algorithm.noise_factor == 0:
        return trivial

    def proved(accuracy: float) -> bool:
        profile = algorithm._profile_at(n, accuracy)
        return float(profile.privacy_profile(algorithm.epsilon)) <= algorithm.delta

    return _smallest(proved, 0.999 * trivial, trivial, algorithm._least_accuracy(n))


def _smallest(proved: Callable[[float], bool], first: float, otherwise: float, least: float) -> float:
    """A proved number, the next one below which, by 1e-3, is not, searched downward from `first` to `least`."""
    if not proved(first):
        return otherwise
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
