"""A report's folder: the ledger, the page, the certificates."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpverify.errors import InvalidDataError
from dpverify.evidence import Ledger, ProofEvidence
from dpverify.proving.certificates import digest, load, store
from dpverify.reports.ledger_files import ledger_json, parse_ledger, write_text
from dpverify.reports.page import render_html


@dataclass(frozen=True)
class ReportPaths:
    """Where the files of a report are."""

    ledger: Path
    page: Path
    certificates: Path


def write_report(
    ledger: Ledger,
    folder: str | os.PathLike[str],
    certificates: Mapping[str, Mapping[str, Any]] | None = None,
) -> ReportPaths:
    """Write `ledger.json`, `report.html` and `certificates/HASH.json` to a folder, which is made if need be.

    Everything is worked out before the first file is touched, each file is replaced whole, and the ledger,
    which names the others, comes last.

    Args:
        ledger: what a run of dpverify found.
        folder: where to write.
        certificates: name (`sha256:...`) to certificate; without it, certificates that lie in the folder
            already are left as they are and described in the page.

    Raises:
        InvalidDataError: a certificate does not have the hash in its name, the ledger cannot be read back
            as it is, or the folder cannot be written to.
    """
    place = Path(folder)
    given = dict(certificates or {})
    for name, value in given.items():
        if digest(value) != name:
            raise InvalidDataError(f"Certificate {name} does not have the hash in its name.")
    text = ledger_json(ledger)
    parse_ledger(text, "The ledger to be written")
    paths = ReportPaths(place / "ledger.json", place / "report.html", place / "certificates")
    page = render_html(ledger, {**read_certificates(ledger, place), **given})
    try:
        paths.certificates.mkdir(parents=True, exist_ok=True)
        for value in given.values():
            store(value, paths.certificates)
    except OSError as error:
        raise InvalidDataError(
            f"{paths.certificates} cannot be written: {error.strerror or error}."
        ) from error
    write_text(page, paths.page)
    write_text(text, paths.ledger)
    return paths


def read_certificates(ledger: Ledger, folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The certificates of a ledger that lie in `folder/certificates`; those that are not there are left out.

    Raises InvalidDataError where one is there but cannot be read or does not have its hash.
    """
    place = Path(folder) / "certificates"
    names = {
        entry.certificate
        for entry in ledger.entries
        if isinstance(entry, ProofEvidence) and entry.certificate is not None
    }
    found: dict[str, Any] = {}
    for name in sorted(names):
        bare = name.removeprefix("sha256:")
        if bare.isalnum() and (place / f"{bare}.json").is_file():
            found[name] = load(name, place)
    return found
