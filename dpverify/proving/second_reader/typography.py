"""LaTeX as what stands on the page: marks in a row, each with what hangs below it and what stands above it.

This is how TeX itself takes a formula apart, before anything in it means anything. Braces that enclose no script and no
argument show nothing and leave nothing; what looks the same comes out the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

LONGEST = 4000
"""Characters of one formula at most."""
DEEPEST = 30
"""Braces within braces at most."""


class RefusedError(ValueError):
    """A formula that this reader does not read; the message says what and why."""


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
_FRAMES = {"aligned", "align", "align*", "split", "equation", "equation*", "gathered", "gather", "gather*"}
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
_WORDS = {r"\text", r"\textrm", r"\textnormal", r"\textit", r"\mbox"}
_NAMES = {r"\operatorname", r"\operatorname*", r"\mathrm"}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789()[]+-*/=<>|!,.:;")


@lru_cache(maxsize=4096)
def marks(latex: str) -> Row:
    """A formula's marks."""
    if not latex.strip() or len(latex) > LONGEST:
        raise RefusedError(f"a formula is not empty and has at most {LONGEST} characters")
    page = _Page(latex)
    found = page.row("", 0)
    if page.frames:
        raise RefusedError(f"`\\end{{{page.frames[-1]}}}` is missing")
    if page.at < len(latex):
        raise page.refused(f"a `{latex[page.at]}` without its partner")
    return found


class _Page:
    """Reads from a place in the source on."""

    def __init__(self, latex: str) -> None:
        self.latex, self.at = latex, 0
        self.gap, self.broken = 0.0, False
        self.frames: list[str] = []

    def refused(self, says: str) -> RefusedError:
        return RefusedError(f"{says}, at character {self.at + 1}")

    def match(self, pattern: str) -> re.Match[str] | None:
        """What fits a pattern here."""
        return re.compile(pattern, re.DOTALL).match(self.latex, self.at)

    def row(self, closing: str, depth: int) -> Row:
        """Marks up to a closing brace or bracket, or to the end."""
        if depth > DEEPEST:
            raise RefusedError(f"braces are nested more than {DEEPEST} deep")
        out: list[PrintedMark] = []
        while (sign := self.peek()) and sign not in (closing, "}"):
            if sign in _SCRIPTS:
                raise self.refused("a script that hangs on nothing")
            out += self.scripted(self.group(depth), depth)
        if closing and sign != closing:
            raise self.refused(f"a `{closing}` is missing")
        self.at += len(closing)
        return tuple(out)

    def group(self, depth: int) -> Row:
        """A mark, or what is in braces."""
        if self.peek() == "{":
            self.at += 1
            return self.row("}", depth + 1)
        mark = self.mark(depth)
        return () if mark is None else (mark,)

    def scripted(self, base: Row, depth: int) -> Row:
        """What was read with the scripts that follow it."""
        found: dict[str, Row] = {"_": (), "^": ()}
        primes = 0
        while (sign := self.peek()) in _SCRIPTS:
            if sign == "'":
                self.at += 1
                primes += 1
                if found["^"]:
                    raise self.refused("a prime after a superscript")
                continue
            script = self.script(depth)
            if sign == "^" and all(mark.text == r"\prime" and not mark.scripted for mark in script):
                primes += len(script)
            elif found[sign]:
                raise self.refused(f"a second `{sign}`")
            else:
                found[sign] = script
        below, above = found["_"], found["^"]
        if not (below or above or primes):
            return base
        if len(base) != 1:
            raise self.refused("a script that does not hang on one sign")
        (mark,) = base
        if (mark.below and below) or (mark.above and (above or primes)) or mark.text == r"\left.":
            raise self.refused("scripts upon scripts")
        below, above = below or mark.below, above or mark.above
        return (replace(mark, below=below, primes=mark.primes + primes, above=above),)

    def script(self, depth: int) -> Row:
        kind = self.latex[self.at]
        self.at += 1
        sign = self.peek()
        if sign == "'" and kind == "^":
            raise self.refused("a prime in a superscript; it needs no `^`")
        if match := self.match(r"\{\s*('+)\s*\}"):
            self.at = match.end()
            return (PrintedMark(r"\prime"),) * len(match[1])
        around = self.space()
        found = self.group(depth + 1)
        self.gap, self.broken = around
        if not found:
            raise self.refused("an empty script")
        following = self.latex[self.at : self.at + 1]
        long = found[0].text in ("+", "-") or (found[0].text.isdigit() and following.isdigit())
        if sign != "{" and long and following not in ("", "}"):
            raise self.refused("a script of two signs without braces around it")
        return found

    def peek(self) -> str:
        """The next character that shows something; what shows nothing before it is passed."""
        while self.at < len(self.latex):
            command = self.command()
            if command == r"\\":
                stop = self.match(r"\\\\\*?(\[\s*-?[\d.]+\s*[a-z]{2}\s*\])?")
                self.at = stop.end() if stop else len(self.latex)
                if self.latex[self.at : self.at + 1] == "[":
                    raise self.refused("a bracket that could be the height of a line")
                self.broken = True
            elif command in _SPACES:
                self.at += len(command)
                self.gap += _SPACES[command]
            elif command in _GAPS:
                self.at += len(command)
                self.gap += self.hidden(_GAPS[command], plain=command.startswith(r"\tag"))
            elif not (command in (r"\begin", r"\end") and self.frame(command)):
                break
        return self.latex[self.at : self.at + 1]

    def command(self) -> str:
        """The command that stands here, or a character."""
        match = self.match(r"\\[A-Za-z]+\*?|\\.|.")
        text = match[0] if match else ""
        return text if text in _GAPS or text in _NAMES or not text[1:2].isalpha() else text.rstrip("*")

    def frame(self, command: str) -> bool:
        """Whether an environment that only lays out begins or ends here, which is then passed."""
        match = self.match(r"\\(?:begin|end)\{([a-z]+\*?)\}(?:\[[tbc]\])?")
        if match is None or match[1] not in _FRAMES:
            return False
        if command == r"\begin":
            self.frames.append(match[1])
        elif not self.frames or self.frames.pop() != match[1]:
            raise self.refused(f"`{match[0]}` ends what did not begin last")
        self.at = match.end()
        return True

    def hidden(self, width: float, *, plain: bool) -> float:
        """Passes what is not shown, or is a number beside the formula; the space that it leaves."""
        match = self.match(r"\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
        if match is None:
            raise self.refused("an argument in braces is missing")
        self.at = match.end()
        if plain and not re.fullmatch(r"[\s(]*[A-Za-z]?[.\d]*[a-z]?[*'†‡]*[\s)]*", match[1]):
            raise self.refused("a tag that is no number and could be a condition")
        said = re.fullmatch(r"\s*(-?\d*\.?\d+)\s*([a-z]{2})\s*", match[1])
        return 1.8 * float(said[1]) * _POINTS[said[2]] if said and said[2] in _POINTS and width else width

    def space(self) -> tuple[float, bool]:
        """What is before a mark: the gap, and whether a line begins."""
        found, self.gap, self.broken = (self.gap, self.broken), 0.0, False
        return found

    def mark(self, depth: int) -> PrintedMark | None:
        """The next mark with what it is applied to; None where only its size is said."""
        self.peek()
        start, text, side = self.at, self.command(), ""
        if _SIZES.match(text):
            side = text[1] if text in (r"\left", r"\right") else text[-1]
            self.at += len(text)
            if self.peek() in ("", "{", "}", *_SCRIPTS):
                return None
            if text in (r"\left", r"\right") and self.latex[self.at] == ".":
                self.at += 1
                gap, broken = self.space()
                return PrintedMark(text + ".", gap=gap, broken=broken, start=start, end=self.at)
            start, text = self.at, self.command()
        gap, broken = self.space()
        self.at += len(text)
        text, own = _SIDED.get(text, (_SPELLINGS.get(text, text), ""))
        side = own or (side if text in ("|", r"\|") and side in "lr" else "")
        text, inside = self.applied(text, depth)
        return PrintedMark(text, inside, side=side, gap=gap, broken=broken, start=start, end=self.at)

    def applied(self, text: str, depth: int) -> tuple[str, tuple[Row, ...]]:
        """A command with its words, and what it is applied to."""
        named = self.match(r"\s*\{\s*([A-Za-z][A-Za-z\s]*)\}") if text in _NAMES else None
        if named and (text != r"\mathrm" or len(named[1].strip()) > 1):
            self.at = named.end()
            return f"\\name{{{' '.join(named[1].split())}}}", ()
        if text in _WORDS:
            words = self.match(r"\s*\{([^{}]*)\}")
            if words is None:
                raise self.refused("words in braces are missing")
            self.at = words.end()
            return f"\\text{{{' '.join(words[1].split())}}}", ()
        if text in _APPLIED:
            return text, tuple(self.arguments(text, depth))
        if not (text[1:].isalpha() or text in _PLAIN or text in _NAMES or text in (r"\{", r"\}", r"\|")):
            raise self.refused(f"`{text}` is no sign of the notation")
        return text, ()

    def arguments(self, text: str, depth: int) -> Iterator[Row]:
        if text == r"\sqrt":
            if self.peek() == "[":
                self.at += 1
                yield self.row("]", depth + 1)
            else:
                yield ()
        for _ in range(_APPLIED[text]):
            missing = self.peek() in ("", "}", *_SCRIPTS)
            found = () if missing else self.group(depth + 1)
            if missing or (not found and text in (r"\frac", r"\binom", r"\sqrt")):
                raise self.refused(f"`{text}` is applied to nothing")
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
