"""What tests in several folders share."""

from __future__ import annotations

import os
import pickle
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

_PATIENCE = 1200.0
"""Seconds for which one test process may wait until another has proved everything."""


def once_a_run(name: str, folder: Path, compute: Callable[[], Any]) -> Any:
    """Compute something once for all workers of a run of tests; whoever comes second waits for the first."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        return compute()
    path = folder / f"{name}-{run}.pickle"
    with _alone(path.with_suffix(".lock")):
        if not path.exists():
            path.write_bytes(pickle.dumps(compute()))
        return pickle.loads(path.read_bytes())  # what a worker of this very run wrote


@pytest.fixture(scope="session")
def all_proofs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], Path]:
    """Every encoded statement proved once, and a user's cache folder that remembers what was found.

    Of several test processes the first one proves; the others take it from there.
    """
    from dpverify.statements.paper import papers
    from dpverify.verification.proofs import prove_statements, remember_all

    statements = [s for p in papers().values() for s in p.statements]
    records = once_a_run(
        "proofs", tmp_path_factory.getbasetemp().parent, lambda: prove_statements(statements, workers=2)
    )
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        remember_all(r.evidence for r in records)
    return records, cache


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Held by one process at a time, and by none that has ended."""
    with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield
