"""Random pages of mechanisms, by laws worked out elsewhere: what is proved no pair breaks, what is refuted one does.

`DPVERIFY_FUZZ_EXAMPLES` says how many are tried (`make fuzz` sets it); the same ones each time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from dpverify.ledger.verdicts import Verdict

from .random_mechanisms import EPSILON, Known, choices, numbers, vectors

EXAMPLES = max(1, int(os.environ.get("DPVERIFY_FUZZ_EXAMPLES", "0")) // 20)
PAIRS = 12
"""That are looked at of each that is proved."""
SLACK = 1e-4
"""Of chances that are means over quantiles of noise."""


def wrong(known: Known, random: Random) -> tuple[Verdict, str]:
    """The verdict, and what speaks against it."""
    row = known.mechanism.decide()
    if row.verdict is Verdict.PROVED:
        for one, other in known.pairs(random, PAIRS):
            for epsilon in known.values:
                if (far := known.excess(one, other, epsilon)) > SLACK:
                    return row.verdict, f"{one} and {other} at epsilon {epsilon}: more by {far}"
    elif row.pair is not None:
        epsilon = float(Fraction(dict(row.pair.letters).get(EPSILON, "1")))
        sides = [
            [tuple(map(float, map(Fraction, record))) for record in side]
            for side in (row.pair.left, row.pair.right)
        ]
        one, other = (tuple(x if len(x) > 1 else x[0] for x in side) for side in sides)
        far = max(known.excess(one, other, epsilon), known.excess(other, one, epsilon))
        if far < -SLACK:
            return row.verdict, f"{one} and {other} at epsilon {epsilon}: less by {-far}"
    return row.verdict, ""


@pytest.mark.parametrize("made", [numbers, choices, vectors])
def test_no_verdict_is_contradicted(made: Callable[[Random], Known]) -> None:
    """Each is decided, or stays undecided; that is shown."""
    found, verdicts = list[str](), Counter[Verdict]()
    for number in range(EXAMPLES):
        known = made(Random(number))
        verdict, against = wrong(known, Random(number))
        verdicts[verdict] += 1
        found += [f"{number}: {verdict}, {against}\n{known.mechanism.page}"] if against else []
    print(made.__name__, *(f"{verdict} {count}" for verdict, count in verdicts.items()))
    assert not found, "\n\n".join(found)
    assert EXAMPLES < 20 or {Verdict.PROVED, Verdict.REFUTED} <= {*verdicts}


@pytest.mark.parametrize(("number", "times"), [(12, 2.0), (8, 0.1)])
def test_noise_of_another_scale_is_seen(number: int, times: float) -> None:
    """Planted: of a page that is proved the law here has half the noise, of one that is refuted ten times the noise."""
    known = numbers(Random(number))
    masses = known.masses
    changed = replace(known, masses=lambda data, epsilon: masses(data, epsilon * times))
    assert not wrong(known, Random(number))[1]
    assert wrong(changed, Random(number))[1]
