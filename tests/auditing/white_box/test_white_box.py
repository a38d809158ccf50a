"""White-box audits: bounds that hold, planted faults that are found, and structures that lie."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, norm

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.bst14.output_perturbation import GaussianOutputPerturbation
from dpverify.algorithms.fmtt18 import (
    PNMSGD,
    PNSGD,
    ContractiveNoisyIteration,
    SkipPNSGD,
    StopPNSGD,
)
from dpverify.algorithms.fmtt18.iteration import GaussianNoise
from dpverify.auditing import ErrorShare, Label, PrivacyQuestion
from dpverify.auditing.white_box import Stated, WhiteBoxAuditor
from dpverify.auditing.white_box.agreement import compare
from dpverify.auditing.white_box.bounds import bet_size, mean_lower, mean_upper, tail_beyond
from dpverify.auditing.white_box.choice import PUSHES
from dpverify.auditing.white_box.half_spaces import half_space, largest
from dpverify.auditing.white_box.simulation import Before, blocks, generator, released
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.privacy import GDP, Adjacency, ApproxDP, Guarantee, PureDP, StatedGuarantee
from dpverify.problems import (
    Ball,
    Box,
    ConstraintSet,
    Dataset,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Simplex,
)
from dpverify.running import StatedStep, StatedStructure, run, single_noise
from dpverify.statements.exact import index_profiles

Array = NDArray[np.float64]


@dataclass
class Noise:
    """N(0, 1) and N(1, 1), or with another scale than is stated."""

    scale: float = 1.0

    def draw(self, count: int) -> tuple[Array, Array]:
        rng = np.random.default_rng(5)
        return self.scale * rng.normal(size=count), 1 + self.scale * rng.normal(size=count)


GAUSSIAN = (single_noise(0.0, 1.0), single_noise(1.0, 1.0))


def asks(claim: Guarantee, runs: int, seed: int = 0, delta: float | None = None) -> PrivacyQuestion:
    stated = StatedGuarantee(claim, Adjacency.REPLACE_ONE)
    return PrivacyQuestion(stated, "two numbers", runs, delta=delta, label=Label("noise", seed=seed))


def audited(
    claim: Guarantee,
    subject: Stated,
    runs: int,
    *,
    level: float = 1e-6,
    seed: int = 0,
    delta: float | None = None,
) -> PrivacyEvidence:
    return WhiteBoxAuditor().audit(asks(claim, runs, seed, delta), subject, ErrorShare(level))


# ------------------------------------------------------------------------------- what is bounded


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-10])
def test_the_gaussian_mechanism(delta: float) -> None:
    """A hundred thousand runs, which no black-box audit could use at these deltas."""
    true = GDP(1.0)
    found = audited(true, Stated(Noise(), GAUSSIAN), 100_000, level=0.05, delta=delta)
    assert found.verdict is Verdict.SUPPORTED
    assert 0.99 * true.epsilon_at(delta) < found.epsilon_lower <= true.epsilon_at(delta)
    assert "given the stated structure" in found.reason
    assert sum(share.failure_probability for share in found.shares) <= 0.05


def test_a_claim_that_fails_at_a_small_delta_only() -> None:
    """(4, 1e-5)-DP is claimed where 4.38 is true; false alarms 1e-6."""
    found = audited(ApproxDP(4.0, 1e-5), Stated(Noise(), GAUSSIAN), 100_000)
    assert found.verdict is Verdict.VIOLATED
    assert found.epsilon_lower > 4.3
    assert audited(GDP(0.95), Stated(Noise(), GAUSSIAN), 100_000).verdict is Verdict.VIOLATED
    assert audited(PureDP(5.0), Stated(Noise(), GAUSSIAN), 100_000).verdict is Verdict.VIOLATED


@dataclass
class Descent:
    """An algorithm on two data sets."""

    algorithm: PNSGD | SkipPNSGD | StopPNSGD | PNMSGD | NoisyGradientDescent | GaussianOutputPerturbation
    pair: tuple[Dataset, Dataset]

    def draw(self, count: int) -> tuple[Array, Array]:
        left, right = (
            run(self.algorithm, data, runs=count, seed=(3, side)).points
            for side, data in enumerate(self.pair)
        )
        return left, right

    def stated(self) -> Stated:
        left, right = (self.algorithm.structure(data) for data in self.pair)
        assert left is not None
        assert right is not None
        return Stated(self, (left, right))


@pytest.mark.parametrize("radius", [50.0, 0.3])
def test_projected_noisy_sgd_with_linear_losses(radius: float) -> None:
    """Far from the ends of the interval, where all noise adds up, and with projections in most steps.

    The truth is known, or enclosed by a grid; a bound above it has probability 0.05, once for this seed.
    """
    algorithm = PNSGD(Problem(Linear(), Ball(1, radius)), rate=0.1, noise_stddev=0.63)
    left = Dataset(np.array([[(-1.0) ** t] for t in range(9)] + [[1.0]]), np.ones(10), "ones")
    right = left.replace(10, [-1.0], 1.0)
    if radius == 50:
        exact = GDP(0.2 / (0.063 * math.sqrt(10))).epsilon_at(1e-5)
        truth = Interval(lower=exact, upper=exact)
    else:
        found_by = index_profiles(
            algorithm, left, record=([-1.0], 1.0), indices=[10], delta=1e-5, accuracy=0.05
        )
        truth = found_by[10].epsilon(1e-5)
    found = audited(GDP(5.0), Descent(algorithm, (left, right)).stated(), 100_000, level=0.05, delta=1e-5)
    assert 0.93 * truth.lower < found.epsilon_lower <= truth.upper


def test_a_weaker_last_step_is_found() -> None:
    """Half of the noise in all steps, as stated and as run: the claim for the whole noise fails."""
    weak = PNSGD(Problem(Linear(), Ball(2, 1.0)), rate=0.1, noise_stddev=1.0)
    left = Dataset(np.zeros((8, 2)), np.ones(8), "zeros").replace(1, [0.6, 0.8], 1.0)
    claimed = PNSGD(Problem(Linear(), Ball(2, 1.0)), rate=0.1, noise_stddev=2.0).guarantee_at(8, 1)
    assert claimed is not None
    subject = Descent(weak, (left, left.replace(1, [-0.6, -0.8], 1.0))).stated()
    assert audited(claimed.guarantee, subject, 50_000).verdict is Verdict.VIOLATED
    kept = weak.guarantee_at(8, 1)
    assert kept is not None
    assert audited(kept.guarantee, subject, 50_000).verdict is Verdict.SUPPORTED


def test_false_alarms() -> None:
    """60 audits at .2 of bounds on what is exactly true, on two mechanisms.

    More than 26 alarms have probability 2e-5 if each has .2; a bound that ignored its width would give 30.
    """
    truth = GDP(1.0)
    exact = [truth.epsilon_at(delta) for delta in (1e-1, 1e-4)]
    move = StatedStep(lambda x, _: x, 0.6, 1.0)
    chains = tuple(
        StatedStructure((0.0,), (move, StatedStep(lambda x, _, c=c: x + c, 0.8, 1.0))) for c in (0.0, 1.0)
    )
    alarms = 0
    for seed in range(30):
        for k, structures in enumerate((GAUSSIAN, chains)):
            delta = (1e-1, 1e-4)[(seed + k) % 2]
            rng = np.random.default_rng((seed, k))

            class Own:
                def draw(self, count: int, rng: np.random.Generator = rng) -> tuple[Array, Array]:
                    return rng.normal(size=count), rng.normal(1.0, size=count)

            found = audited(truth, Stated(Own(), structures), 1000, level=0.2, seed=seed, delta=delta)
            bound = exact[(seed + k) % 2]
            alarms += found.verdict is Verdict.VIOLATED or found.epsilon_lower > bound
    assert binom.sf(26, 60, 0.2) < 2e-5
    assert alarms <= 26


# ------------------------------------------------------------------------------- structures


@pytest.mark.parametrize("scale", [0.8, 1.25])
def test_a_structure_that_lies_about_the_noise(scale: float) -> None:
    found = audited(ApproxDP(4.0, 1e-5), Stated(Noise(scale), GAUSSIAN), 20_000)
    assert (found.verdict, found.gap) == (Verdict.UNDECIDED, Gap.CONTRADICTORY_ASSUMPTIONS)
    assert "contradict the stated structure" in found.reason
    assert found.epsilon_lower == 0
    assert found.detects_nothing


def test_a_lie_across_the_direction_in_which_the_data_sets_differ() -> None:
    class Flat:
        def draw(self, count: int) -> tuple[Array, Array]:
            rng = np.random.default_rng(0)
            left, right = rng.normal(size=(count, 3)), rng.normal(size=(count, 3))
            right[:, 0] += 1
            return left * [1, 0.5, 1], right * [1, 0.5, 1]

    stated = (single_noise([0.0, 0, 0], 1.0), single_noise([1.0, 0, 0], 1.0))
    assert audited(GDP(2.0), Stated(Flat(), stated), 20_000).verdict is Verdict.UNDECIDED


def _logistic(radius: float = 1.0) -> Problem:
    return Problem(Logistic(), Ball(2, radius))


ALGORITHMS = [
    PNSGD(_logistic(), rate=0.5, noise_stddev=0.5),
    SkipPNSGD(_logistic(), rate=0.5, noise_stddev=0.5),
    StopPNSGD(_logistic(), rate=0.5, noise_stddev=0.5),
    PNMSGD(_logistic(), rate=0.5, noise_stddev=0.5, epochs=3),
    NoisyGradientDescent(_logistic(3.0), 1.0, 1e-5, steps=20, noise_constant=0.01, withdraw_guarantee=True),
    GaussianOutputPerturbation(Problem(Ridge(Logistic(), 1.0, 2.0), Ball(2, 2.0)), 1.0, 1e-5),
]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.id)
def test_algorithms_follow_what_they_state(algorithm: PNSGD) -> None:
    """Outputs against outputs of the structure, at 1e-6; noise of another size is noticed."""
    data = Dataset(
        np.array([[0.6, 0.8], [-1.0, 0], [0, 0.5], [0.3, -0.3], [1, 0], [0, -1.0]]), np.ones(6), "six"
    )
    stated = algorithm.structure(data)
    assert stated is not None
    outputs = run(algorithm, data, runs=20_000, seed=1).points
    direction = np.array([0.6, -0.8])
    assert not compare((outputs, outputs), (stated, stated), direction, 1e-6, 0).contradiction
    steps = tuple(
        StatedStep(step.move, 1.5 * step.noise_stddev, step.lipschitz_constant, step.draws)
        for step in stated.steps
    )
    other = StatedStructure(stated.start, steps, stated.constraint, stated.skipped, stated.stopped)
    assert compare((outputs, outputs), (other, other), direction, 1e-6, 0).contradiction


def test_an_iteration_of_ones_own() -> None:
    chain = ContractiveNoisyIteration(
        (lambda x, data: x / 2 + data,) * 3,
        GaussianNoise(0.5),
        np.zeros(2),
        shifts=(1.0,) * 3,
        contractions=(0.5,) * 3,
    )
    stated = chain.structure(1.0)
    assert stated is not None
    assert stated.spread == pytest.approx(0.5 * math.sqrt(1 + 1 / 4 + 1 / 16))
    outputs = run(chain, 1.0, runs=20_000, seed=1).points
    assert not compare((outputs, outputs), (stated, stated), np.array([1.0, 0]), 1e-6, 0).contradiction
    assert (
        ContractiveNoisyIteration((lambda x, data: x,), GaussianNoise(0.0), np.zeros(2)).structure(1.0)
        is None
    )


def test_spread_where_nothing_is_known() -> None:
    """A map that draws, or a run that may end early, makes the released state no function of the noise alone."""
    free = StatedStep(lambda x, _: x, 1.0)
    rigid = StatedStep(lambda x, _: x, 1.0, 1.0)
    assert StatedStructure((0.0,), (rigid, rigid)).spread == pytest.approx(math.sqrt(2))
    assert StatedStructure((0.0,), (free, rigid)).spread == pytest.approx(math.sqrt(2))  # from a fixed start
    assert StatedStructure((0.0,), (rigid, free)).spread == math.inf
    assert StatedStructure((0.0,), (rigid, rigid), stopped=(0.5, 0.5)).spread == math.inf
    assert StatedStructure((0.0,), (StatedStep(lambda x, _: x, 1.0, 1.0, True),)).spread == math.inf


# ------------------------------------------------------------------------------- parts


SETS: list[ConstraintSet | None] = [
    None,
    Ball(3, 1.0, (0.1, 0.2, 0)),
    Box([-0.5, -1, -1], [0.6, 1, 2]),
    Simplex(3),
]


@pytest.mark.parametrize("constraint", SETS, ids=str)
def test_half_spaces_against_brute_force(constraint: ConstraintSet | None) -> None:
    """Means of conditional probabilities and frequencies; each of 6 is within 5 standard errors, so 4e-6 in all."""
    runs = 4000
    direction = np.array([0.6, -0.8, 0.0])
    centers = np.random.default_rng(0).normal(0, 0.5, (runs, 3))
    before = Before(centers, np.full(runs, 0.7), np.zeros(runs), np.zeros(runs), generator(0, 99))
    structure = StatedStructure((0.0, 0.0, 0.0), (StatedStep(lambda x, _: x, 1.0),), constraint)
    outputs = released(structure, Before(centers, np.full(runs, 0.7), centers, centers, generator(1, 99)))
    thresholds = np.array([-0.7, -0.2, 0.0, 0.2, 0.5, 0.7])
    expected = half_space(before, direction, thresholds, constraint).mean(axis=1)
    seen = (outputs @ direction >= thresholds[:, None]).mean(axis=1)
    assert np.all(np.abs(seen - expected) <= 5 * np.sqrt(2 * seen * (1 - seen) / runs) + 1e-12)


def test_where_projections_pile_up() -> None:
    before = Before(np.zeros((1, 1)), np.ones(1), np.zeros(1), np.zeros(1), generator(0, 0))
    at = half_space(before, np.ones(1), np.array([-2.0, -1.0, 0.0, 1.0, 1.1]), Box([-1.0], [1.0]))[:, 0]
    assert at == pytest.approx([1.0, 1.0, 0.5, norm.sf(1.0), 0.0])


@pytest.mark.parametrize("constraint", [Ball(1, 0.5, (0.2,)), Box([-0.5], [1.0]), Ball(3, 0.5)], ids=str)
def test_no_value_exceeds_its_largest(constraint: ConstraintSet) -> None:
    """Half-spaces after a map that brings points together; near the ends it is attained."""
    d = constraint.dimension
    structure = StatedStructure(
        tuple(constraint.center()), (StatedStep(lambda x, _: 0.1 - x / 2, 0.3, 0.5),) * 3, constraint
    )
    direction = np.eye(d)[0]
    thresholds = np.linspace(-0.4, 0.6, 11)
    bound = largest(structure, direction, thresholds)
    simulated = next(blocks(structure, 20_000, seed=0, stage=0, direction=direction))
    values = half_space(simulated, direction, thresholds, constraint)
    assert np.all(values <= bound[:, None])
    inside = (bound < 1) & (thresholds < 0.5)
    assert inside.sum() >= 3
    assert np.all(values.max(axis=1)[inside] > 0.5 * bound[inside])
    drawn = StatedStructure((0.0,), (StatedStep(lambda x, _: x, 1.0, 1.0, True),))
    assert np.all(largest(drawn, np.ones(1), thresholds) == 1)
    fixed = largest(GAUSSIAN[1], np.ones(1), thresholds)
    assert fixed == pytest.approx(norm.sf(thresholds - 1))


def test_a_lipschitz_constant_that_is_none_is_noticed() -> None:
    """The last map doubles distances, and 0.1 is stated: values beyond what that allows."""
    steps = (StatedStep(lambda x, _: x, 1.0, 1.0), StatedStep(lambda x, _: 2 * x, 0.3, 0.1))
    left = StatedStructure((0.0,), steps, Box([-2.0], [2.0]))
    right = StatedStructure((0.5,), steps, Box([-2.0], [2.0]))

    class Own:
        def draw(self, count: int) -> tuple[Array, Array]:
            return tuple(  # type: ignore[return-value]
                np.concatenate(
                    [
                        released(side, one)
                        for one in blocks(side, count, seed=9, stage=k, direction=np.zeros(1))
                    ]
                )
                for k, side in enumerate((left, right))
            )

    with pytest.raises(InvalidDataError, match="lipschitz_constant"):
        audited(GDP(2.0), Stated(Own(), (left, right)), 5000)


def test_pushed_noise_has_the_stated_mean() -> None:
    """A tail of 1e-5 from 20,000 runs, to 5 standard errors (about 1e-6)."""
    structure = StatedStructure((0.0,), (StatedStep(lambda x, _: x, 0.5, 1.0),) * 4)
    values = np.concatenate(
        [
            before.likelihood(PUSHES) * half_space(before, np.ones(1), np.array([4.265]), None)[0]
            for before in blocks(structure, 20_000, seed=0, stage=7, direction=np.ones(1), pushes=PUSHES)
        ]
    )
    assert abs(values.mean() - norm.sf(4.265)) < 5 * values.std() / math.sqrt(values.size) < 1e-6
    assert np.all(values <= len(PUSHES))


def test_runs_that_end_early_keep_their_own_last_noise() -> None:
    steps = (StatedStep(lambda x, _: x + 1, 0.1, 1.0), StatedStep(lambda x, _: x + 10, 0.2, 1.0))
    stopped = next(
        blocks(
            StatedStructure((0.0,), steps, stopped=(0.5, 0.5)), 1000, seed=0, stage=0, direction=np.ones(1)
        )
    )
    first = stopped.noise_stddevs == 0.1
    assert 400 < first.sum() < 600
    assert np.all(stopped.centers[first] == 1)
    assert np.all(stopped.centers[~first] > 10)
    skipped = next(
        blocks(
            StatedStructure((0.0,), steps, skipped=(0.5, 0.5)), 1000, seed=0, stage=0, direction=np.ones(1)
        )
    )
    assert set(skipped.noise_stddevs) == {0.2}
    assert 400 < np.sum(skipped.centers == 10) < 600


def test_bounds_of_means_hold_and_are_near() -> None:
    """600 bounds at .1 of a mean of 1e-3: more than 55 of 300 have probability 1e-5."""
    rng = np.random.default_rng(0)
    low = high = 0
    for _ in range(300):
        values = (rng.random(2000) < 0.002) * 0.5
        bet = bet_size(5e-4, 2000, 0.1)
        low += mean_lower(values, bet, 0.1) > 1e-3
        high += mean_upper(values, bet, 0.1) < 1e-3
    assert binom.sf(55, 300, 0.1) < 1e-5
    assert max(low, high) <= 55
    many = np.full(10_000, 0.25)
    assert 0.249 < mean_lower(many, 1e9, 0.01) < 0.25 < mean_upper(many, 1e9, 0.01) < 0.251


def test_tails_go_on_by_isoperimetry() -> None:
    """Exact for a linear function, and nothing for one of which no constant is known."""
    assert float(tail_beyond(np.array(0.5), np.array(4.0))) == pytest.approx(norm.sf(4.0), rel=1e-6)
    assert float(tail_beyond(np.array(0.1), np.array(0.0))) == 0.1
    assert float(tail_beyond(np.array(0.3), np.array(np.inf))) == 0.0
    assert float(tail_beyond(np.array(1.0), np.array(np.inf))) == 1.0


def test_bad_input() -> None:
    good = Stated(Noise(), GAUSSIAN)
    with pytest.raises(InvalidArgumentError, match="runs"):
        audited(GDP(1.0), good, 999)
    with pytest.raises(InvalidArgumentError, match="delta"):
        audited(GDP(1.0), good, 1000, delta=1.0)
    with pytest.raises(InvalidArgumentError, match="structures"):
        audited(GDP(1.0), Stated(Noise(), (GAUSSIAN[0], single_noise([0.0, 1.0], 1.0))), 1000)
    with pytest.raises(InvalidDataError, match="shape"):
        audited(GDP(1.0), Stated(Noise(), (single_noise([0.0, 0.0], 1.0),) * 2), 1000)
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InvalidArgumentError, match="noise_stddev"):
            StatedStep(lambda x, _: x, bad)
    step = StatedStep(lambda x, _: x, 1.0)
    for wrong in ({"start": ()}, {"steps": ()}, {"constraint": Ball(2, 1.0)}, {"skipped": (0.5,)}):
        with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
            StatedStructure(**({"start": (0.0,), "steps": (step,)} | wrong))  # type: ignore[arg-type]
    with pytest.raises(InvalidDataError, match="stated step"):
        StatedStep(lambda x, _: x[:1], 1.0).images(np.zeros((2, 1)), generator(0, 0))


def test_sides_that_do_not_differ_are_not_told_apart() -> None:
    same = GAUSSIAN[0]

    class Same:
        def draw(self, count: int) -> tuple[Array, Array]:
            rng = np.random.default_rng(0)
            return rng.normal(size=count), rng.normal(size=count)

    found = audited(GDP(1.0), Stated(Same(), (same, same)), 2000)
    assert (found.verdict, found.epsilon_lower, found.gap) == (Verdict.UNDECIDED, 0.0, Gap.BLIND_AUDIT)
