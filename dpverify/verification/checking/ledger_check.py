"""A ledger held against the statements' source and its certificates, for someone who trusts neither.

Every row of a proof is looked at anew: what it shows must be what its source says, its certificate must be about the
very problem that the source states, and the independent checker must confirm it again. The provers are asked only
where the ledger itself says that the checker did not confirm a row, or that a row is undecided: then their answer
must be the ledger's. Audits are held against their plans (`audit_check`), and repeated where that is asked.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverify.errors import DpverifyError, InvalidArgumentError, InvalidDataError
from dpverify.formulas.logic import free_in
from dpverify.formulas.rendering.neutral import Json
from dpverify.formulas.values import UnclearError, UndefinedError
from dpverify.grouping import grouped
from dpverify.ledger.document import Ledger
from dpverify.ledger.headlines.words import VariantOutcome
from dpverify.ledger.names import bare, formula_of
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import BROKEN, Gap, Variant, Verdict
from dpverify.ledger.written_numbers import coordinates_of
from dpverify.proving import Proof, canonical, homogeneity, load, prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation, Statement
from dpverify.proving.provers.points import admitted
from dpverify.proving.reasoning.evaluation import failing, text
from dpverify.proving.rocq.kernel import Kernel
from dpverify.proving.two_readers import disagreement
from dpverify.quoting import quoted
from dpverify.reports import load_ledger
from dpverify.running import Progress
from dpverify.statements.own_pages import opened
from dpverify.statements.paper import address_of, papers
from dpverify.statements.selection import find_statement, select
from dpverify.statements.theorems.names import FOLDERS, split_names
from dpverify.verification import thresholds
from dpverify.verification.catalog.curves import curve_of
from dpverify.verification.catalog.entries import entries_of_run, results_of
from dpverify.verification.catalog.premises import premises_of_row
from dpverify.verification.catalog.proofs import FEW, as_they_end
from dpverify.verification.catalog.rows import ProofRecord, reason_of, source_texts, with_fault
from dpverify.verification.catalog.source_rows import SourceRow, rows_of
from dpverify.verification.checking.audit_check import (
    HEAD,
    NO_RERUN,
    Rerun,
    RowCheck,
    RowRefusedError,
    Status,
    audit_names,
    audit_rows,
    compare,
    differences,
    settings_of,
    short,
)
from dpverify.verification.checking.kernel_check import refuse_wrong_mark, with_kernel
from dpverify.verification.checking.theorem_check import Checker, theorem_checks
from dpverify.verification.display_counts import displays_of_ledger
from dpverify.verification.refutations import (
    contradictions,
    fault_of,
    judged,
    refutation_texts,
    sides_as_printed,
)

Key = tuple[str, str, Variant]

_TOLD = ("statement", "obligation", "variant", "status", "says")
"""What JSON says of a row, beside what a kernel said."""


@dataclass(frozen=True)
class LedgerCheck:
    """What came of all rows; `outside` are encoded statements that the ledger's own command line left out.

    `notes` say how this installation differs from the one that wrote the ledger.
    """

    rows: tuple[RowCheck, ...]
    outside: tuple[str, ...]
    trees: int = 0
    """Rows without LaTeX, which only one reader has to do with."""
    rerun: Rerun = NO_RERUN
    notes: tuple[str, ...] = ()

    @property
    def audits(self) -> int:
        """Audits whose draws were not repeated."""
        return sum(row.status is Status.PLANNED for row in self.rows)

    @property
    def failed(self) -> tuple[RowCheck, ...]:
        """The rows that are contradicted or missing."""
        return tuple(row for row in self.rows if row.status in (Status.REFUSED, Status.MISSING))

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "schema_version": 1,
            "confirmed": not self.failed,
            "summary": self.summary(),
            "rows": [_told(row) for row in self.rows],
            "outside": list(self.outside),
            "audits_not_run": self.audits,
            "notes": list(self.notes),
            "rerun": {"audits": self.rerun.count, "seed": self.rerun.seed},
        }

    def summary(self) -> str:
        """All of it in a sentence or two."""
        counts = {status: sum(row.status is status for row in self.rows) for status in Status}
        said = [f"{counts[Status.CONFIRMED]} confirmed"]
        said += [
            f"{counts[s]} {s} as the ledger says" for s in (Status.UNCONFIRMED, Status.UNDECIDED) if counts[s]
        ]
        said += [f"{counts[s]} {s}" for s in (Status.REFUSED, Status.MISSING)]
        text_ = f"{len(self.rows)} rows: {', '.join(said)}."
        if self.outside:
            text_ += f" Not in this ledger, as its command line says: {', '.join(self.outside)}."
        if self.trees:
            rows = "1 row is" if self.trees == 1 else f"{self.trees} rows are"
            text_ += f" {rows} made of trees and not of LaTeX, which no second reader reads."
        if self.audits:
            what = "1 audit is" if self.audits == 1 else f"{self.audits} audits are"
            text_ += (
                f" {what} as planned; what they drew was not drawn again (--rerun K draws K of them again)."
            )
        if self.rerun.count:
            text_ += f" Audits to repeat were picked by seed {self.rerun.seed} (--rerun-seed)."
        if answers := [row.kernel for row in self.rows if row.kernel]:
            rest = Counter(str(answer.reason) for answer in answers if answer.reason)
            reasons = "".join(f"; {count} not: {why}" for why, count in sorted(rest.items()))
            text_ += f" The kernel accepts {len(answers) - rest.total()} of {len(answers)} confirmed rows{reasons}."
        return " ".join((text_, *self.notes))


def _told(row: RowCheck) -> dict[str, Any]:
    kernel = None if row.kernel is None else row.kernel.model_dump(mode="json")
    return {**{name: getattr(row, name) for name in _TOLD}, "kernel": kernel}


def check_ledger(
    path: Path,
    *,
    only: tuple[str, ...] = (),
    rerun: Rerun = NO_RERUN,
    progress: Progress | None = None,
    checker: Checker = check,
    kernel: Kernel | None = None,
    workers: int = 1,
) -> LedgerCheck:
    """Hold a ledger file, with the certificates beside it, against the statements of this installation.

    `only` names each a `STATEMENT` or `STATEMENT/OBLIGATION`, an algorithm or an audit's plan; everything is checked
    where it is empty. Refused are what is no ledger, or one of audits alone, such as that of `dpverify run`, a ledger
    without its certificates' folder, and a name that neither source nor ledger has. With a `kernel`, it is asked about
    all that the checker confirms. Rows of proofs are checked side by side in `workers` processes.
    """
    ledger = load_ledger(path)
    proofs = [entry for entry in ledger.entries if isinstance(entry, ProofEvidence)]
    folder = path.parent / "certificates"
    _refuse_strange(ledger, proofs, path, folder)
    with suppress(InvalidArgumentError):  # of its command line, which `audit_rows` says
        settings_of(ledger).require_libraries("Checking the audits of this ledger", only)
    source = {s.id: s for paper in papers().values() for s in paper.statements}
    wanted = _wanted(ledger, source)
    found = grouped(((row.statement, row.obligation, row.variant), row) for row in proofs)
    inside = {s.id for s in source.values() if s.id in wanted} | {row.statement for row in proofs}
    # reading displays takes seconds: those of other statements are left alone
    expected = {
        (s.id, row.name, row.variant): row for s in source.values() if s.id in inside for row in rows_of(s)
    }
    keys = [*expected, *(key for key in found if key not in expected)]
    audited = audit_names(ledger)
    derived = {row.id for row in ledger.theorems}
    proved = tuple(name for name in only if name not in audited and name not in derived)
    chosen = _chosen(keys, [e.id for e in ledger.statements], proved) if proved or not only else []
    if progress is not None:
        progress.start(
            len(chosen) + len(audited) + sum(not only or row.id in only for row in ledger.theorems)
        )
    tasks = [
        _RowTask(key, address_of(key[0]), expected.get(key), tuple(found.get(key, ())), folder, checker)
        for key in chosen
    ]
    checked = dict[Key, RowCheck]()
    for task, row in as_they_end(_row, tasks, workers=workers, progress=None, few=FEW):
        checked[task.key] = row
        if progress is not None:
            progress.advance(1)
    rows = [checked[key] for key in chosen]
    rows += audit_rows(ledger, rerun=rerun, only=only, progress=progress)
    rows += theorem_checks(
        ledger.theorems, _theorems_of(ledger), folder, only, checker, workers=workers, progress=progress
    )
    if progress is not None:
        progress.finish()
    if kernel is not None:
        of: dict[tuple[str, str, Variant | None], tuple[Obligation, ProofEvidence]] = {
            key: (expected[key].obligation, found[key][0])
            for key in chosen
            if key in expected and key in found
        }
        keyed = [(row, of.get((row.statement, row.obligation, row.variant))) for row in rows]
        rows = with_kernel(kernel, keyed, folder, progress=progress)
    rows += _catalog(ledger, proofs, only)
    asked = {bare(name) for name in only}
    rows += [
        RowCheck(row.statement, Status.REFUSED, why, row.obligation, row.variant)
        for row, why in contradictions(proofs)
        if not only or row.statement in asked
    ]
    keys_of = {s.id: paper.key for paper in papers().values() for s in paper.statements}
    outside = _by_paper([s for s in source if s not in inside], keys_of) if not only else ()
    trees = sum(key in chosen and read.obligation.source is None for key, read in expected.items())
    return LedgerCheck(tuple(rows), outside, trees, rerun, differences(ledger))


def _refuse_strange(ledger: Ledger, proofs: list[ProofEvidence], path: Path, folder: Path) -> None:
    """Refuse what cannot be checked row by row; the pages that the ledger names are opened."""
    if (
        not proofs
        and not ledger.statements
        and not ledger.theorems
        and _words(ledger)[:2] != ["dpverify", "verify"]
    ):
        raise InvalidDataError(
            f"Ledger {path} has no proofs, only audits of {quoted(ledger.command, 60)!r}, each of which names the "
            "command that repeats it; allowed: a ledger of `dpverify verify`."
        )
    named = [*(row.certificate for row in proofs), *(row.certificate for row in ledger.theorems)]
    if any(named) and not folder.is_dir():
        raise InvalidDataError(
            f"Ledger {path} names certificates, but there is no folder {folder} beside it."
        )
    for name in split_names(_named(ledger))[0]:
        opened(name)
    results, wrong = results_of(ledger.statements, proofs), ""
    if ledger.results != results:
        rest = ", ".join(r.id for r in results) or "none"
        wrong = f"its named results are not those that its statements and rows rest on, which are {rest}"
    elif ledger.displays != displays_of_ledger(proofs):
        wrong = "its counts of displays are not those of its rows and the inventories"
    if wrong:
        raise InvalidDataError(f"Ledger {path} cannot be checked: {wrong}.")


def _theorems_of(ledger: Ledger) -> tuple[str, ...]:
    """The theorems that its command line asks for."""
    words = _words(ledger)
    if "--only" in words or words[:2] != ["dpverify", "verify"]:
        return ()
    named = _named(ledger)
    return split_names(named)[1] if named else tuple(FOLDERS)


def _by_paper(ids: Sequence[str], of: Mapping[str, str]) -> tuple[str, ...]:
    """Ids, or `all of PAPER` where none of a paper's is missing."""
    found = list[str]()
    for key, own in grouped((paper, id_) for id_, paper in of.items()).items():
        here = [id_ for id_ in own if id_ in ids]
        found += [f"all of {key}"] if len(here) == len(own) > 1 else here
    return tuple(found)


def _words(ledger: Ledger) -> list[str]:
    """The words of the ledger's command line; none if it cannot be read."""
    try:
        return shlex.split(ledger.command)
    except ValueError:
        return []


def _named(ledger: Ledger) -> tuple[str, ...]:
    """The papers, ids, pages and folders that its command line names."""
    words = _words(ledger)
    return tuple(words[i + 1] for i, word in enumerate(words[:-1]) if word == "--paper")


def _wanted(ledger: Ledger, source: Mapping[str, Statement]) -> set[str]:
    """The statements that the ledger's command line asks for."""
    if "--only" in _words(ledger):
        return set()
    try:
        named, theorems = split_names(_named(ledger))
        if theorems and not named:
            return set()
        return {row.id for _, row in select(named)} & set(source)
    except InvalidArgumentError as error:
        raise InvalidDataError(f"The ledger's own command line is not valid: {error}") from error


def _chosen(keys: list[Key], catalog: list[str], only: tuple[str, ...]) -> list[Key]:
    chosen: dict[Key, None] = {}
    for name in only:
        statement, obligation = bare(name), formula_of(name)
        these = [k for k in keys if k[0] == statement and obligation in ("", k[1])]
        if not these and (obligation or statement not in catalog):
            near = ", ".join(dict.fromkeys(k[1] if k[0] == statement else k[0] for k in keys)) or "nothing"
            raise InvalidArgumentError(
                "--only", name, f"STATEMENT or STATEMENT/OBLIGATION of this ledger: {near}"
            )
        chosen |= dict.fromkeys(these)
    return list(chosen) if only else keys


# ------------------------------------------------------------------------------------------- one row


@dataclass(frozen=True)
class _RowTask:
    """A row as its source has it and as the ledger has it, to be checked here or in another process."""

    key: Key
    address: str
    """Where the statement is found: another process must open its page, and those that it names."""
    expected: SourceRow | None
    found: tuple[ProofEvidence, ...]
    folder: Path
    checker: Checker


def _row(task: _RowTask) -> RowCheck:
    key, found = task.key, task.found
    if task.expected is None or find_statement(task.address) is None:
        return RowCheck(key[0], Status.REFUSED, "no encoded statement has this row", *key[1:])
    if not found:
        return RowCheck(key[0], Status.MISSING, "the source has this row, the ledger does not", *key[1:])
    try:
        if len(found) > 1:
            raise RowRefusedError(f"it appears {len(found)} times")
        status, says = _settled(task.expected, found[0], task.folder, task.checker)
    except RowRefusedError as refusal:
        status, says = Status.REFUSED, str(refusal)
    return RowCheck(key[0], status, says, *key[1:])


def _settled(source: SourceRow, row: ProofEvidence, folder: Path, checker: Checker) -> tuple[Status, str]:
    if row.fault:
        raise RowRefusedError("it was ended by a fault in dpverify, so there is no verdict")
    if says := disagreement(source.obligation):
        raise RowRefusedError(says)
    compare(row, source_texts(source), "its source")
    compare(row, {"with_fault": with_fault(source)}, "the provers")
    compare(row, {"premises": premises_of_row(source)}, "what it uses")
    for says in thresholds.faults(row, source.obligation, folder, checker):
        raise RowRefusedError(f"how far it holds: {says}")
    shown = (row.relation, row.left, row.right)
    said = refutation_texts(source, row.verdict, shown, row.counterexample, row.realistic)
    if row.verdict is Verdict.UNDECIDED or row.certificate is None:
        if row.verdict is not Verdict.UNDECIDED:
            raise RowRefusedError(f"it is {row.verdict} without a certificate")
        if row.certificate is not None or row.confirmed_by_checker:
            raise RowRefusedError("it is undecided and has a certificate, or is confirmed")
        refuse_wrong_mark(source.obligation, row, {})
        compare(row, {**said, "realistic": None}, "its source")
        _compare_with(_again(source, row), source, row)
        return Status.UNDECIDED, "the provers do not decide it here either"
    certificate, printed = _certificate(row.certificate, folder), source.obligation
    if row.written_out:
        source = replace(source, obligation=source.obligation.written_out)
    _compare_certificate(source, row, certificate)
    compare(row, {**said, "gap": None}, "its source and its sides")
    if row.verdict is Verdict.REFUTED and not source.units:
        cut_short = row.stopped_by_the_clock
        fault = fault_of(row.realistic, source.obligation, certificate, checker, cut_short=cut_short)
        if fault:
            raise RowRefusedError(fault)
    elif row.realistic is not None:
        raise RowRefusedError("it is not refuted, and has a counterexample at a realistic size")
    confirmation = checker(certificate)
    if confirmation.confirmed != row.confirmed_by_checker:
        says = "confirmed by the checker" if row.confirmed_by_checker else "not confirmed by the checker"
        raise RowRefusedError(f"the ledger says it is {says}; the checker says: {confirmation.says}")
    compare(row, {"checker_says": confirmation.says}, "the checker")
    refuse_wrong_mark(printed, row, certificate)
    if confirmation.confirmed:
        return Status.CONFIRMED, confirmation.says
    again = _again(source, row)
    _compare_with(again, source, row)
    if canonical(again.certificate) != canonical(certificate):
        raise RowRefusedError(
            "the checker does not confirm its certificate, which is not the one that the provers find"
        )
    return Status.UNCONFIRMED, confirmation.says


def _compare_certificate(source: SourceRow, row: ProofEvidence, certificate: Json) -> None:
    """Refuse a row whose certificate is about something else, or does not say what the row shows of it."""
    if canonical(certificate.get("problem")) != canonical(source.obligation.problem.json):
        raise RowRefusedError("its certificate is about a problem other than its source's")
    refuted = row.verdict in BROKEN
    if refuted and row.verdict is not (Verdict.DOES_NOT_FOLLOW if row.functionals else Verdict.REFUTED):
        raise RowRefusedError(
            f"it is {row.verdict}, and letters that may stand for functionals: {row.functionals}"
        )
    if certificate.get("verdict") != (Verdict.REFUTED if refuted else row.verdict):
        raise RowRefusedError(f"it is {row.verdict}, but its certificate says {certificate.get('verdict')}")
    compare(row, _shown(source, row, certificate), "its certificate")
    _compare_results(source, row, certificate)


def _certificate(name: str, folder: Path) -> Any:
    try:
        found = load(name, folder)
    except (DpverifyError, RecursionError) as error:
        raise RowRefusedError(str(error)) from error
    if not isinstance(found, dict) or not isinstance(found.get("proof"), dict):
        raise RowRefusedError("its certificate is not one")
    return found


def _again(source: SourceRow, row: ProofEvidence) -> Proof:
    found = homogeneity(source.obligation) if source.units else prove(source.obligation)
    return found if row.provenance is None else judged(found, row.provenance)


def _compare_with(proof: Proof, source: SourceRow, row: ProofEvidence) -> None:
    """Hold a row against what the provers say here."""
    fields: tuple[str, ...] = ("verdict", "counterexample", "box", "reason", "gap", "witness")
    if row.depends_on_the_machine or proof.stopped_by_the_clock or proof.gap is Gap.MEMORY:
        fields = ("verdict",)  # how far it came depends on the machine
    values = {name: getattr(proof, name) for name in fields}
    values = {name: dict(v) if isinstance(v, Mapping) else v for name, v in values.items()}
    if len(fields) > 1:
        values["reason"] = reason_of(source, proof)
        point = proof.counterexample
        sides = sides_as_printed(source.obligation, source.coverage, point, proof.left, proof.right)
        values |= dict(zip(("relation", "left", "right"), sides, strict=True))
    compare(row, values, "the provers of this installation")


def _shown(source: SourceRow, row: ProofEvidence, certificate: Json) -> dict[str, Any]:
    """What a row shows of its certificate: the counterexample, the box and how many parts it has."""
    proof, point, obligation = certificate["proof"], None, source.obligation
    if certificate["verdict"] == Verdict.REFUTED and not source.units:
        point = _point(proof)
    if point is not None:
        used = set().union(*map(free_in, (obligation.claim, *obligation.assuming)))
        names = {v.name for v in used}
        point = {name: value for name, value in point.items() if name in names}
    trees = list(_trees(proof))
    for tree in trees:
        _compare_box(tree["box"], obligation)
    box: dict[str, Any] | None = {name: tuple(ends) for tree in trees for name, ends in tree["box"].items()}
    if not trees or (certificate["verdict"] != Verdict.CERTIFIED and row.box is None):
        box = None  # a proof on the whole domain need not name its box
    leaves = sum(_leaves(tree["tree"]) for tree in trees) if trees else None
    form = obligation.written_out if row.written_out else obligation
    shown = {"counterexample": point, "along": curve_of(form, certificate), "box": box, "boxes": leaves}
    return shown if point is not None else {**shown, "witness": certificate.get("witness")}


def _compare_box(box: Mapping[str, Any], obligation: Obligation) -> None:
    """Refuse a box that is not the one in the source, inside of the domain."""
    for v in obligation.over:
        ends = [None if end is None else Fraction(str(end)) for end in (v.lower, v.upper)]
        if v.name in obligation.box:
            low, high = obligation.problem.ends[v.name]
            ends = [
                low if ends[0] is None else max(low, ends[0]),
                high if ends[1] is None else min(high, ends[1]),
            ]
        if [*map(Fraction, box[v.name])] != ends:
            raise RowRefusedError(f"its box for {v.name} is {short(box[v.name])}, by its source another")


def _point(proof: Json) -> dict[str, str] | None:
    """The counterexample; None if there is no single one, because whatever there is to be is too small."""
    while isinstance(proof.get("then"), dict):
        proof = proof["then"]
    if proof.get("method") == "exists":
        return None
    point = proof.get("point")
    if not isinstance(point, dict):
        raise RowRefusedError("its certificate refutes without a point")
    return point


def _trees(proof: Json) -> Iterator[Json]:
    """The proofs by boxes inside a proof."""
    if proof.get("method") == "boxes":
        yield proof
    inside = [certificate["proof"] for certificate in proof.get("inner", ())]
    for inner in (*proof.get("parts", ()), *inside, proof.get("then")):
        if isinstance(inner, dict):
            yield from _trees(inner)


def _leaves(tree: Json) -> int:
    """The boxes at the ends of a tree."""
    waiting, count = [tree], 0
    while waiting:
        tree = waiting.pop()
        inner = [part for part in tree if isinstance(part, list)]
        waiting += inner
        count += not inner and tree[0] != "0"
    return count


def _compare_results(source: SourceRow, row: ProofEvidence, certificate: Json) -> None:
    """Hold both sides at the counterexample, a remark, and everything about units, against what is found here."""
    obligation = source.obligation
    if source.units:
        _compare_with(homogeneity(obligation), source, row)
        return
    sides: dict[str, str | None] | None = {"relation": "", "left": None, "right": None}
    if row.verdict in BROKEN:
        point = _point(certificate["proof"])
        if point is not None and (row.witness is None or not _admitted(obligation, row.witness)):
            raise RowRefusedError(f"its witness {short(row.witness)} is not one")
        sides = None if point is None else _sides(obligation, point)
    if sides is None or row.reason:
        _compare_with(prove(obligation), source, row)
    else:
        compare(row, sides, "its counterexample")


def _admitted(obligation: Obligation, named: Mapping[str, str]) -> bool:
    """Whether a point is one of the domain at which all assumptions are true."""
    try:
        point = {v.name: coordinates_of(named[v.name]) for v in obligation.over}
    except (KeyError, ValueError, ZeroDivisionError):
        return False
    return len(named) == len(point) and admitted(obligation.problem, point)


def _sides(obligation: Obligation, named: Mapping[str, str]) -> dict[str, str | None] | None:
    """Both sides of the claim at a point; None if that is beyond the evaluation."""
    try:
        point = {v.name: coordinates_of(named[v.name]) for v in obligation.over}
        shown = failing(obligation.claim, point)
        if shown is None:
            return None
        sides = shown.as_written(text(shown.left, point), text(shown.right, point))
        return dict(zip(("relation", "left", "right"), sides, strict=True))
    except (KeyError, ValueError, ZeroDivisionError, UndefinedError, UnclearError):
        return None


# ------------------------------------------------------------------------------------------- the catalog


def _catalog(ledger: Ledger, proofs: list[ProofEvidence], only: tuple[str, ...]) -> Iterator[RowCheck]:
    """The ledger's statements with their verdicts, held against the papers' catalogs and the ledger's own rows."""
    chosen = {bare(name) for name in only}
    named, theorems = split_names(_named(ledger))
    if theorems and not named:
        return
    try:
        derived = entries_of_run([ProofRecord(row) for row in proofs], named)
    except DpverifyError as error:  # such as a row that calls proved what an instance refutes
        yield RowCheck(HEAD, Status.REFUSED, f"no verdicts follow from its rows: {error}")
        return
    expected = {entry.id: entry for entry in derived}
    found = grouped((entry.id, entry) for entry in ledger.statements)
    for name in dict.fromkeys((*expected, *found)):
        if only and name not in chosen:
            continue
        entries = found.get(name, [])
        if name not in expected:
            yield RowCheck(name, Status.REFUSED, "no paper's catalog has this statement")
        elif not entries:
            yield RowCheck(name, Status.MISSING, "the catalog has this statement, the ledger does not")
        elif len(entries) > 1:
            yield RowCheck(name, Status.REFUSED, f"it appears {len(entries)} times")
        else:
            for field, shown, right in _unequal(entries[0], expected[name]):
                says = f"its {field} is {short(shown)}, by source and rows it is {short(right)}"
                yield RowCheck(name, Status.REFUSED, says)


def _unequal(found: Record, expected: Record) -> Iterator[tuple[str, object, object]]:
    """The names of fields that differ, with their values; of what was shown of a statement, its own fields."""
    for field in type(found).model_fields:
        shown, right = getattr(found, field), getattr(expected, field)
        if isinstance(shown, VariantOutcome):
            yield from ((f"{field} {name}", one, other) for name, one, other in _unequal(shown, right))
        elif shown != right:
            yield field.replace("_", " "), shown, right
