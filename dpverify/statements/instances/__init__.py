"""The instances that refute printed statements, by paper; each is evaluated from definitions when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever evaluates none needs no arithmetic
    from dpverify.proving.instances.instance import Evaluation, Instance


_FOUND: dict[str, tuple[Instance, ...]] = {}
"""By statement, those of the modules that are loaded."""


def refutes(*claims: str, says: str) -> Callable[[Callable[[], Evaluation]], Callable[[], Evaluation]]:
    """Makes a function the evaluation of an instance of some claims, each STATEMENT/OBLIGATION."""
    from dpverify.proving.instances.instance import Instance

    def keep(evaluation: Callable[[], Evaluation]) -> Callable[[], Evaluation]:
        for instance in (Instance(claim, says, evaluation) for claim in claims):
            _FOUND[instance.statement] = (*_FOUND.get(instance.statement, ()), instance)
        return evaluation

    return keep


@cache
def instances_of(paper: str) -> Mapping[str, tuple[Instance, ...]]:
    """Statement id to its instances; none for papers without a module here."""
    name = f"{__name__}.{paper}"
    if not paper.isidentifier() or find_spec(name) is None:
        return {}
    import_module(name)
    return {id_: found for id_, found in _FOUND.items() if id_.startswith(f"{paper}.")}
