"""Formulas that provers could not decide once, each beside a near miss, with their certificates and damage to these."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.pipeline import default_provers
from dpverify.proving.proof import Proof
from dpverify.proving.provers.balls import BallProver
from dpverify.statements.own_pages import read_pages

PAGE = Path(__file__).parent / "closed.md"
LAST = tuple(p for p in default_provers() if p.name not in ("gram", "search", "balls"))
"""Those that look for proofs; searches would refute near misses before a wrong proof could be seen."""


@cache
def obligations() -> dict[str, Obligation]:
    return {o.name: o for statement in read_pages(PAGE).statements for o in statement.printed}


@cache
def proof(name: str) -> Proof:
    return prove(obligations()[name], provers=LAST)


TRUE = {
    "difference": "chains", "logarithm": "chains", "square": "chains", "equal": "lemmas", "entropy": "chains",
    "tangent": "chains", "weighted": "chains", "young": "chains", "excess": "chains", "chord": "chains",
    "hoeffding": "chains", "larger": "lemmas", "tail": "chains", "half-line": "chains", "profile": "chains",
    "quantile": "quantiles", "odd": "quantiles", "union": "induction", "bonferroni": "induction",
    "harmonic": "induction", "roots": "induction", "central": "induction", "stirling": "induction",
    "from": "induction", "theorem": "binomial sums", "geometric": "lemmas", "mean": "exact", "variance": "exact",
    "noise": "substitution",
}  # fmt: skip


OTHERS = {"irrational-near", "box", "box-near", "slope-near", "kink-near"}


def test_each_formula_of_the_page_is_tried() -> None:
    assert {*obligations()} == {*TRUE, *(f"{name}-near" for name in TRUE), *OTHERS}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TRUE)
def test_proved_and_confirmed(name: str) -> None:
    found = proof(name)
    assert (found.verdict, found.prover) == (Verdict.PROVED, TRUE[name]), found.reason
    confirmation = check(found.certificate)
    assert confirmation.confirmed, confirmation.says


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TRUE)
def test_near_misses_are_never_proved(name: str) -> None:
    assert proof(f"{name}-near").verdict in (Verdict.UNDECIDED, Verdict.REFUTED)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TRUE)
def test_a_proof_does_not_show_the_near_miss(name: str) -> None:
    """The steps of what is true under the claim and the conditions of what is not."""
    wrong = obligations()[f"{name}-near"].problem.json
    given: Any = proof(name).certificate
    assert not check({**given, "problem": wrong}).confirmed


@pytest.mark.parametrize("name", ["union", "theorem", "chord", "equal", "larger", "odd", "mean", "variance"])
def test_damage_shows_nothing_wrong(name: str) -> None:
    """Numbers of a proof are exchanged at random, with seed 1, under the near miss: none shows it."""
    rng = random.Random(1)
    given: Any = proof(name).certificate
    steps = json.dumps(given["proof"])
    wrong = obligations()[f"{name}-near"].problem.json
    for _ in range(8):
        place = rng.randrange(len(steps))
        text = steps[:place] + rng.choice(["0", "1", "2", "-"]) + steps[place + 1 :]
        try:
            damaged = json.loads(text)
        except ValueError:
            continue
        assert not check({**given, "problem": wrong, "proof": damaged}).confirmed


def test_a_counterexample_that_is_no_fraction() -> None:
    found = prove(obligations()["irrational-near"])
    assert (found.verdict, found.prover, found.counterexample) == (Verdict.REFUTED, "crossings", None)
    assert "between 1.4142 and 1.4143" in found.reason
    given: Any = found.certificate
    assert check(given).confirmed
    for ends in (["1", "7/5"], ["3/2", "2"], ["2", "1"]):
        assert not check({**given, "proof": {**given["proof"], "ends": ends}}).confirmed
    left, _ = given["problem"]["claim"][1:]
    true = {**given["problem"], "claim": ["!=", left, ["num", "-2"]]}
    assert not check({**given, "problem": true}).confirmed


def test_conditions_bound_a_box() -> None:
    """What conditions bound is the whole domain; without one of them, or beyond it, a box is not."""
    found = prove(obligations()["box"], provers=(BallProver(),))
    assert (found.verdict, found.prover) == (Verdict.PROVED, "balls"), found.reason
    given: Any = found.certificate
    assert check(given).confirmed
    assert not check({**given, "problem": obligations()["box-near"].problem.json}).confirmed
    for i in range(3):
        assuming = [f for k, f in enumerate(given["problem"]["assuming"]) if k != i]
        says = check({**given, "problem": {**given["problem"], "assuming": assuming}}).says
        assert says == "not confirmed: shown is certified, not proved"
    assert prove(obligations()["box-near"]).verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", ["slope-near", "kink-near"])
def test_nothing_is_replaced_where_a_derivative_is_taken(name: str) -> None:
    """A letter for a power has the slope 0, and a case of a maximum has no kink."""
    assert proof(name).verdict in (Verdict.UNDECIDED, Verdict.REFUTED)
