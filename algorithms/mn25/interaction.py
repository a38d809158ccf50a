"""The interaction of an optimizer with a proxy oracle (Menart and Nikolov, Algorithms 1 and 2), for many runs at once.

A round: the optimizer hands over a batch of queries (point, record); a true oracle answers each of them with a
value and a gradient; the proxy oracle turns all of these answers into one message, and the message is all that
the optimizer sees. Within a batch nothing may depend on an answer to it. What a run costs is the number of true
oracle calls.

`Interaction` keeps these rules and counts: queries make up a batch until its message is asked for, and the next
batch afterwards, so that there is one message a batch; points are those where the loss's constants hold. Everything
is done for a whole batch of independent runs at once; the word `batch` is the paper's, and means the queries of one
run in one round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.mn25.oracle_handles import AdaptiveQueryError, OracleHandle, OracleLimits, UseCounts
from dpverify.algorithms.steps.projected_steps import by_column
from dpverify.algorithms.steps.projected_steps import records as records_of
from dpverify.algorithms.steps.single_run import FEW, LINK_LOSSES
from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import Guarantee
from dpverify.problems import Dataset, Problem, Ridge
from dpverify.problems.problem import GuardedOracle, without_ridge
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array


class _Queries(NamedTuple):
    """Queries handed over in one go."""

    points: Array
    """Shape (runs, d) if all queries of a run are at one point, else (runs, m, d)."""
    records: Array
    """From 0, shape (runs, m)."""
    made: Array | None
    """Which of them a run makes, booleans, shape (runs, m); all if None."""


class FirstOrder:
    """What the true oracle answers to one batch: G_t of Algorithm 2. Only a proxy oracle gets to see it."""

    def __init__(self, interaction: Interaction, asked: Sequence[_Queries]) -> None:
        self._interaction = interaction
        self._asked = tuple(asked)
        common = sum(part.records.shape[1] for part in asked if part.made is None)
        own = [np.sum(np.asarray(part.made), axis=1) for part in asked if part.made is not None]
        self.count: int | NDArray[np.int64] = (
            np.asarray(common + np.sum(np.stack(own), axis=0), dtype=np.int64) if own else common
        )
        """M_t, the queries each run made; an integer if it is the same for all, else shape (runs,)."""

    def gradients(self) -> Iterator[Array]:
        """One (sub)gradient a run for each query, shape (runs, d); 0 where a run does not make the query."""
        return self._answers("gradient")

    def values(self) -> Iterator[Array]:
        """One loss a run for each query, shape (runs,); 0 where a run does not make the query."""
        return self._answers("value")

    def _answers(self, kind: str) -> Iterator[Array]:
        interaction = self._interaction
        xp, oracle = interaction.xp, getattr(interaction.true_oracle, kind)
        for points, records, made in self._asked:
            for k in range(records.shape[1]):
                here = points if points.ndim == 2 else points[:, k, :]
                answer = oracle(here, *interaction.look_up(records[:, k]))
                if made is not None:
                    shape = (-1,) + (1,) * (answer.ndim - 1)
                    answer = answer * xp.reshape(xp.astype(made[:, k], answer.dtype), shape)
                yield answer

    def mean_gradient(self) -> Array:
        """Mean over the queries that each run made, shape (runs, d); 0 where there was none."""
        xp = self._interaction.xp
        total = self._total_at_once()
        if total is None:
            total = xp.zeros((self.dimension, self._interaction.runs), dtype=xp.float64).T
            for gradient in self.gradients():
                total += gradient
        if isinstance(self.count, int):
            return total / max(self.count, 1)
        return total / xp.asarray(np.maximum(self.count, 1), dtype=xp.float64)[:, None]

    def _total_at_once(self) -> Array | None:
        """Sum of all gradients, in a few products for few runs of a known loss; None where it is made one by one."""
        interaction = self._interaction
        loss = interaction.problem.loss
        base: Any
        base, ridge = without_ridge(loss)
        known = type(base) in LINK_LOSSES and type(loss) in (type(base), Ridge)
        common = all(part.made is None and part.points.ndim == 2 for part in self._asked)
        if interaction.xp is not np or interaction.runs > FEW or not (known and common):
            return None
        total = np.zeros((interaction.runs, self.dimension))
        for points, records, _ in self._asked:
            features = interaction.features[records]  # (runs, m, d)
            slopes = base.link_slope((features @ points[:, :, None])[:, :, 0], interaction.labels[records])
            total += (slopes[:, None, :] @ features)[:, 0, :] + records.shape[1] * ridge * points
        return total

    @property
    def dimension(self) -> int:
        """The number d of coordinates of a gradient."""
        return self._interaction.problem.constraint.dimension

    def noisy_mean_gradient(self, stddev: float, rng: Randomness) -> Array:
        """The mean gradient and N(0, stddev^2 I), shape (runs, d)."""
        mean = self.mean_gradient()
        noise = rng.normal(mean.shape[::-1], "noise")
        noise *= stddev
        mean += noise.T
        return mean


@runtime_checkable
class ProxyOracle(Protocol):
    """A response function of Algorithm 2; whatever else it knows (side information) are its fields."""

    def respond(self, answers: FirstOrder, *, rng: Randomness) -> Array:
        """The message Y_t, one for each run along the first axis."""

    def message_guarantee(self, sensitivity: float, batch: int) -> Guarantee | None:
        """Privacy of a message when one of the batch's gradients is replaced; None if it has none.

        The sensitivity is by how much a replaced gradient can differ, in loss over length.
        """


def own_numbers(points: Any, xp: Any) -> Array:
    """A copy of an array of real numbers, in 64-bit floats; anything else is refused."""
    try:
        copied = xp.asarray(points, copy=True)
        real = bool(xp.isdtype(copied.dtype, ("integral", "real floating")))
    except (TypeError, ValueError):
        real = False
    require(real, "points", points, "an array of real numbers")
    return xp.astype(copied, xp.float64, copy=False)


class Interaction:
    """Algorithm 1 with one proxy oracle, for a whole batch of runs.

    It belongs to whoever runs an optimizer; an optimizer that is not trusted gets `handle()`. Every random number of
    the oracle and the optimizer comes from `rng`. Batches are held to what was `declared`, and record uses counted; not
    if that is None.
    """

    def __init__(
        self,
        problem: Problem,
        data: Dataset,
        oracle: ProxyOracle,
        *,
        rng: Randomness,
        runs: int,
        declared: OracleLimits | None = None,
    ) -> None:
        require(isinstance(oracle, ProxyOracle), "oracle", oracle, "a ProxyOracle")
        self.problem = problem
        self.true_oracle = GuardedOracle(problem)
        self.n = data.n
        self.runs = runs
        self.rng = rng
        self.xp = rng.xp
        self.rounds = 0
        """Batches answered so far."""
        self.true_oracle_calls = np.zeros(runs, dtype=np.int64)
        """Of each run so far, the sum of its batch sizes; shape (runs,)."""
        self._oracle = oracle
        self.features, self.labels = records_of(data, problem, rng.xp)
        self._columns = by_column(self.features, rng.xp)
        self._declared = declared
        self.uses = None if declared is None else UseCounts(runs, data.n, declared)
        """How often records were asked for; None if nothing was declared."""
        self._projections = 0
        self._asked: list[_Queries] = []
        self._over = False

    def look_up(self, records: Array) -> tuple[Array, Array]:
        """Features (runs, d) and labels (runs,) of one record for each run, for the true oracle."""
        return self.xp.take(self._columns, records, axis=1).T, self.xp.take(self.labels, records, axis=0)

    def ask(self, points: Array, records: Array, *, made: Array | None = None) -> Self:
        """Hand over queries of the batch at hand, see `OracleHandle.ask`.

        All of it is copied, so that nothing done to it later matters.
        """
        self._check_open()
        xp, runs, d = self.xp, self.runs, self.problem.constraint.dimension
        indices = np.asarray(records).copy()
        whole = indices.dtype.kind in "iu" and indices.ndim in (1, 2)
        if not whole or not np.all((indices >= 0) & (indices < self.n)):
            raise InvalidArgumentError("records", records, f"integers from 0 to {self.n - 1}")
        if indices.ndim == 1:
            indices = np.broadcast_to(indices, (runs, indices.shape[0]))
        copied = own_numbers(points, xp)
        shapes = ((runs, d), (runs, indices.shape[1], d))
        if indices.shape[0] != runs or tuple(copied.shape) not in shapes:
            raise InvalidArgumentError("points", tuple(copied.shape), f"shape {shapes[0]} or {shapes[1]}")
        kept = None if made is None else xp.asarray(made, dtype=xp.bool, copy=True)
        if kept is not None and tuple(kept.shape) != indices.shape:
            raise InvalidArgumentError("made", tuple(kept.shape), f"booleans of shape {indices.shape}")
        if copied.ndim == 2:
            copied = self.true_oracle.admitted(copied)
        else:
            for k in range(copied.shape[1]):
                copied[:, k, :] = self.true_oracle.admitted(copied[:, k, :])
        self._asked.append(_Queries(copied, xp.asarray(indices, dtype=xp.int64, copy=True), kept))
        return self

    def answer(self) -> Array:
        """The proxy oracle's message Y_t about the batch, which it ends; the true oracle is called once a query."""
        self._check_open()
        asked = self._asked
        answers = FirstOrder(self, asked)
        if self._declared is not None and self.uses is not None:
            if self.rounds == self._declared.rounds:
                raise AdaptiveQueryError(
                    f"There is one batch more than the {self.rounds} that were declared."
                )
            self.uses.add([part.records for part in asked], [part.made for part in asked], answers.count)
        self._asked = []
        self.rounds += 1
        # one call a query, whatever the proxy oracle then reads of the answers
        self.true_oracle_calls += answers.count
        return self._oracle.respond(answers, rng=self.rng)

    def _check_open(self) -> None:
        if self._over:
            raise AdaptiveQueryError("The interaction is over: its points were released.")

    def close(self) -> None:
        """End it: no query is taken or answered afterwards, even through a handle that was kept."""
        self._over = True

    def project(self, points: Array) -> Array:
        """Project onto the constraint set, counted."""
        self._projections += 1
        return self.problem.constraint.project(points, overwrite=True)

    def handle(self) -> OracleHandle:
        """What an optimizer is given; all its handles share one protocol.

        It holds functions, no bound methods: those have their object as an attribute.
        """
        own: list[Randomness] = []

        def ask(points: Array, records: Array, made: Array | None) -> None:
            self.ask(points, records, made=made)

        def answer() -> Array:
            return self.answer()

        def project(points: Array) -> Array:
            return self.project(points)

        def own_rng() -> Randomness:
            """One and the same stream, seeded from the protocol's when it is first asked for."""
            if not own:
                drawn = np.asarray(self.rng.integers(0, 2**62, (2,), "optimizer's seed"))
                first, second = (int(word) for word in drawn)
                own.append(Randomness((first << 62) | second, 0, self.xp))
            return own[0]

        return OracleHandle(self.n, self.runs, ask, answer, project, own_rng)

    def output(self, points: Array) -> Output:
        """The points that the optimizer releases, with what was counted."""
        calls = self.true_oracle_calls
        shared = bool(self.runs and np.all(calls == calls[0]))
        count = int(calls[0]) if shared else calls.copy()
        return Output(points, gradient_queries=count, projections=self._projections)
