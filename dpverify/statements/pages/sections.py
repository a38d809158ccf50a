"""The statements of a page, and what stands in the list and the table right behind a display or a heading.

A heading that ends with `{#id}` begins a statement, which goes on to the next one. Behind a display, items of a list
may say more of it: `key: words`, words that are shown and change nothing, and items of a note, which are read as
those in parentheses are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dpverify.errors import InvalidArgumentError
from dpverify.statements.pages.blocks import Block, Errors, Piece, Shown, Text, plain
from dpverify.statements.pages.letters import HERE
from dpverify.statements.pages.words import KEYWORDS, Part, Sentence, parts

OF_A_DISPLAY = ("place", "because", "true if", "case", "catches", "consequence")
OF_A_STATEMENT = ("title", "letters", "pairs", "uses", "because", "replaces")
_ID = re.compile(r"\s*\{#(?P<id>[\w.-]+)\}$")
_KEY = re.compile(rf"({'|'.join(dict.fromkeys((*OF_A_DISPLAY, *OF_A_STATEMENT)))}):\s*")


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
    letters: list[Block] = field(default_factory=list)
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
class Section:
    """A statement of a page, or all of a page that has none with an id."""

    id: str
    """Empty for what stands before the first statement of a page."""
    heading: str
    line: int
    blocks: tuple[Block, ...]
    said: Behind
    """Of the statement, behind its heading."""
    behind: Mapping[Shown, Behind]
    """Of each display that has something behind it."""


def ids_on(text: str) -> tuple[str, ...]:
    """The ids of the statements of a page, found without reading it."""
    return tuple(dict.fromkeys(re.findall(r"^#+ .*\{#([\w.-]+)\}\s*$", text, re.MULTILINE)))


def sections(blocks: Sequence[Block], errors: Errors) -> list[Section]:
    """The parts of a page, in its order; the first has no id, and may be empty."""
    parts_: list[tuple[str, Block | None, list[Block]]] = [("", None, [])]
    for block in blocks:
        match = _ID.search(plain(block.pieces)) if block.kind == "heading" else None
        if match:
            parts_.append((match["id"], block, []))
        else:
            parts_[-1][2].append(block)
    return [_section(id_, heading, inside, errors) for id_, heading, inside in parts_]


def _section(id_: str, heading: Block | None, inside: Sequence[Block], errors: Errors) -> Section:
    said, behind, kept = Behind(), dict[Shown, Behind](), list[Block]()
    last: Behind | None = said if heading is not None else None
    keys = OF_A_STATEMENT
    for block in inside:
        if last is not None and _attached(block, last, keys, errors):
            if kept and kept[-1].kind != "rule":
                kept.append(Block("rule", block.line))  # it ends the sentence of the display
            continue
        kept.append(block)
        last = None
        shown = [piece for piece in block.pieces if isinstance(piece, Shown)]
        if shown and block.kind in ("paragraph", "display"):
            last = behind.setdefault(shown[-1], Behind())
            keys = OF_A_DISPLAY
    name = "" if heading is None else _ID.sub("", plain(heading.pieces))
    return Section(id_, name, heading.line if heading else 1, tuple(kept), said, behind)


def _attached(block: Block, to: Behind, keys: Sequence[str], errors: Errors) -> bool:
    """Whether a block says something of what it stands behind."""
    if block.kind == "table" and block.rows and plain(block.rows[0][0].pieces).lower() == HERE:
        to.letters.append(block)
        return True
    first = block.pieces[0] if block.pieces else None
    if block.kind != "paragraph" or not block.item or not isinstance(first, Text):
        return False
    match = _KEY.match(first.text)
    if match and match[1] in keys:
        if match[1] in to.entries:
            wrong = InvalidArgumentError("list", match[0].strip(), "each said once")
            errors.append((block.line, wrong))
        rest = replace(first, text=first.text[match.end() :])
        to.entries[match[1]] = Entry(block.line, (rest, *block.pieces[1:]))
        return True
    inside = tuple(parts(block.pieces))
    if keys is not OF_A_DISPLAY or not inside or not _is_item(inside):
        return False
    opening, closing = (Part("mark", sign, block.line, False) for sign in "()")
    to.notes.append(Sentence((opening, *inside, closing), ""))
    return True


def _is_item(inside: Sequence[Part]) -> bool:
    words = [part.text for part in inside[:2]]
    return words[0] in KEYWORDS or " ".join(words) in KEYWORDS
