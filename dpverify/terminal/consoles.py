"""What is shown on a terminal, with Rich; apart from `dpverify.terminal`, since a pipe needs none of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpverify.ledger.verdicts import Verdict

COLORS: dict[str, str] = {
    Verdict.PROVED: "green", Verdict.CERTIFIED: "green", Verdict.SUPPORTED: "cyan",
    Verdict.REFUTED: "red", Verdict.VIOLATED: "red bold", Verdict.UNDECIDED: "yellow",
    Verdict.DOES_NOT_FOLLOW: "red",
}  # fmt: skip

_GAP, _INDENT = 2, 4
"""Characters between columns, and before what stands below a line."""

_NARROWEST = 30
"""Characters that a broken column needs, to be read."""


class PipeConsole(Console):
    """A console that raises an error when its reader is gone, instead of ending the program with code 1."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        raise BrokenPipeError


def output_console() -> Console:
    """Standard output."""
    return PipeConsole(highlight=False, emoji=False)


def error_console() -> Console:
    """Standard error."""
    return PipeConsole(stderr=True, highlight=False, emoji=False)


def table(columns: Iterable[str], rows: Iterable[Iterable[str]], width: int) -> RenderableType:
    """Rows of cells for so many characters a line; those that are a verdict, or begin with one, have its color.

    Only one column may be too wide to stand beside the others, and is broken. Where more are, the first columns that
    fit stand on a line of their own, and below it the other cells that say something, each with the column's name.
    """
    names = tuple(columns)
    cells = [
        [Text(cell, style=COLORS.get(getattr(cell, "verdict", cell), "")) for cell in row] for row in rows
    ]
    widths = [
        max(map(cell_len, column)) for column in zip(names, *(map(str, row) for row in cells), strict=True)
    ]
    room = width - _GAP * (len(names) - 1) - sum(widths)
    widest = widths.index(max(widths))
    if room + widths[widest] >= min(widths[widest], _NARROWEST):
        return _beside(names, cells, widest)
    first = max(1, sum(sum(widths[: k + 1]) + _GAP * k <= width for k in range(len(names))))

    def beside(row: Iterable[Text]) -> Text:
        line = Text(" " * _GAP).join(row)
        line.rstrip()
        return line

    parts: list[RenderableType] = [beside(map(_aligned, (Text(n, "bold") for n in names[:first]), widths))]
    for row in cells:
        parts.append(beside(map(_aligned, row[:first], widths)))
        parts += [
            Padding(Text.assemble((f"{name}: ", "bold"), cell, overflow="fold"), (0, 0, 0, _INDENT))
            for name, cell in zip(names[first:], row[first:], strict=True)
            if cell
        ]
    return Group(*parts)


def _aligned(cell: Text, width: int) -> Text:
    cell.pad_right(width - cell.cell_len)
    return cell


def _beside(names: Sequence[str], rows: Iterable[Sequence[Text]], broken: int) -> Table:
    drawn = Table(box=None, pad_edge=False, show_header=any(names))
    for number, name in enumerate(names):
        drawn.add_column(name, overflow="fold", no_wrap=number != broken)
    for row in rows:
        drawn.add_row(*row)
    return drawn
