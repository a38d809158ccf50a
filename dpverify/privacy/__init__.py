"""Guarantees, privacy profiles, trade-off functions, Renyi curves, conversions and accountants."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
