"""The order in which provers try: what is cheap and what refutes first, the bounded and weaker later."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import OutOfScopeError
from dpverify.formulas.logic import And, Formula, has_exists
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.ledger.written_numbers import coordinates_of
from dpverify.proving.language import Obligation
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import (
    STOPPED_BY_MEMORY,
    STOPPED_BY_THE_CLOCK,
    Budget,
    Proof,
    Prover,
    gap_of,
    most_telling,
    together,
    undecided,
)
from dpverify.proving.provers.balls import BallProver
from dpverify.proving.provers.chains import Chains
from dpverify.proving.provers.crossings import Crossings
from dpverify.proving.provers.exact import Exact
from dpverify.proving.provers.gram import Gram
from dpverify.proving.provers.parts.binomials import BinomialSums
from dpverify.proving.provers.parts.induction import Induction
from dpverify.proving.provers.parts.lemmas import Lemmas, Substitution
from dpverify.proving.provers.parts.quantiles import Quantiles
from dpverify.proving.provers.points import admitted, confirmed, refutation
from dpverify.proving.provers.quantified.prover import Quantifiers
from dpverify.proving.provers.real_arithmetic import FunctionFacts, RealArithmetic
from dpverify.proving.provers.search import Search
from dpverify.proving.provers.units import units_agree
from dpverify.proving.provers.witnesses import NONE_FOUND, Witness, witness
from dpverify.proving.reasoning.algebra import short_questions
from dpverify.proving.reasoning.effort import EffortSpentError, GuardError, guarded, limited
from dpverify.proving.reasoning.evaluation import ExactPoint
from dpverify.proving.writing_out import carried_over

_T = TypeVar("_T")

BY_ARITHMETIC = {"identity", "signs", "smt", "facts"}
"""Methods whose proofs a solver for real arithmetic can be asked for as one."""


LAST = (Chains, Induction, Quantiles, Lemmas, BinomialSums)
"""Those that come after boxes where these may cover the whole domain."""


def default_provers() -> tuple[Prover, ...]:
    """What is for vectors alone; simple points, exact proofs, z3, facts about functions, derivatives, boxes.

    Last the thorough search, thorough chains, letters for quantiles, lemmas and cases, induction, and crossings.
    """
    arithmetic = (Exact(), RealArithmetic(), FunctionFacts())
    thorough = (Chains(thorough=True), Chains(lead="slopes"), Chains(lead="arches"))
    proofs = (*arithmetic, Chains(), *thorough)
    lemmas = Lemmas(_answer, proofs)
    first = (Gram(), Search(), *arithmetic, Chains(), BallProver(), Search(thorough=True))
    parts = (kind(_answer, (*proofs, lemmas)) for kind in (BinomialSums, Induction))
    return (*first, *thorough, Quantiles(_answer, proofs), lemmas, *parts, Crossings())


def prove(
    obligation: Obligation, *, budget: Budget | None = None, provers: Sequence[Prover] | None = None
) -> Proof:
    """Prove or refute an obligation with the first prover that can.

    Nothing is proved without a witness, a confirmed point of domain, box and assumptions; without one the verdict is
    `undecided`, and where the assumptions are shown to contradict one another, the reason says that.
    The parts of a conjunction may be settled by different provers; its verdict is then the weakest of theirs,
    and one refuted part refutes it. `undecided` carries every prover's reason. `budget` is for each prover
    anew (default: `Budget()`).
    Letters that stand for formulas are replaced by these unless it is proved without; where letters are left that may
    stand for functionals (`dpverify.formulas.functionals`), a refutation says that it `does not follow`.

    Examples:
        >>> from dpverify.formulas.expressions import real
        >>> from dpverify.formulas.logic import Le
        >>> from dpverify.proving import prove
        >>> from dpverify.proving.language import Obligation
        >>> x = real("x", ge=0)
        >>> right = prove(Obligation("square", "page 1", Le(2 * x, 1 + x**2), (x,)))
        >>> wrong = prove(Obligation("cube", "page 1", Le(2 * x, 1 + x**3), (x,)))
        >>> print(right.verdict, wrong.verdict)
        proved refuted
        >>> print(wrong.counterexample, wrong.left, wrong.right)
        {'x': '2/3'} 4/3 35/27
    """
    _check_obligation(obligation)
    limits = Budget() if budget is None else budget
    chosen = default_provers() if provers is None else tuple(provers)
    proof = _answer(obligation.problem, limits, chosen)
    form = obligation.written_out
    if form is not obligation:
        if proof.verdict is not Verdict.PROVED:
            proof = _of_both(form, proof, _answer(form.problem, limits, chosen))
        if proof.verdict in (Verdict.PROVED, Verdict.CERTIFIED) and not proof.written_out:
            proof = _of_values_there_are(form, proof, limits)
    about = form if proof.written_out else obligation
    if proof.verdict is Verdict.REFUTED and about.functionals:
        return replace(proof, verdict=Verdict.DOES_NOT_FOLLOW)
    return proof


def _of_both(form: Obligation, as_read: Proof, written_out: Proof) -> Proof:
    """What may be said where letters for formulas stood for anything, and then for these formulas."""
    if written_out.verdict is Verdict.UNDECIDED and as_read.counterexample is not None:
        near = next((p for p in _near(form, as_read.counterexample) if confirmed(form.problem, p)), None)
        if near is not None:
            found = refutation(form.problem, near)
            written_out = replace(found, prover=as_read.prover, witness=found.counterexample)
    if as_read.verdict is Verdict.CERTIFIED and written_out.verdict is not Verdict.PROVED:
        found = as_read
    else:
        reason = written_out.reason
        if written_out.verdict is Verdict.UNDECIDED and reason:
            reason = f"with its definitions written out: {reason}"
        found = replace(written_out, reason=reason, written_out=True)
    cut_short = as_read.stopped_by_the_clock or written_out.stopped_by_the_clock
    return replace(found, seconds=as_read.seconds + written_out.seconds, stopped_by_the_clock=cut_short)


def _of_values_there_are(form: Obligation, proof: Proof, budget: Budget) -> Proof:
    """The proof for all values of letters, which says so where no values that their formulas have meet the assumptions.

    Equations between logarithms are met at no point of rational numbers, so that not to find one decides nothing.
    """
    found = witness_of(form.problem, budget)
    if found.point is not None:
        return proof
    near = () if found.impossible or proof.witness is None else _near(form, proof.witness)
    if any(admitted(form.problem, point) for point in near):
        return proof
    remark = f"with its definitions written out: {found.why}"
    if found.impossible:
        return replace(undecided(remark, Gap.CONTRADICTORY_ASSUMPTIONS), seconds=proof.seconds)
    return replace(proof, reason="; ".join(filter(None, (proof.reason, remark))))


def _near(form: Obligation, named: Mapping[str, str]) -> Iterator[ExactPoint]:
    """Points of a written-out form near a point at which letters that stand for formulas were given values."""
    return carried_over(form.over, form.formulas, {x: coordinates_of(value) for x, value in named.items()})


def _answer(problem: ProofProblem, limits: Budget, chosen: tuple[Prover, ...]) -> Proof:
    """Prove or refute a problem as if every letter could have all values of its domain."""
    start = time.monotonic()
    if problem.has_vectors:
        # others know nothing of vectors, and would only say so
        chosen = tuple(p for p in chosen if isinstance(p, Gram)) or chosen
    elif has_exists(problem.claim):
        chosen = (Quantifiers(_answer, chosen),)
    elif all(v.lower is not None and v.upper is not None for v in problem.over):
        # boxes may cover the whole domain, and are quick where the sides do not meet
        chosen = tuple(sorted(chosen, key=lambda p: isinstance(p, LAST)))
    with limited(sys.maxsize) as meter:  # each attempt has limits of its own
        found = witness_of(problem, limits)
        if found.impossible:
            proof = undecided(found.why, Gap.CONTRADICTORY_ASSUMPTIONS)
        elif found.point is None:
            # what is assumed may hold, but at no fractions
            proof = _settled(problem, limits, (Substitution(_answer, chosen), *chosen))
        else:
            proof = _settled(problem, limits, chosen)
    proof = _witnessed(proof, found)
    if meter.stopped_by_the_clock:
        proof = _cut_short(proof)
    return replace(proof, counterexample=_shown(problem, proof), seconds=time.monotonic() - start)


def _cut_short(proof: Proof) -> Proof:
    """The proof, saying that it might be another one on another machine."""
    said = () if proof.gap is Gap.CLOCK else (STOPPED_BY_THE_CLOCK,)
    reason = "; ".join(filter(None, (proof.reason, *said)))
    gap = Gap.CLOCK if proof.verdict is Verdict.UNDECIDED else None
    return replace(proof, reason=reason, gap=gap, stopped_by_the_clock=True)


def witness_of(problem: ProofProblem, budget: Budget) -> Witness:
    """A point at which a problem says anything, or why there is none; what goes beyond limits finds none."""
    return within_limits(
        lambda: witness(problem, budget), budget, lambda why, _: Witness(None, f"{NONE_FOUND} ({why})")
    )


def _witnessed(proof: Proof, found: Witness) -> Proof:
    """The proof with its witness; undecided where only a witness is missing."""
    if proof.verdict in (Verdict.PROVED, Verdict.CERTIFIED):
        if found.point is None and proof.prover == Substitution.name:
            return proof  # what is left of the problem has one
        if found.point is None:
            return undecided(found.why, Gap.NO_WITNESS)
        with_witness = {**(proof.certificate or {}), "witness": found.point}
        return replace(proof, witness=found.point, certificate=with_witness)
    if proof.verdict is Verdict.REFUTED and proof.counterexample is None:
        return replace(proof, witness=None)  # its certificate has no place for one, and needs none
    # a counterexample meets the assumptions, too
    return replace(proof, witness=found.point or proof.counterexample)


def homogeneity(obligation: Obligation) -> Proof:
    """Whether every sum and comparison of claim and assumptions is homogeneous in loss and length."""
    _check_obligation(obligation)
    start = time.monotonic()
    return replace(units_agree(obligation.problem), seconds=time.monotonic() - start)


def _check_obligation(obligation: object) -> None:
    require(isinstance(obligation, Obligation), "obligation", obligation, "an Obligation")


def _shown(problem: ProofProblem, proof: Proof) -> dict[str, str] | None:
    """The counterexample without the variables that the formulas bind or do not use at all."""
    if proof.counterexample is None:
        return None
    names = {v.name for v in problem.free}
    return {name: value for name, value in proof.counterexample.items() if name in names}


def _settled(problem: ProofProblem, budget: Budget, provers: tuple[Prover, ...]) -> Proof:
    if isinstance(problem.claim, And) and problem.claim.parts:
        return _conjunction(problem, problem.claim.parts, budget, provers)
    reasons: list[str] = []
    gaps: list[Gap | None] = []
    for prover in provers:
        proof = attempted(prover, problem, budget)
        if proof is None:
            continue
        if proof.verdict is not Verdict.UNDECIDED:
            return proof
        reasons.append(f"{prover.name}: {proof.reason}")
        gaps.append(proof.gap)
    return undecided("; ".join(dict.fromkeys(reasons)), most_telling(gaps))


def attempted(prover: Prover, problem: ProofProblem, budget: Budget) -> Proof | None:
    """One attempt with limited steps; what goes beyond them, or too deep, is no answer."""
    return within_limits(lambda: prover.attempt(problem, budget), budget, undecided)


def within_limits(work: Callable[[], _T], budget: Budget, stopped: Callable[[str, Gap], _T]) -> _T:
    """What work finds within limits, or what is said where it was stopped; other errors go on their way."""
    try:
        with limited(budget.steps), guarded(budget.guard), short_questions():
            return work()
    except GuardError:
        return stopped(STOPPED_BY_THE_CLOCK, Gap.CLOCK)
    except MemoryError:
        return stopped(STOPPED_BY_MEMORY, Gap.MEMORY)
    except OutOfScopeError as error:
        return stopped(str(error), gap_of(error))
    except EffortSpentError as error:
        return stopped(str(error), Gap.EFFORT_SPENT)
    except InvalidArgumentError as error:
        # the problem was well formed, so this is about what came out of it: a complex antiderivative, say
        return stopped(f"what it leads to is no formula: {error}", Gap.NO_METHOD)
    except RecursionError:
        return stopped("the formula is too deep", Gap.EFFORT_SPENT)
    except ALGEBRA_FAILS as error:
        return stopped(failed(error), Gap.UNSUPPORTED_FUNCTION)


ALGEBRA_FAILS = (
    ArithmeticError, AssertionError, AttributeError, NotImplementedError, TypeError, ValueError,
)  # fmt: skip
"""What SymPy raises where it cannot work on an expression: Max of what turns out to be complex, say."""


def failed(error: Exception) -> str:
    """Why an attempt gives up, where SymPy raised the error; any other error is a fault, and goes on its way."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or not place.tb_frame.f_globals.get("__name__", "").startswith(("sympy.", "mpmath.")):
        raise error
    return f"SymPy cannot work on it: {error}"


def _joined(parts: list[Json]) -> Json:
    """One proof of several, by the facts of all of them where real arithmetic needs nothing else."""
    if any(p["method"] == "facts" for p in parts) and {p["method"] for p in parts} <= BY_ARITHMETIC:
        return {"method": "facts", "facts": [f for p in parts for f in p.get("facts", [])]}
    return {"method": "conjunction", "parts": parts}


def _conjunction(
    problem: ProofProblem, parts: tuple[Formula, ...], budget: Budget, provers: tuple[Prover, ...]
) -> Proof:
    proofs: list[Proof] = []
    for part in parts:
        proof = _settled(problem.claiming(part), budget, provers)
        if proof.verdict is Verdict.REFUTED and proof.counterexample is not None:
            point = {v.name: coordinates_of(proof.counterexample[v.name]) for v in problem.over}
            if confirmed(problem, point):
                return replace(refutation(problem, point), prover=proof.prover)
        proofs.append(proof)
    settled = (Verdict.PROVED, Verdict.CERTIFIED)
    missing = [(i, p) for i, p in enumerate(proofs, 1) if p.verdict not in settled]
    if missing:
        without_point = "refuted, but not at a point that can be evaluated"
        reason = "; ".join(f"part {i} of {len(parts)}: {p.reason or without_point}" for i, p in missing)
        return undecided(reason, most_telling(p.gap for _, p in missing))
    # none is missing, so every part has its certificate
    steps = _joined([(p.certificate or {})["proof"] for p in proofs])
    return together(problem, proofs, steps, prover=" + ".join(dict.fromkeys(p.prover for p in proofs)))
