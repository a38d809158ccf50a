"""Black-box privacy audit: from two sample sets to a lower bound on the whole privacy profile.

The samples are divided at random, by the audit's own generator, into a small learning part and a judging part. On
the learning part scores are fitted and events are chosen; the judging part judges them, by tests that are exact at
every sample size, whatever the mechanism is and however badly the scores were learned. The failure probability is
divided once: nearly all of it goes to the one event on which the verdict and the bound at the claim's delta rest, the
rest to a band, which bounds the profile from below for every epsilon and in both directions at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.auditing.black_box.candidates import choose_events, find_candidates
from dpverify.auditing.black_box.focus import (
    Focus,
    JudgedFocus,
    PredictedBounds,
    choose_at_delta,
    choose_on_curve,
    judge,
    useful_scorers,
)
from dpverify.auditing.black_box.leftover import leaves_something
from dpverify.auditing.black_box.low_bits import not_looked_at
from dpverify.auditing.black_box.mixed import varying
from dpverify.auditing.black_box.scorers import DEFAULT_SCORERS
from dpverify.auditing.black_box.scores import (
    Coordinate,
    Samples,
    Score,
    Scorer,
    Value,
    apply_score,
    apply_scores,
    fit_score,
    one_thread,
)
from dpverify.auditing.claims import (
    CURVE_DELTA,
    Claim,
    PrivacyFinding,
    are_numbers,
    checked_claim,
    checked_delta,
    checked_relation,
    claimed_deltas,
    delta_of,
    noise_of,
    shown_profile,
    stated_corner,
    telling_pair,
)
from dpverify.auditing.confidence import clopper_pearson_lower, clopper_pearson_upper
from dpverify.auditing.detection import EventTest, Noise, runs_needed, smallest_epsilon, smallest_shift
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.events import Direction, Event, NameEvent, ScoredSamples, both_directions
from dpverify.auditing.outputs.samples import MINIMUM_RUNS, check_pair
from dpverify.auditing.shown import shown_outputs
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import ProfilePoint, ShownOutputs
from dpverify.ledger.notebooks import html_table
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.ledger.written_numbers import at_least
from dpverify.privacy import Adjacency

Array = NDArray[np.float64]

_AUDIT_STREAM = 0x617564  # keeps the audit's generator apart from a mechanism's with the same seed
_GRID_POINTS = 513
_BAND_WEIGHT = 1 / 20
"""The band's part of the failure probability."""
_LEAST_LEARNING = 0.1
"""The part of many runs that learns: more would leave too few to judge."""
_ROWS_A_WEIGHT = 50
"""Fitting runs for each weight of a linear score from which on events are chosen from them as well."""
_FARTHEST_SHOWN = 10.0
"""Largest epsilon of a report's points where neither bound nor claim asks for more; nats."""


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
    directions: tuple[Direction, ...] = tuple(Direction)
    """Those in which it counts."""


@dataclass(frozen=True)
class Violation:
    """An epsilon at which the lower bound exceeds the claim."""

    epsilon: float
    delta_lower: float
    """At this epsilon; equal to what is claimed where only the bound on epsilon says that it is exceeded."""
    delta_claimed: float
    epsilon_lower: float
    """Lower bound on the smallest epsilon at the claimed delta; above `epsilon`."""
    direction: Direction
    event: Event
    """The event that is more likely than allowed; for right over left, it is the complement that is."""


@dataclass(frozen=True, kw_only=True)
class PrivacyAudit(PrivacyFinding):
    """What an audit found; `delta_lower` and `epsilon_at` evaluate the bound anywhere."""

    violation: Violation | None
    events: tuple[JudgedEvent, ...]
    """Of the band."""
    focuses: tuple[JudgedFocus, ...]
    """What verdict and bound rest on: one event for both where the claim is a corner, else one for each."""
    runs_judged: int
    bound_failure: float
    """The part of the failure probability that each single binomial bound of the band got."""
    fault: str = ""
    """What a weakened version of the mechanism does, where one was audited: see `search_faults`."""
    smallest_fault: float | None = None
    """The smallest factor of the fault that was flagged."""

    def _repr_html_(self) -> str:
        """For notebooks."""
        return html_table(
            f"{self.claim}: {self.verdict}",
            (
                ("epsilon at least", f"{at_least(self.epsilon_lower, 6)} at delta {self.delta:g}"),
                ("adjacency", self.adjacency),
                ("runs", self.runs),
                ("failure probability", f"{self.failure_probability:g}"),
                ("seed", self.seed),
                ("why", self.reason),
                ("would have found", self.detectable),
            ),
        )

    def delta_lower(self, epsilon: ArrayLike, direction: Direction | None = None) -> Array:
        """Lower confidence bound of the profile at `epsilon` >= 0 (any shape), in one or either direction."""
        eps = np.asarray(epsilon, dtype=np.float64)
        checks.require(np.all(eps >= 0), "epsilon", epsilon, "numbers at least 0")
        return _Bound(self.events, self.focuses).delta_at(eps, direction)

    def epsilon_at(self, delta: float) -> float:
        """Lower confidence bound on the smallest epsilon at `delta` in [0, 1); 0 where nothing was found."""
        return _Bound(self.events, self.focuses).epsilon_at(checked_delta(delta))


def audit_privacy(
    left: ArrayLike,
    right: ArrayLike,
    claim: Claim,
    *,
    adjacency: Adjacency | str,
    failure_probability: float | ErrorShare,
    seed: int,
    delta: float | None = None,
    scorers: Sequence[Scorer] = DEFAULT_SCORERS,
    directions: Sequence[Direction] = tuple(Direction),
    most_events: int = 8,
    name_event: NameEvent = str,
    needs: Mapping[int, int] | None = None,
) -> PrivacyAudit:
    """Audit a claim about the outputs of a mechanism on two neighboring data sets.

    With probability at least 1 - failure_probability, `epsilon_lower` is below the true epsilon at `delta`, and
    `delta_lower` below the hockey-stick divergence in its direction for every epsilon >= 0; so a correct claim is
    called violated with at most that probability. The verdict rests on one event at one epsilon: that of the claim if
    it is a corner, else the most promising one; if the band contradicts the claim elsewhere, that counts too. The
    verdict is `undecided` if no violation at all could be found at this size.

    Assumptions: the runs of one side are independent of one another and alike. Run i on the left may depend on
    run i on the right, as it does if both sides ran with one seed.

    Args:
        left: outputs on one data set, (runs,) or (runs, d), at least 100 runs.
        right: outputs on its neighbor, same shape.
        claim: the guarantee to test; see `Claim`.
        adjacency: which neighboring relation the two data sets stand for, one of `Adjacency` or in words where it
            is another; every reason names it.
        failure_probability: of the whole audit, in [1e-15, 1), or a share that the audit divides further.
        seed: of the audit's own randomness: how samples are divided and scores fitted.
        delta: where `epsilon_lower` is evaluated; by default the claim's own, 0 for a pure claim, 1e-5 for a curve.
        scorers: what learns the scores.
        directions: in which the two data sets are compared, one or both; each alone shows what it shows of the profile.
        most_events: the most events that may be judged, at least 2.
        name_event: what the reason calls an event.
        needs: columns that are left out where the learning runs do not vary in another one, `Encoder.needs`.

    Raises `InvalidDataError` for samples that cannot be used, and `InvalidArgumentError` for the other arguments, and
    for a claim whose profile leaves [0, 1].

    References: exact binomial bounds, Clopper and Pearson 1934; the profile as the supremum over events, Kairouz,
    Oh and Viswanath 2015; the joint test, `dpverify.auditing.black_box.joint`.
    """
    checked_claim(claim)
    p, q = check_pair(left, right)
    whole = ErrorShare.of(failure_probability)
    seed = checks.whole_number("seed", seed, at_least=0, at_most=None)
    most_events = checks.whole_number("most_events", most_events, at_least=2)
    compared = tuple(side for side in Direction if side in directions)
    if not compared or not set(directions) <= set(Direction):
        raise InvalidArgumentError("directions", directions, "one or both of Direction")
    neighbors = checked_relation(adjacency)
    stated = stated_corner(claim)
    delta = delta_of(claim, delta)
    # one test gives the verdict and the bound if they are about one delta
    together = stated is not None and stated[1] == delta
    names = ("claim and its delta",) if together else ("claim", "bound at delta")
    weights = [(1 - _BAND_WEIGHT) / len(names)] * len(names) + [_BAND_WEIGHT]
    *focus_shares, band_share = whole.split(*names, "band", weights=weights)
    why = "the joint test of one event" if together else "the test of one event"
    levels = [share.spend(why) for share in focus_shares]
    band_level = band_share.spend("the simultaneous bounds of the profile")

    runs = p.shape[0]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_AUDIT_STREAM,)))
    parts = divide(runs, rng)
    # a column that the learning runs do not vary in is left out, so that judging runs choose nothing
    every = p, q
    learned = np.concatenate([parts.fitting, parts.choosing])
    columns = varying(p[learned], q[learned])
    for column, other in (needs or {}).items():
        columns[column] &= columns[other]
    kept = [i if columns.size > 1 else None for i in np.flatnonzero(columns).tolist()]
    if not columns.all():
        p, q = p[:, columns], q[:, columns]
    judged = parts.judging.size
    grid = _grid(judged, levels[0] / 2, stated)
    claimed = claimed_deltas(claim, grid)

    with one_thread():
        scores, scored = _learn(scorers, p, q, parts, rng, kept)
        candidates = find_candidates(scored).towards(compared)
        promises = PredictedBounds(candidates, judged)
        focuses = _focus(promises, stated, delta, levels, grid, claimed)
        thinned = np.union1d(grid[::16], grid[-1:] if stated is None else [min(stated[0], grid[-1])])
        band_scorers = useful_scorers(promises, level=levels[0], delta=delta)
        band_scorers |= {focus.event.scorer for focus in focuses}
        events = choose_events(
            candidates.of(band_scorers),
            judged_runs=judged,
            bound_failure=band_level / (2 * most_events),
            most_events=most_events,
            epsilons=thinned,
            claimed=claimed_deltas(claim, thinned),
        )
        bound_failure = band_level / (2 * len(events))
        used = dict.fromkeys(
            [*(event.scorer for event in events), *(focus.event.scorer for focus in focuses)]
        )
        on_left, on_right = (
            apply_scores({name: scores[name] for name in used}, side, parts.judging) for side in (p, q)
        )
    judged_events = _judge(events, on_left, on_right, bound_failure, compared)
    judged_focuses = tuple(
        judge(
            focus,
            focus.event.contains(on_left[focus.event.scorer]),
            focus.event.contains(on_right[focus.event.scorer]),
            level,
            (rng.random(), rng.random(), rng.random()),
        )
        for focus, level in zip(focuses, levels, strict=True)
        if focus.direction in compared  # where nothing is promised, any may have been chosen
    )

    bound = _Bound(judged_events, judged_focuses)
    violation = bound.violation(claim, grid)
    points = [stated] if stated is not None else list(zip(grid.tolist(), claimed.tolist(), strict=True))
    test = EventTest(judged, levels[0] / 2, tuple(points))
    detectable, parameter, on_numbers = _detectable(test, stated, runs, are_numbers(p, q))
    shown: ShownOutputs | None = None
    if violation is not None:
        seen, event = bound.seen(violation.event, judged), violation.event
        verdict, reason = Verdict.VIOLATED, _says(violation, name_event) + seen
        inside = event.contains(on_left[event.scorer]), event.contains(on_right[event.scorer])
        judging = every[0][parts.judging], every[1][parts.judging]
        shown = shown_outputs(judging, inside, event, name_event)
    elif parameter is None:
        verdict, reason = Verdict.UNDECIDED, detectable
    else:
        verdict = Verdict.SUPPORTED
        reason = (
            f"the lower bound does not exceed the claim at any epsilon compared; {not_looked_at(scorers)}"
        )
        reason += f"; only {compared[0]} was compared" if len(compared) == 1 else ""
    return PrivacyAudit(
        verdict=verdict,
        reason=f"{reason}; neighbors: {neighbors}",
        claim=str(claim),
        epsilon_lower=bound.epsilon_at(delta),
        delta=delta,
        detectable=detectable,
        detectable_parameter=parameter,
        detectable_on_numbers=on_numbers,
        violation=violation,
        shown=shown,
        profile=bound.profile(claim),
        events=judged_events,
        focuses=judged_focuses,
        runs=runs,
        runs_judged=judged,
        failure_probability=whole.failure_probability,
        shares=whole.spent(),
        bound_failure=bound_failure,
        seed=seed,
        adjacency=neighbors,
        gap=Gap.TOO_FEW_RUNS if verdict is Verdict.UNDECIDED else None,
        detects_nothing=verdict is Verdict.UNDECIDED,
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
    """Divide runs at random: a part to fit scores, as many to choose events, and the rest to judge them."""
    count = _learning(runs)
    learns = np.zeros(runs, dtype=np.bool_)
    missing = count
    while missing:  # faster than a permutation of all
        learns[rng.integers(runs, size=missing)] = True
        missing = count - int(np.count_nonzero(learns))
    learning = rng.permutation(np.flatnonzero(learns))
    half = count // 2
    return Parts(learning[:half], learning[half:], np.flatnonzero(~learns))


def _learn(
    scorers: Sequence[Scorer],
    left: Samples,
    right: Samples,
    parts: Parts,
    rng: np.random.Generator,
    kept: Sequence[int | None],
) -> tuple[dict[str, Score], list[ScoredSamples]]:
    """Fit every scorer that applies, and score the choosing samples.

    All that learn are scored where the score learns nothing, or so few numbers from so many that it scores what it has
    seen like what it has not, or where it scores each as if it had not seen it. `kept` are the columns that are looked
    at, None for a single one.
    """
    scores: dict[str, Score] = {}
    scored: list[ScoredSamples] = []
    every = np.concatenate([parts.fitting, parts.choosing])
    learn_left, learn_right = left[every], right[every]
    half = parts.fitting.size
    fit_left, fit_right = learn_left[:half], learn_right[:half]
    choose_left, choose_right = learn_left[half:], learn_right[half:]
    names = [scorer.name for scorer in scorers]
    checks.require(len(set(names)) == len(names), "scorers", tuple(names), "scorers with different names")
    # where all that is to be seen is seen by a linear score, none that takes long is fitted
    linear = any(getattr(scorer, "is_linear", False) for scorer in scorers)
    if linear and not leaves_something(learn_left, learn_right):
        scorers = [scorer for scorer in scorers if not getattr(scorer, "beyond_linear", False)]
    for scorer in scorers:
        sides = (learn_left, learn_right) if getattr(scorer, "holds_out", False) else (fit_left, fit_right)
        score = fit_score(scorer, *sides, rng)
        if score is None:
            continue
        # a score may say what it has learned
        name, column = getattr(score, "name", None), None
        if isinstance(score, Coordinate) and (place := kept[score.column]) is not None:
            name, column = f"coordinate {place + 1}", place
        elif isinstance(score, Coordinate):
            column = 0
        if not isinstance(name, str) or name in names or name in scores:
            name = scorer.name
        scores[name] = score
        held_out = getattr(score, "held_out", None)
        if held_out is not None:
            scored.append(ScoredSamples(name, held_out[0], held_out[1], column))
            continue
        chosen = [apply_score(score, choose_left), apply_score(score, choose_right)]
        if isinstance(scorer, Value) or (
            getattr(scorer, "is_linear", False) and fit_left.shape[0] >= _ROWS_A_WEIGHT * left.shape[1]
        ):
            fitted = apply_score(score, fit_left), apply_score(score, fit_right)
            chosen = [np.concatenate(both) for both in zip(chosen, fitted, strict=True)]
        scored.append(ScoredSamples(name, chosen[0], chosen[1], column))
    checks.require(scored, "scorers", tuple(names), "at least one that applies to the samples")
    return scores, scored


def _focus(
    promises: PredictedBounds,
    stated: tuple[float, float] | None,
    delta: float,
    levels: Sequence[float],
    grid: Array,
    claimed: Array,
) -> tuple[Focus, ...]:
    """Choose what the verdict rests on, and what the bound at `delta` rests on where that is something else."""
    if stated is not None:
        first = choose_at_delta(promises, level=levels[0], delta=stated[1], claimed_epsilon=stated[0])
    else:
        some = slice(None, None, 16)
        first = choose_on_curve(promises, level=levels[0], epsilons=grid[some], claimed=claimed[some])
    if len(levels) == 1:
        return (first,)
    second = choose_at_delta(promises, level=levels[1], delta=delta, claimed_epsilon=math.inf)
    return first, second


def _judge(
    events: Sequence[Event],
    on_left: dict[str, Array],
    on_right: dict[str, Array],
    bound_failure: float,
    directions: tuple[Direction, ...],
) -> tuple[JudgedEvent, ...]:
    """Count each event on the judging samples and bound its two probabilities."""
    runs = next(iter(on_left.values())).size
    left_counts = np.array([event.count(on_left[event.scorer]) for event in events])
    right_counts = np.array([event.count(on_right[event.scorer]) for event in events])
    lower = clopper_pearson_lower(left_counts, runs, bound_failure)
    upper = clopper_pearson_upper(right_counts, runs, bound_failure)
    return tuple(
        JudgedEvent(event, int(k), int(j), float(a), float(b), directions)
        for event, k, j, a, b in zip(events, left_counts, right_counts, lower, upper, strict=True)
    )


@dataclass(frozen=True)
class _Bound:
    """A lower bound of the profile: what the band's events and the focuses say together."""

    events: tuple[JudgedEvent, ...]
    focuses: tuple[JudgedFocus, ...]

    @cached_property
    def lines(self) -> list[tuple[Direction, float, float, Event]]:
        """All (direction, at least, at most, event): delta(epsilon) >= at_least - exp(epsilon) at_most."""
        lower = np.array([event.left_lower for event in self.events])
        upper = np.array([event.right_upper for event in self.events])
        at_least, at_most = both_directions(lower, upper)
        lines = [
            (direction, float(a), float(b), event.event)
            for direction, more, less in zip(Direction, at_least, at_most, strict=True)
            for a, b, event in zip(more, less, self.events, strict=True)
            if direction in event.directions
        ]
        separate = [(judged.focus, judged.line) for judged in self.focuses if judged.line is not None]
        return lines + [(focus.direction, *line, focus.event) for focus, line in separate]

    def epsilon_at(self, delta: float) -> float:
        """On the smallest epsilon, nats."""
        bounds = [math.log((a - delta) / b) for _, a, b, _ in self.lines if a > delta and b > 0]
        bounds += [judged.epsilon_lower for judged in self.focuses if judged.focus.delta >= delta]
        return max([0.0, *bounds])

    def delta_at(self, epsilons: Array, direction: Direction | None = None) -> Array:
        """On the profile, any shape, in one or either direction."""
        lower = np.zeros(epsilons.shape)
        with np.errstate(over="ignore"):
            for side, at_least, at_most, _ in self.lines:
                if direction in (None, side):
                    lower = np.maximum(lower, at_least - np.exp(epsilons) * at_most)
        for judged in self.focuses:
            if direction in (None, judged.focus.direction):
                reached = epsilons <= judged.epsilon_lower if judged.epsilon_lower > 0 else False
                lower = np.maximum(lower, np.where(reached, judged.focus.delta, 0.0))
        return lower

    def _kinks(self) -> Array:
        """Every epsilon > 0 at which the lower bound bends: a line reaches zero, or two lines cross."""
        bends: list[float] = []
        for side in Direction:
            lines = [(a, b) for direction, a, b, _ in self.lines if direction is side] + [(0.0, 0.0)]
            for (c, d), (a, b) in itertools.combinations(lines, 2):
                if b != d and (a - c) / (b - d) > 1:
                    bends.append(math.log((a - c) / (b - d)))
        return np.array(bends)

    def violation(self, claim: Claim, grid: Array) -> Violation | None:
        """What contradicts the claim: the event that was chosen for it, or else where the band exceeds it most."""
        for judged in self.focuses:
            if judged.contradicts:
                focus = judged.focus
                return Violation(
                    epsilon=focus.claimed_epsilon,
                    delta_lower=focus.delta,
                    delta_claimed=focus.delta,
                    epsilon_lower=judged.epsilon_lower,
                    direction=focus.direction,
                    event=focus.event,
                )
        epsilons = np.unique(np.concatenate([grid, self._kinks()]))
        claimed, factor = claimed_deltas(claim, epsilons), np.exp(epsilons)
        found: Violation | None = None
        largest = 0.0
        for direction, a, b, event in self.lines:
            excess = a - factor * b - claimed
            at = int(excess.argmax())
            if excess[at] > largest:
                largest, allowed = float(excess[at]), float(claimed[at])
                found = Violation(
                    epsilon=float(epsilons[at]),
                    delta_lower=float(a - factor[at] * b),
                    delta_claimed=allowed,
                    epsilon_lower=math.log((a - allowed) / b) if b > 0 else math.inf,
                    direction=direction,
                    event=event,
                )
        return found

    def seen(self, event: Event, judged: int) -> str:
        """How often an event came among the runs that judged it."""
        counts = None
        for band in self.events:
            if band.event == event:
                counts = band.left_count, band.right_count
        for focus in self.focuses:
            if focus.contradicts and focus.focus.event == event:
                first, second = (
                    focus.counts.both + focus.counts.first,
                    focus.counts.both + focus.counts.second,
                )
                turned = (
                    focus.focus.direction is Direction.RIGHT_OVER_LEFT
                )  # there, the complement is counted
                counts = (judged - second, judged - first) if turned else (first, second)
        if counts is None:
            return ""
        on_left = f"in {counts[0]} of {judged} judged runs on the left data set"
        return f", {on_left} and in {counts[1]} on the right one"

    def profile(self, claim: Claim) -> tuple[ProfilePoint, ...]:
        """Points for reports, up to a little beyond where it vanishes and where the claim is made, or is small."""
        top = max(1.1 * self.epsilon_at(0.0), 0.1)
        if stated_corner(claim) is None:
            grid = np.linspace(0.0, _FARTHEST_SHOWN, _GRID_POINTS)
            small = grid[claimed_deltas(claim, grid) <= CURVE_DELTA]
            top = max(top, float(small[0]) if small.size else _FARTHEST_SHOWN)
        return shown_profile(claim, self.delta_at, top)


def _says(violation: Violation, name_event: NameEvent) -> str:
    """A violation in words."""
    if violation.delta_lower > violation.delta_claimed:
        found = (
            f"delta at epsilon {violation.epsilon:.6g} is at least {at_least(violation.delta_lower, 6)}, "
            f"{violation.direction}, and the claim allows {violation.delta_claimed:.6g}"
        )
    else:
        found = (
            f"epsilon at delta {violation.delta_claimed:.6g} is at least {at_least(violation.epsilon_lower, 6)}, "
            f"{violation.direction}, and the claim is epsilon {violation.epsilon:.6g} there"
        )
    return f"{found}; event: {name_event(violation.event)}"


def _grid(judged: int, level: float, stated: tuple[float, float] | None) -> Array:
    """Where bound and claim are compared: up to the largest epsilon at which any bound can be positive."""
    # Nothing is seen beyond -ln of the smallest upper bound that any event can get, that of a count of zero.
    top = -math.log(float(clopper_pearson_upper(0, judged, level)))
    points = np.linspace(0.0, max(top, 0.1), _GRID_POINTS)
    if stated is not None and stated[0] <= top:
        points = np.append(points, stated[0])
    return np.unique(points)


def _detectable(
    test: EventTest, stated: tuple[float, float] | None, runs: int, numbers: bool
) -> tuple[str, float | None, float | None]:
    """The smallest violation that would have been found, in words and as a number, and that by shifted noise."""
    size = smallest_shift(test, Noise.NORMAL) if stated is None else smallest_epsilon(test, stated[1])
    if size is not None:
        shifted = None
        if stated is not None and numbers:
            noise = noise_of(stated[1])
            shift = smallest_shift(test, noise)
            shifted = None if shift is None else noise.epsilon(shift, stated[1])
        return telling_pair(stated, size, shifted), size, shifted
    needed = runs_needed(test)
    enough = "" if needed is None else f"; at least {_with_learning(needed)} would be needed"
    return f"no violation of this claim can be found with {runs} runs{enough}", None, None


def _with_learning(judged: int) -> int:
    """How many runs leave so many to judge."""
    low, high = judged, 2 * judged + 2 * MINIMUM_RUNS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle - _learning(middle) >= judged else (middle, high)
    return max(high, MINIMUM_RUNS)


def _learning(runs: int) -> int:
    """How many of these runs learn: half of 100, and less of more: 23 % of 1e4, 15 % of 1e5, a tenth of a million."""
    return int(max(_LEAST_LEARNING, 0.5 * (runs / 100) ** -0.17) * runs)
