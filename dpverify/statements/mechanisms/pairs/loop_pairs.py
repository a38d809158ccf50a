"""Pairs of data sets for mechanisms with a loop: of few rounds, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import TypeAlias

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import Node, again, bound_in, free, inner, parts_of, put
from dpverify.proving.theorems.letters import TheoremLetter
from dpverify.statements.mechanisms.pages import MechanismOnPage, MechanismStep, flat, private
from dpverify.statements.mechanisms.pairs.search import PairCase, PairSearcher, holds
from dpverify.statements.mechanisms.proofs.claims import MechanismClaim
from dpverify.statements.mechanisms.proofs.loops import (
    BEGIN,
    ENDS,
    HISTORY,
    LISTED,
    NEXT,
    RUNS,
    paired,
)  # fmt: skip
from dpverify.statements.mechanisms.proofs.ranges import may_lack_value, number
from dpverify.statements.mechanisms.rounds import LoopOnPage

MOST, FEW = 4, (1, 2, 4)
"""Rounds that are written out: at most, where a page says how many; else these, the last if no round ends the loop."""
COUNTED, TRIED = (1, 2, 3, 6, 12, 24, 40), 5
"""Rounds of which outputs in random order are counted, and how many of these numbers are tried."""
Bit: TypeAlias = "Callable[[Node], Node]"
"""The law of a bit, by that of an output."""


@dataclass(frozen=True)
class FewRounds:
    """A mechanism that has the guarantee too if the loop has: some rounds of it, maybe with a part of the output."""

    mechanism: MechanismOnPage
    letters: tuple[tuple[str, str], ...]
    """The letter of the number of rounds, and its value, where there is one."""
    part: int = 0
    """Which part of the output it puts out, from 1 on; 0 for all."""
    counts: str = ""
    """Where it puts out how many of the outputs are something, what that is."""


def few_rounds(mechanism: MechanismOnPage, loop: LoopOnPage) -> Iterator[FewRounds]:
    """A loop of one round, of two, and so on: all that is put out, and each part of it."""
    if private(mechanism, loop.last):
        if loop.listed:  # how many outputs there are
            steps = replace(mechanism.output, kind="real", term=loop.last), *mechanism.of("claim")
            yield FewRounds(replace(mechanism, loop=None, steps=steps), ())
        return
    kept = set[str]().union(*(free(term) for _, term in loop.kept))
    still = [one for one in mechanism.letters if one.number is not None and one.number.contains(Fraction(0))]
    if loop.shuffled:
        yield from counted_rounds(mechanism, loop)
        return
    written = next((count for count in range(1, MOST + 1) if loop.last == number(count)), None)
    counts = (FEW[:2] if loop.until else FEW) if written is None else (written,)
    tried = [(count, None) for count in counts] + [(counts[-1], one) for one in still if one.name in kept]
    for count, zero in reversed(tried) if loop.until else tried:
        fixed = mechanism if zero is None else without(mechanism, zero)
        one = None if fixed.loop is None else unrolled(fixed, fixed.loop, count)
        if one is None:
            continue
        shown = [(k.latex, str(count)) for k in mechanism.letters if loop.last == k.term]
        shown += [(zero.latex, "0")] if zero else []
        parts = [*flat(one.output.term, "pair")]
        several = [*range(1, len(parts) + 1)] if len(parts) > 1 and count > 1 else []
        for k in (*several, 0) if loop.until else (0, *several):
            made = (parts[k - 1], "real") if k else (one.output.term, one.output.kind)
            few = replace(
                one,
                steps=(*one.of("draw"), replace(one.output, term=made[0], kind=made[1]), *one.of("claim")),
            )
            if few.draws or private(few, made[0]):
                yield FewRounds(few, tuple(shown), k)


def counted_rounds(mechanism: MechanismOnPage, loop: LoopOnPage) -> Iterator[FewRounds]:
    """A loop with outputs in random order: one round, and of more, how many outputs are 1 or at most a number."""
    sizes = [
        (one, one.number) for one in mechanism.letters if one.term == loop.last and one.number is not None
    ]
    fits = [k for k in COUNTED if all(domain.contains(Fraction(k)) for _, domain in sizes)]
    written = [k for k in range(1, COUNTED[-1] + 1) if loop.last == number(k)]
    for count in written or (fits[:TRIED] if sizes else []):
        shown = tuple((one.latex, str(count)) for one, _ in sizes)
        for words, bit in [("", None)] if count == 1 else bits_of(mechanism, loop):
            one = unrolled(mechanism, loop, count, bit)
            if one is not None and one.draws:
                yield FewRounds(one, shown, counts=words)


def bits_of(mechanism: MechanismOnPage, loop: LoopOnPage) -> Iterator[tuple[str, Bit]]:
    """What outputs may be that are counted; nothing where these are not one draw a round, independent of others."""
    (first, *others), kept = mechanism.of("draw"), {name for name, _ in loop.start}
    if others or mechanism.output.term != ("sym", first.name) or kept & free(first.term):
        return
    if parts_of(first.term)[0] == "bernoulli":
        yield "are 1", lambda law: law
    if first.kind == "real":
        ends = (mechanism.records.low, mechanism.records.high)
        for end in dict.fromkeys(Fraction(k) if end is None else end for k, end in enumerate(ends)):

            def at_most(law: Node, end: Fraction = end) -> Node:
                below: Node = ("<=", ("sym", "the output"), number(end))
                return ("bernoulli", ("chance", ("the output", "real"), law, below))

            yield f"are at most {end}", at_most


def without(mechanism: MechanismOnPage, letter: TheoremLetter) -> MechanismOnPage:
    """The same where a public letter is 0, so that what is multiplied by it is not there."""
    zero: dict[str, tuple[tuple[str, ...], Node]] = {letter.name: ((), number(0))}

    return mechanism.changed(lambda term: put(folded(put(term, zero)), {}), {letter.name})


def folded(node: Node) -> Node:
    """A term without what is multiplied by 0, where that has a value for all values of its letters."""
    term = parts_of(node)
    parts = [folded(part) for part, _ in inner(term)]
    if term[0] == "mul" and number(0) in parts and not may_lack_value(node):
        return number(0)
    if term[0] == "add":
        parts = [part for part in parts if part != number(0)] or [number(0)]
        if len(parts) == 1:
            return parts[0]
    return again(term, bound_in(term), parts)


def unrolled(
    mechanism: MechanismOnPage, loop: LoopOnPage, count: int, bit: Bit | None = None
) -> MechanismOnPage | None:
    """The same with some number of rounds, one after the other; None where that is no number of the page.

    Maybe of how many outputs are something: the sum of bits.
    """
    last = loop.last
    own = next((one for one in mechanism.letters if last == one.term), None)
    if last != number(count) and (
        own is None or own.number is None or not own.number.contains(Fraction(count))
    ):
        return None
    fixed: dict[str, tuple[tuple[str, ...], Node]] = {own.name: ((), number(count))} if own else {}
    fewer = mechanism.changed(lambda term: put(term, fixed), {*fixed})
    assert fewer.loop is not None
    env: dict[str, tuple[tuple[str, ...], Node]] = {name: ((), term) for name, term in fewer.loop.start}
    steps, outputs, going = list[MechanismStep](), list[Node](), list[Node]()
    for k in range(1, count + 1):
        env[loop.index] = (), number(k)
        for draw in fewer.of("draw"):
            new = replace(draw, name=f"{draw.name} {k}", term=put(draw.term, env))
            steps.append(new)
            env[draw.name] = (), ("sym", new.name)
        outputs.append(put(fewer.output.term, env))
        if fewer.loop.until:
            going.append(("indicator", ("not", put(fewer.loop.until, env))))
        env |= {name: ((), put(term, env)) for name, term in fewer.loop.kept}
    if bit is not None:
        steps = [replace(steps[-1], term=sum_of([bit(one.term) for one in steps]), kind="integer")]
    output = outputs[-1] if bit is not None else _outcome(outputs, going, loop.listed)
    return replace(fewer, loop=None, steps=(*steps, replace(fewer.output, term=output), *fewer.of("claim")))


def sum_of(laws: list[Node]) -> Node:
    """The law of a sum of independent whole numbers: that of the last one more than that of the others."""
    found = laws[0]
    for law in laws[1:]:
        both: Node = ("certain", ("add", ("sym", "the others"), ("sym", "the bit")))
        found = put(
            ("then", ("the others", "integer"), found, ("then", ("the bit", "integer"), law, both)), {}
        )
    return found


def _outcome(outputs: list[Node], going: list[Node], listed: bool) -> Node:
    """The output of some rounds: of the last that is made, or of each; 0 for those that are not made."""
    if listed:
        shown = [outputs[0]]
        for k, one in enumerate(outputs[1:]):
            shown.append(("mul", *going[: k + 1], one) if going else one)
        return paired(shown)
    if not going or len(outputs) == 1:
        return outputs[-1]
    if parts_of(outputs[0])[0] == "pair":
        rows = zip(*(parts_of(one)[1:] for one in outputs), strict=True)
        one, other = (_outcome([*row], going, False) for row in rows)
        return ("pair", one, other)
    found = outputs[0]
    for k, (one, before) in enumerate(zip(outputs[1:], outputs, strict=False)):
        found = ("add", found, ("mul", *going[: k + 1], ("add", one, ("mul", ("num", "-1"), before))))
    return found


class FewRoundsSearcher(PairSearcher):
    """A search among fewer pairs, that ends soon where laws are not worked out."""

    steps, patience, most = 200, 200, 600


class LoopWitness(PairSearcher):
    """A pair of which all that is assumed of a loop is true: there is one round, from one history to another."""

    histories = 2

    def entries(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json]:
        """The pair as values of letters."""
        here, there = ([one] * 2 for one in (["1", "0"], ["0", "1"]))  # for both data sets
        found: dict[str, Json] = {
            **super().entries(case, claim), BEGIN: 0, ENDS: [False, True],
            NEXT: [{"below": [], "then": [1]}] * 2, RUNS: {"below": ["0"], "then": [[here, there], [there] * 2]},
        }  # fmt: skip
        if self.histories == 1:
            found |= {
                ENDS: [True], NEXT: {"params": ["h", "u"], "term": ["sym", "h"]},
                RUNS: {"params": ["n", "h", "d"], "term": ["certain", ["sym", "h"]]},
            }  # fmt: skip
        for name, (_, kinds, kind) in zip(
            claim.names, map(parts_of, parts_of(parts_of(claim.clause.body)[1])), strict=True
        ):
            if kinds == (HISTORY,) and name != ENDS:
                found[name] = [_zero(kind)] * self.histories
        if self.mechanism.loop is not None:
            found[f"now {self.mechanism.loop.index}"] = ["1", "2"][: self.histories]
        return found


class EndedLoop(LoopWitness):
    """The same where the loop ends before its first round."""

    histories = 1


def _zero(kind: Node) -> Json:
    if isinstance(kind, str):
        return "0" if kind in ("real", "integer") else 0
    return [_zero(part) for part in kind[1:]]


def loop_witness(mechanism: MechanismOnPage, claim: MechanismClaim) -> Json:
    """A pair as a model of what is assumed, with a round where one is confirmed; None where none is found."""
    for kind in (LoopWitness, EndedLoop):
        sizes = {
            HISTORY: kind.histories,
            LISTED: 1,
            **dict.fromkeys((name for name, _ in mechanism.types), 2),
        }
        searcher = kind(mechanism, sizes, Random(0))
        letters = next(searcher.settings(), {})
        case = next(searcher.pairs(letters, searcher.records(letters), searcher.rows[True]), None)
        model = None if case is None else searcher.model(case, claim)
        if model is not None and holds(claim, model):
            return model
    return None
