"""The audits of a run: each plan's auditor answers, one after another here or several at once in other processes."""

from __future__ import annotations

import functools
import json
import os
import shlex
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from dpverify.auditing import ErrorShare, Label
from dpverify.auditing.subjects import Runner, data_size
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.evidence import AnyAudit
from dpverify.ledger.records import Reuse
from dpverify.running import Executor, Progress, Store, fingerprint
from dpverify.running.executors import one_blas_thread
from dpverify.running.program import program_hash
from dpverify.running.sources import SourceWatch, unchanged
from dpverify.running.store import opened
from dpverify.statements.paper import papers
from dpverify.statements.plans import Plan, Profile
from dpverify.versions import library_versions

ProgressMaker = Callable[[str], Progress | None]
"""Makes a progress display from a title."""

_EVIDENCE: TypeAdapter[list[AuditEvidence]] = TypeAdapter(list[AnyAudit])


@dataclass(frozen=True)
class AuditSettings:
    """What all audits of one run share."""

    profile: Profile
    seed: int
    executor: Executor
    progress: Progress | None = None
    store: Store | None = None
    """Where finished work is kept: an interrupted run picks up there, with the same bits."""

    def runner(self, plan: Plan) -> Runner:
        """Streams of its own for every plan, whatever else is run."""
        seed = (self.seed, zlib.crc32(plan.name.encode()))
        return Runner(seed, self.executor, self.profile.faults, self.progress, self.store)


def carry_out(plan: Plan, settings: AuditSettings, error: ErrorShare | float) -> list[AuditEvidence]:
    """Carry out one plan, which may be wrong with at most the probability of its share, and spends it.

    On one thread of BLAS, so that no machine's size gets into the bits.
    Plans whose auditor spends nothing (counts, constants) need none.
    """
    begin = time.perf_counter()
    auditor = plan.auditor
    share = ErrorShare.of(error, name=plan.name) if auditor.spends else ErrorShare.nothing(name=plan.name)
    label = Label(
        plan.subject, plan.title, reproduction(plan, settings, share.failure_probability), settings.seed
    )
    nothing = ErrorShare.nothing(name=plan.name)
    with one_blas_thread:
        audit = plan.build(settings.profile)
        found = auditor.audit(audit.question.headed(label), audit.subject.on(settings.runner(plan)), share)
        more = [then.audit(question.headed(label), found, nothing) for then, question in audit.then]
    return [found.timed(time.perf_counter() - begin).sized(data_size(audit.subject)), *more]


def reproduction(plan: Plan, settings: AuditSettings, failure_probability: float) -> str:
    """The command line that repeats one plan with its share of the failure probability."""
    words = ["dpverify", "verify", "--only", plan.name]
    words += ["--profile", settings.profile, "--seed", str(settings.seed)]
    if plan.auditor.spends:
        words += ["--failure-probability", repr(failure_probability)]
    return shlex.join(words)


# ------------------------------------------------------------------------------------------- the store


def carry_out_or_take(plan: Plan, settings: AuditSettings, failure_probability: float) -> list[AuditEvidence]:
    """What `carry_out` finds; taken from the store where it is there already, and kept there.

    The executor is no part of the key: results do not depend on it. With a store, a plan from elsewhere that has parts
    without readable content is refused.
    """
    store = settings.store
    if store is None:
        return carry_out(plan, settings, failure_probability)
    key = json.dumps(
        {
            "plan": fingerprint(plan),
            "profile": settings.profile,
            "seed": str(settings.seed),
            "failure probability": failure_probability.hex(),
            "program": program_hash(),
            "versions": library_versions(),
        },
        sort_keys=True,
    )
    folder = os.getcwd()
    kept = store.get("audit", key)
    content = None if kept is None else json.loads(kept)
    taken = content is not None and unchanged(content["sources"], folder)
    store.count("audit", taken=taken)
    if content is not None and taken:
        return _EVIDENCE.validate_python(content["entries"])
    watch = SourceWatch(folder)
    found = carry_out(plan, settings, failure_probability)
    sources = watch.files()
    if sources is None:
        store.tally("not_kept")
    else:
        entries = _EVIDENCE.dump_python(found)
        store.put("audit", key, json.dumps({"sources": sources, "entries": entries}).encode())
    return found


# ------------------------------------------------------------------------------------------- side by side


def carry_out_all(
    audits: Sequence[tuple[Plan, float]], settings: AuditSettings, *, jobs: int, watch: ProgressMaker
) -> Iterator[list[AuditEvidence]]:
    """What each plan finds with its share of the failure probability, in order, whatever the number of processes.

    More than one process only where the runs of an audit are not spread over processes or a cluster themselves.
    Audits that go to another process go by name, and open the store there. `watch` makes a display of the audits that
    are done, or for each audit that is carried out here one of its runs.
    """
    if jobs == 1 or len(audits) < 2 or settings.executor.kind in ("processes", "dask"):
        for plan, failure_probability in audits:
            around = replace(settings, progress=watch(plan.name))
            yield carry_out_or_take(plan, around, failure_probability)
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
            for entries, reuse in workers.map(there, [(plan.name, level) for plan, level in audits]):
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
