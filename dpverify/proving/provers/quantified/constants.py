"""Constants with which something holds for all values of the letters: found in floats, then proved."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.formulas.expressions import (
    Apply,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    constant,
    subexpressions,
)
from dpverify.formulas.logic import Compare, Formula, comparisons, free_in
from dpverify.formulas.printing import expression_text
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.language import Json
from dpverify.proving.proof import Proof, gap_of
from dpverify.proving.provers.points import confirmed, refutation
from dpverify.proving.provers.quantified.ratios import (
    SIZES,
    Extreme,
    Ratio,
    extremes,
    grows,
    rounded_down,
    simple_beyond,
)
from dpverify.proving.provers.quantified.task import HOLDS, Task
from dpverify.proving.provers.search import rationalized
from dpverify.proving.reasoning.prefix import domain, put_in, values_to_json, with_values

_GROWS = 1.5
"""How much larger what is needed may be far out, before it is taken to grow."""
_TOO_LARGE = 1e12
_GROWING = "the constant that is needed seems to grow without bound"
_OPTIONS = tuple(
    map(
        Fraction,
        ("1", "2", "3", "10", "100", "1/2", "1/10", "1/100", "1000", "10000", "1/1000", "0", "5", "30"),
    )
)
_TRIES = 4
"""How many choices of thresholds and powers are tried."""
_POWERS = tuple(map(Fraction, ("0", "1", "-1", "1/2", "-1/2", "2", "-2")))
_SCALES = 40
"""How many ways for constants to depend on letters are looked at."""


@dataclass(frozen=True)
class FoundConstant:
    """A number for a group of constants, and the proofs of the parts that have them."""

    value: Fraction
    proofs: tuple[Proof, ...]


class ConstantSearch:
    """Looks for numbers for all that there is to be; constants may also be multiples of powers of earlier letters."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def proof(self, *, scaled: bool = False) -> Proof | None:
        """A proof of the claim; with constants that are multiples of powers of letters, or numbers."""
        tried = hopeless = 0
        try:
            for scale in self.scales() if scaled else [None]:
                hopeless = 0
                for fixed in self.options():
                    found = self.with_fixed(fixed, scale)
                    if isinstance(found, Proof):
                        return found
                    tried += found
                    hopeless += not found
                    # what grows without bound mostly does so whatever the thresholds are
                    if tried >= _TRIES or (self.task.constants and hopeless > 4 * len(self.task.others)):
                        break
                if tried >= _TRIES:
                    break
        except OutOfScopeError as error:
            self.task.note(str(error), gap_of(error))
        return None

    def scales(self) -> Iterator[Expression | None]:
        """What constants are multiples of: powers of the letters that come before them all."""
        common = [
            v
            for v in self.task.letters
            if v.lower is not None
            and (v.lower > 0 or (v.lower == 0 and v.lower_open))
            and all(v in self.task.earlier(c) for c in self.task.constants)
        ]
        if not common or not self.task.constants:
            return
        lists = itertools.product(*(range(len(_POWERS)) for _ in common))
        for ranks in itertools.islice(sorted(lists, key=sum), 1, _SCALES):
            powers = [(v, _POWERS[r]) for v, r in zip(common, ranks, strict=True) if r]
            factors = [v if p == 1 else Apply("pow", (v, Number(p))) for v, p in powers]
            scale: Expression = factors[0]
            for factor in factors[1:]:
                scale = scale * factor
            yield scale

    def options(self) -> Iterator[dict[Variable, Fraction]]:
        """Numbers for thresholds and powers, simple ones first."""
        lists = [_options(v) for v in self.task.others]
        for ranks in sorted(itertools.product(*(range(len(values)) for values in lists)), key=sum)[:60]:
            yield {v: values[r] for v, values, r in zip(self.task.others, lists, ranks, strict=True)}

    def with_fixed(self, fixed: Mapping[Variable, Fraction], scale: Expression | None) -> Proof | bool:
        """The proof with these numbers and constants to them; else whether it was tried to prove it."""
        put: dict[Variable, Expression] = {v: Number(x) for v, x in fixed.items()}
        if scale is not None:
            put |= {v: v * scale for v in self.task.constants}
        conditions = tuple(put_in(f, put) for f in self.task.conditions)
        parts = [put_in(part, put) for part in self.task.parts]
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
            if not free_in(part) & set(self.task.constants) and self.fails_somewhere(part, conditions):
                self.task.note("some numbers are too small or too large", Gap.NO_METHOD)
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
                proof = self.task.shown(self.task.left(part, conditions))
                if proof.verdict not in HOLDS:
                    self.task.note(proof.reason, proof.gap)
                    return True
                proofs[i] = proof
        return self.whole(values, scale, [proofs[i] for i in range(len(parts))], extreme)

    def fails_somewhere(self, part: Formula, conditions: tuple[Formula, ...]) -> bool:
        """Whether a part without constants is false at some point, in floats."""
        if not isinstance(part, Compare) or part.relation not in ("<=", "<"):
            return False
        ratio = Ratio(part, (), self.task.letters, conditions, {})
        return any(math.isinf(extremes(ratio, size)[0].value) for size in SIZES)

    def groups(self, parts: Sequence[Formula]) -> list[tuple[Variable, ...]]:
        """Constants that occur in the same parts, which get the same value."""
        groups: list[set[Variable]] = []
        for part in parts:
            mine = set(free_in(part)) & set(self.task.constants)
            if mine:
                joined = mine.union(*(g for g in groups if g & mine))
                groups = [*(g for g in groups if not g & mine), joined]
        return [tuple(v for v in self.task.constants if v in g) for g in groups]

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
            ratio = Ratio(part, group, self.task.letters, conditions, {})
            if grows(ratio):
                self.task.note(_GROWING)
                return None
            near, far = (extremes(ratio, size) for size in SIZES)
            for k in (0, 1):
                if far[k].value > _GROWS * near[k].value > 0 or far[k].value > _TOO_LARGE:
                    self.task.note(_GROWING)
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
            self.task.note("no constant is large enough and small enough", Gap.NO_METHOD)
            return None
        return candidates, least, True

    def first(
        self,
        parts: Sequence[Formula],
        mine: Sequence[int],
        group: tuple[Variable, ...],
        candidates: Sequence[Fraction],
        conditions: tuple[Formula, ...],
    ) -> FoundConstant | None:
        """The first number with which all parts are proved."""
        last: Proof | None = None
        for value in candidates:
            put: dict[Variable, Expression] = dict.fromkeys(group, Number(value))
            proofs = []
            for i in mine:
                last = self.task.shown(self.task.left(put_in(parts[i], put), conditions))
                if last.verdict not in HOLDS:
                    break
                proofs.append(last)
            else:
                return FoundConstant(value, tuple(proofs))
        if last is not None:
            numbers = " = ".join(v.name for v in group)
            self.task.note(f"with {numbers} = {candidates[-1]}: {last.reason}", last.gap)
        return None

    def whole(
        self,
        numbers: Mapping[Variable, Fraction],
        scale: Expression | None,
        proofs: Sequence[Proof],
        extreme: Mapping[Variable, tuple[Extreme, bool]],
    ) -> Proof | bool:
        """The proof of the claim with the numbers, and how small the constants may be at least."""
        values: dict[Variable, Expression] = {}
        inside: list[Proof] = []
        for v in self.task.prefix.chosen:
            number = Number(numbers.get(v, Fraction(1)))
            values[v] = _times(number, scale if v in self.task.constants else None)
            if isinstance(values[v], Number):
                continue
            for formula in domain(v, values[v]):
                proof = self.task.shown(self.task.left(formula, self.task.conditions))
                if proof.verdict not in HOLDS:
                    self.task.note(proof.reason, proof.gap)
                    return True
                inside.append(proof)
        below: list[Json] = []
        said: list[str] = []
        for v, value in values.items():
            said.append(f"{v.name} = {expression_text(value)}")
            bound = self.bound(v, values, *extreme[v]) if v in extreme and scale is None else None
            if bound is not None:
                number, shown = Number(bound[0]), bound[1]
                below.append({"values": values_to_json({**values, v: number}), "inner": shown.certificate})
                point = ", ".join(f"{name} = {at}" for name, at in (shown.counterexample or {}).items())
                said[-1] += f" (not {number.value}{': ' if point else ''}{point})"
        return self.task.claim(values, [*inside, *proofs], "with " + ", ".join(said), below)

    def bound(
        self, v: Variable, values: Mapping[Variable, Expression], where: Extreme, least: bool
    ) -> tuple[Fraction, Proof] | None:
        """A number near the constant that will not do, and the point that shows it."""
        if not where.value or _has_higher_roots(self.task.prefix.core):
            return None
        for share, digits in ((0.9999, 3), (0.999, 3), (0.99, 2), (0.9, 2), (0.5, 1)):
            number = rounded_down(where.value * share, digits)
            less: dict[Variable, Expression] = {**values, v: Number(number if least else 1 / number)}
            inner = with_values(self.task.obligation, self.task.prefix, less)
            inner = replace(inner, claim=put_in(self.task.prefix.core, less))
            value = less[v]
            assert isinstance(value, Number)
            # within the conditions rather than at their edge, where intervals decide
            strict = replace(inner, assuming=tuple(map(_strict, inner.assuming)))
            for held in (strict, inner):
                for point in itertools.islice(rationalized(held, where.point), 8):
                    if confirmed(held, point):
                        shown = refutation(held, point, "none", 0.0)
                        steps = {"method": "counterexample", "point": dict(shown.counterexample or {})}
                        of_inner = certificate(inner, Verdict.REFUTED, steps)
                        return value.value, replace(shown, certificate=of_inner)
        return None


def _has_higher_roots(formula: Formula) -> bool:
    """Whether there are roots other than square ones, which nobody but the provers works out at a point."""
    for compare in comparisons(formula):
        for part in (e for side in (compare.left, compare.right) for e in subexpressions(side)):
            if isinstance(part, Apply) and part.operator in ("pow", "root"):
                power = constant(part.arguments[1])
                order = (
                    Fraction(0) if power is None else power if part.operator == "root" else power.denominator
                )
                if order not in (1, 2):
                    return True
    return False


def _strict(formula: Formula) -> Formula:
    if isinstance(formula, Compare) and formula.relation == "<=":
        return Compare("<", formula.left, formula.right)
    return formula


def _times(number: Number, scale: Expression | None) -> Expression:
    return number if scale is None else scale if number.value == 1 else number * scale


def _options(v: Variable) -> list[Fraction]:
    """Numbers of a domain that may do, those nearest to its ends first."""
    ends = [end for end in (v.lower, v.upper) if end is not None]
    return [x for x in dict.fromkeys((*ends, *_OPTIONS)) if v.contains(x)]
