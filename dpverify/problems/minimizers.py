"""Empirical minimizers with a duality gap that does not rest on a solver's word.

A convex solver proposes a point and dual variables. The point, projected onto the constraint set, gives an
upper bound on the minimum; weak duality gives a lower bound from any dual variables whatever:

- Fenchel: f_i(w) >= <a_i, w> - f_i^*(a_i) for every a_i, so the mean risk is at least
  -(1/n) sum f_i^*(a_i) + min over C of <(1/n) sum a_i, w> + (ridge / 2) ||w||^2;
- first order, at any point u with mean (sub)gradient g and strong convexity m:
  risk(u) + min over C of <g, w - u> + (m / 2) ||w - u||^2, which is the Frank-Wolfe gap for m = 0 and
  ||g||^2 / (2 m) below risk(u) on all space.

Both minima over C are closed forms (a support function, or a projection). The bounds are exact statements in
real arithmetic, evaluated in double precision; an allowance for rounding is taken off (see `_allowance`), but
the interval is not outward-rounded and says so (`rigorous` is False).
"""

from __future__ import annotations

import contextlib
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.evidence import Interval
from dpverify.problems.arrays import check_real
from dpverify.problems.constraint_sets import AllSpace, ConstraintSet
from dpverify.problems.datasets import Dataset
from dpverify.problems.losses import Displacement, GeneralizedLinear
from dpverify.problems.problem import Problem, without_ridge

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CertifiedMinimum:
    """A point of the constraint set and an interval around the smallest mean risk.

    `point` has shape (d,) and attains `value.upper`; `duality_gap` is the interval's length. In units of
    loss.
    """

    point: Matrix
    value: Interval
    duality_gap: float


def minimize(problem: Problem, data: Dataset, *, largest_gap: float = math.inf) -> CertifiedMinimum:
    """Minimize the mean risk, with a certified duality gap.

    Args:
        problem: loss and constraint set. Built-in losses are given to Clarabel through CVXPY; others must be
        smooth
            and are minimized by accelerated projected gradient descent.
        data: n records of the constraint set's dimension.
        largest_gap: refuse a wider interval, in units of loss. Without it, a minimum that could not be found
        (or
            that does not exist: a linear loss on all space) shows as a wide or infinite interval.

    Raises:
        InvalidArgumentError: if `data` does not fit, if a custom loss has no finite smoothness, or if the
        lower bound
            lies above an attained value, which happens only if the loss's conjugate or gradient is wrong.
        InvalidDataError: if the gap exceeds `largest_gap`, or if a loss for two classes meets a label other
        than
            -1 and 1.
    """
    check_real("largest_gap", largest_gap, above=0.0, allow_infinite=True)
    data = data.as_namespace(np)
    _check_data(problem, data)
    proposal, duals = _propose(problem, data)
    candidates = problem.constraint.project(np.stack([proposal, problem.constraint.center()]))
    risks = problem.mean_risk(candidates, data)
    point = candidates[int(np.argmin(risks))]
    minimum = certify(problem, data, point, duals)
    if not minimum.duality_gap <= largest_gap:
        raise InvalidDataError(
            f"The minimum on {data.name} is only known up to a duality gap of {minimum.duality_gap:.3g}; "
            f"allowed is at most {largest_gap:.3g}."
        )
    return minimum


def certify(
    problem: Problem, data: Dataset, point: Matrix, duals: tuple[Matrix, ...] = ()
) -> CertifiedMinimum:
    """The certified minimum that a given point and given dual variables prove; both may come from anywhere.

    Args:
        problem: loss and constraint set.
        data: n records.
        point: shape (d,); it is projected onto the constraint set.
        duals: candidates for the a_i above, each of shape (n,) for a generalized linear loss (a_i is then the
        factor
            of x_i) or (n, d) for a displacement loss. Bad ones only widen the interval.

    Raises:
        InvalidArgumentError: if the shapes do not fit or the loss contradicts itself (see `minimize`).
    """
    if np.shape(point) != (problem.constraint.dimension,):
        raise InvalidArgumentError("point", np.shape(point), f"shape ({problem.constraint.dimension},)")
    data = data.as_namespace(np)
    _check_data(problem, data)
    point = np.array(problem.constraint.project(np.array(point, dtype=np.float64)[None, :])[0])
    upper = float(problem.mean_risk(point[None, :], data)[0])
    upper += _allowance(data) * (abs(upper) + 1.0)
    # The bound at the center is seldom the better one, but it may show that the loss contradicts itself.
    lower = max(first_order_bound(problem, data, at) for at in (point, problem.constraint.center()))
    loss, _ = without_ridge(problem.loss)
    for dual in (*duals, *_own_duals(loss, data, point)):
        lower = max(lower, fenchel_bound(problem, data, dual))
    if lower > upper:
        raise InvalidArgumentError(
            "loss",
            problem.loss,
            f"one whose gradient, conjugate and strong convexity belong to its values (they give {lower!r} "
            f"as a lower bound on the risk {upper!r})",
        )
    point.flags.writeable = False
    return CertifiedMinimum(point, Interval(lower=lower, upper=upper), upper - lower)


def first_order_bound(problem: Problem, data: Dataset, point: Matrix) -> float:
    """Lower bound on the smallest mean risk from the (sub)gradient at one point of shape (d,).

    Rests on the loss's gradient, and on its declared strong convexity.
    """
    risk = float(problem.mean_risk(point[None, :], data)[0])
    gradient = problem.mean_gradient(point[None, :], data)[0]
    curvature = problem.loss.strong_convexity
    if curvature > 0.0:
        # <g, w - u> + (m / 2) ||w - u||^2 is smallest on C at the projection of u - g / m.
        closest = problem.constraint.project((point - gradient / curvature)[None, :])[0]
        change = float(gradient @ (closest - point) + 0.5 * curvature * np.sum((closest - point) ** 2))
    else:
        change = _smallest_linear(problem.constraint, gradient) - float(gradient @ point)
    size = abs(risk) + float(np.linalg.norm(gradient)) * (1.0 + float(np.linalg.norm(point))) + abs(change)
    return risk + change - _allowance(data) * size if math.isfinite(change) else -math.inf


def fenchel_bound(problem: Problem, data: Dataset, dual: Matrix) -> float:
    """Lower bound on the smallest mean risk from any dual variables, of shape (n,) or (n, d) (see `certify`).

    Rests on the loss's conjugate. Variables outside its domain give -inf.

    Raises:
        InvalidArgumentError: if the loss has no conjugate, or the shape does not fit it.
    """
    loss, ridge = without_ridge(problem.loss)
    if isinstance(loss, GeneralizedLinear):
        shape: tuple[int, ...] = (data.n,)
    elif isinstance(loss, Displacement):
        shape = (data.n, data.d)
    else:
        raise InvalidArgumentError(
            "loss", loss, "a generalized linear or a displacement loss, for a dual bound"
        )
    if np.shape(dual) != shape or not np.all(np.isfinite(dual)):
        raise InvalidArgumentError("dual", np.shape(dual), f"finite numbers of shape {shape}")
    if isinstance(loss, GeneralizedLinear):
        conjugates = loss.link_conjugate(dual, data.labels)
        slope = dual @ data.features / data.n
    else:
        conjugates = loss.conjugate(dual, data.features)
        slope = np.mean(dual, axis=0)
    average = float(np.mean(conjugates))
    if not math.isfinite(average):
        return -math.inf
    noise = _allowance(data) * float(np.mean(np.abs(dual)))
    if isinstance(problem.constraint, AllSpace) and ridge == 0.0:
        # The sum of a_i must vanish; what is left of it is rounding, or the bound is void.
        smallest = 0.0 if float(np.max(np.abs(slope))) <= noise else -math.inf
    elif ridge > 0.0:
        # <v, w> + (r / 2) ||w||^2 is smallest on C at the projection of -v / r.
        closest = problem.constraint.project((-slope / ridge)[None, :])[0]
        smallest = float(slope @ closest + 0.5 * ridge * (closest @ closest))
    else:
        smallest = _smallest_linear(problem.constraint, slope)
    size = float(np.mean(np.abs(conjugates))) + abs(smallest)
    return smallest - average - _allowance(data) * size - noise


def _smallest_linear(constraint: ConstraintSet, slope: Matrix) -> float:
    return -float(constraint.support(-slope[None, :])[0])


def _allowance(data: Dataset) -> float:
    """Relative room for the rounding of sums over n records and d features, in double precision."""
    return 4.0 * (data.n + data.d + 16) * float(np.finfo(np.float64).eps)


def _own_duals(loss: Any, data: Dataset, point: Matrix) -> tuple[Matrix, ...]:
    """Dual variables that need no solver: the derivatives at the point, and 0, brought into the domain."""
    if isinstance(loss, GeneralizedLinear):
        slopes = np.asarray(loss.link_slope(data.features @ point, data.labels))
        zeros = np.asarray(loss.nearest_dual(np.zeros(data.n), data.labels))
        return slopes, _balanced(loss, data, slopes), zeros
    if isinstance(loss, Displacement):
        return (np.asarray(loss.nearest_dual(np.zeros((data.n, data.d)))),)
    return ()


def _check_data(problem: Problem, data: Dataset) -> None:
    if data.d != problem.constraint.dimension:
        raise InvalidArgumentError("data", f"{data.d} features", f"{problem.constraint.dimension} features")
    loss, _ = without_ridge(problem.loss)
    if getattr(loss, "binary", False) and not bool(np.all(np.abs(data.labels) == 1.0)):
        raise InvalidDataError(f"{type(loss).__name__} needs labels -1 and 1, and {data.name} has others.")


def _propose(problem: Problem, data: Dataset) -> tuple[Matrix, tuple[Matrix, ...]]:
    """A point and dual variables, neither to be trusted."""
    loss, ridge = without_ridge(problem.loss)
    if not isinstance(loss, GeneralizedLinear | Displacement):
        return _descend(problem, data), ()
    import cvxpy

    variable = cvxpy.Variable(data.d)
    if isinstance(loss, GeneralizedLinear):
        inner = cvxpy.Variable(data.n)
        link = inner == data.features @ variable
        total = cvxpy.sum(loss.cvxpy_link(inner, data.labels))
    else:
        inner = cvxpy.Variable((data.n, data.d))
        link = inner == np.ones((data.n, 1)) @ cvxpy.reshape(variable, (1, data.d), order="C") - data.features
        total = loss.cvxpy_sum(inner)
    objective = total / data.n + (0.5 * ridge) * cvxpy.sum_squares(variable)
    program = cvxpy.Problem(
        cvxpy.Minimize(objective), [link, *problem.constraint.cvxpy_constraints(variable)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the solver thinks of its result does not matter
        with contextlib.suppress(cvxpy.error.SolverError):
            program.solve(solver=cvxpy.CLARABEL)
    point = problem.constraint.center()
    if variable.value is not None and np.all(np.isfinite(variable.value)):
        point = np.asarray(variable.value, dtype=np.float64)
    if link.dual_value is None or not np.all(np.isfinite(link.dual_value)):
        return point, ()
    multipliers = data.n * np.asarray(link.dual_value, dtype=np.float64)
    return point, tuple(
        _feasible(loss, ridge, problem.constraint, data, sign * multipliers) for sign in (1.0, -1.0)
    )


def _feasible(
    loss: GeneralizedLinear | Displacement,
    ridge: float,
    constraint: ConstraintSet,
    data: Dataset,
    dual: Matrix,
) -> Matrix:
    """Bring a solver's dual variables into the conjugate's domain and, on all space, to a vanishing sum."""
    vanish = isinstance(constraint, AllSpace) and ridge == 0.0
    if isinstance(loss, GeneralizedLinear):
        return _balanced(loss, data, dual) if vanish else np.asarray(loss.nearest_dual(dual, data.labels))
    if vanish:
        centered = dual - np.mean(dual, axis=0)
        # One factor for all rows, so that the sum stays 0.
        lengths = np.linalg.norm(centered, axis=1)
        allowed = np.linalg.norm(loss.nearest_dual(centered), axis=1)
        return np.asarray(
            centered * float(np.min(allowed[lengths > 0.0] / lengths[lengths > 0.0], initial=1.0))
        )
    return np.asarray(loss.nearest_dual(dual))


def _balanced(loss: GeneralizedLinear, data: Dataset, dual: Matrix) -> Matrix:
    """Change dual variables as little as is needed for sum a_i x_i = 0, within the conjugate's domain.

    Variables change in proportion to the square of their room in the domain: those on its border stay.
    """
    dual = np.asarray(loss.nearest_dual(dual, data.labels))
    for _ in range(3):
        above = loss.nearest_dual(dual + 1.0, data.labels) - dual
        below = dual - loss.nearest_dual(dual - 1.0, data.labels)
        room = np.minimum(above, below)
        weighted = data.features * room[:, None]
        dual = dual - room * np.linalg.lstsq(weighted.T, data.features.T @ dual, rcond=None)[0]
        dual = np.asarray(loss.nearest_dual(dual, data.labels))
    return dual


def _descend(problem: Problem, data: Dataset, steps: int = 5000) -> Matrix:
    """Accelerated projected gradient descent (Nesterov 1983, with restarts), for smooth losses."""
    smoothness = problem.loss.smoothness
    if not math.isfinite(smoothness):
        raise InvalidArgumentError(
            "loss", problem.loss, "a built-in loss, or one with finite smoothness, to minimize"
        )
    point = problem.constraint.center()[None, :]
    ahead, momentum = point, 1.0
    for _ in range(steps if smoothness > 0.0 else 0):
        gradient = problem.mean_gradient(ahead, data)
        new = problem.constraint.project(ahead - gradient / smoothness)
        if float(np.sum((ahead - new) * (new - point))) > 0.0:
            momentum = 1.0  # the momentum points uphill
        following = 0.5 + math.sqrt(0.25 + momentum**2)
        ahead = new + ((momentum - 1.0) / following) * (new - point)
        if (
            float(np.linalg.norm(new - point)) <= 1e-14 * (1.0 + float(np.linalg.norm(new)))
            and momentum > 1.0
        ):
            point = new
            break
        point, momentum = new, following
    return np.asarray(point[0])
