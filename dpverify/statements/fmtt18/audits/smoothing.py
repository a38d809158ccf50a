"""Audits of Gaussian smoothing (fmtt18, Section 5.5 and Appendix C)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from dpverify.algorithms.fmtt18.smoothing import SmoothedPNSGD
from dpverify.auditing import ConstantQuestion, PrivacyQuestion
from dpverify.auditing.subjects import OnPair
from dpverify.ledger.records import Interval
from dpverify.problems import Ball, Dataset, Hinge, Logistic, Problem, load
from dpverify.problems.smoothed_losses import (
    AbsoluteError,
    SmoothedDistance,
    SmoothedGeneralizedLinear,
    mean_norm,
)
from dpverify.statements.audit_parts import NOISE, REAL_DATA, longest_record_at, real_neighbors
from dpverify.statements.fmtt18.audits.cases import (
    DELTA,
    DIMENSION,
    EPSILON,
    SIZE,
    population_case,
    query_case,
)
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    PRIVACY,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    along,
    white_box,
)


def _kinked(data_name: str, *, n: int | None = None) -> tuple[Problem, Dataset]:
    """A support vector machine on breast cancer, or a median regression on diabetes, on the unit ball."""
    data = load(data_name, n=n, d=DIMENSION)
    return Problem(Hinge() if data_name == "breast-cancer" else AbsoluteError(), Ball(data.d, 1.0)), data


def _smoothed_real(data_name: str, profile: Profile) -> Audit:
    """The second of two records; every step of a support vector machine or a median shows its record's direction."""
    kinked, _ = _kinked(data_name)
    n, index, width = 2, 2, 0.2
    data = longest_record_at(data_name, index, n=n, d=2)
    problem = Problem(kinked.loss, Ball(2, 1.0))
    mechanism = SmoothedPNSGD(problem, 0.05, 1.0, width)
    pair = real_neighbors(mechanism.algorithm.problem, data, index)
    printed, sharp = mechanism.rdp_at(n, index), mechanism.guarantee_at(n, index)
    assert printed is not None
    assert sharp is not None
    return Audit(
        PrivacyQuestion(
            printed,
            f"{pair.description}; smoothed with lambda = {width:g}",
            profile.runs(40_000),
            best_known=sharp.guarantee,
            origin=AsPrinted(
                "fmtt18.thm24",
                "2 L^2 / (sigma^2 (n + 1 - t)) order = "
                f"{2 * problem.loss.lipschitz_constant**2 / (n + 1 - index):.4g} order",
                "every order > 1, eta <= 2/beta; Corollary 34 applies it to the smoothed losses",
            ),
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=NOISE),
    )


def _smoothed_risk(data_name: str, profile: Profile) -> Cases:
    """Corollary 34's proof for the loss itself, at an epsilon for which the bound says something."""
    problem, data = _kinked(data_name)
    claim = f"4 sqrt(2) R sqrt(L^2 + d sigma^2) / sqrt(n) + largest bias, at epsilon = {EPSILON:g}"
    return tuple(
        population_case(
            SmoothedPNSGD.for_privacy(problem, n=n, epsilon=EPSILON, delta=DELTA),
            problem,
            data,
            n,
            claim,
            Corrected(
                "fmtt18.cor34",
                "4 sqrt(2) R L / sqrt(n) (sqrt(1 + 8 d ln(1.25/delta) / epsilon^2) + epsilon sqrt(d) / (2 "
                "ln(1.25/delta)))",
                "enough noise for this epsilon, and the bias that the printed lambda has for these losses",
                "every epsilon > 0, independent records, eta <= 2/beta",
            ),
            profile,
        )
        for n in (100, 200, 400)
    )


def _smoothness_constant(profile: Profile) -> Audit:
    """The largest c in smoothness = c L / lambda among the convolved losses, against the printed 1."""
    width = 0.1
    losses = [SmoothedGeneralizedLinear(base, width) for base in (Hinge(), AbsoluteError(), Logistic())]
    every: list[Any] = [*losses, *(SmoothedDistance(width, d) for d in (1, 2, 5, 10, 100))]
    constant = max(loss.smoothness * width for loss in every)
    return Audit(
        ConstantQuestion(
            formula="beta = c L / lambda",
            latex=r"\beta=c\,L/\lambda",
            provable=Interval(lower=constant, upper=constant),
            extreme="smallest",
            printed=1.0,
            parameters={"losses": "hinge, absolute error, logistic, Euclidean distance"},
            range_fixed_by="closed forms; sqrt(2/pi) is the largest for any loss, as E |Z| = sqrt(2/pi)",
            method="the largest of the losses named",
            origin=AsPrinted("fmtt18.thm33", "beta = L / lambda", "every convex L-Lipschitz loss"),
        )
    )


def _bias_constant(profile: Profile) -> Audit:
    """The largest c in bias = c L lambda sqrt(d) over dimensions, against the printed 1."""
    dimensions = (1, 2, 5, 10, 100, 10_000)
    constant = max(mean_norm(d) / math.sqrt(d) for d in dimensions)
    return Audit(
        ConstantQuestion(
            formula="bias = c L lambda sqrt(d)",
            latex=r"|\hat f-f|=c\,L\lambda\sqrt d",
            provable=Interval(lower=constant, upper=constant),
            extreme="smallest",
            printed=1.0,
            parameters={"d": ", ".join(map(str, dimensions))},
            range_fixed_by="these dimensions; it increases to 1 with d",
            method="E ||Z|| in closed form, attained by ||w - x|| at w = x",
            origin=AsPrinted("fmtt18.thm33", "L lambda sqrt(d)", "every convex L-Lipschitz loss"),
        )
    )


def _queries(profile: Profile) -> Audit:
    problem, data = _kinked("breast-cancer", n=SIZE)
    mechanism = SmoothedPNSGD.for_privacy(problem, n=data.n, epsilon=EPSILON, delta=DELTA)
    return query_case(mechanism, data, SUBJECT, data.n, "at most n")


SUBJECT = "fmtt18.smoothing"

_OUTPUTS_ALONE: tuple[Plan, ...] = (
    Plan(
        f"{SUBJECT}/smoothness-constant",
        "fmtt18.thm33",
        "Theorem 33's smoothness",
        CONSTANT,
        _smoothness_constant,
    ),
    Plan(f"{SUBJECT}/bias-constant", "fmtt18.thm33", "Theorem 33's bias", CONSTANT, _bias_constant),
    *(
        Plan(
            f"{SUBJECT}/{name}", SUBJECT, f"Smoothed PNSGD on {name}", PRIVACY, partial(_smoothed_real, name)
        )
        for name in REAL_DATA
    ),
    *(
        Plan(
            f"{SUBJECT}/{name}/risk",
            SUBJECT,
            f"Risk of smoothed PNSGD on {name}",
            RISK,
            along(partial(_smoothed_risk, name), over="n"),
        )
        for name in REAL_DATA
    ),
    Plan(f"{SUBJECT}/queries", SUBJECT, f"Gradient queries of {SUBJECT}", COUNT, _queries),
)

PLANS = (*_OUTPUTS_ALONE, *white_box(_OUTPUTS_ALONE))
