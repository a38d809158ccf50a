"""Data sets: shapes, immutability, scaling, neighbors, CSV files."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import array_api_strict
import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import Dataset, load, read_csv
from dpverify.problems.tables.files import read_tables

REAL = {"breast-cancer": (569, 30), "diabetes": (442, 10), "digits": (1797, 64)}


def small() -> Dataset:
    return Dataset([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], [1.0, -1.0, 1.0], "small", "none")


class TestDataset:
    def test_sizes(self) -> None:
        assert (small().n, small().d) == (3, 2)
        assert small().largest_norm == pytest.approx(math.hypot(0.5, 0.6))

    def test_is_immutable_and_a_copy(self) -> None:
        features, labels = np.zeros((2, 2)), np.zeros(2)
        data = Dataset(features, labels)
        features[0, 0], labels[0] = 7.0, 7.0
        assert data.features[0, 0] == 0.0
        assert data.labels[0] == 0.0
        with pytest.raises(ValueError, match="read-only"):
            data.features[0, 0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            data.labels[0] = 1.0
        with pytest.raises(AttributeError):
            data.name = "other"  # type: ignore[misc]

    def test_stays_immutable_in_a_worker_process(self) -> None:
        copy = pickle.loads(pickle.dumps(small()))
        assert copy.digest == small().digest
        assert not copy.features.flags.writeable
        assert not copy.labels.flags.writeable

    def test_replace_counts_from_one_and_leaves_the_original(self) -> None:
        data = small()
        neighbor = data.replace(2, [9.0, 8.0], -0.5)
        assert neighbor.features.tolist() == [[0.1, 0.2], [9.0, 8.0], [0.5, 0.6]]
        assert neighbor.labels.tolist() == [1.0, -0.5, 1.0]
        assert data.features[1].tolist() == [0.3, 0.4]
        assert neighbor.name == "small, record 2 replaced"
        assert neighbor.scaling == "none"

    @pytest.mark.parametrize("index", [0, 4, -1, 1.0, True, math.nan, "1", None])
    def test_replace_refuses_bad_index(self, index: int) -> None:
        with pytest.raises(InvalidArgumentError, match="index"):
            small().replace(index, [0.0, 0.0], 1.0)

    @pytest.mark.parametrize(
        "features", [[0.0], [0.0, math.nan], [[0.0, 0.0]], ["a", "b"], [True, False], None]
    )
    def test_replace_refuses_bad_features(self, features: object) -> None:
        with pytest.raises(InvalidArgumentError, match="features"):
            small().replace(1, features, 1.0)

    @pytest.mark.parametrize("label", [math.nan, math.inf, [1.0], "1", True, None])
    def test_replace_refuses_bad_label(self, label: float) -> None:
        with pytest.raises(InvalidArgumentError, match="label"):
            small().replace(1, [0.0, 0.0], label)

    def test_goes_to_another_library_and_back(self) -> None:
        there = small().as_namespace(array_api_strict)
        assert type(there.features) is type(array_api_strict.zeros(1))
        assert there.digest == small().digest
        changed = there.replace(1, [0.0, 0.5], 1.0)
        assert type(changed.features) is type(there.features)
        back = changed.as_namespace(np)
        assert back.features[0].tolist() == [0.0, 0.5]
        assert small().as_namespace(np).features.dtype == np.float64

    @pytest.mark.parametrize("bad", [math.nan, math.inf])
    def test_other_libraries_arrays_are_checked_and_copied(self, bad: float) -> None:
        features = array_api_strict.asarray([[0.5, 0.5], [0.1, 0.2]])
        labels = array_api_strict.asarray([1.0, -1.0])
        data = Dataset(features, labels)
        features[0, 0] = 7.0
        assert data.largest_norm < 1
        features[0, 0] = bad
        with pytest.raises(InvalidDataError, match="features contain NaN or infinity"):
            Dataset(features, labels)
        with pytest.raises(InvalidDataError, match="labels have type"):
            Dataset(data.features, array_api_strict.asarray([True, False]))
        whole = Dataset(array_api_strict.asarray([[1, 0], [0, 1]]), labels)
        assert whole.features.dtype == array_api_strict.float64

    def test_digest_tells_neighbors_apart(self) -> None:
        assert small().digest == small().digest
        assert small().digest != small().replace(1, [0.1, 0.2], -1.0).digest

    def test_unit_ball(self) -> None:
        small().in_unit_ball()
        with pytest.raises(InvalidDataError, match=r"norm 1\.5;"):
            small().replace(1, [1.5, 0.0], 1.0).in_unit_ball()

    def test_what_becomes_of_a_record_is_up_to_that_record_alone(self) -> None:
        """Neighbors stay neighbors, also where one record is longer than 1 by rounding and its neighbor's by more."""
        rounded = [1.0 + 2**-52, 0.0]
        left = Dataset([rounded, [1.0, 0.0]], [1.0, 1.0])
        right = left.replace(2, [1.0 + 1e-7, 0.0], 1.0)
        assert [data.in_unit_ball().features[0].tolist() for data in (left, right)] == [rounded] * 2

    @pytest.mark.parametrize(
        ("features", "labels"),
        [
            ([], []),
            ([[]], [1.0]),
            ([1.0, 2.0], [1.0, 2.0]),
            ([[1.0], [2.0]], [1.0]),
            ([[1.0]], [[1.0]]),
            ([[math.nan]], [1.0]),
            ([[1.0]], [math.inf]),
            ([["a"]], [1.0]),
            ([[1.0]], [True]),
            ([[None]], [1.0]),
            ([[1j]], [1.0]),
            (np.array([[object()]]), [1.0]),
        ],
    )
    def test_refuses_bad_arrays(self, features: object, labels: object) -> None:
        with pytest.raises(InvalidDataError, match="allowed"):
            Dataset(features, labels)


@pytest.mark.parametrize("name", list(REAL))
class TestRealData:
    def test_shape_scale_and_labels(self, name: str) -> None:
        data = load(name)
        assert (data.n, data.d) == REAL[name]
        data.in_unit_ball()
        assert data.largest_norm > 0.7
        assert np.max(np.abs(data.labels)) <= 1.0
        if name != "diabetes":
            assert set(data.labels.tolist()) == {-1.0, 1.0}
        assert data.name == name
        assert ("not private" in data.scaling) == (name != "digits")

    def test_smaller_ones_are_reproducible(self, name: str) -> None:
        data = load(name, n=50, d=5, seed=3)
        assert (data.n, data.d) == (50, 5)
        data.in_unit_ball()
        assert data.digest == load(name, n=50, d=5, seed=3).digest
        assert data.digest != load(name, n=50, d=5, seed=4).digest
        assert "random projection" in data.scaling
        assert "50 records" in data.name

    def test_subsampling_takes_distinct_records_of_the_whole(self, name: str) -> None:
        whole, part = load(name), load(name, n=40, seed=1)
        rows = {
            row.tobytes() + label.tobytes() for row, label in zip(whole.features, whole.labels, strict=True)
        }
        kept = [
            row.tobytes() + label.tobytes() for row, label in zip(part.features, part.labels, strict=True)
        ]
        assert set(kept) <= rows
        assert len(load(name, n=whole.n, seed=1).features) == whole.n

    def test_projection_does_not_look_at_the_data(self, name: str) -> None:
        # The projection is linear before shortening: equal up to scale for records that were not shortened,
        # whatever the other records are.
        few, many = load(name, n=10, d=3, seed=2), load(name, n=30, d=3, seed=2)
        np.testing.assert_allclose(few.features, many.features[:10], atol=1e-15)

    @pytest.mark.parametrize("bad", [0, -1, 10**6, 2.0, True, math.nan])
    def test_bad_sizes(self, name: str, bad: int) -> None:
        with pytest.raises(InvalidArgumentError, match="n was"):
            load(name, n=bad)
        with pytest.raises(InvalidArgumentError, match="d was"):
            load(name, d=bad)


def test_digits_scaling_is_the_known_range_of_a_pixel() -> None:
    from sklearn.datasets import load_digits

    pixels = load_digits(return_X_y=True)[0]
    np.testing.assert_allclose(load("digits").features * 64.0 + 8.0, pixels, atol=1e-13)


def test_diabetes_labels_span_the_interval() -> None:
    labels = load("diabetes").labels
    assert (labels.min(), labels.max()) == (-1.0, 1.0)


def test_unknown_name() -> None:
    with pytest.raises(InvalidArgumentError, match="breast-cancer, diabetes, digits"):
        load("iris")
    with pytest.raises(InvalidArgumentError, match="seed"):
        load("digits", seed=-1)


class TestCsv:
    def write(self, folder: Path, text: str) -> Path:
        path = folder / "data.csv"
        path.write_text(text, encoding="utf-8")
        return path

    def test_last_column_is_the_label(self, tmp_path: Path) -> None:
        data = read_csv(self.write(tmp_path, "1,2,3\n4,5e-1,-6\n"))
        assert data.features.tolist() == [[1.0, 2.0], [4.0, 0.5]]
        assert data.labels.tolist() == [3.0, -6.0]
        assert data.name == "data.csv"

    @pytest.mark.parametrize(
        ("column", "features", "label"), [(0, [2, 3], 1), (1, [1, 3], 2), (-3, [2, 3], 1)]
    )
    def test_other_label_columns(
        self, tmp_path: Path, column: int, features: list[float], label: float
    ) -> None:
        data = read_csv(self.write(tmp_path, "1,2,3\n"), label_column=column)
        assert data.features[0].tolist() == features
        assert data.labels[0] == label

    def test_no_label_column(self, tmp_path: Path) -> None:
        data = read_csv(self.write(tmp_path, "1\n2\n"), label_column=None)
        assert data.features.tolist() == [[1.0], [2.0]]
        assert data.labels.tolist() == [0.0, 0.0]

    def test_header_blank_lines_spaces_and_byte_order_mark(self, tmp_path: Path) -> None:
        data = read_csv(self.write(tmp_path, '\ufeff"a",b\n\n 1 , 2\r\n\n3,4\n'))
        assert data.features.tolist() == [[1.0], [3.0]]

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "no records"),
            ("\n\n", "no records"),
            ("a,b\n", "no records"),
            ("1,2\n3\n", "line 2, has 1 cells"),
            ("1,2\n3,4,5\n", "line 2, has 3 cells"),
            ("1,2\n3,nan\n", "line 2, has 'nan'"),
            ("1,2\ninf,4\n", "line 2, has 'inf'"),
            ("1,2\n1e999,4\n", "line 2, has '1e999'"),
            ("1,2\nx,4\n", "line 2, has 'x'"),
            ("1,2\n,4\n", "line 2, has ''"),
            ("1,1_000\n", "line 1, has '1_000'"),
            ("a,1\n2,3\n", "line 1, has 'a'"),
            ("1\n2\n", "one column"),
            ('"1,2\n', "not comma-separated"),
        ],
    )
    def test_bad_files(self, tmp_path: Path, text: str, says: str) -> None:
        with pytest.raises(InvalidDataError, match=says) as caught:
            read_csv(self.write(tmp_path, text))
        assert "\n" not in str(caught.value)

    def test_missing_file_folder_and_bytes(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidDataError, match="does not exist"):
            read_csv(tmp_path / "nothing.csv")
        with pytest.raises(InvalidDataError, match="cannot be read"):
            read_csv(tmp_path)
        (tmp_path / "data.bin").write_bytes(b"\xff\xfe\x00\x01")
        with pytest.raises(InvalidDataError, match="not comma-separated text"):
            read_csv(tmp_path / "data.bin")

    def test_bad_label_column(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "1,2,3\n")
        for missing in (3, -4):
            with pytest.raises(InvalidDataError, match="no label column"):
                read_csv(path, label_column=missing)
        for bad in (1.0, True, "label"):
            with pytest.raises(InvalidArgumentError, match="label_column"):
                read_csv(path, label_column=bad)  # type: ignore[arg-type]


def test_a_table_with_missing_numbers(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("age,hours\n1,\nNA,2\n nan ,3\nnull,N/A\n")
    expected = [[1.0, np.nan], [np.nan, 2.0], [np.nan, 3.0], [np.nan, np.nan]]
    np.testing.assert_array_equal(read_tables([file])[0].numbers, expected)
    with pytest.raises(InvalidDataError, match="allowed: finite numbers"):
        read_csv(file)
    for cell in ("inf", "none", "1_0", "x"):
        file.write_text(f"1,2\n{cell},3\n")
        with pytest.raises(InvalidDataError, match="NA, NaN or null for what is missing"):
            read_tables([file])
