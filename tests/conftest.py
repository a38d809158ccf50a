"""What tests in several folders share."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

_PATIENCE = 1200.0
"""Seconds for which one test process may wait until another has proved everything."""


@pytest.fixture(scope="session")
def all_proofs(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> tuple[list[Any], Path]:
    """Every encoded statement proved once, and a user's cache folder that remembers what was found.

    Of several test processes the first one proves; the others take it from there.
    """
    from dpverify.running import Store
    from dpverify.statements.paper import papers
    from dpverify.verification.proofs import prove_statements, remember_all

    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    with _alone(shared / "all-proofs-lock.sqlite"), Store(shared / "all-proofs.sqlite") as store:
        statements = [s for p in papers().values() for s in p.statements]
        records = prove_statements(statements, workers=2, store=store)
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
