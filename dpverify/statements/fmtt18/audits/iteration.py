"""Audits of contractive noisy iteration (fmtt18, Definition 19)."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from dpverify.algorithms.fmtt18.iteration import ContractiveNoisyIteration, GaussianNoise
from dpverify.auditing import PrivacyQuestion
from dpverify.auditing.accountants import AccountantQuestion, NoisyReleases
from dpverify.auditing.subjects import FixedSubject, OnPair
from dpverify.privacy import RDP, Adjacency, NoisyIteration, StatedGuarantee
from dpverify.problems import Dataset, Problem, gradient_sensitivity
from dpverify.statements.audit_parts import (
    NOISE,
    REAL_DATA,
    FullGradientStep,
    GaussianPair,
    Identity,
    ToTheRecord,
    longest_record_at,
    mean_problem,
    real_neighbors,
    real_problem,
)
from dpverify.statements.fmtt18.audits.cases import DIMENSION, SIZE, query_case
from dpverify.statements.plans import (
    ACCOUNTANT,
    COUNT,
    PRIVACY,
    Audit,
    Corrected,
    Plan,
    Profile,
    white_box,
)

CNI_STEPS = 10


def _full_gradient(problem: Problem, n: int) -> ContractiveNoisyIteration:
    """Noisy gradient descent on all records, as a contractive noisy iteration."""
    rate, lipschitz = 1.0 / problem.loss.smoothness, problem.loss.lipschitz_constant
    shift = 2 * rate * lipschitz / n
    stddev = 1.5 * shift
    return ContractiveNoisyIteration(
        maps=(FullGradientStep(problem, rate),) * CNI_STEPS,
        noises=GaussianNoise(stddev),
        start=np.zeros(problem.constraint.dimension),
        shifts=(shift,) * CNI_STEPS,
        queries_per_step=n,
    )


def _real_iteration(data_name: str, profile: Profile) -> Audit:
    """Noisy gradient descent on all records for their mean, half of the way in each step."""
    n, rate = 8, 0.5
    data, problem = longest_record_at(data_name, n, n=n, d=2), mean_problem(2, 4.0)
    shift = rate * gradient_sensitivity(problem.loss) / n
    mechanism = ContractiveNoisyIteration(
        maps=(FullGradientStep(problem, rate),) * CNI_STEPS,
        noises=GaussianNoise(1.2 * shift),
        start=np.zeros(2),
        shifts=(shift,) * CNI_STEPS,
        contractions=(1 - rate,) * CNI_STEPS,
        queries_per_step=n,
    )
    pair = real_neighbors(problem, data, n)
    return Audit(
        PrivacyQuestion(
            mechanism.guarantees(n).headline,
            pair.description,
            profile.runs(20_000),
            origin=Corrected(
                "fmtt18.thm22",
                "sum of R_order(zeta_t, a_t) for a schedule a_t >= 0 with z_t >= 0 and z_T = 0",
                "the best schedule in the form of GDP, with maps that contract by 1/2",
                "every order, Gaussian noise",
            ),
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=NOISE),
    )


def _identity_maps(profile: Profile) -> Audit:
    """Two starting points at distance 1, then identity maps: Theorem 1 is attained."""
    points = [Dataset(np.array([[x, 0.0]]), np.ones(1), "start", "by construction") for x in (0.0, 1.0)]
    stddev = 0.3
    mechanism = ContractiveNoisyIteration(
        maps=(ToTheRecord(), *(Identity(),) * CNI_STEPS),
        noises=(GaussianNoise(0.0), *(GaussianNoise(stddev),) * CNI_STEPS),
        start=np.zeros(2),
        contractions=(0.0, *(1.0,) * CNI_STEPS),
    )
    # the corrected Theorem 1: order distance^2 / (2 T sigma^2)
    claim = RDP.linear(1.0 / (2 * CNI_STEPS * stddev**2))
    upper = NoisyIteration(shifts=[1.0] + [0.0] * (CNI_STEPS - 1), noise_stddevs=[stddev] * CNI_STEPS).gdp()
    # all noise after the last step together, at distance 1
    together = GaussianPair(1 / (stddev * math.sqrt(CNI_STEPS)))
    return Audit(
        PrivacyQuestion(
            StatedGuarantee(claim, Adjacency.REPLACE_ONE),
            f"two starting points at distance 1, {CNI_STEPS} identity maps",
            profile.runs(40_000),
            best_known=upper,
            origin=Corrected(
                "fmtt18.thm1",
                "order ||x_0 - x_0'|| / (2 T sigma^2), the same number at distance 1: "
                f"{1.0 / (2 * CNI_STEPS * stddev**2):.4g} order",
                "the distance must be squared, as the units require and identity maps show",
                "every order >= 1, Gaussian noise",
            ),
        ),
        OnPair(
            mechanism,
            points[0],
            points[1],
            exact=together,
            weakened=mechanism.weakened,
            fault=NOISE,
        ),
    )


def _accounted(profile: Profile) -> Audit:
    """The accountant's epsilon for a shift that all later noise hides, beside that of the noise in one piece."""
    stddev, delta = 0.3, 1e-5
    best = NoisyIteration(shifts=[1.0] + [0.0] * (CNI_STEPS - 1), noise_stddevs=[stddev] * CNI_STEPS).gdp()
    return Audit(
        AccountantQuestion(
            best.epsilon_at(delta),
            delta,
            "the best schedule of Theorem 22",
            origin=Corrected(
                "fmtt18.thm22",
                "sum of R_order(zeta_t, a_t) for a schedule a_t >= 0 with z_t >= 0 and z_T = 0",
                "the best schedule in the form of GDP",
                "every order, Gaussian noise",
            ),
        ),
        FixedSubject(NoisyReleases("gaussian", stddev * math.sqrt(CNI_STEPS))),
    )


def _queries(profile: Profile) -> Audit:
    problem, data = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    mechanism, claimed = _full_gradient(problem, data.n), data.n * CNI_STEPS
    return query_case(mechanism, data, "fmtt18.cni", claimed, "n in each of T steps", exact=True)


_OUTPUTS_ALONE: tuple[Plan, ...] = (
    *(
        Plan(
            f"fmtt18.cni/{name}",
            "fmtt18.cni",
            f"Noisy iteration on {name}",
            PRIVACY,
            partial(_real_iteration, name),
        )
        for name in REAL_DATA
    ),
    Plan(
        "fmtt18.cni/accountant",
        "fmtt18.cni",
        "Epsilon of noisy iteration, a shift hidden by later noise",
        ACCOUNTANT,
        _accounted,
    ),
    Plan("fmtt18.cni/queries", "fmtt18.cni", "Gradient queries of Noisy iteration", COUNT, _queries),
    Plan("fmtt18.cni/worst-case", "fmtt18.cni", "Noisy iteration, identity maps", PRIVACY, _identity_maps),
)

PLANS = (*_OUTPUTS_ALONE, *white_box(_OUTPUTS_ALONE))
