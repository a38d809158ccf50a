"""Audits of SGD through oracles of limited information (mn25, Section 5).

Risks are means over the records. B is the set's diameter, L the loss's Lipschitz constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.mn25.interaction import Interaction
from dpverify.algorithms.mn25.limited_oracle import (
    GaussianChannel,
    LimitedOracle,
    LimitedOracleSGD,
    QuantizingOracle,
)
from dpverify.auditing import Bound, ConstantQuestion, CountQuestion
from dpverify.auditing.subjects import CountedRuns, RiskOf, ValuesOf
from dpverify.ledger.records import Interval
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness, Runs
from dpverify.statements.audit_parts import REAL_DATA, real_problem
from dpverify.statements.mn25.audits.cases import DIMENSION, SIZE, trivial
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    MEAN,
    RISK,
    AsPrinted,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    along,
)

# ------------------------------------------------------------------------------------------ limited oracles

ORACLES: dict[str, Callable[[float], LimitedOracle]] = {
    "quantizing": lambda lipschitz: QuantizingOracle(lipschitz, bits=2),
    "two-coordinates": lambda lipschitz: QuantizingOracle(lipschitz, bits=3, coordinates=2),
    "channel": lambda lipschitz: GaussianChannel(2.0 * lipschitz, lipschitz),
}


def _limited(oracle: str, problem: Problem, share: float) -> LimitedOracleSGD:
    lipschitz = problem.loss.lipschitz_constant
    return LimitedOracleSGD(problem, ORACLES[oracle](lipschitz), accuracy=share * trivial(problem))


def _limited_risk(data_name: str, oracle: str, profile: Profile) -> Cases:
    problem, data = real_problem(data_name, d=DIMENSION)
    return tuple(
        (
            Bound(
                bound=_limited(oracle, problem, share).risk_bound(data.n).bound,
                claim="B sqrt(V / T), V = L^2 and the oracle's squared error",
                data=f"{data.name}, n = {data.n}, d = {data.d}",
                runs=profile.runs(500),
                size=_limited(oracle, problem, share).information,
                origin=Corrected(
                    "mn25.thm5",
                    "B^2 (1 + sigma^2) / alpha^2 calls, of the order of the lower bound",
                    "the upper bound's constants are written out, for any L and any oracle's squared error",
                    "convex L-Lipschitz losses",
                ),
            ),
            RiskOf(_limited(oracle, problem, share), problem, data, total=False),
        )
        for share in (0.4, 0.2, 0.1)
    )


def _limited_queries(profile: Profile) -> Audit:
    problem, data = real_problem("breast-cancer", d=DIMENSION)
    mechanism = _limited("channel", problem, 0.1)
    claimed = math.ceil(100 * (1 + 2.0**2))
    return Audit(
        CountQuestion(
            claimed,
            "B^2 L^2 (1 + sigma^2 / L^2) / alpha^2, rounded up",
            data.name,
            origin=AsPrinted(
                "mn25.thm5", f"B^2 (1 + sigma^2) / alpha^2 = {claimed}, for L = 1", "every alpha"
            ),
        ),
        CountedRuns(mechanism, data),
    )


@dataclass(frozen=True)
class DecodedMessage:
    """One message about the mean gradient at the set's center, decoded, minus that gradient."""

    problem: Problem
    oracle: LimitedOracle

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Errors, shape (runs, d), the batch being all records."""
        xp = rng.xp
        interaction = Interaction(self.problem, data, self.oracle, rng=rng, runs=runs)
        center = np.asarray(self.problem.constraint.center())
        points = xp.asarray(np.broadcast_to(center, (runs, data.d)).copy())
        message = interaction.batch().ask(points, np.arange(data.n)).answer()
        truth = self.problem.mean_gradient(points[:1, :], data)
        return interaction.output(self.oracle.decode(message, data.d) - truth)


def _squared_norms(runs: Runs) -> NDArray[np.float64]:
    return np.asarray(np.sum(np.square(runs.points), axis=1), dtype=np.float64)


def _quantizing_error(data_name: str, profile: Profile) -> Cases:
    problem, data = real_problem(data_name, n=SIZE, d=DIMENSION)
    lipschitz, cases = problem.loss.lipschitz_constant, []
    for bits in (1, 2, 4):
        oracle = QuantizingOracle(lipschitz, bits)
        cases.append(
            (
                Bound(
                    bound=oracle.squared_error(data.d),
                    claim="d s^2 / 4, s = 2 L / (2^b - 1)",
                    data=data.name,
                    runs=profile.runs(20_000),
                    size=float(oracle.message_bits(data.d)),
                    origin=Corrected(
                        "mn25.thm5",
                        "B^2 (1 + sigma^2) / alpha^2 calls, of the order of the lower bound",
                        "the upper bound's constants are written out, for any L and any oracle's squared error",
                        "convex L-Lipschitz losses",
                    ),
                ),
                ValuesOf(
                    DecodedMessage(problem, oracle),
                    data,
                    _squared_norms,
                    0.0,
                    data.d * oracle.spacing**2 * (1 + 1e-9),
                    "||decoded - mean gradient||^2, loss^2 over length^2",
                ),
            )
        )
    return tuple(cases)


def _capacity_constant(profile: Profile) -> Audit:
    """(d / 2) ln(1 + 1 / sigma^2) <= c d / sigma^2 for all sigma >= 1: c rises to 1/2 as sigma grows."""
    sigmas = np.geomspace(1.0, 1e6, 601)
    ratios = [
        GaussianChannel(sigma).capacity(1) / GaussianChannel(sigma).printed_capacity(1) for sigma in sigmas
    ]
    return Audit(
        ConstantQuestion(
            formula="(d / 2) ln(1 + 1 / sigma^2) <= c d / sigma^2 for sigma >= 1",
            latex=r"\frac d2\ln\Bigl(1+\frac1{\sigma^2}\Bigr)\le c\,\frac d{\sigma^2}",
            provable=Interval(lower=float(max(ratios)), upper=float(max(ratios))),
            extreme="smallest",
            printed=1.0,
            parameters={"sigma": "1 to 1e6"},
            range_fixed_by="floating-point arithmetic",
            method="closed form on a grid; it increases with sigma, to 1/2",
            origin=AsPrinted("mn25.thm5", "capacity at most d / sigma^2, c = 1", "sigma >= 1, L = 1"),
        )
    )


def _plans() -> tuple[Plan, ...]:
    found: list[Plan] = []
    subject = "mn25.limited-oracle"
    for data_name in REAL_DATA:
        found += [
            Plan(
                f"{subject}/{data_name}/{oracle}/risk",
                subject,
                f"Risk of SGD through a limited oracle ({oracle}) on {data_name}",
                RISK,
                along(partial(_limited_risk, data_name, oracle), over="nats"),
            )
            for oracle in ORACLES
        ]
        found.append(
            Plan(
                f"{subject}/{data_name}/rounding",
                subject,
                f"Squared error of quantized gradients on {data_name}",
                MEAN,
                along(partial(_quantizing_error, data_name), over="bits"),
            )
        )
    found += [
        Plan(
            f"{subject}/queries",
            subject,
            "Gradient queries of SGD through a channel",
            COUNT,
            _limited_queries,
        ),
        Plan(
            f"{subject}/capacity",
            subject,
            "The constant in the channel's capacity",
            CONSTANT,
            _capacity_constant,
        ),
    ]
    return tuple(found)


PLANS = _plans()
