"""Pages of mechanisms: records, queries, draws, an output and a claim, in the order of pseudo-code.

Records are letters with an index, as `x_i`; what is read here speaks of one data set, and the index is an argument:
`x_i` is the letter `x` at `i`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.notation.tokens import Latex
from dpverify.proving.checker.theorems.language import Node, free, named, parts_of, put
from dpverify.proving.theorems.letters import TheoremLetter, Tokens
from dpverify.statements.mechanisms.rounds import LoopOnPage

CHOICES = ("select", "stop")
"""First words of what chooses among candidates."""
REPLACE, ADDED = "replace one", "add or remove one"


@dataclass(frozen=True)
class RecordLetter:
    """The letter of records: its name, how many there are, and between which numbers they are."""

    name: str
    signs: Tokens
    last: Node
    """The index of the last one; the first is 1."""
    low: Fraction | None
    high: Fraction | None
    over: TheoremLetter | None = None
    """Where a record is a row: its second index, a letter of a finite type, or a whole number."""
    columns: Node = ""
    """Of a whole number, the last one; the first is 1."""

    @property
    def arguments(self) -> tuple[Node, ...]:
        """The types of its indices."""
        return ("integer", *((self.over.kind,) if self.over else ()))


@dataclass(frozen=True)
class SampleOnPage:
    """The line behind which a mechanism runs on a sample; the letter of records is then that of the sample."""

    line: int
    rate: Node
    """The probability with which a record is in the sample."""
    of: Node = ""
    """Of a sample without replacement, how many records there are; of Poisson sampling, that is not public."""


@dataclass(frozen=True)
class MechanismStep:
    """A line of a mechanism: a query, a draw, the output or the claim."""

    line: int
    latex: str
    role: str
    name: str = ""
    """The letter that a query or a draw gives a value."""
    kind: Node = ""
    """Of a draw, what is drawn; of the output, its type."""
    term: Node = ""
    """What a query is, the law of a draw, the output, the guarantee that is claimed.

    Of what chooses: the score, a comparison, or the chance of heads.
    """
    index: str = ""
    """Of what is drawn for each candidate, and of what chooses: the letter of a candidate."""
    count: Node = ""
    """Of what stops after several: how many."""
    anew: bool = False
    """Of the noise of a threshold: whether it is drawn again after each answer above."""

    @property
    def coins(self) -> bool:
        """Whether the first candidate in random order whose coin shows heads is taken; its term is that chance."""
        return self.role == "select" and self.term[0] == "exp"


@dataclass(frozen=True)
class MechanismOnPage:
    """A mechanism with its claim."""

    id: str
    title: str
    line: int
    neighbors: str
    records: RecordLetter
    letters: tuple[TheoremLetter, ...]
    """Those that are public."""
    types: tuple[tuple[str, str], ...]
    steps: tuple[MechanismStep, ...]
    given: tuple[Node, ...] = ()
    """What is assumed of public letters."""
    declared: tuple[tuple[str, str, str], ...] = ()
    """LaTeX, kind in words with formulas between dollars, and meaning of its letters, then of its records."""
    size: TheoremLetter | None = None
    """The number of records, where neighbors differ in it: a letter that is not public."""
    sample: SampleOnPage | None = None
    """Where a mechanism runs on a sample; records, and their number, are those of the sample."""
    loop: LoopOnPage | None = None
    """If there is one, draws are those of a round, and the output is made of letters of the last one."""

    @property
    def draws(self) -> tuple[MechanismStep, ...]:
        """The draws on which the output depends, one after the other."""
        found, needed = list[MechanismStep](), set(free(self.output.term))
        needed |= free(self.test.term) if self.test else set()
        for draw in reversed(self.of("draw")):
            if draw.name in needed:
                found.insert(0, draw)
                needed |= free(draw.term)
        return tuple(found)

    @property
    def sized_letters(self) -> tuple[TheoremLetter, ...]:
        """The public letters, and the number of records where that is not public."""
        return (*self.letters, *((self.size,) if self.size else ()))

    @property
    def output(self) -> MechanismStep:
        """Its output."""
        return self.of("output")[0]

    @property
    def law(self) -> Node:
        """The law of the output, on one data set."""
        return self.law_behind(0)

    @property
    def test(self) -> MechanismStep | None:
        """The line with the condition without which nothing but that is put out."""
        return next((one for one in self.steps if one.role == "if"), None)

    def law_behind(self, k: int, tested: bool = False) -> Node:
        """The law of the output once the first draws have been made; of the last, the draw's own where that is said.

        What is put out where there is a condition has a 1 before it, or a 0 where that does not hold.
        """
        if self.test and not tested and k == sum(one.line < self.test.line for one in self.draws):
            refused: Node = ("certain", zero_of(self.output.kind))
            return put(("mixture", ("indicator", self.test.term), self.law_behind(k, True), refused), {})
        if k == len(self.draws):
            return ("certain", self.output.term)
        draw, rest = self.draws[k], self.law_behind(k + 1, tested)
        if rest == ("certain", ("sym", draw.name)):
            return put(draw.term, {})
        return put(("then", (draw.name, draw.kind), draw.term, rest), {})

    @property
    def choice(self) -> MechanismStep | None:
        """The line that chooses among candidates."""
        return next((one for one in self.steps if one.role in CHOICES), None)

    def changed(self, at: Callable[[Node], Node], fixed: Container[str]) -> MechanismOnPage:
        """The same without some public letters, with what comes of each of its terms in that term's place."""
        loop, records = self.loop, self.records
        if loop is not None:
            start, kept = (tuple((name, at(term)) for name, term in rows) for rows in (loop.start, loop.kept))
            until = loop.until and at(loop.until)
            loop = replace(loop, last=at(loop.last), start=start, kept=kept, until=until)
        steps = [
            replace(one, term=(parts_of(one.term)[0], *map(at, parts_of(one.term)[1:])))
            if one.role == "claim" else replace(one, term=one.term and at(one.term), count=one.count and at(one.count))
            for one in self.steps
        ]  # fmt: skip
        return replace(
            self, letters=tuple(one for one in self.letters if one.name not in fixed), loop=loop, steps=tuple(steps),
            records=replace(records, last=at(records.last), columns=records.columns and at(records.columns)),
            given=tuple(map(at, self.given)),
        )  # fmt: skip

    def of(self, role: str) -> tuple[MechanismStep, ...]:
        """Its lines of one role."""
        return tuple(one for one in self.steps if one.role == role)


def zero_of(kind: Node) -> Node:
    """What is put out in place of an outcome of numbers, which begins with a 1: zeros of the same types."""
    if kind[:1] == ("pair",):
        return ("pair", *map(zero_of, kind[1:]))
    zero: Node = ("num", "0")
    return {"integer": zero, "real": ("mul", ("num", "1/2"), zero)}[named(kind)]


def private(mechanism: MechanismOnPage, term: Node) -> bool:
    """Whether a term depends on records, or on how many there are where that is not public."""
    names = {one.name for one in (mechanism.records, mechanism.size) if one}
    return not names.isdisjoint(free(term))


def on(mechanism: MechanismOnPage, term: Node, data: str) -> Node:
    """A term, on a data set with some name."""
    return at_data(mechanism, term, ("sym", data))


def at_data(mechanism: MechanismOnPage, term: Node, data: Node) -> Node:
    """A term, on a data set."""
    names = tuple(f"!{k}" for k in range(len(mechanism.records.arguments)))
    record: Node = ("of", mechanism.records.name, data, *(("sym", n) for n in names))
    values: dict[str, tuple[tuple[str, ...], Node]] = {mechanism.records.name: (names, record)}
    if mechanism.size is not None:
        values[mechanism.size.name] = (), ("of", mechanism.size.name, data)
    return put(term, values)


def scaled_lack(term: Node, index: str, last: Node) -> tuple[Node, Node] | None:
    """A factor and a score, where a term is the exponential of the factor times what a candidate's score lacks.

    That is its score less the largest of all candidates, from 1 to the last; None for other terms.
    """
    head, *inside = parts_of(term)
    factors = [*flat(inside[0], "mul")] if head == "exp" else []
    for k, one in enumerate(map(parts_of, factors)):
        rest: Node = ("mul", *factors[:k], *factors[k + 1 :]) if len(factors) > 1 else ("num", "1")
        if index in free(rest) or one[0] != "add":
            continue
        largest: Node = ("largest", (index, "integer"), one[1], ("num", "1"), last)
        if put(one, {}) == put(("add", one[1], ("mul", ("num", "-1"), largest)), {}):
            return rest, one[1]
    return None


def flat(node: Node, head: str) -> Iterator[Node]:
    """The terms of a sum of sums (`add`), factors (`mul`), or parts of pairs of pairs, be they terms or types."""
    if node[:1] == (head,):
        for part in node[1:]:
            yield from flat(part, head)
    else:
        yield node


def number_of_records(
    records: RecordLetter, letters: Sequence[TheoremLetter], given: Sequence[Node]
) -> TheoremLetter:
    """The letter of the number of records, which is not public where neighbors differ in it; else refused."""
    found = next((one for one in letters if one.term == records.last), None)
    domain = found.number if found else None
    if found is None or found.kind != "integer" or domain is None or domain.lower is None or domain.lower < 0:
        allowed = "`- neighbors: replace one`, or `x_1,\\dots,x_n` with a letter that is `integer >= 0` in the table"
        raise InvalidArgumentError("neighbors", ADDED, allowed)
    if found.name in set[str]().union(*map(free, given)) | (
        free(records.columns) if records.columns else set()
    ):
        raise InvalidArgumentError(
            "given", Latex(found.latex), "what does not depend on the number of records"
        )
    return found
