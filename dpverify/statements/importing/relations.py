"""A formula of a paper as its relations: rows, chains and cases taken apart, with the conditions written in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, takewhile

from dpverify.formulas.notation.tokens import DRESS
from dpverify.statements.importing.cleaning import (
    ANNOTATION,
    ARROWS,
    CLOSING,
    CONDITION,
    DOTS,
    OPENING,
    ORDERS,
    OTHER,
    SIGNS,
    SIZE,
    TEXT,
    VAGUE,
    Tokens,
    UnreadError,
    cleaned,
    depths,
    group,
    in_rows,
    outer,
    split,
    stripped,
    with_functions,
    with_marks,
)  # fmt: skip
from dpverify.statements.importing.source import SourceToken, latex_of, tokens_of
from dpverify.statements.importing.structure import SourceFormula
from dpverify.statements.importing.tables import EXISTENTIAL, JOINING, PATTERNS, REFUSING, one_of, words


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
    doubt: str = ""
    """What is asked about its sign."""
    set: bool = False
    """Whether it says what a set is, and compares no numbers."""
    ranged: bool = False
    """Whether it says between which numbers an index is, which is never a claim."""


@dataclass
class FormulaRelations:
    """What is in a formula."""

    found: list[SourceRelation] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    """Those that stand in it and are about nothing else in it."""
    whole: str = ""
    """The formula in one, where it is one row."""


_INSIDE = ("aligned", "split", "gathered", "alignedat")
_POWER = re.compile(r"\\in ?(?:[\[({]|\\\{).*[\]})] ?\^")
_NUMBERS = re.compile(r"\\in ?(?:\\left)?(?:\(|\[|\\\{|\\mathbb ?\{?[RNZ])")
"""Membership in a set of numbers; in other sets it compares none."""
_BETWEEN = {phrase.replace("_", " ") for phrase in words("between")}
_SCRIPTS = r"(?: ?[_^](?:\w|\{[^{}]*\}))"
_SET = re.compile(
    rf"\\mathbb ?(?:[RNZCQ]|\{{[RNZCQ]\}}){_SCRIPTS}*"
    r"|\\operatorname\*?\{(?:dom|int|conv|span|cl|epi|supp|ran|ker)\}.*"
)
_UNDER = DRESS | {r"\neg", r"\lnot"}
"""What denies the comparison in the brackets behind it, or makes of it a name."""
_LISTING = frozenset((",", ":", r"\mid", r"\in", r"\mapsto", *DOTS))
"""In braces, they say that these hold elements of a set."""
_CHANGING = re.compile(rf"(?i)\b{one_of('changing')}\b")
"""What makes of a remark a condition, or denies it."""
_PROBLEM = words("problem") | words("condition") | words("claim")
_TENDS = re.compile(r"\\(?:to|rightarrow) ?[+-]? ?(?:\\infty|0|1)")
"""To what a letter tends."""
_BESIDE = "is this claimed, and no condition of what stands beside it?"
_BEHIND_AND = "is what stands behind `and` claimed, and no condition?"
_OPERATORS = {"+", "-", r"\cdot", r"\times", r"\pm", "/"}
_PARTING = (",", ";", r"\quad", r"\qquad")
_IF = re.compile(r"^\\(?:text|mbox|textrm|textnormal) ?\{ ?(?:if|for|when|,)? ?(?:if|for|when)? ?\} ?")
_MODULO = re.compile(r"\\[pb]?mod(?![a-z])")
_LETTER = r"(?:\\math[a-z]+\{[A-Za-z]\}|\\[A-Za-z]+|[A-Za-z])(?:_(?:\w|\{\\?\w+\}))?'?"
_END = rf"\d+|{_LETTER}(?:[+-]\d+)?"
"""An end of an index range."""


@dataclass
class _Chain:
    """A chain that goes on over rows, with what stands beside them."""

    tokens: Tokens
    row: int = 0
    """Where its last row begins."""
    conditions: list[tuple[int, Tokens]] = field(default_factory=list)
    """Each with the beginning of the row that it stands beside."""
    doubt: str = ""

    def go_on(self, row: Tokens) -> None:
        """Take one more row."""
        self.row = len(self.tokens)
        self.tokens += [row[0]._replace(text=" "), *row]

    def refuse_row(self, why: str) -> None:
        """Mark the signs of the last row: what they say is not read."""
        row = self.tokens[self.row :]
        self.tokens[self.row :] = [t._replace(unread=why) if t.text in (*SIGNS, *VAGUE) else t for t in row]

    def take(self, result: FormulaRelations) -> None:
        """Add what it says."""
        before, doubt = len(result.found), self.doubt
        for row, beside in self.conditions:
            if row != self.row:
                doubt = doubt or f"is `{latex_of(beside)}`, which stands beside a row, a condition of this?"
            self.tokens += [beside[0]._replace(text=" "), *beside]
        doubt = _take(stripped(self.tokens), result) or doubt
        result.found[before:] = (replace(r, doubt=r.doubt or doubt) for r in result.found[before:])


def relations_of(formula: SourceFormula) -> FormulaRelations:
    """The relations of a formula.

    Raises:
        UnreadError: for what cannot be taken apart.
    """
    tokens = stripped(with_functions(in_rows(_inner(stripped(cleaned(formula.tokens))))))
    rows = _FormulaRows(joined=formula.environment == "multline")
    width = 3 if formula.environment == "eqnarray" else 2
    for _, row in split(tokens, frozenset((r"\\",))):
        if re.match(r"\s*\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm)\s*\]", "".join(t.text for t in row[:14])):
            row = row[[t.text for t in row].index("]") + 1 :]
        cells = [cell for _, cell in split(row, frozenset("&"))]
        pairs = (stripped([*chain(*cells[k : k + width])]) for k in range(0, len(cells), width))
        rows.row([with_marks(pair) for pair in pairs if pair])
        rows.ended = re.search(r"[.,;] ?(\\\w+ ?\{[^{}]*\})?$", latex_of(row)) is not None
    result, chains = rows.result, rows.chains
    for one in chains:
        one.take(result)
    texts = {t.text for t in tokens}
    if r"\begin" in texts and texts & {*SIGNS} and not (result.found or result.conditions):
        raise UnreadError("an environment in it is not read")
    if len(chains) == 1 and not any(t.text in DOTS or t.unread for t in chains[0].tokens):
        result.whole = latex_of(stripped(chains[0].tokens))
    return result


@dataclass
class _FormulaRows:
    """The rows of a formula as chains, with what stands beside them."""

    joined: bool
    """Whether they are one formula, with no signs between them that begin or end."""
    chains: list[_Chain] = field(default_factory=list)
    result: FormulaRelations = field(default_factory=FormulaRelations)
    first: int = 0
    """The chain in the first column of the last row that begins one."""
    ended: bool = False
    """Whether punctuation ends the row before."""

    def row(self, pairs: Sequence[Tokens]) -> None:
        """Take a row, by its pairs of columns."""
        here = self.first
        for k, whole in enumerate(pairs):
            if latex_of(whole) not in (*DOTS, r"\vdots"):
                pair, beside = _with_beside(whole, alone=k > 0)
                if not pair and _joins(beside) and any(map(_signs, (beside, *pairs[k + 1 :]))):
                    pair, beside = _behind_joining(beside), []
                here = self.pair(pair, beside, k, here)

    def pair(self, pair: Tokens, beside: Tokens, k: int, here: int) -> int:
        """Take a pair of columns, the k-th of its row, and what stands beside it; to which chain it belongs."""
        chains = self.chains
        starts = {t.text for t in pair[:1]} & {*SIGNS, *VAGUE}
        goes_on = self.goes_on(pair, beside, first=k == 0, starts=bool(starts))
        if k and _is_bracketed(pair) and _signs(pair[1:-1]):
            pair, beside = [], stripped(pair[1:-1])
            chains[here].doubt = _without(latex_of(beside))
        if not pair:
            pass
        elif k and chains and _is_about(pair, _indices([chains[here].tokens])):
            chains[here].conditions.append((chains[here].row, [pair[0]._replace(text=","), *pair]))
        elif goes_on and chains and k == 0:
            chains[self.first].go_on(pair)
        elif goes_on and (chains or starts) and not self.joined:
            raise UnreadError("a row begins with a sign, and it is not clear what it goes on from")
        else:
            if k and any(re.fullmatch(_LETTER, _side(side)) for _, side in split(pair, frozenset(SIGNS))):
                chains[here].doubt = _without(latex_of(pair))
            here = len(chains)
            self.first = self.first if k else here
            chains.append(_Chain(list(pair), doubt=_BESIDE if k else ""))
        self.beside(pair, beside, here)
        return here

    def goes_on(self, pair: Tokens, beside: Tokens, *, first: bool, starts: bool) -> bool:
        """Whether a pair goes on from another."""
        goes_on = starts or self.joined or bool({t.text for t in pair[:1]} & _OPERATORS)
        if first and pair and self.chains and not starts:
            ended = {t.text for t in stripped(self.chains[self.first].tokens)[-1:]}
            goes_on = goes_on or bool(ended & {*SIGNS, *VAGUE, *_OPERATORS, *ARROWS})
            other = {*OTHER, *TEXT} & {t.text for t in outer(pair)}
            if not (goes_on or beside or other or self.ended or _signs(pair)):
                raise UnreadError("a row without a sign, and it is not clear what it goes on from")
        return goes_on

    def beside(self, pair: Tokens, beside: Tokens, here: int) -> None:
        """Take the words that stand beside a pair: a condition of its chain, or a remark."""
        leads = beside and beside[0].text in TEXT
        words, behind = _words(beside) if leads else ("", [])
        said = words.strip(" ,.;:()").lower() if not stripped(behind) else ""
        arrow = pair and not _signs(pair) and {t.text for t in pair} <= {*ARROWS, " "}
        if arrow or said in (*JOINING, "implying") or CONDITION.fullmatch(said):
            raise UnreadError(f"`{said or latex_of(pair)}` joins it with what comes")
        if beside and not self.chains:
            raise UnreadError("words stand before all rows")
        if leads and CONDITION.match(words):
            self.chains[here].conditions.append((self.chains[here].row, beside))
        elif beside:
            found, why = _remark(beside)
            self.result.found += found
            if why:
                self.chains[here].refuse_row(why)


def _behind_joining(beside: Tokens) -> Tokens:
    """What stands behind words that say no more than that another formula comes."""
    said, behind = _words(beside)
    if said.strip(" ,.;:()").lower() not in (*_BETWEEN, "and"):
        raise UnreadError(f"the words `{said}` stand between formulas")
    return stripped(behind)


def _without(latex: str) -> str:
    return f"does it hold without ${latex}$, which stands beside it?"


def _words(tokens: Tokens) -> tuple[str, Tokens]:
    """The words at the beginning of tokens, and what is behind them."""
    inner, stop = group(tokens, 1)
    return latex_of(inner), tokens[stop:]


def _with_beside(row: Tokens, *, alone: bool) -> tuple[Tokens, Tokens]:
    """A row, and the remark or the condition in words that stands beside it, or alone in its column."""
    for i, depth in enumerate(depths(row)):
        opens = depth == 1 and _is_bracketed(row[i:])
        rest = stripped(row[i + 1 : -1]) if opens else row[i:]
        if not rest or (depth > 0 and not opens) or rest[0].text not in TEXT or _is_name(row, i):
            continue
        said, _ = _words(rest)
        if (i or alone) and (ANNOTATION.match(said) or CONDITION.match(said) or not i):
            return stripped(row[:i]), rest
    return row, []


def _is_bracketed(tokens: Tokens, opening: Sequence[str] = ("(",)) -> bool:
    """Whether one pair of brackets holds them all, and something is in it."""
    opens = len(tokens) > 2 and tokens[0].text in opening
    return opens and next((k for k, depth in enumerate(depths(tokens)) if depth == 0), 0) == len(tokens) - 1


def _joins(tokens: Tokens) -> bool:
    """Whether words stand first that begin neither a condition nor a remark."""
    said = _words(tokens)[0] if tokens and tokens[0].text in TEXT else ""
    return bool(said) and not CONDITION.match(said) and not ANNOTATION.match(said)


def _inner(tokens: Tokens) -> Tokens:
    """What is in `aligned` and the like, if that is all."""
    if _is_bracketed(tokens, ("(", "{")) and _signs(tokens[1:-1]):
        return _inner(stripped(tokens[1:-1]))
    name, at = group(tokens, 1) if tokens[:1] and tokens[0].text == r"\begin" else ([], 0)
    called = latex_of(name).removesuffix("*")
    if called not in _INSIDE:
        return tokens
    end = [r"\end", "{", *[t.text for t in name], "}"]
    if [t.text for t in tokens[-len(end) :]] != end or r"\begin" in (t.text for t in tokens[at:]):
        raise UnreadError(f"{called} beside something else")
    return stripped(tokens[at : -len(end)])


def _is_name(tokens: Tokens, at: int) -> bool:
    """Whether words are a script, or have one or brackets behind them."""
    if tokens[at].text not in TEXT:
        return False
    before, behind = stripped(tokens[:at])[-1:], tokens[group(tokens, at + 1)[1] :][:1]
    return bool({t.text for t in before} & {"_", "^"} or {t.text for t in behind} & {"(", "_", "^", "["})


def _take(tokens: Tokens, result: FormulaRelations) -> str:
    """Add what one chain says; what is to be asked about it."""
    parts: list[tuple[str, Tokens]] = [("", [])]
    depth = stop = 0
    for i, token in enumerate(tokens):
        if i < stop:
            continue
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth > 0 or token.text not in (*TEXT, r"\forall", *_PARTING, ":"):
            parts[-1][1].append(token)
        elif token.text in TEXT:
            words, behind = _words(tokens[i:])
            stop = len(tokens) - len(behind)
            if _is_name(tokens, i):
                parts[-1][1].extend(tokens[i:stop])
            elif token.text == r"\intertext":
                raise UnreadError("words stand between its rows")
            elif ANNOTATION.match(words):
                remarks, why = _remark(tokens[i:])
                if why:
                    raise UnreadError(why)
                result.found += remarks
                break
            else:
                parts.append((words.strip() or " ", []))
        elif token.text == ":" and parts[-1][0] != "for all":
            parts[-1][1].append(token)
        else:
            parts.append(("for all" if token.text == r"\forall" else ",", []))
    claims: list[Tokens] = []
    conditions: list[Tokens] = []
    conditional = listed = False  # whether a comparison stands behind a comma among conditions
    doubt, number_before = "", 0  # of claims before the first condition
    parts = [*_with_ranges([(sign, stripped(part)) for sign, part in parts])]
    _refuse_under(tokens)
    for number, (sign, part) in enumerate(parts):
        word = sign.strip(" ,.;:()").lower()
        if sign not in ("", ","):
            if CONDITION.fullmatch(word):
                if number_before and (listed if conditional else number_before < len(claims)):
                    raise UnreadError("several claims in it have conditions of their own")
                number_before = number_before if conditions else len(claims)
                conditional = True
            elif conditional and word in ("such that", "s.t"):
                conditions = [*filter(_signs, conditions)]
            elif word in ("and", ""):
                goes_on = word == "and" and (not part or _signs(part) == {r"\in"})
                doubt = _BEHIND_AND if conditional and word and not goes_on and _signs(part) else doubt
                conditional = conditional and goes_on
            elif word in _BETWEEN or (sign.rstrip().endswith(":") and word.split()[0] not in _PROBLEM):
                conditional = False
            elif (
                not (conditional or CONDITION.match(sign))
                or _denied(word)
                or any(_signs(later) for _, later in parts[number:])
            ):
                raise UnreadError(f"the words `{word}` stand in it")
            else:
                conditional, doubt = True, f"does it hold without what is said in the words `{word}`?"
        if not part:
            continue
        if _TENDS.search(latex_of(part)) and not _signs(part):
            raise UnreadError("it says to what a letter tends")
        if claims and _is_bracketed(part) and _signs(part[1:-1]):
            doubt = _without(latex_of(part))
            result.found += _remark(stripped(part[1:-1]))[0]
            continue
        if conditional and sign == "," and claims == [] and conditions:
            conditional = False
        listed = listed or (conditional and sign == "," and bool(_signs(part)))
        (conditions if conditional else claims).append(part)
    for token in chain(*conditions):
        if token.unread:
            raise UnreadError(token.unread)
    given = tuple(_range(part) or latex_of(part) for part in _listed(conditions) if _signs(part))
    found = list(_listed(claims))
    # an index range behind a claim is a condition, and so is what is said of an index alone
    aside = found[1:] if found and not _range(found[0]) else []
    aside = [part for part in aside if _range(part) or _is_about(part, _indices(found))]
    result.conditions += [] if found else given
    for part in (part for part in found if part not in aside):
        result.found += _links(part, (*given, *(_range(part) or latex_of(part) for part in aside)))
    return doubt


def _refuse_under(tokens: Tokens) -> None:
    """Refuse a comparison in brackets under a bar or a negation: it says the contrary, or that of an event."""
    bare = [t for t in tokens if t.text != " " and not SIZE.fullmatch(t.text)]
    for i, (token, depth) in enumerate(zip(bare, depths(bare), strict=True)):
        if depth == 0 and token.text in _UNDER and {*OPENING} & {t.text for t in bare[i + 1 : i + 2]}:
            turns = zip(bare[i + 2 :], depths(bare[i + 2 :]), strict=True)
            inner = (t for t, depth in takewhile(lambda pair: pair[1] >= 0, turns))
            if _signs([t for t in inner if t.text not in ("(", ")")]):
                raise UnreadError(f"a comparison under {token.text} is not read")


def _indices(parts: Sequence[Tokens]) -> set[str]:
    """Letters that are indices below others, and those that have a range."""
    below = (re.findall(r"_(\w|\{[^{}]*\})", latex_of(part)) for part in parts)
    ranged = {latex_of(part)[:1] for part in parts if _range(part)}
    return ranged.union(*(re.findall("[i-nst]", said) for found in below for said in found))


def _is_about(part: Tokens, indices: set[str]) -> bool:
    """Whether a comparison has one of the indices as a side."""
    return bool(_signs(part)) and any(_side(side) in indices for _, side in split(part, frozenset(SIGNS)))


def _denied(said: str, *, compares: bool = True) -> str:
    """What of words may change what is claimed beside them; empty where nothing does."""
    found = _CHANGING.search(said) or REFUSING.search(said.lower()) or EXISTENTIAL.search(said.lower())
    return found[0] if found and (compares or found[0] != "not") else ""


def _remark(tokens: Tokens) -> tuple[list[SourceRelation], str]:
    """The formulas of a remark, of which it is asked whether it claims them, and why what it stands beside is not read.

    Raises:
        UnreadError: for what may change all that stands beside it, not only the last step.
    """
    said = " ".join(_words(tokens[k:])[0] if t.text in TEXT else t.text for k, t in enumerate(tokens))
    changing = _denied(said, compares=bool({*SIGNS} & {t.text for t in tokens}))
    why = f"a remark says `{changing}`, which may change what it claims" if changing else ""
    if _TENDS.search(latex_of(tokens)):
        why = "it says to what a letter tends"
    if why and not ANNOTATION.match(said):
        raise UnreadError(why)
    found = list(_remarked(tokens))
    return [replace(r, refused=r.refused or why) for r in found], why


def _remarked(tokens: Tokens) -> Iterator[SourceRelation]:
    """The formulas of a remark."""
    part: Tokens = []
    i = 0
    while i <= len(tokens):
        if i == len(tokens) or tokens[i].text in TEXT or tokens[i].text in (",", ";"):
            part = stripped(part)
            depth = sum((t.text == "(") - (t.text == ")") for t in part)
            part = stripped(part[1:] if depth > 0 else part[:-1] if depth < 0 else part)
            if part and part[0].text in SIGNS:
                yield SourceRelation(latex_of(part), part[0].line, refused="it stands in a remark")
            elif part:
                yield from (replace(r, doubt="is this claimed, in a remark?") for r in _links(part, ()))
            part = []
        else:
            part.append(tokens[i])
        i = group(tokens, i + 1)[1] if i < len(tokens) and tokens[i].text in TEXT else i + 1


def _with_ranges(parts: Sequence[tuple[str, Tokens]]) -> Iterator[tuple[str, Tokens]]:
    """Parts between commas; those of `i = 1, \\dots, n` in one."""
    waiting: list[tuple[str, Tokens]] = []
    dots = [len(part) == 1 and part[0].text in DOTS for _, part in parts]
    for k, (sign, part) in enumerate(parts):
        ahead = any(dots[k : k + 3]) and not any(t.text in SIGNS for t in part)
        if waiting and part and sign == "," and (ahead or dots[k - 1] or part[0].text.isdigit()):
            before, start = waiting.pop()
            waiting.append((before, [*start, part[0]._replace(text=","), *part]))
        else:
            yield from waiting
            waiting = [(sign, part)]
    yield from waiting


def _listed(parts: Sequence[Tokens]) -> Iterator[Tokens]:
    """Parts between commas; letters before one with a sign are of its list."""
    waiting: Tokens = []
    for part in parts:
        has = bool(_signs(part) or ARROWS & {t.text for t in outer(part)})
        member = [k for k, t in enumerate(part) if t.text in SIGNS and t.text == r"\in"][:1]
        letters = re.fullmatch(r"[i-nst]'?( ?, ?[i-nst]'?)*", latex_of(waiting))
        if letters and _range(part) and member:  # `i, j \in [d]`
            yield from ([*letter, *part[member[0] :]] for _, letter in split(waiting, frozenset(",")))
        elif waiting and not _range(part):  # before `i = 1, \dots, n`, letters are what it is about
            part = [*waiting, part[0]._replace(text=","), *part]
        waiting = [] if has else part
        if has:
            yield part
    if waiting:
        yield waiting


def _signs(tokens: Sequence[SourceToken]) -> set[str]:
    """Signs of comparison outside of brackets."""
    return {*SIGNS, *VAGUE} & {t.text for t in outer(tokens)}


def _range(part: Tokens) -> str:
    """`i = 1, \\dots, n` as a condition; empty for all else."""
    said = re.sub(r"\s|\\(?:left|right)(?![a-z])|\{\}", "", latex_of(part))
    if re.search(r"\d,\d{3}(?!\d)", latex_of(part)):
        return ""  # `10,000` is one number
    letter = rf"({_LETTER})"
    if match := re.fullmatch(letter + rf"\\in\[({_END})\]", said):
        return rf"1\le {match[1]}\le {match[2]}"
    values = r"\\in\\\{((?:[+-]?[\d.]+,)*[+-]?[\d.]+)\\\}"
    if match := re.fullmatch(r"([i-nst])=(\d+(?:,\d+)+)", said) or re.fullmatch(letter + values, said):
        return r"\vee ".join(f"{match[1]}={value}" for value in match[2].replace("+", "").split(","))
    dots = rf"({_END})((?:,[\\\w+]+?)*),\\(?:[lc]?dots|ldots|dotsc)(?:,({_END}))?"
    for between in (rf"={dots}", rf"\\in(?:\\\{{|\[){dots}(?:\\\}}|\])"):
        if match := re.fullmatch(letter + between, said):
            first, after = match[2], match[3].split(",")[1:]
            steps = range(1, len(after) + 1)
            follow = [str(int(first) + k) if first.isdigit() else f"{first}+{k}" for k in steps]
            last = match[4] or ""
            rises = not last.isdigit() or (first.isdigit() and int(first) <= int(last))
            if after == follow and rises:
                return rf"{first}\le {match[1]}\le {match[4]}" if match[4] else rf"{match[1]}\ge {first}"
    if match := re.fullmatch(letter + rf"(?:\\in|=)(?:\\\{{|\[)({_END}):({_END})(?:\\\}}|\])", said):
        return rf"{match[2]}\le {match[1]}\le {match[3]}"
    return ""


def _links(part: Tokens, given: tuple[str, ...]) -> Iterator[SourceRelation]:
    """A chain as its links."""
    outside = [t.text for t in outer(part)]
    line, said = part[0].line, latex_of(part)
    signs = sum(text in SIGNS or text in VAGUE for text in outside)
    if not signs or (signs == 1 and r"\in" in outside and (_POWER.search(said) or not _NUMBERS.search(said))):
        return
    all_of_it = SourceRelation(said, line, given, signs=signs)
    unread = next((t.unread for t in part if t.unread), "")
    is_set, logic = _is_set(part), ARROWS & set(outside)
    if unread and (logic or is_set or _range(part)):
        yield replace(all_of_it, refused=unread)
        return
    if ranged := _range(part):
        yield replace(all_of_it, latex=ranged, ranged=True)
        return
    if is_set and signs == 1 and not logic:
        yield replace(all_of_it, set=True)
        return
    if (is_set and not logic) or (not is_set and (OTHER | {":"}) & set(outside)):
        yield replace(all_of_it, refused="it is about sets, laws or maps")
        return
    if logic:
        refused = next((VAGUE[text] for text in outside if text in VAGUE), "")
        strange = {":=", r"\exists", r"\neg", r"\lnot"} & set(outside)
        yield replace(all_of_it, refused="a formula of logic that is not read" if strange else refused)
        return
    sides = list(split(part, frozenset((*SIGNS, *VAGUE))))
    # of `a_1 \\ge \\dots \\ge a_n`, what its ends say
    dots = [
        k
        for k in range(1, len(sides) - 1)
        if _side(sides[k][1]) in DOTS and sides[k + 1][0].text == sides[k][0].text
    ]
    sides = [side for k, side in enumerate(sides) if k not in dots]
    scripts = dict[int, str]()
    for k, (token, side) in enumerate(sides):
        if k and stripped(side)[:1] and stripped(side)[0].text in ("_", "^"):
            stop = group(stripped(side), 1)[1]
            scripts[k], sides[k] = latex_of(stripped(side)[:stop]), (token, stripped(side)[stop:])
    for k, ((_, left), (token, right)) in enumerate(pairwise(sides), 1):
        sign = token.text
        left_, right_ = _side(left), _side(right)
        at = next((t.line for t in (*left, *right) if t.text.strip()), line)
        sign_, _, order = ORDERS.get(sign, SIGNS.get(sign, sign)).partition(" ")
        right_ = rf"{order}\left( {right_} \right)" if order and right_ else right_
        whole = f"{left_} {sign_}{scripts.get(k, '')} {right_}".replace(":=", "=")
        made = SourceRelation(whole, at, given, defines=SIGNS.get(sign) == ":=")
        if sign == r"\equiv":
            made = replace(made, doubt=rf"does $\equiv$ say that ${left_}$ and ${right_}$ are equal?")
        if unread := next((t.unread for t in (token, *left, *right) if t.unread), ""):
            yield replace(made, refused=unread)
        elif k in scripts:
            yield replace(made, refused="its sign has a script, which changes what it says")
        elif sign == r"\equiv" and _MODULO.search(said):
            yield replace(made, refused="it is about remainders")
        elif not left_ or not right_:
            yield replace(made, refused="a side is missing")
        elif sign in VAGUE:
            yield replace(made, refused=VAGUE[sign])
        elif r"\begin{cases}" in whole.replace(" ", ""):
            yield from _cases(made, left_, stripped(right), sign)
        else:
            yield made


def _side(tokens: Tokens) -> str:
    return latex_of(stripped(tokens))


def _is_set(part: Tokens) -> bool:
    """Whether a letter is said to be what braces hold, or a set by its name: `K=\\{x: x\\ge0\\}`, `S=\\mathbb{R}^d`."""
    sides = list(split(part, frozenset((*SIGNS, *VAGUE))))
    if len(sides) != 2 or SIGNS.get(sides[1][0].text) not in ("=", ":="):
        return False
    left, right = (stripped(side) for _, side in sides)
    return bool(
        PATTERNS["set_name"].fullmatch(latex_of(left))
        and (_SET.fullmatch(latex_of(right)) or _holds_elements(right))
    )


def _holds_elements(tokens: Tokens) -> bool:
    """Whether braces hold a list or say what is in a set, or an interval has a power, and nothing else is there."""
    bare = [t for t in tokens if not SIZE.fullmatch(t.text)]
    end = next((k for k, depth in enumerate(depths(bare)) if depth <= 0), 0)
    held, behind = [t.text for t in outer(bare[1:end])], latex_of(bare[end + 1 :])
    if end and bare[0].text == r"\{" and re.fullmatch(f"{_SCRIPTS}*", behind):
        return held.count("|") == 1 or bool(_LISTING & set(held))
    return (
        end > 0
        and bare[0].text in "(["
        and "," in held
        and bool(re.fullmatch(rf"(?= ?\^){_SCRIPTS}+", behind))
    )


def _cases(made: SourceRelation, left: str, right: Tokens, sign: str) -> Iterator[SourceRelation]:
    """`f = \\begin{cases} ... \\end{cases}`, a relation for each case; what holds otherwise is refused."""
    match = re.fullmatch(r"\\begin ?\{cases\}(.*)\\end ?\{cases\}", latex_of(right))
    if match is None or r"\begin" in match[1]:
        yield replace(made, refused="cases beside something else")
        return
    for number, (_, row) in enumerate(split(tokens_of(match[1], ""), frozenset((r"\\",)))):
        row = stripped(row)
        if not row:
            continue
        cells = [stripped(cell) for _, cell in split(row, frozenset("&"))]
        value, condition = latex_of(cells[0]), latex_of(cells[1]) if len(cells) > 1 else ""
        condition = _IF.sub("", condition)
        said = f"{left} {SIGNS[sign]} {value}"
        new = replace(made, latex=said, given=(*made.given, condition), signs=not number)
        compares = r"\text" not in condition and re.search(r"[<>=]|\\[lg]e", condition)
        fine = len(cells) == 2 and compares
        yield new if fine else replace(new, refused="a case whose condition is not a formula")
