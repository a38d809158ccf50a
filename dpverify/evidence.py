"""What a check leaves behind: a verdict, and evidence of one kind or another. A ledger (`dpverify.ledger`) collects it.

The JSON form of all this is versioned there.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, PlainValidator, SerializeAsAny, model_validator

from dpverify.in_print import Mistake, Provenance
from dpverify.notebooks import html_table
from dpverify.realistic import RealisticPoint


class Verdict(StrEnum):
    """The seven outcomes of a check. A prover never says `supported`; an auditor never says `certified`."""

    PROVED = "proved"
    """Exactly, on the whole domain."""
    CERTIFIED = "certified"
    """By rigorous intervals, on the printed box."""
    REFUTED = "refuted"
    """A counterexample in exact or rigorous arithmetic, at a point that exists."""
    DOES_NOT_FOLLOW = "does not follow"
    """Letters that stand for functionals have values that break it, and perhaps nothing attains these."""
    SUPPORTED = "supported"
    """Statistics found no violation; the smallest that would have been found is printed."""
    VIOLATED = "violated"
    """Statistics reject, with the printed error probability."""
    UNDECIDED = "undecided"
    """No answer, with the reason."""


BROKEN = (Verdict.REFUTED, Verdict.DOES_NOT_FOLLOW)
"""What a prover says of a formula that is false at some values of its letters."""


class Coverage(StrEnum):
    """How much of a statement a formula is."""

    WHOLE = "whole"
    """Together with what it uses, it gives the statement's conclusion or a part of it; other parts are wholes too."""
    INSTANCE = "instance"
    """A special case or a consequence of the statement: it can refute or support it, never prove it."""
    STEP = "step"
    """A display of its proof."""
    CONDITION = "condition"
    """What must hold for the statement to say anything, or for a result that its proof uses to apply."""
    UNIT = "unit"
    """That both sides of a formula have the same unit."""
    REFERENCE = "reference"
    """The same thing said elsewhere."""


class Consequence(StrEnum):
    """What follows from a printed formula that is false, worst first."""

    CLAIM = "the claim fails"
    CONSTANT = "a constant changes"
    CONDITION = "a condition is missing"
    """With it, what is printed is true; without it, it fails at sizes that are met in practice."""
    STEP = "a step of the proof only"
    NOTATION = "notation only"
    """As it is written; it is clear what is meant, and that is true."""
    EDGE = "an edge case that no reader means"


class Gap(StrEnum):
    """Why something is undecided: a closed list, so that the reasons can be counted and worked off."""

    CONTACT_POINT = "contact point"
    """The two sides meet at a point, and no method settles its neighborhood."""
    UNBOUNDED_DOMAIN = "unbounded domain"
    EFFORT_SPENT = "effort spent"
    """A limit on boxes, steps or other counted work was reached."""
    CLOCK = "stopped by the clock"
    MEMORY = "memory ceiling"
    """It took more memory than one row may, which no count foresaw."""
    UNSUPPORTED_FUNCTION = "function not supported"
    NO_METHOD = "no method"
    """Every prover's method was tried to its end, and none applies."""
    HIDDEN_CONSTANT = "hidden constant"
    """A constant hidden in O( ) could explain it."""
    MISSING_HYPOTHESIS = "missing hypothesis"
    """Something is not defined, or not known to hold, without an assumption that is not stated."""
    CONTRADICTORY_ASSUMPTIONS = "contradictory assumptions"
    NO_WITNESS = "no witness"
    BLIND_AUDIT = "blind audit"
    """No fault that was tried would have been noticed."""
    LOOSE_CLAIM = "loose claim"
    """The claim leaves so much room on this pair that the faults that were tried do not break it, for certain."""
    TOO_FEW_RUNS = "too few runs"
    EQUAL_OUTPUTS = "equal outputs"
    """Outputs never varied, or one sample stands on both sides: nothing random was compared."""
    NOT_RIGOROUS = "arithmetic not rigorous"
    PROOF_FALLS_SHORT = "proof falls short"
    """The printed constant is beyond what is proved, and nothing shows that it is wrong."""
    NOTHING_STATED = "nothing stated"
    """There is no claim to compare with: a measurement."""
    TORN = "torn text"
    """The text of its source lost a sign, and what was read instead would be false."""
    FAULT = "fault in dpverify"


class Use(StrEnum):
    """What a formula makes of one of its hypotheses."""

    FALSE_WITHOUT = "false without it"
    """At a point where all others hold, the formula is false."""
    UNDEFINED_WITHOUT = "undefined without it"
    """At a point where all others hold, the formula says nothing."""
    NOT_PROVED_WITHOUT = "not proved without it"
    """No proof was found without it, and no such point."""
    UNUSED = "unused"
    """The formula is proved without it, and without all others that are unused."""


class Variant(StrEnum):
    """Whether a formula is the paper's or a correction made here."""

    PRINTED = "printed"
    REPAIRED = "repaired"


class Record(BaseModel):
    """Base of everything in the ledger: frozen, and unknown fields are refused.

    What checks and writes a class is built when the first object is made: there are dozens, and a command needs few.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Interval(Record):
    """Two numbers around an unknown one. Open ends are infinite floats, written as strings in JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    lower: float
    upper: float
    rigorous: bool = False
    """True where rounding is outward; False where the ends are floats or hold with a confidence."""


def is_vacuous(bound: float, worst: float, *, at_least: bool = False) -> bool:
    """Whether a bound says nothing, as nothing is beyond it.

    Args:
        bound: on a quantity, in its unit; infinite on the harmless side where none is stated, which is not vacuous.
        worst: the largest value that the quantity can have, with `at_least` the smallest, known or certified.
        at_least: True for a bound from below.
    """
    return math.isfinite(bound) and (worst >= bound if at_least else worst <= bound)


class ProofEvidence(Record):
    """The outcome for one obligation of one statement."""

    kind: Literal["proof"] = "proof"
    statement: str
    obligation: str
    where: str
    coverage: Coverage
    """For ledgers before version 4, derived from their `role`."""
    variant: Variant
    latex: str
    expression: str
    """The formula in plain characters."""
    read: str = ""
    """All that was read, printed from the tree that the verdict is about: for which values of which letters, under
    which conditions, with which definitions, what; empty in older ledgers."""
    scope: str = ""
    """Which special case of the statement an instance covers."""
    stands_for: tuple[str, ...] = ()
    """In LaTeX, what the quantities in the formula that are not plain letters stand for."""
    functionals: tuple[str, ...] = ()
    """Its letters, as in `domain`, that may stand for functionals; at values of theirs nothing is refuted."""
    formulas: dict[str, str] = {}
    """Letters that stand for formulas of others, each with its formula in plain characters."""
    written_out: bool = False
    """Whether the verdict is about the formula with these letters replaced; else it is for all values of theirs."""
    uses: tuple[str, ...] = ()
    """What it rests on: ids of statements or of named results, or `STATEMENT/OBLIGATION`."""
    provenance: Provenance | None = None
    """Where its line comes from; None before version 5."""
    prints: tuple[str, ...] = ()
    """In LaTeX, the printed displays that it says a part of, or follows from, where it does not stand in print."""
    consequence: Consequence | None = None
    """For a printed formula that is false, what follows from that; None before version 4."""
    mistake: Mistake | None = None
    """For a printed formula that is false or does not follow, what kind of mistake that is, by its correction; None
    where there is none, and before version 5."""
    relation: str = ""
    """As printed, between `left` and `right`: `<=`, `<`, `>=`, `>`, `==` or `!=`; empty where nothing is compared."""
    exceeds: str = ""
    """By how much an inequality that is false or does not follow fails at the counterexample, where both sides are
    numbers there; in the direction that is printed."""
    reading: str = ""
    """A reading under which the printed formula is true."""
    catches: str = ""
    """For an instance, the fault that it would have caught."""
    domain: dict[str, str] = {}
    units: dict[str, str] = {}
    assuming: tuple[str, ...] = ()
    because: str = ""
    """For a corrected formula, why the printed one had to be corrected."""
    added: tuple[str, ...] = ()
    """For a corrected formula, the conditions and domains that the printed one of its name lacks; none before
    version 5."""
    verdict: Verdict
    prover: str
    box: dict[str, tuple[str, str]] | None = None
    counterexample: dict[str, str] | None = None
    """Symbol to exact decimal or fraction."""
    left: str | None = None
    right: str | None = None
    """The two sides at the counterexample, in the order that is printed."""
    realistic: RealisticPoint | None = None
    """A counterexample at sizes met in practice; None where no letter has such a size, and in older ledgers."""
    certificate: str | None = None
    """`sha256:` and the hash of the certificate, which lies beside the ledger under that name."""
    confirmed_by_checker: bool = False
    checker_says: str = ""
    """Why the checker did not confirm, or how it did."""
    reason: str = ""
    """For `undecided`: what was tried and what stopped it."""
    gap: Gap | None = None
    """For `undecided`: which of the known reasons it is; None before version 4."""
    boxes: int | None = None
    witness: dict[str, str] | None = None
    """A confirmed point of domain, box and assumptions: symbol to exact decimal or fraction."""
    stopped_by_the_clock: bool = False
    """Whether a last-resort guard of time ended some work, so that verdict or confirmation depends on the machine."""
    fault: str = ""
    """The traceback where dpverify itself failed on this row; the run then ends with exit code 70."""
    seconds: float = 0.0

    @property
    def depends_on_the_machine(self) -> bool:
        """Whether a last resort or a fault ended work on it, so that it is tried again instead of being kept."""
        return self.stopped_by_the_clock or bool(self.fault) or self.gap is Gap.MEMORY

    def _repr_html_(self) -> str:
        """For notebooks."""
        return html_table(
            f"{self.statement}, {self.obligation}: {self.verdict}",
            (
                ("formula", self.expression),
                ("variant", self.variant),
                ("coverage", self.coverage),
                ("prover", self.prover),
                ("checker", "confirmed" if self.confirmed_by_checker else "not confirmed"),
                ("counterexample", ", ".join(f"{k} = {v}" for k, v in (self.counterexample or {}).items())),
                ("why", self.reason),
            ),
        )

    @model_validator(mode="before")
    @classmethod
    def _from_role(cls, fields: Any) -> Any:
        """Ledgers before version 4 have a role: the coverage follows from it and from the scope."""
        if not isinstance(fields, dict) or "role" not in fields or "coverage" in fields:
            return fields
        rest = {name: value for name, value in fields.items() if name != "role"}
        known = {
            "statement": Coverage.INSTANCE if rest.get("scope") else Coverage.WHOLE,
            "choice": Coverage.CONDITION,
        }
        return {**rest, "coverage": known.get(fields["role"], fields["role"])}


class ProfilePoint(Record):
    """One point of an audited privacy profile."""

    epsilon: float
    delta_lower: float
    """Simultaneous lower confidence bound of the true privacy profile, both directions."""
    delta_claimed: float | None = None
    delta_upper: float | None = None
    """Best known upper bound from accounting."""


class ClaimForm(StrEnum):
    """How a claim relates to what its source prints."""

    AS_PRINTED = "as printed"
    CORRECTED = "corrected"
    UNSTATED = "unstated"
    """Nothing is claimed: a measurement."""
    NOT_COMPARED = "not compared"
    """It has not been compared with the paper."""


class ClaimOrigin(Record):
    """Where a claim comes from, and whether it is what the source prints."""

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
    blocks_compared: int = 0
    """Of those taken, how many were run again and had the same bits."""
    proofs: int = 0
    """Obligations."""
    proofs_taken: int = 0
    audits: int = 0
    """Whole audits, whose blocks were not even looked for."""
    audits_taken: int = 0
    refused: int = 0
    """Rows that were damaged or in the wrong place, so that their work was done again."""
    not_kept: int = 0
    """Results that rest on a source file which changed while the program ran."""

    def since(self, before: Reuse) -> Reuse:
        """What came after an earlier count of the same store."""
        counted = {name: count for name, count in self if isinstance(count, int)}
        return Reuse(
            store=self.store, **{name: count - getattr(before, name) for name, count in counted.items()}
        )

    def says(self) -> str:
        """The same in one line, empty if there is nothing to say."""
        counts = (
            ("blocks", self.blocks_taken, self.blocks),
            ("proofs", self.proofs_taken, self.proofs),
            ("audits", self.audits_taken, self.audits),
        )
        taken = [f"{some} of {total} {what}" for what, some, total in counts if some]
        said = [f"{', '.join(taken)} taken from {self.store}"] if taken else []
        if self.blocks_taken:
            said.append(
                f"{self.blocks_compared} of these blocks run again, with the same bits; environment variables and "
                "files that the code opens are no part of the store's keys"
            )
        if self.refused:
            rows = (
                "1 damaged or misplaced row"
                if self.refused == 1
                else f"{self.refused} damaged or misplaced rows"
            )
            said.append(f"{rows} in {self.store} refused, and that work done again")
        if self.not_kept:
            said.append(
                f"{self.not_kept} results were not kept in {self.store}, because a source file that they depend on "
                "changed or disappeared while the program ran"
            )
        return "; ".join(said)


_KINDS: dict[str, type[AuditEvidence]] = {}


class AuditEvidence(Record):
    """What every audit leaves behind. A kind of audit is a subclass with a literal `kind` that has a default.

    To define the class is enough for its entries to be read. Raises `TypeError` for a kind that is taken.
    """

    if TYPE_CHECKING:
        kind: str

    subject: str
    """A statement id such as `fmtt18.alg1`, or a user's `package.module:function`."""
    title: str
    verdict: Verdict
    reason: str = ""
    gap: Gap | None = None
    """For `undecided`: which of the known reasons it is; None before version 4."""
    reproduce: str
    origin: ClaimOrigin | None = None
    """None in ledgers before version 3, and where a user makes the claim."""
    size: tuple[int, int] | None = None
    """Records and features of the largest data set that was run on; None where none was, or where it is not said."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        field = cls.model_fields.get("kind")
        if field is None or not isinstance(field.default, str):
            return
        taken = _KINDS.setdefault(field.default, cls)
        if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"kind {field.default!r} of {cls.__name__} is taken by {taken.__name__}")
        _KINDS[field.default] = cls

    def sized(self, size: tuple[int, int] | None) -> Self:
        """The same with the size of its data."""
        return self if size is None else self.model_copy(update={"size": size})

    def timed(self, seconds: float) -> Self:
        """The same with the time that it took, where that is recorded."""
        return self

    def spent(self) -> tuple[SpentShare, ...]:
        """What failure probability was spent on it, and why."""
        return ()

    def _repr_html_(self) -> str:
        """For notebooks: what every kind of audit has, and the numbers that most have."""
        rows: list[tuple[str, object]] = [("title", self.title)]
        for name in ("claim", "epsilon_lower", "delta", "adjacency", "runs", "failure_probability", "seed"):
            rows.append((name.replace("_", " "), getattr(self, name, None)))
        return html_table(
            f"{self.subject or self.title}: {self.verdict}",
            [*rows, ("why", self.reason), ("reproduce", self.reproduce)],
        )

    def lines(self) -> list[str]:
        """What a failing test prints."""
        about = ": ".join(part for part in (self.subject, self.title) if part)
        found = [f"{about} is {self.verdict}. {self.reason}".strip()]
        return [*found, *([f"reproduce: {self.reproduce}"] if self.reproduce else [])]


class SpentShare(Record):
    """A part of a failure probability, and what it was spent on."""

    name: str
    failure_probability: float
    why: str


class SampledEvidence(AuditEvidence):
    """What an audit whose verdict rests on independent runs leaves behind."""

    runs: int
    failure_probability: float
    shares: tuple[SpentShare, ...] = ()
    """How the audit divided its failure probability; empty where it did not, and in ledgers that do not say."""
    seed: int
    seconds: float = 0.0
    sees_nothing: bool = False
    """True where it is undecided because no fault that was tried would have been noticed."""

    def timed(self, seconds: float) -> Self:
        return self.model_copy(update={"seconds": round(seconds, 3)})

    def spent(self) -> tuple[SpentShare, ...]:
        return self.shares

    def lines(self) -> list[str]:
        spent = "; ".join(f"{part.failure_probability:.3g} on {part.why}" for part in self.shares)
        of = f", spent: {spent}" if spent else ""
        found = f"{self.runs} runs, seed {self.seed}, failure probability {self.failure_probability:g}{of}"
        first, *rest = super().lines()
        return [first, found, *rest]


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
    """The certified worst value at each point of the curve; empty without one, and in ledgers that do not say."""

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
        return self.extreme is not None and is_vacuous(
            self.bound, self._worst(self.extreme), at_least=self.from_below
        )

    def vacuous_on_curve(self) -> tuple[bool, ...]:
        """The same of each point of the curve; where a ledger does not say it, nothing is called vacuous."""
        worst = self.curve_extremes or (self._harmless,) * len(self.curve)
        return tuple(
            is_vacuous(bound, end, at_least=self.from_below)
            for (*_, bound), end in zip(self.curve, worst, strict=True)
        )

    @property
    def _harmless(self) -> float:
        return -math.inf if self.from_below else math.inf

    def _worst(self, extreme: Interval) -> float:
        return extreme.lower if self.from_below else extreme.upper


class SequentialRecord(Record):
    """How an audit went that could stop at any time; runs are those on each data set."""

    most_runs: int
    """The limit."""
    least_runs: int | None
    """Fewer could not have refuted the claim; None where no number could."""
    log_evidence: float
    """Natural logarithm of the largest capital won by bets against the claim; if it is true, e is reached with
    probability at most 1/e, and so on."""
    log_needed: float
    """What refutes the claim."""
    ended_by: str
    """Refutation, the limit of runs, or the clock."""


class PrivacyEvidence(SampledEvidence):
    """An audit of one privacy claim about one implementation."""

    kind: Literal["privacy"] = "privacy"
    white_box: bool = False
    """Whether it rests on the steps and the noise that are stated of the mechanism, not on its outputs alone."""
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
    fault: str = ""
    """What was done to the mechanism to see whether this audit notices, such as `noise divided by`."""
    smallest_fault: float | None = None
    """The smallest factor of that fault that was flagged on this pair; None where none was."""
    outputs: str = ""
    """What the outputs were, in words; empty for an algorithm of a paper, whose outputs are numbers."""
    profile: tuple[ProfilePoint, ...]
    sequential: SequentialRecord | None = None
    """Where the audit could stop early."""
    repeats: bool | None = None
    """Whether a block that was run again under the same seed gave the same bits; None where that was not tried."""
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

    @property
    def from_below(self) -> bool:
        return self.at_least


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
    """Whether the same audit rejects a sampler that ignores the data; None where none was tried."""
    points: tuple[tuple[float, float, float, float], ...]
    """(x, lower, upper, reference): a band that holds P[statistic <= x] everywhere, and the right value."""

    @property
    def measured_distance(self) -> str:
        """Which distance `measured` is about."""
        return self.distance if self.distance == "Wasserstein" else "Kolmogorov"


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


class ForeignEvidence(AuditEvidence):
    """An entry of a kind whose class is not loaded: what every audit has is read, the rest is kept as it is."""

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: str


def _read(value: Any) -> ProofEvidence | AuditEvidence:
    """An entry by its kind. Kinds of others have a dot in their name, such as `acme.rank`."""
    if isinstance(value, ProofEvidence | AuditEvidence):
        return value
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind == "proof":
        return ProofEvidence.model_validate(value)
    known = _KINDS.get(kind) if isinstance(kind, str) else None
    if known is None:
        if not (isinstance(kind, str) and "." in kind):
            raise ValueError(f"kind {kind!r}; allowed: proof, {', '.join(_KINDS)}, or a name with a dot")
        known = ForeignEvidence
    return known.model_validate(value)


AnyAudit = Annotated[AuditEvidence, PlainValidator(_read), SerializeAsAny()]
Evidence = Annotated[ProofEvidence | AuditEvidence, PlainValidator(_read), SerializeAsAny()]
"""Whatever has a kind: a proof, an audit of ours, or one of somebody else's."""


def overall(verdicts: list[Verdict]) -> Verdict | None:
    """Fold the verdicts of a statement's formulas into one.

    One refuted formula refutes the whole; otherwise the weakest verdict stands, from `does not follow` and
    `undecided` through `supported` and `certified` to `proved`. An empty list gives None.
    """
    order = [
        Verdict.REFUTED,
        Verdict.VIOLATED,
        Verdict.DOES_NOT_FOLLOW,
        Verdict.UNDECIDED,
        Verdict.SUPPORTED,
        Verdict.CERTIFIED,
        Verdict.PROVED,
    ]
    return min(verdicts, key=order.index) if verdicts else None
