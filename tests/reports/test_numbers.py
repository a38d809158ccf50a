"""Numbers as text."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.ledger import written_numbers
from dpverify.views.number_text import at_least, at_most, duration, moment, nearest, span

_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def read_back(text: str) -> Decimal:
    """The exact value of a printed number."""
    text = text.replace(",", "").translate(_SUPERSCRIPTS).replace("×10", "e")
    return Decimal(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.5, "0.5"),
        (0.1, "0.1"),
        (123456.0, "123,456"),
        (1e-5, "1×10⁻⁵"),
        (2.5e-300, "2.5×10⁻³⁰⁰"),
        (-1.5, "−1.5"),
        (3.14159265, "3.142"),
        (999999.9, "1×10⁶"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_nearest(value: float, text: str) -> None:
    assert nearest(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_bounds_are_rounded_outward(value: float) -> None:
    exact = Decimal(repr(value))  # what a reader takes the float for
    assert read_back(at_least(value)) <= exact <= read_back(at_most(value))
    width = read_back(at_most(value)) - read_back(at_least(value))
    assert width <= abs(exact) * Decimal("1.001e-3")


def test_span_keeps_the_interval_inside() -> None:
    assert span(0.123456, 0.123467) == "0.1234 to 0.1235"


def test_times() -> None:
    assert [duration(s) for s in (0.016, 59.0, 61.0, 3725.0)] == ["0.016 s", "59 s", "1 min 1 s", "1 h 2 min"]
    assert duration(math.nan) == "unknown"
    assert moment("2024-01-17T11:30:00+02:00") == "2024-01-17 09:30 UTC"
    assert moment("yesterday") == "yesterday"


@pytest.mark.parametrize("value", [0.30000000000000004, 2 / 3, -2 / 3, 0.12341, 99999.5])
def test_rounding_is_not_to_nearest_for_bounds(value: float) -> None:
    assert read_back(at_least(value)) < read_back(at_most(value))
    assert nearest(value) in {at_least(value), at_most(value)}


@pytest.mark.parametrize("value", [4.24351, 4.2437, 0.1, 2.0, 1e-7 / 3, 123456.7, math.inf, -4.24351])
@pytest.mark.parametrize("digits", [3, 4, 6])
def test_bounds_in_sentences_stay_bounds(value: float, digits: int) -> None:
    low, high = (float(text(value, digits)) for text in (written_numbers.at_least, written_numbers.at_most))
    assert low <= value <= high
    assert high == low or high - low <= abs(value) * 10.0 ** (2 - digits)


def test_what_was_seen_is_not_rounded_up() -> None:
    assert (written_numbers.at_least(4.2437), f"{4.2437:.4g}") == ("4.243", "4.244")
    assert (written_numbers.at_least(0.1), written_numbers.at_most(0.1)) == ("0.1", "0.1")
