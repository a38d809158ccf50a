"""Printed constants beside computed ones: the auditor says the word, and never more than the arithmetic allows."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpverify.auditing import audit_constant
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict


def _around(rigorous: bool = False) -> Interval:
    return Interval(lower=1.9, upper=2.1, rigorous=rigorous)


@pytest.mark.parametrize(
    ("extreme", "printed", "decisive", "rigorous", "verdict"),
    [
        ("smallest", 2.1, False, False, Verdict.SUPPORTED),
        ("smallest", 2.0, False, False, Verdict.UNDECIDED),
        ("smallest", 1.0, False, False, Verdict.UNDECIDED),
        ("smallest", 1.0, True, False, Verdict.UNDECIDED),
        ("smallest", 3.0, False, True, Verdict.CERTIFIED),
        ("smallest", 1.0, False, True, Verdict.UNDECIDED),
        ("smallest", 1.0, True, True, Verdict.REFUTED),
        ("smallest", 2.0, True, True, Verdict.UNDECIDED),
        ("largest", 1.9, False, False, Verdict.SUPPORTED),
        ("largest", 2.0, False, False, Verdict.UNDECIDED),
        ("largest", 3.0, False, False, Verdict.UNDECIDED),
        ("largest", 1.0, False, True, Verdict.CERTIFIED),
        ("largest", 3.0, True, True, Verdict.REFUTED),
        ("smallest", None, True, True, Verdict.UNDECIDED),
    ],
)
def test_verdicts(
    extreme: Any, printed: float | None, decisive: bool, rigorous: bool, verdict: Verdict
) -> None:
    audit = audit_constant(_around(rigorous), extreme=extreme, printed=printed, decisive=decisive)
    assert audit.verdict is verdict
    assert audit.provable == (2.1 if extreme == "smallest" else 1.9)
    if printed is not None:
        assert extreme in audit.reason


def test_what_has_to_hold_besides() -> None:
    audit = audit_constant(
        _around(), extreme="smallest", printed=3.0, requires={"the net covers": False, "it ends": True}
    )
    assert audit.verdict is Verdict.VIOLATED
    assert "the net covers" in audit.reason
    assert "it ends" not in audit.reason
    kept = audit_constant(_around(), extreme="smallest", printed=3.0, requires={"the net covers": True})
    assert kept.verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    "change",
    [
        {"provable": Interval(lower=2, upper=1)},
        {"provable": Interval(lower=0, upper=math.inf)},
        {"provable": Interval(lower=math.nan, upper=1)},
        {"extreme": "best"},
        {"printed": math.nan},
        {"printed": math.inf},
    ],
)
def test_bad_arguments(change: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"provable": _around(), "extreme": "smallest", "printed": 1.0, **change}
    with pytest.raises(InvalidArgumentError):
        audit_constant(arguments.pop("provable"), **arguments)
