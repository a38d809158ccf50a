"""What a ledger's row says of a formula that is false or does not follow: what follows, what kind of mistake it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpverify.analyses.mistakes import mistake_of
from dpverify.formulas.logic import Compare, free_in
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.ledger.facts import FailureMargin
from dpverify.ledger.headlines.rows import CLAIMS
from dpverify.ledger.in_print import Mistake, Provenance
from dpverify.ledger.names import paper_of
from dpverify.ledger.verdicts import BROKEN, Consequence, Coverage, Gap, Variant, Verdict
from dpverify.ledger.written_numbers import coordinates_of
from dpverify.proving.language import Obligation, Statement
from dpverify.statements.paper import papers
from dpverify.verification.catalog.source_rows import SourceRow, correction_of

if TYPE_CHECKING:
    from dpverify.ledger.realistic import RealisticPoint
    from dpverify.proving import Proof


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


def judged(proof: Proof, provenance: Provenance) -> Proof:
    """What is said of a formula by its proof: one whose text is torn may be read wrongly, and is never refuted."""
    if provenance is not Provenance.TORN or proof.verdict not in BROKEN:
        return proof
    return replace(
        proof, verdict=Verdict.UNDECIDED, certificate=None, counterexample=None, left=None, right=None, reason=TORN,
        gap=Gap.TORN, box=None, boxes=None,
    )  # fmt: skip
