"""Letters of a loop: what is kept (`w_0`, `w_{t-1}`, `w_t`, in the end `w_k`), and what a round draws (`y_t`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import Latex
from dpverify.proving.checker.theorems.language import Node, free
from dpverify.proving.theorems.letters import TheoremLetter, Tokens
from dpverify.proving.theorems.notation import TheoremReader, bound_letter
from dpverify.proving.theorems.signs import name_of, split, written

DOTS = ((r"\dots",), (r"\ldots",), (r"\cdots",))


@dataclass(frozen=True)
class LoopOnPage:
    """A loop: the lines from `Repeat` to `Output` are one of its rounds."""

    line: int
    index: str
    """The letter of the number of a round, from 1 on."""
    last: Node
    """How many rounds there are, at most."""
    start: tuple[tuple[str, Node], ...]
    """Letters of what is kept, before a round, and what they are at first."""
    kept: tuple[tuple[str, Node], ...]
    """The same letters, and what they are after a round."""
    until: Node | None
    """The comparison by which the loop ends after a round."""
    listed: bool
    """Whether the output is that of each round, one after the other."""
    shuffled: bool = False
    """Whether these are put out in random order."""


class LoopReader:
    """What was read of a loop."""

    def __init__(self) -> None:
        self.first = dict[Tokens, Node]()
        self.kept = dict[str, Node]()
        self.line, self.index = 0, TheoremLetter("", "", (), "integer")
        self.end: Tokens = ()
        self.last: Node = ""
        self.until: Node | None = None
        self.listed = self.shuffled = False

    @property
    def begun(self) -> bool:
        """Whether there is a loop."""
        return self.line > 0

    def name(self, base: Tokens, *index: str) -> Tokens:
        """A letter with an index."""
        return (*base, "_", "{", *index, "}")

    def before(self, base: Tokens) -> TheoremLetter:
        """What is kept before a round."""
        signs = self.name(base, *self.index.signs, "-", "1")
        return TheoremLetter(name_of(signs), written(signs), (), "real")

    def header(
        self, line: int, signs: Tokens, reader: TheoremReader, private: set[str]
    ) -> Iterator[TheoremLetter]:
        """`t=1,\\dots,k`: the letters that a round has before its first line; some letters are private."""
        name, *right = split(signs, "=")
        ends = split(right[0], ",") if len(right) == 1 else []
        if len(ends) != 3 or ends[0] != ("1",) or ends[1] not in DOTS or self.begun:
            raise InvalidArgumentError("repeat", Latex(written(signs)), "`t=1,\\dots,k`, once")
        if name in reader.alphabet.letters:
            raise InvalidArgumentError("repeat", Latex(written(name)), "a letter without a meaning")
        self.line, self.index = line, bound_letter(name, "integer")
        self.end, self.last = ends[2], reader.number(ends[2])
        public = not free(self.last) & private
        if public and reader.scope.type_of(self.last) != "integer":
            raise InvalidArgumentError("repeat", Latex(written(ends[2])), "a whole number of rounds")
        return iter((self.index, *map(self.before, self.first)))

    def own(self, base: Tokens) -> None:
        """Refuse the letter of a round with another index than that of the round."""
        if not self.begun:
            return
        tail = self.name((), *self.index.signs)
        if {*self.index.signs} <= {*base} and base[-len(tail) :] != tail:
            raise InvalidArgumentError("letter", Latex(written(base)), "the index of the round alone")

    def makes(self, role: str, signs: Tokens, term: Node) -> None:
        """Know a line that says what is kept: `w_0=0`, before the loop, or `w_t=w_{t-1}-y_t`."""
        base = signs[: signs.index("_")] if "_" in signs else ()
        if role == "start":
            if self.begun or not base or signs != self.name(base, "0"):
                raise InvalidArgumentError("start", Latex(written(signs)), "`w_0`, before Repeat")
            self.first[base] = term
        elif role == "set":
            if not self.begun or base not in self.first or signs != self.name(base, *self.index.signs):
                raise InvalidArgumentError("set", Latex(written(signs)), "`w_t`, where `w_0` is started")
            self.kept[self.before(base).name] = term

    def ends(
        self, letters: Iterable[TheoremLetter], values: dict[str, Node]
    ) -> Iterator[tuple[TheoremLetter, Node]]:
        """Letters of the last round, `w_k`, each with the term that it is in letters of a round."""
        tail = self.name((), *self.index.signs)
        for one in letters:
            if one.signs[-len(tail) :] == tail and not one.arguments:
                signs = self.name(one.signs[: -len(tail)], *self.end)
                yield (
                    TheoremLetter(name_of(signs), written(signs), (), one.kind),
                    values.get(one.name, one.term),
                )

    def all_of(self, signs: Tokens) -> Tokens | None:
        """Of `w_1,\\dots,w_k`, maybe in brackets, the letter `w_t`; None for another output."""
        signs = signs[1:-1] if signs[:1] == ("(",) else signs
        parts = split(signs, ",")
        if len(parts) != 3 or parts[1] not in DOTS:
            return None
        base = parts[0][:-4]
        last = self.index.signs if self.until else self.end
        if parts[0] != self.name(base, "1") or parts[2] != self.name(base, *last):
            raise InvalidArgumentError("output", Latex(written(signs)), "`w_1,\\dots,w_k`")
        return self.name(base, *self.index.signs)

    def loop(self) -> LoopOnPage | None:
        """The loop, if there is one."""
        names = [self.before(base).name for base in self.first] if self.begun else []
        missing = next((base for base in self.first if self.before(base).name not in self.kept), None)
        if missing is not None:
            raise InvalidArgumentError("start", Latex(written(missing)), "what a loop sets in each round")
        if not self.begun:
            return None
        start = tuple(zip(names, self.first.values(), strict=True))
        kept = tuple((name, self.kept[name]) for name in names)
        found = LoopOnPage(self.line, self.index.name, self.last, start, kept, self.until, self.listed)
        return replace(found, shuffled=self.shuffled)
