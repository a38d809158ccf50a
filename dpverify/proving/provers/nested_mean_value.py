"""The mean-value form at every node of an expression, not at its root alone.

A difference of two close square roots is lost in interval arithmetic before the root's mean-value form can do
anything about it. Here each part of the expression is enclosed by its operation on the (already tightened)
enclosures of its arguments, by its own mean-value form, and by the intersection of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flint import ctx

from dpverify.formulas.values import Ball
from dpverify.proving.provers.ball_programs import Graph, Node, Program, operation


class NestedMeanValue:
    """Encloses one node of a graph on boxes that are wide in the given (active) variables."""

    def __init__(self, graph: Graph, node: Node, names: Sequence[str], active: Sequence[int]) -> None:
        parts = graph.below(node)
        self._middles = Program(graph, parts, names)
        moving = frozenset(names[i] for i in active)
        repeated = _repeated(graph, parts, moving) - graph.intermediate | {node}
        self._slots: dict[Node, int] = {}
        self._steps: list[tuple[Callable[..., Ball] | None, tuple[int, ...], Any]] = []
        self._inputs: list[tuple[int, int]] = []
        self._fixed: list[Node] = []
        self._graph = graph
        for place, part in enumerate(parts):
            self._plan(part, names)
            if part in repeated:
                terms = []
                for k, i in enumerate(active):
                    slope = graph.differentiate(part, names[i])
                    if slope != graph.zero:
                        self._plan(slope, names)
                        terms.append((k, self._slots[slope]))
                self._steps.append((None, (self._slots[part], place), terms))
        slopes = [graph.differentiate(node, names[i]) for i in active]
        for slope in slopes:
            self._plan(slope, names)
        self._result = self._slots[node]
        self._slopes = [self._slots[slope] for slope in slopes]
        self._constants = Program(graph, self._fixed, ())
        self._kept: dict[int, list[Ball]] = {}
        self.size = self._middles.size + sum(
            1 + len(e) if isinstance(e, list) else 1 for *_, e in self._steps
        )
        """Operations of one evaluation."""

    def _plan(self, node: Node, names: Sequence[str]) -> None:
        """Steps for a node and for whatever it needs that has none yet."""
        for i in self._graph.below(node):
            if i in self._slots:
                continue
            self._slots[i] = len(self._slots)
            key = self._graph.keys[i]
            if not self._graph.symbols(i):
                self._steps.append((None, (self._slots[i],), len(self._fixed)))
                self._fixed.append(i)
            elif key[0] == "sym":
                self._steps.append((None, (self._slots[i],), -1 - list(names).index(key[1])))
            else:
                f, arguments = operation(key)
                self._steps.append((f, tuple(self._slots[j] for j in arguments), None))

    def __call__(self, balls: Sequence[Ball], middle: Sequence[Ball], offsets: Sequence[Ball]) -> list[Ball]:
        """Enclose the node, then its derivatives, on a box; `offsets` are box minus midpoint where it is wide."""
        if ctx.prec not in self._kept:
            self._kept[ctx.prec] = self._constants(())
        constants = self._kept[ctx.prec]
        middles = self._middles(middle)
        values: list[Ball] = []
        for f, places, extra in self._steps:
            if f is not None:
                values.append(f(*[values[k] for k in places]))
            elif len(places) == 1:
                values.append(constants[extra] if extra >= 0 else balls[-1 - extra])
            else:
                slot, place = places
                enclosure = middles[place]
                for k, slope in extra:
                    enclosure = enclosure + values[slope] * offsets[k]
                values[slot] = _tighter(values[slot], enclosure)
        return [values[k] for k in (self._result, *self._slopes)]


def _tighter(plain: Ball, centered: Ball) -> Ball:
    if not centered.is_finite():
        return plain
    # an expression that is not known to be defined on the box stays so, whatever its derivative says
    if not plain.is_finite():
        return plain
    low = centered.lower() if centered.lower() > plain.lower() else plain.lower()
    high = centered.upper() if centered.upper() < plain.upper() else plain.upper()
    return low.union(high) if low <= high else plain


def _repeated(graph: Graph, parts: Sequence[Node], moving: frozenset[str]) -> set[Node]:
    """The parts in which some moving variable occurs more than once: only there can anything be gained."""
    counts: dict[Node, dict[str, int]] = {}
    for i in parts:
        key = graph.keys[i]
        count: dict[str, int] = {key[1]: 1} if key[0] == "sym" else {}
        for j in graph.arguments(key):
            for name, number in counts[j].items():
                count[name] = min(2, count.get(name, 0) + number)
        counts[i] = count
    return {i for i, count in counts.items() if any(count.get(name, 0) > 1 for name in moving)}
