"""The audits of mn25's algorithms."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.mn25 import DPSGD, EmpiricalToPopulation, PhasedERM, PhasedSGD
from dpverify.statements import real_size
from dpverify.statements.audit_rows import Audited, Made, OnLinear, Risks, table
from dpverify.statements.mn25.audits import cases, constants, lower_bounds
from dpverify.statements.mn25.audits.cases import DELTA, DIMENSION, EPSILON, few, risks, split, trivial
from dpverify.statements.plans import Plan

SIZES = ("200", "1000")
TRACED = {"hard": "the hard distribution", "digits": "digits", "breast-cancer": "breast-cancer"}

MESSAGES = OnLinear(cases.gaussian_messages, 4, 2)
DESCENT = OnLinear(lambda p, n: DPSGD(p, 4.0, 0.01), 4)
PHASES = OnLinear(lambda p, n: PhasedSGD(p, 4.0, 0.01, accuracy=0.15 * trivial(p)), 2)
MINIMIZERS = OnLinear(lambda p, n: PhasedERM(p, 4.0, 0.01, gap_factor=1e-6), 4)
RESAMPLED = OnLinear(cases.resampled, 2)
"""Methods on small pairs of data sets."""

ORACLE = Audited("mn25.alg1", "Private oracle method")
SGD = Audited("mn25.alg3", "DP-SGD")
PHASED_SGD = Audited("mn25.alg4", "Phased SGD")
PHASED_ERM = Audited("mn25.alg5", "Phased ERM")
INSTANCE = Audited("mn25.hard-instance", "the hard instance")
TRACING = Audited("mn25.fingerprint", "tracing")
LIMITED = Audited("mn25.limited-oracle", "SGD through a limited oracle")
BY_ERM = Audited("mn25.sco-to-erm", "SCO by ERM")
BY_SCO = Audited("mn25.erm-to-sco", "ERM by SCO")

PLANS: tuple[Plan, ...] = table(
    "mn25",
    # private oracles
    ORACLE.privacy(MESSAGES, 20_000),
    ORACLE.privacy(replace(MESSAGES, d=1), 40_000, "worst-case", ", worst case"),
    ORACLE.gradient_queries(few(cases.two_passes)),
    SGD.privacy(DESCENT, 20_000),
    SGD.risk(partial(risks, cases.tuned_descents), 400, over="alpha"),
    SGD.privacy(DESCENT, 40_000, "worst-case", ", worst case"),
    SGD.gradient_queries(few(lambda p, n: DPSGD(p, EPSILON, DELTA))),
    SGD.constant(
        constants.dp_sgd, row="constant-{}", title="The constant in DP-SGD's accuracy, n = {}", per=SIZES
    ),
    # in phases
    PHASED_SGD.privacy(PHASES, 20_000),
    PHASED_SGD.risk(partial(risks, cases.phased_sgd), 100),
    PHASED_SGD.privacy(PHASES, 40_000, "worst-case", ", worst case"),
    # at an accuracy close to the smallest that is proved at 40 records
    PHASED_SGD.gradient_queries(few(lambda p, n: PhasedSGD(p, EPSILON, DELTA, accuracy=0.06 * trivial(p)))),
    PHASED_SGD.constant(
        constants.phased_sgd,
        row="constant-{}",
        title="The constant in Phased SGD's accuracy, n = {}",
        per=SIZES,
    ),
    PHASED_ERM.privacy(MINIMIZERS, 20_000),
    PHASED_ERM.risk(partial(risks, cases.phased_erm), 400, over="epsilon"),
    PHASED_ERM.privacy(MINIMIZERS, 40_000, "worst-case", ", worst case"),
    PHASED_ERM.gradient_queries(few(lambda p, n: PhasedERM(p, EPSILON, DELTA))),
    PHASED_ERM.constant(
        constants.phased_erm,
        row="constant-{}",
        title="The constant in Phased ERM's accuracy, n = {}",
        per=SIZES,
    ),
    # hard instance, tracing
    INSTANCE.mean(
        lower_bounds.few_answers,
        1_000,
        "{}/risk",
        "Excess risk on the hard instance after few queries, {} directions",
        over="queries",
        per=("random", "digits"),
    ),
    INSTANCE.mean(
        lower_bounds.found, 200, "digits/found", "Directions found on the hard instance", over="queries"
    ),
    INSTANCE.mean(
        lower_bounds.private_on_instance,
        200,
        "private-risk",
        "Excess risk of a private algorithm on the hard instance",
        over="epsilon",
    ),
    INSTANCE.law(lower_bounds.projected_part, 5_000, "law-{}", ", {}", per=("direction", "subspace")),
    INSTANCE.gradient_queries(lower_bounds.instance_queries, title="Queries on the hard instance"),
    *(
        TRACING.mean(case, runs, f"{{}}/{name}", f"{title}, {{}}", per=TRACED)
        for name, title, case, runs in (
            ("traced", "Tracing the mean", lower_bounds.traced, 10_000),
            ("private", "Tracing a private mean", lower_bounds.not_traced, 10_000),
            (
                "advantage",
                "A tracer's advantage without privacy",
                partial(lower_bounds.advantage, private=False),
                20_000,
            ),
            (
                "private-advantage",
                "A tracer's advantage under privacy",
                partial(lower_bounds.advantage, private=True),
                20_000,
            ),
        )
    ),
    # limited oracles
    *(
        LIMITED.risk(
            partial(risks, partial(cases.limited_descents, oracle)),
            500,
            f"{{}}/{oracle}/risk",
            f" ({oracle}) on {{}}",
            over="nats",
        )
        for oracle in cases.ORACLES
    ),
    LIMITED.mean(
        cases.quantizing_error,
        20_000,
        "{}/rounding",
        "Squared error of quantized gradients on {}",
        over="bits",
    ),
    LIMITED.gradient_queries(
        Made(lambda p, n: cases.limited("channel", p, 0.1), None, DIMENSION),
        title="Gradient queries of SGD through a channel",
    ),
    LIMITED.constant(constants.capacity, row="capacity", title="The constant in the channel's capacity"),
    # reductions
    BY_ERM.privacy(
        partial(split, "breast-cancer", 2, 1, 1, 2, 0.2),
        20_000,
        "breast-cancer",
        " on breast-cancer, two balls",
    ),
    BY_ERM.privacy(
        partial(split, "diabetes", 4, 2, 1, 1, 0.0), 20_000, "diabetes", " on diabetes, two phases"
    ),
    BY_ERM.risk(
        Risks(
            cases.reduction,
            (100, 400),
            DIMENSION,
            "{data.name} as the population, samples of n records; a solver with accuracy 1e-4, no privacy",
            samples=True,
            runs_a_sample=10,
        ),
        400,
        title="Population risk of SCO by ERM on {}",
        over="n",
    ),
    BY_ERM.privacy(
        partial(split, "worst-case", 2, 1, 2, 1, 0.2), 20_000, "worst-case", ", opposite linear losses"
    ),
    BY_ERM.gradient_queries(cases.REDUCTION, row="gradient-queries"),
    BY_ERM.value_queries(cases.REDUCTION, row="value-queries"),
    BY_ERM.constant(
        constants.hidden_factor,
        row="factor-{}",
        title="The factor in Theorem 8's risk, n = 1e{}",
        per=("4", "8", "12"),
    ),
    BY_SCO.privacy(RESAMPLED, 40_000),
    BY_SCO.risk(
        Risks(cases.resampled_stop, (100, 200, 400), 2, "{name}, n records, d = 2, epsilon = 8"),
        2_000,
        title="Empirical risk of ERM by SCO on {}",
        over="n",
    ),
    BY_SCO.privacy(cases.drawn_step, 40_000, "worst-case", ", opposite losses, the printed claim"),
    BY_SCO.privacy(RESAMPLED, 40_000, "worst-case-epsilon-2", ", opposite losses, worst-case-epsilon-2"),
    BY_SCO.gradient_queries(
        Made(lambda p, n: EmpiricalToPopulation(NoisyGradientDescent(p, 1.0, DELTA)), 32, 5)
    ),
    # real size
    real_size.privacy(PHASED_SGD, "Phased SGD", lambda: PhasedSGD(real_size.linear(), 1.0, DELTA), 2_000),
    real_size.privacy(PHASED_ERM, "Phased ERM", lambda: PhasedERM(real_size.linear(), 1.0, DELTA), 2_000),
    real_size.privacy(ORACLE, "Two passes through a Gaussian oracle", cases.two_passes_at_size, 4_000),
    real_size.risk(SGD, "DP-SGD", lambda: DPSGD(real_size.logistic(), 4.0, DELTA), 60),
    real_size.risk(PHASED_SGD, "Phased SGD", lambda: PhasedSGD(real_size.logistic(), 1.0, DELTA), 200),
    real_size.risk(PHASED_ERM, "Phased ERM", lambda: PhasedERM(real_size.logistic(), 32.0, DELTA), 200),
    real_size.risk(
        LIMITED, LIMITED.name, lambda: cases.limited("quantizing", real_size.logistic(), 0.1), 200
    ),
    real_size.risk(
        BY_ERM,
        "the reduction to empirical risks",
        lambda: cases.reduction(real_size.logistic(), real_size.SIZE),
        200,
    ),
    real_size.privacy(
        BY_SCO,
        "Resampling, then Stop-PNSGD",
        lambda: cases.resampled_stop(real_size.linear(), real_size.SIZE),
        4_000,
        index=1,
    ),
    INSTANCE.mean(
        lower_bounds.unseen_at_size, 1_000, "real-size/risk", "Too few true answers at real size, 64 features"
    ),
    TRACING.mean(
        lower_bounds.traced_at_size,
        10_000,
        "real-size/traced",
        "Tracing at real size, among 1797 records of 64 features",
    ),
)
