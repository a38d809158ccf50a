"""The papers' algorithms, a folder a paper. Each says its statements, its guarantees and its number of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.algorithms.contract import Algorithm, Guarantees

__all__ = ["Algorithm", "Guarantees"]

__getattr__ = lazy.attributes(__name__, dict.fromkeys(__all__, "dpverify.algorithms.contract"))
