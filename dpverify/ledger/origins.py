"""Where a claim comes from, and whether it is what stands there.

Algorithms say it of what they state, so that whoever audits them need not.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpverify.ledger.audits import ClaimForm, ClaimOrigin


@dataclass(frozen=True)
class AsPrinted:
    """The claim is what its source prints, to the letter."""

    source: str
    """Catalog id of the statement or algorithm."""
    printed: str
    """The number or formula as it stands there."""
    holds_for: str
    """The range in which it is claimed, such as `epsilon <= 1` or `every n`."""

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""
        return ClaimOrigin(
            form=ClaimForm.AS_PRINTED, source=self.source, printed=self.printed, holds_for=self.holds_for
        )


@dataclass(frozen=True)
class Corrected:
    """The claim differs from what its source prints: a mistake corrected, an O( ) made explicit, a case specialized."""

    source: str
    printed: str
    """The number or formula that the source prints instead."""
    because: str
    """What was corrected, and why: completes `corrected: ...`."""
    holds_for: str

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""
        return ClaimOrigin(
            form=ClaimForm.CORRECTED,
            source=self.source,
            printed=self.printed,
            because=self.because,
            holds_for=self.holds_for,
        )


@dataclass(frozen=True)
class Unstated:
    """Nothing is claimed anywhere: a measurement, or a value that serves only for comparison."""

    because: str

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""
        return ClaimOrigin(form=ClaimForm.UNSTATED, because=self.because)


@dataclass(frozen=True)
class NotCompared:
    """The claim has not been compared with its source yet; the report says so."""

    source: str = ""

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""
        return ClaimOrigin(form=ClaimForm.NOT_COMPARED, source=self.source)


Origin = AsPrinted | Corrected | Unstated | NotCompared
