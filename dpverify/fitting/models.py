"""A model that is fitted privately, with everything that is known of it, and apart from it what is not private."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.algorithms.promises import StatedQueries
from dpverify.checks import FloatArray, checked_seed, number, of_kind, one_of, positive, require
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.fitting.bounds import DeclaredBounds, finite_matrix
from dpverify.fitting.methods import FitMethod, MethodChoice, candidates, largest_excess, ranked
from dpverify.ledger.records import Interval, is_vacuous
from dpverify.privacy import ApproxDP, Guarantee, PureDP, StatedGuarantee
from dpverify.problems import Ball, Dataset, Hinge, Logistic, Loss, Problem, Ridge, Squared, minimize
from dpverify.problems.further_losses import LogisticOnBall
from dpverify.running import Progress, Runs, TooCostlyError, run
from dpverify.running import call_limit as call_limit_of
from dpverify.running.progress import checked_progress, steps_told_to

LOSSES: Mapping[str, Callable[[float], tuple[Loss, Loss]]] = {
    "logistic": lambda radius: (LogisticOnBall(radius), Logistic()),
    "hinge": lambda radius: (Hinge(), Hinge()),
    "squared": lambda radius: (Squared(radius), Squared(radius)),
}
"""From a radius to a loss with the constants that it has there, and to the same loss, whose minimum is certified."""

_ROUNDING = 1e-12
"""Relative, of a mean of losses in double precision."""


@dataclass(frozen=True)
class NotPrivate:
    """What the guarantee does not cover: it looks at the data again, or depends on them through what a run does.

    Attributes:
        excess: around the excess of the model's mean risk over the minimum on the ball, in units of the loss.
        minimum: around that minimum, from a duality gap.
        accuracy: the share of these records that the model classifies as they are; None for numbers.
        gradient_queries: of single records, that this run made; so are the next two.
        seconds: of the run, on a clock.
    """

    excess: Interval
    minimum: Interval
    accuracy: float | None
    gradient_queries: int
    value_queries: int
    projections: int
    seconds: float


@dataclass(frozen=True, eq=False)
class PrivateModel:
    """A linear model, its guarantee and what is proved of its risk. All but `not_private` may be released.

    Attributes:
        coefficients: shape (d,), for features and labels as they came.
        intercept: 0 unless the bounds have one.
        classes: the two labels, the second where a decision is positive; None for numbers.
        loss: its name.
        n: records; public, as neighbors under replace-one adjacency have equally many.
        radius: of the ball, for records in the unit ball.
        ridge: weight of ||w||^2 / 2 in the risk.
        bounds: that were declared.
        method: the candidate that was run.
        choice: what it was chosen from; None if it was named.
        largest: no excess risk on any data is above this.
        epsilon: that was asked for, in nats; so is delta.
        sharpest: the sharpest guarantee that the method states.
        queries: the oracle calls that the method states for n records; what this run made may depend on the data.
        seeded: whether the noise follows from a seed that was given: whoever knows it knows the noise.
        not_private: None if it was not asked for.
    """

    coefficients: FloatArray
    intercept: float
    classes: tuple[Any, Any] | None
    loss: str
    n: int
    radius: float
    ridge: float
    bounds: DeclaredBounds
    method: FitMethod
    choice: MethodChoice | None
    largest: float
    epsilon: float
    delta: float
    sharpest: StatedGuarantee
    queries: tuple[StatedQueries, ...]
    seeded: bool
    not_private: NotPrivate | None

    @property
    def vacuous(self) -> bool:
        """Whether the bound on the risk says nothing, as no excess on any data is larger."""
        return self.method.bound is not None and is_vacuous(self.method.bound, self.largest)

    @property
    def quantile(self) -> tuple[float, float] | None:
        """A probability, and what the mean risk's excess is at most with it; None where that is not stated."""
        stated = self.method.algorithm.risk_quantile(self.n, 0.95)
        return None if stated is None else (0.95, stated.bound / (self.n if stated.total else 1))

    @property
    def population(self) -> float | None:
        """What the expected excess risk is at most for the population, if the records are independent draws from it.

        None where nothing follows.
        """
        stated = self.method.algorithm.population_risk_bound(self.n)
        return None if stated is None else float(stated.bound)

    @property
    def claim(self) -> Guarantee:
        """What was asked for, and holds."""
        return ApproxDP(self.epsilon, self.delta) if self.delta else PureDP(self.epsilon)

    def decisions(self, features: FloatArray) -> FloatArray:
        """The value <coefficients, x> + intercept for each row of (m, d), shape (m,)."""
        return features @ self.coefficients + self.intercept

    def predict(self, features: FloatArray) -> Any:
        """A class or a number for each row of (m, d), shape (m,)."""
        found = self.decisions(features)
        return found if self.classes is None else np.asarray(self.classes)[(found > 0).astype(int)]


def problem_for(loss: str, d: int, radius: float, ridge: float = 0.0) -> tuple[Problem, Problem]:
    """The problem that methods get, with constants for the ball, and the same one whose minimum is certified.

    Raises:
        InvalidArgumentError: for an unknown loss, a radius not above 0, or a ridge below 0.
    """
    one_of("loss", loss, LOSSES)
    positive("radius", radius)
    number("ridge", ridge, at_least=0)
    ball = Ball(d, float(radius))
    found = (Ridge.on(ball, one, ridge) if ridge else one for one in LOSSES[loss](float(radius)))
    declared, plain = (Problem(one, ball) for one in found)
    return declared, plain


def fit(
    features: Any,
    labels: Any,
    *,
    loss: str = "logistic",
    epsilon: float,
    delta: float = 1e-5,
    method: str = "auto",
    radius: float = 1.0,
    ridge: float = 0.0,
    bounds: DeclaredBounds | None = None,
    classes: Sequence[Any] = (-1, 1),
    parameters: Mapping[str, Any] | None = None,
    seed: int | None = None,
    private_only: bool = False,
    call_limit: float | None = None,
    progress: Progress | None = None,
) -> PrivateModel:
    """Fit a linear model under (epsilon, delta)-DP for data sets that differ in one record.

    Args:
        features: finite numbers, shape (n, d).
        labels: shape (n,); one of `classes` each, or numbers for the squared loss.
        loss: `logistic`, `hinge` or `squared`; of records in the unit ball.
        epsilon: in nats, above 0.
        delta: in [0, 1); 0 for pure privacy.
        method: the id of an algorithm, or `auto`: the method with the smallest proved bound on its risk, which depends
            on n, d and what is declared alone.
        radius: of the ball of models, for records in the unit ball.
        ridge: weight of ||w||^2 / 2 in the risk, in units of the loss.
        bounds: what is declared of the records; None: norms of at most 1.
        classes: the two labels that there may be, declared.
        parameters: further ones of a named method.
        seed: of the noise, for tests; None: from the operating system, and kept nowhere.
        private_only: make nothing that is not private.
        call_limit: oracle calls that the run may make; None: as `dpverify.running.run` has it.
        progress: told of the steps of a method that tells them.

    Raises:
        InvalidArgumentError: for arguments out of range, or a method that does not apply, with the reason.
        InvalidDataError: for features that are no finite numbers, or labels that were not declared.

    Examples:
        >>> from dpverify.fitting import fit
        >>> from dpverify.problems import load
        >>> data = load("breast-cancer")
        >>> model = fit(data.features, data.labels, epsilon=1.0, seed=0)
        >>> model.method.id, str(model.claim)
        ('yardstick.full-batch', '(1, 1e-05)-DP')
        >>> model.not_private.excess.upper < model.method.bound < 0.06
        True
    """
    table = finite_matrix(features)
    declared = DeclaredBounds() if bounds is None else bounds
    of_kind("bounds", declared, DeclaredBounds)
    one_of("loss", loss, LOSSES)
    of_kind("method", method, str)
    of_kind("private_only", private_only, bool)
    checked_progress(progress)
    targets, names = _targets(labels, len(table), loss, classes, declared)
    data = declared.dataset(table, targets, "the data")
    problem, plain = problem_for(loss, data.d, radius, ridge)
    automatic = method == "auto"
    only = None if automatic else method
    noise = secrets.randbits(128) if seed is None else checked_seed(seed)
    with nullcontext() if call_limit is None else call_limit_of(call_limit):
        found = candidates(problem, n=data.n, epsilon=epsilon, delta=delta, only=only, parameters=parameters)
        order = ranked(found) if automatic else found
        made, taken, seconds, too_costly = _run(order, data, noise, progress, automatic)
    point = np.asarray(made.points, dtype=np.float64)
    if point.shape != (1, data.d):
        raise InvalidArgumentError("method", method, f"one that releases a point of {data.d} coordinates")
    coefficients, intercept = declared.in_their_units(point[0], table.shape[1])
    if names is None:
        low, high = declared.label_range
        coefficients, intercept = coefficients * (high - low) / 2, (intercept * (high - low) + high + low) / 2
    return PrivateModel(
        coefficients,
        intercept,
        names,
        loss,
        data.n,
        float(radius),
        float(ridge),
        declared,
        taken,
        MethodChoice(found, (*((m.id, m.obstacle) for m in found if m.lacks), *too_costly))
        if automatic
        else None,
        largest_excess(problem),
        float(epsilon),
        float(delta),
        taken.algorithm.guarantees(data.n).sharpest,
        taken.algorithm.queries(data.n),
        seed is not None,
        None if private_only else _not_private(plain, data, made, names is not None, seconds),
    )


def _run(
    order: Sequence[FitMethod], data: Dataset, seed: int, progress: Progress | None, go_on: bool
) -> tuple[Runs, FitMethod, float, tuple[tuple[str, str], ...]]:
    """The first method's run and its seconds; where a run is foreseen to be too costly and `go_on`, the next one's.

    What is foreseen depends on the sizes alone, so that going on tells nothing of the records.
    """
    left_out: list[tuple[str, str]] = []
    for taken in order:
        allowed = f"one that applies here, and this one does not: {taken.obstacle}"
        require(taken.algorithm is not None, "method", taken.id, allowed)
        begin = time.perf_counter()
        try:
            with steps_told_to(progress):
                made = run(taken.algorithm, data, runs=1, seed=seed)
        except TooCostlyError as error:
            if not go_on or taken is order[-1]:
                raise
            left_out.append((taken.id, str(error)))
            continue
        return made, taken, time.perf_counter() - begin, tuple(left_out)
    raise AssertionError("no method was given")


def _targets(
    labels: Any, n: int, loss: str, classes: Sequence[Any], bounds: DeclaredBounds
) -> tuple[FloatArray, tuple[Any, Any] | None]:
    """Labels in [-1, 1], (n,), and the two classes that they stand for, if any."""
    given = np.asarray(labels)
    if given.shape != (n,):
        raise InvalidDataError(f"The labels have shape {given.shape}; allowed: ({n},), one for each record.")
    if loss == "squared":
        numbers = finite_matrix(given.reshape(-1, 1), "labels")[:, 0]
        return bounds.targets(numbers), None
    names = list(classes) if np.ndim(classes) == 1 else []
    require(len(names) == 2 and names[0] != names[1], "classes", classes, "two different labels")
    first, second = (given == one for one in names)
    stranger = np.flatnonzero(~(first | second))
    if stranger.size:
        raise InvalidDataError(
            f"Record {stranger[0] + 1} has the label {given[stranger[0]]}; allowed: {names[0]} or {names[1]}, the "
            "declared classes."
        )
    return np.where(second, 1.0, -1.0), (names[0], names[1])


def _not_private(problem: Problem, data: Dataset, made: Runs, classified: bool, seconds: float) -> NotPrivate:
    point = np.asarray(made.points, dtype=np.float64)
    minimum = minimize(problem, data).value
    risk = float(np.asarray(problem.mean_risk(point, data))[0])
    room = _ROUNDING * (1 + abs(risk))
    decided = np.asarray(data.features) @ point[0] > 0
    return NotPrivate(
        Interval(lower=max(0.0, risk - minimum.upper - room), upper=risk - minimum.lower + room),
        minimum,
        float(np.mean(decided == (data.labels > 0))) if classified else None,
        int(made.gradient_queries[0]),
        int(made.value_queries[0]),
        int(made.projections[0] + made.linear_minimizations[0]),
        seconds,
    )
