"""A picture of guarantees in a file of its own: privacy profiles and trade-off functions side by side."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from dpverify.errors import InvalidArgumentError
from dpverify.files import write_whole
from dpverify.privacy.curves import Curves

FORMATS = (".svg", ".png", ".pdf")
_COLORS = ("#0b5394", "#b45f06")
_DASHES = ("-", (0, (5, 3)))
"""Curves differ in their dashes as well as in color."""
_LEAST = 1e-10


def draw_curves(curves: Sequence[tuple[str, Curves]], path: Path, *, title: str) -> None:
    """Write the picture of named curves, the same bytes for the same ones; the file's ending says its format."""
    with rc_context({"svg.hashsalt": "dpverify", "svg.fonttype": "none"}):
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
        content = io.BytesIO()
        kind = path.suffix.lower()[1:]
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": None}[kind]
        figure.savefig(content, format=kind, metadata=undated)
    try:
        write_whole(path, content.getvalue())
    except (OSError, ValueError) as error:
        raise InvalidArgumentError("--plot", str(path), "a file that can be written to") from error
