"""What the parts of a reader ask of the whole: `reader` has it, `products`, `quantified` and `two_readings` use it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Expression, Variable
from dpverify.formulas.logic import Formula
from dpverify.formulas.notation.syntax import Node


class Reads(Protocol):
    """Makes trees of the nodes that its methods are named after."""

    bound: list[Variable]
    nodes: int

    def refuse(self, node: Any, allowed: str) -> InvalidArgumentError:
        """The error for a node that cannot be read."""

    def two(self, node: Any, one: str, other: str) -> InvalidArgumentError:
        """The error for a node with two readings."""

    def source(self, node: Any) -> str:
        """A node's LaTeX."""

    def lone_letter(self, node: Any) -> Variable | None:
        """The letter that a node is, if it is one."""

    def number(self, value: Expression | Formula, node: Any) -> Expression:
        """A value that has to be a number."""

    def node(self, operator: str, *parts: Expression) -> Expression:
        """An operator applied, and counted."""

    def formula(self, node: Node) -> Formula: ...
    def relation(self, node: Node) -> Expression | Formula: ...
    def sum(self, node: Any) -> Expression | Formula: ...
    def term(self, items: list[Any]) -> Expression | Formula: ...
    def factor(self, node: Node, inner: Expression | None = None) -> Expression | Formula: ...
    def group(self, node: Node) -> Expression: ...
    def quotient(
        self, left: Expression, right: Expression, above: Fraction | None, below: Fraction | None
    ) -> Expression: ...
