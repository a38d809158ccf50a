"""Searches for neighbors: faults that show on a revealing pair only, and correct mechanisms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.auditing import ErrorShare, PrivacyQuestion
from dpverify.auditing.neighbors import Domain, Pair, SearchResult, load_pair, search_pairs
from dpverify.auditing.neighbors.constructions import pairs
from dpverify.auditing.neighbors.moves import Moves
from dpverify.auditing.neighbors.search import promise
from dpverify.auditing.sequential import BettingAuditor
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Adjacency, PureDP, StatedGuarantee
from dpverify.problems.neighbors import check_neighbors

Array = NDArray[np.float64]
Mechanism = Callable[[Array, np.random.Generator, int], Array]
EXAMPLE = np.linspace(0.1, 0.9, 9)[:, None]


def draws(mechanism: Mechanism, seed: int) -> Callable[[Pair, int, int], tuple[Array, Array]]:
    def draw(pair: Pair, runs: int, stream: int) -> tuple[Array, Array]:
        left, right = (
            mechanism(records, np.random.default_rng((seed, side, stream)), runs)
            for side, records in enumerate((pair.data, pair.neighbor))
        )
        return left, right

    return draw


def searched(
    mechanism: Mechanism,
    adjacency: Adjacency = Adjacency.REPLACE_ONE,
    *,
    runs: int = 20_000,
    seed: int = 0,
    example: Array = EXAMPLE,
    limits: tuple[float, float] | None = None,
) -> SearchResult:
    domain = Domain(example, adjacency, limits)
    return search_pairs(draws(mechanism, seed), domain, PureDP(1.0), runs=runs, seed=seed)


def confirmed(mechanism: Mechanism, pair: Pair, runs: int = 2000) -> PrivacyEvidence:
    """The audit of the one pair that was chosen, on fresh runs, at 1e-6."""

    class Fresh:
        rounds = 0

        def draw(self, count: int) -> tuple[Array, Array]:
            self.rounds += 1
            return draws(mechanism, 77)(pair, count, self.rounds)

    question = PrivacyQuestion(StatedGuarantee(PureDP(1.0), pair.adjacency), "pair", runs)
    return BettingAuditor().audit(question, Fresh(), ErrorShare(1e-6))


def mean_in_range(records: Array, rng: np.random.Generator, runs: int) -> Array:
    """Correct: a mean of numbers in [0, 1], the number of records being public."""
    return np.clip(records, 0, 1).mean() + rng.laplace(scale=1 / len(records), size=runs)


def second_use_is_not_clipped(records: Array, rng: np.random.Generator, runs: int) -> Array:
    """The spread that is released beside the mean is that of the numbers as they came."""
    mean = np.clip(records, 0, 1).mean() + rng.laplace(scale=2 / len(records), size=runs)
    spread = np.abs(records - 0.5).mean() + rng.laplace(scale=1 / len(records), size=runs)
    return np.stack([mean, spread], axis=1)


def sensitivity_from_the_data(records: Array, rng: np.random.Generator, runs: int) -> Array:
    """The range is taken from the data, so that noise vanishes where all records are alike."""
    clipped = np.clip(records, 0, 1)
    width = clipped.max() - clipped.min()
    return clipped.mean() + rng.laplace(scale=width / len(records) + 1e-300, size=runs)


def clipped_after_the_noise(records: Array, rng: np.random.Generator, runs: int) -> Array:
    return np.clip(records.mean() + rng.laplace(scale=1 / len(records), size=runs), 0, 1)


def smallest_data_set_is_forgotten(records: Array, rng: np.random.Generator, runs: int) -> Array:
    """A count, by adding or removing a record; of no records it is returned as it is."""
    if len(records) < 1:
        return np.zeros(runs)
    return len(records) + rng.laplace(scale=1.0, size=runs)


def count(records: Array, rng: np.random.Generator, runs: int) -> Array:
    """Correct."""
    return len(records) + rng.laplace(scale=1.0, size=runs)


def budget_split_in_two(answers: Array, rng: np.random.Generator, runs: int) -> Array:
    """Two of all the answers are released, with noise for two of them in all, though each may move."""
    noise = rng.laplace(scale=1.0, size=(runs, 2))
    return answers[[0, -1], 0] + noise


def mean_of_those_present(records: Array, rng: np.random.Generator, runs: int) -> Array:
    """Noise for all records, though some are missing."""
    present = np.clip(records[~np.isnan(records)], 0, 1)
    return present.sum() / max(len(present), 1) + rng.laplace(scale=1 / len(records), size=runs)


def wrong_above_sixty(records: Array, rng: np.random.Generator, runs: int) -> Array:
    """A sum whose noise is too small where there are more records than the example has."""
    return np.clip(records, 0, 1).sum() + rng.laplace(scale=1 if len(records) <= 60 else 0.2, size=runs)


def contrast(records: Array, rng: np.random.Generator, runs: int) -> Array:
    """A difference of sums, with noise for one of them: it shows where one number goes up and the other down."""
    sums = np.clip(records, 0, 1).sum(axis=0)
    return sums[0] - sums[1] + rng.laplace(scale=1.0, size=runs)


def constant_for_rare_classes(records: Array, rng: np.random.Generator, runs: int) -> Array:
    """Counts by class, without noise where a class has fewer than two records."""
    counts = np.bincount(np.clip(records[:, -1], 0, 2).astype(int), minlength=3)
    return counts * (counts.min() >= 2) + rng.laplace(scale=2.0 * (counts.min() >= 2), size=(runs, 3))


TWO_COLUMNS = np.column_stack([EXAMPLE[:, 0], EXAMPLE[::-1, 0] ** 2])
HOLES = np.where(np.arange(9)[:, None] % 4 == 1, np.nan, EXAMPLE)
CLASSES = np.arange(12)[:, None] % 3.0
SHOWN_BY_MOVES = [
    (mean_of_those_present, HOLES),
    (wrong_above_sixty, EXAMPLE),
    (contrast, TWO_COLUMNS),
    (constant_for_rare_classes, CLASSES),
]


@pytest.mark.parametrize(
    ("mechanism", "example"), SHOWN_BY_MOVES, ids=lambda value: getattr(value, "__name__", "")
)
def test_faults_that_other_data_sets_show(mechanism: Mechanism, example: Array, tmp_path: Path) -> None:
    """Missing numbers, more records, two directions at once, rare classes; the pair's file gives it back."""
    found = searched(mechanism, example=example)
    assert found.pair is not None
    found.pair.save(tmp_path / "pair.json")
    again = load_pair(tmp_path / "pair.json")
    assert np.array_equal(again.data, found.pair.data, equal_nan=True)
    assert confirmed(mechanism, again).verdict is Verdict.VIOLATED


def test_numbers_are_missing_only_where_the_example_says_so() -> None:
    example = np.column_stack([HOLES, EXAMPLE])
    domain = Domain(example, Adjacency.REPLACE_ONE)
    moves = Moves(domain, np.random.default_rng(0))
    seen = list(pairs(domain))
    pair = seen[0]
    for _ in range(300):
        pair = moves.step(pair) or pair
        seen.append(pair)
    assert any(np.isnan(pair.data[:, 0]).any() for pair in seen)
    assert not any(np.isnan(pair.data[:, 1]).any() for pair in seen)


@pytest.mark.parametrize(
    "adjacency", [Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE_ONE, Adjacency.ZERO_OUT, Adjacency.ANSWERS]
)
@pytest.mark.parametrize("limits", [None, (0.0, 1.0), (-2.0, 5.0)])
def test_steps_lead_to_neighbors(adjacency: Adjacency, limits: tuple[float, float] | None) -> None:
    """`Pair` refuses those that are none; whole numbers mostly stay whole, and data sets grow and shrink."""
    domain = Domain(np.array([[0.0, 0.5], [1.0, 0.25], [1.0, 1.0]]), adjacency, limits)
    moves = Moves(domain, np.random.default_rng(3))
    sizes = set()
    pair = start = next(pairs(domain))
    for turn in range(200):
        pair = moves.step(pair if turn % 20 else start) or pair
        assert domain.allows(pair.data)
        assert len(pair.data) <= 501
        sizes.add(pair.records)
    assert len(sizes) > 3


@pytest.mark.parametrize(
    "adjacency", [Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE_ONE, Adjacency.ZERO_OUT, Adjacency.ANSWERS]
)
@pytest.mark.parametrize("low_bits", [False, True])
def test_no_data_set_is_smaller_than_is_said(adjacency: Adjacency, low_bits: bool) -> None:
    """Half of the noise of a median, which moves by 1 at an odd number of records; 1e-6 for a false alarm."""
    sizes = set[int]()

    def median(data: Array, rng: np.random.Generator, runs: int) -> Array:
        sizes.add(len(data))
        return (np.median(data) + rng.laplace(scale=0.5, size=runs))[:, None]

    domain = Domain(EXAMPLE, adjacency, (0.0, 1.0), least=4)
    found = search_pairs(draws(median, 0), domain, PureDP(1.0), runs=4000, seed=0, low_bits=low_bits)
    assert min(sizes) >= 4
    if adjacency is Adjacency.REPLACE_ONE and not low_bits:
        assert found.pair is not None
        assert len(found.pair.data) % 2
        assert confirmed(median, found.pair).verdict is Verdict.VIOLATED


FAULTS = [
    (second_use_is_not_clipped, Adjacency.REPLACE_ONE),
    (sensitivity_from_the_data, Adjacency.REPLACE_ONE),
    (clipped_after_the_noise, Adjacency.REPLACE_ONE),
    (smallest_data_set_is_forgotten, Adjacency.ADD_REMOVE_ONE),
    (budget_split_in_two, Adjacency.ANSWERS),
]


@pytest.mark.parametrize(("mechanism", "adjacency"), FAULTS, ids=lambda value: getattr(value, "__name__", ""))
def test_planted_faults_are_found(mechanism: Mechanism, adjacency: Adjacency) -> None:
    found = searched(mechanism, adjacency)
    assert found.pair is not None
    assert found.runs <= 40_000
    check_neighbors(found.pair.data, found.pair.neighbor, adjacency)
    assert confirmed(mechanism, found.pair).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("mechanism", [sensitivity_from_the_data, clipped_after_the_noise])
def test_these_faults_do_not_show_on_a_usual_pair(mechanism: Mechanism) -> None:
    usual = Pair(np.where(np.arange(9)[:, None] == 4, 0.0, EXAMPLE), EXAMPLE, Adjacency.REPLACE_ONE)
    assert confirmed(mechanism, usual, 700).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("mechanism", "adjacency"), [(mean_in_range, Adjacency.REPLACE_ONE), (count, Adjacency.ADD_REMOVE_ONE)]
)
def test_nothing_is_found_on_correct_mechanisms(mechanism: Mechanism, adjacency: Adjacency) -> None:
    """Confirmed at 1e-6."""
    found = searched(mechanism, adjacency, runs=4000, seed=1)
    assert found.pair is not None
    assert found.promise < 6
    assert confirmed(mechanism, found.pair, 500).verdict is Verdict.SUPPORTED


def test_a_pair_is_made_small() -> None:
    """Of nine records two at most are left, of plain numbers."""
    found = searched(sensitivity_from_the_data)
    assert found.pair is not None
    assert found.pair.records <= 2
    assert np.all(found.pair.data == np.round(found.pair.data))
    found = searched(smallest_data_set_is_forgotten, Adjacency.ADD_REMOVE_ONE)
    assert found.pair is not None
    assert (len(found.pair.data), len(found.pair.neighbor)) == (1, 0)


def test_records_stay_within_their_range() -> None:
    """A fault out of range is none where records are known to be in range."""
    found = searched(clipped_after_the_noise, limits=(0.0, 1.0), runs=4000)
    assert found.pair is not None
    assert np.all((found.pair.data >= 0) & (found.pair.data <= 1))
    assert confirmed(clipped_after_the_noise, found.pair, 500).verdict is Verdict.SUPPORTED


def test_what_fails_on_some_pairs() -> None:
    def refuses(records: Array, rng: np.random.Generator, runs: int) -> Array:
        if np.abs(records).max() > 2:
            raise InvalidDataError("too large")
        return mean_in_range(records, rng, runs)

    found = searched(refuses, runs=10_000)
    assert found.pair is not None
    assert 0 < found.failed < found.tried
    assert (
        "on some of them" in found.summary()
        or f"on {found.failed} of them the function failed" in found.summary()
    )

    def fails(records: Array, rng: np.random.Generator, runs: int) -> Array:
        raise InvalidDataError("always")

    found = searched(fails, runs=10_000)
    assert found.pair is None
    assert found.failure == "always"


def test_the_same_seed_finds_the_same_pair() -> None:
    one, other = (searched(second_use_is_not_clipped, seed=5, runs=10_000) for _ in range(2))
    assert one.pair is not None
    assert other.pair is not None
    assert (one.promise, one.runs, one.pair.about) == (other.promise, other.runs, other.pair.about)
    assert np.array_equal(one.pair.data, other.pair.data)


@pytest.mark.parametrize(
    "adjacency",
    [Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE_ONE, Adjacency.ZERO_OUT, Adjacency.ANSWERS],
)
def test_constructions_are_neighbors(adjacency: Adjacency, tmp_path: Path) -> None:
    """`Pair` refuses those that are none; a file gives the same pair back."""
    found = list(pairs(Domain(EXAMPLE, adjacency)))
    assert len(found) > 10
    kept = {(pair.data.tobytes(), len(pair.data), pair.neighbor.tobytes()) for pair in found}
    assert len(kept) == len(found)
    assert any(not len(pair.neighbor) for pair in found) == (adjacency is Adjacency.ADD_REMOVE_ONE)
    for pair in found[:3] + found[-3:]:
        pair.save(tmp_path / "pair.json")
        again = load_pair(tmp_path / "pair.json")
        assert again.adjacency is adjacency
        assert np.array_equal(again.data, pair.data)
        assert np.array_equal(again.neighbor, pair.neighbor)
        assert again.neighbor.shape == pair.neighbor.shape


def test_promises() -> None:
    """About 3 where the claim holds, far above where it does not, and blind to nothing simple."""
    rng = np.random.default_rng(0)
    noise = rng.laplace(size=(2, 2000, 1))
    assert promise(noise[0], noise[1] + 1, PureDP(1.0)) < 5
    assert promise(noise[0], noise[1] + 2, PureDP(1.0)) > 8
    assert promise(np.zeros((500, 1)), np.ones((500, 1)), PureDP(1.0)) > 8
    assert promise(noise[0] > 3, noise[1] < 99, PureDP(1.0)) > 8


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="adjacency"):
        Domain(EXAMPLE, Adjacency.UNCHECKED)
    with pytest.raises(InvalidArgumentError, match="limits"):
        Domain(EXAMPLE, Adjacency.REPLACE_ONE, (1.0, 0.0))
    for example in (np.empty((0, 1)), np.array([[np.inf]])):
        with pytest.raises(InvalidDataError, match="example"):
            Domain(example, Adjacency.REPLACE_ONE)
    with pytest.raises(InvalidArgumentError, match="runs"):
        searched(count, runs=1999)
    path = tmp_path / "pair.json"
    with pytest.raises(InvalidDataError, match="cannot be read"):
        load_pair(path)
    for text, what in (
        ("{", "not JSON"),
        ("[1]", "not a pair"),
        ('{"adjacency": "no", "columns": 1, "data": [[1]], "neighbor": [[2]]}', "adjacency"),
        ('{"adjacency": "index", "columns": 1, "data": [[1, 2]], "neighbor": [["x"]]}', "list of records"),
        ('{"adjacency": "replace-one", "columns": 1, "data": [[1]], "neighbor": [[1]]}', "same records"),
        ('{"adjacency": "replace-one", "columns": 1, "data": [[1]], "neighbor": [[Infinity]]}', "infinity"),
        ('{"adjacency": "index", "columns": 1, "data": [[1]], "neighbor": [[2]]}', "index"),
    ):
        path.write_text(text)
        with pytest.raises(InvalidDataError, match=what):
            load_pair(path)
