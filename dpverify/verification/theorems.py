"""Theorems that are derived by the steps of their pages, and what each rests on in the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.theorems.model_words import model_in_words
from dpverify.proving.theorems.search import Effort, find_model
from dpverify.statements.theorems.library import TheoremOutcome, derive, shipped
from dpverify.statements.theorems.pages import TheoremOnPage, is_page_of_theorems, read_theorems

WITNESS = Effort(margins=2400, asked=6)
"""What a search for a witness is worth; most take a few models."""
SHIPPED = "theorems"
"""The name of all theorems that come with the program."""


@dataclass(frozen=True)
class TheoremRow:
    """A theorem with its verdict."""

    id: str
    title: str
    page: str
    line: int
    """Of its heading; of an undecided one, of the first step that does not follow."""
    verdict: Verdict
    reason: str
    """Why it is undecided, or how it is refuted."""
    claim: str
    """LaTeX."""
    rules: tuple[str, ...]
    """That its derivation and those below it use."""
    results: tuple[str, ...]
    """Of the literature, and rules of someone's own, on which it rests and which are not derived here."""
    underived: tuple[str, ...]
    """Theorems on which it rests, and which do not follow from the steps of their pages."""
    model: Json | None
    """In which what is assumed is true and, of a refuted one, the claim is false."""
    model_in_words: tuple[str, ...]
    """The same, a line for the types and one for each letter."""
    certificate: Json | None

    @property
    def json(self) -> dict[str, Json]:
        """Its fields."""
        return {
            "id": self.id, "title": self.title, "page": self.page, "line": self.line, "verdict": str(self.verdict),
            "reason": self.reason, "claim": self.claim, "rules": [*self.rules], "results": [*self.results],
            "underived": [*self.underived],
            "model": self.model, "model_in_words": [*self.model_in_words], "certificate": self.certificate,
        }  # fmt: skip


def about_theorems(names: Sequence[str]) -> bool:
    """Whether names are of theorems: all, an id, or a page of one's own.

    Raises:
        InvalidArgumentError: where some are and others are not.
    """
    found = [name for name in names if _is_theorem(name)]
    if found and len(found) < len(names):
        other = next(name for name in names if name not in found)
        raise InvalidArgumentError("ids", other, f"theorems alone, where `{found[0]}` is asked for")
    return bool(found)


def _is_theorem(name: str) -> bool:
    if name == SHIPPED or (name.startswith(("theorem.", "lemma.")) and name in shipped()):
        return True
    path = Path(name)
    if not name.endswith(".md") or not path.is_file():
        return False
    try:
        return is_page_of_theorems(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return False


def theorem_rows(names: Sequence[str]) -> Iterator[TheoremRow]:
    """Derive theorems, each as soon as it is asked for.

    Raises:
        InvalidArgumentError: for a name that no theorem has, or a page that is not understood.
    """
    known = dict(shipped())
    chosen = list[tuple[str, TheoremOnPage]]()
    for name in names:
        if name == SHIPPED:
            chosen += [(SHIPPED, one) for one in shipped().values() if one.standing == "theorem"]
        elif name.endswith(".md"):
            for one in read_theorems(Path(name)):
                if one.id in known:
                    raise InvalidArgumentError("id", one.id, "ids that no other rule or theorem has")
                known[one.id] = one
                if one.standing == "theorem":
                    chosen.append((name, one))
        elif name in known:
            chosen.append((SHIPPED, known[name]))
        else:
            raise InvalidArgumentError(
                "theorem", name, f"ids of theorems, such as {', '.join([*known][-2:])}"
            )
    outcomes = dict[str, TheoremOutcome]()
    for page, one in chosen:
        yield _row(page, one, known, outcomes)


def _row(
    page: str, one: TheoremOnPage, known: Mapping[str, TheoremOnPage], outcomes: dict[str, TheoremOutcome]
) -> TheoremRow:
    found = _outcome(one, known, outcomes)
    below = [*_below(one, known, outcomes)]
    failed = next((step for step in found.steps if step.reason), None)
    underived = tuple(id_ for id_ in below if known[id_].standing == "theorem" and not outcomes[id_].derived)
    verdict, line, reason = Verdict.PROVED, one.line, ""
    model = find_model(
        one.clause, refute=not found.derived, effort=WITNESS if found.derived else Effort()
    ).model
    words = () if model is None else tuple(model_in_words(one.clause, one.names, model))
    if not found.derived and model is not None:
        verdict, reason = Verdict.REFUTED, "in the model, what is assumed is true, and the claim is not"
    elif failed is not None:
        verdict, line, reason = Verdict.UNDECIDED, failed.line, failed.reason
    elif underived:
        verdict, reason = (
            Verdict.UNDECIDED,
            f"derived, but it rests on {', '.join(underived)}, which is not derived",
        )
    elif model is None:
        verdict, reason = (
            Verdict.UNDECIDED,
            "derived, but no model was found in which what is assumed is true",
        )
    return TheoremRow(
        one.id, one.title, page, line, verdict, reason, one.claim.latex,
        tuple(id_ for id_ in below if id_ in shipped() and known[id_].standing == "rule"),
        tuple(id_ for id_ in below if known[id_].standing == "result" or _is_own_rule(known[id_])),
        underived, model, words, found.certificate,
    )  # fmt: skip


def _is_own_rule(one: TheoremOnPage) -> bool:
    return one.standing == "rule" and one.id not in shipped()


def _outcome(
    one: TheoremOnPage, known: Mapping[str, TheoremOnPage], outcomes: dict[str, TheoremOutcome]
) -> TheoremOutcome:
    if one.id not in outcomes:
        outcomes[one.id] = derive(one, known)
    return outcomes[one.id]


def _below(
    one: TheoremOnPage, known: Mapping[str, TheoremOnPage], outcomes: dict[str, TheoremOutcome]
) -> Iterator[str]:
    """All that a theorem rests on, each once, sorted."""
    found, left = set[str](), [one.id]
    while left:
        for id_ in _outcome(known[left.pop()], known, outcomes).uses:
            if id_ not in found:
                found.add(id_)
                left += [id_] if known[id_].standing == "theorem" else []
    yield from sorted(found)
