"""A failure probability is divided once, exactly, and never spent twice."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpverify.auditing import ErrorShare
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.document import ErrorBudget
from dpverify.ledger.records import SpentShare

PATHS = [("first", "claim"), ("first", "band"), ("second",)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 1000])
def test_the_parts_never_exceed_the_whole(count: int) -> None:
    whole = ErrorShare(1e-6)
    parts = whole.split(*(str(i) for i in range(count)))
    exact = sum(Fraction(part.failure_probability) for part in parts)
    assert exact <= Fraction(1e-6)
    assert exact >= Fraction(1e-6) * (1 - Fraction(1, 10**12))


def test_weights_are_proportions() -> None:
    claim, band = ErrorShare(0.05).split("claim", "band", weights=(19, 1))
    assert claim.failure_probability == pytest.approx(0.0475, rel=1e-15)
    assert band.failure_probability == pytest.approx(0.0025, rel=1e-15)


def test_one_part_is_the_whole_bit_for_bit() -> None:
    for level in (1e-6 / 3, 0.1, 1e-15):
        (part,) = ErrorShare(level).split("all of it")
        assert part.failure_probability == level


def test_who_spent_what_and_why() -> None:
    whole = ErrorShare(0.01)
    first, second = whole.split("first", "second")
    claim, band = first.split("claim", "band", weights=(3, 1))
    assert claim.spend("the verdict") == claim.failure_probability
    band.spend("the plot")
    assert whole.spent() == (
        SpentShare(path=("first", "claim"), failure_probability=claim.failure_probability, why="the verdict"),
        SpentShare(path=("first", "band"), failure_probability=band.failure_probability, why="the plot"),
    )
    second.spend("another audit")
    assert [spent.path for spent in whole.spent()] == PATHS
    assert whole.record() == ErrorBudget(
        failure_probability=0.01, spent={"first": 0.005, "second": 0.005}, shares=whole.spent()
    )


def test_nothing_is_spent_twice() -> None:
    whole = ErrorShare(0.01)
    (part,) = whole.split("a")
    part.spend("once")
    with pytest.raises(InvalidArgumentError, match="not spent before"):
        part.spend("twice")
    with pytest.raises(InvalidArgumentError, match="not spent before"):
        part.split("b")
    with pytest.raises(InvalidArgumentError, match="not divided before"):
        whole.spend("what was handed on")
    with pytest.raises(InvalidArgumentError, match="not divided before"):
        whole.split("again")


@pytest.mark.parametrize("total", [0, -0.0, 1, 2, -0.1, math.nan, math.inf, True, "0.1", None])
def test_a_share_is_a_probability(total: object) -> None:
    with pytest.raises(InvalidArgumentError, match="failure_probability"):
        ErrorShare(total)  # type: ignore[arg-type]


@pytest.mark.parametrize("names", [(), ("a", "a"), ("",), (1,)])
def test_names_are_texts_that_differ(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="name"):
        ErrorShare(0.01).split(*names)


@pytest.mark.parametrize(
    "weights", [(1,), (1, 0), (1, -1), (1, math.nan), (1, math.inf), (1, True), (1, "2")]
)
def test_weights_are_positive_numbers_one_for_each_name(weights: tuple[float, ...]) -> None:
    whole = ErrorShare(0.01)
    with pytest.raises(InvalidArgumentError, match="weights"):
        whole.split("a", "b", weights=weights)
    whole.split("a", "b")  # a refused division leaves it whole


@pytest.mark.parametrize("why", ["", None, 3])
def test_a_reason_is_given(why: str) -> None:
    with pytest.raises(InvalidArgumentError, match="why"):
        ErrorShare(0.01).spend(why)


def test_what_was_spent_elsewhere_is_settled_once() -> None:
    whole = ErrorShare(0.01)
    first, second = whole.split("first", "second")
    copy = ErrorShare.of(first.failure_probability, name="first")
    for part in copy.split("claim", "band"):
        part.spend("a bound")
    first.settle(copy.spent())
    second.settle([SpentShare(path=("second",), failure_probability=0.005, why="all of it")])
    assert [share.path for share in whole.spent()] == PATHS
    budget = whole.record()
    assert [share.path for share in budget.spent_on("first")] == [("claim",), ("band",)]
    assert [share.path for share in budget.spent_on("second")] == [()]
    with pytest.raises(InvalidArgumentError, match="before"):
        first.settle(copy.spent())


@pytest.mark.parametrize("amount", [0.0101, 0.0])
def test_more_than_a_share_or_nothing_is_not_settled(amount: float) -> None:
    spent = [SpentShare(path=("a",), failure_probability=amount, why="too much")] if amount else []
    with pytest.raises(InvalidArgumentError, match=r"at most 0\.01"):
        ErrorShare(0.01).settle(spent)


def test_parts_in_turn_never_exceed_the_whole() -> None:
    """The k-th is 1/(k (k + 1)) of it: after n of them 1/(n + 1) is left, whenever one stops."""
    whole = ErrorShare(1e-6)
    parts = [whole.next_part() for _ in range(1000)]
    exact = sum(Fraction(part.failure_probability) for part in parts)
    left = Fraction(1e-6) - exact
    assert Fraction(1e-6) / 1001 <= left <= Fraction(1e-6) / 1001 * (1 + Fraction(1, 10**9))
    assert parts[0].failure_probability == pytest.approx(5e-7, rel=1e-15)
    assert parts[2].failure_probability == pytest.approx(1e-6 / 12, rel=1e-15)
    parts[1].spend("a check")
    assert [(part.path, part.why) for part in whole.spent()] == [(("2",), "a check")]


def test_what_is_handed_on_in_turn_is_neither_split_nor_spent() -> None:
    whole = ErrorShare(1e-6)
    whole.next_part("first")
    for use in (lambda: whole.split("a"), lambda: whole.spend("all"), lambda: whole.settle(())):
        with pytest.raises(InvalidArgumentError, match="not divided before"):
            use()
    divided, spent, least = ErrorShare(0.01), ErrorShare(0.01), ErrorShare(5e-324)
    divided.split("a")
    spent.spend("all")
    for used in (divided, spent):
        with pytest.raises(InvalidArgumentError, match="before"):
            used.next_part()
    with pytest.raises(InvalidArgumentError, match="parts that a float can hold"):
        least.next_part()
