"""Noisy projected chains of which only the last state is released: what is run, and what is known of its maps.

A chain starts at a point x_0 of a set and takes steps x_t = Proj(g_t(x_{t-1}) + N(0, s_t^2 I)). A step may draw its map
at random, a run may leave out its first steps or stop early; neither draw is released. Lengths are Euclidean, in the
unit of the points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import AllSpace, Ball, Box
from dpverify.running.subjects.structure import check_steps_taken, checked_probabilities

MostDimensions = 2


@dataclass(frozen=True, eq=False)
class StepMap:
    """A map g of points, without the noise, and bounds on how it spreads and bends on the whole set.

    The enclosure is right only if these are: in one dimension the first two are checked at the grid's points, else
    they are taken as declared.

    Attributes:
        function: points of shape (k, d) to their images, the same shape; it must not write to the points.
        lipschitz_constant: ||g(x) - g(y)|| / ||x - y|| at most. It may exceed 1.
        bend: least known Lipschitz constant of g minus a linear map of your choice: 0 for affine maps; the Lipschitz
            constant itself always serves, and is taken if None.
        curvature: Lipschitz constant of the derivative of g, 1 / length; infinite if there is none.

    Raises `InvalidArgumentError` for negative numbers or something that can't be called.
    """

    function: Callable[[FloatArray], FloatArray]
    lipschitz_constant: float
    bend: float | None = None
    curvature: float = math.inf

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidArgumentError("function", self.function, "a function of points of shape (k, d)")
        lipschitz = checks.not_negative("lipschitz_constant", self.lipschitz_constant)
        bend = lipschitz if self.bend is None else min(checks.not_negative("bend", self.bend), lipschitz)
        object.__setattr__(self, "lipschitz_constant", lipschitz)
        object.__setattr__(self, "bend", bend)
        checks.number("curvature", self.curvature, at_least=0, finite=False)

    def images(self, points: FloatArray) -> FloatArray:
        """G at points of shape (k, d).

        Raises `InvalidDataError` if the function returns another shape, or something that is no finite number.
        """
        return _images(self.function, points)


def _images(function: Callable[[FloatArray], FloatArray], points: FloatArray) -> FloatArray:
    images = np.asarray(function(points.copy()), dtype=np.float64)
    if images.shape != points.shape or not np.all(np.isfinite(images)):
        raise InvalidDataError(
            f"A step's map took points of shape {points.shape} to an array of shape {images.shape}, or to what is "
            "not finite; allowed: finite numbers of the same shape."
        )
    return images


@dataclass(frozen=True, eq=False)
class PiecewiseMap:
    """A map that jumps where a linear function of the point passes some values: a step on a loss with kinks.

    Each piece must be a map of the whole set, not of its own part alone, and so must its constants.

    Attributes:
        function: the map itself, as for `StepMap`; on a jump it may be anything.
        pieces: one more than jumps; the first below the first jump. Between its two jumps each must be equal to the
            function.
        normal: d numbers, in which jumps are counted: the value <normal, x>.
        jumps: values of <normal, x>, rising; the unit of a length times that of the normal.

    Raises `InvalidArgumentError` for other numbers of pieces or jumps, jumps that do not rise, and a normal of zeros.
    """

    function: Callable[[FloatArray], FloatArray]
    pieces: tuple[StepMap, ...]
    normal: Sequence[float]
    jumps: Sequence[float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidArgumentError("function", self.function, "a function of points of shape (k, d)")
        jumps = checks.numbers("jumps", self.jumps, allowed="finite numbers that rise")
        if jumps.ndim != 1 or jumps.size == 0 or np.any(np.diff(jumps) <= 0):
            raise InvalidArgumentError("jumps", self.jumps, "finite numbers that rise, at least one")
        known = all(isinstance(piece, StepMap) for piece in self.pieces)
        if not known or len(self.pieces) != jumps.size + 1:
            raise InvalidArgumentError("pieces", self.pieces, f"a StepMap for each of {jumps.size + 1} parts")
        normal = checks.numbers("normal", self.normal, allowed="finite numbers, not all 0")
        if normal.ndim != 1 or not np.any(normal):
            raise InvalidArgumentError("normal", self.normal, "finite numbers, not all 0")
        object.__setattr__(self, "jumps", tuple(jumps.tolist()))
        object.__setattr__(self, "normal", tuple(normal.tolist()))

    @property
    def lipschitz_constant(self) -> float:
        """The largest of the pieces'; the map itself has none."""
        return max(piece.lipschitz_constant for piece in self.pieces)

    def images(self, points: FloatArray) -> FloatArray:
        """As for `StepMap`."""
        return _images(self.function, points)

    def values(self, points: FloatArray) -> FloatArray:
        """<normal, x> of points of shape (k, d).

        Raises `InvalidArgumentError` for points of another dimension than the normal.
        """
        if points.shape[1] != len(self.normal):
            raise InvalidArgumentError("normal", self.normal, f"{points.shape[1]} numbers, as points have")
        return np.asarray(sum(points[:, i] * each for i, each in enumerate(self.normal)))


Map = StepMap | PiecewiseMap
"""What a step does before the noise."""


def pieces_of(one: Map) -> tuple[StepMap, ...]:
    """Those of which a map is made: itself, where it has no jumps."""
    return one.pieces if isinstance(one, PiecewiseMap) else (one,)


def gradient_step(
    gradient: Callable[[FloatArray], FloatArray],
    rate: float,
    *,
    smoothness: float,
    strong_convexity: float = 0.0,
    hessian_lipschitz: float = math.inf,
) -> StepMap:
    """X - rate gradient(x), with the bounds that follow from the loss's constants.

    Args:
        gradient: of one record's loss, points of shape (k, d) to the same shape, loss over length.
        rate: eta, length^2 over loss.
        smoothness: Lipschitz constant beta of the gradient, finite: all Hessians are at most beta.
        strong_convexity: m, at least -beta: all Hessians are at least m; 0 for a loss that is only convex.
        hessian_lipschitz: Lipschitz constant of the Hessian, if there is one.

    Raises `InvalidArgumentError` for numbers outside of these ranges, and losses that are not smooth.

    Examples:
        >>> import numpy as np
        >>> from dpverify.auditing.exact import gradient_step
        >>> step = gradient_step(lambda w: np.tanh(w - 0.2), rate=0.5, smoothness=1.0)
        >>> step.lipschitz_constant  # of a convex loss's step of at most 2 / smoothness: no expansion
        1.0
        >>> gradient_step(lambda w: w - 0.2, rate=0.5, smoothness=1.0, strong_convexity=1.0).lipschitz_constant
        0.5
    """
    rate = checks.positive("rate", rate)
    smoothness = checks.number(
        "smoothness", smoothness, at_least=0, allowed="a finite number of at least 0: a smooth loss"
    )
    convexity = checks.number("strong_convexity", strong_convexity, at_least=-smoothness, at_most=smoothness)
    curvature = checks.number("hessian_lipschitz", hessian_lipschitz, at_least=0, finite=False)

    def step(points: FloatArray) -> FloatArray:
        return np.asarray(points - rate * np.asarray(gradient(points)))

    return StepMap(
        step,
        max(abs(1 - rate * convexity), abs(1 - rate * smoothness)),
        rate * (smoothness - convexity) / 2,
        rate * curvature,
    )


@dataclass(frozen=True, eq=False)
class NoisyStep:
    """One of some maps, drawn anew in every run, then Gaussian noise.

    Chains that share a step object share the work on it.

    Attributes:
        maps: at least one.
        noise_stddev: of each coordinate of the noise, after the map; a length, above 0.
        probabilities: of the maps, in sum 1; all alike if None.

    Raises `InvalidArgumentError` for anything else.

    Examples:
        >>> from dpverify.auditing.exact import NoisyStep, StepMap
        >>> maps = tuple(StepMap(lambda w, x=x: 0.5 * (w + x), lipschitz_constant=0.5, bend=0.0) for x in (-1.0, 1.0))
        >>> one_of_two = NoisyStep(maps, noise_stddev=0.3)  # a record drawn in every run
        >>> rarely = NoisyStep(maps, 0.3, probabilities=(0.9, 0.1))
        >>> len(one_of_two.maps), rarely.probabilities
        (2, (0.9, 0.1))
    """

    maps: tuple[Map, ...]
    noise_stddev: float
    probabilities: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        checks.items("maps", self.maps, Map, "at least one StepMap or PiecewiseMap")
        checks.positive("noise_stddev", self.noise_stddev)
        given = (1 / len(self.maps),) * len(self.maps) if self.probabilities is None else self.probabilities
        object.__setattr__(
            self,
            "probabilities",
            checked_probabilities("probabilities", given, len(self.maps), len(self.maps)),
        )


@dataclass(frozen=True, eq=False)
class NoisyChain:
    """A start and steps in a set; the last state is released, nothing else.

    Attributes:
        start: x_0, d numbers, a point of the set.
        steps: at least one.
        constraint: an interval (`Box` or `Ball` in one dimension), a rectangle (`Box` in two), a disc (`Ball` in
            two), or `AllSpace`.
        skipped: probability that a run leaves out its first t steps, t = 0, 1, ..., fewer than all; None: it leaves
            out none.
        stopped: probability that a run ends after step t, t = 1, 2, ..., one for each step; None: it takes all steps.

    Raises `InvalidArgumentError` for other sets or dimensions, and for probabilities of both kinds.

    Examples:
        >>> from dpverify.auditing.exact import NoisyChain, NoisyStep, StepMap
        >>> from dpverify.problems import Box
        >>> step = NoisyStep((StepMap(lambda w: 0.5 * w, lipschitz_constant=0.5, bend=0.0),), noise_stddev=0.3)
        >>> chain = NoisyChain([0.0], (step,) * 3, Box([-1.0], [1.0]), stopped=(0.25, 0.25, 0.5))
        >>> chain.dimension, len(chain.steps)
        (1, 3)
    """

    start: Sequence[float]
    steps: tuple[NoisyStep, ...]
    constraint: Box | Ball | AllSpace
    skipped: tuple[float, ...] | None = None
    stopped: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        allowed = "a Box, a Ball or AllSpace of dimension 1 or 2"
        known = isinstance(self.constraint, (Box, Ball, AllSpace))
        if not known or self.constraint.dimension > MostDimensions:
            raise InvalidArgumentError("constraint", self.constraint, allowed)
        start = checks.numbers("start", self.start, allowed="finite numbers, a point of the set")
        inside = start.shape == (self.dimension,) and bool(self.constraint.contains(start[None, :])[0])
        checks.require(inside, "start", self.start, "finite numbers, a point of the set")
        object.__setattr__(self, "start", tuple(start.tolist()))
        checks.items("steps", self.steps, NoisyStep, "at least one NoisyStep")
        check_steps_taken(self)

    @property
    def dimension(self) -> int:
        """1 or 2."""
        return int(self.constraint.dimension)
