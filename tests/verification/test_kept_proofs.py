"""Tests find each proof once: again only where a formula, or a file that proofs are found with, has changed."""

from __future__ import annotations

import ast
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpverify import proving
from dpverify.formulas.logic import Implies
from dpverify.ledger.verdicts import Coverage, Variant
from dpverify.statements.selection import find_statement
from dpverify.verification import refutations
from dpverify.verification.catalog import proofs
from dpverify.verification.catalog.rows import ProofRecord

from ..kept_proofs import NO_PART, Proofs, proving_files

ROOT = Path(__file__).parents[2]
# a few quick obligations
NAME = "bst14.huber-smooth"

READ_STATEMENTS = (
    "statements/provenance.py",
    "verification/catalog/entries.py",
    "verification/catalog/premises.py",
    "verification/catalog/proofs.py",
    "verification/catalog/rows.py",
    "verification/refutations.py",
)
"""What these take from statements is in a proof's key, or is evaluated anew for each catalog."""


@pytest.fixture
def nothing_can_be_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("something was proved")

    monkeypatch.setattr(proving, "prove", refuse)
    monkeypatch.setattr("dpverify.proving.checker.check", refuse)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[ProofRecord]]:
    """A folder of kept proofs, and what is in it."""
    folder = tmp_path_factory.mktemp("kept")
    return folder, Proofs(folder, workers=1).of(NAME)


def faults(records: list[ProofRecord]) -> list[bool]:
    """For each row whether it was asked for anew."""
    return ["something was proved" in (r.evidence.fault or "") for r in records]


@pytest.mark.usefixtures("nothing_can_be_proved")
def test_a_second_run_proves_nothing(first: tuple[Path, list[ProofRecord]]) -> None:
    folder, found = first
    assert found
    assert not any(faults(found))
    assert Proofs(folder, workers=1).of(NAME) == found


@pytest.mark.usefixtures("nothing_can_be_proved")
def test_a_changed_formula_is_proved_anew(
    first: tuple[Path, list[ProofRecord]], monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = find_statement(NAME)
    assert statement is not None
    (printed,) = statement.printed
    changed = replace(printed, claim=Implies(printed.claim, printed.claim), source=None)
    planted = replace(statement, printed=(changed,))
    monkeypatch.setattr(proofs, "find_statement", lambda _: planted)
    records = Proofs(first[0], workers=1).found([planted])
    asked = {r.evidence.obligation for r, anew in zip(records, faults(records), strict=True) if anew}
    assert {name.removesuffix(": units") for name in asked} == {changed.name}


@pytest.mark.usefixtures("nothing_can_be_proved")
@pytest.mark.parametrize(
    ("file", "anew"),
    [
        ("proving/provers/squares.py", True),
        ("proving/reasoning/squares.py", True),
        ("proving/checker/terms.py", True),
        ("formulas/notation/grammar.lark", True),
        ("ledger/proofs.py", True),
        ("verification/catalog/proofs.py", True),
        ("verification/explanation.py", False),
        ("auditing/constants.py", False),
        ("cli.py", False),
    ],
)
def test_a_changed_file_has_every_proof_found_anew_that_may_rest_on_it(
    file: str, anew: bool, first: tuple[Path, list[ProofRecord]], tmp_path: Path
) -> None:
    package = tmp_path / "dpverify"
    shutil.copytree(ROOT / "dpverify", package, ignore=shutil.ignore_patterns("__pycache__"))
    with (package / file).open("a", encoding="utf-8") as changed:
        changed.write("\n")
    kept = Path(shutil.copytree(first[0], tmp_path / "kept"))
    found = Proofs(kept, package, workers=1).of(NAME)
    proved = [r for r in found if r.evidence.coverage is not Coverage.UNIT]
    assert faults(proved) == [anew] * len(proved)


def test_a_special_case_is_proved_anew_where_what_its_consequence_rests_on_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A special case of a printed statement: the corrected conclusion and the instance are of other names."""
    statement = find_statement("fmtt18.thm1")
    assert statement is not None
    assert statement.corrected is not None
    special, whole = "attained-by-identity-maps", "bound"

    def key() -> str:
        (task,) = (
            task for task in proofs._tasks(statement)
            if task.variant is Variant.PRINTED and statement.printed[task.position].name == special
        )  # fmt: skip
        return proofs._key(task)

    before = key()
    assert key() == before
    changed = tuple(
        replace(o, assuming=(*o.assuming, o.claim)) if o.name == whole else o
        for o in statement.corrected.obligations
    )
    assert changed != statement.corrected.obligations
    planted = replace(statement, corrected=replace(statement.corrected, obligations=changed))
    with monkeypatch.context() as patch:
        patch.setattr(proofs, "find_statement", lambda _: planted)
        assert key() != before
    monkeypatch.setattr(refutations, "papers", lambda: {"fmtt18": SimpleNamespace(instances={})})
    assert key() != before


def test_what_is_left_out_exists() -> None:
    assert [name for name in NO_PART if not (ROOT / "dpverify" / name).exists()] == []


def test_what_is_hashed_imports_nothing_that_is_not() -> None:
    package = ROOT / "dpverify"
    hashed = {path for path in proving_files(package) if path.suffix == ".py"}
    assert len(hashed) > 50
    names = {_name(path, package): path for path in package.rglob("*.py")}
    for path in hashed:
        for imported in _imports(path):
            if imported in names and names[imported] not in hashed:
                # proofs are found of what statements say, and that is in their keys
                assert imported.split(".")[1] == "statements", (path, imported)
                assert path.relative_to(package).as_posix() in READ_STATEMENTS, (path, imported)


def _name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path) -> set[str]:
    """Every module that a file names in an import, in functions too."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module is not None
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found
