"""What to write in place of what is not read: commands, characters, and signs where they do not fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from lark import UnexpectedInput

_WHOLE = "a declared letter for the whole that it is a part of"
_FUNCTION = "a function of docs/notation.md, or a declared letter for its value"
_PLAIN = "the formula without it"
_RELATION = r"a relation that can be proved: `=`, `\le`, `<`, `\ge`, `>`, `\ne`"
_INTEGER = "a relation between numbers, with a quotient or a declared letter"
_GROUPS: tuple[tuple[str, str], ...] = (
    ("lg", r"`\log_2` or `\log_{10}`: `\lg` is read as either"),
    ("ldots dots cdots vdots ddots", r"`\sum` or `\prod` in place of dots"),
    ("pm mp", "one formula for plus and one for minus"),
    ("approx sim simeq lesssim gtrsim ll gg propto asymp cong doteq prec preceq succ succeq gtrless", _RELATION),
    ("equiv triangleq coloneqq eqqcolon", r"`=` where it is claimed; a definition stands apart"),
    ("stackrel overset underset", "the sign without what is above or below it"),
    ("not nleq nless ngeq ngtr nleqslant lneq gneq leqq geqq", r"`\ne`, `<`, `>`, `\le`, `\ge`, or `\neg(\dots)`"),
    ("notin ni subset subseteq cup cap setminus emptyset", r"a relation between numbers, or an interval after `\in`"),
    ("nexists", r"`\neg(\exists \dots)`"),
    ("to rightarrow longrightarrow mapsto leftarrow Leftarrow impliedby vdash",
     r"`\implies`, the premise first"),
    ("partial", r"a derivative as `\frac{\partial}{\partial x}`"),
    ("nabla", _WHOLE),
    ("mid", "a bar as part of a declared letter"),
    ("nmid bmod mod pmod gcd", _INTEGER),
    ("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh det dim deg ker", _FUNCTION),
    ("sup inf lim limsup liminf arg Pr iint iiint oint bigcup bigcap", _WHOLE),
    ("therefore because underbrace overbrace cancel bcancel xcancel sout color textcolor boxed fbox framebox substack "
     "cite ref eqref footnote href smash mathclap rlap llap rm bf it sf tt cal Large large small tiny qed square "
     "checkmark def newcommand let input unicode char eqno", _PLAIN),
    ("tag", r"a number as a tag, as in `\tag{1}`; a condition is a part of the formula"),
    ("newline cr tabularnewline", r"`\\` between rows"),
    ("hskip mskip kern mkern hfil", r"`\quad`, or a sign"),
    ("sfrac nicefrac", r"`\frac{}{}`, or `/`"),
    ("root surd", r"`\sqrt[n]{}`"),
    ("div", "`/`"),
    ("circ bullet otimes oplus ast star", r"`\cdot` in a product"),
    ("begin end", "`aligned`, `align`, `split`, `equation`, `gathered` or `gather`"),
)  # fmt: skip
_HINTS: Mapping[str, str] = {f"\\{name}": said for names, said in _GROUPS for name in names.split()}
_CHARACTERS: Mapping[str, str] = {
    "≤": r"\le", "⩽": r"\le", "≥": r"\ge", "⩾": r"\ge", "≠": r"\ne", "∞": r"\infty", "−": "-", "–": "-", "—": "-",
    "‐": "-", "·": r"\cdot", "⋅": r"\cdot", "×": r"\times", "∗": r"\cdot", "÷": "/", "√": r"\sqrt{}", "∑": r"\sum",
    "∏": r"\prod", "∫": r"\int", "∀": r"\forall", "∃": r"\exists", "∈": r"\in", "²": "^2", "³": "^3", "½": r"\frac12",
    "…": r"\dots", "′": "'", "’": "'", "π": r"\pi", "＋": "+", "＝": "=", "\xa0": "~",
}  # fmt: skip


def hint(command: str) -> str:
    """What to write in place of a command of LaTeX; empty for one that may be a letter."""
    return _HINTS.get(command, "")


def character(text: str) -> str:
    """What to write in place of a character that is not read."""
    if text == "%":
        return (
            r"a formula without `%`, which hides the rest of its line; a percentage is a number such as `0.5`"
        )
    if text == "$":
        return "the formula without the signs around it"
    if text == "\\":
        return r"a command of letters; `\(`, `\[`, `\%`, `\&` and `\#` are not read"
    if text.isascii():
        return "a character of the notation, see docs/notation.md"
    name = f"U+{ord(text):04X}, {unicodedata.name(text, 'without a name')}"
    if text in _CHARACTERS:
        return f"`{_CHARACTERS[text]}` for {name}"
    return f"LaTeX for {name}"


_NAMES = {
    "NUMBER": "a number", "LETTER": "a letter", "RELATION": "a relation such as `=`", "RBRACE": "`}`",
    "PLUS": "a sign such as `+`", "CLOSE": "a closing bracket", "UNDER": "a subscript", "CARET": "a superscript",
    "OPEN": "an opening bracket", "$END": "the end", "COMMA": "a comma", "DIFFERENTIAL": "the d of the integral",
    "COLON": "a colon", "BAR_CLOSE": "a closing bar",
}  # fmt: skip


_PLACES = {
    "FORALL": "a quantifier before what it is about, with a colon after its letters",
    "EXISTS": "a quantifier before what it is about, with a colon after its letters",
    "UNDER": r"a letter that is declared with its subscript; a positive part is `\max\{x,0\}`",
}


def expected(error: UnexpectedInput) -> str:
    """What could have stood where the grammar fits no further."""
    token = getattr(error, "token", None)
    if token is not None and token.type in _PLACES:
        return _PLACES[token.type]
    wanted = getattr(error, "expected", None) or getattr(error, "accepts", None) or ()
    named = [_NAMES[kind] for kind in _NAMES if kind in wanted]
    return " or ".join(named[:4]) + " here" if named else "something else here, see docs/notation.md"
