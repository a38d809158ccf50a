"""Theorems that are derived by the steps of their pages, and mechanisms; what each rests on in the end.

What is found of a theorem is kept under all that its derivation may look at, so a change of a page makes only that anew
which rests on it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.theorems import QueryChange, TheoremEvidence, TheoremLetterEntry, TheoremLine
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.certificates import digest
from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.letters import on_the_line
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.model_words import model_in_words
from dpverify.proving.theorems.search import find_model
from dpverify.running.program import program_hash
from dpverify.running.store import keep, kept
from dpverify.statements.theorems import library as deriving
from dpverify.statements.theorems.library import (
    Library,
    clause_json,
    derive,
    library_before,
    mechanism_pages,
    shipped,
)
from dpverify.statements.theorems.names import FOLDERS, MECHANISMS, SHIPPED, is_page_of_mechanisms
from dpverify.statements.theorems.pages import TheoremOnPage, read_theorems
from dpverify.verification.catalog.program import libraries
from dpverify.verification.catalog.proofs import FEW, as_they_end
from dpverify.views.theorems import facts_of_theorem, introduced, why

if TYPE_CHECKING:
    from dpverify.running import Progress, Store
    from dpverify.statements.mechanisms.as_theorems import MechanismOutcome

Known = Mapping[str, TheoremOnPage]
"""Rules, results and theorems by id, in their order."""
KINDS: Mapping[str, Literal["theorem", "mechanism"]] = {"theorem": "theorem", "mechanism": "mechanism"}
"""Standings of what is derived here."""


@dataclass(frozen=True)
class TheoremRow:
    """A theorem with its verdict, its model and its certificate."""

    found: TheoremEvidence
    model: Json | None
    certificate: Json | None

    @property
    def json(self) -> dict[str, Json]:
        """Its fields, with model and certificate in place of their names."""
        return {**self.found.model_dump(mode="json"), "model": self.model, "certificate": self.certificate}

    @property
    def certificates(self) -> dict[str, Json]:
        """What the ledger names by its hash."""
        named = ((self.found.model, self.model), (self.found.certificate, self.certificate))
        return {name: content for name, content in named if name is not None}


# ------------------------------------------------------------------------------------------- names


def chosen_theorems(names: Sequence[str]) -> tuple[list[tuple[str, TheoremOnPage]], Known]:
    """Theorems with the names of their pages, and all that is known where they stand.

    Raises:
        InvalidArgumentError: for a name that no theorem has, or a page that is not understood.
    """
    known = shipped().copy()
    chosen = list[tuple[str, TheoremOnPage]]()
    for name in names:
        if name == SHIPPED:
            chosen += [(SHIPPED, one) for one in shipped().values() if one.standing == "theorem"]
        elif name == MECHANISMS or name in mechanism_pages():
            from dpverify.statements.mechanisms.as_theorems import shipped_mechanism

            for id_, page in mechanism_pages().items():
                if name in (MECHANISMS, id_):
                    known.add(page, shipped_mechanism(id_))
                    chosen.append((MECHANISMS, known[id_]))
        elif name.endswith(".md"):
            chosen += _on_page(name, known)
        elif name in known:
            chosen.append((SHIPPED, known[name]))
        else:
            raise InvalidArgumentError(
                "theorem", name, f"ids of theorems, such as {', '.join([*known][-2:])}"
            )
    return list({one.id: (page, one) for page, one in chosen}.values()), known


def _on_page(name: str, known: Library) -> Iterator[tuple[str, TheoremOnPage]]:
    """The theorems or mechanisms of a page, which are known from then on."""
    found: Iterable[TheoremOnPage]
    if is_page_of_mechanisms(name):
        from dpverify.statements.mechanisms.as_theorems import mechanisms_on

        found = mechanisms_on(Path(name))
    else:
        found = read_theorems(Path(name))
    for one in found:
        if one.id in known:
            raise InvalidArgumentError("id", one.id, "ids that no other rule or theorem has")
        known.add(Path(name), one)
        if one.standing in KINDS:
            yield name, one


# ------------------------------------------------------------------------------------------- derivations


@dataclass(frozen=True)
class _TheoremTask:
    """A theorem, and all that its derivation may look at."""

    theorem: TheoremOnPage
    library: Known

    @classmethod
    def of(cls, theorem: TheoremOnPage, known: Known) -> _TheoremTask:
        return cls(theorem, library_before(theorem, known))

    @property
    def key(self) -> str:
        """All that its outcome depends on."""
        one = self.theorem
        displays = [[d.line, d.role, d.latex, d.by, d.given] for d in one.displays]
        own = [one.id, one.declared, displays, clause_json(one.clause), one.names]
        # a mechanism may look at all: its certificate has what it used (`_foreign`)
        before = {} if one.standing == "mechanism" else self.library
        library = [[id_, clause_json(of.clause), of.names] for id_, of in before.items()]
        return json.dumps([_deriver(one.standing), own, library])


@cache
def _deriver(standing: str) -> list[str]:
    """Changes with what derives theorems, or mechanisms, and with no page."""
    files = (Path(of).read_bytes() for of in (deriving.__file__, __file__))
    own = (hashlib.sha256(content).hexdigest() for content in files)
    more = ("dpverify.statements.mechanisms",) if standing == "mechanism" else ()
    return [program_hash(("dpverify.formulas", "dpverify.proving", *more)), *libraries(), *own]


@dataclass(frozen=True)
class TheoremFound:
    """What a derivation and a search for a model find."""

    reasons: tuple[str, ...]
    """Of each step, why it does not follow; where the readers differ, of each place how."""
    uses: tuple[str, ...]
    certificate: Json | None
    model: Json | None
    seconds: float

    @property
    def derived(self) -> bool:
        """Whether all of its steps follow."""
        return self.certificate is not None


def find_theorem(theorem: TheoremOnPage, known: Known) -> TheoremFound:
    """What is found of one theorem, from what stands before it."""
    return _carry_out(_TheoremTask.of(theorem, known))


def _carry_out(task: _TheoremTask) -> TheoremFound:
    one = task.theorem
    if one.standing == "mechanism":
        return found_of_mechanism(one)[0]
    found = derive(one, {**task.library, one.id: one})
    model = None if one.unclear else find_model(one.clause, refute=not found.derived).model
    reasons = tuple(step.reason for step in found.steps)
    return TheoremFound(reasons, found.uses, found.certificate, model, round(found.seconds, 3))


def found_of_mechanism(one: TheoremOnPage) -> tuple[TheoremFound, MechanismOutcome]:
    """What is found of a mechanism, as of a theorem and as of pairs of data sets."""
    from dpverify.statements.mechanisms.as_theorems import MechanismAsTheorem, decide

    assert isinstance(one, MechanismAsTheorem)
    begun = time.process_time()
    found = decide(one)
    blamed = [found.reason if each.line == found.line else "" for each in one.displays]
    certificate, uses = found.certificate, found.uses
    seconds = round(time.process_time() - begun, 3)
    return TheoremFound(tuple(blamed), uses, certificate, found.model, seconds), found


def _recalled(task: _TheoremTask, store: Store | None) -> TheoremFound | None:
    """What is kept of a theorem, if the checker confirms its certificate and its model."""
    if task.theorem.unclear:
        return None
    content: Any = kept("theorem", task.key)
    if content is None and store is not None and (raw := store.get("proof", task.key)) is not None:
        content = json.loads(raw)
    if content is None:
        return None
    reasons, uses, certificate, model, seconds = content
    found = TheoremFound(tuple(reasons), tuple(uses), certificate, model, seconds)
    if certificate is not None and foreign(certificate, task.theorem, task.library):
        return None
    return found if is_confirmed(task.theorem, found) else None


def foreign(certificate: Json, one: TheoremOnPage, library: Known) -> str:
    """Why a certificate is not one of a theorem on a page; empty if it is."""
    about = {"theorem": one.id, "clause": clause_json(one.clause), "letters": [*one.names]}
    if not isinstance(certificate, dict) or any(certificate.get(k) != v for k, v in about.items()):
        return "its certificate is not about the theorem on the page"
    for id_, clause in certificate.get("library", {}).items():
        if id_ not in library or clause_json(library[id_].clause) != clause:
            return f"its certificate rests on {id_}, which no page says so before it"
    return ""


def _keep(task: _TheoremTask, found: TheoremFound, store: Store | None) -> None:
    undecided = found.certificate is None and found.model is None
    if task.theorem.unclear or (undecided and task.theorem.standing == "mechanism"):
        return
    content = [found.reasons, found.uses, found.certificate, found.model, found.seconds]
    keep("theorem", task.key, content)
    if store is not None:
        store.put("proof", task.key, json.dumps(content).encode())


def find_theorems(
    theorems: Iterable[TheoremOnPage],
    known: Known,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    store: Store | None = None,
    again: bool = False,
) -> dict[str, TheoremFound]:
    """What is found of theorems and of all those on which they may rest, side by side in `workers` processes.

    What is kept is taken, unless all is to be derived `again`; what is found is kept.
    """
    tasks = {id_: _TheoremTask.of(known[id_], known) for id_ in _below(theorems, known)}
    found = {id_: None if again else _recalled(task, store) for id_, task in tasks.items()}
    missing = sorted(
        (task for id_, task in tasks.items() if found[id_] is None),
        key=lambda task: -len(task.theorem.displays),
    )
    for task, outcome in as_they_end(
        _carry_out, missing, workers=workers, progress=progress, done=len(tasks) - len(missing), few=FEW
    ):
        found[task.theorem.id] = outcome
        _keep(task, outcome, store)
    all_found = {id_: outcome for id_, outcome in found.items() if outcome is not None}
    used = dict.fromkeys(id_ for one in all_found.values() for id_ in one.uses if id_ not in all_found)
    more = [known[id_] for id_ in used if known[id_].standing in KINDS]  # of mechanisms, which name none
    if not more:
        return all_found
    return {
        **find_theorems(more, known, workers=workers, progress=progress, store=store, again=again), **all_found
    }  # fmt: skip


def _named(theorem: TheoremOnPage) -> Iterator[str]:
    return (name for one in theorem.displays for name in one.by)


def _below(theorems: Iterable[TheoremOnPage], known: Known) -> list[str]:
    """Theorems, and all those that their steps name and that these name."""
    found, left = dict[str, None](), [one.id for one in theorems]
    while left:
        id_ = left.pop()
        if id_ not in found and id_ in known and known[id_].standing in KINDS:
            found[id_] = None
            left += _named(known[id_])
    return list(found)


# ------------------------------------------------------------------------------------------- rows


def theorem_rows(
    names: Sequence[str],
    *,
    workers: int = 1,
    progress: Progress | None = None,
    store: Store | None = None,
    again: bool = False,
) -> list[TheoremRow]:
    """Theorems with their verdicts.

    Raises:
        InvalidArgumentError: for a name that no theorem has, or a page that is not understood.
    """
    chosen, known = chosen_theorems(names)
    found = find_theorems(
        [one for _, one in chosen], known, workers=workers, progress=progress, store=store, again=again
    )
    return [row_of(page, one, known, found) for page, one in chosen]


def row_of(page: str, one: TheoremOnPage, known: Known, found: Mapping[str, TheoremFound]) -> TheoremRow:
    """A theorem with the verdict that follows from what was found of it and of those below it."""
    own = found[one.id]
    below = rests_on(one.id, known, found)
    underived = tuple(id_ for id_ in below if known[id_].unclear or (id_ in found and not found[id_].derived))
    lines = _lines(one, own.reasons)
    failed = next((each for each in lines if each.reason), None)
    verdict, line, reason = Verdict.PROVED, one.line, ""
    if one.unclear:
        verdict, line, reason = Verdict.UNDECIDED, one.unclear[0].line, one.unclear[0].says
    elif not own.derived and own.model is not None:
        verdict, reason = Verdict.REFUTED, "in the model, what is assumed is true, and the claim is not"
        if failed is not None and one.standing == "mechanism":
            line, reason = failed.line, failed.reason
    elif failed is not None:
        verdict, line, reason = Verdict.UNDECIDED, failed.line, failed.reason
    elif underived:
        verdict, reason = (
            Verdict.UNDECIDED,
            f"derived, but it rests on {', '.join(underived)}, which is not derived",
        )
    elif own.model is None:
        verdict, reason = (
            Verdict.UNDECIDED,
            "derived, but no model was found in which what is assumed is true",
        )
    entry = TheoremEvidence(
        id=one.id, kind=KINDS[one.standing], title=one.title, page=page, line=line, verdict=verdict, reason=reason,
        claim=one.claim.latex,
        letters=tuple(TheoremLetterEntry(latex=a, kind=b, meaning=c) for a, b, c in one.declared),
        displays=lines, read_twice=one.read_twice, uses=own.uses,
        rules=tuple(id_ for id_ in below if id_ in shipped() and known[id_].standing == "rule"),
        results=tuple(id_ for id_ in below if known[id_].standing == "result" or _is_own_rule(known[id_])),
        underived=underived, model_in_words=_in_words(one, own.model, refute=not own.derived),
        changes=_changes(one, own.certificate),
        model=None if own.model is None else digest(own.model),
        certificate=None if own.certificate is None else digest(own.certificate),
        confirmed_by_checker=verdict is not Verdict.UNDECIDED, seconds=own.seconds,
    )  # fmt: skip
    return TheoremRow(entry, own.model, own.certificate)


def _changes(one: TheoremOnPage, certificate: Json | None) -> tuple[QueryChange, ...]:
    if certificate is None or one.standing != "mechanism":
        return ()
    from dpverify.statements.mechanisms.as_theorems import MechanismAsTheorem
    from dpverify.statements.mechanisms.pairs.changes import query_changes

    assert isinstance(one, MechanismAsTheorem)
    return query_changes(one.mechanism, certificate)


def _in_words(one: TheoremOnPage, model: Json | None, *, refute: bool) -> tuple[str, ...]:
    if model is None:
        return ()
    of = one.modeled(model, refute=refute)
    fixed = (f"{latex} = {value}" for latex, value in of.fixed)
    return (*fixed, *model_in_words(on_the_line(of.clause), of.names, of.model))


def is_confirmed(one: TheoremOnPage, found: TheoremFound) -> bool:
    """Whether the checker confirms what was found: the certificate if there is one, and the model."""
    confirmed = found.certificate is None or check(found.certificate).confirmed
    return confirmed and is_shown(one, found.model, refute=not found.derived)


def is_shown(one: TheoremOnPage, model: Json | None, *, refute: bool) -> bool:
    """Whether what is assumed is true in a model, if there is one, and, to refute it, what is claimed is not."""
    try:
        if model is not None:
            of = one.modeled(model, refute=refute)
            show(of.clause, of.model, refute=refute)
    except (ValueError, LookupError, TypeError, ArithmeticError):
        return False
    return True


def _lines(one: TheoremOnPage, reasons: Sequence[str]) -> tuple[TheoremLine, ...]:
    """The displays of a page, with why they do not follow or how they are read in two ways."""
    said = {unclear.line: unclear.says for unclear in one.unclear}
    if not one.unclear:
        said = {step.line: reason for step, reason in zip(one.steps, reasons, strict=True)}
    return tuple(
        TheoremLine(
            line=d.line, role=d.role, latex=d.latex, by=d.by, given=d.given, reason=said.get(d.line, "")
        )
        for d in one.displays
    )


def _is_own_rule(one: TheoremOnPage) -> bool:
    return one.standing == "rule" and one.id not in shipped()


def rests_on(id_: str, known: Known, found: Mapping[str, TheoremFound]) -> list[str]:
    """All that a theorem rests on, sorted."""
    below, left = set[str](), [id_]
    while left:
        for name in found[left.pop()].uses:
            if name not in below:
                below.add(name)
                left += [name] if name in found else []
    return sorted(below)


# ------------------------------------------------------------------------------------------- in the terminal


def theorem_lines(name: str) -> Iterator[str]:
    """A theorem, or several, for someone who has not read the page: letters, displays, verdict, what it rests on.

    Raises:
        InvalidArgumentError: for a name that no theorem has, or a page that is not understood.
    """
    from dpverify.verification.remembering.theorem_verdicts import verdicts_of

    rows, said = verdicts_of((name,))
    if name in FOLDERS:
        yield from (
            f"All {name} that come with the program",
            "",
            *(f"  {row.id}: {row.title}" for row in rows),
        )
        yield from ("", f"More about each: dpverify explain ID. Verdicts: dpverify list {name}")
        return
    for number, found in enumerate(rows):
        yield from ("",) if number else ()
        yield from (f"{found.id}: {found.title}", f"{found.page}; {why(found)}", "", "Letters:")
        for letter in found.letters:
            yield f"  {letter.latex}: {letter.kind}{letter.meaning and f', {letter.meaning}'}"
        for each in found.displays:
            yield from ("", f"{introduced(each)} (line {each.line}):", f"  {each.latex}")
            yield from (f"  It does not follow: {each.reason}",) if each.reason else ()
        yield ""
        yield from (f"{heading}: {text}" for heading, text in facts_of_theorem(found))
        yield f"Check it: dpverify prove {name} --again"
    yield from (said,) if said else ()
