"""Conditions under which an algorithm's guarantee holds, and what happens if they do not."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpverify.algorithms.contract import Guarantees
from dpverify.checks import require
from dpverify.errors import InvalidArgumentError, InvalidDataError, NotGuaranteedError
from dpverify.privacy import Adjacency, Condition, ConditionKind, StatedGuarantee
from dpverify.problems import Ball, Box, ConstraintSet, Dataset, Problem, Simplex
from dpverify.problems.declared import is_our_own
from dpverify.problems.losses import check_not_flat


def refuse_or_withdraw(algorithm: str, reasons: Sequence[str], withdraw: bool) -> None:
    """Refuse parameters that void the guarantee, unless the user withdrew it."""
    require(isinstance(withdraw, bool), "withdraw_guarantee", withdraw, "True or False")
    if reasons and not withdraw:
        raise NotGuaranteedError(
            f"{algorithm} has no guarantee here: {'; '.join(reasons)}. Change that, or pass "
            "withdraw_guarantee=True to run without a guarantee."
        )


def too_small(what: str, given: float | None, least: float, words: str = "") -> tuple[str, ...]:
    """That a parameter is below the least that is proved; empty if it was not given, or is large enough, rounded."""
    if given is None or given >= least * (1 - 1e-12):
        return ()
    return (f"{what} {given:g} is below {least:g}{words}",)


PASSED_ON = frozenset({ConditionKind.NEVER_REFUSED, ConditionKind.AS_DECLARED})
"""Conditions that a wrapper can pass on if it runs algorithms on the records themselves."""


def stated_by(algorithm: Any, n: int) -> Any:
    """The `Guarantees` of a wrapped algorithm for n records; a user's own are conditional on their being true."""
    stated = algorithm.guarantees(n)
    if is_our_own(algorithm):
        return stated
    word = Condition(ConditionKind.AS_DECLARED, f"{type(algorithm).__name__} guarantees what it states")

    def on_trust(one: Any) -> Any:
        known = isinstance(one, StatedGuarantee)
        return replace(one, conditions=(*one.conditions, word)) if known else one

    return stated.map(on_trust) if isinstance(stated, Guarantees) else tuple(map(on_trust, stated))


def never_refused(detail: str) -> tuple[Condition, ...]:
    """The condition of an algorithm that refuses some data sets, or some runs on them; `detail` is when."""
    return (Condition(ConditionKind.NEVER_REFUSED, detail),)


def obstacle(stated: object, *, accepts: Collection[ConditionKind] = PASSED_ON) -> str | None:
    """Why a wrapper that claims privacy for all records cannot build on a guarantee; None if it can.

    A wrapper needs replace-one neighbors, all records protected, a guarantee of the output (not of each record's own
    report), and conditions that it can pass on.
    """
    if not isinstance(stated, StatedGuarantee):
        return f"{type(stated).__name__} is not a StatedGuarantee"
    if stated.adjacency is not Adjacency.REPLACE_ONE:
        return f"{stated.guarantee} is about {stated.adjacency.value} neighbors, not replace-one"
    if stated.local:
        return f"{stated.guarantee} is local, about each record's own report"
    if not stated.protected.is_everyone:
        return f"{stated.guarantee} protects {stated.protected}, not everyone"
    for condition in stated.conditions:
        if condition.kind not in accepts:
            return f"{stated.guarantee} holds only if {condition}"
    return None


def passed_on(*stated: StatedGuarantee) -> tuple[Condition, ...]:
    """The conditions that a wrapper's guarantee inherits from those that it builds on, each once.

    A run of the wrapper is refused when one inside it is, so "no run is refused" is inherited as it stands.
    """
    found = (condition for one in stated for condition in one.conditions if condition.kind in PASSED_ON)
    return tuple(dict.fromkeys(found))


def promised_to_all(
    stated: Iterable[StatedGuarantee], *, accepts: Collection[ConditionKind] = PASSED_ON
) -> tuple[StatedGuarantee, ...]:
    """The guarantees that a wrapper can build on; see `obstacle`."""
    return tuple(one for one in stated if obstacle(one, accepts=accepts) is None)


def explain_obstacles(
    stated: Iterable[StatedGuarantee], reason: str, *, accepts: Collection[ConditionKind] = PASSED_ON
) -> str:
    """The reason, and why a wrapper cannot build on each of the guarantees."""
    found = dict.fromkeys(obstacle(one, accepts=accepts) for one in stated)
    listed = ", and ".join(text for text in found if text is not None)
    return f"{reason} ({listed})" if listed else reason


def claim_or_obstacle(
    who: str,
    stated: Iterable[StatedGuarantee],
    n: int,
    epsilon: float,
    delta: float,
    *,
    accepts: Collection[ConditionKind] = PASSED_ON,
) -> StatedGuarantee | str:
    """The first guarantee that a wrapper can build on and that implies (epsilon, delta)-DP; why, if none does.

    Guarantees with fewer conditions come first. Epsilon and delta may be exceeded by rounding, by a factor 1 + 1e-12.
    """
    stated = tuple(stated)
    usable = promised_to_all(stated, accepts=accepts)
    for one in sorted(usable, key=lambda each: len(passed_on(each))):
        profile = one.guarantee.privacy_profile(epsilon * (1 + 1e-12))
        if float(np.asarray(profile)) <= delta * (1 + 1e-12):
            return one
    asked = f"({epsilon:g}, {delta:g})-DP" if delta > 0 else f"{epsilon:g}-DP"
    reason = f"{who} does not claim to be {asked} for all of {n} records"
    return explain_obstacles(stated, reason, accepts=accepts)


def a_dataset(data: object) -> Dataset:
    """The data set itself."""
    if not isinstance(data, Dataset):
        raise InvalidArgumentError(
            "data", data, "a dpverify.problems.Dataset, such as Dataset(features, labels)"
        )
    return data


def covered(data: object, problem: Problem) -> Dataset:
    """The records, checked to be covered by the loss's declared constants: see `Dataset.in_unit_ball`."""
    inside = a_dataset(data).in_unit_ball()
    lowest, highest = problem.constants.labels
    labels = np.asarray(inside.labels)
    if not np.all((labels >= lowest) & (labels <= highest)):
        raise InvalidDataError(
            f"A label of {inside.name} is outside [{lowest:g}, {highest:g}], where the loss's constants hold."
        )
    return inside


def admitted(algorithm: Any, data: object, *, name: str | None = None) -> Dataset:
    """The data set that an algorithm runs on: checked by `covered`, unless its guarantee was withdrawn."""
    given = a_dataset(data)
    if algorithm.withdraw_guarantee:
        return given
    refuse_or_withdraw(name or algorithm.id, algorithm.withdrawn(given.n), False)
    return covered(given, algorithm.problem)


def check_lipschitz(problem: Problem) -> None:
    """Refuse a loss that is flat, or not Lipschitz on the problem's set."""
    if not math.isfinite(problem.constants.lipschitz_constant):
        raise InvalidArgumentError("problem", problem, "a loss with a finite Lipschitz constant on the set")
    check_not_flat("problem", problem, problem.loss)


def reach(point: Sequence[float] | None, constraint: ConstraintSet) -> float:
    """Bound on the distance from a point of the set, or with None from any, to another, a length.

    Exact on a ball, box or simplex; infinite where the set is unbounded.
    """
    if point is None:
        return constraint.diameter
    at = np.asarray(point, dtype=np.float64)
    if type(constraint) is Ball:  # a subclass may have changed what is in it
        return constraint.radius + float(np.linalg.norm(at - constraint.center()))
    if type(constraint) is Box:
        ends = np.stack([np.asarray(constraint.lower), np.asarray(constraint.upper)])
        return float(np.linalg.norm(np.max(np.abs(ends - at), axis=0)))
    if type(constraint) is Simplex:
        corners = constraint.scale * np.eye(constraint.dimension)
        return float(np.max(np.linalg.norm(corners - at, axis=1)))
    return min(constraint.diameter, constraint.largest_norm + float(np.linalg.norm(at)))


def noise_distance(stddev: float, constraint: ConstraintSet) -> float:
    """Bound on sqrt(E ||Proj(a + N(0, stddev^2 I)) - a||^2) for every a in the set, a length.

    The noise's own length, and the diameter; on a ball, where the projection takes back what points away from it, what
    the worst a gives, with an allowance for each sum that stands for an integral (see `_noise_distance_on_ball`).
    """
    dimension = constraint.dimension
    found = min(stddev * math.sqrt(dimension), constraint.diameter)
    if type(constraint) is not Ball or not found > constraint.radius / 16:
        return found
    return min(found, constraint.radius * _noise_distance_on_ball(stddev / constraint.radius, dimension))


_ALONG, _ACROSS = 512, 256
_HALF = 1 / 128
"""Half of the least spacing of the lengths of a that are tried."""


@lru_cache(maxsize=256)
def _noise_distance_on_ball(stddev: float, dimension: int) -> float:
    """The same for the unit ball, from above but for the rounding of floats.

    ||Proj(a + s z) - a|| does not fall as s grows (Bertsekas 1976), and in the limit its mean square is 1 + |a|^2. From
    a to Proj(a + z) it is z + (Proj - I)(a + z), and I - Proj is nonexpansive: a shift of a moves the root by at most
    as much. So a length at which the root is some way below the largest speaks for all that are no farther away than
    that and `_HALF`.

    In one dimension the mean square is a closed form. Else z has x along a, and across it y >= 0, half of whose square
    is a Gamma((d - 1) / 2), and each is put at the middles of parts of equal mass: for m of them, a mean is missed by
    at most the variation over 2 m (Koksma). As x goes from end to end the square varies by at most 2 + 2 |a|^2: it
    falls by 4 |a| and what it rises, which is at most (1 - |a|)^2 and inside the ball. As y grows it rises inside, and
    outside goes monotonically to 1 + |a|^2: by at most 1 + |a|^2 in all.
    """
    from scipy import stats

    if stddev > 100:
        return math.sqrt(2)
    if dimension == 1:
        a = np.linspace(0.0, 1.0, 4097)
        low, high = (-1 - a) / stddev, (1 - a) / stddev
        inside = np.diff([stats.norm.cdf(end) - end * stats.norm.pdf(end) for end in (low, high)], axis=0)[0]
        squares = stddev**2 * inside + (1 + a) ** 2 * stats.norm.cdf(low) + (1 - a) ** 2 * stats.norm.sf(high)
        return math.sqrt(np.max(squares)) + 0.5 / 4096
    along = stddev * stats.norm.ppf((np.arange(_ALONG) + 0.5) / _ALONG)[:, None]
    across = 2 * stddev**2 * stats.gamma.ppf((np.arange(_ACROSS) + 0.5) / _ACROSS, (dimension - 1) / 2)
    length, worst = 1.0, 0.0
    while True:
        shrunk = 1 / np.sqrt(np.maximum(1.0, (length + along) ** 2 + across))
        square = np.mean(((length + along) * shrunk - length) ** 2 + across * shrunk**2)
        found = math.sqrt(square + (1 + length**2) * (1 / _ALONG + 0.5 / _ACROSS))
        worst = max(worst, found)
        if not length > 0:
            return min(worst + _HALF, math.sqrt(2))
        length = max(0.0, length - (worst - found) - 2 * _HALF)


def normalized_start(start: Sequence[float] | None, constraint: ConstraintSet) -> tuple[float, ...]:
    """The starting point as a tuple; the set's center if None."""
    allowed = f"{constraint.dimension} finite numbers, a point of the constraint set"
    given: Any = constraint.center() if start is None else start
    point = np.asarray(given)
    require(point.shape == (constraint.dimension,) and point.dtype.kind in "iuf", "start", start, allowed)
    point = point.astype(np.float64)
    if not np.all(np.isfinite(point)) or not np.all(constraint.contains(point[None, :], 1e-9)):
        raise InvalidArgumentError("start", start, allowed)
    if is_our_own(constraint) and not np.all(constraint.contains(point[None, :], 0.0)):
        # outside by rounding, where the loss's constants need not hold
        point = np.asarray(constraint.project(point[None, :].copy()))[0]
    return tuple(point.tolist())
