"""Mechanisms as theorems: their claims as clauses, and what is found of them, by derivation or by a pair."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import parts_of
from dpverify.proving.theorems.letters import Alphabet
from dpverify.statements.mechanisms.pages import MechanismOnPage
from dpverify.statements.mechanisms.pairs.choice_pairs import ChoicePairSearcher
from dpverify.statements.mechanisms.pairs.coin_pairs import CoinPairSearcher
from dpverify.statements.mechanisms.pairs.loop_pairs import FewRoundsSearcher, few_rounds, loop_witness
from dpverify.statements.mechanisms.pairs.one_answer import (
    ANSWER_IS,
    KEYS,
    AnswerPairSearcher,
    answer_of,
    is_shown,
)
from dpverify.statements.mechanisms.pairs.sample_pairs import SamplePairSearcher
from dpverify.statements.mechanisms.pairs.search import PairSearch, PairSearcher, search_pairs
from dpverify.statements.mechanisms.pairs.tested_pairs import ReleasePairSearcher
from dpverify.statements.mechanisms.proofs.claims import claim_of, derive_mechanism
from dpverify.statements.mechanisms.proofs.local import has_smooth_scale
from dpverify.statements.mechanisms.proofs.ranges import number
from dpverify.statements.mechanisms.reading import read_mechanism, read_mechanisms
from dpverify.statements.mechanisms.rounds import LoopOnPage
from dpverify.statements.mechanisms.scope import dependence
from dpverify.statements.theorems.library import mechanism_pages
from dpverify.statements.theorems.pages import ModeledClause, TheoremDisplay, TheoremOnPage

APART = "two data sets are further apart than is claimed"
FURTHER_APART = f"by this draw, {APART}"
ROUNDS = "few rounds"
"""What a model says that is of a loop's first rounds: which they are."""


@dataclass(frozen=True)
class MechanismAsTheorem(TheoremOnPage):
    """A mechanism's claim, which is derived without steps on its page."""

    mechanism: MechanismOnPage = field(kw_only=True)

    @property
    def steps(self) -> tuple[TheoremDisplay, ...]:
        """All lines: each may be why the claim does not follow."""
        return self.displays

    def modeled(self, model: Json, *, refute: bool) -> ModeledClause:
        """The mechanism or, of one that is refuted, a loop of few rounds by its place among these, or one answer.

        Raises:
            LookupError: where there is none.
        """
        loop = self.mechanism.loop
        if not refute or (loop is None and ANSWER_IS not in model):
            return super().modeled(model, refute=refute)
        few = [*few_rounds(self.mechanism, loop)][model[ROUNDS]] if loop else answer_of(self.mechanism, model)
        claim = claim_of(few.mechanism)
        own = {key: value for key, value in model.items() if key not in (ROUNDS, *KEYS)}
        return ModeledClause(claim.clause, claim.names, own, few.letters)


@dataclass(frozen=True)
class MechanismOutcome:
    """What is found of a mechanism."""

    search: PairSearch
    line: int
    """Of what is to blame where the claim does not follow: what depends on records, else a draw, else the claim."""
    reason: str
    """Why it does not follow."""
    certificate: Json | None = None
    uses: tuple[str, ...] = ()
    few: MechanismOnPage | None = None
    """Of a loop, the rounds of which pairs were searched."""
    place: int | None = None
    """Of a loop that is broken, the place of these among mechanisms of few rounds."""

    @property
    def model(self) -> Json | None:
        """A pair in which what is assumed is true: one that breaks the claim or, where it is derived, another."""
        if self.search.broken is not None:
            few = {} if self.place is None else {ROUNDS: self.place}
            return {**few, **self.search.broken.model}
        return None if self.certificate is None else self.search.witness


def as_theorem(one: MechanismOnPage) -> MechanismAsTheorem:
    """A mechanism's claim as a theorem."""
    claim = claim_of(one)
    displays = tuple(TheoremDisplay(step.line, step.latex, step.role) for step in one.steps)
    return MechanismAsTheorem(
        one.id, one.title, one.line, "mechanism", "", Alphabet(), claim.clause, claim.names, displays,
        one.declared, mechanism=one,
    )  # fmt: skip


def mechanisms_on(page: Path) -> Iterator[MechanismAsTheorem]:
    """The mechanisms of a page; errors as of `read_mechanisms`."""
    return map(as_theorem, read_mechanisms(page))


@cache
def shipped_mechanism(id_: str) -> MechanismAsTheorem:
    """A mechanism of this package."""
    return as_theorem(read_mechanism(mechanism_pages()[id_], id_))


def searcher_of(mechanism: MechanismOnPage) -> type[PairSearcher]:
    """What searches for pairs of a mechanism's data sets."""
    if mechanism.choice:
        pure = parts_of(mechanism.of("claim")[0].term)[0::2] == ("private", number(0))
        one = pure and mechanism.choice.role == "stop" and is_shown(mechanism)
        stops = AnswerPairSearcher if one else ChoicePairSearcher
        return CoinPairSearcher if mechanism.choice.coins else stops
    if mechanism.test:
        return ReleasePairSearcher
    return SamplePairSearcher if mechanism.sample else PairSearcher


def decide(one: MechanismAsTheorem) -> MechanismOutcome:
    """Search for a pair that breaks the claim, else derive it."""
    mechanism = one.mechanism
    if mechanism.loop is not None:
        return _of_loop(mechanism, mechanism.loop)
    claim, private = claim_of(mechanism), dependence(mechanism)
    found = search_pairs(mechanism, claim, searcher=searcher_of(mechanism))
    if found.broken is not None:
        drawn = mechanism.draws or mechanism.of("draw") or mechanism.of("select") or mechanism.steps[-1:]
        return MechanismOutcome(found, *(private or (drawn[found.broken.draw].line, FURTHER_APART)))
    if private is not None and not has_smooth_scale(mechanism):
        return MechanismOutcome(found, *private)
    proof = derive_mechanism(mechanism)
    if private is not None and proof.certificate is None:
        return MechanismOutcome(found, *private)
    return MechanismOutcome(found, mechanism.steps[-1].line, proof.reason, proof.certificate, proof.uses)


def _of_loop(mechanism: MechanismOnPage, loop: LoopOnPage) -> MechanismOutcome:
    """What is found of a loop: it is proved for all numbers of rounds, or refuted at few."""
    line, reason = mechanism.steps[-1].line, ""
    if (private := dependence(mechanism)) is None:
        proof = derive_mechanism(mechanism)
        reason = proof.reason
        if proof.certificate is not None:
            nothing = PairSearch(None, loop_witness(mechanism, claim_of(mechanism)), 0, None, {})
            return MechanismOutcome(nothing, line, reason, proof.certificate, proof.uses)
    tried, search, whole = 0, PairSearch(None, None, 0, None, {}), mechanism
    for k, few in enumerate(few_rounds(mechanism, loop)):
        found = search_pairs(few.mechanism, claim_of(few.mechanism), searcher=FewRoundsSearcher)
        tried += found.tried
        if found.broken is not None:
            draws = few.mechanism.draws or few.mechanism.of("draw")
            by = f"by how many outputs {few.counts}, {APART}" if few.counts else FURTHER_APART
            part = f"part {few.part} of the output breaks it" if few.part else f"of few rounds, {by}"
            pair = replace(found.broken, letters=(*found.broken.letters, *few.letters))
            blamed = private or (draws[found.broken.draw].line, part)
            return MechanismOutcome(
                replace(found, broken=pair, tried=tried), *blamed, few=few.mechanism, place=k
            )
        if not few.part and found.nearest is not None:
            search, whole = found, few.mechanism
    return MechanismOutcome(replace(search, tried=tried), *(private or (line, reason)), few=whole)
