"""Theorems and mechanisms of a run: counts, and what is said of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dpverify.ledger.theorems import QueryChange, TheoremEvidence, TheoremLine
from dpverify.views.number_text import plural

ROLES = {"definition": "Define", "assumption": "Assume", "step": "Step", "claim": "Then"}
"""With which word a display is introduced."""


def theorems_text(found: Sequence[TheoremEvidence]) -> str:
    """How many theorems and mechanisms there are, of each verdict, from how much; what two readers read."""
    counts = Counter(str(row.verdict) for row in found)
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    rules = {id_ for row in found for id_ in row.rules}
    results = {id_ for row in found for id_ in row.results}
    twice, displays = sum(row.read_twice for row in found), sum(len(row.displays) for row in found)
    kinds = Counter(row.kind for row in found)
    what = " and ".join(plural(number, kind) for kind, number in kinds.items())
    return (
        f"{what}: {said}; from {plural(len(rules), 'rule')} and {plural(len(results), 'result')} of the literature. "
        f"Two readers read {twice} of {displays} displays in the same way."
    )


def why(row: TheoremEvidence) -> str:
    """A theorem's verdict in a line."""
    return f"{row.verdict}{row.reason and f', line {row.line}: {row.reason}'}"


def facts_of_theorem(row: TheoremEvidence) -> Iterator[tuple[str, str]]:
    """What is said of a theorem beside its displays, with headings."""
    if row.rules:
        yield "Rules", ", ".join(row.rules)
    if row.results:
        yield "Rests on the literature, or on rules of one's own", ", ".join(row.results)
    if row.underived:
        yield "Rests on what is not derived", ", ".join(row.underived)
    for one in row.changes:
        letters = ", ".join(f"{latex} = {value}" for latex, value in one.letters)
        pair = ", ".join(
            f"{name} {'; '.join(map(', '.join, rows)) or 'without records'}"
            for name, rows in (("data", one.left), ("neighbor", one.right))
        )
        yield (
            f"What line {one.line} asks for",
            f"{change_in_words(one)}: {pair}" + f", {letters}" * bool(letters),
        )
    if row.model_in_words:
        refutes = (
            "What is assumed is true, and the claim is not, in a finite model"
            if row.verdict == "refuted"
            else ("What is assumed is true in a finite model")
        )
        yield refutes, "; ".join(row.model_in_words)
    yield "Read by two readers in the same way", f"{row.read_twice} of {len(row.displays)} displays"
    if row.confirmed_by_checker:
        yield "Checker", "confirmed"


def change_in_words(change: QueryChange) -> str:
    """By how much a query changes between neighbors."""
    most = f"{change.most:.6g}"
    bound = f"{change.bound} = {most}" if change.bound not in ("", most) else most
    much = "as much" if change.attained else f"{change.found:.6g}, the largest change that was found"
    return f"changes by at most {bound} between neighbors; on this pair by {much}"


def introduced(line: TheoremLine) -> str:
    """What stands before a display: `Step, by rule.markov with $a=2$`."""
    by = f", by {', '.join(line.by)}" if line.by else ""
    given = f" with {', '.join(f'${latex}$' for latex in line.given)}" if line.given else ""
    return f"{ROLES.get(line.role, line.role.title())}{by}{given}"
