"""Carrying out audit plans: build the case, run the mechanism, audit what came out."""

from __future__ import annotations

import math
import shlex
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from dpverify.auditing import (
    BatchAuditor,
    ErrorShare,
    Faults,
    MeanAudit,
    PrivacyQuestion,
    Relation,
    audit_constant,
    audit_law,
    audit_mean,
    audit_queries,
    complexity_entry,
    constant_entry,
    fit_rate,
    mean_entry,
    most_telling,
    rate_entry,
    risk_entry,
    sampling_entry,
)
from dpverify.evidence import (
    ClaimOrigin,
    Evidence,
    Interval,
)
from dpverify.privacy import Guarantee
from dpverify.problems import Dataset, largest_risk, minimize
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


def carry_out(plan: Plan, settings: AuditSettings, error: ErrorShare | float) -> list[Evidence]:
    """Carry out one plan, which may be wrong with at most the probability of its share, and spends it.

    Plans that state no confidence (counts, constants) need none, and spend nothing.
    """
    if not is_statistical(plan):
        return _WITHOUT_ERROR[type(plan)](plan, settings)
    return _WITH_ERROR[type(plan)](plan, settings, ErrorShare.of(error, name=plan.name))


def is_statistical(plan: Plan) -> bool:
    """Whether a plan needs a part of the failure probability."""
    return type(plan) in _WITH_ERROR


def _for_each(cases: Sequence[RiskCase | MeanCase], error: ErrorShare) -> list[float]:
    """What the interval of each case may fail with, so that all hold at once."""
    shares = error.split(*(f"case {number}" for number in range(1, len(cases) + 1)))
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


def _privacy(plan: PrivacyPlan, settings: AuditSettings, error: ErrorShare) -> list[Evidence]:
    begin = time.perf_counter()
    case, factors = plan.build(settings.profile), settings.profile.faults
    make, source = case.weakened, _source(case)

    def on_pair(mechanism: Mechanism, stream: int) -> _OnPair:
        """Streams tell the mechanism and its weakened versions apart."""
        return _OnPair(plan, case, settings, mechanism, stream)

    def weakened(factor: float) -> tuple[Any, Any]:
        assert make is not None
        return on_pair(make(factor), 1 + factors.index(factor)).draw(case.runs)

    question = PrivacyQuestion(
        case.claim,
        case.adjacency,
        case.runs,
        settings.seed,
        {
            "subject": plan.subject,
            "title": plan.title,
            "data": case.data,
            "reproduce": _reproduce(plan, settings, error.failure_probability),
            "origin": source["origin"],
            "claim_source": source["claim_source"],
        },
        best_known=None if case.upper is None else Sharper(case.claim, case.upper),
    )
    auditor = BatchAuditor(Faults(None if make is None else weakened, case.fault, factors))
    found = auditor.audit(question, on_pair(case.mechanism, 0), error)
    return [found.model_copy(update={"seconds": round(time.perf_counter() - begin, 3)})]


@dataclass(frozen=True)
class _OnPair:
    """A mechanism on a case's two data sets."""

    plan: PrivacyPlan
    case: PrivacyCase
    settings: AuditSettings
    mechanism: Mechanism
    stream: int

    def draw(self, count: int) -> tuple[Any, Any]:
        """All runs at once; asked again, the same ones."""
        left, right = (
            _drawn(self.plan, self.settings, self.mechanism, data, count, 2 * self.stream + side).points
            for side, data in enumerate((self.case.left, self.case.right))
        )
        return left.reshape(count, -1), right.reshape(count, -1)


@dataclass(frozen=True)
class Sharper:
    """The smaller of two upper bounds at every epsilon."""

    first: Guarantee
    second: Guarantee

    def privacy_profile(self, epsilon: Any) -> Any:
        """Delta at each epsilon, same shape."""
        return np.minimum(self.first.privacy_profile(epsilon), self.second.privacy_profile(epsilon))


def _risk(plan: RiskPlan, settings: AuditSettings, error: ErrorShare) -> list[Evidence]:
    """One excess risk for each case; their intervals hold all at once, and all must keep their bounds."""
    begin = time.perf_counter()
    cases = plan.build(settings.profile)
    each = _for_each(cases, error)
    risks = [_excess_risks(case) for case in cases]
    runs = [
        case.runs if plan.rate is not None else _runs(case, possible)
        for case, possible in zip(cases, risks, strict=True)
    ]
    audits = [
        _measure(plan, case, number, settings, share, possible, count)
        for number, (case, share, possible, count) in enumerate(zip(cases, each, risks, runs, strict=True))
    ]
    reproduce = _reproduce(plan, settings, error.failure_probability)
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
            failure_probability=error.failure_probability,
            shares=error.spent(),
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
                failure_probability=error.failure_probability,
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


def _mean(plan: MeanPlan, settings: AuditSettings, error: ErrorShare) -> list[Evidence]:
    """One expectation for each case; their intervals hold all at once, and all must keep their bounds."""
    begin = time.perf_counter()
    cases = plan.build(settings.profile)
    each = _for_each(cases, error)
    audits = [
        _expectation(plan, case, number, settings, share)
        for number, (case, share) in enumerate(zip(cases, each, strict=True))
    ]
    shown = most_telling([audit.verdict for audit in audits])
    case, audit = cases[shown], audits[shown]
    entry = mean_entry(
        audit,
        subject=plan.subject,
        title=plan.title,
        data=case.data,
        quantity=case.quantity,
        claim=case.claim,
        **_source(case),
        seed=settings.seed,
        seconds=round(time.perf_counter() - begin, 3),
        reproduce=_reproduce(plan, settings, error.failure_probability),
        curve=_curve(plan, cases, audits),
        curve_over=plan.curve_over,
        runs=case.runs,
        failure_probability=error.failure_probability,
        shares=error.spent(),
    )
    return [entry]


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


def _sampling(plan: SamplingPlan, settings: AuditSettings, error: ErrorShare) -> list[Evidence]:
    begin = time.perf_counter()
    case = plan.build(settings.profile)

    def values(mechanism: Mechanism, *stream: int) -> Any:
        return case.statistic(_drawn(plan, settings, mechanism, case.dataset, case.runs, *stream).points)

    audit = audit_law(
        values(case.mechanism),
        blind=None if case.blind is None else values(case.blind, 1),
        reference=case.reference,
        reference_error=case.reference_error,
        distance=case.distance,
        bound=case.bound,
        failure_probability=error.spend("the band around the distribution function"),
    )
    entry = sampling_entry(
        audit,
        subject=plan.subject,
        title=plan.title,
        data=case.data,
        statistic=case.statistic_name,
        claim=case.claim,
        **_source(case),
        seed=settings.seed,
        seconds=round(time.perf_counter() - begin, 3),
        reproduce=_reproduce(plan, settings, error.failure_probability),
    )
    return [entry.model_copy(update={"shares": error.spent()})]


_COUNTER = {
    "gradient": "gradient_queries",
    "value": "value_queries",
    "projection": "projections",
    "linear minimization": "linear_minimizations",
}


def _complexity(plan: ComplexityPlan, settings: AuditSettings) -> list[Evidence]:
    case = plan.build(settings.profile)
    runs = run(case.mechanism, case.dataset, runs=16, seed=(settings.seed, _label(plan)))
    counted = getattr(runs, _COUNTER[case.oracle])
    relation = Relation.EQUAL if case.exact else Relation.AT_MOST
    entry = complexity_entry(
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
    return [entry]


def _constant(plan: ConstantPlan, settings: AuditSettings) -> list[Evidence]:
    case = plan.build(settings.profile)
    audit = audit_constant(
        case.provable,
        extreme=case.extreme,
        printed=case.printed,
        decisive=case.decisive,
        requires=case.requires,
    )
    entry = constant_entry(
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
    return [entry]


_WITH_ERROR: dict[type[Plan], Callable[[Any, AuditSettings, ErrorShare], list[Evidence]]] = {
    PrivacyPlan: _privacy,
    RiskPlan: _risk,
    MeanPlan: _mean,
    SamplingPlan: _sampling,
}
_WITHOUT_ERROR: dict[type[Plan], Callable[[Any, AuditSettings], list[Evidence]]] = {
    ComplexityPlan: _complexity,
    ConstantPlan: _constant,
}
