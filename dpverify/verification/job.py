"""The main job."""

from __future__ import annotations

import shlex
import time
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from dpverify import checks, extras
from dpverify.auditing import ErrorShare
from dpverify.checks import of_kind
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.document import Ledger
from dpverify.ledger.names import bare
from dpverify.proving.rocq.kernel import Kernel
from dpverify.running import Executor, Store
from dpverify.running.store import opened
from dpverify.statements.own_pages import PackagePaper
from dpverify.statements.paper import PaperFolder, papers
from dpverify.statements.plans import Plan, Profile
from dpverify.statements.selection import select
from dpverify.statements.theorems.names import FOLDERS, split_names
from dpverify.verification.audits import AuditSettings, ProgressMaker, carry_out_all
from dpverify.verification.catalog.entries import entries_of_run, results_of
from dpverify.verification.catalog.proofs import prove_statements
from dpverify.verification.display_counts import displays_of_ledger
from dpverify.verification.kept_thresholds import with_thresholds
from dpverify.verification.kernel_rows import with_marks
from dpverify.verification.refutations import contradictions
from dpverify.verification.theorems import theorem_rows

_LEAST_SHARE = 1e-12
"""Least failure probability of a plan: audits take 1e-15, and a plan may share its own over a thousand cases."""


@dataclass(frozen=True)
class VerificationSettings:
    """What to verify, and how much work to do.

    `papers` are paper keys, catalog ids or theorems and `only` names of audit plans, everything where they are empty;
    with `only`, nothing else is done. Plans of the full profile are left out of quick runs, unless they are named.
    Formulas are proved and audits carried out in `jobs` processes, one each; the runs of an audit are computed by
    `executor`. `failure_probability` is that of the whole run, shared out equally over the plans that are carried out,
    each of which must get at least 1e-12. `store` is the file (see `Store`) where finished proofs, audits and blocks of
    runs are kept and found again. A `kernel` is asked about every formula that the checker confirms.

    Raises:
        InvalidArgumentError: for an unknown paper, id, plan, profile or executor, or a failure probability that is
            too small to share out.
    """

    papers: tuple[str, ...] = ()
    profile: str = "quick"
    seed: int = 0
    failure_probability: float = 1e-3
    only: tuple[str, ...] = ()
    executor: str = "serial"
    jobs: int = 1
    store: str | None = None
    kernel: Kernel | None = None

    def __post_init__(self) -> None:
        if self.profile not in tuple(Profile):
            raise InvalidArgumentError("--profile", self.profile, " or ".join(Profile))
        Executor.parse(self.executor)
        names = {plan.name for plan in _plans(self.chosen())}
        for name in self.only:
            if name not in names:
                # a plan's name begins with its algorithm's id
                near = get_close_matches(name, sorted(names), n=5, cutoff=0.5)
                near = near or [n for n in sorted(names) if bare(n) in name][:5] or sorted(names)[:5]
                raise InvalidArgumentError(
                    "--only",
                    name,
                    f"an audit plan such as {', '.join(near)} (`dpverify explain ALGORITHM` names those of one)",
                )
        shares = max(1, sum(plan.auditor.spends for plan in self.plans()))
        checks.failure_probability(
            "--failure-probability",
            self.failure_probability,
            # a share that the budget has rounded must still be enough to repeat its audit
            at_least=shares * _LEAST_SHARE * (1 - 1e-9),
            reason=f", {_LEAST_SHARE:g} for each of {shares} audits",
        )

    def chosen(self) -> set[str]:
        """The catalog ids that are verified; theorems are none."""
        return {row.id for _, row in select(self.of_papers)} if self.of_papers or not self.papers else set()

    @property
    def of_papers(self) -> tuple[str, ...]:
        """The names in `papers` that are of no theorems."""
        return split_names(self.papers)[0]

    @property
    def theorems(self) -> tuple[str, ...]:
        """Names of the theorems that are derived: those in `papers`, or all that come with the program."""
        if self.only:
            return ()
        return split_names(self.papers)[1] if self.papers else tuple(FOLDERS)

    def plans(self) -> list[Plan]:
        """The audit plans that are carried out."""
        profile = Profile(self.profile)
        plans = _plans(self.chosen())
        return [plan for plan in plans if (plan.name in self.only if self.only else plan.within(profile))]

    def require_libraries(self, command: str, only: Collection[str] = ()) -> None:
        """Refuse audits of this repository's papers without what they need, before any work is done.

        Args:
            command: what needs it, for the message.
            only: the plans and algorithms whose audits are wanted; all where it is empty.

        Raises:
            MissingExtraError: if something is not installed.
        """
        ours = [paper for paper in papers().values() if isinstance(paper, PaperFolder)]
        known = {row.id for paper in ours for row in paper.catalog}
        plans = [plan for plan in self.plans() if not only or {plan.name, plan.subject} & set(only)]
        if any(plan.subject in known for plan in plans):
            extras.require(command, *extras.OF_AUDITS)

    def shares(self, plans: list[Plan]) -> dict[str, float]:
        """What each of these plans gets of the failure probability, if it spends any."""
        return {name: share.failure_probability for name, share in self._split(plans).items()}

    def _split(self, plans: list[Plan], budget: ErrorShare | None = None) -> dict[str, ErrorShare]:
        statistical = [plan.name for plan in plans if plan.auditor.spends]
        budget = budget or ErrorShare(self.failure_probability)
        return dict(zip(statistical, budget.split(*statistical), strict=True)) if statistical else {}

    def command(self) -> str:
        """The command line that repeats the run."""
        words = ["dpverify", "verify"]
        for name in self.papers:
            words += ["--paper", name]
        for name in self.only:
            words += ["--only", name]
        words += ["--profile", self.profile, "--seed", str(self.seed)]
        words += ["--failure-probability", repr(self.failure_probability)]
        words += ["--kernel", "rocq"] if self.kernel else []
        return shlex.join(words)


def _plans(ids: set[str]) -> list[Plan]:
    return [plan for paper in papers().values() for plan in paper.plans if plan.subject in ids]


def verify(
    settings: VerificationSettings, *, progress: ProgressMaker | None = None
) -> tuple[Ledger, dict[str, Json]]:
    """Prove every chosen statement, derive every chosen theorem and carry out every chosen audit plan.

    Returns the ledger, and the certificates by hash. `progress` makes a progress display from a title.

    Raises:
        InvalidDataError: where one display is both proved and refuted, which is a fault of its encoding or of a prover.
    """
    of_kind("settings", settings, VerificationSettings)
    begin = time.perf_counter()
    with opened(settings.store) as store:
        return _verify(settings, progress or (lambda _title: None), store, begin)


def _verify(
    settings: VerificationSettings, watch: ProgressMaker, store: Store | None, begin: float
) -> tuple[Ledger, dict[str, Json]]:
    chosen = settings.chosen()
    for paper in papers().values():
        if isinstance(paper, PackagePaper) and any(row.id in chosen for row in paper.catalog):
            paper.whole()
    statements = [s for paper in papers().values() for s in paper.statements if s.id in chosen]
    plans = settings.plans()
    records = []
    if not settings.only:
        records = prove_statements(statements, workers=settings.jobs, progress=watch("proving"), store=store)
    if settings.kernel is not None:
        records = with_marks(settings.kernel, statements, records, watch("asking the kernel"))
    records, ends = with_thresholds(records)
    for row, why in contradictions(record.evidence for record in records):
        name = f"{row.statement}/{row.obligation} ({row.variant})"
        raise InvalidDataError(f"No ledger is written: {name} cannot be what was found, since {why}.")
    theorems = theorem_rows(settings.theorems, workers=settings.jobs, progress=watch("deriving"), store=store)
    budget = ErrorShare(settings.failure_probability)
    shares = settings._split(plans, budget)
    executor = Executor.parse(settings.executor)
    granted = [
        (plan, shares[plan.name].failure_probability if plan.name in shares else 0.0) for plan in plans
    ]
    around = AuditSettings(Profile(settings.profile), settings.seed, executor, store=store)
    found = list(carry_out_all(granted, around, jobs=settings.jobs, watch=watch))
    for plan, made in zip(plans, found, strict=True):
        if plan.auditor.spends:
            shares[plan.name].settle([part for entry in made for part in entry.spent()])
    audits = [entry for made in found for entry in made]
    entries = entries_of_run(records, settings.of_papers) if chosen else ()
    ledger = Ledger.of_run(
        settings.command(),
        seed=settings.seed,
        profile=settings.profile,
        statements=entries,
        results=results_of(entries, [record.evidence for record in records]),
        entries=(*(record.evidence for record in records), *audits),
        displays=displays_of_ledger(record.evidence for record in records),
        budget=budget.record(),
        seconds=round(time.perf_counter() - begin, 1),
        reuse=None if store is None else store.reuse(),
        theorems=tuple(row.found for row in theorems),
    )
    certificates = {
        record.evidence.certificate: record.certificate
        for record in records
        if record.evidence.certificate is not None
    } | ends
    for theorem in theorems:
        certificates |= theorem.certificates
    return ledger, certificates
