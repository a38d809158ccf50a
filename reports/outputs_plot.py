"""The picture of outputs that show a violation: how often each number came, or points of a plane."""

from __future__ import annotations

from matplotlib.axes import Axes

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.evidence import PrivacyEvidence, ShownOutputs
from dpverify.reports import svg
from dpverify.reports.plots import Plot, empty_axes
from dpverify.views.number_text import nearest
from dpverify.views.shown_outputs import bin_text, counts_text, in_region

_MOST_TICK = 20
"""Characters below a bar."""


def outputs_plot(evidence: AuditEvidence, name: str) -> Plot | None:
    """Outputs on both data sets that show a violation: how often each number came, and points of a plane."""
    shown = evidence.shown if isinstance(evidence, PrivacyEvidence) else None
    if shown is None or not shown.bins:
        return None
    names = [bin_text(one) for one in shown.bins]
    with svg.drawing():
        figure, axes = empty_axes(shown.axis, "outputs")
        if shown.plane:
            for side, color, mark in zip(shown.plane, (svg.CLAIM, svg.MEASURED), ("x", "o"), strict=True):
                axes.plot(
                    [x for x, _ in side], [y for _, y in side], mark, color=color, markersize=4, alpha=0.7
                )
            axes.set_xlabel("first number of an output")
            axes.set_ylabel("second number of it")
        else:
            _bars(axes, shown)
        description = f"{shown.event}: {counts_text(shown)}."
        drawing = svg.inline(figure, name, f"Outputs of {evidence.subject}", description)
    marks = ("claim", "point") if shown.plane else ("claim", "band")
    items = ((marks[0], "on the first data set"), (marks[1], "on the second"))
    rows = tuple((text, str(one.left), str(one.right)) for text, one in zip(names, shown.bins, strict=True))
    caption = f"The event that speaks against the claim: {shown.event}. It came in {counts_text(shown)}."
    if not shown.plane and any(in_region(one, shown) for one in shown.bins):
        caption += " Shaded: where the event is."
    return Plot("What the outputs look like", drawing, items, caption, (shown.axis, "first", "second"), rows)


def _bars(axes: Axes, shown: ShownOutputs) -> None:
    """Two bars for each bin, before a band where the bin is in the region; ends of ranges below, or values."""
    places = range(len(shown.bins))
    for place, one in zip(places, shown.bins, strict=True):
        if in_region(one, shown):
            axes.axvspan(place - 0.5, place + 0.5, color=svg.UPPER, alpha=0.2, linewidth=0)
    for shift, color, counts in (
        (-0.2, svg.CLAIM, [one.left for one in shown.bins]),
        (0.2, svg.MEASURED, [one.right for one in shown.bins]),
    ):
        axes.bar([place + shift for place in places], counts, 0.4, color=color)
    if all(one.low == one.high for one in shown.bins):
        named = any(one.label for one in shown.bins)
        texts = [
            text if len(text) <= _MOST_TICK else f"{text[: _MOST_TICK - 3]}..."
            for text in map(bin_text, shown.bins)
        ]
        axes.set_xticks(
            places, texts, rotation=30 if named else 0, ha="right" if named else "center", parse_math=False
        )
        if named:
            left, _, width, _ = axes.get_position().bounds
            axes.set_position((left, 0.42, width, 0.54))
        return
    ends = [*(one.low for one in shown.bins), shown.bins[-1].high]
    few = range(0, len(ends), 4)
    axes.set_xticks([place - 0.5 for place in few], [nearest(ends[place]) for place in few])
