"""Property suites for your own object, each a single call that raises AssertionError with what it found."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from dpverify.auditing import Auditor, ErrorShare, Question, Request, audit
from dpverify.auditing.requests.audits import failure_lines
from dpverify.checks import checked_seed, of_kind, positive, whole_number, with_attribute
from dpverify.checks import failure_probability as checked_failure_probability
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Guarantee
from dpverify.running import BatchMechanism, Executor, fingerprint, run

QuestionT = TypeVar("QuestionT")
SubjectT = TypeVar("SubjectT")
EvidenceT = TypeVar("EvidenceT", bound=AuditEvidence)


class ErrorOverExamples:
    """Divides a failure probability among different questions, whatever their number.

    A property test chooses its next example by what became of the last ones, tries more of them while it shrinks one,
    and runs a failing one again. So:

    - the k-th different question gets 1/(k (k + 1)) of the failure probability, which adds up to less than all of it
      however many there are;
    - each has a seed of its own, which follows from its content: no outcome that led to a question was drawn from the
      randomness that answers it;
    - the same question again gets the same part and the same seed, so that its answer is the same, and no chance to
      be wrong is added.

    By the union bound a test that asks correct claims only fails with at most the failure probability, however its
    examples are chosen. Make one object a test, outside of it.

    Args:
        failure_probability: of all examples together.
        seed: from which the seeds follow, with the questions' contents.

    Raises:
        InvalidArgumentError: for arguments out of range.

    Examples:
        >>> from dpverify.properties import ErrorOverExamples
        >>> shared = ErrorOverExamples(1e-6)
        >>> (first, seed), (second, _) = shared.part_for("one question"), shared.part_for("another one")
        >>> first.failure_probability, round(second.failure_probability, 10)
        (5e-07, 1.667e-07)
        >>> shared.questions, shared.part_for("one question")[1] == seed
        (2, True)
    """

    def __init__(self, failure_probability: float = 1e-6, *, seed: int = 0) -> None:
        checked_failure_probability("failure_probability", failure_probability)
        self._whole = ErrorShare(failure_probability, name="examples")
        self._seed = checked_seed(seed)
        self._asked: dict[str, tuple[int, float]] = {}

    def part_for(self, *question: Any) -> tuple[ErrorShare, int]:
        """A question's part of the error, to be spent, and its seed; `question` is all that its answer depends on.

        Raises:
            InvalidArgumentError: for what has no content that could be read, as `dpverify.running.fingerprint` says,
                and once the parts are too small for a float.
        """
        content = hashlib.sha256(f"{self._seed}:{fingerprint(question)}".encode()).hexdigest()
        if content not in self._asked:
            self._asked[content] = len(self._asked) + 1, self._whole.next_part().failure_probability
        number, level = self._asked[content]
        return ErrorShare(level, name=f"example {number}"), int(content[:15], 16)

    @property
    def questions(self) -> int:
        """The number of different questions."""
        return len(self._asked)


def check_guarantee(
    guarantee: Guarantee, *, largest_epsilon: float = 20.0, points: int = 257, convex: bool = True
) -> None:
    """Check the laws of privacy profiles, on a grid of epsilon.

    It lies in [0, 1], falls in epsilon, is convex in exp(epsilon), and is at least what group privacy leaves of
    itself: delta(epsilon) never falls below delta(0) - (exp(epsilon) - 1). The least of several bounds is a bound too
    and need not be convex, though its convex hull, which is sharper, would also be one: say `convex=False` there.

    Raises:
        AssertionError: naming the law and the epsilon where it fails.

    Examples:
        >>> import numpy as np
        >>> from dpverify.privacy import GDP, ProfileDP
        >>> from dpverify.properties import check_guarantee
        >>> check_guarantee(GDP(1.0))
        >>> check_guarantee(ProfileDP(lambda epsilon: np.where(epsilon < 1, 0.5, 0.0)))
        Traceback (most recent call last):
        AssertionError: ...
    """
    with_attribute("guarantee", guarantee, "privacy_profile")
    of_kind("convex", convex, bool)
    positive("largest_epsilon", largest_epsilon)
    whole_number("points", points, at_least=3)
    epsilons = np.linspace(0.0, largest_epsilon, points)
    profile = np.asarray(guarantee.privacy_profile(epsilons))
    growth = np.exp(epsilons)
    rounding = 1e-9
    _law("lie in [0, 1]", epsilons, (profile >= 0) & (profile <= 1))
    _law("not increase with epsilon", epsilons[1:], np.diff(profile) <= rounding * profile[:-1])
    slopes = np.diff(profile) / np.diff(growth)
    if convex:
        rises = np.diff(slopes) >= -rounding * np.abs(slopes[:-1])
        _law("be convex in exp(epsilon)", epsilons[1:-1], rises)
    _law(
        "decrease no faster than exp(epsilon) increases",
        epsilons,
        profile >= profile[0] - (growth - 1) - rounding,
    )


def _law(name: str, where: Any, holds: Any) -> None:
    if not np.all(holds):
        raise AssertionError(
            f"The privacy profile breaks a law at epsilon = {where[~holds][0]:g}: it must {name}."
        )


def check_mechanism(mechanism: BatchMechanism, data: Any, *, runs: int = 64, seed: int = 0) -> None:
    """Check that a mechanism's bits depend on the seed alone: not on chunks, and not on earlier calls.

    A mechanism without randomness fails, since its outputs do not depend on the seed.

    Raises:
        AssertionError: naming what differs.

    Examples:
        >>> import numpy as np
        >>> from dpverify.properties import check_mechanism
        >>> from dpverify.running import FunctionMechanism
        >>> check_mechanism(FunctionMechanism(lambda data, rng: data.sum() + rng.laplace()), np.ones((3, 1)))
    """
    runs = whole_number("runs", runs)
    sizes: dict[str, Any] = {"runs": runs, "block_size": max(1, runs // 4)}
    first = run(mechanism, data, seed=seed, **sizes).points
    if not np.array_equal(first, run(mechanism, data, seed=seed, **sizes).points):
        raise AssertionError(
            "The same seed gives different outputs: some randomness does not come from `rng`."
        )
    threaded = run(
        mechanism, data, seed=seed, executor=Executor("threads", 2), memory_limit=1, **sizes
    ).points
    if not np.array_equal(first, threaded):
        raise AssertionError(
            "Two threads give different outputs than one: blocks share something that they change."
        )
    if np.array_equal(first, run(mechanism, data, seed=seed + 1, **sizes).points):
        raise AssertionError("A different seed gives the same outputs: the mechanism does not use `rng`.")


def check_private(
    mechanism: BatchMechanism | Callable[..., Any] | str,
    data: Any,
    neighbor: Any,
    claim: Guarantee | str,
    *,
    allow_undecided: bool = False,
    **options: Any,
) -> PrivacyEvidence:
    """Audit a claim on one pair of neighboring data sets, and fail if it is violated or undecided.

    Returns the evidence; its `detectable` is the smallest violation that the audit would have found on the most
    revealing pair.

    Args:
        mechanism: called as `mechanism(data, rng=..., runs=...)` if `rng` is a keyword of it; else a plain function
            (data, rng) -> output, or batched (data, rng, runs) -> outputs, with a NumPy generator as `rng`. The
            function's outputs may be numbers, text, None, lists, dictionaries and more.
        data: a data set, with one record along the first axis.
        neighbor: a neighbor by `adjacency`, with the records in the same order; None with `search_neighbors`.
        claim: a guarantee, or one in words such as "eps=1,delta=1e-5".
        allow_undecided: whether an undecided audit passes, such as one whose runs are too few to find any violation.
        options: other fields of a `dpverify.auditing.Request`: adjacency, runs, fixed_runs, seed and so on. The failure
            probability may be a share, which is then spent. In a property test it may be an `ErrorOverExamples`, which
            bounds the probability that any example fails.

    Raises:
        AssertionError: if the claim is violated (with the event, the bounds and the seed) or undecided.
        InvalidDataError: for data sets that are no neighbors or are equal, and for outputs that cannot be used.
        InvalidArgumentError: for other arguments, and for those that do not go together.

    Examples:
        >>> from dpverify.properties import check_private
        >>> def release(data, rng, runs):
        ...     return data.sum() + rng.laplace(size=runs)
        >>> found = check_private(release, [[0.0]], [[1.0]], "eps=1")
        >>> check_private(release, [[0.0]], [[1.0]], "eps=0.5")
        Traceback (most recent call last):
        AssertionError: ...
    """
    __tracebackhide__ = True  # a failing test shows the line that calls this
    request = Request(mechanism, data, neighbor, claim, **options)
    found = audit(request)
    if found.verdict is Verdict.VIOLATED or (found.verdict is Verdict.UNDECIDED and not allow_undecided):
        again = found.reproduce or request.call(found.seed, found.failure_probability)
        raise AssertionError("\n".join([*failure_lines(request, found), f"replay: {again}"]))
    return found


def check_audit(
    auditor: Auditor[QuestionT, SubjectT, EvidenceT],
    question: QuestionT,
    subject: SubjectT,
    *,
    failure_probability: float | ErrorShare | ErrorOverExamples = 1e-6,
    allow_undecided: bool = False,
) -> EvidenceT:
    """Let an auditor, from dpverify or your own, answer its question, and fail if the answer is no.

    Returns the evidence, which a ledger takes as it is.

    Args:
        auditor: what finds the evidence.
        question: of the kind that it answers.
        subject: what the question is about; None if the auditor needs none.
        failure_probability: with at most this probability does a correct claim fail; a number, or a share. An auditor
            that states no confidence leaves it unspent. In a property test an `ErrorOverExamples`: then a subject that
            draws is one of `dpverify.auditing.subjects` that is declared but not yet run, such as `OnPair`, since each
            example must draw from randomness of its own.
        allow_undecided: whether a test passes that decided nothing.

    Raises:
        AssertionError: for any verdict but `proved`, `certified` and `supported`, with its reason, what the failure
            probability was spent on, and the line that asks again.
        InvalidArgumentError: for a subject that is running already where examples share an error; else as the auditor.
        InvalidDataError: as the auditor.

    Examples:
        >>> from dpverify.auditing.accountants import AccountantAuditor, AccountantQuestion, NoisyReleases
        >>> from dpverify.properties import check_audit
        >>> releases = NoisyReleases("laplace", noise_multiplier=1.0)
        >>> check_audit(AccountantAuditor(), AccountantQuestion(1.0, delta=0.0), releases).verdict.value
        'supported'
    """
    __tracebackhide__ = True
    if isinstance(failure_probability, ErrorOverExamples):
        question, subject, failure_probability = _of_example(auditor, question, subject, failure_probability)
    with_attribute("auditor", auditor, "audit")
    found = auditor.audit(question, subject, ErrorShare.of(failure_probability, name="audit"))
    good = {Verdict.PROVED, Verdict.CERTIFIED, Verdict.SUPPORTED}
    if found.verdict not in good and not (allow_undecided and found.verdict is Verdict.UNDECIDED):
        raise AssertionError("\n".join(found.lines()))
    return found


def _of_example(
    auditor: Auditor[QuestionT, SubjectT, EvidenceT],
    question: QuestionT,
    subject: SubjectT,
    shared: ErrorOverExamples,
) -> tuple[QuestionT, SubjectT, ErrorShare]:
    """Question and subject with a seed derived from their content, and their part of the error."""
    share, seed = shared.part_for(type(auditor), auditor, question, subject)
    if isinstance(question, Question):
        question = question.headed(replace(question.label, seed=seed))
    if auditor.spends and subject is not None:
        from dpverify.auditing.subjects import Runner

        on = getattr(subject, "on", None)
        if not callable(on):
            raise InvalidArgumentError(
                "subject",
                subject,
                "one that is declared but not yet run, such as dpverify.auditing.subjects.OnPair",
            )
        subject = on(Runner(seed=(seed,)))
    return question, subject, share
