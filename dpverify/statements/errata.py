"""Errata that are not among the encoded formulas: each names the tests and audits that compute it.

The ledger lists them with their statements, and the page on the algorithms lists them all (`make pages`). What is false
among the encoded formulas is not repeated here; the provers find it.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpverify.ledger.entries import ErratumEntry
from dpverify.ledger.verdicts import Consequence

ERRATA: Mapping[str, tuple[ErratumEntry, ...]] = {
    "mn25.alg3": (
        ErratumEntry(
            where="Algorithm 3",
            printed="with the printed noise a message is only 2 rho-zCDP",
            corrected="sqrt(2) times the noise, for rho-zCDP",
            consequence=Consequence.CLAIM,
            evidence=("test test_the_oracle_keeps_rho_and_the_printed_noise_does_not",),
        ),
    ),
    "mn25.limited-oracle": (
        ErratumEntry(
            where="Section 5",
            printed="the channel's stated capacity, d/sigma^2, is at least twice the true one",
            corrected="(d/2) ln(1 + 1/sigma^2)",
            consequence=Consequence.CONSTANT,
            evidence=(
                "test test_the_capacity_of_the_channel_by_quadrature",
                "audit mn25.limited-oracle/capacity",
            ),
        ),
    ),
}


def of_paper(key: str) -> dict[str, tuple[ErratumEntry, ...]]:
    """The errata of one paper's statements."""
    return {id_: errata for id_, errata in ERRATA.items() if id_.startswith(f"{key}.")}
