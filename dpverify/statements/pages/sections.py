"""The statements of a page, and what stands in the list and the table right behind a display or a heading.

A heading that ends with `{#id}` begins a statement, which goes on to the next one. Behind a display, items of a list
may say more of it: `key: words`, words that are shown and change nothing, and items of a note, which are read as
those in parentheses are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dpverify.statements.pages.blocks import Errors, PageBlock, Piece, ShownFormula, Text, plain
from dpverify.statements.pages.letters import HERE
from dpverify.statements.pages.words import KEYWORDS, Sentence, SentencePart, parts

OF_A_DISPLAY = ("place", "because", "true if", "case", "catches", "consequence")
OF_A_STATEMENT = ("title", "letters", "pairs", "uses", "because", "replaces")
_ID = re.compile(r"\s*\{#(?P<id>[\w.-]+)\}$")
_KEY = re.compile(rf"({'|'.join(dict.fromkeys((*OF_A_DISPLAY, *OF_A_STATEMENT)))}):\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """An item of a list, `key: words`."""

    line: int
    pieces: tuple[Piece, ...]
    """Behind the key."""

    @property
    def text(self) -> str:
        """Its words, formulas as their LaTeX."""
        return plain(self.pieces)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in it, with commas between them."""
        return tuple(name.strip() for name in self.text.split(",") if name.strip())


@dataclass
class Behind:
    """What stands right behind a display, or a heading."""

    entries: dict[str, Entry] = field(default_factory=dict)
    notes: list[Sentence] = field(default_factory=list)
    """Items of a note, each in parentheses."""
    letters: list[PageBlock] = field(default_factory=list)
    """Tables of letters for the display alone."""

    def text(self, key: str) -> str:
        """The words of an entry; empty where there is none."""
        found = self.entries.get(key)
        return found.text if found else ""

    def names(self, key: str) -> tuple[str, ...]:
        """The names of an entry; none where there is none."""
        found = self.entries.get(key)
        return found.names if found else ()


@dataclass(frozen=True)
class PageSection:
    """A statement of a page, or all of a page that has none with an id."""

    id: str
    """Empty for what stands before the first statement of a page."""
    heading: str
    line: int
    blocks: tuple[PageBlock, ...]
    said: Behind
    """Of the statement, behind its heading."""
    behind: Mapping[ShownFormula, Behind]
    """Of each display that has something behind it."""


def ids_on(text: str) -> tuple[str, ...]:
    """The ids of the statements of a page of the program, found without parsing it."""
    return tuple(dict.fromkeys(re.findall(r"^#+ .*\{#([\w.-]+)\}\s*$", text, re.MULTILINE)))


def section_ids(blocks: Sequence[PageBlock]) -> list[tuple[str, PageBlock | None, list[PageBlock]]]:
    """Id, heading and blocks of the parts of a page, in its order; the first has neither id nor heading."""
    parts_: list[tuple[str, PageBlock | None, list[PageBlock]]] = [("", None, [])]
    for block in blocks:
        match = _ID.search(plain(block.pieces)) if block.kind == "heading" else None
        if match:
            parts_.append((match["id"], block, []))
        else:
            parts_[-1][2].append(block)
    return parts_


def sections(blocks: Sequence[PageBlock], errors: Errors) -> list[PageSection]:
    """The parts of a page, in its order; the first has no id, and may be empty."""
    return [_section(id_, heading, inside, errors) for id_, heading, inside in section_ids(blocks)]


def _section(id_: str, heading: PageBlock | None, inside: Sequence[PageBlock], errors: Errors) -> PageSection:
    said, behind, kept = Behind(), dict[ShownFormula, Behind](), list[PageBlock]()
    last: Behind | None = said if heading is not None else None
    keys = OF_A_STATEMENT
    for block in inside:
        if last is not None and _attached(block, last, keys, errors):
            if kept and kept[-1].kind != "rule":
                kept.append(PageBlock("rule", block.line))  # it ends the sentence of the display
            continue
        _check_apart(block, errors)
        kept.append(block)
        last = None
        shown = [piece for piece in block.pieces if isinstance(piece, ShownFormula)]
        if shown and block.kind in ("paragraph", "display"):
            last = behind.setdefault(shown[-1], Behind())
            keys = OF_A_DISPLAY
    name = "" if heading is None else _ID.sub("", plain(heading.pieces))
    return PageSection(id_, name, heading.line if heading else 1, tuple(kept), said, behind)


def _attached(block: PageBlock, to: Behind, keys: Sequence[str], errors: Errors) -> bool:
    """Whether a block says something of what it stands behind."""
    of_a_display = keys is OF_A_DISPLAY
    if of_a_display and _declares_here(block):
        to.letters.append(block)
        return True
    found = _entry(block)
    if found is not None and found[0] in keys:
        key, entry = found
        if key in to.entries or not entry.text:
            errors.wrong(block.line, "list", f"{key}:", "each said once, with words behind it")
        to.entries[key] = entry
        return True
    if not of_a_display or not _is_item(block):
        return False
    opening, closing = (SentencePart("mark", sign, block.line, False) for sign in "()")
    to.notes.append(Sentence((opening, *parts(block.pieces), closing), ""))
    return True


def _check_apart(block: PageBlock, errors: Errors) -> None:
    """Refuse what would say something of a display or a statement, did it stand right behind it."""
    found = _entry(block)
    if found is not None:
        key = found[0]
        places = (OF_A_DISPLAY, "its display"), (OF_A_STATEMENT, "a heading with an id")
        behind = [where for keys, where in places if key in keys]
        allowed = f"`{key}:` in the list right behind {' or '.join(behind)}"
        errors.wrong(block.line, "list", plain(block.pieces), allowed)
    elif block.item and _is_item(block) and len(tuple(parts(block.pieces))) == 1:
        allowed = "an item of a note in the list right behind its display"
        errors.wrong(block.line, "list", plain(block.pieces), allowed)
    elif _declares_here(block):
        allowed = f"a table of letters whose column is `letter`; with `{HERE}` right behind its display"
        errors.wrong(block.line, "table", HERE, allowed)


def _entry(block: PageBlock) -> tuple[str, Entry] | None:
    """The key of an item of a list, and its words; None for what is no such item."""
    first = block.pieces[0] if block.pieces else None
    if block.kind != "paragraph" or not block.item or not isinstance(first, Text):
        return None
    match = _KEY.match(first.text)
    if match is None:
        return None
    rest = replace(first, text=first.text[match.end() :])
    return match[1].lower(), Entry(block.line, (rest, *block.pieces[1:]))


def _declares_here(block: PageBlock) -> bool:
    return bool(block.kind == "table" and block.rows) and plain(block.rows[0][0].pieces).lower() == HERE


def _is_item(block: PageBlock) -> bool:
    """Whether an item of a list begins as one of a note does."""
    words = [part.text for part in tuple(parts(block.pieces))[:2]]
    if block.kind != "paragraph" or not block.item or not isinstance(block.pieces[0], Text) or not words:
        return False
    return words[0] in KEYWORDS or " ".join(words) in KEYWORDS
