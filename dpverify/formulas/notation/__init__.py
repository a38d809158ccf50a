"""Formulas as they are printed: restricted LaTeX read as a tree (docs/notation.md); the grammar is grammar.lark."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
