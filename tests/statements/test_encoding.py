"""What is encoded: complete, consistent, and able to fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.formulas.logic import Compare
from dpverify.ledger.verdicts import BROKEN, Coverage, Variant, Verdict
from dpverify.proving import prove
from dpverify.proving.language import Obligation, Statement
from dpverify.statements.paper import papers

ALL = [s for paper in papers().values() for s in paper.statements]
FIRST = {
    "fmtt18": "thm1 def10 prop5 lem14 lem15 thm22 thm23 lem25 thm35 appB",
    "bst14": "lem2.2 lem2.3 eq2 huber-smooth",
    "gll22": "eq9 eq10 prop3.3 lem6.3",
}


def named(statement: str, obligation: str, variant: Variant = Variant.PRINTED) -> Obligation:
    found = next(s for s in ALL if s.id == statement)
    chosen = (
        found.printed
        if variant is Variant.PRINTED
        else found.corrected.obligations
        if found.corrected
        else ()
    )
    return next(o for o in chosen if o.name == obligation)


def test_the_catalog_has_all_rows_and_every_first_statement_is_encoded() -> None:
    rows = [row for paper in papers().values() if paper.key != "literature" for row in paper.catalog]
    assert len(rows) == len({row.id for row in rows}) == 163
    assert {f"{paper}.{name}" for paper, names in FIRST.items() for name in names.split()} <= {
        s.id for s in ALL
    }


@pytest.mark.parametrize("statement", ALL, ids=lambda s: s.id)
def test_names_are_unique_and_pairs_exist(statement: Statement) -> None:
    corrected = statement.corrected.obligations if statement.corrected else ()
    for obligations in (statement.printed, corrected):
        assert len({o.name for o in obligations}) == len(obligations)
    known = {row.id for paper in papers().values() for row in paper.catalog}
    assert set(statement.pairs) <= known
    if statement.corrected:
        assert set(statement.corrected.replaces) <= {o.name for o in statement.printed}
        assert statement.corrected.reasons


def test_every_algorithm_and_plan_can_be_loaded() -> None:
    from importlib import import_module

    for paper in papers().values():
        for id_, path in paper.algorithms.items():
            module, _, name = path.partition(":")
            found = getattr(import_module(module), name)
            assert found.id == id_
            assert set(found.statements) <= {row.id for row in paper.catalog}
        names = [plan.name for plan in paper.plans]
        assert len(names) == len(set(names))
        audited = {plan.subject for plan in paper.plans}
        assert set(paper.algorithms) <= audited


@pytest.mark.parametrize(
    ("statement", "obligation", "verdict"),
    [
        ("fmtt18.thm1", "attained-by-identity-maps", Verdict.REFUTED),
        ("bst14.huber-smooth", "twice-continuously-differentiable", Verdict.REFUTED),
        ("fmtt18.thm35", "bound", Verdict.PROVED),
        ("fmtt18.appB", "noise-is-enough", Verdict.PROVED),
        ("bst14.lem2.2", "two-gamma-epsilon", Verdict.PROVED),
        ("gll22.lem6.3", "largest-shift", Verdict.PROVED),
        ("gll22.prop3.3", "only-if", Verdict.REFUTED),
    ],
)
def test_provers_find_these_verdicts(statement: str, obligation: str, verdict: Verdict) -> None:
    assert prove(named(statement, obligation)).verdict is verdict


def mutated(obligation: Obligation, factor: Fraction) -> Obligation:
    """The right side times a factor: a bound that claims too much, or an identity that is off."""
    assert isinstance(obligation.claim, Compare)
    claim = replace(obligation.claim, right=obligation.claim.right * factor)
    return replace(obligation, claim=claim)


@pytest.mark.parametrize(
    ("statement", "obligation", "variant", "factor"),
    [
        ("fmtt18.thm1", "schedule-gives-the-bound", Variant.CORRECTED, Fraction(99, 100)),
        ("fmtt18.def10", "completing-the-square", Variant.PRINTED, Fraction(101, 100)),
        ("fmtt18.thm23", "schedule-gives-the-bound", Variant.PRINTED, Fraction(1, 2)),
        ("fmtt18.thm35", "bound", Variant.PRINTED, Fraction(45, 100)),
        ("fmtt18.appB", "noise-is-enough", Variant.PRINTED, Fraction(94, 100)),
        ("fmtt18.lem14", "gaussian-mechanism", Variant.PRINTED, Fraction(1, 100)),
        ("fmtt18.prop5", "merging-two-atoms-order-2", Variant.PRINTED, Fraction(99, 100)),
        ("bst14.lem2.2", "two-gamma-epsilon", Variant.PRINTED, Fraction(8, 10)),
        ("bst14.lem2.3", "randomized-response-2-fold", Variant.PRINTED, Fraction(1, 10)),
        ("bst14.eq2", "expansion", Variant.PRINTED, Fraction(2)),
        ("gll22.eq9", "value-of-the-best-half-line", Variant.PRINTED, Fraction(99, 100)),
        ("gll22.lem6.3", "largest-shift", Variant.PRINTED, Fraction(1, 5)),
        ("gll22.lem6.3", "gaussian-tail", Variant.PRINTED, Fraction(9, 10)),
    ],
)
def test_a_wrong_constant_is_refuted(
    statement: str, obligation: str, variant: Variant, factor: Fraction
) -> None:
    assert prove(mutated(named(statement, obligation, variant), factor)).verdict in BROKEN


def test_no_prover_sees_a_name() -> None:
    """The same formula under another statement's and obligation's name has the same verdict and certificate."""
    original = named("fmtt18.thm1", "attained-by-identity-maps")
    renamed = replace(original, name="something-else", where="elsewhere")
    assert prove(renamed).certificate == prove(original).certificate


def test_a_definition_has_no_proof_of_which_a_step_could_be_false() -> None:
    kinds = {row.id: row.kind for paper in papers().values() for row in paper.catalog}
    for statement in ALL:
        if kinds[statement.id] == "definition":
            steps = [o for o in statement.printed if o.coverage is Coverage.STEP]
            assert all(prove(o).verdict is Verdict.PROVED for o in steps)
