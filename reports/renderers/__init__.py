"""How audits are shown: a renderer for each kind, looked up by kind.

A third party subclasses `Renderer` and calls `register`, or names an instance as an entry point of the group
`dpverify.renderers`. A kind without a renderer is shown with what every audit has.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.audits import AuditEvidence
from dpverify.reports.renderers.renderer import Renderer

OWN = ("privacy", "risk", "mean", "sampling", "rate", "complexity", "constant", "accountant")
"""Kinds with a module here, in the order in which a report counts them."""

_REGISTERED: dict[str, Renderer] = {}


def register(renderer: Renderer) -> None:
    """Show audits of the renderer's kind by it.

    Raises:
        InvalidArgumentError: for what is no renderer, and for a kind that has another one.
    """
    if not isinstance(renderer, Renderer) or not renderer.kind:
        raise InvalidArgumentError("renderer", renderer, "a Renderer with a kind")
    known = _found().get(renderer.kind)
    if known is not None and type(known) is not type(renderer):
        raise InvalidArgumentError("renderer.kind", renderer.kind, "a kind that has no renderer yet")
    _REGISTERED[renderer.kind] = renderer


def renderer_of(evidence: AuditEvidence) -> Renderer:
    """Its kind's, or one that shows what every audit has."""
    return _found().get(evidence.kind, _PLAIN)


def _found() -> dict[str, Renderer]:
    return _own() | _REGISTERED


@cache
def _own() -> dict[str, Renderer]:
    found = [import_module(f"{__name__}.{kind}").RENDERER for kind in OWN]
    found += [point.load() for point in entry_points(group="dpverify.renderers")]
    return {renderer.kind: renderer for renderer in found}


_PLAIN = Renderer()

__all__ = ["OWN", "Renderer", "register", "renderer_of"]
