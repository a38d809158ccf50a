"""Work that is counted, so that no answer depends on how fast a machine is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from dpverify.formulas.expressions import TooLargeError


@dataclass
class Meter:
    """What is left of an attempt's steps, and whether a wall-clock guard has ended some of its work."""

    left: int
    stopped_by_the_clock: bool = False


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


class EffortSpentError(TooLargeError):
    """The steps of one attempt are used up."""


@contextmanager
def limited(steps: int) -> Iterator[Meter]:
    """Let the algebra and the evaluations inside take so many steps; without this they are not limited."""
    meter = Meter(steps)
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def spend(steps: int) -> None:
    """Count some steps; `EffortSpentError` where there are none left."""
    meter = _METER.get()
    if meter is not None:
        meter.left -= steps
        if meter.left < 0:
            raise EffortSpentError("the limit on steps of algebra and evaluation was reached")


def note_the_clock() -> None:
    """Note that a wall-clock guard has ended some work of the attempt in progress."""
    meter = _METER.get()
    if meter is not None:
        meter.stopped_by_the_clock = True
