"""Branch and bound: f >= 0 (or f > 0) on a box, by Arb balls, as a tree of boxes (docs/certificates.md).

Boxes have exact rational ends. A box is settled by its interval value, by a mean-value form, by an assumption
that fails on all of it, or by going to an edge: where f is monotone in a variable it is enough to look at one
end of it, and where f vanishes on a face it is enough that f grows away from it, which is the same question
about a derivative. What is not settled is split, and the boxes that look worst come first.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import Any

import sympy as sp
from flint import arb, ctx, fmpq

from dpverify.formulas.expressions import Expression, OutOfScopeError, TooLargeError
from dpverify.formulas.logic import Compare, Exists, ForAll, Formula, formula_parts
from dpverify.formulas.values import Ball
from dpverify.proving.proof import STOPPED_BY_THE_CLOCK
from dpverify.proving.provers.ball_programs import Graph, Node, Program
from dpverify.proving.provers.nested_mean_value import NestedMeanValue
from dpverify.proving.reasoning.algebra import derivative, replaced
from dpverify.proving.reasoning.effort import note_the_clock
from dpverify.proving.reasoning.evaluation import kleene
from dpverify.proving.reasoning.normal_form import is_identity
from dpverify.proving.reasoning.symbolic import SymPy

Exact = Any  # flint.fmpq
Box = tuple[tuple[Exact, Exact], ...]
Point = tuple[Exact, ...]
Tree = list[Any]

PRECISIONS = (53, 128, 256)
_NARROWEST = fmpq(1, 2**40)
"""Sides are not split below this fraction of the whole box's."""
_SLOPE_BOXES = 256
"""How many boxes a question about a derivative may take before the box itself is split instead."""
_LAST_LOOK = 2000
"""Boxes still looked at for a counterexample after one that can be neither settled nor split."""
_CORNERS = 6
"""Up to this many sides, the corners of the whole box are looked at first."""
_SIMPLIFY = 200
"""Longest expression, in operations, of which it is asked whether it vanishes."""


def leaves(tree: Tree) -> int:
    """The number of boxes that a checker has to evaluate."""
    if tree[0] in ("s", "e"):
        return leaves(tree[3]) + leaves(tree[4])
    return int(tree[0] != "0")


def ball(low: Exact, high: Exact) -> Ball:
    """A ball around an interval with exact ends."""
    return arb(low) if low == high else arb(low).union(arb(high))


class Objective:
    """The function of a claim, or a derivative of it, over named variables.

    `in_words` gives the same in SymPy's words or None, when it is asked whether it vanishes on a face.
    """

    def __init__(
        self,
        graph: Graph,
        node: Node,
        names: Sequence[str],
        in_words: Callable[[], SymPy | None],
        strict: bool = False,
    ) -> None:
        self.graph, self.node, self.names = graph, node, tuple(names)
        self._in_words, self.strict = in_words, strict
        self.value = Program(graph, [node], names)
        self.with_slopes, self.nested = cache(self._with_slopes), cache(self._nested)
        self.slope = cache(self._slope)
        self._vanishing: dict[tuple[tuple[int, Exact], ...], bool] = {}

    @cached_property
    def expression(self) -> SymPy | None:
        """The function in SymPy's words, where it has such."""
        return self._in_words()

    def holds(self, value: Ball) -> bool:
        """Whether a ball certainly satisfies the claim."""
        return bool(value > 0 if self.strict else value >= 0)

    def fails(self, value: Ball) -> bool:
        """Whether a ball certainly violates the claim."""
        return bool(value <= 0 if self.strict else value < 0)

    def _with_slopes(self, active: tuple[int, ...]) -> Program:
        """A program for the value and the derivatives in some variables."""
        slopes = [self.graph.differentiate(self.node, self.names[i]) for i in active]
        return Program(self.graph, [self.node, *slopes], self.names)

    def _nested(self, active: tuple[int, ...]) -> NestedMeanValue:
        """The mean-value form at every node."""
        return NestedMeanValue(self.graph, self.node, self.names, active)

    def _slope(self, i: int, sign: int) -> Objective:
        """The derivative in a variable, or minus it, as a target of its own."""
        node = self.graph.scale(sign, self.graph.differentiate(self.node, self.names[i]))
        return Objective(self.graph, node, self.names, partial(self._slope_in_words, i, sign))

    def _slope_in_words(self, i: int, sign: int) -> SymPy | None:
        e = self.expression
        if e is None or e.has(sp.Max, sp.Min, sp.Abs, sp.floor):
            return None
        try:
            rate = derivative(e, _symbol(e, self.names[i]))
        except TooLargeError:
            return None
        return sign * rate if rate.count_ops() <= _SIMPLIFY**2 else None

    def vanishes(self, fixed: dict[int, Exact], middle: Point) -> bool:
        """Whether the function is identically zero once some variables are fixed, shown by algebra.

        `middle` is a point of the face: where the function is certainly not zero there, algebra is not asked.
        """
        key = tuple(sorted(fixed.items()))
        if key not in self._vanishing:
            self._vanishing[key] = self._shown_to_vanish(fixed, middle)
        return self._vanishing[key]

    def _shown_to_vanish(self, fixed: dict[int, Exact], middle: Point) -> bool:
        with ctx.workprec(PRECISIONS[-1]):
            (value,) = self.value([arb(q) for q in middle])
        if not value.is_finite() or not value.contains(0) or self.expression is None:
            return False
        values = {
            _symbol(self.expression, self.names[i]): sp.Rational(int(q.p), int(q.q)) for i, q in fixed.items()
        }
        try:
            face = replaced(self.expression, values)
            if face.count_ops() > _SIMPLIFY:
                return False
            return bool(face == 0 or is_identity(face, sp.Integer(0)))
        except OutOfScopeError:
            return False


def _symbol(expression: SymPy, name: str) -> SymPy:
    return next((s for s in expression.free_symbols if s.name == name), sp.Symbol(name, real=True))


class BoxCondition:
    """An assumption, judged on boxes and at points: True, False, or None where balls do not decide."""

    def __init__(
        self, formula: Formula, graph: Graph, compile_: Callable[[Expression], Node], names: Sequence[str]
    ):
        self.formula = formula
        self._differences: dict[int, Program] = {}
        symbols: set[str] = set()
        for compare in _compares(formula):
            difference = graph.add(compile_(compare.right), graph.scale(-1, compile_(compare.left)))
            symbols |= graph.symbols(difference)
            self._differences[id(compare)] = Program(graph, [difference], names)
        self.symbols = frozenset(symbols)
        self.size = sum(program.size for program in self._differences.values())

    def judge(self, balls: Sequence[Ball]) -> bool | None:
        """The truth of the formula at every point of the balls, if it is the same and known."""

        def one(part: Formula) -> bool | None:
            if not isinstance(part, Compare):
                return None
            (difference,) = self._differences[id(part)](balls)
            return _compare(part.relation, difference)

        return kleene(self.formula, one)


def _compares(formula: Formula) -> Iterator[Compare]:
    """The comparisons under no quantifier."""
    if isinstance(formula, Compare):
        yield formula
    elif not isinstance(formula, ForAll | Exists):
        for part in formula_parts(formula):
            yield from _compares(part)


def _compare(relation: str, d: Ball) -> bool | None:
    """The truth of `0 (relation) d`."""
    match relation:
        case "<=":
            return True if d >= 0 else False if d < 0 else None
        case "<":
            return True if d > 0 else False if d <= 0 else None
        case _:
            zero = True if d.is_zero() else False if d.is_finite() and not d.contains(0) else None
            return zero if relation == "==" or zero is None else not zero


@dataclass
class SearchWork:
    """What a whole search may still use."""

    boxes: int
    operations: int
    deadline: float
    used: int = 0
    late: bool = False

    def left(self) -> int:
        """Boxes left; none where the operations are spent, nor after the deadline of CPU time, which is far."""
        if time.process_time() > self.deadline:
            self.late = True
            note_the_clock()
            return 0
        return self.boxes - self.used if self.operations > 0 else 0

    def why(self) -> str:
        """What ended a search."""
        if self.late:
            return STOPPED_BY_THE_CLOCK
        return f"the limit on {'operations' if self.operations <= 0 else 'boxes'} was reached"


@dataclass(frozen=True)
class Outcome:
    """A tree that shows the claim, or a point where it fails, or the box that stopped the search and why."""

    tree: Tree | None = None
    point: Point | None = None
    box: Box | None = None
    why: str = ""


@dataclass(order=True)
class _Open:
    """A box that waits, with the place in the tree that its own tree goes to."""

    badness: float
    number: int
    box: Box = field(compare=False)
    place: Tree = field(compare=False)
    conditions: tuple[BoxCondition, ...] = field(compare=False)

    def settled(self, leaf: str) -> _Left:
        """That nothing is left to do for it."""
        self.place[:] = [leaf]
        return 0.0, []


_Part = tuple[Box, Tree, tuple[BoxCondition, ...]]
_Left = tuple[float, list[_Part]]
"""How bad the function looks on a box, and the parts of it that are left."""


class BranchAndBound:
    """One search: a whole box, integer sides, a test for admissible counterexamples, and limits on the work.

    `nested` allows the mean-value form at every node, dearer for a box but with far fewer boxes where a
    difference of close quantities sits inside the function. `precision` is the largest number of bits needed.
    """

    def __init__(
        self,
        whole: Box,
        integer: Sequence[bool],
        admissible: Callable[[Point], bool],
        work: SearchWork,
        *,
        nested: bool,
    ) -> None:
        self.whole, self.integer, self.admissible, self.work = whole, tuple(integer), admissible, work
        self.nested = nested
        self.precision = PRECISIONS[0]

    def run(self, target: Objective, conditions: Sequence[BoxCondition], boxes: int) -> Outcome:
        """Show the claim on the whole box, or find a point in it where the claim fails."""
        with ctx.workprec(self.precision):
            return self._cover(target, self.whole, tuple(conditions), boxes, ask_points=True)

    def _cover(
        self, target: Objective, box: Box, conditions: tuple[BoxCondition, ...], boxes: int, ask_points: bool
    ) -> Outcome:
        """`ask_points`: a failing point counts only where it is admissible; else any ends the question."""
        failing = self._failing_corner(target, box, ask_points)
        if failing is not None:
            return Outcome(point=failing)
        root: Tree = []
        counter = itertools.count()
        heap = [_Open(0.0, next(counter), box, root, conditions)]
        # boxes on which the function is not (yet) known to be defined say nothing of their badness
        undefined: deque[_Open] = deque()
        stuck: Box | None = None
        last = self.work.used + boxes
        while heap or undefined:
            if self.work.left() <= 0 or self.work.used >= last:
                waiting = heap[0] if heap else undefined[0]
                return Outcome(box=stuck or waiting.box, why=self.work.why())
            self.work.used += 1
            turn = undefined and (not heap or self.work.used % 2)
            item = undefined.popleft() if turn else heapq.heappop(heap)
            step = self._step(target, item, ask_points)
            if isinstance(step, Outcome):
                if step.box is None or not ask_points:
                    return step
                stuck = stuck or step.box
                last = min(last, self.work.used + _LAST_LOOK)
                continue
            badness, children = step
            for child_box, place, kept in children:
                child = _Open(badness, next(counter), child_box, place, kept)
                if badness == badness:
                    heapq.heappush(heap, child)
                else:
                    undefined.append(child)
        if stuck is not None:
            return Outcome(box=stuck, why="the two sides come too close to tell apart")
        return Outcome(tree=root)

    def _failing_corner(self, target: Objective, box: Box, ask_points: bool) -> Point | None:
        sides = [(low,) if low == high else (low, high) for low, high in box]
        if sum(len(side) > 1 for side in sides) > _CORNERS:
            return None
        for corner in itertools.product(*sides):
            self.work.used += 1
            (value,) = target.value([arb(q) for q in corner])
            if target.fails(value) and (not ask_points or self.admissible(corner)):
                return corner
        return None

    def _step(self, target: Objective, item: _Open, ask_points: bool) -> Outcome | _Left:
        """Settle a box, or say what is left to do for it."""
        box = item.box
        balls = [ball(low, high) for low, high in box]
        self.work.operations -= sum(c.size for c in item.conditions)
        if any(c.judge(balls) is False for c in item.conditions):
            return item.settled("-")
        active = tuple(i for i, (low, high) in enumerate(box) if low != high)
        program = target.with_slopes(active)
        self.work.operations -= program.size + target.value.size
        value, *rates = program(balls)
        slopes = dict(zip(active, rates, strict=True))
        if target.holds(value):
            return item.settled("+")
        middle = tuple((low + high) / 2 for low, high in box)
        center = self._at(target, middle)
        if target.fails(center):
            point = self._admitted(target, middle) if ask_points else middle
            if point is not None:
                return Outcome(point=point)
        offsets = [arb(0, arb((box[i][1] - box[i][0]) / 2).upper()) for i in active]
        bound = center
        for slope, offset in zip(rates, offsets, strict=True):
            bound = bound + slope * offset
        defined = value.is_finite()
        if defined and target.holds(bound):
            return item.settled("m")
        slope_leaf = "+"
        if self.nested:
            nested = target.nested(active)
            self.work.operations -= nested.size
            value, *tighter = nested(balls, [arb(q) for q in middle], offsets)
            if target.holds(value):
                return item.settled("n")
            if not (defined and any(s >= 0 or s <= 0 for s in rates)):
                slopes, slope_leaf = dict(zip(active, tighter, strict=True)), "n"
            bound, defined = value, value.is_finite()
        badness = float(bound.lower()) if bound.is_finite() else float("nan")
        split_first: int | None = None
        if defined:
            step = self._monotone(target, item, balls, slopes, slope_leaf)
            if step is not None:
                return badness, step
            found = self._grown_from_face(target, item, balls, active, middle)
            if found is True:
                return 0.0, []
            split_first = found
        return self._split(target, item, slopes, badness, split_first)

    def _at(self, target: Objective, point: Point) -> Ball:
        """The value at a point; more bits, from here on, where they settle its sign."""
        (value,) = target.value([arb(q) for q in point])
        if not value.contains(0):
            return value
        for bits in PRECISIONS:
            if bits > ctx.prec:
                with ctx.workprec(bits):
                    (finer,) = target.value([arb(q) for q in point])
                if finer.is_finite() and not finer.contains(0):
                    ctx.prec = self.precision = bits
                    return finer
        return value

    def _admitted(self, target: Objective, point: Point) -> Point | None:
        rounded = tuple(
            fmpq((q + fmpq(1, 2)).floor()) if whole else q
            for q, whole in zip(point, self.integer, strict=True)
        )
        if rounded != point:
            (value,) = target.value([arb(q) for q in rounded])
            if not target.fails(value):
                return None
        return rounded if self.admissible(rounded) else None

    def _kept(
        self, conditions: tuple[BoxCondition, ...], name: str, balls: Sequence[Ball]
    ) -> tuple[BoxCondition, ...] | None:
        """The assumptions that survive the way to an edge; None where that would lose one that matters."""
        with_name = [c for c in conditions if name in c.symbols]
        if any(c.judge(balls) is not True for c in with_name):
            return None
        return tuple(c for c in conditions if name not in c.symbols)

    def _monotone(
        self, target: Objective, item: _Open, balls: list[Ball], slopes: dict[int, Ball], leaf: str
    ) -> list[_Part] | None:
        """Where a derivative has one sign on the box, the claim is a claim about one end."""
        for i, slope in slopes.items():
            rising = slope >= 0
            if not (rising or slope <= 0):
                continue
            kept = self._kept(item.conditions, target.names[i], balls)
            if kept is None:
                continue
            end = item.box[i][0] if rising else item.box[i][1]
            face = (*item.box[:i], (end, end), *item.box[i + 1 :])
            edge: Tree = []
            item.place[:] = ["e", target.names[i], "lower" if rising else "upper", edge, [leaf]]
            if self._is_zero(target, face, i):
                edge[:] = self._zero(target, face)
                return []
            return [(face, edge, kept)]
        return None

    def _is_zero(self, target: Objective, face: Box, i: int) -> bool:
        if target.strict or face[i][0] not in self.whole[i]:
            return False
        middle = tuple((low + high) / 2 for low, high in face)
        return target.vanishes({k: low for k, (low, high) in enumerate(face) if low == high}, middle)

    def _zero(self, target: Objective, face: Box) -> Tree:
        """How a function is shown to be 0 on a face: by its value, or by algebra, where balls only come near."""
        (value,) = target.value([ball(low, high) for low, high in face])
        return ["0"] if value == 0 else ["="]

    def _grown_from_face(
        self, target: Objective, item: _Open, balls: list[Ball], active: tuple[int, ...], middle: Point
    ) -> bool | int | None:
        """Where f vanishes on a face, show that it grows away from it: True; else which side to split."""
        split: int | None = None
        for i in active:
            for end, name, sign in ((item.box[i][0], "lower", 1), (item.box[i][1], "upper", -1)):
                face = (*item.box[:i], (end, end), *item.box[i + 1 :])
                if not self._is_zero(target, face, i):
                    continue
                kept = self._kept(item.conditions, target.names[i], balls)
                if kept is None:
                    continue
                slope = target.slope(i, sign)
                allowed = min(_SLOPE_BOXES, self.work.left())
                outcome = self._cover(slope, item.box, kept, allowed, ask_points=False)
                if outcome.tree is not None:
                    item.place[:] = ["e", target.names[i], name, self._zero(target, face), outcome.tree]
                    return True
                if outcome.point is not None and split is None:
                    split = i
        return split

    def _split(
        self, target: Objective, item: _Open, slopes: dict[int, Ball], badness: float, first: int | None
    ) -> Outcome | _Left:
        """Halve the side that contributes most, at a short dyadic number near its middle."""
        relative = {
            i: (item.box[i][1] - item.box[i][0]) / (self.whole[i][1] - self.whole[i][0])
            for i in slopes
            if self.whole[i][0] != self.whole[i][1]
        }
        possible = [i for i in relative if relative[i] > _NARROWEST]
        if not possible:
            return Outcome(box=item.box, why="the two sides come too close to tell apart")
        if first is not None and first in possible:
            chosen = first
        elif all(s.is_finite() for s in slopes.values()):
            widths = {i: _float(item.box[i][1] - item.box[i][0]) for i in possible}
            chosen = max(possible, key=lambda i: float(slopes[i].abs_upper()) * widths[i])
        else:
            chosen = max(possible, key=relative.__getitem__)
        low, high = item.box[chosen]
        if self.integer[chosen]:
            below = fmpq(((low + high) / 2).floor())
            at, left, right = below + fmpq(1, 2), (low, below), (below + 1, high)
        else:
            at = short_between(low, high)
            left, right = (low, at), (at, high)
        places: tuple[Tree, Tree] = ([], [])
        item.place[:] = ["s", target.names[chosen], str(at), *places]
        boxes = ((*item.box[:chosen], side, *item.box[chosen + 1 :]) for side in (left, right))
        return badness, [(box, place, item.conditions) for box, place in zip(boxes, places, strict=True)]


def _float(q: Exact) -> float:
    return float(Fraction(int(q.p), int(q.q)))


def short_between(low: Exact, high: Exact) -> Exact:
    """A dyadic number within a sixteenth of the width of the middle."""
    unit = fmpq(1)
    while unit > (high - low) / 8:
        unit = unit / 2
    while unit * 2 <= (high - low) / 8:
        unit = unit * 2
    return fmpq(((low + high) / 2 / unit + fmpq(1, 2)).floor()) * unit
