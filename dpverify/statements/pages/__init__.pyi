from .blocks import PageError as PageError
from .encoding import PageDisplay as PageDisplay, where_on as where_on
from .kept import statements_on as statements_on
from .page import (
    SHARED as SHARED,
    Page as Page,
    read_page as read_page,
    read_shared as read_shared,
    statements_of as statements_of,
)
from .sections import ids_on as ids_on
