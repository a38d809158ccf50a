"""The checker's bridge from theorems to formulas: what is no arithmetic is a letter of which nothing is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import product
from json import dumps

from dpverify.proving.checker import follow, settle
from dpverify.proving.checker.reading import ANY_NUMBER, PARTS, Theorem, read
from dpverify.proving.checker.terms import COMPARISONS, Term, Unknown, demand, make, number, symbol, term
from dpverify.proving.checker.theorems.language import (
    LOGIC,
    Node,
    Scope,
    bound_in,
    fits,
    heads,
    inner,
    is_partial,
    named,
    parts_of,
)

OPERATIONS = {*PARTS, *ANY_NUMBER} - {
    "inner",
    "norm",
    "at",
    "diff",
    "forall",
    "exists",
    "integral",
    "sum",
    "product",
}
"""What arithmetic understands of a term without binders."""


PLAIN = {*COMPARISONS, *LOGIC, "add", "mul", "abs", "max", "min", "num", "sym", "of", "sum", "exp"}
PLAIN |= {"floor", "ceiling", "indicator"}
"""Heads of what has a value everywhere."""
RANGES = {
    "chance": (Fraction(0), Fraction(1)),
    "indicator": (Fraction(0), Fraction(1)),
    "ratio": (Fraction(0), None),
    "norm": (Fraction(0), None),
}
"""What values probabilities, indicators, densities and norms have."""


class FormulaLetters:
    """Terms as terms of formulas: equal parts that are no arithmetic are one letter."""

    def __init__(self, scope: Scope, opaque: frozenset[str] = frozenset()) -> None:
        self.scope, self.opaque = scope, opaque
        self.known = dict[Node, Unknown]()
        self.lengths = dict[Node, Term]()
        """Of vectors whose norms occur: what is true of these."""

    def letter(self, node: Node, kind: str) -> Term:
        """The letter that stands for a term."""
        if node not in self.known:
            low, high = RANGES.get(named(parts_of(node)[0])) or self.scope.range_of(node) or (None, None)
            inner_square = parts_of(node)[0] == "inner" and parts_of(node)[1] == parts_of(node)[2]
            if inner_square or (parts_of(node)[0] == "sum" and is_not_negative(node)):
                low = Fraction(0)
            self.known[node] = Unknown(f"t{len(self.known)}", kind, low, False, high, False)
        return symbol(self.known[node].name)

    def number(self, node: Node) -> Term:
        """What stands for a number."""
        whole, parts = self.scope.type_of(node), parts_of(node)
        if parts[0] in ("num", "pi"):
            return read([*parts])
        if parts[0] in ("sum", "product") and (found := self.added_up(parts)) is not None:
            return found
        if {"inner", "norm"} & self.opaque:
            pass  # inner products and norms are letters
        elif parts[0] in ("inner", "norm"):
            return self.product(*parts[1:]) if parts[0] == "inner" else self.norm(parts[1])
        elif parts[0] == "pow" and parts_of(parts[1])[0] == "norm" and parts[2] == ("num", "2"):
            return self.square(parts_of(parts[1])[1])
        power = parts[0] == "pow" and parts_of(parts[2])[0] != "num" and "power" in self.opaque
        if parts[0] in OPERATIONS - self.opaque and not power:
            return term(named(parts[0]), *map(self.number, parts[1:]))
        return self.letter(node, "integer" if whole == "integer" else "real")

    def vector(self, node: Node) -> dict[Node, Term]:
        """A vector as a sum of multiples of vectors that are no sums and no multiples."""
        head, *parts = parts_of(node)
        found = dict[Node, Term]()
        if head == "add":
            for one, times in (pair for part in parts for pair in self.vector(part).items()):
                found[one] = sum_of(found.get(one, number(0)), times)
            return found
        if head == "mul":
            (which,) = (k for k, part in enumerate(parts) if self.scope.is_space(self.scope.type_of(part)))
            numbers = [self.number(part) for k, part in enumerate(parts) if k != which]
            scale = reduce(product_of, numbers, number(1))
            return {one: product_of(scale, times) for one, times in self.vector(parts[which]).items()}
        return {node: number(1)}

    def product(self, left: Node, right: Node) -> Term:
        """An inner product, multiplied out: those of vectors that are no sums are letters."""
        if not self.scope.is_space(self.scope.type_of(left)):
            return term("mul", self.number(left), self.number(right))
        found = number(0)
        for (u, one), (v, other) in product(self.vector(left).items(), self.vector(right).items()):
            letter = self.letter(("inner", *sorted((u, v), key=str)), "real")
            found = sum_of(found, product_of(product_of(one, other), letter))
        return found

    def square(self, node: Node) -> Term:
        """The square of a vector's norm, of which it is known that it is not negative."""
        found = self.product(node, node)
        self.lengths.setdefault(("norm", node), term("<=", number(0), found))
        return found

    def norm(self, node: Node) -> Term:
        """A vector's norm; a letter for all its multiples by numbers, of which the square is known."""
        if not self.scope.is_space(self.scope.type_of(node)):
            return term("abs", self.number(node))
        parts = sorted(self.vector(node).items(), key=str)
        first = next(
            (times.number for _, times in parts if times.head == "num" and times.number), Fraction(1)
        )
        if all(times.head == "num" for _, times in parts):
            shown = [("mul", ("num", str(times.number / first)), one) for one, times in parts]
            scale, node = number(abs(first)), ("add", *shown)
        else:
            scale = number(1)
        found = self.letter(("norm", node), "real")
        self.lengths["norm", node] = term("==", term("mul", found, found), self.product(node, node))
        return product_of(scale, found)

    def added_up(self, parts: tuple[Node, ...]) -> Term | None:
        """A sum or product in which nothing but arithmetic depends on the index; None for others."""
        name = named(parts_of(parts[1])[0])
        within = FormulaLetters(self.scope.with_letters([(name, (), "integer")]), self.opaque)
        within.known = {("sym", name): Unknown(f"i{len(name)}.{name[1:]}", "integer")}
        body = within.number(parts[2])
        if len(within.known) > 1:
            others = [node for node in within.known if node != ("sym", name)]
            if any(name in str(node) for node in others):
                return None
            body = body.put({within.known[node].name: self.number(node) for node in others})
        index = within.known["sym", name].name
        return make(named(parts[0]), (body, self.number(parts[3]), self.number(parts[4])), index)

    def switch(self, node: Node) -> Term:
        """That an indicator is 1 where its comparison holds, else 0."""
        one, f = self.letter(node, "real"), self.formula(parts_of(node)[1])
        held, not_held = (
            term("and", g, term("==", one, read(["num", n]))) for g, n in ((f, "1"), (term("not", f), "0"))
        )
        return term("or", held, not_held)

    def formula(self, node: Node) -> Term:
        """What stands for a formula; one that is no arithmetic is that its letter is positive."""
        head, *parts = parts_of(node)
        if head in LOGIC:
            return term(named(head), *map(self.formula, parts))
        if head in COMPARISONS and all(fits(self.scope.type_of(part), "real") for part in parts):
            return term(named(head), *map(self.number, parts))
        if head in ("==", "!=") and self.scope.is_space(self.scope.type_of(parts[0])):
            minus: Node = ("add", parts[0], ("mul", ("num", "-1"), parts[1]))
            return term(named(head), self.square(minus), number(0))
        return term("<", read(["num", "0"]), self.letter(node, "real"))


def is_not_negative(node: Node) -> bool:
    """Whether a term, if it has a value, is not negative by its form: an even power, a sum or product of such."""
    head, *parts = parts_of(node)
    if head in ("add", "mul", "sum", "product"):
        return all(map(is_not_negative, parts[1:2] if head in ("sum", "product") else parts))
    if head == "pow" and parts_of(parts[1])[0] == "num":
        return Fraction(named(parts_of(parts[1])[1])) % 2 == 0 or is_not_negative(parts[0])
    return head in ("abs", "norm", "indicator") or (head == "num" and Fraction(named(parts[0])) >= 0)


def is_plain_indicator(node: Node) -> bool:
    """Whether a term is an indicator of comparisons of numbers that have values."""
    parts = parts_of(node)
    return (
        parts[0] == "indicator" and heads(parts[1]) <= PLAIN and not heads(parts[1]).isdisjoint(COMPARISONS)
    )


def sum_of(left: Term, right: Term) -> Term:
    """A sum; of numbers, a number."""
    if left.head == right.head == "num":
        return number(left.number + right.number)
    return term("add", left, right)


def product_of(left: Term, right: Term) -> Term:
    """A product; of numbers, a number."""
    if left.head == right.head == "num":
        return number(left.number * right.number)
    return right if left is number(1) else term("mul", left, right)


def problem(letters: FormulaLetters, facts: Iterable[Node], claim: Node) -> Theorem:
    """The problem of formulas in which a claim follows from facts; bounds of letters are their domains."""
    found = [letters.formula(node) for node in (*facts, claim)]
    switches = dict[Node, Term]()
    while new := [n for n in letters.known if is_plain_indicator(n) and n not in switches]:
        switches |= {n: letters.switch(n) for n in new}  # within which there may be others
    known = {v.name: v for v in letters.known.values()}
    known_besides = (*letters.lengths.values(), *switches.values())
    assuming = [f for f in (*found[:-1], *known_besides) if not narrowed(known, f)]
    return Theorem(tuple(known.values()), tuple(assuming), found[-1])


def narrowed(known: dict[str, Unknown], f: Term) -> bool:
    """Whether a comparison of a letter with a number is now part of the letter's domain."""
    if f.head not in ("<", "<=") or {f.parts[0].head, f.parts[1].head} != {"num", "sym"}:
        return False
    (low, high), strict = f.parts, f.head == "<"
    v = known[low.name or high.name]
    if low.head == "num" and (v.lower is None or (low.number, strict) > (v.lower, v.lower_open)):
        known[high.name] = replace(v, lower=low.number, lower_open=strict)
    if high.head == "num" and (v.upper is None or (-high.number, strict) > (-v.upper, v.upper_open)):
        known[low.name] = replace(v, upper=high.number, upper_open=strict)
    return True


def entail(
    scope: Scope, facts: list[Node], claim: Node, proof: object, witness: object, opaque: frozenset[str],
    work: int = 4_000_000,
) -> None:  # fmt: skip
    """Refuse unless a claim follows from facts by arithmetic, as a proof of formulas shows or without one.

    Values of functions that are opaque are letters of which nothing is known; `power` stands for powers whose
    exponents are no numbers; where inner products or norms are opaque, nothing is multiplied out.
    """
    letters = FormulaLetters(scope, opaque)
    defined = {*letters_of_comparisons(letters, facts), *letters.lengths}
    found = problem(letters, facts, claim)
    if proof is None:
        follow(found, work)
    else:
        demand('"units"' not in dumps(proof), "a proof about units, of which theorems have none")
        demand(settle(found, proof, witness) == "proved", "a proof of something weaker")
    for node in {*letters.known, *letters.lengths} - defined:
        show_defined(scope, facts, node)


def letters_of_comparisons(letters: FormulaLetters, facts: Iterable[Node]) -> dict[Node, Unknown]:
    """The terms of which comparisons that are known say that they have values."""
    for fact in facts:
        for one in parts_of(fact)[1:] if parts_of(fact)[0] == "and" else (fact,):
            if parts_of(one)[0] in COMPARISONS:
                letters.formula(one)
    return letters.known


def show_defined(scope: Scope, facts: list[Node], node: Node) -> None:
    """Refuse a term unless it has a value wherever the facts hold, within all that its binders hold, too."""
    parts = parts_of(node)
    if parts[0] == "all":
        return  # a comparison says that both sides have values
    show_parts_defined(scope, facts, node)
    if parts[0] in ("largest", "smallest"):  # of nothing there is none
        entail(scope, facts, ("<=", parts[3], parts[4]), None, None, frozenset())
    if parts[0] == "divergence":
        known = letters_of_comparisons(FormulaLetters(scope), facts)
        demand(node in known, "a divergence of which it is not known that it has a value")
    if is_partial(parts):
        whole: Node = ("==", node, node)
        if parts[0] == "pow" and parts_of(parts[2])[0] != "num":  # 0 to a positive power is 0
            positive = [("<", ("num", "0"), part) for part in parts[1:]]
            whole = ("and", ("<=", ("num", "0"), parts[1]), ("or", *positive))
        entail(scope, facts, whole, None, None, frozenset())


def show_parts_defined(scope: Scope, facts: list[Node], node: Node) -> None:
    """The same of the parts of a term."""
    parts = parts_of(node)
    within, known = scope.with_letters(bound_in(parts)), facts
    if parts[0] in ("sum", "product", "largest", "smallest"):  # of terms between the ends
        i = ("sym", parts_of(parts[1])[0])
        known = [*facts, ("<=", parts[3], i), ("<=", i, parts[4])]
    for part, bound in inner(parts):
        show_defined(within if bound else scope, known if bound else facts, part)
