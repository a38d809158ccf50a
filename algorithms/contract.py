"""What every algorithm states, under the same names.

`dpverify.properties.check_algorithm` checks it, for the papers' algorithms in the tests and for a user's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.on_device import OnDevice
from dpverify.algorithms.parameters import check_parameters
from dpverify.algorithms.promises import StatedQueries, StatedRisk, StatedSamplingError, missed, words
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.ledger.origins import Origin
from dpverify.privacy import Adjacency, Condition, Guarantee, ProtectedRecords, StatedGuarantee
from dpverify.privacy.adjacency import ALL_RECORDS
from dpverify.running import Output, Randomness, StatedStructure
from dpverify.running.foresight import USUAL_CALL


def given_up(algorithm: object) -> tuple[str, ...]:
    """That the user withdrew the guarantee; empty if he did not."""
    withdrawn = getattr(algorithm, "withdraw_guarantee", False)
    return ("it was withdrawn with withdraw_guarantee=True",) if withdrawn else ()


@dataclass(frozen=True, init=False)
class Guarantees:
    """The guarantees that an algorithm states for a given number of records, by name; empty if it states none.

    Iteration yields each of them once, the headline first. They cannot be accessed by position.

    Attributes:
        as_printed: what the paper concludes for these parameters, corrected if it is false; None if the paper states
            nothing for all records.
        local: about each record's own report only; None if there is no such guarantee.
        others: guarantees without a name.
    """

    _headline: StatedGuarantee | None
    _sharpest: StatedGuarantee | None
    as_printed: StatedGuarantee | None
    local: StatedGuarantee | None
    others: tuple[StatedGuarantee, ...]

    def __init__(
        self,
        headline: StatedGuarantee | None = None,
        *,
        sharpest: StatedGuarantee | None = None,
        as_printed: StatedGuarantee | None = None,
        local: StatedGuarantee | None = None,
        others: Iterable[StatedGuarantee] = (),
    ) -> None:
        """If no guarantee is named as the sharpest, it is found among the headline and the others.

        Raises:
            InvalidArgumentError: for anything but a `StatedGuarantee`, or for other guarantees without a headline.
        """
        others = tuple(others)
        given = {"headline": headline, "sharpest": sharpest, "as_printed": as_printed, "local": local}
        for name, stated in (*given.items(), *(("others", other) for other in others)):
            if stated is not None and not isinstance(stated, StatedGuarantee):
                raise InvalidArgumentError(name, stated, "a StatedGuarantee")
        if headline is None and (others or any(stated is not None for stated in given.values())):
            raise InvalidArgumentError("headline", None, "a StatedGuarantee, where others are stated")
        vars(self).update(
            _headline=headline, _sharpest=sharpest, as_printed=as_printed, local=local, others=others
        )

    @property
    def headline(self) -> StatedGuarantee:
        """The guarantee that is reported first, and that wrappers build on.

        Raises:
            NotGuaranteedError: if none is stated.
        """
        if self._headline is None:
            raise NotGuaranteedError(
                "No guarantee is stated here; `withdrawn(n)` says why, if it was withdrawn."
            )
        return self._headline

    @property
    def sharpest(self) -> StatedGuarantee:
        """The guarantee with the smallest known privacy profile, which may be the headline.

        If it has no name, it is the one with the smallest sum of deltas over epsilons from 0 to 16 among those that
        nowhere exceed the headline there.

        Raises:
            NotGuaranteedError: if none is stated.
        """
        if self._sharpest is not None:
            return self._sharpest
        headline = self.headline
        if not self.others or headline.local:
            return headline
        found = [headline, *(one for one in self.others if not one.local)]
        profiles = [np.asarray(one.guarantee.privacy_profile(_GRID)) for one in found]
        below = [i for i, profile in enumerate(profiles) if np.all(profile <= profiles[0])]
        return found[min(below, key=lambda i: float(np.sum(profiles[i])))]

    def __iter__(self) -> Iterator[StatedGuarantee]:
        seen: list[StatedGuarantee] = []
        for one in (self._headline, self._sharpest, self.as_printed, *self.others, self.local):
            if one is not None and not any(one is other for other in seen):
                seen.append(one)
                yield one

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def map(self, change: Callable[[StatedGuarantee], StatedGuarantee]) -> Guarantees:
        """The same names, with each guarantee replaced by what `change` returns for it."""
        changed = {id(one): change(one) for one in self}
        named = (self._headline, self._sharpest, self.as_printed, self.local)
        headline, sharpest, printed, local = (one and changed[id(one)] for one in named)
        others = [changed[id(one)] for one in self.others]
        return Guarantees(headline, sharpest=sharpest, as_printed=printed, local=local, others=others)

    def without_local(self) -> Guarantees:
        """All but the local guarantee; empty if that is the headline."""
        if self._headline is None or self._headline.local:
            return Guarantees()
        return Guarantees(
            self._headline, sharpest=self._sharpest, as_printed=self.as_printed, others=self.others
        )


_GRID = np.linspace(0.0, 16.0, 65)


def replace_one(
    guarantee: Guarantee,
    *sources: str,
    conditions: tuple[Condition, ...] = (),
    protected: ProtectedRecords = ALL_RECORDS,
    origin: Origin | None = None,
) -> StatedGuarantee:
    """A guarantee for data sets that differ in one record, by the statements with these ids."""
    return StatedGuarantee(
        guarantee,
        Adjacency.REPLACE_ONE,
        sources=sources,
        conditions=conditions,
        protected=protected,
        origin=origin,
    )


def promised(
    name: str,
    guarantee: Guarantee,
    *,
    conditions: tuple[Condition, ...] = (),
    protected: ProtectedRecords = ALL_RECORDS,
    **values: object,
) -> StatedGuarantee:
    """A guarantee for data sets that differ in one record, with the sources and the origin of a row (`words`)."""
    row = words(name, **values)
    sources, origin = row["sources"], row["origin"]
    return replace_one(guarantee, *sources, conditions=conditions, protected=protected, origin=origin)


class Algorithm(ABC):
    """An algorithm: a frozen dataclass of its parameters, called as `(data, *, rng, runs)`.

    It can be pickled, its fingerprint changes with its parameters and nothing else (`running.fingerprint`), and it
    draws all of its randomness from `rng`, so that its outputs have the same bits on every executor.
    """

    id: ClassVar[str]
    """Its row in the catalog, or a name such as `mine.mean`."""
    statements: ClassVar[tuple[str, ...]] = ()
    """Ids of the statements that it rests on."""
    fewest: ClassVar[int] = 1
    """How many records it needs at least."""
    unstated: ClassVar[Mapping[str, str]] = {}
    """Why it states no `risk`, `queries` or `sampling error`, why it has no `weaker version`, or why its `parameters`
    differ from those that the paper prints."""

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        """Functions that make small instances; empty if there are none."""
        return {}

    def __post_init__(self) -> None:
        """Check each parameter as its field declares it (`parameters`); algorithms add what they must be together.

        Raises:
            InvalidArgumentError: if one is outside of what is allowed.
            NotGuaranteedError: if the parameters void the guarantee and it was not withdrawn.
        """
        check_parameters(self)

    @property
    def seconds_a_call(self) -> float:
        """How long an oracle call and what belongs to it take in a run with NumPy alone, about; see `foresight`."""
        return USUAL_CALL

    @abstractmethod
    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        """Make a number of independent runs.

        Raises:
            NotGuaranteedError: if the guarantee does not hold for these data and was not withdrawn.
            InvalidDataError: if the guarantee does not cover these records.
        """

    def on_device(self, device: str) -> OnDevice:
        """The same law, with the steps taken by JAX on a `cpu` or a `gpu`, for noisy gradient methods.

        Raises:
            MissingExtraError: without JAX.
            InvalidArgumentError: for a device that is not there.
        """
        return OnDevice(self, device)

    def guarantees(self, n: int) -> Guarantees:
        """What it guarantees on n records; empty if there is no guarantee, or it was withdrawn or does not hold.

        Raises:
            InvalidArgumentError: if it cannot run on n records.
        """
        n = whole_number("n", n, at_least=self.fewest)
        return Guarantees() if self.withdrawn(n) else self._guaranteed(n)

    def _guaranteed(self, n: int) -> Guarantees:
        """What it guarantees on n records, where nothing voids it."""
        return Guarantees()

    def guarantee_at(self, n: int, index: int) -> StatedGuarantee | None:
        """What it guarantees for one record of n, at an index from 1; None if nothing.

        Raises:
            InvalidArgumentError: if there is no such record.
        """
        whole_number("index", index, at_most=whole_number("n", n))
        stated = self.guarantees(n)
        return stated.headline.at(index, n) if stated else None

    def structure(self, data: Any) -> StatedStructure | None:
        """The steps of a run on these data: their maps and their noise, up to the state that is released.

        None if the algorithm does not end in a Gaussian step, or does not state its steps.
        """
        return None

    def withdrawn(self, n: int) -> tuple[str, ...]:
        """Why the guarantee does not hold on n records, in words; empty if it does, or if there never was one."""
        whole_number("n", n)
        return (*self._voids(n), *given_up(self))

    def _voids(self, n: int) -> tuple[str, ...]:
        """What voids the guarantee on n records, whether it was withdrawn or not."""
        return ()

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """How many oracle calls a run on n records makes, one entry per oracle; empty if that is not stated."""
        whole_number("n", n)
        return ()

    def gradient_query_count(self, n: int) -> int | None:
        """How many gradients of single records a run on n records asks for, at most; None if that is not stated."""
        stated = (one.count for one in self.queries(n) if one.oracle == "gradient" and not one.expected)
        return next((int(count) for count in stated), None)

    def risk_bound(self, n: int) -> StatedRisk | None:
        """A bound on its excess risk on n records; None if it states none."""
        whole_number("n", n)
        return None

    def population_risk_bound(self, n: int) -> StatedRisk | None:
        """A bound on its expected excess risk for the population that n records are drawn from (see `population`).

        None if none follows from `risk_bound`.
        """
        from dpverify.algorithms.population import population_risk

        return population_risk(self, whole_number("n", n))

    def stability(self, n: int) -> float | None:
        """How far its output moves if one of n records is replaced, at most in expectation, a length.

        The two runs may share their randomness. None if that is not known.
        """
        whole_number("n", n)
        return None

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """A bound on its excess risk on n records with that probability, in (0, 1); None if it states none."""
        whole_number("n", n)
        missed(probability)
        return None

    def sampling_error(self, n: int) -> StatedSamplingError | None:
        """How far its output distribution may be from its target; None if that is not stated."""
        whole_number("n", n)
        return None
