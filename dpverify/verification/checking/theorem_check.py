"""The theorems of a ledger held against their pages and certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpverify.errors import InvalidDataError
from dpverify.formulas.rendering.neutral import Json
from dpverify.grouping import grouped
from dpverify.ledger.theorems import TheoremEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.certificates import load
from dpverify.proving.checker import Confirmation
from dpverify.statements.theorems.library import library_before
from dpverify.statements.theorems.pages import TheoremOnPage
from dpverify.verification.catalog.proofs import FEW, as_they_end
from dpverify.verification.checking.audit_check import RowCheck, RowRefusedError, Status, compare
from dpverify.verification.theorems import (
    Known,
    TheoremFound,
    chosen_theorems,
    find_theorem,
    find_theorems,
    foreign,
    is_shown,
    row_of,
)

if TYPE_CHECKING:
    from dpverify.running import Progress

Checker = Callable[[Json], Confirmation]


def theorem_checks(
    rows: Sequence[TheoremEvidence],
    names: Sequence[str],
    folder: Path,
    only: Sequence[str],
    checker: Checker,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> Iterator[RowCheck]:
    """Each theorem that the ledger's command line asks for, and each one too many; with `only`, these alone.

    A row that is derived must have a certificate of the theorem on the page, which the checker confirms; one that is
    not derived is derived again. From that, all that the row says follows anew. Certificates are checked side by side
    in `workers` processes.
    """
    of = grouped((row.id, row) for row in rows)
    asked = {id_ for id_ in only if id_ in of}
    if (only and not asked) or not (rows or names):
        return
    chosen, known = chosen_theorems(names)
    expected = {one.id: (page, one) for page, one in chosen}
    found, wrong = dict[str, TheoremFound](), dict[str, str]()
    left = sorted(asked) if only else [*expected]
    tried, told = dict[str, None](), set[str]()
    while new := [id_ for id_ in dict.fromkeys(left) if id_ not in tried and id_ in expected]:
        tried.update(dict.fromkeys(new))
        tasks, left = list[_CertificateTask](), []
        for id_ in new:
            try:
                tasks += [
                    _CertificateTask.of(row, expected[id_][1], known, folder, checker)
                    for row in of.get(id_, [])[:1]
                ]
            except (RowRefusedError, InvalidDataError) as refusal:
                wrong[id_] = str(refusal)
        for task, seen in as_they_end(_seen, tasks, workers=workers, progress=None, few=FEW):
            if isinstance(seen, str):
                wrong[task.row.id] = seen
            else:
                found[task.row.id] = seen
                left += seen.uses
            if progress is not None and (not only or task.row.id in asked):
                progress.advance(1)
                told.add(task.row.id)
    used = dict.fromkeys(id_ for one in found.values() for id_ in one.uses)
    rest = [expected[id_][1] for id_ in used if id_ in expected and id_ not in found]
    found = {**find_theorems(rest, known), **found} if rest else found
    for id_ in {**expected, **of}:
        if not only or id_ in asked:
            yield _checked(id_, of.get(id_, []), expected, known, found, wrong.get(id_, ""))
            if progress is not None and (untold := len(of.get(id_, [])) - (id_ in told)):
                progress.advance(untold)


def _checked(
    id_: str,
    rows: Sequence[TheoremEvidence],
    expected: dict[str, tuple[str, TheoremOnPage]],
    known: Known,
    found: dict[str, TheoremFound],
    wrong: str,
) -> RowCheck:
    if id_ not in expected:
        return RowCheck(id_, Status.REFUSED, "no page has this theorem")
    if not rows:
        return RowCheck(id_, Status.MISSING, "a page has this theorem, the ledger does not")
    try:
        if len(rows) > 1 or wrong:
            raise RowRefusedError(wrong or f"it appears {len(rows)} times")
        below = [
            one for name in found[id_].uses if name in known and name not in found for one in (known[name],)
        ]
        more = find_theorems(below, known) if below else {}
        page, one = expected[id_]
        right = row_of(page, one, known, {**more, **found}).found
        own = right.model_dump(exclude={"seconds", "letters", "displays", "changes"})
        compare(rows[0], {**own, "changes": right.changes}, "page and certificates")
        compare(rows[0], {"letters": right.letters, "displays": right.displays}, "its page")
    except RowRefusedError as refusal:
        return RowCheck(id_, Status.REFUSED, str(refusal))
    if rows[0].verdict is Verdict.UNDECIDED:
        return RowCheck(id_, Status.UNDECIDED, rows[0].reason)
    return RowCheck(id_, Status.CONFIRMED, "its certificate" if rows[0].certificate else "its model")


@dataclass(frozen=True)
class _CertificateTask:
    """A row with what its page and its certificate say, to be checked here or in another process."""

    row: TheoremEvidence
    one: TheoremOnPage
    library: Known
    """What it is derived from again, where it has no certificate."""
    certificate: Json | None
    model: Json | None
    checker: Checker

    @classmethod
    def of(
        cls, row: TheoremEvidence, one: TheoremOnPage, known: Known, folder: Path, checker: Checker
    ) -> _CertificateTask:
        """Refuse a row whose certificate is about something else."""
        before = library_before(one, known)
        if one.unclear or row.certificate is None:
            return cls(row, one, before, None, None, checker)
        certificate = load(row.certificate, folder)
        model = None if row.model is None else load(row.model, folder)
        if wrong := foreign(certificate, one, before):
            raise RowRefusedError(wrong)
        return cls(row, one, {}, certificate, model, checker)


def _seen(task: _CertificateTask) -> TheoremFound | str:
    """What a row's certificate and model show, or why they show nothing."""
    row, one, certificate = task.row, task.one, task.certificate
    if certificate is None:
        again = find_theorem(one, task.library)
        lost = row.model is not None and again.model is None
        return "it has a model, which is not found here" if lost else again
    confirmation = task.checker(certificate)
    if not confirmation.confirmed:
        return f"the checker does not confirm its certificate: {confirmation.says}"
    if not is_shown(one, task.model, refute=False):
        return "what its theorem assumes is not true in its model"
    library = certificate.get("library", {})
    return TheoremFound(("",) * len(one.steps), tuple(sorted(library)), certificate, task.model, row.seconds)
