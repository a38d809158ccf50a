"""The audits of mn25's algorithms."""

from __future__ import annotations

from functools import partial

from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.statements import real_size
from dpverify.statements.audit_rows import constant, law, mean, privacy, queries, risk, table
from dpverify.statements.mn25.audits import cases, constants, lower_bounds
from dpverify.statements.mn25.audits.cases import DELTA, EPSILON, counted, on_pair, risks, split
from dpverify.statements.plans import Plan

SIZES = ("200", "1000")
TRACED = {"hard": "the hard distribution", "digits": "digits", "breast-cancer": "breast-cancer"}
MESSAGES = partial(on_pair, cases.gaussian_messages, 4)
DESCENT = partial(on_pair, cases.private_descent, 4)
PHASES = partial(on_pair, cases.private_phases, 2)
MINIMIZERS = partial(on_pair, cases.private_minimizers, 4)
RESAMPLED = partial(on_pair, cases.resampled, 2)
"""Methods on small pairs of data sets."""

PLANS: tuple[Plan, ...] = table(
    "mn25",
    # private oracles
    privacy("mn25.alg1/{}", "Private oracle method on {}", partial(MESSAGES, 2), 20_000),
    privacy("mn25.alg1/worst-case", "Private oracle method, worst case", MESSAGES, 40_000),
    queries("mn25.alg1/queries", "Gradient queries of Private oracle method", cases.two_passes),
    privacy("mn25.alg3/{}", "DP-SGD on {}", partial(DESCENT, 1), 20_000),
    risk(
        "mn25.alg3/{}/risk", "Risk of DP-SGD on {}", partial(risks, cases.tuned_descents), 400, over="alpha"
    ),
    privacy("mn25.alg3/worst-case", "DP-SGD, worst case", DESCENT, 40_000),
    queries(
        "mn25.alg3/queries",
        "Gradient queries of DP-SGD",
        partial(counted, partial(DPSGD, epsilon=EPSILON, delta=DELTA)),
    ),
    constant(
        "mn25.alg3/constant-{}", "The constant in DP-SGD's accuracy, n = {}", constants.dp_sgd, per=SIZES
    ),
    # in phases
    privacy("mn25.alg4/{}", "Phased SGD on {}", partial(PHASES, 1), 20_000),
    risk("mn25.alg4/{}/risk", "Risk of Phased SGD on {}", partial(risks, cases.phased_sgd), 100),
    privacy("mn25.alg4/worst-case", "Phased SGD, worst case", PHASES, 40_000),
    queries("mn25.alg4/queries", "Gradient queries of Phased SGD", partial(counted, cases.few_phases)),
    constant(
        "mn25.alg4/constant-{}",
        "The constant in Phased SGD's accuracy, n = {}",
        constants.phased_sgd,
        per=SIZES,
    ),
    privacy("mn25.alg5/{}", "Phased ERM on {}", partial(MINIMIZERS, 1), 20_000),
    risk(
        "mn25.alg5/{}/risk", "Risk of Phased ERM on {}", partial(risks, cases.phased_erm), 400, over="epsilon"
    ),
    privacy("mn25.alg5/worst-case", "Phased ERM, worst case", MINIMIZERS, 40_000),
    queries(
        "mn25.alg5/queries",
        "Gradient queries of Phased ERM",
        partial(counted, partial(PhasedERM, epsilon=EPSILON, delta=DELTA)),
    ),
    constant(
        "mn25.alg5/constant-{}",
        "The constant in Phased ERM's accuracy, n = {}",
        constants.phased_erm,
        per=SIZES,
    ),
    # hard instance, tracing
    mean(
        "mn25.hard-instance/{}/risk",
        "Excess risk on the hard instance after few queries, {} directions",
        lower_bounds.few_answers,
        1_000,
        over="queries",
        per=("random", "digits"),
    ),
    mean(
        "mn25.hard-instance/digits/found",
        "Directions found on the hard instance",
        lower_bounds.found,
        200,
        over="queries",
    ),
    mean(
        "mn25.hard-instance/private-risk",
        "Excess risk of a private algorithm on the hard instance",
        lower_bounds.private_on_instance,
        200,
        over="epsilon",
    ),
    law(
        "mn25.hard-instance/law-{}",
        "Law of the hard instance, {}",
        lower_bounds.projected_part,
        5_000,
        per=("direction", "subspace"),
    ),
    queries("mn25.hard-instance/queries", "Queries on the hard instance", lower_bounds.instance_queries),
    *(
        mean(f"mn25.fingerprint/{{}}/{name}", f"{title}, {{}}", case, runs, per=TRACED)
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
        risk(
            f"mn25.limited-oracle/{{}}/{oracle}/risk",
            f"Risk of SGD through a limited oracle ({oracle}) on {{}}",
            partial(risks, partial(cases.limited_descents, oracle)),
            500,
            over="nats",
        )
        for oracle in cases.ORACLES
    ),
    mean(
        "mn25.limited-oracle/{}/rounding",
        "Squared error of quantized gradients on {}",
        cases.quantizing_error,
        20_000,
        over="bits",
    ),
    queries("mn25.limited-oracle/queries", "Gradient queries of SGD through a channel", cases.limited_calls),
    constant("mn25.limited-oracle/capacity", "The constant in the channel's capacity", constants.capacity),
    # reductions
    privacy(
        "mn25.sco-to-erm/breast-cancer",
        "SCO by ERM on breast-cancer, two balls",
        partial(split, "breast-cancer", 2, 1, 1, 2, 0.2),
        20_000,
    ),
    privacy(
        "mn25.sco-to-erm/diabetes",
        "SCO by ERM on diabetes, two phases",
        partial(split, "diabetes", 4, 2, 1, 1, 0.0),
        20_000,
    ),
    risk(
        "mn25.sco-to-erm/{}/risk", "Population risk of SCO by ERM on {}", cases.reduction_risk, 400, over="n"
    ),
    privacy(
        "mn25.sco-to-erm/worst-case",
        "SCO by ERM, opposite linear losses",
        partial(split, "worst-case", 2, 1, 2, 1, 0.2),
        20_000,
    ),
    queries("mn25.sco-to-erm/gradient-queries", "Gradient queries of SCO by ERM", cases.reduction_queries),
    queries("mn25.sco-to-erm/value-queries", "Value queries of SCO by ERM", cases.reduction_queries, "value"),
    constant(
        "mn25.sco-to-erm/factor-{}",
        "The factor in Theorem 8's risk, n = 1e{}",
        constants.hidden_factor,
        per=("4", "8", "12"),
    ),
    privacy("mn25.erm-to-sco/{}", "ERM by SCO on {}", partial(RESAMPLED, 1), 40_000),
    risk(
        "mn25.erm-to-sco/{}/risk", "Empirical risk of ERM by SCO on {}", cases.resampled_risk, 2_000, over="n"
    ),
    privacy(
        "mn25.erm-to-sco/worst-case",
        "ERM by SCO, opposite losses, the printed claim",
        cases.drawn_step,
        40_000,
    ),
    privacy(
        "mn25.erm-to-sco/worst-case-epsilon-2",
        "ERM by SCO, opposite losses, worst-case-epsilon-2",
        RESAMPLED,
        40_000,
    ),
    queries("mn25.erm-to-sco/queries", "Gradient queries of ERM by SCO", cases.resampled_queries),
    # real size
    real_size.privacy("mn25.alg4", "Phased SGD", lambda: PhasedSGD(real_size.linear(), 1.0, DELTA), 2_000),
    real_size.privacy("mn25.alg5", "Phased ERM", lambda: PhasedERM(real_size.linear(), 1.0, DELTA), 2_000),
    real_size.privacy("mn25.alg1", "Two passes through a Gaussian oracle", cases.two_passes_at_size, 4_000),
    real_size.risk("mn25.alg3", "DP-SGD", lambda: DPSGD(real_size.logistic(), 4.0, DELTA), 60),
    real_size.risk("mn25.alg4", "Phased SGD", lambda: PhasedSGD(real_size.logistic(), 1.0, DELTA), 200),
    real_size.risk("mn25.alg5", "Phased ERM", lambda: PhasedERM(real_size.logistic(), 32.0, DELTA), 200),
    real_size.risk(
        "mn25.limited-oracle",
        "SGD through a limited oracle",
        lambda: cases.limited("quantizing", real_size.logistic(), 0.1),
        200,
    ),
    real_size.risk(
        "mn25.sco-to-erm",
        "the reduction to empirical risks",
        lambda: cases.reduction(real_size.logistic(), real_size.SIZE),
        200,
    ),
    real_size.privacy(
        "mn25.erm-to-sco", "Resampling, then Stop-PNSGD", cases.resampled_at_size, 4_000, index=1
    ),
    mean(
        "mn25.hard-instance/real-size/risk",
        "Too few true answers at real size, 64 features",
        lower_bounds.unseen_at_size,
        1_000,
        full=True,
    ),
    mean(
        "mn25.fingerprint/real-size/traced",
        "Tracing at real size, among 1797 records of 64 features",
        lower_bounds.traced_at_size,
        10_000,
        full=True,
    ),
)
