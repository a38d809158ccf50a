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
    """A letter, digit, sign or command on the page.

    Attributes:
        text: the mark, in one spelling; `\\text{...}` with its words.
        inside: what a command such as `\\frac` or `\\hat` is applied to.
        below: its subscript; empty where there is none.
        primes: how many.
        above: its superscript; empty where there is none.
        side: `l` or `r` where the source says on which side a bar stands.
        gap: the space before it, in eighteenths of the width of an M.
        broken: whether a new line begins with it.
        start: its place in the source.
        end: the place after it, scripts left out.
    """

    text: str
    inside: tuple[Row, ...] = ()
    below: Row = ()
    primes: int = 0
    above: Row = ()
    side: str = field(default="", compare=False)
    gap: float = field(default=0, compare=False)
    broken: bool = field(default=False, compare=False)
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)

    @property
    def bare(self) -> PrintedMark:
        """The mark without scripts."""
        return replace(self, below=(), primes=0, above=())

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
    r"\!": -3, r"\quad": 18, r"\qquad": 36, r"\enspace": 9, "&": 18,
}  # fmt: skip
_POINTS = {"pt": 1.0, "pc": 12.0, "mm": 2.845, "cm": 28.45, "in": 72.27, "em": 10.0, "ex": 4.4, "mu": 10 / 18}
"""Units of length in points; an M is ten of them wide."""
_NOTHING = {
    r"\displaystyle", r"\textstyle", r"\scriptstyle", r"\limits", r"\nolimits", r"\nonumber", r"\notag", r"\strut",
    r"\mathstrut", r"\allowbreak",
}  # fmt: skip
_GAPS = dict.fromkeys((r"\hspace", r"\hspace*", r"\phantom", r"\hphantom"), 18) | dict.fromkeys(
    (r"\label", r"\tag", r"\tag*", r"\vphantom"), 0
)
"""Commands whose argument is not shown, and the space that they leave where it is not said."""
_FRAMES = {"aligned", "align", "align*", "split", "equation", "equation*", "gathered", "gather", "gather*"}
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
    """A formula's marks.

    Raises:
        RefusedError: for braces that do not match, scripts that TeX shows otherwise than they are typed, and
            characters that no formula has.
    """
    if not latex.strip() or len(latex) > LONGEST:
        raise RefusedError(f"a formula is not empty and has at most {LONGEST} characters")
    page = _Page(latex)
    found = page.row("", 0)
    if page.frames:
        raise RefusedError(f"`\\end{{{page.frames[-1]}}}` is missing")
    if page.at < len(latex):
        raise RefusedError(f"a `{latex[page.at]}` without its partner at character {page.at + 1}")
    return found


class _Page:
    """Reads from a place in the source on."""

    def __init__(self, latex: str) -> None:
        self.latex, self.at = latex, 0
        self.gap, self.broken = 0.0, False
        self.frames: list[str] = []

    def row(self, closing: str, depth: int) -> Row:
        """Marks up to a closing brace or bracket, or to the end."""
        if depth > DEEPEST:
            raise RefusedError(f"braces are nested more than {DEEPEST} deep")
        out: list[PrintedMark] = []
        while (sign := self.peek()) and sign not in (closing, "}"):
            if sign in ("_", "^", "'"):
                raise RefusedError(f"the script at character {self.at + 1} hangs on nothing")
            out += self.scripted(self.group(depth), depth)
        if closing and sign != closing:
            raise RefusedError(f"a `{closing}` is missing at character {self.at + 1}")
        self.at += len(closing)
        return tuple(out)

    def group(self, depth: int) -> Row:
        """A mark, or what is in braces."""
        if self.peek() == "{":
            self.at += 1
            return self.row("}", depth + 1)
        mark = self.mark(depth)
        return (mark,) if mark is not None else ()

    def scripted(self, base: Row, depth: int) -> Row:
        """What was read with the scripts that follow it."""
        below: Row = ()
        above: Row = ()
        primes = 0
        while (sign := self.peek()) in ("_", "^", "'"):
            where = self.at + 1
            if sign == "'":
                self.at += 1
                primes += 1
                if above:
                    raise RefusedError(f"a prime at character {where} after a superscript")
                continue
            script = self.script(depth)
            if sign == "^" and all(mark.text == r"\prime" and not mark.scripted for mark in script):
                primes += len(script)
            elif below if sign == "_" else above:
                raise RefusedError(f"a second `{sign}` at character {where}")
            elif sign == "_":
                below = script
            else:
                above = script
        if not (below or above or primes):
            return base
        if len(base) != 1:
            raise RefusedError(f"a script before character {self.at + 1} that does not hang on one sign")
        (mark,) = base
        if (mark.below and below) or (mark.above and (above or primes)) or mark.text == r"\left.":
            raise RefusedError(f"scripts upon scripts before character {self.at + 1}")
        joined = (below or mark.below, mark.primes + primes, above or mark.above)
        return (replace(mark, below=joined[0], primes=joined[1], above=joined[2]),)

    def script(self, depth: int) -> Row:
        kind = self.latex[self.at]
        self.at += 1
        if self.peek() == "'" and kind == "^":
            raise RefusedError(f"a prime at character {self.at + 1} in a superscript; it needs no `^`")
        braced = self.peek() == "{"
        if braced and (match := re.compile(r"\{\s*('+)\s*\}").match(self.latex, self.at)):
            self.at = match.end()
            return (PrintedMark(r"\prime"),) * len(match[1])
        gap, broken, self.gap, self.broken = self.gap, self.broken, 0.0, False
        found = self.group(depth + 1)
        self.gap, self.broken = gap, broken
        if not found:
            raise RefusedError(f"an empty script before character {self.at + 1}")
        following = self.latex[self.at : self.at + 1]
        long = found[0].text in ("+", "-") or (found[0].text.isdigit() and following.isdigit())
        if not braced and long and following not in ("", "}"):
            raise RefusedError(
                f"a script of two signs before character {self.at + 1} without braces around it"
            )
        return found

    def peek(self) -> str:
        """The next character that shows something; what shows nothing before it is passed."""
        while self.at < len(self.latex):
            sign = self.latex[self.at]
            if sign in " \t\r\n":
                self.at += 1
                self.gap += 6 * (sign == "\n")
                continue
            if sign not in "\\~&":
                break
            command = self.command()
            if command == r"\\":
                stop = re.compile(r"\\\\\*?(\[\s*-?[\d.]+\s*[a-z]{2}\s*\])?").match(self.latex, self.at)
                self.at = stop.end() if stop else len(self.latex)
                if self.latex[self.at : self.at + 1] == "[":
                    raise RefusedError(
                        f"a bracket at character {self.at + 1} that could be the height of a line"
                    )
                self.broken = True
            elif command in _SPACES or command in _NOTHING:
                self.at += len(command)
                self.gap += _SPACES.get(command, 0)
            elif command in _GAPS:
                self.at += len(command)
                self.gap += self.hidden(_GAPS[command], plain=command.startswith(r"\tag"))
            elif not (command in (r"\begin", r"\end") and self.frame(command)):
                break
        return self.latex[self.at : self.at + 1]

    def command(self) -> str:
        """The command that stands here, or a character."""
        match = re.compile(r"\\[A-Za-z]+\*?|\\.|.", re.DOTALL).match(self.latex, self.at)
        text = match[0] if match else ""
        return text if text in _GAPS or text in _NAMES or not text[1:2].isalpha() else text.rstrip("*")

    def frame(self, command: str) -> bool:
        """Whether an environment that only lays out begins or ends here, which is then passed."""
        match = re.compile(r"\\(?:begin|end)\{([a-z]+\*?)\}(?:\[[tbc]\])?").match(self.latex, self.at)
        if match is None or match[1] not in _FRAMES:
            return False
        if command == r"\begin":
            self.frames.append(match[1])
        elif not self.frames or self.frames.pop() != match[1]:
            raise RefusedError(f"`{match[0]}` at character {self.at + 1} ends what did not begin last")
        self.at = match.end()
        return True

    def hidden(self, width: float, *, plain: bool) -> float:
        """Passes what is not shown, or is a number beside the formula; the space that it leaves."""
        match = re.compile(r"\s*\{((?:[^{}]|\{[^{}]*\})*)\}").match(self.latex, self.at)
        if match is None:
            raise RefusedError(f"an argument in braces is missing at character {self.at + 1}")
        if plain and not re.fullmatch(r"[\s(]*[A-Za-z]?[.\d]*[a-z]?[*'†‡]*[\s)]*", match[1]):
            raise RefusedError(
                f"a tag before character {self.at + 1} that is no number and could be a condition"
            )
        self.at = match.end()
        said = re.fullmatch(r"\s*(-?\d*\.?\d+)\s*([a-z]{2})\s*", match[1])
        return 1.8 * float(said[1]) * _POINTS[said[2]] if said and said[2] in _POINTS and width else width

    def mark(self, depth: int) -> PrintedMark | None:
        """The next mark with what it is applied to; None where only its size is said."""
        self.peek()
        start, text = self.at, self.command()
        gap, broken, self.gap, self.broken = self.gap, self.broken, 0.0, False
        self.at += len(text)
        side = ""
        if _SIZES.match(text):
            side = text[1] if text in (r"\left", r"\right") else text[-1]
            side = side if side in "lr" else ""
            self.gap, self.broken = gap, broken
            if self.peek() in ("", "{", "}", "_", "^", "'"):
                return None
            if text in (r"\left", r"\right") and self.latex[self.at] == ".":
                self.at += 1
                gap, broken, self.gap, self.broken = self.gap, self.broken, 0.0, False
                return PrintedMark(text + ".", gap=gap, broken=broken, start=start, end=self.at)
            start, text = self.at, self.command()
            gap, broken, self.gap, self.broken = self.gap, self.broken, 0.0, False
            self.at += len(text)
        text, own = _SIDED.get(text, (_SPELLINGS.get(text, text), ""))
        side = own or (side if text in ("|", r"\|") else "")
        inside: tuple[Row, ...] = ()
        if (
            text in _NAMES
            and (match := re.compile(r"\s*\{\s*([A-Za-z][A-Za-z\s]*)\}").match(self.latex, self.at))
            and (text != r"\mathrm" or len(match[1].strip()) > 1)
        ):
            text, self.at = f"\\name{{{' '.join(match[1].split())}}}", match.end()
        elif text in _WORDS:
            match = re.compile(r"\s*\{([^{}]*)\}").match(self.latex, self.at)
            if match is None:
                raise RefusedError(f"words in braces are missing at character {self.at + 1}")
            text, self.at = f"\\text{{{' '.join(match[1].split())}}}", match.end()
        elif text in _APPLIED:
            inside = tuple(self.arguments(text, depth))
        elif not (text[1:].isalpha() or text in _PLAIN or text in _NAMES or text in (r"\{", r"\}", r"\|")):
            raise RefusedError(f"`{text}` at character {start + 1} is no sign of the notation")
        return PrintedMark(text, inside, side=side, gap=gap, broken=broken, start=start, end=self.at)

    def arguments(self, text: str, depth: int) -> Iterator[Row]:
        if text == r"\sqrt":
            if self.peek() == "[":
                self.at += 1
                yield self.row("]", depth + 1)
            else:
                yield ()
        for _ in range(_APPLIED[text]):
            if self.peek() in ("", "}", "_", "^", "'"):
                raise RefusedError(f"`{text}` before character {self.at + 1} is applied to nothing")
            found = self.group(depth + 1)
            if not found and text in (r"\frac", r"\binom", r"\sqrt"):
                raise RefusedError(f"`{text}` before character {self.at + 1} is applied to nothing")
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
