"""Libraries that only some commands need, and that an installation may be without."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType

from dpverify.errors import DpverifyError

EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "prove": ("cvc5", "lark", "markdown_it", "markupsafe", "mdit_py_plugins", "sympy", "z3"),
        "report": ("jinja2", "matplotlib"),
        "test": ("hypothesis", "pytest"),
    }
)
"""The modules that each extra of the package brings; what no extra brings is always installed."""

LIBRARIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"jax-privacy": ("jax", "jax_privacy", "optax"), "libraries": ("diffprivlib", "opacus", "opendp")}
)
"""The modules of libraries whose mechanisms and trainings are audited, by extras that `all` is without."""


class MissingExtraError(DpverifyError, ImportError):
    """A library is not installed; the message names the extra that brings it."""


def require(command: str, *extras: str) -> None:
    """Refuse a command whose libraries are not installed, before it begins."""
    lacking = {extra: [name for name in EXTRAS[extra] if not _is_there(name)] for extra in extras}
    if any(lacking.values()):
        raise missing(command, lacking)


def require_module(what: str, module: str) -> None:
    """Refuse an option that needs one module of an extra, before any work is done."""
    if not _is_there(module):
        audited = (extra for extra, modules in LIBRARIES.items() if module in modules)
        raise missing(what, {extra_of(module) or next(audited, "all"): [module]})


def missing(what: str, lacking: Mapping[str, list[str]]) -> MissingExtraError:
    """The error that says what brings the modules, which are given by extra."""
    names = ", ".join(name for some in lacking.values() for name in some)
    wanted = ",".join(extra for extra, some in lacking.items() if some)
    return MissingExtraError(f"{what} needs {names}; allowed: after pip install 'dpverify[{wanted}]'.")


def extra_of(module: str) -> str | None:
    """The extra that brings a module, by its first name; None if none does."""
    first = module.partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if first in modules), None)


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
