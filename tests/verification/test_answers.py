"""Answers kept beside the program: the checker confirms them, a sample of them is proved, a fault is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpverify import proving
from dpverify.formulas.logic import Implies
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Variant, Verdict
from dpverify.proving.language import Obligation
from dpverify.statements.paper import papers
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog import answers
from dpverify.verification.catalog.answers import key_of, known
from dpverify.verification.catalog.proofs import prove_statements
from dpverify.verification.catalog.rows import ProofRecord, faulty_form, nothing_known
from dpverify.verification.catalog.source_rows import SourceRow, rows_of
from dpverify.verification.refutations import judged

from ..kept_proofs import PACKAGE, PROVED_ONE_IN, of_papers, proving_hash, sample

NAME = "bst14.huber-smooth"
FALSE = "fmtt18.thm1"


Rows = Mapping[tuple[str, str, Variant], SourceRow]


def answered(
    records: list[ProofRecord], rows: Rows
) -> Iterator[tuple[str, Obligation, Verdict, Verdict | None]]:
    """What provers were asked, but for units: where, the formula, what is said, and what is said by the kept answer."""
    for evidence in (record.evidence for record in records):
        row = rows[evidence.statement, evidence.obligation, evidence.variant]
        where = f"{evidence.statement}/{evidence.obligation}"
        if not row.units:
            kept = known(row.obligation)
            said = None if kept is None else judged(kept, row.obligation.provenance).verdict
            yield where, row.obligation, evidence.verdict, said
        faulty = faulty_form(row)
        if faulty is not None and evidence.with_fault is not None:
            kept = known(faulty)
            yield f"{where} with a fault", faulty, evidence.with_fault, None if kept is None else kept.verdict


def lost(records: list[ProofRecord], rows: Rows, proved: Callable[[str], bool]) -> Iterator[str]:
    """The formulas that were proved, and of which provers say something else than what is kept."""
    for where, obligation, verdict, kept in answered(records, rows):
        if kept not in (None, verdict) and proved(key_of(obligation)):
            yield f"{where}: {verdict}, kept is {kept}"


def every_row() -> Rows:
    found = (row for paper in papers().values() for s in paper.statements for row in rows_of(s))
    return {(row.statement.id, row.name, row.variant): row for row in found}


def test_what_is_proved_is_what_is_kept(all_proofs: list[ProofRecord], thorough: bool) -> None:
    """In `make test` a sample, a tenth of each prover's: of k lost ones none is seen in 0.9**k of all changes."""
    rows, of = every_row(), sample(proving_hash(PACKAGE))
    found = list(lost(all_proofs, rows, lambda key: thorough or key in of))
    assert found == [], "run make answers, if that is how it should be"
    # what has no answer is proved, which takes its time
    asked = list(answered(all_proofs, rows))
    without = [where for where, _, said, kept in asked if kept is None and said is not Verdict.UNDECIDED]
    assert len(without) <= (0 if thorough else len(asked) / 20), f"make answers: none of {', '.join(without)}"
    if thorough:
        gone = of_papers().keys() - {key_of(obligation) for _, obligation, _, _ in asked}
        assert not gone, f"make answers: {len(gone)} are of formulas that are no more"


def test_an_answer_that_is_lost_is_noticed() -> None:
    rows = {(NAME, row.name, row.variant): row for row in rows_of(statement(NAME))}
    records = prove_statements([statement(NAME)], known=known)
    assert list(lost(records, rows, lambda _: True)) == []
    weaker = [
        replace(r, evidence=r.evidence.model_copy(update={"verdict": Verdict.UNDECIDED}))
        if not rows[NAME, r.evidence.obligation, r.evidence.variant].units else r
        for r in records
    ]  # fmt: skip
    said = [line.partition(": ")[2] for line in lost(weaker, rows, lambda _: True)]
    assert set(said) == {"undecided, kept is refuted", "undecided, kept is proved"}
    assert len(said) == sum(not row.units for row in rows.values())
    assert list(lost(weaker, rows, lambda _: False)) == []


def statement(name: str) -> Any:
    found = find_statement(name)
    assert found is not None
    return found


@pytest.fixture
def nothing_can_be_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("something was proved")

    monkeypatch.setattr(proving, "prove", refuse)


def faults(records: list[ProofRecord]) -> int:
    """How many rows were asked for anew."""
    return sum("something was proved" in (r.evidence.fault or "") for r in records)


@pytest.mark.usefixtures("nothing_can_be_proved")
def test_what_is_kept_gives_the_same_rows_without_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    found = prove_statements([statement(NAME)], known=known)
    assert faults(found) == 0
    assert all(r.evidence.confirmed_by_checker for r in found)
    monkeypatch.undo()
    anew = prove_statements([statement(NAME)], known=nothing_known)
    assert [r.certificate for r in found] == [r.certificate for r in anew]
    for one, other in zip(found, anew, strict=True):
        assert one.evidence.model_copy(update={"seconds": 0.0}) == other.evidence.model_copy(
            update={"seconds": 0.0}
        )


def damages(line: Json) -> Iterator[Json]:
    """The line of a proof with one fault each."""
    shown = line["shown"]
    yield {**line, "shown": {**shown, "verdict": "refuted"}}
    yield {**line, "shown": {**shown, "verdict": "certified"}}
    yield {**line, "shown": {**shown, "proof": {"method": "facts"}}}
    yield {**line, "shown": {**shown, "witness": {}}}
    yield {"of": line["of"]}


@pytest.mark.usefixtures("nothing_can_be_proved")
def test_what_the_checker_does_not_confirm_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    line = next(line for line in of_rows(NAME) if line["shown"]["verdict"] == "proved")
    every = answers.lines()
    for damaged in damages(line):
        monkeypatch.setattr(answers, "lines", lambda d=damaged: {**every, line["of"]: d})
        assert faults(prove_statements([statement(NAME)], known=known)) == 1, damaged
    # the answer to another problem shows nothing of this one
    other = next(line for line in of_rows(FALSE) if line["shown"]["verdict"] == "refuted")
    monkeypatch.setattr(answers, "lines", lambda: {**every, line["of"]: other})
    assert faults(prove_statements([statement(NAME)], known=known)) == 1
    # which problem it is of, a line does not say
    of_other = {**line, "shown": {**line["shown"], "problem": other, "version": 2}}
    monkeypatch.setattr(answers, "lines", lambda: {**every, line["of"]: of_other})
    assert faults(prove_statements([statement(NAME)], known=known)) == 0


def of_rows(name: str) -> Iterator[Json]:
    """The lines of a statement's rows."""
    for row in rows_of(statement(name)):
        if not row.units:
            yield dict(answers.lines()[key_of(row.obligation)])


def test_a_changed_formula_has_no_answer() -> None:
    (printed,) = statement(NAME).printed
    assert known(printed) is not None
    assert known(replace(printed, name="another", because="another reason")) is not None
    assert known(replace(printed, claim=Implies(printed.claim, printed.claim), source=None)) is None
    assert known(replace(printed, assuming=(*printed.assuming, printed.claim), source=None)) is None


def test_the_sample_is_of_every_prover_and_another_for_each_program() -> None:
    first, second = sample("one"), sample("two")
    assert sample("one") == first != second
    kept = of_papers()
    provers = {line.get("prover", "") for line in kept.values()}
    for of in (first, second):
        assert {kept[key].get("prover", "") for key in of} == provers
        assert 0 <= len(of) - len(kept) / PROVED_ONE_IN <= len(provers)


def test_broken_files_are_as_good_as_none(tmp_path: Path) -> None:
    for text in ("{", "[]\n", '{"of": 1', "\xff"):
        (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
        assert answers.lines(tmp_path) == {}
        answers.lines.cache_clear()
    assert answers.lines(tmp_path / "none") == {}
    answers.lines.cache_clear()
