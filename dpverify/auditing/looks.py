"""Where an audit with a fixed number of runs looks: by default everywhere but at low bits."""

from __future__ import annotations

from dataclasses import dataclass

from dpverify.auditing.black_box.low_bits import LOW_BIT_SCORERS
from dpverify.auditing.black_box.scorers import DEFAULT_SCORERS
from dpverify.auditing.black_box.scores import Scorer
from dpverify.auditing.events import Direction
from dpverify.checks import require
from dpverify.errors import InvalidArgumentError

DIRECTIONS = {direction.replace(" ", "-"): direction for direction in Direction}
"""As they are named on the command line."""


@dataclass(frozen=True)
class EventFilter:
    """Which scores cut out events, and in which directions the two data sets are compared; none named: all.

    `low_bits` looks at low bits and last decimals of outputs, and at nothing else. Raises `InvalidArgumentError` for a
    name that is not known, and for scores beside low bits.
    """

    scores: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    low_bits: bool = False

    def __post_init__(self) -> None:
        """Look the names up."""
        if self.scores and self.low_bits:
            raise InvalidArgumentError("score", ", ".join(self.scores), "none with low bits")
        for option, given, known in (
            ("score", self.scores, [scorer.name for scorer in DEFAULT_SCORERS]),
            ("direction", self.directions, list(DIRECTIONS)),
        ):
            for name in given:
                require(name in known, option, name, ", ".join(known))

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """What learns the scores."""
        if self.low_bits:
            return LOW_BIT_SCORERS
        return tuple(s for s in DEFAULT_SCORERS if s.name in self.scores or not self.scores)

    @property
    def compared(self) -> tuple[Direction, ...]:
        """In which directions."""
        return tuple(DIRECTIONS[name] for name in self.directions) or tuple(Direction)
