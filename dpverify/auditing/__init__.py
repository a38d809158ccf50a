"""Auditors: statistics about implementations, from samples alone.

They know no algorithm and no paper. Every bound holds at finite sample size with the stated failure
probability; `supported` and `violated` are the strongest words an auditor has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.auditing.batch import BatchAuditor
    from dpverify.auditing.black_box.scores import DEFAULT_SCORERS, Score, Scorer
    from dpverify.auditing.claims import Claim
    from dpverify.auditing.complexity import CountAuditor, CountQuestion, QueryAudit, audit_queries
    from dpverify.auditing.confidence import (
        betting_interval,
        clopper_pearson_lower,
        clopper_pearson_upper,
        empirical_bernstein_interval,
        hoeffding_interval,
    )
    from dpverify.auditing.constants import ConstantAudit, ConstantAuditor, ConstantQuestion, audit_constant
    from dpverify.auditing.contract import Auditor, Heading, Question
    from dpverify.auditing.error_share import ErrorShare
    from dpverify.auditing.events import Direction, Event
    from dpverify.auditing.expectations.bounds import Bound, BoundsQuestion, Numbers
    from dpverify.auditing.expectations.mean import MeanAuditor
    from dpverify.auditing.expectations.means import (
        MeanAudit,
        audit_mean,
        audit_mean_in_rounds,
        most_telling,
    )
    from dpverify.auditing.expectations.rates import RateAuditor, RateFit, RateQuestion, fit_rate
    from dpverify.auditing.expectations.risk import RiskAuditor
    from dpverify.auditing.expectations.sequential import BettingMeanAuditor, BettingRiskAuditor
    from dpverify.auditing.faults import FACTORS, search_faults
    from dpverify.auditing.outputs.encoding import Encoder
    from dpverify.auditing.outputs.sample_files import read_samples
    from dpverify.auditing.outputs.samples import MINIMUM_RUNS, check_pair, check_samples
    from dpverify.auditing.pairs import Faults, GivenSamples, PairSubject, PrivacyQuestion
    from dpverify.auditing.privacy import JudgedEvent, PrivacyAudit, Violation, audit_privacy
    from dpverify.auditing.relations import Relation
    from dpverify.auditing.sampling import LawAudit, LawAuditor, LawQuestion, audit_law

__all__ = [
    "DEFAULT_SCORERS",
    "FACTORS",
    "MINIMUM_RUNS",
    "Auditor",
    "BatchAuditor",
    "BettingMeanAuditor",
    "BettingRiskAuditor",
    "Bound",
    "BoundsQuestion",
    "Claim",
    "ConstantAudit",
    "ConstantAuditor",
    "ConstantQuestion",
    "CountAuditor",
    "CountQuestion",
    "Direction",
    "Encoder",
    "ErrorShare",
    "Event",
    "Faults",
    "GivenSamples",
    "Heading",
    "JudgedEvent",
    "LawAudit",
    "LawAuditor",
    "LawQuestion",
    "MeanAudit",
    "MeanAuditor",
    "Numbers",
    "PairSubject",
    "PrivacyAudit",
    "PrivacyQuestion",
    "QueryAudit",
    "Question",
    "RateAuditor",
    "RateFit",
    "RateQuestion",
    "Relation",
    "RiskAuditor",
    "Score",
    "Scorer",
    "Violation",
    "audit_constant",
    "audit_law",
    "audit_mean",
    "audit_mean_in_rounds",
    "audit_privacy",
    "audit_queries",
    "betting_interval",
    "check_pair",
    "check_samples",
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "empirical_bernstein_interval",
    "fit_rate",
    "hoeffding_interval",
    "most_telling",
    "read_samples",
    "search_faults",
]

__getattr__ = lazy.attributes(
    __name__,
    {
        "DEFAULT_SCORERS": "dpverify.auditing.black_box.scores",
        "FACTORS": "dpverify.auditing.faults",
        "MINIMUM_RUNS": "dpverify.auditing.outputs.samples",
        "Auditor": "dpverify.auditing.contract",
        "BatchAuditor": "dpverify.auditing.batch",
        "BettingMeanAuditor": "dpverify.auditing.expectations.sequential",
        "BettingRiskAuditor": "dpverify.auditing.expectations.sequential",
        "Bound": "dpverify.auditing.expectations.bounds",
        "BoundsQuestion": "dpverify.auditing.expectations.bounds",
        "Claim": "dpverify.auditing.claims",
        "ConstantAudit": "dpverify.auditing.constants",
        "ConstantAuditor": "dpverify.auditing.constants",
        "ConstantQuestion": "dpverify.auditing.constants",
        "CountAuditor": "dpverify.auditing.complexity",
        "CountQuestion": "dpverify.auditing.complexity",
        "Direction": "dpverify.auditing.events",
        "Encoder": "dpverify.auditing.outputs.encoding",
        "ErrorShare": "dpverify.auditing.error_share",
        "Event": "dpverify.auditing.events",
        "Faults": "dpverify.auditing.pairs",
        "GivenSamples": "dpverify.auditing.pairs",
        "Heading": "dpverify.auditing.contract",
        "JudgedEvent": "dpverify.auditing.privacy",
        "LawAudit": "dpverify.auditing.sampling",
        "LawAuditor": "dpverify.auditing.sampling",
        "LawQuestion": "dpverify.auditing.sampling",
        "MeanAudit": "dpverify.auditing.expectations.means",
        "MeanAuditor": "dpverify.auditing.expectations.mean",
        "Numbers": "dpverify.auditing.expectations.bounds",
        "PairSubject": "dpverify.auditing.pairs",
        "PrivacyAudit": "dpverify.auditing.privacy",
        "PrivacyQuestion": "dpverify.auditing.pairs",
        "QueryAudit": "dpverify.auditing.complexity",
        "Question": "dpverify.auditing.contract",
        "RateAuditor": "dpverify.auditing.expectations.rates",
        "RateFit": "dpverify.auditing.expectations.rates",
        "RateQuestion": "dpverify.auditing.expectations.rates",
        "Relation": "dpverify.auditing.relations",
        "RiskAuditor": "dpverify.auditing.expectations.risk",
        "Score": "dpverify.auditing.black_box.scores",
        "Scorer": "dpverify.auditing.black_box.scores",
        "Violation": "dpverify.auditing.privacy",
        "audit_constant": "dpverify.auditing.constants",
        "audit_law": "dpverify.auditing.sampling",
        "audit_mean": "dpverify.auditing.expectations.means",
        "audit_mean_in_rounds": "dpverify.auditing.expectations.means",
        "audit_privacy": "dpverify.auditing.privacy",
        "audit_queries": "dpverify.auditing.complexity",
        "betting_interval": "dpverify.auditing.confidence",
        "check_pair": "dpverify.auditing.outputs.samples",
        "check_samples": "dpverify.auditing.outputs.samples",
        "clopper_pearson_lower": "dpverify.auditing.confidence",
        "clopper_pearson_upper": "dpverify.auditing.confidence",
        "empirical_bernstein_interval": "dpverify.auditing.confidence",
        "fit_rate": "dpverify.auditing.expectations.rates",
        "hoeffding_interval": "dpverify.auditing.confidence",
        "most_telling": "dpverify.auditing.expectations.means",
        "read_samples": "dpverify.auditing.outputs.sample_files",
        "search_faults": "dpverify.auditing.faults",
    },
)
