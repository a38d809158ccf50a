from .audit import OneRunAuditor
from .canaries import CanaryScores
from .foresight import Foresight, foresee

__all__ = ["CanaryScores", "Foresight", "OneRunAuditor", "foresee"]
