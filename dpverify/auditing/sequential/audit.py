"""Sequential privacy audit: run until the claim is refuted, and on for the bound, or a number of runs is reached.

The claim is a family of pairs (epsilon, delta): one for pure and approximate privacy, a curve of them for all others.
A gambler bets against all of them at once; the claim is violated as soon as the capital is 1/level. Further gamblers
bet against (epsilon, delta) for a grid of epsilons at one delta: the bound is the largest epsilon such that it and
all below it on the grid were refuted. If the true epsilon is e, then only the smallest grid point of at least e
has to survive for the bound to be below e: so one level serves the whole grid, at all times at once. Where the claim is
one pair, it is a point of the grid, and the verdict is the same event as the bound reaching it: it costs nothing extra.
A claim that is a curve takes nine tenths of the failure probability for the verdict and a tenth for the bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.auditing.black_box.low_bits import LOW_BIT_SCORERS, not_looked_at
from dpverify.auditing.black_box.scorers import DEFAULT_SCORERS
from dpverify.auditing.black_box.scores import one_thread
from dpverify.auditing.claims import (
    Claim,
    PrivacyFinding,
    are_numbers,
    checked_claim,
    checked_relation,
    claimed_deltas,
    delta_of,
    noise_of,
    shown_profile,
    stated_corner,
    telling_pair,
)
from dpverify.auditing.detection import Noise
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.events import NameEvent
from dpverify.auditing.outputs.samples import as_floats, check_equal_shapes
from dpverify.auditing.pairs import PairSubject, PrivacyQuestion, entry
from dpverify.auditing.sequential import foresight
from dpverify.auditing.sequential.gamblers import Gamblers, Lines, rounds
from dpverify.auditing.sequential.partitions import learn, learn_low_bits
from dpverify.auditing.shown import shown_outputs
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import PrivacyEvidence, ProfilePoint, SequentialRecord, ShownOutputs
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.ledger.written_numbers import at_least
from dpverify.privacy import Adjacency

Array = NDArray[np.float64]

_STREAM = 0x736571  # keeps the auditor's generator apart from a mechanism's with the same seed
_BELOW_CLAIM = 32
"""Points of the grid up to twice a claimed epsilon."""
_BEYOND = 24
"""Points of the grid beyond, or in all where the claim is a curve."""
_LARGEST = 12.0
"""End of the grid, nats, unless more is claimed. It does not follow the limit of runs, on which no verdict depends."""
_LINES = 24
"""Points of a curve that a gambler may bet against."""
_VERDICT_PARTS, _BOUND_PARTS = 9, 1
"""How a claim that is a curve divides the failure probability."""
_MOST_BYTES = 2**31
"""Of all outputs of both sides, 8 for each number."""


@dataclass(frozen=True, kw_only=True)
class SequentialAudit(PrivacyFinding):
    """What a sequential audit found."""

    record: SequentialRecord


@dataclass
class SequentialAuditor:
    """An audit that is fed round by round.

    With probability at least 1 - `failure_probability`, a correct claim is never called violated and `epsilon_lower`
    is never above the true epsilon, whenever one looks and for whatever reason one stops.

    Assumptions: runs are independent of one another, those of one side alike, and independent across the two sides.

    Args:
        claim: the guarantee to test.
        adjacency: which neighboring relation the two data sets stand for.
        failure_probability: of the whole audit, in [1e-15, 1), or a share, which the audit spends.
        seed: of the auditor's own randomness.
        most_runs: of each side, from 1 to as many as fit into 2 GiB; no bet depends on it.
        delta: where `epsilon_lower` is evaluated if the claim is a curve; 1e-5 if None. The claim's own otherwise.
        name_event: what the reason calls an event.
        low_bits: bet on low bits, last decimals and repeated outputs, and on nothing else.

    Raises `InvalidArgumentError` for arguments outside of these ranges, or a claim whose profile leaves [0, 1].
    """

    claim: Claim
    adjacency: Adjacency | str
    failure_probability: float | ErrorShare
    seed: int
    most_runs: int
    delta: float | None = None
    name_event: NameEvent = str
    low_bits: bool = False
    runs: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Set up the gamblers."""
        checked_claim(self.claim)
        self._whole = ErrorShare.of(self.failure_probability)
        self.most_runs = checks.whole_number(
            "most_runs", self.most_runs, at_least=1, at_most=_MOST_BYTES // 16
        )
        self.seed = checks.whole_number("seed", self.seed, at_least=0, at_most=None)
        self._neighbors = checked_relation(self.adjacency)
        self._corner = stated_corner(self.claim)
        if self._corner is not None and self.delta not in (None, self._corner[1]):
            said = f"{self._corner[1]:g}, which the claim names, or nothing"
            raise InvalidArgumentError("delta", self.delta, said)
        self.delta = delta_of(self.claim, self.delta)
        total_variation = float(claimed_deltas(self.claim, np.zeros(1))[0])
        if self._corner is not None:
            self._level = self._bound_level = self._whole.spend(
                "bets against a grid of claims, this one among them"
            )
        else:
            verdict, bound = self._whole.split(
                "claim", "bound at delta", weights=(_VERDICT_PARTS, _BOUND_PARTS)
            )
            self._level = verdict.spend("bets against the points of the claim's curve")
            self._bound_level = bound.spend("bets against a grid of claims at delta")
        self.least_runs = foresight.least_runs(total_variation, self._level)
        """Runs of each side below which no bet can refute the claim; None where none ever can."""
        self.refuted_after: int | None = None
        """Runs of each side that refuted the claim."""
        self._broken: tuple[float, str, ShownOutputs | None] = (0.0, "", None)
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(_STREAM,)))
        if not self.possible:
            return
        self._claim_lines, groups = self._lines()
        self._grid = groups[-1].epsilon[:, 0]
        learner = learn_low_bits if self.low_bits else learn
        self._gamblers = Gamblers(groups, rng, exact=(self._claim_place,), learner=learner)
        # columns that floats would round, in the order of their appearance
        self._extra: dict[int, None] = {}
        self._reached = 0
        self._numbers = False

    @property
    def possible(self) -> bool:
        """Whether the claim could be refuted within the limit of runs at all."""
        return self.least_runs is not None and self.least_runs <= self.most_runs

    def _lines(self) -> tuple[Lines, list[Lines]]:
        assert self.delta is not None
        if self._corner is not None:
            claimed = self._corner[0]
            near = np.linspace(0, 2 * claimed, _BELOW_CLAIM + 1)[1:] if claimed > 0 else np.zeros(0)
            beyond = np.linspace(min(2 * claimed, _LARGEST), _LARGEST, _BEYOND + 1)[1:]
            grid = np.unique(np.concatenate([near, beyond, [claimed]]))
            self._claim_place = int(np.searchsorted(grid, claimed))
            line = Lines(np.array([[claimed]]), np.array([[self.delta]]))
            return line, [Lines(grid[:, None], np.full((grid.size, 1), self.delta))]
        epsilons = np.linspace(0, _LARGEST, 10 * _LINES + 1)
        deltas = claimed_deltas(self.claim, epsilons)
        # spread evenly where the curve falls
        useful = np.unique(np.searchsorted(-np.log(np.maximum(deltas, 1e-12)),
                                           np.linspace(0, 27, 2 * _LINES)))  # fmt: skip
        chosen = np.unique(np.minimum(np.concatenate([[0], useful]), epsilons.size - 1))
        chosen = chosen[np.unique(np.linspace(0, chosen.size - 1, _LINES).astype(int))]
        curve = Lines(epsilons[chosen][None], deltas[chosen][None])
        grid = np.linspace(0, _LARGEST, _BEYOND + _BELOW_CLAIM + 1)[1:]
        self._claim_place = 0
        return curve, [curve, Lines(grid[:, None], np.full((grid.size, 1), self.delta))]

    def rounds(self) -> Iterator[int]:
        """Runs of each side that every round takes, up to the limit."""
        return iter(rounds(self.most_runs))

    def foretell(self) -> str:
        """Whether the claim can be refuted within the limit of runs, and how many that takes, in one sentence."""
        if self.least_runs is None:
            return f"No practicable number of runs can refute {self.claim}."
        if not self.possible:
            return (
                f"{self.claim} cannot be refuted within {self.most_runs} runs on each data set: "
                f"at least {self.least_runs} are needed."
            )
        fastest = foresight.runs_to_refute(self._claim_lines, self._level, self.most_runs, foresight.giveaway)
        if fastest is None:
            return (
                f"{self.claim} is unlikely to be refuted within {self.most_runs} runs on each data set: a function "
                "that revealed its data in every run would not be caught."
            )
        return (
            f"{self.claim} can be refuted within {self.most_runs} runs on each data set: a function that reveals its "
            f"data in every run is caught after {fastest}; smaller violations take more."
        )

    def see(self, left: ArrayLike, right: ArrayLike) -> None:
        """Take one round of runs: outputs on the two data sets, (runs,) or (runs, d) each, finite numbers.

        Raises `InvalidDataError` if the shapes differ from one another or from earlier rounds.
        """
        (p, p_lost), (q, q_lost) = as_floats(left, "left"), as_floats(right, "right")
        check_equal_shapes(p, q)
        if 16 * (self.runs + p.shape[0]) * p.shape[1] > _MOST_BYTES:
            raise InvalidDataError(
                f"The outputs of {self.runs + p.shape[0]} runs take more than {_MOST_BYTES / 2**30:g} GiB; allowed: "
                "fewer runs, or smaller outputs."
            )
        lost = np.flatnonzero(np.any(p_lost != 0, axis=0) | np.any(q_lost != 0, axis=0))
        self._extra.update(dict.fromkeys(lost.tolist()))
        if not self.runs:
            self._numbers = are_numbers(p, q)
        columns = list(self._extra)
        p, q = (
            np.concatenate([p, p_lost[:, columns]], axis=1),
            np.concatenate([q, q_lost[:, columns]], axis=1),
        )
        with one_thread():
            self._gamblers.see(p, q)
        self.runs += p.shape[0]
        first = self._gamblers.highest.size - self._grid.size
        refuted = self._gamblers.highest[first:] >= foresight.log_needed(self._bound_level)
        # what is refuted needs no more bets
        self._gamblers.retired[first:] |= refuted
        self._reached = int(refuted.argmin()) if not refuted.all() else refuted.size
        if self.violated and self.refuted_after is None:
            self.refuted_after = self.runs
            self._broken = self.log_evidence, self._last_bet(), self._shown()
            self._gamblers.retired[self._claim_place] = True

    @property
    def epsilon_lower(self) -> float:
        """Lower confidence bound so far, nats; 0 where nothing was refuted."""
        return float(self._grid[self._reached - 1]) if self.runs and self._reached else 0.0

    @property
    def violated(self) -> bool:
        """Whether the claim was refuted."""
        if not self.runs:
            return False
        if self._corner is not None:
            return self._reached > self._claim_place
        return bool(self._gamblers.highest[0] >= foresight.log_needed(self._level))

    @property
    def log_evidence(self) -> float:
        """Natural logarithm of the largest capital won against the claim so far."""
        return float(self._gamblers.highest[self._claim_place]) if self.runs else 0.0

    def so_far(self) -> str:
        """Runs, bound and evidence in one line."""
        won = f"evidence against the claim {math.exp(min(self.log_evidence, 600)):.3g}, of {1 / self._level:.3g} needed"
        if self.refuted_after is not None:
            won = f"the claim was refuted after {self.refuted_after}"
        return (
            f"{self.runs} of at most {self.most_runs} runs on each data set; "
            f"epsilon at least {at_least(self.epsilon_lower, 3)} at delta {self.delta:g}; {won}"
        )

    def result(self, *, stopped: str = "") -> SequentialAudit:
        """The verdict. `stopped` says why runs ended before the limit, where the claim was not refuted."""
        neighbors = f"; neighbors: {self._neighbors}"
        detectable, parameter, on_numbers, shown = "", None, None, None
        if self.violated:
            verdict, ended = Verdict.VIOLATED, "refutation"
            won, last_bet, shown = self._broken
            reason = (
                f"after {self.refuted_after} runs on each data set, bets against the claim had turned 1 into "
                f"{math.exp(min(won, 600)):.3g}; if it were true, the probability that they ever reach "
                f"{1 / self._level:.3g} would be at most {self._level:.3g}{last_bet}"
            )
        else:
            ended = stopped or "the limit of runs"
            detectable, parameter, on_numbers = self._detectable()
            if parameter is None:
                verdict, reason = Verdict.UNDECIDED, detectable
            else:
                verdict = Verdict.SUPPORTED
                lost = f"bets against the claim did not win enough in {self.runs} runs on each data set"
                scorers = LOW_BIT_SCORERS if self.low_bits else DEFAULT_SCORERS
                reason = f"{lost}; {not_looked_at(scorers)}"
            if stopped:
                reason += f"; ended early by {stopped}, before {self.most_runs} runs"
        return SequentialAudit(
            shown=shown,
            verdict=verdict,
            reason=reason + neighbors,
            claim=str(self.claim),
            epsilon_lower=self.epsilon_lower,
            delta=float(self.delta or 0.0),
            detectable=detectable,
            detectable_parameter=parameter,
            detectable_on_numbers=on_numbers,
            profile=self._points(),
            runs=self.runs,
            record=SequentialRecord(
                most_runs=self.most_runs,
                least_runs=self.least_runs,
                log_evidence=self.log_evidence,
                log_needed=foresight.log_needed(self._level),
                ended_by=ended,
                refuted_after=self.refuted_after,
            ),
            failure_probability=self._whole.failure_probability,
            shares=self._whole.spent(),
            seed=self.seed,
            adjacency=self._neighbors,
            gap=Gap.TOO_FEW_RUNS if verdict is Verdict.UNDECIDED else None,
            detects_nothing=verdict is Verdict.UNDECIDED,
        )

    def _last_bet(self) -> str:
        event = self._gamblers.events[self._claim_place]
        return "" if event is None else f"; last bet on {self.name_event(event)}"

    def _shown(self) -> ShownOutputs | None:
        """What the violation looks like."""
        last = self._gamblers.last_event(self._claim_place)
        if last is None:
            return None
        event, sides, inside = last
        return shown_outputs(sides, (inside[0], inside[1]), event, self.name_event)

    def _detectable(self) -> tuple[str, float | None, float | None]:
        runs = self.runs or self.most_runs  # none is made where none can refute the claim
        nothing = f"no violation of this claim can be found with {runs} runs"
        if self.least_runs is None or self.least_runs > self.runs:
            more = "" if self.least_runs is None else f"; at least {self.least_runs} would be needed"
            return nothing + more, None, None
        corner, lines = self._corner, self._claim_lines
        if corner is None:
            size = foresight.smallest_shift(lines, self._level, self.runs, Noise.NORMAL)
        else:
            size = foresight.smallest_violation(lines, self._level, self.runs, corner[1], above=corner[0])
        if size is None:
            return nothing, None, None
        shifted = None
        if corner is not None and self._numbers:
            noise = noise_of(corner[1])
            shift = foresight.smallest_shift(lines, self._level, self.runs, noise)
            shifted = None if shift is None else noise.epsilon(shift, corner[1])
        return telling_pair(corner, size, shifted), size, shifted

    def _points(self) -> tuple[ProfilePoint, ...]:
        """The claim, and what the bound says of the profile: it is above delta up to the bound."""
        bound, delta = self.epsilon_lower, float(self.delta or 0.0)
        top = max(1.1 * bound, 1.0)
        return shown_profile(self.claim, lambda epsilons: np.where(epsilons < bound, delta, 0.0), top)


class Watch(Protocol):
    """Looks on, and may end an audit early; whatever it ends it for, the verdict stays valid."""

    def begins(self, auditor: SequentialAuditor) -> None:
        """Nothing was run."""

    def stops(self, auditor: SequentialAuditor, size: int) -> str:
        """Why no round of `size` runs should begin; empty if it should."""

    def drawn(self, auditor: SequentialAuditor, size: int) -> None:
        """A round of `size` runs was drawn, and not looked at."""

    def seen(self, auditor: SequentialAuditor) -> None:
        """A round was looked at."""


class _Nobody:
    def begins(self, auditor: SequentialAuditor) -> None: ...

    def stops(self, auditor: SequentialAuditor, size: int) -> str:
        return ""

    def drawn(self, auditor: SequentialAuditor, size: int) -> None: ...

    def seen(self, auditor: SequentialAuditor) -> None: ...


@dataclass(frozen=True)
class BettingAuditor:
    """Draws rounds from a subject until the claim is refuted, all runs are made, or the watch ends it.

    Nothing is drawn where so many runs could not refute the claim. Bets go on after a refutation until `go_on` times as
    many runs are made, within the limit, because only that says how far the claim is off. Verdict and bound hold at all
    times at once, so when to stop may depend on them.
    """

    watch: Watch = field(default_factory=_Nobody)
    low_bits: bool = False
    """Bet on low bits, last decimals and repeated outputs only."""
    go_on: int = 1
    """How many times the runs that refuted a claim are made in all; 1: it ends there."""
    spends: ClassVar[bool] = True

    def audit(self, question: PrivacyQuestion, subject: PairSubject, error: ErrorShare) -> PrivacyEvidence:
        """Draw, bet, look; raises as `SequentialAuditor`."""
        auditor = SequentialAuditor(
            question.stated.guarantee,
            question.relation,
            error,
            question.label.seed,
            question.runs,
            question.delta,
            getattr(subject, "name_event", str),
            self.low_bits,
        )
        self.watch.begins(auditor)
        stopped = ""
        for size in auditor.rounds() if auditor.possible else ():
            if auditor.refuted_after is not None:
                size = min(size, self.go_on * auditor.refuted_after - auditor.runs)
                if size == 0:
                    break
            if stopped := self.watch.stops(auditor, size):
                break
            left, right = subject.draw(size)
            self.watch.drawn(auditor, size)
            auditor.see(left, right)
            self.watch.seen(auditor)
        found = auditor.result(stopped=stopped)
        return entry(found, question, subject, sequential=found.record)
