"""The theorems of a ledger held against their pages and certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from dpverify.errors import InvalidDataError
from dpverify.formulas.rendering.neutral import Json
from dpverify.grouping import grouped
from dpverify.ledger.theorems import TheoremEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.certificates import load
from dpverify.proving.checker import Confirmation
from dpverify.statements.theorems.library import library_before
from dpverify.statements.theorems.pages import TheoremOnPage
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

Checker = Callable[[Json], Confirmation]


def theorem_checks(
    rows: Sequence[TheoremEvidence],
    names: Sequence[str],
    folder: Path,
    only: Sequence[str],
    checker: Checker,
) -> Iterator[RowCheck]:
    """Each theorem that the ledger's command line asks for, and each one too many; with `only`, these alone.

    A row that is derived must have a certificate of the theorem on the page, which the checker confirms; one that is
    not derived is derived again. From that, all that the row says follows anew.
    """
    if not rows and not names:
        return
    chosen, known = chosen_theorems(names)
    expected = {one.id: (page, one) for page, one in chosen}
    of = grouped((row.id, row) for row in rows)
    found, wrong = dict[str, TheoremFound](), dict[str, str]()
    for id_ in (id_ for id_ in expected if id_ in of):
        try:
            found[id_] = _of_row(of[id_][0], expected[id_][1], known, folder, checker)
        except (RowRefusedError, InvalidDataError) as refusal:
            wrong[id_] = str(refusal)
    rest = [one for _, one in chosen if one.id not in found]
    found = {**find_theorems(rest, known), **found} if rest else found
    for id_ in {**expected, **of}:
        if not only or id_ in only:
            yield _checked(id_, of.get(id_, []), expected, known, found, wrong.get(id_, ""))


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


def _of_row(
    row: TheoremEvidence, one: TheoremOnPage, known: Known, folder: Path, checker: Checker
) -> TheoremFound:
    """What a row's certificate and model show."""
    if one.unclear or row.certificate is None:
        again = find_theorem(one, known)
        if row.model is not None and again.model is None:
            raise RowRefusedError("it has a model, which is not found here")
        return again
    certificate = load(row.certificate, folder)
    model = None if row.model is None else load(row.model, folder)
    if wrong := foreign(certificate, one, library_before(one, known)):
        raise RowRefusedError(wrong)
    library = certificate.get("library", {})
    confirmation = checker(certificate)
    if not confirmation.confirmed:
        raise RowRefusedError(f"the checker does not confirm its certificate: {confirmation.says}")
    found = TheoremFound(("",) * len(one.steps), tuple(sorted(library)), certificate, model, row.seconds)
    if not is_shown(one, model, refute=False):
        raise RowRefusedError("what its theorem assumes is not true in its model")
    return found
