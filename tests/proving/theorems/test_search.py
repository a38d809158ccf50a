"""The search for finite models: false variants of classic theorems are refuted, what is true gets a witness only."""

from __future__ import annotations

import json
from random import Random

import pytest

from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.search import Candidate, Effort, find_model, spaces

from .clauses import CASES, clause, look

WRONG = [(name, k) for name, case in CASES.items() for k in range(len(case.wrong))]


@pytest.mark.parametrize("name", CASES)
def test_what_is_true_has_a_witness(name: str) -> None:
    """The premises hold in a model that the checker confirms."""
    true = CASES[name].clause(CASES[name].claim)
    model = find_model(true, refute=False).model
    assert model is not None
    show(true, json.loads(json.dumps(model)), refute=False)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", CASES)
def test_what_is_true_is_not_refuted(name: str) -> None:
    """A search of a thousand models finds none, and asks the checker of none in vain."""
    assert (
        find_model(CASES[name].clause(CASES[name].claim), refute=True, effort=Effort(margins=1000)).model
        is None
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "k"), WRONG)
def test_false_variants_are_refuted(name: str, k: int) -> None:
    """Each has a model in which what is assumed is true and the claim is false, exactly."""
    false = CASES[name].clause(CASES[name].wrong[k])
    found = find_model(false, refute=True)
    assert found.model is not None, found
    show(false, json.loads(json.dumps(found.model)), refute=True)


def test_a_search_says_which_premises_were_never_true() -> None:
    """One that contradicts itself, and two that contradict one another."""
    never = find_model(clause("", "(a real)", "(<= 0 a) (< (^ a 2) 0)", "(<= 0 a)"), refute=False)
    assert (never.model, never.never_true, never.never_together) == (None, {1}, True)
    both = find_model(clause("", "(a real)", "(<= 2 a) (<= a 1)", "(<= 0 a)"), refute=False)
    assert (both.model, both.never_true, both.never_together) == (None, set(), True)


def test_a_search_says_which_letters_are_beyond_it() -> None:
    """There are no tables of functions of laws."""
    found = find_model(clause("T:any", "(a real) (F ((law T)) T)", "", "(<= 0 a)"), refute=True)
    assert (found.model, found.beyond) == (None, [1])


def test_searches_are_deterministic() -> None:
    """The same seed finds the same model."""
    case = CASES["basic composition"]
    first, again = (find_model(case.clause(case.wrong[1]), refute=True, seed=3) for _ in range(2))
    assert first == again


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CASES)
def test_floating_point_and_the_checker_agree(name: str) -> None:
    """On formulas of models taken at random, wherever margins are clear and the checker knows."""
    case = CASES[name]
    for k, claim in enumerate((case.claim, *case.wrong)):
        whole = case.clause(claim)
        candidate = Candidate(whole, spaces(whole)[k % 2 if len(spaces(whole)) > 1 else 0], Random(k))
        for _ in range(8):
            candidate.start(first=False)
            margins, last = candidate.measured()
            seen = look(whole, candidate.json())
            for margin, sign in zip((*margins, last), (*seen.premises, seen.claim), strict=True):
                if 1e-2 < abs(margin) < 9:
                    assert sign in (0, 1 if margin > 0 else -1), (candidate.json(), margins, last, seen)
