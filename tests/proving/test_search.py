"""The search for counterexamples among simple numbers: quick, and with nothing left out."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpverify.formulas.expressions import integer, real, total
from dpverify.formulas.logic import And, Eq, Formula, Ge, Gt, Implies, Le, Lt, Ne, Not, Or, free_in
from dpverify.formulas.operators import exp, log, sqrt
from dpverify.proving.problem import ProofProblem
from dpverify.proving.provers.points import graded, ranks, simple_values
from dpverify.proving.provers.search import SIMPLE_POINTS, Search, failing_gap, may_be_counterexamples

X, Y, Z, N, K = real("x"), real("y", gt=0), real("z"), integer("n", ge=1), integer("k")


@pytest.mark.parametrize("sizes", [(1,), (4,), (3, 2), (2, 5, 3), (2, 1, 2, 3, 2, 2, 3)])
def test_tuples_come_by_the_sum_of_their_ranks_each_once(sizes: tuple[int, ...]) -> None:
    found = list(map(tuple, ranks(sizes, 10**6).tolist()))
    assert found == sorted(itertools.product(*map(range, sizes)), key=lambda r: (sum(r), r))
    assert ranks(sizes, 3).tolist() == [list(r) for r in found[:3]]
    lists = [[Fraction(r, k + 1) for r in range(size)] for k, size in enumerate(sizes)]
    values = [tuple(entries[r] for entries, r in zip(lists, rs, strict=True)) for rs in found]
    assert list(graded(lists, 10**6)) == values
    assert list(graded([*lists, []], 10**6)) == []


CLAIMS: list[tuple[Formula, tuple[Formula, ...]]] = [
    (Le(X * X, 2 * X), ()),
    (Lt(X, X + exp(-Y * 40)), ()),
    (Eq(X / X, 1), ()),
    (Ne(X, Z), (Le(X, 1), Gt(Y, X))),
    (Eq(X + Y, Z), (Eq(X, Y), Ge(Z, 0))),
    (Le(log(X), X), (Ne(X, 1),)),
    (And((Le(X, Y), Le(sqrt(X), Y))), (Le(X, 1),)),
    (Or((Le(X, 0), Gt(1 / X, 2))), (Implies(Ge(X, 1), Le(Y, 1)),)),
    (Not(Lt(X, Y)), (And((Ge(X, 0), Eq(Z, X * Y))),)),
    (Le(total(K, K, 1, N), N), ()),
    (Le(exp(X * 1000), exp(Y * 1000)), (Or((Le(X, 1), Le(Y, 1))),)),
]


NEVER_SIEVED: list[Formula] = [Le(total(K, K, 1, N), N)]


@pytest.mark.parametrize(("claim", "assuming"), CLAIMS)
def test_what_is_passed_over_is_no_counterexample(claim: Formula, assuming: tuple[Formula, ...]) -> None:
    over = tuple(sorted({v for f in (claim, *assuming) for v in free_in(f)}, key=lambda v: v.name))
    problem = ProofProblem("claim", claim, over, assuming)
    names = [v.name for v in over]
    gap = failing_gap(problem)
    lists = [simple_values(v, None) for v in over]
    points = list(graded(lists, min(SIMPLE_POINTS, 3000)))
    columns = np.array(points, dtype=np.float64).reshape(len(points), len(over)).T
    kept = may_be_counterexamples(problem, columns)
    failing = []
    for values, is_kept in zip(points, kept, strict=True):
        x = [float(value) for value in values]
        if gap(x) > 0:
            failing.append(values)
            assert is_kept, values
    # what it cannot evaluate, it keeps
    assert not kept.all() or claim in NEVER_SIEVED
    simple = Search()._simple(problem, gap, math.inf)
    assert [tuple(p[n] for n in names) for p in itertools.islice(simple, 20)] == failing[:20]
