"""What the README shows runs as written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpverify.auditing.requests.options import GIB, RUNS, SECONDS
from dpverify.ledger.document import Ledger
from dpverify.ledger.verdicts import Consequence
from dpverify.problems import load
from dpverify.pytest_plugin.options import DEFAULT_FAILURE_PROBABILITY
from dpverify.reports import ledger_json, parse_ledger
from dpverify.running.foresight import CALL_LIMIT
from dpverify.verification.catalog.entries import catalog_entries
from dpverify.verification.catalog.rows import ProofRecord
from dpverify.verification.kept_thresholds import with_thresholds
from dpverify.views.letters.faults import letters
from dpverify.views.roots import roots_of_ledger

from ..benchmarks.pages import counted, letters_on_papers

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.S | re.M)


def shell(script: str, folder: Path, cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(cache or folder / "cache")}
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the README's files in it."""
    for block in blocks("python"):
        if name := re.match(r"# (\w+\.py)\n", block):
            (tmp_path / name[1]).write_text(block, encoding="utf-8")
    return tmp_path


def test_own_function_is_found_out(folder: Path) -> None:
    (script,) = [block for block in blocks("sh") if "dpverify audit my_release" in block]
    done = shell(script, folder)
    assert done.returncode == 1, done.stderr
    assert "violated" in done.stdout
    (shown,) = blocks("text")
    said = " ".join(done.stdout.split())
    for part in re.split(r"\.\.\.", " ".join(shown.split())):
        assert part.strip() in said
    ((first, second),) = re.findall(
        r"came in\s+(\d+) of \d+ outputs on the first data set, (\d+) on", done.stdout
    )
    assert f"came {first} times on the first and {second} times on the second" in " ".join(TEXT.split())
    fixed = shell(script.replace('"eps=1"', '"eps=1" --fixed-runs'), folder).stdout
    found = re.search(r"epsilon at least\s+([0-9.]+)", fixed)
    assert found is not None
    assert f"`epsilon at least {float(found[1]):.2g}` or so" in TEXT
    # with the noise that the README names as right, nothing is found; false alarm 1e-6 when the seed was chosen
    source = folder / "my_release.py"
    source.write_text(source.read_text(encoding="utf-8").replace("0.5 / len", "1 / len"), encoding="utf-8")
    done = shell(script, folder)
    assert (done.returncode, "supported" in done.stdout) == (0, True), done.stderr


def test_code_of_own_function_is_refuted(folder: Path) -> None:
    """Page and code are found to differ with probability 1e-6 at most; the seed is the default."""
    (script,) = [block for block in blocks("sh") if "dpverify read my_release" in block]
    done = shell(script, folder)
    assert "code and page: supported" in done.stderr, done.stderr
    assert "\trefuted\t" in done.stdout
    assert "proved instead, epsilon = 2\n" in done.stdout


def test_what_is_known_of_a_release_is_used(folder: Path) -> None:
    """Violated with failure probability 1e-6 by more than the true epsilon; the seed is the default."""
    (data,) = [block for block in blocks("sh") if "> neighbor.csv" in block]
    (script,) = [block for block in blocks("sh") if "--structure" in block]
    made = "".join(line + "\n" for line in data.splitlines() if line.startswith("printf"))
    done = shell(made + script, folder)
    assert done.returncode == 0, done.stderr  # of the last line
    assert "violated" in done.stdout
    (found,) = re.findall(r"epsilon at least\s+([0-9.]+) at delta 1e-09", done.stdout)
    (true,) = re.findall(r"1-GDP\t([0-9.]+)\t1e-09", done.stdout)
    assert "no end found" in done.stdout
    sentences = " ".join(TEXT.split())
    assert f"epsilon is at least {found}." in sentences
    assert f"prints the true epsilon, {float(true):.4g};" in sentences


def test_test_of_own_function_runs(folder: Path) -> None:
    done = shell(
        "pytest -q -p no:cacheprovider test_my_release.py test_my_assumptions.py test_my_examples.py", folder
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_claims_in_ci_run(folder: Path) -> None:
    """False alarm of the session: 1e-6, once, when the seed was chosen."""
    (script,) = [block for block in blocks("sh") if "test_my_claims.py" in block]
    page = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(# test_claims.py\n.*?)^```", page, re.S | re.M)
    (folder / "test_claims.py").write_text(block, encoding="utf-8")
    page = (ROOT / "docs" / "outputs.md").read_text(encoding="utf-8")
    for name, read in re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", page, re.S | re.M):
        (folder / name).write_text(read, encoding="utf-8")
    script = script.replace("test_my_claims.py", "test_my_claims.py test_claims.py")
    script += "python read_schema.py && python load_ledger.py claims.json && dpverify compare claims.json claims.json\n"
    (badges,) = [b for b in re.findall(r"^```sh\n(.*?)^```", page, re.S | re.M) if "dpverify badge" in b]
    script += badges
    done = shell("set -e\n" + script, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout
    assert "urn:dpverify:audit:1" in done.stdout
    assert "privacy violated" in done.stdout
    assert "nothing changed" in done.stdout
    assert {"claims.json", "junit.xml", "badge.svg", "badge.json"} <= {file.name for file in folder.iterdir()}
    assert "violated" in (folder / "badge.json").read_text(encoding="utf-8")


def test_own_theorem_is_proved(folder: Path) -> None:
    (block,) = [block for block in blocks("python") if "Sheet(" in block]
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "proved"


def test_questions_about_statements_are_answered(folder: Path, all_remembered: Path) -> None:
    """With the proofs remembered: finding them anew is what other tests do."""
    (script,) = [block for block in blocks("sh") if "dpverify explain" in block]
    done = shell("set -e\n" + script, folder, all_remembered)
    assert done.returncode == 0, done.stderr
    assert '"verdict": "refuted"' in done.stdout


def test_what_was_found_is_what_the_ledger_says(
    all_proofs: list[ProofRecord], ledger_of_proofs: Ledger
) -> None:
    """What is counted, and which claims fail."""
    lines = counted(catalog_entries(all_proofs), [record.evidence for record in all_proofs])
    assert "\n".join(lines) in TEXT
    # the report and dpverify list say the same
    assert lines[-1] == f"- {roots_of_ledger(ledger_of_proofs).origins[0]}"
    entries = [entry for letter in letters(ledger_of_proofs) for entry in letter.entries]
    faults = [fault for entry in entries for fault in entry.faults if fault.consequence is Consequence.CLAIM]
    fails = {fault.shown.statement for fault in faults}
    fails |= {
        row.id for entry in entries for row, one in entry.errata if one.consequence is Consequence.CLAIM
    }
    section = TEXT.split("## What was found in four papers\n")[1].split("\n## ")[0]
    assert fails == set(re.findall(r"`(\w+\.[\w.-]+)`", section))


def test_limits_in_sentences_are_those_of_the_program() -> None:
    cancer, digits = (load(name) for name in ("breast-cancer", "digits"))
    lines = (ROOT / "tests" / "proving" / "checker" / "test_checker_size.py").read_text(encoding="utf-8")
    (longest,) = re.findall(r"^LIMIT = (\d+)", lines, re.M)
    fuzz = int(re.findall(r"^FUZZ \?= (\d+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[0])
    sentences = " ".join(TEXT.split())
    for said in (
        f"(`--runs`, {RUNS:,} on each data set)",
        f"(`--time-limit`, {SECONDS:g} s",
        f"(`--memory-limit`, {GIB:g} GiB",
        f"one failure probability, {DEFAULT_FAILURE_PROBABILITY:g} by default".replace("e-0", "e-"),
        f"more than {CALL_LIMIT // 10**6:d} million oracle calls".replace("10 m", "ten m"),
        f"{cancer.n} records of {cancer.d} features and {digits.n:,} of {digits.d}",
        f"{cancer.n} records of {cancer.d} features with the worst record",
        f"on {fuzz:,} random formulas",
        f"Each step of a confirmation runs through at most {longest} lines of the checker",
    ):
        assert said in sentences


def test_links_and_pictures_are_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("page", ["README.md", "docs/algorithms.md"])
def test_an_algorithm_runs_and_says_what_it_promises(page: str, folder: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    (block,) = [b for b in re.findall(r"^```python\n(.*?)^```", text, re.S | re.M) if ", runs=1_000" in b]
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, check=True
    )
    for said in re.findall(r"^print\(mechanism.*#\s(.*)$", block, re.M):
        assert said in done.stdout
    assert "(1000, " in done.stdout


def test_letters_are_those_that_the_program_writes(
    all_proofs: list[ProofRecord], ledger_of_proofs: Ledger
) -> None:
    """`make pages` writes them, of the last `make verify`."""
    records, _ = with_thresholds(all_proofs)
    ledger = ledger_of_proofs.but(entries=tuple(record.evidence for record in records))
    for key, text in letters_on_papers(parse_ledger(ledger_json(ledger))).items():
        assert (ROOT / "docs" / "letters" / f"{key}.md").read_text(encoding="utf-8") == text
