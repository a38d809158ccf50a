"""Lattices that a ziggurat and the polar method leave: their own numbers lie on them, and those of others do not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.errors import InvalidArgumentError, InvalidDataError

from ...benchmarks.constructions import Polar, RatioOfUniforms, Ziggurat
from .samplers import polar

Array = NDArray[np.floating]


def close_to_zero(rng: np.random.Generator, dtype: type) -> Array:
    made = [rng.standard_normal(2**20, dtype=dtype) for _ in range(8)]
    return np.concatenate([some[np.abs(some) < 1e-3] for some in made])


def test_a_ziggurat_of_32_bits() -> None:
    """NumPy's: 23 bits in a layer, 24 in the tail, which ends at 8.2 standard deviations."""
    rng, made = np.random.default_rng(0), Ziggurat(23, 24, 24)
    held = made.check(close_to_zero(rng, np.float32))
    assert held.holds
    assert held.checked > 10 * held.by_chance
    assert made.end == pytest.approx(8.2067, abs=1e-4)
    other = made.check(close_to_zero(rng, np.float64).astype(np.float32))
    assert other.off > 0.8 * other.checked > 10
    coarser = Ziggurat(20, 24, 24).check(close_to_zero(rng, np.float32))
    assert not coarser.holds


def test_widths_of_layers_are_those_of_numpy() -> None:
    """The table in its source: edge and narrowest layer; areas are alike."""
    widths = Ziggurat().widths
    assert widths.size == 256
    assert widths[1] == pytest.approx(3.6541528853610088, rel=1e-15)
    assert widths[0] * 2.0**-52 == pytest.approx(8.68362706080130616677e-16, rel=1e-14)
    assert Ziggurat().smallest_gap == pytest.approx(4.77933017572773682428e-17, rel=1e-13)
    heights = np.exp(-(widths[1:] ** 2) / 2)
    areas = widths[1:-1] * np.diff(heights)
    assert areas == pytest.approx(widths[0] * heights[0], rel=1e-9)
    assert Ziggurat().end == pytest.approx(13.7076, abs=1e-4)


def test_the_polar_method() -> None:
    made = Polar()
    for numbers in (polar(np.random.default_rng(1), 200_000), np.random.RandomState(0).normal(size=200_000)):
        held = made.check(numbers)
        assert held.holds
        assert held.checked > 20 * held.by_chance
        # pairs that are split, and numbers of another origin
        for other in (numbers[1:], np.random.default_rng(2).normal(size=200_000)):
            found = made.check(other)
            assert found.off > 0.8 * found.checked > 10
    assert made.end == pytest.approx(12.0073, abs=1e-4)


def test_ends_are_those_of_the_smallest_uniform_numbers() -> None:
    step = 2.0**-52
    assert Polar().end == pytest.approx(math.sqrt(-2 * math.log(step**2)))
    assert RatioOfUniforms().end == pytest.approx(2 * math.sqrt(-math.log(2.0**-53)))
    edge = Ziggurat().widths[1]
    assert Ziggurat().end == pytest.approx(edge - math.log(2.0**-53) / edge)


def test_bad_input() -> None:
    for bad in (np.zeros((2, 2)), np.arange(5), np.array([np.nan])):
        for made in (Polar(), Ziggurat()):
            with pytest.raises(InvalidDataError, match="allowed: finite floats"):
                made.check(bad)
    for call in (lambda: Polar(7), lambda: Ziggurat(layers=1), lambda: RatioOfUniforms(65)):
        with pytest.raises(InvalidArgumentError):
            call()
    assert not Polar().check(np.zeros(10)).checked
