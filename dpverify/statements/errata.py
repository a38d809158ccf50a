"""Errata that are not among the encoded formulas: each names the tests and audits that compute it.

The ledger lists them with their statements, and the page on the algorithms lists them all: `python -m
dpverify.statements.errata_page PAGE` writes that part of the page. What is false among the encoded formulas is not
repeated here; the provers find it.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpverify.evidence import Consequence, ErratumEntry

CLAIM, CONSTANT, STEP, EDGE = Consequence.CLAIM, Consequence.CONSTANT, Consequence.STEP, Consequence.EDGE


def _erratum(
    where: str, printed: str, corrected: str, consequence: Consequence, *evidence: str
) -> ErratumEntry:
    return ErratumEntry(
        where=where, printed=printed, corrected=corrected, consequence=consequence, evidence=evidence
    )


ERRATA: Mapping[str, tuple[ErratumEntry, ...]] = {
    "bst14.objpert-privacy": (
        _erratum(
            "Appendix E, (11)",
            "the noise spends all of epsilon, but the Hessian's determinant changes too: in one dimension the "
            "printed Gamma noise loses epsilon + ln(1 + 2 epsilon), nearly three times the claim for small epsilon; "
            "the logistic loss refutes both claims at epsilon = 0.1",
            "epsilon is split between the noise, the determinant and the minimizer's error",
            CLAIM,
            "test test_what_the_printed_gamma_noise_really_spends",
            "test test_printed_parameters_break_the_printed_claim",
            "audit bst14.alg-objpert/printed-epsilon",
        ),
    ),
    "bst14.alg8-privacy": (
        _erratum(
            "Algorithm 8",
            "the exponent epsilon / (L ||C||) loses up to 2 epsilon; one pair of neighbors loses more than 1.9 epsilon",
            "half the exponent",
            CLAIM,
            "test test_printed_exponent_loses_twice_epsilon",
            "test test_the_printed_exponent_is_seen_by_an_audit_too",
        ),
    ),
    "bst14.thmC.1": (
        _erratum(
            "Appendix C",
            "noise constant 4 gives delta = 4.28e-5 instead of 1e-5 at epsilon = 1",
            "the constant 4.835 is enough there",
            CLAIM,
            "test test_the_printed_noise_is_not_private",
            "audit bst14.alg-local-approx/constant",
        ),
        _erratum(
            "Appendix C",
            "in one dimension, the ball misses the minimizer with probability above 1/n^3",
            "the radius with the exact tail of the noise's norm",
            CONSTANT,
            "test test_the_printed_radius_is_too_small_on_a_line",
        ),
    ),
    "bst14.appD": (
        _erratum(
            "Appendix D",
            "runs with all of epsilon and a selection with all of epsilon compose to more than epsilon",
            "epsilon is split between the runs and the selection",
            CLAIM,
            "test test_the_printed_split_loses_more_than_epsilon",
        ),
        _erratum(
            "Appendix D",
            "the number of runs k, with a natural logarithm, is too small",
            "a logarithm to base 2",
            EDGE,
            "test test_the_natural_logarithm_is_not_enough",
        ),
    ),
    "bst14.lem6.1": (
        _erratum(
            "Lemma 6.1",
            "the smallest mass lacks a sqrt(p) in its exponent",
            "the exponent with sqrt(p)",
            CONSTANT,
            "test test_the_printed_smallest_mass_is_too_large_in_two_dimensions",
        ),
        _erratum(
            "Lemma 6.1",
            "a relative error of epsilon/2 is too large on the lower side",
            "an error small enough on both sides",
            CONSTANT,
            "test test_the_printed_relative_error_is_too_large_below",
        ),
    ),
    "bst14.lem6.5": (
        _erratum(
            "Algorithm 6 and Lemma 6.5",
            "with a natural logarithm the number of walks does not meet the lemma's condition",
            "a logarithm to base 2",
            EDGE,
            "test test_the_number_of_walks_is_enough_in_base_two_only",
        ),
    ),
    "gll22.thm6.4": (
        _erratum(
            "Theorem 6.4, proof",
            "a sampling error of tau in total variation is taken to add only tau to delta",
            "it adds (1 + e^epsilon) tau",
            CONSTANT,
            "test test_a_third_of_delta_does_not_pay_for_sampling",
        ),
    ),
    "gll22.thm6.2": (
        _erratum(
            "Theorem 6.2",
            "the excess risk mu D^2 / 2 is stated for every center of the regularizer",
            "the center must be in the set",
            EDGE,
            "test test_the_anchor_must_be_in_the_set",
        ),
    ),
    "gll22.thm6.8": (
        _erratum(
            "Theorem 6.8",
            "the risk has a term G / (n mu)",
            "G^2 / (n mu), as Theorem 6.7 proves",
            EDGE,
            "audit gll22.rem/population-risk",
        ),
    ),
    "gll22.thm7.1": (
        _erratum(
            "Theorem 7.1, proof",
            "the last inequality points the wrong way, by up to a factor of sqrt(2)",
            "the bound without that step, smaller by a constant",
            CONSTANT,
            "test test_the_printed_bound_is_never_reached_by_its_proof",
        ),
    ),
    "gll22.claim7.2": (
        _erratum(
            "Claim 7.2",
            "it fails outside the ball",
            "it holds on the ball, where it is used",
            EDGE,
            "test test_claim_7_2_on_the_ball_and_not_outside",
        ),
    ),
    "mn25.thm2": (
        _erratum(
            "Algorithm 3",
            "with the printed noise a message is only 2 rho-zCDP",
            "sqrt(2) times the noise, for rho-zCDP",
            CLAIM,
            "test test_the_oracle_keeps_rho_and_the_printed_noise_does_not",
        ),
    ),
    "mn25.thm5": (
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
