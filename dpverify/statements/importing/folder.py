"""A paper as a folder of pages: pages that `dpverify prove` reads, and a list of questions to the author."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError, reason_of
from dpverify.files import write_whole
from dpverify.statements.importing.other_sources import SIGN, from_markdown, from_text
from dpverify.statements.importing.reading import PaperReader
from dpverify.statements.importing.records import ImportCounts, ImportedRow, ImportedSection
from dpverify.statements.importing.source import ExpandedSource
from dpverify.statements.importing.structure import SourceFormula, SourceStructure
from dpverify.statements.pages.blocks import PageError
from dpverify.statements.pages.page import read_page

QUESTIONS = "import/questions.md"
"""In the folder, apart from its pages."""
LARGEST = 5_000_000
"""Characters of a source at most."""


@dataclass(frozen=True)
class Imported:
    """What was made of a paper."""

    folder: Path
    pages: tuple[str, ...]
    counts: ImportCounts
    outside: Mapping[str, int]
    """Of relations that are refused, how many are about what formulas of pages do not have."""
    statements: int
    """Statements and texts with at least one formula that is read."""
    questions: int


@dataclass
class _PageText:
    """A page, with the rows that each of its lines is about, and the letters that it declares."""

    text: str
    rows: dict[int, Sequence[ImportedRow]]
    letters: dict[int, tuple[ImportedSection, str]]


def import_paper(path: Path, out: Path) -> Imported:
    """Read a paper and write its folder.

    Args:
        path: LaTeX (`.tex`), Markdown (`.md`), or the text of a PDF (`.txt`).
        out: the folder; it must not exist, or be empty.

    Raises:
        InvalidArgumentError: for a file or a folder that is none of these.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InvalidArgumentError("--out", str(out), "a folder that does not exist yet, or is empty")
    title, reader = _read(path)
    _Folder(reader, title, path, out).check()
    return _Folder(reader, title, path, out).write()


def _read(path: Path) -> tuple[str, PaperReader]:
    allowed = "a file of LaTeX (.tex), Markdown (.md) or a PDF's text (.txt)"
    require(path.suffix in (".tex", ".md", ".txt"), "source", str(path), allowed)
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        text = path.read_text("latin-1")
    except OSError as error:
        raise InvalidArgumentError(
            "source", str(path), f"a file that can be read: {reason_of(error)}"
        ) from None
    require(len(text) <= LARGEST, "source", str(path), f"a file of at most {LARGEST} characters")
    damaged: list[tuple[int, str, str]] = []
    if path.suffix == ".md":
        text = from_markdown(text)
    elif path.suffix == ".txt":
        text, damaged = from_text(text)
    expanded = ExpandedSource(path, text)
    found = SourceStructure(expanded)
    if path.suffix == ".txt":
        for sentence in (sentence for part in found.parts for sentence in part.sentences):
            sentence[:] = (replace(i, torn=True) if isinstance(i, SourceFormula) else i for i in sentence)
    key = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "paper"
    reader = PaperReader(found.parts, _free(key))
    for line, said, reason in damaged:
        reader.refuse(SourceFormula((), line, path.name, False), said, reason, len(SIGN.findall(said)))
    reader.run()
    reader.refusals += [(file, line, "", reason) for file, line, reason in expanded.left]
    return found.title or path.stem, reader


def _free(key: str) -> str:
    """A key that no registered paper has."""
    from dpverify.statements.own_pages import COLLECTIONS
    from dpverify.statements.paper import registered

    return f"{key}-imported" if key in registered() or key in COLLECTIONS else key


@dataclass
class _Folder:
    reader: PaperReader
    title: str
    path: Path
    out: Path

    def pages(self) -> dict[str, _PageText]:
        """The pages by name: one for each section of the paper."""
        sections: dict[str, list[ImportedSection]] = {}
        for section in self.reader.sections:
            if section.rows:
                slug = re.sub(r"[^a-z0-9]+", "-", section.part.section.lower()).strip("-")[:40]
                sections.setdefault(slug or "paper", []).append(section)
        return {f"{name}.md": self.page(found) for name, found in sections.items()}

    def page(self, sections: Sequence[ImportedSection]) -> _PageText:
        written = _PageText("", {1: [row for section in sections for row in section.rows]}, {})
        lines = [f"# {_plain(sections[0].part.section or self.title)}", ""]
        known = [s.id for s in self.reader.sections if s.rows]
        for section in sections:
            start = len(lines) + 1
            lines += [f"## {_plain(section.part.title or 'Text')} {{#{section.id}}}", ""]
            before = known[: known.index(section.id)]
            uses = [used for used in dict.fromkeys(section.uses) if used in before]
            lines += [f"- title: {_plain(section.part.title or 'Text')}, line {section.part.line}"]
            lines += [f"- uses: {', '.join(uses)}"] if uses else []
            lines += ["", *self.head(section, "letter", "meaning")]
            for letter, domain, why in self.letters(section):
                written.letters[len(lines) + 1] = section, letter
                lines.append(self.cells(section, letter, domain, why, section.meanings.get(letter, ""), ""))
            for term, domain, why in self.terms(section):
                lines.append(self.cells(section, term, domain, why, "", "one letter"))
            lines.append("")
            written.rows |= dict.fromkeys(range(start, len(lines) + 1), section.rows)
            self.name_rows(section)
            for row in section.rows:
                start = len(lines) + 1
                lines += [*self.row(section, row), ""]
                written.rows |= dict.fromkeys(range(start, len(lines) + 1), (row,))
        written.text = "\n".join(lines).rstrip() + "\n"
        return written

    def letters(self, section: ImportedSection) -> Iterator[tuple[str, str, str]]:
        """Letters of a section, with domain and why it is guessed; of indices alone, that they are whole numbers."""
        for letter in dict.fromkeys(letter for row in section.rows for letter in row.letters):
            bound = all(letter in row.bound for row in section.rows if letter in row.letters)
            yield letter, *(("integer", "") if bound else self.reader.domain(section, letter))

    def terms(self, section: ImportedSection) -> Iterator[tuple[str, str, str]]:
        """Of a section without letters, its terms: every statement has a table."""
        if not any(row.letters for row in section.rows):
            rows = {term: row for row in section.rows for term in row.opaque}
            yield from ((term, *self.reader.declared(section, row, term)) for term, row in rows.items())

    def measured(self, section: ImportedSection) -> bool:
        """Whether a letter of a section has a known unit."""
        units = {self.reader.unit(section, *told)[0] for told in self.letters(section)}
        return bool(units - {"", "unknown"})

    def head(self, section: ImportedSection, first: str, *more: str) -> tuple[str, str]:
        """The head of a table of letters, with units where some are known."""
        columns = (first, "domain", *["unit"] * self.measured(section), *more, "stands for", "guessed")
        return f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"

    def cells(self, section: ImportedSection, letter: str, domain: str, why: str, *more: str) -> str:
        """The row of a letter in its table, with what is guessed of it."""
        unit, doubt = self.reader.unit(section, letter, domain, why)
        said = re.sub(r"\\\||\|", lambda m: r"\\|" if m[0] == r"\|" else r"\|", letter)
        guessed = " and ".join(["domain"] * bool(why) + ["unit"] * bool(doubt))
        return f"| {' | '.join((f'$`{said}`$', domain, *[unit] * self.measured(section), *more, guessed))} |"

    @staticmethod
    def name_rows(section: ImportedSection) -> None:
        """Names by lines; of several on one line, with a number."""
        taken = Counter[int]()
        for row in section.rows:
            taken[row.line] += 1
            row.name = f"line-{row.line}" + (f"-{taken[row.line]}" if taken[row.line] > 1 else "")

    def row(self, section: ImportedSection, row: ImportedRow) -> Iterator[str]:
        """The lines of a display."""
        mark = "guessed" if row.questions else "torn" if row.torn else "partial"
        reading = f"; read as $`{row.reading}`$" if row.reading else ""
        yield f"`{row.name}` (step; {mark}{reading}):"
        yield f"$${row.latex}$$"
        yield from (f"- given $`{condition}`$" for condition in row.given)
        yield f"- place: {row.file}, line {row.line}"
        general = {letter: (domain, why) for letter, domain, why in self.letters(section)}
        here = [v for v in row.letters if self.reader.declared(section, row, v) != general[v]]
        apart = {term for term, *_ in self.terms(section)}
        terms = [term for term in row.opaque if term not in apart]
        if here or terms:
            yield from ("", *self.head(section, "letter here"))
            for number, letter in enumerate((*here, *terms)):
                domain, why = self.reader.declared(section, row, letter)
                yield self.cells(section, letter, domain, why, "one letter" if number >= len(here) else "")

    def unmeasured(self, section: ImportedSection, row: ImportedRow) -> Iterator[str]:
        """What is asked of a row that has letters with units and others without."""
        told = ((v, *self.reader.declared(section, row, v)) for v in (*row.letters, *row.opaque))
        units = {one[0]: self.reader.unit(section, *one) for one in told}
        unknown = [f"$`{v}`$" for v, (unit, _) in units.items() if unit == "unknown"]
        if unknown and any(doubt for _, doubt in units.values()):
            yield f"in which unit is {', '.join(unknown)}? Without it, units are not compared."

    def check(self) -> None:
        """Read the pages as they will be read; what is refused there is no row."""
        import tempfile

        for _ in range(6):
            dropped: list[tuple[ImportedRow, str]] = []
            with tempfile.TemporaryDirectory() as folder:
                for name, page in self.pages().items():
                    file = Path(folder) / name
                    file.write_text(page.text, encoding="utf-8")
                    dropped += self.faults(file, page)
            if not dropped:
                return
            for row, reason in dropped:
                self.drop(row, reason)
        raise InvalidArgumentError("source", str(self.path), "one whose pages are read as they were written")

    def faults(self, file: Path, page: _PageText) -> Iterator[tuple[ImportedRow, str]]:
        try:
            found = read_page(file)
        except PageError as error:
            for line, one in error.errors:
                rows = page.rows.get(line, page.rows[1])
                if line in page.letters:
                    section, letter = page.letters[line]
                    section.meanings.pop(letter, None)
                    rows = [row for row in rows if letter in row.letters and one.argument != "meaning"]
                yield from ((row, str(one)) for row in rows)
            return
        for display in found.displays:
            (row,) = page.rows[display.line]
            if display.latex.strip() != row.latex or len(display.note.given) != len(row.given):
                yield row, "its page says something else"

    def drop(self, row: ImportedRow, reason: str) -> None:
        """Refuse what was read."""
        for section in self.reader.sections:
            if row in section.rows:
                section.rows = [other for other in section.rows if other is not row]
                counts = self.reader.counts
                counts.guessed -= row.signs * row.guessed
                counts.read -= row.signs * (not row.guessed)
                counts.refused += row.signs
                self.reader.refusals.append((row.file, row.line, row.latex, reason))
                return

    def write(self) -> Imported:
        """Write pages and questions."""
        pages = self.pages()
        self.out.mkdir(parents=True, exist_ok=True)
        for name, page in pages.items():
            write_whole(self.out / name, page.text.encode())
        text, number = self.questions()
        (self.out / QUESTIONS).parent.mkdir(exist_ok=True)
        write_whole(self.out / QUESTIONS, text.encode())
        statements = sum(bool(section.rows) for section in self.reader.sections)
        return Imported(self.out, tuple(pages), self.reader.counts, self.reader.outside, statements, number)

    def questions(self) -> tuple[str, int]:
        """The list of questions, and how many there are."""
        counts = self.reader.counts
        lines = [
            f"# Questions about {_plain(self.title)}", "",
            f"{counts.relations} relations: {counts.read} read, {counts.guessed} guessed, {counts.refused} refused.",
            "", "## Questions to the author", "",
        ]  # fmt: skip
        asked = defaultdict[str, dict[str, None]](dict)
        for section in self.reader.sections:
            if section.rows:
                for letter, domain, why in self.letters(section):
                    rows = [row for row in section.rows if letter in row.letters]
                    if why and (domain, why) in (self.reader.declared(section, row, letter) for row in rows):
                        asked[f"Is $`{letter}`$ {_in_words(domain)}? ({why})"][section.id] = None
                    unit, doubt = self.reader.unit(section, letter, domain, why)
                    if doubt:
                        asked[f"Is $`{letter}`$ in the unit {unit}? ({doubt})"][section.id] = None
            for row in section.rows:
                terms = [term for term in row.opaque if self.reader.declared(section, row, term)[1]]
                asks = [
                    *row.questions,
                    *(f"Is $`{term}`$ a number?" for term in terms),
                    *self.unmeasured(section, row),
                ]
                for question in asks:
                    asked[question[0].upper() + question[1:]][f"{section.id}/{row.name}"] = None
            for latex, line in section.conditions:
                if latex not in section.used and section.rows:
                    asked[f"Line {line}: the condition $`{latex}`$ is used nowhere. Is it needed?"] = {}
        for number, (question, where) in enumerate(asked.items(), 1):
            places = f" [{', '.join(where)}]" if where else ""
            lines.append(f"{number}. {question}{places}")
        lines += [
            "", "`dpverify import FOLDER --accept` says yes to all. To answer one, edit its page: domain or unit in",
            "the table of letters and its cell `guessed`, or `guessed` in the parentheses before a display. `partial`",
            "there says that the sentences around are not read to the last word, so that a condition may be missing:",
            "the formula is proved or undecided, never refuted. Take it away where nothing is missing, or everywhere",
            "with `--accept --whole`.", "", "## Steps and settings, which claim nothing", "",
        ]  # fmt: skip
        for file, line, latex, place in self.reader.settings:
            lines.append(f"- {file}, line {line}: `{latex}` in {place}")
        lines += ["", "## Not read", ""]
        for file, line, latex, reason in sorted(self.reader.refusals, key=lambda r: (r[0], r[1])):
            lines.append(f"- {file}, line {line}: {f'`{latex}`: ' if latex else ''}{reason}")
        return "\n".join(lines) + "\n", len(asked)


def _in_words(domain: str) -> str:
    kinds = {"real": "a real number", "vector": "a vector", "integer": "a whole number"}
    said = domain.replace("integer", "a whole number", 1)
    return kinds.get(domain) or (said if said != domain else f"in the domain `{domain}`")


def _plain(title: str) -> str:
    """A title without what Markdown would read in it."""
    return " ".join(re.sub(r"[^\w .,:()'-]", " ", re.sub(r"\\[A-Za-z]+", " ", title)).split()) or "Untitled"


_ROW = re.compile(r"^(`[\w-]+` \(step; )guessed(.*\):)$", re.MULTILINE)
_TABLE = re.compile(r"(^\| letter.*\| guessed *\|? *\n(?:\|.*\n?)*)", re.MULTILINE)
_GUESS = re.compile(r"\| (?:domain|unit|domain and unit) *\|? *$", re.MULTILINE)
_PARTIAL = re.compile(r"^(`[\w-]+` \(step); partial(.*\):)$", re.MULTILINE)


def accept(folder: Path, *, whole: bool = False) -> int:
    """Take what is guessed on the pages of a folder as said; how many marks that were.

    Args:
        folder: with pages that were imported.
        whole: whether nothing is missing around the formulas, so that they may be refuted.

    Raises:
        InvalidArgumentError: for a folder without pages.
    """
    files = sorted(folder.glob("*.md"))
    require(files, "folder", str(folder), "one with Markdown pages in it")
    number = 0
    for file in files:
        text, rows = _ROW.subn(r"\1partial\2", file.read_text("utf-8"))
        text = _PARTIAL.sub(r"\1\2", text) if whole else text
        pieces = [_GUESS.subn("|  |", t) if k % 2 else (t, 0) for k, t in enumerate(_TABLE.split(text))]
        number += rows + sum(found for _, found in pieces)
        write_whole(file, "".join(said for said, _ in pieces).encode())
    return number
