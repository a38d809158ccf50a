"""Small mechanisms for the tests of running."""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpverify.running import Output, Randomness


@dataclass(frozen=True)
class Walk:
    """A random walk of several steps with a jump of the data's mean in each: every kind of draw is used."""

    steps: int = 5
    dimension: int = 3

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        points = rng.xp.zeros((self.dimension, runs), dtype=rng.xp.float64)
        for _ in range(self.steps):
            points = points + rng.normal((self.dimension, runs), "noise") + float(np.mean(data))
        points = points + rng.uniform((1, runs), "shift")
        queries = rng.integers(1, 7, (runs,), "queries")
        return Output(points.T, gradient_queries=queries, projections=self.steps)


@dataclass(frozen=True)
class SlowWalk:
    """A walk that leaves a line in a file per block, and takes its time."""

    log: str
    seconds: float = 0.0

    fingerprint = "slow walk"

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Any:
        with open(self.log, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(self.seconds)
        return rng.normal((runs, 2), "noise") + float(np.mean(data))


@dataclass(frozen=True)
class FirstBlockWaits:
    """Its block of number 0 waits until a block is in the store's file."""

    store: str
    seconds: float

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Any:
        first = rng.normal((runs, 2), "noise")
        limit = time.monotonic() + self.seconds
        while np.array_equal(first, Randomness(3, 0).normal((runs, 2), "noise")) and not self.rows():
            if time.monotonic() > limit:
                raise TimeoutError("no other block came")
            time.sleep(0.01)
        return first

    def rows(self) -> int:
        connection = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=10)
        try:
            return int(connection.execute("SELECT count(*) FROM work").fetchone()[0])
        finally:
            connection.close()


@dataclass(frozen=True)
class Faulty:
    """Returns what it is told to from the second block on."""

    what: str

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Any:
        points = rng.normal((runs, 2), "noise")
        if runs == 10:
            return points
        match self.what:
            case "shape":
                return points[:, :1]
            case "type":
                return points.astype(np.float32)
            case "nan":
                points[3, 1] = np.nan
            case "infinity":
                points[3, 1] = np.inf
            case "runs":
                return points[:-1]
            case "scalar":
                return 1.0
            case "object":
                return np.array([None] * runs)
            case "text":
                return np.array(["a"] * runs)
            case "complex":
                return points.astype(np.complex128)
            case "ragged":
                return [[1.0], *[[1.0, 2.0]] * (runs - 1)]
            case "queries":
                return Output(points, gradient_queries=np.zeros(3, dtype=np.int64))
            case "raise":
                raise ZeroDivisionError("by zero")
        return points
