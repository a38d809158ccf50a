"""What an optimizer gets to see of a data set: a handle, and the limits that its requests are held to.

The handle asks, gets answers and projects. Its attributes hold functions and plain numbers, no data set, no loss and
no random numbers of the oracle's. Python cannot keep code in the same process from looking into a function's closure
or the garbage collector's lists: this guards against what an optimizer's public means allow, not against that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from dpverify.checks import whole_number
from dpverify.errors import DpverifyError
from dpverify.running import Randomness
from dpverify.running.randomness import Array

_MOST_BATCHES = 10**6
"""So many messages about one record are composed at most."""


class AdaptiveQueryError(DpverifyError, RuntimeError):
    """A query that could depend on an answer to its own batch, or another breach of the protocol."""


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class OracleHandle:
    """An optimizer's only way to the records: queries go in by `ask`, a message about them comes out of `answer`.

    Attributes:
        n: how many records there are.
        runs: how many runs are made at once.
    """

    n: int
    runs: int
    _ask: Callable[[Array, Array, Array | None], None]
    _answer: Callable[[], Array]
    _project: Callable[[Array], Array]
    _own_rng: Callable[[], Randomness]

    def ask(self, points: Array, records: Array, *, made: Array | None = None) -> OracleHandle:
        """Hand over queries of the round at hand; several calls add to one batch. All that is handed over is copied.

        Args:
            points: shape (runs, d), for queries that are all made at one point, or (runs, m, d); points where the
                loss's gradient sensitivity holds.
            records: integers from 0 to n - 1, shape (m,) for the same records in every run, or (runs, m).
            made: booleans, shape (runs, m): which of the queries a run makes; all if None.

        Raises:
            InvalidArgumentError: if the shapes do not fit, there is no such record, or a point is outside.
            AdaptiveQueryError: if the interaction is over.
        """
        self._ask(points, records, made)
        return self

    def answer(self) -> Array:
        """The proxy oracle's message about the queries so far, which ends the round; one along the first axis a run.

        Raises:
            AdaptiveQueryError: if the batch is not what was declared, or asks for a record more often than declared.
        """
        return self._answer()

    def project(self, points: Array) -> Array:
        """Project onto the constraint set, counted; shape (runs, d)."""
        return self._project(points)

    @property
    def rng(self) -> Randomness:
        """Random numbers of the optimizer's own: they say nothing about the oracle's noise."""
        return self._own_rng()


@dataclass(frozen=True)
class DeclaredUse:
    """What an optimizer declares before it runs: plain numbers, on which its guarantee rests and to which it is held.

    Attributes:
        batch: m, the size of every batch in every run; None: all n records.
        rounds: how many batches there are at most.
        batches_a_record: one record is in at most this many batches; None: not limited, and nothing is claimed. "in
            turn": batches go round and round the records, so that each is in at most ceil(rounds m / n).
        copies: one record is asked for at most this often in one batch.
    """

    batch: int | None
    rounds: int
    batches_a_record: int | Literal["in turn"] | None = None
    copies: int = 1

    def __post_init__(self) -> None:
        """Check the numbers, and keep them as plain ones: of others, comparisons say what they like.

        Raises:
            InvalidArgumentError: if one is no integer of at least 1.
        """
        for name in ("batch", "rounds", "batches_a_record", "copies"):
            value = getattr(self, name)
            if type(value) is str and name == "batches_a_record" and value == "in turn":
                continue
            if value is not None or name in ("rounds", "copies"):
                object.__setattr__(self, name, whole_number(name, value))

    def on(self, n: int) -> OracleLimits:
        """The numbers for n records.

        Raises:
            InvalidArgumentError: if batches that take records in turn have more of them than there are, or a record is
                in more than a million.
        """
        batch, uses = n if self.batch is None else self.batch, self.batches_a_record
        if uses == "in turn":
            whole_number("batch", batch, at_most=n)
            uses = -(-self.rounds * batch // n)
        if uses is not None:
            whole_number("batches a record", uses, at_most=_MOST_BATCHES)
        return OracleLimits(batch, self.rounds, uses, self.copies)


class OracleLimits(NamedTuple):
    """A `DeclaredUse` for a number of records."""

    batch: int
    rounds: int
    batches_a_record: int | None
    copies: int


class UseCounts:
    """How often each run asked for each record, held to what was declared."""

    def __init__(self, runs: int, n: int, declared: OracleLimits) -> None:
        self.batches = np.zeros((runs, n), dtype=np.int32)
        """In how many batches each record was, shape (runs, n)."""
        self._declared = declared

    def add(self, records: Sequence[Array], made: Sequence[Array | None], size: int | Array) -> None:
        """Count a batch before it is answered: records (runs, m) of each request, and which of them each run makes.

        `size` is one number or one for each run.
        """
        declared = self._declared
        if np.any(np.asarray(size) != declared.batch):
            raise AdaptiveQueryError(
                f"A batch has {np.max(np.asarray(size))} queries in some run, where {declared.batch} in every run "
                "were declared."
            )
        runs = np.arange(self.batches.shape[0])
        copies = np.zeros_like(self.batches)
        for asked, which in zip(records, made, strict=True):
            numbers = np.asarray(asked)
            for k in range(numbers.shape[1]):
                copies[runs, numbers[:, k]] += 1 if which is None else np.asarray(which)[:, k]
        after, most = self.batches + (copies > 0), np.max(copies, initial=0)
        if declared.batches_a_record is not None:
            if most > declared.copies:
                raise AdaptiveQueryError(
                    f"One batch asks for a record {most} times, where {declared.copies} was declared."
                )
            if np.max(after, initial=0) > declared.batches_a_record:
                raise AdaptiveQueryError(
                    f"A record is in {np.max(after)} batches, where {declared.batches_a_record} was declared."
                )
        self.batches = after
