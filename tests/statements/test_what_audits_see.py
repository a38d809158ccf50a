"""What privacy audits see: mended pairs flag a quarter of the noise, and where none can, the row says why."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpverify.algorithms.bst14.convex_sampling import EfficientExponentialSampling
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.auditing import PrivacyQuestion
from dpverify.auditing.subjects import OnPair
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.problems import Ball, Box, Linear, Problem, opposite_linear
from dpverify.running import Executor
from dpverify.statements.bst14.audits.cases import CellLaws
from dpverify.statements.mn25.audits.cases import OneStep
from dpverify.statements.paper import papers
from dpverify.statements.plans import Plan, Profile
from dpverify.verification.audits import AuditSettings, carry_out
from dpverify.views.audits import privacy_rows

PLANS: dict[str, Plan] = {plan.name: plan for paper in papers().values() for plan in paper.plans}
SETTINGS = AuditSettings(Profile.QUICK, 0, Executor.parse("serial"))
PAIR = opposite_linear(4, 1, 4)


def _audited(name: str) -> PrivacyEvidence:
    (entry,) = carry_out(PLANS[name], SETTINGS, 4e-6)
    assert isinstance(entry, PrivacyEvidence)
    return entry


@pytest.mark.parametrize(
    "name",
    [
        "bst14.alg4/walk/worst-case",
        "bst14.alg-cube/diabetes",
        "bst14.alg6/breast-cancer",
        "bst14.alg-boost/worst-case",
        "mn25.sco-to-erm/breast-cancer",
        "mn25.sco-to-erm/diabetes",
    ],
)
def test_a_quarter_of_the_noise_is_flagged_on_a_telling_pair(name: str) -> None:
    """Seeded; a right mechanism is called violated with probability at most 4e-6. On earlier pairs nothing was seen."""
    entry = _audited(name)
    assert entry.verdict is Verdict.SUPPORTED
    assert entry.smallest_fault is not None
    assert entry.epsilon_lower > 0


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("bst14.alg3/known-law", 0.98),
        ("bst14.alg8/known-law", 0.95),
        ("bst14.alg-objpert/known-law", 0.95),
        ("gll22.lower-instance/known-law", 0.99),
        ("gll22.rem/whole-data", 0.99),
        ("mn25.alg4/known-law", 0.99),
        ("mn25.alg5/known-law", 0.93),
    ],
)
def test_a_known_law_shows_nearly_all_that_is_proved(name: str, least: float) -> None:
    """The law is computed; that outputs contradict it happens with probability at most 4e-6."""
    entry = _audited(name)
    assert (entry.verdict, entry.white_box, entry.smallest_fault) == (Verdict.SUPPORTED, True, 2.0)
    assert entry.stated_law
    assert "compared with the stated law" in dict(privacy_rows(entry))["runs"]
    assert entry.epsilon_proved is not None
    assert least * entry.epsilon_proved < entry.epsilon_lower <= entry.epsilon_proved


@pytest.mark.parametrize(
    "name",
    [
        "bst14.alg7/breast-cancer",
        "bst14.alg7/worst-case",
        "mn25.erm-to-sco/worst-case",
    ],
)
def test_a_claim_that_no_audit_could_break_says_by_how_much_it_is_loose(name: str) -> None:
    """Seeded; a right mechanism is called violated with probability at most 4e-6."""
    entry = _audited(name)
    assert (entry.verdict, entry.gap, entry.detects_nothing) == (Verdict.UNDECIDED, Gap.LOOSE_CLAIM, True)
    assert entry.epsilon_exact is not None
    assert entry.epsilon_claimed is not None
    assert entry.epsilon_lower <= entry.epsilon_exact.upper
    times = entry.epsilon_claimed / entry.epsilon_exact.upper
    assert times > 4
    assert f"{times:.3g} times as much as this pair needs" in entry.reason


@pytest.mark.parametrize(
    "name", ["bst14.alg-cube/diabetes", "bst14.alg7/worst-case", "mn25.erm-to-sco/worst-case"]
)
def test_weakened_mechanisms_are_known_to_need_more(name: str) -> None:
    audit = PLANS[name].build(Profile.QUICK)
    pair, question = audit.subject, audit.question
    assert isinstance(pair, OnPair)
    assert isinstance(question, PrivacyQuestion)
    assert pair.exact is not None
    assert pair.exact_weakened is not None
    delta = getattr(question.stated.guarantee, "delta", 0.0)
    own, twice, four = pair.exact(delta), pair.exact_weakened(2.0, delta), pair.exact_weakened(4.0, delta)
    assert 0 < own.upper < twice.lower <= twice.upper < four.lower


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_a_walk_on_opposite_linear_losses_needs_what_its_outermost_cells_need(factor: float) -> None:
    """There both laws have one normalizing constant: log-ratios are 2 scale x at the cells' centers x."""
    for sampler, scale in (
        (EfficientExponentialSampling(Problem(Linear(), Box.cube(1, 1.0)), 2.0), 2.0 / 12),
        (GridWalk(Problem(Linear(), Box.cube(1, 1.0)), 0.45, 0.1), 0.45),
    ):
        laws = CellLaws(sampler, PAIR.left, PAIR.right)
        found = laws(0.0) if factor == 1 else laws.weakened(factor, 0.0)
        k = sampler.plan(4).cells_per_side
        # after the proven number of steps the walk is nearer than any rounding here shows
        assert found.lower <= 2 * factor * scale * (1 - 1 / k) <= found.upper
        assert found.upper - found.lower < 1e-6
        assert laws(0.1).lower == 0


@pytest.mark.parametrize("factor", [1.0, 4.0, 40.0])
@pytest.mark.parametrize("delta", [0.0, 2.718e-5, 0.003])
def test_one_step_on_a_drawn_record_by_quadrature(factor: float, delta: float) -> None:
    """The hockey-stick divergence of the projected mixtures, atoms and density apart, at both ends."""
    n = 8
    solver = NoisyGradientDescent(Problem(Linear(), Ball(1, 1.0)), 1 / 6, 1e-5, steps=1)
    found = OneStep(solver, n, factor)(delta)
    rate = solver.rate(n, 1)
    spread = rate * solver.noise_stddev(n) / factor
    x = np.linspace(-1, 1, 200_001)

    def law(sign: float) -> tuple[np.ndarray, float, float]:
        parts = ((1 - 1 / n, 0.0), (1 / n, sign * rate * n))
        density = sum(w * norm.pdf(x, m, spread) for w, m in parts)
        below, above = (
            sum(w * tail(end, m, spread) for w, m in parts) for tail, end in ((norm.cdf, -1), (norm.sf, 1))
        )
        return density, float(below), float(above)

    def divergence(epsilon: float) -> float:
        (p, *p_atoms), (q, *q_atoms) = law(1.0), law(-1.0)
        factor_of = math.exp(epsilon)
        middle = np.trapezoid(np.maximum(p - factor_of * q, 0), x)
        return float(middle) + sum(max(a - factor_of * b, 0) for a, b in zip(p_atoms, q_atoms, strict=True))

    assert divergence(found.upper) <= delta + 1e-9
    if found.lower > 0:
        assert divergence(found.lower * (1 - 1e-6)) > delta - 1e-9


def test_the_enclosure_of_one_step_is_an_interval() -> None:
    solver = NoisyGradientDescent(Problem(Linear(), Ball(1, 1.0)), 1 / 6, 1e-5, steps=1)
    assert isinstance(OneStep(solver, 2)(0.5), Interval)
    assert OneStep(solver, 2)(0.5).lower == 0
