"""Canaries for an audit of one training: making them, flipping their coins, and reading their scores.

A training is run once, with each canary in its data set by a fair coin. How well scores tell which were in bounds its
privacy loss from below (Steinke, Nasr, Jagielski 2023, "Privacy Auditing with One (1) Training Run"). Nothing here
gives a verdict: an audit does, of `scores.csv` and `members.csv`.
"""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
