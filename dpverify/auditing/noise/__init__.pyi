from .dependence import MOST_COMPARED, Dependence, IndependenceAudit, audit_independence
from .ends import CutNoise, CutReleases, lost_in_steps
from .laws import LAWS, Law
from .tails import FEWEST, TailAudit, audit_tails

__all__ = [
    "FEWEST",
    "LAWS",
    "MOST_COMPARED",
    "CutNoise",
    "CutReleases",
    "Dependence",
    "IndependenceAudit",
    "Law",
    "TailAudit",
    "audit_independence",
    "audit_tails",
    "lost_in_steps",
]
