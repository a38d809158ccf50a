"""A ledger's audits held against the source's plans: none is missing, added or changed, and the sums are right.

What no draw decides (constants, counted oracle calls, accountants, rates from what was measured) is worked out again
and has to be the same in every field. An audit that draws has to be the plan's: subject, claim, data, sizes, seed and
share of the failure probability. What it drew is only drawn again for the audits that `rerun` picks, bit by bit.
"""

from __future__ import annotations

import math
import random
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpverify import __version__
from dpverify.auditing import BoundsQuestion, ErrorShare, Label, LawQuestion, PrivacyQuestion
from dpverify.auditing.contract import recorded
from dpverify.auditing.subjects import data_size
from dpverify.errors import InvalidArgumentError
from dpverify.grouping import grouped
from dpverify.ledger.audits import AuditEvidence, SampledEvidence
from dpverify.ledger.besides.kernels import KernelAnswer
from dpverify.ledger.document import ErrorBudget, Ledger
from dpverify.ledger.evidence import ExpectationEvidence, PrivacyEvidence, SamplingEvidence
from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import Variant, Verdict
from dpverify.running import Executor, Progress
from dpverify.running.executors import one_blas_thread
from dpverify.statements.plans import Audit, Plan, Profile
from dpverify.verification.audits import AuditSettings, carry_out, reproduction
from dpverify.verification.job import VerificationSettings
from dpverify.versions import library_versions


class Status(StrEnum):
    """What came of one row."""

    CONFIRMED = "confirmed"
    """By the checker; of an audit, worked out again and the same in every field."""
    UNCONFIRMED = "unconfirmed"
    """As the ledger says: the checker does not see it; the provers said the same again."""
    UNDECIDED = "undecided"
    """As the ledger says; the provers said the same again."""
    PLANNED = "planned"
    """An audit of the source's plan, with its share, seed and sizes; what was drawn was not drawn again."""
    REFUSED = "refused"
    """It contradicts its source, its certificate or the checker."""
    MISSING = "missing"
    """The source has it, the ledger does not."""


@dataclass(frozen=True)
class RowCheck:
    """One row, and what is wrong with it.

    `obligation` and `variant` are those of a proof. For a statement of the catalog, an audit (then `statement` is its
    plan) and the ledger's own fields they are empty.
    """

    statement: str
    status: Status
    says: str
    obligation: str = ""
    variant: Variant | None = None
    kernel: KernelAnswer | None = None
    """What a proof assistant's kernel says; None where it was not asked."""

    def line(self) -> str:
        """The row in one line."""
        row = f"/{self.obligation} ({self.variant})" if self.obligation else ""
        return f"{self.status}: {self.statement}{row}: {self.says}"


class RowRefusedError(Exception):
    """What is wrong with a row, in a sentence."""


def short(value: object) -> str:
    """A value as a sentence quotes it."""
    plain = str(value) if isinstance(value, StrEnum) else value
    said = str(dict(value)) if isinstance(value, Mapping) else repr(plain)
    return said if len(said) <= 120 else said[:117] + "..."


def compare(entry: Record, expected: Mapping[str, Any], by: str) -> None:
    """Refuse an entry one of whose fields is not what it should be; bit by bit, and NaN is itself."""
    for name, value in expected.items():
        what = name.replace("_", " ")
        if not hasattr(entry, name):
            raise RowRefusedError(f"it has no {what}, by {by} it is {short(value)}")
        shown = getattr(entry, name)
        if shown != value and repr(shown) != repr(value):
            raise RowRefusedError(f"its {what} is {short(shown)}, by {by} it is {short(value)}")


# ------------------------------------------------------------------------------------------ all audits


UNCOMPARED = {"seconds", "reuse"}
"""Fields of an audit that differ from run to run."""
BUDGET = "error budget"
HEAD = "the ledger"


@dataclass(frozen=True)
class Rerun:
    """How many of the audits that draw are repeated, and the seed that picks them: each as likely as any other."""

    count: int = 0
    seed: int = 0

    def among(self, names: Sequence[str]) -> frozenset[str]:
        """The audits that are repeated."""
        return frozenset(random.Random(self.seed).sample(sorted(names), min(self.count, len(names))))


NO_RERUN = Rerun()


def settings_of(ledger: Ledger) -> VerificationSettings:
    """What a ledger's command line asks for; what is none of `dpverify verify` is refused."""
    allowed = "a command line of `dpverify verify`, with what it was given"
    try:
        words = shlex.split(ledger.command)
    except ValueError as error:
        raise InvalidArgumentError("command", ledger.command, allowed) from error
    if words[:2] != ["dpverify", "verify"] or len(words) % 2:
        raise InvalidArgumentError("command", ledger.command, allowed)
    given = grouped(zip(words[2::2], words[3::2], strict=True))
    several = {name: tuple(given.pop(name, ())) for name in ("--paper", "--only")}
    one = {name: values[-1] for name, values in given.items() if len(values) == 1}
    if len(one) < len(given) or not set(one) <= {"--profile", "--seed", "--failure-probability", "--kernel"}:
        raise InvalidArgumentError("command", ledger.command, allowed)
    try:
        seed = int(one.get("--seed", "0"))
        failure_probability = float(one.get("--failure-probability", "1e-3"))
    except ValueError as error:
        raise InvalidArgumentError("command", ledger.command, allowed) from error
    return VerificationSettings(
        papers=several["--paper"],
        only=several["--only"],
        profile=one.get("--profile", "quick"),
        seed=seed,
        failure_probability=failure_probability,
    )


def differences(ledger: Ledger) -> tuple[str, ...]:
    """In sentences, how the program and the libraries differ from those that the ledger names."""
    said = []
    if ledger.program_version != __version__:
        said.append(
            f"It was written by dpverify {ledger.program_version}, and this is {__version__}: what is refused may be "
            "what has changed since."
        )
    here = library_versions()
    other = [
        f"{name} {ledger.versions[name]} (here {here.get(name, 'none')})"
        for name in ledger.versions
        if ledger.versions[name] != here.get(name)
    ]
    if other:
        said.append(f"It was made with {', '.join(other)}: numbers may differ in their last bits.")
    unsaid = [name for name in here if name not in ledger.versions]
    if unsaid:
        said.append(f"It does not say with which version of {', '.join(unsaid)} it was made.")
    return tuple(said)


def audit_names(ledger: Ledger) -> frozenset[str]:
    """The plans of the audits that a ledger's command line asks for; none if it is no valid one."""
    try:
        return frozenset(plan.name for plan in settings_of(ledger).plans())
    except InvalidArgumentError:
        return frozenset()


def audit_rows(
    ledger: Ledger, *, rerun: Rerun, only: tuple[str, ...] = (), progress: Progress | None = None
) -> Iterator[RowCheck]:
    """Each audit of the source's plans, each one too many, and the error budget.

    With `only`, audits of these statements, algorithms or plans, and nothing else.
    """
    try:
        settings = settings_of(ledger)
    except InvalidArgumentError as error:
        yield RowCheck(HEAD, Status.REFUSED, str(error))
        return
    plans = settings.plans()
    shares = settings.shares(plans)
    around = AuditSettings(Profile(settings.profile), settings.seed, Executor())
    found: dict[str, list[AuditEvidence]] = {plan.name: [] for plan in plans}
    by_command = {reproduction(plan, around, shares.get(plan.name, 0.0)): plan.name for plan in plans}
    strange: list[AuditEvidence] = []
    for entry in ledger.entries:
        if isinstance(entry, AuditEvidence):
            name = by_command.get(entry.reproduce)
            (strange if name is None else found[name]).append(entry)
    chosen = [plan for plan in plans if not only or {plan.name, plan.subject} & set(only)]
    again = rerun.among([plan.name for plan in chosen if plan.auditor.spends])
    for plan in plans:
        if plan in chosen:
            yield _of_plan(plan, found[plan.name], around, shares.get(plan.name, 0.0), plan.name in again)
        if progress is not None:
            progress.advance(1)
    if only:
        return
    for entry in strange:
        says = (
            f"no plan of this command line has it: {short(entry.title)}, repeated by {short(entry.reproduce)}"
        )
        yield RowCheck(entry.subject or HEAD, Status.REFUSED, says)
    for name, value in (("seed", settings.seed), ("profile", settings.profile)):
        if getattr(ledger, name) != value:
            says = f"its {name} is {short(getattr(ledger, name))}, by its command line it is {short(value)}"
            yield RowCheck(HEAD, Status.REFUSED, says)
    yield from _of_budget(ledger.budget, settings, shares, found)


# ------------------------------------------------------------------------------------------- one audit


def _of_plan(
    plan: Plan, entries: list[AuditEvidence], around: AuditSettings, share: float, again: bool
) -> RowCheck:
    if not entries:
        return RowCheck(plan.name, Status.MISSING, "the source plans this audit, the ledger has none")
    try:
        with one_blas_thread:
            status, says = _held(plan, entries, around, share, again)
    except RowRefusedError as refusal:
        status, says = Status.REFUSED, str(refusal)
    return RowCheck(plan.name, status, says)


def _held(
    plan: Plan, entries: list[AuditEvidence], around: AuditSettings, share: float, again: bool
) -> tuple[Status, str]:
    if again or not plan.auditor.spends:
        found = carry_out(plan, around, share)
        _counted(entries, len(found))
        for entry, fresh in zip(entries, found, strict=True):
            compare(entry, _fields(fresh), "worked out again")
        return Status.CONFIRMED, "worked out again, the same in every field"
    audit = plan.build(around.profile)
    _counted(entries, 1 + len(audit.then))
    first, *rest = entries
    label = Label(plan.subject, plan.title, first.reproduce, around.seed)
    expected: dict[str, Any] = {
        "subject": plan.subject,
        "title": plan.title,
        "size": data_size(audit.subject),
        "seed": around.seed,
        "failure_probability": share,
    }
    compare(first, expected, "its plan")
    _as_asked(first, audit, label)
    nothing = ErrorShare.nothing(name=plan.name)
    for entry, (auditor, question) in zip(rest, audit.then, strict=True):
        compare(entry, _fields(auditor.audit(question.headed(label), first, nothing)), "what was measured")
    return Status.PLANNED, "as its plan says; what it drew was not drawn again"


def _counted(entries: list[AuditEvidence], count: int) -> None:
    if len(entries) != count:
        raise RowRefusedError(f"it has {len(entries)} entries, by its plan it has {count}")


def _fields(entry: AuditEvidence) -> dict[str, Any]:
    return {name: value for name, value in entry if name not in UNCOMPARED}


def _as_asked(entry: AuditEvidence, audit: Audit, label: Label) -> None:
    """Hold what an entry says of its question against the question, and its verdict against its own numbers."""
    match audit.question.headed(label), entry:
        case PrivacyQuestion() as question, PrivacyEvidence():
            _hold_to_privacy(entry, question)
        case BoundsQuestion() as question, ExpectationEvidence():
            _hold_to_bounds(entry, question)
        case LawQuestion() as question, SamplingEvidence():
            _hold_to_law(entry, question)
        case (PrivacyQuestion() | BoundsQuestion() | LawQuestion()) as question, _:
            what = _ASKED[type(question)]
            raise RowRefusedError(f"it is no audit of {what}, by its plan it is one")


_ASKED = {PrivacyQuestion: "privacy", BoundsQuestion: "an expectation", LawQuestion: "a sampler"}


def _hold_to_privacy(entry: PrivacyEvidence, question: PrivacyQuestion) -> None:
    claims = question.epsilons(entry.delta, None)
    expected = {**question.fields(), "runs": question.runs, "adjacency": question.relation}
    expected |= {name: claims[name] for name in ("epsilon_claimed", "epsilon_proved")}
    compare(entry, expected | ({} if question.delta is None else {"delta": question.delta}), "its plan")
    _refuse_unless_violated(entry, not entry.epsilon_lower <= claims["epsilon_claimed"])


def _hold_to_bounds(entry: ExpectationEvidence, question: BoundsQuestion) -> None:
    cases = [bound for bound in question.bounds if bound.claim == entry.claim and bound.data == entry.data]
    if not cases:
        raise RowRefusedError(f"its claim {short(entry.claim)} on {short(entry.data)} is none of its plan's")
    bound = next((b for b in cases if b.bound == entry.bound), cases[0])
    compare(entry, {**recorded(bound.origin), "bound": bound.bound, "curve_over": question.over}, "its plan")
    if not 0 < entry.runs <= bound.runs:
        raise RowRefusedError(f"its runs are {entry.runs}, by its plan at most {bound.runs}")
    points = [(b.size, b.bound) for b in question.bounds if question.over]
    if [(x, b) for x, _, _, b in entry.curve] != points:
        raise RowRefusedError("the points of its curve are not those of its plan")
    low, high = entry.measured.lower, entry.measured.upper
    beyond = not (low <= high and (high >= bound.bound if bound.at_least else low <= bound.bound))
    _refuse_unless_violated(entry, beyond and math.isfinite(bound.bound))


def _hold_to_law(entry: SamplingEvidence, question: LawQuestion) -> None:
    asked = {name: getattr(question, name) for name in ("data", "claim", "bound", "distance", "runs")}
    compare(entry, {**asked, **recorded(question.origin), "statistic": question.statistic_name}, "its plan")
    beyond = not entry.measured.lower <= entry.bound and entry.distance != "multiplicative"
    _refuse_unless_violated(entry, beyond)


def _refuse_unless_violated(entry: AuditEvidence, beyond: bool) -> None:
    """Refuse what no draw says; what is measured as NaN counts as beyond."""
    if entry.verdict not in (Verdict.SUPPORTED, Verdict.VIOLATED, Verdict.UNDECIDED):
        raise RowRefusedError(f"it is {entry.verdict}, which no draw shows")
    if (entry.gap is None) == (entry.verdict is Verdict.UNDECIDED):
        raise RowRefusedError(f"it is {entry.verdict}, and its gap is {short(entry.gap)}")
    if beyond and entry.verdict is not Verdict.VIOLATED:
        raise RowRefusedError(f"it is {entry.verdict}, and what it measured lies beyond its claim")


# ------------------------------------------------------------------------------------------- the budget


def _of_budget(
    budget: ErrorBudget,
    settings: VerificationSettings,
    shares: Mapping[str, float],
    found: Mapping[str, list[AuditEvidence]],
) -> Iterator[RowCheck]:
    """The failure probability of the whole, its shares, and what each audit says that it spent."""

    def refused(says: str, name: str = BUDGET) -> RowCheck:
        return RowCheck(name, Status.REFUSED, says)

    if budget.failure_probability != settings.failure_probability:
        whole = settings.failure_probability
        yield refused(f"it is {budget.failure_probability!r} in all, by the command line it is {whole!r}")
    for name in (*shares, *(name for name in budget.spent if name not in shares)):
        shown, right = budget.spent.get(name), shares.get(name)
        if shown != right:
            by = "nothing" if right is None else repr(right)
            yield refused(f"its share of the error budget is {short(shown)}, by its plan it is {by}", name)
    told = 0
    for name, share in shares.items():
        parts = [
            part for entry in found[name] if isinstance(entry, SampledEvidence) for part in entry.spent()
        ]
        if not found[name]:
            continue
        granted = ErrorShare(share, name=name)
        try:
            granted.settle(parts)
        except InvalidArgumentError as error:
            yield refused(f"what it spent does not add up: {error}", name)
            continue
        below = [p if p.path == (name,) else p.below(name) for p in granted.spent()]
        shown_parts = [p for p in budget.shares if p.path[0] == name]
        told += len(shown_parts)
        if shown_parts != below:
            yield refused("what the error budget says that it spent is not what its entry says", name)
    if told < len(budget.shares):
        extra = next((": ".join(p.path) for p in budget.shares if p.path[0] not in found), "an audit twice")
        yield refused(f"it has shares of no audit of this command line: {short(extra)}")
