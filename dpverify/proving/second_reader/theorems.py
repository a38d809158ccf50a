"""Displays of theorems, read by descent from the left: formulas, and what is said of laws, data sets and mechanisms.

What both readers of theorems were written from is docs/theorems.md.
"""

from __future__ import annotations

from dpverify.proving.second_reader.rows import RELATIONS, Item, texts
from dpverify.proving.second_reader.theorem_letters import parted
from dpverify.proving.second_reader.theorem_properties import TheoremProperties
from dpverify.proving.second_reader.theorem_tables import GUARANTEES, PROPERTY_WORDS, SENTENCES, SIGNS, Term
from dpverify.proving.second_reader.theorem_terms import AND, AT, LAW_WORDS, STOPS, closed, means
from dpverify.proving.second_reader.trees import Tree, is_vector


class TheoremDisplays(TheoremProperties):
    """A row in which something is said."""

    def formula(self, item: Item) -> Tree:
        """A formula, not a number."""
        return item.value if self.is_formula(item.value) else super().formula(item)

    def display(self) -> tuple[Tree, tuple[Tree, ...]]:
        """A formula and no conditions behind it, but of formulas that have none of the words of theorems."""
        words = {*texts(self.row)}
        if words.isdisjoint((AND, r"\implies", *LAW_WORDS, *SENTENCES, *PROPERTY_WORDS)) and self.at_level(
            "for"
        ):
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
            self.refuse(listed or self.here.text in STOPS, "commas or implications beside an implication")
            claim = self.state.term(self.formula(right))
            return Item(self.state.opaque(("all", (), premises, claim), "formula"), "implies")

    def equivalent(self, parts: list[Item]) -> Item:
        """Each of two formulas implies the other."""
        right = self.both()
        unclear = len(parts) + len(right) > 2 or "list" in (parts[0].kind, right[0].kind)
        self.refuse(unclear or self.here.text in STOPS, r"several formulas beside `\iff`")
        one, other = self.formula(parts[0]), self.formula(right[0])
        return Item(Tree("and", (Tree("implies", (one, other)), Tree("implies", (other, one)))), "iff")

    def both(self) -> list[Item]:
        """Formulas with `and` between them."""
        found = [self.junction()]
        while self.here.text == AND or (self.here.text == "," and self.ahead().text == AND):
            self.sign(",")
            self.take(AND)
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
        if body.kind == "implies" and isinstance(claim, tuple):
            premises += claim[2]
            claim = claim[3]
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
        if (form := self.property_form()) is not None:
            return self.claimed(self.property(form))
        words = self.next_of(*SENTENCES, stops=STOPS)
        if words < len(self.row):
            left = self.stretch(words)
            reader = SENTENCES[self.next("").text]
            right = self.stretch(self.stop())
            return self.claimed(getattr(self, reader)(left, right))
        if not self.is_object():
            place = self.next_of(r"\in", stops=STOPS | {",", *RELATIONS})
            if place == len(self.row) or self.found(place + 1) is None:
                return super().relation()
        one = self.law() if self.is_law() else self.point()
        reader = SIGNS.get(self.here.text, "")
        if not reader:
            raise self.refused("behind what is no number, a sign of laws, data sets or outcomes belongs here")
        self.next("")
        return self.claimed(getattr(self, reader)(*one))

    def compared(self, relation: str, left: Tree, right: Tree) -> tuple[Tree, ...]:
        """What one relation says; two vectors are equal as two outcomes are."""
        if relation == "==" and all(is_vector(side, self.state.domains) for side in (left, right)):
            return (self.state.opaque(("==", *map(self.state.term, (left, right))), "formula"),)
        return super().compared(relation, left, right)

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
        return means(letters, "integrable", body)

    def density(self, left: TheoremDisplays, right: TheoremDisplays) -> Term:
        """A law on the line has a density."""
        law = left.all_of(left.law)[0]
        body = right.stretch(right.next_of(AT))
        right.take(AT)
        with self.scope():
            name = self.state.bind(right.row[right.at :], "real")
            return ("density", (name, "real"), law, self.state.term(body.all_of(body.quantity)))

    def guarantee(self, left: TheoremDisplays, right: TheoremDisplays) -> Term:
        """A mechanism is private in some way."""
        head, *numbers = right.guaranteed()
        return (head, *self.mechanism(left), *numbers)

    def guaranteed(self) -> tuple[Term, ...]:
        """A guarantee, and its numbers."""
        said = GUARANTEES.get(self.row[-1].text) if self.row else None
        if said is None:
            raise self.refused("a guarantee belongs here")
        row, self.at = self.row[:-1], len(self.row)
        whole = bool(row) and row[0].text == "(" and closed(row) == len(row) and not row[-1].scripted
        line = self.line(row[1:-1] if whole else row)
        numbers = tuple(map(self.state.term, line.all_of(line.operands)))
        numbers = (*numbers, *said.last[: said.numbers - len(numbers)])
        self.refuse(len(numbers) != said.numbers, f"a guarantee of {said.numbers} numbers")
        return (said.head, *numbers)

    def released(self) -> tuple[Term, Term]:
        """What a mechanism puts out: an outcome, or several in brackets, as pairs within pairs."""
        if self.here.text != "(" or closed(self.row[self.at :]) != len(self.row) - self.at:
            return self.point()
        parts = [self.line(row) for row in parted(self.row[self.at + 1 : -1], ",")]
        if len(parts) == 1:
            return self.point()
        self.at = len(self.row)
        *made, last = (part.all_of(part.released) for part in parts)
        for one in reversed(made):
            last = ("pair", one[0], last[0]), ("pair", one[1], last[1])
        return last

    def mechanism(self, line: TheoremDisplays) -> tuple[Term, Term]:
        """The letter of data sets and the law of a mechanism: `M`, or with a dot among its arguments."""
        data = self.state.of_data()
        slot = self.state.fresh(data)
        if r"\cdot" in texts(line.row):
            with self.state.dotted(("sym", slot), data):
                return (slot, data), line.all_of(line.law)[0]
        found, meaning = line.found(0), line.meaning()
        alone = found is not None and found.letter and found.stop == len(line.row)
        if not alone or meaning is None or meaning.arguments != (data,) or meaning.kind[:1] != ("law",):
            raise line.refused("a mechanism belongs here")
        return (slot, data), meaning.term(self.state, (("sym", slot),))


def _together(parts: list[Item]) -> Item:
    """What several formulas say together, none of them taken apart."""
    return parts[0] if len(parts) == 1 else Item(Tree("and", tuple(part.value for part in parts)), "all")
