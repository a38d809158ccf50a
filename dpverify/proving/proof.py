"""What a prover hands back, and what a prover is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Verdict
from dpverify.proving.language import Json, Obligation

PROVER_VERDICTS = (Verdict.PROVED, Verdict.CERTIFIED, Verdict.REFUTED, Verdict.UNDECIDED)


@dataclass(frozen=True)
class Budget:
    """How much work one attempt of one prover may do.

    `boxes` limits interval evaluations, `units` each question to z3 in z3's own count of its work, and
    searches have fixed numbers of points, so that answers do not depend on the machine. `seconds` limits the
    wall time of boxes; `guard` ends, far beyond what the counted work takes, whatever hangs all the same.
    A prover that reaches a limit gives up; it never answers more weakly because the limit was near.
    """

    seconds: float = 60.0
    boxes: int = 400_000
    units: int = 500_000
    guard: float = 120.0

    def __post_init__(self) -> None:
        for name in ("seconds", "guard"):
            if not 0 < getattr(self, name) < float("inf"):
                raise InvalidArgumentError(name, getattr(self, name), "a positive finite number")
        for name in ("boxes", "units"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not value >= 1:
                raise InvalidArgumentError(name, value, "a positive integer")


@dataclass(frozen=True)
class Proof:
    """The outcome for one obligation.

    Only `proved`, `certified`, `refuted` and `undecided` occur; all but the last come with a certificate.
    Numbers are exact strings ("-7/2") where they are rational, decimals otherwise.
    """

    verdict: Verdict
    prover: str
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
    seconds: float = field(default=0.0, compare=False)

    def __post_init__(self) -> None:
        if self.verdict not in PROVER_VERDICTS:
            raise InvalidArgumentError("verdict", self.verdict, "proved, certified, refuted or undecided")
        if (self.verdict is Verdict.UNDECIDED) != (self.certificate is None):
            raise InvalidArgumentError("certificate", self.certificate, "one for every verdict but undecided")
        for name in ("counterexample", "box"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, MappingProxyType(dict(value)))


class Prover(Protocol):
    """Something that may settle an obligation.

    `attempt` returns a proof, or None where the obligation is none of its business; a prover that tried and
    failed returns `undecided` with a reason. A prover sees the obligation alone: no expected verdict, no name
    of a statement.
    """

    @property
    def name(self) -> str:
        """A short name for the ledger."""

    def attempt(self, obligation: Obligation, budget: Budget) -> Proof | None:
        """Try to prove or refute."""
