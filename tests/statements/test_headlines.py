"""A headline says what was proved and no more: the rule, and what it gives for the encoded statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import real
from dpverify.formulas.logic import Le
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.headlines.roots import Below, Roots, Shown, ancestors, below, cycle
from dpverify.ledger.headlines.rows import Row, cut, only_the_proof_changes
from dpverify.ledger.headlines.words import Standing, exceeds, word
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Variant, Verdict
from dpverify.proving import prove
from dpverify.proving.language import Fault, Obligation, Statement, parts_of
from dpverify.statements.paper import Paper, check_uses, find_statement, papers
from dpverify.verification.catalog.entries import catalog_entries
from dpverify.verification.catalog.rows import ProofRecord, obligations_of, without_certificates
from dpverify.verification.refutations.consequences import consequence_of, is_evaluated
from dpverify.verification.refutations.instances import instance_entries

from ..kept_proofs import Proofs

ALL = [s for paper in papers().values() for s in paper.statements]
PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED
DOES_NOT = Verdict.DOES_NOT_FOLLOW
WHOLE, INSTANCE, STEP, CONDITION = Coverage.WHOLE, Coverage.INSTANCE, Coverage.STEP, Coverage.CONDITION


def row(coverage: Coverage, verdict: Verdict = PROVED, name: str = "", **more: Any) -> Row:
    return Row(name or str(coverage), coverage, verdict, more.pop("uses", ()), more.pop("cut", ()), **more)


# ------------------------------------------------------------------------------------------------- the rule


@pytest.mark.parametrize(
    ("rows", "verdict", "headline"),
    [
        ([row(WHOLE)], PROVED, "proved"),
        ([row(WHOLE), row(INSTANCE, UNDECIDED)], PROVED, "proved"),
        ([row(WHOLE, uses=("a.b", "jensen"))], PROVED, "proved, given a.b, jensen"),
        # a statement is named once, not with a part of it as well
        ([row(WHOLE, uses=("a.b", "a.b/first"))], PROVED, "proved, given a.b"),
        ([row(WHOLE, uses=("a.b/first",))], PROVED, "proved, given a.b/first"),
        # neither instances nor steps prove anything
        ([row(INSTANCE)], None, "instances hold"),
        ([row(INSTANCE), row(STEP)], None, "instances hold"),
        ([row(INSTANCE), row(INSTANCE, UNDECIDED)], None, "some instances hold"),
        ([row(INSTANCE, UNDECIDED)], None, "instances undecided"),
        ([row(STEP)], None, "only steps of its proof hold"),
        ([row(Coverage.UNIT)], None, "nothing was decided"),
        ([row(Coverage.REFERENCE)], None, "nothing was decided"),
        # to assume the conclusion proves nothing
        ([row(WHOLE, says_nothing=True), row(STEP)], UNDECIDED, "undecided: its conclusion is only assumed"),
        ([row(WHOLE, says_nothing=True), row(WHOLE, name="other")], PROVED, "proved"),
        # all wholes are needed, and all conditions
        ([row(WHOLE), row(WHOLE, UNDECIDED, "other")], UNDECIDED, "undecided"),
        ([row(WHOLE), row(CONDITION, UNDECIDED)], UNDECIDED, "undecided"),
        ([row(WHOLE), row(CONDITION, REFUTED)], UNDECIDED, "undecided; a condition is false"),
        ([row(WHOLE), row(CONDITION, uses=("a.b",))], PROVED, "proved, given a.b"),
        # what a whole uses of the statement itself
        ([row(WHOLE, uses=("x.y/first",)), row(STEP, UNDECIDED, "first")], UNDECIDED, "undecided"),
        (
            [row(WHOLE, uses=("x.y/first",)), row(STEP, name="first", uses=("a.b",))],
            PROVED,
            "proved, given a.b",
        ),
        # what is false
        ([row(WHOLE), row(STEP, REFUTED)], PROVED, "holds; a step of its proof is false"),
        ([row(WHOLE), row(Coverage.UNIT, REFUTED)], PROVED, "proved; units differ"),
        ([row(WHOLE), row(Coverage.REFERENCE, REFUTED)], PROVED, "proved; a reference is false"),
        ([row(INSTANCE), row(CONDITION, REFUTED)], None, "instances hold; a condition is false"),
        ([row(WHOLE), row(INSTANCE, REFUTED)], REFUTED, "refuted"),
        (
            [row(WHOLE, REFUTED, consequence=Consequence.EDGE)],
            REFUTED,
            "refuted: an edge case that no reader means",
        ),
        # a special case in which a step fails refutes the step, one in which a claim fails the statement
        (
            [row(WHOLE), row(INSTANCE, REFUTED, consequence=Consequence.STEP)],
            PROVED,
            "holds; a step of its proof is false",
        ),
        (
            [row(WHOLE), row(INSTANCE, REFUTED, consequence=Consequence.CONSTANT)],
            REFUTED,
            "refuted: a constant changes",
        ),
        (
            [
                row(WHOLE, REFUTED, consequence=Consequence.EDGE),
                row(INSTANCE, REFUTED, consequence=Consequence.CLAIM),
                row(STEP, REFUTED, consequence=Consequence.STEP),
            ],
            REFUTED,
            "refuted: the claim fails; a step of its proof is false",
        ),
        # a box that leaves out a part of the domain, in a whole or in what it uses
        (
            [row(WHOLE, Verdict.CERTIFIED, cut=("x in [0, 1]",), uses=("a.b",))],
            Verdict.CERTIFIED,
            "certified on part of its domain (x in [0, 1]), given a.b",
        ),
        (
            [row(WHOLE, uses=("x.y/step",)), row(STEP, Verdict.CERTIFIED, cut=("x in [0, 1]",))],
            Verdict.CERTIFIED,
            "certified on part of its domain (x in [0, 1])",
        ),
        # what does not follow is not called false
        ([row(WHOLE, DOES_NOT, "a"), row(WHOLE)], DOES_NOT, "does not follow from what is declared: a"),
        ([row(WHOLE, DOES_NOT, "a"), row(INSTANCE, REFUTED)], REFUTED, "refuted"),
        ([row(WHOLE), row(STEP, DOES_NOT)], PROVED, "holds; a step of its proof does not follow"),
        ([row(WHOLE), row(CONDITION, DOES_NOT)], UNDECIDED, "undecided; a condition does not follow"),
        ([row(WHOLE), row(INSTANCE, DOES_NOT)], PROVED, "proved; a special case does not follow"),
        ([row(INSTANCE, DOES_NOT)], None, "instances undecided; a special case does not follow"),
        (
            [row(WHOLE, uses=("x.y/first",)), row(STEP, DOES_NOT, "first")],
            UNDECIDED,
            "undecided; a step of its proof does not follow",
        ),
        ([row(WHOLE), row(STEP, Verdict.CERTIFIED, cut=("x in [0, 1]",))], PROVED, "proved"),
    ],
)
def test_the_word_of_a_statement(rows: list[Row], verdict: Verdict | None, headline: str) -> None:
    found = word("x.y", rows)
    assert (found.verdict, found.headline) == (verdict, headline)


def test_a_refutation_is_carried() -> None:
    edge = Consequence.EDGE
    false = {"e.f": edge, "g.h": edge, "c.d": Consequence.STEP}
    found = word("x.y", [row(WHOLE)], ("a.b",), Below(false=false))
    assert (found.verdict, found.headline) == (
        PROVED,
        "proved, given a.b; rests on c.d (false as printed: a step of the proof only); "
        "rests on e.f, g.h (false as printed: an edge case that no reader means)",
    )


@pytest.mark.parametrize("failing", [Consequence.CLAIM, Consequence.CONSTANT, None])
def test_what_rests_on_a_claim_that_fails_is_not_proved(failing: Consequence | None) -> None:
    found = word("x.y", [row(WHOLE)], ("a.b",), Below(false={"e.f": Consequence.EDGE, "c.d": failing}))
    assert found.verdict is Verdict.UNDECIDED
    assert found.headline.startswith("undecided; rests on ")
    assert "rests on c.d (false as printed" in found.headline


def _shown(
    *rows: Row,
    corrected: Sequence[Row] | None = None,
    uses: tuple[str, ...] = (),
    unsaid: tuple[str, ...] = (),
) -> dict[str, Any]:
    variants = {Variant.PRINTED: rows} | ({} if corrected is None else {Variant.CORRECTED: corrected})
    return {"uses": uses, "rows": variants, "unsaid": unsaid}


def _named(shown: dict[str, dict[str, Any]]) -> dict[str, Shown]:
    return {name: Shown(name, **fields) for name, fields in shown.items()}


def test_what_is_false_below() -> None:
    """One formula of b is false as printed; c rests on all of it, d on one that is true, e on the false one."""
    fails = row(WHOLE, REFUTED, consequence=Consequence.CLAIM)
    shown = {
        "b": _shown(
            replace(fails, name="false"), replace(row(STEP), name="true"),
            corrected=(replace(row(WHOLE), name="false"), replace(row(STEP), name="true")),
        ),
        "c": _shown(row(WHOLE, uses=("b", "jensen")), corrected=(row(WHOLE, uses=("b", "jensen")),)),
        "d": _shown(row(WHOLE, uses=("b/true",))),
        "e": _shown(row(WHOLE, uses=("b/false",)), corrected=(row(WHOLE, uses=("b/false",)),)),
        "f": _shown(row(WHOLE, uses=("c",)), corrected=(row(WHOLE, uses=("c",)),)),
        "g": _shown(row(WHOLE), row(INSTANCE, uses=("b",))),
        "h": _shown(row(WHOLE), uses=("b",)),
        "i": _shown(row(WHOLE), row(Coverage.REFERENCE, uses=("b",))),
    }  # fmt: skip
    printed = {name: below(name, Variant.PRINTED, _named(shown)) for name in shown}
    claim = Consequence.CLAIM
    assert {name: rests.false for name, rests in printed.items() if rests.false} == {
        "c": {"b": claim}, "e": {"b/false": claim}, "f": {"b": claim}, "h": {"b": claim},
    }  # fmt: skip
    assert not any(rests.corrected for rests in printed.values())
    corrected = {name: below(name, Variant.CORRECTED, _named(shown)) for name in ("b", "c", "e", "f")}
    assert not any(rests.false for rests in corrected.values())
    assert {name: tuple(rests.corrected) for name, rests in corrected.items()} == {
        "b": (), "c": ("b",), "e": (), "f": ("b",),
    }  # fmt: skip


BOXED = row(WHOLE, Verdict.CERTIFIED, "bound", cut=("x in [0, 1]",))


def test_what_is_left_out_comes_up_from_below() -> None:
    """The box, the added condition, the missing conclusion and the unproved root of b to e show two levels above."""
    shown = _named(
        {
            "p.b": _shown(BOXED),
            "p.c": _shown(
                row(WHOLE, REFUTED, "claim", consequence=Consequence.CLAIM),
                corrected=(row(WHOLE, name="claim", corrected=True, added=("2 <= n",)),),
            ),
            "p.d": _shown(row(WHOLE), unsaid=("the accuracy",)),
            "p.e": _shown(row(INSTANCE)),
            "p.f": _shown(row(WHOLE, uses=("jensen",))),
            "p.g": _shown(row(WHOLE)),
            **{
                f"p.over-{name}": _shown(
                    row(WHOLE, uses=(f"p.{name}",)), corrected=(row(WHOLE, uses=(f"p.{name}",)),)
                )
                for name in "bcdefg"
            },
            **{f"p.top-{name}": _shown(row(WHOLE, uses=(f"p.over-{name}",))) for name in "bcdefg"},
        }
    )

    def top(
        name: str, variant: Variant = Variant.PRINTED
    ) -> tuple[Verdict | None, str, Standing | None, Roots]:
        of = f"p.top-{name}"
        found = word(of, shown[of].rows[Variant.PRINTED], (), below(of, variant, shown))
        return found.verdict, found.headline.replace(f"p.over-{name}", "it"), found.standing, found.roots

    box = "holds on part of its domain (p.b/bound only for x in [0, 1]), given it"
    assert top("b") == (Verdict.CERTIFIED, box, Standing.IN_PART, Roots(boxed=("p.b/bound",), own=("p.b",)))
    assert top("c")[0] is UNDECIDED
    added = "proved, given it; p.c (where 2 <= n) as corrected"
    assert top("c", Variant.CORRECTED) == (PROVED, added, Standing.HOLDS, Roots(own=("p.c",)))
    missing = "proved, given it; rests on p.d (no printed formula says the accuracy)"
    assert top("d") == (PROVED, missing, Standing.IN_PART, Roots(own=("p.d",)))
    unproved = "proved, given it; rests on p.e (not proved here)"
    assert top("e") == (PROVED, unproved, Standing.HOLDS, Roots(unproved=("p.e",)))
    assert top("f") == (PROVED, "proved, given it", Standing.HOLDS, Roots(literature=("jensen",)))
    assert top("g") == (PROVED, "proved, given it", Standing.HOLDS, Roots(own=("p.g",)))


def test_what_does_not_follow_is_carried() -> None:
    shown = _named(
        {
            "p.b": _shown(row(WHOLE, DOES_NOT), row(STEP, DOES_NOT, "step")),
            "p.c": _shown(row(WHOLE, uses=("p.b",))),
            "p.d": _shown(row(WHOLE, uses=("p.b/step",))),
        }
    )
    for name, verdict, below_it in (("p.c", UNDECIDED, "p.b"), ("p.d", PROVED, "p.b/step")):
        found = word(name, shown[name].rows[Variant.PRINTED], (), below(name, Variant.PRINTED, shown))
        assert found.verdict is verdict
        assert f"rests on {below_it} (does not follow from what is declared)" in found.headline


def test_a_conclusion_that_only_the_correction_has_is_missing() -> None:
    added = row(WHOLE, name="accuracy", corrected=True)
    rows = {
        "p.b": _shown(row(WHOLE), corrected=(row(WHOLE), added)),
        "p.c": _shown(row(WHOLE, uses=("p.b",))),
    }
    shown = _named(rows)
    of = shown["p.b"]
    assert (of.missing(Variant.PRINTED), of.missing(Variant.CORRECTED)) == (("accuracy",), ())
    found = word("p.b", of.rows[Variant.PRINTED], missing=of.missing(Variant.PRINTED))
    assert found.headline == "proved, but for what no printed formula says (accuracy)"
    assert found.standing is Standing.IN_PART
    above = word("p.c", shown["p.c"].rows[Variant.PRINTED], (), below("p.c", Variant.PRINTED, shown))
    assert above.headline == "proved, given p.b; rests on p.b (no printed formula says accuracy)"
    assert above.standing is Standing.IN_PART


def test_what_holds_where_it_is_meant() -> None:
    edge = row(WHOLE, REFUTED, "bound", consequence=Consequence.EDGE)
    true = row(WHOLE, name="bound", corrected=True, added=("2 <= n",))
    for printed, corrected, expected in (
        ((edge,), (true,), True),
        ((edge,), (replace(true, verdict=UNDECIDED),), False),
        ((edge,), None, False),
        ((replace(edge, consequence=Consequence.NOTATION),), (true,), False),
        ((edge, row(INSTANCE, REFUTED, consequence=Consequence.CLAIM)), (true,), False),
        ((row(WHOLE),), (true,), False),
    ):
        assert Shown("p.b", **_shown(*printed, corrected=corrected)).where_meant is expected


def test_a_correction_that_is_relied_on_is_named() -> None:
    found = word("x.y", [row(WHOLE)], ("a.b",), Below(corrected={"a.b": ()}))
    assert found.headline == "proved, given a.b; a.b as corrected"


STEPS = ("a step of its proof is false", "a step of its proof does not follow")
WHOLE_BY_A_STEP = row(WHOLE, uses=("x.y/first",))
FALSE_STEP = row(STEP, REFUTED, "first", consequence=Consequence.STEP)
TRUE_STEP = row(STEP, name="first", uses=("jensen",), corrected=True)


@pytest.mark.parametrize(
    ("printed", "corrected", "expected"),
    [
        ([WHOLE_BY_A_STEP, FALSE_STEP], [TRUE_STEP, WHOLE_BY_A_STEP], True),
        ([WHOLE_BY_A_STEP, FALSE_STEP, row(CONDITION)], [TRUE_STEP, WHOLE_BY_A_STEP, row(CONDITION)], True),
        # the correction says something else, or less
        ([WHOLE_BY_A_STEP, FALSE_STEP], [TRUE_STEP, replace(WHOLE_BY_A_STEP, corrected=True)], False),
        ([WHOLE_BY_A_STEP, FALSE_STEP], [TRUE_STEP], False),
        ([WHOLE_BY_A_STEP, FALSE_STEP, row(CONDITION)], [TRUE_STEP, WHOLE_BY_A_STEP], False),
        # more than a step changes
        ([replace(WHOLE_BY_A_STEP, verdict=UNDECIDED), FALSE_STEP], [TRUE_STEP, WHOLE_BY_A_STEP], False),
        # a step that does not follow, or is undecided, is a step of the proof, too
        ([WHOLE_BY_A_STEP, replace(FALSE_STEP, verdict=DOES_NOT)], [TRUE_STEP, WHOLE_BY_A_STEP], True),
        ([WHOLE_BY_A_STEP, replace(FALSE_STEP, verdict=UNDECIDED)], [TRUE_STEP, WHOLE_BY_A_STEP], True),
        (
            [WHOLE_BY_A_STEP, FALSE_STEP, row(CONDITION, REFUTED, consequence=Consequence.STEP)],
            [TRUE_STEP, WHOLE_BY_A_STEP, row(CONDITION)],
            False,
        ),
        *(
            ([WHOLE_BY_A_STEP, replace(FALSE_STEP, consequence=other)], [TRUE_STEP, WHOLE_BY_A_STEP], False)
            for other in (Consequence.CLAIM, Consequence.CONSTANT, Consequence.EDGE, None)
        ),
        # nothing that it needs is false, or it has no whole
        ([row(WHOLE), FALSE_STEP], [row(WHOLE), TRUE_STEP], False),
        ([FALSE_STEP], [TRUE_STEP], False),
        ([WHOLE_BY_A_STEP, FALSE_STEP], [], False),
    ],
)
def test_a_correction_of_the_proof_alone(printed: list[Row], corrected: list[Row], expected: bool) -> None:
    assert only_the_proof_changes("x.y", printed, corrected) is expected


def test_what_holds_by_a_corrected_proof() -> None:
    rests = Below(corrected={"a.b": ()})
    found = word("x.y", [TRUE_STEP, WHOLE_BY_A_STEP], (), rests, printed=[WHOLE_BY_A_STEP, FALSE_STEP])
    said = "holds by a corrected proof, given jensen; a step of its proof is false; a.b as corrected"
    assert (found.verdict, found.given, found.headline) == (PROVED, ("jensen",), said)
    unproved = [replace(TRUE_STEP, verdict=UNDECIDED), WHOLE_BY_A_STEP]
    assert word("x.y", unproved, printed=[WHOLE_BY_A_STEP, FALSE_STEP]).verdict is UNDECIDED


def test_statements_that_hold_by_a_corrected_proof(entries: dict[str, StatementEntry]) -> None:
    found = [e for e in entries.values() if e.headline_printed.startswith("holds by a corrected proof")]
    assert "bst14.thm5.2" in [e.id for e in found]
    for entry in found:
        assert entry.verdict_printed is PROVED
        assert any(mark in entry.headline_printed for mark in STEPS)
        assert entry.verdict_corrected is PROVED


def test_without_its_correction_it_is_undecided(all_proofs: list[ProofRecord]) -> None:
    """Planted: one corrected step that the proof needs is no longer proved."""
    mine = [r.evidence for r in all_proofs if r.evidence.statement == "bst14.thm5.2"]
    spoiled = [
        e.model_copy(update={"verdict": UNDECIDED}) if e.variant is Variant.CORRECTED else e for e in mine
    ]
    for evidence, verdict in ((mine, PROVED), (spoiled, UNDECIDED)):
        (entry,) = catalog_entries([without_certificates(e) for e in evidence], ("bst14.thm5.2",))
        assert entry.verdict_printed is verdict


def test_local_privacy_is_proved_where_its_lemma_is(entries: dict[str, StatementEntry]) -> None:
    missing = "refuted: a condition is missing"
    assert entries["fmtt18.lem27"].headline_printed.startswith(missing)
    for name in ("fmtt18.thm29", "fmtt18.thm30", "fmtt18.cor34"):
        assert entries[name].headline_printed.startswith(missing)
        assert "fmtt18.lem27" in entries[name].rests_on_false
        assert entries[name].verdict_corrected is PROVED
        assert "fmtt18.lem27" in entries[name].headline_corrected.split("; ")[-1]
        assert entries[name].headline_corrected.endswith(" as corrected")


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
        (entry,) = catalog_entries([without_certificates(e) for e in evidence], ("bst14.thm3.4.1",))
        assert entry.verdict_printed is UNDECIDED
        clauses = entry.headline_corrected.split("; ")
        assert "; ".join(dict.fromkeys((clauses[0], clauses[-1]))) == headline


@pytest.mark.parametrize(
    ("domain", "box", "said"),
    [
        ("(0, oo)", ("1/20", "12"), ("x in [1/20, 12]",)),
        ("(0, 1]", ("1/20", "1"), ("x in [1/20, 1]",)),
        ("[0, 1]", ("0", "1"), ()),
        ("(0, 1]", ("0", "2"), ()),
        ("integers in [2, 60]", ("2", "60"), ()),
        ("integers in [1, 60]", ("2", "60"), ("x in [2, 60]",)),
        ("whatever", ("2", "60"), ("x in [2, 60]",)),
    ],
)
def test_a_cut_domain_is_seen(domain: str, box: tuple[str, str], said: tuple[str, ...]) -> None:
    proof = ProofEvidence(
        statement="x.y", obligation="o", where="", coverage=WHOLE, variant=Variant.PRINTED, latex="", expression="",
        domain={"x": domain}, box={"x": box}, verdict=Verdict.CERTIFIED, prover="balls",
    )  # fmt: skip
    assert cut(proof) == said
    assert cut(proof.model_copy(update={"verdict": PROVED})) == ()


@pytest.mark.parametrize(
    ("relation", "left", "right", "said"),
    [
        ("<=", "4", "2", "4 instead of at most 2, 2 times as much"),
        (
            "<=",
            "0.21248023184067254",
            "0.049787068367863943",
            "0.2125 instead of at most 0.04979, 4.268 times as much",
        ),
        ("<", "1/3", "0", "0.3333 instead of at most 0"),
        ("<", "0", "0", ""),
        ("<=", "100001/100000", "1", "1.00001 instead of at most 1"),
        ("<=", "4e-340", "2e-340", "4e-340 instead of at most 2e-340, 2 times as much"),
        ("==", "4", "2", ""),
        ("<=", "1e-9999999999", "1e-99999999999", ""),  # once took as long as it has digits
        ("<=", "dimensionless", "length", ""),
        ("<=", None, "2", ""),
        ("<=", "1", "2", ""),
        ("<=", "0", "-1", ""),
        (">=", "2", "4", "2 instead of at least 4, too small by a factor of 2"),
        (">", "0", "1/3", "0 instead of at least 0.3333"),
        (">=", "4", "2", ""),
    ],
)
def test_by_how_much_an_inequality_fails(
    relation: str, left: str | None, right: str | None, said: str
) -> None:
    assert exceeds(relation, left, right) == said


def test_graphs() -> None:
    graph = {"a": ("b", "c"), "b": ("d",), "c": ("d",), "d": ("jensen",)}
    assert cycle(graph) == ()
    assert ancestors("a", graph) == ("b", "c", "d", "jensen")
    assert cycle({**graph, "d": ("a",)}) == ("a", "b", "d", "a")
    assert cycle({"a": ("a",)}) == ("a", "a")
    assert ancestors("a", {"a": ("b",), "b": ("a",)}) == ("b",)


# ------------------------------------------------------------------------------------ the encoded statements


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
    assert entry.verdict_printed in (None, REFUTED)
    assert not entry.headline_printed.startswith(("proved", "holds,", "holds by", "holds on", "certified"))


def test_headlines_of_the_rest(entries: dict[str, StatementEntry]) -> None:
    thm23 = entries["fmtt18.thm23"]
    assert thm23.headline_printed.startswith("holds, given fmtt18.def10, ")
    assert thm23.headline_printed.endswith(
        "; a step of its proof is false; rests on fmtt18.lem15 (not proved here)"
    )
    assert thm23.roots.unproved == ("fmtt18.lem15",)
    assert "fmtt18.thm22" in thm23.given_printed
    for name, given in (
        ("fmtt18.appB", "fmtt18.lem14, fmtt18.thm35"),
        ("fmtt18.thm22", "fmtt18.lem20, fmtt18.lem21"),
        ("fmtt18.thm33", "fmtt18.def10, gaussian-second-moment, integral-is-monotone, jensen, pinsker"),
    ):
        assert entries[name].headline_printed.partition(", given ")[2].partition(";")[0] == given
    for name in ("fmtt18.thm22", "fmtt18.thm33"):
        assert entries[name].headline_printed.startswith("holds, ")
        assert "; a step of its proof is false" in entries[name].headline_printed
    assert entries["fmtt18.lem15"].headline_printed == "instances hold"
    assert entries["fmtt18.lem15"].standing_printed is Standing.PARTLY
    assert entries["fmtt18.thm26"].standing_printed is Standing.WHERE_MEANT
    assert entries["fmtt18.thm26"].verdict_printed is None
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
    assert entry.headline_printed.startswith(f"holds where meant: proved, where {where}, given ")
    assert (entry.verdict_printed, entry.standing_printed) == (None, Standing.WHERE_MEANT)


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
    assert entry.headline_corrected.startswith(f"proved, where {where}, given ")


def test_a_claim_is_not_refuted_by_what_is_said_after_it(proofs: Proofs) -> None:
    """Claim 3.3 of bst14 is proved; the tail that is drawn from (7), in the proof of Theorem 3.2, is false."""
    (entry,) = catalog_entries(proofs.of("bst14.claim3.3"), ("bst14.claim3.3",))
    assert entry.headline_printed.startswith("holds, given convex-slopes; a step of its proof is false")
    assert entry.instances == ()


def test_one_fault_has_one_label(entries: dict[str, StatementEntry]) -> None:
    """A square is missing in both."""
    for name in ("fmtt18.thm1", "gll22.thm6.8"):
        assert entries[name].consequence is Consequence.CLAIM
        assert entries[name].headline_printed.startswith("refuted: the claim fails")


def test_lemma_27_holds_on_no_box(entries: dict[str, StatementEntry]) -> None:
    """Once, it was certified for delta from 8.3e-7 to 0.05, and what rests on it was called proved."""
    lemma = entries["fmtt18.lem27"]
    assert lemma.headline_corrected.startswith("proved, where epsilon in (0, 1], given ")
    for name in ("fmtt18.lem27", "fmtt18.thm29", "fmtt18.thm30", "fmtt18.cor31", "fmtt18.cor34", "mn25.thm2"):
        assert entries[name].roots.boxed == (), name
        assert "on part of its domain" not in entries[name].headline_corrected


@pytest.mark.parametrize("statement", ALL, ids=lambda s: s.id)
def test_no_instance_proves_a_statement_and_no_refuted_part_is_silent(
    statement: Statement, all_proofs: list[ProofRecord]
) -> None:
    """Planted: wholes called instances, everything proved; then a false step, condition and unit; then a cut box."""
    refuting = {each.obligation for each in instance_entries(statement.id.partition(".")[0], statement.id)}
    mine = [r.evidence for r in all_proofs if r.evidence.statement == statement.id]
    # what an instance refutes cannot be planted as proved
    mine = [e for e in mine if e.obligation not in refuting or e.variant is Variant.CORRECTED]

    def entry(found: list[ProofEvidence]) -> StatementEntry:
        (only,) = catalog_entries([without_certificates(e) for e in found], (statement.id,))
        return only

    demoted = [
        e.model_copy(update={"coverage": INSTANCE if e.coverage is WHOLE else e.coverage, "verdict": PROVED})
        for e in mine
    ]
    for verdict in (entry(demoted).verdict_printed, entry(demoted).verdict_corrected):
        assert verdict is None
    for coverage, said in (
        (STEP, "a step of its proof is false"),
        (CONDITION, "a condition is false"),
        (Coverage.UNIT, "units differ"),
    ):
        planted = mine[0].model_copy(
            update={"obligation": "planted", "coverage": coverage, "verdict": REFUTED, "uses": ()}
        )
        assert said in entry([*mine, planted]).headline_printed
    proved = [e.model_copy(update={"verdict": PROVED}) for e in mine]
    boxed = mine[0].model_copy(
        update={
            "obligation": "planted", "coverage": WHOLE, "verdict": Verdict.CERTIFIED, "variant": Variant.PRINTED,
            "uses": (), "domain": {"q": "(0, oo)"}, "box": {"q": ("1", "2")},
        }
    )  # fmt: skip
    assert "on part of its domain (" in entry([*proved, boxed]).headline_printed
    assert "q in [1, 2]" in entry([*proved, boxed]).headline_printed


def test_a_missing_conclusion_shows(entries: dict[str, StatementEntry]) -> None:
    entry = entries["mn25.thm8"]
    assert entry.missing == ("accuracy",)
    assert "but for what no printed formula says (accuracy)" in entry.headline_printed
    assert entry.standing_printed is Standing.IN_PART


def test_every_refuted_row_has_a_consequence(all_proofs: list[ProofRecord]) -> None:
    rows = [record.evidence for record in all_proofs]
    refuted = [e for e in rows if e.verdict is REFUTED]
    assert refuted
    for e in refuted:
        assert e.variant is Variant.PRINTED, e.obligation
        assert e.consequence is not None, (e.statement, e.obligation)
    grave = (Consequence.CLAIM, Consequence.CONDITION)
    by_how_much = {e.statement for e in refuted if e.consequence in grave and e.exceeds}
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


# ------------------------------------------------------------------------------------------------ refusals


X = real("x", ge=0)


@pytest.mark.parametrize(
    "fields",
    [
        {"coverage": "most"},
        {"coverage": Coverage.UNIT},
        {"coverage": INSTANCE},  # of which case?
        {"coverage": WHOLE, "scope": "x = 1"},
        {"uses": "a.b"},
        {"catches": Fault("another variable", Le(real("y"), 0))},
    ],
)
def test_obligations_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        Obligation("o", "", Le(0, X), (X,), **fields)


def _with(statement: str, **changes: Any) -> list[Paper]:
    """All papers, with one statement changed."""
    return [
        Paper(
            paper.key,
            paper.title,
            paper.authors,
            paper.catalog,
            tuple(replace(s, **changes) if s.id == statement else s for s in paper.statements),
        )
        for paper in papers().values()
    ]


@pytest.mark.parametrize("name", ["fmtt18.thm99", "a-named-result", "fmtt18.thm23/no-such-row", ""])
def test_what_nobody_knows_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"uses of statement fmtt18\.thm23"):
        check_uses(_with("fmtt18.thm23", uses=(name,)))


def test_circles_are_refused() -> None:
    check_uses(papers().values())
    with pytest.raises(InvalidArgumentError, match="do not rest on themselves"):
        check_uses(_with("fmtt18.thm22", uses=("fmtt18.appB",)))
    statement = find_statement("fmtt18.thm35")
    assert statement is not None
    own = tuple(
        replace(o, uses=("fmtt18.thm35/bound",)) if o.name == "sum-of-squares" else o
        for o in statement.printed
    )
    with pytest.raises(InvalidArgumentError, match="do not rest on themselves"):
        check_uses(_with("fmtt18.thm35", printed=own))
