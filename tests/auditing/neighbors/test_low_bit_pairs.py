"""Pairs on which low bits show: which are tried, and what a search sees of their outputs."""

from __future__ import annotations

import numpy as np
import pytest

from dpverify.auditing.neighbors import Domain
from dpverify.auditing.neighbors.low_bit_pairs import low_bit_pairs, low_bits_of
from dpverify.privacy import Adjacency

BY = [Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE_ONE, Adjacency.ZERO_OUT, Adjacency.ANSWERS]


@pytest.mark.parametrize("adjacency", BY)
@pytest.mark.parametrize("limits", [None, (0.0, 1.0), (5.0, 6.0), (-3.0, -1.0)])
def test_pairs_are_neighbors_within_the_limits(
    adjacency: Adjacency, limits: tuple[float, float] | None
) -> None:
    """That they are neighbors is checked as each is made."""
    domain = Domain(np.array([[5.25, 5.5], [5.0, 6.0]]), adjacency, limits)
    found = list(low_bit_pairs(domain))
    assert found
    if adjacency is Adjacency.ANSWERS:
        return
    assert all(domain.allows(pair.data) for pair in found)
    # what takes the place of zeros is bound to no limits
    assert adjacency is Adjacency.ZERO_OUT or all(domain.allows(pair.neighbor) for pair in found)


def test_zero_against_one_comes_first() -> None:
    first = next(low_bit_pairs(Domain(np.array([[5.25]]), Adjacency.REPLACE_ONE, (0.0, 10.0))))
    assert (first.data.tolist(), first.neighbor.tolist()) == ([[1.0]], [[0.0]])
    assert first.about == "low bits: 0 and 1"


def test_what_is_seen_of_outputs() -> None:
    seen = low_bits_of(np.array([[1.5, 0.25], [1.0, 0.1]]))
    assert seen[:, :2].tolist() == [[-1.0, -2.0], [0.0, -55.0]]
    assert seen[:, 2:].tolist() == [[15.0, 25.0], [1.0, 11.0]]
