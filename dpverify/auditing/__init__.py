"""Auditors: statistics about implementations, from samples alone.

They know no algorithm and no paper. Every bound holds at finite sample size with the stated failure
probability; `supported` and `violated` are the strongest words an auditor has.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
