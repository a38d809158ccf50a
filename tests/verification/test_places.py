"""File and line of a statement, an algorithm, its audits and its tests; and what is loaded to find them."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from dpverify.statements.paper import Paper, PaperFolder, file_name, loaded, papers
from dpverify.verification.explanation import explanation_lines
from dpverify.verification.located.places import SourceLine, places
from dpverify.verification.remembering.remembered import audits_of

ALGORITHMS = [(paper, id_) for paper in papers().values() for id_ in paper.algorithms]
STATEMENTS = [(paper, statement.id) for paper in papers().values() for statement in paper.statements]
ROWS = [row.id for paper in papers().values() for row in paper.catalog]


def found(paper: Paper, id_: str, **options: Path) -> dict[str, list[SourceLine]]:
    plans = [plan for other in papers().values() for plan in other.plans_about((id_,))]
    kinds: dict[str, list[SourceLine]] = {"statement": [], "algorithm": [], "audit": [], "test": []}
    for place in places(paper, id_, plans, **options):
        kinds[place.what].append(place)
    return kinds


def text_at(place: SourceLine, lines: int = 1) -> str:
    return "\n".join(place.path.read_text(encoding="utf-8").splitlines()[place.line - 1 :][:lines])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("paper", "id_"), ALGORITHMS, ids=lambda given: str(getattr(given, "key", given)))
def test_an_algorithm_its_audits_and_its_tests_are_found(paper: Paper, id_: str) -> None:
    kinds = found(paper, id_)
    name = file_name(paper.algorithms[id_])
    (algorithm,) = kinds["algorithm"]
    assert algorithm.path.parts[-3:] == ("algorithms", paper.key, f"{name}.py")
    assert f"class {loaded(paper.algorithms[id_]).__name__}" in text_at(algorithm, 2)
    assert kinds["audit"]
    for audit in kinds["audit"]:
        assert audit.path.parts[-3:-1] == (paper.key, "audits") or audit.path.stem == "real_size"
        called, named, _ = audit.says.rpartition(", ")
        assert f"def {called}(" in text_at(audit) if named else "lambda" in text_at(audit)
    assert any(test.path.parts[-2:] == (paper.key, f"test_{name}.py") for test in kinds["test"])


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("paper", "id_"), STATEMENTS, ids=lambda given: str(getattr(given, "key", given)))
def test_a_statement_is_found(paper: Paper, id_: str) -> None:
    (place,) = found(paper, id_)["statement"]
    assert ("statements", paper.key) in itertools.pairwise(place.path.parts)
    assert text_at(place).endswith(f"{{#{id_}}}")


def test_tests_are_found_by_the_shared_name_and_by_the_id(tmp_path: Path) -> None:
    paper = papers()["fmtt18"]
    folder = tmp_path / "algorithms" / "fmtt18"
    folder.mkdir(parents=True)
    # as installed from a wheel
    assert found(paper, "fmtt18.skip", tests=tmp_path / "none")["test"] == []
    (folder / "test_projected_noisy_sgd.py").write_text(
        "\n\ndef test_one(): ...\n\n\nclass T:\n    def test_two(self): ...\n"
    )
    (folder / "test_projected.py").write_text("def test_three(): ...\n")
    (tmp_path / "test_table.py").write_text(
        'TABLE = [\n    "fmtt18.skip",\n]\n\n\ndef test_x(): "fmtt18.skips"\n'
    )
    assert [
        str(place).partition(str(tmp_path))[2]
        for place in found(paper, "fmtt18.skip", tests=tmp_path)["test"]
    ] == [
        "/algorithms/fmtt18/test_projected_noisy_sgd.py:3 2 tests from test_one on",
        "/test_table.py:1",
    ]
    # another name is another algorithm's
    (folder / "test_projected_noisy_sgd.py").rename(folder / "test_noisy_sgd.py")
    assert len(found(paper, "fmtt18.skip", tests=tmp_path)["test"]) == 1


def test_explain_prints_them() -> None:
    text = "\n".join(explanation_lines("fmtt18.alg1"))
    where = text[text.index("Where to find it:") :]
    for part in (
        "algorithm: ",
        "algorithms/fmtt18/projected_noisy_sgd.py:",
        "audit: ",
        "statements/fmtt18/audits/cases.py:",
        "test: ",
        "tests/algorithms/fmtt18/test_projected_noisy_sgd.py:",
    ):
        assert part in where
    assert "  statement: " in "\n".join(explanation_lines("fmtt18.thm23"))


@pytest.mark.parametrize("paper", papers().values(), ids=lambda paper: paper.key)
def test_what_is_loaded_in_part_is_what_would_be_found_in_all(paper: Paper) -> None:
    assert isinstance(paper, PaperFolder)
    for id_ in ROWS:
        assert paper.rest_on(id_) == Paper.rest_on(paper, id_), id_
        named = (id_, *paper.rest_on(id_))
        assert paper.plans_about(named) == Paper.plans_about(paper, named), id_


LIBRARIES = {"clarabel", "dp_accounting", "matplotlib", "scipy.stats", "sklearn", "z3", "cvc5"}
"""What takes long to load, and has no part in looking up what is remembered."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("command", ["explain fmtt18.thm23", "explain fmtt18.skip", "explain bst14.alg1"])
def test_an_explanation_loads_little(command: str) -> None:
    """Counted in modules, since seconds are the machine's: what is left takes about a second and a half.

    The numbers of audits and their bounds are remembered first: only who asks first of all waits for the audits to be
    loaded.
    """
    for paper in papers().values():
        audits_of(paper)
    assert list(explanation_lines(command.split()[1]))
    code = (
        "import contextlib, io, sys\n"
        "from dpverify.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    main(sys.argv[1:])\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split()], capture_output=True, text=True, check=True
    )
    modules = set(done.stdout.split())
    assert modules & LIBRARIES == set()
    assert len([name for name in modules if name.startswith("dpverify.algorithms.mn25.")]) == 0
