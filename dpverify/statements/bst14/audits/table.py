"""The audits of bst14's algorithms."""

from __future__ import annotations

from functools import partial

from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.huberized_hinge import HuberizedObjectivePerturbation
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.ledger.origins import AsPrinted
from dpverify.problems import Ball
from dpverify.statements import real_size
from dpverify.statements.audit_parts import REAL_DATA
from dpverify.statements.audit_rows import constant, law, mean, privacy, queries, risk, table
from dpverify.statements.bst14.audits import cases, composed, constants, laws
from dpverify.statements.bst14.audits.composed import mean_of_two
from dpverify.statements.bst14.audits.laws import DELTA, NOISES
from dpverify.statements.plans import ClaimedRate, Plan

BOTH = (*REAL_DATA, "digits")
NOISE = tuple(NOISES)
WALKS = (GridWalk, SamplingInConvexSet, BoostedSampling, EfficientExponentialSampling)
FAST = "n to infinity, epsilon and delta fixed"
STRONGER = 4.0
"""The epsilon at which the bounds of what uses n^2 noisy steps are below the largest risk on the set."""

PLANS: tuple[Plan, ...] = table(
    "bst14",
    # Algorithm 1
    privacy("bst14.alg1/{}", "Noisy gradient descent on {}", cases.descent, 40_000),
    privacy(
        "bst14.alg1/worst-case",
        "Noisy gradient descent, opposite linear losses",
        partial(cases.descent, "worst-case"),
        40_000,
    ),
    risk("bst14.alg1/{}/risk", "Risk of noisy gradient descent on {}", cases.descent_risk, 1_000, over="n"),
    risk(
        "bst14.alg1/strongly-convex/risk",
        "Risk of noisy gradient descent, strongly convex",
        cases.convex_descent_risk,
        20_000,
        over="n",
        rate=ClaimedRate(-1.0, AsPrinted("bst14.thm2.4.2", "1 / n, logarithms aside", FAST)),
    ),
    queries("bst14.alg1/queries", "Gradient queries of noisy gradient descent", cases.descent_steps),
    constant(
        "bst14.alg1/constant-{}",
        "The constant in Algorithm 1's noise variance, n = {}",
        constants.noise_variance,
        per=("32", "128", "512"),
    ),
    # Algorithm 2
    privacy(
        "bst14.alg2/{}",
        "Exponential sampling on {}",
        partial(cases.exponential, cases.sampling),
        100_000,
        per=BOTH,
    ),
    privacy(
        "bst14.alg2/worst-case",
        "Exponential sampling, linear losses",
        partial(cases.exponential, cases.sampling, "worst-case"),
        100_000,
    ),
    risk("bst14.alg2/{}/risk", "Risk of exponential sampling on {}", cases.sampling_risk, 10_000, over="n"),
    risk(
        "bst14.alg2/digits/risk",
        "Risk of exponential sampling on digits",
        partial(cases.sampling_risk, "digits"),
        1_000,
        over="n",
    ),
    risk(
        "bst14.alg2/corner/risk",
        "Risk of exponential sampling, linear losses on a cube",
        cases.corner_risk,
        10_000,
        over="n",
    ),
    law("bst14.alg2/{}/law", "Law of exponential sampling on {}", laws.sampled_disk, 20_000),
    law("bst14.alg2/digits/law", "Law of exponential sampling in 64 dimensions", laws.sampled_digits, 20_000),
    queries("bst14.alg2/queries", "Gradient queries for a quadratic loss", cases.quadratic_sampling),
    queries("bst14.alg2/cell-queries", "Gradient queries of certified rejection", cases.cell_sampling),
    constant(
        "bst14.alg2/constant",
        "The constant in the excess risk of exponential sampling",
        constants.sampling_risk,
    ),
    # Algorithm 3
    privacy("bst14.alg3/{}", "Output perturbation on {}", cases.perturbed, 50_000),
    privacy(
        "bst14.alg3/worst-case",
        "Output perturbation of a mean",
        partial(cases.perturbed, "worst-case"),
        50_000,
    ),
    risk("bst14.alg3/{}/risk", "Risk of output perturbation on {}", cases.output_risk, 2_000, over="n"),
    mean(
        "bst14.alg3/ball",
        "How often output perturbation's ball misses the minimizer",
        partial(cases.missed_ball, "breast-cancer"),
        20_000,
        over="zeta",
    ),
    constant("bst14.alg3/zeta", "From which zeta the ball's printed probability holds", constants.ball_zeta),
    law("bst14.alg3/law", "The norm of output perturbation's noise", laws.noise_norm, 20_000),
    # Algorithm 4 and Appendix C
    privacy(
        "bst14.alg4/{}",
        "Localization with Algorithm 2 on {}",
        partial(mean_of_two, composed.sampled_locally),
        40_000,
    ),
    privacy(
        "bst14.alg4/worst-case",
        "Localization with Algorithm 2, opposite records",
        partial(mean_of_two, composed.sampled_locally, "worst-case"),
        100_000,
    ),
    privacy(
        "bst14.alg4/walk/breast-cancer",
        "Localization with Algorithm 7 on breast-cancer",
        partial(mean_of_two, composed.walked_locally, "breast-cancer"),
        6_000,
    ),
    privacy(
        "bst14.alg4/walk/worst-case",
        "Localization with Algorithm 7, opposite records",
        partial(mean_of_two, composed.walked_locally, "worst-case"),
        6_000,
    ),
    risk(
        "bst14.alg4/risk",
        "Risk of localization with Algorithm 2",
        lambda: composed.mean_risk(lambda problem: Localization(problem, 8.0), (10, 20, 40)),
        20_000,
        over="n",
    ),
    mean(
        "bst14.alg4/ball",
        "How often the minimizer is outside of the ball of output perturbation",
        composed.gamma_ball,
        20_000,
        over="n",
    ),
    law("bst14.alg4/law", "Law of localization with Algorithm 2 on a line", laws.localized, 20_000),
    queries(
        "bst14.alg4/queries", "Projections of localization", composed.localized_projections, "projection"
    ),
    privacy(
        "bst14.alg-local-approx/{}",
        "Localization under (epsilon, delta) on {}",
        partial(mean_of_two, composed.descended_locally),
        40_000,
    ),
    privacy(
        "bst14.alg-local-approx/worst-case",
        "Localization under (epsilon, delta), opposite records",
        partial(mean_of_two, composed.descended_locally, "worst-case"),
        40_000,
    ),
    risk(
        "bst14.alg-local-approx/risk",
        "Risk of localization under (epsilon, delta)",
        lambda: composed.mean_risk(lambda problem: ApproximateLocalization(problem, 8.0, DELTA), (16, 32)),
        400,
        over="n",
    ),
    mean(
        "bst14.alg-local-approx/ball",
        "How often Gaussian output perturbation's ball misses the minimizer",
        composed.gaussian_ball,
        20_000,
        over="n",
    ),
    queries(
        "bst14.alg-local-approx/queries",
        "Projections of localization under (epsilon, delta)",
        composed.descended_projections,
        "projection",
    ),
    constant(
        "bst14.alg-local-approx/constant",
        "The constant in the noise of Gaussian output perturbation",
        constants.gaussian_noise,
    ),
    # walks
    privacy("bst14.alg-cube/{}", "The grid walk on {}", partial(cases.walk, GridWalk, 2), 40_000),
    *(
        law(
            f"{kind.id}/law-{{}}",
            "The law in one dimension on {}",
            partial(laws.walk, kind, n),
            20_000,
            per=names,
        )
        for kind, n, names in (
            (GridWalk, 60, REAL_DATA),
            (SamplingInConvexSet, 60, ("breast-cancer",)),
            (BoostedSampling, 12, ("diabetes",)),
            (EfficientExponentialSampling, 12, ("breast-cancer",)),
        )
    ),
    queries(
        "bst14.alg-cube/queries",
        "Value queries of the grid walk",
        partial(cases.walk_values, GridWalk, 8, 2),
        "value",
    ),
    constant(
        "bst14.alg-cube/steps-{}",
        "The constant in the grid walk's number of steps, p = {}",
        constants.walk_steps,
        per=("1", "2", "3"),
    ),
    mean("bst14.alg5/{}", "Algorithm 5 stays in a disk half of the time, {}", cases.half_inside, 10_000),
    privacy(
        "bst14.alg6/breast-cancer",
        "The boosted sampler on breast-cancer",
        partial(cases.walk, BoostedSampling, 2, "breast-cancer"),
        40_000,
    ),
    mean("bst14.alg6/inside", "Algorithm 6 never leaves a disk", cases.never_left, 5_000),
    privacy(
        "bst14.alg7/{}",
        "Efficient exponential sampling on {}",
        partial(cases.walk, EfficientExponentialSampling, 2),
        40_000,
    ),
    privacy(
        "bst14.alg7/worst-case",
        "Efficient exponential sampling on opposite records",
        partial(cases.walk, EfficientExponentialSampling, 4, "worst-case"),
        10_000,
    ),
    risk(
        "bst14.alg7/risk-{}",
        "Excess risk of efficient exponential sampling on {}",
        cases.walk_risk,
        10_000,
        over="n",
    ),
    queries(
        "bst14.alg7/queries",
        "Value queries of efficient exponential sampling",
        partial(cases.walk_values, EfficientExponentialSampling, 2, 1),
        "value",
    ),
    # Algorithm 8
    privacy(
        "bst14.alg8/{}",
        "Exponential mechanism on a net, {}",
        partial(cases.exponential, cases.coarse_net),
        40_000,
    ),
    privacy(
        "bst14.alg8/worst-case",
        "Exponential mechanism on a net, linear losses",
        partial(cases.exponential, cases.coarse_net, "worst-case"),
        40_000,
    ),
    risk(
        "bst14.alg8/{}/risk",
        "Risk of the exponential mechanism on a net, {}",
        cases.net_risk,
        2_000,
        over="n",
    ),
    law("bst14.alg8/law", "Law of the exponential mechanism on a net", laws.net, 40_000),
    queries(
        "bst14.alg8/queries", "Value queries of the exponential mechanism on a net", cases.net_values, "value"
    ),
    constant(
        "bst14.alg8/net-{}",
        "The constant in the size of a net of a {}",
        constants.net_size,
        per=("ball", "cube", "simplex"),
    ),
    # Appendices B, D and E
    privacy(
        "bst14.alg-huber/breast-cancer/{}",
        "Huberized hinge on breast-cancer, {} noise",
        cases.huberized,
        50_000,
        per=NOISE,
    ),
    *(
        mean(
            f"bst14.alg-huber/bad-{which}{'/printed' if printed else ''}",
            f"Huberized hinge on bad data set {which}{', as printed' if printed else ''}",
            partial(cases.bad_data, which, printed),
            2_000,
            over="n",
        )
        for which in (1, 2)
        for printed in (True, False)
    ),
    privacy("bst14.alg-boost/{}", "Boosting on {}", composed.boosted_mean, 60_000),
    privacy("bst14.alg-boost/worst-case", "Boosting, opposite linear losses", composed.boosted_line, 40_000),
    privacy(
        "bst14.alg-boost/pure-worst-case",
        "Boosting of output perturbation, opposite linear losses with a ridge",
        composed.boosted_pure_line,
        60_000,
    ),
    mean(
        "bst14.alg-boost/{}/probability",
        "Probability that boosting's risk is above its bound on {}",
        composed.boosted_probability,
        10_000,
        over="n",
    ),
    law("bst14.alg-boost/law", "Law of the pick from two runs", laws.picked, 20_000),
    queries("bst14.alg-boost/value-queries", "Value queries of boosting", composed.boosted_descent, "value"),
    queries("bst14.alg-boost/gradient-queries", "Gradient queries of boosting", composed.boosted_descent),
    privacy(
        "bst14.alg-objpert/breast-cancer/gamma",
        "Objective perturbation on breast-cancer, gamma noise",
        partial(cases.objective, "breast-cancer", "gamma"),
        20_000,
    ),
    privacy(
        "bst14.alg-objpert/diabetes/gaussian",
        "Objective perturbation on diabetes, gaussian noise",
        partial(cases.objective, "diabetes", "gaussian"),
        20_000,
    ),
    privacy(
        "bst14.alg-objpert/worst-case/{}",
        "Objective perturbation in one dimension, {} noise",
        cases.objective_worst,
        50_000,
        per=NOISE,
    ),
    *(
        risk(
            f"bst14.alg-objpert/{name}/{{}}/risk",
            f"Risk of objective perturbation on {name}, {{}} noise",
            partial(cases.objective_risk, name),
            2_000,
            over="n",
            per=NOISE,
        )
        for name in REAL_DATA
    ),
    *(
        risk(
            "bst14.alg-objpert/strongly-convex/{}/risk",
            "Risk of objective perturbation of a mean, {} noise",
            cases.objective_rate,
            30_000,
            over="n",
            rate=ClaimedRate(-1.0, AsPrinted(f"bst14.thmE.2.{part}", "1 / n", FAST)),
            per=(noise,),
        )
        for part, noise in enumerate(NOISES, start=1)
    ),
    constant(
        "bst14.alg-objpert/printed-epsilon",
        "What objective perturbation spends with the printed Gamma noise",
        constants.printed_epsilon,
    ),
    law(
        "bst14.alg-objpert/law/{}",
        "The law of objective perturbation in one dimension, {} noise",
        laws.minimizer,
        10_000,
        per=NOISE,
    ),
    # real size
    real_size.risk(
        "bst14.alg1",
        "noisy gradient descent",
        lambda: NoisyGradientDescent(real_size.mean(), STRONGER, DELTA, step_size="strongly-convex"),
        60,
    ),
    real_size.risk(
        "bst14.alg2", "exponential sampling", lambda: ExponentialSampling(real_size.mean(), 1.0), 2_000
    ),
    real_size.privacy(
        "bst14.alg2", "Exponential sampling", lambda: ExponentialSampling(real_size.linear(), 1.0), 40_000
    ),
    real_size.risk(
        "bst14.alg3", "output perturbation", lambda: OutputPerturbation(real_size.mean(), 1.0), 2_000
    ),
    real_size.privacy(
        "bst14.alg3", "Output perturbation", lambda: OutputPerturbation(real_size.mean(), 1.0), 40_000
    ),
    real_size.risk("bst14.alg4", "localization", lambda: Localization(real_size.mean(), STRONGER), 500),
    real_size.risk(
        "bst14.alg-local-approx",
        "approximate localization",
        lambda: ApproximateLocalization(real_size.mean(), STRONGER, DELTA),
        60,
    ),
    real_size.privacy(
        "bst14.alg-boost",
        "Boosting of output perturbation",
        lambda: Boosting(OutputPerturbation(real_size.mean(), 1.0), 0.1),
        10_000,
    ),
    mean(
        "bst14.alg-boost/real-size/probability",
        f"Probability that boosting's risk is above its bound at real size, {real_size.SIZE} records of "
        f"{real_size.DIMENSION} features",
        composed.boosted_at_size,
        2_000,
        full=True,
    ),
    real_size.risk(
        "bst14.alg-objpert",
        "objective perturbation",
        lambda: ObjectivePerturbation(real_size.logistic(), 1.0),
        500,
    ),
    real_size.risk(
        "bst14.alg-huber",
        "huberized objective perturbation",
        lambda: HuberizedObjectivePerturbation(0.5, 1.0, constraint=Ball(real_size.DIMENSION, 1.0)),
        500,
    ),
    *(
        law(
            f"{kind.id}/real-size/law",
            "The law in one dimension on the most records that are not refused",
            partial(cases.law_at_size, kind),
            200_000,
            full=True,
        )
        for kind in WALKS
    ),
    risk(
        "bst14.alg8/real-size/risk",
        "Risk of the exponential mechanism on a net, all records and the most features that are not refused",
        cases.net_at_size,
        2_000,
        full=True,
    ),
)
