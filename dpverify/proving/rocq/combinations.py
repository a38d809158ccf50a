"""Search for a combination of what is given: right minus left as a sum of products that are not negative.

A polynomial has letters with any fraction as an exponent: the root of d is d^(1/2), its inverse d^(-1). What is found
is only a hint: the kernel multiplies it out again, and shows that each factor has the sign that it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import gcd, isqrt, lcm

from dpverify.proving.rocq.terms import FUNCTIONS, ONE, Json, RocqTerms, UntranslatedError, number, replaced

Exponent = Fraction | int
"""An int if it is whole: a Fraction takes long to be hashed."""
Monomial = tuple[tuple[str, Exponent], ...]
Polynomial = dict[Monomial, Fraction]

_NUMBER = re.compile(r"\(?\d+( / \d+)?\)?")
MOST_TERMS = 400
"""Terms of a polynomial, at most."""
MOST_PRODUCTS = 20
"""Of a combination, which the kernel multiplies out."""
MOST_CANDIDATES = 4000
MOST_STEPS = 3000
"""Of the simplex method."""
ROUNDS = 5
MOST_SQUARES = 9
"""Roots of monomials of whose differences squares are tried."""


@dataclass(frozen=True)
class TwoSides:
    """`relation` (<=, < or ==) between two expressions."""

    relation: str
    left: Json
    right: Json


@dataclass(frozen=True)
class Product:
    """A term of a combination: a number times a monomial times right minus left of comparisons."""

    times: Fraction
    monomial: Monomial
    of: tuple[TwoSides, ...]

    @property
    def strict(self) -> bool:
        """Whether it is positive if its monomial is."""
        return all(each.relation == "<" for each in self.of)


@dataclass
class PolynomialLetters:
    """The letters of polynomials, by their text in Rocq."""

    kinds: Mapping[str, str]
    signs: dict[str, str] = field(default_factory=dict)
    """`+` for positive letters, `0` for those that are not negative."""
    compound: dict[str, Polynomial] = field(default_factory=dict)
    """Letters that stand for a sum."""
    same: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Texts that are the same as another, and the tactic that shows it."""
    shown: dict[str, tuple[TwoSides, list[Product]]] = field(default_factory=dict)
    """That a sum is positive, or not negative, and the products that show it."""
    inside: dict[str, Polynomial] = field(default_factory=dict)
    """What logarithms and exponentials are of."""
    shares: dict[Monomial, int] = field(default_factory=dict)
    """Into how many parts exponents are cut, so that an exponential is a whole power of one of a part."""

    def text(self, e: Json) -> str:
        """Its text in Rocq."""
        return RocqTerms(self.kinds).real(e)

    def letter(self, text: str, exponent: Exponent = 1, sign: str = "") -> Polynomial:
        """A power of a letter."""
        if sign:
            self.signs[text] = sign
        return {((text, exponent),): Fraction(1)}

    def polynomial(self, e: Json) -> Polynomial:
        """An expression multiplied out."""
        head = e[0]
        if head == "num":
            return {(): Fraction(e[1])} if Fraction(e[1]) else {}
        if head == "add":
            return total(map(self.polynomial, e[1:]))
        if head == "mul":
            found: Polynomial = {(): Fraction(1)}
            for part in _gathered(e):
                found = times(found, self.polynomial(part))
            return found
        if head == "pow" and e[2][0] == "num":
            return self.power(e[1], Fraction(e[2][1]))
        if head == "log" and (apart := self.logarithm(e)) is not None:
            return apart
        if head == "exp":
            return self.exponential(e)
        if head == "at":
            return self.polynomial(replaced(e[1], e[2], e[3]))
        text = self.text(e)
        if head in FUNCTIONS and head != "abs":
            argument = self.polynomial(e[1])
            opposite = f"(Phi {self.sum_of({m: -factor for m, factor in argument.items()})})"
            if head == "phi" and argument and opposite in self.signs:
                self.same[text] = (f"(1 - {opposite})", "reflected")
                return {(): Fraction(1), ((opposite, 1),): Fraction(-1)}
            canonical = f"({FUNCTIONS[head]} {self.sum_of(argument)})"
            self.same[text] = (canonical, "function_is")
            if head == "log":
                self.inside[canonical] = argument
            return self.letter(canonical, 1, "+" if head in ("phi", "erfc") else "")
        if head == "pow":
            base = self.polynomial(e[1])
            positive = len(base) == 1 and all(c > 0 and self.is_positive(m) for m, c in base.items())
            return self.letter(text, 1, "+" if positive else "")
        return self.letter(text, 1, {"pi": "+", "norm": "0", "abs": "0"}.get(head, ""))

    def logarithm(self, e: Json) -> Polynomial | None:
        """The logarithm of a product as a sum; None if it is of a sum, of whose terms no letter is a factor."""
        inside, found = self.polynomial(e[1]), Polynomial()
        if any(factor <= 0 or not self.is_positive(m) for m, factor in inside.items()) or not inside:
            return None
        monomial, factor = next(iter(inside.items()))
        if len(inside) > 1:
            (monomial, factor), rest = self.content(inside)
            if not monomial:
                return None
            rest, factor = {m: factor * each for m, each in rest.items()}, Fraction(1)
            of_rest = f"(ln {self.sum_of(rest)})"
            self.inside[of_rest] = rest
            found = self.letter(of_rest)
        for number_, sign in ((factor.numerator, 1), (factor.denominator, -1)):
            if number_ != 1:
                self.signs[f"(ln {number_})"] = "+"
                found = total([found, {((f"(ln {number_})", 1),): Fraction(sign)}])
        for name, k in monomial:
            if name.startswith("(exp "):
                its = {m: k * c for m, c in self.inside[name].items()}
            else:
                its = {((f"(ln {name})", 1),): Fraction(k)}
            found = total([found, its])
        outside = self.sum_of({monomial: factor})
        product = outside if len(inside) == 1 else f"({outside} * {self.sum_of(rest)})"
        self.same[self.text(e)] = (self.sum_of(found), f"log_of {product}")
        return found

    def exponential(self, e: Json) -> Polynomial:
        """The exponential function of a sum as a product; that of a logarithm, as what that is of."""
        inside = self.polynomial(e[1])
        found: Polynomial = {(): Fraction(1)}
        powers: list[tuple[str, int]] = []
        for monomial, factor in inside.items():
            name, power = monomial[0] if len(monomial) == 1 else ("", 0)
            if name.startswith("(ln ") and power == 1 and factor.denominator == 1:
                found = times(found, self.power_of(name, int(factor)))
                powers.append((name[4:-1], int(factor)))
                continue
            parts = self.shares[monomial] = lcm(self.shares.get(monomial, 1), factor.denominator)
            text = f"(exp ({number(Fraction(1, parts))} * ({self.written(monomial)})))"
            self.inside[text] = {monomial: Fraction(1, parts)}
            self.signs[text] = "+"
            powers.append((text, int(factor * parts)))
            found = times(found, {(powers[-1],): Fraction(1)})
        self.same[self.text(e)] = (f"({self.written(tuple(powers))})", "exponential_is")
        return found

    def power_of(self, canonical: str, exponent: int) -> Polynomial:
        """An integer power of what a logarithm is of: a letter, a number or a sum."""
        name = canonical[4:-1]
        if name.isdigit():
            return {(): Fraction(int(name)) ** exponent}
        if (inside := self.inside.get(canonical)) is not None:
            return self.power_of_sum(inside, Fraction(exponent))
        return {((name, exponent),): Fraction(1)}

    def sum_of(self, found: Polynomial) -> str:
        """A polynomial's text in Rocq."""
        return (
            " + ".join(f"{number(factor)} * ({self.written(m)})" for m, factor in sorted(found.items())).join(
                "()"
            )
            if found
            else "0"
        )

    def difference(self, each: TwoSides) -> Polynomial:
        """Right minus left."""
        e = ["add", each.right, ["mul", ["num", "-1"], each.left]]
        before, found = {**self.shares}, self.polynomial(e)
        return found if self.shares == before else self.polynomial(e)

    def power(self, base: Json, exponent: Fraction) -> Polynomial:
        """A power with a number as exponent; of a sum, if it is none that is multiplied out, a letter's."""
        return self.power_of_sum(self.polynomial(base), exponent, self.text(base))

    def power_of_sum(self, found: Polynomial, exponent: Fraction, base: str = "") -> Polynomial:
        """A polynomial's power; `base` is its text, where roots of it are rewritten."""
        if exponent.denominator == 1 and 0 <= exponent <= 8:
            result: Polynomial = {(): Fraction(1)}
            for _ in range(int(exponent)):
                result = times(result, found)
            return result
        if len(found) == 1:
            ((monomial, factor),) = found.items()
            whole = exponent.denominator == 1
            if whole or (factor > 0 and all(self.signs.get(name) for name, _ in monomial)):
                of_number = self.root_of_number(factor, exponent)
                if of_number is not None:
                    return times(of_number, {raised(monomial, exponent): Fraction(1)})
        if exponent.denominator > 2 or not found:
            raise UntranslatedError("power")
        outside, inside = self.content(found)
        if exponent.denominator == 2 and not all(self.signs.get(name) for name, _ in outside[0]):
            outside, inside = ((), Fraction(1)), found
        if (root := self.root_of_number(outside[1], exponent)) is None:
            raise UntranslatedError("power")
        text = self.sum_of(inside)
        self.compound.setdefault(text, inside)
        if all(factor > 0 and self.is_positive(m) for m, factor in inside.items()):
            self.signs[text] = "+"
        made = times(root, {raised(outside[0], exponent): Fraction(1)})
        made = times(made, {raised(((text, 1),), exponent): Fraction(1)})
        if exponent.denominator == 2:
            half = Fraction(1, 2)
            under = product_of(raised(outside[0], half), ((text, half),))
            one = self.root_of_number(outside[1], half)
            if one is not None:
                ((m, factor),) = times(one, {under: Fraction(1)}).items()
                self.same[f"(sqrt {base})"] = (
                    f"({number(factor)} * ({self.written(m)}))",
                    "root_is",
                )
        return made

    def content(self, found: Polynomial) -> tuple[tuple[Monomial, Fraction], Polynomial]:
        """A square and the monomial that all terms have in common, and the rest, with whole coefficients."""
        names = {name for monomial in found for name, _ in monomial if self.signs.get(name) == "+"}
        least = {name: min(dict(m).get(name, 0) for m in found) for name in names}
        outside = tuple(sorted((name, k) for name, k in least.items() if k))
        inside = {product_of(m, outside, -1): factor for m, factor in found.items()}
        below = lcm(*(factor.denominator for factor in inside.values()))
        _, square = _square_in(gcd(*(int(factor * below) for factor in inside.values())) * below)
        first = Fraction(square, below) ** 2
        return (outside, first), {m: inside[m] / first for m in sorted(inside)}

    def root_of_number(self, factor: Fraction, exponent: Fraction) -> Polynomial | None:
        """A number's power; roots of numbers are letters of their own."""
        if exponent.denominator == 1:
            return {(): factor**exponent.numerator}
        if exponent.denominator != 2:
            return None
        root = exact_root(factor)
        if root is not None:
            return {(): root**exponent.numerator}
        whole, square = _square_in(factor.numerator * factor.denominator)
        letter = self.letter(str(whole), exponent, "+")
        return dict.fromkeys(letter, Fraction(square, factor.denominator) ** exponent.numerator)

    def may_multiply(self, monomial: Monomial) -> bool:
        """Whether it is not negative for what is known of its letters."""
        for name, k in monomial:
            sign = self.signs.get(name)
            if sign == "+" or (sign == "0" and k > 0) or (k > 0 and k.denominator == 1 and k % 2 == 0):
                continue
            return False
        return True

    def is_positive(self, monomial: Monomial) -> bool:
        """Whether it is positive."""
        return all(self.signs.get(name) == "+" for name, _ in monomial)

    def written(self, monomial: Monomial) -> str:
        """Its text in Rocq."""
        parts = []
        for name, k in monomial:
            text = name if name.isidentifier() or name[0] == "(" else f"({name})"
            if k.denominator == 2:
                text, k = f"sqrt {text}", 2 * k
                text = f"({text})"
            if abs(k) != 1:
                text = f"{text} ^ {abs(k)}"
            parts.append(f"/ {text}" if k < 0 else text)
        return " * ".join(f"({part})" for part in parts) or "1"


def _gathered(e: Json) -> Iterator[Json]:
    """The factors of a product, with whole powers of the same sum as one."""
    powers: dict[str, tuple[Json, int]] = {}
    for part in e[1:]:
        for factor in _gathered(part) if part[0] == "mul" else [part]:
            base, k = factor[1:] if factor[0] == "pow" else (factor, ONE)
            if base[0] != "add" or k[0] != "num" or Fraction(k[1]).denominator != 1:
                yield factor
            else:
                powers[str(base)] = base, int(k[1]) + powers.get(str(base), (base, 0))[1]
    yield from (["pow", base, ["num", str(k)]] for base, k in powers.values() if k)


def _square_in(whole: int) -> tuple[int, int]:
    """What is left of an integer without a square, and what that is the square of."""
    root = 1
    for k in range(2, 32):
        while whole % (k * k) == 0:
            whole, root = whole // (k * k), root * k
    return whole, root


def exact_root(value: Fraction) -> Fraction | None:
    """The root of a fraction that is a square."""
    if value < 0:
        return None
    found = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return found if found * found == value else None


def total(parts: Iterable[Polynomial]) -> Polynomial:
    """A sum."""
    found: Polynomial = {}
    for part in parts:
        for monomial, factor in part.items():
            found[monomial] = found.get(monomial, Fraction(0)) + factor
    return {monomial: factor for monomial, factor in found.items() if factor}


def product_of(a: Monomial, b: Monomial, sign: int = 1) -> Monomial:
    """A product of monomials, or a quotient (`sign` -1)."""
    powers = dict(a)
    for name, k in b:
        powers[name] = _short(powers.get(name, 0) + sign * k)
    return tuple(sorted(item for item in powers.items() if item[1]))


def raised(monomial: Monomial, exponent: Fraction) -> Monomial:
    """A power of a monomial."""
    return tuple((name, _short(k * exponent)) for name, k in monomial)


def _short(k: Exponent) -> Exponent:
    return int(k) if k.denominator == 1 else k


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    """A product; roots of numbers are no more than square roots."""
    if len(a) * len(b) > MOST_TERMS * 4:
        raise UntranslatedError("size")
    found: Polynomial = {}
    for m, x in a.items():
        for n, y in b.items():
            monomial, factor = _settled(product_of(m, n), y if x == 1 else x * y)
            found[monomial] = found[monomial] + factor if monomial in found else factor
    return {monomial: factor for monomial, factor in found.items() if factor}


@cache
def _value(name: str) -> Fraction | None:
    """The number that a letter is, if it is one."""
    return Fraction(name.strip("()").replace(" ", "")) if _NUMBER.fullmatch(name) else None


def _settled(monomial: Monomial, factor: Fraction) -> tuple[Monomial, Fraction]:
    """A letter that is a number has no exponent but 1/2."""
    rest = []
    for name, k in monomial:
        if (value := _value(name)) is not None:
            whole = int((k - Fraction(1, 2)) // 1) if k.denominator == 2 else int(k)
            factor *= value**whole
            k -= whole
        if k:
            rest.append((name, k))
    return tuple(rest), factor


def combination(
    letters: PolynomialLetters,
    goal: TwoSides,
    given: Sequence[TwoSides],
    *,
    pairs: bool,
    squares: bool = False,
) -> list[Product] | None:
    """Products that add up to right minus left of the goal; None if none are found.

    With `pairs`, products of two of what is given are tried, too; with `squares`, squares of differences.
    """
    facts: list[tuple[tuple[TwoSides, ...], Polynomial]] = []
    if "'exp'" in str((given, goal)):
        for each in (*given, goal):
            with suppress(UntranslatedError):  # so that all exponents are cut alike
                letters.difference(each)
    for each in (*given, goal):
        try:
            difference = letters.difference(each)
        except UntranslatedError:
            if each is goal:
                return None
            continue
        if each is goal:
            target = difference
        elif difference and len(difference) <= 60:
            facts.append(((each,), difference))
            (monomial, factor), *more = difference.items()
            if not more and len(monomial) == 1 == monomial[0][1] and factor > 0 and each.relation != "==":
                letters.signs.setdefault(monomial[0][0], "+" if each.relation == "<" else "0")
    for name in sorted({name for _, difference in [*facts, ((), target)] for name in _names(difference)}):
        if (exact := _value(name)) is not None:
            root: Json = ["pow", ["num", str(exact)], ["num", "1/2"]]
            low = Fraction(isqrt(int(exact * 10**8)), 10**4)
            ends = ["num", str(low)], ["num", str(low + Fraction(1, 10**4))]
            for of in (TwoSides("<=", ends[0], root), TwoSides("<=", root, ends[1])):
                facts.append(((of,), letters.difference(of)))
    for text, value in letters.compound.items():
        same = TwoSides("==", ["opaque", text], ["opaque"])
        facts.append(((same,), total([value, {((text, 1),): Fraction(-1)}])))
    _signs_of_sums(letters, [*facts])
    if pairs:
        few = [fact for fact in facts if len(fact[1]) <= 6 and fact[0][0].relation != "=="][:14]
        for (a, p), (b, q) in combinations_with_replacement(few, 2):
            facts.append(((*a, *b), times(p, q)))
    if squares:
        facts += _squares(letters, target)
    return _solved(letters, goal, target, facts)


def _squares(
    letters: PolynomialLetters, target: Polynomial
) -> Iterator[tuple[tuple[TwoSides, ...], Polynomial]]:
    """Squares of differences of roots of monomials, as they stand in the target and as they are without numbers."""
    sizes = {monomial: Fraction(1) for value in letters.compound.values() for monomial in value}
    sizes |= {((text, 1),): Fraction(1) for text in letters.compound}
    sizes |= {monomial: abs(factor) for monomial, factor in target.items()}
    halves = [(m, size) for m, size in sorted(sizes.items()) if _has_root(letters, m)][:MOST_SQUARES]
    for (m, one), (n, other) in combinations(halves, 2):
        for ratio in {Fraction(1), other / one}:
            of_number = letters.root_of_number(ratio, Fraction(1, 2))
            if of_number is None:
                continue
            first, second = ({raised(each, Fraction(1, 2)): Fraction(1)} for each in (m, n))
            second = times(of_number, second)
            difference = total([first, {at: -c for at, c in second.items()}])
            text = f"({letters.sum_of(first)} - {letters.sum_of(second)}) ^ 2"
            yield (TwoSides("square", text, ""),), times(difference, difference)


def _has_root(letters: PolynomialLetters, monomial: Monomial) -> bool:
    """Whether its root has exponents that are halves, of letters that are not negative, and else whole ones."""
    return all(k.denominator == 1 and (k % 2 == 0 or bool(letters.signs.get(name))) for name, k in monomial)


def _signs_of_sums(letters: PolynomialLetters, facts: list[tuple[tuple[TwoSides, ...], Polynomial]]) -> None:
    """Which sums are positive: those that what is given adds up to."""
    for text, value in letters.compound.items():
        if text in letters.signs:
            continue
        if all(letters.is_positive(m) and factor > 0 for m, factor in value.items()):
            letters.signs[text] = "+"
            continue
        plain = [fact for fact in facts if len(fact[1]) <= 6 and not set(letters.compound) & _names(fact[1])]
        for relation, sign in (("<", "+"), ("<=", "0")):
            zero = TwoSides(relation, ["opaque"], ["opaque"])
            if (found := _solved(letters, zero, value, plain)) is not None:
                letters.signs[text] = sign
                letters.shown[text] = zero, found
                break


def _names(found: Polynomial) -> set[str]:
    return {name for monomial in found for name, _ in monomial}


def _solved(
    letters: PolynomialLetters,
    goal: TwoSides,
    target: Polynomial,
    facts: list[tuple[tuple[TwoSides, ...], Polynomial]],
) -> list[Product] | None:
    columns: dict[tuple[int, Monomial, int], Polynomial] = {}
    rows = {monomial: k for k, monomial in enumerate(target)}
    entries: list[tuple[int, int, float]] = []

    def add(key: tuple[int, Monomial, int], column: Polynomial) -> None:
        entries.extend((rows.setdefault(m, len(rows)), len(columns), float(c)) for m, c in column.items())
        columns[key] = column

    seen, new = set[Monomial](), set(target) | {()}
    for _ in range(ROUNDS):
        reached = set[Monomial]()
        for at in sorted(new):
            if letters.may_multiply(at):
                add((-1, at, 1), {at: Fraction(1)})
            for k, (of, difference) in enumerate(facts):
                for monomial in difference:
                    multiplier = product_of(at, monomial, -1)
                    equal = of[0].relation == "=="
                    if (k, multiplier, 1) in columns or not (equal or letters.may_multiply(multiplier)):
                        continue
                    if not all(-8 <= e <= 8 for _, e in multiplier):
                        continue
                    made = times({multiplier: Fraction(1)}, difference)
                    add((k, multiplier, 1), made)
                    if equal:
                        add((k, multiplier, -1), {m: -c for m, c in made.items()})
                    reached |= made.keys()
            if len(columns) > MOST_CANDIDATES:
                break
        seen |= new
        new = reached - seen
        weights = _weights(letters, goal, target, columns, facts, len(rows), entries)
        if weights is not None:
            found = []
            for (k, multiplier, sign), weight in weights.items():
                found.append(Product(sign * weight, multiplier, () if k < 0 else facts[k][0]))
            return found
        if not new or len(columns) > MOST_CANDIDATES:
            return None
    return None


def _weights(
    letters: PolynomialLetters,
    goal: TwoSides,
    target: Polynomial,
    columns: Mapping[tuple[int, Monomial, int], Polynomial],
    facts: Sequence[tuple[tuple[TwoSides, ...], Polynomial]],
    height: int,
    entries: Sequence[tuple[int, int, float]],
) -> dict[tuple[int, Monomial, int], Fraction] | None:
    """Exact weights, none negative, with which the columns add up to the target; for `<`, one of a positive product.

    Of the matrix, whose first rows are the target's monomials, `entries` are row, column and value.
    """
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    keys = list(columns)
    i, j, data = zip(*entries, strict=True) if entries else ((), (), ())
    if not {*range(len(target))} <= {*i}:
        return None
    right = np.zeros(height)
    right[: len(target)] = [float(factor) for factor in target.values()]
    matrix = csr_matrix((data, (i, j)), shape=(height, len(keys)))
    if goal.relation == "<":
        strict = [
            letters.is_positive(m) and (k < 0 or all(each.relation == "<" for each in facts[k][0]))
            for k, m, _ in keys
        ]
        if not any(strict):
            return None
        cost = np.where(strict, 1.0, 1.5)
    else:
        strict, cost = [], np.ones(len(keys))
    solved = linprog(
        cost, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs-ds", options={"maxiter": MOST_STEPS}
    )
    if not solved.success:
        return None
    support = [key for key, weight in zip(keys, solved.x, strict=True) if weight > 1e-9]
    weights = _exact(target, {key: columns[key] for key in support})
    if weights is None or any(weight < 0 for weight in weights.values()):
        return None
    positive = {key: weight for key, weight in weights.items() if weight}
    if len(positive) > MOST_PRODUCTS:
        return None
    if goal.relation == "<" and not any(s for key, s in zip(keys, strict, strict=True) if key in positive):
        return None
    return positive


def _exact(
    target: Polynomial, columns: Mapping[tuple[int, Monomial, int], Polynomial]
) -> dict[tuple[int, Monomial, int], Fraction] | None:
    """A solution in fractions, by elimination; None if there is none."""
    keys = list(columns)
    monomials = dict.fromkeys(m for c in (target, *columns.values()) for m in c)
    lines = [
        [*(columns[key].get(m, Fraction(0)) for key in keys), target.get(m, Fraction(0))] for m in monomials
    ]
    pivots: list[int] = []
    for column in range(len(keys)):
        at = next((r for r in range(len(pivots), len(lines)) if lines[r][column]), None)
        if at is None:
            continue
        top = len(pivots)
        lines[top], lines[at] = lines[at], lines[top]
        pivot = lines[top][column]
        lines[top] = [value / pivot for value in lines[top]]
        for r, line in enumerate(lines):
            if r != top and (factor := line[column]):
                lines[r] = [a - factor * b for a, b in zip(line, lines[top], strict=True)]
        pivots.append(column)
    if any(line[-1] for line in lines[len(pivots) :]):
        return None
    found = dict.fromkeys(keys, Fraction(0))
    for line, column in zip(lines, pivots, strict=False):
        found[keys[column]] = line[-1]
    return found
