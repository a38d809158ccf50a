"""Inequalities with exponentials, logarithms and Phi, shown by differentiating until nothing of them is left.

Each rule turns 0 <= f at a place into simpler questions; docs/certificates.md says what each rests on. Floats choose
among rules, so that no work is spent on what is false; signs of coefficients and z3 show what is left in the end.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import sympy as sp

from dpverify.formulas.calculus import map_sides, worked_out
from dpverify.formulas.definedness import Requirement, conditions, defined_where
from dpverify.formulas.expressions import (
    Apply,
    At,
    Binder,
    Derivative,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    children,
    real,
    rebuilt,
    subexpressions,
)
from dpverify.formulas.logic import Compare, Le, in_domain
from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.ledger.verdicts import Gap
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, NamedProver, Proof, proved, undecided
from dpverify.proving.reasoning.algebra import (
    derivative,
    in_factors,
    joined_powers,
    low_roots,
    multiplied_out,
    outer_terms,
    replaced,
    without_common_factor,
)
from dpverify.proving.reasoning.contacts import bounds, contacts, logarithms
from dpverify.proving.reasoning.forms import (
    aligned,
    hardness,
    inside_functions,
    is_zero,
    log_of,
    logarithms_apart,
    new_letters,
    simple,
    vanishes,
)
from dpverify.proving.reasoning.places import (
    Assumptions,
    positive_number,
    put,
    transcendental,
)  # fmt: skip
from dpverify.proving.reasoning.symbolic import (
    TRANSCENDENTAL,
    Phi,
    SymPy,
    symbol,
    symbolic,
    symbolic_to_json,
    tree,
)
from dpverify.proving.reasoning.truth import require

QUESTIONS = 80
"""Goals that one attempt may open."""
DEPTH = 9
_CUT_BELOW = 5
"""Goals that lie deeper are not cut into cases."""
_WAYS = 4
"""Derivatives of one goal that are followed, the simplest first."""
_LONGEST = 200
"""Operations of the longest goal that is looked at."""
_LOGGED = 40
"""The same of what a logarithm is taken of: SymPy asks of a longer one whether it is 0, for ages."""
_HIGHEST = 3
"""Powers of a factor up to this one are taken apart."""
_STEEP = 5
"""The same of a sum in a goal that is looked at."""
_ZERO = Number(Fraction(0))
_KNOWN = frozenset({"add", "sub", "neg", "mul", "div", "pow", "root", "exp", "log", "phi", "log_base"})


class Chains(NamedProver):
    """The prover of inequalities in which something is neither a power nor a root.

    A thorough one also shows what keeps denominators from 0, cuts where both sides may touch, and names arguments;
    one with a `lead` does so, but takes derivatives of quotients and exponentials before these are taken apart
    (`slopes`), or looks first at what bends down between two ends (`arches`).
    """

    name = "chains"

    def __init__(self, *, thorough: bool = False, lead: str = "") -> None:
        self.thorough, self.lead = thorough or bool(lead), lead

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove an inequality, for all reals in place of integers."""
        claim = problem.claim
        if not isinstance(claim, Compare) or claim.relation not in ("<=", "<"):
            return None
        parts = list(subexpressions(worked_out(claim.right - claim.left)))
        operators = {e.operator for e in parts if isinstance(e, Apply)}
        if not operators <= _KNOWN or not operators & {"exp", "log", "phi", "log_base", "pow"}:
            return None
        if any(isinstance(e, Binder | Derivative | At) for e in parts):
            return None
        smooth = _over_reals(problem)
        assert isinstance(smooth.claim, Compare)
        f = symbolic(worked_out(smooth.claim.right - smooth.claim.left))
        if not transcendental(f) or not f.free_symbols:
            return None
        place = Assumptions(
            smooth.over, tuple(a for a in smooth.assuming if isinstance(a, Compare)), budget, self.thorough
        )
        goals, facts, wanted = (
            _Goals(QUESTIONS, self.thorough, self.lead),
            list[Json](),
            list(defined_where(smooth.claim)),
        )
        if self.thorough:
            place, facts = goals.with_facts(place, wanted)
        steps = goals.shown(place, f, claim.relation == "<")
        if steps is None:
            return undecided("no chain of derivatives is found", Gap.NO_METHOD)
        require(replace(smooth, assuming=place.given) if facts else smooth, wanted, budget)
        if facts:
            steps = ["as", [], facts, expression_to_json(smooth.claim.right - smooth.claim.left), steps]
        return proved(problem, {"method": "chains", "steps": steps})


def _over_reals(problem: ProofProblem) -> ProofProblem:
    """The same for all reals in place of integers, which says more."""
    values = {v: replace(v, kind="real") for v in problem.over if v.kind == "integer"}

    def change(e: Expression) -> Expression:
        return values.get(e, e) if isinstance(e, Variable) else rebuilt(e, tuple(map(change, children(e))))

    claim, *assuming = (map_sides(f, change) for f in (problem.claim, *problem.assuming))
    over = tuple(values.get(v, v) for v in problem.over)
    return problem.about(claim, over, tuple(assuming))


LEAF: Json = ["leaf"]
MINUS_ONE: Json = ["num", "-1"]


def _as(body: Json, steps: Json) -> Json:
    """Steps that begin with another form of the goal."""
    return ["as", [], [], body, steps]


def _rewritten(f: SymPy, steps: Json) -> Json:
    """The same for a goal in SymPy's form; nothing needs to be said where arithmetic shows it at once."""
    return steps if steps == LEAF else _as(symbolic_to_json(f), steps)


@dataclass
class _Goals:
    """A search for steps, within a number of goals."""

    left: int
    thorough: bool = False
    lead: str = ""
    bounding: bool = False
    found: dict[tuple[Any, ...], Json | None] = field(default_factory=dict)

    def with_facts(self, place: Assumptions, wanted: list[Requirement]) -> tuple[Assumptions, list[Json]]:
        """What keeps an expression from being undefined, and bounds that conditions set to letters."""
        facts = list[Json]()
        for condition in wanted:
            if condition.bound or condition.premises or place.shows_all(iter((condition,))):
                continue
            gap = symbolic(condition.formula.right - condition.formula.left)
            strict = condition.formula.relation != "<="
            for form in (gap, -gap) if condition.formula.relation == "!=" else (gap,):
                steps = self.shown(place, form, strict)
                if steps is not None:
                    facts.append(["<" if strict else "<=", symbolic_to_json(form), _rewritten(form, steps)])
                    place = place.knowing(Compare("<" if strict else "<=", _ZERO, tree(form)))
                    break
        place, more = self._bounds(place, every=True)
        return place, facts + more

    def _bounds(self, place: Assumptions, *, every: bool) -> tuple[Assumptions, list[Json]]:
        """Bounds of letters (those that are numbers) from conditions that are not linear in them."""
        facts = list[Json]()
        for gap, larger, smaller in logarithms(place):
            known = Le(_ZERO, tree(gap))
            if known not in place.given and (every or len(gap.free_symbols) == 1):
                body = ["add", ["log", larger], ["mul", MINUS_ONE, ["log", smaller]]]
                facts.append(["<=", symbolic_to_json(gap), _as(body, ["order", LEAF])])
                place = place.knowing(known)
        self.bounding = True
        for gap in bounds(place):
            known = Le(_ZERO, tree(gap))
            if known in place.given or not (every or len(gap.free_symbols) == 1):
                continue
            steps = self.shown(place, gap, False, DEPTH - 3)
            if steps is not None:
                facts.append(["<=", symbolic_to_json(gap), _rewritten(gap, steps)])
                place = place.knowing(known)
        self.bounding = False
        return place, facts

    def _bounded(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Iterator[Json]:
        """The same once conditions are solved for letters."""
        there, facts = self._bounds(place, every=False)
        steps = self.shown(there, f, strict, depth) if facts else None
        if steps is not None:
            yield ["as", [], facts, symbolic_to_json(f), _rewritten(f, steps)]

    def _tails(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Iterator[Json]:
        """What is subtracted of Phi at negative arguments is at most half of exp(-u^2 / 2)."""
        terms = outer_terms(f)
        t = real("tail", ge=0)
        bell = sp.exp(-(symbol(t) ** 2) / 2) / 2 - Phi(-symbol(t))
        for term in terms:
            found = [g for g in sp.Mul.make_args(term) if isinstance(g, Phi)]
            if len(found) != 1 or any(t.name == w.name for w in place.variables):
                continue
            u, rest = found[0].args[0], f - term
            height = -term / found[0]
            if place.signs(height) != {1} or place.signs(u) != {-1}:
                continue
            near = rest - height * sp.exp(multiplied_out(-(u**2)) / 2) / 2
            if -1 in place.signs(near):
                continue
            pieces = [
                self.shown(there, e, strictly, depth)
                for there, e, strictly in (
                    (place, -u, False), (place, height, False), (place, near, strict),
                )
            ]  # fmt: skip
            tail = _Goals(QUESTIONS).shown(Assumptions((t,), (), place.budget), bell, False)
            if None in pieces or tail is None:
                continue
            below, above, left = pieces
            known = [["<=", expression_to_json(t), _rewritten(-u, below)]]
            gap = sp.exp(multiplied_out(-(u**2)) / 2) / 2 - found[0]
            shown = ["as", [[t.name, symbolic_to_json(-u)]], known, symbolic_to_json(bell), tail]
            product = ["mul", symbolic_to_json(height), symbolic_to_json(gap)]
            body = ["add", symbolic_to_json(near), product]
            yield _as(body, ["each", _rewritten(near, left), ["each", _rewritten(height, above), shown]])

    def shown(self, place: Assumptions, f: SymPy, strict: bool, depth: int = 0) -> Json | None:
        """Steps that show 0 <= f (0 < f) at a place wherever f is defined, or None."""
        key = (place.variables, place.given, f, strict)
        if key not in self.found:
            sums = (p.exp for p in f.atoms(sp.Pow) if p.base.is_Add and p.exp.is_Integer)
            if (
                self.left <= 0
                or depth > DEPTH
                or f.count_ops() > _LONGEST
                or max(map(abs, sums), default=0) > _STEEP
            ):
                return None
            self.left -= 1
            self.found[key] = None  # what leads back to itself shows nothing
            self.found[key] = self._steps(place, f, strict, depth)
        return self.found[key]

    def _steps(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Json | None:
        if f.has(sp.zoo, sp.nan, sp.I, sp.oo) or -1 in place.signs(f):
            return None
        if f.is_number:
            return LEAF if positive_number(f, strict) else None
        if self.thorough and not strict and place.vanishes(f) and is_zero(f):
            return _as(["num", "0"], LEAF)
        hard = transcendental(f)
        if place.at_once(f, strict=strict, solver=not hard or len(f.atoms(*TRANSCENDENTAL)) < 4):
            return LEAF
        if not hard and not any(p.exp.q > 1 for p in f.atoms(sp.Pow) if p.exp.is_Rational):
            return None
        rules = [self._product, self._ordered, self._slopes, self._dropped, self._named, self._cases]
        if f.has(Phi):
            # a factor that is pulled out comes back in front of Phi
            rules = [self._ordered, self._dropped, self._named, self._slopes, self._cases]
            rules = [self._product, *rules] if f.is_Mul else rules
        elif self.lead == "slopes":
            rules.sort(key=lambda rule: rule != self._slopes)
        if self.bounding:
            rules = [self._product, self._ordered]
        elif self.thorough:
            rules = [self._bounded, *rules, *([self._tails] if f.has(Phi) else [])]
            rules = [self._arches, *rules] if self.lead == "arches" else rules
        for rule in rules:
            with suppress(OutOfScopeError, sp.PolynomialError, NotImplementedError):
                found = next(rule(place, f, strict, depth + 1), None)
                if found is not None:
                    return found
        return None

    def _product(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Iterator[Json]:
        """Every factor has a sign of its own."""
        number, factors = simple(f).as_coeff_mul()
        parts: list[SymPy] = []
        for factor in factors:
            base, n = factor.as_base_exp() if not isinstance(factor, sp.exp) else (factor, sp.Integer(1))
            whole = n.is_Integer and abs(n) <= _HIGHEST and n % 2
            parts += [base ** sp.sign(n)] * abs(int(n)) if whole else [factor]
        signs = [place.signs(part) for part in parts] if len(parts) > 1 else [set()]
        if any(len(found) != 1 for found in signs):
            return
        parts = [-part if found == {-1} else part for part, found in zip(parts, signs, strict=True)]
        number *= (-1) ** signs.count({-1})
        if not number > 0:
            return
        shown: dict[SymPy, Json] = {}
        for part in sorted(dict.fromkeys(parts), key=hardness):
            inverse = part.is_Pow and part.exp == -1
            # what is divided by must not be 0
            steps = self.shown(place, 1 / part if inverse else part, strict or inverse, depth)
            if steps is None:
                return
            if inverse:
                fact = ["<", symbolic_to_json(1 / part), steps]
                steps = ["as", [], [fact], symbolic_to_json(part), LEAF]
            shown[part] = steps
        body = ["mul", symbolic_to_json(number), *map(symbolic_to_json, parts)]
        yield _as(body, ["each", LEAF, *(shown[p] for p in parts)])

    def _ordered(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Iterator[Json]:
        """A difference of two values of exp, or of Phi or log, follows their arguments' order."""
        terms = outer_terms(f)
        parts = [t.as_coeff_Mul() for t in terms]
        if len(terms) == 2 and all(isinstance(u, Phi) for _, u in parts):
            (a, u), (b, v) = parts
            if a + b == 0 and a.is_Rational:
                smaller, larger = (v.args[0], u.args[0]) if a > 0 else (u.args[0], v.args[0])
                yield from self._scaled(place, abs(a), "phi", larger, smaller, strict, depth)
                return
        if all(c.is_Rational and isinstance(u, sp.log) and abs(c) <= 12 for c, u in parts):
            larger, smaller = (
                sp.Mul(*(u.args[0] ** abs(c) for c, u in parts if bool(c > 0) is up)) for up in (True, False)
            )
            if place.defines(tree(sp.log(larger) - sp.log(smaller))):
                yield from self._scaled(place, sp.Integer(1), "log", larger, smaller, strict, depth)
        if self.lead == "arches":
            yield from self._against_logarithm(place, parts, strict, depth)
        yield from self._by_logarithms(place, terms, strict, depth)

    def _against_logarithm(
        self, place: Assumptions, parts: list[tuple[SymPy, SymPy]], strict: bool, depth: int
    ) -> Iterator[Json]:
        """A logarithm and what is none: its argument is compared with an exponential."""
        logs = [(c, u) for c, u in parts if isinstance(u, sp.log)]
        if len(logs) != 1 or len(parts) < 2 or any(u.has(sp.log) for _, u in parts if u != logs[0][1]):
            return
        ((c, u),) = logs
        other = sp.exp(multiplied_out(sp.Add(*(-d * e for d, e in parts if e != u)) / c))
        larger, smaller = (u.args[0], other) if c > 0 else (other, u.args[0])
        if not u.args[0].has(sp.exp) or not place.defines(tree(u)):
            return
        yield from self._scaled(place, abs(c), "log", larger, smaller, strict, depth)

    def _scaled(
        self, place: Assumptions, factor: SymPy, head: str, larger: SymPy, smaller: SymPy, strict: bool, depth: int
    ) -> Iterator[Json]:  # fmt: skip
        """Steps for factor * (head(larger) - head(smaller)), where there are some for larger - smaller."""
        steps = self.shown(place, larger - smaller, strict, depth)
        if steps is None:
            return
        high, low = ([head, symbolic_to_json(u)] for u in (larger, smaller))
        body = ["add", high, ["mul", MINUS_ONE, low]]
        order = ["order", _as(symbolic_to_json(larger - smaller), steps)]
        scaled = ["mul", symbolic_to_json(factor), body], ["each", LEAF, order]
        yield _as(body, order) if factor == 1 else _as(*scaled)

    def _by_logarithms(
        self, place: Assumptions, terms: tuple[SymPy, ...], strict: bool, depth: int
    ) -> Iterator[Json]:
        """Of two positive quantities, one of them an exponential, the logarithms are compared."""
        signs = [place.signs(t) for t in terms]
        if any(len(found) != 1 for found in signs):
            return
        sides = larger, smaller = [
            without_common_factor(
                sp.Add(*(sign * t for t, found in zip(terms, signs, strict=True) if found == {sign}))
            )
            for sign in (1, -1)
        ]
        if smaller == 0 or larger == 0 or (larger + smaller).has(Phi):
            return
        if not (transcendental(larger - smaller) if self.thorough else (larger - smaller).has(sp.exp)):
            return
        factors = [g for side in sides for g in sp.Mul.make_args(side)]
        if not any(isinstance(g, sp.exp) or (g.is_Pow and not g.exp.is_Rational) for g in factors):
            return
        if any(g.count_ops() > _LOGGED for g in factors if not isinstance(g, sp.exp)):
            return
        high, low = (sum((log_of(g) for g in sp.Mul.make_args(side)), sp.Integer(0)) for side in sides)
        for side in sides:
            at_once = place.at_once(side, strict=True, solver=False)
            if not at_once and self.shown(place, side, True, depth + 2) is None:
                return
        if place.defines(tree(high - low)):
            yield from self._scaled(place, sp.Integer(1), "exp", high, low, strict, depth)

    def _dropped(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Iterator[Json]:
        """A positive term is left out."""
        terms = outer_terms(f)
        for term in terms if len(terms) > 2 else ():
            rest = f - term if f.is_Add and term in f.args else sp.Add(*(t for t in terms if t != term))
            if place.signs(term) != {1} or -1 in place.signs(rest) or not place.at_once(term, strict=False):
                continue
            steps = self.shown(place, rest, strict, depth)
            if steps is not None:
                yield _as(["add", symbolic_to_json(rest), symbolic_to_json(term)], ["each", steps, LEAF])

    def _named(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Iterator[Json]:
        """A letter for a root, or for an inverse inside of a logarithm."""
        for v in place.variables:
            for t, value, back in new_letters(v, f, self.thorough):
                if any(t.name == w.name for w in place.variables):
                    continue
                given = tuple(map_sides(h, partial(put, x=v, value=tree(back))) for h in place.given)
                there = replace(
                    place, variables=tuple(t if w == v else w for w in place.variables), given=given
                )
                g = replaced(f, {symbol(v): back})
                g = logarithms_apart(g) if self.thorough else g
                steps = self.shown(there, g, strict, depth)
                if steps is not None:
                    known = [*in_domain(t, t), *(h for h in given if isinstance(h, Compare))]
                    facts = [[h.relation, expression_to_json(h.right - h.left), LEAF] for h in known]
                    yield ["as", [[t.name, symbolic_to_json(value)]], facts, symbolic_to_json(g), steps]

    def _forms(self, place: Assumptions, f: SymPy) -> Iterator[tuple[SymPy, SymPy]]:
        """Positive factors, and f times them."""
        yield sp.Integer(1), f
        groups: dict[SymPy, SymPy] = {}
        for term in outer_terms(f):
            hard = sp.Mul(*(g for g in sp.Mul.make_args(term) if transcendental(g)))
            groups[hard] = groups.get(hard, sp.Integer(0)) + term / hard
        wanted: list[SymPy] = []
        for hard, rest in groups.items():
            if hard == 1:
                continue
            exponential = sp.Mul(*(g for g in sp.Mul.make_args(hard) if isinstance(g, sp.exp)))
            coefficient = in_factors(rest) * exponential
            wanted += [c for c in (coefficient, exponential) if c.free_symbols]
        for divisor in dict.fromkeys(wanted):
            signs = place.signs(divisor)
            if len(signs) > 1:
                continue
            positive = divisor if 1 in signs else -divisor
            if not place.at_once(positive, strict=True):
                continue
            factor = joined_powers(1 / positive)
            h = sp.Add(*(joined_powers(term * factor) for term in outer_terms(f)))
            yield factor, h

    def _slopes(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Iterator[Json]:
        """The value at an end is not negative, and the derivative leads away from it."""
        ways = []
        for i, (factor, h) in enumerate(self._forms(place, f)):
            for v in place.variables:
                if symbol(v) not in inside_functions(h) and not (
                    self.thorough and symbol(v) in place.depending
                ):
                    continue
                rate = derivative(h, symbol(v))
                rate = simple(aligned(rate) if self.thorough else rate)
                if not rate.has(sp.zoo, sp.nan, sp.I) and rate != 0:
                    ways.append((hardness(rate), i, v, factor, h, rate))
        before = hardness(f)[0]
        for weight, _, v, factor, h, rate in sorted(ways, key=lambda way: (way[0], way[1], way[2].name))[
            :_WAYS
        ]:
            if weight[0] > before + 1:
                continue
            if (
                rate.has(Phi)
                and h.has(Phi)
                and not (self.thorough and len(rate.atoms(Phi)) < len(h.atoms(Phi)))
            ):
                continue
            signs = place.signs(rate)
            if len(signs) > 1:
                continue
            for steps in self._slope(place, v, h, rate, 1 if 1 in signs else -1, strict, depth):
                body = ["mul", symbolic_to_json(1 / factor), symbolic_to_json(h)]
                yield steps if factor == 1 else _as(body, ["each", LEAF, steps])

    def _slope(
        self, place: Assumptions, v: Variable, h: SymPy, rate: SymPy, side: int, strict: bool, depth: int
    ) -> Iterator[Json]:
        body = tree(h)
        for way, end, is_open in place.ends(v):
            if way != side:
                continue
            if end is None:
                yield from self._far(place, v, h, rate, side, strict, depth)
                continue
            split = place.along(v, side, end)
            if split is None:
                continue
            path, at = split
            try:
                value = symbolic(put(body, v, end))
                sure = at.shows_all(conditions(put(body, v, end)))
            except OutOfScopeError:
                continue
            if not sure or not path.defines(body, smooth=True):
                continue
            for climbs in (False, True) if strict and is_open else (False,):
                edge = self.shown(at, value, strict and not climbs, depth)
                rise = None if edge is None else self.shown(path, side * rate, climbs, depth)
                if rise is not None:
                    yield _climbed(
                        v, h, expression_to_json(end), _rewritten(value, edge), side * rate, rise, climbs
                    )

    def _arches(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Iterator[Json]:
        """Between two ends f bends down, so that it is enough to look at these."""
        for v in place.variables if depth <= _CUT_BELOW else ():
            x = symbol(v)
            if x not in inside_functions(f):
                continue
            down = -simple(aligned(derivative(aligned(derivative(f, x)), x)))
            if place.signs(down) != {1} or down.has(sp.zoo, sp.nan, sp.I):
                continue
            lows, highs = (
                [e for way, e, _ in place.ends(v) if way == side and e is not None] for side in (1, -1)
            )
            for low, high in itertools.product(lows, highs):
                sides = [place.along(v, 1, low), place.along(v, -1, high)]
                if None in sides:
                    continue
                (first, at_low), (second, at_high) = (side for side in sides if side is not None)
                both = tuple(g for g in first.given if g in second.given)
                path = replace(place, given=(*both, Le(low, v), Le(v, high)))
                if not path.defines(tree(f), smooth=True):
                    continue
                proofs = list[Json]()
                for there, end in ((at_low, low), (at_high, high)):
                    value = symbolic(put(tree(f), v, end))
                    steps = self.shown(there, value, strict, depth)
                    if steps is None:
                        break
                    proofs.append(_rewritten(value, steps))
                bend = self.shown(path, down, False, depth) if len(proofs) == 2 else None
                if bend is not None:
                    ends = [expression_to_json(low), expression_to_json(high)]
                    arch = ["arch", v.name, *ends, *proofs, _as(symbolic_to_json(down), bend)]
                    yield _as(symbolic_to_json(f), arch)

    def _far(
        self, place: Assumptions, v: Variable, h: SymPy, rate: SymPy, side: int, strict: bool, depth: int
    ) -> Iterator[Json]:
        """From far out, where f is above any negative number."""
        split = place.along(v, side, None)
        small = real("small", gt=0)
        if split is None or any(w.name == "small" for w in place.variables):
            return
        path, _ = split
        if not path.defines(tree(h), smooth=True):
            return
        e = symbol(small)
        cut = -side * (1 + 1 / e)
        beyond = Le(tree(cut), v) if side < 0 else Le(v, tree(cut))
        out = replace(path, variables=(*path.variables, small), given=(*path.given, beyond))
        edge = self._almost(out, h, e)
        rise = None if edge is None else self.shown(path, side * rate, strict, depth)
        if rise is not None:
            end = ["-" if side > 0 else "+", "small", symbolic_to_json(cut)]
            yield _climbed(v, h, end, edge, side * rate, rise, strict)

    def _almost(self, out: Assumptions, h: SymPy, small: SymPy) -> Json | None:
        """Steps for 0 <= h + small far out: each term that falls below 0 is nearer to it than its part of small."""
        terms = outer_terms(h)
        spare = [
            t
            for t in terms
            if not t.has(Phi) and t.free_symbols and out.at_once(t, strict=False, solver=False)
        ]
        bells = [t for t in terms if t not in spare and t.has(sp.exp) and not t.has(Phi)]
        rest = sp.Add(*(t for t in terms if t not in spare and t not in bells))
        share = small / (1 + len(bells))
        if not out.at_once(rest + share, strict=False):
            return None
        parts: list[tuple[Json, Json]] = [(symbolic_to_json(t), LEAF) for t in (*spare, rest + share)]
        for bell in bells:
            bounded = sp.Mul(*(g for g in sp.Mul.make_args(bell) if isinstance(g, sp.exp)))
            height, exponent = -bell / bounded, multiplied_out(sp.log(bounded))
            if transcendental(exponent) or not all(
                out.at_once(e, strict=False) for e in (-exponent, height, share - height)
            ):
                return None
            gap = ["add", ["exp", ["num", "0"]], ["mul", MINUS_ONE, symbolic_to_json(sp.exp(exponent))]]
            parts.append((symbolic_to_json(share - height), LEAF))
            parts.append((["mul", symbolic_to_json(height), gap], ["each", LEAF, ["order", LEAF]]))
        return _as(["add", *(e for e, _ in parts)], ["each", *(why for _, why in parts)])

    def _cases(self, place: Assumptions, f: SymPy, strict: bool, depth: int) -> Iterator[Json]:
        """Two cases, cut where a derivative changes its sign."""
        for v, cut in self._cuts(place, f) if depth <= _CUT_BELOW else ():
            gap = tree(symbol(v) - cut)
            if not place.defines(gap) or place.signs(symbol(v) - cut) != {1, -1}:
                continue
            proofs = []
            for given in (Le(tree(cut), v), Le(v, tree(cut))):
                steps = self.shown(place.knowing(given), f, strict, depth)
                if steps is None:
                    break
                proofs.append(_rewritten(f, steps))
            else:
                yield ["cases", expression_to_json(gap), *proofs]

    def _cuts(self, place: Assumptions, f: SymPy) -> Iterator[tuple[Variable, SymPy]]:
        seen: set[tuple[Variable, SymPy]] = set()
        for _, h in self._forms(place, f):
            for v in place.variables:
                x = symbol(v)
                if not h.has(x):
                    continue
                rate = simple(derivative(h, x))
                found: list[SymPy] = []
                for factor in sp.Mul.make_args(rate):
                    if transcendental(factor) or not factor.has(x) or len(place.signs(factor)) < 2:
                        continue
                    found += [r for r in low_roots(factor, x) if r.is_real]
                if len(place.signs(rate)) > 1:
                    found += [q for q in map(sp.Integer, (0, 1)) if vanishes(replaced(rate, {x: q}))]
                    found += contacts(place, rate, x) if self.thorough else ()
                for cut in found:
                    if (v, cut) not in seen:
                        seen.add((v, cut))
                        yield v, cut


def _climbed(v: Variable, h: SymPy, end: Json, edge: Json, rate: SymPy, rise: Json, climbs: bool) -> Json:
    """Steps for h from those at an end and those for its rate on the way from there."""
    name = "climb" if climbs else "slope"
    return _as(symbolic_to_json(h), [name, v.name, end, edge, _as(symbolic_to_json(rate), rise)])
