"""Proxy oracles of bounded information, and SGD through them (Menart and Nikolov, Section 5).

An oracle's information capacity is the largest mutual information between the gradients it is shown and its message,
over all laws of the gradients. Two oracles:

- one that answers with Gamma bits: an unbiased stochastic rounding of the mean gradient. A message that takes one
  of 2^Gamma values carries at most Gamma bits, which are Gamma ln 2 nats.
- the Gaussian channel, which adds N(0, (sigma^2 / d) I) to a gradient of norm at most L: its capacity is at most
  (d / 2) ln(1 + L^2 / sigma^2), and at most half of the d / sigma^2 that the paper has for L = 1.

Information is in nats, as in the paper, except where bits are said. Such oracles are no private oracles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

from dpverify.algorithms.conditions import covered, normalized_start, reach
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.mn25.interaction import FirstOrder, Interaction, ProxyOracle
from dpverify.algorithms.mn25.phases import check_problem
from dpverify.algorithms.mn25.private_oracles import mean_of_descent
from dpverify.algorithms.parameters import Bits, Count, Positive, check_parameters
from dpverify.algorithms.promises import StatedQueries, StatedRisk, reasons, words
from dpverify.algorithms.weakening import Weakenable
from dpverify.checks import of_kind, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import namespace
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array


@runtime_checkable
class LimitedOracle(ProxyOracle, Protocol):
    """A proxy oracle of bounded capacity whose messages are decoded to unbiased estimates of the mean gradient."""

    def decode(self, message: Array, dimension: int) -> Array:
        """The estimate, shape (runs, d)."""

    def capacity(self, dimension: int) -> float:
        """Largest mutual information between gradients and message, or a bound on it, nats."""

    def squared_error(self, dimension: int) -> float:
        """Largest expected ||estimate - mean gradient||^2, or a bound on it, in squared loss over length."""


class _Channel:
    """What both oracles share: checked parameters, and no claim of privacy."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def message_guarantee(self, sensitivity: float, batch: int) -> None:
        """None: a message may reveal a record. For noise that hides it see `private_oracles.GaussianOracle`."""


@dataclass(frozen=True)
class QuantizingOracle(_Channel):
    """Answers with Gamma = b k bits: b bits for each of k coordinates of the mean gradient.

    A coordinate g_j in [-L, L] is rounded at random, without bias, to one of the two grid points around it; the
    grid has 2^b points, s = 2 L / (2^b - 1) apart, and the message is their numbers. Which k of the d coordinates
    are sent is drawn beforehand, without looking at the gradients: it is the oracle's side information, and the
    optimizer's too. The estimate is d / k times what was sent.

    Its squared error is at most (d / k) (L^2 + d s^2 / 4) - L^2 for k < d and d s^2 / 4 for k = d: with k uniform
    coordinates it is (d / k) E||rounded||^2 - ||g||^2, and rounding adds at most s^2 / 4 per coordinate.
    """

    lipschitz: Positive
    """L, the largest norm of a gradient, in loss over length."""
    bits: Bits = 1
    """b, for a coordinate."""
    coordinates: Count | None = None
    """k, at most d; all if None."""

    @property
    def spacing(self) -> float:
        """s, the distance of grid points, in loss over length."""
        return 2 * self.lipschitz / (math.ldexp(1.0, self.bits) - 1)

    def sent(self, dimension: int) -> int:
        """k, how many coordinates are sent; refused if that is more than there are."""
        if self.coordinates is None:
            return dimension
        return whole_number("coordinates", self.coordinates, at_most=dimension)

    def message_bits(self, dimension: int) -> int:
        """Gamma = b k, the bits of one message."""
        return self.bits * self.sent(dimension)

    def capacity(self, dimension: int) -> float:
        """Gamma ln 2, nats: a bound, since the message has 2^Gamma values."""
        return self.message_bits(dimension) * math.log(2)

    def squared_error(self, dimension: int) -> float:
        """The bound above."""
        k = self.sent(dimension)
        rounding = dimension * self.spacing**2 / 4
        return dimension / k * rounding + (dimension / k - 1) * self.lipschitz**2

    def respond(self, answers: FirstOrder, *, rng: Randomness) -> Array:
        """Integers, shape (runs, 2, k): which coordinates were sent (side information), and their codes.

        Codes are from 0 to 2^b - 1. Rounding takes one uniform number a coordinate.
        """
        xp, mean = rng.xp, answers.mean_gradient()
        runs, d = mean.shape
        k = self.sent(d)
        if k < d:
            # the k smallest of d uniform numbers stand at uniformly random places
            places = xp.argsort(rng.uniform((runs, d), "coordinates"), axis=1)[:, :k]
        else:
            places = xp.arange(d)[None, :] + xp.zeros((runs, 1), dtype=xp.int64)
        scaled = (xp.take_along_axis(mean, places, axis=1) + self.lipschitz) / self.spacing
        code = xp.floor(scaled + rng.uniform((runs, k), "rounding"))
        # a mean gradient may exceed L by rounding of floats
        code = xp.clip(code, 0.0, float(2**self.bits - 1))
        return xp.stack([xp.astype(places, xp.int64), xp.astype(code, xp.int64)], axis=1)

    def decode(self, message: Array, dimension: int) -> Array:
        """The factor d / k times the grid points, 0 where nothing was sent; shape (runs, d)."""
        xp = namespace(message)
        k = self.sent(dimension)
        places, codes = message[:, 0, :], xp.astype(message[:, 1, :], xp.float64)
        values = (codes * self.spacing - self.lipschitz) * (dimension / k)
        if k == dimension:
            return values
        columns = xp.arange(dimension)
        estimate = xp.zeros((message.shape[0], dimension), dtype=xp.float64)
        for j in range(k):
            here = xp.astype(places[:, j][:, None] == columns[None, :], xp.float64)
            estimate += here * values[:, j][:, None]
        return estimate


@dataclass(frozen=True)
class GaussianChannel(_Channel):
    """Answers with the mean gradient and N(0, (sigma^2 / d) I)."""

    noise: Positive
    """sigma, the root of the noise's mean squared norm, in loss over length."""
    lipschitz: Positive = 1.0
    """L, the largest norm of a gradient, in loss over length."""

    def capacity(self, dimension: int) -> float:
        """(d / 2) ln(1 + L^2 / sigma^2), nats: what inputs with mean squared norm L^2 can carry.

        d coordinates of power L^2 / d and noise sigma^2 / d each. Gradients with norm at most L carry less, because
        the Gaussian law that attains this has no bounded support.
        """
        ratio = (self.lipschitz / self.noise) ** 2
        return whole_number("dimension", dimension) / 2 * math.log1p(ratio)

    def printed_capacity(self, dimension: int) -> float:
        """Section 5's bound d / sigma^2 for L = 1, nats; with L it is d L^2 / sigma^2."""
        return whole_number("dimension", dimension) * (self.lipschitz / self.noise) ** 2

    def squared_error(self, dimension: int) -> float:
        """sigma^2, exactly."""
        return self.noise**2

    def respond(self, answers: FirstOrder, *, rng: Randomness) -> Array:
        """Shape (runs, d)."""
        return answers.noisy_mean_gradient(self.noise / math.sqrt(answers.dimension), rng)

    def decode(self, message: Array, dimension: int) -> Array:
        """The message itself."""
        return message


@dataclass(frozen=True)
class LimitedOracleSGD(Weakenable):
    """mn25, Section 5: SGD that sees the loss through an oracle of bounded information; the mean of the points.

    T times w <- Proj(w - eta g), where g is decoded from a message about m random records, drawn with
    replacement: E[g] is a gradient of the mean risk and E||g||^2 <= V = L^2 + (the oracle's squared error). With
    eta = B / sqrt(V T) the expected excess risk is at most B sqrt(V / T), and T = V (B / alpha)^2, rounded up, makes
    that alpha. For the Gaussian channel with L = 1 these are B^2 (1 + sigma^2) / alpha^2 calls, the order of
    Theorem 5's lower bound B^2 L^2 d / (alpha^2 Gamma) at its capacity Gamma <= d / sigma^2.

    Guarantee: none of privacy. Each message carries at most `oracle.capacity(d)` nats about its gradients.

    Assumptions: convex, L-Lipschitz losses for records in the unit ball, with the L that the oracle was told; a
    bounded set.

    Attributes:
        problem: loss and constraint set.
        oracle: a `QuantizingOracle` or a `GaussianChannel`, or another `LimitedOracle`.
        accuracy: alpha, in units of the loss.
        batch_size: m.
        steps: T, instead of the above.
        rate: eta in length^2 over loss, instead of the above.
        start: w_1 in the constraint set, d numbers; the set's center if None.
    """

    problem: Problem
    oracle: LimitedOracle
    accuracy: Positive
    batch_size: Count = 1
    steps: Count | None = None
    rate: Positive | None = None
    start: Sequence[float] | None = None

    id = "mn25.limited-oracle"
    hands_over = "all runs"
    statements = ("mn25.thm5", "mn25.prelim")
    unstated = reasons("mn25.limited-oracle")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, QuantizingOracle(2.0), 0.5, steps=3),
            "asked": lambda: cls(at.mean, QuantizingOracle(2.0), at.epsilon),
        }

    def __post_init__(self) -> None:
        """Refuse an oracle that was told a smaller Lipschitz constant than the loss has."""
        super().__post_init__()
        check_problem(self.problem)
        of_kind("oracle", self.oracle, LimitedOracle, "a LimitedOracle")
        told, lipschitz = (
            getattr(self.oracle, "lipschitz", math.inf),
            self.problem.constants.lipschitz_constant,
        )
        if not told >= lipschitz * (1 - 1e-12):
            raise InvalidArgumentError("oracle.lipschitz", told, f"at least the loss's, {lipschitz:g}")
        object.__setattr__(self, "start", normalized_start(self.start, self.problem.constraint))

    @property
    def second_moment(self) -> float:
        """V, a bound on E||g||^2, in squared loss over length."""
        dimension = self.problem.constraint.dimension
        return self.problem.constants.lipschitz_constant**2 + self.oracle.squared_error(dimension)

    @property
    def step_count(self) -> int:
        """T."""
        if self.steps is not None:
            return self.steps
        ratio = self.problem.constraint.diameter / self.accuracy
        return max(1, math.ceil(self.second_moment * ratio**2 * (1 - 1e-12)))

    @property
    def step_size(self) -> float:
        """eta, in length^2 over loss."""
        if self.rate is not None:
            return self.rate
        return self.problem.constraint.diameter / math.sqrt(self.second_moment * self.step_count)

    @property
    def information(self) -> float:
        """Nats that all messages of a run can carry."""
        return self.step_count * self.oracle.capacity(self.problem.constraint.dimension)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Gradients and projections of a run."""
        whole_number("n", n)
        # the paper states those of the channel
        printed = isinstance(self.oracle, GaussianChannel) and self.batch_size == 1
        name = f"mn25.limited-oracle/queries{' of a channel' if printed else ''}"
        row, steps = words(name, steps=self.step_count), self.step_count
        projections = StatedQueries("projection", steps, sources=row["sources"])
        return (StatedQueries("gradient", steps * self.batch_size, **row), projections)

    def risk_bound(self, n: int) -> StatedRisk:
        """r^2 / (2 eta T) + eta V / 2, r the largest distance from w_1, and never more than B L.

        `theorem` has B in the place of r: the accuracy, with the tuning above.
        """
        whole_number("n", n)
        constraint = self.problem.constraint
        most = constraint.diameter * self.problem.constants.lipschitz_constant

        def bound(distance: float) -> float:
            descent = distance**2 / (2 * self.step_size * self.step_count)
            return min(descent + self.step_size * self.second_moment / 2, most)

        found, theorem = bound(reach(self.start, constraint)), bound(constraint.diameter)
        return StatedRisk(found, total=False, theorem=theorem, **words("mn25.limited-oracle/risk"))

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d).

        Raises:
            InvalidDataError: if a record is outside what the loss's constants hold for.
        """
        data = covered(data, self.problem)
        interaction = Interaction(self.problem, data, self.oracle, rng=rng, runs=runs)
        draw = partial(rng.integers, 0, data.n, (runs, self.batch_size), "records")
        decode = partial(self.oracle.decode, dimension=data.d)
        return mean_of_descent(interaction, self.start, self.step_count, self.step_size, draw, decode)
