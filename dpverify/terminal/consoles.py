"""What is shown on a terminal, with Rich; apart from `dpverify.terminal`, since a pipe needs none of it."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpverify.ledger.verdicts import Verdict

COLORS: dict[str, str] = {
    Verdict.PROVED: "green", Verdict.CERTIFIED: "green", Verdict.SUPPORTED: "cyan",
    Verdict.REFUTED: "red", Verdict.VIOLATED: "red bold", Verdict.UNDECIDED: "yellow",
    Verdict.DOES_NOT_FOLLOW: "red",
}  # fmt: skip


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


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Rows of cells; those that are a verdict, or begin with one, have its color."""
    names = tuple(columns)
    drawn = Table(box=None, pad_edge=False, show_header=any(names))
    for column in names:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell, style=COLORS.get(getattr(cell, "verdict", cell), "")) for cell in row))
    return drawn
