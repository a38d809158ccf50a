"""The algorithms of Bassily, Smith, Thakurta (2014), in the paper's order."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
