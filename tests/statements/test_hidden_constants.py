"""The constants that O( ) hides: every rate is listed, and what is proved is at least what is exhibited."""

from __future__ import annotations

import dataclasses
import math
from importlib import import_module
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad

from dpverify.algorithms.bst14 import NetMechanism, NoisyGradientDescent, ObjectivePerturbation
from dpverify.algorithms.gll22 import LinearHardFamily
from dpverify.errors import InvalidDataError
from dpverify.problems import Ball, Box, Dataset, Linear, Problem
from dpverify.running import Randomness
from dpverify.statements.audit_parts import mean_problem
from dpverify.statements.bst14.audits import rates
from dpverify.statements.gll22.audits.rates import population_lower_bound
from dpverify.statements.hidden_constants import Between, HiddenConstant, RateAt, Rates, counted, hides, size
from dpverify.statements.inventory import ListedDisplay
from dpverify.statements.paper import papers

from ..benchmarks.pages import constant_row

PAGE = Path(__file__).parents[2] / "docs" / "constants.md"
PAPERS = [key for key, paper in papers().items() if paper.algorithms]

QUICK = (
    ("bst14", "bst14.lem2.5", "statement, 1st display"),
    ("bst14", "bst14.lem2.6", "statement, 1st display"),
    ("bst14", "bst14.thm3.2", "statement, 1st display"),
    ("bst14", "bst14.thm3.4.2", "statement, 1st display"),
    ("bst14", "bst14.thm4.3", "statement, 1st display"),
    ("bst14", "bst14.thmA.1", "Algorithm 8, inline 1"),
    ("bst14", "bst14.thmA.1", "statement, 1st display"),
    ("bst14", "bst14.thmE.1.1", "statement, 1st display"),
    ("bst14", "bst14.thmE.2.1", "statement, inline 2"),
    ("bst14", "bst14.lem5.1", "statement, inline 2"),
    ("bst14", "bst14.lem5.1", "statement, 1st display"),
    ("bst14", "bst14.thm5.2", "statement, 1st display"),
    ("bst14", "bst14.thm5.4", "statement, 1st display"),
    ("bst14", "bst14.lem6.5", "statement, 1st display"),
    ("gll22", "gll22.thm6.4", "statement, inline 8"),
    ("gll22", "gll22.rem6.10", "statement, inline 2"),
    ("gll22", "gll22.thm5.6", "statement, inline 7"),
    ("gll22", "gll22.cor7.6", "statement, 1st display"),
    ("mn25", "mn25.thm8", "statement, inline 6"),
    ("mn25", "mn25.lem13", "statement, inline 1"),
)
"""What is evaluated in no time; the page has all."""


def rates_of(paper: str) -> Rates:
    found: Rates = import_module(f"dpverify.statements.{paper}.audits.rates").RATES
    return found


def evaluated(paper: str, statement: str, place: str) -> HiddenConstant:
    (display,) = (one for one in papers()[paper].displays if (one.statement, one.place) == (statement, place))
    return HiddenConstant(display, tuple(rates_of(paper)[statement, place]()))


def is_sound(found: HiddenConstant) -> bool:
    """What is proved is on its side of what is exhibited, at every size at which both are evaluated."""
    both = [(one.proved, one.attained) for one in found.sizes if one.proved and one.attained]
    slack = 1 + 1e-12
    return all(low <= slack * high if found.below else high <= slack * low for low, high in both)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_rate_has_a_row_and_every_evaluation_a_rate(paper: str) -> None:
    listed = [one for one in papers()[paper].displays if hides(one)]
    assert set(rates_of(paper)) <= {(one.statement, one.place) for one in listed}
    text = PAGE.read_text(encoding="utf-8")
    for one in listed:
        start = constant_row(HiddenConstant(one, ())).split(" – ")[0]
        assert f"\n{start} " in text, "run make pages"


@pytest.mark.parametrize(("paper", "statement", "place"), QUICK)
def test_what_is_proved_is_above_what_is_exhibited_and_on_the_page(
    paper: str, statement: str, place: str
) -> None:
    found = evaluated(paper, statement, place)
    assert is_sound(found)
    assert f"\n{constant_row(found)}\n" in PAGE.read_text(encoding="utf-8"), "run make pages"


@pytest.mark.parametrize("statement", ["bst14.lem2.5", "bst14.thm3.2", "bst14.thmE.2.1"])
def test_a_constant_that_is_too_small_is_noticed(statement: str) -> None:
    """By 2 %: the rates whose constants are sharp."""
    (key,) = (key for key in rates_of("bst14") if key[0] == statement)
    found = evaluated("bst14", *key)
    assert found.why is Between.CLOSE
    planted = tuple(dataclasses.replace(one, proved=0.98 * (one.proved or 0.0)) for one in found.sizes)
    assert not is_sound(HiddenConstant(found.display, planted))


@pytest.mark.parametrize("slack", [0.0, 0.5])
@pytest.mark.parametrize(("rate", "p", "width"), [(3.0, 1, 2.0), (40.0, 5, 1.0), (2.0, 7, 1.0)])
def test_the_mean_of_a_cone_is_its_quadrature(rate: float, p: int, width: float, slack: float) -> None:
    """Of densities within exp(slack), the least mean has its mass moved inward from where it does not change."""
    r = (np.arange(400_000) + 0.5) * width / 400_000
    law = r ** (p - 1) * np.exp(-rate * r)
    law /= law.sum()
    first = np.cumsum(law) <= 1 / (math.exp(slack) + 1)
    least = float(r @ (law * np.where(first, math.exp(slack), math.exp(-slack))))
    assert rates.cone_excess(rate, p, width, slack) == pytest.approx(least, rel=1e-5)
    if slack == 0:
        whole = mpmath.quad(lambda x: x ** (p - 1) * mpmath.exp(-rate * x), [0, width])
        mean = mpmath.quad(lambda x: x**p * mpmath.exp(-rate * x), [0, width]) / whole
        assert rates.cone_excess(rate, p, width) == pytest.approx(float(mean), rel=1e-12)


def test_noise_below_the_least_breaks_the_claim_on_the_sum_of_messages() -> None:
    """Three steps on two records, by quadrature; the accountant asks for more noise."""
    epsilon, delta = 1.0, 1e-3
    noise = rates.least_noise(2, epsilon, delta)
    weights = [(k, math.comb(3, k) / 8) for k in range(4)]

    def density(x: float, sign: float) -> float:
        scale = noise * math.sqrt(3)
        return (
            sum(w * math.exp(-(((x - sign * k) / scale) ** 2) / 2) for k, w in weights)
            / scale
            / math.sqrt(2 * math.pi)
        )

    gained, _ = quad(lambda x: max(density(x, 1) - math.e * density(x, -1), 0.0), -40, 40, limit=400)
    assert delta <= gained <= 1.001 * delta
    descent = NoisyGradientDescent(Problem(Linear(), Ball(1, 1.0)), epsilon, delta)
    assert descent.noise_stddev(2) > 2 * noise > 0.5 * descent.noise_stddev(2)


def test_no_instance_is_said_to_attain_more_than_its_runs_do() -> None:
    mechanism, n = ObjectivePerturbation(mean_problem(2, 1.0), 1.0, 0.0), 200
    points = np.asarray(mechanism(Dataset(np.zeros((n, 2)), np.ones(n)), rng=Randomness(1), runs=4000).points)
    excess = n * np.sum(points**2, axis=1) / 2
    attained = float(np.mean(excess))
    stated = mechanism.risk_bound(n)
    assert stated is not None
    law = n * mechanism.noise_scale_at(n) ** 2 * 6 / (2 * mechanism.convexity(n) ** 2)
    assert attained == pytest.approx(law, abs=4 * float(np.std(excess)) / math.sqrt(4000))
    assert stated.bound >= law


def test_the_net_has_no_fewer_points_than_the_volume_asks_for() -> None:
    for one in rates.net_points():
        assert one.proved is not None
        assert one.attained is not None
        assert one.proved >= one.attained
    mechanism = NetMechanism(Problem(Linear(), Box.cube(1, 1.0)), 2.0)
    (first, *_) = rates.net_points()
    assert first.attained == pytest.approx(1 / mechanism.theorem_radius(50))


def test_rows_say_what_lies_between_the_constants() -> None:
    def of(*sizes: RateAt, latex: str = "O(n)") -> HiddenConstant:
        return HiddenConstant(ListedDisplay("a.thm1", "statement, 1st display", latex, (), ""), sizes)

    assert of().why is Between.NOT_EVALUATED
    assert of(size(1.0, 2.0, n=3)).why is Between.NO_INSTANCE
    assert of(size(1.0, None, 2.0)).why is Between.NOT_PROVED
    assert of(counted(2.0, 3.0)).why is Between.COUNTED
    assert of(size(1.0, 2.0, 1.95)).why is Between.CLOSE
    assert of(size(1.0, 2.0, 1.0), size(1.0, 4.0, 2.0)).why is Between.STEADY
    assert of(size(1.0, 2.0, 1.0), size(1.0, 4.0, 1.0)).why is Between.GROWS
    assert of(size(1.0, 4.0, 1.0), size(1.0, 2.0, 1.0)).why is Between.FALLS
    above = of(size(2.0, 4.0, 1.0, n=3, p=1), size(2.0, 2.0, 2.0, n=5, p=1))
    assert above.row[:4] == ("2", "1", "2", "n = 3 to 5, p = 1, 2 sizes")
    below = of(size(2.0, 1.0, 4.0), size(1.0, 2.0, 1.5), latex=r"\Omega(n)")
    assert (below.proved, below.exhibited) == (0.5, 1.5)
    assert not is_sound(below)


def test_an_excess_below_the_least_is_refused() -> None:
    """A wrong minimum is not cut off."""
    descent = NoisyGradientDescent(Problem(Linear(), Ball(2, 1.0)), 1.0, 1e-5)
    data = rates.equal_records(8, 2)
    assert 0 < rates.measured(descent, data, -8.0) < rates.measured(descent, data, -8.0, below=False) < 16
    with pytest.raises(InvalidDataError, match="allowed: within"):
        rates.measured(descent, data, -2.0)


@pytest.mark.parametrize(("n", "epsilon", "power"), [(8, 0.5, 1), (8, 0.5, 2), (30, 0.1, 1)])
def test_vectors_of_a_packing_are_there_and_too_many_to_tell_apart(
    n: int, epsilon: float, power: int
) -> None:
    """By a list of all sign vectors; more equal records by a factor of two and a half could be told apart."""
    p = 10
    equal, wrong = rates.packing(n, p, epsilon, power)
    assert equal >= 1
    assert (n - equal) % 2 == 0
    code: list[int] = []
    for one in range(2**p):
        if all((one ^ other).bit_count() >= 2 * wrong - 1 for other in code):
            code.append(one)
    # the likeliest answer is e^(epsilon k) times as likely on its data as on the common ones, where one is 1 / M
    assert math.exp(epsilon * equal) / len(code) <= 0.5
    assert equal == n - n % 2 or math.exp(2.5 * epsilon * (equal + 2)) / len(code) > 0.5


def test_a_solver_of_the_truncated_family_is_no_better_than_its_lower_bound() -> None:
    """In one dimension the sign of the mean is the best answer; its risk is above the bound, and not above ten."""
    (first, *_) = population_lower_bound()
    n, rng = int(first.at["n"]), np.random.default_rng(0)
    family = LinearHardFamily(1, n)
    found = []
    for length in (2.0, 4.0):
        records = family.separation + family.record_stddev * rng.standard_normal((20_000, 4 * n))
        kept = np.where(np.abs(records) <= length, records, np.nan)
        missed = np.nanmean(kept[:, : 2 * n], axis=1) < 0
        # of two at most are taken: no sample has fewer than n records
        assert np.min(np.sum(np.isfinite(kept[:, : 2 * n]), axis=1)) >= n
        found.append(float(np.mean(missed)) * 2 * float(np.nanmean(kept)) / length)
    assert first.proved is not None
    assert first.proved < min(found) < 10 * first.proved
