"""Ledger entries say what the audits found, with the library's own guarantees as claims."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from dpverify.auditing import (
    audit_constant,
    audit_mean,
    audit_privacy,
    audit_queries,
    complexity_entry,
    constant_entry,
    fit_rate,
    privacy_entry,
    rate_entry,
    risk_entry,
)
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Interval, Verdict
from dpverify.privacy import GDP, Adjacency, parse_claim
from dpverify.reports.summary import audit_text, is_measurement


@pytest.mark.parametrize(
    ("claim", "true_for_the_pair"),
    [
        ("eps=1", False),
        ("eps=1,delta=0.2", True),
        ("mu=1", True),
        ("mu=0.8", False),
        ("rho=0.5", True),
        ("rho=0.2", False),
        ("order=2,rdp=1", True),
    ],
)
def test_every_kind_of_claim(claim: str, true_for_the_pair: bool) -> None:
    """A Gaussian pair with mu = 1; chance of a false alarm 1e-6 each."""
    rng = np.random.default_rng(1)
    left, right = rng.normal(0, 1, 60_000), rng.normal(1, 1, 60_000)
    audit = audit_privacy(
        left, right, parse_claim(claim), adjacency="replace-one", failure_probability=1e-6, seed=3
    )
    assert audit.verdict is (Verdict.SUPPORTED if true_for_the_pair else Verdict.VIOLATED)
    entry = privacy_entry(audit, subject="a:b", title="t", data="d", reproduce="r", best_known=GDP(1.0))
    assert entry.verdict is audit.verdict
    assert entry.claim == str(parse_claim(claim))
    assert (entry.seed, entry.runs, entry.failure_probability) == (3, 60_000, 1e-6)
    for point in entry.profile:
        assert point.delta_upper is not None
        assert point.delta_lower <= point.delta_upper
    assert type(entry).model_validate_json(entry.model_dump_json()) == entry


def test_randomized_response_at_its_own_claim() -> None:
    """The claim is attained exactly by outputs in {0, 1}; chance of a false alarm 1e-6."""
    rng = np.random.default_rng(2)
    left, right = rng.random(50_000) < expit(1.0), rng.random(50_000) < expit(-1.0)
    audit = audit_privacy(
        left, right, parse_claim("eps=1"), adjacency="replace-one", failure_probability=1e-6, seed=3
    )
    assert audit.verdict is Verdict.SUPPORTED
    assert 0.9 < audit.epsilon_lower <= 1


def test_the_other_entries() -> None:
    values = np.random.default_rng(3).random(500)
    mean = audit_mean(values, bound=0.6, lower=0, upper=1, failure_probability=1e-3)
    risk = risk_entry(mean, subject="s", title="t", data="d", quantity="q", claim="c", seed=3, reproduce="r")
    assert (risk.verdict, risk.measured, risk.bound) == (Verdict.SUPPORTED, mean.measured, 0.6)
    assert "would have been found" in risk.reason
    fit = fit_rate([1, 10], [Interval(lower=1, upper=1), Interval(lower=0.0, upper=0.1)], -1.0)
    rate = rate_entry(
        fit, subject="s", title="t", over="n", runs=5, failure_probability=0.1, seed=3, reproduce="r"
    )
    assert rate.exponent.lower == -np.inf
    assert type(rate).model_validate_json(rate.model_dump_json()) == rate
    queries = audit_queries([4, 5], 4)
    count = complexity_entry(
        queries, subject="s", title="t", data="d", oracle="gradient", claim="= n T", seed=3, reproduce="r"
    )
    assert (count.counted, count.claimed, count.verdict) == (5, 4, Verdict.VIOLATED)


def test_every_privacy_verdict_names_the_adjacency() -> None:
    """Chance of a false alarm 1e-6 each."""
    rng = np.random.default_rng(4)
    left, right = rng.normal(0, 1, 4000), rng.normal(1, 1, 4000)
    for adjacency, named in (
        (Adjacency.ADD_REMOVE_ONE, "add-or-remove-one"),
        ("households", "households"),
    ):
        for claim, verdict in (("mu=1", "supported"), ("eps=0.1", "violated"), ("eps=30", "undecided")):
            audit = audit_privacy(
                left, right, parse_claim(claim), adjacency=adjacency, failure_probability=1e-6, seed=1
            )
            entry = privacy_entry(audit, subject="a:b", title="t", data="d", reproduce="r")
            assert (audit.verdict, entry.adjacency) == (verdict, named)
            assert f"neighbors: {named}" in audit.reason
            assert f"neighbors: {named}" in audit_text(entry)
            assert f'"adjacency":"{named}"' in entry.model_dump_json()
    with pytest.raises(InvalidArgumentError, match="adjacency"):
        audit_privacy(left, right, GDP(1.0), adjacency="", failure_probability=1e-6, seed=1)


def test_entries_of_constants() -> None:
    for extreme, smallest, largest in (("smallest", 2.0, None), ("largest", None, 1.0)):
        audit = audit_constant(Interval(lower=1.0, upper=2.0), extreme=extreme, printed=None)
        entry = constant_entry(
            audit,
            formula="c",
            latex="",
            parameters={},
            range_fixed_by="a grid",
            method="m",
            subject="s",
            title="t",
            reproduce="r",
        )
        assert (entry.smallest, entry.largest, entry.printed) == (smallest, largest, None)
        assert is_measurement(entry)
