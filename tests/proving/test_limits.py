"""No well-formed obligation makes `prove` raise or run past its budget; nothing depends on the clock."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
import z3

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    INFINITY,
    Apply,
    OutOfScopeError,
    TooLargeError,
    Variable,
    expression,
    integer,
    integral,
    real,
    total,
)
from dpverify.formulas.logic import Eq, ForAll, Formula, Ge, Gt, Le, Lt, Ne, Not
from dpverify.formulas.operators import exp, floor, log, minimum, normal_cdf, sqrt
from dpverify.formulas.printing import formula_text
from dpverify.formulas.rendering.latex import formula_latex
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving import Budget, prove
from dpverify.proving.checker import check
from dpverify.proving.checker.arithmetic.consequences import Known
from dpverify.proving.checker.reading import Theorem
from dpverify.proving.language import Obligation
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import STOPPED_BY_THE_CLOCK, Proof
from dpverify.proving.provers.search import violation
from dpverify.proving.reasoning import satisfiability
from dpverify.proving.reasoning.effort import (
    EffortSpentError,
    GuardError,
    guarded,
    limited,
    note_the_clock,
    spend,
)
from dpverify.proving.reasoning.symbolic import symbolic, tree

x, y = real("x"), real("y", gt=0)
unit = real("u", gt=0, le=1)
i, n, k = integer("i", ge=1), integer("n", ge=1), integer("k", ge=0)
X, Y = x, y

HARD: dict[str, tuple[Formula, tuple[Variable, ...]]] = {
    "large powers": (Gt(2**n, n), (n,)),
    "towers": (Gt(2 ** (2 ** (2**n)), n), (n,)),
    "small powers": (Not(Not(Ne(expression(Fraction(1, 1000)) ** (-k), 0))), (k,)),
    "a large exponential": (Le(1001, exp(expression(1000)) - Fraction(1, 10**12)), ()),
    "under a quantifier": (ForAll(y, Ge(exp(-1000 * unit) - 1, 0)), (unit,)),
    "many terms": (Le(0, (X + Y + 1) ** 30 - (X + Y) ** 29), (x, y)),
    "high degrees": (Le(0, (X**200 - 1) ** 2 * (Y**150 + X) ** 3 + 1), (x, y)),
    "a long sum": (Le(total(total(i / (i + n), i, 1, n), n, 1, k + 1), k**2 + 10), (k,)),
    "high powers in a sum": (Le(total(i**90 / (i + 1), i, 1, n), n**100), (n,)),
    "large primes": (Le(log(expression(10**80 + 129) * expression(10**81 + 7)), 400), (x,)),
    "an integral": (Le(integral(X**40 * exp(-(X**3)), x, 0, 1), 2), ()),
    "a floor": (Ge(floor(exp(expression(1000)) - x), 0), (x,)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", HARD)
def test_hard_formulas_end_and_raise_nothing(name: str) -> None:
    claim, over = HARD[name]
    start = time.process_time()
    small = Budget(boxes=300, units=50_000, steps=500_000)
    found = prove(Obligation(name, "nowhere", claim, over), budget=small)
    # far above what they take, far below what they took
    assert time.process_time() - start < 60
    assert not found.stopped_by_the_clock
    if found.verdict is Verdict.UNDECIDED:
        assert found.reason
    assert formula_text(claim)
    assert formula_latex(claim)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (Apply("sine", (X,)), "one of add"),
        (Apply("div", (X,)), "arguments of div was 1; allowed: 2"),
        (X + INFINITY, "end of an integral only"),
        (integral(INFINITY, x, 0, 1), "end of an integral only"),
    ],
)
def test_what_has_no_meaning_is_refused_at_construction(expression: object, why: str) -> None:
    with pytest.raises(InvalidArgumentError, match=why):
        Obligation("test", "nowhere", Le(expression, 1), (x,))


@pytest.mark.parametrize("value", [None, "x +", object(), 0.1, sp.sin(1), Lt(X, 1)])
def test_what_is_no_expression_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgumentError, match="expression"):
        Le(value, 1)


@pytest.mark.parametrize("claim", [None, True, "x <= 1", sp.Le(1, 1), X])
def test_what_is_no_formula_is_refused(claim: Formula) -> None:
    with pytest.raises(InvalidArgumentError, match="formulas such as"):
        Obligation("test", "nowhere", claim, (x,))


def test_floats_of_formulas_do_not_grow() -> None:
    gap = violation(Le(2 ** (2**n), n), ["n"])
    assert gap([3.0]) > 0
    assert gap([100.0]) != gap([100.0])  # no number: beyond floats
    long = violation(Le(total(i, i, 1, n), 0), ["n"])
    assert long([10.0]) > 0
    assert long([1e12]) != long([1e12])


def test_steps_are_counted() -> None:
    spend(10**12)  # without a limit nothing is counted
    with limited(10) as meter:
        spend(10)
        assert meter.left == 0
        with pytest.raises(EffortSpentError):
            spend(1)
    identity = Obligation(
        "test", "nowhere", Eq((X + Y) ** 6, tree(sp.expand(symbolic((X + Y) ** 6)))), (x, y)
    )
    assert prove(identity).verdict is Verdict.PROVED
    poor = prove(identity, budget=Budget(steps=100))
    assert poor.verdict is Verdict.UNDECIDED
    assert "limit on steps" in poor.reason


def test_the_same_budget_gives_the_same_answer() -> None:
    boxes = Obligation(
        "test",
        "nowhere",
        Le(log(1 + X + Y) * log(2 + X), 2 + X**2 + Y),  # for which no chain of derivatives is found
        (x, y),
        box={"x": (0, 4), "y": (0, 4)},
    )
    chain = Obligation("test", "nowhere", Le(Y - Y**2 / 2, log(1 + Y)), (y,))
    for claim, budget, verdict in (
        (boxes, Budget(boxes=3), Verdict.UNDECIDED),
        (boxes, Budget(operations=200), Verdict.CERTIFIED),
        (boxes, Budget(units=1), Verdict.CERTIFIED),
        (boxes, Budget(steps=1000), Verdict.CERTIFIED),
        (chain, Budget(units=1), Verdict.PROVED),
        (chain, Budget(steps=1000), Verdict.UNDECIDED),
    ):
        first, second = (prove(claim, budget=budget) for _ in range(2))
        assert first == second
        assert first.verdict is verdict
        assert STOPPED_BY_THE_CLOCK not in first.reason


# z3's objects complain where the guard ends their making
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def _renamed() -> None:
    with guarded(0.05):
        try:
            while True:
                pass
        except GuardError as error:
            raise ValueError("an argument") from error


def test_a_guard_ends_work_whatever_a_library_makes_of_its_exception() -> None:
    """As ctypes does: it makes its own exception of any that comes up while it converts arguments."""
    with pytest.raises(GuardError):
        _renamed()
    with pytest.raises(ValueError, match="an argument"), guarded(1000.0):  # nothing was ended
        raise ValueError("an argument")


# a library's object may be half made when its work is ended; what its end then says goes to nobody
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_the_clock_ends_is_said() -> None:
    late = Budget(guard=1e-9)
    found = prove(Obligation("test", "nowhere", Le(X, exp(X)), (x,), box={"x": (-1, 1)}), budget=late)
    assert found.stopped_by_the_clock
    if found.verdict is Verdict.UNDECIDED:
        assert STOPPED_BY_THE_CLOCK in found.reason
    assert replace(found, seconds=0.0).stopped_by_the_clock


class _Hanging:
    """A prover whose algebra counts nothing and never ends."""

    name = "hanging"

    def attempt(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        while True:
            with suppress(Exception):
                int("no number")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of CPU time here")
def test_what_counts_nothing_is_ended_all_the_same() -> None:
    before = signal.getsignal(signal.SIGPROF)
    found = prove(
        Obligation("test", "nowhere", Le(X, X + 1), (x,)), budget=Budget(guard=0.05), provers=(_Hanging(),)
    )
    assert (found.verdict, found.gap) == (Verdict.UNDECIDED, Gap.CLOCK)
    assert found.stopped_by_the_clock
    assert STOPPED_BY_THE_CLOCK in found.reason
    assert signal.getsignal(signal.SIGPROF) == before


def test_z3_is_asked_nothing_whose_work_it_does_not_count() -> None:
    with pytest.raises(OutOfScopeError, match="too high"):
        satisfiability.unsatisfiable((x,), (), Le(0, X**100 + 1), budget=Budget())


def _chained(power: int) -> tuple[tuple[Formula, ...], Formula]:
    """Powers of powers: eliminating the unknowns leads to degrees power^3, with coefficients as long."""
    first, second, third = real("p"), real("q"), real("r")
    steps = Eq(first, (X + 1) ** power), Eq(second, (first + 1) ** power), Eq(third, (second + 1) ** power)
    return steps, Ge(third + 3 * X**power - X, 1)


def _asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, float]]:
    """What z3 counts of each question from now on."""
    seen: list[dict[str, float]] = []
    ask = z3.Solver.check

    def check_and_note(self: z3.Solver, *assumptions: object) -> object:
        before = dict(_statistics(self))
        answer = ask(self, *assumptions)
        seen.append({key: value - before.get(key, 0) for key, value in _statistics(self)})
        return answer

    monkeypatch.setattr(z3.Solver, "check", check_and_note)
    return seen


def _statistics(solver: z3.Solver) -> list[tuple[str, float]]:
    found = solver.statistics()
    return [(key, found.get_key_value(key)) for key in found.keys()]  # noqa: SIM118  z3's are no dictionary


def test_z3s_numbers_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # its general solver multiplied them thrice in each of 1024 rounds, and counted none of that
    a, b = integer("a", ge=-1), real("b", le=0)
    assuming = Lt(-1000 * b - Fraction(1, 2), b / expression(-2) ** b)
    claim = Le(sqrt(b) * b - Fraction(1, 1000), b + b**2)
    seen = _asked(monkeypatch)
    with limited(1_000_000) as meter:
        satisfiability.unsatisfiable((a, b), (assuming,), claim, budget=Budget(guard=5.0), integers=True)
    assert not meter.stopped_by_the_clock
    assert [asked["final checks"] <= 20 for asked in seen] == [True]


def test_the_longer_numbers_may_grow_the_less_z3_is_let_do(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _asked(monkeypatch)
    over = (x, *(real(name) for name in "pqr"))
    done = {}
    for power in (4, 8, 20):
        assuming, claim = _chained(power)
        answer, _ = satisfiability.unsatisfiable(over, assuming, claim, budget=Budget(guard=20.0))
        done[power] = answer, max(asked["rlimit count"] for asked in seen)
        seen.clear()
    assert done[4][0] is True
    assert done[8][0] is None
    assert done[8][1] < 20_000  # of 500,000
    assert done[20][1] < 1_000


def test_numbers_too_long_for_z3_are_refused() -> None:
    with pytest.raises(TooLargeError, match="too long for z3"):
        satisfiability.unsatisfiable((x,), (), Le(0, X**50 - Fraction(1, 10**3000)), budget=Budget())


def test_the_end_of_z3s_count_is_not_blamed_on_the_clock() -> None:
    # it says "canceled" then, too
    a, b = integer("a"), real("b")
    assuming = Lt(b**59, a * b), Gt(a**3, b**2)
    with limited(1_000_000) as meter:
        answer, _ = satisfiability.unsatisfiable(
            (a, b), assuming, Gt(a * b**30, b), budget=Budget(units=50_000), integers=True
        )
    assert answer is None
    assert not meter.stopped_by_the_clock


def test_nonlinear_arithmetic_in_the_assumptions_is_counted() -> None:
    # z3's newer arithmetic went on without counting while a witness was looked for
    a, b, c = real("a", gt=0), integer("b", ge=0, le=3), real("c", gt=0, lt=1)
    small = Le(normal_cdf(Fraction(-1, 7)) + c ** Fraction(-3, 2), minimum(c, a) ** 5)
    box = {"a": (0, 6), "b": (0, 3), "c": (0, 1)}
    claim = Obligation("counted", "", Lt(1 / (3 - b), -1000), (a, b, c), assuming=(small,), box=box)
    found = prove(claim, budget=Budget(boxes=200, units=10_000))
    assert found.verdict is Verdict.UNDECIDED
    assert not found.stopped_by_the_clock


def test_the_checker_counts_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = Le(3 * unit * Y * X**2, unit**3 + Y**3 + X**6)
    found = prove(Obligation("test", "nowhere", claim, (unit, y, x)))
    assert found.certificate is not None
    assert check(found.certificate).confirmed
    init = Known.__init__

    def poor(self: Known, problem: Theorem, work: int) -> None:
        init(self, problem, work)
        self.work = 20

    monkeypatch.setattr(Known, "__init__", poor)
    refused = check(found.certificate)
    assert not refused.confirmed
    assert refused.says.startswith("not confirmed: cvc5 found no proof")


def test_whoever_limits_steps_around_it_is_told_of_the_clock() -> None:
    with limited(10) as around:
        with limited(10) as quiet:
            pass
        assert not around.stopped_by_the_clock
        with limited(10) as ended:
            note_the_clock()
    assert ended.stopped_by_the_clock
    assert around.stopped_by_the_clock
    assert not quiet.stopped_by_the_clock
