"""The checker's logic, by cvc5: formulas of terms that are quotients of polynomials in what is unknown."""

from __future__ import annotations

from collections.abc import Iterable

from dpverify.proving.checker.arithmetic.functions import FunctionTerms, Names
from dpverify.proving.checker.arithmetic.questions import Formula
from dpverify.proving.checker.arithmetic.quotients import Rational
from dpverify.proving.checker.reading import Theorem
from dpverify.proving.checker.terms import (
    COMPARISONS,
    Term,
    conjuncts,
    demand,
    heads,
    minus,
    plain,
    term,
)  # fmt: skip


class Known(FunctionTerms):
    """What is known of variables."""

    def __init__(self, problem: Theorem, work: int) -> None:
        super().__init__([v.name for v in problem.variables if v.kind == "integer"])
        self.work = work  # for cvc5, by its own count
        demand(all(v.kind != "vector" for v in problem.variables), "a vector")
        self.names |= {v.name: self.variable(v.name) for v in problem.variables}
        self.given([*(f for v in problem.variables for f in v.domain()), *problem.assuming])

    def given(self, facts: Iterable[Term]) -> None:
        """From now on, all of these; what makes one of them defined may stand behind it."""
        left = [*facts]
        while left:
            later, why = list[Term](), "perhaps undefined"
            for f in left:
                try:
                    self.tell(f)
                except ValueError as error:
                    later, why = [*later, f], str(error)
            demand(len(later) < len(left), why)
            left = later
        self.assuming = False

    def tell(self, f: Term) -> None:
        """From now on, a formula; a comparison that holds is defined, where no logarithm asks for more."""
        if f.head == "and":
            for part in f.parts:
                self.tell(part)
            return
        self.assuming = f.head in COMPARISONS and "log" not in heads(plain(minus(*f.parts)))
        if f.head in COMPARISONS:
            self.learn(f.head, self.gap(f, self.names))
        else:
            self.known.append(self.logic(f, self.names))

    def gap(self, f: Term, names: Names) -> Rational:
        """Right minus left of a comparison."""
        return self.term(plain(minus(*f.parts[::-1])), names)

    def logic(self, f: Term, names: Names) -> Formula:
        """A formula for cvc5."""
        if f.head in ("and", "or", "not", "implies"):
            return Formula(f.head, tuple(self.logic(part, names) for part in f.parts))
        if f.head in COMPARISONS:
            return self.formula(f.head, self.gap(f, names))
        if f.head != "forall" or f.over is None:
            raise ValueError(f"{f.head} is beyond this checker")
        demand(f.over.kind == "real" and f.name not in names, "a bound integer, or a name bound twice")
        low, high = f.over.lower, f.over.upper
        demand(low is None or high is None or low < high, "a domain of one number or none")
        at, known = self.variable(f.name), len(self.known)
        inner = self.logic(term("implies", term("and", *f.over.domain()), *f.parts), {**names, f.name: at})
        demand(len(self.known) == known, "more than polynomials under a quantifier")
        del self.letters[f.name]
        return Formula("forall", (inner,), letter=f.name)


def follow(problem: Theorem, work: int) -> None:
    """Refuse unless the claim follows from domain and assumptions."""
    known = Known(problem, work)
    for f in conjuncts(problem.claim):
        if f.head in COMPARISONS:
            found = known.shows(f.head, known.gap(f, known.names))
        else:
            found = known.follows(known.logic(f, known.names))
        demand(found, f"cvc5 found no proof of a claim with {f.head}")
