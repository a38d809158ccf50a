"""Accountants, ours and others': a claimed epsilon against exact or two-sided values, without any runs."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
