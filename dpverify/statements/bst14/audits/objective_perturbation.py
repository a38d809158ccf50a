"""Audits of objective perturbation (bst14, Appendix E).

Risks are sums over the records.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy
from flint import arb

from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.auditing import ConstantQuestion, LawQuestion
from dpverify.auditing.subjects import LawOf
from dpverify.ledger.records import Interval
from dpverify.problems import Ball, Box, Dataset, HalfSquaredDistance, Problem, load
from dpverify.problems.further_losses import HuberizedPositivePart
from dpverify.statements.audit_parts import REAL_DATA, UniformOn, linear_neighbors, real_problem
from dpverify.statements.bst14.audits.perturbation_cases import (
    DIMENSION,
    EPSILON,
    NOISES,
    SIZE,
    private_case,
    ridge,
    risk_case,
)
from dpverify.statements.plans import (
    CONSTANT,
    LAW,
    PRIVACY,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    ClaimedRate,
    Plan,
    Profile,
    along,
)

REAL_EPSILON, REAL_DELTA = 2.0, 1e-3


def _objective_real(data_name: str, delta: float, profile: Profile) -> Audit:
    """Linear losses of a few real records, whose objective bends by its regularization alone."""
    pair = linear_neighbors(data_name, n=4, d=1)
    mechanism = ObjectivePerturbation(
        Problem(pair.loss, Ball(1, 1e4)), REAL_EPSILON, REAL_DELTA if delta else 0.0, regularization=1.0
    )
    return private_case(mechanism, (pair.left, pair.right), pair.description, profile.runs(20_000))


def _objective_worst(delta: float, profile: Profile) -> Audit:
    """One record in one dimension that bends where its neighbor, of opposite slope, does not."""
    problem = Problem(HuberizedPositivePart(0.5), Box((-1000.0,), (1000.0,)))
    left = Dataset([[1.0]], [1.0], "one record", "by construction")
    mechanism = ObjectivePerturbation(problem, EPSILON, 0.01 if delta else 0.0)
    return private_case(
        mechanism,
        (left, left.replace(1, [-1.0], 1.0)),
        "one record of a huberized hinge in one dimension, and its mirror image",
        profile.runs(50_000),
    )


def _objective_risk(data_name: str, delta: float, strongly: bool, profile: Profile) -> Cases:
    cases = []
    for n in (50, 100, 200):
        problem, data = ridge(data_name, n) if strongly else real_problem(data_name, n=n, d=DIMENSION)
        mechanism = ObjectivePerturbation(problem, EPSILON, delta)
        claim = "Delta R^2 / 2 + E ||b||^2 / (2 K) + n L (the minimizer's error)"
        cases.append(risk_case(mechanism, data, data_name, claim, profile.runs(2000)))
    return tuple(cases)


def _objective_rate(delta: float, profile: Profile) -> Cases:
    """Theorem E.2 on the mean of real records, whose bound is attained where no end of the set is reached."""
    constraint = Ball(DIMENSION, 1.0)
    problem = Problem(HalfSquaredDistance.on(constraint), constraint)
    cases = []
    # so that less than one run in a thousand reaches the end of the set, which would flatten the rate
    epsilon = 3.0 if delta == 0 else 9.0
    for n in (12, 24, 48):
        mechanism = ObjectivePerturbation(problem, epsilon, delta)
        data = load("breast-cancer", n=n, d=DIMENSION)
        claim = "E ||b||^2 / (2 n Delta) + n L (the minimizer's error)"
        cases.append(risk_case(mechanism, data, "mean of breast-cancer", claim, profile.runs(30_000)))
    return tuple(cases)


def _printed_epsilon(profile: Profile) -> Audit:
    """What the printed Gamma noise and the printed condition on Delta spend in one dimension."""
    spent = 1 + 10 * (arb(6) / 5).log()
    return Audit(
        ConstantQuestion(
            formula="c epsilon-DP for noise exp(-epsilon ||b|| / (2 L)) and Delta = beta / (2 epsilon)",
            latex=r"c\,\varepsilon\text{-DP for }\nu(b)\propto e^{-\varepsilon\|b\|_2/(2L)},\ "
            r"\Delta=\frac{\beta}{2\varepsilon}",
            provable=Interval(
                lower=math.nextafter(float(spent.lower()), -math.inf),
                upper=math.nextafter(float(spent.upper()), math.inf),
                rigorous=True,
            ),
            extreme="smallest",
            printed=1.0,
            parameters={"epsilon": "0.1", "dimension": "1"},
            range_fixed_by="closed form from the density of the minimizer, at epsilon = 0.1 in one dimension",
            method="1 + ln(1 + 2 epsilon) / epsilon, attained by a huberized hinge where a record begins to bend",
            decisive=True,
            origin=AsPrinted(
                "bst14.objpert-privacy", "epsilon-DP, c = 1", "every epsilon, Delta >= beta / (2 epsilon)"
            ),
        )
    )


@dataclass(frozen=True)
class _MinimizerLaw:
    """P[theta <= u] in one dimension: that of b >= -F'(u), F being the objective without its linear term."""

    mechanism: ObjectivePerturbation
    data: Dataset

    def __call__(self, at: Any) -> Any:
        u, n = np.asarray(at, dtype=np.float64), self.data.n
        slopes = n * self.mechanism.problem.mean_gradient(u.reshape(-1, 1), self.data)[:, 0].reshape(u.shape)
        slopes = slopes + self.mechanism.regularization_at(n) * u
        scale = self.mechanism.noise_scale_at(n)
        law = scipy.stats.laplace(0, scale) if self.mechanism.delta == 0 else scipy.stats.norm(0, scale)
        return law.sf(-slopes)


def first_coordinate(points: Any) -> Any:
    return np.asarray(points)[:, 0]


def _objective_law(delta: float, profile: Profile) -> Audit:
    """The exact law of the minimizer in one dimension; the noise that hides its error blurs it by little."""
    problem, data = real_problem("breast-cancer", n=SIZE, d=1)
    # so large a set that its ends are never reached, and a regularization as on a set of radius 1
    mechanism = ObjectivePerturbation(
        Problem(problem.loss, Ball(1, 1e6)), EPSILON, delta, regularization=5.0, hiding_share=0.2
    )
    n = data.n
    blur = 30 * (mechanism.hiding_scale(n) + mechanism.accuracy_at(n))
    # the density of theta is at most that of b times the largest second derivative
    steepest = n * problem.loss.smoothness + mechanism.regularization_at(n)
    return Audit(
        LawQuestion(
            reference=_MinimizerLaw(mechanism, data),
            reference_error=blur * steepest / mechanism.noise_scale_at(n) + math.exp(-30),
            distance="total variation",
            bound=0.0,
            claim="theta <= u exactly if b >= -F'(u)",
            statistic_name="theta",
            data=f"{data.name}, n = {n}, d = 1",
            runs=profile.runs(10_000),
            origin=AsPrinted(
                "bst14.alg-objpert",
                "theta minimizes L + (Delta / 2) ||theta||^2 + <b, theta>",
                "every data set",
            ),
        ),
        LawOf(mechanism, data, first_coordinate, blind=UniformOn(Ball(1, 1.0))),
    )


PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg-objpert/{name}/{noise}",
            "bst14.alg-objpert",
            f"Objective perturbation on {name}, {noise} noise",
            PRIVACY,
            partial(_objective_real, name, delta),
        )
        for name, (noise, delta) in zip(REAL_DATA, NOISES, strict=True)
    ),
    *(
        Plan(
            f"bst14.alg-objpert/worst-case/{noise}",
            "bst14.alg-objpert",
            f"Objective perturbation in one dimension, {noise} noise",
            PRIVACY,
            partial(_objective_worst, delta),
        )
        for noise, delta in NOISES
    ),
    *(
        Plan(
            f"bst14.alg-objpert/{name}/{noise}/risk",
            "bst14.alg-objpert",
            f"Risk of objective perturbation on {name}, {noise} noise",
            RISK,
            along(partial(_objective_risk, name, delta, name != REAL_DATA[0]), over="n"),
        )
        for name in REAL_DATA
        for noise, delta in NOISES
    ),
    *(
        Plan(
            f"bst14.alg-objpert/strongly-convex/{noise}/risk",
            "bst14.alg-objpert",
            f"Risk of objective perturbation of a mean, {noise} noise",
            RISK,
            along(
                partial(_objective_rate, delta),
                over="n",
                rate=ClaimedRate(
                    -1.0,
                    AsPrinted(
                        f"bst14.thmE.2.{1 if delta == 0 else 2}",
                        "1 / n",
                        "n to infinity, epsilon and delta fixed",
                    ),
                ),
            ),
        )
        for noise, delta in NOISES
    ),
    Plan(
        "bst14.alg-objpert/printed-epsilon",
        "bst14.alg-objpert",
        "What objective perturbation spends with the printed Gamma noise",
        CONSTANT,
        _printed_epsilon,
    ),
    *(
        Plan(
            f"bst14.alg-objpert/law/{noise}",
            "bst14.alg-objpert",
            f"The law of objective perturbation in one dimension, {noise} noise",
            LAW,
            partial(_objective_law, delta),
        )
        for noise, delta in NOISES
    ),
)
