"""What was found of each statement, beside the program: `dpverify list` and `explain` show it at once.

A file for each paper and collection, written by `make answers` and anew by `make dist`: what was found of each
statement then, under a hash of what it is read from. A statement that has changed since has no row, and a file that has
changed in any other way counts for nothing; the checker then goes through the proofs here. Tests hold rows against what
is found now.
`dpverify prove` and `dpverify verify` never read them: they show what was found on this machine.

    python -m dpverify.verification.remembering.shipped [FOLDER]
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from dpverify import __version__
from dpverify.errors import DpverifyError
from dpverify.files import write_whole
from dpverify.ledger.headlines.roots import ancestors
from dpverify.ledger.names import bare
from dpverify.ledger.proofs import ProofEvidence
from dpverify.proving.language import Statement
from dpverify.running.program import SHIPPED, program_hash
from dpverify.statements.own_pages import of_program
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

FOLDER: Path = Path(__file__).with_name(SHIPPED)


def ship(folder: Path = FOLDER, *, workers: int = 1) -> int:
    """Write what is remembered of all statements, and what the checker confirms of the others; their number."""
    papers = of_program()
    statements = [s for paper in papers for s in paper.statements]
    records = recall_or_prove(statements, workers=workers, recall_one=_found_here, how=HowFound.CONFIRMED)
    found: dict[str, list[Any]] = {s.id: [] for s in statements}
    for evidence in (record.evidence for record in records):
        if evidence.depends_on_the_machine:
            raise DpverifyError(f"{evidence.statement}: a clock has cut short what was found of it.")
        found[evidence.statement].append(
            evidence.but(seconds=0.0).model_dump(mode="json", exclude_defaults=True)
        )
    folder.mkdir(exist_ok=True)
    for paper in papers:
        rows = {source_hash(s): found[s.id] for s in paper.statements}
        write_whole(folder / f"{paper.key}.json.gz", packed({"rows": rows}))
    return len(statements)


def packed(content: Mapping[str, Any]) -> bytes:
    """What is kept beside the program, with the program that found it."""
    words = f"dpverify {__version__}, Python {', '.join(libraries())}"
    content = {"program": program_hash(), "words": words, **content}
    text = json.dumps({**content, "digest": _digest(content)}, sort_keys=True)
    return gzip.compress(text.encode(), mtime=0)


def unpacked(file: Path) -> tuple[dict[str, Any], str] | None:
    """What a file holds, and what found it, in words; None if it is not as it was written."""
    try:
        content = json.loads(gzip.decompress(file.read_bytes()))
        if content.pop("digest") != _digest(content):
            return None
        earlier = "" if content["program"] == program_hash() else "an earlier state of "
        return content, f"{earlier}{content['words']}"
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _found_here(statement: Statement) -> list[ProofEvidence] | None:
    """What was proved of it on this machine, or else confirmed."""
    ways = (recall, partial(recall, how=HowFound.CONFIRMED))
    return next((found for way in ways if (found := way(statement)) is not None), None)


@cache
def read_rows(folder: Path) -> tuple[Mapping[str, Any], Mapping[str, None]]:
    """Rows by `source_hash`, and what found them, in words; of files that are as they were written."""
    rows: dict[str, Any] = {}
    found_by: dict[str, None] = {}
    for file in sorted(folder.glob("*.json.gz")):
        if (found := unpacked(file)) is not None:
            rows.update(found[0]["rows"])
            found_by[found[1]] = None
    return rows, found_by


def recall_or_read(statement: Statement) -> list[ProofEvidence] | None:
    """What was proved of it here, or confirmed here, or else lies beside the program; None if it is none of these."""
    found = _found_here(statement)
    return _read(statement) if found is None else found


def _read(statement: Statement) -> list[ProofEvidence] | None:
    return read_evidence(read_rows(FOLDER)[0].get(source_hash(statement)))


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
            f"Verdicts of {len(read)} of {len(statements)} statements come with the program, found by "
            f"{'; '.join(read_rows(FOLDER)[1])}, and are not checked here"
        )
    return f"{'. '.join(said)}; dpverify prove finds proofs here." if said else ""


if __name__ == "__main__":
    from dpverify.verification.remembering.theorem_verdicts import ship_theorems

    where = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    print(
        f"{where}: {ship(where, workers=2)} statements, {ship_theorems(where, workers=2)} theorems and mechanisms"
    )
