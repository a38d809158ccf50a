"""A mechanism's page as a subject of audits: its draws are made, and its output is put together, as the page says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpverify.auditing.neighbors import Domain, Pair, search_pairs
from dpverify.auditing.requests import Request, audit
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError
from dpverify.grouping import grouped
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.privacy import Adjacency
from dpverify.privacy.guarantees import GDP, RDP, ApproxDP, Guarantee, PureDP, zCDP
from dpverify.proving.checker.theorems.language import Node, free, named, parts_of
from dpverify.proving.theorems.finite_models import FAILURES, Code, Env, FloatModel
from dpverify.proving.theorems.spreads import outputs
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.pairs.sampled_choices import SampledChoice
from dpverify.statements.mechanisms.pairs.search import PairCase, record_at

SEARCHED, RUNS = 4000, 10_000
"""Runs on each data set of the search for a pair, about, and of the audit, at most."""
_SEED = 0
DRAWN: dict[str, Callable[[np.random.Generator, float, float, int], FloatArray]] = {
    "normal": lambda rng, at, scale, runs: rng.normal(at, scale, runs),
    "laplace": lambda rng, at, scale, runs: rng.laplace(at, scale, runs),
    "uniform": lambda rng, low, high, runs: rng.uniform(low, high, runs),
}  # fmt: skip


class SampledPage:
    """A page's mechanism, at values of its public letters; a function (data, rng, runs) -> outputs (runs, d).

    The number of records is that of the data, (n, d); where the page says how many there are, or the claim depends on
    that, others are refused (InvalidDataError), and so are records and letters for which something on the page has no
    value, or which are not as it assumes. Of a mechanism on samples, each run has a sample of its own.
    """

    def __init__(
        self, mechanism: MechanismOnPage, letters: dict[str, Fraction], sizes: dict[str, int]
    ) -> None:
        self.mechanism, self.letters, self.sizes = mechanism, letters, sizes
        self.model, self.codes = FloatModel(sizes, {}), dict[Node, Code]()
        self.numbers = {one.name: one.number for one in mechanism.sized_letters if one.number is not None}
        self.last = (
            mechanism.sample.of if mechanism.sample and mechanism.sample.of else mechanism.records.last
        )
        claimed = parts_of(mechanism.of("claim")[0].term)[1:]
        self.claimed = frozenset[str]().union(*map(free, claimed))
        self.tested = mechanism.law if mechanism.test else None
        self.given = [self.model.margin(one) for one in mechanism.given]
        self.choice = SampledChoice(mechanism, sizes, self.code, self.sample) if mechanism.choice else None

    def __call__(self, data: Any, rng: np.random.Generator, runs: int) -> FloatArray:
        """Outputs of independent runs."""
        rows = np.asarray(data, dtype=np.float64).reshape(len(data), -1 if len(data) else 1)
        values = self.values(len(rows))
        try:
            if self.mechanism.sample is None:
                return self.drawn(self.env(values, rows), rng, runs)
            return self.on_samples(values, rows, rng, runs)
        except (*FAILURES, IndexError) as error:
            raise InvalidDataError(f"The page's mechanism has no value there: {error}.") from error

    def on_samples(self, values: Env, rows: FloatArray, rng: np.random.Generator, runs: int) -> FloatArray:
        """Outputs of runs, each on a sample of its own."""
        assert self.mechanism.sample is not None
        if self.mechanism.size:
            has = rng.random((runs, len(rows))) < self.code(self.mechanism.sample.rate)(values)
            taken = [tuple(np.flatnonzero(row)) for row in has]
        else:
            order = rng.permuted(np.tile(np.arange(len(rows)), (runs, 1)), axis=1)
            taken = [tuple(row[: int(self.code(self.mechanism.records.last)(values))]) for row in order]
        found: list[Any] = [None] * runs
        for places, ks in grouped((places, k) for k, places in enumerate(taken)).items():
            env = self.env(values, rows[[*places]])
            for k, one in zip(ks, self.drawn(env, rng, len(ks)), strict=True):
                found[k] = one
        return np.array(found)

    def values(self, n: int) -> Env:
        """What public letters are, for a number of records."""
        values: Env = {name: float(value) for name, value in self.letters.items()}
        name = named(self.last[1]) if self.last[0] == "sym" else ""
        if (number := self.numbers.get(name)) is not None and (name not in self.claimed or n == values[name]):
            values[name] = float(n)
            low = number.lower is not None and n < number.lower
            if low or (number.upper is not None and n > number.upper):
                raise InvalidDataError(f"The data set has {n} records, which the page does not allow.")
        elif self.code(self.last)(values) != n:
            raise InvalidDataError(
                f"The data set has {n} records; allowed: {self.code(self.last)(values):g}."
            )
        if not all(one(values) >= 0 for one in self.given):
            raise InvalidDataError(f"The data set has {n} records, for which what is given is not true.")
        return values

    def env(self, values: Env, data: FloatArray) -> Env:
        """What letters are on a data set, which may be a sample."""
        size, at = self.mechanism.size, record_at(data, self.mechanism)
        return {**values, **({size.name: float(len(data))} if size else {}), self.mechanism.records.name: at}

    def code(self, term: Node) -> Code:
        """A term as a function of letters."""
        if term not in self.codes:
            self.codes[term] = self.model.code(term)
        return self.codes[term]

    def drawn(self, env: Env, rng: np.random.Generator, runs: int) -> FloatArray:
        """All runs; a draw that depends on no other is made of all runs at once."""
        if self.tested is not None:
            return np.array([[*outputs(one)] for one in self.sample(self.tested, env, rng, runs)])
        found = dict[str, list[Any]]()
        if self.choice is not None:
            chosen, name = self.choice(env, rng, runs), self.choice.choice.line.name
            if self.mechanism.output.term == ("sym", name):
                return chosen
            if any(draw.index for draw in self.mechanism.draws):
                raise ValueError("a number that was compared is not put out by what makes draws")
            found[name] = [*chosen[:, 0]]
        for draw in self.mechanism.draws:
            if free(draw.term) & found.keys():
                rows = self.rows(env, found, runs)
                found[draw.name] = [one for row in rows for one in self.sample(draw.term, row, rng, 1)]
            else:
                found[draw.name] = self.sample(draw.term, env, rng, runs)
        term = self.mechanism.output.term
        made = [[*outputs(self.code(term)(row))] for row in self.rows(env, found, runs)]
        return np.array(made, dtype=np.float64)

    def rows(self, env: Env, found: dict[str, list[Any]], runs: int) -> Iterator[Env]:
        """Letters of each run."""
        names = [*found]
        for values in zip(*found.values(), strict=True) if names else [()] * runs:
            yield {**env, **dict(zip(names, values, strict=True))}

    def sample(self, law: Node, env: Env, rng: np.random.Generator, runs: int) -> list[Any]:
        """Values of a law."""
        head, *rest = parts_of(law)
        if head in DRAWN:
            first, second = (float(self.code(part)(env)) for part in rest)
            if head != "uniform" and second <= 0:
                raise ValueError("a law without a scale")
            return [*map(float, DRAWN[named(head)](rng, first, second, runs))]
        if head == "exponential":
            return [*map(float, rng.exponential(self.code(rest[0])(env), runs))]
        if head == "mixture":
            first_of = rng.random(runs) < float(self.code(rest[0])(env))
            return [self.sample(rest[1] if one else rest[2], env, rng, 1)[0] for one in first_of]
        if head == "certain":
            return [self.code(rest[0])(env)] * runs
        if head == "then":
            name = named(parts_of(rest[0])[0])
            values = self.sample(rest[1], env, rng, runs)
            return [self.sample(rest[2], {**env, name: one}, rng, 1)[0] for one in values]
        masses = self.code(law)(env)
        places = rng.choice(len(masses), size=runs, p=np.array([*masses.values()]) / sum(masses.values()))
        values = [*masses]
        return [values[k] for k in places]


def guarantee_at(mechanism: MechanismOnPage, letters: dict[str, Fraction]) -> Guarantee:
    """What is claimed, at values of public letters.

    Raises:
        ValueError: (one of FAILURES) where it has no value, and InvalidArgumentError where it is no guarantee.
    """
    head, *numbers = parts_of(mechanism.of("claim")[0].term)
    env = {name: float(value) for name, value in letters.items()}
    found = [float(FloatModel({}, {}).code(one)(env)) for one in numbers]
    if head == "private":
        return ApproxDP(*found) if found[1] else PureDP(found[0])
    if head == "renyi-private":
        return RDP.point(*found)
    return GDP(*found) if head == "gaussian" else zCDP(*found)


@dataclass(frozen=True)
class PageAudit:
    """What the outputs of a page's mechanism, made as it says, say of its claim."""

    letters: tuple[tuple[str, str], ...]
    """LaTeX of public letters, and their values."""
    left: tuple[tuple[str, ...], ...]
    """Records, each with its numbers."""
    right: tuple[tuple[str, ...], ...]
    evidence: PrivacyEvidence


def audit_page(mechanism: MechanismOnPage, case: PairCase, sizes: dict[str, int]) -> PageAudit:
    """Audit a page's claim at the values of public letters of a pair, on the most telling pair that a search finds.

    Raises:
        InvalidDataError: where the page has no value on any pair.
        ValueError: (one of FAILURES) where what is claimed has none.
    """
    claim, sampled = guarantee_at(mechanism, case.letters), SampledPage(mechanism, case.letters, sizes)
    low, high = mechanism.records.low, mechanism.records.high
    limits = None if low is None or high is None else (float(low), float(high))
    sides = [np.array([[*map(float, row)] for row in rows]) for rows in (case.left, case.right)]
    adjacency = Adjacency.ADD_REMOVE_ONE if mechanism.size else Adjacency.REPLACE_ONE

    def draw(pair: Pair, runs: int, stream: int) -> tuple[FloatArray, FloatArray]:
        first, second = (
            sampled(data, np.random.default_rng((_SEED, stream, k)), runs)
            for k, data in enumerate((pair.data, pair.neighbor))
        )
        return first, second

    domain = Domain(max(sides, key=len), adjacency, limits)
    found = search_pairs(draw, domain, claim, runs=SEARCHED, seed=_SEED).pair
    kept = sides if found is None else (found.data, found.neighbor)
    data, neighbor = (np.asarray(side, dtype=np.float64) for side in kept)
    request = Request(sampled, data, neighbor, claim, seed=_SEED, runs=RUNS, adjacency=adjacency)
    evidence = audit(request)
    values = sampled.values(len(data))
    letters = [
        (one.latex, f"{values[one.name]:g}") for one in mechanism.letters if one.name in sampled.numbers
    ]
    rows = [tuple(tuple(f"{v:g}" for v in row) for row in side) for side in (data, neighbor)]
    return PageAudit(tuple(letters), rows[0], rows[1], evidence)
