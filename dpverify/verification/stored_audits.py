"""Whole audits in the store: an audit that is finished is not repeated."""

from __future__ import annotations

import json
import os

from pydantic import TypeAdapter

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.evidence import AnyAudit
from dpverify.running import fingerprint
from dpverify.running.program import program_hash
from dpverify.running.sources import SourceWatch, unchanged
from dpverify.statements.plans import Plan
from dpverify.verification.audits import AuditSettings, carry_out
from dpverify.versions import library_versions

_EVIDENCE: TypeAdapter[list[AuditEvidence]] = TypeAdapter(list[AnyAudit])


def carry_out_or_take(plan: Plan, settings: AuditSettings, failure_probability: float) -> list[AuditEvidence]:
    """What `carry_out` finds; taken from the store where it is there already, and kept there.

    The executor is no part of the key: results do not depend on it.

    Raises:
        InvalidArgumentError: with a store, for a plan from elsewhere that has parts without readable content.
    """
    store = settings.store
    if store is None:
        return carry_out(plan, settings, failure_probability)
    key = json.dumps(
        {
            "plan": fingerprint(plan),
            "profile": settings.profile,
            "seed": str(settings.seed),
            "failure probability": failure_probability.hex(),
            "program": program_hash(),
            "versions": library_versions(),
        },
        sort_keys=True,
    )
    folder = os.getcwd()
    kept = store.get("audit", key)
    content = None if kept is None else json.loads(kept)
    taken = content is not None and unchanged(content["sources"], folder)
    store.count("audit", taken=taken)
    if content is not None and taken:
        return _EVIDENCE.validate_python(content["entries"])
    watch = SourceWatch(folder)
    found = carry_out(plan, settings, failure_probability)
    sources = watch.files()
    if sources is None:
        store.tally("not_kept")
    else:
        entries = _EVIDENCE.dump_python(found)
        store.put("audit", key, json.dumps({"sources": sources, "entries": entries}).encode())
    return found
