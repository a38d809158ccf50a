"""Nothing reads back a sentence that the program wrote: what is known is a field.

Two rules over the source, both computed from it. A text of the ledger is shown, and never taken apart. Whatever takes
texts apart elsewhere is listed below with what it reads, none of which the program wrote as a sentence; one use more
has to be looked at.
"""

from __future__ import annotations

import ast
import importlib
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpverify.ledger.records import Record

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "ledger",
    "views",
    "verification",
    "commands",
    "pytest_plugin",
    "terminal",
    "proving",
    "analyses",
    "auditing",
)
APART = {
    "split",
    "rsplit",
    "partition",
    "rpartition",
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "find",
}
"""Methods that take texts apart."""

NAMES = "names: a grammar that docs and help state"
GIVEN = "what a user typed, or a user's file"
LATEX = "LaTeX"
OTHERS = "what Python, a library or the system wrote"
READS = {
    "dpverify/auditing/one_run/canaries.py": GIVEN,
    "dpverify/auditing/outputs/encoding.py": "codes of outputs",
    "dpverify/auditing/outputs/sample_files.py": GIVEN,
    "dpverify/commands/claims/first_claims.py": GIVEN,
    "dpverify/commands/fit.py": GIVEN,
    "dpverify/commands/profile.py": GIVEN,
    "dpverify/commands/read.py": GIVEN,
    "dpverify/commands/sharpen.py": GIVEN,
    "dpverify/commands/claims/stated_claims.py": GIVEN,
    "dpverify/commands/statements.py": GIVEN,
    "dpverify/ledger/names.py": NAMES,
    "dpverify/verification/theorems.py": NAMES,
    "dpverify/ledger/written_numbers.py": "numbers",
    "dpverify/proving/certificates.py": NAMES,
    "dpverify/proving/theorems": LATEX,
    "dpverify/proving/checker": "certificates",
    "dpverify/proving/pipeline.py": OTHERS,
    "dpverify/analyses/realistic.py": "numbers",
    "dpverify/proving/reasoning/effort.py": OTHERS,
    "dpverify/proving/rocq": "certificates, and what the kernel wrote",
    "dpverify/proving/second_reader": LATEX,
    "dpverify/analyses/sizes.py": "the logarithm in a declaration, log(n/delta)",
    "dpverify/pytest_plugin/claims.py": OTHERS,
    "dpverify/pytest_plugin/items.py": OTHERS,
    "dpverify/auditing/requests/request.py": GIVEN,
    "dpverify/verification/catalog/entries.py": NAMES,
    "dpverify/verification/explanation.py": "docstrings, and names of modules",
    "dpverify/verification/located/places.py": OTHERS,
    "dpverify/verification/located/user_places.py": GIVEN,
    "dpverify/views/letters/told.py": "LaTeX, and numbers",
    "dpverify/views/subjects.py": "docstrings, and characters for HTML",
    "reports/folder.py": NAMES,
    "reports/formats/markdown.py": "characters that are markup, and LaTeX",
    "reports/formats/sarif.py": NAMES,
    "reports/formulas.py": LATEX,
    "reports/mathml.py": LATEX,
    "reports/page.py": "characters that are markup",
    "reports/plain_formulas.py": LATEX,
    "reports/svg.py": OTHERS,
    "dpverify/terminal/__init__.py": GIVEN,
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Name and tree of each module that the rules are about."""
    folders = [*(ROOT / "dpverify" / name for name in FOLDERS), ROOT / "reports"]
    for path in sorted(file for folder in folders for file in folder.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def taken_apart(tree: ast.AST) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Each call that takes a text apart, with the text."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        of, method, texts = node.func.value, node.func.attr, node.args
        if isinstance(of, ast.Name) and of.id == "re" and method != "compile" and texts:
            yield node, texts[1] if len(texts) > 1 else of
        elif method in ("search", "match", "fullmatch", "sub", "finditer", "findall") and texts:
            yield node, texts[-1]
        elif method in APART and (len(texts) == 1 or method == "partition"):
            written = all(isinstance(part, ast.Constant | ast.JoinedStr | ast.Tuple) for part in texts)
            if written or method.startswith("remove"):
                yield node, of


def texts_of_the_ledger() -> set[str]:
    """The names of the ledger's fields that are sentences, not names, commands or formulas."""
    for file in (ROOT / "dpverify" / "ledger").rglob("*.py"):
        importlib.import_module(
            "dpverify." + ".".join(file.relative_to(ROOT / "dpverify").with_suffix("").parts)
        )
    kinds = [Record]
    for kind in kinds:
        kinds += kind.__subclasses__()
    kept = {"id", "statement", "obligation", "subject", "kind", "paper", "command", "letter", "latex"}
    kept |= {"found", "bound", "low", "high"}  # numbers
    ours = [kind for kind in kinds if kind.__module__.startswith("dpverify.ledger")]
    return {
        name for kind in ours for name, field in kind.model_fields.items() if field.annotation is str
    } - kept


def faults(tree: ast.AST, texts: set[str]) -> Iterator[str]:
    """Where a text of the ledger is taken apart, or looked into."""
    for node, text in taken_apart(tree):
        if isinstance(text, ast.Attribute) and text.attr in texts:
            yield ast.unparse(node)
    for compare in ast.walk(tree):
        if isinstance(compare, ast.Compare) and isinstance(compare.ops[0], ast.In | ast.NotIn):
            (right,) = compare.comparators[:1]
            if isinstance(right, ast.Attribute) and right.attr in texts | {"headline"}:
                yield ast.unparse(compare)


def test_no_text_of_the_ledger_is_taken_apart() -> None:
    texts = texts_of_the_ledger()
    assert {"reason", "claim", "detectable", "title", "expression", "reproduce"} <= texts
    found = {name: list(faults(tree, texts)) for name, tree in modules()}
    assert {name: some for name, some in found.items() if some} == {}


def test_whatever_reads_texts_says_what_it_reads() -> None:
    """And nothing is listed that reads none."""
    readers = Counter(name for name, tree in modules() for _ in taken_apart(tree))
    listed = {name: next((known for known in READS if name.startswith(known)), "") for name in readers}
    assert {name for name, known in listed.items() if not known} == set()
    assert set(READS) - set(listed.values()) == set()


def test_templates_read_no_texts() -> None:
    for path in (ROOT / "reports").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        found = [f"{method}(" for method in APART if f".{method}(" in text and method != "split"]
        assert found == [], path.name
        split = re.findall(r"(\w+)\.split\(", text)
        assert set(split) <= {"text"}, path.name  # a command's words, which may go on lines of their own
        inside = re.findall(r'"([^"]+)" (?:not )?in (\w+\.\w+)', text)
        assert {sign for sign, _ in inside} <= {"$"}, path.name


@pytest.mark.parametrize(
    "planted",
    [
        "row.reason.partition('; ')",
        "entry.detectable.startswith('noise')",
        "'the clock' in proof.reason",
        "re.search('[0-9]+', audit.claim)",
        "_NUMBER.fullmatch(audit.claim)",
        "'given' not in word.headline",
    ],
)
def test_a_planted_reading_is_found(planted: str) -> None:
    assert list(faults(ast.parse(textwrap.dedent(planted)), texts_of_the_ledger()))
