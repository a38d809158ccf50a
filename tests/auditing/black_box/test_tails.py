"""Samplers whose tail ends too soon, found from what they make alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from dpverify.auditing.black_box.tails import audit_tails
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.evidence import Verdict

Array = NDArray[np.floating]
RUNS = 400_000


def box_muller(rng: np.random.Generator, runs: int, dtype: type, apart: bool) -> Array:
    """Radius and angle from uniform numbers of 24 or 53 bits; the two normal numbers next to one another or not."""
    u = 1 - rng.random(runs // 2, dtype=dtype)
    angle = dtype(2 * np.pi) * rng.random(runs // 2, dtype=dtype)
    radius = np.sqrt(dtype(-2) * np.log(u))
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    return np.concatenate([x, y]) if apart else np.stack([x, y], axis=1).ravel()


@pytest.mark.parametrize("apart", [True, False])
def test_box_and_muller_in_32_bits(apart: bool) -> None:
    """24 bits: never beyond 5.77 standard deviations, found long before any number comes near."""
    found = audit_tails(box_muller(np.random.default_rng(0), RUNS, np.float32, apart))
    assert found.verdict is Verdict.VIOLATED
    assert found.bits == 24
    assert found.end == pytest.approx(math.sqrt(48 * math.log(2)))
    assert found.largest < 5.5
    assert "5.768" in found.reason
    assert 0 < found.delta_lost(1.0) < 1e-5


def test_inversion_of_few_bits() -> None:
    rng = np.random.default_rng(0)
    normal = ndtri((rng.integers(0, 2**20, RUNS) + 0.5) / 2**20)
    found = audit_tails(normal)
    assert (found.verdict, found.bits) == (Verdict.VIOLATED, 20)
    assert found.end == pytest.approx(float(np.max(ndtri((2**20 - 0.5) / 2**20))))
    u = 1 - rng.random(RUNS, dtype=np.float32)
    laplace = np.where(rng.random(RUNS) < 0.5, -1, 1) * np.log(u.astype(np.float64))
    found = audit_tails(2 * laplace, law="laplace", scale=2.0)
    assert (found.verdict, found.bits) == (Verdict.VIOLATED, 24)
    assert found.end == pytest.approx(24 * math.log(2))


def test_what_is_cut() -> None:
    """Normal numbers without those beyond 4 standard deviations: the largest says so, where a grid does not."""
    normal = np.random.default_rng(0).normal(size=RUNS)
    found = audit_tails(normal[np.abs(normal) < 4])
    assert found.verdict is Verdict.VIOLATED
    assert found.bits is None
    assert found.end == found.largest < 4


def test_what_is_right() -> None:
    """False alarms 1e-6 each; nothing is said about ends that these numbers don't show."""
    rng = np.random.default_rng(0)
    for values, law in (
        (rng.normal(size=RUNS), "normal"),
        (rng.standard_normal(RUNS, dtype=np.float32), "normal"),
        (rng.laplace(size=RUNS), "laplace"),
        (box_muller(rng, RUNS, np.float64, True), "normal"),
    ):
        found = audit_tails(values, law=law)  # type: ignore[arg-type]
        assert found.verdict is Verdict.SUPPORTED
        assert found.delta_lost(1.0) == 0
        assert found.grid_seen_up_to >= 24
        assert "would not show" in found.reason


@pytest.mark.parametrize("of", ["shifted", "constant", "of few values"])
def test_no_grid_is_seen_in_what_is_none(of: str) -> None:
    """Numbers beyond the end of the grid that they are on, and those that come again and again."""
    rng = np.random.default_rng(8)
    values = {
        "shifted": 5 + rng.normal(size=100_000),
        "constant": np.full(100_000, 0.1),
        "of few values": rng.choice([-0.3, 0.1, 0.7], size=100_000),
    }[of]
    found = audit_tails(values)
    assert found.bits is None
    if of == "shifted":
        assert (found.verdict, found.end) == (Verdict.SUPPORTED, None)
    else:
        assert found.verdict is Verdict.VIOLATED
        assert "ends there, or is of another law or scale" in found.reason


def test_false_alarms() -> None:
    """400 looks at 0.2 at numbers of the stated law: more than 125 alarms have probability 1e-7."""
    rng = np.random.default_rng(1)
    alarms = 0
    for k in range(400):
        law = ("normal", "laplace")[k % 2]
        values = rng.normal(size=1000) if law == "normal" else rng.laplace(size=1000)
        alarms += audit_tails(values, law=law, failure_probability=0.2).verdict is Verdict.VIOLATED  # type: ignore[arg-type]
    assert 0 < alarms <= 125


def test_bad_input() -> None:
    good = np.random.default_rng(0).normal(size=1000)
    for bad in (good[:999], good.astype(int), good[:, None], np.append(good, np.nan)):
        with pytest.raises(InvalidDataError):
            audit_tails(bad)
    for more in ({"law": "cauchy"}, {"scale": 0.0}, {"failure_probability": 0.0}):
        with pytest.raises(InvalidArgumentError):
            audit_tails(good, **more)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="distance"):
        audit_tails(good).delta_lost(0.0)
