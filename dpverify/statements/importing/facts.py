"""What conditions and sentences say of the domains of letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from dpverify.errors import InvalidArgumentError
from dpverify.statements.importing.cleaning import DOTS, SIGNS
from dpverify.statements.importing.records import LetterFact
from dpverify.statements.importing.tables import ending, meanings
from dpverify.statements.importing.usage import behind_label, parts_if_read, sides, written
from dpverify.statements.pages.letters import read_domain, single

DOMAINS = meanings("domains")
"""What is guessed of a letter of which nothing is said, by its name; of all others, that it is real."""
_NAMED = meanings("named")
"""What is guessed of a letter of which it is said what it is."""
_KINDS = meanings("kinds")
_UNCERTAIN = (r"\mathbb{N}", r"\mathbb{R}_{+}", r"\mathbb{R}^{+}")
"""Of which it is not agreed whether 0 is in them."""
_INTERVAL = re.compile(r"([\[(])(-?[\d./]+|-\\infty),(-?[\d./]+|\+?\\infty)([\])])")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(/\d+)?")
_BOUND = {"<": "<", ">": ">", r"\le": "<=", r"\ge": ">="}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def by_meaning(meaning: str) -> tuple[str, str]:
    """What is guessed of a letter by what it is said to be, with the word that says it; empty where none does."""
    head = re.split(r" (?:of|for|in|with) ", meaning)[0].split()
    found = (ending(" ".join(head[:stop]), _NAMED) for stop in range(len(head), 0, -1))
    word = next(filter(None, found), "")
    return _NAMED.get(word, ""), word


def until_mark(words: Sequence[str] | Iterator[str]) -> Iterator[str]:
    for word in words:
        if word in ("", ",", ";", "(", ")", ":") or word.startswith("$"):
            return
        yield re.sub(r"[.!?]+$", "", word)
        if word.endswith("."):
            return


def letter_list(parts: tuple[str, ...], *, labels: bool = False) -> list[str]:
    """The letters of `n, m`, or of `x^{(0)}, f(t)` with labels and arguments; none where there is anything else."""
    found, at = list[str](), 0
    while at < len(parts):
        if found and parts[at] in DOTS and parts[at + 1 : at + 2] == (",",):
            at += 2  # `c_1, \dots, c_n`
        stop = behind_label(parts, at) if labels else single(parts, at)
        if labels and stop > at and parts[stop : stop + 1] == ("(",) and ")" in parts[stop:]:
            stop = parts.index(")", stop) + 1
        if stop == at or (stop < len(parts) and parts[stop] != ","):
            return []
        found.append(written(parts[at:stop]))
        at = stop + 1
    return found


def kinds_in(parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Of `x,y\\in\\mathbb{R}^d`, that they are vectors; of other sets, what their elements are."""
    if parts.count(r"\in") != 1:
        return
    at = parts.index(r"\in")
    where = "".join(parts[at + 1 :])
    for letter in letter_list(parts[:at], labels=True):
        power = re.fullmatch(r"\\mathbb\{R\}\^\{(.*)\}", where)
        if power and power[1] not in ("1", "+"):
            yield letter, "matrix" if r"\times" in power[1] else "vector"
        elif where in _KINDS:
            yield letter, _KINDS[where]
        elif re.fullmatch(r"\[[A-Za-z]\]", where):
            yield letter, "integer >= 1"
        elif where.startswith((r"\mathcal", r"\mathbb", r"\{")):
            yield letter, "several"


def is_member(latex: str) -> bool:
    """Whether a condition says of letters that they are vectors or matrices, or of terms that they are real."""
    kinds = {kind for _, kind in kinds_in(parts_if_read(latex))}
    return bool(kinds & {"vector", "matrix"}) or (kinds == {"real"} and facts_of(latex, 0) is None)


def facts_of(latex: str, line: int) -> dict[str, LetterFact] | None:
    """What a condition says of each letter's domain, where it says nothing else: `0<p<1`, `n\\ge1`, `x\\in[0,1]`."""
    parts = parts_if_read(latex)
    if r"\in" in parts:
        at = parts.index(r"\in")
        where = "".join(parts[at + 1 :])
        letters = letter_list(parts[:at])
        said = "vector" if re.fullmatch(r"\\mathbb\{R\}\^\{[A-Za-z0]+\}", where) else _KINDS.get(where, "")
        if match := _INTERVAL.fullmatch(where):
            said = re.sub(r"\+?\\infty", "oo", "{}{}, {}{}".format(*match.groups()))
        if not letters or not said:
            return None
        return {letter: LetterFact(said, line, where not in _UNCERTAIN) for letter in letters}
    signs = [part for part in parts if part in SIGNS]
    pairs = list(pairwise(sides(parts, tuple(_BOUND))))
    if not set(signs) <= set(_BOUND) or len(pairs) != len(signs):  # some stand in brackets
        return None
    found: dict[str, list[str]] = {}
    for sign, (left, right) in zip(signs, pairs, strict=True):
        letters, value, bound = letter_list(left), "".join(right), _BOUND[sign]
        if not letters:
            letters, value, bound = letter_list(right), "".join(left), _TURNED[bound]
        if not letters or not _NUMBER.fullmatch(value) or (len(letters) > 1 and len(signs) > 1):
            return None
        for letter in letters:
            found.setdefault(letter, []).append(f"{bound} {value}")
    if len(signs) > 2 or not found or (len(signs) == 2 and len(found) > 1):
        return None
    return {letter: LetterFact(", ".join(said), line) for letter, said in found.items()}


def ranged_in(conditions: Iterable[str]) -> Iterator[str]:
    """Letters between two bounds, `0\\le i\\le n`, or of which values are listed, `k=0\\vee k=1`."""
    for parts in map(parts_if_read, conditions):
        found = list(sides(parts, ("=", r"\vee", *_BOUND)))
        if len(found) > 2 and (r"\vee" in parts or "=" not in parts):
            yield written(found[0 if r"\vee" in parts else 1])


def joined(domains: Sequence[str]) -> str | None:
    """Several domains in one; None where they do not fit together, empty of none."""
    if not domains:
        return ""
    try:
        found = [read_domain(text) for text in dict.fromkeys(domains)]
        if any(one.kind == "vector" for one in found):
            return "vector" if len(found) == 1 else None
        low = max(((d.lower, d.lower_open) for d in found if d.lower is not None), default=None)
        high = min(((d.upper, not d.upper_open) for d in found if d.upper is not None), default=None)
        kind = "integer" if any(one.kind == "integer" for one in found) else ""
        above = f"{'>' if low[1] else '>='} {low[0]}" if low else ""
        under = f"{'<=' if high[1] else '<'} {high[0]}" if high else ""
        said = f"{kind} {', '.join(filter(None, (above, under)))}".strip() or "real"
        read_domain(said)
        return said
    except InvalidArgumentError:
        return None


def is_one_letter(latex: str) -> bool:
    """Whether LaTeX is one letter."""
    parts = parts_if_read(latex)
    return bool(parts) and single(parts, 0) == len(parts)
