"""What is known of a test that states claims, and what it leaves for the session."""

from __future__ import annotations

from typing import Any

import pytest

MARKER = "privacy_claim"
"""Of a test that returns what its claim is about."""

FIXTURE = "privacy_claim"
"""Of a test that states claims itself."""

PLACE = pytest.StashKey[int]()
"""Which of the tests that state claims a test is, from 0."""

FOUND = pytest.StashKey[list[dict[str, Any]]]()
"""What was found of a test's claims, in plain types."""

SAID = pytest.StashKey[str]()
"""Why a test failed, where no line of its code did."""

CLAIMS = pytest.StashKey[Any]()
"""A test's `Claims`."""


def name_of(item: pytest.Item) -> str:
    """What selects a test on the command line: its id, without the group that pytest-xdist puts behind it."""
    grouped = getattr(item.config.option, "loadgroup", False) and item.get_closest_marker("xdist_group")
    return item.nodeid.rpartition("@")[0] if grouped and "@" in item.nodeid else item.nodeid


def asks(item: pytest.Item) -> bool:
    """Whether a test asks for the fixture."""
    return FIXTURE in getattr(item, "fixturenames", ())
