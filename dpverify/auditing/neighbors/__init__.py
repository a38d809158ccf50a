"""Worst neighbors: a search for the pair of data sets that speaks most against a claim."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
