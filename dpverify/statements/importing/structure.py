"""The parts of a paper, each with its words and formulas: statements, proofs, and the text around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dpverify.statements.importing.source import ExpandedSource, SourceToken, latex_of
from dpverify.statements.importing.tables import meanings, words

TITLES = {name: name.capitalize() for name in words("theorems")} | {
    "thm": "Theorem", "lem": "Lemma", "prop": "Proposition", "cor": "Corollary", "defn": "Definition",
}  # fmt: skip
"""Environments of theorems that conference classes bring, with their titles."""
DISPLAYS, _SKIPPED, _APART = words("displays"), words("skipped"), meanings("apart")
_WITH_NOTHING, _REFERRING, _HEADINGS = words("with_nothing"), words("referring"), words("headings")


@dataclass(frozen=True)
class SourceWord:
    """A word or a mark of a sentence."""

    text: str
    line: int


@dataclass(frozen=True)
class SourceFormula:
    """A formula of a sentence, in its tokens."""

    tokens: tuple[SourceToken, ...]
    line: int
    file: str
    shown: bool
    """Whether it is a display."""
    environment: str = ""
    refused: str = ""
    """Why it is not read, where its place says so."""
    torn: bool = False
    """Whether the text that it is from may have lost signs."""
    apart: str = ""
    """In which algorithm, figure or table it stands, where it is a step or a setting and no claim."""

    @property
    def latex(self) -> str:
        """As it is written, macros expanded."""
        return latex_of(self.tokens)


@dataclass(frozen=True)
class SourceReference:
    """A reference to a label."""

    label: str
    line: int


SourceItem = SourceWord | SourceFormula | SourceReference


@dataclass
class SourcePart:
    """A statement, a proof or some text."""

    kind: str
    """`statement`, `proof` or `text`."""
    title: str
    line: int
    section: str
    labels: list[str] = field(default_factory=list)
    sentences: list[list[SourceItem]] = field(default_factory=lambda: [[]])
    of: str = ""
    """Of a proof, the label of what it proves, where that is said."""

    def end(self) -> None:
        """End the sentence."""
        if self.sentences[-1]:
            self.sentences.append([])


class SourceStructure:
    """Walks the tokens of a paper and makes its parts."""

    def __init__(self, expanded: ExpandedSource) -> None:
        self.tokens = list(expanded.tokens)
        self.titles = TITLES | expanded.theorems
        self.at, self.section, self.title = 0, "", ""
        self.parts: list[SourcePart] = []
        self.open: list[SourcePart] = [self.new("text", "", 1)]
        self.conditions = 0
        self.apart = ""
        self.word, self.word_line = "", 1
        texts = [t.text for t in self.tokens]
        begins = [
            i
            for i in range(len(texts))
            if texts[i] == r"\begin" and "".join(texts[i + 1 : i + 11]) == "{document}"
        ]
        self.at = begins[0] if begins else 0
        if begins:
            preamble = latex_of(self.tokens[: self.at])
            titled = re.search(r"\\title(?:\[[^]]*\])?\s*\{((?:[^{}]|\{[^{}]*\})*)\}", preamble)
            self.title = re.sub(r"\\[A-Za-z]+|[{}\\]", "", titled[1]).strip() if titled else ""
        while self.at < len(self.tokens):
            self.step()
        self.flush()

    def new(self, kind: str, title: str, line: int) -> SourcePart:
        part = SourcePart(kind, title, line, self.section)
        self.parts.append(part)
        return part

    @property
    def part(self) -> SourcePart:
        return self.open[-1]

    def say(self, item: SourceItem) -> None:
        self.flush()
        sentence = self.part.sentences[-1]
        if isinstance(item, SourceFormula) and item.shown and sentence and _goes_on(sentence[-1], item):
            before = sentence.pop()
            assert isinstance(before, SourceFormula)
            row = SourceToken("\\\\", item.line, item.file)
            item = replace(
                before, tokens=(*before.tokens, row, *item.tokens), refused=before.refused or item.refused
            )
        sentence.append(item)
        if isinstance(item, SourceFormula) and item.shown and item.latex.endswith("."):
            self.part.end()

    def shows_next(self) -> bool:
        """Whether a display follows, so that the sentence goes on."""
        ahead = "".join(t.text for t in self.tokens[self.at : self.at + 24]).lstrip()
        return re.match(rf"\\\[|\$\$|\\begin\{{(?:{'|'.join(DISPLAYS)})\*?\}}", ahead) is not None

    def flush(self) -> None:
        """End a word; one with a period may end the sentence."""
        word, self.word = self.word, ""
        if word:
            last = self.part.sentences[-1][-1:]
            if word[:1].isupper() and last and isinstance(last[0], SourceFormula) and last[0].shown:
                self.part.end()
            self.part.sentences[-1].append(SourceWord(word, self.word_line))
            if re.search(r"[.!?][)'\"”]*$", word) and not re.fullmatch(
                r"(i\.e|e\.g|cf|resp|w\.l\.o\.g|Eq|Fig|Sec|Thm|al|vs|etc|[A-Z])\.", word
            ):
                self.part.end()

    def argument(self) -> list[SourceToken]:
        """The next token, or what is in braces, or nothing."""
        while self.at < len(self.tokens) and self.tokens[self.at].text == " ":
            self.at += 1
        if self.at >= len(self.tokens):
            return []
        first = self.tokens[self.at]
        self.at += 1
        return self.until("}") if first.text == "{" else [first]

    def optional(self) -> str:
        found = ""
        while self.at < len(self.tokens) and self.tokens[self.at].text in ("[", " "):
            self.at += 1
            if self.tokens[self.at - 1].text == "[":
                return latex_of(self.until("]"))
        return found

    def until(self, closing: str) -> list[SourceToken]:
        depth, found = 0, list[SourceToken]()
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.text == closing and depth == 0:
                break
            depth += (token.text == "{") - (token.text == "}")
            found.append(token)
        return found

    def step(self) -> None:
        token = self.tokens[self.at]
        self.at += 1
        text = token.text
        if text in ("if", "fi"):
            self.conditions += 1 if text == "if" else -1
        elif text == "par":
            self.flush()
            if not self.shows_next():
                self.part.end()
        elif text in ("$", r"\(", r"\["):
            self.math(token)
        elif text in (" ", "~", r"\ ", r"\,", "&", r"\\"):
            self.flush()
        elif text in ("{", "}"):
            pass
        elif text in (r"\begin", r"\end"):
            self.flush()
            name = latex_of(self.argument())
            (self.begin if text == r"\begin" else self.end)(name, token)
        elif text.startswith("\\"):
            self.command(token)
        elif text in ",;:()":
            self.flush()
            self.say(SourceWord(text, token.line))
        else:
            if not self.word:
                self.word_line = token.line
            self.word += text
            if text in ".!?" and (
                self.at >= len(self.tokens)
                or self.tokens[self.at].text in ("$", "{", "}", r"\end", r"\begin")
            ):
                self.flush()

    def command(self, token: SourceToken) -> None:
        name = token.text.removesuffix("*")
        if name in _REFERRING:
            self.optional()
            for label in latex_of(self.argument()).split(","):
                self.say(SourceReference(label.strip(), token.line))
        elif name == r"\label":
            self.part.labels.append(latex_of(self.argument()))
        elif name in _WITH_NOTHING:
            self.flush()
            while self.at < len(self.tokens) and self.tokens[self.at].text in ("[", "{", " "):
                if self.tokens[self.at].text == "{":
                    self.argument()
                    if name != r"\setlength":
                        break
                else:
                    self.optional()
        elif name in _HEADINGS:
            self.flush()
            self.optional()
            title = re.sub(r"\\[A-Za-z]+|[{}$\\]", "", latex_of(self.argument())).strip()
            self.section = title if name in (r"\section", r"\chapter") else self.section
            if len(self.open) == 1:
                self.open = [self.new("text", title, token.line)]
            else:
                self.part.end()
        elif name in (r"\footnote", r"\thanks", r"\footnotetext"):
            self.flush()
            self.optional()
            inside, outside = self.argument(), (self.tokens, self.at)
            self.open.append(self.new("text", "footnote", token.line))
            self.tokens, self.at = inside, 0
            while self.at < len(self.tokens):
                self.step()
            self.flush()
            self.open.pop()
            self.tokens, self.at = outside
        elif name == r"\proclaim":
            self.flush()
            title = latex_of(self.until("."))
            self.open = [self.new("statement", title, token.line)]
        elif name in (r"\item", r"\par", r"\medskip", r"\bigskip", r"\endproclaim", r"\newline", r"\qed"):
            self.flush()
            self.part.end()
            if name == r"\item":
                self.optional()
            elif name == r"\par" and self.part.kind == "statement" and len(self.open) == 1:
                self.open = [self.new("text", "", token.line)]
        elif name == r"\ensuremath":
            inside = self.argument()
            self.say(
                SourceFormula(
                    tuple(inside), token.line, token.file, False, "", self.refusal(), apart=self.apart
                )
            )
        elif name == r"\href":
            self.argument()
        elif name in (r"\ldots", r"\dots"):
            self.word += "..."
        elif re.fullmatch(r"\\[^A-Za-z]", name) and name not in (r"\-", r"\/"):
            self.word += name[1]

    def refusal(self) -> str:
        return "it stands under a condition of TeX, which is not evaluated" if self.conditions else ""

    def math(self, token: SourceToken) -> None:
        """A formula between signs."""
        double = token.text == "$" and self.at < len(self.tokens) and self.tokens[self.at].text == "$"
        self.at += double
        closing = {"$": "$", r"\(": r"\)", r"\[": r"\]"}[token.text]
        inside, depth = list[SourceToken](), 0
        while self.at < len(self.tokens):
            new = self.tokens[self.at]
            self.at += 1
            depth += (new.text == "{") - (new.text == "}")
            if new.text == closing and depth <= 0:
                break
            inside.append(new)
        if double:
            self.at += self.at < len(self.tokens) and self.tokens[self.at].text == "$"
        shown = double or token.text == r"\["
        self.say(
            SourceFormula(tuple(inside), token.line, token.file, shown, "", self.refusal(), apart=self.apart)
        )

    def begin(self, name: str, token: SourceToken) -> None:
        bare = name.removesuffix("*")
        if bare in DISPLAYS:
            if bare == "alignat":
                self.argument()
            inside, depth = list[SourceToken](), 0
            while self.at < len(self.tokens):
                new = self.tokens[self.at]
                if new.text in (r"\begin", r"\end"):
                    named = "".join(t.text for t in self.tokens[self.at + 2 : self.at + 2 + len(name)])
                    if named == name and self.tokens[self.at + 2 + len(name)].text == "}":
                        depth += 1 if new.text == r"\begin" else -1
                        if depth < 0:
                            self.at += len(name) + 3
                            break
                inside.append(new)
                self.at += 1
            self.say(
                SourceFormula(
                    tuple(inside),
                    token.line,
                    token.file,
                    bare != "math",
                    bare,
                    self.refusal(),
                    apart=self.apart,
                )
            )
        elif bare in _SKIPPED:
            end = [r"\end", "{", *name, "}"]
            while (
                self.at < len(self.tokens)
                and [t.text for t in self.tokens[self.at : self.at + len(end)]] != end
            ):
                self.at += 1
            self.at += len(end)
        elif bare in self.titles or name in self.titles:
            note = self.optional()
            title = self.titles.get(name, self.titles.get(bare, ""))
            part = self.new("statement", f"{title} ({note})" if note else title, token.line)
            self.open.append(part)
        elif bare in ("proof", "Proof", "proofof"):
            note = self.optional() if bare != "proofof" else latex_of(self.argument())
            part = self.new("proof", "Proof", token.line)
            referred = re.search(r"\\(?:eq|c|C|auto)?ref\s*\{([^}]*)\}", note)
            part.of = referred[1] if referred else ""
            self.open.append(part)
        else:
            self.apart = _APART.get(bare, self.apart)
            self.part.end()

    def end(self, name: str, token: SourceToken) -> None:
        bare = name.removesuffix("*")
        self.part.end()
        if bare in _APART:
            self.apart = ""
        if (bare in self.titles or name in self.titles or bare in ("proof", "Proof", "proofof")) and len(
            self.open
        ) > 1:
            self.open.pop()
        elif name == "document":
            self.at = len(self.tokens)


def _goes_on(before: SourceItem, item: SourceFormula) -> bool:
    """Whether a display begins with a sign of comparison, right behind another one."""
    plain = (
        isinstance(before, SourceFormula)
        and before.shown
        and {before.environment, item.environment}
        <= {"", "equation", "align", "gather", "flalign", "displaymath"}
    )
    return (
        plain and re.match(r"(\\q?quad|&|\s)*(=|<|>|\\[lg]eq?(slant)?(?![A-Za-z]))", item.latex) is not None
    )


def structure_of(expanded: ExpandedSource) -> tuple[str, Sequence[SourcePart]]:
    """Title and parts of a paper, in their order."""
    found = SourceStructure(expanded)
    return found.title, found.parts
