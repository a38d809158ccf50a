"""Mechanisms that choose among candidates: the one with the largest noisy score, or the first above a threshold.

Noises for all candidates are one outcome of a type of its own, of which it is known how to read one noise and how to
put another in its place, and that this, with a noise drawn anew, changes no probability. What is chosen is a function
of them; what is assumed of it is what the page says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpverify.proving.checker.theorems.language import Node, named, parts_of, put
from dpverify.statements.mechanisms.pages import MechanismOnPage, MechanismStep, on
from dpverify.statements.mechanisms.proofs.coins import CoinsOnPage
from dpverify.statements.mechanisms.proofs.guesses import cancelled, sensitivity
from dpverify.statements.mechanisms.proofs.ranges import COLUMN, DATA, ONE, D, magnitude, number

ANSWER, ORDER, ANSWERS, ABOVE = "the answer", "the order", "answers", "is above"
HISTORY, BEGIN, NEXT, ASKED, ENDS, RUNS = (
    "history",
    "the beginning",
    "the next",
    "asked next",
    "the end",
    "the runs",
)
H, N = ("sym", "the history"), ("sym", "the number")
R, T, X, UNIT = ("sym", "candidate"), ("sym", "other"), ("sym", "noise"), number(1)


@dataclass(frozen=True)
class NoiseOnPage:
    """A draw of independent noises, around a location that may depend on records."""

    name: str
    index: str
    """Of noises for each candidate, the letter of one."""
    location: Node
    law: Node
    """Of one noise."""

    @classmethod
    def of(cls, draw: MechanismStep) -> NoiseOnPage:
        """The same of a line."""
        family, *rest = parts_of(draw.term)
        if len(rest) == 1:
            return cls(draw.name, draw.index, number(0), draw.term)
        return cls(draw.name, draw.index, rest[0], (family, number(0), rest[1]))

    @property
    def type(self) -> str:
        """The type of noises for all candidates."""
        return f"noises {self.name}"

    @property
    def whole(self) -> Node:
        """The letter of all noises."""
        return ("sym", f"all {self.name}" if self.index else self.name)

    @property
    def bound(self) -> Node:
        """The same with its type."""
        return (self.whole[1], self.type if self.index else "real")

    def letters(self, kind: Node) -> tuple[Node, ...]:
        """What reads a noise, what puts another in its place, and the law of all."""
        w = self.type
        return (
            (f"read {self.name}", (w, kind), "real"), (f"put {self.name}", (w, kind, "real"), w),
            (f"law {self.name}", (), ("law", w)),
        )  # fmt: skip

    def at(self, candidate: Node) -> Node:
        """The noise of a candidate."""
        return ("of", f"read {self.name}", self.whole, candidate) if self.index else self.whole

    def independent(self, kind: Node) -> Iterator[Node]:
        """What is assumed of these letters."""
        letters = ((self.whole[1], (), self.type), ("candidate", (), kind))
        put_: Node = ("of", f"put {self.name}", self.whole, R, X)
        read, x = f"read {self.name}", ("noise", (), "real")
        yield ("all", (*letters, x), (), ("==", ("of", read, put_, R), X))
        other = ("other", (), kind)
        yield (
            "all",
            (*letters, x, other),
            (("not", ("==", T, R)),),
            ("==", ("of", read, put_, T), self.at(T)),
        )
        event, law = ("event", (self.type,), "formula"), ("sym", f"law {self.name}")
        anew: Node = ("chance", ("noise", "real"), self.law, ("of", "event", put_))
        yield (
            "all", (letters[1], event), (),
            ("==", ("chance", self.bound, law, ("of", "event", self.whole)), ("mean", self.bound, law, anew)),
        )  # fmt: skip


@dataclass(frozen=True)
class Side:
    """A side of a comparison: what is added to a noise, and the noise, if there is one."""

    location: Node
    """Of a candidate, in the index of the line."""
    noise: NoiseOnPage | None


class ChoiceOnPage:
    """What a page says of a choice, as letters and assumptions of a clause."""

    def __init__(self, mechanism: MechanismOnPage, line: MechanismStep) -> None:
        assert mechanism.records.over is not None
        self.mechanism, self.line, self.kind = mechanism, line, mechanism.records.over.kind
        before = [one for one in mechanism.of("draw") if one.line < line.line]
        noises = sorted(map(NoiseOnPage.of, before), key=lambda one: not one.index)
        self.noises = noises
        sums = [line.term] if line.role == "select" else [*parts_of(line.term)[1:]]
        self.sides = [self.side(one) for one in sums]
        self.bound = [one.bound for one in noises]
        self.anew = any(one.anew for one in before)
        """Whether the threshold's noise is drawn again after each answer; answers are then a history."""
        self.answer: Node = ("of", ANSWER, *((H,) if self.anew else ()), D, *(one.whole for one in noises))

    def side(self, term: Node) -> Side:
        """A side of a comparison."""
        _, rest, own = parts_of(term)
        noise = next((one for one in self.noises if parts_of(own)[1] == one.name), None)
        if noise is None:
            return Side(rest, None)
        at = put(noise.location, {noise.index: ((), ("sym", self.line.index))} if noise.index else {})
        zero = number(0)
        return Side(at if rest == zero else rest if at == zero else ("add", rest, at), noise)

    @property
    def types(self) -> tuple[tuple[str, str], ...]:
        """Types of noises."""
        of_several = (HISTORY, "any") if self.anew else (ANSWERS, "finite")
        several: tuple[tuple[str, str], ...] = (of_several,) if self.line.count else ()
        return (*((one.type, "any") for one in self.noises if one.index), *several)

    @property
    def outcome(self) -> Node:
        """The type of what is chosen."""
        return HISTORY if self.anew else ANSWERS if self.line.count else self.kind

    @property
    def letters(self) -> tuple[Node, ...]:
        """Letters of noises, of the order that decides ties, and of what is chosen."""
        found = [letter for one in self.noises if one.index for letter in one.letters(self.kind)]
        more: list[Node] = [(ORDER, (self.kind,), "real")] if self.line.role == "select" else []
        given = (DATA, *(parts_of(one)[1] for one in self.bound))
        if self.anew:
            return (
                *found, (BEGIN, (), HISTORY), (NEXT, (HISTORY, "integer"), HISTORY), (ASKED, (HISTORY,), "integer"),
                (ENDS, (HISTORY,), "formula"), (RUNS, ("integer", HISTORY, DATA), ("law", HISTORY)),
                (ANSWER, (HISTORY, *given), self.kind),
            )  # fmt: skip
        more += [(ABOVE, (ANSWERS, self.kind), "real")] if self.line.count else []
        return (*found, *more, (ANSWER, given, self.outcome))

    @property
    def law(self) -> Node:
        """The law of what is chosen on the data set D."""
        return ("of", RUNS, self.line.count, ("sym", BEGIN), D) if self.anew else self.law_of(self.answer)

    @property
    def compared(self) -> Node | None:
        """Where the number that was compared is put out, too, the law of both; it is 0 where none is above."""
        head, *shown = parts_of(self.mechanism.output.term)
        last = parts_of(shown[-1]) if head == "pair" else ()
        noise = next((one for one in self.noises if last[:2] == ("of", one.name)), None)
        if noise is None:
            return None
        location = put(noise.location, {noise.index: ((), self.answer)})
        value: Node = ("add", location, noise.at(self.answer))
        some: Node = ("indicator", ("<=", self.answer, self.mechanism.records.columns))
        return self.law_of(("pair", self.answer, ("mul", some, value)))

    def law_of(self, output: Node) -> Node:
        """The law of what is made of the noises."""
        law: Node = ("certain", output)
        for one in self.noises:
            law = ("then", one.bound, ("sym", f"law {one.name}") if one.index else one.law, law)
        return law

    @property
    def costs(self) -> list[Node | None]:
        """What each side costs of a pure budget, by a sensitivity that is a guess; None of one without noise.

        Raises:
            UnderivedError: where nothing is guessed.
        """
        *below, above = self.sides
        moves = sensitivity(self.mechanism, put(above.location, {self.line.index: ((), ("sym", COLUMN))}))
        twice: Node = ("mul", number(2), moves, *([self.line.count] if self.line.count else ()))
        pairs = [(above.noise, twice), *((one.noise, moves) for one in below)]
        return [
            cancelled(("mul", times, ("pow", parts_of(one.law)[-1], number(-1)))) if one else None
            for one, times in pairs
        ]

    def score(self, side: Side, candidate: Node) -> Node:
        """A side of a comparison, for a candidate."""
        location = on(self.mechanism, put(side.location, {self.line.index: ((), candidate)}), ONE)
        return location if side.noise is None else ("add", location, side.noise.at(candidate))

    @property
    def premises(self) -> tuple[Node, ...]:
        """What is assumed of noises, and of what is chosen."""
        noises = [one for noise in self.noises if noise.index for one in noise.independent(self.kind)]
        of_answer = (
            self.largest if self.line.role == "select" else self.several if self.line.count else self.first
        )
        if self.anew:
            of_answer = self.runs
        return (*noises, *of_answer())

    def every(self, *names: str) -> tuple[Node, ...]:
        """Letters for a data set, for noises and for candidates."""
        own = (((name, (), self.kind)) for name in names)
        return ((ONE, (), DATA), *((name, (), kind) for name, kind in map(parts_of, self.bound)), *own)

    def largest(self) -> Iterator[Node]:
        """Nobody has a larger score than the one that is chosen; of equals, the first in the order is."""
        chosen, (one, other) = ("==", self.answer, R), (self.score(self.sides[0], c) for c in (R, T))
        yield ("all", self.every("candidate", "other"), (chosen,), ("<=", other, one))
        before: Node = ("<=", ("of", ORDER, R), ("of", ORDER, T))
        yield ("all", self.every("candidate", "other"), (chosen, ("==", other, one)), before)
        same: Node = ("==", ("of", ORDER, R), ("of", ORDER, T))
        yield ("all", (("candidate", (), self.kind), ("other", (), self.kind)), (same,), ("==", R, T))

    def first(self) -> Iterator[Node]:
        """The one that is chosen is the first of which the comparison is true, or the one behind the last."""
        chosen, last = ("==", self.answer, R), ("add", self.mechanism.records.columns, UNIT)
        within, before, here = self.is_first(R, last)
        yield ("all", self.every("candidate"), (chosen,), ("and", *within))
        _, _, given, below = parts_of(before)
        yield ("all", self.every("candidate", "other"), (chosen, *parts_of(given)), below)
        _, _, before_last, above = parts_of(here)
        yield ("all", self.every("candidate"), (chosen, *parts_of(before_last)), above)
        yield ("all", self.every("candidate"), (*within, before, here), chosen)

    def runs(self) -> Iterator[Node]:
        """A run says the first above, from the next query on; none is left, runs have ended, or one is made first."""
        every, more = ((named(H[1]), (), HISTORY),), ("add", N, UNIT)
        yield from (("all", every, (), one) for one in self.first())
        letters: tuple[Node, ...] = ((named(N[1]), (), "integer"), *every, (ONE, (), DATA))
        again, ends, some = ("of", RUNS, more, H, D), ("of", ENDS, H), ("<=", number(0), N)
        then: Node = ("of", RUNS, N, ("of", NEXT, H, ("sym", "the run")), D)
        yield ("all", letters[1:], (), ("==", ("of", RUNS, number(0), H, D), ("certain", H)))
        yield ("all", letters, (some, ends), ("==", again, ("certain", H)))
        made: Node = ("then", ("the run", "integer"), self.law_of(self.answer), then)
        yield ("all", letters, (some, ("not", ends)), ("==", again, made))

    @property
    def start(self) -> Node:
        """The first query that is asked."""
        return ("of", ASKED, H) if self.anew else UNIT

    def is_first(self, one: Node, last: Node) -> tuple[tuple[Node, Node], Node, Node]:
        """That a number is within bounds, that none before is above the threshold, and that it is, or is the last."""
        low, high = ([self.score(side, c) for c in (one, T)] for side in self.sides)
        within: tuple[Node, Node] = ("<=", self.start, one), ("<=", one, last)
        below: Node = ("<", high[1], low[1])
        before: Node = ("all", (("other", (), "integer"),), (("<=", self.start, T), ("<", T, one)), below)
        return within, before, ("all", (), (("<", one, last),), ("<=", low[0], high[0]))

    def several(self) -> Iterator[Node]:
        """Of what is answered: those above are, up to a number of them; it is the only one of which this is true."""
        o, p = ("sym", "answers"), ("sym", "others")
        every, own = self.every("candidate"), (("answers", (), ANSWERS),)
        above: Node = ("of", ABOVE, o, R)
        yield ("all", (*own, every[-1]), (), ("or", ("==", above, number(0)), ("==", above, UNIT)))
        yield ("all", own, (), ("<=", self.answered(o, self.mechanism.records.columns), self.line.count))
        apart = magnitude(("of", ABOVE, o, T), ("of", ABOVE, p, T))
        differ: Node = ("sum", ("other", "integer"), apart, UNIT, self.mechanism.records.columns)
        yield ("all", (*own, ("others", (), ANSWERS)), (("not", ("==", o, p)),), ("<=", UNIT, differ))
        chosen, are_above = ("==", self.answer, o), self.are_above(o)
        for one in map(parts_of, are_above):
            yield ("all", (*every[:-1], *own, *parts_of(one[1])), (chosen, *parts_of(one[2])), one[3])
        yield ("all", (*every[:-1], *own), are_above, chosen)

    def answered(self, answers: Node, last: Node) -> Node:
        """How many are above, up to some candidate."""
        return ("sum", ("other", "integer"), ("of", ABOVE, answers, T), UNIT, last)

    def are_above(self, answers: Node) -> tuple[Node, Node]:
        """That those are above that are answered so, and those below that are not, until there are enough."""
        low, high = (self.score(side, R) for side in self.sides)
        above: Node = ("of", ABOVE, answers, R)
        every, within = (("candidate", (), "integer"),), (
            ("<=", UNIT, R), ("<=", R, self.mechanism.records.columns),
        )  # fmt: skip
        more: Node = ("<", self.answered(answers, R), self.line.count)
        return (
            ("all", every, (*within, ("==", above, UNIT)), ("<=", low, high)),
            ("all", every, (*within, ("==", above, number(0)), more), ("<", high, low)),
        )

    @property
    def where(self) -> Node:
        """What is true of what is chosen, by which it is the first."""
        value: Node = ("sym", "value")
        if self.line.count and not self.anew:
            return ("and", *self.are_above(value))
        if self.line.role == "stop":
            within, _, here = self.is_first(value, ("add", self.mechanism.records.columns, UNIT))
            return ("and", within[0], here)
        one, other = (self.score(self.sides[0], c) for c in (value, T))
        every = (("other", (), self.kind),)
        before: Node = ("<=", ("of", ORDER, value), ("of", ORDER, T))
        return ("and", ("all", every, (), ("<=", other, one)), ("all", every, (("==", other, one),), before))


def choice_of(mechanism: MechanismOnPage) -> ChoiceOnPage | CoinsOnPage | None:
    """What a mechanism chooses, if it chooses among candidates: with noise, or by coins in random order."""
    line = mechanism.choice
    if line is None:
        return None
    return CoinsOnPage(mechanism, line) if line.coins else ChoiceOnPage(mechanism, line)


def in_a_row(mechanism: MechanismOnPage) -> MechanismOnPage:
    """A mechanism in which what is chosen, on the data set D, is one draw; others as they are."""
    choice = choice_of(mechanism)
    if choice is None or mechanism.loop is not None:
        return mechanism
    line, output = choice.line, mechanism.output
    drawn = replace(line, role="draw", kind=choice.outcome, term=put(choice.law, {}), index="", count="")
    if isinstance(choice, ChoiceOnPage) and choice.compared is not None:
        drawn = replace(drawn, kind=output.kind, term=put(choice.compared, {}))
        output = replace(output, term=("sym", line.name))
    behind = [one for one in mechanism.of("draw") if one.line > line.line]
    kind = output.kind if output.term != ("sym", line.name) else drawn.kind
    return replace(mechanism, steps=(drawn, *behind, replace(output, kind=kind), *mechanism.of("claim")))


def law_of(mechanism: MechanismOnPage) -> Node:
    """The law of the output; of what is chosen, on the data set D."""
    return in_a_row(mechanism).law
