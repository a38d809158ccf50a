from .encoding import Display, where_on
from .kept import statements_on
from .page import SHARED, Page, PageError, line_of, read_page, read_shared
from .sections import ids_on

__all__ = [
    "SHARED",
    "Display",
    "Page",
    "PageError",
    "ids_on",
    "line_of",
    "read_page",
    "read_shared",
    "statements_on",
    "where_on",
]
