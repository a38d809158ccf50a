"""What is said in words of functions, and of sets of vectors, and what each stands for: a formula, once and for all.

A sentence is no more than its formula: none of these words is known to the checker.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import Latex, normal, texts
from dpverify.proving.theorems.letters import Alphabet, Tokens

_ALL = r"\forall X_{9991}\in V, X_{9992}\in V:\ "
_INDEX = r"\forall X_{9991}\in\mathbb{Z}"
_SEGMENT = r"\forall X_{9991}\in V, X_{9992}\in V, X_{9993}\in\mathbb{R}:\ "
_BETWEEN = r"0\le X_{9993}\text{ and }X_{9993}\le 1\implies "
_POINT = r"X_{9993}X_{9991}+(1-X_{9993})X_{9992}"
_SHORT = r"X_{9993}f(X_{9991})+(1-X_{9993})f(X_{9992})"
_TANGENT = r"f(X_{9991})+\langle g(X_{9991}),X_{9992}-X_{9991}\rangle"
_CURVED = r"\frac{m}{2}\|X_{9992}-X_{9991}\|^2"
SENTENCES = {
    r"C\text{ is a convex set}":
        _SEGMENT + r"X_{9991}\in C\text{ and }X_{9992}\in C\text{ and }" + _BETWEEN + _POINT + r"\in C",
    r"f\text{ is convex}": _SEGMENT + _BETWEEN + rf"f({_POINT})\le {_SHORT}",
    r"f\text{ is }m\text{-strongly convex}":
        _SEGMENT + _BETWEEN
        + rf"f({_POINT})\le {_SHORT}-\frac{{m}}{{2}}X_{{9993}}(1-X_{{9993}})\|X_{{9991}}-X_{{9992}}\|^2",
    r"f\text{ is convex with subgradient }g": _ALL + _TANGENT + r"\le f(X_{9992})",
    r"f\text{ is }m\text{-strongly convex with subgradient }g": _ALL + _TANGENT + "+" + _CURVED + r"\le f(X_{9992})",
    r"f\text{ is }m\text{-smooth with gradient }g": _ALL + r"f(X_{9992})\le " + _TANGENT + "+" + _CURVED,
    r"f\text{ is }m\text{-Lipschitz}": _ALL + r"|f(X_{9991})-f(X_{9992})|\le m\|X_{9991}-X_{9992}\|",
    r"g\text{ is the projection onto }C":
        r"(\forall X_{9991}\in V:\ g(X_{9991})\in C)\text{ and }(\forall X_{9991}\in V, X_{9992}\in V:\ "
        r"X_{9992}\in C\implies\langle X_{9991}-g(X_{9991}),X_{9992}-g(X_{9991})\rangle\le 0)",
    r"x\text{ minimizes }f\text{ over }C":
        r"x\in C\text{ and }(\forall X_{9991}\in V:\ X_{9991}\in C\implies f(x)\le f(X_{9991}))",
    r"x\text{ minimizes }f": r"\forall X_{9991}\in V:\ f(x)\le f(X_{9991})",
    r"g\text{ permutes the whole numbers from }m\text{ to }n":
        rf"({_INDEX}:\ m\le X_{{9991}}\text{{ and }}X_{{9991}}\le n\implies m\le g(X_{{9991}})\text{{ and }}"
        rf"g(X_{{9991}})\le n)\text{{ and }}({_INDEX}, X_{{9992}}\in\mathbb{{Z}}:\ m\le X_{{9991}}\text{{ and }}"
        r"X_{9991}\le n\text{ and }m\le X_{9992}\text{ and }X_{9992}\le n\text{ and }g(X_{9991})=g(X_{9992})"
        r"\implies X_{9991}=X_{9992})",
}  # fmt: skip
"""Sentences and formulas, in which V is the page's Euclidean space and other letters stand for what is written."""


def signs_of(latex: str) -> Tokens:
    """LaTeX in its one form."""
    return texts(normal(latex))


def words_of(signs: Sequence[str]) -> tuple[str, ...]:
    """The words in LaTeX."""
    return tuple(sign for sign in signs if sign.startswith(r"\text"))


_KNOWN = {words_of(signs_of(sentence)): (sentence, formula) for sentence, formula in SENTENCES.items()}


def unfolded(signs: Tokens, alphabet: Alphabet) -> Tokens | None:
    """The formula that a sentence stands for; None for what is no such sentence.

    A function may have `\\cdot` in place of its argument, as `F(D,\\cdot)`.
    """
    found = _KNOWN.get(words_of(signs))
    if found is None:
        return None
    spaces = [latex for latex, (_, kind) in alphabet.types.items() if kind == "space"]
    if len(spaces) != 1 and "V" in signs_of(found[1]):
        raise InvalidArgumentError("theorem", Latex(" ".join(signs)), "one Euclidean space on the page")
    values = dict(zip(_slots(signs_of(found[0])), _slots(signs), strict=True))
    formula, at, shown = signs_of(found[1]), 0, list[str]()
    if spaces:
        values = {("V",): spaces[0], **values}
    while at < len(formula):
        value = values.get((formula[at],), (formula[at],))
        if formula[at : at + 2] in (("f", "("), ("g", "(")) and r"\cdot" in value:
            stop = closing_round(formula, at + 1)
            argument = _put(formula[at + 2 : stop], values)
            shown += [s for sign in value for s in (argument if sign == r"\cdot" else (sign,))]
            at = stop + 1
            continue
        shown += value
        at += 1
    return tuple(shown)


def closing_round(signs: Tokens, start: int) -> int:
    """The place of the round bracket that closes the one at a place."""
    depth = 0
    for k in range(start, len(signs)):
        depth += (signs[k] == "(") - (signs[k] == ")")
        if depth == 0:
            return k
    raise AssertionError("a bracket that is not closed")


def _put(signs: Tokens, values: dict[Tokens, Tokens]) -> Tokens:
    return tuple(s for sign in signs for s in values.get((sign,), (sign,)))


def _slots(signs: Tokens) -> list[Tokens]:
    """What stands between words."""
    found: list[Tokens] = [()]
    for sign in signs:
        found = [*found, ()] if sign.startswith(r"\text") else [*found[:-1], (*found[-1], sign)]
    return [one for one in found if one]
