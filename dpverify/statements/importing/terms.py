"""What a relation is made of: its letters, and terms that are one letter each, as `\\mathbb{E}[X]` and `f(x)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from dpverify.formulas.notation.tokens import CLOSING, DRESS, end_of_group
from dpverify.statements.importing.cleaning import OPENING, SIGNS, UnreadError, outer
from dpverify.statements.importing.tables import meanings, words
from dpverify.statements.importing.usage import (
    ENDS,
    INDICES,
    SETS,
    TRANSPOSED,
    LetterUses,
    as_letter,
    base_of,
    behind_call,
    behind_label,
    below,
    closing,
    closing_bar,
    gradient_end,
    gradient_name,
    is_capital,
    is_label,
    is_list,
    parts_of,
    sides,
    terms_in,
    until,
    written,
)
from dpverify.statements.pages.letters import single

_LAWS = meanings("laws")
"""Heads of terms that bracket what they are of, and between which values these are."""
_BIG, _STRANGE = words("big"), words("strange")
_KNOWN = words("known") | {"[of root", "of root]", r"\text{ and }", r"\text{and}"}
QUESTIONED = meanings("questioned")
"""What has a meaning to the reader that a paper may give another."""
LAW_NAMES = words("law_names")
_POWERS = words("power_letters")
_EXTREMA = (r"\max", r"\min", r"\operatorname{max}", r"\operatorname{min}")
_SUM_ENDS = ENDS | {"+", "-"}
_ENDING = ENDS | {"+", "-", "/", "^", r"\cdot", r"\times", *CLOSING, "}", "|", r"\|"}
"""Behind a name, these do not begin what it may be a function of."""
_ORDER = re.compile(r"[Oo]|\\(?:Omega|Theta|omega)|\\(?:mathcal|tilde|widetilde)\{(?:O|\\mathcal\{O\})\}")
FUNCTIONS, _SCRIPT_NUMBERS = frozenset("fghFGH"), words("script_numbers")


@dataclass
class FormulaTerms:
    """Letters of a formula, and terms that are one letter each."""

    letters: list[str] = field(default_factory=list)
    opaque: dict[str, str] = field(default_factory=dict)
    """With their domains."""
    questions: list[str] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    doubtful: list[str] = field(default_factory=list)
    """Terms of which nothing says that they are numbers; vectors may be called so, too."""


class _Scan:
    def __init__(self, parts: tuple[str, ...], uses: LetterUses) -> None:
        self.parts, self.uses = parts, uses
        self.terms = FormulaTerms()
        self.closers = set[int]()
        """Bars that close one that was seen."""
        self.i = 0

    def run(self) -> FormulaTerms:
        while self.i < len(self.parts):
            self.one(self.parts[self.i])
        return self.terms

    def take(self, stop: int, domain: str) -> None:
        """All up to `stop` is one letter."""
        self.terms.opaque.setdefault(as_letter(self.parts[self.i : stop]), domain)
        self.i = stop

    def ask_end(self, stop: int) -> None:
        """Whether a term ends at `stop`, where a sum goes on."""
        self.terms.questions.append(
            f"does ${written(self.parts[self.i : stop])}$ end before the sign behind it?"
        )

    def scripts(self, at: int) -> int:
        """Behind the scripts at `at`."""
        while self.parts[at : at + 1] and self.parts[at] in ("_", "^", "'"):
            at = at + 1 if self.parts[at] == "'" else end_of_group(self.parts, at + 1)
        return at

    def one(self, part: str) -> None:
        parts, i = self.parts, self.i
        stop = single(parts, i)
        base = base_of(parts[i:])
        if part in _STRANGE:
            raise UnreadError(f"{part} is not read in a formula")
        if self.order(base, stop) or self.transposed():
            return
        if base in _LAWS:
            self.law(base, end_of_group(parts, i + 1) if part in DRESS else i + 1)
        elif part in _BIG or (part in _EXTREMA and parts[i + 1 : i + 2] == ("_",)):
            self.big()
        elif part in _READ_BY:
            _READ_BY[part](self)
        elif re.match(r"\\frac\{(d|\\partial).*?\}\{\1", "".join(parts[i : i + 40])):
            raise UnreadError("a derivative")
        elif part == r"\partial":
            raise UnreadError(f"{part} outside of a norm")
        elif (
            part in QUESTIONED
            and stop <= i + 1
            and parts[i + 1 : i + 2] not in (("_",), ("(",) if part == r"\pi" else ())
        ):
            self.terms.questions.append(QUESTIONED[part])
            self.i += 1
        elif stop > i:
            self.letter(stop)
        elif part.startswith("\\") and part not in _KNOWN:
            raise UnreadError(f"{part} is not read in a formula")
        elif part == "_":
            self.i = end_of_group(parts, i + 1)
        else:
            self.i += 1

    def order(self, base: str, stop: int) -> bool:
        """Whether it is an order with its brackets: then what is in these is read."""
        if self.parts[stop : stop + 1] != ("(",) or not _ORDER.fullmatch(base):
            return False
        if base in ("o", r"\omega") or "{" in base:
            raise UnreadError("an order that says no more than that it is small, or leaves factors out")
        self.terms.questions.append(f"does the constant of ${base}$ depend on no letter?")
        self.i = stop
        return True

    def gradient(self) -> None:
        """A gradient at a point is a vector."""
        stop = gradient_end(self.parts, self.i)
        if stop == self.i:
            raise UnreadError(r"\nabla of something that has no name, or of second order")
        self.take(stop, "vector")

    def inner(self) -> None:
        """An inner product: of vectors in the notation, else one letter."""
        end = closing(self.parts, self.i)
        both = list(sides(self.parts[self.i + 1 : end], (",",)))
        if len(both) == 2 and all(map(self.of_vectors, both)):
            self.i = end + 1
        else:
            self.take(end + 1, "real")

    def transposed(self) -> bool:
        """Whether a product of a transposed vector and others begins here, which is taken as the number that it is."""
        parts, i = self.parts, self.i
        first = self.vector_unit(i)
        if first == i or parts[first : first + 4] not in TRANSPOSED:
            return False
        before = next((k for k in range(i) if behind_label(parts, k) == i), i)
        if parts[i - 1 : i] in ((")",), ("]",)):
            before = max(k for k in range(i) if parts[k] in ("(", "[") and closing(parts, k) == i - 1)
        letter = parts[before : single(parts, before)] if before < i else ()
        sort = self.uses.sort(letter) if letter else ""
        matrix = sort == "matrix" or (letter and is_capital(base_of(letter)) and not sort)
        if before < i and (matrix or self.vector_unit(before) == i):
            raise UnreadError("a product of vectors that may be a matrix")
        at, last = first + 4, first
        while (stop := max(self.vector_unit(at), self.factor(at))) > at:
            last, at = at, stop
            if parts[at : at + 4] in TRANSPOSED:
                raise UnreadError("several transposed factors")
        if last == first or self.vector_unit(last) == last or parts[at : at + 1] in (("(",), ("^",), ("_",)):
            raise UnreadError("`^T` may be a transpose, and it is not clear of what")
        self.take(at, "real")
        return True

    def vector_unit(self, at: int) -> int:
        """Behind a letter that may be a vector, a gradient or a sum of such in brackets; `at` where there is none."""
        parts = self.parts
        if parts[at : at + 1] == (r"\nabla",):
            return gradient_end(parts, at)
        if parts[at : at + 1] in (("(",), ("[",)):
            stop = closing(parts, at) + 1
            return stop if self.uses.is_vector_sum(parts[at + 1 : stop - 1]) else at
        stop = behind_label(parts, at)
        if stop == at or parts[stop : stop + 1] == ("(",):
            return at
        sort = self.uses.sort(parts[at : single(parts, at)])
        return stop if sort == "vector" else at

    def factor(self, at: int) -> int:
        """Behind a matrix, or a matrix of second derivatives, between two vectors."""
        parts = self.parts
        if parts[at : at + 5] == (r"\nabla", "^", "{", "2", "}"):
            return behind_call(parts, gradient_name(parts, at))
        stop = behind_label(parts, at)
        if stop > at and is_capital(base_of(parts[at:stop])):
            if parts[stop : stop + 1] == ("^",) and parts[stop : stop + 4] not in TRANSPOSED:
                stop = end_of_group(parts, stop + 1)
            return stop
        return at

    def letter(self, stop: int) -> None:
        """A letter, or a function of one with its argument."""
        parts, i = self.parts, self.i
        letter = parts[i:stop]
        base = base_of(letter)
        dressed = parts[i] in SETS
        sort = self.uses.sort(letter)
        label = False
        if parts[stop : stop + 1] == ("^",) and base != "e":
            above = parts[stop + 2 : end_of_group(parts, stop + 1) - 1]
            if sort == "vector" and parts[stop : stop + 4] not in TRANSPOSED:
                above = above[1:] if above[:1] == ("-",) else ("(", ")")  # a vector has no powers
            if base in self.uses.indexed and INDICES & set(above):
                above = ("(", ")")
            label = is_label(above) and (base not in _POWERS or base in self.uses.indexed)
            stop = end_of_group(parts, stop + 1) if label else stop
        follows = parts[stop : stop + 1]
        bracketed = follows == ("(",) or (follows == ("[",) and (base.isupper() or dressed))
        inverse = parts[stop : stop + 5] == ("^", "{", "-", "1", "}") and parts[stop + 5 : stop + 6] == ("(",)
        inverse = inverse and self.uses.holds(letter)
        if (bracketed or inverse) and self.called(letter, stop + 5 if inverse else stop, inverse=inverse):
            return
        of = single(parts, stop)
        if letter == (r"\Delta",) and sort != "number" and of > stop and parts[of : of + 1] != ("(",):
            self.take(of, "vector" if self.uses.sort(parts[stop:of]) == "vector" else "real")
            return
        if {r"\sim", r"\in", "=", r"\gets", r"\leftarrow", r"\le", "<", ":"} & set(letter):
            raise UnreadError(f"`{base}` with a sign below it is no letter")
        if re.fullmatch(r"\\operatorname\{..+\}", base) and follows and follows[0] not in _ENDING:
            raise UnreadError(f"`{base}` may be a function of what follows")
        latex = written(parts[i:stop])
        if base in _SCRIPT_NUMBERS:
            self.terms.questions.append(f"is ${latex}$ a number?")
        elif dressed:
            raise UnreadError(f"`{base}` is a set, a law or a map, and no number")
        if base == "e":
            if follows != ("^",) or stop != i + 1:
                raise UnreadError("`e` without a power may be a number or a letter")
            self.i = stop
            return
        if sort == "matrix":
            raise UnreadError(f"`{latex}` is no number")
        starred = {"*", r"\star", r"\ast"} & set(letter)  # the smallest value
        if base in FUNCTIONS and base in self.uses.lists and sort != "number" and not starred:
            raise UnreadError(f"`{latex}` is a function, and stands without what it is of")
        if label:
            if sort != "vector" and base in self.uses.indexed:
                self.terms.questions.append(f"is ${latex}$ a letter with an index above, and no power?")
            self.take(stop, "vector" if sort == "vector" else "real")
        else:
            self.terms.letters += [latex] * (latex not in self.terms.letters)
            self.i = stop

    def called(self, letter: tuple[str, ...], opening: int, *, inverse: bool) -> bool:
        """Whether a letter is a function of what is in the brackets behind it; then it is taken with these."""
        parts, base = self.parts, base_of(letter)
        if base in LAW_NAMES:
            raise UnreadError(f"`{base}` is a law")
        end = closing(parts, opening)
        inner = parts[opening + 1 : end]
        if parts[opening] == "[" and base in ("P", "E"):
            self.take(end + 1, "[0, 1]" if base == "P" else "real")
            return True
        outside = set(outer(inner))
        if inner[:1] and inner[0] in SIGNS.values():
            raise UnreadError("a comparison goes on in brackets")
        strange: object = {r"\|", "|", r"\in", "=", r"\mid", r"\cdot", ",", ";"} & outside
        named = base.startswith(r"\operatorname{") and base not in _KNOWN
        strange = strange and r"\cdot" not in inner
        if is_list(inner) or self.uses.holds(letter) or strange or named or inverse:
            self.terms.doubtful.append(written(parts[self.i : end + 1]))
            self.take(end + 1, "real")
            return True
        if letter[0] in SETS or base.startswith(r"\operatorname{"):
            raise UnreadError(f"`{base}` is a set, a law or a map")
        if base in self.uses.maps or (parts[opening] == "[" and not {"+", "-"} & outside):
            raise UnreadError(f"it is not clear whether `{base}` is called or multiplied")
        return False

    def above(self) -> None:
        """A power, or what only looks like one."""
        parts, i = self.parts, self.i
        stop = end_of_group(parts, i + 1)
        inner = parts[i + 2 : stop - 1]
        before = parts[i - 1] if i else ""
        start = next((k for k in range(i - 1, -1, -1) if single(parts, k) == i), i)
        letter = parts[start:i]
        base = base_of(letter) if letter else before
        number = bool(letter) and self.uses.sort(letter) == "number"
        marks = ((r"\perp",), (r"\dagger",), ("*",), (r"\dag",), (r"\star",), (r"\ast",))
        if parts[i:stop] in TRANSPOSED or inner in marks or (inner in (("c",), ("C",)) and not number):
            raise UnreadError(f"`^{''.join(inner)}` may be a transpose or a complement, and no power")
        lettered = any(re.fullmatch(r"[A-Za-z]|\\[A-Za-z]+", p) for p in inner)
        if letter and lettered and base != "e":
            if base not in _POWERS and not number and inner[0] != "-":
                raise UnreadError(f"`{written(parts[start:stop])}` may be a power or an index")
            self.terms.questions.append(f"is ${written(parts[start:stop])}$ a power, and no index?")
        self.i += 2

    def law(self, base: str, at: int) -> None:
        """An expectation, a probability and the like, with its brackets."""
        parts, at = self.parts, self.scripts(at)
        domain = _LAWS[base]
        first = parts[at : at + 1]
        if first in (("[",), ("(",), (r"\{",)):
            end = closing(parts, at)
            vector = domain == "real" and self.uses.is_vector_sum(parts[at + 1 : end])
            self.take(end + 1, "vector" if vector else domain)
            return
        barred = first in ((r"\|",), ("|",))
        end = (
            self.scripts(closing_bar(parts, at) + 1) if barred else until(parts, at, {*_SUM_ENDS, "|", r"\|"})
        )
        goes_on = parts[end : end + 1] in (("+",), ("-",))
        if barred:
            unclear = not goes_on and not {*parts[end : end + 1]} <= {*ENDS, *CLOSING, "}"}
            domain = ">= 0"
        else:
            unclear = end == at or domain != "real" or (goes_on and parts[end - 1] != ")")
            unclear = unclear or parts[end : end + 1] in (("|",), (r"\|",))
            domain = "vector" if self.uses.is_vector_sum(parts[at:end]) else domain
        if unclear:
            raise UnreadError(f"`{base}` without brackets: it is not said how far it goes")
        if goes_on:
            self.ask_end(end)
        self.take(end, domain)

    def big(self) -> None:
        """A supremum, an integral and the like; refused where it may end sooner or later."""
        parts = self.parts
        head = self.i + (parts[self.i] == r"\arg" and {*parts[self.i + 1 : self.i + 2]} <= {r"\min", r"\max"})
        start = at = self.scripts(head + 1)
        index = below(parts, head + 1)
        index = index[: single(index)]
        depth = minus = 0
        bracketed = parts[at : at + 1] in (("(",), ("[",), (r"\{",)) and self.scripts(closing(parts, at) + 1)
        while at < len(parts):
            part = parts[at]
            depth += (part in OPENING) - (part in CLOSING or part == "}")
            if depth < 0 or (depth == 0 and part in ENDS):
                break
            if depth == 0 and part in ("|", r"\|") and at not in self.closers:
                at = closing_bar(parts, at)
            if depth == 0 and part in ("+", "-"):
                if at == bracketed:
                    break
                minus = minus or at
            at += 1
        if parts[self.i] in (r"\int", r"\iint"):
            ended = parts[max(start, at - 2) : at - 1] == ("d",) or r"\mathrm" in parts[at - 6 : at]
            if minus and not ended:
                raise UnreadError("an integral, and it is not clear where it ends")
        elif minus:
            if not index or minus == start or goes_on(parts[minus:at], written(index)):
                raise UnreadError(f"it is not clear how far {parts[self.i]} goes: brackets would say it")
            at = minus
            self.ask_end(at)
        if at == start:
            raise UnreadError(f"{parts[self.i]} of nothing")
        if parts[self.i] == r"\sum":
            vector = self.uses.is_vector_sum(parts[start:at])
        else:
            vector = "arg" in parts[self.i] and bool(index) and self.uses.sort(index) == "vector"
        self.take(at, "vector" if vector else "real")

    def sum(self) -> None:
        """A sum that the notation reads, or one that is one letter: where its index is in a script or a term."""
        parts, i = self.parts, self.i
        stop = self.scripts(i + 1)
        under = below(parts, i + 1)
        index_stop = single(under)
        full = index_stop and under[index_stop : index_stop + 1] == ("=",) and "^" in parts[i:stop]
        full = full and r"\infty" not in parts[i:stop]
        ordered = {r"\le", "<"} & set(under) and r"\in" not in under and "," not in under
        end = until(parts, stop, _SUM_ENDS)
        if full and not ordered and not self.uses.is_vector_sum(parts[stop:end]):
            try:
                inner = _Scan(parts[stop:end], self.uses).run()
            except UnreadError:
                inner = None
            name = written(under[:index_stop])
            if inner and not any(
                t != name and name in letters_in((t,)) for t in (*inner.opaque, *inner.letters)
            ):
                self.terms.bound.add(name)
                self.terms.letters += [name] * (name not in self.terms.letters)
                above = parts.index("^", i) + 1
                self.add(
                    _Scan(
                        (*under[index_stop + 1 :], ",", *parts[above : end_of_group(parts, above)]), self.uses
                    )
                )
                self.i = stop
                return
        self.big()

    def norm(self) -> None:
        """A norm: of vectors in the notation, else one letter."""
        parts, i = self.parts, self.i
        at = closing_bar(parts, i)
        stop = at + 1
        index = below(parts, stop)
        if index in ((), ("2",)) and self.of_vectors(parts[i + 1 : at]):
            if not index:
                self.terms.questions.append(r"is the norm without an index the Euclidean norm?")
            self.i = stop
        else:
            self.take(end_of_group(parts, stop + 1) if index else stop, ">= 0")

    def of_vectors(self, inner: tuple[str, ...]) -> bool:
        """Whether what is in a norm is a sum of vectors of the notation; then its letters are taken."""
        if not self.uses.is_vector_sum(inner):
            return False
        try:
            self.add(_Scan(inner, self.uses))
        except UnreadError:
            return False
        return True

    def add(self, inner: _Scan) -> None:
        """Take the letters and terms of what stands within."""
        found = inner.run()
        self.terms.letters += [letter for letter in found.letters if letter not in self.terms.letters]
        self.terms.opaque |= found.opaque
        self.terms.questions += found.questions
        self.terms.doubtful += found.doubtful

    def bars(self) -> None:
        """An absolute value; of one capital letter it may be the size of a set."""
        parts, i = self.parts, self.i
        if i in self.closers:
            self.i += 1
            return
        at = closing_bar(parts, i)
        inner = parts[i + 1 : at]
        capital = 0 < len(inner) <= 4 and inner[0].isupper() and single(inner, 0) == len(inner)
        if capital or SETS & set(inner[:3]) or {r"\cap", r"\cup", r"\setminus"} & set(outer(inner)):
            self.take(at + 1, ">= 0")
        else:
            self.closers.add(at)
            self.i += 1


_READ_BY: dict[str, Callable[[_Scan], None]] = {
    r"\sum": _Scan.sum, r"\prod": _Scan.sum, r"\|": _Scan.norm, "|": _Scan.bars, r"\langle": _Scan.inner,
    r"\nabla": _Scan.gradient, "^": _Scan.above,
}  # fmt: skip


def goes_on(parts: tuple[str, ...], index: str) -> bool:
    """Whether a term behind a sum or the like is of its index, and so may be of it."""
    return any(index in letters_in(term) for term in terms_in(parts) if not binds(term, index))


def letters_in(parts: tuple[str, ...]) -> list[str]:
    """The letters of parts, those of scripts too."""
    return re.findall(r"\\[A-Za-z]+|[A-Za-z]", written(parts))


def binds(term: tuple[str, ...], index: str) -> bool:
    """Whether a term is a sum or the like over an index of its own of this name, and nothing before it."""
    start = next((k for k, part in enumerate(term) if part in (r"\sum", r"\prod", *_BIG)), None)
    if start is None or index in letters_in(term[:start]) or term[start + 1 : start + 2] != ("_",):
        return False
    return index in letters_in(term[start + 2 : end_of_group(term, start + 2)])


def may_be_matrix(latex: str, letter: str, uses: LetterUses) -> bool:
    """Whether a capital letter stands right beside a letter or brackets, or has an inverse: `Ax`, `(I+T)^{-1}`.

    Of one that is a number by its name, only whether a vector stands behind it.
    """
    named = letter[0] in meanings("domains")
    parts, at = parts_of(latex), 0
    inverted = ")^{-1}" in "".join(parts)
    while at < len(parts):
        stop = single(parts, at)
        if stop > at and written(parts[at:stop]) == letter:
            next_ = parts[stop : single(parts, stop)]
            if next_ and uses.sort(next_) == "vector":
                return True
            beside = (
                single(parts, stop) > stop or parts[stop : stop + 1] == ("(",) or parts[at - 1 : at] == (")",)
            )
            beside = beside or any(single(parts, k) == at for k in range(max(0, at - 12), at))
            inverse = inverted or parts[stop : stop + 5] == ("^", "{", "-", "1", "}")
            if (beside or inverse) and not named:
                return True
        at = max(stop, at + 1)
    return False


def terms_of(latex: str, uses: LetterUses) -> FormulaTerms:
    """The letters and terms of a formula, in a paper that uses its letters in these ways.

    Raises:
        UnreadError: for what has several readings, or none.
    """
    for word in re.findall(
        r"(?<![A-Za-z\\])[A-Za-z]{3,}(?![A-Za-z])",
        re.sub(r"\\[A-Za-z]+\*?\s*\{[A-Za-z ]+\}|\\[A-Za-z]+|_\s*\{[^{}]*\}|\^\s*\{[A-Za-z]+\}", " ", latex),
    ):
        raise UnreadError(f"`{word}` may be a word or a product")
    parts = parts_of(latex)
    for at, part in enumerate(parts[:-1]):
        alone = at == 0 or parts[at - 1] in ENDS
        ends = parts[at + 2 : at + 3] == () or parts[at + 2] in ENDS
        if (
            part == "d"
            and r"\int" not in parts
            and ends
            and single(parts, at + 1) > at + 1
            and (alone or "".join(parts[at + 1 : at + 2]) in "rstuvwxyz")
        ):
            raise UnreadError(f"`{written(parts[at : at + 2])}` may be a differential")
    return _Scan(parts, uses).run()


def is_one_term(latex: str, uses: LetterUses) -> bool:
    """Whether LaTeX is one term: a function with its argument, a smallest value and the like."""
    try:
        parts, found = parts_of(latex), terms_of(latex, uses)
    except UnreadError:
        return False
    return not found.letters and list(found.opaque) == [written(parts)]
