"""Low bits that betray the data are found, and where there is nothing to find, nothing is."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.auditing import audit_privacy, audit_samples
from dpverify.auditing.black_box.low_bits import LOW_BIT_SCORERS, last_decimals, lowest_bits
from dpverify.auditing.requests import Request
from dpverify.auditing.requests import audit as audit_request
from dpverify.auditing.sequential import SequentialAuditor
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import GDP, Adjacency, ApproxDP, PureDP

RUNS = 4000
# Of each audit. A correct claim is called violated with at most this probability: with 25 audits of correct claims
# below, this file fails by chance with probability at most 2.5e-5.
FAILURE = 1e-6


def audit(left: np.ndarray, right: np.ndarray, claim: object, **options: object) -> Verdict:
    found = audit_privacy(
        left, right, claim, adjacency=Adjacency.REPLACE_ONE, failure_probability=FAILURE, seed=3, **options
    )  # type: ignore[arg-type]
    return found.verdict


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_lowest_bit_is_that_of_exact_arithmetic(value: float) -> None:
    found = int(lowest_bits(np.array(value)))
    if value == 0:
        assert found == 0
        return
    numerator, denominator = abs(value).as_integer_ratio()
    exact = (numerator & -numerator).bit_length() - denominator.bit_length()
    assert found == exact


def test_decimals() -> None:
    values = np.array([0.25, -0.25, 3.0, 0.0, 120.0, 0.1, 1.999, 1e22, np.pi, -7.0])
    assert last_decimals(values).tolist() == [25, 25, 3, 0, 0, 11, 39, 0, 130, 7]


def laplace(answer: float, rng: np.random.Generator) -> np.ndarray:
    return answer + rng.laplace(size=RUNS)


def gaussian(answer: float, rng: np.random.Generator) -> np.ndarray:
    return answer + rng.normal(size=(RUNS, 3))


def single(answer: float, rng: np.random.Generator) -> np.ndarray:
    return (np.float32(answer) + rng.normal(size=RUNS).astype(np.float32)).astype(np.float64)


NAIVE = {
    "laplace": (laplace, PureDP(1.0)),
    "gaussian": (gaussian, GDP(math.sqrt(3))),
    "float32": (single, GDP(1.0)),
}


@pytest.mark.parametrize("name", NAIVE)
@pytest.mark.parametrize("answers", [(0.0, 1.0), (1.0, 0.0), (1.0, 2.0)])
def test_plain_noise_is_found_out_by_its_bits_and_by_nothing_else(
    name: str, answers: tuple[float, float]
) -> None:
    mechanism, claim = NAIVE[name]
    rng = np.random.default_rng(1)
    left, right = (mechanism(answer, rng) for answer in answers)
    assert audit(left, right, claim, scorers=LOW_BIT_SCORERS) is Verdict.VIOLATED
    assert audit(left, right, claim) is Verdict.SUPPORTED


def test_numbers_on_a_grid_betray_nothing() -> None:
    rng = np.random.default_rng(2)
    grid = 2.0**-20
    for answers in ((0.0, 1.0), (1.0, 0.0)):
        left, right = (np.round((a + rng.laplace(size=RUNS)) / grid) * grid for a in answers)
        assert audit(left, right, PureDP(1.0), scorers=LOW_BIT_SCORERS) is Verdict.SUPPORTED
        left, right = (a + rng.geometric(0.5, RUNS) - rng.geometric(0.5, RUNS) for a in answers)
        assert audit(left, right, PureDP(math.log(2)), scorers=LOW_BIT_SCORERS) is Verdict.SUPPORTED


def test_a_grid_that_depends_on_the_data_is_found() -> None:
    rng = np.random.default_rng(4)
    left = np.round(rng.laplace(size=RUNS), 3)
    right = np.round(rng.laplace(size=RUNS), 3) + 0.0005
    assert audit(left, right, ApproxDP(1.0, 1e-3), scorers=LOW_BIT_SCORERS) is Verdict.VIOLATED


def test_every_null_stays_below_its_level() -> None:
    """100 audits of equal laws at .05 each: more than 17 false alarms have probability below 1e-5."""
    rng = np.random.default_rng(5)
    alarms = 0
    for seed in range(100):
        left, right = rng.laplace(size=(2, 300))
        found = audit_privacy(
            left, right, PureDP(0.0), adjacency=Adjacency.REPLACE_ONE, failure_probability=0.05, seed=seed,
            scorers=LOW_BIT_SCORERS,
        )  # fmt: skip
        alarms += found.verdict is Verdict.VIOLATED
    assert alarms <= 17


# ------------------------------------------------------------------------------------- round by round, and searched


def release(data: np.ndarray, rng: np.random.Generator, runs: int) -> np.ndarray:
    return data.sum() + rng.laplace(size=runs)


def on_a_grid(data: np.ndarray, rng: np.random.Generator, runs: int) -> np.ndarray:
    """Both parts are multiples of 2^-20, so that their sum is exact."""
    return np.round(data.sum() * 2.0**20) * 2.0**-20 + np.round(rng.laplace(size=runs) * 2.0**20) * 2.0**-20


@pytest.mark.parametrize(("pair", "verdict"), [((0.0, 1.0), "violated"), ((5.0, 6.0), "supported")])
def test_bets_on_low_bits_end_as_soon_as_they_show(pair: tuple[float, float], verdict: str) -> None:
    """5 and 6 have one exponent: sums with noise of size 1 round alike, so that nothing shows."""
    left, right = ([[answer]] for answer in pair)
    found = audit_request(Request(release, left, right, "eps=1", low_bits=True, failure_probability=FAILURE))
    assert found.verdict == verdict
    if verdict == "violated":
        assert found.sequential is not None
        assert (found.sequential.refuted_after or 9999) < 1000
        assert "lowest bit" in found.reason
    else:
        assert "only low bits and repeated outputs were looked at" in found.reason


def snapped(data: np.ndarray, rng: np.random.Generator, runs: int) -> np.ndarray:
    """Snapping (Mironov 2012): the sum rounded to multiples of a power of two that is at least the noise's scale."""
    noise = rng.choice([-1.0, 1.0], runs) * np.log(1 - rng.random(runs))
    return np.clip(np.rint(np.clip(data.sum(), -50, 50) + noise), -50, 50)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("pair", [(0.0, 1.0), (0.0, 2.0**-30), (1 / 3, 1.0), (5.0, 6.0)])
def test_snapped_and_discrete_noise_pass(pair: tuple[float, float]) -> None:
    for mechanism in (snapped, on_a_grid):
        left, right = ([[answer]] for answer in pair)
        asked = Request(
            mechanism, left, right, "eps=1.01", low_bits=True, runs=4000, failure_probability=FAILURE
        )
        assert audit_request(asked).verdict == "supported"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("adjacency", ["replace-one", "add-or-remove-one", "zero-out", "answers-within-1"])
def test_a_search_finds_the_pair_that_shows_low_bits(adjacency: str, tmp_path: Path) -> None:
    """From an example that shows nothing; noise on a grid passes on whatever pair is found."""
    for mechanism, verdict in ((release, "violated"), (on_a_grid, "supported")):
        limits = {} if adjacency == "answers-within-1" else {"record_range": (0, 1)}
        found = audit_request(
            Request(
                mechanism, [[0.75], [0.5]], claim="eps=1.01", low_bits=True, adjacency=adjacency, runs=4000,
                search_neighbors=tmp_path / "pair.json", failure_probability=FAILURE, **limits,
            )  # type: ignore[arg-type]
        )  # fmt: skip
        assert found.verdict == verdict, found.reason
        assert found.sequential is not None
        assert (found.sequential.refuted_after or 0) < 1000


def test_bets_on_low_bits_stay_below_their_level() -> None:
    """40 sequential audits of equal laws at .2 each: more than 22 alarms have probability below 1e-6."""
    rng = np.random.default_rng(8)
    alarms = 0
    for seed in range(40):
        auditor = SequentialAuditor(PureDP(0.0), "replace-one", 0.2, seed, 150, low_bits=True)
        for size in auditor.rounds():
            auditor.see(*rng.laplace(size=(2, size)))
        alarms += auditor.violated
    assert alarms <= 22


def test_files_are_audited_by_their_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    files = tmp_path / "left.npy", tmp_path / "right.npy"
    for file, answer in zip(files, (0.0, 1.0), strict=True):
        np.save(file, laplace(answer, rng))
    found = audit_samples(*files, "eps=1", failure_probability=FAILURE, low_bits=True)
    assert found.verdict is Verdict.VIOLATED
    assert "--low-bits" in found.reproduce
    found = audit_samples(*files, "eps=1", failure_probability=FAILURE)
    assert found.verdict is Verdict.SUPPORTED
    assert "low bits were not looked at" in found.reason
