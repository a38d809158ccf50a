"""What the page on auditing one's own code shows runs as written, and finds what it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpverify.cli import main
from dpverify.privacy.claims import _CLAIMS, parse_claim

PAGE = (Path(__file__).parents[2] / "docs" / "audit-your-own-code.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.S | re.M)
AUDITS = [
    line for script in SCRIPTS for line in script.splitlines() if re.match("dpverify (audit|tails)", line)
]
EXPECTED = [
    ("survey:answer", 1, "a category and a number"),
    ("estimators:PrivateMean", 0, "a number"),
    ("estimators:generous", 1, "a number"),
    ('--command "python', 0, "a category and a number"),
    ('--command "sh', 1, "a number"),
    ("--left", 0, "a category and a number"),
    ("threshold:above", 1, "a list of 1 to four categories"),
    ("--search-neighbors", 1, "a number"),
    ("--pair", 1, "a number"),
    ("--structure", 1, "a number"),
    ("tails sampler:normal", 1, None),
]
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's files in it, made by its own commands but for the audits."""
    place = tmp_path_factory.mktemp("page")
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M):
        name = re.match(r"# (\w+\.py)\n", block)
        assert name is not None
        (place / name[1]).write_text(block, encoding="utf-8")
    for script in SCRIPTS:
        rest = re.sub(r"^dpverify (audit|tails).*\n", "", script, flags=re.M)
        done = subprocess.run(
            ["bash", "-ec", rest],
            cwd=place,
            env={**os.environ, "PATH": PATH},
            check=True,
            stdout=subprocess.PIPE,
        )
        if "ask.py" in rest:
            assert done.stdout.decode() == "supported True\nviolated True\n"
    return place


def test_each_form_of_a_claim_stands_in_the_table() -> None:
    (table,) = re.findall(r"^## What a claim may be\n\n(.*?)\n\n", PAGE, re.S | re.M)
    shown = re.findall(r"`(\w[\w-]*=[^`]*)`", table)
    forms = {tuple(re.findall(r"([\w-]+)=", claim)) for claim in shown}
    assert forms == {*(names for _, names, _ in _CLAIMS), ("rdp",), ("profile",), ("pld",), ("tradeoff",)}
    for claim in shown:
        if "FILE" not in claim:
            parse_claim(claim)


def test_the_table_is_of_the_audits_on_the_page() -> None:
    assert len(AUDITS) == len(EXPECTED)
    for line, (word, _, _) in zip(AUDITS, EXPECTED, strict=True):
        assert word in line


@pytest.mark.parametrize(("line", "code", "outputs"), [
    (line, code, outputs) for line, (_, code, outputs) in zip(AUDITS, EXPECTED, strict=False)
], ids=[word for word, _, _ in EXPECTED])  # fmt: skip
def test_audits_find_what_the_page_says(
    line: str,
    code: int,
    outputs: str | None,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A correct claim is flagged with probability 1e-3; the seed is 0, and all draws follow from it."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", PATH)
    program, *arguments = shlex.split(line)
    assert program == "dpverify"
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    assert ended.value.code == code, out + err
    assert ("violated" if code else "supported") in out
    if outputs is None:
        assert "ends at 5.768" in out
        cost = re.search(r"delta at least (\S+),", out)
        assert cost is not None
        assert f"a delta of {float(cost[1]):.1e} for answers" in PAGE
        return
    assert re.search(rf"outputs\s+{outputs}\s*$", out, re.M), out
    wanted = re.search(r"--adjacency (\S+)", line)
    assert f"(adjacency: {wanted[1] if wanted else 'as' if '--left' in line else 'replace-one'}" in out
