"""A formula of a paper as its relations: rows, chains and cases taken apart, with the conditions written in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from dpverify.statements.importing.source import SourceToken, latex_of, tokens_of
from dpverify.statements.importing.structure import SourceFormula
from dpverify.statements.importing.tables import meanings, one_of, words


class UnreadError(Exception):
    """What cannot be read of a formula, with the reason."""


@dataclass(frozen=True)
class SourceRelation:
    """One comparison, or one formula of several that words or arrows join."""

    latex: str
    line: int
    given: tuple[str, ...] = ()
    """Conditions that stand in the formula itself."""
    defines: bool = False
    """Whether its sign says that it defines."""
    signs: int = 1
    refused: str = ""


@dataclass
class FormulaRelations:
    """What is in a formula."""

    found: list[SourceRelation] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    """Those that stand in it and are about nothing else in it."""
    whole: str = ""
    """The formula in one, where it is one row."""


SIGNS = meanings("signs")
"""Signs of comparison that are read, and what is written for them."""
VAGUE = meanings("vague")
"""Signs of comparison that are refused, with the reason."""
OTHER, _ARROWS, _TEXT = words("other"), words("arrows"), words("text")
_DROPPED, _DROPPED_WITH, _UNWRAPPED, _UNREAD = map(words, ("dropped", "dropped_with", "unwrapped", "unread"))
_OPENING, _CLOSING, _CODE = words("opening"), words("closing"), words("code")
_INSIDE = ("aligned", "split", "gathered", "alignedat")
_LABEL = re.compile(
    r"\((?:[a-z]|[ivx]+|\d+|\*+)\)|\d+|[ivx]{2,}|\(?\\(?:eq)?ref ?\{[^}]*\}\)?"
    r"|\\(?:text|mathrm) ?\{\((?:[a-z]|[ivx]+|\d+)\)\}"
)
"""What numbers a step; `d` alone would say that laws are equal."""
_DEFINED = re.compile(
    r"\\(?:text|mathrm|mathsf|mbox|textnormal|textrm) ?\{ ?(?:def|defn|def\.)\.? ?\}|\\triangle|\\Delta|def"
)
_CONDITION = re.compile(rf"(?i)\W*{one_of('in_formulas')}\W*")
_ANNOTATION = re.compile(rf"(?i)\W*{one_of('remarks')}\b")
_POWER = re.compile(r"\\in ?(?:[\[({]|\\\{).*[\]})] ?\^")
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
    rf"|({one_of('typed')})(?=\()"
)
"""Names of functions that are typed as letters, by what follows."""
_NUMBERS = re.compile(r"\\in ?(?:\\left)?(?:\(|\[|\\\{|\\mathbb ?\{?[RNZ])")
"""Membership in a set of numbers; in other sets it compares none."""
_END = r"\d+|[A-Za-z](?:[+-]\d+)?"
"""An end of an index range."""
_TRANSPOSES = frozenset(
    (
        r"\intercal",
        *(
            rf"{a}{t}"
            for a in (r"\mathsf", r"\mathrm", r"\mathbf", r"\mathtt", r"\text")
            for t in ("{T}", " T")
        ),
    )
)
"""What stands above a transposed vector, beside `\\top`."""
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


def cleaned(tokens: Sequence[SourceToken]) -> Tokens:
    """Tokens without what has no meaning, and with one way to write what has several."""
    out: Tokens = []
    i = 0

    def braces(inner: Tokens, like: SourceToken) -> Tokens:
        return [like._replace(text="{"), *inner, like._replace(text="}")]

    while i < len(tokens):
        token = tokens[i]
        text = token.text.removesuffix("*") if token.text.startswith(r"\tag") else token.text
        i += 1
        if text in ("if", "fi", r"\else"):
            raise UnreadError("it has a condition of TeX in it, which is not evaluated")
        if text in (r"\eqno", r"\leqno"):
            break
        if text in _DROPPED or text == "par":
            out.append(token._replace(text=" "))
        elif text in _DROPPED_WITH:
            i = group(tokens, i)[1]
        elif text in _UNWRAPPED:
            inner, i = group(tokens, i)
            out += cleaned(inner)
        elif text == r"\textcolor":
            inner, i = group(tokens, group(tokens, i)[1])
            out += cleaned(inner)
        elif text == "^" and latex_of(group(tokens, i)[0]) in _TRANSPOSES:
            i = group(tokens, i)[1]
            out += [token, *braces([token._replace(text=r"\top")], token)]
        elif text in (r"\underbrace", r"\overbrace"):
            inner, i = group(tokens, i)
            if i < len(tokens) and tokens[i].text in "_^":
                label, i = group(tokens, i + 1)
                while len(label) == 1 and label[0].command and i < len(tokens) and tokens[i].text == "{":
                    label, i = group(tokens, i)  # `_\\text{words}`
            out += braces(cleaned(inner), token)
        elif text in (r"\overset", r"\stackrel", r"\underset"):
            above, i = group(tokens, i)
            base, i = group(tokens, i)
            out += _stacked(text, cleaned(above), cleaned(base), token)
        elif text in (r"\eqalign", r"\displaylines", r"\eqalignno"):
            inner, i = group(tokens, i)
            out += cleaned(inner)
        elif text.startswith(r"\operatorname"):
            inner, i = group(tokens, i)
            inner = (
                [t for t in inner if t.text not in ("{", "}", *_TEXT)]
                if inner[:1] and inner[0].text in _TEXT
                else inner
            )
            inner = [t for t in inner if t.text not in (" ", r"\,", r"\ ", r"\!")]
            plain = all(t.text.isalpha() or t.text == "-" for t in inner)
            out += [token, *braces(inner, token)] if plain else cleaned(inner)
        elif text == r"\not" and i < len(tokens) and tokens[i].text in (*SIGNS, " ", *VAGUE, *OTHER):
            sign, i = group(tokens, i)
            out.append(token._replace(text=r"\ne" if sign[0].text == "=" else r"\notin"))
        elif text in "<>" and i < len(tokens) and tokens[i].text == text:
            out.append(token._replace(text={"<": r"\ll", ">": r"\gg"}[text]))
            i += 1
        elif text in _TEXT and text != r"\intertext" and "$" in (t.text for t in group(tokens, i)[0]):
            inner, i = group(tokens, i)
            out += _mixed(inner, token)
        elif text in _TEXT and (name := _name(tokens, i)):
            i = group(tokens, i)[1]
            known = name in ("min", "max", "log", "exp", "inf", "sup", "ln")
            called = token._replace(text=rf"\{name}" if known else r"\operatorname")
            out += [called, *([] if known else braces([token._replace(text=c) for c in name], token))]
        elif text in _UNREAD:
            raise UnreadError(f"{text} is not read")
        elif text in _CODE:
            inner, i = group(tokens, i)
            out += braces(_code(inner, token), token)
        elif text == r"\cr":
            out.append(token._replace(text=r"\\"))
        elif text == r"\colon" or text == ":":
            ahead = i + (i < len(tokens) and tokens[i].text in (" ", r"\!"))
            if ahead < len(tokens) and tokens[ahead].text == "=":
                out.append(token._replace(text=":="))
                i = ahead + 1
            else:
                out.append(token._replace(text=":"))
        elif text == "{":
            inner, i = group(tokens, i - 1)
            empty = not inner and i < len(tokens) and tokens[i].text in ("^", "_")
            out += [] if empty else braces(_divided(cleaned(inner)), token)
        else:
            out.append(token)
    return out


def _mixed(inner: Tokens, like: SourceToken) -> Tokens:
    """Words with formulas between dollars in them, each for itself: `\\text{for all $x$}`."""
    out: Tokens = []
    first: Tokens = []
    for number, part in enumerate(part for _, part in split(inner, frozenset("$"))):
        if number % 2:
            out += cleaned(part)
        elif any(t.text != " " for t in part):
            words = latex_of(part).strip(" ,;.")
            if out and words in ("", "and", "and all", "and every") and _CONDITION.fullmatch(latex_of(first)):
                part = [like._replace(text=letter) for letter in "given"]  # the condition goes on
            first = first or part
            out += [like, like._replace(text="{"), *part, like._replace(text="}")]
    return out


def _name(tokens: Sequence[SourceToken], at: int) -> str:
    """The name in words that stand where a letter or a function does, before brackets or a sign; else nothing."""
    inner, stop = group(tokens, at)
    name = latex_of(inner)
    while stop < len(tokens) and tokens[stop].text in _BESIDE:
        stop += 1
    after = tokens[stop].text if stop < len(tokens) else ""
    stands = after in ("(", r"\{", "+", "-", r"\cdot", "_") or after in SIGNS
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


def _functions(tokens: Tokens) -> Tokens:
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


def _marks(tokens: Tokens) -> Tokens:
    """`||` as a bar of a norm, where bars stand in pairs alone; `.5` as `0.5`."""
    texts = [t.text for t in tokens]
    bars = [i for i, text in enumerate(texts) if text == "|"]
    pairs = {i for i in bars[::2] if texts[i + 1 : i + 2] == ["|"]}
    if pairs and (2 * len(pairs) != len(bars) or len(pairs) % 2):
        raise UnreadError("`||` may be a bar of a norm, or two bars")
    out: Tokens = []
    for i, token in enumerate(tokens):
        if i in pairs:
            out.append(token._replace(text=r"\|"))
        elif i - 1 not in pairs:
            before = next((text for text in reversed(texts[:i]) if text != " "), "")
            half = (
                token.text == "." and texts[i + 1 : i + 2] and texts[i + 1].isdigit() and not before.isalnum()
            )
            out += [token._replace(text="0"), token] if half and before != "}" else [token]
    return out


def _called(tokens: Tokens, i: int) -> re.Match[str] | None:
    """A word right before brackets that hold a list: the name of a function."""
    k = i
    while k < len(tokens) and len(tokens[k].text) == 1 and tokens[k].text.isalpha():
        k += 1
    if k - i < 3 or k >= len(tokens) or tokens[k].text != "(":
        return None
    depth, listed = 0, False
    for token in tokens[k:]:
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
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
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if depth <= 0 and token.text in at:
            yield sign, part
            sign, part = token.text, []
        else:
            part.append(token)
    yield sign, part


def _stripped(tokens: Sequence[SourceToken], more: str = "") -> Tokens:
    """Without spaces and punctuation at its ends."""
    found = list(tokens)
    spaces = {" ", "~", r"\,", r"\;", r"\:", r"\ ", r"\>", r"\quad", r"\qquad", *more}
    while found and found[0].text in spaces:
        del found[0]
    while found and found[-1].text in spaces | {".", ",", ";"}:
        del found[-1]
    return found


def relations_of(formula: SourceFormula) -> FormulaRelations:
    """The relations of a formula.

    Raises:
        UnreadError: for what cannot be taken apart.
    """
    tokens = _stripped(_functions(_marks(cleaned(formula.tokens))))
    tokens = _inner(tokens, formula)
    joined = formula.environment == "multline"
    three = formula.environment == "eqnarray"
    lines: list[Tokens] = []
    result = FormulaRelations()
    for _, row in split(tokens, frozenset((r"\\",))):
        row = _without_size(row)
        cells = [cell for _, cell in split(row, frozenset("&"))]
        width = 3 if three else 2
        starts_at = range(0, len(cells), width) if len(cells) > 1 else ()
        pairs = [[t for cell in cells[k : k + width] for t in cell] for k in starts_at] or cells
        pairs = [p for p in map(_stripped, pairs) if p]
        for k, pair in enumerate(pairs):
            starts = pair[0].text in SIGNS or pair[0].text in VAGUE
            goes_on = starts or joined or pair[0].text in ("+", "-", r"\cdot", r"\times", r"\pm")
            if k and pair[0].text in _TEXT and not _CONDITION.match(_words(pair)[0]):
                result.found += _remark(pair)  # in a column of its own
                continue
            if (k and pair[0].text in _TEXT and lines) or (goes_on and lines and k == 0):
                lines[-1] += [pair[0]._replace(text=" "), *pair]
            elif goes_on and (lines or starts) and not joined:
                raise UnreadError("a row begins with a sign, and it is not clear what it goes on from")
            else:
                lines.append(list(pair))
    for line in lines:
        _take(_stripped(line), result)
    if len(lines) == 1:
        result.whole = latex_of(_stripped(lines[0]))
    return result


def _inner(tokens: Tokens, formula: SourceFormula) -> Tokens:
    """What is in `aligned` and the like, if that is all."""
    if tokens and tokens[0].text == r"\begin":
        name, at = group(tokens, 1)
        called = latex_of(name).removesuffix("*")
        if called in _INSIDE:
            end = [r"\end", "{", *[t.text for t in name], "}"]
            if [t.text for t in tokens[-len(end) :]] != end or r"\begin" in (t.text for t in tokens[at:]):
                raise UnreadError(f"{called} beside something else")
            inner = tokens[at : -len(end)]
            return _stripped(inner)
    return tokens


def _without_size(row: Tokens) -> Tokens:
    """A row without `[2pt]` at its beginning."""
    match = re.match(r"\s*\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm)\s*\]", "".join(t.text for t in row[:14]))
    if match is None:
        return row
    closing = next(i for i, t in enumerate(row) if t.text == "]")
    return row[closing + 1 :]


def _words(tokens: Sequence[SourceToken]) -> tuple[str, int]:
    """The words of a `\\text{...}` at the beginning, and where it ends."""
    inner, stop = group(tokens, 1)
    return latex_of(inner), stop


def _take(tokens: Tokens, result: FormulaRelations) -> None:
    """Add what one line says."""
    parts: list[tuple[str, Tokens]] = [("", [])]
    i = depth = 0
    while i < len(tokens):
        token = tokens[i]
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if token.text in _TEXT and depth <= 0:
            words, after = _words(tokens[i:])
            i += after
            name = token.text
            before = _stripped(parts[-1][1])
            scripted = before and before[-1].text in ("_", "^")
            bracket = i < len(tokens) and tokens[i].text in ("(", "_", "^", "[")
            if scripted or bracket:
                parts[-1][1].extend((*tokens[i - after : i],))
                continue
            if "$" in words:
                raise UnreadError("words with a formula in them stand in it")
            if name == r"\intertext":
                raise UnreadError("words stand between its rows")
            if _ANNOTATION.match(words):
                result.found += _remark(tokens[i:])
                break
            parts.append((words.strip() or " ", []))
            continue
        if depth <= 0 and token.text == r"\forall":
            parts.append(("for all", []))
        elif (depth <= 0 and token.text in (",", ";", r"\quad", r"\qquad")) or (
            depth <= 0 and token.text == ":" and parts[-1][0] == "for all"
        ):
            parts.append((",", []))
        else:
            parts[-1][1].append(token)
        i += 1
    claims: list[Tokens] = []
    conditions: list[Tokens] = []
    conditional = False
    for sign, part in _with_ranges([(sign, _stripped(part)) for sign, part in parts]):
        word = sign.strip(" ,.;:").lower()
        if sign not in ("", ","):
            if _CONDITION.fullmatch(word):
                conditional = True
            elif word in ("and", ""):
                conditional = conditional and word == "and" and not part
            elif word in ("then", "we have"):
                conditional = False
            else:
                raise UnreadError(f"the words `{word}` stand in it")
        if not part:
            continue
        if conditional and sign == "," and claims == [] and conditions:
            conditional = False
        (conditions if conditional else claims).append(part)
    given = tuple(c for part in _listed(conditions) if (c := _condition(part)))
    found = list(_listed(claims))
    # an index range behind a claim is a condition
    ranges = [c for part in found[1:] if (c := _range(part))]
    found = [part for k, part in enumerate(found) if k == 0 or not _range(part)]
    if not found:
        result.conditions += [*given, *ranges]
        return
    for part in found:
        result.found += _links(part, (*given, *ranges))


def _remark(tokens: Sequence[SourceToken]) -> Iterator[SourceRelation]:
    """The formulas of a remark, which are not read."""
    signs = sum(t.text in SIGNS or t.text in VAGUE for t in tokens)
    if signs:
        yield SourceRelation(latex_of(tokens), tokens[0].line, refused="it stands in a remark", signs=signs)


def _with_ranges(parts: Sequence[tuple[str, Tokens]]) -> Iterator[tuple[str, Tokens]]:
    """Parts between commas; those of `i = 1, \\dots, n` in one."""
    waiting: list[tuple[str, Tokens]] = []
    dotted = False
    for sign, part in parts:
        dots = len(part) == 1 and part[0].text in (r"\dots", r"\ldots", r"\cdots")
        if waiting and part and (dots or dotted or part[0].text.isdigit()) and sign == ",":
            before, start = waiting.pop()
            waiting.append((before, [*start, part[0]._replace(text=","), *part]))
        else:
            yield from waiting
            waiting = [(sign, part)]
        dotted = dots
    yield from waiting


def _listed(parts: Sequence[Tokens]) -> Iterator[Tokens]:
    """Parts between commas; letters before one with a sign are of its list."""
    waiting: Tokens = []
    for part in parts:
        has = any(t.text in SIGNS or t.text in VAGUE or t.text in _ARROWS for t in _outside(part))
        if waiting:
            part = [*waiting, part[0]._replace(text=","), *part]
            waiting = []
        if has:
            yield part
        else:
            waiting = part
    if waiting:
        yield waiting


def _outside(tokens: Sequence[SourceToken]) -> Iterator[SourceToken]:
    """Tokens outside of brackets."""
    depth = 0
    for token in tokens:
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if depth <= 0:
            yield token


def _range(part: Tokens) -> str:
    """`i = 1, \\dots, n` as a condition; empty for all else."""
    said = latex_of(part).replace(" ", "")
    letter = r"([a-z](?:_[a-z\d]|_\{\w+\})?|\\tau)"
    match = re.fullmatch(letter + rf"\\in\[({_END})\]", said)
    if match:
        return rf"1\le {match[1]}\le {match[2]}"
    dots = r"(?:\d+,)*\\(?:[lc]?dots|ldots),"
    for between in (rf"=({_END}),{dots}({_END})", rf"\\in(?:\\\{{|\[)({_END}),{dots}({_END})(?:\\\}}|\])",
                    rf"(?:\\in|=)(?:\\\{{|\[)({_END}):({_END})(?:\\\}}|\])"):  # fmt: skip
        if match := re.fullmatch(letter + between, said):
            return rf"{match[2]}\le {match[1]}\le {match[3]}"
    return ""


def _condition(part: Tokens) -> str:
    found = _range(part)
    if found:
        return found
    said = latex_of(part)
    return said if any(t.text in SIGNS or t.text in VAGUE for t in _outside(part)) else ""


def _links(part: Tokens, given: tuple[str, ...]) -> Iterator[SourceRelation]:
    """A chain as its links."""
    outside = [t.text for t in _outside(part)]
    line = part[0].line
    signs = sum(text in SIGNS or text in VAGUE for text in outside)
    said = latex_of(part)
    if not signs or (signs == 1 and r"\in" in outside and (_POWER.search(said) or not _NUMBERS.search(said))):
        return
    if ranged := _range(part):
        yield SourceRelation(ranged, line, given, signs=signs)
        return
    if any(text in OTHER or text == ":" for text in outside):
        yield SourceRelation(
            latex_of(part), line, given, signs=signs, refused="it is about sets, laws or maps"
        )
        return
    if any(text in _ARROWS for text in outside):
        refused = next((VAGUE[text] for text in outside if text in VAGUE), "")
        if ":=" in outside or any(text in (r"\exists", r"\neg", r"\lnot") for text in outside):
            refused = "a formula of logic that is not read"
        yield SourceRelation(latex_of(part), line, given, signs=signs, refused=refused)
        return
    sides = list(split(part, frozenset((*SIGNS, *VAGUE))))
    for (_, left), (sign, right) in pairwise(sides):
        left_, right_ = latex_of(_stripped(left)), latex_of(_stripped(right))
        at = next((t.line for t in (*left, *right) if t.text.strip()), line)
        whole = f"{left_} {SIGNS.get(sign, sign)} {right_}".replace(":=", "=")
        made = SourceRelation(whole, at, given, defines=SIGNS.get(sign) == ":=")
        if not left_ or not right_:
            yield replace(made, refused="a side is missing")
        elif sign in VAGUE:
            yield replace(made, refused=VAGUE[sign])
        elif r"\begin{cases}" in whole.replace(" ", ""):
            yield from _cases(made, left_, _stripped(right), sign)
        else:
            yield made


def _cases(made: SourceRelation, left: str, right: Tokens, sign: str) -> Iterator[SourceRelation]:
    """`f = \\begin{cases} ... \\end{cases}`, a relation for each case; what holds otherwise is refused."""
    said = latex_of(right)
    match = re.fullmatch(r"\\begin ?\{cases\}(.*)\\end ?\{cases\}", said)
    if match is None or r"\begin" in match[1]:
        yield replace(made, refused="cases beside something else")
        return
    for number, (_, row) in enumerate(split(tokens_of(match[1], ""), frozenset((r"\\",)))):
        row = _stripped(row)
        if not row:
            continue
        cells = [_stripped(cell) for _, cell in split(row, frozenset("&"))]
        value, condition = latex_of(cells[0]), latex_of(cells[1]) if len(cells) > 1 else ""
        condition = re.sub(
            r"^\\(?:text|mbox|textrm|textnormal) ?\{ ?(?:if|for|when|,)? ?(?:if|for|when)? ?\} ?",
            "",
            condition,
        )
        new = replace(
            made, latex=f"{left} {SIGNS[sign]} {value}", given=(*made.given, condition), signs=not number
        )
        fine = (
            len(cells) == 2
            and condition
            and r"\text" not in condition
            and any(s in condition for s in ("<", ">", "=", r"\le", r"\ge"))
        )
        yield new if fine else replace(new, refused="a case whose condition is not a formula")
