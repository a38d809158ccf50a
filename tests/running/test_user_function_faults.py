"""Users' functions and modules that exit, print, end their process, or fail with unreadable messages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverify.cli import main
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.quoting import LONGEST, named, quoted
from dpverify.running import Executor, FunctionMechanism, UserMechanism, run

DATA = np.arange(6.0).reshape(3, 2)

SECONDS = 600
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


'''

MODULES = {
    "faulty.py": SOURCE,
    "exiting.py": "import sys\nsys.exit(3)\n",
    "exiting_silently.py": "import sys\nsys.exit()\n",
    "aborting.py": "raise GeneratorExit\n",
    "mumbling.py": "raise ValueError('a\\nb' + 300 * 'c')\n",
    "silent.py": "raise ValueError\n",
    "nameless.py": "raise ModuleNotFoundError('no\\nname')\n",
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
    return ["audit", target, *files, "--claim", "eps=2", "--fixed-runs", "--runs", "1500", *more]


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
from dpverify.running import Executor, FunctionMechanism, UserMechanism, run

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
    ("faulty:stubborn", r"raised Stubborn in block 0 \(runs 0 to 2\): one two three \(\S*\.py, line \d+\)$"),
    (
        "faulty:interrupts",
        r"raised KeyboardInterrupt in block 0 \(runs 0 to 2\), without a message \(.*, line \d+\)\.$",
    ),
    ("faulty:dies", r"ended its process \(exit code 7\) before its runs were done"),
]


@pytest.mark.parametrize(("name", "message"), EXITS)
def test_exits_are_refused(name: str, message: str, folder: Path) -> None:
    with pytest.raises(InvalidDataError, match=message):
        do(f"faulty:{name}")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("executor", ["threads=2", "processes=2"])
@pytest.mark.parametrize(("target", "message"), FAULTS)
def test_faults_with_several_workers(target: str, message: str, executor: str, folder: Path) -> None:
    with pytest.raises(InvalidDataError, match=message):
        do(target, executor)


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


def test_the_programs_own_interrupt_is_passed_on() -> None:
    def interrupts(data: Any, rng: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(FunctionMechanism(interrupts), DATA, runs=6, seed=1)


# ------------------------------------------------------------------------------------------- a cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """One Dask worker process on this machine, whose death is not forgiven."""
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=":0"
        ) as started,
    ):
        yield started


def test_faults_on_a_dask_cluster(cluster: Any, folder: Path) -> None:
    check_sentences(folder, f"dask={cluster.scheduler_address}", FAULTS)


def test_a_lost_worker_of_a_cluster_is_said_in_one_sentence(cluster: Any) -> None:
    def dies(data: Any, rng: Any) -> Any:
        os._exit(7)

    executor = Executor.parse(f"dask={cluster.scheduler_address}")
    with pytest.raises(InvalidDataError, match=r"^A worker process ended before its runs"):
        run(FunctionMechanism(dies), DATA, runs=6, seed=1, block_size=3, executor=executor)


def test_a_lost_worker_process_is_said_in_one_sentence() -> None:
    def dies(data: Any, rng: Any) -> Any:
        os._exit(7)

    with pytest.raises(InvalidDataError, match=r"^A worker process ended \(EXIT\(7\).*\) before its runs"):
        run(FunctionMechanism(dies), DATA, runs=6, seed=1, block_size=3, executor=Executor("processes", 2))


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


def test_prints_go_to_a_standard_error_that_is_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(audit("faulty:prints", "--json", "-")) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    assert all(text in err for text in (*PRINTED, "printed to the original stream"))


# ------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("long", r"ValueError in block 0 \(runs 0 to 2\): a bc{194}\.\.\. \(\S*\.py, line \d+\)$"),
        (
            "empty",
            r"raised ValueError in block 0 \(runs 0 to 2\), without a message \(\S*\.py, line \d+\)\.$",
        ),
        ("stubborn", r"raised Stubborn in block 0 \(runs 0 to 2\): one two three \(\S*\.py, line \d+\)$"),
        ("mute", r"raised Mute in block 0 \(runs 0 to 2\): \(no readable message\) \(\S*\.py, line \d+\)$"),
    ],
)
def test_messages_are_one_short_line(name: str, message: str, folder: Path) -> None:
    with pytest.raises(InvalidDataError, match=message):
        do(f"faulty:{name}")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("mumbling", r"raised ValueError while it was imported: a bc{194}\.\.\. \(\S*\.py, line \d+\)$"),
        ("silent", r"raised ValueError while it was imported, without a message \(\S*\.py, line \d+\)\.$"),
        ("nameless", r"raised ModuleNotFoundError while it was imported: no name \(\S*\.py, line \d+\)$"),
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
