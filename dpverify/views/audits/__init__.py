"""How audits are put into words: a view for each kind, looked up by kind.

A third party subclasses `AuditView` and calls `register`, or names an instance as an entry point of the group
`dpverify.views`. A kind without a view is shown with what every audit has.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.audits import AuditEvidence
from dpverify.views.audits.view import AuditView

OWN = ("privacy", "risk", "mean", "sampling", "rate", "complexity", "constant", "accountant")
"""Kinds with a module here, in the order in which a report counts them."""

_REGISTERED: dict[str, AuditView] = {}


def register(view: AuditView) -> None:
    """Show audits of the view's kind by it.

    Raises:
        InvalidArgumentError: for what is no view, and for a kind that has another one.
    """
    if not isinstance(view, AuditView) or not view.kind:
        raise InvalidArgumentError("view", view, "an AuditView with a kind")
    known = _found().get(view.kind)
    if known is not None and type(known) is not type(view):
        raise InvalidArgumentError("view.kind", view.kind, "a kind that has no view yet")
    _REGISTERED[view.kind] = view


def view_of(evidence: AuditEvidence) -> AuditView:
    """Its kind's, or one that shows what every audit has."""
    return _found().get(evidence.kind, _PLAIN)


def _found() -> dict[str, AuditView]:
    return _own() | _REGISTERED


@cache
def _own() -> dict[str, AuditView]:
    found = [import_module(f"{__name__}.{kind}").VIEW for kind in OWN]
    found += [point.load() for point in entry_points(group="dpverify.views")]
    return {view.kind: view for view in found}


_PLAIN = AuditView()

__all__ = ["OWN", "AuditView", "register", "view_of"]
