"""What a view of an audit is, with defaults that suit any audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dpverify.ledger.audits import AuditEvidence


@dataclass(frozen=True)
class Strong:
    """A number or a claim of a sentence that matters most."""

    text: str


@dataclass(frozen=True)
class ClaimSource:
    """The statement that the claim before it comes from; a page links to it, and a line leaves it out."""

    id: str


Part = str | Strong | ClaimSource
"""Of a sentence."""


class AuditView:
    """The audits of one kind in words. All texts are plain: whoever writes a page escapes them."""

    kind: ClassVar[str] = ""
    """Of the evidence."""
    noun: ClassVar[str] = ""
    """What its audits are called where it is counted what they can detect; empty if that is not counted.

    Kinds with the same noun are counted together.
    """
    nouns: ClassVar[str] = ""
    """The same of several."""
    leads: ClassVar[bool] = False
    """Whether that count is a part of the headline."""
    is_tabular: ClassVar[bool] = False
    """Whether a page shows its audits as rows of one table instead of cards."""

    def finding(self, evidence: Any) -> Sequence[Part]:
        """What an audit found: the parts of one sentence."""
        found: AuditEvidence = evidence
        return (found.reason or found.title,)

    def circumstances(self, evidence: Any) -> str:
        """What a line says in brackets after the sentence, and a page among the facts."""
        return ""

    def text(self, evidence: Any) -> str:
        """What an audit found, in one line."""
        parts = (part.text if isinstance(part, Strong) else part for part in self.finding(evidence))
        said = "".join(part for part in parts if not isinstance(part, ClaimSource))
        around = self.circumstances(evidence)
        return f"{said} ({around})" if around else said

    def facts(self, evidence: Any) -> Sequence[tuple[str, str]]:
        """Names and values beside the sentence."""
        return ()

    def rows(self, evidence: Any) -> tuple[tuple[str, str], ...]:
        """Names and texts that are all that a terminal, or a comment on a pull request, shows of it."""
        found: AuditEvidence = evidence
        facts = ((name.lower(), text) for name, text in self.facts(found))
        return ("verdict", found.verdict), *facts, ("why", found.reason), ("reproduce", found.reproduce)

    def is_measurement(self, evidence: Any) -> bool:
        """Whether there is nothing to compare with, so that it is a number without a verdict."""
        return False

    def plot(self, evidence: Any, name: str) -> Any:
        """A drawing of one's own, a `dpverify.reports.plots.Plot` with this name; None if there is none."""
        return None

    def detects_nothing(self, evidence: Any) -> bool:
        """Whether it is undecided whatever the implementation does."""
        return bool(getattr(evidence, "detects_nothing", False))

    def detects(self, evidence: Any) -> bool:
        """Whether it is known to find the fault that is tried on it."""
        return not self.detects_nothing(evidence)

    def summary(self, audits: Sequence[Any]) -> str:
        """Of all audits with this noun, how many could have found what."""
        return f"{sum(map(self.detects, audits))} could have found a violation"
