"""One failure probability for all examples of a property test, whose number is not known in advance."""

from __future__ import annotations

import hashlib
from typing import Any

from dpverify import checks
from dpverify.auditing import ErrorShare
from dpverify.running import fingerprint


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
        checks.failure_probability("failure_probability", failure_probability)
        self._whole = ErrorShare(failure_probability, name="examples")
        self._seed = checks.whole_number("seed", seed, at_least=0, at_most=None)
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
