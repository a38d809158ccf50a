"""Exact profiles of random chains against quadratures that round no states.

Maps are affine between random jumps, some of them at the ends of the set, and expand as well as contract. The
quadratures are accurate to about 1e-6 on an interval and to a thousandth on a disc, whose last law they cut into cells.
`DPVERIFY_FUZZ_EXAMPLES` says how many chains are tried: a tenth of it on an interval, a hundredth on a disc.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.auditing.exact import NoisyChain, NoisyStep, PiecewiseMap, StepMap, last_iterate_profile
from dpverify.auditing.exact.chains import Map
from dpverify.checks import FloatArray
from dpverify.problems import Ball, Box

from ..auditing.exact.quadratures import Law, on_disc, on_interval, profile_of
from .test_accountants import EXAMPLES, fuzz

EPSILONS = np.array([0.0, 0.2, 0.5, 1.0, 2.0])

units = st.floats(-1, 1)
factors = st.one_of(st.just(0.0), st.floats(-1.2, 1.2))
places = st.integers(-70, 70).map(lambda k: k / 64)
"""Of jumps: some apart from each other, some at the ends of the set or beyond."""


def piecewise(pieces: list[StepMap], normal: list[float], jumps: list[float], *, right: bool) -> Map:
    """A map of pieces; with `right` a state on a jump lies above it."""
    if not jumps:
        return pieces[0]
    side = "right" if right else "left"

    def function(w: FloatArray) -> FloatArray:
        images = np.stack([piece.images(w) for piece in pieces])
        return np.asarray(images[np.searchsorted(jumps, w @ np.array(normal), side), np.arange(len(w))])

    return PiecewiseMap(function, tuple(pieces), normal, jumps)


@st.composite
def maps_of_a_line(draw: st.DrawFn) -> Map:
    jumps = sorted(draw(st.sets(st.one_of(st.sampled_from([-1.0, 1.0]), places), max_size=3)))
    normal = draw(st.sampled_from([1.0, -1.0, 0.5]))

    def piece() -> StepMap:
        kept, moved = draw(factors), draw(units)
        return StepMap(lambda w: kept * w + moved, abs(kept), 0.0, 0.0)

    values = sorted(normal * jump for jump in jumps)
    return piecewise(
        [piece() for _ in range(len(jumps) + 1)], [normal], values, right=bool(draw(st.booleans()))
    )


@st.composite
def maps_of_a_plane(draw: st.DrawFn) -> Map:
    """Of the disc around (0.3, -0.2) with radius 1: turns and stretches about its center, then moves."""
    center = np.array([0.3, -0.2])

    def piece() -> StepMap:
        angle, kept, other, moved = (
            draw(st.floats(0, math.pi)),
            draw(factors),
            draw(factors),
            [draw(units), draw(units)],
        )
        turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        matrix = turn * np.array([kept, other])
        shift = center - matrix @ center + 0.6 * np.array(moved)
        return StepMap(lambda w: w @ matrix.T + shift, max(abs(kept), abs(other)) * (1 + 1e-12), 0.0, 0.0)

    direction = draw(st.floats(0, 2 * math.pi))
    normal = [2 * math.cos(direction), 2 * math.sin(direction)]
    levels = sorted(draw(st.sets(places, max_size=2)))
    jumps = [2 * level + float(center @ normal) for level in levels]
    return piecewise([piece() for _ in range(len(jumps) + 1)], normal, jumps, right=True)


def chains(
    maps: list[Map], other: Map, place: int, noise: list[float], start: list[float], constraint: Box | Ball
) -> tuple[NoisyChain, NoisyChain]:
    shared = [NoisyStep((one,), stddev) for one, stddev in zip(maps, noise, strict=False)]
    changed = [*shared[:place], NoisyStep((other,), noise[place]), *shared[place + 1 :]]
    return NoisyChain(start, tuple(changed), constraint), NoisyChain(start, tuple(shared), constraint)


def holds(
    pair: tuple[NoisyChain, NoisyChain], law: Callable[[NoisyChain], Law], accuracy: float, off: float
) -> None:
    """The quadrature's profile is in the enclosure, up to what the quadrature may be off by, relatively."""
    found = last_iterate_profile(*pair, delta=0.05, accuracy=accuracy)
    for directed, (one, two) in ((found.left_over_right, pair), (found.right_over_left, pair[::-1])):
        true = profile_of(law(one), law(two), EPSILONS)
        low, high = directed.delta(EPSILONS)
        slack = off * true + 1e-6
        assert np.all((low <= true + slack) & (true <= high + slack)), (low, true, high)


@fuzz(0.1)
@given(
    st.lists(maps_of_a_line(), min_size=2, max_size=4), maps_of_a_line(), st.integers(0, 1),
    st.lists(st.floats(0.25, 0.8), min_size=4, max_size=4), st.one_of(units, st.sampled_from([-1.0, 1.0])),
)  # fmt: skip
def test_on_an_interval(maps: list[Map], other: Map, place: int, noise: list[float], start: float) -> None:
    pair = chains(maps, other, place, noise, [start], Box([-1.0], [1.0]))
    holds(pair, on_interval, 0.05, 1e-5)


@settings(fuzz(), max_examples=max(1, EXAMPLES // 100))
@given(
    st.lists(maps_of_a_plane(), min_size=2, max_size=3), maps_of_a_plane(), st.integers(0, 1),
    st.lists(st.floats(0.35, 0.8), min_size=3, max_size=3), st.floats(0, 2 * math.pi), st.floats(0, 0.99),
)  # fmt: skip
def test_on_a_disc(
    maps: list[Map], other: Map, place: int, noise: list[float], angle: float, out: float
) -> None:
    start = [0.3 + out * math.cos(angle), -0.2 + out * math.sin(angle)]
    pair = chains(maps, other, place, noise, start, Ball(2, 1.0, [0.3, -0.2]))
    holds(pair, lambda chain: on_disc(chain, 28), 0.15, 3e-3)


def test_a_little_less_noise_is_seen() -> None:
    maps = [StepMap(lambda w, by=by: 0.5 * w + by, 0.5, 0.0, 0.0) for by in (0.4, -0.3, 0.0)]

    def pair(stddev: float) -> tuple[NoisyChain, NoisyChain]:
        return chains(maps[:2], maps[2], 1, [0.4, stddev], [0.0], Box([-1.0], [1.0]))

    truth = pair(0.4)
    quieter = dict(zip(truth, pair(0.37), strict=True))
    holds(truth, on_interval, 0.05, 1e-5)
    with pytest.raises(AssertionError):
        holds(truth, lambda chain: on_interval(quieter[chain]), 0.05, 1e-5)


def test_a_little_less_noise_is_seen_on_a_disc() -> None:
    center = np.array([0.3, -0.2])
    maps = [
        StepMap(lambda w, by=by: center + 0.5 * (w - center) + by, 0.5, 0.0, 0.0)
        for by in (np.array([0.5, 0.1]), np.array([-0.4, 0.0]), np.array([0.1, 0.3]))
    ]

    def pair(stddev: float) -> tuple[NoisyChain, NoisyChain]:
        return chains(maps[:2], maps[2], 1, [0.5, stddev], [0.3, -0.2], Ball(2, 1.0, [0.3, -0.2]))

    truth = pair(0.5)
    quieter = dict(zip(truth, pair(0.4), strict=True))
    holds(truth, lambda chain: on_disc(chain, 28), 0.15, 3e-3)
    with pytest.raises(AssertionError):
        holds(truth, lambda chain: on_disc(quieter[chain], 28), 0.15, 3e-3)
