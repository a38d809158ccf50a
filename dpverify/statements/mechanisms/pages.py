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
from dpverify.statements.theorems.pages import AtLineError, TheoremSection, read_sections

ROLES = ("query", "draw", "output", "claim")
"""First words of the sentence before a display."""
NEIGHBORS = ("replace one",)
"""What neighbors may differ in."""
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
    """Where a record is a row: what its second index runs over, a letter of a finite type."""

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
    """What a query is, the law of a draw, the output, the guarantee that is claimed."""


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


class _MechanismSection(TheoremSection):
    """Reads a section: the table of letters as theorems have it, and the lines of a mechanism."""

    def __init__(self, id_: str, heading: PageBlock, inside: Sequence[PageBlock]) -> None:
        super().__init__(id_, heading, inside)
        self.records: RecordLetter | None = None
        self.neighbors = ""
        self.drawn = set[str]()
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
        found = tuple(self.at(line, self.line, line, latex, role) for line, latex, role in self.lines())
        roles = [one.role for one in found]
        if roles.count("claim") != 1 or roles.count("output") != 1 or roles[-2:] != ["output", "claim"]:
            raise InvalidArgumentError("mechanism", self.id, "one Output and one Claim, at its end")
        if not self.drawn & free(found[-2].term):
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
        over = None
        if match["rows"]:
            name, kind = split(signs_of(formulas[1]), r"\in")
            over = bound_letter(name, self.alphabet.type_of(kind))
        records = RecordLetter(name_of(base), base, last, domain.lower, domain.upper, over)
        letter = TheoremLetter(records.name, written(base), records.arguments, "real")
        self.alphabet = self.alphabet.having(letter)
        read = records.arguments, put(last, {})
        says = self.second.records(formulas[0], "".join(formulas[1:]), records.name, read)
        self.compare(block.line, formulas[0], says)
        return records

    def lines(self) -> Iterator[tuple[int, str, str]]:
        """Displays, each with its line and the word before it."""
        words = ""
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
                    yield piece.line, piece.latex, role
                    words = ""
                else:
                    words += piece.text if isinstance(piece, Text) else "$"

    def line(self, line: int, latex: str, role: str) -> MechanismStep:
        """A line of the mechanism."""
        assert self.records is not None
        reader, signs = TheoremReader(self.alphabet), indexed(signs_of(latex), self.records.signs)
        if role == "claim":
            said = guarantee_of(reader, signs)
            self.compare(line, latex, self.second.line(latex, "", "guaranteed", put(said, {})))
            return MechanismStep(line, latex, role, term=said)
        if role == "output":
            term = outcome(reader, signs)
            self.compare(line, latex, self.second.line(latex, "", "released", put(term, {})))
            return MechanismStep(line, latex, role, kind=reader.scope.type_of(term), term=term)
        left, *right = split(signs, "=" if role == "query" else r"\sim")
        if len(right) != 1:
            allowed = "`s=` and what is asked" if role == "query" else r"`y\sim` and a law"
            raise InvalidArgumentError(role, Latex(latex), allowed)
        base = left[: left.index("(")] if "(" in left else left
        bound_letter(base, "real")  # refuses what is no letter
        if any(base == one.signs for one in self.alphabet.letters.values()):
            raise InvalidArgumentError(role, Latex(latex), "a letter that has no value yet")
        inside = split(left[len(base) + 1 : -1], ",") if len(left) > len(base) else []
        over = [self.argument(one) for one in inside]
        within = reader.having(*over)
        if role == "draw":
            if over:
                raise InvalidArgumentError(role, Latex(latex), "a letter without arguments")
            law = within.law(right[0])
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
        of = [written(signs) for kind in (*letter.arguments, letter.kind)
              for signs, (name, _) in self.alphabet.types.items() if name == kind]  # fmt: skip
        words = "function of" if letter.arguments else "point of" if of else str(letter.kind)
        self.compare(line, letter.latex, self.second.letter(letter, words, of))

    def argument(self, signs: Tokens) -> TheoremLetter:
        """The argument of a query, of the type over which the second index of records runs."""
        assert self.records is not None
        if self.records.over is None:
            raise InvalidArgumentError("query", written(signs), "a letter without arguments")
        return replace(bound_letter(signs, self.records.over.kind))


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
