"""Vectors at which an inequality between inner products fails although others hold, proposed by numbers.

Clarabel looks for a positive semidefinite Gram matrix with as much room as there is; its factors, rounded to fractions,
are the vectors. Whoever asks has to work out whether they are a counterexample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import clarabel
import numpy as np
from scipy.sparse import csc_matrix

from dpverify.proving.reasoning.gram.inner_products import Form, InnerProducts, is_entry

_LENGTH = 16.0
"""Largest sum of the vectors' squared lengths."""
_FAR = 64.0
"""Largest value of a letter without bounds."""
_ROOM = 1e-6
"""By how much a claim must fail, and assumptions hold, so that rounding leaves some of it."""
_DENOMINATORS = (1, 2, 4, 10, 100, 1_000, 10_000)


def is_linear(form: Form) -> bool:
    """Whether a form is linear in the Gram matrix and in letters."""
    return all(not m or is_entry(m) or (len(m) == 1 and m[0][0] == "letter") for m in form)


def proposed(
    products: InnerProducts,
    names: list[str],
    target: Form,
    facts: Sequence[tuple[Form, bool]],
    at: Mapping[str, Fraction],
) -> Iterator[dict[str, Any]]:
    """Points at which the target is negative and the facts (each with whether it is an equality) hold, or nearly so.

    All forms are linear; letters of coefficients have their values from `at`.
    """
    unknown = sorted(v.name for v in products.unknown)
    rows = [_row(products, names, unknown, form, at) for form in (target, *(form for form, _ in facts))]
    if any(row is None for row in rows):
        return
    k = len(names)
    entries = k * (k + 1) // 2
    width = entries + len(unknown) + 1
    goal, *rest = [np.array(row) for row in rows]

    def line(row: Any, room: float) -> Any:
        return np.concatenate([row[:-1], [room]])

    equal = [(line(row, 0.0), -row[-1]) for row, (_, equality) in zip(rest, facts, strict=True) if equality]
    above = [
        (line(-row, 1.0), row[-1]) for row, (_, equality) in zip(rest, facts, strict=True) if not equality
    ]
    # target + room <= 0, room <= 1, the vectors and letters not too long
    above += [(line(goal, 1.0), -goal[-1]), (_unit(width, width - 1), 1.0)]
    trace = np.zeros(width)
    trace[[j * (j + 3) // 2 for j in range(k)]] = 1.0
    above.append((trace, _LENGTH))
    for u in range(entries, width - 1):
        above += [(_unit(width, u), _FAR), (-_unit(width, u), _FAR)]
    whole = -np.eye(entries, width)
    a = np.vstack([row for row, _ in (*equal, *above)] + [whole])
    b = np.concatenate([[bound for _, bound in (*equal, *above)], np.zeros(entries)])
    cones = [clarabel.ZeroConeT(len(equal))] if equal else []
    cones += [clarabel.NonnegativeConeT(len(above)), clarabel.PSDTriangleConeT(k)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 100
    cost = -_unit(width, width - 1)
    solver = clarabel.DefaultSolver(csc_matrix((width, width)), cost, csc_matrix(a), b, cones, settings)
    solution = solver.solve()
    x = np.array(solution.x)
    if str(solution.status) not in ("Solved", "AlmostSolved") or not x[-1] > _ROOM:
        return
    yield from _rounded(names, unknown, x)


def _row(
    products: InnerProducts, names: list[str], unknown: list[str], form: Form, at: Mapping[str, Fraction]
) -> list[float] | None:
    """A form's coefficients of the scaled upper half of the matrix, of the letters, and of 1."""
    monomials: list[tuple[Any, float]] = []
    for j in range(len(names)):
        for i in range(j + 1):
            pair = sorted((names[i], names[j]))
            monomials.append(((("dot", *pair),), 1.0 if i == j else 1 / math.sqrt(2)))
    monomials += [((("letter", name),), 1.0) for name in unknown]
    found = []
    for monomial, size in (*monomials, ((), 1.0)):
        value = products.at(form.get(monomial, products.number(0)), at)
        if value is None:
            return None
        found.append(float(value) * size)
    return found


def _unit(width: int, place: int) -> Any:
    found = np.zeros(width)
    found[place] = 1.0
    return found


def _rounded(names: list[str], unknown: list[str], x: Any) -> Iterator[dict[str, Any]]:
    """The vectors of a Gram matrix and the letters, with larger and larger denominators."""
    k = len(names)
    gram = np.zeros((k, k))
    place = 0
    for j in range(k):
        for i in range(j + 1):
            gram[i, j] = gram[j, i] = x[place] if i == j else x[place] / math.sqrt(2)
            place += 1
    values, directions = np.linalg.eigh(gram)
    kept = values > 1e-7 * max(values.max(), 1e-300)
    factors = directions[:, kept] * np.sqrt(values[kept])
    # on the line that is nearest to all of them, then in as many dimensions as it takes, with zeros above the diagonal
    for shown in (factors[:, -1:], np.linalg.qr(factors.T)[1].T):
        for bound in _DENOMINATORS:
            point: dict[str, Any] = {
                name: tuple(Fraction(float(c)).limit_denominator(bound) for c in row)
                for name, row in zip(names, shown, strict=True)
            }
            for name, value in zip(unknown, x[place:-1], strict=True):
                point[name] = Fraction(float(value)).limit_denominator(bound)
            yield point
