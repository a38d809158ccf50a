"""Black-box privacy audit: from two sample sets to a lower bound on the whole privacy profile.

The samples are divided at random, by the audit's own generator, into a learning and a judging half. On the
learning half scores are fitted and a few events are chosen; on the judging half each event's two
probabilities get exact binomial bounds. The failure probability is split equally over all these bounds, so
the resulting lower bound of the profile holds for every epsilon and in both directions at once, except with
that probability, whatever the mechanism is and however badly the scores were learned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.auditing.confidence import clopper_pearson_lower, clopper_pearson_upper
from dpverify.auditing.detection import EventTest, runs_needed, smallest_epsilon, smallest_mu
from dpverify.auditing.events import Direction, Event, ScoredSamples, both_directions, choose_events
from dpverify.auditing.mixed import varying
from dpverify.auditing.samples import check_pair
from dpverify.auditing.scores import (
    DEFAULT_SCORERS,
    Samples,
    Score,
    Scorer,
    apply_score,
    fit_score,
    one_thread,
)
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Gap, ProfilePoint, Verdict
from dpverify.privacy import Adjacency

Array = NDArray[np.float64]

_AUDIT_STREAM = 0x617564  # keeps the audit's generator apart from a mechanism's with the same seed
_GRID_POINTS = 513
_ROUNDING = 1e-12
_MOST_FITTED = 100_000
"""Runs of a side that scores are fitted to; more would cost memory and hardly sharpen them."""
_FARTHEST_SHOWN = 10.0
"""Largest epsilon of a report's points where neither bound nor claim asks for more; nats."""
_CURVE_DELTA = 1e-5
"""The delta that `epsilon_lower` is about where neither the caller nor the claim names one."""


class Claim(Protocol):
    """What is claimed: an upper bound on the privacy profile, in both directions.

    Every `dpverify.privacy.Guarantee` is one. An (epsilon, delta) claim also has the numbers `epsilon` and,
    if it is not zero, `delta` as attributes; that is how its corner is known.
    """

    def privacy_profile(self, epsilon: Any, /) -> Any:
        """Delta at each epsilon >= 0 (nats); same shape."""


@dataclass(frozen=True)
class JudgedEvent:
    """An event with its counts on the judging half and its confidence bounds."""

    event: Event
    left_count: int
    right_count: int
    left_lower: float
    """Lower confidence bound of its probability on the left data set."""
    right_upper: float
    """Upper confidence bound of its probability on the right data set."""


@dataclass(frozen=True)
class Violation:
    """An epsilon at which the lower bound exceeds the claim."""

    epsilon: float
    delta_lower: float
    delta_claimed: float
    direction: Direction
    event: Event
    """The event that is more likely than allowed; for right over left, it is the complement that is."""


@dataclass(frozen=True)
class PrivacyAudit:
    """What an audit found; `delta_lower` and `epsilon_at` evaluate the bound anywhere."""

    verdict: Verdict
    reason: str
    claim: str
    epsilon_lower: float
    """Simultaneous lower confidence bound on the smallest epsilon at `delta`, nats."""
    delta: float
    detectable: str
    """The smallest violation that an audit of this size finds with probability one half, on its most telling pair.

    What it finds on the pair at hand, `search_faults` tries out.
    """
    detectable_parameter: float | None
    """Its epsilon (for an (epsilon, delta) claim) or mu (for a curve); None if there is none."""
    violation: Violation | None
    profile: tuple[ProfilePoint, ...]
    events: tuple[JudgedEvent, ...]
    runs: int
    runs_judged: int
    failure_probability: float
    bound_failure: float
    """The part of `failure_probability` that each single binomial bound got."""
    seed: int
    adjacency: str
    """The neighboring relation that the two data sets stand for."""
    fault: str = ""
    """What a weakened version of the mechanism does, where one was audited: see `search_faults`."""
    smallest_fault: float | None = None
    """The smallest factor of the fault that was flagged."""
    gap: Gap | None = None
    """Where it is undecided: which of the known reasons it is."""
    sees_nothing: bool = False
    """True where no violation, or no weakened version of the mechanism, was or could have been flagged."""

    def delta_lower(self, epsilon: ArrayLike, direction: Direction | None = None) -> Array:
        """Lower confidence bound of the profile at `epsilon` >= 0 (any shape), in one or either direction."""
        eps = np.asarray(epsilon, dtype=np.float64)
        if not np.all(eps >= 0):
            raise InvalidArgumentError("epsilon", epsilon, "numbers at least 0")
        lower = np.zeros(eps.shape)
        for side, at_least, at_most in _lines(self.events):
            if direction in (None, side):
                with np.errstate(over="ignore"):
                    lower = np.maximum(lower, at_least - np.exp(eps) * at_most)
        return lower

    def epsilon_at(self, delta: float) -> float:
        """Lower confidence bound on the smallest epsilon at `delta` in [0, 1); 0 where nothing was found."""
        return _epsilon_at(self.events, _check_delta(delta))


def audit_privacy(
    left: ArrayLike,
    right: ArrayLike,
    claim: Claim,
    *,
    adjacency: Adjacency | str,
    failure_probability: float,
    seed: int,
    delta: float | None = None,
    scorers: Sequence[Scorer] = DEFAULT_SCORERS,
    most_events: int = 8,
) -> PrivacyAudit:
    """Audit a claim about the outputs of a mechanism on two neighboring data sets.

    With probability at least 1 - failure_probability, `delta_lower` of the result is below the hockey-stick
    divergence in its direction for every epsilon >= 0; so a correct claim is called violated with at most that
    probability. `violated` is only said of an epsilon at which bound and claim were compared. The verdict is
    `undecided` if no violation at all could be found at this size.

    Assumptions: the runs of one side are independent of one another and alike. Run i on the left may depend on
    run i on the right, as it does if both sides ran with one seed.

    Args:
        left: outputs on one data set, (runs,) or (runs, d), at least 100 runs.
        right: outputs on its neighbor, same shape.
        claim: the guarantee to test; see `Claim`.
        adjacency: which neighboring relation the two data sets stand for, one of `Adjacency` or in words where it
            is another; every reason names it.
        failure_probability: of the whole audit, in [1e-15, 1).
        seed: of the audit's own randomness: how samples are divided and scores fitted.
        delta: where `epsilon_lower` is evaluated; by default the claim's own, 0 for a pure claim, 1e-5 for a curve.
        scorers: what learns the scores.
        most_events: the most events that may be judged, at least 2.

    Raises:
        InvalidDataError: for samples that cannot be used.
        InvalidArgumentError: for the other arguments, and for a claim whose profile leaves [0, 1].

    References: exact binomial bounds, Clopper and Pearson 1934; the profile as the supremum over events, Kairouz,
    Oh and Viswanath 2015.
    """
    if not callable(getattr(claim, "privacy_profile", None)):
        raise InvalidArgumentError("claim", claim, "a guarantee, which has a method privacy_profile")
    p, q = check_pair(left, right)
    level = checks.failure_probability("failure_probability", failure_probability)
    seed = checks.whole_number("seed", seed, at_least=0)
    most_events = checks.whole_number("most_events", most_events, at_least=2)
    neighbors = _check_adjacency(adjacency)
    stated = _stated_corner(claim)
    if delta is None:
        delta = stated[1] if stated else _CURVE_DELTA
    delta = _check_delta(delta)

    runs = p.shape[0]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_AUDIT_STREAM,)))
    parts = divide(runs, rng)
    # a column that the learning runs do not vary in is left out, so that judging runs choose nothing
    learned = np.concatenate([parts.fitting, parts.choosing])
    columns = varying(p[learned], q[learned])
    if not columns.all():
        p, q = p[:, columns], q[:, columns]
    judged = parts.judging.size
    grid = _grid(judged, level / 2, stated)

    with one_thread():
        scores, scored = _learn(scorers, p, q, parts, rng)
        choosing_grid = np.union1d(grid[::8], grid[-1:] if stated is None else [min(stated[0], grid[-1])])
        events = choose_events(
            scored,
            judged_runs=judged,
            bound_failure=level / (2 * most_events),
            most_events=most_events,
            epsilons=choosing_grid,
            claimed=_claimed(claim, choosing_grid),
        )
        bound_failure = level / (2 * len(events))
        judged_events = _judge(events, scores, p[parts.judging], q[parts.judging], bound_failure)

    checked = np.unique(np.concatenate([grid, _kinks(judged_events)]))
    violation = _worst(judged_events, checked, _claimed(claim, checked))
    points = tuple(zip(grid.tolist(), _claimed(claim, grid).tolist(), strict=True))
    test = EventTest(judged, bound_failure, points)
    detectable, parameter = _detectable(test, stated, runs)
    epsilon_lower = _epsilon_at(judged_events, delta)
    if violation is not None:
        verdict = Verdict.VIOLATED
        reason = (
            f"delta at epsilon {violation.epsilon:.6g} is at least {violation.delta_lower:.6g}, "
            f"{violation.direction}, and the claim allows {violation.delta_claimed:.6g}; "
            f"judged by {violation.event}"
        )
    elif parameter is None:
        verdict, reason = Verdict.UNDECIDED, detectable
    else:
        verdict, reason = (
            Verdict.SUPPORTED,
            "the lower bound does not exceed the claim at any epsilon compared",
        )
    return PrivacyAudit(
        verdict=verdict,
        reason=f"{reason}; neighbors: {neighbors}",
        claim=str(claim),
        epsilon_lower=epsilon_lower,
        delta=delta,
        detectable=detectable,
        detectable_parameter=parameter,
        violation=violation,
        profile=_profile(judged_events, claim, stated),
        events=judged_events,
        runs=runs,
        runs_judged=judged,
        failure_probability=level,
        bound_failure=bound_failure,
        seed=seed,
        adjacency=neighbors,
        gap=Gap.TOO_FEW_RUNS if verdict is Verdict.UNDECIDED else None,
        sees_nothing=verdict is Verdict.UNDECIDED,
    )


@dataclass(frozen=True)
class Parts:
    """Disjoint indices of runs, the same for both sides.

    Were they different, a run that is judged on the left might have its twin on the right among the runs that
    chose the events, and two sides that ran with one seed would void the bounds.
    """

    fitting: NDArray[np.int64]
    choosing: NDArray[np.int64]
    judging: NDArray[np.int64]


def divide(runs: int, rng: np.random.Generator) -> Parts:
    """Divide runs at random: a quarter to fit scores, a quarter to choose events, a half to judge them."""
    order = rng.permutation(runs)
    learning = runs // 2
    fitting = learning // 2
    return Parts(order[:fitting], order[fitting:learning], order[learning:])


def _learn(
    scorers: Sequence[Scorer], left: Samples, right: Samples, parts: Parts, rng: np.random.Generator
) -> tuple[dict[str, Score], list[ScoredSamples]]:
    """Fit every scorer that applies, and score the choosing samples."""
    scores: dict[str, Score] = {}
    scored: list[ScoredSamples] = []
    fitting = parts.fitting[:_MOST_FITTED]
    fit_left, fit_right = left[fitting], right[fitting]
    choose_left, choose_right = left[parts.choosing], right[parts.choosing]
    for scorer in scorers:
        if scorer.name in scores:
            raise InvalidArgumentError("scorers", scorer.name, "scorers with different names")
        score = fit_score(scorer, fit_left, fit_right, rng)
        if score is not None:
            scores[scorer.name] = score
            left_scores, right_scores = apply_score(score, choose_left), apply_score(score, choose_right)
            scored.append(ScoredSamples(scorer.name, left_scores, right_scores))
    if not scored:
        names = tuple(scorer.name for scorer in scorers)
        raise InvalidArgumentError("scorers", names, "at least one that applies to the samples")
    return scores, scored


def _judge(
    events: Sequence[Event], scores: dict[str, Score], left: Samples, right: Samples, bound_failure: float
) -> tuple[JudgedEvent, ...]:
    """Count each event on the judging samples and bound its two probabilities."""
    used = list(dict.fromkeys(event.scorer for event in events))
    on_left = {name: apply_score(scores[name], left) for name in used}
    on_right = {name: apply_score(scores[name], right) for name in used}
    left_counts = np.array([event.count(on_left[event.scorer]) for event in events])
    right_counts = np.array([event.count(on_right[event.scorer]) for event in events])
    lower = clopper_pearson_lower(left_counts, left.shape[0], bound_failure)
    upper = clopper_pearson_upper(right_counts, right.shape[0], bound_failure)
    return tuple(
        JudgedEvent(event, int(k), int(j), float(a), float(b))
        for event, k, j, a, b in zip(events, left_counts, right_counts, lower, upper, strict=True)
    )


def _lines(events: Sequence[JudgedEvent]) -> list[tuple[Direction, float, float]]:
    """All (direction, at least, at most): delta(epsilon) >= at_least - exp(epsilon) at_most."""
    lower = np.array([event.left_lower for event in events])
    upper = np.array([event.right_upper for event in events])
    at_least, at_most = both_directions(lower, upper)
    return [
        (direction, float(a), float(b))
        for direction, more, less in zip(Direction, at_least, at_most, strict=True)
        for a, b in zip(more, less, strict=True)
    ]


def _epsilon_at(events: Sequence[JudgedEvent], delta: float) -> float:
    return max(0.0, *(math.log((a - delta) / b) for _, a, b in _lines(events) if a > delta and b > 0), 0.0)


def _kinks(events: Sequence[JudgedEvent]) -> Array:
    """Every epsilon > 0 at which the lower bound bends: a line reaches zero, or two lines cross."""
    bends: list[float] = []
    for side in Direction:
        lines = [(a, b) for direction, a, b in _lines(events) if direction is side]
        lines.append((0.0, 0.0))
        for index, (a, b) in enumerate(lines):
            for c, d in lines[:index]:
                if b != d and (a - c) / (b - d) > 1:
                    bends.append(math.log((a - c) / (b - d)))
    return np.array(bends)


def _worst(events: Sequence[JudgedEvent], epsilons: Array, claimed: Array) -> Violation | None:
    """Where the lower bound exceeds the claim most; None if nowhere."""
    factor = np.exp(epsilons)
    found: Violation | None = None
    largest = 0.0
    lines = _lines(events)
    for index, (direction, a, b) in enumerate(lines):
        excess = a - factor * b - claimed
        at = int(excess.argmax())
        if excess[at] > largest:
            largest = float(excess[at])
            found = Violation(
                epsilon=float(epsilons[at]),
                delta_lower=float(a - factor[at] * b),
                delta_claimed=float(claimed[at]),
                direction=direction,
                event=events[index % len(events)].event,
            )
    return found


def _stated_corner(claim: Claim) -> tuple[float, float] | None:
    """The (epsilon, delta) of a claim that is one point; None for a curve."""
    epsilon, delta = getattr(claim, "epsilon", None), getattr(claim, "delta", 0.0)
    if isinstance(epsilon, int | float) and isinstance(delta, int | float):
        return float(epsilon), float(delta)
    return None


def _grid(judged: int, level: float, stated: tuple[float, float] | None) -> Array:
    """Where bound and claim are compared: up to the largest epsilon at which any bound can be positive."""
    # Nothing is seen beyond -ln of the smallest upper bound that any event can get, that of a count of zero.
    top = -math.log(float(clopper_pearson_upper(0, judged, level)))
    points = np.linspace(0.0, max(top, 0.1), _GRID_POINTS)
    if stated is not None and stated[0] <= top:
        points = np.append(points, stated[0])
    return np.unique(points)


def _claimed(claim: Claim, epsilons: Array) -> Array:
    """Claimed deltas at `epsilons`, checked."""
    values = np.asarray(claim.privacy_profile(epsilons), dtype=np.float64)
    if values.shape != epsilons.shape or not np.all((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)):
        raise InvalidArgumentError(
            "claim", claim, "a privacy profile with values in [0, 1], one for each epsilon"
        )
    return np.clip(values, 0.0, 1.0)


def _profile(
    events: Sequence[JudgedEvent], claim: Claim, stated: tuple[float, float] | None
) -> tuple[ProfilePoint, ...]:
    """Points for reports, up to a little beyond where the bound vanishes and where the claim is made, or is small."""
    corner = stated[0] if stated and stated[0] <= 50 else 0.0
    top = max(1.1 * _epsilon_at(events, 0.0), 1.25 * corner, 0.1)
    if stated is None:
        grid = np.linspace(0.0, _FARTHEST_SHOWN, _GRID_POINTS)
        small = grid[_claimed(claim, grid) <= _CURVE_DELTA]
        top = max(top, float(small[0]) if small.size else _FARTHEST_SHOWN)
    epsilons = np.unique(np.append(np.linspace(0.0, top, 61), corner))
    lines = _lines(events)
    lower = np.max([np.maximum(a - np.exp(epsilons) * b, 0.0) for _, a, b in lines], axis=0)
    claimed = _claimed(claim, epsilons)
    return tuple(
        ProfilePoint(epsilon=float(e), delta_lower=float(low), delta_claimed=float(d))
        for e, low, d in zip(epsilons, lower, claimed, strict=True)
    )


def _detectable(test: EventTest, stated: tuple[float, float] | None, runs: int) -> tuple[str, float | None]:
    """The smallest violation that would have been found, in words and as a number."""
    if stated is not None:
        epsilon = smallest_epsilon(test, stated[1])
        if epsilon is not None:
            return f"({epsilon:.4g}, {stated[1]:.4g})-DP randomized response", epsilon
    else:
        mu = smallest_mu(test)
        if mu is not None:
            return f"Gaussian pair with mu = {mu:.4g}", mu
    needed = runs_needed(test)
    enough = "" if needed is None else f"; at least {2 * needed} would be needed"
    return f"no violation of this claim can be found with {runs} runs{enough}", None


def _check_adjacency(adjacency: Adjacency | str) -> str:
    if not isinstance(adjacency, str) or not adjacency.strip():
        allowed = f"one of {', '.join(Adjacency)}, or the relation in words"
        raise InvalidArgumentError("adjacency", adjacency, allowed)
    return str(adjacency)


def _check_delta(delta: float) -> float:
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 <= delta < 1:
        raise InvalidArgumentError("delta", delta, "a number in [0, 1)")
    return float(delta)
