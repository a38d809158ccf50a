"""Users' functions and modules that exit, print, end their process, or fail with unreadable messages."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.cli import main
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.running import Executor, UserMechanism, run
from dpverify.quoting import LONGEST, named, quoted
from dpverify.running.standard_output import standard_output_to_error

DATA = np.arange(6.0).reshape(3, 2)

SECONDS = 60
"""After which a program of these tests is taken to hang."""

SOURCE = '''
import multiprocessing
import os
import pathlib
import sys
import time

print("printed at import")


class Abort(BaseException):
    pass


class Stubborn(Exception):
    """Cannot travel between processes."""

    def __init__(self, first, second):
        super().__init__("one\\n\\n  two\\tthree")


class Mute(Exception):
    def __str__(self):
        raise ValueError


def exits(data, rng):
    sys.exit(0)


def exits_with_text(data, rng, runs):
    raise SystemExit("first line\\nsecond line")


def aborts(data, rng):
    raise Abort("enough")


def interrupts(data, rng):
    raise KeyboardInterrupt


def dies(data, rng):
    os._exit(7)


def long(data, rng):
    raise ValueError("a\\nb" + 300 * "c")


def empty(data, rng):
    raise ValueError


def stubborn(data, rng):
    raise Stubborn(1, 2)


def mute(data, rng):
    raise Mute


def prints(data, rng, runs):
    print("printed by the function")
    os.write(1, b"written to the descriptor\\n")
    os.system("echo printed by a child process")
    sys.__stdout__.write("printed to the original stream\\n")
    return data.mean() + rng.laplace(size=runs)


def waits(data, rng):
    pathlib.Path("waiting").touch()
    time.sleep(60)
'''

MODULES = {
    "faulty.py": SOURCE,
    "exiting.py": "import sys\nsys.exit(3)\n",
    "exiting_silently.py": "import sys\nsys.exit()\n",
    "aborting.py": "raise GeneratorExit\n",
    "mumbling.py": "raise ValueError('a\\nb' + 300 * 'c')\n",
    "silent.py": "raise ValueError\n",
    "nameless.py": "raise ModuleNotFoundError('no\\nname')\n",
    "exiting_in_workers.py": (
        "import multiprocessing, sys\n"
        "if multiprocessing.current_process().name != 'MainProcess':\n    sys.exit(4)\n"
        "def noise(data, rng, runs):\n    return rng.normal(size=runs)\n"
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with modules and data in it; what is imported from it is forgotten afterwards."""
    for name, source in MODULES.items():
        (tmp_path / name).write_text(source)
    (tmp_path / "d.csv").write_text("0\n0\n")
    (tmp_path / "e.csv").write_text("0\n1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in MODULES:
        sys.modules.pop(name.removesuffix(".py"), None)


def audit(target: str, *more: str) -> list[str]:
    files = ["--data", "d.csv", "--neighbor", "e.csv"]
    return ["audit", target, *files, "--claim", "eps=2", "--runs", "1500", *more]


def program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dpverify", *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def called(arguments: list[str]) -> int:
    """The exit code of the program, run in this process."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def do(target: str, executor: str = "serial") -> None:
    mechanism = UserMechanism.load(target)
    run(mechanism, DATA, runs=6, seed=1, block_size=3, executor=Executor.parse(executor))


SENTENCES = """
import sys
import numpy as np
from dpverify.errors import InvalidDataError
from dpverify.running import Executor, UserMechanism, run

executor = Executor.parse(sys.argv[1])
for target in sys.argv[2:]:
    try:
        run(UserMechanism.load(target), np.zeros((3, 2)), runs=6, seed=1, block_size=3, executor=executor)
    except InvalidDataError as error:
        print("said:", error)
    except KeyboardInterrupt:
        print("said: interrupted")
"""


def check_sentences(folder: Path, executor: str, faults: list[tuple[str, str]]) -> None:
    """Run functions in a program of its own, since what is tested would else wait forever."""
    ended = subprocess.run(
        [sys.executable, "-c", SENTENCES, executor, *(target for target, _ in faults)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    said = [line.removeprefix("said: ") for line in ended.stdout.splitlines() if line.startswith("said: ")]
    for sentence, (_, message) in zip(said, faults, strict=True):
        assert re.search(message, sentence)


# ------------------------------------------------------------------------------------------- exits

EXITS = [
    ("exits", r"^The function faulty:exits exited \(SystemExit: 0\) instead of returning an output"),
    ("exits_with_text", r"exited \(SystemExit: first line second line\) instead of"),
    ("aborts", r"raised Abort: enough instead of returning an output"),
]

FAULTS = [
    *((f"faulty:{name}", message) for name, message in EXITS),
    ("faulty:stubborn", r"raised Stubborn in block 0 \(runs 0 to 2\): one two three$"),
    ("exiting_in_workers:noise", r"worker process could not load .* \(SystemExit: 4\)"),
]


@pytest.mark.parametrize(("name", "message"), EXITS)
def test_exits_are_refused(name: str, message: str, folder: Path) -> None:
    with pytest.raises(InvalidDataError, match=message):
        do(f"faulty:{name}")


def test_faults_in_threads(folder: Path) -> None:
    interrupts = ("faulty:interrupts", "^interrupted$")
    check_sentences(folder, "threads=2", [*FAULTS[:-1], interrupts, FAULTS[0]])


def test_exits_end_the_program_with_the_code_of_bad_input(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(audit("faulty:exits")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("dpverify: The function faulty:exits exited")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("exiting", r"^The module exiting exited \(SystemExit: 3\) while it was imported"),
        ("exiting_silently", r"exited \(SystemExit\) while it was imported"),
        ("aborting", "raised GeneratorExit while it was imported"),
    ],
)
def test_modules_that_exit_are_refused(module: str, message: str, folder: Path) -> None:
    with pytest.raises(InvalidDataError, match=message):
        UserMechanism.load(f"{module}:f")


def test_faults_in_processes(folder: Path) -> None:
    # one that exits when it runs, one when it is loaded
    for target, message in (FAULTS[0], FAULTS[-1]):
        with pytest.raises(InvalidDataError, match=message):
            do(target, "processes=2")


def test_interrupts_are_passed_on(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        do("faulty:interrupts")
    (folder / "interrupting.py").write_text("raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        UserMechanism.load("interrupting:f")


def test_a_signal_is_not_the_functions_fault(folder: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "dpverify", *audit("faulty:waits")],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        limit = time.monotonic() + SECONDS
        while not (folder / "waiting").exists() and time.monotonic() < limit:
            time.sleep(0.05)
        running.terminate()
        _, err = running.communicate(timeout=SECONDS)
    finally:
        running.kill()
    assert running.returncode == 128 + signal.SIGTERM
    assert "exited" not in err


# ------------------------------------------------------------------------------------------- lost workers


def test_a_worker_that_ends_is_said_in_one_sentence(folder: Path) -> None:
    with pytest.raises(InvalidDataError, match=r"^A worker process ended \(EXIT\(7\).*\) before its runs"):
        do("faulty:dies", "processes=2")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """One Dask worker process on this machine, whose death is not forgiven."""
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None
        ) as started,
    ):
        yield started


def test_faults_on_a_dask_cluster(cluster: Any, folder: Path) -> None:
    lost = ("faulty:dies", "^A worker process ended before its runs")
    check_sentences(folder, f"dask={cluster.scheduler_address}", [*FAULTS, lost])


# ------------------------------------------------------------------------------------------- prints


PRINTED = (
    "printed at import",
    "printed by the function",
    "written to the descriptor",
    "printed by a child process",
)


@pytest.mark.parametrize("executor", ["threads=2", "processes=2"])
def test_what_functions_print_stays_out_of_the_json(executor: str, folder: Path) -> None:
    ended = program(folder, *audit("faulty:prints", "--executor", executor, "--json", "-"))
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["subject"] == "faulty:prints"
    assert all(text in ended.stderr for text in (*PRINTED, "printed to the original stream"))


def test_what_functions_print_here_stays_out_of_the_json(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert called(audit("faulty:prints", "--json", "-")) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["subject"] == "faulty:prints"
    assert all(text in err for text in PRINTED)


def test_prints_go_to_a_standard_error_that_is_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(audit("faulty:prints", "--json", "-")) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    assert "printed at import" in err
    assert "printed by the function" in err


def test_streams_that_users_replace_or_close_are_given_back(capfd: pytest.CaptureFixture[str]) -> None:
    before, errors = sys.stdout, sys.stderr
    with standard_output_to_error:
        print("inside")
        with standard_output_to_error:
            sys.stdout.close()
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # as users do, who never close it
            replaced = sys.stdout
        assert sys.stdout is replaced
    replaced.close()
    assert (sys.stdout, sys.stderr) == (before, errors)
    print("after")
    print("errors after", file=sys.stderr)
    os.write(1, b"descriptor after\n")
    sys.stdout.flush()
    out, err = capfd.readouterr()
    assert set(out.splitlines()) == {"after", "descriptor after"}
    assert set(err.splitlines()) == {"inside", "errors after"}


# ------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("long", r"ValueError in block 0 \(runs 0 to 2\): a bc{194}\.\.\.$"),
        ("empty", r"raised ValueError in block 0 \(runs 0 to 2\), without a message\.$"),
        ("stubborn", r"raised Stubborn in block 0 \(runs 0 to 2\): one two three$"),
        ("mute", r"raised Mute in block 0 \(runs 0 to 2\): \(no readable message\)$"),
    ],
)
def test_messages_are_one_short_line(name: str, message: str, folder: Path) -> None:
    with pytest.raises(InvalidDataError, match=message):
        do(f"faulty:{name}")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("mumbling", r"raised ValueError while it was imported: a bc{194}\.\.\.$"),
        ("silent", r"raised ValueError while it was imported, without a message\.$"),
        ("nameless", "raised ModuleNotFoundError while it was imported: no name$"),
    ],
)
def test_messages_of_modules_are_one_short_line(module: str, message: str, folder: Path) -> None:
    with pytest.raises((InvalidDataError, InvalidArgumentError), match=message):
        UserMechanism.load(f"{module}:f")


def test_quoting() -> None:
    assert quoted(" a\n\n b\tc\x1b[31m\u2028d ") == "a b c [31m d"
    assert quoted("x" * LONGEST) == "x" * LONGEST
    assert len(quoted("x" * (LONGEST + 1))) == LONGEST
    assert quoted("") == ""
    assert named(ValueError()) == "ValueError"
    assert named(ValueError("a\nb")) == "ValueError: a b"
