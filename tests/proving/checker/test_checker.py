"""The checker confirms what is true and refuses what is not: algebra, points, units."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from dpverify.proving.checker import Confirmation, check
from dpverify.proving.checker.__main__ import main
from dpverify.proving.checker.arithmetic import answers, questions
from dpverify.proving.checker.arithmetic.questions import Formula, Largest, Polynomial

from . import hand_existence
from .hand_certificates import (
    BEYOND,
    REAL,
    REAL_Y,
    TRUE,
    Json,
    X,
    Y,
    Z,
    add,
    mul,
    num,
    power,
    smt,
    variable,
)
from .hand_faults import FALSE

TRUE, FALSE = TRUE | hand_existence.TRUE, FALSE | hand_existence.FALSE


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
        patched.setattr(questions, "GUARD", 0.01)
        assert check(LONG) == Confirmation(False, late, True)
    assert check(LONG).confirmed


DEGREE_6 = smt(
    [
        "<=",
        mul(num(7), X, Y, Z, add(X, Y, Z)),
        add(*(power(v, p) for v in (X, Y, Z) for p in (2, 4, 6)), num(3)),
    ],
    REAL,
    REAL_Y,
    variable("z"),
)
"""False at (1, 1, 1). Coverings of it run on and on, and neither cvc5's count nor its clock ends them."""


def test_high_powers_in_three_letters_are_given_up_by_counts() -> None:
    assert check(DEGREE_6).says.startswith("not confirmed: cvc5 found no proof of ")
    assert not check(DEGREE_6).by_the_clock


def polynomial(*terms: str, of: tuple[int, ...] = ()) -> Polynomial:
    """The sum of monomials, each written as its letters, with numbers before them."""
    monomials = (tuple((x, m.count(x)) for x in sorted(set(m))) for m in terms)
    return dict(zip(monomials, map(Fraction, of or [1] * len(terms)), strict=True))


FALSE_FORMULA = Formula("<", (), {(): Fraction(-1)})


def test_what_is_asked_of_coverings_is_limited_by_its_size() -> None:
    def within_reach(*monomials: str) -> bool:
        return questions.within_reach([Formula("not", (Formula("<", (), polynomial(*monomials)),))], {})

    assert within_reach("xxxxx", "xxxxyyyy", "zz")  # 5 * 4 * 2 = 40
    assert not within_reach("xxxxx", "xxxxyyyy", "zzzz")
    # with two terms, what is left once a letter is eliminated is a monomial
    assert within_reach("xxxxyyyyzzzz", "u")
    assert not questions.within_reach([], {"max!1": Largest(polynomial("xxxxyyyyzzzz", "u", "x"), {})})
    most = questions.LONGEST // 2
    assert within_reach(*(["x"] * 1))
    length = Formula("and", tuple(Formula("<", (), polynomial("x")) for _ in range(most)))
    assert questions.within_reach([length], {})
    assert not questions.within_reach([length, Formula("<", (), polynomial("x"))], {})


def test_a_question_whose_work_nothing_counts_is_ended_with_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A polynomial in six letters at which coverings run on for minutes; one claim in some hundred random ones does."""
    terms = "", "af", "bdeefff", "abdeeff", "aaabbccdff", "bcdf", "aabe", "bde"
    hard = Formula("<=", (), polynomial(*terms, of=(-2, 3, -4, 7, 1, -7, 9, 9)))
    assert questions.within_reach([hard], {})
    assert questions.contradict([FALSE_FORMULA], 1000, {}, "").contradiction
    (first,) = questions.OPEN.values()
    with monkeypatch.context() as patched:
        patched.setattr(questions, "GUARD", 0.3)
        with pytest.raises(questions.OvertimeError, match="stopped by the clock"):
            questions.contradict([hard], 1000, {}, "abcdef", nl_ext="none")
    assert first.returncode is not None
    assert not questions.OPEN
    assert questions.contradict([FALSE_FORMULA], 1000, {}, "").contradiction


def test_letters_of_a_question_are_no_words_of_its_language() -> None:
    """A variable may have the name of a function of SMT-LIB, and a maximum stands for the larger of two polynomials."""
    x = polynomial("x")
    below = Formula("<", (), {(("and", 1),): Fraction(1)})
    assert not questions.contradict([below], 1000, {}, ["and"]).contradiction
    cases = {"m": Largest(x, polynomial("x", "", of=(1, 1)))}  # the larger one of x and x + 1 is x + 1
    gap = {(("m", 1),): Fraction(1), (("x", 1),): Fraction(-1), (): Fraction(-1)}
    assert questions.contradict([Formula("!=", (), gap)], 1000, cases, ["x", "m"]).contradiction
    assert not questions.contradict([Formula("==", (), gap)], 1000, cases, ["x", "m"]).contradiction


@pytest.mark.skipif(
    not Path("/proc/self/limits").exists(), reason="nothing here says what a process may take"
)
def test_the_process_that_answers_has_a_ceiling_of_memory() -> None:
    assert check(LONG).confirmed
    (process,) = questions.OPEN.values()
    line = next(
        one for one in Path(f"/proc/{process.pid}/limits").read_text().splitlines() if "data size" in one
    )
    assert int(line.split()[3]) <= answers.MEMORY


def test_what_cvc5_cannot_answer_is_said() -> None:
    with pytest.raises(RuntimeError, match="cvc5 cannot answer: "):
        questions.contradict([FALSE_FORMULA], 1000, {}, "", no_such_option="true")


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
