"""Auditors: statistics about implementations, from samples alone.

They know no algorithm and no paper. Every bound holds at finite sample size with the stated failure
probability; `supported` and `violated` are the strongest words an auditor has.
"""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
