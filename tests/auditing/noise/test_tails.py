"""Samplers whose tail ends too soon or that take too few values, found from what they make alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpverify.auditing.noise import TailAudit, audit_tails
from dpverify.auditing.noise.grids import NoiseGrid
from dpverify.auditing.noise.laws import Written
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict

from .samplers import box_muller, inversion, inverted_error_function, inverted_laplace, polar

Array = NDArray[np.floating]
RUNS = 400_000
END_24 = math.sqrt(48 * math.log(2))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def only(found: TailAudit) -> NoiseGrid:
    """The one grid of both sides."""
    (grid,) = set(found.grids.values())
    return grid


# ------------------------------------------------------------------------------------------- pairs


@pytest.mark.one_in(3)
@pytest.mark.parametrize("lag", [1, 2, 3, 8, 1000, RUNS // 2])
def test_two_numbers_of_one_radius_at_any_distance(lag: int) -> None:
    """24 bits: never beyond 5.77 standard deviations, found long before any number comes near."""
    found = audit_tails(box_muller(rng(), RUNS, lag=lag))
    assert found.verdict is Verdict.VIOLATED
    assert (only(found).bits, only(found).lag) == (24, lag)
    assert found.ends == {-1: pytest.approx(END_24), 1: pytest.approx(END_24)}
    assert found.largest < END_24
    assert "5.768" in found.reason
    assert f"lie {lag} apart" in found.reason
    assert 0 < found.delta_lost(1.0) < 1e-5


@pytest.mark.parametrize("dropped", [1, 5, 8])
def test_pairs_need_not_begin_with_the_first_number(dropped: int) -> None:
    found = audit_tails(box_muller(rng(1), RUNS, lag=8)[dropped:])
    assert (found.verdict, only(found).bits, only(found).lag) == (Verdict.VIOLATED, 24, 8)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("bits", "dtype", "first", "scale"),
    [
        (24, np.float32, 1.0, 3.7),
        (23, np.float32, 1.0, 1.0),
        (16, np.float32, 1.0, 1.0),
        (24, np.float64, 0.5, 1.0),
        (31, np.float64, 1.0, 0.01),
        (32, np.float64, 0.5, 1.0),
    ],
)
def test_pairs_of_other_bits(bits: int, dtype: type, first: float, scale: float) -> None:
    """Grids that begin at half a step, and those that only 64-bit floats show."""
    made = box_muller(rng(2), RUNS, bits=bits, lag=8, dtype=dtype, first=first)
    found = audit_tails(dtype(scale) * made, scale=scale)
    assert (found.verdict, only(found).bits, only(found).first) == (Verdict.VIOLATED, bits, first)
    assert only(found).end == pytest.approx(math.sqrt(-2 * math.log(first * 2.0**-bits)))


# ------------------------------------------------------------------------------------------- one by one


def test_the_inverse_error_function_of_23_bits() -> None:
    """Ends that differ, and the delta of the nearer one: 1.2e-5, to the digit what the generator's own law loses."""
    found = audit_tails(inverted_error_function(rng(), RUNS))
    assert found.verdict is Verdict.VIOLATED
    assert found.ends == {-1: pytest.approx(5.419983, abs=1e-5), 1: pytest.approx(5.220113, abs=1e-5)}
    assert {grid.bits for grid in found.grids.values()} == {23}
    assert "leaves [-5.42, 5.22]" in found.reason
    high = found.ends[1]
    steps = (np.arange(1, 200) - 0.25) * 2.0**-23
    exact = np.count_nonzero(-ndtri(steps) > high - 1) * 2.0**-23
    assert found.delta_lost(1.0) == exact == pytest.approx(float(ndtr(-4.22)), rel=0.02)
    assert found.values == pytest.approx(2**23, rel=0.1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("bits", [12, 16, 20, 24, 28, 32])
def test_inversion_of_few_bits(bits: int) -> None:
    found = audit_tails(inversion(rng(), RUNS, bits=bits))
    assert (found.verdict, only(found).bits, only(found).first) == (Verdict.VIOLATED, bits, 0.5)
    assert only(found).end == pytest.approx(-float(ndtri(2.0 ** -(bits + 1))))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("bits", [16, 20, 24, 32])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_laplace_noise_of_few_bits(bits: int, dtype: type) -> None:
    """The sign is one more bit of a number on one side."""
    found = audit_tails(2 * inverted_laplace(rng(), RUNS, bits=bits, dtype=dtype), law="laplace", scale=2.0)
    if dtype is np.float32 and bits == 32:
        assert found.grid_seen_up_to < 33  # 32-bit floats don't show it, and that is said
        return
    assert (found.verdict, only(found).bits) == (Verdict.VIOLATED, bits + 1)
    assert only(found).end == pytest.approx(bits * math.log(2))


# ------------------------------------------------------------------------------------------- largest and repeats


def reseeded(size: int) -> Array:
    return np.concatenate([rng(7).normal(size=size // 8) for _ in range(8)])


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda x: x[np.abs(x) < 3.5], "leaves nothing out"),
        (lambda x: x[x < 3.5], "exceeds 3.49"),
        (lambda x: np.clip(x, -3, 3), "exceeds 3 times"),
        (np.abs, "is below"),
        (lambda x: 5 + x, "is below"),
        (lambda x: 0.7 * x, "another law or scale"),
        (lambda x: np.sqrt(12) * (ndtr(x) - 0.5), "another law or scale"),
        (lambda x: np.zeros(x.size), "another law or scale"),
        (lambda x: np.full(x.size, 0.1), "another law or scale"),
        (lambda x: np.where(x > 0, 0.7, -0.3), "another law or scale"),
        (lambda x: reseeded(x.size), "had come before"),
        (lambda x: np.repeat(x[: x.size // 2], 2), "had come before"),
        (lambda x: 1.3 * inverted_error_function(rng(3), x.size), "had come before"),
        (lambda x: 1.3 * inversion(rng(3), x.size, bits=30), "had come before"),
    ],
)
def test_what_is_cut_and_what_comes_again(make: Callable[[Array], Array], says: str) -> None:
    """Numbers without those beyond some number of deviations, and values that are too few; wherever a grid lies."""
    found = audit_tails(make(rng().normal(size=100_000)))
    assert found.verdict is Verdict.VIOLATED
    assert not found.grids
    if says == "leaves nothing out":
        assert found.ends == {-1: pytest.approx(3.5, abs=0.01), 1: pytest.approx(3.5, abs=0.01)}
        assert 0 < found.delta_lost(1.0) < float(ndtr(-2.5))
    else:
        assert says in found.reason


def test_an_end_that_the_largest_number_shows_costs_what_came_near_to_it() -> None:
    """A constant loses all; of noise that is cut, the part beyond, but for a confidence bound."""
    assert audit_tails(np.full(10_000, 0.1)).delta_lost(1.0) == pytest.approx(1, abs=0.01)
    normal = rng().normal(size=RUNS)
    lost = audit_tails(normal[normal < 3.5]).delta_lost(1.0)
    assert lost == pytest.approx(float(ndtr(-2.5)), rel=0.15)
    assert lost < float(ndtr(-2.5))


# ------------------------------------------------------------------------------------------- what is right


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("make", "law", "written"),
    [
        (lambda r, n: r.normal(size=n), "normal", ""),
        (lambda r, n: r.laplace(size=n), "laplace", ""),
        (lambda r, n: r.standard_normal(n, dtype=np.float32), "normal", "24 significant bits, as 32-bit floats"),
        (lambda r, n: r.normal(size=n).astype(np.float32), "normal", "24 significant bits"),
        (lambda r, n: r.laplace(size=n).astype(np.float32), "laplace", "24 significant bits"),
        (lambda r, n: r.normal(size=n).astype(np.float16), "normal", "11 significant bits"),
        (lambda r, n: np.round(r.normal(size=n), 4), "normal", "multiples of 0.0001"),
        (lambda r, n: np.rint(r.normal(size=n) * 1024) / 1024, "normal", "multiples of 0.000977"),
        (lambda r, n: box_muller(r, n, bits=53, dtype=np.float64, lag=8), "normal", ""),
        (polar, "normal", ""),
        (lambda r, n: ndtri(r.random(n) + 2.0**-54), "normal", ""),
        (lambda r, n: -np.sign(r.random(n) - 0.5) * np.log(1 - r.random(n)), "laplace", ""),
        (lambda r, n: r.standard_t(5, size=n), "normal", ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("runs", [1024, 100_000])
def test_what_is_right(make: Any, law: Any, written: str, runs: int) -> None:
    """False alarms 1e-6 each; nothing is said about ends that these numbers don't show, and how they come is said."""
    found = audit_tails(make(rng(), runs), law=law)
    assert found.verdict is Verdict.SUPPORTED
    assert found.values is None
    assert all(grid.bits >= 52 and not grid.off for grid in found.grids.values())
    assert found.ends == {side: grid.end for side, grid in found.grids.items()}
    # of a quantile of 53 bits, 5e-13
    assert found.delta_lost(1.0) < 1e-12
    assert "would not show" in found.reason
    if runs > 1024:
        assert written in found.reason
        assert bool(written) == bool(found.written)


def test_grids_that_would_be_seen_are_said() -> None:
    """By how many numbers there are, and by how many digits they have."""
    r = rng()
    seen = [audit_tails(r.normal(size=n)).grid_seen_up_to for n in (1000, 20_000, RUNS)]
    assert 0 <= seen[0] <= seen[1] <= seen[2]
    assert seen[2] >= 32
    assert audit_tails(r.normal(size=RUNS).astype(np.float32)).grid_seen_up_to >= 20
    assert audit_tails(r.normal(size=RUNS).astype(np.float16)).grid_seen_up_to == 0


@pytest.mark.parametrize("kind", ["normal", "laplace", "single", "rounded"])
def test_false_alarms(kind: str) -> None:
    """50 looks at 0.2 at numbers of the stated law: more than 26 alarms have probability 1.1e-7."""
    r, alarms = rng(1), 0
    for _ in range(50):
        values: Array = r.laplace(size=1000) if kind == "laplace" else r.normal(size=1000)
        values = values.astype(np.float32) if kind == "single" else values
        values = np.round(values, 2) if kind == "rounded" else values
        law: Any = "laplace" if kind == "laplace" else "normal"
        alarms += audit_tails(values, law=law, failure_probability=0.2).verdict is Verdict.VIOLATED
    assert alarms <= 26


def test_the_largest_number_may_be_rounded_down() -> None:
    """Of 1536 numbers one exceeds 5.02, rarely none; rounded to whole ones, all are at most 5 three times as often."""
    r, alarms = rng(2), 0
    for _ in range(400):
        values = np.rint(r.laplace(size=1536))
        alarms += audit_tails(values, law="laplace", failure_probability=0.05).verdict is Verdict.VIOLATED
    assert alarms <= 20  # 0.05 of them; but for the rounding there were 34


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_nothing_but_zeros_is_no_noise_of_any_scale(scale: float) -> None:
    assert audit_tails(np.zeros(1000), scale=scale).verdict is Verdict.VIOLATED


# ------------------------------------------------------------------------------------------- parts


@pytest.mark.parametrize("distance", [0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 6.0])
def test_what_is_lost_is_what_the_sampler_loses(distance: float) -> None:
    """All of a grid of 12 bits is made, for pairs with angles of 2000 steps."""
    alone = NoiseGrid("normal", 12, 0.5)
    values = ndtri((np.arange(2**12) + 0.5) * 2.0**-12)
    assert alone.lost(distance) == np.mean(values > alone.end - distance)
    pairs = NoiseGrid("normal", 12, 1.0, 8)
    radius = np.sqrt(-2 * np.log(np.arange(1, 2**12 + 1) * 2.0**-12))
    values = radius[:, None] * np.cos(2 * np.pi * (np.arange(2000) + 0.5) / 2000)
    assert pairs.lost(distance) == pytest.approx(np.mean(values > pairs.end - distance), rel=0.05)
    many = NoiseGrid("normal", 30, 1.0, 8)
    assert 0 < many.lost(distance) <= float(ndtr(distance - many.end))


def test_formats() -> None:
    """Of one value, the law rounded to the format has at most the probability that is stated."""
    for values, bits, step in (
        (np.array([1.5, -3.0, 0.0]), 2, 0.5),
        (np.array([0.1, 0.25]), 52, 0.01),
        (np.float64(np.float32([0.1, 1e-3, 1.0])), 24, 0.0),
    ):
        written = Written.of(values)
        assert written.bits == bits
        assert written.step == pytest.approx(step, abs=1e-9)
    for step, scale in ((0.5, 1.0), (0.01, 3.0), (2.0, 1.0)):
        most = Written(53, step).largest_probability("normal", scale)
        cell = float(ndtr(step / 2 / scale) - ndtr(-step / 2 / scale))
        assert cell <= most <= max(1.1 * cell, 0.9)
    single = Written(24, 0.0).largest_probability("normal", 1.0)
    assert 0.24 * 2.0**-23 < single < 0.4 * 2.0**-23


def test_bad_input() -> None:
    good = rng().normal(size=1000)
    for bad in (good[:999], good.astype(int), good[:, None], np.append(good, np.nan)):
        with pytest.raises(InvalidDataError):
            audit_tails(bad)
    for more in ({"law": "cauchy"}, {"scale": 0.0}, {"failure_probability": 0.0}):
        with pytest.raises(InvalidArgumentError):
            audit_tails(good, **more)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="distance"):
        audit_tails(good).delta_lost(0.0)
