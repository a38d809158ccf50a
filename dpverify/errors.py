"""Errors that a user can cause, each said in one sentence."""

from __future__ import annotations


def reason_of(error: Exception) -> str:
    """Why something failed, in words; without the number that an error of the system has."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


class DpverifyWarning(UserWarning):
    """A warning of this program; commands print it as one line."""


class DpverifyError(Exception):
    """Base class of every error that dpverify raises on purpose."""


class InvalidArgumentError(DpverifyError, ValueError):
    """An argument is outside what is allowed.

    The message names the argument, says what it was, or that an option is missing, and what is allowed. The command
    line prints the message alone and exits with code 2.
    """

    def __init__(self, argument: str, value: object, allowed: str) -> None:
        self.argument = argument
        self.value = value
        self.allowed = allowed
        shown = " ".join(repr(value).split())
        if len(shown) > 80:
            shown = shown[:77] + "..."
        option = argument.startswith("--") or argument.isupper()
        said = "is missing" if option and shown in ("None", "''") else f"was {shown}"
        super().__init__(f"{argument} {said}; allowed: {allowed}.")

    def __reduce__(self) -> tuple[type, tuple[str, object, str]]:
        """Survive the trip back from a worker process."""
        return type(self), (self.argument, self.value, self.allowed)


class InvalidDataError(DpverifyError, ValueError):
    """A file, an array or the output of a callable cannot be used; the message says why and what is allowed."""


class OneSideFailsError(InvalidDataError):
    """A function fails on one of two neighboring data sets, and returns on the other."""

    def __init__(self, message: str, fails_on: str, returns_on: str) -> None:
        self.message, self.fails_on, self.returns_on = message, fails_on, returns_on
        super().__init__(
            f"{message.rstrip('.')}; that was on the {fails_on}, and in as many runs on the {returns_on} it "
            "returned, so anyone who sees it fail can tell the two apart; allowed: outputs on both, or "
            "--count-exceptions (count_exceptions=True), which makes an exception an output."
        )

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        """Survive the trip back from a worker process."""
        return type(self), (self.message, self.fails_on, self.returns_on)


class NotGuaranteedError(DpverifyError, ValueError):
    """The parameters void the theorem that an algorithm's guarantee rests on."""
