"""Where things are: file and line of a statement, an algorithm, its audits and its tests.

Nothing is typed in: a statement is found by its id on the pages of its paper, an algorithm and its audits by
inspection, their tests by the file name that they share, and tests of a statement by its id.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpverify
from dpverify.ledger.theorems import TheoremEvidence
from dpverify.ledger.verdicts import Variant
from dpverify.statements.own_pages import OwnPaper
from dpverify.statements.paper import Paper, PaperFolder, file_name, loaded, papers
from dpverify.statements.theorems.names import FOLDERS
from dpverify.views.results import SourcePlace

if TYPE_CHECKING:
    from dpverify.statements.plans import Plan


@dataclass(frozen=True)
class SourceLine:
    """A line of a file, from 1, and what begins there."""

    what: str
    """`statement`, `algorithm`, `audit` or `test`."""
    path: Path
    line: int
    says: str = ""

    def __str__(self) -> str:
        """One line; the path from the current folder where the file is below it."""
        path = self.path
        if path.is_relative_to(Path.cwd()):
            path = path.relative_to(Path.cwd())
        return f"{self.what}: {path}:{self.line}{' ' + self.says if self.says else ''}"


def places(
    paper: Paper, id_: str, plans: Sequence[Plan], tests: Path | None = None
) -> tuple[SourceLine, ...]:
    """The places of a catalog id: its statement or algorithm, the audits about it among some plans, its tests.

    Tests are those of the checkout that this package runs from, if no other folder is given. Without it, as where the
    package was installed from a wheel, none are found.
    """
    tests = Path(dpverify.__path__[0]).resolve().parent / "tests" if tests is None else tests
    path = paper.algorithms.get(id_)
    found = list(_statements(paper, id_))
    if path is not None:
        found.append(_defined("algorithm", loaded(path)))
    found += _audits(id_, plans)
    if path is not None:
        found += _tests_of_algorithm(tests, paper.key, file_name(path))
    found += _tests_naming(tests, id_)
    return tuple(dict.fromkeys(found))


def source_places() -> Callable[..., SourcePlace | None]:
    """Finds the line where a statement is encoded, or its algorithm defined; None for other names.

    Of a formula on someone's own page, the line of its display. What was found once is kept.
    """
    known = {row.id: paper for paper in papers().values() for row in paper.catalog}

    @cache
    def find(id_: str, formula: str = "", variant: Variant = Variant.PRINTED) -> SourcePlace | None:
        if id_ not in known:
            return None
        paper = known[id_]
        if isinstance(paper, OwnPaper) and (id_, formula, variant) in paper.lines:
            file, line = paper.lines[id_, formula, variant]
            return SourcePlace.of(file, line)
        path = paper.algorithms.get(id_)
        first = next(_statements(paper, id_), None)
        if first is None and path is not None:
            first = _defined("algorithm", loaded(path))
        return None if first is None else SourcePlace.of(first.path, first.line)

    return find


def theorem_place(row: TheoremEvidence) -> SourcePlace:
    """The line of a theorem's page that its verdict is about."""
    if row.page not in FOLDERS:
        return SourcePlace.of(Path(row.page), row.line)
    page = next(
        p for p in FOLDERS[row.page].glob("*.md") if f"{{#{row.id}}}" in p.read_text(encoding="utf-8")
    )
    return SourcePlace.of(page, row.line)


def _statements(paper: Paper, id_: str) -> Iterator[SourceLine]:
    """The heading of a statement on its page; of someone's own, its first formula."""
    if isinstance(paper, OwnPaper):
        of = [place for (name, *_), place in paper.lines.items() if name == id_]
        yield from (SourceLine("statement", file.resolve(), line) for file, line in sorted(of)[:1])
    file = paper.pages.get(id_) if isinstance(paper, PaperFolder) else None
    if file is not None:
        lines = file.read_text(encoding="utf-8").splitlines()
        line = next(number for number, text in enumerate(lines, 1) if text.rstrip().endswith(f"{{#{id_}}}"))
        yield SourceLine("statement", file.resolve(), line)


def _defined(what: str, thing: Any, says: str = "") -> SourceLine:
    line = inspect.getsourcelines(thing)[1]
    return SourceLine(what, Path(inspect.getfile(thing)).resolve(), line, says or str(thing.__name__))


_INNER = ("cases", "func", "make")


def _audits(id_: str, plans: Sequence[Plan]) -> Iterator[SourceLine]:
    """The functions that build the cases about an id, each once, with the plans that they build."""
    named: dict[Callable[..., Any], list[str]] = {}
    for plan in plans:
        if plan.subject == id_:
            build: Any = plan.build
            # what builds several cases, a partial function, and what is made of a problem, call another one
            while inner := next((found for name in _INNER if (found := getattr(build, name, None))), None):
                build = inner
            named.setdefault(build, []).append(plan.name)
    for build, names in named.items():
        if inspect.isfunction(build):
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            # a case that is written in the table's row has no name
            called = "" if build.__name__ == "<lambda>" else f"{build.__name__}, "
            yield _defined("audit", build, f"{called}for {names[0]}{more}")


def _tests_of_algorithm(tests: Path, key: str, name: str) -> Iterator[SourceLine]:
    """The files that share the algorithm's name, at their first test."""
    folder = tests / "algorithms" / key
    for file in sorted({*folder.glob(f"test_{name}.py"), *folder.glob(f"test_{name}_*.py")}):
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        functions = [n for n in nodes if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]
        if functions:
            first = min(functions, key=lambda function: function.lineno)
            number = f"{len(functions)} test{'s' if len(functions) > 1 else ''}"
            yield SourceLine("test", file.resolve(), first.lineno, f"{number} from {first.name} on")


def _tests_naming(tests: Path, id_: str) -> Iterator[SourceLine]:
    """The tests, or tables of tests, in which the id stands."""
    for file, text in _test_files(tests):
        if f'"{id_}"' in text:  # others are not parsed
            for line, name, words in _parts(text):
                if id_ in words:
                    yield SourceLine("test", file.resolve(), line, name)


@cache
def _test_files(tests: Path) -> tuple[tuple[Path, str], ...]:
    """The files of tests in a folder with their text, read once."""
    return tuple((file, file.read_text(encoding="utf-8")) for file in sorted(tests.rglob("test_*.py")))


@cache
def _parts(text: str) -> tuple[tuple[int, str, frozenset[str]], ...]:
    """The line of each statement of a module, the name that it defines, and the strings that stand in it."""
    return tuple(
        (top.lineno, getattr(top, "name", ""), frozenset(_strings(top))) for top in ast.parse(text).body
    )


def _strings(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
