"""What the displays of a page say that they use: something that there is, and in no circle."""

from __future__ import annotations

from collections.abc import Mapping

from dpverify.ledger.headlines.roots import cycle
from dpverify.ledger.names import bare, formula_of
from dpverify.statements.pages.blocks import Errors
from dpverify.statements.sheet import Sheet


def check_uses(sheet: Sheet, lines: Mapping[str, int], errors: Errors) -> None:
    """Add to the errors what is used and unknown, and circles; lines are those of displays, by name."""
    own = {f"{sheet.id}/{row.name}": row.uses for row in sheet.rows}
    used = {name for names in own.values() for name in names}
    known = _known() if any(bare(name) != sheet.id for name in used) else frozenset()
    for row in sheet.rows:
        for name in row.uses:
            if name in own or name in known:
                continue
            allowed = (
                "ids of statements or named results, `STATEMENT/FORMULA`, or `PAGE/NAME` of a display here"
            )
            if name == sheet.id:
                allowed = "something else than the page itself, in a circle"
            errors.wrong(lines[row.name], "uses", name, allowed)
    circle = cycle({name: tuple(n for n in uses if n in own) for name, uses in own.items()})
    if circle:
        line = min(lines[formula_of(name)] for name in circle)
        allowed = "displays that do not rest on themselves"
        errors.wrong(line, "uses", " -> ".join(circle), allowed)


def _known() -> frozenset[str]:
    from dpverify.statements.paper import named_results, papers

    among = papers().values()
    statements = [s for paper in among for s in paper.statements]
    names = {row.id for paper in among for row in paper.catalog} | set(named_results(among))
    return frozenset(names | {f"{s.id}/{part.name}" for s in statements for part in s.parts})
