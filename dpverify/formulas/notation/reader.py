"""LaTeX as it is printed, read as a tree; docs/notation.md says how, and what has two readings and is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lark import Tree, UnexpectedInput

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.asymptotics import OrderConstant, OrderConstants, UnclearOrderError, closed, orders
from dpverify.formulas.calculus import substituted
from dpverify.formulas.expressions import (
    INFINITY,
    At,
    Constant,
    Derivative,
    Expression,
    Number,
    OutOfScopeError,
    Variable,
    free_variables,
    levels,
)
from dpverify.formulas.logic import And, Compare, Formula, Implies, Not, Or, Relation, formula_parts
from dpverify.formulas.notation.hints import expected
from dpverify.formulas.notation.letters import Definition, Letters, LetterUse, tokens
from dpverify.formulas.notation.products import FactorRow
from dpverify.formulas.notation.quantified import Quantified
from dpverify.formulas.notation.reading import meant
from dpverify.formulas.notation.signs import Sign
from dpverify.formulas.notation.syntax import (
    Node,
    Reads,
    Value,
    is_lone_bracket,
    kind_of,
    numeral_of,
    parser,
    subtrees,
    tokens_of,
)
from dpverify.formulas.notation.tokens import Latex, normal, refusal, texts
from dpverify.formulas.notation.two_readings import (
    check_bracket,
    check_commas,
    check_fixed,
    check_powers,
    check_ranges,
    check_suffix,
)
from dpverify.formulas.vectors import check_formula, check_vectors, is_vector

DEEPEST_TREE = 120
"""Levels of a tree at most."""
LARGEST_TREE = 20_000
"""Nodes of a tree at most, definitions written out."""


@dataclass(frozen=True)
class ReadDisplay:
    """What a display says: a claim, and under which conditions ("for all t <= i <= n")."""

    claim: Formula
    given: tuple[Formula, ...] = ()
    chosen: tuple[OrderConstant, ...] = ()
    """Constants of orders such as O(n), free in claim and conditions, for `asymptotics.closed` to bind."""


def read_display(
    latex: str,
    letters: Iterable[Variable] | Letters,
    definitions: Iterable[Definition] = (),
    *,
    reading: str = "",
    soft: str = "",
) -> ReadDisplay:
    """A formula and its conditions.

    Args:
        latex: the formula as it is printed.
        letters: the variables that may occur, each with its LaTeX.
        definitions: quantities that stand for expressions.
        reading: where a display has two readings, the part in question once more, with the brackets or dots that
            say which is meant; nothing else may differ.
        soft: where there is a `\\tilde O`, the quantity of which it leaves out powers.

    Raises:
        InvalidArgumentError: for what is not in the notation, not declared, or ambiguous; it says where.
    """
    known = letters if isinstance(letters, Letters) else Letters(letters, definitions)
    quantity = read_expression(soft, known) if soft else None
    return meant(latex, reading, lambda shown: Reader(shown, known, quantity).display())


def read_formula(
    latex: str,
    letters: Iterable[Variable] | Letters,
    definitions: Iterable[Definition] = (),
    *,
    reading: str = "",
    soft: str = "",
) -> Formula:
    """A formula as one tree; conditions become a premise. Arguments and errors as `read_display`."""
    display = read_display(latex, letters, definitions, reading=reading, soft=soft)
    try:
        claim, given = closed(display.claim, display.given, display.chosen)
    except UnclearOrderError as error:
        raise InvalidArgumentError("formula", Latex(latex), str(error)) from None
    if not given:
        return claim
    return Implies(given[0] if len(given) == 1 else And(given), claim)


def read_conditions(
    latex: str, letters: Letters, *, soft: str = "", taken: Iterable[OrderConstant] = ()
) -> tuple[tuple[Formula, ...], tuple[OrderConstant, ...]]:
    """Conditions, and the constants in them; `taken` are those of the claim. Arguments and errors as `read_display`."""
    quantity = read_expression(soft, letters) if soft else None
    reader = Reader(latex, letters, quantity, taken)
    with reader.quantified.as_premise():
        found = reader.display()
    claim = found.claim.parts if isinstance(found.claim, And) else (found.claim,)
    if found.given:
        premise = found.given[0] if len(found.given) == 1 else And(found.given)
        claim = (Implies(premise, found.claim),)
    return claim, found.chosen


def read_expression(
    latex: str,
    letters: Iterable[Variable] | Letters,
    definitions: Iterable[Definition] = (),
    *,
    reading: str = "",
) -> Expression:
    """An expression as a tree. Arguments and errors as `read_display`."""
    known = letters if isinstance(letters, Letters) else Letters(letters, definitions)
    return meant(latex, reading, lambda shown: Reader(shown, known).expression())


def define(
    latex: str, body: str, letters: Iterable[Variable], definitions: Iterable[Definition] = (), *,
    parameter: Variable | None = None, reading: str = "",
) -> Definition:  # fmt: skip
    """A quantity as printed: `define("a_t", r"\\frac{2\\eta L}{n-t+1}", letters)`.

    With a `parameter`, `a_{t+1}` or `f(2x)` is the body with another expression in the parameter's place.
    """
    return Definition(latex, read_expression(body, letters, definitions, reading=reading), parameter)


_ZERO, _TWO = Number(Fraction(0)), Number(Fraction(2))
_RELATIONS: Mapping[str, Relation] = {"=": "==", r"\ne": "!=", r"\le": "<=", "<": "<", r"\ge": "<=", ">": "<"}


class Reader(Reads):
    """Makes a tree of one formula; each method takes the syntax tree's node that its name says."""

    def __init__(
        self,
        latex: str,
        letters: Letters,
        soft: Expression | None = None,
        taken: Iterable[OrderConstant] = (),
    ) -> None:
        super().__init__(latex)
        self.letters = letters
        used = {text for c in taken for text in (c.variable.name, c.variable.latex)}
        self.quantified = Quantified(self, OrderConstants(letters.taken | used, soft))

    def parsed(self) -> Node:
        found = tokens(self.latex, self.letters)
        try:
            return parser("dpverify.formulas.notation", "grammar.lark", "start").parse(found)
        except UnexpectedInput as error:
            token = getattr(error, "token", None)
            if token is None or token.type == "$END":
                last = found[-1]
                raise refusal(self.latex, last.start, last.end, f"after it {expected(error)}") from None
            raise refusal(self.latex, token.start, token.end, expected(error)) from None

    def display(self) -> ReadDisplay:
        tree = self.parsed()
        given: tuple[Formula, ...] = ()
        self.quantified.check_words(tree)
        if tree.data == "start":
            claim = self.formula(tree.children[0])
        elif tree.data == "prefixed_exists":
            conditions, over, statement = subtrees(tree)
            given = self.quantified.conditions(conditions)
            claim = self.quantified.exists(over, statement)
        else:
            first, second = subtrees(tree)
            conditions, statement = (second, first) if tree.data == "suffixed" else (first, second)
            if tree.data == "suffixed":
                check_suffix(self, tree)
            given = self.quantified.conditions(conditions)
            claim = self.formula(statement)
        for formula in (claim, *given):
            self.check_depth(formula)
            check_formula(formula)
        return ReadDisplay(claim, given, tuple(self.quantified.constants.found))

    def expression(self) -> Expression:
        tree = self.parsed()
        value = self.value(tree.children[0]) if tree.data == "start" else None
        if not isinstance(value, Expression):
            raise self.refuse(tree, "an expression, without relations and conditions")
        if orders(value):
            raise self.refuse(tree, "an expression without orders such as `O(n)`")
        self.check_depth(Compare("==", value, value))
        check_vectors(value)
        return value

    def check_depth(self, formula: Formula) -> None:
        rest = [(formula, 1)]
        while rest:
            part, level = rest.pop()
            below = (part.left, part.right) if isinstance(part, Compare) else ()
            if any(max(levels(side)) + level + 1 > DEEPEST_TREE for side in below):
                allowed = f"a formula of at most {DEEPEST_TREE} levels"
                raise InvalidArgumentError("formula", Latex(self.latex), allowed)
            rest += [(inner, level + 1) for inner in formula_parts(part)]

    # ------------------------------------------------------------------------------------------- formulas

    def formula(self, node: Node) -> Formula:
        return self.said(self.value(node), node)

    def said(self, value: Value, node: Node) -> Formula:
        """A value that has to be a formula."""
        if isinstance(value, Expression):
            raise self.refuse(node, "a formula: an expression says nothing without a relation such as `=`")
        return value

    def value(self, node: Any) -> Value:
        """An `implication` of the grammar, which in brackets may be a number."""
        match node.data:
            case "implication":
                return self.junction(node.children[0])
            case "implies":
                left, right = subtrees(node)
                check_commas(self, node)
                if right.data in ("implies", "equivalent"):
                    nested = f"({self.source(left)}) \\implies ({self.source(right)})"
                    raise self.two(node, nested, "a chain, each implying the next")
                with self.quantified.as_premise():
                    premise = self.said(self.junction(left), left)
                return Implies(premise, self.formula(right))
            case "equivalent":
                check_commas(self, node)
                with self.quantified.inside():
                    one, other = (self.said(self.junction(part), part) for part in subtrees(node))
                return And((Implies(one, other), Implies(other, one)))
            case "exists":
                return self.quantified.exists(*subtrees(node))
            case _:
                return self.quantified.for_all(node)

    def junction(self, node: Node) -> Value:
        parts = [child for child in node.children if isinstance(child, Tree)]
        if len(parts) == 1:
            return self.relation(parts[0])
        kinds = {"OR" if child.type == "OR" else "AND" for child in node.children if isinstance(child, Sign)}
        if len(kinds) > 1:
            allowed = "one of two readings, said by brackets: `and` before `or`, or `or` before `and`"
            raise self.refuse(node, allowed)
        check_ranges(self, node, condition=self.quantified.premise)
        out: list[Formula] = []
        for part in parts:
            with self.quantified.inside() if kinds == {"OR"} else nullcontext():
                value = self.relation(part)
            if isinstance(value, Expression):
                raise self.refuse(part, "formulas between commas and words, each with a relation")
            chain = part.data == "relation" and len(part.children) > 1
            out += value.parts if chain and isinstance(value, And) and kinds == {"AND"} else (value,)
        return And(tuple(out)) if kinds == {"AND"} else Or(tuple(out))

    def relation(self, node: Node) -> Value:
        if node.data == "negation":
            with self.quantified.inside():
                return Not(self.formula(subtrees(node)[0]))
        if node.data == "large":
            return self.quantified.large(node)
        if node.data == "membership":
            return self.membership(node)
        if len(node.children) == 1:
            return self.sum(node.children[0])
        sides = [self.number(self.sum(child), child) for child in node.children[::2]]
        signs = [str(child) for child in node.children[1::2]]
        if signs.count(r"\ne") > 1 or ({r"\le", "<"} & {*signs} and {r"\ge", ">"} & {*signs}):
            raise self.refuse(node, "a chain that goes one way; two formulas with a comma between them")
        out: list[Formula] = []
        for sign, left, right in zip(signs, sides, sides[1:], strict=False):
            if orders(left) or orders(right):
                out += self.quantified.compared(node, sign, left, right)
                continue
            if sign in ("=", r"\ne"):
                left, right = self.of_vectors(left, right)
            turned = sign in (r"\ge", ">")
            ends = (right, left) if turned else (left, right)
            out.append(Compare(_RELATIONS[sign], ends[0], ends[1], turned))
        return out[0] if len(out) == 1 else And(tuple(out))

    def of_vectors(self, left: Expression, right: Expression) -> tuple[Expression, Expression]:
        """The sides of an equation; vectors are the same if their difference has the length 0."""
        vectors = is_vector(left), is_vector(right)
        if vectors == (True, True):
            apart = self.node("sub", left, right)
        elif vectors in ((True, False), (False, True)) and _ZERO in (left, right):
            apart = left if vectors[0] else right
        else:
            return left, right
        return self.node("pow", self.node("norm", apart), _TWO), _ZERO

    def membership(self, node: Node) -> Formula:
        what, low, high = (self.number(self.sum(part), part) for part in subtrees(node))
        if any(map(orders, (what, low, high))):
            raise self.refuse(node, r"an order beside a relation such as `\le`, not in an interval")
        opening, closing = (c for c in node.children if isinstance(c, Sign) and c.type.startswith("INTERVAL"))
        out: list[Formula] = []
        if low != Constant("-oo"):
            out.append(Compare("<" if opening == "(" else "<=", low, what))
        if high != INFINITY:
            out.append(Compare("<" if closing == ")" else "<=", what, high))
        if not out:
            raise self.refuse(node, "an interval with an end")
        return out[0] if len(out) == 1 else And(tuple(out))

    # ---------------------------------------------------------------------------------------- expressions

    def sum(self, node: Any) -> Value:
        sign, terms = "", []
        for child in node.children:
            if isinstance(child, Sign):
                sign = child.type
            else:
                terms.append((sign, child))
                sign = ""
        if len(terms) == 1 and not terms[0][0]:
            return self.term(terms[0][1].children)
        out: Expression | None = None
        for k, (minus, term) in enumerate(terms):
            if k + 1 < len(terms):
                self.refuse_open(term, terms[k + 1][0], node)
            value = self.number(self.term(term.children), term)
            if out is None:
                out = self.negative(value, term) if minus == "MINUS" else value
            else:
                out = self.node("sub" if minus == "MINUS" else "add", out, value)
        assert out is not None
        return out

    def negative(self, value: Expression, term: Node) -> Expression:
        """Minus a term: a negative number, the lower end of an integral, or a tree of its own."""
        items = term.children
        if isinstance(value, Number) and not is_lone_bracket(items[0]):
            return Number(-value.value)
        return Constant("-oo") if value == INFINITY else self.node("neg", value)

    def refuse_open(self, term: Node, sign: str, node: Any) -> None:
        """A sum without brackets before a plus: it might end there, or go on."""
        for k, item in enumerate(term.children):
            if isinstance(item, Tree) and item.data in ("big", "derivative"):
                body = term.children[k + 1 :]
                if body and is_lone_bracket(body[0]) and (len(body) == 1 or item.data == "derivative"):
                    continue
                plus, head = ("+" if sign == "PLUS" else "-"), self.source(item)
                other = f"{head}({self.source(body) if body else ''} {plus} \\dots)"
                raise self.two(node, f"({self.source([item, *body])}) {plus} \\dots", other)

    def term(self, items: list[Any]) -> Value:
        """A row of factors, from left to right."""
        if len(items) == 1 and isinstance(items[0], Tree) and items[0].data == "factor":
            return self.factor(items[0])
        return FactorRow(self, items).value()

    def factor(self, node: Node, inner: Expression | None = None) -> Value:
        """An atom and what stands at its upper right; `inner` in place of the atom where that is read already."""
        atom, *after = node.children
        check_powers(self, node)
        if kind_of(atom) == "euler" and after and kind_of(after[0]) == "superscript":
            value: Value = self.node("exp", self.group(after.pop(0)))
        else:
            value = self.atom(atom) if inner is None else inner
        for sign in after:
            number = self.number(value, node)
            match kind_of(sign):
                case "superscript":
                    value = self.node("pow", number, self.group(sign))
                case "BANG":
                    value = self.node("factorial", number)
                case _:
                    if kind_of(atom) != "bracket":
                        raise self.refuse(node, "in brackets what is taken at the point")
                    value = self.value_at(number, atom, sign)
        return value

    def group(self, node: Node) -> Expression:
        part = subtrees(node)[0]
        return self.number(self.sum(part), part)

    def value_at(self, body: Expression, atom: Node, node: Node) -> Expression:
        letter, relation = (c for c in node.children if kind_of(c) in ("LETTER", "RELATION"))
        variable = letter.payload.of
        if relation != "=" or not isinstance(variable, Variable):
            raise self.refuse(node, "a point such as `|_{x=1}`, the letter a declared one")
        for token in tokens_of(atom):
            check_fixed(self, token, [variable])
        return At(body, variable, self.group(node))

    def atom(self, node: Node) -> Value:
        parts = subtrees(node)
        token = node.children[0]
        match node.data:
            case "number":
                return Number(token.payload)
            case "letter":
                return self.letter(token)
            case "constant":
                payload = token.payload
                return INFINITY if payload == "oo" else payload
            case "euler":
                return self.node("exp", Number(Fraction(1)))
            case "indexed":
                return self.defined(token, self.group(parts[0]))
            case "applied":
                return self.defined(token, self.number(self.sum(parts[0]), parts[0]))
            case "bracket":
                check_bracket(self, node)
                return self.value(parts[0])
            case "order":
                return self.quantified.order(node)
        values = [self.number(self.sum(part), part) for part in parts]
        match node.data:
            case "fraction":
                return self.quotient(values[0], values[1], numeral_of(parts[0]), numeral_of(parts[1]))
            case "square_root":
                return self.node("root", values[0], Number(Fraction(2)))
            case "root":
                return self.node("root", values[1], values[0])
            case "absolute":
                return self.norm(node, values[0]) if is_vector(values[0]) else self.node("abs", values[0])
            case name:
                return self.node(str(name), *values)

    def norm(self, node: Node, of: Expression) -> Expression:
        """The norm of a vector; of numbers, all norms are the absolute value, of vectors only one is read."""
        if node.children[0] != r"\|" or node.children[-1].payload not in ("", "2", "r"):
            raise self.refuse(node, r"the Euclidean norm of a vector, `\|x\|` or `\|x\|_2`")
        return self.node("norm", of)

    def quotient(
        self, left: Expression, right: Expression, above: Fraction | None, below: Fraction | None
    ) -> Expression:
        """A fraction of numerals in lowest terms is a number; any other is a quotient."""
        if above is None or below is None or below <= 1 or math.gcd(int(above), int(below)) != 1:
            return self.node("div", left, right)
        return Number(above / below)

    def letter(self, token: Sign) -> Expression:
        use: LetterUse = token.payload
        if isinstance(use.of, Variable):
            check_fixed(self, token, self.quantified.fixed_under(use.of))
            return use.of
        self.count(use.of.body)
        self.refuse_captured(use.of, token, free_variables(use.of.body))
        return use.of.body

    def defined(self, token: Sign, argument: Expression) -> Expression:
        """A definition with an index or an argument put in, for `f'` the derivative at it."""
        use: LetterUse = token.payload
        of, parameter = use.of, getattr(use.of, "parameter", None)
        assert isinstance(of, Definition)
        assert isinstance(parameter, Variable)
        if isinstance(argument, Number) and not parameter.contains(argument.value):
            raise self.refuse(token, f"`{of.latex}` at a value of `{parameter.latex}` that is in its domain")
        self.count(of.body)
        self.refuse_captured(of, token, free_variables(of.body) - {parameter})
        body = Derivative(of.body, parameter, use.primes) if use.primes else of.body
        out = body
        if argument != parameter and parameter in free_variables(body):
            try:
                out = substituted(body, {parameter: argument})
            except OutOfScopeError as error:
                raise self.refuse(token, f"`{of.latex}` at another argument: {error}") from None
        self.count(out)
        return out

    def count(self, e: Expression) -> None:
        self.nodes += sum(1 for _ in levels(e))
        if self.nodes > LARGEST_TREE:
            allowed = f"at most {LARGEST_TREE} operations with all definitions written out"
            raise InvalidArgumentError("formula", Latex(self.latex), allowed)

    def refuse_captured(self, of: Definition, token: Sign, free: frozenset[Variable]) -> None:
        printed = texts(normal(of.latex))
        for variable in self.bound:
            index = texts(normal(variable.latex))
            shows = any(printed[i : i + len(index)] == index for i in range(len(printed)))
            if variable in free and not shows:
                shown = f"a quantity whose letter shows that it depends on `{variable.latex}`"
                allowed = (
                    f"{shown}, or another letter for the index: it might be meant at one value or at each"
                )
                raise self.refuse(token, allowed)
