"""Formulas as they are printed: restricted LaTeX read as a tree (docs/notation.md); the grammar is grammar.lark."""

from dpverify.formulas.notation.reader import (
    Display,
    define,
    read_conditions,
    read_display,
    read_expression,
    read_formula,
)

__all__ = ["Display", "define", "read_conditions", "read_display", "read_expression", "read_formula"]
