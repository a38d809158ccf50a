"""How the command line meets the outside: tables, JSON, pipes, signals, exit codes."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from dpverify import extras
from dpverify.errors import DpverifyError, DpverifyWarning, InvalidArgumentError, InvalidDataError
from dpverify.files import check_writable, unwritable, write_whole
from dpverify.garbage import look_for_garbage_rarely
from dpverify.terminal.streams import streams_for_commands

if TYPE_CHECKING:
    from rich.console import Console

    from dpverify.ledger.proofs import ProofEvidence

VIOLATED, BAD_INPUT, UNDECIDED = 1, 2, 3
"""Exit codes other than 0: a claim about an implementation is violated; the input is bad; undecided."""

OWN_FAULT = 70
"""Exit code of a fault in dpverify itself; none of the above, so that no script takes it for a verdict."""

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF, errno.EIO)
"""No room; opened for reading alone; a terminal that is gone."""

_PIPE_CLOSED = 128 + 13
"""As if ended by SIGPIPE, like other programs whose reader is gone; the verdict was not delivered."""

_REPRODUCE = "reproduce"
_STANDARD_OUTPUT = "- for standard output, or "

_STOPPED = 128 + 15
"""As if ended by SIGTERM."""


class Commands(TyperGroup):
    """Commands that end quietly, with their own exit code, when the reader of their output is gone."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the command line; --help is answered here."""
        with _quiet_where_nobody_reads():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was chosen."""
        with _quiet_where_nobody_reads():
            return super().invoke(ctx)


class OneCommand(TyperCommand):
    """A command that is about one claim; of other options, the last one counts."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command's line.

        Raises:
            InvalidDataError: for a claim that is given more than once, of which one would be lost, or by epsilon alone.
        """
        names = {name for parameter in self.params for name in parameter.opts}
        for given in (word.split("=")[0] for word in args):
            if given in ("--epsilon", "--eps") and given not in names and "--claim" in names:
                raise InvalidDataError(
                    f"There is no {given} here; allowed: the whole claim, as in --claim eps=1,delta=1e-5."
                )
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for one in order:
            if one.name == "claim" and order.count(one) > 1:
                raise InvalidDataError("--claim is given more than once; allowed: one claim an audit.")
        return super().parse_args(ctx, args)


@contextmanager
def _quiet_where_nobody_reads() -> Iterator[None]:
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _leave_standard_output()
        raise typer.Exit(_PIPE_CLOSED) from None
    except OSError as error:
        # files that are named are refused where they are opened
        if error.errno not in _UNWRITABLE or error.filename is not None:
            raise
        _leave_standard_output()
        raise InvalidDataError(
            f"The results cannot be written ({error.strerror}); allowed: a standard output with room for them."
        ) from None


def _leave_standard_output() -> None:
    """Nothing more is to be written there, not even what is still kept back."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(line: str) -> None:
    """A line on standard error, as it is, however long."""
    from dpverify.terminal.consoles import error_console

    error_console().print(line, markup=False, soft_wrap=True)


def print_colored(lines: Iterable[tuple[str, str | None]]) -> None:
    """Lines on standard output, however long, each in the color of a verdict."""
    from rich.text import Text

    from dpverify.terminal.consoles import COLORS, output_console

    console = output_console()
    for line, verdict in lines:
        console.print(Text(line, style=COLORS.get(verdict or "", "")), soft_wrap=True)


def print_paragraphs(lines: Iterable[str]) -> None:
    """Print indented lines: whole into a pipe; on a terminal broken at its width, further indented where they go on."""
    console = _terminal()
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        print(
            line
            if console is None
            else fill(line, console.width, subsequent_indent=indent, break_on_hyphens=False)
        )


def print_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print rows: as a table on a terminal, as tab-separated lines into a pipe."""
    if (console := _terminal()) is not None:
        from dpverify.terminal.consoles import table

        console.print(table(columns, rows, console.width))
        return
    for row in rows:
        sys.stdout.write("\t".join(row) + "\n")


def print_facts(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and texts: side by side on a terminal, as tab-separated lines into a pipe.

    On a terminal a command line, which is the text of `reproduce`, stands in a line of its own without breaks, so that
    it can be copied.
    """
    facts = list(rows)
    console = _terminal()
    beside = facts if console is None else [row for row in facts if row[0] != _REPRODUCE]
    print_table(("", ""), beside)
    if console is not None:
        for name, text in facts:
            if name == _REPRODUCE:
                console.print(f"{name}:", text, markup=False, soft_wrap=True)


def _terminal() -> Console | None:
    """Standard output, if that is a terminal."""
    # Rich, which decides, is slow to import; where none of this holds it finds no terminal either
    if not sys.stdout.isatty() and {"FORCE_COLOR", "TTY_COMPATIBLE"}.isdisjoint(os.environ):
        return None
    from dpverify.terminal.consoles import output_console

    console = output_console()
    return console if console.is_terminal else None


def write_json(path: str, content: Any) -> None:
    """Write JSON to a file, all or nothing; `-` is standard output."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    if path == "-":
        try:
            text.encode(sys.stdout.encoding or "utf-8")
        except UnicodeEncodeError:
            text = json.dumps(content, indent=2) + "\n"
        sys.stdout.write(text)
        return
    try:
        write_whole(Path(path), text.encode())
    except (OSError, ValueError) as error:
        raise unwritable("--json", Path(path), error, _STANDARD_OUTPUT) from error


def write_or_show(path: str | None, document: Callable[[], Any], show: Callable[[], None]) -> None:
    """Write JSON where it is asked for, and print what people read, but for where JSON goes there."""
    if path is not None:
        write_json(path, document())
    if path != "-":
        show()


def check_json(path: str | None) -> None:
    """Refuse a file for JSON that cannot be written to before any work is done; an existing file stays as it is."""
    if path is not None and path != "-":
        check_writable("--json", Path(path), _STANDARD_OUTPUT)


def check_folder(option: str, folder: Path) -> None:
    """Refuse a folder that cannot be written to, or made, before hours are spent; none is made here."""
    try:
        nearest = next(p for p in (folder, *folder.absolute().parents) if p.exists())
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(
            option, str(folder), "a folder that can be written to or created"
        ) from error


def end_with(*verdicts: str, failing: Sequence[str] = ("violated",)) -> None:
    """End with the exit code of verdicts of which one fails, or else one is undecided."""
    for code, some in ((VIOLATED, failing), (UNDECIDED, ("undecided",))):
        if any(verdict in some for verdict in verdicts):
            raise typer.Exit(code)


def end_on_faults(proofs: Iterable[ProofEvidence]) -> None:
    """End with exit code 70 if a row ended in a fault in dpverify itself, naming each such row."""
    faulty = [p for p in proofs if p.fault]
    for p in faulty:
        tell(p.fault)
        tell(
            f"dpverify: this is a fault in dpverify, not a verdict on {p.statement}, {p.obligation}; please report "
            "it with the lines above."
        )
    if faulty:
        raise typer.Exit(OWN_FAULT)


def run_commands(commands: Callable[..., None], arguments: list[str] | None) -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2, never a traceback."""
    look_for_garbage_rarely()
    with streams_for_commands(), _ended_by_signal(), _warnings_told():
        try:
            commands(arguments)
        except DpverifyError as error:
            tell(f"dpverify: {error}")
            sys.exit(BAD_INPUT)
        except ModuleNotFoundError as error:
            _report_missing(error)
        except Exception:
            _report_fault()
        finally:
            _name_broken_papers()


@contextmanager
def _warnings_told() -> Iterator[None]:
    """Say warnings of this program's own as lines of their own, without a place in its code."""
    usual = warnings.showwarning

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, DpverifyWarning):
            tell(f"dpverify: {message}")
        else:
            usual(message, category, *place, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = usual


def _name_broken_papers() -> None:
    """Say what was registered as a paper and left out, where papers were looked for."""
    if (found := sys.modules.get("dpverify.statements.paper")) is not None:
        for name, why in found.broken.items():
            tell(f"dpverify: the paper {name} is left out ({why}).")


def _report_missing(error: ModuleNotFoundError) -> NoReturn:
    extra = extras.extra_of(error.name or "")
    if extra is None:
        _report_fault()
    said = extras.missing("This", {extra: [str(error.name)]})
    tell(f"dpverify: {said}")
    sys.exit(BAD_INPUT)


def _report_fault() -> NoReturn:
    traceback.print_exc()
    tell("dpverify: this is a fault in dpverify, not a verdict; please report it with the lines above.")
    sys.exit(OWN_FAULT)


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """Let SIGTERM unwind the program, so that worker processes end with it and nothing is left half-written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        sys.exit(_STOPPED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write JSON to FILE; - is standard output.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result, bit for bit.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Number of processes.")]


def progress_bar(title: str) -> Any:
    """A progress bar on standard error if that is a terminal, else nothing."""
    from dpverify.running import RichProgress
    from dpverify.terminal.consoles import error_console

    errors = error_console()
    return RichProgress(title, errors) if errors.is_terminal else None
