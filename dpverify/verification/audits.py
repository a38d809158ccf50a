"""Carrying out audit plans: build the case, run the mechanism, audit what came out."""

from __future__ import annotations

import math
import shlex
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from dpverify.auditing import (
    ErrorShare,
    MeanAudit,
    Relation,
    audit_constant,
    audit_law,
    audit_mean,
    audit_privacy,
    audit_queries,
    complexity_entry,
    constant_entry,
    fit_rate,
    mean_entry,
    most_telling,
    privacy_entry,
    rate_entry,
    risk_entry,
    sampling_entry,
    search_faults,
)
from dpverify.evidence import (
    ClaimOrigin,
    ComplexityEvidence,
    ConstantEvidence,
    Evidence,
    Interval,
    MeanEvidence,
    PrivacyEvidence,
    SamplingEvidence,
)
from dpverify.privacy import Guarantee
from dpverify.problems import Dataset, largest_risk, minimize
from dpverify.running import BLOCK, Executor, Mechanism, Progress, Runs, Store, run
from dpverify.statements.plans import (
    ComplexityPlan,
    ConstantCase,
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

_FEW_SAMPLES = 20
"""Of a risk whose bound no output can break."""


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
    return [_constant(plan, plan.build(settings.profile), settings)]


def is_statistical(plan: Plan) -> bool:
    """Whether a plan needs a part of the failure probability."""
    return not isinstance(plan, ComplexityPlan | ConstantPlan)


def _for_each(cases: Sequence[RiskCase | MeanCase], failure_probability: float) -> list[float]:
    """What the interval of each case may fail with, so that all hold at once."""
    shares = ErrorShare(failure_probability).split(*(f"case {number}" for number in range(1, len(cases) + 1)))
    return [share.spend("the interval of one case") for share in shares]


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


class _Source(TypedDict):
    origin: ClaimOrigin
    claim_source: str


def _source(case: PrivacyCase | RiskCase | MeanCase | SamplingCase) -> _Source:
    """Where a claim comes from, also in the one field that ledgers have always had for it."""
    origin = case.origin.record()
    return {"origin": origin, "claim_source": origin.source}


def _privacy(
    plan: PrivacyPlan, case: PrivacyCase, settings: AuditSettings, failure_probability: float
) -> PrivacyEvidence:
    begin = time.perf_counter()
    make, factors = case.weakened, settings.profile.faults

    def outputs(mechanism: Mechanism, stream: int) -> tuple[Any, Any]:
        """Of a mechanism on both data sets; streams tell the mechanism and its weakened versions apart."""
        drawn = [
            _drawn(plan, settings, mechanism, data, case.runs, 2 * stream + side).points
            for side, data in enumerate((case.left, case.right))
        ]
        left, right = (points.reshape(points.shape[0], -1) for points in drawn)
        return left, right

    weakened = None if make is None else lambda factor: outputs(make(factor), 1 + factors.index(factor))
    left, right = outputs(case.mechanism, 0)
    audit = audit_privacy(
        left,
        right,
        case.claim,
        adjacency=case.adjacency,
        failure_probability=failure_probability,
        seed=settings.seed,
    )
    audit = search_faults(audit, case.claim, weakened, fault=case.fault, factors=factors)
    return privacy_entry(
        audit,
        subject=plan.subject,
        title=plan.title,
        data=case.data,
        **_source(case),
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
    each = _for_each(cases, failure_probability)
    risks = [_excess_risks(case) for case in cases]
    runs = [
        case.runs if plan.rate is not None else _runs(case, possible)
        for case, possible in zip(cases, risks, strict=True)
    ]
    audits = [
        _measure(plan, case, number, settings, share, possible, count)
        for number, (case, share, possible, count) in enumerate(zip(cases, each, risks, runs, strict=True))
    ]
    reproduce = _reproduce(plan, settings, failure_probability)
    shown = most_telling([audit.verdict for audit in audits])
    case, audit = cases[shown], audits[shown]
    found: list[Evidence] = [
        risk_entry(
            audit,
            subject=plan.subject,
            title=plan.title,
            data=case.data,
            quantity=f"expected excess risk ({'sum' if case.total else 'mean'} over records)",
            claim=case.claim,
            **_source(case),
            seed=settings.seed,
            seconds=round(time.perf_counter() - begin, 3),
            reproduce=reproduce,
            curve=_curve(plan, cases, audits),
            curve_over=plan.curve_over,
            runs=runs[shown],
            failure_probability=failure_probability,
        )
    ]
    if plan.rate is not None:
        fit = fit_rate(
            [c.size for c in cases], [a.measured for a in audits], plan.rate.exponent, asymptotic=True
        )
        found.append(
            rate_entry(
                fit,
                subject=plan.subject,
                title=plan.title,
                origin=plan.rate.origin.record(),
                over=plan.curve_over,
                runs=case.runs,
                failure_probability=failure_probability,
                seed=settings.seed,
                reproduce=reproduce,
            )
        )
    return found


def _curve(
    plan: RiskPlan | MeanPlan, cases: Sequence[RiskCase | MeanCase], audits: Sequence[MeanAudit]
) -> tuple[tuple[float, float, float, float], ...]:
    """Points of a plot; none where the plan has no axis."""
    return tuple(
        (case.size, audit.measured.lower, audit.measured.upper, case.bound)
        for case, audit in zip(cases, audits, strict=True)
        if plan.curve_over
    )


@dataclass(frozen=True)
class _ExcessRisks:
    """What the excess risks on a set can be, in the case's units: a sum over records or a mean."""

    scale: float
    least: Interval
    """The smallest risk."""
    most: Interval
    """The largest risk."""

    @property
    def extreme(self) -> Interval:
        """The largest excess risk, exhibited and certified."""
        return Interval(lower=self.most.lower - self.least.upper, upper=self.most.upper - self.least.lower)


def _excess_risks(case: RiskCase) -> _ExcessRisks:
    scale = float(case.dataset.n) if case.total else 1.0
    ends = minimize(case.problem, case.dataset).value, largest_risk(case.problem, case.dataset)
    least, most = (Interval(lower=scale * end.lower, upper=scale * end.upper) for end in ends)
    return _ExcessRisks(scale, least, most)


def _runs(case: RiskCase, possible: _ExcessRisks) -> int:
    """Few where no output can break the bound: more could change the plot, and not the verdict."""
    if not math.isfinite(case.bound) or possible.extreme.upper > case.bound:
        return case.runs
    samples = max(_FEW_SAMPLES, case.runs // (20 * case.runs_a_sample))
    return min(case.runs, samples * case.runs_a_sample)


def _measure(
    plan: RiskPlan,
    case: RiskCase,
    number: int,
    settings: AuditSettings,
    failure_probability: float,
    possible: _ExcessRisks,
    runs: int,
) -> MeanAudit:
    block_size = BLOCK if case.runs_a_sample == 1 else case.runs_a_sample
    points = _drawn(plan, settings, case.mechanism, case.dataset, runs, number, block_size=block_size).points
    risks = possible.scale * np.asarray(case.problem.mean_risk(points, case.dataset))
    if case.runs_a_sample > 1:
        risks = risks.reshape(-1, case.runs_a_sample).mean(axis=1)
    return audit_mean(
        risks,
        bound=case.bound,
        lower=possible.least.lower,
        upper=possible.most.upper,
        failure_probability=failure_probability,
        minimum=possible.least,
        extreme=possible.extreme,
    )


def _mean(
    plan: MeanPlan, cases: tuple[MeanCase, ...], settings: AuditSettings, failure_probability: float
) -> MeanEvidence:
    """One expectation for each case; their intervals hold all at once, and all must keep their bounds."""
    begin = time.perf_counter()
    each = _for_each(cases, failure_probability)
    audits = [
        _expectation(plan, case, number, settings, share)
        for number, (case, share) in enumerate(zip(cases, each, strict=True))
    ]
    shown = most_telling([audit.verdict for audit in audits])
    case, audit = cases[shown], audits[shown]
    return mean_entry(
        audit,
        subject=plan.subject,
        title=plan.title,
        data=case.data,
        quantity=case.quantity,
        claim=case.claim,
        **_source(case),
        seed=settings.seed,
        seconds=round(time.perf_counter() - begin, 3),
        reproduce=_reproduce(plan, settings, failure_probability),
        curve=_curve(plan, cases, audits),
        curve_over=plan.curve_over,
        runs=case.runs,
        failure_probability=failure_probability,
    )


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
    return audit_mean(
        np.asarray(case.values(collected), dtype=np.float64),
        bound=case.bound,
        lower=case.lower,
        upper=case.upper,
        failure_probability=failure_probability,
        at_least=case.at_least,
    )


def _sampling(
    plan: SamplingPlan, case: SamplingCase, settings: AuditSettings, failure_probability: float
) -> SamplingEvidence:
    begin = time.perf_counter()

    def values(mechanism: Mechanism, *stream: int) -> Any:
        return case.statistic(_drawn(plan, settings, mechanism, case.dataset, case.runs, *stream).points)

    audit = audit_law(
        values(case.mechanism),
        blind=None if case.blind is None else values(case.blind, 1),
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
        **_source(case),
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
    relation = Relation.EQUAL if case.exact else Relation.AT_MOST
    return complexity_entry(
        audit_queries(counted, case.claimed, relation=relation),
        subject=plan.subject,
        title=plan.title,
        data=case.data,
        oracle=case.oracle,
        claim=case.claim,
        origin=case.origin.record(),
        seed=settings.seed,
        reproduce=_reproduce(plan, settings),
    )


def _constant(plan: ConstantPlan, case: ConstantCase, settings: AuditSettings) -> ConstantEvidence:
    audit = audit_constant(
        case.provable,
        extreme=case.extreme,
        printed=case.printed,
        decisive=case.decisive,
        requires=case.requires,
    )
    return constant_entry(
        audit,
        subject=plan.subject,
        title=plan.title,
        origin=case.origin.record(),
        formula=case.formula,
        latex=case.latex,
        parameters=case.parameters,
        range_fixed_by=case.range_fixed_by,
        method=case.method,
        reproduce=_reproduce(plan, settings),
    )
