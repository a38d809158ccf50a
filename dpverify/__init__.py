"""dpverify: verify and test the privacy claims of differentially private convex optimization."""

from dpverify.stubs import attach_stub

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
