"""What the proofs have made of the displays that the papers print."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from dpverify.grouping import grouped
from dpverify.ledger.document import DisplayCount
from dpverify.ledger.proofs import ProofEvidence
from dpverify.statements.inventory import ListedDisplay, ListedSentence, count
from dpverify.statements.paper import papers
from dpverify.statements.selection import select


def displays_by_paper(
    proofs: Iterable[ProofEvidence], keys_or_ids: tuple[str, ...] = ()
) -> tuple[DisplayCount, ...]:
    """A count for each paper, of the displays of the given papers or ids."""
    found, chosen = tuple(proofs), _chosen(keys_or_ids)
    rows = [row for _, row in select(keys_or_ids) if row.kind != "algorithm" or chosen[row.id]]
    statements = grouped((row.paper, row.id) for row in rows)
    return tuple(
        count(paper, [display for id_ in ids for display in chosen[id_]], found, ids, _sentences(paper, ids))
        for paper, ids in statements.items()
        if papers()[paper].displays
    )


def displays_of_ledger(proofs: Iterable[ProofEvidence]) -> tuple[DisplayCount, ...]:
    """What a ledger with these proofs says: a count for each paper that they are about."""
    found = tuple(proofs)
    known = {row.id: row.paper for _, row in select()}
    keys = dict.fromkeys(known[proof.statement] for proof in found if proof.statement in known)
    return displays_by_paper(found, tuple(sorted(keys))) if keys else ()


def displays_by_statement(
    proofs: Iterable[ProofEvidence], keys_or_ids: tuple[str, ...] = ()
) -> dict[str, DisplayCount]:
    """The same for each statement or algorithm, also those without displays."""
    of, chosen = grouped((proof.statement, proof) for proof in proofs), _chosen(keys_or_ids)
    return {
        row.id: count(
            row.paper, chosen[row.id], of.get(row.id, ()), sentences=_sentences(row.paper, [row.id])
        )
        for _, row in select(keys_or_ids)
    }


def _sentences(paper: str, ids: Collection[str]) -> list[ListedSentence]:
    return [sentence for sentence in papers()[paper].sentences if sentence.statement in ids]


def _chosen(keys_or_ids: tuple[str, ...]) -> Mapping[str, list[ListedDisplay]]:
    chosen, rows = {}, dict[str, list[ListedDisplay]]()
    for paper, row in select(keys_or_ids):
        chosen[paper.key] = paper
        rows[row.id] = []
    for paper in chosen.values():
        for display in paper.displays:
            if display.statement in rows:
                rows[display.statement].append(display)
    return rows
