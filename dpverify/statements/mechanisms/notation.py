"""Rows of signs on pages of mechanisms: laws of noise, sums, outcomes, and letters with an index."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import Latex, end_of_group
from dpverify.proving.checker.theorems.language import Node
from dpverify.proving.theorems.letters import Tokens
from dpverify.proving.theorems.notation import TheoremReader
from dpverify.proving.theorems.signs import closing, signs_of, split

FOR_EACH = re.compile(r"(Draw|Query)( \((line \d+)?(, )?(for each \$)?\))?:")
"""Sentences before draws, and before queries of which there is one for each of several; formulas are `$`."""


def check_sentence(role: str, words: str, said: Sequence[str]) -> None:
    """Refuse what else is said of draws than that there is one for each of several; of queries, too, where it is said.

    Raises:
        InvalidArgumentError: for other words.
    """
    each = role == "query" and any(r"\in" in signs_of(one) for one in said)
    again = "anew" in words.casefold()  # which is looked at elsewhere
    if (each or (role == "draw" and not again)) and not FOR_EACH.fullmatch(" ".join(words.split())):
        allowed = f"`{role.title()}:` or `{role.title()} (for each $j\\in\\{{1,\\dots,k\\}}$):`"
        raise InvalidArgumentError("sentence", words.strip(), allowed)


def law_of_noise(reader: TheoremReader, latex: str, signs: Tokens) -> Node:
    """A law, or a sentence about one that there is not."""
    if signs[:1] == (r"\operatorname{Gumbel}",):
        allowed = r"the exponential mechanism, `j\sim\propto e^{q(r)/b}\text{ at }r\in R`, the same thing"
        raise InvalidArgumentError("draw", Latex(latex), allowed)
    return reader.law(signs)


def outcome(reader: TheoremReader, signs: Tokens) -> Node:
    """What is put out: a number, an outcome, or several, `(y,z,\\dots)`, as pairs within pairs."""
    if signs[:1] == ("(",) and closing(signs, 0) == len(signs) - 1:
        first, *others = split(signs[1:-1], ",")
        if others:
            *made, last = (outcome(reader, one) for one in (first, *others))
            for one in reversed(made):
                last = ("pair", one, last)
            return last
    return reader.point(signs)


def indexed(signs: Tokens, base: Tokens) -> Tokens:
    """Signs in which the indices of records are arguments."""
    found, k = list[str](), 0
    while k < len(signs):
        if signs[k : k + len(base) + 1] == (*base, "_"):
            stop = end_of_group(signs, k + len(base) + 1)
            inside = signs[k + len(base) + 2 : stop - 1]
            found += [*base, "(", *indexed(inside, base), ")"]
            k = stop
        else:
            found.append(signs[k])
            k += 1
    return tuple(found)
