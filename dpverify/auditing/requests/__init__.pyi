from .audits import audit, audit_one_run, audit_samples, failure_lines
from .request import Request

__all__ = ["Request", "audit", "audit_one_run", "audit_samples", "failure_lines"]
