"""`dpverify hypotheses`: what it finds in a statement, what it prints, and the page that is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpverify.analyses import hypotheses as module
from dpverify.formulas.expressions import real
from dpverify.ledger.verdicts import Coverage, Use
from dpverify.proving.language import Obligation, Statement
from dpverify.proving.proof import Budget, Proof
from dpverify.proving.reasoning.effort import note_the_clock
from dpverify.statements.selection import find_statement
from dpverify.statements.sheet import Sheet
from dpverify.verification.explanation import explanation_lines
from dpverify.verification.hypotheses import (
    CUT_SHORT,
    StatementHypotheses,
    case_lines,
    hypotheses_of,
    markdown,
    recall_hypotheses,
    recall_or_find_hypotheses,
    summary,
)

from ..cli.calling import call

_QUICK = "fmtt18.prop18"
"""A statement of which everything is found in a second."""


@pytest.fixture(autouse=True)
def _nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _statement(*, given: str = r"a\le b, b\le c", step: str = r"a\le 5") -> Statement:
    """The bound a <= c needs two of its conditions; a step needs one more; nothing needs a <= 7."""
    letters = (real("a"), real("b"), real("c"))
    return (
        Sheet("x.planted", letters)
        .conclusion("bound", r"a\le c", given=rf"{given}, a\le 5, a\le 7")
        .step("first", r"2a\le 10", given=step)
        .statement
    )


def test_a_planted_hypothesis_is_listed_as_unused_and_the_needed_ones_are_not() -> None:
    found = hypotheses_of(_statement())
    assert [h.hypothesis for h in found.of(Use.UNUSED)] == ["a <= 7"]
    needed = {h.hypothesis: h for h in found.of(Use.FALSE_WITHOUT)}
    assert set(needed) == {"a <= b", "b <= c", "a <= 5"}
    assert all(h.point for h in needed.values())
    assert {h.hypothesis for h in needed.values() if h.coverage is Coverage.STEP} == {"a <= 5"}
    assert "`a <= 5` in the step `first` only" in markdown_of(found)
    (line,) = case_lines(found.printed)
    assert line.startswith("all conditions can hold at once, at a = ")


def test_a_statement_whose_step_needs_less_has_one_more_unused() -> None:
    unused = [h.hypothesis for h in hypotheses_of(_statement(step=r"a\le 4")).of(Use.UNUSED)]
    assert unused == ["a <= 5", "a <= 7"]


def test_what_is_not_proved_is_said() -> None:
    found = hypotheses_of(_statement(given=r"a\le b"))
    assert (found.formulas, found.left, found.hypotheses) == ((), ("bound",), ())
    assert "not tried, since not proved: `bound`" in markdown_of(found)


def test_steps_that_cannot_hold_with_the_rest_are_a_case() -> None:
    found = hypotheses_of(_statement(step=r"a\le 5, c\le a-1"))
    first, second = case_lines(found.printed)
    assert first.startswith("case 1 (bound): can hold at once, at ")
    assert second.startswith("case 2 (first): can hold at once, at ")
    assert second.endswith("the conditions of first contradict those of bound, of case 1")


def test_what_a_guard_of_time_has_ended_is_said_and_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: the guard ends every attempt without all hypotheses."""
    assert not hypotheses_of(_statement()).cut_short
    whole = module.prove

    def cut(obligation: Obligation, *, budget: Budget) -> Proof:
        note_the_clock()
        return whole(obligation, budget=budget)

    monkeypatch.setattr(module, "prove", cut)
    found = hypotheses_of(_statement())
    assert found.cut_short
    assert CUT_SHORT in markdown_of(found)
    statement = find_statement(_QUICK)
    assert statement is not None
    (again,) = recall_or_find_hypotheses([statement])
    assert again.cut_short
    assert recall_hypotheses(statement) is None


def markdown_of(found: StatementHypotheses) -> str:
    """The page as if it were of a paper's statement."""
    return markdown([found.model_copy(update={"statement": _QUICK})])


# ------------------------------------------------------------------------------------ command, explanation and page


def test_what_is_found_is_kept_and_explained(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    statement = find_statement(_QUICK)
    assert statement is not None
    assert recall_hypotheses(statement) is None
    assert any(f"dpverify hypotheses {_QUICK}" in line for line in explanation_lines(_QUICK))
    assert call("hypotheses", _QUICK, "--jobs", "1", "--json", str(tmp_path / "found.json")) == 0
    out = capsys.readouterr().out
    kept = recall_hypotheses(statement)
    assert kept is not None
    assert summary([kept]) in out
    assert len([line for line in out.splitlines() if line.startswith(_QUICK)]) == len(kept.hypotheses)
    assert '"schema_version": 1' in (tmp_path / "found.json").read_text(encoding="utf-8")
    explained = "\n".join(explanation_lines(_QUICK))
    assert "Hypotheses of the conclusion:" in explained
    assert "  as printed: all conditions can hold at once, at " in explained
    assert call("hypotheses", _QUICK, "--markdown") == 0
    page = capsys.readouterr().out
    _, section = page.split(f"### {_QUICK}\n", 1)
    assert "- false without it: " in section
    assert "- together: all conditions can hold at once, at " in section


@pytest.mark.parametrize("arguments", [["fmtt18.alg1"], ["nothing"], [_QUICK, "--markdown", "--json", "-"]])
def test_bad_input(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert call("hypotheses", *arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
