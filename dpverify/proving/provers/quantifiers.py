"""Claims that there are constants, or anything else, with which something holds for all values of the letters.

Numbers are found in floats, and put in; what is left is for the other provers. A claim is refuted by a curve along
which every constant is too small in the end, or by a proof of its negation.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.evidence import Gap, Verdict
from dpverify.formulas.expressions import (
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    free_variables,
    integer,
)
from dpverify.formulas.logic import Compare, Formula, free_in, has_exists
from dpverify.formulas.printing import expression_text
from dpverify.proving.certificates import certificate
from dpverify.proving.language import Json, Obligation
from dpverify.proving.proof import Budget, Proof, Prover, most_telling
from dpverify.proving.provers.constants import (
    SIZES,
    Extreme,
    Needed,
    Ratio,
    extremes,
    rounded_down,
    simple_beyond,
)
from dpverify.proving.provers.growth import Curve, curves
from dpverify.proving.provers.points import admitted, confirmed, refutation
from dpverify.proving.provers.search import Search, rationalized
from dpverify.proving.reasoning.prefix import (
    Growth,
    Prefix,
    fresh,
    negation,
    parts_of,
    peeled,
    put_in,
    values_to_json,
    with_values,
)

Prove = Callable[..., Proof]
METHOD = "exists"
_GROWS = 1.5
"""How much larger what is needed may be far out, before it is taken to grow."""
_TOO_LARGE = 1e12
_OPTIONS = tuple(
    map(
        Fraction,
        ("1", "2", "3", "10", "100", "1/2", "1/10", "1/100", "1000", "10000", "1/1000", "0", "5", "30"),
    )
)
_CURVES = 6
"""How many curves are tried."""
_TRIES = 4
"""How many choices of thresholds and powers are tried."""


@dataclass(frozen=True)
class Found:
    """Values for a group of constants, and the proofs of the parts that have them."""

    value: Fraction
    proofs: tuple[Proof, ...]


class Quantifiers:
    """The prover."""

    name = "constants"

    def __init__(self, prove: Prove, provers: Sequence[Prover]) -> None:
        self._prove = prove
        # what is put in holds in floats, so that there is no use in looking for counterexamples
        self._provers = tuple(p for p in provers if not isinstance(p, Search))

    def attempt(self, obligation: Obligation, budget: Budget) -> Proof | None:
        """Prove or refute a claim with an `exists`; None for others."""
        if not has_exists(obligation.claim):
            return None
        start = time.monotonic()
        smaller = replace(
            budget,
            boxes=min(budget.boxes, 40_000),
            operations=min(budget.operations, 2_000_000),
            units=min(budget.units, 300_000),
        )
        task = _Task(obligation, peeled(obligation), smaller, self._prove, self._provers)
        found = task.settled()
        return replace(found, prover=self.name, seconds=time.monotonic() - start)


class _Task:
    def __init__(
        self,
        obligation: Obligation,
        prefix: Prefix,
        budget: Budget,
        prove: Prove,
        provers: tuple[Prover, ...],
    ) -> None:
        self.obligation, self.prefix, self.budget = obligation, prefix, budget
        self._prove, self._provers = prove, provers
        self.letters = (*obligation.over, *prefix.every)
        self.parts = parts_of(prefix.core)
        self.conditions = (*obligation.assuming, *prefix.premises)
        in_conditions = frozenset().union(*map(free_in, prefix.premises))
        self.constants = [v for v in prefix.chosen if _is_constant(v) and v not in in_conditions]
        self.others = [v for v in prefix.chosen if v not in self.constants]
        self.reasons: list[str] = []
        self.gaps: list[Gap | None] = []
        self.cut_short = False

    def settled(self) -> Proof:
        """The verdict, or why there is none."""
        if all(isinstance(part, Compare) for part in self.parts):
            for attempt in (self.with_constants, self.with_growth):
                proof = attempt()
                if proof is not None:
                    return proof
        reason = "; ".join(dict.fromkeys(self.reasons)) or "no values are found that would do"
        return Proof(
            Verdict.UNDECIDED,
            "none",
            reason=reason,
            gap=most_telling(self.gaps) if self.gaps else Gap.NO_METHOD,
            stopped_by_the_clock=self.cut_short,
        )

    def shown(self, obligation: Obligation) -> Proof:
        """What the other provers say."""
        proof = self._prove(obligation, budget=self.budget, provers=self._provers)
        self.cut_short = self.cut_short or proof.stopped_by_the_clock
        return proof

    # ------------------------------------------------------------------------------------------ constants

    def with_constants(self) -> Proof | None:
        """A proof with numbers for all that there is to be."""
        tried = 0
        for fixed in self.options():
            try:
                found = self.with_fixed(fixed)
            except OutOfScopeError as error:
                self.note(str(error), error.gap)
                return None
            if isinstance(found, Proof):
                return found
            tried += found
            if tried >= _TRIES:
                break
        return None

    def note(self, reason: str, gap: Gap | None) -> None:
        self.reasons.append(reason)
        self.gaps.append(gap)

    def options(self) -> Iterator[dict[Variable, Fraction]]:
        """Numbers for thresholds and powers, simple ones first."""
        lists = [_options(v) for v in self.others]
        for ranks in sorted(itertools.product(*(range(len(values)) for values in lists)), key=sum)[:60]:
            yield {v: values[r] for v, values, r in zip(self.others, lists, ranks, strict=True)}

    def with_fixed(self, fixed: Mapping[Variable, Fraction]) -> Proof | bool:
        """The proof with these numbers and constants to them; else whether it was tried to prove it."""
        put: dict[Variable, Expression] = {v: Number(x) for v, x in fixed.items()}
        conditions = tuple(put_in(f, put) for f in self.conditions)
        parts = [put_in(part, put) for part in self.parts]
        values: dict[Variable, Fraction] = dict(fixed)
        proofs: dict[int, Proof] = {}
        extreme: dict[Variable, tuple[Extreme, bool]] = {}
        plans = []
        for group in self.groups(parts):
            plan = self.plan(group, parts, conditions)
            if plan is None:
                return False
            plans.append((group, plan))
        for part in parts:
            if not free_in(part) & set(self.constants) and self.fails_somewhere(part, conditions):
                self.note("some numbers are too small or too large", Gap.NO_METHOD)
                return False
        for group, (candidates, where, least) in plans:
            mine = [i for i, part in enumerate(parts) if free_in(part) & set(group)]
            found = self.first(parts, mine, group, candidates, conditions)
            if found is None:
                return True
            values |= dict.fromkeys(group, found.value)
            proofs |= dict(zip(mine, found.proofs, strict=True))
            if len(group) == 1:
                extreme[group[0]] = where, least
        for i, part in enumerate(parts):
            if i not in proofs:
                proof = self.shown(self.left(part, conditions))
                if proof.verdict not in (Verdict.PROVED, Verdict.CERTIFIED):
                    self.note(proof.reason, proof.gap)
                    return True
                proofs[i] = proof
        return self.proof(values, [proofs[i] for i in range(len(parts))], extreme)

    def fails_somewhere(self, part: Formula, conditions: tuple[Formula, ...]) -> bool:
        """Whether a part without constants is false at some point, in floats."""
        if not isinstance(part, Compare) or part.relation not in ("<=", "<"):
            return False
        ratio = Ratio(part, (), self.letters, conditions, {})
        return any(math.isinf(extremes(ratio, size)[0].value) for size in SIZES)

    def groups(self, parts: Sequence[Formula]) -> list[tuple[Variable, ...]]:
        """Constants that occur in the same parts, which get the same value."""
        groups: list[set[Variable]] = []
        for part in parts:
            mine = set(free_in(part)) & set(self.constants)
            if mine:
                joined = mine.union(*(g for g in groups if g & mine))
                groups = [*(g for g in groups if not g & mine), joined]
        return [tuple(v for v in self.constants if v in g) for g in groups]

    def plan(
        self, group: tuple[Variable, ...], parts: Sequence[Formula], conditions: tuple[Formula, ...]
    ) -> tuple[list[Fraction], Extreme, bool] | None:
        """Numbers to try for constants, where they must be largest, and whether they must be large."""
        least: Extreme | None = None
        most: Extreme | None = None
        for part in parts:
            if not free_in(part) & set(group):
                continue
            assert isinstance(part, Compare)
            ratio = Ratio(part, group, self.letters, conditions, {})
            near, far = (extremes(ratio, size) for size in SIZES)
            for k in (0, 1):
                if far[k].value > _GROWS * near[k].value > 0 or far[k].value > _TOO_LARGE:
                    self.note("what is needed of a constant seems to grow without bound", Gap.NO_METHOD)
                    return None
            low, high = (max((near[k], far[k]), key=lambda e: e.value) for k in (0, 1))
            least = low if least is None or low.value > least.value else least
            most = high if most is None or high.value > most.value else most
        assert least is not None
        assert most is not None
        if most.value > 0 >= least.value:
            return [1 / x for x in simple_beyond(most.value)], most, False
        candidates = [x for x in simple_beyond(least.value) if not most.value or x <= 1 / most.value]
        if not candidates:
            self.note("no constant is large enough and small enough", Gap.NO_METHOD)
            return None
        return candidates, least, True

    def left(self, part: Formula, conditions: tuple[Formula, ...]) -> Obligation:
        """What is left to be shown of a part once numbers are put in."""
        names = {v.name for v in self.letters}
        box = {name: ends for name, ends in self.obligation.box.items() if name in names}
        return replace(
            self.obligation, claim=part, over=self.letters, assuming=conditions, box=box, catches=None
        )

    def first(
        self,
        parts: Sequence[Formula],
        mine: Sequence[int],
        group: tuple[Variable, ...],
        candidates: Sequence[Fraction],
        conditions: tuple[Formula, ...],
    ) -> Found | None:
        """The first number with which all parts are proved."""
        last: Proof | None = None
        for value in candidates:
            put: dict[Variable, Expression] = dict.fromkeys(group, Number(value))
            proofs = []
            for i in mine:
                last = self.shown(self.left(put_in(parts[i], put), conditions))
                if last.verdict not in (Verdict.PROVED, Verdict.CERTIFIED):
                    break
                proofs.append(last)
            else:
                return Found(value, tuple(proofs))
        if last is not None:
            numbers = " = ".join(v.name for v in group)
            self.note(f"with {numbers} = {candidates[-1]}: {last.reason}", last.gap)
        return None

    def proof(
        self,
        values: Mapping[Variable, Fraction],
        proofs: Sequence[Proof],
        extreme: Mapping[Variable, tuple[Extreme, bool]],
    ) -> Proof:
        ordered: dict[Variable, Expression] = {
            v: Number(values.get(v, Fraction(1))) for v in self.prefix.chosen
        }
        steps: dict[str, Json] = {
            "method": METHOD,
            "shows": "claim",
            "values": values_to_json(ordered),
            "inner": [p.certificate for p in proofs],
        }
        below, said = [], []
        for v, value in ordered.items():
            assert isinstance(value, Number)
            said.append(f"{v.name} = {value.value}")
            if v in extreme:
                bound = self.bound(v, ordered, *extreme[v])
                if bound is not None:
                    number, shown = bound
                    less: dict[Variable, Expression] = {**ordered, v: Number(number)}
                    below.append({"values": values_to_json(less), "inner": shown.certificate})
                    point = ", ".join(f"{name} = {at}" for name, at in (shown.counterexample or {}).items())
                    said[-1] += f" (not {number}{': ' if point else ''}{point})"
        if below:
            steps["below"] = below
        certified = [p for p in proofs if p.verdict is Verdict.CERTIFIED]
        verdict = Verdict.CERTIFIED if certified else Verdict.PROVED
        return Proof(
            verdict,
            "none",
            certificate(self.obligation, verdict, steps),
            box={name: ends for p in certified for name, ends in (p.box or {}).items()}
            if certified
            else None,
            boxes=sum(p.boxes for p in proofs if p.boxes) or None,
            reason="with " + ", ".join(said),
            stopped_by_the_clock=self.cut_short,
        )

    def bound(
        self, v: Variable, values: Mapping[Variable, Expression], where: Extreme, least: bool
    ) -> tuple[Fraction, Proof] | None:
        """A number near the constant that will not do, and the point that shows it."""
        if not where.value:
            return None
        for share, digits in ((0.9999, 3), (0.999, 3), (0.99, 2), (0.9, 2), (0.5, 1)):
            number = rounded_down(where.value * share, digits)
            less: dict[Variable, Expression] = {**values, v: Number(number if least else 1 / number)}
            inner = with_values(self.obligation, self.prefix, less)
            inner = replace(inner, claim=put_in(self.prefix.core, less))
            for point in itertools.islice(rationalized(inner, where.point), 8):
                if confirmed(inner, point):
                    value = less[v]
                    assert isinstance(value, Number)
                    return value.value, refutation(inner, point, "none", 0.0)
        return None

    # ------------------------------------------------------------------------------------------ refutations

    def with_growth(self) -> Proof | None:
        """A curve along which no constant will do."""
        if not self.prefix.chosen_first or len(self.prefix.chosen) < 1:
            return None
        unknown = set(self.prefix.chosen)
        conditions = tuple(f for f in self.conditions if not free_in(f) & unknown)
        for part in self.parts:
            assert isinstance(part, Compare)
            mine = [v for v in self.constants if v in free_in(part)]
            if free_in(part) & unknown - set(mine) or part.relation not in ("<=", "<"):
                continue
            try:
                ratio = Ratio(part, mine, self.letters, conditions, {})
            except OutOfScopeError as error:
                self.note(str(error), error.gap)
                continue
            whole, far = len(self.parts) == 1, extremes(ratio, SIZES[0])
            for k, of in enumerate((_least, _most)):
                found = curves(ratio, self.obligation.over, far[k].point, of)
                t = integer(fresh("t", self.obligation))
                distinct: dict[str, Curve] = {}
                for curve in found:
                    distinct.setdefault(_shown(curve.values(t)), curve)
                for curve in itertools.islice(distinct.values(), _CURVES):
                    proof = self.refuted(curve, mine, None if whole else self.parts.index(part), above=k == 0)
                    if proof is not None:
                        return proof
        return None

    def refuted(
        self, curve: Curve, mine: Sequence[Variable], part: int | None, *, above: bool
    ) -> Proof | None:
        """The refutation along a curve, if it is proved."""
        t = integer(fresh("t", self.obligation), ge=curve.start)
        values = curve.values(t)
        growth = None
        moves = any(t in free_variables(e) for e in values.values())
        if moves or not curve.unbounded:
            small = tuple(v for v in self.others if v.lower is not None and v.lower >= 0 and v.lower_open)
            growth = Growth(
                t,
                curve.factor,
                curve.power,
                (*(mine if above else ()), *(v for v in self.others if v not in small)),
                (*(() if above else mine), *small),
            )
        inner = negation(self.obligation, self.prefix, values, growth, part)
        proofs = []
        for claim in parts_of(inner.claim):
            proof = self.shown(replace(inner, claim=claim))
            if proof.verdict is not Verdict.PROVED:
                self.note(f"along {_shown(values)}: {proof.reason}", proof.gap)
                return None
            proofs.append(self.nearer(proof, replace(inner, claim=claim)))
        steps: dict[str, Json] = {
            "method": METHOD,
            "shows": "negation",
            "values": values_to_json(values),
            "inner": [p.certificate for p in proofs],
        }
        said = f"false at {_shown(values)}"
        if growth is not None:
            steps["growth"] = growth.to_json()
            rate = growth.text()
            bounds = [
                *(f"{v.name} <= {rate}" for v in growth.above), *(f"{v.name} >= 1/({rate})" for v in growth.below)
            ]  # fmt: skip
            along = f"{t.name} = {curve.start}, {curve.start + 1}, ..."
            said = f"false along {_shown(values)} for {', '.join(bounds)}, {along}"
        if part is not None:
            steps["part"] = part
        return Proof(
            Verdict.REFUTED,
            "none",
            certificate(self.obligation, Verdict.REFUTED, steps),
            reason=said,
            stopped_by_the_clock=self.cut_short,
        )

    @staticmethod
    def nearer(proof: Proof, inner: Obligation) -> Proof:
        """The proof with a witness at which it is plain that a constant is below a logarithm."""
        for far in (Fraction(2), Fraction(4), Fraction(100)):
            point = {
                v.name: v.lower * far
                if v.lower
                else Fraction(1, 1000) / far
                if v in _low(inner)
                else 1000 * far
                for v in inner.over
            }
            if admitted(inner, point):
                named = {name: str(x) for name, x in point.items()}
                return replace(
                    proof, witness=named, certificate={**(proof.certificate or {}), "witness": named}
                )
        return proof


def _shown(values: Mapping[Variable, Expression]) -> str:
    return ", ".join(f"{v.name} = {expression_text(e)}" for v, e in values.items())


def _low(inner: Obligation) -> set[Variable]:
    """Letters that are bounded from above."""
    return {a.left for a in inner.assuming if isinstance(a, Compare) and isinstance(a.left, Variable)}


def _least(needed: Needed) -> float:
    return needed.least


def _most(needed: Needed) -> float:
    return 1 / needed.most if needed.most > 0 else math.inf


def _is_constant(v: Variable) -> bool:
    return v.kind == "real" and v.lower == 0 and v.lower_open and v.upper is None


def _options(v: Variable) -> list[Fraction]:
    """Numbers of a domain that may do, those nearest to its ends first."""
    ends = [end for end in (v.lower, v.upper) if end is not None]
    return [x for x in dict.fromkeys((*ends, *_OPTIONS)) if v.contains(x)]
