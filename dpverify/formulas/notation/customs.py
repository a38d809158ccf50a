"""What readers are used to: names of functions, words that letters side by side spell, numbers with a comma."""

from __future__ import annotations

import re

from dpverify.formulas.notation.signs import CLOSERS, OPENERS, Sign
from dpverify.formulas.notation.tokens import DRESS, end_of_group, refusal

_FUNCTIONS = frozenset((*"fghFGH", r"\phi", r"\varphi", r"\psi", r"\Phi", r"\Psi"))
"""What is called a function so often that its square and a sum of two are functions, too."""
_NAMES = _FUNCTIONS | {
    *"pqELOPQRTV", r"\ell", r"\delta", r"\epsilon", r"\varepsilon", r"\mu", r"\nu", r"\pi", r"\rho", r"\chi", r"\omega",
    r"\Gamma", r"\Theta", r"\Omega",
}  # fmt: skip
_MARKS = [("LBRACE", mark, "RBRACE") for mark in ("PLUS", "MINUS", "TIMES")]
_ALPHABETS = frozenset((r"\mathrm", r"\mathbb", r"\mathcal", r"\mathsf", r"\mathfrak", r"\mathscr"))
_SPELLED = re.compile(
    "exp|log|ln$|max|min|sup|inf|lim|sin|cos|tan|sqrt|frac|sum|prod|int|erf|det|gcd|mod|arg|sgn|sign|poly|^Pr$"
    "|alpha|beta|gamma|delta|epsilon|zeta|theta|iota|kappa|lambda|^pi$|rho|sigma|tau|phi|chi|psi|omega"
    "|and|^or$|^if$|iff|for|all|not|let|where|with"
)


def may_name_a_function(parts: tuple[str, ...], *, alone: bool = True) -> bool:
    """Whether a letter of these pieces, as `normal` makes them, is what functions are called; scripts aside.

    Where it does not stand alone, but squared or as a term of a sum, fewer letters look like a function.
    """
    if not parts:
        return False
    stop = end_of_group(parts, 1) if parts[0] in DRESS else 1
    name = parts[0]
    if name in DRESS and name not in _ALPHABETS:
        return may_name_a_function((*parts[2 : stop - 1], *parts[stop:]), alone=alone)
    while stop < len(parts) and parts[stop] in ("_", "^", "'"):
        stop = stop + 1 if parts[stop] == "'" else end_of_group(parts, stop + 1)
    names = _NAMES if alone else _FUNCTIONS
    return stop == len(parts) and (name in names | _ALPHABETS or name.startswith(r"\operatorname{"))


def spelled(letters: str) -> str:
    """The word that single letters side by side spell, such as `exp`; empty if there is none."""
    match = _SPELLED.search(letters)
    return match[0] if match else ""


def check_customs(latex: str, found: list[Sign]) -> None:
    """Refuse what is typed as letters and signs and seen as something else: `1e-5`, `1,000`, `exp(x)`, `<=`."""
    _check_words(latex, found)
    inside: list[str] = []
    """Of each bracket around a token, what commas part in it: the two of an interval, arguments, or formulas."""
    for i, token in enumerate(found):
        if token.type in OPENERS:
            called = i > 0 and found[i - 1].type in ("FUNCTION", "RBRACE")
            two = token.type in ("ANGLE_OPEN", "INTERVAL_OPEN")
            inside.append("two" if two else "arguments" if called else "")
        elif token.type in CLOSERS:
            inside.pop()
        following = found[i + 1 : i + 4]
        kinds = tuple(after.type for after in following)
        if token.type == "NUMBER" and kinds:
            _check_exponent(latex, token, following, kinds)
            if kinds[0] == "NUMBER":
                one, other = (latex[t.start : t.end] for t in (token, following[0]))
                allowed = f"one of two readings: `{one}{other}`, one number, or `{one}\\cdot {other}`"
                raise refusal(latex, token.start, following[0].end, allowed)
            if kinds[:2] == ("COMMA", "NUMBER"):
                _check_comma(latex, token, following[1], inside[-1] if inside else "")
        _check_signs(latex, token, following, kinds)


def _check_signs(latex: str, token: Sign, following: list[Sign], kinds: tuple[str, ...]) -> None:
    """`<=`, `:=`, `(x)^+` and `\\max_i`."""
    allowed = ""
    if token.type in ("RELATION", "COLON") and kinds[:1] in (("RELATION",), ("COLON",)):
        meant = {"<=": r"\le", "=<": r"\le", ">=": r"\ge", "==": "=", "<>": r"\ne"}
        typed = latex[token.start : following[0].end]
        allowed = f"`{meant[typed]}`" if typed in meant else "one relation between two sides"
        if "COLON" in (token.type, *kinds[:1]):
            allowed = "`=` where it is claimed; a definition stands apart"
    elif token.type == "CARET" and kinds in _MARKS:
        allowed = r"a power, or a letter that is declared with its mark; a positive part is `\max\{x,0\}`"
    elif token.type == "FUNCTION" and token in (r"\max", r"\min") and kinds[:1] == ("UNDER",):
        allowed = rf"`{token}` of numbers in brackets, or a declared letter for the whole"
    if allowed:
        raise refusal(latex, token.start, following[0].end, allowed)


def _check_words(latex: str, found: list[Sign]) -> None:
    start = 0
    for i in range(1, len(found) + 1):
        token = found[i - 1]
        single = token.end - token.start == 1 and latex[token.start].isalpha()
        touches = i < len(found) and token.end == found[i].start
        if single and touches and found[i].end - found[i].start == 1 and latex[found[i].start].isalpha():
            continue
        run = latex[found[start].start : token.end] if single else ""
        word = spelled(run)
        if word and len(run) > 1:
            letters = r"\cdot ".join(word)
            raise refusal(
                latex, found[start].start, token.end,
                rf"one of two readings: `{letters}`, a product, or `{word}` as a command or, in `\text`, a word",
            )  # fmt: skip
        start = i


def _check_exponent(latex: str, number: Sign, following: list[Sign], kinds: tuple[str, ...]) -> None:
    """`1e-5` and `1e5`."""
    euler = following[0].type == "EULER" or latex[following[0].start : following[0].end] in ("e", "E")
    signed = kinds[1:] in (("PLUS", "NUMBER"), ("MINUS", "NUMBER"))
    if not euler or not (signed or kinds[1:2] == ("NUMBER",)):
        return
    last = following[2] if signed else following[1]
    digits = latex[last.start : last.end]
    minus = "-" if kinds[1] == "MINUS" else ""
    whole, letter = (latex[t.start : t.end] for t in (number, following[0]))
    power = f"10^{{{minus}{digits}}}" if whole == "1" else rf"{whole}\cdot 10^{{{minus}{digits}}}"
    product = rf"{whole}\cdot {letter}" + (f"{following[1]}{digits}" if signed else rf"\cdot {digits}")
    raise refusal(latex, number.start, last.end, f"one of two readings: `{power}`, or `{product}`")


def _check_comma(latex: str, left: Sign, right: Sign, parted: str) -> None:
    """`1,000`, `1{,}000` and `0,5`; between arguments a comma is needed, and so may be followed by digits."""
    between = latex[left.end : right.start]
    one, other = latex[left.start : left.end], latex[right.start : right.end]
    if between not in (",", "{,}"):
        return
    grouped = re.fullmatch(r"[1-9]\d?\d?", one) is not None and re.match(r"\d{3}(?!\d)", other) is not None
    if between == "{,}" or (grouped and parted != "two") or not parted:
        raise refusal(
            latex, left.start, right.end,
            f"one of two readings: `{one + other if grouped else one.replace('.', '') + '.' + other}`, one number, or "
            f"`{one}` and, with a space after the comma, `{other}`",
        )  # fmt: skip
