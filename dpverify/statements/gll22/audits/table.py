"""The audits of gll22's algorithms."""

from __future__ import annotations

from functools import partial

from dpverify.algorithms.gll22 import RegularizedExponentialMechanism
from dpverify.statements import real_size
from dpverify.statements.audit_parts import REAL_DATA
from dpverify.statements.audit_rows import Audited, Made, OnLinear, Risks, table
from dpverify.statements.gll22.audits import cases, constants
from dpverify.statements.gll22.audits.cases import DELTA, EPSILON, SIZE, SOLVERS
from dpverify.statements.plans import Plan

SAMPLER = Audited("gll22.alg1", "the alternating sampler")
STEP = Audited("gll22.alg2", "the inner rejection step")
MECHANISM = Audited("gll22.rem", "the regularized exponential mechanism")
FAMILY = Audited("gll22.lower-instance", "the hard linear family")
SIZES = (SIZE, 4 * SIZE, 16 * SIZE)

PLANS: tuple[Plan, ...] = table(
    "gll22",
    SAMPLER.law(cases.sampler_law, 500),
    SAMPLER.law(cases.gaussian_law, 500, "gaussian/law", "Alternating sampler, a Gaussian in d = 10"),
    SAMPLER.mean(cases.sampler_queries, 400, "queries", "Value queries of the alternating sampler"),
    SAMPLER.constant(
        constants.sampler_steps,
        row="steps",
        title="The constant in the number of steps",
        about="gll22.thm5.6",
    ),
    STEP.constant(
        constants.inner_step_size,
        row="step-size",
        title="The constant in the step size",
        about="gll22.lem5.5",
    ),
    STEP.law(cases.step_law, 50_000),
    STEP.mean(cases.step_queries, 50_000, "{}/queries", "Value queries of the inner rejection step on {}"),
    MECHANISM.privacy(
        partial(cases.gaussian_mechanism, 4, 2), 50_000, title="Regularized exponential mechanism on {}"
    ),
    MECHANISM.risk(
        Risks(lambda p, n: RegularizedExponentialMechanism(p, EPSILON, DELTA), SIZES, 2), 4_000, over="n"
    ),
    MECHANISM.law(cases.mechanism_law, 20_000),
    MECHANISM.privacy(
        partial(cases.gaussian_mechanism, SIZE, 1),
        100_000,
        "worst-case",
        "Regularized exponential mechanism, worst case",
    ),
    MECHANISM.privacy(
        cases.sampled_mechanism,
        3_000,
        "sampled",
        "Regularized exponential mechanism by the alternating sampler",
    ),
    # Theorem 6.8 with a data set as the population
    MECHANISM.risk(
        Risks(
            lambda p, n: RegularizedExponentialMechanism(p, EPSILON, DELTA, tuning="sco"),
            SIZES,
            5,
            "{data.name} as the population, samples of n records, linear losses, d = 5",
            cases.labeled_linear,
            samples=True,
        ),
        8_000,
        "population-risk",
        "Population risk of the regularized exponential mechanism",
        over="n",
    ),
    MECHANISM.gradient_queries(
        Made(
            lambda p, n: RegularizedExponentialMechanism(p, EPSILON, DELTA, tuning="erm"),
            SIZE,
            None,
            "diabetes",
            cases.linear_on_ball,
        )
    ),
    MECHANISM.constant(
        constants.mechanism_queries,
        row="queries-constant",
        title="The constant in the number of value queries",
        about="gll22.thm6.4",
    ),
    FAMILY.mean(cases.tried, 1_000, "{}", "Hard linear family against {}", over="n", per=SOLVERS),
    *(
        FAMILY.mean(
            partial(cases.tried_on_data, name),
            500,
            f"{name}/{{}}",
            f"Linear losses from {name} against {{}}",
            over="n",
            per={key: SOLVERS[key] for key in ("mean", "private-mean")},
        )
        for name in REAL_DATA
    ),
    FAMILY.privacy(
        OnLinear(cases.noisy_mean, 2, 2, "headline"),
        40_000,
        "{}/privacy",
        "The minimizer from a noisy mean on {}",
    ),
    FAMILY.value_queries(cases.seen, title="Values seen of the hard linear family"),
    real_size.risk(
        MECHANISM,
        MECHANISM.name,
        lambda: RegularizedExponentialMechanism(real_size.logistic(), 1.0, 1e-2, sampler="alternating"),
        200,
    ),
    *(
        of.mean(case, runs, f"real-size/{row}", f"{title} at real size, {cases.N} records")
        for of, case, runs, row, title in (
            (SAMPLER, cases.sampler_at_size, 400, "queries", "Value queries of the alternating sampler"),
            (STEP, cases.step_at_size, 20_000, "queries", "Value queries of an inner step"),
            (FAMILY, cases.family_at_size, 10_000, "risk", "Risk on the hard linear family"),
        )
    ),
)
