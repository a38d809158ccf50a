from .reader import (
    ReadDisplay as ReadDisplay,
    define as define,
    read_conditions as read_conditions,
    read_display as read_display,
    read_expression as read_expression,
    read_formula as read_formula,
)
