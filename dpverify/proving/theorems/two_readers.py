"""The two readers of theorems held against each other: letters, definitions and displays, term by term."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpverify.proving.checker.theorems.language import Node, parts_of, put
from dpverify.proving.second_reader import RefusedError
from dpverify.proving.second_reader.theorem_alphabet import TheoremAlphabet, order_said
from dpverify.proving.second_reader.typography import marks
from dpverify.proving.theorems.letters import Abbreviation, TheoremLetter, bounds
from dpverify.proving.two_readers import apart, shown


class SecondReading:
    """What the second reader makes of a theorem, and how it differs from the first."""

    def __init__(self) -> None:
        self.alphabet = TheoremAlphabet()

    def sort(self, latex: str, name: str, words: str, first: str) -> str:
        """How the sort of a type differs, in a sentence; nothing where it does not."""
        return _difference(first, lambda: self.alphabet.declare_type(latex, name, words))

    def letter(self, first: TheoremLetter, words: str, formulas: Sequence[str]) -> str:
        """The same of a letter: the types of its arguments, its own, and its domain."""
        declared = first.arguments, first.kind, tuple(bounds(first))
        return _difference(
            declared, lambda: self.alphabet.declare(first.latex, first.name, words, [*formulas])
        )

    def formula(self, latex: str, first: Node) -> str:
        """The same of a display."""
        return _difference(first, lambda: put(self.alphabet.formula(latex), {}))

    def definition(self, latex: str, first: Abbreviation) -> str:
        """The same of a definition: its letter, and what it stands for in its arguments."""

        def second() -> Node:
            name, arguments, term = self.alphabet.define(latex)
            return (name, put(term, _numbered(arguments)))

        return _difference((first.letter.name, put(first.body, _numbered(first.names))), second)

    def records(self, latex: str, rows: str, name: str, first: tuple[tuple[Node, ...], Node, Node]) -> str:
        """The same of a mechanism's records: the types of their indices, and the last ones of each."""
        return _difference(first, lambda: self.alphabet.records(latex, name, rows))

    def line(self, latex: str, sign: str, what: str, first: Node, index: TheoremLetter | None = None) -> str:
        """The same of what stands behind a sign of a mechanism's line, in which a candidate's letter may be bound."""
        bound = None if index is None else (index.latex, index.kind, index.name)
        if what == "guaranteed":  # a guarantee without its letter of data sets is no term
            return _difference(
                _each_put(first), lambda: _each_put(self.alphabet.line_of(latex, sign, what, bound))
            )
        return _difference(first, lambda: put(self.alphabet.line_of(latex, sign, what, bound), {}))

    def order(self, sentence: str, first: str) -> str:
        """The same of whether a sentence at a mechanism's line says `in random order`, or leaves things `in order`."""
        return _difference(first, lambda: order_said(sentence))

    def with_index(self, first: TheoremLetter) -> None:
        """Tell of a letter of numbers that has its argument as a subscript."""
        self.alphabet.with_index(marks(first.latex), first.name, first.arguments)


def _each_put(said: Node) -> tuple[Node, ...]:
    head, *numbers = parts_of(said)
    return (head, *(put(one, {}) for one in numbers))


def _numbered(names: Sequence[str]) -> dict[str, tuple[tuple[str, ...], Node]]:
    return {name: ((), ("sym", f"argument {k}")) for k, name in enumerate(names)}


def _difference(first: Node, read: Callable[[], Node]) -> str:
    try:
        second = read()
    except RefusedError as refusal:
        return f"the two readers differ: the second does not read what the first reads: {refusal}"
    if second == first:
        return ""
    one, other = apart(first, second)
    return f"the two readers differ: the first reads {shown(one)} where the second reads {shown(other)}"
