"""Data sets that are no neighbors are refused before anything is run on them; what is asked for must fit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpverify.auditing import Request
from dpverify.auditing import audit as answered
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.running import run

SOURCE = """
def noise(data, rng, runs):
    return data.mean() + rng.laplace(size=runs)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a module in it that is forgotten afterwards."""
    (tmp_path / "their_noise.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("their_noise", None)


def asked(target: str, **more: Any) -> Request:
    return Request(target, "d.csv", "e.csv", **{"failure_probability": 1e-3, **more})


def audit(left: str, right: str, **more: Any) -> PrivacyEvidence:
    for name, records in (("d.csv", left), ("e.csv", right)):
        Path(name).write_text("\n".join(records.split()) + "\n")
    return answered(asked("their_noise:noise", **{"claim": "eps=2", "runs": 400, "fixed_runs": True, **more}))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("0,1 2,3 4,5", "0,1 2,9 4,5"),
        ("0,1 2,3 4,5", "0,1 8,9 4,5"),
        ("0", "1"),
        ("a,b 0,1 2,3", "c,d 0,1 2,4"),
        ("1 1 1", "1 1 0"),
    ],
)
def test_neighbors_are_audited(left: str, right: str) -> None:
    assert audit(left, right).adjacency == "replace-one"


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ("0 1 2", "0 1 2", "d.csv and e.csv hold the same records, so nothing would be tested"),
        ("0 1 2", "0.0 1e0 2", "hold the same records, so nothing would be tested"),
        ("0,1 2,3", "0,9 2,9", r"differ in 2 of 2 records; allowed .* exactly one\.$"),
        ("0 1 2 3", "9 1 8 7", r"differ in 3 of 4 records; allowed .* exactly one\.$"),
        ("0 1 2", "1 0 2", "the same records in another order; allowed: the same order in both"),
        ("0 0 1 1", "0 1 1 0", "the same records in another order"),
        ("0 1 2", "2 9 0", r"differ in 3 of 3 records; .* exactly one \(as it would be .* same order\)"),
        ("0 1 2", "0 1", "have 3 and 2 records; .* add-or-remove-one is for"),
        ("0 1", "0,1 1,1", r"have records of shapes \(1,\) and \(2,\)"),
    ],
)
def test_others_are_refused(left: str, right: str, message: str) -> None:
    with pytest.raises(InvalidDataError, match=message):
        audit(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [("0,1 2,3", "0,1"), ("0,1", "0,1 2,3"), ("0 1 2", "0 2"), ("0 1", "5 0 1"), ("0 0", "0")],
)
def test_one_record_more_is_audited(left: str, right: str) -> None:
    found = audit(left, right, adjacency="add-or-remove-one")
    assert found.adjacency == "add-or-remove-one"
    assert "--adjacency add-or-remove-one" in found.reproduce


@pytest.mark.parametrize(
    ("left", "right", "adjacency", "message"),
    [
        ("0 1", "0 2", "add-or-remove-one", "have 2 and 2 records; .* differ by one"),
        ("0 1", "0 1 2 3", "add-or-remove-one", "have 2 and 4 records; .* differ by one"),
        ("0 1 2", "0 3", "add-or-remove-one", "differ in more than one record that is added or removed"),
        ("0 1 2", "2 1", "add-or-remove-one", "in the same order, and one more"),
        ("0 1", "0 2", "index", "index was None; allowed: an integer of at least 1"),
        ("0 1", "0 2", "neighbors", "adjacency was 'neighbors'"),
    ],
)
def test_others_are_no_neighbors_so(left: str, right: str, adjacency: str, message: str) -> None:
    with pytest.raises((InvalidDataError, InvalidArgumentError), match=message):
        audit(left, right, adjacency=adjacency)


@pytest.mark.usefixtures("folder")
def test_the_clock_decides_nothing_but_the_number_of_runs() -> None:
    audit("0 1", "0 2")  # writes the files
    lines: list[str] = []

    def sequentially(**more: Any) -> PrivacyEvidence:
        request = asked("their_noise:noise", **{"claim": "eps=0.2", "runs": 5000, "seed": 4, **more})
        return answered(request, tell=lines.append)

    cut = sequentially(time=1e-9)
    assert (cut.runs, cut.verdict) == (16, "undecided")
    assert cut.sequential is not None
    assert cut.sequential.ended_by == "the limit of 1e-09 s"
    assert "--runs 16 " in cut.reproduce
    again = sequentially(runs=16)
    assert (again.runs, again.verdict, again.epsilon_lower) == (cut.runs, cut.verdict, cut.epsilon_lower)
    assert again.sequential is not None
    assert again.sequential.log_evidence == cut.sequential.log_evidence
    whole = sequentially(store="s", executor="threads=2")
    assert whole.verdict == "violated"
    assert whole.reuse is not None
    assert whole.reuse.blocks_taken == 0
    once_more = sequentially(store="s")
    assert once_more.reuse is not None
    assert once_more.reuse.blocks_taken == once_more.reuse.blocks > 0
    assert (once_more.runs, once_more.sequential) == (whole.runs, whole.sequential)
    assert lines[0].startswith("0.2-DP can be refuted within 5000 runs on each data set")


def test_randomness_from_elsewhere_is_noticed_round_by_round() -> None:
    audit("0 1", "0 2")  # writes the files
    Path("elsewhere.py").write_text(
        "import numpy as np\ndef noise(data, rng, runs):\n    return data.sum() + np.random.laplace(size=runs)\n"
    )
    found = answered(asked("elsewhere:noise", claim="eps=2", runs=48))
    assert found.repeats is False
    assert found.reproduce.startswith("cannot be reproduced from the seed")


def test_more_outputs_than_memory_holds_are_refused_at_once() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"runs was 10000000000000; allowed: at most .* fit into 2 GiB"
    ):
        audit("0 1", "0 2", runs=10**13)


def test_large_outputs_are_refused_after_the_first_block() -> None:
    audit("0 1", "0 2")  # writes the files
    Path("wide.py").write_text("def wide(data, rng, runs):\n    return rng.normal(size=(runs, 1000))\n")
    with pytest.raises(
        InvalidArgumentError, match=r"runs was 100000; allowed: at most .* outputs of 8032 bytes"
    ):
        answered(asked("wide:wide", claim="eps=1", runs=100_000, fixed_runs=True, memory_limit=0.25))


def test_the_same_holds_in_the_api() -> None:
    def noise(data: Any, *, rng: Any, runs: int) -> Any:
        return rng.normal((runs, 1000), "noise")

    for runs, limit in ((10**15, None), (10**5, 2**20)):
        with pytest.raises(InvalidArgumentError, match=f"runs was {runs}; allowed: at most"):
            run(noise, None, runs=runs, seed=1, block_size=10, result_limit=limit)


@pytest.mark.parametrize(
    ("left", "right", "adjacency"),
    [
        ("0,0 1,2", "3,4 1,2", "zero-out"),
        ("5", "0", "zero-out"),
        ("0 1 2", "1 0.5 2", "answers-within-1"),
        ("7", "7.5", "answers-within-1"),
        ("0 1 2", "5 4", "unchecked"),
        ("0,1", "0,1,2", "unchecked"),
    ],
)
def test_other_relations_are_audited(left: str, right: str, adjacency: str) -> None:
    found = audit(left, right, adjacency=adjacency)
    assert found.adjacency == adjacency
    assert f"neighbors: {adjacency}" in found.reason
    assert f"--adjacency {adjacency}" in found.reproduce


@pytest.mark.parametrize(
    ("left", "right", "adjacency", "message"),
    [
        ("0 1", "5 1", "replace-one", ""),
        ("2 1", "5 1", "zero-out", "differ in record 1, which is zero in neither"),
        ("0 0", "5 6", "zero-out", "differ in 2 of 2 records"),
        ("0", "0 1", "zero-out", "have 1 and 2 records"),
        ("0 1", "0 2.5", "answers-within-1", r"differ by 1\.5; allowed: each moves by at most 1"),
        ("0 1", "0 1 2", "answers-within-1", "have 2 and 3 answers"),
        ("0 1", "0 1", "unchecked", "hold the same records"),
    ],
)
def test_each_relation_has_its_own_neighbors(left: str, right: str, adjacency: str, message: str) -> None:
    if not message:
        assert audit(left, right, adjacency=adjacency).adjacency == adjacency
        return
    with pytest.raises(InvalidDataError, match=message):
        audit(left, right, adjacency=adjacency)
