"""A project's claims, audited by `dpverify run`, in the forms that other programs read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.reports.formats.audits import AUDIT_RULES, Outcome, audit_json, junit_case, sarif_of
from dpverify.reports.formats.interchange import Case, SourcePlace, junit_document, sarif_log, sarif_result
from dpverify.reports.formats.markdown_text import code, escaped

CLAIMS_SCHEMA_VERSION = 1
"""Of the JSON form of a project's claims."""

_NOT_AUDITED = ("privacy-claim-not-audited", "An audit of a privacy claim ended in an error.")
_OUTCOMES: dict[Verdict, Outcome] = {Verdict.VIOLATED: "failure", Verdict.UNDECIDED: "error"}
_ORDER = ("violated", "not audited", "undecided", "supported")


@dataclass(frozen=True)
class AuditedClaim:
    """What became of one claim: what an audit found, or why there was none.

    Attributes:
        name: of the claim in its project.
        claim: such as "eps=1,delta=1e-5".
        found: None if the audit ended in an error.
        error: what it said.
        place: where the claim is stated.
    """

    name: str
    claim: str
    found: PrivacyEvidence | None
    error: str = ""
    place: SourcePlace | None = None

    @property
    def outcome(self) -> str:
        """A verdict, or `not audited`."""
        return str(self.found.verdict) if self.found is not None else "not audited"


def claims_json(claims: Sequence[AuditedClaim]) -> dict[str, Any]:
    """A row for each claim; its evidence as `dpverify audit` writes it."""
    rows = [
        {
            "name": one.name,
            "claim": one.claim,
            "error": one.error or None,
            "evidence": None if one.found is None else audit_json(one.found),
        }
        for one in claims
    ]
    return {"schema_version": CLAIMS_SCHEMA_VERSION, "claims": rows}


def claims_junit(claims: Sequence[AuditedClaim]) -> str:
    """A test case for each claim: a failure where it is violated, an error where it is undecided or not audited."""
    cases = [
        Case(one.name, one.claim, outcome="error", kind=one.outcome, message=one.error, text=one.error)
        if one.found is None
        else junit_case(one.found, _OUTCOMES.get(one.found.verdict, ""))
        for one in claims
    ]
    return junit_document(cases, "dpverify run")


def claims_sarif(claims: Sequence[AuditedClaim]) -> dict[str, Any]:
    """SARIF 2.1.0: a result for each claim that is not supported, at the line where it is stated."""
    results = []
    for one in claims:
        if one.found is None:
            results.append(
                sarif_result(
                    _NOT_AUDITED[0],
                    "error",
                    f"{one.name}, claim {one.claim}: {one.error}",
                    properties={"verdict": one.outcome, "claim": one.claim},
                    fingerprint={"dpverify/claim/v1": f"{one.name}: {one.claim}"},
                    place=one.place,
                )
            )
        elif one.found.verdict in _OUTCOMES:
            results.append(sarif_of(one.found, one.place))
    return sarif_log(results, {**AUDIT_RULES, **dict([_NOT_AUDITED])})


def claims_markdown(claims: Sequence[AuditedClaim], *, command: str) -> str:
    """For a comment on a pull request: a row for each claim, what is violated first, and how to run it again."""
    outcomes = [one.outcome for one in claims]
    counts = [f"{outcomes.count(outcome)} {outcome}" for outcome in _ORDER if outcome in outcomes]
    lines = [f"### dpverify: {', '.join(counts)}", "", "| verdict | name | claim | epsilon at least | why |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for one in sorted(claims, key=lambda one: _ORDER.index(one.outcome)):
        bound, why = "", one.error
        if one.found is not None:
            bound, why = f"{one.found.epsilon_lower:.4g} at delta {one.found.delta:g}", one.found.reason
        cells = (one.outcome, one.name, one.claim, bound, why)
        lines.append(f"| {' | '.join(map(escaped, cells))} |")
    return "\n".join([*lines, "", f"Reproduce: {code(command)}", ""])
