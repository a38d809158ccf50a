"""Which pairs of data sets count as neighbors."""

from __future__ import annotations

from enum import StrEnum


class Adjacency(StrEnum):
    """The neighboring relation a guarantee is about; all of them are symmetric."""

    REPLACE_ONE = "replace-one"
    """Same number of records, one of them replaced."""
    ADD_REMOVE_ONE = "add-or-remove-one"
    """One record more, or one less."""
    INDEX = "index"
    """Same number of records, the one at a given place replaced."""
