"""The huberized hinge and its objective perturbation: the loss, the two bad data sets, what is printed.

Every statistical test at a fixed seed rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import array_api_strict
import cvxpy
import numpy as np
import pytest
from one_dimensional import masses, noise_law, profile

from dpverify.algorithms.bst14.huberized_hinge import (
    HuberizedObjectivePerturbation,
    first_bad_data,
    first_bad_risk,
    second_bad_data,
    second_bad_risk,
)
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import ApproxDP
from dpverify.problems import Ball, Box, Dataset, Problem, check_constants, load, minimize
from dpverify.problems.further_losses import HuberizedPositivePart, PositivePart
from dpverify.running import Randomness, run

from ... import in_cvxpy

FALSE_ALARM = 1e-6
DELTA = 1e-5
LOSSES: list[PositivePart | HuberizedPositivePart] = [
    PositivePart(),
    HuberizedPositivePart(0.3),
    HuberizedPositivePart(2.0),
]


def definition(v: float, h: float) -> float:
    """As printed."""
    if v < -h:
        return 0.0
    return v if v > h else v**2 / (4 * h) + v / 2 + h / 4


@pytest.mark.parametrize("h", [1e-3, 0.3, 2.0])
def test_the_smoothed_loss_is_the_printed_one(h: float) -> None:
    loss = HuberizedPositivePart(h)
    z = np.linspace(-4, 4, 801)
    assert loss.link(z, 0.5) == pytest.approx([definition(0.5 - u, h) for u in z], abs=1e-12)
    slopes = (loss.link(z + 1e-7, 0.5) - loss.link(z - 1e-7, 0.5)) / 2e-7
    smooth = np.abs(np.abs(0.5 - z) - h) > 1e-6
    assert loss.link_slope(z, 0.5)[smooth] == pytest.approx(slopes[smooth], abs=1e-6)


def test_the_second_derivative_jumps() -> None:
    """Printed: twice continuously differentiable. The slope has a kink of 1 / (2 h) at both ends."""
    h = 0.3
    loss = HuberizedPositivePart(h)
    for end in (-h, h):
        left, middle, right = loss.link_slope(-np.array([end - 1e-6, end, end + 1e-6]), 0.0)
        bend = abs((right - middle) - (middle - left)) / 1e-6
        assert bend == pytest.approx(1 / (2 * h), rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_conjugates_and_another_form_agree_with_the_loss(loss: Any) -> None:
    z, y = np.linspace(-6, 6, 6001), 0.4
    for a in (-1.0, -0.7, -0.2, 0.0):
        exact = np.max(a * z - loss.link(z, y))
        assert float(loss.link_conjugate(np.array(a), np.array(y))) == pytest.approx(exact, abs=1e-5)
    assert np.all(np.isinf(loss.link_conjugate(np.array([-1.1, 0.1]), np.array([y, y]))))
    assert loss.nearest_dual(np.array([-3.0, -0.5, 2.0]), 1.0) == pytest.approx([-1, -0.5, 0])
    points = np.array([-2.0, 0.1, 0.4, 0.6, 3.0])
    variable = cvxpy.Variable(5, value=points)
    assert in_cvxpy.link(loss, variable, np.full(5, y)).value == pytest.approx(
        loss.link(points, y), abs=1e-12
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_the_declared_constants_hold(loss: Any) -> None:
    found = check_constants(loss, Ball(3, 2.0), rng=np.random.default_rng(1))
    assert 0.5 < found.gradient_norm <= 1 + 1e-12
    assert found.gradient_ratio <= loss.smoothness * (1 + 1e-9)


def test_its_minimum_is_certified() -> None:
    data = load("breast-cancer", n=60, d=3)
    for loss in LOSSES:
        assert minimize(Problem(loss, Ball(3, 2.0)), data).duality_gap < 1e-6


def expected_excess(
    algorithm: HuberizedObjectivePerturbation, data: Dataset, scale: float | None = None
) -> tuple[float, float]:
    """Interval around the exact minimizer's expected excess risk, by its law on cells of [-2, 2]."""
    inner = np.linspace(-2, 2, 4001)[1:-1]
    perturbation = algorithm.perturbation
    n = data.n
    noise = noise_law(perturbation.noise_scale_at(n) if scale is None else scale, algorithm.delta)
    law = masses(algorithm.smoothed, data, perturbation.regularization_at(n), noise, inner)
    ends = np.concatenate([[-2.0], inner, [2.0]])
    # the first and the last cell hold what is on the boundary
    ends = (ends[1:] + ends[:-1]) / 2
    risks = algorithm.problem.total_risk(ends[:, None], data)
    fine = np.linspace(-2, 2, 4001)
    lowest = float(np.min(algorithm.problem.total_risk(fine[:, None], data)))
    mean = float(law @ risks) - lowest
    return mean - n * 1e-3, mean + n * 1e-3


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("h", [1e-3, 0.02, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("n", [30, 300])
def test_lemma_b2_with_its_constant(n: int, h: float, epsilon: float) -> None:
    data = first_bad_data(n)
    for printed, delta in ((True, n**-4), (False, n**-4), (False, 0.0)):
        algorithm = HuberizedObjectivePerturbation(
            h, epsilon, delta, printed=printed, withdraw_guarantee=printed
        )
        low, high = expected_excess(algorithm, data)
        assert high >= first_bad_risk(n, width=h)
        assert low <= n


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("h", [1e-3, 0.005, 0.02])
@pytest.mark.parametrize("n", [31, 300])
def test_lemma_b3_with_its_constant(n: int, h: float, epsilon: float) -> None:
    for printed, delta in ((True, n**-4), (False, n**-4), (False, 0.0)):
        algorithm = HuberizedObjectivePerturbation(
            h, epsilon, delta, printed=printed, withdraw_guarantee=printed
        )
        regularization = algorithm.perturbation.regularization_at(n)
        if printed:
            assert regularization == pytest.approx(1 / (4 * epsilon * h), rel=1e-12)
        data = second_bad_data(n, regularization=regularization)
        _, high = expected_excess(algorithm, data)
        assert high >= second_bad_risk(n, width=h, regularization=regularization)


def test_a_smaller_risk_than_the_lemma_allows_is_seen() -> None:
    """Planted: the loss is not smoothed and hardly perturbed, so the lemma must not hold for it."""
    data = first_bad_data(300)
    smoothed = HuberizedObjectivePerturbation(1.0, 0.5, 1e-9, printed=True, withdraw_guarantee=True)
    sharp = HuberizedObjectivePerturbation(1e-4, 50.0, 0.5, printed=True, withdraw_guarantee=True)
    assert (
        expected_excess(sharp, data)[1] < first_bad_risk(300, width=1.0) < expected_excess(smoothed, data)[0]
    )


def test_runs_have_the_expected_risk() -> None:
    for printed in (True, False):
        algorithm = HuberizedObjectivePerturbation(
            0.01, 0.5, DELTA, printed=printed, withdraw_guarantee=printed
        )
        n = 300
        regularization = algorithm.perturbation.regularization_at(n)
        for data in (first_bad_data(n), second_bad_data(n, regularization=regularization)):
            points = run(algorithm, data, runs=5000, seed=6).points
            risks = algorithm.problem.total_risk(points, data)
            lowest = minimize(algorithm.problem, data).value
            mean = float(risks.mean()) - n * (lowest.lower + lowest.upper) / 2
            # Hoeffding, for risks in [0, 3 n]
            margin = 3 * n * math.sqrt(math.log(2 / FALSE_ALARM) / 10_000)
            low, high = expected_excess(algorithm, data)
            assert low - margin <= mean <= high + margin


def test_theorem_b1_grows_with_the_root_of_n() -> None:
    """Whatever h, the larger of the two lower bounds is at least sqrt(n / (2304 epsilon)) up to rounding."""
    epsilon = 0.5
    for n in (600, 6000, 60_000):
        worst = math.inf
        for h in np.geomspace(1e-6, 0.75, 200):
            regularization = 1 / (4 * epsilon * h)
            bounds = [first_bad_risk(n, width=h)]
            if regularization >= 8:
                bounds.append(second_bad_risk(n, width=h, regularization=regularization))
            worst = min(worst, max(bounds))
        # n h / 18 = 3 / (128 epsilon h) at the crossing; a slope loses at most half to its parity
        assert worst >= 0.5 * math.sqrt(n / 18 * 3 / (128 * epsilon))


def test_the_printed_algorithm_is_refused_and_breaks_its_claim() -> None:
    with pytest.raises(NotGuaranteedError, match="determinant"):
        HuberizedObjectivePerturbation(0.5, 0.5, DELTA, printed=True)
    printed = HuberizedObjectivePerturbation(0.5, 0.5, DELTA, printed=True, withdraw_guarantee=True)
    assert printed.withdrawn(3) != ()
    assert not printed.guarantees(3)
    corrected = HuberizedObjectivePerturbation(0.5, 0.5, DELTA)
    assert corrected.withdrawn(3) == ()
    left = Dataset([[1.0]], [1.0])
    right = left.replace(1, [0.0], 0.0)
    inner = np.linspace(-2, 2, 20_001)[1:-1]
    claim = ApproxDP(0.5, DELTA).privacy_profile(0.5)
    for algorithm, broken in ((printed, True), (corrected, False)):
        perturbation = algorithm.perturbation
        noise = noise_law(perturbation.noise_scale_at(1), DELTA)
        laws = [
            masses(algorithm.smoothed, data, perturbation.regularization_at(1), noise, inner)
            for data in (left, right)
        ]
        assert (profile(laws[0], laws[1], 0.5) > claim) == broken


def test_the_risk_is_within_its_bound_on_real_data() -> None:
    real = load("breast-cancer", n=60, d=3)
    hinge = Dataset(real.features * real.labels[:, None], np.ones(60))
    algorithm = HuberizedObjectivePerturbation(0.2, 1.0, constraint=Ball(3, 2.0))
    runs = run(algorithm, hinge, runs=2000, seed=1)
    excess = 60 * (
        algorithm.problem.mean_risk(runs.points, hinge) - minimize(algorithm.problem, hinge).value.lower
    )
    stated = algorithm.risk_bound(60)
    assert stated is not None
    assert 0 < excess.mean() + 6 * excess.std() / math.sqrt(2000) < stated.bound


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("width", bad) for bad in (0, -1.0, math.nan, math.inf, True, None)),
        *(("epsilon", bad) for bad in (0, math.nan, math.inf, True)),
        *(("delta", bad) for bad in (-0.1, 1, math.nan, True)),
        ("printed", 1),
        ("constraint", 3),
        ("withdraw_guarantee", None),
    ],
)
def test_bad_input_is_refused(argument: str, value: object) -> None:
    arguments: dict[str, Any] = {"width": 0.1, "epsilon": 1.0, argument: value}
    with pytest.raises(InvalidArgumentError) as error:
        HuberizedObjectivePerturbation(**arguments)
    assert argument in str(error.value)


def test_bad_data_that_are_not_there_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="multiple of 3"):
        first_bad_data(10)
    with pytest.raises(InvalidArgumentError, match="regularization"):
        second_bad_data(10, regularization=7.9)
    with pytest.raises(InvalidArgumentError, match="width"):
        second_bad_risk(10, width=0.8, regularization=100.0)
    with pytest.raises(InvalidArgumentError, match="width"):
        HuberizedPositivePart(math.nan)
    with pytest.raises(InvalidArgumentError, match="delta"):
        HuberizedObjectivePerturbation(0.1, 1.0, printed=True, withdraw_guarantee=True)
    assert np.sum(second_bad_data(31, regularization=21.0).features) == 5


def test_the_same_in_another_array_library_and_after_pickling() -> None:
    data = load("breast-cancer", n=20, d=3)
    for delta in (0.0, DELTA):
        algorithm = pickle.loads(
            pickle.dumps(HuberizedObjectivePerturbation(0.3, 1.0, delta, constraint=Ball(3, 2.0)))
        )
        ours = algorithm(data, rng=Randomness(4), runs=30)
        theirs = algorithm(data, rng=Randomness(4, xp=array_api_strict), runs=30)
        assert np.asarray(theirs.points) == pytest.approx(np.asarray(ours.points), abs=1e-11)
    assert HuberizedObjectivePerturbation(0.3, 1.0).constraint == Box((-2.0,), (2.0,))
