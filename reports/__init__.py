"""Reports: from the ledger, and from nothing else, to HTML, Markdown and lines for a terminal."""

from dpverify.stubs import attach_stub

if __name__ != "dpverify.reports":  # a second copy of every class
    raise ImportError(f"this folder is the package dpverify.reports; {__name__!r} was imported")

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
