from .audit import OneRunAuditor
from .canaries import CanaryScores
from .foresight import Foresight, foresee
from .tails import Guesses, tail_bound

__all__ = ["CanaryScores", "Foresight", "Guesses", "OneRunAuditor", "foresee", "tail_bound"]
