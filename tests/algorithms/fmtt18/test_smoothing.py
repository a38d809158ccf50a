"""Convolved losses against quadrature of their definition, and Skip-PNSGD on them against its twin and its theorem."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import array_api_strict
import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats
from twins import Recorder, pnsgd

from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD, printed_width
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import GDP
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    EuclideanDistance,
    GeneralizedLinear,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Squared,
    check_constants,
    minimize,
)
from dpverify.problems.smoothed_losses import (
    AbsoluteError,
    SmoothedDistance,
    SmoothedGeneralizedLinear,
    discretization_error,
    mean_norm,
    quadrature,
    smoothed,
)
from dpverify.running import Randomness, run

# At a fixed seed, each statistical test rejects a correct implementation with at most this probability.
FALSE_ALARM = 1e-6
D, N = 3, 7
BALL = Ball(D, 0.7)
LINKS: tuple[Any, ...] = (Hinge(), AbsoluteError(), Logistic())


def make_data(n: int = N, d: int = D, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], np.sign(rng.normal(size=n)))


def expectation(function: Any, kinks: list[float]) -> float:
    """E function(Z), Z standard normal, by adaptive quadrature between the kinks."""
    points = sorted({-13.0, 13.0, *(kink for kink in kinks if abs(kink) < 13.0)})
    parts = [
        integrate.quad(lambda g: function(g) * stats.norm.pdf(g), *ends, epsabs=1e-14, limit=200)[0]
        for ends in itertools.pairwise(points)
    ]
    return math.fsum(parts)


# ------------------------------------------------------------------------------------------ convolved losses


@pytest.mark.parametrize("base", LINKS, ids=lambda base: type(base).__name__)
@pytest.mark.parametrize("width", [0.03, 0.4, 2.0])
def test_links_are_the_convolutions(base: Any, width: float) -> None:
    loss = SmoothedGeneralizedLinear(base, width)
    for z in (-1.5, 0.2, 0.97, 1.0, 2.3):
        for label in (1.0, -1.0):
            y, kink = np.array(label), (label if type(base) is not Logistic else 0.0)
            at = np.array([z])
            kinks = [(kink - z) / width]
            for ours, theirs in ((loss.link, base.link), (loss.link_slope, base.link_slope)):
                exact = expectation(
                    lambda g, f=theirs, y=y, z=z: float(f(np.array([z + width * g]), y)[0]), kinks
                )
                assert float(ours(at, y)[0]) == pytest.approx(exact, abs=2e-12)
            bias = float(loss.link(at, y)[0] - base.link(at, y)[0])
            assert -1e-15 <= bias <= loss.largest_bias + 1e-15


@pytest.mark.parametrize("base", LINKS, ids=lambda base: type(base).__name__)
def test_links_are_as_smooth_as_declared_and_the_kinked_ones_no_smoother(base: Any) -> None:
    for width in (0.05, 0.4, 2.0):
        loss = SmoothedGeneralizedLinear(base, width)
        grid = np.linspace(-8, 8, 20_001)
        slopes = loss.link_slope(grid, np.array(1.0))
        steepest = float(np.max(np.diff(slopes) / np.diff(grid)))
        assert np.all(np.diff(slopes) >= -1e-15)
        assert np.max(np.abs(slopes)) <= loss.lipschitz_constant + 1e-15
        assert steepest <= loss.smoothness * (1 + 1e-9)
        # printed: L / width; the truth is at most sqrt(2/pi) of that, which the absolute error attains
        assert loss.smoothness <= math.sqrt(2 / math.pi) / width + 1e-12
        if type(base) is not Logistic:
            assert steepest >= 0.999 * loss.smoothness
            values = loss.link(np.array([1.0]), np.array(1.0)) - base.link(np.array([1.0]), np.array(1.0))
            assert float(values[0]) == pytest.approx(loss.largest_bias, rel=1e-12)
    assert SmoothedGeneralizedLinear(AbsoluteError(), 0.4).smoothness == pytest.approx(
        math.sqrt(2 / math.pi) / 0.4
    )


@pytest.mark.parametrize("d", [1, 2, 5, 40])
@pytest.mark.parametrize("width", [0.1, 1.0])
def test_distance_is_the_mean_of_the_noncentral_chi_law(d: int, width: float) -> None:
    loss, x = SmoothedDistance(width, d), np.zeros(d)
    for r in (0.0, 0.05, 0.7, 3.0):
        w = np.zeros((1, d))
        w[0, 0] = r
        law = stats.ncx2(d, (r / width) ** 2) if r else stats.chi2(d)
        exact = width * law.expect(np.sqrt, epsabs=1e-12)
        assert float(loss.value(w, x, np.array(1.0))[0]) == pytest.approx(exact, rel=1e-7)
        bias = float(loss.value(w, x, np.array(1.0))[0]) - r
        assert -1e-14 <= bias <= loss.largest_bias * (1 + 1e-12)
        # the proof of Theorem 33 writes width sqrt(d) for width E ||Z||, which is smaller
        assert loss.largest_bias < width * math.sqrt(d)
        gradient = loss.gradient(w, x, np.array(1.0))[0]
        step = 1e-5
        w[0, 0] = r + step
        after = float(loss.value(w, x, np.array(1.0))[0])
        w[0, 0] = r - step
        slope = (after - float(loss.value(w, x, np.array(1.0))[0])) / (2 * step)
        assert gradient[0] == pytest.approx(slope, abs=1e-7)
        assert not np.any(gradient[1:])
    assert loss.smoothness <= math.sqrt(2 / math.pi) / width * (1 + 1e-12)
    if d == 1:
        one = SmoothedGeneralizedLinear(AbsoluteError(), width)
        at = np.linspace(-2, 2, 9)
        ours = loss.value(at[:, None], np.array([0.3]), np.array(1.0))
        assert ours == pytest.approx(one.link(at, np.array(0.3)), rel=1e-12)
        assert loss.smoothness == pytest.approx(one.smoothness, rel=1e-12)


@pytest.mark.parametrize(
    "loss",
    [*(SmoothedGeneralizedLinear(base, 0.2) for base in LINKS), SmoothedDistance(0.2, D)],
    ids=str,
)
def test_declared_constants_stand_a_search(loss: Any) -> None:
    check_constants(loss, BALL, make_data(), rng=np.random.default_rng(0), rounds=15)


def test_quadrature_is_as_good_as_its_bound() -> None:
    for width in (0.1, 1.0, 4.0):
        nodes, weights = quadrature(width)
        assert sum(weights) == pytest.approx(1.0, abs=1e-15)
        assert min(weights) > 0.0
        assert discretization_error(width, nodes[1] - nodes[0]) <= 1e-15
    # the bound holds where it is not small: a coarse rule, against a fine one
    for width, step in ((1.0, 1.0), (2.0, 0.5), (4.0, 0.4)):
        grid = step * np.arange(-60, 61)
        weights_ = step * stats.norm.pdf(grid)
        for z in (-2.0, 0.0, 0.5):
            coarse = float(weights_ @ (1 / (1 + np.exp(-(z + width * grid)))))
            fine = float(
                -SmoothedGeneralizedLinear(Logistic(), width).link_slope(np.array([-z]), np.array(1.0))[0]
            )
            assert abs(coarse - fine) <= discretization_error(width, step) + 1e-15
    with pytest.raises(InvalidArgumentError, match="width"):
        SmoothedGeneralizedLinear(Logistic(), 1e4)


def test_theorem_33_with_the_paper_s_own_extension_on_an_interval() -> None:
    """h(w) = min over v of f(v) + L |w - v|, convolved: convex, L-Lipschitz, L/lambda-smooth, bias at most L lambda."""
    lower, upper, width, record, label = -0.6, 0.4, 0.3, 0.8, np.array(1.0)
    loss = AbsoluteError()

    def f(w: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(loss.value(w[:, None], np.array([record]), label / 5))

    inside = np.linspace(lower, upper, 4001)
    grid = np.linspace(-3, 3, 1201)
    h = np.min(f(inside)[None, :] + np.abs(grid[:, None] - inside[None, :]), axis=1)
    # piecewise linear with kinks at the ends and at label / record; E of |w - kink| is closed
    known = np.interp(np.clip(grid, lower, upper), inside, f(inside)) + np.abs(
        grid - np.clip(grid, lower, upper)
    )
    assert np.max(np.abs(h - known)) <= 1e-12
    kinks, jumps = [], []
    for kink, jump in ((lower, 1.0 - record), (0.25, 2 * record), (upper, 1.0 - record)):
        kinks.append(kink)
        jumps.append(jump)
    convolved = np.zeros(grid.shape)
    slope = np.zeros(grid.shape)
    for kink, jump in zip(kinks, jumps, strict=True):
        part = SmoothedGeneralizedLinear(AbsoluteError(), width)
        convolved += jump / 2 * part.link(grid, np.array(kink))
        slope += jump / 2 * part.link_slope(grid, np.array(kink))
    shift = np.mean(h - sum(j / 2 * np.abs(grid - k) for j, k in zip(jumps, kinks, strict=True)))
    convolved += shift
    # the decomposition is right: without convolution it gives h
    plain = sum(j / 2 * np.abs(grid - k) for j, k in zip(jumps, kinks, strict=True)) + shift
    assert np.max(np.abs(plain - h)) <= 1e-3
    change = np.diff(slope) / np.diff(grid)
    assert np.all(change >= 0)
    assert np.max(np.abs(slope)) <= 1 + 1e-12
    assert 0.5 / width < np.max(change) <= 1 / width
    here = (grid >= lower) & (grid <= upper)
    assert np.max(np.abs(convolved - h)[here]) <= width + 1e-3


# ------------------------------------------------------------------------------------------ contraction


@dataclass(frozen=True)
class MonteCarlo:
    """A planted fault: the hinge's slope at a few fixed draws of the kernel, averaged."""

    width: float
    draws: tuple[float, ...]

    def link_slope(self, z: Any, y: Any) -> Any:
        return np.mean([Hinge().link_slope(z + self.width * g, y) for g in self.draws], axis=0)


def largest_stretch(loss: Any, width: float) -> float:
    """Largest ratio by which a step with eta = 2 / beta moves two near points apart, on a line."""
    rate = 2 * math.sqrt(2 * math.pi) * width
    z = np.linspace(-1, 3, 40_001)
    moved = z - rate * loss.link_slope(z, np.array(1.0))
    return float(np.max(np.abs(np.diff(moved)) / np.diff(z)))


def test_an_exact_gradient_step_contracts_and_a_monte_carlo_one_does_not() -> None:
    width = 0.3
    assert largest_stretch(SmoothedGeneralizedLinear(Hinge(), width), width) <= 1 + 1e-6
    draws = tuple(np.random.default_rng(0).normal(size=200).tolist())
    assert largest_stretch(MonteCarlo(width, draws), width) > 10
    # half the width is half as smooth, and seen
    assert largest_stretch(SmoothedGeneralizedLinear(Hinge(), width / 2), width) > 2.5


# ------------------------------------------------------------------------------------------ the algorithm


@pytest.mark.parametrize("xp", [np, array_api_strict])
@pytest.mark.parametrize(
    "base", [Hinge(), AbsoluteError(), Logistic(), EuclideanDistance()], ids=lambda base: type(base).__name__
)
def test_does_what_its_slow_twin_does(base: Any, xp: Any) -> None:
    runs, data = 17, make_data()
    algorithm = SmoothedPNSGD(Problem(base, BALL), 0.3, 0.6, 0.25)
    rng = Recorder(3, 1, xp)
    output = algorithm(data.as_namespace(xp), rng=rng, runs=runs)
    skipped, noise = rng.drawn["skipped records"][0], list(rng.drawn["noise"])
    while len(noise) < N:
        noise.insert(0, np.empty((D, 0)))
    place = np.empty(runs, dtype=int)
    place[np.argsort(skipped, kind="stable")] = np.arange(runs)
    loss: Any = smoothed(base, 0.25, D)
    expected = [
        pnsgd(
            Problem(loss, BALL),
            data,
            np.zeros(D),
            rate=0.3,
            stddev=0.6,
            records=list(range(skipped[r], N)),
            z=[noise[t][:, place[r]] for t in range(skipped[r], N)],
        )
        for r in range(runs)
    ]
    assert np.max(np.abs(np.asarray(output.points) - np.stack(expected))) <= 1e-12
    assert np.array_equal(np.asarray(output.gradient_queries), N - skipped)


def one_step_pvalue(width: float) -> float:
    """One record, one step from 0.3, on a line: Gaussian about 0.3 - eta E slope(0.3 + 0.5 Z)."""
    rate, stddev = 0.4, 0.05
    data = Dataset(np.ones((1, 1)), np.ones(1))
    algorithm = SmoothedPNSGD(Problem(Hinge(), AllSpace(1)), rate, stddev, width, start=(0.3,))
    points = run(algorithm, data, runs=20_000, seed=2).points[:, 0]
    mean = 0.3 - rate * expectation(lambda g: -1.0 if 0.3 + 0.5 * g < 1 else 0.0, [1.4])
    return float(stats.kstest((points - mean) / (rate * stddev), "norm").pvalue)


def test_a_step_has_its_exact_law_and_another_width_is_seen() -> None:
    assert one_step_pvalue(0.5) > FALSE_ALARM
    assert one_step_pvalue(0.6) < FALSE_ALARM


@pytest.mark.parametrize(
    "base", [Hinge(), AbsoluteError(), EuclideanDistance()], ids=lambda b: type(b).__name__
)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_corollary_34(base: Any, epsilon: float) -> None:
    delta, problem = 1e-5, Problem(base, BALL)
    for n in (1, 10, 300):
        made = SmoothedPNSGD.for_privacy(problem, n=n, epsilon=epsilon, delta=delta)
        assert made.width == pytest.approx(0.7 * epsilon / (2 * math.sqrt(n * math.log(1e5))))
        assert made.noise_stddev == pytest.approx(2 * math.sqrt(2 * math.log(1.25e5)) / epsilon)
        # eta <= 2 / beta even for the printed, larger beta = L / lambda
        assert made.rate <= 2 * made.width
        for index in {1, (n + 1) // 2, n}:
            stated = made.guarantee_at(n, index)
            assert stated is not None
            at = epsilon / math.sqrt(n - index + 1)
            assert float(np.asarray(stated.guarantee.privacy_profile(at))) <= delta
        stated_for_all = made.guarantees(n)
        assert isinstance(stated_for_all.headline.guarantee, GDP)
        assert stated_for_all.local is not None
        risk = made.risk_bound(n)
        assert risk is not None
        inside = 1 + 8 * D * math.log(1.25e5) / epsilon**2
        expected = 4 * math.sqrt(2 / n) * 0.7 * math.sqrt(inside) + made.loss.largest_bias
        assert risk.theorem == pytest.approx(expected, rel=1e-12)
        assert risk.bound < 0.8 * risk.theorem
        printed = math.sqrt(inside) + epsilon * math.sqrt(D) / (2 * math.log(1.25e5))
        assert risk.theorem <= 4 * math.sqrt(2 / n) * 0.7 * printed


def test_printed_bias_is_below_what_the_printed_width_gives_for_a_tiny_delta() -> None:
    """Corollary 34's last term has ln(1.25/delta) where the width has a square root of a logarithm."""
    n, epsilon, problem = 100, 1.0, Problem(Hinge(), BALL)
    for delta, follows in ((1e-13, True), (1e-14, False), (1e-30, False)):
        bias = printed_width(problem, n=n, epsilon=epsilon, delta=delta) * math.sqrt(D)
        printed = 4 * math.sqrt(2 / n) * 0.7 * epsilon * math.sqrt(D) / (2 * math.log(1.25 / delta))
        assert (bias <= printed) == follows


def test_risk_of_the_loss_itself_and_of_the_convolved_one() -> None:
    """For every point f <= f^ <= f + b, so minima are as close; certified minima of both."""
    data = make_data(30)
    problem = Problem(Hinge(), BALL)
    made = SmoothedPNSGD(problem, 0.1, 0.5, 0.2)
    plain, convolved = minimize(problem, data).value, minimize(made.algorithm.problem, data).value
    assert plain.lower <= convolved.upper
    assert convolved.lower <= plain.upper + made.loss.largest_bias


BAD: list[tuple[dict[str, Any], str]] = [
    ({"width": 0.0}, "width"),
    ({"width": math.nan}, "width"),
    ({"width": math.inf}, "width"),
    ({"width": True}, "width"),
    ({"problem": None}, "problem"),
    ({"problem": Problem(Squared(0.7), BALL)}, "loss"),
    ({"problem": Problem(Linear(), BALL)}, "loss"),
    ({"problem": Problem(Ridge.on(BALL, Hinge(), 0.1), BALL)}, "loss"),
    ({"rate": 0.0}, "rate"),
    ({"rate": math.nan}, "rate"),
    ({"noise_stddev": -1.0}, "noise_stddev"),
    ({"noise_stddev": math.inf}, "noise_stddev"),
    ({"start": (1.0, 1.0, 1.0)}, "start"),
]


@pytest.mark.parametrize(("changed", "argument"), BAD)
def test_bad_input(changed: dict[str, Any], argument: str) -> None:
    good = {"problem": Problem(Hinge(), BALL), "rate": 0.1, "noise_stddev": 0.5, "width": 0.3}
    with pytest.raises(InvalidArgumentError) as caught:
        SmoothedPNSGD(**(good | changed))
    assert argument in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SmoothedGeneralizedLinear(Squared(1.0), 0.1),
        lambda: SmoothedGeneralizedLinear(Hinge(), -0.1),
        lambda: SmoothedDistance(0.1, 0),
        lambda: SmoothedDistance(math.nan, 2),
        lambda: SmoothedDistance(0.1, 2).value(np.zeros((1, 3)), np.zeros(3), np.array(1.0)),
        lambda: SmoothedPNSGD.for_privacy(Problem(Hinge(), AllSpace(2)), n=5, epsilon=1.0, delta=1e-5),
        lambda: SmoothedPNSGD.for_privacy(Problem(Hinge(), BALL), n=0, epsilon=1.0, delta=1e-5),
        lambda: SmoothedPNSGD.for_privacy(Problem(Hinge(), BALL), n=5, epsilon=math.nan, delta=1e-5),
        lambda: SmoothedPNSGD.for_privacy(Problem(Hinge(), BALL), n=5, epsilon=1.0, delta=1.0),
    ],
)
def test_more_bad_input(make: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        make()


def test_what_breaks_the_guarantee_is_refused_or_withdrawn() -> None:
    problem = Problem(Hinge(), BALL)
    with pytest.raises(NotGuaranteedError, match="2/beta"):
        SmoothedPNSGD(problem, 0.1, 1.0, 0.01)
    withdrawn = SmoothedPNSGD(problem, 0.1, 1.0, 0.01, withdraw_guarantee=True)
    assert not withdrawn.guarantees(5)
    assert withdrawn.guarantee_at(5, 2) is None
    assert withdrawn(make_data(), rng=Randomness(0), runs=2).points.shape == (2, D)


def test_absolute_error_is_a_loss_with_its_conjugate() -> None:
    data = Dataset(make_data(20).features, np.linspace(-0.9, 0.9, 20))
    problem = Problem(AbsoluteError(), Box.cube(D, 0.5))
    assert isinstance(AbsoluteError(), GeneralizedLinear)
    check_constants(AbsoluteError(), BALL, data, rng=np.random.default_rng(0), rounds=15)
    assert minimize(problem, data).duality_gap <= 1e-6
    assert mean_norm(1) == pytest.approx(math.sqrt(2 / math.pi))
    assert mean_norm(2) == pytest.approx(math.sqrt(math.pi / 2))


@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 64, 100, 101, 1000, 10_000])
def test_smoothed_distances_in_many_dimensions_against_mpmath(dimension: int) -> None:
    """Values and slopes at distances from 0 to 1e12 widths; infinite from d = 100 on by the hypergeometric function."""
    width = 0.25
    loss = SmoothedDistance(width, dimension)
    distances = [0.0, *(10.0**k for k in (-6, -2, -0.5, 0, 0.5, 1, 1.5, 2, 4, 8, 12))]
    w = np.zeros((len(distances), dimension))
    w[:, 0] = distances
    x = np.zeros(dimension)
    values, slopes = loss.value(w, x, np.float64(1.0)), loss.gradient(w, x, np.float64(1.0))[:, 0]
    for distance, value, slope in zip(distances, values, slopes, strict=True):
        with mpmath.workdps(30):
            s, half = (mpmath.mpf(distance) / width) ** 2 / 2, mpmath.mpf(dimension) / 2
            c = width * mpmath.sqrt(2) * mpmath.rf(half, mpmath.mpf(1) / 2)
            exact = c * mpmath.hyp1f1(-mpmath.mpf(1) / 2, half, -s)
            steep = c / (dimension * width**2) * mpmath.hyp1f1(mpmath.mpf(1) / 2, half + 1, -s) * distance
        assert value == pytest.approx(float(exact), rel=1e-13)
        assert slope == pytest.approx(float(steep), rel=1e-13)
    assert loss.largest_bias == pytest.approx(float(values[0]), rel=1e-13)
    huge = np.zeros((2, dimension))
    huge[:, 0] = (1e200, 1e300)
    assert loss.value(huge, x, np.float64(1.0)) == pytest.approx([1e200, 1e300], rel=1e-15)
    assert loss.gradient(huge, x, np.float64(1.0))[:, 0] == pytest.approx([1.0, 1.0], rel=1e-15)
