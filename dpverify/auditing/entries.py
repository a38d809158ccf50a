"""From audits to ledger entries: what an audit knows, plus what only its caller knows."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict, Unpack

import numpy as np

from dpverify.auditing.claims import Claim
from dpverify.auditing.complexity import QueryAudit
from dpverify.auditing.constants import ConstantAudit
from dpverify.auditing.privacy import PrivacyAudit
from dpverify.auditing.risk import MeanAudit, RateFit
from dpverify.auditing.sampling import LawAudit
from dpverify.evidence import (
    ClaimOrigin,
    ComplexityEvidence,
    ConstantEvidence,
    MeanEvidence,
    PrivacyEvidence,
    ProfilePoint,
    RateEvidence,
    RiskEvidence,
    SamplingEvidence,
    SpentShare,
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
    runs: NotRequired[int]
    """Where several runs are one value, all of them."""
    failure_probability: NotRequired[float]
    """Where the audit is one of several on a curve, that of all of them together."""
    shares: NotRequired[tuple[SpentShare, ...]]


def _sampled(audit: PrivacyAudit | MeanAudit | LawAudit) -> dict[str, Any]:
    return {
        "verdict": audit.verdict,
        "reason": audit.reason,
        "gap": audit.gap,
        "runs": audit.runs,
        "failure_probability": audit.failure_probability,
        "sees_nothing": audit.sees_nothing,
    }


def privacy_entry(
    audit: PrivacyAudit, *, best_known: Claim | None = None, **asked: Unpack[AskedOnData]
) -> PrivacyEvidence:
    """Give the entry of a privacy audit.

    `best_known` is the sharpest guarantee that accounting has, for the upper curve of the sandwich.
    """
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
        profile=sandwiched(audit.profile, best_known),
        shares=audit.shares,
        seed=audit.seed,
    )


def sandwiched(profile: tuple[ProfilePoint, ...], best_known: Claim | None) -> tuple[ProfilePoint, ...]:
    """The points with the best known upper bound on them, where there is one."""
    if best_known is None:
        return profile
    epsilons = np.array([point.epsilon for point in profile])
    upper = np.asarray(best_known.privacy_profile(epsilons), dtype=np.float64)
    return tuple(
        point.model_copy(update={"delta_upper": float(delta)})
        for point, delta in zip(profile, upper, strict=True)
    )


def risk_entry(audit: MeanAudit, **asked: Unpack[AskedOfExpectation]) -> RiskEvidence:
    """Give the entry of a risk audit."""
    return RiskEvidence(**(_expected(audit) | asked), minimum=audit.minimum)


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
        gap=fit.gap,
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
        gap=audit.gap,
    )


def mean_entry(audit: MeanAudit, **asked: Unpack[AskedOfExpectation]) -> MeanEvidence:
    """Give the entry of an audited expectation."""
    return MeanEvidence(**(_expected(audit) | asked), at_least=audit.at_least)


def _expected(audit: MeanAudit) -> dict[str, Any]:
    return _sampled(audit) | {
        "bound": audit.bound,
        "measured": audit.measured,
        "extreme": audit.extreme,
        "detectable": audit.detectable,
    }


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
        detectable=audit.detectable,
        blind_rejected=audit.blind_rejected,
    )
