"""The command line, called as a user calls it: exit codes, JSON, one sentence for bad input."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from dpverify.cli import app, main
from dpverify.views.number_text import at_least

from .calling import call

RUNS = 20_000
"""Per data set. Audits below run at failure probability 1e-6 with fixed seeds: a correct claim's false alarm would have
had that probability once, when the seed was chosen."""


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any, str]:
    code = call(*arguments)
    out, err = capsys.readouterr()
    return code, json.loads(out) if out.strip() else None, err


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Laplace noise on 0 and on 1, at the scale that 1-DP needs and at half of it."""
    folder = tmp_path_factory.mktemp("samples")
    rng = np.random.default_rng(20260101)
    for name, scale in (("right", 1.0), ("half", 0.5)):
        for side in (0, 1):
            np.save(folder / f"{name}{side}.npy", side + rng.laplace(scale=scale, size=RUNS))
    return folder


def audit(folder: Path, name: str, *more: str) -> list[str]:
    files = ["--left", str(folder / f"{name}0.npy"), "--right", str(folder / f"{name}1.npy")]
    return ["audit", *files, "--json", "-", *(more or ("--claim", "eps=1"))]


def test_half_the_noise_is_flagged(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = output(capsys, *audit(samples, "half"))[1]
    assert len(json.dumps(short, indent=2)) < 2000
    code, found, _ = output(capsys, *audit(samples, "half"), "--curves")
    assert short == {**found, "profile": [], "shown": None, "seconds": short["seconds"]}
    assert code == 1
    assert found["verdict"] == "violated"
    assert 1.7 < found["epsilon_lower"] <= 2.0
    assert {
        "verdict", "claim", "epsilon_lower", "delta", "profile", "runs", "failure_probability", "seed", "reproduce",
    } <= set(found)  # fmt: skip
    assert {"eps", "delta_lower"} <= set(found["profile"][0])


def test_the_right_noise_is_not_flagged(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, _ = output(capsys, *audit(samples, "right"))
    assert code == 0
    assert found["verdict"] == "supported"
    assert 0.8 < found["epsilon_lower"] <= 1.0
    assert found["detectable"]


@pytest.mark.parametrize(
    "options",
    [
        ("--delta", "0.01"),
        ("--score", "value", "--score", "histogram ratio"),
        ("--direction", "left-over-right"),
    ],
)
def test_where_an_audit_looks(
    samples: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    code, found, _ = output(capsys, *audit(samples, "right", "--claim", "mu=2", *options))
    assert code == 0
    assert found["delta"] == (0.01 if "--delta" in options else 1e-5)
    assert 0.5 < found["epsilon_lower"] < 2.0
    assert shlex.split(found["reproduce"])[8 : 8 + len(options)] == list(options)
    code, again, _ = output(capsys, *shlex.split(found["reproduce"])[1:], "--json", "-")
    assert {k: v for k, v in again.items() if k != "seconds"} == {
        k: v for k, v in found.items() if k != "seconds"
    }


def test_reproduce_line_gives_the_same_result(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, first, _ = output(capsys, *audit(samples, "half"))
    code, second, _ = output(capsys, *shlex.split(first["reproduce"])[1:], "--json", "-")
    assert code == 1
    assert {k: v for k, v in first.items() if k != "seconds"} == {
        k: v for k, v in second.items() if k != "seconds"
    }


FUNCTIONS = """
import numpy as np

def half(data, rng, runs):
    return data[:, 0].mean() + rng.laplace(scale=0.5 / len(data), size=runs)

def right(data, rng):
    return data[:, 0].mean() + rng.laplace(scale=1 / len(data))

def broken(data, rng):
    raise RuntimeError("no luck")

def formless(data, rng):
    return object()

number = 3
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with a module and two neighboring data sets."""
    (tmp_path / "release_under_audit.py").write_text(FUNCTIONS, encoding="utf-8")
    (tmp_path / "d.csv").write_text("0\n0\n1\n1\n", encoding="utf-8")
    (tmp_path / "e.csv").write_text("0\n0\n1\n0\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def audit_function(name: str, *more: str) -> list[str]:
    files = ["--data", "d.csv", "--neighbor", "e.csv"]
    return ["audit", f"release_under_audit:{name}", *files, "--claim", "eps=1", "--json", "-", *more]


def test_own_function_with_half_the_noise_is_flagged(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found, _ = output(capsys, *audit_function("half", "--fixed-runs", "--runs", str(RUNS)))
    assert (code, found["verdict"], found["sequential"]) == (1, "violated", None)
    assert found["epsilon_lower"] > 1.5


def test_half_the_noise_is_flagged_as_soon_as_it_shows(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found, err = output(capsys, *audit_function("half"), "--curves", "--plot", "seen.svg")
    assert (code, found["verdict"], found["sequential"]["ended_by"]) == (1, "violated", "refutation")
    drawn = Path("seen.svg").read_text(encoding="utf-8")
    assert f"shaded: {found['shown']['event']}".replace(">", "&gt;") in drawn
    assert f"{at_least(found['epsilon_lower'])}; claimed: 1" in drawn
    assert found["sequential"]["refuted_after"] < 1000
    assert found["runs"] == 8 * found["sequential"]["refuted_after"]
    assert 1.4 < found["epsilon_lower"] < 2
    # the lines on standard error need no terminal
    first, *later = err.splitlines()
    assert first.startswith("1-DP can be refuted within 20000 runs on each data set")
    assert later[0].startswith("16 of at most 20000 runs on each data set; epsilon at least 0 at delta 0")


def test_a_claim_that_cannot_be_refuted_runs_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [word.replace("eps=1", "eps=12") for word in audit_function("half")]
    code, found, err = output(capsys, *arguments)
    assert (code, found["verdict"], found["runs"]) == (3, "undecided", 0)
    assert "cannot be refuted within 20000 runs on each data set: at least 1124274 are needed" in err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--time", "0"], "--time was 0.0"),
        (["--time", "nan"], "--time was nan"),
        (["--time", "3", "--fixed-runs"], "--time was 3.0; allowed: no value with --fixed-runs"),
        (["--fixed-runs", "--runs", "99"], "--runs was 99; allowed: an integer of at least 100"),
    ],
)
def test_bad_limits_get_one_sentence(
    project: Path, capsys: pytest.CaptureFixture[str], more: list[str], says: str
) -> None:
    code, found, err = output(capsys, *audit_function("half", *more))
    assert (code, found) == (2, None)
    assert says in err


def test_own_function_one_run_a_call_is_not_flagged(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found, _ = output(capsys, *audit_function("right", "--runs", "2000"))
    assert (code, found["verdict"]) == (0, "supported")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (audit_function("missing"), "missing"),
        (audit_function("number"), "number"),
        (audit_function("broken"), "no luck"),
        (audit_function("formless"), "allowed: numbers, text"),
        (["audit", "no_such_module_here:f", *audit_function("x")[2:]], "no_such_module_here"),
        (["audit", "nocolon", *audit_function("x")[2:]], "nocolon"),
        (["audit", "release_under_audit:half", "--data", "d.csv", "--claim", "eps=1"], "--neighbor"),
        (["audit", "release_under_audit:half", "--data", "gone.csv", "--neighbor", "e.csv", "--claim", "eps=1"],
         "gone.csv"),
    ],
)  # fmt: skip
def test_bad_functions_get_one_sentence(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    code, found, err = output(capsys, *arguments)
    assert (code, found) == (2, None)
    assert says.lower() in err.lower()
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        (["--claim", "eps=-1"], "-1"),
        (["--claim", "eps=1,delta=1"], "delta"),
        (["--claim", "eps=1,delta=nan"], "delta"),
        (["--claim", "epz=1"], "epz"),
        (["--claim", ""], "--claim"),
        (["--claim", "eps=1", "--claim", "eps=2"], "given more than once"),
        (
            ["--epsilon", "1"],
            "There is no --epsilon here; allowed: the whole claim, as in --claim eps=1,delta=1e-5.",
        ),
        (["--eps=1"], "There is no --eps here"),
    ],
)
def test_bad_claims_get_one_sentence(
    samples: Path, capsys: pytest.CaptureFixture[str], claim: list[str], says: str
) -> None:
    code, found, err = output(capsys, *audit(samples, "right", *claim))
    assert (code, found) == (2, None)
    assert says in err
    assert "Traceback" not in err


def _object_array(path: Path) -> None:
    np.save(path, np.array([{"a": 1}] * 300, dtype=object), allow_pickle=True)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "exist"),
        (np.full((300, 0), 1.0), "shape"),
        (np.zeros(0), "0"),
        (np.zeros(299), "299"),
        ("object", "pickle"),
        (b"not an array", "npy"),
    ],
)  # fmt: skip
def test_bad_sample_files_get_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: Any, says: str
) -> None:
    left, right = tmp_path / "left.npy", tmp_path / "right.npy"
    np.save(right, np.zeros(300))
    if isinstance(content, bytes):
        left.write_bytes(content)
    elif isinstance(content, str):
        _object_array(left)
    elif content is not None:
        np.save(left, content)
    target = tmp_path / "out.json"
    code = call(
        "audit", "--left", str(left), "--right", str(right), "--claim", "eps=1", "--json", str(target)
    )
    err = capsys.readouterr().err
    assert code == 2
    assert says.lower() in err.lower()
    assert "Traceback" not in err
    assert not target.exists()


def test_prove_shows_refuted_and_proved(capsys: pytest.CaptureFixture[str]) -> None:
    code, found, _ = output(capsys, "prove", "fmtt18.thm1", "--json", "-", "--jobs", "1")
    assert code == 0
    entries = found["entries"]
    assert {
        "statement", "obligation", "where", "variant", "verdict", "prover", "domain", "box", "counterexample",
        "certificate", "confirmed_by_checker",
    } <= set(entries[0])  # fmt: skip
    verdicts = {e["variant"]: e["verdict"] for e in entries if e["obligation"] == "attained-by-identity-maps"}
    assert verdicts == {"printed": "refuted", "corrected": "proved"}
    assert all(e["confirmed_by_checker"] for e in entries)


@pytest.mark.parametrize(
    "arguments",
    [
        ["prove", "fmtt18.thm999"],
        ["prove", "mn26"],
        ["explain", "nothing"],
        ["verify", "--profile", "slow"],
        ["verify", "--failure-probability", "0"],
        ["verify", "--only", "no-plan"],
        ["verify", "--executor", "gpu"],
        ["verify", "--out", "/dev/null/x"],
        ["report", "no-ledger.json"],
        ["list", "xyz"],
        ["prove", "fmtt18.lem15", "--json", "no/such/folder/x.json"],
    ],
)
def test_bad_usage_gets_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(*arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("dpverify: ")
    assert any(word in err for word in ("allowed", "exist", "needed"))
    assert list(tmp_path.iterdir()) == []


def test_unknown_option_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("audit", "--nonsense") == 2
    assert "Traceback" not in capsys.readouterr().err


def test_list_names_every_catalog_row(
    all_remembered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(all_remembered))
    code, found, _ = output(capsys, "list", "mn25", "--json", "-", "--jobs", "1")
    assert code == 0
    keys = {"id", "paper", "kind", "where", "title", "algorithm", "printed", "corrected", "uses", "used_by"}
    keys |= {"rests_on_false", "rests_on_unfollowed", "marks", "displays", "encoded", "decided", "confirmed"}
    keys |= {"missing", "roots", "whole", "part", "ingredient"}
    assert all(set(row) == keys for row in found)
    assert len(found) == 38
    shown = {"verdict", "standing", "given", "consequence", "headline"}
    assert all(set(row["printed"]) == set(row["corrected"]) == shown for row in found)


def test_list_proves_what_nothing_is_remembered_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, (huber,), _ = output(capsys, "list", "bst14.huber-smooth", "--json", "-", "--jobs", "1")
    assert code == 0
    assert (huber["printed"]["verdict"], huber["corrected"]["verdict"]) == ("refuted", "proved")


def test_list_counts_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code, (row,), _ = output(capsys, "list", "fmtt18.thm23", "--json", "-", "--jobs", "1")
    assert code == 0
    assert 3 <= row["confirmed"] <= row["decided"] <= row["encoded"] < row["displays"]
    assert call("list", "fmtt18.thm23", "--jobs", "1") == 0
    assert re.search(
        rf"fmtt18: {row['displays']} displays and inline relations, {row['encoded']} encoded "
        rf"\({row['whole']} whole, {row['part']} in part, {row['ingredient']} as ingredients of ours; "
        rf"{row['decided']} decided, {row['confirmed']} confirmed\)",
        capsys.readouterr().out,
    )


def test_explain_shows_formula_and_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("explain", "fmtt18.thm23") == 0
    out = capsys.readouterr().out
    assert "schedule-gives-the-bound" in out
    assert "fmtt18.alg1" in out
    assert call("explain", "fmtt18.alg1") == 0
    out = capsys.readouterr().out
    assert "dpverify.algorithms.fmtt18.projected_noisy_sgd:PNSGD" in out
    assert "Guarantee" in out


def test_help_of_every_command_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        "list",
        "prove",
        "check",
        "audit",
        "verify",
        "explain",
        "hypotheses",
        "sharpen",
        "fit",
        "report",
        "sandwich",
    ):
        assert call(command, "--help") == 0
        assert len(capsys.readouterr().out.splitlines()) > 8


def test_what_help_names_is_there_and_what_it_offers_is_on_a_page() -> None:
    root = Path(__file__).parents[2]
    pages = [root / "README.md", root / "action.yml", *(root / "docs").rglob("*.md")]
    words = set(re.findall(r"--[a-z][a-z-]*", "\n".join(page.read_text(encoding="utf-8") for page in pages)))
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        options = [
            word for one in command.params for word in one.opts + one.secondary_opts if word[:2] == "--"
        ]
        assert not set(options) - words, name
        said = " ".join([command.help, *(str(getattr(one, "help", "")) for one in command.params)])
        for page in re.findall(r"docs/[\w/-]+\.md", said):
            assert (root / page).is_file(), (name, page)


def test_verify_fails_on_an_algorithm_with_half_its_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fault is planted in the implementation; its claim and everything else stay as they are."""
    from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNSGD

    arguments = ["verify", "--only", "fmtt18.alg1/worst-case-6-of-6", "--out", str(tmp_path / "report")]
    assert call(*arguments) == 0
    honest = PNSGD.__call__

    def half(self: Any, data: Any, **options: Any) -> Any:
        object.__setattr__(self, "noise_stddev", self.noise_stddev / 2)
        try:
            return honest(self, data, **options)
        finally:
            object.__setattr__(self, "noise_stddev", self.noise_stddev * 2)

    monkeypatch.setattr(PNSGD, "__call__", half)
    assert call(*arguments, "--executor", "serial") == 1
    said = capsys.readouterr().out
    assert "new violation: privacy: fmtt18.alg1" in said  # what was supported in the run before
    assert ": 1 new violation; rows with the same verdict: 0" in said
    ledger = json.loads((tmp_path / "report" / "ledger.json").read_text(encoding="utf-8"))
    assert [entry["verdict"] for entry in ledger["entries"]] == ["violated"]
    assert (tmp_path / "report" / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_refuted_statement_is_a_finding_and_with_strict_a_failure(tmp_path: Path) -> None:
    arguments = ["verify", "--paper", "fmtt18.thm1", "--jobs", "1", "--out", str(tmp_path)]
    assert call(*arguments) == 0
    assert call(*arguments, "--strict") == 1
    page = (tmp_path / "report.html").read_bytes()
    (tmp_path / "report.html").unlink()
    assert call("report", str(tmp_path)) == 0  # of a folder, the ledger in it
    assert (tmp_path / "report.html").read_bytes() == page


def test_module_runs(tmp_path: Path) -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "dpverify", "prove", "nothing"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("dpverify: ")
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "number", "found"),
    [
        ("dpverify pro", 1, ["prove", "profile"]),
        ("dpverify explain mn25.thm1", 2, ["mn25.thm1.1", "mn25.thm1.2"]),
        ("dpverify prove bst", 2, ["bst14"]),
    ],
)
def test_a_shell_completes_commands_and_ids(
    words: str,
    number: int,
    found: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As bash asks for it; an id's dot is a part of the word."""
    for name, value in (
        ("_DPVERIFY_COMPLETE", "complete_bash"),
        ("COMP_WORDS", words),
        ("COMP_CWORD", str(number)),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["dpverify"])
    monkeypatch.setattr(
        sys.modules["__main__"], "__package__", None
    )  # as called by its name, not by `python -m`
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().out.split()
    assert said[: len(found)] == found


def test_help_loads_nothing_heavy() -> None:
    code = "import sys, dpverify.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "pydantic", "sympy", "jinja2"} & set(done.stdout.split())


def test_an_audit_of_files_loads_what_it_needs(tmp_path: Path) -> None:
    """And leaves OpenBLAS without threads, and the environment as it was."""
    rng = np.random.default_rng(0)
    for name in ("left.npy", "right.npy"):
        np.save(tmp_path / name, rng.laplace(size=300))
    code = (
        "import os, sys\n"
        "from dpverify.cli import main\n"
        "try:\n"
        "    main('audit --left left.npy --right right.npy --claim eps=1 --adjacency unchecked'.split())\n"
        "except SystemExit as ended:\n"
        "    print(ended.code)\n"
        "assert 'OPENBLAS_NUM_THREADS' not in os.environ\n"
        "from threadpoolctl import threadpool_info\n"
        "print({pool['num_threads'] for pool in threadpool_info() if pool['internal_api'] == 'openblas'} <= {1})\n"
        "print(*sys.modules)\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    *shown, ended, alone, loaded = done.stdout.splitlines()
    assert "supported" in shown[0]
    assert (ended, alone) == ("0", "True")
    heavy = {
        "dp_accounting", "dpverify.algorithms", "dpverify.problems.losses", "dpverify.statements", "flint", "jinja2",
        "joblib",
        "matplotlib", "mpmath", "pandas", "rich.console", "scipy.linalg", "scipy.optimize", "scipy.sparse",
        "scipy.stats", "sklearn", "sympy",
    }  # fmt: skip
    special = [
        sys.executable,
        "-c",
        "import sys, scipy.special; print(*sys.modules)",
    ]  # 1.18 has linalg below it
    with_scipy = subprocess.run(special, capture_output=True, text=True, check=True).stdout
    assert not heavy & {*loaded.split()} - {*with_scipy.split()}


def test_undecided_formulas_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    page = tmp_path / "page.md"
    page.write_text(
        "| letter | domain |\n| --- | --- |\n| $a$ | > 0 |\n\nBound (given $a < 0$):\n\n$$a \\le 1$$\n"
    )
    assert call("prove", str(page), "--jobs", "1") == 3
    row = capsys.readouterr().out.splitlines()[0].split("\t")
    assert row[4:8] == ["undecided", "none", "not confirmed", "contradictory assumptions"]


def test_a_page_of_another_name_is_no_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("theorem.tex").touch()
    assert call("prove", "theorem.tex") == 2
    said = capsys.readouterr().err
    assert said.startswith(
        "dpverify: id was 'theorem.tex'; allowed: a Markdown page, whose name ends in .md, or"
    )
