"""Rows of audits at the sizes that people have.

The data set is taken whole, 569 records of 30 features of breast cancer. Privacy is audited with the worst record that
the bounds allow: linear losses, or distances to the records, and the longest record of all in the replaced place.

What is foreseen to take too long at that size is audited at the largest size that is not, and its title says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.white_box import StatedLaw
from dpverify.checks import require
from dpverify.errors import DpverifyError
from dpverify.ledger.origins import Corrected, Origin
from dpverify.privacy import StatedGuarantee
from dpverify.problems import Ball, Dataset, Linear, Logistic, NeighborPair, Problem, load
from dpverify.running import Randomness
from dpverify.running.foresight import foresee_stated
from dpverify.statements.audit_parts import longest_replaced, mean_problem, on_pair
from dpverify.statements.audit_rows import On, Risk

DATA, SIZE, DIMENSION = "breast-cancer", 569, 30
"""The data set, whole."""

EPSILON, DELTA = 1.0, 1e-5

Make = Callable[[], Any]
"""A mechanism with a `problem`, made where the audit runs."""


def mean() -> Problem:
    """The mean of all records, strongly convex and quadratic."""
    return mean_problem(DIMENSION, 1.0)


def linear() -> Problem:
    """Linear losses on the unit ball: two gradients are up to 2 L apart."""
    return Problem(Linear(), Ball(DIMENSION, 1.0))


def logistic(d: int = DIMENSION) -> Problem:
    """Logistic regression on the unit ball."""
    return Problem(Logistic(), Ball(d, 1.0))


def whole() -> Dataset:
    """All records."""
    return load(DATA)


def equal() -> Dataset:
    """As many records, all the same: of linear losses a point may be as far above the least as of any."""
    return Dataset(np.tile(np.eye(1, DIMENSION), (SIZE, 1)), np.ones(SIZE), "equal records")


def _origin(mechanism: Any, stated: StatedGuarantee) -> Origin:
    """Of what an algorithm states for one record, where it does not say itself."""
    printed = mechanism.guarantees(SIZE).as_printed
    return Corrected(
        stated.sources[0] if stated.sources else mechanism.id,
        f"{printed}: what the paper concludes for these parameters, corrected where that is false"
        if printed
        else "nothing for all records and these parameters",
        "the sharpest guarantee that the algorithm states, for the record that is replaced",
        f"n = {SIZE}, d = {DIMENSION}, with these parameters",
    )


def privacy(make: Make, *, index: int = SIZE, loss: Any | None = None) -> Callable[[], On]:
    """What `make` makes, where the longest record is replaced by the most different one for its loss.

    The claim is the sharpest guarantee that the algorithm states for that record, beside what the paper concludes.
    """

    def case() -> On:
        mechanism = make()
        pair = longest_replaced(loss or mechanism.problem.loss, DATA, SIZE, DIMENSION, index=index)
        stated = mechanism.guarantee_at(SIZE, index) or on_pair(mechanism.guarantees(SIZE).sharpest, pair)
        return On(mechanism, pair, stated, origin=stated.origin or _origin(mechanism, stated))

    return case


def risk(make: Make, data: Callable[[], Dataset] = whole) -> Callable[[], tuple[Risk, ...]]:
    """The risk bound that what `make` makes states for all of some data."""

    def cases() -> tuple[Risk, ...]:
        found, mechanism = data(), make()
        said = f"{found.name}, {found.n} records of {found.d} features"
        stated = mechanism.risk_bound(found.n)
        if stated is None:
            raise AssertionError(f"{mechanism.id} bounds no risk of {found.n} records")
        if stated.population:
            said += " as the population, samples of as many"
        return (Risk(mechanism, found, said, runs_a_sample=10),)

    return cases


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

    Refusals come before any work, so that little more is done than a few runs at sizes near it.
    """
    found = bisect_left(range(1, n + 1), True, key=lambda size: refusal(make, size, d) is not None)
    allowed = "a number of features at which some number of records is not refused"
    require(found, "d", d, allowed)
    return found


# ------------------------------------------------------------------------------------------ known laws


def along(pair: NeighborPair) -> NDArray[np.float64]:
    """The unit vector from the right data set's record at the place where two differ to the left one's, (d,)."""
    left, right = (np.asarray(side.features)[pair.index - 1] for side in (pair.left, pair.right))
    moved = left - right
    return np.asarray(moved / np.linalg.norm(moved))


def known(
    mechanism: Any,
    law: Callable[[NDArray[np.float64], NDArray[np.float64], float], StatedLaw],
    *,
    loss: Any | None = None,
    index: int = SIZE,
) -> On:
    """A mechanism whose output's component along the record that is moved has a known law.

    `law` gets all records' features, (n, d), that unit vector and the factor of a weakened version. The claim is the
    sharpest guarantee that is stated for that record or for all.
    """
    pair = longest_replaced(loss or mechanism.problem.loss, DATA, SIZE, DIMENSION, index=index)
    unit = along(pair)
    every = on_pair(mechanism.guarantees(SIZE).sharpest, pair)
    claims = [every, mechanism.guarantee_at(SIZE, index) or every]
    stated = min(claims, key=lambda one: float(one.guarantee.epsilon_at(DELTA)))

    def of(data: Dataset, factor: float) -> StatedLaw:
        return law(np.asarray(data.features), unit, factor)

    origin = stated.origin or _origin(mechanism, stated)
    return On(mechanism, pair, stated, origin=origin, law=of)
