"""Audits of the inner rejection step (gll22, Algorithm 2)."""

from __future__ import annotations

import math
from functools import partial

from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep, largest_spread
from dpverify.auditing import ConstantQuestion, LawQuestion
from dpverify.auditing.subjects import LawOf
from dpverify.ledger.records import Interval
from dpverify.statements.audit_parts import REAL_DATA, UniformOn, real_problem
from dpverify.statements.gll22.audits.cases import SIZE, Coordinate, expected_queries, line_law
from dpverify.statements.plans import CONSTANT, LAW, MEAN, Audit, Cases, Corrected, Plan, Profile, along


def _step_law(data_name: str, profile: Profile) -> Audit:
    problem, data = real_problem(data_name, n=SIZE, d=1)
    temperature = 2.0 if data_name == "breast-cancer" else 1.0
    step = RejectionInnerStep(problem, temperature, 1.0, 0.005, (0.9,))
    return Audit(
        LawQuestion(
            reference=line_law(step.density, data, 1 / step.step_size, 0.9),
            reference_error=1e-6,
            distance="total variation",
            bound=step.total_variation,
            claim="total variation at most the cost of truncating the product estimate",
            statistic_name="the only coordinate",
            data=f"{data_name}, n = {SIZE}",
            runs=profile.runs(50_000),
            origin=Corrected(
                "gll22.lem5.5",
                "total variation at most delta for eta <= C / (G^2 ln(1/delta))",
                "the cost of the truncation is computed for the step taken",
                "every step size",
            ),
        ),
        LawOf(step, data, Coordinate(0), blind=UniformOn(problem.constraint)),
    )


def _step_queries(data_name: str, profile: Profile) -> Cases:
    problem, data = real_problem(data_name, n=SIZE, d=10)
    temperature = 2.0 if data_name == "breast-cancer" else 1.0
    step = RejectionInnerStep(problem, temperature, 1.0, 0.005)
    claim = "at most 4 e / (1 - error) in expectation, whatever n and d"
    where = f"{data_name}, d = 10"
    return expected_queries(step, data, where, "gll22.lem5.5", claim, profile.runs(50_000), 10.0)


# ------------------------------------------------------------------------------------------ hidden constants


def _step_size_constant(profile: Profile) -> Audit:
    """The largest C in Lemma 5.5's eta <= C / (G^2 ln(1/delta)) that the explicit bound proves."""
    deltas = [0.49, *(10.0**-e for e in range(1, 13))]
    largest = min(largest_spread(delta) ** 2 / 2 * math.log(1 / delta) for delta in deltas)
    return Audit(
        ConstantQuestion(
            formula="eta = C / (G^2 ln(1/delta_inner))",
            latex=r"\eta=\frac{C}{G^2\log(1/\delta_{\mathrm{inner}})}",
            provable=Interval(lower=largest, upper=largest),
            extreme="largest",
            printed=None,
            parameters={"delta_inner": "1e-12 to 0.49", "G": "any", "d": "any"},
            range_fixed_by="floating-point evaluation of incomplete Gamma functions; not outward-rounded",
            method="largest C proved: truncation of the estimate bounded through isoperimetry and comonotone products",
            origin=Corrected(
                "gll22.lem5.5", "a constant C, not named", "the hidden constant is computed", "these deltas"
            ),
        )
    )


SUBJECT = "gll22.alg2"

PLANS: tuple[Plan, ...] = (
    Plan(
        f"{SUBJECT}/step-size", "gll22.lem5.5", "The constant in the step size", CONSTANT, _step_size_constant
    ),
    *(
        Plan(
            f"{SUBJECT}/{name}/law",
            SUBJECT,
            f"Law of the inner rejection step on {name}",
            LAW,
            partial(_step_law, name),
        )
        for name in REAL_DATA
    ),
    *(
        Plan(
            f"{SUBJECT}/{name}/queries",
            SUBJECT,
            f"Value queries of the inner rejection step on {name}",
            MEAN,
            along(partial(_step_queries, name)),
        )
        for name in REAL_DATA
    ),
)
