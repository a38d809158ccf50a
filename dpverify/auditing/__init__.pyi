from .batch import BatchAuditor
from .black_box.scorers import DEFAULT_SCORERS
from .black_box.scores import Score, Scorer
from .claims import Claim
from .complexity import (
    CountAuditor,
    CountQuestion,
    QueryAudit,
    audit_queries,
)
from .confidence import (
    betting_interval,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from .constants import (
    ConstantAudit,
    ConstantAuditor,
    ConstantQuestion,
    audit_constant,
)
from .contract import Auditor, Label, Question, Relation
from .error_share import ErrorShare
from .events import Direction, Event
from .expectations.auditors import (
    BettingMeanAuditor,
    BettingRiskAuditor,
    MeanAuditor,
    RiskAuditor,
)
from .expectations.bounds import Bound, BoundsQuestion, Numbers
from .expectations.means import (
    MeanAudit,
    audit_mean,
    audit_mean_in_rounds,
    most_telling,
)
from .expectations.rates import (
    RateAuditor,
    RateFit,
    RateQuestion,
    fit_rate,
)
from .faults import FACTORS, search_faults
from .one_run import CanaryScores, OneRunAuditor
from .outputs.encoding import Encoder
from .outputs.sample_files import read_samples
from .outputs.samples import (
    MINIMUM_RUNS,
    check_pair,
    check_samples,
)
from .pairs import (
    GivenSamples,
    PairSubject,
    PlantedFaults,
    PrivacyQuestion,
)
from .privacy import (
    JudgedEvent,
    PrivacyAudit,
    Violation,
    audit_privacy,
)
from .requests import Request, audit, audit_one_run, audit_samples
from .sampling import (
    LawAudit,
    LawAuditor,
    LawQuestion,
    audit_law,
)

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
    "CanaryScores",
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
    "GivenSamples",
    "JudgedEvent",
    "Label",
    "LawAudit",
    "LawAuditor",
    "LawQuestion",
    "MeanAudit",
    "MeanAuditor",
    "Numbers",
    "OneRunAuditor",
    "PairSubject",
    "PlantedFaults",
    "PrivacyAudit",
    "PrivacyQuestion",
    "QueryAudit",
    "Question",
    "RateAuditor",
    "RateFit",
    "RateQuestion",
    "Relation",
    "Request",
    "RiskAuditor",
    "Score",
    "Scorer",
    "Violation",
    "audit",
    "audit_constant",
    "audit_law",
    "audit_mean",
    "audit_mean_in_rounds",
    "audit_one_run",
    "audit_privacy",
    "audit_queries",
    "audit_samples",
    "betting_interval",
    "check_pair",
    "check_samples",
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "fit_rate",
    "most_telling",
    "read_samples",
    "search_faults",
]
