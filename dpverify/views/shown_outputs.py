"""Outputs that show a violation, as rows and lines of text."""

from __future__ import annotations

from dpverify.ledger.evidence import OutputBin, ShownOutputs
from dpverify.views import number_text

_WIDTH = 24
"""Characters of the longest bar."""
_MOST = 120
"""Characters of one output."""


def bin_text(one: OutputBin) -> str:
    """The numbers that a bin is about."""
    if one.label:
        return one.label
    low = number_text.nearest(one.low)
    return low if one.low == one.high else f"{low} to {number_text.nearest(one.high)}"


def in_region(one: OutputBin, shown: ShownOutputs) -> bool:
    """Whether a bin's middle is in the region, as far as that is a half-line of the number."""
    middle = one.low / 2 + one.high / 2
    return (shown.above is not None and middle > shown.above) or (
        shown.at_most is not None and middle <= shown.at_most
    )


def counts_text(shown: ShownOutputs) -> str:
    """How often the event came on each side."""
    return (
        f"{shown.left_count} of {shown.runs} outputs on the first data set, {shown.right_count} on the second"
    )


def output_rows(shown: ShownOutputs) -> list[tuple[str, str]]:
    """Names and texts: the event, its counts, and typical outputs."""
    return [
        ("event", shown.event),
        ("came in", counts_text(shown)),
        ("on the first data set", _listed(shown.left)),
        ("on the second", _listed(shown.right)),
    ]


def histogram_lines(shown: ShownOutputs) -> list[str]:
    """How often each number came on both sides, a bar each: # on the first data set, = on the second."""
    most = max((max(one.left, one.right) for one in shown.bins), default=0)
    names = [bin_text(one) for one in shown.bins]
    width = max(map(len, names), default=0)
    lines = [f"{shown.axis}: # first data set, = second, * in the event"]
    for name, one in zip(names, shown.bins, strict=True):
        for label, mark, count in ((name, "#", one.left), ("", "=", one.right)):
            bar = mark * max(round(_WIDTH * count / most), int(count > 0)) if most else ""
            star = "*" if label and in_region(one, shown) else " "
            lines.append(f"{star} {label:>{width}} |{bar:<{_WIDTH}} {count}")
    return lines


def _listed(outputs: tuple[str, ...]) -> str:
    """Typical outputs in a line."""
    return "; ".join(one if len(one) <= _MOST else f"{one[: _MOST - 3]}..." for one in outputs)
