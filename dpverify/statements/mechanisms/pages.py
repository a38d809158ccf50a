"""Pages of mechanisms: records, queries, draws, an output and a claim, in the order of pseudo-code.

Records are letters with an index, as `x_i`; what is read here speaks of one data set, and the index is an argument:
`x_i` is the letter `x` at `i`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import Latex, end_of_group
from dpverify.formulas.units import DIMENSIONLESS
from dpverify.proving.checker.theorems.language import Node, free, parts_of, put
from dpverify.proving.theorems.letters import Abbreviation, TheoremLetter, Tokens
from dpverify.proving.theorems.notation import TheoremReader, bound_letter, guarantee_of
from dpverify.proving.theorems.signs import closing, name_of, signs_of, split, written
from dpverify.statements.pages.blocks import Math, PageBlock, ShownFormula, Text, plain
from dpverify.statements.pages.letters import read_domain
from dpverify.statements.theorems.pages import AtLineError, TheoremSection, read_sections, sections_of

CHOICES = ("select", "stop")
"""First words of what chooses among candidates."""
ROLES = ("query", "draw", *CHOICES, "output", "claim")
"""First words of the sentence before a display."""
NEIGHBORS = ("replace one",)
"""What neighbors may differ in."""
NOISES = ("laplace", "exponential", "normal")
"""What is added for each candidate."""
_COUNTED = signs_of(r"\{1,\dots,")
_LARGEST = [
    (*signs_of(r"\arg\max"), "_"),
]
DOTS = ((r"\dots",), (r"\ldots",), (r"\cdots",))


@dataclass(frozen=True)
class RecordLetter:
    """The letter of records: its name, how many there are, and between which numbers they are."""

    name: str
    signs: Tokens
    last: Node
    """The index of the last one; the first is 1."""
    low: Fraction | None
    high: Fraction | None
    over: TheoremLetter | None = None
    """Where a record is a row: its second index, a letter of a finite type, or a whole number."""
    columns: Node = ""
    """Of a whole number, the last one; the first is 1."""

    @property
    def arguments(self) -> tuple[Node, ...]:
        """The types of its indices."""
        return ("integer", *((self.over.kind,) if self.over else ()))


@dataclass(frozen=True)
class MechanismStep:
    """A line of a mechanism: a query, a draw, the output or the claim."""

    line: int
    latex: str
    role: str
    name: str = ""
    """The letter that a query or a draw gives a value."""
    kind: Node = ""
    """Of a draw, what is drawn; of the output, its type."""
    term: Node = ""
    """What a query is, the law of a draw, the output, the guarantee that is claimed.

    Of what chooses: the score, or a comparison.
    """
    index: str = ""
    """Of what is drawn for each candidate, and of what chooses: the letter of a candidate."""


@dataclass(frozen=True)
class MechanismOnPage:
    """A mechanism with its claim."""

    id: str
    title: str
    line: int
    neighbors: str
    records: RecordLetter
    letters: tuple[TheoremLetter, ...]
    """Those that are public."""
    types: tuple[tuple[str, str], ...]
    steps: tuple[MechanismStep, ...]
    given: tuple[Node, ...] = ()
    """What is assumed of public letters."""

    @property
    def draws(self) -> tuple[MechanismStep, ...]:
        """The draws on which the output depends, one after the other."""
        found, needed = list[MechanismStep](), set(free(self.output.term))
        for draw in reversed(self.of("draw")):
            if draw.name in needed:
                found.insert(0, draw)
                needed |= free(draw.term)
        return tuple(found)

    @property
    def output(self) -> MechanismStep:
        """Its output."""
        return self.of("output")[0]

    @property
    def law(self) -> Node:
        """The law of the output, on one data set."""
        return self.law_behind(0)

    def law_behind(self, k: int) -> Node:
        """The law of the output once the first draws have been made; of the last, the draw's own where that is said."""
        if k == len(self.draws):
            return ("certain", self.output.term)
        draw, rest = self.draws[k], self.law_behind(k + 1)
        if rest == ("certain", ("sym", draw.name)):
            return put(draw.term, {})
        return put(("then", (draw.name, draw.kind), draw.term, rest), {})

    @property
    def choice(self) -> MechanismStep | None:
        """The line that chooses among candidates."""
        return next((one for one in self.steps if one.role in CHOICES), None)

    def of(self, role: str) -> tuple[MechanismStep, ...]:
        """Its lines of one role."""
        return tuple(one for one in self.steps if one.role == role)


def is_page_of_mechanisms(text: str) -> bool:
    """Whether a page says what its records are."""
    return re.search(r"^[-*]\s+records:", text, re.MULTILINE) is not None


def read_mechanisms(path: Path) -> tuple[MechanismOnPage, ...]:
    """The mechanisms of a page, in its order.

    Raises:
        InvalidArgumentError: for a file that cannot be read.
        PageError: for all on the page that is not understood.
    """
    return read_sections(path, "mechanism", lambda *section: _MechanismSection(*section).mechanism())


def mechanisms_of(text: str, name: str) -> tuple[MechanismOnPage, ...]:
    """The mechanisms of a page's text; the name is that in errors, which are as of `read_mechanisms`."""
    return sections_of(text, name, "mechanism", lambda *section: _MechanismSection(*section).mechanism())


class _MechanismSection(TheoremSection):
    """Reads a section: the table of letters as theorems have it, and the lines of a mechanism."""

    def __init__(self, id_: str, heading: PageBlock, inside: Sequence[PageBlock]) -> None:
        super().__init__(id_, heading, inside)
        self.records: RecordLetter | None = None
        self.neighbors = ""
        self.drawn = set[str]()
        self.rows_of = list[Tokens]()
        """Letters with an index."""
        self.given = list[Node]()

    def mechanism(self) -> MechanismOnPage:
        """The mechanism; refused (InvalidArgumentError) where something is missing or not understood."""
        for block in self.blocks:
            if block.kind == "table":
                for letter, kind, *_ in self.rows(block):
                    self.at(letter.line, self.declare, letter, kind)
        public = tuple(self.letters)
        for block in self.blocks:
            if block.kind == "paragraph" and block.item:
                self.at(block.line, self.item, block)
        if self.records is None or not self.neighbors:
            raise InvalidArgumentError(
                "mechanism",
                self.id,
                "items `- records: $x_1,\\dots,x_n$ in [0, 1]` and `- neighbors: replace one`",
            )
        found = tuple(self.at(one[0], self.line, *one) for one in self.lines())
        roles = [one.role for one in found]
        if roles.count("claim") != 1 or roles.count("output") != 1 or roles[-2:] != ["output", "claim"]:
            raise InvalidArgumentError("mechanism", self.id, "one Output and one Claim, at its end")
        chosen = [one for one in found if one.role in CHOICES]
        if chosen or any(one.index for one in found):
            last = chosen[0] is found[-3] if len(chosen) == 1 else False
            if not last or found[-2].term != ("sym", chosen[0].name):
                allowed = "the letter that one Select or Stop before it chooses"
                raise AtLineError(
                    found[-2].line, InvalidArgumentError("output", Latex(found[-2].latex), allowed)
                )
        elif not self.drawn & free(found[-2].term):
            raise AtLineError(
                found[-2].line, InvalidArgumentError("output", Latex(found[-2].latex), "what was drawn")
            )
        title = re.sub(r"\s*\{#.*\}$", "", plain(self.heading.pieces))
        types = tuple(self.alphabet.types.values())
        return MechanismOnPage(
            self.id, title, self.heading.line, self.neighbors, self.records, public, types, found,
            tuple(self.given),
        )  # fmt: skip

    def compare(self, line: int, latex: str, says: str) -> None:
        """Refuse what two readers read differently."""
        if says:
            allowed = f"what is read in one way: {says}"
            raise AtLineError(line, InvalidArgumentError("formula", Latex(latex), allowed))

    def item(self, block: PageBlock) -> None:
        """An item of the list: records, neighbors."""
        text = plain(block.pieces)
        key, _, value = text.partition(":")
        if key.strip() == "neighbors":
            self.neighbors = value.strip().rstrip(".")
            if self.neighbors not in NEIGHBORS:
                raise InvalidArgumentError("neighbors", self.neighbors, ", ".join(NEIGHBORS))
        elif key.strip() == "records":
            self.records = self.read_records(block)
        elif key.strip() == "given":
            self.given += self.read_given(block)
        elif key.strip() == "unread":
            raise InvalidArgumentError(
                "item", text, "what the code does there, written by hand, in its place"
            )
        else:
            raise InvalidArgumentError("item", text, "`records:`, `neighbors:` or `given:`")

    def read_given(self, block: PageBlock) -> Iterator[Node]:
        """`given: $a<b$`, of public letters."""
        formulas = [piece.latex for piece in block.pieces if isinstance(piece, Math)]
        words = "".join(p.text for p in block.pieces if isinstance(p, Text)).partition(":")[2]
        if not formulas or words.strip(" ,."):
            raise InvalidArgumentError("given", plain(block.pieces), "comparisons of public letters, `$a<b$`")
        for one in formulas:
            formula = TheoremReader(self.alphabet).formula(signs_of(one))
            if parts_of(formula)[0] not in ("<=", "<", "=="):
                raise InvalidArgumentError("given", Latex(one), "comparisons of public letters, `$a<b$`")
            if self.records is not None and self.records.name in free(formula):
                raise InvalidArgumentError("given", Latex(one), "what does not depend on records")
            self.compare(block.line, one, self.second.formula(one, put(formula, {})))
            yield formula

    def read_records(self, block: PageBlock) -> RecordLetter:
        """`records: $x_1,\\dots,x_n$ in [0, 1]`, maybe `for $r\\in R$`."""
        formulas = [piece.latex for piece in block.pieces if isinstance(piece, Math)]
        words = (
            "".join(p.text if isinstance(p, Text) else "$" for p in block.pieces).partition(":")[2].strip()
        )
        match = re.fullmatch(
            r"\$ (?:in (?P<domain>[\[(].*?[\])])|(?P<any>of numbers))(?P<rows>,? for \$)?\.?", words
        )
        if match is None or len(formulas) != 1 + bool(match["rows"]):
            raise InvalidArgumentError(
                "records", words, "`$x_1,\\dots,x_n$ in [0, 1]` or `of numbers`, then maybe `for $r\\in R$`"
            )
        signs = signs_of(formulas[0])
        parts = split(signs, ",")
        base = parts[0][: len(parts[0]) - 4]
        first = parts[0][len(base) :]
        ends = first == ("_", "{", "1", "}") and parts[-1][: len(base) + 2] == (*base, "_", "{")
        if len(parts) != 3 or parts[1] not in DOTS or not ends:
            raise InvalidArgumentError("records", Latex(formulas[0]), "`x_1,\\dots,x_n`")
        last = TheoremReader(self.alphabet).number(parts[2][len(base) + 2 : -1])
        domain = read_domain(match["domain"] or "real").variable("x", DIMENSIONLESS, "", "x", "")
        if domain.lower_open or domain.upper_open:
            raise InvalidArgumentError("records", match["domain"], "closed intervals")
        over: TheoremLetter | None = None
        columns: Node = ""
        if match["rows"]:
            over, columns = self.candidates(signs_of(formulas[1]))
        self.rows_of.append(base)
        records = RecordLetter(name_of(base), base, last, domain.lower, domain.upper, over, columns)
        letter = TheoremLetter(records.name, written(base), records.arguments, "real")
        self.alphabet = self.alphabet.having(letter)
        read = records.arguments, put(last, {}), put(columns, {}) if columns else ""
        says = self.second.records(formulas[0], "".join(formulas[1:]), records.name, read)
        self.compare(block.line, formulas[0], says)
        return records

    def candidates(self, signs: Tokens) -> tuple[TheoremLetter, Node]:
        """`r\\in R`, or `j\\in\\{1,\\dots,k\\}` with its last number."""
        name, kind = [*split(signs, r"\in"), ()][:2]
        if name in self.alphabet.letters:
            raise InvalidArgumentError("candidates", Latex(written(signs)), "a letter without a meaning")
        if kind[: len(_COUNTED)] == _COUNTED and kind[-1] == r"\}":
            return bound_letter(name, "integer"), TheoremReader(self.alphabet).number(
                kind[len(_COUNTED) : -1]
            )
        return bound_letter(name, self.alphabet.type_of(kind)), ""

    def lines(self) -> Iterator[tuple[int, str, str, tuple[str, ...]]]:
        """Displays, each with its line, the word before it, and the formulas of its sentence."""
        words, said = "", list[str]()
        for block in self.blocks:
            if block.kind == "table" or (block.kind == "paragraph" and block.item):
                continue
            for piece in block.pieces:
                if isinstance(piece, ShownFormula):
                    role = words.split()[0].lower().strip(":,") if words.split() else ""
                    if role not in ROLES:
                        allowed = f"a sentence before it that begins with {', '.join(ROLES).title()}"
                        raise AtLineError(
                            piece.line, InvalidArgumentError("display", Latex(piece.latex), allowed)
                        )
                    yield piece.line, piece.latex, role, tuple(said)
                    words, said = "", []
                else:
                    said += [piece.latex] if isinstance(piece, Math) else []
                    words += piece.text if isinstance(piece, Text) else "$"

    def line(self, line: int, latex: str, role: str, formulas: tuple[str, ...]) -> MechanismStep:
        """A line of the mechanism."""
        assert self.records is not None
        reader, signs = TheoremReader(self.alphabet), signs_of(latex)
        for base in self.rows_of:
            signs = indexed(signs, base)
        if role in CHOICES:
            return self.choice(line, latex, role, formulas, reader, signs)
        if role == "claim":
            said = guarantee_of(reader, signs)
            self.compare(line, latex, self.second.line(latex, "", "guaranteed", said))
            return MechanismStep(line, latex, role, term=said)
        if role == "output":
            term = outcome(reader, signs)
            self.compare(line, latex, self.second.line(latex, "", "released", put(term, {})))
            return MechanismStep(line, latex, role, kind=reader.scope.type_of(term), term=term)
        left, *right = split(signs, "=" if role == "query" else r"\sim")
        if len(right) != 1:
            allowed = "`s=` and what is asked" if role == "query" else r"`y\sim` and a law"
            raise InvalidArgumentError(role, Latex(latex), allowed)
        index = self.records.over if role == "draw" else None
        if index and left[-3 - len(index.signs) :] == ("_", "{", *index.signs, "}"):
            return self.drawn_for_each(line, latex, left[: -3 - len(index.signs)], right[0], index, formulas)
        base = left[: left.index("(")] if "(" in left else left
        bound_letter(base, "real")  # refuses what is no letter
        if any(base == one.signs for one in self.alphabet.letters.values()):
            raise InvalidArgumentError(role, Latex(latex), "a letter that has no value yet")
        inside = split(left[len(base) + 1 : -1], ",") if len(left) > len(base) else []
        over = [self.argument(one) for one in inside]
        if over:
            self.for_each(latex, formulas)
        within = reader.having(*over)
        if role == "draw":
            if over:
                raise InvalidArgumentError(role, Latex(latex), "a letter without arguments")
            law = law_of_noise(within, latex, right[0])
            kind = within.scope.type_of(law)[1]
            letter = TheoremLetter(name_of(base), written(base), (), kind)
            self.compare(line, latex, self.second.line(latex, r"\sim", "law", put(law, {})))
            self.declare_again(line, letter)
            self.alphabet = self.alphabet.having(letter)
            self.drawn.add(letter.name)
            return MechanismStep(line, latex, role, letter.name, kind, law)
        body = within.number(right[0])
        letter = TheoremLetter(name_of(base), written(base), tuple(one.kind for one in over), "real")
        made = Abbreviation(letter, tuple(one.name for one in over), body)
        self.declare_again(line, letter)
        self.compare(line, latex, self.second.definition(latex, made))
        self.alphabet = self.alphabet.defining(made)
        return MechanismStep(line, latex, role, letter.name, term=body)

    def declare_again(self, line: int, letter: TheoremLetter) -> None:
        """Tell the second reader of a letter that a line gives a value."""
        types = [(name, written(signs)) for signs, (name, _) in self.alphabet.types.items()]
        types += [("integer", r"\mathbb{Z}")] * bool(letter.arguments)
        of = [latex for kind in (*letter.arguments, letter.kind) for name, latex in types if name == kind]
        words = "function of" if letter.arguments else "point of" if of else str(letter.kind)
        self.compare(line, letter.latex, self.second.letter(letter, words, of))

    def drawn_for_each(
        self, line: int, latex: str, base: Tokens, law: Tokens, index: TheoremLetter, said: tuple[str, ...]
    ) -> MechanismStep:
        """`y_r\\sim\\mathrm{Lap}(q(r),b)`: a number for each candidate."""
        self.for_each(latex, said)
        if any(base == one.signs for one in self.alphabet.letters.values()):
            raise InvalidArgumentError("draw", Latex(latex), "a letter that has no value yet")
        found = law_of_noise(TheoremReader(self.alphabet).having(index), latex, law)
        if found[0] not in NOISES or index.name in free(found[-1]):
            raise InvalidArgumentError(
                "draw", Latex(latex), f"{', '.join(NOISES)} noise of one scale for all"
            )
        self.not_drawn(latex, found)
        letter = TheoremLetter(name_of(base), written(base), (index.kind,), "real")
        self.compare(line, latex, self.second.line(latex, r"\sim", "law", put(found, {}), index))
        self.second.with_index(letter)
        self.alphabet, self.rows_of = self.alphabet.having(letter), [*self.rows_of, base]
        self.drawn.add(letter.name)
        return MechanismStep(line, latex, "draw", letter.name, "real", found, index.name)

    def for_each(self, latex: str, said: tuple[str, ...]) -> None:
        """Refuse a sentence that speaks of other candidates than records have."""
        assert self.records is not None
        known = self.records.over, self.records.columns
        for formula in said:
            if self.records.over is None or self.candidates(signs_of(formula)) != known:
                raise InvalidArgumentError("sentence", Latex(formula), "the candidates that records have")

    def not_drawn(self, latex: str, term: Node) -> None:
        """Refuse a term with what is drawn in it."""
        if free(term) & self.drawn:
            raise InvalidArgumentError("line", Latex(latex), "numbers in which nothing is drawn")

    def noisy(self, latex: str, term: Node, index: str) -> Node:
        """A term as a sum of what is not drawn, and of one letter that is, or 0."""
        own: Node = ("num", "0")
        rest: Node = own
        for one in summands(term):
            of_one = one[0] == "sym" or one == ("of", one[1], ("sym", index))
            if own == ("num", "0") and of_one and one[1] in self.drawn:
                own = one
            else:
                self.not_drawn(latex, one)
                rest = one if rest == ("num", "0") else ("add", rest, one)
        return ("add", rest, own)

    def choice(
        self, line: int, latex: str, role: str, said: tuple[str, ...], reader: TheoremReader, signs: Tokens
    ) -> MechanismStep:
        """What is chosen among candidates."""
        assert self.records is not None
        index = self.records.over
        if index is None or (role == "select") == bool(self.records.columns):
            kind = r"$r\in R$" if role == "select" else r"$j\in\{1,\dots,k\}$"
            raise InvalidArgumentError(role, Latex(latex), f"records with a number for each {kind}")
        within, name = reader.having(index), index.signs
        if role == "select":
            left, right = [*split(signs, "="), ()][:2]
            start = next((len(word) for word in _LARGEST if right[: len(word)] == word), 0)
            stop = end_of_group(right, start) if start else 0
            if (
                not start
                or left in self.alphabet.letters
                or self.candidates(right[start + 1 : stop - 1])[0] != index
            ):
                raise InvalidArgumentError(role, Latex(latex), r"`j=\arg\max_{r\in R}y_r`")
            self.for_each(latex, said)
            score = within.number(right[stop:])
            self.compare(line, latex, self.second.line(latex, "=", "largest", put(score, {}), index))
            name, term = left, self.noisy(latex, score, index.name)
        else:
            last = [signs_of(one) for one in said]
            wanted = ("add", self.records.columns, ("num", "1"))
            if len(last) != 2 or last[0] != index.signs or reader.number(last[1]) != wanted:
                raise InvalidArgumentError(
                    "sentence",
                    ", ".join(said),
                    f"Stop (at the first ${index.latex}$, else at the number behind the last)",
                )
            head, *sides = parts_of(within.formula(signs))
            if head != "<=":
                raise InvalidArgumentError(role, Latex(latex), r"a comparison with `\ge` or `\le`")
            read = put((head, *sides), {})
            self.compare(line, latex, self.second.line(latex, "", "at least", read, index))
            term = (head, *(self.noisy(latex, one, index.name) for one in sides))
        if self.drawn - free(term):
            raise InvalidArgumentError(role, Latex(latex), "a line in which all that is drawn stands")
        letter = TheoremLetter(name_of(name), written(name), (), index.kind)
        self.declare_again(line, letter)
        self.alphabet = self.alphabet.having(letter)
        return MechanismStep(line, latex, role, letter.name, index.kind, term, index.name)

    def argument(self, signs: Tokens) -> TheoremLetter:
        """The argument of a query, of the type over which the second index of records runs."""
        assert self.records is not None
        if self.records.over is None:
            raise InvalidArgumentError("query", written(signs), "a letter without arguments")
        return replace(bound_letter(signs, self.records.over.kind))


def law_of_noise(reader: TheoremReader, latex: str, signs: Tokens) -> Node:
    """A law, or a sentence about one that there is not."""
    if signs[:1] == (r"\operatorname{Gumbel}",):
        allowed = r"the exponential mechanism, `j\sim\propto e^{q(r)/b}\text{ at }r\in R`, the same thing"
        raise InvalidArgumentError("draw", Latex(latex), allowed)
    return reader.law(signs)


def summands(term: Node) -> Iterator[tuple[Node, ...]]:
    """What is added up in a term."""
    parts = parts_of(term)
    if parts[0] == "add":
        for part in parts[1:]:
            yield from summands(part)
    else:
        yield parts


def outcome(reader: TheoremReader, signs: Tokens) -> Node:
    """What is put out: a number, an outcome, or several, `(y,z,\\dots)`, as pairs within pairs."""
    if signs[:1] == ("(",) and closing(signs, 0) == len(signs) - 1:
        first, *others = split(signs[1:-1], ",")
        if others:
            *made, last = (outcome(reader, one) for one in (first, *others))
            for one in reversed(made):
                last = ("pair", one, last)
            return last
    return reader.point(signs)


def indexed(signs: Tokens, base: Tokens) -> Tokens:
    """Signs in which the indices of records are arguments."""
    found, k = list[str](), 0
    while k < len(signs):
        if signs[k : k + len(base) + 1] == (*base, "_"):
            stop = end_of_group(signs, k + len(base) + 1)
            inside = signs[k + len(base) + 2 : stop - 1]
            found += [*base, "(", *indexed(inside, base), ")"]
            k = stop
        else:
            found.append(signs[k])
            k += 1
    return tuple(found)


def private(mechanism: MechanismOnPage, term: Node) -> bool:
    """Whether a term depends on records."""
    return mechanism.records.name in free(term)


def on(mechanism: MechanismOnPage, term: Node, data: str) -> Node:
    """A term, on a data set with some name."""
    names = tuple(f"!{k}" for k in range(len(mechanism.records.arguments)))
    record: Node = ("of", mechanism.records.name, ("sym", data), *(("sym", n) for n in names))
    return put(term, {mechanism.records.name: (names, record)})
