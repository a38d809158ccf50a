"""What is said of a formula that is false or does not follow.

What follows from that and what kind of mistake it is, a second counterexample at sizes met in practice, the instances
that refute a statement, and displays with two verdicts, which are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from dpverify.analyses.mistakes import mistake_of
from dpverify.errors import DpverifyError
from dpverify.formulas.logic import Compare, free_in
from dpverify.formulas.rendering.neutral import Json
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.grouping import grouped
from dpverify.ledger.besides.realistic import RealisticPoint
from dpverify.ledger.entries import InstanceEntry
from dpverify.ledger.facts import FailureMargin
from dpverify.ledger.headlines.rows import CLAIMS, FormulaRow
from dpverify.ledger.in_print import Mistake, Provenance
from dpverify.ledger.names import paper_of
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import BROKEN, HOLDS, Consequence, Coverage, Gap, Variant, Verdict
from dpverify.ledger.written_numbers import coordinates_of
from dpverify.proving.instances.instance import judge
from dpverify.proving.instances.laws import Number, ball
from dpverify.proving.language import Obligation, Statement
from dpverify.statements.paper import papers
from dpverify.verification.catalog.source_rows import SourceRow, correction_of, printed_of

if TYPE_CHECKING:
    from dpverify.proving import Proof
    from dpverify.proving.checker import Confirmation


def refutation_texts(
    row: SourceRow,
    verdict: Verdict,
    sides: tuple[str, str | None, str | None],
    point: Mapping[str, str] | None,
    realistic: RealisticPoint | None,
) -> dict[str, Any]:
    """What a ledger's row shows of what follows from a counterexample; nothing where there is none.

    `sides` are the relation and the sides as printed, `point` is the counterexample, where there is one, and
    `realistic` what was found at sizes met in practice.
    """
    statement, obligation = row.statement, row.obligation
    broken, mistake = verdict in BROKEN, None
    if broken and row.variant is Variant.PRINTED:
        mistake = mistake_of(obligation, correction_of(statement, obligation.name))
        if mistake is None and obligation.coverage is Coverage.INSTANCE and is_left_out(statement, point):
            mistake = Mistake.CONDITION
    consequence = None
    if verdict is Verdict.REFUTED:
        consequence = consequence_of(row.coverage, obligation, mistake, realistic)
        if not is_evaluated(statement, obligation):  # what refutes no statement is about its proof
            consequence = Consequence.STEP
    return {
        "consequence": consequence,
        "mistake": mistake,
        "reading": obligation.reading if broken else "",
        "excess": FailureMargin.of(*sides) if broken and not row.units else None,
    }


def is_evaluated(statement: Statement, obligation: Obligation) -> bool:
    """Whether an instance is there for a special case, if its paper keeps instances."""
    paper = papers().get(paper_of(statement.id))
    if obligation.coverage is not Coverage.INSTANCE or paper is None or paper.instances is None:
        return True
    return any(each.obligation == obligation.name for each in paper.instances.get(statement.id, ()))


CONCLUDED = (Coverage.CONCLUSION, Coverage.CONDITION)
"""What of a correction a special case is held against, one after the other."""


def is_left_out(statement: Statement, point: Mapping[str, str] | None) -> bool:
    """Whether a point is one that the corrected statement says nothing about.

    So it is where its conclusions, as corrected, or else its conditions, have letters that the point gives values to,
    and none admits it.
    """
    from dpverify.proving.reasoning.truth import truth

    if point is None or statement.corrected is None:
        return False
    values = {name: coordinates_of(value) for name, value in point.items()}
    for coverage in CONCLUDED:
        about = []
        for o in statement.corrected.obligations:
            if o.coverage is not coverage or not any(v.name in values for v in o.over):
                continue
            known = [v for v in o.over if v.name in values]
            inside = all(v.contains(values[v.name]) for v in known)
            for assumed in o.assuming:
                if all(v.name in values for v in free_in(assumed)):
                    try:
                        inside = inside and truth(assumed, values) is not False
                    except (KeyError, UndefinedError, UnclearError):
                        continue
            about.append(inside)
        if about:
            return not any(about)
    return False


_BY_MISTAKE: Mapping[Mistake | None, Consequence] = {
    Mistake.CONSTANT: Consequence.CONSTANT,
    Mistake.EXPONENT: Consequence.CLAIM,
    Mistake.RELATION: Consequence.CLAIM,
    Mistake.CONDITION: Consequence.CONDITION,
}


def consequence_of(
    coverage: Coverage, obligation: Obligation, mistake: Mistake | None, realistic: RealisticPoint | None
) -> Consequence:
    """What follows from a false formula: from how much of the statement it is, and from what is wrong with it.

    An edge case is one where a condition is missing, or where the source calls it one, and no counterexample was found
    at sizes met in practice; where no letter has such a size, only if the source says so and the mistake is no other. A
    false display of a proof is a step of the proof only, unless the source says that a constant of the statement
    changes with it. What is false in a statement itself is as grave as its mistake; where that does not say, the source
    does, and if it does not, the claim fails. What the source calls an edge case and is met in practice lacks a
    condition.
    """
    said, of = obligation.consequence, obligation.coverage
    if (
        coverage is Coverage.UNIT
    ):  # as grave as what is wrong with the formula; its notation, where nothing else is
        only_notation = mistake in (None, Mistake.CONDITION) and of in CLAIMS
        return Consequence.NOTATION if only_notation else _by_coverage(of, said, mistake)
    return Consequence.EDGE if _is_an_edge(of, said, mistake, realistic) else _by_coverage(of, said, mistake)


def _is_an_edge(
    of: Coverage, said: Consequence | None, mistake: Mistake | None, realistic: RealisticPoint | None
) -> bool:
    missing, called_so = mistake is Mistake.CONDITION, said is Consequence.EDGE
    if realistic is not None:
        return (missing or called_so) and realistic.point is None
    stated = of in (*CLAIMS, Coverage.CONDITION) and mistake in (None, Mistake.OTHER)
    return called_so and (missing or stated)


def _by_coverage(of: Coverage, said: Consequence | None, mistake: Mistake | None) -> Consequence:
    if of is Coverage.REFERENCE:
        return Consequence.NOTATION
    if of in CLAIMS:
        if said is Consequence.STEP and of is Coverage.INSTANCE:
            return said
        if said is Consequence.NOTATION and mistake not in (Mistake.CONSTANT, Mistake.EXPONENT):
            return said
        if mistake in _BY_MISTAKE:
            return _BY_MISTAKE[mistake]
        if said is Consequence.EDGE:  # one that is met in practice, and that a condition would rule out
            return Consequence.CONDITION
        return said if said in (Consequence.CONSTANT, Consequence.CONDITION) else Consequence.CLAIM
    if said is Consequence.CONSTANT or (of is Coverage.CONDITION and mistake is Mistake.CONSTANT):
        return Consequence.CONSTANT
    return Consequence.STEP


# ------------------------------------------------------------------------------------------------- what is shown


def sides_as_printed(
    obligation: Obligation,
    coverage: Coverage,
    point: Mapping[str, str] | None,
    left: str | None,
    right: str | None,
) -> tuple[str, str | None, str | None]:
    """The relation and the two sides in the order that is printed, from those that a prover shows in the tree's order.

    `point` is the counterexample, at which one comparison of several fails.
    """
    nothing = coverage is Coverage.UNIT or (left is None and right is None)
    found = None if nothing else _failing(obligation, point)
    return ("", left, right) if found is None else found.as_written(left, right)


def _failing(obligation: Obligation, named: Mapping[str, str] | None) -> Compare | None:
    from dpverify.proving.reasoning.evaluation import failing

    if isinstance(obligation.claim, Compare):
        return obligation.claim
    try:
        point = {v.name: coordinates_of((named or {})[v.name]) for v in obligation.over}
        return failing(obligation.claim, point)
    except (KeyError, ValueError, ZeroDivisionError, UndefinedError, UnclearError):
        return None


TORN = (
    "the text of the source lost a sign here, and as it was read it would be false: a reading is not refuted"
)
PARTIAL = "as it is read it would be false{}, but not all around it is read: a condition may be missing"
GUESSED = "rests on guesses; if all of them are right: {}"


def judged(proof: Proof, provenance: Provenance) -> Proof:
    """What is said of a formula by its proof: what is torn or read in part is never refuted, a guess has no verdict."""
    at = ", ".join(f"{name} = {value}" for name, value in sorted((proof.counterexample or {}).items()))
    match provenance:
        case Provenance.TORN if proof.verdict in BROKEN:
            reason, gap = TORN, Gap.TORN
        case Provenance.PARTIAL if proof.verdict in BROKEN:
            reason, gap = PARTIAL.format(f" at {at}" if at else ""), Gap.PARTIAL
        case Provenance.GUESSED:
            if proof.verdict is Verdict.UNDECIDED:
                return proof
            reason, gap = GUESSED.format(f"{proof.verdict}{f' at {at}' if at else ''}"), Gap.GUESSED
        case _:
            return proof
    return replace(
        proof, verdict=Verdict.UNDECIDED, certificate=None, counterexample=None, left=None, right=None, reason=reason,
        gap=gap, box=None, boxes=None,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ at a realistic size


Checker = Callable[[Json], "Confirmation"]


def realistic_point(obligation: Obligation, refuted: Json, checker: Checker) -> RealisticPoint | None:
    """What is found at sizes met in practice of a formula that a certificate refutes.

    None where no letter of the formula has a size in practice, or where it is refuted by other means than a point.
    """
    from dpverify.analyses.realistic import realistic

    if not _is_asked(obligation, refuted):
        return None
    late = False

    def confirms(point: Mapping[str, str]) -> bool:
        nonlocal late
        confirmation = checker(_certificate(obligation, point))
        late = late or confirmation.by_the_clock  # on another machine, it may be this point that is taken
        return confirmation.confirmed

    found = realistic(obligation, refuted["proof"]["point"], confirms)
    relation, left, right = _sides(obligation, found.point, found.left, found.right)
    excess, late = FailureMargin.of(relation, left, right), late or found.stopped_by_the_clock
    return found.but(left=left, right=right, excess=excess, stopped_by_the_clock=late)


def fault_of(
    found: RealisticPoint | None,
    obligation: Obligation,
    refuted: Json,
    checker: Checker,
    *,
    cut_short: bool = False,
) -> str:
    """What is wrong with a ledger's counterexample at a realistic size, by its source; empty if nothing is.

    The point itself is looked at, whichever search found it; that there is none is searched for again. Where a guard
    of time ended that search, here or, by `cut_short`, where the ledger was made, the two need not agree.
    """
    from dpverify.analyses.realistic import is_realistic, practical_sizes, sides_at
    from dpverify.proving.provers.points import confirmed

    if not _is_asked(obligation, refuted):
        has_one = found is not None
        return "it has a counterexample at a realistic size, and no letter has such a size" if has_one else ""
    if found is None:
        return "it does not say whether there is a counterexample at a realistic size"
    if found.point is None:
        again = realistic_point(obligation, refuted, checker)
        agree = found == again or cut_short or (again is not None and again.stopped_by_the_clock)
        return "" if agree else "what it says of realistic sizes is not what the search finds"
    if found.sizes != practical_sizes(obligation):
        return "the sizes that it says its letters have in practice are not those of its source"
    try:
        point = {v.name: coordinates_of(found.point[v.name]) for v in obligation.over}
    except (KeyError, ValueError, ZeroDivisionError):
        return "its counterexample at a realistic size is no point"
    whole = len(found.point) == len(point)
    if not (whole and confirmed(obligation.problem, point) and is_realistic(obligation, point)):
        return "its counterexample at a realistic size is none, or not of such sizes"
    relation, left, right = _sides(obligation, found.point, *sides_at(obligation, point))
    said = (found.left, found.right, found.excess, found.because)
    if said != (left, right, FailureMargin.of(relation, left, right), "") or found.tried < 1:
        return "its sides at the counterexample at a realistic size are not those of its point"
    if checker(_certificate(obligation, found.point)).confirmed != found.confirmed_by_checker:
        return "the checker does not say what it says of the counterexample at a realistic size"
    return ""


def _is_asked(obligation: Obligation, refuted: Json) -> bool:
    """Whether there is anything to look for."""
    from dpverify.analyses.realistic import asks_for_sizes

    proof = refuted["proof"]
    return proof.get("method") == "counterexample" and bool(proof.get("point")) and asks_for_sizes(obligation)


def _certificate(obligation: Obligation, point: Mapping[str, str]) -> Json:
    """The certificate that the formula is refuted by this point."""
    from dpverify.proving.certificates import certificate

    return certificate(
        obligation.problem, Verdict.REFUTED, {"method": "counterexample", "point": dict(point)}
    )


def _sides(
    obligation: Obligation, point: Mapping[str, str] | None, left: str | None, right: str | None
) -> tuple[str, str | None, str | None]:
    return sides_as_printed(obligation, obligation.coverage, point, left, right)


# ---------------------------------------------------------------------------------------------------------- instances


@cache
def instance_entries(paper: str, statement_id: str) -> tuple[InstanceEntry, ...]:
    """The instances of a statement, each evaluated and held against the formula that it is about."""
    of = papers()[paper]
    instances = (of.instances or {}).get(statement_id, ())
    if not instances:
        return ()
    statement = next(s for s in of.statements if s.id == statement_id)
    found = []
    for instance in instances:
        if (printed := printed_of(statement, instance.obligation)) is None:
            raise DpverifyError(f"There is an instance of {instance.claim}, which no sheet prints.")
        judgment = judge(instance, printed)
        evaluation = judgment.evaluation
        entry = InstanceEntry(
            obligation=instance.obligation,
            says=instance.says,
            conditions=tuple(c.says if c.holds else f"{c.says}: no" for c in evaluation.conditions),
            point={name: _text(value) for name, value in evaluation.point.items()},
            relation=judgment.relation,
            left=_interval(evaluation.left),
            right=_interval(evaluation.right),
            verdict=judgment.verdict,
            reason=judgment.reason,
            reproduce=f"dpverify explain {statement_id}",
        )
        found.append(entry)
    return tuple(found)


def _text(value: Number) -> str:
    if isinstance(value, int | Fraction):
        return str(value)
    return str(ball(value).str(12, radius=False))


def _interval(value: Number) -> Interval:
    found = ball(value)
    low, high = float(found.lower()), float(found.upper())
    return Interval(lower=math.nextafter(low, -math.inf), upper=math.nextafter(high, math.inf), rigorous=True)


def held_to_instances(
    statement: Statement, rows: Sequence[FormulaRow], entries: Sequence[InstanceEntry]
) -> tuple[FormulaRow, ...]:
    """The rows of a statement of a paper that keeps instances: what is printed is refuted by these only.

    A formula of the conclusion that an instance refutes is refuted, whatever its own verdict; without an instance, the
    conclusion does not follow where its formula is false, and a false special case is one of a step of the proof.
    """
    refuting = {entry.obligation for entry in entries if entry.verdict is Verdict.REFUTED}
    return tuple(_held(statement, row, row.name in refuting) for row in rows)


def _held(statement: Statement, row: FormulaRow, refuted: bool) -> FormulaRow:
    if row.corrected:
        return row
    if refuted:
        if row.verdict in HOLDS:
            raise DpverifyError(
                f"An instance refutes {statement.id}/{row.name}, which is {row.verdict}: one of the two is wrong."
            )
        said = row.consequence or _consequence(statement, row)
        return replace(row, verdict=Verdict.REFUTED, consequence=said)
    if row.verdict is Verdict.REFUTED and row.coverage is Coverage.CONCLUSION:
        return replace(row, verdict=Verdict.DOES_NOT_FOLLOW)
    if row.verdict is Verdict.REFUTED and row.coverage is Coverage.INSTANCE:
        return replace(row, consequence=Consequence.STEP)
    return row


def _consequence(statement: Statement, row: FormulaRow) -> Consequence | None:
    """What follows from a formula that an instance refutes, and of which no counterexample in numbers is known."""
    printed = printed_of(statement, row.name)
    if printed is None:
        return None
    mistake = mistake_of(printed, correction_of(statement, row.name))
    return consequence_of(row.coverage, printed, mistake, None)


# ----------------------------------------------------------------------------------------------------- contradictions


_Display = tuple[object, ...]


def contradictions(proofs: Iterable[ProofEvidence]) -> Iterator[tuple[ProofEvidence, str]]:
    """Each row whose display is proved elsewhere, with what is wrong with it.

    Two rows are about one display if they show the same LaTeX with the same definitions, and either are of one paper
    with the same letters and conditions, or are both printed in one statement and neither is a special case. Of the
    first kind, what is proved can neither be refuted nor not follow; of the second, which may stand under different
    conditions, it cannot be refuted. A proof on a box is none on the domain.
    """
    rows = [proof for proof in proofs if proof.coverage is not Coverage.UNIT]
    printed = [p for p in rows if p.variant is Variant.PRINTED and p.coverage is not Coverage.INSTANCE]
    seen: set[tuple[str, str, Variant]] = set()
    for some, display, broken in ((rows, _same_problem, BROKEN), (printed, _same_line, (Verdict.REFUTED,))):
        for row, why in _clashes(some, display, broken):
            key = (row.statement, row.obligation, row.variant)
            if key not in seen:
                seen.add(key)
                yield row, why


def _clashes(
    rows: Iterable[ProofEvidence], display: Callable[[ProofEvidence], _Display], broken: tuple[Verdict, ...]
) -> Iterator[tuple[ProofEvidence, str]]:
    for same in grouped((display(row), row) for row in rows).values():
        true = next((row for row in same if row.verdict in HOLDS and not row.box), None)
        for row in same:
            if true is not None and row.verdict in broken:
                other = f"{true.statement}/{true.obligation} ({true.variant})"
                yield row, f"it is {row.verdict}, and {other}, the same display, is {true.verdict}"


def _same_problem(row: ProofEvidence) -> _Display:
    letters = tuple(sorted(row.domain.items()))
    paper = paper_of(row.statement)
    return paper, row.latex, row.expression, letters, frozenset(row.assuming), row.notation


def _same_line(row: ProofEvidence) -> _Display:
    return row.statement, row.latex, row.expression, row.notation
