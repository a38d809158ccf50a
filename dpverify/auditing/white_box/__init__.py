"""White-box audits of iterative mechanisms: what is known of their steps and their noise, besides what they release."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
