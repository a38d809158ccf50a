"""What is said in words of functions and sets of vectors: each is the formula that docs/theorems.md gives for it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from dpverify.proving.second_reader.rows import texts
from dpverify.proving.second_reader.theorem_tables import PROPERTIES, PropertyForm, Term
from dpverify.proving.second_reader.theorem_terms import TheoremTerms
from dpverify.proving.second_reader.trees import Tree, compare, letter, number
from dpverify.proving.second_reader.typography import PrintedMark, Row, marks
from dpverify.proving.second_reader.vocabulary import depths

Said = tuple[tuple[Tree, ...], Tree]
"""What is assumed, and what is claimed."""


class TheoremProperties(TheoremTerms):
    """A row in which something may be said of functions and sets of vectors."""

    def property_form(self) -> PropertyForm | None:
        """What the words mean of the formula that begins here."""
        row = self.row[self.at : self.stop()]
        return PROPERTIES.get(tuple(row[k].text for k in _words(row)))

    def property(self, form: PropertyForm) -> Term:
        """The formula that a sentence is."""
        line = self.stretch(self.stop()).row
        words = _words(line)
        rows = [line[one + 1 : other] for one, other in pairwise([-1, *words, len(line)])]
        self.refuse(any(line[k].scripted for k in words), "scripts at words")
        wrong = [*map(bool, rows)] != [k < form.parts for k in range(len(rows))]
        self.refuse(wrong, "something is missing beside the words, or stands where nothing belongs")
        said: Term = getattr(self, form.reader)(*rows[: form.parts])
        return said

    # ------------------------------------------------------------------------------------------ parts

    def space(self) -> Term:
        """The one Euclidean space."""
        found = [name for name, sort in self.state.types.values() if sort == "space"]
        self.refuse(len(found) != 1, "not one Euclidean space")
        return found[0]

    def of_every(self, vectors: int, say: Callable[..., Said], *, share: bool = False) -> Term:
        """What holds for all of so many vectors, and for all parts from 0 to 1 of a whole."""
        kinds: list[Term] = [self.space()] * vectors
        kinds += ["real"] * share
        names = [self.state.fresh(kind) for kind in kinds]
        given, claim = say(*map(letter, names))
        if share:
            part = letter(names[-1])
            given += (compare("<=", number(0), part), compare("<=", part, number(1)))
        letters = tuple((name, (), kind) for name, kind in zip(names, kinds, strict=True))
        return ("all", letters, tuple(map(self.state.term, given)), self.state.term(claim))

    def value_at(self, row: Row, vector: Tree) -> Tree:
        """What a function is at a vector: its letter, or a factor with a dot in the place of the vector."""
        line, given = self.line(row), self.state.term(vector)
        if r"\cdot" in texts(row):
            with self.state.dotted(given, self.space()):
                return self.number(line.all_of(line.factor))
        meaning = line.meaning()
        line.all_of(line.place)
        if meaning is None or meaning.arguments != (self.space(),) or not self.state.is_number(meaning.kind):
            raise line.refused("a function of vectors belongs here")
        return self.state.opaque(meaning.term(self.state, (given,)), meaning.kind)

    def lies_in(self, vector: Tree, row: Row) -> Tree:
        """A vector is in a set."""
        line = self.line(row)
        return self.state.opaque(("of", line.all_of(line.event_letter), self.state.term(vector)), "formula")

    def vector(self, row: Row) -> Tree:
        """A vector."""
        line = self.line(row)
        return line.all_of(line.quantity)

    def half(self, row: Row) -> Tree:
        """Half of a number."""
        return self.inner((PrintedMark(r"\frac", (row, marks("2"))),))

    def tangent(self, f: Row, g: Row, x: Tree, y: Tree) -> Tree:
        """`f(x)+\\langle g(x),y-x\\rangle`."""
        return _plus(self.value_at(f, x), _inner(self.value_at(g, x), _minus(y, x)))

    def bent(self, f: Row, m: Row, g: Row, x: Tree, y: Tree) -> Tree:
        """A tangent, and a square more."""
        return _plus(self.tangent(f, g, x, y), _times(self.half(m), _square(_minus(y, x))))

    def chord(self, f: Row, x: Tree, y: Tree, part: Tree) -> tuple[Tree, Tree]:
        """A function at a point between two others, and what is between its values there."""
        return self.value_at(f, _between(x, y, part)), _between(
            self.value_at(f, x), self.value_at(f, y), part
        )

    # ------------------------------------------------------------------------------------------ sentences

    def convex_set(self, c: Row) -> Term:
        """What lies between two of its points is in it."""

        def say(x: Tree, y: Tree, part: Tree) -> Said:
            return (self.lies_in(x, c), self.lies_in(y, c)), self.lies_in(_between(x, y, part), c)

        return self.of_every(2, say, share=True)

    def convex(self, f: Row) -> Term:
        """A chord is nowhere below the function."""
        return self.of_every(
            2, lambda x, y, part: ((), compare("<=", *self.chord(f, x, y, part))), share=True
        )

    def strongly_convex(self, f: Row, m: Row) -> Term:
        """A chord is above it by a square."""

        def say(x: Tree, y: Tree, part: Tree) -> Said:
            there, chord = self.chord(f, x, y, part)
            more = _times(self.half(m), part, _minus(number(1), part), _square(_minus(x, y)))
            return (), compare("<=", there, _minus(chord, more))

        return self.of_every(2, say, share=True)

    def with_subgradient(self, f: Row, g: Row) -> Term:
        """A tangent is nowhere above it."""
        return self.of_every(
            2, lambda x, y: ((), compare("<=", self.tangent(f, g, x, y), self.value_at(f, y)))
        )

    def strongly_with_subgradient(self, f: Row, m: Row, g: Row) -> Term:
        """A tangent is below it by a square."""
        return self.of_every(
            2, lambda x, y: ((), compare("<=", self.bent(f, m, g, x, y), self.value_at(f, y)))
        )

    def smooth(self, f: Row, m: Row, g: Row) -> Term:
        """It is above a tangent by a square at most."""
        return self.of_every(
            2, lambda x, y: ((), compare("<=", self.value_at(f, y), self.bent(f, m, g, x, y)))
        )

    def lipschitz(self, f: Row, m: Row) -> Term:
        """Its values differ by a multiple of the distance at most."""

        def say(x: Tree, y: Tree) -> Said:
            line = self.line(m)
            apart = Tree("abs", (_minus(self.value_at(f, x), self.value_at(f, y)),))
            most = _times(self.number(line.all_of(line.term)), Tree("norm", (_minus(x, y),)))
            return (), compare("<=", apart, most)

        return self.of_every(2, say)

    def projection(self, g: Row, c: Row) -> Term:
        """It is in the set, and an obtuse angle to all that is in it."""
        inside = self.of_every(1, lambda x: ((), self.lies_in(self.value_at(g, x), c)))

        def say(x: Tree, y: Tree) -> Said:
            near = self.value_at(g, x)
            angle = _inner(_minus(x, near), _minus(y, near))
            return (self.lies_in(y, c),), compare("<=", angle, number(0))

        return ("and", inside, self.of_every(2, say))

    def minimizes(self, z: Row, f: Row) -> Term:
        """The function is nowhere smaller."""
        return self.of_every(
            1, lambda x: ((), compare("<=", self.value_at(f, self.vector(z)), self.value_at(f, x)))
        )

    def minimizes_over(self, z: Row, f: Row, c: Row) -> Term:
        """The function is nowhere smaller on a set, and the point is in the set."""
        inside = self.state.term(self.lies_in(self.vector(z), c))

        def say(x: Tree) -> Said:
            least = compare("<=", self.value_at(f, self.vector(z)), self.value_at(f, x))
            return (self.lies_in(x, c),), least

        return ("and", inside, self.of_every(1, say))

    def permutes(self, g: Row, first: Row, last: Row) -> Term:
        """It takes whole numbers between two to such numbers, and no two to the same."""
        line = self.line(g)
        meaning = line.meaning()
        line.all_of(line.place)
        if meaning is None or meaning.arguments != ("integer",) or meaning.kind != "integer":
            raise line.refused("a function of whole numbers belongs here, to whole numbers")
        low, high = (self.state.term(self.inner(end)) for end in (first, last))
        one, other = (("sym", self.state.fresh("integer")) for _ in range(2))
        at_one, at_other = (meaning.term(self.state, (at,)) for at in (one, other))
        inside, image, both = ((("<=", low, at), ("<=", at, high)) for at in (one, at_one, other))
        letters = tuple((at[1], (), "integer") for at in (one, other))
        return (
            "and",
            ("all", letters[:1], inside, ("and", *image)),
            ("all", letters, (*inside, *both, ("==", at_one, at_other)), ("==", one, other)),
        )


def _words(row: Row) -> list[int]:
    """The places of words that stand in no brackets."""
    return [k for k, deep in enumerate(depths(row)) if deep == 0 and row[k].text.startswith(r"\text{")]


def _plus(one: Tree, other: Tree) -> Tree:
    return Tree("add", (one, other))


def _minus(one: Tree, other: Tree) -> Tree:
    return Tree("sub", (one, other))


def _times(first: Tree, *others: Tree) -> Tree:
    for one in others:
        first = Tree("mul", (first, one))
    return first


def _inner(one: Tree, other: Tree) -> Tree:
    return Tree("inner", (one, other))


def _square(vector: Tree) -> Tree:
    return Tree("pow", (Tree("norm", (vector,)), number(2)))


def _between(one: Tree, other: Tree, part: Tree) -> Tree:
    """A part of one and the rest of the other."""
    return _plus(_times(part, one), _times(_minus(number(1), part), other))
