"""The algorithms of Feldman, Mironov, Talwar, Thakurta (2018), in the paper's order."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
