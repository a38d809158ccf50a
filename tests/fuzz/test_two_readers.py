"""Both readers of formulas, on random formulas in random styles; `DPVERIFY_FUZZ_EXAMPLES` says how many."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from ..proving.both_readers import Both, ordered, styled

EXAMPLES = int(os.environ.get("DPVERIFY_FUZZ_EXAMPLES", "100"))
# make test has tried the first ones
FIRST = 1_000


@pytest.mark.parametrize(("make", "share"), [(styled, 1), (ordered, 0.25)])
def test_both_read_the_same(make: Callable[[int], Both], share: float) -> None:
    """Every formula: the same problem from both, and the one that was printed; or refused by both."""
    wrong = []
    for seed in range(FIRST, FIRST + int(share * EXAMPLES)):
        found = make(seed)
        if not found.agree:
            wrong.append((seed, found))
    assert not wrong, f"{len(wrong)}, such as {wrong[:5]}"
