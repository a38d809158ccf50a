"""A worker process that grows large is replaced, and nobody waits forever for what it was to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import SECONDS

GROWS = """
import time
from joblib import Parallel, delayed
from dpverify.running.executors import worker_processes

def grow(size):
    # what is kept in this file's own names comes anew with each call
    vars(time).setdefault("kept", []).append(bytearray(b"x") * size)
    time.sleep(1.1)
    return size

if __name__ == "__main__":
    sizes = [*(4 * [1]), 400_000_000, *(7 * [1])]
    counts = list(Parallel(n_jobs=2, backend=worker_processes(), batch_size=1)(delayed(grow)(n) for n in sizes))
    print(len(counts))
"""


def test_a_worker_that_grows_large_is_replaced_where_warnings_are_errors(tmp_path: Path) -> None:
    pytest.importorskip("psutil", reason="without psutil no worker is looked at")
    script = tmp_path / "grows.py"
    script.write_text(GROWS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, timeout=SECONDS
    )
    assert (done.returncode, done.stdout.strip()) == (0, "12"), done.stderr
    assert "A worker stopped" not in done.stderr
