"""What was found of the theorems and mechanisms on the program's own pages, beside the program.

`dpverify list` and `explain` show it at once and without provers, as long as no such page has changed. It is written
with the verdicts of papers (`shipped`), and a test holds rows against what is found now. `dpverify prove` and
`dpverify verify` never read it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from dpverify import extras
from dpverify.files import write_whole
from dpverify.ledger.theorems import TheoremEvidence
from dpverify.running.progress import Progress
from dpverify.statements.theorems.names import FOLDERS
from dpverify.verification.remembering.shipped import FOLDER, packed, unpacked

NAME = "theorems"


def pages_hash() -> str:
    """Changes with any page of theorems or mechanisms that comes with the program."""
    texts = [page.read_bytes() for folder in FOLDERS.values() for page in sorted(folder.glob("*.md"))]
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts)).hexdigest()


def ship_theorems(folder: Path = FOLDER, *, workers: int = 1) -> int:
    """Write what is found of them all; their number."""
    from dpverify.verification.theorems import theorem_rows

    rows = [row.found for row in theorem_rows(list(FOLDERS), workers=workers)]
    content = {row.id: row.model_copy(update={"seconds": 0.0}).model_dump(mode="json") for row in rows}
    write_whole(folder / f"{NAME}.gz", packed({"pages": pages_hash(), "rows": content}))
    return len(rows)


@cache
def _read(folder: Path) -> tuple[dict[str, TheoremEvidence], str]:
    """Rows by id, and what found them, in words; none where a page has changed since."""
    found = unpacked(folder / f"{NAME}.gz")
    if found is None or found[0].get("pages") != pages_hash():
        return {}, ""
    content, words = found
    rows: dict[str, Any] = content["rows"]
    return {id_: TheoremEvidence.model_validate(row) for id_, row in rows.items()}, words


def verdicts_of(
    names: Sequence[str], *, workers: int = 1, progress: Progress | None = None
) -> tuple[list[TheoremEvidence], str]:
    """Theorems and mechanisms as they come with the program, or else as they are found now; and a sentence on that.

    Raises:
        InvalidArgumentError: for a name that no theorem has, or a page that is not understood.
        MissingExtraError: where something is to be found, and provers are missing.
    """
    rows, words = _read(FOLDER)
    if rows and all(name in rows or name in FOLDERS for name in names):
        chosen = {row.id: row for name in names for row in ([rows[name]] if name in rows else rows.values())
                  if name in rows or row.page == name}  # fmt: skip
        number = f"{len(chosen)} of {len(rows)} theorems and mechanisms"
        said = (
            f"Verdicts of {number} come with the program, found by {words}, and are not checked here; dpverify prove "
            "derives them."
        )
        return [*chosen.values()], said
    extras.require("What is found of theorems", "prove")
    from dpverify.verification.theorems import theorem_rows

    return [row.found for row in theorem_rows(names, workers=workers, progress=progress)], ""
