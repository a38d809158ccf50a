"""A Markdown page as the blocks that a reader sees: prose, displays, tables, each piece with its line.

Markdown is parsed by markdown-it-py, dollars and environments by its plugins. Comments are not seen by a reader, so
they are not read; what looks like a formula and is none (an open `$$`, a display that is indented so far that it is
code) is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from dpverify.errors import InvalidArgumentError, reason_of
from dpverify.formulas.notation.tokens import Latex


@dataclass(frozen=True)
class Text:
    """Words; lines are counted from 1."""

    line: int
    text: str


@dataclass(frozen=True)
class Math:
    """A formula in a sentence, without its dollars."""

    line: int
    latex: str


@dataclass(frozen=True)
class ShownFormula:
    """A display, without what stands around it; the line is that on which it begins."""

    line: int
    latex: str


@dataclass(frozen=True)
class Other:
    """What is neither words nor a formula: code, an image, what is struck out."""

    line: int
    what: str
    text: str = ""


Piece = Text | Math | ShownFormula | Other


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    line: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class PageBlock:
    """A block without blocks in it: those of lists and quotes come one by one, in the order of the page."""

    kind: Literal["paragraph", "heading", "display", "table", "code", "rule", "footnote"]
    line: int
    pieces: tuple[Piece, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    """Of a table, its header first."""
    item: int = 0
    """The number of the item of a list in which it stands; 0 in none."""


class Errors(list[tuple[int, InvalidArgumentError]]):
    """What is wrong with a page, each with its line."""

    def wrong(self, line: int, what: str, value: object, allowed: str) -> None:
        """Add what was given in place of what is allowed."""
        self.append((line, InvalidArgumentError(what, value, allowed)))


class PageError(InvalidArgumentError):
    """All that is wrong with a page, a line each.

    Attributes:
        name: of the file.
        errors: each with its line on the page, in the order of the page.
    """

    def __init__(self, name: str, errors: Sequence[tuple[int, InvalidArgumentError]]) -> None:
        self.name = name
        self.errors = sorted(errors, key=lambda found: found[0])
        super().__init__("page", name, "a page without what is wrong with this one")
        said = (f"{name}, line {line}: {error}" for line, error in self.errors)
        self.args = ("\n".join(dict.fromkeys(said)),)

    def __reduce__(self) -> tuple[type, Any]:
        """Survive the trip back from a worker process."""
        return type(self), (self.name, self.errors)


def plain(pieces: Sequence[Piece]) -> str:
    """Pieces as words, formulas as their LaTeX."""
    parts = (piece.latex if isinstance(piece, Math | ShownFormula) else piece.text for piece in pieces)
    return " ".join("".join(parts).split())


def page_text(path: Path) -> str:
    """The text of a page.

    Raises:
        InvalidArgumentError: for a file that cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        allowed = f"a text file that can be read ({reason_of(error)})"
        raise InvalidArgumentError("page", str(path), allowed) from None


def blocks(text: str, errors: Errors) -> list[PageBlock]:
    """The blocks of a page; what cannot be read is added to the errors."""
    return list(_BlockWalk(_markdown().parse(text), errors).blocks())


# ------------------------------------------------------------------------------------------- the parser


_DEEPEST = 50
"""Levels of lists, quotes and emphasis at most; the parser leaves out what is deeper."""


@cache
def _markdown() -> MarkdownIt:
    found = MarkdownIt("commonmark", {"maxNesting": _DEEPEST + 10}).enable(["table", "strikethrough"])
    found.use(dollarmath_plugin, allow_labels=False, allow_blank_lines=False, double_inline=True)
    found.use(amsmath_plugin).use(footnote_plugin)
    plugin = next(rule.fn for rule in found.block.ruler.__rules__ if rule.name == "math_block")

    def math_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
        """The plugin's rule, where one display and nothing else is from dollars to dollars."""
        before = len(state.tokens), state.line
        if not plugin(state, first, last, silent):
            return False
        one = "$" not in state.tokens[-1].content
        if silent or not one:
            del state.tokens[before[0] :]
            state.line = before[1]
        return one

    ends = ["paragraph", "reference", "blockquote", "list", "footnote_def"]
    found.block.ruler.at("math_block", math_block, {"alt": ends})
    found.inline.ruler.before("escape", "math_bracket", _bracket)
    found.inline.ruler.after("math_bracket", "math_open", _left_open)
    return found


def _bracket(state: StateInline, silent: bool) -> bool:
    """`\\[...\\]` and `\\(...\\)`."""
    kinds = {r"\[": ("math_inline_double", r"\]"), r"\(": ("math_inline", r"\)")}
    opening = state.src[state.pos : state.pos + 2]
    if opening not in kinds:
        return False
    kind, closing = kinds[opening]
    end = state.src.find(closing, state.pos + 2)
    if end < 0:
        return False
    if not silent:
        state.push(kind, "math", 0).content = state.src[state.pos + 2 : end]
    state.pos = end + 2
    return True


def _left_open(state: StateInline, silent: bool) -> bool:
    """Signs of a display that has no other end; and a dollar that is one."""
    found = _SIGN_OF_DISPLAY.match(state.src, state.pos)
    if not found:
        return False
    if not silent:
        state.push("text" if found[0] == "$" else "math_open", "", 0).content = found[0]
    state.pos = found.end()
    return True


_SIGN_OF_DISPLAY = re.compile(r"\$\$|\\\[|\\\]|\\begin\{|\\\\[\[(]|\$")


# --------------------------------------------------------------------------------------------- the walk

_SIGNS = re.compile(r"\$|\\\[|\\\(|\\begin\{")
_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_PLAIN_TAG = re.compile(
    r"</?(?:br|hr|p|div|center|details|summary|span|sub|sup|b|i|em|strong|a)"
    r"(?:\s+(?:id|class|align|open|name|href)(?:=(?:\"[^\"]*\"|'[^']*'|\w+))?)*\s*/?>"
)
"""Of what changes the looks of what it stands around, and hides or strikes out nothing."""
_DISPLAY_SIGNS = re.compile(r"\$\$|\\\[|\\begin\{")


class _BlockWalk:
    def __init__(self, tokens: list[Token], errors: Errors) -> None:
        self.tokens, self.wrong = tokens, errors.wrong
        self.line = 1
        self.footnote = False
        self.items: list[int] = [0]
        """Of the lists within which it is, the numbers of the items; the first for none."""
        self.counted = 0

    def blocks(self) -> Iterator[PageBlock]:
        for block in self.bare():
            yield replace(block, item=self.items[-1])

    def bare(self) -> Iterator[PageBlock]:
        """The blocks, without their places in lists."""
        heading = False
        rows: list[list[Cell]] | None = None
        begun = 1
        for token in self.tokens:
            if token.map is not None:
                self.line = token.map[0] + 1
            if max([token.level, *(child.level for child in token.children or ())]) > _DEEPEST:
                allowed = f"lists, quotes and emphasis of at most {_DEEPEST} levels"
                self.wrong(self.line, "page", token.type, allowed)
                return
            match token.type:
                case "list_item_open":
                    self.counted += 1
                    self.items.append(self.counted)
                case "list_item_close":
                    self.items.pop()
                case "heading_open" | "heading_close":
                    heading = token.nesting > 0
                case "footnote_open" | "footnote_close":
                    self.footnote = token.nesting > 0
                case "table_open":
                    rows, begun = [], self.line
                case "tr_open" if rows is not None:
                    rows.append([])
                case "inline" if rows is not None:
                    rows[-1].append(Cell(self.line, tuple(self.pieces(token))))
                case "table_close" if rows is not None:
                    yield PageBlock("table", begun, rows=tuple(map(tuple, rows)))
                    rows = None
                case "inline":
                    kind: Any = "footnote" if self.footnote else "heading" if heading else "paragraph"
                    yield PageBlock(kind, self.line, tuple(self.pieces(token)))
                case _:
                    yield from self.leaf(token)

    def leaf(self, token: Token) -> Iterator[PageBlock]:
        """What has no words within other blocks."""
        match token.type:
            case "math_block" | "amsmath":
                yield self.display(token.content)
            case "fence" if token.info.split()[:1] == ["math"]:
                yield self.display(token.content)
            case "fence" | "code_block":
                yield self.code(token)
            case "html_block":
                yield from self.html(token)
            case "hr":
                yield PageBlock("rule", self.line)

    def display(self, latex: str) -> PageBlock:
        self.seen(self.line, latex)
        if self.footnote:
            self.wrong(self.line, "display", Latex(latex), "displays in the text, none in a footnote")
        return PageBlock("display", self.line, (ShownFormula(self.line, latex.strip()),))

    def seen(self, line: int, text: str) -> None:
        """Refuse characters that no reader sees: they could part a word that is to be understood."""
        for sign in text:
            if unicodedata.category(sign) in ("Cf", "Cc", "Co", "Cn") and sign not in "\n\t":
                self.wrong(line, "character", f"U+{ord(sign):04X}", "characters that a reader sees")
                return

    def code(self, token: Token) -> PageBlock:
        if token.type == "code_block" and _DISPLAY_SIGNS.search(token.content):
            allowed = "a display that is indented by less than four characters: this is code"
            self.wrong(self.line, "display", Latex(token.content), allowed)
        return PageBlock("code", self.line)

    def html(self, token: Token) -> Iterator[PageBlock]:
        """What is in a comment is not read; words between tags are words, formulas there are refused."""
        rest = self.without_comments(self.line, token.content)
        for tag in _TAG.findall(rest):
            if not _PLAIN_TAG.fullmatch(tag):
                self.wrong(self.line, "HTML", tag, "tags such as `<div>` and `<details>`, which hide nothing")
        words = _TAG.sub(" ", rest)
        if _SIGNS.search(words):
            self.wrong(self.line, "formula", Latex(words), "formulas in Markdown, none within HTML")
        elif words.strip():
            yield PageBlock("paragraph", self.line, (Text(self.line, words),))

    def without_comments(self, line: int, html: str) -> str:
        if any(not match[1] for match in _COMMENT.finditer(html)):
            self.wrong(line, "comment", html.strip(), "a comment that ends with `-->`")
        return _COMMENT.sub(" ", html)

    # ------------------------------------------------------------------------------------------- sentences

    def pieces(self, inline: Token) -> Iterator[Piece]:
        line, struck = self.line, 0
        for token in inline.children or ():
            content = token.content
            self.seen(line, content)
            match token.type:
                case "softbreak" | "hardbreak":
                    line += 1
                    yield Text(line, " ")
                case "math_inline" | "math_inline_double" if struck:
                    yield Other(line, "struck out", content)
                case "math_inline":
                    # forges also read dollars with backticks inside of them
                    latex = content[1:-1] if content[:1] == content[-1:] == "`" else content
                    yield Math(line, latex.strip())
                case "math_inline_double":
                    yield ShownFormula(line, content.strip())
                case "math_open":
                    allowed = "both ends of a display, without an empty line in it"
                    self.wrong(line, "display", Latex(content), allowed)
                case "text":
                    yield Other(line, "struck out", content) if struck else Text(line, content)
                case "code_inline":
                    yield Other(line, "code", content)
                case "html_inline":
                    rest = self.without_comments(line, content).strip()
                    if rest and not _PLAIN_TAG.fullmatch(rest):
                        yield Other(line, "HTML")
                case "image":
                    yield Other(line, "an image")
                    if _SIGNS.search(content):
                        self.wrong(line, "formula", Latex(content), "formulas in the text, none in an image")
                case "s_open":
                    struck += 1
                case "s_close":
                    struck -= 1
            line += content.count("\n")
