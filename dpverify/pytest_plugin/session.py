"""One session of pytest: who states claims, how the failure probability is divided, and what was found.

The failure probability is divided among the tests that state claims, equally, once they are collected: how many there
are depends on no outcome, and is the same in every process that pytest-xdist starts, since these collect the same
tests. A test that states several claims divides its own part further, as a convergent series.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

import pytest

from dpverify.pytest_plugin.items import CLAIMS, FIXTURE, FOUND, MARKER, PLACE, SAID, asks, name_of
from dpverify.pytest_plugin.options import Options

if TYPE_CHECKING:
    from dpverify.auditing.error_share import ErrorShare
    from dpverify.pytest_plugin.claims import Claims

_SENT = "dpverify"
"""Attribute of a report."""


class Session:
    """The hooks of a session, and what they keep."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.names: list[str] = []
        """Of the tests that state claims, in the order of their collection, all different."""
        self.found: dict[tuple[int, int], dict[str, Any]] = {}
        """By a test's place and a claim's number."""
        self.counted = 0
        """How many tests state claims, as workers say."""
        self._shares: tuple[ErrorShare, ...] = ()

    def share(self, place: int) -> ErrorShare:
        """The part of the failure probability of one test.

        A test that is run again gets it again: it asks the same with the same seed, so that it is wrong again or not.
        """
        from dpverify.auditing.error_share import ErrorShare

        if not self._shares:
            self._shares = ErrorShare(self.options.failure_probability, name="session").split(*self.names)
        part = self._shares[place]
        return ErrorShare(part.failure_probability, name=part.name)

    def claims_of(self, item: pytest.Item) -> Claims:
        """The claims of one test, made at the first call; a test that was not counted fails."""
        __tracebackhide__ = True
        from dpverify.pytest_plugin.claims import Claims

        if PLACE not in item.stash:
            pytest.fail(
                f"The fixture {FIXTURE} is asked for while a test runs; allowed: a test that names it among its "
                "arguments or in usefixtures, so that its part of the failure probability is known before.",
                pytrace=False,
            )
        if CLAIMS not in item.stash:
            place = item.stash[PLACE]
            item.stash[CLAIMS] = Claims(self.options, item, self.share(place), self.names[place])
        found: Claims = item.stash[CLAIMS]
        return found

    # --------------------------------------------------------------------------------------- what is collected

    def pytest_report_header(self) -> str:
        """What the session's audits rest on."""
        chosen = self.options
        return (
            f"dpverify: profile {chosen.profile}, seed {chosen.seed}, failure probability "
            f"{chosen.failure_probability:g} over all claims of the session"
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests that state claims, once all that is left out has been."""
        stating = [
            item for item in session.items if item.get_closest_marker(MARKER) is not None or asks(item)
        ]
        for place, item in enumerate(stating):
            item.stash[PLACE] = place
        self.names, self._shares = _distinct(map(name_of, stating)), ()
        self.counted = len(stating)

    def pytest_report_collectionfinish(self) -> list[str]:
        """How the failure probability is divided."""
        if not self.counted:
            return []
        part = self.options.failure_probability / self.counted
        return [f"dpverify: {_tests(self.counted)} with claims, failure probability {part:.3g} each"]

    # --------------------------------------------------------------------------------------- what is run

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Forget what an earlier run of the same test found."""
        for key in (CLAIMS, FOUND, SAID):
            if key in item.stash:
                del item.stash[key]

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> object:
        """Call a test that has the marker, and audit what it returns."""
        __tracebackhide__ = True
        if pyfuncitem.get_closest_marker(MARKER) is None:
            return None
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        returned = pyfuncitem.obj(**arguments)
        self.claims_of(pyfuncitem).audit_returned(returned)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send what was found along with the report, also from another process."""
        report = yield
        if call.when != "call" or PLACE not in item.stash:
            return report
        found = item.stash.get(FOUND, [])
        if report.failed and SAID in item.stash:
            report.longrepr = item.stash[SAID]
        if report.passed and not found and item.get_closest_marker(MARKER) is not None:
            report.outcome = "failed"
            report.longrepr = (
                f"The marker {MARKER} is on a test that cannot return anything, so that its claim was not audited; "
                f"allowed: a plain test function or method, or the fixture {FIXTURE}."
            )
        setattr(report, _SENT, {"counted": self.counted, "found": found})
        return report

    # --------------------------------------------------------------------------------------- what is reported

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what was found."""
        sent = getattr(report, _SENT, None)
        if sent is not None:
            self.counted = max(self.counted, sent["counted"])
            for one in sent["found"]:
                self.found[one["place"], one["number"]] = one

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The verdicts in one line, and where the reports are."""
        if not self.counted:
            return
        verdicts = Counter(one["verdict"] for one in self.found.values())
        said = (
            ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())) or "none audited"
        )
        terminalreporter.write_line(
            f"dpverify: {said}; failure probability {self.options.failure_probability:g} over "
            f"{_tests(self.counted)} with claims"
        )
        for what, file in (("ledger", self.options.report), ("SARIF", self.options.sarif)):
            if file is not None:
                terminalreporter.write_line(f"dpverify: {what} in {file}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the reports, in the process that reports."""
        wanted = self.options.report is not None or self.options.sarif is not None
        if wanted and not hasattr(session.config, "workerinput"):
            from dpverify.pytest_plugin.session_ledger import write_session

            found = [self.found[key] for key in sorted(self.found)]
            write_session(self.options, found, session.config.invocation_params.args)


SESSION = pytest.StashKey[Session]()
"""Of a configuration."""


def _distinct(names: Iterable[str]) -> list[str]:
    """Names with numbers behind those that come again, as tests do that are collected twice."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def _tests(count: int) -> str:
    return f"{count} test{'' if count == 1 else 's'}"
