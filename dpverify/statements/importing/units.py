"""Units of letters by what they are called: `diameter` is a length, `Lipschitz constant of the gradient` none."""

from __future__ import annotations

import re

from dpverify.formulas.units import DIMENSIONLESS, LENGTH, LOSS, RECORDS, UNKNOWN, Unit
from dpverify.statements.importing.tables import ending, meanings, words
from dpverify.statements.pages.letters import read_domain, read_unit

_UNITS, _OF = meanings("units"), meanings("units_of")
SENSITIVITY = "sensitivity"
"""What noise has the unit of."""
_PLAIN, _RECORDS, _ARTICLES = words("plain"), words("records"), ("the", "a", "an", "all", "each", "any")


def quantity(said: str) -> str:
    """The quantity that words end with, such as `step size`; empty where none is known."""
    return ending(said, (*_UNITS, *_OF))


def unit_called(meaning: str, sensitivity: Unit = UNKNOWN) -> Unit:
    """The unit of what is called so: `largest norm of a gradient`.

    Args:
        meaning: words in small letters.
        sensitivity: the unit of what the noise hides.
    """
    head, _, behind = re.sub(r" (?:of|for|in|with|on|between)(?: |$)", "\n", meaning, count=1).partition("\n")
    name = quantity(head)
    if not name or not {*head.removesuffix(name).split()} <= {*_PLAIN, *_ARTICLES}:
        return UNKNOWN
    parted = head != meaning
    if name in _OF:
        # a Lipschitz constant of nothing that is named is that of the loss
        of = unit_called(behind, sensitivity) if parted else LOSS if _OF[name] == "per length" else UNKNOWN
        changed = {"same": of, "squared": of**2, "per length": of / LENGTH}[_OF[name]]
        return UNKNOWN if of == UNKNOWN else changed
    counted = re.split(r" (?:in|with|per|for|of)\b", behind)[0].split()[-1:]
    if name == "number" and _RECORDS.intersection(counted):
        return RECORDS
    return sensitivity if _UNITS[name] == SENSITIVITY else read_unit(_UNITS[name])


def unit_of_letter(domain: str, called: Unit, *, guessed: bool) -> Unit:
    """The unit of a letter: what its domain, if that is no guess, compares with a number but 0 is a number itself."""
    found = read_domain(domain)
    number = found.kind == "integer" or found.lower or found.upper
    return DIMENSIONLESS if number and called != RECORDS and (called == UNKNOWN or not guessed) else called


def in_words(unit: Unit) -> str:
    """A unit as pages have it: `loss^2 / length^2`; nothing for a pure number."""
    if unit.name:
        return "" if unit == DIMENSIONLESS else unit.name
    powers = [("loss", unit.loss), ("length", unit.length)]
    above, below = (
        " ".join(
            base if sign * power == 1 else f"{base}^{sign * power}"
            for base, power in powers
            if sign * power > 0
        )
        for sign in (1, -1)
    )
    return f"{above or 1} / {below}" if below else above
