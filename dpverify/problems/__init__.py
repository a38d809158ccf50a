"""Convex problems: losses with their constants, constraint sets, data sets, certified minimizers."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
