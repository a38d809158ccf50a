"""Telling how far a sequential audit is, and when no further round fits into its time."""

from __future__ import annotations

import time
from collections.abc import Callable

from dpverify.auditing.sequential import SequentialAuditor

_SETTLED = 100
"""Runs from which the time of a round says something about the time of the rest."""
_SILENCE = 10.0
"""Seconds after which a sequential audit says how far it is, if runs have not doubled before."""


class Clock:
    """Looks on at a sequential audit: no further round begins after so many seconds, if any are given.

    `tell` gets a line before the first run, and now and then until the end.
    """

    def __init__(self, seconds: float | None, tell: Callable[[str], None]) -> None:
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
