"""The checker's questions to cvc5: whether formulas of polynomials contradict one another.

They are answered in a process of its own, which is ended and replaced if nothing else ends its work.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from pathlib import Path

from dpverify.proving.checker.terms import demand

GUARD = 60.0  # CPU seconds for one question; counted work of rows takes less than one
LONGEST = 520  # numbers and letters in a question up to which coverings are tried; rows have below 500
STEEPEST = 60  # steepness of a polynomial up to which they are; rows have up to 40
WITHOUT = 200_000  # work that is tried without them
WRITTEN = {"==": "=", "!=": "distinct", "implies": "=>", "same": "="}  # what SMT-LIB calls otherwise
ANSWERS = Path(__file__).with_name("answers.py")  # what that process runs; here nobody needs cvc5 itself
OPEN = dict[int, "subprocess.Popen[str]"]()  # the process that answers, by the process that asks

Monomial = tuple[tuple[str, int], ...]  # letters with their powers
Polynomial = dict[Monomial, Fraction]


class OvertimeError(Exception):
    """The guard ended a question: nothing is known of what was asked, not even that it is too hard."""


@dataclass(frozen=True)
class Largest:
    """What a letter stands for: the larger one of two polynomials."""

    first: Polynomial
    second: Polynomial


Cases = Mapping[str, Largest]


@dataclass(frozen=True)
class Formula:
    """0 compared with a polynomial without negative powers, formulas together, or one for all values of a letter."""

    head: str
    parts: tuple[Formula, ...] = ()
    polynomial: Polynomial = field(default_factory=dict)
    letter: str = ""

    def polynomials(self) -> Iterator[Polynomial]:
        """All of them."""
        yield self.polynomial
        for part in self.parts:
            yield from part.polynomials()

    def written(self, cases: Cases) -> str:
        """The formula in SMT-LIB."""
        inner = " ".join(part.written(cases) for part in self.parts)
        if self.letter:
            return f"(forall ((|{self.letter}.| Real)) {inner})"
        if self.head in ("and", "or") and len(self.parts) < 2:
            return inner or {"and": "true", "or": "false"}[self.head]
        return f"({WRITTEN.get(self.head, self.head)} {inner or f'0.0 {written(self.polynomial, cases)}'})"


def opposite(formula: Formula) -> Formula:
    """What is true where a formula is false."""
    return Formula("not", (formula,))


def written(polynomial: Polynomial, cases: Cases) -> str:
    """A polynomial in SMT-LIB."""
    terms = []
    for monomial, value in polynomial.items():
        size = f"(/ {abs(value.numerator)}.0 {value.denominator}.0)"
        factors = [named(letter, cases) for letter, power in monomial for _ in range(power)]
        terms.append(f"(* {size if value > 0 else f'(- {size})'} 1.0 {' '.join(factors)})")
    return f"(+ 0.0 0.0 {' '.join(terms)})"


def named(letter: str, cases: Cases) -> str:
    """A letter in SMT-LIB, with a mark, since names without are its own."""
    if letter not in cases:
        return f"|{letter}.|"
    sides = [written(side, cases) for side in (cases[letter].first, cases[letter].second)]
    return f"(let ((first {sides[0]}) (second {sides[1]})) (ite (>= first second) first second))"


@dataclass(frozen=True)
class Reply:
    """Whether formulas contradict one another, and the work that this took by cvc5's count."""

    contradiction: bool
    work: int


def steepness(polynomial: Polynomial) -> int:
    """The product of a polynomial's three highest powers, since degrees multiply as letters are eliminated.

    What is left of two terms is a monomial.
    """
    powers = dict[str, int]()
    for letter, power in (factor for monomial in polynomial for factor in monomial):
        powers[letter] = max(power, powers.get(letter, 0))
    return prod(sorted(powers.values())[-3:]) if len(polynomial) > 2 else 1


def within_reach(formulas: Collection[Formula], cases: Cases) -> bool:
    """Whether cylindrical algebraic coverings, of which cvc5 does not count all work, may be tried."""
    known = [polynomial for formula in formulas for polynomial in formula.polynomials()]
    known += [polynomial for case in cases.values() for polynomial in (case.first, case.second)]
    length = sum(1 + sum(power for _, power in monomial) for polynomial in known for monomial in polynomial)
    return length <= LONGEST and max(map(steepness, known), default=0) <= STEEPEST


def contradict(
    formulas: Collection[Formula], work: int, cases: Cases, letters: Collection[str], **options: str
) -> Reply:
    """Whether cvc5 finds that formulas cannot all be true; letters in `cases` are the larger one of two polynomials."""
    if within_reach(formulas, cases):
        options = {"nl_cov": "true", "rlimit": str(work), **options}
    else:
        options = {"nl_cov": "false", "rlimit": str(min(work, WITHOUT))}
    options = {name.replace("_", "-"): value for name, value in options.items()}
    demand("|" not in "".join(letters), "a letter that would end its own name")
    question = [f"(declare-const |{letter}.| Real)" for letter in letters if letter not in cases]
    question += [f"(assert {formula.written(cases)})" for formula in formulas]
    found = ask({"guard": GUARD, "question": "".join(question), "options": options})
    if found is None:
        raise OvertimeError("stopped by the clock, which on a faster machine might not have happened")
    if "error" in found:
        raise RuntimeError(found["error"])
    return Reply(found["contradiction"] is True, int(str(found["work"])))


def ask(asked: dict[str, object]) -> dict[str, object] | None:
    """What the other process answers; None if it ended instead."""
    me = os.getpid()  # a fork starts a process of its own
    if me not in OPEN:
        OPEN[me] = subprocess.Popen(
            [sys.executable, "-P", ANSWERS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
    process, line = OPEN[me], ""
    try:
        print(json.dumps(asked), file=process.stdin, flush=True)
        line = process.stdout.readline() if process.stdout else ""
        return json.loads(line) if line else None
    except OSError:
        return None
    finally:
        if not line:
            end()


@atexit.register
def end() -> None:
    """End the process that answers."""
    process = OPEN.pop(os.getpid(), None)
    if process is not None:
        process.kill()
        process.communicate()
