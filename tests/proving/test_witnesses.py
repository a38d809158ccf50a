"""Nothing is proved without a witness: a confirmed point of domain, box and assumptions."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.logic import Eq, ForAll, Formula, Ge, Gt, Implies, Le, Lt
from dpverify.formulas.operators import exp, sqrt
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.reasoning.evaluation import evaluate

x, y = real("x"), real("y", gt=0)
n = integer("n", ge=1)


def obligation(
    claim: Formula,
    *over: Variable,
    assuming: tuple[Formula, ...] = (),
    box: dict[str, tuple[object, object]] | None = None,
) -> Obligation:
    return Obligation("test", "nowhere", claim, over, assuming=assuming, box=box or {})


@pytest.mark.parametrize(
    "assuming",
    [
        (Lt(x**2, 0),),
        (Ge(x, 1), Le(x, 0)),
        (Eq(x, 2), Eq(x, 3)),
        (Le(sqrt(x), -1),),
        (Gt(1 / x, 0), Lt(x, 0)),
    ],
)
def test_contradictory_assumptions_prove_nothing_and_the_reason_says_so(
    assuming: tuple[Formula, ...],
) -> None:
    for claim in (Le(x + 5, 0), Le(x, x + 1)):
        found = prove(obligation(claim, x, assuming=assuming))
        assert found.verdict is Verdict.UNDECIDED
        assert found.reason.startswith("the assumptions contradict one another")


def test_a_box_in_which_no_assumption_can_hold_certifies_nothing() -> None:
    found = prove(obligation(Le(exp(y), 0), y, assuming=(Ge(y, 5),), box={"y": (1, 3)}))
    assert found.verdict in (Verdict.UNDECIDED, Verdict.REFUTED)
    found = prove(obligation(Le(y, exp(y)), y, assuming=(Ge(y, 5),), box={"y": (1, 3)}))
    assert found.verdict is Verdict.UNDECIDED
    assert "contradict one another in the box" in found.reason


def test_without_a_witness_the_verdict_is_undecided_with_that_reason() -> None:
    # true of the square root of 2 alone, which is no fraction
    found = prove(obligation(Le(x, 2), x, assuming=(Eq(x**2, 2),)))
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason.startswith("no witness")


def test_proofs_carry_their_witness_and_the_checker_wants_it() -> None:
    claims = [
        obligation(Le(2 * x * y, x**2 + y**2), x, y, assuming=(Ge(x, 3), Le(x + y, 4))),
        obligation(Eq((x + y) ** 2, x**2 + 2 * x * y + y**2), x, y),
        obligation(Lt(y, exp(y)), y, assuming=(Ge(y, 2),), box={"y": (1, 3)}),
        obligation(Le(n, n**2), n, assuming=(Implies(Ge(n, 2), Ge(n, 5)),)),
    ]
    for stated in claims:
        found = prove(stated)
        assert found.verdict in (Verdict.PROVED, Verdict.CERTIFIED)
        assert found.certificate is not None
        assert found.witness is not None
        assert found.certificate["witness"] == dict(found.witness)
        assert check(found.certificate).confirmed
        values = {v.name: Fraction(found.witness[v.name]) for v in stated.over}
        for v in stated.over:
            assert v.contains(Fraction(found.witness[v.name]))
        for a in stated.assuming:
            if isinstance(a, type(Le(0, 1))):
                assert evaluate(a.right - a.left, values) >= 0
        for damaged in damages(found.certificate):
            assert not check(damaged).confirmed, damaged["witness"]


def damages(certificate: Any) -> list[Any]:
    """The certificate without its witness, and with witnesses off the domain or the assumptions."""
    missing = deepcopy(certificate)
    del missing["witness"]
    found = [missing, {**certificate, "witness": None}, {**certificate, "witness": {}}]
    for name in certificate["witness"]:
        without = {k: q for k, q in certificate["witness"].items() if k != name}
        found.append({**certificate, "witness": without})
        if certificate["problem"]["assuming"] or name != "x":
            found.append({**certificate, "witness": {**certificate["witness"], name: "-1000"}})
        found.append({**certificate, "witness": {**certificate["witness"], name: "one"}})
    return found


def test_counterexamples_are_their_own_witnesses() -> None:
    found = prove(obligation(Le(x, 0), x, assuming=(Ge(x, 7),)))
    assert found.verdict is Verdict.REFUTED
    assert found.witness is not None
    assert Fraction(found.witness["x"]) >= 7


@pytest.mark.parametrize(
    "domain",
    [
        lambda: real("w", gt=0, lt=0),
        lambda: real("w", gt=0, le=0),
        lambda: real("x", ge=2, le=1),
        lambda: integer("w", ge="1/3", le="2/3"),
        lambda: real("w", ge=0.5),
        lambda: real("w", le=float("nan")),
    ],
)
def test_empty_or_inexact_domains_are_refused(domain: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        domain()


@pytest.mark.parametrize("box", [{"y": (2, 1)}, {"y": (-2, 0)}, {"z": (0, 1)}, {"y": (0.5, 1)}])
def test_boxes_that_miss_the_domain_are_refused(box: dict[str, tuple[object, object]]) -> None:
    with pytest.raises(InvalidArgumentError, match="box"):
        obligation(Le(y, y + 1), y, box=box)


def test_the_checker_refuses_quantifiers_over_nothing() -> None:
    s = real("s", ge=0, le=1)
    found = prove(obligation(Implies(ForAll(s, Le(s * x, 0)), Le(x, 0)), x))
    assert found.certificate is not None
    assert check(found.certificate).confirmed
    empty = deepcopy(found.certificate)
    premise = empty["problem"]["claim"][1]
    assert premise[0] == "forall"
    premise[1]["lower"] = "2"
    assert not check(empty).confirmed
