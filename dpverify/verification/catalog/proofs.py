"""From printed statements to proof evidence: obligations side by side, each kept as soon as it is done."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from dpverify.checks import of_kind
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.headlines.roots import below
from dpverify.ledger.headlines.words import VariantOutcome, word
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import HOLDS, Coverage, Variant
from dpverify.proving.language import Statement
from dpverify.statements.paper import address_of
from dpverify.statements.provenance import prints
from dpverify.statements.selection import find_statement, select_statements
from dpverify.verification.catalog.entries import said_of, shown_of, shown_of_statement
from dpverify.verification.catalog.premises import used_content
from dpverify.verification.catalog.program import content_of, program
from dpverify.verification.catalog.rows import Known, ProofRecord, answered, nothing_known
from dpverify.verification.catalog.source_rows import correction_of, obligations_of, printed_of
from dpverify.verification.refutations import CONCLUDED, is_evaluated

if TYPE_CHECKING:
    from dpverify.running import Progress, Store

ItemT = TypeVar("ItemT")
FoundT = TypeVar("FoundT")

FEW = 4
"""Rows, or theorems, that are done before another process has started."""


@dataclass(frozen=True)
class _ProofTask:
    """One obligation, by name: small enough to send to another process."""

    statement: str
    variant: Variant
    position: int
    address: str
    """Where the statement is found."""
    known: Known = nothing_known


def _tasks(statement: Statement, known: Known = nothing_known) -> Iterator[_ProofTask]:
    address = address_of(statement.id)
    for variant in Variant:
        for position in range(len(obligations_of(statement, variant))):
            yield _ProofTask(statement.id, variant, position, address, known)


def _carry_out(task: _ProofTask) -> list[ProofRecord]:
    statement = find_statement(task.address)
    if statement is None:  # the other process sees other papers
        raise InvalidArgumentError("statement", task.statement, "a statement registered in this environment")
    obligation = obligations_of(statement, task.variant)[task.position]
    return answered(statement, task.variant, obligation, task.known)


def prove_statement(statement_id: str) -> list[ProofRecord]:
    """Prove or refute every obligation of one statement, printed ones first.

    Raises:
        InvalidArgumentError: no statement with this id is encoded.
    """
    of_kind("id", statement_id, str, "an id")
    statement = find_statement(statement_id)
    if statement is None:
        select_statements((statement_id,))  # refuses what is no id, or has no formulas
        raise InvalidArgumentError("id", statement_id, "the id of one statement, not of a paper")
    return [record for task in _tasks(statement) for record in _carry_out(task)]


def prove_statements(
    statements: list[Statement],
    *,
    workers: int = 1,
    progress: Progress | None = None,
    store: Store | None = None,
    finished: Callable[[list[ProofRecord]], None] | None = None,
    known: Known = nothing_known,
) -> list[ProofRecord]:
    """The same for several statements, obligations side by side in `workers` processes.

    With a store, each obligation that is done is kept with its certificate, and what is there already is taken.
    `finished` is called with all records of a statement as soon as they are there. What is `known` of an obligation is
    taken where the checker confirms it.
    """
    program()  # a file that is changed from now on is not among what the proofs are remembered for
    tasks = [task for statement in statements for task in _tasks(statement, known)]
    found = {task: kept for task in tasks if store is not None and (kept := _stored(store, task)) is not None}
    missing = [task for task in tasks if task not in found]
    waiting = Counter(task.statement for task in missing)
    for task, records in as_they_end(
        _carry_out, missing, workers=workers, progress=progress, done=len(found)
    ):
        found[task] = records
        if store is not None:
            _store(store, task, records)
        waiting[task.statement] -= 1
        if finished is not None and not waiting[task.statement]:
            finished([r for t in tasks if t.statement == task.statement for r in found[t]])
    return [record for task in tasks for record in found[task]]


def as_they_end(
    call: Callable[[ItemT], FoundT],
    items: Sequence[ItemT],
    *,
    workers: int,
    progress: Progress | None,
    done: int = 0,
    few: int = 0,
) -> Iterator[tuple[ItemT, FoundT]]:
    """What a call finds of each item, in the order in which they end, so that what is done can be kept at once.

    For no more than `few` items, no other process is started.
    """
    if progress is not None:
        progress.start(done + len(items))
        if done:
            progress.advance(done)
    for one in _ended(call, items, workers if len(items) > few else 1):
        yield one
        if progress is not None:
            progress.advance(1)
    if progress is not None:
        progress.finish()


def _ended(
    call: Callable[[ItemT], FoundT], items: Sequence[ItemT], workers: int
) -> Iterator[tuple[ItemT, FoundT]]:
    if workers == 1:
        yield from ((item, call(item)) for item in items)
        return
    from joblib import Parallel, delayed

    from dpverify.running.executors import worker_processes

    parallel = Parallel(
        n_jobs=workers, backend=worker_processes(), return_as="generator_unordered", batch_size=1
    )
    for at, found in parallel(delayed(_numbered)(call, at, item) for at, item in enumerate(items)):
        yield items[at], found


def _numbered(call: Callable[[ItemT], FoundT], at: int, item: ItemT) -> tuple[int, FoundT]:
    """The number comes back from another process, not the item, which may be long."""
    return at, call(item)


def said_of_page(
    statement: Statement, proofs: Iterable[ProofEvidence], known: Iterable[ProofEvidence]
) -> VariantOutcome:
    """What may be said of a statement on someone's own page.

    `known` is what was found of the papers' statements that it rests on, and of those that these rest on: what rests on
    one that is refuted is not proved, whatever follows from that in its paper.
    """
    own = shown_of_statement(statement, list(proofs))
    shown = {**shown_of(known), statement.id: own}
    found = said_of(statement, Variant.PRINTED, shown)
    rests = below(statement.id, Variant.PRINTED, shown)
    if found.verdict in HOLDS and set(rests.false) - set(rests.meant):
        # what follows from that is known of its paper only
        unknown = rests.but(false=dict.fromkeys(rests.false))
        found = word(statement.id, own.rows[Variant.PRINTED], own.uses, unknown)
    return found


def _key(task: _ProofTask) -> str:
    """Everything that the outcome of an obligation depends on."""
    statement = find_statement(task.statement)
    if statement is None:
        return ""
    obligation = obligations_of(statement, task.variant)[task.position]
    content = content_of(task.variant, obligation)
    because = statement.corrected.because if statement.corrected else ""
    # what is wrong with a printed formula, and what a correction adds, is said of each against the other
    other = (correction_of if task.variant is Variant.PRINTED else printed_of)(statement, obligation.name)
    against = None if other is None else other.problem.json
    # a special case is held against all that the correction concludes, and against the instances
    corrected = statement.corrected.obligations if statement.corrected else ()
    special = obligation.coverage is Coverage.INSTANCE
    concluded = [o.problem.json for o in corrected if special and o.coverage in CONCLUDED]
    rest = (concluded, is_evaluated(statement, obligation))
    line = (obligation.provenance, prints(statement.id, task.variant, obligation))
    used = used_content(statement, obligation)
    return json.dumps([program(), statement.id, because, content, against, *rest, line, used])


def _stored(store: Store, task: _ProofTask) -> list[ProofRecord] | None:
    content = store.get("proof", _key(task))
    store.count("proof", taken=content is not None)
    if content is None:
        return None
    return [
        ProofRecord(ProofEvidence.model_validate(evidence), certificate)
        for evidence, certificate in json.loads(content)
    ]


def _store(store: Store, task: _ProofTask, records: list[ProofRecord]) -> None:
    """Keep what neither a clock cut short nor memory or a fault ended; the rest is tried again."""
    if any(record.evidence.depends_on_the_machine for record in records):
        return
    rows = [(record.evidence.model_dump(), record.certificate) for record in records]
    store.put("proof", _key(task), json.dumps(rows).encode())
