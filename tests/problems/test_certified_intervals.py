"""Intervals around minima hold the exact minimum, however ill-conditioned the data: against rational arithmetic.

The exact risks and minima here are computed with `fractions.Fraction` and mpmath and share no code with the program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.errors import InvalidDataError
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    CertifiedMinimum,
    ConstraintSet,
    ContractOrDrift,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Problem,
    Ridge,
    Simplex,
    Squared,
    certify,
    minimize,
)
from dpverify.problems.enclosures import above, below
from dpverify.problems.minimizers import fenchel_bound, first_order_bound

Vector = NDArray[np.float64]


def holds(minimum: CertifiedMinimum, value: Any) -> bool:
    """Without any room for rounding; infinite ends hold everything."""
    lower, upper = minimum.value.lower, minimum.value.upper
    assert minimum.value.rigorous
    return (lower == -math.inf or Fraction(lower) <= value) and (
        upper == math.inf or value <= Fraction(upper)
    )


def rational(rows: Vector) -> list[list[Fraction]]:
    return [[Fraction(v) for v in row] for row in rows.tolist()]


def exact_least_squares(features: Vector, labels: Vector) -> Fraction:
    """Smallest mean of (<w, x> - y)^2 / 2 over all w, by Gauss and Jordan on the normal equations."""
    x, y = rational(features), [Fraction(v) for v in labels.tolist()]
    d = len(x[0])
    rows = [
        [sum(r[a] * r[b] for r in x) for b in range(d)] + [sum(r[a] * t for r, t in zip(x, y, strict=True))]
        for a in range(d)
    ]
    w, done = [Fraction(0)] * d, []
    for j in range(d):
        pivot = next((i for i in range(len(done), d) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[len(done)], rows[pivot] = rows[pivot], rows[len(done)]
        here = [v / rows[len(done)][j] for v in rows[len(done)]]
        rows = [
            here if i == len(done) else [v - row[j] * h for v, h in zip(row, here, strict=True)]
            for i, row in enumerate(rows)
        ]
        done.append(j)
    for i, j in enumerate(done):
        w[j] = rows[i][d]
    residuals = [sum(a * b for a, b in zip(w, r, strict=True)) - t for r, t in zip(x, y, strict=True)]
    return sum((r * r for r in residuals), Fraction(0)) / (2 * len(y))


def records(seed: int, n: int, d: int) -> tuple[Vector, Vector, np.random.Generator]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    x /= 2.0 * np.linalg.norm(x, axis=1, keepdims=True)
    return x, rng.uniform(-1, 1, n), rng


@pytest.mark.parametrize(
    "kind", ["tiny feature", "nearly duplicated", "all nearly one", "dependent", "mixed scales"]
)
def test_least_squares_holds_the_exact_minimum(kind: str) -> None:
    for seed in range(15):
        x, y, rng = records(seed, 12, 3)
        if kind == "tiny feature":
            x[:, 0] *= 10.0 ** rng.uniform(-9, -5)
        elif kind == "nearly duplicated":
            x[:, 1] = x[:, 0] + 10.0 ** rng.uniform(-16, -6) * rng.normal(size=12)
        elif kind == "all nearly one":
            x[:, 1:] = x[:, :1] + 1e-9 * rng.normal(size=(12, 2))
        elif kind == "dependent":
            x[:, 1] = 0.5 * x[:, 2]
            x[:, 0] = 0.0
        else:
            x *= 10.0 ** rng.uniform(-150, 0, 3)
        minimum = minimize(Problem(Squared(math.inf), AllSpace(3)), Dataset(x, y))
        assert holds(minimum, exact_least_squares(x, y))
        if kind in ("tiny feature", "dependent", "mixed scales"):
            assert minimum.duality_gap < 1e-15


def test_one_tiny_record() -> None:
    """Linear: no minimum. Logistic and hinge: an infimum of 0, not the log 2 and the 1 at the origin."""
    for size in (1e-5, 1e-15, 1e-100, 1e-300):
        data = Dataset([[size]], [1.0])
        assert minimize(Problem(Linear(), AllSpace(1)), data).value.lower == -math.inf
        for loss in (Logistic(), Hinge()):
            minimum = minimize(Problem(loss, AllSpace(1)), data)
            assert minimum.value.lower == 0.0
            assert minimum.value.upper < 1e-6
    with pytest.raises(InvalidDataError, match="duality gap of inf"):
        minimize(Problem(Linear(), AllSpace(1)), Dataset([[1e-15]], [1.0]), largest_gap=1.0)


def test_a_linear_loss_has_a_minimum_only_where_the_records_cancel_exactly() -> None:
    problem = Problem(Linear(), AllSpace(1))
    assert minimize(problem, Dataset([[0.1], [0.2], [-0.3]], np.ones(3))).value.lower == -math.inf
    exactly = minimize(problem, Dataset([[0.5], [0.25], [-0.75]], np.ones(3))).value
    assert exactly.lower == exactly.upper == 0.0


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-7, 1e-12, 1e-160])
def test_classes_that_overlap_in_one_dimension(size: float) -> None:
    """Three against one at the same x: the logistic minimum is the entropy of 1/4, the hinge's is 1/2."""
    data = Dataset(np.full((4, 1), size), [1.0, 1.0, 1.0, -1.0])
    logistic = minimize(Problem(Logistic(), AllSpace(1)), data)
    with mpmath.workdps(60):
        entropy = -(mpmath.log(0.25) + 3 * mpmath.log(0.75)) / 4
        assert mpmath.mpf(logistic.value.lower) <= entropy <= mpmath.mpf(logistic.value.upper)
    assert logistic.duality_gap < 1e-8
    hinge = minimize(Problem(Hinge(), AllSpace(1)), data)
    assert holds(hinge, Fraction(1, 2))
    assert hinge.duality_gap < 1e-7


def test_hinge_in_one_dimension_by_trying_every_kink() -> None:
    for seed in range(10):
        x, y, rng = records(seed, 9, 1)
        x *= 10.0 ** rng.uniform(-6, 0, (9, 1))
        y = np.where(y > 0, 1.0, -1.0)
        z = [Fraction(a) * Fraction(b) for a, b in zip(x[:, 0].tolist(), y.tolist(), strict=True)]
        least = min(sum(max(Fraction(0), 1 - a / b) for a in z) / 9 for b in z)
        least = min(least, Fraction(1))
        assert holds(minimize(Problem(Hinge(), AllSpace(1)), Dataset(x, y)), least)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e12])
def test_medians_and_means_far_from_the_origin(offset: float) -> None:
    for seed in range(3):
        x, y, _ = records(seed, 7, 1)
        x += offset
        exact = sorted(Fraction(v) for v in x[:, 0].tolist())
        median = sum(abs(v - exact[3]) for v in exact) / 7
        mean = sum(exact) / 7
        spread = sum((v - mean) ** 2 for v in exact) / 14
        data = Dataset(x, y)
        for constraint in (AllSpace(1), Ball(1, 10 * offset + 10.0)):
            assert holds(minimize(Problem(EuclideanDistance(), constraint), data), median)
            loss = HalfSquaredDistance(math.inf)
            assert holds(minimize(Problem(loss, constraint), data), spread)


def inside(constraint: ConstraintSet, w: Vector) -> list[Fraction]:
    """A point exactly in the set, a few dozen roundings from w."""
    point = [Fraction(v) for v in w.tolist()]
    if isinstance(constraint, Simplex):
        return [Fraction(constraint.scale) * v / sum(point) for v in point]
    if isinstance(constraint, Ball):
        middle = [Fraction(v) for v in constraint.center().tolist()]
        point = [m + (v - m) * (1 - Fraction(1, 2**45)) for v, m in zip(point, middle, strict=True)]
        square = sum((v - m) ** 2 for v, m in zip(point, middle, strict=True))
        assert square <= Fraction(constraint.radius) ** 2
    return point


def exact_risk(loss: Loss, point: list[Fraction], data: Dataset) -> Fraction:
    """The mean risk of a loss that is made of rational operations."""
    total = Fraction(0)
    for row, label in zip(rational(data.features), data.labels.tolist(), strict=True):
        y = Fraction(label)
        z = sum((a * b for a, b in zip(point, row, strict=True)), Fraction(0))
        square = sum(((a - b) ** 2 for a, b in zip(point, row, strict=True)), Fraction(0))
        if isinstance(loss, Hinge):
            total += max(Fraction(0), 1 - y * z)
        elif isinstance(loss, Squared):
            total += (z - y) ** 2 / 2
        elif isinstance(loss, Linear):
            total += z
        elif isinstance(loss, HalfSquaredDistance):
            total += square / 2
        else:
            assert isinstance(loss, ContractOrDrift)
            total += y * square / 2 + (1 - y) * z
    return total / data.n


LARGE = [1.0, 6e5, 1e12, 1e140]


@pytest.mark.parametrize("radius", LARGE)
@pytest.mark.parametrize("shape", ["ball", "box", "simplex"])
def test_the_upper_end_is_never_below_the_points_own_risk(radius: float, shape: str) -> None:
    sets: dict[str, ConstraintSet] = {
        "ball": Ball(2, radius, (0.3, -0.1)),
        "box": Box.cube(2, radius),
        "simplex": Simplex(2, radius),
    }
    for seed in range(2):
        x, y, _ = records(seed, 20, 2)
        data = Dataset(x, np.where(y > 0, 1.0, -1.0))
        for loss in (Hinge(), Squared(math.inf), Linear(), HalfSquaredDistance(math.inf)):
            problem = Problem(loss, sets[shape])
            minimum = minimize(problem, data)
            risk = exact_risk(loss, [Fraction(v) for v in minimum.point.tolist()], data)
            assert minimum.value.lower <= minimum.value.upper
            assert Fraction(minimum.value.upper) >= risk
            assert minimum.value.upper >= float(problem.mean_risk(minimum.point[None, :], data)[0])
            feasible = exact_risk(loss, inside(sets[shape], minimum.point), data)
            assert Fraction(minimum.value.lower) <= feasible


@pytest.mark.parametrize("radius", LARGE)
def test_linear_losses_on_large_balls_against_the_closed_form(radius: float) -> None:
    for seed in range(5):
        x, y, _ = records(seed, 20, 3)
        minimum = minimize(Problem(Linear(), Ball(3, radius)), Dataset(x, y))
        with mpmath.workdps(400):
            mean = [mpmath.fsum(map(mpmath.mpf, column)) / 20 for column in x.T.tolist()]
            least = -mpmath.mpf(radius) * mpmath.norm(mean, 2)
            assert mpmath.mpf(minimum.value.lower) <= least <= mpmath.mpf(minimum.value.upper)
        assert minimum.duality_gap <= 1e-15 * radius


def test_ridges_against_the_rational_solution() -> None:
    """Least squares with a ridge is least squares with d more records."""
    for weight in (1e-12, 1e-3, 1e3):
        for seed in range(5):
            x, y, _ = records(seed, 8, 2)
            x[:, 1] = x[:, 0] + 1e-9 * x[:, 1]
            root = math.sqrt(8 * weight)
            more = np.concatenate([x, root * np.eye(2)])
            # the root is rounded: what is certified is the ridge of its exact square
            ridge = float(Fraction(root) ** 2 / 8)
            exact = exact_least_squares(more, np.concatenate([y, np.zeros(2)])) * 10 / 8
            problem = Problem(Ridge(Squared(math.inf), ridge, math.inf), AllSpace(2))
            minimum = minimize(problem, Dataset(x, y))
            room = Fraction(1, 10**15)
            assert Fraction(minimum.value.lower) - room <= exact <= Fraction(minimum.value.upper) + room
            assert minimum.duality_gap < 1e-6


def test_any_duals_and_points_hold_on_all_space() -> None:
    rng = np.random.default_rng(4)
    x, y, _ = records(3, 10, 2)
    x[:, 1] = x[:, 0] + 1e-10 * x[:, 1]
    problem, data = Problem(Squared(math.inf), AllSpace(2)), Dataset(x, y)
    exact = exact_least_squares(x, y)
    for _ in range(30):
        dual = rng.normal(size=10) * 10.0 ** rng.uniform(-20, 20)
        point = rng.normal(size=2) * 10.0 ** rng.uniform(-20, 20)
        assert holds(certify(problem, data, point, (dual,)), exact)
        assert fenchel_bound(problem, data, dual) == -math.inf
        assert first_order_bound(problem, data, point) == -math.inf


@dataclass(frozen=True)
class Shifted(Squared):
    """A user's loss, least squares by its own methods: nothing is known about it."""


def test_a_custom_loss_is_not_blamed_for_ill_conditioned_data() -> None:
    for seed in range(6):
        x, y, rng = records(seed, 12, 3)
        x[:, 0] *= 10.0 ** rng.uniform(-9, -5)
        x[:, 1] = x[:, 2] + 10.0 ** rng.uniform(-16, -6) * rng.normal(size=12)
        for constraint in (AllSpace(3), Ball(3, 1e6), Ball(3, 1.0)):
            minimum = minimize(Problem(Shifted(math.inf), constraint), Dataset(x, y))
            assert not minimum.value.rigorous
            if isinstance(constraint, AllSpace):
                exact = exact_least_squares(x, y)
                assert Fraction(minimum.value.lower) <= exact <= Fraction(minimum.value.upper)


def test_ends_are_rounded_outward() -> None:
    from flint import arb, ctx

    with ctx.workprec(256):
        for number in (arb(1) / 3, -arb(1) / 3, arb(10) ** 400, arb(10) ** -400, -(arb(10) ** -400), arb(0)):
            assert arb(below(number)) <= number <= arb(above(number))
        assert above(arb(10) ** 400) == math.inf
        assert below(arb(10) ** 400) == np.finfo(np.float64).max
        assert (below(arb.nan()), above(arb.nan())) == (-math.inf, math.inf)
        assert (below(arb(0.1)), above(arb(0.1))) == (0.1, 0.1)
