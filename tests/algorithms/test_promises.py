"""What algorithms state besides privacy, as it is shown."""

from __future__ import annotations

import csv
import math
from importlib.resources import files

import pytest

from dpverify.algorithms.promises import StatedRisk, reasons, words
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.origins import AsPrinted, Corrected, Unstated
from dpverify.ledger.records import is_vacuous
from dpverify.statements.paper import papers


@pytest.mark.parametrize("at_least", [False, True])
def test_a_bound_is_vacuous_where_nothing_is_beyond_it(at_least: bool) -> None:
    sign = -1.0 if at_least else 1.0
    for worst, vacuous in ((0.4, True), (0.5, True), (0.51, False), (math.inf, False)):
        assert is_vacuous(sign * 0.5, sign * worst, at_least=at_least) == vacuous
    assert not is_vacuous(sign * math.inf, sign * 0.5, at_least=at_least)  # none is stated


def test_a_bound_above_the_largest_risk_is_vacuous() -> None:
    bound = StatedRisk(0.5, total=False)
    assert bound.against(0.51) == str(bound)
    for largest in (0.5, 0.2, 0.0):
        assert bound.against(largest) == f"{bound}: vacuous, as no point of the set has more than {largest:g}"
    assert "vacuous" in StatedRisk(math.inf, total=True).against(3.0)
    for wrong in (-1.0, math.nan, True):
        with pytest.raises(InvalidArgumentError, match="largest"):
            bound.against(wrong)


@pytest.mark.parametrize("paper", [key for key, paper in papers().items() if paper.algorithms])
def test_rows_name_statements_and_say_where_a_print_holds(paper: str) -> None:
    known = {row.id for row in papers()[paper].catalog}
    with files(f"dpverify.algorithms.{paper}").joinpath("promises.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert row["name"].startswith(f"{paper}.")
        named = {id_ for id_ in f"{row['sources']} {row['of']}".split() if not id_.startswith("{")}
        assert named <= known, row["name"]
        assert bool(row["printed"]) == bool(row["holds_for"]), row["name"]
        assert not row["printed"] or row["sources"] or row["of"], row["name"]


def test_a_row_says_what_is_printed_and_what_is_corrected() -> None:
    printed, corrected = words("bst14.alg1/queries", steps=99), words("bst14.alg2/risk")
    assert printed["origin"] == AsPrinted("bst14.alg1", "t = 1, ..., n^2 - 1: 99", "every n >= 2")
    assert corrected["sources"] == ("bst14.thm3.2", "bst14.claim3.3")
    assert isinstance(corrected["origin"], Corrected)
    assert corrected["origin"].source == "bst14.thm3.2"
    assert words("fmtt18.thm28/risk")["origin"] is None
    assert isinstance(words("bst14.alg8/queries")["origin"], Unstated)
    assert dict(reasons("mn25.fingerprint"))["queries"] == "it asks no oracle"
