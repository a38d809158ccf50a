"""One request, one audit: what every door (command, project file, pytest, Python) asks, and what answers it."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
