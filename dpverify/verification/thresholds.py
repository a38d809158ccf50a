"""How far the formulas of statements hold: found, kept, put into a ledger, and held against it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.formulas.logic import free_in
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.besides.thresholds import Threshold, ThresholdEnd, Variation
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, HOLDS, Coverage, Variant, Verdict
from dpverify.proving import canonical, digest, load, store
from dpverify.proving.language import Obligation, Statement
from dpverify.running.store import keep, kept
from dpverify.statements.paper import address_of
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog.proofs import as_they_end
from dpverify.verification.catalog.source_rows import printed_of
from dpverify.verification.remembering.remembered import statement_key

if TYPE_CHECKING:
    from dpverify.proving.checker import Confirmation
    from dpverify.running import Progress


@dataclass(frozen=True)
class Asked:
    """One printed formula, by name, and how much work it is worth."""

    statement: str
    obligation: str
    address: str
    """Where the statement is found."""
    verdict: Verdict
    """What is known of it."""
    letters: tuple[str, ...]
    attempts: int


@dataclass(frozen=True)
class Found:
    """How far one formula holds."""

    asked: Asked
    thresholds: tuple[Threshold, ...]
    certificates: dict[str, Json]
    cut_short: bool = False
    """Whether a far guard of time ended some work, so that a faster machine may find more; it is not kept then."""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "statement": self.asked.statement,
            "obligation": self.asked.obligation,
            "verdict": self.asked.verdict,
            "thresholds": [t.model_dump(mode="json") for t in self.thresholds],
            "cut_short": self.cut_short,
        }


def can_be_sharpened(row: ProofEvidence, *, loose: bool = False) -> bool:
    """Whether a row is a printed formula that is refuted, undecided or does not follow; with `loose`, any."""
    printed = row.variant is Variant.PRINTED and row.coverage not in (Coverage.UNIT, Coverage.CITED)
    return printed and row.provenance is not Provenance.TORN and (loose or row.verdict not in HOLDS)


def asked_of(row: ProofEvidence, letters: tuple[str, ...], attempts: int) -> Asked:
    """The question about a row."""
    return Asked(row.statement, row.obligation, address_of(row.statement), row.verdict, letters, attempts)


def printed_at(address: str, obligation: str) -> Obligation | None:
    """The printed formula of a name, of the statement at an address."""
    statement = find_statement(address)
    return None if statement is None else printed_of(statement, obligation)


def _find(asked: Asked) -> Found:
    from dpverify.analyses.thresholds.sharpening import sharpen

    obligation = printed_at(asked.address, asked.obligation)
    if obligation is None:  # the other process sees other papers
        raise InvalidArgumentError("statement", asked.statement, "one registered in this environment")
    found = sharpen(obligation, letters=asked.letters, attempts=asked.attempts, verdict=asked.verdict)
    return Found(asked, found.thresholds, found.certificates, found.cut_short)


def recall_or_sharpen(
    questions: Sequence[Asked],
    *,
    workers: int = 1,
    progress: Progress | None = None,
    missing: Callable[[int], None] = lambda count: None,
) -> list[Found]:
    """What is kept of each formula, and what is found of the others; `missing` hears how many these are."""
    known = {asked: _recalled(asked) for asked in questions}
    others = [asked for asked, found in known.items() if found is None]
    missing(len(others))
    if others:
        for asked, found in as_they_end(_find, others, workers=workers, progress=progress):
            known[asked] = found
            if not found.cut_short:
                rows = [t.model_dump(mode="json") for t in found.thresholds]
                keep("thresholds", _key(asked), [rows, found.certificates])
                if not asked.letters:
                    keep("latest thresholds", _latest(asked.address, asked.obligation), rows)
    return [found for found in known.values() if found is not None]


def _key(asked: Asked) -> Json:
    return [*_latest(asked.address, asked.obligation), asked.verdict, asked.letters, asked.attempts]


def _latest(address: str, obligation: str) -> list[Json]:
    statement = find_statement(address)
    return [None if statement is None else statement_key(statement), obligation]


def _recalled(asked: Asked) -> Found | None:
    try:
        rows, certificates = kept("thresholds", _key(asked)) or ((), None)
        if certificates is None:
            return None
        return Found(asked, tuple(map(Threshold.model_validate, rows)), dict(certificates))
    except (TypeError, ValueError):
        return None


def recall_thresholds(statement: Statement, obligation: str) -> tuple[Threshold, ...]:
    """What was last found of a printed formula; nothing where formulas or provers have changed since."""
    try:
        rows = kept("latest thresholds", _latest(address_of(statement.id), obligation)) or ()
        return tuple(map(Threshold.model_validate, rows))
    except (TypeError, ValueError):
        return ()


def remember_thresholds(rows: Iterable[ProofEvidence]) -> None:
    """Keep what rows say of how far they hold, where nothing is remembered of them."""
    for row in rows:
        key = _latest(address_of(row.statement), row.obligation) if row.thresholds else None
        if key is not None and kept("latest thresholds", key) is None:
            keep("latest thresholds", key, [t.model_dump(mode="json") for t in row.thresholds])


# ------------------------------------------------------------------------------------------- in a ledger


def put_into(path: Path, found: Iterable[Found]) -> int:
    """Write thresholds into the rows of a ledger's file, and their certificates beside it; how many rows have them."""
    from dpverify.reports import load_ledger, write_ledger

    ledger, count = load_ledger(path), 0
    of = {(f.asked.statement, f.asked.obligation): f for f in found}
    entries = list(ledger.entries)
    for i, row in enumerate(entries):
        if not isinstance(row, ProofEvidence) or not can_be_sharpened(row, loose=True):
            continue
        here = of.get((row.statement, row.obligation))
        if here is not None and here.thresholds:
            entries[i], count = row.but(thresholds=here.thresholds), count + 1
            for certificate in here.certificates.values():
                store(certificate, path.parent / "certificates")
    write_ledger(ledger.but(entries=tuple(entries)), path)
    return count


def faults(
    row: ProofEvidence, obligation: Obligation, folder: Path, checker: Callable[[Json], Confirmation]
) -> Iterator[str]:
    """What is wrong with the thresholds of a row: each end is built again from the source, and checked again."""
    from dpverify.analyses.thresholds.changes import plain_form, texts

    if row.thresholds and not can_be_sharpened(row, loose=True):
        yield "it is no printed formula, and has thresholds"
        return
    plain = plain_form(obligation)
    for threshold in row.thresholds:
        change, ends = threshold.change, (threshold.holds, threshold.fails)
        try:
            for end, allowed in zip(ends, (HOLDS, BROKEN), strict=True):
                if end is None:
                    continue
                certificate = load(end.certificate, folder)
                form, right = end_of(plain, change, Fraction(end.value), end.strict, certificate)
                if end.verdict not in allowed or (end.says, end.latex) != (right.says, right.latex):
                    yield f"it says `{end.says}` is {end.verdict} where {change.varied} with {end.value}"
                if canonical(certificate["problem"]) != canonical(form.problem.json):
                    yield f"`{end.says}`: its certificate is about another problem"
                elif end.verdict != right.verdict:
                    said = certificate["verdict"]
                    yield f"`{end.says}`: it is {end.verdict}, but its certificate says {said}"
                elif end.counterexample != right.counterexample:
                    yield f"`{end.says}`: its counterexample is not that of its certificate"
                elif not (confirmation := checker(certificate)).confirmed:
                    yield f"`{end.says}`: the checker does not confirm it: {confirmation.says}"
            if any(
                getattr(threshold, name) != text
                for name, text in texts(obligation, change, *ends, row.verdict).items()
            ):
                yield f"what it says of `{threshold.holds.says}` is not what its source and ends say"
        except (DpverifyError, ValueError, ZeroDivisionError, RecursionError) as error:
            yield f"`{threshold.holds.says}` cannot be checked: {error}"


def end_of(
    plain: Obligation, change: Variation, value: Fraction, strict: bool, certificate: Json
) -> tuple[Obligation, ThresholdEnd]:
    """A plain form with a value, and the end that a certificate of it shows."""
    from dpverify.analyses.thresholds.changes import changed, says

    form = changed(plain, change, value, strict=strict)
    broken = Verdict.DOES_NOT_FOLLOW if form.functionals else Verdict.REFUTED
    said = Verdict(certificate["verdict"])
    said = broken if said is Verdict.REFUTED else said
    names = {v.name for v in set().union(*map(free_in, (form.claim, *form.assuming)))}
    point = certificate["proof"].get("point")
    shown = {x: y for x, y in point.items() if x in names} if isinstance(point, dict) else None
    end = ThresholdEnd(
        value=str(value),
        **says(plain, change, value, strict=strict),
        strict=strict,
        verdict=said,
        certificate=digest(certificate),
        counterexample=shown if said in BROKEN else None,
    )
    return form, end
