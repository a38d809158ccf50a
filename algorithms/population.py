"""From a bound on the empirical risk to one on the population's, for records that are drawn independently from it.

Let F be the population's risk on a set C, F_S that of n records S, w the output on S. The least F_S is at most F_S at
F's minimizer, in expectation the least F, so that w's expected excess for the population is at most that for S plus
E (F(w) - F_S(w)), the gap. (Where that for S holds with a probability, L times the diameter counts for the rest.) The
gap is bounded in three ways, of which the least is taken:

- by uniform convergence, whatever w is: at most E sup over C of F - F_S. For losses that are an L-Lipschitz link of
  <w, x>, ||x|| <= 1, symmetrization and contraction (Bartlett and Mendelson 2002; Ledoux and Talagrand 1991, (4.20))
  leave 2 L r E ||sum of signs times records|| / n <= 2 L r / sqrt(n), r the largest distance from a point of C. For
  <w, x> itself and for ||w - x||^2 / 2 the difference is linear, E sup <w - c, mean - sample mean> <= r / sqrt(n).
  A ridge cancels.
- by stability (Bousquet and Elisseeff 2002): exchanging a record of S and a fresh one changes nothing in law, so that
  the gap is a mean of E (l(w'; x) - l(w; x)), w' the output where x is replaced: at most L times the expected distance,
  or s times it, s being the gradient sensitivity, as the same difference for a fixed record has the mean 0.
- by privacy: the laws of w and w' are within delta(0) in total variation, delta( ) being the privacy profile, and a
  loss varies by at most L times the diameter on C.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dpverify.algorithms.conditions import reach
from dpverify.algorithms.promises import StatedRisk
from dpverify.ledger.origins import Unstated
from dpverify.privacy import Adjacency
from dpverify.privacy.adjacency import ALL_RECORDS
from dpverify.problems import HalfSquaredDistance, Linear, Problem
from dpverify.problems.losses import GeneralizedLinear
from dpverify.problems.problem import without_ridge

if TYPE_CHECKING:
    from dpverify.algorithms.contract import Algorithm

INDEPENDENT = "the records are independent draws from the population"
_BECAUSE = "the paper bounds the empirical risk; the gap to the population's is at most {words}"


def uniform_gap(problem: Problem, n: int) -> tuple[float, str] | None:
    """A bound on E sup over the set of F - F_S, in units of the loss, and its formula; None for other losses."""
    loss, _ = without_ridge(problem.loss)
    center = tuple(float(one) for one in problem.constraint.center())
    lipschitz, each = (
        problem.base_constants.lipschitz_constant,
        reach(center, problem.constraint) / math.sqrt(n),
    )
    if not math.isfinite(each):
        return None
    if isinstance(loss, HalfSquaredDistance):
        return each, "r / sqrt(n), r the largest distance from the set's center"
    if isinstance(loss, Linear):
        return lipschitz * each, "L r / sqrt(n), r the largest distance from the set's center"
    if isinstance(loss, GeneralizedLinear) and math.isfinite(lipschitz):
        return 2 * lipschitz * each, "2 L r / sqrt(n), r the largest distance from the set's center"
    return None


def population_risk(algorithm: Algorithm, n: int) -> StatedRisk | None:
    """The expected excess population risk on n independent records; None where none follows from the empirical one."""
    stated, problem = algorithm.risk_bound(n), getattr(algorithm, "problem", None)
    if stated is None or stated.population:
        return stated
    if not isinstance(problem, Problem):
        return None
    lipschitz, diameter = problem.constants.lipschitz_constant, problem.constraint.diameter
    mean, missed = stated.bound / (n if stated.total else 1), ""
    if stated.probability is not None:
        mean += (1 - stated.probability) * lipschitz * diameter
        missed = f", L ||C|| with probability {1 - stated.probability:g}"
    found, moved = [uniform_gap(problem, n)], algorithm.stability(n)
    by_privacy: tuple[float, str] | None = None
    slope = min(lipschitz, problem.constants.gradient_sensitivity)
    if moved is not None and math.isfinite(slope):
        found.append((slope * moved, "min(L, s) times what replacing a record moves the output by"))
    privacy = algorithm.guarantees(n)
    one = privacy.headline if privacy else None
    if one and one.adjacency is Adjacency.REPLACE_ONE and one.protected == ALL_RECORDS and not one.local:
        far = lipschitz * diameter * float(one.guarantee.privacy_profile(0.0))
        by_privacy = (far, "delta(0) L ||C||, delta( ) the privacy profile") if math.isfinite(far) else None
        found.append(by_privacy)
    known = [one for one in found if one is not None]
    if not known:
        return None
    gap, words = least = min(known)
    needed = [str(each) for each in one.conditions] if one and least is by_privacy else []
    return replace(
        stated,
        bound=min(mean + gap, lipschitz * diameter),
        total=False,
        population=True,
        probability=None,
        theorem=None,
        conditions="; ".join(filter(None, (stated.conditions, INDEPENDENT, *needed))),
        formula=f"the bound on the mean empirical risk{missed}, and {words}",
        origin=Unstated(_BECAUSE.format(words=words)),
    )
