"""What a run will cost, said before it starts: nobody waits for days without having asked for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from dpverify.checks import number
from dpverify.errors import DpverifyError, DpverifyWarning

CALL_LIMIT = 10**7
"""Oracle calls of one run, by default, where a call takes `USUAL_CALL`; of quicker ones, as many as take as long."""

USUAL_CALL = 6e-5
"""Seconds that one oracle call and what belongs to it take with NumPy, one after another."""

LONG = 60.0
"""Seconds of one run from which on it is said beforehand how long it takes."""

_limit: ContextVar[float | None] = ContextVar("call_limit", default=None)


class TooCostlyError(DpverifyError, ValueError):
    """A run would make more oracle calls than is allowed; the message says how many, and how to allow them."""


class LongRunWarning(DpverifyWarning):
    """A run that is allowed takes long; the message says how long, from its calls."""


@contextmanager
def call_limit(calls: float) -> Iterator[None]:
    """Allow runs that make so many oracle calls each, within this context.

    Args:
        calls: of one run and one oracle, at least 1; infinite to allow any number.

    Raises:
        InvalidArgumentError: for anything else.
    """
    token = _limit.set(
        number("call_limit", calls, at_least=1, finite=False, allowed="a number of at least 1")
    )
    try:
        yield
    finally:
        _limit.reset(token)


def allowed() -> float | None:
    """How many calls of one oracle a run may make here; None: as many as take as long as `CALL_LIMIT` usual ones."""
    return _limit.get()


def foresee(
    calls: float, what: str, unit: str = "oracle calls", *, seconds_a_call: float = USUAL_CALL
) -> str:
    """Refuse to start what (words that begin a sentence) would make more calls in a run than allowed.

    Returns:
        What it would make, and how long that takes with NumPy alone, as a sentence without its end.
    """
    limit = allowed()
    if limit is None:
        limit = CALL_LIMIT * USUAL_CALL / seconds_a_call
    foreseen = (
        f"{what} would make about {calls:.3g} {unit} in a run, which take {_about(calls * seconds_a_call)}"
    )
    if calls > limit:
        raise TooCostlyError(f"{foreseen}; allowed: at most {limit:.3g}, or what call_limit says.")
    return foreseen


def _about(seconds: float) -> str:
    """A time with two digits, in the largest unit that fits."""
    for unit, size in (("years", 365.25 * 86400), ("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"about {seconds / size:.2g} {unit}"
    return f"about {seconds:.2g} seconds"


def foresee_stated(mechanism: Any, data: Any) -> None:
    """Refuse a mechanism whose `queries(n)` state too many calls; bounds are no reason: a run may stay below.

    One that takes long all the same says so, in a `LongRunWarning`. How long a call takes is its `seconds_a_call`.
    """
    queries, n = getattr(mechanism, "queries", None), getattr(data, "n", None)
    if not callable(queries) or not isinstance(n, int):
        return
    stated: tuple[Any, ...] = ()
    with suppress(DpverifyError):  # the run itself says what is wrong with it
        stated = tuple(queries(n))
    counts = [float(one.count) for one in stated if one.exact and not one.expected]
    if not counts:
        return
    # a step asks each oracle once
    most, seconds = max(counts), float(getattr(mechanism, "seconds_a_call", USUAL_CALL))
    name = getattr(mechanism, "id", type(mechanism).__name__)
    foreseen = foresee(most, f"{name} on {n} records", seconds_a_call=seconds)
    if most * seconds >= LONG:
        warnings.warn(f"{foreseen} with NumPy alone.", LongRunWarning, stacklevel=3)
