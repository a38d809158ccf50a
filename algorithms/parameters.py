"""The ranges of algorithms' parameters, each declared once, on its field, such as `epsilon: Epsilon`.

`check_parameters` reads the declarations of a dataclass. `Algorithm` calls it for every algorithm, so that a
`__post_init__` is left with what several parameters must be together. A field declares a range (by the names below, or
any `Annotated[float, ParameterRange(...)]`), one of several words (`Literal`), `bool` or `Problem`, and None if its
annotation allows it. Other annotations declare nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, partial
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from dpverify.checks import budget, number, of_kind, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Problem

Check = Callable[[str, object], object]
"""Takes an argument's name and value, and refuses values that are not allowed."""


@dataclass(frozen=True)
class ParameterRange:
    """The range of a number, as the function that checks it."""

    check: Check


Positive = Annotated[float, ParameterRange(partial(number, above=0, allowed="a finite number above 0"))]
NotNegative = Annotated[
    float, ParameterRange(partial(number, at_least=0, allowed="a finite number of at least 0"))
]
AboveOne = Annotated[float, ParameterRange(partial(number, above=1, allowed="a finite number above 1"))]
PositiveOrInfinity = Annotated[
    float, ParameterRange(partial(number, above=0, finite=False, allowed="a number above 0, or infinity"))
]
Proper = Annotated[float, ParameterRange(partial(number, above=0, below=1, allowed="a number in (0, 1)"))]
"""A share, or a delta, strictly between 0 and 1."""
BelowOne = Annotated[
    float, ParameterRange(partial(number, at_least=0, below=1, allowed="a number in [0, 1)"))
]
Share = Annotated[float, ParameterRange(partial(number, above=0, at_most=1, allowed="a number in (0, 1]"))]
Epsilon = Annotated[float, ParameterRange(budget)]
TinyEpsilon = Annotated[float, ParameterRange(partial(budget, at_least=1e-300))]
"""For formulas that stay accurate there."""
Count = Annotated[int, ParameterRange(partial(whole_number, at_least=1))]
Bits = Annotated[int, ParameterRange(partial(whole_number, at_least=1, at_most=32))]
CountOrZero = Annotated[int, ParameterRange(partial(whole_number, at_least=0))]


def check_parameters(made: Any) -> None:
    """Check the parameters of a dataclass against what its fields declare, in their order; refuse others."""
    for name, check in _checks(made.__class__):
        check(name, getattr(made, name))


@cache
def _checks(kind: type) -> tuple[tuple[str, Check], ...]:
    found = ((one.name, _check(_annotation(kind, one.name))) for one in fields(kind))
    return tuple((name, check) for name, check in found if check is not None)


def _annotation(kind: type, name: str) -> object:
    """The annotation in the class that declares the field; still a string if its module does not define the name."""
    owner = next(one for one in kind.__mro__ if name in get_annotations(one))
    written = get_annotations(owner)[name]
    if not isinstance(written, str):
        return written
    try:
        return eval(written, vars(sys.modules[owner.__module__]), {})
    except (KeyError, NameError):
        return written


def _check(annotation: object) -> Check | None:
    if get_origin(annotation) in (Union, UnionType):
        known = [one for one in get_args(annotation) if one is not NoneType]
        inner = _check(known[0]) if len(known) == 1 else None
        return None if inner is None else partial(_unless_none, inner)
    if get_origin(annotation) is Annotated:
        return next((one.check for one in get_args(annotation) if isinstance(one, ParameterRange)), None)
    if get_origin(annotation) is Literal:
        return partial(_one_of, get_args(annotation))
    if annotation is bool:
        return partial(_instance, bool, "True or False")
    if annotation is Problem:
        return partial(_instance, Problem, "a dpverify.problems.Problem")
    return None


def _unless_none(check: Check, name: str, value: object) -> None:
    if value is not None:
        check(name, value)


def _instance(kind: type, allowed: str, name: str, value: object) -> None:
    of_kind(name, value, kind, allowed)


def _one_of(words: tuple[object, ...], name: str, value: object) -> None:
    if not any(type(value) is type(word) and value == word for word in words):
        said = [f'"{word}"' if isinstance(word, str) else str(word) for word in words]
        raise InvalidArgumentError(name, value, f"{', '.join(said[:-1])} or {said[-1]}")
