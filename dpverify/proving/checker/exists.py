"""The checker's quantifiers: what is put in for letters; what is left of a claim is confirmed by the other parts.

A claim is true if, with values for what there is to be, the rest holds for all values of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from dpverify.proving.checker import confirm
from dpverify.proving.checker.reading import Theorem, fields, items, read, text, variable
from dpverify.proving.checker.terms import (
    BINDING,
    Term,
    Unknown,
    demand,
    heads,
    names,
    negative,
    number,
    symbol,
    term,
)  # fmt: skip

FLIPPED = {"<=": "<", "<": "<=", "==": "!=", "!=": "=="}
Values = Mapping[str, Term]


def folded(e: Term) -> Term:
    """A term or formula in which sums, products and powers of numbers alone are numbers."""
    parts = [folded(part) for part in e.parts]
    numbers = [part.number for part in parts if part.head == "num"]
    if len(numbers) < len(parts) or e.head not in ("add", "mul", "pow"):
        return e.of(*parts)
    if e.head != "pow":
        return number(sum(numbers) if e.head == "add" else prod(numbers))
    base, exponent = numbers
    return number(base**exponent.numerator) if exponent in range(-9, 10) and base else e.of(*parts)


def whole(e: Term, known: Mapping[str, Unknown]) -> bool:
    """Whether a term is an integer as it is written; what stands in exponents must be a number or a letter."""
    match e:
        case Term("pow", (base, exponent)):
            least = exponent.number if exponent.head == "num" else known[exponent.name].lower
            return least is not None and least >= 0 and whole(base, known) and whole(exponent, known)
        case Term("add" | "mul", parts):
            return all(whole(part, known) for part in parts)
        case Term("num"):
            return e.number % 1 == 0
        case Term("sym"):
            return e.name in known and known[e.name].kind == "integer"
    return e.head in ("floor", "ceiling")


def conditions(v: Unknown, value: Term, known: Mapping[str, Unknown]) -> list[Term]:
    """What is left to be shown for a value to lie in a domain; a number is looked at here."""
    demand(v.kind in ("real", "integer"), "a vector")
    demand(v.kind == "real" or whole(value, known), f"no integer for {v.name}")
    left = [*v.domain(value)]
    if value.head != "num":
        return left
    for f in left:
        low, high = (side.number for side in f.parts)
        demand(low < high or (low == high and f.head == "<="), f"{value.number} is no value of {v.name}")
    return []


def negated(f: Term) -> Term:
    """What is true where a formula is false."""
    match f:
        case Term("<=" | "<", (left, right)):
            return term(FLIPPED[f.head], right, left)
        case Term("==" | "!=", parts):
            return term(FLIPPED[f.head], *parts)
        case Term("and" | "or", parts):
            return term("or" if f.head == "and" else "and", *map(negated, parts))
        case Term("not", (part,)):
            return part
    raise ValueError(f"the negation of {f.head}")


def parts_of(f: Term) -> list[Term]:
    """The parts of a conjunction, or the formula alone; |u| <= v is u <= v and -u <= v."""
    match f:
        case Term("<=" | "<", (Term("abs", (u,)), v)):
            return [term(f.head, u, v), term(f.head, negative(u), v)]
        case Term("and", parts):
            return [inner for part in parts for inner in parts_of(part)]
    return [f]


def by_name(variables: Iterable[Unknown]) -> dict[str, Unknown]:
    """Variables by their names."""
    return {v.name: v for v in variables}


def read_all(values: object) -> dict[str, Term]:
    """Values, in which nothing may be bound."""
    found = {name: read(value) for name, value in fields(values).items()}
    for e in found.values():
        demand(not heads(e) & {*BINDING, "inf"}, "a value in which something is bound")
    return found


class Peeled:
    """The quantifiers of a claim in their order, its premises, and the rest."""

    def __init__(self, problem: Theorem) -> None:
        self.over, self.given, self.core = problem.variables, [*problem.assuming], problem.claim
        self.quantified = list[Term]()
        while self.core.head in ("forall", "exists", "implies"):
            if self.core.head == "implies":
                self.given += parts_of(self.core.parts[0])
            else:
                self.quantified.append(self.core)
            self.core = self.core.parts[-1]
        used = [*self.over, *self.chosen, *self.every]
        demand(len(by_name(used)) == len(used), "a name twice")

    def bound(self, kind: str) -> tuple[Unknown, ...]:
        """The variables of one kind of quantifier."""
        return tuple(f.over for f in self.quantified if f.head == kind and f.over)

    @property
    def chosen(self) -> tuple[Unknown, ...]:
        """What there is to be."""
        return self.bound("exists")

    @property
    def every(self) -> tuple[Unknown, ...]:
        """What the rest is about."""
        return self.bound("forall")

    def filled(self, kind: str, before: Iterable[Unknown], values: Values) -> list[Term]:
        """The conditions of values for one kind of quantifier, each made of what comes before it."""
        known, left = by_name(before), list[Term]()
        for f in self.quantified:
            if f.over is None or f.head != kind:
                known |= by_name([f.over] if f.over else [])
                continue
            value = values[f.name]
            demand(names(value) <= known.keys(), f"the value of {f.name} uses what comes after it")
            left += conditions(f.over, value, known)
        return left


def confirmed(inner: object, wanted: Theorem) -> str:
    """The verdict of a certificate that is about a problem, as the rest of the checker confirms it."""
    found = Theorem.read(fields(inner)["problem"])
    given = zip((*found.assuming, found.claim), (*wanted.assuming, wanted.claim), strict=True)
    same = found.variables == wanted.variables and all(folded(f) is folded(g) for f, g in given)
    demand(same, "a certificate about something else")
    try:
        confirm(inner)
    except ValueError as why:
        raise ValueError(f"inside: {why}") from why
    return text(fields(inner)["verdict"])


def weakest(inner: list[object], over: tuple[Unknown, ...], given: Iterable[Term], claims: list[Term]) -> str:
    """The weakest verdict of certificates, one for each claim in turn."""
    demand(len(inner) == len(claims), "not a certificate for each part")
    verdicts = {confirmed(one, Theorem(over, tuple(given), f)) for one, f in zip(inner, claims, strict=True)}
    demand(verdicts <= {"proved", "certified"}, "not shown inside")
    return "proved" if verdicts == {"proved"} else "certified"


def shown(peeled: Peeled, proof: dict[str, object]) -> str:
    """Proved: with the values in place, the rest holds for everything else."""
    values, over = read_all(proof["values"]), (*peeled.over, *peeled.every)
    demand(values.keys() == by_name(peeled.chosen).keys(), "values of other names")
    left = peeled.filled("exists", peeled.over, values)
    given = tuple(f.put(values) for f in peeled.given)
    claims = left + [f.put(values) for f in parts_of(peeled.core)]
    verdict = weakest(items(proof["inner"]), over, given, claims)
    for less in map(fields, items(proof.get("below", []))):
        smaller = read_all(less["values"])
        peeled.filled("exists", peeled.over, smaller)
        demand(all(e.head == "num" for e in smaller.values()), "a bound that is no number")
        rest = Theorem(over, tuple(f.put(smaller) for f in peeled.given), peeled.core.put(smaller))
        demand(confirmed(less["inner"], rest) == "refuted", "a bound that is not shown")
    return verdict


def grown(peeled: Peeled, growth: dict[str, object]) -> tuple[Unknown, list[Term]]:
    """A letter with a rate that grows without bound, and that constants are below it, or their inverses are."""
    t, rate = variable(growth["along"]), read(growth["rate"])
    above, below = (list(map(text, items(growth[side]))) for side in ("above", "below"))
    demand(t.kind in ("real", "integer") and t.upper is None, "a letter that is bounded")
    demand(t.name not in by_name((*peeled.over, *peeled.chosen, *peeled.every)), "a name twice")
    kinds = [f.head for f in peeled.quantified]
    demand(kinds == sorted(kinds), "constants that depend on other letters")  # exists before forall
    demand(rises(rate, t.name), "a rate that does not grow")
    constants = by_name(peeled.chosen)
    demand({*above} <= constants.keys(), "a name that is not a constant")
    given = [term("<=", symbol(x), rate) for x in above]
    for x in below:
        low = constants[x].lower
        demand(low is not None and low >= 0 and constants[x].lower_open, f"{x} may be 0")
        given.append(term("<=", number(1), term("mul", symbol(x), rate)))
    return t, given


def refuted(peeled: Peeled, proof: dict[str, object]) -> str:
    """Refuted: whatever there is, at the values all conditions hold and the claim does not.

    With `growth`, only for constants up to a rate that grows without bound (down to its inverse).
    """
    values, over, given, before = read_all(proof["values"]), peeled.chosen, list[Term](), list[Unknown]()
    demand(values.keys() == by_name((*peeled.over, *peeled.every)).keys(), "values of other names")
    if proof.get("growth") is not None:
        t, given = grown(peeled, fields(proof["growth"]))
        over, before = (*over, t), [t]
    for v in peeled.over:
        demand(values[v.name].head == "num", "no point")
        conditions(v, values[v.name], {})
    left = peeled.filled("forall", before, values)
    left += [f.put(values) for f in peeled.given]
    which = proof.get("part")
    core = parts_of(peeled.core)[which] if isinstance(which, int) else peeled.core
    verdict = weakest(items(proof["inner"]), over, given, [*left, negated(core.put(values))])
    demand(verdict == "proved", "not shown inside for all values")
    return "refuted"


def rises(rate: Term, x: str) -> bool:
    """Whether a rate is a positive multiple of a positive power of a letter, or of its logarithm."""
    match rate:
        case Term("mul", (Term("num"), Term("log", (base,)))):
            return rate.parts[0].number > 0 and base is symbol(x)
        case Term("mul", (Term("num"), Term("pow", (base, Term("num") as exponent)))):
            return rate.parts[0].number > 0 < exponent.number and base is symbol(x)
    return False


def show(problem: Theorem, proof: dict[str, object], _: object) -> str:
    """The verdict that follows from the certificates inside."""
    peeled = Peeled(problem)
    demand(peeled.chosen, "nothing that there is to be")
    return {"claim": shown, "negation": refuted}[text(proof["shows"])](peeled, proof)
