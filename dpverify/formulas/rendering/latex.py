"""Trees in LaTeX, with brackets exactly where the notation of docs/notation.md needs them.

What is printed here, `dpverify.formulas.notation` reads as the same tree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    Apply,
    At,
    Binder,
    Constant,
    Derivative,
    Expression,
    Number,
    Variable,
    all_variables,
)
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Not, Or, variables_of
from dpverify.formulas.notation.customs import may_name_a_function, spelled
from dpverify.formulas.notation.tokens import normal, takes_a_factor, takes_a_power, texts
from dpverify.formulas.operators import operator

_COMMAND = re.compile(r"\\[A-Za-z]+$")
_LAST, _FIRST = re.compile(r"(?<![\\A-Za-z])([A-Za-z]+)$"), re.compile(r"[A-Za-z]+")
_RELATIONS = {"<=": r"\le", "<": "<", "==": "=", "!=": r"\ne"}
_BIG = {"sum": r"\sum", "product": r"\prod", "integral": r"\int"}


def expression_latex(e: Expression) -> str:
    """An expression in LaTeX; variables by their own letters."""
    return _Printer(all_variables(e)).sum(e, ALONE)


def formula_latex(formula: Formula) -> str:
    """A formula in LaTeX."""
    return _Printer(variables_of(formula)).formula(formula)


def _joined(*parts: str) -> str:
    """Parts side by side; a space where a command would run into a letter."""
    out = ""
    for part in parts:
        tail = out[out.rfind("\\") + 1 :]
        if "\\" in out and tail.isalpha() and tail.isascii() and part[:1].isalpha():
            out += " "
        out += part
    return out


ALONE, TERM, FACTOR = 0, 1, 2
"""What follows: nothing; plus or minus and a term; a factor. A sum without brackets would swallow it."""


class _Printer:
    """Each method takes what follows the text that it makes."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        # where a letter of the formula is e itself, exp is written out
        self.euler = "e" not in {v.latex for v in variables}

    # ------------------------------------------------------------------------------------------ expressions

    def sum(self, e: Expression, followed: int) -> str:
        """As a summand stands first in a sum, or alone."""
        match e:
            case Apply("add" | "sub" as name, (first, *rest)):
                out = self.sum(first, TERM)
                for i, part in enumerate(rest):
                    last = TERM if i + 1 < len(rest) else followed
                    out = _joined(out, "+" if name == "add" else "-", self.product(part, last))
                return out
            case Apply("neg", (Number() as number,)):
                return f"-({self.sum(number, ALONE)})"
            case Apply("neg", (part,)):
                return _joined("-", self.product(part, followed))
            case Number(value) if value < 0:
                return f"-{self.number(-value)}"
            case Constant("-oo"):
                return r"-\infty"
            case _:
                return self.product(e, followed)

    def product(self, e: Expression, followed: int) -> str:
        """As a factor stands first in a product, or alone."""
        match e:
            case Apply("mul", (first, *rest)):
                out, before = self.product(first, FACTOR), first
                for i, part in enumerate(rest):
                    out = self.times(out, before, part, FACTOR if i + 1 < len(rest) else followed)
                    before = part
                return out
            case Binder() if self.fits(e, followed):
                return self.bound(e)
            case _:
                return self.closed(e) if followed == FACTOR else self.factor(e)

    def times(self, out: str, before: Expression, right: Expression, followed: int) -> str:
        if isinstance(right, Binder) and self.fits(right, followed):
            text = self.bound(right)
        else:
            text = self.closed(right) if followed == FACTOR else self.factor(right)
        name = right.operator if isinstance(right, Apply) else ""
        dotted = isinstance(right, Number) or text[0].isdigit() or name == "factorial"
        # a letter before brackets that hold no sum would look like a function
        called = text[0] == "(" and (name not in ("add", "sub") or _names_a_function(before, right))
        # within an integral, d before a letter could be the end of it
        ends = out.endswith("d") and not _COMMAND.search(out)
        dotted = dotted or called or ends or bool(spelled(_run(out, text)))
        return _joined(out, r"\cdot ", text) if dotted else _joined(out, text)

    def closed(self, e: Expression) -> str:
        """As a factor stands before another: a letter that might reach over it, in brackets."""
        open_ended = isinstance(e, Variable) and not takes_a_factor(texts(normal(e.latex)))
        return f"({self.factor(e)})" if open_ended else self.factor(e)

    def factor(self, e: Expression) -> str:
        match e:
            case Apply("pow", (base, exponent)):
                return f"{self.base(base)}^{{{self.sum(exponent, ALONE)}}}"
            case Apply("exp", (exponent,)):
                if self.euler:
                    return f"e^{{{self.sum(exponent, ALONE)}}}"
                return rf"\exp({self.sum(exponent, ALONE)})"
            case Apply("factorial", (part,)):
                text = self.sum(part, ALONE)
                return f"{text}!" if self.single(part) else f"({text})!"
            case Number(value) if value >= 0:
                return self.number(value)
            case Variable() | Constant():
                return self.letter(e)
            case Derivative(body, variable, order):
                power = "" if order == 1 else f"^{{{order}}}"
                letter = variable.latex if order == 1 or self.squarable(variable) else f"({variable.latex})"
                below = _joined(r"\partial ", letter)
                return rf"\frac{{\partial{power}}}{{{below}{power}}}({self.sum(body, ALONE)})"
            case At(body, variable, value):
                point = f"{self.letter(variable)}={self.sum(value, ALONE)}"
                return rf"\left.{self.product(body, FACTOR)}\right|_{{{point}}}"
            case Apply("div", (left, right)):
                return self.fraction(left, right)
            case Apply("add" | "sub" | "neg" | "mul") | Binder() | Number() | Constant("-oo"):
                return f"({self.sum(e, ALONE)})"
            case Apply(name, parts):  # all others enclose what they are applied to
                return operator(name).latex.join(*(self.sum(part, ALONE) for part in parts))
            case _:
                raise InvalidArgumentError("expression", e, "an expression")

    def base(self, e: Expression) -> str:
        """What a superscript can stand at."""
        match e:
            case Number() | Variable() | Constant("pi") if self.single(e):
                return self.factor(e)
            case Apply("abs" | "floor" | "ceiling" | "phi" | "gamma" | "inner" | "norm"):
                return self.factor(e)
            case _:
                return f"({self.sum(e, ALONE)})"

    def single(self, e: Expression) -> bool:
        """Whether it is one letter or numeral."""
        match e:
            case Number(value):
                return value >= 0 and value.denominator == 1
            case Variable():
                return self.squarable(e)
            case _:
                return e == Constant("pi")

    def bound(self, e: Binder) -> str:
        head = rf"{_BIG[e.kind]}"
        if e.kind == "integral":
            ends = f"_{{{self.sum(e.first, ALONE)}}}^{{{self.sum(e.last, ALONE)}}}"
            return rf"{head}{ends}{self.sum(e.body, ALONE)}\,\mathrm{{d}}{self.letter(e.variable)}"
        index = self.letter(e.variable)
        ends = f"_{{{index}={self.sum(e.first, ALONE)}}}^{{{self.sum(e.last, ALONE)}}}"
        if e.kind == "product":
            return f"{head}{ends}{self.factor(e.body)}"
        return f"{head}{ends}{self.product(e.body, ALONE)}"

    def fits(self, e: Binder, followed: int) -> bool:
        """Whether it can do without brackets.

        A term may follow where it is clear what is summed: what is in brackets, and what stands before the d.
        """
        if followed != TERM or e.kind == "integral":
            return followed != FACTOR
        body = e.body
        if isinstance(body, Apply):
            return body.operator in ("add", "sub", "neg")
        return isinstance(body, Number) and body.value < 0

    def fraction(self, left: Expression, right: Expression) -> str:
        above, below = self.sum(left, ALONE), self.sum(right, ALONE)
        match left, right:
            case Number(p), Number(q) if _numeral(p, q):
                above = f"({above})"  # a fraction of numerals would be a number
        return operator("div").latex.join(above, below)

    @staticmethod
    def number(value: Fraction) -> str:
        p, q = value.numerator, value.denominator
        return str(p) if q == 1 else rf"\frac{{{p}}}{{{q}}}"

    @staticmethod
    def letter(e: Expression) -> str:
        return e.latex if isinstance(e, Variable) else r"\pi" if e == Constant("pi") else r"\infty"

    @staticmethod
    def squarable(variable: Variable) -> bool:
        return variable.latex != "e" and takes_a_power(texts(normal(variable.latex)))

    # --------------------------------------------------------------------------------------------- formulas

    def formula(self, formula: Formula) -> str:
        match formula:
            case Compare(relation, left, right):
                return _joined(self.sum(left, ALONE), _RELATIONS[relation], self.sum(right, ALONE))
            case And(parts) if len(parts) > 1:
                return r"\ \text{and}\ ".join(self.chains(parts))
            case Or(parts) if len(parts) > 1:
                return r"\ \text{or}\ ".join(map(self.part, parts))
            case And((part,)) | Or((part,)):
                return self.formula(part)
            case And() | Or():  # of no parts: true, and false
                return "0=0" if isinstance(formula, And) else r"0\ne0"
            case Not(part):
                return rf"\neg({self.formula(part)})"
            case Implies(premise, conclusion):
                before, after = self.formula(premise), self.formula(conclusion)
                if isinstance(premise, Implies | ForAll | Exists):
                    before = f"({before})"
                if isinstance(conclusion, Implies):
                    after = f"({after})"
                return rf"{before}\implies {after}"
            case ForAll(variable, body):
                return rf"\forall {variable.latex}:\ {self.formula(body)}"
            case Exists(variable, body):
                return rf"\exists {variable.latex}:\ {self.formula(body)}"
            case _:
                raise InvalidArgumentError("formula", formula, "formulas with parts")

    def chains(self, parts: tuple[Formula, ...]) -> list[str]:
        """The parts of a conjunction; comparisons that share a side in one chain, which has one `!=` at most."""
        out: list[str] = []
        before: Formula | None = None
        for part in parts:
            match before, part:
                case Compare(_, _, middle), Compare("!=", left, _) if middle == left and r"\ne" in out[-1]:
                    out.append(self.part(part))
                case Compare(_, _, middle), Compare(relation, left, right) if middle == left:
                    out[-1] = _joined(out[-1], _RELATIONS[relation], self.sum(right, ALONE))
                case _:
                    out.append(self.part(part))
            before = part
        return out

    def part(self, formula: Formula) -> str:
        text = self.formula(formula)
        return text if isinstance(formula, Compare | Not) else f"({text})"


def _names_a_function(e: Expression, inside: Expression) -> bool:
    """Whether a product ends with a letter behind which brackets look like its argument."""
    while isinstance(e, Apply) and e.operator == "mul":
        e = e.arguments[-1]
    alone = True
    if isinstance(e, Apply) and e.operator == "pow":
        e, alone = e.arguments[0], False
    if isinstance(e, Variable):
        factor = e.kind == "integer" or e in all_variables(inside)
        return not factor and may_name_a_function(texts(normal(e.latex)), alone=alone)
    return e == Constant("pi")


def _run(out: str, text: str) -> str:
    """The letters that two parts make side by side."""
    before, after = _LAST.search(out), _FIRST.match(text)
    return before[1] + after[0] if before and after else ""


def _numeral(p: Fraction, q: Fraction) -> bool:
    """Whether a fraction of these, written out, is a number in lowest terms."""
    whole = p.denominator == q.denominator == 1
    return whole and p >= 0 and q > 1 and math.gcd(int(p), int(q)) == 1
