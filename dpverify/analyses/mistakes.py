"""What is wrong with a printed formula, by the difference between it and its correction: of trees, not of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from dpverify.formulas.expressions import (
    Apply,
    Expression,
    Number,
    Variable,
    children,
    constant,
    free_variables,
)
from dpverify.formulas.functionals import is_plain
from dpverify.formulas.logic import (
    And,
    Compare,
    Exists,
    ForAll,
    Formula,
    Implies,
    Not,
    Or,
    conjuncts,
    free_in,
    variables_of,
)
from dpverify.formulas.printing import expression_text, formula_text
from dpverify.formulas.rendering.latex import expression_latex, formula_latex
from dpverify.ledger.in_print import Mistake
from dpverify.proving.language import Obligation


def mistake_of(printed: Obligation, corrected: Obligation | None) -> Mistake | None:
    """What kind of mistake a correction corrects; None where there is no correction."""
    if corrected is None:
        return None
    if not any(True for _ in variables_of(printed.claim)):  # of numbers alone nobody can say which is wrong
        return Mistake.OTHER
    kinds = _between(_core(printed.claim), _core(corrected.claim))
    if not kinds:
        return Mistake.CONDITION
    if kinds <= {Mistake.CONSTANT, Mistake.EXPONENT}:
        return Mistake.EXPONENT if Mistake.EXPONENT in kinds else Mistake.CONSTANT
    return next(iter(kinds)) if len(kinds) == 1 else Mistake.OTHER


@dataclass(frozen=True)
class AddedCondition:
    """A domain or a condition that a correction adds."""

    text: str
    """In plain characters, with what its letters are where their names do not tell."""
    latex: str
    """The same in LaTeX, without that."""
    letters: tuple[tuple[str, str], ...] = ()
    """Plain letters in LaTeX, and what they are, where the statement does not tell."""

    @classmethod
    def of(cls, condition: Formula, told: Callable[[Variable], str], besides: str = "") -> AddedCondition:
        """From a formula."""
        text = f"{formula_text(condition)}{_legend(free_in(condition), told)}{besides}"
        return cls(text, formula_latex(condition), _meanings(free_in(condition), told))


def added_conditions(
    printed: Obligation | None,
    corrected: Obligation,
    shown: Iterable[Formula] = (),
    told: Callable[[Variable], str] = lambda _: "",
) -> tuple[AddedCondition, ...]:
    """The domains and conditions of a correction that the printed formula lacks, about letters that both have.

    What is said only of letters that the correction brings along is no condition on what is printed, and nor is what is
    `shown` on the way. `told` says what a letter is where its name does not tell.
    """
    if printed is None:
        return ()
    domains = {v.name: v for v in (*printed.over, *_peeled(printed.claim)[0])}
    found = [
        AddedCondition(
            f"{v.name} {'among' if v.kind == 'integer' else 'in'} {v.domain_text()}{_legend((v,), told)}",
            _domain_latex(v),
            _meanings((v,), told),
        )
        for v in (*corrected.over, *_peeled(corrected.claim)[0])
        if v.name in domains and not _has_all_of(v, domains[v.name])
    ]
    before = _conditions(printed)
    known = {formula_text(formula) for formula in (*before, *shown)}
    known -= set(map(formula_text, printed.meant))
    only_if = {formula_text(f.conclusion): formula_text(f.premise) for f in before if isinstance(f, Implies)}
    for condition in _conditions(corrected):
        text = formula_text(condition)
        if {v.name for v in free_in(condition)} <= domains.keys() and text not in known:
            besides = f", whether or not {only_if[text]}" if text in only_if else ""
            found.append(AddedCondition.of(condition, told, besides))
    return tuple(dict.fromkeys(found))


def _legend(letters: Iterable[Variable], told: Callable[[Variable], str]) -> str:
    said = [f"{v.name} is {what}" for v in sorted(letters, key=lambda v: v.name) if (what := told(v))]
    return f" ({', '.join(said)})" if said else ""


def _meanings(letters: Iterable[Variable], told: Callable[[Variable], str]) -> tuple[tuple[str, str], ...]:
    """What plain letters are; of others their LaTeX tells."""
    plain = [v for v in sorted(letters, key=lambda v: v.name) if is_plain(v.latex)]
    return tuple((v.latex, what) for v in plain if (what := told(v)))


def _domain_latex(v: Variable) -> str:
    """Where a letter ranges, such as `x\\in(0,1]` or `n\\in\\{2,3,\\dots\\}`."""
    low, high = (None if end is None else Number(end) for end in (v.lower, v.upper))
    if v.kind == "integer" and low is not None and not v.lower_open:
        if v.lower == v.upper:
            return formula_latex(Compare("==", v, low))
        last = "" if high is None else expression_latex(high)
        return rf"{v.latex}\in\{{{expression_latex(low)},\dots{',' if last else ''}{last}\}}"
    left = "(" if low is None or v.lower_open else "["
    right = ")" if high is None or v.upper_open else "]"
    ends = (
        r"-\infty" if low is None else expression_latex(low),
        r"\infty" if high is None else expression_latex(high),
    )
    return rf"{v.latex}\in{left}{ends[0]},{ends[1]}{right}"


def _has_all_of(one: Variable, other: Variable) -> bool:
    """Whether the domain of one letter has every value of another's."""
    if one.kind != other.kind and (one.kind, other.kind) != ("real", "integer"):
        return False
    below = one.lower is None or (
        other.lower is not None and (one.lower, one.lower_open) <= (other.lower, other.lower_open)
    )
    above = one.upper is None or (
        other.upper is not None and (one.upper, not one.upper_open) >= (other.upper, not other.upper_open)
    )
    return below and above


def _peeled(formula: Formula) -> tuple[list[Variable], list[Formula], Formula]:
    """The letters of the quantifiers in front, the premises among them, and what is claimed."""
    letters: list[Variable] = []
    premises: list[Formula] = []
    while isinstance(formula, Exists | ForAll | Implies):
        if isinstance(formula, Implies):
            premises += conjuncts(formula.premise)
            formula = formula.conclusion
        else:
            letters.append(formula.variable)
            formula = formula.body
    return letters, premises, formula


def _core(formula: Formula) -> Formula:
    return _peeled(formula)[2]


def _conditions(obligation: Obligation) -> tuple[Formula, ...]:
    """What a claim is under: the assumptions, and premises within."""
    return (*obligation.assuming, *_peeled(obligation.claim)[1])


def _between(printed: Formula, corrected: Formula) -> set[Mistake]:
    """The kinds of all differences between two formulas."""
    match printed, corrected:
        case Compare(), Compare():
            return _compared(printed, corrected)
        case (And(some), And(others)) | (Or(some), Or(others)) if len(some) == len(others):
            pairs = zip(some, others, strict=True)
            return set().union(*(_between(_core(one), _core(other)) for one, other in pairs))
        case Not(one), Not(other):
            return _between(one, other)
        case _:
            return set() if formula_text(printed) == formula_text(corrected) else {Mistake.OTHER}


def _compared(printed: Compare, corrected: Compare) -> set[Mistake]:
    sides = [*map(expression_text, (printed.left, printed.right))]
    others = [*map(expression_text, (corrected.left, corrected.right))]
    relation = printed.relation != corrected.relation
    if sorted(sides) == sorted(others):
        return {Mistake.RELATION} if relation or sides != others else set()
    found = _different(printed.left, corrected.left) | _different(printed.right, corrected.right)
    return found or ({Mistake.RELATION} if relation else set())


def _different(one: Expression, other: Expression) -> set[Mistake]:
    """The kinds of all differences between two expressions."""
    if expression_text(one) == expression_text(other):
        return set()
    if not free_variables(one) and not free_variables(other):
        return {Mistake.CONSTANT}
    if _is_sum(one) or _is_sum(other):
        mine, theirs = Counter(_terms(one)), Counter(_terms(other))
        found = _left_over(list((mine - theirs).elements()), list((theirs - mine).elements()))
        if found is not None:
            return found
    elif _is_product(one) or _is_product(other):
        found = _of_products(one, other)
        if found is not None:
            return found
    elif children(one) and _shape(one) == _shape(other):
        pairs = zip(children(one), children(other), strict=True)
        return set().union(*(_different(mine, theirs) for mine, theirs in pairs))
    return {Mistake.OTHER}


def _left_over(mine: list[_Term], theirs: list[_Term]) -> set[Mistake] | None:
    """The differences between two sums of which equal terms are left out, by pairs; None where these do not match."""
    if [term.sign for term in mine] != [term.sign for term in theirs]:
        return None
    return set().union(*(_different(one.of, other.of) for one, other in zip(mine, theirs, strict=True)))


def _of_products(one: Expression, other: Expression) -> set[Mistake] | None:
    """The same for products of powers: a constant, an exponent, or what is within the one factor that differs."""
    mine, theirs = _Factors(one), _Factors(other)
    if mine.powers.keys() == theirs.powers.keys():
        exponent = {Mistake.EXPONENT} if mine.powers != theirs.powers else set()
        return exponent | ({Mistake.CONSTANT} if mine.constants != theirs.constants else set())
    left = [name for name in mine.powers if name not in theirs.powers]
    right = [name for name in theirs.powers if name not in mine.powers]
    common = mine.powers.keys() & theirs.powers.keys()
    if len(left) != 1 or len(right) != 1 or any(mine.powers[x] != theirs.powers[x] for x in common):
        return None
    if mine.powers[left[0]] != theirs.powers[right[0]]:
        return None
    if mine.bases[left[0]] is one and theirs.bases[right[0]] is other:
        return None
    inner = _different(mine.bases[left[0]], theirs.bases[right[0]])
    return inner | ({Mistake.CONSTANT} if mine.constants != theirs.constants else set())


@dataclass(frozen=True)
class _Term:
    """A term of a sum with its sign; equal where it is written the same."""

    sign: int
    of: Expression = field(compare=False)
    text: str


def _terms(e: Expression, sign: int = 1) -> Iterator[_Term]:
    match e:
        case Apply("add", parts):
            for part in parts:
                yield from _terms(part, sign)
        case Apply("sub", (first, *rest)):
            yield from _terms(first, sign)
            for part in rest:
                yield from _terms(part, -sign)
        case Apply("neg", (part,)):
            yield from _terms(part, -sign)
        case _:
            yield _Term(sign, e, expression_text(e))


class _Factors:
    """A product as powers of what is no number, and what is one."""

    def __init__(self, e: Expression) -> None:
        self.powers: dict[str, Fraction] = {}
        self.bases: dict[str, Expression] = {}
        self.constants: Counter[tuple[str, Fraction]] = Counter()
        self._take(e, Fraction(1))
        self.powers = {name: power for name, power in self.powers.items() if power}

    def _take(self, e: Expression, power: Fraction) -> None:
        if not free_variables(e):
            if e != Number(Fraction(1)):
                self.constants[expression_text(e), power] += 1
            return
        match e:
            case Apply("mul", parts):
                for part in parts:
                    self._take(part, power)
            case Apply("div", (above, under)):
                self._take(above, power)
                self._take(under, -power)
            case Apply("neg", (part,)):
                self.constants["-1", power] += 1
                self._take(part, power)
            case Apply("root", (part, degree)) if value := constant(degree):
                self._take(part, power / value)
            case Apply("pow", (part, exponent)) if (value := constant(exponent)) is not None:
                self._take(part, power * value)
            case _:
                name = expression_text(e)
                self.bases[name] = e
                self.powers[name] = self.powers.get(name, Fraction(0)) + power


def _is_sum(e: Expression) -> bool:
    return isinstance(e, Apply) and e.operator in ("add", "sub")


def _is_product(e: Expression) -> bool:
    return isinstance(e, Apply) and e.operator in ("mul", "div", "neg", "root", "pow")


def _shape(e: Expression) -> tuple[object, ...]:
    """What two expressions share that differ in their parts only."""
    return type(e), getattr(e, "operator", None), getattr(e, "kind", None), len(children(e))
