"""Sample files: what is read, and what is refused with one sentence."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np
import pytest

from dpverify.auditing import Encoder, audit_privacy, check_pair, check_samples, read_samples
from dpverify.errors import InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import PureDP


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "f4", "f2", "i8", "u1", "?"])
@pytest.mark.parametrize("shape", [(120,), (120, 1), (120, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_round_trip(tmp_path: Path, dtype: str, shape: tuple[int, ...], order: str) -> None:
    size = math.prod(shape)
    values = np.asarray((np.arange(size) % 2).reshape(shape), dtype=dtype, order=order)  # type: ignore[call-overload]
    np.save(tmp_path / "s.npy", values)
    read = read_samples(tmp_path / "s.npy")
    assert read.dtype == values.dtype
    assert np.array_equal(read, values)


def test_csv_with_and_without_headings(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(150, 2))
    np.savetxt(tmp_path / "plain.csv", values, delimiter=",", fmt="%.17g")
    np.savetxt(tmp_path / "named.csv", values, delimiter=",", fmt="%.17g", header="a,b", comments="")
    np.savetxt(tmp_path / "one.csv", values[:, 0], fmt="%.17g")
    assert np.array_equal(read_samples(tmp_path / "plain.csv"), values)
    assert np.array_equal(read_samples(str(tmp_path / "named.csv")), values)
    assert np.array_equal(read_samples(tmp_path / "one.csv"), values[:, 0])


@pytest.mark.parametrize("separator", [" ", ";", "\t"])
def test_numbers_that_no_commas_separate_are_refused(separator: str, tmp_path: Path) -> None:
    place = tmp_path / "s.csv"
    place.write_text(f"1{separator}2\n3{separator}4\n")
    with pytest.raises(InvalidDataError, match="commas do not divide into numbers"):
        read_samples(place)
    place.write_text(f"{2**70}\n")  # a single line has no other lines
    with pytest.raises(InvalidDataError, match="has 1 run; allowed: at least 100"):
        read_samples(place)


class Bomb:
    """Unpickling this leaves a trace."""

    def __init__(self, trace: str) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (self.trace, "w")


def test_nothing_is_ever_unpickled(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    objects = np.empty(200, dtype=object)
    objects[:] = Bomb(str(trace))
    np.save(tmp_path / "objects.npy", objects, allow_pickle=True)
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps([Bomb(str(trace))] * 200))
    with pytest.raises(InvalidDataError, match="never unpickled"):
        read_samples(tmp_path / "objects.npy")
    with pytest.raises(InvalidDataError, match=r"not a \.npy file"):
        read_samples(tmp_path / "pickle.npy")
    assert not trace.exists()


def _npy(path: Path, array: object) -> None:
    np.save(path, np.asarray(array))


def test_refusals_of_npy_files(tmp_path: Path) -> None:
    bad = {
        "scalar": (np.float64(3.0), "shape"),
        "few": (np.zeros(99), "99 runs"),
        "none": (np.zeros((0, 3)), "0 runs"),
        "flat": (np.zeros((150, 0)), "at least one number"),
    }
    for name, (array, message) in bad.items():
        _npy(tmp_path / f"{name}.npy", array)
        with pytest.raises(InvalidDataError, match=message) as caught:
            read_samples(tmp_path / f"{name}.npy")
        _is_one_sentence(caught.value)


def test_truncated_and_forged_headers(tmp_path: Path) -> None:
    np.save(tmp_path / "whole.npy", np.zeros(1000))
    whole = (tmp_path / "whole.npy").read_bytes()
    huge = whole.replace(b"(1000,), }      ", b"(1000000000000,), }"[:16].ljust(16))
    forged = {
        "cut.npy": whole[:-8],
        "longer.npy": whole + b"\0",
        "header.npy": whole[:20],
        "magic.npy": whole[:3],
        "version.npy": whole[:6] + b"\x09\x09" + whole[8:],
        "huge.npy": whole.replace(b"(1000,)", b"(10**9,)"),
        "negative.npy": whole.replace(b"(1000,),  ", b"(-25,-40),"[:10]),
        "garbage.npy": b"\x93NUMPY" + bytes(range(256)),
        "huge2.npy": huge,
    }
    for name, content in forged.items():
        (tmp_path / name).write_bytes(content)
        if content == whole:
            continue
        with pytest.raises(InvalidDataError) as caught:
            read_samples(tmp_path / name)
        _is_one_sentence(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no runs"),
        (b"\n\n\n", "no runs"),
        (b"1,2\n3\n" * 100, "lines of 1 and of 2 cells, so that it does not read as a table"),
        (b'1,"x\n' * 200, "does not read as a table"),
        (b"1,x\0\n" * 200, "table|NUL"),
        (b"1\n" * 99, "99 runs"),
        (b"0.5 1.5e-3\n" * 200, r"line 200, has '0.5 1.5e-3', which commas do not divide"),
        (b"x;y\n" + b"0.5;-1\n" * 200, "commas do not divide"),
        (b"1\t2\n" * 200, "commas do not divide"),
        (b"\xff\xfe\x00" * 50, "UTF-8"),
    ],
)
def test_refusals_of_csv_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "s.csv").write_bytes(content)
    with pytest.raises(InvalidDataError, match=message) as caught:
        read_samples(tmp_path / "s.csv")
    _is_one_sentence(caught.value)


def test_refusals_of_paths(tmp_path: Path) -> None:
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "no.npz").write_bytes(b"PK")
    np.savez(tmp_path / "uneven.npz", a=np.zeros(200), b=np.zeros(201))
    (tmp_path / "s.parquet").write_bytes(b"PAR1")
    (tmp_path / "s.txt").write_text("1\n" * 200)
    (tmp_path / "bare").write_text("1\n" * 200)
    (tmp_path / "empty.npy").touch()
    for name, message in [
        ("missing.npy", "does not exist"),
        ("folder.npy", "not a file"),
        ("no.npz", r"not a \.npz file"),
        ("uneven.npz", r"arrays of shapes \(200,\), \(201,\)"),
        ("s.parquet", "pyarrow, which is not installed|is not a Parquet file"),
        ("s.txt", r"\.txt"),
        ("bare", "nothing"),
        ("empty.npy", "is empty"),
    ]:
        with pytest.raises(InvalidDataError, match=message) as caught:
            read_samples(tmp_path / name)
        _is_one_sentence(caught.value)


def test_pairs_have_equal_shapes() -> None:
    left, right = check_pair(np.zeros(200), np.ones(200, dtype=bool))
    assert left.shape == right.shape == (200, 1)
    for other in (np.zeros(201), np.zeros((200, 1)), np.zeros((200, 2))):
        with pytest.raises(InvalidDataError, match="equal shapes"):
            check_pair(np.zeros(200), other)
    with pytest.raises(InvalidDataError, match="right has NaN"):
        check_pair(np.zeros(200), np.full(200, math.nan))


@pytest.mark.parametrize("samples", [[[1.0, 2.0], [3.0]], None, "abc", {"a": 1}])
def test_what_is_not_an_array(samples: object) -> None:
    with pytest.raises(InvalidDataError):
        check_samples(samples, "left")  # type: ignore[arg-type]


def _is_one_sentence(error: InvalidDataError) -> None:
    message = str(error)
    assert "\n" not in message
    assert "allowed:" in message
    assert message.endswith(".")


LARGE = 2**53


@pytest.mark.parametrize(
    ("one", "other", "dtype"),
    [
        (LARGE, LARGE + 1, np.int64),
        (-LARGE, -LARGE - 1, np.int64),
        (2**63 - 1, 2**63 - 2, np.int64),
        (-(2**63), -(2**63) + 1, np.int64),
        (2**64 - 1, 2**64 - 2, np.uint64),
        (LARGE + 1, LARGE + 2, np.uint64),
    ],
)
def test_large_integers_stay_apart(tmp_path: Path, one: int, other: int, dtype: type) -> None:
    left, right = np.full(400, one, dtype=dtype), np.full(400, other, dtype=dtype)
    p, q = check_pair(left, right)
    assert p.dtype == q.dtype == np.float64
    assert (p != q).any(axis=1).all()
    audit = audit_privacy(left, right, PureDP(1.0), adjacency="replace-one", failure_probability=1e-6, seed=1)
    assert audit.verdict is Verdict.VIOLATED
    for name, values in (("left", left), ("right", right)):
        np.save(tmp_path / f"{name}.npy", values)
        (tmp_path / f"{name}.csv").write_text("\n".join(str(v) for v in values.tolist()))
    for kind in ("npy", "csv"):
        again = check_pair(read_samples(tmp_path / f"left.{kind}"), read_samples(tmp_path / f"right.{kind}"))
        assert (again[0] != again[1]).any(axis=1).all()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long floats are no longer than others here")
def test_long_floats_stay_apart() -> None:
    one = np.full(100, 1, dtype=np.longdouble)
    p, q = check_pair(one, one + np.finfo(np.longdouble).eps)
    assert (p != q).any(axis=1).all()


def test_rows_of_large_integers_are_told_apart_as_the_integers_are() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(-(2**63), 2**63 - 1, (500, 2)) // rng.choice([1, 2**8, 2**40], (500, 1))
    values[250:] = values[:250]
    p, _ = check_pair(values, values)
    assert np.unique(p, axis=0).shape[0] == np.unique(values, axis=0).shape[0]
    assert np.array_equal(p[:250], p[250:])


@pytest.mark.parametrize("row", [f"{LARGE + 1},0.5", str(10**30 + 1), str(2**64 - 1), "-" + "9" * 3000])
def test_integers_of_any_size_are_read_exactly(tmp_path: Path, row: str) -> None:
    """The last digit of the first number tells the sides apart, and nothing else does."""
    first, *others = row.split(",")
    other = ",".join((str(int(first) - 1), *others))
    (tmp_path / "left.csv").write_text(f"{row}\n" * 100)
    (tmp_path / "right.csv").write_text(f"{other}\n" * 100)
    left, right = Encoder().rows(read_samples(tmp_path / "left.csv"), read_samples(tmp_path / "right.csv"))
    assert (left != right).any(axis=1).all()
    assert len(np.unique(np.concatenate([left, right]), axis=0)) == 2


def test_large_integers_that_floats_hold_are_floats(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(f"{2**60},0.5\n{2**61},0.25\n" * 50)
    found = read_samples(tmp_path / "s.csv")
    rows, _ = Encoder().rows(found, found)
    assert np.array_equal(rows, np.tile([[2.0**60, 0.5], [2.0**61, 0.25]], (50, 1)))


def test_integers_beside_floats() -> None:
    p, q = check_pair(np.full(100, LARGE + 1), np.full(100, float(LARGE)))
    assert (p != q).any(axis=1).all()
    p, q = check_pair(np.full(100, 3), np.full(100, 3.0))
    assert np.array_equal(p, q)


def test_text_may_hold_spaces(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("one 2\n3 2\n" * 60)
    read = read_samples(tmp_path / "s.csv")
    assert (len(read), str(read[-2]), str(read[-1])) == (120, '"one 2"', '"3 2"')
