"""The recorder keeps its coins, and writes what was done."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.training import CanaryRecorder, blank_records, spread_gradients

FEATURES, LABELS = np.ones((9, 8)), np.zeros(9)


def gradients(seed: int | None = 0, count: int = 6) -> CanaryRecorder:
    return CanaryRecorder(spread_gradients(count, 50, norm=1.0, seed=0), seed=seed)


def records() -> CanaryRecorder:
    return CanaryRecorder(blank_records(FEATURES, LABELS, 6, value=1.0, label=0, seed=0), seed=0)


def test_files_say_what_was_seen(tmp_path: Path) -> None:
    recorder = gradients()
    data = recorder.training_set(FEATURES, LABELS)
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=50), rng.normal(size=50)
    recorder.see([first[:20].reshape(4, 5), first[20:]])
    recorder.checkpoint(1)
    recorder.see(second)
    recorder.checkpoint(2)
    recorder.write(tmp_path / "new" / "folder")
    place = tmp_path / "new" / "folder"
    scores = np.genfromtxt(place / "scores.csv", delimiter=",", names=True)
    assert scores.dtype.names == ("score_1", "score_2")
    assert np.array_equal(scores["score_1"], recorder.canaries.scores(first))  # type: ignore[union-attr]
    assert np.allclose(scores["score_2"], recorder.canaries.scores(first + second))  # type: ignore[union-attr]
    with (place / "members.csv").open() as file:
        members = [row["member"] for row in csv.DictReader(file)]
    inside = np.unique(data.canary)[1:]
    assert members == ["1" if one in inside else "0" for one in range(6)]
    said = json.loads((place / "canaries.json").read_text())
    assert said["canaries"] == {
        "kind": "spread gradient", "count": 6, "norm": 1.0, "dimension": 50, "support": 8, "seed": 0,
    }  # fmt: skip
    assert said["coins"] == {"from": "seed", "seed": "0", "commitment": recorder.commitment}
    assert said["updates"] == 2
    assert said["given"] == [
        {"what": "training set", "after_updates": 0, "records": 9, "canaries": len(inside)},
        {"what": "scores", "after_updates": 1, "step": 1},
        {"what": "scores", "after_updates": 2, "step": 2},
    ]
    assert "numpy" in said["versions"]
    for name, digest in said["files"].items():
        assert hashlib.sha256((place / name).read_bytes()).hexdigest() == digest


def test_the_same_seed_writes_the_same_files(tmp_path: Path) -> None:
    written = []
    for _ in range(2):
        recorder = records()
        recorder.training_set(FEATURES, LABELS)
        recorder.record_losses(np.arange(6.0), reference=np.full(6, 2.0))
        recorder.write(tmp_path)
        written.append({file.name: file.read_bytes() for file in tmp_path.iterdir()})
    assert written[0] == written[1]
    assert written[0]["scores.csv"] == b"score\n2.0\n1.0\n0.0\n-1.0\n-2.0\n-3.0\n"
    assert set(written[0]) == {"scores.csv", "members.csv", "canaries.json"}


def test_coins_are_fair_and_independent_of_the_canaries() -> None:
    """By a fixed seed; otherwise with probability 1e-6, by Hoeffding's inequality."""
    recorder = CanaryRecorder(spread_gradients(20_000, 20_000, norm=1.0, seed=7), seed=7)
    recorder.see(np.zeros(20_000))
    recorder.checkpoint()
    members = recorder.finish().members
    within = np.sqrt(np.log(4 / 1e-6) / 2 / 20_000)
    assert abs(members.mean() - 0.5) < within
    first = np.argsort(recorder.canaries.owner)  # type: ignore[union-attr]
    assert abs((members == (recorder.canaries.signs[first] > 0)).mean() - 0.5) < within  # type: ignore[union-attr]


def test_coins_of_the_system_differ() -> None:
    one, other = gradients(None, 40), gradients(None, 40)  # alike with probability 2^-128
    assert one.commitment != other.commitment
    assert gradients(0).commitment == gradients(0).commitment != gradients(1).commitment


def test_nothing_public_tells_the_coins_before_the_end() -> None:
    recorder = gradients()
    assert {name for name in dir(recorder) if not name.startswith("_")} == {
        "canaries", "checkpoint", "commitment", "finish", "record_losses", "record_scores", "see", "training_set",
        "write",
    }  # fmt: skip


def test_a_folder_without_the_record_is_not_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk at the second file leaves no record, not even that of an earlier training."""
    first = gradients()
    first.see(np.ones(50))
    first.checkpoint()
    first.write(tmp_path)
    from dpverify.training import recorder as module

    def full(path: Path, content: bytes) -> None:
        if path.name == "members.csv":
            raise OSError(28, "No space left on device")
        path.write_bytes(content)

    monkeypatch.setattr(module, "write_whole", full)
    with pytest.raises(InvalidArgumentError, match=r"folder was .*No space left"):
        first.write(tmp_path)
    assert not (tmp_path / "canaries.json").exists()


@pytest.mark.parametrize(("do", "argument"), [
    (lambda r: r.record_scores(np.zeros(5)), "scores"),
    (lambda r: r.record_scores(np.zeros((6, 1))), "scores"),
    (lambda r: r.record_scores([0, 1, 2, 3, 4, float("nan")]), "scores"),
    (lambda r: r.record_scores([0, 1, 2, 3, 4, float("inf")]), "scores"),
    (lambda r: r.record_scores(["a"] * 6), "scores"),
    (lambda r: r.record_losses(np.zeros(6), reference=np.zeros(5)), "reference"),
    (lambda r: r.record_losses(np.full(6, np.nan)), "losses"),
    (lambda r: r.record_losses(np.zeros(7)), "scores"),
    (lambda r: r.record_scores(np.zeros(6), step=-1), "step"),
    (lambda r: r.record_scores(np.zeros(6), step=True), "step"),
    (lambda r: (r.record_scores(np.zeros(6), step=4), r.record_scores(np.zeros(6), step=4)), "step"),
    (lambda r: (r.record_scores(np.zeros(6), step=4), r.record_scores(np.zeros(6))), "step"),
    (lambda r: (r.record_scores(np.zeros(6)), r.record_scores(np.zeros(6), step=4)), "step"),
    (lambda r: r.training_set([[1.0]], LABELS), "features"),
    (lambda r: r.training_set(FEATURES, LABELS[:-1]), "labels"),
    (lambda r: r.training_set(FEATURES, 3.0), "labels"),
    (lambda r: (r.record_scores(np.zeros(6)), r.finish(), r.record_scores(np.zeros(6))), "recorder"),
    (lambda r: (r.record_scores(np.zeros(6)), r.finish(), r.training_set(FEATURES, LABELS)), "recorder"),
])  # fmt: skip
@pytest.mark.parametrize("make", [gradients, records])
def test_bad_arguments_are_refused(make: Any, do: Any, argument: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^{argument} was .*; allowed: .*\\.$"):
        do(make())


def test_updates_are_for_gradients_and_fit_them(tmp_path: Path) -> None:
    for update in (np.zeros(49), [np.zeros(30), np.zeros(21)], np.full(50, np.nan), ["a"], [], None):
        with pytest.raises(InvalidArgumentError, match=r"^update was"):
            gradients().see(update)
    with pytest.raises(InvalidArgumentError, match=r"^canaries was 'blank record'"):
        records().see(np.zeros(50))
    for recorder in (gradients(), records()):
        with pytest.raises(InvalidArgumentError, match=r"^updates was 0"):
            recorder.checkpoint()
        with pytest.raises(InvalidDataError, match="There are no scores"):
            recorder.write(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidArgumentError, match=r"^features was"):
        records().training_set(np.ones((9, 7)), LABELS)
    with pytest.raises(InvalidArgumentError, match=r"^canaries was"):
        CanaryRecorder([1])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match=r"^seed was"):
        gradients(2**128)


def test_a_folder_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    recorder = records()
    recorder.record_scores(np.zeros(6))
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", "a\0b"):
        with pytest.raises(InvalidArgumentError, match=r"^folder was"):
            recorder.write(folder)


@pytest.mark.parametrize("score", [lambda x: x[1:], lambda x: 0.0, lambda x: x / 0, lambda x: np.nan * x])
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_a_score_of_a_step_is_a_number_a_canary(score: Any) -> None:
    recorder = CanaryRecorder(spread_gradients(6, 50, norm=1.0, seed=0), seed=0, step_score=score)
    with pytest.raises(InvalidArgumentError, match=r"^step_score was"):
        recorder.see(np.ones(50))
