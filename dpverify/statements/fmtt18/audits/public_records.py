"""Audits of Skip-PNSGD with public records last (fmtt18, Section 5.3)."""

from __future__ import annotations

from functools import partial

from flint import arb

from dpverify.algorithms.fmtt18.public_records import PublicRecordsLast, printed_noise, smallest_noise
from dpverify.auditing import ConstantQuestion, PrivacyQuestion
from dpverify.auditing.subjects import OnPair
from dpverify.problems import (
    AllSpace,
    Ball,
    Linear,
    NeighborPair,
    Problem,
    contract_then_reveal,
)
from dpverify.statements.audit_parts import (
    NOISE,
    REAL_DATA,
    gaussian_delta,
    longest_record_at,
    mean_problem,
    on_pair,
    real_neighbors,
    real_problem,
    sign_change,
)
from dpverify.statements.exact.chains import ExactEpsilon
from dpverify.statements.fmtt18.audits.cases import (
    DELTA,
    DIMENSION,
    EPSILON,
    PAIR_ONLY,
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

PUBLIC = 10
"""Public records of the privacy audits on real data."""


# ------------------------------------------------------------------------------------------ public records last


_PUBLIC_ORIGIN = Corrected(
    "fmtt18.cor31",
    "(epsilon, delta)-DP for sigma = 2 L sqrt(ln(1.25/delta) / m) / epsilon",
    "the exact profile at the last private index, for any sigma; the printed one lacks a factor 2 under the root",
    "every epsilon >= 0, eta <= 2/beta, the same public records on both sides",
)


def _public_case(
    mechanism: PublicRecordsLast,
    stating: PublicRecordsLast,
    pair: NeighborPair,
    words: str,
    runs: int,
    exact: ExactEpsilon | None = None,
) -> Audit:
    return Audit(
        PrivacyQuestion(
            on_pair(stating.guarantees(pair.left.n).headline, pair),
            f"{pair.description}; the last {mechanism.public} records are public{words}",
            runs,
            origin=_PUBLIC_ORIGIN,
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=NOISE, exact=exact),
    )


def _public_real(data_name: str, profile: Profile) -> Audit:
    """The last private record, the worst one, of a few, and one public one; steps go half of the way to a record."""
    n, public = 4, 1
    data = longest_record_at(data_name, n - public, n=n, d=2)
    mechanism = PublicRecordsLast(mean_problem(2, 4.0), 0.5, 1.0, public=public)
    pair = real_neighbors(mechanism.problem, data, mechanism.private_count(n))
    return _public_case(mechanism, mechanism, pair, "", profile.runs(40_000))


def _public_worst(profile: Profile) -> Audit:
    """The last private record's step lands on a point or its opposite; the public steps are identity maps."""
    n, public = 6, 2
    pair = contract_then_reveal(n, n - public)
    space = AllSpace(1)
    mechanism = PublicRecordsLast(Problem(pair.loss, space), 1.0, 1.0, public=public, withdraw_guarantee=True)
    stating = PublicRecordsLast(Problem(Linear(), space), 1.0, 1.0, public=public)
    exact = ExactEpsilon(mechanism, pair.left, pair.right)
    return _public_case(mechanism, stating, pair, f"; {PAIR_ONLY}", profile.runs(40_000), exact)


def _public_risk(data_name: str, profile: Profile) -> Cases:
    """Corollary 31 with half of the records public, and the noise that its proof supports."""
    problem, data = real_problem(data_name, d=DIMENSION)
    cases = []
    for n in (100, 200, 400):
        mechanism = PublicRecordsLast.for_privacy(
            problem, n=n, public=n // 2, epsilon=1.0, delta=DELTA, noise="corrected"
        )
        cases.append(
            population_case(
                mechanism,
                problem,
                data,
                n,
                "4 sqrt(2) R L / sqrt(n) * sqrt(1 + 8 d ln(1.25/delta) / (m epsilon^2)) at epsilon = 1, m = n/2",
                Corrected(
                    "fmtt18.cor31",
                    "the same bound, with sigma = 2 L sqrt(ln(1.25/delta) / m) / epsilon",
                    "the noise is sqrt(2) times the printed one, with which the printed bound agrees",
                    "every epsilon > 0, independent records, eta <= 2/beta",
                ),
                profile,
            )
        )
    return tuple(cases)


def _public_constant(profile: Profile) -> Audit:
    """The smallest c in sigma = c L sqrt(ln(1.25/delta) / m) / epsilon, against the printed 2."""
    problem, asked = Problem(Linear(), Ball(1, 1.0)), {"public": 1000, "epsilon": 1.0, "delta": 1e-9}
    smallest = smallest_noise(problem, n=10_000, **asked)  # type: ignore[arg-type]
    constant = 2 * smallest / printed_noise(problem, **asked)  # type: ignore[arg-type]

    def excess(c: arb) -> arb:
        """Delta over 1e-9 of the pair that attains it, 2 L apart, with the noise of m + 1 steps."""
        noise = c * ((arb(5) / 4 * arb(10) ** 9).log() / 1000).sqrt()
        return gaussian_delta(1.0, 2 / (noise * arb(1001).sqrt())) - arb(10) ** -9

    return Audit(
        ConstantQuestion(
            formula="sigma = c L sqrt(ln(1.25/delta) / m) / epsilon",
            latex=r"\sigma=c\,\frac{L\sqrt{\ln(1.25/\delta)/m}}{\varepsilon}",
            provable=sign_change(constant, excess),
            extreme="smallest",
            printed=2.0,
            parameters={
                "n": "10000",
                "m": "1000",
                "epsilon": "1",
                "delta": "1e-9",
                "c that Theorem 30 gives": "2 sqrt(2)",
            },
            range_fixed_by="accounting at these parameters; attained by contract-then-reveal",
            method="the exact Gaussian profile of mu = 2 L / (sigma sqrt(m + 1))",
            decisive=True,
            origin=AsPrinted(
                "fmtt18.cor31", "c = 2; Theorem 30, on which it rests, gives 2 sqrt(2)", "every n, m"
            ),
        )
    )


def _queries(profile: Profile) -> Audit:
    problem, data = real_problem("breast-cancer", n=SIZE, d=DIMENSION)
    mechanism = PublicRecordsLast.for_privacy(problem, n=data.n, public=PUBLIC, epsilon=EPSILON, delta=DELTA)
    return query_case(mechanism, data, SUBJECT, data.n, "at most n")


SUBJECT = "fmtt18.public"

_OUTPUTS_ALONE: tuple[Plan, ...] = (
    Plan(f"{SUBJECT}/worst-case", SUBJECT, "Public records last, worst case", PRIVACY, _public_worst),
    Plan(f"{SUBJECT}/constant", "fmtt18.cor31", "Corollary 31's constant", CONSTANT, _public_constant),
    *(
        Plan(
            f"{SUBJECT}/{name}",
            SUBJECT,
            f"Public records last on {name}",
            PRIVACY,
            partial(_public_real, name),
        )
        for name in REAL_DATA
    ),
    *(
        Plan(
            f"{SUBJECT}/{name}/risk",
            SUBJECT,
            f"Risk with public records on {name}",
            RISK,
            along(partial(_public_risk, name), over="n"),
        )
        for name in REAL_DATA
    ),
    Plan(f"{SUBJECT}/queries", SUBJECT, f"Gradient queries of {SUBJECT}", COUNT, _queries),
)

PLANS = (*_OUTPUTS_ALONE, *white_box(_OUTPUTS_ALONE))
