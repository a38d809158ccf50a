"""Audits of one training run: true claims pass, weakened ones are found, and a blind score finds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpverify.auditing import CanaryScores, ErrorShare, audit_one_run
from dpverify.auditing.one_run import foresee
from dpverify.auditing.one_run.audit import ASSUMED, looks
from dpverify.auditing.one_run.foresight import BestScores
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.privacy import GDP, ApproxDP, PureDP, parse_claim

LEVEL = 0.05


def _run(seed: int, mu: float, canaries: int = 1000) -> tuple[Any, Any]:
    """Scores of a Gaussian sum with canaries in orthogonal directions, and the coins."""
    rng = np.random.default_rng(seed)
    members = rng.random(canaries) < 0.5
    return rng.normal(size=canaries) + mu * members, members


def _found(scores: Any, members: Any, claim: str = "mu=1", **options: Any) -> PrivacyEvidence:
    return audit_one_run(scores, members, claim, **{"failure_probability": LEVEL, **options})


@pytest.mark.parametrize(
    ("claim", "mu"), [("mu=1", 1.0), ("eps=4.377,delta=1e-5", 1.0), ("rho=0.5", 1.0), ("order=8,rdp=4", 1.0)]
)
def test_the_right_noise_passes_and_a_third_is_found(claim: str, mu: float) -> None:
    right = _found(*_run(0, mu), claim)
    assert right.verdict is Verdict.SUPPORTED
    assert right.one_run is not None
    assert 0 < right.one_run.mu_lower <= mu
    assert "would have" not in right.reason
    assert right.detectable
    assert ASSUMED in right.reason
    weak = _found(*_run(0, 3 * mu), claim)
    assert weak.verdict is Verdict.VIOLATED
    assert weak.one_run is not None
    assert weak.one_run.mu_lower > mu or claim != "mu=1"
    assert ASSUMED in weak.reason


def test_bounds_are_below_the_truth_and_near_it() -> None:
    true = GDP(1.0).epsilon_at(1e-5)
    found = [_found(*_run(seed, 1.0, 4000)) for seed in range(12)]
    mus = [one.one_run.mu_lower for one in found if one.one_run is not None]
    # a bound of level 0.05 is above the truth twice of twelve times with probability 0.12; these seeds never
    assert max(mus) <= 1.0
    assert max(one.epsilon_lower for one in found) <= true
    assert np.median(mus) > 0.55
    for one in found:
        assert all(point.delta_lower <= (point.delta_claimed or 0.0) + 1e-12 for point in one.profile)


def test_a_model_that_never_saw_the_canaries_shows_nothing() -> None:
    found = _found(*_run(3, 0.0))
    assert (found.verdict, found.gap, found.epsilon_lower) == (Verdict.UNDECIDED, Gap.BLIND_AUDIT, 0.0)
    assert "do not tell members from others" in found.reason


def test_scores_that_saw_the_coins_break_every_claim() -> None:
    _, members = _run(4, 0.0)
    assert _found(members.astype(float), members, "mu=2").verdict is Verdict.VIOLATED
    assert _found(members.astype(float), members, "eps=3").verdict is Verdict.VIOLATED


def test_losses_are_read_as_well() -> None:
    scores, members = _run(5, 4.0)
    found = _found(-scores, members)
    assert found.verdict is Verdict.VIOLATED
    assert found.one_run is not None
    assert not found.one_run.larger_scores
    assert "smallest" in found.reason


def test_the_order_of_canaries_tells_nothing() -> None:
    _, members = _run(6, 0.0)
    found = _found(np.zeros(1000), np.sort(members)[::-1])
    assert found.verdict is Verdict.UNDECIDED


def test_of_checkpoints_one_is_chosen_by_coins_of_its_own() -> None:
    scores, members = _run(7, 3.0)
    noise = np.random.default_rng(8).normal(size=(1000, 2))
    found = _found(np.column_stack([noise, scores]), members)
    assert found.verdict is Verdict.VIOLATED
    assert found.one_run is not None
    assert (found.one_run.held_out, found.one_run.canaries) == (100, 900)
    assert found.one_run.statistic == "checkpoint 3 of 3"
    assert _found(np.column_stack([noise, noise]), members).verdict is Verdict.UNDECIDED
    shares = np.random.default_rng(9).normal(size=(1000, 4)) + 1.5 * members[:, None]
    summed = _found(shares, members)
    assert summed.one_run is not None
    assert summed.one_run.statistic == "the sum over all 4 checkpoints"
    assert summed.verdict is Verdict.VIOLATED


def test_few_canaries_are_said_to_be_too_few() -> None:
    found = _found(*_run(10, 1.0, 100), "eps=1,delta=1e-3", failure_probability=1e-6)
    assert (found.verdict, found.gap) == (Verdict.UNDECIDED, Gap.TOO_FEW_RUNS)
    assert found.detects_nothing
    assert found.detectable == ""


def test_the_level_is_divided_among_all_looks() -> None:
    for canaries in (100, 1000, 30_001):
        made = looks(canaries, 40, 0.8, 0.15, 0.05)
        assert sum(look.level for look in made) <= 1 + 1e-12
        assert {look.larger for look in made} == {True, False}
        assert all(look.guesses.count <= canaries for look in made)
    spent = _found(*_run(0, 1.0)).shares
    assert sum(share.failure_probability for share in spent) <= LEVEL


@pytest.mark.parametrize("mechanism", ["one number", "seldom all", "tight"])
def test_true_claims_are_seldom_violated(mechanism: str) -> None:
    """Also where canaries are anything but independent; 80 audits at 0.05."""
    rng = np.random.default_rng(11)
    canaries, alarms, audits = 100, 0, 80
    for seed in range(audits):
        members = rng.random(canaries) < 0.5
        claim = "mu=1"
        if mechanism == "one number":  # mu-GDP in every canary
            released = members.sum() - canaries / 2 + rng.normal()
            scores = rng.normal(size=canaries) * 1e-3 + released
        elif mechanism == "seldom all":  # (0, 0.02)-DP: all coins at once, with probability 0.02
            claim = "eps=0,delta=0.02"
            scores = members + 0.0 if rng.random() < 0.02 else rng.normal(size=canaries)
        else:
            scores = rng.normal(size=canaries) + members
        alarms += _found(scores, members, claim, seed=seed).verdict is Verdict.VIOLATED
    # a correct test fails this with probability at most 1e-6
    assert binom.sf(alarms - 1, audits, LEVEL) > 1e-6


@pytest.mark.parametrize("claim", ["mu=1", "eps=1", "eps=1,delta=1e-5"])
def test_foresight_is_what_happens(claim: str) -> None:
    """The smallest violation is found about half the time, and the bounds of a tight claim are at the median."""
    told = foresee(1000, parse_claim(claim), failure_probability=LEVEL, factors=())
    assert told.plan is not None
    hits, mus = 0, []
    for seed in range(12):
        for scores, out in ((told.plan.found, True), (told.tight, False)):
            rng = np.random.default_rng([seed, out])
            members = rng.random(1000) < 0.5
            if scores.pure:
                lied = rng.random(1000) < 1 / (1 + np.exp(scores.size))
                seen = np.where(lied, ~members, members) + 0.0
            else:
                seen = rng.normal(size=1000) + scores.size * members
            found = _found(seen, members, claim)
            if out:
                hits += found.verdict is Verdict.VIOLATED
            elif found.one_run is not None:
                mus.append(found.one_run.mu_lower)
    # 12 fair coins fall outside with probability 0.006, and these seeds do not
    assert 2 <= hits <= 10
    assert np.quantile(mus, 0.2) <= told.mu_lower * 1.02
    assert np.quantile(mus, 0.8) >= told.mu_lower * 0.98


def test_foresight_counts_canaries() -> None:
    told = foresee(1000, GDP(1.0), failure_probability=LEVEL)
    counts = [count for _, count in told.needed]
    assert None not in counts
    assert counts == sorted(counts)  # type: ignore[type-var]
    for factor, count in told.needed:
        there = foresee(count or 0, GDP(1.0), failure_probability=LEVEL, factors=()).plan
        assert there is not None
        assert there.found.size <= factor
    assert foresee(100, ApproxDP(0.1, 1e-3), factors=(1.01,)).needed == ((1.01, None),)
    assert foresee(100, PureDP(0.0)).needed == ()


def test_best_scores_and_their_accuracy_agree() -> None:
    for best in (BestScores(1.3, pure=False), BestScores(0.7, pure=True)):
        for part in (0.01, 0.3, 1.0):
            assert best.size_with(best.accuracy(part), part) == pytest.approx(best.size, rel=1e-6)
    assert BestScores.of(ApproxDP(4.377, 1e-5)).size == pytest.approx(1.0, rel=1e-3)


GOOD = [*np.linspace(0, 1, 120)]
COINS = [0, 1] * 60


@pytest.mark.parametrize(
    ("scores", "members", "said"),
    [
        (
            [*GOOD[:-1], float("nan")],
            COINS,
            "a score that is missing or no finite number, of canary 120 first",
        ),
        (GOOD, COINS[:-2], "the scores has 120 canaries and the members 118"),
        (GOOD, [0, 2] * 60, "the members has something other than 0 and 1, first of canary 2"),
        (GOOD, [0, None] * 60, "something other than 0 and 1, first of canary 2"),
        (GOOD, [1] * 120, "the members has 120 members of 120 canaries; allowed: a fair coin"),
        (GOOD[:20], COINS[:20], "the scores has 20 canaries; allowed: at least 100."),
        (["a"] * 120, COINS, "the scores has no table of numbers"),
        ([[1, 2], [3]], COINS, "rows of different lengths"),
        (np.zeros((120, 0)), COINS, "the scores has no table of numbers"),
        (3.0, COINS, "the scores was 3.0; allowed: a file, or an array"),
        (GOOD, [[0, 1]] * 120, "the members has something other than 0 and 1;"),
    ],
)
def test_what_cannot_be_audited(scores: Any, members: Any, said: str) -> None:
    with pytest.raises(InvalidDataError) as refused:
        _found(scores, members)
    assert said in str(refused.value)
    assert str(refused.value).count("allowed") == 1


def test_members_in_words_and_files_of_every_kind(tmp_path: Path) -> None:
    scores, members = _run(0, 3.0)
    table = np.column_stack([scores - 1, scores])
    np.save(tmp_path / "s.npy", table)
    np.savez(tmp_path / "m.npz", members=members)
    (tmp_path / "m.csv").write_text("member\n" + "\n".join(str(bool(one)) for one in members))
    (tmp_path / "s.csv").write_text(
        "score_1,score_2\n" + "\n".join(f"{a!r},{b!r}" for a, b in table.tolist())
    )
    (tmp_path / "gap.csv").write_text("score_1,score_2\n" + "1,2\n" * 110 + "1,\n")
    read = [
        CanaryScores.read(tmp_path / one, tmp_path / other)
        for one, other in (("s.npy", "m.npz"), ("s.csv", "m.csv"))
    ]
    for one in read:
        assert np.array_equal(one.scores, table)
        assert np.array_equal(one.members, members)
    with pytest.raises(InvalidDataError, match=r"gap.csv has a score that is missing .* of canary 111 first"):
        CanaryScores.read(tmp_path / "gap.csv", [0, 1] * 55 + [0])


@pytest.mark.parametrize("canaries", [99, 2**21, 100.5, True])
def test_foresight_refuses_numbers(canaries: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="canaries was"):
        foresee(canaries, GDP(1.0))


def test_same_seed_same_bits_whoever_shares() -> None:
    scores, members = _run(12, 2.0)
    one, other = (_found(np.round(scores), members, seed=5) for _ in range(2))
    assert one.but(seconds=0.0) == other.but(seconds=0.0)
    shared = _found(np.round(scores), members, seed=5, failure_probability=ErrorShare(LEVEL))
    assert shared.epsilon_lower == one.epsilon_lower
