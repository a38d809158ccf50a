"""Random formulas in random legal styles: the same tree, printed as authors print, each in a different way.

A style is only a style where docs/notation.md says that it makes no difference: spacing, sizes of brackets, braces that
nobody sees, the order of scripts, `\\leq` for `\\le`, dots in products, fractions with a slash, the forms of ranges,
conditions before or behind.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

from dpverify.formulas.calculus import map_sides, substituted
from dpverify.formulas.expressions import (
    INFINITY,
    PI,
    Apply,
    At,
    Binder,
    Constant,
    Derivative,
    Expression,
    Number,
    Variable,
    integer,
    real,
)
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula, Implies, Not, Or
from dpverify.formulas.vectors import vector

# each with other ways to print it
SPELLINGS: dict[str, tuple[str, ...]] = {
    "x": ("x", "{x}"), "y": ("y",), "u": ("u",), "m": ("m",),
    "eta": (r"\eta", r"{\eta}"), "sigma": (r"\sigma",),
    "z_t": ("z_{t}", "z_t"), "primed": ("x_0'", "x'_0", "x_{0}'", r"x_0^{\prime}", r"x^\prime_0"),
    "starred": (r"\hat\theta^*", r"\hat{\theta}^{*}", r"\hat{\theta}^*"),
    "distance": (r"\|x_0-x_0'\|", r"\left\|x_0-x'_0\right\|", r"\lVert x_{0}-x_0'\rVert"),
    "level": (r"\ln(1/\delta)", r"\ln\left(1/\delta\right)", r"\ln\,(1/\delta)"),
    "divergence": (r"\mathrm{D}_\alpha(X_T\|X'_T)", r"\mathrm{D}_{\alpha}\left(X_{T}\|X'_{T}\right)"),
    "moment": (r"\mathbb{E}\|b_t\|_2^2", r"\mathbb{E}\|b_t\|^2_2", r"\mathbb E\left\|b_{t}\right\|_{2}^{2}"),
    "i": ("i",), "j": ("j",), "n": ("n",), "k_1": ("k_1", "k_{1}"),
    "v": ("v",), "w": ("w_t", "w_{t}"),
}  # fmt: skip
REALS = tuple(
    real(name, latex=SPELLINGS[name][0], **domain)
    for name, domain in (
        ("x", {}), ("y", {"gt": 0}), ("u", {"ge": 0, "le": 1}), ("m", {"ge": 1}), ("eta", {"gt": 0}), ("sigma", {}),
        ("z_t", {}), ("primed", {"lt": 0}), ("starred", {}), ("distance", {"ge": 0}), ("level", {"gt": 0}),
        ("divergence", {}), ("moment", {"ge": 0}),
    )
)  # fmt: skip
INTEGERS = (
    integer("i", ge=1), integer("j"), integer("n", ge=1), integer("k_1", ge=0, latex="k_1"),
)  # fmt: skip
VECTORS = (vector("v"), vector("w", latex="w_t"))
LETTERS = (*REALS, *INTEGERS, *VECTORS)
_RELATIONS = {
    "<=": ((r"\le", r"\leq", r"\leqslant"), (r"\ge", r"\geq", r"\geqslant")), "<": (("<", r"\lt "), (">", r"\gt ")),
    "==": (("=",), ("=",)), "!=": ((r"\ne", r"\neq"), (r"\ne", r"\neq")),
}  # fmt: skip
_ONE = ("neg", "exp", "log", "phi", "phi_inverse", "erfc", "gamma", "factorial", "abs", "floor", "ceiling")
_TWO = ("add", "sub", "mul", "div", "pow", "root", "log_base", "binomial", "max", "min")
_HEADS = {
    "phi": (r"\Phi",), "phi_inverse": (r"\Phi^{-1}",), "erfc": (r"\operatorname{erfc}", r"\text{erfc}"),
    "gamma": (r"\Gamma",), "max": (r"\max", r"\operatorname{max}"), "min": (r"\min",),
}  # fmt: skip


@dataclass(frozen=True)
class Called:
    """A definition as a page has it, and what is written with it: `f(2y)` for the body at 2y."""

    latex: str
    body: str
    parameter: Variable | None
    placeholder: Variable
    value: Expression


def random_expression(rng: random.Random, depth: int, more: tuple[Variable, ...] = ()) -> Expression:
    """A tree of at most this many levels, over the letters and placeholders given."""
    if depth <= 1 or rng.random() < 0.12:
        kind = rng.random()
        if more and kind < 0.25:
            return rng.choice(more)
        if kind < 0.65:
            return rng.choice((*REALS, *REALS, *INTEGERS))
        if kind < 0.95:
            return Number(Fraction(rng.randint(-12, 12), rng.choice((1, 1, 1, 2, 4, 7))))
        return PI

    def part() -> Expression:
        return random_expression(rng, depth - 1, more)

    kind = rng.random()
    if kind < 0.64:
        operator = rng.choice(_TWO[:5] if rng.random() < 0.7 else _TWO)
        return Apply(operator, (part(), part()))
    if kind < 0.8:
        return Apply(rng.choice(_ONE), (part(),))
    if kind < 0.85:
        if rng.random() < 0.5:
            return Apply("norm", (random_vector(rng, 2),))
        return Apply("inner", (random_vector(rng, 2), random_vector(rng, 1)))
    if kind < 0.93:
        which = rng.choice(("sum", "product", "integral"))
        if which == "integral":
            low = Constant("-oo") if rng.random() < 0.3 else random_expression(rng, 2)
            high = INFINITY if rng.random() < 0.3 else random_expression(rng, 2)
            return Binder("integral", part(), rng.choice(REALS[:6]), low, high)
        index = rng.choice(INTEGERS)
        least = index.lower is not None and rng.random() < 0.4
        first: Expression = (
            Number(index.lower) if least and index.lower is not None else random_expression(rng, 2)
        )
        return Binder("sum" if which == "sum" else "product", part(), index, first, random_expression(rng, 2))
    if kind < 0.97:
        return Derivative(part(), rng.choice(REALS), rng.randint(1, 3))
    return At(part(), rng.choice((*REALS, *INTEGERS)), random_expression(rng, 2))


def random_vector(rng: random.Random, depth: int) -> Expression:
    """A vector expression."""
    if depth <= 0 or rng.random() < 0.2:
        return rng.choice(VECTORS)
    inner = random_vector(rng, depth - 1)
    match rng.randrange(4):
        case 0:
            return Apply(rng.choice(("add", "sub")), (inner, random_vector(rng, depth - 1)))
        case 1:
            return Apply("mul", (rng.choice((*REALS[:6], Number(Fraction(2)))), inner))
        case 2:
            return Apply("div", (inner, rng.choice((INTEGERS[2], REALS[3]))))
        case _:
            return Apply("neg", (inner,))


def random_formula(rng: random.Random, depth: int, more: tuple[Variable, ...] = ()) -> Formula:
    """A formula of at most this many levels of words, of small expressions."""
    if depth <= 1:
        if rng.random() < 0.05:
            left, right = random_vector(rng, 2), random_vector(rng, 1)
            apart = Apply("norm", (Apply("sub", (left, right)),))
            return Compare("==", Apply("pow", (apart, Number(Fraction(2)))), Number(Fraction(0)))
        sides = (
            random_expression(rng, rng.randint(1, 4), more),
            random_expression(rng, rng.randint(1, 4), more),
        )
        return Compare(rng.choice(("<=", "<=", "<", "==", "!=")), *sides)
    part = random_formula(rng, depth - 1, more)
    match rng.randrange(7):
        case 0 | 1:
            count = rng.randint(1, 2)
            return And((part, *(random_formula(rng, rng.randint(1, depth - 1), more) for _ in range(count))))
        case 2:
            return Or((part, random_formula(rng, rng.randint(1, depth - 1), more)))
        case 3:
            return Not(part)
        case 4:
            return Implies(part, random_formula(rng, depth - 1, more))
        case 5:
            other = random_formula(rng, 1, more)
            return And((Implies(part, other), Implies(other, part)))
        case _:
            return rng.choice((ForAll, Exists))(rng.choice((*REALS, *INTEGERS)), part)


ALONE, TERM, FACTOR = range(3)
"""What follows what is printed: nothing that could be part of it, a plus or minus, a factor or a slash."""


class Style:
    """Prints trees; each choice is made anew."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def one(self, *options: str) -> str:
        """One of several ways."""
        return self.rng.choice(options)

    def chance(self, of: float) -> bool:
        """True now and then."""
        return self.rng.random() < of

    def joined(self, *parts: str) -> str:
        """Parts side by side, with narrow spaces now and then."""
        out = ""
        for part in parts:
            tail = out[out.rfind("\\") + 1 :]
            command = "\\" in out and tail.isalpha() and tail.isascii()
            space = self.one("", "", "", "", " ", r"\,", r"\:", "  ")
            if command and part[:1].isalpha() and not space:
                space = " "
            if out[-1:].isdigit() and part[:1].isdigit():
                space = ""
            out += space + part
        return out

    def braced(self, text: str) -> str:
        """In braces that nobody sees."""
        return f"{{{text}}}" if self.chance(0.1) else text

    def brackets(self, inside: str) -> str:
        """Round brackets of any size."""
        left, right = self.rng.choice(
            (("(", ")"), ("(", ")"), (r"\left(", r"\right)"), (r"\bigl(", r"\bigr)"))
        )
        return f"{left}{inside}{right}"

    # ------------------------------------------------------------------------------------------ expressions

    def sum(self, e: Expression, follows: int = ALONE) -> str:
        """As the first of a sum, or alone."""
        match e:
            case Apply("add" | "sub" as name, (first, last)):
                sign = "+" if name == "add" else "-"
                return self.joined(self.sum(first, TERM), sign, self.term(last, follows))
            case Apply("neg", (Number() as value,)):
                return self.joined("-", self.brackets(self.sum(value)))
            case Apply("neg", (inner,)):
                return self.joined("-", self.term(inner, follows))
            case Number(value) if value < 0:
                return self.joined("-", self.number(-value, follows))
            case Constant("-oo"):
                return r"-\infty"
        plus = "+" if self.chance(0.02) else ""
        return plus + self.term(e, follows)

    def term(self, e: Expression, follows: int) -> str:
        """As a factor stands first in a product, or alone in a term."""
        match e:
            case Apply("mul", (left, right)):
                return self.times(self.term(left, FACTOR), right, follows)
            case Apply("div", (over, under)) if (
                follows != FACTOR and self.chance(0.35) and not _numerals(over, under)
            ):
                below = (
                    self.brackets(self.sum(under)) if isinstance(under, Derivative) else self.factor(under)
                )
                return self.joined(self.term(over, FACTOR), "/", below)
            case Binder() if self.fits(e, follows):
                return self.bound(e)
            case At(body, variable, value) if follows != FACTOR and self.chance(0.3):
                return f"({self.sum(body)})|_{{{self.letter(variable)}={self.sum(value)}}}"
            case Apply("log" | "exp" as name, (inner,)) if follows != FACTOR and self.chance(0.4):
                bare = self.bare(inner)
                if bare:
                    return self.joined(self.one(*_BARE[name]), bare)
        return self.factor(e, follows)

    def bare(self, e: Expression) -> str:
        """An argument without brackets; nothing where it needs them."""
        match e:
            case Variable() if not _long(e) or self.chance(0.3):
                return self.letter(e)
            case Apply("div", (over, under)) if not _numerals(over, under):
                return self.fraction(over, under)
            case Apply("root", (inner, order)):
                return self.root(inner, order)
            case Apply("log", (inner,)) if self.chance(0.5):
                text = self.bare(inner)
                return self.joined(self.one(*_BARE["log"]), text) if text else ""
            case Number(value) if value >= 0:
                return self.number(value, ALONE)
            case Apply("pow", (Variable() as base, power)) if not _long(base):
                return self.power(self.letter(base), power)
        return ""

    def times(self, left: str, right: Expression, follows: int) -> str:
        if isinstance(right, Binder) and self.fits(right, follows):
            text = self.bound(right)
        elif isinstance(right, Apply) and right.operator == "log" and follows != FACTOR and self.chance(0.3):
            text = self.term(right, follows)
        else:
            text = self.factor(right, follows)
        name = right.operator if isinstance(right, Apply) else ""
        first = text.lstrip("{ ")[:1]
        plain = not isinstance(right, Number) and not first.isdigit() and name != "factorial"
        opening = text.lstrip("{ ").startswith(("(", r"\left(", r"\bigl("))
        if plain and not opening and not left.endswith("d") and self.chance(0.7):
            return self.joined(left, text)
        if plain and opening and name in ("add", "sub") and left.endswith((")", "}")) and self.chance(0.5):
            return self.joined(left, text)
        return self.joined(left, self.one(r"\cdot ", r"\cdot ", r"\times ", "*"), text)

    def factor(self, e: Expression, follows: int = ALONE) -> str:
        match e:
            case Apply("pow", (Apply("log", (inner,)), Number(value))) if (
                value > 1 and value.denominator == 1
            ):
                if self.chance(0.5):
                    head = self.power(self.one(r"\log", r"\ln", r"\operatorname{log}"), Number(value))
                    return head + self.brackets(self.sum(inner))
            case Apply("pow", (Apply("phi" | "gamma" | "abs" | "norm" | "floor" | "inner") as inner, power)):
                return self.power(self.factor(inner), power)
        match e:
            case Apply("pow", (base, power)):
                plain = (isinstance(base, Variable) and not _long(base)) or (
                    isinstance(base, Number) and base.value >= 0 and base.value.denominator == 1
                )
                shown = self.factor(base) if plain else self.brackets(self.sum(base))
                return self.power(shown, power)
            case Apply("exp", (inner,)):
                if self.chance(0.5):
                    return self.power(self.one("e", "e", r"\mathrm{e}"), inner)
                return self.joined(self.one(r"\exp", r"\operatorname{exp}"), self.brackets(self.sum(inner)))
            case Apply("log", (inner,)):
                return self.joined(self.one(*_BARE["log"]), self.brackets(self.sum(inner)))
            case Apply("log_base", (inner, base)):
                return self.joined(rf"\log_{{{self.sum(base)}}}", self.brackets(self.sum(inner)))
            case Apply("factorial", (inner,)):
                plain = isinstance(inner, Variable) and not _long(inner)
                return (self.letter(inner) if plain else self.brackets(self.sum(inner))) + "!"
            case Number(value) if value >= 0:
                return self.number(value, FACTOR)
            case Variable():
                # a long letter that ends like a factor, such as E|b|^2, reaches over what follows
                return self.brackets(self.letter(e)) if _long(e) and follows == FACTOR else self.letter(e)
            case Constant():
                return r"\pi" if e == PI else r"\infty"
            case Apply("div", (over, under)):
                return self.braced(self.fraction(over, under))
            case Apply("root", (inner, order)):
                return self.root(inner, order)
            case Apply("binomial", (n, k)):
                return self.one(r"\binom", r"\dbinom") + f"{{{self.sum(n)}}}{{{self.sum(k)}}}"
            case Apply("abs", (inner,)):
                return self.bars(self.sum(inner), vector=False)
            case Apply("norm", (inner,)):
                return self.bars(self.sum(inner), vector=True)
            case Apply("inner", (one, other)):
                inside = f"{self.sum(one)},{self.sum(other)}"
                return self.one(rf"\langle {inside}\rangle", rf"\left\langle {inside}\right\rangle")
            case Apply("floor" | "ceiling" as name, (inner,)):
                mark = "floor" if name == "floor" else "ceil"
                size = self.rng.choice((("", ""), (r"\left", r"\right"), (r"\bigl", r"\bigr")))
                return rf"{size[0]}\l{mark} {self.sum(inner)}{size[1]}\r{mark} "
            case Apply("phi" | "phi_inverse" | "erfc" | "gamma" as name, (inner,)):
                return self.joined(self.one(*_HEADS[name]), self.brackets(self.sum(inner)))
            case Apply("max" | "min" as name, parts):
                inside = ",".join(map(self.sum, parts))
                both = self.rng.choice((("(", ")"), (r"\{", r"\}"), (r"\left\{", r"\right\}"), ("[", "]")))
                return self.one(*_HEADS[name]) + both[0] + inside + both[1]
            case Derivative(body, variable, order):
                return self.derivative(body, variable, order)
            case At(body, variable, value):
                point = f"{self.letter(variable)}={self.sum(value)}"
                return rf"\left.{self.term(body, FACTOR)}\right|_{{{point}}}"
        return self.brackets(self.sum(e))

    def power(self, base: str, power: Expression) -> str:
        text = self.sum(power)
        return f"{base}^{text}" if len(text) == 1 and self.chance(0.7) else f"{base}^{{{text}}}"

    def number(self, value: Fraction, follows: int) -> str:
        p, q = value.numerator, value.denominator
        if q == 1:
            return str(p)
        if q in (2, 4) and self.chance(0.3):
            return str(float(value))
        if follows != FACTOR and self.chance(0.3):
            return f"{p}/{q}"
        if p < 10 and q < 10 and self.chance(0.2):
            return rf"\frac{p}{q}"
        return self.one(r"\frac", r"\tfrac", r"\dfrac") + f"{{{p}}}{{{q}}}"

    def letter(self, e: Expression) -> str:
        assert isinstance(e, Variable)
        return self.one(*SPELLINGS.get(e.name, (e.latex,)))

    def fraction(self, over: Expression, under: Expression) -> str:
        above, below = self.sum(over), self.sum(under)
        if _numerals(over, under):
            above = self.brackets(above)
        return self.one(r"\frac", r"\dfrac", r"\tfrac") + f"{{{above}}}{{{below}}}"

    def root(self, inner: Expression, order: Expression) -> str:
        two = order == Number(Fraction(2)) and self.chance(0.8)
        return rf"\sqrt{{{self.sum(inner)}}}" if two else rf"\sqrt[{self.sum(order)}]{{{self.sum(inner)}}}"

    def bars(self, inside: str, *, vector: bool) -> str:
        ways = [(r"\left\|", r"\right\|"), (r"\lVert ", r"\rVert ")]
        if not vector:
            ways += [(r"\left|", r"\right|"), (r"\lvert ", r"\rvert "), (r"\bigl|", r"\bigr|")]
        if not ("|" in inside or r"\rVert" in inside or r"\rvert" in inside):
            ways += [(r"\|", r"\|")] if vector else [("|", "|")]
        left, right = self.rng.choice(ways)
        index = "_2" if vector and self.chance(0.3) else ""
        return f"{left}{inside}{right}{index}"

    def derivative(self, body: Expression, variable: Variable, order: int) -> str:
        d = self.one("d", r"\partial ", r"\mathrm{d}")
        power = "" if order == 1 else f"^{order}" if self.chance(0.5) else f"^{{{order}}}"
        letter = self.letter(variable)
        if power and (_long(variable) or (letter.endswith("}") and letter.startswith("{"))):
            letter = f"({letter})"
        return rf"\frac{{{d}{power}}}{{{d}{letter}{power}}}{self.brackets(self.sum(body))}"

    def fits(self, e: Binder, follows: int) -> bool:
        """Whether it needs no brackets around it."""
        if e.kind == "integral":
            return follows != FACTOR
        if follows != TERM:
            return follows == ALONE
        body = e.body
        return isinstance(body, Apply) and body.operator in ("add", "sub", "neg")

    def bound(self, e: Binder) -> str:
        letter = self.letter(e.variable)
        if e.kind == "integral":
            ends = [f"_{{{self.sum(e.first)}}}", f"^{{{self.sum(e.last)}}}"]
            self.rng.shuffle(ends)
            d = self.one(r"\,d", "d", r"\,\mathrm{d}", r"\mathrm d ", r"\;d")
            head = self.one(r"\int", r"\int\limits")
            body = self.sum(e.body)
            gap = " " if not body.endswith((" ", "}", ")")) else ""
            return f"{head}{''.join(ends)}{body}{gap}{d}{letter}"
        head = r"\sum" if e.kind == "sum" else r"\prod"
        head += self.one("", "", r"\limits")
        ways = ["both", "both", "chain"]
        if e.variable.lower is not None and e.first == Number(e.variable.lower):
            ways.append("last")
        match self.one(*ways):
            case "both":
                parts = [f"_{{{letter}={self.sum(e.first)}}}", f"^{{{self.sum(e.last)}}}"]
                self.rng.shuffle(parts)
                ends = "".join(parts)
            case "chain":
                low, high = self.one(r"\le ", r"\leq "), self.one(r"\le ", r"\leq ")
                ends = f"_{{{self.sum(e.first)}{low}{letter}{high}{self.sum(e.last)}}}"
            case _:
                ends = rf"_{{{letter}\le {self.sum(e.last)}}}"
        if e.kind == "product":
            return f"{head}{ends}{self.factor(e.body)}"
        body = e.body
        if isinstance(body, Apply) and body.operator in ("add", "sub", "neg"):
            return f"{head}{ends}{self.brackets(self.sum(body))}"
        return f"{head}{ends}{self.term(body, ALONE)}"

    # --------------------------------------------------------------------------------------------- formulas

    def related(self, relation: str, left: str, right: str) -> str:
        forward, backward = _RELATIONS[relation]
        space = self.one("", " ", r"\;", r"\quad ")
        if relation != "==" and self.chance(0.3):
            left, right = right, left
            if relation == "!=":
                left, right = right, left
            return self.joined(left, space + self.one(*backward) + " ", right)
        return self.joined(left, space + self.one(*forward) + " ", right)

    def formula(self, formula: Formula) -> str:
        match formula:
            case Compare(
                "==", Apply("pow", (Apply("norm", (Apply("sub", (left, right)),)), _)), Number(value)
            ) if value == 0 and self.chance(0.5):
                return self.joined(self.sum(left), "=", self.sum(right))
            case Compare(relation, left, right):
                return self.related(relation, self.sum(left), self.sum(right))
            case And((Implies(a, b), Implies(c, d))) if (a, b) == (d, c) and self.chance(0.7):
                iff = self.one(r"\iff ", r"\Leftrightarrow ", r"\text{ if and only if }")
                return f"{self.part(a)}{iff}{self.part(b)}"
            case And((Compare("<=" | "<" as low, a, b), Compare("<=" | "<" as high, c, d))) if (
                b == c and self.chance(0.8)
            ):
                if self.chance(0.4):
                    left, right = "[" if low == "<=" else "(", "]" if high == "<=" else ")"
                    return rf"{self.sum(b)}\in {left}{self.sum(a)},{self.sum(d)}{right}"
                signs = [self.one(*_RELATIONS[r][0]) + " " for r in (low, high)]
                return self.joined(self.sum(a), signs[0], self.sum(b), signs[1], self.sum(d))
            case And(parts):
                word = self.one(r"\text{ and }", r",\ \text{and }", r"\land ", ", ", r",\quad ", r"\wedge ")
                return word.join(map(self.part, parts))
            case Or(parts):
                return self.one(r"\text{ or }", r"\lor ", r"\quad\text{or}\quad ").join(map(self.part, parts))
            case Not(inner):
                return rf"\neg{self.brackets(self.formula(inner))}"
            case Implies(premise, conclusion):
                word = self.one(
                    r"\implies ", r"\Rightarrow ", r"\text{ implies }", r"\quad\Longrightarrow\quad "
                )
                return f"{self.part(premise)}{word}{self.part(conclusion)}"
            case ForAll(variable, body):
                return rf"\forall {self.letter(variable)}:\ {self.part(body)}"
            case Exists(variable, body):
                there = self.one(
                    rf"\exists {self.letter(variable)}:", rf"\exists\,{self.letter(variable)}\colon "
                )
                words = rf"\text{{there is }}{self.letter(variable)}\text{{ such that }}"
                return f"{self.one(there, words)} {self.part(body)}"

    def part(self, formula: Formula) -> str:
        text = self.formula(formula)
        return text if isinstance(formula, Compare | Not) else self.brackets(text)

    def display(self, formula: Formula) -> tuple[str, tuple[Formula, ...], Formula]:
        """A formula as a display, its conditions as a premise, before or behind; what is assumed, and the claim."""
        stop = self.one("", "", ".", ",", r"\,.")
        if not isinstance(formula, Implies):
            return self.formula(formula) + stop, (), formula
        premise, claim = formula.premise, formula.conclusion
        parts = premise.parts if isinstance(premise, And) else (premise,)
        if self.chance(0.4):
            return self.formula(formula) + stop, parts, claim
        parts = parts if len(parts) > 1 else (premise,)
        shown = self.one(", ", r"\text{ and }").join(map(self.part, parts))
        said = self.part(claim)
        assumed = tuple(f for part in parts for f in (part.parts if isinstance(part, And) else (part,)))
        if isinstance(claim, Implies):
            more = claim.premise.parts if isinstance(claim.premise, And) else (claim.premise,)
            assumed, claim = (*assumed, *more), claim.conclusion
        behind = self.one(r"\text{ for all }", r"\text{ for }", r"\text{ if }", r"\quad\text{for every }")
        if self.chance(0.5):
            return f"{said}{behind}{shown}{stop}", assumed, claim
        return rf"\text{{for all }}{shown}:\ {said}{stop}", assumed, claim


_BARE = {
    "log": (r"\ln", r"\log", r"\operatorname{ln}", r"\operatorname{log}"), "exp": (r"\exp", r"\operatorname{exp}"),
}  # fmt: skip


def _long(v: Expression) -> bool:
    """Whether a letter is more than one sign with scripts, so that what stands behind it could be part of it."""
    return isinstance(v, Variable) and v.name in ("level", "divergence", "moment", "distance", "starred")


def _numerals(over: Expression, under: Expression) -> bool:
    """Whether a fraction of the two, written out, would be a number."""
    whole = all(isinstance(part, Number) and part.value.denominator == 1 for part in (over, under))
    return whole and isinstance(over, Number) and over.value >= 0


def with_values(formula: Formula, called: tuple[Called, ...]) -> Formula:
    """The formula with what each placeholder stands for."""
    values: dict[Variable, Expression] = {c.placeholder: c.value for c in called}
    return map_sides(formula, lambda side: substituted(side, values))


def random_definitions(rng: random.Random) -> tuple[Called, ...]:
    """A quantity, one with an index and one with an argument, and what is written with them."""
    style, found = Style(rng), list[Called]()
    plain = random_expression(rng, 2)
    found.append(Called(r"\varepsilon", style.sum(plain), None, _place(0, r"\varepsilon"), plain))
    n = INTEGERS[2]
    body, index = random_expression(rng, 2), random_expression(rng, 2)
    shown = style.sum(index)
    place = _place(1, f"b_{{{shown}}}")
    found.append(Called("b_n", style.sum(body), n, place, substituted(body, {n: index})))
    y = REALS[1]
    body, argument = random_expression(rng, 2), random_expression(rng, 2)
    primes = rng.choice(("", "", "'", "''"))
    derived = Derivative(body, y, len(primes)) if primes else body
    at = argument != y and _depends(body, y, primes)
    value = substituted(derived, {y: argument}) if at else derived
    place = _place(2, f"g{primes}({style.sum(argument)})")
    found.append(Called("g(y)", style.sum(body), y, place, value))
    return tuple(found)


def _depends(body: Expression, letter: Variable, primes: str) -> bool:
    from dpverify.formulas.expressions import free_variables

    return bool(primes) or letter in free_variables(body)


def _place(k: int, latex: str) -> Variable:
    return real(f"@{k}", latex=latex)


# ----------------------------------------------------------------------------------------------------- orders


@dataclass(frozen=True)
class Ordered:
    """A display with orders, and the options of its row."""

    latex: str
    options: dict[str, str]


def random_order(rng: random.Random) -> Ordered:
    """A formula with O( ) and the like, many of which say something clear."""
    style = Style(rng)
    kind = rng.choice(("O", "O", "O", "Omega", "Theta"))
    soft = rng.random() < 0.2
    depends = rng.choice(("", "", "", "_n", "_{n}", "_{n,y}"))

    def number(depth: int) -> str:
        return style.factor(random_expression(rng, depth))

    def order() -> str:
        heads = {"O": ("O", r"\mathcal{O}"), "Omega": (r"\Omega",), "Theta": (r"\Theta",)}[kind]
        head = style.one(*heads)
        tilde = style.one(r"\tilde", r"\widetilde")
        head = f"{tilde}{{{head}}}" if soft and rng.random() < 0.8 else head
        return head + depends + style.brackets(style.sum(random_expression(rng, rng.randint(1, 3))))

    def side(depth: int) -> str:
        if depth <= 0:
            return order()
        inner = side(depth - 1)
        return style.one(
            inner, inner, f"{inner}+{number(2)}", f"{number(2)}-{inner}", f"{number(1)}+{inner}",
            rf"{number(1)}\cdot {inner}", rf"y\cdot({inner})", rf"\frac{{{inner}}}{{m}}", rf"\frac{{u}}{{{inner}}}",
            rf"\sqrt{{{inner}}}", f"2^{{{inner}}}", rf"\max\{{{number(1)},{inner}\}}", rf"\exp({inner})",
            f"({inner})^2", f"({inner})^{{-1}}", rf"\log({inner})", f"-{inner}", f"{inner}-{number(1)}",
            f"{inner}+{order()}", rf"\sum_{{i=1}}^n({inner})", rf"x\cdot {inner}", f"u^{{{inner}}}",
            rf"\left\lfloor {inner}\right\rfloor",
        )  # fmt: skip

    upper = {"O": "<=", "Omega": ">=", "Theta": "<="}[kind]
    relation = rng.choice(("=", "=", "=", r"\le " if upper == "<=" else r"\ge ", r"\leq ", r"\ge ", "<", ">"))
    left = style.sum(random_expression(rng, rng.randint(1, 3)))
    left = order() if rng.random() < 0.05 else left
    right = side(rng.choice((0, 0, 1, 1, 2)))
    claim = f"{left}{relation}{right}" if rng.random() < 0.8 else f"{right}{relation}{left}"
    options: dict[str, str] = {}
    if soft:
        options["soft"] = style.one(r"\log n", r"\log(n)\eta", "m")
    far = style.one(
        r"n\text{ large enough}", r"\eta\text{ sufficiently small}", "n\\ge 2", "x>0, n\\ge 2", "x, y\\le n"
    )
    match rng.randrange(8):
        case 0:
            claim = rf"{claim}\text{{ for }}{far}"
        case 1:
            claim = rf"\text{{for all }}{far}:\ {claim}"
        case 2:
            claim = rf"n\ge 3\implies {claim}"
        case 3:
            claim = rf"x>{order()}\implies {claim}"
            options["premises"] = rng.choice(("some", "every"))
        case 4:
            options["given"] = rng.choice(
                (r"n\ge 2", r"x\le n, y=1", rf"n\ge {order()}", r"n\text{ large enough}")
            )
            if "(" in options["given"]:
                options["premises"] = rng.choice(("some", "every"))
        case 5:
            claim = rf"{claim}\text{{ and }}n\le {order()}"
        case _:
            pass
    if rng.random() < 0.2:
        options["fixed"] = rng.choice(("n", "y, n", r"\sigma"))
    return Ordered(claim, options)
