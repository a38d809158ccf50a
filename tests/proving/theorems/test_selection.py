"""Theorems about selection: wrong constants are not derived, and the checker refuses a fault in any step."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from dpverify.proving.checker.theorems import steps
from dpverify.proving.checker.theorems.language import parts_of
from dpverify.proving.theorems.finite_models import FloatModel
from dpverify.statements.theorems.library import derive, shipped

from .tampering import Tampering, demand_underived

WRONG = {
    "theorem.bounded-range": (r"{2\Delta}", r"{\Delta}"),
    "theorem.noisy-max": (r"2\Delta", r"\Delta"),
    "theorem.noisy-max-exponential": (
        r"\mathrm{Exp}(2\Delta/\varepsilon)",
        r"\mathrm{Exp}(\Delta/\varepsilon)",
    ),
    "theorem.noisy-max-laplace": (r"\mathrm{Lap}(2\Delta/\varepsilon)", r"\mathrm{Lap}(\Delta/\varepsilon)"),
    "theorem.sparse-vector": (r"\mathrm{Lap}(2\Delta/\varepsilon)", r"\mathrm{Lap}(\Delta/\varepsilon)"),
    "theorem.sparse-vector-answers": (r"\frac{2\Delta}{c}", r"\frac{\Delta}{c}"),
    "theorem.permute-and-flip": (r"2c\Delta", r"c\Delta"),
    "theorem.permute-and-flip-monotone": (r"c\Delta", r"\frac{1}{2}c\Delta"),
    "theorem.exponential-mechanism-monotone": (r"\varepsilon q", r"2\varepsilon q"),
}
"""Half of the noise, wherever it stands on the page."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("id_", WRONG)
@pytest.mark.usefixtures("first_failure")
def test_half_of_the_noise_is_not_derived(id_, tmp_path):
    demand_underived(id_, *WRONG[id_], tmp_path)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("id_", WRONG)
def test_a_fault_in_any_step_is_refused(id_, monkeypatch):
    """Another rule, a premise less or another one, the opposite of a claim, no steps: at all steps, at each depth."""
    found = derive(shipped()[id_])
    assert steps.show(found.certificate) == "derived"
    monkeypatch.setattr(steps, "ProofState", Tampering)
    before = Tampering.refused
    assert steps.show(found.certificate) == "derived"
    assert Tampering.refused >= before + len(found.certificate["steps"])


@pytest.mark.parametrize("id_", ["theorem.best-of-runs", "theorem.best-of-logarithmic-runs"])
def test_cited_bounds_on_the_best_of_runs_hold_of_random_laws(id_: str) -> None:
    """Of three outputs, drawn at random; a bound with half of what one run costs, in either order, is broken."""
    claim = parts_of(shipped()[id_].claim.formula)
    bound, draw, broken = FloatModel({}, {}).code(claim[4]), random.Random(id_), Counter[str]()
    for _ in range(3000):
        eta, gamma = draw.choice([-0.5, 0.5, 1.0, 2.0]), draw.choice([0.001, 0.01, 0.1, 0.5, 0.9])
        alpha, beta = draw.choice([1.5, 2.0, 8.0, 40.0]), draw.choice([1.5, 4.0, 50.0])
        laws = [[draw.random() ** 6 + 1e-4 for _ in range(3)] for _ in range(2)]
        laws = [[p / sum(law) for p in law] for law in laws]

        def power(p: float, eta: float = eta, gamma: float = gamma) -> float:
            """The mean of p to the number of runs."""
            if id_ == "theorem.best-of-runs":
                return float(((1 - (1 - gamma) * p) ** -eta - 1) / (gamma**-eta - 1))
            return math.log(1 - (1 - gamma) * p) / math.log(gamma)

        best = [
            [max(power(sum(law[: k + 1])) - power(sum(law[:k])), 1e-300) for k in range(3)] for law in laws
        ]
        one, other = (max(_divergence(p, q, order) for p, q in (laws, laws[::-1])) for order in (alpha, beta))
        letters = {"alpha": alpha, "beta": beta, "gamma": gamma, "eta": eta, "varepsilon": one, "rho": other}
        found = max(_divergence(p, q, alpha) for p, q in (best, best[::-1]))
        assert found <= bound(letters) + 1e-9
        for name in ("varepsilon", "rho"):
            broken[name] += found > bound({**letters, name: letters[name] / 2})
    assert broken["varepsilon"]
    assert broken["rho"]


def _divergence(one: Sequence[float], other: Sequence[float], order: float) -> float:
    logs = [order * math.log(p) + (1 - order) * math.log(q) for p, q in zip(one, other, strict=True)]
    return (max(logs) + math.log(sum(math.exp(one - max(logs)) for one in logs))) / (order - 1)
