"""Audits of the tails of noise that users bring: a generator, or numbers that it made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dpverify import checks
from dpverify.auditing.noise import FEWEST, LAWS, Law, TailAudit, audit_tails
from dpverify.auditing.outputs.sample_files import read_samples
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
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

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise InvalidArgumentError("--law", self.law, " or ".join(LAWS))
        checks.number("--scale", self.scale, above=0, allowed="a finite number above 0")
        checks.failure_probability("--failure-probability", self.failure_probability)
        if not self.is_file:
            checks.whole_number("--runs", self.runs, at_least=FEWEST)

    @property
    def again(self) -> str:
        """The command line that asks again."""
        drawn = ("--samples", self.source) if self.is_file else (self.source, "--runs", self.runs)
        return command_line(
            "dpverify", "tails", *drawn, "--law", self.law, "--scale", repr(self.scale),
            "--failure-probability", repr(self.failure_probability), "--seed", self.seed,
        )  # fmt: skip


def audit_noise(question: NoiseQuestion, *, progress: Progress | None = None) -> TailAudit:
    """Draw numbers, or read them, and look where their tail ends and how often they come again."""
    values = _read(Path(question.source)) if question.is_file else _drawn(question, progress)
    return audit_tails(
        values, law=question.law, scale=question.scale, failure_probability=question.failure_probability
    )


def _read(path: Path) -> FloatArray:
    rows = np.asarray(read_samples(path))
    if rows.ndim == 2 and rows.shape[1] == 1:
        rows = rows[:, 0]
    if rows.ndim != 1 or rows.dtype.kind != "f" or rows.size < FEWEST:
        raise InvalidDataError(
            f"{path} has values of shape {rows.shape} and type {rows.dtype}; allowed: a float a row, at least {FEWEST}."
        )
    return rows


def _drawn(question: NoiseQuestion, progress: Progress | None) -> FloatArray:
    with UserMechanism.load(Target(question.source, noise=True), limits=question.limits) as generator:
        drawn = run(
            generator,
            np.zeros(0),
            runs=question.runs,
            seed=(question.seed,),
            progress=progress,
            block_size=BLOCK,
            result_limit=question.limits.memory // 2,
        ).points
    if drawn.ndim != 1 or drawn.dtype.kind != "f":
        raise InvalidDataError(
            f"The generator {question.source} returned something other than a list of numbers that are not whole; "
            "allowed: `size` floats."
        )
    return np.asarray(drawn)
