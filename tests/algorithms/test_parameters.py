"""What a field declares is what its parameter may be: for every algorithm, and for a user's own."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import pytest
from every_algorithm import EVERY

from dpverify.algorithms import Algorithm, parameters
from dpverify.algorithms.parameters import Count, ParameterRange, Proper, check_parameters
from dpverify.checks import number
from dpverify.errors import InvalidArgumentError
from dpverify.problems import Ball, Linear, Problem

INSIDE: dict[str, tuple[Any, ...]] = {
    "Positive": (1e-300, 1, 1e300),
    "NotNegative": (0, 0.0, 5.0),
    "AboveOne": (1.5, 7),
    "PositiveOrInfinity": (0.1, math.inf),
    "Proper": (0.5, 1e-9),
    "BelowOne": (0.0, 0.99),
    "Share": (1.0, 0.1),
    "Epsilon": (1e-100, 1e10),
    "TinyEpsilon": (1e-300,),
    "Count": (1, 10**50),
    "Bits": (1, 32),
    "CountOrZero": (0, 3),
}
OUTSIDE: dict[str, tuple[Any, ...]] = {
    "Positive": (0.0, -1.0, math.inf),
    "NotNegative": (-1e-300, math.inf),
    "AboveOne": (1.0, math.inf),
    "PositiveOrInfinity": (0.0, -math.inf),
    "Proper": (0.0, 1.0),
    "BelowOne": (1.0, -0.1),
    "Share": (0.0, 1.1),
    "Epsilon": (0.0, 1e-101, 1e11),
    "TinyEpsilon": (1e-301,),
    "Count": (0, 1.0, 10**101),
    "Bits": (0, 33),
    "CountOrZero": (-1, 0.0),
}


def _ranges() -> dict[str, ParameterRange]:
    declared = {name: get_args(value) for name, value in vars(parameters).items()}
    return {
        name: one for name, parts in declared.items() for one in parts[1:] if isinstance(one, ParameterRange)
    }


def test_ranges_allow_what_they_say_and_nothing_else() -> None:
    found = _ranges()
    assert set(found) == set(INSIDE) == set(OUTSIDE)
    for name, one in found.items():
        for value in INSIDE[name]:
            one.check("x", value)
        for value in (*OUTSIDE[name], math.nan, True, "1", None):
            with pytest.raises(InvalidArgumentError, match=r"^x was "):
                one.check("x", value)


@dataclass(frozen=True)
class Mine(Algorithm):
    problem: Problem
    share: Proper
    steps: Count | None = None
    way: Literal["short", "long", 3] = "short"
    loud: bool = False
    odd: Annotated[float, ParameterRange(number)] = 0.0
    anything: Any = None
    unknown: NotThere = None  # type: ignore[name-defined]  # noqa: F821

    id = "mine"
    __call__ = None  # type: ignore[assignment]
    guarantees = None  # type: ignore[assignment]


LINE = Problem(Linear(), Ball(1, 1.0))


@pytest.mark.parametrize(
    ("changed", "allowed"),
    [
        ({"problem": None}, "a dpverify.problems.Problem"),
        ({"share": 1.0}, r"a number in \(0, 1\)"),
        ({"share": None}, r"a number in \(0, 1\)"),
        ({"steps": 0}, "an integer of at least 1"),
        ({"steps": True}, "an integer of at least 1"),
        ({"way": "wide"}, '"short", "long" or 3'),
        ({"way": ["short"]}, '"short", "long" or 3'),
        ({"way": 3.0}, '"short", "long" or 3'),
        ({"loud": 1}, "True or False"),
        ({"odd": math.nan}, "a finite number"),
    ],
)
def test_declared_parameters_are_checked(changed: dict[str, Any], allowed: str) -> None:
    good: dict[str, Any] = {"problem": LINE, "share": 0.5, "steps": None, "way": 3, "unknown": 7}
    check_parameters(Mine(**good))
    name = next(iter(changed))
    with pytest.raises(InvalidArgumentError, match=rf"^{name} was .*; allowed: {allowed}[.]$"):
        Mine(**(good | changed))


@pytest.mark.parametrize("name", EVERY)
def test_no_number_of_an_algorithm_may_be_nan(name: str) -> None:
    """Whoever adds a parameter without a range is told here."""
    made = EVERY[name]()
    for field in dataclasses.fields(made):
        if isinstance(getattr(made, field.name), float | int) and field.init:
            with pytest.raises(InvalidArgumentError):
                dataclasses.replace(made, **{field.name: math.nan})
