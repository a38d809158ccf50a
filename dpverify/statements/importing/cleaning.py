"""Formulas of a paper in one way of writing: without what has no meaning, names and brackets as pages have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from dpverify.statements.importing.source import SourceToken, latex_of
from dpverify.statements.importing.tables import meanings, one_of, words


class UnreadError(Exception):
    """What cannot be read of a formula, with the reason."""


ORDERS = meanings("orders")
"""Signs that hold up to a factor, with the sign and the order that say so."""
SIGNS = meanings("signs") | {sign: said.split()[0] for sign, said in ORDERS.items()}
"""Signs of comparison that are read, and what is written for them."""
VAGUE = meanings("vague")
"""Signs of comparison that are refused, with the reason."""
OTHER, ARROWS, TEXT = words("other"), words("arrows"), words("text")
OPENING, CLOSING = words("opening"), words("closing")
CONDITION = re.compile(rf"(?i)\W*{one_of('in_formulas')}\W*")
ANNOTATION = re.compile(rf"(?i)\W*{one_of('remarks')}\b")
_KINDS, _WRITTEN = meanings("commands"), meanings("written")
"""What is done with a command and what follows it, and what is written for one that stands alone."""
_FUNCTIONS = frozenset(("min", "max", "log", "exp", "inf", "sup", "ln"))
_LABEL = re.compile(
    r"\((?:[a-z]|[ivx]+|\d+|\*+)\)|\d+|[ivx]{2,}|\(?\\(?:eq)?ref ?\{[^}]*\}\)?"
    r"|\\(?:text|mathrm) ?\{\((?:[a-z]|[ivx]+|\d+)\)\}"
)
"""What numbers a step; `d` alone would say that laws are equal."""
_DEFINED = re.compile(
    r"\\(?:text|mathrm|mathsf|mbox|textnormal|textrm) ?\{ ?(?:def|defn|def\.)\.? ?\}|\\triangle|\\Delta|def"
)
_WORDY = (
    words("in_formulas")
    | words("remarks")
    | words("claim")
    | words("condition")
    | words("neither")
    | {"and", "or", "with"}
)
_TYPED = re.compile(
    r"(max|min|log|exp|ln)(?=\(|\[|\\\{)|(arg ?max|arg ?min|max|min|sup|inf)(?=_|\\,_)"
    rf"|({one_of('typed')})(?=\()|([A-Z][a-z]{{3,}})(?=[(_=<>+-])"
)
"""Names of functions that are typed as letters, by what follows."""
_SHAPED = frozenset((r"\mathsf", r"\mathrm", r"\mathbf", r"\mathtt", r"\text"))
_TRANSPOSE = re.compile(r" ?\\intercal|\\(?:mathsf|mathrm|mathbf|mathtt|text) ?(?:\{ *T ?\}|T)")
"""What stands above a transposed vector, beside `\\top`."""
_SPACES = frozenset((" ", "~", r"\,", r"\;", r"\:", r"\ ", r"\>", r"\quad", r"\qquad"))
_SIZE = re.compile(r"\\(?:left|right|middle|[bB]igg?[lrm]?)")
_SHAPES = {
    r"\rm": r"\mathrm",
    r"\bf": r"\mathbf",
    r"\cal": r"\mathcal",
    r"\sf": r"\mathsf",
    r"\it": r"\mathit",
}
"""Commands of plain TeX that give all that follows in their braces a shape."""
_BESIDE = frozenset((" ", "&", r"\left", r"\big", r"\Big", r"\bigl"))
_SIZES = frozenset(
    (r"\mathclap", r"\text", r"\tiny", r"\scriptsize", r"\mbox", r"\scriptstyle", r"\scriptscriptstyle")
)

Tokens = list[SourceToken]


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
            if not (kind and _KIND_METHODS[kind](self, token)):
                self.out.append(token._replace(text=_WRITTEN.get(token.text, token.text)))
        return self.out

    def argument(self) -> Tokens:
        """The next argument."""
        inner, self.i = group(self.tokens, self.i)
        return inner

    def next(self) -> str:
        return self.tokens[self.i].text if self.i < len(self.tokens) else ""

    def put(self, like: SourceToken, *texts: str) -> bool:
        self.out += [like._replace(text=text) for text in texts]
        return True

    def braces(self, inner: Tokens, like: SourceToken) -> bool:
        self.out += [like._replace(text="{"), *inner, like._replace(text="}")]
        return True

    # Each of these says whether it has taken the token.

    def refuse(self, token: SourceToken) -> bool:
        said = "it has a condition of TeX in it, which is not evaluated"
        said = said if token.text in ("if", "fi", r"\else") else ""
        raise UnreadError(said or f"{token.text} is not read")

    def drop(self, token: SourceToken) -> bool:
        return self.put(token, " ")

    def drop_argument(self, _: SourceToken) -> bool:
        self.i = group(self.tokens, self.i + (self.next() == "*"))[1]
        return True

    def end(self, _: SourceToken) -> bool:
        self.i = len(self.tokens)
        return True

    def unwrap(self, token: SourceToken) -> bool:
        """A box is what is in it, between dollars or not; one in a shape of letters is a name."""
        inner = [t for t in self.argument() if t.text != "$"]
        if inner and inner[0].text in _SHAPES:
            return self.named(inner[1:], token._replace(text=r"\operatorname"))
        self.out += cleaned(inner)
        return True

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
        self.out += _stacked(token.text, cleaned(above), cleaned(base), token)
        return True

    def operator(self, token: SourceToken) -> bool:
        return self.named(self.argument(), token)

    def named(self, inner: Tokens, token: SourceToken) -> bool:
        if inner[:1] and inner[0].text in TEXT:
            inner = [t for t in inner if t.text not in ("{", "}", *TEXT)]
        inner = [t for t in inner if t.text not in (" ", r"\,", r"\ ", r"\!")]
        if all(t.text.isalpha() or t.text == "-" for t in inner):
            return self.put(token, token.text) and self.braces(inner, token)
        self.out += cleaned(inner)
        return True

    def negate(self, token: SourceToken) -> bool:
        if self.next() not in (*SIGNS, " ", *VAGUE, *OTHER):
            return False
        sign = self.argument()[0].text
        if sign not in ("=", r"\in"):
            raise UnreadError(f"\\not {sign} is not read")
        return self.put(token, r"\ne" if sign == "=" else r"\notin")

    def angle(self, token: SourceToken) -> bool:
        """`\\left<` opens an inner product, `<<` says that something is much less."""
        before = next((t.text for t in reversed(self.out) if t.text != " "), "")
        if _SIZE.fullmatch(before):
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
            t.text for t in self.tokens[stop:] if t.text not in (" ", r"\!") and not _SIZE.fullmatch(t.text)
        )
        if [t.text for t in inner] != ["O"] or next(behind, "") != "(":
            return False
        self.i = stop
        return self.put(token, "O")

    def dots(self, token: SourceToken) -> bool:
        if [t.text for t in self.tokens[self.i : self.i + 2]] != [".", "."]:
            return False
        self.i += 2
        return self.put(token, r"\dots")

    def code(self, token: SourceToken) -> bool:
        return self.braces(_code(self.argument(), token), token)

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
                self.out += cleaned(inner)
                return True
        if not inner and self.next() in ("^", "_"):
            return True
        return self.braces(_divided(cleaned(inner)), token)


_KIND_METHODS: dict[str, Callable[[_Cleaner, SourceToken], bool]] = {
    name.replace("_", " "): method
    for name, method in vars(_Cleaner).items()
    if name.replace("_", " ") in set(_KINDS.values())
}


def cleaned(tokens: Sequence[SourceToken]) -> Tokens:
    """Tokens without what has no meaning, and with one way to write what has several."""
    return _Cleaner(tokens).run()


def _mixed(inner: Tokens, like: SourceToken) -> Tokens:
    """Words with formulas between dollars in them, each for itself: `\\text{for all $x$}`."""
    out: Tokens = []
    first: Tokens = []
    for number, part in enumerate(_between_dollars(inner)):
        if number % 2:
            out += cleaned(part)
        elif any(t.text != " " for t in part):
            words = latex_of(part).strip(" ,;.")
            if out and words in ("", "and", "and all", "and every") and CONDITION.fullmatch(latex_of(first)):
                part = [like._replace(text=letter) for letter in "given"]  # the condition goes on
            first = first or part
            out += [like, like._replace(text="{"), *part, like._replace(text="}")]
    return out


def _between_dollars(tokens: Tokens) -> list[Tokens]:
    """Words, a formula, words and so on."""
    parts: list[Tokens] = [[]]
    for token in tokens:
        if token.text == "$":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _name(tokens: Sequence[SourceToken], at: int) -> str:
    """The name in words that stand where a letter or a function does, before brackets or a sign; else nothing."""
    inner, stop = group(tokens, at)
    name = latex_of(inner)
    while stop < len(tokens) and tokens[stop].text in _BESIDE:
        stop += 1
    after = tokens[stop].text if stop < len(tokens) else ""
    stands = after in (r"\overset", r"\stackrel", "(", r"\{", "+", "-", r"\cdot", "_") or after in SIGNS
    return name if re.fullmatch("[A-Za-z]{2,12}", name) and stands and name.lower() not in _WORDY else ""


def _code(inner: Sequence[SourceToken], like: SourceToken) -> Tokens:
    """Names, calls and numbers of code as letters: `len(x)`, `a.b`, `l0`; operators are left to be refused."""
    said = "".join(t.text for t in inner).replace(r"\_", "_").replace("{", "").replace("}", "")
    out: Tokens = []
    for name, last, mark in re.findall(r"([A-Za-z_]*[A-Za-z])(\d*)|(\d+(?:\.\d+)?|::|\S)", said):
        if name:
            after = out[-1:] and out[-1].text == "_"
            written = (
                ["{", r"\mathrm", "{", *name.replace("_", ""), "}", "}"]
                if after
                else [r"\mathrm", "{", *name.replace("_", ""), "}"]
            )
            out += [
                like._replace(text=text) for text in (*written, *(("_", "{", *last, "}") if last else ()))
            ]
        elif mark in (".", "::"):
            out.append(like._replace(text="_"))
        elif mark[0].isdigit() or mark in "(),'+-":
            out += [like._replace(text=text) for text in mark]
        else:
            raise UnreadError(f"{like.text}{{{latex_of(inner)}}} is not read")
    if not out or out[-1].text == "_" or out[0].text == "_":
        raise UnreadError(f"{like.text}{{{latex_of(inner)}}} is not read")
    return out


def with_functions(tokens: Tokens) -> Tokens:
    """Names of functions that are typed as letters: `max(`, `argmin_`."""
    out: Tokens = []
    i = 0
    while i < len(tokens):
        said = "".join(t.text for t in tokens[i : i + 10] if len(t.text) == 1 or t.text in (r"\{", r"\,"))
        match = None if out and out[-1].text.isalpha() else _TYPED.match(said)
        if match is None and not (out and out[-1].text.isalpha()):
            match = _called(tokens, i)
        name = match[0].replace(" ", "") if match else ""
        count = len(match[0]) if match else 0
        if match and all(len(t.text) == 1 for t in tokens[i : i + count]):
            if name in ("max", "min", "sup", "inf", "log", "exp", "ln"):
                out.append(tokens[i]._replace(text="\\" + name))
            else:
                out += [tokens[i]._replace(text=t) for t in (r"\operatorname", "{", *name, "}")]
            i += count
        else:
            out.append(tokens[i])
            i += 1
    return out


def with_marks(tokens: Tokens) -> Tokens:
    """`||` as a bar of a norm, where nothing else can be meant; `.5` as `0.5`; brackets over several rows as one."""
    texts = [t.text for t in tokens]
    norms = _norm_bars(texts)
    spare = _spare(texts)
    out: Tokens = []
    for i, token in enumerate(tokens):
        if i in norms:
            out.append(token._replace(text=r"\|"))
        elif i - 1 not in norms and i not in spare:
            before = next((text for text in reversed(texts[:i]) if text != " "), "")
            half = (
                token.text == "." and texts[i + 1 : i + 2] and texts[i + 1].isdigit() and not before.isalnum()
            )
            out += [token._replace(text="0"), token] if half and before != "}" else [token]
    return out


def _norm_bars(texts: Sequence[str]) -> set[int]:
    """Where `||` stands for one bar: in pairs with no other bar between them, and with absolute values around."""
    bars = [i for i, text in enumerate(texts) if text == "|"]
    if not any(texts[i + 1 : i + 2] == ["|"] for i in bars[::2]):
        return set()
    doubled = [i for i in bars if i + 1 in bars and i - 1 not in bars]
    alone = [i for i in bars if i + 1 not in bars and i - 1 not in bars]
    fine = len(doubled) % 2 == 0 and 2 * len(doubled) + len(alone) == len(bars)
    for opening, closing in zip(doubled[::2], doubled[1::2], strict=False):
        fine = fine and not any(opening < i < closing for i in alone)
        fine = fine and sum(i < opening for i in alone) % 2 == 0
    if not fine:
        raise UnreadError("`||` may be a bar of a norm, or two bars")
    return set(doubled)


def _spare(texts: Sequence[str]) -> set[int]:
    """`\\right. \\\\ & \\left.` within brackets that go on in the next row."""
    empty = [i for i in range(len(texts) - 1) if texts[i + 1] == "." and texts[i] in (r"\left", r"\right")]
    turns = [texts[i] for i in empty]
    if r"\begin" in texts or turns.count(r"\left") != turns.count(r"\right") or turns[:1] == [r"\left"]:
        empty = []
    spare = {k for i in empty for k in (i, i + 1)}
    depth = 0
    for i, text in enumerate(texts):
        depth += (text in OPENING) - (text in CLOSING)
        if depth > 0 and text in ("\\\\", "&") and r"\begin" not in texts:
            spare.add(i)
    return spare


def _called(tokens: Tokens, i: int) -> re.Match[str] | None:
    """A word right before brackets that hold a list: the name of a function."""
    k = i
    while k < len(tokens) and len(tokens[k].text) == 1 and tokens[k].text.isalpha():
        k += 1
    if k - i < 3 or k >= len(tokens) or tokens[k].text != "(":
        return None
    depth, listed = 0, False
    for token in tokens[k:]:
        depth += (token.text in OPENING) - (token.text in CLOSING)
        listed = listed or (depth == 1 and token.text == ",")
        if depth == 0:
            break
    return re.match(r"[A-Za-z]+", "".join(t.text for t in tokens[i:k])) if listed else None


def _divided(inner: Tokens) -> Tokens:
    """`a \\over b` in braces as a fraction."""
    depth = 0
    for i, token in enumerate(inner):
        depth += (token.text == "{") - (token.text == "}")
        if depth == 0 and token.text in (r"\over", r"\choose", r"\atop"):
            head = {r"\over": r"\frac", r"\choose": r"\binom"}.get(token.text)
            if head is None or any(t.text in (r"\over", r"\choose", r"\atop") for t in inner[i + 1 :]):
                raise UnreadError(f"{token.text} is not read here")
            opening, closing = (token._replace(text=sign) for sign in "{}")
            return [
                token._replace(text=head),
                opening,
                *inner[:i],
                closing,
                opening,
                *inner[i + 1 :],
                closing,
            ]
    return inner


def _stacked(command: str, above: Tokens, base: Tokens, like: SourceToken) -> Tokens:
    """What stands over or under a sign: a label of a step falls away, `def` defines, all else is refused."""
    above = [t for t in above if t.text not in (r"\left", r"\right")]
    inside = [t for t in above if t.text not in (*"{}$", " ", *_SIZES)]
    sized = any(t.text == r"\mathclap" or t.text in _SIZES - {r"\text"} for t in above)
    said, sign = latex_of(inside if sized else above), latex_of(base)
    if sign in SIGNS:
        if _DEFINED.fullmatch(said):
            return [like._replace(text=":=")]
        if _LABEL.fullmatch(said):
            return base
        raise UnreadError(f"{command} puts `{said}` at a sign, which may change what it says")
    if command == r"\underset":
        opening, closing = (like._replace(text=mark) for mark in "{}")
        return [*base, like._replace(text="_"), opening, *above, closing]
    raise UnreadError(f"{command} of `{sign}` is not read")


def split(tokens: Sequence[SourceToken], at: frozenset[str]) -> Iterator[tuple[str, Tokens]]:
    """The parts between signs outside of brackets, each with the sign before it."""
    depth, sign, part = 0, "", Tokens()
    for token in tokens:
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth <= 0 and token.text in at:
            yield sign, part
            sign, part = token.text, []
        else:
            part.append(token)
    yield sign, part


def stripped(tokens: Sequence[SourceToken]) -> Tokens:
    """Without spaces and punctuation at its ends."""
    first, end = 0, len(tokens)
    while first < end and tokens[first].text in _SPACES:
        first += 1
    while end > first and tokens[end - 1].text in _SPACES | {".", ",", ";"}:
        end -= 1
    return list(tokens[first:end])
