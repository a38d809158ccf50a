from .audit import (
    FEWEST_RUNS as FEWEST_RUNS,
    Stated as Stated,
    StructuredPair as StructuredPair,
    WhiteBoxAuditor as WhiteBoxAuditor,
)
from .splitting import RareTail as RareTail, rare_tail as rare_tail
from .stated_laws import StatedLaw as StatedLaw
