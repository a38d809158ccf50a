"""Results for notebooks and data frames, and what a bug report should say."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import Any

import pytest

import dpverify
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.audits import ForeignEvidence
from dpverify.ledger.evidence import MeanEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict
from dpverify.reports import ledger_frame, ledger_rows

from ..test_comparison import audit, ledger, proof

MEAN = MeanEvidence(
    subject="mine:release", title="a mean", verdict=Verdict.SUPPORTED, reproduce="", runs=9, failure_probability=1e-3,
    seed=0, data="", quantity="q", claim="q <= 1", bound=1.0, measured=Interval(lower=0.1, upper=0.4), at_least=False,
)  # fmt: skip
BOTH = ledger(proof(Verdict.PROVED), audit(Verdict.VIOLATED), MEAN)


def test_rows_have_the_same_plain_fields() -> None:
    rows = ledger_rows(BOTH)
    assert len({tuple(row) for row in rows}) == 1
    assert list(rows[0])[:3] == ["kind", "statement", "obligation"]
    assert [(row["kind"], row["verdict"]) for row in rows] == [
        ("proof", "proved"), ("privacy", "violated"), ("mean", "supported"),
    ]  # fmt: skip
    assert (rows[2]["measured_lower"], rows[2]["measured_upper"]) == (0.1, 0.4)
    assert rows[1]["epsilon_lower"] == 0.5
    assert rows[0]["epsilon_lower"] is None
    plain = (str, bool, int, float, type(None))
    assert all(type(value) in plain for row in rows for value in row.values())
    assert ledger_rows(ledger()) == []
    with pytest.raises(InvalidArgumentError, match="ledger"):
        ledger_rows({})  # type: ignore[arg-type]


def test_frames_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InvalidDataError, match="needs pandas, which is not installed"):
        ledger_frame(BOTH)


def test_frames_have_a_row_an_entry() -> None:
    pytest.importorskip("pandas", reason="pandas is an optional extra")
    frame: Any = ledger_frame(BOTH)
    assert list(frame["verdict"]) == ["proved", "violated", "supported"]
    assert frame["epsilon_lower"].isna().sum() == 2


@pytest.mark.parametrize(
    "shown",
    [
        audit(Verdict.VIOLATED, subject="<b>mine</b>", reason="a < b"),
        proof(Verdict.REFUTED, expression="<b>mine</b>", counterexample={"n": "2"}),
        ledger(audit(Verdict.VIOLATED), command="<b>mine</b>"),
        ForeignEvidence(
            kind="acme.rank", subject="<b>mine</b>", title="", verdict=Verdict.SUPPORTED, reproduce=""
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_notebooks_get_a_table_without_markup_of_the_results_own(shown: Any) -> None:
    text = shown._repr_html_()
    assert text.startswith("<div><strong>")
    assert "&lt;b&gt;mine&lt;/b&gt;" in text
    assert "<b>" not in text


def test_versions_are_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    dpverify.show_versions()
    lines = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["dpverify"] == importlib.metadata.version("dpverify")
    assert {"python", "platform", "numpy", "scipy", "pandas"} <= set(lines)
    assert lines["numpy"] == importlib.metadata.version("numpy")
