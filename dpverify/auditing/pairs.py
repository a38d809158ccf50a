"""The question about privacy: does a guarantee hold on this pair of data sets?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dpverify.auditing.claims import PrivacyFinding
from dpverify.auditing.contract import Origin, Question, recorded
from dpverify.auditing.events import NameEvent
from dpverify.auditing.faults import FACTORS
from dpverify.ledger.evidence import PrivacyEvidence, ProfilePoint
from dpverify.privacy.guarantees import Guarantee
from dpverify.privacy.stated import StatedGuarantee


class PairSubject(Protocol):
    """Something that runs on two neighboring data sets.

    Whoever can also run a weakened version of it has an attribute `faults`, `PlantedFaults`; an audit tries that out.
    Whoever knows the smallest epsilon on the pair has an attribute `exact`, from a delta to an interval, and the
    evidence sets it beside the bound.
    """

    def draw(self, count: int) -> tuple[ArrayLike, ArrayLike]:
        """The next `count` outputs on one data set and on the other, (count,) or (count, d) each.

        Runs of one data set are independent of one another and alike, from one call to the next as well.
        """


@dataclass(frozen=True)
class PlantedFaults:
    """Weakened versions of a mechanism, on which an audit is tried out; see `search_faults`."""

    weakened: Callable[[float], PairSubject] | None
    """From a factor above 1; None where there are none: the audit then is blind."""
    fault: str
    """What the factor does, such as `noise divided by`."""
    factors: Sequence[float] = FACTORS


@dataclass(frozen=True)
class PrivacyQuestion(Question):
    """Does this guarantee hold on this pair of data sets?"""

    stated: StatedGuarantee
    """With the neighboring relation that the two data sets stand for."""
    data: str
    """Which data set and which neighbor, in words."""
    runs: int
    """On each data set: exactly so many, or for an auditor that stops early at most."""
    best_known: Guarantee | None = None
    """What accounting proves beside it, where that is sharper somewhere: for the upper curve of the sandwich."""
    origin: Origin | None = None
    delta: float | None = None
    """Where epsilon is bounded; by default where the claim is, and for a curve 1e-5."""
    neighbors: str = ""
    """The neighboring relation in words, where whoever asks has better ones than the guarantee."""

    def epsilons(self, delta: float, subject: Any) -> dict[str, Any]:
        """What is claimed, proved and known at a delta, as fields of the entry; nats."""
        claimed = self.stated.guarantee.epsilon_at(delta)
        known = claimed if self.best_known is None else min(claimed, self.best_known.epsilon_at(delta))
        # a claim without an origin is somebody's word, which proves nothing
        proved = self.origin is not None or self.best_known is not None
        exact = getattr(subject, "exact", None)
        return {
            "epsilon_claimed": claimed,
            "epsilon_proved": known if proved else None,
            "epsilon_exact": None if exact is None else exact(delta),
        }

    @property
    def relation(self) -> str:
        """The neighboring relation, as verdicts name it."""
        return self.neighbors or self.stated.adjacency

    @property
    def conditions(self) -> tuple[str, ...]:
        """Under which the guarantee is claimed, in words."""
        return tuple(str(condition) for condition in self.stated.conditions)

    def fields(self) -> dict[str, Any]:
        """What every entry about this question says of it."""
        about = {"data": self.data, "conditions": self.conditions}
        return {**self.over_entry(), **recorded(self.origin), **about}


@dataclass(frozen=True)
class GivenSamples:
    """Outputs that were drawn before, (runs,) or (runs, d) each: a subject that gives them once."""

    left: ArrayLike
    right: ArrayLike
    name_event: NameEvent = str
    """What an event of these outputs is called."""
    needs: Mapping[int, int] | None = None
    """Columns that say something only where another one varies: see `Encoder.needs`."""

    def draw(self, count: int) -> tuple[ArrayLike, ArrayLike]:
        """All of them, whatever the count; auditors refuse sides of different shapes."""
        return self.left, self.right


def entry(
    found: PrivacyFinding, question: PrivacyQuestion, subject: PairSubject, **beside: Any
) -> PrivacyEvidence:
    """What an audit of privacy found, as evidence; `beside` are fields that only one kind of audit has."""
    epsilons = question.epsilons(found.delta, subject)
    profile = sandwiched(found.profile, question)
    return question.entry(PrivacyEvidence, found, profile=profile, **epsilons, **beside)


def sandwiched(profile: tuple[ProfilePoint, ...], question: PrivacyQuestion) -> tuple[ProfilePoint, ...]:
    """The points with the best known upper bound on them, where there is one beside the claim."""
    best = question.best_known
    if best is None:
        return profile
    epsilons = np.array([point.epsilon for point in profile])
    claimed = question.stated.guarantee.privacy_profile(epsilons)
    upper = np.minimum(claimed, np.asarray(best.privacy_profile(epsilons), dtype=np.float64))
    return tuple(
        point.model_copy(update={"delta_upper": float(delta)})
        for point, delta in zip(profile, upper, strict=True)
    )
