"""Pages of mechanisms, read: records, queries, draws, an output and a claim, in the order of pseudo-code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import Latex, end_of_group
from dpverify.formulas.units import DIMENSIONLESS
from dpverify.proving.checker.theorems.language import Node, free, parts_of, put
from dpverify.proving.theorems.letters import Abbreviation, TheoremLetter, Tokens
from dpverify.proving.theorems.notation import TheoremReader, bound_letter, guarantee_of
from dpverify.proving.theorems.signs import name_of, signs_of, split, written
from dpverify.statements.mechanisms.notation import check_sentence, indexed, law_of_noise, outcome
from dpverify.statements.mechanisms.pages import (
    ADDED,
    CHOICES,
    REPLACE,
    MechanismOnPage,
    MechanismStep,
    RecordLetter,
    SampleOnPage,
    flat,
    number_of_records,
    scaled_lack,
)
from dpverify.statements.mechanisms.rounds import DOTS, LoopReader
from dpverify.statements.pages.blocks import Math, PageBlock, ShownFormula, Text, plain
from dpverify.statements.pages.letters import read_domain
from dpverify.statements.theorems.pages import (
    AtLineError,
    TheoremSection,
    read_sections,
    sections_of,
    with_dollars,
)

ROLES = ("start", "query", "draw", "set", "if", *CHOICES, "output", "claim")
"""First words of the sentence before a display."""
COINS = "Select (in random order, the first $j$ that shows heads):"
"""The sentence before the chance with which a candidate's coin shows heads."""
ANEW = "Draw (anew after each answer):"
"""The sentence before the noise of a threshold that is drawn again after each answer."""
REFUSAL = (r"\bot",)
"""What is put out where a condition does not hold."""
NEIGHBORS = (REPLACE, ADDED)
"""What neighbors may differ in."""
NOISES = ("laplace", "exponential", "normal")
"""What is added for each candidate."""
_COUNTED, _LARGEST = signs_of(r"\{1,\dots,"), (*signs_of(r"\arg\max"), "_")
RANDOM = "Output (in random order):"
"""The sentence before a list that is shuffled."""
SAMPLES = ("Subsample", "Shuffle")
"""First words of a line behind which a mechanism runs on other data; it has no display."""


def read_mechanisms(path: Path) -> tuple[MechanismOnPage, ...]:
    """The mechanisms of a page, in its order.

    Raises:
        InvalidArgumentError: for a file that cannot be read.
        PageError: for all on the page that is not understood.
    """
    return read_sections(path, "mechanism", lambda *section: _MechanismSection(*section).mechanism())


def read_mechanism(path: Path, id_: str) -> MechanismOnPage:
    """One mechanism of a page; errors as of `read_mechanisms`."""
    (found,) = read_sections(path, "mechanism", lambda *section: _MechanismSection(*section).mechanism(), id_)
    return found


def mechanisms_of(text: str, name: str) -> tuple[MechanismOnPage, ...]:
    """The mechanisms of a page's text; the name is that in errors, which are as of `read_mechanisms`."""
    return sections_of(text, name, "mechanism", lambda *section: _MechanismSection(*section).mechanism())


class _SaidLine(NamedTuple):
    """A display, or what stands for one, with its role and the formulas of the sentence before it."""

    number: int
    latex: str
    role: str
    said: tuple[str, ...]

    def wrong(self, allowed: str) -> InvalidArgumentError:
        """That something else is allowed in its place."""
        return InvalidArgumentError(self.role, Latex(self.latex), allowed)


class _MechanismSection(TheoremSection):
    """Reads a section: the table of letters as theorems have it, and the lines of a mechanism."""

    def __init__(self, id_: str, heading: PageBlock, inside: Sequence[PageBlock]) -> None:
        super().__init__(id_, heading, inside)
        self.records: RecordLetter | None = None
        self.neighbors = ""
        self.drawn = set[str]()
        self.tested = False
        self.rows_of = list[Tokens]()
        """Letters with an index."""
        self.given = list[Node]()
        self.size: TheoremLetter | None = None
        self.loop = LoopReader()
        self.anew = set[int]()
        self.each: tuple[TheoremLetter | None, Node] = None, ""
        """Where records have no second index: over what lines for each of several go, and where that ends."""
        self.end: Tokens = ()

    def mechanism(self) -> MechanismOnPage:
        """The mechanism; refused (InvalidArgumentError) where something is missing or not understood."""
        self.tables()
        public = tuple(self.letters)
        items = [block for block in self.blocks if block.kind == "paragraph" and block.item]
        for block in items:
            self.at(block.line, self.item, block)
        if self.records is None or not self.neighbors:
            allowed = "items `- records: $x_1,\\dots,x_n$ in [0, 1]` and `- neighbors: replace one`"
            raise InvalidArgumentError("mechanism", self.id, allowed)
        self.size = (
            number_of_records(self.records, self.letters, self.given) if self.neighbors == ADDED else None
        )
        public = tuple(one for one in self.letters if one is not self.size)
        lines, sample = [*self.lines()], None
        if lines and lines[0].role == "subsample":
            sample = self.at(lines[0].number, self.read_sample, lines.pop(0))
        read = [self.at(one.number, self.line, one) for one in lines]
        found = tuple(one for one in read if one.role != "repeat")
        roles = [one.role for one in found]
        if roles.count("claim") != 1 or roles.count("output") != 1 or roles[-2:] != ["output", "claim"]:
            raise InvalidArgumentError("mechanism", self.id, "one Output and one Claim, at its end")
        loop = self.loop.loop()
        if loop is not None and any(one.index for one in found):
            found = self.in_rounds(found)
        if loop is not None and not self.drawn:
            raise AtLineError.of(loop.line, "repeat", self.id, "a Draw in each round")
        if loop is not None and sample:
            allowed = "draws, and no loop"
            raise AtLineError.of(sample.line, "line", "Subsample", allowed)
        if "if" in roles and (sample or loop is not None or self.size is not None):
            allowed = f"a condition with `- neighbors: {REPLACE}`, without samples and loops"
            raise AtLineError.of(found[roles.index("if")].line, "if", self.id, allowed)
        chosen = [one for one in found if one.role in CHOICES and loop is None]
        if chosen and sample:
            raise AtLineError.of(sample.line, "line", "Subsample", "draws, and nothing that is chosen")
        if self.anew and not (chosen and chosen[0].count):
            allowed = "such a draw before Stop (after several)"
            raise AtLineError.of(min(self.anew), "draw", ANEW, allowed)
        if chosen or any(one.index for one in found):
            self.of_choice(found, chosen)
        elif loop is None and "if" not in roles and not self.drawn & free(found[-2].term):
            raise AtLineError.of(found[-2].line, "output", Latex(found[-2].latex), "what was drawn")
        title = re.sub(r"\s*\{#.*\}$", "", plain(self.heading.pieces))
        types = tuple(self.alphabet.types.values())
        said = "; ".join(with_dollars(block.pieces) for block in items)
        self.declared.append((f"{written(self.records.signs)}_i", said, ""))
        return MechanismOnPage(
            self.id, title, self.heading.line, self.neighbors, self.records, public, types, found,
            tuple(self.given), tuple(self.declared), self.size, sample, loop,
        )  # fmt: skip

    def of_choice(self, found: Sequence[MechanismStep], chosen: Sequence[MechanismStep]) -> None:
        """Refuse outputs but what is chosen, with numbers that are drawn behind it, or the one that was compared."""
        output, only = found[-2], len(chosen) == 1 and not self.tested
        behind = found[found.index(chosen[0]) + 1 : -2] if only else ()
        own: Node = ("sym", chosen[0].name) if only else ""
        one = only and chosen[0].role == "stop" and not chosen[0].count
        compared: list[Node] = [("pair", own, ("of", noise, own)) for noise in sorted(self.drawn) if one]
        made = {one.name for one in behind if one.role == "draw" and not one.index}
        refused = {self.records.name if self.records else "", *self.drawn} - made
        plain = only and len(made) == len(behind) and free(output.term).isdisjoint(refused)
        if chosen and chosen[0].count and behind:
            allowed = "no draw behind a Stop after several"
            raise AtLineError.of(behind[0].line, "draw", Latex(behind[0].latex), allowed)
        if not (plain and chosen[0].name in free(output.term)) and output.term not in compared:
            allowed = "the letter that one Select or Stop before it chooses, and what is drawn behind it"
            raise AtLineError.of(output.line, "output", Latex(output.latex), allowed)

    def compare(self, line: int, latex: str, says: str) -> None:
        """Refuse what two readers read differently."""
        if says:
            allowed = f"what is read in one way: {says}"
            raise AtLineError.of(line, "formula", Latex(latex), allowed)

    def item(self, block: PageBlock) -> None:
        """An item of the list: records, neighbors."""
        text = plain(block.pieces)
        key, _, value = text.partition(":")
        if key.strip() == "neighbors":
            self.neighbors = value.strip().rstrip(".")
            require(self.neighbors in NEIGHBORS, "neighbors", self.neighbors, ", ".join(NEIGHBORS))
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
            formula = self.reader.formula(signs_of(one))
            permutes = signs_of(r"\text{permutes the whole numbers from}")[0] in signs_of(one)
            if parts_of(formula)[0] not in ("<=", "<", "==") and not permutes:
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
        last = self.reader.number(parts[2][len(base) + 2 : -1])
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
        self.alphabet = replace(self.alphabet.having(letter), lasts={records.name: last})
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
            self.end = kind[len(_COUNTED) : -1]
            return bound_letter(name, "integer"), self.reader.number(self.end)
        return bound_letter(name, self.alphabet.type_of(kind)), ""

    @property
    def over(self) -> tuple[TheoremLetter | None, Node]:
        """Over what lines for each of several go: the letter, and where that ends, if it is a whole number."""
        records = self.records
        return (records.over, records.columns) if records and records.over else self.each

    def numbers_of(self, line: int, latex: str) -> tuple[TheoremLetter | None, Node]:
        """`j\\in\\{1,\\dots,k\\}` of a sentence, where records have no second index; else what is known."""
        signs = signs_of(latex)
        if r"\in" not in signs:
            return self.each
        found = self.candidates(signs)
        if not found[1] or (self.each[0] and found != self.each):
            raise InvalidArgumentError(
                "sentence", Latex(latex), r"$j\in\{1,\dots,k\}$, the same in all lines"
            )
        self.compare(line, latex, self.second.line(latex, r"\in", "candidates", put(found[1], {})))
        return found

    def list_of_draws(self, one: _SaidLine, signs: Tokens) -> MechanismStep | None:
        """`y_1,\\dots,y_k`, all that was drawn for each, which is a loop without a history; None for another output."""
        (index, last), parts = self.over, split(signs, ",")
        base = parts[0][:-3]
        if len(parts) != 3 or parts[1] not in DOTS or parts[0] != (*base, "(", "1", ")") or index is None:
            return None
        each = {name_of(one) for one in self.rows_of} & self.drawn
        if name_of(base) not in each or self.drawn != each or parts[2] != (*base, "(", *self.end, ")"):
            raise one.wrong("`y_1,\\dots,y_k`, where all is drawn for each")
        self.agree(one, "", "list", ("pair", ("of", name_of(base), index.term), last), index)
        self.loop.line, self.loop.index, self.loop.last, self.loop.listed = one.number, index, last, True
        return MechanismStep(one.number, one.latex, "output", kind="listed", term=("sym", name_of(base)))

    def in_rounds(self, found: tuple[MechanismStep, ...]) -> tuple[MechanismStep, ...]:
        """Lines for each of several as those of rounds."""
        chosen = next((one for one in found if one.role in CHOICES), None)
        if chosen is not None:
            allowed = "a list of draws where nothing is chosen"
            raise AtLineError.of(found[-2].line, "output", Latex(found[-2].latex), allowed)
        return tuple(replace(one, index="") for one in found)

    def lines(self) -> Iterator[_SaidLine]:
        """Displays, each with its line, the word before it, and the formulas of its sentence."""
        words, said = "", list[str]()
        for block in self.blocks:
            if block.kind == "table":  # what stands before it is said of the whole
                words, said = "", []
            if block.kind == "table" or (block.kind == "paragraph" and block.item):
                continue
            formulas = tuple(piece.latex for piece in block.pieces if isinstance(piece, Math))
            if not words and plain(block.pieces).startswith(SAMPLES):
                text = "".join(p.text if isinstance(p, Text) else "$" for p in block.pieces)
                yield _SaidLine(block.line, " ".join(text.split()), "subsample", formulas)
                continue
            if plain(block.pieces).startswith("Repeat") and not words:
                if len(formulas) != 1 or len(block.pieces) > 3:
                    allowed = "Repeat (for $t=1,\\dots,k$):"
                    raise AtLineError.of(block.line, "sentence", plain(block.pieces), allowed)
                yield _SaidLine(block.line, formulas[0], "repeat", ())
                continue
            for piece in block.pieces:
                if isinstance(piece, ShownFormula):
                    role = words.split()[0].lower().strip(":,") if words.split() else ""
                    if role not in ROLES:
                        allowed = f"a sentence before it that begins with {', '.join(ROLES).title()}"
                        raise AtLineError.of(piece.line, "display", Latex(piece.latex), allowed)
                    if role == "output" and re.search("random|shuffle", words, re.IGNORECASE):
                        if words.strip() != RANDOM:
                            raise AtLineError.of(piece.line, "sentence", words.strip(), RANDOM)
                        self.loop.shuffled = True
                    self.at(piece.line, check_sentence, role, words, said)
                    coins = " ".join(words.split()) == COINS.replace("$j$", "$")
                    anew = words.strip() == ANEW
                    if role in ("output", "select") or anew or "anew" in words.casefold():
                        random = coins or (role == "output" and self.loop.shuffled)
                        order = (
                            "in random order" if random else "anew after each answer" if anew else "in order"
                        )
                        self.compare(piece.line, piece.latex, self.second.order(words, order))
                    self.anew |= {piece.line} if anew else set()
                    yield _SaidLine(piece.line, piece.latex, "coins" if coins else role, tuple(said))
                    words, said = "", []
                else:
                    said += [piece.latex] if isinstance(piece, Math) else []
                    words += piece.text if isinstance(piece, Text) else "$"

    @property
    def reader(self) -> TheoremReader:
        """Reads formulas in the letters that have a value so far."""
        return TheoremReader(self.alphabet)

    def agree(
        self, one: _SaidLine, sign: str, what: str, read: Node, index: TheoremLetter | None = None
    ) -> None:
        """Refuse a line that the second reader reads differently."""
        self.compare(one.number, one.latex, self.second.line(one.latex, sign, what, put(read, {}), index))

    def line(self, one: _SaidLine) -> MechanismStep:
        """A line of the mechanism."""
        assert self.records is not None
        line, latex, role, formulas = one
        require(role != "subsample", "line", latex, "one Subsample, before all other lines")
        reader, signs = self.reader, signs_of(latex)
        for base in self.rows_of:
            signs = indexed(signs, base)
        if role == "repeat":
            return self.repeat(one, signs)
        if self.loop.begun and role in ("stop", "output"):
            return self.of_loop(one, signs)
        if self.loop.until and role != "claim":
            raise one.wrong("Stop as the last line of a round")
        if role == "output" and self.loop.shuffled:
            raise one.wrong(f"{RANDOM} of a list `y_1,\\dots,y_n`, behind Repeat")
        if role == "coins":
            return self.coins(one, signs)
        if role in CHOICES:
            return self.choice(one, signs)
        if role == "if":
            return self.condition(one, signs)
        if role == "claim":
            said = guarantee_of(reader, signs)
            self.public(said, latex)
            self.compare(line, latex, self.second.line(latex, "", "guaranteed", said))
            return MechanismStep(line, latex, role, term=said)
        if role == "output" and (listed := self.list_of_draws(one, signs)) is not None:
            return listed
        if role == "output":
            term = outcome(reader, signs)
            self.agree(one, "", "released", term)
            kind = reader.scope.type_of(term)
            if self.tested:
                if not {*flat(kind, "pair")} <= {"real", "integer"}:
                    raise one.wrong("numbers, behind a condition")
                kind, term = ("pair", "integer", kind), ("pair", ("num", "1"), term)
            return MechanismStep(line, latex, role, kind=kind, term=term)
        left, *right = split(signs, r"\sim" if role == "draw" else "=")
        if len(right) != 1:
            allowed = r"`y\sim` and a law" if role == "draw" else "`s=` and what is asked"
            raise one.wrong(allowed)
        if role in ("query", "draw") and formulas and self.records.over is None:
            self.each = self.numbers_of(line, formulas[0])
        index = self.over[0] if role == "draw" else None
        if index and left[-3 - len(index.signs) :] == ("_", "{", *index.signs, "}"):
            return self.drawn_for_each(one, left[: -3 - len(index.signs)], right[0], index)
        base = left[: left.index("(")] if "(" in left else left
        bound_letter(base, "real")  # refuses what is no letter
        self.loop.own(base)
        if any(base == known.signs for known in self.alphabet.letters.values()):
            raise one.wrong("a letter that has no value yet")
        inside = split(left[len(base) + 1 : -1], ",") if len(left) > len(base) else []
        over = [*map(self.argument, inside)]
        if over:
            self.for_each(latex, formulas)
        within = reader.having(*over)
        if role == "draw":
            if over:
                raise one.wrong("a letter without arguments")
            law = law_of_noise(within, latex, right[0])
            kind = within.scope.type_of(law)[1]
            letter = TheoremLetter(name_of(base), written(base), (), kind)
            self.agree(one, r"\sim", "law", law)
            self.know(line, letter)
            self.drawn.add(letter.name)
            return MechanismStep(line, latex, role, letter.name, kind, law, anew=line in self.anew)
        body = within.number(right[0])
        letter = TheoremLetter(name_of(base), written(base), tuple(x.kind for x in over), "real")
        made = Abbreviation(letter, tuple(x.name for x in over), body)
        self.loop.makes(role, left, body)
        self.declare_again(line, letter)
        self.compare(line, latex, self.second.definition(latex, made))
        self.alphabet = self.alphabet.defining(made)
        return MechanismStep(line, latex, role, letter.name, term=body)

    def public(self, said: Node, latex: str) -> None:
        """Refuse numbers that depend on records, or on letters that are not in the table."""
        public = {one.name for one in self.letters if one is not self.size}
        other = frozenset[str]().union(*(free(one) - public for one in parts_of(said)[1:]))
        if other:
            allowed = "letters of the table alone"
            if other & {one.name for one in (self.records, self.size) if one}:
                of_size = ", nor on how many there are" * (self.size is not None)
                allowed = f"numbers that depend on no records{of_size}"
            raise InvalidArgumentError("claim", Latex(latex), allowed)

    def read_sample(self, one: _SaidLine) -> SampleOnPage:
        """`Subsample (each record with probability $p$):` or `($m$ of $n$ records without replacement):`."""
        assert self.records is not None
        line, words, _, formulas = one
        if words.startswith("Shuffle"):
            allowed = (
                "Subsample, or `Output (in random order):` of a list `y_1,\\dots,y_n`, one for each round"
            )
            raise InvalidArgumentError("line", words, allowed)
        match = re.fullmatch(
            r"Subsample \((?P<each>each record with probability \$)?(\$ of \$ records without replacement)?\)[:.]",
            words,
        )
        if match is None or len(formulas) != (1 if match["each"] else 2):
            forms = (
                "(each record with probability $p$):` or `Subsample ($m$ of $n$ records without replacement):"
            )
            raise InvalidArgumentError("line", words, f"`Subsample {forms}`, in a paragraph of its own")
        numbers = [self.reader.number(signs_of(one)) for one in formulas]
        for latex, number in zip(formulas, numbers, strict=True):
            self.compare(line, latex, self.second.line(latex, "", "number", put(number, {})))
            self.public(("sample", *numbers[:1]), latex)
        wanted = ADDED if match["each"] else REPLACE
        require(self.neighbors == wanted, "sample", words, f"such samples with `- neighbors: {wanted}`")
        if self.size is not None:
            if self.size.number is None or not self.size.number.contains(Fraction(0)):
                raise InvalidArgumentError("sample", words, "a number of records that is `integer >= 0`")
            return SampleOnPage(line, numbers[0])
        whole = self.reader.scope.type_of(numbers[0]) == "integer"
        if not whole or numbers[1] != self.records.last:
            raise InvalidArgumentError("sample", words, "a whole number of records, of the number of records")
        self.records = replace(self.records, last=numbers[0])
        return SampleOnPage(line, ("mul", numbers[0], ("pow", numbers[1], ("num", "-1"))), numbers[1])

    def repeat(self, one: _SaidLine, signs: Tokens) -> MechanismStep:
        """The head of a loop: `t=1,\\dots,k`."""
        if self.drawn:
            raise one.wrong("all draws in the loop")
        assert self.records is not None
        new = [*self.loop.header(one.number, signs, self.reader, {self.records.name})]
        self.agree(one, "=", "rounds", self.loop.last)
        for letter in new:
            self.know(one.number, letter)
        return MechanismStep(one.number, one.latex, "repeat")

    def of_loop(self, one: _SaidLine, signs: Tokens) -> MechanismStep:
        """By what a loop ends, or its output: of the last round, or of each."""
        line, latex, role, said = one
        loop, index, reader = self.loop, self.loop.index, self.reader
        if role == "stop":
            if [*map(signs_of, said)] != [index.signs, loop.end]:
                allowed = f"Stop (at the first ${index.latex}$, else at ${written(loop.end)}$)"
                raise InvalidArgumentError("sentence", ", ".join(said), allowed)
            formula = reader.formula(signs)
            if parts_of(formula)[0] not in ("<=", "<"):
                raise one.wrong("a comparison")
            self.compare(line, latex, self.second.formula(latex, put(formula, {})))
            loop.until = formula
            return MechanismStep(line, latex, "until", term=formula)
        letters = [*self.alphabet.letters.values()]
        values = {name: made.body for name, made in self.alphabet.defined.items()}
        last = [] if loop.until else [*loop.ends(letters, values)]
        each = loop.all_of(signs)
        if loop.shuffled and (each is None or loop.until):
            allowed = f"{RANDOM} of a list, `y_1,\\dots,y_n`, in a loop without Stop"
            raise one.wrong(allowed)
        if each is not None:
            term = reader.point(each)
            self.agree(one, "", "list", ("pair", term, index.term if loop.until else loop.last), index)
            loop.listed = True
            return MechanismStep(line, latex, role, kind="listed", term=term)
        for letter, _ in last:
            self.know(line, letter)
        reader = self.reader
        term = outcome(reader, signs)
        self.agree(one, "", "released", term)
        of_round = {x.name for x in letters if x.kind in ("real", "integer") and not x.arguments}
        if not loop.until and free(term) & of_round - {x.name for x in (*self.letters, *dict(last))}:
            raise one.wrong("letters of the last round, as `w_k`")
        ends = {x.name: ((), value) for x, value in last}
        return MechanismStep(line, latex, role, kind=reader.scope.type_of(term), term=put(term, ends))

    def condition(self, one: _SaidLine, signs: Tokens) -> MechanismStep:
        """`If (else put out $\\bot$):` and a comparison."""
        if self.tested or [*map(signs_of, one.said)] != [REFUSAL]:
            raise one.wrong(r"one condition, `If (else put out $\bot$):`")
        term = self.reader.formula(signs)
        if parts_of(term)[0] not in ("<=", "<"):
            raise one.wrong("a comparison, `$t<y$`")
        self.compare(one.number, one.latex, self.second.formula(one.latex, put(term, {})))
        self.tested = True
        return MechanismStep(one.number, one.latex, "if", term=term)

    def know(self, line: int, letter: TheoremLetter) -> None:
        """Know a letter that a line gives a value, as the second reader does."""
        self.declare_again(line, letter)
        self.alphabet = self.alphabet.having(letter)

    def declare_again(self, line: int, letter: TheoremLetter) -> None:
        """Tell the second reader of a letter that a line gives a value."""
        types = [(name, written(signs)) for signs, (name, _) in self.alphabet.types.items()]
        types += [("integer", r"\mathbb{Z}")] * bool(letter.arguments)
        of = [latex for kind in (*letter.arguments, letter.kind) for name, latex in types if name == kind]
        words = "function of" if letter.arguments else "point of" if of else str(letter.kind)
        self.compare(line, letter.latex, self.second.letter(letter, words, of))

    def drawn_for_each(
        self, one: _SaidLine, base: Tokens, law: Tokens, index: TheoremLetter
    ) -> MechanismStep:
        """`y_r\\sim\\mathrm{Lap}(q(r),b)`: a number for each candidate."""
        line, latex, _, said = one
        require(line not in self.anew, "draw", ANEW, "one number, the threshold's noise")
        self.for_each(latex, said)
        if any(base == known.signs for known in self.alphabet.letters.values()):
            raise one.wrong("a letter that has no value yet")
        found = law_of_noise(self.reader.having(index), latex, law)
        if found[0] not in NOISES or index.name in free(found[-1]):
            raise one.wrong(f"{', '.join(NOISES)} noise of one scale for all")
        self.not_drawn(latex, found)
        letter = TheoremLetter(name_of(base), written(base), (index.kind,), "real")
        self.agree(one, r"\sim", "law", found, index)
        self.second.with_index(letter)
        self.alphabet, self.rows_of = self.alphabet.having(letter), [*self.rows_of, base]
        self.drawn.add(letter.name)
        return MechanismStep(line, latex, "draw", letter.name, "real", found, index.name)

    def for_each(self, latex: str, said: tuple[str, ...]) -> None:
        """Refuse a sentence that speaks of other candidates than records have."""
        for formula in said:
            if self.over[0] is None or self.candidates(signs_of(formula)) != self.over:
                raise InvalidArgumentError("sentence", Latex(formula), "the candidates that records have")

    def not_drawn(self, latex: str, term: Node) -> None:
        """Refuse a term with what is drawn in it."""
        if free(term) & self.drawn:
            raise InvalidArgumentError("line", Latex(latex), "numbers in which nothing is drawn")

    def noisy(self, latex: str, term: Node, index: str) -> Node:
        """A term as a sum of what is not drawn, and of one letter that is, or 0."""
        own: Node = ("num", "0")
        rest: Node = own
        for one in map(parts_of, flat(term, "add")):
            of_one = one[0] == "sym" or one == ("of", one[1], ("sym", index))
            if own == ("num", "0") and of_one and one[1] in self.drawn:
                own = one
            else:
                self.not_drawn(latex, one)
                rest = one if rest == ("num", "0") else ("add", rest, one)
        return ("add", rest, own)

    def choice(self, one: _SaidLine, signs: Tokens) -> MechanismStep:
        """What is chosen among candidates."""
        assert self.records is not None
        line, latex, role, said = one
        index = self.records.over
        if index is None or (role == "select") == bool(self.records.columns):
            kind = f"$r\\in R$, or `{COINS}`" if role == "select" else r"$j\in\{1,\dots,k\}$"
            raise one.wrong(f"records with a number for each {kind}")
        within, name = self.reader.having(index), index.signs
        count: Node = ""
        if role == "select":
            left, right = [*split(signs, "="), ()][:2]
            start = len(_LARGEST) if right[: len(_LARGEST)] == _LARGEST else 0
            stop = end_of_group(right, start) if start else 0
            taken = not start or left in self.alphabet.letters
            if taken or self.candidates(right[start + 1 : stop - 1])[0] != index:
                raise one.wrong(r"`j=\arg\max_{r\in R}y_r`")
            self.for_each(latex, said)
            score = within.number(right[stop:])
            self.agree(one, "=", "largest", score, index)
            name, term = left, self.noisy(latex, score, index.name)
        else:
            last = [*map(signs_of, said)]
            columns = self.records.columns
            behind: list[Node] = [("add", columns, ("num", "1"))]
            if columns[0] == "num":
                behind.append(("num", str(int(str(columns[1])) + 1)))
            if len(last) == 2 and last[1] == index.signs != last[0]:
                count = self.reader.number(last[0])
                self.compare(line, said[0], self.second.line(said[0], "", "released", put(count, {})))
                if free(count) & {self.records.name, *self.drawn}:
                    raise InvalidArgumentError("sentence", Latex(said[0]), "a public number of answers")
            elif len(last) != 2 or last[0] != index.signs or self.reader.number(last[1]) not in behind:
                raise InvalidArgumentError(
                    "sentence",
                    ", ".join(said),
                    f"Stop (at the first ${index.latex}$, else at the number behind the last), or "
                    f"Stop (after a number of the ${index.latex}$)",
                )
            head, *sides = parts_of(within.formula(signs))
            if head != "<=":
                raise one.wrong(r"a comparison with `\ge` or `\le`")
            self.agree(one, "", "at least", (head, *sides), index)
            term = (head, *(self.noisy(latex, side, index.name) for side in sides))
        return self.chosen(one, role, name, term, count)

    def coins(self, one: _SaidLine, signs: Tokens) -> MechanismStep:
        """`Select (in random order, the first $j$ that shows heads):` and with which chance it does."""
        assert self.records is not None
        _, latex, _, said = one
        index, columns = self.records.over, self.records.columns
        if index is None or not columns:
            kind = r"$j\in\{1,\dots,k\}$"
            raise InvalidArgumentError("select", Latex(latex), f"records with a number for each {kind}")
        if [*map(signs_of, said)] != [index.signs]:
            raise InvalidArgumentError("sentence", ", ".join(said), f"the first ${index.latex}$")
        term = self.reader.having(index).number(signs)
        self.agree(one, "", "number", term, index)
        self.not_drawn(latex, term)
        if scaled_lack(term, index.name, columns) is None:
            allowed = r"`e^{c\cdot(q(j)-\max_{1\le i\le k}q(i))}`, the largest of all candidates"
            raise InvalidArgumentError("select", Latex(latex), allowed)
        return self.chosen(one, "select", index.signs, term)

    def chosen(self, one: _SaidLine, role: str, name: Tokens, term: Node, count: Node = "") -> MechanismStep:
        """The line by which a letter for a candidate has a value."""
        index = self.records.over if self.records else None
        assert index is not None
        if self.drawn - free(term):
            raise InvalidArgumentError(role, Latex(one.latex), "a line in which all that is drawn stands")
        letter = TheoremLetter(name_of(name), written(name), (), index.kind)
        self.know(one.number, letter)
        return MechanismStep(one.number, one.latex, role, letter.name, index.kind, term, index.name, count)

    def argument(self, signs: Tokens) -> TheoremLetter:
        """The argument of a query, of the type over which the second index of records runs."""
        if self.over[0] is None:
            raise InvalidArgumentError("query", written(signs), "a letter without arguments")
        return replace(bound_letter(signs, self.over[0].kind))
