"""Optimizers that see their losses only through a private proxy oracle (Menart and Nikolov, Algorithms 1 and 2)."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from dpverify.algorithms.conditions import admitted, given_up, normalized_start
from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.mn25.interaction import FirstOrder, Interaction, ProxyOracle, own_numbers
from dpverify.algorithms.mn25.oracle_handles import DeclaredUse, OracleHandle, OracleLimits
from dpverify.algorithms.mn25.origins import accounted, rounded_up
from dpverify.algorithms.parameters import Count, NotNegative, Positive, check_parameters
from dpverify.algorithms.promises import StatedQueries
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, Condition, ConditionKind, Guarantee, compose, for_group, zCDP
from dpverify.problems import Dataset, Problem
from dpverify.problems.declared import is_our_own
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array


@dataclass(frozen=True)
class GaussianOracle:
    """Answers with the batch's mean gradient and N(0, sigma^2 I).

    rho-zCDP with respect to one gradient of a batch of m, rho = (s / m)^2 / (2 sigma^2), where s = 2 L bounds how
    far apart two gradients are.

    Attributes:
        noise_stddev: sigma, in loss over length.
    """

    noise_stddev: NotNegative

    def __post_init__(self) -> None:
        check_parameters(self)

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


class Optimizer(Protocol):
    """The optimizer of Algorithm 1. It must keep the runs of a batch apart, as if each were made by itself."""

    @property
    def declared(self) -> DeclaredUse:
        """What it is held to: a batch that breaks it is not answered. Read once, when a method is made of it."""

    def __call__(self, handle: OracleHandle, start: Array) -> Array:
        """Release one point for each run, shape (runs, d), having started from points of that shape."""


@dataclass(frozen=True)
class CyclicDescent:
    """Projected descent along the messages; batch after batch takes the next m records, round and round.

    Attributes:
        rounds: T.
        size: m, the batch size, at most n.
        rate: step size, length^2 over loss.
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

    id: ClassVar[str] = "mn25.alg1"
    hands_over: ClassVar[str] = "all runs"
    statements: ClassVar[tuple[str, ...]] = ("mn25.thm1.1", "mn25.thm1.2", "mn25.prelim")
    unstated: ClassVar[Mapping[str, str]] = {
        "risk": "up to the optimizer that asks",
        "parameters": "its noise and rate are arguments; no formula is printed for them",
    }

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, GaussianOracle(1.0), CyclicDescent(2, 2, 0.5)),
            "asked": lambda: cls(at.mean, GaussianOracle(1 / at.epsilon), CyclicDescent(1, 2, 0.5)),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.oracle, ProxyOracle):
            raise InvalidArgumentError("oracle", self.oracle, "a ProxyOracle")
        # what it declares is read here, and never again
        declared = getattr(self.optimizer, "declared", None) if self.declared is None else self.declared
        if not callable(self.optimizer) or declared is None:
            raise InvalidArgumentError("optimizer", self.optimizer, "an Optimizer")
        object.__setattr__(self, "start", normalized_start(self.start, self.problem.constraint))
        if type(declared) is not DeclaredUse:  # a subclass could answer differently later
            raise InvalidArgumentError("declared", declared, "a DeclaredUse")
        object.__setattr__(self, "declared", replace(declared))  # a copy that the optimizer has no hold of

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why there is no guarantee for n records; empty if there is one."""
        whole_number("n", n, at_least=1)
        reasons: list[str] = []
        if self.limits(n).batches_a_record is None:
            reasons.append("the optimizer does not bound how often it asks about one record")
        if self._message(n) is None:
            reasons.append("the oracle's messages are not private")
        return (*reasons, *given_up(self.withdraw_guarantee))

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
        words = []
        if not is_our_own(self.optimizer):
            name = type(self.optimizer).__name__
            words.append(
                f"the optimizer {name} keeps the runs of a batch apart, and nothing for the next call"
            )
        if not is_our_own(self.oracle):
            words.append(f"messages of {type(self.oracle).__name__} are as private as it says")
        told = (Condition(ConditionKind.AS_DECLARED, text) for text in words)
        return (*self.problem.conditions, *told)

    def oracle_guarantee(self, n: int) -> zCDP | None:
        """rho-zCDP of one message with respect to one gradient of its batch.

        None if it is not Gaussian, or the guarantee was withdrawn.
        """
        message = None if self.withdraw_guarantee else self._message(n)
        return zCDP(message.mu**2 / 2) if isinstance(message, GDP) else None

    def guarantees(self, n: int) -> Guarantees:
        """Of the whole interaction, all messages included; none if it was withdrawn."""
        whole_number("n", n, at_least=1)
        message, declared = self._message(n), self.limits(n)
        if self.withdraw_guarantee or message is None or declared.batches_a_record is None:
            return Guarantees()
        whole = compose([for_group(message, declared.copies)] * declared.batches_a_record)
        stated = replace_one(
            whole,
            "mn25.prelim",
            conditions=self._conditions,
            origin=accounted("mn25.prelim", "each message rho-zCDP with respect to one gradient, composed"),
        )
        return Guarantees(stated)

    def gradient_query_count(self, n: int) -> int:
        """True oracle calls: T m, in every run."""
        limits = self.limits(whole_number("n", n, at_least=1))
        return limits.rounds * limits.batch

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """True oracle calls."""
        whole_number("n", n, at_least=1)
        count, origin = self.gradient_query_count(n), rounded_up("mn25.prelim", "T m")
        return (StatedQueries("gradient", count, sources=("mn25.prelim",), formula="T m", origin=origin),)

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
            declared=self.limits(data.n),
        )
        try:
            found = copy.deepcopy(self.optimizer)(interaction.handle(), begin(self.start, runs, rng))
        finally:
            interaction.close()
        points = own_numbers(found, rng.xp)
        shape = (runs, self.problem.constraint.dimension)
        if tuple(points.shape) != shape:
            raise InvalidArgumentError("released points", tuple(points.shape), f"shape {shape}")
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
