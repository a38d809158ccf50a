"""Sheets as JSON, so that pages that have not changed are not parsed again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverify.formulas.expressions import Variable
from dpverify.formulas.rendering.neutral import Json
from dpverify.formulas.units import Unit
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.verdicts import Consequence, Coverage
from dpverify.proving.language import Statement
from dpverify.running.program import program_hash
from dpverify.running.store import keep, kept
from dpverify.statements.pages.page import read_page, statements_of
from dpverify.statements.rows import DefinitionSource, UnreadRow
from dpverify.statements.sheet import Sheet


def statements_on(files: Sequence[Path]) -> tuple[Statement, ...]:
    """The statements of pages that belong to the program, in their order; none is read before it is asked for."""
    key = [program_hash(), [file.name for file in files]]
    found = kept("pages", key)
    if found is None:
        sheets = [sheet for file in files for sheet in read_page(file, at_once=False).sheets]
        keep("pages", key, _Written().sheets(sheets))
    else:
        sheets = list(_read(found))
    return statements_of(sheets)


class _Written:
    """Letters and definitions stand in many places, and are written once."""

    def __init__(self) -> None:
        self.letters: dict[Any, int] = {}
        self.table: list[Json] = []

    def sheets(self, sheets: Iterable[Sheet]) -> Json:
        found = [self.sheet(sheet) for sheet in sheets]
        return {"letters": self.table, "sheets": found}

    def letter(self, v: Variable) -> int:
        key = (v, v.latex, v.meaning, v.stands_for, v.size)
        if key not in self.letters:
            self.letters[key] = len(self.table)
            ends = [None if end is None else str(end) for end in (v.lower, v.upper)]
            unit = [str(v.unit.loss), str(v.unit.length), v.unit.name]
            said = [v.meaning, v.latex, v.stands_for, v.size]
            self.table.append([v.name, v.kind, ends[0], v.lower_open, ends[1], v.upper_open, unit, *said])
        return self.letters[key]

    def sheet(self, sheet: Sheet) -> Json:
        definitions = [
            [d.latex, d.body, None if d.parameter is None else self.letter(d.parameter), d.reading]
            for d in sheet.definitions
        ]
        texts = [sheet.id, sheet.title, sheet.where, sheet.latex, sheet.pairs, sheet.uses]
        corrected = [sheet.because, sheet.replaces, sheet.corrected_latex]
        rows = [[self.row(row) for row in rows] for rows in (sheet.rows, sheet.corrected_rows)]
        return [texts, [self.letter(v) for v in sheet.letters], definitions, rows, corrected]

    def row(self, row: UnreadRow) -> Json:
        said: dict[str, Json] = {}
        for key, value in row.options.items():
            match key:
                case "letters" | "added":
                    said[key] = [self.letter(v) for v in value]
                case "box":
                    said[key] = {name: [str(end) for end in ends] for name, ends in value.items()}
                case _:
                    said[key] = value
        return [row.name, row.coverage, row.display, said, len(row.definitions)]


def _read(found: Any) -> Iterable[Sheet]:
    letters = [_letter(*said) for said in found["letters"]]
    for texts, own, defined, rows, corrected in found["sheets"]:
        id_, title, where, latex, pairs, uses = texts
        because, replaces, corrected_latex = corrected
        declared = tuple(letters[i] for i in own)
        definitions = tuple(
            DefinitionSource(of, body, None if parameter is None else letters[parameter], reading)
            for of, body, parameter, reading in defined
        )
        printed, mended = (
            tuple(
                UnreadRow(
                    name, Coverage(coverage), display, _options(said, letters), definitions[:count], declared
                )
                for name, coverage, display, said, count in some
            )
            for some in rows
        )
        yield Sheet(
            id_, declared, title, where, latex, tuple(pairs), tuple(uses), definitions, printed, mended,
            tuple(because), tuple(replaces), corrected_latex,
        )  # fmt: skip


def _letter(
    name: str,
    kind: Any,
    low: str | None,
    low_open: bool,
    high: str | None,
    high_open: bool,
    unit: Any,
    *said: str,
) -> Variable:
    loss, length, named = unit
    ends = [None if end is None else Fraction(end) for end in (low, high)]
    of = Unit(Fraction(loss), Fraction(length), named)
    return Variable(name, kind, ends[0], low_open, ends[1], high_open, of, *said)


def _options(said: dict[str, Any], letters: Sequence[Variable]) -> dict[str, Any]:
    found = dict(said)
    for key, value in said.items():
        match key:
            case "letters" | "added":
                found[key] = tuple(letters[i] for i in value)
            case "box":
                found[key] = {name: tuple(Fraction(end) for end in ends) for name, ends in value.items()}
            case "consequence":
                found[key] = Consequence(value)
            case "provenance":
                found[key] = Provenance(value)
            case "uses" | "catches":
                found[key] = tuple(value)
    return found
