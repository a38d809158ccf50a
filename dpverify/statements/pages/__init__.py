"""Theorems on Markdown pages: letters in tables, displays with notes, which any forge shows and `prove` proves."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
