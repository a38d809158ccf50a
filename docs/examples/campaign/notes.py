"""What is said of a subject beside its audit: notes.toml, and the versions of the libraries."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

LIBRARIES = {
    "diffprivlib": "diffprivlib",
    "OpenDP": "opendp",
    "PyDP": "python-dp",
    "SmartNoise": "smartnoise-sql",
    "Opacus": "opacus",
    "opacus": "opacus",
    "JAX-Privacy": "jax_privacy",
    "autodp": "autodp",
    "prv-accountant": "prv-accountant",
    "dp-accounting": "dp-accounting",
}
"""The distribution of each library, by the first word of a subject's name."""


def _all_notes() -> dict[str, dict[str, Any]]:
    return tomllib.loads((HERE / "notes.toml").read_text(encoding="utf-8"))


def notes() -> dict[str, dict[str, Any]]:
    """By the name of the claim."""
    return {name: note for name, note in _all_notes().items() if name != "accountants"}


def accountant_notes() -> dict[str, dict[str, Any]]:
    """By the start of a row's name."""
    return _all_notes()["accountants"]


def installed_versions() -> dict[str, str]:
    """Versions of the audited libraries that are installed, by distribution."""
    found = {}
    for name in (*LIBRARIES.values(), "torch", "jax"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
