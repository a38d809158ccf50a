"""Accountants, ours and others': a claimed epsilon against exact or two-sided values, without any runs."""

from dpverify.auditing.accountants.audit import AccountantAudit, audit_epsilon
from dpverify.auditing.accountants.references import NoisyReleases

__all__ = ["AccountantAudit", "NoisyReleases", "audit_epsilon"]
