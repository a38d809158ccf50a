"""The pairs of neighboring data sets, by rule: `python pairs.py` writes pairs/, as `dpverify run` reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpverify.auditing.neighbors import Pair
from dpverify.privacy import Adjacency

FOLDER = Path(__file__).parent / "pairs"
REPLACE, ADD = Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE_ONE


def _directions(dimension: int, copies: int) -> tuple[list[list[float]], list[list[float]]]:
    """Copies of two orthogonal unit vectors, one more of the first or of the second."""
    first, second = np.eye(dimension)[:2].tolist()
    return [first, *[first] * copies, *[second] * copies], [second, *[first] * copies, *[second] * copies]


def pairs() -> dict[str, Pair]:
    """By name."""
    most = [[100.0], [-100.0]] * 4  # gradients that are clipped and cancel
    zeros = [[0.0]] * 200
    missing = [[-1.0]] * 98
    rows: dict[str, tuple[list[list[float]], list[list[float]], Adjacency]] = {
        "value": ([[0.0]], [[1.0]], REPLACE),
        "one-of-two": ([[0.0], [0.0]], [[0.0], [1.0]], REPLACE),
        "one-of-four": ([[0.0], [0.0], [1.0], [1.0]], [[0.0], [0.0], [1.0], [0.0]], REPLACE),
        "one-fewer": ([[0.0], [0.0], [1.0], [1.0]], [[0.0], [0.0], [1.0]], ADD),
        "six-users": ([[0.0]] * 6, [[0.0]] * 5, ADD),
        "ten-left": ([[0.0]] * 11, [[0.0]] * 10, ADD),
        "moved-to-the-other-bin": ([[0.2], [0.2]], [[0.2], [0.8]], REPLACE),
        "one-of-weight-5": ([[0.2, 5.0], [0.2, 5.0]], [[0.2, 5.0]], ADD),
        "spread": ([[0.1], [0.2], [0.3], [0.4]], [[0.1], [0.2], [0.3], [0.9]], REPLACE),
        "mostly-missing": ([*missing, [0.0], [0.0]], [*missing, [0.0], [1.0]], REPLACE),
        "two-classes": (
            [[0.0, 0.0], [0.5, 0.0], [0.5, 1.0], [0.5, 1.0]],
            [[1.0, 0.0], [0.5, 0.0], [0.5, 1.0], [0.5, 1.0]],
            REPLACE,
        ),
        "far-class-changed": (
            [[101.0, 0.0]] * 2 + [[101.0, 1.0]] * 2,
            [[101.0, 0.0]] * 1 + [[101.0, 1.0]] * 3,
            REPLACE,
        ),
        "tiny": (
            [[0.0, 0.0, 0.0]] * 10 + [[0.0, 0.0, 1.0]],
            [[9e-9, 0.0, 0.0]] + [[0.0, 0.0, 0.0]] * 9 + [[0.0, 0.0, 1.0]],
            REPLACE,
        ),
        "class-appears": ([[0.5, 0.0]] * 4, [[0.5, 0.0]] * 3 + [[0.5, 1.0]], REPLACE),
        "label-changed": (
            [[0.5, 1.0], [0.5, 0.0], [0.5, 0.0]],
            [[0.5, 1.0], [0.5, 1.0], [0.5, 0.0]],
            REPLACE,
        ),
        "label-fewer": ([[0.5, 1.0], [0.5, 0.0], [0.5, 0.0]], [[0.5, 1.0], [0.5, 0.0]], ADD),
        "far-record": (zeros, [*zeros[:-1], [1.0]], REPLACE),
        "square-appears": ([[1.0, 1.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], REPLACE),
        "square-of-four": ([[1.0, 0.0]] + [[0.0, 0.0]] * 3, [[0.0, 0.0]] * 4, REPLACE),
        "turned": ([[-1.0, 1.0], [-1.0, 0.0]], [[1.0, 1.0], [-1.0, 0.0]], REPLACE),
        "unit-sign": ([[1.0, 1.0], [0.001, 0.0]], [[-1.0, 1.0], [0.001, 0.0]], REPLACE),
        "large-appears": ([[1000.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]], REPLACE),
        "directions": (*_directions(6, 100), REPLACE),
        "directions-2": (*_directions(2, 20), REPLACE),
        "gradient-fewer": ([[100.0], [-100.0]], [[100.0]], ADD),
        "unclipped-fewer": ([*most, [0.999]], most, ADD),
    }
    return {
        name: Pair(np.array(data), np.array(neighbor), adjacency)
        for name, (data, neighbor, adjacency) in rows.items()
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, pair in pairs().items():
        pair.save(FOLDER / f"{name}.json")


if __name__ == "__main__":
    main()
