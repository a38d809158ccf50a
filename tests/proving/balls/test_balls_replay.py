"""Trees of boxes replayed by the letter of docs/certificates.md, with mpmath's intervals and SymPy's slopes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy as sp
from mpmath import iv

from dpverify.formulas.expressions import Variable, real
from dpverify.formulas.logic import Compare, Le, Lt
from dpverify.formulas.operators import exp, log, maximum, normal_cdf, sqrt
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget
from dpverify.proving.provers.balls import BallProver
from dpverify.proving.reasoning.symbolic import Phi, symbolic

X, Y = real("x"), real("y")
P = real("p", gt=0)
Q = real("q", gt=0)
x, y, p, q = X, Y, P, Q

Intervals = dict[str, tuple[Fraction, Fraction]]


@pytest.fixture(autouse=True)
def _precision() -> Iterator[None]:
    before, iv.prec = iv.prec, 160
    yield
    iv.prec = before


def _interval(low: Fraction, high: Fraction) -> Any:
    ends = [iv.mpf(e.numerator) / e.denominator for e in (low, high)]
    return iv.mpf([ends[0].a, ends[1].b])


def _erfc(u: Any) -> Any:
    """Erfc decreases; mpmath's values at 40 more bits are good to far better than the slack given here."""
    with mpmath.workprec(iv.prec + 40):
        values = [mpmath.erfc(mpmath.mpf(end)) for end in (u.b, u.a)]
        slack = mpmath.mpf(2) ** (-iv.prec)
        return iv.mpf([values[0] * (1 - slack), values[1] * (1 + slack)])


class Plain:
    """Value and gradient of a SymPy expression on a box, forward, operation by operation."""

    def __init__(self, box: Intervals, nested: bool) -> None:
        self.box, self.nested, self.names = box, nested, list(box)
        self.done: dict[Any, tuple[Any, list[Any]]] = {}
        self.middle = None
        if nested:
            self.middle = Plain({k: ((a + b) / 2, (a + b) / 2) for k, (a, b) in box.items()}, nested=False)

    def offset(self, name: str) -> Any:
        low, high = self.box[name]
        return _interval((low - high) / 2, (high - low) / 2)

    def of(self, e: Any) -> tuple[Any, list[Any]]:
        if e not in self.done:
            value, slopes = self._of(e)
            if self.middle is not None:
                centered = self.middle.of(e)[0]
                for name, slope in zip(self.names, slopes, strict=True):
                    centered += slope * self.offset(name)
                value = iv.mpf([max(value.a, centered.a), min(value.b, centered.b)])
            self.done[e] = value, slopes
        return self.done[e]

    def _of(self, e: Any) -> tuple[Any, list[Any]]:
        zero = [iv.mpf(0)] * len(self.names)
        if e.is_Rational:
            return _interval(Fraction(int(e.p), int(e.q)), Fraction(int(e.p), int(e.q))), zero
        if e is sp.pi:
            return iv.pi, zero
        if e.is_Symbol:
            return _interval(*self.box[e.name]), [iv.mpf(int(e.name == name)) for name in self.names]
        inner = [self.of(a) for a in e.args]
        u, du = inner[0]
        if e.is_Add:
            return sum(v for v, _ in inner), [sum(ds) for ds in zip(*(d for _, d in inner), strict=True)]
        if e.is_Mul:
            value, slopes = inner[0]
            for v, d in inner[1:]:
                slopes = [a * v + value * b for a, b in zip(slopes, d, strict=True)]
                value *= v
            return value, slopes
        if e.is_Pow:
            exponent = e.exp
            assert exponent.is_Rational
            if exponent.is_Integer:
                n = int(exponent)
                assert n >= 0 or 0 not in u
                return u**n, [n * u ** (n - 1) * d for d in du]
            assert u.a > 0
            value = iv.exp(inner[1][0] * iv.log(u))
            return value, [inner[1][0] * value / u * d for d in du]
        if isinstance(e, sp.exp):
            return iv.exp(u), [iv.exp(u) * d for d in du]
        if isinstance(e, sp.log):
            assert u.a > 0
            return iv.log(u), [d / u for d in du]
        if isinstance(e, Phi):
            bell = iv.exp(-(u**2) / 2) / iv.sqrt(2 * iv.pi)
            return _erfc(-u / iv.sqrt(2)) / 2, [bell * d for d in du]
        if isinstance(e, sp.Heaviside):  # SymPy's derivative of a maximum
            return iv.mpf([int(u.a > 0), int(u.b >= 0)]), zero
        if isinstance(e, sp.Max):
            (a, da), (b, db) = inner
            value = iv.mpf([max(a.a, b.a), max(a.b, b.b)])
            if a.a > b.b:
                return value, da
            if b.a > a.b:
                return value, db
            return value, [iv.mpf([min(c.a, d.a), max(c.b, d.b)]) for c, d in zip(da, db, strict=True)]
        raise AssertionError(e)


def replay(tree: Any, f: Any, box: Intervals, strict: bool, finer: int = 0) -> None:
    """Raise AssertionError unless the tree shows f >= 0 (or > 0) on the box.

    A leaf that does not decide in this arithmetic may be halved `finer` times, as the page allows.
    """
    if tree[0] in ("+", "m", "n") and finer:
        try:
            replay(tree, f, box, strict)
        except AssertionError:
            name = max(box, key=lambda k: box[k][1] - box[k][0])
            low, high = box[name]
            for part in ((low, (low + high) / 2), ((low + high) / 2, high)):
                replay(tree, f, {**box, name: part}, strict, finer - 1)
        return

    def holds(value: Any) -> bool:
        return bool(value.a > 0) if strict else bool(value.a >= 0)

    match tree:
        case ["+"]:
            assert holds(Plain(box, nested=False).of(f)[0])
        case ["m"]:
            plain = Plain(box, nested=False)
            value = Plain({k: ((a + b) / 2, (a + b) / 2) for k, (a, b) in box.items()}, nested=False).of(f)[0]
            for name, slope in zip(plain.names, plain.of(f)[1], strict=True):
                value += slope * plain.offset(name)
            assert holds(value)
        case ["n"]:
            assert holds(Plain(box, nested=True).of(f)[0])
        case ["s", name, at, left, right]:
            low, high = box[name]
            assert low < Fraction(at) < high
            replay(left, f, {**box, name: (low, Fraction(at))}, strict, finer)
            replay(right, f, {**box, name: (Fraction(at), high)}, strict, finer)
        case ["e", name, side, edge, slope]:
            symbol = next(s for s in f.free_symbols if s.name == name)
            end = box[name][0 if side == "lower" else 1]
            sign = 1 if side == "lower" else -1
            if edge == ["0"]:
                assert not strict
                fixed = {
                    s: sp.Rational(str(box[s.name][0])) for s in f.free_symbols if len({*box[s.name]}) == 1
                }
                face = f.subs({**fixed, symbol: sp.Rational(str(end))})
                assert sp.simplify(face.replace(Phi, lambda u: sp.erfc(-u / sp.sqrt(2)) / 2)) == 0
            else:
                replay(edge, f, {**box, name: (end, end)}, strict, finer)
            replay(slope, sign * sp.diff(f, symbol), box, False, finer)
        case _:
            raise AssertionError(tree)


def hockey_stick(eps: Any, s: Any) -> Any:
    return normal_cdf(-eps / s + s / 2) - exp(eps) * normal_cdf(-eps / s - s / 2)


NOISE = p / sqrt(2 * log(Fraction(5, 4)) + 2 * q)
ROOTS = sqrt(2 * q + 2 * p) - sqrt(2 * q)
CLAIMS: dict[str, tuple[Compare, tuple[Variable, ...], dict[str, tuple[object, object]]]] = {
    "Gaussian mechanism": (Le(hockey_stick(p, NOISE), exp(-q)), (P, Q), {"p": ("1/20", 1), "q": (3, 14)}),
    "difference of roots": (Le(hockey_stick(p, ROOTS), exp(-q) / 2), (P, Q), {"p": (2, 3), "q": (4, 6)}),
    "exp below a parabola": (Le(exp(x), 1 + x + x**2), (X,), {"x": (0, 1)}),
    "Gaussian tail": (Le(normal_cdf(-x), exp(-(x**2) / 2) / 2), (X,), {"x": (0, 10)}),
    "cancelling tail": (Le(1 - normal_cdf(x), exp(-(x**2) / 2) / 2), (X,), {"x": (0, 10)}),
    "two faces": (Le(log(1 + y * (exp(x) - 1)), 2 * x * y), (X, Y), {"x": (0, 1), "y": (0, 1)}),
    "strict": (Lt(x * y, sqrt(1 + x**2 + y**2)), (X, Y), {"x": (-1, 1), "y": (-1, 1)}),
    "kinks": (Le(maximum(x, y) - maximum(0, x), 1 + y**2), (X, Y), {"x": (-2, 2), "y": (-2, 2)}),
    "deep cancellation": (
        Le(x - y, (exp(x) - exp(y)) / 1 + Fraction(1, 50)),
        (X, Y),
        {"x": ("1/2", 4), "y": (0, "1/2")},
    ),
}


def certified(name: str) -> tuple[Any, Any, Intervals, bool]:
    claim, over, box = CLAIMS[name]
    proof = BallProver().attempt(ProofProblem(name, claim, over, box=box), Budget(boxes=20_000))
    assert proof is not None
    assert proof.verdict is Verdict.CERTIFIED
    body = proof.certificate["proof"]
    sides = {k: (Fraction(low), Fraction(high)) for k, (low, high) in body["box"].items()}
    return body["tree"], symbolic(claim.right - claim.left), sides, claim.relation == "<"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", CLAIMS)
def test_trees_hold_in_another_arithmetic(name: str) -> None:
    replay(*certified(name))


def test_nested_leaves_hold_in_another_arithmetic() -> None:
    claim = Le(normal_cdf(-p / ROOTS + ROOTS / 2), exp(-q) / 2)
    box = {"p": ("1/100", "1/50"), "q": (8, 12)}
    proof = BallProver().attempt(ProofProblem("n", claim, (P, Q), box=box), Budget(boxes=20_000))
    assert proof is not None
    assert proof.verdict is Verdict.CERTIFIED
    tree = proof.certificate["proof"]["tree"]
    assert "'n'" in str(tree)
    box_ = {
        k: (Fraction(low), Fraction(high)) for k, (low, high) in proof.certificate["proof"]["box"].items()
    }
    f = symbolic(claim.right - claim.left)
    # a full replay is long: every tenth leaf
    for number, (leaf, part) in enumerate(_leaves(tree, box_)):
        if number % 10 == 0:
            replay(leaf, f, part, False, finer=2)


def _leaves(tree: Any, box: Intervals) -> Iterator[tuple[Any, Intervals]]:
    if tree[0] != "s":
        yield tree, box
        return
    _, name, at, left, right = tree
    yield from _leaves(left, {**box, name: (box[name][0], Fraction(at))})
    yield from _leaves(right, {**box, name: (Fraction(at), box[name][1])})


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("exp below a parabola", Le(exp(x), 1 + x + x**2 / 2)),
        ("Gaussian tail", Le(normal_cdf(-x), exp(-(x**2) / 2) * Fraction(49, 100))),
        ("two faces", Le(log(1 + y * (exp(x) - 1)), 3 * x * y / 2)),
        ("Gaussian mechanism", Le(hockey_stick(p, 2 * NOISE), exp(-q))),
    ],
)
def test_the_replay_rejects_a_tree_for_another_claim(name: str, mutant: Compare) -> None:
    tree, _, box, strict = certified(name)
    with pytest.raises(AssertionError):
        replay(tree, symbolic(mutant.right - mutant.left), box, strict)


def test_the_replay_rejects_a_wrong_leaf() -> None:
    tree, f, box, strict = certified("exp below a parabola")
    broken = copy.deepcopy(tree)
    broken[:] = ["+"]
    with pytest.raises(AssertionError):
        replay(broken, f, box, strict)
