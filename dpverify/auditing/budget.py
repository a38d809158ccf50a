"""One failure probability for a whole run, spent once.

If every check of a run is wrong with at most the probability it was granted, then by the union bound the run
raises a false alarm with at most the total, however many checks there are and however they depend on
one another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpverify import checks
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Budget

_ROUNDING = Fraction(1, 10**9)
"""Requests may exceed what is left by this part of the total; they are then granted what is left."""


class ErrorBudget:
    """The family-wise failure probability of a run.

    The sum of all grants never exceeds `total`: it is kept in exact fractions. So that a thousand requests
    for a thousandth do not fail by a rounding error, a request that exceeds the remainder by less than
    1e-9 of the total is granted the remainder instead.

    Raises `InvalidArgumentError` unless 0 < total < 1.
    """

    def __init__(self, total: float) -> None:
        self._total = Fraction(checks.probability("failure_probability", total))
        self._granted = Fraction(0)
        self._spent: dict[str, float] = {}

    @property
    def total(self) -> float:
        """The failure probability of the whole run."""
        return float(self._total)

    @property
    def spent(self) -> dict[str, float]:
        """What was granted, by name, in the order of the requests (a copy)."""
        return dict(self._spent)

    @property
    def remaining(self) -> float:
        """What is left to spend."""
        return _rounded_down(self._left())

    def spend(
        self, name: str, *, amount: float | None = None, share: float | Fraction | None = None
    ) -> float:
        """Grant `name` a failure probability, once.

        Exactly one of `amount` (a probability) and `share` (a part of the total, in (0, 1]) is given.

        Raises `InvalidArgumentError` for a name that was granted something before, for a request that is not
        positive, and for one that exceeds what is left.
        """
        self._check_name(name)
        if (amount is None) == (share is None):
            raise InvalidArgumentError("amount", amount, "exactly one of amount and share")
        if share is not None:
            request = _checked_share(share) * self._total
        else:
            request = Fraction(checks.probability("amount", amount))
        left = self._left()
        if left <= 0 or request > left + _ROUNDING * self._total:
            raise InvalidArgumentError(
                "amount", float(request), f"at most {float(left):g}, which is left of {float(self._total):g}"
            )
        granted = _rounded_down(min(request, left))
        if not granted > 0:
            raise InvalidArgumentError("amount", float(request), "a probability that a float can hold")
        self._spent[name] = granted
        self._granted += Fraction(granted)
        return granted

    def split(self, names: Sequence[str], *, share: float | Fraction = 1) -> dict[str, float]:
        """Grant each of `names` an equal part of `share` of the total; all of them or none."""
        if not names:
            raise InvalidArgumentError("names", names, "at least one name")
        if len(set(names)) != len(names):
            raise InvalidArgumentError("names", names, "different names")
        part = _checked_share(share)
        for name in names:
            self._check_name(name)
        if part * self._total > self._left() + _ROUNDING * self._total:
            raise InvalidArgumentError(
                "share", share, f"at most {float(self._left() / self._total):g}, what is left"
            )
        return {name: self.spend(name, share=part / len(names)) for name in names}

    def record(self) -> Budget:
        """Give the form that the ledger keeps."""
        return Budget(failure_probability=self.total, spent=self.spent)

    def _left(self) -> Fraction:
        return self._total - self._granted

    def _check_name(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise InvalidArgumentError("name", name, "a nonempty string")
        if name in self._spent:
            raise InvalidArgumentError("name", name, "a name without an earlier grant")


def _checked_share(share: float | Fraction) -> Fraction:
    if isinstance(share, bool) or not isinstance(share, int | float | Fraction) or not 0 < share <= 1:
        raise InvalidArgumentError("share", share, "a number in (0, 1]")
    return Fraction(share)


def _rounded_down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0.0)
