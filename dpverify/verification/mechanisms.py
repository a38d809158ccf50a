"""Mechanisms of pages: the claim proved from theorems about noise, or a pair of data sets that breaks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.theorems.finite_models import FAILURES
from dpverify.statements.mechanisms.choice_pairs import ChoicePairSearcher
from dpverify.statements.mechanisms.choices import choice_of
from dpverify.statements.mechanisms.guarantees import ProvedGuarantee, guarantee_proved
from dpverify.statements.mechanisms.pages import MechanismOnPage, is_page_of_mechanisms, read_mechanisms
from dpverify.statements.mechanisms.pairs import BrokenPair, search_pairs
from dpverify.statements.mechanisms.proofs import claim_of, derive_mechanism
from dpverify.statements.mechanisms.scope import dependence
from dpverify.statements.theorems.library import shipped
from dpverify.verification.theorems import find_theorems, rests_on

if TYPE_CHECKING:
    from dpverify.statements.mechanisms.sampled import PageAudit


@dataclass(frozen=True)
class MechanismRow:
    """A mechanism with its verdict."""

    id: str
    title: str
    page: str
    line: int
    """Of its heading; of a refuted one, and of one whose noise depends on records, of the draw to blame."""
    claim: str
    """LaTeX."""
    pairs_tried: int
    witness: Json
    """A pair, as a model, in which all that is assumed is true."""
    verdict: Verdict = Verdict.UNDECIDED
    reason: str = ""
    """Why it is undecided; of a refuted one, what depends on records and must not."""
    rules: tuple[str, ...] = ()
    """That its derivation and those below it use."""
    results: tuple[str, ...] = ()
    """Of the literature, on which it rests."""
    pair: BrokenPair | None = None
    """Two data sets that break the claim."""
    certificate: Json | None = None
    instead: ProvedGuarantee | None = None
    """Of one that is not proved, a guarantee that is."""
    audit: PageAudit | None = None
    """Of one that is neither proved nor refuted, where that was asked for: what its draws, made, say of the claim."""

    @property
    def json(self) -> dict[str, Json]:
        """Its fields."""
        evidence = self.audit and self.audit.evidence.model_dump(mode="json")
        audit = self.audit and {**vars(self.audit), "evidence": evidence}
        return {**asdict(replace(self, audit=None)), "verdict": str(self.verdict), "audit": audit}


def about_mechanisms(names: Sequence[str]) -> bool:
    """Whether names are of pages of mechanisms.

    Raises:
        InvalidArgumentError: where some are and others are not.
    """
    found = [name for name in names if _is_page(name)]
    if found and len(found) < len(names):
        other = next(name for name in names if name not in found)
        raise InvalidArgumentError(
            "ids", other, f"pages of mechanisms alone, where `{found[0]}` is asked for"
        )
    return bool(found)


def _is_page(name: str) -> bool:
    path = Path(name)
    if not name.endswith(".md") or not path.is_file():
        return False
    try:
        return is_page_of_mechanisms(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return False


def mechanism_rows(names: Sequence[str], audited: bool = False) -> Iterator[MechanismRow]:
    """Decide the mechanisms of pages, each as soon as it is asked for; maybe audit those that stay undecided.

    Raises:
        PageError: for a page that is not understood.
    """
    for name in names:
        for one in read_mechanisms(Path(name)):
            yield with_guarantee(decide_mechanism(one, name, audited), one)


def with_guarantee(row: MechanismRow, one: MechanismOnPage) -> MechanismRow:
    """A row with the guarantee that its mechanism has instead, if it is not proved and one is derived."""
    if row.verdict is Verdict.PROVED or row.witness is None:
        return row
    found = guarantee_proved(one)
    return row if found is None or _roots(found.uses)[2] else replace(row, instead=found)


def decide_mechanism(one: MechanismOnPage, page: str, audited: bool = False) -> MechanismRow:
    """Decide one mechanism; as of `mechanism_rows`."""
    claim, said = claim_of(one), one.of("claim")[0].latex
    found = search_pairs(one, claim, searcher=ChoicePairSearcher if choice_of(one) else None)
    row, private = (
        MechanismRow(one.id, one.title, page, one.line, said, found.tried, found.witness),
        dependence(one),
    )
    if found.broken is not None:
        line, why = private or ((one.draws or one.of("draw"))[found.broken.draw].line, "")
        return replace(row, line=line, reason=why, verdict=Verdict.REFUTED, pair=found.broken)
    row = _proved(row, one) if private is None else replace(row, line=private[0], reason=private[1])
    if not audited or row.verdict is not Verdict.UNDECIDED:
        return row
    if found.nearest is None:
        return replace(row, reason=f"{row.reason}; not audited: no pair of data sets is known")
    from dpverify.statements.mechanisms.sampled import audit_page

    try:
        seen = audit_page(one, found.nearest, found.sizes)
    except (InvalidDataError, InvalidArgumentError, *FAILURES) as error:
        return replace(row, reason=f"{row.reason}; not audited: {error}")
    violated = seen.evidence.verdict is Verdict.VIOLATED
    return replace(row, verdict=Verdict.VIOLATED if violated else row.verdict, audit=seen)


def _proved(row: MechanismRow, one: MechanismOnPage) -> MechanismRow:
    proof = derive_mechanism(one)
    rules, results, underived = _roots(proof.uses)
    verdict, reason = Verdict.UNDECIDED, proof.reason
    if proof.certificate is None:
        pass
    elif underived:
        reason = f"derived, but it rests on {', '.join(underived)}, not derived"
    elif row.witness is None:
        reason = "derived, but no pair was found of which all that is assumed is true"
    else:
        verdict = Verdict.PROVED
    certificate = proof.certificate
    return replace(row, verdict=verdict, reason=reason, rules=rules, results=results, certificate=certificate)


def _roots(uses: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The rules, the results of the literature, and the underived theorems on which uses rest in the end."""
    known = shipped()
    theorems = [known[id_] for id_ in uses if known[id_].standing == "theorem"]
    found = find_theorems(theorems, known)
    below = sorted({*uses}.union(*(rests_on(one.id, known, found) for one in theorems)))
    rules, results = (
        tuple(id_ for id_ in below if known[id_].standing == kind) for kind in ("rule", "result")
    )
    underived = (id_ for id_ in below if known[id_].unclear or (id_ in found and not found[id_].derived))
    return rules, results, tuple(underived)
