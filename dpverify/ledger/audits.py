"""What every audit leaves behind, and how a kind of audit is made known."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from pydantic import ConfigDict

from dpverify.ledger.notebooks import html_table
from dpverify.ledger.records import Record, SpentShare
from dpverify.ledger.verdicts import Gap, Verdict


class ClaimForm(StrEnum):
    """How a claim relates to what its source prints."""

    AS_PRINTED = "as printed"
    CORRECTED = "corrected"
    UNSTATED = "unstated"
    """Nothing is claimed: a measurement."""
    NOT_COMPARED = "not compared"
    """It has not been compared with the paper."""


class ClaimOrigin(Record):
    """Where a claim comes from, and whether it is what the source prints."""

    form: ClaimForm
    source: str = ""
    """The statement or algorithm, by its id."""
    printed: str = ""
    """The number or formula that its source prints."""
    because: str = ""
    """For a corrected claim what was corrected, for an unstated one why there is none."""
    holds_for: str = ""
    """The range in which it is claimed."""


KINDS: dict[str, type[AuditEvidence]] = {}


class AuditEvidence(Record):
    """What every audit leaves behind. A kind of audit is a subclass with a literal `kind` that has a default.

    To define the class is enough for its entries to be read. Raises `TypeError` for a kind that is taken.
    """

    if TYPE_CHECKING:
        kind: str

    subject: str
    """A statement id such as `fmtt18.alg1`, or a user's `package.module:function`."""
    title: str
    verdict: Verdict
    reason: str = ""
    gap: Gap | None = None
    """For `undecided`: which of the known reasons it is."""
    reproduce: str
    origin: ClaimOrigin | None = None
    """None if a user makes the claim."""
    size: tuple[int, int] | None = None
    """Records and features of the largest data set that was run on; None if none was, or where it is not said."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        field = cls.model_fields.get("kind")
        if field is None or not isinstance(field.default, str):
            return
        taken = KINDS.setdefault(field.default, cls)
        if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"kind {field.default!r} of {cls.__name__} is taken by {taken.__name__}")
        KINDS[field.default] = cls

    def sized(self, size: tuple[int, int] | None) -> Self:
        """The same with the size of its data."""
        return self if size is None else self.model_copy(update={"size": size})

    def timed(self, seconds: float) -> Self:
        """The same with the time that it took, where that is recorded."""
        return self

    def spent(self) -> tuple[SpentShare, ...]:
        """What failure probability was spent on it, and why."""
        return ()

    def _repr_html_(self) -> str:
        """For notebooks: what every kind of audit has, and the numbers that most have."""
        rows: list[tuple[str, object]] = [("title", self.title)]
        rows.append(("claim", getattr(self, "full_claim", getattr(self, "claim", None))))
        for name in ("epsilon_lower", "delta", "adjacency", "runs", "failure_probability", "seed"):
            rows.append((name.replace("_", " "), getattr(self, name, None)))
        return html_table(
            f"{self.subject or self.title}: {self.verdict}",
            [*rows, ("why", self.reason), ("reproduce", self.reproduce)],
        )

    def lines(self) -> list[str]:
        """What a failing test prints."""
        about = ": ".join(part for part in (self.subject, self.title) if part)
        found = [f"{about} is {self.verdict}. {self.reason}".strip()]
        return [*found, *([f"reproduce: {self.reproduce}"] if self.reproduce else [])]


class SampledEvidence(AuditEvidence):
    """What an audit whose verdict rests on independent runs leaves behind."""

    runs: int
    failure_probability: float
    shares: tuple[SpentShare, ...] = ()
    """How the audit divided its failure probability; empty if it did not."""
    seed: int
    seconds: float = 0.0
    detects_nothing: bool = False
    """True where it is undecided because no fault that was tried would have been noticed."""

    def timed(self, seconds: float) -> Self:
        return self.model_copy(update={"seconds": round(seconds, 3)})

    def spent(self) -> tuple[SpentShare, ...]:
        return self.shares

    def lines(self) -> list[str]:
        spent = "; ".join(f"{part.failure_probability:.3g} on {part.why}" for part in self.shares)
        of = f", spent: {spent}" if spent else ""
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        found = f"{runs}, seed {self.seed}, failure probability {self.failure_probability:g}{of}"
        first, *rest = super().lines()
        return [first, found, *rest]


class ForeignEvidence(AuditEvidence):
    """An entry of a kind whose class is not loaded: what every audit has is read, the rest is kept as it is."""

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: str
