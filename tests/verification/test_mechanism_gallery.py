"""The gallery of docs/mechanism-gallery.md: mechanisms are proved, planted faults refuted, both as rows of a ledger."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.reports import load_ledger, render_html, write_report
from dpverify.statements.mechanisms.as_theorems import as_theorem, shipped_mechanism
from dpverify.statements.mechanisms.pairs.changes import query_changes
from dpverify.statements.mechanisms.proofs.claims import derive_mechanism
from dpverify.statements.mechanisms.reading import mechanisms_of
from dpverify.statements.theorems.library import shipped
from dpverify.verification import VerificationSettings, verify
from dpverify.verification import theorems as rows_module
from dpverify.verification.checking.ledger_check import check_ledger
from dpverify.verification.theorems import is_shown, theorem_rows

from ..benchmarks.mechanisms import gallery
from ..cli.calling import call
from ..cli.test_mechanism_loops import broken_at_few_rounds
from ..packaging.page_blocks import DOCS

PAGE = DOCS / "mechanism-gallery.md"
NAME = "mechanism.count"
WITHOUT_BOUND = {
    "theorem.pure-together", "theorem.concentrated-together", "theorem.records-in-turn", "lemma.smooth-scale"
}  # fmt: skip
"""What proves privacy with no public bound on how much a query of all records changes."""


@pytest.mark.one_in(42)
@pytest.mark.parametrize("name", gallery.mechanisms())
def test_mechanisms_are_proved(name: str) -> None:
    """What their theorems rest on is not derived again; queries change by as much as is proved."""
    mechanism = shipped_mechanism(f"mechanism.{name}").mechanism
    proof = derive_mechanism(mechanism)
    assert proof.certificate is not None, proof.reason
    assert check(proof.certificate).confirmed
    changes = query_changes(mechanism, proof.certificate)
    assert changes or WITHOUT_BOUND & {*proof.uses}
    assert all(one.attained for one in changes)


@pytest.mark.one_in(34)
@pytest.mark.parametrize("fault", gallery.faults(), ids=lambda one: f"{one.mechanism}, {one.kind}")
def test_planted_faults_are_refuted_with_a_pair(fault: gallery.Fault) -> None:
    row, _ = fault.decided()
    assert row.verdict is Verdict.REFUTED
    assert row.pair is not None
    (one,) = mechanisms_of(fault.page, fault.mechanism)
    if one.loop is not None:
        assert broken_at_few_rounds(one, row.pair.model)
    else:
        assert is_shown(as_theorem(one), row.pair.model, refute=True)


def test_each_has_two_faults_and_stands_in_the_table() -> None:
    faults, text = gallery.faults(), PAGE.read_text(encoding="utf-8")
    names = gallery.mechanisms()
    counts = Counter(one.mechanism for one in faults)
    assert len(names) >= 30
    assert counts.keys() == {*names}
    assert min(counts.values()) >= 2
    for one in (*map(gallery.Fault, names), *faults):
        assert one.page != (gallery.section(one.mechanism) if one.kind else "")
        if not one.kind:
            assert f"[{shipped_mechanism(f'mechanism.{one.mechanism}').title}](" in text
    assert f"{len(names)} mechanisms: {len(names)} proved." in text
    assert f"{len(faults)} planted faults: {len(faults)} refuted." in text


@pytest.fixture(scope="module")
def ledger_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a mechanism of the gallery, and of a page of one's own with a fault."""
    place = tmp_path_factory.mktemp("mechanisms")
    page = place / "mine.md"
    fault = next(one for one in gallery.faults() if one.mechanism == "bounded-sum")
    page.write_text(fault.page.replace("mechanism.", "my."), encoding="utf-8")
    found, certificates = verify(VerificationSettings(papers=(NAME, str(page))))
    write_report(found, place, certificates)
    return place / "ledger.json"


def test_mechanisms_are_rows_of_ledger_and_report(ledger_file: Path) -> None:
    ledger = load_ledger(ledger_file)
    good, bad = ledger.theorems
    assert (good.kind, good.verdict, good.page) == ("mechanism", Verdict.PROVED, "mechanisms")
    assert (bad.kind, bad.verdict, bad.id) == ("mechanism", Verdict.REFUTED, "my.bounded-sum")
    assert "rule.sums-differ" in good.rules
    assert [each.role for each in good.displays] == ["query", "draw", "output", "claim"]
    assert next(each.line for each in bad.displays if each.reason) == bad.line
    assert "neighbors: replace one" in good.letters[-1].kind
    text = render_html(ledger)
    assert '<section class="page" id="mechanisms"' in text
    assert 'href="#mechanisms">2 mechanisms' in text
    assert "2 mechanisms: 1 proved, 1 refuted" in text
    assert "changes by at most 1 between neighbors; on this pair by as much: data " in text
    assert "2 data sets" in text[text.index('id="derived--my-bounded-sum"') :]


def test_check_confirms_them_and_refuses_others(ledger_file: Path, tmp_path: Path) -> None:
    assert not check_ledger(ledger_file).failed
    ledger = load_ledger(ledger_file)
    good, bad = ledger.theorems
    (tmp_path / "certificates").symlink_to(ledger_file.parent / "certificates")
    for rows in (
        (good.but(claim=r"0\text{-DP}"), bad),
        (good, bad.but(verdict=Verdict.PROVED)),
        (good.but(certificate=None), bad),
        (good.but(changes=()), bad),
        (good.but(model=bad.model), bad),
        (good,),
    ):
        changed = ledger.but(theorems=rows)
        (tmp_path / "ledger.json").write_text(changed.model_dump_json(), encoding="utf-8")
        assert check_ledger(tmp_path / "ledger.json").failed


def test_what_is_kept_is_taken_while_its_theorems_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate names all clauses that it rests on; with another one it is derived anew."""
    (first,) = theorem_rows([NAME])
    with monkeypatch.context() as within:
        within.setattr(rows_module, "found_of_mechanism", None)
        assert theorem_rows([NAME]) == [first]
        kept = rows_module.clause_json
        used = {of.clause for id_, of in shipped().items() if id_ in first.found.uses}
        assert used
        within.setattr(rows_module, "clause_json", lambda clause: {} if clause in used else kept(clause))
        with pytest.raises(TypeError):
            theorem_rows([NAME])


def test_list_and_explain_know_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("list", NAME) == 0
    assert "1 mechanism: 1 proved" in capsys.readouterr().out
    assert call("explain", NAME) == 0
    said = capsys.readouterr().out
    assert "Draw (line" in said
    assert "rule.sums-differ" in said
