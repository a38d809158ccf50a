"""What may be said about a statement, computed from its formulas: a headline says what was proved and no more.

A statement is proved only by its `whole` formulas, together with its conditions and with what these rest on;
everything that they use and that is not among the statement's own formulas is named after the word "given". Instances
refute or support. A false step or condition is named, and so is a box that leaves out part of a domain. A special case
in which a step of the proof fails refutes that step, not the statement. Where the printed proof needs a step that is
false, the statement holds if its correction proves the very same formulas: by a corrected proof. Nothing is proved by
what rests on a statement whose claim, or a constant in it, is false as printed; on a formula of it that is true, it may
rest. A corrected statement rests on what it uses as corrected, where there is a correction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpverify.evidence import Consequence, Coverage, ProofEvidence, Variant, Verdict, overall
from dpverify.written_numbers import number_of, short_number

HOLDS = (Verdict.PROVED, Verdict.CERTIFIED)

_FALSE_STEP = "a step of its proof is false"


@dataclass(frozen=True)
class Word:
    """What was shown about one variant of a statement."""

    verdict: Verdict | None
    """On the statement itself: None where no formula covers the whole of it and none refutes it."""
    given: tuple[str, ...]
    """What the verdict rests on besides the statement's own formulas."""
    headline: str
    """The same in words, with what is false or left out."""


@dataclass(frozen=True)
class Row:
    """What the rule looks at in one formula."""

    name: str
    coverage: Coverage
    verdict: Verdict
    uses: tuple[str, ...]
    cut: tuple[str, ...]
    """Parts of the domain to which a box confines it, in words."""
    consequence: Consequence | None = None
    corrected: bool = False
    """Whether it is no printed formula, but stands in place of one or was added to the proof."""

    @property
    def false_step(self) -> bool:
        """Whether it shows that a step of the proof is false: a display of the proof, or a special case of one."""
        if self.verdict is not Verdict.REFUTED:
            return False
        return self.coverage is Coverage.STEP or (
            self.coverage is Coverage.INSTANCE and self.consequence is Consequence.STEP
        )

    @property
    def refutes(self) -> bool:
        """Whether it refutes the statement."""
        claims = (Coverage.WHOLE, Coverage.INSTANCE)
        return self.verdict is Verdict.REFUTED and self.coverage in claims and not self.false_step


def row_of(proof: ProofEvidence) -> Row:
    """A ledger's row as the rule sees it."""
    corrected = proof.variant is Variant.REPAIRED
    return Row(
        proof.obligation, proof.coverage, proof.verdict, proof.uses, cut(proof), proof.consequence, corrected
    )


def cut(proof: ProofEvidence) -> tuple[str, ...]:
    """The variables that a box keeps from a part of their domain, with the part that is left."""
    if proof.verdict is not Verdict.CERTIFIED or proof.box is None:
        return ()
    return tuple(
        f"{name} in [{low}, {high}]"
        for name, (low, high) in proof.box.items()
        if not _covers(proof.domain.get(name, ""), low, high)
    )


_DOMAIN = re.compile(r"(?:integers in )?[\[(]([^,]+), ([^\])]+)[\])]")


def _covers(domain: str, low: str, high: str) -> bool:
    """Whether a box has all of a domain; what cannot be read is not covered."""
    ends = _DOMAIN.fullmatch(domain)
    try:
        return ends is not None and Fraction(low) <= Fraction(ends[1]) and Fraction(ends[2]) <= Fraction(high)
    except (ValueError, ZeroDivisionError):
        return False


def marks(proofs: Iterable[ProofEvidence]) -> tuple[str, ...]:
    """What is false as printed in a statement besides its conclusion, each kind once."""
    return _marks(row_of(p) for p in proofs if p.variant is Variant.PRINTED)


def _marks(rows: Iterable[Row]) -> tuple[str, ...]:
    words = {
        Coverage.STEP: _FALSE_STEP,
        Coverage.CONDITION: "a condition is false",
        Coverage.UNIT: "units differ",
        Coverage.REFERENCE: "a reference is false",
    }
    false = {
        Coverage.STEP if row.false_step else row.coverage for row in rows if row.verdict is Verdict.REFUTED
    }
    return tuple(text for coverage, text in words.items() if coverage in false)


def variant_rows(
    proofs: Sequence[ProofEvidence], variant: Variant, replaced: Iterable[str] = ()
) -> tuple[Row, ...]:
    """The rows of one variant. The corrected statement is the printed one except for what its correction replaces.

    Args:
        proofs: all rows of one statement.
        variant: which of the two.
        replaced: printed formulas without a successor of the same name that the correction makes void.
    """
    mine = [p for p in proofs if p.variant is variant]
    if variant is Variant.REPAIRED:
        gone = {p.obligation for p in mine} | {name + tail for name in replaced for tail in ("", ": units")}
        mine += [p for p in proofs if p.variant is Variant.PRINTED and p.obligation not in gone]
    return tuple(map(row_of, mine))


def word(
    statement: str,
    rows: Sequence[Row],
    uses: Sequence[str] = (),
    false: Mapping[str, Consequence | None] | None = None,
    corrected: Sequence[str] = (),
    *,
    printed: Sequence[Row] | None = None,
) -> Word:
    """What may be said about a statement.

    Args:
        statement: its id.
        rows: its formulas in one variant.
        uses: what the statement rests on, whichever the formula.
        false: what is false of all that it rests on, with what follows from that.
        corrected: the statements whose correction it rests on, since they are false as printed.
        printed: its printed formulas, where `rows` are those of a corrected proof of what is printed.
    """
    false_rows = _marks(rows if printed is None else printed)
    said = [*false_rows]
    refuted = [row for row in rows if row.refutes]
    if refuted:
        worst = gravest(row.consequence for row in refuted)
        return Word(Verdict.REFUTED, (), "; ".join(["refuted" + (f": {worst}" if worst else ""), *said]))
    said += _carried(false or {})
    wholes = [row for row in rows if row.coverage is Coverage.WHOLE]
    if not wholes:
        return Word(None, (), "; ".join([_without_a_whole(rows), *said]))
    needed = _needed(statement, rows, wholes)
    verdict = _conclusion(needed)
    own = {f"{statement}/{row.name}" for row in rows}
    named = {*uses, *(name for row in needed for name in row.uses)} - own
    given = tuple(sorted(name for name in named if bare(name) == name or bare(name) not in named))
    if any(consequence not in (Consequence.STEP, Consequence.EDGE) for consequence in (false or {}).values()):
        verdict = Verdict.UNDECIDED  # whether it needs what is false of that is not known
    if verdict not in HOLDS:
        return Word(verdict, given, "; ".join([str(verdict), *said]))
    first = "holds" if _FALSE_STEP in false_rows else str(verdict)
    if printed is not None:
        first = "holds by a corrected proof"
    parts = tuple(dict.fromkeys(part for row in needed for part in row.cut))
    if parts:
        first += f" on part of its domain ({', '.join(parts)})"
    elif first.startswith("holds") and verdict is Verdict.CERTIFIED:
        first += " by rigorous intervals"
    if given:
        first += f", given {', '.join(given)}"
    if corrected:
        said.append(f"{', '.join(corrected)} as corrected")
    return Word(verdict, given, "; ".join([first, *said]))


def only_the_proof_changes(statement: str, printed: Sequence[Row], corrected: Sequence[Row]) -> bool:
    """Whether a correction leaves a statement as it is printed and gives it another proof.

    What is said in the statement, its wholes and conditions, stands in both; what the printed proof needs and is false
    is a step of the proof only.

    Args:
        statement: its id.
        printed: its printed formulas.
        corrected: those of its correction.
    """
    wholes = [row for row in printed if row.coverage is Coverage.WHOLE]
    kept = {row.name for row in corrected if not row.corrected}
    said = [*wholes, *(row for row in printed if row.coverage is Coverage.CONDITION)]
    if not wholes or not all(row.name in kept and row.verdict in HOLDS for row in said):
        return False
    false = [row for row in _needed(statement, printed, wholes) if row.verdict is Verdict.REFUTED]
    return bool(false) and all(row.false_step and row.consequence is Consequence.STEP for row in false)


def _carried(false: Mapping[str, Consequence | None]) -> Iterator[str]:
    """What is false of all that a statement rests on, gravest first: one clause for each consequence."""
    for consequence in (*Consequence, None):
        names = [name for name, of in false.items() if of is consequence]
        if names:
            why = f": {consequence}" if consequence else ""
            yield f"rests on {', '.join(names)} (false as printed{why})"


def gravest(consequences: Iterable[Consequence | None]) -> Consequence | None:
    """The worst of them; None where none is known."""
    return min((c for c in consequences if c is not None), key=list(Consequence).index, default=None)


def _needed(statement: str, rows: Sequence[Row], wholes: Sequence[Row]) -> list[Row]:
    """The wholes, all conditions, and those of the statement's own formulas that these use."""
    by_name = {f"{statement}/{row.name}": row for row in rows}
    waiting = [*wholes, *(row for row in rows if row.coverage is Coverage.CONDITION)]
    found: dict[str, Row] = {}
    while waiting:
        row = waiting.pop(0)
        if row.name not in found:
            found[row.name] = row
            waiting += [by_name[name] for name in row.uses if name in by_name]
    return list(found.values())


def _conclusion(needed: Sequence[Row]) -> Verdict:
    """The weakest verdict; if something that the wholes need is false, they prove nothing."""
    verdict = overall([row.verdict for row in needed])
    assert verdict is not None
    return Verdict.UNDECIDED if verdict is Verdict.REFUTED else verdict


def _without_a_whole(rows: Sequence[Row]) -> str:
    for coverage, noun in ((Coverage.INSTANCE, "instances"), (Coverage.STEP, "steps of its proof")):
        found = [row.verdict in HOLDS for row in rows if row.coverage is coverage]
        if any(found):
            only = "" if coverage is Coverage.INSTANCE else "only "
            return f"{only}{noun} hold" if all(found) else f"{only}some {noun} hold"
        if found:
            return f"{noun} undecided"
    return "nothing was decided"


# ----------------------------------------------------------------------------------------- what rests on what


def bare(name: str) -> str:
    """The statement of `STATEMENT/OBLIGATION`, or the id itself."""
    return name.partition("/")[0]


def cycle(graph: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Some cycle of a graph, its first node repeated at the end; empty where there is none."""
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
class Shown:
    """What was found of one statement, for those that rest on it."""

    uses: tuple[str, ...]
    """What the statement rests on, whichever the formula."""
    rows: Mapping[Variant, Sequence[Row]]
    """Its formulas in each variant; no corrected variant where there is no correction."""

    def variant(self, wanted: Variant) -> Variant:
        """The variant that something in a variant rests on."""
        return wanted if wanted in self.rows else Variant.PRINTED

    def row(self, name: str, variant: Variant) -> Row | None:
        """A formula in a variant; one that only the other variant has stands for itself."""
        found = [*self.rows[self.variant(variant)], *(row for rows in self.rows.values() for row in rows)]
        return next((row for row in found if row.name == name), None)

    def refuted(self, variant: Variant) -> tuple[Row, ...]:
        """The formulas that refute the statement itself in a variant."""
        return tuple(row for row in self.rows.get(variant, ()) if row.refutes)


def false_below(
    statement: str, variant: Variant, shown: Mapping[str, Shown]
) -> tuple[dict[str, Consequence | None], tuple[str, ...]]:
    """What is false of all that a statement rests on in a variant, nearest first, and whose corrections it rests on.

    A statement that is named stands for all of its formulas but instances and references, and is false if it is
    refuted; of one that is named with a formula, `STATEMENT/OBLIGATION`, only this formula counts, and what that rests
    on.
    """
    false: dict[str, Consequence | None] = {}
    corrected: dict[str, None] = {}
    done: set[str] = {statement}
    start = shown.get(statement)
    waiting = [] if start is None else list(_references(start, start.variant(variant)))
    while waiting:
        name = waiting.pop(0)
        id_, _, formula = name.partition("/")
        of = shown.get(id_)
        if name in done or of is None:
            continue
        done.add(name)
        there = of.variant(variant)
        if not formula:
            refuted = of.refuted(there)
            if refuted:
                false[name] = gravest(row.consequence for row in refuted)
            elif there is not Variant.PRINTED and of.refuted(Variant.PRINTED):
                corrected[name] = None
            waiting += _references(of, there)
            continue
        row = of.row(formula, there)
        if row is None:
            continue
        if row.verdict is Verdict.REFUTED and id_ != statement:
            false[name] = row.consequence
        waiting += row.uses
    return false, tuple(corrected)


def _references(of: Shown, variant: Variant) -> tuple[str, ...]:
    aside = (Coverage.INSTANCE, Coverage.REFERENCE)
    parts = [row for row in of.rows[variant] if row.coverage not in aside]
    return tuple(dict.fromkeys([*of.uses, *(name for row in parts for name in row.uses)]))


# ------------------------------------------------------------------------------------------------- by how much


def exceeds(relation: str, left: str | None, right: str | None) -> str:
    """By how much an inequality fails, from its two sides; empty unless they are numbers that can be compared so."""
    try:
        low, high = number_of(left or ""), number_of(right or "")
        if relation not in ("<=", "<") or low <= high or high < 0:
            return ""
        if not high:
            return f"{short_number(low)} instead of at most 0"
        times = short_number(low / high)
    except (ValueError, ZeroDivisionError, OverflowError):
        return ""
    if times == "1":
        return f"{short_number(low, 8)} instead of at most {short_number(high, 8)}"
    return f"{short_number(low)} instead of at most {short_number(high)}, {times} times as much"
