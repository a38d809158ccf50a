"""Empirical minimizers with a duality gap that does not rest on a solver's word.

A convex solver proposes a point and dual variables. The point, projected onto the constraint set, gives an
upper bound on the minimum; weak duality gives a lower bound from any dual variables whatever:

- Fenchel: f_i(w) >= <a_i, w> - f_i^*(a_i) for every a_i, so the mean risk is at least
  -(1/n) sum f_i^*(a_i) + min over C of <(1/n) sum a_i, w> + (ridge / 2) ||w||^2;
- first order, at any point u with mean (sub)gradient g and strong convexity m:
  risk(u) + min over C of <g, w - u> + (m / 2) ||w - u||^2, which is the Frank-Wolfe gap for m = 0 and
  ||g||^2 / (2 m) below risk(u) on all space.

Both minima over C are closed forms (a support function, or a projection). On all space, without a ridge, the first is
minus infinity unless sum a_i x_i is exactly 0: what is left of a sum of doubles is moved into the a_i in rational
arithmetic (`exact_duals`), never taken for 0.

For the losses and sets of this package both ends are evaluated with balls and rounded outward (`enclosures`), and the
interval says that it is `rigorous`. For a user's own loss or set its methods are all there is: they are evaluated in
double precision, and room for rounding is left in proportion to the largest terms.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb, ctx

from dpverify import checks
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.records import Interval
from dpverify.problems import enclosures
from dpverify.problems.conic import ConicProgram
from dpverify.problems.constraint_sets import AllSpace, ConstraintSet
from dpverify.problems.datasets import Dataset
from dpverify.problems.displacements import ContractOrDrift, Displacement, EuclideanDistance
from dpverify.problems.exact_duals import least_squares, orthogonal
from dpverify.problems.losses import GeneralizedLinear, Linear, Ridge, Squared
from dpverify.problems.problem import Problem, without_ridge

Matrix = npt.NDArray[np.float64]

_SHRINKAGES = (0.0, 2.0**-40, 2.0**-20, 2.0**-7)
"""Dual variables on the border of their domain leave no room to make a sum vanish; shrunk ones do."""

_FAR = 100.0
"""In larger sets a dual remainder of the size of rounding costs much: there, too, sums are made to vanish exactly."""

_LENGTHS = tuple(4.0**k for k in range(1, 6))
"""Multiples of a proposal that are tried on all space, where a risk may have no minimizer."""


@dataclass(frozen=True, eq=False)
class CertifiedMinimum:
    """A point of the constraint set and an interval around the smallest mean risk.

    `point` has shape (d,); its mean risk is at most `value.upper`, and that by no more than rounding. `duality_gap` is
    the interval's length. In units of loss. `value.rigorous` says whether both ends are rounded outward.
    """

    point: Matrix
    value: Interval
    duality_gap: float


@contextlib.contextmanager
def _in_balls() -> Iterator[None]:
    """Precision for balls, which are wide where floats would warn."""
    with ctx.workprec(enclosures.PRECISION), np.errstate(all="ignore"):
        yield


def minimize(problem: Problem, data: Dataset, *, largest_gap: float = math.inf) -> CertifiedMinimum:
    """Minimize the mean risk, with a certified duality gap.

    Args:
        problem: built-in losses are given to Clarabel; others must be smooth and are minimized by accelerated
            projected gradient descent.
        data: n records of the constraint set's dimension.
        largest_gap: refuse a wider interval, in units of loss. Without it, a minimum that could not be found
            (or that does not exist: a linear loss on all space) shows as a wide or infinite interval.

    Raises:
        InvalidArgumentError: if `data` does not fit, if a custom loss has no finite smoothness, or if the
            lower bound lies above an attained value, which happens only if a custom loss's conjugate or gradient
            is wrong.
        InvalidDataError: if the gap exceeds `largest_gap`, or if a loss for two classes meets a label other
            than -1 and 1.
    """
    checks.number("largest_gap", largest_gap, above=0.0, finite=False)
    checks.of_kind("problem", problem, Problem)
    checks.of_kind("data", data, Dataset)
    data = data.as_namespace(np)
    _check_data(problem, data)
    proposals, duals = _propose(problem, data)
    with np.errstate(all="ignore"):
        proposals += [problem.constraint.center(), *_further_proposals(problem, data, proposals)]
        candidates = problem.constraint.project(np.stack([p for p in proposals if np.all(np.isfinite(p))]))
        risks = np.asarray(problem.mean_risk(candidates, data))
    point = candidates[int(np.argmin(np.where(np.isnan(risks), math.inf, risks)))]
    minimum = certify(problem, data, point, duals)
    if not minimum.duality_gap <= largest_gap:
        raise InvalidDataError(
            f"The minimum on {data.name} is known only up to a duality gap of {minimum.duality_gap:.3g}; "
            f"allowed: at most {largest_gap:.3g}."
        )
    return minimum


def certify(
    problem: Problem, data: Dataset, point: Matrix, duals: tuple[Matrix, ...] = ()
) -> CertifiedMinimum:
    """The certified minimum that a given point and given dual variables prove; both may come from anywhere.

    Args:
        problem: loss and constraint set.
        data: n records.
        point: shape (d,), finite; it is projected onto the constraint set.
        duals: candidates for the a_i above, each of shape (n,) for a generalized linear loss (a_i is then the
            factor of x_i) or (n, d) for a displacement loss. Bad ones only widen the interval. On all space,
            without a ridge, they are changed until their sum vanishes exactly.

    Raises:
        InvalidArgumentError: if the shapes do not fit or a custom loss contradicts itself (see `minimize`).
    """
    checks.of_kind("problem", problem, Problem)
    checks.of_kind("data", data, Dataset)
    if np.shape(point) != (problem.constraint.dimension,) or not np.all(np.isfinite(point)):
        allowed = f"finite numbers of shape ({problem.constraint.dimension},)"
        raise InvalidArgumentError("point", np.shape(point), allowed)
    data = data.as_namespace(np)
    _check_data(problem, data)
    point = np.array(problem.constraint.project(np.array(point, dtype=np.float64)[None, :])[0])
    loss, ridge = without_ridge(problem.loss)
    for dual in duals:
        _check_dual(loss, data, dual)
    rigorous = _is_known(problem) and enclosures.knows_set(problem.constraint)
    with _in_balls():
        upper = _upper_end(problem, data, point, rigorous)
        # The bound at the center is seldom the better one, but it may show that the loss contradicts itself.
        lower = max(first_order_bound(problem, data, at) for at in (point, problem.constraint.center()))
        for dual in (*duals, *_own_duals(loss, data, point)):
            lower = max(lower, fenchel_bound(problem, data, dual))
            if ridge == 0.0 and problem.constraint.largest_norm > _FAR:
                bounds = (
                    fenchel_bound(problem, data, exact, vanishing=True)
                    for exact in _vanishing(problem, data, dual)
                )
                # stronger shrinkages are a last resort
                lower = max(lower, next((bound for bound in bounds if bound > -math.inf), -math.inf))
    if lower > upper:
        raise InvalidArgumentError(
            "loss",
            problem.loss,
            f"one whose gradient, conjugate and strong convexity belong to its values (they give {lower!r} "
            f"as a lower bound on the risk {upper!r})",
        )
    point.flags.writeable = False
    value = Interval(lower=lower, upper=upper, rigorous=rigorous)
    return CertifiedMinimum(point, value, upper - lower)


def _upper_end(problem: Problem, data: Dataset, point: Matrix, rigorous: bool) -> float:
    """At least the risk at a point of the set, at `point`, and what is computed for it in double precision."""
    computed = float(problem.mean_risk(point[None, :], data)[0])
    if math.isnan(computed):
        computed = math.inf
    if not rigorous:
        return computed + _noise(problem, data, point)
    loss, ridge = without_ridge(problem.loss)
    inside = enclosures.feasible(problem.constraint, point)
    ends = [computed] if math.isfinite(computed) else []
    # the point itself may be outside of the set by rounding, where its risk is no bound on the minimum
    for at in (inside, enclosures.balls(point.tolist())):
        ends.append(enclosures.above(enclosures.mean_risk(loss, ridge, at, data)))
    return max(ends)


@_in_balls()
def first_order_bound(problem: Problem, data: Dataset, point: Matrix) -> float:
    """Lower bound on the smallest mean risk from the (sub)gradient at one point of shape (d,).

    Rests on the loss's gradient, and on its declared strong convexity; for the losses of this package on nothing.
    """
    loss, ridge = without_ridge(problem.loss)
    if not _is_known(problem):
        return _first_order_in_doubles(problem, data, point)
    if isinstance(loss, ContractOrDrift):
        # risk(u) + <g, w - u>, the ridge apart
        u = enclosures.balls(point.tolist())
        gradient = enclosures.mean_gradient_of_drift(u, data)
        constant = enclosures.mean_risk(loss, 0.0, u, data) - enclosures.inner(gradient, u)
        return _smallest(problem, data, gradient, constant, ridge)
    assert isinstance(loss, GeneralizedLinear | Displacement)
    return max(fenchel_bound(problem, data, dual) for dual in _derivatives(loss, data, point))


def _first_order_in_doubles(problem: Problem, data: Dataset, point: Matrix) -> float:
    risk = float(problem.mean_risk(point[None, :], data)[0])
    gradient = problem.mean_gradient(point[None, :], data)[0]
    curvature = problem.constants.strong_convexity
    if curvature > 0.0:
        # <g, w - u> + (m / 2) ||w - u||^2 is smallest on C at the projection of u - g / m.
        closest = problem.constraint.project((point - gradient / curvature)[None, :])[0]
        change = float(gradient @ (closest - point) + 0.5 * curvature * np.sum((closest - point) ** 2))
    else:
        support = float(problem.constraint.support(-gradient[None, :])[0])
        change = -support - float(gradient @ point)
    bound = risk + change - _noise(problem, data, point) - 64.0 * np.finfo(np.float64).eps * abs(change)
    return bound if math.isfinite(bound) else -math.inf


def _noise(problem: Problem, data: Dataset, point: Matrix) -> float:
    """Room for the rounding of a custom loss's risk and gradient at a point, in proportion to the terms added up."""
    size = float(np.linalg.norm(point))
    total = 0.0
    for x, y in zip(data.features, data.labels, strict=True):
        gradient = problem.loss.gradient(point[None, :], x, y)[0]
        reach = 1.0 + size + float(np.linalg.norm(x))
        total += abs(float(problem.loss.value(point[None, :], x, y)[0]))
        total += float(np.linalg.norm(gradient)) * reach
    noise = _allowance(data) * total / data.n
    return noise if math.isfinite(noise) else math.inf


@_in_balls()
def fenchel_bound(
    problem: Problem, data: Dataset, dual: Matrix | Sequence[Any], *, vanishing: bool = False
) -> float:
    """Lower bound on the smallest mean risk from dual variables, as doubles or as balls.

    Rests on the loss's conjugate. Variables outside its domain give -inf; so do, on all space and without a ridge,
    variables with a sum that is not exactly 0: `vanishing` says that it is.
    """
    loss, ridge = without_ridge(problem.loss)
    assert isinstance(loss, GeneralizedLinear | Displacement)
    linear = isinstance(loss, GeneralizedLinear)
    variables = [arb(v) for v in dual] if linear else [[arb(v) for v in row] for row in dual]
    if _is(loss, EuclideanDistance) and not vanishing:
        # exactly inside of the unit ball, where rounding has left it
        variables = _into_unit_ball(variables)
    total = _conjugates(problem, loss, data, variables)
    if total is None:
        return -math.inf
    if vanishing:
        slope = [arb(0)] * data.d
    elif linear:
        weighted = enclosures.matrix(data.features).transpose() * enclosures.column(variables)
        slope = [s / data.n for s in weighted.entries()]
    else:
        slope = [sum((row[j] for row in variables), arb(0)) / data.n for j in range(data.d)]
    return _smallest(problem, data, slope, -total / data.n, ridge)


def _conjugates(
    problem: Problem, loss: GeneralizedLinear | Displacement, data: Dataset, variables: Sequence[Any]
) -> arb | None:
    """An upper bound on the sum of the conjugates; None where one is infinite, or may be."""
    sizes = variables
    if isinstance(loss, GeneralizedLinear):
        if _is_known(problem):
            return enclosures.link_conjugate_sum(loss, variables, enclosures.balls(data.labels.tolist()))
        # convex, so at most the larger of the values at a ball's ends
        ends = (np.array([end(a) for a in variables]) for end in (enclosures.below, enclosures.above))
        values = np.stack([np.asarray(loss.link_conjugate(end, data.labels)) for end in ends])
    else:
        if _is_known(problem):
            return enclosures.displacement_conjugate_sum(loss, variables, data)
        sizes = [enclosures.norm(row) for row in variables]
        middle = np.array([[float(a.mid()) for a in row] for row in variables])
        values = np.asarray(loss.conjugate(middle, data.features))[None, :]
    if not np.all(np.isfinite(values)):
        return None
    # a custom loss's, with room for their rounding
    largest = np.max(values, axis=0)
    terms = float(np.sum(np.abs(largest))) + sum(abs(float(size)) for size in sizes)
    return arb(float(np.sum(largest))) + arb(_allowance(data) * terms)


def _smallest(problem: Problem, data: Dataset, slope: Sequence[arb], constant: arb, ridge: float) -> float:
    """A lower bound on constant + <slope, w> + (ridge / 2) ||w||^2 over the constraint set."""
    constraint, middle = problem.constraint, np.array([float(s.mid()) for s in slope])
    near = constraint.center()
    if ridge > 0.0:
        # smallest on C at the projection of -slope / ridge
        near = np.asarray(constraint.project((-middle / ridge)[None, :])[0])
        if not np.all(np.isfinite(near)):
            near = constraint.center()
    if enclosures.knows_set(constraint):
        if ridge > 0.0:
            least = enclosures.smallest_quadratic(constraint, slope, ridge, near)
            return enclosures.below(constant + arb(least)) if math.isfinite(least) else -math.inf
        return enclosures.below(constant + enclosures.smallest_linear(constraint, slope))
    tangent = middle + ridge * near
    least = -float(constraint.support(-tangent[None, :])[0]) - 0.5 * ridge * float(near @ near)
    room = _allowance(data) * (abs(least) + float(np.linalg.norm(middle)) + ridge * float(near @ near))
    return enclosures.below(constant + arb(least - room)) if math.isfinite(least - room) else -math.inf


def _allowance(data: Dataset) -> float:
    """Relative room for the rounding of sums over n records and d features, in double precision."""
    return 4.0 * (data.n + data.d + 16) * float(np.finfo(np.float64).eps)


def _into_unit_ball(rows: list[list[arb]]) -> list[list[arb]]:
    """Rows that may be longer than 1, shortened to 1."""
    shortened = []
    for row in rows:
        length = enclosures.norm(row)
        shortened.append(row if length <= 1 else [a / length.max(arb(1)) for a in row])
    return shortened


def _vanishing(problem: Problem, data: Dataset, dual: Matrix) -> Iterator[Any]:
    """Variables close to `dual`, as balls, inside of the conjugate's domain and with a sum that is exactly 0."""
    loss, _ = without_ridge(problem.loss)
    if isinstance(loss, GeneralizedLinear):
        dual = _balanced(loss, data, dual)
        for shrinkage in _SHRINKAGES:
            shrunk = _nearest_dual(loss, data, dual * (1.0 - shrinkage))
            exact = orthogonal(data.features, shrunk, _room(loss, data, shrunk))
            if exact is not None:
                yield exact
    elif isinstance(loss, Displacement):
        rows = [[arb(v) for v in row] for row in dual.tolist()]
        means = [sum((row[j] for row in rows), arb(0)) / data.n for j in range(data.d)]
        centered = [[a - mean for a, mean in zip(row, means, strict=True)] for row in rows]
        if _is(loss, EuclideanDistance):
            # One factor for all rows, so that the sum stays 0.
            longest = max(enclosures.above(enclosures.norm(row)) for row in centered)
            if longest > 1.0:
                centered = [[a / arb(longest) for a in row] for row in centered]
        elif not _is_known(problem):
            middle = np.array([[float(a.mid()) for a in row] for row in centered])
            lengths = np.linalg.norm(middle, axis=1)
            allowed = np.linalg.norm(loss.nearest_dual(middle), axis=1)
            factor = float(np.min(allowed[lengths > 0.0] / lengths[lengths > 0.0], initial=1.0))
            centered = [[a * arb(factor) for a in row] for row in centered]
        yield centered


def _derivatives(loss: GeneralizedLinear | Displacement, data: Dataset, point: Matrix) -> tuple[Matrix, ...]:
    """Dual variables that are the loss's derivatives at a point, brought into the conjugate's domain."""
    if isinstance(loss, GeneralizedLinear):
        slopes = np.asarray(loss.link_slope(data.features @ point, data.labels))
        return (_nearest_dual(loss, data, slopes),) if np.all(np.isfinite(slopes)) else ()
    at = np.repeat(point[None, :], data.n, axis=0)
    rows = np.asarray(loss.gradient(at, data.features, data.labels))  # type: ignore[attr-defined]
    return (rows,) if np.all(np.isfinite(rows)) else ()


def _own_duals(loss: Any, data: Dataset, point: Matrix) -> tuple[Matrix, ...]:
    """Dual variables that need no solver: the derivatives at the point, and 0, brought into the domain."""
    if not isinstance(loss, GeneralizedLinear | Displacement):
        return ()
    shape = data.n if isinstance(loss, GeneralizedLinear) else (data.n, data.d)
    slopes = _derivatives(loss, data, point) if hasattr(loss, "gradient") else ()
    return (*slopes, _nearest_dual(loss, data, np.zeros(shape)))


def _is(loss: object, kind: type) -> bool:
    """The same as isinstance, of which a type checker thinks that no loss can be of this type as well."""
    return isinstance(loss, kind)


def _is_known(problem: Problem) -> bool:
    """Whether the loss's values, conjugates and gradients can be enclosed by balls."""
    loss, _ = without_ridge(problem.loss)
    return enclosures.knows_loss(loss) and type(problem.loss) in (type(loss), Ridge)


def _check_dual(loss: Any, data: Dataset, dual: Matrix) -> None:
    if not isinstance(loss, GeneralizedLinear | Displacement):
        raise InvalidArgumentError(
            "loss", loss, "a generalized linear or a displacement loss, for a dual bound"
        )
    shape = (data.n,) if isinstance(loss, GeneralizedLinear) else (data.n, data.d)
    if np.shape(dual) != shape or not np.all(np.isfinite(dual)):
        raise InvalidArgumentError("dual", np.shape(dual), f"finite numbers of shape {shape}")


def _check_data(problem: Problem, data: Dataset) -> None:
    data.check_features(problem.constraint.dimension)
    loss, _ = without_ridge(problem.loss)
    if getattr(loss, "binary", False) and not bool(np.all(np.abs(data.labels) == 1.0)):
        raise InvalidDataError(f"{type(loss).__name__} needs labels -1 and 1, and {data.name} has others.")


def _further_proposals(problem: Problem, data: Dataset, proposals: list[Matrix]) -> list[Matrix]:
    """Points that closed forms propose, and on all space multiples of the solver's."""
    loss, ridge = without_ridge(problem.loss)
    if ridge or not isinstance(loss, GeneralizedLinear):
        return []
    if _is(loss, Linear) and not isinstance(problem.constraint, AllSpace):
        gradient = problem.mean_gradient(problem.constraint.center()[None, :], data)
        return [np.asarray(problem.constraint.minimize_linear(gradient)[0])]
    further = []
    if _is(loss, Squared) and problem.constraint.largest_norm > _FAR:
        further.append(least_squares(data.features, data.labels))
    if isinstance(problem.constraint, AllSpace):
        further.extend(factor * proposal for proposal in proposals for factor in _LENGTHS)
    return further


def _propose(problem: Problem, data: Dataset) -> tuple[list[Matrix], tuple[Matrix, ...]]:
    """Points and dual variables, none of them to be trusted."""
    loss, constraint = without_ridge(problem.loss)[0], problem.constraint
    conic = isinstance(loss, Displacement) or (isinstance(loss, GeneralizedLinear) and loss.has_conic_link)
    if not conic:
        return [_descend(problem, data)], ()
    proposals, duals = _solve(problem, data, constraint)
    if _FAR**2 < constraint.largest_norm < math.inf:
        # a solver loses itself in a large set, in which a minimizer may well be where it would be without the set
        more, other_duals = _solve(problem, data, AllSpace(constraint.dimension))
        return proposals + more, duals + other_duals
    return proposals, duals


def _solve(
    problem: Problem, data: Dataset, constraint: ConstraintSet
) -> tuple[list[Matrix], tuple[Matrix, ...]]:
    """What Clarabel proposes for the problem's loss on a constraint set."""
    loss, ridge = without_ridge(problem.loss)
    program = ConicProgram()
    variable = program.variables(data.d)
    unit = np.ones(data.d)
    if isinstance(loss, GeneralizedLinear):
        if isinstance(constraint, AllSpace) and ridge == 0.0:
            # nothing else sets a scale for each coordinate
            largest = np.max(np.abs(data.features), axis=0)
            unit = np.exp2(np.floor(np.log2(np.where(largest > 0.0, largest, 1.0))))
        inner = program.variables(data.n)
        link = program.zero(inner - variable.image(data.features / unit))
        loss.conic_link(program, inner, data.labels)
    else:
        assert isinstance(loss, Displacement)
        inner = program.variables(data.n * data.d)
        link = program.zero(inner - variable.repeated(data.n) + data.features.ravel())
        loss.conic_sum(program, inner, data.n)
    program.half_squares(variable * math.sqrt(data.n * ridge))
    constraint.conic_rows(program, variable)
    values, multipliers = program.solve(1 / data.n)
    point = values[: data.d] / unit
    points = [point] if np.all(np.isfinite(point)) else []
    if not np.all(np.isfinite(multipliers[link])):
        return points, ()
    multipliers = data.n * multipliers[link]
    if isinstance(loss, Displacement):
        multipliers = multipliers.reshape(data.n, data.d)
    return points, tuple(_nearest_dual(loss, data, dual) for dual in (multipliers, -multipliers))


def _nearest_dual(loss: GeneralizedLinear | Displacement, data: Dataset, dual: Matrix) -> Matrix:
    """Dual variables brought into the conjugate's domain."""
    if isinstance(loss, GeneralizedLinear):
        return np.asarray(loss.nearest_dual(dual, data.labels))
    return np.asarray(loss.nearest_dual(dual))


def _room(loss: GeneralizedLinear, data: Dataset, dual: Matrix) -> Matrix:
    """How far each variable may move in both directions without leaving the conjugate's domain."""
    step = np.maximum(1.0, np.abs(dual))
    above = loss.nearest_dual(dual + step, data.labels) - dual
    below = dual - loss.nearest_dual(dual - step, data.labels)
    return np.asarray(np.maximum(np.minimum(above, below), 0.0))


def _balanced(loss: GeneralizedLinear, data: Dataset, dual: Matrix) -> Matrix:
    """Dual variables with sum a_i x_i = 0 up to rounding: each changes as the square of its room in the domain."""
    dual = _nearest_dual(loss, data, dual)
    for _ in range(3):
        room = _room(loss, data, dual)
        weighted = data.features * room[:, None]
        with contextlib.suppress(np.linalg.LinAlgError):
            changed = dual - room * np.linalg.lstsq(weighted.T, data.features.T @ dual, rcond=None)[0]
            if np.all(np.isfinite(changed)):
                dual = _nearest_dual(loss, data, changed)
    return dual


def _descend(problem: Problem, data: Dataset, steps: int = 5000) -> Matrix:
    """Accelerated projected gradient descent (Nesterov 1983, with restarts), for smooth losses."""
    smoothness = problem.constants.smoothness
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
