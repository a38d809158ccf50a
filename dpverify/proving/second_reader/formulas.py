"""Formulas: relations, words between them, quantifiers in front and conditions behind."""

from __future__ import annotations

from dpverify.proving.second_reader.expressions import Expressions
from dpverify.proving.second_reader.orders import compared
from dpverify.proving.second_reader.rows import RELATIONS, SPELLED, Item, is_point, texts
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
from dpverify.proving.second_reader.typography import refuse
from dpverify.proving.second_reader.vocabulary import CLOSING, OPENING

_FORS = ("for", "for all", "for every", "for any", "if", "when", "whenever")
_WORDS = {
    "and": "and", "or": "or", "implies": "implies", "if and only if": "iff", "iff": "iff", "such that": ":",
    **dict.fromkeys((*_FORS, "for each", "provided", "provided that"), "for"),
    **dict.fromkeys(("there is", "there are", "there exists", "there exist"), "exists"),
    **dict.fromkeys(("large enough", "sufficiently large"), "large"),
    **dict.fromkeys(("small enough", "sufficiently small"), "small"),
}  # fmt: skip
_WORDS |= {
    f"{before} {far}": f"for {_WORDS[far]}"
    for before in _FORS
    for far in _WORDS
    if _WORDS[far] in ("large", "small")
}  # "for all sufficiently large"
_SIGNS = {
    ",": ",", ";": ",", ":": ":", r"\land": "and", r"\lor": "or", r"\implies": "implies", r"\iff": "iff",
    r"\exists": "exists", r"\forall": "forall",
}  # fmt: skip
_DIRECTIONS = ({r"\le", "<"}, {r"\ge", ">"})


class Formulas(Expressions):
    """A row of marks that says something."""

    def word_at(self, at: int) -> str:
        """What a mark says between formulas; nothing for any other."""
        if at >= len(self.row) or self.row[at].scripted:
            return ""
        text = self.row[at].text
        if not text.startswith(r"\text{") or text in SPELLED:
            return _SIGNS.get(text, "")
        said = text[6:-1].strip(" ,.;").lower()
        refuse(said not in _WORDS, f"the words `{said}` have no meaning between formulas")
        return _WORDS[said]

    def words(self, *wanted: str) -> str:
        """The next word if it is one of these, which is then passed; a comma before a word says nothing."""
        here, following = self.word_at(self.at), self.word_at(self.at + 1)
        skipped = here == "," and following in ("for", "and", "or", "implies", "iff", "forall")
        here = following if skipped else here
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
            elif within and (mark.text in CLOSING or (within[-1] == r"\left." and is_point(mark))):
                within.pop()
            elif not within and self.word_at(at) in wanted:
                out.append(at)
            at += 1
        return out

    def display(self) -> tuple[Tree, tuple[Tree, ...]]:
        """A claim and its conditions, which stand before or behind it."""
        fors = self.at_level("for", "for large", "for small")
        self.refuse(len(fors) > 1, "conditions in two places")
        if not fors:
            return self.said(), ()
        (at,) = fors
        if at == 0:
            colons, there = self.at_level(":"), self.at_level("exists")
            stop = min((*colons, *there), default=len(self.row))
            comma = stop - (self.word_at(stop - 1) == "," and stop in there)
            given = self.part(0, comma).conditions()
            return self.part(stop + (stop in colons), len(self.row)).said(), given
        self.refuse(self.at_level("exists", "forall"), "a condition that could stand within quantifiers", at)
        given = self.part(at, len(self.row)).conditions()
        comma = self.word_at(at - 1) == ","
        several = self.part(0, at).at_level("iff", *((",", "and") if given else ()))
        self.refuse(several and not comma, "a condition that could be about the last formula alone", at)
        return self.part(0, at - comma).said(), given

    def part(self, start: int, stop: int) -> Formulas:
        """A stretch of the row."""
        self.refuse(start >= stop, "a formula is missing", start)
        return self.line(self.row[start:stop])

    def said(self) -> Tree:
        """All of the row, as a formula."""
        found = self.formula(self.implication())
        self.refuse(self.at < len(self.row), "a formula ends here, and something follows")
        return found

    def formula(self, item: Item) -> Tree:
        """A formula, not a number."""
        self.refuse(item.value.head not in FORMULAS, "a number alone says nothing: a relation is missing")
        return item.value

    def conditions(self) -> tuple[Tree, ...]:
        """What stands behind "for all": relations that all hold, and letters, which stand for every value anyway."""
        self.at = 0 if self.word_at(0).startswith("for ") else 1
        before = self.state.constants.count
        given = self.listed()
        self.refuse(self.at < len(self.row), "between conditions that all hold stands a comma or `and`")
        self.state.constants.are_premises(before)
        return given

    def listed(self, names: list[str] | None = None) -> tuple[Tree, ...]:
        """What relations say, also of letters alone before them; `names`: of the letters that each begins with."""
        given: tuple[Tree, ...] = ()
        waiting: list[str] = []
        last: Item | None = None
        word = ","
        while word:
            start = self.at
            if names is not None:
                names.append(self.place())
                self.at = start
            alone = self.lone()
            if alone:
                waiting.append(alone)
            else:
                item = self.relation()
                if last is not None and word == "," and names is None:
                    self.refuse_range(last, item, condition=True)
                given += self.shared(waiting, item, start)
                waiting, last = [], item
            word = self.words(",", "and")
            self.refuse(word == "and" and alone, "`and` behind a letter alone: what is said of the letter?")
        return given

    def lone(self) -> str:
        """The name of a letter that is all of a condition; nothing, and nothing is passed, where there is more."""
        found = self.found(self.at)
        if found is None or not found.letter:
            return ""
        if found.stop < len(self.row) and self.word_at(found.stop) not in (",", "and", ":"):
            return ""
        self.at = found.stop
        return found.letter

    def refuse_range(self, one: Item, other: Item, *, condition: bool) -> None:
        """`0<a,b<1` and `1\\le i,j\\le n`: two relations, or both ends of each letter."""
        if len(one.sides) < 2 or len(other.sides) < 2:
            return
        last, first = one.sides[-1], other.sides[0]
        same = any({one.ways[-1], other.ways[0]} <= signs for signs in _DIRECTIONS)
        if not (same and last.lone and first.lone) or last.value == first.value:
            return
        low, high = one.sides[-2].value, other.sides[1].value
        if {last.value.name, first.value.name} & (free(low) | free(high)):
            return
        alike = texts(last.word) == texts(first.word)
        whole = all(self.state.domains[side.value.name].kind == "integer" for side in (last, first))
        bare = not any(part.name for part in inside(low) if part.head != "inf")
        both = bare or low == Tree("neg", (high,)) or alike or (whole and condition)
        self.refuse(both, "a comma between two letters, each with one end: both could be meant for each")

    def shared(self, waiting: list[str], item: Item, start: int) -> tuple[Tree, ...]:
        """A condition, said of the letters before it, too: `x, y > 0`."""
        found = split(self.formula(item))
        first = self.found(start)
        if not waiting or not first or not first.letter or first.stop >= len(self.row):
            return found
        sign, domains = self.row[first.stop].text, self.state.domains
        self.refuse(sign == r"\in", "an interval behind letters: it could be about one or about all", start)
        if sign not in RELATIONS:
            return found
        leading = letter(first.word.name)
        other = found[0].parts[0 if sign in (r"\ge", ">") else 1]
        unlike = any(domains[name].kind != domains[leading.name].kind for name in waiting)
        alone = unlike or found[0] != compare(RELATIONS[sign], leading, other)
        self.refuse(alone, "a condition that could be about the last letter alone", start)
        return (*(compare(RELATIONS[sign], letter(name), other) for name in waiting), *found)

    def implication(self) -> Item:
        """Quantifiers, or parts with `\\implies` or `\\iff` between them."""
        with self.state.deeper():
            if self.words("forall"):
                names = [self.place()]
                while self.words(",", "and"):
                    names.append(self.place())
                return self.quantified("forall", names, ())
            if self.words("exists"):
                names = []
                with self.state.inside():
                    given = self.listed(names)
                return self.quantified("exists", names, given)
            return self.joined()

    def quantified(self, head: str, names: list[str], given: tuple[Tree, ...]) -> Item:
        """What holds for all values of letters, or for some for which conditions hold."""
        self.refuse(not self.words(":"), "a colon behind what is quantified is missing")
        with self.state.binding() as bound, self.state.inside():
            bound += names
            body = self.formula(self.implication())
        body = Tree("and", (*given, *split(body))) if given else body
        for name in reversed(names):
            body = Tree(head, (body,), name)
        return Item(body)

    def joined(self) -> Item:
        """What has an implication, or none, at its top."""
        constants = self.state.constants
        before = constants.count
        left = self.junction()
        word = self.words("implies", "iff")
        if not word:
            return left
        first = self.formula(left)
        if word == "implies":
            constants.are_premises(before)
        right = self.implication() if word == "implies" else self.junction()
        second = self.formula(right)
        lists = "list" in (left.kind, right.kind)
        chain = right.kind == "iff" or (second.head == "implies" and right.kind != "bracket")
        unclear = lists or (word == "implies" and chain)
        self.refuse(unclear, "commas or implications beside an implication: brackets say what it is about")
        forth = Tree("implies", (first, second))
        if word == "implies":
            return Item(forth)
        self.refuse(constants.count > before, "an order beside `\\iff`")
        return Item(Tree("and", (forth, Tree("implies", (second, first)))), "iff")

    def junction(self) -> Item:
        """Relations with commas, `and` or `or` between them."""
        before = self.state.constants.count
        parts, said = [self.relation()], list[str]()
        while word := self.words(",", "and", "or"):
            said.append(word)
            parts.append(self.relation())
            if word == ",":
                self.refuse_range(*parts[-2:], condition=False)
        if not said:
            return parts[0]
        either = "or" in said
        self.refuse(either and {*said} != {"or"}, "`and` beside `or`: brackets say which is said first")
        self.refuse(either and self.state.constants.count > before, "an order beside `or`")
        found: list[Tree] = []
        for part in parts:
            value = self.formula(part)
            found += split(value) if part.kind == "chain" and not either else (value,)
        return Item(Tree("or" if either else "and", tuple(found)), "list" if "," in said else "")

    def relation(self) -> Item:
        """Sides with relations between them, an interval, a negation; or a number alone."""
        if self.sign(r"\neg"):
            with self.state.inside():
                body, closing = self.enclosed(lambda: self.formula(self.implication()))
            self.bears(closing, "")
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
        both = all(signs & {*ways} for signs in _DIRECTIONS)
        self.refuse(both or ways.count(r"\ne") > 1, "a chain of relations that goes both ways")
        return Item(all_of(tuple(found)), "chain", sides=tuple(sides), ways=tuple(ways))

    def compared(self, relation: str, left: Tree, right: Tree) -> tuple[Tree, ...]:
        """What one relation says."""
        if has_order(left) or has_order(right):
            self.refuse(self.state.within, "an order within a quantifier, a negation, `or` or `\\iff`")
            return compared(relation, left, right, self.state.constants)
        vectors = [side for side in (left, right) if is_vector(side, self.state.domains)]
        zero = number(0) in (left, right)
        if relation in ("==", "!=") and len(vectors) == (1 if zero else 2):
            apart = vectors[0] if zero else Tree("sub", (left, right))
            left, right = Tree("pow", (Tree("norm", (apart,)), number(2))), number(0)
        return (compare(relation, left, right),)

    def interval(self, what: Tree) -> Tree:
        """Between which ends something lies."""
        opening = self.take("(", "[").text
        self.open.append("interval")
        low = self.quantity()
        self.take(",")
        high = self.quantity()
        self.open.pop()
        closing = self.take(")", "]").text
        self.refuse(any(map(has_order, (what, low, high))), "an order at an interval")
        out: tuple[Tree, ...] = ()
        if low != Tree("inf", name="-"):
            out += (compare("<" if opening == "(" else "<=", low, what),)
        if high != Tree("inf", name="+"):
            out += (compare("<" if closing == ")" else "<=", what, high),)
        self.refuse(not out, "an interval without ends")
        return all_of(out)

    def far(self, item: Item, which: str) -> Tree:
        """`n large enough`: from some value on."""
        letter_alone = item.lone and self.state.domains[item.value.name].kind != "vector"
        fits = letter_alone and not self.state.within
        self.refuse(not fits, "only a letter that is a number, in a condition, is large or small enough")
        end = self.state.constants.threshold(item.value.name)
        pair = (item.value, end) if which.endswith("small") else (end, item.value)
        return compare("<=", *pair)
