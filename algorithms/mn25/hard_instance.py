"""The hard instance of non-smooth private optimization (Menart, Nikolov, 2025, Section 3.1).

A maximum of K absolute values along hidden orthonormal directions X_1, ..., X_K, and of the distance to the
complement of a hidden subspace V that is orthogonal to them:

    l(w) = max { max_k |<w, X_k> - C_1 alpha|, 2 ||Pi_V w|| }  on the unit ball.

All n losses of an instance are this one. Its minimum is 0, at w* = C_1 alpha (X_1 + ... + X_K), whose norm is 1 (at
most 1 where 1 / (C_1 alpha)^2 is no integer). A query shows one direction, or one vector of V, and no more.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from dpverify.algorithms.conditions import a_dataset, refuse_or_withdraw, stated_by
from dpverify.algorithms.contract import Algorithm, Guarantees
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.mn25.wrapped_solvers import check_solver, with_problem
from dpverify.algorithms.parameters import Count, CountOrZero, Positive
from dpverify.algorithms.promises import StatedQueries, StatedSamplingError, reasons, words
from dpverify.checks import of_kind, require, whole_number
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.problems import Ball, Dataset, Problem
from dpverify.problems.arrays import namespace, row_sums
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array

CONSTANT = 480.0
"""C_1 of the paper."""

_NUMBERS_AT_ONCE = 1 << 22
"""Entries of the matrices that are orthonormalized at a time."""


@dataclass(frozen=True)
class HardInstance(Algorithm):
    """mn25, Section 3.1: the distribution of the hard instance, by its parameters.

    Called as a sampler, it returns the hidden vectors of one instance per run: points of shape (runs, K + r, d), the
    first K rows of each being X_1, ..., X_K, the others an orthonormal basis of V.

    The Lipschitz constant L and the radius B of the constraint set other than 2 and 1 rescale the loss: (L B / 2)
    l(w / B). (Fact 1 as printed has l(w / L) in the place of that, which does not change the Lipschitz constant as
    it should.)

    Guarantee: none; it is a problem, not a private algorithm.

    Assumptions: K + r <= d, which is why the paper requires d >= C_2 / alpha^2.

    Attributes:
        dimension: d.
        accuracy: alpha for L = 2 and B = 1, dimensionless, at most 1 / C_1; K = floor(1 / (C_1 alpha)^2).
        constant: C_1, dimensionless.
        subspace_dimension: r, the dimension of V; floor(d / 2) if None.
        directions_from: `uniform` for the paper's distribution, X and V uniformly random; `records` to
            orthonormalize K + r different records of the data set at hand, drawn at random, in the order drawn.
        lipschitz_constant: L, loss over length.
        radius: B, of the ball that the loss is minimized on; a length.
    """

    dimension: Count
    accuracy: Positive
    constant: Positive = CONSTANT
    subspace_dimension: CountOrZero | None = None
    directions_from: Literal["uniform", "records"] = "uniform"
    lipschitz_constant: Positive = 2.0
    radius: Positive = 1.0

    id = "mn25.hard-instance"
    statements = ("mn25.instance-facts", "mn25.thm1.1", "mn25.thm1.2", "mn25.fact1")
    unstated = reasons("mn25.hard-instance")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent

        hard, line = cls.with_directions(4, 2, subspace_dimension=1), Setting().line
        return {
            "": lambda: hard,
            "trial": lambda: OnHardInstance(hard, NoisyGradientDescent(line, 1.0, 1e-5, steps=3)),
            "asked": lambda: cls.with_directions(at.d, at.n, subspace_dimension=1),
        }

    def __post_init__(self) -> None:
        """Refuse more coordinates than there are: K + r above d."""
        super().__post_init__()
        if not 1 <= self.direction_count <= self.dimension - self.hidden_dimension:
            count, most = self.direction_count, self.dimension - self.hidden_dimension
            allowed = f"one for which K = floor(1 / (C_1 alpha)^2), here {count}, is from 1 to d - r = {most}"
            raise InvalidArgumentError("accuracy", self.accuracy, allowed)

    @classmethod
    def with_directions(cls, dimension: int, directions: int, **others: Any) -> Self:
        """The instance with a given K, from 1 to d - r: alpha = 1 / (C_1 sqrt(K))."""
        count = whole_number("directions", directions)
        return cls(dimension, 1.0 / (float(others.get("constant", CONSTANT)) * math.sqrt(count)), **others)

    @property
    def offset(self) -> float:
        """C_1 alpha, what each direction asks for, for B = 1; dimensionless."""
        return self.constant * self.accuracy

    @property
    def direction_count(self) -> int:
        """K; a quotient that rounding left a hair below an integer counts as it."""
        quotient = (1.0 / max(self.offset, 1e-9)) ** 2
        return math.floor(quotient * (1.0 + 1e-12))

    @property
    def hidden_dimension(self) -> int:
        """r, the dimension of V."""
        return self.dimension // 2 if self.subspace_dimension is None else self.subspace_dimension

    @property
    def scale(self) -> float:
        """L B / 2, by which the loss of the unit ball is multiplied; in units of loss."""
        return 0.5 * self.lipschitz_constant * self.radius

    @property
    def unseen_risk(self) -> float:
        """Smallest excess risk of a point that has nothing of one of the directions: C_1 alpha, rescaled."""
        return self.scale * self.offset

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """Exact, rounding aside: given the others, each direction is uniform; None for directions from records."""
        whole_number("n", n)
        if self.directions_from == "records":
            return None
        return StatedSamplingError("total variation", 0.0, **words("mn25.hard-instance/sampling error"))

    def draw(self, data: Dataset, *, rng: Randomness, runs: int) -> DrawnInstances:
        """One instance for each run. The data set is used for directions from records alone.

        Takes 8 (K + r) d bytes a run; the work space does not grow with the runs.
        """
        xp = rng.xp
        count = self.direction_count + self.hidden_dimension
        features = None
        if self.directions_from == "records":
            if a_dataset(data).d != self.dimension:
                raise InvalidArgumentError("data", f"{data.d} features", f"{self.dimension} features")
            require(data.n >= count, "data", f"{data.n} records", f"at least K + r = {count} records")
            features = data.as_namespace(xp).features
        frames = xp.empty((runs, count, self.dimension), dtype=xp.float64)
        numbers = count * self.dimension + (0 if features is None else data.n)
        at_once = max(1, _NUMBERS_AT_ONCE // numbers)
        for start in range(0, runs, at_once):
            part = min(at_once, runs - start)
            if features is None:
                columns = rng.normal((part, self.dimension, count), "hidden vectors")
            else:
                order = xp.argsort(rng.uniform((part, data.n), "order of the records"), axis=1)
                rows = xp.take(features, xp.reshape(order[:, :count], (-1,)), axis=0)
                columns = xp.matrix_transpose(xp.reshape(rows, (part, count, self.dimension)))
            frames[start : start + part, ...] = xp.matrix_transpose(_orthonormal(columns, xp))
        return DrawnInstances(self, frames)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """The hidden vectors of one instance a run, shape (runs, K + r, d)."""
        return Output(self.draw(data, rng=rng, runs=runs).frames)


def _orthonormal(columns: Array, xp: Any) -> Array:
    """Gram-Schmidt of the columns of each (d, m) matrix; uniform on orthonormal frames if they are normal.

    The triangular factor gets a positive diagonal: without that the law would depend on the library's signs.
    """
    q, triangular = xp.linalg.qr(columns)
    diagonal = xp.linalg.diagonal(triangular)
    signs = xp.where(diagonal < 0.0, -xp.ones_like(diagonal), xp.ones_like(diagonal))
    return q * signs[:, None, :]


class OracleAnswer(NamedTuple):
    """What the true oracle says at one point of each run."""

    value: Array
    """The loss, shape (runs,)."""
    gradient: Array
    """A subgradient, shape (runs, d)."""
    index: Array
    """Q of the paper, from 1: the k whose f_k was shown, K + 1 for h; shape (runs,)."""


@dataclass(frozen=True, eq=False)
class DrawnInstances:
    """One drawn instance per run; a loss (`dpverify.problems.Loss`) with one point per run, in the same order.

    Records and labels do not matter: all losses of an instance are the same.
    """

    parameters: HardInstance
    frames: Array
    """X_1, ..., X_K and a basis of V, in rows; shape (runs, K + r, d)."""

    smoothness: ClassVar[float] = math.inf
    strong_convexity: ClassVar[float] = 0.0
    sensitivity_radius: ClassVar[float] = math.inf

    @property
    def lipschitz_constant(self) -> float:
        """L, attained in V."""
        return self.parameters.lipschitz_constant

    @property
    def problem(self) -> Problem:
        """The loss on the ball of radius B about the origin."""
        return Problem(self, Ball(self.parameters.dimension, self.parameters.radius))

    def answer(self, w: Array) -> OracleAnswer:
        """The true oracle at one point per run, shape (runs, d), with the paper's ties.

        Of the functions that attain the maximum it shows the f_k with the smallest k, and h only if there is none.
        Where f_k is 0, at its kink, the subgradient shown is 0.
        """
        parameters, xp = self.parameters, namespace(w)
        runs, _, dimension = self.frames.shape
        if tuple(w.shape) != (runs, dimension):
            raise InvalidArgumentError("w", tuple(w.shape), f"one point per run, shape ({runs}, {dimension})")
        count = parameters.direction_count
        along = xp.matmul(self.frames, w[:, :, None])[:, :, 0] / parameters.radius
        gaps = along[:, :count] - parameters.offset
        sizes = xp.abs(gaps)
        inside = along[:, count:]
        length = xp.sqrt(row_sums(inside * inside)) if inside.shape[1] else xp.zeros_like(sizes[:, 0])
        largest = xp.max(sizes, axis=1)
        shown = xp.argmax(sizes, axis=1)  # the first of several
        hidden = 2.0 * length > largest
        steepness = 2.0 / xp.where(hidden, length, xp.ones_like(length))
        # coefficients of the hidden vectors in the subgradient
        numbers = xp.arange(count)[None, :] == shown[:, None]
        of_directions = xp.where(numbers & ~hidden[:, None], xp.sign(gaps), xp.zeros_like(gaps))
        of_subspace = xp.where(hidden[:, None], steepness[:, None] * inside, xp.zeros_like(inside))
        coefficients = xp.concat([of_directions, of_subspace], axis=1)
        gradient = xp.matmul(coefficients[:, None, :], self.frames)[:, 0, :]
        return OracleAnswer(
            parameters.scale * xp.where(hidden, 2.0 * length, largest),
            (0.5 * parameters.lipschitz_constant) * gradient,
            xp.where(hidden, xp.full_like(shown, count + 1), shown + 1),
        )

    def value(self, w: Array, x: Array, y: Array) -> Array:
        """Losses of the runs' points, shape (runs,); the record does not matter."""
        return self.answer(w).value

    def gradient(self, w: Array, x: Array, y: Array) -> Array:
        """Subgradients as the true oracle breaks ties, a new array of shape (runs, d)."""
        return self.answer(w).gradient


@dataclass(frozen=True)
class OnHardInstance(Algorithm):
    """An optimizer on a fresh hard instance in every run, and how far it got.

    The optimizer is any algorithm that `wrapped_solvers.check_solver` admits, on the problem of the instance.
    Without one, it is the plain subgradient method from 0 with true answers: `steps` times w <- Proj(w - rate g), the
    last point.

    Points are (runs, 2): the excess risk in units of the loss, and how many of the K directions the released point
    has found, that is <w, X_k> >= C_1 alpha B / 2.

    Guarantee: the optimizer's on the instance's problem, by post-processing, where the instance is drawn without the
    records; none where its directions come from them, and none of the plain method.
    """

    instance: HardInstance
    optimizer: Any = None
    steps: Count = 1
    rate: Positive | None = None
    """Of the plain method, length^2 over loss; None for B / (L sqrt(steps))."""
    withdraw_guarantee: bool = False

    id = "mn25.hard-instance"
    statements = HardInstance.statements

    def __post_init__(self) -> None:
        super().__post_init__()
        of_kind("instance", self.instance, HardInstance, "a HardInstance")
        if self.optimizer is not None:
            check_solver(self.optimizer, argument="optimizer")
        refuse_or_withdraw(self.id, (), self.withdraw_guarantee)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """One gradient a step of the plain method; the optimizer's calls otherwise, as far as it states them."""
        whole_number("n", n)
        if self.optimizer is None:
            row = words("mn25.hard-instance/queries of a trial")
            return (StatedQueries("gradient", self.steps, **row),)
        return tuple(getattr(self.optimizer, "queries", lambda n: ())(n))

    def _guaranteed(self, n: int) -> Guarantees:
        """The optimizer's on the instance's problem, by post-processing; empty if the instance is made of records."""
        if self.optimizer is None or self.instance.directions_from == "records":
            return Guarantees()
        # without an instance: what an optimizer states depends on the loss's constants and the set alone
        none = DrawnInstances(self.instance, np.empty((0, self.instance.dimension, self.instance.dimension)))
        stated: Guarantees = stated_by(with_problem(self.optimizer, none.problem), n)
        return stated.without_local()

    def gradient_query_count(self, n: int) -> int:
        """One a step of the plain method; the optimizer's count otherwise."""
        whole_number("n", n)
        return self.steps if self.optimizer is None else int(self.optimizer.gradient_query_count(n))

    def least_excess_risk(self, queries: int) -> float:
        """Least excess risk after a number of true answers, for a method that stays in their span; units of loss.

        After fewer than K answers some direction was never shown. A point in the span of what was shown has nothing
        of it, so that its loss is at least C_1 alpha (rescaled). From K answers on nothing is claimed here.
        """
        queries = whole_number("queries", queries, at_least=0)
        return self.instance.unseen_risk if queries < self.instance.direction_count else 0.0

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Draw, optimize, measure; points have shape (runs, 2)."""
        xp, instance = rng.xp, self.instance
        drawn = instance.draw(data, rng=rng, runs=runs)
        if self.optimizer is None:
            output = self._descend(drawn, xp, runs)
        else:
            output = with_problem(self.optimizer, drawn.problem)(data, rng=rng, runs=runs)
            if not isinstance(output, Output):
                raise InvalidDataError(
                    "The optimizer did not return an Output, so its queries are not counted."
                )
        risk = drawn.answer(output.points).value
        along = xp.matmul(drawn.frames[:, : instance.direction_count, :], output.points[:, :, None])[:, :, 0]
        found = xp.astype(along >= 0.5 * instance.radius * instance.offset, xp.float64)
        return dataclasses.replace(output, points=xp.stack([risk, row_sums(found)], axis=1))

    def _descend(self, drawn: DrawnInstances, xp: Any, runs: int) -> Output:
        """The plain method."""
        points = xp.zeros((runs, self.instance.dimension), dtype=xp.float64)
        rate = self.rate
        if rate is None:
            rate = self.instance.radius / (self.instance.lipschitz_constant * math.sqrt(self.steps))
        for _ in range(self.steps):
            points = drawn.problem.constraint.project(points - rate * drawn.answer(points).gradient)
        return Output(points, gradient_queries=self.steps, projections=self.steps)
