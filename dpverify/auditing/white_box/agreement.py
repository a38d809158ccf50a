"""Whether outputs follow the structure that is stated for them, as far as numbers of a run can show.

Outputs of the mechanism are compared with as many of the structure, by the largest distance between empirical
distribution functions. Under one law each is within sqrt(ln(2 / level) / (2 runs)) of the true one but with
probability `level` (Dvoretzky, Kiefer and Wolfowitz 1956; Massart 1990), also where numbers repeat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpverify.auditing.black_box.scores import kolmogorov
from dpverify.auditing.confidence import band_width
from dpverify.auditing.white_box.simulation import blocks, released
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.running import StatedStructure

_STAGE = 30


@dataclass(frozen=True)
class Agreement:
    """How outputs differ from the structure, in words, empty where they do not; on so many runs of each data set.

    A distance of `width` between distribution functions is always found; smaller ones may not be.
    """

    contradiction: str
    width: float
    runs: int


def compare(
    outputs: tuple[ArrayLike, ArrayLike],
    structures: tuple[StatedStructure, StatedStructure],
    direction: FloatArray,
    level: float,
    seed: int,
) -> Agreement:
    """Compare outputs on both data sets, (runs, d), with what is stated of them.

    Looks at the component along `direction` and, in more than one dimension, at the distance from the start.
    """
    start = np.asarray(structures[0].start)
    looks: dict[str, Callable[[FloatArray], FloatArray]] = {
        "the component in which the data sets differ most": lambda x: x @ direction
    }
    if start.size > 1:
        looks["the distance from the start"] = lambda x: np.linalg.norm(x - start, axis=1)
    each = level / (4 * len(looks))
    worst, width, runs = "", 0.0, 0
    for side, (given, structure, name) in enumerate(zip(outputs, structures, ("left", "right"), strict=True)):
        real = _checked(given, structure, name)
        runs = len(real)
        width = 2 * band_width(runs, each)
        stated = np.concatenate(
            [
                released(structure, before)
                for before in blocks(structure, runs, seed=seed, stage=_STAGE + side, direction=0 * direction)
            ]
        )
        for what, look in looks.items():
            distance = kolmogorov(look(real), look(stated))
            if distance > width and not worst:
                worst = (
                    f"{what} on the {name} data set has a distribution function that is {distance:.3g} away from "
                    f"that of the stated structure; chance explains {width:.3g}"
                )
    return Agreement(worst, width, runs)


def _checked(outputs: ArrayLike, structure: StatedStructure, name: str) -> FloatArray:
    rows = np.asarray(outputs)
    if rows.ndim == 1:
        rows = rows[:, None]
    if (
        rows.ndim != 2
        or rows.shape[1] != structure.dimension
        or rows.dtype.kind not in "iuf"
        or not len(rows)
    ):
        raise InvalidDataError(
            f"The outputs on the {name} data set have shape {rows.shape} and type {rows.dtype}; allowed: numbers, "
            f"(runs, {structure.dimension}), as the stated structure releases."
        )
    numbers = rows.astype(np.float64)
    if not np.all(np.isfinite(numbers)):
        raise InvalidDataError(
            f"The outputs on the {name} data set contain NaN or infinity; allowed: finite numbers."
        )
    return np.asarray(numbers)
