from .reader import ReadDisplay, define, read_conditions, read_display, read_expression, read_formula

__all__ = ["ReadDisplay", "define", "read_conditions", "read_display", "read_expression", "read_formula"]
