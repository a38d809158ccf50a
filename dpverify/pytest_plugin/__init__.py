"""The pytest plugin: privacy claims on tests, audited under one failure probability for the whole session.

pytest loads this module at every start where dpverify is installed, so it imports nothing but pytest and the standard
library; a test that states a claim loads the rest. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpverify.pytest_plugin.items import MARKER
from dpverify.pytest_plugin.options import add_options, read_options
from dpverify.pytest_plugin.session import SESSION, Session

if TYPE_CHECKING:
    from dpverify.pytest_plugin.claims import Claims

__all__ = ["privacy_claim", "privacy_seed", "pytest_addoption", "pytest_configure"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options, on the command line and in the configuration file."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the options, name the marker, and begin a session.

    Raises `pytest.UsageError` for an option that cannot be used.
    """
    session = config.stash[SESSION] = Session(read_options(config))
    config.pluginmanager.register(session, "dpverify-session")
    config.addinivalue_line(
        "markers",
        f"{MARKER}(claim, *, data, neighbor, adjacency, runs, allow_undecided, ...): the test returns a "
        "mechanism, or its outputs on two neighboring data sets, and fails if the claim is violated or undecided",
    )


@pytest.fixture
def privacy_claim(request: pytest.FixtureRequest) -> Claims:
    """State claims within a test: `privacy_claim(mechanism, "eps=1", data=..., neighbor=...)`."""
    __tracebackhide__ = True
    return request.config.stash[SESSION].claims_of(request.node)


@pytest.fixture
def privacy_seed(request: pytest.FixtureRequest) -> int:
    """The session's seed, for a test that draws outputs itself."""
    return request.config.stash[SESSION].options.seed
