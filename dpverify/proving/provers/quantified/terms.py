"""What there is to be as a number or a simple term in the letters before it, for a claim or for its negation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from dpverify.formulas.calculus import with_values
from dpverify.formulas.expressions import Apply, Expression, Number, OutOfScopeError, Variable
from dpverify.formulas.logic import And, Compare, Formula, negated
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.proof import Proof, Prover, gap_of
from dpverify.proving.provers.points import admitted, graded, simple_values, spread_out
from dpverify.proving.provers.quantified.ratios import inside, place
from dpverify.proving.provers.quantified.task import Task, values_text
from dpverify.proving.provers.search import TermsLeft, float_function, violation

_NUMBERS = tuple(map(Fraction, ("0", "1", "2", "1/2", "-1", "3", "10", "1/10", "100", "1/100")))
_COMBINATIONS = 20_000
"""How many choices of terms are looked at."""
_TRIES = 6
"""How many of them are tried."""
_SAMPLES = 60
_ROUNDING = 1e-9


def with_terms(task: Task, provers: Sequence[Prover]) -> Proof | None:
    """A proof of the claim or of its negation; `provers` with the search are for claims about numbers alone."""
    try:
        if not task.letters and not task.prefix.premises:
            return _closed(task, provers)
        numbers = all(isinstance(part, Compare) for part in task.parts) and task.constants
        if numbers and task.prefix.chosen_first and not task.problem.over:
            return _denied(task)  # numbers that would do are looked for elsewhere
        return _claimed(task) or _denied(task)
    except OutOfScopeError as error:
        task.note(str(error), gap_of(error))
        return None


def _closed(task: Task, provers: Sequence[Prover]) -> Proof | None:
    """Where there are no other letters: what there is, is a counterexample to there being none."""
    (inner,) = task.negation({})
    found = task.shown(inner, provers)
    if found.verdict is Verdict.PROVED:
        return task.refutation({}, [found], "there is none")
    if found.verdict is not Verdict.REFUTED or found.counterexample is None:
        task.note(found.reason, found.gap)
        return None
    point = found.counterexample
    return _with_terms(task, {v: Number(Fraction(point.get(v.name, "1"))) for v in task.prefix.chosen})


def _claimed(task: Task) -> Proof | None:
    """Terms with which the rest holds."""
    wanted = [(v, task.earlier(v)) for v in task.prefix.chosen]
    found = _fitting(task, wanted, task.letters, list(task.parts), list(task.conditions))
    for values in itertools.islice(found, _TRIES):
        proof = _with_terms(task, values)
        if proof is not None:
            return proof
    return None


def _with_terms(task: Task, values: Mapping[Variable, Expression]) -> Proof | None:
    """The proof with these values, if all that is left is proved."""
    said = f"with {values_text(values)}"
    inner = task.with_values(values)
    proofs = task.all_shown(inner, f"{said}: ")
    return None if proofs is None else task.claim(values, proofs, said)


def _denied(task: Task) -> Proof | None:
    """Terms with which the core is false, whatever there is."""
    before = list[Variable]()
    wanted: list[tuple[Variable, tuple[Variable, ...]]] = []
    for q in task.prefix.quantifiers:
        if q.variable in task.prefix.every:
            wanted.append((q.variable, tuple(before)))
        else:
            before.append(q.variable)
    hold = [*task.prefix.premises, negated(task.prefix.core)]
    for point in _points(task):
        numbers: dict[Variable, Expression] = {v: Number(x) for v, x in point.items()}
        here = [with_values(f, numbers) for f in hold]
        for values in itertools.islice(_fitting(task, wanted, task.prefix.chosen, here, []), 2):
            all_values = {**numbers, **values}
            inner = task.negation(all_values)
            proofs = task.all_shown(inner, wanted=(Verdict.PROVED,))
            if proofs is not None:
                said = f"false at {values_text(all_values)}" if all_values else "there is none"
                return task.refutation(all_values, proofs, said)
    return None


def _points(task: Task) -> Iterator[dict[Variable, Fraction]]:
    """Simple values of the problem's own letters at which its assumptions hold."""
    over = task.problem.over
    points = (
        dict(zip(over, values, strict=True)) for values in graded([simple_values(v, None) for v in over], 40)
    )
    held = (p for p in points if admitted(task.problem, {v.name: x for v, x in p.items()}))
    yield from itertools.islice(held, 3)


def _fitting(
    task: Task,
    wanted: Sequence[tuple[Variable, tuple[Variable, ...]]],
    letters: Sequence[Variable],
    hold: list[Formula],
    given: list[Formula],
) -> Iterator[dict[Variable, Expression]]:
    """Terms with which everything holds at all sampled points, in floats, where what is given does."""
    summands = TermsLeft()
    targets = [v for v, _ in wanted]
    names = [v.name for v in (*letters, *targets)]
    claim = violation(And(tuple(hold)), names, summands)
    premise = violation(And(tuple(given)), names, summands) if given else None
    samples = _samples(letters)
    lists = [_terms(v, before) for v, before in wanted]
    compiled = [
        [(e, float_function(e, [v.name for v in letters], summands)) for e in terms] for terms in lists
    ]
    for chosen in graded(compiled, _COMBINATIONS):
        if _fits([f for _, f in chosen], targets, samples, claim, premise):
            yield {v: e for v, (e, _) in zip(targets, chosen, strict=True)}


def _fits(
    terms: Sequence[Callable[..., float]],
    targets: Sequence[Variable],
    samples: Sequence[Sequence[float]],
    claim: Callable[[Sequence[float]], float],
    premise: Callable[[Sequence[float]], float] | None,
) -> bool:
    seen = 0
    for x in samples:
        values = [term(x) for term in terms]
        if not all(inside(v, value) for v, value in zip(targets, values, strict=True)):
            return False
        point = [*x, *values]
        try:
            if premise is not None and not premise(point) <= _ROUNDING:
                continue
            gap = claim(point)
        except OverflowError:
            continue
        if gap > _ROUNDING:
            return False
        seen += not math.isnan(gap)
    return seen > 0


def _samples(letters: Sequence[Variable]) -> list[list[float]]:
    if not letters:
        return [[]]
    simple = graded([simple_values(v, None) for v in letters], _SAMPLES)
    spread = spread_out(len(letters), _SAMPLES, 0)
    far = ([place(u, v, 3.0) for u, v in zip(point, letters, strict=True)] for point in spread)
    return [*([float(x) for x in point] for point in simple), *far]


def _terms(v: Variable, before: Sequence[Variable]) -> list[Expression]:
    """Numbers of a letter's domain, and simple terms in other letters; for integers those that are integers."""
    one = Number(Fraction(1))
    ends = (e for e in (v.lower, v.upper) if e is not None)
    out: list[Expression] = [Number(x) for x in dict.fromkeys((*ends, *_NUMBERS)) if v.contains(x)]
    if v.kind != "integer":
        for u in before:
            root = Apply("root", (u, Number(Fraction(2))))
            out += [u, u + 1, 2 * u, u / 2, u - 1, one / u, u**2, -u, one / (u + 1), root, u**2 + 1]
        for u, w in itertools.combinations(before, 2):
            larger, smaller = Apply("max", (u, w)), Apply("min", (u, w))
            out += [u + w, (u + w) / 2, u * w, u / w, w / u, larger, smaller, u - w, w - u]
        return out
    for u in before:
        if u.kind == "integer":
            out += [u, u + 1, 2 * u, u**2, u**2 + 1, u - 1, -u]
        else:
            for e in (u, one / u, u**2, one / u**2, 2 * u):
                out += [Apply("ceiling", (e,)), Apply("ceiling", (e,)) + 1]
    for u, w in itertools.combinations([u for u in before if u.kind == "integer"], 2):
        out += [u + w, u * w, u + w + 1, Apply("max", (u, w)), Apply("min", (u, w))]
    return out
