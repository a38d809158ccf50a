"""Audit plans for the private oracle methods, phased algorithms and information limited oracles of mn25.

Risks are means over the records. B is the set's diameter, L the loss's Lipschitz constant; real data sets are taken
with five features, whole for risks, and with few records for privacy, so that a single one can be seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.mn25.dp_sgd import DPSGD
from dpverify.algorithms.mn25.limited_oracle import (
    GaussianChannel,
    LimitedOracle,
    LimitedOracleSGD,
    QuantizingOracle,
)
from dpverify.algorithms.mn25.phased import PhasedERM, PhasedSGD
from dpverify.algorithms.mn25.private_oracles import (
    CyclicDescent,
    GaussianOracle,
    Interaction,
    PrivateOracleMethod,
)
from dpverify.evidence import Interval
from dpverify.privacy import Adjacency
from dpverify.problems import AllSpace, Ball, Dataset, NeighborPair, Problem, opposite_linear
from dpverify.running import Output, Randomness, Runs
from dpverify.statements.audit_parts import NOISE, REAL_DATA, linear_neighbors, real_problem
from dpverify.statements.plans import (
    AsPrinted,
    ComplexityCase,
    ComplexityPlan,
    ConstantCase,
    ConstantPlan,
    Corrected,
    MeanCase,
    MeanPlan,
    Plan,
    PrivacyCase,
    PrivacyPlan,
    Profile,
    RiskCase,
    RiskPlan,
)

EPSILON, DELTA = 2.0, 1e-5
SIZE, DIMENSION = 40, 5
"""Records and features kept of a real data set for privacy."""

WORST_SIZE = 4

NAMES = {"alg1": "Private oracle method", "alg3": "DP-SGD", "alg4": "Phased SGD", "alg5": "Phased ERM"}
SOURCES = {"alg1": "mn25.prelim", "alg3": "mn25.thm2", "alg4": "mn25.thm7", "alg5": "mn25.lem16"}


def _trivial(problem: Problem) -> float:
    """B L, in units of the loss."""
    return problem.constraint.diameter * problem.loss.lipschitz_constant


def _cyclic(problem: Problem, n: int) -> PrivateOracleMethod:
    """Two passes over the records in batches of 8, messages of noise multiplier 1."""
    size = min(8, n)
    oracle = GaussianOracle(2 * problem.loss.lipschitz_constant / size)
    rate = problem.constraint.diameter / (8 * problem.loss.lipschitz_constant)
    return PrivateOracleMethod(problem, oracle, CyclicDescent(max(1, 2 * n // size), size, rate))


def _mechanism(algorithm: str, problem: Problem, n: int) -> Any:
    """With its defaults, but for Phased SGD's accuracy: close to the smallest that is proved at 40 records."""
    makers: dict[str, Callable[[], Any]] = {
        "alg1": lambda: _cyclic(problem, n),
        "alg3": lambda: DPSGD(problem, EPSILON, DELTA),
        "alg4": lambda: PhasedSGD(problem, EPSILON, DELTA, accuracy=0.06 * _trivial(problem)),
        "alg5": lambda: PhasedERM(problem, EPSILON, DELTA),
    }
    return makers[algorithm]()


PRINTED = {
    "alg1": "each message rho-zCDP with respect to one gradient, composed",
    "alg3": "(epsilon, delta)-DP for alpha >= 26 B L sqrt(d ln(1/delta)) / (n epsilon)",
    "alg4": "(epsilon, delta)-DP for alpha >= 6 B L sqrt(d ln(1/delta)) / (n epsilon)",
    "alg5": "(epsilon, delta)-DP for alpha of the order B L sqrt(d ln(1/delta)) / (n epsilon)",
}


def _private(algorithm: str, pair: NeighborPair, runs: int) -> PrivacyCase:
    """Linear losses of a few records, with the accountant's whole profile as the claim."""
    n, d = pair.left.n, pair.left.d
    problem = Problem(pair.loss, Ball(d, 1.0))
    mechanisms: dict[str, Callable[[], Any]] = {
        # one batch of all records: the message is the Gaussian mechanism itself
        "alg1": lambda: PrivateOracleMethod(
            Problem(pair.loss, AllSpace(d)), GaussianOracle(1.2 / n), CyclicDescent(1, n, 1.0)
        ),
        "alg3": lambda: DPSGD(problem, 4.0, 0.01),
        "alg4": lambda: PhasedSGD(problem, 4.0, 0.01, accuracy=0.15 * _trivial(problem)),
        "alg5": lambda: PhasedERM(problem, 4.0, 0.01, gap_factor=1e-6),
    }
    mechanism = mechanisms[algorithm]()
    because = "the whole profile that the accountant proves for the parameters in use, all messages or phases released"
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.REPLACE_ONE,
        mechanism.guarantees(n)[-1].guarantee,
        pair.description,
        runs,
        origin=Corrected(SOURCES[algorithm], PRINTED[algorithm], because, "every epsilon >= 0"),
        weakened=mechanism.weakened,
        fault=NOISE,
    )


def _real(algorithm: str, data_name: str, profile: Profile) -> PrivacyCase:
    n, d = {"alg1": (4, 2), "alg3": (4, 1), "alg4": (2, 1), "alg5": (4, 1)}[algorithm]
    return _private(algorithm, linear_neighbors(data_name, n=n, d=d), profile.runs(20_000))


def _worst(algorithm: str, profile: Profile) -> PrivacyCase:
    """Linear losses, whose gradients at the replaced record are opposite unit vectors."""
    n = 2 if algorithm == "alg4" else WORST_SIZE
    return _private(algorithm, opposite_linear(n, 1, n), profile.runs(40_000))


def _risk(algorithm: str, data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    """The proofs' chains with all constants, at accuracies for which they say more than B L."""
    problem, data = real_problem(data_name, d=DIMENSION)
    trivial = _trivial(problem)
    settings: dict[str, tuple[list[Any], str, int]] = {
        "alg3": (
            [DPSGD(problem, EPSILON, DELTA, accuracy=share * trivial) for share in (0.2, 0.1, 0.05)],
            "B^2 / (2 eta T) + eta (L^2 + d sigma^2) / 2, at most 2 alpha",
            400,
        ),
        "alg4": (
            [PhasedSGD(problem, EPSILON, DELTA, accuracy=trivial / 120)],
            "L sigma_R sqrt(d) + sum of D_r^2 / (2 eta_r T_r) + eta_r L^2 / 2",
            100,
        ),
        "alg5": (
            [PhasedERM(problem, epsilon, DELTA) for epsilon in (4.0, 8.0)],
            "L sigma_R sqrt(d) + sum of g_r + lambda_r D_r^2",
            400,
        ),
    }
    mechanisms, claim, runs = settings[algorithm]
    source = {"alg3": "mn25.lem11", "alg4": "mn25.thm7", "alg5": "mn25.lem16"}[algorithm]
    return tuple(
        RiskCase(
            mechanism=mechanism,
            problem=problem,
            dataset=data,
            bound=mechanism.risk_bound(data.n).bound,
            claim=claim,
            origin=Corrected(
                source,
                {"alg3": "2 alpha", "alg4": "O(alpha)", "alg5": "O(alpha)"}[algorithm],
                "the sum in the proof as it is, with every constant",
                "every alpha for which it is below B L",
            ),
            data=f"{data.name}, n = {data.n}, d = {data.d}",
            runs=profile.runs(runs),
            total=False,
            size=mechanism.epsilon if algorithm == "alg5" else float(mechanism.accuracy or 0.0),
        )
        for mechanism in mechanisms
    )


def _queries(algorithm: str, profile: Profile) -> ComplexityCase:
    problem, data = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    mechanism = _mechanism(algorithm, problem, data.n)
    words = {
        "alg1": "T m",
        "alg3": "T m, T = (B L / alpha)^2 and m = sqrt(d / rho), both rounded up",
        "alg4": "sum of 2^-r T, T = max{B L sqrt(d ln(n/delta)) / alpha, (B L / alpha)^2}, each rounded up",
        "alg5": "at most n steps' gradients, by the inner solver's rate of convergence",
    }
    claimed = mechanism.gradient_query_count(data.n)
    origin = Corrected(
        SOURCES[algorithm],
        words[algorithm],
        "rounded up where the print leaves numbers that are not whole",
        "every n",
    )
    if algorithm == "alg3":
        used = mechanism.parameters(data.n)
        ratio = _trivial(problem) / used.accuracy
        claimed = math.ceil(ratio**2 * (1 - 1e-12)) * math.ceil(math.sqrt(DIMENSION / mechanism.rho))
    return ComplexityCase(
        mechanism, data, claimed, words[algorithm], data.name, exact=algorithm != "alg5", origin=origin
    )


_CONSTANTS = {"alg3": "26", "alg4": "6", "alg5": "ln n, in O( )"}


def _constant(algorithm: str, n: int, profile: Profile) -> ConstantCase:
    """The smallest alpha over alpha*(epsilon, delta) for which the accountant proves (epsilon, delta)-DP."""
    problem, _ = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    # at this epsilon Phased SGD's smallest accuracy is above the B L / sqrt(n) at which its default stops
    epsilon = 0.1 if algorithm == "alg4" else 1.0
    kinds: dict[str, Any] = {"alg3": DPSGD, "alg4": PhasedSGD, "alg5": PhasedERM}
    mechanism = kinds[algorithm](problem, epsilon, DELTA)
    found = mechanism.parameters(n).accuracy if algorithm == "alg3" else mechanism.accuracy_in_use(n)
    methods = {
        "alg3": "accounting for m of n records a step, drawn without replacement, all messages released",
        "alg4": "accounting for records drawn with replacement, all phases released",
        "alg5": "Gaussian composition over the phases, inexact minimizers paid for",
    }
    printed = {"alg3": 26.0, "alg4": 6.0, "alg5": math.log(n)}
    return ConstantCase(
        formula="alpha = c B L sqrt(d ln(1/delta)) / (n epsilon)",
        latex=r"\alpha=c\,\frac{BL\sqrt{d\ln(1/\delta)}}{n\varepsilon}",
        provable=Interval(
            lower=found / mechanism.reference_accuracy(n), upper=found / mechanism.reference_accuracy(n)
        ),
        extreme="smallest",
        printed=printed[algorithm],
        parameters={
            "n": str(n),
            "d": str(DIMENSION),
            "epsilon": f"{epsilon:g}",
            "delta": f"{DELTA:g}",
        },
        range_fixed_by="floating-point accounting, to 1e-3",
        method=methods[algorithm] + ", replace-one neighbors",
        origin=AsPrinted(SOURCES[algorithm], _CONSTANTS[algorithm], "every n, epsilon and delta"),
    )


# ------------------------------------------------------------------------------------------ limited oracles

ORACLES: dict[str, Callable[[float], LimitedOracle]] = {
    "quantizing": lambda lipschitz: QuantizingOracle(lipschitz, bits=2),
    "two-coordinates": lambda lipschitz: QuantizingOracle(lipschitz, bits=3, coordinates=2),
    "channel": lambda lipschitz: GaussianChannel(2.0 * lipschitz, lipschitz),
}


def _limited(oracle: str, problem: Problem, share: float) -> LimitedOracleSGD:
    lipschitz = problem.loss.lipschitz_constant
    return LimitedOracleSGD(problem, ORACLES[oracle](lipschitz), accuracy=share * _trivial(problem))


def _limited_risk(data_name: str, oracle: str, profile: Profile) -> tuple[RiskCase, ...]:
    problem, data = real_problem(data_name, d=DIMENSION)
    return tuple(
        RiskCase(
            mechanism=_limited(oracle, problem, share),
            problem=problem,
            dataset=data,
            bound=_limited(oracle, problem, share).risk_bound(data.n).bound,
            claim="B sqrt(V / T), V = L^2 and the oracle's squared error",
            origin=Corrected(
                "mn25.thm5",
                "B^2 (1 + sigma^2) / alpha^2 calls, of the order of the lower bound",
                "the upper bound's constants are written out, for any L and any oracle's squared error",
                "convex L-Lipschitz losses",
            ),
            data=f"{data.name}, n = {data.n}, d = {data.d}",
            runs=profile.runs(500),
            total=False,
            size=_limited(oracle, problem, share).information,
        )
        for share in (0.4, 0.2, 0.1)
    )


def _limited_queries(profile: Profile) -> ComplexityCase:
    problem, data = real_problem("breast-cancer", d=DIMENSION)
    mechanism = _limited("channel", problem, 0.1)
    claimed = math.ceil(100 * (1 + 2.0**2))
    return ComplexityCase(
        mechanism,
        data,
        claimed,
        "B^2 L^2 (1 + sigma^2 / L^2) / alpha^2, rounded up",
        data.name,
        origin=AsPrinted("mn25.thm5", f"B^2 (1 + sigma^2) / alpha^2 = {claimed}, for L = 1", "every alpha"),
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


def _quantizing_error(data_name: str, profile: Profile) -> tuple[MeanCase, ...]:
    problem, data = real_problem(data_name, n=SIZE, d=DIMENSION)
    lipschitz, cases = problem.loss.lipschitz_constant, []
    for bits in (1, 2, 4):
        oracle = QuantizingOracle(lipschitz, bits)
        cases.append(
            MeanCase(
                mechanism=DecodedMessage(problem, oracle),
                dataset=data,
                values=_squared_norms,
                lower=0.0,
                upper=data.d * oracle.spacing**2 * (1 + 1e-9),
                bound=oracle.squared_error(data.d),
                quantity="||decoded - mean gradient||^2, loss^2 over length^2",
                claim="d s^2 / 4, s = 2 L / (2^b - 1)",
                origin=Corrected(
                    "mn25.thm5",
                    "B^2 (1 + sigma^2) / alpha^2 calls, of the order of the lower bound",
                    "the upper bound's constants are written out, for any L and any oracle's squared error",
                    "convex L-Lipschitz losses",
                ),
                data=data.name,
                runs=profile.runs(20_000),
                size=float(oracle.message_bits(data.d)),
            )
        )
    return tuple(cases)


def _capacity_constant(profile: Profile) -> ConstantCase:
    """(d / 2) ln(1 + 1 / sigma^2) <= c d / sigma^2 for all sigma >= 1: c rises to 1/2 as sigma grows."""
    sigmas = np.geomspace(1.0, 1e6, 601)
    ratios = [
        GaussianChannel(sigma).capacity(1) / GaussianChannel(sigma).printed_capacity(1) for sigma in sigmas
    ]
    return ConstantCase(
        formula="(d / 2) ln(1 + 1 / sigma^2) <= c d / sigma^2 for sigma >= 1",
        latex=r"\frac d2\ln\Bigl(1+\frac1{\sigma^2}\Bigr)\le c\,\frac d{\sigma^2}",
        provable=Interval(lower=float(max(ratios)), upper=float(max(ratios))),
        extreme="smallest",
        printed=1.0,
        parameters={"sigma": "1 to 1e6"},
        range_fixed_by="floating-point arithmetic",
        method="closed form on a grid; it rises with sigma, to 1/2",
        origin=AsPrinted("mn25.thm5", "capacity at most d / sigma^2, c = 1", "sigma >= 1, L = 1"),
    )


def _plans() -> tuple[Plan, ...]:
    found: list[Plan] = []
    for key, name in NAMES.items():
        subject = f"mn25.{key}"
        for data_name in REAL_DATA:
            found.append(
                PrivacyPlan(
                    f"{subject}/{data_name}",
                    subject,
                    f"{name} on {data_name}",
                    partial(_real, key, data_name),
                )
            )
            if key != "alg1":  # its risk is up to the optimizer
                found.append(
                    RiskPlan(
                        f"{subject}/{data_name}/risk",
                        subject,
                        f"Risk of {name} on {data_name}",
                        partial(_risk, key, data_name),
                        curve_over={"alg3": "alpha", "alg4": "", "alg5": "epsilon"}[key],
                    )
                )
        found.append(
            PrivacyPlan(f"{subject}/worst-case", subject, f"{name}, worst case", partial(_worst, key))
        )
        found.append(
            ComplexityPlan(
                f"{subject}/queries", subject, f"Gradient queries of {name}", partial(_queries, key)
            )
        )
        if key != "alg1":
            found += [
                ConstantPlan(
                    f"{subject}/constant-{n}",
                    subject,
                    f"The constant in {name}'s accuracy, n = {n}",
                    partial(_constant, key, n),
                )
                for n in (200, 1000)
            ]
    subject = "mn25.limited-oracle"
    for data_name in REAL_DATA:
        found += [
            RiskPlan(
                f"{subject}/{data_name}/{oracle}/risk",
                subject,
                f"Risk of SGD through a limited oracle ({oracle}) on {data_name}",
                partial(_limited_risk, data_name, oracle),
                curve_over="nats",
            )
            for oracle in ORACLES
        ]
        found.append(
            MeanPlan(
                f"{subject}/{data_name}/rounding",
                subject,
                f"Squared error of quantized gradients on {data_name}",
                partial(_quantizing_error, data_name),
                curve_over="bits",
            )
        )
    found += [
        ComplexityPlan(
            f"{subject}/queries", subject, "Gradient queries of SGD through a channel", _limited_queries
        ),
        ConstantPlan(
            f"{subject}/capacity", subject, "The constant in the channel's capacity", _capacity_constant
        ),
    ]
    return tuple(found)


PLANS = _plans()
