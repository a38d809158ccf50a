"""JSON documents with published schemas, which `*.schema.json` in this package describe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.proofs import ProofEvidence
from dpverify.reports.ledger_files import without_infinities
from dpverify.views.results import AuditedClaim

SCHEMA_VERSION = 1
"""Of each of these documents. A field's meaning never changes; new fields come without a new version."""


def audit_json(evidence: PrivacyEvidence) -> dict[str, Any]:
    """The JSON form, which `audit.schema.json` in this package describes; infinities are texts, as in ledgers."""
    found = without_infinities(evidence.model_dump(mode="python"))
    found["profile"] = [
        {"eps": point["epsilon"], **{k: v for k, v in point.items() if k != "epsilon"}}
        for point in found["profile"]
    ]
    tree: dict[str, Any] = json.loads(
        json.dumps({"schema_version": SCHEMA_VERSION, **found}, allow_nan=False)
    )
    return tree


def audit_schema() -> dict[str, Any]:
    """The JSON Schema of `audit_json`, made from the classes of the evidence."""
    schema = PrivacyEvidence.model_json_schema(mode="serialization")
    schema = _with_infinities(schema)
    point = schema["$defs"]["ProfilePoint"]
    point["properties"] = {"eps" if k == "epsilon" else k: v for k, v in point["properties"].items()}
    point["required"] = ["eps" if k == "epsilon" else k for k in point["required"]]
    properties = {"schema_version": {"const": SCHEMA_VERSION}, **schema.pop("properties")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpverify:audit:{SCHEMA_VERSION}",
        "title": "An audit of a privacy claim, as dpverify audit prints it",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema_version", *schema["required"]],
        "properties": properties,
        "$defs": schema["$defs"],
    }


def _with_infinities(schema: Any) -> Any:
    """Numbers may be infinite, which JSON says in words."""
    if isinstance(schema, list):
        return [_with_infinities(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "number":
        words = {"enum": ["Infinity", "-Infinity", "NaN"]}
        rest = {k: v for k, v in schema.items() if k not in ("type", "default")}
        return {"anyOf": [{"type": "number"}, words], **rest}
    return {key: _with_infinities(value) for key, value in schema.items()}


def proofs_json(proofs: Sequence[ProofEvidence]) -> dict[str, Any]:
    """The JSON form, which `proofs.schema.json` in this package describes."""
    entries = [proof.model_dump(mode="json") for proof in proofs]
    return {"schema_version": SCHEMA_VERSION, "entries": entries}


def proofs_schema() -> dict[str, Any]:
    """The JSON Schema of `proofs_json`, made from the class of the evidence."""
    schema = ProofEvidence.model_json_schema(mode="serialization")
    definitions = schema.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:dpverify:proofs:{SCHEMA_VERSION}",
        "title": "Formulas that were proved or refuted, as dpverify prove prints them",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema_version", "entries"],
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "entries": {"type": "array", "items": {"$ref": "#/$defs/ProofEvidence"}},
        },
        "$defs": {**definitions, "ProofEvidence": schema},
    }


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
    return {"schema_version": SCHEMA_VERSION, "claims": rows}
