"""The kernel of a proof assistant, asked about rows: each is a theorem with a script, several of them a file.

Trusted are `semantics.v`, the translation of formulas (`terms.py`) and the kernel. Scripts are hints: what the kernel
does not accept is refused. A row is accepted only if its theorem rests on no axiom but those of `AXIOMS`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.besides.kernels import KernelReason
from dpverify.proving.rocq.scripts import is_at_a_point, script
from dpverify.proving.rocq.terms import Json, UntranslatedError, boxed, statement
from dpverify.running.store import keep, kept

AXIOMS = frozenset(
    {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "Classical_Prop.classic",
        "FunctionalExtensionality.functional_extensionality_dep",
    }
)
"""What a theorem may rest on: classical logic, as the real numbers need it, and that functions are their values."""
KERNEL_INTEGERS = ("PrimInt63.", "Uint63.", "Uint63Axioms.")
"""Whose names are the kernel's own integers of 63 bits and their laws, which `interval` calculates with; its
floating-point numbers are not among them."""

STATED = (
    "Require Import Reals ZArith.\nFrom Coquelicot Require Import Coquelicot.\n"
    "Require Import semantics.\nOpen Scope R_scope.\n"
)
"""What statements are made with."""
RULES = (
    "Require Import Lra Lia Psatz.\nFrom Interval Require Import Tactic.\nRequire Import semantics rules.\n"
)
"""What scripts are made with."""
NEEDED = "Rocq (Coq) 8.16 or newer with the libraries Coquelicot and Interval"
SOURCES = ("semantics.v", "rules.v")
ROWS_A_FILE = 140
"""At most; what a file's theorems rest on is printed once, which takes seconds, so that a few rows are one file."""
FEW_ROWS = 40
_AFTER = 4294967291
"""A number in no file."""
CPU_SECONDS = 120
"""A guard for one file, with one more for each row; a row at which it ends is tried once more alone, and what comes of
that is not kept."""


@dataclass(frozen=True)
class KernelRow:
    """A row as the kernel is asked about it; the problem is the second reader's."""

    name: str
    problem: Json
    verdict: str
    proof: Json
    about: tuple[str, ...] = ()
    """What is printed, for whoever reads the file."""


@dataclass(frozen=True)
class RocqTheorem:
    """A row's statement and script."""

    name: str
    statement: str
    script: str
    about: tuple[str, ...] = ()

    def text(self, number: int) -> str:
        """Its part of a file."""
        about = "\n   ".join(_in_comment(line) for line in (self.name, *self.about))
        return "\n".join([f"(* {about} *)", *self.sentences(number), ""])

    def sentences(self, number: int) -> list[str]:
        """The theorem, and its proof, each of one sentence or more."""
        return [f"Theorem row_{number} :\n  {self.statement}.", "Proof.", *self.script.splitlines(), "Qed."]

    @property
    def is_of_tactics(self) -> bool:
        """Whether no sentence of the script is a command, which begin with a capital letter, behind bullets or not.

        Comments and strings, in which sentences could begin unseen, are in none; a line ends with a sentence.
        """
        whole = all(line.endswith((".", "{", "}")) for line in self.script.splitlines())
        return (
            whole
            and re.search(r"(?:^|[.{}])[^A-Za-z.]*(?:[a-z]+\s*:\s*)?[A-Z#]|\(\*|\"", self.script) is None
        )

    def said(self, number: int) -> str:
        """The statement alone, read before rules.v is loaded."""
        return f"Definition said_{number} : Prop :=\n  {self.statement}.\n"

    def replay(self, number: int, file: str) -> str:
        """What was said, of which the theorem is a proof; its name and type into a file, if it is one."""
        again = f"Definition replay_{number} : said_{number} := row_{number}.\n"
        return again + f'Redirect "{file}" Check replay_{number}.\nAbort All.\n'


def _in_comment(text: str) -> str:
    """A line that neither ends the comment around it nor begins one, or a string, in it."""
    return re.sub(r"\((?=\*)|\*(?=\))", r"\g<0> ", " ".join(text.split()).replace('"', "''"))


@dataclass(frozen=True)
class Kernel:
    """Compiler and read loop of Rocq or Coq, and the version."""

    command: tuple[str, ...]
    loop: tuple[str, ...]
    version: str

    @property
    def name(self) -> str:
        """As ledgers and reports call it."""
        return f"Rocq {self.version}"


def found_kernel(path: str = "") -> Kernel | None:
    """The compiler at this path, or on the search path as `rocq` or `coqc`; None if none has what is needed.

    Raises:
        InvalidArgumentError: for a path that is given and is no such compiler.
    """
    for name in (path,) if path else ("coqc", "rocq"):
        place = shutil.which(name)
        if place is None:
            continue
        one = Path(place).name == "rocq"
        command, loop = (
            ((place, "c"), (place, "repl")) if one else ((place,), (str(Path(place).with_name("coqtop")),))
        )
        libraries = ["-q", "-batch", "-ri", "Coquelicot.Coquelicot", "-ri", "Interval.Tactic"]
        try:
            said, loaded = (
                subprocess.run([*those, *options], capture_output=True, text=True, timeout=60)
                for those, options in ((command, ["--version"]), (loop, libraries))
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        number = re.search(r"version ((\d+)\.(\d+)[\w.+]*)", said.stdout)
        if (
            said.returncode == loaded.returncode == 0
            and number
            and (int(number[2]), int(number[3])) >= (8, 16)
        ):
            return Kernel(command, loop, number[1])
    if path:
        raise InvalidArgumentError("--kernel-path", path, f"rocq or coqc, the compiler of {NEEDED}")
    return None


def said_of(row: KernelRow) -> tuple[Json, str] | KernelReason:
    """The problem that a row's theorem is about, and the statement; or why it has none."""
    problem = row.problem
    if row.verdict == "certified":
        if "box" not in row.proof:
            return KernelReason.METHOD
        problem = boxed(problem, row.proof["box"])
    negated = is_at_a_point(row.proof) or row.proof.get("shows") == "negation"
    if row.verdict == "refuted" and not negated:
        return KernelReason.METHOD
    try:
        return problem, statement(problem, holds=row.verdict != "refuted")
    except UntranslatedError:
        return KernelReason.OPERATOR


def theorem_of(row: KernelRow) -> RocqTheorem | KernelReason:
    """A row's theorem, or why it has none."""
    said = said_of(row)
    if isinstance(said, KernelReason):
        return said
    try:
        return RocqTheorem(row.name, said[1], script(said[0], row.proof), row.about)
    except UntranslatedError:
        return KernelReason.METHOD


def digest_of(row: KernelRow) -> str | None:
    """`sha256:` and the hash of a row's statement and of all that it is made with; None if it has no statement."""
    said = said_of(row)
    if isinstance(said, KernelReason):
        return None
    made_with = Path(__file__).with_name("semantics.v").read_text(encoding="utf-8")
    return f"sha256:{hashlib.sha256((STATED + made_with + said[1]).encode()).hexdigest()}"


def file_of(theorems: Sequence[RocqTheorem]) -> str:
    """A file to read and to replay, with semantics.v and rules.v beside it."""
    return "\n".join([STATED + RULES, *(each.text(k) for k, each in enumerate(theorems))])


def write_sources(folder: Path) -> None:
    """Put semantics.v and rules.v there.

    Raises:
        InvalidDataError: where another file of such a name is there, which is left alone.
    """
    sources = {name: Path(__file__).with_name(name).read_text(encoding="utf-8") for name in SOURCES}
    for name, text in sources.items():
        there = folder / name
        if there.is_file() and there.read_text(encoding="utf-8", errors="replace")[:40] != text[:40]:
            raise InvalidDataError(f"{there} is no file of dpverify, which would write its own {name} there.")
    for name, text in sources.items():
        (folder / name).write_text(text, encoding="utf-8")


@cache
def _program() -> str:
    """Changes with all that theorems are made with."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*")):
        if path.suffix in (".py", ".v"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _key(kernel: Kernel, row: KernelRow) -> Any:
    return [_program(), kernel.version, row.problem, row.verdict, row.proof]


def ask(
    kernel: Kernel,
    rows: Sequence[KernelRow],
    *,
    workers: int = 2,
    made: Callable[[KernelRow], RocqTheorem | KernelReason] = theorem_of,
    memory: bool = True,
    advance: Callable[[int], None] = lambda count: None,
) -> list[KernelReason | None]:
    """What the kernel says of each row: None if it accepts it, else the reason. What it said before is kept."""
    from joblib import Parallel, delayed

    from dpverify.running.executors import worker_processes

    answers: dict[int, KernelReason | None] = {}
    for at, row in enumerate(rows):
        known = kept("kernel", _key(kernel, row)) if memory else None
        if known is not None:
            answers[at] = KernelReason(known["reason"]) if known["reason"] else None
    advance(len(answers))
    missing = [at for at in range(len(rows)) if at not in answers]
    if missing:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write_sources(folder)
            for name in SOURCES:
                _compiled(kernel, folder / name)
            at_once = workers if len(missing) > FEW_ROWS else 1
            files = at_once * ceil(len(missing) / (at_once * ROWS_A_FILE))
            batches = [missing[k::files] for k in range(files)]
            parallel = Parallel(
                n_jobs=workers, backend=worker_processes(), return_as="generator", batch_size=1
            )
            asked = (
                delayed(_batch)(kernel, folder, k, [rows[at] for at in b], made)
                for k, b in enumerate(batches)
            )
            for batch, found in zip(batches, parallel(asked), strict=True):
                for at, reason in zip(batch, found, strict=True):
                    answers[at] = reason
                    if memory and reason is not KernelReason.TIME:
                        keep("kernel", _key(kernel, rows[at]), {"reason": str(reason or "")})
                advance(len(batch))
    return [answers[at] for at in range(len(rows))]


def _batch(
    kernel: Kernel,
    folder: Path,
    number: int,
    rows: Sequence[KernelRow],
    made: Callable[[KernelRow], RocqTheorem | KernelReason],
) -> list[KernelReason | None]:
    """What the kernel says of some rows."""
    found: dict[int, KernelReason | None] = {}
    theorems: dict[int, RocqTheorem] = {}
    for k, row in enumerate(rows):
        theorem = made(row)
        if isinstance(theorem, RocqTheorem) and theorem.is_of_tactics:
            theorems[k] = theorem
        else:
            found[k] = KernelReason.SCRIPT if isinstance(theorem, RocqTheorem) else theorem
    found |= _read(kernel, folder / f"batch_{number}", theorems)
    return [found[k] for k in range(len(rows))]


def _read(kernel: Kernel, stem: Path, theorems: Mapping[int, RocqTheorem]) -> dict[int, KernelReason | None]:
    """What the read loop makes of a file of theorems, one after another, and of what all together rest on.

    What that takes costs as much as a theorem does, so that it is asked once. Where the guard ended it, or the axioms
    are not those of the list, parts of the file are read, down to one theorem.
    """
    if not theorems:
        return {}
    blocks = [[STATED], [theorem.said(k) for k, theorem in theorems.items()], [RULES]]
    for k, theorem in theorems.items():
        blocks += [theorem.sentences(k), [theorem.replay(k, f"{stem.name}_{k}")]]
    named = "".join(
        f"pose proof replay_{k}.\n" for k in theorems
    )  # an error where there is none, and nothing else
    end = f'Theorem replays : True.\n{named}exact I.\nQed.\nRedirect "{stem.name}_all" Print Assumptions replays.\n'
    ended = _status(kernel, stem.parent, [*blocks, [end]], CPU_SECONDS + len(theorems))
    outs = {k: _text(stem.with_name(f"{stem.name}_{k}.out")) for k in theorems}
    accepted = [k for k, out in outs.items() if out and out.split() == [f"replay_{k}", ":", f"said_{k}"]]
    axioms = _text(stem.with_name(f"{stem.name}_all.out"))
    if axioms is not None and None not in outs.values() and (allowed(axioms) or not accepted):
        return {k: None if k in accepted else KernelReason.SCRIPT for k in theorems}
    keys = list(theorems)
    if len(keys) == 1:
        why = KernelReason.AXIOM if accepted and axioms else KernelReason.SCRIPT
        return {keys[0]: KernelReason.TIME if ended < 0 else why}
    at = next((i for i, out in enumerate(outs.values()) if out is None), len(keys) // 2)
    found: dict[int, KernelReason | None] = {}
    for part, these in enumerate((keys[:at], keys[at : at + 1], keys[at + 1 :])):
        found |= _read(kernel, stem.with_name(f"{stem.name}_{part}"), {k: theorems[k] for k in these})
    return found


def _text(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


def _compiled(kernel: Kernel, file: Path) -> None:
    """Compile a file of the program's own."""
    ran = subprocess.run([*kernel.command, "-q", file.name], cwd=file.parent, capture_output=True, text=True)
    if ran.returncode:
        why = " ".join(ran.stderr.split())[-300:]
        raise InvalidDataError(f"{' '.join(kernel.command)} does not compile {file.name}, but says: {why}")


def _status(kernel: Kernel, folder: Path, blocks: Iterable[Sequence[str]], seconds: int) -> int:
    """The exit status of the read loop, negative if a signal ended it. It reads no more of a block after an error."""

    def limited() -> None:
        import resource  # not on Windows, where CPU time has no limit

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    with subprocess.Popen(
        [*kernel.loop, "-q"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=limited if os.name == "posix" else None,
    ) as loop:
        with suppress(BrokenPipeError):
            _said(loop, "Set Silent.")
            for block in blocks:
                next((part for part in block if b"Error:" in _said(loop, part)), None)
            loop.communicate()
        if loop.stdin is not None:
            with suppress(BrokenPipeError):  # of what was not written when the loop ended
                loop.stdin.close()
    return loop.returncode


def _said(loop: subprocess.Popen[bytes], part: str) -> bytes:
    """What the read loop says of a part of a file: all up to a number that is asked for after it.

    Raises:
        BrokenPipeError: where it has ended.
    """
    assert loop.stdin is not None
    assert loop.stdout is not None
    # what is no whole sentence takes the next one with it
    loop.stdin.write(f"{part}\nCheck Set.\nCheck {_AFTER}%Z.\n".encode())
    loop.stdin.flush()
    said = b""
    while str(_AFTER).encode() not in said:
        more = os.read(loop.stdout.fileno(), 2**16)
        if not more:
            raise BrokenPipeError
        said += more
    return said


_FETCHING = re.compile(r"Fetching opaque proofs from disk for [\w.]+")
"""What the read loop says in between."""


def allowed(said: str) -> bool:
    """Whether what `Print Assumptions` says names no axiom but those of `AXIOMS`."""
    lines = [line for line in said.splitlines() if not _FETCHING.fullmatch(line)]
    if lines == ["Closed under the global context"]:
        return True
    if lines[:1] != ["Axioms:"]:
        return False
    names = [line.split()[0].rstrip(":") for line in lines[1:] if line and not line[0].isspace()]
    return bool(names) and all(_allowed(name) for name in names)


def _allowed(name: str) -> bool:
    """Whether an axiom of this name may be used, whatever the library is called in front of it."""
    last = ".".join(name.split(".")[-2:])
    return last in AXIOMS or last.startswith(KERNEL_INTEGERS)
