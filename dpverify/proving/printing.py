"""Expressions for reading: in plain characters, and in LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.core.evalf import PrecisionExhausted
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

Expression = Any  # a SymPy expression; SymPy ships no types


def expression_text(expression: Expression) -> str:
    """An expression in plain characters, for instance `[d^2/dz^2 (z^2/(4*h)) at z = h]`.

    SymPy's own text is for its parser: it writes derivatives and sums as calls.
    """
    e = sp.sympify(expression)
    try:
        text: str = _Plain().doprint(e)
    except PrecisionExhausted:  # SymPy orders terms by evaluating them
        text = _Plain({"order": "none"}).doprint(e)
    return text.replace("**", "^")  # the only use of two stars is for a power


def expression_latex(expression: Expression, names: Mapping[Expression, str]) -> str:
    """An expression in LaTeX; `names` has the LaTeX of its symbols."""
    e, settings = sp.sympify(expression), {"symbol_names": dict(names)}
    try:
        text: str = _Latex(settings).doprint(e)
    except PrecisionExhausted:
        text = _Latex({**settings, "order": "none"}).doprint(e)
    return text


class _Plain(StrPrinter):  # type: ignore[misc]
    """Derivatives, values at a point, sums and integrals in words, each in brackets of its own."""

    def _print_Derivative(self, e: Expression) -> str:  # noqa: N802 (SymPy's name)
        return f"({self._derivative(e)})"

    def _print_Subs(self, e: Expression) -> str:  # noqa: N802
        if not e.expr.has(*e.variables):
            return str(self._print(e.expr))
        body = self._derivative(e.expr) if isinstance(e.expr, sp.Derivative) else self._print(e.expr)
        places = (f"{self._print(v)} = {self._print(p)}" for v, p in zip(e.variables, e.point, strict=True))
        return f"[{body} at {', '.join(places)}]"

    def _print_Sum(self, e: Expression) -> str:  # noqa: N802
        ranges = (
            f"{self._print(index)} = {self._factor(first)}..{self._factor(last)}"
            for index, first, last in e.limits
        )
        return f"(sum over {', '.join(ranges)} of {self._factor(e.function)})"

    def _print_Integral(self, e: Expression) -> str:  # noqa: N802
        ranges = (
            f"{self._print(variable)} from {self._print(low)} to {self._print(high)}"
            for variable, low, high in e.limits
        )
        return f"(integral over {', '.join(ranges)} of {self._factor(e.function)})"

    def _print_Abs(self, e: Expression) -> str:  # noqa: N802
        return f"|{self._print(e.args[0])}|"

    def _print_Max(self, e: Expression) -> str:  # noqa: N802
        return f"max({self.stringify(e.args, ', ')})"

    def _print_Min(self, e: Expression) -> str:  # noqa: N802
        return f"min({self.stringify(e.args, ', ')})"

    def _derivative(self, e: Expression) -> str:
        operators = []
        for variable, order in reversed(e.variable_count):
            power = "" if order == 1 else f"^{self._print(order)}"
            operators.append(f"d{power}/d{self._print(variable)}{power}")
        return f"{' '.join(operators)} ({self._print(e.expr)})"

    def _factor(self, e: Expression) -> str:
        """An expression as it stands in a product: a sum or a difference gets brackets."""
        return str(self.parenthesize(e, PRECEDENCE["Mul"], strict=True))


class _Latex(LatexPrinter):  # type: ignore[misc]
    """SymPy's LaTeX, with brackets around what is differentiated or taken at a point."""

    def _print_Derivative(self, e: Expression) -> str:  # noqa: N802
        operators = []
        for variable, order in reversed(e.variable_count):
            power = "" if order == 1 else f"^{{{self._print(order)}}}"
            operators.append(rf"\frac{{d{power}}}{{d{self._print(variable)}{power}}}")
        return rf"{''.join(operators)}\left({self._print(e.expr)}\right)"

    def _print_Subs(self, e: Expression) -> str:  # noqa: N802
        if not e.expr.has(*e.variables):
            return str(self._print(e.expr))
        body = self._print(e.expr)
        if e.expr.is_Add:
            body = rf"\left({body}\right)"
        places = ",\\ ".join(
            f"{self._print(v)}={self._print(p)}" for v, p in zip(e.variables, e.point, strict=True)
        )
        return rf"\left.{body}\right|_{{{places}}}"
