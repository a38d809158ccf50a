"""What a guarantee takes from a loss: constants that are read once, and answers only where they hold.

A guarantee is computed from constants that a loss declares for some points, for records of norm at most 1 and for some
labels. Whoever hands a loss's gradients to somebody else does it through a `GuardedOracle`: it answers at points where
the constants hold and refuses all others, by a rule that does not look at the records.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dpverify.checks import number
from dpverify.errors import InvalidArgumentError
from dpverify.problems.arrays import Array, namespace, quiet, row_norms
from dpverify.problems.constraint_sets import Ball, ConstraintSet
from dpverify.problems.losses import Loss, label_range, sensitivity_radius

if TYPE_CHECKING:
    from dpverify.problems.problem import Problem

_EVERYWHERE = 1e100
"""Norms up to which inner products with records are finite numbers in all that is computed from them."""
_ROUNDING = 1e-9
"""Relative excess over a set that is put down to rounding; such points are projected before they are used. So much of
the gradient sensitivity may be rounding, where gradients grow with their points and that of the record is lost."""


@dataclass(frozen=True)
class Constants:
    """What a loss declares, read once: whatever it answers later, guarantees and noise rest on the same numbers.

    Attributes:
        lipschitz_constant: loss over length; may be infinite.
        smoothness: loss over length^2; may be infinite.
        strong_convexity: loss over length^2.
        gradient_sensitivity: loss over length; may be infinite.
        labels: the smallest and the largest label.
        sensitivity_radius: largest norm of a point at which the gradient sensitivity holds; None: on the constraint
            set only.
    """

    lipschitz_constant: float
    smoothness: float
    strong_convexity: float
    gradient_sensitivity: float
    labels: tuple[float, float]
    sensitivity_radius: float | None

    @classmethod
    def of(cls, loss: Loss) -> Constants:
        """Those of a loss.

        Raises:
            InvalidArgumentError: if one is no number of at least 0.
        """
        declared = {
            name: _at_least_0(f"loss.{name}", getattr(loss, name))
            for name in ("lipschitz_constant", "smoothness", "strong_convexity")
        }
        known = getattr(loss, "gradient_sensitivity", None)
        sensitivity = 2.0 * declared["lipschitz_constant"] if known is None else known
        return cls(
            **declared,
            gradient_sensitivity=_at_least_0("loss.gradient_sensitivity", sensitivity),
            labels=label_range(loss),
            sensitivity_radius=sensitivity_radius(loss),
        )


def _at_least_0(argument: str, value: object) -> float:
    return number(argument, value, at_least=0.0, finite=False)


def is_our_own(value: object) -> bool:
    """Whether an object's class, or a function, is this project's, whose tests hold it to what it declares."""
    kind: Any = value if isinstance(value, FunctionType) else type(value)
    made_in = str(kind.__module__)  # what is made outside of a module is in None
    ours = made_in.partition(".")[0] == "dpverify"
    # one that was made in an example, or only says where it is from, is not found there
    return ours and getattr(sys.modules.get(made_in), kind.__qualname__, None) is kind


def declared_only(loss: Loss, constraint: ConstraintSet, constants: Constants) -> tuple[str, ...]:
    """What guarantees rest on and nobody has checked: the words of losses and sets that are not this project's."""
    found = [
        f"the loss {type(part).__name__} is convex, with a Lipschitz constant of {constants.lipschitz_constant:g}, a "
        f"smoothness of {constants.smoothness:g} and a gradient sensitivity of {constants.gradient_sensitivity:g}"
        for part in _parts_of(loss)
        if not is_our_own(part)
    ]
    if not is_our_own(constraint):
        found.append(f"the set {type(constraint).__name__} is closed and convex, and projected onto")
    return tuple(found)


def _parts_of(loss: Any) -> Iterator[Loss]:
    """The loss, and the losses that it is made of."""
    yield loss
    for field in dataclasses.fields(loss) if dataclasses.is_dataclass(loss) else ():
        part = getattr(loss, field.name)
        if isinstance(part, Loss):
            yield from _parts_of(part)


class GuardedOracle:
    """A problem's gradients and losses, at points where the declared constants hold.

    Args:
        problem: whose loss answers, and whose constants were read when it was made.
    """

    def __init__(self, problem: Problem) -> None:
        self._loss = problem.loss
        self._constraint = problem.constraint
        constants = problem.constants
        radius, sensitivity = constants.sensitivity_radius, constants.gradient_sensitivity
        if radius is not None and constants.strong_convexity > 0 < sensitivity:
            radius = min(
                radius, _ROUNDING * sensitivity / (constants.strong_convexity * sys.float_info.epsilon)
            )
        # points of the set alone are sure to be covered where the loss names no radius of its own
        bounded = radius is not None and radius < _EVERYWHERE
        self._region = Ball(problem.constraint.dimension, radius) if bounded and radius is not None else None
        self._on_set = radius is None

    def admitted(self, points: Array) -> Array:
        """The points, once it is sure that the constants hold there; a point outside by rounding is projected.

        Args:
            points: shape (runs, d), floats.

        Raises:
            InvalidArgumentError: for points outside, and for those that are not finite or of a norm above 1e100,
                where an answer that is not a number could tell records apart.
        """
        region: Any = self._constraint if self._on_set else self._region
        xp = namespace(points)
        with quiet():
            if not bool(xp.all(row_norms(points) <= _EVERYWHERE)):
                raise InvalidArgumentError(
                    "points", points, f"finite numbers, with norms up to {_EVERYWHERE:g}"
                )
            if region is None:
                return points
            if not bool(xp.all(region.contains(points, _ROUNDING))):
                where = (
                    "points of the constraint set"
                    if self._on_set
                    else f"points of norm at most {region.radius:g}"
                )
                raise InvalidArgumentError(
                    "points", points, f"{where}, where the constants of {type(self._loss).__name__} hold"
                )
            return region.project(points)

    def gradient(self, points: Array, x: Array, y: Array) -> Array:
        """(Sub)gradients at admitted points, a new array of shape (runs, d); arguments as for `Loss.gradient`."""
        return self._loss.gradient(points, x, y)

    def value(self, points: Array, x: Array, y: Array) -> Array:
        """Losses at admitted points, shape (runs,); arguments as for `Loss.value`."""
        return self._loss.value(points, x, y)
