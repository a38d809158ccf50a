"""What may be known of an iterative mechanism besides its outputs: its steps, its noise, and what it releases.

A stated structure is a claim like any other. Whoever uses it says that a result rests on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpverify import checks
from dpverify.checks import FloatArray, numbers
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import AllSpace, ConstraintSet

Move = Callable[[FloatArray, np.random.Generator], FloatArray]
"""States (k, d) and a generator to their images before the noise, the same shape; it must not write to the states."""

_TOLERANCE = 1e-9  # relative: by how much probabilities may miss 1


@dataclass(frozen=True, eq=False)
class StatedStep:
    """A map of states, and Gaussian noise that is added to what it gives.

    Attributes:
        move: the map; if it draws at random, from the generator only.
        noise_stddev: of each coordinate of the noise, a length above 0.
        lipschitz_constant: ||move(x) - move(y)|| / ||x - y|| at most, for maps that draw nothing; infinite where
            nothing is known.

    Raises:
        InvalidArgumentError: for anything else.

    Examples:
        >>> import numpy as np
        >>> from dpverify.running import StatedStep
        >>> step = StatedStep(lambda states, rng: 0.5 * states, noise_stddev=1.0, lipschitz_constant=0.5)
        >>> step.images(np.array([[2.0], [-4.0]]), np.random.default_rng(0)).tolist()  # before the noise
        [[1.0], [-2.0]]
    """

    move: Move
    noise_stddev: float
    lipschitz_constant: float = math.inf
    draws: bool = False

    def __post_init__(self) -> None:
        checks.require(callable(self.move), "move", self.move, "a function (states, generator) -> states")
        checks.positive("noise_stddev", self.noise_stddev)
        checks.number("lipschitz_constant", self.lipschitz_constant, at_least=0, finite=False)
        checks.of_kind("draws", self.draws, bool)

    def images(self, states: FloatArray, rng: np.random.Generator) -> FloatArray:
        """The map at states (k, d).

        Raises:
            InvalidDataError: if it gives another shape, or something that is no finite number.
        """
        images = np.asarray(self.move(states, rng), dtype=np.float64)
        if images.shape != states.shape or not np.all(np.isfinite(images)):
            raise InvalidDataError(
                f"A stated step took states of shape {states.shape} to an array of shape {images.shape}, or to what is "
                "not finite; allowed: finite numbers of the same shape."
            )
        return images


@dataclass(frozen=True, eq=False)
class StatedStructure:
    """x_t = Proj(move_t(x_{t-1}) + N(0, s_t^2 I)) from a fixed x_0; the last state is released, nothing else.

    Attributes:
        start: x_0, d numbers.
        steps: at least one.
        constraint: the closed convex set that every state is projected onto; None: no projection.
        skipped: probability that a run leaves out its first t steps, t = 0, 1, ..., fewer than all; None: none.
        stopped: probability that a run ends after step t, t = 1, 2, ..., one for each step; None: it takes all.

    Raises:
        InvalidArgumentError: for anything else.

    Examples:
        >>> from dpverify.problems import Ball
        >>> from dpverify.running import StatedStep, StatedStructure
        >>> step = StatedStep(lambda states, rng: 0.5 * states, noise_stddev=1.0, lipschitz_constant=0.5)
        >>> structure = StatedStructure((0.0, 0.0), (step,) * 3, constraint=Ball(2, 1.0))
        >>> structure.dimension, len(structure.steps)
        (2, 3)
        >>> structure.quieter(2.0).steps[0].noise_stddev  # what audits try out
        0.5
    """

    start: Sequence[float]
    steps: tuple[StatedStep, ...]
    constraint: ConstraintSet | None = None
    skipped: tuple[float, ...] | None = None
    stopped: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        start = checks.numbers("start", self.start, allowed="finite numbers, shape (d,)")
        checks.require(start.ndim == 1 and start.size, "start", self.start, "finite numbers, shape (d,)")
        object.__setattr__(self, "start", tuple(start.tolist()))
        checks.items("steps", self.steps, StatedStep, "at least one StatedStep")
        if self.constraint is not None and not (
            isinstance(self.constraint, ConstraintSet) and self.constraint.dimension == self.dimension
        ):
            raise InvalidArgumentError(
                "constraint", self.constraint, f"None or a constraint set of dimension {self.dimension}"
            )
        check_steps_taken(self)
        if isinstance(self.constraint, AllSpace):
            object.__setattr__(self, "constraint", None)

    @property
    def dimension(self) -> int:
        return len(self.start)

    def quieter(self, factor: float) -> StatedStructure:
        """The same with all noise divided by a factor above 0."""
        factor = checks.positive("factor", factor)
        steps = tuple(replace(step, noise_stddev=step.noise_stddev / factor) for step in self.steps)
        return replace(self, steps=steps)

    @property
    def spread(self) -> float:
        """Lipschitz constant of the released state in all standard normal numbers that a run draws, in Euclidean norms.

        Noise of step t passes the maps of later steps, and projections bring points no farther apart. Infinite where a
        constant is not stated, and where a run draws anything else that the released state depends on.
        """
        parts = self.parts
        return parts[0][1] if len(parts) == 1 else math.inf

    @property
    def parts(self) -> tuple[tuple[float, float], ...]:
        """Runs that take the same steps: the probability of each sort, and its released state's Lipschitz constant.

        The constant is that in the noise, as in `spread`; infinite where it is not known.
        """
        if any(step.draws for step in self.steps):
            return ((1.0, math.inf),)
        count, steps = len(self.steps), self.steps
        if self.stopped is not None:
            taken = [(p, steps[:end]) for end, p in enumerate(self.stopped, start=1)]
        else:
            # where a map forgets the state, it does not matter which steps before it were taken
            anew = max((t for t, step in enumerate(steps) if step.lipschitz_constant == 0), default=0)
            skipped = self.skipped or (1.0,)
            from_anew = math.fsum(skipped[: anew + 1])
            taken = [(from_anew, steps[anew:])] + [
                (p, steps[first:]) for first, p in enumerate(skipped) if anew < first < count
            ]
        return tuple((p, math.hypot(*_weights(of))) for p, of in taken if p > 0)

    @property
    def weights(self) -> tuple[float, ...]:
        """How far noise of each step can move the released state: its length times the later maps' constants."""
        return _weights(self.steps)


def _weights(steps: tuple[StatedStep, ...]) -> tuple[float, ...]:
    kept, found = 1.0, []
    for step in reversed(steps):
        found.append(step.noise_stddev * kept)
        known = kept > 0 and step.lipschitz_constant > 0
        kept = kept * step.lipschitz_constant if known else 0.0  # not 0 times infinity
    return tuple(reversed(found))


def single_noise(
    center: Any, noise_stddev: float, constraint: ConstraintSet | None = None
) -> StatedStructure:
    """What releases a point with Gaussian noise added to it once, projected onto a set if there is one.

    Args:
        center: the point, d numbers, or one number.
        noise_stddev: of each coordinate.
        constraint: the set.

    Raises:
        InvalidArgumentError: as `StatedStructure`.

    Examples:
        >>> import numpy as np
        >>> from dpverify.running import single_noise
        >>> def structure(data):  # of a sum of values in [-1, 1] with noise
        ...     return single_noise(np.clip(data, -1, 1).sum(axis=0), noise_stddev=2.0)
        >>> stated = structure(np.array([[0.3, 5.0], [0.1, 0.5]]))
        >>> stated.dimension, stated.steps[0].noise_stddev
        (2, 2.0)
    """
    point = np.atleast_1d(numbers("center", center, allowed="one number, or several"))
    step = StatedStep(lambda states, rng: states, noise_stddev, lipschitz_constant=1.0)
    return StatedStructure(tuple(point.tolist()), (step,), constraint)


def check_steps_taken(chain: Any) -> None:
    """Check and keep `skipped` and `stopped` of what has steps: one of the two at most, and as in `StatedStructure`."""
    if chain.skipped is not None and chain.stopped is not None:
        raise InvalidArgumentError("stopped", chain.stopped, "None, where the first steps are left out")
    count = len(chain.steps)
    for name, given, length in (("skipped", chain.skipped, None), ("stopped", chain.stopped, count)):
        if given is not None:
            object.__setattr__(chain, name, checked_probabilities(name, given, length, count))


def checked_probabilities(name: str, given: Any, length: int | None, most: int) -> tuple[float, ...]:
    """So many probabilities, or at most so many, whose sum is 1 up to rounding, which is taken away."""
    allowed = f"{length if length is not None else f'at most {most}'} numbers of at least 0 whose sum is 1"
    numbers = checks.numbers(name, given, at_least=0, allowed=allowed)
    fits = numbers.ndim == 1 and 0 < numbers.size <= most and (length is None or numbers.size == length)
    checks.require(fits and abs(float(numbers.sum()) - 1) <= _TOLERANCE, name, given, allowed)
    return tuple((numbers / numbers.sum()).tolist())
