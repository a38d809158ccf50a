"""What a letter stands for: a number of its domain, a formula, or a functional such as an expectation.

To treat it as a number that may be anything in its domain is sound for proofs, and unsound for refutations: a letter
for `\\log n` is not 1 at n = 2, and a letter for an expectation may have no law behind it. So a letter that stands for
a formula has its value in every counterexample, and nothing is false at a point where a functional was given one.
"""

from __future__ import annotations

import re

from dpverify.formulas.expressions import Variable
from dpverify.formulas.notation.tokens import DRESS, end_of_group, normal, texts

NUMBER = "number"
"""It has every value of its domain, whatever values the other letters have."""
FUNCTIONAL = "functional"
"""It is made of laws, functions or data, and which values it has together with other letters is not known."""

_OF_LAWS = re.compile(
    r"\b(expect(ed|ation)|mean|average|divergence|information|entropy|risk|total variation|trade-off|privacy loss"
    r"|variance of|moment|distance (of|between) the? ?(laws?|outputs?)|prob(ability)? (that|of)|mass (of|under)"
    r"|integral|volume|supremum|infimum|smallest value|largest value|minimum of|maximum of)\b",
    re.IGNORECASE,
)
_OPERATORS = frozenset(
    (r"\log", r"\ln", r"\exp", r"\max", r"\min", r"\sup", r"\inf", r"\Pr", r"\sum", r"\prod", r"\int", r"\frac",
     r"\sqrt", r"\binom", r"\lim", r"\arg", r"\det", r"\nabla", r"\partial", r"\Phi", r"\Gamma(")
)  # fmt: skip


_LABELS = [(mark,) for mark in ("(", "*", r"\star", r"\ast", r"\dagger", "+", "-")]
"""With which a superscript begins that is no power."""


def is_plain(latex: str) -> bool:
    """Whether LaTeX is one letter, or a name: with an accent or in another alphabet, with scripts, and with no power.

    `\\theta^*`, `x_{t+1}'` and `\\hat f` are; `r^2`, `e^{r}`, `f(x)` and `\\log n` are not.
    """
    if re.fullmatch(r"\w+", latex):
        return True
    parts = texts(normal(latex))
    if not parts:
        return False
    first, at = parts[0], 1
    if first in DRESS:
        at = end_of_group(parts, 1)
        if at > 4 and not all(re.fullmatch(r"[A-Za-z]", part) for part in parts[2 : at - 1]):
            return False
    elif not re.fullmatch(r"[A-Za-z]|\\[A-Za-z]+|\\operatorname\{\w+\}", first) or first in _OPERATORS:
        return False
    if first == "e" and parts[at : at + 1] == ("^",):
        return False
    while at < len(parts):
        if parts[at] == "'":
            at += 1
            continue
        stop = end_of_group(parts, at + 1)
        if parts[at] not in ("_", "^") or (parts[at] == "^" and not _is_label(parts[at + 2 : stop - 1])):
            return False
        at = stop
    return True


def _is_label(above: tuple[str, ...]) -> bool:
    """Whether a superscript is no power: a star, a word, a number in brackets."""
    word = len(above) > 1 and all(re.fullmatch(r"[A-Za-z]", mark) for mark in above)
    named = any(mark.startswith((r"\text", r"\operatorname", r"\mathrm")) for mark in above)
    return word or named or above[:1] in _LABELS


def may_be_a_functional(letter: Variable) -> bool:
    """Whether nothing says that a letter is a number of its domain: by what is declared, else by LaTeX and meaning.

    One that stands for a formula has not all values of its domain either, as long as it is not replaced by it.
    """
    if letter.stands_for:
        return letter.stands_for != NUMBER
    return not is_plain(letter.latex or letter.name) or bool(_OF_LAWS.search(letter.meaning))


def definition_of(letter: Variable) -> str:
    """The LaTeX that defines a letter where it can be read with the other letters; empty where none can.

    A number whose LaTeX is a formula of other letters has its value: `e^\\varepsilon` does beside `\\varepsilon`.
    """
    if letter.stands_for not in ("", NUMBER, FUNCTIONAL):
        return letter.stands_for
    if letter.stands_for == FUNCTIONAL or is_plain(letter.latex or letter.name):
        return ""
    return letter.latex
