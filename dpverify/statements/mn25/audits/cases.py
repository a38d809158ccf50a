"""What the audits of private oracle methods share: sizes, and the forms of their claims.

Risks are means over the records. B is the set's diameter, L the loss's Lipschitz constant; real data sets are taken
with five features, whole for risks, and with few records for privacy, so that a single one can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpverify.auditing import Bound, ConstantQuestion, CountQuestion, PrivacyQuestion
from dpverify.auditing.subjects import CountedRuns, OnPair, RiskOf
from dpverify.ledger.records import Interval
from dpverify.problems import Dataset, NeighborPair, Problem
from dpverify.statements.audit_parts import NOISE, real_problem
from dpverify.statements.plans import AsPrinted, Audit, Case, Corrected

EPSILON, DELTA = 2.0, 1e-5
SIZE, DIMENSION = 40, 5
"""Records and features kept of a real data set for privacy."""


def trivial(problem: Problem) -> float:
    """B L, in units of the loss."""
    return problem.constraint.diameter * problem.loss.lipschitz_constant


@dataclass(frozen=True)
class Column:
    """One number of each run's output."""

    number: int
    factor: float = 1.0

    def __call__(self, runs: Any) -> Any:
        """Shape (runs,)."""
        return self.factor * runs.points[:, self.number]


def few_records() -> tuple[Problem, Dataset]:
    """The real problem on which counts and constants are read off."""
    return real_problem("breast-cancer", n=SIZE, d=DIMENSION)


def private_case(mechanism: Any, pair: NeighborPair, runs: int, *, source: str, printed: str) -> Audit:
    """Linear losses of a few records, with the accountant's whole profile as the claim."""
    because = "the whole profile proved by the accountant for these parameters, with all messages or phases released"
    return Audit(
        PrivacyQuestion(
            mechanism.guarantees(pair.left.n).sharpest,
            pair.description,
            runs,
            origin=Corrected(source, printed, because, "every epsilon >= 0"),
        ),
        OnPair(mechanism, pair.left, pair.right, weakened=mechanism.weakened, fault=NOISE),
    )


def risk_case(
    mechanism: Any, data: Dataset, runs: int, *, claim: str, source: str, printed: str, size: float
) -> Case:
    """The proof's chain with all constants, at an accuracy for which it says more than B L."""
    return (
        Bound(
            bound=mechanism.risk_bound(data.n).bound,
            claim=claim,
            data=f"{data.name}, n = {data.n}, d = {data.d}",
            runs=runs,
            size=size,
            origin=Corrected(
                source,
                printed,
                "the sum in the proof as it is, with every constant",
                "every alpha for which it is below B L",
            ),
        ),
        RiskOf(mechanism, mechanism.problem, data, total=False),
    )


def query_case(
    mechanism: Any, data: Dataset, claimed: int, words: str, *, source: str, exact: bool = True
) -> Audit:
    """A stated number of gradient queries."""
    origin = Corrected(source, words, "rounded up where the printed numbers are not integers", "every n")
    return Audit(
        CountQuestion(claimed, words, data.name, exact=exact, origin=origin), CountedRuns(mechanism, data)
    )


def constant_case(
    mechanism: Any, n: int, accuracy: float, *, constant: float, printed: str, source: str, method: str
) -> Audit:
    """The smallest alpha over alpha*(epsilon, delta) for which the accountant proves (epsilon, delta)-DP."""
    found = accuracy / mechanism.reference_accuracy(n)
    return Audit(
        ConstantQuestion(
            formula="alpha = c B L sqrt(d ln(1/delta)) / (n epsilon)",
            latex=r"\alpha=c\,\frac{BL\sqrt{d\ln(1/\delta)}}{n\varepsilon}",
            provable=Interval(lower=found, upper=found),
            extreme="smallest",
            printed=constant,
            parameters={
                "n": str(n),
                "d": str(DIMENSION),
                "epsilon": f"{mechanism.epsilon:g}",
                "delta": f"{DELTA:g}",
            },
            range_fixed_by="floating-point accounting, to 1e-3",
            method=f"{method}, replace-one neighbors",
            origin=AsPrinted(source, printed, "every n, epsilon and delta"),
        )
    )
