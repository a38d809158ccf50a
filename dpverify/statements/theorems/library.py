"""All rules, results and theorems, how each is derived, and what each rests on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.language import Scope
from dpverify.proving.checker.theorems.steps import Clause, opened_clause
from dpverify.proving.theorems.derivation import Derivation, Frame, UnderivedError, json_of
from dpverify.proving.theorems.matching import Pattern
from dpverify.proving.theorems.notation import TheoremReader
from dpverify.statements.theorems.names import FOLDER, FOLDERS, MECHANISMS
from dpverify.statements.theorems.pages import HEADING, TheoremOnPage, read_theorem

AUTOMATIC = (
    "rule.neighbors-symmetric", "rule.integrable-indicator", "rule.integrable-probability", "rule.laplace-density",
    "rule.normal-density",
)  # fmt: skip
"""Rules that need not be named."""


@dataclass(frozen=True)
class StepOutcome:
    """A display of a proof, and why it does not follow; nothing where it does.

    Of a theorem on which the two readers differ, each letter and display on which they do.
    """

    line: int
    latex: str
    by: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class TheoremOutcome:
    """Whether a theorem is derived, with its certificate."""

    theorem: TheoremOnPage
    steps: tuple[StepOutcome, ...]
    certificate: Json | None
    uses: tuple[str, ...]
    """What the certificate takes from elsewhere: rules, results and other theorems."""
    seconds: float

    @property
    def derived(self) -> bool:
        """Whether all of its steps follow."""
        return self.certificate is not None


class Library(Mapping[str, TheoremOnPage]):
    """Rules, results and theorems by id, in the order of pages; each is read once, when it is asked for."""

    def __init__(self, pages: Sequence[Path], below: Library | None = None) -> None:
        self.below = below
        self.pages: dict[str, Path] = {**({} if below is None else below.pages), **ids_of(pages)}
        self.read = dict[str, TheoremOnPage]()

    def copy(self) -> Library:
        """The same, to which others may be added; what is asked of it is read here, for both."""
        return Library((), self)

    def add(self, page: Path, one: TheoremOnPage) -> None:
        """Know another rule or theorem, behind all others."""
        self.pages[one.id], self.read[one.id] = page, one

    def __getitem__(self, id_: str) -> TheoremOnPage:
        if id_ not in self.read:
            if self.below is not None and id_ in self.below:
                self.read[id_] = self.below[id_]
            else:
                self.read[id_] = read_theorem(self.pages[id_], id_)
        return self.read[id_]

    def __iter__(self) -> Iterator[str]:
        return iter(self.pages)

    def __len__(self) -> int:
        return len(self.pages)

    def __contains__(self, id_: object) -> bool:
        return id_ in self.pages


def ids_of(pages: Sequence[Path]) -> dict[str, Path]:
    """The ids of headings, with their pages."""
    return {id_: page for page in pages for id_ in HEADING.findall(page.read_text(encoding="utf-8"))}


@cache
def mechanism_pages() -> dict[str, Path]:
    """The pages of all mechanisms of this package, by their ids."""
    return ids_of(sorted(FOLDERS[MECHANISMS].glob("*.md")))


@cache
def shipped() -> Library:
    """All rules, results and theorems of this package by id, in the order of its pages."""
    return Library(
        sorted(FOLDER.glob("*.md"), key=lambda page: (not page.name.startswith("rules"), page.name))
    )


def library_before(theorem: TheoremOnPage, known: Mapping[str, TheoremOnPage]) -> Mapping[str, TheoremOnPage]:
    """What a theorem may use: what its steps name, or need not name, and stands before it; a mechanism, all."""
    if theorem.standing == "mechanism":
        return known
    ids, named = [*known], {*AUTOMATIC, *(name for one in theorem.displays for name in one.by)}
    before = ids[: ids.index(theorem.id)] if theorem.id in known else ids
    return {id_: known[id_] for id_ in before if id_ in named}


def derive(theorem: TheoremOnPage, known: Mapping[str, TheoremOnPage] | None = None) -> TheoremOutcome:
    """Derive a theorem by the steps of its page, from what stands before it."""
    begun = time.process_time()
    if theorem.unclear:
        outcome = tuple(StepOutcome(one.line, one.latex, (), one.says) for one in theorem.unclear)
        return TheoremOutcome(theorem, outcome, None, (), time.process_time() - begun)
    library = library_before(theorem, shipped() if known is None else known)
    patterns = {id_: Pattern.of(id_, one.clause, one.names) for id_, one in library.items()}
    clause = theorem.clause
    reader = TheoremReader(theorem.alphabet)
    scope, opened = opened_clause(Scope(dict(clause.types), {}), clause.body, [*theorem.names])
    frame = Frame(scope, [*opened[:-1]], reader)
    found = Derivation(patterns, AUTOMATIC)
    for k, fact in enumerate(opened[:-1]):
        found.parts_known(frame, fact, k)
    for one in theorem.displays:
        if one.role == "assumption":
            found.name(frame, one.formula, one.latex)
    outcomes = list[StepOutcome]()
    for one in theorem.steps:
        reason = ""
        try:
            found.step(frame, one.formula, one.by, one.given, one.latex)
        except (UnderivedError, InvalidArgumentError) as error:
            reason = str(error)
            frame.facts.append(one.formula)  # what comes later is judged by itself
            found.name(frame, one.formula, one.latex)
        outcomes.append(StepOutcome(one.line, one.latex, one.by, reason))
    certificate, used = certificate_of(theorem.id, clause, theorem.names, library, frame.steps)
    if any(one.reason for one in outcomes):
        certificate = None
    else:
        confirmed = check(certificate)
        if not confirmed.confirmed:
            certificate = None
            outcomes[-1] = replace(outcomes[-1], reason=f"the checker refuses a step: {confirmed.says}")
    return TheoremOutcome(theorem, tuple(outcomes), certificate, used, time.process_time() - begun)


def certificate_of(
    id_: str, clause: Clause, names: Sequence[str], library: Mapping[str, TheoremOnPage], steps: list[Json]
) -> tuple[Json, tuple[str, ...]]:
    """The certificate of a clause that is derived, and what of the library its steps use."""
    used = tuple(sorted(_used(steps)))
    certificate = {
        "version": 1, "theorem": id_, "clause": clause_json(clause), "letters": [*names],
        "library": {one: clause_json(library[one].clause) for one in used}, "steps": steps,
    }  # fmt: skip
    return certificate, used


def clause_json(clause: Clause) -> Json:
    """A clause as certificates have it."""
    return {"types": [list(one) for one in clause.types], "body": json_of(clause.body)}


def _used(steps: Sequence[Json]) -> set[str]:
    found = {one["of"] for one in steps if one["step"] == "use" and isinstance(one["of"], str)}
    return found.union(*(_used(one["steps"]) for one in steps if one["step"] == "block"))
