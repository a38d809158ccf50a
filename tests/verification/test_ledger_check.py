"""`dpverify check`: a real ledger is accepted, and whatever is done to it by hand is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpverify import __version__
from dpverify.auditing import ErrorShare
from dpverify.cli import main
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.besides.kernels import KernelReason
from dpverify.ledger.document import Ledger
from dpverify.proving import canonical, digest
from dpverify.proving.checker import Confirmation, check
from dpverify.proving.rocq.kernel import digest_of
from dpverify.reports import write_report
from dpverify.running import Executor
from dpverify.statements.paper import papers
from dpverify.statements.plans import Profile
from dpverify.verification import VerificationSettings, kernel_rows
from dpverify.verification.audits import AuditSettings, carry_out_all
from dpverify.verification.catalog.entries import catalog_entries, results_of
from dpverify.verification.catalog.rows import ProofRecord
from dpverify.verification.catalog.source_rows import SourceRow
from dpverify.verification.checking import audit_check, ledger_check
from dpverify.verification.checking.audit_check import RowCheck
from dpverify.verification.checking.ledger_check import LedgerCheck, Status, check_ledger
from dpverify.verification.display_counts import displays_of_ledger
from dpverify.versions import library_versions

from .tampered_ledgers import (
    KERNEL,
    TAMPERINGS,
    Tampered,
    boxed,
    corrected,
    equality,
    mark,
    proved,
    refuted,
    remove,
)

STATEMENTS = ("fmtt18.thm1", "fmtt18.thm23", "fmtt18.lem25", "fmtt18.thm32", "gll22.eq9", "gll22.eq10")
"""With every verdict and coverage, units that differ, boxes, and one row that the checker does not confirm."""

SETTINGS = VerificationSettings(papers=STATEMENTS)


@pytest.fixture(scope="module")
def original(proofs: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the ledger of a few statements, as `verify` writes it."""
    records = proofs.of(*STATEMENTS)
    entries = catalog_entries(records)
    plans, budget = SETTINGS.plans(), ErrorShare(SETTINGS.failure_probability)
    assert plans
    assert not SETTINGS.shares(plans)  # no audit of them draws anything
    around = AuditSettings(Profile(SETTINGS.profile), SETTINGS.seed, Executor())
    granted = [(plan, 0.0) for plan in plans]
    audits = [
        entry for found in carry_out_all(granted, around, jobs=1, watch=lambda _: None) for entry in found
    ]
    ledger = Ledger(
        program_version=__version__,
        created="2026-01-01T00:00:00+00:00",
        command=SETTINGS.command(),
        seed=SETTINGS.seed,
        profile=SETTINGS.profile,
        versions=library_versions(),
        statements=entries,
        results=results_of(entries, [record.evidence for record in records]),
        entries=(*(record.evidence for record in records), *audits),
        displays=displays_of_ledger(record.evidence for record in records),
        budget=budget.record(),
        seconds=1.0,
    )
    certificates = {
        record.evidence.certificate: record.certificate
        for record in records
        if record.evidence.certificate is not None
    }
    folder = tmp_path_factory.mktemp("ledger")
    write_report(ledger, folder, certificates)
    return folder


@pytest.fixture(scope="module")
def remembering() -> Callable[[Any], Confirmation]:
    """The checker, which looks at equal certificates once."""
    known: dict[str, Confirmation] = {}

    def checker(certificate: Any) -> Confirmation:
        name = digest(certificate)
        if name not in known:
            known[name] = check(certificate)
        return known[name]

    return checker


def _once(ask: Callable[..., Any], key: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, tuple[Any, Any]] = {}

    def answer(*of: Any, **how: Any) -> Any:
        name = key(*of, **how)
        if name not in known:
            known[name] = of, ask(*of, **how)  # what was asked stays there, so that nothing else gets its id
        return known[name][1]

    return answer


def _fault(found: Any, obligation: Any, refuted: Any, _: Any, **how: Any) -> tuple[Any, ...]:
    return repr(found), id(obligation), digest(refuted), *how.items()


def _row(row: SourceRow) -> tuple[Any, ...]:
    return row.statement.id, row.name, row.variant


@pytest.fixture(scope="module")
def asked_once() -> Iterator[None]:
    """What provers and audits say of the source, which nobody tampers with, is asked once for all tampered ledgers."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("homogeneity", "prove", "disagreement"):
            patch.setattr(ledger_check, name, _once(getattr(ledger_check, name), id))
        patch.setattr(ledger_check, "fault_of", _once(ledger_check.fault_of, _fault))
        patch.setattr(ledger_check, "premises_of_row", _once(ledger_check.premises_of_row, _row))
        patch.setattr(audit_check, "carry_out", cache(audit_check.carry_out))
        yield


@pytest.mark.usefixtures("asked_once")
def test_a_row_of_its_own(original: Path, remembering: Callable[[Any], Confirmation]) -> None:
    def only(*names: str) -> LedgerCheck:
        return check_ledger(original / "ledger.json", only=names, checker=remembering)

    one = only("fmtt18.thm1/attained-by-identity-maps")
    assert [(row.variant, row.status) for row in one.rows] == [
        ("printed", "confirmed"),
        ("corrected", "confirmed"),
    ]
    rows = only("fmtt18.thm1/attained-by-identity-maps: units", "gll22.eq10").rows
    assert [row.variant for row in rows if row.statement == "fmtt18.thm1"] == ["printed", "corrected"]
    assert len({row.obligation for row in rows if row.statement == "gll22.eq10"}) > 2
    assert only("fmtt18.alg1").rows == ()  # an algorithm has no proofs
    for name in ("fmtt18.thm1/none", "nothing", ""):
        with pytest.raises(InvalidArgumentError, match="--only"):
            only(name)


def test_there_are_enough_ways_to_tamper() -> None:
    assert len(TAMPERINGS) >= 60


@pytest.mark.usefixtures("asked_once")
def test_the_ledger_as_it_is_is_accepted(original: Path, remembering: Callable[[Any], Confirmation]) -> None:
    found = check_ledger(original / "ledger.json", checker=remembering)
    assert [row.line() for row in found.failed] == []
    statuses = [row.status for row in found.rows]
    assert statuses.count(Status.CONFIRMED) == len(statuses) > 30
    named = {id_.partition(".")[0] for id_ in STATEMENTS}
    left = {s.id for p in papers().values() for s in p.statements if p.key in named} - set(STATEMENTS)
    assert set(found.outside) == left | {f"all of {key}" for key in papers() if key not in named}


@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize(
    ("version", "reason", "failed"),
    [
        ("8.16.1", None, 0),
        ("8.16.1", KernelReason.SCRIPT, 4),
        ("8.16.1", KernelReason.TIME, 0),
        ("9.0.0", KernelReason.SCRIPT, 0),
    ],
)
def test_marks_of_a_kernel_are_held_against_it(
    version: str,
    reason: KernelReason | None,
    failed: int,
    original: Path,
    tmp_path: Path,
    remembering: Callable[[Any], Confirmation],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of four accepted rows, printed, corrected, refuted and in a box; another version's answer contradicts none."""
    marked = Tampered(original, tmp_path / "ledger")
    for of in (proved, refuted, corrected, boxed):
        mark(marked, of(marked))
    mark(marked, equality(marked), theorem="sha256:" + "0" * 64)  # of an earlier statement
    ledger = marked.write()
    no = KernelReason.METHOD
    monkeypatch.setattr(
        kernel_rows,
        "ask",
        lambda _, rows, **__: [None if digest_of(row) and reason is None else reason or no for row in rows],
    )
    kernel = replace(KERNEL, version=version)
    found = check_ledger(ledger, only=STATEMENTS, checker=remembering, kernel=kernel)
    assert (
        sum(
            row.says.endswith("accepts it, but of a theorem that is not its source's") for row in found.failed
        )
        == 1
    )
    assert (
        sum(
            row.says.endswith(f"but asked again: {kernel.name} does not accept it: {reason}")
            for row in found.failed
        )
        == failed
    )
    assert len(found.failed) == 1 + failed
    asked = [row for row in found.as_json()["rows"] if row["kernel"]]
    assert {(row["kernel"]["kernel"], row["kernel"]["said"]) for row in asked} >= {
        (kernel.name, "refused" if reason else "accepted")
    }


@pytest.mark.one_in(8)
@pytest.mark.usefixtures("asked_once")
@pytest.mark.parametrize("how", TAMPERINGS)
def test_tampering_is_refused(
    how: str, original: Path, tmp_path: Path, remembering: Callable[[Any], Confirmation]
) -> None:
    tampered = Tampered(original, tmp_path / "ledger")
    before = (
        canonical(tampered.tree),
        {f.name: f.read_bytes() for f in (tampered.folder / "certificates").iterdir()},
    )
    TAMPERINGS[how](tampered)
    after = (
        canonical(tampered.tree),
        {f.name: f.read_bytes() for f in (tampered.folder / "certificates").iterdir()},
    )
    assert after != before
    try:
        found = check_ledger(tampered.write(), checker=remembering)
    except InvalidDataError:
        return
    assert found.failed, found.summary()
    assert all(row.says for row in found.failed)


# ------------------------------------------------------------------------------------------- the command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["check", *arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_the_command_accepts(original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (str(original / "ledger.json"), "--only", "fmtt18.thm1")
    code, out, _ = run(capsys, *arguments)
    rows = int(out.split()[0])
    assert (code, out) == (0, f"{rows} rows: {rows} confirmed, 0 refused, 0 missing.\n")
    assert rows >= 10
    code, out, _ = run(capsys, *arguments, "--json", "-")
    found = json.loads(out)
    assert (code, found["confirmed"], len(found["rows"])) == (0, True, rows)
    assert {row["status"] for row in found["rows"]} == {"confirmed"}


def test_the_command_refuses(original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tampered = Tampered(original, tmp_path / "ledger")
    refuted(tampered).update(verdict="proved")
    remove(tampered, corrected(tampered))
    code, out, err = run(capsys, str(tampered.write()), "--only", "fmtt18.thm1/attained-by-identity-maps")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith(
        "refused: fmtt18.thm1/attained-by-identity-maps (printed): it is proved, but its certificate"
    )
    assert lines[1].startswith("missing: fmtt18.thm1/attained-by-identity-maps (corrected): ")
    assert " rows: 0 confirmed, " in lines[-1]
    assert ", 1 missing." in lines[-1]


@pytest.mark.parametrize(
    "how", ["nothing there", "a folder", "no JSON", "no ledger", "no certificates", "not UTF-8"]
)
def test_bad_input_is_one_sentence(
    how: str, original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ledger.json"
    match how:
        case "a folder":
            path.mkdir()
        case "no JSON":
            path.write_text("{")
        case "no ledger":
            path.write_text('{"schema_version": 0}')
        case "no certificates":
            shutil.copy(original / "ledger.json", path)
        case "not UTF-8":
            path.write_bytes(b"\xff\xfe\x00")
    code, out, err = run(capsys, str(path))
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


def test_audits_are_said_not_to_be_drawn_again() -> None:
    rows = [RowCheck(f"fmtt18.alg1/{i}", Status.PLANNED, "") for i in range(2)]
    for count, said in ((0, "drawn"), (1, "1 audit is as planned"), (2, "2 audits are as planned")):
        summary = LedgerCheck(tuple(rows[:count]), ()).summary()
        assert (said in summary) == (count > 0), summary
        assert ("was not drawn again" in summary) == (count > 0)


def test_a_planned_audit_must_be_there(original: Path, tmp_path: Path) -> None:
    tampered = Tampered(original, tmp_path / "ledger")
    tampered.tree["entries"] = [row for row in tampered.rows if row["kind"] == "proof"]
    (row,) = check_ledger(tampered.write(), only=("fmtt18.thm32",)).failed
    assert (row.statement, row.status) == ("fmtt18.multitask/constant", Status.MISSING)


def test_every_row_shows_the_witness_of_its_certificate(all_proofs: list[ProofRecord]) -> None:
    """Of all rows: a refuted one without a counterexample once showed a witness that its certificate does not have."""
    for record in all_proofs:
        row, certificate = record.evidence, record.certificate
        if certificate is not None and row.counterexample is None:
            assert row.witness == certificate.get("witness"), f"{row.statement}/{row.obligation}"


@pytest.mark.parametrize("command", ["dpverify run", "pytest test_claims.py --dpverify-report=claims.json"])
def test_a_ledger_of_audits_alone_has_nothing_to_check(original: Path, tmp_path: Path, command: str) -> None:
    tree = json.loads((original / "ledger.json").read_text())
    tree |= {"command": command, "statements": [], "results": [], "entries": [], "displays": []}
    place = tmp_path / "ledger.json"
    place.write_text(json.dumps(tree))
    with pytest.raises(InvalidDataError, match="has no proofs, only audits of"):
        check_ledger(place)
    place.write_text(json.dumps(tree | {"command": "dpverify verify --paper fmtt18.thm1"}))
    assert check_ledger(place).failed
