"""Optimizers that see their losses only through a proxy oracle (Menart and Nikolov, Algorithms 1 and 2).

A round: the optimizer hands over a batch of queries (point, record); a true oracle answers each of them with a
value and a gradient; the proxy oracle turns all of these answers into one message, and the message is all that
the optimizer sees. Within a batch nothing may depend on an answer to it. What a run costs is the number of true
oracle calls.

`Interaction` keeps these rules and counts: a batch takes queries until its message is asked for, and none
afterwards; there is one message a batch; batches follow one another. Everything is done for a whole batch of
independent runs at once; the word `batch` is the paper's, and means the queries of one run in one round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.conditions import admitted, given_up, normalized_start
from dpverify.algorithms.contract import Guarantees
from dpverify.algorithms.mn25.oracle_handles import (
    AdaptiveQueryError,
    DeclaredUse,
    OracleHandle,
    UseCounts,
    handle_of,
)
from dpverify.algorithms.promises import StatedQueries
from dpverify.algorithms.steps.projected_steps import records as records_of
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import number, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, Adjacency, Guarantee, StatedGuarantee, compose, for_group, zCDP
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array


@dataclass(frozen=True, eq=False)
class _Asked:
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


class _Records:
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

    def __init__(self, interaction: Interaction, asked: Sequence[_Asked], records: _Records) -> None:
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
            gradient = self._interaction.problem.loss.gradient(points, x, y)
            if made is not None:
                gradient = gradient * self._interaction.xp.astype(made, gradient.dtype)[:, None]
            yield gradient

    def values(self) -> Iterator[Array]:
        """One loss a run for each query, shape (runs,); 0 where a run does not make the query."""
        for points, x, y, made in self._queries():
            value = self._interaction.problem.loss.value(points, x, y)
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


@dataclass(frozen=True)
class GaussianOracle:
    """Answers with the batch's mean gradient and N(0, sigma^2 I).

    rho-zCDP with respect to one gradient of a batch of m, rho = (s / m)^2 / (2 sigma^2), where s = 2 L bounds how
    far apart two gradients are.

    Attributes:
        noise_stddev: sigma, in loss over length.
    """

    noise_stddev: float

    def __post_init__(self) -> None:
        number("noise_stddev", self.noise_stddev, at_least=0, allowed="a finite number of at least 0")

    def respond(self, answers: FirstOrder, *, rng: Randomness) -> Array:
        """Shape (runs, d)."""
        mean = answers.mean_gradient()
        runs, d = mean.shape
        noise = rng.normal((d, runs), "noise")
        noise *= self.noise_stddev
        mean += noise.T
        return mean

    def message_guarantee(self, sensitivity: float, batch: int) -> GDP | None:
        """(s / (m sigma))-GDP, which implies the zCDP above."""
        if self.noise_stddev == 0:
            return None
        return GDP(sensitivity / (batch * self.noise_stddev))


@dataclass(frozen=True)
class TrueOracle:
    """Answers with the batch's mean gradient itself: no privacy."""

    def respond(self, answers: FirstOrder, *, rng: Randomness) -> Array:
        """Shape (runs, d)."""
        return answers.mean_gradient()

    def message_guarantee(self, sensitivity: float, batch: int) -> None:
        """None."""
        return


class Batch:
    """One round's queries: it takes queries until the message is asked for, and none afterwards."""

    def __init__(self, interaction: Interaction) -> None:
        self._interaction = interaction
        self._asked: list[_Asked] = []
        self._answered = False

    def ask(self, points: Array, records: Array, *, made: Array | None = None) -> Batch:
        """Hand over queries. The points are copied, so that nothing done to them later matters.

        Args:
            points: shape (runs, d), for queries that are all made at one point, or (runs, m, d).
            records: integers from 0 to n - 1, shape (m,) for the same records in every run, or (runs, m).
            made: booleans, shape (runs, m): which of the queries a run makes; all if None.

        Raises:
            AdaptiveQueryError: if the batch was answered already.
            InvalidArgumentError: if the shapes do not fit or there is no such record.
        """
        if self._answered:
            raise AdaptiveQueryError(
                "The message for this batch has been released, and a further query could depend on it. Open the next "
                "batch."
            )
        inter = self._interaction
        xp, runs = inter.xp, inter.runs
        indices = np.asarray(records)
        if (
            indices.dtype.kind not in "iu"
            or indices.ndim not in (1, 2)
            or not np.all((indices >= 0) & (indices < inter.n))
        ):
            raise InvalidArgumentError("records", records, f"integers from 0 to {inter.n - 1}")
        if indices.ndim == 1:
            indices = np.broadcast_to(indices, (runs, indices.shape[0]))
        d = inter.problem.constraint.dimension
        shapes = ((runs, d), (runs, indices.shape[1], d))
        if indices.shape[0] != runs or tuple(points.shape) not in shapes:
            raise InvalidArgumentError("points", tuple(points.shape), f"shape {shapes[0]} or {shapes[1]}")
        if made is not None and tuple(made.shape) != indices.shape:
            raise InvalidArgumentError("made", tuple(made.shape), f"booleans of shape {indices.shape}")
        copied = xp.asarray(points, copy=True)
        kept = None if made is None else xp.asarray(made, dtype=xp.bool, copy=True)
        self._asked.append(_Asked(copied, xp.asarray(indices), kept))
        return self

    def answer(self) -> Array:
        """The proxy oracle's message Y_t; the true oracle is called once for every query.

        Raises:
            AdaptiveQueryError: if it was given already: a second one would carry fresh noise.
        """
        if self._answered:
            raise AdaptiveQueryError("There is one message per batch, and it has been released.")
        self._answered = True
        return self._interaction.answer_of(self._asked)


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
        declared: DeclaredUse | None = None,
    ) -> None:
        if not isinstance(oracle, ProxyOracle):
            raise InvalidArgumentError("oracle", oracle, "a ProxyOracle")
        self.problem = problem
        self.n = data.n
        self.runs = runs
        self.rng = rng
        self.xp = rng.xp
        self.rounds = 0
        """Batches answered so far."""
        self.largest_batch_seen = 0
        self._oracle = oracle
        self._largest_batch = largest_batch
        self._records = _Records(*records_of(data, problem, rng.xp), rng.xp)
        self._declared = declared
        self._uses = None if declared is None else UseCounts(runs, data.n, declared)
        self._calls = np.zeros(runs, dtype=np.int64)
        self._projections = 0
        self._open: Batch | None = None
        self._points: list[Array] | None = [] if remember_points else None

    def batch(self) -> Batch:
        """Open the next round.

        Raises:
            AdaptiveQueryError: if the last one was not answered yet.
        """
        if self._open is not None:
            raise AdaptiveQueryError("The last batch has not been answered; batches follow one another.")
        self._open = Batch(self)
        return self._open

    def answer_of(self, asked: Sequence[_Asked]) -> Array:
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
            raise InvalidArgumentError("declared", None, "a DeclaredUse, to count the uses of records")
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


def _distinct_query_points(asked: Sequence[_Asked]) -> list[Array]:
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


@runtime_checkable
class Optimizer(Protocol):
    """The optimizer of Algorithm 1. What it declares is enforced: a batch that breaks it is not answered."""

    def __call__(self, handle: OracleHandle, start: Array) -> Array:
        """Release one point for each run, shape (runs, d), having started from points of that shape."""

    def uses(self, n: int) -> tuple[int, int] | None:
        """(rounds, copies): one record is in at most so many batches, at most so often in each; None: unknown."""

    def batch_size(self, n: int) -> int:
        """The size of every batch, in every run."""

    def round_count(self, n: int) -> int:
        """How many batches there are, at most."""


@dataclass(frozen=True)
class CyclicDescent:
    """Projected descent along the messages; batch after batch takes the next m records, round and round.

    Attributes:
        rounds: T.
        size: m, the batch size, at most n.
        rate: step size, length^2 over loss.
    """

    rounds: int
    size: int
    rate: float

    def __post_init__(self) -> None:
        whole_number("rounds", self.rounds, at_least=1)
        whole_number("size", self.size, at_least=1)
        number("rate", self.rate, above=0, allowed="a finite number above 0")

    def batch_size(self, n: int) -> int:
        """The m records of a batch are different ones.

        Raises:
            InvalidArgumentError: if there are fewer than m.
        """
        return whole_number("size", self.size, at_least=1, at_most=n)

    def round_count(self, n: int) -> int:
        """T."""
        return self.rounds

    def uses(self, n: int) -> tuple[int, int]:
        """Each record at most ceil(T m / n) times, once in a batch."""
        return -(-self.rounds * self.batch_size(n) // n), 1

    def __call__(self, handle: OracleHandle, start: Array) -> Array:
        """The point after the last step."""
        w, n = start, handle.n
        positions = np.arange(self.batch_size(n))
        for t in range(self.rounds):
            message = handle.ask(w, (t * self.size + positions) % n).answer()
            w = handle.project(w - self.rate * message)
        return w


@dataclass(frozen=True)
class PrivateOracleMethod(Weakenable):
    """mn25, Algorithms 1 and 2: an optimizer that talks to a proxy oracle, and sees nothing else of the data.

    Guarantee (replace-one, both directions): a message is private with respect to one of its gradients
    (`oracle_guarantee`). A record that is in at most k batches, at most c times in each, costs k such messages
    for groups of c, composed adaptively; that is what `guarantees` states, for optimizers that know k and c. Both
    are counted in every run, and a batch that exceeds them, or is not of the size that was declared, is not answered.
    What is asked next may depend on all messages: between two uses of a record nothing depends on it but messages.

    Assumptions: losses whose gradients at two records differ by at most `gradient_sensitivity`; nothing else.

    Attributes:
        problem: loss and constraint set.
        oracle: the proxy oracle.
        optimizer: the optimizer.
        start: where it starts, d numbers; the set's center if None.
        withdraw_guarantee: run even if there is no guarantee; `withdrawn` then says why.

    Examples:
        >>> from dpverify.algorithms.mn25 import PrivateOracleMethod
        >>> from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle
        >>> from dpverify.problems import Ball, Logistic, Problem, load
        >>> from dpverify.running import run
        >>> data, problem = load("breast-cancer", n=50, d=2), Problem(Logistic(), Ball(2, 1.0))
        >>> method = PrivateOracleMethod(problem, GaussianOracle(noise_stddev=0.5), CyclicDescent(10, 5, 0.5))
        >>> print(method.oracle_guarantee(data.n), "of each message on 5 records")
        0.32-zCDP of each message on 5 records
        >>> print(method.guarantees(data.n).headline)  # each record is in one of the 10
        0.8-GDP (replace-one)
        >>> outputs = run(method, data, runs=3, seed=0)
        >>> outputs.points.shape, outputs.gradient_queries.tolist()
        ((3, 2), [50, 50, 50])
    """

    problem: Problem
    oracle: ProxyOracle
    optimizer: Optimizer
    start: Sequence[float] | None = None
    withdraw_guarantee: bool = False

    id: ClassVar[str] = "mn25.alg1"
    hands_over: ClassVar[str] = "all runs"
    statements: ClassVar[tuple[str, ...]] = ("mn25.thm1.1", "mn25.thm1.2", "mn25.prelim")

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InvalidArgumentError: if a parameter is outside of what is allowed.
        """
        if not isinstance(self.problem, Problem):
            raise InvalidArgumentError("problem", self.problem, "a dpverify.problems.Problem")
        if not isinstance(self.oracle, ProxyOracle):
            raise InvalidArgumentError("oracle", self.oracle, "a ProxyOracle")
        if not isinstance(self.optimizer, Optimizer):
            raise InvalidArgumentError("optimizer", self.optimizer, "an Optimizer")
        if not isinstance(self.withdraw_guarantee, bool):
            raise InvalidArgumentError("withdraw_guarantee", self.withdraw_guarantee, "True or False")
        object.__setattr__(self, "start", normalized_start(self.start, self.problem.constraint))

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why there is no guarantee for n records; empty if there is one."""
        whole_number("n", n, at_least=1)
        reasons: list[str] = []
        if self.optimizer.uses(n) is None:
            reasons.append("the optimizer does not bound how often it asks about one record")
        if self._message(n) is None:
            reasons.append("the oracle's messages are not private")
        return (*reasons, *given_up(self.withdraw_guarantee))

    def declared_use(self, n: int) -> DeclaredUse:
        """What the optimizer is held to for n records."""
        uses = self.optimizer.uses(n)
        rounds, copies = (None, 1) if uses is None else uses
        return DeclaredUse(self.optimizer.batch_size(n), self.optimizer.round_count(n), rounds, copies)

    def _message(self, n: int) -> Guarantee | None:
        return self.oracle.message_guarantee(
            self.problem.constants.gradient_sensitivity, self.optimizer.batch_size(n)
        )

    def oracle_guarantee(self, n: int) -> zCDP | None:
        """rho-zCDP of one message with respect to one gradient of its batch.

        None if it is not Gaussian, or the guarantee was withdrawn.
        """
        message = None if self.withdraw_guarantee else self._message(n)
        return zCDP(message.mu**2 / 2) if isinstance(message, GDP) else None

    def guarantees(self, n: int) -> Guarantees:
        """Of the whole interaction, all messages included; none if it was withdrawn."""
        whole_number("n", n, at_least=1)
        message, declared = self._message(n), self.declared_use(n)
        if self.withdraw_guarantee or message is None or declared.batches_a_record is None:
            return Guarantees()
        whole = compose([for_group(message, declared.copies)] * declared.batches_a_record)
        return Guarantees(StatedGuarantee(whole, Adjacency.REPLACE_ONE, sources=("mn25.prelim",)))

    def gradient_query_count(self, n: int) -> int:
        """True oracle calls: T m, in every run."""
        return self.optimizer.round_count(n) * self.optimizer.batch_size(n)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """True oracle calls."""
        whole_number("n", n, at_least=1)
        return (StatedQueries("gradient", self.gradient_query_count(n), sources=("mn25.prelim",)),)

    def risk_bound(self, n: int) -> None:
        """None: that is up to the optimizer."""
        return

    def interact(
        self, data: Dataset, *, rng: Randomness, runs: int, remember_points: bool = False
    ) -> tuple[Interaction, Array]:
        """Run; the interaction with its counts, and the points released, shape (runs, d).

        Raises:
            NotGuaranteedError: if there is no guarantee and it was not withdrawn.
            AdaptiveQueryError: if the optimizer asks for what it did not declare.
        """
        data = admitted(self, data)
        interaction = Interaction(
            self.problem,
            data,
            self.oracle,
            rng=rng,
            runs=runs,
            remember_points=remember_points,
            declared=self.declared_use(data.n),
        )
        return interaction, self.optimizer(interaction.handle(), begin(self.start, runs, rng))

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        interaction, points = self.interact(data, rng=rng, runs=runs)
        return interaction.output(points)


def begin(start: Sequence[float] | None, runs: int, rng: Randomness) -> Array:
    """The starting point in every run, shape (runs, d), kept column by column."""
    xp = rng.xp
    point = xp.asarray(start, dtype=xp.float64)
    return (point[:, None] + xp.zeros((point.shape[0], runs), dtype=xp.float64)).T
