"""What the kernel of Rocq accepts of a ledger, and of faults planted in it, into docs/rocq.md.

    python tests/benchmarks/rocq_figures.py build/verify docs/rocq.md --coverage conclusion
    python tests/benchmarks/rocq_figures.py textbook docs/rocq.md

In the place of a ledger, a collection of statements may be named, which are proved first. The kernel is asked as by
`dpverify check build/verify --kernel rocq`, of all rows that the ledger calls confirmed; with --coverage, of those of
one coverage and of all that are refuted. Faults are planted in accepted conclusions: a constant changed by 2 percent, a
sign, a condition dropped, two letters exchanged. Some leave the conclusion true: each that is accepted is given to the
checker, which has no part in the kernel's answer, with the certificate of the conclusion. What it does not confirm is
tried at points: one that fails at a point, which the checker confirms, is a false acceptance.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import BROKEN
from dpverify.proving import load
from dpverify.proving.checker import check
from dpverify.proving.rocq.kernel import KernelRow, ask, found_kernel
from dpverify.proving.rocq.terms import replaced, split
from dpverify.reports import load_ledger
from dpverify.statements.own_pages import COLLECTIONS
from dpverify.statements.paper import papers
from dpverify.statements.selection import select_statements
from dpverify.verification.catalog import answers
from dpverify.verification.catalog.proofs import prove_statements
from dpverify.verification.catalog.source_rows import rows_of
from dpverify.verification.kernel_rows import is_asked, kernel_answers

BEGIN, END = "<!-- figures{}: make rocq -->", "<!-- /figures -->"
POINTS = 200


def main() -> None:
    """Count, plant, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ledger", type=Path)
    parser.add_argument("page", type=Path)
    parser.add_argument("--coverage", default="")
    parser.add_argument("--faults", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    collection = str(given.ledger) in COLLECTIONS
    with timed("proofs" if collection else "reading"):
        asked = proved(str(given.ledger)) if collection else from_ledger(given.ledger)
    with timed("the kernel on rows"):
        rows = answered([row for row in asked if not given.coverage or is_counted(row[1], given.coverage)])
    lines = [*table(rows), "", *faults(rows, given.faults, given.seed)]
    text = given.page.read_text(encoding="utf-8")
    begin = BEGIN.format(f" of the {given.ledger}" if collection else "")
    before, rest = text.split(begin)
    after = rest[rest.index(END) :]
    given.page.write_text(f"{before}{begin}\n\n" + "\n".join(lines) + f"\n\n{after}", encoding="utf-8")


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Say how long a part took."""
    began = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - began:.0f} s", file=sys.stderr)


def is_counted(row: ProofEvidence, coverage: str) -> bool:
    """Whether a row is of this coverage, or refuted."""
    return row.coverage == coverage or row.verdict in BROKEN


def proved(collection: str) -> list[tuple[Any, Any, Any]]:
    """Formulas of a collection, rows and certificates."""
    statements = list(select_statements((collection,)))
    of = {(s.id, row.name, row.variant): row.obligation for s in statements for row in rows_of(s)}
    records = prove_statements(statements, workers=2, known=answers.known)
    return [
        (of[r.evidence.statement, r.evidence.obligation, r.evidence.variant], r.evidence, r.certificate)
        for r in records
        if r.certificate is not None and is_asked(r.evidence)
    ]


def from_ledger(folder: Path) -> list[tuple[Any, Any, Any]]:
    """Formulas of a ledger, rows and certificates."""
    ledger = load_ledger(folder / "ledger.json")
    found = [row for row in ledger.entries if isinstance(row, ProofEvidence) and is_asked(row)]
    named = {row.statement for row in found}
    source = [s for paper in papers().values() for s in paper.statements if s.id in named]
    of = {(s.id, row.name, row.variant): row.obligation for s in source for row in rows_of(s)}
    return [
        (
            of[row.statement, row.obligation, row.variant],
            row,
            load(row.certificate or "", folder / "certificates"),
        )
        for row in found
    ]


def answered(asked: list[tuple[Any, Any, Any]]) -> list[tuple[Any, Any, str]]:
    """Rows, their certificates, and what the kernel says."""
    kernel = found_kernel()
    if kernel is None:
        raise SystemExit("Rocq (Coq) is not installed.")
    said = kernel_answers(kernel, asked)
    return [
        (row, c, str(answer.reason or answer.said)) for (_, row, c), answer in zip(asked, said, strict=True)
    ]


def table(rows: list[tuple[Any, Any, str]]) -> Iterator[str]:
    """Accepted rows of each method and verdict, and the reasons of the rest."""
    of: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for row, certificate, kernel in rows:
        proved = "refuted" if certificate["verdict"] == "refuted" else certificate["verdict"]
        accepted = kernel == "accepted"
        for method in (certificate["proof"]["method"], "all"):
            of.setdefault((proved, method), []).append((accepted, row.coverage == "conclusion"))
    yield "| verdict | method | rows | accepted | conclusions | accepted |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for (verdict, method), found in sorted(
        of.items(), key=lambda item: (item[0][0], -len(item[1]), item[0][1])
    ):
        conclusions = [accepted for accepted, conclusion in found if conclusion]
        counts = (len(found), sum(accepted for accepted, _ in found), len(conclusions), sum(conclusions))
        yield f"| {verdict} | {method} | {' | '.join(map(str, counts))} |"
    yield ""
    yield "| not accepted because of | rows | conclusions | methods |"
    yield "| --- | --- | --- | --- |"
    rest = [(kernel, row, c["proof"]["method"]) for row, c, kernel in rows if kernel != "accepted"]
    for reason, count in Counter(kernel for kernel, _, _ in rest).most_common():
        its = [(row, method) for kernel, row, method in rest if kernel == reason]
        conclusions = sum(row.coverage == "conclusion" for row, _ in its)
        methods = ", ".join(
            f"{method} {n}" for method, n in Counter(method for _, method in its).most_common()
        )
        yield f"| {reason} | {count} | {conclusions} | {methods} |"


def faults(rows: list[tuple[Any, Any, str]], number: int, seed: int) -> Iterator[str]:
    """What is accepted of planted faults."""
    kernel = found_kernel()
    if kernel is None or not number:
        return
    draws = random.Random(seed)
    proved = [
        (r, c)
        for r, c, k in rows
        if k == "accepted" and c["verdict"] == "proved" and r.coverage == "conclusion"
    ]
    planted: list[tuple[str, KernelRow, Any]] = []
    while len(planted) < number:
        row, certificate = draws.choice(proved)
        kind = draws.choice(("constant", "sign", "condition", "letters"))
        problem = planted_in(certificate["problem"], kind, draws)
        if problem is not None:
            name = f"{row.statement}/{row.obligation}"
            planted.append((kind, KernelRow(name, problem, "proved", certificate["proof"]), certificate))
    with timed("the kernel on faults"):
        said = ask(kernel, [row for _, row, _ in planted])
    accepted = [fault for fault, reason in zip(planted, said, strict=True) if reason is None]
    with timed("the checker on faults that the kernel accepts"):
        true = [fault for fault in accepted if is_true(fault[1].problem, fault[2])]
        rest = [fault for fault in accepted if fault not in true]
        false = [fault for fault in rest if fails(fault[1], draws)]
    yield (
        f"Of {number} faults planted in accepted conclusions (seed {seed}), {number - len(accepted)} are refused. "
        f"The other {len(accepted)} ({counted(accepted)}) are accepted: {len(true)} of them leave the conclusion "
        f"true, as the checker confirms; of the {len(rest)} that it does not decide, {len(false)} fail at one of "
        f"{POINTS} points."
    )
    for kind, row, _ in rest:
        yield f"\n{'A false acceptance' if row in [f for _, f, _ in false] else 'Not decided'}: {row.name} ({kind})"


def is_true(problem: Any, certificate: Any) -> bool:
    """Whether the checker confirms it by the certificate of what it was made of; of an `exists`, at its values."""
    proof = certificate["proof"]
    if proof["method"] != "exists":
        return check({**certificate, "problem": problem}).confirmed
    claim, variables, assuming = problem["claim"], list(problem["variables"]), list(problem["assuming"])
    while claim[0] in ("exists", "forall", "implies"):
        if claim[0] == "exists":
            claim = replaced(claim[2], claim[1]["name"], proof["values"][claim[1]["name"]])
        elif claim[0] == "forall":
            variables.append(claim[1])
            claim = claim[2]
        else:
            assuming += split(claim[1])
            claim = claim[2]
    inside = {"variables": variables, "assuming": assuming, "claim": claim}
    return any(check({**inner, "problem": inside}).confirmed for inner in proof["inner"])


def counted(faults: list[tuple[str, KernelRow, Any]]) -> str:
    """How many of each kind."""
    return ", ".join(
        f"{kind} {count}" for kind, count in Counter(kind for kind, _, _ in faults).most_common()
    )


def planted_in(problem: Any, kind: str, draws: random.Random) -> Any:
    """The problem with one fault of a kind; None where that has no place in it."""
    claim, assuming = problem["claim"], problem["assuming"]
    if kind == "condition":
        drop = draws.randrange(len(assuming)) if assuming else None
        return None if drop is None else {**problem, "assuming": [*assuming[:drop], *assuming[drop + 1 :]]}
    if kind == "letters":
        names = sorted({part[1] for part in parts(claim) if part[0] == "sym"})
        if len(names) < 2:
            return None
        one, other = draws.sample(names, 2)
        kinds = {v["name"]: v["kind"] for v in problem["variables"]}
        if kinds.get(one) != kinds.get(other):
            return None
        swap = {one: other, other: one}
        return {
            **problem,
            "claim": mapped(claim, lambda e: ["sym", swap.get(e[1], e[1])] if e[0] == "sym" else e),
        }
    if kind == "sign":
        return {**problem, "claim": [claim[0], claim[2], claim[1]]} if claim[0] in ("<=", "<") else None
    numbers = [part for part in parts(claim) if part[0] == "num" and part[1] not in ("-1", "0")]
    if not numbers:
        return None
    old = draws.choice(numbers)
    new = str(Fraction(old[1]) * draws.choice((Fraction(49, 50), Fraction(51, 50))))
    return {**problem, "claim": mapped(claim, lambda e: ["num", new] if e == old else e)}


def parts(e: Any) -> Iterator[Any]:
    """All parts of a formula, but for exponents that are numbers."""
    if isinstance(e, list):
        yield e
        for part in e[1 : 2 if e[0] == "pow" and e[2][0] == "num" else None]:
            yield from parts(part)


def mapped(e: Any, change: Any) -> Any:
    """A formula with its leaves changed, but for exponents that are numbers."""
    if not isinstance(e, list):
        return e
    if e[0] in ("num", "sym"):
        return change(e)
    if e[0] == "pow" and e[2][0] == "num":
        return ["pow", mapped(e[1], change), e[2]]
    return [e[0], *(mapped(part, change) for part in e[1:])]


def fails(row: KernelRow, draws: random.Random) -> bool:
    """Whether the checker confirms that the problem is false at some point."""
    if any(v["kind"] == "vector" for v in row.problem["variables"]):
        return False
    for _ in range(POINTS):
        point = {}
        for v in row.problem["variables"]:
            low = Fraction(v["lower"]) if v["lower"] is not None else Fraction(-4)
            high = Fraction(v["upper"]) if v["upper"] is not None else low + draws.choice((1, 4, 64))
            at = low + (high - low) * Fraction(draws.randint(0, 16), 16)
            point[v["name"]] = str(at if v["kind"] == "real" else int(at))
        certificate = {"version": 1, "problem": row.problem, "verdict": "refuted"}
        if check({**certificate, "proof": {"method": "counterexample", "point": point}}).confirmed:
            return True
    return False


if __name__ == "__main__":
    main()
