"""Estimators as functions: an object is made, fitted to the data, and some of its attributes are the output.

This runs in users' worker processes, so it needs NumPy and the standard library only.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.quoting import quoted

_ALLOWED = "a class, a function without required parameters that makes an estimator, or an estimator"
_SEEDS = 2**32


def fitting(
    maker: Any, target: str, attributes: Sequence[str]
) -> Callable[[NDArray[Any], np.random.Generator], Any]:
    """A function (data, rng) -> output: one attribute's value, or a dictionary of several.

    The estimator is made anew for every run, by calling `maker` or copying it. Where it has a parameter or attribute
    `random_state`, that is set to an integer drawn from `rng`; a parameter `rng` gets the generator itself. `fit` gets
    the data without its last column, and the last column, if it requires two arguments; else all of the data.
    """
    parameters = _parameters(maker, target)
    if not callable(maker) and not hasattr(maker, "fit"):
        raise InvalidArgumentError("estimator", target, f"{_ALLOWED}, with a method fit")

    def fitted(data: NDArray[Any], rng: np.random.Generator) -> Any:
        drawn: dict[str, Any] = {"random_state": _seed(rng)} if "random_state" in parameters else {}
        drawn |= {"rng": rng} if "rng" in parameters else {}
        estimator: Any = maker(**drawn) if callable(maker) else copy.deepcopy(maker)
        if not drawn and hasattr(estimator, "random_state"):
            estimator.random_state = _seed(rng)
        fit = getattr(estimator, "fit", None)
        if not callable(fit):
            raise InvalidDataError(
                f"{target} makes {quoted(type(estimator).__name__)}, which has no method fit."
            )
        # some return what is fitted, some None
        cells: Any = getattr(data, "iloc", data)  # as data frames of pandas count their columns
        fit(cells[:, :-1], cells[:, -1]) if _takes_labels(fit) else fit(data)
        found = {}
        for name in attributes:
            if not hasattr(estimator, name):
                raise InvalidDataError(
                    f"{target} has no attribute {quoted(name)} after fit; allowed: names of attributes that it has."
                )
            found[name] = getattr(estimator, name)
        return found if len(found) > 1 else found[attributes[0]]

    return fitted


def _parameters(maker: Any, target: str) -> frozenset[str]:
    """Names of what is given by name when an estimator is made."""
    if not callable(maker):
        return frozenset()
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    free = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    named = frozenset(p.name for p in free if p.kind is not p.POSITIONAL_ONLY)
    for parameter in free:
        if parameter.default is parameter.empty and parameter.name not in {"random_state", "rng"}:
            raise InvalidArgumentError(
                "estimator", target, f"{_ALLOWED}; {quoted(parameter.name)} is required here"
            )
    return named


def _takes_labels(fit: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(fit).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len([p for p in positional if p.default is p.empty]) >= 2


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(_SEEDS))
