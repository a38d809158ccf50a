"""Pairs for what stops by a threshold and claims pure privacy: by one answer, with noise for each query written out.

Of many queries, by the answers to the first of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import Node, free, named, parts_of, put
from dpverify.proving.checker.theorems.numbers import ONE
from dpverify.proving.checker.theorems.outcomes import Value
from dpverify.proving.theorems.finite_models import FAILURES, FloatModel
from dpverify.proving.theorems.spreads import FARTHEST, Spread
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.pairs.choice_pairs import ChoicePairSearcher, said
from dpverify.statements.mechanisms.pairs.search import BrokenPair, PairCase, PairSearcher, holds
from dpverify.statements.mechanisms.proofs.choices import ChoiceOnPage
from dpverify.statements.mechanisms.proofs.claims import MechanismClaim, claim_of
from dpverify.statements.mechanisms.proofs.ranges import number

ANSWER_IS = "the answer is"
"""What a model says that is of one answer: which are above, by 0 and 1."""
LEAST = 1e-150
"""A chance below which none is looked at."""
LEAST_EPSILON = 0.01
"""Above it, losses are compared with what is claimed by their ratio."""
LETTERS = "with letters"
"""How many queries there are, and how many are answered to be above at most, where these are letters."""


@dataclass(frozen=True)
class OneAnswer:
    """A mechanism that has the guarantee too if a page's has it: whether answers are some, as 1 or 0."""

    mechanism: MechanismOnPage
    letters: tuple[tuple[str, str], ...]
    """Letters of whole numbers that have a value in it."""


def whole_letters(mechanism: MechanismOnPage) -> list[str]:
    """The letters in the number of queries, and in that of answers above."""
    assert mechanism.choice is not None
    inside = free(mechanism.records.columns).union(
        free(mechanism.choice.count) if mechanism.choice.count else ()
    )
    return [one.name for one in mechanism.letters if one.name in inside]


def one_answer(mechanism: MechanismOnPage, values: dict[str, int], above: Sequence[int]) -> OneAnswer:
    """Whether the answers to the first queries are some, for whole numbers of queries and of answers above.

    Raises:
        LookupError: where these are not the page's.
    """
    line, records = mechanism.choice, mechanism.records
    own = {one.name: one for one in mechanism.letters if one.name in whole_letters(mechanism)}
    domains = [(one.number, Fraction(values.get(name, 0))) for name, one in own.items()]
    fits = all(domain is not None and domain.contains(value) for domain, value in domains)
    if line is None or line.role != "stop" or values.keys() != own.keys() or not fits or {*above} - {0, 1}:
        raise LookupError("no answer of such a choice")
    fixed: dict[str, tuple[tuple[str, ...], Node]] = {name: ((), number(k)) for name, k in values.items()}
    columns, most = (
        FloatModel({}, {}).code(one)(values) if one else 1 for one in (records.columns, line.count)
    )
    if not 0 < len(above) <= columns or sum(above) > most:
        raise LookupError("no answer of such a choice")
    choice, draws = ChoiceOnPage(mechanism, line), {one.name: one for one in mechanism.of("draw")}
    places, steps, facts = range(1, len(above) + 1), list[Any](), list[Node]()
    for noise in choice.noises:
        for j in places if noise.index else (0,):
            at = {**fixed, noise.index: ((), number(j))} if j else fixed
            draw = draws[noise.name]
            steps.append(
                replace(draw, name=f"{draw.name} {j}" if j else draw.name, term=put(draw.term, at), index="")
            )
    for j in places:
        low, high = (
            _at(side, f" {j}", {**fixed, line.index: ((), number(j))}) for side in parts_of(line.term)[1:]
        )
        if above[j - 1]:
            facts.append(("<=", low, high))
        elif sum(above[:j]) < most:
            facts.append(("<", high, low))
    (claim,), bit = mechanism.of("claim"), ("indicator", facts[0] if len(facts) == 1 else ("and", *facts))
    head, *bounds = parts_of(claim.term)
    steps += [
        replace(mechanism.output, kind="integer", term=bit),
        replace(claim, term=(head, *(put(one, fixed) for one in bounds))),
    ]
    fewer = replace(
        mechanism, letters=tuple(one for one in mechanism.letters if one.name not in own), steps=tuple(steps),
        records=replace(records, last=put(records.last, fixed), columns=put(records.columns, fixed)),
        given=tuple(put(one, fixed) for one in mechanism.given),
    )  # fmt: skip
    return OneAnswer(fewer, tuple((one.latex, str(values[name])) for name, one in own.items()))


def _at(side: Node, suffix: str, values: dict[str, tuple[tuple[str, ...], Node]]) -> Node:
    """A side of a comparison, at a query: the number that is drawn for it stands there by its own letter."""
    _, rest, own = parts_of(side)
    if own == number(0):
        return put(rest, values)
    drawn: Node = ("sym", f"{named(own[1])}{suffix}") if own[0] == "of" else own
    return drawn if rest == number(0) else ("add", put(rest, values), drawn)


def answer_of(mechanism: MechanismOnPage, model: Any) -> OneAnswer:
    """That of which a model says that it is one; errors as of `one_answer`."""
    return one_answer(mechanism, model[LETTERS], model[ANSWER_IS])


class _BitSearcher(PairSearcher):
    """Shows a pair by whether the answer is one, of which the chances are given."""

    chances = (0.0, 0.0)

    def laws(self, case: PairCase) -> tuple[Spread, Spread, list[float]]:
        """Both laws of the bit, and what is claimed."""
        one, other = ({1: p, 0: 1 - p} for p in self.chances)
        return one, other, [float(bound(self.env(case, case.left))) for bound in self.bounds]

    def values(self, _: PairCase) -> dict[Value, str]:
        """The answer."""
        return {ONE: self.answer}

    answer = ""


class AnswerPairSearcher(ChoicePairSearcher):
    """A search for pairs on which one answer breaks a claim of pure privacy."""

    steps, widest, first, whole = 400, 20, 6, False

    def laws(self, case: PairCase) -> tuple[Spread, Spread, list[float]]:
        """Both laws; no pair of those that are tried is the witness, as a model may be too small for all answers."""
        self.some = None
        return super().laws(case)

    def margin(self, case: PairCase) -> float | None:
        """How far the claim is from being false, as a part of its epsilon."""
        self.tried += 1
        try:
            _, (p, q) = self.telling(case)
            _, _, (epsilon, _) = self.laws(case)
        except (*FAILURES, IndexError):
            return None
        lost = math.log(p / q) if q > 0 else FARTHEST
        return 1 - lost / epsilon if epsilon > LEAST_EPSILON else epsilon - lost

    def telling(self, case: PairCase) -> tuple[Any, tuple[float, float]]:
        """The answer that tells the data sets apart most, with both its chances."""
        one, other, _ = self.laws(case)
        if not isinstance(one, dict) or not isinstance(other, dict):
            raise ValueError("no chances of answers")
        likely = {answer: (p, other[answer]) for answer, p in one.items() if p > LEAST}
        best = max(likely, key=lambda answer: likely[answer][0] / max(likely[answer][1], LEAST**2))
        return best, likely[best]

    def step(self, case: PairCase) -> PairCase | None:
        """A change of a public letter, of one query on all equal records, or of how many queries there are."""
        letters, whole, k = {**case.letters}, max(case.left, case.right, key=len), case.place - 1
        rows = [*dict.fromkeys((*whole, *case.right))]
        own: dict[Any, tuple[Fraction, ...]] = {row: (self.random.choice(self.ends),) for row in rows}
        head, *of = parts_of(self.mechanism.records.columns)
        columns, kind = named(of[0]) if head == "sym" else "", self.random.randrange(3)
        at, cut = self.random.randrange(len(whole[0])), 1
        public = [one for one in self.letters if one.name != columns]
        if kind == 0 and public:
            letter = self.random.choice(public)
            old = letters[letter.name]
            near = [old + 1, old - 1] if letter.kind == "integer" else [old * 2, old / 2]
            letters[letter.name] = self.random.choice([*self.options(letter), *near])
            own = {row: row[at : at + 1] for row in rows}
        elif kind == 1 and columns in letters:
            cut = self.random.choice((0, 2))
            letters[columns] += 1 - cut
            own = own if cut == 0 else dict.fromkeys(rows, ())
        for name in whole_letters(self.mechanism) if kind and self.random.random() < 0.5 else ():
            if name != columns:
                letters[name] = Fraction(self.random.randint(1, self.first))
        new = {row: (*row[:at], *own[row], *row[at + bool(cut) :]) for row in rows}
        wide = len(new[whole[0]]) > max(self.first, len(whole[0]))
        n = self.records(letters) if self.within(letters, len(new[whole[0]])) and not wide else 0
        replaced: tuple[Fraction, ...] | None = None if len(case.left) > len(case.right) else ()
        if self.mechanism.size is None:
            replaced = new[case.right[k]]
        if not n or new[whole[k]] == replaced:
            return None
        others = [new[row] for i, row in enumerate(whole) if i != k] or [new[whole[k]]]
        left = [others[i % len(others)] for i in range(n)]
        left[min(k, n - 1)] = new[whole[k]]
        return self.pair(letters, left, min(k, n - 1), replaced)

    def within(self, letters: dict[str, Fraction], width: int) -> bool:
        """Whether public letters may have these values, with so many queries."""
        domains = [(one.number, letters[one.name]) for one in self.letters]
        if not all(domain is not None and domain.contains(value) for domain, value in domains):
            return False
        return 0 < self.candidates({name: float(v) for name, v in letters.items()}) == width

    def confirmed(self, case: PairCase, claim: MechanismClaim) -> dict[str, Json] | None:
        """The pair as a model of one answer, which refutes the claim."""
        one, above = self.written_out(case)
        values = {name: int(case.letters[name]) for name in whole_letters(self.mechanism)}
        fewer, bit = claim_of(one.mechanism), _BitSearcher(one.mechanism, {}, self.random)
        model = bit.model(case, fewer)
        return {LETTERS: values, ANSWER_IS: [*above], **model} if holds(fewer, model, refuted=True) else None

    def written_out(self, case: PairCase) -> tuple[OneAnswer, tuple[int, ...]]:
        """Whether the answer is the one that tells most."""
        answer, _ = self.telling(case)
        values = {name: int(case.letters[name]) for name in whole_letters(self.mechanism)}
        above = answer if isinstance(answer, tuple) else tuple(
            int(j + 1 == answer) for j in range(min(self.first, len(max(case.left, case.right)[0])))
        )  # fmt: skip
        return one_answer(self.mechanism, values, above), above

    def shown(self, case: PairCase, model: dict[str, Json], claim: MechanismClaim) -> BrokenPair:
        """The pair, with the answer as event; other answers may need more."""
        one, above = self.written_out(case)
        answer, chances = self.telling(case)
        bit = _BitSearcher(one.mechanism, {}, self.random)
        some = f" of the first {self.first}" * (len(above) < len(max(case.left, case.right)[0]))
        bit.answer, bit.chances = (
            (said(above) if isinstance(answer, tuple) or some else str(answer)) + some,
            chances,
        )
        own = {key: value for key, value in model.items() if key not in (LETTERS, ANSWER_IS)}
        found = bit.shown(case, own, claim_of(one.mechanism))
        letters = tuple((letter.latex, str(case.letters[letter.name])) for letter in self.public)
        return replace(found, letters=letters, model=model, suffices=None)
