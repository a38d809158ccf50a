"""LaTeX as what stands on the page: marks in a row, each with what hangs below it and what stands above it.

This is how TeX itself takes a formula apart, before anything in it means anything. Braces that enclose no script and no
argument show nothing and leave nothing; what looks the same comes out the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

LONGEST = 4000
"""Characters of one formula at most."""
DEEPEST = 30
"""Braces within braces at most."""


class RefusedError(ValueError):
    """A formula that this reader does not read; the message says what and why."""


def refuse(wrong: object, says: str, at: int | None = None) -> None:
    """Refuse the formula if something is wrong with it, at a place perhaps."""
    if wrong:
        raise RefusedError(says if at is None else f"{says}, at character {at + 1}")


@dataclass(frozen=True)
class PrintedMark:
    """A letter, digit, sign or command on the page."""

    text: str  # in one spelling; `\text{...}` with its words
    inside: tuple[Row, ...] = ()  # what a command such as `\frac` or `\hat` is applied to
    below: Row = ()  # its subscript
    primes: int = 0
    above: Row = ()  # its superscript
    side: str = field(
        default="", compare=False
    )  # `l` or `r` where the source says on which side a bar stands
    gap: float = field(default=0, compare=False)  # the space before it, in eighteenths of the width of an M
    broken: bool = field(default=False, compare=False)  # whether a new line begins with it
    start: int = field(default=0, compare=False)  # its place in the source
    end: int = field(default=0, compare=False)  # the place after it, scripts left out

    @property
    def scripted(self) -> bool:
        """Whether it has any script."""
        return bool(self.below or self.primes or self.above)


Row = tuple[PrintedMark, ...]
_PRIME = PrintedMark(r"\prime")

_SPELLINGS = {
    r"\leq": r"\le", r"\leqslant": r"\le", r"\geq": r"\ge", r"\geqslant": r"\ge", r"\neq": r"\ne", r"\lt": "<",
    r"\gt": ">", r"\wedge": r"\land", r"\vee": r"\lor", r"\lnot": r"\neg", r"\Rightarrow": r"\implies",
    r"\Longrightarrow": r"\implies", r"\Leftrightarrow": r"\iff", r"\Longleftrightarrow": r"\iff",
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom", r"\tbinom": r"\binom",
    r"\lbrace": r"\{", r"\rbrace": r"\}", r"\Vert": r"\|", r"\vert": "|", r"\lbrack": "[", r"\rbrack": "]",
    r"\colon": ":",
}  # fmt: skip
_SIDED = {r"\lvert": ("|", "l"), r"\rvert": ("|", "r"), r"\lVert": (r"\|", "l"), r"\rVert": (r"\|", "r")}
_SPACES = {
    r"\,": 3, r"\thinspace": 3, r"\:": 4, r"\>": 4, r"\medspace": 4, r"\;": 5, r"\thickspace": 5, "\\ ": 6, "~": 6,
    r"\!": -3, r"\quad": 18, r"\qquad": 36, r"\enspace": 9, "&": 18, " ": 0, "\t": 0, "\r": 0, "\n": 6,
    **dict.fromkeys((r"\displaystyle", r"\textstyle", r"\scriptstyle", r"\limits", r"\nolimits"), 0),
    **dict.fromkeys((r"\nonumber", r"\notag", r"\strut", r"\mathstrut", r"\allowbreak"), 0),
}  # fmt: skip
"""Commands that show nothing, and the space that they leave."""
_POINTS = {"pt": 1.0, "pc": 12.0, "mm": 2.845, "cm": 28.45, "in": 72.27, "em": 10.0, "ex": 4.4, "mu": 10 / 18}
"""Units of length in points; an M is ten of them wide."""
_GAPS = dict.fromkeys((r"\hspace", r"\hspace*", r"\phantom", r"\hphantom"), 18) | dict.fromkeys(
    (r"\label", r"\tag", r"\tag*", r"\vphantom"), 0
)
"""Commands whose argument is not shown, and the space that they leave where it is not said."""
_WORDS = (r"\text", r"\textrm", r"\textnormal", r"\textit", r"\mbox")
_SCRIPTS = ("_", "^", "'")
_SIZES = re.compile(r"\\(?:left|right|middle|[bB]igg?[lrm]?)$")
_APPLIED = {r"\frac": 2, r"\binom": 2, r"\sqrt": 1} | dict.fromkeys(
    (
        r"\mathrm", r"\mathbb", r"\mathcal", r"\mathbf", r"\mathsf", r"\mathit", r"\mathfrak", r"\mathscr",
        r"\boldsymbol", r"\bm", r"\hat", r"\widehat", r"\tilde", r"\widetilde", r"\bar", r"\overline", r"\vec",
        r"\dot", r"\ddot", r"\check", r"\breve", r"\underline",
    ),
    1,
)  # fmt: skip
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789()[]+-*/=<>|!,.:;{}_^'")
_TOKEN = re.compile(
    r"""(?P<line>\\\\\*?(?:\[\s*-?[\d.]+\s*[a-z]{2}\s*\])?(?P<height>\[)?)
    |(?P<gap>(?P<of>\\(?:hspace\*?|tag\*?|label|[hv]?phantom))\s*\{(?P<argument>(?:[^{}]|\{[^{}]*\})*)\})
    |(?P<frame>\\(?P<end>begin|end)\{(?P<which>aligned|align\*?|split|equation\*?|gathered|gather\*?)\}(?:\[[tbc]\])?)
    |(?P<words>\\(?:text(?:rm|normal|it)?|mbox)\s*\{(?P<said>[^{}]*)\})
    |(?P<name>\\(?:operatorname\*?\s*\{\s*|mathrm\s*\{\s*(?=[A-Za-z]\s*[A-Za-z]))(?P<called>[A-Za-z][A-Za-z\s]*)\})
    |(?P<sign>\\operatorname\*|\\[A-Za-z]+|\\.|.)""",
    re.DOTALL | re.VERBOSE,
)


class _Token(NamedTuple):
    """What shows something, or groups it, with the space before it."""

    text: str
    start: int
    end: int
    gap: float
    broken: bool


def _tokens(latex: str) -> Iterator[_Token]:
    gap, broken, frames = 0.0, False, list[str]()
    for found in _TOKEN.finditer(latex):
        text, start = found[0], found.start()
        if found["line"]:
            refuse(found["height"], "a bracket that could be the height of a line", start)
            broken = True
        elif found["gap"]:
            gap += _width(found["of"], found["argument"], start)
        elif found["end"] == "begin":
            frames.append(found["which"])
        elif found["end"]:
            refuse(
                not frames or frames.pop() != found["which"], f"`{text}` ends what did not begin last", start
            )
        elif text in _SPACES:
            gap += _SPACES[text]
        else:
            if found["words"]:
                text = f"\\text{{{' '.join(found['said'].split())}}}"
            elif found["name"]:
                text = f"\\name{{{' '.join(found['called'].split())}}}"
            else:
                known = text[1:].rstrip("*").isalpha() or text in _PLAIN or text in (r"\{", r"\}", r"\|")
                refuse(not known or text in (*_GAPS, *_WORDS), f"`{text}` is no sign of the notation", start)
            yield _Token(text, start, found.end(), gap, broken)
            gap, broken = 0.0, False
    refuse(frames, r"an `\end` is missing", len(latex))


def _width(command: str, argument: str, at: int) -> float:
    """The space that is left by what is not shown, or is a number beside the formula."""
    number = re.fullmatch(r"[\s(]*[A-Za-z]?[.\d]*[a-z]?[*'†‡]*[\s)]*", argument)
    refuse(command.startswith(r"\tag") and not number, "a tag that could be a condition", at)
    said = re.fullmatch(r"\s*(-?\d*\.?\d+)\s*([a-z]{2})\s*", argument)
    width = _GAPS[command]
    return 1.8 * float(said[1]) * _POINTS[said[2]] if said and said[2] in _POINTS and width else width


@lru_cache(maxsize=4096)
def marks(latex: str) -> Row:
    """A formula's marks."""
    if not latex.strip() or len(latex) > LONGEST:
        raise RefusedError(f"a formula is not empty and has at most {LONGEST} characters")
    page = _Page(latex)
    found = page.row("", 0)
    page.refuse(page.peek(), f"a `{page.peek()}` without its partner")
    return found


class _Page:
    """Reads tokens from one on; the space before the next mark is what was passed on the way to it."""

    def __init__(self, latex: str) -> None:
        self.latex, self.at = latex, 0
        self.tokens = [*_tokens(latex), _Token("", len(latex), len(latex), 0, False)]
        self.gap, self.broken = self.tokens[0].gap, self.tokens[0].broken

    def refuse(self, wrong: object, says: str) -> None:
        """Refuse the formula if something is wrong with it."""
        refuse(wrong, says, self.tokens[self.at].start)

    def peek(self) -> str:
        """The next token; nothing at the end."""
        return self.tokens[self.at].text

    def next(self, count: int = 1) -> _Token:
        """The next token, which is passed."""
        token = self.tokens[self.at]
        self.at += count
        self.gap += self.tokens[self.at].gap
        self.broken = self.broken or self.tokens[self.at].broken
        return token

    def space(self) -> tuple[float, bool]:
        """What is before a mark: the gap, and whether a line begins."""
        found, self.gap, self.broken = (self.gap, self.broken), 0.0, False
        return found

    def row(self, closing: str, depth: int) -> Row:
        """Marks up to a closing brace or bracket, or to the end."""
        self.refuse(depth > DEEPEST, f"braces are nested more than {DEEPEST} deep")
        out: list[PrintedMark] = []
        while (sign := self.peek()) not in ("", closing, "}"):
            self.refuse(sign in _SCRIPTS, "a script that hangs on nothing")
            out += self.scripted(self.group(depth), depth)
        self.refuse(closing and sign != closing, f"a `{closing}` is missing")
        if closing:
            self.next()
        return tuple(out)

    def group(self, depth: int) -> Row:
        """A mark, or what is in braces."""
        if self.peek() != "{":
            return self.mark(depth)
        self.next()
        return self.row("}", depth + 1)

    def scripted(self, base: Row, depth: int) -> Row:
        """What was read with the scripts that follow it."""
        found: dict[str, Row] = {"_": (), "^": ()}
        primes = 0
        while (sign := self.peek()) in _SCRIPTS:
            self.next()
            script = (_PRIME,) if sign == "'" else self.script(sign, depth)
            self.refuse(found["^"] and sign == "'", "a prime behind a superscript")
            if sign != "_" and all(mark == _PRIME for mark in script):
                primes += len(script)
                continue
            self.refuse(found[sign], f"a second `{sign}`")
            found[sign] = script
        below, above = found["_"], found["^"]
        if not (below or above or primes):
            return base
        self.refuse(len(base) != 1, "a script that does not hang on one sign")
        (mark,) = base
        twice = (mark.below and below) or (mark.above and (above or primes)) or mark.text == r"\left."
        self.refuse(twice, "scripts upon scripts")
        below, above = below or mark.below, above or mark.above
        return (replace(mark, below=below, primes=mark.primes + primes, above=above),)

    def script(self, kind: str, depth: int) -> Row:
        """What stands behind `_` or `^`."""
        first = self.tokens[self.at]
        self.refuse(first.text == "'" and kind == "^", "a prime in a superscript; it needs no `^`")
        if match := re.compile(r"\{\s*('+)\s*\}").match(self.latex, first.start):
            self.next(2 + len(match[1]))
            return (_PRIME,) * len(match[1])
        gap, broken = self.space()
        found = self.group(depth + 1)
        following = self.tokens[self.at]
        self.gap, self.broken = gap + following.gap, broken or following.broken
        self.refuse(not found, "an empty script")
        behind = self.latex[self.tokens[self.at - 1].end :][:1]
        long = found[0].text in ("+", "-") or (found[0].text.isdigit() and behind.isdigit())
        unclear = first.text != "{" and long and behind not in ("", "}")
        self.refuse(unclear, "a script of two signs without braces around it")
        return found

    def mark(self, depth: int) -> Row:
        """The next mark with what it is applied to; nothing where only its size is said."""
        size = self.next().text if _SIZES.match(self.peek()) else ""
        if self.peek() in ("", "{", "}", *_SCRIPTS):
            return ()
        gap, broken = self.space()
        token = self.next()
        side = size[1:2] if size in (r"\left", r"\right") else size[-1:]
        text, own = _SIDED.get(token.text, (_SPELLINGS.get(token.text, token.text), ""))
        if text == "." and size in (r"\left", r"\right"):
            text = size + "."
        side = own or (side if text in ("|", r"\|") and side in "lr" else "")
        inside = tuple(self.arguments(text, depth)) if text in _APPLIED else ()
        end = self.tokens[self.at - 1].end
        return (PrintedMark(text, inside, side=side, gap=gap, broken=broken, start=token.start, end=end),)

    def arguments(self, text: str, depth: int) -> Iterator[Row]:
        """What a command is applied to; of a root, its order first."""
        if text == r"\sqrt":
            order = self.peek() == "["
            if order:
                self.next()
            yield self.row("]", depth + 1) if order else ()
        for _ in range(_APPLIED[text]):
            missing = self.peek() in ("", "}", *_SCRIPTS)
            found = () if missing else self.group(depth + 1)
            empty = not found and text in (r"\frac", r"\binom", r"\sqrt")
            self.refuse(missing or empty, f"`{text}` is applied to nothing")
            yield found


def spelled(row: Row) -> list[str]:
    """A row in flat pieces with braces, for comparing parts of formulas sign by sign."""
    out: list[str] = []
    for mark in row:
        out.append(mark.text)
        for inner in mark.inside:
            out += ["{", *spelled(inner), "}"]
        if mark.below:
            out += ["_", "{", *spelled(mark.below), "}"]
        out += ["'"] * mark.primes
        if mark.above:
            out += ["^", "{", *spelled(mark.above), "}"]
    return out
