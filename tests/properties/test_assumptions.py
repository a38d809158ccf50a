"""Checks of what guarantees rest on: the project's own objects pass, planted faults are found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import Adjacency
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    EuclideanDistance,
    HalfSquaredDistance,
    Hinge,
    Logistic,
    Simplex,
)
from dpverify.properties import (
    check_contraction,
    check_loss,
    check_projection,
    check_sensitivity,
    neighboring_arrays,
)

SETS = [Ball(3, 2.0), Ball(1, 0.5), Box((-1.0, 0.0), (1.0, 3.0)), Simplex(4), AllSpace(2)]


@pytest.mark.parametrize("constraint", SETS, ids=lambda s: f"{type(s).__name__}-{s.dimension}")
def test_the_projects_own_projections_keep_the_laws(constraint: Any) -> None:
    check_projection(constraint, points=300)


def scaled(w: np.ndarray) -> np.ndarray:
    return w / max(1.0, float(np.linalg.norm(w)))


UNIT = {"dimension": 3, "contains": lambda w: np.linalg.norm(w) <= 1 + 1e-9}
FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "not at all": (lambda w: w, "land in the set"),
    "always to the boundary": (lambda w: w / max(np.linalg.norm(w), 1e-9), "leave points of the set alone"),
    "halved": (lambda w: scaled(w) / 2, "change nothing the second time"),
    "to the wrong side": (lambda w: -scaled(w), "change nothing the second time"),
    "onto a cube inside": (lambda w: np.clip(w, -0.5, 0.5), "leave points of the set alone"),
    "radially out of a cube": (lambda w: w / max(1.0, np.abs(w).max()), "land in the set"),
    "nothing finite": (lambda w: w / np.linalg.norm(w) * np.inf, "finite"),
    "another dimension": (lambda w: w[:2], "dimension"),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_projection_is_found(name: str) -> None:
    wrong, law = FAULTS[name]
    check_projection(scaled, **UNIT)
    with pytest.raises(AssertionError, match=law):
        check_projection(wrong, **UNIT)


def test_a_projection_along_rays_is_not_the_closest_point() -> None:
    def along_rays(w: np.ndarray) -> np.ndarray:
        return w / max(1.0, float(np.abs(w).max()))

    def cube(w: np.ndarray) -> bool:
        return bool(np.abs(w).max() <= 1 + 1e-9)

    with pytest.raises(AssertionError, match=r"closest|farther"):
        check_projection(along_rays, dimension=2, contains=cube)


def gradient_step(eta: float, curvatures: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda w: w - eta * curvatures * w


def test_gradient_steps_contract_up_to_two_over_the_smoothness() -> None:
    # one direction in thirty is steep, and the step is too long by a thousandth
    curvatures = np.full(30, 0.1)
    curvatures[7] = 4.0
    assert check_contraction(gradient_step(0.5, curvatures), dimension=30) == pytest.approx(1.0)
    with pytest.raises(AssertionError, match=r"1\.002 times, with 1 declared"):
        check_contraction(gradient_step(0.5005, curvatures), dimension=30)
    found = check_contraction(gradient_step(0.25, np.array([1.0, 2.0])), dimension=2, factor=0.75)
    assert found == pytest.approx(0.75)
    with pytest.raises(AssertionError, match=r"too far apart: their distance changes .* 0\.75 times"):
        check_contraction(gradient_step(0.25, np.array([1.0, 2.0])), dimension=2, factor=0.74)


def clipped_mean(data: np.ndarray, n: int = 5) -> np.ndarray:
    return data.sum(axis=0) / n


def test_sensitivities_are_met_and_slightly_smaller_ones_are_refuted() -> None:
    assert check_sensitivity(clipped_mean, bound=0.4, n=5, d=2, examples=100) == pytest.approx(0.4, rel=0.1)
    for bound, adjacency in ((0.39, Adjacency.REPLACE_ONE), (0.19, "add-or-remove-one")):
        with pytest.raises(AssertionError, match=f"sensitivity of {bound} declared"):
            check_sensitivity(clipped_mean, bound=bound, n=5, d=2, adjacency=adjacency)
    check_sensitivity(clipped_mean, bound=0.2, n=5, d=2, adjacency="add-or-remove-one", examples=50)
    # worked out on clipped data, used on unclipped ones
    with pytest.raises(AssertionError, match=r"sensitivity of 0\.4 declared"):
        check_sensitivity(clipped_mean, bound=0.4, n=5, d=2, radius=3.0)
    # right in the largest entry, wrong in the Euclidean norm
    check_sensitivity(lambda data: np.repeat(data.sum(), 4), bound=2.0, n=3, d=1, norm=math.inf, examples=50)
    with pytest.raises(AssertionError, match=r"4 apart"):
        check_sensitivity(lambda data: np.repeat(data.sum(), 4), bound=2.0, n=3, d=1, norm=2)


def test_a_mean_over_no_records_is_found() -> None:
    def mean(data: np.ndarray) -> float:
        return float(data.sum() / len(data)) if len(data) else math.nan

    with pytest.raises(AssertionError, match="not finite numbers"):
        check_sensitivity(mean, bound=2.0, n=3, d=1, adjacency="add-or-remove-one")


def test_data_sets_have_no_fewer_records_than_asked_for() -> None:
    """Claims that hold, or have a meaning, from some number of records on; for all sizes up to the largest."""
    sizes = set[int]()

    def mean(data: np.ndarray) -> float:
        sizes.add(len(data))
        return float(data.mean())

    assert check_sensitivity(mean, bound=2 / 3, n=20, d=1, least=3) == pytest.approx(2 / 3)
    assert min(sizes) == 3
    assert max(sizes) == 20
    assert check_sensitivity(mean, bound=0.51, n=9, d=1, least=3, adjacency="add-or-remove-one") > 0.49
    with pytest.raises(AssertionError, match=r"sensitivity of 0\.66 declared"):
        check_sensitivity(mean, bound=0.66, n=20, d=1, least=3)
    # (n - 1)/n of 4 grows with the number of records
    with pytest.raises(AssertionError, match=r"sensitivity of 3\.8 declared"):
        check_sensitivity(lambda data: data.var() * len(data), bound=3.8, n=40, d=1, least=3)
    # inside of the interval, where no end of it shows anything
    with pytest.raises(AssertionError, match="apart"):
        check_sensitivity(lambda data: np.sin(7 * data).sum(), bound=1.95, n=5, d=1)


def trimmed_mean(data: np.ndarray) -> float:
    kept = np.sort(data[:, 0])[len(data) // 4 : len(data) - len(data) // 4]
    return float(kept.mean())


def odd_range(data: np.ndarray) -> float:
    return float(np.ptp(data)) if len(data) % 2 and len(data) > 3 else 0.0


@pytest.mark.parametrize(
    ("query", "bound", "n", "least"),
    [(np.median, 1.01, 20, 4), (trimmed_mean, 0.99, 9, 3), (odd_range, 1.9, 12, 1)],
)
def test_what_shows_from_three_records_on_is_found(query: Any, bound: float, n: int, least: int) -> None:
    """Numbers of records that are odd, and no end of their range; half of the records at each end."""
    with pytest.raises(AssertionError, match=f"sensitivity of {bound} declared"):
        check_sensitivity(query, bound=bound, n=n, d=1, least=least)


def test_the_same_seed_finds_the_same_case() -> None:
    says = []
    for _ in range(2):
        with pytest.raises(AssertionError) as found:
            check_sensitivity(clipped_mean, bound=0.3, n=5, d=2, seed=4)
        says.append(str(found.value))
    assert says[0] == says[1]


@given(neighboring_arrays(n=4, d=2, adjacency="add-or-remove-one", radius=2.0))
@settings(max_examples=50, derandomize=True, deadline=None)
def test_arrays_are_neighbors(pair: tuple[np.ndarray, np.ndarray]) -> None:
    assert abs(len(pair[0]) - len(pair[1])) == 1
    assert max(float(np.linalg.norm(side, axis=1).max(initial=0.0)) for side in pair) <= 2 + 1e-12


LOSSES = [Logistic(), Hinge(), EuclideanDistance(), HalfSquaredDistance(1.0)]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_the_projects_own_losses_keep_their_constants(loss: Any) -> None:
    check_loss(loss, Ball(2, 1.0), rounds=10)


@dataclass(frozen=True)
class Declared:
    """The logistic loss, with another Lipschitz constant."""

    lipschitz_constant: float
    smoothness: float = 0.25
    strong_convexity: float = 0.0
    flipped: bool = False

    def value(self, w: Any, x: Any, y: Any) -> Any:
        return Logistic().value(w, x, y)

    def gradient(self, w: Any, x: Any, y: Any) -> Any:
        return Logistic().gradient(w, x, y) * (-1 if self.flipped else 1)


def test_losses_that_declare_too_little_are_found() -> None:
    check_loss(Declared(1.0), Ball(2, 1.0))
    for wrong in (Declared(0.5), Declared(1.0, smoothness=0.2), Declared(1.0, strong_convexity=0.2),
                  Declared(1.0, flipped=True)):  # fmt: skip
        with pytest.raises(AssertionError, match=r"found|allowed"):
            check_loss(wrong, Ball(2, 1.0))


def test_wrong_arguments_are_said() -> None:
    for call in (
        lambda: check_projection(scaled),
        lambda: check_projection(3, dimension=2),  # type: ignore[arg-type]
        lambda: check_contraction(scaled, dimension=2, factor=-1.0),
        lambda: check_sensitivity(clipped_mean, bound=1.0, n=0, d=1),
        lambda: check_sensitivity(clipped_mean, bound=1.0, n=2, d=1, norm=3),
        lambda: check_sensitivity(clipped_mean, bound=1.0, n=2, d=1, least=3),
        lambda: check_sensitivity(clipped_mean, bound=1.0, n=2, d=1, adjacency="unchecked"),
        lambda: check_sensitivity(clipped_mean, bound=1.0, n=2, d=1, adjacency="index"),
        lambda: check_loss(Logistic(), Ball(2, 1.0), rounds=0),
    ):
        with pytest.raises(InvalidArgumentError):
            call()
