"""Errata that are not among the encoded formulas: each names the tests and audits that compute it.

The ledger lists them with their statements, and the page on the algorithms lists them all: `python -m
dpverify.statements.errata_page PAGE` writes that part of the page. What is false among the encoded formulas is not
repeated here; the provers find it.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpverify.ledger.entries import ErratumEntry
from dpverify.ledger.verdicts import Consequence

CLAIM, CONSTANT, STEP, EDGE = Consequence.CLAIM, Consequence.CONSTANT, Consequence.STEP, Consequence.EDGE


def _erratum(
    where: str, printed: str, corrected: str, consequence: Consequence, *evidence: str
) -> ErratumEntry:
    return ErratumEntry(
        where=where, printed=printed, corrected=corrected, consequence=consequence, evidence=evidence
    )


ERRATA: Mapping[str, tuple[ErratumEntry, ...]] = {
    "mn25.alg3": (
        _erratum(
            "Algorithm 3",
            "with the printed noise a message is only 2 rho-zCDP",
            "sqrt(2) times the noise, for rho-zCDP",
            CLAIM,
            "test test_the_oracle_keeps_rho_and_the_printed_noise_does_not",
        ),
    ),
    "mn25.limited-oracle": (
        _erratum(
            "Section 5",
            "the channel's stated capacity, d/sigma^2, is at least twice the true one",
            "(d/2) ln(1 + 1/sigma^2)",
            CONSTANT,
            "test test_the_capacity_of_the_channel_by_quadrature",
            "audit mn25.limited-oracle/capacity",
        ),
    ),
}


def of_paper(key: str) -> dict[str, tuple[ErratumEntry, ...]]:
    """The errata of one paper's statements."""
    return {id_: errata for id_, errata in ERRATA.items() if id_.startswith(f"{key}.")}
