from .bounds import DeclaredBounds
from .estimators import DPLinearRegression, DPLinearSVC, DPLogisticRegression
from .methods import Candidate, candidates
from .models import NotPrivate, PrivateModel, fit

__all__ = [
    "Candidate",
    "DPLinearRegression",
    "DPLinearSVC",
    "DPLogisticRegression",
    "DeclaredBounds",
    "NotPrivate",
    "PrivateModel",
    "candidates",
    "fit",
]
