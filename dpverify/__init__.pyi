from .auditing.requests.audits import audit as audit, audit_samples as audit_samples
from .auditing.requests.request import Request as Request
from .privacy.adjacency import Adjacency as Adjacency
from .privacy.guarantees import GDP as GDP, ApproxDP as ApproxDP, PureDP as PureDP, zCDP as zCDP
from .properties.suites import check_private as check_private
from .proving.pipeline import prove as prove
from .reports.ledger_files import load_ledger as load_ledger
from .verification.mechanisms import Mechanism as Mechanism
from .versions import show_versions as show_versions

__version__: str
