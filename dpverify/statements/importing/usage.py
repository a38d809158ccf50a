"""How a paper uses its letters: which are called as functions are, which are vectors, which are compared as numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import CLOSING, DRESS, end_of_group, normal, texts
from dpverify.statements.importing.cleaning import SIGNS, VAGUE, UnreadError, depths, outer
from dpverify.statements.importing.tables import words
from dpverify.statements.pages.letters import single

ENDS = frozenset((*SIGNS, *VAGUE, r"\implies", r"\iff", r"\wedge", r"\vee", ",", ";", ":"))
"""What no product and no sum goes on behind."""
FUNCTION_LETTERS, SETS = words("function_letters"), words("sets")
TRANSPOSED = (("^", "{", "T", "}"), ("^", "{", r"\top", "}"), ("^", "{", r"\intercal", "}"))
_ORDERS = frozenset(("<", ">", r"\le", r"\ge"))
_BOLD = frozenset((r"\mathbf", r"\boldsymbol", r"\bm", r"\vec"))
_ACCENTS = frozenset((r"\hat", r"\widehat", r"\tilde", r"\widetilde", r"\bar", r"\overline", r"\check"))
LONGEST = 300
"""Characters of one letter at most."""
INDICES = frozenset("tkjs")
_WHOLE = frozenset("ijkmnd")


def parts_of(latex: str) -> tuple[str, ...]:
    """LaTeX in its one form.

    Raises:
        UnreadError: for what has none.
    """
    try:
        return texts(normal(latex))
    except InvalidArgumentError as error:
        raise UnreadError(f"not in the notation of formulas: {error.value} ({error.allowed})") from None


def parts_if_read(latex: str) -> tuple[str, ...]:
    """LaTeX in its one form; of what has none, nothing."""
    try:
        return parts_of(latex)
    except UnreadError:
        return ()


def written(parts: Iterable[str]) -> str:
    """Parts as LaTeX."""
    out = ""
    for part in parts:
        part = r"\sqrt[" if part == "[of root" else "]" if part == "of root]" else part
        out += (" " if re.search(r"\\[A-Za-z]+$", out) and part[:1].isalnum() else "") + part
    return out.replace(r"\sqrt\sqrt[", r"\sqrt[")


def as_letter(parts: Iterable[str]) -> str:
    """A term that is one letter, as LaTeX."""
    latex = written(parts)
    if len(latex) > LONGEST:
        raise UnreadError(f"a term that would be one letter is longer than {LONGEST} characters")
    return latex


def until(parts: tuple[str, ...], at: int, ends: Iterable[str]) -> int:
    """The index of the first of `ends` at or behind `at` outside of brackets, or of what closes a bracket around it."""
    found = zip(range(at, len(parts)), depths(parts[at:]), strict=True)
    return next((k for k, depth in found if depth < 0 or (depth == 0 and parts[k] in ends)), len(parts))


def below(parts: tuple[str, ...], at: int) -> tuple[str, ...]:
    """What is in the subscript at `at`; nothing where there is none."""
    return parts[at + 2 : end_of_group(parts, at + 1) - 1] if parts[at : at + 1] == ("_",) else ()


def closing(parts: tuple[str, ...], start: int) -> int:
    """The index of the bracket that closes the one at `start`; brackets of any form close one another."""
    for i, depth in enumerate(depths(parts[start:]), start):
        if depth == 0:
            return i
    raise UnreadError("a bracket is not closed")


def closing_bar(parts: tuple[str, ...], start: int) -> int:
    """The index of the bar that closes the one at `start`: the next of its kind behind a term, outside of brackets."""
    nested = 0
    for i, depth in enumerate(depths(parts[start + 1 :]), start + 1):
        if depth < 0:
            break
        if depth == 0 and parts[i] == parts[start]:
            before = parts[i - 1]
            ends = before in (*CLOSING, "}", "'", r"\|", "|") or re.fullmatch(r"\w|\\[A-Za-z]+", before)
            ended = i > start + 1 and ends
            if not ended or before in (r"\cdot", r"\times", r"\le", r"\ge", r"\mid", r"\in"):
                nested += 1
            elif nested:
                nested -= 1
            else:
                return i
    raise UnreadError("a bar that is not closed")


def is_list(inner: tuple[str, ...]) -> bool:
    """Whether brackets hold nothing but letters and commas: what nobody writes about a factor."""
    listed = list(sides(inner, (",", ";")))
    listed = listed[:-1] if listed[-1] == () and len(listed) > 1 else listed
    return all(part and behind_label(part, 0) == len(part) for part in listed)


def base_of(letter: tuple[str, ...]) -> str:
    """A letter without its scripts."""
    stop = end_of_group(letter, 1) if letter[0] in DRESS else 1
    return "".join(letter[:stop])


def is_capital(base: str) -> bool:
    """Whether a letter without scripts is a capital one, dressed or not."""
    return base.rstrip("}")[-1:].isupper()


def is_label(above: tuple[str, ...]) -> bool:
    """Whether a superscript is a name or a number in brackets, and no power."""
    latin = len(above) > 2 and all(re.fullmatch("[A-Za-z]", part) for part in above)
    numbered = above[:1] == ("(",) and len(above) < 6 and above[-1] == ")"
    return (
        latin
        or numbered
        or above == (r"\bot",)
        or "".join(above[:1]).startswith((r"\text", r"\operatorname", r"\mathrm"))
    )


def behind_label(parts: tuple[str, ...], start: int) -> int:
    """The index behind the letter at `start` and what labels it above: `x^{(k)}`."""
    stop = single(parts, start)
    if stop > start and parts[stop : stop + 1] == ("^",):
        end = end_of_group(parts, stop + 1)
        if is_label(parts[stop + 2 : end - 1]):
            return end
    return stop


def terms_in(parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The terms of a sum."""
    return filter(None, sides(parts, ("+", "-")))


def family_of(letter: tuple[str, ...]) -> str:
    """What a letter is one of: itself, or all with its base and a script where it has one, as `x_t` and `x_{t+1}`."""
    base = base_of(letter)
    kinds = [part for part in letter[end_of_group(letter, 1) if letter[0] in DRESS else 1 :] if part in "_^"]
    if letter[-3:-1] in [("{", mark) for mark in ("*", r"\star", r"\ast")]:
        kinds = kinds[:-1]
    return base + "".join(kinds)


@dataclass
class LetterUses:
    """How the letters of a paper are used, by all its formulas."""

    called: Counter[str] = field(default_factory=Counter)
    alone: Counter[str] = field(default_factory=Counter)
    sums: set[str] = field(default_factory=set)
    maps: set[str] = field(default_factory=set)
    lists: set[str] = field(default_factory=set)
    """Letters that have brackets with letters alone behind them somewhere, which no factor has."""
    kinds: dict[str, str] = field(default_factory=dict)
    """Of what sets letters are said to be elements."""
    vectors: Counter[str] = field(default_factory=Counter)
    """Families of letters, by how often they stand where vectors do."""
    places: dict[str, str] = field(default_factory=dict)
    """And where that was first."""
    indexed: set[str] = field(default_factory=set)
    """Letters that have indices above them, and no powers."""
    numbers: Counter[str] = field(default_factory=Counter)
    """Families of letters, by how often they are compared with others by their size, or said to be numbers."""

    def see(self, formulas: Sequence[tuple[str, ...]]) -> None:
        """Count how the letters of formulas are used."""
        first = (self.see_calls, self.see_vectors, self.see_sizes, self.see_indices)
        for take in (*first, self.see_sums, self.see_sums):
            for parts in formulas:
                with suppress(UnreadError):
                    take(parts)

    def see_calls(self, parts: tuple[str, ...]) -> None:
        """Which letters have brackets behind them."""
        stop = 0
        for i in range(len(parts)):
            if i < stop or (stop := behind_label(parts, i)) == i:
                continue
            base = base_of(parts[i:stop])
            for name in {base, written(parts[i:stop])}:
                if parts[stop : stop + 1] == ("(",):
                    inner = parts[stop + 1 : closing(parts, stop)]
                    self.called[name] += 1
                    if is_list(inner):
                        self.lists.add(name)
                    if {"+", "-"} & set(outer(inner)) or base in inner:
                        self.sums.add(name)
                elif parts[i - 1 : i] != (r"\nabla",) and (len(parts) > 3 or set(parts) & ENDS):
                    self.alone[name] += 1
            if parts[stop : stop + 1] == (":",) and any(p in parts for p in (r"\to", r"\rightarrow")):
                self.maps.add(base)

    def see_vectors(self, parts: tuple[str, ...]) -> None:
        """Which letters stand in norms, inner products and behind gradients, are transposed, or are bold."""
        for i, part in enumerate(parts):
            with suppress(UnreadError):
                if part == r"\|" and i + 1 < len(parts):
                    self.see_terms(parts[i + 1 : closing_bar(parts, i)], "in a norm")
                elif part == r"\langle":
                    for side in sides(parts[i + 1 : closing(parts, i)], (",",)):
                        self.see_terms(side, "in an inner product")
                elif part == r"\nabla":
                    stop = gradient_name(parts, i)
                    if parts[stop : stop + 1] == ("(",):
                        inner = parts[stop + 1 : closing(parts, stop)]
                        self.see_terms(next(sides(inner, (",", ";", "|", r"\mid"))), "behind a gradient")
                elif part == "^" and parts[i : i + 4] in TRANSPOSED:
                    start = next((k for k in range(i - 1, -1, -1) if single(parts, k) == i), i)
                    self.see_terms(parts[start:i], "transposed")
                elif part in _BOLD and re.match(r"[a-z\\]", "".join(parts[i + 2 : i + 3])):
                    self.see_terms(parts[i : single(parts, i)], "in bold")

    def see_terms(self, parts: tuple[str, ...], why: str) -> None:
        """Take the last letters of the terms of a sum of vectors."""
        for term in terms_in(parts):
            start = next((k for k in range(len(term)) if behind_label(term, k) == len(term)), None)
            if start is None or {r"\frac", r"\nabla", "(", r"\sum", r"\log"} & set(term[:start]):
                continue
            base = base_of(term[start:])
            if not (is_capital(base) or base in (*self.lists, "e", "f") or base.startswith(r"\operatorname")):
                self.is_vector(term[start:], why)

    def is_vector(self, letter: tuple[str, ...], why: str) -> None:
        """Count a letter as a vector."""
        self.vectors[family_of(letter)] += 1
        self.places.setdefault(family_of(letter), why)

    def see_sums(self, parts: tuple[str, ...]) -> None:
        """Which letters are the other terms of an equation between vectors."""
        if {"="} != ENDS & set(outer(parts)):
            return
        terms = [term for side in sides(parts, ("=",)) for term in terms_in(side)]
        if any(map(self.is_vector_sum, terms)):
            for term in terms:
                if single(term) == len(term) and not self.sort(term):
                    self.is_vector(term, "beside vectors")

    def see_indices(self, parts: tuple[str, ...]) -> None:
        """Which letters are said to be something for an index above: `x^{t+1} = ...`."""
        for side in list(sides(parts, ("=",)))[:-1]:
            stop = single(side)
            alone = stop and side[stop : stop + 1] == ("^",) and end_of_group(side, stop + 1) == len(side)
            if alone and INDICES & set(side[stop + 2 : -1]) and base_of(side[:stop]) != "e":
                self.indexed.add(base_of(side[:stop]))

    def see_sizes(self, parts: tuple[str, ...]) -> None:
        """Which letters are one side of an order."""
        if not _ORDERS & set(outer(parts)):
            return
        for side in sides(parts, tuple(ENDS)):
            called = bool(side) and base_of(side) in "fghFGH" and base_of(side) in self.lists
            if side and single(side) == len(side) and not called:
                self.numbers[family_of(side)] += 1

    def sort(self, letter: tuple[str, ...]) -> str:
        """`vector`, `matrix` or `number` where it is said or seen; empty where it is not, or seen as both."""
        said = self.kinds.get(written(letter), "")
        if said in ("vector", "matrix"):
            return said
        family = self.family(letter)
        number = self.numbers[family] + (said not in ("", "several")) + (base_of(letter) in _WHOLE)
        vector = self.vectors[family]
        return "vector" if vector > 3 * number else "number" if number > 3 * vector else ""

    def family(self, letter: tuple[str, ...]) -> str:
        """The family of a letter; with an accent that nothing is known of, that without."""
        family = family_of(letter)
        if family in self.vectors or family in self.numbers or letter[0] not in _ACCENTS:
            return family
        accented = end_of_group(letter, 1)
        inner = (*letter[2 : accented - 1], *letter[accented:])
        return self.family(inner) if inner else family

    def why(self, letter: tuple[str, ...]) -> str:
        """Where a letter stands as vectors do."""
        return self.places.get(self.family(letter), "")

    def holds(self, letter: tuple[str, ...]) -> bool:
        """Whether brackets behind a letter hold its argument, be it with its scripts or whatever they are."""
        return self._holds(base_of(letter), written(letter)) or self._holds(base_of(letter), base_of(letter))

    def _holds(self, first: str, base: str) -> bool:
        if base in self.maps:
            return True
        likely = first in FUNCTION_LETTERS or first.startswith((r"\mathcal", r"\mathrm", r"\operatorname"))
        if first in FUNCTION_LETTERS and base in self.lists and self.called[first] > self.numbers[first]:
            return True
        if self.alone[base] or not self.called[base] or base in ("i", "j", "k", "m", "n", "d", "e"):
            return False
        return (likely or self.called[base] > 1) and (base not in self.sums or likely)

    def is_vector_sum(self, parts: tuple[str, ...]) -> bool:
        """Whether all terms are numbers times one vector."""
        terms = list(terms_in(parts))
        return bool(terms) and all(map(self._is_vector_term, terms))

    def _is_vector_term(self, term: tuple[str, ...]) -> bool:
        vectors = i = 0
        while i < len(term):
            part = term[i]
            stop = behind_label(term, i)
            if term[i : i + 4] in TRANSPOSED:
                return False
            if part == r"\nabla":
                stop = gradient_end(term, i)
                vectors += 1
            elif stop > i:
                letter = term[i : single(term, i)]
                called = term[stop : stop + 1] == ("(",) and self.holds(letter)
                sort = self.sort(letter)
                if called or sort == "matrix" or (is_capital(base_of(letter)) and not sort):
                    return False
                vectors += sort == "vector"
            elif part in ("(", "["):
                stop = closing(term, i) + 1
                vectors += self.is_vector_sum(term[i + 1 : stop - 1])
            elif part == r"\frac":
                middle = end_of_group(term, i + 1)
                stop = end_of_group(term, middle)
                vectors += self.is_vector_sum(term[i + 2 : middle - 1])
            elif part == r"\sqrt" or part == "^":
                stop = end_of_group(term, i + 1)
            elif part.isdigit() or part in (r"\cdot", r"\times", ".", "/"):
                stop = i + 1
            if stop == i:
                return False
            i = stop
        return vectors == 1


def sides(parts: tuple[str, ...], at: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What stands between signs outside of brackets."""
    start = 0
    for i, depth in enumerate(depths(parts)):
        if depth == 0 and parts[i] in at:
            yield parts[start:i]
            start = i + 1
    yield parts[start:]


def gradient_name(parts: tuple[str, ...], i: int) -> int:
    """Behind the name of what the gradient at `i` is of: `\\nabla_x f_i`; right behind its sign where there is none."""
    start = i + 1
    while parts[start : start + 1] and parts[start] in ("_", "^"):
        start = end_of_group(parts, start + 1)
    stop = behind_label(parts, start)
    return stop if stop > start else i + 1


def behind_call(parts: tuple[str, ...], at: int) -> int:
    """Behind the argument of a function whose name ends at `at`."""
    return closing(parts, at) + 1 if parts[at : at + 1] == ("(",) else at


def gradient_end(parts: tuple[str, ...], i: int) -> int:
    """Behind the gradient at `i` with its point; `i` where it is of something without a name, or of second order."""
    stop = gradient_name(parts, i)
    return i if stop == i + 1 or parts[i + 1 : i + 2] == ("^",) else behind_call(parts, stop)
