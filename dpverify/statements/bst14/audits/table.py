"""The audits of bst14's algorithms."""

from __future__ import annotations

from functools import partial

from dpverify.algorithms.bst14 import (
    ApproximateLocalization,
    BoostedSampling,
    Boosting,
    EfficientExponentialSampling,
    ExponentialSampling,
    GridWalk,
    HuberizedObjectivePerturbation,
    Localization,
    NetMechanism,
    NoisyGradientDescent,
    ObjectivePerturbation,
    OutputPerturbation,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.gaussian_output_perturbation import GaussianOutputPerturbation
from dpverify.auditing import RateQuestion
from dpverify.ledger.origins import AsPrinted
from dpverify.problems import Ball
from dpverify.statements import real_size
from dpverify.statements.audit_parts import REAL_DATA, mean_of
from dpverify.statements.audit_rows import Audited, Made, OnLinear, Risks, table
from dpverify.statements.bst14.audits import cases, constants, laws
from dpverify.statements.bst14.audits.cases import EPSILON, mean_of_two, ridge
from dpverify.statements.bst14.audits.laws import DELTA, NOISES, WALK_EPSILON, on_cube
from dpverify.statements.plans import Plan

NOISE = tuple(NOISES)
FAST = "n to infinity, epsilon and delta fixed"
STRONGER = 4.0
"""The epsilon at which the bounds of what uses n^2 noisy steps are below the largest risk on the set."""
AT_EPSILON = "{name}, n records, d = {data.d}, epsilon = {mechanism.epsilon:g}"
OF_A_MEAN = "mean of n records of {data.name}, d = {data.d}, epsilon = {mechanism.epsilon:g}"

DESCENT = Audited("bst14.alg1", "noisy gradient descent")
SAMPLING = Audited("bst14.alg2", "exponential sampling")
OUTPUT = Audited("bst14.alg3", "output perturbation")
LOCAL = Audited("bst14.alg4", "localization with Algorithm 2")
LOCAL_APPROX = Audited("bst14.alg-local-approx", "localization under (epsilon, delta)")
WALK = Audited("bst14.alg-cube", "the grid walk")
IN_SET = Audited("bst14.alg5", "sampling in a convex set")
BOOSTED = Audited("bst14.alg6", "the boosted sampler")
EFFICIENT = Audited("bst14.alg7", "efficient exponential sampling")
NET = Audited("bst14.alg8", "the exponential mechanism on a net")
HUBER = Audited("bst14.alg-huber", "huberized hinge")
BOOSTING = Audited("bst14.alg-boost", "boosting")
OBJECTIVE = Audited("bst14.alg-objpert", "objective perturbation")

PLANS: tuple[Plan, ...] = table(
    "bst14",
    # Algorithm 1: a few steps on two records, where the accountant's profile shows more than one point of it
    DESCENT.privacy(
        OnLinear(lambda p, n: NoisyGradientDescent(p, 2.0, 0.01), 2, 4),
        40_000,
        worst=", opposite linear losses",
    ),
    # at the epsilon of the privacy audits, the bound is above every risk on the set
    DESCENT.risk(
        Risks(lambda p, n: NoisyGradientDescent(p, 8.0, DELTA), (8, 16, 32), 5, AT_EPSILON), 1_000, over="n"
    ),
    DESCENT.risk(
        Risks(
            lambda p, n: NoisyGradientDescent(p, 8.0, DELTA, step_size="strongly-convex"),
            (8, 16, 32, 64),
            2,
            "mean of n records of {name}, d = {data.d}, epsilon = 8",
            mean_of,
        ),
        20_000,
        "strongly-convex/risk",
        ", strongly convex",
        over="n",
        rate=RateQuestion(-1.0, AsPrinted("bst14.thm2.4.2", "1 / n, logarithms aside", FAST)),
    ),
    DESCENT.gradient_queries(Made(lambda p, n: NoisyGradientDescent(p, 2.0, DELTA), 32, 5)),
    DESCENT.constant(
        constants.noise_variance,
        row="constant-{}",
        title="The constant in Algorithm 1's noise variance, n = {}",
        per=("32", "128", "512"),
    ),
    # Algorithm 2
    SAMPLING.privacy(
        partial(cases.exponential, cases.sampling),
        100_000,
        per=(*REAL_DATA, "digits"),
        worst=", linear losses",
    ),
    SAMPLING.risk(Risks(cases.sampling, (32, 128, 400), 3, AT_EPSILON), 10_000, over="n"),
    SAMPLING.risk(
        partial(Risks(cases.sampling, (32, 128, 400), None, AT_EPSILON, mean_of), "digits"),
        1_000,
        "digits/risk",
        " on digits",
        over="n",
    ),
    SAMPLING.risk(
        Risks(
            cases.sampling,
            (64, 256, 569),
            3,
            f"{{name}}, n records, d = 3, linear losses on a cube, epsilon = {EPSILON:g}",
            cases.linear_on_cube,
        ),
        10_000,
        "corner/risk",
        ", linear losses on a cube",
        over="n",
    ),
    SAMPLING.law(laws.sampled_disk, 20_000),
    SAMPLING.law(laws.sampled_digits, 20_000, "digits/law", " in 64 dimensions"),
    SAMPLING.gradient_queries(
        Made(cases.sampling, 200, None, "digits", mean_of), title="Gradient queries for a quadratic loss"
    ),
    SAMPLING.gradient_queries(
        Made(cases.sampling, 100, 2), row="cell-queries", title="Gradient queries of certified rejection"
    ),
    SAMPLING.constant(
        constants.sampling_risk,
        row="constant",
        title="The constant in the excess risk of exponential sampling",
    ),
    # Algorithm 3
    OUTPUT.privacy(cases.perturbed, 50_000, worst=" of a mean"),
    OUTPUT.risk(
        Risks(
            lambda p, n: OutputPerturbation(p, 1.0), (50, 100, 200), 3, AT_EPSILON, partial(ridge, weight=0.1)
        ),
        2_000,
        over="n",
    ),
    OUTPUT.mean(
        cases.missed_ball,
        20_000,
        "ball",
        "How often output perturbation's ball misses the minimizer",
        over="zeta",
    ),
    OUTPUT.constant(
        constants.ball_zeta, row="zeta", title="From which zeta the ball's printed probability holds"
    ),
    OUTPUT.law(laws.noise_norm, 20_000, "law", title="The norm of output perturbation's noise"),
    # Algorithm 4 and Appendix C
    LOCAL.privacy(partial(mean_of_two, cases.sampled_locally), 40_000),
    LOCAL.privacy(partial(mean_of_two, cases.sampled_locally), 100_000, "worst-case", ", opposite records"),
    LOCAL.privacy(
        partial(mean_of_two, cases.walked_locally),
        6_000,
        "walk/{}",
        title="Localization with Algorithm 7 on {}",
        per=("breast-cancer",),
    ),
    LOCAL.privacy(
        partial(mean_of_two, cases.walked_locally),
        6_000,
        "walk/worst-case",
        title="Localization with Algorithm 7, opposite records",
    ),
    LOCAL.risk(
        Risks(lambda p, n: Localization(p, 8.0), (10, 20, 40), 2, OF_A_MEAN, mean_of),
        20_000,
        "risk",
        "",
        over="n",
    ),
    LOCAL.mean(
        lambda: cases.outside_ball(
            partial(OutputPerturbation, epsilon=200.0), "bst14.lem4.2", "zeta = 3 ln n", "epsilon/2 = 200"
        ),
        20_000,
        "ball",
        "How often the minimizer is outside of the ball of output perturbation",
        over="n",
    ),
    LOCAL.law(laws.localized, 20_000, "law", " on a line"),
    LOCAL.projections(
        Made(lambda p, n: Localization(p, 4.0), 20, 2, on=ridge), title="Projections of localization"
    ),
    LOCAL_APPROX.privacy(partial(mean_of_two, cases.descended_locally), 40_000, worst=", opposite records"),
    LOCAL_APPROX.risk(
        Risks(lambda p, n: ApproximateLocalization(p, 8.0, DELTA), (16, 32), 2, OF_A_MEAN, mean_of),
        400,
        "risk",
        "",
        over="n",
    ),
    LOCAL_APPROX.mean(
        lambda: cases.outside_ball(
            partial(GaussianOutputPerturbation, epsilon=200.0, delta=DELTA),
            "bst14.thmC.2",
            "zeta = sqrt(3 ln n) for p >= 2",
            "epsilon = 200",
        ),
        20_000,
        "ball",
        "How often Gaussian output perturbation's ball misses the minimizer",
        over="n",
    ),
    LOCAL_APPROX.projections(
        Made(lambda p, n: ApproximateLocalization(p, 4.0, DELTA), 16, 5, on=ridge),
        title="Projections of localization under (epsilon, delta)",
    ),
    LOCAL_APPROX.constant(
        constants.gaussian_noise,
        row="constant",
        title="The constant in the noise of Gaussian output perturbation",
    ),
    # walks
    WALK.privacy(partial(cases.walk, GridWalk, 2), 40_000),
    *(
        of.law(
            partial(laws.walk, kind, n), 20_000, "law-{}", title="The law in one dimension on {}", per=names
        )
        for of, kind, n, names in (
            (WALK, GridWalk, 60, REAL_DATA),
            (IN_SET, SamplingInConvexSet, 60, ("breast-cancer",)),
            (BOOSTED, BoostedSampling, 12, ("diabetes",)),
            (EFFICIENT, EfficientExponentialSampling, 12, ("breast-cancer",)),
        )
    ),
    WALK.value_queries(Made(cases.by_steps(GridWalk), 8, 2, on=on_cube)),
    WALK.constant(
        constants.walk_steps,
        row="steps-{}",
        title="The constant in the grid walk's number of steps, p = {}",
        per=("1", "2", "3"),
    ),
    IN_SET.mean(cases.half_inside, 10_000, "{}", "Algorithm 5 stays in a disk half of the time, {}"),
    BOOSTED.privacy(partial(cases.walk, BoostedSampling, 2), 40_000, per=("breast-cancer",)),
    BOOSTED.mean(cases.never_left, 5_000, "inside", "Algorithm 6 never leaves a disk"),
    EFFICIENT.privacy(partial(cases.walk, EfficientExponentialSampling, 2), 40_000),
    EFFICIENT.privacy(
        partial(cases.walk, EfficientExponentialSampling, 4), 10_000, "worst-case", " on opposite records"
    ),
    # Theorem 3.4 (2) with the constant that a convex risk gives
    EFFICIENT.risk(
        Risks(lambda p, n: EfficientExponentialSampling(p, WALK_EPSILON), (2, 8, 32), 1, on=on_cube),
        10_000,
        "risk-{}",
        title="Excess risk of efficient exponential sampling on {}",
        over="n",
    ),
    EFFICIENT.value_queries(Made(cases.by_steps(EfficientExponentialSampling), 2, 1, on=on_cube)),
    # Algorithm 8
    NET.privacy(
        partial(cases.exponential, cases.coarse_net),
        40_000,
        title="Exponential mechanism on a net, {}",
        worst="Exponential mechanism on a net, linear losses",
    ),
    NET.risk(
        Risks(lambda p, n: NetMechanism(p, EPSILON), (16, 64, 128), 2, AT_EPSILON),
        2_000,
        title=", {}",
        over="n",
    ),
    NET.law(laws.net, 40_000, "law", ""),
    NET.value_queries(Made(lambda p, n: NetMechanism(p, EPSILON), 64, 2, "diabetes")),
    NET.constant(
        constants.net_size,
        row="net-{}",
        title="The constant in the size of a net of a {}",
        per=("ball", "cube", "simplex"),
    ),
    # Appendices B, D and E
    HUBER.privacy(cases.huberized, 50_000, "breast-cancer/{}", " on breast-cancer, {} noise", per=NOISE),
    *(
        HUBER.mean(
            partial(cases.bad_data, which, printed),
            2_000,
            f"bad-{which}{'/printed' if printed else ''}",
            f"Huberized hinge on bad data set {which}{', as printed' if printed else ''}",
            over="n",
        )
        for which in (1, 2)
        for printed in (True, False)
    ),
    BOOSTING.privacy(cases.boosted_mean, 60_000),
    BOOSTING.privacy(
        OnLinear(cases.boosted_line, 2, claim="headline"), 40_000, "worst-case", ", opposite linear losses"
    ),
    BOOSTING.privacy(
        OnLinear(cases.boosted_pure_line, 4, claim="headline"),
        60_000,
        "pure-worst-case",
        " of output perturbation, opposite linear losses with a ridge",
    ),
    BOOSTING.mean(
        cases.boosted_probability,
        10_000,
        "{}/probability",
        "Probability that boosting's risk is above its bound on {}",
        over="n",
    ),
    BOOSTING.law(laws.picked, 20_000, "law", title="Law of the pick from two runs"),
    BOOSTING.value_queries(cases.BOOSTED_DESCENT, row="value-queries"),
    BOOSTING.gradient_queries(cases.BOOSTED_DESCENT, row="gradient-queries"),
    *(
        OBJECTIVE.privacy(
            partial(cases.objective, name), 20_000, f"{name}/{{}}", f" on {name}, {{}} noise", per=(noise,)
        )
        for name, noise in zip(REAL_DATA, NOISE, strict=True)
    ),
    OBJECTIVE.privacy(
        cases.objective_worst, 50_000, "worst-case/{}", " in one dimension, {} noise", per=NOISE
    ),
    *(
        OBJECTIVE.risk(
            partial(cases.objective_risk, name),
            2_000,
            f"{name}/{{}}/risk",
            f" on {name}, {{}} noise",
            over="n",
            per=NOISE,
        )
        for name in REAL_DATA
    ),
    *(
        OBJECTIVE.risk(
            cases.objective_rate,
            30_000,
            "strongly-convex/{}/risk",
            " of a mean, {} noise",
            over="n",
            rate=RateQuestion(-1.0, AsPrinted(f"bst14.thmE.2.{part}", "1 / n", FAST)),
            per=(noise,),
        )
        for part, noise in enumerate(NOISE, start=1)
    ),
    OBJECTIVE.constant(
        constants.printed_epsilon,
        row="printed-epsilon",
        title="What objective perturbation spends with the printed Gamma noise",
    ),
    OBJECTIVE.law(
        laws.minimizer,
        10_000,
        "law/{}",
        title="The law of objective perturbation in one dimension, {} noise",
        per=NOISE,
    ),
    # real size
    real_size.risk(
        DESCENT,
        DESCENT.name,
        lambda: NoisyGradientDescent(real_size.mean(), STRONGER, DELTA, step_size="strongly-convex"),
        60,
    ),
    real_size.risk(SAMPLING, SAMPLING.name, lambda: ExponentialSampling(real_size.mean(), 1.0), 2_000),
    real_size.privacy(
        SAMPLING, "Exponential sampling", lambda: ExponentialSampling(real_size.linear(), 1.0), 40_000
    ),
    real_size.risk(OUTPUT, OUTPUT.name, lambda: OutputPerturbation(real_size.mean(), 1.0), 2_000),
    real_size.privacy(
        OUTPUT, "Output perturbation", lambda: OutputPerturbation(real_size.mean(), 1.0), 40_000
    ),
    real_size.risk(LOCAL, "localization", lambda: Localization(real_size.mean(), STRONGER), 500),
    real_size.risk(
        LOCAL_APPROX,
        "approximate localization",
        lambda: ApproximateLocalization(real_size.mean(), STRONGER, DELTA),
        60,
    ),
    real_size.privacy(
        BOOSTING,
        "Boosting of output perturbation",
        lambda: Boosting(OutputPerturbation(real_size.mean(), 1.0), 0.1),
        10_000,
    ),
    BOOSTING.mean(
        cases.boosted_at_size,
        2_000,
        "real-size/probability",
        f"Probability that boosting's risk is above its bound at real size, {real_size.SIZE} records of "
        f"{real_size.DIMENSION} features",
    ),
    real_size.risk(OBJECTIVE, OBJECTIVE.name, lambda: ObjectivePerturbation(real_size.logistic(), 1.0), 500),
    real_size.risk(
        HUBER,
        "huberized objective perturbation",
        lambda: HuberizedObjectivePerturbation(0.5, 1.0, constraint=Ball(real_size.DIMENSION, 1.0)),
        500,
    ),
    *(
        of.law(
            partial(cases.law_at_size, kind),
            200_000,
            "real-size/law",
            title="The law in one dimension on the most records that are not refused",
        )
        for of, kind in zip((WALK, IN_SET, BOOSTED, EFFICIENT), cases.WALKS, strict=True)
    ),
    NET.risk(
        cases.net_at_size, 2_000, "real-size/risk", ", all records and the most features that are not refused"
    ),
)
