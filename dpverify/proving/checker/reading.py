"""The checker's reading of JSON: nothing is used that is not of the form which docs/certificates.md gives."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpverify.proving.checker.terms import BINDING, COMPARISONS, Term, Unknown, demand, make, number, term

PARTS = dict.fromkeys((*COMPARISONS, "implies", "pow", "binomial", "inner", "at"), 2)
PARTS |= dict.fromkeys(("not", "exp", "log", "erfc", "phi", "phi_inverse", "gamma", "factorial", "abs"), 1)
PARTS |= dict.fromkeys(
    ("floor", "ceiling", "norm", "diff", "forall", "exists", "sin", "cos", "arctan"), 1
) | {"pi": 0}
PARTS |= dict.fromkeys(("sum", "product", "integral"), 3)
ANY_NUMBER = ("and", "or", "add", "mul", "max", "min")


def items(value: object) -> list[object]:
    """A list."""
    if not isinstance(value, list):
        raise ValueError(f"no list: {str(value)[:60]}")
    return value


def fields(value: object) -> dict[str, object]:
    """An object with named parts."""
    if not isinstance(value, dict):
        raise ValueError(f"no object: {str(value)[:60]}")
    return value


def text(value: object) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ValueError(f"no string: {str(value)[:60]}")
    return value


def exact(value: object) -> Fraction:
    """An exact number."""
    written = text(value)
    demand(len(written) < 900 and {*written} <= {*"-/.0123456789"}, f"no number: {written[:60]}")
    return Fraction(written)


def variable(value: object) -> Unknown:
    """A variable."""
    given = fields(value)
    opened = [given["lower_open"], given["upper_open"]]
    demand(all(isinstance(end, bool) for end in opened), "a bad variable")
    lower, upper = (None if given[end] is None else exact(given[end]) for end in ("lower", "upper"))
    loss, length = (exact(fields(given["unit"])[quantity]) for quantity in ("loss", "length"))
    kind = text(given["kind"])
    demand(kind in ("real", "integer", "vector"), f"no kind of variable: {kind}")
    name = text(given["name"])
    demand(not {*name} & {*"|\\"}, f"a bad variable: {name}")  # SMT-LIB has no such names
    return Unknown(name, kind, lower, opened[0] is True, upper, opened[1] is True, loss, length)


def read(value: object) -> Term:
    """A term or formula."""
    head, *rest = items(value)
    match text(head), *rest:
        case "num", q:
            return number(exact(q))
        case "sym", name:
            return make("sym", (), text(name))
        case "inf", ("+" | "-") as sign:
            return make("inf", (), text(sign))
        case "diff", body, name, int(order):
            return make("diff", (read(body),), text(name), Fraction(order))
        case ("forall" | "exists") as kind, over, body:
            bound = variable(over)
            return make(kind, (read(body),), bound.name, over=bound)
        case kind, body, name, *ends if kind in BINDING:
            found = make(text(kind), (read(body), *map(read, ends)), text(name))
        case kind, *parts:
            found = term(text(kind), *map(read, parts))
    demand(
        len(found.parts) == PARTS.get(found.head, len(found.parts)),
        f"{found.head} of {len(found.parts)} parts",
    )
    demand(found.head in PARTS or found.head in ANY_NUMBER, f"{found.head} is beyond this checker")
    return found


@dataclass(frozen=True)
class Theorem:
    """A claim for all values of variables that satisfy what is assumed."""

    variables: tuple[Unknown, ...]
    assuming: tuple[Term, ...]
    claim: Term

    def __post_init__(self) -> None:
        demand(len({v.name for v in self.variables}) == len(self.variables), "a name twice")

    @staticmethod
    def read(value: object) -> Theorem:
        """A problem."""
        given = fields(value)
        demand(given.keys() == {"variables", "assuming", "claim"}, "no problem")
        variables = tuple(map(variable, items(given["variables"])))
        return Theorem(variables, tuple(map(read, items(given["assuming"]))), read(given["claim"]))
