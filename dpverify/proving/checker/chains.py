"""The checker's chains: 0 <= f or 0 < f, taken apart by rules until algebra shows what is left."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpverify.proving.checker import follow
from dpverify.proving.checker.reading import Theorem, items, read, text
from dpverify.proving.checker.terms import (
    COMPARISONS,
    Term,
    Unknown,
    conjuncts,
    demand,
    minus,
    names,
    negative,
    number,
    plain,
    slope,
    symbol,
    term,
)  # fmt: skip

STRICT = {"<": True, "<=": False}


def fact(relation: str, e: Term) -> Term:
    """That 0 relation e."""
    return term(relation, number(0), e)


def plainly(value: object) -> Term:
    """A term from JSON, in the form in which arithmetic takes it."""
    return plain(read(value))


@dataclass(frozen=True)
class ChainGoal:
    """That f is defined, and 0 <= f (or 0 < f), wherever all that is given holds."""

    given: tuple[Term, ...]
    f: Term
    strict: bool

    def show(self, *claims: Term) -> None:
        """Refuse unless comparisons follow from what is given; integers count as real."""
        used = frozenset[str]().union(*map(names, (*self.given, *claims)))
        variables = tuple(Unknown(name, "real") for name in sorted(used))
        follow(Theorem(variables, self.given, term("and", *claims)))

    def holds(self, claim: Term) -> bool:
        """Whether a comparison follows from what is given."""
        try:
            self.show(claim)
        except ValueError:
            return False
        return True

    def follow(self, proof: object) -> None:
        """Refuse unless steps show it."""
        match proof:
            case ["leaf"]:
                self.show(fact("<" if self.strict else "<=", self.f))
            case ["as", new, facts, e, then]:
                self.renamed(items(new), items(facts), plainly(e), then)
            case ["each", *proofs] if self.f.head in ("add", "mul"):
                for i, (part, why) in enumerate(zip(self.f.parts, proofs, strict=True)):
                    strict = self.strict and (self.f.head == "mul" or i == 0)
                    replace(self, f=part, strict=strict).follow(why)
            case ["order", then]:
                self.order(then)
            case ["cases", e, above, below]:
                self.show(term("==", plainly(e), plainly(e)))  # it is defined, so that there is no third case
                for sign, why in ((plainly(e), above), (negative(plainly(e)), below)):
                    replace(self, given=(*self.given, fact("<=", sign))).follow(why)
            case ["slope" | "climb" as rule, str(x), ["+" | "-" as end, str(small), e], edge, rise]:
                Way(self, x, plainly(e), end == "-", rule == "climb").far(small, edge, rise)
            case ["slope" | "climb" as rule, str(x), end, edge, rise]:
                e = plainly(end)
                above = self.holds(fact("<=", minus(symbol(x), e)))
                Way(self, x, e, above, rule == "climb").near(edge, rise)
            case ["arch", str(x), low, high, at_low, at_high, bend]:
                Arch(self, x, plainly(low), plainly(high)).bounded(at_low, at_high, bend)
            case _:
                raise ValueError(f"not understood: {str(proof)[:60]}")

    def renamed(self, new: list[object], facts: list[object], e: Term, then: object) -> None:
        """Here f is e where new letters have the values that are said; of these only the facts are used."""
        values = {text(name): plainly(value) for name, value in map(items, new)}
        old = frozenset[str]().union(*map(names, (self.f, *values.values(), *self.given)))
        demand(not old & values.keys(), "a letter that is not new")
        more, here = list[Term](), self
        for relation, value, why in map(items, facts):
            more.append(fact(text(relation), plainly(value)))
            replace(here, f=plainly(value).put(values), strict=STRICT[text(relation)]).follow(why)
            here = replace(here, given=(*here.given, more[-1].put(values)))
        here.show(fact("==", minus(e.put(values), self.f)))
        replace(self, given=(*self.given, *more), f=e).follow(then)

    def order(self, then: object) -> None:
        """Here f is F(v) - F(u), and F grows."""
        match self.f.parts:
            case (Term(head, (v,)), Term("mul", (_, Term(_, (u,))))) if head in ("exp", "log", "phi"):
                demand(self.f is minus(term(head, v), term(head, u)), "no values in order")
                self.show(term("==", self.f, self.f))  # it is defined
                replace(self, f=minus(v, u)).follow(then)
            case _:
                raise ValueError("no values in order")


@dataclass(frozen=True)
class Way:
    """From an end to x, which lies above it or below, or from far out, where x is beyond it."""

    goal: ChainGoal
    x: str
    end: Term
    above: bool
    climbs: bool  # strictly, from what need not be positive

    @property
    def ahead(self) -> Term:
        """How far x is from the end."""
        return self.along(minus(symbol(self.x), self.end))

    def along(self, e: Term) -> Term:
        """A term, times -1 where the way leads down."""
        return term("mul", number(1 if self.above else -1), e)

    def given(self, far: bool) -> tuple[list[Term], list[Term]]:
        """What is given all along the way, and what is given at its end."""
        path, at_end = list[Term](), list[Term]()
        for known in self.goal.given:
            e = known.parts[1]
            there = known
            if self.x in names(e):
                if known.head in ("==", "!=") or self.x in names(slope(e, self.x)):
                    continue  # it may fail on the way from x to the end
                there = fact(
                    "<=", self.along(negative(slope(e, self.x))) if far else e.put({self.x: self.end})
                )
                if not self.goal.holds(there):
                    continue
            path.append(known)
            at_end.append(there)
        return path, at_end

    def rises(self, path: list[Term], rise: object) -> None:
        """Show that f is smooth on the way, and does not fall."""
        goal = self.goal
        there = replace(goal, given=tuple(path), f=self.along(slope(goal.f, self.x)), strict=self.climbs)
        there.show(term("==", goal.f, goal.f))  # it is defined
        there.follow(rise)

    def near(self, edge: object, rise: object) -> None:
        """Show the goal at the end, and that f does not fall from there."""
        goal = self.goal
        demand(self.x not in names(self.end) and goal.holds(fact("<=", self.ahead)), "an end on neither side")
        path, at_end = self.given(False)
        demand(not goal.strict or not self.climbs or goal.holds(fact("<", self.ahead)), "not positive")
        self.rises([*path, fact("<", self.ahead)], rise)
        f, strict = goal.f.put({self.x: self.end}), goal.strict and not self.climbs
        replace(goal, given=tuple(at_end), f=f, strict=strict).follow(edge)

    def far(self, small: str, edge: object, rise: object) -> None:
        """Show that far out f is not below -small, however small, and does not fall from there."""
        goal = self.goal
        demand(self.x not in names(self.end), "an end on neither side")
        path, _ = self.given(True)
        demand(not goal.strict or self.climbs, "not positive")
        self.rises(path, rise)
        old = names(goal.f).union({self.x}, *map(names, goal.given))
        demand(small not in old, "a letter that is not new")
        beyond = fact("<", symbol(small)), fact("<=", negative(self.ahead))
        replace(goal, given=(*path, beyond[0])).show(term("==", self.end, self.end))  # it is defined
        f, strict = term("add", goal.f, symbol(small)), goal.strict and not self.climbs
        replace(goal, given=(*path, *beyond), f=f, strict=strict).follow(edge)


@dataclass(frozen=True)
class Arch:
    """From one end to another, with x between them."""

    goal: ChainGoal
    x: str
    low: Term
    high: Term

    def bounded(self, at_low: object, at_high: object, bend: object) -> None:
        """Show the goal at both ends, and that f bends down between them: then it is above its smaller end."""
        goal, x = self.goal, symbol(self.x)
        demand(self.x not in names(self.low) | names(self.high), "ends that move")
        between = fact("<=", minus(x, self.low)), fact("<=", minus(self.high, x))
        goal.show(*between)
        path = [known for known in goal.given if self.x not in names(known)]
        ends = [[*path], [*path]]
        for known in goal.given:
            e = known.parts[1]
            if known in path or known.head in ("==", "!=") or self.x in names(slope(e, self.x)):
                continue  # it may fail on the way
            there = [fact("<=", e.put({self.x: end})) for end in (self.low, self.high)]
            if all(map(goal.holds, there)):
                path.append(fact("<=", e))
                ends = [[*given, one] for given, one in zip(ends, there, strict=True)]
        down = negative(slope(slope(goal.f, self.x), self.x))
        inside = replace(goal, given=(*path, *between), f=down, strict=False)
        inside.show(term("==", goal.f, goal.f), term("==", down, down))  # smooth, at both ends as well
        inside.follow(bend)
        for given, end, why in zip(ends, (self.low, self.high), (at_low, at_high), strict=True):
            replace(goal, given=tuple(given), f=goal.f.put({self.x: end})).follow(why)


def show(problem: Theorem, proof: dict[str, object], _: object) -> str:
    """Proved, where the steps show the claim."""
    demand(problem.claim.head in STRICT, "no inequality")
    known = [f for v in problem.variables for f in v.domain()] + conjuncts(*problem.assuming)
    given = tuple(fact(f.head, plain(minus(*f.parts[::-1]))) for f in known if f.head in COMPARISONS)
    f = plain(minus(*problem.claim.parts[::-1]))
    ChainGoal(given, f, STRICT[problem.claim.head]).follow(proof["steps"])
    return "proved"
