"""Commands in any language as batched functions: a line of JSON in, a line of JSON out for each run.

This runs in users' worker processes, so it needs NumPy and the standard library only. Limits of memory pass from the
worker to the command, and whatever the command started is ended with the worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from typing import IO, Any

import numpy as np

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems.tables.records import written
from dpverify.quoting import quoted

_SEEDS = 2**31  # below it are integers in every language
_LONGEST_LINE = 2**26
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
_OPERATOR = re.compile(r"[<>|&;]+")  # what a shell reads as more than letters of a word


def words(text: object) -> list[str]:
    """A command line as words, the first of which is a program that is there."""
    try:
        found = shlex.split(text) if isinstance(text, str) else []
    except ValueError:
        found = []
    require(found and "\0" not in str(text), "command", text, "a program and its arguments, as in a shell")
    # no shell reads it: an operator would be one more word for the program, and what follows it would never run
    if (operator := _operator(str(text))) is not None:
        raise InvalidArgumentError(
            "command", text, f"one program and its arguments; for {operator} name a shell: sh -c '...'"
        )
    try:
        there = shutil.which(found[0]) is not None
        is_file = os.path.isfile(found[0])
    except OSError:
        there = is_file = False
    if not there:
        what = "is a file that may not be executed" if is_file and os.sep in found[0] else "is not"
        raise InvalidArgumentError("command", text, f"a program that is there; {quoted(found[0])} {what}")
    return found


def _operator(text: str) -> str | None:
    """The first pipe, redirection or the like that a shell would see, outside of quotes."""
    found = _OPERATOR.search(_QUOTED.sub("_", text))
    return None if found is None else found[0]


class Command:
    """A command as a function (data, rng, runs) -> outputs.

    For every call the command is started anew. It reads one line from standard input,
    `{"runs": 1000, "seed": 17, "data": [[0.0], [1.0]]}`, and writes as many lines to standard output as there are runs,
    each with one output. A missing number, NaN, is null there. Records that hold more than numbers are objects by
    column, such as `{"city": "Bonn", "age": null, "since": "2024-01-31"}`. All its randomness is to come
    from the seed. What it writes to standard error is shown.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words(text)

    def __call__(self, data: Any, rng: np.random.Generator, runs: int) -> list[Any]:
        """Run it once."""
        asked = {"runs": runs, "seed": int(rng.integers(_SEEDS)), "data": _listed(data)}
        try:
            process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except (OSError, ValueError) as error:
            raise InvalidDataError(
                f"The command {quoted(self.text)} cannot be started: {quoted(error)}."
            ) from error
        assert process.stdin is not None
        assert process.stdout is not None
        writing = threading.Thread(target=_write, args=(process.stdin, json.dumps(asked) + "\n"), daemon=True)
        writing.start()
        outputs: list[Any] = []
        more = False
        try:
            while line := process.stdout.readline(_LONGEST_LINE):
                if len(outputs) == runs:
                    more = bool(line.strip())
                    break
                outputs.append(self._value(line, len(outputs) + 1))
            process.stdout.close()
            code = None if more else process.wait()
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            writing.join()
        if code:
            raise InvalidDataError(
                f"The command {quoted(self.text)} {_ended(code)} after {len(outputs)} of {runs} lines; allowed: exit "
                "code 0 and one line of JSON for each run."
            )
        if more or len(outputs) != runs:
            wrote = "more" if more else str(len(outputs))
            raise InvalidDataError(
                f"The command {quoted(self.text)} wrote {wrote} lines where {runs} runs were asked for; allowed: one "
                "line of JSON for each run."
            )
        return outputs

    def _value(self, line: bytes, number: int) -> Any:
        try:
            return json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise InvalidDataError(
                f"The command {quoted(self.text)} wrote {quoted(line.decode('utf-8', 'backslashreplace'), 80)!r} as "
                f'line {number}; allowed: JSON, such as 0.5, "yes" or [1, null].'
            ) from error


def _listed(data: Any) -> Any:
    """Records as JSON has them: None for what is missing, objects by column where they hold more than numbers."""
    if isinstance(data, list):
        return [{name: written(cell) for name, cell in record.items()} for record in data]
    if data.dtype.kind != "f" or not np.isnan(data).any():
        return data.tolist()
    listed = data.astype(object)
    listed[np.isnan(data)] = None
    return listed.tolist()


def _write(stream: IO[bytes], text: str) -> None:
    # a command need not read all that it is told
    with contextlib.suppress(OSError, ValueError):
        stream.write(text.encode())
    with contextlib.suppress(OSError, ValueError):
        stream.close()


def _ended(code: int) -> str:
    if code > 0:
        return f"ended with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"
