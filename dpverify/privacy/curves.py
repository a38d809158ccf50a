"""Curves of a guarantee as numbers: privacy profile and trade-off function, for tables and plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.privacy import quantities
from dpverify.privacy.guarantees import Guarantee

_POINTS = 41
_SHOWN_TO = 1e-10  # the delta down to which a profile is shown
_FARTHEST = 100.0


@dataclass(frozen=True)
class Curves:
    """What a guarantee implies, rounded to the safe side."""

    profile: tuple[tuple[float, float], ...]  # pairs (epsilon, delta), epsilon rising, in nats
    tradeoff: tuple[
        tuple[float, float], ...
    ]  # (alpha, beta): with type I error alpha, type II is beta or more


def largest_epsilon(guarantee: Guarantee) -> float:
    """Up to where a profile is worth showing: it has ended, or is below 1e-10; at most 100 nats."""
    found = guarantee.epsilon_at(_SHOWN_TO)
    corner = getattr(guarantee, "epsilon", None)
    if not math.isfinite(found) and isinstance(corner, float):
        found = 1.25 * corner  # flat from there on
    return min(found, _FARTHEST) or 1.0


def curves(
    guarantee: Guarantee,
    *,
    epsilons: Sequence[float] = (),
    deltas: Sequence[float] = (),
    up_to: float | None = None,
) -> Curves:
    """Tabulate a guarantee: delta at epsilons (nats), epsilon at deltas in [0, 1); without both, at 41 epsilons."""
    points = []
    if len(epsilons):
        points += _profile(guarantee, np.array([quantities.epsilon(e) for e in epsilons]))
    points += [(guarantee.epsilon_at(quantities.delta(delta)), float(delta)) for delta in deltas]
    if not points:
        top = largest_epsilon(guarantee) if up_to is None else up_to
        checks.positive("up_to", top)
        points = _profile(guarantee, np.linspace(0.0, top, _POINTS))
    # small errors are where trade-off functions differ
    alphas = np.unique(np.concatenate([np.linspace(0, 1, 41), np.geomspace(1e-6, 0.15, 25)]))
    betas = np.asarray(guarantee.tradeoff_function(alphas))
    return Curves(tuple(sorted(points)), tuple(zip(alphas.tolist(), betas.tolist(), strict=True)))


def _profile(guarantee: Guarantee, epsilons: FloatArray) -> list[tuple[float, float]]:
    """Epsilons with deltas; one that is above 0 and below all floats is the smallest float."""
    deltas = np.asarray(guarantee.privacy_profile(epsilons))
    hidden = (deltas == 0) & (epsilons < guarantee.epsilon_at(0.0))
    return list(zip(epsilons.tolist(), np.where(hidden, math.ulp(0.0), deltas).tolist(), strict=True))
