"""What a ledger says that the kernel of a proof assistant said of its rows, held against its source and the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dpverify.ledger.besides.kernels import KernelAnswer, KernelReason
from dpverify.ledger.proofs import ProofEvidence
from dpverify.proving import load
from dpverify.proving.language import Obligation
from dpverify.proving.rocq.kernel import Kernel, KernelRow, digest_of
from dpverify.proving.rocq.terms import Json
from dpverify.running import Progress
from dpverify.verification.checking.audit_check import RowCheck, RowRefusedError, Status
from dpverify.verification.kernel_rows import is_asked, kernel_answers, kernel_row


def refuse_wrong_mark(obligation: Obligation, evidence: ProofEvidence, certificate: Json) -> None:
    """Refuse a row that bears what a kernel said of another theorem than that of its source, or of none.

    Raises:
        RowRefusedError: for such a row.
    """
    mark = evidence.kernel
    if mark is None:
        return
    if not is_asked(evidence):
        raise RowRefusedError(f"the checker does not confirm it, but it says that {mark.text()}")
    row = kernel_row(obligation, evidence, certificate)
    if mark.theorem != (digest_of(row) if isinstance(row, KernelRow) else None):
        raise RowRefusedError(f"it says that {mark.text()}, but of a theorem that is not its source's")


def with_kernel(
    kernel: Kernel,
    checked: Sequence[tuple[RowCheck, tuple[Obligation, ProofEvidence] | None]],
    folder: Path,
    progress: Progress | None = None,
) -> list[RowCheck]:
    """The rows, those of proofs that the checker confirms with what the kernel says of them.

    Refused is a row that bears another answer of the same kernel, but for one that took it too long.
    """
    rows = [row for row, _ in checked]
    asked = [
        (at, (*source, load(source[1].certificate or "", folder)))
        for at, (row, source) in enumerate(checked)
        if source is not None and row.status is Status.CONFIRMED and is_asked(source[1])
    ]
    for (at, row), answer in zip(
        asked, kernel_answers(kernel, [row for _, row in asked], progress), strict=True
    ):
        rows[at] = replace(rows[at], kernel=answer)
        mark = row[1].kernel
        if (
            mark not in (None, answer)
            and mark.kernel == answer.kernel
            and _settled(mark)
            and _settled(answer)
        ):
            says = f"it says that {mark.text()}, but asked again: {answer.text()}"
            rows[at] = replace(rows[at], status=Status.REFUSED, says=says)
    return rows


def _settled(answer: KernelAnswer) -> bool:
    return answer.reason is not KernelReason.TIME
