"""The action and the hooks that the repository offers: their steps, read from their files and run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpverify.cli import main

ROOT = Path(__file__).parents[2]
PIP = "import json, sys\nopen('installed.json', 'w').write(json.dumps(sys.argv[1:]))\n"


def returned(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `dpverify init` writes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert returned("init") == 0
    return tmp_path


def acted(project: Path, **inputs: str) -> tuple[list[int], str]:
    """The exit codes of the action's steps up to the first that fails, and the summary; nothing is installed."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    values = {name: inputs.get(name, one["default"]) for name, one in action["inputs"].items()}
    assert inputs.keys() <= values.keys()

    def filled(text: str) -> str:
        text = text.replace("${{ github.action_path }}", str(ROOT))
        text = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)
        assert "${{" not in text
        return text

    (project / "pip").mkdir(exist_ok=True)
    (project / "pip" / "__init__.py").touch()  # without it, it would come after the one that is installed
    (project / "pip" / "__main__.py").write_text(PIP)
    codes, summary = [], project / "summary.md"
    for step in action["runs"]["steps"]:
        if (condition := step.get("if")) is not None:
            found = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) != '' \}\}", condition)
            assert found is not None
            if not values[found[1]]:
                continue
        assert step["shell"] == "bash"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", filled(step["run"])],
            cwd=project / filled(step.get("working-directory", ".")),
            env={
                **os.environ,
                **{name: filled(text) for name, text in step.get("env", {}).items()},
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_STEP_SUMMARY": str(summary),
                "PIP_DRY_RUN": "1",
                "PIP_NO_INDEX": "1",
            },
            capture_output=True,
            check=False,
        )
        codes.append(done.returncode)
        if done.returncode:
            break
    return codes, summary.read_text(encoding="utf-8") if summary.exists() else ""


def test_the_action_shows_what_was_found_and_fails_where_a_claim_is_violated(project: Path) -> None:
    codes, summary = acted(project, pytest="privacy")
    assert codes == [0, 0, 0]
    assert summary.startswith("### dpverify: 1 supported\n")
    assert f'["install", "--quiet", "{ROOT}[test]"]' in (project / "installed.json").read_text()
    release = project / "privacy" / "release.py"
    release.write_text(release.read_text().replace("scale=1 /", "scale=0.2 /"))
    codes, summary = acted(project, config="dpverify.toml")
    assert codes == [0, 1]
    assert "### dpverify: 1 violated\n" in summary


def hooks() -> dict[str, Any]:
    found = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return {one["id"]: one for one in found}


def hooked(name: str, *files: str) -> int:
    one = hooks()[name]
    program, *arguments = shlex.split(one["entry"])
    assert program == "dpverify"
    return returned(*arguments, *(files if one.get("pass_filenames", True) else ()))


def test_the_hooks_fail_on_a_violated_claim_and_on_a_false_formula(project: Path) -> None:
    page = "| letter | domain |\n| --- | --- |\n| $x$ | real |\n\n$$x^2+1 > LEFT$$\n"
    for name, left in (("true.md", "0"), ("false.md", "2x")):
        (project / name).write_text(page.replace("LEFT", left))
    assert (hooked("dpverify-prove", "true.md"), hooked("dpverify-prove", "false.md")) == (0, 1)
    assert hooked("dpverify-run", "true.md") == 0


def test_the_hook_brings_what_the_extra_brings() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert hooks()["dpverify-prove"]["additional_dependencies"] == extras["prove"]
