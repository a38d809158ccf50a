"""A formula that is to give a statement's conclusion does not presuppose it.

What is looked for: an inequality among the conditions of a `conclusion` that is its claim up to a factor, a product of
powers of positive letters. Substituting a choice of constants, taking a root, adding two bounds is more than that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from dpverify.formulas.expressions import OutOfScopeError, real
from dpverify.formulas.logic import And, Compare, Eq, Formula, Le
from dpverify.ledger.verdicts import Coverage
from dpverify.proving.language import Obligation, parts_of
from dpverify.proving.reasoning.normal_form import NormalForms, Quotient
from dpverify.proving.reasoning.symbolic import symbolic
from dpverify.statements.paper import papers

CITED = "a result that it uses, with the constants of this place"
REARRANGED = "a result that it uses, with a logarithm taken apart or terms on the other side"
COUNTED = "a bound on a number, times what each costs"

RESTATE = {
    "bst14.thm3.1/privacy": REARRANGED,
    "bst14.alg8-privacy/privacy": REARRANGED,
    "gll22.prop3.11/expansion": CITED,
    "gll22.thm6.2/privacy": CITED,
    "gll22.thm6.8/privacy": CITED,
    "mn25.lem6/epsilon": REARRANGED,
    "mn25.lem16/privacy": COUNTED,
}
"""Wholes that say no more than one of their conditions, which is what a named result or another formula says."""

WHOLES = [
    pytest.param(f"{s.id}/{part.name}", partial(operator.getitem, obligations, i), id=f"{s.id}/{part.name}")
    for paper in papers().values()
    for s in paper.statements
    for obligations in (s.printed, *((s.corrected.obligations,) if s.corrected else ()))
    # to read the formulas takes long, and all processes collect tests
    for i, part in enumerate(parts_of(obligations))
    if part.coverage is Coverage.CONCLUSION
]


def _parts(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, And):
        for part in formula.parts:
            yield from _parts(part)
    else:
        yield formula


def _gap(compare: Compare, forms: NormalForms) -> Quotient | None:
    """Right minus left; None where there is no normal form."""
    try:
        return forms.of(symbolic(compare.right) - symbolic(compare.left))
    except OutOfScopeError:
        return None


def restated(obligation: Obligation) -> bool:
    """Whether a part of the claim is one of the conditions, up to a factor that is positive."""
    forms = NormalForms()
    known = [c for a in obligation.assuming for c in _parts(a) if isinstance(c, Compare)]
    gaps = [gap for c in known if c.relation in ("<=", "<") and (gap := _gap(c, forms)) and gap.numerator]
    for claim in _parts(obligation.claim):
        gap = _gap(claim, forms) if isinstance(claim, Compare) and claim.relation in ("<=", "<") else None
        if gap is None or not gap.numerator:
            continue
        for other in gaps:
            factor = forms.product(gap, forms.inverse(other))
            if len(factor.numerator) == len(factor.denominator) == 1 and forms.is_positive(factor):
                return True
    return False


@pytest.mark.parametrize(("name", "read"), WHOLES)
def test_no_conclusion_presupposes_its_claim(name: str, read: Callable[[], Obligation]) -> None:
    assert restated(read()) == (name in RESTATE)


def test_nothing_rests_on_a_special_case() -> None:
    statements = [s for paper in papers().values() for s in paper.statements]
    parts = [(s.id, o) for s in statements for o in s.parts]
    general = {f"{id_}/{o.name}" for id_, o in parts if o.coverage is not Coverage.INSTANCE}
    special = {f"{id_}/{o.name}" for id_, o in parts} - general
    assert special
    rest = [f"{id_}/{o.name} on {name}" for id_, o in parts for name in o.uses if name in special]
    assert rest == []


def test_what_is_listed_rests_on_something() -> None:
    listed: dict[str, Any] = {str(p.values[0]): p.values[1] for p in WHOLES}
    for name in RESTATE:
        assert listed[name]().uses, name


x, y, z = real("x", ge=0), real("y", ge=0), real("z", gt=0)


@pytest.mark.parametrize(
    ("claim", "assuming", "expected"),
    [
        (Le(x, y), (Le(x, y),), True),
        (Le(2 * x / z, 2 * y / z), (Le(x, y),), True),
        (Le(x - y, 0), (And((Le(0, z), Le(x, y))),), True),
        (And((Le(0, z), Le(x, y))), (Le(x, y),), True),
        # a step is left to do
        (Le(x * x, y * y), (Le(x, y),), False),
        (Le(x, y + z), (Le(x, y),), False),
        (Le(x, y), (Le(x, z), Eq(z, y)), False),
        (Le(y, x), (Le(x, y),), False),
        (Eq(x, y), (Le(x, y), Le(y, x)), False),
    ],
)
def test_a_claim_among_the_conditions_is_seen(
    claim: Formula, assuming: tuple[Formula, ...], expected: bool
) -> None:
    assert restated(Obligation("x", "x", claim, (x, y, z), Coverage.CONCLUSION, assuming)) is expected
