"""Displays of theorems, read by descent from the left: laws, expectations, probabilities, events, guarantees.

What both readers of theorems were written from is docs/theorems.md. The tables at the top say which sign begins what: a
notation of a form that is known is one entry there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from dpverify.proving.second_reader.formulas import Formulas
from dpverify.proving.second_reader.rows import RELATIONS, Head, Item, texts
from dpverify.proving.second_reader.theorem_letters import (
    NUMBERS,
    Term,
    TheoremState,
    bare,
    parted,
)
from dpverify.proving.second_reader.trees import Tree
from dpverify.proving.second_reader.typography import PrintedMark, Row, marks
from dpverify.proving.second_reader.vocabulary import CLOSING, OPENING, FoundWord, Vocabulary, depths

_Value = TypeVar("_Value")


class NamedLaw(NamedTuple):
    """A law that has a name: its head, how many numbers it has, and what is put first where there is one less."""

    head: str
    numbers: int
    first: tuple[Term, ...] = ()


class Said(NamedTuple):
    """A guarantee: its head, how many numbers it has, and what is put last where there is one less."""

    head: str
    numbers: int
    last: tuple[Term, ...] = ()


ZERO: Term = ("num", "0")
LAWS = {
    r"\mathcal{N}": NamedLaw("normal", 2), r"\mathrm{Lap}": NamedLaw("laplace", 2, (ZERO,)),
    r"\mathrm{Exp}": NamedLaw("exponential", 1), r"\mathrm{Unif}": NamedLaw("uniform", 2),
    r"\mathrm{Ber}": NamedLaw("bernoulli", 1),
}  # fmt: skip
"""Laws of numbers by their names."""
MADE = {
    r"\text{law of}": "law_of_made", r"\propto": "proportional", r"\mathrm{mix}": "mixture", r"\delta": "certain",
}  # fmt: skip
"""What else a law begins with, and the method that reads it; the last two have something below."""
OPERANDS = {
    r"\mathbb{E}": "expectation", r"\mathbf{E}": "expectation", r"\Pr": "probability", r"\mathbf{1}": "indicator",
    r"\mathbb{1}": "indicator",
}  # fmt: skip
"""Numbers that no formula has, by the sign with which they begin."""
GUARANTEES = {
    r"\text{-DP}": Said("private", 2, (ZERO,)), r"\text{-RDP}": Said("renyi-private", 2),
    r"\text{-zCDP}": Said("concentrated", 1),
}  # fmt: skip
SENTENCES = {r"\text{is integrable for}": "integrable", r"\text{has density}": "density", r"\text{is}": "guarantee"}
"""Words of which both sides are read by a method."""
SIGNS = {r"\in": "event", r"\sim": "neighbors", r"\ll": "dominated", "=": "same"}
"""Signs behind what is no number, or before the letter of an event, and the method that reads what follows."""
_AND, _FOR, _AT = r"\text{and}", r"\text{for}", r"\text{at}"
_NO_OPERANDS = frozenset((r"\sim", r"\ll", r"\subseteq", r"\propto"))
_STOPS = frozenset((_AND, r"\implies", r"\iff"))
_Read = tuple[Term, Term]
"""A term and its type."""


def _by_mark(table: dict[str, _Value]) -> dict[PrintedMark, _Value]:
    return {bare(marks(latex)[0]): value for latex, value in table.items()}


class TheoremDisplays(Formulas):
    """A row of marks in which theorems are read."""

    state: TheoremState
    _looked: Vocabulary | None = None

    # ------------------------------------------------------------------------------------------ places

    def found(self, at: int) -> FoundWord | None:
        """The word at a place, of those that are known now."""
        if self._looked is not self.state.vocabulary:
            self.letters, self._looked = {}, self.state.vocabulary
        return super().found(at)

    def words(self, *wanted: str) -> str:
        """The next word between formulas; a comma before the `and` of theorems is none."""
        return "" if self.here.text == "," and self.ahead().text == _AND else super().words(*wanted)

    def word_at(self, at: int) -> str:
        """Words of theorems are none between formulas."""
        if at < len(self.row) and self.row[at].text in (_AND, _AT, r"\text{law of}", *SENTENCES, *GUARANTEES):
            return ""
        return super().word_at(at)

    def starts(self, by: int = 0) -> bool:
        """Whether a mark may begin an operand."""
        return self.ahead(by).text not in _NO_OPERANDS and super().starts(by)

    def next_of(self, *wanted: str, stops: frozenset[str] = frozenset()) -> int:
        """The place of the next of these signs that stands in no bracket; the row's end where a stop comes first."""
        depth = 0
        for k in range(self.at, len(self.row)):
            text = self.row[k].text
            depth += (text in OPENING) - (text in CLOSING)
            if depth < 0 or (depth == 0 and text in stops):
                return len(self.row)
            if depth == 0 and text in wanted:
                return k
        return len(self.row)

    def stop(self) -> int:
        """Where the formula ends that is read here: before `and`, an implication, or what closes its bracket."""
        depth = 0
        for k in range(self.at, len(self.row)):
            text = self.row[k].text
            depth += (text in OPENING) - (text in CLOSING)
            if depth < 0 or (depth == 0 and text in _STOPS):
                return k
        return len(self.row)

    def stretch(self, stop: int) -> TheoremDisplays:
        """The row up to a place, which is passed."""
        self.refuse(stop <= self.at, "something is missing")
        start, self.at = self.at, stop
        return self.line(self.row[start:stop])

    def all_of(self, read: Callable[[], _Value]) -> _Value:
        """What is read, which is all of the row."""
        value = read()
        self.refuse(self.at < len(self.row), "something follows that does not belong here")
        return value

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Letters that are bound here are bound in what is read here."""
        with self.state.binding() as names, self.state.at(self.state.known):
            before = len(self.state.bound)
            yield
            names += self.state.bound[before:]

    # ------------------------------------------------------------------------------------------ letters

    def word(self, found: FoundWord) -> Item:
        """A number that is a letter or has letters before brackets, or the probability of an event."""
        if found.word.name not in self.state.known.meanings:
            return super().word(found)
        term, kind, mark = self.thing()
        if kind[:1] == ("law",):
            term, mark = self.enclosed(lambda: self.chance_of(term, kind), "(")
            kind = "real"
        self.refuse(kind not in (*NUMBERS, "formula"), "this is no number")
        return self.operand(term, kind, mark)

    def operand(self, term: Term, kind: Term, mark: PrintedMark) -> Item:
        """A term among numbers, with the power that its last mark bears."""
        return self.finished(self.state.opaque(term, kind), mark)

    def thing(self) -> tuple[Term, Term, PrintedMark]:
        """A letter that is no number, or has arguments, with its type and the mark that bears its power."""
        found = self.found(self.at)
        meaning = found and self.state.known.meanings.get(found.word.name)
        if found is None or meaning is None:
            raise self.refused("a letter is missing that is no number")
        self.refuse(found.rest.below or found.rest.primes, "a letter with scripts that is not declared")
        self.state.uses.append((found.word, frozenset()))
        self.at, mark, given = found.stop, found.rest, tuple[Term, ...]()
        if meaning.arguments:
            self.refuse(mark.above, "a superscript before arguments")
            given, mark = self.enclosed(lambda: self.values(meaning.arguments), "(")
        return meaning.term(self.state, given), meaning.kind, mark

    def values(self, kinds: tuple[Term, ...]) -> tuple[Term, ...]:
        """Terms of these types with commas between them."""
        found = list[Term]()
        for kind in kinds:
            if found:
                self.take(",")
            found.append(self.value(kind))
        return tuple(found)

    def value(self, kind: Term) -> Term:
        """A term of a type."""
        if kind in NUMBERS:
            return self.state.term(self.quantity())
        if kind == "formula":
            return self.said_here()
        return self.law()[0] if kind[0] == "law" else self.point()[0]

    def said_here(self) -> Term:
        """A formula as a term."""
        return self.state.term(self.formula(self.implication()))

    def is_object(self) -> bool:
        """Whether something stands here that is no number: a law, an outcome of a type, a pair."""
        mark, found = self.here, self.found(self.at)
        covered = found is not None and not found.rest.scripted
        if mark.text == "(":
            row = self.row[self.at : self.at + closed(self.row[self.at :])]
            inside = [sign.text for sign, deep in zip(row[1:-1], depths(row)[1:], strict=False) if deep == 1]
            pair = "," in inside and {*RELATIONS, *SIGNS, _AND}.isdisjoint(inside)
            following = self.ahead(len(row)).text
            return pair or (following in SIGNS and self.is_law() and self.line(row[1:-1]).is_object())
        if not covered and self.law_reader():
            return True
        meaning = found and self.state.known.meanings.get(found.word.name)
        if found is None or meaning is None or meaning.kind in (*NUMBERS, "formula"):
            return False
        after = found.stop + (closed(self.row[found.stop :]) if meaning.arguments else 0)
        event = meaning.kind[0] == "law" and after < len(self.row) and self.row[after].text == "("
        return not event

    def point(self) -> _Read:
        """An outcome: a letter, a pair, or a number; or the dot of a mechanism."""
        if self.state.slot and self.here.text == r"\cdot":
            self.take(r"\cdot")
            return ("sym", self.state.slot), self.state.of_data()
        if not self.is_object():
            term = self.state.term(self.quantity())
            return term, self.state.kind(term)
        if self.here.text == "(":
            (one, other), mark = self.enclosed(self.pair, "(")
            self.bears(mark, "")
            return ("pair", one[0], other[0]), ("pair", one[1], other[1])
        term, kind, mark = self.thing()
        self.bears(mark, "")
        return term, kind

    def pair(self) -> tuple[_Read, _Read]:
        """Two outcomes with a comma between them."""
        one = self.point()
        self.take(",")
        return one, self.point()

    # ------------------------------------------------------------------------------------------ laws

    def law_reader(self) -> str:
        """The method that reads the law that begins here, if it does with a sign; nothing for letters."""
        mark = bare(self.here)
        if mark in _LAWS and self.ahead().text == "(" and not self.here.scripted:
            return "named_law"
        reader = _MADE.get(mark, "")
        return "" if reader in ("mixture", "certain") and not self.here.below else reader

    def law(self) -> _Read:
        """A law."""
        with self.state.deeper():
            if self.here.text == "(":
                found, mark = self.enclosed(self.law, "(")
                self.bears(mark, "")
                return found
            if reader := self.law_reader():
                made: _Read = getattr(self, reader)()
                return made
            term, kind, mark = self.thing()
            self.refuse(kind[:1] != ("law",), "a law belongs here")
            self.bears(mark, "")
            return term, kind

    def named_law(self) -> _Read:
        """A law of numbers by its parameters, of the normal law the variance."""
        law = _LAWS[bare(self.next())]
        given, mark = self.enclosed(self.operands, "(")
        self.bears(mark, "")
        terms = [self.state.term(one) for one in given]
        if law.head == "normal" and len(given) == 2:
            variance = given[1]
            square = variance.head == "pow" and terms[1][2] == ("num", "2")
            terms[1] = terms[1][1] if square else ("pow", terms[1], ("num", "1/2"))
        terms = [*law.first[: law.numbers - len(terms)], *terms]
        self.refuse(len(terms) != law.numbers, f"a law of {law.numbers} numbers")
        return (law.head, *terms), ("law", "integer" if law.head == "bernoulli" else "real")

    def law_of_made(self) -> _Read:
        """The law of what is made from outcomes that have laws."""
        self.take(r"\text{law of}")
        made = self.stretch(self.next_of(_FOR))
        self.take(_FOR)
        with self.scope():
            letters = self.binders()
            point, kind = made.all_of(made.point)
        *first, (last, last_kind, law) = letters
        if point != ("sym", last):
            law = ("then", (last, last_kind), law, ("certain", point))
        for name, of, other in reversed(first):
            law = ("then", (name, of), other, law)
        return law, ("law", kind)

    def proportional(self) -> _Read:
        """Masses in proportion to what is given."""
        self.take(r"\propto")
        mass = self.stretch(self.next_of(_AT))
        self.take(_AT)
        with self.scope():
            name, kind = self.of_type(self.stop_of_list())
            body = self.state.term(mass.all_of(mass.quantity))
        return ("proportional", (name, kind), body), ("law", kind)

    def mixture(self) -> _Read:
        """One law with a probability, else the other."""
        weight = self.state.term(self.inner(self.next("_").below))
        (one, other), mark = self.enclosed(self.laws, "(")
        self.bears(mark, "")
        return ("mixture", weight, one[0], other[0]), one[1]

    def laws(self, between: str = ",") -> tuple[_Read, _Read]:
        """Two laws with a sign between them."""
        one = self.law()
        self.take(between)
        return one, self.law()

    def certain(self) -> _Read:
        """All mass at a point."""
        line = self.line(self.next("_").below)
        term, kind = line.all_of(line.point)
        return ("certain", term), ("law", kind)

    def binders(self) -> list[tuple[str, Term, Term]]:
        """Letters with their types and laws, `x\\sim P, y\\sim Q(x)`, which are bound from here on."""
        found = list[tuple[str, Term, Term]]()
        while not found or self.goes_on():
            row = self.stretch(self.next_of(r"\sim")).row
            self.take(r"\sim")
            law, kind = self.law()
            found.append((self.state.bind(row, kind[1]), kind[1], law))
        return found

    def goes_on(self) -> bool:
        """Whether a comma stands here, which is passed, and a further letter with its law behind it."""
        start = self.at
        more = bool(self.sign(",", ";")) and self.next_of(r"\sim", stops=frozenset((",", ";"))) < len(self.row)
        self.at = self.at if more else start
        return more

    def of_type(self, stop: int) -> tuple[str, Term]:
        """A letter of a type, which is bound from here on, up to a place."""
        name, *kind = parted(self.stretch(stop).row, r"\in")
        self.refuse(len(kind) != 1, r"a letter, `\in` and its type")
        of = self.state.type_of(kind[0])
        return self.state.bind(name, of), of

    def stop_of_list(self) -> int:
        """Where a part of a list ends."""
        return min(self.next_of(",", ":"), self.stop())

    # ------------------------------------------------------------------------------------------ numbers

    def number(self, item: Item) -> Tree:
        """A number, not a formula."""
        self.refuse(self.is_formula(item.value), "a number belongs here, not a formula")
        return super().number(item)

    def is_formula(self, value: Tree) -> bool:
        """Whether it is a formula of a theorem, which is a letter among others."""
        return value.head == "sym" and self.state.domains[value.name].kind == "formula"

    def factor(self, sign: str = "") -> Item:
        """A factor, maybe one that no formula has."""
        mark = self.here
        reader = _OPERANDS.get(bare(mark), "")
        if mark.text == r"\frac" and self.ahead().text == "(" and all(row[0].text == "d" for row in mark.inside):
            reader = "ratio"
        if not reader or self.found(self.at) is not None:
            return super().factor(sign)
        with self.state.deeper():
            found: Item = getattr(self, reader)()
            return found

    def expectation(self) -> Item:
        """The mean of a number."""
        mark = self.next("_")
        with self.scope():
            line = self.line(mark.below)
            letters = line.all_of(line.binders)
            body, mark = self.enclosed(lambda: self.state.term(self.quantity()))
        return self.operand(_means(letters, "mean", body), "real", mark)

    def probability(self) -> Item:
        """The probability of a formula, or of an event for what has a law."""
        mark = self.next("_")
        if not mark.below:
            term, mark = self.enclosed(self.chance_of_drawn)
            return self.operand(term, "real", mark)
        with self.scope():
            line = self.line(mark.below)
            letters = line.all_of(line.binders)
            body, mark = self.enclosed(self.said_here)
        return self.operand(_means(letters, "chance", body), "real", mark)

    def chance_of_drawn(self) -> Term:
        """`M(D)\\in S`: what has a law, and an event."""
        law, kind = self.law()
        self.take(r"\in")
        return self.chance_of(law, kind)

    def chance_of(self, law: Term, kind: Term) -> Term:
        """The probability of the event whose letter stands here."""
        name = self.state.fresh(kind[1])
        return ("chance", (name, kind[1]), law, ("of", self.event_letter(), ("sym", name)))

    def event_letter(self) -> str:
        """The name of an event."""
        name = self.place()
        meaning = self.state.known.meanings.get(name)
        self.refuse(meaning is None or meaning.kind != "formula", "the letter of an event belongs here")
        self.refuse(meaning and meaning.body, "an event that is defined")
        return name

    def indicator(self) -> Item:
        """1 where a formula is true, else 0."""
        self.next("")
        body, mark = self.enclosed(self.said_here, "[")
        return self.operand(("indicator", body), "real", mark)

    def ratio(self) -> Item:
        """The density of a law by another, at a point."""
        laws = list[Term]()
        for row in self.next("").inside:
            line = self.line(row[1:])
            laws.append(line.all_of(line.law)[0])
        point, mark = self.enclosed(self.point, "(")
        return self.operand(("ratio", *laws, point[0]), "real", mark)

    def big(self, head: Head) -> Item:
        """A sum over a finite type, a sum or product from one whole number to another; others as formulas have them."""
        mark = self.here
        (name, *over), (index, *first) = (parted(mark.below, sign) for sign in (r"\in", "="))
        counted = len(first) == 1 and mark.above
        if not counted and not (len(over) == 1 and head.name == "sum" and not mark.above):
            return super().big(head)
        self.next("_^")
        ends = [self.state.term(self.inner(end)) for end in ((first[0], mark.above) if counted else ())]
        kind = "integer" if counted else self.state.type_of(over[0])
        with self.scope():
            bound = self.state.bind(index if counted else name, kind)
            body = self.term()
        self.refuse(head.name == "product" and body.several, "a product that could end after a factor")
        named = head.name if counted else "total"
        value = self.state.opaque((named, (bound, kind), self.state.term(self.number(body)), *ends), "real")
        return Item(value, "big", plain=False, open=not (body.kind == "bracket" and body.plain))

    # ------------------------------------------------------------------------------------------ formulas

    def formula(self, item: Item) -> Tree:
        """A formula, not a number."""
        return item.value if self.is_formula(item.value) else super().formula(item)

    def display(self) -> tuple[Tree, tuple[Tree, ...]]:
        """A formula and no conditions behind it, but of formulas that have none of the words of theorems."""
        words = {*texts(self.row)}
        if words.isdisjoint((_AND, r"\implies", r"\text{law of}", *SENTENCES)) and self.at_level("for"):
            return super().display()
        return self.said(), ()

    def implication(self) -> Item:
        """What is said of all values of letters; formulas with `and` between them, and what they imply."""
        with self.state.deeper():
            if self.here.text == r"\forall":
                return self.for_all()
            parts = self.both()
            sign = self.sign(r"\implies", r"\iff")
            if not sign:
                return _together(parts)
            if sign == r"\iff":
                return self.equivalent(parts)
            premises = tuple(self.state.term(self.formula(part)) for part in parts)
            right = self.for_all() if self.here.text == r"\forall" else _together(self.both())
            listed = any(part.kind == "list" for part in (*parts, right))
            self.refuse(listed or self.here.text in _STOPS, "commas or implications beside an implication")
            claim = self.state.term(self.formula(right))
            return Item(self.state.opaque(("all", (), premises, claim), "formula"), "implies")

    def equivalent(self, parts: list[Item]) -> Item:
        """Each of two formulas implies the other."""
        right = self.both()
        unclear = len(parts) + len(right) > 2 or "list" in (parts[0].kind, right[0].kind)
        self.refuse(unclear or self.here.text in _STOPS, r"several formulas beside `\iff`")
        one, other = self.formula(parts[0]), self.formula(right[0])
        return Item(Tree("and", (Tree("implies", (one, other)), Tree("implies", (other, one)))), "iff")

    def both(self) -> list[Item]:
        """Formulas with `and` between them."""
        found = [self.junction()]
        while self.here.text == _AND or (self.here.text == "," and self.ahead().text == _AND):
            self.sign(",")
            self.take(_AND)
            found.append(self.for_all() if self.here.text == r"\forall" else self.junction())
        either = [part for part in found if part.value.head == "or" and part.kind != "bracket"]
        self.refuse(len(found) > 1 and either, "`and` beside `or`: brackets say which is said first")
        return found

    def for_all(self) -> Item:
        """What holds for all values of letters, with premises."""
        self.take(r"\forall")
        letters, premises = list[Term](), list[Term]()
        with self.state.deeper(), self.scope(), self.state.inside():
            while not letters or self.sign(","):
                self.quantified_letter(letters, premises)
            self.take(":")
            body = self.implication()
            claim = self.state.term(self.formula(body))
        if body.kind == "implies":
            _, _, more, claim = claim
            premises += more
        return Item(self.state.opaque(("all", tuple(letters), tuple(premises), claim), "formula"), "forall")

    def quantified_letter(self, letters: list[Term], premises: list[Term]) -> None:
        """Letters of which something holds for all values: one of a type, an event, or two neighbors."""
        row = self.stretch(self.next_of(",", ":")).row
        signs = [mark.text for mark in row if mark.text in (r"\in", r"\subseteq", r"\sim")]
        left, *right = parted(row, *signs[:1])
        self.refuse(len(signs) != 1 or not right, r"`x\in T`, `S\subseteq T` or `D\sim D'` belongs here")
        arguments: tuple[Term, ...] = ()
        kind: Term = self.state.of_data() if signs == [r"\sim"] else self.state.type_of(right[0])
        if signs == [r"\subseteq"]:
            arguments, kind = (kind,), "formula"
        names = [self.state.bind(left, kind, arguments)]
        if signs == [r"\sim"]:
            names.append(self.state.bind(right[0], kind))
            premises.append(("neighbors", *(("sym", name) for name in names)))
        letters += [(name, arguments, kind) for name in names]

    def relation(self) -> Item:
        """A formula without words between formulas."""
        if self.sign(r"\neg"):
            return Item(Tree("not", (self.formula(self.relation()),)))
        words = self.next_of(*SENTENCES, stops=_STOPS)
        if words < len(self.row):
            left = self.stretch(words)
            reader = SENTENCES[self.next("").text]
            right = self.stretch(self.stop())
            return self.claimed(getattr(self, reader)(left, right))
        if not self.is_object():
            place = self.next_of(r"\in", stops=_STOPS | {",", *RELATIONS})
            if place == len(self.row) or self.found(place + 1) is None:
                return super().relation()
        one = self.law() if self.is_law() else self.point()
        reader = SIGNS.get(self.here.text)
        if reader is None:
            raise self.refused("behind what is no number, a sign of laws, data sets or outcomes belongs here")
        self.next("")
        return self.claimed(getattr(self, reader)(*one))

    def is_law(self) -> bool:
        """Whether a law stands here."""
        if self.here.text == "(":
            return self.line(self.row[self.at + 1 :]).is_law()
        found = self.found(self.at)
        meaning = found and self.state.known.meanings.get(found.word.name)
        return bool(self.law_reader()) if meaning is None else meaning.kind[:1] == ("law",)

    def claimed(self, term: Term) -> Item:
        """A formula of a theorem among others."""
        return Item(self.state.opaque(term, "formula"))

    # ------------------------------------------------------------------------------------------ what is said

    def event(self, term: Term, _: Term) -> Term:
        """An outcome lies in an event."""
        return ("of", self.event_letter(), term)

    def neighbors(self, term: Term, _: Term) -> Term:
        """Two data sets are neighbors."""
        return ("neighbors", term, self.point()[0])

    def dominated(self, term: Term, _: Term) -> Term:
        """What has no mass by the second law has none by the first."""
        return ("dominated", term, self.law()[0])

    def same(self, term: Term, kind: Term) -> Term:
        """Two laws or two outcomes are the same."""
        return ("==", term, (self.law() if kind[0] == "law" else self.point())[0])

    def integrable(self, left: TheoremDisplays, right: TheoremDisplays) -> Term:
        """A number has an expectation."""
        with self.scope():
            letters = right.all_of(right.binders)
            self.refuse(len(letters) != 1, "one letter with its law belongs here")
            body = self.state.term(left.all_of(left.quantity))
        return _means(letters, "integrable", body)

    def density(self, left: TheoremDisplays, right: TheoremDisplays) -> Term:
        """A law on the line has a density."""
        law = left.all_of(left.law)[0]
        body = right.stretch(right.next_of(_AT))
        right.take(_AT)
        with self.scope():
            name = self.state.bind(right.row[right.at :], "real")
            return ("density", (name, "real"), law, self.state.term(body.all_of(body.quantity)))

    def guarantee(self, left: TheoremDisplays, right: TheoremDisplays) -> Term:
        """A mechanism is private in some way."""
        said = GUARANTEES.get(right.row[-1].text)
        if said is None:
            raise self.refused("a guarantee belongs here")
        row = right.row[:-1]
        whole = bool(row) and row[0].text == "(" and closed(row) == len(row) and not row[-1].scripted
        line = self.line(row[1:-1] if whole else row)
        numbers = tuple(map(self.state.term, line.all_of(line.operands)))
        numbers = (*numbers, *said.last[: said.numbers - len(numbers)])
        self.refuse(len(numbers) != said.numbers, f"a guarantee of {said.numbers} numbers")
        letter, law = self.mechanism(left)
        return (said.head, letter, law, *numbers)

    def mechanism(self, line: TheoremDisplays) -> tuple[Term, Term]:
        """The letter of data sets and the law of a mechanism: `M`, or with a dot among its arguments."""
        data = self.state.of_data()
        slot = self.state.fresh(data)
        if any(mark.text == r"\cdot" for mark in line.row):
            self.state.slot, before = slot, self.state.slot
            law = line.all_of(line.law)[0]
            self.state.slot = before
            return (slot, data), law
        found = line.found(0)
        meaning = found and self.state.known.meanings.get(found.letter)
        known = found is not None and found.stop == len(line.row) and meaning is not None
        if not known or meaning is None or meaning.arguments != (data,) or meaning.kind[:1] != ("law",):
            raise line.refused("a mechanism belongs here")
        return (slot, data), meaning.term(self.state, (("sym", slot),))


def closed(row: Row) -> int:
    """How many marks a bracket has that opens first in a row."""
    open_ = depths(row)
    return open_.index(0) + 1 if 0 in open_ else len(row)


def _together(parts: list[Item]) -> Item:
    """What several formulas say together, none of them taken apart."""
    return parts[0] if len(parts) == 1 else Item(Tree("and", tuple(part.value for part in parts)), "all")


def _means(letters: list[tuple[str, Term, Term]], head: str, body: Term) -> Term:
    """A term that is about the last letter, with means over those before it."""
    for name, kind, law in reversed(letters):
        body, head = (head, (name, kind), law, body), "mean"
    return body


_LAWS, _MADE, _OPERANDS = _by_mark(LAWS), _by_mark(MADE), _by_mark(OPERANDS)
