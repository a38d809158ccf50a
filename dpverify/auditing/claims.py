"""What auditors need to know of a privacy claim: its profile, and its corner where it is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dpverify import checks
from dpverify.auditing.detection import Noise
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import ProfilePoint, ShownOutputs
from dpverify.ledger.records import SpentShare
from dpverify.ledger.verdicts import Gap, Verdict
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


@dataclass(frozen=True, kw_only=True)
class PrivacyFinding:
    """What any audit of a privacy claim finds."""

    verdict: Verdict
    reason: str
    claim: str
    epsilon_lower: float
    """Lower confidence bound on the smallest epsilon at `delta`, nats; at all times at once if it may stop early."""
    delta: float
    detectable: str
    """The smallest violation that such an audit finds with probability one half, on its most telling pair.

    What it finds on the pair at hand, `search_faults` tries out.
    """
    detectable_parameter: float | None = None
    """Its epsilon (for an (epsilon, delta) claim) or mu (for a curve); None if there is none."""
    detectable_on_numbers: float | None = None
    """For an (epsilon, delta) claim about noisy numbers: the epsilon of the smallest violation by shifted noise,
    Gaussian where delta is positive and Laplace where it is 0, that such an audit finds with probability one half."""
    profile: tuple[ProfilePoint, ...]
    runs: int
    """Of each side."""
    failure_probability: float
    """With at most this probability is anything that is bounded here wrong: all of it holds at once."""
    shares: tuple[SpentShare, ...]
    """How it was divided."""
    seed: int
    adjacency: str
    """The neighboring relation that the two data sets stand for."""
    shown: ShownOutputs | None = None
    """Where it is violated by outputs: what they look like."""
    gap: Gap | None = None
    """Where it is undecided: which of the known reasons it is."""
    detects_nothing: bool = False
    """True where no violation, or no weakened version of the mechanism, was or could have been flagged."""


def telling_pair(corner: tuple[float, float] | None, size: float, on_numbers: float | None = None) -> str:
    """The most telling pair of a size: its epsilon beside a corner's delta, or its mu for a curve.

    `on_numbers` is the epsilon of the smallest pair of shifted noise that is found at a corner's delta.
    """
    if corner is None:
        return f"Gaussian pair with mu = {size:.4g}"
    text = f"({size:.4g}, {corner[1]:.4g})-DP randomized response"
    if on_numbers is None:
        return text
    return f"{text}, or a {noise_of(corner[1]).value} pair with epsilon {on_numbers:.4g}"


def noise_of(delta: float) -> Noise:
    """The noise whose pair stands for outputs that are numbers: at delta 0, that of the Gaussian has no epsilon."""
    return Noise.NORMAL if delta > 0 else Noise.LAPLACE


def are_numbers(left: FloatArray, right: FloatArray) -> bool:
    """Whether outputs, (runs,) or (runs, d), are like noisy numbers: of a thousand runs, nearly no two are equal."""
    some = np.concatenate([left[:500], right[:500]])
    return bool(np.unique(some, axis=0).shape[0] >= 0.95 * some.shape[0])


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
    allowed = f"one of {', '.join(Adjacency)}, or the relation in words"
    checks.require(isinstance(adjacency, str) and adjacency.strip(), "adjacency", adjacency, allowed)
    return str(adjacency)
