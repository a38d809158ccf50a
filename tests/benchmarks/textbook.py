"""What the provers find of the textbook's pages: counts, and the displays that stay undecided.

Run: make textbook (some 2 minutes on 2 cores; what was found before is shown). It takes part in no test.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, HOLDS, Variant, Verdict
from dpverify.statements.selection import select_statements
from dpverify.terminal import progress_bar
from dpverify.verification.remembering.remembered import recall_or_prove


def summary(found: Sequence[ProofEvidence]) -> Iterator[str]:
    """Counts of displays that are meant to be true, of those that have a correction, and of faults beside displays."""
    rows = [row for row in found if not row.units_of]
    mended = {(row.statement, row.obligation) for row in rows if row.variant is Variant.CORRECTED}
    false = [
        row for row in rows if row.variant is Variant.PRINTED and (row.statement, row.obligation) in mended
    ]
    true = [row for row in rows if row not in false]
    yield f"{len({row.statement for row in rows})} statements, {len(rows)} displays"
    verdicts = [row.verdict for row in true]
    yield f"meant to be true: {_counts(verdicts)}; {_share(verdicts, HOLDS)} hold"
    yield f"false, with a correction: {_counts(row.verdict for row in false)}"
    faults = [row.with_fault for row in rows if row.with_fault is not None]
    yield f"faults beside displays: {_counts(faults)}; {_share(faults, BROKEN)} do not hold"
    decided = [row for row in rows if row.verdict is not Verdict.UNDECIDED]
    confirmed = sum(row.confirmed_by_checker for row in decided)
    yield f"confirmed by the checker: {confirmed} of {len(decided)} that are decided"
    for row in true:
        if row.verdict not in HOLDS:
            yield f"{row.verdict}: {row.statement}/{row.obligation} ({row.variant}): {row.read}"
    for row in false:
        if row.verdict not in BROKEN:
            yield f"{row.verdict}, though it has a correction: {row.statement}/{row.obligation}: {row.read}"
    for row in rows:
        if row.with_fault not in (None, *BROKEN):
            yield f"fault {row.with_fault}: {row.statement}/{row.obligation} ({row.variant}): {row.catches}"
    for row in decided:
        if not row.confirmed_by_checker:
            yield f"{row.checker_says}: {row.statement}/{row.obligation} ({row.variant}, {row.prover})"


def _counts(verdicts: Iterable[Verdict]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in Counter(verdicts).most_common()) or "none"


def _share(of: Sequence[Verdict], verdicts: Iterable[Verdict]) -> str:
    return f"{sum(map(of.count, verdicts)) / max(1, len(of)):.1%}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", default=["textbook"], help="statements, or pages; default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    records = recall_or_prove(
        select_statements(tuple(chosen.ids)), workers=chosen.jobs, progress=progress_bar("proving")
    )
    print(*summary([record.evidence for record in records]), sep="\n")
