"""Functions that try to end, kill, copy or deceive the session that audits them: it goes on, and says what they did."""

from __future__ import annotations

import re

import pytest

pytest_plugins = "pytester"

HOSTILE = """
    import atexit, ctypes, os, resource, signal, sys, threading
    import numpy as np
    import pytest

    def noise(data, rng, runs, scale=1.0):
        return data.sum() + scale * rng.laplace(size=runs)

    def leaves(data, rng, runs): os._exit(0)
    def leaves_red(data, rng, runs): os._exit(1)
    def exits(data, rng, runs): sys.exit(0)
    def aborts(data, rng, runs): os.abort()
    def crashes(data, rng, runs): ctypes.string_at(0)
    def becomes_another(data, rng, runs): os.execv("/bin/true", ["true"])
    def kills_itself(data, rng, runs): os.kill(os.getpid(), signal.SIGKILL)
    def kills_its_parent(data, rng, runs):
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    def kills_its_group(data, rng, runs): os.killpg(0, signal.SIGKILL)
    def ends_pytest(data, rng, runs): pytest.exit("done", returncode=0)
    def skips(data, rng, runs): pytest.skip("no")
    def interrupts(data, rng, runs): raise KeyboardInterrupt
    def raises(data, rng, runs): raise ValueError("no luck")
    def closes(data, rng, runs):
        os.closerange(0, 100)
        return noise(data, rng, runs)
    def writes(data, rng, runs):
        for descriptor in range(3, 100):
            try:
                os.write(descriptor, b"x" * 100)
            except OSError:
                pass
        return noise(data, rng, runs)
    def fills_memory(data, rng, runs):
        return np.ones(2**33) * data.sum()
    def leaves_from_a_thread(data, rng, runs):
        thread = threading.Thread(target=lambda: os._exit(0))
        thread.start()
        thread.join()

    def copies_itself(data, rng, runs):
        os.fork()
        return noise(data, rng, runs)
    def leaves_something_running(data, rng, runs):
        if os.fork() == 0:
            signal.pause()
        return noise(data, rng, runs)
    def prepares_an_end(data, rng, runs):
        atexit.register(os._exit, 0)
        signal.alarm(60)
        return noise(data, rng, runs)
    def moves(data, rng, runs):
        os.chdir("/")
        os.environ.clear()
        return noise(data, rng, runs)

    def patches(data, rng, runs):
        import dpverify.auditing.requests.drawing as drawing
        from dpverify.auditing.sequential import BettingAuditor, SequentialAudit
        drawing.repeats = BettingAuditor.audit = lambda *a, **k: None
        SequentialAudit.verdict = "supported"
        pytest.fail = lambda *a, **k: None
        return noise(data, rng, runs, 0.02)

    FAILS = [leaves, leaves_red, exits, aborts, crashes, becomes_another, kills_itself, kills_its_parent,
             kills_its_group, ends_pytest, skips, interrupts, raises, closes, writes, fills_memory,
             leaves_from_a_thread, patches]
    PASSES = [noise, copies_itself, leaves_something_running, prepares_an_end, moves]

    @pytest.mark.parametrize("function", FAILS + PASSES, ids=lambda f: f.__name__)
    @pytest.mark.privacy_claim("eps=1", data=[[0.0], [1.0]], neighbor=[[0.0], [0.0]], runs=500)
    def test_claim(function):
        return function

    def test_that_comes_last():
        pass
"""

SAID = {
    "leaves": "ended its process (exit code 0) before its runs were done",
    "leaves_red": "ended its process (exit code 1)",
    "exits": "exited (SystemExit: 0)",
    "aborts": "was ended by SIGABRT",
    "crashes": "was ended by SIGSEGV",
    "becomes_another": "ended its process (exit code 0)",
    "kills_itself": "was ended by SIGKILL",
    "kills_its_parent": "ended its process (no exit code)",
    "kills_its_group": "was ended by SIGKILL",
    "ends_pytest": "raised Exit in block 0",
    "raises": "raised ValueError in block 0 (runs 0 to 15): no luck (test_hostile.py, line",
    "interrupts": "interrupts raised KeyboardInterrupt, without a message (test_hostile.py, line",
    "closes": "closed the pipe",
    "writes": "wrote to the pipe",
    "leaves_from_a_thread": "ended its process (exit code 0)",
    "patches": "1-DP is violated",
}


def test_a_session_outlives_what_its_functions_do(pytester: pytest.Pytester) -> None:
    """Every test is run and has the outcome that it should, and pytest ends as it does after failures."""
    pytester.makepyfile(test_hostile=HOSTILE)
    result = pytester.runpytest_subprocess("-v", "-rf", "-p", "no:cacheprovider")
    lines = result.outlines
    outcomes = dict(
        found.groups()
        for line in lines
        if (
            found := re.match(
                r"test_hostile.py::test_(?:claim\[)?(\w+)\]? (PASSED|FAILED|SKIPPED|ERROR)", line
            )
        )
    )
    failing = re.search(r"FAILS = \[(.*?)\]", HOSTILE, re.S)
    passing = re.search(r"PASSES = \[(.*?)\]", HOSTILE, re.S)
    assert failing is not None
    assert passing is not None
    expected = dict.fromkeys(re.findall(r"\w+", failing[1]), "FAILED")
    expected |= dict.fromkeys(re.findall(r"\w+", passing[1]), "PASSED") | {"that_comes_last": "PASSED"}
    assert outcomes == expected
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    text = result.stdout.str()
    for name, said in SAID.items():
        assert said in text, (name, said)
