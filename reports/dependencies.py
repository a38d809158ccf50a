"""What rests on what, one drawing per paper: statements as boxes that are links, what they rest on above them.

Nothing is shown by color alone. The border shows how a statement stands as printed (solid: it holds; dashed: it is
false; dotted: not known), the fill how far its proof, or its correction's, goes (whole: with all that it rests on;
half: given what is not proved; none), and each box says the same in words, as does the list below the drawing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import NAMED_RESULT, StatementEntry
from dpverify.ledger.headlines.words import Standing
from dpverify.ledger.names import bare, in_paper
from dpverify.ledger.verdicts import HOLDS, Verdict

_BESIDE, _BELOW = 16, 44
_MARGIN = 6


@dataclass(frozen=True)
class Node:
    """A statement, or a result from the literature, as it is drawn."""

    id: str
    label: str
    says: str
    """How it stands, in a few words."""
    title: str
    """The same in full, for screen readers and for tooltips."""
    border: str
    """`holds`, `false` or `unknown`."""
    filling: str
    """`whole`, `half` or `none`."""
    uses: tuple[str, ...]
    anchor: str = ""
    x: float = 0.0
    y: float = 0.0
    """Its upper left corner, pixels."""
    width: ClassVar[int] = 160
    height: ClassVar[int] = 46

    @property
    def corner(self) -> int:
        """Radius of its corners; a result of the literature, whose id has no dot, is round."""
        return 4 if "." in self.id else 14


@dataclass(frozen=True)
class Drawing:
    """The graph of one paper."""

    paper: str
    width: float
    height: float
    lines: tuple[tuple[str, str], ...]
    """The path of each, and what it says."""
    nodes: tuple[Node, ...]
    """In the order in which they are drawn, for the list that says the same."""


def drawings(ledger: Ledger, anchors: Mapping[str, str]) -> tuple[Drawing, ...]:
    """A drawing for each paper in which some statement rests on something, in the ledger's order."""
    papers = dict.fromkeys(row.paper for row in ledger.statements if row.uses and row.printed.headline)
    return tuple(_drawing(paper, ledger, anchors) for paper in papers)


def _drawing(paper: str, ledger: Ledger, anchors: Mapping[str, str]) -> Drawing:
    rows = {row.id: row for row in ledger.statements}
    own = [row.id for row in ledger.statements if row.paper == paper and row.printed.headline]
    wanted = dict.fromkeys(own)
    for name in own:
        wanted.update(dict.fromkeys(map(bare, rows[name].uses)))
    found = {name: _node(name, paper, ledger, rows, anchors, set(wanted)) for name in wanted}
    width, height, placed = _placed([[found[name] for name in layer] for layer in _layers(found)])
    by_name = {node.id: node for node in placed}
    lines = tuple(
        (_line(by_name[above], by_name[name]), f"{name} rests on {above}")
        for name, node in found.items()
        for above in node.uses
    )
    return Drawing(paper, width, height, lines, tuple(placed))


# ------------------------------------------------------------------------------------------------- the nodes


def _node(
    name: str,
    paper: str,
    ledger: Ledger,
    rows: Mapping[str, StatementEntry],
    anchors: Mapping[str, str],
    drawn: set[str],
) -> Node:
    row = rows.get(name)
    if row is None or (row.kind == NAMED_RESULT and not row.printed.headline):
        result = next((r for r in ledger.results if r.id == name), None)
        title = f"{result.title} ({result.source})" if result else name
        return Node(name, name.replace("-", " "), "from the literature", title, "holds", "none", ())
    label = in_paper(name, paper)
    title = f"{name}, {row.title}"
    anchor = anchors.get(name, "")
    if not row.printed.headline:
        return Node(name, label, "not encoded", f"{title}: not encoded", "unknown", "none", (), anchor)
    title += f": as printed, {row.printed.headline}"
    title += f"; corrected, {row.corrected.headline}" if row.corrected.headline else ""
    border = "unknown"
    if row.printed.standing in (Standing.HOLDS, Standing.IN_PART, Standing.WHERE_MEANT):
        border = "holds"
    elif row.printed.standing in (Standing.REFUTED, Standing.DOES_NOT_FOLLOW):
        border = "false"
    filling = "none"
    if _best(row) in HOLDS:
        filling = "whole" if _fully(name, rows, ()) else "half"
    uses = tuple(dict.fromkeys(used for used in map(bare, row.uses) if used in drawn))
    return Node(name, label, _short(row, border, filling), title, border, filling, uses, anchor)


def _best(row: StatementEntry) -> Verdict | None:
    """The verdict on the correction where there is one, else on what is printed."""
    return row.corrected.verdict if row.corrected.headline else row.printed.verdict


def _wrong(row: StatementEntry) -> str:
    return "does not follow" if row.printed.standing is Standing.DOES_NOT_FOLLOW else "false"


def _fully(name: str, rows: Mapping[str, StatementEntry], above: tuple[str, ...]) -> bool:
    """Whether it and all that it rests on are proved, on all of their domains; the literature is taken as it is."""
    row = rows.get(name)
    if row is None or row.kind == NAMED_RESULT:
        return "." not in name
    if row.roots.unproved or row.roots.boxed or row.missing:
        return False
    return _best(row) is Verdict.PROVED and all(
        _fully(used, rows, (*above, name)) for used in map(bare, row.uses) if used not in above
    )


def _short(row: StatementEntry, border: str, filling: str) -> str:
    if filling == "none":
        return f"{_wrong(row)} as printed" if border == "false" else str(row.printed.standing)
    partly = "on a box" if _best(row) is Verdict.CERTIFIED else "given"
    if border == "false":
        return (
            f"{_wrong(row)}; correction proved"
            if filling == "whole"
            else f"{_wrong(row)}; corrected, {partly}"
        )
    if row.printed.standing is Standing.WHERE_MEANT:
        return str(Standing.WHERE_MEANT)
    return str(_best(row)) if filling == "whole" else f"{_best(row)}, {partly}"


# ------------------------------------------------------------------------------------------------ the drawing


def _layers(nodes: Mapping[str, Node]) -> list[list[str]]:
    """Each node below all that it rests on; within a layer, near the middle of what it rests on."""
    depth: dict[str, int] = {}

    def deep(name: str) -> int:
        if name not in depth:
            depth[name] = 0
            depth[name] = 1 + max((deep(used) for used in nodes[name].uses), default=-1)
        return depth[name]

    for name in nodes:
        deep(name)
    used = {above for node in nodes.values() for above in node.uses}
    # what only one layer rests on stands right above it, so that lines are short
    for name, node in nodes.items():
        below = [depth[other.id] for other in nodes.values() if name in other.uses]
        if name in used and not node.uses and below:
            depth[name] = min(below) - 1
    layers = [[name for name in nodes if depth[name] == level] for level in range(max(depth.values()) + 1)]
    layers = [layer for layer in layers if layer]
    places: dict[str, float] = {}
    for layer in layers:
        above = {name: [places.get(used, 0.5) for used in nodes[name].uses] or [0.5] for name in layer}
        layer.sort(key=lambda name: math.fsum(above[name]) / len(above[name]))
        places |= {name: (k + 0.5) / len(layer) for k, name in enumerate(layer)}
    return layers


def _placed(layers: Sequence[Sequence[Node]]) -> tuple[float, float, list[Node]]:
    """The size of a drawing, and its nodes at their places, layer below layer, each in the middle."""
    most = max(map(len, layers))
    width = 2 * _MARGIN + most * Node.width + (most - 1) * _BESIDE
    height = 2 * _MARGIN + len(layers) * Node.height + (len(layers) - 1) * _BELOW
    placed = []
    for level, layer in enumerate(layers):
        left = (width - len(layer) * Node.width - (len(layer) - 1) * _BESIDE) / 2
        y = _MARGIN + level * (Node.height + _BELOW)
        placed += [replace(node, x=left + k * (Node.width + _BESIDE), y=y) for k, node in enumerate(layer)]
    return width, height, placed


def _line(above: Node, below: Node) -> str:
    """The path from one node down to another."""
    x, y = above.x + Node.width / 2, above.y + Node.height
    to_x, to_y = below.x + Node.width / 2, below.y
    bend = max(24.0, (to_y - y) / 2)
    path = f"M{tidy(x)} {tidy(y)}C{tidy(x)} {tidy(y + bend)} {tidy(to_x)} {tidy(to_y - bend)} "
    return path + f"{tidy(to_x)} {tidy(to_y)}"


def tidy(number: float) -> str:
    """A coordinate with as many digits as can be seen."""
    return f"{number:.4g}" if number < 1000 else f"{number:.0f}"
