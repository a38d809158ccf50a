"""Optimizers that see their losses only through a private proxy oracle (Menart and Nikolov, Algorithms 1 and 2)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from dpverify.algorithms.conditions import admitted, normalized_start
from dpverify.algorithms.contract import Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.mn25.interaction import FirstOrder, Interaction, ProxyOracle, own_numbers
from dpverify.algorithms.mn25.oracle_handles import DeclaredUse, OracleHandle, OracleLimits
from dpverify.algorithms.parameters import Count, NotNegative, Positive, check_parameters
from dpverify.algorithms.promises import StatedQueries, reasons, words
from dpverify.algorithms.steps.projected_steps import records
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import of_kind, require, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, Condition, ConditionKind, Guarantee, compose, for_group, zCDP
from dpverify.problems import Dataset, Problem
from dpverify.problems.declared import is_our_own
from dpverify.problems.losses import Loss, curvatures
from dpverify.running import Output, Randomness, StatedStep, StatedStructure
from dpverify.running.randomness import Array


@dataclass(frozen=True)
class GaussianOracle:
    """Answers with the batch's mean gradient and N(0, sigma^2 I).

    rho-zCDP with respect to one gradient of a batch of m, rho = (s / m)^2 / (2 sigma^2), where s = 2 L bounds how
    far apart two gradients are, and sigma is in loss over length.
    """

    noise_stddev: NotNegative

    def __post_init__(self) -> None:
        check_parameters(self)

    def respond(self, answers: FirstOrder, *, rng: Randomness) -> Array:
        """Shape (runs, d)."""
        return answers.noisy_mean_gradient(self.noise_stddev, rng)

    def message_guarantee(self, sensitivity: float, batch: int) -> GDP | None:
        """(s / (m sigma))-GDP, which implies the zCDP above."""
        if self.noise_stddev == 0:
            return None
        return GDP(sensitivity / (batch * self.noise_stddev))


class Optimizer(Protocol):
    """The optimizer of Algorithm 1. It must keep the runs of a batch apart, as if each were made by itself."""

    @property
    def declared(self) -> DeclaredUse:
        """What it is held to: a batch that breaks it is not answered. Read once, when a method is made of it."""

    def __call__(self, handle: OracleHandle, start: Array) -> Array:
        """Release one point for each run, shape (runs, d), having started from points of that shape."""


@dataclass(frozen=True)
class CyclicDescent:
    """T rounds of projected descent along the messages, with a rate in length^2 over loss.

    Batch after batch takes the next m records, round and round; the size m is at most n.
    """

    rounds: Count
    size: Count
    rate: Positive

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def declared(self) -> DeclaredUse:
        """T batches of m different records, taken in turn."""
        return DeclaredUse(self.size, self.rounds, "in turn")

    def __call__(self, handle: OracleHandle, start: Array) -> Array:
        """The point after the last step."""
        w, n = start, handle.n
        positions = np.arange(self.size)
        for t in range(self.rounds):
            message = handle.ask(w, (t * self.size + positions) % n).answer()
            w = handle.project(w - self.rate * message)
        return w

    def steps(self, problem: Problem, data: Dataset, noise_stddev: float) -> tuple[StatedStep, ...]:
        """What it does with messages that are a batch's mean gradient and N(0, s^2 I), s in loss over length."""
        features, labels = records(data, problem, np)
        positions = np.arange(self.size)
        batches = ((t * self.size + positions) % data.n for t in range(self.rounds))
        return tuple(self._step(problem.loss, features[b], labels[b], noise_stddev) for b in batches)

    def _step(self, loss: Loss, features: Array, labels: Array, noise_stddev: float) -> StatedStep:
        def move(states: Array, _: np.random.Generator) -> Array:
            total = sum(loss.gradient(states, x, y) for x, y in zip(features, labels, strict=True))
            return states - self.rate / self.size * total

        # a mean of maps stretches no more than their constants do on average
        bounds = (curvatures(loss, x, y) for x, y in zip(features, labels, strict=True))
        constants = [max(abs(1 - self.rate * low), abs(1 - self.rate * high)) for low, high in bounds]
        return StatedStep(move, self.rate * noise_stddev, math.fsum(constants) / self.size)


@dataclass(frozen=True)
class PrivateOracleMethod(Weakenable):
    """mn25, Algorithms 1 and 2: an optimizer that talks to a proxy oracle, and sees nothing else of the data.

    Guarantee (replace-one, both directions): a message is private with respect to one of its gradients
    (`oracle_guarantee`). A record that is in at most k batches, at most c times in each, costs k such messages
    for groups of c, composed adaptively; that is what `guarantees` states, for optimizers that declare k and c. Both
    are counted in every run, and a batch that exceeds them, or is not of the size that was declared, is not answered.
    What is asked next may depend on all messages: between two uses of a record nothing depends on it but messages.
    Of an optimizer or an oracle that is not this project's, the guarantee carries the condition that it is as declared.

    Assumptions: losses whose gradients at two records differ by at most `gradient_sensitivity` at points of norm up
    to their `sensitivity_radius`; queries at other points are refused, whatever the records.

    Attributes:
        problem: loss and constraint set.
        oracle: the proxy oracle.
        optimizer: the optimizer; each interaction is with a copy of it, so that it remembers nothing.
        start: where it starts, d numbers; the set's center if None.
        withdraw_guarantee: run even if there is no guarantee; `withdrawn` then says why.
        declared: what the optimizer is held to; None: what it declares when the method is made.
    """

    problem: Problem
    oracle: ProxyOracle
    optimizer: Optimizer
    start: Sequence[float] | None = None
    withdraw_guarantee: bool = False
    declared: DeclaredUse | None = None

    id = "mn25.alg1"
    hands_over = "all runs"
    statements = ("mn25.thm1.1", "mn25.thm1.2", "mn25.prelim")
    unstated = reasons("mn25.alg1")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, GaussianOracle(1.0), CyclicDescent(2, 2, 0.5)),
            "asked": lambda: cls(at.mean, GaussianOracle(1 / at.epsilon), CyclicDescent(1, 2, 0.5)),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        of_kind("oracle", self.oracle, ProxyOracle, "a ProxyOracle")
        # what it declares is read here, and never again
        declared = getattr(self.optimizer, "declared", None) if self.declared is None else self.declared
        if not callable(self.optimizer) or declared is None:
            raise InvalidArgumentError("optimizer", self.optimizer, "an Optimizer")
        object.__setattr__(self, "start", normalized_start(self.start, self.problem.constraint))
        if type(declared) is not DeclaredUse:  # a subclass could answer differently later
            raise InvalidArgumentError("declared", declared, "a DeclaredUse")
        object.__setattr__(self, "declared", replace(declared))  # a copy that the optimizer has no hold of

    def _voids(self, n: int) -> tuple[str, ...]:
        unbounded, public = self.limits(n).batches_a_record is None, self._message(n) is None
        return (
            *(("the optimizer does not bound how often it asks about one record",) if unbounded else ()),
            *(("the oracle's messages are not private",) if public else ()),
        )

    def limits(self, n: int) -> OracleLimits:
        """What the optimizer is held to for n records."""
        assert self.declared is not None
        return self.declared.on(n)

    def _message(self, n: int) -> Guarantee | None:
        sensitivity = self.problem.constants.gradient_sensitivity
        if not math.isfinite(sensitivity):
            return None
        return self.oracle.message_guarantee(sensitivity, self.limits(n).batch)

    @property
    def _conditions(self) -> tuple[Condition, ...]:
        names = type(self.optimizer).__name__, type(self.oracle).__name__
        apart = "keeps the runs of a batch apart, and nothing for the next call"
        told = (
            (self.optimizer, f"the optimizer {names[0]} {apart}"),
            (self.oracle, f"messages of {names[1]} are as private as it says"),
        )
        words = (text for one, text in told if not is_our_own(one))
        return (*self.problem.conditions, *(Condition(ConditionKind.AS_DECLARED, text) for text in words))

    def oracle_guarantee(self, n: int) -> zCDP | None:
        """rho-zCDP of one message with respect to one gradient of its batch.

        None if it is not Gaussian, or the guarantee was withdrawn.
        """
        message = None if self.withdraw_guarantee else self._message(n)
        return zCDP(message.mu**2 / 2) if isinstance(message, GDP) else None

    def _guaranteed(self, n: int) -> Guarantees:
        """Of the whole interaction, all messages included."""
        message, declared = self._message(n), self.limits(n)
        assert message is not None
        assert declared.batches_a_record is not None
        whole = compose([for_group(message, declared.copies)] * declared.batches_a_record)
        return Guarantees(promised("mn25.alg1/privacy", whole, conditions=self._conditions))

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """True oracle calls."""
        limits = self.limits(whole_number("n", n))
        count = limits.rounds * limits.batch
        return (StatedQueries("gradient", count, **words("mn25.alg1/queries")),)

    def structure(self, data: Dataset) -> StatedStructure | None:
        """The steps of cyclic descent along Gaussian messages; None of other optimizers and oracles, or without noise.

        It ends in the point that is released, and has no messages: what it shows of privacy holds for these too.
        """
        oracle, optimizer = self.oracle, self.optimizer
        if (
            type(oracle) is not GaussianOracle
            or type(optimizer) is not CyclicDescent
            or not oracle.noise_stddev
        ):
            return None
        data = admitted(self, data)
        self.limits(data.n)  # refuses what a run would refuse
        assert self.start is not None
        steps = optimizer.steps(self.problem, data, oracle.noise_stddev)
        return StatedStructure(self.start, steps, self.problem.constraint)

    def interact(self, data: Dataset, *, rng: Randomness, runs: int) -> tuple[Interaction, Array]:
        """Run; the interaction with its counts, and the points released, shape (runs, d).

        Raises:
            NotGuaranteedError: if there is no guarantee and it was not withdrawn.
            AdaptiveQueryError: if the optimizer asks for what it did not declare.
        """
        data = admitted(self, data)
        declared = self.limits(data.n)
        interaction = Interaction(self.problem, data, self.oracle, rng=rng, runs=runs, declared=declared)
        try:
            found = copy.deepcopy(self.optimizer)(interaction.handle(), begin(self.start, runs, rng))
        finally:
            interaction.close()
        points = own_numbers(found, rng.xp)
        shape = (runs, self.problem.constraint.dimension)
        require(tuple(points.shape) == shape, "released points", tuple(points.shape), f"shape {shape}")
        return interaction, points

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        interaction, points = self.interact(data, rng=rng, runs=runs)
        return interaction.output(points)


def begin(start: Sequence[float] | None, runs: int, rng: Randomness) -> Array:
    """The starting point in every run, shape (runs, d), kept column by column."""
    xp = rng.xp
    point = xp.asarray(start, dtype=xp.float64)
    return (point[:, None] + xp.zeros((point.shape[0], runs), dtype=xp.float64)).T


def mean_of_descent(
    interaction: Interaction,
    start: Sequence[float] | None,
    steps: int,
    rate: float,
    draw: Callable[[], Array],
    decode: Callable[[Array], Array] = lambda message: message,
) -> Output:
    """The mean of the points of `steps` times w <- Proj(w - rate g), g decoded from a message about drawn records."""
    w = begin(start, interaction.runs, interaction.rng)
    total = 0.0 * w
    for _ in range(steps):
        total += w
        message = interaction.ask(w, draw()).answer()
        w = interaction.project(w - rate * decode(message))
    total /= steps
    return interaction.output(total)
