"""Which sentences belong to which display, and what of the prose is not read.

The rule, as docs/notation.md states it: a paragraph right before or behind a display belongs to it. Its last sentence
before the display leads to it, the rest of the display's own sentence behind it may hold conditions; a formula, or a
condition in words, anywhere else in such a paragraph is refused. Prose elsewhere is text: its sentences with formulas
that say something are counted, and refused where they suppose something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dpverify.formulas.notation.tokens import Latex
from dpverify.statements.pages.blocks import Errors, PageBlock, Piece, ShownFormula, plain
from dpverify.statements.pages.words import (
    KEYWORDS,
    WORDS,
    Sentence,
    SentencePart,
    restricts,
    sentences,
    spelled,
)

_UNTRUE = ("hold", "true", "valid", "correct", "proved", "proven", "always", "")
"""Behind `not`."""
_WORDED = re.compile(r"[^\s.,;]")
"""What is more than the sign at the end of a display's sentence."""
_BESIDE = (
    "no formula beside a display but in its sentence, as a condition: write `given $...$` in the note of each display "
    "that it is about, or move the sentence away from displays"
)


@dataclass(frozen=True)
class Around:
    """A display with the sentences that it stands in."""

    display: ShownFormula
    before: Sentence | None = None
    after: Sentence | None = None
    joined: bool = False
    """Whether no sentence ends between the display before and this one: what is said there might be meant here, too."""
    listed: bool = False
    """Whether it stands in an item of a list that begins behind the display before."""


@dataclass(frozen=True)
class _Leaf:
    """A display, or prose without displays in it; all else keeps apart what stands on its sides."""

    block: int
    """The number of the block in which it stands."""
    shown: ShownFormula | None = None
    prose: tuple[Piece, ...] = ()
    cells: tuple[tuple[Piece, ...], ...] = ()
    """Of a table that is none of letters."""
    apart: bool = False
    """Whether it is neither prose nor a display, and keeps apart what stands on its sides."""
    declares: bool = False
    """Whether it is a table of letters."""


def surroundings(blocks: Sequence[PageBlock], errors: Errors) -> tuple[list[Around], tuple[int, ...]]:
    """Every display with its sentences, and the lines of the sentences whose formulas were not read."""
    leaves = list(_leaves(blocks, errors))
    reader = _Prose(errors)
    found: dict[int, Around] = {
        i: Around(leaf.shown) for i, leaf in enumerate(leaves) if leaf.shown is not None
    }
    for i, leaf in enumerate(leaves):
        behind, ahead = i - 1 in found, i + 1 in found
        for sentence in (s for cell in leaf.cells for s in sentences(cell)):
            if behind or ahead:
                reader.beside(sentence)
            elif sentence.relations:
                reader.unread.add(sentence.line)
        if not leaf.prose:
            continue
        rest = sentences(leaf.prose)
        if (
            ahead
            and rest
            and rest[-1].end != "."
            and not (behind and len(rest) == 1 and rest[0].goes_on and rest[0].end != ":")
        ):
            found[i + 1] = replace(found[i + 1], before=rest.pop())
        if behind and rest and rest[0].goes_on:
            end = rest.pop(0)
            alone = leaves[i - 1].block == leaf.block != leaves[i + 1].block if ahead else True
            if alone or found[i + 1].before is not None or not reader.could_begin(end):
                found[i - 1] = replace(found[i - 1], after=end)
        lead = found[i + 1].before if ahead else None
        if behind and lead is not None and not rest and not lead.parts[0].begins and reader.could_begin(lead):
            found[i + 1] = replace(found[i + 1], before=None)
        table = any(other.declares for other in (*leaves[max(i - 1, 0) : i], *leaves[i + 1 : i + 2]))
        for sentence in rest:
            if table and sentence.relations:
                reader.at_letters(sentence)
                continue
            (reader.beside if behind or ahead else reader.apart)(sentence)
            if table and any(part.word in WORDS["restricting"] for part in sentence.parts):
                reader.unread.add(sentence.line)
    for block in blocks:
        reader.block(block)
    _join(found, leaves, blocks)
    return [found[i] for i in sorted(found)], tuple(sorted(reader.unread))


def _join(found: dict[int, Around], leaves: Sequence[_Leaf], blocks: Sequence[PageBlock]) -> None:
    """Say of each display whether it stands in one sentence with the one before."""
    for i, j in ((i, i + k) for i in found for k in (1, 2) if i + k in found):
        between = leaves[i + 1].prose if j == i + 2 else ()
        if _joins(sentences(between)) and not any(leaf.cells or leaf.apart for leaf in leaves[i + 1 : j]):
            items = [blocks[leaves[k].block].item for k in (i, j)]
            found[j] = replace(found[j], joined=True, listed=items[1] not in (0, items[0]))


def _joins(between: Sequence[Sentence]) -> bool:
    """Whether two displays with this between them stand in one sentence."""
    return not between or (len(between) == 1 and between[0].end != "." and not between[0].parts[0].begins)


def _leaves(blocks: Sequence[PageBlock], errors: Errors) -> Iterator[_Leaf]:
    for number, block in enumerate(blocks):
        if block.kind in ("display", "paragraph"):
            run: list[Piece] = []
            for piece in block.pieces:
                if isinstance(piece, ShownFormula):
                    if _WORDED.search(plain(run)):
                        yield _Leaf(number, prose=tuple(run))
                    yield _Leaf(number, shown=piece)
                    run = []
                else:
                    run.append(piece)
            if _WORDED.search(plain(run)):
                yield _Leaf(number, prose=tuple(run))
            continue
        cells = tuple(cell.pieces for row in block.rows for cell in row)
        declares = looks_like_letters(block)
        yield _Leaf(number, cells=() if declares else cells, apart=True, declares=declares)
        for piece in (p for pieces in (block.pieces, *cells) for p in pieces):
            if isinstance(piece, ShownFormula):
                allowed = f"displays in the text, none in a {block.kind}"
                errors.wrong(piece.line, "display", Latex(piece.latex), allowed)


class _Prose:
    """Refuses what would be a condition that nobody reads; counts what is text."""

    def __init__(self, errors: Errors) -> None:
        self.wrong = errors.wrong
        self.unread: set[int] = set()

    def could_begin(self, sentence: Sentence) -> bool:
        """Whether a condition between two displays could be of either; that is refused."""
        ended = sentence.end == "." and not sentence.parts[0].begins
        if ended or not (sentence.relations or any(_conditions(sentence))):
            return False
        allowed = "a period behind the condition, or a colon and a capital letter, that say which display it is about"
        self.wrong(sentence.parts[0].line, "condition", str(sentence), allowed)
        return True

    def beside(self, sentence: Sentence) -> None:
        """In a paragraph at a display, but in no display's sentence."""
        for part in sentence.relations:
            self.wrong(part.line, "formula", Latex(part.text), _BESIDE)
        if sentence.relations:
            return
        other = next((p for p in sentence.parts if p.kind == "other"), None)
        condition = next(iter(_conditions(sentence)), other)
        if condition is not None:
            allowed = (
                "no condition in words beside a display: write `given $...$` in its note, or move it away"
            )
            self.wrong(condition.line, "sentence", str(sentence), allowed)
        elif sentence.first in ("define", "let"):
            allowed = "a definition that ends with a colon, right before its display"
            self.wrong(sentence.parts[0].line, "definition", str(sentence), allowed)
        elif len(sentence.parts) > 1:
            self.unread.add(sentence.line)
        self.notes(sentence)

    def at_letters(self, sentence: Sentence) -> None:
        """Beside a table of letters: it would be a condition on them."""
        allowed = "no formula that says something beside a table of letters: it belongs into `domain`"
        self.wrong(sentence.relations[0].line, "formula", str(sentence), allowed)

    def apart(self, sentence: Sentence) -> None:
        """Where no display is near."""
        says = sentence.relations
        if sentence.supposes and (says or sentence.end == ":" or any(_said_of_letters(sentence))):
            allowed = (
                "conditions in the table of letters, or in the notes of displays: elsewhere they are not read"
            )
            self.wrong(sentence.parts[0].line, "sentence", str(sentence), allowed)
        elif says and all(part.kind in ("math", "mark", "sign") for part in sentence.parts):
            allowed = "a formula between words, as text, or a display"
            self.wrong(says[0].line, "formula", str(sentence), allowed)
        elif says:
            self.unread.add(sentence.line)
        self.notes(sentence)

    def notes(self, sentence: Sentence) -> None:
        """A note that stands at no display."""
        for i, part in enumerate(sentence.parts):
            two = spelled(sentence.parts[i + 1 : i + 3])
            word = sentence.parts[i + 1].text if i + 1 < len(sentence.parts) else ""
            begins = word in ("given", "uses", "premises", "instance", "soft") or two in KEYWORDS
            if part.text == "(" and (begins or _is_note(sentence, i)):
                allowed = "a note in the sentence right before its display"
                self.wrong(part.line, "note", spelled(sentence.parts[i:]), allowed)

    def block(self, block: PageBlock) -> None:
        """Headings and footnotes are text without conditions."""
        if block.kind not in ("heading", "footnote"):
            return
        for sentence in sentences(block.pieces):
            self.notes(sentence)
            if block.kind == "footnote":
                self.unread.add(sentence.line)
            part = next(iter((*sentence.relations, *_conditions(sentence))), None)
            if part is not None:
                allowed = f"nothing that says when something holds, in a {block.kind}: it is not read"
                self.wrong(part.line, block.kind, str(sentence), allowed)


def _is_note(sentence: Sentence, opening: int) -> bool:
    """Whether parentheses hold one keyword and nothing else, or keywords and a semicolon."""
    words = [part.text for part in sentence.parts[opening + 1 : opening + 3]]
    return words[1:] in ([")"], [";"]) and words[0] in KEYWORDS.keys() - {"on", "instance"}


def _conditions(sentence: Sentence) -> Iterator[SentencePart]:
    """The words in a sentence that make it a condition."""
    yield from _said_of_letters(sentence)
    for part, following in pairwise((*sentence.parts, SentencePart("mark", "", 0, False))):
        untrue = part.word in WORDS["denying"] or (part.word == "not" and following.word in _UNTRUE)
        if part.word in WORDS["in_words"] or untrue or (part.word == "for" and restricts(following)):
            yield part


def _said_of_letters(sentence: Sentence) -> Iterator[SentencePart]:
    """The words behind a formula, or behind `is` and the like in a sentence with one, that say something of letters."""
    before = ""
    for part in sentence.parts if any(part.kind == "math" for part in sentence.parts) else ():
        if part.word in WORDS["restricting"] and (before in WORDS["saying"] or before == "$"):
            yield part
        if part.word not in ("a", "an", "the"):
            before = "$" if part.kind == "math" else part.word


def looks_like_letters(block: PageBlock) -> bool:
    """Whether a table is one of letters, or seems to be meant as one."""
    names = {
        plain(cell.pieces).strip("*_` ").lower().removesuffix("s") for row in block.rows[:1] for cell in row
    }
    return not names.isdisjoint(("letter", "symbol", "variable", "domain"))
