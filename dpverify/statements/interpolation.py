"""What is true of every loss of a class at finitely many points, as conditions for a sheet.

A statement about all convex, Lipschitz, smooth or strongly convex losses that looks at finitely many points follows
from the inequalities here between these points, the loss's values and its gradients there. Those of `smooth_convex` are
the named result `smooth-convex-interpolation`; the others say what the words mean.

The converse holds, too (Taylor, Hendrickx and Glineur): numbers and vectors with `convex` (and `lipschitz`),
`strongly_convex` or `smooth_convex` are those of some loss of that class on all of the space. So vectors that refute a
claim under one of these have a loss behind them; under several classes at once, one has still to be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from dpverify.errors import InvalidArgumentError


@dataclass(frozen=True)
class Sample:
    """A point, with the loss's value and (sub)gradient there; each in LaTeX, of letters that are declared elsewhere."""

    point: str
    value: str
    gradient: str


def convex(samples: Sequence[Sample]) -> str:
    """Each value is above the tangent at each other point."""
    return ", ".join(_above(a, b) for a, b in _pairs(samples))


def strongly_convex(samples: Sequence[Sample], modulus: str) -> str:
    """A convex loss of which `modulus / 2` times the squared norm can be taken away."""
    return ", ".join(
        _above(a, b) + rf"+\frac{{{modulus}}}{{2}}\|{_difference(a.point, b.point)}\|^2" for a, b in _pairs(samples)
    )  # fmt: skip


def smooth_convex(samples: Sequence[Sample], smoothness: str) -> str:
    """A convex loss on all of the space, of which the gradient is `smoothness`-Lipschitz."""
    return ", ".join(
        _above(a, b) + rf"+\frac{{1}}{{2{smoothness}}}\|{_difference(a.gradient, b.gradient)}\|^2"
        for a, b in _pairs(samples)
    )


def lipschitz(samples: Sequence[Sample], constant: str) -> str:
    """A Lipschitz loss: no gradient is longer than the constant."""
    return ", ".join(rf"\|{sample.gradient}\|\le {constant}" for sample in samples)


def _pairs(samples: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    if len(samples) < 2:
        raise InvalidArgumentError("samples", samples, "two or more")
    return list(permutations(samples, 2))


def _above(a: Sample, b: Sample) -> str:
    return rf"{a.value}\ge {b.value}+\langle {b.gradient},{_difference(a.point, b.point)}\rangle"


def _difference(a: str, b: str) -> str:
    return f"{a}-({b})" if "+" in b or "-" in b else f"{a}-{b}"
