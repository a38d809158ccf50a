"""What algorithms state besides privacy, as it is shown."""

from __future__ import annotations

import math

import pytest

from dpverify.algorithms.promises import StatedRisk
from dpverify.errors import InvalidArgumentError


def test_a_bound_above_the_largest_risk_is_vacuous() -> None:
    bound = StatedRisk(0.5, total=False)
    assert bound.against(0.51) == str(bound)
    for largest in (0.5, 0.2, 0.0):
        assert bound.against(largest) == f"{bound}: vacuous, as no point of the set has more than {largest:g}"
    assert "vacuous" in StatedRisk(math.inf, total=True).against(3.0)
    for wrong in (-1.0, math.nan, True):
        with pytest.raises(InvalidArgumentError, match="largest"):
            bound.against(wrong)
