"""Every algorithm on PyTorch tensors, where it is installed: the same points as with NumPy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.running import Randomness

pytest.importorskip("torch", reason="PyTorch is an optional extra")
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from scaling_cases import CASES, Case

RUNS = 30
ROUNDING_DECIDES = {"mn25.hard-instance"}
"""Directions that were not shown yet tie but for rounding, which differs between libraries."""


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id}{case.note}")
def test_points_are_those_of_numpy(case: Case) -> None:
    import array_api_compat.torch as xp

    mechanism, data = case.build(case.n[0], case.d[0])

    def points(namespace: Any) -> Any:
        rng = Randomness(3, 0, namespace)
        return np.asarray(mechanism(data.as_namespace(namespace), rng=rng, runs=RUNS).points)

    theirs, ours = points(xp), points(np)
    assert theirs.dtype == ours.dtype
    assert np.all(np.isfinite(theirs))
    if case.id not in ROUNDING_DECIDES:
        assert np.max(np.abs(theirs - ours)) < 1e-9
