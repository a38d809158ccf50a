"""The audit of one training run: guesses about the canaries' coins, tested against what a true claim allows.

The failure probability is divided before any coin is looked at: among numbers of guesses, guesses of members alone or
of both kinds, and both directions of the score. Most of it is for the number that promises most (`foresight`). What
depends on the scores alone may be chosen freely; of several checkpoints, one is chosen by coins that are used for
nothing else. So one event, that any of the looks counts more correct guesses than the claim allows it, has at most
the failure probability if the claim is true. The bounds on mu, on epsilon and on the profile invert the same looks:
whichever of them is wrong, the true trade-off function is contradicted by one of the looks, so that all of them hold
at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.claims import PrivacyFinding, delta_of, shown_profile, stated_corner
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.one_run.canaries import CanaryScores
from dpverify.auditing.one_run.foresight import (
    BOTH_SIDES,
    MAIN,
    OTHER_COUNTS,
    OTHER_DIRECTION,
    BestScores,
    GuessPlan,
    main_guesses,
    plan,
    shown,
    violation_text,
)
from dpverify.auditing.one_run.tails import (
    ClaimedPoints,
    Guesses,
    binomial_parts,
    corner_points,
    gaussian_points,
    is_too_many,
    largest_refuted,
    too_many_from,
)
from dpverify.auditing.pairs import PrivacyQuestion, entry
from dpverify.checks import FloatArray
from dpverify.ledger.evidence import OneRunRecord, PrivacyEvidence
from dpverify.ledger.verdicts import Gap, Verdict

_STREAM = 0x6F6E65  # keeps the audit's generator apart from others with the same seed
_FEWEST = 8
"""Guesses of the smallest number that is tried beside the planned one."""
ASSUMED = (
    "assumed: each canary was in training by its own fair coin, and scores were computed without the coins"
)
"""Stands in every reason."""


@dataclass(frozen=True)
class Look:
    """One number of guesses, on one side or both, in one direction, with its part of the failure probability."""

    guesses: Guesses
    larger: bool
    """Whether larger scores are guessed to be members'."""
    level: float

    def correct(self, ranked: NDArray[np.bool_]) -> int:
        """How many guesses are correct; the coins are in the order of falling scores."""
        k = self.guesses.count
        coins = ranked if self.larger else ranked[::-1]
        if self.guesses.sides == 1:
            return int(coins[:k].sum())
        return int(coins[: k // 2].sum()) + k // 2 - int(coins[-(k // 2) :].sum())

    def __str__(self) -> str:
        k, (first, last) = (
            self.guesses.count,
            ("largest", "smallest") if self.larger else ("smallest", "largest"),
        )
        if self.guesses.sides == 1:
            return f"guesses that the {first} {k} of {self.guesses.canaries} scores are members'"
        all_of, half = self.guesses.canaries, k // 2
        return (
            f"guesses that the {first} {half} of {all_of} scores are members' and the {last} {half} are not"
        )


@dataclass(frozen=True)
class OneRunAuditor:
    """Counts correct guesses about the coins of one training run: see `dpverify.auditing.one_run`."""

    spends: ClassVar[bool] = True

    def audit(self, question: PrivacyQuestion, subject: CanaryScores, error: ErrorShare) -> PrivacyEvidence:
        """Count, compare, bound; `question.runs` is not used."""
        found, record = _judged(question, subject, error)
        made = entry(found, question, subject, one_run=record)  # type: ignore[arg-type]  # nothing is drawn
        return made.but(reason=f"{made.reason}; {ASSUMED}")


def looks(canaries: int, first: int, main: float, others: float, reverse: float) -> tuple[Look, ...]:
    """All looks of an audit, those with the largest parts first; the parts add up to the three levels at most."""
    counts = [
        2 * (canaries >> shift)
        for shift in range(1, canaries.bit_length())
        if canaries >> shift >= _FEWEST // 2
    ]
    rest = [count for count in counts if count != first]
    found = list(_on_sides(canaries, first, main, larger=True))
    for count in rest:
        found += _on_sides(canaries, count, others / len(rest), larger=True)
    for count in (first, *rest):
        found += _on_sides(canaries, count, reverse / (1 + len(rest)), larger=False)
    return tuple(sorted(found, key=lambda look: -look.level))


def _on_sides(canaries: int, count: int, level: float, *, larger: bool) -> Iterator[Look]:
    yield Look(Guesses(canaries, count, 2), larger, level * BOTH_SIDES)
    yield Look(Guesses(canaries, count // 2, 1), larger, level * (1 - BOTH_SIDES))


@dataclass(frozen=True)
class _Counted:
    """A look with its correct guesses."""

    look: Look
    correct: int

    def refutes(self, points: ClaimedPoints) -> bool:
        return is_too_many(points, self.look.guesses, self.correct, self.look.level)

    def profile(self, epsilons: FloatArray) -> FloatArray:
        """The largest delta at each epsilon that is refuted."""
        if 2 * self.correct <= self.look.guesses.count:
            return np.zeros_like(epsilons)
        tails, gains = binomial_parts(self.look.guesses, self.correct, tuple(epsilons.tolist()))
        bound = np.maximum(self.look.level - tails, 0.0) / gains
        return np.asarray(np.minimum(bound, 1.0), dtype=np.float64)


def _judged(
    question: PrivacyQuestion, subject: CanaryScores, error: ErrorShare
) -> tuple[PrivacyFinding, OneRunRecord]:
    claim, seed = question.stated.guarantee, question.label.seed
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM,)))
    scores, statistic, held = subject.single(rng)
    canaries = len(scores.members)
    whole = error.failure_probability
    delta = delta_of(claim, question.delta)
    points, tight = ClaimedPoints.of(claim), BestScores.of(claim)
    planned = plan(canaries, points, tight, whole)
    parts = error.split(
        "planned guesses", "other guesses", "other direction", weights=(MAIN, OTHER_COUNTS, OTHER_DIRECTION)
    )
    why = ("guesses that were planned", "other numbers of guesses", "members with smaller scores")
    levels = [part.spend(words) for part, words in zip(parts, why, strict=True)]
    ranked = scores.ranked(rng)
    first = main_guesses(canaries, planned, tight, whole)
    counted = [_Counted(look, look.correct(ranked)) for look in looks(canaries, first.count, *levels)]

    refuting = next((one for one in counted if one.refutes(points)), None)
    mu_lower, of_mu = _bound(counted, gaussian_points)
    epsilon_lower, of_epsilon = _bound(counted, lambda size: corner_points(size, delta))
    corner = stated_corner(claim)
    if refuting is not None and corner is not None and corner[1] == delta:
        epsilon_lower = max(epsilon_lower, corner[0])
    best_mu, best_epsilon = shown(first, tight, whole, delta)
    telling = refuting or of_mu or of_epsilon or counted[0]
    verdict, reason, gap = _verdict(telling, points, refuting, planned, mu_lower, epsilon_lower)
    detectable = "" if planned is None else violation_text(planned.found, tight)
    record = OneRunRecord(
        canaries=canaries,
        members=int(scores.members.sum()),
        held_out=held,
        statistic=statistic,
        guesses=telling.look.guesses.count,
        sides=telling.look.guesses.sides,
        larger_scores=telling.look.larger,
        correct=telling.correct,
        mu_lower=mu_lower,
        best_mu_lower=best_mu,
        best_epsilon_lower=best_epsilon,
        assumed=ASSUMED,
    )
    finding = PrivacyFinding(
        verdict=verdict,
        reason=reason,
        claim=str(claim),
        epsilon_lower=epsilon_lower,
        delta=delta,
        detectable=detectable,
        detectable_parameter=None if planned is None else planned.found.size,
        profile=shown_profile(claim, _profile(counted), max(epsilon_lower * 1.5, 1.0)),
        runs=1,
        failure_probability=whole,
        shares=error.spent(),
        seed=seed,
        adjacency=question.relation,
        gap=gap,
        detects_nothing=planned is None and refuting is None,
    )
    return finding, record


def _profile(counted: Sequence[_Counted]) -> Callable[[FloatArray], FloatArray]:
    def lower(epsilons: FloatArray) -> FloatArray:
        found: FloatArray = np.max([one.profile(epsilons) for one in counted], axis=0)
        return found

    return lower


def _bound(
    counted: Sequence[_Counted], points: Callable[[float], ClaimedPoints]
) -> tuple[float, _Counted | None]:
    """The largest size that any look refutes, and which look that is."""
    best, of = 0.0, None
    for one in counted:
        if one.refutes(points(best)):
            found = largest_refuted(lambda size, one=one: one.refutes(points(size)))  # type: ignore[misc]
            if found > best or of is None:
                best, of = max(found, best), one
    return best, of


def _verdict(
    telling: _Counted,
    points: ClaimedPoints,
    refuting: _Counted | None,
    planned: GuessPlan | None,
    mu_lower: float,
    epsilon_lower: float,
) -> tuple[Verdict, str, Gap | None]:
    look, m = telling.look, telling.look.guesses.canaries
    said = f"{telling.correct} of {look.guesses.count} {look} are correct"
    if refuting is not None:
        needed = too_many_from(points, look.guesses, look.level)
        unlikely = f"{needed} or more have probability at most {look.level:.3g} if the claim is true"
        return Verdict.VIOLATED, f"{said}: {unlikely}", None
    if planned is None:
        nothing = (
            f"no guesses about {m} canaries, even if all are correct, refute the claim at this failure probability; "
            "dpverify canaries says how many canaries do, and a larger failure probability asks for fewer"
        )
        return Verdict.UNDECIDED, nothing, Gap.TOO_FEW_RUNS
    if not (mu_lower > 0 or epsilon_lower > 0):
        blind = f"the scores do not tell members from others: {said}; no violation would have been noticed in them"
        return Verdict.UNDECIDED, blind, Gap.BLIND_AUDIT
    needed = too_many_from(points, look.guesses, look.level)
    allowed = "no number would refute the claim" if needed is None else f"{needed} would refute the claim"
    return Verdict.SUPPORTED, f"{said}: {allowed}", None
