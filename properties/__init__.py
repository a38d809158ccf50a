"""Property tests for your own objects: Hypothesis strategies and checks that raise AssertionError."""

from dpverify.stubs import attach_stub

if __name__ != "dpverify.properties":  # a second copy of every class
    raise ImportError(f"this folder is the package dpverify.properties; {__name__!r} was imported")

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
