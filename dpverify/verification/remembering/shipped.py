"""What was found of each statement when a release was made, for whoever has just installed it.

The file is no part of a checkout: `make dist` writes it before it packs a release. It is read only by the program that
found it, file by file, and for formulas that are the same; any other program proves anew. `dpverify prove` and
`dpverify verify` never read it: they show what was found on this machine.

    python -m dpverify.verification.remembering.shipped [FILE]
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from dpverify.files import write_whole
from dpverify.ledger.headlines.roots import ancestors
from dpverify.ledger.names import bare
from dpverify.ledger.proofs import ProofEvidence
from dpverify.proving.language import Statement
from dpverify.running.program import SHIPPED, program_hash
from dpverify.statements.paper import papers
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog.entries import uses_graph
from dpverify.verification.catalog.program import libraries
from dpverify.verification.remembering.remembered import (
    HowFound,
    read_evidence,
    recall,
    recall_or_prove,
    source_hash,
)

FILE = Path(__file__).with_name(SHIPPED)


def ship(file: Path = FILE, *, workers: int = 1) -> int:
    """Prove what is not remembered of all statements, and write everything that is; the number of statements."""
    statements = [s for paper in papers().values() for s in paper.statements]
    recall_or_prove(statements, workers=workers)
    found: dict[str, Any] = {}
    for statement in statements:
        evidence = recall(statement)
        if evidence is None:
            raise SystemExit(f"{statement.id}: what was found of it is not kept, since a clock cut it short.")
        found[source_hash(statement)] = [e.model_dump(mode="json") for e in evidence]
    content = {"program": program_hash(), "libraries": libraries(), "statements": found}
    write_whole(file, gzip.compress(json.dumps(content, sort_keys=True).encode(), mtime=0))
    return len(found)


@cache
def _content(file: Path) -> Any:
    try:
        content = json.loads(gzip.decompress(file.read_bytes()))
        return content if content["program"] == program_hash() else None
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return None


def recall_or_read(statement: Statement) -> list[ProofEvidence] | None:
    """What was proved of it here, or confirmed here, or else found for the release; None if it is none of these."""
    ways = (recall, partial(recall, how=HowFound.CONFIRMED), _read)
    return next((found for way in ways if (found := way(statement)) is not None), None)


def _read(statement: Statement) -> list[ProofEvidence] | None:
    content = _content(FILE)
    return None if content is None else read_evidence(content["statements"].get(source_hash(statement)))


def known_below(names: Iterable[str]) -> tuple[list[ProofEvidence], tuple[str, ...]]:
    """What was found of statements and of all that they rest on, and those of them of which nothing is kept."""
    graph = {"": tuple(bare(name) for name in names), **uses_graph()}
    found: list[ProofEvidence] = []
    missing: list[str] = []
    for name in ancestors("", graph):
        statement = find_statement(name)
        if statement is None:
            continue
        of = recall_or_read(statement)
        found += of or ()
        if of is None:
            missing.append(name)
    return found, tuple(missing)


def origin(statements: Sequence[Statement]) -> str:
    """A sentence about those of them that were not proved on this machine; empty if there are none."""
    others = [s for s in statements if recall(s) is None]
    confirmed = [s for s in others if recall(s, HowFound.CONFIRMED) is not None]
    read = [s for s in others if s not in confirmed and _read(s) is not None]
    said = []
    if confirmed:
        said.append(
            f"Proofs of {len(confirmed)} of {len(statements)} statements come with the program, and the checker "
            "confirmed them here"
        )
    if read:
        said.append(
            f"Verdicts of {len(read)} of {len(statements)} statements were found when this release was made, with "
            f"Python {', '.join(_content(FILE)['libraries'])}"
        )
    return f"{'. '.join(said)}; dpverify prove finds proofs here." if said else ""


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    print(f"{where}: {ship(where, workers=2)} statements")
