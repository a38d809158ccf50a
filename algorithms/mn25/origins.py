"""How what mn25's methods state differs from what the paper prints, in the forms that several share."""

from __future__ import annotations

from dpverify.ledger.origins import Corrected


def accounted(source: str, printed: str) -> Corrected:
    """Of a privacy profile that the accountant proves."""
    because = "the whole profile proved by the accountant for these parameters, with all messages or phases released"
    return Corrected(source, printed, because, "every epsilon >= 0")


def summed(source: str, printed: str) -> Corrected:
    """Of a risk: the proof's chain with all constants."""
    because = "the sum in the proof as it is, with every constant"
    return Corrected(source, printed, because, "every alpha for which it is below B L")


def rounded_up(source: str, words: str) -> Corrected:
    """Of a number of queries."""
    return Corrected(source, words, "rounded up where the printed numbers are not integers", "every n")
