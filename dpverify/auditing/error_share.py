"""One failure probability for a whole run, divided in one place.

If every check of a run is wrong with at most the probability that it was given, then by the union bound the run
raises a false alarm with at most the total, however many checks there are and however they depend on one another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpverify import checks
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.document import ErrorBudget
from dpverify.ledger.records import SpentShare

Weight = int | float | Fraction


class ErrorShare:
    """A failure probability that is divided, once or part by part, or spent, once.

    The parts of a share add up to at most the share: they are kept as exact fractions, and as floats are rounded down.
    Whoever spends one says what for; `record` of the whole then tells who spent how much, and why.

    Raises `InvalidArgumentError` unless 0 < failure_probability < 1.
    """

    def __init__(self, failure_probability: float, *, name: str = "all") -> None:
        self._exact = Fraction(checks.probability("failure_probability", failure_probability))
        self._name = _checked_name(name)
        self._parts: tuple[ErrorShare, ...] = ()
        self._why: str | None = None
        self._elsewhere: tuple[SpentShare, ...] = ()
        self._in_turn = False

    @classmethod
    def of(cls, failure_probability: float | ErrorShare, *, name: str = "all") -> ErrorShare:
        """Return a share as it is, and a number as a share of its own; the least one that audits take is 1e-15."""
        if isinstance(failure_probability, ErrorShare):
            share = failure_probability
            checks.failure_probability("failure_probability", share.failure_probability)
            return share
        return cls(checks.failure_probability("failure_probability", failure_probability), name=name)

    @classmethod
    def nothing(cls, *, name: str = "all") -> ErrorShare:
        """A share for who spends nothing: it can be neither divided nor spent."""
        share = cls(0.5, name=name)
        share._exact = Fraction(0)
        return share

    @property
    def name(self) -> str:
        """Whose it is."""
        return self._name

    @property
    def failure_probability(self) -> float:
        """How much it is, for planning and for messages; it is only used up by `spend`."""
        return _rounded_down(self._exact)

    def split(self, *names: str, weights: Sequence[Weight] = ()) -> tuple[ErrorShare, ...]:
        """Hand on all of it, in equal parts or in proportion to positive weights, and keep nothing.

        Raises `InvalidArgumentError` for no names, names that are equal, other weights, and a share that was divided or
        spent before.
        """
        self._check_unused()
        if not names or len(set(names)) != len(names):
            raise InvalidArgumentError("names", names, "at least one name, all different")
        parts = _checked_weights(weights, len(names))
        total = sum(parts)
        self._parts = tuple(
            self._part(name, self._exact * part / total) for name, part in zip(names, parts, strict=True)
        )
        return self._parts

    def next_part(self, name: str = "") -> ErrorShare:
        """Hand on the next part, where nobody knows how many will be asked for: the k-th is 1/(k (k + 1)) of it.

        However many are asked for, and for whatever reason one stops, they add up to less than the share. What the k-th
        part is for may depend on all that came before, as long as it is spent on randomness of its own. An empty name
        stands for the part's number, from 1.

        Raises `InvalidArgumentError` for a share that was divided by `split` or spent before, and for a part that no
        float can hold.
        """
        if not self._in_turn:
            self._check_unused()
        count = len(self._parts) + 1
        part = self._part(name or str(count), self._exact / (count * (count + 1)))
        self._in_turn = True
        self._parts = (*self._parts, part)
        return part

    def spend(self, why: str) -> float:
        """Use it up, and say what for.

        Raises `InvalidArgumentError` for a reason that is no text, and a share that was divided or spent before.
        """
        self._check_unused()
        checks.require(isinstance(why, str) and why, "why", why, "a nonempty string")
        self._why = why
        return self.failure_probability

    def settle(self, spent: Sequence[SpentShare]) -> None:
        """Use it up by what was spent of a copy of it, in another process say.

        Raises `InvalidArgumentError` for more than all of it, for nothing, and for a share that was used before.
        """
        self._check_unused()
        total = sum((Fraction(part.failure_probability) for part in spent), Fraction(0))
        if not 0 < total <= self._exact:
            raise InvalidArgumentError(
                "spent",
                float(total),
                f"above 0 and at most {self.failure_probability!r}, the share of {self._name}",
            )
        self._elsewhere = tuple(spent)

    def spent(self) -> tuple[SpentShare, ...]:
        """Who spent how much and why, in the order of the divisions; paths are below this share."""
        if self._why is not None:
            return (
                SpentShare(path=(self._name,), failure_probability=self.failure_probability, why=self._why),
            )
        return self._elsewhere + tuple(
            below if below.path == (part.name,) else below.below(part.name)
            for part in self._parts
            for below in part.spent()
        )

    def record(self) -> ErrorBudget:
        """Give the form that the ledger keeps: what was handed on, by name, and what it was spent on."""
        return ErrorBudget(
            failure_probability=self.failure_probability,
            spent={part.name: part.failure_probability for part in self._parts},
            shares=self.spent(),
        )

    def _part(self, name: str, amount: Fraction) -> ErrorShare:
        rounded = _rounded_down(amount)
        checks.require(rounded > 0, "weights", float(amount), "parts that a float can hold")
        return ErrorShare(rounded, name=name)

    def _check_unused(self) -> None:
        checks.require(self._exact, "failure_probability", 0.0, "a share of something to divide or to spend")
        if self._parts or self._elsewhere or self._why is not None:
            done = "divided" if self._parts else "spent"
            raise InvalidArgumentError("share", self._name, f"one that was not {done} before")

    def __repr__(self) -> str:
        return f"ErrorShare({self.failure_probability:.6g}, name={self._name!r})"


def _checked_name(name: str) -> str:
    checks.require(isinstance(name, str) and name, "name", name, "a nonempty string")
    return name


def _checked_weights(weights: Sequence[Weight], count: int) -> list[Fraction]:
    if len(weights) == 0:
        return [Fraction(1)] * count
    right = len(weights) == count and all(
        not isinstance(w, bool) and isinstance(w, int | float | Fraction) and 0 < w < math.inf
        for w in weights
    )
    checks.require(right, "weights", weights, "one positive number for each name")
    return [Fraction(w) for w in weights]


def _rounded_down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)
