"""Optimizers that try everything that a handle allows; what they learn is compared with the stated guarantee.

An interaction's guarantee quantifies over optimizers and over the messages that they are sent. So both are drawn here:
an optimizer follows a script of moves, some legal and some not, and messages are any vectors. With the script and the
messages fixed, all that may differ between neighboring data sets is what the oracle computes before it adds its noise,
and by how much that differs is exact: no statistics are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpverify.algorithms.mn25.interaction import FirstOrder
from dpverify.algorithms.mn25.oracle_handles import DeclaredUse, OracleHandle
from dpverify.algorithms.mn25.private_oracles import GaussianOracle, PrivateOracleMethod
from dpverify.checks import of_kind, whole_number
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.privacy import GDP, Guarantee
from dpverify.problems import Dataset
from dpverify.running import Randomness

Array = NDArray[Any]

_ROUNDING = 1e-9
"""Relative excess that rounding explains, also of points that lie outside of a set by rounding."""

_POINTS: dict[str, Callable[[Array], Array]] = {
    "as they are": lambda w: w,
    "halved": lambda w: w / 2,
    "outside": lambda w: w + 30.0,
    "far": lambda w: w + 1e6,
    "where whole numbers end": lambda w: w * 0 + (2.0**53 + 2),
    "at the end of the range": lambda w: np.where(w >= 0, 1.7e308, -1.7e308),
    "infinite": lambda w: w + math.inf,
    "not a number": lambda w: w * math.nan,
    "subnormal": lambda w: w * 0 + 5e-324,
    "complex": lambda w: w + 1j,
    "of 32 bits": lambda w: w.astype(np.float32),
    "whole numbers": lambda w: w.astype(np.int64),
    "text": lambda w: w.astype(str),
    "objects": lambda w: w.astype(object),
    "one coordinate more": lambda w: np.concatenate([w, w[:, :1]], axis=1),
    "one run less": lambda w: w[1:],
    "a list": lambda w: w.tolist(),
    "one a query": lambda w: np.stack([w, -w], axis=1),
}
"""What replaces points of shape (runs, d)."""


@dataclass(frozen=True)
class Move:
    """One round, or part of one."""

    points: str  # what becomes of the points at hand, by name
    step: float  # they are moved by so much first, in the first coordinate
    records: tuple[int, ...]  # numbers, legal or not
    own: bool = False  # whether each run asks for other records than its neighbor, where there are several
    made: tuple[bool, ...] | None = None  # which queries are made in every run; None: all
    overwrites: bool = False  # whether all that was handed over is overwritten afterwards
    answers: int = 1  # how often the message is asked for


@dataclass
class Adversary:
    """An optimizer that follows a script to its end and releases everything that it was told.

    Attributes:
        declared: what it declares; it does not keep to it.
        released: how its points are changed before they are released, by name.
        calls: how often it was called, as far as it can remember.
    """

    declared: DeclaredUse
    moves: tuple[Move, ...]
    released: str = "as they are"
    calls: int = 0

    def __call__(self, handle: OracleHandle, start: Any) -> Any:
        """What it was told, in words and in messages, as numbers in its points."""
        self.calls += 1
        _KEPT.append((handle, np.array(start)))
        points, told = np.asarray(start, dtype=np.float64), float(self.calls)
        for move in self.moves:
            try:
                with np.errstate(all="ignore"):
                    points = self._play(move, handle, points)
            except (DpverifyError, TypeError, ValueError, IndexError) as error:
                # a refusal is as good as a message: whatever it says may not depend on the records
                told += sum(map(ord, str(error))) % 97
        with np.errstate(all="ignore"):
            return _POINTS[self.released](points + told)

    def _play(self, move: Move, handle: OracleHandle, points: Array) -> Array:
        asked: Any = points.copy()
        asked[:, 0] += move.step
        asked = _POINTS[move.points](asked)
        records = np.array(move.records)
        if move.own:
            records = (records[None, :] + np.arange(handle.runs)[:, None]) % handle.n
        made = None if move.made is None else np.tile(np.array(move.made), (handle.runs, 1))
        handle.ask(asked, records, made=made)
        if move.overwrites:
            records[...] = 0
            if made is not None:
                made[...] = True
            if isinstance(asked, np.ndarray) and asked.dtype.kind in "fc":
                asked[...] = 1e6
        for _ in range(move.answers):
            points = handle.project(np.array(handle.answer()))
        return points


_KEPT: list[tuple[OracleHandle, Array]] = []  # handles that should not have been kept, and points to ask at


def adversarial_optimizers(*, n: int, most_moves: int = 4) -> st.SearchStrategy[Adversary]:
    """Optimizers for n records that declare how they use the oracle, then try everything that the handle allows.

    Raises:
        InvalidArgumentError: if n is no integer of at least 1.
    """
    return _adversaries(whole_number("n", n), whole_number("most_moves", most_moves))


@st.composite
def _adversaries(draw: Any, n: int, most_moves: int) -> Adversary:
    declared = DeclaredUse(
        draw(st.integers(1, min(2, n))), draw(st.integers(1, 3)), draw(_USES), draw(st.integers(1, 2))
    )
    script = tuple(draw(st.lists(_moves(n, declared.batch or n), min_size=1, max_size=most_moves)))
    return Adversary(declared, script, draw(_RELEASED))


_USES = st.sampled_from([1, 2, "in turn"])
_RELEASED = st.sampled_from(["as they are", "not a number", "a list"])


@cache
def _moves(n: int, size: int) -> st.SearchStrategy[Move]:
    """Legal moves, and moves with a single fault, so that scripts are not refused at once."""
    plain = st.builds(
        Move,
        st.sampled_from(["as they are", "halved"]),
        st.sampled_from([0.0, 0.5, -1.0]),
        st.lists(st.integers(0, n - 1), min_size=size, max_size=size).map(tuple),
    )
    odd = st.one_of(
        st.sampled_from(["far", "outside"]).map(lambda name: {"points": name}),
        st.sampled_from(sorted(_POINTS)).map(lambda name: {"points": name}),
        st.lists(st.integers(-1, n), max_size=3).map(lambda found: {"records": tuple(found)}),
        st.tuples(st.booleans(), st.booleans()).map(lambda found: {"made": found}),
        st.sampled_from([{"answers": 0}, {"answers": 2}, {"own": True}, {"overwrites": True}, {"step": 1e6}]),
    )
    changed = st.builds(lambda move, changes: replace(move, **changes), plain, odd)
    return st.one_of(plain, changed, changed)


@dataclass
class _Listening:
    """An oracle that records what it should hide, and answers with messages drawn in advance."""

    oracle: GaussianOracle
    seed: int
    seen: list[Array]

    def respond(self, answers: FirstOrder, *, rng: Randomness) -> Any:
        """The message of the round, shape (runs, d)."""
        mean = np.asarray(answers.mean_gradient(), dtype=np.float64)
        self.seen.append(mean)
        drawn = np.random.default_rng([self.seed, len(self.seen)])
        return rng.xp.asarray(drawn.normal(scale=self.oracle.noise_stddev, size=mean.shape))

    def message_guarantee(self, sensitivity: float, batch: int) -> Guarantee | None:
        return self.oracle.message_guarantee(sensitivity, batch)


@dataclass(frozen=True)
class Leak:
    """What an optimizer learned.

    Attributes:
        spent: the mu of all that was computed from the records, of the run that it is largest in.
        stated: the mu of the guarantee; None if none is stated.
        messages: how many were sent.
    """

    spent: float
    stated: float | None
    messages: int


def check_interaction(
    method: PrivateOracleMethod, left: Dataset, right: Dataset, *, runs: int = 2, seed: int = 0
) -> Leak:
    """Whether, for given messages, an optimizer learns no more about the differing record than its guarantee allows.

    What a Gaussian oracle's messages show of two neighbors is N(m_t, sigma^2 I) against N(m_t', sigma^2 I), round by
    round, which is mu-GDP with mu^2 the sum of ||m_t - m_t'||^2 / sigma^2; that is compared with the stated mu. All
    else has to be the same on both sides, bit by bit: what is released, what is refused, and what is counted.

    Args:
        method: with a `GaussianOracle`; its messages are replaced by drawn ones, all else is its own.
        left: records.
        right: its neighbor by one replaced record.
        runs: made at once.
        seed: of the messages, and of the optimizer's own random numbers.

    Raises:
        AssertionError: if it learns more.
        InvalidArgumentError: for a method whose oracle is not an oracle.

    Examples:
        >>> from dpverify.algorithms.mn25 import PrivateOracleMethod
        >>> from dpverify.algorithms.mn25.private_oracles import CyclicDescent, GaussianOracle
        >>> from dpverify.problems import Ball, Dataset, Linear, Problem
        >>> from dpverify.properties import check_interaction
        >>> left = Dataset([[1.0], [0.0]], [1.0, 1.0])
        >>> method = PrivateOracleMethod(Problem(Linear(), Ball(1, 1.0)), GaussianOracle(1.0), CyclicDescent(2, 1, 0.1))
        >>> check_interaction(method, left, left.replace(1, [-1.0], 1.0))
        Leak(spent=2.0, stated=2.0, messages=2)
    """
    oracle = getattr(method, "oracle", None)
    if not isinstance(oracle, GaussianOracle):
        raise InvalidArgumentError("method", method, "one with a GaussianOracle")
    for side, data in (("left", left), ("right", right)):
        of_kind(side, data, Dataset)
    stated = method.guarantees(left.n)
    listeners = [_Listening(oracle, seed, []) for _ in range(2)]
    ends = [
        _end(replace(method, oracle=listener), data, runs, seed)
        for listener, data in zip(listeners, (left, right), strict=True)
    ]
    answered = [len(listener.seen) for listener in listeners]
    while _KEPT:
        _insist(*_KEPT.pop())
    if [len(listener.seen) for listener in listeners] != answered:
        raise AssertionError("A message is sent after the points were released.")
    if ends[0] != ends[1]:
        raise AssertionError(f"What is released or refused tells the records apart: {ends[0]} and {ends[1]}.")
    if answered[0] != answered[1]:
        raise AssertionError(
            f"{answered[0]} messages are sent about one data set and {answered[1]} about the other."
        )
    squared = np.zeros(runs)
    for here, there in zip(*(listener.seen for listener in listeners), strict=True):
        same = (here == there) | (np.isnan(here) & np.isnan(there))
        with np.errstate(all="ignore"):
            apart = np.where(same, 0.0, (here - there) / oracle.noise_stddev)
            squared += np.sum(np.where(np.isnan(apart), math.inf, apart) ** 2, axis=1)
    spent = float(np.sqrt(np.max(squared, initial=0.0)))
    mu = None
    if stated:
        assert isinstance(stated.headline.guarantee, GDP)
        mu = stated.headline.guarantee.mu
        if not spent <= mu * (1 + _ROUNDING):
            raise AssertionError(
                f"An optimizer within its limits learns {spent:g}-GDP, where {mu:g}-GDP is stated."
            )
    return Leak(spent, mu, answered[0])


def _end(method: PrivateOracleMethod, data: Dataset, runs: int, seed: int) -> str:
    """What is released, with all digits, or why nothing is."""
    try:
        output = method(data, rng=Randomness(seed), runs=runs)
    except DpverifyError as error:
        return f"{type(error).__name__}: {error}"
    return (
        f"{np.asarray(output.points).tolist()} after {np.asarray(output.gradient_queries).tolist()} queries"
    )


def _insist(handle: OracleHandle, points: Array) -> None:
    """Ask again after the end, within what may have been declared."""
    for size in (1, 2):
        try:
            handle.ask(points, list(range(size)))
            handle.answer()
        except DpverifyError:
            continue
