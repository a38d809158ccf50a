"""What algorithms state besides privacy, as it is shown."""

from __future__ import annotations

import math

import pytest

from dpverify.algorithms.promises import StatedRisk
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.records import is_vacuous


@pytest.mark.parametrize("at_least", [False, True])
def test_a_bound_is_vacuous_where_nothing_is_beyond_it(at_least: bool) -> None:
    sign = -1.0 if at_least else 1.0
    for worst, vacuous in ((0.4, True), (0.5, True), (0.51, False), (math.inf, False)):
        assert is_vacuous(sign * 0.5, sign * worst, at_least=at_least) == vacuous
    assert not is_vacuous(sign * math.inf, sign * 0.5, at_least=at_least)  # none is stated


def test_a_bound_above_the_largest_risk_is_vacuous() -> None:
    bound = StatedRisk(0.5, total=False)
    assert bound.against(0.51) == str(bound)
    for largest in (0.5, 0.2, 0.0):
        assert bound.against(largest) == f"{bound}: vacuous, as no point of the set has more than {largest:g}"
    assert "vacuous" in StatedRisk(math.inf, total=True).against(3.0)
    for wrong in (-1.0, math.nan, True):
        with pytest.raises(InvalidArgumentError, match="largest"):
            bound.against(wrong)
