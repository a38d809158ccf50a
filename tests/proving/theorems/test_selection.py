"""Theorems about selection: wrong constants are not derived, and the checker refuses a fault in any step."""

from __future__ import annotations

import pytest

from dpverify.proving.checker.theorems import steps
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
