"""Data frames and series as outputs, where pandas is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpverify.running.subjects.texts import of_batch, of_runs

pandas: Any = pytest.importorskip("pandas", reason="pandas is an optional extra")


def test_a_frame_of_one_run_is_its_index_and_its_columns() -> None:
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[7, 8])
    assert list(of_runs([frame])) == ['{"columns":{"a":[1,2],"b":["x","y"]},"index":[7,8]}']


def test_a_row_of_a_frame_of_all_runs_is_a_dictionary() -> None:
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert list(of_batch(frame)) == ['{"a":1,"b":"x"}', '{"a":2,"b":"y"}']


def test_columns_of_one_name_are_all_kept() -> None:
    frame = pandas.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    assert list(of_batch(frame)) == ['[["a",1],["a",2]]', '[["a",3],["a",4]]']
    assert list(of_runs([frame])) == ['{"columns":[["a",[1,3]],["a",[2,4]]],"index":[0,1]}']


def test_series_of_numbers_stay_numbers() -> None:
    assert np.array_equal(of_batch(pandas.Series([1.5, 2.5])), [1.5, 2.5])
    assert list(of_batch(pandas.Series(["a", "b"]))) == ['"a"', '"b"']
    assert list(of_runs([pandas.Series([1, 2], index=["u", "v"])])) == ['{"index":["u","v"],"values":[1,2]}']


def test_what_is_missing_is_null() -> None:
    assert list(of_runs([pandas.NA])) == ["null"]
