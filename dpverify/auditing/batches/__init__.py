"""Batches as they were drawn, recorded or read from a file, and held against the law that is accounted for."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
