"""dpverify: verify and test the privacy claims of differentially private convex optimization."""

__version__ = "0.1.0"
