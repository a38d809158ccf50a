"""What an algorithm promises besides privacy: risk, oracle complexity, sampling error.

Privacy is stated with `dpverify.privacy.StatedGuarantee`. An algorithm that promises more has the methods
`risk_bound(n) -> StatedRisk | None`, `queries(n) -> tuple[StatedQueries, ...]` and
`sampling_error(n) -> StatedSamplingError | None`.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Literal, TypedDict

from dpverify.checks import number
from dpverify.ledger.origins import AsPrinted, Corrected, Origin, Unstated
from dpverify.ledger.records import is_vacuous


class Words(TypedDict):
    """What is said of a number that is stated: keyword arguments of the classes below."""

    sources: tuple[str, ...]
    conditions: str
    formula: str
    origin: Origin | None


def words(name: str, **values: object) -> Words:
    """The row `PAPER.ALGORITHM/WHAT` of the paper's promises.csv, with values in the place of its {letters}.

    `of` is the statement whose print is quoted, if that is not the first of the sources. A row with a print and
    without a reason states what is printed; one with a reason alone states what no paper prints.
    """
    row = {key: text.format(**values) for key, text in _rows(name.partition(".")[0])[name].items()}
    sources = tuple(row["sources"].split())
    of, printed, because, holds_for = (row[key] for key in ("of", "printed", "because", "holds_for"))
    origin: Origin | None = Unstated(because) if because else None
    if printed:
        of = of or sources[0]
        origin = Corrected(of, printed, because, holds_for) if because else AsPrinted(of, printed, holds_for)
    return Words(sources=sources, conditions=row["conditions"], formula=row["formula"], origin=origin)


def missed(probability: float) -> float:
    """With which probability a bound of that probability, in (0, 1), may fail."""
    return 1 - number("probability", probability, above=0, below=1, allowed="a number in (0, 1)")


def reasons(algorithm: str) -> Mapping[str, str]:
    """`Algorithm.unstated` of an algorithm: the reasons of its rows `PAPER.ALGORITHM/unstated WHAT`."""
    start = f"{algorithm}/unstated "
    rows = _rows(algorithm.partition(".")[0]).items()
    return {name.removeprefix(start): row["because"] for name, row in rows if name.startswith(start)}


def words_of(stated: StatedRisk | StatedQueries) -> dict[str, str]:
    """What something stated says of itself, to be quoted in a row of another algorithm."""
    sources = " ".join(stated.sources)
    return {"sources": sources, "conditions": stated.conditions, "formula": stated.formula}


@cache
def _rows(paper: str) -> Mapping[str, Mapping[str, str]]:
    table = resources.files(f"dpverify.algorithms.{paper}").joinpath("promises.csv")
    return {row["name"]: row for row in csv.DictReader(table.read_text(encoding="utf-8").splitlines())}


@dataclass(frozen=True)
class StatedRisk:
    """A bound on an excess risk.

    Attributes:
        bound: in units of the loss.
        total: True for the sum over the records, False for the mean.
        population: True for the excess population risk, False for the excess empirical risk.
        probability: a lower bound on the probability that it holds; None for a bound on the expectation.
        sources: statement ids.
        theorem: what the theorem's own proof gives, if that is another bound on the same risk; in units of the loss.
        conditions: in words, what else must hold.
        formula: the bound, in the paper's letters.
        origin: what the paper prints, and what was corrected; None if unknown.
    """

    bound: float
    total: bool
    population: bool = False
    probability: float | None = None
    theorem: float | None = None
    sources: tuple[str, ...] = ()
    conditions: str = ""
    formula: str = field(default="", compare=False)
    origin: Origin | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """One line, for terminals and reports."""
        what = "population" if self.population else ("total empirical" if self.total else "mean empirical")
        how = "expected " if self.probability is None else ""
        line = f"{how}excess {what} risk at most {self.bound:.4g}"
        if self.theorem is not None and self.theorem != self.bound:
            line += f" ({self.theorem:.4g} by the theorem's own proof)"
        return line if self.probability is None else f"{line} with probability at least {self.probability:g}"

    def vacuous(self, largest: float) -> bool:
        """Whether the bound says nothing because no point of the set has a larger risk.

        Args:
            largest: the largest excess risk on the set, or a bound on it, a mean or a total as `bound` is.
        """
        number("largest", largest, at_least=0, allowed="a number of at least 0")
        return self.bound == math.inf or is_vacuous(self.bound, largest)

    def against(self, largest: float) -> str:
        """One line as from `str`, marked as vacuous if no point of the set has a risk above `largest`."""
        if not self.vacuous(largest):
            return str(self)
        return f"{self}: vacuous, as no point of the set has more than {largest:.4g}"


@dataclass(frozen=True)
class StatedQueries:
    """How many oracle calls a run makes.

    Attributes:
        oracle: what is called; one gradient or value query is about one record.
        count: how many.
        exact: True if every run makes exactly this many calls; False for an upper bound.
        expected: True if the count is an expectation over runs.
        sources: statement ids.
        conditions: in words, what else must hold.
        formula: the count, in the paper's letters.
        origin: what the paper prints, and what was corrected; None if unknown.
    """

    oracle: Literal["gradient", "value", "projection", "linear minimization"]
    count: float
    exact: bool = True
    expected: bool = False
    sources: tuple[str, ...] = ()
    conditions: str = ""
    formula: str = field(default="", compare=False)
    origin: Origin | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """One line, for terminals and reports."""
        how = "" if self.exact else "at most "
        return f"{how}{self.count:.6g} {self.oracle} queries{' in expectation' if self.expected else ''}"


@dataclass(frozen=True)
class StatedSamplingError:
    """How far the distribution of the output may be from its target.

    Attributes:
        distance: `total variation`, or `multiplicative`: every event's probability is within a factor
            exp(bound) of the right one, both ways; only the latter keeps pure differential privacy.
        bound: dimensionless; 0 for an exact sampler.
        sources: statement ids.
        conditions: in words, what else must hold.
        formula: the target distribution.
        origin: what the paper prints, and what was corrected; None if unknown.
    """

    distance: Literal["total variation", "multiplicative"]
    bound: float
    sources: tuple[str, ...] = ()
    conditions: str = ""
    formula: str = field(default="", compare=False)
    origin: Origin | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """One line, for terminals and reports."""
        return "exact sampling" if self.bound == 0 else f"{self.distance} distance at most {self.bound:.4g}"
