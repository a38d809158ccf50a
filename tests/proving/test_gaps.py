"""Why a formula is undecided: one of a closed list, beside the text."""

from __future__ import annotations

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import integral, real
from dpverify.formulas.logic import Eq, Ge, Le, Lt
from dpverify.formulas.operators import exp, log
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving import Budget, Proof, prove
from dpverify.proving.language import Obligation
from dpverify.proving.proof import most_telling

X, Y = real("x", ge=0), real("y", ge=0)
ANY = real("z")


@pytest.mark.parametrize(
    ("obligation", "budget", "gap"),
    [
        (Obligation("o", "", Le(log(1 + X) * log(2 + X), 2 + X**2), (X,)), Budget(), Gap.UNBOUNDED_DOMAIN),
        (
            Obligation(
                "o", "", Le(log(1 + X + Y) * log(2 + X), 2 + X**2 + Y), (X, Y), box={"x": (0, 4), "y": (0, 4)}
            ),
            Budget(boxes=3),
            Gap.EFFORT_SPENT,
        ),
        (
            Obligation("o", "", Le(0, X), (X,), assuming=(Lt(X, 0),)),
            Budget(),
            Gap.CONTRADICTORY_ASSUMPTIONS,
        ),
        (
            Obligation("o", "", Le(0, X), (X,), assuming=(Eq(exp(X), 2),)),
            Budget(),
            Gap.NO_WITNESS,
        ),
        (
            Obligation("o", "", Eq(integral(exp(-(ANY**4)), ANY, 0, X), X), (X, ANY), assuming=(Ge(X, 1),)),
            Budget(),
            Gap.UNSUPPORTED_FUNCTION,
        ),
    ],
)
def test_each_has_its_reason(obligation: Obligation, budget: Budget, gap: Gap) -> None:
    found = prove(obligation, budget=budget)
    assert (found.verdict, found.gap) == (Verdict.UNDECIDED, gap), found.reason


def test_what_is_decided_has_none() -> None:
    assert prove(Obligation("o", "", Le(0, X), (X,))).gap is None
    with pytest.raises(InvalidArgumentError, match="none where something was decided"):
        Proof(Verdict.PROVED, "none", certificate={}, gap=Gap.NO_METHOD)
    assert Proof(Verdict.UNDECIDED, "none").gap is Gap.NO_METHOD


def test_the_most_telling_of_several() -> None:
    assert most_telling([]) is Gap.NO_METHOD
    assert most_telling([None, Gap.NO_METHOD]) is Gap.NO_METHOD
    assert most_telling([Gap.UNSUPPORTED_FUNCTION, Gap.UNBOUNDED_DOMAIN]) is Gap.UNBOUNDED_DOMAIN
    assert most_telling([Gap.EFFORT_SPENT, Gap.CONTACT_POINT]) is Gap.CONTACT_POINT
