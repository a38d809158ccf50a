"""Plots: what is drawn is what was measured."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from scipy.stats import norm

from dpverify.ledger.evidence import PrivacyEvidence, ProfilePoint, RateEvidence, RiskEvidence
from dpverify.ledger.records import Interval
from dpverify.reports.plots import law_plot, mean_plot, plot_of, privacy_plot, rate_plot

from .ledger_example import AUDITS, LAW, MEAN, gaussian_delta

PRIVACY = next(audit for audit in AUDITS if isinstance(audit, PrivacyEvidence))
RISK = next(audit for audit in AUDITS if isinstance(audit, RiskEvidence))
RATE = next(audit for audit in AUDITS if isinstance(audit, RateEvidence))


def _curves(drawing: str, color: str) -> list[list[tuple[float, float]]]:
    """The corners of the lines and areas drawn in one color."""
    found = []
    for element in ElementTree.fromstring(drawing).iter("path"):
        if f"var(--plot-{color})" in element.get("style", ""):
            numbers = re.findall(r"[ML] (-?[\d.]+) (-?[\d.]+)", element.get("d", ""))
            found.append([(float(x), float(y)) for x, y in numbers])
    return found


def test_example_profile_is_gaussian() -> None:
    """The example's formula against the definition, by SciPy's distribution functions."""
    for epsilon in (0.0, 0.5, 2.0):
        direct = norm.cdf(0.5 - epsilon) - math.exp(epsilon) * norm.cdf(-0.5 - epsilon)
        assert gaussian_delta(epsilon, 1.0) == pytest.approx(direct, rel=1e-12)


def test_sandwich_is_drawn_to_scale() -> None:
    """Line from (0, 1e-1) to (2, 1e-3), staircase at 1e-4: positions on a log scale are affine in log10."""
    points = (
        ProfilePoint(epsilon=0.0, delta_lower=1e-4, delta_claimed=1e-1, delta_upper=1e-2),
        ProfilePoint(epsilon=1.0, delta_lower=1e-4, delta_claimed=1e-2, delta_upper=1e-3),
        ProfilePoint(epsilon=2.0, delta_lower=0.0, delta_claimed=1e-3, delta_upper=1e-4),
    )
    evidence = PRIVACY.model_copy(
        update={"profile": points, "delta": 0.0, "epsilon_lower": 0.0, "runs": 1000}
    )
    plot = privacy_plot(evidence, "p")
    assert plot is not None
    (claim,) = _curves(plot.drawing, "claim")
    (upper,) = _curves(plot.drawing, "upper")
    left, right = claim[0], claim[-1]
    decade = (right[1] - left[1]) / 2
    assert decade > 0
    assert upper == [(x, pytest.approx(y + decade, abs=0.05)) for x, y in claim]
    stairs = _curves(plot.drawing, "measured")[-1]
    assert max(x for x, _ in stairs) == pytest.approx((left[0] + right[0]) / 2, abs=0.05)
    assert min(y for _, y in stairs) == pytest.approx(left[1] + 3 * decade, abs=0.05)
    assert [label for _, label in plot.legend] == [
        "claimed: GDP(mu=1.0)",
        "best known upper bound",
        "ruled out by the audit: the true profile is above",
    ]


def test_table_beside_the_plot_rounds_bounds_outward() -> None:
    point = ProfilePoint(epsilon=0.5, delta_lower=0.123456, delta_claimed=0.234567, delta_upper=0.234561)
    plot = privacy_plot(PRIVACY.model_copy(update={"profile": (point,)}), "p")
    assert plot is not None
    assert plot.rows == (("0.5", "0.1234", "0.2346", "0.2346"),)


@pytest.mark.parametrize(
    "points",
    [
        (ProfilePoint(epsilon=1.0, delta_lower=0.0),),
        (ProfilePoint(epsilon=1.0, delta_lower=0.0, delta_claimed=0.0, delta_upper=0.0),),
        (ProfilePoint(epsilon=0.0, delta_lower=1.0), ProfilePoint(epsilon=50.0, delta_lower=1e-300)),
        tuple(ProfilePoint(epsilon=e / 9, delta_lower=0.0, delta_claimed=1e-5) for e in range(30)),
    ],
)
def test_odd_profiles_are_drawn(points: tuple[ProfilePoint, ...]) -> None:
    plot = privacy_plot(PRIVACY.model_copy(update={"profile": points}), "p")
    assert plot is not None
    assert len(plot.rows) == len(points)
    assert "nan" not in plot.drawing.lower()


def test_nothing_to_draw() -> None:
    assert privacy_plot(PRIVACY.model_copy(update={"profile": ()}), "p") is None
    assert rate_plot(RATE.model_copy(update={"points": ((1.0, 1.0, 2.0),)}), "p") is None


@pytest.mark.parametrize("bound", [0.0, 1e-9, 0.02, 5.0, 1e9, math.inf])
@pytest.mark.parametrize(("low", "high"), [(-0.01, 0.0), (0.0, 0.0), (0.01, 0.02), (-math.inf, math.inf)])
def test_risk_interval(low: float, high: float, bound: float) -> None:
    measured = Interval(lower=low, upper=high)
    plot = mean_plot(RISK.model_copy(update={"measured": measured, "bound": bound, "curve": ()}), "r")
    assert len(plot.rows) == 1
    assert "nan" not in plot.drawing.lower()
    bars = _curves(plot.drawing, "measured")
    assert bars[0][0][0] <= bars[0][-1][0]
    if 0 < high < bound < math.inf:
        (mark,) = _curves(plot.drawing, "claim")
        assert mark[0][0] > bars[0][-1][0]


@pytest.mark.parametrize(
    "curve",
    [
        ((1.0, -1.0, 1.0, 2.0),),
        ((1.0, 0.1, 0.2, 100.0), (2.0, -0.1, 0.1, 50.0)),
        ((0.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
        tuple((float(n), 1 / n, 2 / n, 10 / n) for n in range(1, 40)),
    ],
)
def test_risk_curve(curve: tuple[tuple[float, float, float, float], ...]) -> None:
    plot = mean_plot(RISK.model_copy(update={"curve": curve}), "r")
    assert len(plot.rows) == len(curve)
    assert "nan" not in plot.drawing.lower()


def test_rate_with_an_interval_that_reaches_below_zero() -> None:
    points = ((5.0, -0.1, 1.0), (10.0, 0.5, 1.5), (20.0, 1.0, 2.0))
    plot = rate_plot(RATE.model_copy(update={"points": points}), "r")
    assert plot is not None
    assert plot.rows[0] == ("5", "−0.1", "1")


def test_drawings_stay_apart_and_follow_the_page() -> None:
    first, second = (privacy_plot(PRIVACY, name) for name in ("a", "b"))
    assert first is not None
    assert second is not None
    ids = [set(re.findall(r' id="([^"]*)"', plot.drawing)) for plot in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert {name[0] for name in ids[0]} == {"a"}
    for plot in (first, second):
        assert 'role="img"' in plot.drawing
        assert "<title" in plot.drawing
        assert "ε is at least 1.965" in plot.drawing
        assert not re.search(r"#[0-9a-f]{6}", plot.drawing)  # colors come from the style sheet
        assert "<style" not in plot.drawing
        assert "<metadata" not in plot.drawing
        assert len(plot.drawing) < 40_000


def test_staircase_reaches_the_marked_point() -> None:
    """What is known at epsilon_lower belongs to the band, though it lies between two points of the grid."""
    points = (
        ProfilePoint(epsilon=0.0, delta_lower=1e-2, delta_claimed=0.5),
        ProfilePoint(epsilon=1.0, delta_lower=1e-3, delta_claimed=0.5),
        ProfilePoint(epsilon=2.0, delta_lower=0.0, delta_claimed=0.5),
    )
    changes = {"profile": points, "delta": 1e-4, "epsilon_lower": 1.5, "runs": 1000}
    plot = privacy_plot(PRIVACY.model_copy(update=changes), "p")
    assert plot is not None
    (claim,) = _curves(plot.drawing, "claim")
    left, right = claim[0][0], claim[-1][0]
    staircase = max(_curves(plot.drawing, "measured"), key=len)
    assert max(x for x, _ in staircase) == pytest.approx(left + 0.75 * (right - left), abs=0.05)


def test_axis_without_a_lower_bound_shows_the_curves_apart() -> None:
    """Claim 0.47 and upper bound 0.32 with nothing found: two decades, not six, so a tenth of the height apart."""
    points = tuple(
        ProfilePoint(epsilon=e, delta_lower=0.0, delta_claimed=0.47, delta_upper=0.32) for e in (0.0, 0.1)
    )
    changes = {"profile": points, "delta": 1e-5, "epsilon_lower": 0.0}
    plot = privacy_plot(PRIVACY.model_copy(update=changes), "p")
    assert plot is not None
    (claim,), (upper,) = _curves(plot.drawing, "claim"), _curves(plot.drawing, "upper")
    decade = (upper[0][1] - claim[0][1]) / (math.log10(0.47) - math.log10(0.32))
    height = float(re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)"', plot.drawing)[0])
    assert height / 3 < decade < height / 2


def test_axis_never_goes_below_what_anyone_reads() -> None:
    points = (
        ProfilePoint(epsilon=0.0, delta_lower=1e-2, delta_claimed=1e-2),
        ProfilePoint(epsilon=1.0, delta_lower=1e-200, delta_claimed=1e-12),
    )
    changes = {"profile": points, "delta": 1e-250, "epsilon_lower": 1.0}
    plot = privacy_plot(PRIVACY.model_copy(update=changes), "p")
    assert plot is not None
    (claim,) = _curves(plot.drawing, "claim")
    height = float(re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)"', plot.drawing)[0])
    assert claim[-1][1] - claim[0][1] > 0.6 * height  # ten of the axis' twelve decades


def test_no_bound_no_line() -> None:
    plot = mean_plot(RISK.model_copy(update={"bound": math.inf, "curve": ()}), "r")
    assert _curves(plot.drawing, "claim") == []
    assert [label for _, label in plot.legend] == ["measured: 21.4 to 24.9"]
    assert "∞" not in plot.drawing + plot.caption + str(plot.rows)
    curve = ((1.0, 0.1, 0.2, math.inf), (2.0, 0.1, 0.2, math.inf))
    plot = mean_plot(RISK.model_copy(update={"curve": curve}), "r")
    assert [label for _, label in plot.legend] == ["measured, confidence interval"]
    assert "∞" not in plot.drawing + plot.caption + str(plot.rows)


def test_a_law_is_drawn_as_a_band_beside_the_right_curve() -> None:
    plot = law_plot(LAW, "law")
    assert len(plot.rows) == len(LAW.points)
    assert [label for _, label in plot.legend] == ["the correct law", "the sampler's law, confidence band"]
    assert "Kolmogorov" in plot.drawing


def test_an_expectation_names_its_own_unit_and_side() -> None:
    plot = plot_of(MEAN, "m")
    assert plot is not None
    assert "loss" not in plot.caption
    assert any("lower bound" in label for _, label in plot.legend)
    assert plot.rows[0][-1] == "0.25"
