"""Displays that once took a machine's memory or minutes: each ends soon, in little memory, and says what came of it."""

from __future__ import annotations

import ast
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sympy as sp

import dpverify.proving
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import OutOfScopeError, TooLargeError, expression, integer, real
from dpverify.formulas.logic import Ge, Le
from dpverify.formulas.operators import exp
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving import Budget, prove
from dpverify.proving.language import Obligation
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import STOPPED_BY_MEMORY, Proof
from dpverify.proving.reasoning import algebra
from dpverify.proving.reasoning.effort import below_a_ceiling
from dpverify.proving.reasoning.normal_form import NormalForms
from dpverify.proving.reasoning.symbolic import symbol, symbolic
from dpverify.statements.pages import read_page

from ..proved_pages import proved

LETTERS = """\
| letter | domain | meaning |
| --- | --- | --- |
| $a$ | > 0 | a |
| $b$ | (0, 1) | b |
| $c$ | > 0 | c |
| $x$ | real | x |
| $n$ | integer >= 2 | n |
| $i$ | integer | i |

"""

# the second takes half a minute and more, and is among those that make test leaves out
ENDLESS = {
    "decimals in exponents": r"\frac{e^{0.123456789012345 a}-1}{e^{0.333333333333331a}+1}\le e^{a}",
    "numerals as powers of one exponential": r"\ln(1+\frac{e^a-1}{e^a+1}(\frac{6\sqrt{e^a\ln(3/b)}}{\sqrt n}"
    r"+\frac{6e^a}n))=O(\sqrt{\frac{e^a\ln(1/b)}n})\text{ for }a\ge1,a\le\ln(\frac n{12\ln(3/b)})",
    "decimals in exponents of numbers": r"e^{0.123456789012345}+e^{0.987654321098765}+\ln(1+e^{1.23456789012})\le a+10",
    "decimals in several exponents": r"\frac{e^{0.1234567a}-e^{-0.7654321c}}{e^{0.3333331a+0.777771c}+1}"
    r"\ln(1+\frac{a^{1.7320508}}{c^{0.5772157}})\le e^{a+c}(1+a^2)",
    "numerals of many digits": r"10^{10^{10}}\ge 10^{10^9}",
    "a tower": r"2^{2^{2^{2^{2^{2}}}}}\ge n",
    "the floor of a tower": r"\lfloor e^{e^{e^{5}}}\rfloor\ge n-n",
    "a resultant": r"\sum_{i=1}^{n}\frac{i^{20}}{i^{7}+a}\le n^{21}",
    "many fractions": "e^{-a}("
    + "+".join(rf"\frac{{{k}a+c}}{{{k}+b+{k}c}}" for k in range(2, 16))
    + r")\ge -e^{-c}",
    "products of sums": "".join(f"(a+{k}b+c+{k})" for k in range(1, 10)) + r"e^{-a}\ge-\ln(1+c)",
}


@pytest.fixture(scope="module", autouse=True)
def below_three_gigabytes() -> Iterator[None]:
    """What takes more is refused by the system, and fails its test."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ENDLESS)
def test_displays_that_took_everything_end_and_the_rest_of_the_page_is_proved(
    name: str, tmp_path: Path
) -> None:
    file = tmp_path / "page.md"
    file.write_text(f"{LETTERS}$${ENDLESS[name]}$$\n\n$$x^2\\ge0$$\n")
    records, _ = proved(read_page(file).statement)
    first, second = (r.evidence for r in records if r.evidence.coverage != "unit")
    assert not first.fault, first.fault
    assert not first.stopped_by_the_clock
    assert first.gap is not Gap.MEMORY
    assert first.verdict is not Verdict.UNDECIDED or first.reason
    assert second.verdict is Verdict.PROVED


# ------------------------------------------------------------------------------------------- the door

BEHIND_THE_DOOR = {
    "factor", "factor_list", "factor_terms", "simplify", "solve", "solveset", "groebner", "expand", "expand_mul",
    "expand_power_exp", "integrate", "together", "cancel", "apart", "resultant", "roots", "real_roots", "Poly",
    "powsimp", "gosper_sum", "manualintegrate", "minimal_polynomial", "subs", "xreplace", "nsimplify", "series",
    "equals", "radsimp", "gcd_terms", "sring", "diff",
}  # fmt: skip
"""SymPy's algorithms without a bound, and what puts one expression in another."""
X, Y = real("x"), real("y", gt=0)


def test_sympys_algorithms_are_called_behind_one_door_only() -> None:
    found = []
    for file in Path(dpverify.proving.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if file.name == "algebra.py" or file.parent.name == "checker" or "sympy" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            names = [node.attr] if isinstance(node, ast.Attribute) else []
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sympy"):
                names = [alias.name for alias in node.names]
            found += [f"{file.name}:{node.lineno}: {name}" for name in names if name in BEHIND_THE_DOOR]
    assert not found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(x + y)**3", (4, 4, 1, 3)),
        ("1/(x + y) + 1/(x - y)", (4, 4, 4, 2)),
        ("exp(24691357802469*x/200000000000000)", (1, 1, 1, 10**12)),
        ("x**(7/2)", (1, 1, 1, 7)),
        ("(x + 1)*(y + 1)/(x*y)", (4, 4, 1, 4)),
    ],
)
def test_sizes(text: str, expected: tuple[int, ...]) -> None:
    e = sp.sympify(
        text, locals={"x": sp.Symbol("x", positive=True), "y": sp.Symbol("y", positive=True)}, rational=True
    )
    assert algebra.size(e) == expected


def test_factors_are_those_of_sympy() -> None:
    x, y = symbol(X), symbol(Y)
    for e in (
        x**2 - y**2, x**2 / y - y, (x**2 - 1) / (x - 1) + 1 / y, sp.exp(2 * x) - 1, sp.sqrt(y) * x - x,
        (x**3 - x) ** 2 / (x + 1), 6 * x * y + 4 * y, sp.sqrt(x**2 * y + y), 2 - 2 * sp.exp(-x),
    ):  # fmt: skip
        assert algebra.in_factors(e) == sp.factor(sp.together(e))


def test_complex_numbers_on_the_way_are_no_fault() -> None:
    """They come in with the derivative of (-1)^x, which is real at integers only."""
    x = real("x")
    found = prove(Obligation("test", "nowhere", Le(1 + (-1) ** x, exp((-1) ** x)), (x,)))
    assert found.verdict is Verdict.UNDECIDED


def test_roots_of_degree_two() -> None:
    x, y = symbol(X), symbol(Y)
    assert set(algebra.low_roots(x**2 - y**2, x)) == {y, -y}
    assert algebra.low_roots((3 * x - y) / (1 + y), x) == [y / 3]
    assert algebra.low_roots(x**3 - y, x) == []
    assert algebra.low_roots(y + 1, x) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: algebra.in_factors(1 + x**5000 * y),
        lambda x, y: algebra.multiplied_out((x + y + 1) ** 300),
        lambda x, y: algebra.one_fraction(sp.Add(*(1 / (x + k * y) for k in range(1, 30)))),
        lambda x, y: algebra.replaced(2**x, {x: sp.Integer(10**9)}),
        lambda x, y: algebra.outer_terms(sp.Mul(*(x + k * y + 1 for k in range(20)))),
        lambda x, y: algebra.check_integrand(x**400),
    ],
)
def test_what_is_too_large_is_refused_before_it_starts(call: object) -> None:
    with pytest.raises(TooLargeError):
        call(symbol(X), symbol(Y))  # type: ignore[operator]


def test_numbers_that_would_be_written_out_are_refused() -> None:
    for e in (
        expression(2) ** 10**9,
        exp(exp(exp(exp(expression(10))))),
        expression(10) ** (expression(10) ** 7),
    ):
        with pytest.raises(OutOfScopeError):
            symbolic(e)
    assert symbolic(expression(2) ** 100) == 2**100


def test_exponents_far_from_one_another_are_not_given_to_flint() -> None:
    x, y = symbol(Y), symbol(real("z", gt=0))
    with pytest.raises(TooLargeError, match="exponents"):
        NormalForms().of((x ** sp.Rational(1234567, 1000000) + y) / (x ** sp.Rational(77, 100) + y))
    NormalForms().of((x ** sp.Rational(3, 2) + y) / (x ** sp.Rational(1, 3) + y))


# ------------------------------------------------------------------------------------------- the ceiling


class _Hungry:
    """A prover that takes all memory there is."""

    name = "hungry"

    def attempt(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        taken = []
        while True:
            taken.append(bytearray(2**26))


@pytest.mark.skipif(sys.platform != "linux", reason="no ceiling elsewhere")
def test_what_no_count_foresaw_ends_at_a_ceiling_and_says_so() -> None:
    from dpverify.proving.provers.exact import Exact

    before = resource.getrlimit(resource.RLIMIT_DATA)
    n = integer("n", ge=1)
    with below_a_ceiling(2**28):
        found = prove(Obligation("o", "", Le(n, n + 1), (n,)), provers=(_Hungry(),))
        other = prove(Obligation("o", "", Ge(n, n - 1), (n,)), provers=(_Hungry(), Exact()))
    assert (found.verdict, found.gap) == (Verdict.UNDECIDED, Gap.MEMORY)
    assert STOPPED_BY_MEMORY in found.reason
    assert other.verdict is Verdict.PROVED
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_the_page_refuses_what_is_too_long_to_be_read(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(f"{LETTERS}$${'9' * 6000}\\ge x$$\n")
    with pytest.raises(InvalidArgumentError, match="at most 4000 characters"):
        read_page(file)
