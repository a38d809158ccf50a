"""The one audit: a request in, evidence out, and what a failing test prints of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from dpverify.auditing.batch import BatchAuditor
from dpverify.auditing.contract import Auditor, Label
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.outputs.encoding import Encoder
from dpverify.auditing.outputs.sample_files import read_samples
from dpverify.auditing.outputs.samples import check_as_many
from dpverify.auditing.pairs import GivenSamples, PairSubject, PrivacyQuestion
from dpverify.auditing.requests.options import RequestError
from dpverify.auditing.requests.request import FAILURE_PROBABILITY, Request
from dpverify.checks import function, of_kind
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.written_numbers import at_least
from dpverify.privacy.adjacency import Adjacency
from dpverify.privacy.stated import StatedGuarantee
from dpverify.running.progress import checked_progress

if TYPE_CHECKING:
    from dpverify.auditing.requests.data import Sides
    from dpverify.auditing.requests.drawing import Draws
    from dpverify.auditing.sequential import SequentialAuditor
    from dpverify.running import Progress, StatedStructure

NOT_REPEATED = (
    "cannot be reproduced from the seed: the outputs do not repeat under the same seed, so the function draws "
    "randomness from a source other than rng, or keeps state between calls"
)
"""Stands where the line that reproduces an audit would stand."""

Tell = Callable[[str], None]
_SETTLED = 100
"""Runs from which the time of a round says something about the time of the rest."""
_SILENCE = 10.0
"""Seconds after which a sequential audit says how far it is, if runs have not doubled before."""
PrivacyAuditor = Auditor[PrivacyQuestion, PairSubject, PrivacyEvidence]


def audit(
    request: Request, *, tell: Tell = lambda line: None, progress: Progress | None = None
) -> PrivacyEvidence:
    """Audit a claim and return the evidence, whatever the verdict.

    Outputs have any form that `dpverify.auditing.Encoder` reads. One block is run twice: if its bits differ, the
    evidence says that the seed does not reproduce it.

    Args:
        request: subject, data, claim and budget.
        tell: gets a line before the first run, and now and then until the end.
        progress: reports on the runs, if all are made at once.

    Raises `InvalidArgumentError` or `InvalidDataError` for a function, file, data set or output that cannot be used,
    for a function that exits, ends its process, fails or does not return within its limits, and for data sets that are
    no neighbors.

    Examples:
        >>> from dpverify.auditing.requests import Request, audit
        >>> def release(data, rng, runs):
        ...     return data.sum() + rng.laplace(size=runs)
        >>> found = audit(Request(release, [[0.0]], [[1.0]], "eps=0.5"))
        >>> found.verdict.value, found.outputs, found.runs < 20_000
        ('violated', 'a number', True)
    """
    begin = time.perf_counter()
    of_kind("request", request, Request)
    function("tell", tell)
    checked_progress(progress)
    request, share = _with_share(request)
    if request.of_scores:
        found = _of_one_run(request, share)
        return found.but(seconds=round(time.perf_counter() - begin, 3))
    searched = ""
    if request.search_neighbors is not None:
        from dpverify.auditing.requests.search import with_found_pair

        request, searched = with_found_pair(request, tell)
    with _asked(request, tell, progress) as asked:
        found = asked.auditor.audit(asked.question, asked.subject, share)
        more = asked.after(found)
    judged = asked.encoder.judged(found.verdict, found.reason, found.gap, allow_equal=request.allow_equal)
    judged["reason"] += searched
    seconds = round(time.perf_counter() - begin, 3)
    return found.model_copy(update={"outputs": asked.encoder.summary(), **judged, **more, "seconds": seconds})


def audit_samples(left: Any, right: Any, claim: Any, **options: Any) -> PrivacyEvidence:
    """Audit a claim about outputs that were drawn elsewhere: arrays with one run along the first axis, or files.

    You vouch that the data sets are neighbors (by `adjacency`, if given) and that the runs are independent.

    Args:
        left: outputs on one data set.
        right: equally many outputs on its neighbor.
        claim: a guarantee, or one in words such as "eps=1,delta=1e-5".
        options: other fields of a `Request`: delta, score, direction, low_bits, failure_probability, seed and so on.

    Raises `InvalidDataError` for outputs that cannot be used, and `InvalidArgumentError` for other arguments.

    Examples:
        >>> import numpy as np
        >>> from dpverify import audit_samples
        >>> noise = np.random.default_rng(0).laplace(size=(2, 5000))
        >>> audit_samples(noise[0], noise[1] + 1, "eps=0.5", adjacency="replace-one").verdict.value
        'violated'
    """
    return audit(Request(claim=claim, left=left, right=right, **options))


def audit_one_run(scores: Any, members: Any, claim: Any, **options: Any) -> PrivacyEvidence:
    """Audit a claim about a model that was trained once, by the scores of its canaries.

    Each canary was in the training set by its own fair coin. Scores were computed from what was released, and from the
    canaries, without the coins; a larger one for canaries that seem to be members. Claims are those about one canary.

    Args:
        scores: (canaries,) or (canaries, checkpoints in the order of training), at least 100 canaries, or a file.
        members: (canaries,), 0 or 1, in the same order, or a file.
        claim: a guarantee, or one in words such as "mu=1" or "eps=1,delta=1e-5".
        options: other fields of a `Request`: adjacency (add-or-remove-one unless it is given), delta,
            failure_probability, seed.

    Raises `InvalidDataError` for scores and members that cannot be used, and `InvalidArgumentError` for other
    arguments.

    References: Steinke, Nasr and Jagielski 2023; Mahloujifar, Melis and Chaudhuri 2024; the bounds,
    `dpverify.auditing.one_run.tails`.

    Examples:
        >>> import numpy as np
        >>> from dpverify.auditing import audit_one_run
        >>> rng = np.random.default_rng(0)
        >>> members = rng.random(1000) < 0.5
        >>> scores = 3 * members + rng.normal(size=1000)
        >>> found = audit_one_run(scores, members, "mu=1", failure_probability=0.05)
        >>> found.verdict.value, found.one_run.mu_lower > 1
        ('violated', True)
    """
    return audit(Request(claim=claim, scores=scores, members=members, **options))


# ------------------------------------------------------------------------------------------- what is asked


@dataclass(frozen=True)
class _RequestedAudit:
    """A request as auditors take it."""

    question: PrivacyQuestion
    subject: PairSubject
    auditor: PrivacyAuditor
    encoder: Encoder
    after: Callable[[PrivacyEvidence], dict[str, Any]]
    """What is known once it is answered."""


def _with_share(request: Request) -> tuple[Request, ErrorShare]:
    """What may be spent; one question among many, with the content of its files, gets its own part and its own seed."""
    given = request.failure_probability
    part_for = getattr(given, "part_for", None)
    if part_for is None:
        return request, ErrorShare.of(given)
    content = [path.read_bytes() for path in request.files() if path.is_file()]
    share, seed = part_for(replace(request, failure_probability=FAILURE_PROBABILITY), content)
    return replace(request, seed=seed, failure_probability=share), share


@contextmanager
def _asked(request: Request, tell: Tell, progress: Progress | None) -> Iterator[_RequestedAudit]:
    if not request.of_samples:
        with _runs(request, tell, progress) as asked:
            yield asked
        return
    encoder = Encoder()
    sides = _samples("left", request.left), _samples("right", request.right)
    check_as_many(*sides, _names(request))
    rows = encoder.rows(*sides)
    by = request.relation
    question = _question(
        request,
        Adjacency.UNCHECKED if by is None else by,
        "samples as given",
        np.shape(rows[0])[0],
        neighbors="as the samples were drawn" if request.unit is None else str(request.unit),
    )
    auditor = BatchAuditor(request.events)
    samples = GivenSamples(*rows, encoder.name_event, encoder.needs)
    yield _RequestedAudit(question, samples, auditor, encoder, lambda found: {"reproduce": request.again(0)})


@contextmanager
def _runs(request: Request, tell: Tell, progress: Progress | None) -> Iterator[_RequestedAudit]:
    from dpverify.auditing.requests.data import neighbors_of
    from dpverify.auditing.requests.drawing import Draws, loaded
    from dpverify.auditing.sequential import BettingAuditor
    from dpverify.running import Store
    from dpverify.running.store import opened
    from dpverify.running.user_guard import not_contained

    sides, unit, said = neighbors_of(request)
    clock = _Clock(request.time, tell)
    guarded = request.target is None and request.limits is not None
    with ExitStack() as stack:
        if request.limits is not None and (said_of_system := not_contained()):
            tell(said_of_system)
        mechanism = stack.enter_context(loaded(request))
        # a guarded copy of this process opens the file itself
        store = request.store if guarded else stack.enter_context(opened(request.store))
        draws = Draws(request, mechanism, sides, store=store, progress=progress)
        draws = stack.enter_context(draws.ready())
        subject: PairSubject = draws
        auditor: PrivacyAuditor = BettingAuditor(clock, request.low_bits, request.times)
        if request.structure is not None:
            subject, auditor = stack.enter_context(_white_box(request, draws, sides))
        elif request.fixed_runs:
            auditor = BatchAuditor(request.events)

        def after(found: PrivacyEvidence) -> dict[str, Any]:
            same = draws.repeats()
            again = request.again(found.runs if clock.stopped else request.most_runs)
            reuse = store.reuse() if isinstance(store, Store) and same is not None else None
            return {"reproduce": NOT_REPEATED if same is False else again, "repeats": same, "reuse": reuse}

        yield _RequestedAudit(
            _question(request, unit.adjacency, said, request.most_runs, neighbors=str(unit)),
            subject,
            auditor,
            draws.encoder,
            after,
        )


def _of_one_run(request: Request, share: ErrorShare) -> PrivacyEvidence:
    from dpverify.auditing.one_run import CanaryScores, OneRunAuditor

    canaries = CanaryScores.read(request.scores, request.members)
    by = request.relation
    assert by is not None
    data = f"scores of {len(canaries.members)} canaries of one training run"
    question = _question(request, by, data, 1, neighbors=f"{by}, the record being a canary")
    return OneRunAuditor().audit(question, canaries, share).but(reproduce=request.again(0))


@contextmanager
def _white_box(request: Request, draws: Draws, sides: Sides) -> Iterator[tuple[PairSubject, PrivacyAuditor]]:
    """The stated steps on both data sets, beside what is drawn; a named function states them in its own process."""
    from dpverify.auditing.white_box import Stated, WhiteBoxAuditor
    from dpverify.running import StatedStructure
    from dpverify.running.subjects.user_mechanisms import plain_array
    from dpverify.running.subjects.user_structures import UserStructure

    auditor: Any = WhiteBoxAuditor()
    sides = _without_tables(request, sides)
    if isinstance(request.structure, str):
        with UserStructure(request.structure, request.limits) as stated:
            yield Stated(draws, (stated.of(plain_array(sides[0])), stated.of(plain_array(sides[1])))), auditor
        return
    made: list[StatedStructure] = []
    for side in sides:
        found = request.structure(side) if callable(request.structure) else None
        if not isinstance(found, StatedStructure):
            raise InvalidArgumentError(
                "structure", request.structure, "a function from a data set to a StatedStructure"
            )
        made.append(found)
    yield Stated(draws, (made[0], made[1])), auditor


def _without_tables(request: Request, sides: Sides) -> Sides:
    """What a structure is a function of."""
    from dpverify.problems.tables.records import Records

    if any(isinstance(side, Records) for side in sides):
        said = "an array of numbers with {}, which is a function of one"
        raise RequestError("data", "a table", said, "structure")
    return sides


def _question(
    request: Request, by: Adjacency, data: str, runs: int, *, neighbors: str = ""
) -> PrivacyQuestion:
    about = request.about
    return PrivacyQuestion(
        StatedGuarantee(request.guarantee, by, request.index),
        data,
        runs,
        delta=request.delta,
        neighbors=neighbors,
        label=Label(about, f"{about} against {request.guarantee}", "", request.seed),
    )


# ------------------------------------------------------------------------------------------- samples


def _names(request: Request) -> tuple[str, str]:
    sides = zip(("left", "right"), (request.left, request.right), strict=True)
    left, right = (str(side) if isinstance(side, str | PathLike) else name for name, side in sides)
    return left, right


def _samples(name: str, outputs: Any) -> Any:
    """Outputs of a file, or as they are given."""
    if isinstance(outputs, str | PathLike):
        return read_samples(outputs)
    from dpverify.running.subjects import texts

    try:
        return texts.of_batch(outputs)
    except texts.FormlessError as error:
        raise InvalidDataError(f"What was drawn on the {name} data set {error}.") from error


# ------------------------------------------------------------------------------------------- messages


def failure_lines(request: Request, found: PrivacyEvidence) -> list[str]:
    """The verdict with its event, both data sets, interval, seed and failure probability, a line each."""
    runs = "one run" if found.one_run is not None else f"{found.runs} runs"
    where = f"seed {found.seed}, {runs}, adjacency {found.adjacency}"
    if found.repeats is False:
        where += "; cannot be reproduced from the seed, under which outputs do not repeat"
    record = f", record {request.index}" if request.index else ""
    lines = [
        f"{found.claim} is {found.verdict} ({where}). {found.reason.rstrip('.')}.",
        f"claim: {found.claim}, adjacency {found.adjacency}{record}",
    ]
    if request.runs_nothing:
        lines.append(f"data: {found.data}")
    else:
        from dpverify.auditing.requests.data import arrays_of, shown

        data, neighbor = arrays_of(request)
        lines += [
            f"data: {shown(data)}",
            f"neighbor: {shown(neighbor)}",
            f"difference: {_difference(data, neighbor)}",
        ]
    claimed = f"; the claim is {found.epsilon_claimed:.6g}" if found.epsilon_claimed is not None else ""
    # what a sequential audit bounds epsilon by was itself refuted
    end = "(" if found.sequential is not None and found.epsilon_lower > 0 else "["
    return [
        *lines,
        f"interval: epsilon at delta {found.delta:g} is in {end}{at_least(found.epsilon_lower, 6)}, inf){claimed}",
        f"seed: {found.seed}",
        f"failure probability: {found.failure_probability:.3g}; so often is a correct claim called violated",
    ]


def _difference(data: Any, neighbor: Any) -> str:
    """Where two neighbors first differ, records counted from 1."""
    from dpverify.auditing.requests.data import shown
    from dpverify.problems.tables.neighbors import same_record

    common = min(len(data), len(neighbor))
    if data.shape[1:] != neighbor.shape[1:]:
        return "of another form"
    more = "data set" if len(data) > len(neighbor) else "neighbor"
    for index in range(common):
        if not same_record(data[index], neighbor[index]):
            if len(data) == len(neighbor):
                return f"record {index + 1} is {shown(data[index])}, in the neighbor {shown(neighbor[index])}"
            longer = data if len(data) > len(neighbor) else neighbor
            return f"record {index + 1} is in the {more} alone: {shown(longer[index])}"
    return f"record {common + 1} is in the {more} alone"


class _Clock:
    """Looks on at a sequential audit: no further round begins after so many seconds, if any are given.

    `tell` gets a line before the first run, and now and then until the end.
    """

    def __init__(self, seconds: float | None, tell: Tell) -> None:
        self._seconds, self._tell = seconds, tell
        self._told_runs, self._a_run = 0, 0.0
        self.stopped = False

    def begins(self, auditor: SequentialAuditor) -> None:
        """Say what can be found."""
        self._tell(auditor.foretell())
        self._begin = self._told_at = time.perf_counter()

    def stops(self, auditor: SequentialAuditor, size: int) -> str:
        """Why no round of `size` runs should begin; empty if it should."""
        now = self._round_from = time.perf_counter()
        if self._seconds is None or not auditor.runs:
            return ""
        self.stopped = now - self._begin + self._a_run * size > self._seconds
        return f"the limit of {self._seconds:g} s" if self.stopped else ""

    def drawn(self, auditor: SequentialAuditor, size: int) -> None:
        """A round of `size` runs was made; the first also starts processes."""
        self._a_run = (time.perf_counter() - self._round_from) / size if auditor.runs else 0.0

    def seen(self, auditor: SequentialAuditor) -> None:
        """Tell how far it is, where runs have doubled or some seconds have passed."""
        now, runs = time.perf_counter(), auditor.runs
        if runs < 2 * self._told_runs and now - self._told_at < _SILENCE:
            return
        left = self._a_run * (auditor.most_runs - runs)
        self._tell(
            f"{auditor.so_far()}; {now - self._begin:.1f} s"
            + (f", and about {left:.0f} s more for all runs" if left >= 1 and runs >= _SETTLED else "")
        )
        self._told_at, self._told_runs = now, runs
