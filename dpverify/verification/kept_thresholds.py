"""How far formulas of committed pages hold, as it was found once; none of it is taken on trust.

A line is what `sharpen` has found of one formula: what was varied, and for each end its value and a certificate without
the problem. It is found by the formula itself, so that one that has changed has none. Each end is built again from the
formula as it is now, and shown only if the checker confirms its certificate.

One file for each paper, a line for each formula, in the order of the pages; `make thresholds` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverify.analyses.thresholds.changes import changed, plain_form, texts
from dpverify.analyses.thresholds.sharpening import Sharpened
from dpverify.errors import DpverifyError
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.besides.thresholds import Threshold, ThresholdEnd, Variation, telling
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, HOLDS, Verdict
from dpverify.proving.certificates import VERSION, canonical
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.statements.paper import address_of
from dpverify.verification.catalog.answers import key_of, lines, shown_of
from dpverify.verification.catalog.rows import ProofRecord
from dpverify.verification.thresholds import can_be_sharpened, end_of, printed_at

FOLDER = Path(__file__).parent / "catalog" / "thresholds"
_LARGEST = 30_000
"""Characters of an end; larger ones, of which the checker would take seconds in each run, are not kept."""


def line_of(obligation: Obligation, found: Sharpened) -> Json:
    """What is kept of what was found of a formula: the most telling of it."""

    def end(of: ThresholdEnd | None) -> Json:
        if of is None:
            return None
        shown = shown_of(found.certificates[of.certificate])
        return {"value": of.value, "strict": of.strict, "shown": shown}

    def small(threshold: Threshold) -> bool:
        return all(len(canonical(end(of))) <= _LARGEST for of in (threshold.holds, threshold.fails))

    kept = [
        {"change": t.change.model_dump(mode="json"), "holds": end(t.holds), "fails": end(t.fails)}
        for t in telling(filter(small, found.thresholds))
    ]
    return {"of": key_of(obligation), "thresholds": kept}


def known_thresholds(
    obligation: Obligation, verdict: Verdict
) -> tuple[tuple[Threshold, ...], dict[str, Json]]:
    """What is kept of a printed formula with this verdict and the checker confirms now, with its certificates."""
    line = lines(FOLDER).get(key_of(obligation))
    found, certificates = list[Threshold](), dict[str, Json]()
    for kept in () if line is None else line["thresholds"]:
        try:
            threshold, proofs = _confirmed(obligation, verdict, kept)
        except (DpverifyError, KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            continue
        found.append(threshold)
        certificates |= proofs
    return tuple(found), certificates


def _confirmed(obligation: Obligation, verdict: Verdict, kept: Json) -> tuple[Threshold, dict[str, Json]]:
    plain, change = plain_form(obligation), Variation.model_validate(kept["change"])
    certificates: dict[str, Json] = {}

    def end(of: Any, allowed: Iterable[Verdict]) -> ThresholdEnd | None:
        if of is None:
            return None
        value, strict = Fraction(of["value"]), bool(of["strict"])
        form = changed(plain, change, value, strict=strict)
        certificate = {"version": VERSION, "problem": form.problem.json, **of["shown"]}
        _, found = end_of(plain, change, value, strict, certificate)
        if found.verdict not in allowed or not check(certificate).confirmed:
            raise ValueError
        certificates[found.certificate] = certificate
        return found

    holds, fails = end(kept["holds"], HOLDS), end(kept["fails"], BROKEN)
    if holds is None:
        raise ValueError
    said = texts(obligation, change, holds, fails, verdict)
    return Threshold(change=change, holds=holds, fails=fails, **said), certificates


def with_thresholds(records: Sequence[ProofRecord]) -> tuple[list[ProofRecord], dict[str, Json]]:
    """Records that say how far they hold, where that is kept; and the certificates of the ends."""
    certificates: dict[str, Json] = {}

    def filled(row: ProofEvidence) -> ProofEvidence:
        if not can_be_sharpened(row):
            return row
        obligation = printed_at(address_of(row.statement), row.obligation)
        if obligation is None:
            return row
        found, proofs = known_thresholds(obligation, row.verdict)
        certificates.update(proofs)
        return row.but(thresholds=found) if found else row

    return [replace(record, evidence=filled(record.evidence)) for record in records], certificates
