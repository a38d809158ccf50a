"""A relation whose terms are one letter each, where what is in them is not read: products of matrices, lists."""

from __future__ import annotations

from dpverify.formulas.notation.tokens import end_of_group
from dpverify.statements.importing.cleaning import DOTS, SIGNS, UnreadError, depths, outer
from dpverify.statements.importing.facts import DOMAINS
from dpverify.statements.importing.tables import meanings, words
from dpverify.statements.importing.terms import LAW_NAMES, FormulaTerms, goes_on
from dpverify.statements.importing.usage import (
    ENDS,
    SETS,
    TRANSPOSED,
    LetterUses,
    as_letter,
    base_of,
    behind_label,
    below,
    closing_bar,
    is_capital,
    parts_of,
    sides,
    until,
    written,
)
from dpverify.statements.pages.letters import single

_OPEN_ENDED = words("big") | set(meanings("laws")) | {r"\sum", r"\prod", r"\Pr", r"\mathbb"}
"""What may go on behind a plus."""
_NEVER = words("vague_parts") | SETS | {r"\{", r"\mid", r"\implies", r"\iff", ":", ";", "O", "o"}
_KNOWN = words("known") | _OPEN_ENDED | words("products") | SETS | words("inside_terms")


def looks_like_vectors(latex: str, uses: LetterUses) -> bool:
    """Whether a relation is an equation with a transpose, a gradient, a vector or a matrix outside of brackets."""
    try:
        parts = parts_of(latex)
        bars = _bars(parts)
    except UnreadError:
        return False
    if outer(parts).count("=") != 1 or r"\int" in parts:
        return False
    for i, (part, depth) in enumerate(zip(parts, depths(parts), strict=True)):
        if depth or any(i in inside for inside in bars):
            continue
        if part == r"\nabla" and "^" not in parts[i : i + 2]:
            return r"^{\top}" not in "".join(parts)
        stop = single(parts, i)
        if stop == i:
            continue
        capital, sort = is_capital(base_of(parts[i:stop])), uses.sort(parts[i:stop])
        if parts[stop : stop + 4] in TRANSPOSED and not capital:
            return False  # a vector that is transposed begins a product that is a number
        if parts[stop : stop + 1] != ("(",) and (sort in ("vector", "matrix") or (capital and not sort)):
            return True
    return False


def whole_terms(latex: str, uses: LetterUses, domain: str) -> FormulaTerms:
    """The letters of a relation, each term of its sides but for numbers before it being one, of the same domain.

    Raises:
        UnreadError: where it is not clear where a term ends, or whether numbers are compared.
    """
    parts = parts_of(latex)
    signs = [part for part in outer(parts) if part in ENDS and part not in DOTS]
    if len(signs) != 1 or signs[0] not in SIGNS.values() or signs[0] == r"\in":
        raise UnreadError("it is not one comparison")
    found = FormulaTerms()
    at = 0
    for side in sides(parts, (signs[0],)):
        for start, stop, grouped in _terms(side):
            _term(parts[at + start : at + stop], uses, domain, found, grouped=grouped)
        at += len(side) + 1
    if not found.opaque:
        raise UnreadError("it has no term that could be one letter")
    return found


def _terms(side: tuple[str, ...]) -> list[tuple[int, int, bool]]:
    """Where the terms of a sum begin and end, and whether each is several: a list, or what may go on behind a plus."""
    if any([*depths(side)][-1:]):
        raise UnreadError("a bracket is not closed")
    # those of `\\exp\\{`, `\\min\\{`, `\\max\\{` and of laws hold no sets
    braces = any(p == r"\{" and (k == 0 or side[k - 1][-1] not in "pnx})") for k, p in enumerate(side))
    bars = _bars(side)
    outside = [part for part in outer(side) if part != "|"]
    if braces or _NEVER & set(outside):
        raise UnreadError("it may be about sets or laws")
    if DOTS & set(outside):
        return [(0, len(side), False)]
    start = 0
    found: list[tuple[int, int, bool]] = []
    for i, depth in enumerate(depths(side)):
        if depth == 0 and side[i] in ("+", "-") and not any(i in inside for inside in bars):
            if i > start and not ends_before(side[start:i], side[i:]):
                # whether it ends here or not, with all that comes it is one number, but for a minus before it
                negative = side[start - 1 : start] == ("-",)
                return [(0, len(side), True)] if negative else [*found, (start, len(side), True)]
            found += [(start, i, False)] * (i > start)
            start = i + 1
    return [*found, (start, len(side), False)]


def ends_before(term: tuple[str, ...], rest: tuple[str, ...]) -> bool:
    """Whether all that may go on behind a term has an index that is not in what comes."""
    for k, (part, depth) in enumerate(zip(term, depths(term), strict=True)):
        inner = below(term, k + 1)
        if depth or not (part in _OPEN_ENDED or (part in (r"\max", r"\min") and inner)):
            continue
        index = written(inner[: single(inner)])
        if not index or goes_on(rest, index):
            return False
    return True


def _bars(side: tuple[str, ...]) -> list[range]:
    """What stands between bars of norms and absolute values."""
    found: list[range] = []
    i = 0
    while (i := until(side, i, ("|", r"\|"))) < len(side) and side[i] in ("|", r"\|"):
        found.append(range(i, closing_bar(side, i)))
        i = found[-1].stop + 1
    return found


def _term(
    term: tuple[str, ...], uses: LetterUses, domain: str, found: FormulaTerms, *, grouped: bool
) -> None:
    """Take the numbers before a term as letters, and the rest as one."""
    i = 0
    while i < len(term) and not grouped and (stop := _number(term, i, uses)) > i:
        for k in range(i, stop):
            name = written(term[k : single(term, k)])
            if name and name not in found.letters and single(term, k) <= stop:
                found.letters.append(name)
        i = stop
    rest = term[i:]
    for k, (part, depth) in enumerate(zip(rest, depths(rest), strict=True)):
        differential = part == "d" and single(rest, k) == k + 1 and single(rest, k + 1) > k + 1
        if differential and not depth and r"\int" not in rest:
            raise UnreadError("it may have differentials in it")
        if part[0] == "\\" and not (part in _KNOWN or single(rest, k) > k or rest[k + 1 : k + 2] == ("(",)):
            raise UnreadError(f"{part} is not read in a formula")
        if written(rest[k : single(rest, k)]) in LAW_NAMES:
            raise UnreadError("it may be about laws")
    if not rest:
        return
    if rest == (r"\infty",):
        raise UnreadError("infinity is no number")
    if rest[0] in ("^", "_", "/", r"\cdot", r"\times", "'") or not any(part[-1].isalpha() for part in rest):
        raise UnreadError("it is not clear of what a term is made")
    found.opaque[as_letter(rest)] = domain


def _number(term: tuple[str, ...], i: int, uses: LetterUses) -> int:
    """Behind a numeral, a fraction of numbers or a letter that is one, with nothing above; `i` where there is none."""
    stop = i
    if term[i].isdigit() or term[i] == r"\cdot":
        stop = i + 1
    elif term[i] == r"\frac":
        middle = end_of_group(term, i + 1)
        stop = end_of_group(term, middle)
        for part in (term[i + 2 : middle - 1], term[middle + 1 : stop - 1]):
            if not all(piece.isdigit() or _counts((piece,), uses) for piece in part):
                return i
    elif behind_label(term, i) == single(term, i) > i:
        stop = single(term, i)
        if not _counts(term[i:stop], uses) or (stop == len(term) and uses.sort(term[i:stop]) != "number"):
            return i
    follows = term[stop : stop + 1]
    return i if follows and follows[0] in ("^", "(", "[", "_", "'", "!", "/") else stop


def _counts(letter: tuple[str, ...], uses: LetterUses) -> bool:
    """Whether a letter is a number, by its use or by its name."""
    sort = uses.sort(letter) if single(letter) == len(letter) else "none"
    return sort == "number" or (not sort and base_of(letter) in DOMAINS and not base_of(letter)[-1].isupper())
