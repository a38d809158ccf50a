"""What the algorithms claim: the papers' numbers, consistency, refusals, and that claims hold where exact."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, ContractiveNoisyIteration, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.iteration import GaussianNoise, LaplaceNoise
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import GDP, RDP, Adjacency, ApproxDP, ProtectedRecords, gaussian_hockey_stick
from dpverify.privacy.mixtures import (
    GaussianMixtureProfile,
    WeakConvexityCurve,
    gaussian_noise_multiplier,
)
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
)
from dpverify.running import Randomness, run

D = 3
BALL = Ball(D, 1.0)
LOGISTIC = Problem(Logistic(), BALL)
EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 3.0])
FAMILY = [PNSGD, SkipPNSGD, StopPNSGD, PNMSGD]


@pytest.mark.parametrize("index", [1, 4, 10])
def test_theorem_23(index: int) -> None:
    algorithm = PNSGD(LOGISTIC, 1.0, 0.7)
    stated = algorithm.guarantee_at(10, index)
    assert stated is not None
    assert (stated.adjacency, stated.index) == (Adjacency.INDEX, index)
    assert stated.guarantee.mu == pytest.approx(2 / 0.7 / math.sqrt(11 - index), rel=1e-12)  # type: ignore[attr-defined]
    printed = algorithm.rdp_at(10, index)
    assert printed is not None
    for order in (1.5, 2.0, 17.0):
        expected = 2 * order / (0.7**2 * (11 - index))
        assert printed.guarantee.curve(order) == pytest.approx(expected, rel=1e-12)  # type: ignore[attr-defined]


def test_the_guarantee_of_strong_convexity_is_better() -> None:
    convex = PNSGD(LOGISTIC, 1.0, 0.7).guarantee_at(10, 3)
    strong = PNSGD(Problem(Ridge.on(BALL, Logistic(), 0.2), BALL), 1.0, 0.7).guarantee_at(10, 3)
    assert convex is not None
    assert strong is not None
    assert np.all(strong.guarantee.privacy_profile(EPSILONS) < convex.guarantee.privacy_profile(EPSILONS))


@pytest.mark.parametrize("index", [1, 4, 10])
def test_theorem_35(index: int) -> None:
    algorithm = PNMSGD(LOGISTIC, 1.0, 0.7)
    printed = algorithm.rdp_at(10, index)
    best = algorithm.guarantee_at(10, index)
    overall = algorithm.guarantees(10)
    assert printed is not None
    assert best is not None
    slope = 2 / 0.7**2 * (10 * 9 / 100 + 1 / (11 - index))
    assert printed.guarantee.curve(2.0) == pytest.approx(2 * slope, rel=1e-12)  # type: ignore[attr-defined]
    assert isinstance(best.guarantee, GDP)
    assert best.guarantee.mu**2 / 2 <= slope * (1 + 1e-9)
    assert isinstance(overall[0].guarantee, GDP)
    assert best.guarantee.mu <= overall[0].guarantee.mu * (1 + 1e-12)
    assert isinstance(overall[1].guarantee, RDP)
    assert overall[1].guarantee.curve(3.0) == pytest.approx(3 * 4 / 0.7**2, rel=1e-12)
    assert overall[0].guarantee.mu ** 2 / 2 <= 4 / 0.7**2


def test_epochs_compose_where_the_amplification_is_lost() -> None:
    """At the last index with n = 1, k epochs are k releases without later noise: mu = sqrt(k) 2 L / sigma."""
    stated = PNMSGD(LOGISTIC, 1.0, 0.7, epochs=5).guarantee_at(1, 1)
    assert stated is not None
    assert stated.guarantee.mu == pytest.approx(math.sqrt(5) * 2 / 0.7, rel=1e-9)  # type: ignore[attr-defined]


def test_theorem_24_and_the_profile_beside_it() -> None:
    algorithm = SkipPNSGD(LOGISTIC, 1.0, 0.7)
    for index, used in ((1, 1 / 6), (4, 4 / 6), (6, 1.0), (10, 1.0)):
        assert algorithm.used_with_probability(10, index) == pytest.approx(used)
        stated, printed = algorithm.guarantee_at(10, index), algorithm.rdp_at(10, index)
        assert stated is not None
        assert printed is not None
        exact = used * np.asarray(gaussian_hockey_stick(EPSILONS, 2 / 0.7 / math.sqrt(11 - index)))
        assert stated.guarantee.privacy_profile(EPSILONS) == pytest.approx(exact, rel=1e-9)
        assert np.all(
            stated.guarantee.privacy_profile(EPSILONS) <= printed.guarantee.privacy_profile(EPSILONS)
        )


@pytest.mark.parametrize("second_half", [False, True])
def test_stopping_is_worst_at_the_first_record_that_is_always_used(second_half: bool) -> None:
    algorithm = StopPNSGD(LOGISTIC, 1.0, 2.5, second_half=second_half)
    overall = algorithm.guarantees(9)[0].guarantee.privacy_profile(EPSILONS)
    profiles = []
    for index in range(1, 10):
        stated = algorithm.guarantee_at(9, index)
        assert stated is not None
        profiles.append(stated.guarantee.privacy_profile(EPSILONS))
    assert np.max(profiles, axis=0) == pytest.approx(overall, rel=1e-12)
    assert overall == pytest.approx(profiles[4 if second_half else 0], rel=1e-12)


def test_theorem_26_repaired() -> None:
    """The printed ln n is below the proof's own sum at n = 1, where the exact divergence is positive."""
    algorithm = StopPNSGD(LOGISTIC, 1.0, 6.0)
    for n in (1, 2, 20):
        bound = algorithm.guarantees(n)[1].guarantee
        assert isinstance(bound, RDP)
        harmonic = sum(1 / k for k in range(1, n + 1))
        assert bound.curve(3.0) == pytest.approx(4 * 3 * harmonic / (n * 36), rel=1e-12)
        assert bound.curve(6.0) == math.inf  # 2 * 6 * 5 > 36
        stated = algorithm.rdp_at(n, 1)
        assert stated is not None
        for order in (1.0, 1.5, 3.0, 4.7):
            assert 0 < stated.guarantee.curve(order) <= bound.curve(order)  # type: ignore[attr-defined]
    printed = 4 * 3 * math.log(1) / 36
    exact = 3 * 2**2 / (2 * 36)
    assert printed < exact <= 4 * 3 * 1.0 / 36


def test_the_mixture_bounds_the_exact_divergences_of_a_mixture() -> None:
    """Two mixtures of three Gaussians, by quadrature (absolute error below 1e-9)."""
    weights, mus = (0.2, 0.5), (1.5, 0.4)
    bound = GaussianMixtureProfile(weights, mus)
    places = [0.0, 3.0, -2.0]  # where the parts sit; the third is common to both

    def p(x: float) -> float:
        return sum(w * stats.norm.pdf(x - c) for w, c in zip((*weights, 0.3), places, strict=True))

    def q(x: float) -> float:
        shifts = (*mus, 0.0)
        return sum(
            w * stats.norm.pdf(x - c - s) for w, c, s in zip((*weights, 0.3), places, shifts, strict=True)
        )

    for epsilon in (0.0, 0.3, 1.0):
        for f, g in ((p, q), (q, p)):
            exact = integrate.quad(
                lambda x, f=f, g=g, e=epsilon: max(0.0, f(x) - math.exp(e) * g(x)), -12, 14, limit=400
            )[0]
            assert exact <= float(bound(epsilon)) + 1e-9
    for order in (1.0001, 2.0, 5.0):
        exact = integrate.quad(lambda x, a=order: p(x) ** a * q(x) ** (1 - a), -14, 16, limit=400)[0]
        assert math.log(exact) / (order - 1) <= bound.renyi(order) + 1e-9


def test_the_mixtures_renyi_curve_is_its_definition() -> None:
    bound = GaussianMixtureProfile((0.25, 0.25, 0.25), (2.0, 1.0, 0.01))
    for order in (1.5, 3.0, 15.0):
        parts = [math.exp((order - 1) * order * mu**2 / 2) for mu in bound.mus]
        expected = math.log(0.25 * sum(parts) + 0.25) / (order - 1)
        assert bound.renyi(order) == pytest.approx(expected, rel=1e-12)
    assert bound.renyi(1.0) == pytest.approx(0.125 * (4 + 1 + 1e-4))
    assert bound.renyi(1 + 1e-9) == pytest.approx(bound.renyi(1.0), rel=1e-6)
    assert bound.renyi(1e6) == pytest.approx(1e6 * 2, rel=1e-5)  # no overflow
    assert WeakConvexityCurve(6.0, 1)(1.0) == pytest.approx(4 / 36)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 20.0, 100.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-5, 0.1, 0.9])
def test_the_noise_of_lemma_27_is_enough_for_every_epsilon(epsilon: float, delta: float) -> None:
    multiplier = gaussian_noise_multiplier(epsilon, delta)
    assert float(np.asarray(gaussian_hockey_stick(epsilon, 1 / multiplier))) <= delta
    printed = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert multiplier >= printed
    if epsilon <= 1 and delta <= 1e-2:
        assert multiplier == printed
    if multiplier > printed:  # then it is the smallest that is enough
        assert float(np.asarray(gaussian_hockey_stick(epsilon, 1 / (multiplier * (1 - 1e-9))))) > delta


def test_the_theorems_parameters() -> None:
    n, epsilon, delta = 50, 0.5, 1e-5
    sigma = 2 * math.sqrt(2 * math.log(1.25e5)) / epsilon
    skip = SkipPNSGD.for_privacy(LOGISTIC, n=n, epsilon=epsilon, delta=delta)
    assert skip.noise_stddev == pytest.approx(sigma, rel=1e-12)
    assert skip.rate == pytest.approx(math.sqrt(8) / math.sqrt(n * (1 + D * sigma**2)), rel=1e-12)
    stop = StopPNSGD.for_privacy(LOGISTIC, n=n, epsilon=epsilon, delta=delta)
    assert stop.rate == pytest.approx(2 / math.sqrt(n * (1 + D * sigma**2)), rel=1e-12)
    assert stop.claim == "local"
    local = stop.guarantees(n)[-1]
    assert local.local
    assert local.guarantee.privacy_profile(epsilon) <= delta
    many = PNMSGD.for_privacy(LOGISTIC, rate=0.1, epsilon=epsilon, delta=delta)
    assert many.noise_stddev == pytest.approx(5 * math.sqrt(math.log(1e5)) / epsilon, rel=1e-12)
    for stated in many.guarantees(n):
        assert stated.guarantee.privacy_profile(epsilon) <= delta
    with pytest.raises(NotGuaranteedError, match="below 5"):
        PNMSGD.for_privacy(LOGISTIC, rate=0.1, epsilon=8.0, delta=delta)
    with pytest.raises(InvalidArgumentError, match="bounded constraint set"):
        SkipPNSGD.for_privacy(Problem(Logistic(), AllSpace(D)), n=n, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("algorithm", FAMILY)
@pytest.mark.parametrize(
    ("problem", "rate", "stddev", "reason"),
    [
        (LOGISTIC, 8.0001, 0.5, r"the rate 8.0001 is above 2/beta = 8"),
        (Problem(Hinge(), BALL), 0.1, 0.5, "the loss is not smooth"),
        (Problem(EuclideanDistance(), BALL), 1e-9, 0.5, "the loss is not smooth"),
        (LOGISTIC, 1.0, 0.0, "the noise is zero"),
    ],
)
def test_what_voids_the_guarantee_is_refused(
    algorithm: Any, problem: Problem, rate: float, stddev: float, reason: str
) -> None:
    with pytest.raises(NotGuaranteedError, match=f"{algorithm.id} has no guarantee here: {reason}"):
        algorithm(problem, rate, stddev)
    withdrawn = algorithm(problem, rate, stddev, withdraw_guarantee=True)
    assert withdrawn.guarantees(10) == ()
    assert withdrawn.guarantee_at(10, 3) is None
    assert withdrawn.rdp_at(10, 3) is None
    assert any(reason[:12] in said for said in withdrawn.withdrawn)
    data = Dataset(np.eye(D), np.ones(D))
    assert withdrawn(data, rng=Randomness(0), runs=2).points.shape == (2, D)


@pytest.mark.parametrize("algorithm", FAMILY)
def test_the_largest_rate_that_is_guaranteed(algorithm: Any) -> None:
    assert algorithm(LOGISTIC, 8.0, 0.5).guarantees(10)
    assert algorithm(Problem(HalfSquaredDistance(1.0), BALL), 2.0, 0.5).guarantee_at(10, 1) is not None


@pytest.mark.parametrize("algorithm", [PNSGD, SkipPNSGD, StopPNSGD])
def test_local_claims_need_no_smoothness(algorithm: Any) -> None:
    local = algorithm(Problem(Hinge(), BALL), 50.0, 0.5, claim="local")
    stated = local.guarantees(10)
    assert stated[-1].local
    assert stated[-1].guarantee == GDP(4.0)
    assert local.guarantee_at(10, 1) is not None


def test_there_is_no_local_claim_over_several_epochs() -> None:
    with pytest.raises(NotGuaranteedError, match="no local guarantee"):
        PNMSGD(LOGISTIC, 1.0, 0.5, claim="local")


def test_records_that_the_constants_do_not_cover_are_refused() -> None:
    algorithm = PNSGD(LOGISTIC, 1.0, 0.5)
    outside = Dataset(np.full((2, D), 1.0), np.ones(2))
    wrong_label = Dataset(np.eye(D), np.full(D, 1.5))
    with pytest.raises(InvalidDataError, match="norm"):
        algorithm(outside, rng=Randomness(0), runs=2)
    with pytest.raises(InvalidDataError, match="label"):
        algorithm(wrong_label, rng=Randomness(0), runs=2)
    withdrawn = dataclasses.replace(algorithm, withdraw_guarantee=True)
    withdrawn(outside, rng=Randomness(0), runs=2)
    with pytest.raises(InvalidArgumentError, match="3 features"):
        algorithm(Dataset(np.eye(2), np.ones(2)), rng=Randomness(0), runs=2)


@pytest.mark.parametrize("algorithm", FAMILY)
@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(
            (name, value)
            for name in ("rate", "noise_stddev")
            for value in (-1.0, math.nan, math.inf, True, "1", None)
        ),
        ("rate", 0.0),
        ("start", (1.0, 2.0)),
        ("start", (2.0, 0.0, 0.0)),
        ("start", (math.nan, 0.0, 0.0)),
        ("start", "abc"),
        ("claim", "global"),
        ("problem", None),
        ("withdraw_guarantee", 1),
    ],
)
def test_bad_parameters(algorithm: Any, argument: str, value: object) -> None:
    good = {"problem": LOGISTIC, "rate": 1.0, "noise_stddev": 0.5}
    with pytest.raises(InvalidArgumentError, match=argument):
        algorithm(**{**good, argument: value})


@pytest.mark.parametrize(
    "algorithm", [*(kind(LOGISTIC, 1.0, 0.5) for kind in FAMILY), NoisyGradientDescent(LOGISTIC, 1.0, 1e-5)]
)
def test_indices_are_checked(algorithm: Any) -> None:
    for n, index in ((10, 0), (10, 11), (0, 1), (10, 1.0), (10, True)):
        with pytest.raises(InvalidArgumentError):
            algorithm.guarantee_at(n, index)


class TestNoisyGradientDescent:
    """bst14's Algorithm 1."""

    def test_the_default_constant_is_the_smallest_that_is_proved(self) -> None:
        algorithm = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5)
        theorem, profile = algorithm.guarantees(20)
        assert theorem.guarantee == ApproxDP(1.0, 1e-5)
        assert 0.9e-5 <= profile.guarantee.privacy_profile(1.0) <= 1e-5
        constant = algorithm.provable_constant(20)
        expected = constant * 20**2 * math.log(20e5) * math.log(1e5)
        assert algorithm.noise_stddev(20) ** 2 == pytest.approx(expected, rel=1e-12)
        same = dataclasses.replace(algorithm, noise_constant=constant)
        assert same.guarantees(20)

    def test_the_constant_does_not_depend_on_the_unit_of_the_loss(self) -> None:
        wide = Ball(D, 4.0)
        small = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5)
        large = NoisyGradientDescent(Problem(HalfSquaredDistance(4.0), wide), 1.0, 1e-5)
        assert large.provable_constant(20) == pytest.approx(small.provable_constant(20), rel=1e-12)
        assert large.noise_stddev(20) == pytest.approx(5 * small.noise_stddev(20), rel=1e-12)

    def test_less_noise_is_refused_when_n_is_known(self) -> None:
        algorithm = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5)
        less = dataclasses.replace(algorithm, noise_constant=0.99 * algorithm.provable_constant(3))
        data = Dataset(np.eye(D), np.ones(D))
        assert less.guarantees(3) == ()
        assert less.guarantee_at(3, 1) is None
        with pytest.raises(NotGuaranteedError, match=r"below .*, the smallest that is proved"):
            less(data, rng=Randomness(0), runs=2)
        run(dataclasses.replace(less, withdraw_guarantee=True), data, runs=2, seed=1)

    def test_rates_as_printed(self) -> None:
        algorithm = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5, noise_constant=1.0)
        variance = 10**2 * math.log(10e5) * math.log(1e5)
        assert algorithm.rate(10, 7) == pytest.approx(2 / math.sqrt(7 * (100 + D * variance)), rel=1e-12)
        ridge = Problem(Ridge.on(BALL, Logistic(), 0.25), BALL)
        strong = NoisyGradientDescent(ridge, 1.0, 1e-5, step_size="strongly-convex", noise_constant=1.0)
        assert strong.rate(10, 7) == pytest.approx(1 / (0.25 * 10 * 7), rel=1e-12)

    def test_fewer_steps_need_less_noise(self) -> None:
        few = NoisyGradientDescent(LOGISTIC, 1.0, 1e-5, steps=50)
        assert few.provable_constant(20) < NoisyGradientDescent(LOGISTIC, 1.0, 1e-5).provable_constant(20)
        assert few.gradient_query_count(20) == 50

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            *(
                (name, value)
                for name in ("epsilon", "delta")
                for value in (0.0, -1.0, math.nan, math.inf, True)
            ),
            ("delta", 1.0),
            ("noise_constant", -1.0),
            ("noise_constant", math.nan),
            ("steps", 0),
            ("steps", 1.5),
            ("step_size", "constant"),
            ("start", (5.0, 0.0, 0.0)),
            ("problem", Problem(Logistic(), AllSpace(D))),
            ("problem", Problem(HalfSquaredDistance(math.inf), AllSpace(D))),
            ("withdraw_guarantee", None),
        ],
    )
    def test_bad_parameters(self, argument: str, value: object) -> None:
        good = {"problem": LOGISTIC, "epsilon": 1.0, "delta": 1e-5}
        with pytest.raises(InvalidArgumentError, match=argument):
            NoisyGradientDescent(**{**good, argument: value})  # type: ignore[arg-type]

    def test_the_strongly_convex_rule_needs_a_strongly_convex_loss(self) -> None:
        with pytest.raises(InvalidArgumentError, match="strongly convex"):
            NoisyGradientDescent(LOGISTIC, 1.0, 1e-5, step_size="strongly-convex")


class TestContractiveNoisyIteration:
    """fmtt18's Definition 19."""

    MAPS = (lambda w, data: 0.5 * w,) * 4

    def test_gaussian_noise_gets_the_best_schedule(self) -> None:
        algorithm = ContractiveNoisyIteration(
            self.MAPS, GaussianNoise(0.5), np.zeros(2), shifts=(0.0, 1.0, 0.0, 0.0)
        )
        (stated,) = algorithm.guarantees(1)
        assert isinstance(stated.guarantee, GDP)
        assert stated.guarantee.mu == pytest.approx(1 / 0.5 / math.sqrt(3), rel=1e-12)

    def test_contractions_help(self) -> None:
        plain = ContractiveNoisyIteration(
            self.MAPS, GaussianNoise(0.5), np.zeros(2), shifts=(0.0, 1.0, 0.0, 0.0)
        )
        known = dataclasses.replace(plain, contractions=(0.5,) * 4)
        assert known.guarantees(1)[0].guarantee.mu < plain.guarantees(1)[0].guarantee.mu  # type: ignore[attr-defined]

    def test_the_even_schedule_is_admissible_for_any_shifts(self) -> None:
        rng = np.random.default_rng(3)
        for _ in range(50):
            shifts, contractions = tuple(rng.exponential(size=4)), tuple(rng.uniform(size=4))
            algorithm = ContractiveNoisyIteration(
                self.MAPS, GaussianNoise(0.5), np.zeros(2), shifts=shifts, contractions=contractions
            )
            iteration = algorithm.noisy_iteration()
            assert iteration is not None
            even = iteration.with_schedule(algorithm.even_schedule())
            assert even.squared_mu >= iteration.best().squared_mu * (1 - 1e-9)

    @pytest.mark.parametrize("order", [1.0, 1.01, 2.0, 9.0])
    def test_laplace_magnitude_by_quadrature(self, order: float) -> None:
        shift, scale = 0.8, 0.6
        p, q = stats.laplace(shift, scale), stats.laplace(0, scale)
        if order == 1:
            exact = integrate.quad(
                lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), -30, 30, points=[0, shift]
            )[0]
        else:
            power = integrate.quad(
                lambda x: math.exp(order * p.logpdf(x) + (1 - order) * q.logpdf(x)),
                -30,
                30,
                points=[0, shift],
            )[0]
            exact = math.log(power) / (order - 1)
        assert LaplaceNoise(scale).magnitude(order, shift) == pytest.approx(exact, rel=1e-7)
        assert LaplaceNoise(scale).magnitude(order, 0.0) == pytest.approx(0.0, abs=1e-12)

    def test_laplace_noise_gets_a_renyi_curve(self) -> None:
        algorithm = ContractiveNoisyIteration(
            self.MAPS, LaplaceNoise(0.6), np.zeros(2), shifts=(0.0, 1.0, 0.0, 0.0)
        )
        (stated,) = algorithm.guarantees(1)
        assert isinstance(stated.guarantee, RDP)
        each = LaplaceNoise(0.6).magnitude(2.0, 1 / 3)
        assert stated.guarantee.curve(2.0) == pytest.approx(3 * each, rel=1e-12)

    def test_nothing_is_claimed_without_shifts(self) -> None:
        algorithm = ContractiveNoisyIteration(self.MAPS, GaussianNoise(0.5), np.zeros(2))
        assert algorithm.guarantees(1) == ()
        assert algorithm.guarantee_at(3, 1) is None

    def test_expanding_maps_are_refused(self) -> None:
        options: dict[str, Any] = {"shifts": (1.0,) * 4, "contractions": (1.0, 1.0, 1.1, 1.0)}
        with pytest.raises(NotGuaranteedError, match=r"expands distances by 1\.1"):
            ContractiveNoisyIteration(self.MAPS, GaussianNoise(0.5), np.zeros(2), **options)
        withdrawn = ContractiveNoisyIteration(
            self.MAPS, GaussianNoise(0.5), np.zeros(2), withdraw_guarantee=True, **options
        )
        assert withdrawn.guarantees(1) == ()

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            ("maps", ()),
            ("maps", (1,)),
            ("noises", (GaussianNoise(1.0),)),
            ("noises", 1.0),
            ("shifts", (1.0,)),
            ("shifts", (1.0, -1.0, 0.0, 0.0)),
            ("shifts", (math.nan,) * 4),
            ("contractions", (1.0,)),
            ("queries_per_step", -1),
        ],
    )
    def test_bad_parameters(self, argument: str, value: object) -> None:
        good = {"maps": self.MAPS, "noises": GaussianNoise(0.5), "start": np.zeros(2)}
        with pytest.raises(InvalidArgumentError, match=argument):
            ContractiveNoisyIteration(**{**good, argument: value})  # type: ignore[arg-type]

    def test_a_random_start(self) -> None:
        algorithm = ContractiveNoisyIteration(
            (lambda w, data: w,), GaussianNoise(0.0), lambda rng, runs: rng.uniform((runs, 2), "start")
        )
        points = run(algorithm, None, runs=100, seed=1).points
        assert np.all((points >= 0) & (points < 1))
        assert len(np.unique(points)) == 200


def test_linear_losses_attain_the_guarantee_at_the_last_index() -> None:
    """Opposite records at index n: the exact law is N(-eta x, ..) against N(+eta x, ..) given the rest.

    With n = 1 the output's distance is 2 eta L and its noise eta sigma: mu = 2 L / sigma, as claimed.
    """
    algorithm = PNSGD(Problem(Linear(), AllSpace(1)), 0.5, 0.8)
    stated = algorithm.guarantee_at(1, 1)
    assert stated is not None
    assert stated.guarantee == GDP(2 / 0.8)


def test_shifts_of_some_records_protect_those_alone() -> None:
    """Shifts that were declared for a replaced record before the last one say nothing of the last one."""
    maps = (lambda points, data: 0.5 * points,) * 2
    protected = ProtectedRecords(public_last=1)
    algorithm = ContractiveNoisyIteration(
        maps, GaussianNoise(1.0), np.zeros(1), shifts=(1.0, 0.0), protected=protected
    )
    (stated,) = algorithm.guarantees(2)
    assert stated.protected == protected
    assert algorithm.guarantee_at(2, 1) == stated.at(1, 2) is not None
    assert algorithm.guarantee_at(2, 2) is None
    for bad in ("all", None, ProtectedRecords(only=1)):
        with pytest.raises(InvalidArgumentError, match="protected"):
            dataclasses.replace(algorithm, protected=bad)  # type: ignore[arg-type]
