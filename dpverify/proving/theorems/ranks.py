"""What order statistics, medians and remainders stand for: terms of counts, largest and smallest values, and floors."""

from __future__ import annotations

from collections.abc import Callable

from dpverify.proving.checker.theorems.language import Node, put

_ONE, _OTHER = ("sym", "one in order"), ("sym", "other in order")


def ranked(value: Callable[[Node], Node], first: Node, last: Node, rank: Node) -> Node:
    """The value of a rank among those over whole numbers: the largest than which fewer than the rank are smaller.

    For a rank below 1 it is the smallest, above the number of values the largest.
    """
    one, other = value(_ONE), value(_OTHER)
    below: Node = ("sum", ("other in order", "integer"), ("indicator", ("<", other, one)), first, last)
    counts: Node = ("indicator", ("<", below, rank))
    least: Node = ("smallest", ("other in order", "integer"), other, first, last)
    not_counted: Node = ("add", ("num", "1"), ("mul", ("num", "-1"), counts))
    kept: Node = ("add", ("mul", counts, one), ("mul", not_counted, least))
    return put(("largest", ("one in order", "integer"), kept, first, last), {})


def median(value: Callable[[Node], Node], first: Node, last: Node) -> Node:
    """The value in the middle, of an even number of values the mean of the two."""
    more: Node = ("add", last, ("mul", ("num", "-1"), first), ("num", "2"))
    half: Node = ("mul", ("num", "1/2"), more)
    both = (ranked(value, first, last, (way, half)) for way in ("floor", "ceiling"))
    return ("mul", ("num", "1/2"), ("add", *both))


def remainder(value: Node, by: int) -> Node:
    """What is left of a number divided by a whole one: the number, less a multiple of the floor of the quotient."""
    quotient: Node = ("floor", ("mul", ("num", f"1/{by}" if by > 1 else "1"), value))
    return ("add", value, ("mul", ("num", str(-by)), quotient))
