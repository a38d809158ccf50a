"""From printed statements to proof evidence: prove, check, and keep what was found."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.evidence import (
    ProofEvidence,
    Role,
    StatementEntry,
    Variant,
    Verdict,
    covered,
    marks,
    overall,
)
from dpverify.files import write_whole
from dpverify.proving.language import (
    Json,
    Obligation,
    Statement,
    formula_latex,
    formula_text,
    obligation_to_json,
)
from dpverify.running.program import program_hash
from dpverify.statements.paper import CatalogRow, Paper, find_statement, papers, select

if TYPE_CHECKING:
    from dpverify.proving import Proof
    from dpverify.running import Progress, Store


@dataclass(frozen=True)
class ProofRecord:
    """One entry for the ledger with the certificate it names."""

    evidence: ProofEvidence
    certificate: Json | None


@dataclass(frozen=True)
class _Task:
    """One obligation, by name: small enough to send to another process."""

    statement: str
    variant: Variant
    position: int


def _obligations(statement: Statement, variant: Variant) -> tuple[Obligation, ...]:
    if variant is Variant.PRINTED:
        return statement.printed
    return statement.repaired.obligations if statement.repaired else ()


def _tasks(statement: Statement) -> Iterator[_Task]:
    for variant in Variant:
        for position in range(len(_obligations(statement, variant))):
            yield _Task(statement.id, variant, position)


def source_texts(
    statement: Statement, variant: Variant, obligation: Obligation, role: Role, name: str
) -> dict[str, Any]:
    """What a ledger's row shows of an obligation whatever comes of it: the fields that its source alone fixes."""
    repair = statement.repaired
    return {
        "statement": statement.id,
        "obligation": name,
        "where": obligation.where,
        "role": role,
        "variant": variant,
        "latex": obligation.latex or formula_latex(obligation.claim, obligation.over),
        "expression": formula_text(obligation.claim),
        "scope": obligation.scope,
        "domain": {v.name: v.domain_text() for v in obligation.over},
        "units": {v.name: str(v.unit) for v in obligation.over},
        "assuming": tuple(formula_text(a) for a in obligation.assuming),
        "because": repair.because if repair and variant is Variant.REPAIRED else "",
    }


def rows_of(statement: Statement) -> Iterator[tuple[Variant, Obligation, Role, str]]:
    """The rows that a statement has in a ledger: variant, obligation, role and name of each."""
    for variant in Variant:
        for obligation in _obligations(statement, variant):
            yield variant, obligation, obligation.role, obligation.name
            if obligation.units:
                yield variant, obligation, Role.UNIT, f"{obligation.name}: units"


def _evidence(
    statement: Statement, variant: Variant, obligation: Obligation, proof: Proof, role: Role, name: str
) -> ProofRecord:
    from dpverify.proving import digest
    from dpverify.proving.checker import check

    certificate = proof.certificate
    confirmation = check(certificate) if certificate is not None else None
    evidence = ProofEvidence(
        **source_texts(statement, variant, obligation, role, name),
        verdict=proof.verdict,
        prover=proof.prover,
        box=dict(proof.box) if proof.box is not None else None,
        counterexample=dict(proof.counterexample) if proof.counterexample is not None else None,
        left=proof.left,
        right=proof.right,
        certificate=digest(certificate) if certificate is not None else None,
        confirmed_by_checker=bool(confirmation and confirmation.confirmed),
        checker_says=confirmation.says if confirmation else "",
        reason=proof.reason,
        boxes=proof.boxes,
        witness=dict(proof.witness) if proof.witness is not None else None,
        stopped_by_the_clock=proof.stopped_by_the_clock,
        seconds=round(proof.seconds, 3),
    )
    return ProofRecord(evidence, certificate)


def _carry_out(task: _Task) -> list[ProofRecord]:
    statement = find_statement(task.statement)
    if statement is None:  # the other process sees other papers
        raise InvalidArgumentError("statement", task.statement, "a statement registered in this environment")
    obligation = _obligations(statement, task.variant)[task.position]
    from dpverify.proving import homogeneity, prove

    questions: list[tuple[Callable[[Obligation], Proof], Role, str]] = [
        (prove, obligation.role, obligation.name)
    ]
    if obligation.units:
        questions.append((homogeneity, Role.UNIT, f"{obligation.name}: units"))
    records = []
    for answer, role, name in questions:
        try:
            records.append(_evidence(statement, task.variant, obligation, answer(obligation), role, name))
        except DpverifyError:
            raise
        except Exception as error:  # a fault in one row is no reason to lose the others
            records.append(_faulty(statement, task.variant, obligation, error, role, name))
    return records


def _faulty(
    statement: Statement, variant: Variant, obligation: Obligation, error: Exception, role: Role, name: str
) -> ProofRecord:
    """A row whose proof ended in a fault of dpverify's own."""
    fault = "".join(traceback.format_exception(error))
    evidence = ProofEvidence(
        statement=statement.id,
        obligation=name,
        where=obligation.where,
        role=role,
        variant=variant,
        latex=obligation.latex,
        expression=json.dumps(obligation_to_json(obligation)["claim"]),
        scope=obligation.scope,
        domain={v.name: v.domain_text() for v in obligation.over},
        verdict=Verdict.UNDECIDED,
        prover="none",
        reason=f"a fault in dpverify, and no verdict: {type(error).__name__}: {error}",
        fault=fault,
    )
    return ProofRecord(evidence, None)


def prove_statement(statement_id: str) -> list[ProofRecord]:
    """Prove or refute every obligation of one statement, printed ones first.

    Raises:
        InvalidArgumentError: no statement with this id is encoded.
    """
    statement = find_statement(statement_id)
    if statement is None:
        encoded = ", ".join(s.id for paper in papers().values() for s in paper.statements)
        raise InvalidArgumentError("id", statement_id, f"an encoded statement: {encoded}")
    return [record for task in _tasks(statement) for record in _carry_out(task)]


def prove_statements(
    statements: list[Statement],
    *,
    workers: int = 1,
    progress: Progress | None = None,
    store: Store | None = None,
) -> list[ProofRecord]:
    """The same for several statements, obligations side by side in `workers` processes.

    With a store, each obligation that is done is kept with its certificate, and what is there already is taken.
    """
    from joblib import Parallel, delayed

    from dpverify.running.executors import worker_processes

    tasks = [task for statement in statements for task in _tasks(statement)]
    if progress is not None:
        progress.start(len(tasks))
    found = {task: kept for task in tasks if store is not None and (kept := _stored(store, task)) is not None}
    missing = [task for task in tasks if task not in found]
    if progress is not None and found:
        progress.advance(len(found))
    # in the order in which they end, so that what is done is kept at once
    parallel = Parallel(
        n_jobs=workers, backend=worker_processes(), return_as="generator_unordered", batch_size=1
    )
    for task, records in parallel(delayed(_named_and_carried_out)(task) for task in missing):
        found[task] = records
        if store is not None:
            _store(store, task, records)
        if progress is not None:
            progress.advance(1)
    if progress is not None:
        progress.finish()
    return [record for task in tasks for record in found[task]]


def _named_and_carried_out(task: _Task) -> tuple[_Task, list[ProofRecord]]:
    return task, _carry_out(task)


def _key(task: _Task) -> str:
    """Everything that the outcome of an obligation depends on."""
    statement = find_statement(task.statement)
    if statement is None:
        return ""
    content = _content(task.variant, _obligations(statement, task.variant)[task.position])
    because = statement.repaired.because if statement.repaired else ""
    return json.dumps([_program(), statement.id, because, content])


def _stored(store: Store, task: _Task) -> list[ProofRecord] | None:
    content = store.get("proof", _key(task))
    store.count("proof", taken=content is not None)
    if content is None:
        return None
    return [
        ProofRecord(ProofEvidence.model_validate(evidence), certificate)
        for evidence, certificate in json.loads(content)
    ]


def _store(store: Store, task: _Task, records: list[ProofRecord]) -> None:
    """Keep what neither a clock cut short nor a fault ended; the rest is tried again."""
    if any(record.evidence.stopped_by_the_clock or record.evidence.fault for record in records):
        return
    rows = [(record.evidence.model_dump(), record.certificate) for record in records]
    store.put("proof", _key(task), json.dumps(rows).encode())


def without_certificates(evidence: ProofEvidence) -> ProofRecord:
    """Evidence as a record, where the certificate itself is not at hand."""
    return ProofRecord(evidence, None)


# ------------------------------------------------------------------------------------------- the catalog


def _formulas(statement: Statement, records: list[ProofEvidence], variant: Variant) -> list[ProofEvidence]:
    """What belongs to a statement in one variant, without units; nothing where it was not repaired."""
    formulas = [r for r in records if r.role is not Role.UNIT]
    mine = [r for r in formulas if r.variant is variant]
    if variant is Variant.REPAIRED:
        if statement.repaired is None:
            return []
        gone = {r.obligation for r in mine} | set(statement.repaired.replaces)
        mine += [r for r in formulas if r.variant is Variant.PRINTED and r.obligation not in gone]
    return mine


def _verdict(statement: Statement, records: list[ProofEvidence], variant: Variant) -> Verdict | None:
    """The verdict of a statement in one variant: that of its own formulas; of its steps where it has none.

    The repaired statement is the printed one with the mended formulas in place of those they replace.
    """
    mine = _formulas(statement, records, variant)
    own = [r for r in mine if r.role is Role.STATEMENT]
    return overall([r.verdict for r in own or mine])


def _covers(statement: Statement, records: list[ProofEvidence], variant: Variant) -> tuple[str, ...]:
    """What the verdict on a statement is about, where it says that something holds of less than the whole."""
    if _verdict(statement, records, variant) not in (Verdict.PROVED, Verdict.CERTIFIED):
        return ()
    return covered(_formulas(statement, records, variant))


def _docstring(path: str | None) -> str:
    if path is None:
        return ""
    module, _, name = path.partition(":")
    return (getattr(import_module(module), name).__doc__ or "").strip()


def _entry(
    paper: Paper, row: CatalogRow, proofs: Mapping[str, list[ProofEvidence]], docstrings: bool
) -> StatementEntry:
    statement = next((s for s in paper.statements if s.id == row.id), None)
    algorithm = paper.algorithms.get(row.id)
    found = proofs.get(row.id, [])
    pairs = set(statement.pairs if statement else ())
    naming = (p for p in papers().values() if p.mentions(row.id))
    pairs |= {s.id for p in naming for s in p.statements if row.id in s.pairs}
    return StatementEntry(
        id=row.id,
        paper=row.paper,
        kind=row.kind,
        where=row.where,
        title=row.title,
        algorithm=algorithm,
        pairs=tuple(sorted(pairs)),
        latex=statement.latex if statement else "",
        docstring=_docstring(algorithm) if docstrings else "",
        verdict_printed=_verdict(statement, found, Variant.PRINTED) if statement else None,
        verdict_repaired=_verdict(statement, found, Variant.REPAIRED) if statement else None,
        covers_printed=_covers(statement, found, Variant.PRINTED) if statement else (),
        covers_repaired=_covers(statement, found, Variant.REPAIRED) if statement else (),
        marks=marks(found),
    )


def catalog_entries(
    records: list[ProofRecord], keys_or_ids: tuple[str, ...] = (), *, docstrings: bool = True
) -> tuple[StatementEntry, ...]:
    """Every catalog row of the given papers or ids with the verdicts that the records give.

    Without `docstrings`, those of algorithms stay empty, and no algorithm is loaded.
    """
    proofs: dict[str, list[ProofEvidence]] = {}
    for record in records:
        proofs.setdefault(record.evidence.statement, []).append(record.evidence)
    return tuple(_entry(paper, row, proofs, docstrings) for paper, row in select(keys_or_ids))


# ------------------------------------------------------------------------------------------- remembering


PROVING_LIBRARIES = ("sympy", "mpmath", "python-flint", "z3-solver", "cvc5")
"""Libraries that provers and checker rest on."""


def _program() -> list[str]:
    """Changes with any line of the program, and with the version of a library that proofs rest on."""
    return [program_hash(), platform.python_version(), *(f"{n} {version(n)}" for n in PROVING_LIBRARIES)]


def _content(variant: Variant, o: Obligation) -> Json:
    box = {k: [str(e) for e in v] for k, v in o.box.items()}
    return [variant, o.name, o.where, o.role, o.scope, o.units, o.latex, obligation_to_json(o), box]


def _cache_file(statement: Statement) -> Path:
    contents = [_content(variant, o) for variant in Variant for o in _obligations(statement, variant)]
    content = json.dumps([_program(), statement.id, contents])
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "dpverify" / "proofs" / f"{hashlib.sha256(content.encode()).hexdigest()}.json"


def remember(statement: Statement, records: list[ProofEvidence]) -> None:
    """Keep a statement's evidence under the hash of its formulas and of the provers' source.

    What a clock has cut short is not kept, nor what a fault has.
    """
    if any(r.stopped_by_the_clock or r.fault for r in records):
        return
    path = _cache_file(statement)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps([r.model_dump(mode="json") for r in records]).encode())
    except OSError:
        return  # a cache that cannot be written only costs time


def remember_all(entries: Iterable[ProofEvidence]) -> None:
    """Keep what was found; entries of a statement are all of its entries."""
    found: dict[str, list[ProofEvidence]] = {}
    for entry in entries:
        found.setdefault(entry.statement, []).append(entry)
    for name, records in found.items():
        statement = find_statement(name)
        if statement is not None:
            remember(statement, records)


def recall(statement: Statement) -> list[ProofEvidence] | None:
    """What `remember` kept, None where formulas or provers have changed since."""
    try:
        kept = json.loads(_cache_file(statement).read_text(encoding="utf-8"))
        return [ProofEvidence.model_validate(r) for r in kept]
    except (OSError, ValueError):
        return None
