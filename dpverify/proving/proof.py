"""What a prover hands back, and what a prover is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import OutOfScopeError, TooLargeError
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.certificates import certificate
from dpverify.proving.problem import ProofProblem

PROVER_VERDICTS = (
    Verdict.PROVED, Verdict.CERTIFIED, Verdict.REFUTED, Verdict.DOES_NOT_FOLLOW, Verdict.UNDECIDED,
)  # fmt: skip


STOPPED_BY_THE_CLOCK = "stopped by the clock, which on a faster machine might not have happened"
"""What is said, and nothing else is, of work that a far wall-clock guard ended."""


STOPPED_BY_MEMORY = "it took more memory than one row may, which no count foresaw"


_TELLING = (
    Gap.CLOCK, Gap.MEMORY, Gap.CONTRADICTORY_ASSUMPTIONS, Gap.NO_WITNESS, Gap.CONTACT_POINT, Gap.UNBOUNDED_DOMAIN,
    Gap.EFFORT_SPENT, Gap.MISSING_HYPOTHESIS, Gap.UNSUPPORTED_FUNCTION, Gap.NO_METHOD,
)  # fmt: skip
"""Reasons of provers, first the one to work off first where several gave up."""


def most_telling(gaps: Iterable[Gap | None]) -> Gap:
    """The reason to name where there are several; that no method applies where there is none."""
    return min((gap for gap in gaps if gap in _TELLING), key=_TELLING.index, default=Gap.NO_METHOD)


class UnshownError(OutOfScopeError):
    """A condition is not shown without which nothing is proved."""


def gap_of(error: OutOfScopeError) -> Gap:
    """Why something that is not handled leaves a formula undecided."""
    if isinstance(error, UnshownError):
        return Gap.MISSING_HYPOTHESIS
    return Gap.EFFORT_SPENT if isinstance(error, TooLargeError) else Gap.UNSUPPORTED_FUNCTION


@dataclass(frozen=True)
class Budget:
    """How much work one attempt of one prover may do.

    All limits are counts, so that answers do not depend on the machine: `boxes` and `operations` (of balls) for
    boxes, `units` for each question to z3 in z3's own count of its work, `steps` for algebra and evaluation;
    searches have fixed numbers of points. A prover that reaches a limit gives up; it never answers more weakly
    because the limit was near. `guard` seconds, of CPU time where the work is algebra, end whatever hangs all the
    same, far beyond what counted work takes; a proof says where that happened (`stopped_by_the_clock`).
    """

    boxes: int = 400_000
    operations: int = 10_000_000
    units: int = 500_000
    steps: int = 5_000_000
    guard: float = 300.0

    def __post_init__(self) -> None:
        require(0 < self.guard < float("inf"), "guard", self.guard, "a positive finite number of seconds")
        for name in ("boxes", "operations", "units", "steps"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not value >= 1:
                raise InvalidArgumentError(name, value, "a positive integer")


@dataclass(frozen=True)
class Proof:
    """The outcome for one problem.

    Only `proved`, `certified`, `refuted`, `does not follow` and `undecided` occur; all but the last come with a
    certificate, which says `refuted` of what does not follow: arithmetic knows no functionals.
    Numbers are exact strings ("-7/2") where they are rational, decimals otherwise.
    """

    verdict: Verdict
    prover: str = "none"
    certificate: Json | None = None
    """The certificate of docs/certificates.md, as JSON."""
    counterexample: Mapping[str, str] | None = None
    """For `refuted`: symbol to exact value."""
    left: str | None = None
    """For `refuted`: the left side at the counterexample (for units, the left side's unit)."""
    right: str | None = None
    box: Mapping[str, tuple[str, str]] | None = None
    """For `certified`: the box on which the claim holds."""
    boxes: int | None = None
    """Number of boxes in the certificate's tree."""
    reason: str = ""
    """For `undecided`: what was tried and what stopped it; for other verdicts a remark, or nothing."""
    gap: Gap | None = None
    """For `undecided`, and only then: which of the known reasons it is."""
    seconds: float = field(default=0.0, compare=False)
    witness: Mapping[str, str] | None = None
    """A confirmed point of domain, box and assumptions: symbol to exact value."""
    stopped_by_the_clock: bool = False
    """Whether some wall-clock guard ended work, so that the verdict depends on the machine."""
    written_out: bool = False
    """Whether it is about the form in which letters that stand for formulas are replaced."""

    def __post_init__(self) -> None:
        if not isinstance(self.verdict, Verdict) or self.verdict not in PROVER_VERDICTS:
            raise InvalidArgumentError("verdict", self.verdict, ", ".join(PROVER_VERDICTS))
        if (self.verdict is Verdict.UNDECIDED) != (self.certificate is None):
            raise InvalidArgumentError("certificate", self.certificate, "one for every verdict but undecided")
        if self.verdict is not Verdict.UNDECIDED and self.gap is not None:
            raise InvalidArgumentError("gap", self.gap, "none where something was decided")
        if self.verdict is Verdict.UNDECIDED and self.gap is None:
            object.__setattr__(self, "gap", Gap.NO_METHOD)
        for name in ("counterexample", "box", "witness"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, MappingProxyType(dict(value)))


class Prover(Protocol):
    """Something that may settle a problem.

    `attempt` returns a proof, or None where the problem is none of its business; a prover that tried and
    failed returns `undecided` with a reason. A prover sees the problem alone: no expected verdict, no name
    of a statement.
    """

    @property
    def name(self) -> str:
        """A short name for the ledger."""

    def attempt(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Try to prove or refute."""


def settled(problem: ProofProblem, verdict: Verdict, steps: Json, **more: Any) -> Proof:
    """The proof whose certificate has these steps."""
    return Proof(verdict, certificate=certificate(problem, verdict, steps), **more)


def proved(problem: ProofProblem, steps: Json) -> Proof:
    """The same of what holds exactly, everywhere."""
    return settled(problem, Verdict.PROVED, steps)


def together(problem: ProofProblem, parts: Sequence[Proof], steps: Json, **more: Any) -> Proof:
    """What the proofs of all parts show together: as much as the weakest, on all boxes."""
    box = {name: ends for part in parts for name, ends in (part.box or {}).items()}
    boxes = sum(part.boxes or 0 for part in parts) or None
    if any(part.verdict is Verdict.CERTIFIED for part in parts):
        return settled(problem, Verdict.CERTIFIED, steps, box=box, boxes=boxes, **more)
    return settled(problem, Verdict.PROVED, steps, boxes=boxes, **more)


def undecided(reason: str, gap: Gap | None = None) -> Proof:
    """That nothing was found, and why."""
    return Proof(Verdict.UNDECIDED, reason=reason, gap=gap)


class NamedProver(ABC):
    """A prover whose proofs get its name; what is out of its scope is undecided."""

    name: str

    def attempt(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Try to prove or refute."""
        try:
            found = self.settle(problem, budget)
        except OutOfScopeError as error:
            found = undecided(str(error), gap_of(error))
        return None if found is None else replace(found, prover=self.name)

    @abstractmethod
    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """The same, without the name."""


Prove = Callable[[ProofProblem, Budget, tuple[Prover, ...]], Proof]
"""Settles a problem with the first prover that can."""


def shown(part: Proof) -> dict[str, Json] | None:
    """Proof and witness of a part that is proved, as certificates have them; None of another."""
    if part.verdict is not Verdict.PROVED or part.certificate is None:
        return None
    return {"proof": part.certificate["proof"], "witness": part.certificate.get("witness")}


class ProverByParts(NamedProver):
    """A prover that makes other problems of one, for `prove` with some provers."""

    def __init__(self, prove: Prove, provers: Sequence[Prover]) -> None:
        self._prove, self._provers = prove, tuple(provers)
