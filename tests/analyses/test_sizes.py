"""What a letter is follows from its declaration, and so does the range that it has in practice."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpverify.analyses.sizes import (
    FEW,
    KNOWN,
    LARGE,
    MANY,
    SEVERAL,
    SMALL,
    consistent,
    readable,
    sizes_of,
    tied,
)
from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS
from dpverify.formulas.vectors import vector
from dpverify.ledger.written_numbers import number_text

F = Fraction
RECORD_COUNT = integer("n", ge=1, unit=RECORDS, size="number of records")


@pytest.mark.parametrize(
    ("letter", "says"),
    [
        (RECORD_COUNT, "number of records, 100 to 1,000,000"),
        (integer("n", ge=1), "an integer of no known size, 1 to 1,000,000"),
        (integer("n", ge=1, meaning="number of records"), "an integer of no known size, 1 to 1,000,000"),
        (real("n", ge=1, size="number of records"), "number of records, 100 to 1,000,000"),
        (integer("p", ge=1, size="dimension"), "dimension, 1 to 5,000"),
        (integer("t", ge=1, unit=RECORDS), "number of some records, or a position, 10 to 1,000,000"),
        (real("epsilon", gt=0, unit=NATS), "of no known size, 0.001 to 1,000"),
        (real("e", gt=0, unit=NATS, size="epsilon"), "epsilon, 0.1 to 10"),
        (real("d", gt=0, lt=1, size="delta"), "delta, 1e-12 to 0.001"),
        (real("rho", gt=0, size="zCDP parameter"), "zCDP parameter, 1e-4 to 10"),
        (real("delta", gt=0, lt=F(1, 2), size="accuracy"), "accuracy, 0.001 to 0.5"),
        (real("rho", gt=0, lt=1, size="failure probability"), "failure probability, 1e-6 to 0.1"),
        (real("order", gt=1, size="Renyi order"), "Renyi order, 1.25 to 256"),
        (real("l", gt=0, unit=NATS, size="log(1/delta)"), "log(1/delta), 7 to 27.6"),
        (real("l", gt=0, size="ln(n/delta)"), "ln(n/delta), 11.6 to 41.4"),
        (real("l", gt=F(69, 100), size="log n", meaning="log n, above log 2"), "log n, 4.7 to 13.8"),
        (integer("T", ge=1, size="number of steps, queries or the like"),
         "number of steps, queries or the like, 10 to 1,000,000"),
        (real("R", gt=0, size="number of phases"), "number of phases, 2 to 50"),
        (real("l", gt=0, size="log(3/(4 delta))"), "log(3/(4 delta)), 6.7 to 27.3"),
        (real("l", gt=0, size="log(n d / delta)"), "log(n d / delta), 11.6 to 49.9"),
        (real("l", gt=0, size="log(1/p)"), "of no known size, 0.001 to 1,000"),
        (integer("i", ge=3, meaning="number of a set"), "an integer of no known size, 3 to 1,000,000"),
        (integer("k", ge=0), "an integer of no known size, 1 to 1,000,000"),
        (integer("k"), "an integer of no known size, -100 to 1,000,000"),
        (integer("k", le=-200), "an integer of no known size, -2,000 to -200"),
        (integer("k", ge=2 * 10**6), "an integer of no known size, 2,000,000 to 20,000,000"),
        (integer("k", ge=0, le=0), "an integer of no known size, 0 to 0"),
        (integer("i", ge=1, le=3), "an integer of no known size, 1 to 3"),
        (real("L", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant"), "of any scale, 0.001 to 1,000"),
        (real("x", ge=0), "of no known size, 0.001 to 1,000"),
        (real("x"), "of no known size, -1,000 to 1,000"),
        (real("x", ge=2), "of no known size, 2 to 1,000"),
        (real("x", le=0), "of no known size, -1,000 to 0"),
        (real("x", le=-2000), "of no known size, -20,000 to -2,000"),
        (real("x", ge=-5), "of no known size, -5 to 1,000"),
        (real("x", ge=500), "of no known size, 500 to 5,000"),
        (real("x", gt=0, lt=F(1, 10**6)), "of no known size, 0 to 1e-6"),
        (real("x", gt=0, le=1, meaning="log of what nobody knows"), "of no known size, 0.001 to 1"),
    ],
)  # fmt: skip
def test_a_letter_has_the_size_of_what_it_is(letter: Variable, says: str) -> None:
    (size,) = sizes_of([letter]).values()
    assert size.recorded().text() == says
    values = readable(letter, size)
    assert values
    assert all(letter.contains(x) and size.holds(x) for x in values)
    assert len(set(values)) == len(values)


@pytest.mark.parametrize("end", [0, -1, F(1, 10**30), 10**30])
def test_a_domain_of_one_number_has_that_number(end: Fraction | int) -> None:
    letter = real("x", ge=end, le=end)
    assert readable(letter, sizes_of([letter])["x"]) == [end]


def test_vectors_have_no_size() -> None:
    assert sizes_of([vector("v"), RECORD_COUNT]).keys() == {"n"}


def test_known_ranges_are_ordered_and_hold_what_is_tried_first() -> None:
    for kind in KNOWN:
        size = kind
        assert size.known
        assert 0 < size.low < size.typical < size.high


def test_the_page_about_sizes_has_the_same_ranges() -> None:
    page = (Path(__file__).parents[2] / "docs/concepts/realistic-sizes.md").read_text(encoding="utf-8")
    rows = [
        tuple(cell.strip() for cell in line.strip("| \n").split("|"))
        for line in page.splitlines()
        if "|" in line
    ]
    sizes = dict.fromkeys(kind for kind in KNOWN)
    kept = [(size.what, size.recorded().range_text(), number_text(size.typical)) for size in sizes]
    assert rows[2 : 2 + len(kept)] == kept
    integers, numbers = rows[-2:]
    assert integers[1:] == (
        f"{number_text(FEW)} to {number_text(MANY)}, in its domain",
        number_text(SEVERAL),
    )
    assert numbers[1:] == (f"{number_text(SMALL)} to {number_text(LARGE)}, in its domain", "1")


def test_the_most_typical_number_comes_first_and_round_ones_next() -> None:
    size = sizes_of([RECORD_COUNT])["n"]
    assert readable(RECORD_COUNT, size)[:4] == [1000, 500, 2000, 800]
    epsilon = real("epsilon", gt=0, le=1, unit=NATS, size="epsilon")
    assert readable(epsilon, sizes_of([epsilon])["epsilon"], [F(1, 7)])[:2] == [1, F(1, 2)]
    assert F(1, 7) in readable(epsilon, sizes_of([epsilon])["epsilon"], [F(1, 7), F(7)])


@pytest.mark.parametrize(("n", "delta", "fits"), [(1000, F(1, 1000), True), (1001, F(1, 1000), False)])
def test_delta_is_at_most_one_over_the_number_of_records(n: int, delta: Fraction, fits: bool) -> None:
    letters = [RECORD_COUNT, real("delta", gt=0, lt=1, size="delta")]
    assert consistent(sizes_of(letters), {"n": F(n), "delta": delta}) == fits


@pytest.mark.parametrize(
    ("size", "value", "fits"),
    [("log(1/delta)", 7, True), ("log(1/delta)", F(69, 10), False),
     ("ln(n/delta)", 14, True), ("ln(n/delta)", F(138, 10), False), ("ln(n/delta)", 36, False)],
)  # fmt: skip
def test_so_is_a_delta_in_a_logarithm(size: str, value: Fraction | int, fits: bool) -> None:
    letters = [RECORD_COUNT, real("l", gt=0, size=size)]
    assert consistent(sizes_of(letters), {"n": F(1000), "l": F(value)}) == fits


@pytest.mark.parametrize(
    ("size", "other", "point", "fits"),
    [("log(n/p)", integer("p", ge=1, size="dimension"), (1, F(1, 100)), False),
     ("log(n/p)", integer("p", ge=1, size="dimension"), (100, 1), True),
     ("log(n/p)", integer("p", ge=1, size="dimension"), (5000, 10), False),
     ("log n", real("delta", gt=0, lt=1, size="delta"), (F(1, 1000), F(69, 10)), True),
     ("log n", real("delta", gt=0, lt=1, size="delta"), (F(2, 1000), F(69, 10)), False),
     ("log(2 n)", real("m", gt=0, size="number of some records, or a position"), (500, F(69, 10)), False),
     ("log(2 n)", real("m", gt=0, size="number of some records, or a position"), (490, F(69, 10)), True),
     ("log n", real("m", gt=0, size="number of some records, or a position"), (490, 10**9), False)],
)  # fmt: skip
def test_a_letter_that_stands_in_a_logarithm_only_has_its_size_too(
    size: str, other: Variable, point: tuple[Fraction | int, Fraction | int], fits: bool
) -> None:
    sizes = sizes_of([other, real("l", gt=0, size=size)])
    assert consistent(sizes, {other.name: F(point[0]), "l": F(point[1])}) == fits


def test_some_records_are_no_more_than_all() -> None:
    letters = [
        RECORD_COUNT,
        real("m", gt=0, size="number of some records, or a position"),
        integer("t", ge=1, unit=RECORDS),
    ]
    for m, t, fits in ((1000, 1000, True), (1001, 10, False), (10, 1001, False)):
        assert consistent(sizes_of(letters), {"n": F(1000), "m": F(m), "t": F(t)}) == fits
    assert consistent(sizes_of(letters[1:]), {"m": F(10**6), "t": F(10)})


def test_a_logarithm_means_the_letters_of_its_formula() -> None:
    """Not what letters of that name mean elsewhere."""
    rate = real("alpha", gt=0, le=1, meaning="learning rate")
    logarithm = real("l", gt=0, size="log(1/alpha)")
    sizes = sizes_of([rate, logarithm])
    assert not sizes["l"].known
    assert sizes["l"].recorded().text() == "log(1/alpha), 0.001 to 6.9"
    assert tied(sizes).keys() == {"l"}
    assert sizes_of([logarithm])["l"].known
    assert sizes_of([replace(rate, lower=F(-1)), logarithm])["l"].log_of is None
    assert sizes_of([vector("alpha"), logarithm])["l"].log_of is None


@pytest.mark.parametrize(
    ("number", "text"),
    [("1", "1"), ("10000", "10,000"), ("-1/2", "-0.5"), ("1/1000000", "1e-6"), ("12/1000000", "1.2e-5"),
     ("-3/100000", "-3e-5"), ("1/3", "1/3"), ("25/10000", "0.0025"), ("1/10000", "1e-4"), ("205/10", "20.5"),
     ("(1, -1/2)", "(1, -1/2)"), ("1/1024", "0.0009765625"), ("1/0", "1/0"), ("1e99999999", "1e99999999"),
     ("1e9000", "1e9000"), ("9" * 5000, "9" * 5000)],
)  # fmt: skip
def test_numbers_are_written_exactly(number: str, text: str) -> None:
    assert number_text(number) == text
