from .page import (
    Display,
    Page,
    PageError,
    line_of,
    read_page,
    where_on,
)

__all__ = [
    "Display",
    "Page",
    "PageError",
    "line_of",
    "read_page",
    "where_on",
]
