"""Audit plans: which implementation is tried on which data against which claim.

A plan is declared beside its paper and carried out by the main job. Its `build` makes everything that the
audit needs; it is called in the process that runs the audit, so a plan costs nothing until then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpverify.evidence import ConstantEvidence
from dpverify.privacy import Adjacency, Guarantee
from dpverify.problems import Dataset, Problem

Mechanism = Callable[..., Any]


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
    """One risk audit, along a curve where `build` returns several cases; the last one is the verdict's."""

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
    """A mechanism on a data set with the number of gradient queries that it should need a run."""

    mechanism: Mechanism
    dataset: Dataset
    claimed: int
    claim: str
    data: str
    exact: bool = True
    """False where the claim is an upper bound."""


@dataclass(frozen=True)
class ConstantPlan:
    """A hidden constant made explicit."""

    name: str
    subject: str
    title: str
    build: Callable[[Profile], ConstantEvidence]


Plan = PrivacyPlan | RiskPlan | ComplexityPlan | ConstantPlan
