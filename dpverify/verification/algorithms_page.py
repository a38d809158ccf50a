"""Writes the tables of docs/algorithms.md: `python -m dpverify.verification.algorithms_page docs/algorithms.md`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from dpverify.algorithms.examples import Setting
from dpverify.errors import DpverifyError, InvalidDataError
from dpverify.files import write_whole
from dpverify.statements.paper import loaded, papers

_TABLE = re.compile(r"(<!-- (\w+) -->)\n.*?(<!-- end -->)", re.DOTALL)


def listed() -> Iterator[str]:
    """Every algorithm of every paper: where it stands, its class, what it is."""
    for paper in papers().values():
        where = {row.id: row for row in paper.catalog}
        yield f"## {paper.key}: {paper.title}\n"
        yield "| id | where | class | what it is |\n| --- | --- | --- | --- |"
        for id_, path in paper.algorithms.items():
            row, place = where[id_], path.removeprefix("dpverify.")
            yield f"| `{id_}` | {row.where} | `{place}` | {row.title} |"
        yield ""


def promises() -> Iterator[str]:
    """What each states besides privacy, by its plain example; or why it does not."""
    yield "| algorithm | risk | oracle calls | sampling error |\n| --- | --- | --- | --- |"
    at = Setting()
    for paper in papers().values():
        for id_, path in paper.algorithms.items():
            kind = loaded(path)
            made, why = kind.examples(at)[""](), {"sampling error": "it is no sampler", **kind.unstated}
            found = {
                "risk": made.risk_bound(at.n),
                "queries": made.queries(at.n),
                "sampling error": made.sampling_error(at.n),
            }
            cells = ("stated" if stated else why[name] for name, stated in found.items())
            yield f"| `{id_}` | {' | '.join(cells)} |"


def with_tables(text: str) -> str:
    """The page with each table, between `<!-- listed -->` or `<!-- promises -->` and `<!-- end -->`, made anew."""
    made = {"listed": listed, "promises": promises}

    def one(found: re.Match[str]) -> str:
        return "\n".join((found[1], "", *made[found[2]](), "", found[3]))

    return _TABLE.sub(one, text)


def main(arguments: list[str]) -> int:
    """Write the tables of the named page; 2 for bad input."""
    try:
        if len(arguments) != 1 or not Path(arguments[0]).is_file():
            raise InvalidDataError("A page is needed, such as docs/algorithms.md.")
        page = Path(arguments[0]).resolve()
        write_whole(page, with_tables(page.read_text(encoding="utf-8")).encode())
    except DpverifyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
