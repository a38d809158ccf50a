"""A report's folder: the ledger, the page, the certificates."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpverify.checks import of_kind
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.document import Ledger
from dpverify.ledger.proofs import ProofEvidence
from dpverify.proving.certificates import digest, load, store
from dpverify.reports.ledger_files import ledger_json, load_ledger, parse_ledger, write_text
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
    of_kind("folder", folder, (str, os.PathLike), "the path of a folder")
    place = Path(folder)
    given = dict(certificates or {})
    for name, value in given.items():
        if digest(value) != name:
            raise InvalidDataError(f"Certificate {name} does not have the hash in its name.")
    text = ledger_json(ledger)
    parse_ledger(text, "The ledger to be written")
    paths = ReportPaths(place / "ledger.json", place / "report.html", place / "certificates")
    page = render_html(ledger, {**read_certificates(ledger, place), **given})
    _store_all(given, paths.certificates)
    write_text(page, paths.page)
    write_text(text, paths.ledger)
    return paths


def write_report_again(
    ledger: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None, *, short: bool = False
) -> ReportPaths:
    """Write the page of a ledger that is on disk; what is evidence stays as it is, byte for byte.

    The page is `report.html` for a `ledger.json`, and `NAME.html` for a `NAME.json`. In another folder than the
    ledger's, copies of the ledger and of its certificates are put beside the page.

    Args:
        ledger: a file that dpverify wrote.
        folder: where to write; the ledger's own folder if none.
        short: write `short.html`, or `NAME-short.html`, without a page for each statement and algorithm.

    Raises:
        InvalidDataError: the ledger or a certificate cannot be read, or the folder cannot be written to.
        InvalidArgumentError: the folder holds another ledger of that name, or the page would replace the ledger.
    """
    of_kind("ledger", ledger, (str, os.PathLike), "the path of a ledger.json")
    source = Path(ledger)
    found = load_ledger(source)
    place = source.parent if folder is None else Path(folder)
    name = ("short.html" if short else "report.html") if source.name == "ledger.json" else ""
    name = name or f"{source.stem}{'-short' if short else ''}.html"
    paths = ReportPaths(place / source.name, place / name, place / "certificates")
    if source.suffix == ".html" or (paths.page.exists() and os.path.samefile(paths.page, source)):
        raise InvalidArgumentError(
            "ledger", str(source), "a name that does not end in .html, as the page's does"
        )
    certificates = read_certificates(found, source.parent)
    page = render_html(found, certificates, short=short)
    if not (place.exists() and os.path.samefile(place, source.parent)):
        text = source.read_bytes().decode()
        if os.path.lexists(paths.ledger) and not _holds(paths.ledger, text):
            raise InvalidArgumentError("--out", str(place), f"a folder without another {source.name}")
        _store_all(certificates, paths.certificates)
        write_text(text, paths.ledger)
    write_text(page, paths.page)
    return paths


def _holds(path: Path, text: str) -> bool:
    """Whether a file can be read and has this content."""
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def _store_all(certificates: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for value in certificates.values():
            store(dict(value), folder)
    except OSError as error:
        raise InvalidDataError(f"{folder} cannot be written: {error.strerror or error}.") from error


def read_certificates(ledger: Ledger, folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The certificates of a ledger that lie in `folder/certificates`; those that are not there are left out.

    Raises InvalidDataError where one is there but cannot be read or does not have its hash.
    """
    of_kind("ledger", ledger, Ledger)
    of_kind("folder", folder, (str, os.PathLike), "the path of a folder")
    place = Path(folder) / "certificates"
    names = {
        entry.certificate
        for entry in ledger.entries
        if isinstance(entry, ProofEvidence) and entry.certificate is not None
    }
    names |= {name for row in ledger.theorems for name in (row.certificate, row.model) if name is not None}
    found: dict[str, Any] = {}
    for name in sorted(names):
        bare = name.removeprefix("sha256:")
        if bare.isalnum() and (place / f"{bare}.json").is_file():
            found[name] = load(name, place)
    return found
