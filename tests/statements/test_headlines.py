"""What headlines say of the encoded statements: what was proved of them, and no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.facts import LetterDomain
from dpverify.ledger.headlines.rows import FormulaRow
from dpverify.ledger.headlines.words import Standing
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Variant, Verdict
from dpverify.proving import prove
from dpverify.proving.language import Statement, parts_of
from dpverify.statements.paper import papers
from dpverify.verification.catalog.entries import catalog_entries
from dpverify.verification.catalog.rows import ProofRecord
from dpverify.verification.catalog.source_rows import obligations_of
from dpverify.verification.refutations import consequence_of, instance_entries, is_evaluated

from ..kept_proofs import Proofs

ALL = [s for paper in papers().values() if paper.key != "literature" for s in paper.statements]


PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED


CONCLUSION, INSTANCE, STEP, CONDITION = (
    Coverage.CONCLUSION,
    Coverage.INSTANCE,
    Coverage.STEP,
    Coverage.CONDITION,
)


def row(coverage: Coverage, verdict: Verdict = PROVED, name: str = "", **more: Any) -> FormulaRow:
    return FormulaRow(
        name or str(coverage), coverage, verdict, more.pop("uses", ()), more.pop("cut", ()), **more
    )


STEPS = ("a step of its proof is false", "a step of its proof does not follow")


def test_statements_that_hold_by_a_corrected_proof(entries: dict[str, StatementEntry]) -> None:
    found = [e for e in entries.values() if e.printed.headline.startswith("holds by a corrected proof")]
    assert "bst14.thm5.2" in [e.id for e in found]
    for entry in found:
        assert entry.printed.verdict is PROVED
        assert any(mark in entry.printed.headline for mark in STEPS)
        assert entry.corrected.verdict is PROVED


def test_without_its_correction_it_is_undecided(all_proofs: list[ProofRecord]) -> None:
    """Planted: one corrected step that the proof needs is no longer proved."""
    mine = [r.evidence for r in all_proofs if r.evidence.statement == "bst14.thm5.2"]
    spoiled = [
        e.model_copy(update={"verdict": UNDECIDED}) if e.variant is Variant.CORRECTED else e for e in mine
    ]
    for evidence, verdict in ((mine, PROVED), (spoiled, UNDECIDED)):
        (entry,) = catalog_entries([ProofRecord(e) for e in evidence], ("bst14.thm5.2",))
        assert entry.printed.verdict is verdict


def test_local_privacy_is_proved_where_its_lemma_is(entries: dict[str, StatementEntry]) -> None:
    missing = "refuted: a condition is missing"
    assert entries["fmtt18.lem27"].printed.headline.startswith(missing)
    for name in ("fmtt18.thm29", "fmtt18.thm30", "fmtt18.cor34"):
        assert entries[name].printed.headline.startswith(missing)
        assert "fmtt18.lem27" in entries[name].rests_on_false
        assert entries[name].corrected.verdict is PROVED
        assert "fmtt18.lem27" in entries[name].corrected.headline.split("; ")[-1]
        assert entries[name].corrected.headline.endswith(" as corrected")


def test_what_has_no_correction_holds_by_those_that_it_rests_on(all_proofs: list[ProofRecord]) -> None:
    """Planted: what the lemma below is corrected to is refuted, too."""
    below = ("bst14.lem6.1", "bst14.lem6.4", "bst14.lem6.5")
    mine = [r.evidence for r in all_proofs if r.evidence.statement in ("bst14.thm3.4.1", *below)]
    spoiled = [
        e.model_copy(update={"verdict": REFUTED})
        if (e.statement, e.variant, e.obligation) == ("bst14.lem6.1", Variant.CORRECTED, "lower-side")
        else e
        for e in mine
    ]
    assert spoiled != mine
    for evidence, headline in (
        (
            mine,
            "proved, given bst14.alg7-budget, bst14.lem6.5, bst14.lem6.6, bst14.thm3.1; "
            "bst14.lem6.1 (where e <= 1) as corrected",
        ),
        (spoiled, ""),
    ):
        (entry,) = catalog_entries([ProofRecord(e) for e in evidence], ("bst14.thm3.4.1",))
        assert entry.printed.verdict is UNDECIDED
        clauses = entry.corrected.headline.split("; ")
        assert "; ".join(dict.fromkeys((clauses[0], clauses[-1]))) == headline


@pytest.fixture(scope="module")
def entries(all_proofs: list[ProofRecord]) -> dict[str, StatementEntry]:
    return {entry.id: entry for entry in catalog_entries(all_proofs)}


NOT_PROVED = [
    "fmtt18.lem15",
    "bst14.lem2.3",
    "gll22.eq9",
    "gll22.eq10",
    "gll22.prop3.3",
]


@pytest.mark.parametrize("name", NOT_PROVED)
def test_what_was_tried_on_instances_is_not_proved(name: str, entries: dict[str, StatementEntry]) -> None:
    entry = entries[name]
    assert entry.printed.verdict in (None, REFUTED)
    assert not entry.printed.headline.startswith(("proved", "holds,", "holds by", "holds on", "certified"))


def test_headlines_of_the_rest(entries: dict[str, StatementEntry]) -> None:
    thm23 = entries["fmtt18.thm23"]
    assert thm23.printed.headline.startswith("holds, given fmtt18.def10, ")
    assert thm23.printed.headline.endswith(
        "; a step of its proof is false; rests on fmtt18.lem15 (not proved here)"
    )
    assert thm23.roots.unproved == ("fmtt18.lem15",)
    assert "fmtt18.thm22" in thm23.printed.given
    for name, given in (
        ("fmtt18.appB", "fmtt18.lem14, fmtt18.thm35"),
        ("fmtt18.thm22", "fmtt18.lem20, fmtt18.lem21"),
        ("fmtt18.thm33", "fmtt18.def10, gaussian-second-moment, integral-is-monotone, jensen, pinsker"),
    ):
        assert entries[name].printed.headline.partition(", given ")[2].partition(";")[0] == given
    for name in ("fmtt18.thm22", "fmtt18.thm33"):
        assert entries[name].printed.headline.startswith("holds, ")
        assert "; a step of its proof is false" in entries[name].printed.headline
    assert entries["fmtt18.lem15"].printed.headline == "instances hold"
    assert entries["fmtt18.lem15"].printed.standing is Standing.PARTLY
    assert entries["fmtt18.thm26"].printed.standing is Standing.WHERE_MEANT
    assert entries["fmtt18.thm26"].printed.verdict is None
    assert {"fmtt18.lem27", "gll22.thm1.2"} <= set(entries["gll22.lem6.3"].used_by)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("bst14.thm4.3", "epsilon <= 1"),
        ("bst14.thm2.4.1", "epsilon <= 2*sqrt(l) (l is log(1/δ)) and 69/100 <= l (l is log(1/δ))"),
        ("bst14.thmA.1", "1 <= l (l is log(εn/p))"),
    ],
)
def test_what_a_source_speaks_of_elsewhere_stands_in_the_headline(
    name: str, where: str, proofs: Proofs
) -> None:
    """Once, these said "proved, given ..." of every epsilon."""
    (entry,) = catalog_entries(proofs.of(name), (name,))
    assert entry.printed.headline.startswith(f"holds where meant: proved, where {where}, given ")
    assert (entry.printed.verdict, entry.printed.standing) == (None, Standing.WHERE_MEANT)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("bst14.thm2.4.2", "epsilon <= 2*sqrt(l) (l is log(1/δ)) and 69/100 <= l (l is log(1/δ))"),
        ("bst14.objpert-privacy", "2*beta/epsilon <= Delta"),
        (
            "mn25.lem16",
            "6/5*log2_n*(B*L*sqrt(d*l)/(n*epsilon)) <= alpha "
            "(L is Lipschitz constant of each loss, l is log(1/δ), log2_n is log₂(n))",
        ),
    ],
)
def test_what_a_correction_needs_stands_in_its_headline(name: str, where: str, proofs: Proofs) -> None:
    """Once, these said "proved, given ...": no printed formula has the name, or the letters, of the correction."""
    (entry,) = catalog_entries(proofs.of(name), (name,))
    assert entry.corrected.headline.startswith(f"proved, where {where}, given ")


def test_a_claim_is_not_refuted_by_what_is_said_after_it(proofs: Proofs) -> None:
    """Claim 3.3 of bst14 is proved; the tail that is drawn from (7), in the proof of Theorem 3.2, is false."""
    (entry,) = catalog_entries(proofs.of("bst14.claim3.3"), ("bst14.claim3.3",))
    assert entry.printed.headline.startswith("holds, given convex-slopes; assumes (2*Gamma")
    assert "; a step of its proof is false" in entry.printed.headline
    assert entry.instances == ()


def test_one_fault_has_one_label(entries: dict[str, StatementEntry]) -> None:
    """A square is missing in both."""
    for name in ("fmtt18.thm1", "gll22.thm6.8"):
        assert entries[name].printed.consequence is Consequence.CLAIM
        assert entries[name].printed.headline.startswith("refuted: the claim fails")


def test_lemma_27_holds_on_no_box(entries: dict[str, StatementEntry]) -> None:
    """Once, it was certified for delta from 8.3e-7 to 0.05, and what rests on it was called proved."""
    lemma = entries["fmtt18.lem27"]
    assert lemma.corrected.headline.startswith("proved, where epsilon in (0, 1], given ")
    for name in ("fmtt18.lem27", "fmtt18.thm29", "fmtt18.thm30", "fmtt18.cor31", "fmtt18.cor34", "mn25.thm2"):
        assert entries[name].roots.boxed == (), name
        assert "on part of its domain" not in entries[name].corrected.headline


@pytest.mark.parametrize("statement", ALL, ids=lambda s: s.id)
def test_no_instance_proves_a_statement_and_no_refuted_part_is_silent(
    statement: Statement, all_proofs: list[ProofRecord]
) -> None:
    """Planted: conclusions called instances, all proved; then a false step, condition and unit; then a cut box."""
    refuting = {each.obligation for each in instance_entries(statement.id.partition(".")[0], statement.id)}
    mine = [r.evidence for r in all_proofs if r.evidence.statement == statement.id]
    # what an instance refutes cannot be planted as proved
    mine = [e for e in mine if e.obligation not in refuting or e.variant is Variant.CORRECTED]

    def entry(found: list[ProofEvidence]) -> StatementEntry:
        (only,) = catalog_entries([ProofRecord(e) for e in found], (statement.id,))
        return only

    demoted = [
        e.model_copy(
            update={"coverage": INSTANCE if e.coverage is CONCLUSION else e.coverage, "verdict": PROVED}
        )
        for e in mine
    ]
    for verdict in (entry(demoted).printed.verdict, entry(demoted).corrected.verdict):
        assert verdict is None
    for coverage, said in (
        (STEP, "a step of its proof is false"),
        (CONDITION, "a condition is false"),
        (Coverage.UNIT, "units differ"),
    ):
        planted = mine[0].model_copy(
            update={"obligation": "planted", "coverage": coverage, "verdict": REFUTED, "uses": ()}
        )
        assert said in entry([*mine, planted]).printed.headline
    proved = [e.model_copy(update={"verdict": PROVED}) for e in mine]
    boxed = mine[0].model_copy(
        update={
            "obligation": "planted", "coverage": CONCLUSION, "verdict": Verdict.CERTIFIED, "variant": Variant.PRINTED,
            "uses": (), "domain": {"q": LetterDomain(lower="0", lower_open=True)}, "box": {"q": ("1", "2")},
        }
    )  # fmt: skip
    assert "on part of its domain (" in entry([*proved, boxed]).printed.headline
    assert "q in [1, 2]" in entry([*proved, boxed]).printed.headline


def test_a_missing_conclusion_shows(entries: dict[str, StatementEntry]) -> None:
    entry = entries["mn25.thm8"]
    assert entry.missing == ("accuracy",)
    assert "but for what no printed formula says (accuracy)" in entry.printed.headline
    assert entry.printed.standing is Standing.IN_PART


def test_every_refuted_row_has_a_consequence(all_proofs: list[ProofRecord]) -> None:
    rows = [record.evidence for record in all_proofs]
    refuted = [e for e in rows if e.verdict is REFUTED]
    assert refuted
    for e in refuted:
        assert e.variant is Variant.PRINTED, e.obligation
        assert e.consequence is not None, (e.statement, e.obligation)
    grave = (Consequence.CLAIM, Consequence.CONDITION)
    by_how_much = {e.statement for e in refuted if e.consequence in grave and e.excess is not None}
    assert {"fmtt18.thm1", "fmtt18.lem27"} <= by_how_much


def test_no_consequence_is_typed_that_is_computed(all_proofs: list[ProofRecord]) -> None:
    """Where the source says one, it is of a row that is not proved, and without it another would be computed."""
    printed = (r.evidence for r in all_proofs if r.evidence.variant is Variant.PRINTED)
    rows = {(e.statement, e.obligation): e for e in printed}
    for s in ALL:
        for o in (o for o in s.printed if o.consequence is not None):
            e = rows[s.id, o.name]
            assert is_evaluated(s, o), (s.id, o.name)  # without an instance it is of a step, whatever is said
            assert e.verdict not in (PROVED, Verdict.CERTIFIED), (s.id, o.name)
            if e.verdict is REFUTED:
                computed, said = (
                    [consequence_of(part, of, e.mistake, e.realistic) for part in (o.coverage, Coverage.UNIT)]
                    for of in (replace(o, consequence=None), o)
                )
                assert computed != said, (s.id, o.name)


INSTANCES = [
    pytest.param(s, variant, i, id=f"{s.id}/{part.name} ({variant})")
    for s in ALL
    for variant in Variant
    for i, part in enumerate(parts_of(obligations_of(s, variant)))
    if part.coverage is INSTANCE
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("statement", "variant", "i"), INSTANCES)
def test_every_instance_would_have_caught_the_fault_that_it_names(
    statement: Statement, variant: Variant, i: int, all_proofs: list[ProofRecord]
) -> None:
    obligation = obligations_of(statement, variant)[i]
    if obligation.catches is None:  # it is false, and has caught one
        rows = (r.evidence for r in all_proofs if r.evidence.statement == statement.id)
        (row,) = (e for e in rows if e.obligation == obligation.name and e.variant is variant)
        assert row.verdict in BROKEN
        return
    assert obligation.catches.says
    found = prove(replace(obligation, claim=obligation.catches.claim, catches=None))
    assert found.verdict not in (PROVED, Verdict.CERTIFIED)
    assert found.verdict in BROKEN, found.reason
