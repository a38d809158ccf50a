"""Audits at the sizes that people have: what the papers' `audits.real_size` are built from.

The data set is taken whole, 569 records of 30 features of breast cancer. Privacy is audited with the worst record that
the bounds allow: linear losses, or distances to the records, and the longest record of all in the replaced place.
Such audits belong to the full profile; one that is asked for by name in a quick run makes a tenth of the runs.

What is foreseen to take too long at that size is audited at the largest size that is not, and its title says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from dpverify.auditing import Bound, PrivacyQuestion
from dpverify.auditing.subjects import OnPair, RiskOf
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.problems import Ball, Dataset, Linear, NeighborPair, Problem, load, opposite_neighbor
from dpverify.running import Randomness
from dpverify.running.foresight import foresee_stated
from dpverify.statements.audit_parts import NOISE, OnFreshSamples, longest_record_at, mean_problem, on_pair
from dpverify.statements.plans import PRIVACY, RISK, Audit, Cases, Corrected, Origin, Plan, Profile, along

DATA, SIZE, DIMENSION = "breast-cancer", 569, 30
"""The data set, whole."""

EPSILON, DELTA = 1.0, 1e-5

RUNS_A_SAMPLE = 10
"""Runs that share one sample of the population."""

Make = Callable[[], Any]
"""A mechanism with a `problem`, made where the audit runs."""


def _fewer(profile: Profile, runs: int) -> int:
    """All runs in the full profile, a tenth of them in the quick one."""
    return runs if profile is Profile.FULL else max(20, runs // 10)


def mean() -> Problem:
    """The mean of all records, strongly convex and quadratic."""
    return mean_problem(DIMENSION, 1.0)


def linear() -> Problem:
    """Linear losses on the unit ball: two gradients are up to 2 L apart."""
    return Problem(Linear(), Ball(DIMENSION, 1.0))


def worst_pair(loss: Any, index: int = SIZE) -> NeighborPair:
    """All records, the longest one of them at an index from 1, and there it is replaced by the most different one."""
    return opposite_neighbor(loss, longest_record_at(DATA, index, n=SIZE, d=DIMENSION), index)


def _privacy(
    make: Make,
    index: int,
    runs: int,
    fault: str,
    losses: Callable[[Any], Any],
    origin: Origin | None,
    profile: Profile,
) -> Audit:
    mechanism = make()
    pair = worst_pair(losses(mechanism), index)
    stated = mechanism.guarantee_at(SIZE, index) if hasattr(mechanism, "guarantee_at") else None
    stated = stated or on_pair(mechanism.guarantees(SIZE).sharpest, pair)
    printed = mechanism.guarantees(SIZE).as_printed
    return Audit(
        PrivacyQuestion(
            stated,
            pair.description,
            _fewer(profile, runs),
            origin=origin
            or Corrected(
                stated.sources[0] if stated.sources else mechanism.id,
                f"{printed}: what the paper concludes for these parameters, corrected where that is false"
                if printed
                else "nothing for all records and these parameters",
                "the sharpest guarantee that the algorithm states, for the record that is replaced",
                f"n = {SIZE}, d = {DIMENSION}, with these parameters",
            ),
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=fault),
    )


def _loss(mechanism: Any) -> Any:
    return mechanism.problem.loss


def privacy(
    id_: str,
    title: str,
    make: Make,
    *,
    runs: int,
    index: int = SIZE,
    fault: str = NOISE,
    losses: Callable[[Any], Any] = _loss,
    origin: Origin | None = None,
) -> Plan:
    """A privacy audit of what `make` makes; `losses` says of what loss the most different record is sought.

    Without an `origin`, the claim is the sharpest guarantee that the algorithm states, beside what the paper concludes.
    """
    return Plan(
        f"{id_}/real-size/privacy",
        id_,
        f"{title} at real size, {SIZE} records of {DIMENSION} features",
        PRIVACY,
        partial(_privacy, make, index, runs, fault, losses, origin),
        Profile.FULL,
    )


@dataclass(frozen=True)
class StatedRiskCases:
    """The bound that a mechanism states on its excess risk, on a data set or with it as the population."""

    make: Make
    data: Callable[[], Dataset]
    runs: int
    problem: Callable[[Any], Problem] = lambda mechanism: mechanism.problem

    def __call__(self, profile: Profile) -> Cases:
        """One case."""
        mechanism, data = self.make(), self.data()
        problem, stated = self.problem(mechanism), mechanism.risk_bound(data.n)
        if stated is None or stated.probability is not None:
            raise AssertionError(f"{mechanism.id} bounds no expected risk of {data.n} records")
        runs, several, drawn = _fewer(profile, self.runs), 1, mechanism
        if stated.population:
            several, drawn = RUNS_A_SAMPLE, OnFreshSamples(mechanism, data.n)
            runs = several * math.ceil(runs / several)
        bound = Bound(
            bound=stated.bound,
            claim=str(stated),
            data=f"{data.name}, {data.n} records of {data.d} features"
            + (" as the population, samples of as many" if stated.population else ""),
            runs=runs,
            origin=Corrected(
                stated.sources[0] if stated.sources else mechanism.id,
                "the risk of the theorem, with its O( ) where it has one",
                "the bound that the algorithm states, with every constant",
                f"n = {data.n}, d = {data.d}, with these parameters",
            ),
        )
        return ((bound, RiskOf(drawn, problem, data, total=stated.total, runs_a_sample=several)),)


def whole() -> Dataset:
    """All records."""
    return load(DATA)


def risk(id_: str, title: str, make: Make, *, runs: int, data: Callable[[], Dataset] = whole) -> Plan:
    """An audit of the risk bound that what `make` makes states."""
    return Plan(
        f"{id_}/real-size/risk",
        id_,
        f"Risk of {title} at real size, {SIZE} records of {DIMENSION} features",
        RISK,
        along(StatedRiskCases(make, data, runs)),
        Profile.FULL,
    )


# ------------------------------------------------------------------------------------------ what is refused


def refusal(make: Callable[[int, int], Any], n: int, d: int) -> str | None:
    """Why a run on n records of d features is not started, with its foreseen cost; None where it is."""
    try:
        mechanism, data = make(n, d), load(DATA, n=n, d=d)
        foresee_stated(mechanism, data)
        mechanism(data, rng=Randomness(0), runs=1)
    except DpverifyError as error:
        return str(error)
    return None


def largest(make: Callable[[int, int], Any], *, n: int = SIZE, d: int = 1) -> int:
    """The largest number of records up to n for which a run with d features is not refused.

    Refusals come before any work, so that little more is done than a run at half that size and a few near it.

    Raises:
        InvalidArgumentError: if every size is refused.
    """
    low, high = n, n + 1
    while low and refusal(make, low, d) is not None:
        low, high = low // 2, low
    if not low:
        raise InvalidArgumentError(
            "d", d, "a number of features at which some number of records is not refused"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if refusal(make, middle, d) is None else (low, middle)
    return low
