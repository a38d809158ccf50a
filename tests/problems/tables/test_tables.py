"""Tables of text, dates and numbers: how files are read, which are neighbors, what a function gets."""

from __future__ import annotations

import pickle
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import Adjacency
from dpverify.privacy.forms.units import PrivacyUnit
from dpverify.problems.tables.files import read_tables
from dpverify.problems.tables.frames import as_records
from dpverify.problems.tables.neighbors import check_tables, same_record, unified
from dpverify.problems.tables.records import Records, unpacked

NAN = float("nan")
PEOPLE: list[dict[str, Any]] = [
    {"user": "ann", "city": "Bonn", "age": 31.0, "since": date(2024, 1, 31)},
    {"user": "bob", "city": None, "age": NAN, "since": None},
    {"user": "bob", "city": "", "age": 44.0, "since": date(1, 1, 1)},
]
REPLACE, MORE = PrivacyUnit(Adjacency.REPLACE_ONE), PrivacyUnit(Adjacency.ADD_REMOVE_ONE)


def table(rows: list[dict[str, Any]]) -> Records:
    found = as_records("data", rows)
    assert found is not None
    return found


def changed(place: int, **cells: Any) -> Records:
    rows = [dict(row) for row in PEOPLE]
    rows[place] |= cells
    return table(rows)


@pytest.mark.parametrize(
    ("unit", "other"),
    [
        (REPLACE, changed(0, city="Ulm")),
        (REPLACE, changed(1, city="")),
        (REPLACE, changed(1, since=date(9999, 12, 31))),
        (REPLACE, changed(2, age=NAN)),
        (MORE, table(PEOPLE[1:])),
        (MORE, table([*PEOPLE, PEOPLE[1]])),
        (PrivacyUnit(Adjacency.USER, key="user"), table(PEOPLE[:1])),
        (PrivacyUnit(Adjacency.USER, key="1"), changed(1, age=1.0)),
        (PrivacyUnit(Adjacency.LABEL), changed(0, since=None)),
        (PrivacyUnit(Adjacency.LABEL, columns="city"), changed(0, city=None)),
        (PrivacyUnit(Adjacency.PRIVATE_COLUMNS, columns="city, age"), changed(0, city=None, age=1.0)),
        (PrivacyUnit(Adjacency.GROUP, size=2), table(PEOPLE[:1])),
        (PrivacyUnit(Adjacency.UNCHECKED), table(PEOPLE[:1])),
    ],
)
def test_neighbors(unit: PrivacyUnit, other: Records) -> None:
    check_tables(table(PEOPLE), other, unit)
    check_tables(other, table(PEOPLE), unit)


@pytest.mark.parametrize(
    ("unit", "other", "says"),
    [
        (REPLACE, table(PEOPLE), "the same records"),
        (REPLACE, table([*PEOPLE[1:], PEOPLE[0]]), "in another order"),
        (MORE, table([PEOPLE[0], PEOPLE[0]]), "more than one record"),
        (PrivacyUnit(Adjacency.USER, key="user"), changed(0, user="bob"), "2 users, such as 'ann' and 'bob'"),
        (PrivacyUnit(Adjacency.USER, key="city"), changed(0, age=1.0), "without a user in column city"),
        (PrivacyUnit(Adjacency.USER, key="name"), changed(0, age=1.0), "user, city, age, since"),
        (PrivacyUnit(Adjacency.PRIVATE_COLUMNS, columns="age"), changed(0, city="Ulm"), "in column 2"),
        (PrivacyUnit(Adjacency.METRIC, distance=1), changed(0, age=30.5), "numbers in all columns"),
        (PrivacyUnit(Adjacency.ZERO_OUT), changed(0, age=30.5), "numbers in all columns"),
        (REPLACE, table([{"user": "ann"}]), "different columns"),
    ],
)
def test_what_is_no_pair_of_neighbors(unit: PrivacyUnit, other: Records, says: str) -> None:
    with pytest.raises((InvalidDataError, InvalidArgumentError), match=says) as caught:
        check_tables(table(PEOPLE), other, unit)
    assert "\n" not in str(caught.value)


def test_true_is_not_one_and_a_date_is_not_its_text() -> None:
    for one, other in ((True, 1), (date(2024, 1, 31), "2024-01-31"), ("1", 1), (None, NAN), (None, "")):
        assert not same_record((one,), (other,))
    assert same_record((1, NAN, None), (1.0, NAN, None))
    with pytest.raises(InvalidDataError, match="text and integer"):
        unified(table([{"x": "1"}]), table([{"x": 1}]))
    # a column without values is of the kind that the other side has
    assert unified(table([{"x": None}]), table([{"x": "1"}]))[0].kinds == ("text",)
    assert unified(table([{"x": 1}]), table([{"x": 1.5}]))[0].kinds == ("number",)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"x": 1}, {"y": 1}], "record 2 with other columns"),
        ([{"x": 1}, {"x": "a"}], "Column x of data holds integer and text"),
        ([{"x": [1]}], "holds list"),
        ([{3: 1}], "different texts"),
        ([{"x": 1j}], "holds complex"),
    ],
)
def test_rows_that_are_no_table(rows: Any, says: str) -> None:
    with pytest.raises(InvalidDataError, match=says):
        table(rows)


def test_files_keep_types_and_both_are_read_alike(tmp_path: Path) -> None:
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("city,age,since,at,member,n\nBonn,31,2024-01-31,2024-01-31T12:30,true,1\n,,,,,2\n")
    other.write_text(
        'city,age,since,at,member,n\n7,31,2024-01-31,2024-01-31 12:30,False,1\n"a,b",NA,null,,,2\n'
    )
    left, right = read_tables([one, other])
    assert left.kinds == right.kinds == ("text", "number", "date", "time", "boolean", "integer")
    assert left.rows[0] == ("Bonn", 31.0, date(2024, 1, 31), datetime(2024, 1, 31, 12, 30), True, 1)
    assert same_record(left.rows[1], (None, NAN, None, None, None, 2))
    assert right.rows[0][0] == "7"
    assert right.rows[1][0] == "a,b"
    assert left.form == "records"
    # of numbers alone, as ever: with or without a header, whatever its names
    one.write_text("x,x\n1,2\n")
    other.write_text("3,4\n")
    assert [side.form for side in read_tables([one, other])] == ["array", "array"]
    np.testing.assert_array_equal(read_tables([one, other])[1].numbers, [[3.0, 4.0]])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("1,a\n2,b\n", "line 1, has 'a'"),
        ("x,x\n1,b\n", "line 2, has 'b'"),
        ("x,y\n1\n", "line 2, has 1 cells"),
        ("x,y\n", "no records"),
        ("", "no records"),
        ("x,y\n2024-13-01,\n1,2\n", None),
    ],
)
def test_files_that_are_no_tables(content: str, says: str | None, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text(content)
    if says is None:
        assert read_tables([file])[0].kinds[0] == "text"  # no such date
        return
    with pytest.raises(InvalidDataError, match=says):
        read_tables([file])


def test_a_function_gets_a_copy_of_its_own() -> None:
    records = table(PEOPLE)
    records.copy()[0]["city"] = "Ulm"
    assert records.copy()[0] == PEOPLE[0]
    matrix = as_records("data", sparse.csr_matrix(np.eye(2)))
    assert matrix is not None
    got = matrix.copy()
    assert sparse.issparse(got)
    got.data[:] = 7
    assert matrix.copy().sum() == 2
    with pytest.raises(InvalidArgumentError, match="where a column, user, holds no numbers"):
        Records(records.names, records.kinds, records.rows, "array")


def test_the_fingerprint_is_that_of_the_content() -> None:
    assert table(PEOPLE).fingerprint == table([dict(row) for row in PEOPLE]).fingerprint
    others = [changed(1, city=""), changed(0, age=31.5), table(PEOPLE[1:])]
    assert len({side.fingerprint for side in [table(PEOPLE), *others]}) == 4
    again = unpacked(table(PEOPLE).packed())
    assert again.fingerprint == pickle.loads(pickle.dumps(again)).fingerprint == table(PEOPLE).fingerprint


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_data_frames_made_from_rows_have_the_types_of_their_columns(form: str) -> None:
    library = pytest.importorskip(form)
    made = Records(("user", "city", "age", "since"), table(PEOPLE).kinds, table(PEOPLE).rows, form).copy()
    assert isinstance(made, library.DataFrame)
    again = as_records("data", made)
    assert again is not None
    assert again.form == form
    assert again.kinds == (("text", "text", "number", "time" if form == "pandas" else "date"))
    if form == "polars":
        assert all(map(same_record, again.rows, table(PEOPLE).rows))
    empty = Records(("a", "b"), ("text", "date"), (), form).copy()
    assert empty.shape == (0, 2)


def test_a_data_frame_is_taken_as_it_is() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"city": pandas.Categorical(["Bonn", None]), 1: pandas.array([1, None], dtype="Int64")}
    )
    records = as_records("data", frame)
    assert records is not None
    assert records.rows == (("Bonn", 1), (None, None))
    got = unpacked(records.packed()).copy()
    pandas.testing.assert_frame_equal(got, frame)
    got.iloc[0, 0] = None
    assert records.copy().iloc[0, 0] == "Bonn"
    assert records.fingerprint != table([{"city": "Bonn", "1": 1}, {"city": None, "1": None}]).fingerprint
    with pytest.raises(InvalidDataError, match="Timedelta"):
        as_records("data", pandas.DataFrame({"x": pandas.to_timedelta([1])}))
