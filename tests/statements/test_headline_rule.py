"""A headline says what was proved and no more: the rule, on rows that are made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dpverify.ledger.facts import FailureMargin, LetterDomain
from dpverify.ledger.headlines.roots import Below, FoundStatement, Roots, ancestors, below, cycle
from dpverify.ledger.headlines.rows import Cut, FormulaRow, cut, only_the_proof_changes
from dpverify.ledger.headlines.words import Standing, word
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Consequence, Coverage, Variant, Verdict

PROVED, REFUTED, UNDECIDED = Verdict.PROVED, Verdict.REFUTED, Verdict.UNDECIDED


DOES_NOT = Verdict.DOES_NOT_FOLLOW


CONCLUSION, INSTANCE, STEP, CONDITION = (
    Coverage.CONCLUSION,
    Coverage.INSTANCE,
    Coverage.STEP,
    Coverage.CONDITION,
)


BOX = Cut(letter="x", low="0", high="1")


def row(coverage: Coverage, verdict: Verdict = PROVED, name: str = "", **more: Any) -> FormulaRow:
    return FormulaRow(
        name or str(coverage), coverage, verdict, more.pop("uses", ()), more.pop("cut", ()), **more
    )


@pytest.mark.parametrize(
    ("rows", "verdict", "headline"),
    [
        ([row(CONCLUSION)], PROVED, "proved"),
        ([row(CONCLUSION), row(INSTANCE, UNDECIDED)], PROVED, "proved"),
        ([row(CONCLUSION, uses=("a.b", "jensen"))], PROVED, "proved, given a.b, jensen"),
        # a statement is named once, not with a part of it as well
        ([row(CONCLUSION, uses=("a.b", "a.b/first"))], PROVED, "proved, given a.b"),
        ([row(CONCLUSION, uses=("a.b/first",))], PROVED, "proved, given a.b/first"),
        # neither instances nor steps prove anything
        ([row(INSTANCE)], None, "instances hold"),
        ([row(INSTANCE), row(STEP)], None, "instances hold"),
        ([row(INSTANCE), row(INSTANCE, UNDECIDED)], None, "some instances hold"),
        ([row(INSTANCE, UNDECIDED)], None, "instances undecided"),
        ([row(STEP)], None, "only steps of its proof hold"),
        ([row(Coverage.UNIT)], None, "nothing was decided"),
        ([row(Coverage.REFERENCE)], None, "nothing was decided"),
        # to assume the conclusion proves nothing
        (
            [row(CONCLUSION, says_nothing=True), row(STEP)],
            UNDECIDED,
            "undecided: its conclusion is only assumed",
        ),
        ([row(CONCLUSION, says_nothing=True), row(CONCLUSION, name="other")], PROVED, "proved"),
        # all conclusions are needed, and all conditions
        ([row(CONCLUSION), row(CONCLUSION, UNDECIDED, "other")], UNDECIDED, "undecided"),
        ([row(CONCLUSION), row(CONDITION, UNDECIDED)], UNDECIDED, "undecided"),
        ([row(CONCLUSION), row(CONDITION, REFUTED)], UNDECIDED, "undecided; a condition is false"),
        ([row(CONCLUSION), row(CONDITION, uses=("a.b",))], PROVED, "proved, given a.b"),
        # what a whole uses of the statement itself
        ([row(CONCLUSION, uses=("x.y/first",)), row(STEP, UNDECIDED, "first")], UNDECIDED, "undecided"),
        (
            [row(CONCLUSION, uses=("x.y/first",)), row(STEP, name="first", uses=("a.b",))],
            PROVED,
            "proved, given a.b",
        ),
        # what is false
        ([row(CONCLUSION), row(STEP, REFUTED)], PROVED, "holds; a step of its proof is false"),
        ([row(CONCLUSION), row(Coverage.UNIT, REFUTED)], PROVED, "proved; units differ"),
        ([row(CONCLUSION), row(Coverage.REFERENCE, REFUTED)], PROVED, "proved; a reference is false"),
        ([row(INSTANCE), row(CONDITION, REFUTED)], None, "instances hold; a condition is false"),
        ([row(CONCLUSION), row(INSTANCE, REFUTED)], REFUTED, "refuted"),
        (
            [row(CONCLUSION, REFUTED, consequence=Consequence.EDGE)],
            REFUTED,
            "refuted: an edge case that no reader means",
        ),
        # a special case in which a step fails refutes the step, one in which a claim fails the statement
        (
            [row(CONCLUSION), row(INSTANCE, REFUTED, consequence=Consequence.STEP)],
            PROVED,
            "holds; a step of its proof is false",
        ),
        (
            [row(CONCLUSION), row(INSTANCE, REFUTED, consequence=Consequence.CONSTANT)],
            REFUTED,
            "refuted: a constant changes",
        ),
        (
            [
                row(CONCLUSION, REFUTED, consequence=Consequence.EDGE),
                row(INSTANCE, REFUTED, consequence=Consequence.CLAIM),
                row(STEP, REFUTED, consequence=Consequence.STEP),
            ],
            REFUTED,
            "refuted: the claim fails; a step of its proof is false",
        ),
        # a box that leaves out a part of the domain, in a whole or in what it uses
        (
            [row(CONCLUSION, Verdict.CERTIFIED, cut=(BOX,), uses=("a.b",))],
            Verdict.CERTIFIED,
            "certified on part of its domain (x in [0, 1]), given a.b",
        ),
        (
            [row(CONCLUSION, uses=("x.y/step",)), row(STEP, Verdict.CERTIFIED, cut=(BOX,))],
            Verdict.CERTIFIED,
            "certified on part of its domain (x in [0, 1])",
        ),
        # what does not follow is not called false
        (
            [row(CONCLUSION, DOES_NOT, "a"), row(CONCLUSION)],
            DOES_NOT,
            "does not follow from what is declared: a",
        ),
        ([row(CONCLUSION, DOES_NOT, "a"), row(INSTANCE, REFUTED)], REFUTED, "refuted"),
        ([row(CONCLUSION), row(STEP, DOES_NOT)], PROVED, "holds; a step of its proof does not follow"),
        ([row(CONCLUSION), row(CONDITION, DOES_NOT)], UNDECIDED, "undecided; a condition does not follow"),
        ([row(CONCLUSION), row(INSTANCE, DOES_NOT)], PROVED, "proved; a special case does not follow"),
        ([row(INSTANCE, DOES_NOT)], None, "instances undecided; a special case does not follow"),
        (
            [row(CONCLUSION, uses=("x.y/first",)), row(STEP, DOES_NOT, "first")],
            UNDECIDED,
            "undecided; a step of its proof does not follow",
        ),
        ([row(CONCLUSION), row(STEP, Verdict.CERTIFIED, cut=(BOX,))], PROVED, "proved"),
    ],
)
def test_the_word_of_a_statement(rows: list[FormulaRow], verdict: Verdict | None, headline: str) -> None:
    found = word("x.y", rows)
    assert (found.verdict, found.headline) == (verdict, headline)


def test_a_refutation_is_carried() -> None:
    edge = Consequence.EDGE
    false = {"e.f": edge, "g.h": edge, "c.d": Consequence.STEP}
    found = word("x.y", [row(CONCLUSION)], ("a.b",), Below(false=false))
    assert (found.verdict, found.headline) == (
        PROVED,
        "proved, given a.b; rests on c.d (false as printed: a step of the proof only); "
        "rests on e.f, g.h (false as printed: an edge case that no reader means)",
    )


@pytest.mark.parametrize("failing", [Consequence.CLAIM, Consequence.CONSTANT, None])
def test_what_rests_on_a_claim_that_fails_is_not_proved(failing: Consequence | None) -> None:
    found = word("x.y", [row(CONCLUSION)], ("a.b",), Below(false={"e.f": Consequence.EDGE, "c.d": failing}))
    assert found.verdict is Verdict.UNDECIDED
    assert found.headline.startswith("undecided; rests on ")
    assert "rests on c.d (false as printed" in found.headline


def _shown(
    *rows: FormulaRow,
    corrected: Sequence[FormulaRow] | None = None,
    uses: tuple[str, ...] = (),
    unsaid: tuple[str, ...] = (),
) -> dict[str, Any]:
    variants = {Variant.PRINTED: rows} | ({} if corrected is None else {Variant.CORRECTED: corrected})
    return {"uses": uses, "rows": variants, "unsaid": unsaid}


def _named(shown: dict[str, dict[str, Any]]) -> dict[str, FoundStatement]:
    return {name: FoundStatement(name, **fields) for name, fields in shown.items()}


def test_what_is_false_below() -> None:
    """One formula of b is false as printed; c rests on all of it, d on one that is true, e on the false one."""
    fails = row(CONCLUSION, REFUTED, consequence=Consequence.CLAIM)
    shown = {
        "b": _shown(
            replace(fails, name="false"), replace(row(STEP), name="true"),
            corrected=(replace(row(CONCLUSION), name="false"), replace(row(STEP), name="true")),
        ),
        "c": _shown(row(CONCLUSION, uses=("b", "jensen")), corrected=(row(CONCLUSION, uses=("b", "jensen")),)),
        "d": _shown(row(CONCLUSION, uses=("b/true",))),
        "e": _shown(row(CONCLUSION, uses=("b/false",)), corrected=(row(CONCLUSION, uses=("b/false",)),)),
        "f": _shown(row(CONCLUSION, uses=("c",)), corrected=(row(CONCLUSION, uses=("c",)),)),
        "g": _shown(row(CONCLUSION), row(INSTANCE, uses=("b",))),
        "h": _shown(row(CONCLUSION), uses=("b",)),
        "i": _shown(row(CONCLUSION), row(Coverage.REFERENCE, uses=("b",))),
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


BOXED = row(CONCLUSION, Verdict.CERTIFIED, "bound", cut=(BOX,))


def test_what_is_left_out_comes_up_from_below() -> None:
    """The box, the added condition, the missing conclusion and the unproved root of b to e show two levels above."""
    shown = _named(
        {
            "p.b": _shown(BOXED),
            "p.c": _shown(
                row(CONCLUSION, REFUTED, "claim", consequence=Consequence.CLAIM),
                corrected=(row(CONCLUSION, name="claim", corrected=True, added=("2 <= n",)),),
            ),
            "p.d": _shown(row(CONCLUSION), unsaid=("the accuracy",)),
            "p.e": _shown(row(INSTANCE)),
            "p.f": _shown(row(CONCLUSION, uses=("jensen",))),
            "p.g": _shown(row(CONCLUSION)),
            **{
                f"p.over-{name}": _shown(
                    row(CONCLUSION, uses=(f"p.{name}",)), corrected=(row(CONCLUSION, uses=(f"p.{name}",)),)
                )
                for name in "bcdefg"
            },
            **{f"p.top-{name}": _shown(row(CONCLUSION, uses=(f"p.over-{name}",))) for name in "bcdefg"},
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
            "p.b": _shown(row(CONCLUSION, DOES_NOT), row(STEP, DOES_NOT, "step")),
            "p.c": _shown(row(CONCLUSION, uses=("p.b",))),
            "p.d": _shown(row(CONCLUSION, uses=("p.b/step",))),
        }
    )
    for name, verdict, below_it in (("p.c", UNDECIDED, "p.b"), ("p.d", PROVED, "p.b/step")):
        found = word(name, shown[name].rows[Variant.PRINTED], (), below(name, Variant.PRINTED, shown))
        assert found.verdict is verdict
        assert f"rests on {below_it} (does not follow from what is declared)" in found.headline


def test_a_conclusion_that_only_the_correction_has_is_missing() -> None:
    added = row(CONCLUSION, name="accuracy", corrected=True)
    rows = {
        "p.b": _shown(row(CONCLUSION), corrected=(row(CONCLUSION), added)),
        "p.c": _shown(row(CONCLUSION, uses=("p.b",))),
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
    edge = row(CONCLUSION, REFUTED, "bound", consequence=Consequence.EDGE)
    true = row(CONCLUSION, name="bound", corrected=True, added=("2 <= n",))
    for printed, corrected, expected in (
        ((edge,), (true,), True),
        ((edge,), (replace(true, verdict=UNDECIDED),), False),
        ((edge,), None, False),
        ((replace(edge, consequence=Consequence.NOTATION),), (true,), False),
        ((edge, row(INSTANCE, REFUTED, consequence=Consequence.CLAIM)), (true,), False),
        ((row(CONCLUSION),), (true,), False),
    ):
        assert FoundStatement("p.b", **_shown(*printed, corrected=corrected)).where_meant is expected


def test_a_correction_that_is_relied_on_is_named() -> None:
    found = word("x.y", [row(CONCLUSION)], ("a.b",), Below(corrected={"a.b": ()}))
    assert found.headline == "proved, given a.b; a.b as corrected"


CONCLUSION_BY_A_STEP = row(CONCLUSION, uses=("x.y/first",))


FALSE_STEP = row(STEP, REFUTED, "first", consequence=Consequence.STEP)


TRUE_STEP = row(STEP, name="first", uses=("jensen",), corrected=True)


@pytest.mark.parametrize(
    ("printed", "corrected", "expected"),
    [
        ([CONCLUSION_BY_A_STEP, FALSE_STEP], [TRUE_STEP, CONCLUSION_BY_A_STEP], True),
        (
            [CONCLUSION_BY_A_STEP, FALSE_STEP, row(CONDITION)],
            [TRUE_STEP, CONCLUSION_BY_A_STEP, row(CONDITION)],
            True,
        ),
        # the correction says something else, or less
        (
            [CONCLUSION_BY_A_STEP, FALSE_STEP],
            [TRUE_STEP, replace(CONCLUSION_BY_A_STEP, corrected=True)],
            False,
        ),
        ([CONCLUSION_BY_A_STEP, FALSE_STEP], [TRUE_STEP], False),
        ([CONCLUSION_BY_A_STEP, FALSE_STEP, row(CONDITION)], [TRUE_STEP, CONCLUSION_BY_A_STEP], False),
        # more than a step changes
        (
            [replace(CONCLUSION_BY_A_STEP, verdict=UNDECIDED), FALSE_STEP],
            [TRUE_STEP, CONCLUSION_BY_A_STEP],
            False,
        ),
        # a step that does not follow, or is undecided, is a step of the proof, too
        (
            [CONCLUSION_BY_A_STEP, replace(FALSE_STEP, verdict=DOES_NOT)],
            [TRUE_STEP, CONCLUSION_BY_A_STEP],
            True,
        ),
        (
            [CONCLUSION_BY_A_STEP, replace(FALSE_STEP, verdict=UNDECIDED)],
            [TRUE_STEP, CONCLUSION_BY_A_STEP],
            True,
        ),
        (
            [CONCLUSION_BY_A_STEP, FALSE_STEP, row(CONDITION, REFUTED, consequence=Consequence.STEP)],
            [TRUE_STEP, CONCLUSION_BY_A_STEP, row(CONDITION)],
            False,
        ),
        *(
            (
                [CONCLUSION_BY_A_STEP, replace(FALSE_STEP, consequence=other)],
                [TRUE_STEP, CONCLUSION_BY_A_STEP],
                False,
            )
            for other in (Consequence.CLAIM, Consequence.CONSTANT, Consequence.EDGE, None)
        ),
        # nothing that it needs is false, or it has no whole
        ([row(CONCLUSION), FALSE_STEP], [row(CONCLUSION), TRUE_STEP], False),
        ([FALSE_STEP], [TRUE_STEP], False),
        ([CONCLUSION_BY_A_STEP, FALSE_STEP], [], False),
    ],
)
def test_a_correction_of_the_proof_alone(
    printed: list[FormulaRow], corrected: list[FormulaRow], expected: bool
) -> None:
    assert only_the_proof_changes("x.y", printed, corrected) is expected


def test_what_holds_by_a_corrected_proof() -> None:
    rests = Below(corrected={"a.b": ()})
    found = word(
        "x.y", [TRUE_STEP, CONCLUSION_BY_A_STEP], (), rests, printed=[CONCLUSION_BY_A_STEP, FALSE_STEP]
    )
    said = "holds by a corrected proof, given jensen; a step of its proof is false; a.b as corrected"
    assert (found.verdict, found.given, found.headline) == (PROVED, ("jensen",), said)
    unproved = [replace(TRUE_STEP, verdict=UNDECIDED), CONCLUSION_BY_A_STEP]
    assert word("x.y", unproved, printed=[CONCLUSION_BY_A_STEP, FALSE_STEP]).verdict is UNDECIDED


@pytest.mark.parametrize(
    ("domain", "box", "said"),
    [
        (LetterDomain(lower="0", lower_open=True), ("1/20", "12"), ("x in [1/20, 12]",)),
        (LetterDomain(lower="0", lower_open=True, upper="1"), ("1/20", "1"), ("x in [1/20, 1]",)),
        (LetterDomain(lower="0", upper="1"), ("0", "1"), ()),
        (LetterDomain(lower="0", lower_open=True, upper="1"), ("0", "2"), ()),
        (LetterDomain(kind="integer", lower="2", upper="60"), ("2", "60"), ()),
        (LetterDomain(kind="integer", lower="1", upper="60"), ("2", "60"), ("x in [2, 60]",)),
        (LetterDomain(kind="vector"), ("2", "60"), ("x in [2, 60]",)),
    ],
)
def test_a_cut_domain_is_seen(domain: LetterDomain, box: tuple[str, str], said: tuple[str, ...]) -> None:
    proof = ProofEvidence(
        statement="x.y", obligation="o", where="", coverage=CONCLUSION, variant=Variant.PRINTED, latex="",
        expression="", domain={"x": domain}, box={"x": box}, verdict=Verdict.CERTIFIED, prover="balls",
    )  # fmt: skip
    assert tuple(map(str, cut(proof))) == said
    assert cut(proof.model_copy(update={"verdict": PROVED})) == ()


@pytest.mark.parametrize(
    ("relation", "left", "right", "said"),
    [
        ("<=", "4", "2", "4 instead of at most 2, 2 times as much"),
        (
            "<=",
            "0.21248023184067254",
            "0.049787068367863943",
            "0.21248 instead of at most 0.049788, 4.2677 times as much",
        ),
        ("<", "1/3", "0", "0.33333 instead of at most 0"),
        ("<", "0", "0", ""),
        ("<=", "100001/100000", "1", "1.00001 instead of at most 1"),
        ("<=", "1.00019", "1.00001", "1.00019 instead of at most 1.00001, 1.0001 times as much"),
        (">=", "0.12345678", "2", "0.12346 instead of at least 2, too small by a factor of 16.2"),
        ("<=", "1.234567", "0.1", "1.2345 instead of at most 0.1, 12.345 times as much"),
        ("<=", "4e-340", "2e-340", "4e-340 instead of at most 2e-340, 2 times as much"),
        ("==", "4", "2", ""),
        ("<=", "1e-9999999999", "1e-99999999999", ""),  # once took as long as it has digits
        ("<=", "dimensionless", "length", ""),
        ("<=", None, "2", ""),
        ("<=", "1", "2", ""),
        ("<=", "0", "-1", ""),
        (">=", "2", "4", "2 instead of at least 4, too small by a factor of 2"),
        (">", "0", "1/3", "0 instead of at least 0.33333"),
        (">=", "4", "2", ""),
    ],
)
def test_by_how_much_an_inequality_fails(
    relation: str, left: str | None, right: str | None, said: str
) -> None:
    found = FailureMargin.of(relation, left, right)
    assert (found.text() if found else "") == said


def test_graphs() -> None:
    graph = {"a": ("b", "c"), "b": ("d",), "c": ("d",), "d": ("jensen",)}
    assert cycle(graph) == ()
    assert ancestors("a", graph) == ("b", "c", "d", "jensen")
    assert cycle({**graph, "d": ("a",)}) == ("a", "b", "d", "a")
    assert cycle({"a": ("a",)}) == ("a", "a")
    assert ancestors("a", {"a": ("b",), "b": ("a",)}) == ("b",)
