"""What a worker process runs: a function, an estimator, or a command."""

from __future__ import annotations

from dataclasses import dataclass

from dpverify.errors import InvalidArgumentError
from dpverify.running.subjects.commands import words


@dataclass(frozen=True)
class Target:
    """A function or an estimator of a module, or a command.

    Attributes:
        text: `package.module:name`, or a command line.
        attributes: of the fitted estimator, which are its output; empty for anything else.
        command: whether the text is a command line.
        structure: whether it is a function from a data set to the `StatedStructure` of runs on it.
        noise: whether it is a function (rng, size) -> numbers, which gets no data.

    Raises:
        InvalidArgumentError: for attributes that are no names, or of a command, and for a command line without a
            program that is there.
    """

    text: str
    attributes: tuple[str, ...] = ()
    command: bool = False
    structure: bool = False
    noise: bool = False

    def __post_init__(self) -> None:
        for name in self.attributes:
            if self.command or not isinstance(name, str) or not name.isidentifier():
                raise InvalidArgumentError(
                    "attribute", name, "the name of an attribute of a fitted estimator"
                )
        if len(set(self.attributes)) < len(self.attributes):
            raise InvalidArgumentError("attribute", " ".join(self.attributes), "each attribute once")
        if self.command:
            words(self.text)

    @property
    def kind(self) -> str:
        """In a word."""
        if self.structure:
            return "structure"
        if self.noise:
            return "generator"
        return "command" if self.command else "estimator" if self.attributes else "function"

    @property
    def module(self) -> str:
        """Where it is imported from; empty for a command."""
        return "" if self.command else self.text.partition(":")[0]

    @property
    def options(self) -> tuple[str, ...]:
        """The words of `dpverify audit` that name it."""
        named = ("--command", self.text) if self.command else (self.text,)
        return (*named, *(word for name in self.attributes for word in ("--attribute", name)))

    def __str__(self) -> str:
        return self.text + (f" ({', '.join(self.attributes)})" if self.attributes else "")
