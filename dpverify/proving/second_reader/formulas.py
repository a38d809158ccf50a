"""Formulas: relations, words between them, quantifiers in front and conditions behind."""

from __future__ import annotations

from dpverify.proving.second_reader.expressions import Expressions
from dpverify.proving.second_reader.orders import compared
from dpverify.proving.second_reader.rows import BRACKETS, RELATIONS, SPELLED, Item, is_lone
from dpverify.proving.second_reader.trees import (
    FORMULAS,
    Tree,
    all_of,
    compare,
    free,
    has_order,
    inside,
    is_vector,
    letter,
    number,
    split,
)
from dpverify.proving.second_reader.typography import RefusedError
from dpverify.proving.second_reader.vocabulary import CLOSING, OPENING

_FORS = ("for", "for all", "for every", "for any", "if", "when", "whenever")
_WORDS = {
    "and": "and", "or": "or", "implies": "implies", "if and only if": "iff", "iff": "iff", "such that": ":",
    **dict.fromkeys((*_FORS, "for each", "provided", "provided that"), "for"),
    **dict.fromkeys(("there is", "there are", "there exists", "there exist"), "exists"),
    **dict.fromkeys(("large enough", "sufficiently large"), "large"),
    **dict.fromkeys(("small enough", "sufficiently small"), "small"),
}  # fmt: skip
_SIGNS = {
    ",": ",", ";": ",", ":": ":", r"\land": "and", r"\lor": "or", r"\implies": "implies", r"\iff": "iff",
    r"\exists": "exists", r"\forall": "forall",
}  # fmt: skip


class Formulas(Expressions):
    """A row of marks that says something."""

    # ------------------------------------------------------------------------------------------- words

    def word_at(self, at: int) -> str:
        """What a mark says between formulas; nothing for any other."""
        if at >= len(self.row) or self.row[at].scripted:
            return ""
        text = self.row[at].text
        if not text.startswith(r"\text{") or text in SPELLED:
            return _SIGNS.get(text, "")
        said = text[6:-1].strip(" ,.;").lower()
        for before in _FORS:  # "for all sufficiently large"
            if said.startswith(before + " ") and _WORDS.get(said[len(before) + 1 :]) in ("large", "small"):
                return "for " + _WORDS[said[len(before) + 1 :]]
        if said not in _WORDS:
            raise RefusedError(f"the words `{said}` have no meaning between formulas")
        return _WORDS[said]

    def words(self, *wanted: str) -> str:
        """The next word if it is one of these, which is then passed; a comma before a word says nothing."""
        here = self.word_at(self.at)
        skipped = 0
        if here == "," and self.word_at(self.at + 1) in ("for", "and", "or", "implies", "iff", "forall"):
            here, skipped = self.word_at(self.at + 1), 1
        if here not in wanted:
            return ""
        self.at += 1 + skipped
        return here

    def at_level(self, *wanted: str) -> list[int]:
        """The places of words that stand in no brackets and in no letter."""
        at, out, within = 0, list[int](), list[str]()
        while at < len(self.row):
            found = self.found(at)
            if found is not None and not found.word.call:
                at = found.stop
                continue
            mark = self.row[at]
            if mark.text in OPENING or mark.text == r"\left.":
                within.append(mark.text)
            elif within and (mark.text in CLOSING or (within[-1] == r"\left." and self.is_point(mark))):
                within.pop()
            elif not within and self.word_at(at) in wanted:
                out.append(at)
            at += 1
        return out

    # ---------------------------------------------------------------------------------------- a display

    def display(self) -> tuple[Tree, tuple[Tree, ...]]:
        """A claim and its conditions, which stand before or behind it."""
        fors = self.at_level("for", "for large", "for small")
        if len(fors) > 1:
            raise self.refuse("conditions in two places", fors[1])
        if not fors:
            return self.said(), ()
        (at,) = fors
        if at == 0:
            colons, there = self.at_level(":"), self.at_level("exists")
            stop = min((*colons, *there), default=len(self.row))
            comma = stop - (self.word_at(stop - 1) == "," and stop in there)
            given = self.part(0, comma).conditions()
            return self.part(stop + (stop in colons), len(self.row)).said(), given
        if self.at_level("exists", "forall"):
            raise self.refuse("a condition behind quantifiers: it could stand before or within them", at)
        given = self.part(at, len(self.row)).conditions()
        comma = self.word_at(at - 1) == ","
        several = self.part(0, at).at_level("iff", *((",", "and") if given else ()))
        if several and not comma:
            raise self.refuse("a condition behind several formulas: it could be about the last alone", at)
        return self.part(0, at - comma).said(), given

    def part(self, start: int, stop: int) -> Formulas:
        """A stretch of the row."""
        if start >= stop:
            raise self.refuse("a formula is missing", min(start, len(self.row) - 1))
        return self.line(self.row[start:stop])

    def said(self) -> Tree:
        """All of the row, as a formula."""
        found = self.formula(self.implication())
        if self.at < len(self.row):
            raise self.refuse("a formula ends here, and something follows")
        return found

    def formula(self, item: Item) -> Tree:
        """A formula, not a number."""
        if item.value.head not in FORMULAS:
            raise self.refuse("a number alone says nothing: a relation is missing")
        return item.value

    def conditions(self) -> tuple[Tree, ...]:
        """What stands behind "for all": relations that all hold, and letters, which stand for every value anyway."""
        word = self.word_at(0)
        self.at = 0 if word.startswith("for ") else 1
        out: list[Tree] = []
        waiting: list[str] = []
        before = self.state.constants.count
        last: Item | None = None
        word = ""
        while True:
            start = self.at
            alone = self.lone()
            if alone:
                waiting.append(alone)
            else:
                item = self.relation()
                self.refuse_range(last if word == "," else None, item, condition=True)
                out += self.shared(waiting, item, start)
                waiting, last = [], item
            if self.at >= len(self.row):
                self.state.constants.are_premises(before)
                return tuple(out)
            word = self.words(",", "and")
            if not word:
                raise self.refuse("between conditions that all hold stands a comma or `and`")
            if word == "and" and alone:
                raise self.refuse("`and` behind a letter alone: it is not clear what is said of the letter")

    def lone(self) -> str:
        """The name of a letter that is all of a condition; nothing, and nothing is passed, where there is more."""
        found = self.found(self.at)
        if found is None or not found.letter:
            return ""
        if found.stop < len(self.row) and self.word_at(found.stop) not in (",", "and"):
            return ""
        self.at = found.stop
        return found.letter

    def refuse_range(self, one: Item | None, other: Item, *, condition: bool) -> None:
        """`0<a,b<1` and `1\\le i,j\\le n`: two relations, or both ends of each letter."""
        if one is None or len(one.sides) < 2 or len(other.sides) < 2:
            return
        last, first = one.sides[-1], other.sides[0]
        same = any({one.ways[-1], other.ways[0]} <= signs for signs in ({r"\le", "<"}, {r"\ge", ">"}))
        if not (same and is_lone(last) and is_lone(first)) or last.value == first.value:
            return
        low, high = one.sides[-2].value, other.sides[1].value
        if {last.value.name, first.value.name} & (free(low) | free(high)):
            return
        alike = [mark.text for mark in last.word] == [mark.text for mark in first.word]
        whole = all(self.state.domains[side.value.name].kind == "integer" for side in (last, first))
        bare = not any(part.name for part in inside(low) if part.head != "inf")
        if bare or low == Tree("neg", (high,)) or alike or (whole and condition):
            raise self.refuse("a comma between two letters, each with one end: both could be meant for each")

    def shared(self, waiting: list[str], item: Item, start: int) -> tuple[Tree, ...]:
        """A condition, said of the letters before it, too: `x, y > 0`."""
        found = split(self.formula(item))
        first = self.found(start)
        if not waiting or not first or not first.letter or first.stop >= len(self.row):
            return found
        relation = RELATIONS.get(self.row[first.stop].text)
        if self.row[first.stop].text == r"\in":
            raise self.refuse("an interval behind several letters: it could be about one or about all", start)
        if relation is None:
            return found
        domains = self.state.domains
        if any(domains[name].kind != domains[first.word.name].kind for name in waiting):
            raise self.refuse("a condition of letters of different kinds: is it about the last alone?", start)
        leading, turned = letter(first.word.name), relation in (">", ">=")
        other = found[0].parts[0] if turned else found[0].parts[1]
        if found[0] != compare(relation, leading, other):
            raise self.refuse("a condition of several letters that is no comparison", start)
        return (*(compare(relation, letter(name), other) for name in waiting), *found)

    # ----------------------------------------------------------------------------------------- formulas

    def implication(self) -> Item:
        """Quantifiers, or parts with `\\implies` or `\\iff` between them."""
        with self.state.deeper():
            if self.words("forall"):
                return Item(self.for_all())
            if self.words("exists"):
                return Item(self.exists())
            return self.joined()

    def joined(self) -> Item:
        """What has an implication, or none, at its top."""
        constants = self.state.constants
        before = constants.count
        left = self.junction()
        word = self.words("implies", "iff")
        if not word:
            return left
        self.refuse_list(left)
        first = self.formula(left)
        if word == "implies":
            constants.are_premises(before)
            last = self.implication()
            self.refuse_list(last)
            second = self.formula(last)
            if last.kind == "iff" or (second.head == "implies" and last.kind != "bracket"):
                raise self.refuse("a chain of implications: brackets say what implies what")
            return Item(Tree("implies", (first, second)))
        last = self.junction()
        self.refuse_list(last)
        second = self.formula(last)
        if constants.count > before:
            raise self.refuse("an order beside `\\iff`")
        return Item(Tree("and", (Tree("implies", (first, second)), Tree("implies", (second, first)))), "iff")

    def refuse_list(self, item: Item) -> None:
        """Formulas with commas beside an implication, which could be about the nearest alone."""
        if item.kind == "list":
            raise self.refuse("commas beside an implication: brackets say what it is about")

    def for_all(self) -> Tree:
        """Letters, a colon, and what holds for all of their values."""
        names = [self.place()]
        while self.words(",", "and"):
            names.append(self.place())
        return self.quantified("forall", names, ())

    def exists(self) -> Tree:
        """Letters, or relations that each begin with one, a colon, and what then holds."""
        names: list[str] = []
        waiting: list[str] = []
        given: tuple[Tree, ...] = ()
        with self.state.inside():
            while True:
                start = self.at
                names.append(self.place())
                if self.word_at(self.at) in (",", "and", ":"):
                    waiting.append(names[-1])
                else:
                    self.at = start
                    given += self.shared(waiting, self.relation(), start)
                    waiting = []
                word = self.words(",", "and")
                if not word:
                    break
                if word == "and" and waiting:
                    raise self.refuse("`and` behind a letter alone: it is not clear what is said of it")
        return self.quantified("exists", names, given)

    def quantified(self, head: str, names: list[str], given: tuple[Tree, ...]) -> Tree:
        if not self.words(":"):
            raise self.refuse("a colon behind what is quantified is missing")
        with self.state.binding() as bound, self.state.inside():
            bound += names
            body = self.formula(self.implication())
        body = Tree("and", (*given, *split(body))) if given else body
        for name in reversed(names):
            body = Tree(head, (body,), name)
        return body

    def junction(self) -> Item:
        """Relations with commas, `and` or `or` between them."""
        before = self.state.constants.count
        first = self.relation()
        words: set[str] = set()
        parts, commas = [first], False
        while word := self.words(",", "and", "or"):
            commas = commas or word == ","
            before_last = parts[-1] if word == "," else None
            words.add("or" if word == "or" else "and")
            parts.append(self.relation())
            self.refuse_range(before_last, parts[-1], condition=False)
        if not words:
            return first
        if len(words) > 1:
            raise self.refuse("`and` beside `or`: brackets say which is said first")
        if words == {"or"} and self.state.constants.count > before:
            raise self.refuse("an order beside `or`")
        found: list[Tree] = []
        for part in parts:
            self.formula(part)
            chained = part.kind == "chain" and words == {"and"}
            found += split(part.value) if chained else (part.value,)
        return Item(Tree(words.pop(), tuple(found)), "list" if commas else "")

    def relation(self) -> Item:
        """Sides with relations between them, an interval, a negation; or a number alone."""
        if self.here.text == r"\neg":
            self.at += 1
            opening = self.take(*BRACKETS)
            with self.within(opening), self.state.inside():
                body = self.formula(self.implication())
            if self.take(OPENING[opening.text]).scripted:
                raise self.refuse("a script at the brackets of a negation")
            return Item(Tree("not", (body,)))
        far = self.words("for large", "for small", "large", "small")
        first = self.sum()
        if far or (far := self.words("large", "small")):
            return Item(self.far(first, far))
        if self.sign(r"\in"):
            return Item(self.interval(self.number(first)))
        sides, found, ways = [first], list[Tree](), list[str]()
        while sign := self.sign(*RELATIONS):
            ways.append(sign)
            sides.append(self.sum())
            left, right = (self.number(side) for side in sides[-2:])
            found += self.compared(RELATIONS[sign], left, right)
        if not found:
            return first
        upward, downward = {r"\le", "<"} & {*ways}, {r"\ge", ">"} & {*ways}
        if (upward and downward) or ways.count(r"\ne") > 1:
            raise self.refuse("a chain of relations that goes both ways")
        return Item(all_of(tuple(found)), "chain", sides=tuple(sides), ways=tuple(ways))

    def compared(self, relation: str, left: Tree, right: Tree) -> tuple[Tree, ...]:
        """What one relation says."""
        if has_order(left) or has_order(right):
            if self.state.within:
                raise self.refuse("an order within a quantifier, a negation, `or` or `\\iff`")
            return compared(relation, left, right, self.state.constants)
        domains = self.state.domains
        if relation == "==" and is_vector(left, domains) and is_vector(right, domains):
            apart = Tree("norm", (Tree("sub", (left, right)),))
            left, right = Tree("pow", (apart, number(2))), number(0)
        return (compare(relation, left, right),)

    def interval(self, what: Tree) -> Tree:
        """Between which ends something lies."""
        opening = self.take("(", "[")
        with self.within(opening, "interval"):
            low = self.number(self.sum())
            self.take(",")
            high = self.number(self.sum())
        closing = self.take(")", "]")
        if closing.scripted or any(map(has_order, (what, low, high))):
            raise self.refuse("a script or an order at an interval")
        out: tuple[Tree, ...] = ()
        if low != Tree("inf", name="-"):
            out += (compare("<" if opening.text == "(" else "<=", low, what),)
        if high != Tree("inf", name="+"):
            out += (compare("<" if closing.text == ")" else "<=", what, high),)
        if not out:
            raise self.refuse("an interval without ends")
        return all_of(out)

    def far(self, item: Item, which: str) -> Tree:
        """`n large enough`: from some value on."""
        if not is_lone(item) or self.state.within:
            raise self.refuse("only a letter, in a condition, is large or small enough")
        of = item.value
        if self.state.domains[of.name].kind == "vector":
            raise self.refuse("a vector is neither large nor small")
        end = self.state.constants.threshold(of.name)
        return compare("<=", of, end) if which.endswith("small") else compare("<=", end, of)


def sound(tree: Tree) -> Tree:
    """A tree whose infinities stand at the ends of integrals only."""
    for k, part in enumerate(tree.parts):
        if part.head == "inf" and not (tree.head == "integral" and k > 0):
            raise RefusedError("an infinity that is no end of an integral")
        sound(part)
    return tree
