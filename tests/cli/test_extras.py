"""Without the libraries of an extra: what does not need them works, and the rest says which extra brings them."""

from __future__ import annotations

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
    rng = np.random.default_rng(1)
    for name, mean in (("left", 0.0), ("right", 1.0)):
        np.save(tmp_path / f"{name}.npy", rng.laplace(mean, 0.5, 4000))
    code, out, err = called(
        ALL, "audit", "--left", "left.npy", "--right", "right.npy", "--claim", "eps=1", folder=tmp_path
    )
    assert (code, err) == (1, "")
    assert "violated" in out


@pytest.mark.parametrize(
    ("command", "brings"),
    [
        ("list theorems", "prove"),
        ("prove bst14.lem2.3", "prove"),
        ("explain theorem.pure-until", "prove"),
        ("hypotheses bst14.lem2.3", "prove"),
        ("sharpen bst14.lem2.3", "prove"),
        ("verify", "accounting,prove,report"),
        ("check ledger.json", "prove"),
        ("report ledger.json", "prove,report"),
        ("findings ledger.json", "prove,report"),
        ("sandwich ledger.json", "prove,report"),
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
    assert "clarabel, cvc5, sympy, z3" in said.err
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
