"""Laws and losses of instances: against closed forms, and what they refuse."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.proving.instances.laws import (
    DensityLaw,
    FiniteLaw,
    Gaussian,
    GaussianOnBall,
    Laplace,
    ball,
    hockey_stick,
    integral,
    kullback_leibler_from_below,
    least_mass,
    renyi_from_below,
    total_variation,
)
from dpverify.proving.instances.losses import PiecewiseQuadratic

HALF = Fraction(1, 2)


def test_finite_laws_are_exact() -> None:
    p, q = FiniteLaw({0: HALF, 1: HALF}), FiniteLaw({0: Fraction(1, 4), 1: Fraction(3, 4)})
    assert hockey_stick(p, q, 1) == Fraction(1, 4)
    assert hockey_stick(p, q, 2) == 0
    assert total_variation(p, q).contains(flint.fmpq(1, 4))
    assert p.entropy().overlaps(ball(2).log())
    assert least_mass(p, q, HALF).contains(flint.fmpq(1, 4))
    assert least_mass(p, q, Fraction(3, 4)).contains(flint.fmpq(5, 8))  # a whole point and half of the other


@pytest.mark.parametrize("masses", [{0: HALF}, {0: Fraction(3, 2), 1: -HALF}, {}])
def test_what_is_no_law_is_refused(masses: dict[int, Fraction]) -> None:
    with pytest.raises(InvalidArgumentError):
        FiniteLaw(masses)


def test_integrals_have_the_closed_forms() -> None:
    p, q = Gaussian(0, 2), Gaussian(3, 2)
    assert renyi_from_below(p, q, 3, -200, 200).overlaps(ball(Fraction(27, 8)))
    assert kullback_leibler_from_below(p, q, -200, 200).overlaps(ball(Fraction(9, 8)))
    assert renyi_from_below(p, q, 3, -1, 1) < Fraction(27, 8).numerator / ball(8)  # a part of it is less
    assert integral(p.density, -1, 3).overlaps(p.between(-1, 3))
    tilted = DensityLaw(0, 1, lambda x: (-x).exp())
    assert tilted.mean(lambda x: x).overlaps((1 - 2 * ball(-1).exp()) / (1 - ball(-1).exp()))
    assert Laplace(0, 2).between(-2, 2).overlaps(1 - ball(-1).exp())


def test_a_gaussian_on_a_ball_is_between_its_twin_s_errors() -> None:
    """Drawn and projected."""
    import numpy as np

    rng = np.random.default_rng(0)
    points = rng.normal(size=(200_000, 3)) * 0.7 + np.array([0.4, 0, 0])
    norms = np.linalg.norm(points, axis=1)
    seen = np.mean(points[:, 0] / np.maximum(1, norms) >= 0.6 / np.sqrt(1.36))
    mass = GaussianOnBall(Fraction(2, 5), Fraction(7, 10), 1, 3, cells=400).above(Fraction(3, 5))
    assert float(mass.lower()) - 0.005 < seen < float(mass.upper()) + 0.005
    assert float(mass.rad()) < 0.01


def test_constants_of_losses() -> None:
    left, middle, right = (
        (Fraction(0), Fraction(-1), -HALF),
        (HALF, Fraction(0), Fraction(0)),
        (Fraction(0), Fraction(1), -HALF),
    )
    huber = PiecewiseQuadratic(tuple(map(Fraction, (-3, -1, 1, 3))), (left, middle, right))
    assert (huber.convex, huber.lipschitz_constant, huber.smoothness, huber.minimum) == (True, 1, 1, 0)
    assert huber.strong_convexity == 0
    assert huber.jumps(2) == ((0, 1), (1, 0))
    square = PiecewiseQuadratic((Fraction(-3), Fraction(3)), ((HALF, Fraction(0), Fraction(0)),))
    assert huber.plus(square, 4).strong_convexity == 4
    broken = PiecewiseQuadratic(huber.breaks, (*huber.pieces[:2], (Fraction(0), Fraction(1), Fraction(0))))
    assert not broken.convex
    with pytest.raises(InvalidArgumentError):
        _ = broken.lipschitz_constant
    up, down = ((Fraction(0), Fraction(slope), Fraction(0)) for slope in (1, -1))
    concave = PiecewiseQuadratic(tuple(map(Fraction, (-1, 0, 1))), (up, down))
    assert not concave.convex
    assert concave.smoothness is None
