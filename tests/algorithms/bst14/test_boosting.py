"""Boosting: the pick has its law, the budget adds up, the probability holds, and faults are seen.

Every statistical test has a fixed seed and rejects a correct implementation with probability at most FALSE_ALARM.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import array_api_strict
import numpy as np
import pytest
from scipy import stats

from dpverify.algorithms.bst14 import NoisyGradientDescent
from dpverify.algorithms.bst14 import boosting as module
from dpverify.algorithms.bst14.boosting import Boosting, ForPrivacy
from dpverify.algorithms.bst14.net_mechanism import exponential_probabilities
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.algorithms.fmtt18 import PNSGD
from dpverify.algorithms.promises import StatedQueries, StatedRisk
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import Adjacency, ApproxDP, PureDP, StatedGuarantee
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    Linear,
    Logistic,
    Problem,
    Ridge,
    minimize,
    opposite_linear,
)
from dpverify.running import Output, Randomness, run

FALSE_ALARM = 1e-6
RUNS = 20_000
LINE = Problem(Linear(), Ball(1, 1.0))


@dataclass(frozen=True)
class Scattered:
    """Releases one of a few points of a line, at random and whatever the data: it is 0-DP, and asks nothing."""

    problem: Problem
    epsilon: float
    points: tuple[float, ...] = (-1.0, 0.2, 1.0)
    weights: tuple[float, ...] = (0.2, 0.3, 0.5)
    claims: float | None = None
    id: ClassVar[str] = "test.scattered"

    def guarantees(self, n: int) -> tuple[StatedGuarantee, ...]:
        claimed = self.epsilon if self.claims is None else self.claims
        return (StatedGuarantee(PureDP(claimed), Adjacency.REPLACE_ONE),)

    def risk_bound(self, n: int) -> StatedRisk:
        """Exact for n records at 1: the risk is n (theta + 1)."""
        mean = math.fsum(w * (p + 1) for w, p in zip(self.weights, self.points, strict=True))
        return StatedRisk(n * mean, total=True, sources=("test",))

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        return (StatedQueries("value", 3), StatedQueries("gradient", 2, exact=False))

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        xp = rng.xp
        drawn = rng.uniform((runs,), "place")
        value = xp.full((runs,), self.points[0], dtype=xp.float64)
        for edge, point in zip(np.cumsum(self.weights), self.points[1:], strict=False):
            value = xp.where(drawn >= float(edge), xp.full_like(value, point), value)
        return Output(value[:, None], gradient_queries=1, value_queries=np.full(runs, 3))


def ones(n: int) -> Dataset:
    return Dataset(np.ones((n, 1)), np.ones(n))


def exact_law(algorithm: Boosting, data: Dataset) -> np.ndarray[Any, Any]:
    """Probability of each point, by going through all outcomes of the k runs; the exponent is written out."""
    single: Any = algorithm.algorithm
    risk = np.asarray(data.features).sum() * np.array(single.points)
    rate = algorithm.selection_share * algorithm.epsilon / (2 * 1.0 * 2.0)
    law = np.zeros(len(single.points))
    for outcome in itertools.product(range(len(single.points)), repeat=algorithm.repeat_count):
        weight = np.exp(-rate * risk[list(outcome)])
        chance = math.prod(single.weights[i] for i in outcome)
        for i, share in zip(outcome, weight / weight.sum(), strict=True):
            law[i] += chance * share
    return law


def law_pvalue(
    algorithm: Boosting, data: Dataset, runs: int = RUNS, seed: int = 3, expected: Boosting | None = None
) -> float:
    single: Any = algorithm.algorithm
    points = run(algorithm, data, runs=runs, seed=seed).points[:, 0]
    counts = np.array([np.sum(points == point) for point in single.points])
    assert counts.sum() == runs
    return float(stats.chisquare(counts, runs * exact_law(expected or algorithm, data)).pvalue)


@pytest.mark.parametrize("share", [0.5, 0.8])
@pytest.mark.parametrize("repeats", [1, 2, 5])
def test_the_pick_has_its_law(repeats: int, share: float) -> None:
    boosting = Boosting(Scattered(LINE, 3.0), repeats=repeats, selection_share=share)
    assert law_pvalue(boosting, ones(3)) > FALSE_ALARM


def test_the_law_does_not_depend_on_how_many_runs_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 25)
    boosting = Boosting(Scattered(LINE, 3.0), repeats=5)
    law = exact_law(boosting, ones(3))
    points = np.concatenate(
        [boosting(ones(3), rng=Randomness(5, block), runs=10).points[:, 0] for block in range(1000)]
    )
    counts = [np.sum(points == point) for point in (-1.0, 0.2, 1.0)]
    assert stats.chisquare(counts, 10_000 * law).pvalue > FALSE_ALARM


FAULTS = {
    "the factor 2 of the weights forgotten": ("selection_rate", lambda self: self.epsilon / 4),
    "half the budget used": ("selection_rate", lambda self: self.epsilon / 16),
    "the mean risk scored": ("selection_rate", lambda self: self.epsilon / 8 / 3),
    "the worst point picked": ("selection_rate", lambda self: -self.epsilon / 8),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, wrong = FAULTS[fault]
    monkeypatch.setattr(Boosting, name, property(wrong))
    assert law_pvalue(Boosting(Scattered(LINE, 3.0), repeats=5), ones(3)) < FALSE_ALARM


def test_a_run_forgotten_is_seen() -> None:
    boosting = Boosting(Scattered(LINE, 3.0), repeats=5)
    fewer = dataclasses.replace(boosting, repeats=4)
    assert law_pvalue(fewer, ones(3), expected=boosting) < FALSE_ALARM


# ------------------------------------------------------------------------------------------------- privacy


def picked(boosting: Boosting, points: Any, data: Dataset) -> Any:
    """With which probability each of the points, shape (k, d), is picked; shape (k,)."""
    return exponential_probabilities(-boosting.selection_rate * boosting.problem.total_risk(points, data))


def pick_ratio(boosting: Boosting, copies: int) -> float:
    """Log ratio of the probabilities that one point at -1 is picked among copies of 1, on neighbors."""
    pair = opposite_linear(1, 1, 1)
    points = np.ones((copies + 1, 1))
    points[0] = -1.0
    left, right = (picked(boosting, points, data)[0] for data in (pair.left, pair.right))
    return abs(math.log(left / right))


def test_the_selection_is_as_private_as_said_and_no_more() -> None:
    boosting = Boosting(Scattered(LINE, 3.0))
    assert boosting.selection_epsilon == 1.5
    assert 1.5 * 0.999 < pick_ratio(boosting, 10_000) <= 1.5
    assert picked(boosting, np.array([[0.3], [0.3]]), ones(2)) == pytest.approx([0.5, 0.5])


def test_without_the_factor_2_the_selection_is_not_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Boosting, "selection_rate", property(lambda self: self.selection_epsilon / 2))
    assert pick_ratio(Boosting(Scattered(LINE, 3.0)), 10_000) > 1.5 * 1.9


def far_point_loss(single_epsilon: float, selection_epsilon: float, k: int) -> float:
    """Privacy loss at a far point, with all chances in closed form.

    A single run releases it with probability p, or p exp(single_epsilon) on the neighbor: it is as private as that
    (the rest has almost all of the mass). It has a score far worse than the others', and the record moves that by
    all that a record can. The number of times that it is released in k runs is binomial.
    """
    small, behind = 1e-6, 30.0

    def chance(p: float, gap: float) -> float:
        counts = np.arange(k + 1)
        picked = counts / (counts + (k - counts) * math.exp(gap))
        return float(stats.binom.pmf(counts, k, p) @ picked)

    worse = chance(small, behind)
    better = chance(small * math.exp(single_epsilon), behind - selection_epsilon)
    return math.log(better / worse)


def test_the_printed_split_loses_more_than_epsilon() -> None:
    """All of epsilon for the runs, and Algorithm 2's weights for the selection: epsilon (1 + 1/k) at least."""
    epsilon, k = 1.0, 4
    assert far_point_loss(epsilon / k, epsilon, k) > epsilon * 1.2
    boosting = Boosting(Scattered(LINE, epsilon), repeats=k)
    ours = far_point_loss(boosting.single.epsilon, boosting.selection_epsilon, k)
    assert boosting.single.epsilon * k + boosting.selection_epsilon == pytest.approx(epsilon, rel=1e-12)
    assert ours <= epsilon


def test_the_guarantee_is_what_was_asked() -> None:
    pure = Boosting(Scattered(LINE, 3.0))
    assert pure.guarantees(5).headline.guarantee == PureDP(3.0)
    assert pure.guarantees(5).headline.adjacency is Adjacency.REPLACE_ONE
    approximate = Boosting(NoisyGradientDescent(LINE, 2.0, 1e-5), 0.1)
    assert approximate.guarantees(5).headline.guarantee == ApproxDP(2.0, 1e-5)
    single: Any = approximate.single
    assert approximate.repeat_count == 5
    assert (single.epsilon, single.delta) == (pytest.approx(0.2), pytest.approx(2e-6))
    at = approximate.guarantee_at(5, 2)
    assert at is not None
    assert (at.guarantee, at.index) == (ApproxDP(2.0, 1e-5), 2)


def test_a_single_run_that_claims_less_voids_the_guarantee() -> None:
    boosting = Boosting(Scattered(LINE, 3.0, claims=1.0))
    assert not boosting.guarantees(5)
    assert boosting.guarantee_at(5, 1) is None
    with pytest.raises(NotGuaranteedError, match="a single run does not claim"):
        boosting(ones(5), rng=Randomness(0), runs=3)
    withdrawn = replace(boosting, withdraw_guarantee=True)
    assert withdrawn(ones(5), rng=Randomness(0), runs=3).points.shape == (3, 1)
    assert not withdrawn.guarantees(5)


def test_algorithms_tuned_when_they_meet_the_data() -> None:
    problem = Problem(Logistic(), Ball(1, 1.0))
    boosting = Boosting(ForPrivacy(PNSGD, problem, 2.0, 1e-4), 0.2)
    assert boosting.guarantees(10).headline.guarantee == ApproxDP(2.0, 1e-4)
    result = run(boosting, ones(10), runs=50, seed=1)
    assert np.all(result.gradient_queries == 10 * boosting.repeat_count)
    assert np.all(result.projections == 11 * boosting.repeat_count)
    assert [str(one) for one in boosting.queries(10)] == [
        "40 gradient queries",
        "44 projection queries",
        "40 value queries",
    ]


# ------------------------------------------------------------------------------------------------- risk


def failures(boosting: Boosting, n: int) -> tuple[float, float]:
    """Share of runs above the bound, and the least share that rejects "at most rho" at level FALSE_ALARM."""
    stated = boosting.risk_bound(n)
    assert stated is not None
    assert stated.probability == 1 - boosting.failure_probability
    points = run(boosting, ones(n), runs=RUNS, seed=4).points
    excess = n * (points[:, 0] + 1)
    least = stats.binom.isf(FALSE_ALARM, RUNS, boosting.failure_probability) / RUNS
    return float(np.mean(excess > stated.bound)), float(least)


# a run is bad with probability 0.44, and then its risk is 2.2 times the mean
OFTEN_BAD = Scattered(LINE, 40.0, (-1.0, 1.0), (0.56, 0.44))


def test_the_bound_holds_with_its_probability() -> None:
    boosting = Boosting(OFTEN_BAD, 0.1)
    assert boosting.repeat_count == 5
    assert (2 / 0.1) ** (1 / 5) <= 2
    share, least = failures(boosting, 200)
    # the best of 5 is bad with probability 0.44^5 = 0.016, and the selection hardly ever is wrong
    assert 0.01 < share < 0.022 < least
    expected = (2 / 0.1) ** 0.2 * 200 * 0.88 + math.log(2 * 5 / 0.1) * 2 * 2 / 20
    assert boosting.risk_bound(200).bound == pytest.approx(expected, rel=1e-12)  # type: ignore[union-attr]


def test_the_worst_pick_breaks_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Boosting.selection_rate.fget  # type: ignore[attr-defined]
    bound = Boosting(OFTEN_BAD, 0.1).risk_bound(200)
    monkeypatch.setattr(Boosting, "selection_rate", property(lambda self: -right(self)))
    monkeypatch.setattr(Boosting, "risk_bound", lambda self, n: bound)
    share, least = failures(Boosting(OFTEN_BAD, 0.1), 200)
    assert share > least


@pytest.mark.parametrize("rho", [0.2, 0.1, 0.05, 1e-3, 1e-6])
def test_the_natural_logarithm_is_not_enough(rho: float) -> None:
    """A run above twice its mean with probability near 1/2, as Markov's inequality allows: the best of k is so too."""
    printed = math.ceil(math.log(2 / rho))
    assert 2.0**-printed > rho / 2
    assert 2.0 ** -Boosting(OFTEN_BAD, rho).repeat_count <= rho / 2


def test_fewer_repeats_have_a_larger_bound_instead_of_none() -> None:
    seldom = replace(OFTEN_BAD, weights=(0.99, 0.01))
    bounds = [Boosting(seldom, 0.1, repeats=k).risk_bound(200).bound for k in (1, 2, 5)]  # type: ignore[union-attr]
    assert bounds[0] > bounds[1] > bounds[2]
    assert bounds[0] == pytest.approx(20 * 200 * 0.02 + math.log(20) * 4 / 20)
    # with a single run that is bad half of the time, 20 times its mean: more than any point of the set has
    assert Boosting(OFTEN_BAD, 0.1, repeats=1).risk_bound(200).bound == 200 * 2  # type: ignore[union-attr]


def test_a_real_algorithm_is_improved_by_choice() -> None:
    """With much budget, the best of k noisy runs is better than one: boosting must help where it can."""
    rng = np.random.default_rng(5)
    features = rng.normal(size=(60, 2))
    features /= np.linalg.norm(features, axis=1)[:, None]
    data, ball = Dataset(features, np.sign(features[:, 0])), Ball(2, 2.0)
    problem = Problem(Ridge.on(ball, Logistic(), 0.1), ball)
    boosting = Boosting(OutputPerturbation(problem, 40.0), 0.05, selection_share=0.5)
    least = minimize(problem, data).value.lower
    risks = [
        np.quantile(
            np.asarray(problem.mean_risk(run(one, data, runs=5000, seed=6).points, data)) - least, 0.95
        )
        for one in (boosting.single, boosting)
    ]
    assert risks[1] < 0.5 * risks[0]
    stated = boosting.risk_bound(60)
    assert stated is not None
    assert 60 * risks[1] < stated.bound


def test_no_bound_is_invented() -> None:
    problem = Problem(Logistic(), Ball(1, 1.0))
    assert Boosting(ForPrivacy(PNSGD, problem, 2.0, 1e-4)).risk_bound(10) is None

    @dataclass(frozen=True)
    class Likely(Scattered):
        def risk_bound(self, n: int) -> StatedRisk:
            return StatedRisk(1.0, total=True, probability=0.9)

    assert Boosting(Likely(LINE, 1.0)).risk_bound(10) is None


# ------------------------------------------------------------------------------------------------- counts and form


def test_oracle_calls_are_counted() -> None:
    boosting = Boosting(Scattered(LINE, 3.0), repeats=5)
    output = boosting(ones(7), rng=Randomness(1), runs=11)
    assert np.all(np.asarray(output.value_queries) == 5 * 3 + 5 * 7)
    assert np.all(np.asarray(output.gradient_queries) == 5)
    assert np.all(np.asarray(output.projections) == 5)
    stated = {one.oracle: one for one in boosting.queries(7)}
    assert stated["value"].count == 5 * 3 + 5 * 7
    assert stated["gradient"].count == 10
    assert not stated["gradient"].exact
    assert "projection" not in stated


def test_array_api_strict_gives_the_same() -> None:
    for algorithm in (Scattered(LINE, 3.0), NoisyGradientDescent(LINE, 3.0, 1e-5, steps=4)):
        boosting = Boosting(algorithm, 0.1)
        ours = boosting(ones(4), rng=Randomness(2), runs=13)
        data = ones(4).as_namespace(array_api_strict)
        theirs = boosting(data, rng=Randomness(2, xp=array_api_strict), runs=13)
        assert np.max(np.abs(np.asarray(theirs.points) - ours.points)) <= 1e-12


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("algorithm", {"algorithm": 3}),
        ("algorithm", {"algorithm": Scattered}),
        ("algorithm", {"algorithm": PNSGD(Problem(Logistic(), Ball(1, 1.0)), 0.1, 1.0)}),
        ("algorithm.epsilon", {"algorithm": Scattered(LINE, math.nan)}),
        ("algorithm.epsilon", {"algorithm": Scattered(LINE, 0.0)}),
        ("algorithm.problem", {"algorithm": Scattered(Problem(Linear(), AllSpace(1)), 1.0)}),
        ("failure_probability", {"failure_probability": 0.0}),
        ("failure_probability", {"failure_probability": 1.0}),
        ("failure_probability", {"failure_probability": math.nan}),
        ("failure_probability", {"failure_probability": True}),
        ("repeats", {"repeats": 0}),
        ("repeats", {"repeats": 2.0}),
        ("selection_share", {"selection_share": 0.0}),
        ("selection_share", {"selection_share": math.inf}),
        ("withdraw_guarantee", {"withdraw_guarantee": 1}),
    ],
)
def test_bad_parameters(argument: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match=argument):
        Boosting(**{"algorithm": Scattered(LINE, 1.0), **options})
