"""LaTeX as MathML, for formulas on pages: what a display looks like, whatever it means.

The markup is made here, piece by piece; nothing of the LaTeX passes into it but text. A command that is not in the
tables below, or in mathml.toml, is not guessed.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable
from functools import partial
from importlib import resources
from xml.etree.ElementTree import Element

_TOKEN = re.compile(
    r"\\(?P<words>text|textrm|textit|textbf|textnormal|mbox)\s*\{(?P<text>[^{}]*)\}"
    r"|\\(?P<edge>begin|end)\s*\{(?P<environment>[a-z]+)\*?\}(?:\[[tbc]\])?"
    r"|\\(?:hspace|phantom|label|tag)\*?\s*\{[^{}]*\}"
    r"|\\\\(?:\[-?[\d.]+[a-z]+\])?|\\[A-Za-z]+\*?|\\.|\s+|.",
    re.S,
)


_TABLES = tomllib.loads(
    resources.files("dpverify.reports").joinpath("mathml.toml").read_text(encoding="utf-8")
)


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _table(of: str) -> dict[str, str]:
    names, characters = (_TABLES[of][what].split() for what in ("names", "characters"))
    return {f"\\{name}": character for name, character in zip(names, characters, strict=True)}


_LETTERS, _LARGE, _ACCENTS, _BELOW = map(_table, ("letters", "large", "accents", "below"))
_SIGNS = _table("signs") | {"-": "−"}
_DELIMITERS = _table("delimiters") | {sign: sign for sign in "()[]|"}
_NAMES = _words(
    "arccos arcsin arctan arg cos cosh cot deg det dim erf exp gcd hom inf ker lg lim liminf limsup ln "
    "log max min Pr sin sinh sup tan tanh"
)
_WITH_LIMITS = _words("det gcd inf lim liminf limsup max min sup Pr")
_STYLES = {
    "bb": "DOUBLE-STRUCK", "bbm": "DOUBLE-STRUCK", "cal": "SCRIPT", "scr": "SCRIPT", "frak": "FRAKTUR", "bf": "BOLD",
    "sf": "upright", "tt": "MONOSPACE", "it": "", "normal": "", "rm": "upright",
}  # fmt: skip
_FONTS = {f"\\math{name}": style for name, style in _STYLES.items()}
_FONTS |= {r"\boldsymbol": "BOLD", r"\bm": "BOLD"}
_SWITCHES = {f"\\{name}": _STYLES[name] for name in ("bf", "sf", "rm", "it", "tt", "cal")}
_SPACES = {r"\,": 3, r"\:": 4, r"\;": 5, r"\ ": 6, "~": 6, r"\quad": 18, r"\qquad": 36, r"\!": 0}
"""Widths in eighteenths of an em."""
_IGNORED = _words(r"\displaystyle \textstyle \scriptstyle \nolimits \nonumber \notag \null \strut")
_SIZES = re.compile(r"\\[Bb]igg?[lrm]?")
_FENCES = {"matrix": "", "pmatrix": "()", "bmatrix": "[]", "vmatrix": "||", "cases": "{"}
_ALIGNED = _words("aligned align split gather gathered multline equation array subarray")
_ROWS = _words("math mrow mtd msqrt")
_SPACED = _words("mo mspace mtext")


class _UnreadableError(Exception):
    """A command without an entry, or a part that is missing."""


def mathml(latex: str, display: str) -> Element | None:
    """The tree of a formula, `block` or `inline`; None if it has an unknown command, or if something is missing."""
    try:
        writer = _Writer(latex, display)
        parts = writer.row()
        if writer.tokens:
            raise _UnreadableError
    except (_UnreadableError, RecursionError):
        return None
    return _element("math", *parts, display=display)


def _element(tag: str, *children: Element, text: str = "", **attributes: str) -> Element:
    made = Element(tag, attributes)
    made.text = text or None
    made.extend(_spaced(children) if tag in _ROWS else children)
    return made


def _one(parts: list[Element]) -> Element:
    return parts[0] if len(parts) == 1 else _element("mrow", *parts)


class _Writer:
    """Takes the formula's tokens from the left."""

    def __init__(self, latex: str, display: str) -> None:
        self.tokens = [match for match in _TOKEN.finditer(latex) if not match[0].isspace()][::-1]
        self.display = display
        self.style = ""

    def peek(self) -> str:
        return self.tokens[-1][0] if self.tokens else ""

    def take(self, wanted: str = "") -> str:
        if not self.tokens or (wanted and self.peek() != wanted):
            raise _UnreadableError
        return self.tokens.pop()[0]

    def row(self, *ends: str) -> list[Element]:
        """All parts before one of the ends, or before what closes a group, a row or a fence."""
        parts: list[Element] = []
        style = self.style
        stops = {"", "}", r"\right", "&", *ends}
        while (
            self.peek() not in stops
            and self.tokens[-1]["edge"] != "end"
            and not self.peek().startswith(r"\\")
        ):
            parts += self.scripted()
        self.style = style
        return parts

    def group(self) -> list[Element]:
        """What is in braces, or else one part."""
        if self.peek() == "{":
            self.take()
            parts = self.row()
            self.take("}")
            return parts
        if self.peek() in ("", "}", "_", "^", "'", "&", r"\\", r"\right"):
            raise _UnreadableError
        if self.peek().isdigit():  # the first of several, as TeX takes it
            return [_element("mn", text=_styled(self.take(), self.style))]
        return self.part()

    def argument(self) -> Element:
        return _one(self.group())

    def optional(self) -> Element | None:
        if self.peek() != "[":
            return None
        self.take()
        parts = self.row("]")
        self.take("]")
        return _one(parts)

    # ------------------------------------------------------------------------------------------- scripts

    def scripted(self) -> list[Element]:
        """One part with what stands below and above it."""
        command = self.peek()
        parts = [] if command in ("_", "^", "'") else self.part()
        forced = self.peek() == r"\limits"
        if forced:
            self.take()
        below, above = self.scripts()
        if below is None and above is None:
            return parts
        *before, base = parts or [_element("mrow")]
        limits = forced or self.takes_limits(command, base)
        tag = ("munder" if limits else "msub") if above is None else ("mover" if limits else "msup")
        if below is not None and above is not None:
            tag = "munderover" if limits else "msubsup"
        return [*before, _element(tag, base, *(part for part in (below, above) if part is not None))]

    def takes_limits(self, command: str, base: Element) -> bool:
        text = base.text or ""
        if text in _LARGE.values():
            return text not in "∫∬∮"
        if command in (r"\underbrace", r"\overbrace"):
            return True
        return self.display == "block" and (text in _WITH_LIMITS or command == r"\operatorname*")

    def scripts(self) -> tuple[Element | None, Element | None]:
        below: list[Element] | None = None
        above: list[Element] = []
        raised = False
        while self.peek() in ("_", "^", "'"):
            mark = self.take()
            if mark == "'":
                above.append(_sign("′", lspace="0", rspace="0"))
            elif mark == "^" and not raised:
                raised = True
                above += self.group()
            elif mark == "_" and below is None:
                below = self.group()
            else:
                raise _UnreadableError
        return None if below is None else _one(below), _one(above) if above else None

    # --------------------------------------------------------------------------------------------- parts

    def part(self) -> list[Element]:
        """The next part without scripts."""
        if self.peek() == "{":
            return [_one(self.group())]
        match = self.tokens[-1]
        token = self.take()
        if match["words"]:
            return [_element("mtext", text=match["text"].replace(" ", "\u00a0"))]
        if match["edge"]:
            return self.environment(match["environment"])
        if token in _LARGE:
            return [_element("mo", text=_LARGE[token])]
        if token in _SPACES:
            return [_space(_SPACES[token])] if _SPACES[token] else []
        if token in _IGNORED or re.match(r"\\(?:hspace|phantom|label|tag)", token):
            return []
        if token in _SWITCHES:
            self.style = _SWITCHES[token]
            return []
        if _SIZES.fullmatch(token):
            return [self.delimiter(self.group_of_one(), stretchy="false")]
        if token in _COMMANDS:
            return [_COMMANDS[token](self)]
        return [self.symbol(token)]

    def symbol(self, token: str) -> Element:
        """A letter, a number, a sign or a name."""
        if token in _LETTERS:
            text = _LETTERS[token]
            return _element("mo" if text == "′" else "mi", text=text)
        if token.removeprefix("\\") in _NAMES and token[0] == "\\":
            return _element("mi", text=token[1:])
        if token in _SIGNS:
            return _sign(_SIGNS[token])
        if token in _DELIMITERS:
            return self.delimiter(token, stretchy="false")
        if token[0] == "\\" or not token.isprintable():
            raise _UnreadableError
        if token.isdigit():
            return _element("mn", text="".join(_styled(digit, self.style) for digit in token + self.digits()))
        if token.isalpha():
            return _element("mi", text=_styled(token, self.style), **_upright(self.style))
        return _sign(token)

    def digits(self) -> str:
        """What goes on with a number."""
        found = ""
        while self.peek().isdigit() or (
            self.peek() == "." and self.tokens[-2:-1] and self.tokens[-2][0].isdigit()
        ):
            found += self.take()
        return found

    def group_of_one(self) -> str:
        """A bracket after a size, with braces around it or without."""
        braced = self.peek() == "{"
        if braced:
            self.take()
        token = self.take()
        if braced:
            self.take("}")
        return token

    @staticmethod
    def delimiter(token: str, **attributes: str) -> Element:
        if token not in _DELIMITERS:
            raise _UnreadableError
        return _element("mo", text=_DELIMITERS[token], **attributes)

    def fenced(self) -> Element:
        parts: list[Element] = []
        for command, form in ((r"\left", "prefix"), (r"\right", "postfix")):
            if form == "postfix":
                parts += self.row()
                self.take(command)
            token = self.take()
            if token != ".":
                parts.append(self.delimiter(token, stretchy="true", fence="true", form=form))
        return _element("mrow", *parts)

    def environment(self, name: str) -> list[Element]:
        if name in ("array", "subarray"):
            self.group()
        elif name not in _ALIGNED and name not in _FENCES:
            raise _UnreadableError
        rows: list[list[Element]] = [[]]
        while True:
            rows[-1].append(_element("mtd", *self.row()))
            if self.peek() != "&" and not self.peek().startswith(r"\\"):
                break
            if self.take() != "&":
                rows.append([])
        if not self.tokens or self.tokens.pop()["environment"] != name:
            raise _UnreadableError
        if name == "subarray":
            cells = [part for k, (row,) in enumerate(rows) for part in ([_sign(",")] * (k > 0) + list(row))]
            return [_element("mrow", *cells)]
        table = _element("mtable", *(_element("mtr", *row) for row in rows if any(map(len, row))))
        fences = _FENCES.get(name, "")
        around = [_element("mo", text=fence, stretchy="true", fence="true") for fence in fences]
        if name in _ALIGNED and name != "array":
            table.attrib.update(displaystyle="true", columnalign="right left")
        return [*around[:1], table, *around[1:]]

    def fraction(self) -> Element:
        return _element("mfrac", self.argument(), self.argument())

    def binomial(self) -> Element:
        inner = _element("mfrac", self.argument(), self.argument(), linethickness="0")
        return _element("mrow", self.delimiter("("), inner, self.delimiter(")"))

    def root(self) -> Element:
        order = self.optional()
        if order is None:
            return _element("msqrt", *self.group())
        return _element("mroot", self.argument(), order)

    def stacked(self, tag: str) -> Element:
        beside, base = self.group(), self.argument()
        return _element(tag, base, _one(beside)) if beside else base

    def name(self) -> Element:
        """`\\operatorname{TV}`: upright, one word; of a letter in an alphabet of its own, that letter."""
        style, self.style = self.style, "upright"
        parts = [part for part in self.group() if part.tag != "mspace"]
        self.style = style
        if all(part.tag in ("mi", "mn", "mo") and not len(part) for part in parts):
            text = "".join(part.text or "" for part in parts)
            return _element("mi", text=text, **_upright("upright" if text.isascii() else ""))
        return _one(parts)

    def font(self, style: str) -> Element:
        outer, self.style = self.style, style
        parts = self.group()
        self.style = outer
        if style == "upright" and len(parts) > 1 and all(part.tag == "mi" for part in parts):
            return _element("mi", text="".join(part.text or "" for part in parts))
        return _one(parts)


def _accent(tag: str, sign: str, writer: _Writer) -> Element:
    mark = _element("mo", text=sign, stretchy="true" if sign in "―_⏞⏟" else "false")
    return _element(tag, writer.argument(), mark, **{"accent" if tag == "mover" else "accentunder": "true"})


_COMMANDS: dict[str, Callable[[_Writer], Element]] = {
    **dict.fromkeys((r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"), _Writer.fraction),
    **dict.fromkeys((r"\binom", r"\dbinom", r"\tbinom"), _Writer.binomial),
    **dict.fromkeys((r"\operatorname", r"\operatorname*"), _Writer.name),
    **dict.fromkeys((r"\mathop", r"\mathrel", r"\mathbin", r"\mathord"), _Writer.argument),
    r"\sqrt": _Writer.root,
    r"\left": _Writer.fenced,
    r"\middle": lambda writer: writer.delimiter(writer.take(), stretchy="true"),
    r"\underset": partial(_Writer.stacked, tag="munder"),
    r"\overset": partial(_Writer.stacked, tag="mover"),
    r"\stackrel": partial(_Writer.stacked, tag="mover"),
    **{name: partial(_Writer.font, style=style) for name, style in _FONTS.items()},
    **{name: partial(_accent, "mover", sign) for name, sign in _ACCENTS.items()},
    **{name: partial(_accent, "munder", sign) for name, sign in _BELOW.items()},
}


def _styled(letter: str, style: str) -> str:
    """A letter or digit of another alphabet; itself where that has none."""
    if style in ("", "upright") or not letter.isascii():
        return letter
    case = "CAPITAL" if letter.isupper() else "SMALL"
    sort = unicodedata.name(letter) if letter.isdigit() else f"{case} {letter.upper()}"
    for name in (f"MATHEMATICAL {style} {sort}", f"{style} {sort}", f"BLACK-LETTER {sort}"):
        try:
            return unicodedata.lookup(name)
        except KeyError:
            continue
    return letter


def _upright(style: str) -> dict[str, str]:
    return {"mathvariant": "normal"} if style == "upright" else {}


def _sign(text: str, **attributes: str) -> Element:
    return _element("mo", text=text, **attributes)


def _space(eighteenths: int) -> Element:
    return _element("mspace", width=f"{eighteenths / 18:.3f}em")


# -------------------------------------------------------------------------------------------------- spacing


def _spaced(children: tuple[Element, ...]) -> list[Element]:
    """A row in which signs without two sides are tight, and names of functions keep their distance."""
    row: list[Element] = []
    before: Element | None = None
    for child in children:
        if child.tag == "mo" and _is_tight(child, before):
            child.attrib.update(lspace="0", rspace="0")
        apart = before is not None and before.tag not in _SPACED and child.tag not in _SPACED
        if apart and before is not None and (_is_name(before) or _is_name(child)):
            row.append(_space(3))
        row.append(child)
        before = child
    return row


def _is_tight(sign: Element, before: Element | None) -> bool:
    """Bars, slashes, primes, and plus or minus where no term comes before it."""
    text = sign.text or ""
    if text in "/′" or (text in "|‖" and sign.get("form") is None):
        return True
    opening = before is None or (before.tag == "mo" and (before.text or "") not in ")]}|‖!′")
    return text in "+−±∓" and opening


def _is_name(element: Element) -> bool:
    text = element.text or ""
    return element.tag == "mi" and len(text) > 1 and text.isalpha()
