"""Whether the premises of a formula are what the statements that it uses conclude.

A formula on a page is proved under what is `given`. A condition there is about numbers that the formula or its
statement names; all else is a premise, which has to come from somewhere. Each premise is matched with what the used
statements conclude, letter by letter (`matching`): the values of the used statement's letters are an instantiation, and
what that statement asks of them, its conditions, the domains of its letters and its box, is to be shown for these
values. What matches no conclusion is an assumption of its page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import islice

from dpverify.analyses.matching import Matcher, Values, identified, is_named_in, printed, same
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.calculus import with_values
from dpverify.formulas.expressions import Expression, OutOfScopeError, Variable, exact, free_variables
from dpverify.formulas.functionals import may_be_a_functional
from dpverify.formulas.logic import Compare, Formula, Implies, Le, conjuncts, free_in, in_domain
from dpverify.formulas.notation.tokens import normal, texts
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.language import Obligation
from dpverify.proving.pipeline import prove
from dpverify.proving.proof import Budget, Prover
from dpverify.proving.provers.exact import Exact
from dpverify.proving.provers.gram import Gram
from dpverify.proving.provers.real_arithmetic import RealArithmetic
from dpverify.proving.provers.search import Search

BUDGET = Budget(boxes=1_000, operations=20_000, units=20_000, steps=100_000)
"""What one question may cost; most of them are about single letters."""
_LOOKED_AT = 3
"""Matches of a premise whose hypotheses are looked at."""


class Given(Enum):
    """What a part of what is given is."""

    CONDITION = "condition"
    """About numbers that the formula or its statement names."""
    NAME = "name"
    """An equation that gives a number its name, and is always true of some number."""
    PREMISE = "premise"


@dataclass(frozen=True)
class UsedFormula:
    """A formula of a used statement, or of the same one, with the name under which it is used."""

    name: str
    """`STATEMENT/OBLIGATION`."""
    obligation: Obligation
    says: str = ""
    """LaTeX of its statement in words, for what it names."""

    @cached_property
    def conclusions(self) -> tuple[Formula, ...]:
        """The parts of its claim, with what the parts of a chain give together, and both halves of an equation."""
        parts = list(conjuncts(self.obligation.claim))
        compares = [part for part in parts if isinstance(part, Compare)]
        for start, first in enumerate(compares):
            last = first
            for following in compares[start + 1 :]:
                joined = _joined(last, following)
                if joined is None:
                    break
                parts.append(joined)
                last = joined
        return tuple(dict.fromkeys(parts))

    @cached_property
    def functionals(self) -> frozenset[Variable]:
        """Its letters that may stand for functionals."""
        return functionals_of(self.obligation)

    @cached_property
    def given(self) -> tuple[tuple[Formula, Given], ...]:
        """The parts of what it is proved under."""
        return tuple(parted(self.obligation, self.says))


def _joined(first: Compare, second: Compare) -> Compare | None:
    """What two comparisons of a chain give together."""
    if first.right != second.left or "!=" in (first.relation, second.relation):
        return None
    weaker = {"==": 0, "<=": 1, "<": 2}
    relation = max(first.relation, second.relation, key=lambda each: weaker[each])
    return Compare(relation, first.left, second.right)


@dataclass(frozen=True)
class AskedHypothesis:
    """What a used formula asks of the values that its letters have."""

    formula: Formula
    shown: bool
    of_box: bool = False
    """Whether it says that a value is in the box on which the used formula was proved."""


@dataclass(frozen=True)
class Instantiation:
    """A premise as what a used formula concludes."""

    by: tuple[str, ...]
    """`STATEMENT/OBLIGATION`, several where the premise follows from all together; none where it is proved outright."""
    values: Values = field(default_factory=dict)
    """The letters of the used formula that are something else here, with what they are."""
    identified: tuple[tuple[Variable, Variable], ...] = ()
    """Functionals of the used formula that are printed otherwise than the letters that they are read as."""
    hypotheses: tuple[AskedHypothesis, ...] = ()
    by_algebra: bool = False
    """Whether the premise follows from the conclusion by algebra, and is not that conclusion letter by letter."""

    @property
    def open(self) -> tuple[AskedHypothesis, ...]:
        """What is asked and not shown."""
        return tuple(asked for asked in self.hypotheses if not asked.shown)


@dataclass(frozen=True)
class TracedPremise:
    """What a formula takes from elsewhere, with where that is concluded; None: an assumption of its page."""

    formula: Formula
    found: Instantiation | None


def functionals_of(obligation: Obligation) -> frozenset[Variable]:
    """The letters of an obligation that may stand for functionals; not those that stand for a formula that is read."""
    letters = obligation.problem.letters.values()
    return frozenset(v for v in letters if may_be_a_functional(v) and v not in obligation.formulas)


def parted(obligation: Obligation, says: str = "") -> Iterator[tuple[Formula, Given]]:
    """The parts of what is given, each with what it is.

    A part is a condition where all its letters are numbers that the formula or its statement, `says` in LaTeX, names;
    an equation may give another number its name, as `T = 2 L C / epsilon` does.
    """
    parts = [part for formula in dict.fromkeys(obligation.assuming) for part in conjuncts(formula)]
    functionals = functionals_of(obligation)
    prints = [texts(normal(latex)) for latex in (obligation.latex, says) if latex]
    claimed = free_in(obligation.claim)
    numbers = [v for v in obligation.over if v not in functionals]
    named = {v for v in numbers if v in claimed or any(is_named_in(v, text) for text in prints)}
    names: dict[int, Variable] = {}
    for i, part in enumerate(parts):
        new = _named_by(part, functionals)
        if new is not None and new not in named:
            named.add(new)
            names[i] = new
    for i, part in enumerate(parts):
        if i in names:
            yield part, Given.NAME
        else:
            yield part, Given.CONDITION if free_in(part) <= named else Given.PREMISE


def _named_by(part: Formula, functionals: Collection[Variable]) -> Variable | None:
    """The number that an equation gives its name to."""
    if not isinstance(part, Compare) or part.relation != "==":
        return None
    for letter, value in ((part.left, part.right), (part.right, part.left)):
        if isinstance(letter, Variable) and letter not in functionals and letter not in free_variables(value):
            return letter
    return None


def premises_of(
    obligation: Obligation, used: Sequence[UsedFormula], says: str = ""
) -> tuple[TracedPremise, ...]:
    """Each premise of an obligation with what it is an instance of, and each condition that is an instance.

    Args:
        obligation: the formula whose premises are looked at.
        used: the formulas that it uses, those of whole statements too; formulas of which nothing is concluded, such as
            instances, are to be left out by the caller.
        says: LaTeX of its statement in words, whose letters are numbers that it names.
    """
    return tuple(_Premises(obligation, used, says).found())


class _Premises:
    """Goes through what is given, in the order of the page: what stands earlier may be used for what is asked later."""

    def __init__(self, obligation: Obligation, used: Sequence[UsedFormula], says: str) -> None:
        self._of, self._used = obligation, used
        self._functionals = functionals_of(obligation)
        self._parts = list(parted(obligation, says))
        self._known = [part for part, kind in self._parts if kind is not Given.PREMISE]

    def found(self) -> Iterator[TracedPremise]:
        """The premises, and the conditions that a used formula concludes."""
        for part, kind in self._parts:
            is_premise = kind is Given.PREMISE
            found = self._instance(part, is_premise) if kind is not Given.NAME else None
            if is_premise or (found is not None and not found.open):
                yield TracedPremise(part, found)
            if is_premise:
                self._known.append(part)

    def _instance(self, part: Formula, is_premise: bool) -> Instantiation | None:
        matches = sorted(self._matches(part), key=lambda match: len(match[2]))
        best: Instantiation | None = None
        for used, values, names, vague in islice(matches, _LOOKED_AT):
            found = Instantiation((used.name,), _told(values), names, tuple(self._asked(used, values, part)))
            if found.open and (vague or any(_says(asked.formula, part) for asked in found.open)):
                continue
            if best is None or (len(found.open), len(names)) < (len(best.open), len(best.identified)):
                best = found
            if not best.open and not best.identified:
                break
        if best is not None or not is_premise:
            return best
        if _proved(part, (), self._of.formulas):
            return Instantiation(())
        return self._by_algebra(part)

    def _matches(
        self, part: Formula
    ) -> Iterator[tuple[UsedFormula, Values, tuple[tuple[Variable, Variable], ...], bool]]:
        for used in self._used:
            functionals = used.functionals | self._functionals
            matcher = Matcher(frozenset(used.obligation.over), functionals)
            for conclusion in used.conclusions:
                # of an implication also what it implies
                for target in (part, part.conclusion) if isinstance(part, Implies) else (part,):
                    for pattern in _weaker(conclusion, target):
                        for values in matcher.formulas(pattern, target):
                            vague = _is_vague(pattern, values, functionals)
                            yield used, values, identified(values, functionals), vague

    def _by_algebra(self, part: Formula) -> Instantiation | None:
        """A premise that follows from one conclusion whose letters are the same here, or from all of them together."""
        if not isinstance(part, Compare):
            return None
        about = free_in(part) & self._functionals or free_in(part)
        found: list[tuple[UsedFormula, Values, Formula]] = []
        for used in self._used:
            values = self._same_letters(used)
            for conclusion in used.conclusions:
                free = free_in(conclusion)
                if isinstance(conclusion, Compare) and free <= values.keys():
                    of = {v: values[v] for v in free}
                    here = self._with(conclusion, of)
                    if here is not None and free_in(here) & free_in(part):
                        found.append((used, of, here))
        alone = [[each] for each in found if about <= free_in(each[2])]
        together = (
            [found]
            if len(found) > 1 and about <= frozenset[Variable]().union(*(free_in(h) for _, _, h in found))
            else []
        )
        for several in (*alone, *together):
            if not self._shown(part, [*(here for _, _, here in several), *self._plain(part)]):
                continue
            functionals = frozenset[Variable]().union(
                self._functionals, *(used.functionals for used, _, _ in several)
            )
            values = {v: e for _, of, _ in several for v, e in of.items()}
            asked = dict.fromkeys(asked for used, of, _ in several for asked in self._asked(used, of, part))
            if any(_says(each.formula, part) for each in asked if not each.shown):
                continue
            return Instantiation(
                tuple(dict.fromkeys(used.name for used, _, _ in several)),
                _told(values),
                identified(values, functionals),
                tuple(asked),
                by_algebra=True,
            )
        return None

    def _plain(self, part: Formula) -> list[Formula]:
        """What is known of numbers, and equations."""
        return [
            known
            for known in self._known
            if known != part
            and (not free_in(known) & self._functionals or getattr(known, "relation", "") == "==")
        ]

    def _same_letters(self, used: UsedFormula) -> dict[Variable, Expression]:
        """Letters of a used formula that stand for the same here: by name and domain, and functionals by print."""
        here = {v.name: v for v in self._of.over}
        values: dict[Variable, Expression] = {}
        for v in used.obligation.over:
            if here.get(v.name) == v and printed(here[v.name]) == printed(v):
                values[v] = here[v.name]
            elif v in used.functionals:
                same_print = [w for w in self._of.over if w in self._functionals and printed(w) == printed(v)]
                if same_print:
                    values[v] = same_print[0]
        return values

    def _asked(self, used: UsedFormula, values: Values, part: Formula) -> Iterator[AskedHypothesis]:
        """What a used formula asks of the values of its letters, with whether it is shown."""
        known = [each for each in self._known if each != part]
        if isinstance(part, Implies):
            known.append(part.premise)
        here = {v.name: v for v in self._of.over}
        concluded = values.keys()
        # letters of which the match says nothing are what they are called here
        values = {**{v: here[v.name] for v in used.obligation.over if here.get(v.name) == v}, **values}
        asked: dict[Formula, bool] = {}
        for v in used.obligation.over:
            if v in values and not (isinstance(values[v], Variable) and _within(values[v], v)):
                asked |= dict.fromkeys(in_domain(v, values[v]), False)
        renamed = {v for v, e in values.items() if isinstance(e, Variable) and self._is_same(v, e, used)}
        hypotheses = [
            part
            for part, kind in used.given
            # what it takes from elsewhere is there for the same quantities, and is asked of others; a name is free
            if kind is Given.CONDITION
            or (kind is Given.NAME and _named_by(part, used.functionals) in concluded)
            or (kind is Given.PREMISE and not free_in(part) & values.keys() <= renamed)
        ]
        for hypothesis in hypotheses:
            new = self._with(hypothesis, values)
            if new is not None:
                asked[new] = False
        boxes = {
            v: replace(v, lower=_end(low), lower_open=False, upper=_end(high), upper_open=False)
            for v in used.obligation.over
            for low, high in [used.obligation.box.get(v.name, (None, None))]
            if v.name in used.obligation.box
        }
        for v, inside in boxes.items():
            if v in values:
                asked |= dict.fromkeys(in_domain(inside, values[v]), True)
        for formula, of_box in asked.items():
            yield AskedHypothesis(formula, self._shown(formula, known), of_box)

    def _is_same(self, letter: Variable, value: Variable, used: UsedFormula) -> bool:
        """Whether a letter of a used formula is the same quantity here, or is read as one."""
        return letter in used.functionals or (letter.name, printed(letter)) == (value.name, printed(value))

    def _with(self, formula: Formula, values: Values) -> Formula | None:
        """A formula with values; None where it cannot be said here."""
        try:
            return with_values(formula, values)
        except OutOfScopeError:
            return None

    def _shown(self, formula: Formula, known: Sequence[Formula]) -> bool:
        """Whether it stands among what is known, or is proved from it."""
        if any(_says(each, formula) for each in known):
            return True
        if not free_in(formula) <= {*self._of.over}:
            return False
        return _proved(formula, tuple(_about(formula, known)), self._of.formulas)


def _weaker(conclusion: Formula, target: Formula) -> Iterator[Formula]:
    """What a conclusion gives of the same relation as a target: an equation or a strict inequality gives a weak one."""
    yield conclusion
    if isinstance(conclusion, Compare) and isinstance(target, Compare) and target.relation == "<=":
        if conclusion.relation == "<":
            yield Le(conclusion.left, conclusion.right)
        elif conclusion.relation == "==":
            yield Le(conclusion.left, conclusion.right)
            yield Le(conclusion.right, conclusion.left)


def _is_vague(pattern: Formula, values: Values, functionals: Collection[Variable]) -> bool:
    """Whether a side of a pattern is a number alone, and something else here: it fits every inequality."""
    sides = (pattern.left, pattern.right) if isinstance(pattern, Compare) else ()
    told = _told(values)
    return any(isinstance(side, Variable) and side in told and side not in functionals for side in sides)


def _told(values: Values) -> Values:
    """The letters that are something else here."""
    return {
        v: e
        for v, e in values.items()
        if not (isinstance(e, Variable) and (e.name, printed(e)) == (v.name, printed(v)))
    }


def _within(value: Expression, v: Variable) -> bool:
    """Whether all values of a letter are in another's domain, by the ends of both."""
    if not isinstance(value, Variable) or value.kind == "vector":
        return value == v or v.kind == "vector"
    low = v.lower is None or (
        value.lower is not None
        and (value.lower > v.lower or (value.lower == v.lower and (value.lower_open or not v.lower_open)))
    )
    high = v.upper is None or (
        value.upper is not None
        and (value.upper < v.upper or (value.upper == v.upper and (value.upper_open or not v.upper_open)))
    )
    return low and high


def _end(value: object) -> Fraction | None:
    return None if value is None else exact("end of a box", value)


def _says(known: Formula, formula: Formula) -> bool:
    """Whether something known is the formula, its sides, terms and factors in whichever order, or says more."""
    if known == formula:
        return True
    if not (isinstance(known, Compare) and isinstance(formula, Compare)):
        return False
    for pattern in _weaker(known, formula):
        assert isinstance(pattern, Compare)
        pairs = [(pattern.left, pattern.right)]
        if pattern.relation in ("==", "!="):
            pairs.append((pattern.right, pattern.left))
        if pattern.relation == formula.relation and any(
            same(left, formula.left) and same(right, formula.right) for left, right in pairs
        ):
            return True
    return False


def _about(formula: Formula, known: Iterable[Formula]) -> list[Formula]:
    """What is known of the letters of a formula, and of those that are in what is known of these."""
    letters, found, waiting = free_in(formula), list[Formula](), list(known)
    while True:
        more = [each for each in waiting if free_in(each) & letters]
        if not more:
            return found
        found += more
        waiting = [each for each in waiting if each not in more]
        letters = letters.union(*map(free_in, more))


def _provers() -> tuple[Prover, ...]:
    return (Gram(), Search(), Exact(), RealArithmetic())


def _proved(formula: Formula, known: tuple[Formula, ...], formulas: Mapping[Variable, Expression]) -> bool:
    """Whether a formula is proved from others, with little work; `formulas` is what letters stand for."""
    free = free_in(formula).union(*map(free_in, known))
    try:
        over = tuple(sorted(free, key=lambda v: v.name))
        question = Obligation(
            "asked",
            "",
            formula,
            over,
            assuming=known,
            formulas={v: e for v, e in formulas.items() if v in free},
        )
        return prove(question, budget=BUDGET, provers=_provers()).verdict is Verdict.PROVED
    except (InvalidArgumentError, OutOfScopeError):  # a letter that is bound elsewhere, with another domain
        return False
