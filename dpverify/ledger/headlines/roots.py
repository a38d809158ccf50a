"""What rests on what: all that a statement rests on, what is false of it, and where it ends.

A corrected statement rests on what it uses as corrected, where there is a correction. A box, a condition that a
correction adds, a part of a conclusion that no formula says, and what is not proved are found however far below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import Field

from dpverify.ledger.headlines.rows import (
    Cut,
    FormulaRow,
    conclusion,
    conclusions_of,
    gravest,
    needed,
    only_the_proof_changes,
)
from dpverify.ledger.names import bare, formula_of
from dpverify.ledger.premises import AssumedPremise
from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import HOLDS, Consequence, Coverage, Variant, Verdict


class Roots(Record):
    """What a statement rests on in the end: ids of statements or named results, or `STATEMENT/OBLIGATION`."""

    own: tuple[str, ...] = ()
    """Statements and formulas that are proved here and rest on nothing else."""
    literature: tuple[str, ...] = ()
    """Named results that are cited and not proved here."""
    unproved: tuple[str, ...] = ()
    """Statements and formulas that are not proved: undecided, or tried on special cases only."""
    boxed: tuple[str, ...] = ()
    """Formulas, of the statement itself too, that are proved on a part of their domain only."""
    assumed: tuple[AssumedPremise, ...] = ()
    """Premises, of the statement itself too, that are assumptions of its page: no used formula concludes them, or what
    one that does asks is not shown."""


def cycle(graph: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Some cycle of a graph, its first node repeated at the end; empty if there is none."""
    done: set[str] = set()
    for start in graph:
        path: list[str] = []
        waiting: list[tuple[str, Iterator[str]]] = []
        if start not in done:
            path, waiting = [start], [(start, iter(graph.get(start, ())))]
        while waiting:
            node, further = waiting[-1]
            for following in further:
                if following in path:
                    return (*path[path.index(following) :], following)
                if following not in done:
                    path.append(following)
                    waiting.append((following, iter(graph.get(following, ()))))
                    break
            else:
                done.add(node)
                path.pop()
                waiting.pop()
    return ()


def ancestors(name: str, graph: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """All that something rests on, directly or not, without itself; nearest first."""
    found: dict[str, None] = {}
    waiting = list(graph.get(name, ()))
    while waiting:
        following = waiting.pop(0)
        if following not in found:
            found[following] = None
            waiting += graph.get(following, ())
    return tuple(node for node in found if node != name)


@dataclass(frozen=True)
class FoundStatement:
    """What was found of one statement, for those that rest on it."""

    id: str
    uses: tuple[str, ...]
    """What the statement rests on, whichever the formula."""
    rows: Mapping[Variant, Sequence[FormulaRow]]
    """Its formulas in each variant; no corrected variant where there is no correction."""
    unsaid: tuple[str, ...] = ()
    """Displays of the statement itself that no formula of either variant says."""
    cited: tuple[str, ...] = ()
    """Its formulas that are taken from its source and not proved: what rests on all of it rests on the literature."""

    def missing(self, variant: Variant) -> tuple[str, ...]:
        """The parts of its conclusion that no formula of a variant says: what only its correction concludes, too."""
        if variant is Variant.CORRECTED or Variant.CORRECTED not in self.rows:
            return self.unsaid
        printed = {row.name for row in self.rows[Variant.PRINTED]}
        corrected = (row for row in self.rows[Variant.CORRECTED] if row.corrected)
        return (*(row.name for row in conclusions_of(corrected) if row.name not in printed), *self.unsaid)

    def variant(self, wanted: Variant) -> Variant:
        """The variant that something in a variant rests on."""
        return wanted if wanted in self.rows else Variant.PRINTED

    def row(self, name: str, variant: Variant) -> FormulaRow | None:
        """A formula in a variant; one that only the other variant has stands for itself."""
        return self._named[self.variant(variant)].get(name)

    @cached_property
    def _named(self) -> Mapping[Variant, Mapping[str, FormulaRow]]:
        every = [row for rows in self.rows.values() for row in rows]
        return {of: {row.name: row for row in reversed([*rows, *every])} for of, rows in self.rows.items()}

    def refuted(self, variant: Variant) -> tuple[FormulaRow, ...]:
        """The formulas that refute the statement itself in a variant."""
        return tuple(row for row in self.rows.get(variant, ()) if row.refutes)

    def conclusion(self, variant: Variant) -> Verdict | None:
        """What its own formulas give in a variant; `refuted` where one refutes it."""
        if self.refuted(variant):
            return Verdict.REFUTED
        return conclusion(self.id, self.rows.get(variant, ()))

    @property
    def where_meant(self) -> bool:
        """Whether it is refuted by nothing but edge cases that no reader means, and holds as corrected."""
        refuted = self.refuted(Variant.PRINTED)
        edges = all(row.consequence is Consequence.EDGE for row in refuted)
        return bool(refuted) and edges and self.conclusion(Variant.CORRECTED) in HOLDS

    @property
    def needs_its_correction(self) -> bool:
        """Whether it holds as corrected, and neither as printed nor by another proof of what is printed."""
        if self.conclusion(Variant.PRINTED) in HOLDS or self.conclusion(Variant.CORRECTED) not in HOLDS:
            return False
        return not only_the_proof_changes(self.id, self.rows[Variant.PRINTED], self.rows[Variant.CORRECTED])

    def holding(self, wanted: Variant) -> Variant | None:
        """The variant on which something in a variant can rest; None if the statement is not proved.

        A printed statement that holds by a corrected proof, or where it is meant, is rested on as it is corrected.
        """
        order = (self.variant(wanted), Variant.CORRECTED)
        return next((variant for variant in order if self.conclusion(variant) in HOLDS), None)


class Below(Record):
    """All that a statement rests on, and what comes up from there."""

    false: dict[str, Consequence | None] = Field(default_factory=dict)
    """What is refuted of it, nearest first, with what follows from that."""
    meant: tuple[str, ...] = ()
    """Of these, statements that hold where they are meant."""
    unfollowed: dict[str, bool] = Field(default_factory=dict)
    """What does not follow of it, with whether that is a claim: nothing is proved by one."""
    corrected: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The statements whose correction it rests on, since they do not hold as printed, with what these add."""
    added: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Formula to the conditions that its correction adds, for all other corrections that it rests on."""
    boxed: dict[str, tuple[Cut, ...]] = Field(default_factory=dict)
    """Formula to the parts of its domain that are left."""
    missing: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Statement to the parts of its conclusion that no formula says."""
    roots: Roots = Roots()


def below(statement: str, variant: Variant, shown: Mapping[str, FoundStatement]) -> Below:
    """All that a statement rests on in a variant."""
    false, unfollowed, corrected = _broken(statement, variant, shown)
    found = _Foundation(shown, variant)
    start = shown.get(statement)
    if start is not None:
        found.of_statement(start, start.variant(variant))
    conditions: dict[str, list[str]] = {name: [] for name in corrected}
    others: dict[str, tuple[str, ...]] = {}
    for name, added in found.added.items():
        if bare(name) in conditions:
            conditions[bare(name)] += added
        elif bare(name) != statement:
            others[name] = added
    return Below(
        false=false,
        meant=tuple(name for name in false if name in shown and shown[name].where_meant),
        unfollowed=unfollowed,
        corrected={name: tuple(dict.fromkeys(added)) for name, added in conditions.items()},
        added=others,
        boxed={name: parts for name, parts in found.boxed.items() if bare(name) != statement},
        missing={name: parts for name, parts in found.missing.items() if name != statement},
        roots=Roots(
            own=tuple(found.own),
            literature=tuple(sorted(found.literature)),
            unproved=tuple(found.unproved),
            boxed=tuple(found.boxed),
            assumed=tuple(found.assumed),
        ),
    )


class _Foundation:
    """Goes down from a statement to where its proof ends."""

    def __init__(self, shown: Mapping[str, FoundStatement], variant: Variant) -> None:
        self._shown, self._variant = shown, variant
        self._done: set[str] = set()
        self.own: dict[str, None] = {}
        self.literature: dict[str, None] = {}
        self.unproved: dict[str, None] = {}
        self.boxed: dict[str, tuple[Cut, ...]] = {}
        self.added: dict[str, tuple[str, ...]] = {}
        self.missing: dict[str, tuple[str, ...]] = {}
        self.assumed: dict[AssumedPremise, None] = {}

    def of_statement(self, of: FoundStatement, variant: Variant) -> bool:
        """What gives its conclusion; whether that rests on anything outside of the statement."""
        self._done.add(of.id)
        rows = needed(of.id, of.rows[variant])
        for row in rows:
            self._take(of.id, row)
        if missing := of.missing(variant):
            self.missing[of.id] = missing
        inside = {f"{of.id}/{row.name}" for row in rows}
        further = {
            name: None for name in (*of.uses, *(n for row in rows for n in row.uses)) if name not in inside
        }
        for name in further:
            self._of(name)
        return bool(further)

    def _take(self, id_: str, row: FormulaRow) -> None:
        name = f"{id_}/{row.name}"
        self._done.add(name)
        if row.cut:
            self.boxed[name] = row.cut
        if row.added:
            self.added[name] = row.added
        for premise in row.assumed:
            self.assumed[AssumedPremise(formula=name, premise=premise)] = None

    def _of(self, name: str) -> None:
        if name in self._done:
            return
        self._done.add(name)
        id_, formula = bare(name), formula_of(name)
        of = self._shown.get(id_)
        if of is None:
            (self.unproved if "." in id_ else self.literature)[name] = None
        elif not formula and of.cited:
            self.literature[name] = None
        elif not formula:
            variant = of.holding(self._variant)
            if variant is None:
                self.unproved[name] = None
            elif not self.of_statement(of, variant):
                self.own[name] = None
        else:
            self._of_formula(of, name, formula)

    def _of_formula(self, of: FoundStatement, name: str, formula: str) -> None:
        wanted = of.variant(self._variant)
        rows = [
            row for row in (of.row(formula, wanted), of.row(formula, of.variant(Variant.CORRECTED))) if row
        ]
        row = next((row for row in rows if row.verdict in HOLDS), None)
        if row is None:
            self.unproved[name] = None
            return
        self._take(of.id, row)
        for further in row.uses:
            self._of(further)
        if not row.uses:
            self.own[name] = None


def _broken(
    statement: str, variant: Variant, shown: Mapping[str, FoundStatement]
) -> tuple[dict[str, Consequence | None], dict[str, bool], tuple[str, ...]]:
    """What is false, and what does not follow, of all that it rests on, nearest first; whose corrections it rests on.

    A statement that is named stands for all of its formulas but instances and references, and is false if it is
    refuted; of one that is named with a formula, `STATEMENT/OBLIGATION`, only this formula counts, and what that rests
    on.
    """
    false: dict[str, Consequence | None] = {}
    unfollowed: dict[str, bool] = {}
    corrected: dict[str, None] = {}
    done: set[str] = {statement}
    start = shown.get(statement)
    waiting = [] if start is None else list(_references(start, start.variant(variant)))
    while waiting:
        name = waiting.pop(0)
        id_, formula = bare(name), formula_of(name)
        of = shown.get(id_)
        if name in done or of is None:
            continue
        done.add(name)
        there = of.variant(variant)
        if not formula:
            refuted = of.refuted(there)
            if refuted:
                false[name] = gravest(row.consequence for row in refuted)
            elif of.conclusion(there) is Verdict.DOES_NOT_FOLLOW:
                unfollowed[name] = True
            elif there is not Variant.PRINTED and of.needs_its_correction:
                corrected[name] = None
            waiting += _references(of, there)
            continue
        row = of.row(formula, there)
        if row is None:
            continue
        if row.verdict is Verdict.REFUTED and id_ != statement:
            false[name] = row.consequence
        elif row.verdict is Verdict.DOES_NOT_FOLLOW and id_ != statement:
            unfollowed[name] = row.coverage is Coverage.CONCLUSION
        waiting += row.uses
    return false, unfollowed, tuple(corrected)


def _references(of: FoundStatement, variant: Variant) -> tuple[str, ...]:
    aside = (Coverage.INSTANCE, Coverage.REFERENCE)
    parts = [row for row in of.rows[variant] if row.coverage not in aside]
    return tuple(dict.fromkeys([*of.uses, *(name for row in parts for name in row.uses)]))
