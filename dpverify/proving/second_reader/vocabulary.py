"""The declared letters of a formula and its definitions, and where on the page one of them stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from dpverify.proving.second_reader.trees import Tree
from dpverify.proving.second_reader.typography import PrintedMark, RefusedError, Row, marks, refuse

OPENING = {"(": ")", "[": "]", r"\{": r"\}"} | {rf"\l{of}": rf"\r{of}" for of in ("floor", "ceil", "angle")}
CLOSING = frozenset(OPENING.values())
BARS = ("|", r"\|")


@dataclass(frozen=True)
class VocabularyWord:
    """A letter, or a definition, as it is printed."""

    printed: Row  # its marks; of a definition with a parameter, what stands before the parameter
    name: str = ""  # of a letter; empty for a definition
    body: Callable[[], Tree] | None = None  # what a definition stands for
    parameter: str = ""  # the letter that something else may be put in place of
    call: str = ""  # `below` where the parameter is a subscript, `after` where it stands in brackets
    whole: Row = ()  # its marks, the parameter included


@dataclass(frozen=True)
class FoundWord:
    """A word on the page, and what is left of its last mark: a superscript, an index or primes."""

    word: VocabularyWord
    stop: int
    rest: PrintedMark

    def covers(self) -> tuple[int, int, bool]:
        """How much of the page it covers: marks, scripts of the last, a parameter."""
        last = self.word.printed[-1]
        return self.stop, bool(last.below) + last.primes + bool(last.above), bool(self.word.call)

    @property
    def letter(self) -> str:
        """The name of a letter that nothing stands at; empty for any other word."""
        return "" if self.rest.scripted else self.word.name


def with_parameter(latex: str, parameter: str, name: str) -> VocabularyWord:
    """What is printed of a definition, apart from its parameter."""
    printed, index = marks(latex), marks(parameter)
    last = printed[-1]
    if last.below == index and not last.primes and not last.above:
        return VocabularyWord((*printed[:-1], replace(last, below=())), "", None, name, "below", printed)
    stop = len(printed) - len(index) - 2
    if printed[stop:] == (PrintedMark("("), *index, PrintedMark(")")) and stop > 0:
        return VocabularyWord(printed[:stop], "", None, name, "after", printed)
    raise RefusedError(f"the definition of `{latex}` does not end with its parameter `{parameter}`")


def shows(row: Row, part: Row) -> bool:
    """Whether a letter is seen in what is printed, in a subscript, say."""
    return any(_begins(here, part) for here in _stretches(row, len(part)))


def has_in_it(row: Row, part: Row) -> bool:
    """Whether a letter is part of what is printed, exactly as it is, though perhaps with a power."""
    above = part[-1].above
    return any((*here[:-1], replace(here[-1], above=above)) == part for here in _stretches(row, len(part)))


def _stretches(row: Row, size: int) -> Iterator[Row]:
    """All that stands side by side, in scripts and arguments too, of so many marks."""
    yield from (row[i : i + size] for i in range(len(row) - size + 1))
    for mark in row:
        for part in (*mark.inside, mark.below, mark.above):
            yield from _stretches(part, size)


def _begins(row: Row, part: Row) -> bool:
    if row[:-1] != part[:-1]:
        return False
    mark, last = row[-1], part[-1]
    scripts = last.below in ((), mark.below) and last.above in ((), mark.above)
    return scripts and (mark.text, mark.inside) == (last.text, last.inside) and mark.primes >= last.primes


class Vocabulary:
    """All words of a formula; the one that covers most of the page is the one that stands there."""

    def __init__(self, words: tuple[VocabularyWord, ...]) -> None:
        self.words: dict[tuple[str, tuple[Row, ...]], list[VocabularyWord]] = {}
        for word in words:
            first = word.printed[0]
            self.words.setdefault((first.text, first.inside), []).append(word)
        for word in words:
            if not word.call:
                self._refuse_twins(word)

    def _refuse_twins(self, word: VocabularyWord) -> None:
        """The same letter twice, or a letter that other letters side by side spell."""
        row, reached = word.printed, {0}
        for start in range(len(row)):
            for other in self.words.get((row[start].text, row[start].inside), ()):
                stop = start + len(other.printed)
                stands = row[start:stop] == other.printed and other is not word and not other.call
                if start in reached and stands and ((other.name and word.name) or other.printed == row):
                    reached.add(stop)
        refuse(len(row) in reached, f"{word.name} is printed like another letter, or others side by side")

    def find(self, row: Row, at: int) -> FoundWord | None:
        """The word at a place, if there is one."""
        words = self.words.get((row[at].text, row[at].inside), ())
        found = [match for word in words if (match := _match(word, row, at)) is not None]
        return max(found, key=FoundWord.covers, default=None)


def _match(word: VocabularyWord, row: Row, at: int) -> FoundWord | None:
    stop = at + len(word.printed)
    here, last = row[at:stop], word.printed[-1]
    if here[:-1] != word.printed[:-1] or len(here) < len(word.printed):
        return None
    mark = here[-1]
    if (mark.text, mark.inside) != (last.text, last.inside):
        return None
    if word.call == "below":
        return FoundWord(word, stop, replace(mark, inside=())) if mark.below and not last.scripted else None
    # scripts are compared in the order in which they hang: subscript, primes, superscript
    mine, its = (mark.below, mark.primes, mark.above), (last.below, last.primes, last.above)
    used = max((k for k in range(3) if its[k]), default=-1)
    if used >= 0 and mine[:used] != its[:used]:
        return None
    if used >= 0 and (mark.primes < last.primes if used == 1 else mine[used] != its[used]):
        return None
    below, above = () if used >= 0 else mark.below, () if last.above else mark.above
    bracket = stop < len(row) and row[stop].text == "(" and not below and not above
    if word.call == "after" and not bracket:
        return None
    return FoundWord(word, stop, replace(mark, below=below, primes=mark.primes - last.primes, above=above))


def depths(row: Row) -> list[int]:
    """How many brackets are open behind each mark."""
    return list(accumulate((mark.text in OPENING) - (mark.text in CLOSING) for mark in row))


def encloses(row: Row) -> bool:
    """Whether its first mark opens a bracket or a bar that its last mark closes."""
    first = row[0]
    if len(row) < 2 or first.scripted:
        return False
    if first.text in BARS:
        return [i for i, mark in enumerate(row) if mark.text == first.text][1:2] == [len(row) - 1]
    open_ = depths(row)
    return first.text in OPENING and 0 not in open_[:-1] and open_[-1] == 0


def balanced(row: Row) -> bool:
    """Whether each bracket in it has its partner."""
    open_ = depths(row)
    return min(open_) >= 0 and open_[-1] == 0


def takes_a_power(row: Row) -> bool:
    """Whether a superscript behind such a letter is a power of all of it."""
    return not row[-1].above and (len(row) == 1 or encloses(row))


def takes_a_factor(row: Row) -> bool:
    """Whether what stands behind such a letter is a factor and no part of it."""
    whole = (*row[:-1], replace(row[-1], above=()))
    return len(row) == 1 or encloses(whole) or (row[-1].text in CLOSING and not row[-1].scripted)
