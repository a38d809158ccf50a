"""What a ledger comes to: counts, findings, and the lines that a terminal shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dpverify.evidence import (
    ComplexityEvidence,
    ConstantEvidence,
    Ledger,
    PrivacyEvidence,
    ProofEvidence,
    RateEvidence,
    RiskEvidence,
    Role,
    Variant,
    Verdict,
)
from dpverify.reports import number_text

AuditEvidence = PrivacyEvidence | RiskEvidence | RateEvidence | ComplexityEvidence | ConstantEvidence

MEANING = {
    Verdict.PROVED: "exactly, on the whole domain",
    Verdict.CERTIFIED: "by rigorous intervals, on the printed box",
    Verdict.REFUTED: "by a counterexample in exact or rigorous arithmetic",
    Verdict.SUPPORTED: "statistics found no violation",
    Verdict.VIOLATED: "statistics reject, with the printed error probability",
    Verdict.UNDECIDED: "no answer, with the reason",
}


@dataclass(frozen=True)
class VerdictCount:
    """How often one verdict was reached, by what it is about."""

    verdict: Verdict
    printed: int
    repaired: int
    audits: int


@dataclass(frozen=True)
class Finding:
    """One formula that is false, and what was put in its place."""

    refuted: ProofEvidence
    repairs: tuple[ProofEvidence, ...] = ()


@dataclass(frozen=True)
class Summary:
    """The outcome of a run, from its ledger alone."""

    statements: int
    """Statements in the catalog."""
    checked: int
    """Statements of which at least one formula or audit has an outcome."""
    papers: tuple[str, ...]
    proofs: tuple[ProofEvidence, ...]
    audits: tuple[AuditEvidence, ...]
    counts: tuple[VerdictCount, ...]
    refuted_statements: tuple[str, ...]
    """Ids of the statements with a refuted printed formula."""
    findings: tuple[Finding, ...]
    """Printed formulas that are false."""
    failed_repairs: tuple[Finding, ...]
    """Repaired formulas that are false too."""
    violated: tuple[AuditEvidence, ...]
    undecided: tuple[ProofEvidence | AuditEvidence, ...]
    certificates: int
    unconfirmed: tuple[ProofEvidence, ...]
    """Proofs with a verdict that the checker did not confirm."""
    headline: str


def summarize(ledger: Ledger) -> Summary:
    """Count and sort a ledger's entries."""
    proofs = tuple(entry for entry in ledger.entries if isinstance(entry, ProofEvidence))
    audits = tuple(entry for entry in ledger.entries if not isinstance(entry, ProofEvidence))
    refuted = [proof for proof in proofs if proof.verdict is Verdict.REFUTED]
    findings = tuple(
        Finding(proof, _repairs(proof, proofs)) for proof in refuted if proof.variant is Variant.PRINTED
    )
    names = {proof.statement for proof in proofs} | {audit.subject for audit in audits}
    names |= {
        row.id for row in ledger.statements if row.verdict_printed or row.verdict_repaired
    }  # a row may carry a verdict from an earlier run
    catalog = {row.id for row in ledger.statements}
    violated = tuple(audit for audit in audits if audit.verdict in (Verdict.VIOLATED, Verdict.REFUTED))
    refuted_statements = tuple(dict.fromkeys(finding.refuted.statement for finding in findings))
    checked = len(names & catalog) if catalog else len(names)
    decided = [proof for proof in proofs if proof.verdict is not Verdict.UNDECIDED]
    return Summary(
        statements=len(catalog),
        checked=checked,
        papers=tuple(dict.fromkeys(row.paper for row in ledger.statements)),
        proofs=proofs,
        audits=audits,
        counts=tuple(_count(verdict, proofs, audits) for verdict in Verdict),
        refuted_statements=refuted_statements,
        findings=findings,
        failed_repairs=tuple(Finding(proof) for proof in refuted if proof.variant is Variant.REPAIRED),
        violated=violated,
        undecided=tuple(entry for entry in ledger.entries if entry.verdict is Verdict.UNDECIDED),
        certificates=sum(proof.certificate is not None for proof in decided),
        unconfirmed=tuple(proof for proof in decided if not proof.confirmed_by_checker),
        headline=_headline(len(proofs), len(audits), checked, len(catalog), refuted_statements, violated),
    )


@dataclass(frozen=True)
class SummaryLine:
    """One line for a terminal, with the verdict that it is about, if any, so that it can be colored."""

    text: str
    verdict: Verdict | None = None


def summary_lines(ledger: Ledger) -> tuple[SummaryLine, ...]:
    """What a run found, as lines of plain text."""
    summary = summarize(ledger)
    lines = [SummaryLine(summary.headline)]
    for row in summary.counts:
        if row.printed or row.repaired or row.audits:
            lines.append(
                SummaryLine(
                    f"{row.verdict}: {row.printed} printed, {row.repaired} repaired, {row.audits} audits",
                    row.verdict,
                )
            )
    for finding in summary.findings:
        lines.append(SummaryLine(finding_text(finding), Verdict.REFUTED))
    for failed in summary.failed_repairs:
        lines.append(SummaryLine(f"repair does not hold: {finding_text(failed)}", Verdict.REFUTED))
    for audit in summary.violated:
        lines.append(SummaryLine(f"{audit.subject}: {audit_text(audit)}", Verdict.VIOLATED))
    for entry in summary.undecided:
        lines.append(SummaryLine(f"{name_of(entry)}: {reason_of(entry)}", Verdict.UNDECIDED))
    confirmed = sum(proof.confirmed_by_checker for proof in summary.proofs)
    lines.append(SummaryLine(f"the checker confirmed {confirmed} of {len(summary.proofs)} formulas"))
    spent = sum(ledger.budget.spent.values())
    lines.append(
        SummaryLine(
            f"error probability spent: {number_text.at_most(spent)} "
            f"of {number_text.nearest(ledger.budget.failure_probability)}"
        )
    )
    lines.append(SummaryLine(f"reproduce: {ledger.command} (seed {ledger.seed})"))
    return tuple(SummaryLine(" ".join(line.text.split()), line.verdict) for line in lines)


def finding_text(finding: Finding) -> str:
    """A refuted formula, its counterexample and its repair in one sentence."""
    proof = finding.refuted
    text = f"{proof.statement} ({proof.where}), {proof.obligation}: {proof.expression} is false"
    if proof.counterexample:
        text += " at " + ", ".join(f"{name} = {value}" for name, value in proof.counterexample.items())
    if proof.left is not None and proof.right is not None:
        text += f", where the sides are {proof.left} and {proof.right}"
    for repair in finding.repairs:
        text += f"; repaired: {repair.expression} ({repair.verdict})"
    return text


def audit_text(audit: AuditEvidence) -> str:
    """What an audit found, in one sentence."""
    match audit:
        case PrivacyEvidence():
            return (
                f"claimed {audit.claim}; at δ = {number_text.nearest(audit.delta)} "
                f"ε is at least {number_text.at_least(audit.epsilon_lower)} "
                f"(error probability {number_text.at_most(audit.failure_probability)}, {audit.data})"
            )
        case RiskEvidence():
            return (
                f"{audit.quantity} is {number_text.span(audit.measured.lower, audit.measured.upper)}, "
                f"the bound is {number_text.nearest(audit.bound)} ({audit.data})"
            )
        case RateEvidence():
            return (
                f"exponent in {audit.over} is "
                f"{number_text.span(audit.exponent.lower, audit.exponent.upper)}, "
                f"claimed {number_text.nearest(audit.exponent_claimed)}"
            )
        case ComplexityEvidence():
            return (
                f"{number_text.count(audit.counted)} {audit.oracle} queries, "
                f"claimed {number_text.count(audit.claimed)} ({audit.data})"
            )
        case ConstantEvidence():
            return f"smallest constant for {audit.formula} is {number_text.at_most(audit.smallest)}"


def name_of(entry: ProofEvidence | AuditEvidence) -> str:
    """What an entry is about, for a list."""
    if isinstance(entry, ProofEvidence):
        return f"{entry.statement}, {entry.obligation} ({entry.variant})"
    return f"{entry.subject}, {entry.title}"


def reason_of(entry: ProofEvidence | AuditEvidence) -> str:
    """Why an entry is undecided."""
    return entry.reason or "no reason was recorded"


def _repairs(refuted: ProofEvidence, proofs: Iterable[ProofEvidence]) -> tuple[ProofEvidence, ...]:
    """The repairs of a refuted formula: those of its name, else of the whole statement, else all."""
    repaired = [p for p in proofs if p.statement == refuted.statement and p.variant is Variant.REPAIRED]
    same_name = [proof for proof in repaired if proof.obligation == refuted.obligation]
    whole = [proof for proof in repaired if proof.role is Role.STATEMENT]
    return tuple(same_name or whole or repaired)


def _count(
    verdict: Verdict, proofs: Iterable[ProofEvidence], audits: Iterable[AuditEvidence]
) -> VerdictCount:
    variants = [proof.variant for proof in proofs if proof.verdict is verdict]
    return VerdictCount(
        verdict=verdict,
        printed=variants.count(Variant.PRINTED),
        repaired=variants.count(Variant.REPAIRED),
        audits=sum(audit.verdict is verdict for audit in audits),
    )


def _headline(
    proofs: int,
    audits: int,
    checked: int,
    total: int,
    refuted: tuple[str, ...],
    violated: tuple[AuditEvidence, ...],
) -> str:
    scope = f"{checked} of {total} statements" if total else _plural(checked, "statement")
    text = f"Checked {scope}: {_plural(proofs, 'formula')} and {_plural(audits, 'audit')}."
    if refuted:
        text += f" {_plural(len(refuted), 'printed statement')} {'is' if len(refuted) == 1 else 'are'} false."
    else:
        text += " No printed formula was refuted."
    if violated:
        subjects = len({audit.subject for audit in violated})
        text += (
            f" {_plural(subjects, 'implementation')} {'violates' if subjects == 1 else 'violate'} a claim."
        )
    elif audits:
        text += " No audit found a violation."
    return text


def _plural(number: int, noun: str) -> str:
    return f"{number_text.count(number)} {noun}" + ("" if number == 1 else "s")
