"""Accountants, ours and others': a claimed epsilon against exact or two-sided values, without any runs."""

from dpverify.auditing.accountants.audit import (
    AccountantAudit,
    AccountantAuditor,
    AccountantQuestion,
    audit_epsilon,
)
from dpverify.auditing.accountants.references import NoisyReleases

__all__ = ["AccountantAudit", "AccountantAuditor", "AccountantQuestion", "NoisyReleases", "audit_epsilon"]
