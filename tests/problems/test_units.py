"""Neighbors by units with parameters: what is one, what is refused, and what a search makes of an example."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.auditing.neighbors.constructions import Domain, pairs
from dpverify.auditing.neighbors.pairs import load_pair
from dpverify.errors import DpverifyError, InvalidArgumentError, InvalidDataError
from dpverify.privacy import Adjacency
from dpverify.privacy.forms.units import PrivacyUnit
from dpverify.problems.neighbors import check_neighbors

TABLE = np.array([[1.0, 0.5, 0.0], [2.0, 0.2, 1.0], [1.0, np.nan, 1.0], [3.0, 0.1, 0.0]])


def changed(places: Mapping[tuple[int, int], float]) -> Any:
    other = TABLE.copy()
    for place, value in places.items():
        other[place] = value
    return other


@pytest.mark.parametrize(
    ("unit", "other"),
    [
        (PrivacyUnit(Adjacency.USER, key=1), TABLE[[1, 3]]),
        (PrivacyUnit(Adjacency.USER, key=1), changed({(0, 1): 7.0, (2, 2): 5.0})),
        (PrivacyUnit(Adjacency.USER, key=1), np.vstack([TABLE, [4.0, 0, 0], [4.0, 1, 1]])),
        (PrivacyUnit(Adjacency.GROUP, size=2), changed({(0, 1): 7.0, (3, 1): 7.0})),
        (PrivacyUnit(Adjacency.GROUP, size=2), TABLE[[0, 2]]),
        (PrivacyUnit(Adjacency.USER, key=1, change="added-or-removed"), TABLE[[1, 3]]),
        (PrivacyUnit(Adjacency.USER, key=1, change="replaced"), changed({(0, 1): 7.0, (2, 2): 5.0})),
        (PrivacyUnit(Adjacency.GROUP, size=2, change="replaced"), changed({(0, 1): 7.0, (3, 1): 7.0})),
        (PrivacyUnit(Adjacency.GROUP, size=2, change="added-or-removed"), TABLE[[0, 2]]),
        (PrivacyUnit(Adjacency.LABEL), changed({(1, 2): 0.0})),
        (PrivacyUnit(Adjacency.LABEL, columns="2"), changed({(2, 1): 0.0})),
        (PrivacyUnit(Adjacency.METRIC, distance=0.5), changed({(0, 1): 0.8, (0, 2): 0.4})),
        (PrivacyUnit(Adjacency.METRIC, distance=0.5, norm="linf"), changed({(0, 1): 1.0, (0, 2): 0.5})),
        (PrivacyUnit(Adjacency.PRIVATE_COLUMNS, columns=(2, 3)), changed({(0, 1): 9.0, (0, 2): 9.0})),
        (PrivacyUnit(Adjacency.REPLACE_ONE), changed({(2, 1): 0.0})),
    ],
)
def test_neighbors_of_each_unit(unit: PrivacyUnit, other: Any) -> None:
    check_neighbors(TABLE, other, unit.adjacency, unit=unit)
    check_neighbors(other, TABLE, unit.adjacency, unit=unit)


@pytest.mark.parametrize(
    ("unit", "other", "says"),
    [
        (PrivacyUnit("user", key=1), TABLE[[1]], "records of 2 users, such as 1.0 and 3.0"),  # type: ignore[arg-type]
        (PrivacyUnit(Adjacency.USER, key=1), TABLE[[3, 1]], "in another order"),
        (
            PrivacyUnit(Adjacency.USER, key=1, change="replaced"),
            TABLE[[1, 3]],
            "added-or-removed; allowed by user",
        ),
        (
            PrivacyUnit(Adjacency.USER, key=1, change="added-or-removed"),
            changed({(0, 1): 7.0}),
            "records of the user replaced",
        ),
        (PrivacyUnit(Adjacency.GROUP, size=2, change="replaced"), TABLE[[0, 2]], "records added-or-removed"),
        (
            PrivacyUnit(Adjacency.GROUP, size=2, change="added-or-removed"),
            changed({(0, 1): 7.0}),
            "records replaced",
        ),
        (PrivacyUnit(Adjacency.USER, key=2), changed({(0, 2): 1.0}), "without a user in column 2"),
        (PrivacyUnit(Adjacency.USER, key=4), changed({(0, 2): 1.0}), "key was 4"),
        (PrivacyUnit(Adjacency.GROUP, size=1), changed({(0, 1): 7.0, (3, 1): 7.0}), "differ in 2 records"),
        (PrivacyUnit(Adjacency.GROUP, size=2), TABLE[[0]], "differ by 2 at most"),
        (PrivacyUnit(Adjacency.GROUP, size=2), TABLE[[2, 0]], "more than records that are added"),
        (PrivacyUnit(Adjacency.LABEL), changed({(1, 1): 0.0}), "in record 2 in column 2"),
        (PrivacyUnit(Adjacency.LABEL), changed({(1, 2): 0.0, (2, 2): 0.0}), "differ in 2 of 4 records"),
        (PrivacyUnit(Adjacency.LOCAL), changed({(1, 1): 0.0}), "one each"),
        (
            PrivacyUnit(Adjacency.METRIC, distance=0.5),
            changed({(0, 1): 1.0, (0, 2): 0.5}),
            "by 0.707107; allowed: 0.5",
        ),
        (PrivacyUnit(Adjacency.METRIC, distance=9), changed({(2, 1): 0.0}), "by nan"),
        (PrivacyUnit(Adjacency.PRIVATE_COLUMNS, columns="2"), changed({(0, 2): 9.0}), "column 3"),
        (PrivacyUnit(Adjacency.PRIVATE_COLUMNS, columns="4"), changed({(0, 2): 9.0}), "columns was"),
        (PrivacyUnit(Adjacency.PRIVATE_COLUMNS, columns="2"), TABLE[:3], "have 4 and 3 records"),
        (PrivacyUnit(Adjacency.REPLACE_ONE), TABLE.copy(), "hold the same records"),
    ],
)
def test_pairs_that_are_no_neighbors_are_refused(unit: PrivacyUnit, other: Any, says: str) -> None:
    with pytest.raises(DpverifyError, match=says) as caught:
        check_neighbors(TABLE, other, unit.adjacency, unit=unit)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"adjacency": "user"}, "key was None"),
        ({"adjacency": "group", "size": 0}, "size was 0"),
        ({"adjacency": "group", "size": True}, "size was True"),
        ({"adjacency": "metric", "distance": float("nan")}, "distance was nan"),
        ({"adjacency": "metric", "distance": 1, "norm": "l3"}, "l1, l2, linf"),
        ({"adjacency": "private-columns", "columns": "1,"}, "different columns"),
        ({"adjacency": "private-columns", "columns": "1,1"}, "different columns"),
        ({"adjacency": "label", "columns": "1,2"}, "one column"),
        ({"adjacency": "replace-one", "key": 1}, "no value but with adjacency user"),
        ({"adjacency": "user", "key": 1, "change": "new"}, "replaced, added-or-removed"),
        ({"adjacency": "label", "change": "replaced"}, "user or group"),
        ({"adjacency": "user", "key": ""}, "key was"),
        ({"adjacency": "users"}, "adjacency was"),
    ],
)
def test_parameters_that_cannot_be_used(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says):
        PrivacyUnit(**fields)


@pytest.mark.parametrize(
    "unit",
    [
        PrivacyUnit(Adjacency.USER, key=1),
        PrivacyUnit(Adjacency.GROUP, size=3),
        PrivacyUnit(Adjacency.LABEL),
        PrivacyUnit(Adjacency.LOCAL),
        PrivacyUnit(Adjacency.METRIC, distance=0.5, norm="l1"),
        PrivacyUnit(Adjacency.METRIC, distance=0.5),
        PrivacyUnit(Adjacency.PRIVATE_COLUMNS, columns=(2,)),
    ],
    ids=str,
)
def test_a_search_begins_with_neighbors_of_the_unit(unit: PrivacyUnit, tmp_path: Path) -> None:
    example = np.nan_to_num(TABLE)
    found = list(pairs(Domain(example, unit.adjacency, unit=unit)))
    assert len(found) >= 5
    for pair in found:
        check_neighbors(pair.data, pair.neighbor, unit.adjacency, unit=unit)
    found[0].save(tmp_path / "pair.json")
    again = load_pair(tmp_path / "pair.json")
    assert again.unit == unit
    assert np.array_equal(again.data, found[0].data)


def test_a_file_with_a_wrong_unit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pair.json"
    file.write_text(
        '{"adjacency": "user", "columns": 1, "data": [[1]], "neighbor": [[2]], "unit": {"who": 1}}'
    )
    with pytest.raises(InvalidDataError, match=r"pair\.json"):
        load_pair(file)
