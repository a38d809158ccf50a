"""Contractive noisy iteration, of which the projected noisy gradient methods are instances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpverify.algorithms.conditions import refuse_or_withdraw
from dpverify.algorithms.contract import Guarantees, promised, replace_one
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import CountOrZero, NotNegative, check_parameters
from dpverify.algorithms.promises import StatedQueries, reasons, words
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import items, numbers, require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import ALL_RECORDS, RDP, Condition, ConditionKind, ProtectedRecords
from dpverify.privacy.iteration import NoisyIteration
from dpverify.problems.declared import is_our_own
from dpverify.running import Output, Randomness, StatedStep, StatedStructure
from dpverify.running.randomness import Array

Map = Callable[[Array, Any], Array]
"""A map psi of a batch of points, shape (runs, ...), and the data; it must not write to the points."""


@runtime_checkable
class NoiseLaw(Protocol):
    """The law zeta of the noise of one step, in a Banach space with a norm of its own."""

    def draw(self, rng: Randomness, shape: tuple[int, ...]) -> Array:
        """Independent noise, one per run along the first axis."""

    def magnitude(self, order: float, shift: float) -> float:
        """R_order(zeta, shift) of Definition 10, in nats.

        The largest Renyi divergence between zeta moved by a vector of at most that norm, and zeta.
        """


@dataclass(frozen=True)
class GaussianNoise:
    """N(0, stddev^2 I) in the Euclidean norm; R(order, a) = order a^2 / (2 stddev^2)."""

    stddev: NotNegative

    def __post_init__(self) -> None:
        check_parameters(self)

    def draw(self, rng: Randomness, shape: tuple[int, ...]) -> Array:
        """Independent normal numbers."""
        return self.stddev * rng.normal(shape, "noise")

    def magnitude(self, order: float, shift: float) -> float:
        """Order shift^2 / (2 stddev^2)."""
        if shift == 0:
            return 0.0
        return order * (math.inf if self.stddev == 0 else (shift / self.stddev) ** 2 / 2)


def _stated(maps: tuple[Map, ...], data: Any, stddev: float, constant: float) -> StatedStep:
    def move(states: Any, _: np.random.Generator) -> Any:
        for map_ in maps:
            states = map_(states, data)
        return states

    return StatedStep(move, stddev, constant)


def _towards_the_mean(points: Array, data: Any) -> Array:
    return 0.5 * points + 0.5 * np.mean(np.asarray(data.features), axis=0)


@dataclass(frozen=True)
class ContractiveNoisyIteration(Weakenable):
    """fmtt18, Definition 19: X_t = psi_t(X_{t-1}) + Z_t for t = 1, ..., T; X_T is released.

    Guarantee (replace-one, both directions): Theorem 22 for the neighbors that `shifts` describes.

    Assumptions: every psi_t is a contraction in the norm of the noise, with the declared constant; on neighboring
    data psi_t differs by at most shifts[t-1] in that norm. Both are declared, not checked. X_0 is the same on both.

    Attributes:
        maps: psi_1, ..., psi_T; each is called with the points and the data.
        noises: zeta_1, ..., zeta_T, or one law for all.
        start: X_0, an array of the shape of one point, or a function `(rng, runs) -> (runs, ...)` if it is
            random.
        shifts: sup ||psi_t - psi_t'|| over points and neighbors, for each t; None: nothing is claimed.
        contractions: Lipschitz constants of the maps, at most 1; 1 each if None.
        queries_per_step: gradients of single records that a map asks for.
        protected: the records for whose replacement the shifts are declared.
        withdraw_guarantee: run even if a map is declared to expand; `withdrawn` then says why.
    """

    maps: tuple[Map, ...]
    noises: tuple[NoiseLaw, ...] | NoiseLaw
    start: Any
    shifts: tuple[float, ...] | None = None
    contractions: tuple[float, ...] | None = None
    queries_per_step: CountOrZero = 0
    protected: ProtectedRecords = ALL_RECORDS
    withdraw_guarantee: bool = False

    id = "fmtt18.cni"
    statements = ("fmtt18.thm22", "fmtt18.lem20", "fmtt18.lem21", "fmtt18.def10")
    unstated = reasons("fmtt18.cni")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        def made(noise: float) -> ContractiveNoisyIteration:
            maps, start = (_towards_the_mean,) * 2, np.zeros(at.d)
            return cls(maps, GaussianNoise(noise), start, shifts=(0.25, 0.25), contractions=(0.5, 0.5))

        return {"": lambda: made(1.0), "asked": lambda: made(1 / at.epsilon)}

    def __post_init__(self) -> None:
        """Refuse what is not there once for each step, and maps that are declared to expand."""
        super().__post_init__()
        items("maps", self.maps, Callable, "at least one function (points, data) -> points")
        steps = len(self.maps)
        laws = self.noises if isinstance(self.noises, tuple) else (self.noises,) * steps
        if len(laws) != steps or not all(isinstance(law, NoiseLaw) for law in laws):
            allowed = f"one noise law, or {steps}, with draw and magnitude"
            raise InvalidArgumentError("noises", self.noises, allowed)
        object.__setattr__(self, "noises", laws)
        allowed = f"{steps} finite numbers of at least 0"
        for name, given in (("shifts", self.shifts), ("contractions", self.contractions)):
            if given is not None:
                checked = numbers(name, given, at_least=0, allowed=allowed)
                require(checked.shape == (steps,), name, given, allowed)
                object.__setattr__(self, name, tuple(checked.tolist()))
        if not isinstance(self.protected, ProtectedRecords) or self.protected.only is not None:
            raise InvalidArgumentError("protected", self.protected, "ProtectedRecords, without `only`")
        refuse_or_withdraw(self.id, self._voids(1), self.withdraw_guarantee)

    def _voids(self, n: int) -> tuple[str, ...]:
        if self.contractions is not None and not max(self.contractions) <= 1:
            return (f"a map expands distances by {max(self.contractions):g}",)
        return ()

    def gradient_query_count(self, n: int) -> int:
        """Queries per step times steps, whatever the number of records."""
        whole_number("n", n)
        return self.queries_per_step * len(self.maps)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Gradients, if a map asks for any."""
        count = self.gradient_query_count(n)
        said, source = "n in each of T steps", "fmtt18.thm22"
        row = words("fmtt18.steps/queries", words=said, most=count, source=source, algorithm=self.id)
        return (StatedQueries("gradient", count, **row),) if count else ()

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        """Run; points have the shape of the start with runs in front."""
        xp = rng.xp
        if callable(self.start):
            points = self.start(rng, runs)
        else:
            start = xp.asarray(self.start, dtype=xp.float64)
            points = xp.zeros((runs, *start.shape), dtype=xp.float64) + start[None, ...]
        for map_, law in zip(self.maps, self._laws, strict=True):
            points = map_(points, data)
            points = points + law.draw(rng, points.shape)
        return Output(points, gradient_queries=self.queries_per_step * len(self.maps))

    def structure(self, data: Any) -> StatedStructure | None:
        """The maps and their noise; None unless all of it is Gaussian, the last one's above 0, and X_0 a fixed vector.

        A map without noise counts as a part of the next one. Maps are taken to be without draws of their own, as
        Definition 19 has them.
        """
        stddevs = self._stddevs
        if stddevs is None or not stddevs[-1] > 0 or callable(self.start) or np.ndim(self.start) != 1:
            return None
        declared = self.contractions if self.contractions is not None else (math.inf,) * len(self.maps)
        steps: list[StatedStep] = []
        maps: tuple[Map, ...] = ()
        constant = 1.0
        for map_, stddev, factor in zip(self.maps, stddevs, declared, strict=True):
            maps = (*maps, map_)
            constant = 0.0 if 0 in (constant, factor) else constant * factor  # not 0 times infinity
            if stddev > 0:
                steps.append(_stated(maps, data, stddev, constant))
                maps, constant = (), 1.0
        return StatedStructure(tuple(self.start), tuple(steps))

    @property
    def _laws(self) -> tuple[NoiseLaw, ...]:
        assert isinstance(self.noises, tuple)
        return self.noises

    def noisy_iteration(self) -> NoisyIteration | None:
        """The iteration as the accountant sees it, if all noise is Gaussian and shifts are declared.

        None if not, or if the guarantee was withdrawn.
        """
        stddevs = self._stddevs
        if self.withdrawn(1) or self.shifts is None or stddevs is None:
            return None
        return NoisyIteration(shifts=self.shifts, noise_stddevs=stddevs, contractions=self._constants)

    @property
    def _stddevs(self) -> list[float] | None:
        """Those of all steps; None unless all noise is Gaussian."""
        found = [law.stddev for law in self._laws if isinstance(law, GaussianNoise)]
        return found if len(found) == len(self.maps) else None

    @property
    def _constants(self) -> tuple[float, ...]:
        return self.contractions if self.contractions is not None else (1.0,) * len(self.maps)

    def even_schedule(self) -> tuple[float, ...]:
        """A schedule a_t for Theorem 22 that fits any noise: shifts are spread evenly over the steps left.

        What is left to spread shrinks with the maps' constants. Everything is spent by the last step, and
        never more than is there, so z_t >= 0 and z_T = 0.
        """
        steps = len(self.maps)
        left, schedule = 0.0, []
        for t in range(steps):
            left = self._constants[t] * left + (self.shifts or (0.0,) * steps)[t]
            spent = left / (steps - t)
            schedule.append(spent)
            left -= spent
        return tuple(schedule)

    @property
    def _conditions(self) -> tuple[Condition, ...]:
        """The condition that a user's own maps and noise satisfy what is declared of them."""
        maps = "the maps have the declared shifts and contractions, and keep the runs of a batch apart"
        words = {
            maps: all(is_our_own(map_) for map_ in self.maps),
            "the noise has the declared Renyi divergences": all(is_our_own(law) for law in self._laws),
            "the start does not depend on the records": not callable(self.start),
        }
        return tuple(Condition(ConditionKind.AS_DECLARED, text) for text, known in words.items() if not known)

    def _guaranteed(self, n: int) -> Guarantees:
        """GDP by the best schedule if all noise is Gaussian, else RDP by an even one; empty without shifts."""
        if self.shifts is None:
            return Guarantees()
        iteration = self.noisy_iteration()
        under: dict[str, Any] = {"conditions": self._conditions, "protected": self.protected}
        if iteration is None:
            curve = RDP(ScheduleCurve(self._laws, self.even_schedule()))
            return Guarantees(replace_one(curve, "fmtt18.thm22", **under))
        return Guarantees(promised("fmtt18.cni/privacy", iteration.gdp(), **under))


@dataclass(frozen=True)
class ScheduleCurve:
    """Sum over t of R_order(zeta_t, a_t), the right-hand side of Theorem 22."""

    noises: tuple[NoiseLaw, ...]
    schedule: tuple[float, ...]

    def __call__(self, order: float) -> float:
        """Renyi divergence (nats) at an order of at least 1."""
        return math.fsum(law.magnitude(order, a) for law, a in zip(self.noises, self.schedule, strict=True))
