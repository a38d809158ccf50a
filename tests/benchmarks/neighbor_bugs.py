"""How many faults the search for neighbors finds from a plain example, with default options: `make bench-neighbors`.

Faults are modeled on ones that were found in released code; each is a function (data, rng, runs) -> outputs that claims
1-DP for records of any numbers. Nothing in the program knows them. Correct mechanisms stand beside them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpverify import Request, audit
from dpverify.errors import InvalidDataError

Release = Callable[[np.ndarray, np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Case:
    """A mechanism, an example of its data, and whether its claim is false."""

    name: str
    release: Release
    example: np.ndarray
    adjacency: str
    faulty: bool


_R = np.random.default_rng(20)
_UNIT = np.round(_R.random((20, 1)), 2)
_HOLES = np.where(np.arange(20)[:, None] % 7 == 3, np.nan, _UNIT)
_TABLE = np.round(_R.random((20, 4)), 2)
_LABELS = np.array([[k % 4] for k in range(20)], dtype=float)
_BITS = (_R.random((20, 6)) < 0.4).astype(float)
_CLASSED = np.column_stack([np.round(5 + _R.random(20), 2), np.arange(20) % 2])
_FEATURES = np.column_stack([np.round(2 * _R.random(20) - 1, 2), np.where(np.arange(20) % 3, 1.0, -1.0)])
_ANSWERS = np.array([[3.0], [0.0], [1.0], [2.0], [0.0], [1.0]])
_COUNTS = _R.integers(0, 30, size=(20, 1)).astype(float)

CASES: list[Case] = []


def case(
    example: np.ndarray, *, faulty: bool = True, adjacency: str = "replace-one"
) -> Callable[[Release], Release]:
    """Add a mechanism to the list."""

    def add(release: Release) -> Release:
        CASES.append(Case(release.__name__, release, example, adjacency, faulty))
        return release

    return add


def _unit(data: np.ndarray) -> np.ndarray:
    return np.clip(data, 0, 1)


def _laplace(value: Any, scale: float, rng: np.random.Generator, runs: int) -> np.ndarray:
    value = np.asarray(value, dtype=float)
    return value + rng.laplace(scale=max(scale, 0.0), size=(runs, *value.shape))


def _label_counts(data: np.ndarray, labels: int = 4) -> np.ndarray:
    known = np.clip(np.nan_to_num(data[:, -1]), 0, labels - 1).astype(int)
    return np.bincount(known, minlength=labels).astype(float)


# ------------------------------------------------------------------------------------------- faults


@case(_HOLES)
def mean_of_those_present(data, rng, runs):
    present = _unit(data[~np.isnan(data)])
    return _laplace(present.sum() / max(len(present), 1), 1 / len(data), rng, runs)


@case(_HOLES)
def missing_imputed_by_mean(data, rng, runs):
    present = data[~np.isnan(data)]
    filled = np.where(np.isnan(data), _unit(present).mean() if len(present) else 0.0, _unit(data))
    return _laplace(filled.sum(), 1, rng, runs)


@case(_HOLES)
def exact_count_of_missing(data, rng, runs):
    missing = np.isnan(data).sum()
    return np.column_stack(
        [_laplace(np.nansum(_unit(data)), 1, rng, runs), np.full(runs, missing > len(data) / 2)]
    )


@case(_CLASSED, adjacency="add-or-remove-one")
def class_sums_by_width_of_range(data, rng, runs):
    values, zero = np.clip(data[:, 0], 5, 6), data[:, 1] < 0.5
    return _laplace([values[zero].sum(), values[~zero].sum()], 1, rng, runs)


@case(_UNIT)
def bounds_from_the_data(data, rng, runs):
    return _laplace(data.sum(), float(data.max() - data.min()), rng, runs)


@case(_UNIT)
def sum_as_if_one_record(data, rng, runs):
    return _laplace(_unit(data).sum(), 1 / len(data), rng, runs)


@case(_UNIT)
def mean_right_from_ten_records(data, rng, runs):
    return _laplace(_unit(data).mean(), 1 / max(len(data), 10), rng, runs)


@case(_UNIT)
def sum_wrong_above_sixty_records(data, rng, runs):
    return _laplace(_unit(data).sum(), 1 if len(data) <= 60 else 1 / 4, rng, runs)


@case(_COUNTS)
def sum_in_one_byte(data, rng, runs):
    return _laplace(np.int64(np.clip(data, 0, 10).sum()).astype(np.int8), 10, rng, runs)


@case(_UNIT)
def mean_rounded_to_tenths(data, rng, runs):
    return _laplace(np.round(_unit(data).mean(), 1), 1 / len(data), rng, runs)


@case(_LABELS)
def no_noise_on_empty_classes(data, rng, runs):
    counts = _label_counts(data)
    return np.where(counts > 0, _laplace(counts, 2, rng, runs), 0)


@case(_LABELS)
def constant_below_two_records_of_a_class(data, rng, runs):
    counts = _label_counts(data)
    return np.where(counts.min() < 2, np.zeros((runs, 4)), _laplace(counts, 2, rng, runs))


@case(_LABELS)
def labels_beyond_the_known(data, rng, runs):
    known = np.isin(data[:, 0], [0, 1, 2, 3])
    return np.column_stack(
        [_laplace(_label_counts(data[known]), 2, rng, runs), np.full(runs, float(not known.all()))]
    )


@case(_LABELS)
def histogram_of_replacement_by_removal(data, rng, runs):
    return _laplace(_label_counts(data), 1, rng, runs)


@case(_LABELS)
def counts_in_order_of_appearance(data, rng, runs):
    known = np.clip(data[:, 0], 0, 3).astype(int)
    order = list(dict.fromkeys([*known.tolist(), *range(4)]))
    return _laplace(_label_counts(data)[order], 2, rng, runs)


@case(_LABELS)
def mode_with_half_the_sensitivity(data, rng, runs):
    weight = np.exp(1.0 * (_label_counts(data) - _label_counts(data).max()))
    return rng.choice(4, size=runs, p=weight / weight.sum())


@case(_LABELS)
def mode_exact_unless_tied(data, rng, runs):
    counts = np.sort(_label_counts(data))
    if counts[-1] - counts[-2] > 3:
        return np.full(runs, float(np.argmax(_label_counts(data))))
    return (_laplace(_label_counts(data), 2, rng, runs)).argmax(axis=1)


@case(_UNIT)
def median_by_local_sensitivity(data, rng, runs):
    x = np.sort(_unit(data[:, 0]))
    middle = len(x) // 2
    local = max(x[min(middle + 1, len(x) - 1)] - x[middle], x[middle] - x[max(middle - 1, 0)])
    return _laplace(x[middle], max(local, 1e-3), rng, runs)


@case(_UNIT)
def variance_as_if_the_mean_stood(data, rng, runs):
    return _laplace(_unit(data).var(), 1 / (4 * len(data)), rng, runs)


@case(_BITS)
def noisy_max_with_noise_on_one(data, rng, runs):
    counts = np.tile(_unit(data).sum(axis=0), (runs, 1))
    counts[:, 0] += rng.laplace(scale=2, size=runs)
    return counts.argmax(axis=1)


@case(_BITS)
def top_two_with_noise_for_one(data, rng, runs):
    noisy = _laplace(_unit(data).sum(axis=0), 2, rng, runs)
    first, second = np.argsort(-noisy, axis=1)[:, :2].T
    return 10 * first + second


def _above(data, rng, runs, *, threshold, scale, most):
    said = (
        _laplace(data[:, 0], scale, rng, runs)
        > rng.laplace(scale=max(threshold, 1e-12), size=runs)[:, None] + 1
    )
    return np.where(np.cumsum(said, axis=1) - said < most, said, -1).astype(float)


@case(_ANSWERS, adjacency="answers-within-1")
def sparse_vector_without_threshold_noise(data, rng, runs):
    return _above(data, rng, runs, threshold=0, scale=2, most=1)


@case(_ANSWERS, adjacency="answers-within-1")
def sparse_vector_without_an_end(data, rng, runs):
    return _above(data, rng, runs, threshold=2, scale=2, most=99)


@case(_ANSWERS, adjacency="answers-within-1")
def sparse_vector_three_for_one(data, rng, runs):
    return _above(data, rng, runs, threshold=2, scale=4, most=3)


@case(_UNIT)
def bins_from_the_data(data, rng, runs):
    low, high = float(data.min()), float(data.max())
    counts, _ = np.histogram(data, bins=5, range=(low, high if high > low else low + 1))
    return _laplace(counts, 2, rng, runs)


@case(_UNIT)
def mean_of_distinct_records(data, rng, runs):
    return _laplace(np.unique(_unit(data)).mean(), 1 / len(data), rng, runs)


@case(_UNIT)
def clip_after_the_noise(data, rng, runs):
    return np.clip(_laplace(data.mean(), 1 / len(data), rng, runs), 0, 1)


@case(_UNIT)
def clip_from_above_only(data, rng, runs):
    return _laplace(np.minimum(data, 1).sum(), 1, rng, runs)


@case(_UNIT)
def divided_by_the_largest(data, rng, runs):
    x = np.maximum(data, 0)
    return _laplace((x / max(float(x.max()), 1e-9)).sum(), 1, rng, runs)


@case(_UNIT)
def standardized_by_the_data(data, rng, runs):
    return _laplace(np.clip((data - data.mean()) / (data.std() + 1e-9), -1, 1).sum(), 2, rng, runs)


@case(_FEATURES)
def logistic_with_free_intercept(data, rng, runs):
    x, y = np.clip(data[:, 0], -1, 1), np.where(data[:, 1] > 0, 1.0, -1.0)
    w, lam = np.zeros(2), 0.5
    design = np.column_stack([x, np.ones(len(x))])
    for _ in range(60):
        p = 1 / (1 + np.exp(np.clip(y * (design @ w), -30, 30)))
        gradient = -(design * (y * p)[:, None]).mean(axis=0) + [lam * w[0], 0]
        hessian = (design.T * (p * (1 - p))) @ design / len(x) + np.diag([lam, 1e-6])
        w = np.clip(w - np.clip(np.linalg.solve(hessian, gradient), -1, 1), -20, 20)
    noise = rng.gamma(2, scale=4 / (len(x) * lam), size=runs)
    angle = rng.random(runs) * 2 * np.pi
    return w + np.column_stack([noise * np.cos(angle), noise * np.sin(angle)])


@case(_FEATURES)
def nearest_neighbors_unanimous(data, rng, runs):
    votes = data[np.argsort(np.abs(np.clip(data[:, 0], -1, 1)), kind="stable")[:5], 1] > 0
    ones, size = int(votes.sum()), len(votes)
    if ones in (0, size):
        return np.full(runs, float(ones > 0))
    return (2 * ones - size + rng.laplace(scale=2, size=runs) > 0).astype(float)


@case(_UNIT)
def number_of_rejected_records(data, rng, runs):
    inside = (data >= 0) & (data <= 1)
    return np.column_stack(
        [_laplace(data[inside].sum(), 1, rng, runs), np.full(runs, float((~inside).sum()))]
    )


@case(_UNIT)
def trimmed_mean_by_its_own_range(data, rng, runs):
    x = np.sort(_unit(data[:, 0]))
    kept = x[len(x) // 10 : len(x) - len(x) // 10]
    return _laplace(kept.mean(), max(float(np.ptp(kept)), 1e-3) / len(kept), rng, runs)


@case(_COUNTS, adjacency="add-or-remove-one")
def geometric_of_another_epsilon(data, rng, runs):
    p = 1 - np.exp(-1.6)
    return len(data) + rng.geometric(p, size=runs) - rng.geometric(p, size=runs)


@case(_UNIT, adjacency="add-or-remove-one")
def noise_by_the_number_of_records(data, rng, runs):
    n = max(len(data), 1)
    return _laplace(_unit(data).sum() / n, 1 / n, rng, runs)


@case(_TABLE)
def nonempty_hash_bins(data, rng, runs):
    bins = np.bincount((np.round(np.clip(data[:, 0], -1e3, 1e3) * 100).astype(int) * 7) % 8, minlength=8)
    return np.where(bins > 0, _laplace(bins, 2, rng, runs), 0)


@case(_UNIT)
def one_noise_for_two_queries(data, rng, runs):
    noise = rng.laplace(scale=2, size=runs)
    return np.column_stack([_unit(data).sum() + noise, (_unit(data) ** 2).sum() + noise])


@case(_UNIT)
def seeded_by_the_data(data, rng, runs):
    drawn = np.random.default_rng(int(np.abs(_unit(data).sum() * 100))).laplace(size=64)
    return _unit(data).sum() + rng.choice(drawn, size=runs)


@case(_UNIT)
def released_where_stable_by_an_exact_test(data, rng, runs):
    margin = 2 * int((data > 0.5).sum()) - len(data)
    return np.full(runs, float(np.sign(margin)) if abs(margin) > 6 else 0.0) + 0 * rng.random(runs)


@case(_TABLE)
def contrast_with_one_sided_sensitivity(data, rng, runs):
    sums = _unit(data).sum(axis=0)
    return _laplace(sums[0] - sums[1] + sums[2] - sums[3], 2, rng, runs)


@case(_BITS)
def one_hot_taken_on_trust(data, rng, runs):
    return _laplace(_unit(data).sum(axis=0), 2, rng, runs)


@case(_CLASSED)
def mean_of_a_class_by_all_records(data, rng, runs):
    ones = data[:, 1] > 0.5
    mean = (np.clip(data[ones, 0], 5, 6) - 5).mean() if ones.any() else 0.5
    return _laplace(mean, 2 / len(data), rng, runs)


@case(_UNIT)
def clipped_at_a_quantile_of_the_data(data, rng, runs):
    upper = max(float(np.quantile(data, 0.9)), 1e-6)
    return _laplace(np.clip(data, 0, upper).sum(), upper, rng, runs)


@case(_UNIT)
def exact_where_all_are_equal(data, rng, runs):
    return _laplace(_unit(data).sum(), 0.0 if np.ptp(data) == 0 and len(data) > 4 else 1.0, rng, runs)


# ------------------------------------------------------------------------------------------- correct ones


@case(_UNIT, faulty=False)
def right_sum(data, rng, runs):
    return _laplace(_unit(data).sum(), 1, rng, runs)


@case(_UNIT, faulty=False)
def right_mean(data, rng, runs):
    return _laplace(_unit(data).mean(), 1 / len(data), rng, runs)


@case(_HOLES, faulty=False)
def right_sum_of_those_present(data, rng, runs):
    return _laplace(np.nansum(_unit(data)), 1, rng, runs)


@case(_LABELS, faulty=False)
def right_histogram(data, rng, runs):
    return _laplace(_label_counts(data), 2, rng, runs)


@case(_LABELS, faulty=False, adjacency="add-or-remove-one")
def right_histogram_of_removal(data, rng, runs):
    return _laplace(_label_counts(data), 1, rng, runs)


@case(_BITS, faulty=False)
def right_noisy_max(data, rng, runs):
    return _laplace(_unit(data).sum(axis=0), 2, rng, runs).argmax(axis=1)


@case(_ANSWERS, faulty=False, adjacency="answers-within-1")
def right_sparse_vector(data, rng, runs):
    return _above(data, rng, runs, threshold=2, scale=4, most=1)


@case(_UNIT, faulty=False)
def right_median(data, rng, runs):
    grid = np.linspace(0, 1, 21)
    utility = -np.abs((_unit(data) < grid).sum(axis=0) - len(data) / 2)
    weight = np.exp(utility / 2 - utility.max() / 2)
    return grid[rng.choice(21, size=runs, p=weight / weight.sum())]


@case(_COUNTS, faulty=False, adjacency="add-or-remove-one")
def right_geometric(data, rng, runs):
    p = 1 - np.exp(-1.0)
    return len(data) + rng.geometric(p, size=runs) - rng.geometric(p, size=runs)


@case(_UNIT, faulty=False)
def right_variance(data, rng, runs):
    return _laplace(_unit(data).var(), 1 / len(data), rng, runs)


@case(_TABLE, faulty=False)
def right_contrast(data, rng, runs):
    sums = _unit(data).sum(axis=0)
    return _laplace(sums[0] - sums[1] + sums[2] - sums[3], 4, rng, runs)


@case(_UNIT, faulty=False, adjacency="add-or-remove-one")
def right_sum_and_count(data, rng, runs):
    return _laplace([_unit(data).sum(), len(data)], 2, rng, runs)


def measured(names: list[str], seed: int = 0) -> Iterator[tuple[Case, str, str, float]]:
    """Each case with its verdict, what was said, and CPU seconds."""
    for one in CASES:
        if names and one.name not in names:
            continue
        begin = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            request = Request(
                one.release, one.example, claim="eps=1", adjacency=one.adjacency, seed=seed,
                search_neighbors=str(Path(folder) / "pair.json"),
            )  # fmt: skip
            try:
                found = audit(request)
                verdict, said = found.verdict.value, found.reason
            except InvalidDataError as error:
                verdict, said = "error", str(error)
        yield one, verdict, said, time.process_time() - begin


def main(names: list[str]) -> None:
    """Print a line for each, and totals."""
    right = {True: 0, False: 0}
    total = 0.0
    for one, verdict, said, seconds in measured(names):
        total += seconds
        correct = (verdict == "violated") == one.faulty and verdict != "error"
        right[one.faulty] += correct
        print(
            f"{'ok  ' if correct else 'MISS'} {one.name:44} {verdict:10} {seconds:5.1f} s  {said[-150:]}",
            flush=True,
        )
    of = {faulty: sum(one.faulty == faulty for one in CASES) for faulty in right}
    print(
        f"{right[True]} of {of[True]} faults found, {right[False]} of {of[False]} correct ones pass; {total:.0f} CPU s"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
