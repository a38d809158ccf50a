"""Rows asked of a proof assistant: statements from the second reader, scripts from certificates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from dpverify.ledger.besides.kernels import KernelAnswer, KernelReason
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Variant
from dpverify.proving.language import Obligation, Statement
from dpverify.proving.rocq.kernel import Kernel, KernelRow, RocqTheorem, ask, digest_of, theorem_of
from dpverify.proving.rocq.terms import Json, bound_in, letters_in, name_of
from dpverify.proving.second_reader import PrintedSource, RefusedError, read, read_letters
from dpverify.running import Progress
from dpverify.verification.catalog import answers
from dpverify.verification.catalog.proofs import prove_statements
from dpverify.verification.catalog.rows import ProofRecord
from dpverify.verification.catalog.source_rows import obligations_of


def kernel_row(
    obligation: Obligation, evidence: ProofEvidence, certificate: Mapping[str, object]
) -> KernelRow | KernelReason:
    """A confirmed row for the kernel; its problem is what the second reader reads of its source."""
    if obligation.source is None:
        return KernelReason.SOURCE
    try:
        problem = read(obligation.source)
        if evidence.written_out:
            problem = with_equations(problem, obligation.source, [v.name for v in obligation.formulas])
    except RefusedError:
        return KernelReason.SOURCE
    name = f"{evidence.statement}/{evidence.obligation} ({evidence.variant}, {evidence.verdict})"
    about = [evidence.latex, *(f"if {latex}" for latex in evidence.assuming_latex)]
    about += [f"where {line}" for line in evidence.definitions]
    named = {name: name_of(name) for name in evidence.letters}
    about += [
        f"{named[n]} is {latex}" for n, latex in evidence.letters.items() if latex not in (named[n], f"\\{n}")
    ]
    return KernelRow(name, problem, str(certificate["verdict"]), certificate["proof"], tuple(about))


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


def is_asked(evidence: ProofEvidence) -> bool:
    """Whether a row is one for the kernel: a formula's, which the checker confirms."""
    return evidence.confirmed_by_checker and evidence.certificate is not None and not evidence.units_of


def kernel_answers(
    kernel: Kernel,
    rows: Sequence[tuple[Obligation, ProofEvidence, Json]],
    progress: Progress | None = None,
) -> list[KernelAnswer]:
    """What a kernel says of rows, each with its certificate."""
    made = [kernel_row(*row) for row in rows]
    asked = [row for row in made if isinstance(row, KernelRow)]
    if progress is not None:
        progress.start(len(asked))
    said = iter(ask(kernel, asked, advance=progress.advance if progress else lambda _: None))
    if progress is not None:
        progress.finish()
    found = []
    for row in made:
        reason, theorem = (next(said), digest_of(row)) if isinstance(row, KernelRow) else (row, None)
        word = "refused" if reason else "accepted"
        found.append(KernelAnswer(kernel=kernel.name, said=word, reason=reason, theorem=theorem))
    return found


def with_marks(
    kernel: Kernel,
    statements: Sequence[Statement],
    records: Sequence[ProofRecord],
    progress: Progress | None = None,
) -> list[ProofRecord]:
    """The records, those that the checker confirms with what the kernel says of them."""
    of = _obligations(statements)
    at = [
        k for k, record in enumerate(records) if record.certificate is not None and is_asked(record.evidence)
    ]
    rows = [(of[_key(records[k].evidence)], records[k].evidence, records[k].certificate) for k in at]
    marked = list(records)
    for k, answer in zip(at, kernel_answers(kernel, rows, progress), strict=True):
        marked[k] = replace(records[k], evidence=records[k].evidence.but(kernel=answer))
    return marked


def theorems_of(statements: Sequence[Statement], *, workers: int) -> tuple[list[RocqTheorem], list[str]]:
    """The theorems of all that is confirmed of statements, and a line for each row without one.

    Proofs that come with the program are taken; all else is proved.
    """
    theorems, without = [], []
    of = _obligations(statements)
    for record in prove_statements(list(statements), workers=workers, known=answers.known):
        row = record.evidence
        if record.certificate is None or not is_asked(row):
            continue
        made = kernel_row(of[_key(row)], row, record.certificate)
        theorem = theorem_of(made) if isinstance(made, KernelRow) else made
        if isinstance(theorem, RocqTheorem):
            theorems.append(theorem)
        else:
            without.append(f"{row.statement}/{row.obligation} ({row.variant}, {row.verdict}): {theorem}")
    return theorems, without


Key = tuple[str, Variant, str]


def _key(row: ProofEvidence) -> Key:
    return row.statement, row.variant, row.obligation


def _obligations(statements: Sequence[Statement]) -> dict[Key, Obligation]:
    return {
        (s.id, variant, o.name): o
        for s in statements
        for variant in Variant
        for o in obligations_of(s, variant)
    }
