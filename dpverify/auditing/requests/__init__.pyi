from .audits import audit, audit_samples, failure_lines
from .request import Request

__all__ = ["Request", "audit", "audit_samples", "failure_lines"]
