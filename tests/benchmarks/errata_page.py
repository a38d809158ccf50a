"""Writes the errata into a page: `python tests/benchmarks/errata_page.py docs/algorithms.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from dpverify.errors import DpverifyError, InvalidDataError
from dpverify.files import write_whole
from dpverify.statements.paper import papers

BEGIN = "<!-- corrections: written by `make pages`, not by hand -->"
END = "<!-- end of corrections -->"


def errata_markdown() -> str:
    """The errata of all papers, one list per paper, in the order of their catalogs."""
    parts: list[str] = []
    for paper in papers().values():
        lines = [
            f"- `{row.id}`, {erratum.where} ({erratum.consequence}): {erratum.printed}. "
            f"Corrected: {erratum.corrected}. Computed in {', '.join(f'`{text}`' for text in erratum.evidence)}."
            for row in paper.catalog
            for erratum in paper.errata.get(row.id, ())
        ]
        if lines:
            parts.append("\n".join((f"**{paper.key}**", "", *lines)))
    return "\n\n".join(parts)


def with_errata(page: str) -> str:
    """The page with the part between its two marks rewritten."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(END) < page.index(BEGIN):
        raise InvalidDataError(f"The page needs the lines {BEGIN} and {END}, each once and in this order.")
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{errata_markdown()}\n\n{END}{rest.split(END)[1]}"


def main(arguments: list[str]) -> int:
    """Write the named page; 2 for bad input."""
    try:
        if len(arguments) != 1:
            raise InvalidDataError("One page is needed, such as docs/algorithms.md.")
        page = Path(arguments[0])
        try:
            text = page.read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidDataError(f"{page} cannot be read: {error.strerror}.") from error
        write_whole(page, with_errata(text).encode())
    except DpverifyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
