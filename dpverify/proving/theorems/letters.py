"""What letters of theorems are: numbers, laws, functions, events, data sets, and types of outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Number, Variable
from dpverify.formulas.notation.tokens import normal, texts
from dpverify.formulas.rendering.neutral import expression_to_json
from dpverify.proving.checker.theorems.language import Kind, Node, nodes

Tokens = tuple[str, ...]
"""LaTeX in its one form, sign by sign."""


@dataclass(frozen=True)
class TheoremLetter:
    """A letter: its name, its LaTeX, the types of its arguments, and its own type."""

    name: str
    latex: str
    arguments: tuple[Node, ...]
    kind: Node
    number: Variable | None = None
    """Of a number: its domain."""

    @property
    def signs(self) -> Tokens:
        """Its LaTeX in the one form."""
        return texts(normal(self.latex))

    @property
    def declared(self) -> Node:
        """As a clause declares it."""
        return (self.name, self.arguments, self.kind)

    @property
    def term(self) -> Node:
        """The letter as a term, which takes no arguments."""
        return ("sym", self.name)


@dataclass(frozen=True)
class Abbreviation:
    """A letter, maybe with arguments, that stands for a term."""

    letter: TheoremLetter
    names: tuple[str, ...]
    body: Node


@dataclass(frozen=True)
class Alphabet:
    """All that may be read: types, letters, and what is defined."""

    types: dict[Tokens, tuple[str, str]] = field(default_factory=dict)
    """LaTeX of types, each with its name, and `any`, `finite` or `data`."""
    letters: dict[Tokens, TheoremLetter] = field(default_factory=dict)
    lasts: dict[str, Node] = field(default_factory=dict)
    """Of letters with an index from 1 on, by name: the last one. An index in brackets is then a rank."""
    defined: dict[str, Abbreviation] = field(default_factory=dict)

    def having(self, *letters: TheoremLetter) -> Alphabet:
        """The same with further letters, which hide others of the same LaTeX."""
        names = {letter.name for letter in letters}
        defined = {name: one for name, one in self.defined.items() if name not in names}
        return replace(self, letters={**self.letters, **{one.signs: one for one in letters}}, defined=defined)

    def defining(self, one: Abbreviation) -> Alphabet:
        """The same with something defined."""
        found = self.having(one.letter)
        return replace(found, defined={**found.defined, one.letter.name: one})

    @property
    def kinds(self) -> dict[str, Kind]:
        """Of what type letters are, those aside that stand for something."""
        found = [one for one in self.letters.values() if one.name not in self.defined]
        return {one.name: (one.arguments, one.kind) for one in found}

    def type_of(self, signs: Tokens) -> Node:
        """The type with some LaTeX."""
        if signs in (texts(normal(r"\mathbb{R}")), texts(normal(r"\mathbb{Z}"))):
            return "real" if "R" in signs else "integer"
        if signs in self.types:
            return self.types[signs][0]
        depth = 0
        for k, sign in enumerate(signs):
            depth += (sign == "(") - (sign == ")")
            if sign == r"\times" and depth == 0:
                return ("pair", self.type_of(signs[:k]), self.type_of(signs[k + 1 :]))
        raise InvalidArgumentError("type", " ".join(signs), "one that is declared, or $\\mathbb{R}$")


def bounds(letter: TheoremLetter) -> list[Node]:
    """What the domain of a number says, as formulas."""
    v = letter.number
    found = list[Node]()
    if v is None:
        return found
    if v.lower is not None:
        found.append(("<" if v.lower_open else "<=", nodes(expression_to_json(Number(v.lower))), letter.term))
    if v.upper is not None:
        found.append(("<" if v.upper_open else "<=", letter.term, nodes(expression_to_json(Number(v.upper)))))
    return found
