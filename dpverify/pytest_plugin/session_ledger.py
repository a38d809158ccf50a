"""The ledger of a session of pytest: one entry for each claim, in the order of collection."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import ErrorBudget, Ledger
from dpverify.ledger.records import SpentShare
from dpverify.pytest_plugin.options import Options
from dpverify.quoting import command_line
from dpverify.reports import write_ledger
from dpverify.reports.formats.sarif import sarif
from dpverify.reports.ledger_files import write_text
from dpverify.views.results import SourcePlace, result_of


def session_ledger(options: Options, claims: Sequence[dict[str, Any]], command: str) -> Ledger:
    """What was found of a session's claims, in plain types, whatever processes found it."""
    entries = [one["evidence"] for one in claims if one["evidence"] is not None]
    shares = [
        spent if spent.path == (one["name"],) else spent.below(one["name"])
        for one in claims
        for spent in map(SpentShare.model_validate, one["spent"])
    ]
    return Ledger.of_run(
        command,
        seed=options.seed,
        profile=options.profile,
        entries=entries,
        budget=ErrorBudget(
            failure_probability=options.failure_probability,
            spent={one["name"]: one["of"] for one in claims},
            shares=tuple(shares),
        ),
        seconds=round(sum(entry.get("seconds", 0.0) for entry in entries), 3),
    )


def write_session(options: Options, claims: Sequence[dict[str, Any]], arguments: Sequence[str]) -> None:
    """Write the ledger, and the same as SARIF, where the options say."""
    ledger = session_ledger(options, claims, command_line("pytest", *arguments))
    if options.report is not None:
        write_ledger(ledger, options.report)
    if options.sarif is not None:
        places = [SourcePlace(one["file"], one["line"]) for one in claims if one["evidence"] is not None]
        audits = [audit for audit in ledger.entries if isinstance(audit, AuditEvidence)]
        tree = sarif(result_of(audit, place) for audit, place in zip(audits, places, strict=True))
        write_text(json.dumps(tree, indent=1, ensure_ascii=False) + "\n", options.sarif)
