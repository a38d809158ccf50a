"""Audit plans: which implementation is tried on which data against which claim.

A plan is declared beside its paper and carried out by the main job. Its `build` makes everything that the
audit needs; it is called in the process that runs the audit, so a plan costs nothing until then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from dpverify.evidence import ClaimForm, ClaimOrigin, Interval
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

    @property
    def faults(self) -> tuple[float, ...]:
        """The factors by which mechanisms are weakened, from the largest on: see `PrivacyCase.weakened`."""
        return (4.0, 2.0) if self is Profile.QUICK else (4.0, 2.0, math.sqrt(2))


@dataclass(frozen=True)
class AsPrinted:
    """The claim is what its source prints, to the letter."""

    source: str
    """Catalog id of the statement or algorithm."""
    printed: str
    """The number or formula as it stands there."""
    holds_for: str
    """The range in which it is claimed, such as `epsilon <= 1` or `every n`."""

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""
        return ClaimOrigin(
            form=ClaimForm.AS_PRINTED, source=self.source, printed=self.printed, holds_for=self.holds_for
        )


@dataclass(frozen=True)
class Corrected:
    """The claim differs from what its source prints: a mistake corrected, an O( ) made explicit, a case specialized."""

    source: str
    printed: str
    """The number or formula that the source prints instead."""
    because: str
    """What was corrected, and why: completes `corrected: ...`."""
    holds_for: str

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""
        return ClaimOrigin(
            form=ClaimForm.CORRECTED,
            source=self.source,
            printed=self.printed,
            because=self.because,
            holds_for=self.holds_for,
        )


@dataclass(frozen=True)
class Unstated:
    """Nothing is claimed anywhere: a measurement, or a value that serves only for comparison."""

    because: str

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""
        return ClaimOrigin(form=ClaimForm.UNSTATED, because=self.because)


@dataclass(frozen=True)
class NotCompared:
    """The claim has not been compared with its source yet; the report says so."""

    source: str = ""

    def record(self) -> ClaimOrigin:
        """The form that the ledger keeps."""
        return ClaimOrigin(form=ClaimForm.NOT_COMPARED, source=self.source)


Origin = AsPrinted | Corrected | Unstated | NotCompared
"""Where a claim comes from, and whether it is what stands there."""


@dataclass(frozen=True)
class PrivacyCase:
    """A mechanism on two neighboring data sets, and what is claimed of the pair."""

    mechanism: Mechanism
    left: Dataset
    right: Dataset
    adjacency: Adjacency
    claim: Guarantee
    data: str
    runs: int
    upper: Guarantee | None = None
    """The best known upper bound, where it is better than the claim."""
    origin: Origin = field(kw_only=True)
    weakened: Callable[[float], Mechanism] | None = field(default=None, kw_only=True)
    """From a factor k > 1 to the mechanism with its noise divided by k, or its exponent times k.

    It is run on the same pair as often as the mechanism itself, and audited against the same claim: an audit that
    does not flag it at k = 4 sees nothing here, and cannot support the claim.
    """
    fault: str = field(default="", kw_only=True)
    """What the factor does, such as `noise divided by` or `exponent times`."""


@dataclass(frozen=True)
class RiskCase:
    """A mechanism on one data set, and a bound on its expected excess risk."""

    mechanism: Mechanism
    problem: Problem
    dataset: Dataset
    bound: float
    """In units of the loss, for the same sum or mean as `total`; infinite where the paper states none."""
    claim: str
    data: str
    runs: int
    total: bool
    """True where the paper sums over records, False where it averages."""
    size: float = 0.0
    """Where the case stands on the axis of a curve or rate."""
    runs_a_sample: int = 1
    """Runs that share one random data set and count as one observation, their mean."""
    origin: Origin = field(kw_only=True)


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
    rate: ClaimedRate | None = None
    """Where given, the exponent of the measured risk over the cases' sizes is fitted and compared."""


@dataclass(frozen=True)
class ClaimedRate:
    """The exponent of a size in a claimed bound, constants and logarithms aside."""

    exponent: float
    origin: Origin


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
    origin: Origin = field(kw_only=True)


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
    data: str
    runs: int
    at_least: bool = False
    """True where the claim is that the expectation is at least the bound."""
    size: float = 0.0
    """Where the case stands on the axis of a curve."""
    block_size: int = 0
    """Runs in a block; 0 for the usual number."""
    origin: Origin = field(kw_only=True)


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
    statistic_name: str
    data: str
    runs: int
    origin: Origin = field(kw_only=True)
    blind: Mechanism | None = field(default=None, kw_only=True)
    """A sampler that ignores the data, such as `audit_parts.UniformOn(constraint)`.

    It is run as often as the sampler and audited alike: an audit that does not reject it cannot support the claim.
    """


@dataclass(frozen=True)
class SamplingPlan:
    """One audit of a sampler's law."""

    name: str
    subject: str
    title: str
    build: Callable[[Profile], SamplingCase]


@dataclass(frozen=True)
class ConstantCase:
    """A constant as far as it can be computed; the auditor compares it with the printed one and says the word."""

    formula: str
    """In which the constant is c, in plain characters."""
    provable: Interval
    """Encloses the computed value: all of its numerical error is within, so that the auditor can round to the safe

    side. Only where it is `rigorous` can the word be `certified` or `refuted`.
    """
    extreme: Literal["smallest", "largest"]
    """Whether the formula holds from this value on (a noise, a bound) or up to it (a step size)."""
    printed: float | None
    """None where no number is printed: then this is a measurement."""
    parameters: dict[str, str]
    """What was plugged in; without the printed constant, which stands for itself."""
    range_fixed_by: str
    """What fixes the range in which the value is right: `closed form for every n`, `a grid of 12 points`, ..."""
    method: str
    latex: str = ""
    decisive: bool = False
    """True where the formula is known to fail beyond the value, so that a printed constant there is wrong.

    False where beyond it only this proof fails.
    """
    requires: dict[str, bool] = field(default_factory=dict)
    """What has to hold besides, in words, and whether the computation found that it does."""
    origin: Origin = field(kw_only=True)


@dataclass(frozen=True)
class ConstantPlan:
    """A hidden constant made explicit."""

    name: str
    subject: str
    title: str
    build: Callable[[Profile], ConstantCase]


Plan = PrivacyPlan | RiskPlan | ComplexityPlan | ConstantPlan | MeanPlan | SamplingPlan
