"""What an auditor is: a question, a subject and a share of the failure probability in, evidence out.

An auditor is one file that has an `Auditor`; the rules of its verdict are there and nowhere else. Questions are frozen
objects, a class for each kind, and stand beside their auditor. Nothing here is about samples: an auditor that compares
a number with a computed one takes a subject that cannot be run, or none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol, Self, TypeVar

from dpverify.auditing.error_share import ErrorShare
from dpverify.ledger.audits import AuditEvidence, ClaimOrigin

QuestionT = TypeVar("QuestionT", contravariant=True)
SubjectT = TypeVar("SubjectT", contravariant=True)
EvidenceT = TypeVar("EvidenceT", bound=AuditEvidence, covariant=True)
KindT = TypeVar("KindT", bound=AuditEvidence)


class Auditor(Protocol[QuestionT, SubjectT, EvidenceT]):
    """Answers one kind of question."""

    @property
    def spends(self) -> bool:
        """Whether it needs a part of the failure probability; one that does not leaves its share as it is."""

    def audit(self, question: QuestionT, subject: SubjectT, error: ErrorShare) -> EvidenceT:
        """Find evidence that is wrong with at most the share's probability, which it spends."""


class Origin(Protocol):
    """Where a claim comes from, and whether it is what stands there."""

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""


@dataclass(frozen=True)
class Label:
    """What stands over an entry of the ledger: only whoever asks knows it."""

    subject: str = ""
    """A statement id, or what a user calls it."""
    title: str = ""
    reproduce: str = ""
    """The command line that asks again."""
    seed: int = 0
    """Of all randomness: the mechanism's, and the auditor's own."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What all questions have; a kind of question is a frozen dataclass on top of it."""

    label: Label = Label()

    def headed(self, label: Label) -> Self:
        """The same question under a label."""
        return replace(self, label=label)

    def over_entry(self) -> dict[str, Any]:
        """The label as the fields that every entry has."""
        label = self.label
        return {"subject": label.subject, "title": label.title, "reproduce": label.reproduce}

    def entry(self, kind: type[KindT], *found: object, **given: Any) -> KindT:
        """Evidence: what is not given has the same name in what was found, the label or the question, in this order."""
        where = recorded(given.pop("origin", getattr(self, "origin", None)))
        fields = {name: value for name, value in where.items() if name in kind.model_fields} | given
        for name in kind.model_fields.keys() - {"origin", *fields}:
            for source in (*found, self.label, self):
                if hasattr(source, name):
                    fields[name] = getattr(source, name)
                    break
        return kind(**fields)


def recorded(origin: Origin | None) -> dict[str, Any]:
    """Where a claim comes from, also in the one field that ledgers have always had for it."""
    if origin is None:
        return {}
    record = origin.record()
    return {"origin": record, "claim_source": record.source}


class Relation(StrEnum):
    """A measured number must be at most the claimed one, for an upper bound, or equal to it."""

    AT_MOST = "<="
    EQUAL = "="
