"""What a loss declares, read once, and whose word nobody has checked."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from dpverify.checks import number
from dpverify.problems.constraint_sets import ConstraintSet
from dpverify.problems.losses import Loss, label_range, sensitivity_radius


@dataclass(frozen=True)
class DeclaredConstants:
    """What a loss declares, read once: whatever it answers later, guarantees and noise rest on the same numbers."""

    lipschitz_constant: float  # loss over length; may be infinite
    smoothness: float  # loss over length^2; may be infinite
    strong_convexity: float  # loss over length^2
    gradient_sensitivity: float  # loss over length; may be infinite
    labels: tuple[float, float]  # the smallest and the largest
    sensitivity_radius: (
        float | None
    )  # largest norm where the gradient sensitivity holds; None: on the set only

    @classmethod
    def of(cls, loss: Loss) -> DeclaredConstants:
        """Those of a loss."""
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


def declared_only(loss: Loss, constraint: ConstraintSet, constants: DeclaredConstants) -> tuple[str, ...]:
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
