"""Laws of one number of an output, in closed form or by quadrature, on which white-box audits of the tables rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from scipy.special import betainc, expit, ive, logsumexp, ndtr

from dpverify.auditing.white_box import StatedLaw
from dpverify.checks import FloatArray
from dpverify.statements.audit_parts import first_coordinate

_CUTS = 2000
_SERIES = 1e-12
_FARTHEST = 12.0
"""Standard deviations from the outer centers up to which events begin and end."""
_ROUNDED = 1e-9
"""Relative: how close to its place a number with a probability of its own is sure to be."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_QUADRATURE = 1e-12
"""Of Gauss's rule with eight nodes in each of thousands of cells of a smooth density, relatively."""


def _beside(cuts: FloatArray) -> FloatArray:
    """Rising cuts, where the outer ones, at which masses may lie, are moved out and in by more than rounding."""
    aside = _ROUNDED * (cuts[-1] - cuts[0])
    ends = cuts[[0, -1]]
    return np.concatenate([cuts[1:-1], ends - aside, ends + aside])


def normal_mixture(
    weights: Any,
    centers: Any,
    stddevs: Any,
    *,
    ends: tuple[float, float] = (-math.inf, math.inf),
    error: float = 0.0,
    statistic: Callable[[Any], Any] = first_coordinate,
) -> StatedLaw:
    """A mixture of normal numbers, brought to an interval: what is beyond an end lies at it.

    `weights` add up to 1; `centers` and `stddevs` are one for each or one for all.
    """
    w, m, s = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(one, float)) for one in (weights, centers, stddevs))
    )
    low, high = ends

    def distribution(places: FloatArray) -> FloatArray:
        inside = ndtr((places[:, None] - m) / s) @ w
        return np.where(places < low, 0.0, np.where(places >= high, 1.0, inside))

    reach = _FARTHEST * float(s.max())
    cuts = np.linspace(max(float(m.min()) - reach, low), min(float(m.max()) + reach, high), _CUTS)
    return StatedLaw(statistic, distribution, _beside(cuts), error)


def by_density(
    log_density: Callable[[FloatArray], Any],
    low: float,
    high: float,
    *,
    kinks: tuple[float, ...] = (),
    statistic: Callable[[Any], Any] = first_coordinate,
) -> StatedLaw:
    """A number on [low, high] with a density, given by its logarithm up to a constant; it is smooth but at `kinks`."""
    edges = np.unique(np.concatenate([np.linspace(low, high, _CUTS + 1), kinks]))
    halves = np.diff(edges) / 2
    nodes = edges[:-1, None] + halves[:, None] * (1 + _NODES)
    values = np.asarray(log_density(nodes.ravel()), dtype=np.float64).reshape(nodes.shape)
    top = float(values.max())
    masses = halves * (np.exp(values - top) @ _WEIGHTS)
    whole = math.fsum(masses.tolist())
    below = np.concatenate([[0.0], np.cumsum(masses)]) / whole

    def distribution(places: FloatArray) -> FloatArray:
        inside = np.clip(places, low, high)
        cell = np.clip(np.searchsorted(edges, inside, side="right") - 1, 0, edges.size - 2)
        half = (inside - edges[cell]) / 2
        found = half[:, None] * (1 + _NODES) + edges[cell][:, None]
        there = np.exp(np.asarray(log_density(found.ravel())).reshape(found.shape) - top) @ _WEIGHTS
        return np.asarray(below[cell] + half * there / whole)

    return StatedLaw(statistic, distribution, edges, relative=_QUADRATURE)


def on_points(
    points: Any, exponents: Any, *, statistic: Callable[[Any], Any] = first_coordinate
) -> StatedLaw:
    """One of finitely many numbers, with probabilities proportional to the exponentials of `exponents`."""
    order = np.argsort(points, kind="stable")
    places = np.asarray(points, dtype=np.float64)[order]
    logs = np.asarray(exponents, dtype=np.float64)[order]
    below = np.concatenate([[0.0], np.cumsum(np.exp(logs - logsumexp(logs)))])

    def distribution(at: FloatArray) -> FloatArray:
        return np.asarray(np.minimum(below[np.searchsorted(places, at, side="right")], 1.0))

    apart = np.unique(places)
    return StatedLaw(statistic, distribution, (apart[1:] + apart[:-1]) / 2)


def best_of_two(
    single: Callable[[FloatArray], Any],
    costs: Callable[[FloatArray], Any],
    steepest: float,
    low: float,
    high: float,
    *,
    cells: int = _CUTS,
) -> StatedLaw:
    """The pick from two independent numbers on [low, high], with probabilities proportional to exp(-cost).

    `single` is the distribution function of each before it is brought to the interval, so that there is mass at its
    ends; `steepest` bounds the slope of the costs, which are taken at the middle of a cell: the logarithm of a
    probability of a pick moves by at most what the two costs are off by.
    """
    edges = np.linspace(low, high, cells + 1)
    inner = np.asarray(single(edges), dtype=np.float64)
    masses = np.concatenate([[inner[0]], np.diff(inner), [1 - inner[-1]]])
    at = np.asarray(costs(np.concatenate([[low], (edges[1:] + edges[:-1]) / 2, [high]])))
    ahead = 1 / (1 + np.exp(np.clip(at[:, None] - at[None, :], -700, 700)))
    picked = 2 * masses * (ahead @ masses)
    below = np.concatenate([[0.0], np.cumsum(picked)])

    def distribution(places: FloatArray) -> FloatArray:
        cell = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, cells - 1)
        part = np.asarray(single(places)) - inner[cell]
        share = np.clip(part / np.maximum(masses[cell + 1], 1e-300), 0.0, 1.0)
        inside = below[cell + 1] + share * picked[cell + 1]
        return np.where(places < low, 0.0, np.where(places >= high, 1.0, inside))

    relative = math.expm1(steepest * (high - low) / cells) + _QUADRATURE
    return StatedLaw(first_coordinate, distribution, _beside(edges), relative=relative)


def about_noisy_center(
    density: Callable[[FloatArray], Any],
    below: Callable[[Any], Any],
    center: float,
    radius: float,
    inside: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], Any],
) -> StatedLaw:
    """A number near a center of its own in [-1, 1], which is noisy and brought there, by Gauss's rule between bends.

    Args:
        density: of the noise.
        below: the noise's distribution function.
        center: what the noise is added to.
        radius: of the interval about the noisy center in which the number is, as far as that is in [-1, 1].
        inside: P[number <= x] given the noisy center, from x, that center and the interval's ends.
    """
    nodes, weights = np.polynomial.legendre.leggauss(20)

    def given(x: FloatArray, at: FloatArray) -> Any:
        low, high = np.maximum(-1.0, at - radius), np.minimum(1.0, at + radius)
        return np.where(x >= high, 1.0, np.where(x < low, 0.0, inside(x, at, low, high)))

    def distribution(places: FloatArray) -> FloatArray:
        fixed = [*np.linspace(-1.0, 1.0, 17), center, 1 - radius, radius - 1]
        bends = np.stack([np.full_like(places, b) for b in fixed] + [places - radius, places + radius])
        bends = np.sort(np.clip(bends, -1.0, 1.0), axis=0)
        found = np.zeros_like(places)
        for low, high in pairwise(bends):
            at = low + (high - low) / 2 * (1 + nodes[:, None])
            found += (high - low) / 2 * (weights @ (density(at - center) * given(places, at)))
        for end, mass in ((-1.0, below(-1.0 - center)), (1.0, 1 - below(1.0 - center))):
            found += mass * given(places, np.full_like(places, end))
        return found

    return StatedLaw(first_coordinate, distribution, _beside(np.linspace(-1.0, 1.0, 1001)), 1e-10)


def cut_normal(x: Any, low: Any, high: Any, mean: float, stddev: float) -> Any:
    """P[number <= x] of a normal number given that it is between two ends."""
    a, b, c = ((end - mean) / stddev for end in (low, high, np.clip(x, low, high)))
    return between(a, c) / between(a, b)


def between(low: Any, high: Any) -> Any:
    """Probability that a standard normal number is between, from the side where no digits cancel."""
    right = ndtr(-low) - ndtr(-high)
    return np.where(low > 0, right, ndtr(high) - ndtr(low))


def laplace(x: Any) -> Any:
    """Distribution function of the Laplace law of scale 1."""
    return np.where(x < 0, np.exp(np.minimum(x, 0.0)) / 2, 1 - np.exp(-np.maximum(x, 0.0)) / 2)


def averaged_draws(
    often: float, rare: float, share: float, steps: int, noise: float, radius: float
) -> StatedLaw:
    """Steps 1 / t of the way to a drawn record, each with noise that is divided by t: the mean of records and noises.

    A drawn record's point is `rare` with probability `share` and else `often`; the error is what leaving the interval
    of the radius about 0 may add, onto which every step is projected.
    """
    count = np.arange(steps + 1)
    left = 2 * steps * float(ndtr((max(abs(often), abs(rare)) - radius) / noise))
    weights = scipy.stats.binom.pmf(count, steps, share)
    centers = often + (rare - often) * count / steps
    return normal_mixture(weights, centers, noise / math.sqrt(steps), error=left)


def sum_of_draws(values: Any, count: int, stddev: float, *, statistic: Callable[[Any], Any]) -> StatedLaw:
    """The sum of some numbers drawn with replacement, and of a normal number, by its Fourier series.

    The error is what the series and the wrapping around of far values lose, at most.
    """
    drawn = np.asarray(values, dtype=np.float64)
    center, spread = count * float(drawn.mean()), math.hypot(stddev, math.sqrt(count) * float(drawn.std()))
    reach = _FARTHEST * spread
    waves = np.arange(1, math.ceil(_FARTHEST * reach / (math.pi * stddev)) + 1) * (math.pi / reach)
    turns = np.exp(1j * np.multiply.outer(waves, drawn - drawn.mean())).mean(axis=1) ** count
    # of the density on [-reach, reach], integrated from its left end
    parts = turns * np.exp(-((stddev * waves) ** 2) / 2) / (1j * waves * reach)

    def distribution(places: FloatArray) -> FloatArray:
        at = np.clip(places - center, -reach, reach)
        moved = np.exp(-1j * np.multiply.outer(at, waves)) - np.exp(1j * reach * waves)
        return np.asarray(np.clip((at + reach) / (2 * reach) - (moved @ parts).real, 0.0, 1.0))

    cuts = center + np.linspace(-reach, reach, _CUTS)
    return StatedLaw(statistic, distribution, cuts, _SERIES)


def on_ball(slopes: Any, direction: Any, scale: float) -> StatedLaw:
    """The component along a unit vector of a point of the unit ball, with a density of linear exponent.

    That is proportional to exp(-scale <slopes, w>). The rest of the point is integrated out in closed form, a modified
    Bessel function of half the dimension.
    """
    slope, unit = np.asarray(slopes, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    along, order = float(slope @ unit), (slope.size - 1) / 2
    across = scale * math.sqrt(max(float(slope @ slope) - along**2, 0.0))

    def log_density(t: FloatArray) -> FloatArray:
        room = np.maximum(1 - t**2, 1e-300)
        z = np.maximum(across * np.sqrt(room), 1e-12)
        return np.asarray(
            -scale * along * t + order * np.log(room) + np.log(ive(order, z)) + z - order * np.log(z)
        )

    return by_density(log_density, -1.0, 1.0, statistic=lambda w: np.asarray(w) @ unit)


def nearer(
    apart: float,
    scale: float,
    dimension: int,
    *,
    first: bool,
    statistic: Callable[[Any], Any],
    pick: float = 0.0,
) -> StatedLaw:
    """How much nearer a point is to a first place than to a second one, relative to how far apart these are.

    The point is one of them, the first or the second, plus noise with density proportional to exp(-||b|| / scale) in so
    many dimensions, at least two: its length has a Gamma law, its direction is uniform, and the cosine with the other
    place decides. Or it is picked from two such points, with probabilities proportional to exp(-pick ||b||^2), which
    changes the law of the length alone.
    """
    nodes, weights = np.polynomial.legendre.leggauss(200)
    farthest = dimension + 20 * math.sqrt(dimension)
    lengths = farthest / 2 * (1 + nodes)
    masses = weights * scipy.stats.gamma.pdf(lengths, dimension)
    masses /= math.fsum(masses.tolist())
    costs = pick * (scale * lengths) ** 2
    masses *= 2 * expit(costs - costs[:, None]) @ masses
    half = (dimension - 1) / 2

    def distribution(places: FloatArray) -> FloatArray:
        x = np.clip(places, -1.0, 1.0)[:, None]
        bent = apart * (1 - x**2) / (2 * scale * lengths)
        # the cosine is at least bent - x, or at most bent + x
        share = (1 - bent + x) / 2 if first else (1 + bent + x) / 2
        return np.asarray(betainc(half, half, np.clip(share, 0.0, 1.0)) @ masses)

    return StatedLaw(statistic, distribution, np.linspace(-1.0, 1.0, _CUTS)[1:-1], relative=1e-9)


def cosine(center: Any, unit: Any, stddev: float, *, error: float = 0.0) -> StatedLaw:
    """The cosine of a normal vector with a unit vector; to bring it to a ball about 0 changes no direction."""
    middle, along = np.asarray(center, dtype=np.float64), float(np.asarray(center) @ unit)
    across = math.sqrt(max(float(middle @ middle) - along**2, 0.0))
    nodes, weights = np.polynomial.legendre.leggauss(400)
    low = max(across - _FARTHEST * stddev, 0.0)
    high = across + (_FARTHEST + math.sqrt(middle.size)) * stddev
    rest = low + (high - low) / 2 * (1 + nodes)
    masses = (
        weights * rest * scipy.stats.ncx2.pdf((rest / stddev) ** 2, middle.size - 1, (across / stddev) ** 2)
    )
    masses /= math.fsum(masses.tolist())

    def distribution(places: FloatArray) -> FloatArray:
        x = np.clip(places, -1 + 1e-12, 1 - 1e-12)[:, None]
        return np.asarray(ndtr((x / np.sqrt(1 - x**2) * rest - along) / stddev) @ masses)

    found = math.hypot(along, across)
    reach = _FARTHEST * stddev / found
    cuts = np.linspace(max(along / found - reach, -1.0), min(along / found + reach, 1.0), _CUTS)[1:-1]
    return StatedLaw(
        lambda w: (np.asarray(w) @ unit) / np.linalg.norm(w, axis=1), distribution, cuts, error, relative=1e-9
    )
