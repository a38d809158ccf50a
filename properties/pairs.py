"""A claim about one pair of data sets, audited in the process of a test: what was asked, and what was found."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify import checks
from dpverify.auditing import (
    MINIMUM_RUNS,
    Direction,
    Encoder,
    ErrorShare,
    GivenSamples,
    Label,
    PrivacyAudit,
    PrivacyQuestion,
    audit_privacy,
)
from dpverify.auditing.events import NameEvent
from dpverify.auditing.outputs.samples import check_as_many
from dpverify.auditing.pairs import entry
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.notebooks import html_table
from dpverify.privacy import Adjacency, Guarantee, ProfileDP, StatedGuarantee, parse_claim
from dpverify.privacy.adjacency import checked_adjacency
from dpverify.problems.neighbors import check_neighbors
from dpverify.quoting import quoted
from dpverify.running import Executor, FunctionMechanism, Limits, Mechanism, Progress, repeats, run
from dpverify.running.subjects import texts
from dpverify.running.subjects.forked_sessions import ForkedSession, Works, one_truth_value
from dpverify.running.subjects.user_mechanisms import plain_array

_BLOCK = 1000
"""Runs in a block: small, since the first one is run again."""
_SHOWN = 160
"""Characters of a data set in a message."""


@dataclass(frozen=True)
class AuditedPair:
    """What an audit found on one pair of data sets, with what it was asked.

    Attributes:
        audit: verdict and bounds, nats; its reason names parts of outputs.
        claim: the guarantee that was asked about.
        adjacency: of the data sets.
        index: the record that differs, from 1, for adjacency `index`.
        left: records, one along the first axis; None where outputs were given.
        right: of its neighbor.
        repeats: whether a block that was run again had the same bits; None where nothing was run.
        outputs: what they were, in words.
        event: on which a violation rests, in words; empty if there is none.

    Examples:
        >>> from dpverify.properties import audit_pair
        >>> def release(data, rng, runs):
        ...     return data.sum() + rng.laplace(size=runs)
        >>> found = audit_pair(release, [[0.0]], [[1.0]], "eps=0.5", runs=2000)
        >>> found.audit.verdict.value, found.outputs
        ('violated', 'a number')
    """

    audit: PrivacyAudit
    claim: Guarantee
    adjacency: Adjacency
    index: int | None
    left: NDArray[Any] | None
    right: NDArray[Any] | None
    repeats: bool | None
    outputs: str
    event: str

    def lines(self) -> list[str]:
        """The verdict, both data sets, event, interval, bound, seed and failure probability, a line each."""
        audit = self.audit
        found = [
            f"{self.claim} is {audit.verdict} ({self._where()}). {audit.reason.rstrip('.')}.",
            f"claim: {self.claim}, adjacency {self.adjacency.value}"
            + (f", record {self.index}" if self.index else ""),
        ]
        for name, records in (("left", self.left), ("right", self.right)):
            found.append(f"{name}: {'not known, outputs were given' if records is None else shown(records)}")
        if self.left is not None and self.right is not None:
            found.append(f"difference: {_difference(self.left, self.right)}")
        if self.event:
            found.append(f"event: {self.event}")
        at = f"at delta {audit.delta:g}"
        claimed = f"; the claim is {self.claim.epsilon_at(audit.delta):.6g}" if self._ours else ""
        found += [
            f"interval: epsilon {at} is in [{audit.epsilon_lower:.6g}, inf){claimed}",
            f"seed: {audit.seed}",
            f"failure probability: {audit.failure_probability:.3g}; so often is a correct claim called violated",
        ]
        return found

    @property
    def _ours(self) -> bool:
        return isinstance(self.claim, Guarantee)

    def _where(self) -> str:
        where = f"seed {self.audit.seed}, {self.audit.runs} runs, adjacency {self.adjacency.value}"
        if self.repeats is False:
            where += "; cannot be reproduced from the seed, under which outputs do not repeat"
        return where

    def _repr_html_(self) -> str:
        """For notebooks: what a failing test prints."""
        first, *rest = self.lines()
        rows = [line.partition(": ") for line in rest]
        return html_table(first, [(name, text) for name, _, text in rows])

    def evidence(self, label: Label) -> PrivacyEvidence:
        """The same as a ledger keeps it, under a label."""
        known = self.left is not None and self.right is not None
        data = f"{shown(self.left)} and {shown(self.right)}" if known else "outputs as given"
        claim = self.claim if self._ours else ProfileDP(self.claim.privacy_profile)
        stated = StatedGuarantee(claim, self.adjacency, self.index)
        question = PrivacyQuestion(stated, data, self.audit.runs, label=label)
        found = entry(self.audit, question, GivenSamples((), ()))
        return found.model_copy(update={"outputs": self.outputs, "repeats": self.repeats})


def audit_pair(
    mechanism: Mechanism | Callable[..., Any],
    left: Any,
    right: Any,
    claim: Guarantee | str,
    *,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    index: int | None = None,
    runs: int = 20_000,
    seed: int = 0,
    failure_probability: float | ErrorShare = 1e-6,
    executor: Executor | str | None = None,
    allow_equal: bool = False,
    limits: Limits | None = None,
) -> AuditedPair:
    """Run a mechanism on two neighboring data sets and audit a claim about it, whatever comes of it.

    `check_private` does the same, and raises AssertionError where the claim is not supported.

    Args:
        mechanism: as `check_private` takes it.
        left: a data set, with one record along the first axis.
        right: its neighbor by `adjacency`, with the records in the same order.
        claim: a guarantee, or one in words such as "eps=1,delta=1e-5".
        adjacency: how the data sets differ.
        index: number of the record that differs, from 1; for adjacency `index` only.
        runs: on each data set.
        seed: of the runs and of the audit.
        failure_probability: with at most this probability is a correct claim called violated; a number, or a share,
            which the audit spends.
        executor: where the runs are computed, also as text such as "threads=2".
        allow_equal: outputs are meant to be equal; a claim about outputs that never vary is undecided otherwise.
        limits: of a guarded copy of this process, in which the mechanism runs, where the system can make one; None:
            it runs in this process.

    Raises:
        InvalidDataError: for data sets that are no neighbors or are equal, and for outputs that cannot be used.
        InvalidArgumentError: for other arguments.

    Examples:
        >>> from dpverify.properties import audit_pair
        >>> def release(data, rng, runs):
        ...     return data.sum() + rng.laplace(size=runs)
        >>> audit_pair(release, [[0.0]], [[1.0]], "eps=1").audit.verdict.value
        'supported'
    """
    guarantee, by = _claimed(claim), checked_adjacency(adjacency)
    runs = whole_number("runs", runs, at_least=MINIMUM_RUNS)
    _check_failure_probability(failure_probability)
    subject = as_mechanism(mechanism)
    sides = records_of("left", left), records_of("right", right)
    check_neighbors(*sides, by, index=index)
    computed: list[NDArray[Any]] = []

    def drawn(side: int, progress: Progress | None) -> NDArray[Any]:
        computed.append(
            run(
                subject, (left, right)[side], runs=runs, seed=(seed, side), executor=executor, block_size=_BLOCK,
                progress=progress,
            ).points
        )  # fmt: skip
        return computed[-1]

    def same_again() -> NDArray[Any]:
        pairs = enumerate(zip((left, right), computed, strict=True))
        return np.array(
            [
                all(
                    repeats(subject, data, points, seed=(seed, k), block_size=_BLOCK)
                    for k, (data, points) in pairs
                )
            ]
        )

    if limits is None or not hasattr(os, "fork"):
        samples, same = [drawn(side, None) for side in (0, 1)], bool(same_again()[0])
    else:
        works: Works = (lambda p: drawn(0, p), lambda p: drawn(1, p), lambda p: same_again())
        with ForkedSession(_name(mechanism), works, limits) as worker:
            samples, same = [worker.outputs(side) for side in (0, 1)], one_truth_value(worker.outputs(2))
    return replace(
        _audited(samples[0], samples[1], guarantee, by, index, failure_probability, seed, allow_equal),
        left=sides[0],
        right=sides[1],
        repeats=same,
    )


def audit_outputs(
    left: Any,
    right: Any,
    claim: Guarantee | str,
    *,
    adjacency: Adjacency | str = Adjacency.UNCHECKED,
    index: int | None = None,
    seed: int = 0,
    failure_probability: float | ErrorShare = 1e-6,
    allow_equal: bool = False,
) -> AuditedPair:
    """Audit a claim about outputs that were drawn before, one run along the first axis of each side.

    Whoever drew them vouches that the data sets are neighbors by `adjacency` and the runs independent. Where the
    outputs never vary, or one sample stands on both sides, the claim is undecided, unless `allow_equal` says that this
    is meant.

    Raises:
        InvalidDataError: for outputs that cannot be used.
        InvalidArgumentError: for other arguments.

    Examples:
        >>> import numpy as np
        >>> from dpverify.properties import audit_outputs
        >>> noise = np.random.default_rng(0).laplace(size=(2, 5000))
        >>> audit_outputs(noise[0], noise[1] + 1, "eps=0.5", adjacency="replace-one").audit.verdict.value
        'violated'
    """
    _check_failure_probability(failure_probability)
    by = checked_adjacency(adjacency)
    sides = []
    for name, outputs in (("left", left), ("right", right)):
        try:
            sides.append(texts.of_batch(outputs))
        except texts.FormlessError as error:
            raise InvalidDataError(f"What was drawn on the {name} data set {error}.") from error
    check_as_many(sides[0], sides[1], ("left", "right"))
    return _audited(sides[0], sides[1], _claimed(claim), by, index, failure_probability, seed, allow_equal)


def _name(mechanism: Any) -> str:
    return str(getattr(mechanism, "__qualname__", type(mechanism).__qualname__))


def _audited(
    left: NDArray[Any],
    right: NDArray[Any],
    claim: Guarantee,
    adjacency: Adjacency,
    index: int | None,
    failure_probability: float | ErrorShare,
    seed: int,
    allow_equal: bool,
) -> AuditedPair:
    encoder = Encoder()
    rows = encoder.rows(left, right)
    found = audit_privacy(
        *rows,
        claim,
        adjacency=adjacency,
        failure_probability=failure_probability,
        seed=seed,
        name_event=encoder.name_event,
    )
    event = _event(found, encoder.name_event)
    found = replace(found, **encoder.judged(found.verdict, found.reason, found.gap, allow_equal=allow_equal))
    return AuditedPair(found, claim, adjacency, index, None, None, None, encoder.says(), event)


def _event(audit: PrivacyAudit, name: NameEvent) -> str:
    """The event that contradicts the claim, and how often it was seen among the runs that judged it."""
    violation = audit.violation
    if violation is None:
        return ""
    event, judged, counts = violation.event, audit.runs_judged, None
    for band in audit.events:
        if band.event == event:
            counts = band.left_count, band.right_count
    for focus in audit.focuses:
        if focus.contradicts and focus.focus.event == event:
            first, second = focus.counts.both + focus.counts.first, focus.counts.both + focus.counts.second
            turned = focus.focus.direction is Direction.RIGHT_OVER_LEFT  # there, the complement is counted
            counts = (judged - second, judged - first) if turned else (first, second)
    said = name(event)
    if counts is None:
        return said
    return f"{said}, in {counts[0]} of {judged} judged runs on the left data set and in {counts[1]} on the right one"


def shown(records: Any) -> str:
    """A data set in one line, shortened: how large it is, and the first and last of its numbers."""
    array = np.asarray(records)
    text = np.array2string(array, threshold=8, edgeitems=2, separator=", ", precision=6)
    size = " x ".join(str(count) for count in array.shape)
    return quoted(f"{size} {text}" if array.size > 8 else text, _SHOWN)


def _difference(left: NDArray[Any], right: NDArray[Any]) -> str:
    """Where two neighbors first differ, records counted from 1."""
    common = min(len(left), len(right))
    same_form = left.shape[1:] == right.shape[1:]
    for index in range(common if same_form else 0):
        if not np.array_equal(left[index], right[index]):
            if len(left) != len(right):
                more, larger = ("left", left) if len(left) > len(right) else ("right", right)
                return f"record {index + 1} is on the {more} alone: {shown(larger[index])}"
            return (
                f"record {index + 1} is {shown(left[index])} on the left, {shown(right[index])} on the right"
            )
    if same_form and len(left) != len(right):
        return f"record {common + 1} is on the {'left' if len(left) > len(right) else 'right'} alone"
    return "of another form"


def _check_failure_probability(value: float | ErrorShare) -> None:
    if not isinstance(value, ErrorShare):
        checks.failure_probability("failure_probability", value)


def as_mechanism(mechanism: Any) -> Mechanism:
    """A mechanism as it is; a plain function, which takes `rng` by position, as one.

    Raises:
        InvalidArgumentError: for what cannot be called so.
    """
    if not callable(mechanism):
        raise InvalidArgumentError(
            "mechanism",
            mechanism,
            "a mechanism, or a function (data, rng) -> output or (data, rng, runs) -> outputs",
        )
    try:
        rng = inspect.signature(mechanism).parameters.get("rng")
    except (TypeError, ValueError):
        rng = None
    found: Mechanism = mechanism
    if rng is not None and rng.kind is rng.KEYWORD_ONLY:
        return found
    return FunctionMechanism(mechanism)


def _claimed(claim: Any) -> Guarantee:
    if isinstance(claim, str):
        return parse_claim(claim)
    if not callable(getattr(claim, "privacy_profile", None)):
        raise InvalidArgumentError("claim", claim, 'a guarantee, or one in words such as "eps=1,delta=1e-5"')
    guarantee: Guarantee = claim
    return guarantee


def records_of(name: str, data: Any) -> Any:
    """A data set as an array of records.

    Raises:
        InvalidDataError: for none.
    """
    if data is None:
        raise InvalidDataError(f"{name} is None; allowed: a data set with records along the first axis.")
    return plain_array(data)
