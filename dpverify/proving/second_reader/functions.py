"""Functions, sums, integrals, derivatives and orders: what has a head and something that it is applied to."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction

from dpverify.proving.second_reader.rows import (
    BRACKETS,
    FUNCTIONS,
    RELATIONS,
    SPELLED,
    Function,
    Item,
    Places,
    is_lone,
    is_name,
    is_sign,
)
from dpverify.proving.second_reader.trees import Tree, has_order, letter
from dpverify.proving.second_reader.trees import number as numeral
from dpverify.proving.second_reader.typography import PrintedMark, Row
from dpverify.proving.second_reader.vocabulary import OPENING

_DIGITS = ("", *"123456789")


class FunctionRow(Places):
    """A row in which functions are read."""

    @abstractmethod
    def term(self) -> Item:
        """Operands side by side."""

    @abstractmethod
    def operand(self, sign: str = "") -> Item:
        """One operand; `sign` stands before it."""

    @abstractmethod
    def finished(
        self, value: Tree, last: PrintedMark, kind: str = "", word: Row = (), *, adds: bool = False
    ) -> Item:
        """An operand with what stands at its last mark."""

    def call(self, function: Function) -> Item:
        """A function with its argument."""
        name, start = self.here, self.at
        self.at += 1
        power: Fraction | None = None
        if function.head == "phi" and [mark.text for mark in name.above] == ["-", "1"]:
            function = Function("phi_inverse")
        elif name.above:
            power = self.power_at(name, function, start)
        below = self.inner(name.below) if name.below else None
        if name.primes or (below is not None and SPELLED.get(name.text, name.text) != r"\log"):
            raise self.refuse("a function with an index or a prime that it does not have", start)

        def of(arguments: list[Tree]) -> Tree:
            if not function.least <= len(arguments) <= function.most:
                raise self.refuse("a function with another number of arguments", start)
            value = Tree(function.head, tuple(arguments))
            if below is not None:
                value = Tree("log_base", (*arguments, below))
            return value if power is None else Tree("pow", (value, numeral(power)))

        if self.here.text in BRACKETS:
            opening = self.take(*BRACKETS)
            with self.within(opening):
                arguments = self.operands()
            closing = self.take(OPENING[opening.text])
            if function.bare and (closing.scripted or self.here.text == "!" or self.own_point()):
                raise self.refuse(
                    "a sign behind a function's brackets: it could be the argument's", self.at - 1
                )
            return self.finished(of(arguments), closing)
        if not function.bare:
            raise self.refuse("a function needs its argument in brackets", start)
        text = SPELLED.get(self.here.text, self.here.text)
        known = self.found(self.at) is not None
        large = not known and text in (r"\sum", r"\prod", r"\int", r"\left.")
        if large or self.ends(True) or not self.starts():
            raise self.refuse("a function without an argument behind it", start)
        if text == r"\frac" and self.derivative() is not None:
            raise self.refuse("a function needs a derivative in brackets", start)
        item = self.operand()
        if item.counted or item.kind == "point":
            raise self.refuse("a sign behind a function's argument: it could belong to the function", start)
        return Item(of([self.number(item)]), plain=False, unclosed=True)

    def power_at(self, name: PrintedMark, function: Function, start: int) -> Fraction:
        """The power of the value, written at the function's name."""
        if is_name(name.above):
            raise self.refuse("a superscript at a function's name that is no power", start)
        raised = self.inner(name.above)
        power: Fraction = raised.value
        if not function.powered or raised.head != "num" or power < 2 or power.denominator > 1:
            raise self.refuse("a power at a function's name: it could mean the function repeated", start)
        return power

    def big(self, sign: str) -> Item:
        """A sum or product over an index, up to the end of its term."""
        mark, start = self.here, self.at
        if sign == "/":
            raise self.refuse("a sum under a slash: it could stand behind the quotient")
        self.at += 1
        if mark.primes:
            raise self.refuse("a prime at a sum", start)
        index, first, last = self.range(mark)
        with self.state.binding() as indices:
            indices.append(index)
            body = self.term()
        if mark.text == r"\prod" and body.factors > 1:
            raise self.refuse("a product over several factors: it could end after the first", start)
        value = Tree("sum" if mark.text == r"\sum" else "product", (self.number(body), first, last), index)
        return Item(value, "big", plain=False, open=not (body.kind == "bracket" and body.plain))

    def range(self, mark: PrintedMark) -> tuple[str, Tree, Tree]:
        """The index of a sum with its first and last value."""
        line = self.line(mark.below)
        sides, relations = line.chain()
        k = 1 if len(sides) == 3 else 0
        index = self.state.domains.get(sides[k].value.name) if is_lone(sides[k]) else None
        if index is None or index.kind != "integer" or line.at < len(line.row):
            raise self.refuse("a sum needs an index, an integer letter, with both its ends", self.at - 1)
        name, values = index.name, [self.number(side) for side in sides]
        if mark.above and relations == ["="]:
            return name, values[1], self.inner(mark.above)
        if not mark.above and relations == [r"\le", r"\le"]:
            return name, values[0], values[2]
        if not mark.above and relations == [r"\le"] and index.lower is not None:
            return name, numeral(index.lower), values[1]
        raise self.refuse("a sum needs both ends of its index", self.at - 1)

    def chain(self) -> tuple[list[Item], list[str]]:
        """Sides with relations between them."""
        sides, relations = [self.sum()], []
        while relation := self.sign(*RELATIONS):
            relations.append(relation)
            sides.append(self.sum())
        return sides, relations

    def integral(self, mark: PrintedMark) -> Item:
        """From the sign of an integral to its d."""
        start = self.at - 1
        if not mark.below or not mark.above or mark.primes:
            raise self.refuse("an integral needs both its ends", start)
        first, last = self.inner(mark.below), self.inner(mark.above)
        self.integrals += 1
        with self.state.binding() as indices:
            body = self.number(self.sum())
            if not self.differential():
                raise self.refuse("the d of an integral is missing")
            self.at += 1
            variable = self.place()
            indices.append(variable)
        self.integrals -= 1
        return Item(Tree("integral", (body, first, last), variable), plain=False)

    def derivative(self) -> tuple[str, int] | None:
        """The letter and order where a fraction is a sign of differentiation."""
        above, below = self.here.inside
        sign = next((s for s in ("d", r"\partial") if above and is_sign(above[0], s)), "")
        if not sign or not below or not is_sign(below[0], sign) or below[0].scripted or len(below) < 2:
            return None
        over, raised = below[1:], below[-1].above
        if over[0] == PrintedMark("(") and replace(over[-1], above=()) == PrintedMark(")"):
            over = over[1:-1]
        else:
            raised = ()
        line = self.line(over)
        found = line.found(0)
        variable = found is not None and found.stop == len(over) and bool(found.word.name)
        if len(above) == 2 and variable and self.line(above).found(1) is not None:
            raise self.refuse("a quotient of differentials: it could be a derivative or a fraction")
        if len(above) > 1 or found is None or not variable or found.rest.below or found.rest.primes:
            return None
        power = "".join(mark.text for mark in above[0].above)
        if (raised and found.rest.above) or above[0].below or above[0].primes:
            return None
        if "".join(mark.text for mark in raised or found.rest.above) != power or power not in _DIGITS:
            return None
        if above[0].text == "d" and self.line(above).found(0) is not None:
            raise self.refuse("a d that could be that of a derivative, or the letter d")
        return found.word.name, int(power[0]) if power else 1

    def differentiated(self, variable: str, order: int, sign: str) -> Item:
        """A derivative and what it is taken of: one factor, in brackets where others follow."""
        if sign == "/":
            raise self.refuse("a derivative under a slash: it could stand behind the quotient")
        if self.here.scripted:
            raise self.refuse("a script at a derivative")
        self.at += 1
        start = self.at
        if self.ends(True) or not self.starts():
            raise self.refuse("a derivative of nothing", start - 1)
        text = SPELLED.get(self.here.text, self.here.text)
        known = self.found(self.at) is not None
        used = len(self.state.uses)
        body = self.operand()
        self.state.check_fixed(used, [variable])
        headed = not known and text in (*FUNCTIONS, r"\sum", r"\prod", r"\int")
        if headed or not body.plain or body.unclosed:
            raise self.refuse("brackets around what is differentiated are missing", start)
        value = Tree("diff", (self.number(body),), variable, Fraction(order))
        return Item(value, "derivative", plain=False, open=body.kind != "bracket")

    def order(self, head: str, soft: bool) -> Item:
        """An O( ), with the letters below it on which its constant may depend."""
        mark = self.here
        self.at += 1
        if mark.above or mark.primes:
            raise self.refuse("a power at an order", self.at - 1)
        depends: list[Tree] = []
        if mark.below:
            line = self.line(mark.below)
            while not depends or line.sign(","):
                depends.append(letter(line.place()))
            if line.at < len(line.row):
                raise self.refuse("below an order, letters on which it depends", self.at - 1)
        opening = self.take(*BRACKETS)
        with self.within(opening):
            of = self.number(self.sum())
        if has_order(of):
            raise self.refuse("an order of an order")
        closing = self.take(OPENING[opening.text])
        return self.finished(Tree(head, (of, *depends), "~" if soft else ""), closing)
