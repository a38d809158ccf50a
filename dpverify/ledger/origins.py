"""Where a claim comes from, and whether it is what stands there.

Algorithms say it of what they state, so that whoever audits them need not.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from dpverify.ledger.audits import ClaimForm, ClaimOrigin


@dataclass(frozen=True)
class _Origin:
    form: ClassVar[ClaimForm]

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""
        return ClaimOrigin(form=self.form, **asdict(self))


@dataclass(frozen=True)
class AsPrinted(_Origin):
    """The claim is what its source prints, to the letter."""

    form = ClaimForm.AS_PRINTED
    source: str
    """Catalog id of the statement or algorithm."""
    printed: str
    """The number or formula as it stands there."""
    holds_for: str
    """The range in which it is claimed, such as `epsilon <= 1` or `every n`."""


@dataclass(frozen=True)
class Corrected(_Origin):
    """The claim differs from what its source prints: a mistake corrected, an O( ) made explicit, a case specialized."""

    form = ClaimForm.CORRECTED
    source: str
    printed: str
    """The number or formula that the source prints instead."""
    because: str
    """What was corrected, and why: completes `corrected: ...`."""
    holds_for: str


@dataclass(frozen=True)
class Unstated(_Origin):
    """Nothing is claimed anywhere: a measurement, or a value that serves only for comparison."""

    form = ClaimForm.UNSTATED
    because: str


@dataclass(frozen=True)
class NotCompared(_Origin):
    """The claim has not been compared with its source yet; the report says so."""

    form = ClaimForm.NOT_COMPARED
    source: str = ""


Origin = AsPrinted | Corrected | Unstated | NotCompared
