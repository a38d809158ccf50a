"""What tests in several folders share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def all_proofs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], Path]:
    """Every encoded statement proved once, and a user's cache folder that remembers what was found."""
    from dpverify.statements.paper import papers
    from dpverify.verification.proofs import prove_statements, remember_all

    records = prove_statements([s for p in papers().values() for s in p.statements], workers=2)
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        remember_all(r.evidence for r in records)
    return records, cache
