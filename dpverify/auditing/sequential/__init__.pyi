from .audit import (
    BettingAuditor as BettingAuditor,
    SequentialAudit as SequentialAudit,
    SequentialAuditor as SequentialAuditor,
    Watch as Watch,
)
