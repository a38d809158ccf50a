"""Runs that leave out steps or end early, maps that forget the state, and weakened versions of what is stated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from dpverify.algorithms.fmtt18 import PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.iteration import ContractiveNoisyIteration, GaussianNoise
from dpverify.auditing import ErrorShare, Label, PlantedFaults, PrivacyQuestion
from dpverify.auditing.subjects import OnPair, Runner
from dpverify.auditing.white_box import Stated, WhiteBoxAuditor
from dpverify.auditing.white_box.bounds import tail_beyond, tail_of_parts
from dpverify.auditing.white_box.half_spaces import half_space, largest
from dpverify.auditing.white_box.simulation import blocks
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.privacy import GDP, RDP, Adjacency, Guarantee, StatedGuarantee
from dpverify.problems import AllSpace, Ball, Dataset, Linear, Problem, contract_then_reveal
from dpverify.running import StatedStep, StatedStructure, run, single_noise

Array = NDArray[np.float64]


def identity(states: Array, rng: np.random.Generator) -> Array:
    return states


RIGID, LOOSE = StatedStep(identity, 1.0, 1.0), StatedStep(identity, 1.0)
FORGETS = StatedStep(lambda x, _: 0 * x, 1.0, 0.0)


def test_tails_of_a_mixture() -> None:
    """Two sorts of normal numbers, apart by a constant shift: exact tails are never above the bound, nor far below."""
    for weight, shift, spreads in ((0.5, 0.0, (1.0, 1.0)), (0.2, 1.5, (1.0, 2.0)), (0.9, -3.0, (0.5, 1.0))):
        parts = ((weight, spreads[0]), (1 - weight, spreads[1]))

        def beyond(t: Array, w: float = weight, b: float = shift, s: tuple[float, float] = spreads) -> Array:
            return np.asarray(w * norm.sf(t / s[0]) + (1 - w) * norm.sf((t - b) / s[1]))

        near, far = np.meshgrid(np.linspace(-2, 3, 11), np.linspace(0, 6, 13))
        bound = tail_of_parts(beyond(near), far, parts)
        assert np.all(bound >= beyond(near + far) * (1 - 1e-9))
    # one sort of four has all of a tail that is rarer than any of them
    even = ((0.25, 1.0),) * 4
    assert float(tail_of_parts(np.array(0.01), np.array(2.0), even)) == pytest.approx(
        0.25 * float(tail_beyond(np.array(0.04), np.array(2.0))), rel=1e-6
    )
    assert float(tail_of_parts(np.array(0.3), np.array(1.0), ((1.0, math.inf),))) == pytest.approx(0.3)
    assert float(tail_of_parts(np.array(0.3), np.array(0.0), even)) == 0.3


def test_the_sorts_of_runs_of_a_structure() -> None:
    root = math.sqrt
    assert StatedStructure((0.0,), (RIGID,) * 2).parts == ((1.0, pytest.approx(root(2))),)
    assert StatedStructure((0.0,), (RIGID,) * 3, stopped=(0.5, 0, 0.5)).parts == (
        (0.5, 1.0),
        (0.5, pytest.approx(root(3))),
    )
    skips = StatedStructure((0.0,), (RIGID,) * 3, skipped=(0.25, 0.75))
    assert skips.parts == ((0.25, pytest.approx(root(3))), (0.75, pytest.approx(root(2))))
    assert skips.spread == math.inf
    # which steps were left out before a map that forgets the state does not matter
    forgets = StatedStructure((0.0,), (LOOSE, LOOSE, FORGETS, RIGID), skipped=(0.25, 0.25, 0.5))
    assert forgets.parts == ((1.0, pytest.approx(root(2))),)
    assert forgets.spread == pytest.approx(root(2))
    draws = StatedStructure((0.0,), (StatedStep(identity, 1.0, 1.0, draws=True), RIGID))
    assert draws.parts == ((1.0, math.inf),)
    assert StatedStructure((0.0, 0), (RIGID,), AllSpace(2)).constraint is None
    assert [step.noise_stddev for step in skips.quieter(4.0).steps] == [0.25] * 3
    assert skips.quieter(4.0).skipped == skips.skipped


@pytest.mark.parametrize("kind", [SkipPNSGD, StopPNSGD])
def test_no_value_exceeds_its_largest_however_a_run_goes(kind: type[SkipPNSGD]) -> None:
    algorithm = kind(Problem(Linear(), Ball(1, 0.5)), rate=0.4, noise_stddev=1.0)
    data = Dataset(np.array([[1.0], [-1.0], [1.0], [-1.0]]), np.ones(4), "four")
    structure = algorithm.structure(data)
    assert structure is not None
    thresholds = np.linspace(0.0, 0.5, 6)
    bound = largest(structure, np.ones(1), thresholds)
    before = next(blocks(structure, 20_000, seed=0, stage=0, direction=np.ones(1)))
    values = half_space(before, np.ones(1), thresholds, structure.constraint)
    assert np.all(values <= bound[:, None])
    assert np.all(values.max(axis=1) > 0.9 * bound)
    assert np.any(bound < 0.99)


def test_a_record_knows_how_much_its_own_step_contracts() -> None:
    """The loss of `contract_then_reveal` curves with label 1 only: those steps land on a point."""
    pair = contract_then_reveal(3, 2)
    stated = PNSGD(Problem(pair.loss, AllSpace(1)), 1.0, 1.0, withdraw_guarantee=True).structure(pair.left)
    assert stated is not None
    assert [step.lipschitz_constant for step in stated.steps] == [0.0, 0.0, 1.0]
    assert stated.spread == pytest.approx(math.sqrt(2))


def test_maps_without_noise_are_parts_of_the_next() -> None:
    chain = ContractiveNoisyIteration(
        (lambda x, data: x + data, lambda x, data: x / 2, lambda x, data: -x),
        (GaussianNoise(0.0), GaussianNoise(1.0), GaussianNoise(2.0)),
        np.zeros(1),
        contractions=(0.75, 0.5, 1.0),
    )
    stated = chain.structure(4.0)
    assert stated is not None
    assert [step.noise_stddev for step in stated.steps] == [1.0, 2.0]
    assert [step.lipschitz_constant for step in stated.steps] == [0.375, 1.0]
    assert stated.steps[0].images(np.zeros((1, 1)), np.random.default_rng(0)).tolist() == [[2.0]]
    silent = ContractiveNoisyIteration(
        (lambda x, data: x,) * 2, (GaussianNoise(1.0), GaussianNoise(0.0)), [0.0]
    )
    assert silent.structure(0.0) is None


# ------------------------------------------------------------------------------- what an audit would have noticed


@dataclass(frozen=True)
class Noise:
    """N(0, s^2) and N(1, s^2), stated and drawn; weakened, s is smaller by the factor that is asked for, or by less."""

    stddev: float = 1.0
    weakens: bool = True
    factors: tuple[float, ...] = (4.0, 2.0)

    @property
    def structures(self) -> tuple[StatedStructure, StatedStructure]:
        return single_noise(0.0, self.stddev), single_noise(1.0, self.stddev)

    def draw(self, count: int) -> tuple[Array, Array]:
        rng = np.random.default_rng(7)
        return rng.normal(0, self.stddev, count), rng.normal(1, self.stddev, count)

    @property
    def faults(self) -> PlantedFaults:
        return PlantedFaults(
            lambda k: Noise(self.stddev / (k if self.weakens else 1.0)), "noise divided by", self.factors
        )


def ask(claim: Guarantee) -> PrivacyQuestion:
    stated = StatedGuarantee(claim, Adjacency.REPLACE_ONE)
    return PrivacyQuestion(stated, "two numbers", 5000, label=Label("noise", seed=1))


def test_support_needs_a_weakened_mechanism_that_is_flagged() -> None:
    """Each of five audits is wrong with probability 1e-6."""
    seen = WhiteBoxAuditor().audit(ask(GDP(1.0)), Noise(), ErrorShare(1e-6))
    assert (seen.verdict, seen.smallest_fault, seen.white_box) == (Verdict.SUPPORTED, 2.0, True)
    assert "with the noise divided by 2, the mechanism was flagged" in seen.reason
    assert seen.epsilon_claimed == pytest.approx(GDP(1.0).epsilon_at(1e-5))
    loose = WhiteBoxAuditor().audit(ask(GDP(3.0)), Noise(), ErrorShare(1e-6))
    assert (loose.verdict, loose.smallest_fault) == (Verdict.SUPPORTED, 4.0)
    for blind in (Noise(weakens=False), Noise(factors=(1.5,))):
        found = WhiteBoxAuditor().audit(ask(GDP(2.0)), blind, ErrorShare(1e-6))
        assert (found.verdict, found.gap, found.detects_nothing) == (Verdict.UNDECIDED, Gap.BLIND_AUDIT, True)
        assert found.epsilon_lower > 0
        assert "the mechanism was not flagged" in found.reason
    assert WhiteBoxAuditor().audit(ask(GDP(0.9)), Noise(), ErrorShare(1e-6)).verdict is Verdict.VIOLATED


def test_a_curve_that_fails_elsewhere_than_at_the_delta_asked_about() -> None:
    """One point of a Renyi curve allows much at delta 1e-5; that it is false shows where delta is large."""
    claim = RDP.point(1.5, 0.05)
    assert claim.epsilon_at(1e-5) > GDP(1.0).epsilon_at(1e-5)
    found = WhiteBoxAuditor().audit(ask(claim), Noise(), ErrorShare(1e-6))
    assert found.verdict is Verdict.VIOLATED
    assert found.epsilon_lower < GDP(1.0).epsilon_at(1e-5)
    true = WhiteBoxAuditor().audit(ask(RDP.point(1.5, 0.75)), Noise(factors=(8.0,)), ErrorShare(1e-6))
    assert true.verdict is Verdict.SUPPORTED


def test_a_mechanism_that_states_nothing_is_refused() -> None:
    data = Dataset(np.zeros((2, 1)), np.ones(2), "two")
    pair = OnPair(lambda data, *, rng, runs: rng.normal((runs, 1), "noise"), data, data)
    with pytest.raises(InvalidArgumentError, match="states its structure"):
        WhiteBoxAuditor().audit(ask(GDP(1.0)), pair.on(Runner((0,))), ErrorShare(0.1))


def test_the_structure_of_a_weakened_algorithm_is_that_of_what_runs() -> None:
    """At 1e-6: outputs of the algorithm with half of its noise follow its own structure, and not the whole one's."""
    algorithm = PNSGD(Problem(Linear(), Ball(2, 1.0)), rate=0.2, noise_stddev=1.0)
    data = Dataset(np.array([[0.6, 0.8], [-1.0, 0]]), np.ones(2), "two")
    weaker = algorithm.weakened(2.0)

    class Runs:
        def draw(self, count: int) -> tuple[Array, Array]:
            left, right = (run(weaker, data, runs=count, seed=(1, side)).points for side in (0, 1))
            return left, right

    whole, half = algorithm.structure(data), weaker.structure(data)
    assert whole is not None
    assert half is not None
    for stated, gap in ((half, Gap.BLIND_AUDIT), (whole, Gap.CONTRADICTORY_ASSUMPTIONS)):
        found = WhiteBoxAuditor().audit(ask(GDP(1.0)), Stated(Runs(), (stated, stated)), ErrorShare(1e-6))
        assert found.gap is gap
