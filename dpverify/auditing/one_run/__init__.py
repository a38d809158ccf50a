"""Audits of a model that is trained once: canaries by fair coins, a score for each, and guesses about the coins."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
