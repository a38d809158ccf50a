"""Dual variables that cancel exactly, and least squares without rounding: rational linear algebra on doubles.

On all space a dual bound holds only if sum a_i x_i = 0 exactly, which sums of doubles never are. Doubles are rational
numbers with a power of two as denominator, so the sum's remainder can be computed and moved into the a_i without an
error, however nearly dependent the features are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpz, fmpz_mat

from dpverify.problems.enclosures import PRECISION

Vector = npt.NDArray[np.float64]

_SMALLEST_WEIGHT = 2.0**-200  # weights that are smaller, relative to the largest one, count as 0


def orthogonal(features: Vector, dual: Vector, room: Vector) -> list[arb] | None:
    """Balls around variables a' close to `dual` with sum a'_i x_i = 0 exactly; None if there are none.

    The change is room_i^2 <x_i, v> (rooms being rounded to powers of two), so variables without room stay as they are.
    Features have shape (n, d), variables and rooms (n,); a room is a scale, not a limit.
    """
    weights = _weights(room)
    solution = _normal_equations(features, dual, weights)
    if solution is None:
        return None
    return _moved(features, dual, weights, solution)


def least_squares(features: Vector, labels: Vector) -> Vector:
    """A minimizer of sum (<w, x_i> - y_i)^2, exact but for one rounding of each coordinate, shape (d,)."""
    solution = _normal_equations(features, labels, np.ones(labels.size))
    assert solution is not None  # the normal equations of ordinary least squares always have a solution
    with ctx.workprec(PRECISION):
        return np.array([float(v) for v in _coordinates(*solution)])


def _coordinates(numerators: list[fmpz], denominator: fmpz, columns: list[int]) -> list[arb]:
    return [arb(n) / arb(denominator) * arb(2) ** -k for n, k in zip(numerators, columns, strict=True)]


def _weights(room: Vector) -> Vector:
    """Squared rooms, rounded down to powers of two."""
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        weights = np.where(room > 0.0, np.exp2(2.0 * np.floor(np.log2(np.minimum(room, 2.0**500)))), 0.0)
    return np.where(weights >= _SMALLEST_WEIGHT * np.max(weights, initial=0.0), weights, 0.0)


def _normal_equations(
    features: Vector, target: Vector, weights: Vector
) -> tuple[list[fmpz], fmpz, list[int]] | None:
    """Numerators, denominator and k, v_j being n_j / m / 2^(k_j), of (sum weight_i x_i x_i^T) v = sum target_i x_i."""
    columns = [_exponent(features[:, j]) for j in range(features.shape[1])]
    x = fmpz_mat([list(map(_scaled, row, columns)) for row in features.tolist()])
    # (sum weight z z^T) u = sum target z for z = 2^columns x, of which v = 2^columns u is a solution in x; scaled so
    # that everything is a whole number
    light, small = _exponent(weights), _exponent(target)
    rows = zip(weights.tolist(), x.tolist(), strict=True)
    weighted = fmpz_mat([[_scaled(weight, light) * entry for entry in row] for weight, row in rows])
    t = fmpz_mat([[_scaled(value, small)] for value in target.tolist()])
    gram, right = weighted.transpose() * x, x.transpose() * t
    d = features.shape[1]
    augmented = fmpz_mat([[*left, *last] for left, last in zip(gram.tolist(), right.tolist(), strict=True)])
    reduced, denominator, rank = augmented.rref()
    numerators = [fmpz(0)] * d
    for i in range(rank):
        pivot = next(j for j in range(d + 1) if reduced[i, j] != 0)
        if pivot == d:
            return None
        numerators[pivot] = reduced[i, d]
    # gram is 2^light times the scaled one, the right side 2^small times
    shift = small - light
    return numerators, denominator, [shift - k for k in columns]


def _moved(
    features: Vector, dual: Vector, weights: Vector, solution: tuple[list[fmpz], fmpz, list[int]]
) -> list[arb]:
    numerators, denominator, columns = solution
    # the inner products <x_i, v> may be much smaller than their terms
    largest = max((abs(int(v)).bit_length() for v in numerators), default=0)
    size = max(0, largest - abs(int(denominator)).bit_length() + max(0, -min(columns)))
    moved = []
    with ctx.workprec(PRECISION + min(size, 1 << 14)):
        v = _coordinates(*solution)
        for row, a, weight in zip(features.tolist(), dual.tolist(), weights.tolist(), strict=True):
            if weight == 0.0:
                moved.append(arb(a))
            else:
                change = sum((arb(x) * u for x, u in zip(row, v, strict=True)), arb(0))
                moved.append(arb(a) - arb(weight) * change)
    return moved


def _exponent(values: Vector) -> int:
    """A k for which every value times 2^k is a whole number."""
    found = []
    for value in values.tolist():
        if value != 0.0:
            whole, denominator = value.as_integer_ratio()
            factors_of_two = (whole & -whole).bit_length() - 1
            found.append(denominator.bit_length() - 1 or -factors_of_two)
    return max(found, default=0)


def _scaled(value: float, k: int) -> fmpz:
    numerator, denominator = value.as_integer_ratio()
    shift = k - (denominator.bit_length() - 1)
    return fmpz(numerator << shift) if shift >= 0 else fmpz(numerator >> -shift)
