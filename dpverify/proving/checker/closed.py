"""The checker's sums and integrals: a closed form takes their place once it is shown; parts of a claim one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.proving.checker import follow, settle
from dpverify.proving.checker.reading import Theorem, items, read
from dpverify.proving.checker.terms import (
    BINDING,
    Term,
    Unknown,
    demand,
    make,
    minus,
    names,
    number,
    symbol,
    term,
)  # fmt: skip


def found(e: Term, head: str) -> list[Term]:
    """The terms with a head, but for those within a scope."""
    if e.head == head:
        return [e]
    return [] if e.head in BINDING else [inner for part in e.parts for inner in found(part, head)]


def replaced(e: Term, old: Term, new: Term) -> Term:
    """The same with a term in another's place, but for those within a scope, where names mean other things."""
    if e is old or e.head in BINDING:
        return new if e is old else e
    return e.of(*(replaced(part, old, new) for part in e.parts))


def whole(e: Term, integers: Iterable[str]) -> bool:
    """Whether a term is an integer as it is written."""
    if e.head in ("add", "mul"):
        return all(whole(part, integers) for part in e.parts)
    return e.number % 1 == 0 if e.head == "num" else e.head == "sym" and e.name in integers


def polynomial(e: Term, x: str) -> bool:
    """Whether a term is a polynomial in a name, as it is written."""
    if e.head in ("add", "mul"):
        return all(polynomial(part, x) for part in e.parts)
    if e.head == "pow" and e.parts[1].head == "num" and e.parts[1].number in range(99):
        return polynomial(e.parts[0], x)
    return x not in names(e) or e is symbol(x)


def square(e: Term) -> Term:
    """The square of a term."""
    return term("pow", e, number(2))


def root(e: Term) -> Term:
    """The root of a term."""
    return term("pow", e, number(Fraction(1, 2)))


@dataclass(frozen=True)
class Surroundings:
    """A problem's variables and assumptions, for questions with one more letter."""

    problem: Theorem

    def show(self, *claims: Term, extra: Unknown | None = None, given: Iterable[Term] = ()) -> None:
        """Refuse unless claims follow, for all values of a letter as well, which then is no variable of the problem."""
        variables, assumed = self.problem.variables, self.problem.assuming
        if extra:
            variables = (*(v for v in variables if v.name != extra.name), extra)
            assumed = tuple(f for f in assumed if extra.name not in names(f))
        follow(Theorem(variables, (*assumed, *given), term("and", *claims)))

    def sum(self, e: Term, forms: list[object]) -> Term:
        """The closed form F of a sum, at its last term: F(first) = body(first), and F(k) - F(k - 1) = body."""
        body, first, last = e.parts
        demand(e.name not in names(first) | names(last), "an end of a sum that depends on its index")
        integers = {v.name for v in self.problem.variables if v.kind == "integer"}
        demand(whole(first, integers) and whole(last, integers), "an end of a sum that may be no integer")
        self.show(term("<=", first, last))
        k, why = symbol(e.name), "no closed form of the sum"
        for pair in forms:
            known, form = map(read, items(pair))
            if known.head != "sum" or known.name != e.name:
                continue
            try:
                self.show(term("==", form.put({e.name: first}), body.put({e.name: first})))
                rise = minus(form, form.put({e.name: term("add", k, number(-1))}))
                between = term("<=", term("add", first, number(1)), k), term("<=", k, last)
                self.show(term("==", rise, body), extra=Unknown(e.name, "integer"), given=between)
                return form.put({e.name: last})
            except ValueError as error:
                why = str(error)
        raise ValueError(why)

    def gaussian(self, e: Term, proof: dict[str, object]) -> Term:
        """The integral of factor * bell, and of the slope of part * bell; bell is exp(-rate * (x - center)^2)."""
        body, *ends = e.parts
        rate, center, factor = (read(proof[part]) for part in ("rate", "center", "factor"))
        used = frozenset[str]().union(*map(names, (rate, center, factor, *ends)))
        demand(e.name not in used, "a part that depends on what is integrated over")
        away = square(minus(symbol(e.name), center))
        bell = term("exp", term("mul", number(-1), rate, away))
        part, form = read(proof.get("part", ["num", "0"])), term("mul", factor, bell)
        demand(polynomial(part, e.name), "a part that is no polynomial")
        if "part" in proof:
            rise = make("diff", (term("mul", part, bell),), e.name, Fraction(1))
            form = term("add", form, rise)
        self.show(term("==", body, form), extra=Unknown(e.name, "real"))
        infinite = [end for end in ends if end.head == "inf"]
        demand(
            ends[0] is not make("inf", (), "+") and ends[1] is not make("inf", (), "-"),
            "ends in the wrong order",
        )
        self.show(term("<", number(0), rate), *([] if infinite else [term("<=", *ends)]))
        far = root(term("mul", number(2), rate))
        below = [
            number(end.name == "+")
            if end.head == "inf"
            else term("phi", term("mul", far, minus(end, center)))
            for end in ends
        ]
        size = root(term("mul", term("pi"), term("pow", rate, number(-1))))
        ends_of_part = [
            number(0) if end.head == "inf" else term("mul", part, bell).put({e.name: end}) for end in ends
        ]  # it is near 0 far out
        return term("add", term("mul", factor, size, minus(below[1], below[0])), minus(*ends_of_part[::-1]))

    def primitive(self, e: Term, proof: dict[str, object]) -> Term:
        """The integral of a derivative between two numbers."""
        body, low, high = e.parts
        form, x = read(proof["primitive"]), symbol(e.name)
        demand(e.name not in names(low) | names(high), "an end that depends on what is integrated over")
        far = [end for end in (low, high) if end.head == "inf"]
        claims = [term("==", make("diff", (form,), e.name, Fraction(1)), body)]
        if far:
            claims.append(term("==", form, self.decaying(e, proof, high.name == "+")))
        else:
            self.show(term("<=", low, high))
        ends = [term("<=", u, v) for u, v in ((low, x), (x, high)) if u not in far and v not in far]
        self.show(*claims, extra=Unknown(e.name, "real"), given=ends)
        return minus(*(number(0) if end in far else form.put({e.name: end}) for end in (high, low)))

    def decaying(self, e: Term, proof: dict[str, object], up: bool) -> Term:
        """A polynomial in what is integrated over times exp(-rate x), which is near 0 far up, or far down."""
        factor, rate, x = read(proof["factor"]), read(proof["rate"]), symbol(e.name)
        demand(e.parts[1:].count(make("inf", (), "+" if up else "-")) == 1, "ends in the wrong order")
        demand(up != (e.parts[1].head == "inf"), "no finite end")
        demand(polynomial(factor, e.name) and e.name not in names(rate), "what may not decay")
        self.show(term("<", number(0), term("mul", number(1 if up else -1), rate)))
        return term("mul", factor, term("exp", term("mul", number(-1), rate, x)))

    def binomials(self, e: Term, proof: dict[str, object]) -> Term:
        """The sum over i from 0 to n of factor * (n over i) a^i b^(n - i), for positive a and b."""
        body, first, last = e.parts
        a, b, factor = (read(proof[part]) for part in ("a", "b", "factor"))
        integers = {v.name for v in self.problem.variables if v.kind == "integer"}
        demand(first is number(0) and whole(last, integers), "an end of a sum that may be no integer")
        used = frozenset[str]().union(*map(names, (a, b, factor, last)))
        demand(e.name not in used, "a part that depends on the index")
        i, low = symbol(e.name), term("<=", number(0), last)
        self.show(low, *(term("<", number(0), base) for base in (a, b)))
        powers = term("pow", a, i), term("pow", b, minus(last, i))
        form = term("mul", factor, term("binomial", last, i), *powers)
        between = low, term("<=", number(0), i), term("<=", i, last)
        self.show(term("==", body, form), extra=Unknown(e.name, "integer"), given=between)
        return term("mul", factor, term("pow", term("add", a, b), last))


def show(problem: Theorem, proof: dict[str, object], witness: object) -> str:
    """The verdict of what is left once closed forms are in place, or the weakest of a conjunction's parts."""
    claim, place = problem.claim, Surroundings(problem)
    if proof["method"] == "conjunction":
        demand(claim.head == "and" and claim.parts, "no conjunction")
        parts = zip(claim.parts, items(proof["parts"]), strict=True)
        verdicts = {settle(replace(problem, claim=f), steps, witness) for f, steps in parts}
        demand(verdicts <= {"proved", "certified"}, "a part that is refuted")
        return min(verdicts)
    if proof["method"] == "sum":
        for e in found(claim, "sum"):
            claim = replaced(claim, e, place.sum(e, items(proof["closed"])))
    elif proof["method"] == "binomial-sum":
        e = read(proof["sum"])
        demand(e.head == "sum", "no sum")
        claim = replaced(claim, e, place.binomials(e, proof))
    else:
        e = read(proof["integral"])
        demand(e.head == "integral", "no integral")
        form = place.gaussian if proof["method"] == "gaussian-integral" else place.primitive
        claim = replaced(claim, e, form(e, proof))
    return settle(replace(problem, claim=claim), proof["then"], witness)
