from .auditing.requests.audits import audit, audit_samples
from .auditing.requests.request import Request
from .privacy.adjacency import Adjacency
from .privacy.guarantees import GDP, ApproxDP, PureDP, zCDP
from .properties.suites import check_private
from .proving.pipeline import prove
from .reports.ledger_files import load_ledger
from .verification.mechanisms import Mechanism
from .versions import show_versions

__version__: str

__all__ = [
    "GDP",
    "Adjacency",
    "ApproxDP",
    "Mechanism",
    "PureDP",
    "Request",
    "audit",
    "audit_samples",
    "check_private",
    "load_ledger",
    "prove",
    "show_versions",
    "zCDP",
]
