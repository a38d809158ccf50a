"""Markdown, and the text of a PDF, as LaTeX source with the same lines."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^(#+)\s+(.*?)\s*#*$")
_STATED = re.compile(
    r"^\s*\*\*(Theorem|Lemma|Proposition|Corollary|Claim|Definition|Fact|Remark)\b\s*([^*]*)\*\*\s*(.*)$",
    re.IGNORECASE,
)
_TITLE = re.compile(r"(Theorem|Lemma|Proposition|Corollary|Definition|Claim|Remark|Algorithm)\s+[\dA-Z.]+")
_PROVED = re.compile(r"^[*_]{1,2}Proof\b\.?[*_]{0,2}:?\.?[*_]{0,2}\s*(.*)$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?![\d=<>])")
_WORDS = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{2,}(?:\s+[A-Za-z]{2,})+")
_WORD = re.compile(r"[(\"'“]?(?:[A-Za-z][a-z'’-]+|[AaI]|[A-Z]{2,}|i\.e\.|e\.g\.|w\.h\.p\.)[)\"'”]?[.,;:!?]?")
"""A word of a sentence, with its punctuation."""
SIGN = re.compile(r"=|<|>|\\(?:leq?|geq?|neq?|in|doteq|triangleq)(?![A-Za-z])|[≤≥≠∈]")
_DIGITS_ALONE = re.compile(r"(?:=|<|>|\\[lg]eq?)\s*\d+\s*(?:=|<|>|\\[lg]eq?(?![a-z]))")


def from_markdown(text: str) -> str:
    """Headings, statements in bold, proofs and formulas between dollars; a statement ends with its paragraph."""
    out: list[str] = []
    open_, fenced, shown = "", False, False

    def closed(then: str = "") -> str:
        """The end of what is open, and what is open then."""
        nonlocal open_
        said, open_ = (rf"\end{{{open_}}} " if open_ else ""), then
        return said

    lines = text.split("\n")
    for number, line in enumerate(lines):
        line = re.sub(r"(?<!\\)%", r"\%", re.sub(r"^\s*>\s?", "", line))
        if re.match(r"\s*(```|~~~)", line):
            before, fenced = shown, not fenced
            shown = fenced and line.strip() in ("```math", "~~~math")
            out.append(r"\[" if shown else r"\]" if before else "")
        elif fenced:
            out.append(line if shown else "")
        elif match := _HEADING.match(line):
            out.append(closed() + rf"\section{{{match[2]}}}")
        elif match := _STATED.match(line):
            title = re.sub(r"[.:]\s*$", "", match[2].strip())
            kind = match[1].lower()
            out.append(rf"{closed(kind)}\begin{{{kind}}}[{title}] {match[3]}")
        elif match := _PROVED.match(line):
            out.append(rf"{closed('proof')}\begin{{proof}} {match[1]}")
        elif not line.strip() and open_ and open_ != "proof":
            following = next((other for other in lines[number + 1 :] if other.strip()), "")
            goes_on = re.match(r"\s*(\$\$|\\\[|\\begin|```math|[a-z])", following)
            ended = out and re.search(r"\.\s*(\$\$)?\s*$", out[-1])
            out.append("" if goes_on and not ended else closed())
        else:
            out.append(_ITEM.sub(r"\\item ", line, count=1))
    return "\n".join(out) + "\n" + closed()


def from_text(text: str) -> tuple[str, list[tuple[int, str, str]]]:
    """The formulas of a text from a PDF, and the lines with relations that are not read, each with the reason.

    A formula is what is LaTeX: a line of its own, or what stands between the words of a sentence. In plain characters
    signs may be lost that nobody misses: such lines are refused.
    """
    out: list[str] = []
    refused: list[tuple[int, str, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        said = re.sub(r"\s*\(\d+(?:\.\d+)*\)\s*$", "", line.strip().rstrip("\f"))
        made = ""
        if _TITLE.match(said) and not SIGN.search(said):
            made = rf"\section{{{re.sub(r'[^A-Za-z0-9 .]', '', said)[:60]}}}"
        elif SIGN.search(said):
            if "\\" in said and _WORDS.search(re.sub(r"\\[A-Za-z]+\s*\{[^{}]*\}", " ", said)):
                made = _sentence(said, number, refused)
            elif reason := _damaged(said):
                refused.append((number, line.strip()[:300], reason))
            else:
                made = rf"\[{said}\]"
        out.append(made.replace("%", r"\%"))
    return "\n".join(out), refused


def _damaged(said: str) -> str:
    """Why a formula that stands in a text from a PDF may not be as it was printed; empty where nothing says so."""
    if "\\" not in said:
        return "plain characters, of which signs may be lost"
    if not said.isascii():
        return "signs beside LaTeX: the text is damaged here"
    if said.index("\\") > 3 and not re.match(r"[A-Za-z](?:_\{?\w+\}?)?(?:\(\w\))?\s*(?:=|<|>|\\)", said):
        return "plain characters before LaTeX: it may be written twice"
    if re.match(r"\d", said) or re.search(r"[}\])]\d|\d{3,}", said) or _DIGITS_ALONE.search(said):
        return "digits that may be left over from other text"
    if said[:1] in "=<>+-" or re.match(r"\\(leq?|geq?|in|cdot|times|doteq)\b", said) or said[-1:] in "=<>+-":
        return "a row that goes on from another"
    plain = re.sub(r"\\[A-Za-z]+(?:\s*\{[A-Za-z ]*\})?", " ", said)
    if re.search(r"(?<![A-Za-z\\])[A-Za-z]{3,}(?![A-Za-z}])", plain):
        return "a word that may be glued to it"
    return ""


def _sentence(said: str, number: int, refused: list[tuple[int, str, str]]) -> str:
    """A sentence with the LaTeX between its words as formulas; those that may be damaged fall out, and are listed."""
    out: list[str] = []
    formula: list[str] = []

    def end() -> None:
        whole = " ".join(formula)
        formula.clear()
        inner = whole.rstrip(".,;: ")
        reason = _damaged(inner)
        if whole:
            out.append("(...)" if reason else f"${inner}${whole[len(inner) :]}")
        if reason and SIGN.search(inner):
            refused.append((number, inner[:300], reason))

    for token in said.split():
        if _WORD.fullmatch(token):
            end()
            out.append(token)
        else:
            formula.append(token)
            whole = "".join(formula)
            even = all(whole.count(left) == whole.count(right) for left, right in ("{}", "()", "[]"))
            if token[-1] in ".;:" or (token[-1] == "," and even):
                end()
    end()
    return " ".join(out)
