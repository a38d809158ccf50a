"""Sessions of pytest with privacy claims: verdicts, messages, division of the failure probability, reports.

False alarms: every session here has the plugin's default, 1e-6, for all correct claims together, spent when the seeds
were chosen.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

# pytester forgets what is imported within a session; these must stay
import dpverify.pytest_plugin.claims
import dpverify.pytest_plugin.session_ledger  # noqa: F401
from dpverify.properties import check_private
from dpverify.pytest_plugin.items import name_of
from dpverify.reports import load_ledger

pytest_plugins = "pytester"

MECHANISMS = """
    def noisy(data, rng, runs):
        return data.mean() + rng.laplace(size=runs) / len(data)

    def half(data, rng, runs):
        return data.mean() + 0.5 * rng.laplace(size=runs) / len(data)

    def failing(data, rng, runs):
        return helper(data)

    def helper(data):
        raise KeyError("no such record")
"""
HEAD = """
    import unittest
    import numpy as np
    import pytest
    from mechanisms import failing, half, noisy
    PAIR = {"data": [[0.0], [0.0]], "neighbor": [[0.0], [1.0]]}
"""
CLAIMS = (
    HEAD
    + """
    @pytest.mark.privacy_claim("eps=1", **PAIR)
    def test_right():
        return noisy

    @pytest.mark.privacy_claim("eps=1", fixed_runs=True, **PAIR)
    def test_half_the_noise():
        return half

    @pytest.mark.privacy_claim("eps=1")
    def test_outputs(privacy_seed):
        rng = np.random.default_rng(privacy_seed)
        return rng.laplace(size=3000), 1 + rng.laplace(size=3000)

    def test_several(privacy_claim):
        found = privacy_claim(noisy, "eps=1", **PAIR)
        assert found.verdict == "supported"
        privacy_claim(half, "eps=1", **PAIR)

    def test_other():
        pass
"""
)


def made(pytester: pytest.Pytester, tests: str) -> pytest.Pytester:
    pytester.makepyfile(mechanisms=MECHANISMS, test_claims=tests)
    return pytester


def entries(path: Path) -> list[dict[str, Any]]:
    """A ledger's, without how long they took."""
    return [
        {name: value for name, value in entry.items() if name != "seconds"}
        for entry in json.loads(path.read_text(encoding="utf-8"))["entries"]
    ]


def test_claims_are_audited_and_said(pytester: pytest.Pytester) -> None:
    made(pytester, CLAIMS)
    found = pytester.runpytest_inprocess("--dpverify-report=ledger.json", "--junitxml=junit.xml")
    found.assert_outcomes(passed=3, failed=2)
    text = found.stdout.str()
    assert "dpverify: profile ci, seed 0, failure probability 1e-06 over all claims of the session" in text
    assert "dpverify: 4 tests with claims, failure probability 2.5e-07 each" in text
    assert "dpverify: 3 supported, 2 violated; failure probability 1e-06 over 4 tests with claims" in text

    section = text.partition("_ test_half_the_noise _")[2].partition("_ test_several _")[0]
    for said in (
        "1-DP is violated (seed 0, 20000 runs, adjacency replace-one)",
        "claim: 1-DP, adjacency replace-one",
        "data: [[0.], [0.]]",
        "neighbor: [[0.], [1.]]",
        "difference: record 2 is [0.], in the neighbor [1.]",
        "interval: epsilon at delta 0 is in [1.8",
        "seed: 0",
        "failure probability: 2.5e-07",
    ):
        assert said in section, section
    assert re.search(r"event: value <= -?[0-9.]+, in \d+ of \d+ judged runs on the left", section)
    assert "Traceback" not in section
    assert "hidden" not in section
    assert not re.search(r"\.py:\d", section)  # none of our lines, and none of the test's, which did not fail

    # independent of the plugin: the same audit by hand
    data, neighbor = np.zeros((2, 1)), np.array([[0.0], [1.0]])
    with pytest.raises(AssertionError) as by_hand:
        check_private(
            lambda data, rng, runs: data.mean() + 0.5 * rng.laplace(size=runs) / len(data),
            data, neighbor, "eps=1", failure_probability=2.5e-07, fixed_runs=True,
        )  # fmt: skip
    assert str(by_hand.value).splitlines()[0] in section

    # within a test, the line that states the claim is shown, and nothing of ours
    section = text.partition("_ test_several _")[2].partition("generated xml")[0]
    assert '>       privacy_claim(half, "eps=1", **PAIR)' in section
    assert set(re.findall(r"(\w+\.py):\d+:", section)) == {"test_claims.py"}

    ledger = load_ledger(pytester.path / "ledger.json")
    assert [e.verdict for e in ledger.entries] == [
        "supported", "violated", "supported", "supported", "violated",
    ]  # fmt: skip
    assert len(ledger.budget.spent) == 4
    assert sum(map(Fraction, ledger.budget.spent.values())) <= Fraction(1e-6)
    assert sum(Fraction(s.failure_probability) for s in ledger.budget.shares) < Fraction(1e-6)

    cases = {
        case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")}
        for case in ElementTree.parse(pytester.path / "junit.xml").iter("testcase")
    }
    half = cases["test_half_the_noise"]
    assert half["dpverify.verdict"] == "violated"
    assert half["dpverify.claim"] == "1-DP"
    assert float(str(half["dpverify.epsilon_lower"])) > 1.7
    assert cases["test_several"]["dpverify.verdict.2"] == "violated"
    assert cases["test_other"] == {}

    # the line to paste does the same again, to the last bit, though one test alone is collected
    again = shlex.split(re.findall(r"^replay: (.*)$", text, re.M)[0])
    assert again[0] == "pytest"
    found = pytester.runpytest_inprocess(*again[1:], "--dpverify-report=again.json")
    found.assert_outcomes(failed=1)
    assert entries(pytester.path / "again.json") == [entries(pytester.path / "ledger.json")[1]]

    # nor do outcomes depend on how many processes there are
    found = pytester.runpytest_subprocess(
        "-n", "2", "-q", "--dpverify-report=two.json", "--dpverify-sarif=s.json"
    )
    found.assert_outcomes(passed=3, failed=2)
    assert entries(pytester.path / "two.json") == entries(pytester.path / "ledger.json")
    assert "dpverify: 3 supported, 2 violated" in found.stdout.str()

    # the line where the claim is stated
    results = json.loads((pytester.path / "s.json").read_text(encoding="utf-8"))["runs"][0]["results"]
    physical = [result["locations"][0]["physicalLocation"] for result in results]
    assert [place["artifactLocation"]["uri"] for place in physical] == ["test_claims.py"] * 2
    source = (pytester.path / "test_claims.py").read_text(encoding="utf-8").splitlines()
    lines = [source[place["region"]["startLine"] - 1] for place in physical]
    assert lines[0].startswith(("@pytest.mark.privacy_claim", "def test_half_the_noise"))
    assert lines[1].startswith("def test_several")

    # other tests than these count for nothing, and deselected ones neither
    found = pytester.runpytest_inprocess("-k", "right or other", "-q", "--dpverify-profile=dev")
    assert "1 test with claims, failure probability 1e-06 each" in found.stdout.str()


MISTAKES = (
    HEAD
    + """
    @pytest.mark.privacy_claim("eps=1", runs=100, **PAIR)
    def test_nothing_returned():
        pass

    @pytest.mark.privacy_claim("eps=1", runs=100, **PAIR)
    def test_function_fails():
        return failing

    def test_function_fails_within(privacy_claim):
        privacy_claim(failing, "eps=1", runs=100, **PAIR)

    @pytest.mark.privacy_claim("eps=one", runs=100, **PAIR)
    def test_no_claim():
        return noisy

    @pytest.mark.privacy_claim("eps=1", data=[[0.0]], neighbor=[[0.0]])
    def test_no_neighbors():
        return noisy

    @pytest.mark.privacy_claim("eps=1", lift=[[0.0]])
    def test_no_such_argument():
        return noisy

    @pytest.mark.privacy_claim
    def test_no_claim_at_all():
        return noisy

    class TestUnit(unittest.TestCase):
        @pytest.mark.privacy_claim("eps=1", **PAIR)
        def test_cannot_return(self):
            pass

    def test_asks_too_late(request):
        request.getfixturevalue("privacy_claim")

    @pytest.mark.privacy_claim("eps=9", runs=100, **PAIR)
    def test_too_few_runs():
        return noisy

    @pytest.mark.privacy_claim("eps=9", runs=100, allow_undecided=True, **PAIR)
    def test_too_few_runs_allowed():
        return noisy

    @pytest.mark.privacy_claim("eps=1", **PAIR)
    def test_own_assertion():
        assert noisy is None
"""
)


def test_what_cannot_be_audited_fails_in_one_sentence(pytester: pytest.Pytester) -> None:
    found = made(pytester, MISTAKES).runpytest_inprocess("-rA", "-p", "no:cacheprovider")
    text = found.stdout.str()
    found.assert_outcomes(passed=1, failed=11)
    for said in (
        "what the claim is about was None; allowed: a mechanism (data, rng)",
        "claim was 'eps=one'",
        "data and neighbor hold the same records",
        "privacy_claim was ['lift']; allowed: allow_undecided, command",
        "the marker privacy_claim was (); allowed: one claim",
        "is on a test that cannot return anything",
        "The fixture privacy_claim is asked for while a test runs",
        "9-DP is undecided (seed 0, 0 runs",
    ):
        assert said in text, said
    sections = dict(re.findall(r"^_{3,} (\S+) _{3,}\n(.*?)(?=^_{3,} |^={3,} )", text, re.S | re.M))
    files = {name: set(re.findall(r"(\w+\.py):\d+", section)) for name, section in sections.items()}
    assert files.pop("test_function_fails_within") == {"test_claims.py"}
    for name in ("test_function_fails", "test_function_fails_within"):
        assert "'no such record' (mechanisms.py, line" in sections[name]
    assert files.pop("test_own_assertion") == {"test_claims.py"}
    assert files
    assert not any(files.values())
    assert "no such record" in sections["test_function_fails"]


def test_the_profile_multiplies_runs(pytester: pytest.Pytester) -> None:
    """Where a tenth of the runs decides nothing the test is skipped, and says so: it neither passed nor failed."""
    tests = (
        HEAD
        + """
    @pytest.mark.privacy_claim("eps=5", runs=4000, **PAIR)
    def test_decided_by_many():
        return noisy

    @pytest.mark.privacy_claim("eps=1", **PAIR)
    def test_half():
        return half
"""
    )
    made(pytester, tests)
    found = pytester.runpytest_inprocess("--dpverify-profile=dev", "-rs", "-p", "no:cacheprovider")
    found.assert_outcomes(skipped=1, failed=1)
    assert re.search(r"SKIPPED \[1\] test_claims.py:\d+: no violation .* with 400 runs", found.stdout.str())
    assert "so few runs, as profile dev makes, decide nothing" in found.stdout.str()
    pytester.makeini("[pytest]\ndpverify_profile = ci\ndpverify_seed = 7\n")
    found = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    found.assert_outcomes(passed=1, failed=1)
    assert "seed: 7" in found.stdout.str()


def test_other_auditors_and_checks_take_parts(pytester: pytest.Pytester) -> None:
    tests = (
        HEAD
        + """
    from dpverify.auditing import BatchAuditor, GivenSamples, PrivacyQuestion
    from dpverify.privacy import Adjacency, PureDP, StatedGuarantee

    @pytest.mark.parametrize("shift", [1.0, 3.0])
    def test_any(privacy_claim, shift):
        assert privacy_claim.failure_probability("a check of our own") == 1e-6 / 2 / 2
        rng = np.random.default_rng(privacy_claim.seed)
        stated = StatedGuarantee(PureDP(1.0), Adjacency.REPLACE_ONE)
        outputs = GivenSamples(rng.laplace(size=2000), shift + rng.laplace(size=2000))
        privacy_claim.audit(BatchAuditor(), PrivacyQuestion(stated, "two", 2000), outputs)
"""
    )
    found = made(pytester, tests).runpytest_inprocess("-p", "no:cacheprovider", "--dpverify-report=l.json")
    found.assert_outcomes(passed=1, failed=1)
    assert "replay: pytest 'test_claims.py::test_any[3.0]' --dpverify-seed=0" in found.stdout.str()
    assert set(re.findall(r"(\w+\.py):\d+", found.stdout.str())) == {"test_claims.py"}
    budget = load_ledger(pytester.path / "l.json").budget
    assert [s.failure_probability for s in budget.shares if s.why == "a check of our own"] == [
        2.5e-07,
        2.5e-07,
    ]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--dpverify-profile=fast", "--dpverify-profile was 'fast'; allowed: dev, ci, nightly."),
        ("--dpverify-seed=-1", "--dpverify-seed was '-1'; allowed: an integer of at least 0."),
        ("--dpverify-failure-probability=nan", "allowed: a number from 1e-15 to below 1."),
        ("--dpverify-failure-probability=1", "allowed: a number from 1e-15 to below 1."),
        ("--dpverify-report=no/such/folder.json", "allowed: a file in a folder that exists."),
    ],
)
def test_bad_options_are_refused(pytester: pytest.Pytester, option: str, message: str) -> None:
    found = pytester.runpytest_inprocess(option)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    assert message in found.stderr.str()
    assert "Traceback" not in found.stderr.str()


def test_a_group_of_xdist_is_no_part_of_a_tests_name() -> None:
    item: Any = SimpleNamespace(
        nodeid="test_a.py::test_b[@]@one",
        config=SimpleNamespace(option=SimpleNamespace(loadgroup=True)),
        get_closest_marker=lambda name: name == "xdist_group",
    )
    assert name_of(item) == "test_a.py::test_b[@]"
    item.config.option.loadgroup = False
    item.nodeid = "test_a.py::test_b[@]"
    assert name_of(item) == item.nodeid


def test_pytest_starts_with_nothing_heavy() -> None:
    code = (
        "import pytest, sys; before = set(sys.modules)\n"
        "import dpverify.pytest_plugin\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    plugin = [f"dpverify.pytest_plugin{part}" for part in ("", ".items", ".options", ".session")]
    assert done.stdout.split() == ["dpverify", *plugin, "dpverify.stubs"]
