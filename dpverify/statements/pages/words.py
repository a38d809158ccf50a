"""Sentences as words and formulas, and these as the tokens that notes.lark is about."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lark import Token

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import end_of_group, normal, texts
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.verdicts import Coverage
from dpverify.statements.pages.blocks import Math, Other, Piece, Text

_RELATIONS = frozenset(
    (
        "=", "<", ">", r"\le", r"\ge", r"\ne", r"\in", r"\ni", r"\notin", r"\to", r"\rightarrow", r"\mapsto", r"\not",
        r"\approx", r"\sim", r"\simeq", r"\cong", r"\equiv", r"\ll", r"\gg", r"\lesssim", r"\gtrsim", r"\propto",
        r"\asymp", r"\subset", r"\subseteq", r"\supset", r"\supseteq", r"\perp", r"\parallel", r"\prec", r"\succ",
        r"\preceq", r"\succeq", r"\implies", r"\iff", r"\forall", r"\exists", r"\neg", r"\wedge", r"\vee", r"\coloneqq",
    )
)  # fmt: skip
_SIGN = "<>=≤≥≠≈∈∉∼≃≡≪≫→⇒⇔∀∃∞⊂⊆±"
_PART = re.compile(rf"\s+|[,;:()\[\]{{}}]|[{_SIGN}]+|[^\s,;:()\[\]{{}}{_SIGN}]+")
_NAME = re.compile(r"[\w.:/'\[\]-]+")
"""Code that is a name, which is read as a word."""
_END = re.compile(r"[.!?]+[\"'”’]*$")

_QUANTORS = frozenset(("all", "every", "each", "any"))
_CONDITIONS = frozenset(
    ("if", "when", "whenever", "where", "provided", "providing", "given", "assuming", "suppose", "assume")
)
RESTRICTING = frozenset(
    (
        "positive", "negative", "nonnegative", "non-negative", "nonpositive", "nonzero", "non-zero", "zero", "even",
        "odd", "prime", "integer", "integers", "small", "large", "sufficiently", "enough", "finite", "bounded",
        "distinct", "different", "equal", "fixed", "some", "many", "most", "almost", "infinitely", "not",
    )
)  # fmt: skip
"""After `for`, or after a letter, they say of which values a formula is claimed."""
SAYING = frozenset(
    (
        "is", "are", "be", "being", "remains", "stays", "lies", "equals", "exceeds", "goes", "tends", "grows",
        "vanishes", "has", "have", "does", "do", "must", "may", "can", "should", "satisfies", "satisfy", "obeys",
        "denote", "denotes", "stands", "means",
    )
)  # fmt: skip
"""After a letter, they say something of it."""
_STRANGE = frozenset(
    (
        "never", "none", "nobody", "few", "cannot", "w.h.p", "whp", "a.s", "except", "excluding", "only", "such",
        "subject", "restricted", "iff", "nor", "sufficiently", "equivalent", "requirement", "requirements", "negated",
        "neither", "almost", "approximately", "asymptotically", "eventually", "usually", "often", "sometimes",
        "hardly", "rarely", "mostly", "unlike", "without", "otherwise", "else", "roughly", "nearly", "essentially",
        "either", "under",
        "regime", "assumption", "assumptions", "hypothesis", "hypotheses", "contrary", "opposite", "converse",
        "negation", "doubt", "deny", "reject", "conjecture", "conjectured", "whether", "open", "exist", "exists",
        "existence", "solve", "solves", "solution", "solutions", "choose", "chosen",
    )
)  # fmt: skip
"""Words that change what a sentence claims, and that are not understood."""
DENYING = frozenset(
    (
        "false", "wrong", "untrue", "incorrect", "fail", "fails", "failed", "invalid", "absurd", "mistaken",
        "mistakenly", "erroneous", "erroneously", "impossible", "contradiction", "contradicts", "contradicting",
        "counterexample", "disprove", "disproved", "disproves", "refute", "refuted", "refutes", "unproved",
        "mistake", "mistakes", "violated", "violates", "isnt", "arent", "doesnt", "dont", "cant", "nonvalid",
    )
)  # fmt: skip
"""Words that say that a formula does not hold."""
_FOREIGN = frozenset(
    (
        "dass", "daß", "nicht", "kein", "keine", "wenn", "sofern", "sei", "gilt", "ist", "nur", "que", "qui", "est",
        "sont", "si", "soit", "pas", "faux", "che", "non", "è", "se", "es", "son", "para", "falso",
    )
)  # fmt: skip
"""Words of other languages with which conditions and negations are said."""
PROPERTIES = frozenset(
    (
        "positive", "negative", "nonnegative", "non-negative", "nonpositive", "non-positive", "nonzero", "non-zero",
        "even", "odd", "prime", "rational", "irrational",
    )
)  # fmt: skip
"""Of numbers, which a formula then is about: `every positive number`."""
_SETTING = frozenset(
    ("set", "put", "write", "writing", "letting", "setting", "denote", "fix", "take", "pick")
)
"""With which a sentence gives a letter a value, or supposes something."""
_LEFT_OPEN = frozenset(("from", "since", "because", "with", "of", "than", "using", "via", "against", "by"))
"""At the end of a sentence, they make its display a part of what follows."""
_TURNING = frozenset(
    (
        "save", "but", "than", "of", "also", "as", "most", "least", "nor", "instead", "rather", "like", "just",
        "merely", "especially", "even", "too", "still", "already",
    )
)  # fmt: skip
"""Before `for` and `if` they turn the condition into something else: `save for $x=0$`, `even if $x=0$`."""
_PLACES = frozenset(
    ("in", "on", "at", "inside", "outside", "within", "past", "beyond", "near", "around", "between", "throughout",
     "till", "until", "save", "modulo", "away", "apart", "besides", "barring", "among", "across")
)  # fmt: skip
"""With which a sentence begins that says where, and so when, its display holds."""
_REFERRING = frozenset(
    ("particular", "summary", "total", "addition", "turn", "fact", "short", "words", "general", "hand", "last", "end",
     "proof", "lemma", "theorem", "proposition", "corollary", "section", "appendix", "equation", "display", "paper",
     "page", "first", "second", "third", "next", "step", "steps")
)  # fmt: skip
"""After these, a sentence does not say when something holds: `in particular`, `in the proof of Lemma 3`."""
_AFFIRMING = frozenset(
    (
        "it", "we", "one", "this", "these", "which", "so", "is", "are", "be", "true", "clear", "easy", "follows",
        "holds", "have", "get", "see", "sees", "seen", "show", "shows", "shown", "know", "known", "find", "obtain",
        "conclude", "claim", "claims", "prove", "proves", "note", "notes", "recall", "means", "mean", "imply",
        "implies", "gives", "give", "says", "say", "states", "state", "observe", "now", "then", "hence", "thus",
        "therefore", "finally", "again", "also", "first", "next", "and", "the", "by", "from", "to", "us", "that",
        "lemma", "theorem", "proposition", "corollary", "bound", "inequality", "equation", "result", "proof",
        "for", "let", "unless", "not", "or",
    )
) | _QUANTORS | _CONDITIONS  # fmt: skip
"""Words that may stand before the last `that` of a sentence: what follows is claimed."""
_COMPARING = frozenset(
    ("more", "less", "larger", "smaller", "greater", "worse", "better", "higher", "lower", "fewer")
)
"""With `no` before them they say something, and nothing to the contrary."""
_CONTINUING = frozenset(
    (
        "and", "or", "so", "hence", "thus", "therefore", "then", "moreover", "also", "further", "furthermore",
        "too", "again", "finally", "holds", "hold", "follows", "as", "is", "claimed", "required", "desired",
        "wanted", "stated", "shown", "which", "that", "this", "the", "claim", "proof", "result", "by", "lemma",
        "theorem", "proposition", "corollary", "definition", "equation", "above", "we", "have", "get", "obtain",
        "ends", "proves", "completes", "it", "with",
    )
)  # fmt: skip
"""Words behind a display that say nothing more of it."""
_NUMBER = re.compile(r"[^\w]+|[\d.]+")
_MARK = re.compile(r"[*†‡§¶]$")
"""Of a footnote, which nobody reads."""
_WEAKENING = frozenset(
    (("in", "expectation"), ("on", "average"), ("in", "probability"), ("in", "distribution"),
     ("in", "case"), ("as", "long"), ("so", "long"), ("at", "best"), ("at", "worst"),
     ("one", "of"))
)  # fmt: skip
"""The same of two words."""
_BEGINNING = frozenset(("then", "we", "one", "it", "there", "this", "that", "these", "our"))
"""Words with which a main clause begins."""
KEYWORDS = {
    **{str(c): "COVERAGE" for c in Coverage if c not in (Coverage.UNIT, Coverage.INSTANCE)},
    **{str(p): "PROVENANCE" for p in Provenance},
    "instance": "INSTANCE", "given": "GIVEN", "meant": "MEANT", "on": "ON", "read as": "READ", "uses": "USES",
    "soft": "SOFT", "fixed": "FIXED", "premises": "PREMISES", "without units": "WITHOUT", "own sizes": "SIZES",
    "not read": "UNREAD", "one letter": "SINGLE",
}  # fmt: skip
"""With which an item of a note begins."""
_SUPPOSING = frozenset(("let", "suppose", "assume", "assuming", "fix", "throughout", "for", "if", "whenever", "given",
                        "where", "when", "here", "consider", "take", "provided", "unless", "except"))  # fmt: skip
"""With which a sentence begins that is a condition of what follows."""
_ENDING = frozenset(("for", "if", "whenever", "where", "when", "provided", "unless", "except"))
"""With which a condition of what stands before may begin, even where it has a capital letter."""


@dataclass(frozen=True)
class SentencePart:
    """A word, a sign or a formula of a sentence."""

    kind: Literal["word", "mark", "sign", "math", "other"]
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
        return self.first in _SUPPOSING

    @property
    def goes_on(self) -> bool:
        """Whether it continues a sentence before it: it begins with a small letter, a comma or a formula."""
        first = self.parts[0]
        return first.kind != "word" or (first.text[:1].islower() and not first.code) or self.first in _ENDING

    def __str__(self) -> str:
        return spelled(self.parts)


def restricts(following: SentencePart) -> bool:
    """Whether `for` with this behind it begins a condition: a formula, a letter, or a word such as `all` or `large`."""
    alone = len(following.word) == 1 and following.word.isalpha() and following.word != "a"
    return following.kind in ("math", "sign") or alone or following.word in _QUANTORS | RESTRICTING


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
        if found[i] in _RELATIONS or found[i].startswith(r"\text{"):
            return True
        i = end_of_group(found, i + 1) if found[i] in ("_", "^") else i + 1
    return False


def parts(pieces: Sequence[Piece]) -> Iterator[SentencePart]:
    """The words, signs and formulas of prose."""
    spaced = False
    for piece in pieces:
        match piece:
            case Text(line, text):
                for match in _PART.finditer(text):
                    said = match[0]
                    if said.isspace():
                        spaced = True
                        continue
                    kind: Literal["word", "mark", "sign"] = "word"
                    if said[0] in ",;:()[]{}":
                        kind = "mark"
                    elif said[0] in _SIGN:
                        kind = "sign"
                    yield SentencePart(kind, said, line, spaced)
                    spaced = False
            case Math(line, latex):
                yield SentencePart("math", latex, line, spaced)
                spaced = False
            case Other(line, "code", text) if _NAME.fullmatch(text):
                yield SentencePart("word", text, line, spaced, code=True)
                spaced = False
            case Other(line, what, text):
                yield SentencePart(
                    "sign" if any(c in _SIGN for c in text) else "other", text or what, line, spaced
                )
                spaced = False


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
    """A sentence as the tokens of notes.lark.

    Args:
        sentence: before a display or, with `after`, behind it.
        after: whether words that restrict letters are refused wherever they stand.
    """
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
            kind = (
                self.mark(part)
                if part.kind == "mark"
                else self.inside(part)
                if self.depth
                else self.outside(part)
            )
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
        if word in _QUANTORS and before.word == "for":
            return "QUANTOR"
        if word in _CONDITIONS or (word == "with" and following.kind == "math"):
            return "COND"
        if word == "that" and before.word in _CONDITIONS:
            return "THAT"
        if word in ("and", "or", "not", "unless"):
            return word.upper()
        if word in _BEGINNING or (word == "the" and before.text == ","):
            return "THEN"
        return "WORD"

    def is_strange(self, word: str) -> bool:
        """Whether a word changes what is claimed in a way that is not understood."""
        before, following = self.near(-1), self.near(1)
        if (before.kind == "math" and word in SAYING) or (
            "math" in (before.kind, following.kind) and word in RESTRICTING
        ):
            return True
        if word == "with" and following.relates and before.text not in ("", ","):
            return True
        if before.word in _TURNING and (word in _CONDITIONS or (word == "for" and restricts(following))):
            return True
        if word in _PLACES and self.at == 0 and not self.after:
            return not _REFERRING.intersection(self.words(5))
        if word == "that" and self.at + 1 == len(self.parts) and before.word not in _CONDITIONS:
            return not all(p.word in _AFFIRMING or _NUMBER.fullmatch(p.text) for p in self.parts if p.word)
        if word in _LEFT_OPEN and self.at + 1 == len(self.parts):
            return word != "by" or self.parts[0].word not in ("define", "let")
        if word in ("case", "cases"):
            return before.word not in ("worst", "special", "general") and following.word != "of"
        if word in _SETTING and (self.at == 0 or before.word == "we"):
            return True
        if word == "no":
            return following.word not in _COMPARING
        if word == "up":
            return bool({"constant", "constants", "factor", "factors", "terms", "order"} & set(self.words(6)))
        if self.after and not (
            word in _CONTINUING | _CONDITIONS | {"for", "unless", "not"} or _NUMBER.fullmatch(word)
        ):
            return self.near(-1).word != "for" or word not in _QUANTORS
        if self.after and word in ("suppose", "assume"):
            return True
        probable = word == "with" and "probability" in self.words(3)
        return (
            probable
            or not {word, word.replace("-", "")}.isdisjoint(_STRANGE | DENYING | _FOREIGN | PROPERTIES)
            or _MARK.search(word) is not None
            or any(
                c.isalpha() and not unicodedata.name(c, "").startswith(("LATIN", "GREEK", "MICRO"))
                for c in word
            )
            or word.endswith(("n't", "n’t"))
            or (word, following.word) in _WEAKENING
        )

    @staticmethod
    def formula(part: SentencePart) -> str:
        if part.kind == "math" and not part.text.startswith("^"):
            return "RELATION" if part.relates else "LETTERS"
        return "SIGN" if part.kind == "sign" else "OTHER"
