"""What a guarantee rests on must not depend on records: the scale of noise, what is claimed, ends of sums."""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.proving.checker.theorems.language import Node, inner, parts_of
from dpverify.proving.theorems.finite_models import FOLDS
from dpverify.statements.mechanisms.pages import MechanismOnPage, private

SCALES = {"laplace": (2, "scale"), "normal": (2, "scale"), "exponential": (1, "scale")}
"""Of laws, the part that must be public, and its name."""


def dependence(mechanism: MechanismOnPage, scales: bool = True) -> tuple[int, str] | None:
    """The line on which something depends on records that must not, and what it is; None where nothing does.

    Maybe without scales, where these may be smooth bounds.
    """
    for draw in mechanism.of("draw") if scales else ():
        law = parts_of(draw.term)
        place, name = SCALES.get(str(law[0]), (0, ""))
        if place and private(mechanism, law[place]):
            return draw.line, f"the {name} of the noise depends on records"
    for query in mechanism.of("query"):
        if any(private(mechanism, end) for end in ends(query.term)):
            return query.line, "where a sum begins or ends depends on records"
    if mechanism.test is None and private(mechanism, mechanism.output.term):
        return mechanism.output.line, "what is made from the draws depends on records"
    for claim in mechanism.of("claim"):
        numbers: tuple[Node, ...] = parts_of(claim.term)[1:]
        if any(private(mechanism, one) for one in numbers):
            return claim.line, "what is claimed depends on records"
    return None


def ends(term: Node) -> Iterator[Node]:
    """The first and last numbers of all sums, products, largest and smallest values of a term."""
    parts = parts_of(term)
    if parts[0] in FOLDS:
        yield from parts[3:]
    for part, _ in inner(parts):
        yield from ends(part)
