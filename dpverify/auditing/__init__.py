"""Auditors: statistics about implementations, from samples alone.

They know no algorithm and no paper. Every bound holds at finite sample size with the stated failure
probability; `supported` and `violated` are the strongest words an auditor has.
"""

from dpverify.auditing.budget import ErrorBudget
from dpverify.auditing.complexity import QueryAudit, audit_queries
from dpverify.auditing.confidence import (
    betting_interval,
    clopper_pearson_lower,
    clopper_pearson_upper,
    empirical_bernstein_interval,
    hoeffding_interval,
)
from dpverify.auditing.constants import ConstantAudit, audit_constant
from dpverify.auditing.encoding import Encoder
from dpverify.auditing.entries import (
    complexity_entry,
    constant_entry,
    mean_entry,
    privacy_entry,
    rate_entry,
    risk_entry,
    sampling_entry,
)
from dpverify.auditing.events import Direction, Event
from dpverify.auditing.faults import FACTORS, search_faults
from dpverify.auditing.privacy import Claim, JudgedEvent, PrivacyAudit, Violation, audit_privacy
from dpverify.auditing.relations import Relation
from dpverify.auditing.risk import MeanAudit, RateFit, audit_mean, fit_rate, most_telling
from dpverify.auditing.sample_files import read_samples
from dpverify.auditing.samples import MINIMUM_RUNS, check_pair, check_samples
from dpverify.auditing.sampling import LawAudit, audit_law
from dpverify.auditing.scores import DEFAULT_SCORERS, Score, Scorer

__all__ = [
    "DEFAULT_SCORERS",
    "FACTORS",
    "MINIMUM_RUNS",
    "Claim",
    "ConstantAudit",
    "Direction",
    "Encoder",
    "ErrorBudget",
    "Event",
    "JudgedEvent",
    "LawAudit",
    "MeanAudit",
    "PrivacyAudit",
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
