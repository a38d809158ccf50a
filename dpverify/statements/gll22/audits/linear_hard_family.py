"""Audit plans for gll22's hard linear family: the lower bound of Theorem 7.1 against solvers, private and not."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNSGD
from dpverify.algorithms.gll22.linear_hard_family import HardFamilyTrial, LinearHardFamily, MeanMinimizer
from dpverify.auditing import Bound, CountQuestion, PrivacyQuestion
from dpverify.auditing.subjects import CountedRuns, OnPair, ValuesOf
from dpverify.problems import Dataset, load
from dpverify.running import Runs
from dpverify.statements.audit_parts import NOISE, REAL_DATA, linear_neighbors
from dpverify.statements.plans import (
    COUNT,
    MEAN,
    PRIVACY,
    AsPrinted,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    Unstated,
    along,
)

SUBJECT = "gll22.lower-instance"
EPSILON, DELTA = 1.0, 1e-5
DIMENSION = 5
SIZES = (2, 8, 32)
"""Records in an instance; an algorithm that reads them whole sees d values of each."""

NAMES = {
    "mean": "the exact minimizer of the empirical risk",
    "private-mean": "the minimizer from a noisy mean",
    "pnsgd": "PNSGD",
}

UNUSED = Dataset(np.zeros((1, DIMENSION)), np.ones(1), "none: Gaussian records", "by construction")


def _solver(name: str, family: LinearHardFamily, n: int) -> tuple[Any, float]:
    """A solver, and the norm to which it needs records to be shortened."""
    radius = family.diameter / 2
    if name == "mean":
        return MeanMinimizer(radius, math.inf, 0.0, withdraw_guarantee=True), math.inf
    if name == "private-mean":
        private = MeanMinimizer.for_privacy(n=n, epsilon=EPSILON, delta=DELTA, radius=radius, clip=1.0)
        return private, math.inf
    return PNSGD.for_privacy(family.problem, n=n, epsilon=EPSILON, delta=DELTA), 1.0


def excesses(runs: Runs) -> Any:
    """Excess risks, one an instance; rounding may have taken them below 0."""
    return np.maximum(np.asarray(runs.points), 0.0)


def _gaussian(name: str, profile: Profile) -> Cases:
    """The family whose separation fits the number of values that the solver sees."""
    cases = []
    for n in SIZES:
        family = LinearHardFamily(DIMENSION, n * DIMENSION)
        solver, clip = _solver(name, family, n)
        trial = HardFamilyTrial(family, solver, n, clip=clip)
        cases.append(
            (
                Bound(
                    bound=family.lower_bound,
                    claim="at least G D / (16 sqrt(1 + 4 k / d)), as the proof gives, k = n d",
                    data=f"Gaussian records about random signs, {NAMES[name]}",
                    runs=profile.runs(1_000),
                    at_least=True,
                    size=float(n),
                    origin=Corrected(
                        "gll22.thm7.1",
                        "Omega(G D sqrt(min(1, d / k)))",
                        "the constant 1/16 and the form of the root are what the proof gives",
                        "every k and d",
                    ),
                ),
                ValuesOf(
                    trial,
                    UNUSED,
                    excesses,
                    0.0,
                    trial.largest_excess,
                    "expected excess population risk, over the family",
                    block_size=1,
                ),
            )
        )
    return tuple(cases)


def _real(name: str, data_name: str, profile: Profile) -> Cases:
    """The same solvers where the population is a data set with random signs; no bound is proved there."""
    data = load(data_name, d=DIMENSION)
    features = np.asarray(data.features)
    size = float(np.sqrt(np.mean(np.sum(features**2, axis=1))))
    cases = []
    for n in SIZES:
        family = LinearHardFamily(DIMENSION, n * DIMENSION, size)
        solver, clip = _solver(name, family, n)
        cases.append(
            (
                Bound(
                    bound=-math.inf,
                    claim="none is proved; the Gaussian family with records as large has at least "
                    f"{family.lower_bound:.4g}",
                    data=f"{data.name} as the population, with random signs, {NAMES[name]}",
                    runs=profile.runs(500),
                    at_least=True,
                    size=float(n),
                    origin=Unstated("no bound is proved on such a population"),
                ),
                ValuesOf(
                    HardFamilyTrial(family, solver, n, "data", clip),
                    data,
                    excesses,
                    0.0,
                    family.diameter * float(np.linalg.norm(features.mean(axis=0))),
                    "expected excess population risk",
                    block_size=1,
                ),
            )
        )
    return tuple(cases)


def _private(data_name: str, profile: Profile) -> Audit:
    pair = linear_neighbors(data_name, n=2, d=2)
    solver = MeanMinimizer.for_privacy(n=2, epsilon=2.0, delta=1e-3, radius=1.0, clip=1.0)
    return Audit(
        PrivacyQuestion(
            solver.guarantees(2).headline,
            pair.description,
            profile.runs(40_000),
            origin=Unstated(
                "the solver tried on the family is not from the paper; its noise is the Gaussian mechanism's"
            ),
        ),
        OnPair(solver, pair.left, pair.right, weakened=solver.weakened, fault=NOISE),
    )


def _queries(profile: Profile) -> Audit:
    n = SIZES[-1]
    family = LinearHardFamily(DIMENSION, n * DIMENSION)
    solver, _ = _solver("mean", family, n)
    trial = HardFamilyTrial(family, solver, n)
    return Audit(
        CountQuestion(
            family.observations,
            "k = n d, the values that the bound allows",
            UNUSED.name,
            oracle="value",
            origin=AsPrinted("gll22.thm7.1", f"k = {family.observations} values", "every k"),
        ),
        CountedRuns(trial, UNUSED),
    )


def _plans() -> tuple[Plan, ...]:
    found: list[Plan] = [
        Plan(
            f"{SUBJECT}/{name}",
            SUBJECT,
            f"Hard linear family against {title}",
            MEAN,
            along(partial(_gaussian, name), over="n"),
        )
        for name, title in NAMES.items()
    ]
    for data_name in REAL_DATA:
        found += [
            Plan(
                f"{SUBJECT}/{data_name}/{name}",
                SUBJECT,
                f"Linear losses from {data_name} against {NAMES[name]}",
                MEAN,
                along(partial(_real, name, data_name), over="n"),
            )
            for name in ("mean", "private-mean")
        ]
        found.append(
            Plan(
                f"{SUBJECT}/{data_name}/privacy",
                SUBJECT,
                f"The minimizer from a noisy mean on {data_name}",
                PRIVACY,
                partial(_private, data_name),
            )
        )
    found.append(
        Plan(f"{SUBJECT}/queries", SUBJECT, "Values seen of the hard linear family", COUNT, _queries)
    )
    return tuple(found)


PLANS = _plans()
