"""The same answers whatever the machine, the thread, the order of questions and the hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import INFINITY, PI, Variable, integer, integral, real, total
from dpverify.formulas.logic import And, Eq, ForAll, Formula, Ge, Implies, Le
from dpverify.formulas.operators import absolute, exp, log, maximum, sqrt
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import Budget, digest, prove
from dpverify.proving.language import Obligation
from dpverify.proving.provers.real_arithmetic import RealArithmetic

x, y, z = real("x", gt=0), real("y", gt=0), real("z")
n, i = integer("n", ge=1), integer("i", ge=1)
t = real("t", ge=0, le=1)
X, Y, Z, T = (v for v in (x, y, z, t))

CLAIMS: list[tuple[Formula, tuple[Variable, ...]]] = [
    (Eq((X + Y) ** 2, X**2 + 2 * X * Y + Y**2), (x, y)),
    (Le(2 * X * Y * Z, X**2 * Y**2 + Z**2), (x, y, z)),
    (Le(X**2, X + Y), (x, y)),
    (Eq(total(i**2, i, 1, n), n * (n + 1) * (2 * n + 1) / 6), (n,)),
    (Eq(integral(exp(-X * Z**2), z, -INFINITY, INFINITY), sqrt(PI / X)), (x,)),
    (Implies(ForAll(t, Le(maximum(X * T, Y), 2)), Le(X + Y, 3)), (x, y)),
    (Le(log(2 * X), log(1 + X**2)), (x,)),
    (And((Le(maximum(X, Y), X + Y), Ge(absolute(X - Y), X - Y))), (x, y)),
    (Le(exp(X), 1 + X + X**2), (x,)),
]


def outcome(k: int) -> tuple[str, str]:
    claim, over = CLAIMS[k]
    proof = prove(Obligation("test", "nowhere", claim, over))
    return str(proof.verdict), "" if proof.certificate is None else digest(proof.certificate)


def test_order_and_threads_change_nothing() -> None:
    first = [outcome(k) for k in range(len(CLAIMS))]
    assert "undecided" not in {verdict for verdict, _ in first}
    backwards = [outcome(k) for k in reversed(range(len(CLAIMS)))][::-1]
    with ThreadPoolExecutor(1) as pool:
        elsewhere = list(pool.map(outcome, range(len(CLAIMS))))
    assert first == backwards == elsewhere


def test_hash_seeds_change_nothing() -> None:
    program = (
        "import runpy, sys; m = runpy.run_path(sys.argv[1]); "
        "print([m['outcome'](k) for k in range(len(m['CLAIMS']))])"
    )
    answers = set()
    for seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", program, __file__],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        answers.add(result.stdout)
    assert answers == {f"{[outcome(k) for k in range(len(CLAIMS))]}\n"}


def test_work_is_limited_in_units() -> None:
    # true, but not within one unit of z3's own count
    a, b, c = (real(name, gt=0) for name in "abc")
    claim = Le(3 * a * b * c, a**3 + b**3 + c**3)
    obligation = Obligation("test", "nowhere", claim, (a, b, c))
    poor = RealArithmetic().attempt(obligation.problem, Budget(units=1))
    assert poor is not None
    assert (poor.verdict, poor.reason) == (Verdict.UNDECIDED, "z3 gave up")
    rich = RealArithmetic().attempt(obligation.problem, Budget())
    assert rich is not None
    assert rich.verdict is Verdict.PROVED


@pytest.mark.parametrize("units", [0, -5, True, 1.5, float("nan")])
def test_units_are_a_positive_integer(units: object) -> None:
    with pytest.raises(InvalidArgumentError, match="units"):
        Budget(units=units)  # type: ignore[arg-type]


@pytest.mark.parametrize("guard", [0, -1, float("nan"), float("inf")])
def test_the_guard_is_positive(guard: float) -> None:
    with pytest.raises(InvalidArgumentError, match="guard"):
        Budget(guard=guard)
