"""Answers of the provers to the formulas of committed pages, kept beside the program; none is taken on trust.

A line is what a prover has once answered to one problem: a certificate without the problem, and what is shown of it. It
is found by the problem itself, so that a formula that has changed has no answer, and it is taken only where the checker
confirms the certificate of the problem as it is read now, whose verdict is then the answer's. All else is proved.

One file for each paper and collection, a line for each answer, in the order of the pages; `make answers` writes them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.certificates import VERSION, canonical
from dpverify.proving.language import Obligation
from dpverify.proving.proof import Proof

FOLDER = Path(__file__).with_name("answers")
_FIELDS = ("prover", "counterexample", "left", "right", "box", "boxes", "reason", "witness", "written_out")
_DEFAULTS: Mapping[str, Any] = {f.name: f.default for f in fields(Proof)}


def shown_of(certificate: Json) -> Json:
    """Of a certificate, what is no part of the problem."""
    return {name: certificate[name] for name in ("verdict", "proof", "witness") if name in certificate}


def key_of(obligation: Obligation) -> str:
    """Changes with all that provers see of an obligation, and with nothing else."""
    form = obligation.written_out
    letters = [[v.name for v in of.functionals] for of in (obligation, form)]
    seen = canonical([obligation.problem.json, form.problem.json, letters])
    return hashlib.sha256(seen.encode()).hexdigest()[:20]


def line_of(obligation: Obligation, proof: Proof) -> Json | None:
    """What is kept of an answer; None if undecided, cut short by a clock, or of something else."""
    certificate = proof.certificate
    if certificate is None or proof.stopped_by_the_clock:
        return None
    form = obligation.written_out if proof.written_out else obligation
    if certificate["problem"] != form.problem.json:
        return None
    more = {name: value for name in _FIELDS if (value := getattr(proof, name)) != _DEFAULTS[name]}
    for name in ("counterexample", "box", "witness"):
        if name in more:
            more[name] = dict(more[name])
    shown = shown_of(certificate)
    if more.get("witness") == shown.get("witness"):
        more.pop("witness", None)
    return {"of": key_of(obligation), **more, "shown": shown}


def proof_of(obligation: Obligation, line: Json) -> Proof:
    """The answer that a line keeps, with a certificate of the obligation as it is now."""
    more = {name: line[name] for name in _FIELDS if name in line}
    form = obligation.written_out if more.get("written_out") else obligation
    certificate = {"version": VERSION, "problem": form.problem.json, **shown_of(line["shown"])}
    if "witness" in certificate:
        more.setdefault("witness", certificate["witness"])
    if "box" in more:
        more["box"] = {name: tuple(ends) for name, ends in more["box"].items()}
    verdict = Verdict(certificate["verdict"])
    if verdict is Verdict.REFUTED and form.functionals:
        verdict = Verdict.DOES_NOT_FOLLOW
    return Proof(verdict, certificate=certificate, **more)


@cache
def lines(folder: Path = FOLDER, paper: str = "*") -> Mapping[str, Json]:
    """Every line that is kept, or those of one paper, by its problem; none where files are missing or broken."""
    found: dict[str, Json] = {}
    try:
        for file in sorted(folder.glob(f"{paper}.jsonl")):
            for text in file.read_text(encoding="ascii").splitlines():
                line = json.loads(text)
                found[line["of"]] = line
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found


def known(obligation: Obligation) -> Proof | None:
    """The answer that is kept of what an obligation says now, which the checker has yet to confirm."""
    line = lines().get(key_of(obligation))
    try:
        return None if line is None else proof_of(obligation, line)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def text_of(found: Iterable[Json]) -> str:
    """A file of lines, each problem once."""
    once = {line["of"]: canonical(line) + "\n" for line in found}
    return "".join(once.values())
