"""How far formulas hold: both ends are what a second evaluation says, and nothing false is an end that holds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.analyses.thresholds import attempts as module
from dpverify.analyses.thresholds.changes import changed, places, plain_form
from dpverify.analyses.thresholds.sharpening import Sharpened, sharpen
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.formulas.expressions import Number, integer, real
from dpverify.formulas.logic import Eq, Formula, Ge, Le, Lt
from dpverify.formulas.operators import exp
from dpverify.ledger.besides.thresholds import Threshold, Variation, Varied, nearest
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation

X, Y, N = real("x", ge=0), real("y", gt=0, le=1), integer("n", ge=1)
Z, W = real("z", ge=0, le=1), real("w", gt=0)
UP, DOWN = Varied.AT_MOST, Varied.AT_LEAST


def _of(claim: Formula, *letters: object, **more: object) -> Obligation:
    return Obligation("planted", "page 1", claim, letters, **more)  # type: ignore[arg-type]


def _by(found: Sharpened) -> dict[tuple[Varied, str], Threshold]:
    return {(t.change.varied, t.now or t.change.other): t for t in found.thresholds}


def _ends(found: Threshold) -> tuple[Fraction, Fraction]:
    assert found.fails is not None
    return Fraction(found.holds.value), Fraction(found.fails.value)


CASES = [
    (_of(Le(X**2, 3 * X), X), UP, "", 3),
    (_of(Ge(X**2, 3 * X), X), DOWN, "", 3),
    (_of(Le(exp(Y) - 1, Y), Y), Varied.FACTOR, "", 1.718281828),
    (_of(Le(3 * N, N**2), N), DOWN, "", 3),
    (_of(Le(X * Y, Y**2), X, Y), Varied.AT_MOST_MULTIPLE, "y", 1),
    (_of(Le(X**2, X**3), X, assuming=(Ge(X, 1), Le(X, 5))), Varied.EXPONENT, "3", 2),
    (_of(Le(6 * X, 5 * X), X), Varied.CONSTANT, "5", 6),
    (_of(Le(N**2, N * 1), N), Varied.EXPONENT, "1", 2),
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("formula", "varied", "what", "true"), CASES)
def test_the_true_threshold_lies_between_the_ends(
    formula: Obligation, varied: Varied, what: str, true: float
) -> None:
    found = sharpen(formula)
    if found.verdict is not Verdict.PROVED:
        assert found.verdict is Verdict.REFUTED
    threshold = _by(found)[varied, what]
    holds, fails = _ends(threshold)
    assert min(holds, fails) <= true <= max(holds, fails)
    assert abs(holds - fails) <= Fraction(1, 50) * max(holds, fails) or (formula.over == (N,) and fails == 2)
    for t in found.thresholds:
        for end in filter(None, (t.holds, t.fails)):
            assert check(found.certificates[end.certificate]).confirmed
    assert found.attempts <= 60 + module._UNDECIDED


def test_a_strict_bound_is_exact() -> None:
    found = sharpen(_of(Lt(0, exp(X) - 1), X), letters=("x",))
    (threshold,) = found.thresholds
    assert (threshold.holds.says, threshold.fails and threshold.fails.says) == ("0 < x", "0 <= x")
    assert "given $0<x$" in threshold.correction


def test_what_fails_everywhere_has_no_end_that_holds() -> None:
    found = sharpen(_of(Le(X + 1, X), X), letters=("x",))
    assert found.verdict is Verdict.REFUTED
    assert not found.thresholds
    assert nearest(found.thresholds) is None


def test_of_what_holds_only_numbers_are_varied_and_nothing_is_corrected() -> None:
    found = sharpen(_of(Le(X, 2 * X), X))
    assert found.verdict is Verdict.PROVED
    assert _ends(_by(found)[Varied.CONSTANT, "2"])[0] == 1
    assert not any(t.change.letter or t.correction for t in found.thresholds)


def test_a_hypothesis_on_two_letters_is_found_with_both_ends() -> None:
    """Also where the counterexample lies on it, and where a bound on one letter alone would leave one value."""
    found = sharpen(_of(Lt(W**2, W * Y), W, Y), letters=("w",), attempts=16)
    ((holds, fails),) = [(t.holds, t.fails) for t in found.thresholds if t.change.other == "y"]
    assert (holds.says, fails and fails.says) == ("w < y", "w <= y")
    found = sharpen(_of(Le(Y**2 * N, Y), Y, N), letters=("n",), attempts=24)
    assert {t.holds.says for t in found.thresholds if t.fails is not None} >= {"n <= 1", "n <= 1/y"}


def test_the_best_factor_is_an_end_where_both_sides_touch() -> None:
    """exp(y) - 1 <= (e - 1) y on [0, 1], with equality at 1; no factor below 1 will do, and 1 itself is proved."""
    found = sharpen(
        _of(Le(exp(Z) - 1, (exp(Number(Fraction(1))) - 1) * Z), Z), verdict=Verdict.PROVED, attempts=14
    )
    holds, fails = _ends(_by(found)[Varied.FACTOR, ""])
    assert holds == 1
    assert Fraction(1, 2) <= fails < 1


def test_an_equation_gets_the_factor_that_it_lacks() -> None:
    found = sharpen(_of(Eq(2 * X, 3 * X), X))
    assert _ends(_by(found)[Varied.CONSTANT, "3"])[0] == 2


def test_both_ends_are_in_the_box_on_which_the_formula_is_refuted() -> None:
    found = sharpen(_of(Le(X**2, 3 * X), X, box={"x": (1, 5)}), letters=("x",))
    (threshold,) = found.thresholds
    assert threshold.change.within == {"x": ("1", "5")}
    assert threshold.condition() == "1 <= x <= 5"
    assert r"given $1\le x$ and $x\le5$ and $x\le3$" in threshold.correction


def test_what_the_checker_does_not_confirm_is_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: provers whose certificates are of another formula."""
    honest, other = module.prove, _of(Le(X, X + 1), X)
    monkeypatch.setattr(module, "prove", lambda form, **how: _with_a_broken_certificate(honest(other, **how)))
    assert not sharpen(_of(Le(X**2, 3 * X), X), attempts=20).thresholds


def _with_a_broken_certificate(proof: module.Proof) -> module.Proof:
    return replace(proof, certificate={**proof.certificate, "verdict": "refuted"})


def test_numbers_are_changed_where_they_stand_and_nowhere_else() -> None:
    plain = plain_form(_of(Le(2 * X**2, 2 * X + 2), X))
    found = {(str(p.value), p.exponent): p.indices for p in places(plain.claim)}
    change = Variation(varied=Varied.EXPONENT, places=found["2", True])
    assert changed(plain, change, Fraction(5)).claim == Le(2 * X**5, 2 * X + 2)
    for wrong in (change.but(places=(0,)), change.but(places=()), Variation(varied=UP, letter="z")):
        with pytest.raises(InvalidDataError):
            changed(plain, wrong, Fraction(5))


@pytest.mark.parametrize("attempts", [0, -1, True, 1.5])
def test_bad_numbers_of_attempts_are_refused(attempts: int) -> None:
    with pytest.raises(InvalidArgumentError, match="attempts"):
        sharpen(_of(Le(X, 2), X), attempts=attempts)
    with pytest.raises(InvalidArgumentError, match="letter"):
        sharpen(_of(Le(X, 2), X), letters=("z",))
