"""Markdown, and the text of a PDF, as LaTeX source with the same lines."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^(#+)\s+(.*?)\s*#*$")
_STATED = re.compile(
    r"^\s*\*\*(Theorem|Lemma|Proposition|Corollary|Claim|Definition|LetterFact|Remark)\b\s*([^*]*)\*\*\s*(.*)$",
    re.IGNORECASE,
)
_PROVED = re.compile(r"^[*_]{1,2}Proof\b\.?[*_]{0,2}:?\.?[*_]{0,2}\s*(.*)$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?![\d=<>])")
_WORDS = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{2,}(?:\s+[A-Za-z]{2,})+")
_SIGN = re.compile(r"=|<|>|\\(?:leq?|geq?|neq?|in|doteq|triangleq)(?![A-Za-z])|[≤≥≠∈]")


_DIGITS_ALONE = re.compile(r"(?:=|<|>|\\[lg]eq?)\s*\d+\s*(?:=|<|>|\\[lg]eq?(?![a-z]))")


def from_markdown(text: str) -> str:
    """Headings, statements in bold, proofs and formulas between dollars; a statement ends with its paragraph."""
    out: list[str] = []
    open_, fenced, shown = "", False, False

    def closed() -> str:
        nonlocal open_
        said, open_ = (rf"\end{{{open_}}} " if open_ else ""), ""
        return said

    lines = text.split("\n")
    for number, line in enumerate(lines):
        line = re.sub(r"(?<!\\)%", r"\%", re.sub(r"^\s*>\s?", "", line))
        if re.match(r"\s*(```|~~~)", line) or fenced:
            math = line.strip() in ("```math", "~~~math")
            if not fenced and math:
                fenced, shown = True, True
                out.append(r"\[")
            elif re.match(r"\s*(```|~~~)", line):
                out.append(r"\]" if fenced and shown else "")
                fenced, shown = not fenced, False
            else:
                out.append(line if shown else "")
            continue
        if match := _HEADING.match(line):
            out.append(closed() + rf"\section{{{match[2]}}}")
        elif match := _STATED.match(line):
            title = re.sub(r"[.:]\s*$", "", match[2].strip())
            before = closed()
            open_ = match[1].lower()
            out.append(rf"{before}\begin{{{open_}}}[{title}] {match[3]}")
        elif match := _PROVED.match(line):
            before = closed()
            open_ = "proof"
            out.append(rf"{before}\begin{{proof}} {match[1]}")
        elif not line.strip() and open_ and open_ != "proof":
            following = next((other for other in lines[number + 1 :] if other.strip()), "")
            goes_on = re.match(r"\s*(\$\$|\\\[|\\begin|```math|[a-z])", following)
            ended = out and re.search(r"\.\s*(\$\$)?\s*$", out[-1])
            out.append("" if goes_on and not ended else closed() + "\n".strip("\n"))
        else:
            out.append(_ITEM.sub(r"\\item ", line, count=1))
    return "\n".join(out) + "\n" + closed()


def from_text(text: str) -> tuple[str, list[tuple[int, str, str]]]:
    """The displays of a text from a PDF, and the lines with relations that are not read, each with the reason.

    A line is a display if it is LaTeX and nothing else. In plain characters signs may be lost that nobody misses, and
    within sentences nothing says where a formula begins: such lines are refused.
    """
    out: list[str] = []
    refused: list[tuple[int, str, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        said = re.sub(r"\s*\(\d+(?:\.\d+)*\)\s*$", "", line.strip().rstrip("\f"))
        made = ""
        if re.match(
            r"(Theorem|Lemma|Proposition|Corollary|Definition|Claim|Remark|Algorithm)\s+[\dA-Z.]+", said
        ):
            made = rf"\section{{{re.sub(r'[^A-Za-z0-9 .]', '', said)[:60]}}}"
        elif _SIGN.search(said):
            reason = ""
            if "\\" not in said:
                reason = "plain characters, of which signs may be lost"
            elif not said.isascii():
                reason = "signs beside LaTeX: the text is damaged here"
            elif _WORDS.search(re.sub(r"\\[A-Za-z]+\s*\{[^{}]*\}", " ", said)):
                reason = "a formula in a sentence: nothing says where it begins"
            elif said.index("\\") > 3:
                reason = "plain characters before LaTeX: it may be written twice"
            elif re.match(r"\d", said) or re.search(r"[}\])]\d|\d{3,}", said) or _DIGITS_ALONE.search(said):
                reason = "digits that may be left over from other text"
            elif said[:1] in "=<>+-" or re.match(r"\\(leq?|geq?|in|cdot|times)\b", said):
                reason = "a row that goes on from another"
            if reason:
                refused.append((number, line.strip()[:300], reason))
            else:
                made = rf"\[{said}\]"
        out.append(made.replace("%", r"\%"))
    return "\n".join(out), refused


def signs_in(line: str) -> int:
    """How many signs of comparison a line has."""
    return len(_SIGN.findall(line))
