"""Terms of theorems, read by descent from the left: letters, laws, expectations, probabilities, densities, sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Self, TypeVar

from dpverify.proving.second_reader.formulas import Formulas
from dpverify.proving.second_reader.rows import RELATIONS, Head, Item
from dpverify.proving.second_reader.theorem_letters import LetterMeaning, TheoremState, bare, parted
from dpverify.proving.second_reader.theorem_tables import (
    DIVERGENCES,
    FOLDS,
    GUARANTEES,
    LAWS,
    MADE,
    ONE,
    OPERANDS,
    PROPERTY_WORDS,
    SENTENCES,
    SIGNS,
    Term,
)
from dpverify.proving.second_reader.trees import Tree, is_vector
from dpverify.proving.second_reader.typography import PrintedMark, Row, marks
from dpverify.proving.second_reader.vocabulary import CLOSING, OPENING, FoundWord, Vocabulary, depths

_Value = TypeVar("_Value")
_TypedTerm = tuple[Term, Term]
AND, FOR, AT = r"\text{and}", r"\text{for}", r"\text{at}"
STOPS = frozenset((AND, r"\implies", r"\iff"))
"""What ends a formula, brackets aside."""
LAW_WORDS = (r"\text{law of}",)
_NO_OPERANDS = frozenset((r"\sim", r"\ll", r"\subseteq", r"\propto", r"\bmod"))


def _by_mark(table: dict[str, _Value]) -> dict[PrintedMark, _Value]:
    return {bare(marks(latex)[0]): value for latex, value in table.items()}


_LAWS, _MADE, _OPERANDS = _by_mark(LAWS), _by_mark(MADE), _by_mark(OPERANDS)


class TheoremTerms(Formulas):
    """A row in which terms of theorems are read."""

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
        return "" if self.here.text == "," and self.ahead().text == AND else super().words(*wanted)

    def word_at(self, at: int) -> str:
        """Words of theorems are none between formulas."""
        if at < len(self.row) and self.row[at].text in (
            AND,
            AT,
            *LAW_WORDS,
            *SENTENCES,
            *GUARANTEES,
            *PROPERTY_WORDS,
        ):
            return ""
        return super().word_at(at)

    def starts(self, by: int = 0) -> bool:
        """Whether a mark may begin an operand."""
        mark = self.ahead(by)
        known = bare(mark) in _OPERANDS or (by == 0 and self.is_dot())
        return known or (mark.text not in _NO_OPERANDS and super().starts(by))

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
            if depth < 0 or (depth == 0 and text in STOPS):
                return k
        return len(self.row)

    def stretch(self, stop: int) -> Self:
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

    def meaning(self) -> LetterMeaning | None:
        """What the letter here is, if it is no number of its own."""
        found = self.found(self.at)
        return None if found is None else self.state.known.meanings.get(found.word.name)

    def is_law(self) -> bool:
        """Whether a law stands here."""
        if self.here.text == "(":
            return self.line(self.row[self.at + 1 :]).is_law()
        meaning = self.meaning()
        return bool(self.law_reader()) if meaning is None else meaning.kind[:1] == ("law",)

    def word(self, found: FoundWord) -> Item:
        """A number that is a letter or has letters before brackets, or the probability of an event."""
        if found.word.name not in self.state.known.meanings:
            return super().word(found)
        term, kind, mark = self.thing()
        if kind[:1] == ("law",):
            term, mark = self.enclosed(lambda: self.chance_of(term, kind), "(")
            kind = "real"
        self.refuse(kind != "formula" and not self.state.is_number(kind), "this is no number")
        return self.operand(term, kind, mark)

    def operand(self, term: Term, kind: Term, mark: PrintedMark) -> Item:
        """A term among numbers, with the power that its last mark bears."""
        return self.finished(self.state.opaque(term, kind), mark)

    def thing(self) -> tuple[Term, Term, PrintedMark]:
        """A letter that is no number, or has arguments, with its type and the mark that bears its power."""
        found, meaning = self.found(self.at), self.meaning()
        if found is None or meaning is None:
            raise self.refused("a letter is missing that is no number")
        self.refuse(
            bool(found.rest.below) != meaning.below or found.rest.primes,
            "a letter with scripts that is not declared",
        )
        self.state.uses.append((found.word, frozenset()))
        self.at, mark, given = found.stop, found.rest, tuple[Term, ...]()
        if meaning.below:
            line, index = self.line(mark.below), parted(mark.below, ",")[0]
            given, mark = line.all_of(lambda: line.values(meaning.arguments)), replace(mark, below=())
            if (
                meaning.last
                and index[0].text == "("
                and closed(index) == len(index)
                and not index[-1].scripted
            ):
                return self.ordered(given[0], given[1:], meaning), meaning.kind, mark
        elif meaning.arguments:
            self.refuse(mark.above, "a superscript before arguments")
            given, mark = self.enclosed(lambda: self.values(meaning.arguments), "(")
        return meaning.term(self.state, given), meaning.kind, mark

    def ordered(self, rank: Term, others: tuple[Term, ...], meaning: LetterMeaning) -> Term:
        """The number of a rank, of those that a letter is with an index from 1 on."""
        return self.of_rank(rank, ONE, meaning.last, lambda at: meaning.term(self.state, (at, *others)))

    def of_rank(self, rank: Term, first: Term, last: Term, at: Callable[[Term], Term]) -> Term:
        """The largest of some numbers of which fewer than the rank are smaller; the least one has none that are."""
        i, j, k = (self.state.fresh("integer") for _ in range(3))
        mine, yours, least = (at(("sym", name)) for name in (i, j, k))
        smaller: Term = ("sum", (j, "integer"), ("indicator", ("<", yours, mine)), first, last)
        may_be: Term = ("indicator", ("<", smaller, rank))
        may_not: Term = ("add", ONE, ("mul", ("num", "-1"), may_be))
        else_least: Term = ("mul", may_not, ("smallest", (k, "integer"), least, first, last))
        return ("largest", (i, "integer"), ("add", ("mul", may_be, mine), else_least), first, last)

    def median(self) -> Item:
        """The number in the middle, or the mean of the two."""
        return self.big(Head("big", "median"))

    def sum(self) -> Item:
        """A sum, or what is left of a number in brackets divided by a whole one."""
        item = super().sum()
        if self.here.text != r"\bmod" or self.here.scripted:
            return item
        self.refuse(item.kind != "bracket" or not item.plain, "brackets belong around what is divided")
        self.next("")
        self.refuse(not self.here.text.isdigit(), "a whole number belongs here, by which is divided")
        by = self.digits()
        whole = by.plain and by.digits is not None and by.digits.denominator == 1 and by.digits > 0
        self.refuse(not whole, "a positive whole number belongs here, by which is divided")
        value, times = self.state.term(self.number(item)), by.digits or 1
        floor: Term = ("floor", ("mul", ("num", str(1 / times)), value))
        left: Term = ("add", value, ("mul", ("num", str(-times)), floor))
        return Item(self.state.opaque(left, "real"), "remainder", plain=False)

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
        if self.state.is_number(kind):
            found = self.quantity()
            vector = is_vector(found, self.state.domains)
            self.refuse(
                vector != self.state.is_space(kind), "a vector in a number's place, or a number in its"
            )
            return self.state.term(found)
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
            pair = "," in inside and {*RELATIONS, *SIGNS, AND}.isdisjoint(inside)
            following = self.ahead(len(row)).text
            return pair or (following in SIGNS and self.is_law() and self.line(row[1:-1]).is_object())
        if not covered and self.law_reader():
            return True
        meaning = self.meaning()
        if (
            found is None
            or meaning is None
            or meaning.kind == "formula"
            or self.state.is_number(meaning.kind)
        ):
            return False
        if self.compares():
            return False
        after = found.stop + (closed(self.row[found.stop :]) if meaning.arguments else 0)
        event = meaning.kind[0] == "law" and after < len(self.row) and self.row[after].text == "("
        return not event

    def point(self) -> _TypedTerm:
        """An outcome: a letter, a pair, or a number; or a dot."""
        if self.is_dot():
            return self.dot()
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

    def is_dot(self) -> bool:
        """Whether a dot stands here that is no sign of multiplication, where an operand belongs."""
        return self.state.slot is not None and self.here.text == r"\cdot"

    def dot(self) -> _TypedTerm:
        """What a dot is."""
        self.take(r"\cdot")
        assert self.state.slot is not None
        return self.state.slot

    def vector_dot(self) -> Item:
        """A dot that is a vector."""
        term, kind = self.dot()
        self.refuse(not self.state.is_number(kind), "a dot among numbers that is none")
        return self.operand(term, kind, PrintedMark(r"\cdot"))

    def pair(self) -> tuple[_TypedTerm, _TypedTerm]:
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

    def law(self) -> _TypedTerm:
        """A law."""
        with self.state.deeper():
            if self.here.text == "(":
                found, mark = self.enclosed(self.law, "(")
                self.bears(mark, "")
                return found
            if reader := self.law_reader():
                made: _TypedTerm = getattr(self, reader)()
                return made
            term, kind, mark = self.thing()
            self.refuse(kind[:1] != ("law",), "a law belongs here")
            self.bears(mark, "")
            return term, kind

    def named_law(self) -> _TypedTerm:
        """A law of numbers by its parameters, of the normal law the variance."""
        law = _LAWS[bare(self.next())]
        given, mark = self.enclosed(self.mean_and_matrix if law.head == "normal" else self.operands, "(")
        self.bears(mark, "")
        terms = [self.state.term(one) for one in given]
        if law.head == "normal" and len(given) == 2:
            variance = given[1]
            square = variance.head == "pow" and terms[1][2] == ("num", "2")
            terms[1] = terms[1][1] if square else ("pow", terms[1], ("num", "1/2"))
        terms = [*law.first[: law.numbers - len(terms)], *terms]
        self.refuse(len(terms) != law.numbers, f"a law of {law.numbers} numbers")
        mean = self.state.kind(terms[0])
        drawn = mean if self.state.is_space(mean) else "integer" if law.head == "bernoulli" else "real"
        return (law.head, *terms), ("law", drawn)

    def mean_and_matrix(self) -> list[Tree]:
        """Mean and variance; of vectors, the variance along a line, before the sign of the unit matrix."""
        found = [self.quantity()]
        while self.sign(","):
            stop = min(self.next_of(","), self.at + closed((PrintedMark("("), *self.row[self.at :])) - 2)
            matrix = self.row[stop - 1] == PrintedMark("I") and self.found(stop - 1) is None
            line = self.stretch(stop - matrix)
            self.at += matrix
            found.append(line.number(line.all_of(line.term if matrix else line.sum)))
            vector = is_vector(found[0], self.state.domains)
            self.refuse(vector != matrix, "a variance of numbers, or a multiple of `I` of vectors")
        return found

    def law_of_made(self) -> _TypedTerm:
        """The law of what is made from outcomes that have laws."""
        self.take(r"\text{law of}")
        made = self.stretch(self.next_of(FOR))
        self.take(FOR)
        with self.scope():
            letters = self.binders()
            point, kind = made.all_of(made.point)
        *first, (last, last_kind, law) = letters
        if point != ("sym", last):
            law = ("then", (last, last_kind), law, ("certain", point))
        for name, of, other in reversed(first):
            law = ("then", (name, of), other, law)
        return law, ("law", kind)

    def proportional(self) -> _TypedTerm:
        """Masses in proportion to what is given."""
        self.take(r"\propto")
        mass = self.stretch(self.next_of(AT))
        self.take(AT)
        with self.scope():
            name, kind = self.of_type(self.stop_of_list())
            body = self.state.term(mass.all_of(mass.quantity))
        return ("proportional", (name, kind), body), ("law", kind)

    def mixture(self) -> _TypedTerm:
        """One law with a probability, else the other."""
        weight = self.state.term(self.inner(self.next("_").below))
        (one, other), mark = self.enclosed(self.laws, "(")
        self.bears(mark, "")
        return ("mixture", weight, one[0], other[0]), one[1]

    def laws(self, between: str = ",") -> tuple[_TypedTerm, _TypedTerm]:
        """Two laws with a sign between them."""
        one = self.law()
        self.take(between)
        return one, self.law()

    def certain(self) -> _TypedTerm:
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
        if self.sign(",", ";") and self.next_of(r"\sim", stops=frozenset((",", ";"))) < len(self.row):
            return True
        self.at = start
        return False

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
        reader = self.operand_reader()
        if not reader:
            return super().factor(sign)
        with self.state.deeper():
            found: Item = getattr(self, reader)()
            return found

    def operand_reader(self) -> str:
        """The method that reads the number here, if it is one that no formula has."""
        mark = self.here
        if self.compares():
            return "divergence"
        if self.is_dot():
            return "vector_dot"
        if self.found(self.at) is not None:
            return ""
        differentials = mark.text == r"\frac" and all(row[0].text == "d" for row in mark.inside)
        return "ratio" if differentials and self.ahead().text == "(" else _OPERANDS.get(bare(mark), "")

    def compares(self) -> bool:
        """Whether a divergence begins here, whose letter may also be one that is declared."""
        if self.here.text not in DIVERGENCES or not self.here.below or self.ahead().text != "(":
            return False
        inside = self.row[self.at + 2 : self.at + closed(self.row[self.at + 1 :])]
        return len(parted(inside, r"\|")) == 2

    def divergence(self) -> Item:
        """A divergence of one law from another."""
        mark = self.next("_")
        form, below = DIVERGENCES[mark.text], mark.below
        first = form.first_order and below == marks(form.first_order)
        order = ONE if first else self.state.term(self.inner(below))
        (one, other), mark = self.enclosed(lambda: self.laws(r"\|"), "(")
        return self.operand((form.head, order, one[0], other[0]), "real", mark)

    def total_variation(self) -> Item:
        """The largest difference of two laws, of all events."""
        self.next("")
        (one, other), mark = self.enclosed(self.laws, "(")
        return self.operand(("excess", ONE, one[0], other[0]), "real", mark)

    def information(self) -> Item:
        """What an outcome tells of another that is drawn from a kernel at it: their law against the product."""
        self.next("")
        term, mark = self.enclosed(self.joint_and_product, "(")
        return self.operand(term, "real", mark)

    def joint_and_product(self) -> Term:
        """The divergence of the joint law of two outcomes from the product, by `P,K`."""
        law = self.law()[0]
        self.take(",")
        kernel = self.meaning()
        self.place()
        if kernel is None or len(kernel.arguments) != 1 or kernel.kind[:1] != ("law",):
            raise self.refused("a law for one argument belongs here")
        (given,), drawn = kernel.arguments, kernel.kind[1]
        one, two, again = (self.state.fresh(kind) for kind in (given, drawn, given))
        at_one, at_again = (kernel.term(self.state, (("sym", name),)) for name in (one, again))
        both: Term = ("certain", ("pair", ("sym", one), ("sym", two)))
        alone: Term = ("then", (again, given), law, at_again)
        return ("divergence", ONE, *(
            ("then", (one, given), law, ("then", (two, drawn), second, both)) for second in (at_one, alone)
        ))  # fmt: skip

    def head(self) -> Head | None:
        """What the sign here begins; the largest and smallest of what has an index are read as sums are."""
        found = super().head()
        fold = FOLDS.get(found.name, "") if found is not None and self.here.below else ""
        return Head("big", fold) if fold else found

    def expectation(self) -> Item:
        """The mean of a number."""
        mark = self.next("_")
        with self.scope():
            line = self.line(mark.below)
            letters = line.all_of(line.binders)
            body, mark = self.enclosed(lambda: self.state.term(self.quantity()))
        return self.operand(means(letters, "mean", body), "real", mark)

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
        return self.operand(means(letters, "chance", body), "real", mark)

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
        """A sum over a finite type, what is over whole numbers between two; others as formulas have them."""
        mark, named = self.here, head.name
        over, first, chain = (parted(mark.below, sign) for sign in (r"\in", "=", r"\le"))
        kind: Term = "integer"
        if len(first) == 2 and mark.above:
            index, rows = first[0], [first[1], mark.above]
        elif len(chain) == 3 and not mark.above:
            index, rows = chain[1], chain[::2]
        elif len(over) == 2 and named == "sum" and not mark.above:
            index, rows, named, kind = over[0], [], "total", self.state.type_of(over[1])
        else:
            self.refuse(named in (*FOLDS.values(), "median"), "an index with both its ends belongs below")
            return super().big(head)
        self.next("_^")
        ends = [self.state.term(self.inner(end)) for end in rows]
        with self.scope():
            bound = self.state.bind(index, kind)
            body = self.term()
        self.refuse(named == "product" and body.several, "a product that could end after a factor")
        term: Term = (named, (bound, kind), self.state.term(self.number(body)), *ends)
        if named == "median":
            term = self.middle(bound, *term[2:])
        value = self.state.opaque(term, "real")
        return Item(value, "big", plain=False, open=not (body.kind == "bracket" and body.plain))

    def middle(self, bound: str, body: Term, first: Term, last: Term) -> Term:
        """The mean of the two numbers in the middle, which of an odd number of them are the same."""
        count: Term = ("add", last, ("mul", ("num", "-1"), first), ("num", "2"))
        ranks = ((way, ("mul", ("num", "1/2"), count)) for way in ("floor", "ceiling"))
        both = (self.of_rank(rank, first, last, lambda at: put_for(body, bound, at)) for rank in ranks)
        return ("mul", ("num", "1/2"), ("add", *both))


def put_for(term: Term, name: str, value: Term) -> Term:
    """A term with a value in the place of a letter of which no other has the name."""
    if term == ("sym", name):
        return value
    return tuple(put_for(part, name, value) for part in term) if isinstance(term, tuple) else term


def closed(row: Row) -> int:
    """How many marks a bracket has that opens first in a row."""
    open_ = depths(row)
    return open_.index(0) + 1 if 0 in open_ else len(row)


def means(letters: list[tuple[str, Term, Term]], head: str, body: Term) -> Term:
    """A term that is about the last letter, with means over those before it."""
    for name, kind, law in reversed(letters):
        body, head = (head, (name, kind), law, body), "mean"
    return body
