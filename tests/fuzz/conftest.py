"""How much is tried, and which part of it: `DPVERIFY_FUZZ_EXAMPLES` and `DPVERIFY_FUZZ_PART`, such as 1/2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of this folder that belong to other parts of a run."""
    part = os.environ.get("DPVERIFY_FUZZ_PART")
    if part is None:
        return
    number, _, count = part.partition("/")
    mine = [item for item in items if item.path.is_relative_to(HERE)]
    out = [item for i, item in enumerate(mine) if i % int(count) != int(number) - 1]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in set(out)]
