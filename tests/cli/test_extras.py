"""Without the libraries of an extra: what does not need them works, and the rest says which extra brings them."""

from __future__ import annotations

import importlib
import json
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.requirements import Requirement

from dpverify import extras
from dpverify.errors import DpverifyError
from dpverify.extras import EXTRAS, MissingExtraError, extra_of, install_command, require

from ..reports.ledger_example import CERTIFICATES, example_ledger

WITHOUT = """
import sys
lacking = set(sys.argv[1].split(","))

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in lacking:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Lacking())
from dpverify.cli import main
main(sys.argv[2:])
"""
ALL = ",".join(module for modules in EXTRAS.values() for module in modules)


def called(lacking: str, *arguments: str, folder: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, lacking, *arguments], capture_output=True, text=True, cwd=folder
    )
    return done.returncode, done.stdout, done.stderr


def test_audits_need_no_extra(tmp_path: Path) -> None:
    """Nor do those of five numbers and more, which learn boosted trees where a sum leaves something."""
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(2, 4000, 6))
    left[:, 1] = 0.95 * left[:, 0] + 0.3 * left[:, 1]
    np.save(tmp_path / "left.npy", left)
    np.save(tmp_path / "right.npy", right)
    code, out, err = called(
        ALL, "audit", "--left", "left.npy", "--right", "right.npy", "--claim", "eps=1", folder=tmp_path
    )
    assert (code, err) == (1, "")
    assert "violated" in out


def test_a_ledger_is_shown_without_provers(tmp_path: Path) -> None:
    from dpverify.reports import write_report

    write_report(example_ledger(), tmp_path, CERTIFICATES).page.unlink()
    for command in ("report", "findings", "sandwich"):
        code, out, err = called(",".join(EXTRAS["prove"]), command, "ledger.json", folder=tmp_path)
        assert (code, bool(out)) == (0, True), err
    assert "proved" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_only_audits_of_the_papers_need_accountants_and_data_sets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpverify.ledger.document import ErrorBudget, Ledger
    from dpverify.verification import VerificationSettings
    from dpverify.verification.checking import ledger_check

    from .calling import call

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpverify.extras._is_there", lambda name: name not in ("dp_accounting", "sklearn"))
    Path("page.md").write_text(
        "| letter | domain |\n| --- | --- |\n| $a$ | > 0 |\n\nBound:\n\n$$a+1\\ge 1$$\n"
    )
    VerificationSettings(papers=("page.md",)).require_libraries("dpverify verify")
    assert call("verify", "--paper", "mn25.alg1") == 2
    assert f"allowed: after {install_command('accounting', 'sklearn')}." in capsys.readouterr().err
    # before any row of a ledger is looked at
    monkeypatch.setattr(ledger_check, "rows_of", lambda _: pytest.fail("a formula was read"))
    ledger = Ledger(
        program_version="", created="", command="dpverify verify --paper mn25.alg1", seed=0, profile="quick",
        versions={}, statements=(), entries=(), seconds=0.0,
        budget=ErrorBudget(failure_probability=1e-3, spent={}),
    )  # fmt: skip
    Path("ledger.json").write_text(ledger.model_dump_json())
    assert call("check", "ledger.json") == 2
    assert "the audits of this ledger needs dp_accounting, sklearn; allowed: after" in capsys.readouterr().err


def test_what_rests_on_scikit_learn_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its data sets, estimators, and what is said of bounds on the data sets."""
    from dpverify.fitting import fit
    from dpverify.problems import load
    from dpverify.problems.datasets import _bundled
    from dpverify.statements.paper import papers
    from dpverify.verification import explanation

    rng = np.random.default_rng(1)
    monkeypatch.setattr(extras, "_is_there", lambda name: name != "sklearn")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "dpverify.fitting.estimators", raising=False)
    monkeypatch.setattr(explanation, "kept", lambda *key: None)
    _bundled.cache_clear()
    ends = f"needs sklearn; allowed: after {install_command('sklearn')}."
    with pytest.raises(MissingExtraError) as refused:
        load("breast-cancer")
    assert str(refused.value) == f"The data set breast-cancer {ends}"
    with pytest.raises(MissingExtraError, match="estimator"):
        importlib.import_module("dpverify.fitting.estimators")
    plans = [plan for plan in papers()["bst14"].plans_about(("bst14.alg1",)) if plan.subject == "bst14.alg1"]
    assert explanation._bounds("bst14.alg1", plans) == [f"The data set breast-cancer {ends}"]
    features = rng.normal(size=(50, 2)) / 4
    fit(np.clip(features, -0.7, 0.7), rng.choice([-1.0, 1.0], 50), epsilon=1.0, seed=1, private_only=True)


@pytest.mark.parametrize(
    ("command", "brings"),
    [
        ("prove theorem.pure-until", "prove"),
        ("prove bst14.lem2.3", "prove"),
        ("hypotheses bst14.lem2.3", "prove"),
        ("sharpen bst14.lem2.3", "prove"),
        ("verify", "prove,report,accounting,sklearn"),
        ("check ledger.json", "prove"),
        ("report ledger.json", "report"),
        ("findings ledger.json", "report"),
        ("sandwich ledger.json", "report"),
    ],
)
def test_a_command_says_which_extra_it_needs(
    command: str, brings: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from .calling import call

    monkeypatch.setattr("dpverify.extras._is_there", lambda name: False)
    assert call(*command.split()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"dpverify: dpverify {command.split()[0]} ")
    assert ", ".join(name for extra in brings.split(",") for name in EXTRAS[extra]) in said.err
    assert said.err.endswith(f"allowed: after {install_command(*brings.split(','))}.\n")


@pytest.mark.parametrize(
    ("source", "command"),
    [
        (None, "pip install 'dpverify[prove,report]'"),
        (
            {"url": "file:///a%20b/dpverify", "dir_info": {"editable": True}},
            "pip install -e '/a b/dpverify[prove,report]'",
        ),
        ({"url": "file:///src/dpverify", "dir_info": {}}, "pip install '/src/dpverify[prove,report]'"),
        (
            {"url": "file:///dpverify-0.1.0-py3-none-any.whl"},
            "pip install '/dpverify-0.1.0-py3-none-any.whl[prove,report]'",
        ),
        (
            {"url": "https://example.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            "pip install 'dpverify[prove,report] @ git+https://example.org/a.git'",
        ),
    ],
)
def test_the_command_that_installs_is_for_this_installation(
    source: Any, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            return json.dumps(source) if source and name == "direct_url.json" else None

    monkeypatch.setattr(extras, "distribution", lambda name: Installed())
    monkeypatch.setattr(Path, "exists", lambda path: True)
    assert install_command("prove", "report") == command


def test_where_the_installed_wheel_is_gone_its_libraries_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        requires = distribution("dpverify").requires

        def read_text(self, name: str) -> str:
            return json.dumps({"url": (tmp_path / "dpverify-0.1.0-py3-none-any.whl").as_uri()})

    monkeypatch.setattr(extras, "distribution", lambda name: Installed())
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    of = project["project"]["optional-dependencies"]
    for some in (("prove", "report"), ("all",)):
        _, _, *named = shlex.split(install_command(*some))
        wanted = [one for extra in (EXTRAS if "all" in some else some) for one in of[extra]]
        assert {Requirement(one) for one in named} == {Requirement(one) for one in wanted}


def test_a_broken_installation_is_no_missing_extra(tmp_path: Path) -> None:
    code, _, err = called("scipy", "profile", "mu=1", folder=tmp_path)
    assert code == 70
    assert "No module named 'scipy" in err


def test_which_extra_brings_a_module() -> None:
    assert extra_of("z3.z3core") == "prove"
    assert extra_of("jinja2") == "report"
    assert extra_of("numpy") is None
    require("something", *EXTRAS)
    assert issubclass(MissingExtraError, (DpverifyError, ImportError))
