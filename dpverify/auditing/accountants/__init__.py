"""Accountants, ours and others': a claimed epsilon against exact or two-sided values, without any runs."""

from dpverify.auditing.accountants.audit import (
    AccountantAudit,
    AccountantAuditor,
    AccountantQuestion,
    Reference,
    audit_epsilon,
)
from dpverify.auditing.accountants.orders import DrawnBatches, HiddenIterates, Passes
from dpverify.auditing.accountants.references import NoisyReleases

__all__ = [
    "AccountantAudit",
    "AccountantAuditor",
    "AccountantQuestion",
    "DrawnBatches",
    "HiddenIterates",
    "NoisyReleases",
    "Passes",
    "Reference",
    "audit_epsilon",
]
