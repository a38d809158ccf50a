"""Noisy projected gradient steps on a CPU or a GPU through JAX: the law of those with NumPy, other bits.

Noise is Philox4x32-10 of Random123: a word of it depends on a key and on its place alone (the run in its block, the
step, the coordinate), so that all runs take all steps inside one compiled loop, in float32. A key is drawn from the
stream of the block for each walk from a start. J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as
easy as 1, 2, 3 (2011). Gradients are the loss's own, traced; what guards them is what guards them with NumPy.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.extras import missing
from dpverify.problems import Ball, Box, ConstraintSet, Problem
from dpverify.problems.declared import is_our_own
from dpverify.running import Output, Randomness

Array = NDArray[Any]

LARGEST_NORMAL = math.sqrt(66 * math.log(2))
"""No normal number of the device is larger; a standard normal number is with probability 1.4e-11."""
_MULTIPLIERS, _WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_NOISE, _RECORDS = 0, 1  # what words are for, the last of the four numbers that say their place
_UNIT = 2.0**-24  # of rounding to float32
_SIZES = (1e-15, 1e15)  # of lengths whose squares neither vanish nor overflow in float32
_FEWEST = 1024  # runs that are compiled for
_STEPS = "steps on a device"


@dataclass(frozen=True)
class DevicePlace:
    """Where steps are taken, and by what their noise is divided."""

    device: str
    dtype: str = "float32"
    factor: float = 1.0

    def quieter(self, factor: float) -> DevicePlace:
        """The same with less noise, for planted faults."""
        return replace(self, factor=self.factor * factor)


@dataclass(frozen=True)
class OnDevice:
    """An algorithm whose steps JAX takes on a device: the same law up to float32, and what the algorithm states.

    `algorithm.on_device("gpu")` makes it. It is run and audited as the algorithm is; all that it states is the
    algorithm's, in exact arithmetic. `rounding_bound` bounds what float32 changes.

    Attributes:
        algorithm: a noisy gradient method with one record a step.
        device: `cpu` or `gpu`.
        stream: random stream, precision and library, a part of the fingerprint.

    Raises:
        MissingExtraError: without JAX.
        InvalidArgumentError: for a device that JAX does not find here; in a run, for an algorithm, loss or set without
            steps for devices.
    """

    algorithm: Any
    device: str
    stream: str = field(init=False)

    def __post_init__(self) -> None:
        kind = _found(self.device).device_kind
        said = f"Philox4x32-10, float32, JAX {_jax().__version__} on {kind}"
        object.__setattr__(self, "stream", said)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "algorithm":  # asked of one that is being unpickled
            raise AttributeError(name)
        return getattr(self.algorithm, name)

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        """Run; points have shape (runs, d), float64 numbers that were computed in float32."""
        there = copy.copy(rng)
        there.device = there.device or DevicePlace(self.device)
        before = there.counts[_STEPS]
        output: Output = self.algorithm(data, rng=there, runs=runs)
        if there.counts[_STEPS] == before:
            raise _without_steps(self.device, f"{type(self.algorithm).__name__} takes none there")
        return output

    def weakened(self, factor: float) -> OnDevice:
        """The algorithm's weaker version, there."""
        return replace(self, algorithm=self.algorithm.weakened(factor))


class DeviceIterates:
    """The current points of a batch of runs, on a device: `Iterates` in its place."""

    def __init__(self, problem: Problem, start: Array, runs: int, rng: Randomness) -> None:
        self._place, self._rng, self._runs = rng.device, rng, runs
        self._key = np.asarray(rng.integers(0, 2**32, (2,), "key of a device"), dtype=np.uint32)
        self._on = _found(self._place.device)
        self._problem, self._taken, self._steps = problem, np.zeros(runs, dtype=np.int64), 0
        try:
            self._kernel = _kernel(problem, self._place.device != "cpu")
        except TypeError:
            raise _without_steps(self._place.device, "a loss that cannot be hashed has none") from None
        # a few more runs than asked for, so that a few sizes are compiled: a run's numbers do not depend on the others
        self._room = -runs % max(_FEWEST, 1 << max(0, runs.bit_length() - 3))
        self._columns = self._put(np.tile(np.asarray(start)[:, None], runs + self._room))
        _check_traced(problem, self._columns, self._place.device)

    def _put(self, values: Any, dtype: str | None = None) -> Any:
        return (
            None
            if values is None
            else _jax().device_put(np.asarray(values, dtype=dtype or self._place.dtype), self._on)
        )

    def expect(self, steps: int) -> None:
        """Nothing is prepared."""

    def walk(
        self,
        features: Array,
        labels: Array,
        order: Array,
        *,
        rates: Sequence[float] | Array,
        noise_stddev: float,
        scale: float = 1.0,
    ) -> None:
        """Take a step for each record of an order, (steps,), the same in all runs; as `Iterates.walk`."""
        self._walk(features, labels, order, rates, noise_stddev, scale)

    def walk_on_drawn(
        self, features: Array, labels: Array, *, rates: Array, noise_stddev: float, scale: float = 1.0
    ) -> None:
        """Take a step for each rate, each run on a record of its own; as `Iterates.walk_on_drawn`."""
        self._walk(features, labels, None, rates, noise_stddev, scale)

    def walk_some(
        self, features: Array, labels: Array, keys: Array, largest: Array, *, rate: float, noise_stddev: float
    ) -> None:
        """Take step t in the runs whose key is at most `largest[t]`; as `Iterates.walk_some`."""
        order, rates = np.arange(len(largest)), np.full(len(largest), rate)
        self._walk(features, labels, order, rates, noise_stddev, 1.0, (keys, largest))

    def _walk(
        self,
        features: Array,
        labels: Array,
        order: Array | None,
        rates: Sequence[float] | Array,
        noise_stddev: float,
        scale: float,
        among: tuple[Array, Array] | None = None,
    ) -> None:
        jax, put = _jax(), self._put
        factors, count = scale * np.asarray(rates), len(rates)
        stddevs = factors * (noise_stddev / (scale * self._place.factor))
        _check_sizes(self._problem, factors, stddevs, self._place.device)
        numbers = np.arange(self._steps, self._steps + count)
        keys, largest = (None, None) if among is None else (np.pad(among[0], (0, self._room)), among[1])
        with jax.default_matmul_precision("highest"):
            self._columns = self._kernel(
                self._columns, put(features), put(labels), put(self._key, "uint32"), put(keys, "int32"),
                (put(numbers, "uint32"), put(order, "int32"), put(factors), put(stddevs), put(largest, "int32")),
            )  # fmt: skip
        self._steps += count
        some = count if among is None else count - np.searchsorted(np.sort(among[1]), among[0])
        self._taken += some
        self._rng.counts[_STEPS] += count

    def output(self) -> Output:
        """Release the points and what each run counted."""
        points = np.asarray(self._columns)[:, : self._runs].T.astype(np.float64)
        # what float32 leaves outside of the set is brought in, and no farther from what it stands for
        points = self._problem.constraint.project(points, overwrite=True)
        return Output(points, gradient_queries=self._taken, projections=self._taken)


@lru_cache(maxsize=16)
def _kernel(problem: Problem, unroll: bool) -> Callable[..., Any]:
    """All steps as one compiled loop: points (d, runs) in, points out."""
    jax = _jax()
    gradient, project = problem.loss.gradient, _projection(problem.constraint)

    def walk(columns: Any, features: Any, labels: Any, key: Any, keys: Any, steps: Any) -> Any:
        def step(columns: Any, at: Any) -> tuple[Any, None]:
            d, runs = columns.shape
            number, index, factor, stddev, last = at
            if index is None:
                index = drawn(key, number, runs, len(labels))
            change = factor * gradient(columns.T, features[index], labels[index]).T
            change = change + stddev * normals(key, number, d, runs, unroll).astype(columns.dtype)
            moved = project(columns - change)
            return (moved if last is None else jax.numpy.where(keys <= last, moved, columns)), None

        return jax.lax.scan(step, columns, steps)[0]

    compiled: Callable[..., Any] = jax.jit(walk)
    return compiled


def _projection(constraint: ConstraintSet) -> Callable[[Any], Any]:
    """The projection of points (d, runs): the set's own, but for balls, whose own looks at its numbers."""
    jnp = _jax().numpy
    if type(constraint) is not Ball:
        return lambda columns: constraint.project(columns.T).T
    middle, radius = constraint.center()[:, None], constraint.radius

    def project(columns: Any) -> Any:
        away = columns - middle.astype(columns.dtype) if constraint.midpoint is not None else columns
        squares = jnp.sum(away * away, axis=0)
        outside = squares > radius * radius
        moved = away * (radius / jnp.sqrt(jnp.where(outside, squares, 1.0)))
        if constraint.midpoint is not None:
            moved = moved + middle.astype(columns.dtype)
        return jnp.where(outside, moved, columns)

    return project


def philox(counters: Sequence[Any], key: Any, unroll: bool = False) -> Sequence[Any]:
    """Four words, arrays of uint32, for four numbers that say their place, and a key of two: Philox4x32-10.

    A GPU is quicker with its rounds one after another in the code, a CPU, where each word would be made anew for each
    use, in a loop.
    """
    jax = _jax()
    word = jax.numpy.uint32
    (left, right), (one, other) = map(word, _MULTIPLIERS), map(word, _WEYL)

    def turn(number: Any, words: Any) -> Any:
        a, b, c, d = words
        first, second = key[0] + number.astype(word) * one, key[1] + number.astype(word) * other
        return _mulhi(c, right) ^ b ^ first, c * right, _mulhi(a, left) ^ d ^ second, a * left

    start = tuple(jax.numpy.broadcast_arrays(*(jax.numpy.asarray(part, word) for part in counters)))
    found: Sequence[Any] = jax.lax.fori_loop(0, 10, turn, start, unroll=10 if unroll else 1)
    return found


def _mulhi(a: Any, b: Any) -> Any:
    """The upper 32 bits of a product of words."""
    jax = _jax()
    return jax.lax.mulhi(*jax.numpy.broadcast_arrays(a, b))


def normals(key: Any, step: Any, d: int, runs: int, unroll: bool = False) -> Any:
    """The standard normal numbers of one step, (d, runs), float32.

    By Box and Muller, of words u and v: the squared radius is -2 ln of the middle of u's part of [0, 1], with its full
    relative accuracy at both ends; the angle is v parts of a turn, of which the upper bits choose the quarter.
    """
    jnp = _jax().numpy
    groups = -(-d // 4)
    words = philox((jnp.arange(runs)[None, :], step, jnp.arange(groups)[:, None], _NOISE), key, unroll)
    found = []
    for u, v in (words[:2], words[2:]):
        low = u < jnp.uint32(2**31)
        part = (jnp.where(low, u, ~u).astype("float32") + 0.5) * 2.0**-32
        radius = jnp.sqrt(-2.0 * jnp.where(low, jnp.log(part), jnp.log1p(-part)))
        angle = (v & jnp.uint32(2**30 - 1)).astype("float32") * (math.pi / 2 * 2.0**-30)
        along, across = jnp.cos(angle), jnp.sin(angle)
        for quarter in (v >> 30, (v >> 30) + 3):
            turned = jnp.where((quarter & 1) == 0, along, across)
            # cosines of 0, 1, 2, 3 quarters and an angle: cos, -sin, -cos, sin
            found.append(radius * jnp.where(((quarter + 1) & 2) == 0, turned, -turned))
    return jnp.stack(found, axis=1).reshape(4 * groups, runs)[:d]


def drawn(key: Any, step: Any, runs: int, n: int) -> Any:
    """A record for each run, (runs,), int32: uniform on {0, ..., n - 1} up to n / 2^64."""
    jnp = _jax().numpy
    high, low, *_ = philox((jnp.arange(runs), step, 0, _RECORDS), key)
    carried, times = _mulhi(low, jnp.uint32(n)), high * jnp.uint32(n)
    found = _mulhi(high, jnp.uint32(n)) + (times + carried < times)
    return found.astype("int32")


def rounding_bound(problem: Problem, factors: Array, stddevs: Array) -> float:
    """How far the last point may be from that of float64, for the same normal numbers and records; a length.

    With u = 2^-24, B the set's largest norm, G and beta the loss's Lipschitz constant and smoothness, a step of length
    f with noise s adds: (d + 32) u f (G + beta B) for the gradient and the rounding of its record, if elementary
    functions are good to 16 u; 6 u (f G + s |Z|) for products; 3 u (B + f G + s |Z|) for sums; (d + 12) u B for the
    projection. A step takes what was there at most max(1, f beta - 1) times as far apart, as projections do not expand.
    |Z| is at most sqrt(d) times the largest number. Of second order in u is an allowance of one part in a hundred.

    Args:
        problem: for records in the unit ball.
        factors: (steps,), what gradients are multiplied by, length^2 over loss.
        stddevs: (steps,), of the noise as it is added to a point, length.

    Returns:
        Infinite on sets other than balls and boxes, for losses that are not smooth, and for what others declared.
    """
    constants, constraint = problem.constants, problem.constraint
    size, d = constraint.largest_norm, constraint.dimension
    known = type(constraint) in (Ball, Box) and is_our_own(problem.loss)
    if not known or not math.isfinite(constants.smoothness + constants.lipschitz_constant):
        return math.inf
    steep, curved = constants.lipschitz_constant, constants.smoothness
    pushed, noise = factors * steep, stddevs * (math.sqrt(d) * LARGEST_NORMAL)
    added = (d + 32) * factors * (steep + curved * size) + 9 * (pushed + noise) + (d + 15) * size
    apart = size  # the rounding of the start
    for times, more in zip(np.maximum(1.0, factors * curved - 1.0).tolist(), added.tolist(), strict=True):
        apart = times * apart + more
    return 1.01 * _UNIT * apart


def _check_sizes(problem: Problem, factors: Array, stddevs: Array, device: str) -> None:
    """Refuse lengths whose squares float32 does not hold."""
    steep = problem.constants.lipschitz_constant
    pushed = float(np.max(factors, initial=0.0)) * (steep if math.isfinite(steep) else 1.0)
    size = problem.constraint.largest_norm
    largest = max(pushed, float(np.max(stddevs, initial=0.0)), size if math.isfinite(size) else 1.0)
    least = problem.constraint.radius if type(problem.constraint) is Ball else 1.0
    if not (largest <= _SIZES[1] and least >= _SIZES[0]):
        raise _without_steps(device, f"float32 takes lengths between {_SIZES[0]:g} and {_SIZES[1]:g}")


def _check_traced(problem: Problem, columns: Any, device: str) -> None:
    """Refuse losses and sets whose code is not for arrays of JAX."""
    jax = _jax()
    d, _ = columns.shape
    record, label = (jax.ShapeDtypeStruct(shape, columns.dtype) for shape in ((d,), ()))
    points = jax.ShapeDtypeStruct((2, d), columns.dtype)
    parts: tuple[tuple[str, Callable[..., Any], tuple[Any, ...]], ...] = (
        ("gradient", problem.loss.gradient, (points, record, label)),
        ("projection", _projection(problem.constraint), (jax.ShapeDtypeStruct((d, 2), columns.dtype),)),
    )
    for what, function, given in parts:
        of = problem.loss if what == "gradient" else problem.constraint
        try:
            jax.eval_shape(function, *given)
        except Exception as error:  # whatever a stranger's code does with arrays that have no numbers
            why = f"the {what} of {type(of).__name__} cannot be traced ({type(error).__name__})"
            raise _without_steps(device, why) from None


def _without_steps(device: str, why: str) -> InvalidArgumentError:
    return InvalidArgumentError("device", device, f"None here, as {why}")


def _found(device: str) -> Any:
    """The first device of a kind."""
    require(device in ("cpu", "gpu"), "device", device, "cpu, gpu or None")
    try:
        return _jax().devices(device)[0]
    except RuntimeError:
        there = ", ".join(sorted({one.platform for one in _jax().devices()}))
        raise InvalidArgumentError("device", device, f"one that JAX finds here: {there}") from None


@lru_cache(maxsize=1)
def _jax() -> Any:
    try:
        import jax
    except ImportError:
        raise missing("A device", {"device": ["jax"]}) from None
    return jax
