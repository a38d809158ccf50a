"""What tests in several folders share."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dpverify.garbage import look_for_garbage_rarely

from . import costs

if TYPE_CHECKING:
    from dpverify.ledger.document import Ledger

    from .kept_proofs import Proofs

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def no_own_papers() -> Iterator[None]:
    """What a test opens is no paper of the next."""
    yield
    if (paper := sys.modules.get("dpverify.statements.paper")) is not None:
        paper.opened_pages.clear()


# Tests run side by side. Threads of BLAS and OpenMP that wait for a core spin, and take several times the CPU; read
# when the libraries are loaded, by processes that tests start too.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# On a dumb terminal, Rich breaks lines at 80 characters and shows no bar.
os.environ["TERM"] = "xterm"


def pytest_configure(config: pytest.Config) -> None:
    """Measure what each test costs, if `DPVERIFY_COSTS` names a file for it."""
    if name := os.environ.get("DPVERIFY_COSTS"):
        config.pluginmanager.register(costs.Meter(Path(name)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage among them, now or later: there is none, and it takes seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        look_for_garbage_rarely()


THOROUGH = bool(os.environ.get("DPVERIFY_THOROUGH"))
"""Whether all cases are tried, as by `make test-thorough`."""


def pytest_report_header() -> str:
    """Say how many cases are tried."""
    return (
        "cases: all"
        if THOROUGH
        else "cases: a part of long lists, the same each time; make test-thorough has all"
    )


@pytest.fixture(scope="session")
def thorough() -> bool:
    """Whether a test tries all of its cases; `make test` has time for a part of some, the same one each time."""
    return THOROUGH


def _left_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """Cases of tests marked `one_in`, but for each n-th of a test."""
    seen: Counter[str] = Counter()
    out = []
    for item in items:
        if (mark := item.get_closest_marker("one_in")) is not None:
            name = costs.function(item.nodeid)
            if seen[name] % mark.args[0]:
                out.append(item)
            seen[name] += 1
    return out


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what the table of costs says is slow; for several processes, put first what takes longest."""
    # a case that is asked for by its name is tried
    named = any("[" in word for word in config.invocation_params.args)
    if out := set() if THOROUGH or named else set(_left_out(items)):
        config.hook.pytest_deselected(items=list(out))
        items[:] = [item for item in items if item not in out]
    table = costs.read()
    for item in items:
        if costs.is_slow(item, table):
            item.add_marker(pytest.mark.slow)
    if hasattr(config, "workerinput"):
        items[:] = costs.in_order(items, table)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of `--dist loadfile`: files go to processes, or several of them together."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return costs.together(nodeid)

    return Together(config, log)


@pytest.fixture(scope="session")
def proofs() -> Proofs:
    """The proofs of the encoded statements; what nobody asks for is not proved."""
    from .kept_proofs import Proofs

    return Proofs(ROOT / "build" / "test-proofs", workers=2 if THOROUGH else 1, anew=THOROUGH)


@pytest.fixture(scope="session")
def all_proofs(proofs: Proofs) -> list[Any]:
    """Every encoded statement, proved."""
    found = proofs.of()
    # millions of objects that stay: the garbage collector would look at them again and again
    gc.collect()
    gc.freeze()
    return found


@pytest.fixture(scope="session")
def ledger_of_proofs(all_proofs: list[Any]) -> Ledger:
    """What a run of `verify` would say of all statements, without audits."""
    from dpverify.ledger.document import ErrorBudget, Ledger
    from dpverify.verification.catalog.entries import catalog_entries

    return Ledger(
        program_version="",
        created="",
        command="",
        seed=0,
        profile="",
        versions={},
        statements=catalog_entries(all_proofs, docstrings=False),
        entries=tuple(record.evidence for record in all_proofs),
        budget=ErrorBudget(failure_probability=0.5, spent={}),
        seconds=0.0,
    )


@pytest.fixture(scope="session")
def all_remembered(all_proofs: list[Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's cache folder that remembers what was found of every statement."""
    from dpverify.verification.remembering.remembered import remember_all

    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        remember_all(r.evidence for r in all_proofs)
    return cache


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests remember stays out of the user's cache folder, and what is in there out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("users-cache")))
        yield
