"""Audits of gll22's algorithms at the sizes that people have."""

from __future__ import annotations

import math

import numpy as np

from dpverify.algorithms.gll22.alternating_sampler import AlternatingSampler
from dpverify.algorithms.gll22.linear_hard_family import HardFamilyTrial, LinearHardFamily, MeanMinimizer
from dpverify.algorithms.gll22.regularized_exponential_mechanism import RegularizedExponentialMechanism
from dpverify.algorithms.gll22.rejection_inner_step import RejectionInnerStep
from dpverify.auditing import Bound
from dpverify.auditing.subjects import ValuesOf
from dpverify.problems import Ball, Dataset, Logistic, Problem
from dpverify.statements.gll22.audits.cases import expected_queries
from dpverify.statements.gll22.audits.linear_hard_family import excesses
from dpverify.statements.plans import MEAN, Cases, Corrected, Plan, Profile, along
from dpverify.statements.real_size import DIMENSION, EPSILON, SIZE, risk, whole

_WHERE = f"breast-cancer, {SIZE} records of {DIMENSION} features"


def _logistic() -> Problem:
    return Problem(Logistic(), Ball(DIMENSION, 1.0))


def _sampler_queries(profile: Profile) -> Cases:
    sampler = AlternatingSampler(_logistic(), 4.0, 10.0, 0.05)
    claim = f"T = {sampler.schedule.steps} steps, each at most 4 e / (1 - error) values in expectation"
    return expected_queries(sampler, whole(), _WHERE, "gll22.thm5.6", claim, profile.runs(40), 2.0)


def _step_queries(profile: Profile) -> Cases:
    step = RejectionInnerStep(_logistic(), 4.0, 1.0, 0.001)
    claim = "at most 4 e / (1 - error) in expectation, whatever n and d"
    return expected_queries(step, whole(), _WHERE, "gll22.lem5.5", claim, profile.runs(2_000), 10.0)


def _family(profile: Profile) -> Cases:
    """The minimizer of the sampled risk, on as many records of as many features, once an instance."""
    family = LinearHardFamily(DIMENSION, SIZE * DIMENSION)
    solver = MeanMinimizer(family.diameter / 2, math.inf, 0.0, withdraw_guarantee=True)
    trial = HardFamilyTrial(family, solver, SIZE)
    bound = Bound(
        bound=family.lower_bound,
        claim="at least G D / (16 sqrt(1 + 4 k / d)), as the proof gives, k = n d",
        data=f"{SIZE} Gaussian records about {DIMENSION} random signs, the minimizer of the sampled risk",
        runs=profile.runs(1_000),
        at_least=True,
        origin=Corrected(
            "gll22.thm7.1",
            "Omega(G D sqrt(min(1, d / k)))",
            "the constant 1/16 and the form of the root are what the proof gives",
            "every k and d",
        ),
    )
    quantity = "expected excess population risk, over the family"
    unused = Dataset(np.zeros((1, DIMENSION)), np.ones(1), "none: Gaussian records", "by construction")
    return ((bound, ValuesOf(trial, unused, excesses, 0.0, trial.largest_excess, quantity, block_size=1)),)


PLANS: tuple[Plan, ...] = (
    risk(
        "gll22.rem",
        "the regularized exponential mechanism",
        lambda: RegularizedExponentialMechanism(_logistic(), EPSILON, 1e-2, sampler="alternating"),
        runs=200,
    ),
    *(
        Plan(
            f"{id_}/real-size/{name}",
            id_,
            f"{title} at real size, {SIZE} records",
            MEAN,
            along(cases),
            Profile.FULL,
        )
        for id_, name, title, cases in (
            ("gll22.alg1", "queries", "Value queries of the alternating sampler", _sampler_queries),
            ("gll22.alg2", "queries", "Value queries of an inner step", _step_queries),
            ("gll22.lower-instance", "risk", "Risk on the hard linear family", _family),
        )
    ),
)
