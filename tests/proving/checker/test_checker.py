"""The checker confirms what is true and refuses what is not: algebra, points, units."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import combinations
from pathlib import Path

import pytest

from dpverify.proving.checker import check, questions
from dpverify.proving.checker.__main__ import main

from .hand_certificates import (
    BEYOND,
    FALSE,
    TRUE,
    Json,
    num,
    smt,
    variable,
)


@pytest.mark.parametrize("name", sorted(TRUE.keys() - BEYOND.keys()))
def test_true_certificates_are_confirmed(name: str) -> None:
    found = check(TRUE[name])
    assert found.confirmed, found


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_the_checker_is_refused_and_said(name: str) -> None:
    found = check(TRUE[name])
    assert not found.confirmed
    assert found.says.startswith(f"not confirmed: {BEYOND[name]}")


@pytest.mark.parametrize("name", FALSE)
def test_planted_faults_are_refused(name: str) -> None:
    found = check(FALSE[name])
    assert not found.confirmed, found
    assert found.says


def test_computer_algebra_is_named() -> None:
    assert (
        check(FALSE["computer-algebra"]).says
        == "not confirmed: the method computer-algebra is beyond this checker"
    )


PIGEONS = 11
SITS = [[["sym", f"x{i}_{j}"] for j in range(PIGEONS - 1)] for i in range(PIGEONS)]
"""Above 0 where pigeon i sits in hole j."""
LONG = smt(
    [
        "or",
        *(["and", *(["<=", x, num(0)] for x in row)] for row in SITS),
        *(
            ["and", ["<", num(0), one[j]], ["<", num(0), other[j]]]
            for one, other in combinations(SITS, 2)
            for j in range(PIGEONS - 1)
        ),
    ],
    *(variable(x[1]) for row in SITS for x in row),
)
"""Of more pigeons than holes, one has none or two share one: true, and far more work than the guard below allows."""


def test_what_the_clock_ends_is_said_and_is_no_refusal_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    late = "not confirmed: stopped by the clock, which on a faster machine might not have happened"
    assert not check(FALSE["computer-algebra"]).by_the_clock
    with monkeypatch.context() as patched:
        patched.setattr(questions, "GUARD", 1)
        assert check(LONG) == (False, late, True)
    assert check(LONG).confirmed


NUMBERS = [
    (name, i)
    for name in ("binomial", "exp-product", "derivative-of-phi", "smt", "sum-of-constants", "log-of-exps")
    for i in range(12)
]


@pytest.mark.parametrize(("name", "i"), NUMBERS)
def test_every_changed_number_in_a_tight_claim_is_refused(name: str, i: int) -> None:
    """Each of these claims is true for one value of each of its numbers only (an inequality is made tighter)."""
    changed = deepcopy(TRUE[name])
    places: list[Json] = []

    def walk(e: Json) -> None:
        if isinstance(e, list) and e[:1] == ["num"] and len(e) == 2:
            places.append(e)
        elif isinstance(e, list):
            for a in e:
                walk(a)

    walk(changed["problem"]["claim"])
    if i >= len(places):
        return
    places[i][1] = {"2": "3", "1/2": "1/3", "-1/2": "-1/3", "1": "2", "0": "1", "1/3": "1/2", "-1": "-2"}.get(
        places[i][1], "7"
    )
    assert check(TRUE[name]).confirmed
    assert not check(changed).confirmed


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"{name}.json" for name in ("good", "bad", "broken")}
    files["good"].write_text(json.dumps(TRUE["binomial"]))
    files["bad"].write_text(json.dumps(FALSE["changed-constant"]))
    files["broken"].write_text("{")
    assert main([str(files["good"])]) == 0
    assert main([str(files["good"]), str(files["bad"])]) == 1
    assert main([str(files["bad"]), str(files["broken"])]) == 2
    assert main([str(tmp_path / "none.json")]) == 2
    assert main([]) == 2
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 6
    assert out[0].endswith("confirmed: proved, by algebra")
