"""How what was counted or measured must stand to what is claimed."""

from __future__ import annotations

from enum import StrEnum


class Relation(StrEnum):
    """A measured number must be at most the claimed one, for an upper bound, or equal to it.

    Examples:
        >>> from dpverify.auditing import Relation, audit_queries
        >>> [str(audit_queries([90, 100], 100, relation=relation).verdict) for relation in Relation]
        ['supported', 'violated']
    """

    AT_MOST = "<="
    EQUAL = "="
