"""Quantifiers, conditions, and orders such as `O(n)`, which stand for constants that there are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lark import Tree

from dpverify.formulas import asymptotics
from dpverify.formulas.asymptotics import Constants, Order, UnclearOrderError, orders
from dpverify.formulas.expressions import Expression, Variable
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula
from dpverify.formulas.notation.signs import Sign
from dpverify.formulas.notation.syntax import Node, kind_of, subtrees

if TYPE_CHECKING:
    from dpverify.formulas.notation.reader import Reader


class Quantified:
    """Reads what is quantified; each method takes the syntax tree's node that its name says."""

    def __init__(self, reader: Reader, constants: Constants) -> None:
        self.reader, self.constants = reader, constants
        self.within = 0
        """Quantifiers, negations and the like around the relation that is read."""

    @property
    def premise(self) -> bool:
        """Whether what is read is a condition."""
        return self.constants.premise

    @contextmanager
    def as_premise(self) -> Iterator[None]:
        """What is read here are conditions."""
        outside, self.constants.premise = self.premise, True
        yield
        self.constants.premise = outside

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Of what is read here, constants could not be said to exist before all else."""
        self.within += 1
        yield
        self.within -= 1

    def exists(self, over: Node, body: Node) -> Formula:
        """`\\exists x, y>0:`: letters, or relations that each begin with one."""
        variables: list[Variable] = []
        conditions: list[Formula] = []
        with self.inside():
            for part in (child for child in over.children if isinstance(child, Tree)):
                side = part.children[0] if part.data in ("relation", "membership") else part
                variable = self.reader.lone_letter(side)
                if variable is None or any(kind_of(c) == "OR" for c in over.children if isinstance(c, Sign)):
                    raise self.reader.refuse(
                        part, "letters after `\\exists`, with or without a relation such as `>0`"
                    )
                variables.append(variable)
                if side is not part and len(part.children) > 1:
                    own = self.reader.relation(part)
                    assert not isinstance(own, Expression)
                    conditions += own.parts if isinstance(own, And) else (own,)
            self.reader.bound += variables
            formula = self.reader.formula(body)
            del self.reader.bound[len(self.reader.bound) - len(variables) :]
        if conditions:
            formula = And((*conditions, *(formula.parts if isinstance(formula, And) else (formula,))))
        for variable in reversed(variables):
            formula = Exists(variable, formula)
        return formula

    def for_all(self, node: Node) -> Formula:
        over, body = subtrees(node)
        parts = [child for child in over.children if isinstance(child, Tree)]
        variables: list[Variable] = []
        for part in parts:
            variable = self.reader.lone_letter(part)
            if variable is None:
                raise self.reader.refuse(
                    part, "letters after `\\forall`, conditions as a premise of what is claimed"
                )
            variables.append(variable)
        self.reader.bound += variables
        with self.inside():
            formula = self.reader.formula(body)
        del self.reader.bound[len(self.reader.bound) - len(variables) :]
        for variable in reversed(variables):
            formula = ForAll(variable, formula)
        return formula

    def conditions(self, junction: Node) -> tuple[Formula, ...]:
        """What stands after "for all": relations, and letters, which are meant for all values anyway.

        `\\varepsilon, \\delta > 0` says it of both.
        """
        with self.as_premise():
            return self.listed(junction)

    def listed(self, junction: Node) -> tuple[Formula, ...]:
        out: list[Formula] = []
        waiting: list[tuple[Variable, Node]] = []
        for child in junction.children:
            if isinstance(child, Sign):
                if child.type == "OR":
                    raise self.reader.refuse(child, "conditions that all hold, joined by commas or `and`")
                continue
            variable = self.reader.lone_letter(child)
            if variable is not None:
                waiting.append((variable, child))
                continue
            own = self.reader.relation(child)
            if isinstance(own, Expression):
                raise self.reader.refuse(child, "conditions with a relation such as `\\le`")
            formulas = own.parts if isinstance(own, And) else (own,)
            leading = self.reader.lone_letter(child.children[0]) if child.data == "relation" else None
            if leading is not None and waiting:
                first = formulas[0]
                assert isinstance(first, Compare)
                for shared, _ in waiting:
                    flipped = first.right == leading and first.left != leading
                    sides = (first.left, shared) if flipped else (shared, first.right)
                    out.append(Compare(first.relation, *sides))
            waiting = []
            out += formulas
        return tuple(out)

    def compared(self, node: Node, sign: str, left: Expression, right: Expression) -> Iterator[Formula]:
        if self.within:
            raise self.reader.refuse(node, "an order outside of quantifiers, negations, `or` and `\\iff`")
        try:
            found = asymptotics.compared(sign, left, right, self.constants)
        except UnclearOrderError as error:
            raise self.reader.refuse(node, str(error)) from None
        yield from found.parts if isinstance(found, And) else (found,)

    def large(self, node: Node) -> Formula:
        """`n large enough`: from some value on."""
        (part,) = subtrees(node)
        variable = self.reader.lone_letter(part)
        (word,) = (child for child in node.children if isinstance(child, Sign))
        if variable is None or not self.premise or self.within or variable.kind == "vector":
            raise self.reader.refuse(node, "among the conditions, a letter that is large enough")
        small = word.payload or "small" in str(word)
        threshold = self.constants.threshold(variable)
        return Compare("<=", variable, threshold) if small else Compare("<=", threshold, variable)

    def order(self, node: Node) -> Order:
        """`O_{d}(g)`; what is below are letters on which its constant may depend."""
        kind, soft = node.children[0].payload
        depends: list[Variable] = []
        *below, body = subtrees(node)
        for part in subtrees(below[0]) if below else ():
            variable = self.reader.lone_letter(part)
            if variable is None:
                raise self.reader.refuse(part, "below an order letters on which its constant may depend")
            depends.append(variable)
        of = self.reader.number(self.reader.sum(body), body)
        if orders(of):
            raise self.reader.refuse(body, "an order of what has no order in it")
        return Order(kind, of, soft, tuple(depends))
