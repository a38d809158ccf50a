"""The auditor that knows the last noise of an iterative mechanism, and the steps before it, or the law of its outputs.

Where the law of a number of the outputs is stated, all is computed from that (`stated_laws`), and the failure
probability is for the comparison of outputs with it. The rest is about stated structures.

What is known. The structure x_t = Proj(move_t(x_{t-1}) + N(0, s_t^2 I)) of which the last state is released, on both
data sets. Given the state before the last noise, the law of the output is known exactly; averaged over simulated
states, the conditional densities are an unbiased estimate of the output's. As densities these averages are random,
and no ratio of them bounds anything. Probabilities of an event that was fixed before are another matter:

1. The event is a half-space E = {<u, x> >= t}. Direction, threshold, order of the sides, cuts and bets are chosen on
   learning runs; all that follows uses runs of their own, so that they count as constants there.
2. P(E | state before the last noise) is known (`half_spaces`), a number in [0, 1] whose mean is P(E). So P(E) and
   Q(E) get confidence bounds for means, which are exact at every number of runs (`bounds`).
3. P(E) from below. Earlier noise is pushed towards E, by an amount drawn from four, one of which is 0; the value is
   multiplied by the ratio of the stated density of that noise to the pushed one, at most 4. Such values are nonnegative
   with mean P(E). A lower bound needs no upper bound of theirs; what exceeds a cut that learning chose is lost,
   which only lowers the mean.
4. Q(E) from above. Here weights do not help: states of probability 3/N that make E certain may never be seen in N runs,
   pushed or not, so runs alone never show less than about 3/N. What excludes such states is how the released state
   depends on the noise. Where every map's Lipschitz constant is stated, <u, x_T> is a Lipschitz function of all
   standard normal numbers together (projections bring points no farther apart), and Gaussian isoperimetry carries a
   bound on a nearer half-space {<u, x> >= s}, of which many runs are seen, out to E. Without the constants, s = t.
   Where states lie in a bounded set, no value exceeds what the farthest of them has, and 3/N becomes that part of it.
5. Or both at once, where the sides are close: the two structures are run on the same noise, and the mean of
   P(E | .) - e^epsilon Q(E | .), in [-e^epsilon, 1], is tested. Epsilons rise along a list made by learning until
   one is not rejected: one level serves them all.
6. delta(epsilon) >= P(E) - e^epsilon Q(E). The level of the bound goes to one way, the one that learning promises
   more of: halves for P and Q, or all to the differences.
7. The structure itself is tested: outputs of the mechanism against outputs of the structure (`agreement`), with a
   tenth of the failure probability. Where they disagree, nothing is concluded. Where they agree, every verdict still
   says that it rests on the structure, since a wrong tail does not show in a few outputs.

An upper bound of the profile is not given: it would need all events, and densities are known only as averages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.auditing.claims import (
    Claim,
    PrivacyFinding,
    checked_claim,
    claimed_deltas,
    delta_of,
    shown_profile,
    stated_corner,
)
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.events import Direction
from dpverify.auditing.faults import tried_out
from dpverify.auditing.pairs import PairSubject, PlantedFaults, PrivacyQuestion, entry
from dpverify.auditing.white_box.agreement import Agreement, compare, compare_with_laws
from dpverify.auditing.white_box.bounds import bet_size, mean_lower, mean_upper, rules_out, tail_of_parts
from dpverify.auditing.white_box.choice import PUSHES, Choice, choose
from dpverify.auditing.white_box.half_spaces import half_space
from dpverify.auditing.white_box.simulation import blocks
from dpverify.auditing.white_box.stated_laws import StatedLaw, known_bound
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.ledger.written_numbers import at_least
from dpverify.running import StatedStructure

FEWEST_RUNS = 1000
_MOST_LEARNING = 20_000
_MOST_COMPARED = 100_000
_STRUCTURE_WEIGHT = 0.1
_MORE, _LESS, _BOTH = 20, 21, 22
_RISING = (0.0, 0.25, 0.5, 0.7, 0.8, 0.85, 0.9, 0.92, 0.94, *(0.95 + 0.0015 * k for k in range(50)))
"""Epsilons that are tested one after another, relative to what learning promises."""
_COMPARED = (*(0.05 * k for k in range(200)), *(10.0 + 0.5 * k for k in range(101)))
"""Where bounds are compared with a claim, besides its corner; nats."""
_POINTS = 65
_LEAST_SHOWN = 1.0


class StructuredPair(PairSubject, Protocol):
    """Something that runs on two neighboring data sets, and says how.

    Whoever knows the law of a number of the outputs on both has an attribute `laws` instead, two `StatedLaw`s.
    """

    @property
    def structures(self) -> tuple[StatedStructure, StatedStructure]:
        """What is stated of the runs on each data set."""


@dataclass(frozen=True)
class Stated:
    """Outputs that a subject draws, with what is stated of them on the two data sets."""

    subject: PairSubject
    structures: tuple[StatedStructure, StatedStructure]

    def draw(self, count: int) -> tuple[ArrayLike, ArrayLike]:
        """What the subject draws."""
        return self.subject.draw(count)


@dataclass(frozen=True)
class _Found:
    """A bound that holds, for one half-space."""

    epsilon: float
    below: Callable[[FloatArray], FloatArray]
    """Lower bound of the profile at epsilons."""
    claim_fails: bool

    def also(self, other: _Found) -> _Found:
        """Two bounds that both hold."""
        return _Found(
            max(self.epsilon, other.epsilon),
            lambda epsilons: np.maximum(self.below(epsilons), other.below(epsilons)),
            self.claim_fails or other.claim_fails,
        )


@dataclass(frozen=True)
class WhiteBoxAuditor:
    """Lower-bounds the profile on a pair by what is known of the steps; see the module.

    Where the subject has `faults`, a claim is supported only if the mechanism is flagged with its noise divided.
    """

    spends: ClassVar[bool] = True

    def audit(self, question: PrivacyQuestion, subject: StructuredPair, error: ErrorShare) -> PrivacyEvidence:
        """Compare some outputs with the structure, simulate it, bound, and compare with the claim.

        `question.runs` is the number of simulated runs on each data set; at most 100,000 outputs are drawn besides.
        Raises `InvalidArgumentError` for a claim, delta or number of runs that cannot be used, and for structures that
        do not go together, and `InvalidDataError` for outputs of another shape than is stated.
        """
        whole = ErrorShare.of(error)
        asked = _Asked.of(question)
        found, agreement = _examined(asked, subject, whole)
        verdict, gap, reason = _verdict(found, agreement, asked.delta)
        shown = max(1.1 * found.epsilon, _LEAST_SHOWN)
        finding = PrivacyFinding(
            verdict=verdict,
            reason=f"{reason}; neighbors: {question.relation}",
            claim=str(asked.claim),
            epsilon_lower=found.epsilon,
            delta=asked.delta,
            detectable="",
            profile=shown_profile(asked.claim, found.below, shown, points=_POINTS),
            runs=asked.runs,
            failure_probability=whole.failure_probability,
            shares=whole.spent(),
            seed=asked.seed,
            adjacency=question.relation,
            gap=gap,
            detects_nothing=verdict is Verdict.UNDECIDED,
        )
        below = f"on this pair, any claimed epsilon below {found.epsilon:.4g} at delta {asked.delta:.4g}"
        by_law = agreement.stated == "law"
        evidence = entry(finding, question, subject, white_box=True, stated_law=by_law)
        evidence = evidence.but(detectable=below if found.epsilon > 0 else "")
        faults: PlantedFaults | None = getattr(subject, "faults", None)
        if faults is None:
            return evidence
        weakened: Any = faults.weakened

        def flagged(factor: float) -> bool:
            share = ErrorShare(evidence.failure_probability)
            return _examined(asked, weakened(factor), share)[0].claim_fails

        found_out = tried_out(flagged if weakened else None, faults.fault, faults.factors, evidence)
        return evidence.but(**found_out)


@dataclass(frozen=True)
class _Asked:
    """A question, checked, with the claim's deltas where bounds are compared with it."""

    claim: Claim
    corner: tuple[float, float] | None
    delta: float
    runs: int
    seed: int
    epsilons: FloatArray
    deltas: FloatArray

    @property
    def learning(self) -> int:
        """Runs on each side for each of the three things that are learned."""
        return min(self.runs // 10, _MOST_LEARNING)

    @property
    def judging(self) -> int:
        """Runs on each side that the bounds rest on."""
        return self.runs - 3 * self.learning

    @classmethod
    def of(cls, question: PrivacyQuestion) -> _Asked:
        claim = checked_claim(question.stated.guarantee)
        runs = checks.whole_number("runs", question.runs, at_least=FEWEST_RUNS)
        seed = checks.whole_number("seed", question.label.seed, at_least=0, at_most=None)
        corner = stated_corner(claim)
        delta = delta_of(claim, question.delta)
        epsilons = np.unique([*_COMPARED, *(corner[:1] if corner else ())])
        return cls(claim, corner, delta, runs, seed, epsilons, claimed_deltas(claim, epsilons))


def _examined(asked: _Asked, subject: StructuredPair, whole: ErrorShare) -> tuple[_Found, Agreement]:
    """Bounds, and whether outputs agree with what they rest on."""
    laws = getattr(subject, "laws", None)
    if laws is not None:
        return _known(asked, subject, laws, whole)
    sides, seed = _checked_structures(subject), asked.seed
    test, bound = whole.split("structure", "bound", weights=(_STRUCTURE_WEIGHT, 1 - _STRUCTURE_WEIGHT))
    chosen = choose(
        sides,
        delta=asked.delta,
        learning=asked.learning,
        judging=asked.judging,
        level=bound.failure_probability,
        seed=seed,
        claimed=None if asked.corner else (asked.epsilons, asked.deltas),
    )
    agreement = compare(
        subject.draw(min(asked.runs, _MOST_COMPARED)),
        sides,
        chosen.at_delta.direction,
        test.spend("outputs against outputs of the stated structure"),
        seed,
    )
    if chosen.for_claim is None:
        found = _judged(chosen.at_delta, sides, asked, bound)
    else:
        at_delta, for_claim = bound.split("at delta", "claim")
        found = _judged(chosen.at_delta, sides, asked, at_delta)
        found = found.also(_judged(chosen.for_claim, sides, asked, for_claim))
    if agreement.contradiction:
        found = replace(found, epsilon=0.0, below=np.zeros_like, claim_fails=False)
    return found, agreement


def _known(
    asked: _Asked, subject: PairSubject, laws: tuple[StatedLaw, StatedLaw], whole: ErrorShare
) -> tuple[_Found, Agreement]:
    """What stated laws show, and whether outputs agree with them."""
    level = whole.spend("outputs against the stated law")
    agreement = compare_with_laws(subject.draw(min(asked.runs, _MOST_COMPARED)), laws, level)
    if agreement.contradiction:
        return _Found(0.0, np.zeros_like, False), agreement
    bound = known_bound(*laws)
    fails = bool(np.any(bound.delta(asked.epsilons) > asked.deltas))
    return _Found(bound.epsilon(asked.delta), bound.delta, fails), agreement


def _checked_structures(subject: StructuredPair) -> tuple[StatedStructure, StatedStructure]:
    sides = subject.structures
    if len(sides) != 2 or not all(isinstance(side, StatedStructure) for side in sides):
        raise InvalidArgumentError("structures", sides, "two StatedStructures")
    if sides[0].dimension != sides[1].dimension:
        both = tuple(side.dimension for side in sides)
        raise InvalidArgumentError("structures", both, "structures of one dimension")
    for side, name in zip(sides, ("left", "right"), strict=True):
        start = np.asarray(side.start)[None, :]
        for t, step in enumerate(side.steps, start=1):
            one, other = (step.images(start, np.random.default_rng(k)) for k in (0, 1))
            if not step.draws and not np.array_equal(one, other):
                raise InvalidDataError(
                    f"Stated step {t} on the {name} data set gives different images of one state; allowed: a map that "
                    "draws nothing, or draws=True."
                )
    return sides


def _judged(
    choice: Choice, sides: tuple[StatedStructure, StatedStructure], asked: _Asked, bound: ErrorShare
) -> _Found:
    """The bound that was chosen, from runs of its own."""
    delta, runs = asked.delta, asked.judging
    more, less = sides if choice.order is Direction.LEFT_OVER_RIGHT else (sides[1], sides[0])
    if choice.nearer is None:
        level = bound.spend("differences of conditional probabilities on the same noise, epsilon by epsilon")
        return _together(choice, more, less, asked, level)
    below, above = bound.split("P(E)", "Q(E)")
    level = below.spend("the mean of weighted conditional probabilities, from below")
    values = _values(choice, more, choice.threshold, asked, _MORE, PUSHES) / choice.cap
    p = choice.cap * mean_lower(np.minimum(values, 1.0), bet_size(choice.variances[0], runs, level), level)
    level = above.spend("the mean of conditional probabilities, from above")
    largest = len(choice.pushes) * choice.largest
    values = _within(_values(choice, less, choice.nearer, asked, _LESS, choice.pushes), largest) / largest
    near = largest * mean_upper(values, bet_size(choice.variances[1], runs, level), level)
    distance = np.asarray(choice.threshold - choice.nearer)
    q = float(tail_of_parts(np.asarray(near), distance, less.parts))

    def at(epsilon: FloatArray) -> FloatArray:
        return np.maximum(p - np.exp(np.minimum(epsilon, 700.0)) * q, 0.0)

    epsilon = max(0.0, math.log((p - delta) / q)) if p > delta and q > 0 else 0.0
    return _Found(epsilon, at, bool(np.any(at(asked.epsilons) > asked.deltas)))


def _together(
    choice: Choice, more: StatedStructure, less: StatedStructure, asked: _Asked, level: float
) -> _Found:
    delta = asked.delta
    p, q = (_values(choice, side, choice.threshold, asked, _BOTH, choice.pushes) for side in (more, less))
    top, bottom = float(len(choice.pushes)), len(choice.pushes) * choice.largest
    q = _within(q, bottom)
    bet = bet_size(choice.variances[1], asked.judging, level)
    rejected = None
    for epsilon in max(choice.epsilon, 0.0) * np.array(_RISING):
        growth = math.exp(epsilon)
        # from [-growth bottom, top] to [0, 1]
        scale = top + growth * bottom
        moved = np.maximum((p - growth * q + growth * bottom) / scale, 0.0)
        if not rules_out(moved, (delta + growth * bottom) / scale, bet, level):
            break
        rejected = float(epsilon)
    if rejected is None:
        return _Found(0.0, np.zeros_like, False)
    reached = rejected
    # the true profile is above delta there
    fails = bool(claimed_deltas(asked.claim, np.array([reached]))[0] <= delta)
    return _Found(reached, lambda epsilon: np.where(epsilon <= reached, delta, 0.0), fails)


def _values(
    choice: Choice,
    side: StatedStructure,
    threshold: float,
    asked: _Asked,
    stage: int,
    pushes: tuple[float, ...],
) -> FloatArray:
    """Conditional probabilities of the half-space, with weights where noise is pushed, (runs,)."""
    direction, found = choice.direction, []
    simulated = blocks(side, asked.judging, seed=asked.seed, stage=stage, direction=direction, pushes=pushes)
    for before in simulated:
        inside = half_space(before, direction, np.array([threshold]), side.constraint)[0]
        found.append(inside if len(pushes) == 1 else before.likelihood(pushes) * inside)
    return np.concatenate(found)


def _within(values: FloatArray, largest: float) -> FloatArray:
    """Values that do not exceed what the last map's Lipschitz constant allows; if they do, it was not one."""
    if not float(values.max()) <= largest * (1 + 1e-6):
        raise InvalidDataError(
            "The last stated step takes a state of the set farther than its lipschitz_constant allows; allowed: a "
            "constant that holds on the whole set."
        )
    return np.minimum(values, largest)


def _verdict(found: _Found, agreement: Agreement, delta: float) -> tuple[Verdict, Gap | None, str]:
    rests = (
        f"given the stated {agreement.stated}, with which {agreement.runs} outputs on each data set agree up to "
        f"{agreement.width:.2g} in their distribution functions"
    )
    if agreement.contradiction:
        why = f"outputs contradict the stated {agreement.stated}, so nothing follows from it"
        return Verdict.UNDECIDED, Gap.CONTRADICTORY_ASSUMPTIONS, f"{why}: {agreement.contradiction}"
    if found.claim_fails:
        says = f"epsilon at delta {delta:.4g} is at least {at_least(found.epsilon)}, which exceeds the claim"
        return Verdict.VIOLATED, None, f"{says}; {rests}"
    if not found.epsilon > 0:
        blind = "sees nothing here: no event that is looked at tells the sides apart"
        return Verdict.UNDECIDED, Gap.BLIND_AUDIT, f"{blind}; {rests}"
    return Verdict.SUPPORTED, None, f"the lower bound does not exceed the claim; {rests}"
