"""An auditor, its evidence and its view, written as somebody else would: in a file of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.auditing import ErrorShare, Label, Question, clopper_pearson_lower
from dpverify.auditing.subjects import FixedSubject
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.audits import AuditEvidence, ForeignEvidence, SampledEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.verdicts import Verdict
from dpverify.properties import check_audit
from dpverify.reports import ledger_json, parse_ledger, render_html, render_markdown, summary_lines
from dpverify.running import Executor
from dpverify.statements.plans import Audit, Plan, Profile
from dpverify.verification import VerificationSettings, verify
from dpverify.verification.audits import AuditSettings, carry_out
from dpverify.views.audits import AuditView, register


@dataclass(frozen=True)
class HeadsQuestion(Question):
    """Does a coin fall on heads at most so often?"""

    at_most: float
    tosses: int


class HeadsEvidence(SampledEvidence):
    """How often it did."""

    kind: Literal["acme.heads"] = "acme.heads"
    heads: int
    at_most: float


@dataclass
class Coin:
    """Heads with a probability."""

    heads: float

    def toss(self, count: int) -> NDArray[np.bool_]:
        return np.random.default_rng(5).random(count) < self.heads


@dataclass(frozen=True)
class HeadsAuditor:
    """Counts heads."""

    spends: ClassVar[bool] = True

    def audit(self, question: HeadsQuestion, subject: Coin, error: ErrorShare) -> HeadsEvidence:
        heads = int(subject.toss(question.tosses).sum())
        level = error.spend("the count of heads")
        wrong = clopper_pearson_lower(heads, question.tosses, level) > question.at_most
        return HeadsEvidence(
            **question.over_entry(),
            verdict=Verdict.VIOLATED if wrong else Verdict.SUPPORTED,
            reason=f"{heads} heads in {question.tosses} tosses",
            heads=heads,
            at_most=question.at_most,
            runs=question.tosses,
            failure_probability=level,
            shares=error.spent(),
            seed=question.label.seed,
        )


class HeadsView(AuditView):
    """In words."""

    kind = "acme.heads"
    noun = "audit of a coin"
    nouns = "audits of a coin"

    def finding(self, evidence: HeadsEvidence) -> tuple[str, ...]:
        return (f"{evidence.heads} <heads>, of which at most a part of {evidence.at_most:g} is claimed",)

    def facts(self, evidence: HeadsEvidence) -> list[tuple[str, str]]:
        return [("Coin", "& only one")]


register(HeadsView())


def plan(heads: float) -> Plan:
    """A coin that is said to fall on heads at most half the time."""
    question = HeadsQuestion(at_most=0.5, tosses=1000)
    return Plan(
        "acme/coin",
        "acme.coin",
        "A coin",
        HeadsAuditor(),
        lambda _: Audit(question, FixedSubject(Coin(heads))),
    )


def entry(heads: float) -> AuditEvidence:
    settings = AuditSettings(Profile.QUICK, 5, Executor.parse("serial"))
    (found,) = carry_out(plan(heads), settings, 1e-6)
    return found


def ledger_of(*entries: AuditEvidence) -> Ledger:
    empty, _ = verify(VerificationSettings(only=("fmtt18.alg1/queries",)))
    return empty.model_copy(update={"entries": (*empty.entries, *entries)})


# 1e-6 for a false alarm; with nine heads of ten the audit is sure to see it in 1000 tosses
def test_a_ledger_row() -> None:
    found = entry(0.9)
    assert isinstance(found, HeadsEvidence)
    assert (found.verdict, found.subject, found.seed) == (Verdict.VIOLATED, "acme.coin", 5)
    assert "--only acme/coin" in found.reproduce
    assert [share.why for share in found.shares] == ["the count of heads"]
    assert found.seconds >= 0
    ledger = ledger_of(found)
    again = parse_ledger(ledger_json(ledger))
    assert again == ledger
    assert isinstance(again.entries[-1], HeadsEvidence)


def test_a_report_card() -> None:
    page = render_html(ledger_of(entry(0.4), entry(0.9)))
    assert "acme.heads audit" in page
    assert "&lt;heads&gt;, of which at most a part of 0.5 is claimed" in page
    assert "<dt>Coin</dt><dd>&amp; only one</dd>" in page
    assert "<dt>Seed</dt><dd>5</dd>" in page
    lines = [line.text for line in summary_lines(ledger_of(entry(0.4), entry(0.9)))]
    assert "2 audits of a coin, of which 2 could have found a violation; 0 see nothing here" in lines
    assert any(line.startswith("acme.coin: ") and "heads" in line for line in lines)
    assert "acme.coin" in render_markdown(ledger_of(entry(0.9)))


def test_a_failure_message() -> None:
    question = HeadsQuestion(at_most=0.5, tosses=1000, label=Label("acme.coin", "A coin", "toss", 5))
    assert check_audit(HeadsAuditor(), question, Coin(0.4)).verdict is Verdict.SUPPORTED
    with pytest.raises(AssertionError) as failed:
        check_audit(HeadsAuditor(), question, Coin(0.9))
    first, second, last = str(failed.value).splitlines()
    assert first.startswith("acme.coin: A coin is violated. ")
    assert "heads in 1000 tosses" in first
    assert second == "1000 runs, seed 5, failure probability 1e-06, spent: 1e-06 on the count of heads"
    assert last == "reproduce: toss"


def test_a_ledger_is_read_where_the_kind_is_not_loaded() -> None:
    text = ledger_json(ledger_of(entry(0.9))).replace("acme.heads", "acme.tails")
    ledger = parse_ledger(text)
    assert isinstance(ledger.entries[-1], ForeignEvidence)
    assert json.loads(ledger_json(ledger)) == json.loads(text)
    page = render_html(ledger)
    assert "acme.tails audit" in page
    assert "heads in 1000 tosses" in page


def test_a_kind_is_taken_once() -> None:
    with pytest.raises(TypeError, match="'privacy' of Mine is taken by PrivacyEvidence"):

        class Mine(AuditEvidence):
            kind: Literal["privacy"] = "privacy"

    class Other(AuditView):
        kind = "privacy"

    for wrong in (Other(), AuditView(), "privacy"):
        with pytest.raises(InvalidArgumentError, match="view"):
            register(wrong)  # type: ignore[arg-type]
