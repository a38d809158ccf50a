"""Neighbors of tables with text, dates, truth values and what is missing: as numbers, in files, found by a search."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.auditing.neighbors import Domain, TablePair, load_pair
from dpverify.auditing.neighbors.constructions import pairs
from dpverify.auditing.requests import Request, audit
from dpverify.errors import InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Adjacency
from dpverify.privacy.forms.units import PrivacyUnit
from dpverify.problems.tables.codes import CodedTable
from dpverify.problems.tables.frames import as_records
from dpverify.problems.tables.records import Records

People = list[dict[str, Any]]
NOON = datetime(2024, 2, 29, 12, 0, 0, 250, tzinfo=timezone(timedelta(hours=1)))
PEOPLE: People = [
    {"city": "Bonn", "age": 34, "since": date(2020, 1, 31), "member": True, "income": 1200.5, "at": NOON},
    {"city": "Ulm", "age": 40, "since": None, "member": False, "income": 2100.0, "at": NOON},
    {"city": "Bonn", "age": 29, "since": date(2021, 7, 9), "member": True, "income": math.nan, "at": None},
]


def _table(people: People = PEOPLE) -> Records:
    found = as_records("data", people)
    assert found is not None
    return found


def test_a_table_is_what_its_numbers_stand_for() -> None:
    coded = CodedTable(_table())
    again = coded.records(coded.example)
    assert repr(again.rows) == repr(_table().rows)
    assert again.kinds == _table().kinds


@pytest.mark.parametrize("number", [-1e300, -1e15, -7.5, 0.0, 0.49, 1.0, 3.7, 1e6, 1e15, 1e300, math.nan])
def test_every_number_stands_for_a_cell_whose_number_stands_for_it(number: float) -> None:
    coded = CodedTable(_table())
    once = coded.records(np.full((1, 6), number))
    assert repr(coded.records(coded.array(once)).rows) == repr(once.rows)
    assert once.copy()[0].keys() == PEOPLE[0].keys()


def test_cells_that_code_may_not_expect_are_tried() -> None:
    coded = CodedTable(_table([{**PEOPLE[0], "at": NOON.astimezone(UTC)}, *PEOPLE[1:]]))
    domain = Domain(coded.example, Adjacency.ADD_REMOVE_ONE, None, None, coded)
    made = [domain.given(pair) for pair in pairs(domain)]
    tables = [side for pair in made for side in (pair.data, pair.neighbor) if isinstance(side, Records)]
    cells = [{repr(row[place]) for table in tables for row in table.rows} for place in range(6)]
    assert {"'Bonn'", "'Ulm'", "''", "'bONN'", "'another value'"} <= cells[0]
    assert {repr(date(1, 1, 1)), repr(date(1970, 1, 1)), repr(date.max), "None"} <= cells[2]
    assert {"True", "False"} == cells[3]
    assert {"nan", "0.0"} <= cells[4]
    assert any("2, 1, 1" in cell for cell in cells[5])
    assert any("9998, 12, 31" in cell for cell in cells[5])
    # nothing is missing where nothing was
    assert "None" not in cells[1] | cells[3]


def test_limits_are_of_numbers() -> None:
    coded = CodedTable(_table())
    domain = Domain(coded.example, Adjacency.REPLACE_ONE, (0, 50), None, coded)
    low, high = domain.ends()
    assert (low[1], high[1]) == (0, 50)
    assert high[2] == date(2021, 7, 9).toordinal()
    ages = [row[1] for pair in pairs(domain) for row in coded.records(pair.data).rows]
    assert min(ages) >= 0  # type: ignore[type-var]
    assert max(ages) <= 50  # type: ignore[type-var]


def test_a_pair_of_tables_in_a_file(tmp_path: Path) -> None:
    changed = _table([{**PEOPLE[0], "income": math.nan, "since": None}, *PEOPLE[1:]])
    path = tmp_path / "pair.json"
    TablePair(_table(), changed, Adjacency.REPLACE_ONE).save(path)
    again = load_pair(path)
    assert isinstance(again, TablePair)
    assert repr((again.data.rows, again.neighbor.rows)) == repr((_table().rows, changed.rows))
    content = json.loads(path.read_text())
    for field, wrong in (
        ("data", [[1]]),
        ("kinds", ["text"] * 6),
        ("kinds", ["word"] * 6),
        ("data", content["neighbor"]),
    ):
        path.write_text(json.dumps({**content, field: wrong}))
        with pytest.raises(InvalidDataError):
            load_pair(path)


def test_a_relation_that_calculates_with_all_columns_is_refused() -> None:
    coded = CodedTable(_table())
    with pytest.raises(InvalidDataError, match="more than numbers; allowed with adjacency zero-out"):
        Domain(coded.example, Adjacency.ZERO_OUT, None, None, coded)


# --------------------------------------------------------------------------------------- planted faults, 1-DP claimed


def cities(people: People, rng: np.random.Generator) -> dict[str, float]:
    """Counts of the cities that there are: a new one is a new key."""
    counts: dict[str, float] = {}
    for person in people:
        counts[person["city"]] = counts.get(person["city"], 0) + 1
    return {city: count + rng.laplace(scale=2) for city, count in counts.items()}


def days(people: People, rng: np.random.Generator, runs: int) -> np.ndarray:
    """Days since 2000, not more than 10,000, and as far back as a calendar goes."""
    first = date(2000, 1, 1)
    total = sum(min((person["since"] - first).days, 10_000) for person in people if person["since"])
    return total + rng.laplace(scale=10_000, size=runs)


def gone(people: People, rng: np.random.Generator, runs: int) -> np.ndarray:
    """A count of members in which a missing date counts eight times."""
    total = sum(1 if person["since"] else 8 for person in people if person["member"])
    return total + rng.laplace(size=runs)


def bonn(people: People, rng: np.random.Generator, runs: int) -> np.ndarray:
    """What it should be."""
    return sum(person["city"] == "Bonn" for person in people) + rng.laplace(size=runs)


@pytest.mark.parametrize(
    ("function", "verdict"),
    [
        (cities, Verdict.VIOLATED),
        (days, Verdict.VIOLATED),
        (gone, Verdict.VIOLATED),
        (bonn, Verdict.SUPPORTED),
    ],
)
def test_a_fault_that_one_cell_shows_is_found(
    tmp_path: Path, function: Callable[..., Any], verdict: Verdict
) -> None:
    """With failure probability 1e-6; the seed is fixed. The pair in the file shows it again."""
    path = tmp_path / "worst.json"
    found = audit(Request(function, PEOPLE, claim="eps=1", runs=300, search_neighbors=path))
    assert found.verdict is verdict
    if verdict is Verdict.VIOLATED:
        again = audit(Request(function, claim="eps=1", runs=300, pair=path))
        assert (again.verdict, again.runs) == (verdict, found.runs)


def test_a_column_that_is_public_stays() -> None:
    coded = CodedTable(_table())
    unit = PrivacyUnit(Adjacency.PRIVATE_COLUMNS, columns=(2, 5))
    made = list(pairs(Domain(coded.example, Adjacency.PRIVATE_COLUMNS, None, unit, coded)))
    assert made
    for pair in made:
        assert np.array_equal(pair.data[:, [0, 2, 3]], pair.neighbor[:, [0, 2, 3]], equal_nan=True)
