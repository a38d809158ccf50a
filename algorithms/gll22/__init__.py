"""The algorithms of Gopi, Lee, Liu (2022), in the paper's order."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
