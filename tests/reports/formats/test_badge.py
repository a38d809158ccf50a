"""A badge says what the ledger's verdicts are, and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.reports import write_ledger
from dpverify.reports.formats.badge import GRAY, GREEN, ORANGE, RED, YELLOW, Badge, badge

from ...cli.calling import call
from ..ledger_example import AUDITS, PROOFS, STATEMENTS, example_ledger

(PRIVACY, *_) = [audit for audit in AUDITS if isinstance(audit, PrivacyEvidence)]


def of(*verdicts: Verdict) -> Badge:
    entries = tuple(
        PRIVACY.model_copy(update={"verdict": verdict, "title": str(place)})
        for place, verdict in enumerate(verdicts)
    )
    return badge(example_ledger(entries=entries, statements=()))


@pytest.mark.parametrize(
    ("verdicts", "message", "color"),
    [
        ((), "nothing checked", GRAY),
        ((Verdict.SUPPORTED,) * 3, "3 supported", GREEN),
        ((Verdict.SUPPORTED, Verdict.UNDECIDED), "1 supported, 1 undecided", YELLOW),
        ((Verdict.SUPPORTED, Verdict.VIOLATED), "1 violated, 1 supported", RED),
    ],
)
def test_claims(verdicts: tuple[Verdict, ...], message: str, color: str) -> None:
    made = of(*verdicts)
    assert (made.message, made.color) == (message, color)


def test_statements_and_their_violations() -> None:
    said = [row.printed.verdict for row in STATEMENTS if row.printed.headline]
    made = badge(example_ledger())
    violated = sum(audit.verdict is Verdict.VIOLATED for audit in AUDITS)
    assert made.message.startswith(f"{violated} violated, ")
    assert f"{said.count(Verdict.REFUTED)} false" in made.message
    assert made.color == RED
    quiet = badge(example_ledger(entries=tuple(PROOFS)))
    assert "violated" not in quiet.message
    assert quiet.color in (ORANGE, RED)


def test_a_correction_that_is_false_and_a_fault_are_red() -> None:
    wrong = PROOFS[1].model_copy(update={"verdict": Verdict.REFUTED})
    assert badge(example_ledger(entries=(wrong,), statements=())).message == "1 false correction"
    fault = PROOFS[0].model_copy(update={"verdict": Verdict.UNDECIDED, "fault": "Traceback"})
    made = badge(example_ledger(entries=(fault,), statements=()))
    assert (made.message, made.color) == ("1 fault", RED)


def test_the_picture_is_accessible_and_needs_nothing() -> None:
    made = Badge("1 <b> & more", GREEN, 'a "label"')
    root = ElementTree.fromstring(made.svg())
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'a "label": 1 <b> & more'
    assert root[0].text == root.get("aria-label")
    widths = [int(rect.get("width", "0")) for rect in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert int(root.get("width", "0")) == sum(widths)
    assert "href" not in made.svg()


@pytest.mark.parametrize("color", [GREEN, YELLOW, ORANGE, RED, GRAY, "#444444"])
def test_white_text_is_readable(color: str) -> None:
    """Contrast of at least 4.5 (WCAG 2.1, 1.4.3)."""

    def linear(part: str) -> float:
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    parts = [linear(color[i : i + 2]) for i in (1, 3, 5)]
    luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    assert 1.05 / (luminance + 0.05) >= 4.5


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_ledger(example_ledger(), tmp_path / "ledger.json")
    assert call("badge", str(file)) == 0
    assert ElementTree.fromstring(capsys.readouterr().out).tag.endswith("svg")
    assert call("badge", str(file), "--format", "shields", "--label", "privacy") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["schemaVersion"] == 1
    assert found["label"] == "privacy"
    assert found["message"] == badge(example_ledger()).message
    for wrong in (["--format", "png"], ["--label", ""], ["--label", "x" * 61]):
        assert call("badge", str(file), *wrong) == 2
    assert call("badge", str(tmp_path / "nothing.json")) == 2
