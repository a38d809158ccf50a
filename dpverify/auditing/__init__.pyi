from .batch import BatchAuditor as BatchAuditor
from .black_box.scorers import DEFAULT_SCORERS as DEFAULT_SCORERS
from .black_box.scores import Score as Score, Scorer as Scorer
from .claims import Claim as Claim
from .complexity import (
    CountAuditor as CountAuditor,
    CountQuestion as CountQuestion,
    QueryAudit as QueryAudit,
    audit_queries as audit_queries,
)
from .confidence import (
    betting_interval as betting_interval,
    clopper_pearson_lower as clopper_pearson_lower,
    clopper_pearson_upper as clopper_pearson_upper,
)
from .constants import (
    ConstantAudit as ConstantAudit,
    ConstantAuditor as ConstantAuditor,
    ConstantQuestion as ConstantQuestion,
    audit_constant as audit_constant,
)
from .contract import Auditor as Auditor, Label as Label, Question as Question, Relation as Relation
from .error_share import ErrorShare as ErrorShare
from .events import Direction as Direction, Event as Event
from .expectations.auditors import (
    BettingMeanAuditor as BettingMeanAuditor,
    BettingRiskAuditor as BettingRiskAuditor,
    MeanAuditor as MeanAuditor,
    RiskAuditor as RiskAuditor,
)
from .expectations.bounds import Bound as Bound, BoundsQuestion as BoundsQuestion, Numbers as Numbers
from .expectations.means import (
    MeanAudit as MeanAudit,
    audit_mean as audit_mean,
    audit_mean_in_rounds as audit_mean_in_rounds,
    most_telling as most_telling,
)
from .expectations.rates import (
    RateAuditor as RateAuditor,
    RateFit as RateFit,
    RateQuestion as RateQuestion,
    fit_rate as fit_rate,
)
from .faults import FACTORS as FACTORS, search_faults as search_faults
from .one_run import CanaryScores as CanaryScores, OneRunAuditor as OneRunAuditor
from .outputs.encoding import Encoder as Encoder
from .outputs.sample_files import read_samples as read_samples
from .outputs.samples import (
    MINIMUM_RUNS as MINIMUM_RUNS,
    check_pair as check_pair,
    check_samples as check_samples,
)
from .pairs import (
    GivenSamples as GivenSamples,
    PairSubject as PairSubject,
    PlantedFaults as PlantedFaults,
    PrivacyQuestion as PrivacyQuestion,
)
from .privacy import (
    JudgedEvent as JudgedEvent,
    PrivacyAudit as PrivacyAudit,
    Violation as Violation,
    audit_privacy as audit_privacy,
)
from .requests import (
    Request as Request,
    audit as audit,
    audit_one_run as audit_one_run,
    audit_samples as audit_samples,
)
from .sampling import (
    LawAudit as LawAudit,
    LawAuditor as LawAuditor,
    LawQuestion as LawQuestion,
    audit_law as audit_law,
)
