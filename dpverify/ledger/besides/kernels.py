"""What the kernel of a proof assistant said of a row."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

from pydantic import model_validator

from dpverify.ledger.records import Record


class KernelReason(StrEnum):
    """Why a kernel has not accepted a row; there is no other reason."""

    OPERATOR = "an operator without a meaning in semantics.v"
    METHOD = "a method without a script"
    SCRIPT = "a script that the kernel does not accept"
    TIME = "a script that takes the kernel too long"
    AXIOM = "an axiom that is not allowed"
    SOURCE = "a formula without LaTeX, which only one reader reads"


class KernelAnswer(Record):
    """What a kernel said of a theorem; an acceptance is always of one."""

    kernel: str
    """Its name and version, such as `Rocq 8.16.1`."""
    said: Literal["accepted", "refused"]
    reason: KernelReason | None = None
    """Of what is refused."""
    theorem: str | None = None
    """`sha256:` and the hash of the statement, with what it is made with; None where the row has no statement."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.reason is None) != (self.said == "accepted") or not (self.reason or self.theorem):
            raise ValueError("what is accepted has a theorem and no reason, what is refused has a reason")
        return self

    def text(self) -> str:
        """The same in words."""
        return (
            f"{self.kernel} {'accepts it' if self.reason is None else f'does not accept it: {self.reason}'}"
        )
