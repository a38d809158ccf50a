"""What is to be decided, prepared once: a claim, its letters and assumptions, and what all provers ask of these."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.definedness import Requirement, defined_where
from dpverify.formulas.expressions import (
    Apply,
    Binder,
    Constant,
    Expression,
    Variable,
    children,
    exact,
    is_infinite,
)
from dpverify.formulas.logic import Formula, Le, comparisons, expressions_in, free_in, variables_of
from dpverify.formulas.operators import apply
from dpverify.formulas.rendering.neutral import Json, formula_to_json, variable_to_json
from dpverify.formulas.vectors import check_formula

Ends = tuple[Fraction, Fraction]
"""Lower and upper end of a box for one letter."""
_FORMULAS = "formulas such as Le(left, right), for claim and assumptions"


@dataclass(frozen=True)
class ProofProblem:
    """A claim that is to hold for all values of letters that satisfy assumptions, and a box for some of the letters.

    It is all that provers see of an obligation. `name` is for messages. What is costly is found when it is asked for.
    """

    name: str
    claim: Formula
    over: tuple[Variable, ...]
    assuming: tuple[Formula, ...] = ()
    box: Mapping[str, tuple[object, object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        what = f"obligation {self.name}"
        for formula in self.stated:
            require(isinstance(formula, Formula), what, formula, _FORMULAS)
            check_formula(formula)
            for compare in comparisons(formula):
                check_expression(self.name, compare.left)
                check_expression(self.name, compare.right)
        self._check_box()
        seen = {v.name: v for v in self.over}
        if len(seen) != len(self.over):
            allowed = "variables of different names"
            raise InvalidArgumentError(f"over of {what}", [v.name for v in self.over], allowed)
        for formula in self.stated:
            for variable in variables_of(formula):
                first = seen.setdefault(variable.name, variable)
                if first != variable:
                    both = f"{variable.name} as {_declared(first)} and as {_declared(variable)}"
                    allowed = "one domain and unit for each name, bound ones included"
                    raise InvalidArgumentError(what, both, allowed)
            self.check_free(what, formula, "formulas")

    def check_free(self, name: str, formula: Formula, allowed: str) -> None:
        """Refuse a formula with letters that are not declared."""
        if free := free_in(formula) - {*self.over}:
            names = sorted(v.name for v in free)
            raise InvalidArgumentError(name, names, f"{allowed} over the variables in `over`")

    def _check_box(self) -> None:
        variables = {v.name: v for v in (*variables_of(self.claim), *self.over)}
        for name, ends in self.box.items():
            require(name in variables, "box", name, f"bounds for {', '.join(sorted(variables))}")
            v = variables[name]
            allowed = "bounds for numbers, not for vectors"
            require(v.kind != "vector", f"box of {name}", tuple(ends), allowed)
            low, high = (exact(f"box of {name}", end) for end in ends)
            if v.kind == "integer":
                low, high = exact(name, math.ceil(low)), exact(name, math.floor(high))
            below = v.upper is not None and (v.upper < low or (v.upper == low and v.upper_open))
            above = v.lower is not None and (v.lower > high or (v.lower == high and v.lower_open))
            if low > high or below or above:
                raise InvalidArgumentError(f"box of {name}", tuple(ends), f"one that meets {v.domain_text()}")

    @property
    def stated(self) -> tuple[Formula, ...]:
        """The claim, and what is assumed."""
        return (self.claim, *self.assuming)

    @cached_property
    def letters(self) -> dict[str, Variable]:
        """Those of its formulas by their names, bound ones included."""
        return {v.name: v for formula in self.stated for v in variables_of(formula)}

    @cached_property
    def free(self) -> frozenset[Variable]:
        """The letters of its formulas that are not bound."""
        return frozenset().union(*map(free_in, self.stated))

    @cached_property
    def has_vectors(self) -> bool:
        """Whether it is about vectors."""
        return any(v.kind == "vector" for v in self.over)

    @cached_property
    def ends(self) -> dict[str, Ends]:
        """Both ends of its box for each letter that has them."""
        found = {name: [exact(f"box of {name}", end) for end in ends] for name, ends in self.box.items()}
        return {name: (low, high) for name, (low, high) in found.items()}

    @cached_property
    def norms(self) -> tuple[Apply, ...]:
        """All norms in it."""
        return tuple(e for e in expressions_in(*self.stated) if isinstance(e, Apply) and e.operator == "norm")

    @cached_property
    def wanted(self) -> tuple[Requirement, ...]:
        """Under which conditions its claim is defined."""
        return tuple(defined_where(self.claim))

    @cached_property
    def within_box(self) -> tuple[Formula, ...]:
        """What it assumes, and its box."""
        boxed = ((v, *self.ends[v.name]) for v in self.over if v.name in self.box)
        return (*self.assuming, *(side for v, low, high in boxed for side in (Le(low, v), Le(v, high))))

    @property
    def json(self) -> Json:
        """What certificates say of it."""
        return {
            "variables": [variable_to_json(v) for v in self.over],
            "assuming": [formula_to_json(a) for a in self.assuming],
            "claim": formula_to_json(self.claim),
        }

    def claiming(self, claim: Formula) -> ProofProblem:
        """The same with another claim."""
        return replace(self, claim=claim)

    def about(
        self, claim: Formula, over: tuple[Variable, ...], assuming: tuple[Formula, ...]
    ) -> ProofProblem:
        """The same with another claim, letters and assumptions; boxes of other letters go."""
        names = {v.name for v in over}
        box = {name: ends for name, ends in self.box.items() if name in names}
        return replace(self, claim=claim, over=over, assuming=assuming, box=box)


def check_expression(name: str, e: Expression) -> None:
    """Refuse trees without a meaning: operators with wrong arguments, infinity elsewhere than at an integral's end."""
    if isinstance(e, Apply):
        apply(e.operator, *e.arguments)
    elif isinstance(e, Constant) and is_infinite(e):
        raise InvalidArgumentError(f"obligation {name}", e.name, "infinity as an end of an integral only")
    for part in children(e):
        if not (isinstance(e, Binder) and e.kind == "integral" and is_infinite(part) and part is not e.body):
            check_expression(name, part)


def _declared(v: Variable) -> str:
    return f"{v.domain_text()}, {v.unit}"
