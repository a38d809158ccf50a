"""Plans about expectations and laws, carried out: right claims stand, wrong ones fall, idle ones say so."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from dpverify.auditing import Bound, CountQuestion, LawQuestion
from dpverify.auditing.subjects import CountedRuns, LawOf, RiskOf, ValuesOf
from dpverify.ledger.evidence import ComplexityEvidence, MeanEvidence, RiskEvidence, SamplingEvidence
from dpverify.ledger.origins import Unstated
from dpverify.ledger.verdicts import Verdict
from dpverify.problems import Ball, Dataset, Linear, Problem
from dpverify.reports import ledger_rows, render_html
from dpverify.reports.plots import mean_plot
from dpverify.running import Executor, Output, Randomness, Runs
from dpverify.statements.plans import COUNT, LAW, MEAN, RISK, Along, Audit, Plan, Profile
from dpverify.verification.audits import AuditSettings, carry_out
from dpverify.views.run import audit_text

from ..reports.ledger_example import example_ledger

DATA = Dataset(np.full((4, 1), 0.5), np.ones(4))
SETTINGS = AuditSettings(Profile.QUICK, 5, Executor.parse("serial"))
FAILURE_PROBABILITY = 1e-6


def uniform(data: Dataset, *, rng: Randomness, runs: int) -> Output:
    """Numbers uniform on [0, 1)."""
    return Output(rng.uniform((runs, 1), "point"), value_queries=3, linear_minimizations=1)


def normal(data: Dataset, *, rng: Randomness, runs: int) -> Output:
    """Standard normal numbers."""
    return Output(rng.normal((runs, 1), "point"))


def first(runs: Runs) -> Any:
    """The numbers of the runs."""
    return runs.points[:, 0]


def mean(*bounds: float, at_least: bool = False) -> MeanEvidence:
    cases = tuple(
        (
            Bound(
                bound=bound,
                claim="a bound",
                data="none",
                runs=5000,
                at_least=at_least,
                size=float(size),
                origin=Unstated("a test"),
            ),
            ValuesOf(uniform, DATA, first, 0.0, 1.0, "mean"),
        )
        for size, bound in enumerate(bounds, 1)
    )
    plan = Plan("test/mean", "bst14.alg1", "Mean", MEAN, Along(lambda _: cases, over="n"))
    assert plan.auditor.spends
    (entry,) = carry_out(plan, SETTINGS, FAILURE_PROBABILITY)
    assert isinstance(entry, MeanEvidence)
    return entry


# the interval's half-width is below 0.03 at 5000 runs and 1e-6
@pytest.mark.parametrize(
    ("bound", "at_least", "verdict"),
    [
        (0.6, False, Verdict.SUPPORTED),
        (0.4, False, Verdict.VIOLATED),
        (0.4, True, Verdict.SUPPORTED),
        (0.6, True, Verdict.VIOLATED),
        (1.5, False, Verdict.UNDECIDED),
        (0.0, True, Verdict.UNDECIDED),
        (math.inf, False, Verdict.UNDECIDED),
        (-math.inf, True, Verdict.UNDECIDED),
    ],
)
def test_expectations(bound: float, at_least: bool, verdict: Verdict) -> None:
    entry = mean(bound, at_least=at_least)
    assert entry.verdict is verdict
    assert entry.bound == bound
    assert entry.at_least == at_least
    assert entry.measured.lower <= 0.5 <= entry.measured.upper


def test_one_broken_bound_of_a_curve_is_enough() -> None:
    entry = mean(0.6, 0.4, 0.7)
    assert entry.verdict is Verdict.VIOLATED
    assert entry.bound == 0.4
    assert [point[3] for point in entry.curve] == [0.6, 0.4, 0.7]
    assert [share.path for share in entry.shares] == [("case 1",), ("case 2",), ("case 3",)]
    assert sum(Fraction(share.failure_probability) for share in entry.shares) <= Fraction(FAILURE_PROBABILITY)


@pytest.mark.parametrize(
    ("mechanism", "blind", "verdict"),
    [
        (normal, uniform, Verdict.SUPPORTED),
        (normal, normal, Verdict.UNDECIDED),
        (normal, None, Verdict.UNDECIDED),
        (uniform, uniform, Verdict.VIOLATED),
    ],
)
def test_laws(mechanism: Any, blind: Any, verdict: Verdict) -> None:
    question = LawQuestion(
        reference=norm.cdf,
        reference_error=0.0,
        distance="total variation",
        bound=0.0,
        claim="standard normal",
        origin=Unstated("a test"),
        statistic_name="the number",
        data="none",
        runs=5000,
    )
    audit = Audit(question, LawOf(mechanism, DATA, lambda points: points[:, 0], blind=blind))
    plan = Plan("test/law", "bst14.alg2", "Law", LAW, lambda _: audit)
    (entry,) = carry_out(plan, SETTINGS, FAILURE_PROBABILITY)
    assert isinstance(entry, SamplingEvidence)
    assert entry.verdict is verdict
    assert entry.detects_nothing == (verdict is Verdict.UNDECIDED)
    assert entry.blind_rejected == (None if blind is None else blind is uniform)


@pytest.mark.parametrize(
    ("oracle", "claimed", "verdict"),
    [
        ("value", 3, Verdict.SUPPORTED),
        ("value", 2, Verdict.VIOLATED),
        ("linear minimization", 1, Verdict.SUPPORTED),
        ("projection", 0, Verdict.SUPPORTED),
    ],
)
def test_every_oracle_is_counted(oracle: Any, claimed: int, verdict: Verdict) -> None:
    question = CountQuestion(claimed, "a count", "none", oracle=oracle, origin=Unstated("a test"))
    audit = Audit(question, CountedRuns(uniform, DATA))
    (entry,) = carry_out(Plan("test/count", "bst14.alg2", "Count", COUNT, lambda _: audit), SETTINGS, 0.0)
    assert isinstance(entry, ComplexityEvidence)
    assert entry.verdict is verdict
    assert entry.oracle == oracle


@pytest.mark.parametrize("bound", [0.9, 1.1, 3.0])
def test_a_risk_bound_that_no_run_could_break_is_no_evidence(bound: float) -> None:
    problem = Problem(Linear(), Ball(1, 1.0))
    case = (
        Bound(bound, "a bound", "none", 1000, origin=Unstated("a test")),
        RiskOf(uniform, problem, DATA, total=False),
    )  # the risk of 0.5 w on [-1, 1] is at most 1 above its minimum; the Lipschitz constant alone allows 2
    plan = Plan("test/risk", "bst14.alg1", "Risk", RISK, Along(lambda _: (case,)))
    (entry,) = carry_out(plan, SETTINGS, FAILURE_PROBABILITY)
    assert isinstance(entry, RiskEvidence)
    assert entry.verdict is (Verdict.SUPPORTED if bound < 1 else Verdict.UNDECIDED)
    assert entry.detects_nothing == (bound > 1)
    assert entry.extreme is not None
    assert entry.extreme.lower <= 1 <= entry.extreme.upper < 1.001


def risks(*bounds: float) -> RiskEvidence:
    """Of 0.5 w at uniform points of [-1, 1]: at most 1 above the minimum, and 0.5 in expectation."""
    problem = Problem(Linear(), Ball(1, 1.0))
    cases = tuple(
        (
            Bound(bound, "a bound", "none", 1000, size=float(size), origin=Unstated("a test")),
            RiskOf(uniform, problem, DATA, total=False),
        )
        for size, bound in enumerate(bounds, 1)
    )
    plan = Plan("test/risk", "bst14.alg1", "Risk", RISK, Along(lambda _: cases, over="n"))
    (entry,) = carry_out(plan, SETTINGS, FAILURE_PROBABILITY)
    assert isinstance(entry, RiskEvidence)
    return entry


def test_vacuous_bounds_are_shown_as_vacuous() -> None:
    sound, empty, mixed = risks(0.9), risks(1.1), risks(2.0, 0.9, 1.1)
    assert [entry.vacuous for entry in (sound, empty, mixed)] == [False, True, False]
    assert mixed.vacuous_on_curve() == (True, False, True)
    assert "vacuous" not in audit_text(sound)
    assert audit_text(empty).endswith("the bound is 1.1, vacuous: nothing above 1.001 is possible (none)")
    assert audit_text(mixed).endswith("the bound is 0.9, vacuous at n = 1, 3 (none)")
    drawn = mean_plot(mixed, "r")
    assert [row[-1] for row in drawn.rows] == ["2 (vacuous)", "0.9", "1.1 (vacuous)"]
    assert (
        "1.1 (vacuous)"
        in mean_plot(empty.model_copy(update={"curve": (), "curve_extremes": ()}), "r").drawing
    )
    page = render_html(example_ledger().model_copy(update={"entries": (sound, empty, mixed)}))
    assert re.findall(r"</strong>, (vacuous[^<]*)\.</p>", page) == [
        "vacuous: nothing above 1.001 is possible",
        "vacuous at n = 1, 3",
    ]
    assert [row["vacuous"] for row in ledger_rows(example_ledger().model_copy(update={"entries": (empty, sound)}))] == [
        True, False,
    ]  # fmt: skip


def test_an_older_ledger_calls_no_point_of_a_curve_vacuous() -> None:
    tree = risks(2.0, 0.9).model_dump(mode="json")
    del tree["curve_extremes"]
    assert RiskEvidence.model_validate(tree).vacuous_on_curve() == (False, False)
    with pytest.raises(ValueError, match="curve_extremes"):
        RiskEvidence.model_validate({**tree, "curve_extremes": [1.0]})


@pytest.mark.parametrize("broken", [None, 0, 1, 2])
def test_one_broken_risk_bound_of_a_curve_is_enough(broken: int | None) -> None:
    problem = Problem(Linear(), Ball(1, 1.0))
    bounds = [0.9 if i != broken else 0.01 for i in range(3)]
    cases = tuple(
        (
            Bound(bound, "a bound", "none", 1000, size=float(i), origin=Unstated("a test")),
            RiskOf(uniform, problem, DATA, total=False),
        )
        for i, bound in enumerate(bounds)
    )
    plan = Plan("test/risk", "bst14.alg1", "Risk", RISK, Along(lambda _: cases, over="size"))
    (entry,) = carry_out(plan, SETTINGS, FAILURE_PROBABILITY)
    assert isinstance(entry, RiskEvidence)
    assert entry.verdict is (Verdict.SUPPORTED if broken is None else Verdict.VIOLATED)
    assert entry.bound == min(bounds)
    assert [point[3] for point in entry.curve] == bounds
    assert sum(Fraction(share.failure_probability) for share in entry.shares) <= Fraction(FAILURE_PROBABILITY)
    assert len(entry.shares) == 3
