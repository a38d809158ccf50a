from .audits import audit, audit_one_run, audit_samples
from .request import Request

__all__ = ["Request", "audit", "audit_one_run", "audit_samples"]
