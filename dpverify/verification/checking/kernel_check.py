"""Rows of a ledger asked of a proof assistant: statements from the second reader, scripts from certificates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Variant
from dpverify.proving import load
from dpverify.proving.language import Obligation, Statement
from dpverify.proving.rocq.kernel import Kernel, KernelRow, Reason, RocqTheorem, ask, theorem_of
from dpverify.proving.rocq.terms import Json, bound_in, letters_in
from dpverify.proving.second_reader import PrintedSource, RefusedError, read, read_letters
from dpverify.running import Progress
from dpverify.verification.catalog import answers
from dpverify.verification.catalog.proofs import prove_statements
from dpverify.verification.catalog.source_rows import obligations_of
from dpverify.verification.checking.audit_check import RowCheck, Status

ACCEPTED = "accepted"


def kernel_row(
    name: str, obligation: Obligation, written_out: bool, certificate: Mapping[str, object]
) -> KernelRow | Reason:
    """A confirmed row for the kernel; its problem is what the second reader reads of its source."""
    if obligation.source is None:
        return Reason.SOURCE
    try:
        problem = read(obligation.source)
        if written_out:
            problem = with_equations(problem, obligation.source, [v.name for v in obligation.formulas])
    except RefusedError:
        return Reason.SOURCE
    return KernelRow(name, problem, str(certificate["verdict"]), certificate["proof"])


def with_equations(problem: Json, source: PrintedSource, formulas: Collection[str] = ()) -> Json:
    """The problem, and among its assumptions what each letter that stands for a formula is equal to.

    Raises:
        RefusedError: where such a letter, or one in its formula, is bound in the problem, and where there is none for
            one of those for which the first reader has `formulas`.
    """
    said = {str(letter["variable"]["name"]): letter for letter in source["letters"]}
    free = {v["name"] for v in problem["variables"]}
    bound = set[str]().union(*map(bound_in, [problem["claim"], *problem["assuming"]]))
    bodies: dict[str, Json] = {}
    for name in sorted(free):
        if said[name]["formula"]:
            with suppress(RefusedError):  # what stands for a functional is a letter
                bodies |= read_letters(source, (name,))
    inside = set[str]().union(*map(letters_in, bodies.values()))
    if inside & bound or any(said[name]["formula"] for name in bound & {*said}):
        raise RefusedError("a letter that is bound stands for a formula, or is in one")
    if {*formulas} & free - {*bodies}:
        raise RefusedError("a letter stands for a formula that only one reader reads")
    return {
        "variables": [*problem["variables"], *(said[name]["variable"] for name in sorted(inside - free))],
        "assuming": [*problem["assuming"], *(["==", ["sym", name], body] for name, body in bodies.items())],
        "claim": problem["claim"],
    }


def with_kernel(
    kernel: Kernel,
    checked: Sequence[tuple[RowCheck, tuple[Obligation, ProofEvidence] | None]],
    folder: Path,
    progress: Progress | None = None,
) -> list[RowCheck]:
    """The rows, those of proofs that the checker confirms with what the kernel says of them."""
    rows: list[RowCheck] = []
    asked: list[tuple[int, KernelRow]] = []
    for row, source in checked:
        said = ""
        if source is not None and _is_asked(row, source[1]):
            obligation, proof = source
            assert proof.certificate is not None
            made = kernel_row(
                f"{row.statement}/{row.obligation}",
                obligation,
                proof.written_out,
                load(proof.certificate, folder),
            )
            if isinstance(made, KernelRow):
                asked.append((len(rows), made))
            else:
                said = str(made)
        rows.append(replace(row, kernel=said))
    if progress is not None:
        progress.start(len(asked))
    answers = ask(
        kernel,
        [row for _, row in asked],
        workers=2,
        advance=progress.advance if progress else lambda _: None,
    )
    for (at, _), reason in zip(asked, answers, strict=True):
        rows[at] = replace(rows[at], kernel=str(reason or ACCEPTED))
    if progress is not None:
        progress.finish()
    return rows


def theorems_of(statements: Sequence[Statement], *, workers: int) -> tuple[list[RocqTheorem], list[str]]:
    """The theorems of all that is confirmed of statements, and a line for each row without one.

    Proofs that come with the program are taken; all else is proved.
    """
    theorems, without = [], []
    of = {
        (s.id, variant, o.name): o
        for s in statements
        for variant in Variant
        for o in obligations_of(s, variant)
    }
    for record in prove_statements(list(statements), workers=workers, known=answers.known):
        row = record.evidence
        if record.certificate is None or row.units_of or not row.confirmed_by_checker:
            continue
        name = f"{row.statement}/{row.obligation} ({row.variant}, {row.verdict})"
        obligation = of[row.statement, row.variant, row.obligation]
        made = kernel_row(name, obligation, row.written_out, record.certificate)
        theorem = theorem_of(made) if isinstance(made, KernelRow) else made
        if isinstance(theorem, RocqTheorem):
            theorems.append(theorem)
        else:
            without.append(f"{name}: {theorem}")
    return theorems, without


def _is_asked(row: RowCheck, proof: ProofEvidence) -> bool:
    return row.status is Status.CONFIRMED and proof.certificate is not None and not proof.units_of
