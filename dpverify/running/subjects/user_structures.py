"""A user's function from a data set to its stated structure, called in a worker process of its own."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpverify import problems
from dpverify.checks import FloatArray
from dpverify.errors import DpverifyError, InvalidDataError
from dpverify.running.subjects.stating import SETS
from dpverify.running.subjects.structure import Move, StatedStep, StatedStructure
from dpverify.running.user_process import plain, with_message
from dpverify.running.user_sessions import ForeignError, Limits, Target, UserSession

_WORDS = 4  # numbers of 63 bits from which a map that draws gets its generator


class UserStructure:
    """Calls `package.module:function`, data -> `StatedStructure`, and the maps of what it returns.

    They may exit, hang, print or crash; the worker process is ended by `close`, and with the program.
    """

    def __init__(self, target: str, limits: Limits | None = None) -> None:
        self._target = Target(target, structure=True)
        self._calls = itertools.count()
        self._session = UserSession(self._target, limits or Limits())
        self._session.start(str(Path.cwd()))

    def __enter__(self) -> UserStructure:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()

    def of(self, data: ArrayLike) -> StatedStructure:
        """What is stated of runs on these data, with maps that are called in the worker process."""
        header, _ = self._ask({"ask": "state"}, np.asarray(data))
        try:
            stated, number = header["stated"], int(header["number"])
            steps = tuple(
                StatedStep(self._move(number, t, bool(draws)), stddev, constant, bool(draws))
                for t, (stddev, constant, draws) in enumerate(stated["steps"])
            )
            return StatedStructure(
                stated["start"],
                steps,
                _constraint(stated["constraint"]),
                stated["skipped"],
                stated["stopped"],
            )
        except DpverifyError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidDataError(
                f"The structure {self._target} wrote to the pipe through which it is read; allowed: code that writes "
                "only to what it opened."
            ) from error

    def _move(self, number: int, t: int, draws: bool) -> Move:
        def move(states: FloatArray, rng: np.random.Generator) -> FloatArray:
            # a map's draws are a stream of their own, so that the noise after it stays as it is; what a map that is
            # said to draw nothing does with a generator is found by giving it another one each time
            seeds = rng.integers(2**63, size=_WORDS).tolist() if draws else [next(self._calls)]
            asked = {"ask": "move", "number": number, "step": t, "seeds": seeds}
            _, payload = self._ask(asked, np.ascontiguousarray(states))
            try:
                return np.asarray(plain(payload), dtype=np.float64)
            except ValueError as error:
                raise InvalidDataError(
                    f"The structure {self._target} sent something other than a plain array; allowed: images alone."
                ) from error

        return move

    def _ask(self, asked: dict[str, Any], array: Any) -> tuple[dict[str, Any], bytes]:
        try:
            return self._session.ask(asked, array)
        except ForeignError as error:
            said = with_message(error.message, error.where)
            raise InvalidDataError(f"The structure {self._target} raised {error.kind}{said}") from error


def _constraint(described: Any) -> problems.ConstraintSet | None:
    if described is None:
        return None
    name, fields = described
    if name not in SETS:
        raise ValueError(name)
    made: problems.ConstraintSet = getattr(problems, name)(**fields)
    return made
