"""From audits to ledger entries: what an audit knows, plus what only its caller knows."""

from __future__ import annotations

import numpy as np

from dpverify.auditing.complexity import QueryAudit
from dpverify.auditing.privacy import Claim, PrivacyAudit
from dpverify.auditing.risk import MeanAudit, RateFit
from dpverify.auditing.sampling import LawAudit
from dpverify.evidence import (
    ComplexityEvidence,
    Interval,
    MeanEvidence,
    PrivacyEvidence,
    RateEvidence,
    RiskEvidence,
    SamplingEvidence,
    Verdict,
)


def privacy_entry(
    audit: PrivacyAudit,
    *,
    subject: str,
    title: str,
    data: str,
    adjacency: str,
    reproduce: str,
    claim_source: str = "",
    best_known: Claim | None = None,
    seconds: float = 0.0,
) -> PrivacyEvidence:
    """Give the entry of a privacy audit.

    `best_known` is the sharpest guarantee that accounting has, for the upper curve of the sandwich.
    """
    profile = audit.profile
    if best_known is not None:
        epsilons = np.array([point.epsilon for point in profile])
        upper = np.asarray(best_known.privacy_profile(epsilons), dtype=np.float64)
        profile = tuple(
            point.model_copy(update={"delta_upper": float(delta)})
            for point, delta in zip(profile, upper, strict=True)
        )
    return PrivacyEvidence(
        subject=subject,
        title=title,
        data=data,
        adjacency=adjacency,
        claim=audit.claim,
        claim_source=claim_source,
        verdict=audit.verdict,
        reason=audit.reason,
        epsilon_lower=audit.epsilon_lower,
        delta=audit.delta,
        detectable=audit.detectable,
        profile=profile,
        runs=audit.runs,
        failure_probability=audit.failure_probability,
        seed=audit.seed,
        seconds=seconds,
        reproduce=reproduce,
    )


def risk_entry(
    audit: MeanAudit,
    *,
    subject: str,
    title: str,
    data: str,
    quantity: str,
    claim: str,
    seed: int,
    reproduce: str,
    claim_source: str = "",
    seconds: float = 0.0,
    curve: tuple[tuple[float, float, float, float], ...] = (),
    curve_over: str = "",
) -> RiskEvidence:
    """Give the entry of a risk audit; `seed` is the mechanism's, the audit itself draws nothing."""
    reason = audit.reason
    if audit.verdict is Verdict.SUPPORTED:
        reason += f"; an expectation of {audit.detectable:.4g} would have been found half the time"
    return RiskEvidence(
        subject=subject,
        title=title,
        data=data,
        quantity=quantity,
        claim=claim,
        claim_source=claim_source,
        bound=audit.bound,
        measured=audit.measured,
        minimum=audit.minimum,
        verdict=audit.verdict,
        reason=reason,
        runs=audit.runs,
        failure_probability=audit.failure_probability,
        seed=seed,
        seconds=seconds,
        reproduce=reproduce,
        curve=curve,
        curve_over=curve_over,
    )


def rate_entry(
    fit: RateFit,
    *,
    subject: str,
    title: str,
    over: str,
    runs: int,
    failure_probability: float,
    seed: int,
    reproduce: str,
    seconds: float = 0.0,
) -> RateEvidence:
    """Give the entry of a measured exponent; `failure_probability` is that of all its intervals together."""
    return RateEvidence(
        subject=subject,
        title=title,
        over=over,
        exponent_claimed=fit.claimed,
        exponent=fit.exponent,
        points=fit.points,
        verdict=fit.verdict,
        reason=fit.reason,
        runs=runs,
        failure_probability=failure_probability,
        seed=seed,
        seconds=seconds,
        reproduce=reproduce,
    )


def complexity_entry(
    audit: QueryAudit,
    *,
    subject: str,
    title: str,
    data: str,
    oracle: str,
    claim: str,
    seed: int,
    reproduce: str,
) -> ComplexityEvidence:
    """Give the entry of counted oracle queries; `seed` is the mechanism's."""
    return ComplexityEvidence(
        subject=subject,
        title=title,
        data=data,
        oracle=oracle,
        counted=audit.counted,
        claimed=audit.claimed,
        claim=claim,
        verdict=audit.verdict,
        reason=audit.reason,
        seed=seed,
        reproduce=reproduce,
    )


def mean_entry(
    audit: MeanAudit,
    *,
    at_least: bool,
    subject: str,
    title: str,
    data: str,
    quantity: str,
    claim: str,
    seed: int,
    reproduce: str,
    claim_source: str = "",
    seconds: float = 0.0,
    curve: tuple[tuple[float, float, float, float], ...] = (),
    curve_over: str = "",
) -> MeanEvidence:
    """Give the entry of an audited expectation; with `at_least`, the audit was about minus the values."""
    bound, measured = audit.bound, audit.measured
    detectable, reason = audit.detectable, audit.reason
    if at_least:
        bound, detectable = -bound, -detectable
        measured = Interval(lower=-audit.measured.upper, upper=-audit.measured.lower)
        if audit.verdict is Verdict.VIOLATED:
            reason = f"the expectation is at most {measured.upper:.6g}, and the claim asks for {bound:.6g}"
        else:
            keeps = measured.lower >= bound
            how = "confirmed: the whole interval keeps" if keeps else "not contradicted: the interval meets"
            reason = f"{how} the bound {bound:.6g}"
    if audit.verdict is Verdict.SUPPORTED:
        reason += f"; an expectation of {detectable:.4g} would have been found half the time"
    return MeanEvidence(
        subject=subject,
        title=title,
        data=data,
        quantity=quantity,
        claim=claim,
        claim_source=claim_source,
        bound=bound,
        at_least=at_least,
        measured=measured,
        verdict=audit.verdict,
        reason=reason,
        runs=audit.runs,
        failure_probability=audit.failure_probability,
        seed=seed,
        seconds=seconds,
        reproduce=reproduce,
        curve=curve,
        curve_over=curve_over,
    )


def sampling_entry(
    audit: LawAudit,
    *,
    subject: str,
    title: str,
    data: str,
    statistic: str,
    claim: str,
    seed: int,
    reproduce: str,
    claim_source: str = "",
    seconds: float = 0.0,
) -> SamplingEvidence:
    """Give the entry of a sampler's audit; `seed` is the sampler's, the audit itself draws nothing."""
    return SamplingEvidence(
        subject=subject,
        title=title,
        data=data,
        statistic=statistic,
        distance=audit.distance,
        bound=audit.bound,
        claim=claim,
        claim_source=claim_source,
        measured=audit.measured,
        points=audit.points,
        verdict=audit.verdict,
        reason=audit.reason,
        runs=audit.runs,
        failure_probability=audit.failure_probability,
        seed=seed,
        seconds=seconds,
        reproduce=reproduce,
    )
