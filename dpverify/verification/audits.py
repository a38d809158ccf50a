"""Carrying out declared audits: build question and subject, and let the plan's auditor answer."""

from __future__ import annotations

import shlex
import time
import zlib
from dataclasses import dataclass

from dpverify.auditing import ErrorShare, Label
from dpverify.auditing.subjects import Runner, data_size
from dpverify.ledger.audits import AuditEvidence
from dpverify.running import Executor, Progress, Store
from dpverify.running.executors import one_blas_thread
from dpverify.statements.plans import Plan, Profile


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
