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
    "mn25.thm2": (
        _erratum(
            "Algorithm 3",
            "with the printed noise a message is only 2 rho-zCDP",
            "sqrt(2) times the noise, for rho-zCDP",
            CLAIM,
            "test test_the_oracle_keeps_rho_and_the_printed_noise_does_not",
        ),
    ),
    "mn25.thm7": (
        _erratum(
            "Algorithm 4",
            "the number of phases, log2(1/alpha), is the logarithm of a quantity with a unit",
            "log2(B L / alpha)",
            EDGE,
            "test test_the_schedule_of_phased_sgd_is_the_papers",
        ),
        _erratum(
            "Theorem 7, proof",
            "the chain of risk bounds takes the squared noise of a phase to be 16 times smaller than it is",
            "the squared noise of the previous phase, as it is",
            CONSTANT,
            "test test_risk_bounds_follow_the_chains",
        ),
    ),
    "mn25.lem14": (
        _erratum(
            "Lemma 14",
            "its tau never gives 2 delta",
            "the threshold that the private bound gives",
            CONSTANT,
            "test test_the_printed_threshold_of_lemma_14_does_not_work",
        ),
    ),
    "mn25.lem15": (
        _erratum(
            "Lemma 15, proof",
            "it shows only half of the claim",
            "the claim is true all the same",
            STEP,
            "test test_lemma_15_holds_and_its_proof_shows_half_of_it",
        ),
    ),
    "mn25.thm8": (
        _erratum(
            "Appendix D.1",
            "the selection among nested balls has no error bound relative to their radii",
            "scores relative to the radii",
            STEP,
            "test test_the_printed_selection_has_no_relative_error",
            "test test_relative_scores_have_sensitivity_one_and_a_relative_error",
        ),
    ),
    "mn25.d2": (
        _erratum(
            "Appendix D.2",
            "the claim does not follow from Lemma 6 as printed",
            "the profile of a solver on resampled records, computed",
            STEP,
            "test test_the_printed_claim_of_appendix_d2",
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
