"""LaTeX of theorems as signs: what stands in no brackets, where brackets and products end, words and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import Latex, normal, texts
from dpverify.proving.theorems.letters import Tokens

RELATIONS = {"=": "==", r"\ne": "!=", r"\le": "<=", "<": "<", r"\ge": ">=", ">": ">"}
OPENERS = {"(": ")", "[": "]", r"\{": r"\}", "{": "}", r"\langle": r"\rangle"}
_CONDITIONS = {
    rf"\text{{{words}}}" for words in ("for", "for all", "for every", "for any", "if", "when", "whenever")
}
_BESIDE = {
    r"\implies": {",", r"\iff", *_CONDITIONS}, r"\text{and}": {r"\text{or}", r"\vee", r"\iff", *_CONDITIONS},
}  # fmt: skip
"""Signs that may not stand beside others: it would not be clear what they are about."""


def signs_of(latex: str) -> Tokens:
    """LaTeX in its one form."""
    return texts(normal(latex))


def written(signs: Sequence[str]) -> str:
    """Signs as LaTeX that a reader can read: digits of a number side by side."""
    return re.sub(r"(?<=[\d.]) (?=[\d.])", "", " ".join(signs))


def refused(signs: Sequence[str], allowed: str) -> InvalidArgumentError:
    """What is said of LaTeX that is not understood."""
    return InvalidArgumentError("theorem", Latex(written(signs)), allowed)


def closing(signs: Tokens, start: int) -> int:
    """The place of what closes the bracket at a place."""
    for k, depth in enumerate(depths(signs[start:])):
        if depth == 0:
            return start + k
    raise refused(signs, f"what closes `{signs[start]}`")


def depths(signs: Tokens) -> Iterator[int]:
    """How many brackets are open behind each sign, each closed by its partner."""
    partners = list[str]()
    for sign in signs:
        if sign in OPENERS:
            partners.append(OPENERS[sign])
        elif partners and sign == partners[-1]:
            partners.pop()
        elif sign in OPENERS.values():
            raise refused(signs, f"`{partners[-1]}` before `{sign}`" if partners else f"what `{sign}` closes")
        yield len(partners)


def split(signs: Tokens, *at: str) -> list[Tokens]:
    """The parts between signs that stand in no brackets."""
    found, start = list[Tokens](), 0
    for k, depth in enumerate(depths(signs)):
        if depth == 0 and signs[k] in at:
            found.append(signs[start:k])
            start = k + 1
    return [*found, signs[start:]]


def split_said(signs: Tokens, at: str) -> list[Tokens]:
    """The parts of a formula between `\\implies` or `and`; what is said of all values of letters goes on to the end.

    Refused are parts with a condition, with `\\iff` and, as brackets could stand in two ways, with a list or `or`.
    """
    every = (k for k, depth in enumerate(depths(signs)) if depth == 0 and signs[k] == r"\forall")
    stop = next(every, len(signs))
    found = split(signs[:stop], at)
    for part in found if len(found) > 1 else ():
        bare = part[:-1] if part[-1:] == (",",) else part
        for sign, depth in zip(bare, depths(bare), strict=True):
            if depth == 0 and sign in _BESIDE[at] and r"\sim" not in part:
                raise refused(part, f"brackets that say what `{sign}` is about")
    return [*found[:-1], found[-1] + signs[stop:]]


def end_of_product(signs: Tokens, start: int) -> int:
    """Where a product ends that begins at a place: at the next sum, comma or relation, or with its bracket or bars."""
    depth, bars, norm, stops = 0, False, False, ("+", "-", ",", *RELATIONS)
    for k in range(start, len(signs)):
        depth += (signs[k] in OPENERS) - (signs[k] in OPENERS.values())
        norm ^= signs[k] == r"\|"
        if signs[k] == "|" and depth == 0:
            behind = signs[k + 1 : k + 2]
            ends = not behind or behind[0] in stops or behind[0] in OPENERS.values()
            if not bars and k > start and ends:
                return k
            bars = not bars
        if depth < 0 or (depth == 0 and not bars and not norm and signs[k] in stops and k > start):
            return k
    return len(signs)


def begins(signs: Tokens, at: int, word: Tokens) -> bool:
    """Whether a word stands at a place."""
    return signs[at : at + len(word)] == word


def name_of(signs: Tokens) -> str:
    """The name of a letter with some LaTeX."""
    return "".join(sign for sign in signs if sign not in "{}").replace("\\", "")
