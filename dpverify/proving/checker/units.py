"""The checker's units: whether all that is added or compared is homogeneous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpverify.proving.checker.reading import Theorem, exact, fields
from dpverify.proving.checker.terms import COMPARISONS, Term, Unknown, demand

KEEPING = ("add", "max", "min", "abs", "norm")
NUMBERS = (
    "pi", "exp", "log", "erfc", "phi", "phi_inverse", "floor", "ceiling", "gamma", "factorial", "binomial",
    "sin", "cos", "arctan",
)  # fmt: skip


@dataclass(frozen=True)
class Dimension:
    """Powers of loss and length."""

    loss: Fraction = Fraction(0)
    length: Fraction = Fraction(0)

    def times(self, other: Dimension, power: Fraction) -> Dimension:
        """The unit of a product with a power of something."""
        return Dimension(self.loss + power * other.loss, self.length + power * other.length)


PURE = Dimension()
Known = Mapping[str, Dimension | None]  # the units of names; None, of 0 and infinity, is any unit


class DimensionError(ValueError):
    """Two units where there must be one."""

    def __init__(self, *units: Dimension) -> None:
        super().__init__("units differ")
        self.units = set(units)


def alike(*units: Dimension | None) -> Dimension | None:
    """The unit that all share."""
    known = [unit for unit in units if unit is not None]
    for unit in known:
        if unit != known[0]:
            raise DimensionError(unit, known[0])
    return known[0] if known else None


def bound(e: Term, known: Known) -> Dimension | None:
    """The unit of a term in which a name is bound; if declared nowhere, it is measured as what it is put at."""
    ends = [unit(end, known) for end in e.parts[1:]]
    name = PURE if e.head == "sum" else known[e.name] if e.name in known or not ends else alike(*ends)
    alike(name, *ends)
    demand(name or e.head == "at", f"no unit of {e.name}")
    inner = unit(e.parts[0], {**known, e.name: name})
    times = {"diff": -e.number, "integral": Fraction(1)}.get(e.head, Fraction(0))
    return inner and inner.times(name or PURE, times)


def unit(e: Term, known: Known) -> Dimension | None:
    """The unit of a term."""
    match e.head:
        case "num":
            return PURE if e.number else None
        case "sym":
            return known[e.name]
        case "inf":
            return None
        case "sum" | "integral" | "diff" | "at":
            return bound(e, known)
    units = [unit(part, known) for part in e.parts]
    if e.head == "pow":
        alike(PURE, units[1])
        if units[0] in (None, PURE):
            return units[0]
        demand(e.parts[1].head == "num", "a unit to the power of a letter")
        return PURE.times(units[0] or PURE, e.parts[1].number)
    if e.head in ("mul", "inner"):
        found = PURE
        for one in units:
            found = found.times(one or PURE, Fraction(1))
        return None if None in units else found
    demand(e.head in (*KEEPING, *NUMBERS), f"no unit of {e.head}")
    return alike(*units) if e.head in KEEPING else alike(PURE, *units)


def walk(f: Term, known: Known) -> None:
    """Refuse a formula that mixes units."""
    if f.head in COMPARISONS:
        alike(*(unit(part, known) for part in f.parts))
        return
    demand(f.head in ("and", "or", "not", "implies", "forall", "exists"), f"no formula: {f.head}")
    inner = known if f.over is None else {**known, f.name: of(f.over)}
    for part in f.parts:
        walk(part, inner)


def of(variable: Unknown) -> Dimension:
    """The unit of a variable."""
    return Dimension(variable.loss, variable.length)


def written(value: object) -> Dimension:
    """A unit from JSON."""
    given = fields(value)
    return Dimension(exact(given["loss"]), exact(given["length"]))


def show(problem: Theorem, proof: dict[str, object], _: object) -> str:
    """Proved if no formula mixes units; refuted if the first that does mixes the two that the proof names."""
    known = {x: written(value) for x, value in fields(proof.get("bound", {})).items() if "left" not in proof}
    known |= {v.name: of(v) for v in problem.variables}
    try:
        for f in (problem.claim, *problem.assuming):
            walk(f, known)
    except DimensionError as clash:
        demand("bound" not in proof, "units differ")
        demand(clash.units == {written(proof["left"]), written(proof["right"])}, "other units are mixed")
        return "refuted"
    return "proved"
