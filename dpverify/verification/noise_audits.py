"""Audits of the tails of noise that users bring: a generator, or numbers that it made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dpverify import checks
from dpverify.auditing.noise import (
    FEWEST,
    LAWS,
    MOST_COMPARED,
    IndependenceAudit,
    Law,
    TailAudit,
    audit_independence,
    audit_tails,
)
from dpverify.auditing.outputs.sample_files import read_samples
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.quoting import command_line
from dpverify.running import Limits, Progress, Target, UserMechanism, run

BLOCK = 2**17
"""Numbers of one call of a generator; so that those made together stay together, and at one distance."""


@dataclass(frozen=True)
class NoiseQuestion:
    """Whether noise goes as far out as the law that it is said to have, and takes as many values."""

    source: str
    """`package.module:function`, (rng, size) -> numbers, or a file of numbers."""
    is_file: bool
    law: Law
    """About 0, `normal` or `laplace`."""
    scale: float
    """The standard deviation of normal noise, the scale of Laplace noise."""
    runs: int
    """Numbers to draw; of a file all are taken."""
    failure_probability: float
    """Noise of that law is called violated with at most this probability."""
    seed: int
    limits: Limits = field(default_factory=Limits)
    streams: int = 1
    """Generators with seeds of their own among which the numbers are divided; of a file, the columns are streams."""

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise InvalidArgumentError("--law", self.law, " or ".join(LAWS))
        checks.positive("--scale", self.scale)
        checks.failure_probability("--failure-probability", self.failure_probability)
        if not self.is_file:
            checks.whole_number("--streams", self.streams, at_most=64)
            checks.whole_number("--runs", self.runs, at_least=FEWEST * self.streams)

    @property
    def again(self) -> str:
        """The command line that asks again."""
        drawn: list[object] = (
            ["--samples", self.source] if self.is_file else [self.source, "--runs", self.runs]
        )
        drawn += ["--streams", self.streams] if self.streams > 1 else []
        return command_line(
            "dpverify", "tails", *drawn, "--law", self.law, "--scale", repr(self.scale),
            "--failure-probability", repr(self.failure_probability), "--seed", self.seed,
        )  # fmt: skip


@dataclass(frozen=True)
class NoiseAudit:
    """What was found of noise alone: of its tail, and of the order of its numbers; half of the level each."""

    tail: TailAudit
    order: IndependenceAudit
    failure_probability: float

    @property
    def verdict(self) -> Verdict:
        """Violated where either is."""
        both = self.tail.verdict, self.order.verdict
        return Verdict.VIOLATED if Verdict.VIOLATED in both else Verdict.SUPPORTED

    @property
    def reason(self) -> str:
        """Of both; what is violated comes first."""
        both = [self.tail.reason, self.order.reason]
        first = self.tail.verdict is Verdict.VIOLATED or self.order.verdict is not Verdict.VIOLATED
        return "; ".join(both if first else both[::-1])


def audit_noise(question: NoiseQuestion, *, progress: Progress | None = None) -> NoiseAudit:
    """Draw numbers, or read them, and look at their tail, at how often they come again and on what they depend."""
    values = _read(Path(question.source)) if question.is_file else _drawn(question, progress)
    half = question.failure_probability / 2
    streams = values.shape[1]
    compared = MOST_COMPARED // (streams * (streams + 1) // 2)
    return NoiseAudit(
        audit_tails(values.T.ravel(), law=question.law, scale=question.scale, failure_probability=half),
        audit_independence(values[:compared], failure_probability=half, seed=question.seed),
        question.failure_probability,
    )


def _read(path: Path) -> FloatArray:
    rows = np.asarray(read_samples(path))
    streams = rows[:, None] if rows.ndim == 1 else rows
    if streams.ndim != 2 or not 1 <= streams.shape[1] <= 64 or rows.dtype.kind != "f" or len(rows) < FEWEST:
        raise InvalidDataError(
            f"{path} has values of shape {rows.shape} and type {rows.dtype}; allowed: a float a row, or one a stream, "
            f"of at most 64, at least {FEWEST} rows."
        )
    return streams


def _drawn(question: NoiseQuestion, progress: Progress | None) -> FloatArray:
    with UserMechanism.load(Target(question.source, noise=True), limits=question.limits) as generator:
        streams = [
            run(
                generator,
                np.zeros(0),
                runs=question.runs // question.streams,
                seed=(question.seed,) if question.streams == 1 else (question.seed, stream),
                progress=progress,
                block_size=BLOCK,
                result_limit=question.limits.memory // 2 // question.streams,
            ).points
            for stream in range(question.streams)
        ]
    if any(one.ndim != 1 or one.dtype.kind != "f" for one in streams):
        raise InvalidDataError(
            f"The generator {question.source} returned something other than a list of numbers that are not whole; "
            "allowed: `size` floats."
        )
    return np.stack(streams, axis=1)
