from .dependence import (
    MOST_COMPARED as MOST_COMPARED,
    Dependence as Dependence,
    IndependenceAudit as IndependenceAudit,
    audit_independence as audit_independence,
)
from .ends import CutNoise as CutNoise, CutReleases as CutReleases, lost_in_steps as lost_in_steps
from .laws import LAWS as LAWS, Law as Law
from .tails import FEWEST as FEWEST, TailAudit as TailAudit, audit_tails as audit_tails
