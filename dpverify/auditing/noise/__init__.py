"""Noise alone: what numbers that a sampler made show of how it makes them."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
