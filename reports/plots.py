"""Plots of audits: the privacy sandwich, means against their bound, rates, laws. Each comes with its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.evidence import (
    ExpectationEvidence,
    PrivacyEvidence,
    RateEvidence,
    RiskEvidence,
    SamplingEvidence,
)
from dpverify.reports import svg
from dpverify.views.audits import view_of
from dpverify.views.number_text import at_least, at_most, nearest, power_of_ten, span
from dpverify.views.sandwich import SandwichRow


@dataclass(frozen=True)
class Plot:
    """A drawing, its legend, and the same numbers as a table."""

    heading: str
    drawing: Markup
    legend: tuple[tuple[str, str], ...]
    """What each kind of mark, one of those in macros.html, stands for."""
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def plot_of(audit: AuditEvidence, name: str) -> Plot | None:
    """The drawing of an audit, with this name; None if there is nothing to draw."""
    match audit:
        case PrivacyEvidence():
            return privacy_plot(audit, name)
        case ExpectationEvidence():
            return mean_plot(audit, name)
        case RateEvidence():
            return rate_plot(audit, name)
        case SamplingEvidence():
            return law_plot(audit, name)
    own: Plot | None = view_of(audit).plot(audit, name)
    return own


def privacy_plot(evidence: PrivacyEvidence, name: str) -> Plot | None:
    """The sandwich: claimed profile, best known upper bound, audited lower bound; log delta over epsilon.

    The audited bound at one epsilon holds at every smaller one, since profiles never increase, so it is drawn
    as a staircase.
    """
    points = sorted(evidence.profile, key=lambda point: point.epsilon)
    if not points:
        return None
    epsilons = [point.epsilon for point in points]
    lower = [point.delta_lower for point in points]
    claimed = [(p.epsilon, p.delta_claimed) for p in points if p.delta_claimed is not None]
    upper = [(p.epsilon, p.delta_upper) for p in points if p.delta_upper is not None]
    floor = _profile_floor(evidence)
    with svg.drawing():
        figure, axes = empty_axes("ε (nats)", "δ")
        seen = [position for position, value in enumerate(lower) if value > floor]
        marked = evidence.epsilon_lower > 0 and evidence.delta > floor
        marked = marked and epsilons[0] <= evidence.epsilon_lower <= epsilons[-1]
        if seen:
            stairs = list(zip(epsilons, lower, strict=True))[: seen[-1] + 1]
            if marked and evidence.epsilon_lower > stairs[-1][0]:
                stairs.append((evidence.epsilon_lower, evidence.delta))
            steps = [*(epsilon for epsilon, _ in stairs), stairs[-1][0]]
            shown = [*(max(value, floor) for _, value in stairs), floor]
            _band(axes, steps, shown, floor, step="pre")
            axes.step(steps, shown, where="pre", color=svg.MEASURED)
        if upper:
            axes.plot(*_above_zero(upper), color=svg.UPPER, linestyle=(0, (5, 3)))
        if claimed:
            axes.plot(*_above_zero(claimed), color=svg.CLAIM)
        if marked:
            axes.plot([evidence.epsilon_lower], [evidence.delta], "o", color=svg.MEASURED, markersize=6)
        axes.set_xlim(epsilons[0], epsilons[-1] if epsilons[-1] > epsilons[0] else epsilons[0] + 1)
        _logarithmic(axes, "y", floor, 1.0)
        description = (
            f"Claim: {evidence.full_claim}. The audited lower bound on δ is {at_least(lower[0])} "
            f"at ε = {nearest(epsilons[0])} and {at_least(lower[-1])} at ε = {nearest(epsilons[-1])}. "
            f"At δ = {nearest(evidence.delta)}, ε is at least {at_least(evidence.epsilon_lower)}."
        )
        drawing = svg.inline(figure, name, f"Privacy profile of {evidence.subject}", description)
    bound = f"ε ≥ {at_least(evidence.epsilon_lower)} at δ = {nearest(evidence.delta)}"
    legend = (
        (claimed, "claim", f"claimed: {evidence.full_claim}"),
        (upper, "upper", "best known upper bound"),
        (seen, "band", "ruled out by the audit: the true profile is above"),
        (marked, "point", bound),
    )
    caption = "δ on a log scale. The audit found no lower bound that is visible on this scale."
    if seen:
        caption = (
            "δ on a log scale. The true curve lies above the audited bound, at all points at once, except with "
            f"probability {at_most(evidence.failure_probability)}."
        )
    rows = (
        (
            nearest(point.epsilon),
            at_least(point.delta_lower),
            "" if point.delta_claimed is None else nearest(point.delta_claimed),
            "" if point.delta_upper is None else at_most(point.delta_upper),
        )
        for point in points
    )
    items = tuple((kind, label) for shown, kind, label in legend if shown)
    columns = ("ε", "δ at least (audited)", "δ claimed", "δ at most (known)")
    return Plot("Privacy profile", drawing, items, caption, columns, tuple(rows))


def sandwich_plot(rows: Sequence[SandwichRow], name: str) -> Plot | None:
    """Claim, proof, exact value and audited bound of each algorithm on one log axis of epsilon.

    The table beside the plot has all of it, so it has none.
    """
    audits = [row.audit for row in rows if row.audit is not None]
    shown = [audit for audit in audits if 0 < (audit.epsilon_claimed or 0.0) < math.inf]
    if not shown:
        return None
    bounds = ((a.epsilon_claimed, a.epsilon_proved, a.epsilon_lower) for a in shown)
    ends = [value for values in bounds for value in values if value and value > 0]
    low, high = min(value for value in ends if math.isfinite(value)), max(filter(math.isfinite, ends))
    left, right = low / 1.5, high * 1.3
    with svg.drawing():
        height = 0.75 + 0.19 * len(shown)
        figure, axes = empty_axes("ε (nats) at the audit's δ, log scale", "", height=height)
        longest = max(len(audit.subject) for audit in shown)
        margin = min(0.075 * longest + 0.15, 2.2)
        axes.set_position((margin / 4.6, 0.52 / height, (4.6 - margin - 0.12) / 4.6, 1 - 0.64 / height))
        _logarithmic(axes, "x", left, right)
        for place, audit in enumerate(shown):
            claimed, proved, exact = audit.epsilon_claimed, audit.epsilon_proved, audit.epsilon_exact
            assert claimed is not None
            seen, around = max(audit.epsilon_lower, left), [place - 0.38, place + 0.38]
            axes.plot([seen, claimed], [place, place], color=svg.GRID, linewidth=1)
            axes.plot([claimed] * 2, around, color=svg.CLAIM)
            if proved is not None and proved < claimed * (1 - 1e-9):
                axes.plot([proved] * 2, around, color=svg.UPPER, linestyle=(0, (1.5, 1)))
            if exact is not None and exact.upper > 0:
                ends = [max(exact.lower, left), exact.upper]
                axes.plot(ends, [place, place], "D", color=svg.INK, markersize=3.5)
            if audit.epsilon_lower:
                axes.plot([audit.epsilon_lower], [place], "o", color=svg.MEASURED, markersize=5)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_yticks(range(len(shown)), [audit.subject for audit in shown], fontsize=9)
        axes.grid(visible=False, axis="y")
        nothing = [audit.subject for audit in shown if not audit.epsilon_lower]
        title = "Privacy of each algorithm: claimed, proved, exact and audited epsilon"
        description = f"{len(shown)} algorithms, ε from {nearest(left)} to {nearest(right)}. "
        drawing = svg.inline(figure, name, title, description + " ".join(map(_sandwiched, shown)))
    caption = "A dot is a lower bound: the true ε of that pair is to the right of it."
    if nothing:
        caption += f" No dot: the audit has no lower bound ({', '.join(nothing)})."
    legend = (
        ("mark", "claimed"),
        ("proof", "proved, where that is less"),
        ("diamond", "exact, on the audited pair"),
        ("point", "audited: at least"),
    )
    return Plot("Claimed, proved, exact and audited ε", drawing, legend, caption, (), ())


def _sandwiched(audit: PrivacyEvidence) -> str:
    """One row in words."""
    claimed, proved, exact = audit.epsilon_claimed, audit.epsilon_proved, audit.epsilon_exact
    parts = [f"claimed {nearest(claimed)}"] if claimed is not None else []
    parts += [f"proved {at_most(proved)}"] if proved is not None and math.isfinite(proved) else []
    parts += [f"exact {span(exact.lower, exact.upper)}"] if exact is not None else []
    lower = audit.epsilon_lower
    parts += [f"audited at least {at_least(lower, 3)}"] if lower else ["no audited bound"]
    return f"{audit.subject}: {', '.join(parts)}."


def mean_plot(evidence: ExpectationEvidence, name: str) -> Plot:
    """Measured confidence intervals against the stated bound, along the curve where there is one."""
    side = "lower bound" if evidence.from_below else "bound"
    return (_risk_curve if evidence.curve else _risk_interval)(evidence, name, side)


def _risk_curve(evidence: ExpectationEvidence, name: str, side: str) -> Plot:
    curve = sorted(evidence.curve)
    empty = dict(zip(evidence.curve, evidence.vacuous_on_curve(), strict=True))
    sizes = [point[0] for point in curve]
    values = [value for _, *rest in curve for value in rest if math.isfinite(value)]
    with svg.drawing():
        figure, axes = empty_axes(evidence.curve_over, " ")
        if min(sizes) > 0 and max(sizes) >= 10 * min(sizes):
            _logarithmic(axes, "x", min(sizes) / 1.2, max(sizes) * 1.2, sizes)
        positive = [value for value in values if value > 0]
        floor = -math.inf
        if positive and max(positive) > 10 * min(positive):
            floor = min(positive) / 3
            _logarithmic(axes, "y", floor, max(positive) * 2)
        bounded = [(x, max(bound, floor)) for x, *_, bound in curve if math.isfinite(bound)]
        axes.plot([x for x, _ in bounded], [bound for _, bound in bounded], color=svg.CLAIM)
        _intervals(axes, [(x, max(low, floor), max(high, floor)) for x, low, high, _ in curve])
        last = curve[-1]
        title = f"{evidence.quantity} over {evidence.curve_over}"
        description = (
            f"At {evidence.curve_over} = {nearest(last[0])}: measured {span(last[1], last[2])}, "
            f"{_bound(last[3])}{_vacuous(empty[last])}. {len(curve)} points; the table beside the plot has them all."
        )
        drawing = svg.inline(figure, name, title, description)
    legend = [("claim", side)] if bounded else []
    legend.append(("interval", "measured, confidence interval"))
    rows = []
    for x, low, high, bound in curve:
        stated = nearest(bound) if math.isfinite(bound) else "none"
        rows.append((nearest(x), at_least(low), at_most(high), stated + _vacuous(empty[x, low, high, bound])))
    caption = _caption(evidence, "" if floor == -math.inf else "on a log scale")
    columns = (evidence.curve_over, "measured, at least", "measured, at most", "bound")
    return Plot(_capital(title), drawing, tuple(legend), caption, columns, tuple(rows))


def _risk_interval(evidence: ExpectationEvidence, name: str, side: str) -> Plot:
    low, high, bound = evidence.measured.lower, evidence.measured.upper, evidence.bound
    finite = [value for value in (low, high, bound) if math.isfinite(value)]
    said, known = _vacuous(evidence.vacuous), math.isfinite(bound)
    heading = evidence.quantity + (" against its bound" if known else "")
    with svg.drawing():
        figure, axes = empty_axes("", "", height=0.8)
        if finite and min(finite) > 0 and max(finite) > 20 * min(finite):
            left, right = min(finite) / 2, max(finite) * 2
            _logarithmic(axes, "x", left, right)
        else:
            left, right = min([0.0, *finite]), max([0.0, *finite])
            margin = 0.08 * ((right - left) or 1.0)
            left, right = left - (margin if left < 0 else 0.0), right + margin
            axes.set_xlim(left, right)
        axes.set_ylim(-1, 1)
        axes.yaxis.set_major_locator(NullLocator())
        axes.spines["left"].set_visible(False)
        ends = [max(low, left), min(high, right)]
        axes.plot(ends, [0, 0], color=svg.MEASURED, linewidth=4, solid_capstyle="butt")
        for end in ends:
            axes.plot([end, end], [-0.4, 0.4], color=svg.MEASURED, linewidth=2)
        if known:
            axes.axvline(bound, color=svg.CLAIM)
        drawing = svg.inline(figure, name, heading, f"Measured {span(low, high)}; {_bound(bound)}{said}.")
    legend = [("bar", f"measured: {span(low, high)}")]
    columns, row = ["measured, at least", "measured, at most"], [at_least(low), at_most(high)]
    if known:
        legend.append(("mark", f"{side}: {nearest(bound)}{said}"))
        columns.append("bound")
        row.append(f"{nearest(bound)}{said}")
    caption = _caption(evidence, "" if known else "no bound is stated")
    return Plot(_capital(heading), drawing, tuple(legend), caption, tuple(columns), (tuple(row),))


def _vacuous(empty: bool) -> str:
    """Said after a bound that nothing could break."""
    return " (vacuous)" if empty else ""


def _caption(evidence: ExpectationEvidence, more: str) -> str:
    """With the units of a risk, which its quantity does not name."""
    units = "In units of the loss" if isinstance(evidence, RiskEvidence) else ""
    text = "; ".join(part for part in (units, more) if part)
    return _capital(text) + "." if text else ""


def _bound(bound: float) -> str:
    return f"bound {nearest(bound)}" if math.isfinite(bound) else "no bound stated"


def rate_plot(evidence: RateEvidence, name: str) -> Plot | None:
    """Measured quantity over size, both on log scales, with the claimed slope through the points' center.

    There is none if fewer than two sizes have a positive upper end.
    """
    points = sorted(point for point in evidence.points if point[0] > 0 and point[2] > 0)
    if len(points) < 2:
        return None
    positive = [value for _, *ends in points for value in ends if value > 0 and math.isfinite(value)]
    floor = min(positive) / 2
    sizes = [point[0] for point in points]
    logs = [
        (math.log(x), (math.log(max(low, floor)) + math.log(min(high, 2 * max(positive)))) / 2)
        for x, low, high in points
    ]
    center = (sum(x for x, _ in logs) / len(logs), sum(y for _, y in logs) / len(logs))

    def line(slope: float) -> list[float]:
        return [math.exp(center[1] + slope * (math.log(x) - center[0])) for x in sizes]

    low_slope, high_slope = evidence.exponent.lower, evidence.exponent.upper
    exponent, claimed = span(low_slope, high_slope), nearest(evidence.exponent_claimed)
    with svg.drawing():
        figure, axes = empty_axes(evidence.over, " ")
        _logarithmic(axes, "x", min(sizes) / 1.15, max(sizes) * 1.15, sizes)
        _logarithmic(axes, "y", floor, max(positive) * 2)
        if math.isfinite(low_slope) and math.isfinite(high_slope):
            _band(axes, sizes, line(low_slope), line(high_slope))
        axes.plot(sizes, line(evidence.exponent_claimed), color=svg.CLAIM)
        _intervals(axes, [(x, max(low, floor), high) for x, low, high in points])
        description = (
            f"Exponent {exponent}, claimed {claimed}; {len(points)} sizes from {nearest(sizes[0])} to "
            f"{nearest(sizes[-1])}."
        )
        drawing = svg.inline(figure, name, f"Rate in {evidence.over}", description)
    legend = (
        ("claim", f"claimed exponent {claimed}"),
        ("band", f"measured exponent {exponent}"),
        ("interval", "measured, confidence interval"),
    )
    caption = "Both axes on log scales; the lines go through the center of the points."
    columns = (evidence.over, "measured, at least", "measured, at most")
    rows = tuple((nearest(x), at_least(low), at_most(high)) for x, low, high in sorted(evidence.points))
    return Plot(f"Growth with {evidence.over}", drawing, legend, caption, columns, rows)


def law_plot(evidence: SamplingEvidence, name: str) -> Plot:
    """By how much the sampler's distribution function may differ from the correct one, as a band around zero."""
    points = sorted(evidence.points)
    x = [point[0] for point in points]
    with svg.drawing():
        figure, axes = empty_axes(evidence.statistic, "difference")
        low, high = ([point[k] - point[3] for point in points] for k in (1, 2))
        _band(axes, x, low, high)
        axes.axhline(0.0, color=svg.CLAIM)
        reach = 1.5 * max(1e-3, *(abs(value) for value in (*low, *high)))
        axes.set_ylim(-reach, reach)
        title = f"Distribution function of {evidence.statistic}, minus the correct one"
        description = (
            f"From {nearest(x[0])} to {nearest(x[-1])}; the two laws are "
            f"{span(evidence.measured.lower, evidence.measured.upper)} apart in {evidence.measured_distance} distance."
        )
        drawing = svg.inline(figure, name, title, description)
    legend = (("claim", "the correct law"), ("band", "the sampler's law, confidence band"))
    caption = (
        "The probability of at most the value on the axis, minus what it should be. The band contains it everywhere, "
        f"except with probability {at_most(evidence.failure_probability)}."
    )
    columns = ("at", "probability, at least", "probability, at most", "correct")
    rows = tuple((nearest(at), at_least(lo), at_most(hi), nearest(r)) for at, lo, hi, r in points)
    return Plot(f"Law of {evidence.statistic}", drawing, legend, caption, columns, rows)


def empty_axes(x_label: str, y_label: str, *, height: float = 3.1) -> tuple[Figure, Axes]:
    """An empty drawing 4.6 inches wide, narrow enough that its text can be read on a phone."""
    figure = Figure(figsize=(4.6, height), dpi=100)
    figure.patch.set_visible(False)
    bottom, left = (0.52 if x_label else 0.3) / height, 0.72 if y_label else 0.2
    axes = figure.add_axes((left / 4.6, bottom, (4.6 - left - 0.18) / 4.6, 1 - bottom - 0.12 / height))
    axes.patch.set_visible(False)
    axes.set_xlabel(_short(x_label, 56), parse_math=False)
    axes.set_ylabel(_short(y_label, 40), parse_math=False)
    return figure, axes


def _logarithmic(axes: Axes, which: str, low: float, high: float, marked: Sequence[float] = ()) -> None:
    """A log axis with at most about seven labels: the marked values if few, else 10⁻³ and the like."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    (axes.set_xlim if which == "x" else axes.set_ylim)(low, high)
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / 7))
    ticks = [10.0**exponent for exponent in range(last, first - 1, -stride)]
    if 2 <= len(marked) <= 7:
        ticks = list(marked)
        axis.set_major_formatter(FuncFormatter(lambda value, _: nearest(value, 3)))
    elif last - first < 2:
        ticks = [
            step * 10.0**exponent
            for exponent in range(first - 1, last + 1)
            for step in (1, 2, 5)
            if low <= step * 10.0**exponent <= high
        ]
        axis.set_major_formatter(FuncFormatter(lambda value, _: nearest(value, 2)))
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(round(math.log10(value)))))
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def _profile_floor(evidence: PrivacyEvidence) -> float:
    """The smallest delta worth drawing: a decade below what the audit found or could have seen.

    Where it found nothing, a decade below the curves, so that they can be told apart. Never below 1e-12.
    """
    seen = [point.delta_lower for point in evidence.profile if point.delta_lower > 0]
    if seen:
        seen += [1 / max(evidence.runs, 10), *([evidence.delta] if evidence.delta > 0 else [])]
    else:
        bounds = (bound for p in evidence.profile for bound in (p.delta_claimed, p.delta_upper))
        seen = [bound for bound in bounds if bound is not None and bound > 0] or [0.1]
    return max(10.0 ** (math.floor(math.log10(max(min(seen), 1e-290))) - 1), 1e-12)


def _above_zero(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """The points' coordinates, with a zero, which no log axis has, moved far below the drawing."""
    return [x for x, _ in points], [max(y, 1e-300) for _, y in points]


def _band(
    axes: Axes,
    x: Sequence[float],
    low: Sequence[float],
    high: float | Sequence[float],
    step: Literal["pre"] | None = None,
) -> None:
    axes.fill_between(x, low, high, step=step, color=svg.MEASURED, alpha=0.25, linewidth=0)


def _intervals(axes: Axes, points: Sequence[tuple[float, float, float]]) -> None:
    middles = [(low + high) / 2 for _, low, high in points]
    below = [middle - low for middle, (_, low, _) in zip(middles, points, strict=True)]
    above = [high - middle for middle, (_, _, high) in zip(middles, points, strict=True)]
    style: dict[str, Any] = {
        "fmt": "none", "ecolor": svg.MEASURED, "elinewidth": 2, "capsize": 4, "capthick": 2,
    }  # fmt: skip
    axes.errorbar([x for x, *_ in points], middles, yerr=[below, above], **style)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
