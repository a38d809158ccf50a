"""dpverify: verify and test the privacy claims of differentially private convex optimization."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpverify.versions import show_versions

__all__ = ["__version__", "show_versions"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name != "show_versions":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # whatever imports a part of this package imports this file: the checker, for one, which rests on nothing else
    from dpverify.versions import show_versions

    return show_versions
