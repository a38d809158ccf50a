"""What a relation is made of: its letters, and terms that are one letter each, as `\\mathbb{E}[X]` and `f(x)`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import CLOSING, DRESS, OPENING, end_of_group, normal, texts
from dpverify.statements.importing.relations import SIGNS, VAGUE, UnreadError
from dpverify.statements.importing.tables import meanings, words
from dpverify.statements.pages.letters import single

_SIGNS = {*SIGNS, *VAGUE, r"\implies", r"\iff", r"\wedge", r"\vee", ",", ";", ":"}
_LAWS = meanings("laws")
"""Heads of terms that bracket what they are of, and between which values these are."""
_BIG, _STRANGE, _SETS = words("big"), words("strange"), words("sets")
_KNOWN = words("known") | {"[of root", "of root]", r"\text{ and }"}
QUESTIONED = meanings("questioned")
"""What has a meaning to the reader that a paper may give another."""
_FUNCTION_LETTERS, _POWERS = words("function_letters"), words("power_letters")
_ENDING = _SIGNS | {"+", "-", "/", "^", r"\cdot", r"\times", *CLOSING, "}", "|", r"\|"}
"""Behind a name, these do not begin what it may be a function of."""


def parts_of(latex: str) -> tuple[str, ...]:
    """LaTeX in its one form.

    Raises:
        UnreadError: for what has none.
    """
    try:
        return texts(normal(latex))
    except InvalidArgumentError as error:
        raise UnreadError(f"not in the notation of formulas: {error.value} ({error.allowed})") from None


def written(parts: Iterable[str]) -> str:
    """Parts as LaTeX."""
    out = ""
    for part in parts:
        part = r"\sqrt[" if part == "[of root" else "]" if part == "of root]" else part
        out += (" " if re.search(r"\\[A-Za-z]+$", out) and part[:1].isalnum() else "") + part
    return out.replace(r"\sqrt\sqrt[", r"\sqrt[")


def base_of(letter: tuple[str, ...]) -> str:
    """A letter without its scripts."""
    stop = end_of_group(letter, 1) if letter[0] in DRESS else 1
    return "".join(letter[:stop])


class CalledLetters:
    """Which letters of a paper are called as functions are."""

    def __init__(self) -> None:
        self.called, self.alone, self.sums = Counter[str](), Counter[str](), set[str]()
        self.maps: set[str] = set()
        self.lists: set[str] = set()
        """Letters that have brackets with letters alone behind them somewhere, which no factor has."""

    def see(self, parts: tuple[str, ...]) -> None:
        """Count how the letters of a formula are used."""
        i = 0
        while i < len(parts):
            stop = single(parts, i)
            if stop == i:
                i += 1
                continue
            base = base_of(parts[i:stop])
            for name in {base, written(parts[i:stop])}:
                if parts[stop : stop + 1] == ("(",):
                    inner = parts[stop + 1 : closing(parts, stop)]
                    self.called[name] += 1
                    if _is_list(inner):
                        self.lists.add(name)
                    if {"+", "-"} & set(_outer(inner)) or base in inner:
                        self.sums.add(name)
                elif len(parts) > 3 or set(parts) & _SIGNS:
                    self.alone[name] += 1
            if parts[stop : stop + 1] == (":",) and any(p in parts for p in (r"\to", r"\rightarrow")):
                self.maps.add(base)
            i = stop

    def holds(self, letter: tuple[str, ...]) -> bool:
        """Whether brackets behind a letter hold its argument, be it with its scripts or whatever they are."""
        return self._holds(base_of(letter), written(letter)) or self._holds(base_of(letter), base_of(letter))

    def _holds(self, first: str, base: str) -> bool:
        if base in self.maps:
            return True
        if self.alone[base] or not self.called[base] or base in ("i", "j", "k", "m", "n", "d", "e"):
            return False
        likely = first in _FUNCTION_LETTERS or first.startswith((r"\mathcal", r"\mathrm", r"\operatorname"))
        return (likely or self.called[base] > 1) and (base not in self.sums or likely)


def _outer(parts: tuple[str, ...]) -> list[str]:
    depth, found = 0, []
    for part in parts:
        depth += (part in OPENING or part == "{") - (part in CLOSING or part == "}")
        if depth == 0:
            found.append(part)
    return found


def closing(parts: tuple[str, ...], start: int) -> int:
    """The index of the bracket that closes the one at `start`; brackets of any form close one another."""
    depth = 0
    for i in range(start, len(parts)):
        depth += (parts[i] in OPENING or parts[i] == "{") - (parts[i] in CLOSING or parts[i] == "}")
        if depth == 0:
            return i
    raise UnreadError("a bracket is not closed")


@dataclass
class FormulaTerms:
    """Letters of a formula, and terms that are one letter each."""

    letters: list[str] = field(default_factory=list)
    opaque: dict[str, str] = field(default_factory=dict)
    """With their domains."""
    questions: list[str] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)


class _Scan:
    def __init__(self, parts: tuple[str, ...], functions: CalledLetters, vectors: Mapping[str, str]) -> None:
        self.parts, self.functions, self.kinds = parts, functions, vectors
        self.terms = FormulaTerms()
        self.i = 0

    def run(self) -> FormulaTerms:
        while self.i < len(self.parts):
            self.one(self.parts[self.i])
        return self.terms

    def take(self, stop: int, domain: str) -> None:
        """All up to `stop` is one letter."""
        latex = written(self.parts[self.i : stop])
        if len(latex) > 300:
            raise UnreadError("a term that would be one letter is longer than 300 characters")
        self.terms.opaque.setdefault(latex, domain)
        self.i = stop

    def scripts(self, at: int) -> int:
        """Behind the scripts at `at`."""
        while self.parts[at : at + 1] and self.parts[at] in ("_", "^", "'"):
            at = at + 1 if self.parts[at] == "'" else end_of_group(self.parts, at + 1)
        return at

    def one(self, part: str) -> None:
        parts, i = self.parts, self.i
        stop = single(parts, i)
        dressed = part in DRESS
        base = "".join(parts[i : end_of_group(parts, i + 1)]) if dressed else part
        if part in _STRANGE:
            raise UnreadError(f"{part} is not read in a formula")
        if part in ("O", "o", r"\Omega", r"\Theta", r"\omega") and parts[stop : stop + 1] == ("(",):
            raise UnreadError("an order: it does not say on which letters its constant may depend")
        if (r"\mathcal{O}" in base or r"\tilde{O}" in base or r"{O}" in base) and parts[stop : stop + 1] == (
            "(",
        ):
            raise UnreadError("an order: it does not say on which letters its constant may depend")
        if base in _LAWS:
            self.law(base, end_of_group(parts, i + 1) if dressed else i + 1)
        elif part in _BIG or (
            part in (r"\max", r"\min", r"\operatorname{max}", r"\operatorname{min}")
            and parts[i + 1 : i + 2] == ("_",)
        ):
            self.big()
        elif part in (r"\sum", r"\prod"):
            self.sum()
        elif part == r"\|":
            self.norm()
        elif part == "|":
            self.bars()
        elif part == r"\langle":
            end = closing(parts, i)
            if self.of_vectors(parts[i + 1 : end]):
                self.i = end + 1
            else:
                self.take(end + 1, "real")
        elif part == r"\frac" and parts[i + 1 : i + 3] in (("{", "d"), ("{", r"\partial")):
            raise UnreadError("a derivative")
        elif part in (r"\nabla", r"\partial"):
            raise UnreadError(f"{part} outside of a norm")
        elif (
            part in QUESTIONED
            and stop <= i + 1
            and parts[i + 1 : i + 2] not in (("_",), ("(",) if part == r"\pi" else ())
        ):
            self.terms.questions.append(QUESTIONED[part])
            self.i += 1
        elif part == "^":
            self.above()
        elif stop > i:
            self.letter(stop)
        elif part.startswith("\\") and part not in _KNOWN:
            raise UnreadError(f"{part} is not read in a formula")
        elif part == "_":
            self.i = end_of_group(parts, i + 1)
        else:
            self.i += 1

    def letter(self, stop: int) -> None:
        """A letter, or a function of one with its argument."""
        parts, i = self.parts, self.i
        letter = parts[i:stop]
        base = base_of(letter)
        dressed = parts[i] in _SETS
        label = (
            base not in _POWERS | {"e"}
            and stop < len(parts)
            and parts[stop] == "^"
            and _is_label(parts[stop + 2 : end_of_group(parts, stop + 1) - 1])
        )
        if label:
            stop = end_of_group(parts, stop + 1)
        follows = parts[stop : stop + 1]
        bracketed = follows == ("(",) or (follows == ("[",) and (base.isupper() or dressed))
        inverse = parts[stop : stop + 5] == ("^", "{", "-", "1", "}") and parts[stop + 5 : stop + 6] == ("(",)
        if bracketed or (inverse and self.functions.holds(letter)):
            opening = stop + 5 if inverse else stop
            end = closing(parts, opening)
            inner = parts[opening + 1 : end]
            if follows == ("[",) and base in ("P", "E"):
                self.take(end + 1, "[0, 1]" if base == "P" else "real")
                return
            strange = {r"\|", "|", r"\in", "=", r"\mid", r"\cdot"} & set(_outer(inner)) or "," in _outer(
                inner
            )
            named = base.startswith(r"\operatorname{") and base not in _KNOWN
            if (
                _is_list(inner)
                or self.functions.holds(letter)
                or (strange and r"\cdot" not in inner)
                or named
                or inverse
            ):
                self.take(end + 1, "real")
                return
            if dressed or re.fullmatch(r"\\operatorname\{..+\}", base):
                raise UnreadError(f"`{base}` is a set, a law or a map")
            if base in self.functions.maps or follows == ("[",):
                raise UnreadError(f"it is not clear whether `{base}` is called or multiplied")
        if {r"\sim", r"\in", "=", r"\gets", r"\leftarrow", r"\le", "<", ":"} & set(letter):
            raise UnreadError(f"`{base}` with a sign below it is no letter")
        if re.fullmatch(r"\\operatorname\{..+\}", base) and follows and follows[0] not in _ENDING:
            raise UnreadError(f"`{base}` may be a function of what follows")
        if dressed:
            raise UnreadError(f"`{base}` is a set, a law or a map, and no number")
        latex = written(parts[i:stop])
        if base == "e" and follows == ("^",) and stop == i + 1:
            self.i = stop
            return
        if base == "e":
            raise UnreadError("`e` without a power may be a number or a letter")
        if latex in self.kinds and self.kinds[latex] == "matrix":
            raise UnreadError(f"`{latex}` is no number")
        if label:
            self.take(stop, "real")
        else:
            if latex not in self.terms.letters:
                self.terms.letters.append(latex)
            self.i = stop

    def above(self) -> None:
        """A power, or what only looks like one."""
        parts, i = self.parts, self.i
        stop = end_of_group(parts, i + 1)
        inner = parts[i + 2 : stop - 1]
        if inner in (
            ("T",),
            (r"\top",),
            (r"\intercal",),
            ("c",),
            ("C",),
            (r"\perp",),
            (r"\dagger",),
            ("*",),
            (r"\dag",),
        ):
            raise UnreadError(f"`^{''.join(inner)}` may be a transpose or a complement, and no power")
        before = parts[i - 1] if i else ""
        plain = single(parts, i - 1) == i and i > 0
        start = i - 1
        if not plain and before == "}":  # scripts or an accent
            start = next((k for k in range(i - 1, -1, -1) if single(parts, k) == i), -1)
            plain = start >= 0
        lettered = any(re.fullmatch(r"[A-Za-z]|\\[A-Za-z]+", p) for p in inner)
        if plain and lettered:
            base = base_of(parts[start:i])
            if base != "e" and base not in _POWERS:
                raise UnreadError(f"`{written(parts[start:stop])}` may be a power or an index")
            if base != "e":
                self.terms.questions.append(f"is ${written(parts[start:stop])}$ a power, and no index?")
        self.i += 2

    def law(self, base: str, at: int) -> None:
        """An expectation, a probability and the like, with its brackets."""
        at = self.scripts(at)
        if self.parts[at : at + 1] not in (("[",), ("(",), (r"\{",)):
            raise UnreadError(f"`{base}` without brackets: it is not said how far it goes")
        self.take(closing(self.parts, at) + 1, _LAWS[base])

    def big(self) -> None:
        """A supremum, an integral and the like; refused where it may end sooner or later."""
        parts = self.parts
        at = self.scripts(self.i + 1)
        start, depth, minus = at, 0, 0
        bracketed = parts[at : at + 1] in (("(",), ("[",), (r"\{",)) and self.scripts(closing(parts, at) + 1)
        while at < len(parts):
            part = parts[at]
            if part in CLOSING or part == "}":
                depth -= 1
                if depth < 0:
                    break
            depth += part in OPENING or part == "{"
            if depth == 0 and part in _SIGNS:
                break
            if depth == 0 and part in ("+", "-"):
                if at == bracketed:
                    break
                minus = minus or at
            at += 1
        if parts[self.i] in (r"\int", r"\iint"):
            ending = parts[max(start, at - 2) : at]
            if not (len(ending) == 2 and ending[0] == "d") and r"\mathrm" not in parts[at - 6 : at]:
                raise UnreadError("an integral, and it is not clear where it ends")
        elif minus:
            below = (
                parts[self.i + 3 : end_of_group(parts, self.i + 2) - 1] if parts[self.i + 1] == "_" else ()
            )
            index = written(below[: single(below, 0)]) if below else ""
            if (
                not index
                or index in re.findall(r"\\[A-Za-z]+|[A-Za-z]", written(parts[minus:at]))
                or minus == start
            ):
                raise UnreadError(f"it is not clear how far {parts[self.i]} goes: brackets would say it")
            at = minus
            self.terms.questions.append(
                f"does ${written(parts[self.i : at])}$ end before the sign behind it?"
            )
        if at == start:
            raise UnreadError(f"{parts[self.i]} of nothing")
        self.take(at, "real")

    def sum(self) -> None:
        """A sum that the notation reads, or one that is one letter: where its index is in a script or a term."""
        parts, i = self.parts, self.i
        stop = self.scripts(i + 1)
        below = parts[i + 3 : end_of_group(parts, i + 2) - 1] if parts[i + 1 : i + 2] == ("_",) else ()
        index_stop = single(below, 0) if below else 0
        index = below[:index_stop]
        full = index_stop and below[index_stop : index_stop + 1] == ("=",) and "^" in parts[i:stop]
        ordered = index_stop and {r"\le", "<"} & set(below) and r"\in" not in below and "," not in below
        end = stop
        depth = 0
        while end < len(parts):
            depth += (parts[end] in OPENING or parts[end] == "{") - (
                parts[end] in CLOSING or parts[end] == "}"
            )
            if depth < 0 or (depth == 0 and parts[end] in _SIGNS | {"+", "-"}):
                break
            end += 1
        if full and not ordered:
            try:
                inner = _Scan(parts[stop:end], self.functions, self.kinds).run()
            except UnreadError:
                inner = None
            name = written(index)
            scripted = inner is not None and (
                any(name in re.findall(r"\\[A-Za-z]+|[A-Za-z]", t) for t in inner.opaque)
                or any(t != name and name in re.findall(r"\\[A-Za-z]+|[A-Za-z]", t) for t in inner.letters)
            )
            if inner is not None and not scripted:
                self.terms.bound.add(name)
                self.i += 1
                if name not in self.terms.letters:
                    self.terms.letters.append(name)
                return
        self.big()

    def norm(self) -> None:
        """A norm: of vectors in the notation, else one letter."""
        parts, i = self.parts, self.i
        depth = 0
        for at in range(i + 1, len(parts)):
            depth += (parts[at] in OPENING or parts[at] == "{") - (parts[at] in CLOSING or parts[at] == "}")
            if depth < 0:
                break
            if parts[at] == r"\|" and depth == 0:
                stop = at + 1
                if self.of_vectors(parts[i + 1 : at]) and parts[stop : stop + 4] != ("_", "{", "1", "}"):
                    self.i = stop
                    return
                if parts[stop : stop + 1] == ("_",):
                    stop = end_of_group(parts, stop + 1)
                self.take(stop, ">= 0")
                return
        raise UnreadError("a double bar that is not closed")

    def of_vectors(self, inner: tuple[str, ...]) -> bool:
        """Whether all in a norm are letters, vectors among them; then they are taken."""
        try:
            found = _Scan(inner, self.functions, self.kinds).run()
        except UnreadError:
            return False
        if found.opaque or not any(self.kinds.get(letter) == "vector" for letter in found.letters):
            return False
        self.terms.letters += [letter for letter in found.letters if letter not in self.terms.letters]
        return True

    def bars(self) -> None:
        """An absolute value; of one capital letter it may be the size of a set."""
        parts, i = self.parts, self.i
        inner_stop = next((k for k in range(i + 1, len(parts)) if parts[k] == "|"), 0)
        if not inner_stop:
            raise UnreadError("a bar that is not closed")
        inner = parts[i + 1 : inner_stop]
        if inner and (
            inner[0] in _SETS or (len(inner) <= 4 and inner[0].isupper() and single(inner, 0) == len(inner))
        ):
            self.take(inner_stop + 1, ">= 0")
        else:
            self.i += 1


def _is_list(inner: tuple[str, ...]) -> bool:
    """Whether brackets hold nothing but letters and commas: what nobody writes about a factor."""
    at = 0
    while at < len(inner):
        stop = single(inner, at)
        if stop == at or (stop < len(inner) and inner[stop] != ","):
            return False
        at = stop + 1
    return bool(inner)


def _is_label(above: tuple[str, ...]) -> bool:
    """Whether a superscript is a name or a number in brackets, and no power."""
    latin = len(above) > 2 and all(re.fullmatch("[A-Za-z]", part) for part in above)
    numbered = above[:1] == ("(",) and len(above) < 6 and above[-1] == ")"
    return (
        latin or numbered or (bool(above) and above[0].startswith((r"\text", r"\operatorname", r"\mathrm")))
    )


def may_be_matrix(latex: str, letter: str) -> bool:
    """Whether a capital letter stands right beside a letter or brackets, or has an inverse: `Ax`, `(I+T)^{-1}`."""
    parts, at = parts_of(latex), 0
    inverted = ")^{-1}" in "".join(parts)
    while at < len(parts):
        stop = single(parts, at)
        if stop > at and written(parts[at:stop]) == letter:
            behind = single(parts, stop) > stop or parts[stop : stop + 1] == ("(",)
            before = any(single(parts, k) == at for k in range(max(0, at - 12), at)) or parts[
                at - 1 : at
            ] == (")",)
            if behind or before or inverted or parts[stop : stop + 5] == ("^", "{", "-", "1", "}"):
                return True
        at = max(stop, at + 1)
    return False


def terms_of(latex: str, functions: CalledLetters, kinds: Mapping[str, str]) -> FormulaTerms:
    """The letters and terms of a formula; `kinds` says of letters what they are declared as.

    Raises:
        UnreadError: for what has several readings, or none.
    """
    for word in re.findall(
        r"(?<![A-Za-z\\])[A-Za-z]{3,}(?![A-Za-z])",
        re.sub(r"\\[A-Za-z]+\s*\{[A-Za-z ]+\}|\\[A-Za-z]+|_\s*\{[^{}]*\}|\^\s*\{[A-Za-z]+\}", " ", latex),
    ):
        raise UnreadError(f"`{word}` may be a word or a product")
    parts = parts_of(latex)
    for at, part in enumerate(parts[:-1]):
        alone = at == 0 or parts[at - 1] in _SIGNS
        ends = parts[at + 2 : at + 3] == () or parts[at + 2] in _SIGNS
        if (
            part == "d"
            and r"\int" not in parts
            and ends
            and (alone or "".join(parts[at + 1 : at + 2]) in "rstuvwxyz")
        ):
            raise UnreadError(f"`{written(parts[at : at + 2])}` may be a differential")
    return _Scan(parts, functions, kinds).run()
