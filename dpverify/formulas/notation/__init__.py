"""Formulas as they are printed: restricted LaTeX read as a tree (docs/notation.md); the grammar is grammar.lark."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
