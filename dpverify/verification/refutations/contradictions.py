"""One display, two verdicts: refused, whatever each of them rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dpverify.ledger.headlines.rows import HOLDS
from dpverify.ledger.names import paper_of
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Coverage, Variant, Verdict

Display = tuple[object, ...]


def contradictions(proofs: Iterable[ProofEvidence]) -> Iterator[tuple[ProofEvidence, str]]:
    """Each row whose display is proved elsewhere, with what is wrong with it.

    Two rows are about one display if they show the same LaTeX with the same definitions, and either are of one paper
    with the same letters and conditions, or are both printed in one statement and neither is a special case. Of the
    first kind, what is proved can neither be refuted nor not follow; of the second, which may stand under different
    conditions, it cannot be refuted. A proof on a box is none on the domain.
    """
    rows = [proof for proof in proofs if proof.coverage is not Coverage.UNIT]
    printed = [p for p in rows if p.variant is Variant.PRINTED and p.coverage is not Coverage.INSTANCE]
    seen: set[tuple[str, str, Variant]] = set()
    for some, display, broken in ((rows, _same_problem, BROKEN), (printed, _same_line, (Verdict.REFUTED,))):
        for row, why in _clashes(some, display, broken):
            key = (row.statement, row.obligation, row.variant)
            if key not in seen:
                seen.add(key)
                yield row, why


def _clashes(
    rows: Iterable[ProofEvidence], display: Callable[[ProofEvidence], Display], broken: tuple[Verdict, ...]
) -> Iterator[tuple[ProofEvidence, str]]:
    found: dict[Display, list[ProofEvidence]] = {}
    for row in rows:
        found.setdefault(display(row), []).append(row)
    for same in found.values():
        true = next((row for row in same if row.verdict in HOLDS and not row.box), None)
        for row in same:
            if true is not None and row.verdict in broken:
                other = f"{true.statement}/{true.obligation} ({true.variant})"
                yield row, f"it is {row.verdict}, and {other}, the same display, is {true.verdict}"


def _same_problem(row: ProofEvidence) -> Display:
    letters = tuple(sorted(row.domain.items()))
    paper = paper_of(row.statement)
    return paper, row.latex, row.expression, letters, frozenset(row.assuming), row.notation


def _same_line(row: ProofEvidence) -> Display:
    return row.statement, row.latex, row.expression, row.notation
