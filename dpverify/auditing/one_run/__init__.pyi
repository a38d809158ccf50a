from .audit import OneRunAuditor as OneRunAuditor
from .canaries import CanaryScores as CanaryScores
from .foresight import Foresight as Foresight, foresee as foresee
