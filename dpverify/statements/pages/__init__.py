"""Theorems on Markdown pages: letters in tables, displays with notes, which any forge shows and `prove` proves."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
