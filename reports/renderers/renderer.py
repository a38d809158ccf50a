"""What a renderer is, with defaults that suit any audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dpverify.ledger.audits import AuditEvidence

if TYPE_CHECKING:
    from dpverify.reports.plots import Plot


class Renderer:
    """Shows the audits of one kind. Its texts are plain: pages escape them."""

    kind: ClassVar[str] = ""
    """Of the evidence."""
    noun: ClassVar[str] = ""
    """What its audits are called where it is counted what they can detect; empty where that is not counted.

    Kinds with the same noun are counted together.
    """
    nouns: ClassVar[str] = ""
    """The same of several."""
    leads: ClassVar[bool] = False
    """Whether that count is a part of the headline."""
    template: ClassVar[str] = "renderers/plain.html"
    """With macros `finding(audit, anchors)` and `facts(audit)`, or where it is tabular `table(cards, anchors)`."""
    is_tabular: ClassVar[bool] = False
    """Whether its audits are rows of one table instead of cards."""

    def text(self, evidence: Any) -> str:
        """What an audit found, in one sentence."""
        found: AuditEvidence = evidence
        return found.reason or found.title

    def facts(self, evidence: Any) -> Sequence[tuple[str, str]]:
        """Names and values beside the plot."""
        return ()

    def is_measurement(self, evidence: Any) -> bool:
        """Whether there is nothing to compare with, so that it is a number without a verdict."""
        return False

    def plot(self, evidence: Any, name: str) -> Plot | None:
        """A drawing with this name; None where there is nothing to draw."""
        return None

    def sees_nothing(self, evidence: Any) -> bool:
        """Whether it is undecided whatever the implementation does."""
        return bool(getattr(evidence, "sees_nothing", False))

    def sees(self, evidence: Any) -> bool:
        """Whether it is known to find the fault that is tried on it."""
        return not self.sees_nothing(evidence)

    def says(self, audits: Sequence[Any]) -> str:
        """Of all audits with this noun, how many could have found what."""
        return f"{sum(map(self.sees, audits))} could have found a violation"
