"""What is said of a formula and its verdict: each fact once, for whoever lays them out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, Coverage, Gap, Verdict
from dpverify.ledger.written_numbers import short_sides
from dpverify.views import number_text

MEANING = {
    Verdict.PROVED: "exactly, on the whole domain",
    Verdict.CERTIFIED: "by rigorous intervals, on the box shown",
    Verdict.REFUTED: "by a counterexample in exact or rigorous arithmetic",
    Verdict.DOES_NOT_FOLLOW: "letters that stand for expectations and the like have values that break it, which "
    "nothing may attain",
    Verdict.SUPPORTED: "a statistical test found no violation",
    Verdict.VIOLATED: "a statistical test rejects the claim, with the failure probability shown",
    Verdict.UNDECIDED: "no answer, with the reason",
}

"""What each verdict means."""


@dataclass(frozen=True)
class BrokenFormula:
    """One formula that is false or does not follow, and its corrections."""

    formula: ProofEvidence
    repairs: tuple[ProofEvidence, ...] = ()


class Say(StrEnum):
    """What a fact of an outcome is; the value stands before it."""

    POINT = "counterexample"
    SIDES = "the two sides"
    EXCESS = "by how much"
    REALISTIC = "at a realistic size"
    SIZES = "sizes in practice"
    CONSEQUENCE = "consequence"
    MISTAKE = "mistake"
    ADDED = "beside what is printed, assuming"
    READING = "would be true"
    WITNESS = "its conditions hold together at"
    CAUGHT = "would have caught"
    MISSED = "is there to catch, and does not"
    FAR = "how far it holds"
    GAP = "undecided because of"
    BOX = "on the box"
    NOTE = "note"

    def before(self, text: str) -> str:
        """A fact in words: some go on where what they are ends."""
        goes_on = self in (Say.ADDED, Say.READING, Say.WITNESS, Say.BOX)
        return f"{self}{' ' if goes_on else ': '}{text}"


def facts(proof: ProofEvidence) -> dict[Say, str]:
    """All that came of a formula beside its verdict, in the order in which it is told."""
    realistic = proof.realistic
    sizes = realistic.sizes.items() if realistic is not None else ()
    holds = proof.witness if proof.assuming and not proof.counterexample else None
    missed = proof.with_fault is not None and proof.with_fault not in BROKEN
    box = proof.box if proof.verdict is Verdict.CERTIFIED else None
    found = {
        Say.POINT: point_text(proof.counterexample),
        Say.SIDES: sides_text(proof),
        Say.EXCESS: proof.excess.text() if proof.excess is not None else "",
        Say.REALISTIC: realistic.summary() if realistic is not None else "",
        Say.SIZES: "; ".join(f"{name}: {size.text()}" for name, size in sizes),
        Say.CONSEQUENCE: str(proof.consequence or ""),
        Say.MISTAKE: str(proof.mistake or ""),
        Say.ADDED: "; ".join(proof.added),
        Say.READING: proof.reading,
        Say.WITNESS: point_text(holds),
        Say.CAUGHT: proof.catches if proof.with_fault in BROKEN else "",
        Say.MISSED: f"{proof.catches} ({proof.with_fault})" if missed else "",
        Say.FAR: "; ".join(threshold.text() for threshold in proof.thresholds),
        Say.GAP: str(proof.gap or ""),
        Say.BOX: ", ".join(f"{name} in [{low}, {high}]" for name, (low, high) in (box or {}).items()),
        Say.NOTE: proof.reason,
    }
    return {say: text for say, text in found.items() if text}


def point_text(values: Mapping[str, str] | None) -> str:
    """`n = 2, t = 1`; nothing without a point."""
    return ", ".join(f"{name} = {value}" for name, value in (values or {}).items())


def sides_text(proof: ProofEvidence) -> str:
    """The two sides where they are known; nothing where neither is."""
    if proof.left is None and proof.right is None:
        return ""
    left, right = short_sides(proof.left, proof.right)
    return f"left side {left or 'not known'}, right side {right or 'not known'}"


def confirmed_by(proofs: Sequence[ProofEvidence]) -> str:
    """What confirmed a formula, or how many of several, as their rows say: `checker, Rocq 8.16.1 (3 of 5)`."""
    decided = [proof for proof in proofs if proof.verdict is not Verdict.UNDECIDED]
    counts = Counter("checker" for proof in decided if proof.confirmed_by_checker)
    accepted = (p.kernel.kernel for p in decided if p.kernel is not None and p.kernel.said == "accepted")
    counts.update(sorted(accepted))
    said = (f"{by} ({n} of {len(decided)})" if n < len(decided) else by for by, n in counts.items())
    return ", ".join(said) or ("not confirmed" if proofs else "")


def finding_text(finding: BrokenFormula) -> str:
    """A formula that is false or does not follow, its counterexample, what that means and its correction."""
    proof = finding.formula
    text = f"{proof.statement} ({proof.where}), {proof.obligation}: {shortened(proof.expression)} "
    text += "compares different units" if proof.coverage is Coverage.UNIT else false_words(proof)
    if proof.counterexample:
        text += f" at {point_text(proof.counterexample)}"
    elif proof.reason and proof.coverage is not Coverage.UNIT:
        text += f" ({proof.reason})"
    if proof.left is not None and proof.right is not None:
        text += ", where the sides are {} and {}".format(*short_sides(proof.left, proof.right))
    said = consequence_text(proof)
    text += f"; {said}" if said else ""
    return "; corrected: ".join([text, *(repair_text(finding, repair) for repair in finding.repairs)])


def consequence_text(proof: ProofEvidence) -> str:
    """What follows from a false formula, what is wrong with it, by how much it fails, a reading that makes it true."""
    found = facts(proof)
    parts = [found[Say.CONSEQUENCE]] if Say.CONSEQUENCE in found else []
    parts += [say.before(found[say]) for say in (Say.MISTAKE, Say.EXCESS, Say.READING) if say in found]
    return "; ".join(parts)


def repair_text(finding: BrokenFormula, repair: ProofEvidence) -> str:
    """A corrected formula, where it holds, and its verdict."""
    narrowed = where_it_holds(finding, repair)
    what = "the same" if narrowed and repair.expression == finding.formula.expression else repair.expression
    return f"{shortened(what)}{f' for {narrowed}' if narrowed else ''} ({repair.verdict})"


def false_words(proof: ProofEvidence) -> str:
    """What is said of a formula with a counterexample."""
    if proof.verdict is Verdict.DOES_NOT_FOLLOW:
        return "does not follow from what is declared"
    return "is false"


def where_it_holds(finding: BrokenFormula, repair: ProofEvidence) -> str:
    """The conditions and domains of a correction that the printed formula lacks; empty if there are none."""
    return " and ".join(repair.added) if finding.formula.obligation == repair.obligation else ""


def shortened(text: str, length: int = 160) -> str:
    """The text, cut at a space near `length` characters where it is longer."""
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    cut = text.rfind(" ", length // 2, length)
    return text[: cut if cut > 0 else length - 1] + " …"


def gaps_text(gaps: Iterable[tuple[Gap, int]]) -> str:
    """The reasons why things are undecided, with how often each was met."""
    return ", ".join(f"{gap} ({number_text.count(count)})" for gap, count in gaps)


def name_of(entry: ProofEvidence | AuditEvidence) -> str:
    """What an entry is about, for a list."""
    if isinstance(entry, ProofEvidence):
        return f"{entry.statement}, {entry.obligation} ({entry.variant})"
    return f"{entry.subject}, {entry.title}"


def reason_of(entry: ProofEvidence | AuditEvidence) -> str:
    """Why an entry is undecided."""
    return entry.reason or "no reason was recorded"
