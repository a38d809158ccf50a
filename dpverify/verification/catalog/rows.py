"""One obligation as rows of a ledger: what its source fixes, and what became of it."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dpverify.analyses.mistakes import added_conditions, with_letters
from dpverify.errors import DpverifyError
from dpverify.formulas.expressions import Variable
from dpverify.formulas.functionals import is_plain
from dpverify.formulas.logic import And, Compare, Exists
from dpverify.formulas.printing import expression_text, formula_text
from dpverify.ledger.facts import LetterDomain
from dpverify.ledger.headlines.rows import HOLDS
from dpverify.ledger.names import bare, formula_of
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Coverage, Gap, Variant, Verdict
from dpverify.proving.language import Json, Obligation, Statement, obligation_to_json
from dpverify.proving.proof import STOPPED_BY_MEMORY
from dpverify.proving.reasoning.effort import below_a_ceiling
from dpverify.proving.writing_out import decided_form
from dpverify.reports.plain_formulas import plain_formula
from dpverify.statements.provenance import prints
from dpverify.verification.refutations.consequences import (
    correction_of,
    judged,
    printed_of,
    refutation_texts,
    sides_as_printed,
)
from dpverify.verification.refutations.realistic_points import realistic_point

if TYPE_CHECKING:
    from dpverify.proving import Proof


@dataclass(frozen=True)
class ProofRecord:
    """One entry for the ledger with the certificate it names."""

    evidence: ProofEvidence
    certificate: Json | None


def without_certificates(evidence: ProofEvidence) -> ProofRecord:
    """Evidence as a record, where the certificate itself is not at hand."""
    return ProofRecord(evidence, None)


def obligations_of(statement: Statement, variant: Variant) -> Sequence[Obligation]:
    """What is printed, or what corrects it."""
    if variant is Variant.PRINTED:
        return statement.printed
    return statement.corrected.obligations if statement.corrected else ()


def rows_of(statement: Statement) -> Iterator[tuple[Variant, Obligation, Coverage, str]]:
    """The rows that a statement has in a ledger: variant, obligation, coverage and name of each."""
    for variant in Variant:
        for obligation in obligations_of(statement, variant):
            yield variant, obligation, obligation.coverage, obligation.name
            if obligation.compares_units:
                yield variant, obligation, Coverage.UNIT, f"{obligation.name}: units"


def source_texts(
    statement: Statement, variant: Variant, obligation: Obligation, coverage: Coverage, name: str
) -> dict[str, Any]:
    """What a ledger's row shows of an obligation whatever comes of it: the fields that its source alone fixes."""
    from dpverify.formulas.rendering.latex import formula_latex

    repair, of_numbers = statement.corrected, coverage is not Coverage.UNIT
    decided = decided_form(obligation, written_out=True)
    told = partial(_told, statement=statement)
    added = tuple(with_letters(condition, told) for condition in obligation.meant) if of_numbers else ()
    letters = {v.name: v for v in (*obligation.over, *(decided.over if of_numbers else ()))}.values()
    if variant is Variant.CORRECTED and of_numbers:
        own = (formula_of(name) for name in obligation.uses if bare(name) == statement.id)
        steps = (correction_of(statement, name) or printed_of(statement, name) for name in own)
        shown = [step.claim for step in steps if step is not None]
        lacking = added_conditions(printed_of(statement, obligation.name), obligation, shown, told)
        added = tuple(dict.fromkeys((*added, *lacking)))
    return {
        "statement": statement.id,
        "obligation": name,
        "where": obligation.where,
        "coverage": coverage,
        "variant": variant,
        "latex": obligation.latex or formula_latex(obligation.claim),
        **_in_plain_text(obligation),
        "units_of": "" if of_numbers else obligation.name,
        "read": what_was_read(obligation),
        "scope": obligation.scope,
        "notation": tuple(quantity.line for quantity in obligation.notation),
        "uses": () if coverage is Coverage.UNIT else obligation.uses,
        "provenance": obligation.provenance,
        "prints": prints(statement.id, variant, obligation),
        "added": added,
        "catches": obligation.catches.says if obligation.catches and coverage is not Coverage.UNIT else "",
        "domain": {v.name: domain_of(v) for v in letters},
        "units": {v.name: str(v.unit) for v in letters},
        "functionals": tuple(v.name for v in decided.functionals) if of_numbers else (),
        "formulas": {v.name: expression_text(e) for v, e in decided.formulas.items()} if of_numbers else {},
        "assuming": tuple(formula_text(a) for a in obligation.assuming),
        "says_nothing": obligation.says_nothing and of_numbers,
        "because": obligation.because or repair.because if repair and variant is Variant.CORRECTED else "",
    }


def _in_plain_text(obligation: Obligation) -> dict[str, Any]:
    claim = obligation.claim
    return {
        "expression": formula_text(claim),
        "conjuncts": tuple(map(formula_text, claim.parts)) if isinstance(claim, And) else (),
        "written_in_full": isinstance(claim, Exists) and r"\exists" not in obligation.latex,
    }


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


def answered(statement: Statement, variant: Variant, obligation: Obligation) -> list[ProofRecord]:
    from dpverify.proving import homogeneity, prove
    from dpverify.proving.two_readers import check_agreement

    questions: list[tuple[Callable[[Obligation], Proof], Coverage, str]] = [
        (prove, obligation.coverage, obligation.name)
    ]
    if obligation.compares_units:
        questions.append((homogeneity, Coverage.UNIT, f"{obligation.name}: units"))
    records = []
    for answer, coverage, name in questions:
        try:
            check_agreement(obligation)
            with below_a_ceiling():
                records.append(_evidence(statement, variant, obligation, answer(obligation), coverage, name))
        except DpverifyError:
            raise
        except MemoryError:
            records.append(
                _undecided(statement, variant, obligation, STOPPED_BY_MEMORY, Gap.MEMORY, coverage, name)
            )
        except Exception as error:  # a fault in one row is no reason to lose the others
            records.append(_faulty(statement, variant, obligation, error, coverage, name))
    return records


def _evidence(
    statement: Statement,
    variant: Variant,
    obligation: Obligation,
    proof: Proof,
    coverage: Coverage,
    name: str,
) -> ProofRecord:
    from dpverify.proving import digest
    from dpverify.proving.checker import check

    texts = source_texts(statement, variant, obligation, coverage, name)
    proof, form = judged(proof, texts["provenance"]), decided_form(obligation, proof.written_out)
    certificate = proof.certificate
    confirmation = check(certificate) if certificate is not None else None
    realistic = None
    if certificate is not None and proof.verdict is Verdict.REFUTED and coverage is not Coverage.UNIT:
        realistic = realistic_point(form, certificate, check)
    sides = sides_as_printed(form, coverage, proof.counterexample, proof.left, proof.right)
    evidence = ProofEvidence(
        **texts,
        **refutation_texts(
            statement, variant, obligation, coverage, proof.verdict, sides, proof.counterexample, realistic
        ),
        verdict=proof.verdict,
        prover=proof.prover,
        box=dict(proof.box) if proof.box is not None else None,
        counterexample=dict(proof.counterexample) if proof.counterexample is not None else None,
        relation=sides[0],
        left=sides[1],
        right=sides[2],
        realistic=realistic,
        certificate=digest(certificate) if certificate is not None else None,
        confirmed_by_checker=bool(confirmation and confirmation.confirmed),
        checker_says=confirmation.says if confirmation else "",
        reason=reason_of(obligation, coverage, proof),
        gap=proof.gap,
        boxes=proof.boxes,
        witness=dict(proof.witness) if proof.witness is not None else None,
        written_out=proof.written_out,
        with_fault=with_fault(obligation, coverage),
        stopped_by_the_clock=proof.stopped_by_the_clock
        or bool(realistic and realistic.stopped_by_the_clock)
        or bool(confirmation and confirmation.by_the_clock),
        seconds=round(proof.seconds, 3),
    )
    return ProofRecord(evidence, certificate)


def with_fault(obligation: Obligation, coverage: Coverage) -> Verdict | None:
    """The verdict of an instance's formula with the fault that it is there to catch; None if it names none."""
    from dpverify.proving import prove

    fault = obligation.catches
    if fault is None or coverage is Coverage.UNIT:
        return None
    return prove(replace(obligation, claim=fault.claim, catches=None)).verdict


def reason_of(obligation: Obligation, coverage: Coverage, proof: Proof) -> str:
    """What a row says beside its verdict: what of the claim is assumed, and what the provers say."""
    return "; ".join(filter(None, (_assumed(obligation, coverage, proof.verdict), proof.reason)))


def _assumed(obligation: Obligation, coverage: Coverage, verdict: Verdict) -> str:
    """What of a claim that holds is no more than an assumption, in words."""
    if verdict not in HOLDS or coverage is Coverage.UNIT or not obligation.assumed:
        return ""
    if obligation.says_nothing:
        return "it assumes all that it claims, so it says nothing of its own"
    return f"of what it claims, it assumes {' and '.join(map(formula_text, obligation.assumed))}"


def _faulty(
    statement: Statement,
    variant: Variant,
    obligation: Obligation,
    error: Exception,
    coverage: Coverage,
    name: str,
) -> ProofRecord:
    """A row whose proof ended in a fault of dpverify's own."""
    fault = "".join(traceback.format_exception(error))
    reason = f"a fault in dpverify, not a verdict: {type(error).__name__}: {error}"
    return _undecided(statement, variant, obligation, reason, Gap.FAULT, coverage, name, fault)


def _undecided(
    statement: Statement,
    variant: Variant,
    obligation: Obligation,
    reason: str,
    gap: Gap,
    coverage: Coverage,
    name: str,
    fault: str = "",
) -> ProofRecord:
    """A row that has no proof."""
    evidence = ProofEvidence(
        statement=statement.id,
        obligation=name,
        where=obligation.where,
        coverage=coverage,
        variant=variant,
        latex=obligation.latex,
        expression=json.dumps(obligation_to_json(obligation)["claim"]),
        read=what_was_read(obligation),
        scope=obligation.scope,
        notation=tuple(quantity.line for quantity in obligation.notation),
        uses=() if coverage is Coverage.UNIT else obligation.uses,
        provenance=obligation.provenance,
        domain={v.name: domain_of(v) for v in obligation.over},
        verdict=Verdict.UNDECIDED,
        prover="none",
        reason=reason,
        gap=gap,
        fault=fault,
    )
    return ProofRecord(evidence, None)
