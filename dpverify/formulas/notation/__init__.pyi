from .reader import (
    Display,
    define,
    read_conditions,
    read_display,
    read_expression,
    read_formula,
)

__all__ = [
    "Display",
    "define",
    "read_conditions",
    "read_display",
    "read_expression",
    "read_formula",
]
