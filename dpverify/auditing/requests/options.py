"""How the fields of a request are written where only text can be, and how a door's errors name them.

The options of `dpverify audit` are made from this table, and a project's file is read by it. Nothing heavy is imported.
"""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Literal

from dpverify.errors import InvalidArgumentError

RUNS = 20_000
"""On each data set, unless a request says otherwise."""
GO_ON = 8
"""Times the runs that refuted a claim."""
SECONDS, GIB = 600.0, 4.0
"""Limits of a worker process."""

Kind = Literal["text", "file", "number", "count", "flag", "texts"]


@dataclass(frozen=True)
class Option:
    """How a field is written: what it holds, what stands for its value, and its help, other fields in braces."""

    kind: Kind
    help: str
    metavar: str = ""

    def summary(self, spell: Callable[[str], str] = str) -> str:
        """The help, with other fields as a door writes them."""
        numbers = {"RUNS": RUNS, "GO_ON": GO_ON, "SECONDS": f"{SECONDS:g}", "GIB": f"{GIB:g}"}
        return self.help.format_map({name: spell(name) for name in OPTIONS} | numbers)


OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        name: Option(**fields)
        for name, fields in tomllib.loads(
            resources.files("dpverify.auditing.requests").joinpath("options.toml").read_text(encoding="utf-8")
        ).items()
    }
)
"""All fields of a request, as the command line lists them."""


def flag(name: str) -> str:
    """An argument as an option of a command."""
    return f"--{name.replace('_', '-')}"


def option_name(name: str) -> str:
    """A field as the command line writes it."""
    return OPTIONS[name].metavar if name == "function" else flag(name)


class RequestError(InvalidArgumentError):
    """Fields that do not go together; `template` says what is allowed, with `{}` for other fields' names."""

    def __init__(self, argument: str, value: object, template: str, *names: str) -> None:
        super().__init__(argument, value, template.format(*names))
        self.template, self.names = template, names


@contextlib.contextmanager
def spelled(spell: Callable[[str], str], names: Container[str] = OPTIONS) -> Iterator[None]:
    """Within, errors about fields, or arguments of these names, name them as a door writes them."""
    try:
        yield
    except InvalidArgumentError as error:
        if error.argument not in names:
            raise
        allowed = error.allowed
        if isinstance(error, RequestError):
            allowed = error.template.format(*map(spell, error.names))
        raise InvalidArgumentError(spell(error.argument), error.value, allowed) from error.__cause__
