"""The parts of a paper, each with its words and formulas: statements, proofs, and the text around them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

from dpverify.statements.importing.source import (
    UNFOLLOWED,
    ExpandedSource,
    SourceToken,
    TokenReader,
    latex_of,
)
from dpverify.statements.importing.tables import meanings, words

TITLES = {name: name.capitalize() for name in words("theorems")} | {
    "thm": "Theorem", "lem": "Lemma", "prop": "Proposition", "cor": "Corollary", "defn": "Definition",
}  # fmt: skip
"""Environments of theorems that conference classes bring, with their titles."""
DISPLAYS, _SKIPPED, _APART = words("displays"), words("skipped"), meanings("apart")
_WITH_NOTHING, _REFERRING, _HEADINGS = words("with_nothing"), words("referring"), words("headings")

ITEM = "•"
"""Begins the first sentence of an item of a list."""
_DISPLAY = re.compile(rf"\\\[|\$\$|\\begin\{{(?:{'|'.join(DISPLAYS)})\*?\}}")


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


class SourceStructure(TokenReader):
    """Walks the tokens of a paper and makes its parts."""

    def __init__(self, expanded: ExpandedSource) -> None:
        texts = [t.text for t in expanded.tokens]
        start = next(
            (i for i, t in enumerate(texts) if t == r"\begin" and texts[i + 2 : i + 10] == [*"document"]), 0
        )
        super().__init__(expanded.tokens[start:])
        self.titles = TITLES | expanded.theorems
        self.section = ""
        self.parts: list[SourcePart] = []
        self.open: list[SourcePart] = [self.new("text", "", 1)]
        self.conditions = 0
        self.aparts: list[str] = []
        self.word, self.word_line = "", 1
        preamble = latex_of(expanded.tokens[:start])
        titled = re.search(r"\\title(?:\[[^]]*\])?\s*\{((?:[^{}]|\{[^{}]*\})*)\}", preamble)
        self.title = re.sub(r"\\[A-Za-z]+|[{}\\]", "", titled[1]).strip() if titled else ""
        self.walk()

    def walk(self) -> None:
        """Take all that waits."""
        while self.waiting:
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
            tokens = (*before.tokens, SourceToken("\\\\", item.line, item.file), *item.tokens)
            item = replace(before, tokens=tokens, refused=before.refused or item.refused)
        sentence.append(item)
        if isinstance(item, SourceFormula) and item.shown and item.latex.endswith("."):
            self.part.end()

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

    def step(self) -> None:
        token = self.waiting.popleft()
        text = token.text
        if text in ("if", "fi"):
            self.conditions += 1 if text == "if" else -1
        elif text == "par":
            self.flush()
            if not _DISPLAY.match("".join(t.text for t in islice(self.waiting, 24)).lstrip()):
                self.part.end()  # else a display goes on with the sentence
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
            if text in ".!?" and self.peek() in ("", "$", "{", "}", r"\end", r"\begin"):
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
            while self.peek() in ("[", "{", " "):
                if self.peek() == "{":
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
            self.aparts.clear()  # no figure holds one
            if len(self.open) == 1:
                self.open = [self.new("text", title, token.line)]
            else:
                self.part.end()
        elif name in (r"\footnote", r"\thanks", r"\footnotetext"):
            self.flush()
            self.optional()
            inside, outside = self.argument(), self.waiting
            self.open.append(self.new("text", "footnote", token.line))
            self.waiting = deque(inside)
            self.walk()
            self.open.pop()
            self.waiting = outside
        elif name == r"\proclaim":
            self.flush()
            title = latex_of(self.until("."))
            self.open = [self.new("statement", title, token.line)]
        elif name in (r"\item", r"\par", r"\medskip", r"\bigskip", r"\endproclaim", r"\newline", r"\qed"):
            self.flush()
            self.part.end()
            if name == r"\item":
                self.optional()
                self.say(SourceWord(ITEM, token.line))
            elif name == r"\par" and self.part.kind == "statement" and len(self.open) == 1:
                self.open = [self.new("text", "", token.line)]
        elif name == r"\ensuremath":
            self.formula(self.argument(), token, False)
        elif name == r"\href":
            self.argument()
        elif name in (r"\ldots", r"\dots"):
            self.word += "..."
        elif re.fullmatch(r"\\[^A-Za-z]", name) and name not in (r"\-", r"\/"):
            self.word += name[1]

    def formula(self, inside: Sequence[SourceToken], token: SourceToken, shown: bool, of: str = "") -> None:
        """Take a formula, shown or not, of an environment."""
        refused = "it stands under a condition of TeX, which is not evaluated" if self.conditions else ""
        place = token.line, token.file
        for behind in [behind for before, behind in pairwise(inside) if before.text == UNFOLLOWED]:
            refused = refused or f"{behind.text} is defined in a way that is not followed"
        inside = [t for t in inside if t.text != UNFOLLOWED]
        self.say(SourceFormula(tuple(inside), *place, shown, of, refused, apart="".join(self.aparts[:1])))

    def math(self, token: SourceToken) -> None:
        """A formula between signs."""
        double = token.text == self.peek() == "$"
        if double:
            self.waiting.popleft()
        inside = self.until({"$": "$", r"\(": r"\)", r"\[": r"\]"}[token.text])
        if double and self.peek() == "$":
            self.waiting.popleft()
        self.formula(inside, token, double or token.text == r"\[")

    def environment(self, name: str) -> list[SourceToken]:
        """What stands before the end of an environment, which is behind then."""
        inside, depth = list[SourceToken](), 0
        while self.waiting and depth >= 0:
            token = self.waiting.popleft()
            if token.text in (r"\begin", r"\end"):
                named = "".join(t.text for t in islice(self.waiting, len(name) + 2)) == f"{{{name}}}"
                depth += named * (1 if token.text == r"\begin" else -1)
            inside.append(token)
        if depth < 0:
            inside.pop()
            self.argument()
        return inside

    def begin(self, name: str, token: SourceToken) -> None:
        bare = name.removesuffix("*")
        if bare in DISPLAYS:
            if bare == "alignat":
                self.argument()
            self.formula(self.environment(name), token, bare != "math", bare)
        elif bare in _SKIPPED:
            self.environment(name)
        elif bare in self.titles or name in self.titles:
            note = latex_of(self.optional() or ())
            title = self.titles.get(name, self.titles.get(bare, ""))
            part = self.new("statement", f"{title} ({note})" if note else title, token.line)
            self.open.append(part)
        elif bare in ("proof", "Proof", "proofof"):
            of = self.argument() if bare == "proofof" else self.optional()
            part = self.new("proof", "Proof", token.line)
            referred = re.search(r"\\(?:eq|c|C|auto)?ref\s*\{([^}]*)\}", latex_of(of or ()))
            part.of = referred[1] if referred else ""
            self.open.append(part)
        else:
            self.aparts += [_APART[bare]] if bare in _APART else []
            self.part.end()

    def end(self, name: str, token: SourceToken) -> None:
        bare = name.removesuffix("*")
        self.part.end()
        if bare in _APART:
            del self.aparts[-1:]
        own = {bare, name} & {*self.titles, "proof", "Proof", "proofof"}
        if own and len(self.open) > 1:
            self.open.pop()
        elif name == "document":
            self.waiting.clear()


def _goes_on(before: SourceItem, item: SourceFormula) -> bool:
    """Whether a display begins with a sign of comparison, right behind another one."""
    if not isinstance(before, SourceFormula) or not before.shown:
        return False
    plain = {before.environment, item.environment} <= {"", *DISPLAYS} - {"eqnarray", "multline", "alignat"}
    goes_on = re.match(r"(\\q?quad|&|\s)*(=|<|>|\\[lg]eq?(slant)?(?![A-Za-z]))", item.latex)
    return plain and goes_on is not None
