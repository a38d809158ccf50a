"""What the sentence at a display says: the display's name, conditions, and the note in parentheses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from lark import Token, Tree, UnexpectedInput

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.syntax import parser
from dpverify.formulas.notation.tokens import Latex, normal, texts
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.verdicts import Coverage
from dpverify.statements.pages.letters import is_letter
from dpverify.statements.pages.words import Sentence, spelled, tokens

_CONNECTING = frozenset((",", ";", r"\wedge", r"\vee", r"\neg", r"\implies", r"\iff", r"\forall", r"\exists"))


@dataclass(frozen=True)
class WrittenCondition:
    """A condition as it is written: a formula between dollars, or several with the words between them."""

    kind: Literal["formula", "letters", "and", "or", "not"]
    line: int
    latex: str = ""
    parts: tuple[WrittenCondition, ...] = ()

    @property
    def compound(self) -> bool:
        """Whether what it says has parts."""
        if self.parts:
            return self.kind != "not"
        depth = 0
        for part in texts(normal(self.latex)):
            depth += (part in "([{" or part == r"\{") - (part in ")]}" or part == r"\}")
            if part.startswith(r"\text{") or (part in _CONNECTING and not (part in ",;" and depth)):
                return True
        return False

    def written(self) -> str:
        """It in LaTeX, with brackets wherever there might be two readings."""
        match self.kind:
            case "not":
                return rf"\neg({self.parts[0].written()})"
            case "and" | "or":
                inner = (f"({p.written()})" if p.compound else p.written() for p in self.parts)
                return rf" \text{{ {self.kind} }} ".join(inner)
            case _:
                return self.latex


def both(conditions: Iterable[WrittenCondition]) -> WrittenCondition | None:
    """The condition that several hold; None where there is none."""
    found = [part for c in conditions for part in (c.parts if c.kind == "and" else (c,))]
    if not found:
        return None
    return found[0] if len(found) == 1 else WrittenCondition("and", found[0].line, parts=tuple(found))


@dataclass(frozen=True)
class Note:
    """What is said of a display in parentheses, and the conditions of its sentence."""

    coverage: Coverage | None = None
    case: str = ""
    """Of an instance."""
    provenance: Provenance | None = None
    given: tuple[WrittenCondition, ...] = ()
    """All of them hold."""
    letters: tuple[WrittenCondition, ...] = ()
    """Letters of which the sentence says that they stand for all values."""
    reading: str = ""
    uses: tuple[str, ...] = ()
    soft: str = ""
    fixed: tuple[str, ...] = ()
    premises: str = ""
    box: tuple[str, ...] = ()
    meant: str = ""
    units: bool = True
    """Whether both sides are to have the same unit."""
    own_sizes: bool = False
    """Of an instance, whether its case gives letters their sizes."""
    unread: bool = False
    """Whether the display is shown, and read by nobody."""
    single: bool = False
    """Of a definition, whether all of its left side is one letter."""


@dataclass(frozen=True)
class LeadingWords:
    """What the sentence before a display says."""

    name: str
    """Empty where it gives none."""
    note: Note
    defines: bool = False
    parameter: str = ""
    """Of a definition, the letter of which it is a function."""
    corrects: bool = False
    """Whether its display is what should have been printed."""

    @property
    def says_more(self) -> bool:
        """Whether it says more than a name."""
        return self.defines or self.corrects or self.note != Note()


def read_before(sentence: Sentence, more: Sequence[Sentence] = ()) -> LeadingWords:
    """The sentence that leads to a display, with the notes that stand behind it."""
    tree = _parsed(sentence, "before")
    reader = _NoteReader()
    noted: Any = next((child for child in tree.children if _kind(child) == "note"), None)
    for child in (*tree.children, *(_parsed(one, "note") for one in more)):
        if isinstance(child, Tree):
            reader.take(child)
    corrects = any(isinstance(child, Token) and child.type == "CORRECTED" for child in tree.children)
    begin = None if noted is None else noted.children[0].start_pos
    name = spelled(sentence.parts[corrects:begin]).rstrip(", ") if sentence.end == ":" else ""
    kind = r"(?i)(?:an? |the )?(?:step|instance|condition|reference|cited)(?: \S{1,4})?"
    if noted is None and re.fullmatch(kind, name):
        allowed = f"a name, and `({name.split()[0].lower()})` behind it if it is one"
        raise InvalidArgumentError("name", name, allowed)
    return LeadingWords(name, reader.note(), reader.defines, reader.parameter, corrects)


def read_after(sentence: Sentence) -> Note:
    """The rest of a display's sentence, behind it. Raises as `read_before`."""
    reader = _NoteReader()
    for child in _parsed(sentence, "after").children:
        if isinstance(child, Tree):
            reader.take(child)
    return reader.note()


# --------------------------------------------------------------------------------------------- parsing


def _parsed(sentence: Sentence, start: str) -> Tree[Token]:
    found = tokens(sentence, after=start == "after")
    try:
        parse = parser("dpverify.statements.pages", "notes.lark", "before", "after", "note").parse
        return parse(found, start=start)
    except UnexpectedInput as error:
        token = getattr(error, "token", None)
        if token is None or token.type == "$END":
            raise InvalidArgumentError("sentence", str(sentence), _ENDED) from None
        raise _refusal(sentence, found, token, start) from None


_ENDED = "one that is complete: with a closing parenthesis, a formula after `for` or `if`"
_ITEM = (
    "a note: `conclusion`, `step`, `condition`, `reference`, `cited` or `instance of ...`; `given $...$`; `on $...$`; "
    "`read as $...$`; `uses ...`; `soft $...$`; `fixed $...$`; `premises some` or `premises every`"
)
_CONDITION = (
    "a condition such as `for all $x\\ge 1$`, `if $x\\ge 1$ and $y<2$`, or `given $x\\ge 1$` in the note"
)


def _refusal(sentence: Sentence, found: list[Token], token: Token, start: str) -> InvalidArgumentError:
    """What is said of a token that has no place where it stands."""
    at = token.start_pos or 0
    before = [t for t in found if (t.start_pos or 0) < at]
    depth = sum((t.type == "LPAR") - (t.type == "RPAR") for t in before)
    opened = next((t for t in [*before, token] if t.type == "LPAR"), None)
    if opened is not None and (depth > 0 or token is opened):
        note = spelled(sentence.parts[opened.start_pos or 0 :])
        return _LineError(token.line, "note", note, f"{_ITEM}; not `{token}` here")
    rest, last = spelled(sentence.parts[at:]), before[-1].type if before else ""
    match token.type:
        case "RELATION" | "SIGN" if last not in ("FOR", "COND", "UNLESS", "QUANTOR", "THAT"):
            allowed = f"no formula but in {_CONDITION}"
            return _LineError(token.line, "sentence", Latex(token), allowed)
        case "NOT" | "STRANGE" if last not in ("FOR", "COND", "QUANTOR"):
            allowed = "a sentence that says what the display claims, without words that may change it"
            return _LineError(token.line, "sentence", str(token), allowed)
        case "FOR" | "COND" | "UNLESS":
            return _LineError(token.line, "condition", rest, _CONDITION)
        case "LPAR" | "RPAR" | "BRACKET":
            allowed = "words, and at the end of the sentence before a display a note in parentheses"
            return _LineError(token.line, "sentence", rest, allowed)
    if any(t.type in ("FOR", "COND", "UNLESS") for t in before):
        return _LineError(token.line, "condition", str(sentence), _CONDITION)
    if found[0].type in ("DEFINE", "LET"):
        allowed = f"`Define:` or `Define for every $k$:`, for a definition; {_CONDITION}"
        return _LineError(token.line, "definition", str(sentence), allowed)
    return _LineError(
        token.line, "sentence", str(sentence), f"one that is read {start} a display, see docs/notation.md"
    )


class _LineError(InvalidArgumentError):
    """With the line of what is wrong."""

    def __init__(self, line: int | None, argument: str, value: object, allowed: str) -> None:
        super().__init__(argument, value, allowed)
        self.line = line or 1


def line_of_error(error: InvalidArgumentError, line: int) -> int:
    """The line of what is wrong where that is known, else the given one."""
    return error.line if isinstance(error, _LineError) else line


# --------------------------------------------------------------------------------------------- reading


def _kind(child: Any) -> str:
    return child.type if isinstance(child, Token) else str(child.data)


class _NoteReader:
    """Takes the parts of a sentence one by one."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.given: list[WrittenCondition] = []
        self.letters: list[WrittenCondition] = []
        self.defines, self.parameter = False, ""

    def note(self) -> Note:
        return replace(Note(), **self.found, given=tuple(self.given), letters=tuple(self.letters))

    def take(self, node: Tree[Token]) -> None:
        match _kind(node):
            case "opening" | "closing":
                self.condition(node, negated=False)
            case "unless":
                self.condition(node, negated=True)
            case "definition":
                self.define(node)
            case "note":
                for child in node.children[1:]:
                    if _kind(child) not in ("SEMICOLON", "RPAR"):
                        self.item(child)

    def define(self, node: Tree[Token]) -> None:
        self.defines = True
        signs = [child for child in node.children if isinstance(child, Token)]
        for quantor, letter in pairwise(signs):
            if quantor.type == "QUANTOR":
                self.parameter = str(letter)

    def condition(self, node: Tree[Token], *, negated: bool) -> None:
        inner = next(child for child in node.children if isinstance(child, Tree))
        found = _joined(inner)
        if negated:
            self.given.append(WrittenCondition("not", found.line, parts=(found,)))
            return
        alone = found.parts if found.kind == "and" else (found,)
        if any(c.kind == "letters" for c in (*alone, *found.parts)):
            if any(c.kind != "letters" for c in alone):
                letter = next(c for c in (*alone, *found.parts) if c.kind == "letters")
                allowed = "a relation in each condition: `$x>0$, $y>0$` or `$x,y>0$`, where both are meant"
                raise _LineError(letter.line, "condition", Latex(letter.latex), allowed)
            self.letters += alone
            return
        self.given.append(found)

    def once(self, item: Any, name: str, value: object) -> None:
        if name in self.found:
            first = item if isinstance(item, Token) else item.children[0]
            raise _LineError(first.line, "note", str(first), "each said once")
        self.found[name] = value

    def item(self, item: Any) -> None:
        if isinstance(item, Token):
            value = Provenance(str(item)) if item.type == "PROVENANCE" else Coverage(str(item))
            self.once(item, item.type.lower(), value)
            return
        words = [str(child) for child in item.children[1:] if isinstance(child, Token)]
        match _kind(item):
            case "instance":
                self.once(item, "coverage", Coverage.INSTANCE)
                self.found["case"] = " ".join(words).replace(" ,", ",").removeprefix("of ")
            case "without":
                self.once(item, "units", False)
            case "own_sizes" | "unread" | "single" as mark:
                self.once(item, mark, True)
            case "meant" | "reading" | "soft" as said:
                self.once(item, said, words[0])
            case "given" | "given_all" | "given_any":
                self.given.append(_joined(item))
            case "on":
                self.once(item, "box", tuple(str(c) for c in item.children[1:] if _kind(c) == "RELATION"))
            case "uses":
                names = (child for child in item.children if isinstance(child, Tree))
                self.once(item, "uses", tuple(" ".join(map(str, name.children)) for name in names))
            case "fixed":
                self.once(item, "fixed", tuple(word for word in words if word != ","))
            case "premises":
                if words[0] not in ("some", "every"):
                    raise _LineError(item.children[0].line, "premises", words[0], "`some` or `every`")
                self.once(item, "premises", words[0])


def _joined(node: Tree[Token]) -> WrittenCondition:
    """The condition of a node: one formula or group, or several with the same word between them."""
    parts = [_one(child) for child in node.children if isinstance(child, Tree)]
    if len(parts) == 1:
        return parts[0]
    kind: Literal["and", "or"] = "or" if _kind(node) in ("any", "given_any") else "and"
    for part in parts[:-1]:
        if part.kind == "not":
            allowed = (
                "one of two readings, said by parentheses: of the next condition alone, or of all that follow"
            )
            raise _LineError(part.line, "condition", f"not {part.parts[0].written()}", allowed)
    return WrittenCondition(kind, parts[0].line, parts=tuple(parts))


def _of_each(latex: str) -> str:
    """`x,y\\ge1` says it of both letters, and is written so: `x\\ge1,y\\ge1`."""
    *letters, last = latex.split(",")
    sign = re.search(r"[<>=]|\\(?:l[et]q?|g[et]q?|ne|in)(?![A-Za-z])", last)
    if sign is None or not letters:
        return latex
    each = [*letters, last[: sign.start()]]
    if any(part.count("{") != part.count("}") for part in each) or not all(map(is_letter, each)):
        return latex
    return ", ".join(f"{letter.strip()}{last[sign.start() :]}" for letter in each)


def _one(node: Tree[Token]) -> WrittenCondition:
    """`not` and a formula or a group."""
    last: Any = node.children[-1]
    if isinstance(last, Tree):
        found = _joined(last)
    else:
        latex = _of_each(re.sub(r"[.,;\s]+$", "", str(last)))
        found = WrittenCondition("formula" if last.type == "RELATION" else "letters", last.line or 1, latex)
    if _kind(node.children[0]) != "NOT":
        return found
    if found.kind == "formula" and found.compound:
        allowed = "one of two readings, said by parentheses: of the first relation alone, or of all"
        raise _LineError(found.line, "condition", Latex(f"not {found.latex}"), allowed)
    return WrittenCondition("not", found.line, parts=(found,))
