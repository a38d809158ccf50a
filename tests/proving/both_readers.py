"""A display read by both readers, and what each makes of it."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import OutOfScopeError
from dpverify.formulas.rendering.neutral import formula_to_json
from dpverify.proving.second_reader import RefusedError, read
from dpverify.statements.rows import source_of
from dpverify.statements.sheet import Sheet

from ..formulas import random_styles
from ..formulas.random_styles import LETTERS, Called, Style, random_definitions, random_formula, random_order


@dataclass(frozen=True)
class Both:
    """What two readers make of a display.

    Attributes:
        latex: the display.
        first: the problem that the first reads; None where it refuses.
        second: the same of the second.
        says: why they refuse, first and second.
        meant: claim and conditions as they were before they were printed, where that is known.
    """

    latex: str
    first: Any
    second: Any
    says: tuple[str, str]
    meant: list[Any] | None = None

    @property
    def agree(self) -> bool:
        """Whether both read the same, and what was meant; of what the first refuses, nothing is believed anyway."""
        if self.first is None:
            return True
        return bool(self.first == self.second) and self.meant in (
            None,
            [self.first["claim"], *self.first["assuming"]],
        )


def both(
    latex: str,
    letters: Any = LETTERS,
    called: tuple[Called, ...] = (),
    meant: list[Any] | None = None,
    **options: Any,
) -> Both:
    """A display as a row of a sheet, read by both."""
    sheet = Sheet("page", tuple(letters))
    for quantity in called:
        sheet = sheet.define(quantity.latex, quantity.body, parameter=quantity.parameter)
    sheet = sheet.conclusion("row", latex, **options)
    source = source_of(sheet.rows[0])
    assert source is not None
    first: Any = None
    second: Any = None
    one = other = ""
    try:
        first = sheet.printed[0].problem.json
    except InvalidArgumentError as error:
        one = str(error)
    try:
        second = read(source)
    except RefusedError as error:
        other = str(error)
    return Both(latex, first, second, (one, other), meant)


def second(latex: str, letters: Any = LETTERS) -> Any:
    """What the second reader reads.

    Raises:
        RefusedError: if it refuses.
    """
    source = source_of(Sheet("page", tuple(letters)).conclusion("row", latex).rows[0])
    assert source is not None
    return read(source)


def styled(seed: int) -> Both:
    """A random formula in a random style."""
    rng = random.Random(seed)
    called: tuple[Called, ...] = ()
    with suppress(OutOfScopeError):
        called = random_definitions(rng) if rng.random() < 0.5 else ()
    places = tuple(quantity.placeholder for quantity in called)
    formula = random_formula(rng, rng.choice((1, 1, 1, 2, 2, 3)), places)
    latex, assumed, claim = Style(rng).display(formula)
    meant = None
    with suppress(OutOfScopeError):
        meant = [formula_to_json(random_styles.with_values(part, called)) for part in (claim, *assumed)]
    return both(latex, LETTERS, called, meant)


def ordered(seed: int) -> Both:
    """A random formula with orders."""
    display = random_order(random.Random(seed))
    return both(display.latex, **display.options)
