"""From printed statements to proof evidence: prove, check, and keep what was found."""

from __future__ import annotations

import json
import platform
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.evidence import Coverage, Gap, ProofEvidence, Variant, Verdict
from dpverify.formulas.expressions import Variable
from dpverify.formulas.logic import Compare
from dpverify.formulas.rendering.printing import expression_text, formula_text
from dpverify.headlines.roots import Shown, bare, below
from dpverify.headlines.rows import HOLDS, marks, only_the_proof_changes, variant_rows
from dpverify.headlines.words import NOTHING, Word, where_meant, word
from dpverify.ledger import InstanceEntry, NamedResult, StatementEntry
from dpverify.proving.language import Json, Obligation, Statement, obligation_to_json
from dpverify.proving.mistakes import added_conditions
from dpverify.proving.proof import STOPPED_BY_MEMORY
from dpverify.proving.reasoning.effort import below_a_ceiling
from dpverify.proving.writing_out import decided_form
from dpverify.running.program import program_hash
from dpverify.statements.paper import (
    CatalogRow,
    Paper,
    find_statement,
    named_results,
    papers,
    select,
)
from dpverify.statements.provenance import prints, provenance_of, unsaid
from dpverify.verification.refutations.consequences import (
    correction_of,
    is_evaluated,
    judged,
    printed_of,
    refutation_texts,
    sides_as_printed,
)
from dpverify.verification.refutations.instances import held_to_instances, instance_entries
from dpverify.verification.refutations.realistic_points import realistic_point

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


def obligations_of(statement: Statement, variant: Variant) -> Sequence[Obligation]:
    """What is printed, or what corrects it."""
    if variant is Variant.PRINTED:
        return statement.printed
    return statement.repaired.obligations if statement.repaired else ()


def _tasks(statement: Statement) -> Iterator[_Task]:
    for variant in Variant:
        for position in range(len(obligations_of(statement, variant))):
            yield _Task(statement.id, variant, position)


def source_texts(
    statement: Statement, variant: Variant, obligation: Obligation, coverage: Coverage, name: str
) -> dict[str, Any]:
    """What a ledger's row shows of an obligation whatever comes of it: the fields that its source alone fixes."""
    from dpverify.formulas.rendering.latex import formula_latex

    repair, of_numbers = statement.repaired, coverage is not Coverage.UNIT
    decided = decided_form(obligation, written_out=True)
    added: tuple[str, ...] = ()
    letters = {v.name: v for v in (*obligation.over, *(decided.over if of_numbers else ()))}.values()
    if variant is Variant.REPAIRED and of_numbers:
        own = (name.partition("/")[2] for name in obligation.uses if bare(name) == statement.id)
        steps = (correction_of(statement, name) or printed_of(statement, name) for name in own)
        shown = [step.claim for step in steps if step is not None]
        added = added_conditions(printed_of(statement, obligation.name), obligation, shown)
    return {
        "statement": statement.id,
        "obligation": name,
        "where": obligation.where,
        "coverage": coverage,
        "variant": variant,
        "latex": obligation.latex or formula_latex(obligation.claim),
        "expression": formula_text(obligation.claim),
        "read": what_was_read(obligation),
        "scope": obligation.scope,
        "stands_for": obligation.stands_for,
        "uses": () if coverage is Coverage.UNIT else obligation.uses,
        "provenance": provenance_of(statement.id, variant, obligation.name),
        "prints": prints(statement.id, variant, obligation.name),
        "added": added,
        "catches": obligation.catches.says if obligation.catches and coverage is not Coverage.UNIT else "",
        "domain": {v.name: v.domain_text() for v in letters},
        "units": {v.name: str(v.unit) for v in letters},
        "functionals": tuple(v.name for v in decided.functionals) if of_numbers else (),
        "formulas": {v.name: expression_text(e) for v, e in decided.formulas.items()} if of_numbers else {},
        "assuming": tuple(formula_text(a) for a in obligation.assuming),
        "because": repair.because if repair and variant is Variant.REPAIRED else "",
    }


def what_was_read(obligation: Obligation) -> str:
    """An obligation in words and plain characters, from its tree: quantifiers, conditions and definitions in front."""
    letters = [_quantified(v) for v in obligation.over]
    several = len(obligation.assuming) > 1
    conditions = [
        f"({formula_text(a)})" if several and not isinstance(a, Compare) else formula_text(a)
        for a in obligation.assuming
    ]
    parts = [f"for all {', '.join(letters)}"] if letters else []
    parts += [f"if {' and '.join(conditions)}"] if conditions else []
    parts += [f"with {', '.join(obligation.defined)}"] if obligation.defined else []
    claim = formula_text(obligation.claim)
    return f"{', '.join(parts)}: {claim}" if parts else claim


def _quantified(letter: Variable) -> str:
    """A letter and its domain: `integer n in [1, oo)`."""
    if letter.kind == "vector":
        return f"vector {letter.name}"
    return f"{letter.kind} {letter.name} in {letter.domain_text().removeprefix('integers in ')}"


def rows_of(statement: Statement) -> Iterator[tuple[Variant, Obligation, Coverage, str]]:
    """The rows that a statement has in a ledger: variant, obligation, coverage and name of each."""
    for variant in Variant:
        for obligation in obligations_of(statement, variant):
            yield variant, obligation, obligation.coverage, obligation.name
            if obligation.compares_units:
                yield variant, obligation, Coverage.UNIT, f"{obligation.name}: units"


def _evidence(
    statement: Statement,
    variant: Variant,
    obligation: Obligation,
    proof: Proof,
    coverage: Coverage,
    name: str,
) -> ProofRecord:
    from dpverify.proving import digest
    from dpverify.proving.checker import check

    texts = source_texts(statement, variant, obligation, coverage, name)
    proof, form = judged(proof, texts["provenance"]), decided_form(obligation, proof.written_out)
    certificate = proof.certificate
    confirmation = check(certificate) if certificate is not None else None
    realistic, late = None, False
    if certificate is not None and proof.verdict is Verdict.REFUTED and coverage is not Coverage.UNIT:
        realistic, late = realistic_point(form, certificate, check)
    sides = sides_as_printed(form, coverage, proof.counterexample, proof.left, proof.right)
    evidence = ProofEvidence(
        **texts,
        **refutation_texts(
            statement, variant, obligation, coverage, proof.verdict, sides, proof.counterexample, realistic
        ),
        verdict=proof.verdict,
        prover=proof.prover,
        box=dict(proof.box) if proof.box is not None else None,
        counterexample=dict(proof.counterexample) if proof.counterexample is not None else None,
        relation=sides[0],
        left=sides[1],
        right=sides[2],
        realistic=realistic,
        certificate=digest(certificate) if certificate is not None else None,
        confirmed_by_checker=bool(confirmation and confirmation.confirmed),
        checker_says=confirmation.says if confirmation else "",
        reason=proof.reason,
        gap=proof.gap,
        boxes=proof.boxes,
        witness=dict(proof.witness) if proof.witness is not None else None,
        written_out=proof.written_out,
        stopped_by_the_clock=proof.stopped_by_the_clock
        or late
        or bool(confirmation and confirmation.by_the_clock),
        seconds=round(proof.seconds, 3),
    )
    return ProofRecord(evidence, certificate)


def _carry_out(task: _Task) -> list[ProofRecord]:
    statement = find_statement(task.statement)
    if statement is None:  # the other process sees other papers
        raise InvalidArgumentError("statement", task.statement, "a statement registered in this environment")
    return _answered(statement, task.variant, obligations_of(statement, task.variant)[task.position])


def _answered(statement: Statement, variant: Variant, obligation: Obligation) -> list[ProofRecord]:
    from dpverify.proving import homogeneity, prove
    from dpverify.proving.two_readers import check_agreement

    questions: list[tuple[Callable[[Obligation], Proof], Coverage, str]] = [
        (prove, obligation.coverage, obligation.name)
    ]
    if obligation.compares_units:
        questions.append((homogeneity, Coverage.UNIT, f"{obligation.name}: units"))
    records = []
    for answer, coverage, name in questions:
        try:
            check_agreement(obligation)
            with below_a_ceiling():
                records.append(_evidence(statement, variant, obligation, answer(obligation), coverage, name))
        except DpverifyError:
            raise
        except MemoryError:
            records.append(
                _undecided(statement, variant, obligation, STOPPED_BY_MEMORY, Gap.MEMORY, coverage, name)
            )
        except Exception as error:  # a fault in one row is no reason to lose the others
            records.append(_faulty(statement, variant, obligation, error, coverage, name))
    return records


def _faulty(
    statement: Statement,
    variant: Variant,
    obligation: Obligation,
    error: Exception,
    coverage: Coverage,
    name: str,
) -> ProofRecord:
    """A row whose proof ended in a fault of dpverify's own."""
    fault = "".join(traceback.format_exception(error))
    reason = f"a fault in dpverify, not a verdict: {type(error).__name__}: {error}"
    return _undecided(statement, variant, obligation, reason, Gap.FAULT, coverage, name, fault)


def _undecided(
    statement: Statement,
    variant: Variant,
    obligation: Obligation,
    reason: str,
    gap: Gap,
    coverage: Coverage,
    name: str,
    fault: str = "",
) -> ProofRecord:
    """A row that has no proof."""
    evidence = ProofEvidence(
        statement=statement.id,
        obligation=name,
        where=obligation.where,
        coverage=coverage,
        variant=variant,
        latex=obligation.latex,
        expression=json.dumps(obligation_to_json(obligation)["claim"]),
        read=what_was_read(obligation),
        scope=obligation.scope,
        stands_for=obligation.stands_for,
        uses=() if coverage is Coverage.UNIT else obligation.uses,
        provenance=provenance_of(statement.id, variant, obligation.name),
        domain={v.name: v.domain_text() for v in obligation.over},
        verdict=Verdict.UNDECIDED,
        prover="none",
        reason=reason,
        gap=gap,
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
    finished: Callable[[list[ProofRecord]], None] | None = None,
) -> list[ProofRecord]:
    """The same for several statements, obligations side by side in `workers` processes.

    With a store, each obligation that is done is kept with its certificate, and what is there already is taken.
    `finished` is called with all records of a statement as soon as they are there.
    """
    from joblib import Parallel, delayed

    from dpverify.running.executors import worker_processes

    program()  # a file that is changed from now on is not among what the proofs are remembered for
    tasks = [task for statement in statements for task in _tasks(statement)]
    if progress is not None:
        progress.start(len(tasks))
    found = {task: kept for task in tasks if store is not None and (kept := _stored(store, task)) is not None}
    missing = [task for task in tasks if task not in found]
    waiting = Counter(task.statement for task in missing)
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
        waiting[task.statement] -= 1
        if finished is not None and not waiting[task.statement]:
            finished([r for t in tasks if t.statement == task.statement for r in found[t]])
        if progress is not None:
            progress.advance(1)
    if progress is not None:
        progress.finish()
    return [record for task in tasks for record in found[task]]


def prove_page(
    statement: Statement,
    known: Iterable[ProofEvidence] = (),
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> tuple[list[ProofRecord], Word]:
    """Prove or refute what stands on someone's own page; the records, and what may be said of it all.

    `known` is what was found of the papers' statements that it rests on, and of those that these rest on: what rests on
    one that is refuted is not proved, whatever follows from that in its paper.
    """
    from joblib import Parallel, delayed

    from dpverify.running.executors import worker_processes

    parts = [(variant, o) for variant in Variant for o in obligations_of(statement, variant)]
    if progress is not None:
        progress.start(len(parts))
    parallel = Parallel(n_jobs=workers, backend=worker_processes(), return_as="generator", batch_size=1)
    records: list[ProofRecord] = []
    for found in parallel(delayed(_answered)(statement, variant, o) for variant, o in parts):
        records += found
        if progress is not None:
            progress.advance(1)
    if progress is not None:
        progress.finish()
    own = _shown(statement, [r.evidence for r in records])
    shown = {**_shown_of(known), statement.id: own}
    found = _word(statement, Variant.PRINTED, shown)
    rests = below(statement.id, Variant.PRINTED, shown)
    if found.verdict in HOLDS and set(rests.false) - set(rests.meant):
        unknown = replace(
            rests, false=dict.fromkeys(rests.false)
        )  # what follows from that is known of its paper only
        found = word(statement.id, own.rows[Variant.PRINTED], own.uses, unknown)
    return records, found


def _named_and_carried_out(task: _Task) -> tuple[_Task, list[ProofRecord]]:
    return task, _carry_out(task)


def _key(task: _Task) -> str:
    """Everything that the outcome of an obligation depends on."""
    statement = find_statement(task.statement)
    if statement is None:
        return ""
    obligation = obligations_of(statement, task.variant)[task.position]
    content = content_of(task.variant, obligation)
    because = statement.repaired.because if statement.repaired else ""
    # what is wrong with a printed formula, and what a correction adds, is said of each against the other
    other = (correction_of if task.variant is Variant.PRINTED else printed_of)(statement, obligation.name)
    against = None if other is None else obligation_to_json(other)
    # a special case is held against all that the correction concludes, and against the instances
    corrected = statement.repaired.obligations if statement.repaired else ()
    special = obligation.coverage is Coverage.INSTANCE
    concluded = [obligation_to_json(o) for o in corrected if special and o.coverage is Coverage.WHOLE]
    rest = (concluded, is_evaluated(statement, obligation))
    line = (
        provenance_of(statement.id, task.variant, obligation.name),
        prints(statement.id, task.variant, obligation.name),
    )
    return json.dumps([program(), statement.id, because, content, against, *rest, line])


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
    """Keep what neither a clock cut short nor memory or a fault ended; the rest is tried again."""
    if any(record.evidence.depends_on_the_machine for record in records):
        return
    rows = [(record.evidence.model_dump(), record.certificate) for record in records]
    store.put("proof", _key(task), json.dumps(rows).encode())


def without_certificates(evidence: ProofEvidence) -> ProofRecord:
    """Evidence as a record, where the certificate itself is not at hand."""
    return ProofRecord(evidence, None)


# ------------------------------------------------------------------------------------------- the catalog


def _shown(
    statement: Statement, records: list[ProofEvidence], instances: Sequence[InstanceEntry] | None = None
) -> Shown:
    """What was found of a statement; with what refutes it, where its paper keeps instances."""
    rows = {Variant.PRINTED: variant_rows(records, Variant.PRINTED)}
    if statement.repaired is not None:
        rows[Variant.REPAIRED] = variant_rows(records, Variant.REPAIRED, statement.repaired.replaces)
    if instances is not None:
        rows = {variant: held_to_instances(statement, of, instances) for variant, of in rows.items()}
    return Shown(statement.id, statement.uses, rows, unsaid(statement.id))


def _shown_of(proofs: Iterable[ProofEvidence]) -> dict[str, Shown]:
    """What was found of encoded statements, by their ids."""
    by_statement: dict[str, list[ProofEvidence]] = {}
    for proof in proofs:
        by_statement.setdefault(proof.statement, []).append(proof)
    return {
        statement.id: _shown(
            statement,
            by_statement[statement.id],
            None if paper.instances is None else instance_entries(paper.key, statement.id),
        )
        for paper in papers().values()
        if any(row.id in by_statement for row in paper.catalog)
        for statement in paper.statements
        if statement.id in by_statement
    }


def _word(statement: Statement | None, variant: Variant, shown: Mapping[str, Shown]) -> Word:
    """What may be said of a statement in one variant; nothing where nothing was tried, or there is no such variant."""
    if statement is None or statement.id not in shown:
        return NOTHING
    of = shown[statement.id]
    if variant not in of.rows:
        return _by_corrections_below(statement, shown)

    def said(rows: Variant, resting: Variant, printed: Variant | None = None) -> Word:
        rests = below(statement.id, resting, shown)
        if printed is not None:  # what is false of what the printed proof rests on is said as well
            rests = replace(rests, false={**rests.false, **below(statement.id, printed, shown).false})
        shown_rows = None if printed is None else of.rows[printed]
        missing = of.missing(rows if printed is None else printed)
        return word(statement.id, of.rows[rows], of.uses, rests, missing=missing, printed=shown_rows)

    found = said(variant, variant)
    if variant is not Variant.PRINTED or Variant.REPAIRED not in of.rows:
        return found
    if of.where_meant:
        corrected = said(Variant.REPAIRED, Variant.REPAIRED)
        return where_meant(corrected) if corrected.verdict in HOLDS else found
    changes = only_the_proof_changes(statement.id, of.rows[variant], of.rows[Variant.REPAIRED])
    if found.verdict is Verdict.UNDECIDED and changes:
        by_it = said(Variant.REPAIRED, Variant.REPAIRED, variant)
        found = by_it if by_it.verdict in HOLDS else found
    return found


def _by_corrections_below(statement: Statement, shown: Mapping[str, Shown]) -> Word:
    """What may be said of a statement without a correction of its own, given those of what it rests on.

    Nothing but where these decide it: where it is undecided as printed, and holds by them.
    """
    of = shown[statement.id]
    rows = of.rows[Variant.PRINTED]
    rests = [below(statement.id, variant, shown) for variant in Variant]
    missing = of.missing(Variant.PRINTED)
    printed, found = (word(statement.id, rows, of.uses, each, missing=missing) for each in rests)
    undecided = printed.verdict is Verdict.UNDECIDED
    return found if undecided and rests[1].corrected and found.verdict in HOLDS else NOTHING


def _docstring(path: str | None) -> str:
    if path is None:
        return ""
    module, _, name = path.partition(":")
    return (getattr(import_module(module), name).__doc__ or "").strip()


def _entry(
    paper: Paper,
    row: CatalogRow,
    proofs: Mapping[str, list[ProofEvidence]],
    shown: Mapping[str, Shown],
    docstrings: bool,
) -> StatementEntry:
    statement = next((s for s in paper.statements if s.id == row.id), None)
    algorithm = paper.algorithms.get(row.id)
    found = proofs.get(row.id, [])
    pairs = set(statement.pairs if statement else ())
    pairs |= set(named_with().get(row.id, ()))
    printed, repaired = (_word(statement, variant, shown) for variant in Variant)
    rests = below(row.id, Variant.PRINTED, shown)
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
        verdict_printed=printed.verdict,
        verdict_repaired=repaired.verdict,
        headline_printed=printed.headline,
        headline_repaired=repaired.headline,
        given_printed=printed.given,
        given_repaired=repaired.given,
        consequence=printed.consequence,
        standing_printed=printed.standing,
        standing_repaired=repaired.standing,
        missing=shown[row.id].missing(Variant.PRINTED) if row.id in shown else (),
        uses=statement.rests_on if statement else (),
        roots=(printed if printed.verdict in HOLDS or not repaired.headline else repaired).roots,
        used_by=used_by(row.id),
        rests_on_false=tuple(rests.false),
        rests_on_unfollowed=tuple(rests.unfollowed),
        errata=paper.errata.get(row.id, ()),
        instances=instance_entries(paper.key, row.id) if found and paper.instances else (),
        marks=marks(found),
    )


@cache
def uses_graph() -> Mapping[str, tuple[str, ...]]:
    """Every encoded statement with the statements and named results that it rests on."""
    return {
        s.id: tuple(dict.fromkeys(map(bare, s.rests_on)))
        for paper in papers().values()
        for s in paper.statements
    }


@cache
def named_with() -> Mapping[str, tuple[str, ...]]:
    """Id to the encoded statements that name it as what belongs with them."""
    found: dict[str, list[str]] = {}
    for paper in papers().values():
        for statement in paper.statements:
            for id_ in statement.pairs:
                found.setdefault(id_, []).append(statement.id)
    return {id_: tuple(names) for id_, names in found.items()}


def used_by(id_: str) -> tuple[str, ...]:
    """The encoded statements that rest on a statement or a named result."""
    return tuple(name for name, uses in uses_graph().items() if id_ in uses)


def catalog_entries(
    records: list[ProofRecord], keys_or_ids: tuple[str, ...] = (), *, docstrings: bool = True
) -> tuple[StatementEntry, ...]:
    """Every catalog row of the given papers or ids with the verdicts that the records give.

    What is false as printed among the records' statements is carried to all that rests on it. Without `docstrings`,
    those of algorithms stay empty, and no algorithm is loaded.
    """
    proofs: dict[str, list[ProofEvidence]] = {}
    for record in records:
        proofs.setdefault(record.evidence.statement, []).append(record.evidence)
    shown = _shown_of(record.evidence for record in records)
    return tuple(_entry(paper, row, proofs, shown, docstrings) for paper, row in select(keys_or_ids))


def results_of(
    statements: Iterable[StatementEntry], proofs: Iterable[ProofEvidence]
) -> tuple[NamedResult, ...]:
    """The named results that statements or rows of a ledger rest on, in the order of their ids."""
    used = {bare(name) for statement in statements for name in statement.uses}
    used |= {bare(name) for proof in proofs for name in proof.uses}
    return tuple(found for name, found in sorted(named_results().items()) if name in used)


# ------------------------------------------------------------------------------------------- remembering


PROVING_LIBRARIES = ("sympy", "mpmath", "python-flint", "z3-solver", "cvc5")
"""Libraries that provers and checker rest on."""


@cache
def libraries() -> list[str]:
    """The versions of Python and of the libraries that proofs rest on."""
    return [platform.python_version(), *(f"{name} {version(name)}" for name in PROVING_LIBRARIES)]


def program() -> list[str]:
    """Changes with any line of the program, and with the version of a library that proofs rest on."""
    return [program_hash(), *libraries()]


def content_of(variant: Variant, o: Obligation) -> Json:
    box = {k: [str(e) for e in v] for k, v in o.box.items()}
    said = [
        o.coverage,
        o.scope,
        o.stands_for,
        o.defined,
        o.uses,
        o.consequence,
        o.reading,
        o.catches.says if o.catches else "",
    ]
    # what letters mean decides which sizes they have in practice
    meanings = {v.name: v.meaning for v in o.over}
    form = decided_form(o, written_out=True)
    decided, functionals = obligation_to_json(form), [v.name for v in form.functionals]
    problem = obligation_to_json(o)
    return [variant, o.name, o.where, said, o.units, o.latex, problem, decided, functionals, meanings, box]
