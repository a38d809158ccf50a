"""What is wrong in print: every refuted formula with what it means for whoever implements the paper."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import ErratumEntry, StatementEntry
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Consequence, Coverage, Verdict
from dpverify.reports.formats.markdown_text import code, escaped
from dpverify.reports.sections import signs
from dpverify.reports.summary import Correction, Finding, corrections, false_words

_MEANS = {
    Consequence.CLAIM: (
        "The claim fails",
        "An implementation that follows the paper as printed does not have the promised property.",
    ),
    Consequence.CONSTANT: (
        "A constant changes",
        "A printed constant is not enough; an implementation that uses it needs the corrected one.",
    ),
    Consequence.CONDITION: (
        "A condition is missing",
        "With a further condition, noted below, the claim is true; an implementation that is used outside of it does "
        "not have the promised property.",
    ),
    Consequence.STEP: (
        "Only a step of a proof is false",
        "The statement itself was not refuted; its proof needs the correction. Implementations need no change.",
    ),
    Consequence.NOTATION: (
        "Notation",
        "The printed formula is false as it is written; it is clear what is meant, and that is true.",
    ),
    Consequence.EDGE: (
        "Edge cases that no reader means",
        "The printed formula fails only where a condition is missing that goes without saying, and at no size that is "
        "met in practice; with the condition noted below, it is true.",
    ),
}

_UNFOLLOWED = (
    "Does not follow from what is declared",
    "Letters that stand for expectations, divergences and the like have values that break the printed formula, and "
    "nothing may attain these: so it is not shown to be false, but it does not follow from what the text says.",
)
_UNSORTED = ("Not sorted by consequence", "What follows from these is not known.")

_INTRODUCTION = (
    "Errata in the papers, found by computation: each formula below is broken by values in exact or rigorous "
    "arithmetic. Where it is not printed as it stands, the paper's own line comes first, and the formula is what "
    "follows from it. The gravest come first. Where some reading makes the "
    "printed formula true, that reading is given. The command under each finding computes it again. "
    "A counterexample is chosen to be simple; where letters have sizes in practice, a second one follows at a "
    "realistic size, chosen to be easy to read and to fail by much (docs/concepts/realistic-sizes.md says how). "
    "Neither is a typical case."
)


@dataclass(frozen=True)
class FindingGroup:
    """The findings with the same consequence."""

    anchor: str
    heading: str
    meaning: str
    """What they mean for whoever implements the paper."""
    statements: tuple[Correction, ...]
    errata: tuple[tuple[StatementEntry, ErratumEntry], ...]
    """Errata that a test or an audit computes."""


def finding_groups(ledger: Ledger) -> tuple[FindingGroup, ...]:
    """All that is false in print, gravest first; groups without a finding are left out."""
    found = corrections(ledger).values()
    errata = [(row, erratum) for row in ledger.statements for erratum in row.errata]
    groups = [
        FindingGroup(
            f"findings-{consequence.name.lower()}",
            *_MEANS[consequence],
            tuple(each for each in found if each.consequence is consequence),
            tuple((row, erratum) for row, erratum in errata if erratum.consequence is consequence),
        )
        for consequence in Consequence
    ]
    others = [each for each in found if each.consequence is None]
    for name, text, unfollowed in (("unfollowed", _UNFOLLOWED, True), ("unsorted", _UNSORTED, False)):
        some = tuple(each for each in others if each.unfollowed is unfollowed)
        groups.append(FindingGroup(f"findings-{name}", *text, some, ()))
    return tuple(group for group in groups if group.statements or group.errata)


def what_is_false(found: Correction) -> str:
    """The statement itself, or what belongs to it."""
    claims = (Coverage.WHOLE, Coverage.INSTANCE)
    itself = [f.formula.verdict for f in found.findings if f.formula.coverage in claims]
    said = ["the statement"] if Verdict.REFUTED in itself else []
    if not said and Verdict.DOES_NOT_FOLLOW in itself:
        said = ["the statement does not follow"]
    return "; ".join([*said, *map(str, found.marks)])


def prove_command(statement: str) -> str:
    """The line that shows a finding again."""
    return shlex.join(["dpverify", "prove", statement])


def findings_markdown(ledger: Ledger) -> str:
    """The findings as a page in GitHub's Markdown, with formulas between dollar signs; text is escaped.

    Examples:
        >>> from dpverify.auditing import ErrorShare
        >>> from dpverify.ledger import Ledger
        >>> from dpverify.reports import findings_markdown
        >>> ledger = Ledger(
        ...     program_version="0.1.0", created="2026-01-31T12:00:00Z", command="make audit", seed=7, profile="fast",
        ...     versions={}, statements=(), entries=(), budget=ErrorShare(1e-6).record(), seconds=1.0,
        ... )
        >>> page = findings_markdown(ledger).splitlines()
        >>> page[0], page[-1]
        ('# Findings', 'No printed formula was refuted.')
    """
    lines = ["# Findings", "", _INTRODUCTION, ""]
    groups = finding_groups(ledger)
    if not groups:
        lines += ["No printed formula was refuted.", ""]
    for group in groups:
        lines += [f"## {group.heading}", "", group.meaning, ""]
        for found in group.statements:
            lines += _statement(found)
        lines += [_erratum(row, erratum) for row, erratum in group.errata]
        lines += [""] if group.errata else []
    return "\n".join(lines)


def _statement(found: Correction) -> Iterator[str]:
    title = f": {escaped(found.title)}" if found.title else ""
    yield from (f"### {escaped(found.statement)}, {escaped(found.where)}{title}", "")
    for finding in found.findings:
        yield from _as_printed(finding, found.where)
    for reason in found.reasons:
        yield from (f"Why: {escaped(reason)}.", "")
    yield from _corrected(found)
    yield from (f"Computed by {code(prove_command(found.statement))}.", "")


def _as_printed(finding: Finding, where: str) -> Iterator[str]:
    proof = finding.formula
    if proof.coverage is Coverage.UNIT:
        name = code(proof.units_of or proof.obligation)
        yield from (f"The units of {name} differ: {_sides(proof, 'left {}, right {}')}.", "")
        return
    place = f" ({_with_formulas(proof.where)})" if proof.where and proof.where != where else ""
    yield from (f"As printed{place}, the {proof.coverage} {code(proof.obligation)} {false_words(proof)}:", "")
    yield from _printed_first(proof)
    yield from _formula(proof)
    if proof.scope:
        yield from (f"The case: {escaped(proof.scope)}.", "")
    point = f"at {_point(proof.counterexample)}" if proof.counterexample else escaped(proof.reason)
    said = [text for text in (point, _sides(proof, "the sides are {} and {}")) if text]
    sentences = [", ".join(said)] if said else []
    sentences += [f"what kind of mistake: {proof.mistake}"] if proof.mistake else []
    sentences += [f"by how much: {escaped(proof.excess.text())}"] if proof.excess else []
    sentences += [f"at a realistic size: {escaped(proof.realistic.says())}"] if proof.realistic else []
    sentences += [f"would be true {escaped(proof.reading)}"] if proof.reading else []
    if sentences:
        yield from (" ".join(f"{text[0].upper()}{text[1:]}." for text in sentences), "")


_FROM_IT = {
    Provenance.OURS: "what follows from it, in letters of ours:",
    Provenance.SPECIAL: "a special case of it:",
    Provenance.PIECED: "pieced together from it and the text:",
    Provenance.TORN: "as it was read, since the text lost a sign:",
}


def _printed_first(proof: ProofEvidence) -> Iterator[str]:
    """The paper's own lines, and what the formula below them is."""
    if proof.provenance is None or proof.provenance is Provenance.VERBATIM:
        return
    lines = [line for line in proof.prints if _is_math(line)]
    if not lines:
        yield from (f"({escaped(proof.provenance.says)})", "")
        return
    yield from ("The paper prints", "")
    for line in lines:
        yield from ("$$", line, "$$", "")
    yield from (_FROM_IT[proof.provenance], "")


def _sides(proof: ProofEvidence, form: str) -> str:
    if proof.left is None or proof.right is None:
        return ""
    return form.format(escaped(proof.left), escaped(proof.right))


def _corrected(found: Correction) -> Iterator[str]:
    shown = {finding.formula.latex for finding in found.findings}
    for repair, narrowed in found.repairs:
        if repair.coverage is Coverage.UNIT:
            continue
        domain = f" for {escaped(signs(narrowed))}" if narrowed else ""
        if repair.latex and repair.latex in shown:
            yield from (
                f"Corrected, {code(repair.obligation)}: the same formula{domain} ({repair.verdict}).",
                "",
            )
            if not domain:
                yield from _meant(repair)
        else:
            yield from (f"Corrected, {code(repair.obligation)}{domain} ({repair.verdict}):", "")
            yield from _formula(repair)
            shown.add(repair.latex)


def _formula(proof: ProofEvidence) -> Iterator[str]:
    if _is_math(proof.latex):
        yield from ("$$", proof.latex, "$$", "")
    else:
        yield from (code(proof.expression), "")
    if proof.written_in_full:
        yield from _meant(proof)
    if proof.assuming:
        yield from (f"given {', '.join(code(signs(text)) for text in proof.assuming)}", "")
    if said := [f"${text}$" for text in proof.notation if _is_math(text)]:
        yield from (f"where {', '.join(said)}", "")


def _meant(proof: ProofEvidence) -> Iterator[str]:
    yield from (f"that is, {code(signs(proof.expression))}", "")


def _with_formulas(text: str) -> str:
    """Text in which formulas may stand between dollar signs."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        return escaped(text)
    return "".join(
        f"${part}$" if odd % 2 else f"{' ' * part.startswith(' ')}{escaped(part)}{' ' * part.endswith(' ')}"
        for odd, part in enumerate(parts)
    )


def _is_math(text: str) -> bool:
    """Whether it stays between dollar signs, as what this program writes does."""
    return bool(text) and "$" not in text and "\n" not in text


def _erratum(row: StatementEntry, erratum: ErratumEntry) -> str:
    evidence = ", ".join(code(text) for text in erratum.evidence)
    return (
        f"- **{escaped(row.id)}**, {escaped(erratum.where)}: {escaped(erratum.printed)}. "
        f"Corrected: {escaped(erratum.corrected)}. Computed in {evidence}."
    )


def _point(values: dict[str, str]) -> str:
    return ", ".join(f"{escaped(name)} = {escaped(value)}" for name, value in values.items())
