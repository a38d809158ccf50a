"""What runs in the worker process of a user's function.

A program of its own, started by the path of this file: so it needs none of dpverify's packages, and starts in the time
that NumPy takes. It reads requests from one pipe and writes replies to another, as JSON with plain arrays behind; but
for tables, which come in pickled, no object ever travels, and none comes back. Whatever a user's code does to the
modules in here happens in this process only: outputs are checked and judged by the program that asked for them.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import os
import struct
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[1])["path"]

import numpy as np
from numpy.typing import NDArray

from dpverify.checks import require
from dpverify.errors import DpverifyError, InvalidArgumentError, InvalidDataError
from dpverify.problems.tables.records import Records, unpacked
from dpverify.quoting import named, quoted
from dpverify.running.sources import in_installed_folder
from dpverify.running.subjects import commands, estimators, stating, texts

ALLOWED_TARGET = '"package.module:function", importable from the current folder'

PIPE_GONE = 121  # exit code of a worker process whose pipes were closed under it
NO_MEMORY = 122  # exit code of a worker process that had no memory left to say so
LARGEST_HEADER = 2**24  # bytes of a frame's JSON
_HEARTBEAT = 0.5  # seconds between two signs of life while the runs of a block are done one by one


def frame(header: dict[str, Any], array: NDArray[Any] | None = None) -> bytes:
    """A message: the length of a JSON text, the text (arrays as lists), and a `.npy` file whose length it names."""
    content = io.BytesIO()
    if array is not None:
        np.lib.format.write_array(content, array, allow_pickle=False)
    payload = content.getvalue()
    text = json.dumps({**header, "bytes": len(payload)}, default=np.ndarray.tolist).encode()
    return struct.pack("<I", len(text)) + text + payload


def plain(payload: bytes | bytearray) -> NDArray[Any]:
    """The array in the bytes of a `.npy` file; nothing is unpickled."""
    try:
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(payload), allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TypeError, RecursionError) as error:
        raise ValueError("no plain array") from error
    return array


def _read(pipe: int, size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        got = os.read(pipe, min(size - len(content), 2**20))
        if not got:
            raise EOFError
        content += got
    return bytes(content)


def _receive(pipe: int) -> tuple[dict[str, Any], bytes]:
    (size,) = struct.unpack("<I", _read(pipe, 4))
    header = json.loads(_read(pipe, size))
    return header, _read(pipe, header["bytes"])


def _send(pipe: int, header: dict[str, Any], array: NDArray[Any] | None = None) -> None:
    content = memoryview(frame(header, array))
    while content:
        content = content[os.write(pipe, content) :]


def takes_runs(function: Callable[..., Any]) -> bool:
    """Whether a function has the batched form, (data, rng, runs); read from its signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    parameters = signature.parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    keyword = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if keyword or len(required) > 3 or (len(positional) < 2 and not variadic):
        a_class = "; of a class, name an object or a method" if inspect.isclass(function) else ""
        allowed = f"parameters (data, rng) or (data, rng, runs), given by position{a_class}"
        raise InvalidArgumentError("function", str(signature), allowed)
    if inspect.isclass(function) and hasattr(function, "fit"):
        raise InvalidArgumentError(
            "function", function.__name__, "no estimator, unless --attribute says what is released of it"
        )
    return len(positional) >= 3 and (len(required) >= 3 or positional[2].name == "runs")


def call_function(
    function: Callable[..., Any],
    name: str,
    data: NDArray[Any] | Records,
    rng: np.random.Generator,
    runs: int,
    *,
    batched: bool,
    count_exceptions: bool = False,
    alive: Callable[[], None] = lambda: None,
) -> NDArray[Any]:
    """Call a user's function, once or once a run, each time with a copy of the data; one output a run.

    Outputs are numbers in one array, or texts where they are anything else (`dpverify.running.subjects.texts`).
    With `count_exceptions` an exception is an output, and a batched function is called for one run at a time, since
    one exception says nothing of other runs. `alive` is told of every run that is done.
    """
    try:
        if count_exceptions:
            return _outputs_or_exceptions(function, data, rng, runs, batched=batched, alive=alive)
        if batched:
            return texts.of_batch(function(data.copy(), rng, runs))
        outputs = []
        for _ in range(runs):
            outputs.append(texts.kept(function(data.copy(), rng)))
            alive()
        return texts.of_runs(outputs)
    except texts.FormlessError as error:
        raise InvalidDataError(f"The function {name} {error}.") from error
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise InvalidDataError(
            f"The function {name} {_ending(error)} instead of returning an output; allowed: {texts.ALLOWED}."
        ) from error


def _outputs_or_exceptions(
    function: Callable[..., Any],
    data: NDArray[Any] | Records,
    rng: np.random.Generator,
    runs: int,
    *,
    batched: bool,
    alive: Callable[[], None],
) -> NDArray[Any]:
    """One output a run, or the type of what was raised; what the machine ran out of is no output."""
    found = []
    for _ in range(runs):
        try:
            output = function(data.copy(), rng, 1) if batched else texts.kept(function(data.copy(), rng))
        except MemoryError:
            raise
        except Exception as error:
            found.append(texts.of_runs([texts.Raised(quoted(type(error).__name__))]))
        else:
            found.append(texts.of_batch(output) if batched else texts.of_runs([output]))
        alive()
    return texts.joined(found)


def with_message(message: str, where: str) -> str:
    """The end of a sentence about an error: what it said, and where it was raised."""
    if not message:
        return f", without a message{where and f' {where}'}."
    return f": {message}{where and f' {where}'}"


def _ending(error: BaseException) -> str:
    return f"exited ({named(error)})" if isinstance(error, SystemExit) else f"raised {named(error)}"


def check_target(target: object) -> tuple[str, str]:
    """The module and the function in `package.module:function`."""
    module, colon, function = target.partition(":") if isinstance(target, str) else ("", "", "")
    if not colon or not all(name.isidentifier() for name in (*module.split("."), *function.split("."))):
        raise InvalidArgumentError("callable", target, ALLOWED_TARGET)
    return module, function


def load_function(target: str) -> Callable[..., Any]:
    """Import a function by `package.module:function`; errors as in `load_object`."""
    found = load_object(target)
    if not callable(found):
        _, function = check_target(target)
        raise InvalidArgumentError("callable", target, f"{ALLOWED_TARGET}; {function} is not a function")
    loaded: Callable[..., Any] = found
    return loaded


def load_object(target: str) -> Any:
    """Import what stands at `package.module:name`."""
    module, function = check_target(target)
    try:
        found: Any = importlib.import_module(module)
    except MemoryError:
        raise
    except BaseException as error:
        raise _refused_import(error, target, module) from error
    for name in function.split("."):
        require(hasattr(found, name), "callable", target, f"{ALLOWED_TARGET}; {module} has no {function}")
        found = getattr(found, name)
    return found


def _refused_import(error: BaseException, target: str, module: str) -> DpverifyError:
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        if module == error.name or module.startswith(f"{error.name}."):
            return InvalidArgumentError(
                "callable", target, f"{ALLOWED_TARGET}; there is no module {error.name}"
            )
        return InvalidDataError(f"The module {module} needs {quoted(error.name)}, which is not there.")
    if not isinstance(error, Exception):
        return InvalidDataError(
            f"The module {module} {_ending(error)} while it was imported; allowed: a module that can be "
            'imported, with script code under if __name__ == "__main__".'
        )
    # an error of syntax says its place itself
    where = "" if isinstance(error, SyntaxError) else place_in_sources(error)
    return InvalidDataError(
        f"The module {module} raised {quoted(type(error).__name__)} while it was imported"
        + with_message(quoted(error), where)
    )


def loaded_sources(before: Iterable[str] = ()) -> list[str]:
    """Files of the loaded modules that lie outside of the standard library and of installed packages.

    Modules named in `before` are left out. Files that a module reads without importing them are not seen.
    """
    known = set(before)
    named = {name: getattr(module, "__file__", None) for name, module in sys.modules.copy().items()}
    files = [file for name, file in named.items() if name not in known and isinstance(file, str)]
    return sorted(
        {os.path.realpath(file) for file in files if os.path.isfile(file) and not in_installed_folder(file)}
    )


def place_in_sources(error: BaseException) -> str:
    """The innermost line of a user's code that an error came through, as `(m.py, line 3)`; empty if there is none."""
    found = ""
    try:
        ours, here = Path(os.path.realpath(__file__)).parents[1], os.getcwd()
        step = error.__traceback__
        while step is not None:
            place = Path(os.path.realpath(step.tb_frame.f_code.co_filename))
            if place.is_file() and ours not in place.parents and not in_installed_folder(str(place)):
                shown = place.relative_to(here) if place.is_relative_to(here) else place
                found = quoted(f"({shown}, line {step.tb_lineno})")
            step = step.tb_next
    except Exception:
        return found  # of a user's class, which may change anything
    return found


def _stream(asked: dict[str, Any]) -> np.random.Generator:
    """The generator that the program made, with the same seed sequence and state."""
    sequence = np.random.SeedSequence(
        asked["entropy"], spawn_key=asked["spawn_key"], n_children_spawned=asked["children"]
    )
    bits = getattr(np.random, asked["bits"])(sequence)
    bits.state = asked["state"]
    return np.random.Generator(bits)


Answer = Callable[[dict[str, Any]], tuple[dict[str, Any], NDArray[Any] | None]]
"""From what is asked to the header and the array of a reply."""

Work = Callable[[list[int], Any], NDArray[Any]]


def _points(outputs: NDArray[Any]) -> tuple[dict[str, Any], NDArray[Any]]:
    as_text = texts.is_texts(outputs)
    return {"texts": as_text}, texts.packed(outputs) if as_text else outputs


class _Worker:
    """Answers requests until there are no more."""

    def __init__(self, requests: int, replies: int) -> None:
        self.requests, self.replies, self.process = requests, replies, os.getpid()
        self.before = frozenset(sys.modules)
        self.told = time.monotonic()
        self.data: Any = np.zeros(0)

    def reply(self, header: dict[str, Any], array: NDArray[Any] | None = None) -> None:
        if os.getpid() != self.process:
            os._exit(0)  # a copy that the user's code made of this process, and that returned: not asked
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        self.told = time.monotonic()
        _send(self.replies, header, array)

    def alive(self) -> None:
        if time.monotonic() - self.told > _HEARTBEAT:
            self.reply({"kind": "alive"})

    def serve(self, load: Callable[[], tuple[Answer, bool]]) -> None:
        """Answer with what `load` gives, which also says whether it takes runs."""
        loaded = self.guarded(load)
        if loaded is None:
            return
        answer, batched = loaded
        self.reply({"kind": "loaded", "batched": batched, "sources": loaded_sources(self.before)})
        while True:
            asked, payload = _receive(self.requests)
            if payload:
                self.data = plain(payload)
                if asked.get("table"):
                    self.data = unpacked(self.data)
            found = self.guarded(answer, asked)
            if found is not None:
                header, array = found
                self.reply({"kind": "points", "sources": loaded_sources(self.before), **header}, array)

    def load(self, target: dict[str, Any]) -> tuple[Answer, bool]:
        """What answers for a `Target`, given by its fields."""
        name, batched = target["text"], True
        function: Callable[..., Any]
        if target["structure"]:
            stated = stating.Stating(load_function(name), name)
            return lambda asked: stated.answer(asked, self.data), False
        if target["command"]:
            function = commands.Command(name)
        elif target["attributes"]:
            function, batched = estimators.fitting(load_object(name), name, target["attributes"]), False
        elif target["arguments"]:
            function, batched = _with_arguments(load_function(name), target["arguments"]), False
        elif target["noise"]:
            function = _without_data(load_function(name))
        else:
            function = load_function(name)
            batched = takes_runs(function)

        def answer(asked: dict[str, Any]) -> tuple[dict[str, Any], NDArray[Any]]:
            from threadpoolctl import threadpool_limits

            # as where blocks are computed in the program itself: the number of threads would change the bits
            with threadpool_limits(limits=1, user_api="blas"):
                rng, runs = _stream(asked["stream"]), asked["runs"]
                counted = target["count_exceptions"]
                return _points(
                    call_function(
                        function, name, self.data, rng, runs,
                        batched=batched, count_exceptions=counted, alive=self.alive,
                    )
                )  # fmt: skip

        return answer, batched

    def guarded(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """What the action returns; None if it failed, which is then told."""
        try:
            return action(*arguments)
        except InvalidArgumentError as error:
            shown = error.value if isinstance(error.value, str) else repr(error.value)
            said = {"kind": "argument", "argument": error.argument, "value": shown, "allowed": error.allowed}
        except DpverifyError as error:
            said = {"kind": "data", "message": str(error)}
        except MemoryError:
            said = {"kind": "memory"}
        except BaseException as error:
            said = {"kind": "raised", "type": quoted(type(error).__name__), "message": quoted(error),
                    "where": place_in_sources(error)}  # fmt: skip
        self.reply(said)
        return None


def _without_data(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda data, rng, size: function(rng, size)


def _with_arguments(function: Callable[..., Any], roles: list[list[Any]]) -> Callable[..., Any]:
    """A function of data and generator: arguments by name, each a number, or `data`, `rng` or `seed`."""
    drawn = {role for _, role in roles} & {"rng", "seed"}

    def call(data: Any, rng: np.random.Generator) -> Any:
        if not drawn:
            np.random.seed(rng.integers(2**32))  # noqa: NPY002  # what the function draws from
        given = {"data": data, "rng": rng}
        if "seed" in drawn:
            given["seed"] = int(rng.integers(2**63))
        return function(**{name: given.get(role, role) for name, role in roles})

    return call


def serve_work(requests: int, replies: int, work: Work) -> None:
    """Serve these pipes with what this process knows to compute, and end it; sentences say where code failed."""
    worker = _Worker(requests, replies)
    alive = worker.alive
    signs = SimpleNamespace(start=lambda total: alive(), advance=lambda runs: alive(), finish=alive)

    def answer(asked: dict[str, Any]) -> tuple[dict[str, Any], NDArray[Any]]:
        try:
            return _points(work(asked["work"], signs))
        except InvalidDataError as error:
            place = "" if error.__cause__ is None else place_in_sources(error.__cause__)
            if not place or place in str(error):
                raise
            raise InvalidDataError(f"{str(error).rstrip('.')} {place}") from error

    _serve_to_the_end(lambda: worker.serve(lambda: (answer, False)))


def _serve_to_the_end(serve: Callable[[], None]) -> None:
    """End the process once this is done, without any clean-up of the user's; the exit code says why."""
    code = 1
    try:
        serve()
        code = 0
    except (OSError, EOFError):
        code = PIPE_GONE
    except MemoryError:
        code = NO_MEMORY
    finally:
        os._exit(code)


def main() -> None:
    """Serve the pipes that the command line names, as JSON, and end without any clean-up of the user's."""
    asked = json.loads(sys.argv[1])
    sys.argv[1:] = []
    for descriptor in asked["channels"]:
        os.set_inheritable(descriptor, False)
    importlib.invalidate_caches()
    requests, replies = asked["channels"]
    worker = _Worker(requests, replies)
    _serve_to_the_end(lambda: worker.serve(lambda: worker.load(asked["target"])))


if __name__ == "__main__":
    main()
