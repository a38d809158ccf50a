"""Claims of one test: audited with parts of its failure probability, kept for the reports, said where they fail."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn, TypeVar

import pytest

from dpverify import checks
from dpverify.auditing import MINIMUM_RUNS, Auditor, ErrorShare, Label
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Adjacency, Guarantee
from dpverify.properties import AuditedPair, audit_outputs, audit_pair, check_audit
from dpverify.pytest_plugin.options import FIXTURE, MARKER
from dpverify.pytest_plugin.session import CLAIMS, FOUND, PLACE, SAID, Session, asks, name_of
from dpverify.quoting import command_line
from dpverify.running import Limits

LIMITS = Limits(seconds=3600.0)
"""Of the process in which a test's mechanism runs; the seconds are those of a block of 1000 runs."""

QuestionT = TypeVar("QuestionT")
SubjectT = TypeVar("SubjectT")
EvidenceT = TypeVar("EvidenceT", bound=AuditEvidence)

RUNS = 20_000
"""On each data set, unless a claim asks for another number."""


def claims_of(session: Session, item: pytest.Item) -> Claims:
    """The claims of one test, made at the first call; a test that was not counted fails."""
    __tracebackhide__ = True
    if PLACE not in item.stash:
        pytest.fail(
            f"The fixture {FIXTURE} is asked for while a test runs; allowed: a test that names it among its arguments "
            "or in usefixtures, so that its part of the failure probability is known before.",
            pytrace=False,
        )
    if CLAIMS not in item.stash:
        item.stash[CLAIMS] = Claims(session, item)
    found: Claims = item.stash[CLAIMS]
    return found


class Claims:
    """States claims about mechanisms, or outputs, within a test; what the fixture `privacy_claim` is."""

    def __init__(self, session: Session, item: pytest.Item) -> None:
        self._session, self._item = session, item
        self._place = item.stash[PLACE]
        self._share = session.share(self._place)
        self._several = asks(item)
        self._number = 0
        item.stash[FOUND] = []

    @property
    def seed(self) -> int:
        """The session's."""
        return self._session.options.seed

    def __call__(
        self,
        subject: Any,
        claim: Guarantee | str,
        *,
        left: Any = None,
        right: Any = None,
        adjacency: Adjacency | str | None = None,
        index: int | None = None,
        runs: int = RUNS,
        allow_undecided: bool = False,
        allow_equal: bool = False,
    ) -> PrivacyEvidence:
        """Audit a claim, and fail the test if it is violated or undecided.

        Args:
            subject: a mechanism or function, as `dpverify.properties.check_private` takes it, with `left` and `right`;
                or a pair of outputs that were drawn on two neighboring data sets, without.
            claim: a guarantee, or one in words such as "eps=1,delta=1e-5".
            left: a data set, with one record along the first axis.
            right: its neighbor by `adjacency`.
            adjacency: how the data sets differ; by default one record is replaced, and for outputs as given.
            index: number of the record that differs, from 1; for adjacency `index` only.
            runs: on each data set with profile `ci`; a tenth with `dev`, ten times as many with `nightly`.
            allow_undecided: whether the test passes though nothing could be decided.
            allow_equal: outputs are meant to be equal; a claim about outputs that never vary is undecided otherwise.

        Raises:
            AssertionError: with what `AuditedPair.lines` says, and the line that does it again.
            InvalidDataError, InvalidArgumentError: for what cannot be used.
        """
        __tracebackhide__ = True
        begin = time.perf_counter()
        asked = checks.whole_number("runs", runs, at_least=MINIMUM_RUNS)
        share = self._next()
        more: dict[str, Any] = {"seed": self._seed(), "failure_probability": share, "index": index}
        more["allow_equal"] = allow_equal
        if callable(subject):
            many = self._session.options.scaled(asked, MINIMUM_RUNS)
            by = Adjacency.REPLACE_ONE if adjacency is None else adjacency
            audited = _clean(
                lambda: audit_pair(
                    subject, left, right, claim, adjacency=by, runs=many, limits=LIMITS, **more
                )
            )
        else:
            sides = _outputs(subject, left, right)
            by = Adjacency.UNCHECKED if adjacency is None else adjacency
            audited = _clean(lambda: audit_outputs(*sides, claim, adjacency=by, **more))
            many = audited.audit.runs
        label = Label(
            name_of(self._item), f"{self._item.name} against {audited.claim}", self._again(), more["seed"]
        )
        found = audited.evidence(label).timed(time.perf_counter() - begin)
        self._keep(
            share, found, found.claim, found.seed, epsilon_lower=found.epsilon_lower, delta=found.delta
        )
        self._judge(audited, found, share, fewer=callable(subject) and many < asked, allow=allow_undecided)
        return found

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
            raise AssertionError("\n".join([failed, *self._budget(share), f"replay: {self._again()}"]))
        return evidence

    def failure_probability(self, why: str) -> float:
        """The next part of the failure probability, for a check that takes a number, such as `check_noise`."""
        __tracebackhide__ = True
        share = self._next()
        level = share.spend(why)
        self._keep(share, None, why, self._seed())
        return level

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
        options = self._session.options
        return command_line(
            "pytest", name_of(self._item), f"--dpverify-seed={options.seed}", f"--dpverify-profile={options.profile}",
            f"--dpverify-failure-probability={self._share.failure_probability!r}",
        )  # fmt: skip

    def _budget(self, share: ErrorShare) -> list[str]:
        whole = self._session.options.failure_probability
        return [f"session: {share.failure_probability:.3g} of the session's failure probability {whole:g}"]

    def _keep(
        self, share: ErrorShare, found: AuditEvidence | None, claim: str, seed: int, **numbers: float
    ) -> None:
        """For the ledger, and as properties for JUnit's reports."""
        verdict = "checked elsewhere" if found is None else str(found.verdict)
        level = share.failure_probability
        spent = [part.model_dump() for part in share.spent()]
        self._item.stash[FOUND].append(
            {
                "place": self._place,
                "number": self._number,
                "name": self._session.names[self._place],
                "file": self._item.location[0],
                "line": 1 + (self._item.location[1] or 0),
                "verdict": verdict,
                "share": level,
                "of": self._share.failure_probability,
                "spent": spent,
                "evidence": None if found is None else found.model_dump(mode="json"),
            }
        )
        behind = f".{self._number}" if self._several else ""
        said = {"verdict": verdict, "claim": claim, "seed": seed, "failure_probability": level, **numbers}
        self._item.user_properties += [
            (f"dpverify.{name}{behind}", str(value)) for name, value in said.items()
        ]

    def _judge(
        self, audited: AuditedPair, found: PrivacyEvidence, share: ErrorShare, *, fewer: bool, allow: bool
    ) -> None:
        __tracebackhide__ = True
        undecided = found.verdict is Verdict.UNDECIDED
        if found.verdict is not Verdict.VIOLATED and not (undecided and not allow):
            return
        if undecided and fewer:
            raise pytest.skip.Exception(
                f"{audited.audit.reason}: so few runs, as profile dev makes, decide nothing",
                _use_item_location=True,
            )
        raise AssertionError(
            "\n".join([*audited.lines(), *self._budget(share), f"replay: {found.reproduce}"])
        )


def audit_returned(claims: Claims, item: pytest.Item, returned: Any) -> None:
    """Audit what a test with the marker returned; its failure shows no lines of code, since none of them failed."""
    __tracebackhide__ = True
    try:
        (marker,) = list(item.iter_markers(MARKER))[:1]
        if len(marker.args) != 1:
            raise InvalidArgumentError(f"the marker {MARKER}", marker.args, "one claim, and all else by name")
        allowed = ("left", "right", "adjacency", "index", "runs", "allow_undecided", "allow_equal")
        if unknown := set(marker.kwargs) - set(allowed):
            raise InvalidArgumentError(
                f"the marker {MARKER}", sorted(unknown), f"{', '.join(allowed)} beside the claim"
            )
        claims(returned, marker.args[0], **marker.kwargs)
    except (AssertionError, DpverifyError) as error:
        if _outside(error.__traceback__) is not None:
            raise
        item.stash[SAID] = str(error)
    else:
        return
    pytest.fail(item.stash[SAID], pytrace=False)


def _outputs(subject: Any, left: Any, right: Any) -> tuple[Any, Any]:
    __tracebackhide__ = True
    if inspect.iscoroutine(subject):
        subject.close()
    if not isinstance(subject, tuple | list) or len(subject) != 2:
        raise InvalidArgumentError(
            "what the claim is about",
            subject,
            "a mechanism (data, rng) -> output, or a pair of outputs drawn on two neighboring data sets",
        )
    if left is not None or right is not None:
        raise InvalidArgumentError("left and right", (left, right), "none where outputs are given")
    return subject[0], subject[1]


FoundT = TypeVar("FoundT")


def _clean(call: Callable[[], FoundT]) -> FoundT:
    """Call ours; where a user's function fails within, only its own frames are shown."""
    __tracebackhide__ = True
    try:
        return call()
    except DpverifyError as error:
        _raise_outside(error)


def _raise_outside(error: DpverifyError) -> NoReturn:
    __tracebackhide__ = True
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
