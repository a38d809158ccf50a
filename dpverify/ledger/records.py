"""What everything in the ledger is made of."""

from __future__ import annotations

import math
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of everything in the ledger: frozen, and unknown fields are refused.

    What checks and writes a class is built when the first object is made: there are dozens, and a command needs few.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def but(self, **changed: Any) -> Self:
        """The same with other values of some fields, which are not checked."""
        return self.model_copy(update=changed)


class Interval(Record):
    """Two numbers around an unknown one. Open ends are infinite floats, written as strings in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    lower: float
    upper: float
    rigorous: bool = False
    """True where rounding is outward; False where the ends are floats or hold with a confidence."""


def is_vacuous(bound: float, worst: float, *, at_least: bool = False) -> bool:
    """Whether a bound on a quantity says nothing, as its worst value, known or certified, is not beyond it.

    The worst value is the largest one, for a bound from below the smallest. No bound, an infinite one, is not vacuous.
    """
    return math.isfinite(bound) and (worst >= bound if at_least else worst <= bound)


class SpentShare(Record):
    """A part of a failure probability, and what it was spent on."""

    path: tuple[str, ...]
    """Whose it is: an audit, then its parts, from the whole to the part."""
    failure_probability: float
    why: str

    def below(self, *names: str) -> SpentShare:
        """The same as a part of something."""
        return self.but(path=(*names, *self.path))


class Reuse(Record):
    """What was taken from a store of finished work instead of being done again."""

    store: str
    """The file."""
    blocks: int = 0
    """Blocks of runs that were wanted."""
    blocks_taken: int = 0
    blocks_compared: int = 0
    """Of those taken, how many were run again and had the same bits."""
    proofs: int = 0
    """Obligations."""
    proofs_taken: int = 0
    audits: int = 0
    """Whole audits, whose blocks were not even looked for."""
    audits_taken: int = 0
    refused: int = 0
    """Rows that were damaged or in the wrong place, so that their work was done again."""
    not_kept: int = 0
    """Results that rest on a source file which changed while the program ran."""

    def since(self, before: Reuse) -> Reuse:
        """What came after an earlier count of the same store."""
        counts = {name: count - getattr(before, name) for name, count in self if isinstance(count, int)}
        return self.but(**counts)

    def summary(self) -> str:
        """The same in one line, empty if there is nothing to say."""
        counts = (
            ("blocks", self.blocks_taken, self.blocks),
            ("proofs", self.proofs_taken, self.proofs),
            ("audits", self.audits_taken, self.audits),
        )
        taken = [f"{some} of {total} {what}" for what, some, total in counts if some]
        said = [f"{', '.join(taken)} taken from {self.store}"] if taken else []
        if self.blocks_taken:
            said.append(
                f"{self.blocks_compared} of these blocks run again, with the same bits; environment variables and "
                "files that the code opens are no part of the store's keys"
            )
        if self.refused:
            rows = f"{self.refused} damaged or misplaced row{'' if self.refused == 1 else 's'}"
            said.append(f"{rows} in {self.store} refused, and that work done again")
        if self.not_kept:
            said.append(
                f"{self.not_kept} results were not kept in {self.store}, because a source file that they depend on "
                "changed or disappeared while the program ran"
            )
        return "; ".join(said)
