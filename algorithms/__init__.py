"""The papers' algorithms, a folder a paper. Each says its statements, its guarantees and its number of queries."""

from dpverify.stubs import attach_stub

if __name__ != "dpverify.algorithms":  # a second copy of every class
    raise ImportError(f"this folder is the package dpverify.algorithms; {__name__!r} was imported")

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
