"""What the checker decides at a point is what a second reading of docs/certificates.md says of it, at random points."""

from __future__ import annotations

import os
import random
from collections import Counter
from fractions import Fraction
from typing import Any

from dpverify.proving.checker.points import truth
from dpverify.proving.checker.reading import read
from dpverify.proving.checker.values import ValueRange

from .pointwise import FALSE, TRUE, holds_at

Json = Any
EXAMPLES = 2 * int(os.environ.get("DPVERIFY_FUZZ_EXAMPLES", "300"))
NAMES = "x", "y", "n", "k"
NUMBERS = "0", "1", "-1", "2", "1/2", "-3/2", "3", "7/3", "5"
ONE_PART = "exp", "log", "phi", "erfc", "floor", "ceiling", "abs", "factorial", "gamma", "neg"
TWO_PARTS = "add", "mul", "pow", "max", "min", "binomial", "quotient"


def random_term(draw: random.Random, depth: int, names: tuple[str, ...] = NAMES) -> Json:
    """A term; many have no value somewhere."""
    kind = draw.random()
    if depth == 0 or kind < 0.15:
        return ["sym", draw.choice(names)] if draw.random() < 0.6 else ["num", draw.choice(NUMBERS)]
    inner = random_term(draw, depth - 1, names)
    if kind < 0.45:
        head = draw.choice(ONE_PART)
        return ["mul", ["num", "-1"], inner] if head == "neg" else [head, inner]
    if kind < 0.85:
        head, other = draw.choice(TWO_PARTS), random_term(draw, depth - 1, names)
        return ["mul", inner, ["pow", other, ["num", "-1"]]] if head == "quotient" else [head, inner, other]
    if kind < 0.95:
        body = random_term(draw, depth - 1, (*names, "i"))
        last = draw.choice([["sym", "n"], ["num", "3"], ["add", ["sym", "k"], ["num", "1"]]])
        return [draw.choice(["sum", "product"]), body, "i", ["num", draw.choice(["0", "1"])], last]
    if kind < 0.975:
        return ["at", random_term(draw, depth - 1, (*names, "t")), "t", inner]
    return ["diff", inner, draw.choice(["x", "y"]), draw.choice([1, 2])]


def random_formula(draw: random.Random, depth: int = 2) -> Json:
    """A formula without quantifiers."""
    if depth and draw.random() < 0.25:
        head = draw.choice(["and", "or", "not", "implies"])
        return [head, *(random_formula(draw, depth - 1) for _ in range(1 if head == "not" else 2))]
    return [draw.choice(["<=", "<", "==", "!="]), random_term(draw, 3), random_term(draw, 2)]


def random_point(draw: random.Random) -> dict[str, Fraction]:
    """Values of the names."""
    real = {x: Fraction(draw.randint(-12, 12), draw.choice([1, 1, 2, 3, 7])) for x in ("x", "y")}
    return real | {"n": Fraction(draw.randint(1, 6)), "k": Fraction(draw.randint(0, 4))}


def test_what_is_decided_at_a_point_is_what_the_page_says() -> None:
    """Seeded. A formula that is surely true is never found false, one that surely is undefined is never decided."""
    draw, found = random.Random(2026), Counter[int]()
    for _ in range(EXAMPLES):
        formula, point = random_formula(draw), random_point(draw)
        decided = truth(read(formula), {x: ValueRange(value, value) for x, value in point.items()})
        found[decided] += 1
        if decided:
            assert (TRUE if decided == 1 else FALSE) in holds_at(formula, point), (formula, point)
    assert min(found[1], found[-1]) > EXAMPLES // 8
