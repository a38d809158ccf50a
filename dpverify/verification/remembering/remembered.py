"""What was found of statements, kept in the user's store."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from dpverify.formulas.rendering.neutral import Json
from dpverify.grouping import grouped
from dpverify.ledger.entries import InstanceEntry
from dpverify.ledger.names import bare
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Coverage, Variant
from dpverify.proving.language import Obligation, Statement, Unread
from dpverify.running.store import keep, kept
from dpverify.statements.paper import Paper, PaperFolder, papers
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog import answers
from dpverify.verification.catalog.program import content_of, program
from dpverify.verification.catalog.proofs import prove_statements
from dpverify.verification.catalog.rows import ProofRecord, nothing_known
from dpverify.verification.catalog.source_rows import obligations_of
from dpverify.verification.refutations import instance_entries

if TYPE_CHECKING:
    from dpverify.running import Progress


FoundT = TypeVar("FoundT")


def _source(variant: Variant, obligations: Sequence[Obligation]) -> Json:
    """All that obligations are made from: what they were read from, or, if they were not read, they themselves."""
    if isinstance(obligations, Unread):
        return ["read", obligations.source()]
    return [content_of(variant, o) for o in obligations]


_written: dict[int, tuple[Statement, str]] = {}
"""Hashes, asked for again with each statement that uses one; kept with it, so that no other has its id."""


def _own_hash(statement: Statement) -> str:
    """Changes with what a statement's own verdicts follow from, but for the program."""
    if id(statement) not in _written:
        sources = [_source(variant, obligations_of(statement, variant)) for variant in Variant]
        content = [statement.id, statement.corrected.reasons if statement.corrected else (), sources]
        _written[id(statement)] = statement, hashlib.sha256(json.dumps(content).encode()).hexdigest()
    return _written[id(statement)][1]


def _used(statement: Statement) -> Iterator[Statement]:
    """The statements whose conclusions its premises are held against."""
    for name in dict.fromkeys(map(bare, statement.rests_on)):
        if (of := find_statement(name)) is not None:
            yield of


def source_hash(statement: Statement) -> str:
    """Changes with a statement's formulas and those that its premises are held against, and with nothing else."""
    hashes = [_own_hash(statement), *(_own_hash(of) for of in _used(statement))]
    return hashlib.sha256(" ".join(hashes).encode()).hexdigest()


def statement_key(statement: Statement) -> Json:
    """All that something depends on that follows from a statement's formulas."""
    return [program(), source_hash(statement)]


class HowFound(StrEnum):
    """How something was found; the one is never taken for the other."""

    PROVED = "proofs"
    """By the provers, on this machine."""
    CONFIRMED = "confirmed answers"
    """Answers that come with the program, confirmed by the checker on this machine; those that it refused, proved."""


def remember(statement: Statement, records: list[ProofEvidence], how: HowFound = HowFound.PROVED) -> None:
    """Keep a statement's evidence under the hash of what its formulas are read from and of the program's files.

    What a clock has cut short is not kept, nor what a fault has.
    """
    if not any(r.depends_on_the_machine for r in records):
        keep(how, statement_key(statement), [r.model_dump(mode="json") for r in records])


def remember_all(entries: Iterable[ProofEvidence], how: HowFound = HowFound.PROVED) -> None:
    """Keep what was found; entries of a statement are all of its entries."""
    for name, records in grouped((entry.statement, entry) for entry in entries).items():
        statement = find_statement(name)
        if statement is not None:
            remember(statement, records, how)


def prove_and_remember(
    statements: list[Statement],
    *,
    workers: int = 1,
    progress: Progress | None = None,
    how: HowFound = HowFound.PROVED,
) -> list[ProofRecord]:
    """As `prove_statements`; what is found of a statement is kept at once, whatever becomes of the others."""
    return prove_statements(
        statements,
        workers=workers,
        progress=progress,
        finished=lambda records: remember_all((r.evidence for r in records), how),
        known=answers.known if how is HowFound.CONFIRMED else nothing_known,
    )


def recall_or_prove(
    statements: Sequence[Statement],
    *,
    workers: int = 1,
    progress: Progress | None = None,
    missing: Callable[[int], None] = lambda count: None,
    recall_one: Callable[[Statement], list[ProofEvidence] | None] | None = None,
    how: HowFound = HowFound.PROVED,
) -> list[ProofRecord]:
    """What is kept of each statement, and what is found of the others, in their order; `missing` hears how many."""
    known = {s.id: (recall_one or recall)(s) for s in statements}
    others = [s for s in statements if known[s.id] is None]
    missing(len(others))
    if others:
        for record in prove_and_remember(others, workers=workers, progress=progress, how=how):
            known[record.evidence.statement] = [*(known[record.evidence.statement] or []), record.evidence]
    return [ProofRecord(e) for found in known.values() for e in found or ()]


def recall(statement: Statement, how: HowFound = HowFound.PROVED) -> list[ProofEvidence] | None:
    """What `remember` kept, None if formulas or provers have changed since; nothing of what is only cited."""
    if all(part.coverage is Coverage.CITED for part in statement.parts):
        return []
    return read_evidence(kept(how, statement_key(statement)))


def read_evidence(found: Any) -> list[ProofEvidence] | None:
    """Evidence as it was kept; None where nothing was, or what another version of the program wrote."""
    try:
        return None if found is None else [ProofEvidence.model_validate(row) for row in found]
    except (TypeError, ValueError):
        return None


def audits_of(paper: Paper) -> Mapping[str, int]:
    """Id to the number of audits of it in a quick run; remembered, since the audits themselves take long to load."""

    def counted() -> dict[str, int]:
        from dpverify.statements.plans import Profile

        return dict(Counter(plan.subject for plan in paper.plans if plan.within(Profile.QUICK)))

    return _once("audits", paper, counted)


@cache
def recall_instances(paper: str, statement_id: str) -> tuple[InstanceEntry, ...]:
    """As `instance_entries`; remembered."""
    of = papers()[paper]
    if not (of.instances or {}).get(statement_id):
        return ()

    def judged() -> list[Json]:
        return [entry.model_dump(mode="json") for entry in instance_entries(paper, statement_id)]

    rows = _once("instances", of, judged, statement_id)
    return tuple(map(InstanceEntry.model_validate, rows))


def _once(what: str, paper: Paper, find: Callable[[], FoundT], *of: str) -> FoundT:
    """What is found of a paper, remembered; found anew of a paper that is not among the program's files."""
    if not isinstance(paper, PaperFolder):
        return find()
    key = [program(), paper.key, *of]
    found: FoundT | None = kept(what, key)
    if found is None:
        keep(what, key, found := find())
    return found
