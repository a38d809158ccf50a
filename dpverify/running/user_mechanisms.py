"""A user's own function as a mechanism."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.errors import DpverifyError, InvalidArgumentError, InvalidDataError
from dpverify.running.fingerprint import fingerprint as fingerprint_of
from dpverify.running.outputs import Output
from dpverify.running.quoting import named, quoted
from dpverify.running.randomness import Randomness
from dpverify.running.sources import hash_of_file

_ALLOWED_TARGET = '"package.module:function", importable from the current folder'


class UserMechanism:
    """A function `(data, rng) -> output`, or batched `(data, rng, runs) -> outputs`, as a mechanism.

    The function gets a NumPy array of its own, which it may overwrite, and a `numpy.random.Generator` from
    which it must draw all its randomness; otherwise results cannot be reproduced. The batched form returns
    one entry a run along the first axis and is called once a block, which is much faster.

    A data set with `features` and `labels` is handed over as one array, the labels in the last column.

    A function that exits, through `sys.exit` or another exception that is no `Exception`, is refused like one
    that raises; only `KeyboardInterrupt` goes on interrupting. `os._exit` cannot be caught: it ends the
    process, and with it the program where no worker processes are used.

    Attributes:
        function: what is called.
        batched: whether it takes `runs`; read from its signature.
        target: where it was loaded from, `package.module:function`, or empty.
        folder: where it was looked for first, or empty.
    """

    def __init__(self, function: Callable[..., Any], *, target: str = "", folder: str = "") -> None:
        if not callable(function):
            raise InvalidArgumentError(
                "function", function, "a callable (data, rng) -> output or (data, rng, runs) -> outputs"
            )
        self.function = function
        self.batched = _is_batched(function)
        self.target = target
        self.folder = folder

    @classmethod
    def load(cls, target: str, folder: str | os.PathLike[str] | None = None) -> UserMechanism:
        """Import a function by `package.module:function`; the folder (default: current) is searched too.

        Raises:
            InvalidArgumentError: if the text has another form, or module or function are not there.
            InvalidDataError: if the module raises or exits while it is imported.
        """
        where = str(Path(folder if folder is not None else Path.cwd()).resolve())
        return cls(_load(target, where), target=target, folder=where)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to worker processes by name, where the function has one."""
        if self.target:
            return _reload, (self.target, self.folder)
        return type(self), (self.function,)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Hash of the function and of all that it reads, as `dpverify.running.fingerprint` knows it.

        Computed once: what the function changes when it is called is no part of it. Of a function that was loaded by
        name, what has no readable content is passed over: a store looks at every source file that was loaded, too.

        Raises:
            InvalidArgumentError: for a function that was not loaded by name and reads what has no content.
        """
        if not self.target:
            return fingerprint_of(self.function)
        source = inspect.getsourcefile(inspect.unwrap(self.function))
        code = fingerprint_of(self.function, readable_only=True)
        return fingerprint_of((self.target, code, hash_of_file(source or "")))

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        """Call the function, once or once a run.

        Raises:
            InvalidDataError: if it exits, or returns no real numbers of one shape.
        """
        try:
            return self._outputs(data, rng, runs)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:
            if _from_a_signal(error):
                raise
            raise InvalidDataError(
                f"The function {self._called} {_ending(error)} instead of returning an output; "
                "allowed: real numbers."
            ) from error

    def _outputs(self, data: Any, rng: Randomness, runs: int) -> Output:
        array = plain_array(data)
        if self.batched:
            return Output(self.function(array.copy(), rng.generator, runs))
        outputs = [self._numbers(self.function(array.copy(), rng.generator)) for _ in range(runs)]
        shapes = {output.shape for output in outputs}
        if len(shapes) > 1:
            listed = " and ".join(str(shape) for shape in sorted(shapes)[:2])
            raise InvalidDataError(
                f"The function {self._called} returned shapes {listed}; it must be the same in every run."
            )
        return Output(np.stack(outputs))

    @property
    def _called(self) -> str:
        return self.target or str(getattr(self.function, "__qualname__", type(self.function).__qualname__))

    def _numbers(self, output: Any) -> NDArray[Any]:
        try:
            array = np.asarray(output)
        except (TypeError, ValueError) as error:
            raise InvalidDataError(
                f"The function {self._called} returned no rectangular array; allowed: real numbers."
            ) from error
        if array.dtype.kind not in "biuf":
            raise InvalidDataError(
                f"The function {self._called} returned {type(output).__name__} of type {array.dtype}; "
                "allowed: real numbers."
            )
        return array


def plain_array(data: Any) -> NDArray[Any]:
    """Data as users' functions get it: an array, the labels of a data set in its last column."""
    if hasattr(data, "features") and hasattr(data, "labels"):
        return np.column_stack((np.asarray(data.features), np.asarray(data.labels)))
    return np.asarray(data)


def _is_batched(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    keyword = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    third = len(positional) >= 3 and (len(required) >= 3 or positional[2].name == "runs")
    if keyword or len(required) > 3 or (len(positional) < 2 and not variadic):
        raise InvalidArgumentError(
            "function", str(inspect.signature(function)), "parameters (data, rng) or (data, rng, runs)"
        )
    return third


def _load(target: str, folder: str) -> Callable[..., Any]:
    module_name, colon, function_name = target.partition(":")
    names = [*module_name.split("."), *function_name.split(".")]
    if not colon or not all(name.isidentifier() for name in names):
        raise InvalidArgumentError("callable", target, _ALLOWED_TARGET)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        found: Any = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if _from_a_signal(error):
            raise
        raise _refused_import(error, target, module_name) from error
    for name in function_name.split("."):
        if not hasattr(found, name):
            raise InvalidArgumentError(
                "callable", target, f"{_ALLOWED_TARGET}; {module_name} has no {function_name}"
            )
        found = getattr(found, name)
    if not callable(found):
        raise InvalidArgumentError("callable", target, f"{_ALLOWED_TARGET}; {function_name} is no function")
    loaded: Callable[..., Any] = found
    return loaded


def _refused_import(error: BaseException, target: str, module_name: str) -> DpverifyError:
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        if module_name == error.name or module_name.startswith(f"{error.name}."):
            return InvalidArgumentError(
                "callable", target, f"{_ALLOWED_TARGET}; there is no module {error.name}"
            )
        return InvalidDataError(f"The module {module_name} needs {quoted(error.name)}, which is not there.")
    if not isinstance(error, Exception):
        return InvalidDataError(
            f"The module {module_name} {_ending(error)} while it was imported; allowed: a module that can be "
            'imported, with what only a program does under if __name__ == "__main__".'
        )
    message = quoted(error)
    return InvalidDataError(
        f"The module {module_name} raised {type(error).__name__} while it was imported"
        + (f": {message}" if message else ", without a message.")
    )


def _ending(error: BaseException) -> str:
    return f"exited ({named(error)})" if isinstance(error, SystemExit) else f"raised {named(error)}"


def _from_a_signal(error: BaseException) -> bool:
    """Whether a signal ended the program while users' code happened to run, which is not that code's fault."""
    handlers = {getattr(signal.getsignal(s), "__code__", None) for s in (signal.SIGINT, signal.SIGTERM)}
    return any(frame.f_code in handlers for frame, _ in traceback.walk_tb(error.__traceback__))


def _reload(target: str, folder: str) -> UserMechanism:
    """Load in a worker; what fails there is said when the function is called, as everywhere else."""
    try:
        return UserMechanism.load(target, folder)
    except DpverifyError as error:
        refusal = InvalidDataError(f"A worker process could not load {target}: {error}")

    def refuse(data: Any, rng: Any) -> Any:
        raise refusal

    return UserMechanism(refuse, target=target, folder=folder)
