"""The audits of one run, one after another here or several at once in processes of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.records import Reuse
from dpverify.running import Executor, Progress
from dpverify.running.store import opened
from dpverify.statements.paper import papers
from dpverify.statements.plans import Plan
from dpverify.verification.audits import AuditSettings
from dpverify.verification.stored_audits import carry_out_or_take

ProgressMaker = Callable[[str], Progress | None]
"""Makes a progress display from a title."""


@dataclass(frozen=True)
class GrantedAudit:
    """A plan with its share of the failure probability."""

    plan: Plan
    failure_probability: float


def carry_out_all(
    audits: Sequence[GrantedAudit], settings: AuditSettings, *, jobs: int, watch: ProgressMaker
) -> Iterator[list[AuditEvidence]]:
    """What each audit finds, in the order given, whatever the number of processes.

    More than one process only where the runs of an audit are not spread over processes or a cluster themselves.
    Audits that go to another process go by name, and open the store there. `watch` makes a display of the audits that
    are done, or for each audit that is carried out here one of its runs.
    """
    if jobs == 1 or len(audits) < 2 or settings.executor.kind in ("processes", "dask"):
        for audit in audits:
            around = replace(settings, progress=watch(audit.plan.name))
            yield carry_out_or_take(audit.plan, around, audit.failure_probability)
        return
    store, progress = settings.store, watch("auditing")
    there = functools.partial(
        _carried_out, replace(settings, progress=None, store=None), None if store is None else str(store.path)
    )
    if store is not None:
        store.flush()  # what was found here can be taken there
    if progress is not None:
        progress.start(len(audits))
    try:
        with Executor("processes", jobs).open() as workers:
            for entries, reuse in workers.map(there, [(a.plan.name, a.failure_probability) for a in audits]):
                if store is not None and reuse is not None:
                    store.include(reuse)
                if progress is not None:
                    progress.advance(1)
                yield entries
    finally:
        if progress is not None:
            progress.finish()


def _carried_out(
    settings: AuditSettings, store: str | None, audit: tuple[str, float]
) -> tuple[list[AuditEvidence], Reuse | None]:
    name, failure_probability = audit
    plan = next((plan for paper in papers().values() for plan in paper.plans if plan.name == name), None)
    if plan is None:  # the other process sees other papers
        raise InvalidArgumentError("plan", name, "a plan registered in this environment")
    with opened(store) as kept:
        entries = carry_out_or_take(plan, replace(settings, store=kept), failure_probability)
        return entries, None if kept is None else kept.reuse()
