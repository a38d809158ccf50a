"""Sentences as words and formulas, and these as the tokens that notes.lark is about."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from lark import Token

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import end_of_group, normal, texts
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.verdicts import Coverage
from dpverify.statements.pages.blocks import Math, Other, Piece, Text

WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(said.split() if isinstance(said, str) else said)
    for name, said in tomllib.loads(
        resources.files("dpverify.statements.pages").joinpath("words.toml").read_text(encoding="utf-8")
    ).items()
}
"""Words by what they do in a sentence, as words.toml says it."""
_SIGN = "<>=≤≥≠≈∈∉∼≃≡≪≫→⇒⇔∀∃∞⊂⊆±"
_PART = re.compile(rf"\s+|[,;:()\[\]{{}}]|[{_SIGN}]+|[^\s,;:()\[\]{{}}{_SIGN}]+")
_NAME = re.compile(r"[\w.:/'\[\]-]+")
"""Code that is a name, which is read as a word."""
_END = re.compile(r"[.!?]+[\"'”’]*$")

_NUMBER = re.compile(r"[^\w]+|[\d.]+")
_SCRIPTS = ("LATIN", "GREEK", "MICRO")
_MARK = re.compile(r"[*†‡§¶]$")
"""Of a footnote, which nobody reads."""
KEYWORDS = {
    **{str(c): "COVERAGE" for c in Coverage if c not in (Coverage.UNIT, Coverage.INSTANCE)},
    **{str(p): "PROVENANCE" for p in Provenance},
    "instance": "INSTANCE", "given": "GIVEN", "meant": "MEANT", "on": "ON", "read as": "READ", "uses": "USES",
    "soft": "SOFT", "fixed": "FIXED", "premises": "PREMISES", "without units": "WITHOUT", "own sizes": "SIZES",
    "not read": "UNREAD", "one letter": "SINGLE",
}  # fmt: skip
"""With which an item of a note begins."""


_Kind = Literal["word", "mark", "sign", "math", "other"]


@dataclass(frozen=True)
class SentencePart:
    """A word, a sign or a formula of a sentence."""

    kind: _Kind
    text: str
    line: int
    spaced: bool
    """Whether a space stands before it."""
    code: bool = False
    """Whether it is a name in code, whatever words that is made of."""

    @property
    def word(self) -> str:
        """It in small letters; empty if it is no word."""
        return self.text.lower() if self.kind == "word" else ""

    @property
    def begins(self) -> bool:
        """Whether a sentence begins with it: a capital letter, or a name in code."""
        return self.code or self.text[:1].isupper()

    @property
    def relates(self) -> bool:
        """Whether it is a formula that says something, not an expression alone."""
        return self.kind == "math" and has_relation(self.text)


@dataclass(frozen=True)
class Sentence:
    """A sentence, without the sign at its end."""

    parts: tuple[SentencePart, ...]
    end: str
    """`.` or another sign that ends a sentence, `:`, or nothing."""

    @property
    def line(self) -> int:
        """On which it begins."""
        return self.parts[0].line

    @property
    def relations(self) -> tuple[SentencePart, ...]:
        """The formulas in it that say something, be it in dollars, in code or in plain characters."""
        return tuple(p for p in self.parts if p.relates or p.kind == "sign")

    @property
    def first(self) -> str:
        """Its first word in small letters."""
        return self.parts[0].word

    @property
    def supposes(self) -> bool:
        """Whether it begins as a condition does."""
        return self.first in WORDS["supposing"]

    @property
    def goes_on(self) -> bool:
        """Whether it continues a sentence before it: it begins with a small letter, a comma or a formula."""
        first = self.parts[0]
        small = first.text[:1].islower() and not first.code
        return first.kind != "word" or small or self.first in WORDS["ending"]

    def __str__(self) -> str:
        return spelled(self.parts)


def restricts(following: SentencePart) -> bool:
    """Whether `for` with this behind it begins a condition: a formula, a letter, or a word such as `all` or `large`."""
    alone = len(following.word) == 1 and following.word.isalpha() and following.word != "a"
    return (
        following.kind in ("math", "sign")
        or alone
        or following.word in WORDS["quantors"] | WORDS["restricting"]
    )


def spelled(parts: Sequence[SentencePart]) -> str:
    """Words and formulas one after another."""
    return "".join((" " if part.spaced else "") + part.text for part in parts).strip()


def has_relation(latex: str) -> bool:
    """Whether LaTeX says something: it has a relation, outside of indices, or words, or cannot be taken apart."""
    try:
        found = texts(normal(latex))
    except InvalidArgumentError:
        return True
    i = 0
    while i < len(found):
        if found[i] in WORDS["relations"] or found[i].startswith(r"\text{"):
            return True
        i = end_of_group(found, i + 1) if found[i] in ("_", "^") else i + 1
    return False


def parts(pieces: Sequence[Piece]) -> Iterator[SentencePart]:
    """The words, signs and formulas of prose."""
    spaced = False
    for piece in pieces:
        for kind, said in _said(piece):
            if not said.isspace() or kind != "word":
                yield SentencePart(
                    kind, said, piece.line, spaced, code=isinstance(piece, Other) and kind == "word"
                )
            spaced = said.isspace() and kind == "word"


def _said(piece: Piece) -> Iterator[tuple[_Kind, str]]:
    """What a piece is made of, each with its kind; a space counts as a word."""
    match piece:
        case Text(_, text):
            for match in _PART.finditer(text):
                first = match[0][0]
                yield "mark" if first in ",;:()[]{}" else "sign" if first in _SIGN else "word", match[0]
        case Math(_, latex):
            yield "math", latex
        case Other(_, "code", text) if _NAME.fullmatch(text):
            yield "word", text
        case Other(_, what, text):
            yield "sign" if any(c in _SIGN for c in text) else "other", text or what


def sentences(pieces: Sequence[Piece]) -> list[Sentence]:
    """The sentences of a paragraph. Within parentheses none ends."""
    found: list[Sentence] = []
    rest: list[SentencePart] = []
    depth = 0
    every = list(parts(pieces))
    for i, part in enumerate(every):
        following = every[i + 1] if i + 1 < len(every) else None
        rest.append(part)
        if part.kind == "mark":
            depth += (part.text in "([{") - (part.text in ")]}")
        ended = part.kind == "word" and _END.search(part.text) and (following is None or following.spaced)
        begins = following is None or following.kind != "word" or not following.text[:1].islower()
        if ended and begins and (depth <= 0 or following is None):
            found += _sentence(rest)
            rest, depth = [], 0
    return [*found, *_sentence(rest)]


def _sentence(parts: Sequence[SentencePart]) -> Iterator[Sentence]:
    inside, end = list(parts), ""
    last = inside[-1] if inside else None
    if last is not None and last.kind == "word" and (sign := _END.search(last.text)):
        end = "."
        left = last.text[: sign.start()]
        inside[-1:] = [SentencePart("word", left, last.line, last.spaced)] if left else []
    elif last is not None and last.text == ":":
        end = ":"
        del inside[-1]
    if inside:
        yield Sentence(tuple(inside), end)


# --------------------------------------------------------------------------------------------- tokens


def tokens(sentence: Sentence, *, after: bool = False) -> list[Token]:
    """A sentence as the tokens of notes.lark; behind a display, words that restrict letters are refused anywhere."""
    return list(_Scanner(sentence.parts, after).run())


class _Scanner:
    def __init__(self, parts: tuple[SentencePart, ...], after: bool) -> None:
        self.parts, self.after = parts, after
        self.at = 0
        self.depth = 0
        self.item = ""
        """The keyword of the item of a note that is read; `(` at its beginning."""

    def run(self) -> Iterator[Token]:
        while self.at < len(self.parts):
            part = self.parts[self.at]
            read = self.mark if part.kind == "mark" else self.inside if self.depth else self.outside
            kind = read(part)
            yield Token(kind, part.text, start_pos=self.at, line=part.line)
            self.at += 1
            if kind in ("READ", "WITHOUT", "SIZES", "UNREAD", "SINGLE"):  # keywords of two words
                self.at += 1

    def near(self, step: int) -> SentencePart:
        i = self.at + step
        return self.parts[i] if 0 <= i < len(self.parts) else SentencePart("mark", "", 0, False)

    def words(self, count: int) -> list[str]:
        """The words that follow."""
        return [self.near(k).word for k in range(1, count + 1)]

    def mark(self, part: SentencePart) -> str:
        if part.text == "(":
            self.item = self.item if self.depth else "("
            self.depth += 1
            return "LPAR"
        if part.text == ")":
            self.depth -= 1
            return "RPAR"
        if part.text == ";" and self.depth == 1:
            self.item = "("
        names = {",": "COMMA", ":": "COLON", ";": "SEMICOLON" if self.depth else "COMMA"}
        return names.get(part.text, "BRACKET")

    def inside(self, part: SentencePart) -> str:
        """Within parentheses: what begins an item decides what its words are."""
        if part.kind != "word":
            return self.formula(part)
        if self.item == "(":
            two = f"{part.text} {self.near(1).text}"
            self.item = two if two in KEYWORDS else part.text
            return KEYWORDS.get(self.item, "WORD")
        if part.text == "and" or (self.item == "given" and part.text in ("or", "not")):
            return part.text.upper()
        return "WORD"

    def outside(self, part: SentencePart) -> str:
        if part.kind != "word":
            return self.formula(part)
        word, before, following = part.word, self.near(-1), self.near(1)
        if part.code and before.word in ("", "corrected") and following.text in ("", "("):
            return "WORD"  # a name alone, whatever words it is made of
        if self.at == 0 and word in ("define", "let", "corrected"):
            return word.upper()
        if self.is_strange(word):
            return "STRANGE"
        if word == "for":
            opens = self.at == 0 and following.word not in ("example", "instance")
            return "FOR" if opens or restricts(following) else "WORD"
        if word in WORDS["quantors"] and before.word == "for":
            return "QUANTOR"
        if word in WORDS["conditions"] or (word == "with" and following.kind == "math"):
            return "COND"
        if word == "that" and before.word in WORDS["conditions"]:
            return "THAT"
        if word in ("and", "or", "not", "unless"):
            return word.upper()
        if word in WORDS["beginning"] or (word == "the" and before.text == ","):
            return "THEN"
        return "WORD"

    def is_strange(self, word: str) -> bool:
        """Whether a word changes what is claimed in a way that is not understood."""
        before, following = self.near(-1), self.near(1)
        if (before.kind == "math" and word in WORDS["saying"]) or (
            "math" in (before.kind, following.kind) and word in WORDS["restricting"]
        ):
            return True
        if word == "with" and following.relates and before.text not in ("", ","):
            return True
        if before.word in WORDS["turning"] and (
            word in WORDS["conditions"] or (word == "for" and restricts(following))
        ):
            return True
        if word in WORDS["places"] and self.at == 0 and not self.after:
            return not WORDS["referring"].intersection(self.words(5))
        if word == "that" and self.at + 1 == len(self.parts) and before.word not in WORDS["conditions"]:
            claiming = WORDS["affirming"] | WORDS["quantors"] | WORDS["conditions"]
            return not all(p.word in claiming or _NUMBER.fullmatch(p.text) for p in self.parts if p.word)
        if word in WORDS["left_open"] and self.at + 1 == len(self.parts):
            return word != "by" or self.parts[0].word not in ("define", "let")
        if word in ("case", "cases"):
            return before.word not in ("worst", "special", "general") and following.word != "of"
        if word in WORDS["setting"] and (self.at == 0 or before.word == "we"):
            return True
        if word == "no":
            return following.word not in WORDS["comparing"]
        if word == "up":
            return bool({"constant", "constants", "factor", "factors", "terms", "order"} & set(self.words(6)))
        said = WORDS["continuing"] | WORDS["conditions"] | {"for", "unless", "not"}
        if self.after and word not in said and not _NUMBER.fullmatch(word):
            return self.near(-1).word != "for" or word not in WORDS["quantors"]
        if self.after and word in ("suppose", "assume"):
            return True
        probable = word == "with" and "probability" in self.words(3)
        strange = WORDS["strange"] | WORDS["denying"] | WORDS["foreign"] | WORDS["properties"]
        return (
            probable
            or not strange.isdisjoint((word, word.replace("-", "")))
            or _MARK.search(word) is not None
            or any(c.isalpha() and not unicodedata.name(c, "").startswith(_SCRIPTS) for c in word)
            or word.endswith(("n't", "n’t"))
            or f"{word} {following.word}" in WORDS["weakening"]
        )

    @staticmethod
    def formula(part: SentencePart) -> str:
        if part.kind == "math" and not part.text.startswith("^"):
            return "RELATION" if part.relates else "LETTERS"
        return "SIGN" if part.kind == "sign" else "OTHER"
