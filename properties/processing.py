"""Checks of what must not change a mechanism's privacy: the size of a batch, and processing of its outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing import MINIMUM_RUNS, ErrorShare, Request, audit
from dpverify.auditing.outputs.encoding import NOT_ALLOWED
from dpverify.auditing.outputs.likeness import Likeness
from dpverify.auditing.requests.audits import failure_lines
from dpverify.auditing.requests.data import neighbors_of
from dpverify.auditing.requests.drawing import as_mechanism
from dpverify.checks import failure_probability as checked_failure_probability
from dpverify.checks import items, of_kind, require, whole_number
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Adjacency, Guarantee
from dpverify.running import BatchMechanism, run
from dpverify.running.subjects.texts import is_texts

Array = NDArray[np.float64]


def check_batch_sizes(
    mechanism: BatchMechanism | Callable[..., Any],
    data: Any,
    *,
    sizes: Sequence[int] = (1, 2, 7),
    runs: int = 1400,
    failure_probability: float = 1e-6,
    seed: int = 0,
) -> None:
    """Check that a mechanism's outputs are independent and have one law, for every batch size.

    Compared are the laws of each coordinate, and of the difference of successive runs, of which some are in one batch
    and some are not: noise that a batch shares shows there. Distribution functions are compared by the inequality of
    Dvoretzky, Kiefer, Wolfowitz and Massart.

    Args:
        mechanism: as `check_private` takes it; its outputs are numbers.
        data: a data set.
        sizes: of the batches; at least two.
        runs: of each size.
        failure_probability: that a mechanism which keeps all this fails.
        seed: of the runs.

    Raises:
        AssertionError: naming the sizes, and how far the laws are apart at least.
        InvalidDataError: for outputs that are no numbers of one shape.
        InvalidArgumentError: for other arguments that cannot be used.

    Examples:
        >>> import numpy as np
        >>> from dpverify.properties import check_batch_sizes
        >>> data = np.ones((3, 1))
        >>> check_batch_sizes(lambda data, rng, runs: data.sum() + rng.laplace(size=runs), data)
        >>> check_batch_sizes(lambda data, rng, runs: data.sum() + rng.laplace() + np.zeros(runs), data)
        Traceback (most recent call last):
        AssertionError: ...
    """
    level = checked_failure_probability("failure_probability", failure_probability)
    runs = whole_number("runs", runs, at_least=MINIMUM_RUNS)
    items("sizes", sizes, Integral, "at least two different sizes of batches", least=2)
    chosen = [whole_number("sizes", size, at_most=runs) for size in sizes]
    require(len(set(chosen)) >= 2, "sizes", sizes, "at least two different sizes of batches")
    subject, samples = as_mechanism(mechanism), []
    for place, size in enumerate(chosen):
        points = run(subject, data, runs=runs, seed=(seed, place), block_size=size).points
        if is_texts(points):
            raise InvalidDataError("The outputs are not numbers of one shape, of which laws are compared.")
        samples.append(points.reshape(runs, -1).astype(np.float64))
    shapes = {sample.shape for sample in samples}
    if len(shapes) > 1:
        raise AssertionError(f"Outputs have other shapes in batches of other sizes: {sorted(shapes)}.")
    coordinates = samples[0].shape[1]
    laws = 2 * len(samples) * coordinates
    for column in range(coordinates):
        values = [np.sort(sample[:, column]) for sample in samples]
        # every second difference, so that no run is in two of them; half of these are in batches of two
        apart = [np.sort(sample[1::2, column] - sample[: runs // 2 * 2 : 2, column]) for sample in samples]
        for what, found in (("coordinate", values), ("difference of successive runs in coordinate", apart)):
            radius = math.sqrt(math.log(2 * laws / level) / (2 * len(found[0])))
            for j in range(len(found)):
                for i in range(j):
                    distance = _distance(found[i], found[j])
                    if distance > 2 * radius:
                        raise AssertionError(
                            f"Outputs depend on how many runs are asked for at once: in batches of {chosen[i]} and of "
                            f"{chosen[j]}, the laws of {what} {column + 1} are at least {distance - 2 * radius:.6g} "
                            f"apart in one probability; false with probability at most {level:g} (seed {seed})."
                        )


def _distance(left: Array, right: Array) -> float:
    """The largest difference of two empirical distribution functions; both sorted."""
    both = np.concatenate([left, right])
    first = np.searchsorted(left, both, side="right") / left.size
    second = np.searchsorted(right, both, side="right") / right.size
    return float(np.abs(first - second).max())


MAPS: dict[str, Callable[[Array], Array]] = {
    "rounded to integers": np.round,
    "third decimals": lambda points: np.round(1000 * points) % 10,
    "signs": np.sign,
    "lengths": lambda points: np.asarray(np.linalg.norm(points, axis=1)),
    "sums of coordinates": lambda points: np.asarray(points.sum(axis=1)),
}
"""What is made of outputs (runs, d), to be audited like them."""


def check_post_processing(
    mechanism: BatchMechanism | Callable[..., Any],
    data: Any,
    neighbor: Any,
    claim: Guarantee | str,
    *,
    maps: Mapping[str, Callable[[Any], Any]] = MAPS,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    index: int | None = None,
    runs: int = 5000,
    seed: int = 0,
    failure_probability: float = 1e-6,
    allow_undecided: bool = False,
    allow_equal: bool = False,
) -> None:
    """Check that what is computed from the outputs keeps the mechanism's claim, as for every private mechanism.

    One set of runs is mapped in several ways, and each result is audited with an equal part of the failure probability.
    It finds what an audit of the outputs themselves may pass over, since a map turns some event into a plain one; and a
    step of your own that is called post-processing, and in truth sees the data.

    Args:
        mechanism: as `check_private` takes it; its outputs are numbers.
        data: a data set, with one record along the first axis.
        neighbor: by `adjacency`.
        claim: a guarantee, or one in words such as "eps=1,delta=1e-5".
        maps: by name, from outputs (runs, d) to an array or list with an entry a run.
        adjacency: how the data sets differ.
        index: number of the record that differs, from 1; for adjacency `index` only.
        runs: on each data set.
        seed: of the runs and of the audits.
        failure_probability: with at most this probability does a correct claim fail.
        allow_undecided: whether a test passes that could not have found any violation with so few runs.
        allow_equal: the mechanism's outputs are meant to be equal; if they never vary, nothing is decided otherwise.

    Raises:
        AssertionError: naming the map, with the event and the bounds.
        InvalidDataError: for data sets that are no neighbors, and for outputs that cannot be used.
        InvalidArgumentError: for other arguments.

    Examples:
        >>> from dpverify.properties import check_post_processing
        >>> def release(data, rng, runs):
        ...     return data.sum() + rng.laplace(size=runs)
        >>> check_post_processing(release, [[0.0]], [[1.0]], "eps=1", allow_undecided=True)
    """
    if not isinstance(maps, Mapping) or not maps or not all(callable(made) for made in maps.values()):
        raise InvalidArgumentError("maps", maps, "at least one function of outputs, by name")
    of_kind("allow_undecided", allow_undecided, bool)
    runs = whole_number("runs", runs, at_least=MINIMUM_RUNS)
    asked = Request(
        mechanism, data, neighbor, claim, adjacency=adjacency, index=index, runs=runs, fixed_runs=True
    )
    (sides, unit, _), subject = neighbors_of(asked), as_mechanism(mechanism)
    shares = ErrorShare.of(failure_probability).split(*maps)
    samples = []
    for side, records in enumerate(sides):
        points = run(subject, records, runs=runs, seed=(seed, side)).points
        if is_texts(points):
            raise InvalidDataError("The outputs are not numbers of one shape, which maps take.")
        samples.append(points.reshape(runs, -1).astype(np.float64))
    likeness = Likeness()
    likeness.add(*samples)
    if not (allow_equal or allow_undecided) and (alike := likeness.summary()):
        raise AssertionError(f"{claim} is undecided. Of the outputs before any map, {alike}: {NOT_ALLOWED}.")
    for (name, made), share in zip(maps.items(), shares, strict=True):
        mapped = [made(sample.copy()) for sample in samples]
        if any(len(outputs) != runs for outputs in mapped):
            raise InvalidArgumentError(
                f"map {name!r}", [len(outputs) for outputs in mapped], f"{runs} entries"
            )
        if np.array_equal(np.unique(mapped[0]), np.unique(mapped[1])) and len(np.unique(mapped[0])) == 1:
            continue  # nothing is left to compare
        request = Request(
            claim=claim, left=mapped[0], right=mapped[1], adjacency=unit.adjacency, index=index, seed=seed,
            failure_probability=share, allow_equal=True, **unit.fields(),
        )  # fmt: skip
        found = audit(request)
        undecided = found.verdict is Verdict.UNDECIDED
        if found.verdict is Verdict.VIOLATED or (undecided and not allow_undecided):
            raise AssertionError("\n".join([f"Of outputs made into {name}:", *failure_lines(request, found)]))
