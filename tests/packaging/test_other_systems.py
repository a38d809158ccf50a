"""Systems without `fork` and limits on processes, such as Windows: every module loads, and what needs no fork works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import dpverify

PACKAGE = Path(dpverify.__file__).parent
ASKED = {"guard": 60.0, "question": "(declare-const x Real)(assert (< (* x x) 0.0))", "options": {}}
PROGRAM = """
import asyncio, concurrent.futures.process, importlib, multiprocessing, os, signal, sys

import cvc5, numpy, psutil  # whose own files for this system are not meant

sys.modules |= dict.fromkeys(("fcntl", "grp", "pty", "pwd", "resource", "termios"))
for name in ("fork", "forkpty", "getpgid", "getuid", "killpg", "register_at_fork", "setsid", "sysconf", "WNOHANG"):
    delattr(os, name)
for name in ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPROF", "alarm", "setitimer", "pthread_sigmask"):
    delattr(signal, name)
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(name, repr(error))

import numpy as np
from dpverify.auditing import Request, audit
from dpverify.proving.checker.arithmetic.answers import serve
from dpverify.running import user_guard

user_guard.not_contained.__defaults__ = ("win32",)
request = Request(lambda data, rng: rng.laplace(), np.zeros((1, 1)), np.ones((1, 1)), "eps=9", runs=200, time_limit=9.0)
print(audit(request, tell=print).verdict.value)
try:
    audit(Request("os:getpid", np.zeros((1, 1)), np.ones((1, 1)), "eps=9"))
except ValueError as error:
    print(error, flush=True)
serve()
"""


def modules() -> list[str]:
    """Those that name what some systems lack; others can fail only by these."""
    named = re.compile(r"^ *(import|from) (os|signal|fcntl|grp|pty|pwd|resource|termios)\b", re.M)
    folders = (PACKAGE, *(PACKAGE / name for name in ("algorithms", "properties", "reports")))
    files = {file for folder in folders for file in folder.rglob("*.py")}
    named_in = [file.relative_to(PACKAGE) for file in files if named.search(file.read_text(encoding="utf-8"))]
    return sorted(".".join(("dpverify", *file.with_suffix("").parts)) for file in named_in)


def test_all_is_imported_and_works_without_fork_and_limits(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text("import resource\n")
    program = f"import sys; sys.path.append({str(tmp_path)!r})\n{PROGRAM}"
    ended = subprocess.run(
        [sys.executable, "-c", program, *modules(), "planted"],
        input=json.dumps(ASKED),
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    planted, contained, told, verdict, refused, answer = ended.stdout.splitlines()
    assert planted.startswith("planted ModuleNotFoundError")
    assert contained.startswith("On this system (win32) audited code is not contained")
    assert (told[:5], verdict) == ("9-DP ", "undecided")
    assert refused == "callable was 'os:getpid'; allowed: sample files on this system, which has no fork."
    assert json.loads(answer)["contradiction"]
