"""Audit the libraries: `python run.py FOLDER [--quick]`, in this folder; the ledger goes into FOLDER.

The claims are those of dpverify.toml, as `dpverify run` audits them; what accountants.py has is added. With --quick,
only those that notes.toml marks, and no accountants.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from accountants import DELTA, accounted, quietly
from notes import installed_versions, notes

from dpverify.auditing.accountants import AccountantAuditor, AccountantQuestion
from dpverify.auditing.contract import Label
from dpverify.auditing.error_share import ErrorShare
from dpverify.commands.claims.stated_claims import audit_project, read_project
from dpverify.reports import write_ledger

HERE = Path(__file__).parent


def asked_accountants() -> Iterator[Any]:
    """An entry for each answer of an accountant."""
    for row in accounted():
        label = Label(row.name, row.name, "python run.py FOLDER")
        question = AccountantQuestion(quietly(row.asked), DELTA, row.name, label=label)
        yield AccountantAuditor().audit(question, row.releases, ErrorShare(1e-6))


def main(folder: Path, *, quick: bool) -> int:
    """2 if a subject could not be run that notes.toml expects to run, else 0: what is violated is the page's matter."""
    project, known = read_project(HERE / "dpverify.toml"), notes()
    chosen = tuple(name for name, note in known.items() if note.get("quick")) if quick else ()
    ledger, audited = audit_project(project, chosen=chosen, tell=lambda line: print(line, flush=True))
    entries = (*ledger.entries, *(() if quick else asked_accountants()))
    ledger = ledger.model_copy(
        update={
            "entries": entries,
            "profile": "libraries",
            "versions": {**ledger.versions, **installed_versions()},
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_ledger(ledger, folder / "ledger.json")
    failed = [one for one in audited if one.found is None]
    (folder / "refused.txt").write_text(
        "".join(f"{one.name}\t{one.error}\n" for one in failed), encoding="utf-8"
    )
    return 2 if [one for one in failed if known[one.name].get("word") != "refused"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute(), quick="--quick" in sys.argv[2:]))
