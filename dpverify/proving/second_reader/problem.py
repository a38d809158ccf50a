"""The problem of a certificate, from letters, definitions and formulas in LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, reduce
from graphlib import CycleError, TopologicalSorter
from typing import TypedDict, TypeVar

from dpverify.proving.second_reader.formulas import Formulas
from dpverify.proving.second_reader.orders import Coefficient, Coefficients, closed
from dpverify.proving.second_reader.rows import Choices, State
from dpverify.proving.second_reader.trees import (
    ORDERS,
    RELATIONS,
    DeclaredLetter,
    Json,
    Tree,
    all_of,
    certified,
    checked,
    declared,
    free,
    has_order,
    inside,
    put,
    split,
)
from dpverify.proving.second_reader.typography import PrintedMark, RefusedError, Row, marks, refuse, spelled
from dpverify.proving.second_reader.vocabulary import (
    CLOSING,
    OPENING,
    Vocabulary,
    VocabularyWord,
    balanced,
    with_parameter,
)

T = TypeVar("T")
MOST_WAYS = 256
"""Ways to pair the bars of a formula that are tried at most."""


class SourceLetter(TypedDict):
    """A letter: how it is printed, the formula it stands for if any, and what a certificate says of it."""

    latex: str
    formula: str
    variable: dict[str, Json]


class SourceDefinition(TypedDict):
    """A quantity, what it stands for, its parameter's name or nothing, and a reading of what it stands for."""

    latex: str
    body: str
    parameter: str
    reading: str


class PrintedSource(TypedDict):
    """All that is said of a formula; what is not said is empty.

    `given`: its conditions. `reading`: a part of the display once more, with brackets or dots that say which of two
    readings is meant. `soft`, `fixed`, `premises`: of orders, as docs/notation.md says. `also`: a display whose letters
    are among the problem's, too.
    """

    letters: list[SourceLetter]
    definitions: list[SourceDefinition]
    display: str
    given: str
    reading: str
    soft: str
    fixed: str
    premises: str
    also: str


def read(source: PrintedSource) -> dict[str, Json]:
    """The problem that a certificate about this source is about.

    Raises:
        RefusedError: for what is not in the notation, not declared, or can be read in two ways.
    """
    try:
        return _ReadProblem(source).read()
    except RecursionError:
        raise RefusedError("it is nested too deep") from None


def read_letters(source: PrintedSource, names: tuple[str, ...]) -> dict[str, Json]:
    """What these letters stand for, in letters that stand for no formula that can be read.

    Raises:
        RefusedError: as `read`.
    """
    try:
        return _ReadProblem(source).letters(names)
    except RecursionError:
        raise RefusedError("it is nested too deep") from None


class _ReadProblem:
    def __init__(self, source: PrintedSource) -> None:
        self.source = source
        self.formulas: dict[str, str] = {}
        self.domains: dict[str, DeclaredLetter] = {}
        self.printed: dict[str, Row] = {}
        for said in source["letters"]:
            letter, row = declared(said["variable"]), marks(said["latex"])
            if (self.domains.get(letter.name), self.printed.get(letter.name)) == (letter, row):
                continue
            while letter.name in self.domains:  # one of another place, which this formula may leave alone
                letter = replace(letter, name=letter.name + "*")
            self.domains[letter.name], self.printed[letter.name] = letter, row
            self.formulas[letter.name] = said["formula"]
        words = [VocabularyWord(row, name, whole=row) for name, row in self.printed.items()]
        for definition in source["definitions"]:
            words.append(self.definition(definition, tuple(words)))
        self.vocabulary = Vocabulary(tuple(words))

    def definition(self, said: SourceDefinition, before: tuple[VocabularyWord, ...]) -> VocabularyWord:
        """A definition, made of what stands before it; its body is read when it is first used."""

        @cache
        def body() -> Tree:
            return self.expression(said["body"], Vocabulary(before), said["reading"])

        if not said["parameter"]:
            row = marks(said["latex"])
            return VocabularyWord(row, body=body, whole=row)
        letter = next(s for s in self.source["letters"] if s["variable"]["name"] == said["parameter"])
        return replace(with_parameter(said["latex"], letter["latex"], said["parameter"]), body=body)

    def read(self) -> dict[str, Json]:
        source = self.source
        soft = self.expression(source["soft"], self.vocabulary) if source["soft"] else None
        constants = Coefficients(dict(self.domains), self.taken(), soft)
        claim, assumed = self.display(source["display"], constants, source["reading"])
        if claim.head == "implies":
            premise, claim = claim.parts
            assumed += split(premise)
        before = constants.count
        if source["given"]:
            more, conditions = self.display(source["given"], constants)
            constants.are_premises(before)
            more = Tree("implies", (all_of(conditions), more)) if conditions else more
            assumed += split(more)
        fixed = frozenset(self.one(part) for part in source["fixed"].split(",") if part.strip())
        refuse(soft is not None and not constants.found, "`soft` where there is no order")
        claim, assumed = closed(claim, assumed, constants.found, fixed, source["premises"])
        domains = constants.domains
        occurring = free(claim).union(*map(free, assumed))
        if source["also"]:
            occurring |= self.letters_of(source["also"], soft)
        names = sorted(occurring, key=lambda name: domains[name].label)
        used = {name for formula in (claim, *assumed) for name in _names(formula)} | set(names)
        refuse(len({domains[n].label for n in used}) < len(used), "two of its letters have the same name")
        return {
            "variables": [domains[name].said for name in names],
            "assuming": [certified(formula, domains) for formula in assumed],
            "claim": certified(claim, domains),
        }

    def letters(self, names: tuple[str, ...]) -> dict[str, Json]:
        bodies: dict[str, Tree] = {}
        wanted = {key: domain.label for key, domain in self.domains.items() if self.formulas[key]}
        wanted = {key: label for key, label in wanted.items() if label in names}
        refuse(sorted(wanted.values()) != sorted(names), "no formula for one of them, or two of one name")
        waiting = list(wanted)
        while waiting:
            name = waiting.pop()
            if name in bodies or not self.formulas[name]:
                continue
            try:
                bodies[name] = self.formula(name)
            except RefusedError:
                if name in wanted:
                    raise
                continue
            waiting += free(bodies[name])
        needed = {name: sorted(free(body) & bodies.keys()) for name, body in bodies.items()}
        written: dict[str, Tree] = {}
        try:
            for name in TopologicalSorter(needed).static_order():
                written[name] = reduce(lambda body, k: put(body, k, written[k]), needed[name], bodies[name])
        except CycleError:
            raise RefusedError("letters stand for formulas that need one another") from None
        return {label: certified(written[name], self.domains) for name, label in wanted.items()}

    def formula(self, name: str) -> Tree:
        """What a letter stands for, as it is said."""
        others = ((other, row) for other, row in self.printed.items() if other != name)
        words = tuple(VocabularyWord(row, other, whole=row) for other, row in others)
        return self.expression(self.formulas[name], Vocabulary(words))

    def letters_of(self, latex: str, soft: Tree | None) -> frozenset[str]:
        constants = Coefficients(dict(self.domains), self.taken(), soft)
        claim, given = self.display(latex, constants)
        if claim.head == "implies":
            given, claim = (*given, claim.parts[0]), claim.parts[1]
        return free(closed(claim, given, constants.found, frozenset(), "")[0])

    def taken(self) -> set[str]:
        """Names and LaTeX that no constant may have."""
        shown = {said["latex"] for said in (*self.source["letters"], *self.source["definitions"])}
        return shown | set(self.domains)

    def one(self, latex: str) -> str:
        found = self.expression(latex, self.vocabulary)
        refuse(found.head != "sym", f"`{latex}` is no letter")
        return found.name

    def display(
        self, latex: str, constants: Coefficients, reading: str = ""
    ) -> tuple[Tree, tuple[Tree, ...]]:
        """A claim and its conditions; new constants are added to those given."""

        def once(choices: Choices) -> tuple[tuple[Tree, tuple[Tree, ...]], list[Coefficient]]:
            domains, taken = dict(constants.domains), set(constants.taken)
            own = Coefficients(domains, taken, constants.soft, list(constants.found))
            state = State(self.vocabulary, own.domains, self.printed, own, choices)
            claim, given = Formulas(state, row).display()
            for formula in (claim, *given):
                checked(formula, own.domains)
            constants.domains.update(own.domains)
            constants.taken.update(own.taken)
            return (claim, given), own.found

        row = _settled(latex, reading)
        found, constants.found = only(once)
        return found

    def expression(self, latex: str, vocabulary: Vocabulary, reading: str = "") -> Tree:
        """A number or a vector."""

        def once(choices: Choices) -> Tree:
            state = State(vocabulary, self.domains, self.printed, Coefficients(self.domains, set()), choices)
            value = Formulas(state, row).whole().value
            if has_order(value) or any(part.head in RELATIONS for part in inside(value)):
                raise RefusedError(f"`{latex}` is no expression")
            return checked(value, self.domains)

        row = _settled(latex, reading)
        return only(once)


def only(once: Callable[[Choices], T]) -> T:
    """What comes of the one way to pair bars that leads to something."""
    waiting: list[tuple[bool, ...]] = [()]
    found: list[T] = []
    first: RefusedError | None = None
    for tried in range(MOST_WAYS + 1):
        if not waiting:
            break
        refuse(tried == MOST_WAYS, "its bars can be paired in too many ways")
        told = waiting.pop()
        choices = Choices(told)
        try:
            result = once(choices)
            if result not in found:
                found.append(result)
        except RefusedError as error:
            first = first or error
        made = choices.made
        waiting += [(*made[:k], False) for k in range(len(told), len(made))]
    refuse(len(found) > 1, "its bars can be paired in two ways")
    if not found:
        assert first is not None
        raise first
    return found[0]


def _names(tree: Tree) -> set[str]:
    """The names of all letters in it, bound ones included."""
    return {part.name for part in inside(tree) if part.name and part.head not in ("inf", *ORDERS)}


_ADDED = frozenset((*OPENING, *CLOSING, r"\cdot"))


def _settled(latex: str, reading: str) -> Row:
    """A display without a stop at its end, the part that `reading` repeats with the brackets and dots that it adds."""
    row = marks(latex)
    if reading:
        # behind all of the display, so that no digits touch
        found = list(_with(row, marks(" " * len(latex) + reading)))
        refuse(len(found) != 1, f"the reading `{reading}` fits {len(found)} places")
        (row,) = found
    if row and row[-1].text in (".", ",", ";") and not row[-1].scripted:
        row = row[:-1]
    refuse(not row, "there is no formula")
    return row


def _with(row: Row, reading: Row) -> Iterator[Row]:
    """The row with a reading in each place that it fits."""
    for start in range(len(row)):
        for stop in range(start + 1, len(row) + 1):
            if balanced(row[start:stop]) and _says(spelled(reading), spelled(row[start:stop])):
                yield (*row[:start], *reading, *row[stop:])
    for k, mark in enumerate(row):
        for other in _deeper(mark, reading):
            yield (*row[:k], other, *row[k + 1 :])


def _deeper(mark: PrintedMark, reading: Row) -> Iterator[PrintedMark]:
    for i, part in enumerate(mark.inside):
        for other in _with(part, reading):
            yield replace(mark, inside=(*mark.inside[:i], other, *mark.inside[i + 1 :]))
    for other in _with(mark.below, reading):
        yield replace(mark, below=other)
    for other in _with(mark.above, reading):
        yield replace(mark, above=other)


def _says(reading: list[str], printed: list[str]) -> bool:
    """Whether a reading is what is printed, with brackets and dots added."""
    at = 0
    for text in reading:
        if at < len(printed) and printed[at] == text:
            at += 1
        elif text not in _ADDED:
            return False
    return at == len(printed)
