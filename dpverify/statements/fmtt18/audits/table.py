"""The audits of fmtt18's algorithms."""

from __future__ import annotations

from functools import partial

from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast
from dpverify.problems import Hinge, Linear
from dpverify.statements import real_size
from dpverify.statements.audit_rows import constant, mean, privacy, queries, risk, table
from dpverify.statements.fmtt18.audits import cases, constants
from dpverify.statements.fmtt18.audits.cases import ASKED, contracted, pass_count, stepped, theorem_risk
from dpverify.statements.plans import ACCOUNTANT, Plan

HIDDEN_SHIFT = "Epsilon of noisy iteration, a shift hidden by later noise"

PLANS: tuple[Plan, ...] = table(
    "fmtt18",
    privacy("fmtt18.cni/{}", "Noisy iteration on {}", cases.iterated, 20_000),
    (Plan("fmtt18.cni/accountant", "fmtt18.cni", HIDDEN_SHIFT, ACCOUNTANT, cases.accounted),),
    queries("fmtt18.cni/queries", "Gradient queries of Noisy iteration", cases.full_gradients),
    privacy("fmtt18.cni/worst-case", "Noisy iteration, identity maps", cases.identity_maps, 40_000),
    # PNSGD and its variants
    privacy("fmtt18.alg1/{}", "PNSGD on {}", partial(stepped, PNSGD, 8, 8), 40_000),
    risk("fmtt18.alg1/{}/risk", "Risk of PNSGD on {}", cases.last_point, 10_000),
    queries("fmtt18.alg1/queries", "Gradient queries of PNSGD", partial(pass_count, PNSGD)),
    privacy("fmtt18.skip/{}", "Skip-PNSGD on {}", partial(stepped, SkipPNSGD, 8, 8), 40_000),
    risk(
        "fmtt18.skip/{}/risk",
        "Risk of Skip-PNSGD on {}",
        partial(theorem_risk, SkipPNSGD, (200, 400, 800)),
        2_000,
        over="n",
    ),
    queries("fmtt18.skip/queries", "Gradient queries of Skip-PNSGD", partial(pass_count, SkipPNSGD)),
    privacy("fmtt18.stop/{}", "Stop-PNSGD on {}", partial(stepped, StopPNSGD, 2, 1, rate=0.5), 40_000),
    risk(
        "fmtt18.stop/{}/risk",
        "Risk of Stop-PNSGD on {}",
        partial(theorem_risk, StopPNSGD, (100, 200, 400)),
        2_000,
        over="n",
    ),
    queries("fmtt18.stop/queries", "Gradient queries of Stop-PNSGD", partial(pass_count, StopPNSGD)),
    privacy("fmtt18.alg2/{}", "PNMSGD on {}", partial(stepped, PNMSGD, 8, 8, epochs=2), 40_000),
    risk("fmtt18.alg2/{}/risk", "Risk of PNMSGD on {}", cases.last_epoch, 10_000),
    queries("fmtt18.alg2/queries", "Gradient queries of PNMSGD", cases.epochs_count),
    *(
        privacy(
            f"{kind.id}/worst-case-{index}-of-{n}",
            f"{name}, worst case at index {index} of {n}",
            partial(contracted, kind, n, index),
            40_000,
        )
        for kind, name, n, index in (
            (PNSGD, "PNSGD", 6, 6),
            (PNSGD, "PNSGD", 6, 3),
            (SkipPNSGD, "Skip-PNSGD", 6, 6),
            (StopPNSGD, "Stop-PNSGD", 2, 1),
        )
    ),
    privacy(
        "fmtt18.alg2/worst-case",
        "PNMSGD, worst case",
        partial(contracted, PNMSGD, 2, 2, ", 2 epochs"),
        40_000,
    ),
    constant(
        "fmtt18.appB/constant",
        "The constant in Appendix B's noise",
        constants.appendix_noise,
        about="fmtt18.appB",
    ),
    mean(
        "fmtt18.skip/{}/stop-half", "Skip-PNSGD and Stop(n/2) on {}: the same law", cases.skip_is_stop, 6_000
    ),
    # what is built on them
    privacy("fmtt18.public/worst-case", "Public records last, worst case", cases.public_last_worst, 40_000),
    constant(
        "fmtt18.public/constant", "Corollary 31's constant", constants.public_noise, about="fmtt18.cor31"
    ),
    privacy("fmtt18.public/{}", "Public records last on {}", cases.public_last, 40_000),
    risk("fmtt18.public/{}/risk", "Risk with public records on {}", cases.public_risk, 2_000, over="n"),
    queries("fmtt18.public/queries", "Gradient queries of fmtt18.public", cases.public_pass),
    privacy("fmtt18.multitask/worst-case", "Several tasks, worst case", cases.several_tasks_worst, 20_000),
    mean("fmtt18.multitask/digits/risk", "Risk of one-versus-rest tasks on digits", cases.tasks_risk, 800),
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
    privacy("fmtt18.smoothing/{}", "Smoothed PNSGD on {}", cases.smoothed, 40_000),
    risk("fmtt18.smoothing/{}/risk", "Risk of smoothed PNSGD on {}", cases.smoothed_risk, 2_000, over="n"),
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
        "fmtt18.skip", "Skip-PNSGD", lambda: SkipPNSGD.for_privacy(real_size.logistic(), **ASKED), 1_000
    ),
    real_size.privacy(
        "fmtt18.stop",
        "Stop-PNSGD",
        lambda: StopPNSGD.for_privacy(real_size.linear(), **ASKED),
        10_000,
        index=1,
    ),
    real_size.risk(
        "fmtt18.stop", "Stop-PNSGD", lambda: StopPNSGD.for_privacy(real_size.logistic(), **ASKED), 1_000
    ),
    real_size.privacy(
        "fmtt18.public",
        "Skip-PNSGD with public records",
        lambda: PublicRecordsLast.for_privacy(real_size.linear(), public=cases.PUBLIC, **ASKED),
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
