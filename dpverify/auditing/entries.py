"""From audits to ledger entries: what an audit knows, plus what only its caller knows."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict, Unpack

import numpy as np

from dpverify.auditing.complexity import QueryAudit
from dpverify.auditing.constants import ConstantAudit
from dpverify.auditing.privacy import Claim, PrivacyAudit
from dpverify.auditing.risk import MeanAudit, RateFit
from dpverify.auditing.sampling import LawAudit
from dpverify.evidence import (
    ClaimOrigin,
    ComplexityEvidence,
    ConstantEvidence,
    Interval,
    MeanEvidence,
    PrivacyEvidence,
    RateEvidence,
    RiskEvidence,
    SamplingEvidence,
    Verdict,
)

Curve = tuple[tuple[float, float, float, float], ...]


class Asked(TypedDict):
    """What was asked of whom; the fields mean what they mean in the entries."""

    subject: str
    title: str
    reproduce: str
    origin: NotRequired[ClaimOrigin | None]


class AskedOnData(Asked):
    """The same for an audit on a data set, of a claim from some source."""

    data: str
    claim_source: NotRequired[str]
    seconds: NotRequired[float]


class AskedWithSeed(AskedOnData):
    """The same where the audit itself draws nothing; the seed is the mechanism's."""

    claim: str
    seed: int


class AskedOfExpectation(AskedWithSeed):
    """The same for the expectation of a quantity, with the points of a plot."""

    quantity: str
    curve: NotRequired[Curve]
    curve_over: NotRequired[str]


def _sampled(audit: PrivacyAudit | MeanAudit | LawAudit) -> dict[str, Any]:
    return {
        "verdict": audit.verdict,
        "reason": audit.reason,
        "runs": audit.runs,
        "failure_probability": audit.failure_probability,
    }


def privacy_entry(
    audit: PrivacyAudit, *, best_known: Claim | None = None, **asked: Unpack[AskedOnData]
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
        **asked,
        **_sampled(audit),
        adjacency=audit.adjacency,
        fault=audit.fault,
        smallest_fault=audit.smallest_fault,
        claim=audit.claim,
        epsilon_lower=audit.epsilon_lower,
        delta=audit.delta,
        detectable=audit.detectable,
        profile=profile,
        seed=audit.seed,
    )


def risk_entry(audit: MeanAudit, **asked: Unpack[AskedOfExpectation]) -> RiskEvidence:
    """Give the entry of a risk audit."""
    found = _sampled(audit) | {
        "reason": audit.reason + _would_have_been_found(audit.verdict, audit.detectable)
    }
    return RiskEvidence(**asked, **found, bound=audit.bound, measured=audit.measured, minimum=audit.minimum)


def rate_entry(
    fit: RateFit,
    *,
    over: str,
    runs: int,
    failure_probability: float,
    seed: int,
    seconds: float = 0.0,
    **asked: Unpack[Asked],
) -> RateEvidence:
    """Give the entry of a measured exponent; `failure_probability` is that of all its intervals together."""
    return RateEvidence(
        **asked,
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
    )


def complexity_entry(
    audit: QueryAudit, *, data: str, oracle: str, claim: str, seed: int, **asked: Unpack[Asked]
) -> ComplexityEvidence:
    """Give the entry of counted oracle queries; `seed` is the mechanism's."""
    return ComplexityEvidence(
        **asked,
        data=data,
        oracle=oracle,
        counted=audit.counted,
        claimed=audit.claimed,
        claim=claim,
        verdict=audit.verdict,
        reason=audit.reason,
        seed=seed,
    )


def constant_entry(
    audit: ConstantAudit,
    *,
    formula: str,
    latex: str,
    parameters: dict[str, str],
    range_fixed_by: str,
    method: str,
    **asked: Unpack[Asked],
) -> ConstantEvidence:
    """Give the entry of a constant."""
    return ConstantEvidence(
        **asked,
        formula=formula,
        latex=latex,
        smallest=audit.provable if audit.extreme == "smallest" else None,
        largest=audit.provable if audit.extreme == "largest" else None,
        printed=audit.printed,
        parameters=parameters,
        range_fixed_by=range_fixed_by,
        method=method,
        verdict=audit.verdict,
        reason=audit.reason,
    )


def mean_entry(audit: MeanAudit, *, at_least: bool, **asked: Unpack[AskedOfExpectation]) -> MeanEvidence:
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
    found = _sampled(audit) | {"reason": reason + _would_have_been_found(audit.verdict, detectable)}
    return MeanEvidence(**asked, **found, bound=bound, at_least=at_least, measured=measured)


def _would_have_been_found(verdict: Verdict, detectable: float) -> str:
    if verdict is not Verdict.SUPPORTED:
        return ""
    return f"; an expectation of {detectable:.4g} would have been found half the time"


def sampling_entry(audit: LawAudit, *, statistic: str, **asked: Unpack[AskedWithSeed]) -> SamplingEvidence:
    """Give the entry of a sampler's audit."""
    return SamplingEvidence(
        **asked,
        **_sampled(audit),
        statistic=statistic,
        distance=audit.distance,
        bound=audit.bound,
        measured=audit.measured,
        points=audit.points,
    )
