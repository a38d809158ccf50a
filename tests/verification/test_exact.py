"""Exact profiles of the algorithms: accountants stay above them, runs of the algorithms inside."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, PublicRecordsLast, SkipPNSGD, SmoothedPNSGD, StopPNSGD
from dpverify.auditing.exact import profiles
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import (
    Ball,
    Box,
    Dataset,
    EuclideanDistance,
    Hinge,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Squared,
)
from dpverify.problems.smoothed_losses import AbsoluteError
from dpverify.properties import check_private
from dpverify.statements.exact import chains, index_profiles, noisy_chain
from dpverify.statements.exact.index_chains import Algorithm

DELTA = 1e-5
EPSILONS = np.array([0.0, 0.1, 0.3])
SEGMENT = Problem(Logistic(), Ball(1, 1.0))
OPPOSITE = ([-1.0], 1.0)
ROOT = Path(__file__).parents[2]


def alike(n: int, d: int = 1) -> Dataset:
    return Dataset(np.eye(d)[np.zeros(n, dtype=int)], np.ones(n))


@pytest.mark.parametrize(
    "algorithm",
    [
        PNSGD(SEGMENT, rate=1.0, noise_stddev=0.5),
        PNSGD(Problem(Squared.on(Ball(1, 2.0)), Ball(1, 2.0)), rate=0.3, noise_stddev=3.0),
        PNSGD(Problem(Ridge(Logistic(), 0.5, 1.0), Ball(1, 1.0)), rate=0.5, noise_stddev=1.0),
        PNSGD(Problem(Linear(), Box((-3.0,), (3.0,))), rate=0.2, noise_stddev=2.0),
        SkipPNSGD(SEGMENT, rate=0.5, noise_stddev=1.0),
        StopPNSGD(SEGMENT, rate=0.5, noise_stddev=1.0),
        StopPNSGD(SEGMENT, rate=0.5, noise_stddev=1.0, second_half=True),
        PNMSGD(SEGMENT, rate=0.2, noise_stddev=3.0, epochs=2),
        PublicRecordsLast(SEGMENT, rate=0.5, noise_stddev=1.0, public=2),
        SmoothedPNSGD(Problem(Hinge(), Ball(1, 1.0)), rate=0.2, noise_stddev=1.5, width=0.2),
    ],
    ids=lambda algorithm: f"{algorithm.id}-{type(algorithm.problem.loss).__name__}",
)
def test_accountants_are_above(algorithm: Algorithm) -> None:
    """At every index, theorem and accountant are at least the lower end, at every epsilon."""
    n = 6
    found = index_profiles(algorithm, alike(n), record=OPPOSITE, indices=(1, 4, 6), delta=DELTA, accuracy=0.1)
    epsilons = np.linspace(0, 6, 25)
    for index, enclosure in found.items():
        low, high = enclosure.delta(epsilons)
        assert np.all(low <= high)
        for stated in (algorithm.guarantee_at(n, index), algorithm.rdp_at(n, index)):  # type: ignore[union-attr]
            assert stated is not None
            assert np.all(low <= np.asarray(stated.guarantee.privacy_profile(epsilons)) + 1e-12)


def test_records_drawn_at_random_are_below_the_accountant() -> None:
    algorithm = NoisyGradientDescent(SEGMENT, 1.0, DELTA, steps=10)
    found = index_profiles(algorithm, alike(5), record=OPPOSITE, indices=(1, 5), delta=DELTA, accuracy=0.2)
    first, last = (found[index].epsilon(DELTA) for index in (1, 5))
    # records are drawn alike, so that their order does not count
    assert (first.lower, first.upper) == pytest.approx((last.lower, last.upper), rel=1e-6)
    sharpest = algorithm.guarantees(5).sharpest
    assert sharpest is not None
    assert first.lower <= sharpest.guarantee.epsilon_at(DELTA)


def leaky() -> PNSGD:
    """Little noise on an interval that is projected onto often."""
    return PNSGD(SEGMENT, rate=1.0, noise_stddev=0.6)


@pytest.mark.parametrize(
    "make",
    [
        leaky,
        lambda: NoisyGradientDescent(
            SEGMENT, 1.0, DELTA, steps=3, noise_constant=1e-3, withdraw_guarantee=True
        ),
    ],
    ids=["alg1", "bst14.alg1"],
)
def test_runs_are_inside_and_half_the_loss_is_refuted(make: Callable[[], Algorithm]) -> None:
    """The library's own runs, through the black-box auditor: a false alarm has probability 1e-6."""
    algorithm, data = make(), alike(2)
    neighbor = data.replace(2, *OPPOSITE)
    enclosure = index_profiles(algorithm, data, record=OPPOSITE, indices=(2,), delta=1e-2, accuracy=0.05)[2]
    check_private(algorithm, data, neighbor, enclosure.guarantee(), runs=10_000, seed=3)
    interval = enclosure.epsilon(1e-2)
    with pytest.raises(AssertionError):
        check_private(algorithm, data, neighbor, f"eps={interval.lower / 2},delta=1e-2", runs=20_000, seed=3)


def test_an_enclosure_of_an_algorithm_with_more_noise_is_refuted() -> None:
    """A fault: the chain has 1.5 times the noise that is run. Found by the same runs."""
    data = alike(2)
    enclosure = index_profiles(
        PNSGD(SEGMENT, rate=1.0, noise_stddev=0.9),
        data,
        record=OPPOSITE,
        indices=(2,),
        delta=1e-2,
        accuracy=0.05,
    )[2]
    with pytest.raises(AssertionError):
        check_private(leaky(), data, data.replace(2, *OPPOSITE), enclosure.guarantee(), runs=10_000, seed=3)


@settings(max_examples=6, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.floats(-1, 1), st.sampled_from([-1.0, 1.0])), min_size=2, max_size=4),
    st.floats(0.2, 3.0),
    st.floats(0.4, 3.0),
)
def test_any_records_are_below_the_accountant(
    drawn: list[tuple[float, float]], rate: float, noise: float
) -> None:
    """Replacing the first record by the opposite one, for any others."""
    data = Dataset(np.array([[x] for x, _ in drawn]), np.array([y for _, y in drawn]))
    algorithm = PNSGD(SEGMENT, rate=rate, noise_stddev=noise)
    pair = chains(algorithm, [data, data.replace(1, [1.0], 1.0)])
    grid = profiles._grid(pair, rate * noise / 50)
    found = profiles._enclosures(pair, grid, 0, 1, 0.5)[0]
    stated = algorithm.guarantee_at(data.n, 1)
    assert stated is not None
    epsilons = np.linspace(0, 5, 11)
    assert np.all(found.delta(epsilons)[0] <= np.asarray(stated.guarantee.privacy_profile(epsilons)) + 1e-12)


def test_equal_records_share_their_steps() -> None:
    chain = noisy_chain(leaky(), alike(5))
    assert len(set(chain.steps)) == 1


@pytest.mark.parametrize("method", [PNSGD, SkipPNSGD, StopPNSGD])
def test_on_a_disc_records_lose_less_than_is_proved_and_than_on_the_square_around_it(
    method: type[PNSGD | SkipPNSGD | StopPNSGD],
) -> None:
    """Along the diagonal, in which the records lie, the square is wider."""
    data = Dataset(np.full((3, 2), 0.7), np.ones(3))
    found = []
    for constraint in (Ball(2, 1.0), Box((-1.0, -1.0), (1.0, 1.0))):
        algorithm = method(Problem(Logistic(), constraint), rate=1.0, noise_stddev=0.7)
        profiles_of = index_profiles(
            algorithm, data, record=([-0.7, -0.7], 1.0), indices=(1, 3), delta=DELTA, accuracy=0.3
        )
        for index, enclosure in profiles_of.items():
            proved = algorithm.guarantee_at(3, index)
            assert proved is not None
            assert enclosure.epsilon(DELTA).upper < proved.guarantee.epsilon_at(DELTA)
        found.append([enclosure.epsilon(DELTA) for enclosure in profiles_of.values()])
    for disc, square in zip(*found, strict=True):
        assert disc.upper < square.lower


@pytest.mark.parametrize("constraint", [Ball(1, 1.0), Ball(2, 1.0), Box((-1.0, -1.0), (1.0, 1.0))])
def test_out_of_reach_of_its_kink_the_hinge_is_linear(constraint: Ball | Box) -> None:
    """Records of length 1/2: everywhere in the set the margin is below 1."""
    d = constraint.dimension
    data = Dataset(np.full((3, d), -0.5 / d), np.ones(3))
    found = []
    for loss, record in ((Hinge(), 0.5 / d), (Linear(), 0.5 / d)):
        descent = NoisyGradientDescent(Problem(loss, constraint), 1.0, DELTA, steps=3)
        found.append(
            index_profiles(descent, data, record=([record] * d, 1.0), indices=[1], delta=DELTA, accuracy=0.1)[
                1
            ]
        )
    hinge, linear = (one.delta(EPSILONS) for one in found)
    assert np.all(hinge[0] <= linear[1])
    assert np.all(linear[0] <= hinge[1])


def test_the_absolute_error_and_the_distance_on_a_line_are_the_same_loss() -> None:
    """|w - x| with the features 1 and the label x, or the features x: kinks inside, and one at the start."""
    values = np.array([0.0, 0.3, -0.4])
    found = []
    for loss, data, record in (
        (AbsoluteError(), Dataset(np.ones((3, 1)), values), ([1.0], 0.8)),
        (EuclideanDistance(), Dataset(values[:, None], np.ones(3)), ([0.8], 1.0)),
    ):
        descent = NoisyGradientDescent(Problem(loss, Ball(1, 1.0)), 1.0, DELTA, steps=4)
        found.append(index_profiles(descent, data, record=record, indices=[2], delta=DELTA, accuracy=0.02)[2])
    assert found[0].epsilon(DELTA) == found[1].epsilon(DELTA)
    assert found[0].epsilon(DELTA).lower > 0


def test_what_is_no_chain_on_a_line_or_square_is_refused() -> None:
    data = alike(3)
    with pytest.raises(InvalidArgumentError, match="algorithm was"):
        chains("fmtt18.alg1", [data])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="smoothness"):
        noisy_chain(NoisyGradientDescent(Problem(EuclideanDistance(), Ball(2, 1.0)), 1.0, DELTA), alike(3, 2))
    with pytest.raises(InvalidArgumentError, match="constraint"):
        noisy_chain(PNSGD(Problem(Logistic(), Ball(3, 1.0)), rate=1.0, noise_stddev=1.0), alike(3, 3))
    with pytest.raises(InvalidArgumentError, match="noise_stddev"):
        noisy_chain(PNSGD(SEGMENT, rate=1.0, noise_stddev=0.0, withdraw_guarantee=True), data)
    with pytest.raises(InvalidDataError, match="norm"):
        noisy_chain(leaky(), Dataset(np.full((2, 1), 3.0), np.ones(2)))
    with pytest.raises(InvalidDataError, match="features"):
        noisy_chain(leaky(), alike(3, 2))
    with pytest.raises(InvalidArgumentError, match="indices"):
        index_profiles(leaky(), data, record=OPPOSITE, indices=(4,), delta=DELTA)


def test_the_page_runs_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "exact.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, "exact.md", "exec"), {"__name__": "page"})
        assert "lower=" in capsys.readouterr().out
