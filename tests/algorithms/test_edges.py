"""The edges of what may be asked of every algorithm: one clear sentence, or a run with finite points.

One record, more features than records, sets of one point, budgets from 1e-6 to 1e3, and deltas down to 1e-200. What is
foreseen to take too long is refused in a sentence, too. A traceback is any exception of another kind.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from every_algorithm import ALGORITHMS, examples

from dpverify.algorithms.conditions import reach
from dpverify.algorithms.examples import Setting
from dpverify.algorithms.fmtt18 import PNSGD
from dpverify.errors import DpverifyError
from dpverify.problems import AllSpace, Ball, Box, Linear, Problem, Simplex
from dpverify.running import run

NO_MECHANISM = {"gll22.lower-instance", "mn25.hard-instance", "mn25.fingerprint"}
"""They draw their records themselves, and are tried for what they state."""


def edges() -> list[Setting]:
    found = [
        Setting(n, d, epsilon, delta)
        for epsilon, delta, (n, d) in itertools.product(
            (1e-6, 1.0, 1e3), (1e-200, 0.5), ((1, 1), (1, 3), (2, 3))
        )
    ]
    return [*found, *(Setting(3, d, 1.0, 1e-3, point=True) for d in (1, 2))]


def answered(id_: str, edge: Setting) -> str:
    """Ask; what was said where it was refused, nothing where it ran. Any other exception passes."""
    try:
        algorithm = examples(id_, edge)["asked"]()
        for stated in (algorithm.risk_bound(edge.n), algorithm.risk_quantile(edge.n, 0.9)):
            assert stated is None or stated.bound >= 0, edge
        assert all(one.count >= 0 for one in algorithm.queries(edge.n)), edge
        profiles = [one.guarantee.privacy_profile(edge.epsilon) for one in algorithm.guarantees(edge.n)]
        assert all(0 <= float(np.asarray(one)) <= 1 for one in profiles), edge
        if id_ not in NO_MECHANISM:
            points = run(algorithm, edge.data, runs=2, seed=1, call_limit=5e3).points
            assert np.all(np.isfinite(points)), edge
    except DpverifyError as error:
        return str(error)
    return ""


def is_clear(text: str) -> bool:
    """Whether it is a line of words, without a traceback and without numbers that are none."""
    return 10 < len(text) < 500 and "\n" not in text and not re.search(r"Traceback|\bnan\b", text)


@pytest.mark.parametrize(
    ("constraint", "point", "distance"),
    [
        (Ball(2, 1.0, (3.0, 0.0)), (3.0, 0.5), 1.5),
        (Box((0.0, 0.0), (3.0, 4.0)), (0.0, 0.0), 5.0),
        (Box((10.0, 10.0), (11.0, 11.0)), (10.5, 10.5), math.sqrt(0.5)),
        (Simplex(2), (0.5, 0.5), math.sqrt(0.5)),
        (Simplex(2), None, math.sqrt(2)),
        (AllSpace(2), (0.0, 0.0), math.inf),
    ],
)
def test_the_farthest_point_of_a_set(constraint: Any, point: Any, distance: float) -> None:
    assert reach(point, constraint) == pytest.approx(distance)


def test_risk_bounds_do_not_depend_on_where_the_box_lies() -> None:
    here, there = (
        PNSGD(Problem(Linear(), Box((low, low), (low + 1, low + 1))), 0.05, 1.0).risk_bound(100).bound
        for low in (-0.5, 10.0)
    )
    assert here == pytest.approx(there, rel=1e-12)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("id_", ALGORITHMS)
def test_a_sentence_or_a_right_run(id_: str) -> None:
    """And each runs at some edge, so that it is not for another reason that it is refused."""
    said = {edge: answered(id_, edge) for edge in edges()}
    for edge, text in said.items():
        assert not text or is_clear(text), (edge, text)
    assert not all(said.values())


def test_other_answers_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def runs_to(value: float) -> Any:
        return lambda *_, **__: type("Output", (), {"points": np.full((2, 1), value)})()

    assert not is_clear("delta was nan; allowed: a number in (0, 1)")
    assert not is_clear("Traceback (most recent call last)")
    assert answered("fmtt18.alg1", Setting(3, 1)) == ""
    monkeypatch.setitem(globals(), "run", runs_to(math.nan))
    with pytest.raises(AssertionError):
        answered("fmtt18.alg1", Setting(3, 1))
    monkeypatch.setattr(PNSGD, "examples", lambda edge: {"asked": lambda: 1 / 0})
    with pytest.raises(ZeroDivisionError):
        answered("fmtt18.alg1", Setting(3, 1))
