"""Pages of theorems: tables of letters and their kinds, what is assumed, what is claimed, and the steps between."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import Latex
from dpverify.formulas.rendering.neutral import Json
from dpverify.formulas.units import DIMENSIONLESS
from dpverify.proving.checker.theorems.language import Node, put
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.theorems.derivation import json_of
from dpverify.proving.theorems.letters import Alphabet, TheoremLetter, bounds
from dpverify.proving.theorems.notation import TheoremReader, define
from dpverify.proving.theorems.signs import name_of, signs_of, split
from dpverify.proving.theorems.two_readers import SecondReading
from dpverify.statements.pages.blocks import (
    Cell,
    Errors,
    Math,
    Other,
    PageBlock,
    PageError,
    ShownFormula,
    Text,
    blocks,
    page_text,
    plain,
)
from dpverify.statements.pages.letters import read_domain
from dpverify.statements.pages.sections import section_ids

_Made = TypeVar("_Made")
ROLES = {"assume": "assumption", "define": "definition", "then": "claim", "step": "step"}
"""First words of the sentence before a display, and what the display is."""
KINDS = (
    "a domain such as `> 0`, `law on $T$`, `point of $T$`, `event of $T$`, `function of $T$`, `function of $T$ to "
    "$U$`, `mechanism to $T$`, `law for $T,\\mathcal{D}$ on $U$`, `data set`, `statement`, `type`, `finite type`, "
    "`type of data sets`, `Euclidean space`"
)
STANDINGS = ("rule", "result", "theorem")
"""What is taken as known, what the literature proves, and what is to be proved here."""
HEADING = re.compile(r"^#+ .*\{#(?P<id>[\w.-]+)\}\s*$", re.MULTILINE)
"""Of a section."""


@dataclass(frozen=True)
class TheoremDisplay:
    """A display with what is said of it."""

    line: int
    latex: str
    role: str
    by: tuple[str, ...] = ()
    """The rules and theorems by which it follows, in this order."""
    given: tuple[str, ...] = ()
    """LaTeX of what letters of these stand for, `c=e^{\\varepsilon}`."""
    formula: Node = ""


@dataclass(frozen=True)
class ReadInTwoWays:
    """A letter or a display on which the two readers differ, and how."""

    line: int
    latex: str
    says: str


@dataclass(frozen=True)
class TheoremOnPage:
    """A rule, a result or a theorem."""

    id: str
    title: str
    line: int
    standing: str
    source: str
    alphabet: Alphabet
    clause: Clause
    names: tuple[str, ...]
    """Of its letters, in the order of the clause."""
    displays: tuple[TheoremDisplay, ...]
    declared: tuple[tuple[str, str, str], ...] = ()
    """The rows of its table of letters: LaTeX, kind in words with types between dollars, meaning."""
    unclear: tuple[ReadInTwoWays, ...] = ()
    """On which the two readers differ; nothing is derived of such a theorem, or from such a rule."""

    @property
    def read_twice(self) -> int:
        """How many of its displays both readers read in the same way."""
        lines = {one.line for one in self.unclear}
        return sum(one.line not in lines for one in self.displays)

    @property
    def claim(self) -> TheoremDisplay:
        """What it claims."""
        return next(one for one in self.displays if one.role == "claim")

    @property
    def steps(self) -> tuple[TheoremDisplay, ...]:
        """Its proof, which ends with the claim."""
        return (*(one for one in self.displays if one.role == "step"), self.claim)

    def modeled(self, model: Json, *, refute: bool) -> ModeledClause:
        """What a model is of, one that refutes the theorem or shows that what it assumes can be true."""
        return ModeledClause(self.clause, self.names, model)


@dataclass(frozen=True)
class ModeledClause:
    """A model with its clause: that of a theorem, or one that is true if the theorem is."""

    clause: Clause
    names: tuple[str, ...]
    """Of its letters."""
    model: Json
    fixed: tuple[tuple[str, str], ...] = ()
    """LaTeX of letters of the theorem that have one value in it, and these."""


def read_theorems(path: Path) -> tuple[TheoremOnPage, ...]:
    """The theorems of a page, in its order.

    Raises:
        InvalidArgumentError: for a file that cannot be read.
        PageError: for all on the page that is not understood.
    """
    return read_sections(path, "theorem", lambda *section: TheoremSection(*section).theorem())


def read_theorem(path: Path, id_: str) -> TheoremOnPage:
    """One theorem of a page that is known to have it; others are not looked at. Errors as of `read_theorems`."""
    (found,) = read_sections(path, "theorem", lambda *section: TheoremSection(*section).theorem(), only=id_)
    return found


@lru_cache(maxsize=128)
def _parts(text: str) -> tuple[Sequence[tuple[str, PageBlock | None, list[PageBlock]]], Errors]:
    errors = Errors()
    return section_ids(blocks(text, errors)), errors


def read_sections(
    path: Path, what: str, make: Callable[[str, PageBlock, Sequence[PageBlock]], _Made], only: str = ""
) -> tuple[_Made, ...]:
    """What the sections of a page are, each of which begins with a heading with an id; errors as of `read_theorems`."""
    text = page_text(path)
    return sections_of(alone(text, only) if only else text, path.name, what, make)


def alone(text: str, id_: str) -> str:
    """A page with blank lines in place of all but one section."""
    heads = [*HEADING.finditer(text), None]
    first, last = next((one, end) for one, end in pairwise(heads) if one and one["id"] == id_)
    start = first.start() if first else 0
    return "\n" * text.count("\n", 0, start) + text[start : last.start() if last else None]


def sections_of(
    text: str, name: str, what: str, make: Callable[[str, PageBlock, Sequence[PageBlock]], _Made]
) -> tuple[_Made, ...]:
    """As `read_sections`, of a page's text; the name is that in errors."""
    parts, wrong = _parts(text)
    errors, found = Errors(wrong), list[_Made]()
    for id_, heading, inside in parts:
        if heading is None:
            for block in inside:
                if block.kind in ("display", "table"):
                    errors.wrong(block.line, block.kind, plain(block.pieces), "it below a heading with an id")
            continue
        try:
            found.append(make(id_, heading, inside))
        except (InvalidArgumentError, ValueError) as error:
            line, why = error.args if isinstance(error, AtLineError) else (heading.line, error)
            if not isinstance(why, InvalidArgumentError):
                why = InvalidArgumentError(what, id_, f"what has types that fit ({why})")
            errors.append((line, why))
    if not found and not errors:
        errors.wrong(1, "page", name, "headings with ids, each with a table of letters")
    if errors:
        raise PageError(name, errors)
    return tuple(found)


class AtLineError(ValueError):
    """An error, with its line first."""

    @classmethod
    def of(cls, line: int, *wrong: Any) -> AtLineError:
        """What is wrong on a line, as of `InvalidArgumentError`."""
        return cls(line, InvalidArgumentError(*wrong))


@dataclass
class _Lead:
    """What is said before a display."""

    words: str = ""
    codes: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)


class TheoremSection:
    def __init__(self, id_: str, heading: PageBlock, inside: Sequence[PageBlock]) -> None:
        self.id, self.heading, self.blocks = id_, heading, inside
        self.alphabet = Alphabet()
        self.letters: list[TheoremLetter] = []
        self.said = {"kind": "theorem", "source": ""}
        self.second = SecondReading()
        self.unclear: list[ReadInTwoWays] = []
        self.declared: list[tuple[str, str, str]] = []

    def theorem(self) -> TheoremOnPage:
        self.tables()
        found = [self.at(one.line, self.read, one) for one in self.displays()]
        claims = [one for one in found if one.role == "claim"]
        require(len(claims) == 1, "theorem", self.id, "one display behind a sentence that begins with `Then`")
        if self.said["kind"] not in STANDINGS:
            raise InvalidArgumentError("kind", self.said["kind"], ", ".join(STANDINGS))
        letters = [one for one in self.letters if one.name not in self.alphabet.defined]
        premises = [bound for one in letters for bound in bounds(one)]
        premises += [one.formula for one in found if one.role == "assumption"]
        body: Node = ("all", tuple(one.declared for one in letters), tuple(premises), claims[0].formula)
        types = [list(one) for one in self.alphabet.types.values()]
        clause = Clause.read({"types": types, "body": json_of(put(body, {}))})
        title = re.sub(r"\s*\{#.*\}$", "", plain(self.heading.pieces))
        return TheoremOnPage(
            self.id, title, self.heading.line, self.said["kind"], self.said["source"], self.alphabet, clause,
            tuple(one.name for one in letters), tuple(found),
            tuple(self.declared), tuple(self.unclear),
        )  # fmt: skip

    def at(self, line: int, do: Callable[..., _Made], *what: object) -> _Made:
        """What comes of something, errors with their line."""
        try:
            return do(*what)
        except AtLineError:
            raise
        except (InvalidArgumentError, ValueError) as error:
            raise AtLineError(line, error) from None

    # -------------------------------------------------------------------------------------- letters

    def tables(self) -> None:
        """Declare the letters of tables."""
        for block in self.blocks:
            if block.kind == "table":
                for letter, kind, *meaning in self.rows(block):
                    self.at(letter.line, self.declare, letter, kind)
                    words = " ".join(with_dollars(cell.pieces) for cell in meaning)
                    self.declared.append((self.latex_of(letter), with_dollars(kind.pieces), words))

    def rows(self, table: PageBlock) -> Iterator[tuple[Cell, ...]]:
        header = [plain(cell.pieces).lower() for cell in table.rows[0]]
        if header[:2] != ["letter", "kind"] or header[2:] not in ([], ["meaning"]):
            raise AtLineError.of(
                table.line, "table", " | ".join(header), "columns `letter`, `kind`, `meaning`"
            )
        for row in table.rows[1:]:
            yield tuple(row)

    def latex_of(self, letter: Cell) -> str:
        """A letter's LaTeX."""
        shown = [piece.latex for piece in letter.pieces if isinstance(piece, Math)]
        if len(shown) != 1:
            raise InvalidArgumentError("letter", plain(letter.pieces), "one letter between dollars")
        return shown[0]

    def declare(self, letter: Cell, kind: Cell) -> None:
        """A row of the table."""
        latex = self.latex_of(letter)
        signs = signs_of(latex)
        words = " ".join("".join(p.text for p in kind.pieces if isinstance(p, Text)).split())
        formulas = [piece.latex for piece in kind.pieces if isinstance(piece, Math)]
        given = [signs_of(one) for one in formulas]
        types = {
            "type": "any", "finite type": "finite", "type of data sets": "data", "Euclidean space": "space",
        }  # fmt: skip
        if words in types and not given:
            name = name_of(signs)
            self.alphabet.types[signs] = name, types[words]
            self.compare(letter.line, latex, self.second.sort(latex, name, words, types[words]))
            return
        one = self.letter(latex, words, given)
        if signs in self.alphabet.letters or any(one.name == other.name for other in self.letters):
            raise InvalidArgumentError("letter", Latex(latex), "letters that are declared once")
        self.letters.append(one)
        self.alphabet = self.alphabet.having(one)
        self.compare(letter.line, latex, self.second.letter(one, words, formulas))

    def compare(self, line: int, latex: str, says: str) -> None:
        """Keep how the readers differ, if they do."""
        if says:
            self.unclear.append(ReadInTwoWays(line, latex, says))

    def letter(self, latex: str, words: str, given: list[tuple[str, ...]]) -> TheoremLetter:
        """A letter of some kind."""
        name = name_of(signs_of(latex))
        kinds = [tuple(self.alphabet.type_of(part) for part in split(one, ",")) for one in given]
        data = tuple(n for n, kind in self.alphabet.types.values() if kind == "data")
        first = kinds[0] if kinds else ()
        match words, *kinds:
            case ["data set"] if len(data) == 1:
                return TheoremLetter(name, latex, (), data[0])
            case "law on", (kind,):
                return TheoremLetter(name, latex, (), ("law", kind))
            case "point of", (kind,):
                return TheoremLetter(name, latex, (), kind)
            case ["statement"]:
                return TheoremLetter(name, latex, (), "formula")
            case "event of", _:
                return TheoremLetter(name, latex, first, "formula")
            case "function of", _:
                return TheoremLetter(name, latex, first, "real")
            case "function of to", _, (kind,):
                return TheoremLetter(name, latex, first, kind)
            case "mechanism to", (kind,) if len(data) == 1:
                return TheoremLetter(name, latex, data, ("law", kind))
            case "law for on", _, (kind,):
                return TheoremLetter(name, latex, first, ("law", kind))
        try:
            require(not given, "kind", words, KINDS)
            variable = read_domain(words).variable(name, DIMENSIONLESS, "", latex, "")
        except InvalidArgumentError:
            raise InvalidArgumentError("kind", words, KINDS) from None
        return TheoremLetter(name, latex, (), variable.kind, variable)

    # -------------------------------------------------------------------------------------- displays

    def displays(self) -> Iterator[TheoremDisplay]:
        lead = _Lead()
        for block in self.blocks:
            if block.kind == "table":
                continue
            item = block.kind == "paragraph" and block.item
            if item and (match := re.match(r"(kind|source):\s*(.*)", plain(block.pieces), re.DOTALL)):
                self.said[match[1]] = match[2].strip()
                continue
            if block.kind == "paragraph":
                lead = _Lead()
            for piece in block.pieces:
                match piece:
                    case ShownFormula(line, latex):
                        yield self.display(line, latex, lead)
                        lead = _Lead()
                    case Math(_, latex):
                        lead.formulas.append(latex)
                        lead.words += "$"
                    case Other(_, "code", text):
                        lead.codes.append(text)
                        lead.words += "`"
                    case Text(_, text):
                        lead.words += text

    def display(self, line: int, latex: str, lead: _Lead) -> TheoremDisplay:
        words = lead.words.strip().split()
        role = ROLES.get(words[0].lower().strip(":,") if words else "")
        if role is None:
            allowed = "a sentence before it that begins with Assume, Define, Then or Step"
            raise AtLineError.of(line, "display", Latex(latex), allowed)
        form = r"\w+(?: \([^()]*\))?(?:,? by `(?:(?:,| and|, and) `)*(?:,? with \$(?:(?:,| and) \$)*)?)?\s*:?"
        plain_words = role in ("assumption", "definition") and not {*lead.words} & {*"`$"}
        if not plain_words and not re.fullmatch(form, " ".join(words)):
            allowed = "`Step, by `rule.markov` with $a=2$:`, with words in parentheses where there are more"
            raise AtLineError.of(line, "sentence", lead.words.strip(), allowed)
        return TheoremDisplay(line, latex, role, tuple(lead.codes), tuple(lead.formulas))

    def read(self, one: TheoremDisplay) -> TheoremDisplay:
        reader = TheoremReader(self.alphabet)
        if one.role == "definition":
            made = define(reader, one.latex)
            self.alphabet = self.alphabet.defining(made)
            self.compare(one.line, one.latex, self.second.definition(one.latex, made))
            return one
        formula = put(reader.formula(signs_of(one.latex)), {})
        reader.scope.demand_formula(formula)
        self.compare(one.line, one.latex, self.second.formula(one.latex, formula))
        return TheoremDisplay(one.line, one.latex, one.role, one.by, one.given, formula)


def with_dollars(pieces: Sequence[object]) -> str:
    """Words, formulas between dollars."""
    parts = (f"${p.latex}$" if isinstance(p, Math) else getattr(p, "text", "") for p in pieces)
    return " ".join("".join(parts).split())
