"""What the audits of output and objective perturbation share.

Risks are sums over the records.
"""

from __future__ import annotations

from dpverify.algorithms.bst14.huberized_hinge import HuberizedObjectivePerturbation
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation
from dpverify.auditing import Bound, PrivacyQuestion
from dpverify.auditing.subjects import OnPair, RiskOf
from dpverify.problems import Dataset, Problem, Ridge
from dpverify.statements.audit_parts import NOISE, real_problem
from dpverify.statements.plans import AsPrinted, Audit, Case, Corrected, Origin

EPSILON, DELTA = 1.0, 1e-5
SIZE, DIMENSION, WEIGHT = 100, 3, 0.1
"""Records and features kept of a real data set, and the weight of the ridge where one is needed."""

Perturbation = OutputPerturbation | ObjectivePerturbation | HuberizedObjectivePerturbation


def ridge(data_name: str, n: int = SIZE) -> tuple[Problem, Dataset]:
    problem, data = real_problem(data_name, n=n, d=DIMENSION)
    return Problem(Ridge.on(problem.constraint, problem.loss, WEIGHT), problem.constraint), data


PERTURBED = (
    "epsilon is split between the noise, the Hessian's determinant and the minimizer's error: with the printed noise "
    "and Delta the determinant's share is spent in addition"
)


def private_case(
    mechanism: Perturbation, pair: tuple[Dataset, Dataset], description: str, runs: int
) -> Audit:
    """The sharpest guarantee is claimed: with Gaussian noise the whole profile."""
    stated = mechanism.guarantees(pair[0].n)
    printed = f"{stated.headline.guarantee}"
    origin: Origin
    if isinstance(mechanism, OutputPerturbation):
        origin = AsPrinted("bst14.lem4.1", printed, "every epsilon > 0, Delta-strongly convex losses")
    else:
        origin = Corrected("bst14.objpert-privacy", printed, PERTURBED, "every epsilon > 0")
    return Audit(
        PrivacyQuestion(stated.sharpest, description, runs, origin=origin),
        OnPair(mechanism, *pair, weakened=mechanism.weakened, fault=NOISE),
    )


RISK_ORIGINS = {
    source: Corrected(
        source,
        printed,
        "every constant is written out, for the noise that is added and for the minimizer's certified error",
        "every n and epsilon",
    )
    for source, printed in {
        "bst14.lem4.1": "O( ) of the introduction, no constant",
        "bst14.thmE.1.1": "O(R L p / epsilon)",
        "bst14.thmE.1.2": "O(R L sqrt(p ln(1/delta)) / epsilon)",
        "bst14.thmE.2.1": "O(L^2 p^2 / (n Delta epsilon^2))",
        "bst14.thmE.2.2": "O(L^2 p ln(1/delta) / (n Delta epsilon^2))",
    }.items()
}


def risk_case(
    mechanism: OutputPerturbation | ObjectivePerturbation,
    data: Dataset,
    data_name: str,
    claim: str,
    runs: int,
) -> Case:
    stated = mechanism.risk_bound(data.n)
    assert stated is not None
    return (
        Bound(
            bound=stated.bound,
            claim=claim,
            data=f"{data_name}, n records, d = {DIMENSION}, epsilon = {mechanism.epsilon:g}",
            runs=runs,
            size=float(data.n),
            origin=RISK_ORIGINS[stated.sources[0]],
        ),
        RiskOf(mechanism, mechanism.problem, data, total=stated.total),
    )


NOISES = (("gamma", 0.0), ("gaussian", DELTA))
