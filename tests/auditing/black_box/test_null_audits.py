"""True claims are seldom called violated: a small version of `make null-audits`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

from dpverify.privacy import PureDP
from dpverify.running import single_noise

_FILE = Path(__file__).parents[2] / "benchmarks" / "null_audits.py"
_SPEC = importlib.util.spec_from_file_location("null_audits", _FILE)
assert _SPEC is not None
assert _SPEC.loader is not None
null_audits: Any = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = null_audits  # data classes look their module up
_SPEC.loader.exec_module(null_audits)

ROWS = dict(null_audits.rows())


def test_every_law_is_in_every_kind_of_audit() -> None:
    assert len(ROWS) == 2 * len(null_audits.LAWS) + 4 + 2 * len(null_audits.ONE_RUN)


def test_true_claims_are_kept() -> None:
    """One audit a row at 1e-4, of sequential ones a few: with at most 44, two alarms have probability 1e-5."""
    assert binom.sf(1, len(ROWS), 1e-4) < 1e-5
    few = ("Laplace, ", "ties, ", "text and None, ")
    chosen = [row for name, row in ROWS.items() if "sequential" not in name or name.startswith(few)]
    assert sum(audit(0, 1e-4) for audit in chosen) <= 1


def test_a_false_claim_would_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the true epsilon, and structures that are farther apart than what is called true."""
    law = null_audits.Law("wrong", null_audits._laplace, PureDP(0.3))
    assert null_audits.batch(law, 0, 0.01)
    assert null_audits.sequential(law, 0, 0.01)
    apart = (single_noise(0.0, 1.0), single_noise(3.0, 1.0))
    monkeypatch.setattr(
        null_audits, "_gaussian", lambda rng, runs: (rng.normal(size=runs), rng.normal(3.0, size=runs))
    )
    assert null_audits.white_box(apart, 0.1, 0, 0.01)
