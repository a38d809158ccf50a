"""Witnesses for certificates that are written by hand: the first of a few points at which all assumptions hold."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

from dpverify.proving.checker import check

Json = Any
_SIMPLE = tuple(map(Fraction, ("1", "2", "3", "1/2", "0", "-1", "1/4", "4", "10", "1/10")))


def _values(v: Json, ends: list[str] | None) -> list[str]:
    low, high = (None if v[end] is None else Fraction(v[end]) for end in ("lower", "upper"))
    near = [Fraction(end) for end in (*(ends or ()), v["lower"], v["upper"]) if end is not None]
    near += [(a + b) / 2 for a in near for b in near]
    near += [a + s for a in near for s in (-1, 1)]
    return [
        str(x)
        for x in dict.fromkeys((*_SIMPLE, *near))
        if (low is None or low < x or (x == low and not v["lower_open"]))
        and (high is None or x < high or (x == high and not v["upper_open"]))
        and (v["kind"] == "real" or x.denominator == 1)
        and (ends is None or Fraction(ends[0]) <= x <= Fraction(ends[1]))
    ]


def witnessed(certificate: Json) -> Json:
    """The certificate with a witness, if one is found among simple points, by the checker's own counterexamples."""
    problem, proof = certificate["problem"], certificate["proof"]
    boxes = proof.get("box", {}) if proof["method"] == "boxes" else {}
    try:
        choices = [_values(v, boxes.get(v["name"])) for v in problem["variables"]]
    except (TypeError, ValueError, KeyError):
        return certificate
    for point in itertools.islice(itertools.product(*choices), 200):
        witness = {v["name"]: x for v, x in zip(problem["variables"], point, strict=True)}
        nothing = {
            "version": 1,
            "problem": {**problem, "claim": ["or"]},
            "verdict": "refuted",
            "proof": {"method": "counterexample", "point": witness},
        }
        if not problem["assuming"] or check(nothing).confirmed:
            return {**certificate, "witness": witness}
    return certificate
