"""Each entry of a run as a result: what fails, by which rule, with what is said of it.

A refuted formula of a paper is a finding about the paper; on a page of one's own it is a fault of that page. So it is
said whether findings fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dpverify.ledger.audits import AuditEvidence, SampledEvidence
from dpverify.ledger.evidence import BatchesEvidence, PrivacyEvidence
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.theorems import TheoremEvidence
from dpverify.ledger.verdicts import BROKEN, Coverage, Variant, Verdict
from dpverify.ledger.written_numbers import at_least
from dpverify.views.formula import BrokenFormula, finding_text, name_of, reason_of
from dpverify.views.run import is_measurement
from dpverify.views.shown_outputs import counts_text, histogram_lines, output_rows
from dpverify.views.theorems import introduced, why

Entry = ProofEvidence | AuditEvidence
Outcome = Literal["", "failure", "error", "skipped"]
Level = Literal["", "error", "warning", "note", "none"]

RULES = {
    "formula-does-not-follow": "A formula does not follow from what is declared: letters that stand for expectations "
    "and the like have values that break it, which nothing may attain.",
    "formula-refuted": "A formula is false, by a counterexample in exact or rigorous arithmetic.",
    "correction-refuted": "The correction of a formula is false or does not follow, by a counterexample in exact or "
    "rigorous arithmetic.",
    "formula-undecided": "A formula is neither proved nor refuted.",
    "theorem-refuted": "A theorem is false, by a finite model that the checker confirms.",
    "theorem-undecided": "A theorem does not follow from the steps of its page, and no model refutes it.",
    "mechanism-refuted": "A mechanism's claim is false, by two data sets of which the checker confirms it.",
    "mechanism-undecided": "A mechanism's claim is neither derived, nor broken by two data sets.",
    "constant-refuted": "A printed constant is too small.",
    "fault": "A fault in dpverify, and no verdict.",
    "privacy-claim-violated": "A privacy claim is violated, except with the stated probability.",
    "batches-not-as-stated": "Recorded batches were not drawn as is accounted for, except with the stated probability.",
    "privacy-claim-undecided": "An audit of a privacy claim decided nothing.",
    "privacy-claim-not-audited": "An audit of a privacy claim ended in an error.",
}
"""What each rule says, by its id."""


@dataclass(frozen=True)
class SourcePlace:
    """A line, from 1, that a report points to; files below the folder in which the program runs are named from it."""

    file: str
    line: int

    @classmethod
    def of(cls, file: Path, line: int, folder: Path | None = None) -> SourcePlace:
        """A line of a file; `folder` is that in which the program runs, if it is not the current one."""
        file, here = file.absolute(), (folder or Path.cwd()).absolute()
        return cls((file.relative_to(here) if file.is_relative_to(here) else file).as_posix(), line)


@dataclass(frozen=True)
class AuditedClaim:
    """What became of one claim of a project: what an audit found, or the error in which it ended."""

    name: str
    claim: str
    found: PrivacyEvidence | BatchesEvidence | None
    error: str = ""
    place: SourcePlace | None = None

    @property
    def outcome(self) -> str:
        """A verdict, or `not audited`."""
        return str(self.found.verdict) if self.found is not None else "not audited"

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Its name, the claim, the bound on epsilon if there is one, and why it has this outcome."""
        found = self.found
        bound = ""
        if isinstance(found, PrivacyEvidence):
            bound = f"{at_least(found.epsilon_lower)} at delta {found.delta:g}"
        return self.name, self.claim, bound, self.error if found is None else found.reason


@dataclass(frozen=True)
class Result:
    """An entry of a run, as programs read it."""

    group: str
    name: str
    """Of the entry in its group."""
    verdict: str
    outcome: Outcome
    """Of a test case; empty if it passes."""
    rule: str
    """One of `RULES`; empty if there is nothing to look at."""
    level: Level
    """How grave it is by its rule; `none` for an open question, empty without a rule."""
    message: str
    """One line."""
    text: str
    """Everything that is said of it."""
    mark: tuple[str, str]
    """What tells it from other results of any run."""
    properties: Mapping[str, Any]
    """What readers sort and filter by."""
    seconds: float
    place: SourcePlace | None


def result_of(
    entry: Entry,
    place: SourcePlace | None = None,
    *,
    findings_fail: bool = False,
    undecided: Literal["error", "skipped"] = "error",
) -> Result:
    """An entry of a ledger as a result.

    `findings_fail` says whether a printed formula or constant that is refuted, or does not follow, is a failure;
    `undecided`, what no answer is. A measurement has nothing to answer, and passes.
    """
    outcome = _outcome(entry, findings_fail, undecided)
    if isinstance(entry, ProofEvidence):
        rule, level = _rule_of_proof(entry, findings_fail)
        message = _message(entry)
        return Result(
            entry.statement, f"{entry.obligation} ({entry.variant})", str(entry.verdict), outcome, rule, level,
            message, entry.fault or message, ("formula", f"{entry.statement}/{entry.obligation}/{entry.variant}"),
            _of_proof(entry), entry.seconds, place,
        )  # fmt: skip
    rule, level = _rule_of_audit(entry, findings_fail)
    return Result(
        entry.subject, entry.title or entry.subject, str(entry.verdict), outcome, rule, level,
        entry.reason, "\n".join([*entry.lines(), *_pictured(entry)]), ("claim", f"{entry.subject}: {entry.title}"),
        of_audit(entry), float(getattr(entry, "seconds", 0.0)), place,
    )  # fmt: skip


def result_of_theorem(
    row: TheoremEvidence, place: SourcePlace | None, *, findings_fail: bool, undecided: Outcome = "error"
) -> Result:
    """A theorem of a ledger as a result; arguments as for `result_of`."""
    outcome, rule, level = _OF_THEOREMS.get(row.verdict, ("", "", ""))
    if row.verdict is Verdict.UNDECIDED:
        outcome = undecided
    elif findings_fail and rule:
        outcome, level = "failure", "error"
    steps = [
        f"{introduced(each)}: {each.latex}{each.reason and f' ({each.reason})'}" for each in row.displays
    ]
    properties = {
        "verdict": str(row.verdict), "claim": row.claim, "confirmed_by_checker": row.confirmed_by_checker,
        "rests_on": ", ".join(row.rests_on),
    }  # fmt: skip
    return Result(
        f"{row.kind}s", row.id, str(row.verdict), outcome, rule and f"{row.kind}-{rule}", level,
        f"{row.id}: {why(row)}", "\n".join([row.title, *steps]), (row.kind, row.id), properties,
        row.seconds, place,
    )  # fmt: skip


_OF_THEOREMS: Mapping[Verdict, tuple[Outcome, str, Level]] = {
    Verdict.REFUTED: ("", "refuted", "note"), Verdict.UNDECIDED: ("error", "undecided", "none"),
}  # fmt: skip


def _pictured(entry: AuditEvidence) -> list[str]:
    """What outputs that show a violation look like, a line each."""
    shown = entry.shown if isinstance(entry, PrivacyEvidence) else None
    if shown is None:
        return []
    return [*(f"{name}: {text}" for name, text in output_rows(shown)), *histogram_lines(shown)]


def result_of_claim(one: AuditedClaim) -> Result:
    """A claim of a project as a result, also where its audit ended in an error."""
    if one.found is not None:
        return result_of(one.found, one.place)
    return Result(
        one.name, one.claim, one.outcome, "error", "privacy-claim-not-audited", "error",
        one.error, f"{one.name}, claim {one.claim}: {one.error}", ("claim", f"{one.name}: {one.claim}"),
        {"verdict": one.outcome, "claim": one.claim}, 0.0, one.place,
    )  # fmt: skip


def _outcome(entry: Entry, findings_fail: bool, undecided: Literal["error", "skipped"]) -> Outcome:
    if isinstance(entry, ProofEvidence) and entry.fault:
        return "error"
    if entry.verdict is Verdict.UNDECIDED:
        return "" if isinstance(entry, AuditEvidence) and is_measurement(entry) else undecided
    corrected = isinstance(entry, ProofEvidence) and entry.variant is Variant.CORRECTED
    fails = findings_fail or corrected
    return "failure" if entry.verdict is Verdict.VIOLATED or (entry.verdict in BROKEN and fails) else ""


def _rule_of_proof(proof: ProofEvidence, findings_fail: bool) -> tuple[str, Level]:
    if proof.fault:
        return "fault", "error"
    if proof.verdict is Verdict.UNDECIDED:
        return "formula-undecided", "none"
    if proof.verdict not in BROKEN:
        return "", ""
    if proof.variant is Variant.CORRECTED:
        return "correction-refuted", "error"
    rule = "formula-refuted" if proof.verdict is Verdict.REFUTED else "formula-does-not-follow"
    if not findings_fail:
        return rule, "note"
    return rule, "warning" if proof.coverage in (Coverage.STEP, Coverage.REFERENCE) else "error"


def _rule_of_audit(audit: AuditEvidence, findings_fail: bool) -> tuple[str, Level]:
    if audit.verdict is Verdict.REFUTED:
        return "constant-refuted", "error" if findings_fail else "note"
    if audit.verdict is Verdict.VIOLATED:
        batches = isinstance(audit, BatchesEvidence)
        return "batches-not-as-stated" if batches else "privacy-claim-violated", "error"
    if audit.verdict is Verdict.UNDECIDED and not is_measurement(audit):
        return "privacy-claim-undecided", "none"
    return "", ""


def _message(proof: ProofEvidence) -> str:
    """What is to be said of a formula, in one line."""
    if proof.verdict in BROKEN:
        return finding_text(BrokenFormula(proof))
    why = reason_of(proof) if proof.verdict is Verdict.UNDECIDED else proof.verdict
    return f"{name_of(proof)}: {why}"


def _of_proof(proof: ProofEvidence) -> dict[str, Any]:
    found: dict[str, Any] = {
        "verdict": str(proof.verdict),
        "coverage": str(proof.coverage),
        "prover": proof.prover,
        "confirmed_by_checker": proof.confirmed_by_checker,
        "formula": proof.expression,
        "read": proof.read,
    }
    for name in ("consequence", "mistake", "provenance"):
        if (value := getattr(proof, name)) is not None:
            found[name] = str(value)
    if proof.counterexample:
        found["counterexample"] = ", ".join(f"{k}={v}" for k, v in proof.counterexample.items())
    return found


def of_audit(audit: AuditEvidence) -> dict[str, Any]:
    """What a reader of results sorts and filters audits by."""
    found: dict[str, Any] = {"verdict": str(audit.verdict)}
    for name in ("claim", "epsilon_lower", "epsilon_claimed", "delta", "adjacency", "runs"):
        value = getattr(audit, name, None)
        if value is not None:
            found[name] = value
    if isinstance(audit, SampledEvidence):
        found |= {"failure_probability": audit.failure_probability, "seed": audit.seed}
    if isinstance(audit, PrivacyEvidence) and audit.shown is not None:
        found |= {"event": audit.shown.event, "event_counts": counts_text(audit.shown)}
    if conditions := getattr(audit, "conditions", ()):
        found["conditions"] = "; ".join(conditions)
    return found | ({"reproduce": audit.reproduce} if audit.reproduce else {})
