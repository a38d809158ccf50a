"""Carrying out audit plans: build the case, run the mechanism, audit what came out."""

from __future__ import annotations

import math
import shlex
import time
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.auditing import (
    CountRelation,
    MeanAudit,
    audit_law,
    audit_mean,
    audit_privacy,
    audit_queries,
    complexity_entry,
    fit_rate,
    mean_entry,
    privacy_entry,
    rate_entry,
    risk_entry,
    sampling_entry,
)
from dpverify.evidence import (
    ComplexityEvidence,
    Evidence,
    Interval,
    MeanEvidence,
    PrivacyEvidence,
    SamplingEvidence,
    Verdict,
)
from dpverify.privacy import Guarantee
from dpverify.problems import Dataset, minimize
from dpverify.running import BLOCK, Executor, Mechanism, Progress, Runs, Store, run
from dpverify.statements.plans import (
    ComplexityPlan,
    ConstantPlan,
    MeanCase,
    MeanPlan,
    Plan,
    PrivacyCase,
    PrivacyPlan,
    Profile,
    RiskCase,
    RiskPlan,
    SamplingCase,
    SamplingPlan,
)


@dataclass(frozen=True)
class AuditSettings:
    """What all audits of one run share."""

    profile: Profile
    seed: int
    executor: Executor
    progress: Progress | None = None
    store: Store | None = None
    """Where finished work is kept: an interrupted run picks up there, with the same bits."""


def carry_out(plan: Plan, settings: AuditSettings, failure_probability: float) -> list[Evidence]:
    """Carry out one plan, which may be wrong with at most the given probability.

    Plans that state no confidence (counts, constants) need none of it.
    """
    if isinstance(plan, PrivacyPlan):
        return [_privacy(plan, plan.build(settings.profile), settings, failure_probability)]
    if isinstance(plan, RiskPlan):
        return _risk(plan, plan.build(settings.profile), settings, failure_probability)
    if isinstance(plan, ComplexityPlan):
        return [_complexity(plan, settings)]
    if isinstance(plan, MeanPlan):
        return [_mean(plan, plan.build(settings.profile), settings, failure_probability)]
    if isinstance(plan, SamplingPlan):
        return [_sampling(plan, plan.build(settings.profile), settings, failure_probability)]
    return [plan.build(settings.profile)]


def is_statistical(plan: Plan) -> bool:
    """Whether a plan needs a share of the error budget."""
    return not isinstance(plan, ComplexityPlan | ConstantPlan)


def _label(plan: Plan) -> int:
    """Tells the streams of different plans apart, whatever else is run."""
    return zlib.crc32(plan.name.encode())


def _drawn(
    plan: Plan,
    settings: AuditSettings,
    mechanism: Mechanism,
    dataset: Dataset,
    runs: int,
    *numbers: int,
    block_size: int = BLOCK,
) -> Runs:
    """All runs of one case; `numbers` tell the streams of a plan's cases apart."""
    return run(
        mechanism,
        dataset,
        runs=runs,
        seed=(settings.seed, _label(plan), *numbers),
        executor=settings.executor,
        progress=settings.progress,
        store=settings.store,
        block_size=block_size,
    )


def _reproduce(plan: Plan, settings: AuditSettings, failure_probability: float | None = None) -> str:
    words = [
        "dpverify",
        "verify",
        "--only",
        plan.name,
        "--profile",
        settings.profile,
        "--seed",
        settings.seed,
    ]
    if failure_probability is not None:
        words += ["--failure-probability", f"{failure_probability!r}"]
    return shlex.join(str(word) for word in words)


def _privacy(
    plan: PrivacyPlan, case: PrivacyCase, settings: AuditSettings, failure_probability: float
) -> PrivacyEvidence:
    begin = time.perf_counter()
    samples = [
        _drawn(plan, settings, case.mechanism, data, case.runs, side).points
        for side, data in enumerate((case.left, case.right))
    ]
    left, right = (points.reshape(points.shape[0], -1) for points in samples)
    audit = audit_privacy(
        left, right, case.claim, failure_probability=failure_probability, seed=settings.seed
    )
    return privacy_entry(
        audit,
        subject=plan.subject,
        title=plan.title,
        data=case.data,
        adjacency=case.adjacency.value,
        claim_source=case.claim_source,
        best_known=None if case.upper is None else Sharper(case.claim, case.upper),
        seconds=round(time.perf_counter() - begin, 3),
        reproduce=_reproduce(plan, settings, failure_probability),
    )


@dataclass(frozen=True)
class Sharper:
    """The smaller of two upper bounds at every epsilon."""

    first: Guarantee
    second: Guarantee

    def privacy_profile(self, epsilon: Any) -> Any:
        """Delta at each epsilon, same shape."""
        return np.minimum(self.first.privacy_profile(epsilon), self.second.privacy_profile(epsilon))


def _risk(
    plan: RiskPlan, cases: tuple[RiskCase, ...], settings: AuditSettings, failure_probability: float
) -> list[Evidence]:
    """One excess risk for each case; their intervals hold all at once, and all must keep their bounds."""
    begin = time.perf_counter()
    each = failure_probability / len(cases)
    audits = [_measure(plan, case, number, settings, each) for number, case in enumerate(cases)]
    reproduce = _reproduce(plan, settings, failure_probability)
    # a violated bound is below what is possible: the two replacements further down leave it alone
    shown = max((i for i, a in enumerate(audits) if a.verdict is Verdict.VIOLATED), default=len(audits) - 1)
    case, audit = cases[shown], audits[shown]
    measured = risk_entry(
        audit,
        subject=plan.subject,
        title=plan.title,
        data=case.data,
        quantity=f"expected excess risk ({'sum' if case.total else 'mean'} over records)",
        claim=case.claim,
        claim_source=case.claim_source,
        seed=settings.seed,
        seconds=round(time.perf_counter() - begin, 3),
        reproduce=reproduce,
        curve=tuple(
            (c.size, a.measured.lower, a.measured.upper, c.bound)
            for c, a in zip(cases, audits, strict=True)
            if plan.curve_over
        ),
        curve_over=plan.curve_over,
    )
    if not math.isfinite(case.bound):
        unbounded = {"verdict": Verdict.UNDECIDED, "reason": "There is no stated bound to compare with."}
        measured = measured.model_copy(update={**unbounded, "bound": math.inf})
    elif not case.bound < _span(case):
        idle = {"verdict": Verdict.UNDECIDED, "reason": _idle(_span(case)), "bound": case.bound}
        measured = measured.model_copy(update=idle)
    found: list[Evidence] = [
        measured.model_copy(update={"runs": case.runs, "failure_probability": failure_probability})
    ]
    if plan.exponent_claimed is not None:
        fit = fit_rate([c.size for c in cases], [a.measured for a in audits], plan.exponent_claimed)
        rate = rate_entry(
            fit,
            subject=plan.subject,
            title=plan.title,
            over=plan.curve_over,
            runs=case.runs,
            failure_probability=failure_probability,
            seed=settings.seed,
            reproduce=reproduce,
        )
        if rate.verdict is Verdict.VIOLATED:
            # a paper's O( ) hides constants and logarithms: no finite set of sizes can violate it
            hidden = f"{rate.reason}. Constants and logarithms that O( ) hides can do that at these sizes."
            rate = rate.model_copy(update={"verdict": Verdict.UNDECIDED, "reason": hidden})
        found.append(rate)
    return found


def _span(case: RiskCase) -> float:
    """No risk on the set is farther from the minimum than the Lipschitz constant allows."""
    scale = float(case.dataset.n) if case.total else 1.0
    return scale * case.problem.loss.lipschitz_constant * case.problem.constraint.diameter


def _idle(extreme: float) -> str:
    return f"The bound says nothing here: no run could break it, the most extreme value possible being {extreme:.4g}."


def _measure(
    plan: RiskPlan, case: RiskCase, number: int, settings: AuditSettings, failure_probability: float
) -> MeanAudit:
    block_size = BLOCK if case.runs_a_sample == 1 else case.runs_a_sample
    points = _drawn(
        plan, settings, case.mechanism, case.dataset, case.runs, number, block_size=block_size
    ).points
    scale = float(case.dataset.n) if case.total else 1.0
    risks = scale * np.asarray(case.problem.mean_risk(points, case.dataset))
    if case.runs_a_sample > 1:
        risks = risks.reshape(-1, case.runs_a_sample).mean(axis=1)
    least = minimize(case.problem, case.dataset).value
    minimum = Interval(lower=scale * least.lower, upper=scale * least.upper)
    span = _span(case)
    return audit_mean(
        risks,
        bound=min(case.bound, span),
        lower=minimum.lower,
        upper=minimum.upper + span,
        failure_probability=failure_probability,
        minimum=minimum,
    )


def _mean(
    plan: MeanPlan, cases: tuple[MeanCase, ...], settings: AuditSettings, failure_probability: float
) -> MeanEvidence:
    """One expectation for each case; their intervals hold all at once, and all must keep their bounds."""
    begin = time.perf_counter()
    each = failure_probability / len(cases)
    audits = [_expectation(plan, case, number, settings, each) for number, case in enumerate(cases)]
    entries = [
        mean_entry(
            audit,
            at_least=case.at_least,
            subject=plan.subject,
            title=plan.title,
            data=case.data,
            quantity=case.quantity,
            claim=case.claim,
            claim_source=case.claim_source,
            seed=settings.seed,
            reproduce=_reproduce(plan, settings, failure_probability),
        )
        for case, audit in zip(cases, audits, strict=True)
    ]
    violated = [entry for entry in entries if entry.verdict is Verdict.VIOLATED]
    shown, bound = (violated or entries)[-1], cases[-1].bound
    update: dict[str, Any] = {
        "runs": cases[-1].runs,
        "failure_probability": failure_probability,
        "seconds": round(time.perf_counter() - begin, 3),
        "curve_over": plan.curve_over,
        "curve": tuple(
            (c.size, e.measured.lower, e.measured.upper, c.bound)
            for c, e in zip(cases, entries, strict=True)
            if plan.curve_over
        ),
    }
    extreme = cases[-1].lower if cases[-1].at_least else cases[-1].upper
    if not violated:
        update["bound"] = bound
        if not math.isfinite(bound):
            update |= {"verdict": Verdict.UNDECIDED, "reason": "There is no stated bound to compare with."}
        elif bound <= extreme if cases[-1].at_least else bound >= extreme:
            update |= {"verdict": Verdict.UNDECIDED, "reason": _idle(extreme)}
    return shown.model_copy(update=update)


def _expectation(
    plan: MeanPlan, case: MeanCase, number: int, settings: AuditSettings, failure_probability: float
) -> MeanAudit:
    collected = _drawn(
        plan,
        settings,
        case.mechanism,
        case.dataset,
        case.runs,
        number,
        block_size=case.block_size or BLOCK,
    )
    values = np.asarray(case.values(collected), dtype=np.float64)
    # a claim from below is one from above about minus the values; beyond the range no bound says anything
    sign = -1.0 if case.at_least else 1.0
    lower, upper = sorted((sign * case.lower, sign * case.upper))
    return audit_mean(
        sign * values,
        bound=min(sign * case.bound, upper),
        lower=lower,
        upper=upper,
        failure_probability=failure_probability,
    )


def _sampling(
    plan: SamplingPlan, case: SamplingCase, settings: AuditSettings, failure_probability: float
) -> SamplingEvidence:
    begin = time.perf_counter()
    points = _drawn(plan, settings, case.mechanism, case.dataset, case.runs).points
    audit = audit_law(
        case.statistic(points),
        reference=case.reference,
        reference_error=case.reference_error,
        distance=case.distance,
        bound=case.bound,
        failure_probability=failure_probability,
    )
    return sampling_entry(
        audit,
        subject=plan.subject,
        title=plan.title,
        data=case.data,
        statistic=case.statistic_name,
        claim=case.claim,
        claim_source=case.claim_source,
        seed=settings.seed,
        seconds=round(time.perf_counter() - begin, 3),
        reproduce=_reproduce(plan, settings, failure_probability),
    )


_COUNTER = {
    "gradient": "gradient_queries",
    "value": "value_queries",
    "projection": "projections",
    "linear minimization": "linear_minimizations",
}


def _complexity(plan: ComplexityPlan, settings: AuditSettings) -> ComplexityEvidence:
    case = plan.build(settings.profile)
    runs = run(case.mechanism, case.dataset, runs=16, seed=(settings.seed, _label(plan)))
    counted = getattr(runs, _COUNTER[case.oracle])
    relation = CountRelation.EQUAL if case.exact else CountRelation.AT_MOST
    return complexity_entry(
        audit_queries(counted, case.claimed, relation=relation),
        subject=plan.subject,
        title=plan.title,
        data=case.data,
        oracle=case.oracle,
        claim=case.claim,
        seed=settings.seed,
        reproduce=_reproduce(plan, settings),
    )
