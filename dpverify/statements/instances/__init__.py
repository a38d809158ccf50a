"""The instances that refute printed statements, by paper; each is evaluated from definitions when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever evaluates none needs no arithmetic
    from dpverify.proving.instances.instance import Instance


@cache
def instances_of(paper: str) -> Mapping[str, tuple[Instance, ...]]:
    """Statement id to its instances; none for papers without a module here."""
    name = f"{__name__}.{paper}"
    if not paper.isidentifier() or find_spec(name) is None:
        return {}
    found: dict[str, tuple[Instance, ...]] = {}
    for instance in import_module(name).INSTANCES:
        found[instance.statement] = (*found.get(instance.statement, ()), instance)
    return found
