"""Claims of one test: audited with parts of its failure probability, kept for the reports, said where they fail."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

import pytest

from dpverify.auditing import Auditor, CanaryScores, ErrorShare, Request, audit
from dpverify.auditing.requests.audits import failure_lines
from dpverify.auditing.requests.options import OPTIONS
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Guarantee
from dpverify.properties import check_audit
from dpverify.pytest_plugin.items import FOUND, MARKER, PLACE, SAID, asks, name_of
from dpverify.pytest_plugin.options import Options
from dpverify.quoting import command_line

SECONDS = 3600.0
"""Limit of the process in which a test's mechanism runs, for a block of 1000 runs."""
ALLOWED = ("allow_undecided", *(name for name in OPTIONS if name not in (
    "function", "left", "right", "scores", "members", "claim", "seed", "failure_probability"
)))  # fmt: skip
"""What a claim may say of itself: the rest is its subject, or the session's."""

QuestionT = TypeVar("QuestionT")
SubjectT = TypeVar("SubjectT")
EvidenceT = TypeVar("EvidenceT", bound=AuditEvidence)


class Claims:
    """States claims about mechanisms, or outputs, within a test; what the fixture `privacy_claim` is."""

    def __init__(self, options: Options, item: pytest.Item, share: ErrorShare, name: str) -> None:
        self._options, self._item = options, item
        self._share, self._name = share, name
        self._several = asks(item)
        self._number = 0
        item.stash[FOUND] = []

    @property
    def seed(self) -> int:
        """The session's."""
        return self._options.seed

    def __call__(
        self, subject: Any, claim: Guarantee | str, *, allow_undecided: bool = False, **options: Any
    ) -> PrivacyEvidence:
        """Audit a claim, and fail the test if it is violated or undecided.

        Args:
            subject: a mechanism or function, as `dpverify.properties.check_private` takes it, with `data` and
                `neighbor`; or a pair of outputs that were drawn on two neighboring data sets, without; or the
                `dpverify.auditing.CanaryScores` of one training run.
            claim: a guarantee, or one in words such as "eps=1,delta=1e-5".
            allow_undecided: whether the test passes though nothing could be decided.
            options: other fields of a `dpverify.auditing.Request` but seed and failure probability, which are the
                session's. So many `runs` are made with profile `ci`; a tenth with `dev`, ten times as many with
                `nightly`.

        Raises:
            AssertionError: with the verdict, the data sets, the bounds and the line that does it again.
            InvalidDataError, InvalidArgumentError: for what cannot be used.
        """
        __tracebackhide__ = True
        begin = time.perf_counter()
        share = self._next()
        request, fewer = _clean(lambda: self._request(subject, claim, share, options))
        found = _clean(lambda: audit(request))
        label = {
            "subject": name_of(self._item),
            "title": f"{self._item.name} against {found.claim}",
            "reproduce": self._again(),
        }
        found = found.model_copy(update=label).timed(time.perf_counter() - begin)
        self._keep(
            share, found, found.claim, found.seed, epsilon_lower=found.epsilon_lower, delta=found.delta
        )
        undecided = found.verdict is Verdict.UNDECIDED and not allow_undecided
        if undecided and fewer:
            raise pytest.skip.Exception(
                f"{found.reason}: so few runs, as profile dev makes, decide nothing", _use_item_location=True
            )
        if undecided or found.verdict is Verdict.VIOLATED:
            lines = [*failure_lines(request, found), self._budget(share), f"replay: {found.reproduce}"]
            raise AssertionError("\n".join(lines))
        return found

    def _request(
        self, subject: Any, claim: Guarantee | str, share: ErrorShare, options: dict[str, Any]
    ) -> tuple[Request, bool]:
        """What is asked, and whether with fewer runs than the claim asks for."""
        __tracebackhide__ = True
        if unknown := set(options) - set(ALLOWED):
            raise InvalidArgumentError(MARKER, sorted(unknown), f"{', '.join(ALLOWED)} beside the claim")
        session: dict[str, Any] = {"claim": claim, "seed": self._seed(), "failure_probability": share}
        if isinstance(subject, CanaryScores):
            return Request(scores=subject.scores, members=subject.members, **options, **session), False
        if not callable(subject) and not isinstance(subject, str):
            left, right = _outputs(subject)
            return Request(left=left, right=right, **options, **session), False
        request = Request(subject, **{"time_limit": SECONDS, **options}, **session)
        many = self._options.scaled(request.most_runs, request.fewest_runs)
        return replace(request, runs=many), many < request.most_runs

    def audit(
        self,
        auditor: Auditor[QuestionT, SubjectT, EvidenceT],
        question: QuestionT,
        subject: SubjectT,
        *,
        allow_undecided: bool = False,
    ) -> EvidenceT:
        """Let any auditor answer its question with the next part of the failure probability.

        Raises:
            AssertionError: as `dpverify.properties.check_audit`.
        """
        __tracebackhide__ = True
        share = self._next()
        found: list[EvidenceT] = []

        class Listening:
            spends = auditor.spends

            def audit(self, question: QuestionT, subject: SubjectT, error: ErrorShare) -> EvidenceT:
                found.append(auditor.audit(question, subject, error))
                return found[-1]

        failed = ""
        try:
            _clean(
                lambda: check_audit(
                    Listening(), question, subject, failure_probability=share, allow_undecided=allow_undecided
                )
            )
        except AssertionError as error:
            failed = str(error)
        evidence = found[-1]
        claim = str(getattr(evidence, "claim", "") or evidence.title or type(question).__name__)
        self._keep(share, evidence, claim, int(getattr(evidence, "seed", self.seed)))
        if failed:
            raise AssertionError("\n".join([failed, self._budget(share), f"replay: {self._again()}"]))
        return evidence

    def failure_probability(self, why: str) -> float:
        """The next part of the failure probability, for a check that takes a number, such as `check_noise`."""
        __tracebackhide__ = True
        share = self._next()
        level = share.spend(why)
        self._keep(share, None, why, self._seed())
        return level

    def audit_returned(self, returned: Any) -> None:
        """Audit what a test with the marker returned; its failure shows no lines of code, since none of them failed."""
        __tracebackhide__ = True
        marker = self._item.get_closest_marker(MARKER)
        try:
            if marker is None or len(marker.args) != 1:
                given = () if marker is None else marker.args
                raise InvalidArgumentError(f"the marker {MARKER}", given, "one claim, and all else by name")
            self(returned, marker.args[0], **marker.kwargs)
        except (AssertionError, DpverifyError) as error:
            if _outside(error.__traceback__) is not None:
                raise
            self._item.stash[SAID] = str(error)
        else:
            return
        pytest.fail(self._item.stash[SAID], pytrace=False)

    # --------------------------------------------------------------------------------------- parts

    def _next(self) -> ErrorShare:
        """The part of the next claim: all of it for a test that can state only one."""
        __tracebackhide__ = True
        self._number += 1
        if not self._several:
            return self._share
        return _clean(lambda: self._share.next_part(f"claim {self._number}"))

    def _seed(self) -> int:
        """Of this claim: what a test asks next may depend on what it found, so claims share no randomness."""
        return self.seed + self._number - 1

    def _again(self) -> str:
        """The command line that does the same again: the test alone, with its own part for a whole session."""
        chosen = self._options
        return command_line(
            "pytest", name_of(self._item), f"--dpverify-seed={chosen.seed}", f"--dpverify-profile={chosen.profile}",
            f"--dpverify-failure-probability={self._share.failure_probability!r}",
        )  # fmt: skip

    def _budget(self, share: ErrorShare) -> str:
        whole = self._options.failure_probability
        return f"session: {share.failure_probability:.3g} of the session's failure probability {whole:g}"

    def _keep(
        self, share: ErrorShare, found: AuditEvidence | None, claim: str, seed: int, **numbers: float
    ) -> None:
        """For the ledger, and as properties for JUnit's reports."""
        verdict = "checked elsewhere" if found is None else str(found.verdict)
        level, (file, line, _) = share.failure_probability, self._item.location
        self._item.stash[FOUND].append(
            {
                "place": self._item.stash[PLACE],
                "number": self._number,
                "name": self._name,
                "file": file,
                "line": 1 + (line or 0),
                "verdict": verdict,
                "share": level,
                "of": self._share.failure_probability,
                "spent": [part.model_dump() for part in share.spent()],
                "evidence": None if found is None else found.model_dump(mode="json"),
            }
        )
        behind = f".{self._number}" if self._several else ""
        said = {"verdict": verdict, "claim": claim, "seed": seed, "failure_probability": level, **numbers}
        properties = ((f"dpverify.{name}{behind}", str(value)) for name, value in said.items())
        self._item.user_properties.extend(properties)


def _outputs(subject: Any) -> tuple[Any, Any]:
    __tracebackhide__ = True
    if inspect.iscoroutine(subject):
        subject.close()
    if not isinstance(subject, tuple | list) or len(subject) != 2:
        raise InvalidArgumentError(
            "what the claim is about",
            subject,
            "a mechanism (data, rng) -> output, a pair of outputs drawn on two neighboring data sets, or CanaryScores",
        )
    return subject[0], subject[1]


FoundT = TypeVar("FoundT")


def _clean(call: Callable[[], FoundT]) -> FoundT:
    """Call ours; where a user's function fails within, only its own frames are shown."""
    __tracebackhide__ = True
    try:
        return call()
    except DpverifyError as error:
        cause = error.__cause__
        theirs = None if cause is None else _outside(cause.__traceback__)
        if cause is not None and theirs is not None:
            raise cause.with_traceback(theirs) from None
        raise error.with_traceback(None) from None


def _outside(traceback: TracebackType | None) -> TracebackType | None:
    """The frames of a traceback that are not ours; None if there are none."""
    frames = []
    while traceback is not None:
        name = str(traceback.tb_frame.f_globals.get("__name__", ""))
        if name != "dpverify" and not name.startswith("dpverify."):
            frames.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for one in reversed(frames):
        kept = TracebackType(kept, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return kept
