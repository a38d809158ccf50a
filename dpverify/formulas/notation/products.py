"""Products as they are printed: rows of factors, signs, functions and sums, and how far each of them reaches."""

from __future__ import annotations

from typing import Any, Literal

from lark import Tree

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Binder, Derivative, Expression, Number, Variable
from dpverify.formulas.notation.letters import Heading
from dpverify.formulas.notation.signs import Sign
from dpverify.formulas.notation.syntax import (
    Node,
    Reads,
    glued,
    has_limits,
    has_point,
    is_bracket,
    is_lone,
    is_numeral_fraction,
    kind_of,
    numeral_of_row,
    subtrees,
    tokens_of,
)
from dpverify.formulas.notation.tokens import normal, takes_a_factor, texts
from dpverify.formulas.notation.two_readings import check_call, check_fixed


class FactorRow:
    """A row of factors, signs of multiplication and division, and heads such as `\\log` and `\\sum_{i=1}^n`."""

    def __init__(self, reader: Reads, items: list[Any]) -> None:
        self.reader, self.items = reader, items
        self.left: Expression | None = None
        self.sign = ""
        self.slash = -1

    def value(self) -> Expression:
        k = 0
        while k < len(self.items):
            item = self.items[k]
            if isinstance(item, Sign):
                self.separator(item, k)
                k += 1
                continue
            self.check_side_by_side(k)
            value, after = self.operand(k)
            self.combine(value, k, after)
            k = after
        if self.sign:
            raise self.reader.refuse(self.items[-1], "a factor after it")
        assert self.left is not None
        return self.left

    def separator(self, item: Sign, k: int) -> None:
        if self.left is None or self.sign:
            raise self.reader.refuse(item, "a factor before it")
        if self.slash >= 0:
            self.refuse_division(k + 1)
        self.sign = item.type
        if item.type == "SLASH":
            self.slash = k

    def refuse_division(self, k: int) -> None:
        """`a/bc`, `a/b\\cdot c`, `a/b/c`."""
        reader, items = self.reader, self.items
        above, below, rest = items[: self.slash], items[self.slash + 1 : k], items[k:]
        if below and isinstance(below[-1], Sign):
            below, rest = below[:-1], [below[-1], *rest]
        one = f"({reader.source(above)}/{reader.source(below)}){glued(reader.source(rest))}"
        other = f"{reader.source(above)}/({reader.source([*below, *rest])})"
        raise reader.two(items, one, other)

    def check_side_by_side(self, k: int) -> None:
        """What may follow a factor without a sign."""
        if self.left is None or self.sign:
            return
        reader, before, item = self.reader, self.items[k - 1], self.items[k]
        if self.slash >= 0:
            self.refuse_division(k)
        pair = [before, item]
        if is_lone(item, "number"):
            whole, number = reader.source(before), reader.source(item)
            raise reader.two(pair, f"{whole}\\cdot {number}", f"{whole}_{{{number}}}")
        if is_lone(before, "number") and is_lone(item, "fraction") and is_numeral_fraction(item):
            whole, part = reader.source(before), reader.source(item)
            raise reader.two(pair, f"{whole}\\cdot {part}", f"{whole}+{part}")
        called = item.data == "head" and k + 1 < len(self.items) and is_bracket(self.items[k + 1])
        last = self.items[k + called]
        counted_last = kind_of(last) == "factor" and kind_of(last.children[-1]) == "BANG"
        if counted_last and (called or not is_bracket(item)):
            counted = self.items[k : k + called + 1]
            one = f"{reader.source(before)}({reader.source(counted)})"
            other = f"({reader.source(before)} {reader.source([*counted[:-1], *last.children[:1]])})!"
            raise reader.two([before, *counted], one, other)
        if kind_of(item) == "factor" and has_point(item) and not has_limits(item):
            raise reader.refuse(pair, "in brackets what is taken at the point")
        if is_lone(before, "letter") and not takes_a_factor(texts(normal(reader.source(before)))):
            whole, rest = reader.source(before), reader.source(item)
            long = f"a letter that has the `{rest}` in it and is declared so"
            raise reader.two(pair, f"({whole}){rest}", long)
        if is_bracket(item) and not has_limits(item):
            check_call(reader, before, item)

    def combine(self, value: Expression, start: int, after: int) -> None:
        reader = self.reader
        if self.left is None:
            self.left = value
        elif self.sign == "SLASH":
            one, other = self.items[: self.slash], self.items[start:after]
            self.left = reader.quotient(self.left, value, numeral_of_row(one), numeral_of_row(other))
        else:
            self.left = reader.node("mul", self.left, value)
        self.sign = ""

    # ------------------------------------------------------------------------------------------- operands

    def operand(self, k: int) -> tuple[Expression, int]:
        """The value of what begins at an item, and the index after it."""
        item, reader = self.items[k], self.reader
        match item.data:
            case "factor":
                return reader.number(reader.factor(item), item), k + 1
            case "head":
                return self.call(k)
            case "big":
                return self.big(k), len(self.items)
            case "derivative":
                return self.derivative(k)
            case _:
                return self.integral(item), k + 1

    def call(self, k: int) -> tuple[Expression, int]:
        """A function and its argument, and the index after it."""
        reader, items, head = self.reader, self.items, self.items[k]
        heading: Heading = head.children[0].payload
        if k + 1 >= len(items) or isinstance(items[k + 1], Sign):
            raise reader.refuse(head, "a function with its argument after it")
        argument = items[k + 1]
        if is_bracket(argument):
            return self.bracketed_call(k, heading)
        if not heading.bare or argument.data not in ("head", "factor"):
            raise reader.refuse([head, argument], f"`{head.children[0]}` with its argument in brackets")
        after = k + 2
        if argument.data == "head":
            value, after = self.call(k + 1)
        elif kind_of(argument.children[-1]) == "BANG" or has_point(argument):
            inner, sign = reader.source(argument.children[0]), reader.source(argument.children[1:])
            shown = reader.source(head)
            raise reader.two([head, argument], f"{shown}({inner}{sign})", f"({shown} {inner}){sign}")
        else:
            value = reader.number(reader.factor(argument), argument)
        if after < len(items):
            shown, inner, rest = reader.source(head), reader.source(items[k + 1 : after]), items[after:]
            one = f"{shown}({reader.source(items[k + 1 :])})"
            raise reader.two(items[k:], one, f"({shown} {inner}){glued(reader.source(rest))}")
        return self.applied(head, heading, [value]), after

    def bracketed_call(self, k: int, heading: Heading) -> tuple[Expression, int]:
        reader, head, argument = self.reader, self.items[k], self.items[k + 1]
        bracket, signs = argument.children[0], argument.children[1:]
        if signs and heading.bare:
            shown, inner, sign = reader.source(head), reader.source(bracket), reader.source(signs)
            raise reader.two([head, argument], f"({shown}{inner}){sign}", f"{shown}({inner}{sign})")
        value = self.applied(head, heading, self.arguments(bracket))
        return reader.number(reader.factor(argument, value), argument), k + 2

    def arguments(self, bracket: Node) -> list[Expression]:
        reader, inner = self.reader, subtrees(bracket)[0]
        if inner.data != "implication":
            raise reader.refuse(bracket, "numbers as arguments")
        parts = inner.children[0]
        assert isinstance(parts, Tree)
        if any(isinstance(child, Sign) and child.type != "COMMA" for child in parts.children):
            raise reader.refuse(bracket, "numbers as arguments, with commas between them")
        return [reader.number(reader.relation(part), part) for part in subtrees(parts)]

    def applied(self, head: Node, heading: Heading, arguments: list[Expression]) -> Expression:
        reader = self.reader
        scripts = {kind_of(child): child for child in head.children[1:]}
        below, above = scripts.get("subscript"), scripts.get("superscript")
        record = heading.plain if below is None else heading.based
        if record is None:
            allowed = f"`{head.children[0]}` {'with' if below is None else 'without'} a subscript"
            raise reader.refuse(head, allowed)
        if below is not None:
            arguments = [*arguments, reader.group(below)]
        if not record.least <= len(arguments) <= (record.most or len(arguments)):
            wanted = record.least - (below is not None)
            counted = "one argument" if wanted == 1 else f"{wanted} arguments"
            raise reader.refuse(head, f"{counted} of `{head.children[0]}`")
        value = reader.node(record.name, *arguments)
        if above is None:
            return value
        power = reader.group(above)
        whole = isinstance(power, Number) and power.value.denominator == 1 and power.value >= 2
        if not record.powered or not whole or "(" in reader.source(above) or "[" in reader.source(above):
            function = reader.source(head.children[0])
            other = f"the function `{function}` repeated"
            raise reader.two(head, f"the power of the value, `({function}(\\dots))^{{\\dots}}`", other)
        return reader.node("pow", value, power)

    def body(self, k: int) -> list[Any]:
        rest = self.items[k + 1 :]
        if not rest or isinstance(rest[0], Sign):
            raise self.reader.refuse(self.items[k], "something after it")
        return rest

    def big(self, k: int) -> Expression:
        """A sum or product: everything up to the end of the row."""
        reader, head, rest = self.reader, self.items[k], self.body(k)
        if self.sign == "SLASH":
            self.refuse_division(k)
        kind: Literal["product", "sum"] = "product" if head.children[0] == r"\prod" else "sum"
        if kind == "product" and any(kind_of(item) not in ("head", "derivative") for item in rest[:-1]):
            shown, first, more = (reader.source(part) for part in (head, rest[0], rest[1:]))
            one, other = f"({shown}{glued(first)}){glued(more)}", f"{shown}({reader.source(rest)})"
            raise reader.two(self.items[k:], one, other)
        index, first_value, last_value = Index(reader, head).ends()
        reader.bound.append(index)
        body = reader.number(reader.term(rest), rest)
        reader.bound.pop()
        reader.nodes += 1
        return Binder(kind, body, index, first_value, last_value)

    def derivative(self, k: int) -> tuple[Expression, int]:
        reader, head, rest = self.reader, self.items[k], self.body(k)
        if self.sign == "SLASH":
            self.refuse_division(k)
        variable, order = head.children[0].payload
        first = rest[0]
        plain = kind_of(first) == "factor" and len(first.children) == 1
        if not plain or (len(rest) > 1 and not is_bracket(first)):
            shown = reader.source(head)
            other = f"({shown}{glued(reader.source(first))})\\dots"
            raise reader.two(self.items[k:], f"{shown}({reader.source(rest)})", other)
        for token in tokens_of(first):
            check_fixed(reader, token, [variable])
        body = reader.number(reader.factor(first), first)
        reader.nodes += 1
        return Derivative(body, variable, order), k + 2

    def integral(self, item: Node) -> Expression:
        reader = self.reader
        low, high, body = subtrees(item)
        variable = item.children[-1].payload.of
        first, last = reader.group(low), reader.group(high)
        reader.bound.append(variable)
        value = reader.number(reader.sum(body), body)
        reader.bound.pop()
        reader.nodes += 1
        return Binder("integral", value, variable, first, last)


class Index:
    """What stands below and above `\\sum` and `\\prod`."""

    def __init__(self, reader: Reads, head: Node) -> None:
        self.reader, self.head = reader, head
        self.below, *above = subtrees(head)
        self.above = above[0] if above else None

    def ends(self) -> tuple[Variable, Expression, Expression]:
        relations = subtrees(self.below)
        if len(relations) != 1 or relations[0].data != "relation":
            raise self.wrong()
        parts = relations[0].children
        sides, signs = parts[::2], [str(sign) for sign in parts[1::2]]
        value = self.reader.number
        if self.above is not None:
            index = self.integer(sides[0])
            if signs != ["="]:
                raise self.wrong()
            return index, value(self.reader.sum(sides[1]), sides[1]), self.reader.group(self.above)
        if signs == [r"\le", r"\le"]:
            first, last = (value(self.reader.sum(side), side) for side in sides[::2])
            return self.integer(sides[1]), first, last
        if signs == [r"\le"]:
            index = self.integer(sides[0])
            if index.lower is None:
                raise self.wrong()
            return index, Number(index.lower), value(self.reader.sum(sides[1]), sides[1])
        raise self.wrong()

    def integer(self, side: Any) -> Variable:
        variable = self.reader.lone_letter(side)
        if variable is None or variable.kind != "integer":
            raise self.reader.refuse(side, "an index: a letter that is declared as an integer")
        return variable

    def wrong(self) -> InvalidArgumentError:
        forms = "`_{i=1}^{n}`, `_{1\\le i\\le n}`, or `_{i\\le n}` from its least value"
        return self.reader.refuse(self.head, f"both ends of the index, as in {forms}")
