"""Quantifiers, conditions, and orders such as `O(n)`, which stand for constants that there are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lark import Tree

from dpverify.formulas import asymptotics
from dpverify.formulas.asymptotics import Order, OrderConstants, UnclearOrderError, orders
from dpverify.formulas.expressions import Expression, Variable
from dpverify.formulas.logic import And, Compare, Exists, ForAll, Formula
from dpverify.formulas.notation.signs import Sign
from dpverify.formulas.notation.syntax import Node, Reads, subtrees
from dpverify.formulas.notation.two_readings import check_ranges


class Quantified:
    """Reads what is quantified; each method takes the syntax tree's node that its name says."""

    def __init__(self, reader: Reads, constants: OrderConstants) -> None:
        self.reader, self.constants = reader, constants
        self.within = 0
        """Quantifiers, negations and the like around the relation that is read."""
        self.blocks: list[object] = []
        """Of each letter that is quantified around it; alike where quantifiers alike stand side by side."""
        self.continued: tuple[Node, object] | None = None
        """The next quantifier, where it is like the one before it, and that one's block."""

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

    @contextmanager
    def over(self, kind: str, variables: list[Variable], over: Node, body: Node) -> Iterator[None]:
        """These letters are quantified, for the body."""
        block = object()
        if self.continued is not None and self.continued[0] is over:
            block = self.continued[1]
        while len(body.children) == 1 and isinstance(body.children[0], Tree):
            body = body.children[0]
        self.continued = (subtrees(body)[0], block) if body.data == kind else None
        before, outside = len(self.reader.bound), len(self.blocks)
        self.reader.bound += variables
        self.blocks += [block] * len(variables)
        yield
        del self.reader.bound[before:], self.blocks[outside:]

    def fixed_under(self, letter: Variable) -> list[Variable]:
        """The bound letters for all of whose values a letter is the same: all, or all after it if it is quantified.

        Among quantifiers alike, side by side, the order says nothing.
        """
        bound = self.reader.bound
        if letter not in bound[: len(self.blocks)]:
            return bound
        block = [block for block, variable in zip(self.blocks, bound, strict=False) if variable == letter][-1]
        return bound[len(self.blocks) - self.blocks[::-1].index(block) :]

    def exists(self, over: Node, body: Node) -> Formula:
        """`\\exists x, y>0:`: letters, or relations that each begin with one."""
        variables: list[Variable] = []
        conditions: list[Formula] = []
        waiting: list[tuple[Variable, Node]] = []
        signs = {c.type for c in over.children if isinstance(c, Sign)}
        with self.inside():
            for part in (child for child in over.children if isinstance(child, Tree)):
                side = part.children[0] if part.data in ("relation", "membership") else part
                variable = self.reader.lone_letter(side)
                if variable is None or "OR" in signs:
                    allowed = "letters after `\\exists`, with or without a relation such as `>0`"
                    raise self.reader.refuse(part, allowed)
                variables.append(variable)
                if side is part or len(part.children) == 1:
                    waiting.append((variable, part))
                    continue
                own = self.reader.relation(part)
                assert not isinstance(own, Expression)
                formulas = own.parts if isinstance(own, And) else (own,)
                conditions += self.shared(waiting, part, formulas[0], joined="AND" in signs)
                conditions += formulas
                waiting = []
            with self.over("exists", variables, over, body):
                formula = self.reader.formula(body)
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
                allowed = "letters after `\\forall`, conditions as a premise of what is claimed"
                raise self.reader.refuse(part, allowed)
            variables.append(variable)
        with self.inside(), self.over("for_all", variables, over, body):
            formula = self.reader.formula(body)
        for variable in reversed(variables):
            formula = ForAll(variable, formula)
        return formula

    def check_words(self, tree: Node) -> None:
        """Refuse `x\\ge k\\text{ for all }k` as a condition; `\\text{ if }` in one is an implication."""
        words = (child for child in tree.children if isinstance(child, Sign) and child.type == "FOR")
        if self.premise and any("for" in word for word in words):
            allowed = (
                r"`\forall k:\ \dots`: within a condition, `for` could be about it or about all that is said"
            )
            raise self.reader.refuse(tree, allowed)

    def conditions(self, junction: Node) -> tuple[Formula, ...]:
        """What stands after "for all": relations, and letters, which are meant for all values anyway.

        `\\varepsilon, \\delta > 0` says it of both.
        """
        with self.as_premise():
            return self.listed(junction)

    def listed(self, junction: Node) -> tuple[Formula, ...]:
        check_ranges(self.reader, junction, condition=True)
        out: list[Formula] = []
        waiting: list[tuple[Variable, Node]] = []
        joined = False
        for child in junction.children:
            if isinstance(child, Sign):
                if child.type == "OR":
                    raise self.reader.refuse(child, "conditions that all hold, joined by commas or `and`")
                joined = child.type == "AND"
                continue
            variable = self.reader.lone_letter(child)
            if variable is not None:
                waiting.append((variable, child))
                continue
            own = self.reader.relation(child)
            if isinstance(own, Expression):
                raise self.reader.refuse(child, "conditions with a relation such as `\\le`")
            formulas = own.parts if isinstance(own, And) else (own,)
            out += self.shared(waiting, child, formulas[0], joined=joined)
            waiting = []
            out += formulas
        return tuple(out)

    def shared(
        self, waiting: list[tuple[Variable, Node]], child: Node, first: Formula, *, joined: bool
    ) -> list[Formula]:
        """What a relation says of the letters that stand before its first, as `>0` in `x, y>0` of x."""
        leading = self.reader.lone_letter(child.children[0])
        if leading is None or not waiting:
            return []
        if joined or child.data != "relation" or {v.kind for v, _ in waiting} != {leading.kind}:
            allowed = "one of two readings: a condition for each letter, or a letter without one at the end"
            raise self.reader.refuse([waiting[0][1], child], allowed)
        assert isinstance(first, Compare)
        flipped = first.right == leading and first.left != leading
        return [
            Compare(first.relation, *((first.left, v) if flipped else (v, first.right))) for v, _ in waiting
        ]

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
