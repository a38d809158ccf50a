"""Gaussian noise on polar grids, by two products of small matrices.

The density after a step is a sum of Gaussians around the places of a layout. Its Fourier series in the angle is short,
and each coefficient is a short polynomial in the distance. Orders and degrees are chosen so that what they leave out is
below 1e-17 of the largest density.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from dpverify.auditing.exact.closeness import REACH
from dpverify.auditing.exact.grids import Rings
from dpverify.checks import FloatArray

_LEFT_OUT = 1e-17
"""Of the largest density, what a truncated series may leave out."""
_FINE, _FINE_WEIGHTS = np.polynomial.legendre.leggauss(8)


@dataclass(frozen=True)
class Polynomials:
    """Interpolation on [0, length] at Chebyshev points, by barycentric weights."""

    length: float
    count: int

    @cached_property
    def places(self) -> FloatArray:
        """The Chebyshev points, shape (count,)."""
        steps = (2 * np.arange(self.count) + 1) * math.pi / (2 * self.count)
        return np.asarray(self.length * np.sin(steps / 2) ** 2)

    @cached_property
    def _weights(self) -> FloatArray:
        steps = (2 * np.arange(self.count) + 1) * math.pi / (2 * self.count)
        return np.asarray((-1.0) ** np.arange(self.count) * np.sin(steps))

    def at(self, points: FloatArray) -> FloatArray:
        """Values of the cardinal polynomials, shape (points, count)."""
        apart = points[:, None] - self.places
        hit = apart == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = self._weights / apart
            values = terms / terms.sum(axis=1, keepdims=True)
        return np.asarray(np.where(hit.any(axis=1, keepdims=True), hit.astype(np.float64), values))

    @cached_property
    def derivatives(self) -> FloatArray:
        """From values at the places to derivatives there, shape (count, count)."""
        apart = self.places[:, None] - self.places
        np.fill_diagonal(apart, 1.0)
        matrix = self._weights / self._weights[:, None] / apart
        np.fill_diagonal(matrix, 0.0)
        np.fill_diagonal(matrix, -matrix.sum(axis=1))
        return matrix


def _degree(length: float, stddev: float) -> int:
    """Chebyshev points on an interval for a Gaussian's density, relative to its largest value.

    On the ellipse with foci at the ends that is larger by rho, a Gaussian of a complex argument is at most
    exp(b^2 / 2 s^2), b being the shorter half-axis.
    """
    rho = np.geomspace(1.01, 200.0, 400)
    shorter = length / 2 * (rho - 1 / rho) / 2
    logs = math.log(4) + shorter**2 / (2 * stddev**2) - np.log(rho - 1)
    needed = (logs - math.log(_LEFT_OUT)) / np.log(rho)
    return math.ceil(float(needed.min())) + 2


def _order(product: float) -> int:
    """Fourier coefficients of exp(product (cos t - 1)), from the strip of width asinh(k / product)."""
    k = np.arange(1, 64 + math.ceil(20 * math.sqrt(product + 1) + product / 4))
    width = np.arcsinh(k / max(product, 1e-300))
    logs = product * (np.cosh(width) - 1) - k * width
    enough = np.flatnonzero(logs < math.log(_LEFT_OUT) - np.log(k + 1.0))
    return int(k[enough[0]])


class RingNoise:
    """Gaussian noise from places on rings to distances and angles.

    Coefficient k of the density at distance r is sum over c of T_c(r) G[c, k], T being the cardinal polynomials.
    """

    def __init__(self, layout: Rings, stddev: float) -> None:
        self._grid = grid = layout.grid
        self.end = max(layout.radius, grid.radius) + REACH * stddev
        self.order = _order(layout.radius * self.end / stddev**2)
        here = Polynomials(layout.radius, _degree(layout.radius, stddev))
        self.there = Polynomials(self.end, _degree(self.end, stddev))
        radii = np.asarray(grid.ring * np.arange(layout.cells + 1, dtype=np.float64))
        self._from = here.at(radii)
        samples = 2 * (self.order + 1)
        cosines = np.cos(2 * math.pi * np.arange(samples) / samples)
        r, s = self.there.places[:, None, None], here.places[None, :, None]
        squares = (r - s) ** 2 + 2 * r * s * (1 - cosines)
        density = np.exp(-squares / (2 * stddev**2)) / (2 * math.pi * stddev**2)
        # shape (order + 1, there, here)
        self._kernel = np.moveaxis(np.fft.rfft(density, axis=-1).real / samples, -1, 0)[
            : self.order + 1
        ].copy()
        self._turns = grid.turns
        assert 2 * self.order < grid.turns, "angles are finer than a Gaussian's coefficients by far"

    def coefficients(self, moved: FloatArray) -> NDArray[np.complex128]:
        """G for masses on a layout, shape (rows, rings, turns); shape (rows, order + 1, there)."""
        around = fft.rfft(moved, axis=-1)[..., : self.order + 1]
        inner = np.einsum("lc,rlk->rkc", self._from, around, optimize=True)
        return np.asarray(np.matmul(self._kernel, inner[..., None])[..., 0])

    def rings(self, matrix: FloatArray, factors: NDArray[Any], found: NDArray[np.complex128]) -> FloatArray:
        """Values on all angles of the grid: matrix of shape (rings, there), a factor for each order."""
        series = (found @ matrix.T) * factors[:, None] * self._turns
        padded = np.zeros((*series.shape[:-2], self._turns // 2 + 1, series.shape[-1]), dtype=np.complex128)
        padded[..., : self.order + 1, :] = series
        return np.moveaxis(fft.irfft(padded, self._turns, axis=-2), -1, -2)

    def at(self, points: FloatArray, found: NDArray[np.complex128]) -> FloatArray:
        """Densities of one row at distances and angles, shape (p, 2)."""
        return self._series(self.there.at(points[:, 0]) @ found.T, points[:, 1])

    def around(self, angles: FloatArray, found: NDArray[np.complex128]) -> FloatArray:
        """Of one row, the mass beyond the circle, per angle."""
        return self._series((found @ self.beyond)[None, :], angles)

    def _series(self, coefficients: NDArray[np.complex128], angles: FloatArray) -> FloatArray:
        turns = np.exp(1j * angles[:, None] * np.arange(self.order + 1))
        turns[:, 1:] *= 2
        return np.asarray((turns * coefficients).real.sum(axis=1))

    @cached_property
    def orders(self) -> FloatArray:
        """0, ..., order."""
        return np.arange(self.order + 1, dtype=np.float64)

    @cached_property
    def beyond(self) -> FloatArray:
        """Weights of shape (there,) for the integral of distance times density beyond the circle."""
        nodes, weights = np.polynomial.legendre.leggauss(self.there.count // 2 + 2)
        half = (self.end - self._grid.radius) / 2
        places = self._grid.radius + half * (nodes + 1)
        return np.asarray((half * weights * places) @ self.there.at(places))

    @cached_property
    def hats(self) -> FloatArray:
        """Weights of shape (rings, there) for the integral of distance times density times each ring's hat.

        That of the last ring is cut off at the circle.
        """
        radii, h = self._grid.radii, self._grid.ring
        fractions, weights = (_FINE + 1) / 2, _FINE_WEIGHTS / 2 * h
        places = radii[:-1, None] + h * fractions
        values = self.there.at(places.ravel()).reshape(*places.shape, -1) * (places * weights)[..., None]
        matrix = np.zeros((len(radii), self.there.count))
        matrix[:-1] += np.einsum("f,cft->ct", 1 - fractions, values)
        matrix[1:] += np.einsum("f,cft->ct", fractions, values)
        return matrix
