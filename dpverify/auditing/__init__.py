"""Auditors: statistics about implementations, from samples alone.

They know no algorithm and no paper. Every bound holds at finite sample size with the stated failure
probability; `supported` and `violated` are the strongest words an auditor has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.auditing.batch import BatchAuditor, Faults
    from dpverify.auditing.black_box.scores import DEFAULT_SCORERS, Score, Scorer
    from dpverify.auditing.claims import Claim
    from dpverify.auditing.complexity import QueryAudit, audit_queries
    from dpverify.auditing.confidence import (
        betting_interval,
        clopper_pearson_lower,
        clopper_pearson_upper,
        empirical_bernstein_interval,
        hoeffding_interval,
    )
    from dpverify.auditing.constants import ConstantAudit, audit_constant
    from dpverify.auditing.contract import Auditor, GivenSamples, PairSubject, PrivacyQuestion
    from dpverify.auditing.entries import (
        complexity_entry,
        constant_entry,
        mean_entry,
        privacy_entry,
        rate_entry,
        risk_entry,
        sampling_entry,
    )
    from dpverify.auditing.error_share import ErrorShare
    from dpverify.auditing.events import Direction, Event
    from dpverify.auditing.faults import FACTORS, search_faults
    from dpverify.auditing.outputs.encoding import Encoder
    from dpverify.auditing.outputs.sample_files import read_samples
    from dpverify.auditing.outputs.samples import MINIMUM_RUNS, check_pair, check_samples
    from dpverify.auditing.privacy import JudgedEvent, PrivacyAudit, Violation, audit_privacy
    from dpverify.auditing.relations import Relation
    from dpverify.auditing.risk import MeanAudit, RateFit, audit_mean, fit_rate, most_telling
    from dpverify.auditing.sampling import LawAudit, audit_law

__all__ = [
    "DEFAULT_SCORERS",
    "FACTORS",
    "MINIMUM_RUNS",
    "Auditor",
    "BatchAuditor",
    "Claim",
    "ConstantAudit",
    "Direction",
    "Encoder",
    "ErrorShare",
    "Event",
    "Faults",
    "GivenSamples",
    "JudgedEvent",
    "LawAudit",
    "MeanAudit",
    "PairSubject",
    "PrivacyAudit",
    "PrivacyQuestion",
    "QueryAudit",
    "RateFit",
    "Relation",
    "Score",
    "Scorer",
    "Violation",
    "audit_constant",
    "audit_law",
    "audit_mean",
    "audit_privacy",
    "audit_queries",
    "betting_interval",
    "check_pair",
    "check_samples",
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "complexity_entry",
    "constant_entry",
    "empirical_bernstein_interval",
    "fit_rate",
    "hoeffding_interval",
    "mean_entry",
    "most_telling",
    "privacy_entry",
    "rate_entry",
    "read_samples",
    "risk_entry",
    "sampling_entry",
    "search_faults",
]

__getattr__ = lazy.attributes(
    __name__,
    {
        "Auditor": "dpverify.auditing.contract",
        "BatchAuditor": "dpverify.auditing.batch",
        "Claim": "dpverify.auditing.claims",
        "ConstantAudit": "dpverify.auditing.constants",
        "DEFAULT_SCORERS": "dpverify.auditing.black_box.scores",
        "Direction": "dpverify.auditing.events",
        "Encoder": "dpverify.auditing.outputs.encoding",
        "ErrorShare": "dpverify.auditing.error_share",
        "Event": "dpverify.auditing.events",
        "FACTORS": "dpverify.auditing.faults",
        "Faults": "dpverify.auditing.batch",
        "GivenSamples": "dpverify.auditing.contract",
        "JudgedEvent": "dpverify.auditing.privacy",
        "LawAudit": "dpverify.auditing.sampling",
        "MINIMUM_RUNS": "dpverify.auditing.outputs.samples",
        "MeanAudit": "dpverify.auditing.risk",
        "PairSubject": "dpverify.auditing.contract",
        "PrivacyAudit": "dpverify.auditing.privacy",
        "PrivacyQuestion": "dpverify.auditing.contract",
        "QueryAudit": "dpverify.auditing.complexity",
        "RateFit": "dpverify.auditing.risk",
        "Relation": "dpverify.auditing.relations",
        "Score": "dpverify.auditing.black_box.scores",
        "Scorer": "dpverify.auditing.black_box.scores",
        "Violation": "dpverify.auditing.privacy",
        "audit_constant": "dpverify.auditing.constants",
        "audit_law": "dpverify.auditing.sampling",
        "audit_mean": "dpverify.auditing.risk",
        "audit_privacy": "dpverify.auditing.privacy",
        "audit_queries": "dpverify.auditing.complexity",
        "betting_interval": "dpverify.auditing.confidence",
        "check_pair": "dpverify.auditing.outputs.samples",
        "check_samples": "dpverify.auditing.outputs.samples",
        "clopper_pearson_lower": "dpverify.auditing.confidence",
        "clopper_pearson_upper": "dpverify.auditing.confidence",
        "complexity_entry": "dpverify.auditing.entries",
        "constant_entry": "dpverify.auditing.entries",
        "empirical_bernstein_interval": "dpverify.auditing.confidence",
        "fit_rate": "dpverify.auditing.risk",
        "hoeffding_interval": "dpverify.auditing.confidence",
        "mean_entry": "dpverify.auditing.entries",
        "most_telling": "dpverify.auditing.risk",
        "privacy_entry": "dpverify.auditing.entries",
        "rate_entry": "dpverify.auditing.entries",
        "read_samples": "dpverify.auditing.outputs.sample_files",
        "risk_entry": "dpverify.auditing.entries",
        "sampling_entry": "dpverify.auditing.entries",
        "search_faults": "dpverify.auditing.faults",
    },
)
