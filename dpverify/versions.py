"""Versions of what results depend on."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = (
    "numpy", "scipy", "scikit-learn", "sympy", "mpmath", "python-flint", "z3-solver", "cvc5",
    "dp-accounting", "clarabel", "array-api-compat", "joblib",
)  # fmt: skip
"""Libraries whose version can change a result."""


def library_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that are installed, by name."""
    return {"python": platform.python_version(), **versions_of(LIBRARIES)}


def versions_of(libraries: Iterable[str]) -> dict[str, str]:
    """Versions of those libraries that are installed, by name."""
    return {name: found for name in libraries if (found := _installed(name))}


def _installed(name: str) -> str:
    """A library's version, empty if it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


_OPTIONAL = ("distributed", "hypothesis", "pandas", "pyarrow", "pytest", "pytest-xdist", "torch")


def show_versions() -> None:
    """Print what a bug report should say: dpverify, Python, the platform, and the libraries that are installed.

    Examples:
        >>> import dpverify
        >>> dpverify.show_versions()  # doctest: +ELLIPSIS
        dpverify: ...
    """
    print(f"dpverify: {version('dpverify')}")
    print(f"platform: {platform.platform()}")
    for name, found in library_versions().items():
        print(f"{name}: {found}")
    for name in _OPTIONAL:
        print(f"{name}: {_installed(name) or 'not installed'}")
