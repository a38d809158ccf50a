"""Noise alone: what numbers that a sampler made show of how it makes them."""

from dpverify.auditing.noise.laws import LAWS, Law
from dpverify.auditing.noise.tails import FEWEST, TailAudit, audit_tails

__all__ = ["FEWEST", "LAWS", "Law", "TailAudit", "audit_tails"]
