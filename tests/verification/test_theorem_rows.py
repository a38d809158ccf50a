"""Theorems in the ledger: verdicts, certificates, reports, what `check` refuses, and what is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dpverify.commands.formats import write_run
from dpverify.ledger.document import Ledger
from dpverify.ledger.theorems import TheoremEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.reports import load_ledger, render_html, write_report
from dpverify.reports.formats.markdown import ledger_markdown, render_markdown
from dpverify.statements.theorems.library import FOLDER, Library, shipped
from dpverify.statements.theorems.pages import TheoremOnPage, read_theorem, read_theorems
from dpverify.verification import VerificationSettings, verify
from dpverify.verification import theorems as theorem_rows_module
from dpverify.verification.checking import theorem_check
from dpverify.verification.checking.ledger_check import Status, check_ledger
from dpverify.verification.theorems import Known, TheoremFound, _TheoremTask, find_theorems, theorem_rows
from dpverify.views.comparison import compare_ledgers

from ..cli.calling import call

NAMES = ("theorem.weaker", "theorem.false-subsampling", "theorem.laplace")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three theorems, as `verify` writes it."""
    found, certificates = verify(VerificationSettings(papers=NAMES))
    place = tmp_path_factory.mktemp("theorems")
    write_report(found, place, certificates)
    return place


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    return load_ledger(folder / "ledger.json")


def test_theorems_are_rows_of_their_own(ledger: Ledger) -> None:
    verdicts = {row.id: row.verdict for row in ledger.theorems}
    assert verdicts == dict(zip(NAMES, (Verdict.PROVED, Verdict.REFUTED, Verdict.PROVED), strict=True))
    assert (ledger.statements, ledger.entries, ledger.displays) == ((), (), ())
    laplace = ledger.theorems[-1]
    assert "rule.laplace-density" in laplace.rules
    assert not laplace.rests_on
    assert laplace.read_twice == len(laplace.displays) == 4
    assert [each.role for each in laplace.displays][:2] == ["definition", "assumption"]
    assert any(line.startswith("f(") for line in laplace.model_in_words)
    assert any(line.startswith("epsilon = ") for line in laplace.model_in_words)
    assert all(row.confirmed_by_checker for row in ledger.theorems)


def test_a_whole_run_has_all_theorems_and_one_of_a_paper_none() -> None:
    assert VerificationSettings().theorems == ("theorems", "mechanisms")
    assert VerificationSettings(papers=("mn25", "theorem.laplace")).theorems == ("theorem.laplace",)
    assert VerificationSettings(papers=("mn25",)).theorems == ()
    assert not VerificationSettings(papers=("theorem.laplace",)).chosen()


@pytest.mark.parametrize("workers", [1, 2])
def test_check_confirms_them(folder: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorem_check, "FEW", 0)
    found = check_ledger(folder / "ledger.json", workers=workers)
    assert not found.failed
    assert [row.status for row in found.rows] == [Status.CONFIRMED] * 3


def _of(name: str, **changed: Any) -> Callable[[dict[str, TheoremEvidence]], None]:
    def change(rows: dict[str, TheoremEvidence]) -> None:
        rows[name] = rows[name].but(**changed)

    return change


def _with_other_certificate(rows: dict[str, TheoremEvidence]) -> None:
    rows["theorem.laplace"] = rows["theorem.laplace"].but(certificate=rows["theorem.weaker"].certificate)


def _with_other_model(rows: dict[str, TheoremEvidence]) -> None:
    rows["theorem.laplace"] = rows["theorem.laplace"].but(model=rows["theorem.weaker"].model)


TAMPERED: dict[str, Callable[[dict[str, TheoremEvidence]], None]] = {
    "another verdict": _of("theorem.false-subsampling", verdict=Verdict.PROVED),
    "undecided": _of("theorem.laplace", verdict=Verdict.UNDECIDED),
    "another claim": _of("theorem.laplace", claim=r"M\text{ is }0\text{-DP}"),
    "another title": _of("theorem.weaker", title="What is stronger"),
    "rules left out": _of("theorem.laplace", rules=()),
    "no certificate": _of("theorem.laplace", certificate=None),
    "the certificate of another": _with_other_certificate,
    "the model of another": _with_other_model,
    "no model": _of("theorem.weaker", model=None),
    "steps left out": lambda rows: _of(
        "theorem.laplace", displays=rows["theorem.laplace"].displays[1:]
    )(rows),
    "a letter left out": lambda rows: _of(
        "theorem.laplace", letters=rows["theorem.laplace"].letters[1:]
    )(rows),
    "a row left out": lambda rows: rows.pop("theorem.weaker") and None,
    "a row too many": lambda rows: rows.update(
        other=rows["theorem.laplace"].but(id="theorem.of-nobody")
    ),
}  # fmt: skip


class _Told:
    total = done = 0

    def start(self, total: int) -> None:
        self.total = total

    def advance(self, runs: int) -> None:
        self.done += runs

    def finish(self) -> None:
        pass


@pytest.mark.parametrize("fault", TAMPERED)
def test_check_refuses_what_was_tampered_with(
    fault: str, folder: Path, ledger: Ledger, tmp_path: Path
) -> None:
    rows = {row.id: row for row in ledger.theorems}
    TAMPERED[fault](rows)
    place = tmp_path / "ledger.json"
    (tmp_path / "certificates").symlink_to(folder / "certificates")
    changed = ledger.but(theorems=tuple(rows.values()))
    place.write_text(changed.model_dump_json(), encoding="utf-8")
    told = _Told()
    assert check_ledger(place, progress=told).failed
    assert told.total == told.done == len(rows)


def test_what_is_missing_is_not_derived_to_say_so(
    folder: Path, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    derived = list[str]()

    def found(some: Sequence[TheoremOnPage], known: Known) -> dict[str, TheoremFound]:
        derived.extend(one.id for one in some)
        return find_theorems(some, known)

    monkeypatch.setattr(theorem_check, "find_theorems", found)
    (tmp_path / "certificates").symlink_to(folder / "certificates")
    place = tmp_path / "ledger.json"
    place.write_text(ledger.but(theorems=ledger.theorems[1:]).model_dump_json(), encoding="utf-8")
    (failed,) = check_ledger(place).failed
    assert (failed.statement, failed.status) == (NAMES[0], Status.MISSING)
    assert NAMES[0] not in derived


def test_check_of_one_asks_about_that_and_what_it_rests_on(folder: Path, ledger: Ledger) -> None:
    for row in ledger.theorems:
        asked = list[str]()

        def remembered(certificate: Any, asked: list[str] = asked) -> Any:
            asked.append(certificate["theorem"])
            return check(certificate)

        found = check_ledger(folder / "ledger.json", only=(row.id,), checker=remembered)
        assert [(one.statement, one.status) for one in found.rows] == [(row.id, Status.CONFIRMED)]
        assert (row.id in asked) is (row.certificate is not None)
        assert {*asked} <= {row.id, *row.rests_on}


@pytest.mark.parametrize("workers", [1, 2])
def test_check_refuses_a_step_that_was_tampered_with(
    folder: Path, ledger: Ledger, tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpverify.proving.certificates import load, store

    monkeypatch.setattr(theorem_check, "FEW", 0)
    row = ledger.theorems[-1]
    certificate = load(str(row.certificate), folder / "certificates")
    certificate["steps"] = certificate["steps"][:-1]
    for name in (*(r.certificate for r in ledger.theorems[:-1]), *(r.model for r in ledger.theorems)):
        if name is not None:
            store(load(name, folder / "certificates"), tmp_path / "certificates")
    name = store(certificate, tmp_path / "certificates")
    changed = ledger.but(theorems=(*ledger.theorems[:-1], row.but(certificate=name)))
    (tmp_path / "ledger.json").write_text(changed.model_dump_json(), encoding="utf-8")
    (failed,) = check_ledger(tmp_path / "ledger.json", workers=workers).failed
    assert (failed.statement, "the checker does not confirm" in failed.says) == (row.id, True)


def test_reports_show_them(ledger: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    page = render_html(ledger)
    section = page[page.index('id="derived--theorem-laplace"') :]
    section = section[: section.index("</section>")]
    assert section.count('<div class="formula printed">') == 4
    assert all(
        "<math" in part.split("</div>")[0] for part in section.split('<div class="formula printed">')[1:]
    )
    assert 'class="latex"' not in section
    assert "<td>&gt; 0</td>" in section
    assert "lemma.laplace-scale" in section
    assert "rule.density-ratio" in section
    assert "3 theorems: 2 proved, 1 refuted" in page
    for text in (render_markdown(ledger), ledger_markdown(ledger)):
        assert "3 theorems: 2 proved, 1 refuted" in text
    write_run(ledger, "text", findings_fail=False)
    assert "theorem.false-subsampling: refuted" in capsys.readouterr().out
    write_run(ledger, "junit", findings_fail=True)
    root = ElementTree.fromstring(capsys.readouterr().out.encode())
    assert (root.get("tests"), root.get("failures")) == ("3", "1")
    write_run(ledger, "sarif", findings_fail=False)
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["ruleId"] == "theorem-refuted"
    where = result["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"].endswith("false_in_circulation.md")
    assert where["region"]["startLine"] == ledger.theorems[1].line


def test_a_lost_proof_is_seen(ledger: Ledger) -> None:
    assert not compare_ledgers(ledger, ledger).changed
    worse = ledger.theorems[0].but(verdict=Verdict.UNDECIDED)
    found = compare_ledgers(ledger, ledger.but(theorems=(worse, *ledger.theorems[1:])))
    assert [row.row for row in found.failed] == ["theorem theorem.weaker"]


def test_explain_and_list_know_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("explain", "theorem.laplace") == 0
    said = capsys.readouterr().out
    assert "Then, by lemma.laplace-scale with $b=\\frac{\\Delta}{\\varepsilon}$ (line" in said
    assert "Rules: " in said
    assert "rule.density-ratio" in said
    assert call("list", "theorem.weaker", "theorem.laplace", "--json", "-") == 0
    assert [row["verdict"] for row in json.loads(capsys.readouterr().out)] == ["proved", "proved"]
    assert call("explain", "mechanisms") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("  mechanism.")
    assert len(lines) < 100
    assert call("list", "theorem.laplace", "fmtt18.def10") == 0
    said = capsys.readouterr().out
    assert all(re.search(f"^{name}\t", said, re.M) for name in ("theorem.laplace", "fmtt18.def10"))
    assert call("list", "theorem.laplace", "fmtt18.def10", "--json", "-") == 2


# ------------------------------------------------------------------------------------------- what is kept


def test_a_change_makes_only_that_anew_which_may_rest_on_it() -> None:
    known = dict(shipped())
    ids = [id_ for id_, one in known.items() if one.standing == "theorem"]
    before = {id_: _TheoremTask.of(known[id_], known).key for id_ in ids}
    rule = known["rule.markov"]
    known["rule.markov"] = replace(rule, names=(*rule.names, "another"))
    changed = {id_ for id_ in ids if _TheoremTask.of(known[id_], known).key != before[id_]}
    assert changed == {id_ for id_ in ids if any("rule.markov" in each.by for each in known[id_].displays)}
    assert len(changed) < len(ids) / 4


def test_what_is_kept_is_taken_if_the_checker_confirms_it(monkeypatch: pytest.MonkeyPatch) -> None:
    content = dict[str, Any]()
    monkeypatch.setattr(theorem_rows_module, "keep", lambda kind, key, value: content.update({key: value}))
    monkeypatch.setattr(theorem_rows_module, "kept", lambda kind, key: content.get(key))
    (first,) = theorem_rows(["theorem.weaker"])
    with monkeypatch.context() as within:
        within.setattr(theorem_rows_module, "derive", None)
        (again,) = theorem_rows(["theorem.weaker"])
        assert again == first
        for spoiled in content.values():
            spoiled[2] = {**spoiled[2], "steps": []}
        with pytest.raises(TypeError):  # it is derived anew
            theorem_rows(["theorem.weaker"])
    (anew,) = theorem_rows(["theorem.weaker"])
    assert anew.certificate == first.certificate


def test_every_display_of_the_pages_is_written_as_mathml() -> None:
    from dpverify.reports.mathml import mathml

    displays = [each.latex for one in shipped().values() for each in one.displays]
    assert not [latex for latex in displays if mathml(latex, "block") is None]


def test_what_is_asked_of_a_copy_of_the_library_is_read_once() -> None:
    library = Library((FOLDER / "rules_data_added.md", FOLDER / "rules_data.md"))
    copy, (first, *_, last) = library.copy(), library
    other = copy[first]
    copy.add(FOLDER / "rules_data.md", replace(other, id="rule.other"))
    assert library[first] is other
    assert copy[last] is library[last]
    assert ("rule.other" in copy, "rule.other" in library) == (True, False)


def test_a_section_is_read_alone_as_on_its_page() -> None:
    """With its lines, whichever of its page it is."""
    page = FOLDER / "rules_data_added.md"
    whole = read_theorems(page)
    assert len(whole) > 2
    for one in whole:
        alone = read_theorem(page, one.id)
        assert (alone.clause, alone.displays, alone.declared) == (one.clause, one.displays, one.declared)
        assert alone.line == one.line
