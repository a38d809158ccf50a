"""What a reader of formulas has beside its rules: places, errors, counted nodes; and which rules its parts need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lark import Tree

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Apply, Expression, Variable
from dpverify.formulas.logic import Formula
from dpverify.formulas.notation.signs import Sign
from dpverify.formulas.notation.syntax import Node, balanced, span_of
from dpverify.formulas.notation.tokens import refusal

Value = Expression | Formula


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
