"""The tables of letters on a page, and what may be a letter there."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.analyses.sizes import check_size
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.functionals import FUNCTIONAL, NUMBER
from dpverify.formulas.notation import read_display
from dpverify.formulas.notation.letters import Letters
from dpverify.formulas.notation.tokens import DRESS, Latex, end_of_group, normal, texts
from dpverify.formulas.units import DIMENSIONLESS, LENGTH, LOSS, NATS, RECORDS, UNKNOWN, Unit
from dpverify.formulas.vectors import vector
from dpverify.statements.pages.blocks import Cell, Errors, Math, Other, PageBlock, ShownFormula, Text, plain
from dpverify.statements.pages.prose import looks_like_letters
from dpverify.statements.pages.words import WORDS, Sentence, has_relation, sentences

HERE = "letter here"
"""The first column of a table of letters for one display."""
SINGLE = "one letter"
"""In a table: all of its LaTeX is one letter, whatever else it might say; both tell what that stands for."""
_COLUMNS = frozenset(("letter", "name", "domain", "unit", "meaning", "stands for", "size", "guessed"))
_DOMAINS = (
    "a domain such as `real`, `> 0`, `[0, 1)`, `>= 0, < 1`, `integer >= 1`, `integers in [1, 9]`, or `vector`"
)
_UNITS = (
    "powers of `loss` and `length` such as `length^2 / loss`, `nats`, `record count`, `unknown`, or nothing"
)


@dataclass(frozen=True)
class PageLetter:
    """A row of a table of letters."""

    line: int
    variable: Variable
    settled: bool = False
    """Whether its row says what it stands for, so that all of its LaTeX is one letter."""
    guessed: bool = False
    """Whether something of its row is guessed: formulas with it have no verdict."""


def read_letters(blocks: Sequence[PageBlock], errors: Errors) -> tuple[PageLetter, ...]:
    """The letters of all tables; what cannot be read is added to the errors, and its letter is taken to be real."""
    found: list[PageLetter] = []
    for block in blocks:
        if block.kind == "table" and looks_like_letters(block):
            found += _LetterTable(block, errors).letters()
        elif block.kind == "paragraph" and any(
            isinstance(p, Text) and p.text.startswith("|") for p in block.pieces[:1]
        ):
            allowed = "a table with a line of dashes below its header, and no other lines between its rows"
            errors.wrong(block.line, "table", plain(block.pieces), allowed)
    return tuple(_once(found, errors))


def _once(found: Sequence[PageLetter], errors: Errors) -> Iterator[PageLetter]:
    """Each letter once: two rows that say the same of it are one, others are refused."""
    kept: list[PageLetter] = []
    for letter in found:
        new = letter.variable
        said = (new, new.latex, new.unit)
        same = [k for k in kept if new.name == k.variable.name or _form(new.latex) == _form(k.variable.latex)]
        if any((k.variable, k.variable.latex, k.variable.unit) != said for k in same):
            first = f"`{same[0].variable.latex}` of line {same[0].line}"
            allowed = (
                f"letters with different names (column `name`), each with one domain: {first} is like it"
            )
            errors.wrong(letter.line, "letter", Latex(new.latex), allowed)
        if not same:
            kept.append(letter)
            yield letter


def _form(latex: str) -> tuple[str, ...]:
    return texts(normal(latex))


class _LetterTable:
    def __init__(self, block: PageBlock, errors: Errors) -> None:
        self.block, self.errors, self.wrong = block, errors, errors.wrong

    def letters(self) -> Iterator[PageLetter]:
        header, *rows = self.block.rows
        names = [plain(cell.pieces).lower() for cell in header]
        names = ["letter" if name in ("symbol", HERE) else name for name in names]
        if not {"letter", "domain"} <= set(names) <= _COLUMNS or len(set(names)) < len(names):
            allowed = (
                "columns `letter` and `domain`, and `unit`, `meaning`, `stands for`, `size`, `name`, `guessed`, each "
                "once, no others"
            )
            self.wrong(self.block.line, "table", " | ".join(names), allowed)
            return
        if not rows:
            self.wrong(self.block.line, "table", " | ".join(names), "a row for each letter")
        for row in rows:
            with suppress(_UnreadError):
                yield self.letter(dict(zip(names, row, strict=True)))

    def letter(self, cells: Mapping[str, Cell]) -> PageLetter:
        line = cells["letter"].line
        latex = self.formula(cells["letter"])
        name = plain(cells["name"].pieces) if "name" in cells else ""
        if name and not re.fullmatch(r"[\w'*.+-]+", name):
            self.wrong(line, "name", name, "a name of letters and digits")
            name = ""
        name = name or re.sub(r"[\\{}$\s]", "", latex)
        said = cells["meaning"].pieces if "meaning" in cells else ()
        standing = self.standing(cells["stands for"]) if "stands for" in cells else ""
        unit, domain = DIMENSIONLESS, _Domain()
        try:
            unit = read_unit(_written(cells["unit"]) if "unit" in cells else "")
            domain = read_domain(_written(cells["domain"]))
        except InvalidArgumentError as error:
            self.errors.append((line, error))
        if any(_says_more(sentence, domain) for sentence in sentences(said)):
            allowed = "words: a condition belongs into `domain`, or into the notes of displays, `=` into a definition"
            self.wrong(line, "meaning", plain(said), allowed)
        try:
            of_it = "" if standing == SINGLE else standing
            size = plain(cells["size"].pieces) if "size" in cells else ""
            made = replace(domain.variable(name, unit, plain(said), latex, of_it), size=size)
            check_size(made)
            guessed = "guessed" in cells and bool(plain(cells["guessed"].pieces).strip())
            return PageLetter(line, made, bool(standing), guessed)
        except InvalidArgumentError as error:
            self.errors.append((line, error))
            raise _UnreadError from None

    def standing(self, cell: Cell) -> str:
        """What a letter stands for: a word, or a formula between dollars."""
        match cell.pieces:
            case [Math(_, latex)]:
                return latex
        said = plain(cell.pieces)
        if said not in ("", NUMBER, FUNCTIONAL, SINGLE):
            allowed = f"`{NUMBER}`, `{FUNCTIONAL}`, `{SINGLE}`, a formula between dollars, or nothing"
            self.wrong(cell.line, "stands for", said, allowed)
        return said

    def formula(self, cell: Cell) -> str:
        """The letter in its cell: one formula, and no words."""
        pieces = [p for p in cell.pieces if not (isinstance(p, Text) and not p.text.strip())]
        latex = ""
        match pieces:
            case [Math(_, text) | Text(_, text) | Other(_, "code", text)]:
                latex = text.strip()
        try:
            if latex and normal(latex):
                return latex
        except InvalidArgumentError:
            pass
        self.wrong(cell.line, "letter", plain(cell.pieces), "one letter such as `$\\sigma$` in its column")
        raise _UnreadError


def _says_more(sentence: Sentence, domain: _Domain) -> bool:
    """Whether the meaning of a letter says which values it has, and its domain does not: `a positive number`."""
    words = {part.word for part in sentence.parts}
    free = domain.lower is None and domain.upper is None
    said = {"defined", "equals"} | (WORDS["properties"] if free else frozenset())
    alone = all(part.kind == "math" for part in sentence.parts)
    return bool(sentence.relations or alone or words & said)


class _UnreadError(Exception):
    """A row without a letter; it has been said."""


def _written(cell: Cell) -> str:
    for piece in cell.pieces:
        if isinstance(piece, ShownFormula) or (isinstance(piece, Other) and piece.what != "code"):
            raise InvalidArgumentError("cell", plain(cell.pieces), "words and formulas")
    return plain(cell.pieces)


# ---------------------------------------------------------------------------------------------- domains


@dataclass(frozen=True)
class _Domain:
    kind: str = "real"
    lower: Fraction | None = None
    lower_open: bool = False
    upper: Fraction | None = None
    upper_open: bool = False

    def variable(self, name: str, unit: Unit, meaning: str, latex: str, stands_for: str) -> Variable:
        """A letter with this domain."""
        if self.kind == "vector":
            return vector(name, unit=unit, meaning=meaning, latex=latex, stands_for=stands_for)
        ends = {"gt" if self.lower_open else "ge": self.lower, "lt" if self.upper_open else "le": self.upper}
        make: Callable[..., Variable] = integer if self.kind == "integer" else real
        bounds = {end: value for end, value in ends.items() if value is not None}
        return make(name, unit=unit, meaning=meaning, latex=latex, stands_for=stands_for, **bounds)


_KINDS = {
    "real": r"real numbers?|reals?|\\mathbb\{R\}", "integer": r"integers?|\\mathbb\{Z\}", "vector": r"vectors?",
}  # fmt: skip
_NUMBER = r"[-−]?\s*(?:[0-9]+\.[0-9]+|[0-9]+(?:\s*/\s*[0-9]+)?)"
_INFINITY = r"(?:\\infty|∞|oo)"
_BOUND = re.compile(rf"(>=|>|<=|<|≥|≤|\\geq?|\\leq?|\\gt|\\lt)\s*({_NUMBER})")
_DOMAIN = re.compile(
    rf"""\s*(?:{"|".join(f"(?P<{kind}>{words})" for kind, words in _KINDS.items()).replace(" ", "[ ]")})?\s*
    (?:(?:in|\\in|∈)?\s*(?P<opening>[\[(])\s*(?P<low>{_NUMBER}|-\s*{_INFINITY})\s*,
        \s*(?P<high>{_NUMBER}|\+?\s*{_INFINITY})\s*(?P<closing>[\])])\s*
    |(?P<bounds>{_BOUND.pattern}(?:\s*(?:,\s*and|,|and)\s*{_BOUND.pattern})*)\s*)?""",
    re.VERBOSE,
)
_POWER = re.compile(
    r"\s*(?P<sign>[/*·]?)\s*(?P<base>loss|length|1|dimensionless)(?:\s*\^\s*(?P<power>[-−]?\s*[0-9]+))?"
)
_POWERS = {"loss": LOSS, "length": LENGTH, "1": DIMENSIONLESS, "dimensionless": DIMENSIONLESS}
_NAMED = {
    "": DIMENSIONLESS,
    "nats": NATS,
    "unknown": UNKNOWN,
    **dict.fromkeys(("record count", "records", "record"), RECORDS),
}


def read_domain(text: str) -> _Domain:
    """A domain such as `integers in [1, 9]`."""
    match = _DOMAIN.fullmatch(text)
    if match is None:
        raise InvalidArgumentError("domain", text.strip(), _DOMAINS)
    kind = next((kind for kind in _KINDS if match[kind]), "real")
    low, high = list[tuple[Fraction, bool]](), list[tuple[Fraction, bool]]()
    for sides, end, bracket in (
        (low, match["low"], match["opening"]),
        (high, match["high"], match["closing"]),
    ):
        if end and end[-1].isdigit():
            sides.append((_number(end, text), bracket in "()"))
        elif end and bracket in "[]":
            raise InvalidArgumentError("domain", text.strip(), _DOMAINS)
    for sign, number in _BOUND.findall(match["bounds"] or ""):
        above = sign[0] in ">≥" or sign.startswith(r"\g")
        (low if above else high).append((_number(number, text), sign in (">", "<", r"\gt", r"\lt")))
    if len(low) > 1 or len(high) > 1:
        raise InvalidArgumentError("domain", text.strip(), "one bound from below and one from above")
    if kind == "vector" and (low or high):
        raise InvalidArgumentError("domain", text.strip(), "`vector`, without bounds")
    domain = _Domain(kind, *(low[0] if low else (None, False)), *(high[0] if high else (None, False)))
    return _with_values(_of_integers(domain) if kind == "integer" else domain, text)


def _of_integers(domain: _Domain) -> _Domain:
    low, high = domain.lower, domain.upper
    if low is not None:
        low = Fraction(math.floor(low) + 1 if domain.lower_open else math.ceil(low))
    if high is not None:
        high = Fraction(math.ceil(high) - 1 if domain.upper_open else math.floor(high))
    return _Domain("integer", low, False, high, False)


def _with_values(domain: _Domain, text: str) -> _Domain:
    low, high = domain.lower, domain.upper
    if low is None or high is None or low < high:
        return domain
    if low > high or domain.lower_open or domain.upper_open:
        raise InvalidArgumentError("domain", text.strip(), "a domain with values in it")
    return domain


def _number(said: str, text: str) -> Fraction:
    try:
        return Fraction(re.sub(r"\s", "", said).replace("−", "-"))
    except ZeroDivisionError:
        raise InvalidArgumentError("domain", text.strip(), _DOMAINS) from None


def read_unit(text: str) -> Unit:
    """A unit such as `length^2 / loss`."""
    if text.strip() in _NAMED:
        return _NAMED[text.strip()]
    unit, at = Unit(), 0
    while match := _POWER.match(text, at):
        if at == 0 and match["sign"]:
            break
        exponent = int(re.sub(r"\s", "", match["power"] or "1").replace("−", "-"))
        unit = unit * _POWERS[match["base"]] ** (-exponent if match["sign"] == "/" else exponent)
        at = match.end()
    if text[at:].strip() or not at:
        raise InvalidArgumentError("unit", text.strip(), _UNITS)
    return unit


# ------------------------------------------------------------------------------------- what may be a letter


def single(parts: tuple[str, ...], start: int = 0) -> int:
    """The index behind the letter at `start`, with accent and scripts; `start` where there is none."""
    if start >= len(parts):
        return start
    stop = start + 1
    first = parts[start]
    if first in DRESS:
        stop = end_of_group(parts, stop)
    elif not (re.fullmatch(r"[A-Za-z]|\\operatorname\{[^{}]+\}", first) or first in _GREEK):
        return start
    if parts[stop : stop + 1] == ("_",):
        stop = end_of_group(parts, stop + 1)
    while parts[stop : stop + 1] == ("'",):
        stop += 1
    if parts[stop : stop + 4] in [
        ("^", "{", mark, "}") for mark in ("*", r"\star", r"\ast", "+", "-", r"\circ")
    ]:
        stop += 4
    return stop


_GREEK = frozenset(
    rf"\{name}"
    for line in (
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho varrho sigma",
        "varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell",
        "hbar nabla imath jmath wp Re Im",
    )
    for name in line.split()
)


def is_letter(latex: str) -> bool:
    """Whether LaTeX is one letter, with accents, subscripts and primes if it has them."""
    parts = texts(normal(latex))
    return single(parts) == len(parts)


def check_letter(latex: str, others: Sequence[Variable]) -> None:
    """Refuse a letter that a reader would read as something else.

    Raises:
        InvalidArgumentError: for what has no letter in it, for signs and relations, and for what the notation reads
            without it, as `\\pi`, `e`, `\\log x` and `x^2`, be it with letters that are not declared.
    """
    parts = texts(normal(latex))
    allowed = "a letter, such as `x`, `\\sigma` or `x_0'`; this is read as more than a letter, or has a meaning already"
    wrong = InvalidArgumentError("letter", Latex(latex), allowed)
    inside = [parts[i : single(parts, i)] for i in range(len(parts)) if single(parts, i) > i]
    signed = parts[0] in "+-*/,.:;!^_&'0123456789" or parts[0] in _SIGNS
    if not inside or signed or has_relation(latex):
        raise wrong
    own = {v.latex for v in others}
    new = dict.fromkeys("".join(some) for some in inside if some != parts)
    fresh = [real(f"new letter {k}", latex=_spaced(some)) for k, some in enumerate(new)]
    known: list[Variable] = list(others)
    for letter in fresh:
        try:
            Letters([*known, letter])
        except InvalidArgumentError:
            continue
        if letter.latex not in own:
            known.append(letter)
    for text in (latex, f"{latex}(1)", f"{latex}(1,1)", f"{latex}_{{1}}(1)", f"{latex}{{1}}"):
        try:
            read_display(f"{text}={text}", known)
        except InvalidArgumentError:
            continue
        if text == latex or is_letter(latex):
            raise wrong


_SIGNS = frozenset(
    (r"\cdot", r"\times", r"\infty", r"\frac", r"\sum", r"\prod", r"\int", r"\sqrt", r"\binom")
)


def _spaced(text: str) -> str:
    return re.sub(r"(\\[A-Za-z]+)(?=[A-Za-z])", r"\1 ", text)
