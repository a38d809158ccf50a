"""Data sets that are no neighbors are refused before anything is run on them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpverify.errors import InvalidDataError
from dpverify.evidence import PrivacyEvidence
from dpverify.verification.user_audits import audit_function

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


def audit(left: str, right: str) -> PrivacyEvidence:
    for name, records in (("d.csv", left), ("e.csv", right)):
        Path(name).write_text("\n".join(records.split()) + "\n")
    return audit_function(
        "their_noise:noise",
        Path("d.csv"),
        Path("e.csv"),
        claim="eps=2",
        runs=400,
        failure_probability=1e-3,
        seed=0,
    )


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
        ("0 1 2", "0 1", r"have \(3, 1\) and \(2, 1\) records and columns"),
        ("0 1", "0,1 1,1", r"have \(2, 1\) and \(2, 2\) records and columns"),
    ],
)
def test_others_are_refused(left: str, right: str, message: str) -> None:
    with pytest.raises(InvalidDataError, match=message):
        audit(left, right)
