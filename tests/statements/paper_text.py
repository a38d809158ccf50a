"""Formulas in the papers' texts, which have no marks around them.

A formula stands in a text two or three times in a row: as plain characters, in two of the papers spelled out, and in
LaTeX. Some signs of the plain form are lost. The LaTeX is found by what is before it: the same letters, figures and
signs `=`, `<`, `>`, `+`, in any order.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

REGIONS = Path(__file__).with_name("regions.csv")

_GREEK = dict(
    zip(
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "varepsilon",
            "zeta",
            "eta",
            "theta",
            "vartheta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "pi",
            "rho",
            "varrho",
            "sigma",
            "tau",
            "upsilon",
            "phi",
            "varphi",
            "chi",
            "psi",
            "omega",
            "Gamma",
            "Delta",
            "Theta",
            "Lambda",
            "Xi",
            "Pi",
            "Sigma",
            "Upsilon",
            "Phi",
            "Psi",
            "Omega",
        ],
        "αβγδεεζηθθικλμνξπρρστυφφχψωΓΔΘΛΞΠΣΥΦΨΩ",
        strict=True,
    )
)
_NAMED = [
    "log",
    "ln",
    "exp",
    "max",
    "min",
    "sup",
    "inf",
    "Pr",
    "arg",
    "lim",
    "det",
    "dim",
    "sin",
    "cos",
    "limsup",
    "liminf",
]
_SHOWN = {**_GREEK, **{name: name for name in _NAMED}, "pmod": "mod", "vert": "|", "lvert": "|", "rvert": "|"}
_LOST = {"mathbb": "CHNPQRZ", "mathcal": "BEFHILMRego", "mathfrak": "CHIRZ", "mathscr": "BEFHILMRego"}
"""Letters of these alphabets that lie in a block of Unicode which the plain forms do not have."""
_SAME = {"ϵ": "ε", "ϕ": "φ", "ϑ": "θ", "ς": "σ"}
_TOKEN = re.compile(
    r"\\h?phantom\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|\\math(?:bb|cal|frak|scr)(?: *\{[A-Za-z]*\}| +[A-Za-z])"
    r"|\\(?:begin|end)\{[a-z*]+\}(?:\[[a-z]?\])?(?:\{[lcr|]+\})?|\\[A-Za-z]+ *|\\. *|[!-\[\]-~]"
)
_SPELLED = re.compile(
    r"subscript|superscript|delimited-[\[\]|]*|[a-z]+-[a-z-]+|norm|absent|supremum|infimum|conditional|expectation"
    r"|superset|subset|binomial|infinity|product|modulo|assign|maximum|minimum|maps|not|precedes|element|direct|floor"
    r"|ceiling|annotated|set|interval|def|script|if|otherwise|tensor|differential|cases|and|for|all|or|top|bottom|any|such|priv|pub|inner|steps"
)
_SPELLED_START = re.compile(rf"[^\x00-\x7f]|[0-9]|[A-Z]|{_SPELLED.pattern}")
_ITALIC = re.compile("[\U0001d434-\U0001d49b\U0001d6e2-\U0001d71b]")
_SPELLED_END = re.compile(r"[^\x00-\x7f][A-Za-z0-9\[\]|-]*$")
_NO_START = re.compile(
    "subscript|superscript|delimited-|approaches-limit|formulae-sequence|similar-to|supremum|infimum|conditional"
    "|absent|norm(?![a-z])"
)
_RELATION = re.compile(
    r"[=<>]|\\(?:leq?|geq?|neq?|doteq|approx|lesssim|gtrsim|ll|gg|equiv|propto|preceq|succeq|triangleq|coloneqq"
    r"|stackrel|overset)(?![A-Za-z])|\\in(?![A-Za-z]) *(?:\\left *)?[\[(]"
)
_RELATION_ALONE = re.compile(r"\\displaystyle\\(?:leq?|geq?|approx|doteq)(?=\s|$)")
_ORDER = re.compile(
    r"^(?:\\(?:tilde|widetilde) *\{?)?(?:O|\\Omega|\\Theta)\}? *(?:\\(?:left|bigg?|Bigg?) *)?[({]"
)
_SAID = re.compile(
    r"\b(?:bounded by|at most|at least|less than|more than|greater than|larger than|smaller than|equal to|equals)\s*$"
)
_GUARANTEE = re.compile(r"-?(?:\w*DP\b|differential|group|Rényi)")
_PROPERTY = re.compile(r"-(?:smooth|accurate|Lipschitz|strongly|close)")


@dataclass(frozen=True)
class Region:
    """Lines of a paper's text, from 1: a statement, a proof, or what stands in their place."""

    statement: str
    label: str
    first: int
    last: int


@dataclass(frozen=True)
class Found:
    """A display, a line of one, or an inline relation."""

    statement: str
    place: str
    latex: str
    before: str = ""
    """The words right before it, for whoever writes its row; they are kept nowhere."""


@dataclass(frozen=True)
class Formula:
    """Where its plain form begins, where its LaTeX begins and ends."""

    plain: int
    start: int
    end: int


def regions(paper: str) -> list[Region]:
    with REGIONS.open(encoding="utf-8", newline="") as file:
        return [
            Region(r["statement"], r["label"], int(r["first"]), int(r["last"]))
            for r in csv.DictReader(file)
            if r["statement"].startswith(f"{paper}.")
        ]


# ----------------------------------------------------------------------------------------------- signs


@cache
def _seen(text: str) -> str:
    """Letters, figures and some signs that no form loses."""
    signs = (_SAME.get(c, c) for c in unicodedata.normalize("NFKC", text))
    return "".join(c for c in signs if (c.isalnum() and (c.isascii() or "Α" <= c <= "ω")) or c in "=<>+|")


@cache
def _token_signs(token: str) -> str:
    """The same, of a token of LaTeX."""
    alphabet = re.match(r"\\(mathbb|mathcal|mathfrak|mathscr)[ {]+([A-Za-z]*)", token)
    if alphabet:
        return _seen("".join(c for c in alphabet[2] if c not in _LOST[alphabet[1]]))
    command = re.match(r"\\([A-Za-z]+)", token)
    if command:
        return _seen(_SHOWN.get(command[1], ""))
    return "" if token[0] == "\\" else _seen(token)


# ------------------------------------------------------------------------------------------- formulas


class _Token(NamedTuple):
    name: str
    end: int
    after: int
    """Where what follows begins, white space left out."""
    inside: int
    depth: int
    unpaired: int
    size: int
    total: int
    figures: str


class _Line:
    def __init__(self, text: str, thrice: bool) -> None:
        self.text, self.thrice = text, thrice
        self.no_start = {n for m in _NO_START.finditer(text) for n in range(m.start(), m.end())}
        self.tokens: dict[int, _Token | None] = {}
        self.at: list[int] = []
        self.before = [0]
        self.sums = [0]
        """Windows of signs are compared by sums of numbers that stand for them, the same in any order."""
        self.italic = [0]
        """Where the last letter of a spelled-out form before each place ends."""
        for n, c in enumerate(text):
            self.italic.append(n + 1 if thrice and _ITALIC.match(c) else self.italic[-1])
            for sign in self.counted(_seen(c)):
                self.at.append(n)
                self.sums.append(self.sums[-1] + _number(sign))
            self.before.append(len(self.at))

    def counted(self, signs: str) -> str:
        """Bars are lost in some of the formulas that are spelled out."""
        return signs.replace("|", "") if self.thrice else signs

    def token(self, position: int) -> _Token | None:
        """The token of LaTeX that begins there."""
        if position not in self.tokens:
            match = _TOKEN.match(self.text, position)
            self.tokens[position] = None
            if match is not None:
                text, signs = match[0], self.counted(_token_signs(match[0]))
                name = text.rstrip()
                self.tokens[position] = _Token(
                    name,
                    position + len(name),
                    match.end(),
                    text.startswith(r"\begin") - text.startswith(r"\end"),
                    (text == "{") - (text == "}"),
                    (name == r"\left") - (name == r"\right"),
                    len(signs),
                    sum(map(_number, signs)),
                    "".join(filter(str.isdigit, signs)),
                )
        return self.tokens[position]

    def ends(self, start: int, most: int) -> list[tuple[int, int, int, str]]:
        """Where LaTeX with at most so many signs that begins there may end; with their number, sum, and figures."""
        depth = inside = unpaired = size = total = 0
        figures = ""
        position, out = start, []
        while position < len(self.text) and size <= most:
            token = self.token(position)
            if token is None:
                if (depth or inside) and self.text[position] in " ~":
                    position += 1
                    continue
                break
            inside += token.inside
            depth += token.depth
            unpaired += token.unpaired
            if depth < 0 or (token.name == r"\displaystyle" and position > start):
                break
            size, total, figures = size + token.size, total + token.total, figures + token.figures
            position = token.after
            if size and not depth and not inside and not unpaired:
                out.append((token.end, size, total, figures))
        return out

    def formula(self, start: int) -> Formula | None:
        """The longest formula whose LaTeX begins there, if one does."""
        if not self.before[start] or start in self.no_start:
            return None
        high = self.before[start]
        # what spells a formula out ends with letters of its own, words and figures
        spelled = self.thrice and _SPELLED_END.search(self.text, max(0, start - 70), start)
        near = high - self.before[self.italic[start]]
        most = high if spelled else near
        if most < 1:
            return None
        for end, size, total, figures in reversed(self.ends(start, most)):
            if size > most or (size < 2 and self.text[start:end].isalnum()):
                continue
            plain = self.spelled_out(start, end, size, total, figures) if spelled else None
            if plain is None and size <= near and total == self.sums[high] - self.sums[high - size]:
                plain = self.at[high - size]
            if plain is not None:
                return Formula(plain, start, self.trimmed(start, end))
        return None

    def trimmed(self, start: int, end: int) -> int:
        """The end without a hyphen, or a bracket that closes one of the sentence."""
        while end > start + 1:
            latex = self.text[start:end]
            opened, closed = (len(re.findall(rf"(?<!\\)[{b}]", latex)) for b in (r"(\[", r")\]"))
            if not (latex[-1] in "-." or (latex[-1] in ")]" and latex[-2] != "\\" and closed > opened)):
                break
            end -= 1
        return end

    def spelled_out(self, start: int, end: int, size: int, total: int, figures: str) -> int | None:
        """Where the plain form begins if what is between it and the LaTeX spells the formula out."""
        possible: list[int] = []
        for high in range(size, self.before[start]):
            if total != self.sums[high] - self.sums[high - size]:
                continue
            between = re.sub(r"^[\W_]+", "", self.text[self.at[high - 1] + 1 : start])
            if not _SPELLED_START.match(between):
                continue
            if " " in between and not re.search(r"\\text|\\mbox|cases", self.text[start:end]):
                continue
            seen = _seen(_SPELLED.sub("", between))
            if len(seen) <= size and sorted(filter(str.isdigit, seen)) == sorted(figures):
                possible.append(self.at[high - size])
        # one that begins a word, if there are several: first and last letter may be the same
        return next(iter([*filter(self.begins, possible), *possible]), None)

    def begins(self, place: int) -> bool:
        """Whether a word begins there."""
        return place == 0 or re.search(r"\s[(\[{|]*$", self.text[max(0, place - 4) : place]) is not None


@cache
def _number(sign: str) -> int:
    return Random(sign).getrandbits(64)


@cache
def formulas(text: str, thrice: bool) -> list[Formula]:
    """The formulas of a line, the longest where they overlap; not those of one letter.

    `thrice` says whether they are spelled out between the plain form and LaTeX.
    """
    if text.isascii() and not re.search(r"[\\=<>^_]", text):
        return []
    line = _Line(text, thrice)
    starts = (n for n, c in enumerate(text) if "!" <= c <= "~" and c not in ".,;:)]}")

    def order(f: Formula) -> tuple[int, bool, int]:
        return f.start - f.end, not line.begins(f.plain), f.start

    # cells of nothing but a relation have no plain form
    alone = [Formula(m.start(), m.start(), m.end()) for m in _RELATION_ALONE.finditer(text)]
    found = sorted([*filter(None, map(line.formula, starts)), *alone], key=order)
    taken: list[Formula] = []
    for formula in found:
        if all(formula.end <= other.plain or other.end <= formula.plain for other in taken):
            taken.append(formula)
    return sorted(taken, key=lambda f: f.start)


def relations(latex: str) -> list[int]:
    """Where the relations of a formula stand that are not inside of braces."""
    out, depth, position = [], 0, 0
    while position < len(latex):
        match = _TOKEN.match(latex, position)
        token = match[0] if match else latex[position]
        depth += (token == "{") - (token == "}")
        if not depth and _RELATION.match(latex, position):
            out.append(position)
        position += len(token)
    return out


def tidy(latex: str) -> str:
    """LaTeX without the style of displays and the full stop behind it."""
    text = re.sub(r"\\(?:displaystyle|textstyle) *", "", latex).strip()
    return re.sub(r"(?:\\[,;! ]|\\qed|(?<!\\)[,;:]|(?<!\\right)(?<!\\left)\.|\s|\\$)+$", "", text)


# ------------------------------------------------------------------------------------------- inventory


def inventory(paper: str, text: str) -> list[Found]:
    """Displays and inline relations of a paper's statements and proofs, in its order."""
    lines = text.split("\n")
    thrice = "superscript" in text
    return [row for region in regions(paper) for row in _of_region(region, lines, thrice)]


def unread(paper: str, text: str) -> list[tuple[int, str]]:
    """Lines of statements and proofs with a relation in LaTeX that is in no formula that was found."""
    out = []
    lines, thrice = text.split("\n"), "superscript" in text
    for region in regions(paper):
        for n in range(region.first, region.last + 1):
            left = _without_formulas(lines[n - 1].strip(), thrice)
            if re.search(r"[=<>]|\\(?:leq?|geq?|neq?|doteq|approx|propto|equiv)(?![A-Za-z])", left):
                out.append((n, left))
    return out


def _without_formulas(line: str, thrice: bool) -> str:
    out, used = "", 0
    for f in formulas(line, thrice):
        out += line[used : f.plain] + "¤"
        used = f.end
    return out + line[used:]


def _is_display(line: str, thrice: bool) -> bool:
    """Whether a line has no words but those in parentheses behind it."""
    left = _without_formulas(line, thrice).strip()
    if "¤" not in left:
        return False
    if not left.startswith("¤") and re.search(r"[A-Za-z]{2}", left.split("¤")[0]):
        return False
    return not re.search(
        r"[A-Za-z]{3,}",
        re.sub(r"(?<=[¤.,;])\s+\([^()]*(?:\([^()]*\)[^()]*)*\)?\W*$|\bif\b|\band\b|\bsteps\b", "", left),
    )


def _of_region(region: Region, lines: list[str], thrice: bool) -> Iterator[Found]:
    displays = inline = 0
    pending: list[str] = []  # the lines of a display

    def finished() -> Iterator[Found]:
        nonlocal displays
        if pending:
            displays += 1
            parts = _joined(pending)
            for n, latex in enumerate(parts, 1):
                line = f", line {n}" if len(parts) > 1 else ""
                yield Found(region.statement, f"{region.label}, {_ordinal(displays)} display{line}", latex)
            pending.clear()

    for n in range(region.first, region.last + 1):
        line = lines[n - 1].strip()
        if not line:
            yield from finished()
            continue
        found = formulas(line, thrice)
        if _is_display(line, thrice):
            cells = (tidy(line[f.start : f.end]) for f in found)
            pending.append(" ".join(cell for cell in cells if re.search(r"[\w=<>]", cell)))
            continue
        yield from finished()
        used = 0
        for f in found:
            latex, before, behind = line[f.start : f.end], line[used : f.plain], line[f.end :]
            used = f.end
            if (
                relations(latex)
                or _ORDER.match(latex)
                or (_GUARANTEE.match(behind) and "," in latex)
                or (_PROPERTY.match(behind) and re.search(r"/|\(|\\frac", latex))
                or (_SAID.search(before) and re.search(r"\\|\^|/", latex))
            ):
                inline += 1
                yield Found(region.statement, f"{region.label}, inline {inline}", tidy(latex), before[-40:])
    yield from finished()


def _joined(lines: list[str]) -> list[str]:
    """The lines of a display, each with a relation: what has none belongs to the line before, or begins the next."""
    out: list[str] = []
    begun = ""
    for line in lines:
        if relations(line):
            out.append(f"{begun} {line}".strip())
            begun = ""
        elif out:
            out[-1] += f" {line}"
        else:
            begun = f"{begun} {line}".strip()
    return [*out, begun] if begun else out


def _ordinal(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
