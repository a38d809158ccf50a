"""The published JSON Schemas as they follow from the classes, and a small validator of the keywords that they use."""

from __future__ import annotations

from typing import Any

from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.proofs import ProofEvidence
from dpverify.reports.formats.documents import SCHEMA_VERSION

_TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), "array": list,
    "object": dict,
}  # fmt: skip
_SILENT = {"title", "description", "default", "$schema", "$id", "$defs"}
"""Keywords that ask for nothing."""


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], where: str = "$") -> list[str]:
    """What is wrong with a value, place by place; empty if it fits the schema."""
    found: list[str] = []
    for keyword, asked in schema.items():
        if keyword in _SILENT:
            continue
        found += _CHECKS[keyword](value, asked, schema, root, where)
    return found


def _type(value: Any, asked: str, schema: Any, root: Any, where: str) -> list[str]:
    right = isinstance(value, _TYPES[asked]) and (asked == "boolean" or not isinstance(value, bool))
    return [] if right else [f"{where} is no {asked}: {value!r}"]


def _properties(value: Any, asked: Any, schema: Any, root: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return []
    return [f for k, s in asked.items() if k in value for f in faults(value[k], s, root, f"{where}.{k}")]


def _additional(value: Any, asked: Any, schema: Any, root: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return []
    others = [k for k in value if k not in schema.get("properties", {})]
    if asked is False:
        return [f"{where}.{k} is not known" for k in others]
    return [] if asked is True else [f for k in others for f in faults(value[k], asked, root, f"{where}.{k}")]


def _prefix(value: Any, asked: Any, schema: Any, root: Any, where: str) -> list[str]:
    if not isinstance(value, list):
        return []
    pairs = enumerate(zip(value, asked, strict=False))
    return [f for k, (item, one) in pairs for f in faults(item, one, root, f"{where}[{k}]")]


def _least(value: Any, asked: int, schema: Any, root: Any, where: str) -> list[str]:
    few = isinstance(value, list) and len(value) < asked
    return [f"{where} has fewer than {asked} items"] if few else []


def _most(value: Any, asked: int, schema: Any, root: Any, where: str) -> list[str]:
    many = isinstance(value, list) and len(value) > asked
    return [f"{where} has more than {asked} items"] if many else []


def _items(value: Any, asked: Any, schema: Any, root: Any, where: str) -> list[str]:
    if not isinstance(value, list):
        return []
    return [f for k, item in enumerate(value) for f in faults(item, asked, root, f"{where}[{k}]")]


def _any_of(value: Any, asked: Any, schema: Any, root: Any, where: str) -> list[str]:
    tried = [faults(value, one, root, where) for one in asked]
    return [] if any(not one for one in tried) else min(tried, key=len)


def _ref(value: Any, asked: str, schema: Any, root: dict[str, Any], where: str) -> list[str]:
    return faults(value, root["$defs"][asked.removeprefix("#/$defs/")], root, where)


_CHECKS: dict[str, Any] = {
    "type": _type,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "prefixItems": _prefix,
    "minItems": _least,
    "maxItems": _most,
    "anyOf": _any_of,
    "$ref": _ref,
    "required": lambda v, asked, s, r, w: [
        f"{w}.{k} is missing" for k in asked if isinstance(v, dict) and k not in v
    ],
    "enum": lambda v, asked, s, r, w: [] if v in asked else [f"{w} is {v!r}, none of {asked}"],
    "const": lambda v, asked, s, r, w: [] if v == asked else [f"{w} is {v!r}, not {asked!r}"],
}


# ------------------------------------------------------------------------------------------- the published schemas


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
