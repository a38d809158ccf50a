"""Attempts at proofs, counted, and the two ends between which a formula stops to hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

from flint import fmpq

from dpverify.analyses.sizes import sizes_of
from dpverify.analyses.thresholds.changes import changed, letter_of, met
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import OutOfScopeError, Variable
from dpverify.ledger.besides.thresholds import Variation
from dpverify.ledger.verdicts import BROKEN, HOLDS
from dpverify.ledger.written_numbers import coordinates_of
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.pipeline import prove
from dpverify.proving.proof import Budget, Proof, Prover
from dpverify.proving.provers.balls import BallProver, simplest_between
from dpverify.proving.provers.chains import Chains
from dpverify.proving.provers.exact import Exact
from dpverify.proving.provers.gram import Gram
from dpverify.proving.provers.points import confirmed, refutation_at
from dpverify.proving.provers.real_arithmetic import FunctionFacts, RealArithmetic
from dpverify.proving.provers.search import Search
from dpverify.proving.reasoning.evaluation import ExactPoint

BUDGET = Budget(boxes=20_000, operations=600_000, units=50_000, steps=250_000)
"""What one attempt may do: most are near the point where a formula fails."""
CLOSE = Fraction(1, 100)
"""Ends that are as near to one another, as a part of the larger one, are near enough."""
_UNCLEAR = 3
"""Undecided attempts after which no more is asked of one thing that is varied."""
_UNDECIDED = 4
"""As how many attempts one counts that decides nothing: it does all that it may."""
_LARGEST = 64
"""Denominator of a number that is tried because it is simple."""


@dataclass(frozen=True)
class End:
    """A value at which the formula is proved, or refuted."""

    value: Fraction
    form: Obligation
    """The formula with it, and all that it is under."""
    proof: Proof
    strict: bool = False


@dataclass
class Attempts:
    """Attempts at a proof, up to a limit; nothing counts that the checker does not confirm."""

    limit: int
    used: int = 0
    cut_short: bool = False
    """Whether a far guard of time ended one."""
    provers: tuple[Prover, ...] = field(default_factory=lambda: quick_provers())

    @property
    def left(self) -> int:
        """How many may still be made."""
        return self.limit - self.used

    def at(self, form: Obligation, *, known: bool = False) -> Proof | None:
        """A confirmed proof or counterexample; None where there is neither, or no attempt is left.

        What is `known` to be decided may be asked for again, though no attempt is left.
        """
        if self.left <= 0 and not known:
            return None
        self.used += _UNDECIDED
        try:
            found = prove(form, budget=BUDGET, provers=self.provers)
        except OutOfScopeError:
            return None
        confirmation = None if found.certificate is None else check(found.certificate)
        late = found.stopped_by_the_clock or bool(confirmation and confirmation.by_the_clock)
        self.cut_short = self.cut_short or late
        if confirmation is None or not confirmation.confirmed or late:
            return None
        self.used -= _UNDECIDED - 1
        return found


def quick_provers() -> tuple[Prover, ...]:
    """Counterexamples first, also those that take a search; then what proves most, without the long last ones."""
    arithmetic = (Exact(), RealArithmetic(), FunctionFacts())
    chains = (Chains(), Chains(thorough=True))
    return (Gram(), Search(), Search(thorough=True), *arithmetic, BallProver(), *chains)


@dataclass(frozen=True)
class Family:
    """The formulas that one change gives, and where to begin."""

    of: Obligation
    change: Variation
    good: Fraction | None = None
    """A value at which the formula is known to be proved."""
    bad: Fraction | None = None
    """A value at which it is known to be refuted."""
    first: tuple[Fraction, ...] = ()
    """Values to begin with, from the known end on."""

    @property
    def whole(self) -> bool:
        """Whether only integers count."""
        return bool(self.change.letter) and letter_of(self.of, self.change.letter).kind == "integer"


def completed(o: Obligation, named: dict[str, str]) -> ExactPoint | None:
    """A point with values for letters that it leaves out, which no formula mentions."""
    point = {x: coordinates_of(value) for x, value in named.items()}
    spare = {
        v.name: Fraction(1) if v.contains(Fraction(1)) else v.lower for v in o.over if v.kind != "vector"
    }
    made = {v.name: point.get(v.name, spare.get(v.name)) for v in o.over}
    return None if any(x is None for x in made.values()) else made


class Ends:
    """The two ends of a family, found step by step."""

    def __init__(self, family: Family, asked: Attempts) -> None:
        self.family, self.asked = family, asked
        self.good: End | None = None
        self.bad: End | None = None
        self._unclear: list[Fraction] = []
        """Values that were neither proved nor refuted."""
        self._strict: list[Fraction] = []
        """Values that were tried as strict bounds."""

    def find(self) -> bool:
        """Look for both ends; whether anything is found beside what was known."""
        self._begin()
        if self.good is None and self._unclear and (boxed := _boxed(self.family)) is not None:
            self.family, self.bad, self._unclear = boxed, None, []
            self._begin()
        if self.good is None or (self.family.good is not None and self.bad is None):
            return False
        self.narrow()
        return True

    @property
    def at_the_end(self) -> bool:
        """Whether the bound that holds leaves its letter one value, the end of its domain."""
        letter = letter_of(self.family.of, self.family.change.letter)
        return self.good is not None and self.good.value in (letter.lower, letter.upper)

    def _begin(self) -> None:
        """Try the first values until both ends are known, and what was known before at the end."""
        family = self.family
        for value in family.first:
            self._ask(value)
            if self.good is not None and (self.bad or family.bad is not None):
                break
            if family.good is not None and self.bad is not None:
                break
            if len(self._unclear) >= _UNCLEAR - 1:
                break
        if self.bad is not None and family.good is not None:
            far = None if self.good is None else abs(self.good.value - self.bad.value)
            if far is None or abs(family.good - self.bad.value) < far:
                self._ask(family.good, known=True)
        if self.bad is None and family.bad is not None and self.good is not None:
            self._ask(family.bad, known=not family.change.within)

    def _ask(self, value: Fraction, *, known: bool = False, strict: bool = False) -> None:
        """One attempt at one value; what is nearer to the other end takes an end's place."""
        try:
            form = changed(self.family.of, self.family.change, value, strict=strict)
            proof = self.asked.at(form, known=known)
        except (InvalidArgumentError, OutOfScopeError):
            return
        if proof is not None and proof.verdict in HOLDS:
            self.good = End(value, form, proof, strict)
        elif strict:
            return
        elif proof is not None and proof.verdict in BROKEN:
            self.bad = self._nearest(End(value, form, proof))
        else:
            self._unclear.append(value)

    def _nearest(self, end: End) -> End:
        """The end moved to the first bound that its counterexample meets."""
        named = end.proof.counterexample
        if named is None or end.form.functionals or end.proof.written_out:
            return end
        point = completed(end.form, dict(named))
        first = None if point is None else met(self.family.of, self.family.change, point)
        if first is None or first == end.value or point is None:
            return end
        form = changed(self.family.of, self.family.change, first)
        if not confirmed(form.problem, point):
            return end
        proof = replace(refutation_at(form.problem, point), prover=end.proof.prover)
        return End(first, form, proof) if check(proof.certificate).confirmed else end

    def narrow(self) -> None:
        """Bring the ends nearer to one another, and try the simplest number between them, and a strict bound."""
        if self.bad is not None and self.bad.value in (
            0,
            1,
        ):  # nothing is near to 0, as a part of it, and x < y is simple
            self._leave_out_the_end()
        self._halve()
        if self.family.whole or self.good is None or self.bad is None or self.good.value == self.bad.value:
            return
        low, high = sorted((self.good.value, self.bad.value))
        simple = _simplest(low + (high - low) / 1000, high - (high - low) / 1000)
        if simple.denominator <= _LARGEST and simple not in self._unclear:
            self._ask(simple)
        self._leave_out_the_end()

    def _leave_out_the_end(self) -> None:
        """Try the bound at which it fails without its end, where that is simple."""
        bad, letter = self.bad, self.family.change.letter
        if bad is not None and letter and bad.value.denominator <= _LARGEST and bad.value not in self._strict:
            self._strict.append(bad.value)
            self._ask(bad.value, strict=True)

    def _halve(self) -> None:
        """Halve what lies between the ends until they are near; what is unclear is looked at from both sides."""
        while self.good is not None and self.bad is not None and self.asked.left > 0:
            low, high = self.good.value, self.bad.value
            inside = [x for x in self._unclear if min(low, high) < x < max(low, high)]
            if _distance(low, high) <= CLOSE or len(inside) > _UNCLEAR:
                return
            nearest = min(inside, key=lambda x: abs(x - low), default=high)
            farthest = min(inside, key=lambda x: abs(x - high), default=low)
            sides = [(low, nearest), (farthest, high)] if inside else [(low, high)]
            values = [_between(*side, whole=self.family.whole) for side in sides]
            wanted = [x for x in values if x is not None and x not in self._unclear]
            if not wanted:
                return
            self._ask(max(wanted, key=lambda x: min(abs(x - y) for y in (low, high, *inside))))


def _distance(a: Fraction, b: Fraction) -> Fraction:
    return abs(a - b) / max(abs(a), abs(b)) if a != b else Fraction(0)


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    found = simplest_between(*(fmpq(x.numerator, x.denominator) for x in (low, high)))
    return Fraction(int(found.p), int(found.q))


def _between(a: Fraction, b: Fraction, *, whole: bool = False) -> Fraction | None:
    """A simple number near the middle of two; of far ones of one sign, the geometric middle. None if there is none."""
    low, high = min(a, b), max(a, b)
    far = low > 0 and high > 4 * low
    if whole:
        middle = Fraction(math.isqrt(int(low * high)) if far else (low + high) // 2)
        return middle if low < middle < high else None
    if low == high:
        return None
    if far:
        middle = Fraction(math.sqrt(float(low)) * math.sqrt(float(high)))
        return _simplest(middle * Fraction(4, 5), middle * Fraction(5, 4))
    third = (high - low) / 3
    return _simplest(low + third, high - third)


def _boxed(family: Family) -> Family | None:
    """The same with bounds at sizes met in practice on letters whose domains are open or do not end."""
    form, change = family.of, family.change
    sizes = sizes_of(form.problem.free)
    within = {}
    for v in form.over:
        size = sizes.get(v.name)
        ends = (v.lower is None or v.lower_open) or (v.upper is None or v.upper_open)
        if size is not None and ends and v.name not in (change.letter, change.other, *change.within):
            within[v.name] = tuple(map(str, _cut(v, size.low, size.high)))
    if not within:
        return None
    first = family.first if family.bad is None else (family.bad, *family.first)
    return replace(family, change=change.but(within=change.within | within), bad=None, first=first)


def _cut(v: Variable, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """A range of practical sizes without the open ends of the domain."""
    if v.lower is not None and v.upper is not None:
        nearly = (v.upper - v.lower) / 1000
        low, high = max(low, v.lower + nearly * v.lower_open), min(high, v.upper - nearly * v.upper_open)
    return low, high
