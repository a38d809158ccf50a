"""A row of marks that is read from the left: the table of signs, what is known while it is read, and its places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Self, TypeVar

from dpverify.proving.second_reader.orders import Coefficients
from dpverify.proving.second_reader.trees import DeclaredLetter, Tree
from dpverify.proving.second_reader.typography import PrintedMark, RefusedError, Row, refuse
from dpverify.proving.second_reader.vocabulary import (
    BARS,
    OPENING,
    FoundWord,
    Vocabulary,
    VocabularyWord,
    encloses,
    has_in_it,
    shows,
)

T = TypeVar("T")
MOST_MARKS = 1500
DEEPEST = 60
"""Brackets, functions, sums and quantifiers within one another at most."""
NOTICED, WIDE = 5, 9
"""From these widths on, a gap may part two formulas, and looks as if it parted whatever stands there."""


@dataclass(frozen=True)
class Head:
    """What a sign begins."""

    reads: str  # the method that reads it
    name: str = ""  # what it is in a tree
    scripts: str = ""  # those that its sign may bear, of `_`, `'` and `^`
    least: int = 1  # how many arguments it has at least
    most: int = 1
    bare: bool = False  # whether its argument needs no brackets


HEADS = {
    r"\exp": Head("call", "exp", bare=True), r"\ln": Head("call", "log", "^", bare=True),
    r"\log": Head("call", "log", "_^", bare=True), r"\Phi": Head("call", "phi"), r"\Gamma": Head("call", "gamma"),
    r"\Phi^{-1}": Head("call", "phi_inverse", "^"), "erfc": Head("call", "erfc"),
    r"\sin": Head("call", "sin", bare=True), r"\cos": Head("call", "cos", bare=True),
    r"\arctan": Head("call", "arctan", bare=True), r"\tan^{-1}": Head("call", "arctan", "^", bare=True),
    r"\tan": Head("call", "tan", bare=True),
    r"\max": Head("call", "max", most=99), r"\min": Head("call", "min", most=99),
    r"\sum": Head("big", "sum", "_^"), r"\prod": Head("big", "product", "_^"), r"\int": Head("integral", "", "_^"),
    **dict.fromkeys(("(", "[", r"\{", r"\left."), Head("bracket")), **dict.fromkeys(BARS, Head("bars")),
    r"\lfloor": Head("group", "floor"), r"\lceil": Head("group", "ceiling"),
    r"\langle": Head("group", "inner", least=2, most=2), r"\frac": Head("fraction"),
    r"\binom": Head("binomial"), r"\sqrt": Head("root"), r"\pi": Head("constant"), r"\infty": Head("constant"),
}  # fmt: skip
"""Every sign that begins an operand; letters, numbers, orders and e besides."""
INVERSES = {"phi": r"\Phi^{-1}", "tan": r"\tan^{-1}"}
"""Functions of which `^{-1}` makes the inverse."""
RELATIONS = {"=": "==", r"\ne": "!=", r"\le": "<=", "<": "<", r"\ge": ">=", ">": ">"}
TIMES = frozenset((r"\cdot", r"\times", "*"))
BRACKETS = ("(", "[", r"\{")
SPELLED = {f"\\name{{{name}}}": f"\\{name}" for name in ("exp", "ln", "log", "max", "min", "sin", "cos", "arctan")} | {
    r"\name{erfc}": "erfc", r"\text{erfc}": "erfc",
}  # fmt: skip
_BREAKS = frozenset((*RELATIONS, *TIMES, "/", ",", ";", r"\implies", r"\iff", r"\land", r"\lor"))
"""Signs that a new line may begin with, and that may end one, as plus and minus may; and words may."""
_NO_OPERANDS = _BREAKS | {*OPENING.values(), r"\neg", r"\forall", r"\exists", r"\in"}
_SPELLED_OUT = re.compile(
    "exp|log|ln|max|min|sup|inf|lim|sin|cos|tan|sqrt|sum|prod|int|arg|mod|alpha|beta|gamma|delta|epsilon|sigma|eta|pi"
    "|and|or|if|iff|for|all|not|Pr"
)
"""Words that letters side by side are not meant to be a product of."""
_NAMING = frozenset(("*", r"\star", r"\ast", r"\top", r"\dagger", "+", "-", r"\circ"))
"""Superscripts that are part of a name and no powers."""


@dataclass(frozen=True)
class Item:
    """What was read of a place: its value, and what may be asked about how it was printed."""

    value: Tree
    kind: str = ""  # `number`, `letter`, `bracket`, `fraction`, `sum`, `point`, ...
    plain: bool = True  # whether nothing stands at it, no power, say
    word: Row = ()  # a letter's marks
    digits: Fraction | None = None  # the number where it is printed in digits alone
    adds: bool = False  # whether it is a sum, or brackets around one
    unclosed: bool = False  # a function without brackets: a factor behind it could be part of its argument
    open: bool = False  # a sum or derivative without brackets: a term behind it could be part of it
    counted: bool = False  # whether it ends with `!`
    several: bool = False  # whether it is a product or quotient without brackets
    sides: tuple[Item, ...] = ()  # of relations, what stands between them
    ways: tuple[str, ...] = ()  # the signs of relations

    @property
    def lone(self) -> bool:
        """Whether it is a letter alone."""
        return self.kind == "letter" and self.plain and self.value.head == "sym"


@dataclass
class Choices:
    """What is decided at each bar that may open or close; the first answer is that it closes."""

    told: tuple[bool, ...] = ()
    made: list[bool] = field(default_factory=list)

    def closes(self) -> bool:
        """The next decision."""
        k = len(self.made)
        self.made.append(self.told[k] if k < len(self.told) else True)
        return self.made[k]


@dataclass
class State:
    """What is known while one formula is read."""

    vocabulary: Vocabulary
    domains: dict[str, DeclaredLetter]  # by name, of letters and of constants of orders
    printed: dict[str, Row]  # each letter's marks
    constants: Coefficients  # those of orders such as O(n)
    choices: Choices  # the decisions about bars
    uses: list[tuple[VocabularyWord, frozenset[str]]] = field(
        default_factory=list
    )  # and what each depends on
    within: int = 0  # quantifiers, negations and `or` around it, in which no constant exists before all else
    depth: int = 0

    @contextmanager
    def binding(self) -> Iterator[list[str]]:
        """What is read here is in the reach of the indices that are added to the list."""
        start, names = len(self.uses), list[str]()
        yield names
        for word, depends in self.uses[start:]:
            hidden = {
                name for name in depends.intersection(names) if not shows(word.whole, self.printed[name])
            }
            refuse(hidden, "a quantity depends on an index and does not show it")
        self.check_fixed(start, names)

    def check_fixed(self, start: int, names: list[str]) -> None:
        """Refuse letters, read since then, that look as if they depended on others that are bound or replaced there."""
        for word, _ in self.uses[start:]:
            others = {name for name in names if word.name and self.printed[name] != word.whole}
            shown = any(has_in_it(word.whole, self.printed[name]) for name in others)
            refuse(shown, f"{word.name} looks as if it depended on what is bound or replaced, and does not")

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is read here is said within a quantifier or the like."""
        self.within += 1
        yield
        self.within -= 1

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level down."""
        self.depth += 1
        refuse(self.depth > DEEPEST, f"it is nested more than {DEEPEST} deep")
        yield
        self.depth -= 1


def texts(row: Row) -> list[str]:
    """What its marks are, scripts left out."""
    return [mark.text for mark in row]


def is_sign(mark: PrintedMark, sign: str) -> bool:
    """Whether a mark is a sign, in roman type or not."""
    return mark.text == sign or (mark.text == r"\mathrm" and texts(mark.inside[0]) == [sign])


def is_name(above: Row) -> bool:
    """Whether a superscript is part of a name: a star, or an index in brackets."""
    if len(above) == 1:
        return above[0].text in _NAMING
    return above[0].text == "(" and encloses(above) and not above[-1].scripted


def is_point(mark: PrintedMark) -> bool:
    """Whether it is a bar with an equation below it."""
    return mark.text == "|" and "=" in texts(mark.below)


def order_of(mark: PrintedMark) -> tuple[str, bool] | None:
    """Which order a mark stands for, and whether it has a tilde."""
    if mark.text in (r"\tilde", r"\widetilde") and len(mark.inside[0]) == 1:
        plain = order_of(mark.inside[0][0])
        return (plain[0], True) if plain and not plain[1] and not mark.inside[0][0].scripted else None
    if mark.text == r"\mathcal" and texts(mark.inside[0]) == ["O"]:
        return "O", False
    named = {"O": "O", r"\Omega": "Omega", r"\Theta": "Theta"}
    return (named[mark.text], False) if mark.text in named else None


def _refuse_looks(row: Row) -> None:
    """Refuse what looks like something else: signs over one another, words without commands, lines of their own."""
    refuse(len(row) > MOST_MARKS, f"it has more than {MOST_MARKS} signs")
    refuse(any(mark.gap < -3 for mark in row), "space so far below 0 that one sign is printed over another")
    run = "".join(m.text if re.fullmatch("[A-Za-z]", m.text) and not m.scripted else " " for m in row)
    for match in _SPELLED_OUT.finditer(run):
        together = all(one.end == other.start for one, other in pairwise(row[match.start() : match.end()]))
        refuse(together, f"`{match[0]}` is a product of letters, and looks like a word")
    broken = [k for k, mark in enumerate(row) if mark.broken and k]
    for k, stop in zip(broken, [*broken[1:], len(row)], strict=False):
        mark, before = row[k], row[k - 1]
        signed = mark.text in ("+", "-") and RELATIONS.keys().isdisjoint(texts(row[k:stop]))
        words = r"\text{" in (mark.text[:6], before.text[:6])
        around = before.text in OPENING or mark.text in OPENING.values()
        goes_on = signed or words or around or mark.text in _BREAKS or before.text in (*_BREAKS, "+", "-")
        refuse(not goes_on, f"a line that begins with `{mark.text}` may begin a formula of its own")


class Places:
    """A row of marks that is read from the left."""

    def __init__(self, state: State, row: Row) -> None:
        _refuse_looks(row)
        self.state, self.row, self.at = state, row, 0
        self.integrals = 0
        self.open: list[str] = []
        self.decided: dict[int, bool] = {}
        self.letters: dict[int, FoundWord | None] = {}

    def line(self, row: Row) -> Self:
        """Another row of the same formula."""
        return type(self)(self.state, row)

    def refused(self, says: str, start: int | None = None) -> RefusedError:
        """What is wrong, and where."""
        at = min(self.at if start is None else start, len(self.row) - 1)
        mark = self.row[at] if self.row else PrintedMark("")
        return RefusedError(f"{says}, at `{mark.text}` (character {mark.start + 1})")

    def refuse(self, wrong: object, says: str, start: int | None = None) -> None:
        """Refuse the formula if something is wrong with it."""
        if wrong:
            raise self.refused(says, start)

    def bears(self, mark: PrintedMark, scripts: str) -> PrintedMark:
        """The mark before this place, which bears no other scripts than these."""
        stand = {"_": mark.below, "'": mark.primes, "^": mark.above}
        other = any(found and script not in scripts for script, found in stand.items())
        self.refuse(other, "an index, a prime or a superscript where none belongs", self.at - 1)
        return mark

    @property
    def here(self) -> PrintedMark:
        """The mark that is next; one without text at the end."""
        return self.ahead(0)

    def ahead(self, by: int = 1) -> PrintedMark:
        """A mark further on."""
        return self.row[self.at + by] if self.at + by < len(self.row) else PrintedMark("")

    def found(self, at: int) -> FoundWord | None:
        """The letter or definition at a place."""
        if at not in self.letters:
            self.letters[at] = self.state.vocabulary.find(self.row, at) if at < len(self.row) else None
        return self.letters[at]

    def head(self) -> Head | None:
        """What the sign here begins, if it is one that is no letter."""
        text = self.here.text
        return None if self.found(self.at) is not None else HEADS.get(SPELLED.get(text, text))

    def parted(self, width: float) -> bool:
        """Whether there is a gap here that may part two formulas: relations stand on both of its sides."""
        sides = self.row[: self.at], self.row[self.at :]
        return self.here.gap >= width and not any(RELATIONS.keys().isdisjoint(texts(side)) for side in sides)

    def take(self, *wanted: str, scripts: str = "") -> PrintedMark:
        """The next mark, which must be one of these and bear no other scripts."""
        self.refuse(self.here.text not in wanted, f"`{wanted[0]}` is missing")
        return self.next(scripts)

    def next(self, scripts: str = "_'^") -> PrintedMark:
        """The next mark, which must bear no other scripts."""
        self.at += 1
        return self.bears(self.ahead(-1), scripts)

    def sign(self, *wanted: str) -> str:
        """The next mark if it is one of these signs, which bear no scripts; else nothing."""
        return self.take(*wanted).text if self.here.text in wanted else ""

    def enclosed(self, read: Callable[[], T], *opening: str) -> tuple[T, PrintedMark]:
        """What stands in brackets, and the closing one, which bears the scripts of the whole."""
        partner = self.take(*(opening or BRACKETS)).text
        self.open.append(partner)
        found = read()
        self.open.pop()
        return found, self.take(OPENING.get(partner, partner), scripts="_'^")

    def place(self) -> str:
        """The name of a letter that stands alone here."""
        found = self.found(self.at)
        if found is None or not found.letter:
            raise self.refused("a declared letter belongs here")
        self.at = found.stop
        return found.letter

    def ends(self) -> bool:
        """Whether what is read here ends: at the row's end, or the d of an integral."""
        return self.at >= len(self.row) or (self.integrals > 0 and self.differential())

    def closes(self) -> bool:
        """Whether it ends, or a bar closes here; where it may also open, that is tried as well."""
        mark, following = self.here, self.ahead()
        if self.ends() or mark.text not in BARS:
            return self.ends()
        if is_point(mark):
            return True
        if mark.side == "l" or not self.open or self.open[-1] != mark.text:
            return mark.side == "r"
        if mark.side == "r" or mark.scripted or following.text in ("", "+", "-"):
            return True
        if self.at not in self.decided:
            self.decided[self.at] = not self.starts(1) or self.state.choices.closes()
        return self.decided[self.at]

    def starts(self, by: int = 0) -> bool:
        """Whether a mark may begin an operand."""
        mark = self.ahead(by)
        text = mark.text
        if not text or self.found(self.at + by) is not None:
            return bool(text)
        command = text.startswith("\\") and text[1:].isalpha() and text not in _NO_OPERANDS
        return text.isalnum() or mark.inside != () or command or SPELLED.get(text, text) in HEADS

    def own_point(self) -> bool:
        """Whether a bar stands here that belongs to the operand before it, and not to a `\\left.` before that."""
        return is_point(self.here) and self.open[-1:] != [r"\left."]

    def differential(self) -> bool:
        """Whether the d of an integral stands here, a letter behind it."""
        found = self.found(self.at + 1)
        if not is_sign(self.here, "d") or self.here.scripted or found is None or not found.word.name:
            return False
        self.refuse(self.here.text == "d" and self.found(self.at), "a d that could be the letter d")
        return True
