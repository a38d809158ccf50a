"""The kinds of audits that come with the program, and whatever has a kind: proofs, audits of ours, audits of others."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import PlainValidator, SerializeAsAny, model_validator

from dpverify.ledger.audits import KINDS, AuditEvidence, ForeignEvidence, SampledEvidence
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.records import Interval, Record, Reuse, is_vacuous


class ProfilePoint(Record):
    """One point of an audited privacy profile."""

    epsilon: float
    delta_lower: float
    """Simultaneous lower confidence bound of the true privacy profile, both directions."""
    delta_claimed: float | None = None
    delta_upper: float | None = None
    """Best known upper bound from accounting."""


class SequentialRecord(Record):
    """How an audit went that could stop at any time; runs are those on each data set."""

    most_runs: int
    """The limit."""
    least_runs: int | None
    """Fewer could not have refuted the claim; None if no number could."""
    log_evidence: float
    """Natural logarithm of the largest capital won by bets against the claim; if it is true, e is reached with
    probability at most 1/e, and so on."""
    log_needed: float
    """What refutes the claim."""
    ended_by: str
    """Refutation, the limit of runs, or the clock."""
    refuted_after: int | None = None
    """Runs that refuted the claim; those made after them only say how far it is off."""


class OneRunRecord(Record):
    """What one training run showed of its canaries, each of which was a member by its own fair coin."""

    canaries: int
    """Those whose coins were guessed."""
    members: int
    held_out: int = 0
    """Further canaries, whose coins chose among checkpoints and were used for nothing else."""
    statistic: str
    """Which score: `the score`, a checkpoint, or a sum."""
    guesses: int
    """The number of the surest guesses on which the result rests."""
    sides: int
    """2 where half of them are for members and half for others, 1 where all are for members."""
    larger_scores: bool
    """Whether larger scores were guessed to be members'."""
    correct: int
    mu_lower: float
    """Lower confidence bound on the smallest mu for which mu-GDP can hold."""
    best_mu_lower: float
    """What the best possible scores would show, at the median, if the claim is true and tight."""
    best_epsilon_lower: float
    assumed: str
    """In one sentence."""


class OutputBin(Record):
    """How many outputs have a number from `low` to `high`, on each data set; all bins but the last without `high`,
    unless the two are one value.
    """

    low: float
    high: float
    left: int
    right: int
    label: str = ""
    """A value in words; empty for a range."""


class ShownOutputs(Record):
    """What a violation looks like on outputs that were seen; it describes them, and bounds nothing."""

    event: str
    """The region of outputs, in words."""
    runs: int
    """Outputs that were counted on each data set."""
    left_count: int
    """Of them in the region, on the first data set."""
    right_count: int
    left: tuple[str, ...]
    """Typical outputs on the first data set: the first ones that were drawn."""
    right: tuple[str, ...]
    axis: str
    """The number that the bins are about, in words."""
    bins: tuple[OutputBin, ...]
    above: float | None = None
    """The region, or nearly that, is where the number is above this; None if it is no such half-line."""
    at_most: float | None = None
    """The same for where it is at most this."""
    plane: tuple[tuple[tuple[float, float], ...], ...] = ()
    """Some outputs on each data set as points, where outputs are of two numbers; else empty."""


class PrivacyEvidence(SampledEvidence):
    """An audit of one privacy claim about one implementation."""

    kind: Literal["privacy"] = "privacy"
    white_box: bool = False
    """Whether it rests on steps and noise, or on a law, that are stated of the mechanism, not on its outputs alone."""
    stated_law: bool = False
    """Of a white-box audit: whether it is a law, with which the runs were compared, and nothing was simulated."""
    data: str
    """Which data set and which neighbor, in words."""
    adjacency: str
    claim: str
    claim_source: str = ""
    """The statement that the claim comes from."""
    conditions: tuple[str, ...] = ()
    """Under which the guarantee is claimed."""
    epsilon_lower: float
    """Lower confidence bound on the smallest epsilon for which (epsilon, delta)-DP can hold."""
    delta: float
    """The delta that `epsilon_lower` is about."""
    epsilon_claimed: float | None = None
    """What the claim allows at `delta`, nats; infinite where it allows anything."""
    epsilon_proved: float | None = None
    """The least that is proved there, by the statement that the claim is from or by something sharper; else None."""
    epsilon_exact: Interval | None = None
    """Encloses the smallest epsilon of this pair at `delta`, where that is known."""
    detectable: str = ""
    """The smallest violation of all that an audit of this size finds with probability one half, on any pair."""
    detectable_parameter: float | None = None
    """Its epsilon (for an (epsilon, delta) claim) or mu (for a curve); None if there is none."""
    detectable_on_numbers: float | None = None
    """For an (epsilon, delta) claim about noisy numbers: the epsilon of the smallest violation by shifted noise,
    Gaussian where delta is positive and Laplace where it is 0."""
    fault: str = ""
    """What was done to the mechanism to see whether this audit notices, such as `noise divided by`."""
    smallest_fault: float | None = None
    """The smallest factor of that fault that was flagged on this pair; None if none was."""
    outputs: str = ""
    """What the outputs were, in words; empty for an algorithm of a paper, whose outputs are numbers."""
    profile: tuple[ProfilePoint, ...]
    sequential: SequentialRecord | None = None
    """Where the audit could stop early."""
    shown: ShownOutputs | None = None
    """Where a claim is violated by its outputs: these, to be looked at."""
    one_run: OneRunRecord | None = None
    """Where it is about the canaries of a single training run, not about runs on two data sets."""
    repeats: bool | None = None
    """Whether a block that was run again under the same seed gave the same bits; None if that was not tried."""
    reuse: Reuse | None = None
    """Where a store was used, what was taken from it."""

    @property
    def full_claim(self) -> str:
        """The claim with its conditions, such as `1-DP (if no run is refused)`."""
        return f"{self.claim} (if {'; '.join(self.conditions)})" if self.conditions else self.claim


class ExpectationEvidence(SampledEvidence):
    """An audit of a bound on an expectation."""

    data: str
    quantity: str
    """What is averaged, with its unit, such as `expected excess empirical risk (sum over records)`."""
    claim: str
    claim_source: str = ""
    bound: float
    """In units of the quantity; infinite where none is stated, which makes this a measurement."""
    measured: Interval
    """Confidence interval of the expectation."""
    extreme: Interval | None = None
    """Encloses the worst value that the quantity can have for any output: exhibited and certified."""
    detectable: float | None = None
    """An expectation of this size would have been found about half the time."""
    curve: tuple[tuple[float, float, float, float], ...] = ()
    """Points (x, lower, upper, bound) of a plot, x being `curve_over`."""
    curve_over: str = ""
    curve_extremes: tuple[float, ...] = ()
    """The certified worst value at each point of the curve; empty without one."""

    @model_validator(mode="after")
    def _an_extreme_a_point(self) -> Self:
        if len(self.curve_extremes) not in (0, len(self.curve)):
            raise ValueError("curve_extremes has to have one number for each point of the curve, or none")
        return self

    @property
    def from_below(self) -> bool:
        """Whether the claim is that the expectation is at least the bound."""
        return False

    @property
    def vacuous(self) -> bool:
        """Whether it is certified that no output could break the bound."""
        if self.extreme is None:
            return False
        worst = self.extreme.lower if self.from_below else self.extreme.upper
        return is_vacuous(self.bound, worst, at_least=self.from_below)

    def vacuous_on_curve(self) -> tuple[bool, ...]:
        """The same of each point of the curve; where a ledger does not say it, nothing is called vacuous."""
        harmless = -math.inf if self.from_below else math.inf
        worst = self.curve_extremes or (harmless,) * len(self.curve)
        return tuple(
            is_vacuous(bound, end, at_least=self.from_below)
            for (*_, bound), end in zip(self.curve, worst, strict=True)
        )


class RiskEvidence(ExpectationEvidence):
    """An audit of a bound on an expected excess risk."""

    kind: Literal["risk"] = "risk"
    minimum: Interval
    """The empirical minimum, between dual bound and attained value."""


class MeanEvidence(ExpectationEvidence):
    """An audit of a bound on the expectation of something bounded that is no excess empirical risk."""

    kind: Literal["mean"] = "mean"
    at_least: bool
    """True where the claim is that the expectation is at least the bound, False for at most."""

    @property
    def from_below(self) -> bool:
        return self.at_least


class RateEvidence(SampledEvidence):
    """An exponent measured from risks at several sizes."""

    kind: Literal["rate"] = "rate"
    over: str
    """The size that grows: n, d, epsilon."""
    exponent_claimed: float
    exponent: Interval
    points: tuple[tuple[float, float, float], ...]
    """(size, lower, upper) of the measured quantity."""


class SamplingEvidence(SampledEvidence):
    """An audit of a sampler's law against the law that it should have, through one number a run."""

    kind: Literal["sampling"] = "sampling"
    data: str
    statistic: str
    """The number that is read off a run."""
    distance: Literal["total variation", "multiplicative", "Wasserstein"]
    bound: float
    """Claimed; 0 for an exact sampler."""
    claim: str
    claim_source: str = ""
    measured: Interval
    """Confidence interval of the Kolmogorov distance, which the total variation distance is at least.

    Of the Wasserstein distance, where that is claimed."""
    detectable: float | None = None
    """A half-line whose probability is off by this much more than allowed would have been found half the time.

    Where the Wasserstein distance is claimed: a law this much farther away."""
    blind_rejected: bool | None = None
    """Whether the same audit rejects a sampler that ignores the data; None if none was tried."""
    points: tuple[tuple[float, float, float, float], ...]
    """(x, lower, upper, reference): a band that holds P[statistic <= x] everywhere, and the right value."""

    @property
    def measured_distance(self) -> str:
        """Which distance `measured` is about."""
        return self.distance if self.distance == "Wasserstein" else "Kolmogorov"


class BatchFinding(Record):
    """A count in recorded batches that the stated sampling does not explain."""

    kind: str
    what: str
    count: int
    tries: int
    chance: float
    """Its probability in one of the tries, as stated."""

    def __str__(self) -> str:
        expected = f"where {self.tries * self.chance:.6g} are expected"
        return f"{self.what} in {self.count} of {self.tries} draws, {expected}"


class BatchesEvidence(SampledEvidence):
    """An audit of how the recorded batches of a training were drawn; `runs` are batches, or passes of shuffled ones."""

    kind: Literal["batches"] = "batches"
    data: str
    """Where they were recorded."""
    claim: str
    """How they are said to be drawn."""
    counts: int
    """That were tested."""
    findings: tuple[BatchFinding, ...] = ()
    """Those that are too far off, of smallest probability first; at most 50."""
    impossible: str | None = None
    """What no batch so drawn is; None if every batch could be one."""
    detectable: tuple[str, ...] = ()
    """For each kind of count, the smallest violation that would have been found half the time."""


class ComplexityEvidence(AuditEvidence):
    """Counted oracle calls beside the count that the paper states."""

    kind: Literal["complexity"] = "complexity"
    data: str
    oracle: str
    """gradient, value, projection or linear minimization; one gradient or value query is one record's."""
    counted: int
    claimed: int
    claim: str
    seed: int


class ConstantEvidence(AuditEvidence):
    """A printed constant beside the one that can be proved, or one hidden in an O( ) made explicit.

    The verdict is `certified` or `refuted` only if the arithmetic is rigorous; else `supported` or `undecided`.
    """

    kind: Literal["constant"] = "constant"
    formula: str
    latex: str = ""
    smallest: float | None = None
    """The smallest value that can be proved at the parameters; None if the largest is what counts."""
    largest: float | None = None
    """The largest value that is safe, for a formula that holds up to it."""
    printed: float | None = None
    """The printed constant; None if none is printed."""
    range_fixed_by: str = ""
    """What fixes the range in which the value is right: a closed form, a grid of parameters, ..."""
    parameters: dict[str, str]
    method: str


class AccountantEvidence(AuditEvidence):
    """An accountant's epsilon beside a two-sided value of the smallest one that is true; nothing was run."""

    kind: Literal["accountant"] = "accountant"
    accountant: str = ""
    """Whose number it is."""
    releases: str
    """What was accounted for."""
    delta: float
    claimed: float
    """Nats."""
    smallest: Interval
    """Encloses the smallest epsilon at delta."""
    ulps: int | None = None
    """By how many floats an exactly known epsilon is under-reported at least."""


def _read(value: Any) -> ProofEvidence | AuditEvidence:
    """An entry by its kind. Kinds of others have a dot in their name, such as `acme.rank`."""
    if isinstance(value, ProofEvidence | AuditEvidence):
        return value
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind == "proof":
        return ProofEvidence.model_validate(value)
    known = KINDS.get(kind) if isinstance(kind, str) else None
    if known is None:
        if not (isinstance(kind, str) and "." in kind):
            raise ValueError(f"kind {kind!r}; allowed: proof, {', '.join(KINDS)}, or a name with a dot")
        known = ForeignEvidence
    return known.model_validate(value)


AnyAudit = Annotated[AuditEvidence, PlainValidator(_read), SerializeAsAny()]


Evidence = Annotated[ProofEvidence | AuditEvidence, PlainValidator(_read), SerializeAsAny()]
"""Whatever has a kind: a proof, an audit of ours, or one of somebody else's."""
