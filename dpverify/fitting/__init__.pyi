from .bounds import DeclaredBounds
from .estimators import DPLinearRegression, DPLinearSVC, DPLogisticRegression
from .methods import FitMethod, candidates
from .models import NotPrivate, PrivateModel, fit

__all__ = [
    "DPLinearRegression",
    "DPLinearSVC",
    "DPLogisticRegression",
    "DeclaredBounds",
    "FitMethod",
    "NotPrivate",
    "PrivateModel",
    "candidates",
    "fit",
]
