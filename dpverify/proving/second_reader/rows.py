"""A row of marks that is read from the left: what is known while it is read, and questions about places in it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Self

from dpverify.proving.second_reader.orders import Coefficients
from dpverify.proving.second_reader.trees import FORMULAS, DeclaredLetter, Tree
from dpverify.proving.second_reader.typography import PrintedMark, RefusedError, Row
from dpverify.proving.second_reader.vocabulary import (
    BARS,
    OPENING,
    FoundWord,
    Vocabulary,
    VocabularyWord,
    depths,
    has_in_it,
    shows,
)

MOST_MARKS = 1500
DEEPEST = 60
"""Brackets, functions, sums and quantifiers within one another at most."""
RELATIONS = {"=": "==", r"\ne": "!=", r"\le": "<=", "<": "<", r"\ge": ">=", ">": ">"}
BRACKETS = ("(", "[", r"\{")
TIMES = frozenset((r"\cdot", r"\times", "*"))
_BREAKS = frozenset((*RELATIONS, *TIMES, "/", ",", ";", r"\implies", r"\iff", r"\land", r"\lor"))
"""Signs that a new line may begin with, and that may end one, as plus and minus may; and words may."""
_SPELLED_OUT = re.compile(
    "exp|log|ln|max|min|sup|inf|lim|sin|cos|tan|sqrt|sum|prod|int|arg|mod|alpha|beta|gamma|delta|epsilon|sigma|eta|pi"
    "|and|or|if|iff|for|all|not|Pr"
)
"""Words that letters side by side are not meant to be a product of."""
NOTICED, WIDE = 5, 9
"""From these widths on, a gap may part two formulas, and looks as if it parted whatever stands there."""
_DEPENDS = frozenset(("*", r"\star", r"\ast", r"\top", r"\dagger", "+", "-", r"\circ"))
"""Superscripts that are part of a name and no powers."""


@dataclass(frozen=True)
class Function:
    """A function by name: how it is called in a tree, and what may stand at its name."""

    head: str
    least: int = 1
    most: int = 1
    bare: bool = False
    """Whether it needs no brackets."""
    powered: bool = False
    """Whether a power at its name is one of its value."""


FUNCTIONS = {
    r"\exp": Function("exp", bare=True), r"\ln": Function("log", bare=True, powered=True),
    r"\log": Function("log", bare=True, powered=True), r"\Phi": Function("phi"), r"\Gamma": Function("gamma"),
    "erfc": Function("erfc"), r"\max": Function("max", most=99), r"\min": Function("min", most=99),
}  # fmt: skip
SPELLED = {f"\\name{{{name}}}": f"\\{name}" for name in ("exp", "ln", "log", "max", "min")} | {
    r"\name{erfc}": "erfc", r"\text{erfc}": "erfc",
}  # fmt: skip


@dataclass(frozen=True)
class Item:
    """What was read of a place: its value, and what may be asked about how it was printed."""

    value: Tree
    kind: str = ""
    """`number`, `letter`, `bracket`, `fraction`, `sum`, `point` or nothing."""
    plain: bool = True
    """Whether nothing stands at it, no power, say."""
    word: Row = ()
    """A letter's marks."""
    digits: Fraction | None = None
    """The number where it is printed in digits alone."""
    adds: bool = False
    """Whether it is a sum, or brackets around one."""
    unclosed: bool = False
    """A function without brackets: a factor behind it could be part of its argument."""
    open: bool = False
    """A sum or derivative that does not end with brackets: a term behind it could be part of it."""
    counted: bool = False
    """Whether it ends with `!`."""
    factors: int = 1
    """How many operands and signs it is made of."""
    sides: tuple[Item, ...] = ()
    """Of relations, what stands between them."""
    ways: tuple[str, ...] = ()
    """The signs of relations."""


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
    """What is known while one formula is read.

    Attributes:
        vocabulary: its letters and definitions.
        domains: by name, of letters and of constants of orders.
        printed: each letter's marks.
        constants: those of orders such as O(n).
        choices: the decisions about bars.
        uses: letters and definitions that were read so far, these with the letters that they depend on.
        within: quantifiers, negations and `or` around it.
    """

    vocabulary: Vocabulary
    domains: dict[str, DeclaredLetter]
    printed: dict[str, Row]
    constants: Coefficients
    choices: Choices = field(default_factory=Choices)
    uses: list[tuple[VocabularyWord, frozenset[str]]] = field(default_factory=list)
    within: int = 0
    depth: int = 0

    @contextmanager
    def binding(self) -> Iterator[list[str]]:
        """What is read here is in the reach of the indices that are added to the list."""
        start, names = len(self.uses), list[str]()
        yield names
        for word, depends in self.uses[start:]:
            for name in depends.intersection(names):
                if not shows(word.whole, self.printed[name]):
                    raise RefusedError(f"a quantity depends on the index {name} and does not show it")
        self.check_fixed(start, names)

    def check_fixed(self, start: int, names: list[str]) -> None:
        """Refuse letters, read since then, that look as if they depended on others that are bound or replaced there."""
        for word, _ in self.uses[start:]:
            for name in names:
                if word.name not in ("", name) and has_in_it(word.whole, self.printed[name]):
                    says = f"{word.name} is the same number for every {name}, and does not look so"
                    raise RefusedError(says)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Of what is read here, constants cannot be said to exist before all else."""
        self.within += 1
        yield
        self.within -= 1

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level down."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise RefusedError(f"it is nested more than {DEEPEST} deep")
        yield
        self.depth -= 1


NO_OPERANDS = frozenset(
    (
        *RELATIONS, *TIMES, *OPENING.values(), r"\implies", r"\iff", r"\land", r"\lor", r"\neg", r"\forall", r"\exists",
        r"\in", r"\right.",
    )
)  # fmt: skip


def is_sign(mark: PrintedMark, sign: str) -> bool:
    """Whether a mark is a sign, in roman type or not."""
    return mark.text == sign or (mark.text == r"\mathrm" and [m.text for m in mark.inside[0]] == [sign])


def is_name(above: Row) -> bool:
    """Whether a superscript is part of a name: a star, or an index in brackets."""
    if len(above) == 1:
        return above[0].text in _DEPENDS
    open_ = depths(above)
    return above[0].text == "(" and 0 not in open_[:-1] and open_[-1] == 0 and not above[-1].scripted


def order_of(mark: PrintedMark) -> tuple[str, bool] | None:
    """Which order a mark stands for, and whether it has a tilde."""
    if mark.text in (r"\tilde", r"\widetilde") and len(mark.inside[0]) == 1:
        plain = order_of(mark.inside[0][0])
        return (plain[0], True) if plain and not plain[1] and not mark.inside[0][0].scripted else None
    if mark.text == r"\mathcal" and [m.text for m in mark.inside[0]] == ["O"]:
        return "O", False
    named = {"O": "O", r"\Omega": "Omega", r"\Theta": "Theta"}
    return (named[mark.text], False) if mark.text in named else None


def is_lone(item: Item) -> bool:
    """Whether it is a letter alone."""
    return item.kind == "letter" and item.plain and item.value.head == "sym"


class Places(ABC):
    """A row of marks that is read from the left."""

    def __init__(self, state: State, row: Row) -> None:
        if len(row) > MOST_MARKS:
            raise RefusedError(f"it has more than {MOST_MARKS} signs")
        self.state, self.row, self.at = state, row, 0
        self.integrals = 0
        self.open: list[str] = []
        self.decided: dict[int, bool] = {}
        self.letters: dict[int, FoundWord | None] = {}
        if any(mark.gap < -3 for mark in row):
            raise RefusedError("space so far below 0 that one sign is printed over another")
        run = "".join(m.text if re.fullmatch("[A-Za-z]", m.text) and not m.scripted else " " for m in row)
        for match in _SPELLED_OUT.finditer(run):
            part = row[match.start() : match.end()]
            if all(one.end == other.start for one, other in pairwise(part)):
                raise RefusedError(f"`{match[0]}` is a product of letters, and looks like a word")
        broken = [k for k, mark in enumerate(row) if mark.broken and k]
        for k, stop in zip(broken, [*broken[1:], len(row)], strict=False):
            mark, before = row[k], row[k - 1]
            signed = mark.text in ("+", "-") and not any(m.text in RELATIONS for m in row[k:stop])
            words = r"\text{" in (mark.text[:6], before.text[:6])
            around = before.text in OPENING or mark.text in OPENING.values()
            if not (signed or words or around or mark.text in _BREAKS or before.text in (*_BREAKS, "+", "-")):
                raise RefusedError(f"a line that begins with `{mark.text}` may begin a formula of its own")

    def line(self, row: Row) -> Self:
        """Another row of the same formula."""
        return type(self)(self.state, row)

    @abstractmethod
    def implication(self) -> Item:
        """What may stand in brackets: a number or a formula."""

    # ------------------------------------------------------------------------------------------- places

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

    def refuse(self, says: str, start: int | None = None) -> RefusedError:
        """What is wrong, and where."""
        at = min(self.at if start is None else start, len(self.row) - 1)
        mark = self.row[at] if self.row else PrintedMark("")
        return RefusedError(f"{says}, at `{mark.text}` (character {mark.start + 1})")

    def parted(self, width: float) -> bool:
        """Whether there is a gap here that may part two formulas: relations stand on both of its sides."""
        sides = self.row[: self.at], self.row[self.at :]
        return self.here.gap >= width and all(any(m.text in RELATIONS for m in side) for side in sides)

    def take(self, *texts: str) -> PrintedMark:
        """The next mark, which must be one of these."""
        mark = self.here
        if mark.text not in texts:
            raise self.refuse(f"`{texts[0]}` is missing")
        self.at += 1
        return mark

    @contextmanager
    def within(self, opening: PrintedMark, kind: str = "") -> Iterator[None]:
        """What is read here stands in a bracket, which carries no script."""
        if opening.scripted:
            raise self.refuse("a script at an opening bracket", self.at - 1)
        self.open.append(kind or opening.text)
        yield
        self.open.pop()

    def operands(self) -> list[Tree]:
        """Numbers with commas between them."""
        found = [self.number(self.sum())]
        while self.sign(","):
            found.append(self.number(self.sum()))
        return found

    def sign(self, *texts: str) -> str:
        """The next mark if it is one of these signs, which carry no scripts; else nothing."""
        mark = self.here
        if mark.text not in texts:
            return ""
        if mark.scripted:
            raise self.refuse("a script at a sign")
        self.at += 1
        return mark.text

    @abstractmethod
    def sum(self) -> Item:
        """Terms with signs between them."""

    def whole(self) -> Item:
        """All of the row, as an expression."""
        found = self.sum()
        if self.at < len(self.row):
            raise self.refuse("an expression ends here, and something follows")
        return found

    def inner(self, row: Row) -> Tree:
        """The number that another row is."""
        return self.line(row).whole().value

    def number(self, item: Item) -> Tree:
        """A number, not a formula."""
        if item.value.head in FORMULAS:
            raise self.refuse("a number belongs here, not a formula")
        return item.value

    def ends(self, expecting: bool) -> bool:
        """Whether what is read here ends: at the row's end, a bar, or the d of an integral.

        Where an operand is expected, a bar opens.
        """
        if self.at >= len(self.row) or (self.integrals and self.differential()):
            return True
        if expecting or self.here.text not in BARS:
            return False
        return self.point() or self.closing_bar()

    def closing_bar(self) -> bool:
        """Whether the bar behind an operand closes; where it may also open, that is tried as well."""
        mark, following = self.here, self.ahead()
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
        return (
            text.isdigit() or text in OPENING or text in BARS or SPELLED.get(text, text) in FUNCTIONS
            or text in (r"\left.", r"\sum", r"\prod", r"\int", r"\frac", r"\binom", r"\sqrt", r"\pi", r"\infty")
            or is_sign(mark, "e") or order_of(mark) is not None or (text.isalpha() or mark.inside != ())
            or (text.startswith("\\") and text[1:].isalpha() and text not in NO_OPERANDS)
        )  # fmt: skip

    def point(self) -> bool:
        """Whether a bar with an equation below it stands here."""
        return self.is_point(self.here)

    def own_point(self) -> bool:
        """Whether one stands here that belongs to the operand before it, and not to a `\\left.` before that."""
        return self.point() and not (self.open and self.open[-1] == r"\left.")

    @staticmethod
    def is_point(mark: PrintedMark) -> bool:
        """The same of a mark."""
        return mark.text == "|" and any(below.text == "=" for below in mark.below)

    def place(self) -> str:
        """The name of a letter that stands alone here."""
        found = self.found(self.at)
        if found is None or not found.letter:
            raise self.refuse("a declared letter belongs here")
        self.at = found.stop
        return found.letter

    def differential(self) -> bool:
        """Whether the d of an integral stands here, a letter behind it."""
        if not is_sign(self.here, "d") or self.here.scripted:
            return False
        found = self.found(self.at + 1)
        if found is None or not found.word.name:
            return False
        if self.here.text == "d" and self.found(self.at) is not None:
            raise self.refuse("a d that could be that of the integral, or the letter d")
        return True
