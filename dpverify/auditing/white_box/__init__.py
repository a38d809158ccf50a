"""White-box audits of iterative mechanisms: what is known of their steps and their noise, besides what they release."""

from dpverify.auditing.white_box.audit import FEWEST_RUNS, Stated, StructuredPair, WhiteBoxAuditor

__all__ = ["FEWEST_RUNS", "Stated", "StructuredPair", "WhiteBoxAuditor"]
