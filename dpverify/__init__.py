"""dpverify: verify and test the privacy claims of differentially private convex optimization."""

from dpverify.versions import show_versions

__all__ = ["__version__", "show_versions"]

__version__ = "0.1.0"
