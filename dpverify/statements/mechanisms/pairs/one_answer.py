"""Pairs for what stops by a threshold and claims pure privacy: by one answer, with noise for each query written out.

Of many queries, by the answers to the first of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import Node, free, named, parts_of, put
from dpverify.proving.checker.theorems.numbers import ONE
from dpverify.proving.checker.theorems.outcomes import Value
from dpverify.proving.theorems.finite_models import FAILURES, FloatModel
from dpverify.proving.theorems.spreads import FARTHEST, Spread, steady
from dpverify.statements.mechanisms.pages import MechanismOnPage, flat
from dpverify.statements.mechanisms.pairs.choice_pairs import ChoicePairSearcher, said
from dpverify.statements.mechanisms.pairs.chosen_chances import reached
from dpverify.statements.mechanisms.pairs.search import BrokenPair, PairCase, PairSearcher, holds
from dpverify.statements.mechanisms.proofs.choices import ChoiceOnPage
from dpverify.statements.mechanisms.proofs.claims import MechanismClaim, claim_of
from dpverify.statements.mechanisms.proofs.ranges import number

ANSWER_IS = "the answer is"
"""What a model says that is of one answer: which are above, by 0 and 1."""
CUT = "and a number beside it is"
"""Of numbers that are put out beside the answer, which one, whether it is at most or at least a number, and that."""
LEAST = 1e-150
"""A chance below which none is looked at."""
LEAST_EPSILON = 0.01
"""Above it, losses are compared with what is claimed by their ratio."""
LETTERS = "with letters"
"""How many queries there are, and how many are answered to be above at most, where these are letters."""

KEYS = (ANSWER_IS, LETTERS, CUT)


Cut: TypeAlias = tuple[int, bool, Fraction]
"""Which of the numbers beside an answer is cut, whether it is at most or at least some number, and that number."""


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


def is_shown(mechanism: MechanismOnPage) -> bool:
    """Whether what is chosen is put out as it is; where something is made of it, an answer is no event."""
    choice = mechanism.choice
    return choice is not None and ("sym", choice.name) in flat(mechanism.output.term, "pair")


def numbers_beside(mechanism: MechanismOnPage) -> list[tuple[Node, ...]]:
    """What is put out beside what is chosen, where that is a number with one noise."""
    assert mechanism.choice is not None
    drawn = {one.name for one in mechanism.of("draw")}
    parts = [parts_of(one) for one in flat(mechanism.output.term, "pair")]
    return [one for one in parts if one[0] in ("sym", "of") and one[1] in drawn]


def one_answer(
    mechanism: MechanismOnPage, values: dict[str, int], above: Sequence[int], cut: Cut | None = None
) -> OneAnswer:
    """Whether the answers to the first queries are some, for whole numbers of queries and of answers above.

    Maybe, also, whether a number that is put out beside the first above is at most some number, or at least.

    Raises:
        LookupError: where these are not the page's.
    """
    line, records = mechanism.choice, mechanism.records
    own = {one.name: one for one in mechanism.letters if one.name in whole_letters(mechanism)}
    domains = [(one.number, Fraction(values.get(name, 0))) for name, one in own.items()]
    fits = all(domain is not None and domain.contains(value) for domain, value in domains)
    if (
        line is None
        or not is_shown(mechanism)
        or line.role != "stop"
        or values.keys() != own.keys()
        or not fits
        or {*above} - {0, 1}
    ):
        raise LookupError("no answer of such a choice")
    fixed: dict[str, tuple[tuple[str, ...], Node]] = {name: ((), number(k)) for name, k in values.items()}
    columns, most = (
        FloatModel({}, {}).code(one)(values) if one else 1 for one in (records.columns, line.count)
    )
    if not 0 < len(above) <= columns or sum(above) > most:
        raise LookupError("no answer of such a choice")
    fewer = mechanism.changed(lambda term: put(term, fixed), {*fixed})
    assert fewer.choice is not None
    line, draws = fewer.choice, {one.name: one for one in fewer.of("draw")}
    choice = ChoiceOnPage(fewer, line)
    places, steps, facts = range(1, len(above) + 1), list[Any](), list[Node]()
    for noise in choice.noises:
        draw = draws[noise.name]
        if draw.anew:
            steps += [replace(draw, name=f"{draw.name} after {k}") for k in range(sum(above) + 1)]
        elif not noise.index:
            steps.append(draw)
        for j in places if noise.index else ():
            at = put(draw.term, {noise.index: ((), number(j))})
            steps.append(replace(draw, name=f"{draw.name} {j}", term=at, index=""))
    for j in places:
        suffixes = f" {j}", f" after {sum(above[: j - 1])}" if choice.anew else ""
        low, high = (_at(side, suffixes, line.index, number(j)) for side in parts_of(line.term)[1:])
        if above[j - 1]:
            facts.append(("<=", low, high))
        elif sum(above[:j]) < most:
            facts.append(("<", high, low))
    if cut is not None:
        if sum(above) != 1:
            raise LookupError("no number beside such an answer")
        first = {line.name: ((), number(above.index(1) + 1))}
        behind = [one for one in draws.values() if one.line > line.line]
        steps += [replace(draw, term=put(draw.term, first)) for draw in behind]
        part = numbers_beside(fewer)[cut[0]]
        beside: Node = part if part[0] != "of" else ("sym", f"{named(part[1])} {above.index(1) + 1}")
        facts.append(("<=", beside, number(cut[2])) if cut[1] else ("<=", number(cut[2]), beside))
    bit: Node = ("indicator", facts[0] if len(facts) == 1 else ("and", *facts))
    steps += [replace(fewer.output, kind="integer", term=bit), *fewer.of("claim")]
    fewer = replace(fewer, steps=tuple(steps))
    return OneAnswer(fewer, tuple((one.latex, str(values[name])) for name, one in own.items()))


def _at(side: Node, suffixes: tuple[str, str], index: str, query: Node) -> Node:
    """A side of a comparison, at a query: the number that is drawn for it stands there by its own letter."""
    _, rest, own = parts_of(side)
    at = put(rest, {index: ((), query)})
    if own == number(0):
        return at
    drawn: Node = ("sym", f"{named(own[1])}{suffixes[own[0] != 'of']}")
    return drawn if rest == number(0) else ("add", at, drawn)


def answer_of(mechanism: MechanismOnPage, model: Any) -> OneAnswer:
    """That of which a model says that it is one; errors as of `one_answer`."""
    cut: Cut | None = None
    if CUT in model:
        place, at_most, end = model[CUT]
        cut = int(place), bool(at_most), Fraction(end)
    return one_answer(mechanism, model[LETTERS], model[ANSWER_IS], cut)


def known(law: Spread) -> dict[Any, float]:
    """Chances of answers; refused (ValueError) for other laws."""
    if not isinstance(law, dict):
        raise ValueError("no chances of answers")
    return law


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
            *_, (p, q) = self.telling(case)
            _, _, (epsilon, _) = self.laws(case)
        except (*FAILURES, IndexError):
            return None
        lost = math.log(p / q) if q > 0 else FARTHEST
        return 1 - lost / epsilon if epsilon > LEAST_EPSILON else epsilon - lost

    def telling(self, case: PairCase) -> tuple[Any, Cut | None, tuple[float, float]]:
        """The answer that tells the data sets apart most, maybe with a number beside it, and both its chances."""
        one, other, _ = self.laws(case)
        of_other = known(other)
        likely = {answer: (p, of_other[answer]) for answer, p in known(one).items() if p > LEAST}

        def ratio(chances: tuple[float, float]) -> float:
            return steady(math.log(chances[0] / max(chances[1], LEAST**2)))

        ranked = sorted(likely, key=lambda answer: -ratio(likely[answer]))
        found: list[tuple[Any, Cut | None, tuple[float, float]]] = [(ranked[0], None, likely[ranked[0]])]
        if beside := numbers_beside(self.mechanism):
            width = self.shown_of(case)
            some = [
                answer
                for answer in dict.fromkeys((*ranked[:2], width))
                if answer in likely and answer <= width
            ]
            for answer, k in product(some, range(len(beside))):
                cuts = self.with_number(case, answer, beside[k])
                found += [(answer, (k, *cut), (p, q)) for cut, p, q in cuts if p > LEAST]
        return max(found, key=lambda one: ratio(one[2]))

    def shown_of(self, case: PairCase) -> int:
        """How many queries answers are looked at of."""
        return min(self.first, len(max(case.left, case.right)[0]))

    def with_number(
        self, case: PairCase, answer: int, part: tuple[Node, ...]
    ) -> Iterator[tuple[tuple[bool, Fraction], float, float]]:
        """Ends of a number that is put out beside an answer, and the chances of both."""
        envs = [self.env(case, rows) for rows in (case.left, case.right)]
        one, other, _ = self.laws(case)
        draw = next(one for one in self.mechanism.of("draw") if one.name == part[1])
        if parts_of(draw.term)[0] != "laplace":
            return
        place: dict[str, Any] = {draw.index or self.choice.line.name: float(answer)}
        lines = [self.valued(draw.term)({**env, **place}) for env in envs]
        near, far = (pick(one.at for one in lines) for pick in (min, max))
        scale = lines[0].scale
        for at_most, end in ((True, near), (True, near - 4 * scale), (False, far), (False, far + 4 * scale)):
            cut = Fraction(end).limit_denominator(100)
            if draw.index:
                p, q = (self.compared(env, answer, at_most, float(cut)) for env in envs)
            else:
                p, q = (line.below(float(cut)) if at_most else line.above(float(cut)) for line in lines)
                p, q = p * known(one)[answer], q * known(other)[answer]
            yield (at_most, cut), p, q

    def compared(self, env: dict[str, Any], answer: int, at_most: bool, end: float) -> float:
        """The chance that the first above is some, with a number that is at most an end, or at least."""
        places = range(1, answer + 1)
        low, high = ([code({**env, self.choice.line.index: i}) for i in places] for code, _ in self.sides)
        sides = self.noises([code(env) for code in self.scales])
        gaps = [y - t for t, y in zip(low, high, strict=True)]
        up, down, weights = reached(gaps, sides[0], sides[1], (answer - 1, at_most, end - high[-1]))
        return float((weights * down[:-1].prod(axis=0) * up[-1]).sum())

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
        of, own = self.written_out(case)
        fewer = claim_of(of.mechanism)
        model = _BitSearcher(of.mechanism, {}, self.random).model(case, fewer)
        return {**own, **model} if holds(fewer, model, refuted=True) else None

    def witness_of(self, broken: PairCase, claim: MechanismClaim) -> None:
        """None: the model of one answer is of fewer letters, and that of all may be too large."""

    def written_out(self, case: PairCase) -> tuple[OneAnswer, dict[str, Json]]:
        """Whether the answer is the one that tells most, and what a model says of it."""
        answer, cut, _ = self.telling(case)
        values = {name: int(case.letters[name]) for name in whole_letters(self.mechanism)}
        above = [*answer] if isinstance(answer, tuple) else [
            int(j + 1 == answer) for j in range(answer if cut else self.shown_of(case))
        ]  # fmt: skip
        number_is: dict[str, Json] = {CUT: [cut[0], cut[1], str(cut[2])]} if cut else {}
        return one_answer(self.mechanism, values, above, cut), {
            LETTERS: values,
            ANSWER_IS: above,
            **number_is,
        }

    def shown(self, case: PairCase, model: dict[str, Json], claim: MechanismClaim) -> BrokenPair:
        """The pair, with the answer as event; other answers may need more."""
        (of, own), (answer, cut, chances) = self.written_out(case), self.telling(case)
        bit = _BitSearcher(of.mechanism, {}, self.random)
        some = f" of the first {len(own[ANSWER_IS])}" * (
            not cut and self.shown_of(case) < len(max(case.left, case.right)[0])
        )
        bit.answer = (said(own[ANSWER_IS]) if isinstance(answer, tuple) or some else str(answer)) + some
        if cut:
            bit.answer += f", with a number {'<=' if cut[1] else '>='} {float(cut[2]):g}"
        bit.chances = chances
        found = bit.shown(
            case, {key: value for key, value in model.items() if key not in KEYS}, claim_of(of.mechanism)
        )
        letters = tuple((letter.latex, str(case.letters[letter.name])) for letter in self.public)
        return replace(found, letters=letters, model=model, suffices=None)
