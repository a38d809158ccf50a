"""A page as it is written, and the statement that it makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Number, Variable, real
from dpverify.formulas.logic import Compare, Formula
from dpverify.formulas.notation import read_display
from dpverify.formulas.notation.tokens import Latex, normal, texts
from dpverify.ledger.verdicts import Coverage
from dpverify.proving.language import Statement
from dpverify.statements.pages.blocks import Errors, blocks, plain
from dpverify.statements.pages.letters import Letter, check_letter, is_letter, read_letters
from dpverify.statements.pages.notes import (
    Before,
    Note,
    both,
    line_of_error,
    read_after,
    read_before,
)
from dpverify.statements.pages.prose import Around, surroundings
from dpverify.statements.pages.uses import check_uses
from dpverify.statements.pages.words import Sentence
from dpverify.statements.sheet import Sheet

LARGEST = 1_000_000
"""Characters of a page at most."""


_Said = TypeVar("_Said", Before, Note)


@dataclass(frozen=True)
class Display:
    """A display as it is written, with what its sentence says."""

    line: int
    latex: str
    name: str
    """Empty where its sentence gives none."""
    note: Note
    defines: bool = False
    """Whether it is a definition, not a formula to be proved."""
    parameter: str = ""
    """Of a definition, the letter of which it is a function."""
    before: str = ""
    """The sentence before it, as it is written."""
    after: str = ""
    """The rest of its sentence."""


@dataclass(frozen=True)
class Page:
    """A Markdown page with a statement on it."""

    name: str
    """Of its file."""
    title: str
    letters: tuple[Letter, ...]
    displays: tuple[Display, ...]
    unread: tuple[int, ...]
    """The lines of sentences that are text, though formulas in them say something or they stand at a display."""
    statement: Statement

    def says(self) -> str:
        """What of its prose was not read; empty where that is nothing."""
        if not self.unread:
            return ""
        count, lines = len(self.unread), ", ".join(map(str, self.unread))
        plural = "s" * (count > 1)
        where = "with formulas, or beside displays or letters"
        return f"not read: {count} sentence{plural} of prose, {where} (line{plural} {lines})"


class PageError(InvalidArgumentError):
    """All that is wrong with a page, a line each.

    Attributes:
        name: of the file.
        errors: each with its line on the page, in the order of the page.
    """

    def __init__(self, name: str, errors: Errors) -> None:
        self.name = name
        self.errors = sorted(errors, key=lambda found: found[0])
        super().__init__("page", name, "a page without what is wrong with this one")
        said = (f"{name}, line {line}: {error}" for line, error in self.errors)
        self.args = ("\n".join(dict.fromkeys(said)),)

    def __reduce__(self) -> tuple[type, Any]:
        """Survive the trip back from a worker process."""
        return type(self), (self.name, self.errors)


def where_on(name: str, line: int) -> str:
    """Where a display stands, as evidence about it says; lines are counted from 1."""
    return f"{name}, line {line}"


def line_of(where: str) -> int:
    """The line that `where_on` names; 1 where none is named."""
    match = re.search(r", line (\d+)$", where)
    return int(match[1]) if match else 1


def read_page(path: Path) -> Page:
    """A page with its statement; docs/notation.md says how a page is written.

    Raises:
        InvalidArgumentError: for a file that cannot be read.
        PageError: for a page without letters or displays, and for all on it that is not understood.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgumentError("page", str(path), f"a text file that can be read ({error})") from None
    if len(text) > LARGEST:
        raise InvalidArgumentError("page", str(path), f"a file of at most {LARGEST} characters")
    return _Reader(path).page(text)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.errors: Errors = []
        self.undefined: list[str] = []
        """The left sides of definitions that are not understood."""

    def wrong(self, line: int, what: str, value: object, allowed: str) -> None:
        self.errors.append((line, InvalidArgumentError(what, value, allowed)))

    def page(self, text: str) -> Page:
        found = blocks(text, self.errors)
        title = next((plain(b.pieces) for b in found if b.kind == "heading"), "")
        letters = read_letters(found, self.errors)
        self.check_letters(letters)
        around, unread = surroundings(found, self.errors)
        displays = tuple(self.displays(around))
        if not letters and not self.errors:
            self.wrong(
                1,
                "page",
                self.path.name,
                "one with a table of letters, whose columns are `letter` and `domain`",
            )
        sheet = Sheet(
            self.path.stem, tuple(one.variable for one in letters), title=title, where=self.path.name
        )
        encoding = _Encoding(self.path.name, sheet, self.errors)
        for left in self.undefined:
            encoding.stand_in(left)
        sheet = encoding.of(displays)
        if not around and not self.errors:
            self.wrong(1, "page", self.path.name, "one with a formula between `$$` and `$$`")
        elif not sheet.rows and not self.errors:
            self.wrong(
                around[-1].display.line, "page", self.path.name, "one with a formula that is no definition"
            )
        if self.errors:
            raise PageError(self.path.name, self.errors)
        return Page(self.path.name, title, letters, displays, unread, sheet.statement)

    def check_letters(self, letters: Sequence[Letter]) -> None:
        for one in letters:
            others = [other.variable for other in letters if other is not one]
            try:
                check_letter(one.variable.latex, others)
            except InvalidArgumentError as error:
                self.errors.append((one.line, error))

    def displays(self, around: Sequence[Around]) -> Iterator[Display]:
        """The displays that are understood; of several in one sentence, only if it says nothing but a name."""
        lead = Before("", Note())
        for place in around:
            before, after = self.sentence(place.before, read_before), self.sentence(place.after, read_after)
            if not place.joined:
                lead = before or Before("", Note())
            elif lead.says or (before and before.says) or (after and after != Note() and not place.listed):
                allowed = "a sentence of its own: what is said of another display might be meant here, too"
                self.wrong(place.display.line, "display", Latex(place.display.latex), allowed)
            display = self.display(place, before, after)
            if display is not None:
                yield display

    def sentence(self, sentence: Sentence | None, read: Callable[[Sentence], _Said]) -> _Said | None:
        """What a sentence says; None where there is none, or it is not understood."""
        try:
            return None if sentence is None else read(sentence)
        except InvalidArgumentError as error:
            assert sentence is not None
            self.errors.append((line_of_error(error, sentence.line), error))
            return None

    def display(self, place: Around, before: Before | None, after: Note | None) -> Display | None:
        """A display with what its sentence says; None where that is not understood."""
        line, latex = place.display.line, place.display.latex
        if not latex:
            self.wrong(line, "display", Latex(latex), "a formula between the signs of a display")
        if not latex or (place.before and not before) or (place.after and not after):
            if place.before is not None and place.before.first in ("define", "let"):
                self.undefined.append(_sides(latex)[0])
            return None
        said = before or Before("", Note())
        note = said.note
        if after is not None:
            note = replace(note, given=(*note.given, *after.given), letters=(*note.letters, *after.letters))
        sentences = (str(place.before or ""), str(place.after or ""))
        return Display(line, latex, said.name, note, said.defines, said.parameter, *sentences)


class _Encoding:
    """Makes a sheet of the displays of a page."""

    def __init__(self, name: str, sheet: Sheet, errors: Errors) -> None:
        self.name, self.sheet, self.errors = name, sheet, errors

    def of(self, displays: Sequence[Display]) -> Sheet:
        lines: dict[str, int] = {}
        for display in displays:
            try:
                if display.defines:
                    self.define(display)
                    continue
                name = display.name or f"display {len(lines) + 1}"
                if name in lines:
                    raise InvalidArgumentError("name", name, "a name that no other display has")
                lines[name] = display.line
                self.add(name, display)
            except InvalidArgumentError as error:
                argument = error.argument.removeprefix(f"{self.sheet.id}/")
                said = InvalidArgumentError(argument, error.value, error.allowed)
                self.errors.append((line_of_error(error, display.line), said))
        check_uses(self.sheet, lines, self.errors)
        return self.sheet

    def add(self, name: str, display: Display) -> None:
        note, sheet = display.note, self.sheet
        options: dict[str, Any] = {"where": where_on(self.name, display.line)}
        for letters in note.letters:
            if read_display(rf"0=0 \text{{ for all }} {letters.latex}", sheet.letters).given:
                raise InvalidArgumentError(
                    "condition", Latex(letters.latex), "a formula with a relation, or letters"
                )
        if given := both(note.given):
            options["given"] = given.written()
        if note.coverage is Coverage.INSTANCE:
            options["case"] = note.case or "a special case"
        if note.box:
            options["box"] = self.box(note.box)
        said = {"reading": note.reading, "uses": note.uses, "soft": note.soft, "premises": note.premises}
        options |= {key: value for key, value in said.items() if value}
        if note.fixed:
            options["fixed"] = ", ".join(note.fixed)
        add = {
            Coverage.WHOLE: sheet.whole, Coverage.STEP: sheet.step, Coverage.CONDITION: sheet.condition,
            Coverage.REFERENCE: sheet.reference, Coverage.INSTANCE: sheet.instance,
        }[note.coverage]  # fmt: skip
        self.sheet = add(name, display.latex, **options).read()

    def box(self, formulas: Sequence[str]) -> Mapping[str, tuple[Fraction, Fraction]]:
        """`$0\\le x\\le 1$, $y\\in[0,2]$`: the ends for each letter."""
        found: dict[str, dict[str, Fraction]] = {}

        def end(name: str, side: str, value: Fraction, latex: str) -> None:
            if side in found.setdefault(name, {}):
                raise InvalidArgumentError("box", Latex(latex), "each end of a letter once")
            found[name][side] = value

        for latex in formulas:
            formula: Formula = read_display(latex, self.sheet.letters).claim
            for part in getattr(formula, "parts", (formula,)):
                match part:
                    case Compare("<=", Number(value), Variable(name)):
                        end(name, "low", value, latex)
                    case Compare("<=", Variable(name), Number(value)):
                        end(name, "high", value, latex)
                    case _:
                        found["?"] = {}
        if any(set(ends) != {"low", "high"} for ends in found.values()):
            allowed = r"both ends of each letter, such as `on $0\le x\le 1$`"
            raise InvalidArgumentError("box", Latex(", ".join(formulas)), allowed)
        return {name: (ends["low"], ends["high"]) for name, ends in found.items()}

    # ----------------------------------------------------------------------------------------- definitions

    def define(self, display: Display) -> None:
        """A definition: a letter that is not declared, `=`, and an expression."""
        note, (left, body) = display.note, _sides(display.latex)
        try:
            if note != replace(Note(), reading=note.reading):
                allowed = "nothing but `read as $...$`: a definition has no conditions, and is not proved"
                raise InvalidArgumentError("definition", display.before, allowed)
            if not body:
                raise InvalidArgumentError("definition", Latex(left), "a letter, `=` and its definition")
            parameter = self.parameter(display.parameter, left)
            self.check_left(left, parameter)
            self.sheet = self.sheet.define(left, body, parameter=parameter, reading=note.reading).read()
        except InvalidArgumentError:
            self.stand_in(left)
            raise

    def stand_in(self, left: str) -> None:
        """Declare the letter of a definition that is refused, so that what is made of it is read nonetheless."""
        with suppress(InvalidArgumentError):
            if is_letter(left) and not self.is_known(left):
                letter = real(f"undefined {left}", latex=left)
                self.sheet = replace(self.sheet, letters=(*self.sheet.letters, letter))

    def parameter(self, said: str, left: str) -> Variable | None:
        inner = _argument(left) if not said else texts(normal(said))
        if inner is None:
            return None
        found = next((v for v in self.sheet.letters if texts(normal(v.latex)) == inner), None)
        if found is None:
            raise InvalidArgumentError("parameter", Latex(said or left), "a letter of the table")
        return found

    def check_left(self, left: str, parameter: Variable | None) -> None:
        allowed = (
            "on the left of a definition a letter that is not declared, alone or with a declared one as its index or "
            "argument, and nothing else"
        )
        try:
            parts = texts(normal(left))
        except InvalidArgumentError:
            raise InvalidArgumentError("definition", Latex(left), allowed) from None
        base = left
        if parameter is not None and _argument(left) == texts(normal(parameter.latex)):
            base = left[: left.rindex(r"\left(" if r"\left(" in left else "(")]
        if not base.strip() or not is_letter(base) or self.is_known(base) or self.is_known(left):
            raise InvalidArgumentError("definition", Latex(left), allowed)
        known = [v for v in self.sheet.letters if texts(normal(v.latex)) != parts]
        try:
            check_letter(base, known)
        except InvalidArgumentError:
            raise InvalidArgumentError("definition", Latex(left), allowed) from None

    def is_known(self, latex: str) -> bool:
        form = texts(normal(latex))
        known = [v.latex for v in self.sheet.letters]
        for definition in self.sheet.definitions:
            known.append(definition.latex)
            if definition.parameter is not None and "(" in definition.latex:
                known.append(definition.latex[: definition.latex.rindex("(")].removesuffix(r"\left"))
        return form in [texts(normal(known_)) for known_ in known]


def _sides(latex: str) -> tuple[str, str]:
    """What a display defines, and as what; the latter is empty where it has no equality sign."""
    bare = re.sub(r"\\(?:begin|end)\{[a-z*]+\}|&", "", latex).strip().rstrip(" .,;")
    sign = re.search(r"\\coloneqq|:=|=", bare)
    return (bare, "") if sign is None else (bare[: sign.start()].strip(), bare[sign.end() :].strip())


def _argument(left: str) -> tuple[str, ...] | None:
    """Of `f(x)`, the x in pieces; None where there are no brackets at the end."""
    try:
        parts = texts(normal(left))
    except InvalidArgumentError:
        return None
    if parts[-1:] != (")",) or "(" not in parts:
        return None
    opening = len(parts) - 1 - parts[::-1].index("(")
    return parts[opening + 1 : -1] if opening else None
