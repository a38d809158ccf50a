"""The audits of gll22's algorithms."""

from __future__ import annotations

from functools import partial

from dpverify.statements import real_size
from dpverify.statements.audit_parts import REAL_DATA
from dpverify.statements.audit_rows import constant, law, mean, privacy, queries, risk, table
from dpverify.statements.gll22.audits import cases, constants
from dpverify.statements.plans import Plan

PLANS: tuple[Plan, ...] = table(
    "gll22",
    law("gll22.alg1/{}/law", "Law of the alternating sampler on {}", cases.sampler_law, 500),
    law("gll22.alg1/gaussian/law", "Alternating sampler, a Gaussian in d = 10", cases.gaussian_law, 500),
    mean("gll22.alg1/queries", "Value queries of the alternating sampler", cases.sampler_queries, 400),
    constant(
        "gll22.alg1/steps",
        "The constant in the number of steps",
        constants.sampler_steps,
        about="gll22.thm5.6",
    ),
    constant(
        "gll22.alg2/step-size",
        "The constant in the step size",
        constants.inner_step_size,
        about="gll22.lem5.5",
    ),
    law("gll22.alg2/{}/law", "Law of the inner rejection step on {}", cases.step_law, 50_000),
    mean(
        "gll22.alg2/{}/queries", "Value queries of the inner rejection step on {}", cases.step_queries, 50_000
    ),
    privacy(
        "gll22.rem/{}",
        "Regularized exponential mechanism on {}",
        partial(cases.gaussian_mechanism, 4, 2),
        50_000,
    ),
    risk(
        "gll22.rem/{}/risk",
        "Risk of the regularized exponential mechanism on {}",
        cases.mechanism_risk,
        4_000,
        over="n",
    ),
    law(
        "gll22.rem/{}/law", "Law of the regularized exponential mechanism on {}", cases.mechanism_law, 20_000
    ),
    privacy(
        "gll22.rem/worst-case",
        "Regularized exponential mechanism, worst case",
        partial(cases.gaussian_mechanism, cases.SIZE, 1, "worst-case"),
        100_000,
    ),
    privacy(
        "gll22.rem/sampled",
        "Regularized exponential mechanism by the alternating sampler",
        cases.sampled_mechanism,
        3_000,
    ),
    risk(
        "gll22.rem/population-risk",
        "Population risk of the regularized exponential mechanism",
        cases.population_risk,
        8_000,
        over="n",
    ),
    queries(
        "gll22.rem/queries",
        "Gradient queries of the regularized exponential mechanism",
        cases.gaussian_on_ball,
    ),
    constant(
        "gll22.rem/queries-constant",
        "The constant in the number of value queries",
        constants.mechanism_queries,
        about="gll22.thm6.4",
    ),
    mean(
        f"{cases.FAMILY}/{{}}",
        "Hard linear family against {}",
        cases.tried,
        1_000,
        over="n",
        per=cases.SOLVERS,
    ),
    *(
        mean(
            f"{cases.FAMILY}/{name}/{{}}",
            f"Linear losses from {name} against {{}}",
            partial(cases.tried_on_data, name),
            500,
            over="n",
            per={key: cases.SOLVERS[key] for key in ("mean", "private-mean")},
        )
        for name in REAL_DATA
    ),
    privacy(
        f"{cases.FAMILY}/{{}}/privacy", "The minimizer from a noisy mean on {}", cases.noisy_mean, 40_000
    ),
    queries(f"{cases.FAMILY}/queries", "Values seen of the hard linear family", cases.seen, "value"),
    real_size.risk("gll22.rem", "the regularized exponential mechanism", cases.mechanism_at_size, 200),
    *(
        mean(f"{id_}/real-size/{name}", f"{title} at real size, {cases.N} records", case, runs, full=True)
        for id_, name, title, case, runs in (
            ("gll22.alg1", "queries", "Value queries of the alternating sampler", cases.sampler_at_size, 400),
            ("gll22.alg2", "queries", "Value queries of an inner step", cases.step_at_size, 20_000),
            (cases.FAMILY, "risk", "Risk on the hard linear family", cases.family_at_size, 10_000),
        )
    ),
)
