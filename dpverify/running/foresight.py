"""What a run will cost, said before it starts: nobody waits for days without having asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from dpverify.checks import number
from dpverify.errors import DpverifyError

CALL_LIMIT = 10**7
"""Oracle calls of one run, by default: one after another, they take some ten minutes."""

_limit: ContextVar[float] = ContextVar("call_limit", default=CALL_LIMIT)


class TooCostlyError(DpverifyError, ValueError):
    """A run would make more oracle calls than is allowed; the message says how many, and how to allow them."""


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


def allowed() -> float:
    """How many calls of one oracle a run may make here."""
    return _limit.get()


def foresee(calls: float, what: str, unit: str = "oracle calls") -> None:
    """Refuse to start what (words that begin a sentence) would make more calls in a run than allowed."""
    limit = allowed()
    if calls > limit:
        raise TooCostlyError(
            f"{what} would make about {calls:.3g} {unit} in a run; allowed: at most {limit:.3g}, or what "
            "call_limit says."
        )


def foresee_stated(mechanism: Any, data: Any) -> None:
    """Refuse a mechanism whose `queries(n)` state too many calls; bounds are no reason: a run may stay below.

    Where it asks for all records at once (`whole_passes`), a pass over them is as good as one call.
    """
    queries, n = getattr(mechanism, "queries", None), getattr(data, "n", None)
    if not callable(queries) or not isinstance(n, int):
        return
    stated: tuple[Any, ...] = ()
    with suppress(DpverifyError):  # the run itself says what is wrong with it
        stated = tuple(queries(n))
    for one in stated:
        if one.exact and not one.expected:
            name = getattr(mechanism, "id", type(mechanism).__name__)
            passes = one.oracle == "gradient" and getattr(mechanism, "whole_passes", False)
            foresee(one.count / (n if passes else 1), f"{name} on {n} records")
