"""Every row of the catalog with what was found of it, and of what it rests on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module

from dpverify.grouping import grouped
from dpverify.ledger.entries import InstanceEntry, NamedResult, StatementEntry
from dpverify.ledger.headlines.roots import FoundStatement, below
from dpverify.ledger.headlines.rows import marks, needed, only_the_proof_changes, variant_rows
from dpverify.ledger.headlines.words import NOTHING, VariantOutcome, where_meant, word
from dpverify.ledger.names import bare
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import HOLDS, Coverage, Variant, Verdict
from dpverify.proving.language import Statement
from dpverify.statements.own_pages import OwnPaper, PackagePaper, opened
from dpverify.statements.paper import CatalogRow, Paper, named_results, opened_pages, papers, registered
from dpverify.statements.provenance import unsaid, unsaid_claims
from dpverify.statements.selection import select
from dpverify.verification.catalog.rows import ProofRecord
from dpverify.verification.refutations import held_to_instances, instance_entries

Judged = Callable[[str, str], tuple[InstanceEntry, ...]]
"""From a paper's key and a statement's id to its instances: `instance_entries`, or what is remembered of that."""


def shown_of_statement(
    statement: Statement, records: list[ProofEvidence], instances: Sequence[InstanceEntry] | None = None
) -> FoundStatement:
    """What was found of a statement; with what refutes it, where its paper keeps instances."""
    rows = {Variant.PRINTED: variant_rows(records, Variant.PRINTED)}
    if statement.corrected is not None:
        rows[Variant.CORRECTED] = variant_rows(records, Variant.CORRECTED, statement.corrected.replaces)
    if instances is not None:
        rows = {variant: held_to_instances(statement, of, instances) for variant, of in rows.items()}
    cited = tuple(part.name for part in statement.parts if part.coverage is Coverage.CITED)
    return FoundStatement(statement.id, statement.uses, rows, (*unsaid(statement.id), *cited), cited)


def shown_of(proofs: Iterable[ProofEvidence], judged: Judged = instance_entries) -> dict[str, FoundStatement]:
    """What was found of encoded statements, by their ids."""
    by_statement = grouped((proof.statement, proof) for proof in proofs)
    return {
        statement.id: shown_of_statement(
            statement,
            by_statement[statement.id],
            None if paper.instances is None else judged(paper.key, statement.id),
        )
        for paper in papers().values()
        if any(row.id in by_statement for row in paper.catalog)
        for statement in paper.statements
        if statement.id in by_statement
    }


def said_of(
    statement: Statement | None, variant: Variant, shown: Mapping[str, FoundStatement]
) -> VariantOutcome:
    """What may be said of a statement in one variant; nothing where nothing was tried, or there is no such variant."""
    if statement is None or statement.id not in shown:
        return NOTHING
    of = shown[statement.id]
    if variant not in of.rows:
        return _by_corrections_below(statement, shown)

    def said(rows: Variant, resting: Variant, printed: Variant | None = None) -> VariantOutcome:
        rests = below(statement.id, resting, shown)
        if printed is not None:  # what is false of what the printed proof rests on is said as well
            rests = rests.but(false={**rests.false, **below(statement.id, printed, shown).false})
        shown_rows = None if printed is None else of.rows[printed]
        missing = of.missing(rows if printed is None else printed)
        return word(statement.id, of.rows[rows], of.uses, rests, missing=missing, printed=shown_rows)

    found = said(variant, variant)
    if variant is Variant.PRINTED and found.verdict in HOLDS:
        meant = any(row.added for row in needed(of.id, of.rows[variant]))
        return where_meant(found) if meant else found
    if variant is not Variant.PRINTED or Variant.CORRECTED not in of.rows:
        return found
    if of.where_meant:
        corrected = said(Variant.CORRECTED, Variant.CORRECTED)
        return where_meant(corrected) if corrected.verdict in HOLDS else found
    changes = only_the_proof_changes(statement.id, of.rows[variant], of.rows[Variant.CORRECTED])
    if found.verdict is Verdict.UNDECIDED and changes:
        by_it = said(Variant.CORRECTED, Variant.CORRECTED, variant)
        found = by_it if by_it.verdict in HOLDS else found
    return found


def _by_corrections_below(statement: Statement, shown: Mapping[str, FoundStatement]) -> VariantOutcome:
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
    return inspect.cleandoc(getattr(import_module(module), name).__doc__ or "")


def _entry(
    paper: Paper,
    row: CatalogRow,
    proofs: Mapping[str, list[ProofEvidence]],
    shown: Mapping[str, FoundStatement],
    docstrings: bool,
    judged: Judged,
) -> StatementEntry:
    statement = paper.statement(row.id)
    algorithm = paper.algorithms.get(row.id)
    found = proofs.get(row.id, [])
    pairs = set(statement.pairs if statement else ())
    pairs |= set(named_with().get(row.id, ()))
    printed, corrected = (said_of(statement, variant, shown) for variant in Variant)
    rests = below(row.id, Variant.PRINTED, shown)
    return StatementEntry(
        id=row.id,
        paper=row.paper,
        kind=row.kind,
        where=row.where,
        title=row.title,
        algorithm=algorithm,
        pages=str(paper.path) if isinstance(paper, OwnPaper) and not isinstance(paper, PackagePaper) else "",
        pairs=tuple(sorted(pairs)),
        latex=statement.latex if statement else "",
        docstring=_docstring(algorithm) if docstrings else "",
        printed=printed,
        corrected=corrected,
        missing=shown[row.id].missing(Variant.PRINTED) if row.id in shown else (),
        unsaid_claims=unsaid_claims(row.id),
        uses=statement.rests_on if statement else (),
        used_by=used_by(row.id),
        rests_on_false=tuple(rests.false),
        rests_on_unfollowed=tuple(rests.unfollowed),
        errata=paper.errata.get(row.id, ()),
        instances=judged(paper.key, row.id) if found and paper.instances else (),
        marks=marks(found),
    )


Graph = Mapping[str, tuple[str, ...]]


def uses_graph() -> Graph:
    """Every encoded statement with the statements and named results that it rests on."""
    return _graphs(_as_read())[0]


def named_with() -> Graph:
    """Id to the encoded statements that name it as what belongs with them."""
    return _graphs(_as_read())[1]


def _as_read() -> tuple[object, ...]:
    """Changes with the papers that are known, and with pages that are opened, or opened again."""
    return tuple(papers()), tuple((path, stamp) for path, (stamp, _) in opened_pages.items())


@lru_cache(maxsize=4)
def _graphs(_as_read: tuple[object, ...]) -> tuple[Graph, Graph]:
    statements = [statement for paper in papers().values() for statement in paper.statements]
    named: dict[str, tuple[str, ...]] = {}
    for statement in statements:
        for id_ in statement.pairs:
            named[id_] = (*named.get(id_, ()), statement.id)
    return {s.id: tuple(dict.fromkeys(map(bare, s.rests_on))) for s in statements}, named


def used_by(id_: str) -> tuple[str, ...]:
    """The encoded statements that rest on a statement or a named result."""
    return tuple(name for name, uses in uses_graph().items() if id_ in uses)


def catalog_entries(
    records: list[ProofRecord],
    keys_or_ids: tuple[str, ...] = (),
    *,
    docstrings: bool = True,
    judged: Judged = instance_entries,
) -> tuple[StatementEntry, ...]:
    """Every catalog row of the given papers or ids with the verdicts that the records give.

    What is false as printed among the records' statements is carried to all that rests on it. Without `docstrings`,
    those of algorithms stay empty, and no algorithm is loaded.
    """
    proofs = grouped((record.evidence.statement, record.evidence) for record in records)
    shown = shown_of((record.evidence for record in records), judged)
    return tuple(_entry(paper, row, proofs, shown, docstrings, judged) for paper, row in select(keys_or_ids))


def entries_of_run(records: list[ProofRecord], named: tuple[str, ...]) -> tuple[StatementEntry, ...]:
    """The catalog rows of a run: of someone's own pages where only such are named, else of every paper."""
    pages = [name.partition("#")[0] for name in named]
    own = tuple(page for page in pages if isinstance(opened(page), OwnPaper))
    of_papers = () if own and len(own) == len(pages) else tuple(registered())
    return catalog_entries(records, (*of_papers, *own))


def results_of(
    statements: Iterable[StatementEntry], proofs: Iterable[ProofEvidence]
) -> tuple[NamedResult, ...]:
    """The named results that statements or rows of a ledger rest on, in the order of their ids."""
    used = {bare(name) for statement in statements for name in statement.uses}
    used |= {bare(name) for proof in proofs for name in proof.uses}
    return tuple(found for name, found in sorted(named_results().items()) if name in used)
