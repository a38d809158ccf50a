"""Hypotheses that a formula does not need are found, and those that it needs are not among them."""

from __future__ import annotations

import pytest

from dpverify.analyses.hypotheses import Hypothesis, TriedHypothesis, hypotheses, uses_of_hypotheses, without
from dpverify.formulas.expressions import integer, real
from dpverify.formulas.values import UndefinedError
from dpverify.formulas.vectors import vector
from dpverify.ledger.verdicts import Use, Verdict
from dpverify.ledger.written_numbers import coordinates_of
from dpverify.proving import prove
from dpverify.proving.language import Obligation
from dpverify.proving.provers.points import admitted, confirmed
from dpverify.proving.reasoning.evaluation import evaluate
from dpverify.statements.sheet import Sheet

_LETTERS = (
    real("a"),
    real("b"),
    real("c"),
    real("p", gt=0),
    real("q", ge=0, le=1),
    integer("n", ge=1),
    vector("u"),
    vector("v"),
)


def row(claim: str, given: str = "", **options: object) -> Obligation:
    (found,) = (
        Sheet("x.row", _LETTERS).conclusion("row", claim, given=given or (), **options).statement.printed
    )
    return found


def found(claim: str, given: str = "") -> dict[str, TriedHypothesis]:
    return {f.hypothesis.text: f for f in uses_of_hypotheses(row(claim, given))}


@pytest.mark.parametrize(
    ("claim", "given", "needed", "unneeded"),
    [
        (r"a\le c", r"a\le b, b\le c, a\le 5", {"a <= b", "b <= c"}, {"a <= 5"}),
        (r"a\le c+1", r"a\le c, b\le c", {"a <= c"}, {"b <= c"}),
        (r"a^2\ge 0", r"a\le b", set(), {"a <= b"}),
        (r"qn\le n", "", {"q <= 1"}, {"0 <= q"}),
        (r"\frac{p}{p}=1", r"a\le p", {"0 < p"}, {"a <= p"}),
        (r"\langle u,v\rangle\ge 0", r"u=v, a\le b", {"||u - v||^2 == 0"}, {"a <= b"}),
    ],
)
def test_a_planted_hypothesis_is_found(claim: str, given: str, needed: set[str], unneeded: set[str]) -> None:
    uses = {text: f.use for text, f in found(claim, given).items()}
    assert needed <= {text for text, use in uses.items() if use in (Use.FALSE_WITHOUT, Use.UNDEFINED_WITHOUT)}
    assert unneeded <= {text for text, use in uses.items() if use is Use.UNUSED}
    assert needed | unneeded <= set(uses)


def test_a_point_shows_that_the_formula_is_false_where_all_others_hold() -> None:
    claim, given = r"a\le c", r"a\le b, b\le c"
    obligation = row(claim, given)
    for text, f in found(claim, given).items():
        assert f.use is Use.FALSE_WITHOUT, text
        assert f.point is not None, text
        point = {name: coordinates_of(value) for name, value in f.point.items()}
        assert confirmed(without(obligation, [f.hypothesis]).problem, point)
        assert not admitted(obligation.problem, point)


def test_a_point_shows_that_the_formula_says_nothing() -> None:
    claim = r"\frac{p}{p}=1"
    f = found(claim)["0 < p"]
    assert f.use is Use.UNDEFINED_WITHOUT
    assert f.point == {"p": "0"}
    wider = without(row(claim), [f.hypothesis])
    with pytest.raises(UndefinedError):
        evaluate(wider.claim.left, {"p": coordinates_of("0")})  # type: ignore[attr-defined]


def test_of_two_that_say_the_same_one_stays() -> None:
    """Each can be left out, but not both: to call both unused would be wrong."""
    uses = [f.use for f in found(r"a\le b", r"a\le b, 2a\le 2b").values()]
    assert sorted(uses) == sorted([Use.NOT_PROVED_WITHOUT, Use.UNUSED])


def test_unused_ones_can_go_together() -> None:
    obligation = row(r"a\le c", r"a\le b, b\le c, a\le 5, c\le 7")
    unused = [f.hypothesis for f in uses_of_hypotheses(obligation) if f.use is Use.UNUSED]
    assert [h.text for h in unused] == ["a <= 5", "c <= 7"]
    assert len(without(obligation, unused).assuming) == 2


def test_what_is_not_proved_has_no_uses() -> None:
    assert found(r"a\le b") == {}
    assert found(r"a\le b", r"b\le a") == {}


def test_a_box_of_a_wider_letter_goes() -> None:
    """Inside the box the end of the domain is never met, and every proof would do without it."""
    obligation = row(r"p\le 3p", box={"p": (1, 2)})
    (end,) = hypotheses(obligation)
    assert not without(obligation, [end]).box
    assert [f.use for f in uses_of_hypotheses(obligation)] == [Use.FALSE_WITHOUT]


def test_a_letter_for_a_formula_keeps_it_without_an_end_of_its_domain() -> None:
    n, log = integer("n", ge=1), real("l", ge=1, latex=r"\log n")
    (obligation,) = Sheet("x.row", (n, log)).conclusion("row", r"n\le n\log n").statement.printed
    of = {h.letter: h for h in hypotheses(obligation)}
    one, of_log = of[n], of[log]
    freed = without(obligation, [of_log]).written_out
    assert freed.over == (n,)
    assert not freed.assuming
    proof = prove(without(obligation, [of_log]))
    assert proof.verdict is Verdict.REFUTED
    assert proof.counterexample == {"n": "1"}
    both = without(obligation, [one, of_log]).written_out
    assert [v.lower for v in both.over] == [None]


def test_only_some_are_asked_about() -> None:
    obligation = row(r"a\le c", r"a\le b, b\le c, a\le 5")
    last = hypotheses(obligation)[-1]
    assert [(f.hypothesis.text, f.use) for f in uses_of_hypotheses(obligation, (last,))] == [
        ("a <= 5", Use.UNUSED)
    ]


def test_parts_of_a_conjunction_stand_alone() -> None:
    texts = [h.text for h in hypotheses(row(r"a\le c", r"a\le b\le c"))]
    assert texts == ["a <= b", "b <= c"]
    assert all(isinstance(h, Hypothesis) and h.letter is None for h in hypotheses(row(r"a\le c", r"a\le c")))
