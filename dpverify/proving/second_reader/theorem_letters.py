"""What letters of theorems are, as this reader takes them from a table, and what is known while a display is read.

Terms are nested tuples as the checker has them (docs/theorems.md). Each letter that is bound gets a name of its own, so
nothing that is put in a letter's place is ever captured; a definition is read anew at each use.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction

from dpverify.proving.second_reader.rows import State, texts
from dpverify.proving.second_reader.theorem_tables import KINDS, Term
from dpverify.proving.second_reader.trees import DeclaredLetter, Json, Tree, certified, checked
from dpverify.proving.second_reader.typography import PrintedMark, RefusedError, Row, marks, refuse
from dpverify.proving.second_reader.vocabulary import Vocabulary, VocabularyWord, depths

NUMBERS = ("real", "integer")
_SETS = {r"\mathbb{R}": "real", r"\mathbb{Z}": "integer"}
_WHOLE = ("add", "mul", "max", "min", "abs")
_NUMBER = r"-?\d+(?:\.\d+|/\d+)?"
_ENDS = re.compile(
    rf"([\[(])\s*(-oo|{_NUMBER})\s*,\s*(oo|{_NUMBER})\s*([\])])|((?:(?:>=|<=|>|<)\s*{_NUMBER}\s*,?\s*)+)|"
)


@dataclass(frozen=True)
class LetterMeaning:
    """A letter of a theorem: the types of its arguments, its own, and its name or what it stands for."""

    arguments: tuple[Term, ...]
    kind: Term
    name: str
    body: Callable[[TheoremState, tuple[Term, ...]], Term] | None = None
    below: bool = False  # whether its arguments are a subscript
    last: Term = ""  # of one whose index in brackets is a rank, the last index; the first is 1

    def term(self, state: TheoremState, given: tuple[Term, ...]) -> Term:
        """The letter with its arguments."""
        if self.body is not None:
            return self.body(state, given)
        return ("of", self.name, *given) if given else ("sym", self.name)


@dataclass(frozen=True)
class TheoremWords:
    """All words that are known at a place, and what those mean that are no numbers of their own."""

    words: tuple[VocabularyWord, ...] = ()
    meanings: dict[str, LetterMeaning] = field(default_factory=dict)

    def having(self, row: Row, name: str, meaning: LetterMeaning | None) -> TheoremWords:
        """The same with a letter, which hides one that is printed in the same way."""
        others = tuple(word for word in self.words if word.printed != row)
        meanings = {key: of for key, of in self.meanings.items() if key != name}
        new = {} if meaning is None else {name: meaning}
        return TheoremWords((*others, VocabularyWord(row, name, whole=row)), {**meanings, **new})


@dataclass
class TheoremState(State):
    """What is known while one display is read."""

    known: TheoremWords = field(default_factory=TheoremWords)
    types: dict[Row, tuple[str, str]] = field(default_factory=dict)  # names and sorts by how they are printed
    stands: dict[str, Term] = field(default_factory=dict)  # terms by the letters that stand for them
    bound: list[str] = field(default_factory=list)  # names of letters, the innermost last
    slot: tuple[Term, Term] | None = None  # what a dot among arguments is, and its type

    @contextmanager
    def at(self, known: TheoremWords) -> Iterator[None]:
        """What is read here knows these words."""
        before, vocabulary, bound = self.known, self.vocabulary, len(self.bound)
        self.known = known
        if known is not before:
            self.vocabulary = Vocabulary(known.words)
        yield
        self.known, self.vocabulary = before, vocabulary
        del self.bound[bound:]

    @contextmanager
    def dotted(self, term: Term, kind: Term) -> Iterator[None]:
        """A dot among arguments is this term."""
        before, self.slot = self.slot, (term, kind)
        yield
        self.slot = before

    def is_space(self, kind: Term) -> bool:
        """Whether a type is a Euclidean space."""
        return (kind, "space") in self.types.values()

    def is_number(self, kind: Term) -> bool:
        """Whether a type is one of numbers or of vectors, with which formulas reckon."""
        return kind in NUMBERS or self.is_space(kind)

    def declare(self, name: str, kind: Term, sort: str = "object") -> None:
        """A letter for formulas: a number, a vector, or of another sort."""
        said: dict[str, Json] = {"name": name}
        if isinstance(kind, str):
            sort = kind
        if self.is_space(kind):
            sort, said["space"] = "vector", str(kind)
        self.domains[name] = DeclaredLetter(name, sort, None, False, None, False, said)

    def fresh(self, kind: Term, label: str = "") -> str:
        """A name that nothing has."""
        name = f"{label}~{len(self.domains)}"
        self.declare(name, kind)
        return name

    def bind(self, row: Row, kind: Term, arguments: tuple[Term, ...] = (), value: Term = "") -> str:
        """A further letter, bound or standing for something, and its name."""
        refuse(len(row) != 1 or row[0].above, "a letter is missing, or more stands there than one")
        name = self.fresh(kind, row[0].text)
        self.printed[name] = row
        self.bound.append(name)
        if value:
            self.stands[name] = value
        number = self.is_number(kind) and not arguments
        self.known = self.known.having(row, name, None if number else LetterMeaning(arguments, kind, name))
        self.vocabulary = Vocabulary(self.known.words)
        return name

    def opaque(self, term: Term, kind: Term) -> Tree:
        """A term as a letter of formulas."""
        name = self.fresh(kind)
        self.stands[name] = term
        return Tree("sym", name=name)

    def term(self, tree: Tree) -> Term:
        """What a tree of formulas says, as a term."""
        return self.filled(certified(checked(tree, self.domains), self.domains))

    def filled(self, written: object) -> Term:
        """A term with all that stands for something written out."""
        if isinstance(written, str):
            return written
        assert isinstance(written, list | tuple)
        head, *rest = written or ("",)
        if head == "sym" and rest[0] in self.stands:
            return self.filled(self.stands[rest[0]])
        if isinstance(written, list) and head in ("sum", "product"):
            body, name, *ends = rest
            return (head, (str(name), "integer"), *map(self.filled, (body, *ends)))
        refuse(head in ("forall", "exists", "diff", "at", "integral", "inf"), f"`{head}` in a theorem")
        return tuple(map(self.filled, written))

    def kind(self, term: Term) -> str:
        """Whether a number is a whole one, and of which space a vector is."""
        head, *parts = term if isinstance(term, tuple) else ("",)
        if head == "num":
            return "integer" if Fraction(str(parts[0])).denominator == 1 else "real"
        if head == "sym":
            bound = (name for name, of in self.stands.items() if of == term)  # a letter of another name
            letter = self.domains[next(bound, str(parts[0]))]
            return str(letter.said.get("space", letter.kind))
        if head == "of":
            meaning = self.known.meanings.get(str(parts[0]))
            known = meaning is not None and (meaning.kind == "integer" or self.is_space(meaning.kind))
            return str(meaning.kind) if meaning and known else "real"
        spaces = (
            [kind for kind in map(self.kind, parts) if self.is_space(kind)] if head in ("add", "mul") else []
        )
        if spaces:
            return spaces[0]
        whole = head in _WHOLE and all(self.kind(part) == "integer" for part in parts)
        return "integer" if whole or head in ("floor", "ceiling") else "real"

    def type_of(self, row: Row) -> Term:
        """The type that is printed so."""
        for latex, name in _SETS.items():
            if row == marks(latex):
                return name
        if row in self.types:
            return self.types[row][0]
        products = [k for k, deep in enumerate(depths(row)) if row[k].text == r"\times" and deep == 0]
        refuse(not products, f"`{' '.join(texts(row))}` is no type")
        return ("pair", self.type_of(row[: products[0]]), self.type_of(row[products[0] + 1 :]))

    def of_data(self) -> str:
        """The one type of data sets."""
        found = [name for name, sort in self.types.values() if sort == "data"]
        refuse(len(found) != 1, "not one type of data sets")
        return found[0]

    def declared(self, words: str, formulas: Sequence[str]) -> tuple[tuple[Term, ...], Term]:
        """The types of a letter's arguments, and its own, by the words of its kind."""
        rows = [marks(latex) for latex in formulas]
        refuse(words not in KINDS, f"`{words}` is no kind of letter")
        arguments, law, of = KINDS[words]
        wanted = 1 + max((int(place) for place in (*arguments, of) if place.isdigit()), default=-1)
        refuse(len(rows) != wanted, f"`{words}` with {len(rows)} formulas")

        def types(place: str) -> tuple[Term, ...]:
            if not place.isdigit():
                return (self.of_data() if place == "data" else place,)
            return tuple(map(self.type_of, parted(rows[int(place)], ",")))

        taken = tuple(kind for place in arguments for kind in types(place))
        own = types(of)
        refuse(len(own) != 1, f"`{words}` of several types")
        return taken, ("law", own[0]) if law else own[0]


def parted(row: Row, *signs: str) -> list[Row]:
    """The parts of a row between signs that stand in no brackets."""
    places = [k for k, deep in enumerate(depths(row)) if row[k].text in signs and deep == 0]
    return [row[a:b] for a, b in zip([0, *(k + 1 for k in places)], [*places, len(row)], strict=True)]


def domain(words: str, name: str) -> tuple[str, tuple[Term, ...]]:
    """Whether a number is real or whole, and what its domain says of it.

    Raises:
        RefusedError: for words that are no domain.
    """
    sort = next((name for name in ("integer", "real") if words.startswith(name)), "")
    found = _ENDS.fullmatch(re.sub(r"^s?\b(\s*in\b)?", "", words.removeprefix(sort)).strip())
    if found is None:
        raise RefusedError(f"`{words}` is no domain")
    ends = list[tuple[str, str]]()
    if found[1]:
        ends += [("<" if found[1] == "(" else "<=", found[2])] if found[2] != "-oo" else []
        ends += [(">" if found[4] == ")" else ">=", found[3])] if found[3] != "oo" else []
    for sign, number in re.findall(rf"(>=|<=|>|<)\s*({_NUMBER})", found[5] or ""):
        ends.append(({">": "<", ">=": "<=", "<": ">", "<=": ">="}[sign], number))
    ends.sort(key=lambda end: end[0][0] == ">")
    says, kind = list[Term](), sort or "real"
    for sign, number in ends:
        value = Fraction(number)
        if kind == "integer":
            value = _inside(value, sign)
            sign = sign[0] + "="
        limit, letter = ("num", str(value)), ("sym", name)
        says.append((sign, limit, letter) if sign[0] == "<" else (sign.replace(">", "<"), letter, limit))
    return kind, tuple(says)


def _inside(value: Fraction, sign: str) -> Fraction:
    """The first whole number from an end on."""
    if sign[0] == "<":
        return Fraction(math.floor(value) + 1 if sign == "<" else math.ceil(value))
    return Fraction(math.ceil(value) - 1 if sign == ">" else math.floor(value))


def bare(mark: PrintedMark) -> PrintedMark:
    """A mark without scripts."""
    return PrintedMark(mark.text, mark.inside)
