"""What a request runs: a named function or a command in worker processes, a callable here or in a guarded copy."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.outputs.encoding import Encoder
from dpverify.auditing.requests.data import Sides
from dpverify.auditing.requests.request import Request
from dpverify.errors import InvalidArgumentError, InvalidDataError, OneSideFailsError
from dpverify.problems.tables.records import Records
from dpverify.running import BatchMechanism, FunctionMechanism, Progress, Store, UserMechanism, repeats, run
from dpverify.running.subjects import estimators
from dpverify.running.subjects.forked_sessions import ForkedSession, one_truth_value

_SIDES = ("data set", "neighbor")
BLOCK = 1000
"""Runs in a block: small, since a user's function may take long for one run."""

# ------------------------------------------------------------------------------------------- mechanisms


@contextlib.contextmanager
def loaded(request: Request) -> Iterator[BatchMechanism]:
    """What a request is about, ready to be run."""
    if request.target is None:
        yield as_mechanism(
            request.function, tuple(request.attribute or ()), count_exceptions=request.count_exceptions
        )
        return
    with UserMechanism.load(request.target, limits=request.limits) as mechanism:
        yield mechanism


def as_mechanism(
    mechanism: Any, attributes: Sequence[str] = (), *, count_exceptions: bool = False
) -> BatchMechanism:
    """A mechanism as it is; a plain function, which takes `rng` by position, or an estimator as one."""
    if attributes:
        name = str(getattr(mechanism, "__qualname__", type(mechanism).__qualname__))
        fitting = estimators.fitting(mechanism, name, attributes)
        return FunctionMechanism(fitting, count_exceptions=count_exceptions)
    if not callable(mechanism):
        raise InvalidArgumentError(
            "function",
            mechanism,
            "a mechanism, or a function (data, rng) -> output or (data, rng, runs) -> outputs",
        )
    try:
        rng = inspect.signature(mechanism).parameters.get("rng")
    except (TypeError, ValueError):
        rng = None
    found: BatchMechanism = mechanism
    if rng is not None and rng.kind is rng.KEYWORD_ONLY:
        if count_exceptions:
            raise InvalidArgumentError(
                "count_exceptions",
                True,
                "False for a mechanism that takes rng by name, whose runs are one call",
            )
        return found
    return FunctionMechanism(mechanism, count_exceptions=count_exceptions)


@dataclass(frozen=True)
class _OfTables:
    """A mechanism that takes `rng` by name, given a table in its form, of its own for every call."""

    mechanism: BatchMechanism

    def __call__(self, data: Records, *, rng: Any, runs: int) -> Any:
        return self.mechanism(data.copy(), rng=rng, runs=runs)

    @property
    def any_output(self) -> bool:
        """Whether outputs may be of any form."""
        return getattr(self.mechanism, "any_output", False) is True


# ------------------------------------------------------------------------------------------- draws


class Draws:
    """A mechanism on two data sets: rounds of runs with random numbers of their own.

    `stream` is for a single round, apart from the audit's own, which are numbered from 0.
    """

    def __init__(
        self,
        request: Request,
        mechanism: BatchMechanism,
        sides: Sides,
        *,
        stream: tuple[int, ...] = (),
        store: Store | str | Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        if isinstance(sides[0], Records) and not isinstance(mechanism, FunctionMechanism | UserMechanism):
            mechanism = _OfTables(mechanism)
        self._request, self._mechanism, self._sides = request, mechanism, sides
        self._stream, self._store, self._progress = stream, store, progress
        self._session: ForkedSession | None = None
        self._last: dict[int, NDArray[Any]] = {}
        self._rounds = 0
        self.encoder = Encoder()
        self.name_event = self.encoder.name_event

    @contextlib.contextmanager
    def ready(self) -> Iterator[Draws]:
        """Runs are made in a guarded copy of this process for as long as this lasts, if the request says so."""
        limits = self._request.limits
        if self._request.target is not None or limits is None or not hasattr(os, "fork"):
            yield self
            return
        with ForkedSession(self._request.about, self._work, limits) as self._session:
            yield self

    def draw(self, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """A round of so many runs on each data set."""
        made = []
        for side in (0, 1):
            try:
                made.append(self._outputs(side, count))
            except InvalidDataError as error:
                if self._returns(1 - side, count, made, error):
                    raise OneSideFailsError(
                        str(error), *(_SIDES[turn] for turn in (side, 1 - side))
                    ) from error
                raise
        self._rounds += 1
        return self.encoder.rows(made[0], made[1])

    def _outputs(self, side: int, count: int) -> NDArray[Any]:
        if self._session is None:
            return self._points(side, count, self._rounds, self._progress)
        return self._session.outputs(side, count, self._rounds)

    def _returns(self, side: int, count: int, made: list[NDArray[Any]], error: InvalidDataError) -> bool:
        """Whether the function returns on this data set where it raised an error on the other."""
        if self._request.command is not None or not (self._session or isinstance(error.__cause__, Exception)):
            return False
        if made:
            return True
        try:
            with self.ready():  # the copy in which it failed was ended
                self._outputs(side, count)
        except InvalidDataError:
            return False
        return True

    @property
    def needs(self) -> dict[int, int]:
        """Columns that say something only where another one varies."""
        return self.encoder.needs

    def repeats(self) -> bool | None:
        """Whether a block of the last round gives the same bits again; None where nothing was drawn."""
        if not self._rounds:
            return None
        if self._session is not None:
            return one_truth_value(self._session.outputs(self._rounds - 1))
        return self._same(self._rounds - 1)

    def _work(self, asked: Sequence[int], progress: Progress) -> NDArray[Any]:
        """In the copy: outputs of a side, or whether they repeat."""
        if len(asked) == 1:
            return np.array([self._same(asked[0])])
        side, count, turn = asked
        return self._points(side, count, turn, progress)

    def _points(self, side: int, count: int, turn: int, progress: Progress | None) -> NDArray[Any]:
        request, limits = self._request, self._request.limits
        self._last[side] = run(
            self._mechanism,
            self._sides[side],
            runs=count,
            seed=self._seed(side, turn),
            executor=request.executor,
            store=self._store,
            progress=progress,
            block_size=BLOCK,
            result_limit=None if limits is None else limits.memory // 2,
        ).points
        return self._last[side]

    def _same(self, turn: int) -> bool:
        return all(
            repeats(self._mechanism, self._sides[side], points, seed=self._seed(side, turn), block_size=BLOCK)
            for side, points in sorted(self._last.items())
        )

    def _seed(self, side: int, turn: int) -> tuple[int, ...]:
        return (self._request.seed, side, *(self._stream or (turn,)))
