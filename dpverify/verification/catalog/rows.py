"""One obligation as rows of a ledger: what its source fixes, and what became of it."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from dpverify.analyses.mistakes import AddedCondition, added_conditions
from dpverify.errors import DpverifyError
from dpverify.formulas.expressions import Variable
from dpverify.formulas.functionals import is_plain
from dpverify.formulas.logic import And, Compare, Exists
from dpverify.formulas.printing import expression_text, formula_text
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.facts import LetterDomain
from dpverify.ledger.names import bare, formula_of
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import HOLDS, Gap, Variant, Verdict
from dpverify.proving.language import Obligation, Statement
from dpverify.proving.proof import STOPPED_BY_MEMORY
from dpverify.proving.reasoning.effort import below_a_ceiling
from dpverify.reports.plain_formulas import plain_formula
from dpverify.statements.provenance import prints
from dpverify.verification.catalog.curves import curve_of
from dpverify.verification.catalog.premises import premises_of_row
from dpverify.verification.catalog.source_rows import (
    SourceRow,
    correction_of,
    printed_of,
    rows_of_obligation,
)
from dpverify.verification.refutations import judged, realistic_point, refutation_texts, sides_as_printed

if TYPE_CHECKING:
    from dpverify.proving import Proof

ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class ProofRecord:
    """One entry for the ledger with the certificate it names."""

    evidence: ProofEvidence
    certificate: Json | None = None
    """None too where it is not at hand."""


def source_texts(row: SourceRow) -> dict[str, Any]:
    """What a ledger's row shows of an obligation whatever comes of it: the fields that its source alone fixes."""
    from dpverify.formulas.rendering.latex import formula_latex

    statement, variant, obligation = row.statement, row.variant, row.obligation
    claim, repair, of_numbers = obligation.claim, statement.corrected, not row.units
    decided = obligation.written_out
    letters = {v.name: v for v in (*obligation.over, *(decided.over if of_numbers else ()))}.values()
    named = (q.of for q in obligation.notation if isinstance(q.of, Variable) and not q.body)
    added = _added(row) if of_numbers else ()
    return {
        "statement": statement.id,
        "obligation": row.name,
        "where": obligation.where,
        "coverage": row.coverage,
        "variant": variant,
        "latex": obligation.latex or formula_latex(claim),
        "expression": formula_text(claim),
        "conjuncts": tuple(map(formula_text, claim.parts)) if isinstance(claim, And) else (),
        "written_in_full": isinstance(claim, Exists) and r"\exists" not in obligation.latex,
        "units_of": "" if of_numbers else obligation.name,
        "read": what_was_read(obligation),
        "scope": obligation.scope,
        "notation": tuple(quantity.line for quantity in obligation.notation),
        "uses": obligation.uses if of_numbers else (),
        "provenance": obligation.provenance,
        "prints": prints(statement.id, variant, obligation),
        "added": tuple(each.text for each in added),
        "added_latex": tuple(each.latex for each in added),
        "added_letters": dict(pair for each in added for pair in each.letters),
        "catches": obligation.catches.says if obligation.catches and of_numbers else "",
        "domain": {v.name: domain_of(v) for v in letters},
        "units": {v.name: str(v.unit) for v in letters},
        "letters": {v.name: v.latex for v in (*letters, *named) if v.latex},
        "functionals": tuple(v.name for v in decided.functionals) if of_numbers else (),
        "formulas": {v.name: expression_text(e) for v, e in decided.formulas.items()} if of_numbers else {},
        "assuming": tuple(formula_text(a) for a in obligation.assuming),
        "assuming_latex": tuple(formula_latex(a) for a in obligation.assuming),
        "says_nothing": obligation.says_nothing and of_numbers,
        "because": obligation.because or repair.because if repair and variant is Variant.CORRECTED else "",
    }


def _added(row: SourceRow) -> tuple[AddedCondition, ...]:
    """What is assumed beside what is printed: what its source speaks of elsewhere, and what a correction adds."""
    statement, obligation = row.statement, row.obligation
    told = partial(_told, statement=statement)
    added = tuple(AddedCondition.of(condition, told) for condition in obligation.meant)
    if row.variant is Variant.PRINTED:
        return added
    own = (formula_of(name) for name in obligation.uses if bare(name) == statement.id)
    steps = (correction_of(statement, name) or printed_of(statement, name) for name in own)
    shown = [step.claim for step in steps if step is not None]
    lacking = added_conditions(printed_of(statement, obligation.name), obligation, shown, told)
    return tuple(dict.fromkeys((*added, *lacking)))


def _told(letter: Variable, statement: Statement) -> str:
    """A letter as it is printed, where that is no plain letter; its meaning, where the statement does not have it."""
    if not is_plain(letter.latex):
        return plain_formula(f"${letter.latex}$")
    return "" if letter.latex in statement.latex else letter.meaning


def what_was_read(obligation: Obligation) -> str:
    """An obligation in words and plain characters, from its tree: quantifiers, conditions and definitions in front."""
    letters = [_quantified(v) for v in obligation.over]
    several = len(obligation.assuming) > 1
    conditions = [
        f"({formula_text(a)})" if several and not isinstance(a, Compare) else formula_text(a)
        for a in obligation.assuming
    ]
    parts = [f"for all {', '.join(letters)}"] if letters else []
    parts += [f"if {' and '.join(conditions)}"] if conditions else []
    defined = [
        f"{plain_formula(f'${quantity.latex}$')} = {expression_text(quantity.of)}"
        for quantity in obligation.notation
        if quantity.body
    ]
    parts += [f"with {', '.join(defined)}"] if defined else []
    claim = formula_text(obligation.claim)
    return f"{', '.join(parts)}: {claim}" if parts else claim


def _quantified(letter: Variable) -> str:
    """A letter and its domain: `integer n in [1, oo)`."""
    if letter.kind == "vector":
        return f"vector {letter.name}"
    return f"{letter.kind} {letter.name} in {letter.interval_text()}"


def domain_of(letter: Variable) -> LetterDomain:
    """A letter's domain as the ledger keeps it."""
    return LetterDomain(
        kind=letter.kind,
        lower=None if letter.lower is None else str(letter.lower),
        lower_open=letter.lower_open,
        upper=None if letter.upper is None else str(letter.upper),
        upper_open=letter.upper_open,
    )


Known = Callable[[Obligation], "Proof | None"]
"""An answer that was found before, which is taken where the checker confirms it."""


def nothing_known(_: Obligation) -> None:
    """For what is proved from nothing."""


def answered(
    statement: Statement, variant: Variant, obligation: Obligation, known: Known = nothing_known
) -> list[ProofRecord]:
    """The rows of an obligation, as the provers and the checker answer."""
    from dpverify.proving import homogeneity, prove
    from dpverify.proving.two_readers import check_agreement

    records = []
    for row in rows_of_obligation(statement, variant, obligation):
        try:
            check_agreement(obligation)
            with below_a_ceiling():
                kept = None if row.units else known(obligation)
                found = None if kept is None else _evidence(row, kept, known)
                if found is None or not found.evidence.confirmed_by_checker:
                    found = _evidence(row, (homogeneity if row.units else prove)(obligation), known)
                records.append(found)
        except DpverifyError:
            raise
        except MemoryError:
            records.append(_undecided(row, STOPPED_BY_MEMORY, Gap.MEMORY))
        except Exception as error:  # a fault in one row is no reason to lose the others
            reason = f"a fault in dpverify, not a verdict: {type(error).__name__}: {error}"
            fault = "".join(traceback.format_exception(error))
            records.append(_undecided(row, reason, Gap.FAULT, fault))
    return records


def _evidence(row: SourceRow, proof: Proof, known: Known) -> ProofRecord:
    from dpverify.proving import digest
    from dpverify.proving.checker import check

    obligation, texts = row.obligation, source_texts(row)
    proof = judged(proof, texts["provenance"])
    form = obligation.written_out if proof.written_out else obligation
    certificate, point = proof.certificate, _plain(proof.counterexample)
    confirmation = check(certificate) if certificate is not None else None
    realistic = None
    if certificate is not None and proof.verdict is Verdict.REFUTED and not row.units:
        realistic = realistic_point(form, certificate, check)
    sides = sides_as_printed(form, row.coverage, point, proof.left, proof.right)
    evidence = ProofEvidence(
        **texts,
        **refutation_texts(row, proof.verdict, sides, point, realistic),
        premises=premises_of_row(row),
        verdict=proof.verdict,
        prover=proof.prover,
        box=_plain(proof.box),
        counterexample=point,
        along=curve_of(form, certificate),
        relation=sides[0],
        left=sides[1],
        right=sides[2],
        realistic=realistic,
        certificate=digest(certificate) if certificate is not None else None,
        confirmed_by_checker=bool(confirmation and confirmation.confirmed),
        checker_says=confirmation.says if confirmation else "",
        reason=reason_of(row, proof),
        gap=proof.gap,
        boxes=proof.boxes,
        witness=_plain(proof.witness),
        written_out=proof.written_out,
        with_fault=with_fault(row, known),
        stopped_by_the_clock=proof.stopped_by_the_clock
        or bool(realistic and realistic.stopped_by_the_clock)
        or bool(confirmation and confirmation.by_the_clock),
        seconds=round(proof.seconds, 3),
    )
    return ProofRecord(evidence, certificate)


def _plain(values: Mapping[str, ValueT] | None) -> dict[str, ValueT] | None:
    return None if values is None else dict(values)


def with_fault(row: SourceRow, known: Known = nothing_known) -> Verdict | None:
    """The verdict of an instance's formula with the fault that it is there to catch; None if it names none."""
    from dpverify.proving import prove
    from dpverify.proving.checker import check

    faulty = faulty_form(row)
    if faulty is None:
        return None
    kept = known(faulty)
    return (prove(faulty) if kept is None or not check(kept.certificate).confirmed else kept).verdict


def faulty_form(row: SourceRow) -> Obligation | None:
    """An instance's formula with the fault that it is there to catch; None if it names none."""
    fault = row.obligation.catches
    return None if fault is None or row.units else replace(row.obligation, claim=fault.claim, catches=None)


def reason_of(row: SourceRow, proof: Proof) -> str:
    """What a row says beside its verdict: what of a claim that holds is only assumed, and what the provers say."""
    obligation, assumed = row.obligation, ""
    if proof.verdict in HOLDS and not row.units and obligation.assumed:
        assumed = f"of what it claims, it assumes {' and '.join(map(formula_text, obligation.assumed))}"
        if obligation.says_nothing:
            assumed = "it assumes all that it claims, so it says nothing of its own"
    return "; ".join(filter(None, (assumed, proof.reason)))


def _undecided(row: SourceRow, reason: str, gap: Gap, fault: str = "") -> ProofRecord:
    """A row that has no proof."""
    obligation = row.obligation
    evidence = ProofEvidence(
        statement=row.statement.id,
        obligation=row.name,
        where=obligation.where,
        coverage=row.coverage,
        variant=row.variant,
        latex=obligation.latex,
        expression=json.dumps(obligation.problem.json["claim"]),
        read=what_was_read(obligation),
        scope=obligation.scope,
        notation=tuple(quantity.line for quantity in obligation.notation),
        uses=() if row.units else obligation.uses,
        provenance=obligation.provenance,
        domain={v.name: domain_of(v) for v in obligation.over},
        verdict=Verdict.UNDECIDED,
        prover="none",
        reason=reason,
        gap=gap,
        fault=fault,
    )
    return ProofRecord(evidence)
