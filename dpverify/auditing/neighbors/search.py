"""A search for the pair of neighboring data sets that speaks most against a claim.

Constructions first; then Hypothesis' targeted search over edits of the best of them, and steps of a local optimizer;
then the pair is made smaller as long as it still speaks. All of that looks at runs that are thrown away: nothing
that is found bounds anything, so the search costs no failure probability, and all of it is left for the audit of the
one pair that was chosen, on fresh runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpverify import checks
from dpverify.auditing.claims import Claim, checked_claim, claimed_deltas, stated_corner
from dpverify.auditing.neighbors.constructions import Domain, neighbor_of, pairs
from dpverify.auditing.neighbors.low_bit_pairs import low_bit_pairs, low_bits_of
from dpverify.auditing.neighbors.pairs import Pair
from dpverify.auditing.neighbors.units import OF_UNITS
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.privacy import Adjacency

Draw = Callable[[Pair, int, int], tuple[ArrayLike, ArrayLike]]
"""A pair, a number of runs and the number of a stream to outputs on both sides, (runs, d) each.

It raises `InvalidDataError` where the mechanism fails.
"""

_LEAST = 50
_TELLING = 8.0
"""A promise that chance does not explain; the search then goes straight on to shrinking."""
_KEPT = 0.5
"""The part of its promise that a smaller pair has to keep."""
_FINALISTS = 4
_MORE = 4
"""How many times as many runs finalists get."""
_TRIES = 40


@dataclass
class SearchResult:
    """What a search found.

    Attributes:
        pair: the most promising pair, shrunk; None where the mechanism failed on all.
        promise: what it promised on runs of its own; about 3 or less where nothing is wrong.
        tried: how many pairs were run.
        failed: on how many of them the mechanism failed, with the first message.
        runs: made on each side in all.
    """

    pair: Pair | None = None
    promise: float = 0.0
    tried: int = 0
    failed: int = 0
    failure: str = ""
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
        return found + (f"; on {self.failed} of them the function failed" if self.failed else "")


def search_pairs(
    draw: Draw, domain: Domain, claim: Claim, *, runs: int, seed: int, low_bits: bool = False
) -> SearchResult:
    """Search for the pair that speaks most against a claim.

    Args:
        draw: runs the mechanism; streams of different numbers must be independent.
        domain: which pairs there are.
        claim: what they should speak against.
        runs: about how many there may be on each side, at least 2000.
        seed: of the search; what it finds also depends on which modules are loaded, since Hypothesis tries the numbers
            that stand in those that are not installed packages.
        low_bits: speak by low bits and last decimals of outputs, on pairs that show them, and by nothing else.

    Raises `InvalidArgumentError` for a claim or number of runs that cannot be used.
    """
    checked_claim(claim)
    runs = checks.whole_number("runs", runs, at_least=2000)
    state = _SearchState(
        draw, claim, domain, runs, SearchResult(), checks.whole_number("seed", seed, at_least=0, at_most=None)
    )
    state.low_bits = low_bits
    known = list(low_bit_pairs(domain) if low_bits else pairs(domain))
    state.each = max(_LEAST, min(1000, runs // (4 * len(known))))
    rng = np.random.default_rng(seed)
    if len(known) * state.each > runs // 2:
        known = [known[k] for k in sorted(rng.permutation(len(known))[: runs // (2 * state.each)])]
    for pair in known:
        state.look(pair)
    if not state.best(1):
        return state.found
    if state.best(1)[0][0] < _TELLING or state.again() < _TELLING:
        _target(state, domain)
        _climb(state, domain, rng)
        state.again()
    score, pair = state.finalist
    score, pair = _shrunk(state, pair, score)
    state.found.pair, state.found.promise = pair, score
    return state.found


@dataclass
class _SearchState:
    draw: Draw
    claim: Claim
    domain: Domain
    limit: int
    found: SearchResult
    seed: int
    each: int = _LEAST
    low_bits: bool = False
    seen: list[tuple[float, Pair]] = field(default_factory=list)
    finalist: tuple[float, Pair] = field(init=False)

    def look(self, pair: Pair, factor: int = 1, keep: bool = True) -> float:
        """What a pair promises, on runs of its own; minus infinity where the mechanism fails."""
        runs = factor * self.each
        self.found.tried += keep
        self.found.runs += runs
        try:
            left, right = self.draw(pair, runs, self.found.runs)
            sides = [np.asarray(side, dtype=np.float64).reshape(runs, -1) for side in (left, right)]
            sides = [low_bits_of(side) for side in sides] if self.low_bits else sides
        except InvalidDataError as error:
            self.found.failed += keep
            self.found.failure = self.found.failure or str(error)
            return -np.inf
        with np.errstate(over="ignore", invalid="ignore"):
            score = promise(sides[0], sides[1], self.claim)
        if keep:
            self.seen.append((score, pair))
        return score

    def best(self, count: int) -> list[tuple[float, Pair]]:
        """The most promising, of several alike the smaller."""
        return sorted(self.seen, key=lambda one: (-one[0], one[1].records))[:count]

    @property
    def spent(self) -> bool:
        """Whether three quarters of the runs were made; the rest is for shrinking."""
        return self.found.runs >= 0.75 * self.limit

    def again(self) -> float:
        """Look at the most promising again, on more and fresh runs, since the luckiest of many is among them."""
        looked = [(self.look(pair, _MORE, keep=False), pair) for _, pair in self.best(_FINALISTS)]
        self.finalist = max(looked, key=lambda one: one[0])
        return self.finalist[0]


def _target(state: _SearchState, domain: Domain) -> None:
    """Hypothesis looks for edits of good pairs that make them better."""
    import hypothesis
    from hypothesis import strategies as st

    if domain.adjacency is Adjacency.ANSWERS or domain.adjacency in OF_UNITS:
        return
    starts = [pair for _, pair in state.best(_FINALISTS)]
    records = [record for _, record in domain.values()]
    columns = domain.example.shape[1]
    number = st.floats(-1e6, 1e6) if domain.limits is None else st.floats(*domain.limits)
    record = st.one_of(
        st.sampled_from(records), st.lists(number, min_size=columns, max_size=columns).map(np.array)
    )

    @hypothesis.seed(state.seed)
    @hypothesis.settings(
        max_examples=_TRIES,
        database=None,
        deadline=None,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.target),
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.sampled_from(starts), st.integers(0, 63), record, st.none() | record)
    def look(start: Pair, place: int, put: FloatArray, rest: FloatArray | None) -> None:
        base = start.neighbor if rest is None else np.tile(rest, (len(start.neighbor), 1))
        pair = neighbor_of(base, place % max(len(base), 1), put, domain.adjacency, "found by targeted search")
        if pair is not None and not state.spent:
            hypothesis.target(max(state.look(pair), 0.0))

    look()


def _climb(state: _SearchState, domain: Domain, rng: np.random.Generator) -> None:
    """Change numbers of the best pair, one at a time; keep what promises more."""
    score, pair = state.best(1)[0]
    for _ in range(_TRIES):
        if state.spent:
            return
        side = pair.data.copy()
        places = np.flatnonzero(_differs(pair)) if rng.random() < 0.5 else np.arange(len(side))
        if not len(places) or domain.adjacency is Adjacency.ANSWERS:
            return
        place, column = int(rng.choice(places)), int(rng.integers(side.shape[1]))
        old = float(side[place, column])
        new = float(rng.choice([2 * old, old / 2, -old, old + 1, old - 1, 0.0]))
        changed = _edited(pair, place, column, new)
        if changed is None or not domain.allows(changed.data):
            continue
        looked = state.look(changed)
        if looked > score:
            score, pair = looked, changed


def _differs(pair: Pair) -> FloatArray:
    """Which records of `data` are not in `neighbor` at the same place."""
    if pair.data.shape == pair.neighbor.shape:
        return np.asarray(np.any(pair.data != pair.neighbor, axis=1))
    longer, shorter = sorted((pair.data, pair.neighbor), key=len, reverse=True)
    same = np.any(longer[: len(shorter)] != shorter, axis=1)
    first = int(np.argmax(same)) if same.any() else len(shorter)
    return np.asarray(np.arange(len(pair.data)) == first)


def _edited(pair: Pair, place: int, column: int, value: float) -> Pair | None:
    """A number changed, on both sides where both have the record; None where no pair is left."""
    differing = _differs(pair)
    data, neighbor = pair.data.copy(), pair.neighbor.copy()
    if not differing[place]:
        # behind a record that only one of them has, places are one apart
        first = int(np.argmax(differing)) if differing.any() else len(data)
        moved = len(data) - len(neighbor) if place > first else 0
        neighbor[place - moved, column] = value
    data[place, column] = value
    return _paired(data, neighbor, pair)


def _paired(data: FloatArray, neighbor: FloatArray, like: Pair) -> Pair | None:
    try:
        return replace(like, data=data, neighbor=neighbor)
    except (InvalidDataError, InvalidArgumentError):
        return None


def _shrunk(state: _SearchState, pair: Pair, score: float) -> tuple[float, Pair]:
    """Leave out records, then simplify numbers, as long as the pair keeps half of what it promised."""
    if score < _TELLING:
        return score, pair
    needed, tries = _KEPT * score, 0
    again = True
    while again and tries < 2 * _TRIES:
        again = False
        for smaller in _smaller(pair):
            tries += 1
            if state.domain.allows(smaller.data) and (looked := state.look(smaller, 2, keep=False)) >= needed:
                score, pair, again = looked, smaller, True
                break
            if tries >= 2 * _TRIES:
                break
    return score, pair


def _smaller(pair: Pair) -> Iterator[Pair]:
    differing = np.flatnonzero(_differs(pair))
    if pair.adjacency is not Adjacency.ANSWERS and len(differing) == 1:
        where = int(differing[0])
        common = [k for k in range(len(pair.data)) if k != where]
        for size in dict.fromkeys((len(common), len(common) // 2, 1)):
            for begin in range(0, len(common), size) if size else ():
                out = set(common[begin : begin + size])
                kept = [k for k in range(len(pair.data)) if k not in out]
                moved = len(pair.data) - len(pair.neighbor)
                others = [k - moved if k > where else k for k in kept if k != where or not moved]
                if (found := _paired(pair.data[kept], pair.neighbor[others], pair)) is not None:
                    yield found
    for place in range(min(len(pair.data), 8)):
        for column in range(min(pair.data.shape[1], 8)):
            old = float(pair.data[place, column])
            for new in (0.0, 1.0, float(np.round(old)), float(f"{old:.1g}")):
                if abs(new) <= abs(old) and new != old and (found := _edited(pair, place, column, new)):
                    yield found


_QUANTILES = np.linspace(0.0, 1.0, 33)
_MOST_COLUMNS = 16
_MOST_VALUES = 8
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


def _counts(left: FloatArray, right: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """How many outputs are in each of some events, on both sides."""
    columns = [(left[:, j], right[:, j]) for j in range(min(left.shape[1], _MOST_COLUMNS))]
    if left.shape[1] > 1:
        with np.errstate(over="ignore", invalid="ignore"):
            weight = (left.mean(axis=0) - right.mean(axis=0)) / (left.var(axis=0) + right.var(axis=0) + 1e-12)
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
