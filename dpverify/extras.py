"""Libraries that only some commands need, and that an installation may be without."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from dpverify.errors import DpverifyError

EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "accounting": ("dp_accounting",),
        "prove": ("clarabel", "cvc5", "sympy", "z3"),
        "report": ("jinja2", "matplotlib"),
        "sklearn": ("sklearn",),
        "test": ("hypothesis", "pytest"),
    }
)
"""The modules that each extra of the package brings; what no extra brings is always installed."""

OF_AUDITS = ("accounting", "sklearn")
"""What audits of the four papers need: accountants, and data sets."""

LIBRARIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"jax-privacy": ("jax", "jax_privacy", "optax"), "libraries": ("diffprivlib", "opacus", "opendp")}
)
"""The modules of libraries whose mechanisms and trainings are audited, by extras that `all` is without."""


class MissingExtraError(DpverifyError, ImportError):
    """A library is not installed; the message names the extra that brings it."""


def require(command: str, *extras: str) -> None:
    """Refuse a command whose libraries are not installed, before it begins."""
    lacking = {extra: modules for extra in extras if (modules := lacking_of(extra))}
    if lacking:
        raise missing(command, lacking)


def require_module(what: str, module: str) -> None:
    """Refuse an option that needs one module of an extra, before any work is done."""
    if not _is_there(module):
        audited = (extra for extra, modules in LIBRARIES.items() if module in modules)
        raise missing(what, {extra_of(module) or next(audited, "all"): [module]})


def lacking_of(extra: str) -> list[str]:
    """The modules of an extra that are not installed."""
    return [name for name in EXTRAS[extra] if not _is_there(name)]


def missing(what: str, lacking: Mapping[str, list[str]]) -> MissingExtraError:
    """The error that says what brings the modules, which are given by extra."""
    names = ", ".join(name for some in lacking.values() for name in some)
    return MissingExtraError(f"{what} needs {names}; allowed: after {install_command(*lacking)}.")


def install_command(*extras: str) -> str:
    """What installs extras into this environment, from where the program itself was installed.

    Where that was a wheel or folder which is gone, it names what the extras bring.
    """
    from urllib.parse import unquote, urlsplit

    wanted = ",".join(extras)
    try:
        installed = distribution("dpverify")
        source = json.loads(installed.read_text("direct_url.json") or "{}")
        url, editable = str(source.get("url", "")), source.get("dir_info", {}).get("editable", False)
        url = f"{vcs['vcs']}+{url}" if (vcs := source.get("vcs_info")) else url
    except (PackageNotFoundError, ValueError, AttributeError, KeyError):
        url, editable = "", False
    path = unquote(urlsplit(url).path) if url.startswith("file:") else ""
    if path and not Path(path).exists():
        ends = tuple(f'extra == "{extra}"' for extra in (EXTRAS if "all" in extras else extras))
        brought = (line.partition(";")[0] for line in installed.requires or () if line.endswith(ends))
        return f"pip install {' '.join(map(shlex.quote, brought))}"
    if path:
        return f"pip install {'-e ' if editable else ''}{shlex.quote(f'{path}[{wanted}]')}"
    return f"pip install {shlex.quote(f'dpverify[{wanted}] @ {url}' if url else f'dpverify[{wanted}]')}"


def extra_of(module: str) -> str | None:
    """The extra that brings a module, by its first name; None if none does."""
    first = module.partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if first in modules), None)


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


class Compiled:
    """A function over numbers and NumPy arrays that Numba compiles, where it is installed and that is worth it.

    It must give the bits of what is done without Numba: results must not depend on what is installed. Numba keeps
    what it compiled beside the function's file, or in the user's cache, until that file changes; so the functions that
    it calls, the parts, stand in that file.
    """

    _worth: ClassVar[float] = 0.4
    """Seconds that a process loses before it loads Numba, which takes about as long."""
    _lost: ClassVar[float] = 0.0

    def __init__(self, function: Callable[..., Any], *parts: Callable[..., Any]) -> None:
        """Nothing is compiled yet."""
        self._function, self._parts = function, parts

    @classmethod
    def expect(cls, saved: float) -> None:
        """Say that so many seconds are going to be saved: if they are worth it, none is lost first."""
        if saved >= cls._worth:
            Compiled._lost = max(Compiled._lost, saved)

    def __call__(self, saved: float) -> Callable[..., Any] | None:
        """The compiled function; None without Numba, or as long as too little would be saved.

        Args:
            saved: about how many seconds it saves in the call at hand; from counts, never measured.
        """
        if Compiled._lost < Compiled._worth:
            Compiled._lost += saved
            return None
        return self._compiled

    @cached_property
    def _compiled(self) -> Callable[..., Any] | None:
        if not _is_there("numba"):
            return None
        try:
            import numba
            from numba.extending import register_jitable
        except (ImportError, OSError):  # made for another NumPy, say
            return None
        if numba.config.DISABLE_JIT:
            return None
        for part in self._parts:
            register_jitable(part)
        options = {"nogil": True, "error_model": "numpy"}
        found: Callable[..., Any]
        try:
            found = numba.njit(self._function, cache=True, **options)
        except RuntimeError:  # there is no folder in which it could be kept
            found = numba.njit(self._function, **options)
        return found
