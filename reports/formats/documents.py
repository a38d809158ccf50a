"""JSON documents with published schemas, which `*.schema.json` in this package describe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.proofs import ProofEvidence
from dpverify.reports.ledger_files import without_infinities
from dpverify.views.results import AuditedClaim

SCHEMA_VERSION = 1
"""Of each of these documents. A field's meaning never changes; new fields come without a new version."""


def audit_json(evidence: AuditEvidence, *, curves: bool = False) -> dict[str, Any]:
    """The JSON form, with infinities as texts; `audit.schema.json` in this package describes it for privacy.

    With `curves`, it holds what is long, too: the points of a profile and the outputs that are shown.
    """
    if isinstance(evidence, PrivacyEvidence) and not curves:
        evidence = evidence.but(profile=(), shown=None)
    found = without_infinities(evidence.model_dump(mode="python"))
    if isinstance(evidence, PrivacyEvidence):
        found["profile"] = [
            {"eps": point["epsilon"], **{k: v for k, v in point.items() if k != "epsilon"}}
            for point in found["profile"]
        ]
    tree: dict[str, Any] = json.loads(
        json.dumps({"schema_version": SCHEMA_VERSION, **found}, allow_nan=False)
    )
    return tree


def proofs_json(proofs: Sequence[ProofEvidence]) -> dict[str, Any]:
    """The JSON form, which `proofs.schema.json` in this package describes."""
    entries = [proof.model_dump(mode="json") for proof in proofs]
    return {"schema_version": SCHEMA_VERSION, "entries": entries}


def claims_json(claims: Sequence[AuditedClaim]) -> dict[str, Any]:
    """A row for each claim; its evidence as `dpverify audit` or `dpverify batches` writes it.

    The points of its profile and the outputs that are shown stand in the ledger.
    """
    rows = [
        {
            "name": one.name,
            "claim": one.claim,
            "error": one.error or None,
            "evidence": None if one.found is None else audit_json(one.found),
        }
        for one in claims
    ]
    return {"schema_version": SCHEMA_VERSION, "claims": rows}
