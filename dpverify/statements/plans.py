"""Audit plans: which implementation is tried on which data against which claim.

A plan is declared beside its paper and carried out by the main job. Its `build` makes everything that the
audit needs; it is called in the process that runs the audit, so a plan costs nothing until then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from dpverify.evidence import ConstantEvidence
from dpverify.privacy import Adjacency, Guarantee
from dpverify.problems import Dataset, Problem
from dpverify.running import Runs

Mechanism = Callable[..., Any]

Oracle = Literal["gradient", "value", "projection", "linear minimization"]
"""What is counted; one gradient or value query is about one record."""


class Profile(StrEnum):
    """How much work a verification run does."""

    QUICK = "quick"
    FULL = "full"

    def runs(self, quick: int, factor: int = 10) -> int:
        """Independent runs: `quick` of them, or `factor` times as many."""
        return quick if self is Profile.QUICK else factor * quick


@dataclass(frozen=True)
class PrivacyCase:
    """A mechanism on two neighboring data sets, and what is claimed of the pair."""

    mechanism: Mechanism
    left: Dataset
    right: Dataset
    adjacency: Adjacency
    claim: Guarantee
    claim_source: str
    data: str
    runs: int
    upper: Guarantee | None = None
    """The best known upper bound, where it is better than the claim."""


@dataclass(frozen=True)
class RiskCase:
    """A mechanism on one data set, and a bound on its expected excess risk."""

    mechanism: Mechanism
    problem: Problem
    dataset: Dataset
    bound: float
    """In units of the loss, for the same sum or mean as `total`; infinite where the paper states none."""
    claim: str
    claim_source: str
    data: str
    runs: int
    total: bool
    """True where the paper sums over records, False where it averages."""
    size: float = 0.0
    """Where the case stands on the axis of a curve or rate."""
    runs_a_sample: int = 1
    """Runs that share one random data set and count as one observation, their mean."""


@dataclass(frozen=True)
class PrivacyPlan:
    """One privacy audit."""

    name: str
    subject: str
    title: str
    build: Callable[[Profile], PrivacyCase]


@dataclass(frozen=True)
class RiskPlan:
    """One risk audit, along a curve where `build` returns several cases; all must keep their bounds."""

    name: str
    subject: str
    title: str
    build: Callable[[Profile], tuple[RiskCase, ...]]
    curve_over: str = ""
    exponent_claimed: float | None = None
    """Where given, the exponent of the measured risk over the cases' sizes is fitted and compared."""


@dataclass(frozen=True)
class ComplexityPlan:
    """Counted oracle calls against the stated number."""

    name: str
    subject: str
    title: str
    build: Callable[[Profile], ComplexityCase]


@dataclass(frozen=True)
class ComplexityCase:
    """A mechanism on a data set with the number of oracle queries that it should need a run."""

    mechanism: Mechanism
    dataset: Dataset
    claimed: int
    claim: str
    data: str
    exact: bool = True
    """False where the claim is an upper bound on every run's count."""
    oracle: Oracle = "gradient"


@dataclass(frozen=True)
class MeanCase:
    """A mechanism on one data set, and a bound on the expectation of something that is read off a run.

    Use it for whatever is bounded and is no excess empirical risk: probabilities (as the mean of an indicator),
    population risks, statistics of an attack, counted queries against a bound in expectation.
    """

    mechanism: Mechanism
    dataset: Dataset
    values: Callable[[Runs], Any]
    """From all runs to independent numbers, one a run or (where a block shares something random) one a block,

    each within [lower, upper] by proof, not by luck.
    """
    lower: float
    upper: float
    bound: float
    """Infinite (minus infinity for a bound from below) where none is stated: then it is a measurement."""
    quantity: str
    """What the number is, with its unit."""
    claim: str
    claim_source: str
    data: str
    runs: int
    at_least: bool = False
    """True where the claim is that the expectation is at least the bound."""
    size: float = 0.0
    """Where the case stands on the axis of a curve."""
    block_size: int = 0
    """Runs in a block; 0 for the usual number."""


@dataclass(frozen=True)
class MeanPlan:
    """One audit of expectations, along a curve where `build` returns several cases; all must keep their bounds."""

    name: str
    subject: str
    title: str
    build: Callable[[Profile], tuple[MeanCase, ...]]
    curve_over: str = ""


@dataclass(frozen=True)
class SamplingCase:
    """A sampler on one data set, and how far its law may be from the law it should have.

    The comparison is made in one dimension: `statistic` maps points to one number each, and `reference` is the
    distribution function that this number has under the right law, from quadrature or a closed form.
    """

    mechanism: Mechanism
    dataset: Dataset
    statistic: Callable[[Any], Any]
    """From points (runs, ...) to numbers (runs,)."""
    reference: Callable[[Any], Any]
    """P[statistic <= x] under the right law, vectorized; its own error is part of `reference_error`."""
    reference_error: float
    """At most how far `reference` is from the truth, absolutely."""
    distance: Literal["total variation", "multiplicative"]
    """Multiplicative: every event's probability is within a factor exp(bound) of the right one, both ways."""
    bound: float
    """0 for an exact sampler."""
    claim: str
    claim_source: str
    statistic_name: str
    data: str
    runs: int


@dataclass(frozen=True)
class SamplingPlan:
    """One audit of a sampler's law."""

    name: str
    subject: str
    title: str
    build: Callable[[Profile], SamplingCase]


@dataclass(frozen=True)
class ConstantPlan:
    """A hidden constant made explicit."""

    name: str
    subject: str
    title: str
    build: Callable[[Profile], ConstantEvidence]


Plan = PrivacyPlan | RiskPlan | ComplexityPlan | ConstantPlan | MeanPlan | SamplingPlan
