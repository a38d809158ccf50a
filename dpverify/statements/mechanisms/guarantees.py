"""What is proved of a mechanism where its claim is not: the sum of what its draws cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from dpverify.formulas.expressions import PI, Apply, Expression, Number
from dpverify.formulas.rendering.latex import expression_latex
from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import Node, named, parts_of
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.proofs.choices import choice_of
from dpverify.statements.mechanisms.proofs.claims import derive_mechanism
from dpverify.statements.mechanisms.proofs.composition import known_cost
from dpverify.statements.mechanisms.proofs.guesses import cancelled
from dpverify.statements.mechanisms.proofs.loops import loop_of
from dpverify.statements.mechanisms.proofs.ranges import number
from dpverify.statements.mechanisms.proofs.samples import amplified_epsilon
from dpverify.statements.mechanisms.scope import dependence

MEASURES = {"private": "epsilon", "concentrated": "rho"}
"""Currencies that are added up, the strongest guarantee first, and the letter of each."""


@dataclass(frozen=True)
class ProvedGuarantee:
    """A guarantee of a mechanism."""

    measure: str
    """`epsilon`, of pure privacy, or `rho`, of concentrated privacy."""
    value: str
    """LaTeX."""
    uses: tuple[str, ...]
    """Theorems and rules that its derivation uses."""
    certificate: Json


def guarantee_proved(mechanism: MechanismOnPage) -> ProvedGuarantee | None:
    """The guarantee that its draws have together, as far as it is derived; None if it is not.

    What each draw costs is a guess from small data sets. It is part of what is derived, for data sets of every size.
    """
    if mechanism.test or dependence(mechanism) is not None:
        return None
    for head, measure in MEASURES.items():
        for total in totals(mechanism, head):
            claim = mechanism.steps[-1]
            term = (head, total, number(0)) if head == "private" else (head, total)
            proof = derive_mechanism(
                replace(mechanism, steps=(*mechanism.steps[:-1], replace(claim, term=term)))
            )
            if proof.certificate is not None:
                value = expression_latex(expression_of(mechanism, total))
                return ProvedGuarantee(measure, value, proof.uses, proof.certificate)
    return None


def totals(mechanism: MechanismOnPage, head: str) -> Iterator[Node]:
    """What draws cost together in some currency, the least first: guesses, none of what cannot be guessed."""
    loop, choice = loop_of(mechanism), choice_of(mechanism)
    shared = loop.shared.route if loop and loop.shared else None
    if shared is not None and shared.head == head:
        yield shared.costs[0][0]
    draws = mechanism.of("draw") if loop else mechanism.draws
    try:
        costs = [*(choice.costs if choice else ()), *(known_cost(mechanism, draw, head) for draw in draws)]
    except UnderivedError:
        return
    total = _total([one for one in costs if one is not None])
    sampled = mechanism.sample is not None and head != "private"
    if None in costs or total is None or sampled or (choice and head != "private"):
        return
    if loop and not (head == "private" and loop.in_turn):
        total = cancelled(("mul", loop.loop.last, total))
    yield total if mechanism.sample is None else amplified_epsilon(mechanism.sample, total)


def _total(costs: list[Node]) -> Node | None:
    """A sum, in which equal ones are counted."""
    counts = {one: costs.count(one) for one in costs}
    parts = [cancelled(("mul", number(n), one)) for one, n in counts.items()]
    return reduce(lambda one, other: ("add", one, other), parts) if parts else None


def expression_of(mechanism: MechanismOnPage, term: Node) -> Expression:
    """A term of public letters as an expression."""
    head, *parts = parts_of(term)
    if head == "num":
        return Number(Fraction(named(parts[0])))
    if head == "sym":
        return next(
            one.number for one in mechanism.letters if one.name == parts[0] and one.number is not None
        )
    if head == "pi":
        return PI
    if head == "pow":
        return Apply("pow", tuple(expression_of(mechanism, part) for part in parts))
    if head == "add" and parts_of(parts[-1])[:2] == ("mul", number(-1)):
        return Apply(
            "sub", tuple(expression_of(mechanism, one) for one in (parts[0], parts_of(parts[-1])[2]))
        )
    if head != "mul":
        return Apply(str(head), tuple(expression_of(mechanism, part) for part in parts))
    above, below = list[Expression](), list[Expression]()
    for part in parts:
        base, exponent = parts_of(part)[1:] if parts_of(part)[0] == "pow" else (part, number(1))
        times = Fraction(named(parts_of(exponent)[1])) if parts_of(exponent)[0] == "num" else Fraction(0)
        if times < 0:
            below.append(expression_of(mechanism, cancelled(("pow", base, number(-times)))))
        elif parts_of(part)[0] == "num":
            value = Fraction(named(parts_of(part)[1]))
            above += [Number(Fraction(value.numerator))] * (value.numerator != 1)
            below += [Number(Fraction(value.denominator))] * (value.denominator != 1)
        else:
            above.append(expression_of(mechanism, part))
    over, under = (
        reduce(lambda x, y: Apply("mul", (x, y)), side or [Number(Fraction(1))]) for side in (above, below)
    )
    return Apply("div", (over, under)) if below else over
