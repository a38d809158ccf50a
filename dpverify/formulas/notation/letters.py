"""Declared letters and quantities, and LaTeX as the tokens that dpverify/formulas/notation/grammar.lark is about."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import PI, Expression, Variable, all_variables
from dpverify.formulas.notation.bars import resolve
from dpverify.formulas.notation.customs import check_customs
from dpverify.formulas.notation.hints import hint
from dpverify.formulas.notation.layout import check_layout
from dpverify.formulas.notation.signs import Sign, sign
from dpverify.formulas.notation.tokens import (
    CLOSING,
    DRESS,
    OPENING,
    ROOT,
    Latex,
    Piece,
    end_of_group,
    normal,
    refusal,
    takes_a_power,
    texts,
)
from dpverify.formulas.operators import operators
from dpverify.formulas.records import Operator

TOKENS = 1500
"""Tokens in one formula at most."""
HEADS = 60
"""Tokens at most that make a formula deeper without brackets."""
_HEADS = frozenset(("FUNCTION", "BIG", "DERIVATIVE", "INTEGRAL", "FORALL", "EXISTS", "IMPLIES", "ORDER"))


@dataclass(frozen=True)
class Definition:
    """A quantity that stands for an expression.

    Attributes:
        latex: the letter as printed, such as `\\varepsilon`, `a_t`, `f(x)`.
        body: what it stands for.
        parameter: what the reader may put another expression in place of, as index (`a_t`) or argument (`f(x)`).
    """

    latex: str
    body: Expression
    parameter: Variable | None = None


@dataclass(frozen=True)
class LetterUse:
    """What a token stands for: a letter or a definition; for definitions with an argument, how many primes."""

    of: Variable | Definition
    primes: int = 0


@dataclass
class _Node:
    """A node of the tree in which letters are looked up, piece by piece."""

    after: dict[str, _Node] = field(default_factory=dict)
    use: Variable | Definition | None = None
    indexed: Definition | None = None
    applied: Definition | None = None


class Letters:
    """The declared letters and definitions; the longest that fits is the one that is read."""

    def __init__(self, letters: Iterable[Variable] = (), definitions: Iterable[Definition] = ()) -> None:
        self._root = _Node()
        self.names: list[str] = []
        self.taken: set[str] = set()
        plain: dict[tuple[str, ...], str] = {}
        uses: list[Variable | Definition] = [*letters, *definitions]
        for use in uses:
            parts = texts(normal(use.latex))
            if isinstance(use, Definition) and use.parameter is not None:
                self._add_with_parameter(use, parts)
            else:
                node = self._node(parts)
                if node.use is not None and node.use != use:
                    raise InvalidArgumentError("letter", Latex(use.latex), "letters with different LaTeX")
                node.use = use
                if isinstance(use, Variable):
                    plain[parts] = use.latex
            self.names.append(use.latex)
            self.taken |= {use.latex} if isinstance(use, Definition) else {use.name, use.latex}
            if isinstance(use, Definition):
                self.taken |= {v.name for v in all_variables(use.body)}
        for parts, name in plain.items():
            self._refuse_spelled(parts, name, plain)

    def _node(self, parts: tuple[str, ...]) -> _Node:
        node = self._root
        for part in parts:
            node = node.after.setdefault(part, _Node())
        return node

    def _add_with_parameter(self, use: Definition, parts: tuple[str, ...]) -> None:
        index = texts(normal(use.parameter.latex)) if use.parameter is not None else ()
        for tail, attribute in ((("_", "{", *index, "}"), "indexed"), (("(", *index, ")"), "applied")):
            if len(parts) > len(tail) and parts[-len(tail) :] == tail:
                node = self._node(parts[: -len(tail)])
                if getattr(node, attribute) is not None:
                    raise InvalidArgumentError("definition", Latex(use.latex), "one definition of it")
                setattr(node, attribute, use)
                return
        allowed = "one that ends with its parameter, such as `a_t` or `f(x)`"
        raise InvalidArgumentError("definition", Latex(use.latex), allowed)

    def _refuse_spelled(self, parts: tuple[str, ...], name: str, plain: dict[tuple[str, ...], str]) -> None:
        """A letter `ab` beside letters `a` and `b` would leave open what `ab` is."""
        spelled: list[str | None] = [""] + [None] * len(parts)
        for start, before in enumerate(spelled):
            if before is None:
                continue
            for stop in range(start + 1, len(parts) + 1):
                its_name = plain.get(parts[start:stop])
                if its_name is not None and stop - start < len(parts):
                    spelled[stop] = spelled[stop] or f"{before} {its_name}"
        if spelled[-1] is not None:
            allowed = f"not also a product of the letters `{spelled[-1].strip()}`"
            raise InvalidArgumentError("letter", Latex(name), allowed)

    def longest(self, parts: tuple[str, ...], start: int) -> tuple[str, Variable | Definition, int] | None:
        """Kind, letter or definition, and the index after it; None where none begins."""
        node, found = self._root, None
        i = start
        while True:
            following = parts[i] if i < len(parts) else ""
            if node.use is not None:
                found = ("LETTER", node.use, i)
            if node.indexed is not None and following == "_":
                found = ("INDEXED", node.indexed, i)
            if node.applied is not None and following in ("(", "'"):
                found = ("APPLIED", node.applied, i)
            after = node.after.get(following) if following else None
            if after is None:
                return found
            node, i = after, i + 1

    def near(self, name: str) -> str:
        """The declared letters most like a name, for an error message."""
        if not self.names:
            return "no letter is declared"
        close = difflib.get_close_matches(name, self.names, n=4, cutoff=0.3)
        return "declared are " + ", ".join(f"`{n}`" for n in close or self.names[:6])


# ----------------------------------------------------------------------------------------------- tokens


@dataclass(frozen=True)
class Heading:
    """The operators that one head in LaTeX may mean: without a subscript, and with one."""

    plain: Operator | None = None
    based: Operator | None = None

    @property
    def bare(self) -> bool:
        """Whether the argument may stand without brackets."""
        return any(record.bare for record in (self.plain, self.based) if record is not None)


_SIMPLE = {
    "+": "PLUS", "-": "MINUS", r"\cdot": "TIMES", r"\times": "TIMES", "*": "TIMES", "/": "SLASH", "!": "BANG",
    ",": "COMMA", ";": "COMMA", ":": "COLON", r"\colon": "COLON", r"\wedge": "AND", r"\vee": "OR", r"\neg": "NOT",
    r"\implies": "IMPLIES", r"\iff": "IFF", r"\forall": "FORALL", r"\exists": "EXISTS", r"\in": "IN",
    "{": "LBRACE", "}": "RBRACE",
    "_": "UNDER", "^": "CARET", r"\frac": "FRACTION", r"\binom": "BINOMIAL", r"\sqrt": "ROOT",
    ROOT[0]: "ROOT_OPEN", ROOT[1]: "ROOT_CLOSE", r"\int": "INTEGRAL", r"\lfloor": "FLOOR_OPEN",
    r"\rfloor": "FLOOR_CLOSE", r"\lceil": "CEILING_OPEN", r"\rceil": "CEILING_CLOSE",
    r"\langle": "ANGLE_OPEN", r"\rangle": "ANGLE_CLOSE",
    **dict.fromkeys(("<", ">", "=", r"\le", r"\ge", r"\ne"), "RELATION"),
    **dict.fromkeys(("(", "[", r"\{"), "OPEN"), **dict.fromkeys((")", "]", r"\}"), "CLOSE"),
    **dict.fromkeys((r"\sum", r"\prod"), "BIG"), **dict.fromkeys(("|", r"\|"), "BAR"),
}  # fmt: skip
_WORDS = {
    **dict.fromkeys(
        ("for all", "for every", "for each", "for any", "for", "whenever", "if", "when", "provided", "provided that"),
        "FOR",
    ),
    **dict.fromkeys(("there is", "there are", "there exists", "there exist"), "EXISTS"), "such that": "COLON",
    **dict.fromkeys(("large enough", "sufficiently large", "small enough", "sufficiently small"), "LARGE"),
    "and": "AND", "or": "OR", "implies": "IMPLIES", "if and only if": "IFF", "iff": "IFF",
}  # fmt: skip
_FAR = re.compile(
    r"(?:for|for all|for every|for any|if|when|whenever) ((?:large|small) enough|sufficiently (?:large|small))"
)
_ORDERS: Mapping[tuple[str, ...], tuple[str, bool]] = {
    (*head, *sign, *tail): (kind, bool(head))
    for kind, signs in (
        ("O", (("O",), (r"\mathcal", "{", "O", "}"))), ("Omega", ((r"\Omega",),)), ("Theta", ((r"\Theta",),))
    )
    for sign in signs
    for head, tail in (((), ()), ((r"\tilde", "{"), ("}",)), ((r"\widetilde", "{"), ("}",)))
}  # fmt: skip
"""What an order is written as, and whether it has a tilde."""
_MARKS = frozenset(("*", r"\star", r"\ast", r"\top", r"\dagger", "+", "-", r"\circ"))
"""Superscripts that are no powers."""
_NEVER = frozenset(("^", "_", "}", r"\\", r"\right."))


@cache
def _heads() -> Mapping[tuple[str, ...], Heading]:
    """What functions are read by, longest first."""
    found: dict[tuple[str, ...], Heading] = {}
    for record in operators().values():
        for kind, heads in (("plain", record.heads), ("based", record.based)):
            for parts in (texts(normal(latex)) for latex in heads):
                found[parts] = replace(found.get(parts, Heading()), **{kind: record})
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def tokens(latex: str, letters: Letters) -> list[Sign]:
    """A formula as tokens; each with its place in the LaTeX."""
    found = list(normal(latex))
    while found and found[-1].text == r"\\":
        found.pop()
    if found and found[-1].text in (".", ",", ";"):
        found.pop()
    reader = _LetterFinder(latex, found, letters)
    while reader.at < len(found):
        reader.step()
    if not reader.out:
        raise InvalidArgumentError("formula", Latex(latex), "LaTeX with a formula in it")
    if len(reader.out) > TOKENS:
        raise InvalidArgumentError("formula", Latex(latex), f"at most {TOKENS} letters, numbers and signs")
    if sum(token.type in _HEADS for token in reader.out) > HEADS:
        allowed = f"at most {HEADS} functions, sums and quantifiers"
        raise InvalidArgumentError("formula", Latex(latex), allowed)
    resolved = resolve(latex, reader.out)
    check_customs(latex, resolved)
    check_layout(latex, resolved)
    return resolved


class _LetterFinder:
    def __init__(self, latex: str, found: list[Piece], letters: Letters) -> None:
        self.latex, self.found, self.letters = latex, found, letters
        self.parts = texts(found)
        self.at = 0
        self.out: list[Sign] = []
        self.integrals = 0

    def step(self) -> None:
        here = self.found[self.at]
        if self.integrals and self.differential():
            return
        if here.text == r"\frac" and self.derivative():
            return
        match = self.letters.longest(self.parts, self.at)
        if match is not None:
            self.letter(*match)
        elif here.text.isdigit():
            self.number()
        elif here.text == r"\\":
            self.at += 1
        elif here.text == r"\left.":
            self.emit("OPEN", here)
        elif here.text == "|" and self.point_follows():
            self.emit("AT", here)
        elif self.function(here) or self.order(here):
            pass
        elif here.text == r"\in" and self.parts[self.at + 1 : self.at + 2] not in (("(",), ("[",)):
            allowed = "an interval such as `[0,1]`, or relations joined by `\\text{or}`"
            raise self.refuse(allowed, min(self.at + 2, len(self.found)))
        elif here.text in _SIMPLE:
            self.integrals += here.text == r"\int"
            self.emit(_SIMPLE[here.text], here, side=here.side)
        elif here.text.startswith(r"\text{"):
            self.words(here)
        elif here.text.startswith(r"\operatorname{"):
            allowed = r"a declared letter, or a function of docs/notation.md; words stand in `\text{...}`"
            raise self.refuse(allowed)
        elif hint(here.text):
            raise self.refuse(hint(here.text))
        else:
            self.other(here)

    def emit(
        self, kind: str, here: Piece, value: Any = None, *, end: int | None = None, side: str = ""
    ) -> None:
        stop = self.at + 1 if end is None else end
        last = self.found[stop - 1].end
        self.out.append(sign(kind, here.text, here.start, last, side if value is None else value))
        self.at = stop

    def refuse(self, allowed: str, stop: int | None = None, start: int | None = None) -> InvalidArgumentError:
        """The error for what stands here, or from one piece to another."""
        first = self.at if start is None else start
        last = first if stop is None else stop - 1
        return refusal(self.latex, self.found[first].start, self.found[last].end, allowed)

    # -------------------------------------------------------------------------------------- what is read

    def letter(self, kind: str, of: Variable | Definition, stop: int) -> None:
        here, primes = self.found[self.at], 0
        if kind == "APPLIED":
            while self.parts[stop : stop + 1] == ("'",):
                primes, stop = primes + 1, stop + 1
            if self.parts[stop : stop + 1] != ("(",):
                raise self.refuse(f"`{of.latex}`, with its argument in brackets", stop)
        following = self.parts[stop : stop + 3]
        if self.marked(stop) or (kind == "LETTER" and following[:1] in (("_",), ("'",))):
            raise self.unknown(self.at)
        if kind == "LETTER" and following[:1] == ("^",) and not takes_a_power(self.parts[self.at : stop]):
            name = self.latex[here.start : self.found[stop - 1].end]
            allowed = (
                f"one of two readings: the power of `{name}` as a whole, in brackets, or a letter that has the power "
                "in it and is declared so"
            )
            raise self.refuse(allowed, stop + 1)
        self.emit(kind, here, LetterUse(of, primes), end=stop)

    def marked(self, stop: int) -> bool:
        """Whether a superscript is part of a name: a mark such as a star, or all in brackets, as of an iterate."""
        if self.parts[stop : stop + 2] != ("^", "{"):
            return False
        inner = self.parts[stop + 2 : end_of_group(self.parts, stop + 1) - 1]
        if not inner or inner[0] not in ("(", "["):
            return len(inner) == 1 and inner[0] in _MARKS
        depths = list(accumulate((part in OPENING) - (part in CLOSING) for part in inner))
        return 0 not in depths[:-1]

    def number(self) -> None:
        stop = self.digits(self.at + 1)
        point = stop + 1
        if self.touches(stop) and self.parts[stop] == "." and self.digits(point) > point:
            stop = self.digits(point)
        self.emit("NUMBER", self.found[self.at], Fraction("".join(self.parts[self.at : stop])), end=stop)

    def digits(self, stop: int) -> int:
        """The index after digits side by side."""
        while self.touches(stop) and self.parts[stop].isdigit():
            stop += 1
        return stop

    def touches(self, i: int) -> bool:
        return i < len(self.found) and self.found[i - 1].end == self.found[i].start

    def function(self, here: Piece) -> bool:
        """The longest head of an operator that stands here; False where there is none."""
        for head, heading in _heads().items():
            stop = self.at + len(head)
            if self.parts[self.at : stop] == head:
                self.emit("FUNCTION", here, heading, end=stop)
                return True
        return False

    def order(self, here: Piece) -> bool:
        """An O( ) with its brackets after it; False where there is none."""
        for head, said in _ORDERS.items():
            stop = self.at + len(head)
            if self.parts[self.at : stop] != head:
                continue
            after = end_of_group(self.parts, stop + 1) if self.parts[stop : stop + 1] == ("_",) else stop
            if self.parts[after : after + 1] in (("(",), ("[",), (r"\{",)):
                self.emit("ORDER", here, said, end=stop)
                return True
        return False

    def words(self, here: Piece) -> None:
        inner = re.sub(r"^\\\w+\{(.*)\}$", r"\1", here.text).strip(" ,.;").lower()
        far = _FAR.fullmatch(inner)
        if far is not None:
            self.out.append(sign("FOR", here.text, here.start, here.start))
            self.emit("LARGE", here, "small" in far[1])
            return
        if inner not in _WORDS:
            allowed = ", ".join(f"`{word}`" for word in ("and", "or", "implies", "for all", "if", "iff"))
            raise self.refuse(f"the words {allowed}; others stand outside of a formula")
        kind = _WORDS[inner]
        if kind == "EXISTS" and self.out and self.out[-1].type == "COMMA":
            self.out.pop()
        self.emit(kind, here, "small" in inner if kind == "LARGE" else None)

    def other(self, here: Piece) -> None:
        if here.text == "e" or self.parts[self.at : self.at + 4] == (r"\mathrm", "{", "e", "}"):
            self.emit("EULER", here, end=self.at + (1 if here.text == "e" else 4))
        elif here.text == r"\pi":
            self.emit("CONSTANT", here, PI)
        elif here.text == r"\infty":
            self.emit("CONSTANT", here, "oo")
        elif here.text == ".":
            raise self.refuse("a number such as `0.5`, or a full stop at the end")
        elif here.text == "'":
            raise self.refuse("a letter that is declared with its prime")
        elif here.text in _NEVER or here.text in OPENING or here.text in CLOSING:
            raise self.refuse("something else here, see docs/notation.md")
        else:
            raise self.unknown(self.at)

    def unknown(self, start: int) -> InvalidArgumentError:
        """Name the letter that stands there, scripts and accent included, and the declared ones that are like it."""
        stop = start + 1
        if self.parts[start] in DRESS:
            stop = end_of_group(self.parts, stop)
        if self.parts[stop : stop + 1] == ("_",):
            stop = end_of_group(self.parts, stop + 1)
        while self.parts[stop : stop + 1] == ("'",):
            stop += 1
        if self.marked(stop):
            stop = end_of_group(self.parts, stop + 1)
        last = self.found[stop - 1]
        name = self.latex[self.found[start].start : max(last.end, self.found[start].end)]
        return self.refuse(f"a declared letter; {self.letters.near(name)}", stop, start)

    # ------------------------------------------------------------------------------ d, in three places

    def _d(self, start: int) -> int:
        """How many pieces at `start` are a d."""
        if self.parts[start : start + 4] == (r"\mathrm", "{", "d", "}"):
            return 4
        return 1 if self.parts[start : start + 1] in (("d",), (r"\partial",)) else 0

    def differential(self) -> bool:
        length = self._d(self.at)
        if not length or self.parts[self.at] == r"\partial":
            return False
        after = self.letters.longest(self.parts, self.at + length)
        if after is None or not isinstance(after[1], Variable):
            return False
        own = self.letters.longest(self.parts, self.at)
        if length == 1 and own is not None:
            end, product = f"\\mathrm{{d}}{after[1].latex}", f"d\\cdot {after[1].latex}"
            allowed = f"one of two readings: `{end}`, the end of the integral, or `{product}`, a product"
            raise self.refuse(allowed, after[2])
        self.integrals -= 1
        self.emit("DIFFERENTIAL", self.found[self.at], end=self.at + length)
        return True

    def derivative(self) -> bool:
        """`\\frac{d^k}{dx^k}` as one token; False where the fraction is none."""
        parts, above = self.parts, self.at + 2
        top = end_of_group(parts, self.at + 1)
        bottom = end_of_group(parts, top)
        length, below = self._d(above), top + 1
        if not length or self._d(below) != length or parts[above] != parts[below]:
            return False
        start = below + length
        wrapped = parts[start : start + 1] == ("(",)
        match = self.letters.longest(parts, start + wrapped)
        if match is None or not isinstance(match[1], Variable):
            return False
        stop = match[2] + wrapped
        if wrapped and parts[match[2] : stop] != (")",):
            return False
        power = parts[stop : bottom - 1]
        if not re.fullmatch(r"(\^\{[1-9]\})?", "".join(power)):
            return False
        over = parts[above + length : top - 1]
        if parts[above] == "d" and self.letters.longest(parts, above) is not None:
            allowed = (
                "one of two readings: a derivative, as `\\frac{\\partial}{\\partial x}(\\dots)`, or a fraction, with "
                "the letter `d` reduced"
            )
            raise self.refuse(allowed, bottom)
        if over != power:
            allowed = "`\\frac{\\partial}{\\partial x}(\\dots)` with what is derived in brackets after it"
            raise self.refuse(allowed, bottom)
        order = int(power[2]) if power else 1
        self.emit("DERIVATIVE", self.found[self.at], (match[1], order), end=bottom)
        return True

    def point_follows(self) -> bool:
        """Whether a bar has a subscript with an equation in it: the value at a point."""
        if self.parts[self.at + 1 : self.at + 2] != ("_",):
            return False
        return "=" in self.parts[self.at + 2 : end_of_group(self.parts, self.at + 2)]
