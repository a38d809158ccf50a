"""The prover for inequalities with exp, log, roots and Gaussian tails: Arb balls on a bounded box."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import sympy as sp
from flint import arb, ctx, fmpq

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import OutOfScopeError, Variable, constant
from dpverify.formulas.logic import Compare, conjuncts
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, NamedProver, Proof, settled, undecided
from dpverify.proving.provers.ball_programs import Graph, NeedsValueError, Node, NotExpressibleError
from dpverify.proving.provers.branch_and_bound import (
    PRECISIONS,
    Box,
    BoxCondition,
    BranchAndBound,
    Exact,
    Objective,
    Outcome,
    Point,
    SearchWork,
    Tree,
    leaves,
)
from dpverify.proving.provers.points import refutation_at
from dpverify.proving.reasoning.algebra import replaced
from dpverify.proving.reasoning.symbolic import SymPy, symbol, symbolic

_MOST_VALUES = 200
"""Up to this many combinations of integer values are gone through one by one."""


_SHORT_SUM = 50
"""Terms of the longest sum that is written out to see whether it vanishes on a face."""
_PLAIN_BOXES = 1500
"""Boxes tried with the plain mean-value form, whose trees are the easiest to check, before the nested one."""


class BallProver(NamedProver):
    """Certifies or refutes `left <= right` and `left < right` on a box.

    The box comes from the problem (`box`) and, for variables that it leaves out, from their domains; it is
    cut to the domain. Every variable must end up bounded, otherwise the answer is `undecided`. The verdict is
    `proved` where the box is the whole domain, `certified` where it is a part of it.
    """

    name = "balls"

    def settle(self, problem: ProofProblem, budget: Budget) -> Proof | None:
        """Prove or refute; None for claims that are no inequality, or use what balls have no rule for."""
        claim = problem.claim
        if not isinstance(claim, Compare) or claim.relation not in ("<=", "<"):
            return None
        work = SearchWork(budget.boxes, budget.operations, time.process_time() + budget.guard)
        try:
            return self._found(problem, claim, work)
        except NotExpressibleError as error:
            why, gap = f"balls have no rule for {error}", Gap.UNSUPPORTED_FUNCTION
        except NeedsValueError as error:
            why, gap = f"{error}: too many values to go through", Gap.EFFORT_SPENT
        return replace(undecided(why, gap), boxes=work.used)

    def _found(self, problem: ProofProblem, claim: Compare, work: SearchWork) -> Proof:
        box = _bounded(problem)
        if isinstance(box, str):
            why = f"no bounds for {box}, neither in the domain nor in the box"
            return replace(undecided(why, Gap.UNBOUNDED_DOMAIN), boxes=work.used)
        boxed = _BoxedComparison(problem, claim, box, work)
        found = boxed.settled()
        if isinstance(found, tuple):
            return refutation_at(
                problem, {x: Fraction(str(q)) for x, q in zip(boxed.names, found, strict=True)}
            )
        if isinstance(found, str):
            gap = Gap.CONTACT_POINT if work.left() > 0 else Gap.EFFORT_SPENT
            return replace(undecided(found, gap), boxes=work.used)
        whole = all(_covers(box[v.name], v, problem) for v in problem.over)
        verdict = Verdict.PROVED if whole else Verdict.CERTIFIED
        sides = {name: (str(low), str(high)) for name, (low, high) in box.items()}
        steps = {
            "method": "boxes",
            "box": {name: list(ends) for name, ends in sides.items()},
            "precision": boxed.precision,
            "tree": found,
        }
        return settled(problem, verdict, steps, box=sides, boxes=leaves(found))


def _exact(q: Fraction) -> Exact:
    return fmpq(q.numerator, q.denominator)


def _bounded(problem: ProofProblem) -> dict[str, tuple[Exact, Exact]] | str:
    """The box to work on, or the name of a variable without bounds."""
    box = {}
    for v in problem.over:
        low, high = (None if end is None else _exact(end) for end in (v.lower, v.upper))
        if v.name in problem.box:
            first, last = map(_exact, problem.ends[v.name])
            low = first if low is None else max(low, first)
            high = last if high is None else min(high, last)
        elif low is None or high is None:
            set_low, set_high = _set_by_conditions(problem, v)
            low, high = set_low if low is None else low, set_high if high is None else high
        if low is None or high is None:
            return v.name
        if v.kind == "integer":
            low, high = fmpq(low.ceil()), fmpq(high.floor())
        if low > high:
            raise InvalidArgumentError(f"box of {v.name}", problem.box.get(v.name), v.domain_text())
        box[v.name] = (low, high)
    return box


def _set_by_conditions(problem: ProofProblem, v: Variable) -> tuple[Exact | None, Exact | None]:
    """The largest number that conditions put below a letter, and the smallest above it."""
    low = high = None
    for given in (f for a in problem.assuming for f in conjuncts(a)):
        if not isinstance(given, Compare) or given.relation not in ("<=", "<"):
            continue
        below, above = (
            None if q is None else _exact(q) for q in (constant(given.left), constant(given.right))
        )
        if given.right == v and below is not None:
            low = below if low is None else max(low, below)
        if given.left == v and above is not None:
            high = above if high is None else min(high, above)
    return low, high


def _covers(side: tuple[Exact, Exact], v: Variable, problem: ProofProblem) -> bool:
    """Whether a side of a box covers a letter's domain, where it is none of someone's own, within the conditions."""
    low, high = (None if end is None else _exact(end) for end in (v.lower, v.upper))
    if v.name not in problem.box:
        set_low, set_high = _set_by_conditions(problem, v)
        low, high = set_low if low is None else low, set_high if high is None else high
    return low is not None and high is not None and bool(side[0] <= low and side[1] >= high)


class _BoxedComparison:
    """One comparison over the box of a problem."""

    def __init__(
        self, problem: ProofProblem, claim: Compare, box: Mapping[str, tuple[Exact, Exact]], work: SearchWork
    ) -> None:
        self.problem, self.claim, self.work = problem, claim, work
        self.variables = problem.over
        self.names = tuple(v.name for v in self.variables)
        self.box: Box = tuple(box[name] for name in self.names)
        self.precision = PRECISIONS[0]

    def settled(self) -> Tree | Point | str:
        """A tree that shows it, a point where it fails, or why there is neither: for each value of integers."""
        return self._listing(list(self.box), self._listed())

    def _listed(self) -> tuple[int, ...]:
        """Integer variables that must have a value before the claim can be evaluated well."""
        integers = {v.name: i for i, v in enumerate(self.variables) if v.kind == "integer"}
        needed: set[str] = set()
        while True:
            graph = Graph()
            values = {name: graph.number(Fraction(str(self.box[integers[name]][0]))) for name in needed}
            try:
                self._compiled(graph, values)
            except NeedsValueError as error:
                if not error.names <= set(integers) - needed:
                    raise NotExpressibleError(f"a sum with the ends {error}") from None
                needed |= error.names
                continue
            break
        if self._combinations([integers[n] for n in needed]) > _MOST_VALUES:
            raise NeedsValueError(needed)
        for name in sorted(graph.exponents & set(integers)):
            if self._combinations([integers[n] for n in {*needed, name}]) <= _MOST_VALUES:
                needed.add(name)
        return tuple(sorted(integers[name] for name in needed))

    def _combinations(self, indices: Sequence[int]) -> int:
        return math.prod(int((self.box[i][1] - self.box[i][0]).p) + 1 for i in indices)

    def _compiled(self, graph: Graph, values: Mapping[str, Node]) -> tuple[Node, Node, list[BoxCondition]]:
        left, right = (graph.compile(side, values) for side in (self.claim.left, self.claim.right))
        given = self.problem.assuming
        conditions = [BoxCondition(f, graph, lambda e: graph.compile(e, values), self.names) for f in given]
        return left, right, conditions

    def _listing(self, box: list[tuple[Exact, Exact]], listed: Sequence[int]) -> Tree | Point | str:
        """The tree over the remaining values of listed integers, halved until each has one."""
        for i in listed:
            low, high = box[i]
            if low == high:
                continue
            below = fmpq(((low + high) / 2).floor())
            trees = []
            for side in ((low, below), (below + 1, high)):
                tree = self._listing([*box[:i], side, *box[i + 1 :]], listed)
                if not isinstance(tree, list):
                    return tree
                trees.append(tree)
            return ["s", self.names[i], str(below + fmpq(1, 2)), *trees]
        return self._search(tuple(box), listed)

    def _search(self, box: Box, listed: Sequence[int]) -> Tree | Point | str:
        graph = Graph()
        values = {self.names[i]: graph.number(Fraction(str(box[i][0]))) for i in listed}
        left, right, conditions = self._compiled(graph, values)

        def admissible(point: Point) -> bool:
            inside = all(v.contains(Fraction(str(q))) for v, q in zip(self.variables, point, strict=True))
            balls = [arb(q) for q in point]
            return inside and all(c.judge(balls) is True for c in conditions)

        target = Objective(
            graph,
            graph.add(right, graph.scale(-1, left)),
            self.names,
            lambda: self._expression({i: box[i][0] for i in listed}),
            strict=self.claim.relation == "<",
        )
        integer = [v.kind == "integer" for v in self.variables]
        for nested, boxes in ((False, _PLAIN_BOXES), (True, self.work.boxes)):
            search = BranchAndBound(box, integer, admissible, self.work, nested=nested)
            outcome = search.run(target, conditions, boxes)
            if outcome.tree is not None or outcome.point is not None:
                break
        if outcome.tree is not None:
            self.precision = max(self.precision, search.precision)
            return outcome.tree
        if outcome.point is not None:
            return _shortened(target, outcome.point, box, integer, admissible)
        return self._stopped(outcome)

    def _expression(self, listed: Mapping[int, Exact]) -> SymPy | None:
        """The difference in SymPy's words, with derivatives and substitutions worked out; None if it is too long."""
        try:
            return self._worked_out(symbolic(self.claim.right) - symbolic(self.claim.left), listed)
        except OutOfScopeError:
            return None

    def _worked_out(self, e: SymPy, listed: Mapping[int, Exact]) -> SymPy | None:
        e = replaced(e, {symbol(self.variables[i]): sp.Integer(int(q.p)) for i, q in listed.items()})
        while e.has(sp.Sum):
            found = next((s for s in e.atoms(sp.Sum) if not s.function.has(sp.Sum)), None)
            if found is None or len(found.limits) > 1:
                return None
            index, first, last = found.limits[0]
            if not (first.is_Integer and last.is_Integer and 0 <= last - first < _SHORT_SUM):
                return None
            places = map(sp.Integer, range(int(first), int(last) + 1))
            e = replaced(e, {found: sp.Add(*(replaced(found.function, {index: k}) for k in places))})
        return e

    def _stopped(self, outcome: Outcome) -> str:
        sides = zip(self.names, outcome.box or (), strict=False)
        shown = ", ".join(
            f"{name} = {low}" if low == high else f"{name} in [{low}, {high}]" for name, (low, high) in sides
        )
        return f"{outcome.why} after {self.work.used} boxes, at {shown}"


def _shortened(
    target: Objective, point: Point, box: Box, integer: Sequence[bool], admissible: Callable[[Point], bool]
) -> Point:
    """A point with short fractions near a counterexample that is a counterexample too."""

    def decides(candidate: Point) -> bool:
        with ctx.workprec(PRECISIONS[0]):
            (value,) = target.value([arb(q) for q in candidate])
            return target.fails(value) and admissible(candidate)

    return next(filter(decides, _candidates(point, box, integer)), point)


def _candidates(point: Point, box: Box, integer: Sequence[bool]) -> Iterator[Point]:
    for fineness in range(0, 40, 2):
        rounded = []
        for q, (low, high), whole in zip(point, box, integer, strict=True):
            reach = (high - low) / 2 ** (fineness + 1)
            rounded.append(q if whole else simplest_between(max(low, q - reach), min(high, q + reach)))
        yield tuple(rounded)


def simplest_between(low: Exact, high: Exact) -> Exact:
    """The fraction in [low, high] with the smallest denominator (and then the smallest size)."""
    if low > high:
        raise InvalidArgumentError("low", low, f"at most high ({high})")
    if low <= 0 <= high:
        return fmpq(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = fmpq(low.floor())
    if whole == low or whole + 1 <= high:
        return low if whole == low else whole + 1
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
