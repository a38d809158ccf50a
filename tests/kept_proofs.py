"""Proofs of the encoded statements, each found once for all tests and kept from one run to the next.

`make test` takes the answers that are kept beside the program where the checker confirms them, but for a sample, which
is proved; another sample after each change to a file that proofs are found with. `make test-thorough` proves all.
"""

from __future__ import annotations

import hashlib
import platform
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

import dpverify
from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.language import Obligation, Statement
from dpverify.proving.proof import Proof
from dpverify.running import Store
from dpverify.statements.paper import papers, registered
from dpverify.statements.selection import select
from dpverify.verification.catalog import answers, proofs
from dpverify.verification.catalog.answers import key_of
from dpverify.verification.catalog.program import PROVING_LIBRARIES
from dpverify.verification.catalog.rows import Known, ProofRecord, nothing_known

PACKAGE = Path(dpverify.__file__).parent
"""The program that is tested; for mutants it is a copy, away from the tests."""

_PATIENCE = 3600.0
"""Seconds for which one test process may wait until another has proved everything."""

_KEPT = 5
"""Files of proofs that stay, so that one can go back and forth between branches."""

NO_PART = (
    "__main__.py",
    "algorithms",
    "auditing",
    "cli.py",
    "commands",
    "editor",
    "extras.py",
    "fitting",
    "privacy",
    "problems",
    "properties",
    "proving/rocq",
    "pytest_plugin",
    "reports",
    "running/subjects/structure.py",
    "running/subjects/user_structures.py",
    "statements",
    "terminal",
    "training",
    "verification",
    "views",
)
"""Of dpverify, what no proof is found with. (What statements say is asked about, and is in a proof's key itself.)"""


def proving_files(package: Path) -> list[Path]:
    """The files of this folder of dpverify that proofs are found with.

    Provers and checker with all that they stand on, and the modules that make evidence of what they find.
    """
    parts = [part for part in package.iterdir() if part.name not in NO_PART and part.name != "__pycache__"]
    files = [path for part in parts for path in ([part] if part.is_file() else part.rglob("*"))]
    files = [path for path in files if path.is_file() and path.parent.name != "__pycache__"]
    left_out = {package / name for name in NO_PART}
    files = [path for path in files if left_out.isdisjoint((path, path.parent))]
    return sorted(
        [
            *files,
            package / "extras.py",
            package / "problems" / "tables" / "records.py",
            package / "statements" / "provenance.py",
            *(package / "verification" / "catalog").glob("*.py"),
            package / "verification" / "refutations.py",
        ]
    )


def proving_hash(package: Path) -> str:
    """A hash that changes with `proving_files` and the versions of libraries; with no other file."""
    digest = hashlib.sha256()
    for path in proving_files(package):
        for text in (path.relative_to(package).as_posix().encode(), path.read_bytes()):
            digest.update(f"{len(text)}:".encode() + text)
    versions = [platform.python_version(), *(f"{name} {version(name)}" for name in PROVING_LIBRARIES)]
    digest.update(repr(versions).encode())
    return digest.hexdigest()


PROVED_ONE_IN = 10
"""Of the answers that are kept, how many are proved all the same."""


@dataclass(frozen=True)
class KeptAnswers:
    """The answers that are kept beside the program, but for a sample of them."""

    program: str
    """Its `proving_hash`, which the sample depends on."""

    def __call__(self, obligation: Obligation) -> Proof | None:
        """The answer to an obligation; None where there is none, or where it is to be proved."""
        return None if key_of(obligation) in sample(self.program) else answers.known(obligation)


def of_papers() -> dict[str, Json]:
    """The lines that are kept of papers; those of collections, which no run is about, are left out."""
    return {key: line for paper in registered() for key, line in answers.lines(paper=paper).items()}


@cache
def sample(program: str) -> frozenset[str]:
    """Problems of papers that are proved though they have an answer: one in `PROVED_ONE_IN` of each prover's."""
    of: dict[str, list[str]] = {}
    for key, line in of_papers().items():
        of.setdefault(line.get("prover", ""), []).append(key)

    def place(key: str) -> bytes:
        return hashlib.sha256(f"{program} {key}".encode()).digest()

    return frozenset(
        k for keys in of.values() for k in sorted(keys, key=place)[: -(-len(keys) // PROVED_ONE_IN)]
    )


class Proofs:
    """Proofs of encoded statements, kept in a folder from one run to the next.

    Each is kept under its obligation's content and `proving_hash`. Of several test processes one proves at a time;
    the others find what it has found. With `anew`, and of another program than the one beside the tests, all are
    proved; else answers that are kept beside the program are taken where the checker confirms them.
    """

    def __init__(self, folder: Path, package: Path = PACKAGE, *, workers: int = 2, anew: bool = True) -> None:
        self.folder, self.program, self._workers = folder, proving_hash(package), workers
        self._known: Known = nothing_known
        if not anew and package == Path(__file__).parents[1] / "dpverify":
            self._known = KeptAnswers(self.program)
            # what rests on them is kept apart, and for these answers only
            files = b"".join(file.read_bytes() for file in sorted(answers.FOLDER.glob("*.jsonl")))
            self.program = hashlib.sha256(self.program.encode() + files).hexdigest()
        self._records: dict[str, list[ProofRecord]] = {}

    def of(self, *ids: str) -> list[ProofRecord]:
        """The records of some papers' statements, or of some statements; of all if none is named."""
        wanted = {row.id for _, row in select(ids)}
        statements = [s for paper in papers().values() for s in paper.statements if s.id in wanted]
        if missing := [s for s in statements if s.id not in self._records]:
            records = self.found(missing)
            for s in missing:
                self._records[s.id] = [r for r in records if r.evidence.statement == s.id]
        return [record for s in statements for record in self._records[s.id]]

    def found(self, statements: list[Statement]) -> list[ProofRecord]:
        """The records of these statements, from the folder where they are there."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (
            _alone(self.folder / "lock.sqlite"),
            Store(self.folder / f"{self.program}.sqlite") as store,
            pytest.MonkeyPatch.context() as patch,
        ):
            # a user's store asks for the same program to the last file
            patch.setattr(proofs, "program", lambda: [self.program])
            records = proofs.prove_statements(
                statements, workers=self._workers, store=store, known=self._known
            )
            self._drop_all_but(store.path)
        return records

    def _drop_all_but(self, path: Path) -> None:
        path.touch()
        kept = sorted(self.folder.glob("?" * 64 + ".sqlite"), key=lambda p: p.stat().st_mtime)
        for old in kept[:-_KEPT]:
            old.unlink()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Held by one process at a time, and by none that has ended."""
    with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield
