"""The audits of fmtt18's algorithms."""

from __future__ import annotations

from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.problems import Hinge, Linear
from dpverify.statements import real_size
from dpverify.statements.audit_parts import REAL_DATA
from dpverify.statements.audit_rows import constant, mean, privacy, queries, risk, table
from dpverify.statements.fmtt18.audits import cases, constants
from dpverify.statements.plans import ACCOUNTANT, Plan

PLANS: tuple[Plan, ...] = table(
    "fmtt18",
    privacy("fmtt18.cni/{}", "Noisy iteration on {}", cases.iterated, 20_000, per=REAL_DATA),
    (
        Plan(
            "fmtt18.cni/accountant",
            "fmtt18.cni",
            "Epsilon of noisy iteration, a shift hidden by later noise",
            ACCOUNTANT,
            cases.accounted,
        ),
    ),
    queries("fmtt18.cni/queries", "Gradient queries of Noisy iteration", cases.full_gradients),
    privacy("fmtt18.cni/worst-case", "Noisy iteration, identity maps", cases.identity_maps, 40_000),
    # PNSGD and its variants
    privacy(
        "fmtt18.alg1/{}", "PNSGD on {}", lambda name: cases.stepped(PNSGD, 8, 8, name), 40_000, per=REAL_DATA
    ),
    risk("fmtt18.alg1/{}/risk", "Risk of PNSGD on {}", cases.last_point, 10_000, per=REAL_DATA),
    queries("fmtt18.alg1/queries", "Gradient queries of PNSGD", lambda: cases.pass_count(PNSGD)),
    privacy(
        "fmtt18.skip/{}",
        "Skip-PNSGD on {}",
        lambda name: cases.stepped(SkipPNSGD, 8, 8, name),
        40_000,
        per=REAL_DATA,
    ),
    risk(
        "fmtt18.skip/{}/risk",
        "Risk of Skip-PNSGD on {}",
        lambda name: cases.theorem_risk(SkipPNSGD, (200, 400, 800), name),
        2_000,
        over="n",
        per=REAL_DATA,
    ),
    queries("fmtt18.skip/queries", "Gradient queries of Skip-PNSGD", lambda: cases.pass_count(SkipPNSGD)),
    privacy(
        "fmtt18.stop/{}",
        "Stop-PNSGD on {}",
        lambda name: cases.stepped(StopPNSGD, 2, 1, name, rate=0.5),
        40_000,
        per=REAL_DATA,
    ),
    risk(
        "fmtt18.stop/{}/risk",
        "Risk of Stop-PNSGD on {}",
        lambda name: cases.theorem_risk(StopPNSGD, (100, 200, 400), name),
        2_000,
        over="n",
        per=REAL_DATA,
    ),
    queries("fmtt18.stop/queries", "Gradient queries of Stop-PNSGD", lambda: cases.pass_count(StopPNSGD)),
    privacy(
        "fmtt18.alg2/{}",
        "PNMSGD on {}",
        lambda name: cases.stepped(PNMSGD, 8, 8, name, epochs=2),
        40_000,
        per=REAL_DATA,
    ),
    risk("fmtt18.alg2/{}/risk", "Risk of PNMSGD on {}", cases.last_epoch, 10_000, per=REAL_DATA),
    queries("fmtt18.alg2/queries", "Gradient queries of PNMSGD", cases.epochs_count),
    privacy(
        "fmtt18.alg1/worst-case-{}-of-6",
        "PNSGD, worst case at index {} of 6",
        lambda index: cases.contracted(PNSGD, 6, int(index)),
        40_000,
        per=("6", "3"),
    ),
    privacy(
        "fmtt18.skip/worst-case-6-of-6",
        "Skip-PNSGD, worst case at index 6 of 6",
        lambda: cases.contracted(SkipPNSGD, 6, 6),
        40_000,
    ),
    privacy(
        "fmtt18.stop/worst-case-1-of-2",
        "Stop-PNSGD, worst case at index 1 of 2",
        lambda: cases.contracted(StopPNSGD, 2, 1),
        40_000,
    ),
    privacy(
        "fmtt18.alg2/worst-case",
        "PNMSGD, worst case",
        lambda: cases.contracted(PNMSGD, 2, 2, ", 2 epochs"),
        40_000,
    ),
    constant(
        "fmtt18.appB/constant",
        "The constant in Appendix B's noise",
        constants.appendix_noise,
        about="fmtt18.appB",
    ),
    mean(
        "fmtt18.skip/{}/stop-half",
        "Skip-PNSGD and Stop(n/2) on {}: the same law",
        cases.skip_is_stop,
        6_000,
        per=REAL_DATA,
    ),
    # what is built on them
    privacy("fmtt18.public/worst-case", "Public records last, worst case", cases.public_last_worst, 40_000),
    constant(
        "fmtt18.public/constant", "Corollary 31's constant", constants.public_noise, about="fmtt18.cor31"
    ),
    privacy("fmtt18.public/{}", "Public records last on {}", cases.public_last, 40_000, per=REAL_DATA),
    risk(
        "fmtt18.public/{}/risk",
        "Risk with public records on {}",
        cases.public_risk,
        2_000,
        over="n",
        per=REAL_DATA,
    ),
    queries("fmtt18.public/queries", "Gradient queries of fmtt18.public", cases.public_pass),
    privacy("fmtt18.multitask/worst-case", "Several tasks, worst case", cases.several_tasks_worst, 20_000),
    mean(
        "fmtt18.multitask/digits/risk", "Risk of one-versus-rest tasks on digits", cases.tasks_risk, 40 * 20
    ),
    constant(
        "fmtt18.multitask/constant", "Theorem 32's constant", constants.tasks_noise, about="fmtt18.thm32"
    ),
    privacy(
        "fmtt18.multitask/{}",
        "Several tasks on {}",
        cases.several_tasks,
        10_000,
        per=("breast-cancer", "digits"),
    ),
    queries("fmtt18.multitask/queries", "Gradient queries of fmtt18.multitask", cases.tasks_pass),
    constant(
        "fmtt18.smoothing/smoothness-constant",
        "Theorem 33's smoothness",
        constants.smoothness,
        about="fmtt18.thm33",
    ),
    constant("fmtt18.smoothing/bias-constant", "Theorem 33's bias", constants.bias, about="fmtt18.thm33"),
    privacy("fmtt18.smoothing/{}", "Smoothed PNSGD on {}", cases.smoothed, 40_000, per=REAL_DATA),
    risk(
        "fmtt18.smoothing/{}/risk",
        "Risk of smoothed PNSGD on {}",
        cases.smoothed_risk,
        2_000,
        over="n",
        per=REAL_DATA,
    ),
    queries("fmtt18.smoothing/queries", "Gradient queries of fmtt18.smoothing", cases.smoothed_pass),
    # real size
    real_size.privacy(
        "fmtt18.cni",
        "A contractive noisy iteration",
        lambda: cases.full_gradient(real_size.mean(), real_size.SIZE, 4, 1.0),
        2_000,
        loss=real_size.mean().loss,
    ),
    real_size.privacy("fmtt18.alg1", "PNSGD", lambda: PNSGD(cases.forgetting(), 1.0, 1.0), 20_000),
    real_size.privacy("fmtt18.skip", "Skip-PNSGD", lambda: SkipPNSGD(cases.forgetting(), 1.0, 1.0), 20_000),
    real_size.risk(
        "fmtt18.skip", "Skip-PNSGD", lambda: SkipPNSGD.for_privacy(real_size.logistic(), **cases.ASKED), 1_000
    ),
    real_size.privacy(
        "fmtt18.stop",
        "Stop-PNSGD",
        lambda: StopPNSGD.for_privacy(real_size.linear(), **cases.ASKED),
        10_000,
        index=1,
    ),
    real_size.risk(
        "fmtt18.stop", "Stop-PNSGD", lambda: StopPNSGD.for_privacy(real_size.logistic(), **cases.ASKED), 1_000
    ),
    real_size.privacy(
        "fmtt18.public",
        "Skip-PNSGD with public records",
        lambda: PublicRecordsLast.for_privacy(real_size.linear(), public=cases.PUBLIC, **cases.ASKED),
        10_000,
        index=real_size.SIZE - cases.PUBLIC,
    ),
    real_size.privacy(
        "fmtt18.multitask", "Three tasks by Stop-PNSGD", cases.three_tasks, 4_000, index=1, loss=Linear()
    ),
    real_size.privacy("fmtt18.smoothing", "Smoothed PNSGD", cases.smoothed_hinge, 10_000, loss=Hinge()),
    real_size.privacy(
        "fmtt18.alg2", "Two epochs of PNMSGD", lambda: PNMSGD(cases.forgetting(), 1.0, 1.0, epochs=2), 5_000
    ),
)
