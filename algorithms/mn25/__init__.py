"""The algorithms of Menart, Nikolov (2025), in the paper's order."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
