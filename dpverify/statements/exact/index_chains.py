"""The noisy gradient methods as chains whose last state is released, on data sets with one or two features."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify import checks
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.conditions import covered
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD
from dpverify.auditing.exact import (
    Map,
    NoisyChain,
    NoisyStep,
    PiecewiseMap,
    ProfileEnclosure,
    StepMap,
    gradient_step,
    last_iterate_profiles,
)
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.records import Interval
from dpverify.problems import (
    ContractOrDrift,
    Dataset,
    EuclideanDistance,
    GeneralizedLinear,
    HalfSquaredDistance,
    Hinge,
    Linear,
    Logistic,
    Loss,
    Squared,
    is_generalized_linear,
)
from dpverify.problems.problem import without_ridge
from dpverify.problems.smoothed_losses import DENSITY_AT_0, AbsoluteError, SmoothedGeneralizedLinear

Algorithm = PNSGD | SkipPNSGD | StopPNSGD | PNMSGD | SmoothedPNSGD | NoisyGradientDescent
"""Those that are chains; `fmtt18.public` is a `SkipPNSGD`."""

_THIRD_DERIVATIVES: dict[type[Any], float] = {
    Linear: 0.0,
    Squared: 0.0,
    HalfSquaredDistance: 0.0,
    ContractOrDrift: 0.0,
    # of log(1 + e^-z): s (1 - s) (1 - 2 s) for a number s in [0, 1], largest at 1/2 - 1/(2 sqrt 3)
    Logistic: 1 / (6 * math.sqrt(3)),
}
"""Lipschitz constants of Hessians for records in the unit ball, for losses where one is known."""


_KINK_AT_LABEL = (Hinge, AbsoluteError)
"""Losses that are linear in <w, x> on both sides of the point where it is the label."""


def _hessian_lipschitz(loss: Loss) -> float:
    """For records in the unit ball; infinite if there is none or none is known."""
    if isinstance(loss, SmoothedGeneralizedLinear):
        # a mean over moved copies of the base loss
        known = _THIRD_DERIVATIVES.get(type(loss.base), math.inf)
        if math.isinf(loss.base.smoothness):
            # its slope jumps at one point: by that much times the kernel's density, by that much times its derivative
            jump = loss.smoothness * loss.width / DENSITY_AT_0
            known = min(known, jump * DENSITY_AT_0 * math.exp(-0.5) / loss.width**2)
        return known
    return _THIRD_DERIVATIVES.get(type(loss), math.inf)


class _Steps:
    """The steps of one algorithm on records; equal ones are the same object."""

    def __init__(self, algorithm: Algorithm) -> None:
        self._loss: Loss = algorithm.problem.loss
        self._maps: dict[tuple[bytes, float, float], Map] = {}
        self._steps: dict[tuple[Any, ...], NoisyStep] = {}

    def map(self, x: FloatArray, y: float, rate: float) -> Map:
        """The map w - rate gradient(w; x, y)."""
        key = (x.tobytes(), y, rate)
        if key not in self._maps:
            self._maps[key] = self._kinked(x, y, rate) or self._smooth(x, y, rate)
        return self._maps[key]

    def _kinked(self, x: FloatArray, y: float, rate: float) -> PiecewiseMap | None:
        """The map on a loss that is linear on both sides of a kink; None for other losses, and a record without one."""
        loss, ridge = without_ridge(self._loss)
        label = np.float64(y)
        slopes: list[FloatArray]
        if isinstance(loss, _KINK_AT_LABEL):
            assert isinstance(loss, GeneralizedLinear)
            normal, jump = x, y
            slopes = [loss.link_slope(np.array([y + by]), label)[:, None] * x for by in (-1.0, 1.0)]
        elif isinstance(loss, EuclideanDistance) and len(x) == 1:
            normal, jump = np.ones(1), float(x[0])
            slopes = [-np.ones((1, 1)), np.ones((1, 1))]
        else:
            return None
        if not np.any(normal):
            return None
        kept = 1 - rate * ridge

        def piece(by: FloatArray) -> StepMap:
            return StepMap(lambda w: np.asarray(kept * w - by), abs(kept), 0.0, 0.0)

        pieces = tuple(piece(rate * slope) for slope in slopes)
        return PiecewiseMap(self._step_on(x, y, rate), pieces, tuple(normal.tolist()), (jump,))

    def _step_on(self, x: FloatArray, y: float, rate: float) -> Callable[[FloatArray], FloatArray]:
        return lambda w: np.asarray(w - rate * np.asarray(self._loss.gradient(w, x, np.float64(y))))

    def _smooth(self, x: FloatArray, y: float, rate: float) -> StepMap:
        """The map on a loss without kinks."""
        loss, ridge = without_ridge(self._loss)
        smoothness, convexity = self._loss.smoothness, self._loss.strong_convexity
        curvature = _hessian_lipschitz(loss)
        if is_generalized_linear(loss):
            # a short record bends the loss less
            length = float(np.linalg.norm(x)) * (1 + 1e-12)
            if math.isfinite(smoothness):
                smoothness = min(smoothness, ridge + loss.smoothness * length**2)
            curvature = curvature * length**3 if length > 0 else 0.0
        if not np.any(x) and isinstance(loss, _KINK_AT_LABEL):
            smoothness = ridge
        return gradient_step(
            lambda w: np.asarray(self._loss.gradient(w, x, np.float64(y))),
            rate,
            smoothness=smoothness,
            strong_convexity=min(convexity, smoothness),
            hessian_lipschitz=curvature,
        )

    def single(self, x: FloatArray, y: float, rate: float, noise_stddev: float) -> NoisyStep:
        """A step on one record."""
        return self._step((self.map(x, y, rate),), (1.0,), noise_stddev)

    def drawn(self, data: Dataset, rate: float, noise_stddev: float) -> NoisyStep:
        """A step on a record that is drawn uniformly."""
        counts: dict[Map, int] = {}
        for x, y in zip(data.features, data.labels, strict=True):
            one = self.map(x, float(y), rate)
            counts[one] = counts.get(one, 0) + 1
        # in the order in which they were first met, whatever the order of these records
        ordered = [(one, counts[one]) for one in self._maps.values() if one in counts]
        probabilities = tuple(count / data.n for _, count in ordered)
        return self._step(tuple(one for one, _ in ordered), probabilities, noise_stddev)

    def _step(
        self, maps: tuple[Map, ...], probabilities: tuple[float, ...], noise_stddev: float
    ) -> NoisyStep:
        key = (maps, probabilities, noise_stddev)
        if key not in self._steps:
            self._steps[key] = NoisyStep(maps, noise_stddev, probabilities)
        return self._steps[key]


def chains(algorithm: Algorithm, data: Sequence[Dataset]) -> list[NoisyChain]:
    """The algorithm on each of some data sets of the same size; equal steps are shared.

    Args:
        algorithm: projected noisy SGD (fmtt18.alg1, skip, stop, alg2, public, smoothing) or bst14.alg1, with noise.
        data: records with one or two features, which the loss's constants cover.

    Raises:
        InvalidArgumentError: for other algorithms, losses that are neither smooth nor linear on both sides
            of a kink (hinge, absolute error, on a line the distance), and sets other than intervals, rectangles, discs
            and the whole line or plane.
        InvalidDataError: for records outside the unit ball or the range of labels, or data sets of different sizes.
    """
    if not isinstance(algorithm, Algorithm):
        raise InvalidArgumentError(
            "algorithm",
            algorithm,
            "one that is a noisy chain: fmtt18.alg1, skip, stop, alg2, public, smoothing, or bst14.alg1",
        )
    if isinstance(algorithm, SmoothedPNSGD):
        return chains(algorithm.algorithm, data)
    steps = _Steps(algorithm)
    found = []
    for one in data:
        there = one.as_namespace(np)
        if there.n != data[0].n or there.d != algorithm.problem.constraint.dimension:
            raise InvalidDataError(
                f"{there.name} has {there.n} records of {there.d} features; allowed: {data[0].n} of "
                f"{algorithm.problem.constraint.dimension}."
            )
        there = covered(there, algorithm.problem)
        found.append(_chain(algorithm, there, steps))
    return found


def noisy_chain(algorithm: Algorithm, data: Dataset) -> NoisyChain:
    """The algorithm on one data set; see `chains`."""
    return chains(algorithm, [data])[0]


def _chain(algorithm: Algorithm, data: Dataset, steps: _Steps) -> NoisyChain:
    n, constraint, start = data.n, algorithm.problem.constraint, algorithm.start
    skipped = stopped = None
    if isinstance(algorithm, NoisyGradientDescent):
        stddev = algorithm.noise_stddev(n)
        rates = [algorithm.rate(n, t) for t in range(1, algorithm.step_count(n) + 1)]
        taken = tuple(steps.drawn(data, rate * n, rate * stddev) for rate in rates)
    else:
        assert not isinstance(algorithm, SmoothedPNSGD)
        stddev = algorithm.rate * algorithm.noise_stddev
        taken = tuple(
            steps.single(x, float(y), algorithm.rate, stddev)
            for x, y in zip(data.features, data.labels, strict=True)
        )
        if isinstance(algorithm, PNMSGD):
            taken *= algorithm.passes(n)
        elif isinstance(algorithm, SkipPNSGD):
            skipped = (1 / (n // 2 + 1),) * (n // 2 + 1)
        elif isinstance(algorithm, StopPNSGD):
            fewest = algorithm.fewest_steps(n)
            stopped = (0.0,) * (fewest - 1) + (1 / (n - fewest + 1),) * (n - fewest + 1)
    assert start is not None
    return NoisyChain(start, taken, constraint, skipped, stopped)  # type: ignore[arg-type]


def index_profiles(
    algorithm: Algorithm,
    data: Dataset,
    *,
    record: tuple[Sequence[float], float],
    indices: Sequence[int],
    delta: float,
    accuracy: float = 0.01,
    most_node_steps: float = 1e9,
) -> dict[int, ProfileEnclosure]:
    """Enclosures of what the last iterate gives away about each of some records (replace-one at that index).

    Args:
        algorithm: as for `chains`.
        data: n records.
        record: features and label of the record that replaces one of them.
        indices: which ones are replaced, one at a time; from 1.
        delta: at which the accuracy is asked for.
        accuracy: relative width of an interval for epsilon, as for `last_iterate_profiles`.
        most_node_steps: as there.

    Returns:
        By index.

    Raises:
        InvalidArgumentError: as `chains` and `last_iterate_profiles`, and for indices outside 1, ..., n.

    Examples:
        >>> import numpy as np
        >>> from dpverify.algorithms.fmtt18 import PNSGD
        >>> from dpverify.problems import Ball, Dataset, Logistic, Problem
        >>> from dpverify.statements.exact import index_profiles
        >>> descent = PNSGD(Problem(Logistic(), Ball(1, 1.0)), rate=0.5, noise_stddev=2.0)
        >>> data = Dataset(np.ones((6, 1)), np.ones(6))
        >>> found = index_profiles(descent, data, record=([-1.0], 1.0), indices=[1, 6], delta=1e-5, accuracy=0.05)
        >>> for index, enclosure in found.items():
        ...     proved = descent.guarantee_at(6, index).guarantee.epsilon_at(1e-5)
        ...     print(index, enclosure.epsilon(1e-5).upper < proved)  # on this pair less than in the worst case
        1 True
        6 True
    """
    checks.of_kind("data", data, Dataset)
    checks.items("record", record, object, "features and a label", least=2)
    checks.items("indices", indices, object, "integers from 1 to n")
    places = [checks.whole_number("indices", index, at_most=data.n) for index in indices]
    neighbors = [data.replace(index, *record) for index in places]
    left, *rights = chains(algorithm, [data, *neighbors])
    found = last_iterate_profiles(
        left, rights, delta=delta, accuracy=accuracy, most_node_steps=most_node_steps
    )
    return dict(zip(places, found, strict=True))


@dataclass(frozen=True)
class ExactEpsilon:
    """From a delta to an enclosure of the smallest epsilon on one pair of data sets; see `chains`."""

    algorithm: Algorithm
    left: Dataset
    right: Dataset
    accuracy: float = 0.005
    """Relative width."""

    def __call__(self, delta: float) -> Interval:
        """Enclose it, in nats.

        Raises:
            InvalidArgumentError, InvalidDataError: as `chains` and `last_iterate_profiles`.
        """
        left, right = chains(self.algorithm, [self.left, self.right])
        (found,) = last_iterate_profiles(left, [right], delta=delta, accuracy=self.accuracy)
        return found.epsilon(delta)
