"""What a check leaves behind: verdicts, evidence, and the ledger that collects them.

The ledger is the only thing that reports read, so whatever a reader should see must be in here. Its JSON
form is versioned: a field's meaning never changes, new meanings get new fields and a new version.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION: Literal[3] = 3
"""1: without `mean` and `sampling` entries, which version 2 added; 2: without what an audit can see.

Every field that a later version added has a default, so older ledgers are read as they are.
"""

READABLE_VERSIONS = (1, 2, SCHEMA_VERSION)


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
    seconds: float = 0.0


class ProfilePoint(Record):
    """One point of an audited privacy profile."""

    epsilon: float
    delta_lower: float
    """Simultaneous lower confidence bound of the true privacy profile, both directions."""
    delta_claimed: float | None = None
    delta_upper: float | None = None
    """Best known upper bound from accounting."""


class ClaimForm(StrEnum):
    """How a claim stands to the print of its source."""

    AS_PRINTED = "as printed"
    CORRECTED = "corrected"
    UNSTATED = "unstated"
    """Nothing is claimed: a measurement."""
    NOT_COMPARED = "not compared"
    """Nobody has held it against the print."""


class ClaimOrigin(Record):
    """Where a claim comes from, and whether it is what stands there."""

    form: ClaimForm
    source: str = ""
    """The statement or algorithm, by its id."""
    printed: str = ""
    """The number or formula that its source prints."""
    because: str = ""
    """For a corrected claim what was corrected, for an unstated one why there is none."""
    holds_for: str = ""
    """The range in which it is claimed."""


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
    origin: ClaimOrigin | None = None
    """None in ledgers before version 3, and where a user makes the claim."""


class SampledEvidence(AuditEvidence):
    """What an audit leaves behind whose verdict rests on independent runs."""

    runs: int
    failure_probability: float
    seed: int
    seconds: float = 0.0
    sees_nothing: bool = False
    """True where it is undecided because nothing could have changed that: no fault that was tried is noticed."""


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
    """Around the worst value that the quantity could have for any output: exhibited and certified."""
    detectable: float | None = None
    """An expectation of this size would have been found about half the time."""
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
    """The smallest violation of all that an audit of this size finds with probability one half, on any pair."""
    fault: str = ""
    """What was done to the mechanism to see whether this audit notices, such as `noise divided by`."""
    smallest_fault: float | None = None
    """The smallest factor of that fault that was flagged on this pair; None where none was."""
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
    detectable: float | None = None
    """A half-line whose probability is off by this much more than allowed would have been found half the time."""
    blind_rejected: bool | None = None
    """Whether the same audit rejects a sampler that ignores the data; None where none was tried."""
    points: tuple[tuple[float, float, float, float], ...]
    """(x, lower, upper, reference): a band that holds P[statistic <= x] everywhere, and the right value."""


class ConstantEvidence(AuditEvidence):
    """A printed constant beside the one that can be proved, or one hidden in an O( ) made explicit.

    The verdict is `certified` or `refuted` only if the arithmetic is rigorous; else `supported` or `undecided`.
    """

    kind: Literal["constant"] = "constant"
    formula: str
    latex: str = ""
    smallest: float | None = None
    """The smallest value that can be proved at the parameters; None where the largest is what counts."""
    largest: float | None = None
    """The largest value that is safe, for a formula that holds up to it."""
    printed: float | None = None
    """The printed constant; None where none is printed (or, before version 3, where it was not recorded)."""
    range_fixed_by: str = ""
    """What fixes the range in which the value is right: a closed form, a grid of parameters, ..."""
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
    covers_printed: tuple[str, ...] = ()
    """Where the formulas behind `verdict_printed` were proved for less than the whole statement: for what."""
    covers_repaired: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    """What is false beside the statement itself, such as `a step is false`."""


class Budget(Record):
    """How the run's error probability was spent."""

    failure_probability: float
    spent: dict[str, float]
    """Per audit; the sum is at most `failure_probability`."""


class Ledger(Record):
    """Everything that one run of dpverify found."""

    schema_version: Literal[1, 2, 3] = SCHEMA_VERSION
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


def marks(proofs: Iterable[ProofEvidence]) -> tuple[str, ...]:
    """What is false as printed in a statement beside what it says itself, each kind once."""
    words = {
        Role.STEP: "a step is false",
        Role.CHOICE: "a choice of the proof is false",
        Role.CONDITION: "a condition is false",
        Role.UNIT: "units differ",
        Role.REFERENCE: "a reference is false",
    }
    found = [
        words[proof.role]
        for proof in proofs
        if proof.role in words and proof.variant is Variant.PRINTED and proof.verdict is Verdict.REFUTED
    ]
    return tuple(words[role] for role in words if words[role] in found)


def covered(proofs: Iterable[ProofEvidence]) -> tuple[str, ...]:
    """What was proved, where some of these formulas are about less than the whole; empty where none is."""
    proved = [
        p for p in proofs if p.verdict in (Verdict.PROVED, Verdict.CERTIFIED) and p.role is not Role.UNIT
    ]
    scoped = tuple(dict.fromkeys(f"{p.scope} ({p.obligation})" for p in proved if p.scope))
    whole = any(not p.scope and p.role is Role.STATEMENT for p in proved)
    return (*scoped, "the other formulas as they stand") if scoped and whole else scoped


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
