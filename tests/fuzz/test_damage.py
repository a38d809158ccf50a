"""Certificates damaged at random: the checker confirms none whose problem does not have its verdict still."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpverify.ledger.verdicts import Variant, Verdict
from dpverify.proving import canonical
from dpverify.proving.checker import check
from dpverify.proving.checker.arithmetic import questions
from dpverify.verification.catalog.rows import ProofRecord

from .holding import faults

Json = Any
EXAMPLES = int(os.environ.get("DPVERIFY_FUZZ_EXAMPLES", "200"))
STATEMENTS = (
    "fmtt18.thm1", "fmtt18.thm23", "fmtt18.thm35", "gll22.claim4.2", "gll22.cor3.12", "bst14.lem6.4"
)  # fmt: skip
"""Statements whose certificates are checked quickly: identities, signs, sums, integrals, exp and phi as unknowns, z3,
counterexamples, boxes, units."""


@pytest.fixture(scope="module")
def certificates(proofs: Any) -> list[Json]:
    """Certificates that the checker confirms, without vectors: points of formulas with some are tried elsewhere."""
    records: list[ProofRecord] = proofs.of(*STATEMENTS)
    found = [r.certificate for r in records if r.evidence.confirmed_by_checker and r.certificate]
    found = [c for c in found if "vector" not in {v["kind"] for v in c["problem"]["variables"]}]
    assert {c["proof"]["method"] for c in found} >= {"sum", "gaussian-integral", "antiderivative", "smt"}
    assert {c["verdict"] for c in found} >= {Verdict.PROVED, Verdict.REFUTED}
    assert len({c["proof"]["method"] for c in found}) > 3
    return found


def places(value: Json, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of a JSON value."""
    found = [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        found += places(part, (*path, key))
    return found


def part(value: Json, path: tuple[Any, ...]) -> Json:
    for key in path:
        value = value[key]
    return value


def put(value: Json, path: tuple[Any, ...], new: Json) -> None:
    part(value, path[:-1])[path[-1]] = new


class Damage:
    """Ways to damage a certificate; each returns whether it found something to damage."""

    def __init__(self, rng: random.Random, others: list[Json]) -> None:
        self.rng, self.others = rng, others

    def _somewhere(self, c: Json, fits: Callable[[Json], bool]) -> tuple[Any, ...] | None:
        found = [path for path in places(c) if path and fits(part(c, path))]
        return self.rng.choice(found) if found else None

    def number(self, c: Json) -> bool:
        """A number changed: in the claim, a domain, a point, a box, a tree."""

        def numeric(value: Json) -> bool:
            try:
                return isinstance(value, str) and Fraction(value) is not None
            except (ValueError, ZeroDivisionError):
                return False

        path = self._somewhere(c, numeric)
        if path is not None:
            old = Fraction(part(c, path))
            put(
                c,
                path,
                str(
                    self.rng.choice([old + 1, old - 1, -old, 2 * old, old / 2, Fraction(0), Fraction(10**6)])
                ),
            )
        return path is not None

    def relation(self, c: Json) -> bool:
        """A relation or connective changed."""
        groups = (
            ("<=", "<", "==", "!="),
            ("and", "or", "implies"),
            ("add", "mul", "max"),
            ("exp", "log", "phi"),
        )
        path = self._somewhere(c["problem"], lambda v: isinstance(v, str) and any(v in g for g in groups))
        if path is not None:
            old = part(c["problem"], path)
            put(c["problem"], path, self.rng.choice([v for g in groups if old in g for v in g if v != old]))
        return path is not None

    def sides(self, c: Json) -> bool:
        """The sides of a comparison exchanged, or the claim negated."""
        claim = c["problem"].get("claim", [""])
        if claim[0] in ("<=", "<") and self.rng.random() < 0.7:
            c["problem"]["claim"] = [claim[0], claim[2], claim[1]]
        else:
            c["problem"]["claim"] = ["not", claim]
        return True

    def verdict(self, c: Json) -> bool:
        """Another verdict."""
        c["verdict"] = self.rng.choice(
            [v for v in ("proved", "certified", "refuted", "") if v != c["verdict"]]
        )
        return True

    def swap(self, c: Json) -> bool:
        """Claim, proof, variables, assumptions or witness of another certificate."""
        other = deepcopy(self.rng.choice(self.others))
        match self.rng.choice(["claim", "proof", "variables", "assuming", "witness"]):
            case "proof" | "witness" as key:
                c[key] = other.get(key)
            case key:
                c["problem"][key] = other["problem"][key]
        return True

    def cut(self, c: Json) -> bool:
        """A part of a list or an object left out."""
        path = self._somewhere(c, lambda v: True)
        assert path is not None
        del part(c, path[:-1])[path[-1]]
        return True

    def kind(self, c: Json) -> bool:
        """A domain: integer made real, an end opened, closed or removed."""
        if not c["problem"]["variables"]:
            return False
        v = self.rng.choice(c["problem"]["variables"])
        match self.rng.choice(["kind", "lower_open", "upper_open", "lower", "upper"]):
            case "kind":
                v["kind"] = "real" if v["kind"] == "integer" else "integer"
            case "lower_open" | "upper_open" as key:
                v[key] = not v[key]
            case key:
                v[key] = None if v[key] is not None else "5"
        return True

    def assumption(self, c: Json) -> bool:
        """An assumption dropped, or one that cannot hold added."""
        assuming = c["problem"]["assuming"]
        if assuming and self.rng.random() < 0.5:
            assuming.pop(self.rng.randrange(len(assuming)))
        else:
            assuming.append(["<", ["num", "1"], ["num", "0"]])
        return True

    def witness(self, c: Json) -> bool:
        """A witness removed, emptied or moved."""
        if not c.get("witness"):
            return False
        match self.rng.choice(["gone", "empty", "moved"]):
            case "gone":
                del c["witness"]
            case "empty":
                c["witness"] = {}
            case "moved":
                name = self.rng.choice(sorted(c["witness"]))
                c["witness"][name] = self.rng.choice(["-1000000", "1/3", "0", "oo", "nan", "1e999999", "x"])
        return True


WAYS = ("number", "number", "relation", "sides", "verdict", "swap", "cut", "kind", "assumption", "witness")


def test_damaged_certificates_are_confirmed_only_where_their_verdict_still_holds(
    certificates: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is refused, or shown again for what it now says: then no point of the domain contradicts it.

    A question whose coverings end neither by count nor by size is ended by the guard, here sooner than elsewhere, which
    confirms nothing either; such questions are rare.
    """
    monkeypatch.setattr(questions, "GUARD", 60.0)
    rng = random.Random(20260101)
    damage = Damage(rng, certificates)
    confirmed = refused = ended = 0
    for _ in range(min(EXAMPLES // 2, 2000)):
        original = rng.choice(certificates)
        hurt = deepcopy(original)
        way = rng.choice(WAYS)
        if not getattr(damage, way)(hurt) or canonical(hurt) == canonical(original):
            continue
        said = check(json.loads(json.dumps(hurt)))
        assert not (said.by_the_clock and said.confirmed)
        ended += said.by_the_clock
        confirmed, refused = confirmed + said.confirmed, refused + (not said.confirmed)
        # a certificate shows one verdict and no other
        assert way != "verdict" or not said.confirmed
        if said.confirmed and '"exists"' in json.dumps(hurt["problem"]["claim"]):
            continue  # no point decides that; the checker's own tests plant false ones
        if said.confirmed and hurt["proof"].get("method") != "units":
            assert faults(hurt) == [], (way, said)
            assert (
                hurt["verdict"] == "refuted"
                or hurt.get("witness") is not None
                or not hurt["problem"]["variables"]
            )
        if said.confirmed and hurt["proof"].get("method") == "units":
            assert hurt["verdict"] in ("proved", "refuted")
    # about half are confirmed: units do not depend on numbers and domains, other proofs not on units, and hints that
    # the checker does not follow may be wrong
    assert refused > 0 < confirmed
    assert ended <= (refused + confirmed) / 100


def test_a_question_that_coverings_never_answer_ends(proofs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sign of an exponent in an integral changed: cvc5's coverings of it end neither by count nor by time."""
    near: list[bool] = []
    within_reach = questions.within_reach

    def noted(formulas: Any, cases: Any) -> bool:
        near.append(within_reach(formulas, cases))
        return near[-1]

    monkeypatch.setattr(questions, "within_reach", noted)
    named = [r for r in proofs.of("gll22.claim4.2") if r.evidence.obligation == "square-below"]
    (record,) = (r for r in named if r.evidence.variant is Variant.CORRECTED)
    hurt = deepcopy(record.certificate)
    assert check(hurt).confirmed
    assert all(near)
    exponent = ("proof", "integral", 1, 2, 1, 1, 1, 1)
    assert part(hurt, exponent) == "-1"
    put(hurt, exponent, "1")
    said = check(hurt)
    assert not said.confirmed
    assert not said.by_the_clock
    assert not all(near)


def test_a_stored_certificate_that_was_changed_is_not_read(certificates: list[Json], tmp_path: Path) -> None:
    from dpverify.errors import InvalidDataError
    from dpverify.proving import load, store

    rng = random.Random(7)
    for certificate in certificates[:20]:
        name = store(certificate, tmp_path)
        file = tmp_path / f"{name.removeprefix('sha256:')}.json"
        whole = file.read_bytes()
        place = rng.randrange(len(whole))
        file.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(7))]) + whole[place + 1 :])
        with pytest.raises(InvalidDataError):
            load(name, tmp_path)
