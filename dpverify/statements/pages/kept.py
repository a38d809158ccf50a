"""Sheets as JSON, so that pages that have not changed are not parsed again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import Enum
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

_RECORDS = (Sheet, UnreadRow, DefinitionSource, Variable, Unit, Fraction, Provenance, Consequence, Coverage)
_KINDS: Mapping[str, Any] = {kind.__name__: kind for kind in _RECORDS}


def statements_on(files: Sequence[Path]) -> tuple[Statement, ...]:
    """The statements of pages that belong to the program, in their order; none is read before it is asked for."""
    key = [program_hash(), [file.name for file in files]]
    found = kept("pages", key)
    if found is None:
        sheets = tuple(sheet for file in files for sheet in read_page(file, at_once=False).sheets)
        keep("pages", key, rows_of(sheets))
    else:
        sheets = value_of(found)
    return statements_of(sheets)


def rows_of(value: object) -> list[Json]:
    """A value as a table whose last row it is; what stands in many places has one row, of which these give the number.

    Raises:
        TypeError: for what is no record of a page, and no tuple or mapping of such.
    """
    rows = dict[str, int]()

    def placed(value: Any) -> Json:
        kind = type(value).__name__
        if isinstance(value, Enum):
            row = [kind, value.value]
        elif value is None or isinstance(value, str | int):
            return value
        elif isinstance(value, Fraction):
            row = [kind, str(value)]
        elif isinstance(value, Mapping):
            row = ["dict", *(part for pair in value.items() for part in map(placed, pair))]
        elif isinstance(value, tuple | list):
            row = ["tuple", *map(placed, value)]
        elif kind in _KINDS:
            row = [kind, *(placed(getattr(value, one.name)) for one in fields(value) if one.repr)]
        else:
            raise TypeError(f"{kind} is no record of a page")
        return [rows.setdefault(json.dumps(row), len(rows))]

    placed((value,))
    return [json.loads(row) for row in rows]


def value_of(rows: Sequence[Any]) -> Any:
    """What such a table is of."""
    known: list[Any] = []
    for kind, *parts in rows:
        said = [known[part[0]] if isinstance(part, list) else part for part in parts]
        if kind == "dict":
            known.append(dict(zip(said[::2], said[1::2], strict=True)))
        else:
            known.append(tuple(said) if kind == "tuple" else _KINDS[kind](*said))
    return known[-1][0]
