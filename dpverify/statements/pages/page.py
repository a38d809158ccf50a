"""A page as it is written, and the statements that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Variable
from dpverify.formulas.notation.tokens import Latex, normal, texts
from dpverify.ledger.verdicts import Variant
from dpverify.proving.language import Statement
from dpverify.statements.pages.blocks import Errors, Math, PageError, Text, blocks, page_text, plain
from dpverify.statements.pages.encoding import Encoding, PageDisplay, defined_by, sides
from dpverify.statements.pages.letters import PageLetter, check_letter, read_letters
from dpverify.statements.pages.notes import LeadingWords, Note, line_of_error, read_after, read_before
from dpverify.statements.pages.prose import Around, surroundings
from dpverify.statements.pages.sections import Behind, PageSection, sections
from dpverify.statements.pages.words import Sentence
from dpverify.statements.sheet import Sheet

LARGEST = 1_000_000
"""Characters of a page at most."""
SHARED = "letters.md"
"""The file beside pages whose letters all of them have."""


_Said = TypeVar("_Said", LeadingWords, Note)


@dataclass(frozen=True)
class Page:
    """A Markdown page with statements on it."""

    name: str
    """Of its file."""
    title: str
    letters: tuple[PageLetter, ...]
    displays: tuple[PageDisplay, ...]
    unread: tuple[int, ...]
    """The lines of sentences that are text, though formulas in them say something or they stand at a display."""
    sheets: tuple[Sheet, ...]
    """In their order; several may be of one statement."""
    lines: Mapping[tuple[str, str, Variant], int]
    """Of its formulas, each by statement, name and variant."""

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Its statements, in their order."""
        return statements_of(self.sheets)

    @property
    def statement(self) -> Statement:
        """The only one.

        Raises:
            InvalidArgumentError: where there are several.
        """
        require(len(self.statements) == 1, "page", self.name, "a page with one statement")
        return self.statements[0]

    def summary(self) -> str:
        """What of its prose was not read; empty where that is nothing."""
        if not self.unread:
            return ""
        count, lines = len(self.unread), ", ".join(map(str, self.unread))
        plural = "s" * (count > 1)
        where = "with formulas, or beside displays or letters"
        return f"not read: {count} sentence{plural} of prose, {where} (line{plural} {lines})"


def read_page(path: Path, *, at_once: bool = True, prefix: str = "") -> Page:
    """A page with its statements; docs/notation.md says how a page is written.

    Letters of `letters.md` beside it are letters of each of its statements, but for those that it declares itself.

    Args:
        path: of the page.
        at_once: whether every display is read at once, by both readers, and not when it is asked for.
        prefix: what stands before the name of a page that has no ids, and so is one of several.

    Raises:
        InvalidArgumentError: for a file that cannot be read.
        PageError: for a page without letters or displays, and for all on it that is not understood.
    """
    return _PageReader(path, at_once, prefix).page()


def _text(path: Path) -> str:
    text = page_text(path)
    require(len(text) <= LARGEST, "page", str(path), f"a file of at most {LARGEST} characters")
    return text


def statements_of(sheets: Iterable[Sheet]) -> tuple[Statement, ...]:
    """The statements of sheets; what several say of one is put together."""
    found: dict[str, Sheet] = {}
    for sheet in sheets:
        first = found.get(sheet.id)
        found[sheet.id] = sheet if first is None else first.including(sheet)
    return tuple(sheet.statement for sheet in found.values())


def read_shared(path: Path) -> tuple[PageLetter, ...]:
    """The letters of a file that holds nothing else.

    Raises:
        InvalidArgumentError: for a file that cannot be read.
        PageError: for what is wrong in its tables.
    """
    errors = Errors()
    found = read_letters(blocks(_text(path), errors), errors)
    if errors:
        raise PageError(path.name, errors)
    return found


class _PageReader:
    def __init__(self, path: Path, at_once: bool, prefix: str) -> None:
        self.path, self.at_once = path, at_once
        self.name = f"{prefix}.{path.stem}" if prefix else path.stem
        self.errors = Errors()
        self.wrong = self.errors.wrong
        self.letters: list[PageLetter] = []
        self.found: list[PageDisplay] = []
        self.unread: list[int] = []
        self.lines: dict[tuple[str, str, Variant], int] = {}
        beside = path.with_name(SHARED)
        shared = beside.is_file() and path.name != SHARED
        found = read_shared(beside) if shared else ()
        self.shared = tuple(one.variable for one in found)
        self.guessed = {one.variable for one in found if one.guessed}

    def page(self) -> Page:
        found = blocks(_text(self.path), self.errors)
        title = next((plain(b.pieces) for b in found if b.kind == "heading"), "")
        before, *named = sections(found, self.errors)
        if named:
            own = read_letters(before.blocks, self.errors)
            self.letters += own
            self.guessed |= {one.variable for one in own if one.guessed}
            around, unread = surroundings(before.blocks, self.errors)
            self.unread += unread
            for place in around:
                allowed = "displays below a heading with the id of their statement"
                self.wrong(place.display.line, "display", Latex(place.display.latex), allowed)
            self.shared = _together(self.shared, own, ())
            sheets = [self.sheet(part, part.id, part.heading, part.said.text("title")) for part in named]
        else:
            sheets = [self.sheet(before, self.name, self.path.name, title)]
        if not self.errors:
            self.check_said_once(named or [before], sheets)
        if self.errors:
            raise PageError(self.path.name, self.errors)
        return Page(
            self.path.name, title, tuple(self.letters), tuple(self.found), tuple(sorted(self.unread)),
            tuple(sheets), self.lines,
        )  # fmt: skip

    def check_said_once(self, sections: Sequence[PageSection], sheets: Sequence[Sheet]) -> None:
        """What is said of a statement stands behind its first heading; what is said of a correction has one."""
        corrected = {sheet.id for sheet in sheets if sheet.corrected_rows}
        seen = set[str]()
        for part, sheet in zip(sections, sheets, strict=True):
            for key, entry in part.said.entries.items():
                if sheet.id in seen and key != "letters":
                    self.wrong(entry.line, "list", f"{key}:", "it behind the first heading with this id")
            if sheet.id not in corrected and (sheet.because or sheet.corrected_latex):
                allowed = (
                    "a reason or a text for readers beside a display that begins with `Corrected` and is read"
                )
                self.wrong(part.line, "correction", sheet.id, allowed)
            seen.add(sheet.id)

    def sheet(self, section: PageSection, id_: str, where: str, title: str) -> Sheet:
        """The sheet of a statement."""
        own = read_letters(section.blocks, self.errors)
        self.letters += own
        if self.at_once:
            self.check_letters(own)
        around, unread = surroundings(section.blocks, self.errors)
        self.unread += unread
        undefined: list[str] = []
        displays = tuple(self.displays(around, section, undefined))
        defined = [left for d in displays if d.defines for left in defined_by(d.latex)]
        letters = _together(self.listed(section), own, defined)
        self.found += displays
        if not letters and not self.errors:
            allowed = "one with a table of letters, whose columns are `letter` and `domain`"
            self.wrong(section.line, "page", self.path.name, allowed)
        sheet = Sheet(
            id_, letters, title=title, where=where, pairs=section.said.names("pairs"),
            uses=section.said.names("uses"),
        )  # fmt: skip
        guessed = (self.guessed - {one.variable for one in own}) | {o.variable for o in own if o.guessed}
        encoding = Encoding(self.path.name, sheet, section.id == "", self.at_once, self.errors, guessed)
        for left in undefined:
            encoding.stand_in(left)
        sheet = encoding.of(displays, section.said)
        for variant, lines in ((Variant.PRINTED, encoding.lines), (Variant.CORRECTED, encoding.corrected)):
            self.lines |= {(id_, name, variant): line for name, line in lines.items()}
        if not around and not self.errors:
            self.wrong(section.line, "page", self.path.name, "one with a formula between `$$` and `$$`")
        elif not sheet.rows and not sheet.corrected_rows and not self.errors:
            allowed = "one with a formula that is no definition"
            self.wrong(around[-1].display.line, "page", self.path.name, allowed)
        return sheet

    def listed(self, section: PageSection) -> tuple[Variable, ...]:
        """The shared letters that a statement lists; all where it has no list."""
        entry = section.said.entries.get("letters")
        if entry is None:
            return self.shared
        if entry.text == "none":
            return ()
        known = {texts(normal(v.latex)): v for v in self.shared}
        found = list[Variable]()
        for piece in entry.pieces:
            match piece:
                case Math(line, latex) if (form := texts(normal(latex))) in known:
                    found.append(known[form])
                case Math(line, latex) | Text(line, latex) if latex.strip(" ,"):
                    allowed = (
                        f"letters of {SHARED}, or of the page, between dollars, with commas between them"
                    )
                    self.wrong(line, "letters", latex.strip(), allowed)
        return tuple(found)

    def check_letters(self, letters: Sequence[PageLetter]) -> None:
        for one in letters:
            if one.settled:
                continue
            others = [other.variable for other in letters if other is not one]
            try:
                check_letter(one.variable.latex, others)
            except InvalidArgumentError as error:
                self.errors.append((one.line, error))

    def displays(
        self, around: Sequence[Around], section: PageSection, undefined: list[str]
    ) -> Iterator[PageDisplay]:
        """The displays that are understood; of several in one sentence, only if it says nothing but a name."""
        lead = LeadingWords("", Note())
        for place in around:
            behind = section.behind.get(place.display, Behind())
            before = self.sentence(place.before, partial(read_before, more=behind.notes))
            after = self.sentence(place.after, read_after)
            if not place.joined:
                lead = before or LeadingWords("", Note())
            elif (
                lead.says_more
                or (before and before.says_more)
                or (after and after != Note() and not place.listed)
            ):
                allowed = "a sentence of its own: what is said of another display might be meant here, too"
                self.wrong(place.display.line, "display", Latex(place.display.latex), allowed)
            if behind.notes and place.before is None:
                allowed = "a sentence before the display that the list is about"
                self.wrong(place.display.line, "list", str(behind.notes[0]), allowed)
            display = self.display(place, before, after, behind, undefined)
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

    def display(
        self,
        place: Around,
        before: LeadingWords | None,
        after: Note | None,
        behind: Behind,
        undefined: list[str],
    ) -> PageDisplay | None:
        """A display with what its sentence says; None where that is not understood."""
        line, latex = place.display.line, place.display.latex
        if not latex:
            self.wrong(line, "display", Latex(latex), "a formula between the signs of a display")
        if not latex or (place.before and not before) or (place.after and not after):
            if place.before is not None and place.before.first in ("define", "let"):
                undefined.append(sides(latex)[0])
            return None
        said = before or LeadingWords("", Note())
        note = said.note
        if after is not None:
            note = replace(note, given=(*note.given, *after.given), letters=(*note.letters, *after.letters))
        return PageDisplay(line, latex, said, note, behind, str(place.before or ""), str(place.after or ""))


def _together(
    shared: Sequence[Variable], own: Sequence[PageLetter], defined: Sequence[str]
) -> tuple[Variable, ...]:
    """Letters of all pages and those of one; what this declares or defines takes the place of what is written so."""
    new = [one.variable for one in own]
    names, forms = {v.name for v in new}, set(_forms((*(v.latex for v in new), *defined)))
    kept = (v for v in shared if v.name not in names and texts(normal(v.latex)) not in forms)
    return (*kept, *new)


def _forms(written: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """LaTeX as signs; nothing of what has none, which is refused elsewhere."""
    for latex in written:
        with suppress(InvalidArgumentError):
            yield texts(normal(latex))
