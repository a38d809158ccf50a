"""Claims that begin with quantifiers: what is left of them, and of their negations, once something is put in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.formulas.calculus import map_sides, substituted
from dpverify.formulas.expressions import (
    Apply,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    free_variables,
)
from dpverify.formulas.logic import (
    And,
    Compare,
    Exists,
    ForAll,
    Formula,
    Implies,
    Le,
    Lt,
    Not,
    Or,
    has_exists,
    variables_of,
)
from dpverify.formulas.rendering.neutral import expression_to_json, variable_to_json
from dpverify.proving.language import Json, Obligation

Values = Mapping[Variable, Expression]


@dataclass(frozen=True)
class Prefix:
    """A claim's quantifiers in their order, the conditions among them, and what is said at last."""

    quantifiers: tuple[Exists | ForAll, ...]
    """Each with its whole body."""
    premises: tuple[Formula, ...]
    core: Formula

    @property
    def chosen(self) -> tuple[Variable, ...]:
        """Of what there is to be a value."""
        return tuple(q.variable for q in self.quantifiers if isinstance(q, Exists))

    @property
    def every(self) -> tuple[Variable, ...]:
        """What is to have any value."""
        return tuple(q.variable for q in self.quantifiers if isinstance(q, ForAll))

    @property
    def chosen_first(self) -> bool:
        """Whether all that there is to be is the same for all values of the others."""
        return all(isinstance(q, Exists) for q in self.quantifiers[: len(self.chosen)])


def peeled(obligation: Obligation) -> Prefix:
    """The prefix of a claim.

    Raises:
        OutOfScopeError: for other claims, and where a name is bound twice.
    """
    quantifiers: list[Exists | ForAll] = []
    premises: list[Formula] = []
    rest = obligation.claim
    while not isinstance(rest, Compare | And | Or | Not):
        if isinstance(rest, Implies):
            premises += parts_of(rest.premise)
            rest = rest.conclusion
        else:
            quantifiers.append(rest)
            rest = rest.body
    if has_exists(rest) or any(map(has_exists, (*premises, *obligation.assuming))):
        raise OutOfScopeError("there is something within a part of the claim, or of an assumption")
    names = [v.name for v in (*obligation.over, *(q.variable for q in quantifiers))]
    if len(set(names)) < len(names) or any(q.variable.kind == "vector" for q in quantifiers):
        raise OutOfScopeError("a letter is bound twice, or a vector is bound")
    return Prefix(tuple(quantifiers), tuple(premises), rest)


def put_in(formula: Formula, values: Values) -> Formula:
    """A formula with expressions for letters."""
    return map_sides(
        formula, lambda e: substituted(e, {v: x for v, x in values.items() if v in free_variables(e)})
    )


def domain(v: Variable, value: Expression) -> tuple[Formula, ...]:
    """What must hold for a value to lie in a letter's domain, integers apart."""
    out: list[Formula] = []
    if v.lower is not None:
        out.append(Lt(v.lower, value) if v.lower_open else Le(v.lower, value))
    if v.upper is not None:
        out.append(Lt(value, v.upper) if v.upper_open else Le(value, v.upper))
    return tuple(out)


def negated(formula: Formula) -> Formula:
    """What is true where a formula is false."""
    match formula:
        case Compare("<=", left, right):
            return Compare("<", right, left)
        case Compare("<", left, right):
            return Compare("<=", right, left)
        case Compare(relation, left, right):
            return Compare("!=" if relation == "==" else "==", left, right)
        case And(parts):
            return Or(tuple(map(negated, parts)))
        case Or(parts):
            return And(tuple(map(negated, parts)))
        case Not(part):
            return part
        case _:
            raise OutOfScopeError("a quantifier within a part of the claim")


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction, or the formula alone; |u| <= v is u <= v and -u <= v."""
    match formula:
        case And(parts):
            return tuple(part for inner in parts for part in parts_of(inner))
        case Compare("<=" | "<" as relation, Apply("abs", (u,)), right):
            minus = Number(Fraction(-1)) * u
            return Compare(relation, u, right), Compare(relation, minus, right)
        case _:
            return (formula,)


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """What `with_values` and `negation` leave to be shown, one by one."""
    assert isinstance(formula, And)
    return formula.parts


def _bounds(letters: tuple[Variable, ...], values: Values) -> tuple[Formula, ...]:
    """What puts expressions into the domains of what they stand for; numbers are looked at by themselves."""
    found: list[Formula] = []
    for v in letters:
        if not isinstance(values[v], Number):
            found += domain(v, values[v])
    return tuple(found)


def with_values(obligation: Obligation, prefix: Prefix, values: Values) -> Obligation:
    """What is left to be shown once something is put in for all that there is to be."""
    over = (*obligation.over, *prefix.every)
    names = {v.name for v in over}
    return replace(
        obligation,
        claim=And(
            (*_bounds(prefix.chosen, values), *(put_in(part, values) for part in parts_of(prefix.core)))
        ),
        over=over,
        assuming=(*obligation.assuming, *(put_in(p, values) for p in prefix.premises)),
        box={name: ends for name, ends in obligation.box.items() if name in names},
        catches=None,
    )


@dataclass(frozen=True)
class Growth:
    """What rises without bound with a letter t of its own, and which constants it goes beyond.

    The rate is factor * t^power, or factor * log t where there is no power. For all constants there is a t at which
    those in `above` are at most the rate, and those in `below`, all positive, at least its inverse.
    """

    along: Variable
    factor: Fraction
    power: Fraction | None
    above: tuple[Variable, ...] = ()
    below: tuple[Variable, ...] = ()

    @property
    def rate(self) -> Expression:
        """What rises."""
        if self.power is None:
            return Number(self.factor) * Apply("log", (self.along,))
        return Number(self.factor) * Apply("pow", (self.along, Number(self.power)))

    def text(self) -> str:
        """The rate, in plain characters."""
        t = self.along.name
        what = f"log({t})" if self.power is None else t if self.power == 1 else f"{t}^({self.power})"
        return what if self.factor == 1 else f"{self.factor}*{what}"

    def assumptions(self) -> tuple[Formula, ...]:
        """What holds of the constants for some value of the letter."""
        above = tuple(Le(v, self.rate) for v in self.above)
        return (*above, *(Le(1, Apply("mul", (v, self.rate))) for v in self.below))

    def to_json(self) -> Json:
        """As certificates write it."""
        return {
            "along": variable_to_json(self.along),
            "rate": expression_to_json(self.rate),
            "above": [v.name for v in self.above],
            "below": [v.name for v in self.below],
        }


def negation(
    obligation: Obligation, prefix: Prefix, values: Values, growth: Growth | None, part: int | None
) -> Obligation:
    """What shows a claim to be false: at the values, whatever there is to be, conditions hold and the core does not.

    `part` is the part of a core that is a conjunction which fails.
    """
    core = prefix.core if part is None else parts_of(prefix.core)[part]
    held = (*obligation.assuming, *prefix.premises)
    conditions = (*_bounds(prefix.every, values), *(put_in(f, values) for f in held))
    return Obligation(
        obligation.name,
        obligation.where,
        And((*conditions, negated(put_in(core, values)))),
        (*prefix.chosen, *((growth.along,) if growth is not None else ())),
        assuming=growth.assumptions() if growth is not None else (),
        units=False,
    )


def values_to_json(values: Values) -> Json:
    """As certificates write it."""
    return {v.name: expression_to_json(value) for v, value in values.items()}


def fresh(name: str, obligation: Obligation) -> str:
    """A name that nothing in an obligation has."""
    taken = {v.name for f in (obligation.claim, *obligation.assuming) for v in variables_of(f)}
    taken |= {v.name for v in obligation.over}
    k = 1
    while (found := name if k == 1 else f"{name}_{k}") in taken:
        k += 1
    return found
