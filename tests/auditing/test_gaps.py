"""Whatever an audit leaves undecided has one of the known reasons, and nothing else has one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpverify.auditing import (
    ConstantAuditor,
    ConstantQuestion,
    ErrorShare,
    audit_constant,
    audit_law,
    audit_mean,
    audit_privacy,
    fit_rate,
)
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.privacy import Adjacency, PureDP

VALUES = np.linspace(0.0, 1.0, 400)


def mean(**changes: Any) -> Any:
    asked = {"bound": 0.9, "lower": 0.0, "upper": 1.0, "failure_probability": 1e-6, **changes}
    return audit_mean(VALUES, **asked)


def constant(**changes: Any) -> Any:
    asked: dict[str, Any] = {"extreme": "smallest", "printed": 1.0, **changes}
    return audit_constant(asked.pop("provable", Interval(lower=1.5, upper=1.6)), **asked)


def rate(claimed: float, width: float, **changes: Any) -> Any:
    intervals = [Interval(lower=s / width, upper=s * width) for s in (10.0, 100.0, 1000.0)]
    return fit_rate([10.0, 100.0, 1000.0], intervals, claimed, **changes)


@pytest.mark.parametrize(
    ("audit", "gap"),
    [
        (lambda: mean(), None),
        (lambda: mean(bound=0.1), None),
        (lambda: mean(bound=math.inf), Gap.NOTHING_STATED),
        (lambda: mean(bound=1.0), Gap.BLIND_AUDIT),
        (lambda: mean(bound=0.99), Gap.TOO_FEW_RUNS),
        (lambda: constant(printed=2.0), None),
        (lambda: constant(printed=None), Gap.NOTHING_STATED),
        (lambda: constant(), Gap.PROOF_FALLS_SHORT),
        (lambda: constant(decisive=True), Gap.NOT_RIGOROUS),
        (lambda: constant(decisive=True, provable=Interval(lower=1.5, upper=1.6, rigorous=True)), None),
        (lambda: rate(1.0, 1.01), None),
        (lambda: rate(0.5, 1.01, asymptotic=True), Gap.HIDDEN_CONSTANT),
        (lambda: rate(1.0, 5.0), Gap.TOO_FEW_RUNS),
        (
            lambda: audit_law(
                VALUES, blind=None, reference=lambda x: np.clip(x, 0, 1), distance="total variation", bound=0.0,
                failure_probability=1e-6,
            ),
            Gap.BLIND_AUDIT,
        ),
        (
            lambda: audit_privacy(
                VALUES, VALUES[::-1], PureDP(30.0), adjacency=Adjacency.REPLACE_ONE, failure_probability=1e-6, seed=1
            ),
            Gap.TOO_FEW_RUNS,
        ),
    ],
)  # fmt: skip
def test_undecided_audits_have_a_reason_of_the_list(audit: Any, gap: Gap | None) -> None:
    found = audit()
    assert (found.gap is None) == (found.verdict is not Verdict.UNDECIDED)
    assert found.gap is gap


def test_the_reason_gets_into_the_entry() -> None:
    question = ConstantQuestion("c", Interval(lower=1.5, upper=1.6), "smallest", 1.0, {}, "", "")
    entry = ConstantAuditor().audit(question, None, ErrorShare.nothing())
    assert entry.gap is Gap.PROOF_FALLS_SHORT
