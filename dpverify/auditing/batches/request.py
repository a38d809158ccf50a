"""The request about recorded batches, which the command and a project's file make."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from dpverify.auditing.batches.audit import BatchesAuditor, BatchesQuestion
from dpverify.auditing.batches.recording import read_batches
from dpverify.auditing.batches.schemes import BatchScheme
from dpverify.auditing.contract import Label
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.requests.request import FAILURE_PROBABILITY
from dpverify.checks import of_kind
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import BatchesEvidence
from dpverify.quoting import command_line


@dataclass(frozen=True)
class BatchesRequest:
    """Which recorded batches are audited, and how they are said to be drawn.

    Attributes:
        file: a line a batch, see `read_batches`; records are numbered from 0.
        sampling: a `Scheme`: poisson, without-replacement, with-replacement or shuffled.
        records: how many there are.
        rate: for poisson, with which probability each record is in a batch.
        batch: for the others, how many records a batch has.
        failure_probability: with which batches drawn as stated are called violated, at most.

    Raises `InvalidArgumentError` for values that do not go together.
    """

    file: str | Path
    sampling: str
    records: int
    rate: float | None = None
    batch: int | None = None
    failure_probability: float | ErrorShare = FAILURE_PROBABILITY
    scheme: BatchScheme = field(init=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        try:
            scheme = BatchScheme(self.sampling, self.records, self.batch, self.rate)  # type: ignore[arg-type]
        except InvalidArgumentError as error:
            name = _FIELDS.get(error.argument, error.argument)
            raise InvalidArgumentError(name, error.value, error.allowed) from error
        object.__setattr__(self, "scheme", scheme)
        ErrorShare.of(self.failure_probability)

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        return str(self.scheme)

    @property
    def about(self) -> str:
        """What is audited, in words."""
        return str(self.file)

    @property
    def again(self) -> str:
        """The command line that asks the same."""
        given = (("rate", self.rate), ("batch", self.batch))
        level = getattr(self.failure_probability, "failure_probability", self.failure_probability)
        return command_line(
            "dpverify", "batches", self.file, "--sampling", self.sampling, "--records", self.records,
            *(word for name, value in given if value is not None for word in (f"--{name}", repr(value))),
            "--failure-probability", level,
        )  # fmt: skip


_FIELDS = {"scheme": "sampling", "n": "records", "probability_of_a_record": "rate"}
"""Fields of a scheme, where they have another name."""


def audit_recorded(request: BatchesRequest) -> BatchesEvidence:
    """Read the batches and audit them.

    Raises `InvalidArgumentError` and `InvalidDataError` for a file that cannot be read or has another form, and
    `InvalidDataError` for fewer than two batches or passes.
    """
    of_kind("request", request, BatchesRequest)
    begin = time.perf_counter()
    label = Label(request.about, f"{request.about} against {request.claim}", request.again)
    question = BatchesQuestion(request.scheme, request.about, label=label)
    share = ErrorShare.of(request.failure_probability)
    return (
        BatchesAuditor().audit(question, read_batches(request.file), share).timed(time.perf_counter() - begin)
    )
