"""The syntax tree of a formula, as Lark makes it by grammar.lark: questions about it, and what its readers have."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Any

from lark import Lark, Token, Tree
from lark.lexer import Lexer

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Apply, Expression, Variable
from dpverify.formulas.logic import Formula
from dpverify.formulas.notation.signs import Sign
from dpverify.formulas.notation.tokens import refusal

_SIZES = re.compile(r"\\(?:left|right|[bB]igg?[lrm]?)(?![A-Za-z])\s*")
Value = Expression | Formula
Node = Any
"""A node of Lark's tree, or one of our tokens, which Lark's types do not know."""


class _GivenTokens(Lexer):
    """Lark takes tokens as they are."""

    def __init__(self, _: object) -> None:
        pass

    def lex(self, data: Iterable[Token]) -> Iterator[Token]:  # type: ignore[override]
        return iter(data)


@cache
def parser(package: str, grammar: str, *start: str) -> Lark:
    """A parser of tokens, by a grammar's file in a package.

    A conflict in the grammar is an error; otherwise one of two readings would be taken in silence.
    """
    text = resources.files(package).joinpath(grammar).read_text(encoding="utf-8")
    return Lark(
        text, parser="lalr", lexer=_GivenTokens, start=list(start), strict=True, maybe_placeholders=False
    )


def subtrees(node: Node) -> list[Node]:
    """The children of a node that are no tokens."""
    return [child for child in node.children if isinstance(child, Tree)]


def tokens_of(*nodes: Node) -> list[Sign]:
    """All tokens of some nodes."""
    return [token for node in nodes for token in node.scan_values(lambda value: isinstance(value, Sign))]


def kind_of(node: Any) -> str:
    """The name of a rule or a token."""
    return node.type if isinstance(node, Sign) else str(node.data)


def span_of(node: Any) -> tuple[int, int]:
    """Where a node, or a row of them, stands in the LaTeX."""
    if isinstance(node, Sign):
        return node.start, node.end
    children = node.children if isinstance(node, Tree) else node
    spans = [span_of(child) for child in children if not isinstance(child, Tree) or child.children]
    return (min(s for s, _ in spans), max(e for _, e in spans)) if spans else (0, 0)


def balanced(text: str) -> str:
    """A part of some LaTeX without sizes, and without the braces whose partners are outside of it."""
    text = text if r"\left." in text else _SIZES.sub("", text)
    single: list[int] = []
    opened: list[int] = []
    for i, sign in enumerate(text):
        if sign in "{}" and text[i - 1 : i] != "\\":
            if sign == "{":
                opened.append(i)
            elif opened:
                opened.pop()
            else:
                single.append(i)
    return "".join(sign for i, sign in enumerate(text) if i not in {*single, *opened})


def glued(text: str) -> str:
    """Something to put after a command or a bracket."""
    return f" {text}" if text[:1].isalpha() else text


def is_lone(item: Any, kind: str) -> bool:
    """Whether a factor is an atom of a kind, without signs after it."""
    return kind_of(item) == "factor" and kind_of(item.children[0]) == kind and len(item.children) == 1


def is_bracket(item: Any) -> bool:
    """Whether a factor is something in brackets, with or without signs after it."""
    return kind_of(item) == "factor" and kind_of(item.children[0]) == "bracket"


def is_lone_bracket(item: Any) -> bool:
    """Whether a factor is something in brackets and nothing else."""
    return is_lone(item, "bracket")


def is_letter(item: Any) -> bool:
    """Whether a factor is a letter or a constant, with or without a power; `e^x` is none."""
    kind = kind_of(item.children[0])
    if kind == "euler" and len(item.children) > 1:
        return False
    return kind in ("letter", "indexed", "constant", "euler") and all(
        kind_of(sign) == "superscript" for sign in item.children[1:]
    )


def has_limits(item: Any) -> bool:
    """Whether it goes from `\\left.` to `\\right|_{x=1}`."""
    return is_bracket(item) and item.children[0].children[0] == r"\left."


def has_point(item: Any) -> bool:
    """Whether a factor is taken at a point."""
    return any(kind_of(child) == "value_at" for child in item.children)


def adds(bracket: Node) -> bool:
    """Whether there is a sum or a difference in a bracket."""
    node: Any = subtrees(bracket)[0]
    while isinstance(node, Tree) and node.data != "sum":
        if len(node.children) != 1:
            return False
        node = node.children[0]
    return isinstance(node, Tree) and len(subtrees(node)) > 1


def numeral_of_row(items: Sequence[Any]) -> Fraction | None:
    """The number where a row is a whole number in digits and nothing else."""
    if len(items) != 1 or not is_lone(items[0], "number"):
        return None
    value: Fraction = items[0].children[0].children[0].payload
    return value if value.denominator == 1 and "." not in items[0].children[0].children[0] else None


def numeral_of(node: Node) -> Fraction | None:
    """The same of a `sum` of the grammar."""
    terms = node.children
    if len(terms) != 1 or not isinstance(terms[0], Tree):
        return None
    return numeral_of_row(terms[0].children)


def is_numeral_fraction(item: Node) -> bool:
    """Whether a fraction has numerals above and below."""
    parts = [numeral_of(part) for part in subtrees(item.children[0])]
    return None not in parts


class Reads(ABC):
    """Makes trees of the nodes that its methods are named after."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.bound: list[Variable] = []
        self.nodes = 0

    def refuse(self, node: Node | Sign | Sequence[Any], allowed: str) -> InvalidArgumentError:
        """The error for a node that cannot be read."""
        return refusal(self.latex, *span_of(node), allowed)

    def two(self, node: Any, one: str, other: str) -> InvalidArgumentError:
        """The error for a node with two readings."""
        readings = (text if text.startswith(("the ", "a ")) else f"`{text}`" for text in (one, other))
        said = "one of two readings, written out or said in `reading`: " + ", or ".join(readings)
        return self.refuse(node, said)

    def source(self, node: Any) -> str:
        """A node's LaTeX."""
        start, end = span_of(node)
        return balanced(self.latex[start:end].strip())

    def lone_letter(self, node: Any) -> Variable | None:
        """The variable where a node is a single letter and nothing else."""
        while isinstance(node, Tree) and len(node.children) == 1:
            node = node.children[0]
        of = node.payload.of if isinstance(node, Sign) and node.type == "LETTER" else None
        return of if isinstance(of, Variable) else None

    def number(self, value: Value, node: Any) -> Expression:
        """A value that has to be a number."""
        if isinstance(value, Expression):
            return value
        raise self.refuse(node, "a number in this place, not a formula")

    def node(self, operator: str, *parts: Expression) -> Expression:
        """An operator applied, and counted."""
        self.nodes += 1
        return Apply(operator, parts)

    @abstractmethod
    def formula(self, node: Node) -> Formula: ...
    @abstractmethod
    def relation(self, node: Node) -> Value: ...
    @abstractmethod
    def sum(self, node: Any) -> Value: ...
    @abstractmethod
    def term(self, items: list[Any]) -> Value: ...
    @abstractmethod
    def factor(self, node: Node, inner: Expression | None = None) -> Value: ...
    @abstractmethod
    def group(self, node: Node) -> Expression: ...
    @abstractmethod
    def quotient(
        self, left: Expression, right: Expression, above: Fraction | None, below: Fraction | None
    ) -> Expression: ...
