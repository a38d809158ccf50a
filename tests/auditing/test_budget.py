"""The family-wise failure probability is spent once."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpverify.auditing import ErrorBudget
from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Budget


def test_a_thousand_equal_shares_fit_and_their_exact_sum_is_at_most_the_total() -> None:
    budget = ErrorBudget(1e-6)
    for index in range(1000):
        budget.spend(f"audit {index}", share=0.001)
    exact = sum(Fraction(amount) for amount in budget.spent.values())
    assert exact <= Fraction(1e-6)
    assert float(exact) == pytest.approx(1e-6, rel=1e-12)
    with pytest.raises(InvalidArgumentError, match="at most"):
        budget.spend("one more", share=0.001)


@pytest.mark.parametrize("count", [1, 3, 7, 49, 1000])
def test_split_is_equal_and_exhausts_what_it_was_given(count: int) -> None:
    budget = ErrorBudget(1e-3)
    granted = budget.split([str(i) for i in range(count)])
    assert max(granted.values()) - min(granted.values()) <= 1e-15
    assert sum(map(Fraction, granted.values())) <= Fraction(1e-3)
    assert math.fsum(granted.values()) == pytest.approx(1e-3, rel=1e-12)


def test_overspending_is_refused_and_leaves_the_budget_as_it_was() -> None:
    budget = ErrorBudget(0.01)
    assert budget.spend("first", amount=0.006) == 0.006
    with pytest.raises(InvalidArgumentError, match=r"left of 0\.01"):
        budget.spend("second", amount=0.005)
    with pytest.raises(InvalidArgumentError, match="what is left"):
        budget.split(["a", "b"], share=0.5)
    assert budget.spent == {"first": 0.006}
    assert budget.remaining == pytest.approx(0.004)
    budget.spend("second", amount=0.004)


def test_a_name_is_granted_once() -> None:
    budget = ErrorBudget(0.01)
    budget.spend("privacy", share=0.1)
    with pytest.raises(InvalidArgumentError, match="without an earlier grant"):
        budget.spend("privacy", share=0.1)
    with pytest.raises(InvalidArgumentError, match="without an earlier grant"):
        budget.split(["other", "privacy"], share=0.1)
    assert list(budget.spent) == ["privacy"]


def test_the_record_is_the_ledgers() -> None:
    budget = ErrorBudget(0.01)
    budget.spend("a", share=0.25)
    assert budget.record() == Budget(failure_probability=0.01, spent={"a": 0.0025})


def test_changing_the_copy_changes_nothing() -> None:
    budget = ErrorBudget(0.01)
    budget.spent["forged"] = 0.01
    assert budget.remaining == 0.01


@pytest.mark.parametrize("total", [0, -0.0, 1, 1.5, -1e-3, math.nan, math.inf, True, "0.1", None])
def test_bad_totals(total: object) -> None:
    with pytest.raises(InvalidArgumentError):
        ErrorBudget(total)  # type: ignore[arg-type]


@pytest.mark.parametrize("amount", [0, -0.0, 1, -1e-3, math.nan, math.inf, True, "0.1"])
def test_bad_requests(amount: object) -> None:
    budget = ErrorBudget(0.01)
    with pytest.raises(InvalidArgumentError):
        budget.spend("a", amount=amount)  # type: ignore[arg-type]
    if amount != 1 or amount is True:
        with pytest.raises(InvalidArgumentError):
            budget.spend("a", share=amount)  # type: ignore[arg-type]
    assert budget.spent == {}


def test_exactly_one_of_amount_and_share() -> None:
    budget = ErrorBudget(0.01)
    with pytest.raises(InvalidArgumentError):
        budget.spend("a")
    with pytest.raises(InvalidArgumentError):
        budget.spend("a", amount=0.001, share=0.1)


@pytest.mark.parametrize("names", [[], ["a", "a"], [""]])
def test_bad_names(names: list[str]) -> None:
    with pytest.raises(InvalidArgumentError):
        ErrorBudget(0.01).split(names)
