"""Checks of what guarantees rest on: your own projection, update, query or loss.

Nothing is proved here: each check searches for a case that breaks what is declared, by a seeded search that is the
same every time, and raises AssertionError with the case where it finds one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.neighbors import Pair
from dpverify.auditing.neighbors.distances import ball, farthest_pair
from dpverify.checks import (
    checked_seed,
    function,
    not_negative,
    number,
    one_of,
    positive,
    require,
    returned,
    whole_number,
)
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import Adjacency
from dpverify.privacy.adjacency import checked_adjacency
from dpverify.problems import ConstantsCheck, ConstraintSet, Dataset, Loss, check_constants

Vector = NDArray[np.float64]

_ROUNDING = 1e-9  # relative excess that rounding explains
_ROUNDS = 150  # steps of a search along the direction that is stretched most
_SHOWN = 8  # coordinates of a point in a message
_CONSTANTS = (
    "lipschitz_constant", "smoothness", "strong_convexity", "gradient_sensitivity", "gradient", "value"
)  # fmt: skip
_SINGLE = (
    Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE_ONE, Adjacency.ZERO_OUT, Adjacency.ANSWERS, Adjacency.LOCAL
)  # fmt: skip
"""Relations of neighbors for which pairs are searched."""
_NORMS = {1: "1-norm", 2: "Euclidean norm", math.inf: "largest entry"}


def check_projection(
    project: ConstraintSet | Callable[[Vector], Any],
    *,
    dimension: int | None = None,
    contains: Callable[[Vector], Any] | None = None,
    radius: float = 10.0,
    points: int = 2000,
    seed: int = 0,
) -> None:
    """Laws of the Euclidean projection onto a closed convex set, at random points and at points close to the set.

    What is projected lands in the set and, projected again, stays; points of the set stay where they are; two points
    are no farther apart afterwards; and from the image of a point, no other image lies in the direction of the point
    (<u - P(u), P(v) - P(u)> <= 0), which is what makes it the closest.

    Args:
        project: a constraint set, or a function from one point (d,) to the projected one.
        dimension: of the points, for a function.
        contains: whether a point (d,) is in the set, up to rounding; for a constraint set its own.
        radius: points are drawn up to this distance from the origin.
        points: how many.
        seed: of the search.

    Raises:
        AssertionError: naming the law and the points.
        InvalidArgumentError: for arguments that cannot be used.

    Examples:
        >>> import numpy as np
        >>> from dpverify.properties import check_projection
        >>> check_projection(lambda w: np.clip(w, -1, 1), dimension=3)
        >>> check_projection(lambda w: np.sign(w), dimension=3)
        Traceback (most recent call last):
        AssertionError: ...
    """
    radius = positive("radius", radius)
    if contains is not None:
        function("contains", contains)
    rng = np.random.default_rng(checked_seed(seed))
    count = whole_number("points", points, at_least=2)
    if isinstance(project, ConstraintSet):
        chosen, dimension = project, project.dimension
        inside = contains or (lambda w: bool(chosen.contains(w[None])[0]))
        apply = _function(lambda w: chosen.project(w[None])[0])
    else:
        dimension = whole_number("dimension", dimension)
        inside, apply = contains or (lambda w: True), _function(project)
    drawn = _points(rng, count, dimension, radius)
    images = np.stack([_image(apply, u) for u in drawn])
    for u, image in zip(drawn, images, strict=True):
        size = _ROUNDING * max(1.0, float(np.linalg.norm(u)))
        _hold(inside(image), "land in the set", u=u, projected=image)
        again = _image(apply, image)
        _hold(np.linalg.norm(again - image) <= size, "change nothing the second time", u=u, projected=image)
        if inside(u) and contains is not None:
            _hold(np.linalg.norm(image - u) <= size, "leave points of the set alone", u=u, projected=image)
    order = rng.permutation(count)
    for i, j in zip(range(count), order, strict=True):
        u, v, p, q = drawn[i], drawn[j], images[i], images[j]
        size = _ROUNDING * max(1.0, float(np.linalg.norm(u)), float(np.linalg.norm(v)))
        near = np.linalg.norm(p - q) <= np.linalg.norm(u - v) + size
        _hold(near, "bring no two points farther apart", u=u, v=v, projected=p, projected_v=q)
        angle = float((u - p) @ (q - p)) <= size * max(
            1.0, float(np.linalg.norm(u)), float(np.linalg.norm(v))
        )
        _hold(angle, "give the closest point", u=u, projected=p, closer=q)


def check_contraction(
    update: Callable[[Vector], Any],
    *,
    dimension: int,
    factor: float = 1.0,
    radius: float = 10.0,
    restarts: int = 40,
    seed: int = 0,
) -> float:
    """Check that an update expands no distance by more than `factor`.

    A gradient step of size eta on a convex, beta-smooth loss does not where eta <= 2 / beta (factor 1), which privacy
    amplification by iteration rests on. The search follows the direction that the update stretches most.

    Args:
        update: from one point (d,) to the next; without noise.
        dimension: of the points.
        factor: that is declared, dimensionless.
        radius: points are drawn up to this distance from the origin.
        restarts: searches.
        seed: of the searches.

    Returns:
        the largest ratio of distances that was found.

    Raises:
        AssertionError: with two points that come too far apart.
        InvalidArgumentError: for arguments that cannot be used.

    Examples:
        >>> from dpverify.properties import check_contraction
        >>> round(check_contraction(lambda w: w - 0.5 * w, dimension=2), 6)
        0.5
        >>> check_contraction(lambda w: w - 2.5 * w, dimension=2)
        Traceback (most recent call last):
        AssertionError: ...
    """
    factor = not_negative("factor", factor)
    radius = positive("radius", radius)
    dimension, apply = whole_number("dimension", dimension), _function(update)
    rng, largest, worst = np.random.default_rng(checked_seed(seed)), 0.0, ""
    for start in _points(rng, whole_number("restarts", restarts), dimension, radius):
        direction = rng.normal(size=dimension)
        step = radius * 10.0 ** rng.uniform(-4, 0)
        at = _image(apply, start)
        for _ in range(_ROUNDS):
            length = float(np.linalg.norm(direction))
            if not 0 < length < math.inf:
                break
            other = start + step * direction / length
            distance = float(np.linalg.norm(other - start))
            image = _image(apply, other)
            direction = image - at
            moved = float(np.linalg.norm(direction))
            rounding = _ROUNDING * (factor * distance + 1e-6 * (np.linalg.norm(start) + np.linalg.norm(at)))
            if distance > 0 and moved > largest * distance:
                largest = moved / distance
                if moved > factor * distance + rounding:
                    worst = (
                        f"from {distance:.6g} to {moved:.6g}, {largest:.6g} times, with {factor:g} declared; "
                        f"{_written(u=start, v=other, updated=at, updated_v=image)}"
                    )
    if worst:
        grows = "brings two points farther apart: their distance grows"
        stays = "leaves two points too far apart: their distance changes"
        raise AssertionError(f"The update {grows if largest > 1 else stays} {worst}.")
    return largest


def check_sensitivity(
    query: Callable[[Vector], Any],
    *,
    bound: float,
    n: int,
    d: int,
    least: int | None = None,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    norm: float = 2,
    radius: float = 1.0,
    examples: int = 600,
    seed: int = 0,
) -> float:
    """Check that a query's answers on neighboring data sets differ by no more than the declared sensitivity.

    The search is that of `dpverify audit --search-neighbors`: pairs on which faults are known to show, then steps from
    the best of them, to more records, fewer or others; what is found is made as simple as possible.

    Args:
        query: from a data set (records, d) to a number or an array; without noise.
        bound: the sensitivity that is declared, in units of the answer.
        n: most records of a data set; fewer are tried, too.
        d: features of a record.
        least: fewest records of a data set; None: one, or none with adjacency add-or-remove-one.
        adjacency: which data sets are neighbors: replace-one, add-or-remove-one, zero-out, answers-within-1 or local.
        norm: of the difference: 1, 2 or infinity.
        radius: records have at most this Euclidean norm, and are often as long as that.
        examples: pairs that are tried.
        seed: of the search.

    Returns:
        the largest difference that was found.

    Raises:
        AssertionError: with two data sets whose answers are too far apart, or are no finite numbers of one shape.
        InvalidArgumentError: for arguments that cannot be used.

    Examples:
        >>> import numpy as np
        >>> from dpverify.properties import check_sensitivity
        >>> found = check_sensitivity(lambda data: np.clip(data, -1, 1).sum(), bound=2.0, n=2, d=1)
        >>> check_sensitivity(lambda data: np.clip(data, -1, 1).sum(), bound=1.0, n=2, d=1)
        Traceback (most recent call last):
        AssertionError: ...
    """
    function("query", query)
    bound = not_negative("bound", bound)
    if number("norm", norm, finite=False, allowed="1, 2 or math.inf") not in _NORMS:
        raise InvalidArgumentError("norm", norm, "1, 2 or math.inf")
    by = checked_adjacency(adjacency)
    one_of("adjacency", by.value, _SINGLE)
    n, d = whole_number("n", n), whole_number("d", d)
    radius = positive("radius", radius)
    fewest = int(by is not Adjacency.ADD_REMOVE_ONE)
    least = fewest if least is None else whole_number("least", least, at_least=fewest, at_most=n)
    if by is Adjacency.LOCAL:
        by, n, least = Adjacency.REPLACE_ONE, 1, 1
    seed, examples = checked_seed(seed), whole_number("examples", examples)

    def answers(pair: Pair) -> list[Vector]:
        found = [returned("query", query(data.copy())).reshape(-1) for data in (pair.data, pair.neighbor)]
        if found[0].shape != found[1].shape or not all(np.isfinite(a).all() for a in found):
            raise AssertionError(
                f"The answers are not finite numbers of one shape: {found[0].tolist()} and {found[1].tolist()}, "
                f"on {pair.data.tolist()} and {pair.neighbor.tolist()}."
            )
        return found

    def distance(pair: Pair) -> float:
        one, other = answers(pair)
        size = max(float(np.abs(a).max(initial=0.0)) for a in (one, other))
        return float(np.linalg.norm(one - other, ord=norm)) - 1e-15 * size

    domain = ball(d, radius, by, (least, n), seed)
    pair, largest = farthest_pair(distance, domain, bound * (1 + _ROUNDING), tries=examples, seed=seed)
    if pair is not None and largest > bound * (1 + _ROUNDING):
        one, other = answers(pair)
        raise AssertionError(
            f"The answers are {np.linalg.norm(one - other, ord=norm):.6g} apart ({_NORMS[norm]}), with a sensitivity "
            f"of {bound:g} declared: {one.tolist()} and {other.tolist()}, on {pair.data.tolist()} and "
            f"{pair.neighbor.tolist()}."
        )
    if pair is None:
        return 0.0
    one, other = answers(pair)
    return float(np.linalg.norm(one - other, ord=norm))


def check_loss(
    loss: Loss, constraint: ConstraintSet, data: Dataset | None = None, *, rounds: int = 60, seed: int = 0
) -> ConstantsCheck:
    """Check that a loss is convex, has the stated gradient, and satisfies its declared constants.

    Args:
        loss: any loss.
        constraint: where its parameter may be.
        data: records to search from, besides random ones in the unit ball.
        rounds: steps of each search.
        seed: of the search.

    Returns:
        the largest values that were found.

    Raises:
        AssertionError: naming the constant, the value that was found and the point.
        InvalidArgumentError: for other arguments that cannot be used.

    Examples:
        >>> from dpverify.problems import Ball, Logistic
        >>> from dpverify.properties import check_loss
        >>> check_loss(Logistic(), Ball(2, 1.0), rounds=10).gradient_norm <= Logistic().lipschitz_constant
        True
    """
    rng = np.random.default_rng(checked_seed(seed))
    try:
        return check_constants(loss, constraint, data, rng=rng, rounds=rounds)
    except InvalidArgumentError as error:
        if error.argument not in _CONSTANTS:
            raise
        raise AssertionError(str(error)) from error


def _function(function: Any) -> Callable[[Vector], Vector]:
    require(callable(function), "function", function, "a function from a point (d,) to a point (d,)")

    def apply(w: Vector) -> Vector:
        return returned("function", function(w.copy()))

    return apply


def _image(apply: Callable[[Vector], Vector], u: Vector) -> Vector:
    image = apply(u)
    if image.shape != u.shape or not np.isfinite(image).all():
        raise AssertionError(
            f"The image is not a point of the same dimension with finite coordinates; {_written(u=u, image=image)}."
        )
    return image


def _points(rng: np.random.Generator, count: int, dimension: int, radius: float) -> Vector:
    """Points at all distances from the origin; some on an axis, some in a corner, pairs that are close together."""
    found = rng.normal(size=(count, dimension))
    found[1::4] = np.sign(found[1::4])
    axis = rng.integers(dimension, size=found[2::4].shape[0])
    found[2::4] = np.eye(dimension)[axis] * rng.choice([-1.0, 1.0], size=(axis.size, 1))
    lengths = radius * rng.uniform(size=(count, 1)) ** rng.choice([0.0, 1.0, 4.0], size=(count, 1))
    found *= lengths / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)
    found[3::4] = found[2::4][: found[3::4].shape[0]] * (1 + 1e-3 * rng.normal(size=found[3::4].shape))
    found[0] = 0.0
    return found


def _hold(holds: Any, law: str, **points: Vector) -> None:
    if not holds:
        raise AssertionError(f"The projection breaks a law: it must {law}. {_written(**points)}.")


def _written(**points: Vector) -> str:
    cut = {name: np.ravel(point)[:_SHOWN].tolist() for name, point in points.items()}
    more = ", the first coordinates of each" if any(np.size(p) > _SHOWN for p in points.values()) else ""
    return ", ".join(f"{name} = {numbers}" for name, numbers in cut.items()) + more
