"""Rules about verdicts live in the auditors: plans type none, and the job that carries them out edits none."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpverify.statements
from dpverify.auditing import (
    BoundsQuestion,
    ConstantQuestion,
    CountQuestion,
    LawQuestion,
    PrivacyQuestion,
)
from dpverify.auditing.requests import audits as requests
from dpverify.auditing.subjects import OnPair
from dpverify.ledger.audits import ClaimForm
from dpverify.ledger.evidence import ConstantEvidence, PrivacyEvidence
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.privacy import GDP, Adjacency, StatedGuarantee
from dpverify.problems import Dataset
from dpverify.running import Executor, Output, Randomness
from dpverify.statements.plans import CONSTANT, PRIVACY, Audit, Plan, Profile
from dpverify.verification import audits, job
from dpverify.verification.audits import AuditSettings, carry_out

SETTINGS = AuditSettings(Profile.QUICK, 5, Executor.parse("serial"))


QUESTIONS = (BoundsQuestion, ConstantQuestion, CountQuestion, LawQuestion, PrivacyQuestion)


def _names(tree: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("module", [audits, job, requests])
def test_the_job_edits_no_verdict(module: Any) -> None:
    """No verdict is named, and none is given: neither as an argument nor as a field of what is copied."""
    tree = ast.parse(inspect.getsource(module))
    assert not _names(tree) & {"Verdict", "model_construct", "__setattr__", "setattr"}
    given = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    keys = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not (given | keys) & {"verdict", "detects_nothing"}


def test_no_plan_types_a_verdict() -> None:
    folder = Path(next(iter(dpverify.statements.__path__)))
    files = [
        *folder.glob("*/audits/*.py"),
        *folder.glob("audit_*.py"),
        folder / "plans.py",
        folder / "real_size.py",
    ]
    assert len(files) > 15
    for file in files:
        assert "Verdict" not in _names(ast.parse(file.read_text())), file
    assert "verdict" not in {field.name for question in QUESTIONS for field in fields(question)}


def _constant(**changes: Any) -> ConstantEvidence:
    asked: dict[str, Any] = {
        "formula": "sigma = c L",
        "provable": Interval(lower=1.5, upper=1.6),
        "extreme": "smallest",
        "printed": 2.0,
        "parameters": {"n": "10"},
        "range_fixed_by": "a closed form",
        "method": "by hand",
        "origin": AsPrinted("bst14.alg1", "c = 2", "every n"),
        **changes,
    }
    audit = Audit(ConstantQuestion(**asked))
    plan = Plan("test/constant", "bst14.alg1", "A constant", CONSTANT, lambda _: audit)
    (entry,) = carry_out(plan, SETTINGS, 0.0)
    assert isinstance(entry, ConstantEvidence)
    return entry


def test_constants() -> None:
    entry = _constant()
    assert (entry.verdict, entry.smallest, entry.largest, entry.printed) == (
        Verdict.SUPPORTED,
        1.6,
        None,
        2.0,
    )
    assert entry.origin is not None
    assert (entry.origin.form, entry.origin.printed, entry.origin.holds_for) == (
        ClaimForm.AS_PRINTED,
        "c = 2",
        "every n",
    )
    assert entry.range_fixed_by == "a closed form"
    assert _constant(printed=1.0).verdict is Verdict.UNDECIDED
    largest = _constant(extreme="largest", printed=1.0)
    assert (largest.verdict, largest.smallest, largest.largest) == (Verdict.SUPPORTED, None, 1.5)


class Shifted:
    """The first record's first feature with Gaussian noise."""

    def __init__(self, stddev: float) -> None:
        self.stddev = stddev

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        return Output(data.features[0, 0] + self.stddev * np.asarray(rng.normal((runs, 1), "noise")))


@pytest.mark.parametrize(("distance", "fault"), [(1.0, 2.0), (0.01, None)])
def test_privacy_plans_run_weakened_mechanisms(distance: float, fault: float | None) -> None:
    """An eighth of the noise on a blind pair passes as well, and neither is supported; 1e-6 for a false alarm."""
    for stddev in (1.0, 0.125) if fault is None else (1.0,):
        audit = Audit(
            PrivacyQuestion(
                StatedGuarantee(GDP(1.0), Adjacency.REPLACE_ONE),
                "none",
                4000,
                origin=Corrected("bst14.thm2.1", "mu = 2", "for a test", "this pair"),
            ),
            OnPair(
                Shifted(stddev),
                Dataset([[0.0]], [1.0]),
                Dataset([[distance]], [1.0]),
                weakened=lambda k, stddev=stddev: Shifted(stddev / k),
                fault="noise divided by",
            ),
        )
        plan = Plan("test/privacy", "bst14.alg1", "Noise", PRIVACY, lambda _, audit=audit: audit)
        (entry,) = carry_out(plan, SETTINGS, 1e-6)
        assert isinstance(entry, PrivacyEvidence)
        assert entry.smallest_fault == fault
        assert entry.fault == "noise divided by"
        assert entry.detects_nothing == (fault is None)
        assert entry.gap is (Gap.BLIND_AUDIT if fault is None else None)
        assert entry.verdict is (Verdict.UNDECIDED if fault is None else Verdict.SUPPORTED)
        assert entry.origin is not None
        assert entry.origin.because == "for a test"
        assert entry.claim_source == "bst14.thm2.1"
        assert "replace-one" in entry.reason
