"""Last laws of chains by quadratures that round no states, which are exact up to a small error for smooth densities."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from scipy.stats import norm

from dpverify.auditing.exact import NoisyChain, PiecewiseMap
from dpverify.auditing.exact.grids import interval_of
from dpverify.checks import FloatArray
from dpverify.problems import Ball

Law = tuple[FloatArray, FloatArray]
"""Masses of cells, and of what a projection takes to the boundary."""


def profile_of(left: Law, right: Law, epsilons: FloatArray) -> FloatArray:
    p, q = np.concatenate(left), np.concatenate(right)
    return np.array([np.maximum(p - math.exp(e) * q, 0).sum() for e in epsilons])


def on_interval(chain: NoisyChain, nodes: int = 60) -> Law:
    """Last law on an interval, by Gauss's rule between all jumps, and the masses of both ends."""
    ends = interval_of(chain.constraint)
    assert ends is not None
    (low,), (high,) = ends
    jumps = {
        jump / one.normal[0]
        for step in chain.steps
        for one in step.maps
        if isinstance(one, PiecewiseMap)
        for jump in one.jumps
    }
    edges = [low, *sorted(jump for jump in jumps if low < jump < high), high]
    places, weights = np.polynomial.legendre.leggauss(nodes)
    x = np.concatenate([a + (places + 1) / 2 * (b - a) for a, b in pairwise(edges)])
    w = np.concatenate([weights / 2 * (b - a) for a, b in pairwise(edges)])
    fine = np.linspace(low, high, 8_001)
    middle = (fine[:-1] + fine[1:]) / 2
    points, masses = np.array(chain.start), np.ones(1)
    for step in chain.steps:
        density, onto, at = np.zeros(x.size), np.zeros(2), np.zeros(middle.size)
        for one, probability in zip(step.maps, step.probabilities or (), strict=True):
            scaled = norm(loc=one.images(points[:, None]), scale=step.noise_stddev)
            density += probability * masses @ scaled.pdf(x)
            at += probability * masses @ scaled.pdf(middle) if step is chain.steps[-1] else 0.0
            onto += probability * np.array([masses @ scaled.cdf(low)[:, 0], masses @ scaled.sf(high)[:, 0]])
        points, masses = np.concatenate([x, [low, high]]), np.concatenate([w * density, onto])
    return at * np.diff(fine), onto


def on_square(chain: NoisyChain, nodes: int = 160) -> Law:
    """Law after two steps on [-1, 1]^2 by the midpoint rule: inside, on edges and in corners."""
    (first,), (second,) = chain.steps[0].maps, chain.steps[1].maps
    s = chain.steps[0].noise_stddev
    h = 2 / nodes
    middle = -1 + h * (np.arange(nodes) + 0.5)
    line = np.concatenate([[-1.0], middle, [1.0]])

    def masses(means: FloatArray) -> FloatArray:
        """Of one coordinate: (points, nodes + 2)."""
        inside = norm.pdf(middle, means[:, None], s) * h
        return np.concatenate(
            [norm.cdf(-1, means, s)[:, None], inside, norm.sf(1, means, s)[:, None]], axis=1
        )

    start = first.images(np.array([chain.start]))
    between = (masses(start[:, 0]).T @ masses(start[:, 1])).ravel()
    points = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    images = second.images(points)
    total = np.zeros((nodes + 2, nodes + 2))
    for part in np.array_split(np.arange(len(points)), 8):
        total += (masses(images[part, 0]) * between[part, None]).T @ masses(images[part, 1])
    return total.ravel(), np.empty(0)


def on_disc(chain: NoisyChain, order: int, last: tuple[int, int] = (40, 120)) -> Law:
    """Last law on a disc, by Gauss's rule on both sides of each map's jump; at the end on equal cells.

    In coordinates sin(a) across the jump and cos(a) t along it, both parts of the disc are rectangles.
    """
    disc = chain.constraint
    assert isinstance(disc, Ball)
    center, radius = disc.center(), disc.radius
    places, weights = np.polynomial.legendre.leggauss(order)

    def gauss(*edges: float) -> tuple[FloatArray, FloatArray]:
        pairs = list(pairwise(edges))
        points = [a + (places + 1) / 2 * (b - a) for a, b in pairs]
        return np.concatenate(points), np.concatenate([weights / 2 * (b - a) for a, b in pairs])

    def density(x: FloatArray, means: FloatArray, masses: FloatArray, s: float) -> FloatArray:
        square = (x**2).sum(axis=1)[:, None] + (means**2).sum(axis=1) - 2 * x @ means.T
        return np.asarray(np.exp(-square / (2 * s**2)) @ masses / (2 * math.pi * s**2))

    def onto(angles: FloatArray, means: FloatArray, masses: FloatArray, s: float) -> FloatArray:
        """Mass beyond the circle, per angle."""
        total = np.zeros(angles.size)
        far = np.linalg.norm(means - center, axis=1).max() + 7 * s
        for out, weight in zip(*gauss(radius, far), strict=True):
            total += weight * out * density(center + out * turned(angles), means, masses, s)
        return total

    def turned(angles: FloatArray) -> FloatArray:
        return np.stack([np.cos(angles), np.sin(angles)], axis=-1)

    means = np.concatenate([one.images(np.array([chain.start])) for one in chain.steps[0].maps])
    masses = np.array(chain.steps[0].probabilities)
    for before, step in pairwise(chain.steps):
        s = before.noise_stddev
        images, moved = [], []
        for one, probability in zip(step.maps, step.probabilities or (), strict=True):
            normal, cuts = np.array([1.0, 0.0]), []
            if isinstance(one, PiecewiseMap):
                length = np.linalg.norm(one.normal)
                normal = np.asarray(one.normal) / length
                levels = (np.asarray(one.jumps) / length - normal @ center) / radius
                cuts = [math.asin(level) for level in levels if abs(level) < 1]
            a, across = gauss(-math.pi / 2, *cuts, math.pi / 2)
            t, along = gauss(-1, 1)
            side = np.array([-normal[1], normal[0]])
            inside = center + radius * (
                (np.sin(a)[:, None, None] * normal) + (np.cos(a)[:, None] * t)[..., None] * side
            ).reshape(-1, 2)
            area = radius**2 * ((across * np.cos(a) ** 2)[:, None] * along).ravel()
            direction = math.atan2(normal[1], normal[0])
            # a circle, from its point farthest along the normal: a jump at angles that are alike on both sides
            around = [math.pi / 2 - cut for cut in reversed(cuts)]
            angles, arcs = gauss(
                0, *around, math.pi, *(2 * math.pi - each for each in reversed(around)), 2 * math.pi
            )
            angles = angles + direction
            images += [one.images(inside), one.images(center + radius * turned(angles))]
            moved += [
                probability * area * density(inside, means, masses, s),
                probability * arcs * onto(angles, means, masses, s),
            ]
        means, masses = np.concatenate(images), np.concatenate(moved)
    s = chain.steps[-1].noise_stddev
    r = radius * (np.arange(last[0]) + 0.5) / last[0]
    angles = 2 * math.pi * np.arange(last[1]) / last[1]
    inner = (center + r[:, None, None] * turned(angles)).reshape(-1, 2)
    area = np.repeat(r, last[1]) * radius / last[0] * 2 * math.pi / last[1]
    return density(inner, means, masses, s) * area, onto(angles, means, masses, s) * 2 * math.pi / last[1]
