"""Formulas of a paper in one way of writing: without what has no meaning, names and brackets as pages have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, dropwhile, pairwise, takewhile
from typing import TypeVar

from dpverify.statements.importing.source import SourceToken, latex_of
from dpverify.statements.importing.tables import PATTERNS, meanings, one_of, words


class UnreadError(Exception):
    """What cannot be read of a formula, with the reason."""


ORDERS = meanings("orders")
"""Signs that hold up to a factor, with the sign and the order that say so."""
SIGNS = meanings("signs") | {sign: said.split()[0] for sign, said in ORDERS.items()}
"""Signs of comparison that are read, and what is written for them."""
VAGUE = meanings("vague")
"""Signs of comparison that are refused, with the reason."""
OTHER, ARROWS, DOTS = words("other"), words("arrows"), frozenset((r"\dots", r"\ldots", r"\cdots"))
OPENING, CLOSING = words("opening"), words("closing")
CONDITION = re.compile(rf"(?i)\W*{one_of('in_formulas')}\W*")
ANNOTATION = re.compile(rf"(?i)\W*{one_of('remarks')}\b")
_KINDS, _WRITTEN = meanings("commands"), meanings("written")
"""What is done with a command and what follows it, and what is written for one that stands alone."""
TEXT = frozenset(command for command, kind in _KINDS.items() if kind == "text")
_FUNCTIONS = frozenset(("min", "max", "log", "exp", "inf", "sup", "ln"))
_WORDY = {"and", "or", "with"}.union(*map(words, ("in_formulas", "remarks", "claim", "condition", "neither")))
_TYPED = re.compile(
    r"(max|min|log|exp|ln)(?=\(|\[|\\\{)|(arg ?max|arg ?min|max|min|sup|inf)(?=_|\\,_)"
    rf"|({one_of('typed')})(?=[(\[])|([A-Z][a-z]{{3,}})(?=[(_=<>+-])"
)
"""Names of functions that are typed as letters, by what follows."""
_SHAPED = frozenset((r"\mathsf", r"\mathrm", r"\mathbf", r"\mathtt", r"\text"))
_TRANSPOSE = re.compile(r" ?\\intercal|\\(?:mathsf|mathrm|mathbf|mathtt|text) ?(?:\{ *T ?\}|T)")
"""What stands above a transposed vector, beside `\\top`."""
_SPACES = frozenset((" ", "~", r"\,", r"\;", r"\:", r"\ ", r"\>", r"\quad", r"\qquad"))
SIZE = re.compile(r"\\(?:left|right|middle|[bB]igg?[lrm]?)")
_DIVIDING = {r"\over": r"\frac", r"\choose": r"\binom", r"\atop": ""}
_SHAPES = {rf"\{shape}": rf"\math{shape}" for shape in ("rm", "bf", "cal", "sf", "it")}
"""Commands of plain TeX that give all that follows in their braces a shape."""
_BESIDE = frozenset((" ", "&", r"\left", r"\big", r"\Big", r"\bigl"))
_SIZES = frozenset(
    (r"\mathclap", r"\text", r"\tiny", r"\scriptsize", r"\mbox", r"\scriptstyle", r"\scriptscriptstyle")
)

Tokens = list[SourceToken]
Part = TypeVar("Part", SourceToken, str)


def group(tokens: Sequence[SourceToken], at: int) -> tuple[Tokens, int]:
    """What is in the braces at `at`, or the token there, and where it ends."""
    while at < len(tokens) and tokens[at].text == " ":
        at += 1
    if at >= len(tokens):
        raise UnreadError("an argument is missing")
    if tokens[at].text != "{":
        return [tokens[at]], at + 1
    depth, start = 1, at + 1
    for i in range(start, len(tokens)):
        depth += (tokens[i].text == "{") - (tokens[i].text == "}")
        if depth == 0:
            return list(tokens[start:i]), i + 1
    raise UnreadError("a brace is not closed")


@dataclass
class _Cleaner:
    """Goes through the tokens of a formula; each kind of command has a method."""

    tokens: Sequence[SourceToken]
    i: int = 0
    """What comes next."""
    out: Tokens = field(default_factory=Tokens)

    def run(self) -> Tokens:
        while self.i < len(self.tokens):
            token = self.tokens[self.i]
            self.i += 1
            kind = _KINDS.get(token.text, "")
            if not (kind and getattr(self, kind)(token)):
                self.out.append(token._replace(text=_WRITTEN.get(token.text, token.text)))
        return self.out

    def argument(self) -> Tokens:
        """The next argument."""
        inner, self.i = group(self.tokens, self.i)
        return inner

    def next(self) -> str:
        return self.tokens[self.i].text if self.i < len(self.tokens) else ""

    def put_all(self, tokens: Tokens) -> bool:
        self.out += tokens
        return True

    def put(self, like: SourceToken, *texts: str) -> bool:
        return self.put_all([like._replace(text=text) for text in texts])

    def braces(self, inner: Tokens, like: SourceToken) -> bool:
        return self.put_all([like._replace(text="{"), *inner, like._replace(text="}")])

    # Each of these says whether it has taken the token.

    def refuse(self, token: SourceToken) -> bool:
        if token.text in ("if", "fi", r"\else"):
            raise UnreadError("a condition of TeX is not read")
        return self.put_all(marked([token], f"{token.text} is not read"))

    def drop(self, token: SourceToken) -> bool:
        return self.put(token, " ")

    def drop_argument(self, token: SourceToken) -> bool:
        dropped, self.i = group(self.tokens, self.i + (self.next() == "*"))
        if token.text == r"\tag" and {*SIGNS} & {t.text for t in dropped}:
            raise UnreadError("its number says something of it")
        return True

    def end(self, _: SourceToken) -> bool:
        self.i = len(self.tokens)
        return True

    def unwrap(self, token: SourceToken) -> bool:
        """A box is what is in it, between dollars or not; one in a shape of letters is a name."""
        inner = [t for t in self.argument() if t.text != "$"]
        if inner and inner[0].text in _SHAPES:
            return self.named(inner[1:], token._replace(text=r"\operatorname"))
        return self.put_all(cleaned(inner))

    def unwrap_second(self, token: SourceToken) -> bool:
        return self.drop_argument(token) and self.unwrap(token)

    def above(self, token: SourceToken) -> bool:
        """One sign of a transpose for all; what else is above stays."""
        inner, stop = group(self.tokens, self.i)
        if inner[-1:] and inner[-1].text in _SHAPED and self.tokens[stop : stop + 1]:
            more, stop = group(self.tokens, stop)
            inner += more
        if not _TRANSPOSE.fullmatch(latex_of(cleaned(inner))):
            return False
        self.i = stop
        return self.put(token, "^", "{", r"\top", "}")

    def under_brace(self, token: SourceToken) -> bool:
        inner = self.argument()
        if self.next() in ("_", "^"):
            self.i += 1
            label = self.argument()
            while len(label) == 1 and label[0].command and self.next() == "{":
                label = self.argument()  # `_\\text{words}`
        return self.braces(cleaned(inner), token)

    def stack(self, token: SourceToken) -> bool:
        above, base = self.argument(), self.argument()
        return self.put_all(_stacked(token.text, cleaned(above), cleaned(base), token))

    def operator(self, token: SourceToken) -> bool:
        return self.named(self.argument(), token)

    def named(self, inner: Tokens, token: SourceToken) -> bool:
        if inner[:1] and inner[0].text in TEXT:
            inner = [t for t in inner if t.text not in ("{", "}", *TEXT)]
        inner = [t for t in inner if t.text not in (" ", r"\,", r"\ ", r"\!")]
        if all(t.text.isalpha() or t.text == "-" for t in inner):
            return self.put(token, token.text) and self.braces(inner, token)
        return self.put_all(cleaned(inner))

    def negate(self, token: SourceToken) -> bool:
        if self.next() not in (*SIGNS, " ", *VAGUE, *OTHER):
            return False
        negated = self.argument()
        if not (sign := latex_of(negated)):
            raise UnreadError(r"\not of nothing is not read")
        if sign not in ("=", r"\in"):
            return self.put_all(marked(negated, rf"\not {sign} is not read"))
        return self.put(token, r"\ne" if sign == "=" else r"\notin")

    def angle(self, token: SourceToken) -> bool:
        """`\\left<` opens an inner product, `<<` says that something is much less."""
        before = next((t.text for t in reversed(self.out) if t.text != " "), "")
        if SIZE.fullmatch(before):
            return self.put(token, r"\langle" if token.text == "<" else r"\rangle")
        if self.next() != token.text:
            return False
        self.i += 1
        return self.put(token, r"\ll" if token.text == "<" else r"\gg")

    def text(self, token: SourceToken) -> bool:
        """Words with formulas in them are taken apart, and a name is one; other words stay."""
        inner, stop = group(self.tokens, self.i)
        if token.text != r"\intertext" and "$" in (t.text for t in inner):
            self.out += _mixed(inner, token)
        elif name := _name(self.tokens, self.i):
            self.put(token, *((f"\\{name}",) if name in _FUNCTIONS else (r"\operatorname", "{", *name, "}")))
        else:
            return False
        self.i = stop
        return True

    def order(self, token: SourceToken) -> bool:
        """A calligraphic `O` with brackets behind it is an order."""
        inner, stop = group(self.tokens, self.i)
        behind = (
            t.text for t in self.tokens[stop:] if t.text not in (" ", r"\!") and not SIZE.fullmatch(t.text)
        )
        if [t.text for t in inner] != ["O"] or next(behind, "") != "(":
            return False
        self.i = stop
        return self.put(token, "O")

    def blackboard(self, token: SourceToken) -> bool:
        """A name whose first letter is written so, as `\\mathbb{V}\\mathrm{ar}`."""
        inner, stop = group(self.tokens, self.i)
        if len(inner) != 1 or [t.text for t in self.tokens[stop : stop + 2]] != [r"\mathrm", "{"]:
            return False
        more, self.i = group(self.tokens, stop + 1)
        return self.named([*inner, *more], token._replace(text=r"\operatorname"))

    def dots(self, token: SourceToken) -> bool:
        if [t.text for t in self.tokens[self.i : self.i + 2]] != [".", "."]:
            return False
        self.i += 2
        return self.put(token, r"\dots")

    def code(self, token: SourceToken) -> bool:
        inner = self.argument()
        letters = _code(inner)
        if not letters:
            return self.put_all(marked([token], f"{token.text}{{{latex_of(inner)}}} is not read"))
        return self.braces([token._replace(text=text) for text in letters], token)

    def colon(self, token: SourceToken) -> bool:
        ahead = self.i + (self.next() in (" ", r"\!"))
        defines = ahead < len(self.tokens) and self.tokens[ahead].text == "="
        self.i = ahead + 1 if defines else self.i
        return self.put(token, ":=" if defines else ":")

    def group(self, token: SourceToken) -> bool:
        self.i -= 1
        inner = self.argument()
        if inner and inner[0].text in _SHAPES:
            shaped = [token._replace(text=text) for text in (_SHAPES[inner[0].text], "{")]
            inner = [*shaped, *inner[1:], token._replace(text="}")]
            if not (self.out and self.out[-1].text in ("_", "^")):
                return self.put_all(cleaned(inner))
        before = self.out[-1].text if self.out else "&"
        if not inner and (self.next() in ("^", "_") or before in ("&", " ", "\\\\")):
            return True
        if len(inner) == 1 and inner[0].text in (*SIGNS, *VAGUE):
            return self.put_all(inner)
        return self.braces(_divided(cleaned(inner)), token)


def cleaned(tokens: Sequence[SourceToken]) -> Tokens:
    """Tokens without what has no meaning, and with one way to write what has several; some may be marked as unread."""
    return _Cleaner(tokens).run()


def marked(tokens: Iterable[SourceToken], why: str) -> Tokens:
    """Tokens that are not read."""
    return [token._replace(unread=token.unread or why) for token in tokens]


def certain(tokens: Sequence[SourceToken]) -> Tokens:
    """Clean tokens, all of which are read."""
    found = stripped(cleaned(tokens))
    for token in found:
        if token.unread:
            raise UnreadError(token.unread)
    return found


def _mixed(inner: Tokens, like: SourceToken) -> Tokens:
    """Words with formulas between dollars in them, each for itself: `\\text{for all $x$}`."""
    out: Tokens = []
    first: Tokens = []
    ends = [-1, *(i for i, token in enumerate(inner) if token.text == "$"), len(inner)]
    for number, part in enumerate(inner[i + 1 : k] for i, k in pairwise(ends)):
        if number % 2:
            out += cleaned(part)
        elif any(t.text != " " for t in part):
            words = latex_of(part).strip(" ,;.")
            if out and words in ("", "and", "and all", "and every") and CONDITION.fullmatch(latex_of(first)):
                part = [like._replace(text=letter) for letter in "given"]  # the condition goes on
            first = first or part
            out += [like, like._replace(text="{"), *part, like._replace(text="}")]
    return out


def _name(tokens: Sequence[SourceToken], at: int) -> str:
    """The name in words that stand where a letter or a function does, before brackets or a sign; else nothing."""
    inner, stop = group(tokens, at)
    name = latex_of(inner)
    after = next((t.text for t in tokens[stop:] if t.text not in _BESIDE), "")
    stands = after in (r"\overset", r"\stackrel", "(", r"\{", "+", "-", r"\cdot", "_") or after in SIGNS
    return name if re.fullmatch("[A-Za-z]{2,12}", name) and stands and name.lower() not in _WORDY else ""


def _code(inner: Sequence[SourceToken]) -> list[str]:
    """Names, calls and numbers of code as letters: `len(x)`, `a.b`, `l0`; nothing of operators and the like."""
    said = "".join(t.text for t in inner).replace(r"\_", "_").replace("{", "").replace("}", "")
    out: list[str] = []
    refused = indexed = False
    for name, last, mark in re.findall(r"([A-Za-z_]*[A-Za-z])(\d*)|(\d+(?:\.\d+)?|::|\S)", said):
        if name:
            written = [r"\mathrm", "{", *name.replace("_", ""), "}"]
            written = ["{", *written, "}"] if out and out[-1] == "_" else written
            written += ["}"] if indexed and out[-1] == "," else ["_", "{", *last, "}"] if last else []
            indexed = bool(last) and not indexed
            out += written
        elif mark in (".", "::"):
            out[len(out) - indexed :] = "," if indexed else "_"
        else:
            out += mark
        refused = refused or not (name or mark in (".", "::") or mark[0].isdigit() or mark in "(),'+-")
    return [] if refused or not out or "_" in (out[0], out[-1]) else out


def with_functions(tokens: Tokens) -> Tokens:
    """Names of functions that are typed as letters: `max(`, `argmin_`."""
    out: Tokens = []
    i = 0
    while i < len(tokens):
        said = "".join(t.text for t in tokens[i : i + 10] if len(t.text) == 1 or t.text in (r"\{", r"\,"))
        begins = not (out and out[-1].text.isalpha())
        match = _TYPED.match(said) if begins else None
        called = match[0] if match else _called(tokens, i) if begins else ""
        name, stop = called.replace(" ", ""), i + len(called)
        if called and all(len(t.text) == 1 for t in tokens[i:stop]):
            written = (f"\\{name}",) if name in _FUNCTIONS else (r"\operatorname", "{", *name, "}")
            out += [tokens[i]._replace(text=text) for text in written]
            i = stop
        else:
            out.append(tokens[i])
            i += 1
    return out


def with_marks(tokens: Tokens) -> Tokens:
    """`||` as a bar of a norm, where nothing else can be meant; `.5` as `0.5`."""
    texts = [t.text for t in tokens]
    try:
        norms = _norm_bars(texts)
    except UnreadError as error:
        return marked(tokens, str(error))
    out: Tokens = []
    for i, token in enumerate(tokens):
        if i in norms:
            out.append(token._replace(text=r"\|"))
        elif i - 1 not in norms:
            before = next((text for text in reversed(texts[:i]) if text != " "), "")
            half = token.text == "." and "".join(texts[i + 1 : i + 2]).isdigit()
            half = half and not before.isalnum() and before != "}"
            out += [token._replace(text="0"), token] if half else [token]
    return out


def _norm_bars(texts: Sequence[str]) -> set[int]:
    """Where `||` stands for one bar: in pairs with no other bar between them, and with absolute values around."""
    between = {i for i in range(len(texts)) if texts[i : i + 2] == ["|", "|"] and _parts_two(texts, i)}
    bars = [i for i, text in enumerate(texts) if text == "|" and not {i, i - 1} & between]
    if not any(texts[i + 1 : i + 2] == ["|"] for i in bars[::2]):
        return between
    doubled = [i for i in bars if i + 1 in bars and i - 1 not in bars]
    alone = [i for i in bars if i + 1 not in bars and i - 1 not in bars]
    fine = len(doubled) % 2 == 0 and 2 * len(doubled) + len(alone) == len(bars)
    for opening, closing in zip(doubled[::2], doubled[1::2], strict=False):
        fine = fine and not any(opening < i < closing for i in alone)
        fine = fine and sum(i < opening for i in alone) % 2 == 0
    if not fine:
        raise UnreadError("`||` may be a bar of a norm, or two bars")
    return between.union(doubled)


def _parts_two(texts: Sequence[str], at: int) -> bool:
    """Whether the `||` there stands between two things in brackets, with no other bar: `D(P || Q)`."""
    inside = [text for text in texts if text != " "]
    at -= texts[:at].count(" ")
    before = next((k for k in range(at - 1, -1, -1) if _turns(inside[k:at]) > 0), -1)
    behind = next((k for k in range(at + 2, len(inside)) if _turns(inside[at + 2 : k + 1]) < 0), 0)
    alone = {"|", r"\|"}.isdisjoint((*inside[before:at], *inside[at + 2 : behind]))
    return before >= 0 and behind > at + 2 and before < at - 1 and alone


def _turns(texts: Sequence[str]) -> int:
    """How many brackets open more than close."""
    return sum((text in ("(", "[")) - (text in (")", "]")) for text in texts)


def in_rows(tokens: Tokens) -> Tokens:
    """Without `\\right. \\\\ & \\left.` within brackets that go on in the next row."""
    texts = [t.text for t in tokens]
    empty = [i for i in range(len(texts) - 1) if texts[i + 1] == "." and texts[i] in (r"\left", r"\right")]
    turns = [texts[i] for i in empty]
    if r"\begin" in texts or turns.count(r"\left") != turns.count(r"\right") or turns[:1] == [r"\left"]:
        empty = []
    spare = {k for i in empty for k in (i, i + 1)}
    rows = (i for i, depth in enumerate(depths(tokens)) if depth > 0 and texts[i] in ("\\\\", "&"))
    spare |= set() if r"\begin" in texts else {*rows}
    return [token for i, token in enumerate(tokens) if i not in spare]


def _called(tokens: Tokens, i: int) -> str:
    """A word right before brackets that hold a list: the name of a function; empty where there is none."""
    word = "".join(t.text for t in takewhile(lambda t: len(t.text) == 1 and t.text.isalpha(), tokens[i:]))
    behind = tokens[i + len(word) :]
    if len(word) < 3 or not word.isascii() or not behind or behind[0].text != "(":
        return ""
    inside = takewhile(lambda pair: pair[1] > 0, zip(behind, depths(behind), strict=True))
    return word if any(depth == 1 and token.text == "," for token, depth in inside) else ""


def _divided(inner: Tokens) -> Tokens:
    """`a \\over b` in braces as a fraction."""
    for i, token in enumerate(inner):
        if token.text in _DIVIDING and not sum((t.text == "{") - (t.text == "}") for t in inner[:i]):
            if not (head := _DIVIDING[token.text]) or any(t.text in _DIVIDING for t in inner[i + 1 :]):
                raise UnreadError(f"{token.text} is not read here")
            opening, closing, name = (token._replace(text=sign) for sign in (*"{}", head))
            return [name, opening, *inner[:i], closing, opening, *inner[i + 1 :], closing]
    return inner


def _stacked(command: str, above: Tokens, base: Tokens, like: SourceToken) -> Tokens:
    """What stands over or under a sign: a label of a step falls away, `def` defines, all else is refused."""
    above = [t for t in above if t.text not in (r"\left", r"\right")]
    inside = [t for t in above if t.text not in (*"{}$", " ", *_SIZES)]
    sized = any(t.text == r"\mathclap" or t.text in _SIZES - {r"\text"} for t in above)
    said, sign = latex_of(inside if sized else above), latex_of(base)
    if sign in SIGNS:
        if PATTERNS["defined"].fullmatch(said):
            return [like._replace(text=":=")]
        if PATTERNS["label"].fullmatch(said):
            return base
        return marked(base, f"{command} puts `{said}` at a sign, which may change what it says")
    if command == r"\underset":
        opening, closing = (like._replace(text=mark) for mark in "{}")
        return [*base, like._replace(text="_"), opening, *above, closing]
    return marked([like, *base], f"{command} of `{sign}` is not read")


def depths(tokens: Iterable[SourceToken | str]) -> Iterator[int]:
    """How many brackets are open behind each token, or each part of a formula."""
    texts = (token if isinstance(token, str) else token.text for token in tokens)
    return accumulate((text in OPENING) - (text in CLOSING) for text in texts)


def outer(tokens: Sequence[Part]) -> list[Part]:
    """Tokens or parts outside of brackets."""
    return [token for token, depth in zip(tokens, depths(tokens), strict=True) if depth <= 0]


def split(tokens: Sequence[SourceToken], at: frozenset[str]) -> Iterator[tuple[SourceToken, Tokens]]:
    """The parts between signs outside of brackets, each with the sign before it; that of the first is empty."""
    sign, part = SourceToken("", 0, ""), Tokens()
    for token, depth in zip(tokens, depths(tokens), strict=True):
        if depth <= 0 and token.text in at:
            yield sign, part
            sign, part = token, []
        else:
            part.append(token)
    yield sign, part


def stripped(tokens: Sequence[SourceToken]) -> Tokens:
    """Without spaces and punctuation at its ends."""
    inner = [*dropwhile(lambda t: t.text in _SPACES, tokens)][::-1]
    return [*dropwhile(lambda t: t.text in _SPACES or t.text in ".,;", inner)][::-1]
