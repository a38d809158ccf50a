"""Expressions, read by descent from the left: sums of terms, terms of operands, operands with their scripts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from fractions import Fraction

from dpverify.proving.second_reader.rows import (
    BRACKETS,
    HEADS,
    INVERSES,
    NOTICED,
    RELATIONS,
    TIMES,
    WIDE,
    Head,
    Item,
    Places,
    is_name,
    is_point,
    is_sign,
    order_of,
    texts,
)
from dpverify.proving.second_reader.trees import (
    FORMULAS,
    Tree,
    free,
    has_order,
    is_vector,
    letter,
    number,
    put,
)
from dpverify.proving.second_reader.typography import PrintedMark, Row
from dpverify.proving.second_reader.vocabulary import (
    BARS,
    OPENING,
    FoundWord,
    shows,
    takes_a_factor,
    takes_a_power,
)


class Expressions(Places, ABC):
    """A row in which expressions are read."""

    @abstractmethod
    def implication(self) -> Item:
        """What may stand in brackets: a number or a formula."""

    def number(self, item: Item) -> Tree:
        """A number, not a formula."""
        self.refuse(item.value.head in FORMULAS, "a number belongs here, not a formula")
        return item.value

    def quantity(self) -> Tree:
        """A sum that is a number."""
        return self.number(self.sum())

    def operands(self) -> list[Tree]:
        """Numbers with commas between them."""
        found = [self.quantity()]
        while self.sign(","):
            found.append(self.quantity())
        return found

    def whole(self) -> Item:
        """All of the row, as an expression."""
        found = self.sum()
        self.refuse(self.at < len(self.row), "an expression ends here, and something follows")
        return found

    def inner(self, row: Row) -> Tree:
        """The number that another row is."""
        return self.number(self.line(row).whole())

    def sum(self) -> Item:
        """Terms with signs between them; a single one as it is."""
        sign = self.sign("+", "-")
        item = self.term()
        value = _minus(item, self.number(item)) if sign == "-" else item.value
        adds = False
        while self.here.text in ("+", "-"):
            self.refuse(item.open, "a sum or derivative that could end here or go on")
            self.refuse(self.parted(WIDE) and not self.here.broken, "wide space before a sign")
            operator = "sub" if self.sign("+", "-") == "-" else "add"
            left, item, adds = self.number(Item(value)), self.term(), True
            value = Tree(operator, (left, self.number(item)))
        return Item(value, "sum", adds=adds, open=item.open) if sign or adds else item

    def term(self) -> Item:
        """Operands side by side, or with signs of multiplication and division between them."""
        item = self.factor()
        left, digits, divided, several = item.value, item.digits, False, False
        while not self.closes():
            start, sign = self.at, self.sign(*TIMES, "/")
            if not sign and not self.starts():
                break
            self.refuse(divided, "a factor that could be part of the divisor")
            self.refuse(item.unclosed, "a factor that could be part of the function's argument")
            self.refuse(item.open and item.kind == "derivative", "a factor that could be differentiated, too")
            wide = self.here.gap >= WIDE or self.parted(NOTICED)
            before, item = item, self.factor(sign)
            if not sign:
                self.refuse(wide, "wide space between factors", start)
                self.side_by_side(before, item, start)
            over, value = self.number(Item(left)), self.number(item)
            if sign == "/":
                left, divided = _quotient(over, value, digits, item.digits), True
            else:
                left = Tree("mul", (over, value))
            digits, several = None, True
        if not several:
            return item
        return Item(left, plain=False, unclosed=item.unclosed, open=item.open, several=True)

    def side_by_side(self, before: Item, item: Item, start: int) -> None:
        """Refuse factors that could be something else than a product."""
        numeral, letters = before.kind == "number" and before.plain, before.kind == "letter"
        numerals = item.kind == "fraction" and item.plain and item.digits is not None
        bracket = item.kind == "bracket"
        argument = bracket and (
            (before.kind == "constant" and item.plain and not item.adds)
            or (letters and not before.counted and (not item.adds or self.is_called(before, start)))
        )
        for what, could_be in (
            ("an index", item.kind == "number" and item.plain),
            ("added to the number", numeral and numerals),
            ("only a part of what `!` stands behind", item.counted and not bracket),
            ("taken at the point together with it", item.kind == "point"),
            ("part of the letter", letters and before.plain and not takes_a_factor(before.word)),
            ("a function's argument", argument),
        ):
            self.refuse(could_be, f"what stands right behind a factor could be {what}", start)

    def is_called(self, item: Item, start: int) -> bool:
        """Whether a letter is one that functions go by, and is not seen in the brackets behind it."""
        value = item.value.parts[0] if item.value.head == "pow" else item.value
        whole = value.head == "sym" and self.state.domains[value.name].kind == "integer"
        named = _goes_by(item.word, _CALLED | _MAY_BE_CALLED if item.plain else _CALLED)
        return not whole and named and not shows(self.row[start : self.at], item.word)

    def factor(self, sign: str = "") -> Item:
        """A number, letter, bracket, function, sum or the like, with what stands at it; `sign` stands before it."""
        self.refuse(self.ends() or not self.starts(), "a number or letter is missing")
        with self.state.deeper():
            mark, start = self.here, self.at
            if mark.text == r"\frac" and (derived := self.derivative()) is not None:
                item = self.differentiated(*derived)
            elif (found := self.found(start)) is not None:
                item = self.word(found)
            elif mark.text.isdigit():
                item = self.digits()
            elif (kind := order_of(mark)) is not None and self.ahead().text in BRACKETS:
                item = self.order(*kind)
            elif is_sign(mark, "e"):
                item = self.power_of_e()
            else:
                head = self.head()
                if head is None:
                    raise self.refused("this is no declared letter, number or sign of the notation")
                item = getattr(self, head.reads)(head)
        self.refuse(
            sign == "/" and item.kind in ("big", "derivative"), "a sum or derivative under `/`", start
        )
        return item

    def finished(
        self, value: Tree, last: PrintedMark, kind: str = "", word: Row = (), *, adds: bool = False
    ) -> Item:
        """An operand with the power, factorial and point behind its last mark."""
        self.bears(last, "^")
        plain, counted = not last.above, False
        if last.above:
            named = is_name(last.above) and (len(last.above) < 4 or kind == "letter")
            self.refuse(named or kind == "fraction", "a superscript that could be no power", self.at - 1)
            value = Tree("pow", (self.number(Item(value)), self.inner(last.above)))
        while self.here.text == "!":
            self.refuse(not plain, "a factorial beside another sign")
            self.take("!")
            value, plain, counted = Tree("factorial", (self.number(Item(value)),)), False, True
        return Item(value, kind, plain, word, adds=adds, counted=counted)

    def touches(self, by: int = 0) -> bool:
        """Whether a digit stands so many marks further on that touches what stands before it."""
        return self.ahead(by).text.isdigit() and self.ahead(by).start == self.ahead(by - 1).end

    def digits(self) -> Item:
        """A number in digits, perhaps with a point."""
        mark = self.next()
        text = mark.text
        while True:
            pointed = self.here.text == "." and self.here.start == mark.end and "." not in text
            if not self.touches() and not (pointed and self.touches(1)):
                break
            mark = self.next()
            text += mark.text
        exponent = self.ahead(1 + (self.ahead().text in ("+", "-"))).text
        euler = is_sign(self.here, "e") or self.here.text == "E"
        plain = not (mark.scripted or self.here.scripted)
        self.refuse(euler and plain and exponent.isdigit(), "a number, e and a number: a power of ten?")
        if self.here.text == "," and self.here.start == mark.end and self.touches(1):
            three = [self.touches(k) for k in range(1, 5)] == [True, True, True, False]
            grouped = len(text) < 4 and text[0] != "0" and three
            listed = self.open and not (grouped and self.open[-1] not in ("interval", r"\langle"))
            self.refuse(not listed, "a comma between digits: it could be part of a number")
        known = Fraction(text)
        item = self.finished(number(known), mark, "number")
        return replace(item, digits=known) if item.plain and "." not in text else item

    def word(self, found: FoundWord) -> Item:
        """A declared letter, or a definition."""
        word, rest, start = found.word, found.rest, self.at
        self.at = found.stop
        if word.call == "after":
            argument, closing = self.enclosed(self.quantity, "(")
            return self.finished(self.defined(found, argument, rest.primes), closing)
        if word.call == "below":
            value = self.defined(found, self.inner(rest.below), 0)
            return self.finished(value, replace(rest, below=()), "letter", word=word.whole)
        named = rest.above and (is_name(rest.above) or not takes_a_power(word.printed))
        self.refuse(rest.below or rest.primes or named, "a letter with scripts that is not declared", start)
        if word.name:
            self.state.uses.append((word, frozenset()))
        value = letter(word.name) if word.name else self.defined(found, None, 0)
        return self.finished(value, rest, "letter", word=word.printed)

    def defined(self, found: FoundWord, argument: Tree | None, primes: int) -> Tree:
        """What a definition stands for, with something in its parameter's place."""
        word = found.word
        assert word.body is not None
        body = word.body()
        self.state.uses.append((word, free(body) - {word.parameter}))
        if argument is None:
            return body
        if primes:
            body = Tree("diff", (body,), word.parameter, Fraction(primes))
        return body if argument == letter(word.parameter) else put(body, word.parameter, argument)

    def power_of_e(self) -> Item:
        """e, or e with a power."""
        mark = self.next()
        value = Tree("exp", (self.inner(mark.above) if mark.above else number(1),))
        return self.finished(value, replace(mark, above=()), "" if mark.above else "constant")

    def constant(self, _: Head) -> Item:
        """Pi or infinity."""
        mark = self.next()
        return self.finished(Tree("pi") if mark.text == r"\pi" else Tree("inf", name="+"), mark, "constant")

    def bracket(self, _: Head) -> Item:
        """What is in brackets, or from `\\left.` to a bar at a point."""
        start, used, text = self.at, len(self.state.uses), self.here.text
        with self.state.deeper():
            if text == r"\left.":
                self.open.append(self.take(text).text)
                item = self.implication()
                self.open.pop()
                return self.taken(self.number(item), "limits", used)
            item, closing = self.enclosed(self.implication)
        formula, braces = item.value.head in FORMULAS, text == r"\{"
        unmarked = {*OPENING, *BARS}.isdisjoint(texts(self.row[start + 1 : self.at - 1]))
        number_alone = not formula and unmarked and (braces or (text == "[" and not item.adds))
        self.refuse(
            (formula and braces) or number_alone,
            "these brackets could mean a set, an event or a part of a number",
            self.at - 1,
        )
        value = self.finished(item.value, closing, "bracket", adds=item.adds)
        return self.taken(self.number(value), "point", used) if self.own_point() else value

    def taken(self, body: Tree, kind: str, used: int) -> Item:
        """The value at a point, of what was read since then."""
        self.refuse(not is_point(self.here), r"`|_{x=...}` is missing")
        mark = self.take("|", scripts="_'^")
        line = self.line(mark.below)
        at = line.place()
        self.state.check_fixed(used, [at])
        line.take("=")
        return self.finished(Tree("at", (body, line.whole().value), at), replace(mark, below=()), kind)

    def bars(self, _: Head) -> Item:
        """An absolute value or a norm."""
        opening = self.here
        value, closing = self.enclosed(self.quantity, *BARS)
        vector = is_vector(value, self.state.domains)
        indices = ["", "2"] if vector else ["", "1", "2", r"\infty"]
        if opening.text == "|":
            indices = [] if vector else [""]
        index = "".join(texts(closing.below))
        self.refuse(index not in indices or closing.primes, "bars that are no such norm", self.at - 1)
        self.refuse(opening.side == "r" or closing.side == "l", "a bar on the wrong side", self.at - 1)
        return self.finished(Tree("norm" if vector else "abs", (value,)), replace(closing, below=()))

    def group(self, head: Head) -> Item:
        """Rounding, or an inner product."""
        parts, closing = self.enclosed(self.operands, self.here.text)
        return self.finished(self.applied(head, parts), closing)

    def fraction(self, _: Head) -> Item:
        """A quotient, printed as a fraction."""
        mark = self.next()
        above, below = (self.line(part).whole() for part in mark.inside)
        value = _quotient(self.number(above), self.number(below), above.digits, below.digits)
        item = self.finished(value, mark, "fraction")
        numerals = item.plain and above.digits is not None and below.digits is not None
        return replace(item, digits=Fraction(0) if numerals else None)

    def binomial(self, _: Head) -> Item:
        """A binomial coefficient."""
        mark = self.next()
        return self.finished(Tree("binomial", tuple(map(self.inner, mark.inside))), mark)

    def root(self, _: Head) -> Item:
        """A root, square where no order stands at it."""
        mark = self.next()
        order, under = mark.inside
        parts = (self.inner(under), self.inner(order) if order else number(2))
        return self.finished(Tree("root", parts), mark)

    def applied(self, head: Head, arguments: list[Tree]) -> Tree:
        """A head with its arguments."""
        fits = head.least <= len(arguments) <= head.most
        self.refuse(not fits, "a function or brackets with another number of arguments", self.at - 1)
        return Tree(head.name, tuple(arguments))

    def call(self, head: Head) -> Item:
        """A function with its argument."""
        start = self.at
        inverse = head.name in INVERSES and texts(self.here.above) == ["-", "1"]
        head = HEADS[INVERSES[head.name]] if inverse else head
        self.refuse(head.name == "tan", "a tangent")
        name = self.next(head.scripts)
        power = self.power_at(name) if name.above and not inverse else None
        below = [self.inner(name.below)] if name.below else []
        if below:
            head = replace(head, name="log_base", least=2, most=2)

        def of(arguments: list[Tree]) -> Tree:
            value = self.applied(head, arguments + below)
            return value if power is None else Tree("pow", (value, power))

        if self.here.text in BRACKETS:
            arguments, closing = self.enclosed(self.operands)
            behind = closing.scripted or self.here.text == "!" or self.own_point()
            self.refuse(head.bare and behind, "a sign that could be the argument's", self.at - 1)
            return self.finished(of(arguments), closing)
        following = self.head()
        large = following and (following.reads in ("big", "integral") or self.here.text == r"\left.")
        self.refuse(not head.bare or large, "a function needs its argument in brackets", start)
        item = self.factor()
        self.refuse(
            item.counted or item.kind in ("point", "derivative"), "an argument without brackets", start
        )
        return Item(of([self.number(item)]), plain=False, unclosed=True)

    def power_at(self, name: PrintedMark) -> Tree:
        """The power of the value, written at the function's name."""
        raised = number(1) if is_name(name.above) else self.inner(name.above)
        power = raised.head == "num" and raised.value >= 2 and raised.value.denominator == 1
        self.refuse(not power, "a power at a function's name: it could mean the function repeated")
        return raised

    def big(self, head: Head) -> Item:
        """A sum or product over an index, up to the end of its term."""
        start, mark = self.at, self.next(head.scripts)
        index, first, last = self.range(mark)
        with self.state.binding() as indices:
            indices.append(index)
            body = self.term()
        self.refuse(head.name == "product" and body.several, "a product that could end after a factor", start)
        value = Tree(head.name, (self.number(body), first, last), index)
        return Item(value, "big", plain=False, open=not (body.kind == "bracket" and body.plain))

    def range(self, mark: PrintedMark) -> tuple[str, Tree, Tree]:
        """The index of a sum with its ends: `i=1` below and `n` above, `1\\le i\\le n`, or `i\\le n`."""
        line = self.line(mark.below)
        sides, relations = [line.sum()], []
        while relation := line.sign(*RELATIONS):
            relations.append(relation)
            sides.append(line.sum())
        side = sides[1 if len(sides) == 3 else 0]
        index = self.state.domains[side.value.name] if side.lone else None
        if index is not None and index.kind == "integer" and line.at == len(line.row):
            ends = [self.number(end) for end in sides if end is not side]
            form = (*relations, "above") if mark.above else tuple(relations)
            if form == ("=", "above"):
                return index.name, ends[0], self.inner(mark.above)
            if form == (r"\le", r"\le"):
                return index.name, ends[0], ends[1]
            if form == (r"\le",) and index.lower is not None:
                return index.name, number(index.lower), ends[0]
        raise self.refused("a sum needs an index, an integer letter, with both its ends", self.at - 1)

    def integral(self, head: Head) -> Item:
        """From the sign of an integral to its d."""
        mark = self.next(head.scripts)
        self.refuse(not (mark.below and mark.above), "an integral needs both its ends", self.at - 1)
        first, last = self.inner(mark.below), self.inner(mark.above)
        self.integrals += 1
        with self.state.binding() as indices:
            body = self.quantity()
            self.refuse(not self.differential(), "the d of an integral is missing")
            self.at += 1
            variable = self.place()
            indices.append(variable)
        self.integrals -= 1
        return Item(Tree("integral", (body, first, last), variable), plain=False)

    def derivative(self) -> tuple[str, int] | None:
        """The letter and order where a fraction is a sign of differentiation."""
        above, below = self.here.inside
        sign = next((s for s in ("d", r"\partial") if is_sign(above[0], s)), "")
        if not sign or not is_sign(below[0], sign) or below[0].scripted or len(below) < 2:
            return None
        over, raised = below[1:], below[-1].above
        if over[0] == PrintedMark("(") and replace(over[-1], above=()) == PrintedMark(")"):
            over = over[1:-1]
        else:
            raised = ()
        line, numerator = self.line(over), self.line(above)
        found = line.found(0)
        if found is None or found.stop < len(over) or not found.word.name:
            return None
        self.refuse(len(above) == 2 and numerator.found(1), "a quotient of differentials: a derivative?")
        rest, power = found.rest, "".join(texts(above[0].above))
        if len(above) > 1 or rest.below or rest.primes or above[0].below or above[0].primes:
            return None
        both = raised and rest.above
        if both or "".join(texts(raised or rest.above)) != power or power not in ("", *"123456789"):
            return None
        self.refuse(sign == above[0].text == "d" and numerator.found(0), "a d that could be the letter d")
        return found.word.name, int(power or 1)

    def differentiated(self, variable: str, order: int) -> Item:
        """A derivative and what it is taken of: one factor, in brackets where others follow."""
        self.take(r"\frac")
        start, head, used = self.at, self.head(), len(self.state.uses)
        body = self.factor()
        self.state.check_fixed(used, [variable])
        headed = head is not None and head.reads in ("call", "big", "integral")
        self.refuse(
            headed or not body.plain or body.unclosed, "what is differentiated, without brackets", start
        )
        value = Tree("diff", (self.number(body),), variable, Fraction(order))
        return Item(value, "derivative", plain=False, open=body.kind != "bracket")

    def order(self, head: str, soft: bool) -> Item:
        """An O( ), with the letters below it on which its constant may depend."""
        mark = self.next("_")
        depends: list[Tree] = []
        if mark.below:
            line = self.line(mark.below)
            while not depends or line.sign(","):
                depends.append(letter(line.place()))
            self.refuse(line.at < len(line.row), "below an order, letters on which it depends", self.at - 1)
        of, closing = self.enclosed(self.quantity)
        self.refuse(has_order(of), "an order of an order")
        return self.finished(Tree(head, (of, *depends), "~" if soft else ""), closing)


_CALLED = frozenset((*"fghFGH", r"\phi", r"\varphi", r"\psi", r"\Phi", r"\Psi"))
"""Letters that functions go by, squared as well."""
_MAY_BE_CALLED = frozenset(
    (*"pqELPQRTV", r"\ell", r"\delta", r"\mu", r"\nu", r"\pi", r"\rho", r"\chi", r"\omega")
)
"""Letters that functions and other quantities go by."""


def _goes_by(word: Row, names: frozenset[str]) -> bool:
    """Whether a letter is one of these, with an accent or an index perhaps, or from another alphabet."""
    if len(word) != 1:
        return False
    (mark,) = word
    other = mark.text.startswith((r"\math", r"\name{"))
    return mark.text in names or other or any(_goes_by(inner, names) for inner in mark.inside)


def _minus(item: Item, value: Tree) -> Tree:
    """Minus a term: a negative number where it is printed without brackets."""
    if value.head == "num" and item.kind != "bracket":
        return number(-value.value)
    return Tree("inf", name="-") if value.head == "inf" else Tree("neg", (value,))


def _quotient(over: Tree, under: Tree, above: Fraction | None, below: Fraction | None) -> Tree:
    """A quotient; a number where it is one of numerals in lowest terms."""
    if above is not None and below is not None and below > 1 and math.gcd(int(above), int(below)) == 1:
        return number(above / below)
    return Tree("div", (over, under))
