"""How people write LaTeX, display by display: each is read as it is meant, or refused with what to write instead.

habits.csv has a row for each display: what is read, printed from the tree with its conditions, or what a refusal says.
"""

from __future__ import annotations

import csv
import random
from contextlib import suppress
from pathlib import Path

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import integer, real
from dpverify.formulas.notation import read_display
from dpverify.formulas.notation.letters import Letters
from dpverify.formulas.rendering.latex import formula_latex
from dpverify.formulas.vectors import vector
from dpverify.proving.two_readers import disagreement
from dpverify.statements.sheet import Sheet

from .random_formulas import LETTERS as RANDOM_LETTERS
from .random_formulas import random_formula

VARIABLES = (
    *(real(name) for name in "xyzabcdfghprESXFGLP"),
    real("C", gt=0), real("sigma", gt=0, latex=r"\sigma"), real("KL", latex=r"\mathrm{KL}"),
    *(real(name, latex=f"\\{name}") for name in ("delta", "varepsilon", "alpha", "phi", "lambda")),
    *(real(name, latex=name) for name in ("a_1", "a_2")),
    *(integer(name, ge=1) for name in "nijkmtT"), *(vector(name) for name in "uvw"),
)  # fmt: skip
LETTERS = Letters(VARIABLES)
with Path(__file__).with_name("habits.csv").open(encoding="utf-8", newline="") as file:
    HABITS = [tuple(row) for row in csv.reader(file)][1:]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("latex", "read", "refused"), HABITS)
def test_each_is_read_as_it_is_meant_or_refused_with_what_to_write(
    latex: str, read: str, refused: str
) -> None:
    assert bool(read) != bool(refused)
    if refused:
        with pytest.raises(InvalidArgumentError) as caught:
            read_display(latex, LETTERS)
        assert refused in caught.value.allowed
        return
    display = read_display(latex, LETTERS)
    assert r"\text{ if }".join([formula_latex(display.claim), *map(formula_latex, display.given)]) == read


def test_the_second_reader_reads_all_of_them_as_the_first_does() -> None:
    agreed = 0
    for latex, read, _ in HABITS:
        rows = Sheet("a.1", VARIABLES, where="Theorem 1").step("s", latex).printed
        with suppress(InvalidArgumentError):  # nor is infinity a number in what is to be proved
            assert not disagreement(rows[0])
            assert read
            agreed += 1
    assert agreed > 650


def test_the_table_is_large_and_has_both() -> None:
    assert len({latex for latex, _, _ in HABITS}) == len(HABITS) > 1500
    assert sum(bool(read) for _, read, _ in HABITS) > 300 < sum(bool(refused) for _, _, refused in HABITS)


@pytest.mark.parametrize(
    "code", [0x00A0, 0x200B, 0x200E, 0x2009, 0x2028, 0x202F, 0x2060, 0x3000, 0xFEFF, 0x0085]
)
def test_characters_that_nobody_sees_are_named(code: int) -> None:
    for latex in (f"x{chr(code)}y\\le 1", f"x\\le{chr(code)}1", f"x\\le 1{chr(code)}", f"{chr(code)}x\\le 1"):
        with pytest.raises(InvalidArgumentError, match=f"U\\+{code:04X}"):
            read_display(latex, LETTERS)


@pytest.mark.parametrize(
    ("latex", "reading", "meant"),
    [
        (r"x^2\quad y\le 1", r"x^2\cdot y", r"x^2y\le 1"),
        (r"f(x+y)\le 1", r"f\cdot(x+y)", r"f\cdot(x+y)\le 1"),
        (r"x\le 2e-3", r"2\cdot e-3", r"x\le 2\cdot e-3"),
        (r"[nx]\le 1", "[(nx)]", r"nx\le 1"),
        (r"a\le b,c\le d\implies x=1", r"(a\le b,c\le d)", r"a\le b\text{ and }c\le d\implies x=1"),
        (r"a\le b,c\le d\text{ if }x\ge 1", r"(a\le b,c\le d)", r"a\le b,c\le d,\text{ if }x\ge 1"),
        (r"0<a,b<1", r"(0<a),b<1", r"0<a\text{ and }b<1"),
        (r"x\le max", r"m\cdot a\cdot x", r"x\le m\cdot a\cdot x"),
    ],
)  # fmt: skip
def test_a_reading_settles_it(latex: str, reading: str, meant: str) -> None:
    with pytest.raises(InvalidArgumentError):
        read_display(latex, LETTERS)
    assert read_display(latex, LETTERS, reading=reading) == read_display(meant, LETTERS)


GAPS = (
    r"\quad ",
    r"\qquad ",
    "~~",
    r"\; ",
    "\\ ",
    "~",
    "&",
    "&&",
    r"\\",
    r"\\&",
    "\n",
    r"\hspace{1em}",
    r"\phantom{x}",
)


@pytest.mark.parametrize("seed", range(10))
def test_two_formulas_with_a_gap_between_them_are_never_read_as_one(seed: int) -> None:
    rng = random.Random(seed)
    letters = Letters(RANDOM_LETTERS)
    for _ in range(30):
        one, other = (formula_latex(random_formula(rng, 1)) for _ in range(2))
        gap = rng.choice(GAPS)
        if other.startswith("-") and "\\\\" not in gap:
            gap = r"\quad "
        with pytest.raises(InvalidArgumentError):
            read_display(one + gap + other, letters)
        both = read_display(one + "," + gap + other, letters).claim
        assert both == read_display(rf"{one}\text{{ and }}{other}", letters).claim


@pytest.mark.parametrize(
    ("latex", "reading"),
    [
        ("x+yz=1", "(x+y)z"), ("-x^2=1", "(-x)^2"), ("x+yz+a/bc=1", "(x+y)z+a/(bc)"), ("xy=1", r"x\cdot y+0"),
        (r"\log(x)+y=1", r"\log((x)+y)"), (r"a\le b\text{ and }c\le d\implies x=1", r"(c\le d\implies x=1)"),
    ],
)  # fmt: skip
def test_a_reading_changes_nothing_that_is_clear(latex: str, reading: str) -> None:
    with pytest.raises(InvalidArgumentError, match="reading was"):
        read_display(latex, LETTERS, reading=reading)
