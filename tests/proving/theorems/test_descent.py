"""Stochastic and private descent: planted faults do not follow, tampered steps and models of chains are refused."""

from __future__ import annotations

import copy

import pytest

from dpverify.proving.checker.theorems import steps
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.search import Effort, find_model
from dpverify.statements.theorems.library import derive, shipped

from .tampering import Tampering, demand_underived

WRONG = {
    "theorem.noisy-descent-private": (r"\frac{2TL^2}{n^2\sigma^2}", r"\frac{TL^2}{2n^2\sigma^2}"),
    "theorem.noise-square": (r"\le\|y-\eta u\|^2+\eta^2s", r"\le\|y-\eta u\|^2+\frac{\eta^2s}{2}"),
    "theorem.normal-mean-square": (r"+\sigma^2d", r"+\sigma d"),
    "lemma.last-numbers": (r"\frac{\eta G^2}{2m}", r"\frac{\eta G^2}{4m}"),
    "lemma.harmonic": (r"\frac{1}{n+1}", r"\frac{2}{n+1}"),
}
"""What stands on the page, and what is planted in its place."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("id_", WRONG)
@pytest.mark.usefixtures("first_failure")
def test_planted_faults_are_not_derived(id_, tmp_path):
    demand_underived(id_, *WRONG[id_], tmp_path)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("id_", ["theorem.concentrated-steps", "theorem.chain-drift"])
def test_a_fault_in_any_step_is_refused(id_, monkeypatch):
    found = derive(shipped()[id_])
    assert found.derived
    monkeypatch.setattr(steps, "ProofState", Tampering)
    before = Tampering.refused
    assert steps.show(found.certificate) == "derived"
    assert Tampering.refused > before + 5


def test_a_chain_that_goes_elsewhere_is_no_witness():
    """Where descent leads to: with another place for no steps, or for all further ones, it is refused."""
    one = shipped()["theorem.descent-integrable"]
    model = find_model(one.clause, refute=False, effort=Effort(400, 3)).model
    show(one.clause, model, refute=False)
    place = one.names.index("N")
    for k in range(2):
        wrong = copy.deepcopy(model)
        wrong["letters"][place]["then"][k]["term"] = ["certain", ["num", "1/7"]]
        with pytest.raises(ValueError, match="not seen to be true"):
            show(one.clause, wrong, refute=False)
