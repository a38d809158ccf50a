from .bounds import DeclaredBounds as DeclaredBounds
from .estimators import (
    DPLinearRegression as DPLinearRegression,
    DPLinearSVC as DPLinearSVC,
    DPLogisticRegression as DPLogisticRegression,
)
from .methods import FitMethod as FitMethod, candidates as candidates
from .models import NotPrivate as NotPrivate, PrivateModel as PrivateModel, fit as fit
