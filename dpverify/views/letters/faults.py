"""A letter to the authors of each paper: each fault once, the gravest first; then proofs, edge cases and notation.

Nothing is listed by hand: which rows of a ledger tell one fault, and how grave it is, follows from their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from dpverify.grouping import grouped
from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import ErratumEntry, InstanceEntry, StatementEntry
from dpverify.ledger.headlines.rows import CLAIMS, gravest
from dpverify.ledger.headlines.words import Standing
from dpverify.ledger.names import bare
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN, HOLDS, Consequence, Coverage, Variant, Verdict
from dpverify.views.corrections import gravity, repairs_of

GRAVE = (Consequence.CLAIM, Consequence.CONSTANT, Consequence.CONDITION)
"""Consequences for whoever implements what is printed."""

_MEANT = (Consequence.NOTATION, Consequence.EDGE)

_KINDS = ("entry", "step", "meant")
"""Where a fault is told, the gravest first."""

T = TypeVar("T")


@dataclass(frozen=True)
class PrintedFault:
    """Printed formulas that are false or do not follow for one reason."""

    rows: tuple[ProofEvidence, ...]
    """The most telling first; the others say it again."""
    consequence: Consequence | None
    repairs: tuple[ProofEvidence, ...]
    """What is true instead of the first; empty where nothing is known to be."""

    @property
    def shown(self) -> ProofEvidence:
        """The row that tells it."""
        return self.rows[0]

    @property
    def units(self) -> ProofEvidence | None:
        """The row about units, where the two sides of a formula have different ones."""
        return next((row for row in self.rows if row.coverage is Coverage.UNIT), None)

    @property
    def places(self) -> tuple[str, ...]:
        """Where its rows stand in print, each place once."""
        return tuple(dict.fromkeys(row.where for row in self.rows if row.where))


@dataclass(frozen=True)
class LetterEntry:
    """What breaks a claim, a constant or a condition of some statements, of which the others rest on the first."""

    consequence: Consequence | None
    """The worst of its faults; None where they do not follow, or where that is not known."""
    statements: tuple[StatementEntry, ...]
    faults: tuple[PrintedFault, ...]
    """The one that is told first; none where only a test or an audit computes it."""
    steps: tuple[PrintedFault, ...]
    """What else is false in the proofs of these statements, or does not follow."""
    errata: tuple[tuple[StatementEntry, ErratumEntry], ...]
    """What a test or an audit computes of these statements, or of an algorithm that belongs with them."""
    rest: tuple[StatementEntry, ...]
    """Further statements that rest on these."""

    @property
    def heading(self) -> str:
        """The statements' places, and what it means."""
        return f"{self.places}: {self.meaning}"

    @property
    def places(self) -> str:
        """Of its statements, each once."""
        return "; ".join(dict.fromkeys(row.where or row.id for row in self.statements))

    @property
    def meaning(self) -> str:
        """The consequence in words."""
        if self.consequence is not None:
            return str(self.consequence)
        open_ended = all(fault.shown.verdict is Verdict.DOES_NOT_FOLLOW for fault in self.faults)
        return "does not follow" if open_ended else "consequence not recorded"

    @property
    def instance(self) -> InstanceEntry | None:
        """What shows the first fault, for code to run."""
        (shown, *_) = [*(fault.shown for fault in self.faults), None]
        of = {row.id: row for row in self.statements}
        if shown is None or shown.statement not in of:
            return None
        found = [each for each in of[shown.statement].instances if each.verdict is Verdict.REFUTED]
        return next((each for each in found if each.obligation == shown.obligation), None)


@dataclass(frozen=True)
class Letter:
    """All that is false in a paper, or does not follow."""

    paper: str
    statements: tuple[StatementEntry, ...]
    """All of them."""
    entries: tuple[LetterEntry, ...]
    steps: tuple[PrintedFault, ...]
    """What is false in a proof only, in the paper's order, of statements that no entry is about."""
    meant: tuple[PrintedFault, ...]
    """Edge cases and notation: it holds where it is meant."""
    others: tuple[tuple[StatementEntry, ErratumEntry], ...]
    """What a test or an audit computes and no entry has."""
    added: Mapping[str, tuple[str, Mapping[str, str]]]
    """What corrections add, in plain characters, to the same in LaTeX, and to what its letters are."""

    @cached_property
    def rows(self) -> tuple[ProofEvidence, ...]:
        """Every row that is told somewhere."""
        told = (fault for entry in self.entries for fault in entry.faults)
        return tuple(row for fault in (*told, *self.all_steps, *self.meant) for row in fault.rows)

    @property
    def all_steps(self) -> tuple[PrintedFault, ...]:
        """What is false in a proof only, with that of statements that an entry is about."""
        return (*(fault for entry in self.entries for fault in entry.steps), *self.steps)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.entries or self.steps or self.meant or self.others)


def letters(ledger: Ledger) -> tuple[Letter, ...]:
    """A letter for each paper, in the ledger's order; what is in no catalog stands in one of its own."""
    proofs = [entry for entry in ledger.entries if isinstance(entry, ProofEvidence)]
    rows = {row.id: row for row in ledger.statements}
    of = {p.statement: rows[p.statement].paper if p.statement in rows else "" for p in proofs}
    keys = dict.fromkeys([*(row.paper for row in ledger.statements), *of.values()])
    return tuple(_Sorted(key, rows, [p for p in proofs if of[p.statement] == key]).letter() for key in keys)


class _Sorted:
    """The rows of one paper, by what they tell."""

    def __init__(self, paper: str, rows: dict[str, StatementEntry], proofs: Sequence[ProofEvidence]) -> None:
        self.paper, self.every, self.proofs = paper, rows, proofs
        self.of_paper = {name: row for name, row in rows.items() if row.paper == paper}
        self.broken = [p for p in proofs if p.variant is Variant.PRINTED and p.verdict in BROKEN]
        self.place = {id(proof): number for number, proof in enumerate(proofs)}
        names = dict.fromkeys([*rows, *(p.statement for p in proofs)])
        self.order = {name: number for number, name in enumerate(names)}

    def letter(self) -> Letter:
        """All of it."""
        found = self._faults()
        entries, steps, meant = ([fault for kind, fault in found if kind == which] for which in _KINDS)
        made = self._entries(entries, steps)
        apart = {id(fault) for entry in made for fault in entry.steps}
        added = {
            text: (latex, proof.added_letters)
            for proof in self.proofs
            for text, latex in zip(proof.added, proof.added_latex, strict=False)
        }
        return Letter(
            self.paper,
            tuple(self.of_paper.values()),
            tuple(made),
            tuple(fault for fault in steps if id(fault) not in apart),
            tuple(meant),
            tuple(pair for pair in self._errata() if pair[1].consequence not in GRAVE),
            added,
        )

    # --------------------------------------------------------------------------------- one row

    def _consequence(self, row: ProofEvidence) -> Consequence | None:
        """Its own; of a claim that does not follow, that of its statement, if this is false as printed."""
        statement = self.every.get(row.statement)
        if row.consequence is None and statement is not None and row.coverage in CLAIMS:
            return statement.printed.consequence
        return row.consequence

    def _kind(self, row: ProofEvidence) -> str:
        """Where it is told: in an entry, among the steps of proofs, or as holding where it is meant."""
        consequence, statement = self._consequence(row), self.every.get(row.statement)
        standing = statement.printed.standing if statement is not None else None
        claims = row.coverage in CLAIMS
        if consequence in _MEANT or (consequence is None and claims and standing is Standing.WHERE_MEANT):
            return "meant"
        if standing is Standing.HOLDS or not (consequence in GRAVE or (consequence is None and claims)):
            return "step"
        return "entry"

    def _weight(self, row: ProofEvidence) -> tuple[bool, ...]:
        """The most telling first: what is false before what does not follow, claims, sizes in practice, numbers."""
        size = row.realistic
        realistic = size is not None and size.point is not None and size.confirmed_by_checker
        return (
            row.coverage is Coverage.UNIT,
            row.verdict is Verdict.DOES_NOT_FOLLOW,
            row.coverage not in CLAIMS,
            not realistic,
            not row.excess,
        )

    # --------------------------------------------------------------------------------- one fault

    def _faults(self) -> list[tuple[str, PrintedFault]]:
        """All of them, each once, in the paper's order, with where it is told."""
        groups = _together(self.broken, self._marks)
        kinds = {id(group): min(map(self._kind, group), key=_KINDS.index) for group in groups}
        home = {id(row): group for group in groups for row in group}
        named = {f"{row.statement}/{row.obligation}": row for row in self.broken}
        for name in {row.statement for row in self.broken}:
            mine = [row for row in self.broken if row.statement == name]
            if all(self._kind(row) == "meant" for row in mine):
                named[name] = mine[0]  # what uses a statement whose notation is wrong
        for row in self.broken:
            mine = home[id(row)]
            source = next((home[id(named[use])] for use in row.uses if use in named), mine)
            if source is not mine and kinds[id(mine)] != "entry":
                source += mine
                home.update((id(moved), source) for moved in mine)
                mine.clear()
        return [(kinds[id(group)], self._fault(group, kinds[id(group)])) for group in groups if group]

    def _marks(self, row: ProofEvidence) -> Iterator[Hashable]:
        """What it shares with other rows that tell the same fault; what uses one of them is told with it besides."""
        yield row.statement, row.units_of or row.obligation
        kind = self._kind(row)
        if row.latex or row.expression:
            yield kind, row.latex, row.expression
        for repair in self.proofs:
            same = (repair.statement, repair.obligation) == (row.statement, row.obligation)
            if same and repair.variant is Variant.CORRECTED and repair.latex:
                yield kind, row.statement, repair.latex, repair.added

    def _fault(self, rows: list[ProofEvidence], kind: str) -> PrintedFault:
        used = {use for row in rows for use in row.uses}
        found = sorted(
            rows,
            key=lambda row: (
                not used & {row.statement, f"{row.statement}/{row.obligation}"},
                self._weight(row),
                self.place[id(row)],
            ),
        )
        worst = gravest(self._consequence(row) for row in found if self._kind(row) == kind)
        return PrintedFault(tuple(found), worst, self._repairs(found[0], kind == "entry"))

    def _repairs(self, shown: ProofEvidence, grave: bool) -> tuple[ProofEvidence, ...]:
        """What is true instead; of a grave fault also the whole claim, or what the proof of that needs, corrected."""
        every = [r for r in repairs_of(shown, self.proofs) if r.coverage is not Coverage.UNIT]
        found = [r for r in every if r.obligation == shown.obligation or (grave and r.coverage in CLAIMS)]
        statement = self.every.get(shown.statement)
        if grave and not found and statement is not None and statement.corrected.verdict in HOLDS:
            names = {row.obligation for row in self.broken if row.statement == shown.statement}
            found = [r for r in every if r.obligation in names]
        lines = {(shown.latex, shown.added, shown.definitions): shown}
        for repair in found:
            lines.setdefault((repair.latex, repair.added, repair.definitions), repair)
        return tuple(repair for repair in lines.values() if repair is not shown)

    # --------------------------------------------------------------------------------- entries

    def _entries(self, faults: Sequence[PrintedFault], steps: Sequence[PrintedFault]) -> list[LetterEntry]:
        """One for each consequence in a statement, in those that rest on it and those that share a fault with it."""
        shared = grouped((name, fault) for fault in steps for name in {row.statement for row in fault.rows})
        has = {(fault.consequence, row.statement) for fault in faults for row in fault.rows}

        def marks(fault: PrintedFault) -> Iterator[Hashable]:
            for name in {row.statement for row in fault.rows}:
                yield fault.consequence, name
                yield from ((fault.consequence, id(other)) for other in shared.get(name, ()))
                yield from has & {(fault.consequence, other) for other in self._below(name)}

        found = self._with_steps([self._entry(group) for group in _together(faults, marks)], steps)
        for row, erratum in (pair for pair in self._errata() if pair[1].consequence in GRAVE):
            mine = next((e for e in found if {row.id, *row.pairs} & {s.id for s in e.statements}), None)
            if mine is not None:
                found.remove(mine)
            found.append(_with_erratum(mine, row, erratum))
        return sorted(found, key=self._gravity)

    def _errata(self) -> list[tuple[StatementEntry, ErratumEntry]]:
        return [(row, erratum) for row in self.of_paper.values() for erratum in row.errata]

    def _entry(self, faults: list[PrintedFault]) -> LetterEntry:
        def grave(fault: PrintedFault) -> tuple[object, ...]:
            return gravity(fault.consequence), self._weight(fault.shown), self.place[id(fault.shown)]

        first = tuple(sorted(faults, key=grave))
        ids = sorted({row.statement for fault in faults for row in fault.rows}, key=self.order.__getitem__)
        rows = tuple(self.every.get(name) or _unknown(name, first) for name in ids)
        rest = {name for row in rows for name in row.used_by if name in self.every} - {*ids}
        below = tuple(self.every[name] for name in sorted(rest, key=self.order.__getitem__))
        return LetterEntry(gravest(fault.consequence for fault in faults), rows, first, (), (), below)

    def _with_steps(self, entries: Iterable[LetterEntry], steps: Sequence[PrintedFault]) -> list[LetterEntry]:
        """Steps of proofs stand with the first entry, in order of gravity, that is about their statement."""
        found: list[LetterEntry] = []
        left = list(steps)
        for entry in sorted(entries, key=self._gravity):
            ids = {row.id for row in entry.statements}
            mine = [fault for fault in left if fault.shown.statement in ids]
            left = [fault for fault in left if fault.shown.statement not in ids]
            found.append(replace(entry, steps=tuple(mine)))
        return found

    def _gravity(self, entry: LetterEntry) -> tuple[int, bool, int, int]:
        claims = any(row.coverage in CLAIMS for fault in entry.faults for row in fault.rows)
        return gravity(entry.consequence), not claims, -len(entry.rest), self.order[entry.statements[0].id]

    def _below(self, name: str) -> set[str]:
        """All statements that one rests on."""
        found, waiting = set[str](), [name]
        while waiting:
            row = self.every.get(waiting.pop())
            for use in map(bare, row.uses if row else ()):
                if use not in found:
                    found.add(use)
                    waiting.append(use)
        return found


def _unknown(name: str, faults: Sequence[PrintedFault]) -> StatementEntry:
    """Of a statement that no catalog has."""
    where = next(row.where for fault in faults for row in fault.rows if row.statement == name)
    return StatementEntry(id=name, paper="", kind="", where=where, title="")


def _with_erratum(entry: LetterEntry | None, row: StatementEntry, erratum: ErratumEntry) -> LetterEntry:
    told = ((row, erratum),)
    if entry is None:
        return LetterEntry(erratum.consequence, (row,), (), (), told, ())
    worst = gravest((entry.consequence, erratum.consequence))
    return replace(entry, consequence=worst, errata=(*entry.errata, *told))


def _together(items: Sequence[T], marks: Callable[[T], Iterable[Hashable]]) -> list[list[T]]:
    """Items in groups, those with a common mark together, each group in the place of its first item."""
    group = list(range(len(items)))
    first: dict[Hashable, int] = {}
    for number, item in enumerate(items):
        for mark in marks(item):
            old, new = group[number], group[first.setdefault(mark, number)]
            group = [min(old, new) if each in (old, new) else each for each in group]
    return list(grouped(zip(group, items, strict=True)).values())
