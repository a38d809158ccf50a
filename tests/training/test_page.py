"""The page how-to/train-with-canaries.md runs as written, and names what the examples have."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "train-with-canaries.md").read_text(encoding="utf-8")


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)
    exec(compile("\n".join(code), "train-with-canaries.md", "exec"), {"__name__": "page"})
    said = re.findall(r"^```text\n(.*?)^```", PAGE, re.S | re.M)
    assert capsys.readouterr().out == "".join(said)
    for name in ("scores", "members"):
        with (tmp_path / "scores" / f"{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) == 500
    assert (tmp_path / "scores" / "canaries.json").exists()


def test_the_table_has_the_faults_of_the_examples() -> None:
    from .test_trainings import FOUND, NOT_FOUND, example

    rows = re.findall(r"^\| .* \| `([\w-]+)` \| (.*?) \| (.*?) \|$", PAGE, re.M)
    numpy = example("numpy")
    assert {row[0] for row in rows} == set(numpy.FAULTS)
    found = {
        (kind, fault)
        for fault, *cells in rows
        for kind, cell in zip(("gradient", "blank"), cells, strict=True)
        if "**found**" in cell
    }
    assert found == {(kind, fault) for kind, fault, *_ in FOUND}
    assert not found & set(NOT_FOUND)
    assert f"epsilon {numpy.CLAIM.smallest_epsilon(numpy.DELTA).upper:.3f} at delta 1e-5" in " ".join(
        PAGE.split()
    )
    for library in ("opacus", "jax_privacy"):
        text = (DOCS / "examples" / f"one_run_{library}.py").read_text(encoding="utf-8")
        for line in re.findall(r"^(?:RECORDS|STEPS|CLIP|DELTA|FAULTS|LEARNING_RATE)\b.*$", text, re.M):
            assert line.partition("  #")[0] in Path(str(numpy.__file__)).read_text(encoding="utf-8")
