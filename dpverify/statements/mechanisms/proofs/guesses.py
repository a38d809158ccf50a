"""By how much queries differ between neighbors, and what draws cost: guesses, which proofs must confirm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

from dpverify.proving.checker.theorems.language import Node, free, named, parts_of
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.finite_models import FAILURES, FloatModel
from dpverify.proving.theorems.letters import TheoremLetter
from dpverify.statements.mechanisms.pages import MechanismOnPage, private
from dpverify.statements.mechanisms.proofs.ranges import minus, number


def cancelled(term: Node, root: int = 1) -> Node:
    """A root of a product of positive numbers without what stands above and below; a guess, which a proof confirms."""
    powers = dict[Node, Fraction]()
    for factor, times in _powers(term, Fraction(1, root)):
        powers[factor] = powers.get(factor, Fraction(0)) + times
    value, kept = Fraction(1), list[Node]()
    for factor, times in powers.items():
        if parts_of(factor)[0] == "num" and times.denominator == 1:
            value *= Fraction(named(parts_of(factor)[1])) ** int(times)
        elif times:
            kept.append(factor if times == 1 else ("pow", factor, number(times)))
    if value != 1 or not kept:
        kept.insert(0, number(value))
    return kept[0] if len(kept) == 1 else ("mul", *kept)


def _powers(node: Node, times: Fraction) -> Iterator[tuple[Node, Fraction]]:
    parts = parts_of(node)
    if parts[0] == "mul":
        for part in parts[1:]:
            yield from _powers(part, times)
    elif parts[0] == "pow" and parts_of(parts[2])[0] == "num":
        yield from _powers(parts[1], times * Fraction(named(parts_of(parts[2])[1])))
    elif parts[0] == "num" and (value := Fraction(named(parts[1]))) > 0:
        yield from (
            (number(n), t) for n, t in ((value.numerator, times), (value.denominator, -times)) if n > 1
        )
    else:
        yield node, times


def multiple(mechanism: MechanismOnPage, query: Node) -> tuple[list[Node], Node]:
    """Public factors, numbers without signs, and what they multiply; none where there is not one private factor."""
    parts = parts_of(query)
    inside = [part for part in parts[1:] if private(mechanism, part)] if parts[0] == "mul" else []
    if len(inside) != 1:
        return [], query
    others, rest = multiple(mechanism, inside[0])
    own = [parts_of(part) for part in parts[1:] if part != inside[0]]
    return [*(number(abs(Fraction(named(one[1])))) if one[0] == "num" else one for one in own), *others], rest


def most(mechanism: MechanismOnPage, body: Node, index: str, moved: set[int]) -> Node:
    """By how much a term of two records differs if one of them does: a guess, which the proof must confirm."""
    records, code = mechanism.records, FloatModel({}, {}).code(body)
    low = 0.0 if records.low is None else float(records.low)
    high = 1.0 if records.high is None else float(records.high)
    others = dict.fromkeys(free(body), 1.0)

    def at(values: dict[int, float]) -> float:
        return float(code({**others, index: 0.0, records.name: lambda args: values[round(args[0])]}))

    found = 0.0
    for one, other, new in product((low, (low + high) / 2, high), repeat=3):
        first, second = sorted(moved)
        before = at({first: one, second: other})
        found = max(
            found, abs(at({first: new, second: other}) - before), abs(at({first: one, second: new}) - before)
        )
    return number(Fraction(found).limit_denominator(1000))


PURE = {"laplace": 1, "proportional": 2}
"""Laws whose noise gives pure privacy, and how often the sensitivity of their query is paid for."""


def cost(mechanism: MechanismOnPage, law: Node, head: str) -> Node:
    """What a draw costs of a budget, by a sensitivity that is a guess, which the proof must confirm.

    Raises:
        UnderivedError: where nothing is guessed.
    """
    name, *parts = parts_of(law)
    if head == "concentrated" and name in PURE:
        return ("mul", ("pow", cost(mechanism, law, "private"), number(2)), number(Fraction(1, 2)))
    if (head, name) in (("private", "laplace"), ("gaussian", "normal")):
        return cancelled(("mul", sensitivity(mechanism, parts[0]), ("pow", parts[1], number(-1))))
    if head == "private" and name == "proportional" and parts_of(parts[1])[0] == "exp":
        return cancelled(("mul", number(2), sensitivity(mechanism, parts_of(parts[1])[1])))
    if head == "concentrated" and name == "normal":
        twice: Node = ("mul", number(2), ("pow", parts[1], number(2)))
        return cancelled(
            ("mul", ("pow", sensitivity(mechanism, parts[0]), number(2)), ("pow", twice, number(-1)))
        )
    raise UnderivedError(f"no sensitivity is guessed for the law `{name}`")


def sensitivity(mechanism: MechanismOnPage, query: Node) -> Node:
    """By how much a query differs between data sets: a guess from small ones, without what is public beside it.

    Raises:
        UnderivedError: where nothing is guessed.
    """
    head, *parts = parts_of(query)
    inside = [part for part in parts if private(mechanism, part)] if head == "add" else []
    if len(inside) == 1:
        return sensitivity(mechanism, inside[0])
    factors, rest = multiple(mechanism, query)
    return cancelled(("mul", sensitivity(mechanism, rest), *factors)) if factors else _seen(mechanism, query)


def _seen(mechanism: MechanismOnPage, query: Node) -> Node:
    """By how much a query differs between small data sets: a number times a function of public letters that fits."""
    records, model = mechanism.records, FloatModel({}, {})
    if records.last[0] != "sym":
        raise UnderivedError("a sensitivity is guessed where the number of records is a letter")
    count = named(records.last[1])
    shown = free(query) - {count}
    letters = [one for one in mechanism.letters if one.number is not None and one.name in shown]
    found = list[tuple[dict[str, Any], float]]()
    try:
        code = model.code(query)
        for n, share in ((2, 0.25), (3, 0.75), (4, 0.5)):
            env: dict[str, Any] = {**dict.fromkeys(free(query), 0), count: float(n)}
            env |= {one.name: inside(one, share + 0.01 * k) for k, one in enumerate(letters)}
            values = [-20.0, 20.0, *(env[one.name] for one in letters)]
            if records.low is not None and records.high is not None:
                values = [float(end) for end in (records.low, (records.low + records.high) / 2, records.high)]
            at = {
                row: float(code({**env, records.name: lambda i, row=row: row[int(i[0]) - 1]}))
                for row in product(dict.fromkeys(values[:4]), repeat=n)
            }
            if mechanism.size is None:
                moved = [
                    abs(at[r] - at[(*r[:k], x, *r[k + 1 :])]) for r in at for k in range(n) for x in values
                ]
            else:
                fewer = {**env, count: n - 1.0}
                less = {
                    r: float(code({**fewer, records.name: lambda i, r=r: r[int(i[0]) - 1]}))
                    for r in product(values[:4], repeat=n - 1)
                }
                moved = [abs(at[r] - less[(*r[:k], *r[k + 1 :])]) for r in at for k in range(n)]
            found.append((env, max(moved)))
    except (*FAILURES, IndexError):
        raise UnderivedError("a query has no value on a small data set") from None
    n_term, own = records.last, [one.term for one in letters]
    inverse: Node = ("pow", n_term, number(-1))
    of_count: list[Node] = [number(1), inverse, n_term, ("mul", minus(n_term, number(1)), inverse)]
    of_count = of_count[: 1 if mechanism.size else None]
    of_letters: list[Node] = [number(1), *own, *(("pow", one, number(2)) for one in own)]
    of_letters += [minus(one, other) for one, other in permutations(own, 2)]
    return fitted(found, [cancelled(("mul", *pair)) for pair in product(of_count, of_letters)], model)


def fitted(found: Sequence[tuple[dict[str, Any], float]], shapes: Sequence[Node], model: FloatModel) -> Node:
    """A number times one of some functions of public letters, of which values were seen.

    Raises:
        UnderivedError: where none fits.
    """
    env, value = found[0]
    for shape in shapes:
        at_shape = model.code(shape)
        times = Fraction(value / at_shape(env)).limit_denominator(1000)
        if times > 0 and all(
            math.isclose(float(times) * at_shape(env), value, rel_tol=1e-9) for env, value in found
        ):
            return shape if times == 1 else cancelled(("mul", number(times), shape))
    raise UnderivedError("no sensitivity is seen")


def inside(letter: TheoremLetter, share: float) -> float:
    """A number of a letter's domain."""
    v: Any = letter.number
    low, high = (None if end is None else float(Fraction(end)) for end in (v.lower, v.upper))
    if low is not None and high is not None:
        found = low + (high - low) * share
    elif high is not None:
        found = high - 2 * share
    else:
        found = 2 * share + (low or 0.0)
    return float(math.ceil(found)) if letter.kind == "integer" else found
