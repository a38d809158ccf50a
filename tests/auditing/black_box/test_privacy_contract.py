"""What an audit promises besides size and power: arguments, determinism, consistency, odd samples."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from dpverify import checks
from dpverify.auditing import Claim, Direction, audit_privacy
from dpverify.auditing import privacy as privacy_module
from dpverify.auditing.black_box.scores import Value
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict

Make = Callable[..., Claim]
NORMAL = np.random.default_rng(1).normal(size=(2, 400))


def test_same_seed_same_bits_on_any_number_of_threads(gaussian: Make) -> None:
    rng = np.random.default_rng(2)
    left, right = rng.normal(size=(6000, 4)), rng.normal(0.2, 1.0, size=(6000, 4))
    audits = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            audits.append(
                audit_privacy(
                    left, right, gaussian(1.0), adjacency="replace-one", failure_probability=1e-3, seed=5
                )
            )
    assert audits[0] == audits[1]
    other = audit_privacy(
        left, right, gaussian(1.0), adjacency="replace-one", failure_probability=1e-3, seed=6
    )
    assert other.events != audits[0].events


def test_the_division_is_not_the_mechanisms_randomness(corner: Make) -> None:
    """With one seed for both, the audit's permutation is not one that the mechanism could have drawn first."""
    divisions = []
    real = privacy_module.divide

    def spy(runs: int, rng: np.random.Generator) -> privacy_module.Parts:
        divisions.append(real(runs, rng))
        return divisions[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(privacy_module, "divide", spy)
        audit_privacy(
            NORMAL[0], NORMAL[1], corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=7
        )
    assert len(divisions) == 1  # one for both sides
    for parts in divisions:
        order = np.concatenate([parts.fitting, parts.choosing, parts.judging])
        assert np.array_equal(np.sort(order), np.arange(400))  # disjoint, and nothing is lost
        assert not np.array_equal(order, np.random.default_rng(7).permutation(400))


def test_the_samples_are_left_as_they_were(corner: Make) -> None:
    before = NORMAL.copy()
    audit_privacy(
        NORMAL[0], NORMAL[1], corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    assert np.array_equal(before, NORMAL)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("claimed", [0.2, 0.5, 1.0, 1.5, 2.5])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_a_corner_is_violated_just_if_epsilon_lower_exceeds_it(
    corner: Make, claimed: float, delta: float
) -> None:
    """Below its epsilon, too, a corner is only exceeded if it is exceeded at its epsilon in one direction."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        left, right = rng.normal(0.0, 1.0, 3000), rng.normal(0.1 * seed, 1.0, 3000)
        audit = audit_privacy(
            left,
            right,
            corner(claimed, delta),
            adjacency="replace-one",
            failure_probability=0.05,
            seed=seed,
            scorers=(Value(),),
        )
        assert audit.delta == delta
        assert (audit.verdict is Verdict.VIOLATED) == (audit.epsilon_lower > claimed)


def test_the_verdict_turns_just_where_the_bound_meets_the_claim(corner: Make) -> None:
    """Claims from a tenth below to a tenth above the bound: a comparison off by a factor would show."""
    rng = np.random.default_rng(21)
    left, right = rng.laplace(0, 1, 4000), rng.laplace(1, 1, 4000)
    bound = audit_privacy(
        left, right, corner(0.3, 0.1), adjacency="replace-one", failure_probability=0.01, seed=1
    ).epsilon_lower
    assert bound > 0.3
    verdicts = set()
    for claimed in bound * np.linspace(0.9, 1.1, 21):
        audit = audit_privacy(
            left,
            right,
            corner(float(claimed), 0.1),
            adjacency="replace-one",
            failure_probability=0.01,
            seed=1,
        )
        assert (audit.verdict is Verdict.VIOLATED) == (audit.epsilon_lower > claimed)
        verdicts.add(audit.verdict)
    assert verdicts == {Verdict.VIOLATED, Verdict.SUPPORTED}


def test_the_bound_and_its_inverse_agree(corner: Make) -> None:
    rng = np.random.default_rng(3)
    audit = audit_privacy(
        rng.laplace(0, 1, 20_000),
        rng.laplace(1, 1, 20_000),
        corner(1.0),
        adjacency="replace-one",
        failure_probability=1e-3,
        seed=1,
    )
    for delta in (0.0, 1e-3, 0.05):
        epsilon = audit.epsilon_at(delta)
        assert epsilon > 0
        assert float(audit.delta_lower(epsilon)) == pytest.approx(delta, abs=1e-12)
    assert audit.epsilon_at(0.9) == 0
    grid = np.linspace(0, 5, 200).reshape(10, 20)
    both = audit.delta_lower(grid)
    assert both.shape == grid.shape
    assert np.array_equal(both, np.maximum(*(audit.delta_lower(grid, side) for side in Direction)))
    assert np.all(np.diff(audit.delta_lower(np.linspace(0, 5, 200))) <= 0)
    assert float(audit.delta_lower(1e6)) == 0
    for point in audit.profile:
        assert point.delta_lower == pytest.approx(float(audit.delta_lower(point.epsilon)), abs=1e-15)
        assert point.delta_claimed == pytest.approx(
            float(corner(1.0).privacy_profile(np.array([point.epsilon]))[0]), abs=1e-15
        )
    assert 1.0 in [point.epsilon for point in audit.profile]


def test_where_nothing_can_be_found_nothing_is_said(corner: Make) -> None:
    audit = audit_privacy(
        NORMAL[0], NORMAL[1] + 1, corner(10.0), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    assert audit.verdict is Verdict.UNDECIDED
    assert audit.detectable_parameter is None
    assert "would be needed" in audit.reason


def test_the_number_of_runs_said_to_be_needed_is_enough(corner: Make) -> None:
    """With that many, a mechanism that betrays the data set is caught; with 0.7 of it, nothing could be."""
    reason = audit_privacy(
        NORMAL[0], NORMAL[1], corner(4.0), adjacency="replace-one", failure_probability=1e-3, seed=1
    ).reason
    needed = int(reason.split("at least ")[1].split(" ")[0])
    for runs, verdict in [(needed + 20, Verdict.VIOLATED), (int(0.7 * needed), Verdict.UNDECIDED)]:
        left, right = np.zeros(runs), np.ones(runs)
        audit = audit_privacy(
            left, right, corner(4.0), adjacency="replace-one", failure_probability=1e-3, seed=1
        )
        assert audit.verdict is verdict


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_extreme_magnitudes(corner: Make, d: int, scale: float) -> None:
    rng = np.random.default_rng(4)
    left, right = scale * rng.uniform(-1, 1, (4000, d)), scale * rng.uniform(-1, 1, (4000, d))
    right[:, 0] += scale
    audit = audit_privacy(left, right, corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1)
    assert audit.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("d", [1, 3])
def test_degenerate_samples(corner: Make, d: int) -> None:
    zeros, ones = np.zeros((2000, d)), np.ones((2000, d))
    same = audit_privacy(zeros, zeros, corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1)
    assert same.verdict is Verdict.SUPPORTED
    assert same.epsilon_lower == 0
    apart = audit_privacy(zeros, ones, corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1)
    assert apart.verdict is Verdict.VIOLATED
    assert apart.epsilon_lower > 4
    heavy = np.random.default_rng(5).standard_cauchy((2, 2000, d))
    audit = audit_privacy(
        heavy[0], heavy[1], corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    assert audit.verdict is Verdict.SUPPORTED


def test_many_dimensions_few_runs(corner: Make) -> None:
    rng = np.random.default_rng(6)
    left, right = rng.normal(size=(600, 300)), rng.normal(size=(600, 300))
    right[:, 17] += 5.0
    audit = audit_privacy(left, right, corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1)
    assert audit.verdict is Verdict.VIOLATED


def test_smallest_samples(corner: Make) -> None:
    audit = audit_privacy(
        NORMAL[0, :100],
        NORMAL[1, :100],
        corner(0.1),
        adjacency="replace-one",
        failure_probability=1e-3,
        seed=1,
    )
    assert audit.runs == 100
    assert audit.runs_judged == 50


def test_the_result_is_frozen(corner: Make) -> None:
    audit = audit_privacy(
        NORMAL[0], NORMAL[1], corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        audit.epsilon_lower = 3.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("failure_probability", v) for v in (0, -0.0, 1, 2, math.nan, math.inf, True, "0.1", None)],
        *[("failure_probability", v) for v in (9.9e-16, 1e-100, 1e-300, 1e-320)],
        *[("seed", v) for v in (-1, 1.0, True, None, "1", math.nan)],
        *[("delta", v) for v in (-1e-9, 1, 1.0, math.nan, math.inf, True, "0")],
        *[("most_events", v) for v in (1, 0, True, 2.0)],
        ("scorers", ()),
        ("scorers", (Value(), Value())),
    ],
)
def test_bad_arguments(corner: Make, name: str, value: object) -> None:
    arguments = {"failure_probability": 1e-3, "seed": 1, name: value}
    with pytest.raises(InvalidArgumentError, match=name):
        audit_privacy(NORMAL[0], NORMAL[1], corner(1.0), adjacency="replace-one", **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [1e-12, checks.LEAST_FAILURE_PROBABILITY])
@pytest.mark.parametrize("curve", [False, True])
def test_the_least_failure_probabilities_work(
    corner: Make, gaussian: Make, level: float, curve: bool
) -> None:
    """The claims are attained exactly: a violation has a chance of at most the level."""
    claim, rng = gaussian(1.0) if curve else corner(1.0), np.random.default_rng(9)
    samples = rng.normal(size=(2, 4000)) if curve else rng.laplace(size=(2, 4000))
    samples[1] += 1
    for runs in (100, 200, 300, 4000):
        audit = audit_privacy(
            samples[0, :runs],
            samples[1, :runs],
            claim,
            adjacency="replace-one",
            failure_probability=level,
            seed=1,
        )
        if audit.verdict is Verdict.UNDECIDED:
            wanted = int(audit.detectable.removesuffix(" would be needed").rpartition(" ")[2])
            assert wanted > runs
        else:
            assert audit.verdict is Verdict.SUPPORTED
            assert audit.detectable_parameter is not None
    # the last of them is a sample in which a much larger shift is found
    far = audit_privacy(
        samples[0], samples[1] + 3, claim, adjacency="replace-one", failure_probability=level, seed=1
    )
    assert far.verdict is Verdict.VIOLATED


def test_a_failure_probability_below_the_least_is_refused_in_one_sentence(corner: Make) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        audit_privacy(
            NORMAL[0], NORMAL[1], corner(1.0), adjacency="replace-one", failure_probability=1e-320, seed=1
        )
    assert str(caught.value) == "failure_probability was 1e-320; allowed: a number from 1e-15 to below 1."


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("side", [0, 1])
def test_outputs_that_are_not_finite(corner: Make, bad: float, side: int) -> None:
    samples = NORMAL.copy()
    samples[side, 7] = bad
    with pytest.raises(InvalidDataError, match=f"{('left', 'right')[side]} has NaN or infinity in run 8"):
        audit_privacy(
            samples[0], samples[1], corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1
        )


@pytest.mark.parametrize("shape", [(99,), (400, 2, 2), (), (400, 0), (399,), (400, 2)])
def test_bad_shapes(corner: Make, shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidDataError):
        audit_privacy(
            np.zeros(shape), NORMAL[0], corner(1.0), adjacency="replace-one", failure_probability=1e-3, seed=1
        )


@dataclass(frozen=True)
class Constant:
    """A claim whose profile is whatever it is told."""

    value: float

    def privacy_profile(self, epsilon: np.ndarray) -> np.ndarray:
        return np.full(epsilon.shape, self.value)


@pytest.mark.parametrize("value", [math.nan, -0.1, 1.1, math.inf])
def test_claims_that_are_no_profile(value: float) -> None:
    with pytest.raises(InvalidArgumentError, match="claim"):
        audit_privacy(
            NORMAL[0], NORMAL[1], Constant(value), adjacency="replace-one", failure_probability=1e-3, seed=1
        )


def test_delta_can_be_chosen(gaussian: Make) -> None:
    audit = audit_privacy(
        NORMAL[0],
        NORMAL[1] + 2,
        gaussian(1.0),
        adjacency="replace-one",
        failure_probability=1e-3,
        seed=1,
        delta=0.1,
    )
    assert audit.delta == 0.1
    assert audit.epsilon_lower == audit.epsilon_at(0.1)
    for bad in (-0.1, 1.0, math.nan):
        with pytest.raises(InvalidArgumentError):
            audit.epsilon_at(bad)
        with pytest.raises(InvalidArgumentError):
            audit.delta_lower([0.0, -abs(bad)])
