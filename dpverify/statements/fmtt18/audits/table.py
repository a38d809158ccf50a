"""The audits of fmtt18's algorithms."""

from __future__ import annotations

from functools import partial

from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, PublicRecordsLast, SkipPNSGD, StopPNSGD
from dpverify.problems import Hinge, Linear
from dpverify.statements import real_size
from dpverify.statements.audit_rows import Audited, Made, table
from dpverify.statements.fmtt18.audits import cases, constants
from dpverify.statements.fmtt18.audits.cases import (
    ASKED,
    DELTA,
    DIMENSION,
    EPSILON,
    SIZE,
    contracted,
    few,
    one_pass,
    population_risks,
    stepped,
    theorem_risk,
)
from dpverify.statements.plans import ACCOUNTANT, Plan

HIDDEN_SHIFT = "Epsilon of noisy iteration, a shift hidden by later noise"

ITERATION = Audited("fmtt18.cni", "Noisy iteration")
ONE_PASS = Audited("fmtt18.alg1", "PNSGD")
SKIP = Audited("fmtt18.skip", "Skip-PNSGD")
STOP = Audited("fmtt18.stop", "Stop-PNSGD")
EPOCHS = Audited("fmtt18.alg2", "PNMSGD")
APPENDIX = Audited("fmtt18.appB", "Appendix B")
PUBLIC = Audited("fmtt18.public", "Public records last")
TASKS = Audited("fmtt18.multitask", "Several tasks")
SMOOTHED = Audited("fmtt18.smoothing", "smoothed PNSGD")

PLANS: tuple[Plan, ...] = table(
    "fmtt18",
    ITERATION.privacy(cases.iterated, 20_000),
    (Plan("fmtt18.cni/accountant", "fmtt18.cni", HIDDEN_SHIFT, ACCOUNTANT, cases.accounted),),
    ITERATION.gradient_queries(few(cases.full_gradients)),
    ITERATION.privacy(cases.identity_maps, 40_000, "worst-case", ", identity maps"),
    # PNSGD and its variants
    ONE_PASS.privacy(partial(stepped, PNSGD, 8, 8), 40_000),
    ONE_PASS.risk(partial(cases.last_point, one_pass(PNSGD), None), 10_000),
    ONE_PASS.gradient_queries(few(one_pass(PNSGD))),
    SKIP.privacy(partial(stepped, SkipPNSGD, 8, 8), 40_000),
    SKIP.risk(theorem_risk(SkipPNSGD, 200, 400, 800), 2_000, over="n"),
    SKIP.gradient_queries(few(one_pass(SkipPNSGD))),
    STOP.privacy(partial(stepped, StopPNSGD, 2, 1, rate=0.5), 40_000),
    STOP.risk(theorem_risk(StopPNSGD, 100, 200, 400), 2_000, over="n"),
    STOP.gradient_queries(few(one_pass(StopPNSGD))),
    EPOCHS.privacy(partial(stepped, PNMSGD, 8, 8, epochs=2), 40_000),
    EPOCHS.risk(partial(cases.last_point, cases.many_epochs, SIZE), 10_000),
    EPOCHS.gradient_queries(few(cases.many_epochs)),
    *(
        of.privacy(
            partial(contracted, kind, n, index),
            40_000,
            f"worst-case-{index}-of-{n}",
            f", worst case at index {index} of {n}",
        )
        for of, kind, n, index in (
            (ONE_PASS, PNSGD, 6, 6),
            (ONE_PASS, PNSGD, 6, 3),
            (SKIP, SkipPNSGD, 6, 6),
            (STOP, StopPNSGD, 2, 1),
        )
    ),
    EPOCHS.privacy(partial(contracted, PNMSGD, 2, 2, ", 2 epochs"), 40_000, "worst-case", ", worst case"),
    APPENDIX.constant(constants.appendix_noise, row="constant", title="The constant in Appendix B's noise"),
    SKIP.mean(cases.skip_is_stop, 6_000, "{}/stop-half", "Skip-PNSGD and Stop(n/2) on {}: the same law"),
    # what is built on them
    PUBLIC.privacy(cases.public_last_worst, 40_000, "worst-case", ", worst case"),
    PUBLIC.constant(
        constants.public_noise, row="constant", title="Corollary 31's constant", about="fmtt18.cor31"
    ),
    PUBLIC.privacy(cases.public_last, 40_000),
    PUBLIC.risk(
        population_risks(cases.half_public, (100, 200, 400), DIMENSION, "half of them public, epsilon = 1"),
        2_000,
        title="Risk with public records on {}",
        over="n",
    ),
    PUBLIC.gradient_queries(
        few(lambda p, n: PublicRecordsLast.for_privacy(p, n=n, public=10, epsilon=EPSILON, delta=DELTA)),
        title="Gradient queries of fmtt18.public",
    ),
    TASKS.privacy(cases.several_tasks_worst, 20_000, "worst-case", ", worst case"),
    TASKS.mean(cases.tasks_risk, 800, "digits/risk", "Risk of one-versus-rest tasks on digits"),
    TASKS.constant(
        constants.tasks_noise, row="constant", title="Theorem 32's constant", about="fmtt18.thm32"
    ),
    TASKS.privacy(cases.several_tasks, 10_000, per=("breast-cancer", "digits")),
    TASKS.gradient_queries(few(cases.three_losses), title="Gradient queries of fmtt18.multitask"),
    SMOOTHED.constant(
        constants.smoothness, row="smoothness-constant", title="Theorem 33's smoothness", about="fmtt18.thm33"
    ),
    SMOOTHED.constant(constants.bias, row="bias-constant", title="Theorem 33's bias", about="fmtt18.thm33"),
    SMOOTHED.privacy(cases.smoothed, 40_000),
    SMOOTHED.risk(
        population_risks(
            cases.smoothed_for_privacy,
            (100, 200, 400),
            DIMENSION,
            f"epsilon = {EPSILON:g}",
            on=cases.kinked,
            own_risk=False,
        ),
        2_000,
        over="n",
    ),
    SMOOTHED.gradient_queries(
        Made(cases.smoothed_for_privacy, SIZE, DIMENSION, on=cases.kinked),
        title="Gradient queries of fmtt18.smoothing",
    ),
    # real size
    real_size.privacy(
        ITERATION,
        "A contractive noisy iteration",
        lambda: cases.full_gradient(real_size.mean(), real_size.SIZE, 4, 1.0),
        2_000,
        loss=real_size.mean().loss,
    ),
    real_size.privacy(ONE_PASS, "PNSGD", lambda: PNSGD(cases.forgetting(), 1.0, 1.0), 20_000),
    real_size.privacy(SKIP, "Skip-PNSGD", lambda: SkipPNSGD(cases.forgetting(), 1.0, 1.0), 20_000),
    real_size.risk(SKIP, "Skip-PNSGD", lambda: SkipPNSGD.for_privacy(real_size.logistic(), **ASKED), 1_000),
    real_size.privacy(
        STOP, "Stop-PNSGD", lambda: StopPNSGD.for_privacy(real_size.linear(), **ASKED), 10_000, index=1
    ),
    real_size.risk(STOP, "Stop-PNSGD", lambda: StopPNSGD.for_privacy(real_size.logistic(), **ASKED), 1_000),
    real_size.privacy(
        PUBLIC,
        "Skip-PNSGD with public records",
        lambda: PublicRecordsLast.for_privacy(real_size.linear(), public=cases.PUBLIC, **ASKED),
        10_000,
        index=real_size.SIZE - cases.PUBLIC,
    ),
    real_size.privacy(TASKS, "Three tasks by Stop-PNSGD", cases.three_tasks, 4_000, index=1, loss=Linear()),
    real_size.privacy(SMOOTHED, "Smoothed PNSGD", cases.smoothed_hinge, 10_000, loss=Hinge()),
    real_size.privacy(
        EPOCHS, "Two epochs of PNMSGD", lambda: PNMSGD(cases.forgetting(), 1.0, 1.0, epochs=2), 5_000
    ),
)
