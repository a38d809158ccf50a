from .audits import audit as audit, audit_one_run as audit_one_run, audit_samples as audit_samples
from .request import Request as Request
