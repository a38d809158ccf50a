"""Formulas of certificates as propositions of Rocq, over the definitions in `semantics.v`.

A formula is true, false or undefined where a part of it has no value. The proposition that it is true, and the one that
it is false, say themselves that all parts have values: `1 / x <= y` is `x <> 0 /\\ 1 / x <= y`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from string import ascii_letters, digits
from textwrap import fill
from typing import Any

Json = Any


ZERO: Json = ["num", "0"]
ONE: Json = ["num", "1"]


class UntranslatedError(Exception):
    """A formula, or a proof, that is not said in Rocq; what it has."""


FUNCTIONS = {
    "exp": "exp", "log": "ln", "phi": "Phi", "phi_inverse": "Phi_inverse", "erfc": "erfc", "abs": "Rabs",
    "floor": "floor", "ceiling": "ceiling", "sin": "sin", "cos": "cos", "arctan": "atan",
}  # fmt: skip
"""Functions of a number: what they are called there."""
POSITIVE = "0 < {}"
DEFINED = {"log": (POSITIVE,), "phi_inverse": (POSITIVE, "{} < 1")}
"""Where functions are defined, if not everywhere."""
FOLDED = {"max": "Rmax", "min": "Rmin"}
RELATIONS = {"<=": "{} <= {}", "<": "{} < {}", "==": "{} = {}", "!=": "{} <> {}"}
REFUTED = {"<=": "{1} < {0}", "<": "{1} <= {0}", "==": "{} <> {}", "!=": "{} = {}"}
POWERS = frozenset("23456789")
"""Exponents that integers are multiplied out for."""
WORDS = frozenset(
    re.findall(
        r"\S+",
        """
        as at by cofix do else end exists fix for forall fun if in let match return then using where with Prop Set Type
        R Z IZR nat vector exp ln sqrt sin cos atan PI Phi erfc sum product inner norm dimension power floor ceiling
        whole Rmax Rmin Rabs powerRZ vadd vscale RInt ex_RInt power_defined S O I True False Derive ex_derive
        locally le lt factorial binomial Phi_inverse RInt_gen ex_RInt_gen integral integrable at_point
        Rbar_locally m_infty p_infty
        """,
    )
)
"""Names that mean something there."""
_PLAIN = re.compile(r"(?!(?:given|part)_?\d*$)[A-Za-z](?:[A-Za-z0-9_']*[A-Za-z0-9'])?")


def name_of(letter: str) -> str:
    """The letter's name there, another for each letter: what is no name is spelled out, and ends in an underscore."""
    if _PLAIN.fullmatch(letter) and letter not in WORDS:
        return letter
    spelled = (c if c in ascii_letters + digits else "__" if c == "_" else f"_{ord(c):x}_" for c in letter)
    return f"{''.join(spelled)}_"


def number(value: str | Fraction) -> str:
    """An exact number, in brackets where it needs them."""
    exact = Fraction(value)
    text = str(exact.numerator) if exact.denominator == 1 else f"{exact.numerator} / {exact.denominator}"
    return text if exact.denominator == 1 and exact >= 0 else f"({text})"


@dataclass
class RocqTerms:
    """A translator of expressions in letters of these kinds (by name)."""

    kinds: Mapping[str, str]
    conditions: list[str] = field(default_factory=list)
    """Where what was translated so far is defined."""

    def need(self, condition: str) -> None:
        """Add a condition, once."""
        if condition not in self.conditions:
            self.conditions.append(condition)

    def real(self, e: Json) -> str:
        """A number, in brackets unless it is one word."""
        head = e[0]
        if head == "num":
            return number(e[1])
        if head == "pi":
            return "PI"
        if head == "sym":
            kind = self.kinds[e[1]]
            if kind == "vector":
                raise UntranslatedError("vector")
            return f"IZR {name_of(e[1])}".join("()") if kind == "integer" else name_of(e[1])
        if head == "add":
            return self.total(e[1:])
        if head == "mul":
            return self.product(e[1:])
        if head == "pow":
            return self.power(e[1], e[2])
        if head in FUNCTIONS:
            argument = self.real(e[1])
            for where in DEFINED.get(head, ()):
                if where != POSITIVE or not _positive(e[1]):
                    self.need(where.format(_bare(argument)))
            return f"({FUNCTIONS[head]} {argument})"
        if head in FOLDED:
            first, *others = map(self.real, e[1:])
            for other in others:
                first = f"({FOLDED[head]} {first} {other})"
            return first
        if head in ("sum", "product"):
            return self.sum(*e)
        if head == "integral":
            return f"(integral {' '.join(self.integral(*e[1:]))})"
        if head in ("factorial", "binomial"):
            return self.counted(head, e[1:])
        if head in ("inner", "norm"):
            return f"({head} dimension {' '.join(map(self.vector, e[1:]))})"
        if head == "diff":
            return self.derivative(*e[1:])
        if head == "at":
            self.real(e[3])  # which has to be defined even where the letter does not stand
            return self.real(replaced(e[1], e[2], e[3]))
        raise UntranslatedError(head)

    def operand(self, e: Json, of: str, *, first: bool = False) -> str:
        """A term of a sum (`of` add) or a factor, without the brackets that it does not need there."""
        while e[0] in ("add", "mul") and len(e) == 2:
            e = e[1]
        text = self.real(e)
        if text[1:2] == "-" or e[0] == "at":
            return _bare(text) if first and of == "add" and e[0] in ("num", "mul") else text
        of_numbers = e[0] == "pow" and _number(e[2]) and Fraction(e[2][1]).denominator == 1
        binds = {"add": 1, "mul": 2, "num": 2}.get(e[0], 2 if text[:2] == "(/" else 3 if of_numbers else 4)
        needed = 2 if of == "add" else 3
        return _bare(text) if binds >= needed - first else text

    def total(self, parts: list[Json]) -> str:
        """Terms, what is negated by a minus in front of it."""
        text = ""
        for part in parts:
            if text and part[0] == "mul" and part[1] == ["num", "-1"] and len(part) > 2:
                text += f" - {self.operand(['mul', *part[2:]], 'add')}"
            else:
                term = self.operand(part, "add", first=not text)
                text += f" + {term}" if text else term
        return text.join("()") if len(parts) > 1 else self.real(parts[0])

    def product(self, parts: list[Json]) -> str:
        """Factors, an inverse as a quotient."""
        if len(parts) == 1:
            return self.real(parts[0])
        if parts[0] == ["num", "-1"]:
            return f"(- {self.operand(['mul', *parts[1:]], 'mul')})"
        text = ""
        for part in parts:
            below = part[0] == "pow" and part[2] == ["num", "-1"]
            factor = self.operand(part[1] if below else part, "mul", first=not (text or below))
            if below and not _number(part[1]):
                self.need(f"{_bare(factor)} <> 0")
            elif below and Fraction(part[1][1]) == 0:
                self.need("0 <> 0")
            text += (
                (f" / {factor}" if text else f"/ {factor}") if below else (f" * {factor}" if text else factor)
            )
        return text.join("()")

    def power(self, base: Json, exponent: Json) -> str:
        """A power; of numbers as exponents, what they mean."""
        b = self.real(base)
        if not _number(exponent):
            whole = self.integer(exponent)
            if whole is not None:
                if not _positive(base):
                    self.need(f"({_bare(b)} <> 0 \\/ 0 <= {_bare(self.real(exponent))})")
                return f"(powerRZ {b} {whole})"
            at = self.real(exponent)
            self.need(f"power_defined {b} {at}")
            return f"(power {b} {at})"
        e = Fraction(exponent[1])
        if e.denominator == 1:
            if e < 0 and not _positive(base):
                self.need(f"{_bare(b)} <> 0")
            return f"({b} ^ {e})" if e >= 0 else f"(/ {b})" if e == -1 else f"(/ {b} ^ {-e})"
        if abs(e) == Fraction(1, 2):
            if not _positive(base):
                self.need(f"0 {'<=' if e > 0 else '<'} {_bare(b)}")
            return f"(sqrt {b})" if e > 0 else f"(/ sqrt {b})"
        self.need(f"power_defined {b} {number(e)}")
        return f"(power {b} {number(e)})"

    def integer(self, e: Json) -> str | None:
        """An expression that is an integer as it is written; None if it may be none."""
        if e[0] == "num" and Fraction(e[1]).denominator == 1:
            return f"({e[1]})%Z"
        if e[0] == "sym" and self.kinds[e[1]] == "integer":
            return name_of(e[1])
        if e[0] in ("add", "mul") and None not in (parts := [self.integer(part) for part in e[1:]]):
            return f"({(' + ' if e[0] == 'add' else ' * ').join(map(str, parts))})%Z"
        if e[0] == "pow" and e[2][0] == "num" and e[2][1] in POWERS:
            return self.integer(["mul", *[e[1]] * int(e[2][1])])
        return None

    def sum(self, head: str, body: Json, index: str, first: Json, last: Json) -> str:
        """A sum or a product over integers."""
        ends = [self.integer(end) for end in (first, last)]
        if None in ends or index in letters_in(first) | letters_in(last):
            raise UntranslatedError("ends")
        inside = RocqTerms({**self.kinds, index: "integer"})
        term, i = inside.real(body), name_of(index)
        low, high = ends
        if not (_number(first) and _number(last) and Fraction(first[1]) <= Fraction(last[1])):
            self.need(f"({low} <= {high})%Z")
        if inside.conditions:
            defined = " /\\ ".join(inside.conditions)
            self.need(f"(forall {i} : Z, ({low} <= {i} <= {high})%Z -> {defined})")
        return f"({head} (fun {i} : Z => {term}) {low} {high})"

    def integral(self, body: Json, letter: str, low: Json, high: Json) -> tuple[str, str, str]:
        """What is integrated, and where to: ends are numbers or infinite, and the integral over all between exists."""
        if low == ["inf", "+"] or high == ["inf", "-"] or letter in letters_in(low) | letters_in(high):
            raise UntranslatedError("ends")
        infinite = {"-": "(Rbar_locally m_infty)", "+": "(Rbar_locally p_infty)"}
        at = [None if end[0] == "inf" else self.real(end) for end in (low, high)]
        first, last = (
            infinite[end[1]] if text is None else f"(at_point {text})"
            for end, text in zip((low, high), at, strict=True)
        )
        inside = RocqTerms({**self.kinds, letter: "real"})
        x, term = name_of(letter), inside.real(body)
        between = [*([f"{at[0]} <= {x}"] if at[0] else []), *([f"{x} <= {at[1]}"] if at[1] else [])]
        if len(between) == 2:
            self.need(f"{at[0]} <= {at[1]}")
        if inside.conditions:
            defined = " /\\ ".join(inside.conditions)
            self.need(f"(forall {x} : R, {' -> '.join([*between, defined])})")
        its = f"(fun {x} : R => {_bare(term)})", first, last
        self.need(f"integrable {' '.join(its)}")
        return its

    def counted(self, head: str, of: list[Json]) -> str:
        """A factorial or a binomial coefficient, of integers as they are written."""
        its = [self.integer(e) for e in of]
        if None in its:
            raise UntranslatedError(head)
        for e, text in zip(of, its, strict=True):
            if not (_number(e) and Fraction(e[1]) >= 0):
                self.need(f"(0 <= {text})%Z")
        return f"({head} {' '.join(map(str, its))})"

    def derivative(self, body: Json, letter: str, order: int, at: Json = None) -> str:
        """A first derivative, at the letter itself or where `at` says; the body is defined around there."""
        place = self.real(at or ["sym", letter])
        if order != 1 or self.kinds.get(letter) == "integer":
            raise UntranslatedError("diff")
        inside = RocqTerms({**self.kinds, letter: "real"})
        bound = f"fun {name_of(letter)} : R =>"
        function = f"({bound} {_bare(inside.real(body))})"
        if inside.conditions:
            defined = " /\\ ".join(inside.conditions)
            self.need(f"locally {place} ({bound} {defined})")
        self.need(f"ex_derive {function} {place}")
        return f"(Derive {function} {place})"

    def vector(self, e: Json) -> str:
        """A vector."""
        if e[0] == "sym" and self.kinds[e[1]] == "vector":
            return name_of(e[1])
        if e[0] == "add":
            first, *others = map(self.vector, e[1:])
            for other in others:
                first = f"(vadd {first} {other})"
            return first
        if e[0] == "mul":
            (at,) = [k for k, part in enumerate(e) if k and self.is_vector(part)]
            scalars = [part for k, part in enumerate(e) if k not in (0, at)]
            return f"(vscale {self.product(scalars)} {self.vector(e[at])})"
        raise UntranslatedError("vector")

    def is_vector(self, e: Json) -> bool:
        """Whether an expression is a vector."""
        if e[0] == "sym":
            return self.kinds[e[1]] == "vector"
        return e[0] in ("add", "mul") and any(map(self.is_vector, e[1:]))


def _number(e: Json) -> bool:
    return bool(e[0] == "num")


def _positive(e: Json) -> bool:
    """Whether it is positive as it is written."""
    return e[0] in ("pi", "exp") or (e[0] == "num" and Fraction(e[1]) > 0)


def replaced(e: Json, letter: str, value: Json) -> Json:
    """The expression with a value in the letter's place."""
    if e == ["sym", letter]:
        return value
    if e[0] == "diff":
        body, name, order, *at = e[1:]
        if name in letters_in(value) and name != letter:
            raise UntranslatedError("diff")
        return ["diff", body if name == letter else replaced(body, letter, value), name, order,
                replaced(at[0] if at else ["sym", name], letter, value)]  # fmt: skip
    if e[0] in ("sum", "product", "integral", "at") and (e[2] == letter or e[2] in letters_in(value)):
        raise UntranslatedError(e[0])
    return [replaced(part, letter, value) if isinstance(part, list) else part for part in e]


def split(f: Json) -> list[Json]:
    """The parts of what is said together."""
    return list(f[1:]) if f[0] == "and" else [f]


def letters_in(e: Json) -> set[str]:
    """Names of letters in it."""
    if e[0] == "sym":
        return {e[1]}
    return set().union(*(letters_in(part) for part in e if isinstance(part, list)))


def bound_in(e: Json) -> set[str]:
    """Names of letters that are bound in it."""
    its = {e[2]} if e[0] in ("sum", "product", "integral", "diff", "at") else set()
    its |= {part["name"] for part in e if isinstance(part, dict)}
    return its.union(*(bound_in(part) for part in e if isinstance(part, list)))


def truth(f: Json, kinds: Mapping[str, str], *, holds: bool = True) -> str:
    """The proposition that a formula is true, or (`holds` false) that it is false."""
    head = f[0]
    if head in RELATIONS:
        terms = RocqTerms(kinds)
        sides = [_bare(terms.real(side)) for side in f[1:]]
        said = (RELATIONS if holds else REFUTED)[head].format(*sides)
        return " /\\ ".join([*terms.conditions, said]).join("()") if terms.conditions else said
    if head == "not":
        return truth(f[1], kinds, holds=not holds)
    if head in ("and", "or", "implies"):
        parts = [["not", f[1]], f[2]] if head == "implies" else f[1:]
        join = " /\\ " if (head == "and") == holds else " \\/ "
        return join.join(truth(part, kinds, holds=holds) for part in parts).join("()")
    if head in ("forall", "exists"):
        every = (head == "forall") == holds
        variable, body = f[1:]
        domain = domain_of(variable)
        inside = truth(body, {**kinds, variable["name"]: variable["kind"]}, holds=holds)
        join = " -> " if every else " /\\ "
        said = join.join([*domain, inside])
        return f"({'forall' if every else 'exists'} {typed(variable)}, {said})"
    raise UntranslatedError(head)


def typed(variable: Json) -> str:
    """A variable with its type, as it is bound."""
    kind = {"real": "R", "integer": "Z", "vector": "vector"}[variable["kind"]]
    return f"{name_of(variable['name'])} : {kind}"


def ends_of(variable: Json) -> list[Json]:
    """A variable's ends as comparisons."""
    letter, relations = ["sym", variable["name"]], {True: "<", False: "<="}
    low, high = ([] if variable[end] is None else [["num", variable[end]]] for end in ("lower", "upper"))
    return [
        *([relations[variable["lower_open"]], end, letter] for end in low),
        *([relations[variable["upper_open"]], letter, end] for end in high),
    ]


def domain_of(variable: Json) -> list[str]:
    """What is said of a variable's ends."""
    return [truth(f, {variable["name"]: variable["kind"]}) for f in ends_of(variable)]


def boxed(problem: Json, box: Mapping[str, list[str]]) -> Json:
    """The problem of a box alone."""

    def inside(v: Json) -> Json:
        low, high = box[v["name"]]
        opened = {
            f"{end}_open": v[f"{end}_open"] and v[end] == at for end, at in (("lower", low), ("upper", high))
        }
        return {**v, "lower": low, "upper": high, **opened}

    return {**problem, "variables": [inside(v) if v["name"] in box else v for v in problem["variables"]]}


def _bare(text: str) -> str:
    """Without brackets around all of it."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[1:-1] if text[0] == "(" and at == len(text) - 1 else text
    return text


def statement(problem: Json, *, holds: bool = True) -> str:
    """What it means that a problem's claim is proved, or (`holds` false) refuted, without free letters."""
    variables = problem["variables"]
    kinds = {v["name"]: v["kind"] for v in variables}
    said = [condition for v in variables for condition in domain_of(v)]
    said += [truth(f, kinds) for f in problem["assuming"]]
    said.append(truth(problem["claim"], kinds, holds=holds))
    said = [
        fill(each, 116, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
        for each in said
    ]
    binders = [f"({typed(v)})" for v in variables]
    if "vector" in kinds.values():
        binders.insert(0, "(dimension : nat)")
    if not holds:
        return "".join(f"exists {b[1:-1]}, " for b in binders) + "\n  " + " /\\\n  ".join(said)
    return (f"forall {' '.join(binders)},\n  " if binders else "") + " ->\n  ".join(said)
