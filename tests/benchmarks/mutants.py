"""What becomes of random mutants of the program's own code: each is killed by a test, or listed as a survivor.

A mutant is the program with one place of it changed: a relation, an operator, a number, a branch, two arguments. Places
are drawn by a seeded generator from functions of a room; what a room's tests are stands in `ROOMS`. A mutant that its
nearest tests let live is given to all tests of the room. Survivors are places where a test is missing, or where the
change is no fault: read them.

    make mutants                                  # twelve of each room
    python tests/benchmarks/mutants.py [--each 12] [--seed 0] [--only ROOM ...]
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 900
"""After which tests are taken to hang in a mutant, which kills it."""
ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "provers": (("dpverify/proving/provers", "dpverify/proving/reasoning"), ("tests/proving",)),
    "analyses": (("dpverify/analyses",), ("tests/analyses",)),
    "checker": (("dpverify/proving/checker",), ("tests/proving/checker",)),
    "readers": (("dpverify/formulas/notation", "dpverify/proving/second_reader"), ("tests/formulas", "tests/proving")),
    "accountants": (("dpverify/privacy",), ("tests/privacy",)),
    "auditors": (("dpverify/auditing",), ("tests/auditing",)),
    "algorithms": (("dpverify/algorithms",), ("tests/algorithms",)),
    "plans": (tuple(f"dpverify/statements/{paper}/audits" for paper in ("bst14", "fmtt18", "gll22", "mn25")),
              ("tests/golden", "tests/statements")),
}  # fmt: skip
"""Where mutants of a room come from, and where its tests are."""
RELATIONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
SILENT = (ast.Raise, ast.Assert, ast.AnnAssign, ast.Import, ast.ImportFrom)
"""Statements whose words and types are not mutated."""


@dataclass(frozen=True)
class Mutant:
    """One place of a file, and what stands there instead."""

    file: str
    """Below the installed package's folder."""
    line: int
    old: str
    new: str
    first: int
    last: int
    """The characters that are replaced."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: `{self.old}` became `{self.new}`"


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """The node with one thing changed in it."""
    match node:
        case ast.Compare(left, [one], [right]) if type(one) in RELATIONS:
            yield ast.Compare(left, [RELATIONS[type(one)]()], [right])
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.And() if isinstance(operator, ast.Or) else ast.Or(), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1 if isinstance(value, int) else 1.1 * value + 0.01)
        case ast.Call(function, [first, second, *rest], keywords) if not isinstance(first, ast.Starred):
            if not isinstance(second, ast.Starred):
                yield ast.Call(function, [second, first, *rest], keywords)


def places(tree: ast.AST, inside: bool = False) -> Iterator[ast.AST]:
    """What may be changed: expressions in the bodies of functions."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, SILENT) or (isinstance(tree, ast.Expr) and isinstance(child, ast.Constant)):
            continue
        if isinstance(child, ast.FunctionDef):
            for part in child.body:
                yield from places(ast.Module([part], []), inside=True)
            continue
        if inside:
            yield child
        yield from places(child, inside)


def mutants(site: Path, file: Path) -> list[Mutant]:
    """All mutants of a file."""
    text = file.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in places(ast.parse(text)):
        for new in changed(node):
            first, last = (
                starts[line - 1] + len(text[starts[line - 1] : starts[line]].encode()[:column].decode())
                for line, column in ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
            )
            said = (ast.unparse(node), ast.unparse(ast.fix_missing_locations(new)))
            found.append(Mutant(str(file.relative_to(site)), node.lineno, *said, first, last))
    return found


def drawn(site: Path, sources: Sequence[str], count: int, seed: str) -> list[Mutant]:
    """Mutants of a room, each line of code as likely as any other."""
    files = [file for source in sources for file in sorted((site / source).rglob("*.py"))]
    every: dict[tuple[str, int], list[Mutant]] = {}
    for mutant in (m for file in files for m in mutants(site, file)):
        every.setdefault((mutant.file, mutant.line), []).append(mutant)
    generator = random.Random(seed)
    lines = generator.sample(sorted(every), min(count, len(every)))
    return [generator.choice(every[line]) for line in lines]


def nearest(mutant: Mutant, rooms: Sequence[str]) -> list[str]:
    """The tests that share the name of a mutant's file or folder."""
    path = Path(mutant.file)
    names = {path.stem, path.parent.name, path.parent.parent.name}
    tests = [test for room in rooms for test in sorted((ROOT / room).rglob("test_*.py"))]
    return [str(t.relative_to(ROOT)) for t in tests if {t.stem.removeprefix("test_"), t.parent.name} & names]


def killed(tests: Sequence[str], site: Path, work: Path) -> str:
    """The first test that fails; empty where all pass."""
    home = work / "home"
    around = {
        **os.environ,
        "PYTHONPATH": str(site),
        "XDG_CACHE_HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "--dist", "loadfile", "-m", "not slow",
               "-p", "no:cacheprovider", *dict.fromkeys(tests)]  # fmt: skip
    try:
        ended = subprocess.run(command, cwd=work, env=around, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "a test that hangs"
    if ended.returncode in (0, 5):  # 5: no tests
        return ""
    failed = (line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR")))
    return next(failed, ended.stdout[-300:] + ended.stderr[-300:]).partition(" - ")[0]


def prepared(work: Path) -> Path:
    """A copy of the program and its tests; the folder in which the program is installed."""
    site = work / "site"
    install = [
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(site),
        str(ROOT),
    ]
    subprocess.run([sys.executable, "-m", *install], check=True)
    for name in ("tests", "docs"):
        shutil.copytree(ROOT / name, work / name)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, work / name)
    return site


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", type=int, default=12, help="mutants of each room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=ROOMS, default=list(ROOMS))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        site = prepared(work)
        for room in chosen.only:
            sources, tests = ROOMS[room]
            tests = tuple(test for test in tests if (ROOT / test).is_dir())
            if fails := killed(tests, site, work):
                sys.exit(f"{room}: without a mutant, {fails}")
            survivors = 0
            some = drawn(site, sources, chosen.each, f"{chosen.seed} {room}")
            for mutant in track(some, room, console=Console(stderr=True), disable=not sys.stderr.isatty()):
                file = site / mutant.file
                text = file.read_text(encoding="utf-8")
                file.write_text(
                    f"{text[: mutant.first]}({mutant.new}){text[mutant.last :]}", encoding="utf-8"
                )
                near = nearest(mutant, tests)
                by = (killed(near, site, work) if near else "") or killed(tests, site, work)
                file.write_text(text, encoding="utf-8")
                if not by:
                    survivors += 1
                    print(f"{room}: survives: {mutant}", flush=True)
            print(f"{room}: {len(some) - survivors} of {len(some)} killed", flush=True)


if __name__ == "__main__":
    main()
