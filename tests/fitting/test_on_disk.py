"""Data that stay on disk: the same bits, and memory that does not grow with the table."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.fitting import DeclaredBounds, fit, tables
from dpverify.fitting.tables import read_labeled
from dpverify.problems import Dataset
from dpverify.problems.per_run import batched_minimizers
from dpverify.problems.tables import mapped


def saved(path: Path, n: int, d: int, kind: Any = np.float64) -> Path:
    """A table of n records of norm at most 1 and a label in the last column."""
    random = np.random.default_rng(0)
    features = random.normal(size=(n, d))
    features /= np.linalg.norm(features, axis=1)[:, None]
    np.save(path, np.column_stack([features, np.where(features[:, 0] > 0, 1, -1)]).astype(kind))
    return path


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of some hundred numbers have several parts, and every CSV file is large."""
    monkeypatch.setattr(mapped, "_NUMBERS_AT_ONCE", 64)
    monkeypatch.setattr(tables, "LARGE", 0)
    monkeypatch.setattr(tables, "_ROWS_AT_ONCE", 7)


@pytest.mark.usefixtures("few_at_once")
@pytest.mark.parametrize("column", [1, 3, 5])
@pytest.mark.parametrize(
    ("method", "bounds"),
    [
        ("fmtt18.alg1", DeclaredBounds()),
        ("fmtt18.stop", DeclaredBounds(norm=0.5, intercept=True)),
        ("bst14.alg-objpert", DeclaredBounds(ranges=[(-0.5, 0.25)])),
    ],
)
def test_the_same_bits_from_disk(tmp_path: Path, column: int, method: str, bounds: DeclaredBounds) -> None:
    there = np.load(saved(tmp_path / "a.npy", 60, 4))
    table = np.insert(there[:, :4], column - 1, there[:, 4], axis=1)
    np.save(tmp_path / "b.npy", table)
    np.savetxt(tmp_path / "b.csv", table, fmt="%.17g", delimiter=",")
    expected = fit(there[:, :4], there[:, 4], epsilon=2.0, method=method, bounds=bounds, seed=3)
    for name in ("b.npy", "b.csv"):
        read = read_labeled(tmp_path / name, str(column))
        assert mapped.is_mapped_numbers(read.features)
        labels = [float(label) for label in read.labels]
        found = fit(read.features, labels, epsilon=2.0, method=method, bounds=bounds, seed=3)
        assert np.array_equal(found.coefficients, expected.coefficients)
        assert found.intercept == expected.intercept
        excess, other = (model.not_private and model.not_private.excess for model in (found, expected))
        assert excess is not None
        assert excess == other


@pytest.mark.usefixtures("few_at_once")
def test_a_mapped_data_set_is_the_one_in_memory(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npy", 50, 3, np.float32)
    table = np.load(path, mmap_mode="r")
    there = np.asarray(table, dtype=np.float64)
    on_disk, expected = (Dataset(one[:, :3], one[:, 3]) for one in (table, there))
    assert mapped.is_mapped_numbers(on_disk.features)
    assert not mapped.is_mapped_numbers(expected.features)
    assert not mapped.is_mapped_numbers(Dataset(np.load(path, mmap_mode="r+")[:, :3], there[:, 3]).features)
    assert (on_disk.digest, on_disk.largest_norm) == (expected.digest, expected.largest_norm)
    assert pickle.loads(pickle.dumps(on_disk)).digest == expected.digest
    assert expected.largest_norm > 1 + 1e-8  # as 32-bit floats leave it
    inside = on_disk.in_unit_ball()
    assert mapped.is_mapped_numbers(inside.features)
    assert np.array_equal(inside.features, expected.in_unit_ball().features)


def peak(path: Path, d: int) -> int:
    """Bytes that were allocated at most at a time for a fit on all records of a file, one a step."""
    table = mapped.read_npy(path)
    labels = table[:, d].astype(int)
    tracemalloc.start()
    try:
        fit(table[:, :d], labels, epsilon=1.0, method="fmtt18.alg1", seed=0, private_only=True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_hold_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the check would see it if parts were gathered in memory."""
    d = 100
    assert peak(saved(tmp_path / "a.npy", 100_000, d, np.float32), d) < 8 * 100_000 * d / 2
    gathered, n = mapped.gathered, 20_000
    monkeypatch.setattr(mapped, "gathered", lambda found, on_disk: gathered(found, on_disk=False))
    assert peak(saved(tmp_path / "b.npy", n, d, np.float32), d) > 8 * n * d


def test_curvatures_are_summed_over_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objective perturbation holds products of coordinates of some records at once; and all of them would be seen."""
    n, d = 2_000, 40
    table = np.load(saved(tmp_path / "a.npy", n, d))
    found = []
    for products in (2**24, 2**16):
        monkeypatch.setattr(batched_minimizers, "_PRODUCTS", products)
        tracemalloc.start()
        try:
            model = fit(
                table[:, :d], table[:, d], epsilon=1.0, method="bst14.alg-objpert", seed=0, private_only=True
            )
            found.append((model.coefficients, tracemalloc.get_traced_memory()[1]))
        finally:
            tracemalloc.stop()
    (expected, all_at_once), (points, in_parts) = found
    np.testing.assert_allclose(points, expected, rtol=1e-9)
    assert all_at_once > 8 * n * d**2 > 4 * in_parts


@pytest.mark.parametrize(
    ("content", "label", "says"),
    [
        (b"no table", "1", "cannot be read as NumPy's file format"),
        (np.array([[1.0, 2.0]], dtype=object), "1", "cannot be read as NumPy's file format"),
        (np.zeros(3), "1", "holds something else"),
        (np.zeros((0, 3)), "1", "holds something else"),
        (np.zeros((2, 3), dtype=complex), "1", "holds something else"),
        (np.zeros((2, 3)), "y", "from 1 to 3"),
        (np.zeros((2, 1)), "1", "no record with a feature"),
        (None, "1", "does not exist"),
    ],
)
def test_bad_files(tmp_path: Path, content: Any, label: str, says: str) -> None:
    path = tmp_path / "a.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content, allow_pickle=True)
    with pytest.raises((InvalidDataError, InvalidArgumentError), match=says):
        read_labeled(path, label)


def test_a_first_row_of_numbers_is_a_record(tmp_path: Path) -> None:
    """Also where one of them is written as the column's number."""
    (tmp_path / "a.csv").write_text("1,0.5\n-1,0.25\n")
    read = read_labeled(tmp_path / "a.csv", "1")
    assert (read.labels, read.features.tolist(), read.names) == (("1", "-1"), [[0.5], [0.25]], ("2",))


def test_infinite_numbers_on_disk_are_refused(tmp_path: Path) -> None:
    table = np.load(saved(tmp_path / "a.npy", 5, 2))
    table[3, 1] = np.inf
    np.save(tmp_path / "a.npy", table)
    read = read_labeled(tmp_path / "a.npy", "3")
    with pytest.raises(InvalidDataError, match="missing or infinite"):
        fit(read.features, [1] * 5, epsilon=1.0, method="fmtt18.alg1", seed=0)
    with pytest.raises(InvalidDataError, match="NaN or infinity"):
        Dataset(read.features, np.ones(5))
