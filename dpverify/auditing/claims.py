"""What auditors need to know of a privacy claim: its profile, and its corner where it is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import ProfilePoint
from dpverify.privacy import Adjacency

CURVE_DELTA = 1e-5
"""The delta that `epsilon_lower` is about where neither the caller nor the claim names one."""
_ROUNDING = 1e-12


class Claim(Protocol):
    """What is claimed: an upper bound on the privacy profile, in both directions.

    Every `dpverify.privacy.Guarantee` is one. An (epsilon, delta) claim also has the numbers `epsilon` and,
    if it is not zero, `delta` as attributes; that is how its corner is known.
    """

    def privacy_profile(self, epsilon: Any, /) -> Any:
        """Delta at each epsilon >= 0 (nats); same shape."""


def checked_claim(claim: Claim) -> Claim:
    """Return a claim; raise `InvalidArgumentError` for what has no profile."""
    if not callable(getattr(claim, "privacy_profile", None)):
        raise InvalidArgumentError("claim", claim, "a guarantee, which has a method privacy_profile")
    return claim


def stated_corner(claim: Claim) -> tuple[float, float] | None:
    """The (epsilon, delta) of a claim that is one point; None for a curve."""
    epsilon, delta = getattr(claim, "epsilon", None), getattr(claim, "delta", 0.0)
    if isinstance(epsilon, int | float) and isinstance(delta, int | float):
        return float(epsilon), float(delta)
    return None


def delta_of(claim: Claim, delta: float | None) -> float:
    """Where epsilon is bounded: by default at the claim's own delta, which is `CURVE_DELTA` for a curve."""
    if delta is None:
        corner = stated_corner(claim)
        delta = CURVE_DELTA if corner is None else corner[1]
    return checked_delta(delta)


def checked_delta(delta: float) -> float:
    """Return a delta in [0, 1)."""
    return checks.number("delta", delta, at_least=0, below=1, allowed="a number in [0, 1)")


def claimed_deltas(claim: Claim, epsilons: FloatArray) -> FloatArray:
    """Claimed deltas at `epsilons` (k,); raises `InvalidArgumentError` for a profile that leaves [0, 1]."""
    values = np.asarray(claim.privacy_profile(epsilons), dtype=np.float64)
    if values.shape != epsilons.shape or not np.all((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)):
        raise InvalidArgumentError(
            "claim", claim, "a privacy profile with values in [0, 1], one for each epsilon"
        )
    return np.clip(values, 0.0, 1.0)


def shown_profile(
    claim: Claim, lower: Callable[[FloatArray], FloatArray], top: float, *, points: int = 61
) -> tuple[ProfilePoint, ...]:
    """Points for reports: a lower bound of the profile and the claim, up to `top` nats or beyond its corner."""
    corner = stated_corner(claim)
    stated = corner[0] if corner is not None and corner[0] <= 50 else 0.0
    epsilons = np.unique(np.append(np.linspace(0.0, max(top, 1.25 * stated), points), stated))
    return tuple(
        ProfilePoint(epsilon=float(e), delta_lower=float(low), delta_claimed=float(d))
        for e, low, d in zip(epsilons, lower(epsilons), claimed_deltas(claim, epsilons), strict=True)
    )


def checked_relation(adjacency: Adjacency | str) -> str:
    """The neighboring relation in words; raises `InvalidArgumentError` for none."""
    if not isinstance(adjacency, str) or not adjacency.strip():
        allowed = f"one of {', '.join(Adjacency)}, or the relation in words"
        raise InvalidArgumentError("adjacency", adjacency, allowed)
    return str(adjacency)
