"""Audits of a sampler's law: their size, their power, and what is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, norm

from dpverify import checks
from dpverify.auditing import ErrorShare, LawAudit, LawAuditor, LawQuestion, audit_law
from dpverify.auditing.confidence import WASSERSTEIN_CELLS, wasserstein_interval
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.views.audits import SamplingView


def law(values: Any, **asked: Any) -> LawAudit:
    """An audit beside a blind sampler that no reference here comes near."""
    return audit_law(values, blind=np.full(len(values), 1e3), **asked)


EXACT: dict[str, Any] = {"distance": "total variation", "bound": 0.0}


def test_a_thousand_right_samplers_raise_few_alarms() -> None:
    alarms = 0
    for seed in range(1000):
        values = np.random.default_rng(seed).normal(size=500)
        found = law(values, reference=norm.cdf, failure_probability=0.05, **EXACT)
        alarms += found.verdict is Verdict.VIOLATED
    # at most binomial(1000, 0.05): 90 or more has probability 6e-8
    assert alarms < 90


def test_the_least_failure_probability_works() -> None:
    values = np.random.default_rng(3).normal(size=20_000)
    level = checks.LEAST_FAILURE_PROBABILITY
    assert law(values, reference=norm.cdf, failure_probability=level, **EXACT).measured.lower == 0
    shifted = law(values + 0.2, reference=norm.cdf, failure_probability=level, **EXACT)
    assert shifted.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("fault", ["shift", "scale", "projection"])
def test_a_wrong_law_is_found(fault: str) -> None:
    values = np.random.default_rng(3).normal(size=20_000)
    wrong = {"shift": values + 0.1, "scale": 1.2 * values, "projection": np.clip(values, -1.5, 1.5)}[fault]
    # each fault moves the distribution function by at least 0.033, twice the band of 0.0165 at this level
    assert law(wrong, reference=norm.cdf, failure_probability=1e-4, **EXACT).verdict is Verdict.VIOLATED
    right = law(values, reference=norm.cdf, failure_probability=1e-4, **EXACT)
    assert right.verdict is Verdict.SUPPORTED
    assert right.measured.lower == 0


def test_a_law_with_atoms_is_compared_at_and_before_them() -> None:
    values = np.random.default_rng(4).binomial(5, 0.5, size=5000)
    right = law(values, reference=lambda x: binom.cdf(x, 5, 0.5), failure_probability=1e-6, **EXACT)
    assert right.verdict is Verdict.SUPPORTED
    wrong = law(values, reference=lambda x: binom.cdf(x, 5, 0.6), failure_probability=1e-6, **EXACT)
    assert wrong.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("allowed", "verdict"), [(0.05, Verdict.VIOLATED), (0.2, Verdict.SUPPORTED)])
def test_total_variation_allows_what_it_says(allowed: float, verdict: Verdict) -> None:
    # a tenth of the runs is off by ten: the laws are 0.1 apart
    rng = np.random.default_rng(5)
    values = rng.normal(size=20_000) + 10.0 * (rng.random(20_000) < 0.1)
    found = law(
        values, reference=norm.cdf, distance="total variation", bound=allowed, failure_probability=1e-6
    )
    assert found.verdict is verdict
    assert found.measured.lower <= 0.1 <= found.measured.upper


@pytest.mark.parametrize(("allowed", "verdict"), [(0.3, Verdict.VIOLATED), (math.log(2), Verdict.SUPPORTED)])
def test_a_factor_allows_what_it_says(allowed: float, verdict: Verdict) -> None:
    # density 1/2 on [0, 1/2] and 3/2 on [1/2, 1] against the uniform law: off by a factor 2 one way, 1.5 the other
    rng = np.random.default_rng(6)
    values = np.where(rng.random(20_000) < 0.25, 0.0, 0.5) + 0.5 * rng.random(20_000)
    found = law(
        values,
        reference=lambda x: np.clip(x, 0, 1),
        distance="multiplicative",
        bound=allowed,
        failure_probability=1e-6,
    )
    assert found.verdict is verdict


def test_the_error_of_the_reference_widens_the_band() -> None:
    values = np.random.default_rng(7).normal(size=20_000) + 0.1
    found = law(values, reference=norm.cdf, reference_error=0.05, failure_probability=1e-4, **EXACT)
    assert found.verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"bound": math.nan}, InvalidArgumentError),
        ({"bound": -0.1}, InvalidArgumentError),
        ({"reference_error": -1.0}, InvalidArgumentError),
        ({"distance": "Wasserstein"}, InvalidArgumentError),
        ({"failure_probability": 0.0}, InvalidArgumentError),
        ({"failure_probability": 9.9e-16}, InvalidArgumentError),
        ({"failure_probability": 1e-320}, InvalidArgumentError),
        ({"values": np.array([1.0, math.nan])}, InvalidDataError),
        ({"values": np.ones((2, 2))}, InvalidDataError),
        ({"values": np.zeros(0)}, InvalidDataError),
        ({"reference": lambda x: 1 - norm.cdf(x)}, InvalidDataError),
        ({"reference": lambda x: 2 * norm.cdf(x)}, InvalidDataError),
        ({"reference": lambda x: 0.5}, InvalidDataError),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], error: type[Exception]) -> None:
    arguments = {
        "values": np.arange(10.0),
        "reference": norm.cdf,
        "distance": "multiplicative",
        "bound": 0.1,
        "failure_probability": 0.1,
        **change,
    }
    values = arguments.pop("values")
    with pytest.raises(error):
        audit_law(values, blind=None, **arguments)


def test_a_law_that_a_blind_sampler_passes_is_not_supported() -> None:
    # 500 runs at 1e-6 have a band of 0.12; uniform numbers are at most 0.06 from this law
    rng = np.random.default_rng(8)
    values, uniform = rng.beta(1.2, 1.0, 500), rng.random(500)
    asked: dict[str, Any] = {
        "reference": lambda x: np.clip(x, 0, 1) ** 1.2,
        "failure_probability": 1e-6,
        **EXACT,
    }
    seen = audit_law(values, blind=uniform, **asked)
    assert (seen.verdict, seen.blind_rejected, seen.detects_nothing) == (Verdict.UNDECIDED, False, True)
    assert seen.reason.startswith("sees nothing here")
    untried = audit_law(values, blind=None, **asked)
    assert (untried.verdict, untried.blind_rejected) == (Verdict.UNDECIDED, None)
    told = audit_law(values, blind=uniform**3, **asked)
    assert (told.verdict, told.blind_rejected, told.detects_nothing) == (Verdict.SUPPORTED, True, False)
    wrong = audit_law(values**3, blind=uniform, **asked)
    assert wrong.verdict is Verdict.VIOLATED
    with pytest.raises(InvalidArgumentError, match="blind"):
        audit_law(values, blind=uniform[:400], **asked)


def test_half_of_the_detectable_faults_are_found() -> None:
    """The reference is off by its error in the sampler's favor: 60 audits, 15 to 45 found but for 1e-4."""
    level, runs, error = 1e-3, 1000, 0.05
    asked: dict[str, Any] = {"reference_error": error, "failure_probability": level, **EXACT}
    # the truth is uniform on [0, 1]; the stated reference is above it by its error around 1/2
    stated = lambda x: np.clip(x, 0, 1) + error * (np.abs(np.asarray(x) - 0.5) < 0.45)  # noqa: E731
    stated_rising = lambda x: np.maximum.accumulate(np.clip(stated(x), 0, 1))  # noqa: E731
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        said = audit_law(rng.random(runs), blind=None, reference=stated_rising, **asked).detectable
        # moved from above 1/2 to below, so that P[value <= 1/2] is off by what was said
        values = np.where(rng.random(runs) < 0.5 + said, 0.5 * rng.random(runs), 0.5 + 0.5 * rng.random(runs))
        found += audit_law(values, blind=None, reference=stated_rising, **asked).verdict is Verdict.VIOLATED
    assert found >= 15


# ------------------------------------------------------------------------------------------ the Wasserstein distance


def _uniform(x: Any) -> Any:
    return np.clip(x, 0.0, 1.0)


def _distance(values: Any, allowed: float, **asked: Any) -> LawAudit:
    """An audit beside a sampler that always says 1."""
    asked = {"reference": _uniform, "within": (0.0, 1.0), "failure_probability": 1e-6, **asked}
    return audit_law(values, blind=np.ones(len(values)), distance="Wasserstein", bound=allowed, **asked)


def _beta(size: int, seed: int) -> NDArray[np.float64]:
    """Density 2 x: the area between x and x^2 is 1/6."""
    return np.sqrt(np.random.default_rng(seed).random(size))


def test_the_interval_of_a_wasserstein_distance_holds_exact_values() -> None:
    """Two-sided, and as short as the band allows; each errs with probability 1e-6."""
    rng, level, n = np.random.default_rng(8), 1e-6, 20_000
    width = 2 * math.sqrt(math.log(2 / level) / (2 * n))
    atoms = rng.integers(0, 3, n) / 2.0
    cases = [
        (_beta(n, 9), _uniform, (0.0, 1.0), 1 / 6),
        (rng.random(n), _uniform, (0.0, 1.0), 0.0),
        # moved by a quarter, on an interval that holds both
        (rng.random(n) + 0.25, _uniform, (-1.0, 2.0), 0.25),
        # three atoms against one at 1/4: (1/4 + 1/4 + 3/4) / 3
        (atoms, lambda x: np.where(np.asarray(x) >= 0.25, 1.0, 0.0), (0.0, 1.0), 5 / 12),
        # 100 times as long, 100 times the distance
        (100 * _beta(n, 10) - 7, lambda x: _uniform((np.asarray(x) + 7) / 100), (-7.0, 93.0), 100 / 6),
    ]
    for values, reference, (low, high), exact in cases:
        found = wasserstein_interval(values, reference, low, high, level)
        assert found.lower <= exact <= found.upper
        assert found.upper - found.lower <= (high - low) * (2 * width + 2 / WASSERSTEIN_CELLS)
        if exact > 0:
            assert found.lower > 0.5 * exact


def test_few_wasserstein_intervals_miss() -> None:
    """Of 1000 with 50 values each at level 0.05, at most binomial(1000, 0.05): 90 or more has probability 6e-8."""
    missed = 0
    for seed in range(1000):
        found = wasserstein_interval(_beta(50, seed), _uniform, 0.0, 1.0, 0.05)
        missed += not found.lower <= 1 / 6 <= found.upper
    assert missed < 90


def test_a_planted_distance_is_found_after_some_hundred_runs() -> None:
    """A law 1/6 away where 0.05 is allowed, failure probability 1e-6."""
    needed = next(
        n for n in (50, 100, 200, 400, 800, 1600) if _distance(_beta(n, 3), 0.05).verdict is Verdict.VIOLATED
    )
    # the band is as wide as what the claim leaves, sqrt(ln(2e6) / (2 n)) = 1/6 - 0.05, at 533
    assert 400 <= needed <= 1600
    right = _distance(_beta(20_000, 3), 0.2)
    assert right.verdict is Verdict.SUPPORTED
    assert right.measured.lower <= 1 / 6 <= right.measured.upper
    assert "Wasserstein distance" in right.reason
    # what is said to be found half the time is
    allowed = 1 / 6 - _distance(_beta(800, 0), 1.0).detectable
    found = [_distance(_beta(800, seed), allowed).verdict for seed in range(1, 21)]
    assert found.count(Verdict.VIOLATED) >= 10


def test_a_law_that_says_nothing_of_the_data_must_be_rejected() -> None:
    found = audit_law(
        np.random.default_rng(1).random(500),
        blind=np.random.default_rng(2).random(500),
        reference=_uniform,
        distance="Wasserstein",
        bound=0.1,
        within=(0.0, 1.0),
        failure_probability=1e-6,
    )
    assert (found.verdict, found.detects_nothing) == (Verdict.UNDECIDED, True)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"within": None}, InvalidArgumentError),
        ({"within": (1.0, 0.0)}, InvalidArgumentError),
        ({"within": (0.0, math.inf)}, InvalidArgumentError),
        ({"within": (0.0, 0.5)}, InvalidDataError),
        ({"within": (0.5, 1.0), "values": np.full(9, 0.75)}, InvalidDataError),
        ({"reference": lambda x: 0.5 * _uniform(x)}, InvalidDataError),
        ({"reference": lambda x: 1 - _uniform(x)}, InvalidDataError),
    ],
)
def test_bad_wasserstein_input(change: dict[str, Any], error: type[Exception]) -> None:
    values = change.pop("values", np.random.default_rng(1).random(100))
    with pytest.raises(error):
        _distance(values, 0.1, **change)


def test_an_interval_is_for_the_wasserstein_distance_only() -> None:
    with pytest.raises(InvalidArgumentError, match="within"):
        law(np.zeros(9), reference=norm.cdf, failure_probability=0.1, within=(0.0, 1.0), **EXACT)


@dataclass(frozen=True)
class _Roots:
    """Density 2 x, and a sampler that always says 1."""

    def draw(self, count: int) -> NDArray[np.float64]:
        return _beta(count, 3)

    def blind(self, count: int) -> NDArray[np.float64]:
        return np.ones(count)


@pytest.mark.parametrize(("allowed", "verdict"), [(0.05, Verdict.VIOLATED), (0.2, Verdict.SUPPORTED)])
def test_the_auditor_and_the_report_name_the_distance(allowed: float, verdict: Verdict) -> None:
    question = LawQuestion(
        reference=_uniform,
        reference_error=0.0,
        distance="Wasserstein",
        bound=allowed,
        claim="W_1",
        statistic_name="the point",
        data="none",
        runs=5000,
        within=(0.0, 1.0),
    )
    found = LawAuditor().audit(question, _Roots(), ErrorShare(1e-6))
    assert (found.verdict, found.distance, found.measured_distance) == (verdict, "Wasserstein", "Wasserstein")
    said = SamplingView().text(found)
    assert f"Wasserstein distance, claimed: Wasserstein distance at most {allowed:g}" in said
