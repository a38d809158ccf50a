"""How what was counted or measured must stand to what is claimed."""

from __future__ import annotations

from enum import StrEnum


class Relation(StrEnum):
    """A measured number must be at most the claimed one, for an upper bound, or equal to it."""

    AT_MOST = "<="
    EQUAL = "="
