"""Expressions, read by descent from the left: sums of terms, terms of operands, operands with their scripts."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from dpverify.proving.second_reader.functions import FunctionRow
from dpverify.proving.second_reader.rows import (
    BRACKETS,
    FUNCTIONS,
    NOTICED,
    SPELLED,
    TIMES,
    WIDE,
    Item,
    is_name,
    is_sign,
    order_of,
)
from dpverify.proving.second_reader.trees import FORMULAS, Tree, free, is_vector, letter, put
from dpverify.proving.second_reader.trees import number as numeral
from dpverify.proving.second_reader.typography import PrintedMark, Row
from dpverify.proving.second_reader.vocabulary import (
    BARS,
    OPENING,
    FoundWord,
    shows,
    takes_a_factor,
    takes_a_power,
)

_GROUPS = {r"\lfloor": "floor", r"\lceil": "ceiling", r"\langle": "inner"}


class Expressions(FunctionRow):
    """A row in which expressions are read."""

    # ------------------------------------------------------------------------------------- sums and terms

    def sum(self) -> Item:
        """Terms with signs between them; a single one as it is."""
        sign = self.sign("+", "-")
        item = self.term()
        value = _minus(item, self.number(item)) if sign == "-" else item.value
        count = 1
        while self.here.text in ("+", "-"):
            if item.open:
                raise self.refuse("a sum or derivative that could end here or go on; brackets say which")
            if self.parted(WIDE) and not self.here.broken:
                raise self.refuse("wide space before a sign: it could begin another formula")
            operator = "sub" if self.sign("+", "-") == "-" else "add"
            left = value if count > 1 or sign == "-" else self.number(item)
            item = self.term()
            value = Tree(operator, (left, self.number(item)))
            count += 1
        if count == 1 and not sign:
            return item
        return Item(value, "sum", adds=count > 1, open=item.open)

    def term(self) -> Item:
        """Operands side by side, or with signs of multiplication and division between them."""
        left: Tree | None = None
        item, sign, divided, factors = Item(numeral(0)), "", False, 0
        digits: Fraction | None = None
        while not self.ends(left is None or sign != ""):
            if self.here.text in TIMES or self.here.text == "/":
                if left is None or sign:
                    raise self.refuse("a factor is missing")
                self.refuse_reach(item, divided)
                sign = self.sign(*TIMES, "/")
                factors += 1
                continue
            if not self.starts():
                break
            start, beside = self.at, left is not None and not sign
            if beside:
                self.refuse_reach(item, divided)
                if self.here.gap >= WIDE or self.parted(NOTICED):
                    raise self.refuse("wide space between factors: another formula could begin here")
            before, item = item, self.operand(sign)
            if beside:
                self.side_by_side(before, item, start)
            factors += 1
            value = item.value if left is None and self.row_ends() else self.number(item)
            if left is None:
                left, digits = value, item.digits
            elif sign == "/":
                left = _quotient(left, value, digits, item.digits)
                divided, digits = True, None
            else:
                left, digits = Tree("mul", (left, value)), None
            sign = ""
        if left is None or sign:
            raise self.refuse("a number or letter is missing")
        if factors == 1:
            return item
        return Item(left, plain=False, unclosed=item.unclosed, open=item.open, factors=factors)

    def is_called(self, item: Item) -> bool:
        """Whether a letter is one that functions go by."""
        value = item.value.parts[0] if item.value.head == "pow" else item.value
        whole = value.head == "sym" and self.state.domains[value.name].kind == "integer"
        return not whole and _goes_by(item.word, _CALLED | _MAY_BE_CALLED if item.plain else _CALLED)

    def row_ends(self) -> bool:
        """Whether no factor follows, so that what is in brackets may be a formula."""
        return self.ends(False) or not (self.starts() or self.here.text in TIMES or self.here.text == "/")

    def refuse_reach(self, item: Item, divided: bool) -> None:
        """A further factor where it is not clear what it belongs to."""
        if divided:
            raise self.refuse("a factor after a division: it could be part of the divisor")
        if item.unclosed:
            raise self.refuse("a factor after a function without brackets: it could be part of its argument")
        if item.open and item.kind == "derivative":
            raise self.refuse("a factor after a derivative: it could be part of what is differentiated")

    def side_by_side(self, before: Item, item: Item, start: int) -> None:
        """Refuse factors that could be something else than a product."""
        if item.kind == "number" and item.plain:
            raise self.refuse("a number right behind a factor: it could be an index", start)
        numeral_fraction = item.kind == "fraction" and item.plain and item.digits is not None
        if before.kind == "number" and before.plain and numeral_fraction:
            raise self.refuse("a number before a fraction of numbers: it could be their sum", start)
        if item.counted and item.kind != "bracket":
            raise self.refuse("a factorial behind a factor: it could be one of the product", start)
        if item.kind == "point":
            raise self.refuse("brackets around what is taken at the point are missing", start)
        if before.kind == "letter" and before.plain and not takes_a_factor(before.word):
            raise self.refuse("a factor behind a long letter: it could be part of the letter", start)
        if before.kind == "constant" and item.kind == "bracket" and item.plain and not item.adds:
            raise self.refuse("brackets behind a letter: it could be a function's argument", start)
        if before.kind == "letter" and not before.counted and item.kind == "bracket":
            named = self.is_called(before) and not shows(self.row[start : self.at], before.word)
            if not item.adds or named:
                raise self.refuse("brackets behind a letter: it could be a function's argument", start)

    # ---------------------------------------------------------------------------------------- operands

    def operand(self, sign: str = "") -> Item:
        """A number, letter, bracket, function, sum or the like, with what stands at it."""
        with self.state.deeper():
            return self._operand(sign)

    def _operand(self, sign: str) -> Item:
        mark = self.here
        text = SPELLED.get(mark.text, mark.text)
        if text == r"\frac" and (derived := self.derivative()) is not None:
            variable, order = derived
            return self.differentiated(variable, order, sign)
        found = self.found(self.at)
        if found is not None:
            return self.word(found)
        if text.isdigit():
            return self.digits()
        if text in FUNCTIONS:
            return self.call(FUNCTIONS[text])
        if (kind := order_of(mark)) is not None and self.ahead().text in BRACKETS:
            return self.order(*kind)
        if text in (r"\sum", r"\prod"):
            return self.big(sign)
        self.at += 1
        if text in (*BRACKETS, r"\left."):
            return self.bracket(mark)
        if text in BARS:
            return self.bars(mark)
        if text in _GROUPS:
            return self.group(mark, _GROUPS[text])
        if text == r"\int":
            return self.integral(mark)
        if text in (r"\frac", r"\binom", r"\sqrt"):
            return self.applied(mark)
        if is_sign(mark, "e"):
            value = Tree("exp", (self.inner(mark.above) if mark.above else numeral(1),))
            return self.finished(value, replace(mark, above=()), "" if mark.above else "constant")
        if text in (r"\pi", r"\infty"):
            return self.finished(Tree("pi") if text == r"\pi" else Tree("inf", name="+"), mark, "constant")
        self.at -= 1
        raise self.refuse("this is no declared letter, number or sign of the notation")

    def finished(
        self, value: Tree, last: PrintedMark, kind: str = "", word: Row = (), *, adds: bool = False
    ) -> Item:
        """An operand with the power, factorial and point behind its last mark."""
        if last.below or last.primes:
            raise self.refuse("an index or a prime where none belongs", self.at - 1)
        plain, counted = True, False
        if last.above:
            if is_name(last.above) and (len(last.above) < 4 or kind == "letter"):
                raise self.refuse("a superscript that is no power", self.at - 1)
            if kind == "fraction":
                raise self.refuse("a power at a fraction: it could be one of the numerator", self.at - 1)
            value, plain = Tree("pow", (self.number(Item(value)), self.inner(last.above))), False
        while self.here.text == "!":
            if not plain or self.here.scripted:
                raise self.refuse("a factorial beside another sign: their order could be either")
            self.at += 1
            value, plain, counted = Tree("factorial", (self.number(Item(value)),)), False, True
        return Item(value, kind, plain, word, adds=adds, counted=counted)

    def digits(self) -> Item:
        """A number in digits, perhaps with a point."""
        text, mark = "", self.here
        while True:
            following = self.ahead()
            text, mark = text + self.here.text, self.here
            self.at += 1
            touching = not mark.scripted and following.text and following.start == mark.end
            point = following.text == "." and "." not in text and self.ahead().start == following.end
            if not touching or not (following.text.isdigit() or (point and self.ahead().text.isdigit())):
                break
        exponent = self.ahead(1 + (self.ahead().text in ("+", "-"))).text
        euler = is_sign(self.here, "e") or self.here.text == "E"
        if euler and not (mark.scripted or self.here.scripted) and exponent.isdigit():
            raise self.refuse("a number, e and a number: it could be a power of ten")
        if self.here.text == "," and self.here.start == mark.end:
            behind = [(self.ahead(k), self.ahead(k - 1).end) for k in range(1, 5)]
            digits = [digit.text.isdigit() and digit.start == end for digit, end in behind]
            grouped = len(text) < 4 and text[0] != "0" and digits == [True, True, True, False]
            inside = self.open[-1] if self.open else ""
            if digits[0] and (not inside or (grouped and inside not in ("interval", r"\langle"))):
                raise self.refuse("a comma between digits: it could be part of a number")
        known = Fraction(text)
        item = self.finished(numeral(known), mark, "number")
        return replace(item, digits=known) if item.plain and "." not in text else item

    def word(self, found: FoundWord) -> Item:
        """A declared letter, or a definition."""
        word, rest, start = found.word, found.rest, self.at
        self.at = found.stop
        if word.call == "after":
            primes, rest = rest.primes, self.take("(")
            with self.within(rest):
                argument = self.number(self.sum())
            value = self.defined(found, argument, primes)
            return self.finished(value, self.take(")"))
        if word.call == "below":
            value = self.defined(found, self.inner(rest.below), 0)
            return self.finished(value, replace(rest, below=()), "letter", word=word.whole)
        if rest.below or rest.primes or (rest.above and is_name(rest.above)):
            raise self.refuse("the letter with these scripts is not declared", start)
        if rest.above and not takes_a_power(word.printed):
            raise self.refuse("a power behind a long letter: it could be part of the letter", start)
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

    def bracket(self, opening: PrintedMark) -> Item:
        """What is in brackets, or from `\\left.` to a bar at a point."""
        start, used = self.at, len(self.state.uses)
        with self.within(opening), self.state.deeper():
            item = self.implication()
        if opening.text == r"\left.":
            if not self.point():
                raise self.refuse(r"`\right|_{x=...}` is missing")
            return self.taken(self.number(item), "limits", used)
        closing = self.take(OPENING[opening.text])
        inner = {mark.text for mark in self.row[start : self.at - 1]}
        if opening.text == r"\{" and item.value.head in FORMULAS:
            raise self.refuse("braces around a formula: they could mean a set or an event", self.at - 1)
        other = opening.text == r"\{" or (opening.text == "[" and not item.adds)
        if other and item.value.head not in FORMULAS and not inner & {*OPENING, *BARS}:
            raise self.refuse("these brackets could mean a set, or a part of a number", self.at - 1)
        value = self.finished(item.value, closing, "bracket", adds=item.adds)
        return self.taken(self.number(value), "point", used) if self.own_point() else value

    def taken(self, body: Tree, kind: str, used: int) -> Item:
        """The value at a point, of what was read since then."""
        mark = self.take("|")
        line = self.line(mark.below)
        at = line.place()
        self.state.check_fixed(used, [at])
        line.take("=")
        value = line.whole().value
        return self.finished(Tree("at", (body, value), at), replace(mark, below=()), kind)

    def bars(self, opening: PrintedMark) -> Item:
        """An absolute value or a norm."""
        with self.within(opening):
            value = self.number(self.sum())
            closing = self.take(opening.text)
        if opening.side == "r" or closing.side == "l":
            raise self.refuse("a bar that stands on the wrong side", self.at - 1)
        which = "".join(mark.text for mark in closing.below)
        if which not in ("", "1", "2", r"\infty") or (which and opening.text == "|") or closing.primes:
            raise self.refuse("bars with an index that is no norm's", self.at - 1)
        vector = is_vector(value, self.state.domains)
        if vector and (opening.text == "|" or which not in ("", "2")):
            raise self.refuse("of a vector, only the Euclidean norm is read", self.at - 1)
        return self.finished(Tree("norm" if vector else "abs", (value,)), replace(closing, below=()))

    def group(self, opening: PrintedMark, head: str) -> Item:
        """Rounding, or an inner product."""
        with self.within(opening):
            parts = self.operands()
            closing = self.take(OPENING[opening.text])
        if len(parts) != (2 if head == "inner" else 1):
            raise self.refuse("brackets around another number of things", self.at - 1)
        return self.finished(Tree(head, tuple(parts)), closing)

    def applied(self, mark: PrintedMark) -> Item:
        """A fraction, root or binomial coefficient."""
        if mark.text == r"\sqrt":
            order, under = mark.inside
            value = Tree("root", (self.inner(under), self.inner(order) if order else numeral(2)))
            return self.finished(value, mark)
        above, below = (self.line(part).whole() for part in mark.inside)
        if mark.text == r"\binom":
            return self.finished(Tree("binomial", (self.number(above), self.number(below))), mark)
        value = _quotient(self.number(above), self.number(below), above.digits, below.digits)
        both = above.digits is not None and below.digits is not None
        item = self.finished(value, mark, "fraction")
        return replace(item, digits=Fraction(0)) if both and item.plain else replace(item, digits=None)


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
        return numeral(-value.value)
    return Tree("inf", name="-") if value.head == "inf" else Tree("neg", (value,))


def _quotient(over: Tree, under: Tree, above: Fraction | None, below: Fraction | None) -> Tree:
    """A quotient; a number where it is one of numerals in lowest terms."""
    if above is not None and below is not None and below > 1 and math.gcd(int(above), int(below)) == 1:
        return numeral(above / below)
    return Tree("div", (over, under))
