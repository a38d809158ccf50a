"""The premises of an encoded formula, held against what the statements that it uses conclude."""

from __future__ import annotations

from collections.abc import Iterator

from dpverify.formulas.printing import expression_text, formula_text
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.names import bare, formula_of
from dpverify.ledger.premises import Identification, PremiseEntry
from dpverify.ledger.verdicts import Coverage, Variant
from dpverify.proving.language import Obligation, Statement, parts_of
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog.source_rows import SourceRow, obligations_of

_ASIDE = (Coverage.INSTANCE, Coverage.REFERENCE)
"""Special cases, and what is said elsewhere, conclude nothing and are no part of a proof."""
_CONCLUDED = (Coverage.CONCLUSION, Coverage.CONDITION, Coverage.CITED)
"""What may be used of a statement that is named without one of its formulas."""


def used_formulas(statement: Statement, uses: tuple[str, ...]) -> Iterator[tuple[str, Statement, Obligation]]:
    """The formulas that a formula of a statement uses, as corrected where they are, with names and statements."""
    for name in dict.fromkeys((*uses, *statement.uses)):
        of, formula = find_statement(bare(name)), formula_of(name)
        if of is None or (of.id == statement.id and not formula):
            continue
        for position, variant, coverage, own in _standing(of):
            if coverage not in _ASIDE and (own == formula if formula else coverage in _CONCLUDED):
                yield f"{of.id}/{own}", of, obligations_of(of, variant)[position]


def _standing(statement: Statement) -> Iterator[tuple[int, Variant, Coverage, str]]:
    """The formulas of a statement as it is corrected: place, variant, coverage and name of each."""
    corrected = parts_of(obligations_of(statement, Variant.CORRECTED))
    gone = {
        *(statement.corrected.replaces if statement.corrected else ()),
        *(part.name for part in corrected),
    }
    for i, part in enumerate(parts_of(statement.printed)):
        if part.name not in gone:
            yield i, Variant.PRINTED, part.coverage, part.name
    for i, part in enumerate(corrected):
        yield i, Variant.CORRECTED, part.coverage, part.name


def premises_of_row(row: SourceRow) -> tuple[PremiseEntry, ...]:
    """Where the premises of a row come from; none for rows about units, special cases and references."""
    statement, obligation = row.statement, row.obligation
    if row.units or obligation.coverage in _ASIDE or not obligation.assuming:
        return ()
    from dpverify.analyses.instantiation import TracedPremise, UsedFormula, premises_of

    used = [UsedFormula(name, o, of.latex) for name, of, o in used_formulas(statement, obligation.uses)]

    def entry(premise: TracedPremise) -> PremiseEntry:
        text, found = formula_text(premise.formula), premise.found
        if found is None:
            return PremiseEntry(premise=text)
        return PremiseEntry(
            premise=text,
            by=found.by,
            outright=not found.by,
            by_algebra=found.by_algebra,
            letters={v.name: expression_text(e) for v, e in found.values.items()},
            identified=tuple(Identification(used=v.latex, read_as=e.latex) for v, e in found.identified),
            shown=tuple(formula_text(asked.formula) for asked in found.hypotheses if asked.shown),
            open=tuple(formula_text(asked.formula) for asked in found.open if not asked.of_box),
            beyond_box=tuple(formula_text(asked.formula) for asked in found.open if asked.of_box),
        )

    return tuple(map(entry, premises_of(obligation, used, statement.latex)))


def used_content(statement: Statement, obligation: Obligation) -> Json:
    """All that the premises of an obligation depend on beside itself."""
    if obligation.coverage in _ASIDE or not obligation.assuming:
        return None
    return [
        [name, of.latex, o.problem.json, {v.name: v.latex for v in o.problem.letters.values()}]
        for name, of, o in used_formulas(statement, obligation.uses)
    ]
