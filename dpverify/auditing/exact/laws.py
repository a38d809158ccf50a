"""The law of a rounded chain's last state, pushed through step by step on the nodes of a mesh.

All chains of a call go together: chains that have been the same so far are one row. A step takes the mass of each node
to its image, rounds that to a layout, and adds noise whose law, rounded to the nodes in the same way, is known up to
floats, with a bound on what is lost there. The start is mapped as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.exact.chains import Map, NoisyChain, NoisyStep, PiecewiseMap
from dpverify.auditing.exact.meshes import Layout, Mesh, Noised, Spread
from dpverify.auditing.exact.sides import Split, check_pieces, images_by_side
from dpverify.checks import FloatArray

_UNIT = 2.0**-53
_RULE = 3e-10
"""Relative: what Gauss's rule may be off by in the mass of a part of a cell."""
_SPREADS_KEPT = 1 << 25
"""Numbers in the roundings of maps that are kept for later steps."""


@dataclass(frozen=True)
class Laws:
    """Laws of the last state of rounded chains: a row for each chain of what its mesh needs for a release.

    `lost` is how far that is from the true one in total variation, `node_steps` places times rows over all steps.
    """

    released: FloatArray
    lost: FloatArray
    node_steps: int


def last_laws(chains: Sequence[NoisyChain], mesh: Mesh[Any, Any]) -> Laws:
    """Push the chains through, which have as many steps, the same set and the same noise in each step."""
    walk = _Walk(mesh, chains[0])
    first = chains[0]
    count = len(first.steps)
    released: FloatArray | None = None
    released_lost = np.zeros(len(chains))
    before: Noised | None = None
    lost = np.zeros(1)
    row_of = np.zeros(len(chains), dtype=np.int64)
    for t in range(count):
        entering = (float(t == 0),) if first.skipped is None else first.skipped
        share = entering[t] if t < len(entering) else 0.0
        pairs = [(int(row), chain.steps[t]) for row, chain in zip(row_of, chains, strict=True)]
        kinds = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        row_of = np.array([kinds[pair] for pair in pairs])
        origins = np.array([row for row, _ in kinds])
        before, added = walk.step(before, share, list(kinds))
        lost = lost[origins] + added
        leaving = (float(t == count - 1) if first.stopped is None else first.stopped[t]) or 0.0
        if leaving:
            part = leaving * before.released[row_of]
            released = part if released is None else released + part
            released_lost += leaving * lost[row_of]
    assert released is not None
    return Laws(released, released_lost, walk.node_steps)


@dataclass(frozen=True, eq=False)
class _Images:
    """Of one map: of the nodes, each by the piece of its own side, and of the entries of its split."""

    nodes: FloatArray
    entries: FloatArray
    split: Split | None


class _Walk:
    """Steps on one mesh; keeps the roundings of maps that come again."""

    def __init__(self, mesh: Mesh[Any, Any], chain: NoisyChain) -> None:
        self._mesh = mesh
        self._start = np.asarray(chain.start)[None, :]
        self._spreads: dict[tuple[Map, Layout], tuple[Spread, Spread]] = {}
        self._images: dict[Map, _Images] = {}
        self._kept = 0
        self.node_steps = 0

    def step(
        self, before: Noised | None, share: float, rows: list[tuple[int, NoisyStep]]
    ) -> tuple[Noised, FloatArray]:
        """The laws after a step, and what is lost in each row.

        `before` are the laws before it, None if no run has begun; a run begins with this step with probability `share`;
        `rows` are each row's row before and its step.
        """
        mesh = self._mesh
        stddev = rows[0][1].noise_stddev
        maps = list(dict.fromkeys(one for _, step in rows for one in step.maps))
        starts = {one: one.images(self._start) for one in maps} if share else {}
        images = [*starts.values()]
        for one in maps:
            # also where no state is on a node yet: the map is checked there
            found = self._image(one)
            if before is not None:
                images += [found.nodes, found.entries]
        layout = mesh.layout(images, stddev)
        begun = {
            one: mesh.spread(image, layout).moved(np.full(1, share), layout.size)
            for one, image in starts.items()
        }
        cut = self._cut(before, maps)
        moved = np.zeros((len(rows), layout.size))
        lost = np.zeros(len(rows))
        for place, (row, step) in enumerate(rows):
            for one, probability in zip(step.maps, step.probabilities or (), strict=True):
                if one in begun:
                    moved[place] += probability * begun[one]
                if before is None:
                    continue
                nodes, entries = self._spread(one, layout)
                masses = before.states[row]
                split = self._image(one).split
                if split is not None:
                    there = cut[one][row]
                    lost[place] += probability * _RULE * float(there.sum())
                    masses = np.maximum(
                        masses - np.bincount(split.nodes, weights=there, minlength=len(masses)), 0.0
                    )
                    moved[place] += entries.moved(probability * there, layout.size)
                moved[place] += nodes.moved(probability * masses, layout.size)
                # nonnegative masses are added up, at most so many at a place
                lost[place] += probability * _UNIT * (nodes.terms + entries.terms + 16 * len(step.maps))
        noised = mesh.noised(moved, layout, stddev)
        self.node_steps += len(rows) * layout.size
        return noised, lost + noised.lost

    def _cut(self, before: Noised | None, maps: list[Map]) -> dict[Map, FloatArray]:
        """For each map with jumps, the masses of its entries, at most what their nodes have."""
        if before is None:
            return {}
        found = {}
        for one in maps:
            split = self._image(one).split
            if split is not None:
                found[one] = np.minimum(before.masses(split), before.states[:, split.nodes])
        return found

    def _image(self, one: Map) -> _Images:
        if one not in self._images:
            mesh = self._mesh
            if isinstance(one, PiecewiseMap):
                split = mesh.split(one)
                ends = mesh.ends(one)
                nodes = images_by_side(one, mesh.points, split.own, ends)
                entries = images_by_side(one, mesh.points[split.nodes], split.sides, ends)
                check_pieces(one, mesh.points, nodes)
                for piece in one.pieces:
                    mesh.check(piece, piece.images(mesh.points))
                found = _Images(nodes, entries, split)
            else:
                nodes = one.images(mesh.points)
                mesh.check(one, nodes)
                found = _Images(nodes, nodes[:0], None)
            self._make_room(found.nodes.size + found.entries.size)
            self._images[one] = found
        return self._images[one]

    def _spread(self, one: Map, layout: Layout) -> tuple[Spread, Spread]:
        if (one, layout) not in self._spreads:
            images = self._image(one)
            spreads = self._mesh.spread(images.nodes, layout), self._mesh.spread(images.entries, layout)
            self._make_room(2 * sum(spread.weights.size for spread in spreads))
            self._spreads[one, layout] = spreads
        return self._spreads[one, layout]

    def _make_room(self, numbers: int) -> None:
        if self._kept + numbers > _SPREADS_KEPT:
            self._images.clear()
            self._spreads.clear()
            self._kept = 0
        self._kept += numbers


def signature(chain: NoisyChain) -> tuple[object, ...]:
    """What chains that go together share."""
    stddevs: NDArray[np.float64] = np.array([step.noise_stddev for step in chain.steps])
    return (chain.start, repr(chain.constraint), chain.skipped, chain.stopped, stddevs.tobytes())
