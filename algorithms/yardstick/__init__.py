"""What practice uses, with tight accounting: no paper's theorem, but what its algorithms are measured by."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
