"""The interaction of an optimizer with a proxy oracle (Menart and Nikolov, Algorithms 1 and 2), for many runs at once.

A round: the optimizer hands over a batch of queries (point, record); a true oracle answers each of them with a
value and a gradient; the proxy oracle turns all of these answers into one message, and the message is all that
the optimizer sees. Within a batch nothing may depend on an answer to it. What a run costs is the number of true
oracle calls.

`Interaction` keeps these rules and counts: a batch takes queries until its message is asked for, and none
afterwards; there is one message a batch; batches follow one another; points are those where the loss's constants
hold. Everything is done for a whole batch of independent runs at once; the word `batch` is the paper's, and means the
queries of one run in one round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.mn25.oracle_handles import (
    AdaptiveQueryError,
    OracleHandle,
    OracleLimits,
    UseCounts,
    handle_of,
)
from dpverify.algorithms.steps.projected_steps import records as records_of
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import Guarantee
from dpverify.problems import Dataset, Problem
from dpverify.problems.problem import GuardedOracle
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array


@dataclass(frozen=True, eq=False)
class _AskedBatch:
    """Queries handed over in one go."""

    points: Array
    """Shape (runs, d) if all queries of a run are at one point, else (runs, m, d)."""
    records: Array
    """From 0, shape (runs, m)."""
    made: Array | None
    """Which of them a run makes, booleans, shape (runs, m); all if None."""

    @property
    def size(self) -> int:
        return int(self.records.shape[1])


class _RecordArrays:
    """The true oracle's own view of the records."""

    def __init__(self, features: Array, labels: Array, xp: Any) -> None:
        # column by column, which is what gathering one record for each run reads
        self._columns = xp.asarray(features.T, copy=True)
        self._labels = labels
        self._xp = xp

    def look_up(self, records: Array) -> tuple[Array, Array]:
        """Features (runs, d) and labels (runs,) of one record for each run."""
        xp = self._xp
        return xp.take(self._columns, records, axis=1).T, xp.take(self._labels, records, axis=0)


class FirstOrder:
    """What the true oracle answers to one batch: G_t of Algorithm 2. Only a proxy oracle gets to see it.

    Attributes:
        count: M_t, the queries each run made; an integer if it is the same for all, else shape (runs,).
    """

    def __init__(
        self, interaction: Interaction, asked: Sequence[_AskedBatch], records: _RecordArrays
    ) -> None:
        self._interaction = interaction
        self._records = records
        self._asked = tuple(asked)
        common = sum(part.size for part in asked if part.made is None)
        own = [np.sum(np.asarray(part.made), axis=1) for part in asked if part.made is not None]
        self.count: int | NDArray[np.int64] = (
            np.asarray(common + np.sum(np.stack(own), axis=0), dtype=np.int64) if own else common
        )

    def _queries(self) -> Iterator[tuple[Array, Array, Array, Array | None]]:
        """Query by query: points (runs, d), features (runs, d), labels (runs,), and which runs make it."""
        for part in self._asked:
            for k in range(part.size):
                points = part.points if part.points.ndim == 2 else part.points[:, k, :]
                x, y = self._records.look_up(part.records[:, k])
                yield points, x, y, None if part.made is None else part.made[:, k]

    def gradients(self) -> Iterator[Array]:
        """One (sub)gradient a run for each query, shape (runs, d); 0 where a run does not make the query."""
        for points, x, y, made in self._queries():
            gradient = self._interaction.true_oracle.gradient(points, x, y)
            if made is not None:
                gradient = gradient * self._interaction.xp.astype(made, gradient.dtype)[:, None]
            yield gradient

    def values(self) -> Iterator[Array]:
        """One loss a run for each query, shape (runs,); 0 where a run does not make the query."""
        for points, x, y, made in self._queries():
            value = self._interaction.true_oracle.value(points, x, y)
            yield value if made is None else value * self._interaction.xp.astype(made, value.dtype)

    def mean_gradient(self) -> Array:
        """Mean over the queries that each run made, shape (runs, d); 0 where there was none."""
        xp = self._interaction.xp
        shape = self._interaction.problem.constraint.dimension, self._interaction.runs
        total = xp.zeros(shape, dtype=xp.float64).T
        for gradient in self.gradients():
            total += gradient
        if isinstance(self.count, int):
            return total / max(self.count, 1)
        return total / xp.asarray(np.maximum(self.count, 1), dtype=xp.float64)[:, None]


@runtime_checkable
class ProxyOracle(Protocol):
    """A response function of Algorithm 2; whatever else it knows (side information) are its fields."""

    def respond(self, answers: FirstOrder, *, rng: Randomness) -> Array:
        """The message Y_t, one for each run along the first axis."""

    def message_guarantee(self, sensitivity: float, batch: int) -> Guarantee | None:
        """Privacy of a message when one of the batch's gradients is replaced; None if it has none.

        Args:
            sensitivity: by how much a replaced gradient can differ, in loss over length.
            batch: how many gradients there are.
        """


class Batch:
    """One round's queries: it takes queries until the message is asked for, and none afterwards."""

    def __init__(self, interaction: Interaction) -> None:
        self._interaction = interaction
        self._asked: list[_AskedBatch] = []
        self._answered = False

    def ask(self, points: Array, records: Array, *, made: Array | None = None) -> Batch:
        """Hand over queries. All of it is copied, so that nothing done to it later matters.

        Args:
            points: shape (runs, d), for queries that are all made at one point, or (runs, m, d).
            records: integers from 0 to n - 1, shape (m,) for the same records in every run, or (runs, m).
            made: booleans, shape (runs, m): which of the queries a run makes; all if None.

        Raises:
            AdaptiveQueryError: if the batch was answered already, or the interaction is over.
            InvalidArgumentError: if the shapes do not fit, there is no such record, or a point is outside of where
                the gradient sensitivity holds.
        """
        inter = self._interaction
        inter.check_open()
        if self._answered:
            raise AdaptiveQueryError(
                "The message for this batch has been released, and a further query could depend on it. Open the next "
                "batch."
            )
        xp, runs = inter.xp, inter.runs
        indices = np.array(records)
        if (
            indices.dtype.kind not in "iu"
            or indices.ndim not in (1, 2)
            or not np.all((indices >= 0) & (indices < inter.n))
        ):
            raise InvalidArgumentError("records", records, f"integers from 0 to {inter.n - 1}")
        if indices.ndim == 1:
            indices = np.broadcast_to(indices, (runs, indices.shape[0]))
        copied = own_numbers(points, xp)
        d = inter.problem.constraint.dimension
        shapes = ((runs, d), (runs, indices.shape[1], d))
        if indices.shape[0] != runs or tuple(copied.shape) not in shapes:
            raise InvalidArgumentError("points", tuple(copied.shape), f"shape {shapes[0]} or {shapes[1]}")
        kept = None if made is None else xp.asarray(made, dtype=xp.bool, copy=True)
        if kept is not None and tuple(kept.shape) != indices.shape:
            raise InvalidArgumentError("made", tuple(kept.shape), f"booleans of shape {indices.shape}")
        if copied.ndim == 2:
            copied = inter.true_oracle.admitted(copied)
        else:
            for k in range(copied.shape[1]):
                copied[:, k, :] = inter.true_oracle.admitted(copied[:, k, :])
        self._asked.append(_AskedBatch(copied, xp.asarray(indices, dtype=xp.int64, copy=True), kept))
        return self

    def answer(self) -> Array:
        """The proxy oracle's message Y_t; the true oracle is called once for every query.

        Raises:
            AdaptiveQueryError: if it was given already, as a second one would carry fresh noise; or if the
                interaction is over.
        """
        self._interaction.check_open()
        if self._answered:
            raise AdaptiveQueryError("There is one message per batch, and it has been released.")
        self._answered = True
        return self._interaction.answer_of(self._asked)


def own_numbers(points: Any, xp: Any) -> Array:
    """A copy in 64-bit floats.

    Raises:
        InvalidArgumentError: for anything but an array of real numbers.
    """
    try:
        copied = xp.asarray(points, copy=True)
        real = bool(xp.isdtype(copied.dtype, ("integral", "real floating")))
    except (TypeError, ValueError):
        real = False
    if not real:
        raise InvalidArgumentError("points", points, "an array of real numbers")
    return xp.astype(copied, xp.float64, copy=False)


class Interaction:
    """Algorithm 1 with one proxy oracle, for a whole batch of runs.

    It belongs to whoever runs an optimizer; an optimizer that is not trusted gets `handle()`.

    Args:
        problem: loss and constraint set.
        data: n records.
        oracle: the proxy oracle.
        rng: every random number of the oracle and the optimizer comes from it.
        runs: how many.
        largest_batch: refuse larger batches, the paper's m-bar; any size if None.
        remember_points: keep all query points, for `unique_points`.
        declared: what batches are held to, and record uses counted for; not counted if None.
    """

    def __init__(
        self,
        problem: Problem,
        data: Dataset,
        oracle: ProxyOracle,
        *,
        rng: Randomness,
        runs: int,
        largest_batch: int | None = None,
        remember_points: bool = False,
        declared: OracleLimits | None = None,
    ) -> None:
        if not isinstance(oracle, ProxyOracle):
            raise InvalidArgumentError("oracle", oracle, "a ProxyOracle")
        self.problem = problem
        self.true_oracle = GuardedOracle(problem)
        self.n = data.n
        self.runs = runs
        self.rng = rng
        self.xp = rng.xp
        self.rounds = 0
        """Batches answered so far."""
        self.largest_batch_seen = 0
        self._oracle = oracle
        self._largest_batch = largest_batch
        self._records = _RecordArrays(*records_of(data, problem, rng.xp), rng.xp)
        self._declared = declared
        self._uses = None if declared is None else UseCounts(runs, data.n, declared)
        self._calls = np.zeros(runs, dtype=np.int64)
        self._projections = 0
        self._open: Batch | None = None
        self._over = False
        self._points: list[Array] | None = [] if remember_points else None

    def batch(self) -> Batch:
        """Open the next round.

        Raises:
            AdaptiveQueryError: if the last one was not answered yet.
        """
        self.check_open()
        if self._open is not None:
            raise AdaptiveQueryError("The last batch has not been answered; batches follow one another.")
        self._open = Batch(self)
        return self._open

    def check_open(self) -> None:
        """Refuse queries after the end.

        Raises:
            AdaptiveQueryError: if it is over.
        """
        if self._over:
            raise AdaptiveQueryError("The interaction is over: its points were released.")

    def close(self) -> None:
        """End it: no query is taken or answered afterwards, even through a handle that was kept."""
        self._over = True

    def answer_of(self, asked: Sequence[_AskedBatch]) -> Array:
        """What `Batch.answer` returns."""
        answers = FirstOrder(self, asked, self._records)
        size = int(np.max(answers.count)) if self.runs else 0
        if self._largest_batch is not None and size > self._largest_batch:
            raise InvalidArgumentError("batch size", size, f"at most {self._largest_batch}")
        if self._declared is not None and self._uses is not None:
            if self.rounds == self._declared.rounds:
                raise AdaptiveQueryError(
                    f"There is one batch more than the {self.rounds} that were declared."
                )
            self._uses.add([part.records for part in asked], [part.made for part in asked], answers.count)
        self._open = None
        self.rounds += 1
        self.largest_batch_seen = max(self.largest_batch_seen, size)
        # one call a query, whatever the proxy oracle then reads of the answers
        self._calls += answers.count
        if self._points is not None:
            self._points += _distinct_query_points(asked)
        return self._oracle.respond(answers, rng=self.rng)

    def project(self, points: Array) -> Array:
        """Project onto the constraint set, counted."""
        self._projections += 1
        return self.problem.constraint.project(points, overwrite=True)

    def handle(self) -> OracleHandle:
        """What an optimizer is given; all its handles share one protocol."""
        return handle_of(
            n=self.n, runs=self.runs, open_batch=self.batch, project=_projection(self), rng=self.rng
        )

    @property
    def record_uses(self) -> NDArray[np.int64]:
        """In how many batches each run had each record so far, shape (runs, n).

        Raises:
            InvalidArgumentError: if nothing was declared, so that nothing was counted.
        """
        if self._uses is None:
            raise InvalidArgumentError(
                "declared", None, "a DeclaredUse's limits, to count the uses of records"
            )
        return self._uses.batches.astype(np.int64)

    @property
    def true_oracle_calls(self) -> NDArray[np.int64]:
        """Of each run so far, the sum of its batch sizes; shape (runs,)."""
        return self._calls.copy()

    def unique_points(self) -> NDArray[np.int64]:
        """How many different points each run queried, the paper's T-bar; shape (runs,).

        Raises:
            InvalidArgumentError: if points were not remembered.
        """
        if self._points is None:
            raise InvalidArgumentError("remember_points", False, "True, to count unique points")
        unique = np.zeros(self.runs, dtype=np.int64)
        stored = [np.asarray(point) for point in self._points]
        for k, point in enumerate(stored):
            seen = np.isnan(point[:, 0])
            for earlier in stored[:k]:
                seen |= np.all(point == earlier, axis=1)
            unique += ~seen
        return unique

    def output(self, points: Array) -> Output:
        """The points that the optimizer releases, with what was counted."""
        calls = self._calls
        shared = bool(self.runs and np.all(calls == calls[0]))
        return Output(
            points,
            gradient_queries=int(calls[0]) if shared else calls.copy(),
            projections=self._projections,
        )


def _projection(interaction: Interaction) -> Callable[[Array], Array]:
    """A function that projects and counts, no bound method: those have their object as an attribute."""

    def project(points: Array) -> Array:
        return interaction.project(points)

    return project


def _distinct_query_points(asked: Sequence[_AskedBatch]) -> list[Array]:
    """Points of shape (runs, d), NaN for runs that made no query there."""
    found = []
    for part in asked:
        at_one = part.points.ndim == 2
        for k in range(1 if at_one else part.size):
            point = np.array(part.points if at_one else part.points[:, k, :])
            if part.made is not None:
                made = np.asarray(part.made)
                point[~(np.any(made, axis=1) if at_one else made[:, k])] = np.nan
            elif part.size == 0:
                continue
            found.append(point)
    return found
