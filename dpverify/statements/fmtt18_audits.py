"""Audit plans for the algorithms of fmtt18: amplification by iteration, tried on implementations."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.fmtt18.iteration import ContractiveNoisyIteration, GaussianNoise
from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD
from dpverify.evidence import Interval
from dpverify.privacy import RDP, Adjacency, Guarantee, NoisyIteration, StatedGuarantee
from dpverify.problems import AllSpace, Dataset, Problem, contract_then_reveal, gradient_sensitivity
from dpverify.statements.audit_parts import (
    NOISE,
    REAL_DATA,
    FullGradientStep,
    Identity,
    OnFreshSamples,
    ToTheRecord,
    longest_record_at,
    mean_problem,
    real_neighbors,
    real_problem,
)
from dpverify.statements.plans import (
    AsPrinted,
    ComplexityCase,
    ComplexityPlan,
    ConstantCase,
    ConstantPlan,
    Corrected,
    Origin,
    Plan,
    PrivacyCase,
    PrivacyPlan,
    Profile,
    RiskCase,
    RiskPlan,
    Unstated,
)

EPSILON, DELTA = 8.0, 1e-5
"""Asked of the one-pass algorithms on real data, locally, as Theorems 29 and 30 set their parameters."""

EPOCHS_EPSILON = 4.0
"""Asked of Algorithm 2, whose parameters Appendix B sets for orders from 5 on."""

SIZE, DIMENSION = 40, 5
"""Records and features kept of a real data set: few enough that a single record can be seen in the output."""

CNI_STEPS = 10

PAIR_ONLY = "the claim is stated for this pair, whose gradients are at distance 2 L with L = 1"
"""Said of worst cases whose loss has no Lipschitz constant on all space."""


def _stated(guarantee: StatedGuarantee | None) -> Guarantee:
    if guarantee is None:
        raise AssertionError("a plan audits a guarantee that was withdrawn")
    return guarantee.guarantee


def _overall_rdp(mechanism: Any, n: int) -> Guarantee:
    """The theorem's bound for every index."""
    found: Guarantee = next(g.guarantee for g in mechanism.guarantees(n) if isinstance(g.guarantee, RDP))
    return found


def _printed(mechanism: Any, n: int, index: int) -> Guarantee:
    """The theorem's bound at an index; for random stopping it is the same for all."""
    if isinstance(mechanism, StopPNSGD):
        return _overall_rdp(mechanism, n)
    return _stated(mechanism.rdp_at(n, index))


# ------------------------------------------------------------------------------------------ real data


def _one_pass(algorithm: type[Any], problem: Problem, n: int) -> Any:
    """Parameters by Theorem 30 for PNSGD and Skip; for Stop those of Theorem 29 with the per-index claim."""
    chosen = algorithm.for_privacy(problem, n=n, epsilon=EPSILON, delta=DELTA)
    return algorithm(problem, chosen.rate, chosen.noise_stddev)


def _many_epochs(problem: Problem) -> PNMSGD:
    return PNMSGD.for_privacy(problem, rate=0.05, epsilon=EPOCHS_EPSILON, delta=DELTA)


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


def _claimed(algorithm: str, mechanism: Any, n: int, index: int) -> tuple[Guarantee, Origin]:
    """The theorem's RDP of an index, with the printed slope beside it."""
    loss, variance = mechanism.problem.loss, mechanism.noise_stddev**2
    lipschitz, sensitivity = loss.lipschitz_constant, gradient_sensitivity(loss)
    specialized = sensitivity < 2 * lipschitz * (1 - 1e-12)
    apart = f"the proof uses of 2 L only how far apart two gradients are, {sensitivity:g} here"
    if algorithm == "stop":
        slope = 4 * lipschitz**2 * math.log(n) / (n * variance)
        because = "the sum in the proof is the harmonic number H_n, where ln n is printed"
        orders = "orders with sigma >= L sqrt(2 order (order - 1)), eta <= 2/beta"
        if specialized:
            because = f"{because}; {apart}"
        return _overall_rdp(mechanism, n), Corrected(
            "fmtt18.thm26", f"4 L^2 ln n / (n sigma^2) order = {slope:.4g} order", because, orders
        )
    if algorithm == "alg2":
        slope, holds = 4 * lipschitz**2 / variance, "every order > 1, eta <= 2/beta"
        printed = f"4 L^2 / sigma^2 order = {slope:.4g} order"
        if mechanism.epochs is None:
            return _overall_rdp(mechanism, n), AsPrinted("fmtt18.thm35", printed, holds)
        because = f"the proof's schedule for {mechanism.epochs} epochs at this index, not for n; {apart}"
        return _stated(mechanism.rdp_at(n, index)), Corrected("fmtt18.thm35", printed, because, holds)
    source = {"alg1": "fmtt18.thm23", "skip": "fmtt18.thm24"}[algorithm]
    slope = 2 * lipschitz**2 / (variance * (n + 1 - index))
    printed, holds = (
        f"2 L^2 / (sigma^2 (n + 1 - t)) order = {slope:.4g} order",
        "every order > 1, eta <= 2/beta",
    )
    claim = _stated(mechanism.rdp_at(n, index))
    if specialized:
        return claim, Corrected(source, printed, apart, holds)
    return claim, AsPrinted(source, printed, holds)


def _real(algorithm: str, data_name: str, profile: Profile) -> PrivacyCase:
    """The mean of a few real records, step by step: a step of size 1 lands on the record and forgets the others."""
    settings: dict[str, tuple[type[Any], int, int, float, dict[str, Any]]] = {
        # kind, records, index, rate, more
        "alg1": (PNSGD, 8, 8, 1.0, {}),
        "skip": (SkipPNSGD, 8, 8, 1.0, {}),
        "stop": (StopPNSGD, 2, 1, 0.5, {}),
        "alg2": (PNMSGD, 8, 8, 1.0, {"epochs": 2}),
    }
    kind, n, index, rate, more = settings[algorithm]
    data = longest_record_at(data_name, index, n=n, d=2)
    # random stopping claims little at large orders unless there is more noise
    stddev = 2.0 if algorithm == "stop" else 1.0
    mechanism = kind(mean_problem(2, 4.0 * stddev), rate, stddev, **more)
    claim, origin = _claimed(algorithm, mechanism, n, index)
    pair = real_neighbors(mechanism.problem, data, index)
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.INDEX,
        claim,
        pair.description,
        profile.runs(40_000),
        _stated(mechanism.guarantee_at(n, index)),
        origin=origin,
        weakened=mechanism.weakened,
        fault=NOISE,
    )


def _real_iteration(data_name: str, profile: Profile) -> PrivacyCase:
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
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.REPLACE_ONE,
        mechanism.guarantees(n)[0].guarantee,
        pair.description,
        profile.runs(20_000),
        origin=Corrected(
            "fmtt18.thm22",
            "sum of R_order(zeta_t, a_t) for a schedule a_t >= 0 with z_t >= 0 and z_T = 0",
            "the best schedule in the form of GDP, with maps that contract by 1/2",
            "every order, Gaussian noise",
        ),
        weakened=mechanism.weakened,
        fault=NOISE,
    )


# ------------------------------------------------------------------------------------------ worst cases


def _contract(algorithm: str, n: int, index: int, profile: Profile) -> PrivacyCase:
    """Steps before the index contract to a point, later ones are identity maps: the theorems' worst case."""
    pair = contract_then_reveal(n, index)
    problem = Problem(pair.loss, AllSpace(1))
    stddev = 1.0
    kind: Any = {"alg1": PNSGD, "skip": SkipPNSGD, "stop": StopPNSGD}[algorithm]
    # the loss is not Lipschitz on all space; what the theorems use is that these two data sets' gradients are at
    # distance 2, so the claim is stated for the pair
    mechanism = kind(problem, 1.0, stddev, withdraw_guarantee=True)
    reference = kind(Problem(_unit_lipschitz(), problem.constraint), 1.0, stddev)
    claim, origin = _claimed(algorithm, reference, n, index)
    upper = _stated(reference.guarantee_at(n, index))
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.INDEX,
        claim,
        f"{pair.description}; {PAIR_ONLY}",
        profile.runs(40_000),
        upper,
        origin=origin,
        weakened=mechanism.weakened,
        fault=NOISE,
    )


def _unit_lipschitz() -> Any:
    """A smooth loss with gradients at distance at most 2, so that it states the pair's guarantee."""
    from dpverify.problems import Linear

    return Linear()


def _epochs_worst(epochs: int | None, profile: Profile) -> PrivacyCase:
    """Each epoch lands on the last record's point or its opposite."""
    n = 2 if epochs is None else 8
    pair = contract_then_reveal(n, n)
    problem = Problem(pair.loss, AllSpace(1))
    mechanism = PNMSGD(problem, 1.0, 1.0, epochs=epochs, withdraw_guarantee=True)
    reference = PNMSGD(Problem(_unit_lipschitz(), problem.constraint), 1.0, 1.0, epochs=epochs)
    claim, origin = _claimed("alg2", reference, n, n)
    return PrivacyCase(
        mechanism,
        pair.left,
        pair.right,
        Adjacency.INDEX,
        claim,
        f"{pair.description}, {n if epochs is None else epochs} epochs; {PAIR_ONLY}",
        profile.runs(40_000),
        _stated(reference.guarantee_at(n, n)),
        origin=origin,
        weakened=mechanism.weakened,
        fault=NOISE,
    )


def _identity_maps(profile: Profile) -> PrivacyCase:
    """Two starting points at distance 1, then identity maps: Theorem 1 is attained."""
    points = [Dataset(np.array([[x, 0.0]]), np.ones(1), "start", "by construction") for x in (0.0, 1.0)]
    stddev = 0.3
    mechanism = ContractiveNoisyIteration(
        maps=(ToTheRecord(), *(Identity(),) * CNI_STEPS),
        noises=(GaussianNoise(0.0), *(GaussianNoise(stddev),) * CNI_STEPS),
        start=np.zeros(2),
    )
    # the repaired Theorem 1: order distance^2 / (2 T sigma^2)
    claim = RDP.linear(1.0 / (2 * CNI_STEPS * stddev**2))
    upper = NoisyIteration(shifts=[1.0] + [0.0] * (CNI_STEPS - 1), noise_stddevs=[stddev] * CNI_STEPS).gdp()
    return PrivacyCase(
        mechanism,
        points[0],
        points[1],
        Adjacency.REPLACE_ONE,
        claim,
        f"two starting points at distance 1, {CNI_STEPS} identity maps",
        profile.runs(40_000),
        upper,
        origin=Corrected(
            "fmtt18.thm1",
            "order ||x_0 - x_0'|| / (2 T sigma^2), the same number at distance 1: "
            f"{1.0 / (2 * CNI_STEPS * stddev**2):.4g} order",
            "the distance belongs squared, as the units say and identity maps show",
            "every order >= 1, Gaussian noise",
        ),
        weakened=mechanism.weakened,
        fault=NOISE,
    )


# ------------------------------------------------------------------------------------------ risk, counts, constants


def _population_risk(algorithm: str, data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    """Theorems 29 and 30 with the data set as the population."""
    problem, data = real_problem(data_name, d=2)
    kind: Any = {"stop": StopPNSGD, "skip": SkipPNSGD}[algorithm]
    factor = {"stop": 4.0, "skip": 4.0 * math.sqrt(2)}[algorithm]
    source = {"stop": "fmtt18.thm29", "skip": "fmtt18.thm30"}[algorithm]
    words = {"stop": "4", "skip": "4 sqrt(2)"}[algorithm]
    # the printed noise is enough up to epsilon = 1, so the theorem is tried there
    epsilon, cases = 1.0, []
    radius, lipschitz = problem.constraint.largest_norm, problem.loss.lipschitz_constant
    # from a few hundred records on, the bound is below the largest risk on the set
    for n in {"stop": (100, 200, 400), "skip": (200, 400, 800)}[algorithm]:
        spread = 8 * data.d * math.log(1.25 / DELTA) / epsilon**2
        bound = factor * radius * lipschitz / math.sqrt(n) * math.sqrt(1 + spread)
        mechanism = kind.for_privacy(problem, n=n, epsilon=epsilon, delta=DELTA)
        cases.append(
            RiskCase(
                mechanism=OnFreshSamples(mechanism, n),
                problem=problem,
                dataset=data,
                bound=bound,
                claim=f"{factor:.4g} R L / sqrt(n) * sqrt(1 + 8 d ln(1.25/delta) / epsilon^2) at epsilon = 1",
                origin=AsPrinted(
                    source,
                    f"{words} R L / sqrt(n) * sqrt(1 + 8 d ln(1.25/delta) / epsilon^2) = {bound:.4g}",
                    "every epsilon > 0, sigma = 2 L sqrt(2 ln(1.25/delta)) / epsilon, independent records",
                ),
                data=f"{data.name} as the population, d = {data.d}, samples of n records",
                runs=profile.runs(2_000),
                total=False,
                size=float(n),
                runs_a_sample=20,
            )
        )
    return tuple(cases)


def _measured_risk(algorithm: str, data_name: str, profile: Profile) -> tuple[RiskCase, ...]:
    """The paper bounds no risk for the last point of these algorithms: the interval stands for itself."""
    problem, data = real_problem(data_name, n=SIZE if algorithm == "alg2" else None, d=DIMENSION)
    mechanism = _many_epochs(problem) if algorithm == "alg2" else _one_pass(PNSGD, problem, data.n)
    return (
        RiskCase(
            mechanism=mechanism,
            problem=problem,
            dataset=data,
            bound=math.inf,
            claim="none: the paper bounds no risk of this algorithm's last point",
            origin=Unstated("the paper states nothing of it"),
            data=data.name,
            runs=profile.runs(10_000),
            total=False,
        ),
    )


def _queries(algorithm: str, profile: Profile) -> ComplexityCase:
    problem, data = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    n = data.n
    mechanism: Any
    claims = {
        "alg1": (n, "n", True),
        "skip": (n, "at most n", False),
        "stop": (n, "at most n", False),
        "alg2": (n**2, "n^2", True),
        "cni": (n * CNI_STEPS, "n in each of T steps", True),
    }
    if algorithm == "alg2":
        mechanism = _many_epochs(problem)
    elif algorithm == "cni":
        mechanism = _full_gradient(problem, n)
    else:
        kind = {"alg1": PNSGD, "skip": SkipPNSGD, "stop": StopPNSGD}[algorithm]
        mechanism = _one_pass(kind, problem, n)
    claimed, words, exact = claims[algorithm]
    origin = AsPrinted(f"fmtt18.{algorithm}", f"{words} = {claimed}: one gradient a step", "every n")
    return ComplexityCase(mechanism, data, claimed, words, data.name, exact, origin=origin)


def _appendix_constant(profile: Profile) -> ConstantCase:
    """The smallest c in sigma = c L sqrt(ln(1/delta)) / epsilon that the accountant can prove, against 5."""
    n, epsilon, delta, lipschitz = 100, 1.0, 1e-5, 1.0

    def proved(constant: float) -> bool:
        stddev = constant * lipschitz * math.sqrt(math.log(1 / delta)) / epsilon
        mus = []
        for index in (1, n // 2, n):
            shifts = np.zeros(n * n)
            shifts[index - 1 :: n] = 2 * lipschitz
            iteration = NoisyIteration(shifts=shifts.tolist(), noise_stddevs=[stddev] * (n * n))
            mus.append(iteration.gdp())
        return all(float(np.asarray(g.privacy_profile(epsilon))) <= delta for g in mus)

    low, high = 0.1, 5.0
    while not proved(high):
        low, high = high, 2 * high
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if proved(middle) else (middle, high)
    return ConstantCase(
        formula="sigma = c L sqrt(ln(1/delta)) / epsilon",
        latex=r"\sigma=c\,\frac{L\sqrt{\ln(1/\delta)}}{\varepsilon}",
        provable=Interval(lower=low, upper=high),
        extreme="smallest",
        printed=5.0,
        parameters={"n": str(n), "epsilon": "1", "delta": "1e-5"},
        range_fixed_by=f"accounting at n = {n}, epsilon = 1 and delta = 1e-5, at three indices",
        method="best schedule of Theorem 22 in GDP form at indices 1, n/2 and n, then the exact Gaussian profile",
        origin=AsPrinted("fmtt18.appB", "c = 5", "2 ln(1/delta) / epsilon >= 5"),
    )


def _plans() -> tuple[Plan, ...]:
    names = {
        "cni": "Noisy iteration",
        "alg1": "PNSGD",
        "skip": "Skip-PNSGD",
        "stop": "Stop-PNSGD",
        "alg2": "PNMSGD",
    }
    found: list[Plan] = []
    for key, name in names.items():
        subject = f"fmtt18.{key}"
        for data_name in REAL_DATA:
            found.append(
                PrivacyPlan(
                    f"{subject}/{data_name}",
                    subject,
                    f"{name} on {data_name}",
                    partial(_real_iteration, data_name) if key == "cni" else partial(_real, key, data_name),
                )
            )
            if key == "cni":
                continue  # an iteration of maps minimizes nothing in particular
            of_population = key in ("stop", "skip")
            risk = partial(_population_risk if of_population else _measured_risk, key, data_name)
            found.append(
                RiskPlan(
                    f"{subject}/{data_name}/risk",
                    subject,
                    f"Risk of {name} on {data_name}",
                    risk,
                    curve_over="n" if of_population else "",
                )
            )
        found.append(
            ComplexityPlan(
                f"{subject}/queries", subject, f"Gradient queries of {name}", partial(_queries, key)
            )
        )
    for key, n, index in (("alg1", 6, 6), ("alg1", 6, 3), ("skip", 6, 6), ("stop", 2, 1)):
        found.append(
            PrivacyPlan(
                f"fmtt18.{key}/worst-case-{index}-of-{n}",
                f"fmtt18.{key}",
                f"{names[key]}, worst case at index {index} of {n}",
                partial(_contract, key, n, index),
            )
        )
    found += [
        PrivacyPlan(
            "fmtt18.alg2/worst-case", "fmtt18.alg2", "PNMSGD, worst case", partial(_epochs_worst, None)
        ),
        PrivacyPlan("fmtt18.cni/worst-case", "fmtt18.cni", "Noisy iteration, identity maps", _identity_maps),
        ConstantPlan(
            "fmtt18.appB/constant", "fmtt18.appB", "The constant in Appendix B's noise", _appendix_constant
        ),
    ]
    return tuple(found)


PLANS = _plans()
