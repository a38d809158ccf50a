"""A search for the pair of neighboring data sets that speaks most against a claim.

Constructions first, by successive halving: all get a few runs, the better ones more. Then steps at random from the
best of them (more records or fewer, others in their place, other numbers), of which those that promise more are kept.
Then the pair is made smaller as long as it still speaks. All of that looks at runs that are thrown away: nothing that
is found bounds anything, so the search costs no failure probability, and all of it is left for the audit of the
one pair that was chosen, on fresh runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.auditing.claims import Claim, checked_claim, claimed_deltas, stated_corner
from dpverify.auditing.neighbors.constructions import Domain, pairs
from dpverify.auditing.neighbors.low_bit_pairs import low_bit_pairs, low_bits_of
from dpverify.auditing.neighbors.moves import Moves, shrunk
from dpverify.auditing.neighbors.pairs import Pair, TablePair
from dpverify.auditing.neighbors.units import OF_UNITS
from dpverify.checks import FloatArray
from dpverify.errors import InvalidDataError, OneSideFailsError
from dpverify.privacy import PureDP

Draw = Callable[[Pair, int, int], tuple[ArrayLike, ArrayLike]]
"""A pair, a number of runs and the number of a stream to outputs on both sides, (runs, d) each.

It raises `InvalidDataError` where the mechanism fails.
"""

_ALIKE = PureDP(0.0)
_FIRST = 16
"""Runs of a first look: enough for sides that share no output."""
_LEAST = 50
_TELLING = 8.0
"""A promise that chance does not explain; the search then goes straight on to shrinking."""
_KEPT = 0.5
"""The part of its promise that a smaller pair has to keep."""
_FINALISTS = 4
_TRIES = 80


@dataclass
class SearchResult:
    """What a search found.

    Attributes:
        pair: the most promising pair, shrunk; None where the mechanism failed on all.
        promise: what it promised on runs of its own; about 3 or less where nothing is wrong.
        tried: how many pairs were run.
        failed: on how many of them the mechanism failed, with the first message.
        one_sided: on how many of those it failed on one of the two data sets only, with the first message and pair.
        runs: made on each side in all.
    """

    pair: Pair | TablePair | None = None
    promise: float = 0.0
    tried: int = 0
    failed: int = 0
    failure: str = ""
    one_sided: int = 0
    one_sided_failure: str = ""
    runs: int = 0

    def summary(self) -> str:
        """In words, for the reason of a verdict."""
        if self.pair is None:
            return f"none of {self.tried} pairs could be run"
        found = (
            f"the pair, of {self.pair.records} record{'s' if self.pair.records != 1 else ''}, is the most telling of "
            f"{self.tried} that a search ran, {self.runs} times on each side and apart from the audit's own runs"
        )
        if self.pair.about:
            found += f" ({self.pair.about})"
        found += f"; on {self.failed} of them the function failed" if self.failed else ""
        if self.one_sided:
            found += f", on {self.one_sided} on one of the two data sets only, which --count-exceptions"
            found += f" (count_exceptions=True) counts as an output; the first time: {self.one_sided_failure}"
        return found


def search_pairs(
    draw: Draw, domain: Domain, claim: Claim, *, runs: int, seed: int, low_bits: bool = False
) -> SearchResult:
    """Search for the pair that speaks most against a claim.

    Args:
        draw: runs the mechanism; streams of different numbers must be independent.
        domain: which pairs there are.
        claim: what they should speak against.
        runs: about how many there may be on each side, at least 2000.
        seed: of the search.
        low_bits: speak by low bits and last decimals of outputs, on pairs that show them, and by nothing else.

    Raises `InvalidArgumentError` for a claim or number of runs that cannot be used.
    """
    checked_claim(claim)
    runs = checks.whole_number("runs", runs, at_least=2000)
    seed = checks.whole_number("seed", seed, at_least=0, at_most=None)
    state = _SearchState(draw, claim, domain, runs, low_bits)
    rng = np.random.default_rng(seed)
    known = list(low_bit_pairs(domain) if low_bits else pairs(domain))
    _halve(state, known, runs // 2)
    if not state.seen:
        return state.found
    if state.best(1)[0].claim < _TELLING or state.again().claim < _TELLING:
        if not low_bits and domain.adjacency not in OF_UNITS:
            _climb(state, Moves(domain, rng))
        state.again()
    pair, telling = state.finalist.pair, state.finalist.claim
    size = max(_LEAST, min(1000, runs // 200))
    # chance has chosen; what a smaller pair must keep is what this one shows again
    needed = _KEPT * state.look(pair, size).claim if telling >= _TELLING else 0.0
    if needed >= _KEPT * _TELLING:
        pair = shrunk(pair, lambda one: state.tells(one, size, needed), domain.of_numbers, tries=_TRIES)
        telling = state.look(pair, size).claim
    state.found.pair, state.found.promise = domain.given(pair), telling
    return state.found


@dataclass(frozen=True)
class _Looked:
    """A pair with what some runs of it promised."""

    pair: Pair
    claim: float
    """Against the claim."""
    difference: float
    """Against the claim that the sides are alike: what moves outputs most is the likeliest to break a claim."""
    runs: int

    @property
    def rank(self) -> tuple[float, int]:
        """The most promising first, of several alike the smaller."""
        return -(self.claim + self.difference), self.pair.records


@dataclass
class _SearchState:
    draw: Draw
    claim: Claim
    domain: Domain
    limit: int
    low_bits: bool = False
    found: SearchResult = field(default_factory=SearchResult)
    seen: list[_Looked] = field(default_factory=list)
    known: set[tuple[bytes, int, bytes]] = field(default_factory=set)
    streams: int = 0
    finalist: _Looked = field(init=False)

    def look(self, pair: Pair, runs: int) -> _Looked:
        """What a pair promises by fresh runs; minus infinity where the mechanism fails."""
        settled = self.domain.settled(pair)
        if settled is None:
            return _Looked(pair, -np.inf, -np.inf, runs)
        pair = settled
        self.streams += 1
        self.found.runs += runs
        key = pair.data.tobytes(), len(pair.data), pair.neighbor.tobytes()
        new = key not in self.known
        self.known.add(key)
        self.found.tried += new
        try:
            left, right = self.draw(pair, runs, self.streams)
            sides = [np.asarray(side, dtype=np.float64).reshape(runs, -1) for side in (left, right)]
            sides = [low_bits_of(side) for side in sides] if self.low_bits else sides
        except InvalidDataError as error:
            self.found.failed += new
            self.found.failure = self.found.failure or str(error)
            if isinstance(error, OneSideFailsError):
                self.found.one_sided += new
                said = f"{error.message.rstrip('.')} (on the {error.fails_on}; {pair.about})"
                self.found.one_sided_failure = self.found.one_sided_failure or said
            return _Looked(pair, -np.inf, -np.inf, runs)
        with np.errstate(over="ignore", invalid="ignore"):
            return _Looked(
                pair, promise(sides[0], sides[1], self.claim), promise(sides[0], sides[1], _ALIKE), runs
            )

    def tells(self, pair: Pair, runs: int, needed: float) -> bool:
        """Whether a pair is allowed and promises so much."""
        return self.domain.has(pair) and self.look(pair, runs).claim >= needed

    def best(self, count: int) -> list[_Looked]:
        """The most promising."""
        return sorted(self.seen, key=lambda one: one.rank)[:count]

    def again(self) -> _Looked:
        """Look at the most promising again, on more and fresh runs, since the luckiest of many is among them."""
        chosen = [*self.best(_FINALISTS), *sorted(self.seen, key=lambda one: -one.claim)[:_FINALISTS]]
        chosen = list({id(one.pair): one for one in chosen}.values())
        runs = max(_LEAST, self.limit // 100)
        looked = [self.look(one.pair, runs) for one in chosen]
        self.finalist = min(looked, key=lambda one: (-one.claim, one.pair.records))
        return self.finalist


def _halve(state: _SearchState, known: list[Pair], budget: int) -> None:
    """Successive halving: all pairs get few runs, and those that promise most three times as many, again and again."""
    most = max(budget * 2 // (3 * _FIRST), 1)
    if not known:
        return
    kept, runs = known[:most], max(_FIRST, min(400, budget // (2 * len(known))))
    state.seen = []
    while kept:
        looked = [state.look(pair, runs) for pair in kept]
        looked = sorted((one for one in looked if np.isfinite(one.claim)), key=lambda one: one.rank)
        # the same pairs on more runs, and those that were left behind
        state.seen = looked + state.seen[len(kept) :]
        if len(looked) <= _FINALISTS or looked[0].claim >= _TELLING:
            return
        kept, runs = [one.pair for one in looked[: max(len(looked) // 6, _FINALISTS)]], 3 * runs


def _climb(state: _SearchState, moves: Moves) -> None:
    """Steps from the best pairs; what promises more on few runs and again on more takes its place among them."""
    size = max(_FIRST, state.limit // 400)
    parents = state.best(2 * _FINALISTS)
    for _ in range(100 * _TRIES):
        if state.found.runs >= 0.75 * state.limit or not parents:
            return
        # the better ones more often
        parent = parents[min(int(moves.rng.geometric(0.35)) - 1, len(parents) - 1)]
        pair = moves.step(parent.pair)
        if pair is None:
            continue
        looked = state.look(pair, size)
        if looked.rank < parents[-1].rank and size < 3 * _FIRST:
            looked = state.look(pair, 2 * size)
        if looked.rank < parents[-1].rank:
            state.seen.append(looked)
            parents = sorted([*parents[:-1], looked], key=lambda one: one.rank)
            if looked.claim >= _TELLING:
                return


_QUANTILES = np.linspace(0.0, 1.0, 33)
_MOST_COLUMNS = 16
_MOST_VALUES = 8
_RUNS_A_NUMBER = 10
"""Fewer runs for each number of an output say nothing about how these go together."""
_EPSILONS = np.array([0.0, 0.1, 0.3, 1.0, 2.0, 4.0])
"""Where a claim without a corner is compared; nats."""


def promise(left: FloatArray, right: FloatArray, claim: Claim) -> float:
    """How much runs (n, d) of both sides speak against a claim; about 3 where it holds. It bounds nothing.

    The largest standardized violation of P(E) <= e^epsilon Q(E) + delta over many events E: half-lines of each number
    and of the direction in which means differ, and single values. As the largest of many it is biased.
    """
    corner = stated_corner(claim)
    epsilons = _EPSILONS if corner is None else np.array([corner[0]])
    deltas = claimed_deltas(claim, epsilons) if corner is None else np.array([corner[1]])
    growth = np.exp(np.minimum(epsilons, 50.0))
    best = 0.0
    for a, b in _counts(left, right):
        for p, q in ((a / len(left), b / len(right)), (b / len(right), a / len(left))):
            for more, less in ((p, q), (1 - p, 1 - q)):
                best = max(best, _standardized(more, less, min(len(left), len(right)), growth, deltas))
    return best


def _standardized(
    p: NDArray[np.float64], q: NDArray[np.float64], runs: int, growth: FloatArray, deltas: FloatArray
) -> float:
    """One run more on each side, inside and outside, keeps variances from 0."""
    excess = p[:, None] - growth * q[:, None] - deltas
    smooth = [(x * runs + 1) / (runs + 2) for x in (p, q)]
    variance = smooth[0] * (1 - smooth[0])
    variance = variance[:, None] + growth**2 * (smooth[1] * (1 - smooth[1]))[:, None]
    return float(np.max(excess / np.sqrt(variance / runs)))


def _direction(left: FloatArray, right: FloatArray) -> FloatArray:
    """The direction in which means differ most for their spread; of numbers that go together where runs are enough."""
    shift, spread = left.mean(axis=0) - right.mean(axis=0), left.var(axis=0) + right.var(axis=0) + 1e-12
    if len(left) < _RUNS_A_NUMBER * len(shift) or not np.all(np.isfinite(spread)):
        return np.asarray(shift / spread)
    scale = np.sqrt(spread)
    together = np.cov(left / scale, rowvar=False) + np.cov(right / scale, rowvar=False)
    return np.asarray(np.linalg.solve(together + 1e-9 * np.eye(len(shift)), shift / scale) / scale)


def _counts(left: FloatArray, right: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """How many outputs are in each of some events, on both sides."""
    columns = [(left[:, j], right[:, j]) for j in range(min(left.shape[1], _MOST_COLUMNS))]
    if left.shape[1] > 1:
        with np.errstate(over="ignore", invalid="ignore"):
            weight = _direction(left, right)
            along = left @ weight, right @ weight
        if all(np.all(np.isfinite(side)) for side in along):
            columns.append(along)
    for one, other in columns:
        both = np.concatenate([one, other])
        places = np.unique(np.quantile(both, _QUANTILES, method="inverted_cdf"))
        below = [np.searchsorted(np.sort(side), places, side="right") for side in (one, other)]
        yield below[0].astype(np.float64), below[1].astype(np.float64)
        values, counts = np.unique(both, return_counts=True)
        repeated = values[np.argsort(-counts, kind="stable")][:_MOST_VALUES]
        if counts.max() > 1:
            hits = [(side[:, None] == repeated).sum(axis=0).astype(np.float64) for side in (one, other)]
            yield hits[0], hits[1]
