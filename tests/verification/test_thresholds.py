"""`dpverify sharpen`: what it prints, keeps and puts into a ledger, and that a wrong threshold there is caught."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove, store
from dpverify.proving.checker import check
from dpverify.reports import load_ledger, write_ledger
from dpverify.statements.own_pages import read_pages
from dpverify.verification import VerificationSettings, verify
from dpverify.verification.checking.ledger_check import check_ledger
from dpverify.verification.thresholds import faults

from ..cli.calling import call

DOC = (Path(__file__).parents[2] / "docs" / "sharpen.md").read_text(encoding="utf-8")
PAGE, SHOWN = (DOC.partition(f"```{kind}\n")[2].partition("```\n")[0] for kind in ("markdown", "text"))


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page with a formula that fails beyond 3; nothing is remembered."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "bounds.md").write_text(PAGE)
    return tmp_path / "bounds.md"


def test_a_page_is_sharpened_kept_and_explained(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("sharpen", str(page), "--jobs", "1")
    assert call(*asked) == 0
    said = capsys.readouterr()
    cells = [re.split(r"\s{2,}", line) for line in SHOWN.splitlines()]
    assert [line.split("\t") for line in said.out.replace("\t\n", "\n").splitlines()] == cells
    assert "Sharpening 1 formula, once" in said.err
    assert call(*asked, "--json", "-") == 0
    said = capsys.readouterr()
    assert "Sharpening" not in said.err
    (formula,) = json.loads(said.out)["formulas"]
    assert formula["thresholds"][0]["holds"]["says"] == "y <= 16/21"
    # the correction may stand on the page
    (page.parent / "corrected.md").write_text(f"{PAGE}\n{formula['thresholds'][0]['correction']}\n")
    (statement,) = read_pages(page.parent / "corrected.md").statements
    assert statement.corrected is not None
    (corrected,) = statement.corrected.obligations
    assert prove(corrected).verdict is Verdict.PROVED
    assert call("explain", str(page)) == 0
    assert "how far it holds: bound on y: proved with y <= 16/21" in capsys.readouterr().out


def test_a_ledger_gets_thresholds_and_a_wrong_one_there_is_caught(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = page.parent / "ledger.json"
    ledger, certificates = verify(VerificationSettings(papers=(str(page),)))
    write_ledger(ledger, path)
    for certificate in certificates.values():
        store(certificate, page.parent / "certificates")
    asked = ("sharpen", str(page), "--letter", "y", "--seconds", "4", "--jobs", "1")
    assert call(*asked, "--ledger", str(path)) == 0
    assert "1 rows say how far they hold" in capsys.readouterr().err
    assert not check_ledger(path).failed
    rows = load_ledger(path)
    wrong = [_with_value(e, "1") if isinstance(e, ProofEvidence) else e for e in rows.entries]
    write_ledger(rows.but(entries=tuple(wrong)), path)
    (refused,) = check_ledger(path).failed
    assert "how far it holds" in refused.says


def _with_value(row: ProofEvidence, value: str) -> ProofEvidence:
    found = [
        t.but(holds=t.holds.but(value=value, says=t.holds.says.replace(t.holds.value, value)))
        for t in row.thresholds
    ]
    return row.but(thresholds=tuple(found))


def test_every_change_of_a_threshold_is_caught(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dpverify.analyses.thresholds.sharpening import sharpen
    from dpverify.verification.catalog.rows import answered

    (statement,) = read_pages(page).statements
    exponential, holds = statement.printed
    found = sharpen(exponential, attempts=30)
    for certificate in found.certificates.values():
        store(certificate, page.parent / "certificates")
    (record,) = answered(statement, "printed", exponential)  # type: ignore[arg-type]
    row = record.evidence.but(thresholds=found.thresholds)

    def wrong(of: ProofEvidence) -> list[str]:
        return list(faults(of, exponential, page.parent / "certificates", check))

    assert len(row.thresholds) > 1
    assert not wrong(row)
    assert wrong(record.evidence.but(thresholds=row.thresholds[:1], variant="corrected"))
    assert list(faults(row, holds, page.parent / "certificates", check))
    for i, t in enumerate(row.thresholds):
        assert t.fails is not None
        for other in _planted(t):
            tampered = [*row.thresholds]
            tampered[i] = other
            assert wrong(row.but(thresholds=tuple(tampered))), other


def _planted(t: Any) -> list[Any]:
    swapped = t.but(holds=t.fails, fails=t.holds)
    return [
        swapped,
        t.but(holds=t.holds.but(value="7")),
        t.but(fails=t.fails.but(value="7")),
        t.but(holds=t.holds.but(certificate=t.fails.certificate)),
        t.but(holds=t.holds.but(certificate="sha256:" + "0" * 64)),
        t.but(holds=t.holds.but(verdict=Verdict.CERTIFIED)),
        t.but(holds=t.holds.but(says="y <= 100")),
        t.but(fails=t.fails.but(verdict=Verdict.DOES_NOT_FOLLOW)),
        t.but(fails=t.fails.but(counterexample={"y": "1/100"})),
        t.but(correction=t.correction + " "),
        t.but(now="17"),
        t.but(change=t.change.but(within={"y": ("0", "1")})),
        t.but(change=t.change.but(letter="z")),
        t.but(holds=t.holds.but(value="y")),
    ]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--letter", "z"), "--letter"),
        (("--ledger", "none.json"), "--ledger"),
        (("--seconds", "0"), "--seconds"),
    ],
)
def test_bad_input_is_one_sentence(
    more: tuple[str, ...], named: str, page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("sharpen", str(page), "--jobs", "1", *more) == 2
    assert named in capsys.readouterr().err


def test_an_unknown_formula_is_refused(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("sharpen", f"{page}#bounds/nothing", "--jobs", "1") == 2
    assert "exponential" in capsys.readouterr().err
