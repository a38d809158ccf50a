from .blocks import PageError
from .encoding import PageDisplay, where_on
from .kept import statements_on
from .page import SHARED, Page, read_page, read_shared, statements_of
from .sections import ids_on

__all__ = [
    "SHARED",
    "Page",
    "PageDisplay",
    "PageError",
    "ids_on",
    "read_page",
    "read_shared",
    "statements_of",
    "statements_on",
    "where_on",
]
