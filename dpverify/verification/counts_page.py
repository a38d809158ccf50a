"""Writes what a ledger counts into a page: `python -m dpverify.verification.counts_page README.md LEDGER`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from dpverify.errors import DpverifyError, InvalidDataError
from dpverify.files import write_table
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.headlines.words import counts
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Coverage, Variant
from dpverify.reports import load_ledger
from dpverify.views.run import roots_text

_OF_LINES = {
    Provenance.VERBATIM: "stand in a paper as they are",
    Provenance.PIECED: "are pieced together from what is printed",
    Provenance.OURS: "follow from it, in letters of ours",
    Provenance.SPECIAL: "are special cases",
    Provenance.TORN: "are readings of a line whose text lost a sign, and are never refuted",
}


def counted(entries: Sequence[StatementEntry], proofs: Iterable[ProofEvidence]) -> tuple[str, ...]:
    """What is counted of algorithms and statements: how these stand, on what, and where their formulas come from."""
    statements = [entry for entry in entries if entry.kind != "algorithm"]
    algorithms = [entry.algorithm for entry in entries if entry.kind == "algorithm"]
    run = sum(algorithm is not None for algorithm in algorithms)
    rows = [proof for proof in proofs if proof.coverage is not Coverage.UNIT and not proof.says_nothing]
    printed = [row for row in rows if row.variant is Variant.PRINTED]
    lines = Counter(row.provenance for row in printed)
    of = ", ".join(f"{lines[each]:,} {says}" for each, says in _OF_LINES.items() if lines[each])
    standing = counts(entry.printed.standing for entry in statements)
    return (
        f"- {len(algorithms)} algorithms, {'all' if run == len(algorithms) else run} of them implemented.",
        f"- {len(statements)} statements, encoded in {len(rows):,} formulas: {len(rows) - len(printed):,} are "
        f"corrections; of the {len(printed):,} others, {of}.",
        f"- As printed, {', '.join(each.of(number) for each, number in standing.items())}.",
        *(f"- {line}" for line in roots_text(statements)),
    )


def main(arguments: list[str]) -> int:
    """Write the named page with what a ledger says; 2 for bad input."""
    try:
        if len(arguments) != 2:
            raise InvalidDataError(
                "A page and a ledger are needed, such as README.md build/verify/ledger.json."
            )
        ledger = load_ledger(Path(arguments[1]))
        proofs = [entry for entry in ledger.entries if isinstance(entry, ProofEvidence)]
        write_table(Path(arguments[0]), counted(ledger.statements, proofs))
    except DpverifyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
