from .privacy.adjacency import Adjacency
from .privacy.guarantees import GDP, ApproxDP, PureDP, zCDP
from .properties.suites import check_private
from .proving.pipeline import prove
from .reports.ledger_files import read_ledger
from .versions import show_versions

__version__: str

__all__ = [
    "GDP",
    "Adjacency",
    "ApproxDP",
    "PureDP",
    "check_private",
    "prove",
    "read_ledger",
    "show_versions",
    "zCDP",
]
