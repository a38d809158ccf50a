"""Mechanisms of pages: the claim proved from theorems about noise, or a pair of data sets that breaks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Verdict
from dpverify.statements.mechanisms.choice_pairs import ChoicePairSearcher
from dpverify.statements.mechanisms.choices import choice_of
from dpverify.statements.mechanisms.pages import MechanismOnPage, is_page_of_mechanisms, read_mechanisms
from dpverify.statements.mechanisms.pairs import BrokenPair, search_pairs
from dpverify.statements.mechanisms.proofs import claim_of, derive_mechanism
from dpverify.statements.mechanisms.scope import dependence
from dpverify.statements.theorems.library import shipped
from dpverify.verification.theorems import find_theorems, rests_on


@dataclass(frozen=True)
class MechanismRow:
    """A mechanism with its verdict."""

    id: str
    title: str
    page: str
    line: int
    """Of its heading; of a refuted one, and of one whose noise depends on records, of the draw to blame."""
    verdict: Verdict
    reason: str
    """Why it is undecided."""
    claim: str
    """LaTeX."""
    rules: tuple[str, ...]
    """That its derivation and those below it use."""
    results: tuple[str, ...]
    """Of the literature, on which it rests."""
    pair: BrokenPair | None
    """Two data sets that break the claim."""
    pairs_tried: int
    witness: Json
    """A pair, as a model, in which all that is assumed is true."""
    certificate: Json | None

    @property
    def json(self) -> dict[str, Json]:
        """Its fields."""
        pair = self.pair and asdict(self.pair)
        return {**asdict(self), "verdict": str(self.verdict), "pair": pair}


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


def mechanism_rows(names: Sequence[str]) -> Iterator[MechanismRow]:
    """Decide the mechanisms of pages, each as soon as it is asked for.

    Raises:
        PageError: for a page that is not understood.
    """
    for name in names:
        for one in read_mechanisms(Path(name)):
            yield _row(name, one)


def _row(page: str, one: MechanismOnPage) -> MechanismRow:
    claim, said = claim_of(one), one.of("claim")[0].latex
    found = search_pairs(one, claim, searcher=ChoicePairSearcher if choice_of(one) else None)
    if found.broken is not None:
        line = one.of("draw")[0].line
        return MechanismRow(
            one.id, one.title, page, line, Verdict.REFUTED, "", said, (), (), found.broken, found.tried,
            found.witness, None,
        )  # fmt: skip
    private = dependence(one)
    if private is not None:
        line, why = private
        return MechanismRow(
            one.id,
            one.title,
            page,
            line,
            Verdict.UNDECIDED,
            why,
            said,
            (),
            (),
            None,
            found.tried,
            found.witness,
            None,
        )
    proof = derive_mechanism(one)
    rules, results, underived = _roots(proof.uses)
    verdict, reason = Verdict.PROVED, proof.reason
    if proof.certificate is None:
        verdict = Verdict.UNDECIDED
    elif underived:
        verdict, reason = Verdict.UNDECIDED, f"derived, but it rests on {', '.join(underived)}, not derived"
    elif found.witness is None:
        verdict, reason = (
            Verdict.UNDECIDED,
            "derived, but no pair was found of which all that is assumed is true",
        )
    return MechanismRow(
        one.id, one.title, page, one.line, verdict, reason, said, rules, results, None, found.tried, found.witness,
        proof.certificate,
    )  # fmt: skip


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
