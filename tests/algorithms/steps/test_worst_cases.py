"""Bounds on few steps of projected subgradient descent, from performance-estimation programs with exact certificates.

A program's largest value is found by Clarabel; its multipliers, rounded to rationals, prove it from above, and that is
checked in rational arithmetic alone (Drori and Teboulle 2014; Taylor, Hendrickx and Glineur 2017).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import clarabel
import numpy as np
import pytest
from scipy import sparse

from dpverify.algorithms.steps.last_iterate import constant_rates

SIZES: dict[str, float] = {"distance": 1.0, "diameter": math.inf, "norm": 1.0, "lipschitz": 1.0}
MARGIN, DIGITS = 1e-6, 40


class WrongCertificateError(Exception):
    """What the multipliers do not prove."""


@dataclass(frozen=True)
class Worst:
    """The largest weighted sum of f_t - f* on a convex set, |w_1 - w*| <= 1, all |g_t| <= 1, in any dimension.

    It is of a Gram matrix G of w_1 - w*, the gradients g_t and the normals n_t with w_(t+1) = w_t - h g_t - n_t, and of
    the values: each constraint is <A, G> + b f <= c.
    """

    weights: tuple[Fraction, ...]
    matrices: tuple[Any, ...]
    """A, symmetric, of fractions."""
    values: Any
    """b, of shape (constraints, points)."""
    bounds: tuple[int, ...]
    """c"""

    @classmethod
    def of(cls, weights: Sequence[Fraction], step: Fraction) -> Worst:
        points = len(weights)
        unit = np.array([[Fraction(int(i == j)) for j in range(2 * points)] for i in range(2 * points)])
        slopes, normals = unit[1 : points + 1], unit[points + 1 :]
        where, f = [0 * unit[0], unit[0]], [0 * unit[0, :points], *unit[:points, :points]]  # w* and f* first
        for t in range(points - 1):
            where.append(where[-1] - step * slopes[t] - normals[t])
        rows = [(where[1], where[1], f[0], 1), *((slope, slope, f[0], 1) for slope in slopes)]
        for j in range(points):
            rows += [
                (slopes[j], where[i] - where[j + 1], f[j + 1] - f[i], 0)
                for i in range(points + 1)
                if i != j + 1
            ]
            rows.append((f[0].repeat(2), f[0].repeat(2), -f[j + 1], 0))
        for t, normal in enumerate(normals):
            rows += [(normal, at - where[t + 2], f[0], 0) for at in where]
        products = [np.outer(left, right) for left, right, _, _ in rows]
        symmetric = tuple((one + one.T) / 2 for one in products)
        return cls(
            tuple(weights), symmetric, np.array([row[2] for row in rows]), tuple(row[3] for row in rows)
        )

    def solved(self) -> tuple[float, tuple[Fraction, ...]]:
        """The value, and rational multipliers y >= 0 with sum y b = weights and, by a margin, sum y A >= 0."""
        size = len(self.matrices[0])
        triangle = [(i, j) for j in range(size) for i in range(j + 1)]
        scaled = [
            [float(one[i, j]) * (1 if i == j else math.sqrt(2)) for i, j in triangle] for one in self.matrices
        ]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        count = len(self.bounds)
        cones = [
            clarabel.ZeroConeT(len(self.weights)),
            clarabel.NonnegativeConeT(count),
            clarabel.PSDTriangleConeT(size),
        ]
        matrix = np.vstack([self.values.T.astype(float), -np.eye(count), -np.array(scaled).T])
        found = []
        for margin in (0.0, MARGIN):
            right = [*map(float, self.weights), *[0.0] * count, *(-margin * (i == j) for i, j in triangle)]
            found.append(
                clarabel.DefaultSolver(
                    sparse.csc_matrix((count, count)),
                    np.array(self.bounds, dtype=float),
                    sparse.csc_matrix(matrix),
                    np.array(right),
                    cones,
                    settings,
                ).solve()
            )
            assert str(found[-1].status) == "Solved"
        multipliers = [Fraction(max(round(y * 2**DIGITS), 0), 2**DIGITS) for y in found[1].x]
        left = np.array(self.weights) - np.array(multipliers) @ self.values
        for t, missing in enumerate(left):  # to what says of f_t alone that it is small, or no less than f*
            alone = [
                k for k, row in enumerate(self.values) if np.count_nonzero(row) == 1 and row[t] * missing > 0
            ]
            if alone:
                multipliers[alone[0]] += abs(missing)
        return found[0].obj_val, tuple(multipliers)

    def proved(self, multipliers: Sequence[Fraction]) -> Fraction:
        """The bound that they prove: weights f = sum y b f <= sum y c - <sum y A, G>. Rational arithmetic alone."""
        y = np.array(multipliers)
        if min(multipliers) < 0:
            raise WrongCertificateError("a multiplier is below 0")
        if list(y @ self.values) != list(self.weights):
            raise WrongCertificateError("values are left")
        rest = sum(one * matrix for one, matrix in zip(multipliers, self.matrices, strict=True))
        for k in range(len(rest)):  # L D L^T
            if rest[k, k] < 0 or (rest[k, k] == 0 and any(rest[k, k + 1 :])):
                raise WrongCertificateError("a pivot is below 0")
            if rest[k, k]:
                rest = rest - np.outer(rest[:, k], rest[k]) / rest[k, k]
        return Fraction(sum(one * bound for one, bound in zip(multipliers, self.bounds, strict=True)))


def mean(points: int) -> list[Fraction]:
    return [Fraction(1, points)] * points


def last(points: int) -> list[Fraction]:
    return [Fraction(int(t == points - 1)) for t in range(points)]


@pytest.mark.parametrize("points", range(1, 6))
def test_the_bound_on_the_mean_is_the_worst_case(points: int) -> None:
    """From above by a certificate, from below by the descent on |w| that ends at h, both in rational numbers."""
    step = Fraction(1, points)
    _, multipliers = (worst := Worst.of(mean(points), step)).solved()
    attained = sum(1 - step * t for t in range(points)) / points
    assert attained <= worst.proved(multipliers) <= attained + Fraction(1, 50_000)
    assert constant_rates(points).mean(points, float(step), **SIZES) == pytest.approx(
        float(attained), rel=1e-12
    )
    _, multipliers = (worst := Worst.of(mean(points), step / 2)).solved()
    usual = constant_rates(points).mean(points, float(step / 2), **SIZES)
    assert float(worst.proved(multipliers)) <= min(usual, 1.0) + 2e-5


@pytest.mark.parametrize(
    ("points", "step"), [(1, (1, 1)), (2, (3, 5)), (3, (2, 5)), (4, (1, 2)), (5, (3, 10))], ids=str
)
def test_the_bound_on_the_last_point_is_close_to_the_worst_case(points: int, step: tuple[int, int]) -> None:
    worst = Worst.of(last(points), Fraction(*step))
    value, multipliers = worst.solved()
    rate = step[0] / step[1]
    found = constant_rates(points).last(rate, **SIZES)
    assert value <= found * (1 + 1e-6)
    assert found <= 1.35 * value
    assert value - 1e-6 <= worst.proved(multipliers) <= value + 2e-5
    near, noise = constant_rates(points).window(1)
    assert value > 0.7 * near / rate + 0.7 * rate * noise  # a bound of 70 % would be caught


def test_descents_are_among_those_that_the_program_allows() -> None:
    """Sums of distances to planes through w*, the set a ball around w_1 with w* on its boundary; projections happen."""
    rng, points, step, projected = np.random.default_rng(0), 4, 0.6, 0
    worst = Worst.of(mean(points), Fraction(3, 5))
    bound = float(worst.proved(worst.solved()[1]))
    for _ in range(50):
        planes = rng.normal(size=(4, 3))
        planes /= 4 * np.linalg.norm(planes, axis=1)[:, None]
        best = rng.normal(size=3)
        best *= 0.5 / np.linalg.norm(best)
        w, rows, values = np.zeros(3), [], []
        for _ in range(points):
            values.append(float(np.abs(planes @ (w - best)).sum()))
            slope = np.sign(planes @ (w - best)) @ planes
            moved = (w - step * slope) / max(1.0, 2 * float(np.linalg.norm(w - step * slope)))
            rows.append((slope, w - step * slope - moved))
            w = moved
        projected += sum(float(np.linalg.norm(normal)) > 1e-9 for _, normal in rows[:-1])
        vectors = np.array([-best, *(slope for slope, _ in rows), *(normal for _, normal in rows[:-1])])
        held = np.array([float(np.sum(one.astype(float) * (vectors @ vectors.T))) for one in worst.matrices])
        assert np.all(held + worst.values.astype(float) @ values <= np.array(worst.bounds) + 1e-12)
        assert np.mean(values) <= bound
    assert projected > 0


def test_wrong_certificates_prove_nothing() -> None:
    worst = Worst.of(mean(3), Fraction(1, 3))
    right = worst.solved()[1]
    fair = [k for k, row in enumerate(worst.values) if not any(row)]
    of_values = next(k for k, row in enumerate(worst.values) if any(row))
    for k, change, said in (
        (0, -right[0] / 100, "pivot"),
        (0, -right[0], "pivot"),
        (fair[1], -right[fair[1]] / 100, "pivot"),
        (of_values, Fraction(1, 2**DIGITS), "values are left"),
        (fair[-1], -right[fair[-1]] - 1, "below 0"),
    ):
        with pytest.raises(WrongCertificateError, match=said):
            worst.proved([*right[:k], right[k] + change, *right[k + 1 :]])
    with pytest.raises(WrongCertificateError, match="pivot"):
        Worst.of(mean(3), Fraction(1, 2)).proved(right)
