"""The obligations of a statement, and the rows that they have in a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpverify.ledger.verdicts import Coverage, Variant
from dpverify.proving.language import Obligation, Statement, parts_of


@dataclass(frozen=True)
class SourceRow:
    """A row that a statement has in a ledger: an obligation, or with `units`, that the units of its sides agree."""

    statement: Statement
    variant: Variant
    obligation: Obligation
    units: bool = False

    @property
    def coverage(self) -> Coverage:
        """That of the row."""
        return Coverage.UNIT if self.units else self.obligation.coverage

    @property
    def name(self) -> str:
        """That of the row."""
        return f"{self.obligation.name}: units" if self.units else self.obligation.name


def obligations_of(statement: Statement, variant: Variant) -> Sequence[Obligation]:
    """What is printed, or what corrects it."""
    if variant is Variant.PRINTED:
        return statement.printed
    return statement.corrected.obligations if statement.corrected else ()


def rows_of(statement: Statement) -> Iterator[SourceRow]:
    """The rows that a statement has in a ledger."""
    for variant in Variant:
        for obligation in obligations_of(statement, variant):
            yield from rows_of_obligation(statement, variant, obligation)


def rows_of_obligation(statement: Statement, variant: Variant, obligation: Obligation) -> Iterator[SourceRow]:
    """The obligation's own, and that about its units where these are compared; none for what is cited."""
    if obligation.coverage is Coverage.CITED:
        return
    yield SourceRow(statement, variant, obligation)
    if obligation.compares_units:
        yield SourceRow(statement, variant, obligation, units=True)


def correction_of(statement: Statement, name: str) -> Obligation | None:
    """The correction with a printed formula's name; None where there is none."""
    return _named(obligations_of(statement, Variant.CORRECTED), name)


def printed_of(statement: Statement, name: str) -> Obligation | None:
    """The printed formula with a name; None where there is none."""
    return _named(statement.printed, name)


def _named(obligations: Sequence[Obligation], name: str) -> Obligation | None:
    return next((obligations[i] for i, part in enumerate(parts_of(obligations)) if part.name == name), None)
