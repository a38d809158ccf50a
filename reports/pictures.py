"""Pictures in files of their own: the curves of guarantees, and what an audit saw beside what was claimed."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpverify.errors import InvalidArgumentError
from dpverify.files import write_whole
from dpverify.ledger.evidence import PrivacyEvidence, ShownOutputs
from dpverify.privacy.curves import Curves
from dpverify.views.number_text import at_least, nearest
from dpverify.views.shown_outputs import bin_text, in_region

FORMATS = (".svg", ".png", ".pdf")
_COLORS = ("#0b5394", "#b45f06")
_DASHES = ("-", (0, (5, 3)))
"""Curves differ in their dashes as well as in color."""
_LEAST = 1e-10
_MOST_NAMES = 8
"""Of values below an axis."""


def check_picture(path: Path) -> None:
    """Raise `InvalidArgumentError` unless the path is one of a picture that can be written."""
    if path.suffix.lower() not in FORMATS:
        raise InvalidArgumentError("--plot", str(path), f"a file whose name ends in {', '.join(FORMATS)}")
    if not path.parent.is_dir() or path.is_dir():
        raise InvalidArgumentError("--plot", str(path), "a file in a folder that is there")


def draw_curves(curves: Sequence[tuple[str, Curves]], path: Path, *, title: str) -> None:
    """Write the picture of named curves, the same bytes for the same ones; the file's ending says its format."""
    with _settings():
        figure = Figure(figsize=(9.0, 3.8), layout="constrained")
        profile, tradeoff = figure.subplots(1, 2)
        for k, (name, found) in enumerate(curves):
            style = {"color": _COLORS[k % 2], "linestyle": _DASHES[k % 2], "label": name}
            points = [(e, d) for e, d in found.profile if math.isfinite(e) and d > 0]
            profile.plot([e for e, _ in points], [d for _, d in points], **style)
            tradeoff.plot([a for a, _ in found.tradeoff], [b for _, b in found.tradeoff], **style)
        profile.set(yscale="log", xlabel="ε (nats)", ylabel="δ", title="privacy profile", xlim=(0, None))
        profile.set_ylim(bottom=max(_LEAST, profile.get_ylim()[0]))
        tradeoff.plot([0, 1], [1, 0], color="#888888", linewidth=0.8)
        tradeoff.set(xlabel="type I error", ylabel="type II error, at least", title="trade-off function")
        tradeoff.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        profile.legend(frameon=False, fontsize="small")
        figure.suptitle(title)
        _write(figure, path)


def draw_audit(found: PrivacyEvidence, path: Path) -> None:
    """Write the picture of an audit: the outputs that speak against the claim, if any do, and the bound on epsilon."""
    shown = found.shown if found.shown is not None and found.shown.bins else None
    with _settings():
        figure = Figure(figsize=(9.0 if shown else 5.4, 3.4), layout="constrained")
        if shown is None:
            below = figure.subplots()
        else:
            outputs, below = figure.subplots(1, 2, width_ratios=(3, 2))
            _outputs(outputs, shown)
        _epsilon(below, found)
        figure.suptitle(f"{found.subject}: {found.full_claim} is {found.verdict}", parse_math=False)
        _write(figure, path)


def _outputs(axes: Axes, shown: ShownOutputs) -> None:
    """How often each number came on both data sets, before a band where the event is."""
    ranges = [(one.low, one.high) for one in shown.bins]
    values = any(low == high for low, high in ranges)
    places = [(float(k), k + 1.0) for k in range(len(ranges))] if values else ranges
    for (low, high), one in zip(places, shown.bins, strict=True):
        if in_region(one, shown):
            first = low if values or shown.above is None else max(low, shown.above)
            last = high if values or shown.at_most is None else min(high, shown.at_most)
            axes.axvspan(first, last, color="#f4e3c1", linewidth=0)
    edges = [places[0][0], *(high for _, high in places)]
    # where ranges differ in length, only densities compare
    weights = [1 if values else shown.runs * (high - low) for low, high in ranges]
    for side, counts, color, dash in zip(
        ("first data set", "its neighbor"),
        ([one.left for one in shown.bins], [one.right for one in shown.bins]),
        _COLORS,
        _DASHES,
        strict=True,
    ):
        heights = [count / weight for count, weight in zip(counts, weights, strict=True)]
        axes.stairs(heights, edges, color=color, linestyle=dash, linewidth=1.6, label=side)
    if values:
        step = -(-len(ranges) // _MOST_NAMES)
        named = [(k + 0.5, bin_text(one)) for k, one in enumerate(shown.bins)][::step]
        axes.set_xticks([at for at, _ in named], [name for _, name in named], parse_math=False)
    came = f"shaded: {shown.event}\n{shown.left_count} and {shown.right_count} of {shown.runs} outputs"
    axes.set_title(came, fontsize="medium", parse_math=False)
    axes.set_xlabel(shown.axis, parse_math=False)
    axes.set_ylabel("outputs" if values else "density")
    axes.legend(frameon=False, fontsize="small")


def _epsilon(axes: Axes, found: PrivacyEvidence) -> None:
    """The epsilons that the audit rules out, and the claimed one."""
    claimed = found.epsilon_claimed
    drawn = [x for x in (found.epsilon_lower, claimed) if x is not None and math.isfinite(x)]
    axes.axvspan(0, found.epsilon_lower, color=_COLORS[0], alpha=0.2, linewidth=0)
    axes.axvline(found.epsilon_lower, color=_COLORS[0])
    said = [f"ruled out: below {at_least(found.epsilon_lower)}"]
    if claimed is not None and math.isfinite(claimed):
        axes.axvline(claimed, color=_COLORS[1], linestyle=_DASHES[1])
        said.append(f"claimed: {nearest(claimed)}")
    axes.set_title(f"ε at δ = {found.delta:g}\n{'; '.join(said)}", fontsize="medium")
    axes.set(xlim=(0, 1.25 * max(drawn, default=0.0) or 1.0), yticks=(), xlabel="ε (nats)")


def _settings() -> AbstractContextManager[None]:
    return rc_context({"svg.hashsalt": "dpverify", "svg.fonttype": "none"})


def _write(figure: Figure, path: Path) -> None:
    content = io.BytesIO()
    kind = path.suffix.lower()[1:]
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": None}[kind]
    figure.savefig(content, format=kind, metadata=undated)
    try:
        write_whole(path, content.getvalue())
    except (OSError, ValueError) as error:
        raise InvalidArgumentError("--plot", str(path), "a file that can be written to") from error
