"""Printed formulas: LaTeX to MathML, or the LaTeX itself where that fails."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markupsafe import Markup, escape

_MATHML = "{http://www.w3.org/1998/Math/MathML}"

# MathML Core's presentation elements and attributes; links, scripts and styles are not among them.
_ELEMENTS = frozenset(
    [
        *(
            "math",
            "mrow",
            "mi",
            "mn",
            "mo",
            "mtext",
            "mspace",
            "ms",
            "mstyle",
            "mpadded",
            "mphantom",
            "merror",
        ),
        *("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover"),
        *("mmultiscripts", "mprescripts", "none", "mtable", "mtr", "mtd", "menclose"),
    ]
)
_ATTRIBUTES = frozenset(
    [
        *("display", "displaystyle", "scriptlevel", "mathvariant", "mathsize", "notation", "linethickness"),
        *(
            "stretchy",
            "fence",
            "separator",
            "form",
            "largeop",
            "movablelimits",
            "symmetric",
            "minsize",
            "maxsize",
        ),
        *("lspace", "rspace", "accent", "accentunder", "width", "height", "depth", "voffset"),
        *("columnalign", "columnspacing", "columnlines", "rowspacing", "rowlines", "rowspan", "columnspan"),
    ]
)
_DELIMITERS = re.compile(
    r"(?<!\\)\$\$(.+?)(?<!\\)\$\$|(?<!\\)\$(.+?)(?<!\\)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.S
)
_TEXT = re.compile(r"(\\(?:text|textrm|textit|mbox)\{[^{}]*\})")
_PRIMES = re.compile(r"('+)(?:\^(?:\{([^{}]*)\}|([\w*])))?")
_BIG = re.compile(
    r"\\[Bb]igg?[lrm]?\s*(?:\{([\[\]()|])\}|(\\(?:[{}|]|[lr](?:angle|vert|Vert|floor|ceil)\b)))"
)
_STACK = re.compile(r"\\begin\{subarray\}\{[lcr]\}(.*?)\\end\{subarray\}", re.S)
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(?:aligned|align\*?|split|multline\*?)\}")
_OPERATOR = re.compile(r"\\operatorname\*?\{([^{}]*)\}")
_WORDS = re.compile(r"[^\\{}_^]*[A-Za-z]{3,}[^\\{}_^]*")
_CHILDREN = {
    "mfrac": 2,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "msubsup": 3,
    "munder": 2,
    "mover": 2,
    "munderover": 3,
}
_ROWS = frozenset(["math", "mrow", "mtd", "mstyle", "msqrt"])
_SPACED = frozenset(["mo", "mspace", "mtext"])
_NARROW = "()[]{}|‖,"
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_BREAKS = frozenset("=≤≥<>≠≈∼∈+−±∓")
"""Signs before which a formula may be broken, outside of parentheses."""
_SMALLER = 0.7
"""Of the width of a letter, that of one in an index or an exponent."""
_SIGN = re.compile(r"\\(?:mathop|operatorname\*)(\{\\math[a-z]+\{\w+\}\})")
"""A sign of one letter that is declared an operator, of which the converter would make a star or nothing."""
_FONT = re.compile(r"\\(math[a-z]+) +([A-Za-z0-9])")


def formula(latex: str) -> Markup:
    """A displayed formula: MathML, or `<code>` with the LaTeX where it cannot be converted.

    Plain words, and text with formulas between dollar signs, become a paragraph with formulas in the line.
    """
    latex = latex.strip()
    if not latex:
        return Markup("")
    parts = pieces(latex)
    if len(parts) == 1 and parts[0][1] == "block" and parts[0][0] == latex:
        return _math(latex, "block")
    words = (_math(part, display) if display else escape(part) for part, display in parts)
    return Markup('<p class="prose">') + Markup("").join(words) + Markup("</p>")


@lru_cache(maxsize=4096)
def in_lines(latex: str, widest: float) -> Markup:
    """A formula that is broken before relations, sums and differences where it does not fit into a line.

    Nothing where a part would be wider than `widest`, in characters as set, or all more than four times that.
    """
    if [kind for _, kind in pieces(latex)] != ["block"]:
        return formula(latex) if len(latex) <= 4 * widest else Markup("")
    root = converted(latex.strip(), "block")
    if root is None:
        return Markup("")
    row = root[0] if len(root) == 1 and root[0].tag == "mrow" else root
    fits = _width(row) <= widest
    parts: list[ElementTree.Element] = []
    depth = 0
    for place, child in enumerate(row):
        text = (child.text or "").strip()
        sign = child.tag == "mo" and child.get("lspace") != "0" and text in _BREAKS
        if place == 0 or (sign and depth == 0 and not fits):
            parts.append(ElementTree.Element("math", {"display": "inline", "displaystyle": "true"}))
            if place:
                child.set("form", "infix")  # though nothing comes before it any more
        depth += (child.tag == "mo") * ((text in _OPENING) - (text in _CLOSING))
        parts[-1].append(child)
    widths = [_width(part) for part in parts]
    if not parts or max(widths) > widest or sum(widths) > 4 * widest:
        return Markup("")
    lines = Markup(" ").join(Markup(ElementTree.tostring(part, encoding="unicode")) for part in parts)
    return Markup('<span class="lines">') + lines + Markup("</span>")


def _width(element: ElementTree.Element) -> float:
    text, parts = (element.text or "").strip(), [_width(child) for child in element]
    match element.tag:
        case "mo" if element.get("lspace") == "0" or (len(text) == 1 and text in _NARROW):
            return 0.7
        case "mo":
            return len(text) + 1.0
        case "mi" | "mn" | "mtext" | "ms":
            return float(len(text))
        case "mspace":
            return 0.3
        case "mfrac":
            return 0.8 * max(parts) + 0.3
        case "msup" | "msub" | "msubsup":
            return parts[0] + _SMALLER * max(parts[1:])
        case "munder" | "mover" | "munderover":
            return max(parts[0], _SMALLER * max(parts[1:]))
        case "msqrt":
            return 1 + sum(parts)
        case "mroot":
            return 1 + parts[0]
        case "mtable":
            return max(parts, default=0.0)
    return sum(parts)


def pieces(text: str) -> list[tuple[str, str]]:
    """Formulas and the words around them: each with `block` or `inline`, where it is a formula, else with nothing.

    Text without dollar signs is one formula, unless it is plain words.
    """
    text = text.strip()
    if _DELIMITERS.search(text) is None:
        return [(text, "" if _WORDS.fullmatch(text) else "block")] if text else []
    found: list[tuple[str, str]] = []
    end = 0
    for match in _DELIMITERS.finditer(text):
        found.append((text[end : match.start()], ""))
        inner = next(group for group in match.groups() if group is not None)
        found.append((inner.strip(), "block" if match[1] is not None or match[4] is not None else "inline"))
        end = match.end()
    found.append((text[end:], ""))
    return [(part, display) for part, display in found if part]


@lru_cache(maxsize=4096)
def _math(latex: str, display: str) -> Markup:
    root = converted(latex, display)
    if root is None:
        return Markup('<code class="latex">{}</code>').format(latex)
    root.tag = "math"
    root.set("display", display)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def converted(latex: str, display: str) -> ElementTree.Element | None:
    """The MathML tree without namespaces; None where the converter fails or leaves something unconverted."""
    try:
        root = ElementTree.fromstring(convert(_prepared(latex), display=display))
    except Exception:  # the converter raises whatever its parser trips over; the source is shown instead
        return None
    for element in root.iter():
        element.tag = element.tag.removeprefix(_MATHML)
        if element.tag not in _ELEMENTS or not _ATTRIBUTES.issuperset(element.attrib.keys() - {"xmlns"}):
            return None
        if len(element) != _CHILDREN.get(element.tag, len(element)):  # an argument is missing
            return None
        if (element.text or "").lstrip().startswith("\\"):  # a command that it does not know
            return None
    _space(root)
    return root


def _prepared(latex: str) -> str:
    """The same formula in the words that the converter knows."""
    parts = _TEXT.split(latex)
    for position in range(0, len(parts), 2):  # the odd ones are text
        part = _PRIMES.sub(
            lambda match: "^{" + r"\prime" * len(match[1]) + (match[2] or match[3] or "") + "}",
            parts[position],
        )
        part = _BIG.sub(lambda match: match[1] or match[2], part)
        part = part.replace(r"\underset{}", "")
        part = _STACK.sub(lambda match: match[1].replace(r"\\", ","), part)
        part = _ENVIRONMENT.sub(r"\\\1{split}", part)
        part = _SIGN.sub(r"\1", part)
        part = _FONT.sub(r"\\\1{\2}", part)
        parts[position] = part.replace(r"\arg", r"\operatorname{arg}")
    return _OPERATOR.sub(lambda match: r"\operatorname{" + match[1].replace(r"\,", "") + "}", "".join(parts))


def _space(root: ElementTree.Element) -> None:
    """Say what is an operator and what is a name, so that browsers space the formula as LaTeX does."""
    for element in root.iter():
        text = (element.text or "").strip()
        if element.tag == "mi" and text and (set(text) == {"′"} or _is_operator(text)):
            element.tag = "mo"
            element.text = text.replace("~", "∼")
        elif element.tag == "mo" and text == "∞":
            element.tag = "mi"
    for parent in root.iter():
        before: ElementTree.Element | None = None
        for child in list(parent):
            text = (child.text or "").strip()
            if child.tag == "mo" and _is_tight(text, child, before):
                child.attrib.update(lspace="0", rspace="0")
            if _is_name(child) and parent.tag in _ROWS:
                child.tag = "mi"
                child.attrib.clear()
                if before is not None and before.tag not in _SPACED and not _is_name(before):
                    parent.insert(list(parent).index(child), _thin_space())
            if before is not None and _is_name(before) and child.tag not in _SPACED and parent.tag in _ROWS:
                parent.insert(list(parent).index(child), _thin_space())
            before = child


def _is_operator(text: str) -> bool:
    """Whether a sign that the converter took for a letter is a relation or an operator."""
    return len(text) == 1 and unicodedata.category(text) == "Sm" and text not in "∂∇∞∅∀∃¬"


def _is_tight(text: str, sign: ElementTree.Element, before: ElementTree.Element | None) -> bool:
    """Bars, slashes, primes, and plus or minus where no term comes before it."""
    if set(text) == {"′"} or text == "/" or (text in {"|", "‖"} and sign.get("form") is None):
        return True
    opening = before is None or (
        before.tag == "mo" and (before.text or "") not in {")", "]", "}", "|", "‖", "!", "′"}
    )
    return text in {"+", "−", "±", "∓"} and opening


def _is_name(element: ElementTree.Element) -> bool:
    """Whether an element is a name of several letters, such as log."""
    text = (element.text or "").strip()
    return element.tag in {"mi", "mo"} and len(text) > 1 and text.isalpha() and set(text) != {"′"}


def _thin_space() -> ElementTree.Element:
    return ElementTree.Element("mspace", {"width": "0.167em"})
