"""What a check leaves behind: verdicts, evidence, and the ledger that collects them.

The ledger is the only thing that reports read, so whatever a reader should see must be in here. Its JSON
form is versioned: a field's meaning never changes, new meanings get new fields and a new version.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION: Literal[2] = 2
"""1: without `mean` and `sampling` entries, which version 2 added; a ledger of version 1 is read as it is."""

READABLE_VERSIONS = (1, SCHEMA_VERSION)


class Verdict(StrEnum):
    """The six outcomes of a check. A prover never says `supported`; an auditor never says `certified`."""

    PROVED = "proved"
    """Exactly, on the whole domain."""
    CERTIFIED = "certified"
    """By rigorous intervals, on the printed box."""
    REFUTED = "refuted"
    """A counterexample in exact or rigorous arithmetic."""
    SUPPORTED = "supported"
    """Statistics found no violation; the smallest that would have been found is printed."""
    VIOLATED = "violated"
    """Statistics reject, with the printed error probability."""
    UNDECIDED = "undecided"
    """No answer, with the reason."""


class Role(StrEnum):
    """What an obligation is in its paper."""

    STATEMENT = "statement"
    STEP = "step"
    CHOICE = "choice"
    CONDITION = "condition"
    UNIT = "unit"
    REFERENCE = "reference"


class Variant(StrEnum):
    """Whether a formula stands in the paper or was mended here."""

    PRINTED = "printed"
    REPAIRED = "repaired"


class Record(BaseModel):
    """Base of everything in the ledger: frozen, and unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Interval(Record):
    """Two numbers around an unknown one. Open ends are infinite floats, written as strings in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    lower: float
    upper: float
    rigorous: bool = False
    """True where rounding is outward; False where the ends are floats or hold with a confidence."""


class ProofEvidence(Record):
    """The outcome for one obligation of one statement."""

    kind: Literal["proof"] = "proof"
    statement: str
    obligation: str
    where: str
    role: Role
    variant: Variant
    latex: str
    expression: str
    """The formula in plain characters."""
    scope: str = ""
    """Which instances of the statement the formula covers, where that is less than all of them."""
    domain: dict[str, str] = {}
    units: dict[str, str] = {}
    assuming: tuple[str, ...] = ()
    because: str = ""
    """For a repaired formula, why the printed one had to be mended."""
    verdict: Verdict
    prover: str
    box: dict[str, tuple[str, str]] | None = None
    counterexample: dict[str, str] | None = None
    """Symbol to exact decimal or fraction."""
    left: str | None = None
    right: str | None = None
    """The two sides at the counterexample."""
    certificate: str | None = None
    """`sha256:` and the hash of the certificate, which lies beside the ledger under that name."""
    confirmed_by_checker: bool = False
    checker_says: str = ""
    """Why the checker did not confirm, or how it did."""
    reason: str = ""
    """For `undecided`: what was tried and what stopped it."""
    boxes: int | None = None
    witness: dict[str, str] | None = None
    """A confirmed point of domain, box and assumptions: symbol to exact decimal or fraction."""
    stopped_by_the_clock: bool = False
    """Whether a far wall-clock guard ended some work, so that a verdict here may depend on the machine."""
    fault: str = ""
    """The traceback where dpverify itself failed on this row; the run then ends with exit code 70."""
    seconds: float = 0.0


class ProfilePoint(Record):
    """One point of an audited privacy profile."""

    epsilon: float
    delta_lower: float
    """Simultaneous lower confidence bound of the true privacy profile, both directions."""
    delta_claimed: float | None = None
    delta_upper: float | None = None
    """Best known upper bound from accounting."""


class Reuse(Record):
    """What was taken from a store of finished work instead of being done again."""

    store: str
    """The file."""
    blocks: int = 0
    """Blocks of runs that were wanted."""
    blocks_taken: int = 0
    proofs: int = 0
    """Obligations."""
    proofs_taken: int = 0
    audits: int = 0
    """Whole audits, whose blocks were not even looked for."""
    audits_taken: int = 0
    refused: int = 0
    """Rows that were damaged or in a wrong place, so that their work was done anew."""
    not_kept: int = 0
    """Results that rest on a source file which changed while the program ran."""

    def since(self, before: Reuse) -> Reuse:
        """What came after an earlier count of the same store."""
        counted = {name: count for name, count in self if isinstance(count, int)}
        return Reuse(
            store=self.store, **{name: count - getattr(before, name) for name, count in counted.items()}
        )

    def says(self) -> str:
        """It in one line, empty where there is nothing to say."""
        counts = (
            ("blocks", self.blocks_taken, self.blocks),
            ("proofs", self.proofs_taken, self.proofs),
            ("audits", self.audits_taken, self.audits),
        )
        taken = [f"{some} of {total} {what}" for what, some, total in counts if some]
        said = [f"{', '.join(taken)} taken from {self.store}"] if taken else []
        if self.refused:
            rows = (
                "1 damaged or misplaced row"
                if self.refused == 1
                else f"{self.refused} damaged or misplaced rows"
            )
            said.append(f"{rows} in {self.store} refused, and the work done anew")
        if self.not_kept:
            said.append(
                f"{self.not_kept} results were not kept in {self.store}, since a source file that they rest on "
                "changed or went away while the program ran"
            )
        return "; ".join(said)


class AuditEvidence(Record):
    """What every audit of an implementation leaves behind."""

    subject: str
    """A statement id such as `fmtt18.alg1`, or a user's `package.module:function`."""
    title: str
    verdict: Verdict
    reason: str = ""
    reproduce: str


class SampledEvidence(AuditEvidence):
    """What an audit leaves behind whose verdict rests on independent runs."""

    runs: int
    failure_probability: float
    seed: int
    seconds: float = 0.0


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
    curve: tuple[tuple[float, float, float, float], ...] = ()
    """Points (x, lower, upper, bound) of a plot, x being `curve_over`."""
    curve_over: str = ""


class PrivacyEvidence(SampledEvidence):
    """A black-box audit of one privacy claim about one implementation."""

    kind: Literal["privacy"] = "privacy"
    data: str
    """Which data set and which neighbor, in words."""
    adjacency: str
    claim: str
    claim_source: str = ""
    """The statement that the claim comes from."""
    epsilon_lower: float
    """Lower confidence bound on the smallest epsilon for which (epsilon, delta)-DP can hold."""
    delta: float
    """The delta that `epsilon_lower` is about."""
    detectable: str = ""
    """The smallest violation that this audit would have found with probability one half."""
    profile: tuple[ProfilePoint, ...]
    reuse: Reuse | None = None
    """Where a store was used, what was taken from it."""


class RiskEvidence(ExpectationEvidence):
    """An audit of a bound on an expected excess risk."""

    kind: Literal["risk"] = "risk"
    minimum: Interval
    """The empirical minimum, between dual bound and attained value."""


class RateEvidence(SampledEvidence):
    """An exponent measured from risks at several sizes."""

    kind: Literal["rate"] = "rate"
    over: str
    """The size that grows: n, d, epsilon."""
    exponent_claimed: float
    exponent: Interval
    points: tuple[tuple[float, float, float], ...]
    """(size, lower, upper) of the measured quantity."""


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


class MeanEvidence(ExpectationEvidence):
    """An audit of a bound on the expectation of something bounded that is no excess empirical risk."""

    kind: Literal["mean"] = "mean"
    at_least: bool
    """True where the claim is that the expectation is at least the bound, False for at most."""


class SamplingEvidence(SampledEvidence):
    """An audit of a sampler's law against the law that it should have, through one number a run."""

    kind: Literal["sampling"] = "sampling"
    data: str
    statistic: str
    """The number that is read off a run."""
    distance: Literal["total variation", "multiplicative"]
    bound: float
    """Claimed; 0 for an exact sampler."""
    claim: str
    claim_source: str = ""
    measured: Interval
    """Confidence interval of the Kolmogorov distance, which the total variation distance is at least."""
    points: tuple[tuple[float, float, float, float], ...]
    """(x, lower, upper, reference): a band that holds P[statistic <= x] everywhere, and the right value."""


class ConstantEvidence(AuditEvidence):
    """A constant hidden in an O( ) made explicit by accounting.

    The verdict is `certified` only if the accountant's arithmetic is rigorous; else `supported` or `undecided`.
    """

    kind: Literal["constant"] = "constant"
    formula: str
    latex: str = ""
    smallest: float
    """The smallest value that the accountant can prove at the printed parameters."""
    parameters: dict[str, str]
    method: str


Evidence = Annotated[
    ProofEvidence
    | PrivacyEvidence
    | RiskEvidence
    | RateEvidence
    | ComplexityEvidence
    | ConstantEvidence
    | MeanEvidence
    | SamplingEvidence,
    Field(discriminator="kind"),
]


class StatementEntry(Record):
    """One row of the catalog, with the verdicts computed for it (None: nothing checked yet)."""

    id: str
    paper: str
    kind: str
    where: str
    title: str
    algorithm: str | None = None
    """Import path of the implementation."""
    pairs: tuple[str, ...] = ()
    """Ids of the statements and algorithms it belongs with."""
    latex: str = ""
    """The statement as printed, for reading."""
    docstring: str = ""
    verdict_printed: Verdict | None = None
    verdict_repaired: Verdict | None = None


class Budget(Record):
    """How the run's error probability was spent."""

    failure_probability: float
    spent: dict[str, float]
    """Per audit; the sum is at most `failure_probability`."""


class Ledger(Record):
    """Everything that one run of dpverify found."""

    schema_version: Literal[1, 2] = SCHEMA_VERSION
    program: str = "dpverify"
    program_version: str
    created: str
    """ISO 8601, UTC."""
    command: str
    seed: int
    profile: str
    versions: dict[str, str]
    """Versions of Python and of the libraries that results depend on."""
    statements: tuple[StatementEntry, ...]
    entries: tuple[Evidence, ...]
    budget: Budget
    seconds: float
    reuse: Reuse | None = None
    """Where a store was used, what was taken from it."""


def overall(verdicts: list[Verdict]) -> Verdict | None:
    """Fold the verdicts of a statement's formulas into one.

    One refuted formula refutes the whole; otherwise the weakest verdict stands, from `undecided` through
    `supported` and `certified` to `proved`. An empty list gives None.
    """
    order = [
        Verdict.REFUTED,
        Verdict.VIOLATED,
        Verdict.UNDECIDED,
        Verdict.SUPPORTED,
        Verdict.CERTIFIED,
        Verdict.PROVED,
    ]
    return min(verdicts, key=order.index) if verdicts else None
