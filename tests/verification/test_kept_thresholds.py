"""How far formulas of committed pages hold, kept beside the program: shown only where the checker confirms it now."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpverify.ledger.verdicts import Verdict
from dpverify.proving.language import Obligation
from dpverify.statements.paper import papers
from dpverify.statements.selection import find_statement
from dpverify.verification import kept_thresholds
from dpverify.verification.catalog.answers import key_of, known, lines
from dpverify.verification.catalog.proofs import prove_statements
from dpverify.verification.kept_thresholds import FOLDER, known_thresholds, with_thresholds

NAME, FORMULA = "fmtt18.thm23", "last-display"


@pytest.fixture
def obligation() -> Obligation:
    statement = find_statement(NAME)
    assert statement is not None
    return next(o for o in statement.printed if o.name == FORMULA)


def test_rows_of_a_run_say_how_far_they_hold() -> None:
    statement = find_statement(NAME)
    assert statement is not None
    records, certificates = with_thresholds(prove_statements([statement], known=known))
    found = {r.evidence.obligation: r.evidence.thresholds for r in records if r.evidence.thresholds}
    assert found.keys() == {FORMULA}
    (threshold,) = found[FORMULA]
    assert threshold.text().startswith("bound on n: proved with n <= 1, refuted with n <= 2 (at ")
    assert {
        threshold.holds.certificate,
        threshold.fails and threshold.fails.certificate,
    } == certificates.keys()


def _other_value(line: Any) -> None:
    line["thresholds"][0]["holds"]["value"] = "2"


def _other_letter(line: Any) -> None:
    line["thresholds"][0]["change"]["letter"] = "sigma"


def _swapped(line: Any) -> None:
    first = line["thresholds"][0]
    first["holds"], first["fails"] = first["fails"], first["holds"]


def _other_proof(line: Any) -> None:
    line["thresholds"][0]["holds"]["shown"]["proof"] = {"method": "facts"}


def _other_point(line: Any) -> None:
    line["thresholds"][0]["fails"]["shown"]["proof"]["point"]["n"] = "1"


def _cut(line: Any) -> None:
    del line["thresholds"][0]["fails"]["shown"]


@pytest.mark.parametrize("damage", [_other_value, _other_letter, _swapped, _other_proof, _other_point, _cut])
def test_what_the_checker_does_not_confirm_is_not_shown(
    damage: Callable[[Any], None], obligation: Obligation, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_of(obligation)
    line = copy.deepcopy(lines(FOLDER)[key])
    assert len(known_thresholds(obligation, Verdict.REFUTED)[0]) == 1
    damage(line)
    monkeypatch.setattr(kept_thresholds, "lines", lambda _: {key: line})
    assert known_thresholds(obligation, Verdict.REFUTED) == ((), {})


def test_a_formula_that_has_changed_has_none(obligation: Obligation, tmp_path: Path) -> None:
    other = replace(obligation, assuming=(*obligation.assuming, obligation.claim), source=None)
    assert known_thresholds(other, Verdict.REFUTED) == ((), {})
    for text in ("{", "[]\n", '{"of": 1', "\xff"):
        (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
        assert lines(tmp_path) == {}
        lines.cache_clear()


def test_lines_are_of_printed_formulas(thorough: bool) -> None:
    """In `make test` of one paper; `make test-thorough` confirms all ends of all."""
    keys = sorted(file.stem for file in FOLDER.glob("*.jsonl"))
    printed = {
        key_of(o): o
        for key in keys[: None if thorough else 1]
        for s in papers()[key].statements
        for o in s.printed
    }
    of = [line for line in lines(FOLDER).values() if line["of"] in printed]
    assert len(of) == len(lines(FOLDER)) if thorough else of
    assert any(line["thresholds"] for line in of)
    for line in of if thorough else ():
        found, _ = known_thresholds(printed[line["of"]], Verdict.REFUTED)
        assert len(found) == len(line["thresholds"])
