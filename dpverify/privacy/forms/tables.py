"""Claims that are tables: points of a privacy profile or of a trade-off function, and privacy loss distributions."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import quantities
from dpverify.privacy.guarantees import FDP, Guarantee

_UP = 1 + 2.0**-46
_POINTS = 'an object with "epsilons" and "deltas", lists of equally many numbers'
_LOSSES = (
    'an object with "losses" and "probabilities", lists of equally many numbers, and "infinity", or a list of such '
    "objects"
)
_TRADEOFF = 'an object with "alphas" and "betas", lists of equally many numbers'
_SLACK = 1e-9
"""By which a trade-off function may miss its shape, as by decimals that were rounded."""


@dataclass(frozen=True)
class ProfilePoints(Guarantee):
    """(epsilon, delta)-DP at several epsilons (nats) at once: OpenDP's privacy profile at points, for instance.

    In u = e^eps the profile is convex, 1 at u = 0, and at 1/u it is 1 - (1 - delta)/u, since the bounds hold in both
    directions. So chords between all these points are bounds as well; beyond the last point, the last delta is.
    """

    points: tuple[tuple[float, float], ...]
    label: str = "privacy profile"

    def __post_init__(self) -> None:
        for epsilon, delta in self.points:
            quantities.epsilon(epsilon)
            checks.number("epsilon", epsilon, at_most=700, allowed="at most 700 nats")
            checks.number("delta", delta, at_least=0, at_most=1, allowed="a real number in [0, 1]")
        epsilons = [epsilon for epsilon, _ in self.points]
        if not epsilons or sorted(set(epsilons)) != epsilons:
            raise InvalidArgumentError("epsilon", epsilons, "at least one epsilon, ascending and each once")

    def __str__(self) -> str:
        return self.label

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        known = [(math.exp(e), d) for e, d in self.points]
        mirrored = [(math.exp(-e), -math.expm1(-e) + math.exp(-e) * d) for e, d in self.points]
        hull: list[tuple[float, float]] = []
        for point in sorted([(0.0, 1.0), *mirrored, *known]):
            while len(hull) > 1 and _above(hull[-2], hull[-1], point):
                hull.pop()
            hull.append(point)
        u, d = (np.array(values) for values in zip(*hull, strict=True))
        # a hull may rise again where later deltas are larger; the profile does not
        with np.errstate(over="ignore"):
            found = np.interp(np.exp(epsilon), u, np.minimum.accumulate(d))
        lowest = min(delta for _, delta in self.points)
        raised = np.minimum(found * _UP, 1.0)
        return np.where(found > lowest, raised, lowest)


def _above(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Whether the middle point lies on or above the chord of its neighbors."""
    rise = (middle[1] - first[1]) * (last[0] - first[0])
    return rise >= (last[1] - first[1]) * (middle[0] - first[0])


@dataclass(frozen=True)
class LossDistribution(Guarantee):
    """A privacy loss distribution, or several of which the worst counts: one for removing and one for adding a record.

    With losses l of probability p, and an infinite loss of probability `infinity`, the profile is infinity +
    sum of p (1 - e^(eps - l)) over losses above eps (Koskela, Jalko and Honkela 2020; dp-accounting's pessimistic
    estimate).
    """

    parts: tuple[tuple[tuple[float, ...], tuple[float, ...], float], ...]
    """Losses (nats), probabilities, probability of an infinite loss."""
    label: str = "privacy loss distribution"

    def __post_init__(self) -> None:
        for losses, probabilities, infinity in self.parts:
            checks.numbers("losses", losses, allowed="finite real numbers")
            checks.numbers(
                "probabilities", probabilities, at_least=0, at_most=1, allowed="real numbers in [0, 1]"
            )
            checks.number("infinity", infinity, at_least=0, at_most=1, allowed="a real number in [0, 1]")
            total = math.fsum((*probabilities, infinity))
            if not abs(total - 1) <= 1e-6:
                raise InvalidArgumentError("probabilities", total, "a sum of 1 with that of an infinite loss")

    def __str__(self) -> str:
        return self.label

    def _profile(self, epsilon: FloatArray) -> FloatArray:
        return quantities.in_blocks(self._at, epsilon)

    def _at(self, epsilon: FloatArray) -> FloatArray:
        worst = np.zeros(len(epsilon))
        for losses, probabilities, infinity in self.parts:
            loss, weight = np.array(losses), np.array(probabilities)
            # what the probabilities lack of 1 may be lost in any way
            lost = max(0.0, 1 - math.fsum((*probabilities, infinity)))
            sums = [float(-np.expm1(np.minimum(e - loss, 0.0)) @ weight) for e in epsilon]
            worst = np.maximum(worst, infinity + (lost if lost > 1e-15 else 0.0) + np.array(sums) * _UP)
        return np.minimum(worst, 1.0)


@dataclass(frozen=True)
class StraightTradeoff:
    """A trade-off function through points (type I error, type II error), straight between them.

    Where rounded decimals miss convexity or 1 - alpha by up to 1e-9, it lies below the points: a claim that says less.

    Raises:
        InvalidArgumentError: unless the type I errors ascend from 0 to 1, and the curve is convex, non-increasing and
            at most 1 - alpha.
    """

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        alphas, betas = ([point[k] for point in self.points] for k in (0, 1))
        checks.numbers("alphas", alphas, at_least=0, at_most=1, allowed="real numbers in [0, 1]")
        checks.numbers("betas", betas, at_least=0, at_most=1, allowed="real numbers in [0, 1]")
        if sorted(set(alphas)) != alphas or alphas[0] != 0 or alphas[-1] != 1:
            raise InvalidArgumentError("alphas", alphas, "ascending numbers from 0 to 1, each once")
        lower, errors = self(np.array(alphas)), np.array(betas)
        # the hull lies below the points; it is far below where they are not convex
        if not np.all(errors <= lower + _SLACK) or not np.all(np.diff(errors) <= _SLACK):
            allowed = "a convex non-increasing function of the type I error alpha, at most 1 - alpha"
            raise InvalidArgumentError("betas", betas, allowed)

    def __call__(self, alpha: FloatArray) -> FloatArray:
        """The type II error at a type I error, in [0, 1]."""
        hull: list[tuple[float, float]] = []
        smallest = 1.0
        for one, error in self.points:
            smallest = min(smallest, error, 1 - one)
            while len(hull) > 1 and _above(hull[-2], hull[-1], (one, smallest)):
                hull.pop()
            hull.append((one, smallest))
        alphas, betas = (np.array(values) for values in zip(*hull, strict=True))
        return np.asarray(np.clip(np.interp(alpha, alphas, betas), 0.0, 1.0))


def read_table(kind: str, file: str) -> Guarantee:
    """The claim in a JSON file: a `profile`, a `pld` or a `tradeoff`; its label is `profile=FILE`, say.

    Raises:
        InvalidArgumentError: for a file that cannot be read or holds anything else.
    """
    allowed = {"profile": _POINTS, "tradeoff": _TRADEOFF}.get(kind, _LOSSES)
    label = f"{kind}={file}"
    try:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidArgumentError(
            "claim", label, f"a JSON file that can be read ({error.strerror})"
        ) from error
    except ValueError as error:
        raise InvalidArgumentError("claim", label, f"a file that holds JSON, {allowed}") from error
    try:
        if kind == "profile":
            points = zip(_listed(found["epsilons"]), _listed(found["deltas"]), strict=True)
            return ProfilePoints(tuple(points), label)
        if kind == "tradeoff":
            errors = zip(_listed(found["alphas"]), _listed(found["betas"]), strict=True)
            return FDP(StraightTradeoff(tuple(errors)), label)
        parts = found if isinstance(found, list) else [found]
        if not parts:
            raise ValueError("none")
        return LossDistribution(tuple(_part(part) for part in parts), label)
    except InvalidArgumentError as error:
        raise InvalidArgumentError("claim", label, f"{error.argument} as {error.allowed}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidArgumentError("claim", label, f"a file with {allowed}") from error


def _part(found: Any) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    losses, probabilities = _listed(found["losses"]), _listed(found["probabilities"])
    if len(losses) != len(probabilities) or not losses:
        raise ValueError("of different lengths")
    return losses, probabilities, _listed([found["infinity"]])[0]


def _listed(values: Any) -> tuple[float, ...]:
    if not isinstance(values, list) or any(type(value) not in (int, float) for value in values):
        raise TypeError("no list of numbers")
    return tuple(float(value) for value in values)
