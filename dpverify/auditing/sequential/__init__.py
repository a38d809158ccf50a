"""Sequential audits by betting: valid whenever they stop, and done as soon as the claim is refuted."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
