"""Where boxes of a drawing stand does not depend on how a Python adds up numbers."""

from __future__ import annotations

import itertools

from dpverify.reports.dependencies import Node, _layers


def node(name: str, *uses: str) -> Node:
    return Node(name, name, "holds", name, "holds", "whole", uses)


def test_boxes_below_the_same_ones_keep_their_order() -> None:
    """In floating point, 1/12 + 3/12 + 5/12 depends on the order, in sum() of Python 3.11."""
    above = [f"p.a{k}" for k in range(6)]
    uses = [*itertools.permutations(above[:3]), above[3:]]
    nodes = {name: node(name) for name in above} | {
        f"p.b{k}": node(f"p.b{k}", *of) for k, of in enumerate(uses)
    }
    assert _layers(nodes) == [above, [f"p.b{k}" for k in range(7)]]
