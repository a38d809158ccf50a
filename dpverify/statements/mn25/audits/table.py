"""The audits of mn25's algorithms."""

from __future__ import annotations

from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.problems import opposite_linear
from dpverify.statements import real_size
from dpverify.statements.audit_parts import REAL_DATA, linear_neighbors
from dpverify.statements.audit_rows import constant, law, mean, privacy, queries, risk, table
from dpverify.statements.mn25.audits import cases, constants, lower_bounds
from dpverify.statements.mn25.audits.cases import DELTA, EPSILON, trivial
from dpverify.statements.plans import Plan

SIZES = ("200", "1000")
TRACED = {"hard": "the hard distribution", "digits": "digits", "breast-cancer": "breast-cancer"}

PLANS: tuple[Plan, ...] = table(
    "mn25",
    # private oracles
    privacy(
        "mn25.alg1/{}",
        "Private oracle method on {}",
        lambda name: cases.on_pair(name, 4, 2, cases.gaussian_messages),
        20_000,
        per=REAL_DATA,
    ),
    privacy(
        "mn25.alg1/worst-case",
        "Private oracle method, worst case",
        lambda: cases.on_pair("worst-case", 4, 1, cases.gaussian_messages),
        40_000,
    ),
    queries("mn25.alg1/queries", "Gradient queries of Private oracle method", cases.two_passes),
    privacy(
        "mn25.alg3/{}",
        "DP-SGD on {}",
        lambda name: cases.on_pair(name, 4, 1, lambda problem, _: DPSGD(problem, 4.0, 0.01)),
        20_000,
        per=REAL_DATA,
    ),
    risk(
        "mn25.alg3/{}/risk",
        "Risk of DP-SGD on {}",
        lambda name: cases.risks(name, cases.tuned_descents),
        400,
        over="alpha",
        per=REAL_DATA,
    ),
    privacy(
        "mn25.alg3/worst-case",
        "DP-SGD, worst case",
        lambda: cases.on_pair("worst-case", 4, 1, lambda problem, _: DPSGD(problem, 4.0, 0.01)),
        40_000,
    ),
    queries(
        "mn25.alg3/queries",
        "Gradient queries of DP-SGD",
        lambda: cases.counted(lambda problem: DPSGD(problem, EPSILON, DELTA)),
    ),
    constant(
        "mn25.alg3/constant-{}", "The constant in DP-SGD's accuracy, n = {}", constants.dp_sgd, per=SIZES
    ),
    # in phases
    privacy(
        "mn25.alg4/{}",
        "Phased SGD on {}",
        lambda name: cases.on_pair(name, 2, 1, cases.private_phases),
        20_000,
        per=REAL_DATA,
    ),
    risk(
        "mn25.alg4/{}/risk",
        "Risk of Phased SGD on {}",
        lambda name: cases.risks(name, cases.phased_sgd),
        100,
        per=REAL_DATA,
    ),
    privacy(
        "mn25.alg4/worst-case",
        "Phased SGD, worst case",
        lambda: cases.on_pair("worst-case", 2, 1, cases.private_phases),
        40_000,
    ),
    # at an accuracy close to the smallest that is proved at 40 records
    queries(
        "mn25.alg4/queries",
        "Gradient queries of Phased SGD",
        lambda: cases.counted(
            lambda problem: PhasedSGD(problem, EPSILON, DELTA, accuracy=0.06 * trivial(problem))
        ),
    ),
    constant(
        "mn25.alg4/constant-{}",
        "The constant in Phased SGD's accuracy, n = {}",
        constants.phased_sgd,
        per=SIZES,
    ),
    privacy(
        "mn25.alg5/{}",
        "Phased ERM on {}",
        lambda name: cases.on_pair(
            name, 4, 1, lambda problem, _: PhasedERM(problem, 4.0, 0.01, gap_factor=1e-6)
        ),
        20_000,
        per=REAL_DATA,
    ),
    risk(
        "mn25.alg5/{}/risk",
        "Risk of Phased ERM on {}",
        lambda name: cases.risks(name, cases.phased_erm),
        400,
        over="epsilon",
        per=REAL_DATA,
    ),
    privacy(
        "mn25.alg5/worst-case",
        "Phased ERM, worst case",
        lambda: cases.on_pair(
            "worst-case", 4, 1, lambda problem, _: PhasedERM(problem, 4.0, 0.01, gap_factor=1e-6)
        ),
        40_000,
    ),
    queries(
        "mn25.alg5/queries",
        "Gradient queries of Phased ERM",
        lambda: cases.counted(lambda problem: PhasedERM(problem, EPSILON, DELTA)),
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
    mean("mn25.fingerprint/{}/traced", "Tracing the mean, {}", lower_bounds.traced, 10_000, per=TRACED),
    mean(
        "mn25.fingerprint/{}/private",
        "Tracing a private mean, {}",
        lower_bounds.not_traced,
        10_000,
        per=TRACED,
    ),
    mean(
        "mn25.fingerprint/{}/advantage",
        "A tracer's advantage without privacy, {}",
        lambda name: lower_bounds.advantage(name, False),
        20_000,
        per=TRACED,
    ),
    mean(
        "mn25.fingerprint/{}/private-advantage",
        "A tracer's advantage under privacy, {}",
        lambda name: lower_bounds.advantage(name, True),
        20_000,
        per=TRACED,
    ),
    # limited oracles
    *(
        risk(
            f"mn25.limited-oracle/{{}}/{oracle}/risk",
            f"Risk of SGD through a limited oracle ({oracle}) on {{}}",
            lambda name, oracle=oracle: cases.risks(
                name, lambda problem: cases.limited_descents(oracle, problem)
            ),
            500,
            over="nats",
            per=REAL_DATA,
        )
        for oracle in cases.ORACLES
    ),
    mean(
        "mn25.limited-oracle/{}/rounding",
        "Squared error of quantized gradients on {}",
        cases.quantizing_error,
        20_000,
        over="bits",
        per=REAL_DATA,
    ),
    queries("mn25.limited-oracle/queries", "Gradient queries of SGD through a channel", cases.limited_calls),
    constant("mn25.limited-oracle/capacity", "The constant in the channel's capacity", constants.capacity),
    # reductions
    privacy(
        "mn25.sco-to-erm/breast-cancer",
        "SCO by ERM on breast-cancer, two balls",
        lambda: cases.split(linear_neighbors("breast-cancer", n=2, d=1), 1, 1, 2, 0.2),
        20_000,
    ),
    privacy(
        "mn25.sco-to-erm/diabetes",
        "SCO by ERM on diabetes, two phases",
        lambda: cases.split(linear_neighbors("diabetes", n=4, d=1), 2, 1, 1, 0.0),
        20_000,
    ),
    risk(
        "mn25.sco-to-erm/{}/risk",
        "Population risk of SCO by ERM on {}",
        cases.reduction_risk,
        400,
        over="n",
        per=REAL_DATA,
    ),
    privacy(
        "mn25.sco-to-erm/worst-case",
        "SCO by ERM, opposite linear losses",
        lambda: cases.split(opposite_linear(2, 1, 2), 1, 2, 1, 0.2),
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
    privacy(
        "mn25.erm-to-sco/{}",
        "ERM by SCO on {}",
        lambda name: cases.on_pair(name, 2, 1, cases.resampled),
        40_000,
        per=REAL_DATA,
    ),
    risk(
        "mn25.erm-to-sco/{}/risk",
        "Empirical risk of ERM by SCO on {}",
        cases.resampled_risk,
        2_000,
        over="n",
        per=REAL_DATA,
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
        lambda: cases.on_pair("worst-case", 2, 1, cases.resampled),
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
